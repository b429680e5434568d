/* html_lanes_impl.h - shared by html_lanes.c (rows to lanes) and html_lanes_pack.c (blocks). */
#ifndef RK_HTML_LANES_IMPL_H
#define RK_HTML_LANES_IMPL_H

#include "html/html_lanes.h"
#include "io/spill.h"

enum {
	RK_LANES_MAX = RK_LANES_KERNELS + 2 * RK_LANES_OTHER + RK_NLANE_KINDS,
	RK_LANES_PENDING = 16, /* blocks that are packed together, by all threads */
};

/* A block on its way into the file. */
struct rk_lanes_job {
	struct rk_html_row *rows;
	size_t n;
	uint32_t lane;
	struct rk_html_packed packed;
	struct rk_error err;
	int rc;
};

struct rk_lanes {
	struct rk_context *ctx;
	size_t nnames;
	/* node, rank, device; that, pid, queue; that, stream */
	struct rk_keys places, processes, keys[RK_NLANE_KINDS];
	uint32_t index[RK_NLANE_KINDS][RK_LANES_KERNELS + 1]; /* lane + 1 by key */
	struct rk_lane lanes[RK_LANES_MAX];
	size_t n;
	struct rk_lane_longest *longest;
	uint64_t folded, left_out;
	/* html_lanes_pack.c: */
	struct rk_spill *blocks; /* text after text */
	uint32_t *sizes;         /* of each */
	size_t nblocks, cap_sizes;
	struct rk_html_packer **packers; /* per thread */
	unsigned npackers;
	struct rk_lanes_job jobs[RK_LANES_PENDING];
	unsigned njobs;
};

int rk_lanes_pack_init(struct rk_lanes *l, struct rk_error *err);
void rk_lanes_pack_release(struct rk_lanes *l);
/* The rows a lane holds go on their way. */
int rk_lanes_send(struct rk_lanes *l, uint32_t lane, struct rk_error *err);

#endif
