/* timeline.c - when devices are busy, idle, copying, waiting for a launch. */
#include "report/timeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "table/timeline_order.h"
#include "tap.h"
#include "world.h"

#define NONE INT64_MIN
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define DAY INT64_C(86400000000000)

enum { TO_DEVICE = 1, TO_HOST, BETWEEN, ON_HOST };

/* A kernel on `queue`, or a copy in a direction, from `src`. */
struct row {
	int64_t start, duration, device, queue;
	int copy;
	int64_t src;
	int64_t rank, pid, stream;
	const char *node;
	bool barrier;
};

static void put(struct rk_builder *b, unsigned f, size_t i, int64_t v, bool has)
{
	void *data = rk_builder_column(b, f);

	switch (b->schema->fields[f].type) {
	case RK_I32:
		((int32_t *)data)[i] = (int32_t)v;
		break;
	case RK_STR:
		((uint32_t *)data)[i] = (uint32_t)v;
		break;
	case RK_BOOL:
		((uint8_t *)data)[i] = (uint8_t)v;
		break;
	default:
		((int64_t *)data)[i] = v;
	}
	if (!has)
		rk_builder_null(b, f, i);
}

static void put_known(struct rk_builder *b, unsigned f, size_t i, int64_t v)
{
	put(b, f, i, v, v != NONE);
}

static uint32_t word(struct world *w, const char *text)
{
	uint32_t id = 0;

	CHECK_I64(rk_strtab_add(w->ctx.names, text, strlen(text), &id, NULL), 0);
	return id;
}

/* rank, pid and stream: 0 means not known, so that few rows need to say it */
static void put_kernel(struct world *w, struct rk_builder *b, size_t i, const struct row *r)
{
	put_known(b, RK_K_START, i, r->start);
	put_known(b, RK_K_DURATION, i, r->duration);
	put_known(b, RK_K_DEVICE, i, r->device);
	put_known(b, RK_K_QUEUE, i, r->queue);
	put(b, RK_K_RANK, i, r->rank, r->rank != 0);
	put(b, RK_K_PID, i, r->pid, r->pid != 0);
	put(b, RK_K_STREAM, i, r->stream, r->stream != 0);
	put(b, RK_K_NODE, i, r->node ? word(w, r->node) : 0, r->node != NULL);
	put(b, RK_K_BARRIER, i, r->barrier, r->barrier);
}

static void put_copy(struct world *w, struct rk_builder *b, size_t i, const struct row *r)
{
	static const char *const words[] = { "", "MEMORY_COPY_HOST_TO_DEVICE",
					     "MEMORY_COPY_DEVICE_TO_HOST",
					     "MEMORY_COPY_DEVICE_TO_DEVICE",
					     "MEMORY_COPY_HOST_TO_HOST" };

	put_known(b, RK_C_START, i, r->start);
	put_known(b, RK_C_DURATION, i, r->duration);
	put_known(b, RK_C_DST, i, r->device);
	put_known(b, RK_C_SRC, i, r->src);
	put(b, RK_C_DIRECTION, i, word(w, words[r->copy]), true);
	put(b, RK_C_RANK, i, r->rank, r->rank != 0);
	put(b, RK_C_NODE, i, r->node ? word(w, r->node) : 0, r->node != NULL);
}

/* Batches of `table`, of at most 1000 rows. */
static int feed(struct world *w, struct rk_timeline *t, enum rk_table table, const struct row *rows,
		size_t n)
{
	struct rk_builder b;
	int rc = 0;

	CHECK_I64(rk_builder_init(&b, rk_table_schema(table), 1000, NULL), 0);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if ((rows[i].copy != 0) == (table == RK_MEMCPY)) {
			(table == RK_MEMCPY ? put_copy : put_kernel)(w, &b, b.nrows, &rows[i]);
			b.nrows++;
		}
		if (b.nrows && (b.nrows == b.cap || i + 1 == n)) {
			rc = rk_timeline_add(t, rk_builder_batch(&b), &w->err);
			rk_builder_reset(&b);
			b.nrows = 0;
		}
	}
	/* what is left when the last rows are of the other table */
	if (rc == 0 && b.nrows)
		rc = rk_timeline_add(t, rk_builder_batch(&b), &w->err);
	rk_builder_release(&b);
	return rc;
}

static struct rk_trace_facts facts_of(struct world *w, const struct row *rows, size_t n,
				      size_t held)
{
	struct rk_trace_facts f = { 0 };
	struct rk_timeline *t = NULL;

	rk_diag_reset(w->ctx.diag, 0);
	CHECK_I64(rk_timeline_new(&w->ctx, &t, NULL), 0);
	if (held)
		CHECK_I64(rk_timeline_limit(t, held, NULL), 0);
	CHECK_I64(feed(w, t, RK_KERNELS, rows, n), 0);
	CHECK_I64(feed(w, t, RK_MEMCPY, rows, n), 0);
	CHECK_I64(rk_timeline_finish(t, &f, NULL), 0);
	rk_timeline_free(t);
	return f;
}

/* Of one device: "span busy kernels idle copy overlap, longest at", and "launch gaps". */
static const char *line(const struct rk_trace_device *d)
{
	static char text[400];

	snprintf(text, sizeof(text),
		 "%s: span %lld busy %lld sum %lld idle %lld copy %lld overlap %lld; %llu+%llu; "
		 "gaps %llu longest %lld at %lld; launch %llu %lld %g",
		 d->name, (long long)d->span_ns, (long long)d->busy_ns, (long long)d->kernel_ns,
		 (long long)d->idle_ns, (long long)d->copy_ns, (long long)d->overlap_ns,
		 (unsigned long long)d->kernels, (unsigned long long)d->copies,
		 (unsigned long long)d->gaps, (long long)d->longest_gap_ns,
		 (long long)d->longest_gap_at_ns, (unsigned long long)d->launch_gaps,
		 (long long)d->launch_gap_ns,
		 isnan(d->median_launch_gap_ns) ? -1 : d->median_launch_gap_ns);
	return text;
}

static void one_device(const struct row *rows, size_t n, const char *want)
{
	struct rk_trace_facts f;
	struct world w;

	world_open(&w, 1);
	f = facts_of(&w, rows, n, 0);
	if (CHECK_U64(f.ndevices, 1))
		CHECK_STR(line(&f.devices[0]), want);
	CHECK_STR(world_warnings(&w), "");
	rk_free(f.devices);
	world_close(&w);
}

TEST(nothing_recorded_gives_no_device)
{
	struct rk_trace_facts f;
	struct world w;

	world_open(&w, 1);
	f = facts_of(&w, NULL, 0, 0);
	CHECK_U64(f.ndevices, 0);
	CHECK(isnan(rk_timeline_gap_share(&f)));
	rk_free(f.devices);
	world_close(&w);
}

TEST(kernels_one_after_the_other_have_launch_gaps)
{
	static const struct row r[] = { { 100, 50, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 160, 40, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 200, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 230, 70, 0, 1, 0, 0, 0, 0, 0, 0, 0 } };

	one_device(r, 4,
		   "device 0: span 200 busy 170 sum 170 idle 30 copy 0 overlap 0; 4+0; gaps 2 "
		   "longest 20 at 210; launch 2 30 15");
}

TEST(nested_and_overlapping_kernels_are_busy_once)
{
	static const struct row r[] = { { 100, 100, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 100, 100, 0, 2, 0, 0, 0, 0, 0, 0, 0 },
					{ 120, 20, 0, 3, 0, 0, 0, 0, 0, 0, 0 },
					{ 180, 40, 0, 3, 0, 0, 0, 0, 0, 0, 0 },
					{ 190, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0 } };

	one_device(r, 5,
		   "device 0: span 120 busy 120 sum 265 idle 0 copy 0 overlap 0; 5+0; gaps 0 "
		   "longest 0 at 0; launch 1 40 40");
}

TEST(copies_hide_behind_kernels_as_far_as_they_overlap)
{
	/* kernels 100-200, 300-400; copies 150-250 and 160-180 in it, 390-420, 500-510 */
	static const struct row r[] = { { 100, 100, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 300, 100, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 150, 100, 0, NONE, TO_DEVICE, 9, 0, 0, 0, 0, 0 },
					{ 160, 20, 0, NONE, TO_DEVICE, 9, 0, 0, 0, 0, 0 },
					{ 390, 30, 9, NONE, TO_HOST, 0, 0, 0, 0, 0, 0 },
					{ 500, 10, 9, NONE, TO_HOST, 0, 0, 0, 0, 0, 0 } };

	one_device(r, 6,
		   "device 0: span 410 busy 200 sum 200 idle 130 copy 140 overlap 60; 2+4; gaps 2 "
		   "longest 80 at 420; launch 1 100 100");
}

TEST(order_of_rows_does_not_matter)
{
	static const struct row r[] = { { 300, 100, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 500, 10, 9, NONE, TO_HOST, 0, 0, 0, 0, 0, 0 },
					{ 160, 20, 0, NONE, TO_DEVICE, 9, 0, 0, 0, 0, 0 },
					{ 390, 30, 9, NONE, TO_HOST, 0, 0, 0, 0, 0, 0 },
					{ 150, 100, 0, NONE, TO_DEVICE, 9, 0, 0, 0, 0, 0 },
					{ 100, 100, 0, 1, 0, 0, 0, 0, 0, 0, 0 } };

	one_device(r, 6,
		   "device 0: span 410 busy 200 sum 200 idle 130 copy 140 overlap 60; 2+4; gaps 2 "
		   "longest 80 at 420; launch 1 100 100");
}

TEST(a_gap_of_days_is_idle_but_no_launch_gap)
{
	static const struct row r[] = { { 0, 1000, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 3 * DAY, 1000, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					/* one ns under, and just at, a millisecond */
					{ 3 * DAY + 1000999, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 3 * DAY + 2001000, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 } };

	one_device(
		r, 4,
		"device 0: span 259200002001001 busy 2002 sum 2002 idle 259200001998999 copy 0 "
		"overlap 0; 4+0; gaps 3 longest 259199999999000 at 1000; launch 1 999999 999999");
}

TEST(what_takes_no_time_is_counted_and_parts_nothing)
{
	static const struct row r[] = { { 100, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 200, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 215, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 220, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 300, 0, 0, NONE, TO_DEVICE, 9, 0, 0, 0, 0, 0 } };

	one_device(r, 5,
		   "device 0: span 200 busy 20 sum 20 idle 180 copy 0 overlap 0; 4+1; gaps 3 "
		   "longest 100 at 100; launch 1 10 10");
}

TEST(rows_that_start_and_end_at_0_are_not_part_of_the_span)
{
	static const struct row r[] = { { 200, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 0, 0, 0, NONE, TO_DEVICE, 9, 0, 0, 0, 0, 0 },
					{ 220, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0 } };

	one_device(r, 4,
		   "device 0: span 30 busy 20 sum 20 idle 10 copy 0 overlap 0; 3+1; gaps 1 longest "
		   "10 at 210; launch 1 10 10");
	one_device(r + 1, 2,
		   "device 0: span 0 busy 0 sum 0 idle 0 copy 0 overlap 0; 1+1; gaps 0 longest 0 "
		   "at 0; launch 0 0 -1");
}

TEST(rows_without_times_negative_ones_and_barriers_are_passed_over)
{
	static const struct row r[] = { { NONE, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 50, NONE, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 50, -10, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
					{ 50, 10, 0, 1, 0, 0, 0, 0, 0, 0, true },
					{ 50, 10, 0, NONE, ON_HOST, 0, 0, 0, 0, 0, 0 },
					{ 100, 10, 0, 1, 0, 0, 0, 0, 0, 0, 0 } };

	one_device(r, COUNT(r),
		   "device 0: span 10 busy 10 sum 10 idle 0 copy 0 overlap 0; 1+0; gaps 0 longest "
		   "0 at 0; launch 0 0 -1");
}

/* A rank names the device of another rank when it copies there; that one lists it. */
TEST(the_other_end_of_copies_between_devices_is_not_a_device_of_the_rank)
{
	static const struct row r[] = {
		{ .start = 0, .duration = 10, .device = 0, .queue = 1, .rank = 1 },
		{ .start = 20,
		  .duration = 5,
		  .device = 1,
		  .queue = NONE,
		  .copy = BETWEEN,
		  .src = 0,
		  .rank = 1 },
		{ .start = 0, .duration = 10, .device = 1, .queue = 1, .rank = 2 },
		{ .start = 30,
		  .duration = 5,
		  .device = 0,
		  .queue = NONE,
		  .copy = BETWEEN,
		  .src = 1,
		  .rank = 2 },
		/* only copies, and none has its own */
		{ .start = 30,
		  .duration = 5,
		  .device = 0,
		  .queue = NONE,
		  .copy = BETWEEN,
		  .src = 1,
		  .rank = 3 },
		/* copies to the host make it one */
		{ .start = 0, .duration = 10, .device = 4, .queue = 1, .rank = 4 },
		{ .start = 5,
		  .duration = 10,
		  .device = 5,
		  .queue = NONE,
		  .copy = TO_DEVICE,
		  .src = 9,
		  .rank = 4 },
	};
	static const char *const want[] = {
		"rank 1 device 0", "rank 2 device 1", "rank 3 device 0",
		"rank 3 device 1", "rank 4 device 4", "rank 4 device 5"
	};
	struct rk_trace_facts f;
	struct world w;

	world_open(&w, 1);
	f = facts_of(&w, r, COUNT(r), 0);
	if (CHECK_U64(f.ndevices, COUNT(want)))
		for (size_t i = 0; i < f.ndevices; i++)
			CHECK_STR(f.devices[i].name, want[i]);
	if (f.ndevices)
		CHECK_I64(f.devices[0].copy_ns, 5);
	rk_free(f.devices);
	world_close(&w);
}

TEST(times_at_the_ends_of_the_range_are_reported)
{
	static const struct row r[] = {
		{ -(INT64_MAX / 2), 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
		{ INT64_MAX, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
		{ INT64_MAX, INT64_MAX, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
		{ INT64_MIN + 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
		{ INT64_MIN + 1, INT64_MAX, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
		{ 1, INT64_MAX, 0, NONE, TO_DEVICE, 9, 0, 0, 0, 0, 0 },
		{ INT64_MAX / 2 - 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0 },
		{ -(INT64_MAX / 2), INT64_MAX - 1, 1, 1, 0, 0, 0, 0, 0, 0, 0 },
		{ -(INT64_MAX / 2), INT64_MAX - 1, 1, 2, 0, 0, 0, 0, 0, 0, 0 },
	};
	struct rk_trace_facts f;
	struct world w;

	world_open(&w, 1);
	f = facts_of(&w, r, COUNT(r), 0);
	CHECK_STR(world_warnings(&w), "time-out-of-range:5 ");
	if (CHECK_U64(f.ndevices, 2)) {
		CHECK_I64(f.devices[0].span_ns, INT64_MAX - 1);
		CHECK_I64(f.devices[0].idle_ns, INT64_MAX - 3);
		CHECK_I64(f.devices[1].busy_ns, INT64_MAX - 1);
		CHECK_I64(f.devices[1].kernel_ns, INT64_MAX);
	}
	rk_free(f.devices);
	world_close(&w);
}

TEST(devices_are_distinguished_by_node_rank_and_number)
{
	static const struct row r[] = { { 100, 10, 1, 1, 0, 0, 7, 0, 0, "b", 0 },
					{ 100, 10, 0, 1, 0, 0, 7, 0, 0, "b", 0 },
					{ 100, 10, 0, 1, 0, 0, 8, 0, 0, "a", 0 },
					{ 100, 10, NONE, 1, 0, 0, 8, 0, 0, "a", 0 },
					{ 120, 10, 0, 1, 0, 0, 8, 0, 0, "a", 0 },
					{ 105, 10, 1, NONE, BETWEEN, 0, 7, 0, 0, "b", 0 } };
	struct rk_trace_facts f;
	struct world w;

	world_open(&w, 1);
	f = facts_of(&w, r, COUNT(r), 0);
	if (CHECK_U64(f.ndevices, 4)) {
		CHECK_STR(f.devices[0].name, "a rank 8 unknown device");
		CHECK_STR(f.devices[1].name, "a rank 8 device 0");
		CHECK_STR(f.devices[2].name, "b rank 7 device 0");
		CHECK_STR(f.devices[3].name, "b rank 7 device 1");
		CHECK_U64(f.devices[1].kernels, 2);
		CHECK_U64(f.devices[1].launch_gaps, 1);
		/* a copy between two devices is one of both */
		CHECK_I64(f.devices[2].overlap_ns, 5);
		CHECK_I64(f.devices[3].overlap_ns, 5);
	}
	rk_free(f.devices);
	world_close(&w);
}

TEST(names_of_devices_fit_whatever_the_node_is_called)
{
	static const struct row r[] = {
		{ 1, 1, INT64_MIN + 1, 1, 0, 0, INT32_MIN, 0, 0,
		  "a-node-with-a-name-that-is-much-longer-than-all-the-room", 0 },
		{ 1, 1, 3, 1, 0, 0, 2, 0, 0,
		  "n\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3"
		  "\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6"
		  "\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6",
		  0 },
		{ 1, 1, 4, 1, 0, 0, 0, 0, 0, "\xff\xfe", 0 }
	};
	struct rk_trace_facts f;
	struct world w;

	world_open(&w, 1);
	f = facts_of(&w, r, COUNT(r), 0);
	if (CHECK_U64(f.ndevices, 3)) {
		CHECK_STR(f.devices[0].name, "a- rank -2147483648 device -9223372036854775807");
		CHECK(rk_utf8_valid(f.devices[1].name, strlen(f.devices[1].name)) ==
		      strlen(f.devices[1].name));
		CHECK(strstr(f.devices[1].name, " rank 2 device 3") != NULL);
		CHECK_STR(f.devices[2].name, "device 4");
	}
	rk_free(f.devices);
	world_close(&w);
}

TEST(copies_without_a_device_are_of_the_only_one)
{
	static const struct row one[] = { { 100, 100, 3, 1, 0, 0, 0, 0, 0, 0, 0 },
					  { 150, 100, NONE, NONE, TO_DEVICE, NONE, 0, 0, 0, 0,
					    0 } };
	static const struct row two[] = { { 100, 100, 3, 1, 0, 0, 0, 0, 0, 0, 0 },
					  { 100, 100, 4, 1, 0, 0, 0, 0, 0, 0, 0 },
					  { 150, 100, NONE, NONE, TO_DEVICE, NONE, 0, 0, 0, 0,
					    0 } };
	struct rk_trace_facts f;
	struct world w;

	one_device(one, 2,
		   "device 3: span 150 busy 100 sum 100 idle 0 copy 100 overlap 50; 1+1; gaps 0 "
		   "longest 0 at 0; launch 0 0 -1");
	world_open(&w, 1);
	f = facts_of(&w, two, 3, 0);
	if (CHECK_U64(f.ndevices, 3)) {
		CHECK_STR(f.devices[0].name, "unknown device");
		CHECK_I64(f.devices[0].copy_ns, 100);
		CHECK_I64(f.devices[1].copy_ns, 0);
	}
	rk_free(f.devices);
	world_close(&w);
}

TEST(queues_belong_to_a_process_and_streams_replace_them)
{
	/* the same queue of two processes, and a stream with its number */
	static const struct row r[] = { { 100, 10, 0, 1, 0, 0, 0, 7, 0, 0, 0 },
					{ 120, 10, 0, 1, 0, 0, 0, 8, 0, 0, 0 },
					{ 140, 10, 0, 1, 0, 0, 0, 7, 0, 0, 0 },
					{ 160, 10, 0, NONE, 0, 0, 0, 7, 1, 0, 0 },
					{ 175, 10, 0, NONE, 0, 0, 0, 7, 1, 0, 0 },
					{ 200, 10, 0, NONE, 0, 0, 0, 7, 0, 0, 0 } };

	one_device(
		r, COUNT(r),
		"device 0: span 110 busy 60 sum 60 idle 50 copy 0 overlap 0; 6+0; gaps 5 longest "
		"15 at 185; launch 2 35 17.5");
}

TEST(share_of_launch_gaps_is_over_all_queues)
{
	struct rk_trace_device d[] = { { .launch_gap_ns = 10, .kernel_ns = 20, .busy_ns = 5 },
				       { .launch_gap_ns = 20, .kernel_ns = 50, .busy_ns = 5 } };
	struct rk_trace_facts f = { d, 2 };

	CHECK(fabs(rk_timeline_gap_share(&f) - 0.3) < 1e-12);
}

enum { RANGE = 400, DEVICES = 3, QUEUES = 4 };

/* Which ns something covers: plain and slow, to hold the sweep against. */
static struct rk_trace_device naive(const struct row *rows, size_t n, int64_t device)
{
	bool k[2 * RANGE] = { 0 }, c[2 * RANGE] = { 0 }, idle = false;
	struct rk_trace_device d = { .median_launch_gap_ns = NAN };
	int64_t first = INT64_MAX, last = INT64_MIN, since = 0;

	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];

		if (r->device != device)
			continue;
		for (int64_t t = r->start; t < r->start + r->duration; t++)
			(r->copy ? c : k)[t] = true;
		first = r->start < first ? r->start : first;
		last = r->start + r->duration > last ? r->start + r->duration : last;
		d.kernels += !r->copy;
		d.copies += r->copy != 0;
		d.kernel_ns += r->copy ? 0 : r->duration;
	}
	d.span_ns = last - first;
	for (int64_t t = first; t <= last; t++) {
		bool now = t < last && !k[t] && !c[t];

		d.busy_ns += t < last && k[t];
		d.copy_ns += t < last && c[t];
		d.overlap_ns += t < last && k[t] && c[t];
		d.idle_ns += now;
		if (now && !idle)
			since = t;
		d.gaps += now && !idle;
		if (!now && idle && t - since > d.longest_gap_ns) {
			d.longest_gap_ns = t - since;
			d.longest_gap_at_ns = since;
		}
		idle = now;
	}
	return d;
}

/* Gaps between the stretches that a queue's kernels cover. */
static void naive_launch_gaps(const struct row *rows, size_t n, int64_t device,
			      struct rk_trace_device *d)
{
	for (int64_t q = 0; q < QUEUES; q++) {
		bool k[2 * RANGE] = { 0 }, begun = false;
		int64_t wait = 0;

		for (size_t i = 0; i < n; i++)
			if (rows[i].device == device && !rows[i].copy && rows[i].queue == q)
				for (int64_t t = 0; t < rows[i].duration; t++)
					k[rows[i].start + t] = true;
		for (int64_t t = 0; t < 2 * RANGE; t++) {
			d->launch_gaps += k[t] && begun && wait;
			d->launch_gap_ns += k[t] && begun ? wait : 0;
			wait = k[t] ? 0 : wait + 1;
			begun |= k[t];
		}
	}
}

static void random_rows(struct row *rows, size_t n, uint64_t *seed)
{
	int64_t longest = 1 + (int64_t)(world_random(seed) % 60);

	for (size_t i = 0; i < n; i++)
		rows[i] = (struct row){
			.start = (int64_t)(1 + world_random(seed) % (RANGE - 1)),
			.duration = (int64_t)(world_random(seed) % (uint64_t)longest),
			.device = (int64_t)(world_random(seed) % DEVICES),
			.queue = (int64_t)(world_random(seed) % QUEUES),
			.copy = world_random(seed) % 3 ? 0 : TO_DEVICE,
		};
}

static void check_against_naive(struct world *w, const struct row *rows, size_t n, size_t held)
{
	struct rk_trace_facts f = facts_of(w, rows, n, held);

	for (size_t i = 0; i < f.ndevices; i++) {
		struct rk_trace_device *got = &f.devices[i], want;
		char text[400];

		want = naive(rows, n, got->name[7] - '0');
		naive_launch_gaps(rows, n, got->name[7] - '0', &want);
		memcpy(want.name, got->name, sizeof(want.name));
		CHECK(isnan(got->median_launch_gap_ns) == (got->launch_gaps == 0));
		got->median_launch_gap_ns = NAN;
		snprintf(text, sizeof(text), "%s", line(&want));
		CHECK_STR(line(got), text);
		CHECK(got->busy_ns <= got->span_ns);
		CHECK(got->overlap_ns <= got->busy_ns && got->overlap_ns <= got->copy_ns);
		CHECK_I64(got->idle_ns,
			  got->span_ns - (got->busy_ns + got->copy_ns - got->overlap_ns));
	}
	rk_free(f.devices);
}

TEST(the_sweep_agrees_with_a_bitmap_on_random_timelines)
{
	struct row rows[300];
	uint64_t seed = 4711;
	struct world w;

	world_open(&w, 1);
	for (int round = 0; round < 300; round++) {
		size_t n = 1 + (size_t)(world_random(&seed) % COUNT(rows));

		random_rows(rows, n, &seed);
		check_against_naive(&w, rows, n, round % 2 ? 64 : 0);
	}
	world_close(&w);
}

/* Starts of what comes out, in order, and their sum. */
static uint64_t drain_order(struct rk_order *o, bool *ret_ordered, int64_t *ret_sum)
{
	struct rk_stretch s;
	int64_t last = INT64_MIN;
	uint64_t n = 0;

	*ret_ordered = true;
	*ret_sum = 0;
	while (rk_order_next(o, &s, NULL) > 0) {
		*ret_ordered &= s.start >= last && s.end == s.start + 5 && s.device == 3;
		last = s.start;
		*ret_sum += s.start;
		n++;
	}
	return n;
}

/* `kind` 0: stirred within 20 places, 1: five files one after the other, 2: stirred wholly. */
static int64_t start_of(int kind, int i, int n, uint64_t *seed)
{
	if (kind == 0)
		return i * 10 + (int64_t)(world_random(seed) % 200);
	return kind == 1 ? i % (n / 5) * 10 : (int64_t)(world_random(seed) % 1000000);
}

TEST(stretches_come_out_in_order_whatever_they_went_in)
{
	enum { N = 20000 };
	static const size_t chunks[3][2] = { { 1, 1 }, { 5, 12 }, { 2, 64 } };

	for (int kind = 0; kind < 3; kind++) {
		struct rk_order *o = NULL;
		uint64_t seed = 77;
		int64_t sum = 0, got;
		bool ordered;

		CHECK_I64(rk_order_new(NULL, 256, &o, NULL), 0);
		for (int i = 0; i < N; i++) {
			int64_t start = start_of(kind, i, N, &seed);
			struct rk_stretch s = { start, start + 5, 3, 1 };

			sum += start;
			CHECK_I64(rk_order_add(o, &s, NULL), 0);
		}
		CHECK_U64(drain_order(o, &ordered, &got), N);
		CHECK(ordered);
		CHECK_I64(got, sum);
		CHECK(rk_order_chunks(o) >= chunks[kind][0]);
		CHECK(rk_order_chunks(o) <= chunks[kind][1]);
		rk_order_free(o);
	}
}

TEST(a_million_queues_are_reported_and_do_no_harm)
{
	enum { N = 1000000 };
	struct row *rows = calloc(N, sizeof(*rows));
	struct rk_trace_facts f;
	struct world w;

	for (int i = 0; i < N; i++)
		rows[i] = (struct row){ .start = i * 10, .duration = 5, .queue = i };
	world_open(&w, 1);
	f = facts_of(&w, rows, N, 0);
	CHECK_STR(world_warnings(&w), "many-queues:934464 ");
	if (CHECK_U64(f.ndevices, 1)) {
		CHECK_I64(f.devices[0].busy_ns, 5 * (int64_t)N);
		CHECK_U64(f.devices[0].gaps, N - 1);
		CHECK_U64(f.devices[0].launch_gaps, 0);
	}
	rk_free(f.devices);
	world_close(&w);
	free(rows);
}

TEST(more_devices_than_possible_are_reported)
{
	enum { N = 3000 };
	struct row rows[N];
	struct rk_trace_facts f;
	struct world w;

	for (int i = 0; i < N; i++)
		rows[i] = (struct row){ .start = i, .duration = 5, .device = N - i };
	world_open(&w, 1);
	f = facts_of(&w, rows, N, 0);
	CHECK_STR(world_warnings(&w), "many-devices:1976 ");
	if (CHECK_U64(f.ndevices, RK_TIMELINE_DEVICES))
		CHECK_STR(f.devices[0].name, "device 1977");
	rk_free(f.devices);
	world_close(&w);
}

TEST(keys_keep_their_numbers_as_the_table_grows)
{
	enum { N = 5000 };
	struct rk_keys k = { .max = 4096 };
	uint32_t at;

	for (int round = 0; round < 2; round++) {
		for (int64_t i = 0; i < N; i++) {
			struct rk_key3 key = { i % 7, i / 7 - 100, i };

			CHECK_I64(rk_keys_number(&k, key, &at, NULL), 0);
			CHECK_U64(at, i < 4096 ? (uint64_t)i : 4096);
		}
	}
	rk_keys_release(&k);
}

static int64_t busy_or_error(struct world *w, const struct rk_batch *b)
{
	struct rk_trace_facts f = { 0 };
	struct rk_timeline *t = NULL;
	int64_t busy = 0;
	int rc = rk_timeline_new(&w->ctx, &t, &w->err);

	if (rc == 0)
		rc = rk_timeline_limit(t, 64, &w->err);
	if (rc == 0)
		rc = rk_timeline_add(t, b, &w->err);
	if (rc == 0)
		rc = rk_timeline_finish(t, &f, &w->err);
	for (size_t i = 0; i < f.ndevices; i++)
		busy += f.devices[i].busy_ns;
	rk_free(f.devices);
	rk_timeline_free(t);
	return rc < 0 ? rc : busy;
}

TEST(a_timeline_whose_limit_cannot_be_set_keeps_the_old_one)
{
	static const struct row rows[] = { { .start = 10, .duration = 5 } };
	struct rk_trace_facts f = { 0 };
	struct rk_timeline *t = NULL;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_timeline_new(&w.ctx, &t, NULL), 0);
	rk_alloc_fail_after(1);
	CHECK_I64(rk_timeline_limit(t, 64, NULL), RK_E_NOMEM);
	rk_alloc_fail_after(0);
	CHECK_I64(feed(&w, t, RK_KERNELS, rows, 1), 0);
	CHECK_I64(rk_timeline_finish(t, &f, NULL), 0);
	CHECK_U64(f.ndevices, 1);
	rk_free(f.devices);
	rk_timeline_free(t);
	world_close(&w);
}

TEST(a_timeline_survives_every_failed_allocation)
{
	enum { N = 5000 };
	struct rk_builder b;
	struct world w;
	bool failed = true;

	world_open(&w, 1);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_KERNELS), N, NULL), 0);
	for (int i = 0; i < N; i++)
		put_kernel(&w, &b, (size_t)i,
			   &(struct row){ .start = (i * 7919 % N) * 10,
					  .duration = 5,
					  .device = i % 4,
					  .queue = i % 8 });
	b.nrows = N;
	for (uint64_t n = 1; failed && n < 2000; n++) {
		int64_t got;

		w.err = (struct rk_error){ 0 };
		rk_alloc_fail_after(n);
		got = busy_or_error(&w, rk_builder_batch(&b));
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		if (got < 0)
			CHECK(got == RK_E_NOMEM && w.err.code == RK_E_NOMEM);
		else
			CHECK_I64(got, 5 * N);
	}
	CHECK(!failed);
	rk_builder_release(&b);
	world_close(&w);
}
