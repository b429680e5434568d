/* html_lanes.c - see html_lanes.h. */
#include "html/html_lanes.h"

#include <string.h>

#include "base/alloc.h"
#include "html/html_lanes_impl.h"

/* Times that can be subtracted from each other. */
#define FAR (INT64_C(1) << 61)

enum { PLACES_MAX = 1 << 16 };

int rk_lanes_new(struct rk_context *ctx, size_t nnames, struct rk_lanes **ret, struct rk_error *err)
{
	struct rk_lanes *l = rk_calloc(1, sizeof(*l));
	int rc = l ? rk_spill_new(ctx->tmpdir, &l->blocks, err) : rk_fail_nomem(err);

	if (rc < 0) {
		rk_free(l);
		return rc;
	}
	l->ctx = ctx;
	l->nnames = nnames;
	l->places.max = PLACES_MAX;
	l->processes.max = PLACES_MAX;
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++)
		l->keys[k].max = k == RK_LANE_KERNELS ? RK_LANES_KERNELS : RK_LANES_OTHER;
	l->longest = rk_alloc((nnames + 1) * sizeof(*l->longest));
	rc = l->longest ? rk_lanes_pack_init(l, err) : rk_fail_nomem(err);
	if (rc < 0) {
		rk_lanes_free(l);
		return rc;
	}
	for (size_t i = 0; i <= nnames; i++)
		l->longest[i] = (struct rk_lane_longest){ .duration = -1 };
	*ret = l;
	return 0;
}

static void lane_release(struct rk_lane *lane)
{
	rk_free(lane->buffer);
	rk_free(lane->chunks);
	rk_free(lane->blocks);
}

void rk_lanes_free(struct rk_lanes *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		lane_release(&l->lanes[i]);
	rk_lanes_pack_release(l);
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++)
		rk_keys_release(&l->keys[k]);
	rk_keys_release(&l->places);
	rk_keys_release(&l->processes);
	rk_spill_free(l->blocks);
	rk_free(l->longest);
	rk_free(l);
}

/* ---- which lane ---- */

static uint32_t lane_new(struct rk_lanes *l, enum rk_html_kind kind, const struct rk_lane_key *key,
			 bool folded)
{
	struct rk_lane *lane = &l->lanes[l->n];

	*lane = (struct rk_lane){ .kind = kind, .folded = folded };
	if (!folded)
		lane->key = *key;
	for (unsigned i = 0; i < RK_LANE_DEPTH; i++)
		lane->ends[i] = INT64_MIN;
	return (uint32_t)l->n++;
}

/* Seven numbers, three at a time. */
static int number_of(struct rk_lanes *l, enum rk_html_kind kind, const struct rk_lane_key *key,
		     uint32_t *ret, struct rk_error *err)
{
	uint32_t place, process;
	int rc = rk_keys_number(&l->places, (struct rk_key3){ key->node, key->rank, key->device },
				&place, err);

	if (rc == 0)
		rc = rk_keys_number(&l->processes, (struct rk_key3){ place, key->pid, key->queue },
				    &process, err);
	return rc < 0 ? rc :
			rk_keys_number(&l->keys[kind], (struct rk_key3){ process, key->stream, 0 },
				       ret, err);
}

static int lane_of(struct rk_lanes *l, enum rk_html_kind kind, const struct rk_lane_key *key,
		   uint32_t *ret, struct rk_error *err)
{
	uint32_t i;
	int rc = number_of(l, kind, key, &i, err);

	if (rc < 0)
		return rc;
	/* the last one of its kind is the shared one */
	if (!l->index[kind][i])
		l->index[kind][i] = lane_new(l, kind, key, i == l->keys[kind].max) + 1;
	*ret = l->index[kind][i] - 1;
	return 0;
}

/* ---- rows ---- */

/* The highest place that is free. */
static uint32_t depth_of(struct rk_lane *lane, int64_t start, int64_t end)
{
	uint32_t d = 0;

	while (d + 1 < RK_LANE_DEPTH && lane->ends[d] > start)
		d++;
	if (end > lane->ends[d])
		lane->ends[d] = end;
	if (d >= lane->depth)
		lane->depth = d + 1;
	return d;
}

static void look_at(struct rk_lanes *l, uint32_t lane, const struct rk_html_row *row)
{
	struct rk_lane *at = &l->lanes[lane];
	struct rk_lane_longest *longest = &l->longest[row->name];

	if (!at->rows || row->start < at->first)
		at->first = row->start;
	if (!at->rows || row->start + row->duration > at->last)
		at->last = row->start + row->duration;
	if (row->duration > longest->duration)
		*longest = (struct rk_lane_longest){ row->start, row->duration, lane };
	at->rows++;
	l->folded += at->folded;
}

static int keep(struct rk_lanes *l, uint32_t lane, const struct rk_html_row *row,
		struct rk_error *err)
{
	struct rk_lane *at = &l->lanes[lane];
	const struct rk_html_row *before = at->held ? &at->buffer[at->held - 1] : NULL;
	void *grown;
	int rc = 0;

	if (before && (at->held == RK_HTML_BLOCK_ROWS ||
		       row->start - (before->start + before->duration) > RK_HTML_TIME_MAX))
		rc = rk_lanes_send(l, lane, err);
	if (rc < 0)
		return rc;
	grown = rk_grow(at->buffer, &at->cap, at->held + 1, sizeof(*row));
	if (!grown)
		return rk_fail_nomem(err);
	at->buffer = grown;
	at->buffer[at->held++] = *row;
	return 0;
}

int rk_lanes_add(struct rk_lanes *l, enum rk_html_kind kind, const struct rk_lane_key *key,
		 int64_t start, int64_t duration, uint32_t name, struct rk_error *err)
{
	struct rk_html_row row = { start, duration, name < l->nnames ? name : (uint32_t)l->nnames,
				   0 };
	uint32_t lane;
	int rc;

	if (start < -FAR || start > FAR || duration < 0 || duration > RK_HTML_TIME_MAX) {
		l->left_out++;
		return 0;
	}
	rc = lane_of(l, kind, key, &lane, err);
	if (rc < 0)
		return rc;
	row.depth = depth_of(&l->lanes[lane], start, start + duration);
	look_at(l, lane, &row);
	return keep(l, lane, &row, err);
}

/* ---- what there is ---- */

size_t rk_lanes_count(const struct rk_lanes *l)
{
	return l->n;
}

const struct rk_lane *rk_lanes_at(const struct rk_lanes *l, size_t i)
{
	return &l->lanes[i];
}

bool rk_lanes_span(const struct rk_lanes *l, int64_t *ret_start, int64_t *ret_end)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct rk_lane *lane = &l->lanes[i];

		if (!i || lane->first < *ret_start)
			*ret_start = lane->first;
		if (!i || lane->last > *ret_end)
			*ret_end = lane->last;
	}
	return l->n > 0;
}

const struct rk_lane_longest *rk_lanes_longest(const struct rk_lanes *l, uint32_t name)
{
	return &l->longest[name < l->nnames ? name : l->nnames];
}

uint64_t rk_lanes_folded(const struct rk_lanes *l)
{
	return l->folded;
}

uint64_t rk_lanes_left_out(const struct rk_lanes *l)
{
	return l->left_out;
}

size_t rk_lanes_blocks(const struct rk_lanes *l)
{
	return l->nblocks;
}
