/*
 * vgpu.h - a virtual AMD GPU: the parts of the library that is loaded into a ROCm program.
 *
 * The library takes the place of the kernel driver. AMD's runtime above it is unmodified: it reads a
 * generated topology, allocates memory, creates queues and writes packets, and a thread of ours per
 * queue does what the packets say. Kernels do nothing and take time; copies and fills are done.
 *
 * Every address that a packet holds is an address of this process (see vgpu_host).
 */
#ifndef VGPU_H
#define VGPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { VGPU_MAX_GPUS = 16 };
enum {
	VGPU_GFX9 = 141,
	VGPU_GFX11 = 145,
	VGPU_GFX12 = 152
}; /* families, as the driver numbers them */

struct vgpu {
	uint32_t id; /* gpu_id of the driver */
	unsigned index, minor;
	char chip[16]; /* "gfx942" */
	uint32_t device_id, family, compute_units, engines, wave_size, clock_mhz;
	int fd; /* its memory: a sparse memfd that the runtime maps */
	uint64_t vram;
	_Atomic uint64_t vram_used, next_offset;
};

/* ---- device.c: the GPUs and their clock ---- */

extern struct vgpu vgpu_gpus[VGPU_MAX_GPUS];
extern unsigned vgpu_ngpus;
extern _Atomic bool
	vgpu_used; /* the runtime has called the driver, here or in the parent before a fork */
extern bool vgpu_forked; /* the parent has */
extern int vgpu_kfd;     /* memfd of the doorbell pages; -1: no virtual GPU in this process */

/* The file that a path of the driver means, or the path itself. `room` has PATH_MAX bytes. */
const char *vgpu_path(const char *path, char *room);
/* A new descriptor if `path` is a device of ours, -1 with errno if it cannot be opened, -2 if not. */
int vgpu_open_device(const char *path);
bool vgpu_is(int fd, int memfd); /* whether fd is a duplicate of memfd */
struct vgpu *vgpu_by_id(uint32_t id);
struct vgpu *vgpu_by_fd(int fd);
uint64_t vgpu_now(void); /* ns, CLOCK_BOOTTIME */
uint64_t vgpu_ticks(uint64_t ns);
void vgpu_sleep_until(uint64_t ns);

/* ---- memory.c ---- */

/*
 * A part of a GPU's memory for another process; 16 bytes, as much as a handle of the driver has. It is
 * also what an exported descriptor holds.
 */
struct vgpu_export {
	uint32_t pid;
	uint16_t fd, gpu;
	uint32_t offset, pages; /* in units of VGPU_STEP and of 4 KiB */
};

#define VGPU_STEP (2ull << 20) /* memory is handed out in these steps */

struct vgpu_alloc {
	uint64_t va, size;
	uint8_t *host;
	struct vgpu *gpu;
	uint64_t offset;
	uint32_t flags;
};

/* 0 or an errno. */
int vgpu_alloc(struct vgpu *gpu, uint64_t va, uint64_t size, uint32_t flags, uint64_t *offset,
	       uint64_t *handle);
int vgpu_free(uint64_t handle);
int vgpu_export(uint64_t handle, struct vgpu_export *ret);
/* A descriptor of the memory, to close; negative if its process is gone. */
int vgpu_export_open(const struct vgpu_export *at);
/* Maps it at an address and gives it a handle of this process. */
int vgpu_import(const struct vgpu_export *at, uint64_t va, uint64_t *handle);
/* Memory that was imported with libdrm is known by its address too. */
void vgpu_note_mapping(uint64_t va, uint64_t size, bool mapped);
void *vgpu_host(uint64_t va);
bool vgpu_find(uint64_t va, uint64_t *start, uint64_t *end); /* the allocation around an address */
/* Grows when memory is freed: names found there are void. */
extern _Atomic unsigned vgpu_memory_changes;

/* ---- kfd.c ---- */

int vgpu_ioctl(unsigned long request, void *arg); /* 0, or -1 with errno */
void vgpu_set_event(uint32_t id);
void vgpu_lose(struct vgpu *gpu); /* tells the runtime that the GPU was reset and lost its memory */

/* ---- queue.c, sdma.c ---- */

struct vgpu_queue {
	struct vgpu *gpu;
	uint32_t id, type;
	uint8_t *ring;
	uint64_t ring_size;
	_Atomic uint64_t *write, *read;
	uint64_t seen, last_end; /* index of the next packet; when the last one ended, in ns */
	struct vgpu_queue *next;
	_Atomic int stop, parked;
	unsigned long thread;
};

int vgpu_queue_create(struct vgpu *gpu, uint32_t type, uint64_t ring, uint32_t size, uint64_t write,
		      uint64_t read, uint32_t *ret_id);
int vgpu_queue_destroy(uint32_t id);
/* Waits a moment for something that other threads bring about; false when the queue must end. */
bool vgpu_queue_wait(struct vgpu_queue *q, unsigned *rounds);
/* When work of so many ns begins and ends: after the last of this queue. Waits until the end. */
void vgpu_queue_take(struct vgpu_queue *q, uint64_t ns, uint64_t *start, uint64_t *end);
bool vgpu_sdma_step(struct vgpu_queue *q); /* one packet; false if there is none */

/* ---- kernels.c ---- */

struct vgpu_dispatch {
	uint32_t grid[3];
	uint16_t block[3];
	uint32_t private_bytes, group_bytes; /* of one work-item, of one group (LDS) */
	uint64_t object, kernarg;
};

uint64_t vgpu_groups(const struct vgpu_dispatch *d);

/* "" if unknown. `room` has VGPU_NAME bytes. */
enum { VGPU_NAME = 4096 };
void vgpu_kernel_name(uint64_t object, char *room);
uint64_t vgpu_kernel_ns(const struct vgpu_dispatch *d, const char *name);
/* False when the queue must end before it is done. */
bool vgpu_kernel_effect(struct vgpu_queue *q, const struct vgpu_dispatch *d, const char *name);

/* ---- counters.c ---- */

/* Commands in memory: the start, the stop and the reading of counters. */
void vgpu_pm4(struct vgpu *gpu, uint64_t address, uint32_t dwords);
void vgpu_count(struct vgpu *gpu, const struct vgpu_dispatch *d, uint64_t ns);

/* ---- ledger.c ---- */

void vgpu_ledger(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Digits at the start of a text, after 0x hexadecimal ones; what does not fit is UINT64_MAX. */
uint64_t vgpu_number(const char *text);
/* Whether VGPU_FAULT asks for a fault of this kind; *value is what follows its "=". */
bool vgpu_fault(const char *kind, const char **value);

#endif
