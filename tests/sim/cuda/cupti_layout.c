/*
 * cupti_layout.c - what the collector and the stand-in believe about CUPTI and NVTX, against
 * NVIDIA's own headers. It is compiled once for each release and never run: cupti_layout.py says
 * which of NVIDIA's structs is the newest there (KERNEL, MEMCPY, ...).
 */
#include <stdbool.h>

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>
#include <cupti_runtime_cbid.h>
#include <cupti_version.h>

#include "cupti_abi.h"
#include "fake_layout.h"

#define SIZE(type, field) sizeof(((type *)0)->field)
#define FIELD(ours, a, theirs, b)                                            \
	_Static_assert(offsetof(struct ours, a) == offsetof(theirs, b), #b); \
	_Static_assert(SIZE(struct ours, a) == SIZE(theirs, b), #b " (size)");
#define FIRST(ours, a, theirs, b) \
	_Static_assert(offsetof(struct ours, a) == offsetof(theirs, b), #b);
#define AT(offset, theirs, b) _Static_assert((offset) == offsetof(theirs, b), "stand-in: " #b);
#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs);

/* ---- the collector ---- */

FIELD(cupti_kernel, kind, KERNEL, kind)
FIELD(cupti_kernel, registers, KERNEL, registersPerThread)
FIELD(cupti_kernel, start, KERNEL, start)
FIELD(cupti_kernel, end, KERNEL, end)
FIELD(cupti_kernel, device, KERNEL, deviceId)
FIELD(cupti_kernel, context, KERNEL, contextId)
FIELD(cupti_kernel, stream, KERNEL, streamId)
FIRST(cupti_kernel, grid[0], KERNEL, gridX)
FIRST(cupti_kernel, grid[1], KERNEL, gridY)
FIRST(cupti_kernel, grid[2], KERNEL, gridZ)
FIRST(cupti_kernel, block[0], KERNEL, blockX)
FIRST(cupti_kernel, block[1], KERNEL, blockY)
FIRST(cupti_kernel, block[2], KERNEL, blockZ)
FIELD(cupti_kernel, static_shared, KERNEL, staticSharedMemory)
FIELD(cupti_kernel, dynamic_shared, KERNEL, dynamicSharedMemory)
FIELD(cupti_kernel, local_per_thread, KERNEL, localMemoryPerThread)
FIELD(cupti_kernel, correlation, KERNEL, correlationId)
FIELD(cupti_kernel, name, KERNEL, name)
FIELD(cupti_kernel, queued, KERNEL, queued)
FIELD(cupti_kernel, submitted, KERNEL, submitted)
FIELD(cupti_kernel, graph_node, KERNEL, graphNodeId)
FIELD(cupti_kernel, graph, KERNEL, graphId)
_Static_assert(sizeof(struct cupti_kernel) <= sizeof(KERNEL), "kernels are as long as we read");

FIELD(cupti_memcpy, copy_kind, MEMCPY, copyKind)
FIELD(cupti_memcpy, bytes, MEMCPY, bytes)
FIELD(cupti_memcpy, start, MEMCPY, start)
FIELD(cupti_memcpy, end, MEMCPY, end)
FIELD(cupti_memcpy, device, MEMCPY, deviceId)
FIELD(cupti_memcpy, context, MEMCPY, contextId)
FIELD(cupti_memcpy, stream, MEMCPY, streamId)
FIELD(cupti_memcpy, correlation, MEMCPY, correlationId)
_Static_assert(sizeof(struct cupti_memcpy) <= sizeof(MEMCPY), "copies are as long as we read");

FIELD(cupti_memcpy2, copy_kind, MEMCPY2, copyKind)
FIELD(cupti_memcpy2, bytes, MEMCPY2, bytes)
FIELD(cupti_memcpy2, start, MEMCPY2, start)
FIELD(cupti_memcpy2, end, MEMCPY2, end)
FIELD(cupti_memcpy2, device, MEMCPY2, deviceId)
FIELD(cupti_memcpy2, context, MEMCPY2, contextId)
FIELD(cupti_memcpy2, stream, MEMCPY2, streamId)
FIELD(cupti_memcpy2, from_device, MEMCPY2, srcDeviceId)
FIELD(cupti_memcpy2, to_device, MEMCPY2, dstDeviceId)
FIELD(cupti_memcpy2, correlation, MEMCPY2, correlationId)
_Static_assert(sizeof(struct cupti_memcpy2) <= sizeof(MEMCPY2), "and those between devices");

FIELD(cupti_memset, bytes, MEMSET, bytes)
FIELD(cupti_memset, start, MEMSET, start)
FIELD(cupti_memset, end, MEMSET, end)
FIELD(cupti_memset, device, MEMSET, deviceId)
FIELD(cupti_memset, context, MEMSET, contextId)
FIELD(cupti_memset, stream, MEMSET, streamId)
FIELD(cupti_memset, correlation, MEMSET, correlationId)
_Static_assert(sizeof(struct cupti_memset) <= sizeof(MEMSET), "fills are as long as we read");

FIELD(cupti_sync, type, SYNC, type)
FIELD(cupti_sync, start, SYNC, start)
FIELD(cupti_sync, end, SYNC, end)
FIELD(cupti_sync, correlation, SYNC, correlationId)
FIELD(cupti_sync, context, SYNC, contextId)
FIELD(cupti_sync, stream, SYNC, streamId)
_Static_assert(sizeof(struct cupti_sync) <= sizeof(SYNC), "synchronisations too");

FIELD(cupti_api, cbid, CUpti_ActivityAPI, cbid)
FIELD(cupti_api, start, CUpti_ActivityAPI, start)
FIELD(cupti_api, end, CUpti_ActivityAPI, end)
FIELD(cupti_api, thread, CUpti_ActivityAPI, threadId)
FIELD(cupti_api, correlation, CUpti_ActivityAPI, correlationId)
_Static_assert(sizeof(struct cupti_api) <= sizeof(CUpti_ActivityAPI), "calls too");

FIELD(cupti_memory, operation, MEMORY, memoryOperationType)
FIELD(cupti_memory, correlation, MEMORY, correlationId)
FIELD(cupti_memory, address, MEMORY, address)
FIELD(cupti_memory, bytes, MEMORY, bytes)
FIELD(cupti_memory, timestamp, MEMORY, timestamp)
FIELD(cupti_memory, device, MEMORY, deviceId)
_Static_assert(sizeof(struct cupti_memory) <= sizeof(MEMORY), "allocations too");

NUMBER(CUPTI_OK, CUPTI_SUCCESS)
NUMBER(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED)
NUMBER(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
NUMBER(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY)
NUMBER(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET)
NUMBER(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL)
NUMBER(CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER)
NUMBER(CUPTI_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME)
NUMBER(CUPTI_KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE)
NUMBER(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
NUMBER(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2)
NUMBER(CUPTI_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
NUMBER(CUPTI_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2)
NUMBER(CUPTI_COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
NUMBER(CUPTI_COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
NUMBER(CUPTI_COPY_HTOA, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA)
NUMBER(CUPTI_COPY_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH)
NUMBER(CUPTI_COPY_ATOA, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA)
NUMBER(CUPTI_COPY_ATOD, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD)
NUMBER(CUPTI_COPY_DTOA, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA)
NUMBER(CUPTI_COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
NUMBER(CUPTI_COPY_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH)
NUMBER(CUPTI_COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
NUMBER(CUPTI_SYNC_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE)
NUMBER(CUPTI_SYNC_STREAM_WAIT_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
NUMBER(CUPTI_SYNC_STREAM, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
NUMBER(CUPTI_SYNC_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE)
#define CALL(domain, name, version) \
	NUMBER(CUPTI_##domain##_##name, CUPTI_##domain##_TRACE_CBID_##name##version)
CALL(DRIVER, cuLaunchKernel, )
CALL(DRIVER, cuLaunchKernel_ptsz, )
CALL(DRIVER, cuLaunchCooperativeKernel, )
CALL(DRIVER, cuLaunchCooperativeKernel_ptsz, )
CALL(DRIVER, cuGraphLaunch, )
CALL(DRIVER, cuGraphLaunch_ptsz, )
CALL(DRIVER, cuLaunchKernelEx, )
CALL(DRIVER, cuLaunchKernelEx_ptsz, )
CALL(RUNTIME, cudaLaunchKernel, _v7000)
CALL(RUNTIME, cudaLaunchKernel_ptsz, _v7000)
CALL(RUNTIME, cudaLaunchCooperativeKernel, _v9000)
CALL(RUNTIME, cudaLaunchCooperativeKernel_ptsz, _v9000)
CALL(RUNTIME, cudaGraphLaunch, _v10000)
CALL(RUNTIME, cudaGraphLaunch_ptsz, _v10000)
CALL(RUNTIME, cudaLaunchKernelExC, _v11060)
CALL(RUNTIME, cudaLaunchKernelExC_ptsz, _v11060)
CALL(DRIVER, cuCtxSynchronize, )
CALL(DRIVER, cuEventSynchronize, )
CALL(DRIVER, cuStreamSynchronize, )
CALL(DRIVER, cuStreamWaitEvent, )
CALL(DRIVER, cuStreamWaitEvent_ptsz, )
CALL(DRIVER, cuStreamSynchronize_ptsz, )
CALL(RUNTIME, cudaThreadSynchronize, _v3020)
CALL(RUNTIME, cudaStreamSynchronize, _v3020)
CALL(RUNTIME, cudaEventSynchronize, _v3020)
CALL(RUNTIME, cudaStreamWaitEvent, _v3020)
CALL(RUNTIME, cudaDeviceSynchronize, _v3020)
CALL(RUNTIME, cudaStreamSynchronize_ptsz, _v7000)
CALL(RUNTIME, cudaStreamWaitEvent_ptsz, _v7000)
#if CUPTI_API_VERSION >= 130000
CALL(DRIVER, cuCtxSynchronize_v2, )
#endif
#if CUPTI_API_VERSION >= 130100
CALL(RUNTIME, cudaExecutionCtxSynchronize, _v13010)
#endif
NUMBER(CUPTI_MEMORY_ALLOCATION, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION)
NUMBER(CUPTI_MEMORY_RELEASE, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE)
NUMBER(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API)
NUMBER(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API)
NUMBER(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
NUMBER(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
_Static_assert(CUPTI_NO_STREAM == (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no stream");

/* Called through our declarations: parameters of the same sizes, in the same order. */
static inline void calls(void)
{
	cupti_requested *ours = (cupti_requested *)0;
	CUpti_BuffersCallbackRequestFunc theirs = ours;
	uint32_t version;
	uint64_t time;
	size_t n;
	const char *text;

	(void)theirs;
	(void)cuptiGetVersion(&version);
	(void)cuptiGetTimestamp(&time);
	(void)cuptiActivityFlushAll(0);
	(void)cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
	(void)cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY);
	(void)cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE);
	(void)cuptiActivityRegisterTimestampCallback((cupti_timestamp *)0);
	(void)cuptiActivityGetNextRecord((uint8_t *)0, n = 0, (CUpti_Activity **)0);
	(void)cuptiActivityGetNumDroppedRecords((CUcontext)0, (uint32_t)0, &n);
	(void)cuptiGetResultString(CUPTI_SUCCESS, &text);
	(void)cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	(void)cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, (uint32_t)0, &text);
	(void)cuptiUnsubscribe((CUpti_SubscriberHandle)0);
}

#if CUPTI_API_VERSION >= 24
static inline void single_calls(void)
{
	(void)cuptiActivityEnableDriverApi((uint32_t)0, (uint8_t)1);
	(void)cuptiActivityEnableRuntimeApi((uint32_t)0, (uint8_t)1);
}
#endif

#ifdef SHARED
NUMBER(CUPTI_ATTR_TIMESTAMP, CUPTI_ACTIVITY_ATTR_TIMESTAMP_CALLBACK)
FIELD(cupti_subscriber_params, bytes, CUpti_SubscriberParams, structSize)
FIELD(cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName)
FIELD(cupti_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName)
FIELD(cupti_subscriber_params, old_name_bytes, CUpti_SubscriberParams, oldSubscriberSize)
FIELD(cupti_subscriber_params, allow_multiple, CUpti_SubscriberParams, allowMultipleSubscribers)
_Static_assert(sizeof(struct cupti_subscriber_params) == CUpti_SubscriberParams_STRUCT_SIZE, "");

static inline void shared_calls(CUpti_SubscriberHandle s)
{
	size_t n = 0;
	uint64_t time;

	(void)cuptiActivityEnable_v2(s, CUPTI_ACTIVITY_KIND_MEMCPY, (CUpti_ActivityConfig *)0);
	(void)cuptiActivityGetNextRecord_v2(s, (uint8_t *)0, n, (CUpti_Activity **)0);
	(void)cuptiActivityGetNumDroppedRecords_v2(s, (CUcontext)0, (uint32_t)0, &n);
	(void)cuptiActivitySetAttribute_v2(s, CUPTI_ACTIVITY_ATTR_TIMESTAMP_CALLBACK, &n,
					   (void *)0);
	(void)cuptiGetTimestamp_v2(s, &time);
	(void)cuptiActivityEnableDriverApi_v2(s, (uint32_t)0, (uint8_t)1);
	(void)cuptiActivityEnableRuntimeApi_v2(s, (uint32_t)0, (uint8_t)1);
}
#endif

/* ---- the stand-in ---- */

AT(FAKE_KERNEL_REGISTERS, KERNEL, registersPerThread)
AT(FAKE_KERNEL_START, KERNEL, start)
AT(FAKE_KERNEL_END, KERNEL, end)
AT(FAKE_KERNEL_DEVICE, KERNEL, deviceId)
AT(FAKE_KERNEL_CONTEXT, KERNEL, contextId)
AT(FAKE_KERNEL_STREAM, KERNEL, streamId)
AT(FAKE_KERNEL_GRID, KERNEL, gridX)
AT(FAKE_KERNEL_BLOCK, KERNEL, blockX)
AT(FAKE_KERNEL_STATIC, KERNEL, staticSharedMemory)
AT(FAKE_KERNEL_DYNAMIC, KERNEL, dynamicSharedMemory)
AT(FAKE_KERNEL_LOCAL, KERNEL, localMemoryPerThread)
AT(FAKE_KERNEL_CORRELATION, KERNEL, correlationId)
AT(FAKE_KERNEL_NAME, KERNEL, name)
AT(FAKE_KERNEL_NODE, KERNEL, graphNodeId)
AT(FAKE_KERNEL_GRAPH, KERNEL, graphId)
AT(FAKE_COPY_KIND, MEMCPY, copyKind)
AT(FAKE_COPY_BYTES, MEMCPY, bytes)
AT(FAKE_COPY_START, MEMCPY, start)
AT(FAKE_COPY_END, MEMCPY, end)
AT(FAKE_COPY_DEVICE, MEMCPY, deviceId)
AT(FAKE_COPY_CONTEXT, MEMCPY, contextId)
AT(FAKE_COPY_STREAM, MEMCPY, streamId)
AT(FAKE_COPY_CORRELATION, MEMCPY, correlationId)
AT(FAKE_COPY_FROM, MEMCPY2, srcDeviceId)
AT(FAKE_COPY_TO, MEMCPY2, dstDeviceId)
AT(FAKE_COPY2_CORRELATION, MEMCPY2, correlationId)
AT(FAKE_COPY_BYTES, MEMSET, bytes)
AT(FAKE_COPY_START, MEMSET, start)
AT(FAKE_COPY_DEVICE, MEMSET, deviceId)
AT(FAKE_COPY_CORRELATION, MEMSET, correlationId)
AT(FAKE_SYNC_TYPE, SYNC, type)
AT(FAKE_SYNC_START, SYNC, start)
AT(FAKE_SYNC_END, SYNC, end)
AT(FAKE_SYNC_CORRELATION, SYNC, correlationId)
AT(FAKE_SYNC_CONTEXT, SYNC, contextId)
AT(FAKE_SYNC_STREAM, SYNC, streamId)
AT(FAKE_API_CBID, CUpti_ActivityAPI, cbid)
AT(FAKE_API_START, CUpti_ActivityAPI, start)
AT(FAKE_API_END, CUpti_ActivityAPI, end)
AT(FAKE_API_THREAD, CUpti_ActivityAPI, threadId)
AT(FAKE_API_CORRELATION, CUpti_ActivityAPI, correlationId)
AT(FAKE_MEMORY_OPERATION, MEMORY, memoryOperationType)
AT(FAKE_MEMORY_CORRELATION, MEMORY, correlationId)
AT(FAKE_MEMORY_ADDRESS, MEMORY, address)
AT(FAKE_MEMORY_BYTES, MEMORY, bytes)
AT(FAKE_MEMORY_TIME, MEMORY, timestamp)
AT(FAKE_MEMORY_DEVICE, MEMORY, deviceId)

/* The sizes of the release that this is. */
#define SIZES(word, name, api, kernel, copy, copy2, fill, sync, memory) \
	enum {                                                          \
		API_##word = (api),                                     \
		KERNEL_##word = (kernel),                               \
		MEMCPY_##word = (copy),                                 \
		MEMCPY2_##word = (copy2),                               \
		MEMSET_##word = (fill),                                 \
		SYNC_##word = (sync),                                   \
		MEMORY_##word = (memory),                               \
	};
FAKE_RELEASES(SIZES)
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define OF_RELEASE(what) PASTE(what, RELEASE)
NUMBER(OF_RELEASE(API_), CUPTI_API_VERSION)
NUMBER(OF_RELEASE(KERNEL_), sizeof(KERNEL))
NUMBER(OF_RELEASE(MEMCPY_), sizeof(MEMCPY))
NUMBER(OF_RELEASE(MEMCPY2_), sizeof(MEMCPY2))
NUMBER(OF_RELEASE(MEMSET_), sizeof(MEMSET))
NUMBER(OF_RELEASE(SYNC_), sizeof(SYNC))
NUMBER(OF_RELEASE(MEMORY_), sizeof(MEMORY))
NUMBER(FAKE_API_BYTES, sizeof(CUpti_ActivityAPI))
