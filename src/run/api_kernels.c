/* api_kernels.c - kernels one by one. */
#include "rockit/kernels.h"

#include "base/handle.h"
#include "run/run.h"

static const unsigned wanted[] = {
	RK_K_NAME,        RK_K_START,   RK_K_DURATION, RK_K_GRID_X,  RK_K_GRID_Y,
	RK_K_GRID_Z,      RK_K_BLOCK_X, RK_K_BLOCK_Y,  RK_K_BLOCK_Z, RK_K_REGS,
	RK_K_SHARED_MEM,  RK_K_STREAM,  RK_K_QUEUE,    RK_K_DEVICE,  RK_K_DISPATCH,
	RK_K_CORRELATION, RK_K_PID,     RK_K_TID,      RK_K_RANK,    RK_K_BARRIER,
};

static struct rk_kernel kernel_of(const struct rk_run *run, const struct rk_batch *b, size_t i)
{
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];

	return (struct rk_kernel){
		.name = rk_strtab_borrow(run->ctx.names, rk_batch_id(b, RK_K_NAME, i), NULL),
		.start_ns = rk_batch_int(b, RK_K_START, i, INT64_MIN),
		.duration_ns = rk_batch_int(b, RK_K_DURATION, i, -1),
		.grid = { rk_batch_int(b, RK_K_GRID_X, i, -1), rk_batch_int(b, RK_K_GRID_Y, i, -1),
			  rk_batch_int(b, RK_K_GRID_Z, i, -1) },
		.block = { rk_batch_int(b, RK_K_BLOCK_X, i, -1),
			   rk_batch_int(b, RK_K_BLOCK_Y, i, -1),
			   rk_batch_int(b, RK_K_BLOCK_Z, i, -1) },
		.regs = rk_batch_int(b, RK_K_REGS, i, -1),
		.shared_mem = rk_batch_int(b, RK_K_SHARED_MEM, i, -1),
		.stream_id = rk_batch_int(b, RK_K_STREAM, i, -1),
		.queue_id = rk_batch_int(b, RK_K_QUEUE, i, -1),
		.device_id = rk_batch_int(b, RK_K_DEVICE, i, -1),
		.dispatch_id = rk_batch_int(b, RK_K_DISPATCH, i, -1),
		.correlation_id = rk_batch_int(b, RK_K_CORRELATION, i, -1),
		.pid = rk_batch_int(b, RK_K_PID, i, -1),
		.tid = rk_batch_int(b, RK_K_TID, i, -1),
		.rank = rk_batch_int(b, RK_K_RANK, i, -1),
		.barrier = rk_column_has(barrier, i) && ((const uint8_t *)barrier->data)[i],
	};
}

static int tell(const struct rk_run *run, const struct rk_batch *b,
		int (*fn)(void *arg, const struct rk_kernel *kernel), void *arg,
		struct rk_error *err)
{
	for (size_t i = 0; i < b->nrows; i++) {
		struct rk_kernel k = kernel_of(run, b, i);

		if (fn(arg, &k))
			return rk_fail(err, RK_E_CANCELLED, "cancelled");
	}
	return 0;
}

static int each(struct rk_run *run, int (*fn)(void *arg, const struct rk_kernel *kernel), void *arg,
		struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *rows;
	uint64_t want = 0;
	int rc;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		want |= UINT64_C(1) << wanted[i];
	rc = rk_run_scan(run, RK_KERNELS, want, &rows, err);
	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		rc = tell(run, b, fn, arg, err);
		if (rc < 0)
			break;
	}
	rk_source_close(rows);
	return rc;
}

int rk_run_each_kernel(struct rk_run *run, int (*fn)(void *arg, const struct rk_kernel *kernel),
		       void *arg, struct rk_error *err)
{
	struct rk_run_callback c;
	int rc;

	if (!fn)
		return rk_misuse(__func__, err);
	rc = rk_run_enter(run, __func__, err);
	if (rc < 0)
		return rc;
	rk_run_call_back(&c, run);
	rc = each(run, fn, arg, err);
	rk_run_called_back(&c);
	rk_run_leave(run);
	return rc;
}
