/* join.c - sets of counters as columns, and values on their way into them. */
#include "table/join.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

static uint32_t id_of(struct world *w, const char *name)
{
	uint32_t id = 0;

	CHECK_I64(rk_strtab_add(w->ctx.names, name, strlen(name), &id, NULL), 0);
	return id;
}

static void add(struct rk_counter_set *set, struct world *w, const char *name)
{
	CHECK_I64(rk_counter_set_add(set, &w->ctx, id_of(w, name), NULL), 0);
}

/* "A B " - the names of the columns. */
static const char *columns(struct rk_counter_set *set, struct world *w)
{
	rk_bytes_clear(&w->text);
	for (size_t i = 0; i < set->n; i++)
		rk_bytes_printf(&w->text, "%s ",
				rk_strtab_borrow(w->ctx.names, set->columns[i].name, NULL));
	return rk_bytes_str(&w->text);
}

/* "0 2 " - the columns that a name feeds. */
static const char *fed_by(struct rk_counter_set *set, struct world *w, const char *name)
{
	uint32_t id = id_of(w, name);
	size_t at = 0;
	int column;

	rk_bytes_clear(&w->text);
	while ((column = rk_counter_set_next(set, id, &at)) >= 0)
		rk_bytes_printf(&w->text, "%d ", column);
	return rk_bytes_str(&w->text);
}

TEST(a_counter_has_one_column)
{
	struct rk_counter_set set = { 0 };
	struct world w;

	world_open(&w, 1);
	add(&set, &w, "SQ_WAVES");
	add(&set, &w, "TCC_HIT[0]");
	add(&set, &w, "SQ_WAVES");
	add(&set, &w, "");
	CHECK_STR(columns(&set, &w), "SQ_WAVES TCC_HIT[0] ");
	CHECK_STR(fed_by(&set, &w, "TCC_HIT[0]"), "1 ");
	CHECK_STR(fed_by(&set, &w, "unheard of"), "");
	CHECK_I64(rk_counter_set_schema(&set, &w.ctx, NULL), 0);
	CHECK_U64(set.schema.nfields, RK_K_NFIELDS + 2);
	CHECK_STR(set.schema.fields[RK_K_NFIELDS].name, "SQ_WAVES");
	CHECK(!set.more);
	rk_counter_set_release(&set);
	world_close(&w);
}

TEST(a_counter_named_like_a_column_of_kernels_has_another_one)
{
	struct rk_counter_set set = { 0 };
	struct world w;

	world_open(&w, 1);
	add(&set, &w, "duration_ns");
	add(&set, &w, "PID"); /* DuckDB ignores case */
	add(&set, &w, "regs");
	add(&set, &w, "counter_regs");
	CHECK_I64(rk_counter_set_schema(&set, &w.ctx, NULL), 0);
	CHECK_U64(set.schema.nfields, RK_K_NFIELDS + 4);
	CHECK_STR(set.schema.fields[RK_K_NFIELDS].name, "counter_duration_ns");
	CHECK_STR(set.schema.fields[RK_K_NFIELDS + 1].name, "counter_PID");
	CHECK_STR(set.schema.fields[RK_K_NFIELDS + 2].name, "counter_counter_regs");
	CHECK_STR(set.schema.fields[RK_K_NFIELDS + 3].name, "counter_regs");
	CHECK_STR(fed_by(&set, &w, "regs"), "2 ");
	CHECK_U64(world_warned(&w, "counter-renamed"), 1);
	rk_counter_set_release(&set);
	world_close(&w);
}

TEST(a_name_feeds_several_columns_and_a_column_has_several_names)
{
	struct rk_counter_set set = { 0 };
	unsigned both, one;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_counter_set_column(&set, id_of(&w, "sum"), true, &both, NULL), 0);
	CHECK_I64(rk_counter_set_column(&set, id_of(&w, "one"), false, &one, NULL), 0);
	CHECK_STR(fed_by(&set, &w, "sum"), "");
	CHECK_I64(rk_counter_set_feed(&set, id_of(&w, "X[0]"), both, NULL), 0);
	CHECK_I64(rk_counter_set_feed(&set, id_of(&w, "X[1]"), both, NULL), 0);
	CHECK_I64(rk_counter_set_feed(&set, id_of(&w, "X[0]"), one, NULL), 0);
	CHECK_STR(fed_by(&set, &w, "X[0]"), "0 1 ");
	CHECK_STR(fed_by(&set, &w, "X[1]"), "0 ");
	rk_counter_set_release(&set);
	world_close(&w);
}

TEST(a_thousand_names_are_found_again)
{
	struct rk_counter_set set = { 0 };
	struct world w;
	char name[32], want[16];

	world_open(&w, 1);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "C%u", i);
		add(&set, &w, name);
	}
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "C%u", i);
		snprintf(want, sizeof(want), "%u ", i);
		if (!CHECK_STR(fed_by(&set, &w, name), want))
			break;
	}
	rk_counter_set_release(&set);
	world_close(&w);
}

TEST(of_too_many_columns_instances_go_first_all_or_none)
{
	struct rk_counter_set set = { 0 };
	struct world w;
	char name[32];

	world_open(&w, 1);
	/* A and C fit beside the plain ones, B does not, and they are mixed */
	for (unsigned i = 0; i < 900; i++) {
		snprintf(name, sizeof(name), "A[%u]", i);
		add(&set, &w, i < 500 ? name : "A[0]");
		snprintf(name, sizeof(name), "B[%u]", i);
		add(&set, &w, name);
		snprintf(name, sizeof(name), "C[%u]", i);
		add(&set, &w, i < 500 ? name : "C[0]");
	}
	for (unsigned i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "PLAIN_%u", i);
		add(&set, &w, name);
	}
	CHECK_U64(set.n, 500 + 900 + 500 + 24);
	CHECK_I64(rk_counter_set_schema(&set, &w.ctx, NULL), 0);
	CHECK_U64(set.n, RK_JOIN_MAX_COUNTERS);
	CHECK(set.more);
	CHECK_STR(fed_by(&set, &w, "A[0]"), "0 ");
	CHECK_STR(fed_by(&set, &w, "C[0]"), "1 ");
	CHECK_STR(fed_by(&set, &w, "B[0]"), "");
	CHECK_STR(fed_by(&set, &w, "B[899]"), "");
	CHECK_STR(fed_by(&set, &w, "A[499]"), "998 ");
	CHECK_STR(fed_by(&set, &w, "PLAIN_0"), "1000 ");
	CHECK_STR(fed_by(&set, &w, "PLAIN_23"), "1023 ");
	CHECK_STR(set.schema.fields[RK_K_NFIELDS + 1023].name, "PLAIN_23");
	rk_counter_set_release(&set);
	world_close(&w);
}

TEST(of_too_many_plain_columns_the_last_go)
{
	struct rk_counter_set set = { 0 };
	struct world w;
	char name[32];

	world_open(&w, 1);
	add(&set, &w, "X[0]");
	for (unsigned i = 0; i < 1030; i++) {
		snprintf(name, sizeof(name), "PLAIN_%u", i);
		add(&set, &w, name);
	}
	CHECK_I64(rk_counter_set_schema(&set, &w.ctx, NULL), 0);
	CHECK_U64(set.n, RK_JOIN_MAX_COUNTERS);
	CHECK_STR(fed_by(&set, &w, "X[0]"), "");
	CHECK_STR(fed_by(&set, &w, "PLAIN_1023"), "1023 ");
	CHECK_STR(fed_by(&set, &w, "PLAIN_1024"), "");
	rk_counter_set_release(&set);
	world_close(&w);
}

/* ---- values ---- */

enum { PARTS = 100 }; /* more than one mask holds */

struct sums {
	struct world w;
	struct rk_counter_set set;
	struct rk_matrix *m;
	uint32_t part[PARTS], plain;
};

/* Column 0 is the sum of X[0] ... X[99], column 1 is PLAIN. Dispatches 1 to 3. */
static void sums_open(struct sums *s)
{
	unsigned sum, one;
	char name[32];

	memset(s, 0, sizeof(*s));
	world_open(&s->w, 1);
	CHECK_I64(rk_counter_set_column(&s->set, id_of(&s->w, "X"), true, &sum, NULL), 0);
	CHECK_I64(rk_counter_set_column(&s->set, id_of(&s->w, "one"), false, &one, NULL), 0);
	for (unsigned i = 0; i < PARTS; i++) {
		snprintf(name, sizeof(name), "X[%u]", i);
		s->part[i] = id_of(&s->w, name);
		CHECK_I64(rk_counter_set_feed(&s->set, s->part[i], sum, NULL), 0);
	}
	s->plain = id_of(&s->w, "PLAIN");
	CHECK_I64(rk_counter_set_feed(&s->set, s->plain, one, NULL), 0);
	CHECK_I64(rk_counter_set_schema(&s->set, &s->w.ctx, NULL), 0);
	CHECK_U64(s->set.width, 2 + 3);
	CHECK_I64(rk_matrix_new(&s->w.ctx, (unsigned)s->set.width, &s->m, NULL), 0);
	for (int64_t d = 1; d < 4; d++)
		CHECK_I64(rk_matrix_note(s->m, 7, d, NULL), 0);
	CHECK_I64(rk_matrix_layout(s->m, NULL), 0);
}

static void put(struct sums *s, uint32_t id, int64_t dispatch, double value)
{
	CHECK_I64(rk_join_put(s->m, &s->set, id, 7, dispatch, value, NULL), 0);
}

struct three {
	struct rk_column cols[RK_K_NFIELDS];
	struct rk_batch batch;
	int64_t ids[3], pids[3];
	bool given;
};

static const struct rk_batch *three_rows(void *arg)
{
	struct three *t = arg;

	if (t->given)
		return NULL;
	t->given = true;
	for (int i = 0; i < 3; i++) {
		t->ids[i] = i + 1;
		t->pids[i] = 7;
	}
	t->cols[RK_K_DISPATCH].data = t->ids;
	t->cols[RK_K_PID].data = t->pids;
	t->batch = (struct rk_batch){ rk_table_schema(RK_KERNELS), 3, t->cols };
	return &t->batch;
}

/* The joined rows as text; the matrix goes. */
static const char *joined(struct sums *s)
{
	struct three rows = { 0 };
	struct rk_source *source = world_source(rk_table_schema(RK_KERNELS), three_rows, &rows);
	struct rk_matrix *m = s->m;

	s->m = NULL;
	if (rk_join_open(source, m, &s->set, false, &source, &s->w.err) < 0)
		return NULL;
	return world_drain(&s->w, source);
}

static void sums_close(struct sums *s)
{
	rk_matrix_free(s->m);
	rk_counter_set_release(&s->set);
	world_close(&s->w);
}

TEST(parts_of_a_sum_are_taken_once_and_all_are_needed)
{
	struct sums s;

	sums_open(&s);
	for (unsigned i = 0; i < PARTS; i++) {
		put(&s, s.part[i], 1, i);
		put(&s, s.part[i], 2, 1);
		put(&s, s.part[i], 2, 1000); /* measured again in another pass */
		if (i != 70)
			put(&s, s.part[i], 3, 1);
	}
	put(&s, s.plain, 1, 5);
	put(&s, s.plain, 1, 6);
	put(&s, s.plain, 3, 0);
	put(&s, s.plain, 9, 1); /* no such dispatch */
	CHECK_STR(joined(&s), "dispatch_id=1|pid=7|X=4950|one=5\n"
			      "dispatch_id=2|pid=7|X=100\n"
			      "dispatch_id=3|pid=7|one=0\n");
	sums_close(&s);
}

TEST(parts_that_no_dispatch_has_are_not_missed)
{
	struct sums s;

	sums_open(&s);
	for (unsigned i = 0; i < 32; i++) {
		put(&s, s.part[i], 1, 2);
		put(&s, s.part[i], 3, 3);
	}
	CHECK_STR(joined(&s), "dispatch_id=1|pid=7|X=64\n"
			      "dispatch_id=2|pid=7\n"
			      "dispatch_id=3|pid=7|X=96\n");
	sums_close(&s);
}

static int all_of_it(struct world *w)
{
	struct rk_counter_set set = { 0 };
	unsigned column;
	int rc = rk_counter_set_column(&set, 1, true, &column, &w->err);

	for (uint32_t i = 1; rc == 0 && i < 300; i++)
		rc = rk_counter_set_feed(&set, i, column, &w->err);
	if (rc == 0)
		rc = rk_counter_set_add(&set, &w->ctx, 1, &w->err);
	if (rc == 0)
		rc = rk_counter_set_schema(&set, &w->ctx, &w->err);
	rk_counter_set_release(&set);
	return rc;
}

TEST(sets_of_counters_survive_every_failed_allocation)
{
	bool failed = true;
	uint64_t n = 1;

	for (; failed && n < 100; n++) {
		struct world w;
		int rc;

		world_open(&w, 1);
		id_of(&w, "A");
		rk_alloc_fail_after(n);
		rc = all_of_it(&w);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		world_close(&w);
	}
	CHECK(n > 5 && !failed);
}
