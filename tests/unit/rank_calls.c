/* rank_calls.c - collectives of ranks out of their rows, and the clocks that follow from them. */
#include "ranks/rank_clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

struct row {
	int64_t rank, start, duration;
	const char *name;
};

/* Columns of a table, as rank_calls.c sees them. */
static void put_rows(struct world *w, struct rk_rank_calls *c, enum rk_table t,
		     const struct row *rows, size_t n, int want)
{
	const bool kernels = t == RK_KERNELS;
	struct rk_builder b;

	CHECK_I64(rk_builder_init(&b, rk_table_schema(t), n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t name = 0;

		rk_strtab_add(w->ctx.names, rows[i].name, strlen(rows[i].name), &name, NULL);
		((uint32_t *)rk_builder_column(&b, kernels ? RK_K_NAME : RK_A_FUNCTION))[i] = name;
		((int64_t *)rk_builder_column(&b, kernels ? RK_K_START : RK_A_START))[i] =
			rows[i].start;
		((int64_t *)rk_builder_column(&b, kernels ? RK_K_DURATION : RK_A_DURATION))[i] =
			rows[i].duration;
		((int32_t *)rk_builder_column(&b, kernels ? RK_K_RANK : RK_A_RANK))[i] =
			(int32_t)rows[i].rank;
		b.nrows++;
	}
	CHECK_I64(rk_rank_calls_add(c, rk_builder_batch(&b), &w->err), want);
	rk_builder_release(&b);
}

#define PUT(w, c, t, rows) put_rows(w, c, t, rows, sizeof(rows) / sizeof((rows)[0]), 0)

static struct rk_rank_calls *calls_of(struct world *w, const int64_t *ranks, size_t n)
{
	struct rk_rank_calls *c = NULL;

	CHECK_I64(rk_rank_calls_new(&w->ctx, ranks, n, &c, &w->err), 0);
	return c;
}

/* Start and end of a call as recorded. */
static int64_t start_of(const struct rk_rank_calls *c, size_t rank, size_t i)
{
	int64_t origin = 0;

	CHECK(rk_rank_calls_origin(c, &origin));
	return origin + rk_rank_calls_ranks(c)[rank].v[i].start_ns;
}

static int64_t end_of(const struct rk_rank_calls *c, size_t rank, size_t i)
{
	const struct rk_align_call *v = &rk_rank_calls_ranks(c)[rank].v[i];

	return start_of(c, rank, i) + v->end_ns - v->start_ns;
}

static const char *label(struct world *w, const struct rk_rank_calls *c, size_t op)
{
	return rk_strtab_borrow(w->ctx.names, rk_rank_calls_op(c, op)->label, NULL);
}

TEST(kernels_that_communicate_are_calls_of_their_rank_by_end)
{
	static const int64_t ranks[] = { 3, 9 };
	static const struct row rows[] = {
		{ 3, 500, 100, ALL_REDUCE },
		{ 3, 100, 50, "gemm" },
		{ 3, 300, 400, ALL_REDUCE },
		{ 9, 100, -5, ALL_REDUCE },
		{ 9, 100, 70, "ncclDevKernel_Broadcast_RING_LL" },
		{ 4, 100, 70, ALL_REDUCE },
		{ 9, INT64_MAX, 70, ALL_REDUCE },
	};
	const struct rk_calls_rank *r;
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	c = calls_of(&w, ranks, 2);
	PUT(&w, c, RK_KERNELS, rows);
	rk_rank_calls_finish(c);
	r = rk_rank_calls_ranks(c);
	CHECK_U64(r[0].n, 2);
	CHECK_I64(end_of(c, 0, 0), 600);
	CHECK_I64(end_of(c, 0, 1), 700);
	CHECK_U64(r[1].n, 1);
	CHECK(r[0].v[0].sig == r[0].v[1].sig && r[1].v[0].sig != r[0].v[0].sig);
	CHECK_STR(label(&w, c, 0), "AllReduce Sum f32 RING LL");
	CHECK(rk_rank_calls_op(c, 0)->all && !rk_rank_calls_op(c, 1)->all);
	CHECK(!rk_rank_calls_op(c, 2) && !rk_rank_calls_assumed(c));
	rk_rank_calls_by_start(c);
	CHECK_I64(start_of(c, 0, 0), 300);
	rk_rank_calls_free(c);
	world_close(&w);
}

/* Sizes of kernels that do not say what they are: as many as files say, and names have a limit. */
TEST(more_sizes_than_operations_take_no_names)
{
	enum { SIZES = 3 * RK_CALLS_OPS };
	static const int64_t ranks[] = { 0 };
	static const char name[] = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)";
	struct rk_rank_calls *c;
	struct rk_builder b;
	struct world w;
	uint32_t id = 0;

	world_open(&w, 1);
	c = calls_of(&w, ranks, 1);
	CHECK_I64(rk_strtab_add(w.ctx.names, name, strlen(name), &id, NULL), 0);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_KERNELS), SIZES, NULL), 0);
	for (int32_t i = 0; i < SIZES; i++) {
		((uint32_t *)rk_builder_column(&b, RK_K_NAME))[i] = id;
		((int64_t *)rk_builder_column(&b, RK_K_START))[i] = 100 * i;
		((int64_t *)rk_builder_column(&b, RK_K_DURATION))[i] = 50;
		((int32_t *)rk_builder_column(&b, RK_K_RANK))[i] = 0;
		((int32_t *)rk_builder_column(&b, RK_K_GRID_X))[i] = i + 1;
		b.nrows++;
	}
	CHECK_I64(rk_rank_calls_add(c, rk_builder_batch(&b), &w.err), 0);
	CHECK(rk_rank_calls_op(c, RK_CALLS_OPS - 1) && !rk_rank_calls_op(c, RK_CALLS_OPS));
	CHECK(rk_strtab_count(w.ctx.names) <= RK_CALLS_OPS + 4);
	rk_rank_calls_finish(c);
	CHECK_U64(rk_rank_calls_ranks(c)[0].n, RK_CALLS_OPS - 1);
	rk_builder_release(&b);
	rk_rank_calls_free(c);
	world_close(&w);
}

TEST(queued_functions_are_done_when_the_device_was_waited_for)
{
	static const int64_t ranks[] = { 0 };
	static const struct row rows[] = {
		{ 0, 100, 10, "ncclAllReduce" },
		{ 0, 120, 10, "hipStreamSynchronize" },
		{ 0, 105, 200, "hipDeviceSynchronize" }, /* began before the call was over */
		{ 0, 400, 50, "hipDeviceSynchronize" },
		{ 0, 430, 10, "ncclAllGather" }, /* nobody waits for it */
		{ 0, 300, 20, "MPI_Barrier" },
	};
	const struct rk_calls_rank *r;
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	c = calls_of(&w, ranks, 1);
	PUT(&w, c, RK_API, rows);
	rk_rank_calls_finish(c);
	r = rk_rank_calls_ranks(c);
	CHECK(r[0].host);
	CHECK_U64(r[0].n, 2);
	CHECK_I64(start_of(c, 0, 0), 300);
	CHECK_I64(end_of(c, 0, 0), 320);
	CHECK_I64(start_of(c, 0, 1), 100);
	CHECK_I64(end_of(c, 0, 1), 450);
	CHECK(!rk_rank_calls_op(c, 0)->waits);
	rk_rank_calls_free(c);
	world_close(&w);
}

TEST(functions_of_a_rank_with_kernels_only_tell_what_those_may_be)
{
	static const int64_t ranks[] = { 0, 1 };
	static const struct row kernels[] = { { 0, 100, 10, "ncclDevKernel_Generic_1(int)" },
					      { 1, 100, 10, "ncclDevKernel_SendRecv(int)" } };
	static const struct row all[] = { { 0, 90, 5, "ncclAllReduce" } };
	static const struct row one[] = { { 0, 90, 5, "ncclBroadcast" } };
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	for (int other = 0; other < 2; other++) {
		c = calls_of(&w, ranks, 2);
		PUT(&w, c, RK_KERNELS, kernels);
		PUT(&w, c, RK_API, all);
		if (other)
			PUT(&w, c, RK_API, one);
		rk_rank_calls_finish(c);
		CHECK_U64(rk_rank_calls_ranks(c)[0].n, 1);
		CHECK(rk_rank_calls_op(c, 0)->all == !other);
		CHECK(rk_rank_calls_assumed(c) == !other);
		CHECK_U64(rk_rank_calls_ranks(c)[1].n, 0);
		CHECK_U64(rk_rank_calls_op(c, 1)->left_out, 1);
		rk_rank_calls_free(c);
	}
	world_close(&w);
}

TEST(past_the_limit_the_first_and_the_last_calls_are_kept)
{
	static const int64_t ranks[] = { 0 };
	const struct rk_calls_rank *r;
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	c = calls_of(&w, ranks, 1);
	rk_rank_calls_limit(c, 10);
	for (int64_t i = 0; i < 103; i++) {
		const struct row one[] = { { 0, i * 100, 50, ALL_REDUCE } };

		PUT(&w, c, RK_KERNELS, one);
	}
	rk_rank_calls_finish(c);
	r = rk_rank_calls_ranks(c);
	CHECK_U64(r[0].n, 10);
	for (int64_t i = 0; i < 10; i++)
		CHECK_I64(start_of(c, 0, (size_t)i), (i < 5 ? i : 93 + i) * 100);
	CHECK_U64(world_warned(&w, "collectives-left-out"), 93);
	rk_rank_calls_free(c);
	world_close(&w);
}

TEST(rank_calls_every_allocation_may_fail)
{
	static const int64_t ranks[] = { 0, 1 };
	static const struct row rows[] = { { 0, 100, 10, ALL_REDUCE },
					   { 1, 100, 10, "ncclDevKernel_Generic_1" } };
	bool failed = true;

	for (uint64_t n = 1; failed && n < 200; n++) {
		struct rk_rank_calls *c = NULL;
		struct world w;
		int rc;

		world_open(&w, 1);
		/* names and columns are there before it can fail */
		c = calls_of(&w, ranks, 2);
		PUT(&w, c, RK_KERNELS, rows);
		rk_rank_calls_free(c);
		c = NULL;
		rk_alloc_fail_after(n);
		rc = rk_rank_calls_new(&w.ctx, ranks, 2, &c, &w.err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		rk_rank_calls_free(c);
		world_close(&w);
	}
	CHECK(!failed);
}

/* ---- clocks ---- */

enum { STEPS = 60 };

static const int64_t four[] = { 0, 1, 2, 3 };

/* Ranks [from, n) on machines of their own; each is `ahead[i]` before the true time. */
static void play(struct world *w, struct rk_rank_calls *c, const int64_t *ahead, size_t from,
		 size_t n)
{
	struct row rows[STEPS];

	for (size_t i = from; i < n; i++) {
		for (size_t k = 0; k < STEPS; k++) {
			int64_t step = 1000000000 + (int64_t)k * 1000000;
			int64_t late = (int64_t)((i * 7 + k * 13) % 50) * 1000;

			rows[k] = (struct row){ (int64_t)i, step + late + ahead[i], 60000 - late,
						ALL_REDUCE };
		}
		PUT(w, c, RK_KERNELS, rows);
	}
}

static void members_of(struct rk_members *m, struct rk_member *v, size_t n)
{
	*m = (struct rk_members){ .v = v, .n = n, .job = "" };
	for (size_t i = 0; i < n; i++)
		v[i] = (struct rk_member){ .rank = (int64_t)i,
					   .node = i < 2 ? "a" : "b",
					   .machine = (uint32_t)i,
					   .clock_error_ns = 0 };
}

TEST(ranks_on_machines_of_their_own_get_offsets_at_one_moment)
{
	static const int64_t ahead[] = { 0, 5000000, -7000, 123456789 };
	struct rk_member v[4];
	struct rk_members m;
	struct rk_rank_clocks clocks = { .v = NULL };
	struct rk_rank_calls *c;
	int64_t origin = 0;
	struct world w;

	world_open(&w, 1);
	c = calls_of(&w, four, 4);
	play(&w, c, ahead, 0, 4);
	rk_rank_calls_finish(c);
	members_of(&m, v, 4);
	CHECK_I64(rk_rank_clocks(&m, c, &clocks, &w.err), 0);
	CHECK_U64(clocks.reference, 0);
	CHECK_U64(clocks.alone, 0);
	CHECK(rk_rank_calls_origin(c, &origin));
	for (size_t i = 0; clocks.v && i < 4; i++) {
		const struct rk_rank_clock *k = &clocks.v[i];

		CHECK(k->clock == (i ? RK_CLOCK_ALIGNED : RK_CLOCK_SAME));
		CHECK_I64(k->to.base_ns + origin, clocks.base_ns);
		CHECK(llabs(k->to.offset_ns - ahead[i]) <= k->to.error_ns);
		CHECK(k->to.error_ns < 100000);
		CHECK_STR(k->by, i ? "collectives" : "node");
		CHECK_STR(k->note, "");
	}
	rk_rank_clocks_tell(&clocks, &m, w.ctx.diag);
	CHECK_U64(world_warned(&w, "several-clocks"), 0);
	rk_rank_clocks_release(&clocks);
	rk_rank_calls_free(c);
	world_close(&w);
}

/* The first rank has no collectives: another one relates to more of them. */
TEST(the_reference_is_who_relates_to_most)
{
	static const int64_t ahead[] = { 0, 5000000, -7000, 123456789 };
	struct rk_member v[4];
	struct rk_members m;
	struct rk_rank_clocks clocks = { .v = NULL };
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	c = calls_of(&w, four, 4);
	play(&w, c, ahead, 1, 4);
	rk_rank_calls_finish(c);
	members_of(&m, v, 4);
	CHECK_I64(rk_rank_clocks(&m, c, &clocks, &w.err), 0);
	CHECK_U64(clocks.reference, 1);
	CHECK_U64(clocks.alone, 1);
	CHECK(clocks.v && clocks.v[0].clock == RK_CLOCK_ALONE && clocks.v[0].note[0]);
	rk_rank_clocks_tell(&clocks, &m, w.ctx.diag);
	CHECK_U64(world_warned(&w, "several-clocks"), 1);
	rk_rank_clocks_release(&clocks);
	rk_rank_calls_free(c);
	world_close(&w);
}

TEST(fuse_clocks_every_allocation_may_fail)
{
	static const int64_t ahead[] = { 0, 5000000, -7000, 123456789 };
	struct rk_member v[4];
	struct rk_members m;
	struct rk_rank_calls *c;
	struct world w;
	bool failed = true;

	world_open(&w, 1);
	c = calls_of(&w, four, 4);
	play(&w, c, ahead, 0, 4);
	rk_rank_calls_finish(c);
	members_of(&m, v, 4);
	for (uint64_t n = 1; failed && n < 2000; n++) {
		struct rk_rank_clocks clocks = { .v = NULL };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_rank_clocks(&m, c, &clocks, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		rk_rank_clocks_release(&clocks);
	}
	CHECK(!failed);
	rk_rank_calls_free(c);
	world_close(&w);
}

/* ---- kernels whose trace says what they do ---- */

#define GENERIC "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"

struct described {
	int64_t rank, start, duration;
	const char *collective, *group, *size; /* NULL: not in the trace */
	int64_t seq;                           /* -1: not in the trace */
};

static void put_text(struct world *w, struct rk_builder *b, unsigned field, const char *text)
{
	uint32_t *at = (uint32_t *)rk_builder_column(b, field) + b->nrows;

	if (text)
		CHECK_I64(rk_strtab_add(w->ctx.names, text, strlen(text), at, NULL), 0);
	else
		rk_builder_null(b, field, b->nrows);
}

static struct rk_rank_calls *described(struct world *w, const struct described *rows, size_t n)
{
	static const int64_t ranks[] = { 0, 1 };
	struct rk_rank_calls *c = calls_of(w, ranks, 2);
	struct rk_builder b;

	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_KERNELS), n, NULL), 0);
	for (; b.nrows < n; b.nrows++) {
		const struct described *r = &rows[b.nrows];

		put_text(w, &b, RK_K_NAME, GENERIC);
		put_text(w, &b, RK_K_COLLECTIVE, r->collective);
		put_text(w, &b, RK_K_COMM_GROUP, r->group);
		put_text(w, &b, RK_K_COMM_SIZE, r->size);
		((int64_t *)rk_builder_column(&b, RK_K_COMM_SEQ))[b.nrows] = r->seq;
		if (r->seq < 0)
			rk_builder_null(&b, RK_K_COMM_SEQ, b.nrows);
		((int64_t *)rk_builder_column(&b, RK_K_START))[b.nrows] = r->start;
		((int64_t *)rk_builder_column(&b, RK_K_DURATION))[b.nrows] = r->duration;
		((int32_t *)rk_builder_column(&b, RK_K_RANK))[b.nrows] = (int32_t)r->rank;
	}
	CHECK_I64(rk_rank_calls_add(c, rk_builder_batch(&b), &w->err), 0);
	rk_builder_release(&b);
	rk_rank_calls_finish(c);
	return c;
}

#define PAIR_GROUP "3 [0, 1]"

TEST(collectives_of_one_kernel_differ_by_what_the_trace_says)
{
	static const struct described rows[] = {
		{ 0, 100, 10, "allreduce", PAIR_GROUP, "Float 8", 0 },
		{ 0, 200, 10, "allreduce", PAIR_GROUP, "Float 9", 1 },
		{ 0, 300, 10, "broadcast", PAIR_GROUP, "Float 8", 2 },
		{ 0, 400, 10, "allreduce", "4 [0, 2]", "Float 8", -1 },
		{ 0, 500, 10, "send", PAIR_GROUP, "Float 8", 3 },
		{ 0, 600, 10, "wait", PAIR_GROUP, NULL, 4 },
		{ 1, 100, 10, "allreduce", PAIR_GROUP, "Float 8", 0 },
	};
	const struct rk_calls_rank *r;
	const struct rk_calls_op *op;
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	c = described(&w, rows, sizeof(rows) / sizeof(rows[0]));
	r = rk_rank_calls_ranks(c);
	CHECK_U64(r[0].n, 4);
	CHECK(r[0].v[0].sig == r[0].v[1].sig && r[0].v[0].sig == r[1].v[0].sig);
	CHECK(r[0].v[0].sig != r[0].v[2].sig && r[0].v[0].sig != r[0].v[3].sig);
	CHECK(r[0].v[0].seq == r[1].v[0].seq && r[0].v[0].seq != r[0].v[1].seq);
	CHECK(r[0].v[0].size == r[1].v[0].size && r[0].v[0].size != r[0].v[1].size);
	CHECK_U64(r[0].v[3].seq, 0);
	for (size_t i = 0; (op = rk_rank_calls_op(c, i)); i++) {
		if (op->sig == r[0].v[0].sig) {
			CHECK_STR(label(&w, c, i), "AllReduce, group 3 of 2 ranks");
			CHECK(op->all && op->exact && op->even && !op->any);
		}
		if (op->sig == r[0].v[2].sig)
			CHECK(!op->all && op->exact && !op->even);
		if (op->sig == r[0].v[3].sig)
			CHECK(op->all && !op->exact);
		if (!strcmp(label(&w, c, i), "Send, group 3 of 2 ranks"))
			CHECK_U64(op->left_out, 1);
	}
	CHECK(!rk_rank_calls_assumed(c));
	CHECK_STR(world_warnings(&w), "");
	rk_rank_calls_free(c);
	world_close(&w);
}

TEST(ranks_that_disagree_about_a_collective_are_counted)
{
	static const struct described rows[] = {
		{ 0, 100, 10, "allreduce", PAIR_GROUP, "Float 8", 0 },
		{ 0, 200, 10, "allreduce", PAIR_GROUP, "Float 8", 1 },
		{ 0, 300, 10, "allreduce", "5 [0, 1]", "Float 8", 1 },
		{ 1, 100, 10, "allreduce", PAIR_GROUP, "Float 8", 0 },
		{ 1, 200, 10, "broadcast", PAIR_GROUP, "Float 8", 1 },
	};
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	c = described(&w, rows, sizeof(rows) / sizeof(rows[0]));
	CHECK_STR(world_warnings(&w), "collectives-differ:1 ");
	rk_rank_calls_free(c);
	world_close(&w);
}

TEST(where_one_trace_does_not_say_it_names_of_kernels_are_compared)
{
	static const struct described rows[] = {
		{ 0, 100, 10, "allreduce", PAIR_GROUP, "Float 8", 0 },
		{ 1, 100, 10, NULL, NULL, NULL, -1 },
	};
	const struct rk_calls_rank *r;
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	c = described(&w, rows, 2);
	r = rk_rank_calls_ranks(c);
	CHECK(r[0].n == 1 && r[1].n == 1 && r[0].v[0].sig == r[1].v[0].sig);
	CHECK_U64(r[0].v[0].seq, 0);
	CHECK(rk_rank_calls_assumed(c));
	CHECK_STR(world_warnings(&w), "collectives-not-described:1 ");
	rk_rank_calls_free(c);
	world_close(&w);
}

/* ---- any time is a time ---- */

struct outcome {
	struct rk_align_rank to[4];
	enum rk_ranks_clock clock[4];
	struct rk_comm_line lines[4];
	struct rk_comm_sum sum;
	int64_t base_ns;
};

/* Four ranks with clocks of their own, all of them `shift` later. */
static void play_later(int64_t shift, struct outcome *ret)
{
	static const int64_t ahead[] = { 0, 5000000, -7000, 123456789 };
	struct rk_comm_op ops[1];
	struct rk_comm_rank in[4];
	struct rk_comm_match match;
	struct rk_member v[4];
	struct rk_members m;
	struct rk_rank_clocks clocks = { .v = NULL };
	struct rk_rank_calls *c;
	int64_t shifted[4];
	struct world w;

	memset(ret, 0, sizeof(*ret));
	world_open(&w, 1);
	c = calls_of(&w, four, 4);
	for (size_t i = 0; i < 4; i++)
		shifted[i] = ahead[i] + shift;
	play(&w, c, shifted, 0, 4);
	rk_rank_calls_finish(c);
	members_of(&m, v, 4);
	for (size_t i = 0; i < 4; i++) { /* the wall clock does not depend on the other one */
		v[i].snapshots[0] = (struct rk_align_snapshot){ 1000000000 + shifted[i],
								1790000000000000000, 1000000 };
		v[i].nsnapshots = 1;
	}
	CHECK_I64(rk_rank_clocks(&m, c, &clocks, &w.err), 0);
	rk_rank_calls_by_start(c);
	ops[0] = (struct rk_comm_op){ rk_rank_calls_op(c, 0)->sig, true };
	for (size_t i = 0; i < 4; i++) {
		const struct rk_calls_rank *r = &rk_rank_calls_ranks(c)[i];

		ret->to[i] = clocks.v[i].to;
		ret->to[i].base_ns = 0; /* see base_ns below */
		ret->clock[i] = clocks.v[i].clock;
		in[i] = (struct rk_comm_rank){ .rank = (int64_t)i,
					       .node = (uint32_t)i,
					       .domain = clocks.v[i].domain,
					       .clock = &clocks.v[i].to,
					       .error_ns = clocks.v[i].to.error_ns,
					       .calls = r->v,
					       .ncalls = r->n };
	}
	CHECK_I64(rk_comm_match(in, 4, ops, 1, &match, &w.err), 0);
	memcpy(ret->lines, match.lines, sizeof(ret->lines));
	CHECK_U64(match.nsums, 1);
	ret->sum = match.sums[0];
	ret->base_ns = clocks.base_ns;
	CHECK_U64(world_warned(&w, "time-out-of-range"), 0);
	rk_comm_match_release(&match);
	rk_rank_clocks_release(&clocks);
	rk_rank_calls_free(c);
	world_close(&w);
}

TEST(results_do_not_depend_on_what_the_clocks_count_from)
{
	int64_t shifts[40] = { 1700000000000000000, INT64_MAX - 2000000000, INT64_MIN + 7000,
			       -1060000000, INT64_C(1) << 60 };
	struct outcome want, got;
	uint64_t random = 1;

	for (size_t i = 5; i < 40; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		shifts[i] = (int64_t)(random >> 1) - INT64_C(4600000000000000000);
	}
	play_later(0, &want);
	CHECK(want.clock[3] == RK_CLOCK_ALIGNED && want.sum.calls == STEPS);
	for (size_t i = 0; i < 40; i++) {
		play_later(shifts[i], &got);
		CHECK_I64(got.base_ns - want.base_ns, shifts[i]);
		got.base_ns = want.base_ns;
		CHECK(memcmp(&got, &want, sizeof(got)) == 0);
	}
}

TEST(a_call_that_is_ages_from_the_others_is_counted)
{
	static const int64_t ranks[] = { 0 };
	static const struct row rows[] = {
		{ 0, 1700000000000000000, 10, ALL_REDUCE },
		{ 0, 0, 10, ALL_REDUCE },         /* since boot: may be another clock */
		{ 0, INT64_MIN, 10, ALL_REDUCE }, /* and these are none */
		{ 0, INT64_MAX, 10, ALL_REDUCE },
		{ 0, 1700000000000000000, INT64_MAX, ALL_REDUCE },
	};
	struct rk_rank_calls *c;
	struct world w;

	world_open(&w, 1);
	c = calls_of(&w, ranks, 1);
	PUT(&w, c, RK_KERNELS, rows);
	rk_rank_calls_finish(c);
	CHECK_U64(rk_rank_calls_ranks(c)[0].n, 2);
	CHECK_U64(world_warned(&w, "time-out-of-range"), 3);
	rk_rank_calls_free(c);
	world_close(&w);
}
