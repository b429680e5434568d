/*
 * cupti_abi.h - our declarations of the parts of CUPTI and of the CUDA driver that we use.
 *
 * The project is built without CUDA, and one library works with CUDA 11.8 to 13.x: functions
 * are looked up by name at run time, and a record has the layout below up to the last field that is
 * named here. Newer releases only append: CUpti_ActivityKernel8 (11.8), 9 (12.x) to 13 (13.4) are
 * one struct to us, and so are Memcpy5 to 7, MemcpyPtoP4, Memset4 and 5, Synchronization and its
 * successor, Memory3 and 4. tests/sim/cupti_layout.py compares every field and number with
 * NVIDIA's headers of those releases.
 */
#ifndef RK_CUPTI_ABI_H
#define RK_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* ---- numbers ---- */

enum {
	CUPTI_OK = 0,
	CUPTI_MAX_LIMIT_REACHED = 12, /* no more records in the buffer */
	CUPTI_NOT_COMPATIBLE = 14,
	CUPTI_INVALID_KIND = 21,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
};

enum {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_KERNEL = 3,
	CUPTI_KIND_DRIVER = 4,
	CUPTI_KIND_RUNTIME = 5,
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_MEMCPY2 = 22, /* from device to device */
	CUPTI_KIND_SYNCHRONIZATION = 38,
	CUPTI_KIND_MEMORY2 = 49,
};

enum {
	CUPTI_COPY_HTOD = 1,
	CUPTI_COPY_DTOH,
	CUPTI_COPY_HTOA,
	CUPTI_COPY_ATOH,
	CUPTI_COPY_ATOA,
	CUPTI_COPY_ATOD,
	CUPTI_COPY_DTOA,
	CUPTI_COPY_DTOD,
	CUPTI_COPY_HTOH,
	CUPTI_COPY_PTOP,
};

enum {
	CUPTI_SYNC_EVENT = 1,
	CUPTI_SYNC_STREAM_WAIT_EVENT,
	CUPTI_SYNC_STREAM,
	CUPTI_SYNC_CONTEXT,
};

/* Numbers of the functions that synchronise, as in call records. */
enum {
	CUPTI_DRIVER_cuCtxSynchronize = 17,
	CUPTI_DRIVER_cuEventSynchronize = 121,
	CUPTI_DRIVER_cuStreamSynchronize = 126,
	CUPTI_DRIVER_cuStreamWaitEvent = 295,
	CUPTI_DRIVER_cuStreamWaitEvent_ptsz = 436,
	CUPTI_DRIVER_cuStreamSynchronize_ptsz = 440,
	CUPTI_DRIVER_cuCtxSynchronize_v2 = 800, /* CUDA 13.0 on */
	CUPTI_RUNTIME_cudaThreadSynchronize = 126,
	CUPTI_RUNTIME_cudaStreamSynchronize = 131,
	CUPTI_RUNTIME_cudaEventSynchronize = 137,
	CUPTI_RUNTIME_cudaStreamWaitEvent = 147,
	CUPTI_RUNTIME_cudaDeviceSynchronize = 165,
	CUPTI_RUNTIME_cudaStreamSynchronize_ptsz = 239,
	CUPTI_RUNTIME_cudaStreamWaitEvent_ptsz = 247,
	CUPTI_RUNTIME_cudaExecutionCtxSynchronize = 534, /* CUDA 13.1 on */
};

/* And of those that start kernels. */
enum {
	CUPTI_DRIVER_cuLaunchKernel = 307,
	CUPTI_DRIVER_cuLaunchKernel_ptsz = 442,
	CUPTI_DRIVER_cuLaunchCooperativeKernel = 477,
	CUPTI_DRIVER_cuLaunchCooperativeKernel_ptsz = 478,
	CUPTI_DRIVER_cuGraphLaunch = 514,
	CUPTI_DRIVER_cuGraphLaunch_ptsz = 515,
	CUPTI_DRIVER_cuLaunchKernelEx = 652,
	CUPTI_DRIVER_cuLaunchKernelEx_ptsz = 653,
	CUPTI_RUNTIME_cudaLaunchKernel = 211,
	CUPTI_RUNTIME_cudaLaunchKernel_ptsz = 214,
	CUPTI_RUNTIME_cudaLaunchCooperativeKernel = 269,
	CUPTI_RUNTIME_cudaLaunchCooperativeKernel_ptsz = 270,
	CUPTI_RUNTIME_cudaGraphLaunch = 311,
	CUPTI_RUNTIME_cudaGraphLaunch_ptsz = 312,
	CUPTI_RUNTIME_cudaLaunchKernelExC = 430,
	CUPTI_RUNTIME_cudaLaunchKernelExC_ptsz = 431,
};

enum { CUPTI_MEMORY_ALLOCATION = 1, CUPTI_MEMORY_RELEASE = 2 };
enum { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2 };
enum { CUPTI_FLUSH_FORCED = 1, CUPTI_THREAD_ID_SYSTEM = 1, CUPTI_ATTR_TIMESTAMP = 22 };

#define CUPTI_NO_STREAM UINT32_MAX /* in synchronisations with all streams */

/* ---- records ---- */

struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t unused_cache[2];
	uint16_t registers;
	uint32_t unused_global_cache[2];
	uint64_t start, end, unused_completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, unused_local_total;
	uint32_t correlation;
	int64_t unused_grid_id;
	const char *name;
	void *unused_reserved;
	uint64_t queued, submitted;
	uint8_t unused_launch[4];
	uint32_t unused_shared_executed;
	uint64_t graph_node;
	uint32_t unused_limit;
	uint32_t graph;
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, unused_kinds[3];
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
};

struct cupti_memcpy2 {
	uint32_t kind;
	uint8_t copy_kind, unused_kinds[3];
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t from_device, unused_from_context, to_device, unused_to_context;
	uint32_t correlation;
};

struct cupti_memset {
	uint32_t kind, unused_value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
};

struct cupti_sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream;
};

struct cupti_api {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t unused_process, thread, correlation, unused_result;
};

struct cupti_memory {
	uint32_t kind, operation, unused_kind, correlation;
	uint64_t address, bytes, timestamp, unused_pc;
	uint32_t unused_process, device;
};

/* ---- functions ---- */

typedef int cupti_result;
typedef struct cupti_subscriber *cupti_subscriber;
typedef void cupti_callback(void *user, int domain, uint32_t cbid, const void *data);
typedef uint64_t cupti_timestamp(void);
typedef void cupti_requested(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			     size_t valid);
typedef void cupti_requested2(uint8_t **buffer, size_t *size, size_t *max_records, void *info);
typedef void cupti_completed2(uint8_t *buffer, size_t size, size_t valid, void *info);

struct cupti_subscriber_params {
	size_t bytes;
	const char *name;
	char *old_name;
	size_t old_name_bytes;
	uint8_t allow_multiple, unused[7];
};

/* X(required, return type, name, parameters): the members of struct cupti. */
#define CUPTI_FUNCTIONS(X)                                                                         \
	X(1, cupti_result, cuptiGetVersion, (uint32_t *))                                          \
	X(1, cupti_result, cuptiActivityRegisterCallbacks, (cupti_requested *, cupti_completed *)) \
	X(1, cupti_result, cuptiActivityEnable, (int kind))                                        \
	X(1, cupti_result, cuptiActivityGetNextRecord,                                             \
	  (uint8_t *, size_t, struct cupti_record **))                                             \
	X(1, cupti_result, cuptiActivityGetNumDroppedRecords, (void *, uint32_t, size_t *))        \
	X(1, cupti_result, cuptiActivityFlushAll, (uint32_t flag))                                 \
	X(1, cupti_result, cuptiGetTimestamp, (uint64_t *))                                        \
	X(0, cupti_result, cuptiGetResultString, (cupti_result, const char **))                    \
	X(0, cupti_result, cuptiActivityRegisterTimestampCallback, (cupti_timestamp *))            \
	X(0, cupti_result, cuptiActivityDisable, (int kind))                                       \
	X(0, cupti_result, cuptiActivityEnableLatencyTimestamps, (uint8_t on))                     \
	X(0, cupti_result, cuptiActivityEnableAndDump, (int kind))                                 \
	X(0, cupti_result, cuptiActivityEnableDriverApi, (uint32_t cbid, uint8_t on))              \
	X(0, cupti_result, cuptiActivityEnableRuntimeApi, (uint32_t cbid, uint8_t on))             \
	X(0, cupti_result, cuptiSetThreadIdType, (int type))                                       \
	X(0, cupti_result, cuptiGetCallbackName, (int domain, uint32_t cbid, const char **))       \
	X(0, cupti_result, cuptiSubscribe, (cupti_subscriber *, cupti_callback *, void *))         \
	X(0, cupti_result, cuptiUnsubscribe, (cupti_subscriber))                                   \
	X(0, cupti_result, cuptiSubscribe_v2,                                                      \
	  (cupti_subscriber *, cupti_callback *, void *, struct cupti_subscriber_params *))        \
	X(0, cupti_result, cuptiActivityRegisterCallbacks_v2,                                      \
	  (cupti_subscriber, cupti_requested2 *, cupti_completed2 *))                              \
	X(0, cupti_result, cuptiActivityEnable_v2, (cupti_subscriber, int kind, void *config))     \
	X(0, cupti_result, cuptiActivityDisable_v2, (cupti_subscriber, int kind, void *config))    \
	X(0, cupti_result, cuptiActivityEnableDriverApi_v2,                                        \
	  (cupti_subscriber, uint32_t cbid, uint8_t on))                                           \
	X(0, cupti_result, cuptiActivityEnableRuntimeApi_v2,                                       \
	  (cupti_subscriber, uint32_t cbid, uint8_t on))                                           \
	X(0, cupti_result, cuptiActivityGetNextRecord_v2,                                          \
	  (cupti_subscriber, uint8_t *, size_t, struct cupti_record **))                           \
	X(0, cupti_result, cuptiActivityGetNumDroppedRecords_v2,                                   \
	  (cupti_subscriber, void *, uint32_t, size_t *))                                          \
	X(0, cupti_result, cuptiActivitySetAttribute_v2,                                           \
	  (cupti_subscriber, int attribute, size_t *bytes, void *value))                           \
	X(0, cupti_result, cuptiGetTimestamp_v2, (cupti_subscriber, uint64_t *))

struct cupti {
#define CUPTI_MEMBER(required, returns, name, parameters) returns(*name) parameters;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

/* ---- the driver: only used to query devices ---- */

enum {
	CUDA_ATTR_WARP_SIZE = 10,
	CUDA_ATTR_CLOCK_KHZ = 13,
	CUDA_ATTR_MULTIPROCESSORS = 16,
	CUDA_ATTR_PCI_BUS = 33,
	CUDA_ATTR_PCI_DEVICE = 34,
	CUDA_ATTR_PCI_DOMAIN = 50,
	CUDA_ATTR_MAJOR = 75,
	CUDA_ATTR_MINOR = 76,
};

#define CUDA_FUNCTIONS(X)                                            \
	X(0, int, cuDriverGetVersion, (int *))                       \
	X(0, int, cuDeviceGet, (int *, int ordinal))                 \
	X(0, int, cuDeviceGetName, (char *, int bytes, int device))  \
	X(0, int, cuDeviceGetAttribute, (int *, int attribute, int)) \
	X(0, int, cuDeviceTotalMem_v2, (size_t *, int device))

struct cuda {
#define CUDA_MEMBER(required, returns, name, parameters) returns(*name) parameters;
	CUDA_FUNCTIONS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

#endif
