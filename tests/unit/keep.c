/* keep.c - the rows of one rank. */
#include <string.h>

#include "base/alloc.h"
#include "table/stages.h"
#include "tap.h"
#include "world.h"

/* Three batches: ranks 0 1 - 0 1 -, all rank 1, all without. */
struct ranks {
	struct rk_builder b;
	struct world *w;
	unsigned at;
};

static const struct rk_batch *make(void *arg)
{
	struct ranks *r = arg;
	int32_t *rank = rk_builder_column(&r->b, RK_R_RANK);
	int64_t *start = rk_builder_column(&r->b, RK_R_START);
	uint32_t *name = rk_builder_column(&r->b, RK_R_NAME);

	if (r->at == 3 || !rank || !start || !name)
		return NULL;
	rk_builder_reset(&r->b);
	for (size_t i = 0; i < 6; i++) {
		rank[i] = r->at ? 1 : (int32_t)(i % 3);
		start[i] = (int64_t)(r->at * 10 + i);
		name[i] = 0;
		if (rank[i] == 2 || r->at == 2)
			rk_builder_null(&r->b, RK_R_RANK, i);
		if (i == 4)
			rk_builder_null(&r->b, RK_R_NAME, i);
	}
	r->b.nrows = 6;
	r->at++;
	return rk_builder_batch(&r->b);
}

static const char *kept(struct world *w, struct ranks *r, int64_t rank, bool null)
{
	struct rk_source *rows;

	r->at = 0;
	w->text.len = 0;
	rows = world_source(rk_table_schema(RK_MARKERS), make, r);
	if (!CHECK(rk_keep_open(rows, RK_R_RANK, rank, null, &rows, &w->err) == 0))
		return "";
	return world_drain(w, rows);
}

static const char *kept_some(struct world *w, struct ranks *r, const int64_t *ranks, size_t n)
{
	struct rk_source *rows;

	r->at = 0;
	w->text.len = 0;
	rows = world_source(rk_table_schema(RK_MARKERS), make, r);
	if (!CHECK(rk_keep_some_open(rows, RK_R_RANK, ranks, n, n > 1, &rows, &w->err) == 0))
		return "";
	return world_drain(w, rows);
}

TEST(rows_of_some_ranks_are_kept_with_those_of_none)
{
	static const int64_t first[] = { 0 }, both[] = { -4, 0, 1, 9 }, none[] = { 5 };
	struct ranks r = { .at = 0 };
	struct world w;
	size_t lines = 0;

	world_open(&w, 1);
	CHECK(rk_builder_init(&r.b, rk_table_schema(RK_MARKERS), 6, NULL) == 0);
	CHECK_STR(kept_some(&w, &r, first, 1),
		  "name=|start_ns=0|rank=0\nname=|start_ns=3|rank=0\n");
	CHECK_STR(kept_some(&w, &r, none, 1), "");
	for (const char *at = kept_some(&w, &r, both, 4); *at; at++)
		lines += *at == '\n';
	CHECK_U64(lines, 18);
	rk_builder_release(&r.b);
	world_close(&w);
}

TEST(rows_of_one_rank_are_kept_and_no_others)
{
	struct ranks r = { .at = 0 };
	struct world w;

	world_open(&w, 1);
	CHECK(rk_builder_init(&r.b, rk_table_schema(RK_MARKERS), 6, NULL) == 0);
	CHECK_STR(kept(&w, &r, 0, false), "name=|start_ns=0|rank=0\nname=|start_ns=3|rank=0\n");
	CHECK_STR(kept(&w, &r, 1, false),
		  "name=|start_ns=1|rank=1\nstart_ns=4|rank=1\n"
		  "name=|start_ns=10|rank=1\nname=|start_ns=11|rank=1\nname=|start_ns=12|rank=1\n"
		  "name=|start_ns=13|rank=1\nstart_ns=14|rank=1\nname=|start_ns=15|rank=1\n");
	CHECK_STR(kept(&w, &r, 0, true), "name=|start_ns=2\nname=|start_ns=5\n"
					 "name=|start_ns=20\nname=|start_ns=21\nname=|start_ns=22\n"
					 "name=|start_ns=23\nstart_ns=24\nname=|start_ns=25\n");
	CHECK_STR(kept(&w, &r, 9, false), "");
	rk_builder_release(&r.b);
	world_close(&w);
}

TEST(keeping_rows_survives_each_failed_allocation)
{
	struct ranks r = { .at = 0 };
	struct world w;
	bool failed = true;

	world_open(&w, 1);
	CHECK(rk_builder_init(&r.b, rk_table_schema(RK_MARKERS), 6, NULL) == 0);
	make(&r); /* its columns are there */
	for (uint64_t n = 1; failed && n < 100; n++) {
		struct rk_source *rows = world_source(rk_table_schema(RK_MARKERS), make, &r);
		struct rk_error err = { 0 };
		const struct rk_batch *b;
		int rc;

		r.at = 0;
		rk_alloc_fail_after(n);
		rc = rk_keep_open(rows, RK_R_RANK, 0, false, &rows, &err);
		while (rc == 0 && (rc = rk_source_next(rows, &b, &err)) > 0)
			rc = 0;
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == (failed ? RK_E_NOMEM : 0));
		rk_source_close(rows);
	}
	CHECK(!failed);
	rk_builder_release(&r.b);
	world_close(&w);
}
