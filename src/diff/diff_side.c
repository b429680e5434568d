/* diff_side.c - see diff_side.h. */
#include "diff/diff_side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* One more value. */
static void sample_add(struct rk_sample *s, double v)
{
	double d = v - s->mean;

	s->n++;
	s->mean += d / s->n;
	s->squares += d * (v - s->mean);
}

static int64_t mean_i64(int64_t sum_of_quotients, int64_t sum_of_rests, int64_t n)
{
	return sum_of_quotients + (sum_of_rests + n / 2) / n;
}

/* Rounded mean of n numbers from 0 on, without their sum, which may not fit. */
struct mean {
	int64_t quotients, rests, n;
};

static void mean_add(struct mean *m, int64_t v)
{
	m->quotients += v / m->n;
	m->rests += v % m->n;
}

static int64_t mean_get(const struct mean *m)
{
	return mean_i64(m->quotients, m->rests, m->n);
}

static uint64_t mean_count(uint64_t sum, size_t n)
{
	return (sum + n / 2) / n;
}

/* ---- names ---- */

struct entry {
	const char *text;
	const struct rk_profile *of;
	const struct rk_profile_name *name;
	size_t run;
};

static int by_text(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int order = strcmp(a->text, b->text);

	return order ? order : (a->run > b->run) - (a->run < b->run);
}

static int list_entries(const struct rk_side *s, struct entry **ret, size_t *ret_n,
			struct rk_error *err)
{
	struct entry *list;
	size_t n = 0;

	for (size_t r = 0; r < s->runs; r++)
		n += s->profiles[r]->nnames;
	list = rk_calloc(n, sizeof(*list));
	if (!list)
		return rk_fail_nomem(err);
	n = 0;
	for (size_t r = 0; r < s->runs; r++)
		for (size_t i = 0; i < s->profiles[r]->nnames; i++) {
			const struct rk_profile_name *name = &s->profiles[r]->names[i];

			list[n++] = (struct entry){ name->text, s->profiles[r], name, r };
		}
	if (s->runs > 1)
		qsort(list, n, sizeof(*list), by_text);
	*ret = list;
	*ret_n = n;
	return 0;
}

static double volume(const int32_t *n)
{
	return n[0] < 0 ? -1 : (double)n[0] * (n[1] < 1 ? 1 : n[1]) * (n[2] < 1 ? 1 : n[2]);
}

static void look_at_shape(struct rk_side_name *s)
{
	const struct rk_shape *shape;
	double grid;

	s->work = s->block = -1;
	if (!s->name->common)
		return;
	shape = &s->of->shapes[s->name->common - 1].shape;
	grid = volume(shape->n);
	s->block = volume(shape->n + 3);
	s->work = shape->items || s->block < 0 || grid < 0 ? grid : grid * s->block;
}

/* Medians of several runs: their mean; the bounds are those of the widest view. */
static void add_medians(struct rk_side_name *s, const struct entry *e, size_t n)
{
	double sum = 0, mad = 0;

	s->median_low_ns = INFINITY;
	s->median_high_ns = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		sum += e[i].name->median_ns;
		mad += e[i].name->mad_ns;
		s->median_low_ns = fmin(s->median_low_ns, e[i].name->median_low_ns);
		s->median_high_ns = fmax(s->median_high_ns, e[i].name->median_high_ns);
		if (isnan(e[i].name->median_low_ns))
			s->median_low_ns = s->median_high_ns = NAN;
	}
	s->median_ns = sum / (double)n;
	s->mad_ns = mad / (double)n;
}

static void add_run(struct rk_side_name *s, const struct rk_profile_name *n)
{
	s->least = n->calls < s->least ? n->calls : s->least;
	s->most = n->calls > s->most ? n->calls : s->most;
	s->squares += n->squares;
	s->free += n->free;
	s->timed_all += n->timed;
	if (n->timed)
		sample_add(&s->means, (double)n->total_ns / (double)n->timed);
}

/* `n` entries of one text. */
static void name_make(struct rk_side_name *s, const struct entry *e, size_t n, size_t runs)
{
	struct mean total = { .n = (int64_t)runs };
	uint64_t calls = 0;

	*s = (struct rk_side_name){ .text = e[0].text,
				    .least = n < runs ? 0 : UINT64_MAX,
				    .of = e[0].of,
				    .name = e[0].name };
	for (size_t i = 0; i < n; i++) {
		calls += e[i].name->calls;
		mean_add(&total, e[i].name->total_ns);
		add_run(s, e[i].name);
	}
	/* what was called at all is not rounded away */
	s->calls = calls && calls * 2 < runs ? 1 : mean_count(calls, runs);
	s->timed = s->timed_all && s->timed_all * 2 < runs ? 1 : mean_count(s->timed_all, runs);
	s->total_ns = mean_get(&total);
	add_medians(s, e, n);
	look_at_shape(s);
}

static int make_names(struct rk_side *s, struct rk_error *err)
{
	struct entry *list = NULL;
	size_t n = 0;
	int rc = list_entries(s, &list, &n, err);

	if (rc < 0)
		return rc;
	s->names = rk_calloc(n, sizeof(*s->names));
	if (!s->names) {
		rk_free(list);
		return rk_fail_nomem(err);
	}
	for (size_t i = 0, end; i < n; i = end) {
		struct rk_side_name *name = &s->names[s->nnames++];

		for (end = i + 1; end < n && strcmp(list[end].text, list[i].text) == 0; end++)
			continue;
		name_make(name, list + i, end - i, s->runs);
		s->total_ns += name->total_ns;
		s->calls += name->calls;
		s->timed += name->timed;
	}
	rk_free(list);
	return 0;
}

/* ---- time ---- */

static int64_t mean_of(const struct rk_side *s, size_t offset)
{
	struct mean m = { .n = (int64_t)s->runs };

	for (size_t r = 0; r < s->runs; r++)
		mean_add(&m, *(const int64_t *)(const void *)((const char *)&s->profiles[r]->time +
							      offset));
	return mean_get(&m);
}

#define MEAN(member) .member = mean_of(s, offsetof(struct rk_profile_time, member))

static void make_time(struct rk_side *s)
{
	struct rk_profile_time t = {
		.known = true, MEAN(kernels), MEAN(copies), MEAN(both), MEAN(idle), MEAN(unplaced)
	};

	t.wall = t.kernels + t.copies - t.both + t.idle;
	for (size_t r = 0; r < s->runs; r++) {
		t.known &= s->profiles[r]->time.known;
		sample_add(&s->totals, (double)s->profiles[r]->total_ns);
		sample_add(&s->walls, (double)s->profiles[r]->time.wall);
	}
	s->time = t;
}

/* ---- lines ---- */

static int by_name(const void *pa, const void *pb)
{
	const struct rk_profile_line *const *a = pa, *const *b = pb;

	return strcmp((*a)->name, (*b)->name);
}

enum which { COPIES, API, RANKS };

static const struct rk_profile_lines *lines_of(const struct rk_profile *p, enum which which)
{
	return which == COPIES ? &p->copies : which == API ? &p->api : &p->ranks;
}

static void line_make(struct rk_side_line *ret, const struct rk_profile_line *const *l, size_t n,
		      size_t runs)
{
	struct mean bytes = { .n = (int64_t)runs }, total = bytes;
	uint64_t calls = 0;

	for (size_t i = 0; i < n; i++) {
		calls += l[i]->calls;
		mean_add(&bytes, l[i]->bytes);
		mean_add(&total, l[i]->total_ns);
	}
	*ret = (struct rk_side_line){ l[0]->name, mean_count(calls, runs), mean_get(&bytes),
				      mean_get(&total) };
}

static int make_lines(const struct rk_side *s, enum which which, struct rk_side_lines *ret,
		      struct rk_error *err)
{
	const struct rk_profile_line **list;
	size_t n = 0;

	ret->known = true;
	for (size_t r = 0; r < s->runs; r++)
		n += lines_of(s->profiles[r], which)->n;
	list = rk_calloc(n, sizeof(*list));
	ret->v = rk_calloc(n, sizeof(*ret->v));
	if (!list || !ret->v) {
		rk_free(list);
		return rk_fail_nomem(err);
	}
	n = 0;
	for (size_t r = 0; r < s->runs; r++) {
		const struct rk_profile_lines *l = lines_of(s->profiles[r], which);

		ret->known &= l->known;
		for (size_t i = 0; i < l->n; i++)
			list[n++] = &l->v[i];
	}
	qsort(list, n, sizeof(*list), by_name);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(list[end]->name, list[i]->name) == 0; end++)
			continue;
		line_make(&ret->v[ret->n], list + i, end - i, s->runs);
		ret->total_ns += ret->v[ret->n++].total_ns;
	}
	rk_free(list);
	return 0;
}

int rk_side_make(const struct rk_profile *const *p, size_t n, struct rk_side *ret,
		 struct rk_error *err)
{
	int rc;

	ret->profiles = p;
	ret->runs = n;
	make_time(ret);
	rc = make_names(ret, err);
	if (rc == 0)
		rc = make_lines(ret, COPIES, &ret->copies, err);
	if (rc == 0)
		rc = make_lines(ret, API, &ret->api, err);
	return rc < 0 ? rc : make_lines(ret, RANKS, &ret->ranks, err);
}

void rk_side_release(struct rk_side *s)
{
	rk_free(s->names);
	rk_free(s->copies.v);
	rk_free(s->api.v);
	rk_free(s->ranks.v);
}
