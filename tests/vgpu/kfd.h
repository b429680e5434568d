/*
 * kfd.h - the part of the driver's interface that AMD's runtime uses: numbers and arguments of the
 * ioctls of /dev/kfd, version 1.17, and signals in memory. The system's own header is older or lacks
 * headers it includes.
 */
#ifndef VGPU_KFD_H
#define VGPU_KFD_H

#include <stdint.h>

enum kfd_number {
	KFD_GET_VERSION = 0x01,
	KFD_CREATE_QUEUE = 0x02,
	KFD_DESTROY_QUEUE = 0x03,
	KFD_SET_MEMORY_POLICY = 0x04,
	KFD_GET_CLOCK_COUNTERS = 0x05,
	KFD_UPDATE_QUEUE = 0x07,
	KFD_CREATE_EVENT = 0x08,
	KFD_DESTROY_EVENT = 0x09,
	KFD_SET_EVENT = 0x0a,
	KFD_RESET_EVENT = 0x0b,
	KFD_WAIT_EVENTS = 0x0c,
	KFD_DEBUG_REGISTER = 0x0d,
	KFD_SET_SCRATCH = 0x11,
	KFD_GET_TILE_CONFIG = 0x12,
	KFD_SET_TRAP_HANDLER = 0x13,
	KFD_GET_APERTURES = 0x14,
	KFD_ACQUIRE_VM = 0x15,
	KFD_ALLOC_MEMORY = 0x16,
	KFD_FREE_MEMORY = 0x17,
	KFD_MAP_MEMORY = 0x18,
	KFD_UNMAP_MEMORY = 0x19,
	KFD_SET_CU_MASK = 0x1a,
	KFD_GET_DMABUF_INFO = 0x1c,
	KFD_IMPORT_DMABUF = 0x1d,
	KFD_ALLOC_GWS = 0x1e,
	KFD_SMI_EVENTS = 0x1f,
	KFD_SET_XNACK_MODE = 0x21,
	KFD_AVAILABLE_MEMORY = 0x23,
	KFD_EXPORT_DMABUF = 0x24,
	KFD_RUNTIME_ENABLE = 0x25,
	KFD_IPC_IMPORT = 0x80, /* these two are in AMD's own driver, not in Linux's */
	KFD_IPC_EXPORT = 0x81,
};

struct kfd_version {
	uint32_t major, minor;
};

enum { KFD_QUEUE_AQL = 2 };

struct kfd_create_queue {
	uint64_t ring, write, read, doorbell;
	uint32_t ring_size, gpu_id, type, percentage, priority, id;
	/* more that the device does not need */
};

struct kfd_clocks {
	uint64_t gpu, cpu, system, system_freq;
	uint32_t gpu_id, pad;
};

struct kfd_apertures {
	uint64_t lds_base, lds_limit, scratch_base, scratch_limit, gpuvm_base, gpuvm_limit;
	uint32_t gpu_id, pad;
};

struct kfd_get_apertures {
	uint64_t list;
	uint32_t n, pad;
};

enum { KFD_MAX_EVENTS = 4096, KFD_EVENT_SIGNAL = 0, KFD_EVENT_HW_EXCEPTION = 3 };

struct kfd_create_event {
	uint64_t page_offset;
	uint32_t trigger_data, type, auto_reset, node, id, slot;
};

struct kfd_event_data {
	union {
		uint64_t age; /* of a signal's event that the caller has seen */
		struct {
			uint32_t reset_type, reset_cause, memory_lost, gpu_id;
		} exception;
		uint64_t all[5];
	};
	uint32_t id, pad;
};

enum { KFD_WAIT_DONE, KFD_WAIT_TIMEOUT };

struct kfd_wait_events {
	uint64_t list;
	uint32_t n, all, timeout_ms, result;
};

struct kfd_tile_config {
	uint64_t tiles, macro_tiles;
	uint32_t ntiles, nmacro_tiles, gpu_id, gb_addr_config, nbanks, nranks;
};

enum {
	KFD_MEM_VRAM = 1 << 0,
	KFD_MEM_GTT = 1 << 1,
	KFD_MEM_USERPTR = 1 << 2,
	KFD_MEM_DOORBELL = 1 << 3,
};

struct kfd_alloc_memory {
	uint64_t va, size, handle, mmap_offset;
	uint32_t gpu_id, flags;
};

struct kfd_map_memory {
	uint64_t handle, devices;
	uint32_t n, nmapped;
};

struct kfd_smi_events {
	uint32_t gpu_id, fd;
};

struct kfd_available_memory {
	uint64_t bytes;
	uint32_t gpu_id, pad;
};

struct kfd_export_dmabuf {
	uint64_t handle;
	uint32_t flags, fd;
};

struct kfd_dmabuf_info {
	uint64_t size, metadata;
	uint32_t metadata_size, gpu_id, flags, fd;
};

struct kfd_import_dmabuf {
	uint64_t va, handle;
	uint32_t gpu_id, fd;
};

struct kfd_ipc_export {
	uint64_t handle;
	uint32_t share[4], gpu_id, flags;
};

struct kfd_ipc_import {
	uint64_t handle, va, mmap_offset;
	uint32_t share[4], gpu_id, flags;
};

/* A signal of the runtime. Who completes it also writes `event` to the mailbox, if there is one. */
struct signal {
	int64_t kind;
	_Atomic int64_t value;
	uint64_t mailbox;
	uint32_t event, reserved;
	uint64_t start, end; /* ticks of the GPU's clock */
};

#endif
