/* html_data.c - the timeline of a page as JSON: lanes, names, curves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "html/html_page.h"
#include "report/report_parts.h"
#include "rockit/rockit.h"

static const char *const kind_words[RK_NLANE_KINDS] = { "kernels", "copies", "markers" };

/* ---- order ---- */

struct place {
	uint32_t index;
	const char *node;
	const struct rk_lane *lane;
};

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Markers are of the host: before the devices of their process. */
static int host_first(const struct rk_lane *lane)
{
	return lane->kind != RK_LANE_MARKERS;
}

static int by_place(const void *pa, const void *pb)
{
	const struct place *x = pa, *y = pb;
	const struct rk_lane_key *a = &x->lane->key, *b = &y->lane->key;
	int order = compare(x->lane->folded, y->lane->folded);

	order = order ? order : strcmp(x->node, y->node);
	order = order ? order : compare(a->rank, b->rank);
	order = order ? order : compare(host_first(x->lane), host_first(y->lane));
	order = order ? order : compare(a->device, b->device);
	order = order ? order : compare(x->lane->kind, y->lane->kind);
	order = order ? order : compare(a->pid, b->pid);
	order = order ? order : compare(a->queue, b->queue);
	return order ? order : compare(a->stream, b->stream);
}

int rk_html_order(const struct rk_html_page *p, uint32_t **ret, struct rk_error *err)
{
	size_t n = rk_lanes_count(p->lanes);
	struct place *places = rk_calloc(n + 1, sizeof(*places));
	uint32_t *order = rk_calloc(n + 1, sizeof(*order));

	if (!places || !order) {
		rk_free(places);
		rk_free(order);
		return rk_fail_nomem(err);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct rk_lane *lane = rk_lanes_at(p->lanes, i);

		places[i] = (struct place){ i, rk_strtab_borrow(p->strings, lane->key.node, NULL),
					    lane };
	}
	qsort(places, n, sizeof(*places), by_place);
	for (size_t i = 0; i < n; i++)
		order[i] = places[i].index;
	rk_free(places);
	*ret = order;
	return 0;
}

/* Curves widen the axis when they were recorded at the same time: else their clock is another. */
int64_t rk_html_origin(const struct rk_html_page *p, int64_t *ret_end)
{
	int64_t start = 0, end = 0, from, to;
	bool rows = rk_lanes_span(p->lanes, &start, &end);

	if (rk_curves_span(p->curves, &from, &to) && (!rows || (from <= end && to >= start))) {
		start = !rows || from < start ? from : start;
		end = !rows || to > end ? to : end;
	}
	*ret_end = end;
	return start;
}

/* ---- JSON ---- */

static void known(struct rk_json_out *j, const char *key, int64_t v)
{
	if (v >= 0)
		rk_json_int(j, key, v);
}

static void put_lane(struct rk_json_out *j, const struct rk_html_page *p,
		     const struct rk_lane *lane)
{
	const char *node = rk_strtab_borrow(p->strings, lane->key.node, NULL);

	rk_json_object_flat(j, NULL);
	rk_json_text(j, "kind", kind_words[lane->kind]);
	rk_json_bool(j, "folded", lane->folded);
	if (node[0])
		rk_json_text(j, "node", node);
	if (!lane->folded) {
		known(j, "rank", lane->key.rank);
		known(j, "device", lane->key.device);
		known(j, "pid", lane->key.pid);
		known(j, lane->kind == RK_LANE_MARKERS ? "thread" : "queue", lane->key.queue);
		known(j, "stream", lane->key.stream);
	}
	rk_json_uint(j, "rows", lane->rows);
	rk_json_uint(j, "depth", lane->depth);
	rk_json_close(j);
}

static void put_names(struct rk_json_out *j, const struct rk_html_names *n)
{
	rk_json_object(j, "names");
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++) {
		rk_json_array_flat(j, kind_words[k]);
		for (size_t i = 0; i < n->n[k]; i++)
			rk_json_uint(j, NULL, n->of[k][i]);
		rk_json_close(j);
	}
	rk_json_uint(j, "count", n->count);
	rk_json_close(j);
}

/* [lane, start, duration] by name; the place of the lane in `order`. */
static void put_longest(struct rk_json_out *j, const struct rk_html_page *p, const uint32_t *place,
			int64_t origin)
{
	rk_json_array_flat(j, "longest");
	for (uint32_t i = 0; i < p->names->count; i++) {
		const struct rk_lane_longest *l = rk_lanes_longest(p->lanes, i);

		if (l->duration < 0) {
			rk_json_null(j, NULL);
			continue;
		}
		rk_json_array(j, NULL);
		rk_json_uint(j, NULL, place[l->lane]);
		rk_json_int(j, NULL, l->start - origin);
		rk_json_int(j, NULL, l->duration);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_head(struct rk_json_out *j, const struct rk_html_page *p, int64_t origin,
		     int64_t end)
{
	char text[32];

	rk_json_int(j, "schema", 1);
	rk_json_text(j, "rockit", ROCKIT_VERSION);
	rk_json_text(j, "title", p->title);
	/* as text: a script would round it */
	snprintf(text, sizeof(text), "%lld", (long long)origin);
	rk_json_text(j, "origin_ns", text);
	rk_json_int(j, "span_ns", end - origin);
	if (p->report->timed)
		rk_json_int(j, "kernel_span_ns", (int64_t)rk_report_span_ns(p->report));
	rk_json_uint(j, "blocks", rk_lanes_blocks(p->lanes));
	rk_json_uint(j, "folded_rows", rk_lanes_folded(p->lanes));
	rk_json_uint(j, "left_out_rows", rk_lanes_left_out(p->lanes));
	rk_json_uint(j, "left_out_samples", p->curves->left_out);
	rk_json_uint(j, "left_out_ranks", p->left_out_ranks);
}

int rk_html_timeline_json(const struct rk_html_page *p, const uint32_t *order, int64_t origin,
			  struct rk_bytes *out, struct rk_error *err)
{
	size_t n = rk_lanes_count(p->lanes);
	uint32_t *place = rk_calloc(n + 1, sizeof(*place));
	struct rk_json_out j;
	int64_t end;

	if (!place)
		return rk_fail_nomem(err);
	rk_html_origin(p, &end);
	rk_json_begin(&j, out);
	put_head(&j, p, origin, end);
	rk_json_array(&j, "lanes");
	for (uint32_t i = 0; i < n; i++) {
		put_lane(&j, p, rk_lanes_at(p->lanes, order[i]));
		place[order[i]] = i;
	}
	rk_json_close(&j);
	put_names(&j, p->names);
	put_longest(&j, p, place, origin);
	rk_curves_json(&j, p->curves, p->strings, origin);
	rk_json_end(&j);
	rk_free(place);
	return 0;
}
