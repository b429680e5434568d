/*
 * hip_abi.h - what we know of HIP's tracer callback, release by release.
 *
 * HIP calls hipRegisterTracerCallback()'s function before each of its calls, with a structure on the
 * caller's stack. Its beginning is hip_api_data_t: a correlation id, a phase, and from byte 16 on
 * the arguments. Behind it are four words: two for the tool, and the functions that HIP then calls
 * when it has filled in the arguments and when the call returns. hip_api_data_t is as large as the
 * arguments of its largest call, which differs between releases and cannot be asked for. So it is
 * listed here, and hip.c tries it out before it is believed.
 *
 * Everything here was read from hip/amd_detail/hip_prof_str.h of Debian's packages libamdhip64-dev
 * 5.7.1-6, 6.4.3-5 and 7.2.4-1~exp2; tests/vgpu/hip_layout.py compares it with these headers again.
 */
#ifndef RK_HIP_ABI_H
#define RK_HIP_ABI_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HIP_DOMAIN_API = 3, /* ACTIVITY_DOMAIN_HIP_API */
	HIP_DOMAIN_OPS =
		2, /* questions whether commands are recorded, and reports that some ended */
	HIP_OPS_CORRELATION = 16, /* in a report */
	/* offsets behind hip_api_data_t */
	HIP_BEGAN = 0,
	HIP_TOOL_WORD = 8,
	HIP_ENTER = 16,
	HIP_EXIT = 24,
	HIP_BEHIND_BYTES = 32,
};

typedef int hip_tracer(uint32_t domain, uint32_t op, void *data);
typedef void hip_phase(uint32_t op, void *data);

static const struct hip_release {
	uint16_t major, minor;
	uint16_t bytes; /* sizeof(hip_api_data_t) */
	/*
	 * When the launch of a graph ends and a tool is registered, HIP's own thread reads the names
	 * of its kernels from the executable graph, which the program may have destroyed by then.
	 */
	bool reads_graph;
} hip_releases[] = {
	{ 5, 7, 840, false },  /* Debian 13: libamdhip64-dev 5.7.1-6 */
	{ 6, 4, 1520, false }, /* Debian sid: libamdhip64-dev 6.4.3-5 */
	{ 7, 2, 1520, true },  /* Debian experimental: libamdhip64-dev 7.2.4-1~exp2 */
};

/*
 * Where a call's arguments are in hip_api_data_t. AT(n): n bytes into the structure that the first
 * argument points at. The bytes of a copy or fill are the product of `bytes`, `rows`, `layers` and
 * `unit`, those that are given. kind: a hipMemcpyKind; ONLY(k): the call knows this one.
 */
#define AT(n) (0x8000 | (n))
#define ONLY(kind) (1 + (kind))

struct hip_arguments {
	const char *name;
	uint8_t first, last; /* majors; 0: any */
	uint8_t unit;
	uint16_t stream; /* 0: the null stream */
	uint16_t bytes, rows, layers, kind;
};

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3 };

static const struct hip_arguments hip_arguments[] = {
	{ "hipLaunchKernel", .stream = 72 },
	{ "hipExtLaunchKernel", .stream = 72 },
	{ "hipLaunchCooperativeKernel", .stream = 72 },
	{ "hipModuleLaunchKernel", .stream = 56 },
	{ "hipExtModuleLaunchKernel", .stream = 56 },
	{ "hipHccModuleLaunchKernel", .stream = 56 },
	{ "hipModuleLaunchCooperativeKernel", .stream = 56 },
	{ "hipLaunchKernelExC", .stream = AT(32) },
	{ "hipDrvLaunchKernelEx", .stream = AT(32) },
	{ "hipLaunchHostFunc", .stream = 16 },
	{ "hipGraphLaunch", .stream = 24 },

	{ "hipMemcpy", .bytes = 32, .kind = 40 },
	{ "hipMemcpyAsync", .stream = 48, .bytes = 32, .kind = 40 },
	{ "hipMemcpyWithStream", .stream = 48, .bytes = 32, .kind = 40 },
	{ "hipMemcpyHtoD", .bytes = 32, .kind = ONLY(HOST_TO_DEVICE) },
	{ "hipMemcpyHtoDAsync", .stream = 40, .bytes = 32, .kind = ONLY(HOST_TO_DEVICE) },
	{ "hipMemcpyDtoH", .bytes = 32, .kind = ONLY(DEVICE_TO_HOST) },
	{ "hipMemcpyDtoHAsync", .stream = 40, .bytes = 32, .kind = ONLY(DEVICE_TO_HOST) },
	{ "hipMemcpyDtoD", .bytes = 32, .kind = ONLY(DEVICE_TO_DEVICE) },
	{ "hipMemcpyDtoDAsync", .stream = 40, .bytes = 32, .kind = ONLY(DEVICE_TO_DEVICE) },
	{ "hipMemcpyPeer", .bytes = 48, .kind = ONLY(DEVICE_TO_DEVICE) },
	{ "hipMemcpyPeerAsync", .stream = 56, .bytes = 48, .kind = ONLY(DEVICE_TO_DEVICE) },
	{ "hipMemcpyToSymbol", .bytes = 32, .kind = 48 },
	{ "hipMemcpyToSymbolAsync", .stream = 56, .bytes = 32, .kind = 48 },
	{ "hipMemcpyFromSymbol", .bytes = 32, .kind = 48 },
	{ "hipMemcpyFromSymbolAsync", .stream = 56, .bytes = 32, .kind = 48 },
	{ "hipMemcpy2D", .bytes = 48, .rows = 56, .kind = 64 },
	{ "hipMemcpy2DAsync", .stream = 72, .bytes = 48, .rows = 56, .kind = 64 },
	{ "hipMemcpy2DFromArray", .bytes = 56, .rows = 64, .kind = 72 },
	{ "hipMemcpy2DFromArrayAsync", .stream = 80, .bytes = 56, .rows = 64, .kind = 72 },
	{ "hipMemcpy2DToArray", .last = 5, .bytes = 120, .rows = 128, .kind = 136 },
	{ "hipMemcpy2DToArray", .first = 6, .bytes = 56, .rows = 64, .kind = 72 },
	{ "hipMemcpy2DToArrayAsync", .last = 5, .stream = 144, .bytes = 120, .rows = 128,
	  .kind = 136 },
	{ "hipMemcpy2DToArrayAsync", .first = 6, .stream = 80, .bytes = 56, .rows = 64,
	  .kind = 72 },
	{ "hipMemcpyParam2D", .bytes = AT(112), .rows = AT(120) },
	{ "hipMemcpyParam2DAsync", .stream = 152, .bytes = AT(112), .rows = AT(120) },
	{ "hipDrvMemcpy2DUnaligned", .bytes = AT(112), .rows = AT(120) },
	{ "hipMemcpy3D", .bytes = AT(128), .rows = AT(136), .layers = AT(144), .kind = AT(152) },
	{ "hipMemcpy3DAsync", .stream = 184, .bytes = AT(128), .rows = AT(136), .layers = AT(144),
	  .kind = AT(152) },
	{ "hipDrvMemcpy3D", .first = 6, .bytes = AT(160), .rows = AT(168), .layers = AT(176) },
	{ "hipDrvMemcpy3DAsync", .last = 5, .stream = 152 },
	{ "hipDrvMemcpy3DAsync", .first = 6, .stream = 208, .bytes = AT(160), .rows = AT(168),
	  .layers = AT(176) },
	{ "hipMemcpyFromArray", .bytes = 48, .kind = 56 },
	{ "hipMemcpyToArray", .first = 6, .bytes = 48, .kind = 56 },
	{ "hipMemcpyAtoHAsync", .stream = 48, .bytes = 40, .kind = ONLY(DEVICE_TO_HOST) },
	{ "hipMemcpyHtoAAsync", .stream = 48, .bytes = 40, .kind = ONLY(HOST_TO_DEVICE) },
	{ "hipMemcpyBatchAsync", .stream = 144 },
	{ "hipMemcpy3DBatchAsync", .stream = 168 },
	{ "hipMemcpy3DPeerAsync", .stream = 192 },
	{ "hipMemPrefetchAsync", .stream = 40, .bytes = 24 },
	{ "hipMemPrefetchAsync_v2", .stream = 48, .bytes = 24 },

	{ "hipMemset", .bytes = 32 },
	{ "hipMemsetAsync", .stream = 40, .bytes = 32 },
	{ "hipMemsetD8", .bytes = 32 },
	{ "hipMemsetD8Async", .stream = 40, .bytes = 32 },
	{ "hipMemsetD16", .unit = 2, .bytes = 32 },
	{ "hipMemsetD16Async", .unit = 2, .stream = 40, .bytes = 32 },
	{ "hipMemsetD32", .unit = 4, .bytes = 32 },
	{ "hipMemsetD32Async", .unit = 4, .stream = 40, .bytes = 32 },
	{ "hipMemset2D", .bytes = 40, .rows = 48 },
	{ "hipMemset2DAsync", .stream = 56, .bytes = 40, .rows = 48 },
	{ "hipMemset3D", .bytes = 56, .rows = 64, .layers = 72 },
	{ "hipMemset3DAsync", .stream = 80, .bytes = 56, .rows = 64, .layers = 72 },
	{ "hipMemsetD2D8", .bytes = 40, .rows = 48 },
	{ "hipMemsetD2D8Async", .stream = 56, .bytes = 40, .rows = 48 },
	{ "hipMemsetD2D16", .unit = 2, .bytes = 40, .rows = 48 },
	{ "hipMemsetD2D16Async", .unit = 2, .stream = 56, .bytes = 40, .rows = 48 },
	{ "hipMemsetD2D32", .unit = 4, .bytes = 40, .rows = 48 },
	{ "hipMemsetD2D32Async", .unit = 4, .stream = 56, .bytes = 40, .rows = 48 },

	{ "hipStreamSynchronize", .stream = 16 },
	{ "hipStreamWaitEvent", .stream = 16 },
	{ "hipStreamWaitValue32", .stream = 16 },
	{ "hipStreamWaitValue64", .stream = 16 },
	{ "hipStreamWriteValue32", .stream = 16 },
	{ "hipStreamWriteValue64", .stream = 16 },
	{ "hipStreamBatchMemOp", .stream = 16 },
	{ "hipEventRecord", .stream = 24 },
	{ "hipEventRecordWithFlags", .stream = 24 },
	{ "hipMallocAsync", .stream = 40 },
	{ "hipMallocFromPoolAsync", .stream = 48 },
	{ "hipFreeAsync", .stream = 24 },
};

/* Calls after which a handle may be used again for something else; it is their first argument. */
enum { HIP_FIRST_ARGUMENT = 16 };
#define HIP_STREAM_ENDS "hipStreamDestroy"
#define HIP_GRAPH_ENDS "hipGraphExecDestroy"

#endif
