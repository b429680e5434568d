/*
 * html_lanes.h - the timeline of a page: rows by lane, packed into blocks, with chunks for the
 * zoomed-out view.
 *
 * Rows must be added sorted by start, table by table. A lane is a queue and stream of a process on
 * a device, the copies of a device, or the markers of a thread. The number of lanes of each kind is
 * limited; further rows share one extra lane and are counted. Blocks go to a temporary file, so
 * memory depends only on the number of lanes: about 200 KB each, 40 MB at most.
 */
#ifndef RK_HTML_LANES_H
#define RK_HTML_LANES_H

#include "base/map.h"
#include "html/html_block.h"
#include "io/output.h"
#include "table/source.h"

enum rk_html_kind { RK_LANE_KERNELS, RK_LANE_COPIES, RK_LANE_MARKERS, RK_NLANE_KINDS };

enum {
	RK_LANES_KERNELS = 128, /* powers of two */
	RK_LANES_OTHER = 32,
	RK_LANE_DEPTH =
		8, /* overlapping rows are drawn below each other; the rest share the last */
};

/* Where a row belongs. -1: not known; node is an id of the run's names. */
struct rk_lane_key {
	uint32_t node;
	int64_t rank, device, pid, queue, stream; /* of a marker: queue is the thread */
};

struct rk_lane {
	enum rk_html_kind kind;
	bool folded; /* the shared lane */
	struct rk_lane_key key;
	uint64_t rows;
	uint32_t depth;      /* of its rows */
	int64_t first, last; /* first start and last end */
	/* internal: */
	int64_t ends[RK_LANE_DEPTH];
	struct rk_html_row *buffer;
	size_t held, cap;
	struct rk_html_chunk *chunks;
	size_t nchunks, cap_chunks;
	uint32_t *blocks; /* their numbers in the page */
	size_t nblocks, cap_blocks;
};

/* The longest row of a name. */
struct rk_lane_longest {
	int64_t start, duration; /* duration -1: there is none */
	uint32_t lane;
};

struct rk_lanes;

/* Names are numbers below nnames. ctx is borrowed. */
int rk_lanes_new(struct rk_context *ctx, size_t nnames, struct rk_lanes **ret,
		 struct rk_error *err);
int rk_lanes_add(struct rk_lanes *l, enum rk_html_kind kind, const struct rk_lane_key *key,
		 int64_t start, int64_t duration, uint32_t name, struct rk_error *err);
/* Packs the remaining rows. Call once, after the last row. */
int rk_lanes_finish(struct rk_lanes *l, struct rk_error *err);

/* The result; complete after finish. */
struct rk_lanes_result {
	const struct rk_lane *v; /* borrowed */
	size_t n, nblocks;
	uint64_t folded;   /* rows in shared lanes */
	uint64_t left_out; /* rows whose times cannot be shown */
};
struct rk_lanes_result rk_lanes_result(const struct rk_lanes *l);
/* False: no rows. */
bool rk_lanes_span(const struct rk_lanes *l, int64_t *ret_start, int64_t *ret_end);
const struct rk_lane_longest *rk_lanes_longest(const struct rk_lanes *l, uint32_t name);

/* The chunks of all lanes in `order`, with times relative to `origin`, packed as text. */
int rk_lanes_put_chunks(const struct rk_lanes *l, const uint32_t *order, int64_t origin,
			struct rk_bytes *out, struct rk_error *err);
/* Each block as an element of the page. */
int rk_lanes_write_blocks(const struct rk_lanes *l, struct rk_output *out, struct rk_error *err);

void rk_lanes_free(struct rk_lanes *l); /* NULL is fine */

#endif
