/* rkraw_launches.c (test) - launches and their times, from two records to one kernel. */
#include "read/rkraw/raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "every_alloc.h"
#include "rkraw_world.h"

static const uint64_t BRIEF = UINT64_C(1) << RK_K_START | 1 << RK_K_DURATION | 1 << RK_K_DISPATCH |
			      1 << RK_K_CORRELATION | 1 << RK_K_TID | UINT64_C(1) << RK_K_SUBMIT;

/* Two empty data blocks of threads 42 and 43. */
static struct image *empty(void)
{
	struct image *m = make();

	for (unsigned i = 2; i < BLOCKS; i++) {
		memset(block(m, i), 0, BLOCK);
		begin(m, i, RK_RAW_DATA);
	}
	header(m)->flags |= RK_RAW_SWITCHED;
	seal_header(m);
	return m;
}

/* Of the first such record in a block. */
static void put_launch(struct image *m, unsigned i, int64_t id, int64_t corr, int64_t submit)
{
	PUT(m, i, RK_RAW_LAUNCH, zigzag(id), zigzag(corr), SHAPE, QUEUE, 0, zigzag(submit));
}

static void put_ran(struct image *m, unsigned i, int64_t id, int64_t start, int64_t duration)
{
	PUT(m, i, RK_RAW_RAN, zigzag(id), zigzag(start), zigzag(duration));
}

static const char *dump(struct world *w, struct image *m, enum rk_table t, uint64_t want)
{
	for (unsigned i = 1; i < BLOCKS; i++)
		seal(m, i);
	rk_diag_reset(w->ctx.diag, 0);
	return world_dump(w, world_file(w, "a.rkraw", m->bytes, sizeof(m->bytes)), t, want);
}

TEST(a_launch_and_its_times_are_one_kernel_in_either_order)
{
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	put_launch(m, 2, 5, 9, 1100);
	put_ran(m, 3, 5, 1200, 30);
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF),
		  "start_ns=1200|duration_ns=30|dispatch_id=5|correlation_id=9|tid=42\n");
	m = empty();
	put_ran(m, 2, 5, 1200, 30);
	put_launch(m, 3, 5, 9, 1100);
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF),
		  "start_ns=1200|duration_ns=30|dispatch_id=5|correlation_id=9|tid=43\n");
	CHECK_STR(world_warnings(&w), "uncalibrated-clock:1 ");
	world_close(&w);
}

TEST(differences_of_launches_are_their_own_and_begin_again_with_a_thread)
{
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	PUT(m, 2, RK_RAW_KERNEL, SHAPE, QUEUE, 0, 2, 2000, 0, 0, 20);
	put_launch(m, 2, 5, 9, 1100);
	/* the next one: id 4, correlation 11, thread 45, 50 ns later; node 3 of graph 1 */
	PUT(m, 2, RK_RAW_LAUNCH, zigzag(-1), zigzag(2), SHAPE, QUEUE, zigzag(3), zigzag(50), 1,
	    zigzag(3 - (INT64_C(1) << 32)));
	PUT(m, 2, RK_RAW_KERNEL, SHAPE, QUEUE, 0, 2, 2000, 0, 0, 20);
	PUT(m, 2, RK_RAW_THREAD, 70);
	put_launch(m, 2, 6, 12, 1300);
	put_ran(m, 3, 4, 1200, 30);
	put_ran(m, 3, 1, 100, 31);
	put_ran(m, 3, 1, 100, 32);
	CHECK_STR(dump(&w, m, RK_KERNELS,
		       BRIEF | UINT64_C(1) << RK_K_GRAPH | UINT64_C(1) << RK_K_GRAPH_NODE),
		  "start_ns=1000|duration_ns=10|dispatch_id=1|correlation_id=1|tid=42\n"
		  "start_ns=2000|duration_ns=10|dispatch_id=2|correlation_id=2|tid=42\n"
		  "start_ns=1200|duration_ns=30|dispatch_id=4|correlation_id=11|tid=45|graph_id=1|"
		  "graph_node_id=3\n"
		  "start_ns=1300|duration_ns=31|dispatch_id=5|correlation_id=9|tid=42\n"
		  "start_ns=1400|duration_ns=32|dispatch_id=6|correlation_id=12|tid=70\n");
	world_close(&w);
}

TEST(a_launch_that_never_ran_is_a_kernel_without_times)
{
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	put_launch(m, 2, 8, 9, 1100);
	put_launch(m, 2, -1, 1, 5);
	PUT(m, 3, RK_RAW_RAN, zigzag(7), zigzag(1200), zigzag(4));
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF),
		  "start_ns=1200|duration_ns=4|dispatch_id=7|correlation_id=10|tid=42\n"
		  "dispatch_id=8|correlation_id=9|tid=42|submit_ns=1100\n");
	/* without any times in the file launches need not wait */
	m = empty();
	put_launch(m, 2, 8, 9, 1100);
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF),
		  "dispatch_id=8|correlation_id=9|tid=42|submit_ns=1100\n");
	world_close(&w);
}

TEST(times_of_a_launch_that_is_not_there_are_counted)
{
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	put_ran(m, 2, 5, 1200, 30);
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF), "");
	CHECK_U64(world_warned(&w, "never-launched"), 1);
	put_launch(m, 3, 6, 9, 1100);
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF),
		  "dispatch_id=6|correlation_id=9|tid=43|submit_ns=1100\n");
	CHECK_U64(world_warned(&w, "never-launched"), 1);
	world_close(&w);
}

#define L "dispatch_id=5|correlation_id=9|tid=42|submit_ns=1100\n"
#define LATER "dispatch_id=5|correlation_id=10|tid=42|submit_ns=1100\n"
#define PAIR "start_ns=1200|duration_ns=30|dispatch_id=5|correlation_id=9|tid=42\n"

/* Records of block 2: L is a launch with number 5, R are its times. */
static const char *play(struct world *w, const char *records)
{
	struct image *m = empty();
	int64_t id = 5, corr = 9, submit = 1100, start = 1200;

	for (; *records; records++, id = 0) {
		if (*records == 'L') {
			put_launch(m, 2, id, corr, submit);
			corr = 1;
			submit = 0;
		} else {
			put_ran(m, 2, id, start, 30);
			start = 0;
		}
	}
	return dump(w, m, RK_KERNELS, BRIEF);
}

TEST(a_number_that_is_used_twice_never_gets_the_times_of_another)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(play(&w, "LR"), PAIR);
	CHECK_STR(play(&w, "LLR"), LATER L);
	CHECK_U64(world_warned(&w, "launched-twice"), 1);
	CHECK_STR(play(&w, "RRL"), L);
	CHECK_U64(world_warned(&w, "ran-twice"), 1);
	CHECK_STR(play(&w, "LRL"), PAIR LATER);
	CHECK_U64(world_warned(&w, "launched-twice"), 1);
	CHECK_STR(play(&w, "LRR"), PAIR);
	CHECK_U64(world_warned(&w, "ran-twice"), 1);
	CHECK_STR(play(&w, "LRLR"), PAIR LATER);
	CHECK_U64(world_warned(&w, "launched-twice"), 1);
	CHECK_U64(world_warned(&w, "ran-twice"), 1);
	world_close(&w);
}

TEST(kernels_with_no_or_doubtful_or_impossible_times_are_counted)
{
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, 0, 0, 0, 0);
	put_launch(m, 2, 1, 1, 5000000);
	put_launch(m, 2, 1, 1, 0);
	put_launch(m, 2, 1, 1, 0);
	put_launch(m, 2, 1, 1, 0);
	PUT(m, 3, RK_RAW_RAN, zigzag(1), 0, 0, RK_RAW_NO_TIMES);
	PUT(m, 3, RK_RAW_RAN, zigzag(1), zigzag(5000010), zigzag(7), RK_RAW_DOUBTFUL);
	put_ran(m, 3, 1, -4000000, 8);
	put_ran(m, 3, 1, INT64_MAX, 9);
	CHECK_STR(dump(&w, m, RK_KERNELS,
		       1 << RK_K_START | 1 << RK_K_DURATION | 1 << RK_K_DISPATCH),
		  "dispatch_id=1\nstart_ns=5000010|duration_ns=7|dispatch_id=2\n"
		  "start_ns=1000010|duration_ns=8|dispatch_id=3\n"
		  "start_ns=-9223372036853775799|duration_ns=9|dispatch_id=4\n");
	CHECK_STR(world_warnings(&w), "no-device-times:1 doubtful-times:1 start-before-launch:2 ");
	world_close(&w);
}

TEST(a_collector_of_rocm_names_stream_and_hardware_queue)
{
	const uint64_t want = 1 << RK_K_STREAM | 1 << RK_K_QUEUE | UINT64_C(1) << RK_K_CONTEXT |
			      1 << RK_K_REGS | 1 << RK_K_VGPR | 1 << RK_K_ACCUM_VGPR |
			      1 << RK_K_SGPR;
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	memcpy(header(m)->collector, "rocm\0\0", 7);
	seal_header(m);
	PUT(m, 1, RK_RAW_QUEUE, 20, DEVICE, 7, 0, 3 + 1);
	PUT(m, 1, RK_RAW_FUNCTION, 21, NAME, DEVICE, 40 + 1, 0, 0, 8 + 1, 40 + 1);
	PUT(m, 2, RK_RAW_LAUNCH, 2, 2, 21, 20, 0, 2);
	PUT(m, 2, RK_RAW_LAUNCH, 2, 2, SHAPE, QUEUE, 0, 2);
	CHECK_STR(dump(&w, m, RK_KERNELS, want),
		  "regs=40|stream_id=7|queue_id=3|vgpr=32|accum_vgpr=8|sgpr=40\n"
		  "stream_id=6|queue_id=6\n");
	world_close(&w);
}

TEST(short_call_records_are_calls)
{
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	PUT(m, 2, RK_RAW_CALL, NAME, 1 + zigzag(9), zigzag(1000), zigzag(5));
	put_launch(m, 2, 1, 1, 20);
	PUT(m, 2, RK_RAW_CALL, NAME, 0, zigzag(30), zigzag(6));
	PUT(m, 2, RK_RAW_API, NAME, 3, zigzag(2000), zigzag(7));
	PUT(m, 2, RK_RAW_CALL, NAME, 1 + zigzag(1), zigzag(30), zigzag(8), 77, NAME);
	PUT(m, 2, RK_RAW_THREAD, 70);
	PUT(m, 2, RK_RAW_CALL, NAME, 1 + zigzag(4), zigzag(3000), zigzag(9));
	CHECK_STR(dump(&w, m, RK_API, RK_WANT_ALL & ~(UINT64_C(1) << RK_A_PID | 1 << RK_A_NODE)),
		  "domain=OPENCL_API|function=gemm|start_ns=1000|duration_ns=5|correlation_id=9|"
		  "tid=42\n"
		  "domain=OPENCL_API|function=gemm|start_ns=1050|duration_ns=6|tid=42\n"
		  "domain=OPENCL_API|function=gemm|start_ns=2000|duration_ns=7|correlation_id=3|"
		  "tid=42\n"
		  "domain=gemm|function=gemm|start_ns=1080|duration_ns=8|correlation_id=11|tid=77\n"
		  "domain=OPENCL_API|function=gemm|start_ns=3000|duration_ns=9|correlation_id=4|"
		  "tid=70\n");
	/* the kernel shares their differences */
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF),
		  "dispatch_id=1|correlation_id=10|tid=42|submit_ns=1020\n");
	world_close(&w);
}

TEST(a_device_has_its_address_and_number)
{
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	PUT(m, 1, RK_RAW_DEVICE, 30, 5, 1, NAME, 0, 0, 0, 0, 0, 0, 0,
	    1 + (0x10002u << 16 | 0xc1 << 8 | 3 << 3 | 1), 0xabcdef);
	CHECK_STR(dump(&w, m, RK_AGENTS, 1 << RK_G_DEVICE | 1 << RK_G_PCI | 1 << RK_G_UNIQUE_ID),
		  "device_id=3\ndevice_id=5|pci=0002:c1:03.1|unique_id=0x0000000000abcdef\n");
	world_close(&w);
}

TEST(in_a_window_records_whose_names_are_gone_are_counted)
{
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	header(m)->live_from = 3;
	PUT(m, 2, RK_RAW_LAUNCH, 2, 2, 99, QUEUE, 0, 2);
	PUT(m, 2, RK_RAW_CALL, 99, 0, 2, 2);
	put_launch(m, 2, 1, 1, 20);
	PUT(m, 3, RK_RAW_LAUNCH, zigzag(7), 2, 99, QUEUE, 0, 2);
	CHECK_STR(dump(&w, m, RK_KERNELS, 1 << RK_K_NAME | 1 << RK_K_DISPATCH),
		  "kernel_name=gemm|dispatch_id=2\ndispatch_id=7\n");
	CHECK_STR(world_warnings(&w), "overwritten-names:1 unknown-name:1 ");
	CHECK_STR(dump(&w, m, RK_API, RK_WANT_ALL), "");
	CHECK_U64(world_warned(&w, "overwritten-names"), 1);
	world_close(&w);
}

TEST(records_left_out_on_purpose_are_in_the_summary)
{
	struct rk_rkraw_info info = { 0 };
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	header(m)->stripes[3].skipped[RK_RAW_ASLEEP] = 5;
	header(m)->stripes[4].skipped[RK_RAW_ASLEEP] = 2;
	header(m)->stripes[4].skipped[RK_RAW_EVERY] = 1;
	header(m)->stripes[5].skipped[RK_RAW_SAMPLE] = UINT64_MAX;
	header(m)->stripes[6].skipped[RK_RAW_SAMPLE] = 9;
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF), "");
	CHECK_U64(world_warned(&w, "skipped-records"), UINT64_MAX);
	CHECK_I64(rk_rkraw_info(w.path, &info, &w.err), 0);
	CHECK_U64(info.skipped[RK_RAW_ASLEEP], 7);
	CHECK_U64(info.skipped[RK_RAW_SAMPLE], UINT64_MAX);
	CHECK_U64(info.skipped[RK_RAW_EVERY], 1);
	CHECK_U64(info.skipped[RK_RAW_RANGE], 0);
	world_close(&w);
}

TEST(blocks_overwritten_while_a_window_was_copied_are_counted)
{
	struct rk_rkraw_info info = { 0 };
	struct image *m = empty();
	struct world w;

	world_open(&w, 1);
	header(m)->copied_over = 3; /* means nothing in a file that is not a copy */
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF), "");
	CHECK_STR(world_warnings(&w), "");
	header(m)->flags |= RK_RAW_SNAP;
	header(m)->clean = 0;
	seal_header(m);
	CHECK_STR(dump(&w, m, RK_KERNELS, BRIEF), "");
	CHECK_STR(world_warnings(&w), "overwritten-in-copy:3 ");
	CHECK_I64(rk_rkraw_info(w.path, &info, &w.err), 0);
	CHECK_U64(info.copied_over, 3);
	world_close(&w);
}

/* ---- large files ---- */

/* Writes the scratch block 2 of an image to a file and empties it. */
static void put_block(struct image *m, FILE *f, uint64_t *sequence)
{
	block(m, 2)->sequence = ++*sequence;
	seal(m, 2);
	fwrite(block(m, 2), BLOCK, 1, f);
	memset(block(m, 2), 0, BLOCK);
	begin(m, 2, RK_RAW_DATA);
}

/* n launches with numbers from 1 on, then the times of those that `step` divides, backwards. */
static const char *make_large(struct world *w, int64_t n, int64_t step)
{
	struct image *m = empty();
	uint64_t sequence = 10;
	int64_t id = 0;
	FILE *f;

	seal(m, 1);
	f = fopen(world_file(w, "large.rkraw", m->bytes, 2 * (size_t)BLOCK), "ab");
	if (!CHECK(f != NULL))
		return "";
	for (int64_t i = 1; i <= n; i++) {
		put_launch(m, 2, i - id, 0, i == 1 ? 1000 : 3);
		id = i;
		if (i == n || (uint32_t)block(m, 2)->published > BLOCK - 200) {
			put_block(m, f, &sequence);
			id = 0;
		}
	}
	id = 0;
	for (int64_t i = n - n % step; i > 0; i -= step) {
		put_ran(m, 2, i - id, id ? -1 : i + 1000000, i % 1000);
		id = i;
		if (i == step || (uint32_t)block(m, 2)->published > BLOCK - 200) {
			put_block(m, f, &sequence);
			id = 0;
		}
	}
	fclose(f);
	return w->path;
}

/* Rows with and without times; `wrong`: rows with times of another. */
static void count_large(struct world *w, const char *path, uint64_t *ret_timed, uint64_t *ret_not,
			uint64_t *ret_wrong)
{
	struct rk_source *rows = NULL;
	struct rk_reader *r = NULL;
	const struct rk_batch *b;

	*ret_timed = *ret_not = *ret_wrong = 0;
	if (!CHECK_I64(rk_reader_open(path, &w->ctx, &r, &w->err), 0) ||
	    !CHECK_I64(r->ops->scan(r, RK_KERNELS, BRIEF, &rows, &w->err), 0))
		return;
	while (rk_source_next(rows, &b, &w->err) > 0)
		for (size_t i = 0; i < b->nrows; i++) {
			bool timed = rk_column_has(&b->cols[RK_K_DURATION], i);

			*ret_timed += timed;
			*ret_not += !timed;
			*ret_wrong += timed && rk_batch_int(b, RK_K_DURATION, i, 0) !=
						       rk_batch_int(b, RK_K_DISPATCH, i, 0) % 1000;
		}
	rk_source_close(rows);
	rk_reader_close(r);
}

TEST(more_launches_than_fit_in_memory_find_their_times)
{
	const int64_t n = 2400000;
	uint64_t timed, untimed, wrong;
	struct world w;

	world_open(&w, 1);
	count_large(&w, make_large(&w, n, 2), &timed, &untimed, &wrong);
	CHECK_U64(timed, (uint64_t)n / 2);
	CHECK_U64(untimed, (uint64_t)n / 2);
	CHECK_U64(wrong, 0);
	CHECK_STR(world_warnings(&w), "uncalibrated-clock:1200000 ");
	world_close(&w);
}

TEST(a_failed_allocation_is_an_error_while_launches_wait)
{
	struct world w;

	world_open(&w, 1);
	every_alloc_may_fail(make_large(&w, 3000, 3), 3002);
	world_close(&w);
}
