/* kernels.h - the executions of kernels one by one, for those who need no table. */
#ifndef ROCKIT_KERNELS_H
#define ROCKIT_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"

RK_BEGIN_DECLS

struct rk_run;

/* Times in ns on the recorded clock; -1 (INT64_MIN of start_ns) where the source does not say. */
struct rk_kernel {
	const char *name; /* demangled; "" when not known; the run's */
	int64_t start_ns, duration_ns;
	int64_t grid[3], block[3]; /* workgroups; work-items of one */
	int64_t regs, shared_mem;  /* vector registers per thread; LDS bytes per workgroup */
	int64_t stream_id, queue_id, device_id, dispatch_id, correlation_id, pid, tid, rank;
	bool barrier;         /* a barrier packet, no kernel */
	uint64_t reserved[8]; /* 0 */
};

/*
 * Calls `fn` for every kernel of the run, in the order of the files, each lent for the call. Nonzero
 * ends it with RK_E_CANCELLED. `fn` cannot use the run.
 */
int rk_run_each_kernel(struct rk_run *run, int (*fn)(void *arg, const struct rk_kernel *kernel),
		       void *arg, struct rk_error *err);

RK_END_DECLS

#endif
