/* diff_side.c - see diff_side.h. */
#include "diff/diff_side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "table/stages.h"

static void sample_add(struct rk_sample *s, double v)
{
	double d = v - s->mean;

	s->n++;
	s->mean += d / s->n;
	s->squares += d * (v - s->mean);
}

/* Rounded mean of n numbers >= 0, computed without their sum, which may overflow. */
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
	return m->quotients + (m->rests + m->n / 2) / m->n;
}

static uint64_t mean_count(uint64_t sum, size_t n)
{
	return (sum + n / 2) / n;
}

/* Never rounds a kernel that was called down to 0 calls. */
static uint64_t mean_calls(uint64_t sum, size_t n)
{
	return sum ? rk_max(mean_count(sum, n), 1) : 0;
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

	if (order)
		return order;
	return (a->run > b->run) - (a->run < b->run);
}

static double volume(const int32_t *n)
{
	return n[0] < 0 ? -1 : (double)n[0] * fmax(n[1], 1) * fmax(n[2], 1);
}

/*
 * Merges `n` entries with the same text. The median is the mean of the runs' medians, with the
 * widest bounds.
 */
static void name_make(struct rk_side_name *s, const struct entry *e, size_t n, size_t runs)
{
	struct mean total = { .n = (int64_t)runs };
	const struct rk_shape *shape;
	uint64_t calls = 0;

	*s = (struct rk_side_name){ .text = e[0].text,
				    .least = n < runs ? 0 : UINT64_MAX,
				    .of = e[0].of,
				    .name = e[0].name,
				    .median_low_ns = INFINITY,
				    .median_high_ns = -INFINITY,
				    .work = -1,
				    .block = -1 };
	for (size_t i = 0; i < n; i++) {
		const struct rk_profile_name *v = e[i].name;

		calls += v->calls;
		mean_add(&total, v->total_ns);
		s->least = rk_min(s->least, v->calls);
		s->most = rk_max(s->most, v->calls);
		s->squares += v->squares;
		s->free += v->free;
		s->timed_all += v->timed;
		if (v->timed)
			sample_add(&s->means, (double)v->total_ns / (double)v->timed);
		s->median_ns += v->median_ns;
		s->mad_ns += v->mad_ns;
		s->median_low_ns = fmin(s->median_low_ns, v->median_low_ns);
		s->median_high_ns = fmax(s->median_high_ns, v->median_high_ns);
		if (isnan(v->median_low_ns))
			s->median_low_ns = s->median_high_ns = NAN;
	}
	s->median_ns /= (double)n;
	s->mad_ns /= (double)n;
	s->calls = mean_calls(calls, runs);
	s->timed = mean_calls(s->timed_all, runs);
	s->total_ns = mean_get(&total);
	if (!s->name->common)
		return;
	shape = &s->of->shapes[s->name->common - 1].shape;
	s->work = volume(shape->n);
	s->block = volume(shape->n + 3);
	if (!shape->items && s->block >= 0 && s->work >= 0)
		s->work *= s->block;
}

static int make_names(struct rk_side *s, struct rk_error *err)
{
	struct entry *list;
	size_t n = 0;

	for (size_t r = 0; r < s->runs; r++)
		n += s->profiles[r]->nnames;
	list = rk_calloc(n, sizeof(*list));
	s->names = rk_calloc(n, sizeof(*s->names));
	if (!list || !s->names) {
		rk_free(list);
		return rk_fail_nomem(err);
	}
	n = 0;
	for (size_t r = 0; r < s->runs; r++)
		for (size_t i = 0; i < s->profiles[r]->nnames; i++) {
			const struct rk_profile_name *name = &s->profiles[r]->names[i];

			list[n++] = (struct entry){ name->text, s->profiles[r], name, r };
		}
	if (s->runs > 1)
		qsort(list, n, sizeof(*list), by_text);
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

#define MEAN(s, member) mean_of(s, offsetof(struct rk_profile_time, member))

/* ---- lines ---- */

static int by_name(const void *pa, const void *pb)
{
	const struct rk_profile_line *const *a = pa, *const *b = pb;

	return strcmp((*a)->name, (*b)->name);
}

enum { NLINES = 3 };

static const struct rk_profile_lines *lines_of(const struct rk_profile *p, unsigned which)
{
	const struct rk_profile_lines *const lines[NLINES] = { &p->copies, &p->api, &p->ranks };

	return lines[which];
}

static int make_lines(struct rk_side *s, unsigned which, struct rk_error *err)
{
	struct rk_side_lines *const lines[NLINES] = { &s->copies, &s->api, &s->ranks };
	struct rk_side_lines *ret = lines[which];
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
		struct mean bytes = { .n = (int64_t)s->runs }, total = bytes;
		uint64_t calls = 0;

		for (end = i; end < n && strcmp(list[end]->name, list[i]->name) == 0; end++) {
			calls += list[end]->calls;
			mean_add(&bytes, list[end]->bytes);
			mean_add(&total, list[end]->total_ns);
		}
		ret->v[ret->n] = (struct rk_side_line){ list[i]->name, mean_count(calls, s->runs),
							mean_get(&bytes), mean_get(&total) };
		ret->total_ns += ret->v[ret->n++].total_ns;
	}
	rk_free(list);
	return 0;
}

int rk_side_make(const struct rk_profile *const *p, size_t n, struct rk_side *ret,
		 struct rk_error *err)
{
	struct rk_profile_time *t = &ret->time;
	int rc;

	ret->profiles = p;
	ret->runs = n;
	*t = (struct rk_profile_time){ .known = true,
				       .kernels = MEAN(ret, kernels),
				       .copies = MEAN(ret, copies),
				       .both = MEAN(ret, both),
				       .idle = MEAN(ret, idle),
				       .unplaced = MEAN(ret, unplaced) };
	t->wall = t->kernels + t->copies - t->both + t->idle;
	for (size_t r = 0; r < n; r++) {
		t->known &= p[r]->time.known;
		sample_add(&ret->totals, (double)p[r]->total_ns);
		sample_add(&ret->walls, (double)p[r]->time.wall);
	}
	rc = make_names(ret, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < NLINES; i++) {
		rc = make_lines(ret, i, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void rk_side_release(struct rk_side *s)
{
	rk_free(s->names);
	rk_free(s->copies.v);
	rk_free(s->api.v);
	rk_free(s->ranks.v);
}

/* ---- matching kernels of the two sides: base names ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Tensile appends its parameters to the problem: Cijk_Ailk_Bljk_SB_MT64x64x16_... */
static size_t without_tile(const char *s, size_t len)
{
	if (len < 5 || (strncmp(s, "Cijk_", 5) != 0 && strncmp(s, "Custom_Cijk_", 12) != 0))
		return len;
	for (size_t i = 0; i + 3 < len; i++)
		if (memcmp(s + i, "_MT", 3) == 0 && is_digit(s[i + 3]))
			return i;
	return len;
}

/* Compilers append numbers to generated names: "fused_add_12", Triton's "kernel_0d1d2de". */
static size_t without_number(const char *s, size_t len)
{
	size_t i = len;

	while (i > 0 && (is_digit(s[i - 1]) || strchr("cde", s[i - 1])))
		i--;
	if (i > 1 && i < len && s[i - 1] == '_' && is_digit(s[i]))
		return i - 1;
	return len;
}

bool rk_match_base(const char *name, struct rk_bytes *out)
{
	static const struct rk_name_style bare = { .mangled = true, .truncate = true };
	size_t from = out->len, len, shorter;
	const char *s;

	if (!rk_name_clean(name, strlen(name), &bare, out))
		return false;
	if (out->len == from)
		return true;
	s = (const char *)out->data + from;
	len = without_tile(s, out->len - from);
	while ((shorter = without_number(s, len)) < len)
		len = shorter;
	out->len = from + len;
	return true;
}

/* ---- candidates ---- */

struct left {
	const struct rk_side_name *name;
	char *base;
	bool taken;
};

struct candidate {
	struct left *a, *b;
	double score; /* smaller is better */
};

static int by_base(const void *pa, const void *pb)
{
	const struct left *a = pa, *b = pb;
	int order = strcmp(a->base, b->base);

	if (order)
		return order;
	if (a->name->total_ns != b->name->total_ns)
		return a->name->total_ns > b->name->total_ns ? -1 : 1;
	return strcmp(a->name->text, b->name->text);
}

/* Orders a pair's names, so that comparisons do not depend on which side is A. */
static void ends(const struct candidate *c, const char **less, const char **more)
{
	const char *a = c->a->name->text, *b = c->b->name->text;

	*less = strcmp(a, b) < 0 ? a : b;
	*more = *less == a ? b : a;
}

static int by_score(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	const char *a_less, *a_more, *b_less, *b_more;
	int order;

	if (a->score != b->score)
		return a->score < b->score ? -1 : 1;
	ends(a, &a_less, &a_more);
	ends(b, &b_less, &b_more);
	order = strcmp(a_less, b_less);
	return order ? order : strcmp(a_more, b_more);
}

/* Distance in powers of two; `unknown` if one side has no value. */
static double powers(double a, double b, double unknown)
{
	return a > 0 && b > 0 ? fabs(log2(a) - log2(b)) : unknown;
}

/*
 * Infinite if the two cannot be the same kernel. Template arguments are part of what a kernel does
 * (elementwise<add> is not elementwise<mul>), so half of the name must be equal. This does not
 * apply to Tensile: its problem was already compared, and most of the rest is parameters.
 */
static double score(const struct rk_side_name *a, const struct rk_side_name *b)
{
	double calls = powers((double)a->calls, (double)b->calls, 0);
	double work = powers(a->work, b->work, 1), block = powers(a->block, b->block, 1);
	size_t la = strlen(a->text), lb = strlen(b->text), n = rk_min(la, lb), head = 0, tail = 0;
	bool tiled = without_tile(a->text, la) < la;
	double alike; /* length of common prefix and suffix, as a share of the longer text */

	while (head < n && a->text[head] == b->text[head])
		head++;
	while (tail < n - head && a->text[la - 1 - tail] == b->text[lb - 1 - tail])
		tail++;
	alike = (double)(head + tail) / (double)rk_max(la, lb);
	if (calls > 1 || work > 4 || block > 2 || (alike < 0.5 && !tiled))
		return INFINITY;
	return calls + work / 4 + block / 4 + 1 - alike;
}

struct matching {
	struct left *a, *b; /* unmatched kernels, sorted by base name */
	size_t na, nb;
	struct candidate *list; /* for one base name */
	size_t cap;
	struct rk_pair *pairs;
	size_t npairs;
};

/* Matches kernels with the same base name: the best pair first, then the best of the rest. */
static int match_group(struct matching *m, struct left *a, size_t na, struct left *b, size_t nb,
		       struct rk_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < na && i < RK_MATCH_TRIED; i++)
		for (size_t k = 0; k < nb && k < RK_MATCH_TRIED; k++) {
			struct candidate c = { &a[i], &b[k], score(a[i].name, b[k].name) };
			struct candidate *grown;

			if (isinf(c.score))
				continue;
			grown = rk_grow(m->list, &m->cap, n + 1, sizeof(*grown));
			if (!grown)
				return rk_fail_nomem(err);
			m->list = grown;
			m->list[n++] = c;
		}
	if (n)
		qsort(m->list, n, sizeof(*m->list), by_score);
	for (size_t i = 0; i < n; i++) {
		struct candidate *c = &m->list[i];

		if (c->a->taken || c->b->taken)
			continue;
		c->a->taken = c->b->taken = true;
		m->pairs[m->npairs++] = (struct rk_pair){ c->a->name, c->b->name, true };
	}
	return 0;
}

static size_t group_end(const struct left *l, size_t n, size_t i)
{
	size_t end = i + 1;

	while (end < n && strcmp(l[end].base, l[i].base) == 0)
		end++;
	return end;
}

static int match_left(struct matching *m, struct rk_error *err)
{
	size_t i = 0, k = 0;

	qsort(m->a, m->na, sizeof(*m->a), by_base);
	qsort(m->b, m->nb, sizeof(*m->b), by_base);
	while (i < m->na && k < m->nb) {
		int order = strcmp(m->a[i].base, m->b[k].base);
		size_t ei = group_end(m->a, m->na, i), ek = group_end(m->b, m->nb, k);

		if (order == 0 && m->a[i].base[0]) {
			int rc = match_group(m, &m->a[i], ei - i, &m->b[k], ek - k, err);

			if (rc < 0)
				return rc;
		}
		if (order <= 0)
			i = ei;
		if (order >= 0)
			k = ek;
	}
	return 0;
}

/* ---- all of a side ---- */

static int leave(struct left *list, size_t *n, const struct rk_side_name *name,
		 struct rk_error *err)
{
	struct rk_bytes base;
	int rc;

	rk_bytes_init(&base, 3 * strlen(name->text) + 64);
	if (!rk_match_base(name->text, &base)) {
		rk_bytes_release(&base);
		return rk_fail_nomem(err);
	}
	list[*n] = (struct left){ .name = name };
	rc = rk_bytes_give(&base, &list[*n].base, NULL, err);
	if (rc < 0)
		return rc;
	++*n;
	return 0;
}

static int by_names(struct matching *m, const struct rk_side *a, const struct rk_side *b,
		    struct rk_error *err)
{
	struct rk_merge both = RK_MERGE(a->names, a->nnames, b->names, b->nnames, NULL);
	int rc = 0;

	while (rc >= 0 && rk_merge_next(&both)) {
		if (both.x && both.y)
			m->pairs[m->npairs++] = (struct rk_pair){ both.x, both.y, false };
		else if (both.x)
			rc = leave(m->a, &m->na, both.x, err);
		else
			rc = leave(m->b, &m->nb, both.y, err);
	}
	return rc;
}

int rk_match(const struct rk_side *a, const struct rk_side *b, struct rk_pair **ret, size_t *ret_n,
	     struct rk_error *err)
{
	struct matching m = { 0 };
	int rc;

	m.a = rk_calloc(a->nnames, sizeof(*m.a));
	m.b = rk_calloc(b->nnames, sizeof(*m.b));
	m.pairs = rk_calloc(a->nnames + b->nnames, sizeof(*m.pairs));
	if (!m.a || !m.b || !m.pairs) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = by_names(&m, a, b, err);
	if (rc < 0)
		goto out;
	rc = match_left(&m, err);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < m.na; i++)
		if (!m.a[i].taken)
			m.pairs[m.npairs++] = (struct rk_pair){ m.a[i].name, NULL, false };
	for (size_t i = 0; i < m.nb; i++)
		if (!m.b[i].taken)
			m.pairs[m.npairs++] = (struct rk_pair){ NULL, m.b[i].name, false };
	*ret = m.pairs;
	*ret_n = m.npairs;
	m.pairs = NULL;
out:
	for (size_t i = 0; i < m.na; i++)
		rk_free(m.a[i].base);
	for (size_t i = 0; i < m.nb; i++)
		rk_free(m.b[i].base);
	rk_free(m.a);
	rk_free(m.b);
	rk_free(m.list);
	rk_free(m.pairs);
	return rc;
}
