/* rkraw_reader.c (test) - recorder's files made by hand, good and damaged. */
#include "read/rkraw/raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "every_alloc.h"
#include "rkraw_world.h"

static const uint64_t BRIEF = UINT64_C(1) << RK_K_NAME | 1 << RK_K_START | 1 << RK_K_DURATION |
			      1 << RK_K_TID;

static const char *dump_part(struct world *w, const struct image *m, size_t len)
{
	rk_diag_reset(w->ctx.diag, 0);
	return world_dump(w, world_file(w, "a.rkraw", m->bytes, len), RK_KERNELS, BRIEF);
}

static const char *dump(struct world *w, const struct image *m)
{
	return dump_part(w, m, sizeof(m->bytes));
}

#define BLOCK2                                                   \
	"kernel_name=gemm|start_ns=1000|duration_ns=10|tid=42\n" \
	"kernel_name=gemm|start_ns=1101|duration_ns=20|tid=43\n"
#define BLOCK3                                                   \
	"kernel_name=gemm|start_ns=1000|duration_ns=10|tid=43\n" \
	"kernel_name=gemm|start_ns=1101|duration_ns=20|tid=44\n"

TEST(blocks_are_read_in_the_order_of_their_sequence)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	CHECK_STR(dump(&w, m), BLOCK2 BLOCK3);
	block(m, 2)->sequence = 9;
	seal(m, 2);
	CHECK_STR(dump(&w, m), BLOCK3 BLOCK2);
	world_close(&w);
}

TEST(the_command_is_one_line)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(world_dump(&w, world_file(&w, "a.rkraw", make(), sizeof(make()->bytes)),
			     RK_PROCESSES, RK_WANT_ALL),
		  "pid=99|ppid=0|command=./a -b c|node=n1|start_ns=0|end_ns=0\n");
	world_close(&w);
}

/* ---- headers ---- */

TEST(headers_that_cannot_be_are_refused)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	header(m)->format = 2;
	CHECK(!dump(&w, m) && w.err.code == RK_E_UNSUPPORTED);
	m = make();
	header(m)->order = 0x04030201;
	CHECK(!dump(&w, m) && w.err.code == RK_E_UNSUPPORTED);
	for (unsigned i = 0; i < 4; i++) {
		static const uint32_t sizes[] = { 0, 4096, 48 << 10, 2 << 20 };

		m = make();
		header(m)->block_bytes = sizes[i];
		CHECK(!dump(&w, m) && w.err.code == RK_E_FORMAT);
	}
	m = make();
	CHECK(!dump_part(&w, m, 100) && w.err.code == RK_E_FORMAT);
	CHECK(!dump_part(&w, m, sizeof(struct rk_raw_header) - 1) && w.err.code == RK_E_FORMAT);
	world_close(&w);
}

TEST(a_header_with_a_wrong_sum_is_reported)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	header(m)->host[0] = 'x';
	CHECK_STR(dump(&w, m), BLOCK2 BLOCK3);
	CHECK_U64(world_warned(&w, "damaged-header"), 1);
	world_close(&w);
}

TEST(texts_that_fill_their_place_stay_in_it)
{
	struct image *m = make();
	struct rk_raw_header *h = header(m);
	struct world w;

	memset(h->collector, 'c', sizeof(h->collector));
	memset(h->host, 'h', sizeof(h->host));
	memset(h->exe, 'e', sizeof(h->exe));
	memset(h->command, 'x', sizeof(h->command));
	h->command_len = UINT32_MAX;
	seal_header(m);
	world_open(&w, 1);
	CHECK(world_dump(&w, world_file(&w, "a.rkraw", m->bytes, sizeof(m->bytes)), RK_PROCESSES,
			 RK_WANT_ALL) != NULL);
	CHECK_U64(w.text.len, 22 + 4096 + 6 + 256 + 21);
	world_close(&w);
}

/* ---- blocks ---- */

TEST(a_flipped_bit_costs_one_block)
{
	struct world w;

	world_open(&w, 1);
	for (unsigned i = 0; i < 64 + 20; i++) {
		struct image *m = make();
		bool padding = i >= 36 && i < 56; /* not in the sum */

		m->bytes[2 * BLOCK + i] ^= 0x10;
		CHECK_STR(dump(&w, m), padding ? BLOCK2 BLOCK3 : BLOCK3);
		CHECK_U64(world_warned(&w, "damaged-block"), padding ? 0 : 1);
	}
	world_close(&w);
}

TEST(an_open_block_is_read_as_far_as_it_was_published)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	header(m)->clean = 0;
	header(m)->stripes[3].begun = 7;
	header(m)->stripes[4].ended = 5;
	block(m, 3)->state = RK_RAW_OPEN;
	block(m, 3)->sum = 0;
	block(m, 3)->published = (uint64_t)1 << 32 | 12; /* the first record: 12 bytes */
	CHECK_STR(dump(&w, m), BLOCK2 "kernel_name=gemm|start_ns=1000|duration_ns=10|tid=43\n");
	CHECK_U64(world_warned(&w, "unclean-end"), 2);
	block(m, 3)->published = (uint64_t)1 << 32 | 13; /* half a record more */
	dump(&w, m);
	CHECK_U64(world_warned(&w, "damaged-record"), 1);
	block(m, 3)->state = RK_RAW_TAKEN;
	CHECK_STR(dump(&w, m), BLOCK2);
	CHECK_U64(world_warned(&w, "damaged-block"), 0);
	world_close(&w);
}

TEST(more_than_fits_a_block_is_damage)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	block(m, 2)->state = RK_RAW_OPEN;
	block(m, 2)->published = BLOCK - 63;
	CHECK_STR(dump(&w, m), BLOCK3);
	CHECK_U64(world_warned(&w, "damaged-block"), 1);
	block(m, 2)->published = UINT32_MAX;
	CHECK_STR(dump(&w, m), BLOCK3);
	world_close(&w);
}

TEST(a_file_that_is_cut_gives_its_whole_blocks)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	CHECK_STR(dump_part(&w, m, 3 * BLOCK), BLOCK2);
	CHECK_U64(world_warned(&w, "cut-file"), 0);
	CHECK_STR(dump_part(&w, m, 3 * BLOCK + 70), BLOCK2);
	CHECK_U64(world_warned(&w, "cut-file"), 1);
	CHECK_U64(world_warned(&w, "damaged-block"), 1);
	CHECK_STR(dump_part(&w, m, 3 * BLOCK + 63), BLOCK2);
	CHECK_STR(dump_part(&w, m, BLOCK), "");
	CHECK_STR(dump_part(&w, m, BLOCK / 2 + 1), "");
	world_close(&w);
}

/* ---- records ---- */

TEST(records_of_other_kinds_are_passed_over)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	PUT(m, 3, 15, 1, 2, 3);
	PUT(m, 3, 200, 1);
	PUT(m, 3, RK_RAW_DROP, 5);
	/* a copy and a call in between: differences go on through them */
	PUT(m, 3, RK_RAW_COPY, 1, QUEUE, 64, 2, 2, 200, 0, 0, 0);
	PUT(m, 3, RK_RAW_API, 0, 0, 100, 10);
	/* longer than this rockit knows */
	PUT(m, 3, RK_RAW_KERNEL, SHAPE, QUEUE, 0, 2, 200, 0, 0, 2, 77, 78);
	PUT(m, 3, RK_RAW_THREAD, 1234);
	PUT(m, 3, RK_RAW_KERNEL, SHAPE, QUEUE, 0, 2, 20, 0, 0, 2);
	seal(m, 3);
	CHECK_STR(dump(&w, m),
		  BLOCK2 BLOCK3 "kernel_name=gemm|start_ns=1300|duration_ns=1|tid=45\n"
				"kernel_name=gemm|start_ns=10|duration_ns=1|tid=1234\n");
	CHECK_U64(world_warned(&w, "unknown-record"), 2);
	world_close(&w);
}

TEST(a_short_record_ends_its_block)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	PUT(m, 2, RK_RAW_KERNEL, SHAPE, QUEUE, 0, 2, 200, 0, 0);
	PUT(m, 2, RK_RAW_KERNEL, SHAPE, QUEUE, 0, 2, 200, 0, 0, 2);
	seal(m, 2);
	CHECK_STR(dump(&w, m), BLOCK2 BLOCK3);
	CHECK_U64(world_warned(&w, "damaged-record"), 1);
	world_close(&w);
}

TEST(what_is_not_defined_is_left_empty)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	/* no such shape; a queue for a shape; a function where a shape should be: it does */
	PUT(m, 3, RK_RAW_KERNEL, 77, QUEUE, 0, 0, 0, 0, 0, 2);
	PUT(m, 3, RK_RAW_KERNEL, QUEUE, SHAPE, 0, 0, 0, 0, 0, 2);
	PUT(m, 3, RK_RAW_KERNEL, FUNCTION, QUEUE, 0, 0, 0, 0, 0, 2);
	seal(m, 3);
	CHECK_STR(dump(&w, m),
		  BLOCK2 BLOCK3 "start_ns=1100|duration_ns=1|tid=44\n"
				"start_ns=1100|duration_ns=1|tid=44\n"
				"kernel_name=gemm|start_ns=1100|duration_ns=1|tid=44\n");
	CHECK_U64(world_warned(&w, "unknown-name"), 2);
	world_close(&w);
}

TEST(definitions_with_impossible_numbers_are_left_out)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	PUT(m, 1, RK_RAW_QUEUE, UINT64_C(1) << 32, DEVICE, 6, 0);
	PUT(m, 1, RK_RAW_QUEUE, 0, DEVICE, 6, 0);
	PUT(m, 1, RK_RAW_QUEUE, UINT64_MAX, DEVICE, 6, 0);
	PUT(m, 1, RK_RAW_QUEUE, 7, DEVICE);
	PUT(m, 1, RK_RAW_QUEUE, UINT32_MAX, DEVICE, 8, 0);
	PUT(m, 3, RK_RAW_KERNEL, SHAPE, UINT32_MAX, 0, 0, 0, 0, 0, 2);
	seal(m, 1);
	seal(m, 3);
	CHECK_STR(dump(&w, m),
		  BLOCK2 BLOCK3 "kernel_name=gemm|start_ns=1100|duration_ns=1|tid=44\n");
	CHECK_U64(world_warned(&w, "definition-limit"), 3);
	CHECK_U64(world_warned(&w, "damaged-record"), 1);
	world_close(&w);
}

TEST(groups_of_nothing_and_huge_sizes_do_no_harm)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	PUT(m, 1, RK_RAW_SHAPE, 9, FUNCTION, 0, UINT64_MAX, INT64_MAX, 1, 0, 1, UINT64_MAX);
	PUT(m, 3, RK_RAW_KERNEL, 9, QUEUE, 0, UINT64_MAX, 0, 0, 0, 0);
	seal(m, 1);
	seal(m, 3);
	CHECK(world_dump(&w, world_file(&w, "a.rkraw", m->bytes, sizeof(m->bytes)), RK_KERNELS,
			 RK_WANT_ALL) != NULL);
	CHECK(world_warned(&w, "number-out-of-range") > 0);
	world_close(&w);
}

/* ---- clocks ---- */

#define ZZ(v) ((uint64_t)(int64_t)(v) << 1 ^ (0 - ((uint64_t)(int64_t)(v) >> 63)))

/* The start of a kernel at device time `at`, by the calibrations that were put. */
static int64_t start_at(struct world *w, struct image *m, int64_t at)
{
	const char *text;
	int64_t start = -1;

	block(m, 2)->published = 0;
	block(m, 2)->types = 0;
	memset(block(m, 3), 0, sizeof(struct rk_raw_block));
	PUT(m, 2, RK_RAW_KERNEL, SHAPE, QUEUE, 0, 0, ZZ(at), 0, 0, 0);
	seal(m, 2);
	seal(m, 1);
	rk_diag_reset(w->ctx.diag, 0);
	text = world_dump(w, world_file(w, "a.rkraw", m->bytes, sizeof(m->bytes)), RK_KERNELS,
			  1 << RK_K_START);
	if (!text || sscanf(text, "start_ns=%" SCNd64, &start) != 1)
		return -1;
	return start;
}

TEST(one_calibration_moves_times_by_a_difference)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(1000), ZZ(501000), ZZ(7), ZZ(50));
	CHECK_I64(start_at(&w, m, 3000), 503000);
	/* a tighter one, soon after, is better; too near to make a line */
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(2000), ZZ(502010), ZZ(7), ZZ(10));
	CHECK_I64(start_at(&w, m, 3000), 503010);
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
}

TEST(two_calibrations_make_a_line)
{
	struct image *m = make();
	int64_t s = 1000000000;
	struct world w;

	world_open(&w, 1);
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(0), ZZ(5 * s), ZZ(7), ZZ(50));
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(10 * s), ZZ(15 * s + 1000), ZZ(7), ZZ(50));
	CHECK_I64(start_at(&w, m, 0), 5 * s);
	CHECK_I64(start_at(&w, m, 5 * s), 10 * s + 500);
	CHECK_I64(start_at(&w, m, 10 * s), 15 * s + 1000);
	CHECK_I64(start_at(&w, m, -10 * s), -5 * s - 1000);
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
}

TEST(a_clock_that_jumped_makes_no_line)
{
	struct image *m = make();
	int64_t s = 1000000000;
	struct world w;

	world_open(&w, 1);
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(0), ZZ(5 * s), ZZ(7), ZZ(5));
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(10 * s), ZZ(16 * s), ZZ(7), ZZ(50));
	CHECK_I64(start_at(&w, m, 5 * s), 10 * s);
	CHECK_U64(world_warned(&w, "clock-drift"), 1);
	world_close(&w);
}

TEST(calibrations_at_the_ends_of_time_do_no_harm)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(INT64_MIN), ZZ(INT64_MAX), 0, 0);
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(INT64_MAX), ZZ(INT64_MIN), 0, ZZ(-1));
	CHECK_I64(start_at(&w, m, 5), -1);
	CHECK_U64(world_warned(&w, "time-out-of-range"), 1);
	CHECK_U64(world_warned(&w, "damaged-record"), 1);
	PUT(m, 1, RK_RAW_CALIBRATION, DEVICE, ZZ(INT64_MAX), ZZ(INT64_MIN), 0, 0);
	start_at(&w, m, 5);
	for (unsigned i = 0; i < RAW_MAX_CLOCKS + 5; i++)
		PUT(m, 1, RK_RAW_CALIBRATION, i + 100, 0, 0, 0, 0);
	CHECK_I64(start_at(&w, m, 5), -1);
	world_close(&w);
}

TEST(every_allocation_of_a_recorders_file_may_fail)
{
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	PUT(m, 3, RK_RAW_COPY, 1, QUEUE, 64, 2, 2, 200, 0, 0, 0);
	PUT(m, 3, RK_RAW_API, NAME, 0, 100, 10);
	PUT(m, 3, RK_RAW_ALLOC, 1, DEVICE, 100, 10, 5, 5);
	seal(m, 3);
	every_alloc_may_fail(world_file(&w, "a.rkraw", m->bytes, sizeof(m->bytes)), 9);
	world_close(&w);
}

TEST(what_a_recorders_file_says_of_itself)
{
	struct rk_rkraw_info info = { 0 };
	struct image *m = make();
	struct world w;

	world_open(&w, 1);
	header(m)->dropped[RK_RAW_DISK] = 3;
	header(m)->dropped[RK_RAW_FULL] = UINT64_MAX;
	CHECK_I64(rk_rkraw_info(world_file(&w, "a.rkraw", m->bytes, sizeof(m->bytes)), &info,
				&w.err),
		  0);
	CHECK_U64(info.dropped, UINT64_MAX);
	CHECK_U64(info.dropped_for[RK_RAW_DISK], 3);
	CHECK_U64(info.records, 4);
	CHECK_I64(info.clock_error_ns, -1);
	CHECK(info.clean && info.pid == 99);
	CHECK(rk_rkraw_info(world_text(&w, "b", "rkraw"), &info, &w.err) == RK_E_FORMAT);
	world_close(&w);
}
