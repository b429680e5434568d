/* diff_profile_finish.c - after the last row: totals, medians, spread, busy and idle times, queues. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/map.h"
#include "diff/diff_profile_impl.h"
#include "report/timeline.h"

/* Number of durations sampled (evenly) for a spread; more would not improve it. */
enum { SAMPLES = 1024, SAMPLES_LEAST = 8 };

/* ---- spread ---- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t take(const struct rk_durations_chunk *c, uint64_t step, uint64_t *at, uint64_t *out,
		   size_t n)
{
	for (; c; c = c->next)
		for (uint32_t i = 0; i < c->n && n < SAMPLES; i++) {
			const void *data = c->data;

			if ((*at)++ % step == 0)
				out[n++] = c->wide ? ((const uint64_t *)data)[i] :
						     ((const uint32_t *)data)[i];
		}
	return n;
}

/*
 * The number of values below the true median is binomial (n coin tosses): it is within 1.288 *
 * sqrt(n) of n / 2 in 99 of 100 cases. This assumes nothing about the distribution: for a kernel
 * that takes 10 us and 20 us in turns the interval is 10 to 20.
 */
static void spread(const struct rk_durations *t, struct rk_profile_name *n)
{
	uint64_t v[SAMPLES], at = 0, step = (t->n + SAMPLES - 1) / SAMPLES;
	uint64_t twice;
	size_t have, reach;

	if (t->pages || t->lost || !t->n || t->max > INT64_MAX / 4)
		return;
	have = take(t->narrow, step, &at, v, 0);
	have = take(t->wide, step, &at, v, have);
	reach = (size_t)ceil(1.288 * sqrt((double)have));
	qsort(v, have, sizeof(v[0]), by_value);
	if (have >= SAMPLES_LEAST && reach <= (have - 1) / 2) {
		n->median_low_ns = (double)v[(have - 1) / 2 - reach];
		n->median_high_ns = (double)v[have / 2 + reach];
	}
	/*
	 * half of the values are closer than mad_ns to the median, which may be between two
	 * integers
	 */
	twice = (uint64_t)(2 * n->median_ns);
	for (size_t i = 0; i < have; i++)
		v[i] = 2 * v[i] > twice ? 2 * v[i] - twice : twice - 2 * v[i];
	qsort(v, have, sizeof(v[0]), by_value);
	n->mad_ns = ((double)v[(have - 1) / 2] + (double)v[have / 2]) / 4;
}

/* ---- names ---- */

static int give_name(struct rk_profiler *p, struct rk_profiler_name *n, struct rk_profile_name *ret,
		     struct rk_error *err)
{
	rk_u128 sum;

	*ret = (struct rk_profile_name){ .calls = n->calls,
					 .median_ns = NAN,
					 .mad_ns = NAN,
					 .median_low_ns = NAN,
					 .median_high_ns = NAN,
					 .squares = n->stats_squares,
					 .free = n->stats_free,
					 .shapes = n->shapes };
	ret->text = rk_strdup(rk_strtab_borrow(p->ctx->names, n->id, NULL));
	if (!ret->text || !rk_durations_settle(&p->store, &n->times))
		return rk_fail_nomem(err);
	sum = n->times.sum + (uint64_t)n->stats_total;
	ret->timed = n->times.n + n->stats_timed;
	ret->total_ns = sum > RK_PROFILE_TIME_MAX ? RK_PROFILE_TIME_MAX : (int64_t)sum;
	if (rk_durations_median(&n->times, &ret->median_ns))
		spread(&n->times, ret);
	return 0;
}

/* Unlike rk_hash_bytes this is the same in every process, because we print it. */
static uint64_t stable_hash(const void *bytes, size_t len, uint64_t hash)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ b[i]) * 0x100000001b3u;
	return rk_hash_mix(hash ^ len, 0x9e3779b97f4a7c15u);
}

static int by_text(const void *pa, const void *pb, void *arg)
{
	const struct rk_profile_name *names = arg;

	return strcmp(names[*(const uint32_t *)pa].text, names[*(const uint32_t *)pb].text);
}

/* Sorts names by their text; the shapes are updated. */
static int sort_names(struct rk_profile *p, struct rk_error *err)
{
	size_t n = p->nnames;
	uint32_t *order = rk_alloc((2 * n + 1) * sizeof(*order)), *place;
	struct rk_profile_name *sorted = rk_calloc(n, sizeof(*sorted));

	if (!order || !sorted) {
		rk_free(order);
		rk_free(sorted);
		return rk_fail_nomem(err);
	}
	place = order + n;
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), by_text, p->names);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = p->names[order[i]];
		place[order[i]] = (uint32_t)i;
	}
	for (size_t i = 0; i < p->nshapes; i++)
		p->shapes[i].name = place[p->shapes[i].name];
	rk_free(p->names);
	rk_free(order);
	p->names = sorted;
	return 0;
}

static int give_names(struct rk_profiler *p, struct rk_profile *ret, struct rk_error *err)
{
	ret->names = rk_calloc(p->nnames, sizeof(*ret->names));
	if (!ret->names)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < p->nnames; i++) {
		int rc;

		ret->nnames++;
		rc = give_name(p, &p->names[i], &ret->names[i], err);
		if (rc < 0)
			return rc;
	}
	ret->shapes = p->shapes;
	ret->nshapes = p->nshapes;
	p->shapes = NULL;
	p->nshapes = 0;
	for (size_t i = 0; i < ret->nnames; i++) {
		struct rk_profile_name *n = &ret->names[i];
		uint64_t most = 0;

		for (uint32_t at = n->shapes; at; at = ret->shapes[at - 1].next) {
			const struct rk_profile_shape *s = &ret->shapes[at - 1];

			/* squared deviations from the mean of this shape */
			if (s->timed) {
				n->squares +=
					fmax(s->squares - s->sum * s->sum / (double)s->timed, 0);
				n->free += (double)(s->timed - 1);
			}
			if (s->calls > most) {
				n->common = at;
				most = s->calls;
			}
		}
	}
	return sort_names(ret, err);
}

/* ---- time ---- */

/* Puts all devices on one timeline: busy if anything runs anywhere. */
static int give_time(struct rk_profiler *p, struct rk_profile_time *ret, struct rk_error *err)
{
	struct rk_sweep_device device = { .begun = false };
	struct rk_sweep w = { .devices = &device,
			      .ndevices = 1,
			      .store = { .max_pages = RK_MEDIAN_MAX_PAGES } };
	const struct rk_trace_device *f = &device.facts;
	struct rk_stretch s;
	int rc;

	if (p->busy_begun) {
		p->busy_begun = false;
		rc = rk_order_add(p->order, &p->busy, err);
		if (rc < 0)
			return rc;
	}
	while ((rc = rk_order_next(p->order, &s, err)) > 0) {
		s.device = 0;
		if (!rk_sweep_add(&w, &s)) {
			rc = rk_fail_nomem(err);
			goto out;
		}
	}
	if (rc < 0)
		goto out;
	if (!rk_sweep_finish(&w)) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	*ret = (struct rk_profile_time){ .known = device.begun && f->span_ns <= RK_PROFILE_TIME_MAX,
					 .wall = f->span_ns,
					 .kernels = f->busy_ns,
					 .copies = f->copy_ns,
					 .both = f->overlap_ns,
					 .idle = f->idle_ns,
					 .unplaced = p->unplaced_ns,
					 .gaps = f->gaps };
out:
	rk_durations_release(&device.gaps);
	return rc;
}

/* Hashes each name with the numbers of its shape, byte by byte, little-endian. */
static void hash_shapes(struct rk_profile *p)
{
	for (size_t n = 0; n < p->nshapes; n++) {
		struct rk_profile_shape *s = &p->shapes[n];
		const char *text = p->names[s->name].text;
		uint8_t bytes[7 * 4];

		for (unsigned i = 0; i < 7; i++) {
			uint32_t v = (uint32_t)(i < 6 ? s->shape.n[i] : s->shape.items);

			for (unsigned k = 0; k < 4; k++)
				bytes[4 * i + k] = (uint8_t)(v >> 8 * k);
		}
		s->hash = stable_hash(text, strlen(text), 0xcbf29ce484222325u);
		s->hash = stable_hash(bytes, sizeof(bytes), s->hash);
	}
}

/* ---- lines ---- */

static int by_name(const void *pa, const void *pb)
{
	const struct rk_profile_line *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

static int lines_finish(struct rk_profiler *p, struct rk_profile *ret, struct rk_error *err)
{
	struct rk_profile_lines *lines[RK_NLINES] = { &ret->copies, &ret->api, &ret->markers,
						      &ret->ranks };
	static const char *const words[RK_NLINES] = { "copy directions", "API functions",
						      "kinds of marker", "ranks" };

	for (unsigned k = 0; k < RK_NLINES; k++) {
		const struct rk_line_sums *s = &p->lines[k];
		struct rk_profile_lines *l = lines[k];

		l->known = s->known;
		l->v = rk_calloc(s->n, sizeof(*l->v));
		if (!l->v)
			return rk_fail_nomem(err);
		for (size_t i = 0; i < s->n; i++) {
			const char *name = rk_strtab_borrow(p->ctx->names, s->v[i].id, NULL);

			l->v[i] = (struct rk_profile_line){ .name = rk_strdup(name),
							    .calls = s->v[i].calls,
							    .bytes = s->v[i].bytes,
							    .total_ns = s->v[i].total_ns };
			if (!l->v[i].name)
				return rk_fail_nomem(err);
			l->n++;
		}
		qsort(l->v, l->n, sizeof(*l->v), by_name);
		if (s->lost)
			rk_list_addf(&ret->doubts, "more than %d %s", RK_PROFILE_LINES, words[k]);
	}
	return 0;
}

/* ---- queues ---- */

/* Symbols in order of arrival, sorted by queue later: lists of blocks would not be smaller. */
struct kept {
	uint32_t *queue, *symbol;
	size_t n, cap_queue, cap_symbol;
};

/* Counting sort: puts each queue's symbols together, in their order. */
static int place_symbols(const struct kept *k, struct rk_profile *p, struct rk_error *err)
{
	size_t at = 0;

	p->symbols = rk_alloc((k->n + 1) * sizeof(*p->symbols));
	if (!p->symbols)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < k->n; i++)
		p->queues[k->queue[i]].kept++;
	for (size_t q = 0; q < p->nqueues; q++) {
		p->queues[q].first = at;
		at += p->queues[q].kept;
		p->queues[q].kept = 0;
	}
	for (size_t i = 0; i < k->n; i++) {
		struct rk_profile_queue *q = &p->queues[k->queue[i]];

		p->symbols[q->first + q->kept++] = k->symbol[i];
	}
	p->nsymbols = k->n;
	return 0;
}

int rk_profile_queue_order(const void *pa, const void *pb)
{
	const struct rk_profile_queue *a = pa, *b = pb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

static int launches_finish(struct rk_launches *l, struct rk_profile *p, struct rk_error *err)
{
	struct kept k = { 0 };
	struct rk_stretch s;
	int rc;

	p->queues = rk_calloc(l->queues.n, sizeof(*p->queues));
	if (!p->queues)
		return rk_fail_nomem(err);
	p->nqueues = l->queues.n;
	while ((rc = rk_order_next(l->order, &s, err)) > 0) {
		struct rk_profile_queue *q = &p->queues[s.device];
		uint32_t *queue, *symbol;

		/* the hash depends on the order, and is the same in every process */
		q->hash += rk_hash_mix(q->hash ^ p->shapes[s.queue].hash, 0x9e3779b97f4a7c15u);
		q->length++;
		if (k.n >= l->symbols_max)
			continue;
		queue = rk_grow(k.queue, &k.cap_queue, k.n + 1, sizeof(*queue));
		if (queue)
			k.queue = queue;
		symbol = rk_grow(k.symbol, &k.cap_symbol, k.n + 1, sizeof(*symbol));
		if (symbol)
			k.symbol = symbol;
		if (!queue || !symbol) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		queue[k.n] = s.device;
		symbol[k.n++] = s.queue;
	}
	if (rc < 0)
		goto out;
	rc = place_symbols(&k, p, err);
	if (rc < 0)
		goto out;
	if (l->lost)
		rk_list_addf(&p->doubts, "too many queues or grids; some were not compared");
	qsort(p->queues, p->nqueues, sizeof(*p->queues), rk_profile_queue_order);
out:
	rk_free(k.queue);
	rk_free(k.symbol);
	return rc;
}

/* ---- all parts ---- */

static int fill(struct rk_profiler *p, struct rk_profile *ret, struct rk_error *err)
{
	int rc;

	if ((rc = give_names(p, ret, err)) < 0 || (rc = give_time(p, &ret->time, err)) < 0 ||
	    (rc = lines_finish(p, ret, err)) < 0)
		return rc;
	for (size_t i = 0; i < ret->nnames; i++) {
		struct rk_profile_name *n = &ret->names[i];
		/* saturate at the limit */
		int64_t room = RK_PROFILE_TIME_MAX - ret->total_ns;

		n->total_ns = rk_min_i64(n->total_ns, room);
		ret->total_ns += n->total_ns;
		ret->calls += n->calls;
		ret->timed += n->timed;
	}
	hash_shapes(ret);
	if (p->lost_names)
		rk_list_addf(&ret->doubts, "more than %d kernel names", RK_PROFILE_NAMES);
	if (p->lost_shapes)
		rk_list_addf(&ret->slips, "more than %d kernel grids", RK_PROFILE_SHAPES);
	if (rk_strtab_overflowed(p->ctx->names))
		rk_list_add(&ret->doubts, "more distinct names than the name table can hold");
	if (p->structure) {
		rc = launches_finish(&p->launches, ret, err);
		if (rc < 0)
			return rc;
	}
	if (ret->doubts.bad || ret->slips.bad)
		return rk_fail_nomem(err);
	return 0;
}

static void lines_free(struct rk_profile_lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		rk_free(l->v[i].name);
	rk_free(l->v);
}

static void destroy_profile(void *arg)
{
	struct rk_profile *p = arg;

	for (size_t i = 0; i < p->nnames; i++)
		rk_free(p->names[i].text);
	rk_free(p->names);
	rk_free(p->shapes);
	lines_free(&p->copies);
	lines_free(&p->api);
	lines_free(&p->markers);
	lines_free(&p->ranks);
	rk_free(p->queues);
	rk_free(p->symbols);
	rk_list_release(&p->doubts);
	rk_list_release(&p->slips);
	rk_free(p->label);
	rk_free(p);
}

int rk_profiler_finish(struct rk_profiler *p, const char *label, struct rk_profile **ret,
		       struct rk_error *err)
{
	struct rk_profile *made = rk_calloc(1, sizeof(*made));
	int rc;

	if (!made)
		return rk_fail_nomem(err);
	made->label = rk_strdup(label);
	made->structure = p->structure;
	made->rows = p->rows > 0;
	if (!made->label) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	rc = fill(p, made, err);
	if (rc < 0)
		goto fail;
	rc = rk_handle_open(RK_HANDLE_PROFILE, made, destroy_profile, err);
	if (rc < 0)
		goto fail;
	*ret = made;
	return 0;
fail:
	destroy_profile(made);
	return rc;
}

void rk_profile_free(struct rk_profile *p)
{
	rk_handle_close(RK_HANDLE_PROFILE, p);
}
