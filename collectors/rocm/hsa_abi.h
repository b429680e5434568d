/*
 * hsa_abi.h - the part of ROCr's ABI that we use, declared here so that building needs no headers of
 * AMD. Handles are plain numbers: AMD declares them as structures of one 64-bit word, which are
 * passed in the same way. tests/vgpu/collect.py compares all of it with AMD's headers.
 *
 * A table says in version.minor how many bytes it has. Newer releases append functions; check
 * HSA_HAS() before you use one.
 */
#ifndef RK_HSA_ABI_H
#define RK_HSA_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t hsa_status; /* 0: success */

struct hsa_version {
	uint32_t major, minor, step, reserved;
};

#define HSA_HAS(table, member)                                                                \
	((table)->version.minor >= offsetof(__typeof__(*(table)), member) + sizeof(void *) && \
	 (table)->member)

struct hsa_queue {
	uint32_t type, features;
	void *base;
	uint64_t doorbell;
	uint32_t size, reserved; /* packets */
	uint64_t id;
};

/* A signal's handle is the address of this. */
struct hsa_signal {
	int64_t kind, value;
	uint64_t mailbox;
	uint32_t event, reserved;
	uint64_t start, end; /* ticks of the device */
	uint64_t queue, reserved2;
};

enum hsa_packet_type {
	HSA_PACKET_VENDOR = 0, /* with a format in byte 2 */
	HSA_PACKET_DISPATCH = 2,
};
/* Dispatch with clusters of workgroups: gfx1250; since step 13 of the AMD table. */
enum { HSA_VENDOR_DISPATCH = 3, HSA_VENDOR_DISPATCH_STEP = 13 };

struct hsa_packet {
	uint16_t header; /* type in the low byte */
	uint16_t setup;  /* format in the low byte of a vendor packet */
	uint16_t group[3], reserved;
	union {
		uint32_t items[3];
		struct {
			uint32_t clusters_x;
			uint16_t clusters_y, clusters_z;
			uint8_t cluster[4]; /* workgroups in a cluster: x, y, z */
		};
	};
	uint32_t private_bytes, group_bytes;
	uint64_t kernel, arguments, reserved2, signal;
};

_Static_assert(sizeof(struct hsa_packet) == 64, "packets have 64 bytes");
_Static_assert(sizeof(struct hsa_signal) == 64, "signals have 64 bytes");

/* At the address that a packet has in `kernel`. */
struct hsa_kernel {
	uint32_t group_bytes, private_bytes, argument_bytes;
	uint8_t reserved[32];
	uint32_t rsrc3, rsrc1, rsrc2;
	uint16_t properties;
	uint8_t reserved2[6];
};

enum { HSA_KERNEL_WAVE32 = 1 << 10 }; /* in properties */

typedef void (*hsa_queue_error)(hsa_status status, struct hsa_queue *source, void *data);
typedef void (*hsa_packet_writer)(const void *packets, uint64_t count);
typedef void (*hsa_packet_handler)(const void *packets, uint64_t count, uint64_t user_index,
				   void *data, hsa_packet_writer writer);

enum { HSA_DEVICE_CPU = 0, HSA_DEVICE_GPU = 1 };

enum hsa_agent_info {
	HSA_AGENT_NAME = 0, /* char[64] */
	HSA_AGENT_WAVE = 6,
	HSA_AGENT_DEVICE = 17,
	HSA_AGENT_COMPUTE_UNITS = 0xa002,
	HSA_AGENT_CLOCK_MHZ = 0xa003,
	HSA_AGENT_BDF = 0xa006,
	HSA_AGENT_PRODUCT = 0xa009, /* char[64] */
	HSA_AGENT_DOMAIN = 0xa00f,
	HSA_AGENT_UUID = 0xa011, /* char[21]: "GPU-" and 16 digits, or "GPU-XX" */
};

enum { HSA_POOL_SEGMENT = 0, HSA_POOL_SIZE = 2 };
enum { HSA_SEGMENT_GLOBAL = 0 };

enum hsa_symbol_info {
	HSA_SYMBOL_TYPE = 0, /* 1: kernel */
	HSA_SYMBOL_NAME_LENGTH = 1,
	HSA_SYMBOL_NAME = 2, /* not terminated */
	HSA_SYMBOL_GROUP_BYTES = 13,
	HSA_SYMBOL_PRIVATE_BYTES = 14,
	HSA_SYMBOL_OBJECT = 22,
};

enum { HSA_EXTENSION_LOADER = 0x201 };

struct hsa_loader { /* version 1.00 */
	hsa_status (*query_host_address)(const void *device, const void **ret_host);
	void *unused[2];
};

struct hsa_core {
	struct hsa_version version;
	hsa_status (*init)(void);
	hsa_status (*shut_down)(void);
	void *unused_32[3];
	hsa_status (*iterate_agents)(hsa_status (*f)(uint64_t agent, void *arg), void *arg);
	hsa_status (*agent_get_info)(uint64_t agent, uint32_t what, void *ret);
	hsa_status (*queue_create)(uint64_t agent, uint32_t size, uint32_t type,
				   hsa_queue_error error, void *data, uint32_t private_bytes,
				   uint32_t group_bytes, struct hsa_queue **ret);
	void *unused_80[1];
	hsa_status (*queue_destroy)(struct hsa_queue *queue);
	void *unused_96[11];
	uint64_t (*add_write_index_scacq_screl)(const struct hsa_queue *queue, uint64_t n);
	uint64_t (*add_write_index_scacquire)(const struct hsa_queue *queue, uint64_t n);
	uint64_t (*add_write_index_relaxed)(const struct hsa_queue *queue, uint64_t n);
	uint64_t (*add_write_index_screlease)(const struct hsa_queue *queue, uint64_t n);
	void *unused_216[13];
	hsa_status (*signal_destroy)(uint64_t signal);
	void *unused_328[1];
	int64_t (*signal_load_scacquire)(uint64_t signal);
	void (*signal_store_relaxed)(uint64_t signal, int64_t value);
	void (*signal_store_screlease)(uint64_t signal, int64_t value);
	void *unused_360[24];
	void (*signal_subtract_screlease)(uint64_t signal, int64_t value);
	void *unused_560[16];
	hsa_status (*executable_destroy)(uint64_t executable);
	void *unused_696[1];
	hsa_status (*executable_freeze)(uint64_t executable, const char *options);
	void *unused_712[6];
	hsa_status (*executable_symbol_get_info)(uint64_t symbol, uint32_t what, void *ret);
	void *unused_768[4];
	hsa_status (*system_get_major_extension_table)(uint16_t extension, uint16_t major,
						       size_t bytes, void *ret);
	void *unused_808[24];
	hsa_status (*executable_iterate_agent_symbols)(uint64_t executable, uint64_t agent,
						       hsa_status (*f)(uint64_t executable,
								       uint64_t agent,
								       uint64_t symbol, void *arg),
						       void *arg);
};

struct hsa_time {
	uint64_t start, end; /* CLOCK_BOOTTIME in ns */
};

struct hsa_pitched {
	void *base;
	size_t pitch, slice;
};

struct hsa_dim {
	uint32_t x, y, z;
};

enum hsa_copy_direction { HSA_HOST_TO_HOST, HSA_HOST_TO_DEVICE, HSA_DEVICE_TO_HOST, HSA_DEVICE };

enum { HSA_SIGNAL_GPU_ONLY = 1 };
enum { HSA_CONDITION_LT = 2 };

struct hsa_amd {
	struct hsa_version version;
	void *unused_16[2];
	hsa_status (*set_profiler_enabled)(struct hsa_queue *queue, int on);
	hsa_status (*async_copy_enable)(bool on);
	hsa_status (*get_dispatch_time)(uint64_t agent, uint64_t signal, struct hsa_time *ret);
	hsa_status (*get_async_copy_time)(uint64_t signal, struct hsa_time *ret);
	void *unused_64[1];
	hsa_status (*signal_async_handler)(uint64_t signal, uint32_t condition, int64_t value,
					   bool (*f)(int64_t value, void *arg), void *arg);
	void *unused_80[3];
	hsa_status (*memory_pool_get_info)(uint64_t pool, uint32_t what, void *ret);
	hsa_status (*agent_iterate_memory_pools)(uint64_t agent,
						 hsa_status (*f)(uint64_t pool, void *arg),
						 void *arg);
	hsa_status (*memory_pool_allocate)(uint64_t pool, size_t bytes, uint32_t flags, void **ret);
	hsa_status (*memory_pool_free)(void *p);
	hsa_status (*memory_async_copy)(void *to, uint64_t to_agent, const void *from,
					uint64_t from_agent, size_t bytes, uint32_t ndeps,
					const uint64_t *deps, uint64_t done);
	hsa_status (*memory_async_copy_on_engine)(void *to, uint64_t to_agent, const void *from,
						  uint64_t from_agent, size_t bytes, uint32_t ndeps,
						  const uint64_t *deps, uint64_t done,
						  uint32_t engine, bool force);
	void *unused_152[16];
	hsa_status (*signal_create)(int64_t value, uint32_t n, const uint64_t *consumers,
				    uint64_t attributes, uint64_t *ret);
	void *unused_288[3];
	hsa_status (*queue_intercept_create)(uint64_t agent, uint32_t size, uint32_t type,
					     hsa_queue_error error, void *data,
					     uint32_t private_bytes, uint32_t group_bytes,
					     struct hsa_queue **ret);
	hsa_status (*queue_intercept_register)(struct hsa_queue *queue, hsa_packet_handler handler,
					       void *data);
	void *unused_328[1];
	hsa_status (*memory_async_copy_rect)(const struct hsa_pitched *to,
					     const struct hsa_dim *to_offset,
					     const struct hsa_pitched *from,
					     const struct hsa_dim *from_offset,
					     const struct hsa_dim *range, uint64_t agent,
					     uint32_t direction, uint32_t ndeps,
					     const uint64_t *deps, uint64_t done);
	void *unused_344[16];
	hsa_status (*vmem_handle_create)(uint64_t pool, size_t bytes, uint32_t type, uint64_t flags,
					 uint64_t *ret);
	hsa_status (*vmem_handle_release)(uint64_t handle);
};

struct hsa_tables {
	struct hsa_version version;
	struct hsa_core *core;
	struct hsa_amd *amd;
};

/* Every function we replace or call up to here is in all releases from ROCm 5.7 on. */
enum { HSA_MAJOR = 2, HSA_TABLES_MAJOR = 3 };

#endif
