/* gpus_found.h - GPUs while they are put together from KFD, DRM, PCI and NVML. */
#ifndef RK_GPUS_FOUND_H
#define RK_GPUS_FOUND_H

#include "base/error.h"
#include "rockit/gpus.h"

enum {
	RK_PCI_AMD = 0x1002,
	RK_PCI_NVIDIA = 0x10de,
	RK_PCI_INTEL = 0x8086,
	RK_GPUS_MAX = 1024,
};

/* The text of a GPU; its rk_gpu points here once all are found. */
struct rk_gpu_text {
	char name[128], gfx[24], pci[24], driver[32], partition[64], uuid[96], compute[16];
};

struct rk_gpu_found {
	struct rk_gpu gpu;
	struct rk_gpu_text text;
	uint64_t at; /* PCI address: domain << 16 | bus << 8 | device << 3 | function */
	unsigned vendor, revision;
};

struct rk_gpus_found {
	const char *root;
	struct rk_gpu_found *v;
	size_t n, cap;
};

/* The GPU at a PCI address, made when there is none yet. Valid until the next one is made. */
int rk_gpus_at(struct rk_gpus_found *f, uint64_t at, struct rk_gpu_found **ret,
	       struct rk_error *err);
/* A new entry; `like` (may be NULL) is copied. */
int rk_gpus_add(struct rk_gpus_found *f, const struct rk_gpu_found *like, struct rk_gpu_found **ret,
		struct rk_error *err);

/* Adds what KFD's topology knows, joined by PCI address; a partition of a package is a GPU. */
int rk_gpus_find_kfd(struct rk_gpus_found *f, struct rk_error *err);
/* Adds what NVIDIA's management library knows, joined likewise; nothing where there is none. */
int rk_gpus_find_nvml(struct rk_gpus_found *f, struct rk_error *err);

#endif
