/* sort.c - both ways of sorting against a model: order, stability, every value and every null. */
#include "table/source.h"

/* The sort on disk once more with a store so small that its runs are merged in two steps. */
#define RK_SORT_WINDOW_BYTES (64 << 10)
#define rk_sort_spill_open small_spill_open
#include "table/sort_spill.c"
#undef rk_sort_spill_open
#undef RK_SORT_WINDOW_BYTES

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "world.h"

int rk_sort_spill_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		       struct rk_error *err);

enum { TIME, SERIAL, NAME, SMALL, FLAG, LATE, FIRST_WIDE, NFIELDS = FIRST_WIDE + 64 };

static struct rk_field fields[NFIELDS] = {
	{ "time", RK_I64 },  { "serial", RK_I64 }, { "name", RK_STR },
	{ "small", RK_I32 }, { "flag", RK_BOOL },  { "late", RK_F64 },
};
static struct rk_schema schema = { RK_KERNELS, LATE + 1, fields, TIME };

/* A table by rule: the time of row i is times[i], other values follow from i. */
struct table {
	const int64_t *times; /* NO_TIME: null */
	size_t n, at, batch;
	size_t late_from; /* the column LATE appears with this row */
	struct rk_builder b;
};

#define NO_TIME INT64_MIN

static bool is_null(size_t row, unsigned f)
{
	return f != SERIAL && (row * 31 + f * 7) % 5 == 0;
}

static void put(struct rk_builder *b, unsigned f, size_t i, uint64_t v)
{
	size_t size = rk_type_size(b->schema->fields[f].type);

	memcpy((char *)rk_builder_column(b, f) + i * size, &v, size);
}

static const struct rk_batch *next_batch(void *arg)
{
	struct table *t = arg;
	size_t n = t->n - t->at < t->batch ? t->n - t->at : t->batch;

	if (!n)
		return NULL;
	rk_builder_release(&t->b);
	CHECK_I64(rk_builder_init(&t->b, &schema, n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		size_t row = t->at + i;

		put(&t->b, TIME, i, (uint64_t)t->times[row]);
		put(&t->b, SERIAL, i, row);
		for (unsigned f = NAME; f < schema.nfields; f++)
			if (f != LATE || t->at >= t->late_from)
				put(&t->b, f, i, f == FLAG ? row & 1 : row + f);
		for (unsigned f = NAME; f < schema.nfields; f++)
			if (t->b.data[f] && is_null(row, f))
				rk_builder_null(&t->b, f, i);
		if (t->times[row] == NO_TIME)
			rk_builder_null(&t->b, TIME, i);
	}
	t->b.nrows = n;
	t->at += n;
	return rk_builder_batch(&t->b);
}

static const int64_t *model_times;

static int by_time(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int64_t tx = model_times[x], ty = model_times[y];

	if ((tx == NO_TIME) != (ty == NO_TIME))
		return tx == NO_TIME ? 1 : -1;
	if (tx != ty && tx != NO_TIME)
		return tx < ty ? -1 : 1;
	return x < y ? -1 : x > y;
}

static uint64_t value_at(const struct rk_batch *b, unsigned f, size_t i)
{
	size_t size = rk_type_size(b->schema->fields[f].type);
	uint64_t v = 0;

	memcpy(&v, (const char *)b->cols[f].data + i * size, size);
	return v;
}

/* Whether a row is what the rule says for the serial number in it. */
static bool row_is(const struct table *t, const struct rk_batch *b, size_t i, size_t row)
{
	size_t batch_at = row / t->batch * t->batch;

	if (value_at(b, SERIAL, i) != row)
		return false;
	if (rk_column_has(&b->cols[TIME], i) != (t->times[row] != NO_TIME))
		return false;
	if (t->times[row] != NO_TIME && value_at(b, TIME, i) != (uint64_t)t->times[row])
		return false;
	for (unsigned f = NAME; f < schema.nfields; f++) {
		bool want = !is_null(row, f) && (f != LATE || batch_at >= t->late_from);
		size_t size = rk_type_size(fields[f].type);
		uint64_t v = f == FLAG ? row & 1 : row + f;

		if (rk_column_has(&b->cols[f], i) != want)
			return false;
		if (want && value_at(b, f, i) != (size == 4 ? (uint32_t)v : v))
			return false;
	}
	return true;
}

typedef int open_sort(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		      struct rk_error *err);

/* 0, or the error; rows out of place fail the test, unless an error follows them. */
static int sorts(open_sort *open, struct table *t)
{
	size_t *order = malloc((t->n + 1) * sizeof(*order)), at = 0;
	struct rk_source *s = NULL;
	struct rk_error err = { 0 };
	const struct rk_batch *b;
	struct world w;
	bool good = true;
	int rc;

	for (size_t i = 0; i < t->n; i++)
		order[i] = i;
	model_times = t->times;
	qsort(order, t->n, sizeof(*order), by_time);
	world_open(&w, 1);
	t->at = 0;
	rc = open(world_source(&schema, next_batch, t), &w.ctx, &s, &err);
	while (rc >= 0 && (rc = rk_source_next(s, &b, &err)) > 0)
		for (size_t i = 0; good && i < b->nrows; i++)
			good = at < t->n && row_is(t, b, i, order[at++]);
	if (rc == 0 && !CHECK(good && at == t->n))
		printf("# at row %zu of %zu, batches of %zu\n", at, t->n, t->batch);
	rk_source_close(s);
	rk_builder_release(&t->b);
	world_close(&w);
	free(order);
	return rc;
}

/* The window may say that it cannot, never give a wrong order; the others must. */
static void sorts_every_way(struct table *t, bool window_can)
{
	int rc = sorts(rk_sort_window_open, t);

	CHECK_I64(rc, window_can ? 0 : RK_E_UNSORTED);
	CHECK_I64(sorts(rk_sort_spill_open, t), 0);
	CHECK_I64(sorts(small_spill_open, t), 0);
}

static int64_t *times_of(size_t n, int64_t (*time)(size_t i, uint64_t *seed), uint64_t seed)
{
	int64_t *times = malloc((n + 1) * sizeof(*times));

	for (size_t i = 0; i < n; i++)
		times[i] = time(i, &seed);
	return times;
}

static int64_t in_order(size_t i, uint64_t *seed)
{
	(void)seed;
	return (int64_t)i * 10;
}

static int64_t nearly(size_t i, uint64_t *seed)
{
	return (int64_t)i * 10 + (int64_t)(world_random(seed) % 5000) - 100;
}

static int64_t anything(size_t i, uint64_t *seed)
{
	uint64_t v = world_random(seed);

	(void)i;
	return v % 50 == 0 ? NO_TIME : (int64_t)v == NO_TIME ? 0 : (int64_t)v;
}

static int64_t many_equal(size_t i, uint64_t *seed)
{
	(void)i;
	return (int64_t)(world_random(seed) % 7);
}

static int64_t some_missing(size_t i, uint64_t *seed)
{
	return world_random(seed) % 9 == 0 ? NO_TIME : nearly(i, seed);
}

static int64_t backwards(size_t i, uint64_t *seed)
{
	(void)seed;
	return -(int64_t)i;
}

static int64_t extremes(size_t i, uint64_t *seed)
{
	static const int64_t all[] = { INT64_MAX - 1, INT64_MIN + 1, 0, -1, 1,
				       INT64_MAX - 2, NO_TIME };

	(void)i;
	return all[world_random(seed) % 7];
}

static void check(size_t n, size_t batch, int64_t (*time)(size_t, uint64_t *), bool window_can)
{
	int64_t *times = times_of(n, time, n + 17);
	struct table t = { .times = times, .n = n, .batch = batch };

	sorts_every_way(&t, window_can);
	free(times);
}

TEST(sorting_few_rows)
{
	check(0, 10, in_order, true);
	check(1, 10, anything, true);
	check(2, 1, backwards, true);
	check(63, 10, anything, true);
	check(64, 64, backwards, true);
	check(1000, 7, many_equal, true);
	check(1000, 333, extremes, true);
	check(5000, 8192, some_missing, true);
}

/* With 45 wide columns the window holds some 53000 rows. */
static void wide_schema(unsigned extra)
{
	for (unsigned f = FIRST_WIDE; f < NFIELDS; f++)
		fields[f] = (struct rk_field){ "wide", RK_I64 };
	schema.nfields = FIRST_WIDE + extra;
}

TEST(sorting_more_rows_than_fit_the_window)
{
	wide_schema(45);
	check(70000, 8192, in_order, true);
	check(70000, 5000, nearly, true);
	check(100000, 70000, nearly, true); /* a batch larger than the window */
	check(70000, 8192, many_equal, false);
	check(70000, 8192, backwards, false);
	check(70000, 8192, anything, false);
	schema.nfields = LATE + 1;
}

TEST(sorting_rows_without_a_time_past_the_window)
{
	wide_schema(45);
	/* those without a time come last, so the window can hold them only while there is room */
	check(50000, 8192, some_missing, true);
	schema.nfields = LATE + 1;
	check(300000, 8192, anything, true);
}

TEST(sorting_with_columns_that_appear_late)
{
	int64_t *times = times_of(20000, nearly, 3);
	struct table t = { .times = times, .n = 20000, .batch = 1000, .late_from = 7000 };

	sorts_every_way(&t, true);
	t.late_from = 20000;
	sorts_every_way(&t, true);
	free(times);
}

TEST(sorting_with_more_than_64_columns)
{
	wide_schema(64);
	check(3000, 100, anything, true);
	schema.nfields = LATE + 1;
}

TEST(sorting_runs_in_two_steps)
{
	int64_t *times = times_of(300000, anything, 3);
	struct table t = { .times = times, .n = 300000, .batch = 8192, .late_from = 200000 };

	/* 64 KiB hold some 1500 rows: about 200 runs, more than are merged at once */
	CHECK_I64(sorts(small_spill_open, &t), 0);
	free(times);
}

TEST(a_table_too_wide_to_sort_is_refused)
{
	enum { MANY = 2000 };
	static struct rk_field many[MANY];
	struct rk_schema too_wide = { RK_KERNELS, MANY, many, 0 };
	struct table t = { 0 };
	struct rk_source *s = NULL;
	struct rk_error err = { 0 };
	struct world w;

	for (unsigned f = 0; f < MANY; f++)
		many[f] = (struct rk_field){ "f", RK_I64 };
	world_open(&w, 1);
	CHECK_I64(rk_sort_spill_open(world_source(&too_wide, next_batch, &t), &w.ctx, &s, &err),
		  RK_E_LIMIT);
	CHECK_I64(err.code, RK_E_LIMIT);
	world_close(&w);
}

TEST(a_table_without_time_passes_through)
{
	struct rk_schema timeless = { RK_COUNTERS, 1, fields, -1 };
	struct rk_source *in, *out = NULL;
	struct table t = { 0 };
	struct world w;

	world_open(&w, 1);
	in = world_source(&timeless, next_batch, &t);
	CHECK_I64(rk_sort_window_open(in, &w.ctx, &out, NULL), 0);
	CHECK(out == in);
	CHECK_I64(rk_sort_spill_open(in, &w.ctx, &out, NULL), 0);
	CHECK(out == in);
	rk_source_close(in);
	world_close(&w);
}

/* Batches made beforehand: the failures are for the sort alone. */
struct ready {
	struct table made[6];
	size_t at;
};

static const struct rk_batch *next_ready(void *arg)
{
	struct ready *r = arg;

	return r->at < 6 ? rk_builder_batch(&r->made[r->at++].b) : NULL;
}

static int sort_ready(open_sort *open, struct ready *r, uint64_t fail_at, struct rk_error *err)
{
	struct rk_source *s = NULL, *rows = world_source(&schema, next_ready, r);
	const struct rk_batch *b;
	struct world w;
	int rc;

	world_open(&w, 1);
	r->at = 0;
	rk_alloc_fail_after(fail_at);
	rc = open(rows, &w.ctx, &s, err);
	while (rc >= 0 && (rc = rk_source_next(s, &b, err)) > 0)
		;
	rk_source_close(s);
	world_close(&w);
	return rc;
}

TEST(sorting_survives_every_failed_allocation)
{
	int64_t *times = times_of(3000, nearly, 1);
	open_sort *const ways[] = { rk_sort_window_open, rk_sort_spill_open };
	struct ready r = { 0 };

	for (size_t i = 0; i < 6; i++) {
		r.made[i] = (struct table){ times, 3000, i * 500, 500, 1500, { 0 } };
		CHECK(next_batch(&r.made[i]) != NULL);
	}
	for (int way = 0; way < 2; way++) {
		for (uint64_t n = 1; n < 2000; n++) {
			struct rk_error err = { 0 };
			int rc = sort_ready(ways[way], &r, n, &err);

			if (!rk_alloc_failed()) {
				CHECK_I64(rc, 0);
				break;
			}
			CHECK_I64(rc, RK_E_NOMEM);
			CHECK_I64(err.code, RK_E_NOMEM);
		}
		rk_alloc_fail_after(0);
	}
	for (size_t i = 0; i < 6; i++)
		rk_builder_release(&r.made[i].b);
	free(times);
}

TEST(keys_are_sorted_in_place_or_beside)
{
	enum { N = 3000 };
	struct rk_sort_key *a = calloc(N, sizeof(*a)), *b = calloc(N, sizeof(*b)), *got;
	uint64_t seed = 5;

	for (unsigned range = 1; range < 64; range += 9) {
		for (uint32_t i = 0; i < N; i++)
			a[i] = (struct rk_sort_key){ (int64_t)(world_random(&seed) >> range) -
							     (int64_t)(UINT64_MAX >> (range + 1)),
						     i };
		got = rk_sort_keys(a, b, N);
		for (uint32_t i = 1; i < N; i++)
			if (!CHECK(got[i - 1].key < got[i].key ||
				   (got[i - 1].key == got[i].key && got[i - 1].at < got[i].at)))
				break;
	}
	free(a);
	free(b);
}
