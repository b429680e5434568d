/* copy_matrix.c - copies by where they come from and go to. */
#include "ranks/rank_load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NONE INT64_MIN
#define H2D "MEMORY_COPY_HOST_TO_DEVICE"
#define D2H "MEMORY_COPY_DEVICE_TO_HOST"
#define D2D "MEMORY_COPY_DEVICE_TO_DEVICE"

struct row {
	const char *node, *direction;
	int64_t src, dst, bytes, duration;
};

static void put(struct rk_builder *b, unsigned f, size_t i, int64_t v)
{
	((int64_t *)rk_builder_column(b, f))[i] = v;
	if (v == NONE)
		rk_builder_null(b, f, i);
}

static void put_text(struct world *w, struct rk_builder *b, unsigned f, size_t i, const char *text)
{
	uint32_t id = 0;

	if (text)
		CHECK_I64(rk_strtab_add(w->ctx.names, text, strlen(text), &id, NULL), 0);
	((uint32_t *)rk_builder_column(b, f))[i] = id;
	if (!text)
		rk_builder_null(b, f, i);
}

static int matrix(struct world *w, struct rk_builder *b, struct rk_ranks_copy **ret, size_t *ret_n)
{
	struct rk_copy_matrix *m = NULL;
	int rc = rk_copy_matrix_new(&w->ctx, &m, &w->err);

	if (rc == 0)
		rc = rk_copy_matrix_add(m, rk_builder_batch(b), &w->err);
	if (rc == 0)
		rc = rk_copy_matrix_finish(m, ret, ret_n, &w->err);
	rk_copy_matrix_free(m);
	return rc;
}

static void fill(struct world *w, struct rk_builder *b, const struct row *r, size_t n)
{
	CHECK_I64(rk_builder_init(b, rk_table_schema(RK_MEMCPY), n, NULL), 0);
	for (size_t i = 0; i < n; i++, b->nrows++) {
		put_text(w, b, RK_C_NODE, i, r[i].node);
		put_text(w, b, RK_C_DIRECTION, i, r[i].direction);
		put(b, RK_C_SRC, i, r[i].src);
		put(b, RK_C_DST, i, r[i].dst);
		put(b, RK_C_BYTES, i, r[i].bytes);
		put(b, RK_C_DURATION, i, r[i].duration);
	}
}

static void gives(const struct row *r, size_t n, const char *want)
{
	struct rk_ranks_copy *v = NULL;
	struct rk_builder b;
	struct world w;
	size_t k = 0;

	world_open(&w, 1);
	fill(&w, &b, r, n);
	CHECK_I64(matrix(&w, &b, &v, &k), 0);
	for (size_t i = 0; i < k; i++)
		rk_bytes_printf(&w.text, "%s %s %lld>%lld: %llu, %lld B, %lld ns, %g GB/s\n",
				v[i].node, v[i].direction + strlen("MEMORY_COPY_"),
				(long long)v[i].src, (long long)v[i].dst,
				(unsigned long long)v[i].calls, (long long)v[i].bytes,
				(long long)v[i].time_ns, isnan(v[i].gb_per_s) ? -1 : v[i].gb_per_s);
	CHECK_STR(rk_bytes_str(&w.text), want);
	CHECK_STR(world_warnings(&w), "");
	rk_free(v);
	rk_builder_release(&b);
	world_close(&w);
}

TEST(copies_are_added_up_by_node_ends_and_direction)
{
	/* the host is agent 0 here: its number says nothing */
	static const struct row r[] = {
		{ "n2", H2D, 0, 4, 1000, 100 },   { "n1", D2D, 5, 4, 4000, 100 },
		{ "n1", H2D, 0, 4, 1000, 100 },   { "n1", H2D, 0, 4, 3000, 100 },
		{ "n1", D2H, 4, 0, 10, 1 },       { "n1", D2D, 4, 5, 4000, 50 },
		{ "n1", H2D, NONE, 5, 2000, 10 }, { NULL, H2D, NONE, NONE, 2000, 10 },
	};

	gives(r, COUNT(r),
	      " HOST_TO_DEVICE -1>-1: 1, 2000 B, 10 ns, 200 GB/s\n"
	      "n1 HOST_TO_DEVICE -1>4: 2, 4000 B, 200 ns, 20 GB/s\n"
	      "n1 HOST_TO_DEVICE -1>5: 1, 2000 B, 10 ns, 200 GB/s\n"
	      "n1 DEVICE_TO_HOST 4>-1: 1, 10 B, 1 ns, 10 GB/s\n"
	      "n1 DEVICE_TO_DEVICE 4>5: 1, 4000 B, 50 ns, 80 GB/s\n"
	      "n1 DEVICE_TO_DEVICE 5>4: 1, 4000 B, 100 ns, 40 GB/s\n"
	      "n2 HOST_TO_DEVICE -1>4: 1, 1000 B, 100 ns, 10 GB/s\n");
}

TEST(bytes_that_no_copy_has_are_not_known)
{
	static const struct row r[] = {
		{ "n", H2D, 0, 1, NONE, 100 }, { "n", H2D, 0, 1, NONE, 100 },
		{ "n", H2D, 0, 2, NONE, 100 }, { "n", H2D, 0, 2, 500, 50 },
		{ "n", H2D, 0, 3, 700, NONE }, { "n", H2D, 0, 4, 700, -5 },
		{ "n", H2D, 0, 5, 0, 10 },     { "n", H2D, 0, 6, INT64_MAX, INT64_MAX },
		{ "n", H2D, 0, 6, 1, 1 },
	};

	gives(r, COUNT(r),
	      "n HOST_TO_DEVICE -1>1: 2, -1 B, 200 ns, -1 GB/s\n"
	      "n HOST_TO_DEVICE -1>2: 2, 500 B, 150 ns, 10 GB/s\n"
	      "n HOST_TO_DEVICE -1>3: 1, 700 B, 0 ns, -1 GB/s\n"
	      "n HOST_TO_DEVICE -1>4: 1, 700 B, 0 ns, -1 GB/s\n"
	      "n HOST_TO_DEVICE -1>5: 1, 0 B, 10 ns, 0 GB/s\n"
	      "n HOST_TO_DEVICE -1>6: 2, 9223372036854775807 B, 9223372036854775807 ns, 1 GB/s\n");
}

TEST(copies_between_too_many_places_are_reported)
{
	enum { MORE = RK_COPY_CELLS + 10 };
	static struct row r[MORE];
	struct rk_ranks_copy *v = NULL;
	struct rk_builder b;
	struct world w;
	size_t k = 0;

	for (int i = 0; i < MORE; i++)
		r[i] = (struct row){ "n", D2D, i, i, 8, 8 };
	world_open(&w, 1);
	fill(&w, &b, r, MORE);
	CHECK_I64(matrix(&w, &b, &v, &k), 0);
	CHECK_U64(k, RK_COPY_CELLS);
	CHECK_STR(world_warnings(&w), "many-copy-places:10 ");
	rk_free(v);
	rk_builder_release(&b);
	world_close(&w);
}

TEST(copies_without_memory_fail_cleanly)
{
	static struct row r[200];
	bool failed = true;

	for (int i = 0; i < (int)COUNT(r); i++)
		r[i] = (struct row){ "n", D2D, i, 0, 8, 8 };
	for (uint64_t n = 1; failed && n < 100; n++) {
		struct rk_ranks_copy *v = NULL;
		struct rk_builder b;
		struct world w;
		size_t k = 0;
		int rc;

		world_open(&w, 1);
		fill(&w, &b, r, COUNT(r));
		rk_alloc_fail_after(n);
		rc = matrix(&w, &b, &v, &k);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc < 0 ? rc == RK_E_NOMEM && !v : k == COUNT(r));
		rk_free(v);
		rk_builder_release(&b);
		world_close(&w);
	}
	CHECK(!failed);
}
