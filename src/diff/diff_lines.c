/* diff_lines.c - copies by direction, API calls by function, markers by kind. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diff/diff_profile_impl.h"

#define BIT(f) (UINT64_C(1) << (f))

static const struct table {
	enum rk_table table;
	enum rk_line_kind kind;
	unsigned name, duration;
	int bytes;
} tables[] = {
	{ RK_MEMCPY, RK_LINES_COPIES, RK_C_DIRECTION, RK_C_DURATION, RK_C_BYTES },
	{ RK_API, RK_LINES_API, RK_A_FUNCTION, RK_A_DURATION, -1 },
	{ RK_MARKERS, RK_LINES_MARKERS, RK_R_NAME, RK_R_DURATION, -1 },
};

static const struct table *table_of(enum rk_table t)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].table == t)
			return &tables[i];
	return NULL;
}

uint64_t rk_lines_wants(enum rk_table t)
{
	const struct table *k = table_of(t);

	if (!k)
		return 0;
	return BIT(k->name) | BIT(k->duration) | (k->bytes < 0 ? 0 : BIT(k->bytes)) |
	       (t == RK_MARKERS ? BIT(RK_R_KIND) : 0) | (t == RK_MEMCPY ? BIT(RK_C_START) : 0);
}

static int line_of(struct rk_line_sums *s, uint32_t id, size_t *ret, struct rk_error *err)
{
	uint32_t *at = rk_idmap_at(&s->by_id, id);
	void *grown;

	if (!at)
		return rk_fail_nomem(err);
	if (!*at && s->n >= RK_PROFILE_LINES) {
		s->lost++;
		*ret = s->n;
		return 0;
	}
	if (!*at) {
		grown = rk_grow(s->v, &s->cap, s->n + 1, sizeof(*s->v));
		if (!grown)
			return rk_fail_nomem(err);
		s->v = grown;
		memset(&s->v[s->n], 0, sizeof(*s->v));
		s->v[s->n++].id = id;
		*at = (uint32_t)s->n;
	}
	*ret = *at - 1;
	return 0;
}

/*
 * What a marker is counted as. Synchronisation on a queue has a name of its own; what a program
 * writes on its marks ("loss 0.31") is another thing in every run, so of those the kind counts.
 */
static uint32_t marker_name(const struct rk_profiler *p, const struct rk_batch *b, size_t row)
{
	uint32_t kind = rk_batch_id(b, RK_R_KIND, row);

	if (strcmp(rk_strtab_borrow(p->ctx->names, kind, NULL), "queue") == 0)
		return rk_batch_id(b, RK_R_NAME, row);
	return kind;
}

int rk_lines_add(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	const struct table *t = table_of(b->schema->table);
	struct rk_line_sums *s = &p->lines[t->kind];

	for (size_t i = 0; i < b->nrows; i++) {
		uint32_t id = t->kind == RK_LINES_MARKERS ? marker_name(p, b, i) :
							    rk_batch_id(b, t->name, i);
		int64_t d = rk_batch_int(b, t->duration, i, 0);
		int64_t bytes = t->bytes < 0 ? 0 : rk_batch_int(b, (unsigned)t->bytes, i, 0);
		size_t at;
		int rc = line_of(s, id, &at, err);

		if (rc < 0)
			return rc;
		if (at == s->n)
			continue;
		s->v[at].calls++;
		s->v[at].bytes =
			rk_profile_sum(s->v[at].bytes, rk_profile_clamp(bytes > 0 ? bytes : 0));
		s->v[at].total_ns =
			rk_profile_sum(s->v[at].total_ns, rk_profile_clamp(d > 0 ? d : 0));
	}
	s->known = true;
	return 0;
}

int rk_lines_add_stats(struct rk_profiler *p, enum rk_line_kind kind, uint32_t id, uint64_t calls,
		       int64_t total_ns, struct rk_error *err)
{
	struct rk_line_sums *s = &p->lines[kind];
	size_t at;
	int rc = line_of(s, id, &at, err);

	if (rc < 0)
		return rc;
	s->known = true;
	if (at == s->n)
		return 0;
	s->v[at].calls += calls;
	s->v[at].total_ns = rk_profile_sum(s->v[at].total_ns, rk_profile_clamp(total_ns));
	return 0;
}

/* Rows of a rank come together, as a rule. */
static int find_rank(struct rk_profiler *p, int64_t rank, struct rk_error *err)
{
	char name[32];
	uint32_t id;
	int len = snprintf(name, sizeof(name), "rank %" PRId64, rank);
	int rc = rk_strtab_add(p->ctx->names, name, (size_t)len, &id, err);

	if (rc == 0)
		rc = line_of(&p->lines[RK_LINES_RANKS], id, &p->rank_at, err);
	p->rank = rank;
	p->lines[RK_LINES_RANKS].known = true;
	return rc;
}

int rk_lines_add_rank(struct rk_profiler *p, int64_t rank, int64_t duration, struct rk_error *err)
{
	struct rk_line_sums *s = &p->lines[RK_LINES_RANKS];
	int rc = s->known && rank == p->rank ? 0 : find_rank(p, rank, err);

	if (rc < 0 || p->rank_at >= s->n)
		return rc;
	s->v[p->rank_at].calls++;
	s->v[p->rank_at].total_ns = rk_profile_sum(s->v[p->rank_at].total_ns,
						   rk_profile_clamp(duration > 0 ? duration : 0));
	return 0;
}

static int by_name(const void *pa, const void *pb)
{
	const struct rk_profile_line *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

static int give(const struct rk_profiler *p, const struct rk_line_sums *s,
		struct rk_profile_lines *ret, struct rk_error *err)
{
	ret->known = s->known;
	ret->v = rk_calloc(s->n, sizeof(*ret->v));
	if (!ret->v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < s->n; i++) {
		const char *name = rk_strtab_borrow(p->ctx->names, s->v[i].id, NULL);

		ret->v[i] = (struct rk_profile_line){ .name = rk_strdup(name),
						      .calls = s->v[i].calls,
						      .bytes = s->v[i].bytes,
						      .total_ns = s->v[i].total_ns };
		if (!ret->v[i].name)
			return rk_fail_nomem(err);
		ret->n++;
	}
	qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return 0;
}

int rk_lines_finish(struct rk_profiler *p, struct rk_profile *ret, struct rk_error *err)
{
	struct rk_profile_lines *lines[RK_NLINES] = { &ret->copies, &ret->api, &ret->markers,
						      &ret->ranks };
	static const char *const words[RK_NLINES] = { "directions of copies", "API functions",
						      "kinds of markers", "ranks" };
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < RK_NLINES; i++) {
		rc = give(p, &p->lines[i], lines[i], err);
		if (p->lines[i].lost)
			rk_list_addf(&ret->doubts, "more than %d %s", RK_PROFILE_LINES, words[i]);
	}
	return rc;
}
