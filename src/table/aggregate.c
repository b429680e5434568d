/* aggregate.c - see aggregate.h. */
#include "table/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"

struct group {
	struct rk_durations times;
	uint32_t name;
	bool keyed, barrier;
	bool summary; /* from precomputed statistics: no single durations, `times` has no chunks */
	int64_t key;
	uint64_t untimed;
	double stddev; /* of a summary */
};

struct rk_agg {
	struct rk_agg_fields fields;
	struct rk_context *ctx;
	struct group *groups;
	size_t ngroups, cap, max_groups;
	struct rk_idmap by_name; /* group number by name, if there is no key */
	struct rk_index by_key;  /* group number by name and key, if there is a key */
	uint64_t rows, turned_away;
	uint64_t held, exact_max; /* durations so far; max durations kept as single values */
	struct rk_agg_span span;
	bool nowhere; /* a row starts and ends at 0 */
	struct rk_durations_store store;
};

int rk_agg_new(const struct rk_agg_fields *fields, struct rk_context *ctx, struct rk_agg **ret,
	       struct rk_error *err)
{
	struct rk_agg *a = rk_calloc(1, sizeof(*a));

	if (!a)
		return rk_fail_nomem(err);
	a->fields = *fields;
	a->ctx = ctx;
	a->max_groups = RK_AGG_MAX_GROUPS;
	a->exact_max = RK_MEDIAN_EXACT_MAX;
	a->store.max_pages = RK_MEDIAN_MAX_PAGES;
	*ret = a;
	return 0;
}

void rk_agg_limit(struct rk_agg *a, uint64_t exact_durations, size_t groups)
{
	a->exact_max = exact_durations;
	a->max_groups = groups;
}

void rk_agg_free(struct rk_agg *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->ngroups; i++)
		rk_durations_release(&a->groups[i].times);
	rk_free(a->groups);
	rk_idmap_release(&a->by_name);
	rk_index_release(&a->by_key);
	rk_free(a);
}

uint64_t rk_agg_rows(const struct rk_agg *a)
{
	return a->rows;
}

struct rk_agg_span rk_agg_span(const struct rk_agg *a)
{
	return a->span.known || !a->nowhere ? a->span : (struct rk_agg_span){ .known = true };
}

static struct group *group_append(struct rk_agg *a, uint32_t name, bool keyed, int64_t key)
{
	struct group *g = rk_grow(a->groups, &a->cap, a->ngroups + 1, sizeof(*g));

	if (!g)
		return NULL;
	a->groups = g;
	g = &a->groups[a->ngroups++];
	memset(g, 0, sizeof(*g));
	g->name = name;
	g->keyed = keyed;
	g->key = key;
	g->stddev = NAN;
	return g;
}

static const char rest_name[] = "(names past the limit)";

/* The last group, for rows of all names beyond the limit. */
static struct group *group_for_the_rest(struct rk_agg *a, struct rk_error *err)
{
	uint32_t name;
	struct group *g;

	a->turned_away++;
	if (a->ngroups > a->max_groups)
		return &a->groups[a->max_groups];
	if (rk_strtab_add(a->ctx->names, rest_name, sizeof(rest_name) - 1, &name, err) < 0)
		return NULL;
	g = group_append(a, name, false, 0);
	if (!g)
		rk_fail_nomem(err);
	return g;
}

static inline struct group *group_by_name(struct rk_agg *a, uint32_t name, struct rk_error *err)
{
	uint32_t *at = rk_idmap_at(&a->by_name, name);
	struct group *g = NULL;

	if (at && *at)
		return &a->groups[*at - 1];
	if (at && a->ngroups >= a->max_groups)
		return group_for_the_rest(a, err);
	if (at)
		g = group_append(a, name, false, 0);
	if (g)
		*at = (uint32_t)a->ngroups;
	else
		rk_fail_nomem(err);
	return g;
}

static struct group *group_by_key(struct rk_agg *a, uint32_t name, bool keyed, int64_t key,
				  struct rk_error *err)
{
	uint64_t hash = rk_hash_u64(rk_hash_u64((uint64_t)key) ^ ((uint64_t)name << 1 | keyed));
	struct group *g;
	size_t at;

	for (uint32_t i = rk_index_first(&a->by_key, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&a->by_key, hash, &at)) {
		g = &a->groups[i];
		if (g->name == name && g->keyed == keyed && g->key == key)
			return g;
	}
	if (a->ngroups >= a->max_groups)
		return group_for_the_rest(a, err);
	g = group_append(a, name, keyed, key);
	if (!g || !rk_index_add(&a->by_key, hash, (uint32_t)(a->ngroups - 1))) {
		rk_fail_nomem(err);
		return NULL;
	}
	return g;
}

static struct rk_column column(const struct rk_batch *b, int field)
{
	return field < 0 ? (struct rk_column){ NULL, NULL } : b->cols[field];
}

static void span_add(struct rk_agg *a, struct rk_column start, struct rk_column dur, size_t nrows)
{
	struct rk_agg_span *span = &a->span;
	const int64_t *s = start.data, *d = dur.data;
	int64_t first = span->known ? span->start_ns : INT64_MAX;
	int64_t last = span->known ? span->end_ns : INT64_MIN;
	bool known = span->known;

	for (size_t i = 0; s && d && i < nrows; i++) {
		int64_t end;

		if (!rk_column_has(&start, i) || !rk_column_has(&dur, i) || d[i] < 0 ||
		    __builtin_add_overflow(s[i], d[i], &end))
			continue;
		if (!s[i] && !d[i]) {
			a->nowhere = true;
			continue;
		}
		first = rk_min_i64(s[i], first);
		last = rk_max_i64(end, last);
		known = true;
	}
	*span = (struct rk_agg_span){ .known = known, .start_ns = first, .end_ns = last };
}

static bool group_add(struct rk_agg *a, struct group *g, int64_t dur)
{
	if (dur >= 0)
		return rk_durations_add(&a->store, &g->times, dur);
	g->untimed++;
	return true;
}

static int add_any(struct rk_agg *a, const struct rk_batch *b, struct rk_error *err)
{
	const struct rk_column name = column(b, a->fields.name), key = column(b, a->fields.key);
	const struct rk_column dur = column(b, a->fields.duration);
	const struct rk_column barrier = column(b, a->fields.barrier);

	for (size_t i = 0; i < b->nrows; i++) {
		uint32_t id = rk_column_has(&name, i) ? ((const uint32_t *)name.data)[i] : 0;
		int64_t ns = rk_column_has(&dur, i) ? ((const int64_t *)dur.data)[i] : -1;
		struct group *g;

		if (a->fields.key == RK_AGG_NO_KEY)
			g = group_by_name(a, id, err);
		else if (rk_column_has(&key, i))
			g = group_by_key(a, id, true,
					 rk_batch_int(b, (unsigned)a->fields.key, i, 0), err);
		else
			g = group_by_key(a, id, false, 0, err);
		if (!g || !group_add(a, g, ns))
			return rk_fail_nomem(err);
		if (rk_column_has(&barrier, i) && ((const uint8_t *)barrier.data)[i])
			g->barrier = true;
	}
	return 0;
}

static bool whole(const struct rk_column *c)
{
	return c->data && !c->valid;
}

int rk_agg_add(struct rk_agg *a, const struct rk_batch *b, struct rk_error *err)
{
	const struct rk_column name = column(b, a->fields.name);
	const struct rk_column dur = column(b, a->fields.duration);
	const uint32_t *names = name.data;
	const int64_t *durs = dur.data;
	uint64_t timed = 0;
	int rc;

	/*
	 * If there are more durations than the limit of single values, all go into histograms. So
	 * medians are exact unless the limit was exceeded.
	 */
	for (size_t i = 0; durs && i < b->nrows; i++)
		timed += rk_column_has(&dur, i) && durs[i] >= 0;
	a->held += timed;
	if (!a->store.folded && a->held > a->exact_max) {
		a->store.folded = true;
		for (size_t i = 0; i < a->ngroups; i++)
			if (!rk_durations_fold(&a->store, &a->groups[i].times))
				return rk_fail_nomem(err);
	}

	/*
	 * fast path for most kernel traces: every row has a name and a duration, and there is no
	 * key
	 */
	if (a->fields.key == RK_AGG_NO_KEY && !column(b, a->fields.barrier).data && whole(&name) &&
	    whole(&dur)) {
		for (size_t i = 0; i < b->nrows; i++) {
			struct group *g = group_by_name(a, names[i], err);

			if (!g || !group_add(a, g, durs[i]))
				return rk_fail_nomem(err);
		}
	} else {
		rc = add_any(a, b, err);
		if (rc < 0)
			return rc;
	}
	a->rows += b->nrows;
	span_add(a, column(b, a->fields.start), dur, b->nrows);
	return 0;
}

int rk_agg_drain(struct rk_agg *a, struct rk_source *src, struct rk_error *err)
{
	const struct rk_batch *b;
	int rc;

	while ((rc = rk_source_next(src, &b, err)) > 0) {
		rc = rk_agg_add(a, b, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int rk_agg_add_line(struct rk_agg *a, const struct rk_agg_line *line, struct rk_error *err)
{
	struct group *g;

	if (a->fields.key == RK_AGG_NO_KEY)
		g = group_by_name(a, line->name, err);
	else
		g = group_by_key(a, line->name, line->keyed, line->keyed ? line->key : 0, err);
	if (!g)
		return RK_E_NOMEM;
	a->rows++;
	if (line->total_ns < 0) {
		g->untimed += line->calls;
		return 0;
	}
	g->stddev = g->times.n ? NAN : line->stddev_ns;
	if (!g->times.n) {
		g->times.min = INT64_MAX;
		g->times.max = -1;
	}
	g->summary = true;
	g->barrier |= line->barrier;
	g->times.n += line->calls;
	g->times.sum += (uint64_t)line->total_ns;
	if (line->min_ns >= 0 && line->min_ns < g->times.min)
		g->times.min = line->min_ns;
	if (line->max_ns > g->times.max)
		g->times.max = line->max_ns;
	return 0;
}

static void row_of(const struct rk_agg *a, const struct group *g, struct rk_agg_row *row)
{
	const struct rk_durations *t = &g->times;

	*row = (struct rk_agg_row){ .name = g->name,
				    .keyed = g->keyed,
				    .barrier = g->barrier,
				    .key = g->key,
				    .calls = t->n + g->untimed,
				    .timed = t->n,
				    .min_ns = -1,
				    .max_ns = -1,
				    .mean_ns = NAN,
				    .stddev_ns = NAN,
				    .median_ns = NAN };
	if (!t->n)
		return;
	row->total_ns = t->sum > INT64_MAX ? INT64_MAX : (int64_t)t->sum;
	row->min_ns = t->min == INT64_MAX && t->max < 0 ? -1 : t->min;
	row->max_ns = t->max;
	row->mean_ns = (double)t->sum / (double)t->n;
	row->stddev_ns = g->summary ? g->stddev : rk_durations_stddev(t);
	if (!g->summary && rk_durations_median(t, &row->median_ns))
		row->median_exact = !a->store.folded;
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct rk_agg_row *a = pa, *b = pb;
	const struct rk_strtab *names = arg;
	int c;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->name != b->name) {
		c = strcmp(rk_strtab_borrow(names, a->name, NULL),
			   rk_strtab_borrow(names, b->name, NULL));
		if (c)
			return c;
	}
	if (a->keyed != b->keyed)
		return a->keyed ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

int rk_agg_finish(struct rk_agg *a, struct rk_agg_row **ret, size_t *ret_n, struct rk_error *err)
{
	uint64_t lost = 0, saturated = 0;
	struct rk_agg_row *rows;

	for (size_t i = 0; i < a->ngroups; i++)
		if (!rk_durations_settle(&a->store, &a->groups[i].times))
			return rk_fail_nomem(err);
	rows = rk_calloc(a->ngroups, sizeof(*rows));
	if (!rows)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < a->ngroups; i++) {
		row_of(a, &a->groups[i], &rows[i]);
		lost += a->groups[i].times.lost;
		saturated += a->groups[i].times.sum > INT64_MAX;
	}
	qsort_r(rows, a->ngroups, sizeof(*rows), compare_rows, a->ctx->names);
	if (saturated)
		rk_diag_add(a->ctx->diag, "total-overflow", "", 0, saturated,
			    "a total is larger than 2^63 - 1 ns and is capped there");
	if (lost)
		rk_diag_add(a->ctx->diag, "median-limit", "", 0, lost,
			    "too many names to compute all medians; later names have none");
	if (a->turned_away)
		rk_diag_add(a->ctx->diag, "group-limit", "", 0, a->turned_away,
			    "more than %zu groups: rows of the others are counted in '%s'",
			    a->max_groups, rest_name);
	*ret = rows;
	*ret_n = a->ngroups;
	return 0;
}

/* ---- hardware counter values by counter name ---- */

enum { PROGRAM_COUNTERS_MAX = 1 << 20 }; /* programs times counters; beyond it every row counts */

struct counters {
	struct rk_idmap by_name;
	struct rk_agg_counter *rows;
	size_t n, cap;
	struct rk_keys measured; /* program and counter */
	int64_t *passes;         /* by number: the pass of the first row */
	size_t passes_cap;
};

static struct rk_agg_counter *counter_of(struct counters *s, uint32_t name)
{
	uint32_t *at = rk_idmap_at(&s->by_name, name);
	struct rk_agg_counter *rows;

	if (!at)
		return NULL;
	if (*at)
		return &s->rows[*at - 1];
	rows = rk_grow(s->rows, &s->cap, s->n + 1, sizeof(*rows));
	if (!rows)
		return NULL;
	s->rows = rows;
	s->rows[s->n] = (struct rk_agg_counter){ .name = name, .min = NAN, .max = NAN };
	*at = (uint32_t)++s->n;
	return &s->rows[s->n - 1];
}

/* Is it from the pass in which this program measured the counter first? Negative: an error. */
static int is_first(struct counters *s, int64_t program, uint32_t name, int64_t pass,
		    struct rk_error *err)
{
	size_t known = s->measured.n;
	uint32_t number;
	int64_t *passes;
	int rc = rk_keys_number(&s->measured, (struct rk_key3){ name, program, 0 }, &number, err);

	if (rc < 0)
		return rc;
	if (s->measured.n > known) {
		passes = rk_grow(s->passes, &s->passes_cap, s->measured.n, sizeof(*passes));
		if (!passes)
			return rk_fail_nomem(err);
		s->passes = passes;
		s->passes[number] = pass;
	}
	return number == s->measured.max || s->passes[number] == pass;
}

int rk_agg_counters(struct rk_source *src, int64_t (*program)(void *arg), void *arg,
		    struct rk_agg_counter **ret, size_t *ret_n, uint64_t *ret_rows,
		    struct rk_error *err)
{
	struct counters s = { .rows = NULL, .measured = { .max = PROGRAM_COUNTERS_MAX } };
	const struct rk_batch *b;
	uint64_t rows = 0;
	int rc;

	while ((rc = rk_source_next(src, &b, err)) > 0) {
		const struct rk_column *value = &b->cols[RK_N_VALUE];
		int64_t of = program(arg);

		for (size_t i = 0; i < b->nrows; i++) {
			uint32_t name = rk_batch_id(b, RK_N_COUNTER, i);
			struct rk_agg_counter *c = counter_of(&s, name);
			double v;

			if (!c) {
				rc = rk_fail_nomem(err);
				goto out;
			}
			rc = is_first(&s, of, name, rk_batch_int(b, RK_N_PASS, i, -1), err);
			if (rc < 0)
				goto out;
			if (!rc)
				continue;
			c->rows++;
			if (!rk_column_has(value, i))
				continue;
			v = ((const double *)value->data)[i];
			c->sum += v;
			if (isnan(c->min) || v < c->min)
				c->min = v;
			if (isnan(c->max) || v > c->max)
				c->max = v;
		}
		rows += b->nrows;
	}
	if (rc < 0)
		goto out;
	*ret = s.rows;
	*ret_n = s.n;
	*ret_rows = rows;
	s.rows = NULL;
out:
	rk_idmap_release(&s.by_name);
	rk_keys_release(&s.measured);
	rk_free(s.passes);
	rk_free(s.rows);
	return rc;
}
