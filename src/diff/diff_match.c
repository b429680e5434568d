/* diff_match.c - see diff_match.h. */
#include "diff/diff_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "table/names.h"

/* ---- base names ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Tensile writes its parameters behind the problem: Cijk_Ailk_Bljk_SB_MT64x64x16_... */
static size_t without_tile(const char *s, size_t len)
{
	if (len < 5 || (strncmp(s, "Cijk_", 5) != 0 && strncmp(s, "Custom_Cijk_", 12) != 0))
		return len;
	for (size_t i = 0; i + 3 < len; i++)
		if (memcmp(s + i, "_MT", 3) == 0 && is_digit(s[i + 3]))
			return i;
	return len;
}

/* Compilers number what they generate: "fused_add_12", Triton's "kernel_0d1d2de". */
static size_t without_number(const char *s, size_t len)
{
	size_t i = len;

	while (i > 0 && (is_digit(s[i - 1]) || strchr("cde", s[i - 1])))
		i--;
	return i > 1 && i < len && s[i - 1] == '_' && is_digit(s[i]) ? i - 1 : len;
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
	double score; /* the less the better */
};

static int by_base(const void *pa, const void *pb)
{
	const struct left *a = pa, *b = pb;
	int order = strcmp(a->base, b->base);

	if (!order && a->name->total_ns != b->name->total_ns)
		return a->name->total_ns > b->name->total_ns ? -1 : 1;
	return order ? order : strcmp(a->name->text, b->name->text);
}

/* The pair as such, whichever side each is on. */
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

/* Share of the longer text that both begin or end with. */
static double likeness(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), n = la < lb ? la : lb, head = 0, tail = 0;

	while (head < n && a[head] == b[head])
		head++;
	while (tail < n - head && a[la - 1 - tail] == b[lb - 1 - tail])
		tail++;
	return (double)(head + tail) / (double)(la > lb ? la : lb);
}

/* Distance in powers of two; `unknown` when one side does not say. */
static double powers(double a, double b, double unknown)
{
	return a > 0 && b > 0 ? fabs(log2(a) - log2(b)) : unknown;
}

/*
 * Infinite when the two cannot be the same. What a template is made with is part of what it does
 * (elementwise<add> is not elementwise<mul>), so half of the name must be the same; of Tensile's
 * names the problem was compared before, and most of the rest is parameters.
 */
static double score(const struct rk_side_name *a, const struct rk_side_name *b)
{
	double calls = powers((double)a->calls, (double)b->calls, 0);
	double work = powers(a->work, b->work, 1), block = powers(a->block, b->block, 1);
	double alike = likeness(a->text, b->text);
	bool tiled = without_tile(a->text, strlen(a->text)) < strlen(a->text);

	if (calls > 1 || work > 4 || block > 2 || (alike < 0.5 && !tiled))
		return INFINITY;
	return calls + work / 4 + block / 4 + 1 - alike;
}

struct matching {
	struct left *a, *b; /* left over, by base */
	size_t na, nb;
	struct candidate *list;
	size_t n, cap;
	struct rk_pair *pairs;
	size_t npairs;
};

static int try_group(struct matching *m, size_t a, size_t na, size_t b, size_t nb,
		     struct rk_error *err)
{
	na = na > RK_MATCH_TRIED ? RK_MATCH_TRIED : na;
	nb = nb > RK_MATCH_TRIED ? RK_MATCH_TRIED : nb;
	for (size_t i = 0; i < na; i++)
		for (size_t k = 0; k < nb; k++) {
			struct candidate c = { &m->a[a + i], &m->b[b + k], 0 };
			struct candidate *grown;

			c.score = score(c.a->name, c.b->name);
			if (isinf(c.score))
				continue;
			grown = rk_grow(m->list, &m->cap, m->n + 1, sizeof(*grown));
			if (!grown)
				return rk_fail_nomem(err);
			m->list = grown;
			m->list[m->n++] = c;
		}
	return 0;
}

/* The best pair first, then the best of the others. */
static void take_best(struct matching *m)
{
	if (m->n)
		qsort(m->list, m->n, sizeof(*m->list), by_score);
	for (size_t i = 0; i < m->n; i++) {
		struct candidate *c = &m->list[i];

		if (c->a->taken || c->b->taken)
			continue;
		c->a->taken = c->b->taken = true;
		m->pairs[m->npairs++] = (struct rk_pair){ c->a->name, c->b->name, true };
	}
	m->n = 0;
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
	int rc = 0;

	qsort(m->a, m->na, sizeof(*m->a), by_base);
	qsort(m->b, m->nb, sizeof(*m->b), by_base);
	while (rc == 0 && i < m->na && k < m->nb) {
		int order = strcmp(m->a[i].base, m->b[k].base);
		size_t ei = group_end(m->a, m->na, i), ek = group_end(m->b, m->nb, k);

		if (order == 0 && m->a[i].base[0]) {
			rc = try_group(m, i, ei - i, k, ek - k, err);
			take_best(m);
		}
		i = order <= 0 ? ei : i;
		k = order >= 0 ? ek : k;
	}
	return rc;
}

/* ---- the whole ---- */

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
	*n += rc == 0;
	return rc;
}

static int by_names(struct matching *m, const struct rk_side *a, const struct rk_side *b,
		    struct rk_error *err)
{
	size_t i = 0, k = 0;
	int rc = 0;

	while (rc == 0 && (i < a->nnames || k < b->nnames)) {
		int order = i == a->nnames ? 1 :
			    k == b->nnames ? -1 :
					     strcmp(a->names[i].text, b->names[k].text);

		if (order == 0)
			m->pairs[m->npairs++] =
				(struct rk_pair){ &a->names[i], &b->names[k], false };
		else if (order < 0)
			rc = leave(m->a, &m->na, &a->names[i], err);
		else
			rc = leave(m->b, &m->nb, &b->names[k], err);
		i += order <= 0;
		k += order >= 0;
	}
	return rc;
}

static void add_unmatched(struct matching *m)
{
	for (size_t i = 0; i < m->na; i++)
		if (!m->a[i].taken)
			m->pairs[m->npairs++] = (struct rk_pair){ m->a[i].name, NULL, false };
	for (size_t i = 0; i < m->nb; i++)
		if (!m->b[i].taken)
			m->pairs[m->npairs++] = (struct rk_pair){ NULL, m->b[i].name, false };
}

static void release(struct matching *m)
{
	for (size_t i = 0; i < m->na; i++)
		rk_free(m->a[i].base);
	for (size_t i = 0; i < m->nb; i++)
		rk_free(m->b[i].base);
	rk_free(m->a);
	rk_free(m->b);
	rk_free(m->list);
	rk_free(m->pairs);
}

int rk_match(const struct rk_side *a, const struct rk_side *b, struct rk_pair **ret, size_t *ret_n,
	     struct rk_error *err)
{
	struct matching m = { 0 };
	int rc = 0;

	m.a = rk_calloc(a->nnames, sizeof(*m.a));
	m.b = rk_calloc(b->nnames, sizeof(*m.b));
	m.pairs = rk_calloc(a->nnames + b->nnames, sizeof(*m.pairs));
	if (!m.a || !m.b || !m.pairs)
		rc = rk_fail_nomem(err);
	if (rc == 0)
		rc = by_names(&m, a, b, err);
	if (rc == 0)
		rc = match_left(&m, err);
	if (rc == 0) {
		add_unmatched(&m);
		*ret = m.pairs;
		*ret_n = m.npairs;
		m.pairs = NULL;
	}
	release(&m);
	return rc;
}
