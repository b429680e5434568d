/* gpus.h - the GPUs of this machine, from sysfs and NVIDIA's library. */
#ifndef ROCKIT_GPUS_H
#define ROCKIT_GPUS_H

#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"

RK_BEGIN_DECLS

/* The list owns the strings. Unknown values are "" and 0 (-1 if 0 is a valid value). */
struct rk_gpu {
	int index;                  /* in this list, in PCI order */
	const char *vendor;         /* "AMD", "NVIDIA", "Intel" */
	const char *name;           /* product, "AMD Instinct MI300X" */
	const char *gfx;            /* "gfx942"; "" for other vendors */
	const char *pci;            /* "0000:c1:00.0" */
	const char *driver;         /* "amdgpu" */
	const char *partition;      /* "SPX/NPS1"; "MIG" if an NVIDIA GPU is partitioned */
	const char *uuid;           /* NVIDIA only: "GPU-8a5d..." */
	const char *compute;        /* NVIDIA only: compute capability, "9.0" */
	int kfd_node, card, render; /* KFD node, /dev/dri/cardN, renderDN; -1: none */
	uint64_t gpu_id;            /* KFD's id */
	unsigned cu_count, simd_count, xcc, wave_size, max_sclk_mhz;
	uint64_t memory_bytes;
	unsigned pci_device;  /* device id: 0x74a1 */
	uint64_t reserved[8]; /* 0 */
};

struct rk_gpus {
	struct rk_gpu *gpus;
	size_t n;
	uint64_t reserved[2]; /* 0 */
};

/*
 * `root` is a prefix of /sys, /proc and /usr/lib, for tests; NULL or "". It is not an error if
 * there is no GPU. A partition of a package (CPX, DPX) is a GPU with the address of its package;
 * instances of an NVIDIA GPU (MIG) are not listed.
 */
int rk_gpus_find(const char *root, struct rk_gpus *ret, struct rk_error *err);
void rk_gpus_release(struct rk_gpus *g);
/* The gfx target of the first AMD GPU that has one, or "". */
const char *rk_gpus_arch(const struct rk_gpus *g);

RK_END_DECLS

#endif
