/* diff_profile_impl.h - a profile while it is built. */
#ifndef RK_DIFF_PROFILE_IMPL_H
#define RK_DIFF_PROFILE_IMPL_H

#include "base/map.h"
#include "base/num.h"
#include "diff/diff_profile.h"
#include "table/median.h"
#include "table/timeline_order.h"

#define RK_SHAPE_NONE UINT32_MAX /* beyond the limit */

/* A kernel name while the profile is built. */
struct rk_profiler_name {
	uint32_t id; /* name id in the run */
	uint64_t calls;
	struct rk_durations times;
	uint32_t shapes; /* first shape, index + 1 */
	uint32_t recent; /* shape of the previous row, index + 1 */
	/* from statistics computed by the profiler: */
	uint64_t stats_timed;
	int64_t stats_total;
	double stats_squares, stats_free;
};

/* Sums over the rows of one table by a text. */
struct rk_line_sums {
	struct rk_idmap by_id; /* index + 1 */
	struct {
		uint32_t id;
		uint64_t calls;
		int64_t bytes, total_ns;
	} * v;
	size_t n, cap;
	bool known;
	uint64_t lost; /* rows beyond the limit */
};

enum rk_line_kind {
	RK_LINES_COPIES,
	RK_LINES_API,
	RK_LINES_MARKERS,
	RK_LINES_RANKS, /* kernels, by rank */
	RK_NLINES
};

/* Launches by queue. */
struct rk_launches {
	struct rk_keys places, queues; /* node, rank, pid; place, device, stream */
	struct rk_order *order;
	size_t symbols_max;
	uint64_t lost;
};

struct rk_profiler {
	struct rk_context *ctx;
	bool structure;
	struct rk_idmap by_id; /* name id to index + 1 */
	struct rk_profiler_name *names;
	size_t nnames, cap_names;
	uint32_t rest; /* index + 1 of the name that all names beyond the limit share */
	struct rk_profile_shape *shapes;
	size_t nshapes, cap_shapes;
	struct rk_index by_shape; /* shapes by name and shape */
	struct rk_durations_store store;
	uint64_t held; /* number of durations */
	struct rk_order *order;
	struct rk_era era;
	struct rk_stretch busy; /* merged kernels that are not sorted yet */
	bool busy_begun;
	int64_t unplaced_ns;
	uint64_t rows, lost_names, lost_shapes;
	struct rk_line_sums lines[RK_NLINES];
	int64_t rank; /* rank of the previous kernel, and its index in the lines */
	size_t rank_at;
	struct rk_launches launches;
};

/* Adds a time or a size >= 0; the sum saturates at the limit. */
static inline void rk_profile_add(int64_t *sum, int64_t v)
{
	if (v > 0)
		*sum = rk_min_i64(*sum + rk_min_i64(v, RK_PROFILE_TIME_MAX), RK_PROFILE_TIME_MAX);
}

#endif
