/* kernels.h - a callback for each kernel execution, as a simple alternative to tables. */
#ifndef ROCKIT_KERNELS_H
#define ROCKIT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"

RK_BEGIN_DECLS

struct rk_run;

/* Times in ns on the recorded clock. Unknown values are -1 (start_ns: INT64_MIN). */
struct rk_kernel {
	const char *name; /* demangled; "": unknown; owned by the run */
	int64_t start_ns, duration_ns;
	int64_t grid[3], block[3]; /* workgroups; work-items per workgroup */
	int64_t regs, shared_mem;  /* vector registers per thread; LDS bytes per workgroup */
	int64_t stream_id, queue_id, device_id, dispatch_id, correlation_id, pid, tid, rank;
	bool barrier;         /* a barrier packet, not a kernel */
	uint64_t reserved[8]; /* 0 */
};

/*
 * Calls `fn` for every kernel of the run, in the order of the files. `kernel` is valid during the call. If
 * `fn` returns nonzero, this stops with RK_E_CANCELLED. `fn` must not use the run.
 */
int rk_run_each_kernel(struct rk_run *run, int (*fn)(void *arg, const struct rk_kernel *kernel),
		       void *arg, struct rk_error *err);

RK_END_DECLS

#endif
