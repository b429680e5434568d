/* csv_scan.c - whole CSV files: the same rows however the text is cut, and warnings. */
#include "codec/csv/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

static const char header[] =
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
	"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
	"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
	"\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
	"\"Grid_Size_Y\",\"Grid_Size_Z\"\n";

/* What the rows of a stretch of the file look like. */
enum style {
	PLAIN,
	COMMAS,
	QUOTES,
	LINE_ENDS,
	QUOTED_NUMBERS,
	HOLES,
	CRLF,
	BROKEN,
	LONG_NAMES,
	NSTYLES
};

/* A file and, written beside it by hand as it were, the rows that must come out of it. */
struct made {
	struct rk_bytes text, rows;
	uint64_t seed, lines, short_rows, long_rows, joined, repeated, nrows;
	uint64_t first_short; /* line */
};

static unsigned pick(struct made *m, unsigned n)
{
	return (unsigned)(world_random(&m->seed) % n);
}

static const char *name_for(struct made *m, enum style style, char *buf, size_t cap)
{
	static const char *const commas[] = { "void k<float, 4>(float*, int)", "a,b,c,,", ",",
					      "f(1,2,3)" };
	static const char *const quotes[] = {
		"say \"hi\"", "a\",\"b", "x\",1,2,\"y", "\"", "\"q\"", "q\",", "\",\"", "odd \" one"
	};
	static const char *const ends[] = { "two\nlines",   "\n",
					    "a\n\nb",       "x,\ny,1,2\nz",
					    "k<\"a\">\n",   "one\r\ntwo",
					    "\"p\"\n\"q\"", "1\n2\n3\n4\n5\n6" };

	if (style == COMMAS)
		return commas[pick(m, 4)];
	if (style == QUOTES)
		return quotes[pick(m, 8)];
	if (style == LINE_ENDS)
		return ends[pick(m, 8)];
	if (style == LONG_NAMES) {
		size_t len = 1000 + pick(m, (unsigned)cap - 1001);

		memset(buf, 'L', len);
		buf[len] = '\0';
		return buf;
	}
	snprintf(buf, cap, "kernel_%u", pick(m, 100));
	return buf;
}

/* Both forms of one number cell and its name in the rows; n < 0: an empty cell. */
static void put_number(struct made *m, enum style style, int64_t n, bool last)
{
	if (n >= 0)
		rk_bytes_printf(&m->text, style == QUOTED_NUMBERS ? "\"%" PRId64 "\"" : "%" PRId64,
				n);
	rk_bytes_puts(&m->text, last ? "" : ",");
}

static void expect(struct made *m, const char *name, int64_t n)
{
	if (n >= 0)
		rk_bytes_printf(&m->rows, "|%s=%" PRId64, name, n);
}

/* Columns behind the name: correlation, start, end, and eleven sizes. */
struct numbers {
	int64_t left[5]; /* queue, stream, thread, dispatch, kernel */
	int64_t right[14];
};

static void choose_numbers(struct made *m, enum style style, struct numbers *n)
{
	unsigned kernel = pick(m, 50);

	for (unsigned i = 0; i < 5; i++)
		n->left[i] = pick(m, i == 3 ? 1000000 : 7);
	n->right[0] = (int64_t)(world_random(&m->seed) >> (8 + pick(m, 50)));
	n->right[1] = 1000000000000000 + (int64_t)m->nrows * 1000 + pick(m, 100);
	n->right[2] = n->right[1] + pick(m, 5000);
	for (unsigned i = 3; i < 14; i++)
		n->right[i] = (int64_t)kernel * (i < 11 ? i : 100 + i) % (i < 8 ? 66000 : 99999999);
	for (unsigned i = 8; i < 11; i++)
		n->right[i]++; /* workgroups are not empty */
	if (style == HOLES) {
		n->left[1] = pick(m, 2) ? -1 : 4;
		n->right[0] = pick(m, 2) ? -1 : 4;
		n->right[3] = pick(m, 2) ? -1 : 4;
		n->right[13] = pick(m, 2) ? -1 : 4;
		n->right[2] = pick(m, 4) ? n->right[2] : -1;
	}
}

static void put_row_text(struct made *m, enum style style, const char *name,
			 const struct numbers *n)
{
	rk_bytes_puts(&m->text, "\"KERNEL_DISPATCH\",\"Agent 4\",");
	for (unsigned i = 0; i < 5; i++)
		put_number(m, style, n->left[i], false);
	rk_bytes_printf(&m->text, "\"%s\",", name);
	for (unsigned i = 0; i < 14; i++)
		put_number(m, style, n->right[i], i == 13);
	rk_bytes_puts(&m->text, style == CRLF ? "\r\n" : "\n");
	for (; *name; name++)
		m->lines += *name == '\n';
	m->lines++;
}

static int64_t groups(int64_t items, int64_t block)
{
	return items < 0 ? -1 : (items + block - 1) / block;
}

static void put_expected(struct made *m, const char *name, const struct numbers *n)
{
	static const char *const grid[] = { "grid_x", "grid_y", "grid_z" };
	static const char *const block[] = { "block_x", "block_y", "block_z" };
	static const char *const items[] = { "grid_items_x", "grid_items_y", "grid_items_z" };
	const int64_t *r = n->right;

	rk_bytes_printf(&m->rows, "kernel_name=%s", name);
	expect(m, "start_ns", r[1]);
	expect(m, "duration_ns", r[2] < 0 ? -1 : r[2] - r[1]);
	for (unsigned i = 0; i < 3; i++)
		expect(m, grid[i], groups(r[11 + i], r[8 + i]));
	for (unsigned i = 0; i < 3; i++)
		expect(m, block[i], r[8 + i]);
	expect(m, "regs", r[5] + r[6]);
	expect(m, "shared_mem", r[3]);
	expect(m, "stream_id", n->left[1]);
	expect(m, "device_id", 4);
	expect(m, "queue_id", n->left[0]);
	expect(m, "dispatch_id", n->left[3]);
	expect(m, "correlation_id", r[0]);
	expect(m, "tid", n->left[2]);
	expect(m, "vgpr", r[5]);
	expect(m, "accum_vgpr", r[6]);
	expect(m, "sgpr", r[7]);
	expect(m, "scratch_bytes", r[4]);
	for (unsigned i = 0; i < 3; i++)
		expect(m, items[i], r[11 + i]);
	rk_bytes_puts(&m->rows, "|source=rocprofv3-csv|clock=boottime\n");
	m->nrows++;
}

/* Lines that give no row, each for a reason that is counted. */
static void put_broken(struct made *m)
{
	switch (pick(m, 5)) {
	case 0:
		rk_bytes_puts(&m->text, "\"KERNEL_DISPATCH\",\"Agent 4\",1,2,3\n");
		m->first_short = m->short_rows ? m->first_short : m->lines + 1;
		m->short_rows++;
		break;
	case 1:
		rk_bytes_puts(&m->text,
			      "\"KERNEL_DISPATCH\",\"Agent 4\",1,2,3,4,5,\"n\",1,2,3,4,5,6,7,"
			      "8,9,10,11,12,13,14,15,16\n");
		m->long_rows++;
		break;
	case 2:
		rk_bytes_puts(&m->text, "\n");
		break;
	case 3:
		rk_bytes_puts(&m->text, " \t\r\n");
		break;
	default:
		rk_bytes_puts(&m->text, header);
		m->repeated++;
	}
	m->lines++;
}

static void make_file(struct made *m, uint64_t seed, size_t bytes, bool in_long_runs)
{
	static char buf[20000];
	enum style style = PLAIN;
	unsigned left = 0;

	*m = (struct made){ .seed = seed, .lines = 1 };
	rk_bytes_init(&m->text, (size_t)1 << 30);
	rk_bytes_init(&m->rows, (size_t)1 << 30);
	rk_bytes_puts(&m->text, header);
	while (m->text.len < bytes) {
		struct numbers n;
		const char *name;

		if (!left--) {
			style = (enum style)pick(m, NSTYLES);
			left = in_long_runs ? 50 + pick(m, style == LONG_NAMES ? 40 : 2000) :
					      pick(m, 5);
		}
		if (style == BROKEN) {
			put_broken(m);
			continue;
		}
		name = name_for(m, style, buf, sizeof(buf));
		choose_numbers(m, style, &n);
		put_row_text(m, style, name, &n);
		put_expected(m, name, &n);
		m->joined += strchr(name, '\n') != NULL;
	}
}

static void made_release(struct made *m)
{
	rk_bytes_release(&m->text);
	rk_bytes_release(&m->rows);
}

/* Says where two long texts part, instead of printing both. */
static bool same_text(const char *got, const char *want)
{
	size_t i = 0, line = 1, from = 0;

	if (!CHECK(got != NULL))
		return false;
	for (; got[i] && got[i] == want[i]; i++) {
		if (got[i] == '\n') {
			line++;
			from = i + 1;
		}
	}
	if (!CHECK(got[i] == want[i])) {
		printf("# row %zu\n# got  %.400s\n# want %.400s\n", line, got + from, want + from);
		return false;
	}
	return true;
}

static void check_made(const struct made *m, unsigned threads)
{
	struct world w;
	const char *path;

	world_open(&w, threads);
	path = world_file(&w, "1_kernel_trace.csv", m->text.data, m->text.len);
	if (!same_text(world_dump(&w, path, RK_KERNELS, RK_WANT_ALL), (char *)m->rows.data))
		printf("# with %u threads\n", threads);
	CHECK_U64(world_warned(&w, "short-row"), m->short_rows);
	CHECK_U64(world_warned_line(&w, "short-row"), m->first_short);
	CHECK_U64(world_warned(&w, "long-row"), m->long_rows);
	CHECK_U64(world_warned(&w, "repeated-header"), m->repeated);
	CHECK_U64(world_warned(&w, "line-break-in-name"), m->joined);
	world_close(&w);
}

TEST(any_mix_of_rows_is_the_same_with_one_two_and_three_threads)
{
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct made m;

		make_file(&m, seed * 7919, 3 << 20, false);
		rk_bytes_str(&m.rows);
		for (unsigned threads = 1; threads <= 3; threads++)
			check_made(&m, threads);
		made_release(&m);
	}
}

TEST(long_runs_of_odd_rows_are_the_same_with_one_two_and_three_threads)
{
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct made m;

		make_file(&m, seed * 104729, 4 << 20, true);
		rk_bytes_str(&m.rows);
		for (unsigned threads = 1; threads <= 3; threads++)
			check_made(&m, threads);
		made_release(&m);
	}
}

TEST(what_is_wanted_changes_no_row)
{
	const uint64_t want = 1u << RK_K_NAME | 1u << RK_K_START | 1u << RK_K_DURATION;
	struct made m;
	struct world w;
	char *all, *some, *row, *save;
	const char *path;
	size_t rows = 0;

	make_file(&m, 31337, 1 << 20, false);
	world_open(&w, 2);
	path = world_file(&w, "1_kernel_trace.csv", m.text.data, m.text.len);
	all = strdup(world_dump(&w, path, RK_KERNELS, RK_WANT_ALL));
	rk_diag_reset(w.ctx.diag, 0);
	some = strdup(world_dump(&w, path, RK_KERNELS, want));
	CHECK_U64(world_warned(&w, "short-row"), m.short_rows);
	CHECK_U64(world_warned(&w, "long-row"), m.long_rows);
	/* each row of `some` begins the row of `all`; names hold line ends, so rows are found by it */
	save = all;
	for (row = some; *row; row = strstr(row, "\nkernel_name=")) {
		char *end = strstr(++row, "|start_ns=");
		size_t len;

		row -= rows == 0;
		if (!CHECK(end != NULL))
			break;
		len = (size_t)(end - row);
		if (!CHECK(!strncmp(save, row, len)))
			break;
		rows++;
		save = strstr(save, "\nkernel_name=");
		if (!save || !strstr(row, "\nkernel_name="))
			break;
		save++;
	}
	CHECK_U64(rows, m.nrows);
	free(all);
	free(some);
	world_close(&w);
	made_release(&m);
}

static void put_plain(struct rk_bytes *text, unsigned i)
{
	rk_bytes_printf(
		text,
		"\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9,%u,7,\"k\",5,%u,%u,0,0,8,0,16,64,1,1,"
		"64,1,1\n",
		i, 1000 + i, 2000 + i);
}

static void put_name_of(struct rk_bytes *text, size_t len)
{
	rk_bytes_puts(text, "\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9,0,7,\"");
	for (; len; len--)
		rk_bytes_put_u8(text, 'x');
	rk_bytes_puts(text, "\",5,1000,2000,0,0,8,0,16,64,1,1,64,1,1\n");
}

static size_t rows_in(const char *dump)
{
	size_t n = 0;

	for (; dump && *dump; dump++)
		n += *dump == '\n';
	return n;
}

/* A row over the limit after `before` plain ones, and 50 more behind it. */
static void check_huge(unsigned before, size_t len, unsigned threads, uint64_t huge)
{
	struct rk_bytes text;
	struct world w;
	const char *path;

	rk_bytes_init(&text, (size_t)1 << 30);
	rk_bytes_puts(&text, header);
	for (unsigned i = 0; i < before; i++)
		put_plain(&text, i);
	put_name_of(&text, len);
	for (unsigned i = 0; i < 50; i++)
		put_plain(&text, before + i);
	world_open(&w, threads);
	path = world_file(&w, "1_kernel_trace.csv", text.data, text.len);
	CHECK_U64(rows_in(world_dump(&w, path, RK_KERNELS, RK_WANT_ALL)), before + 51 - huge);
	CHECK_U64(world_warned(&w, "huge-row"), huge);
	if (huge)
		CHECK_U64(world_warned_line(&w, "huge-row"), before + 2);
	CHECK_U64(world_warned(&w, "short-row") + world_warned(&w, "cut-row"), 0);
	world_close(&w);
	rk_bytes_release(&text);
}

TEST(a_row_over_the_limit_is_dropped_alone_and_named)
{
	static const size_t lens[] = { 400 << 10, (1 << 20) - 200, (1 << 20) + 1, 3 << 20 };
	static const unsigned before[] = { 0, 1, 11000 };

	for (unsigned threads = 1; threads <= 4; threads += threads == 2 ? 2 : 1)
		for (size_t l = 0; l < sizeof(lens) / sizeof(lens[0]); l++)
			for (size_t b = 0; b < sizeof(before) / sizeof(before[0]); b++)
				check_huge(before[b], lens[l], threads, lens[l] > 1 << 20);
}

TEST(a_file_may_end_without_a_newline_or_inside_a_row)
{
	struct rk_bytes text;
	struct world w;
	const char *dump;
	size_t one;

	rk_bytes_init(&text, 1 << 20);
	rk_bytes_puts(&text, header);
	put_plain(&text, 1);
	one = text.len;
	put_plain(&text, 2);
	world_open(&w, 2);
	for (size_t len = one; len <= text.len; len++) {
		rk_diag_reset(w.ctx.diag, 0);
		dump = world_dump(&w, world_file(&w, "1_kernel_trace.csv", text.data, len),
				  RK_KERNELS, RK_WANT_ALL);
		/* the last cell, of one digit, may be empty: the row is whole without it */
		CHECK_U64(rows_in(dump), len >= text.len - 2 ? 2 : 1);
		CHECK_U64(world_warned(&w, "cut-row"), len > one && len < text.len - 2);
		if (len > one && len < text.len - 2)
			CHECK_U64(world_warned_line(&w, "cut-row"), 3);
	}
	world_close(&w);
	rk_bytes_release(&text);
}

TEST(header_only_files_have_no_rows_and_no_warnings)
{
	struct world w;

	world_open(&w, 2);
	CHECK_STR(world_read(&w, "1_kernel_trace.csv", header, RK_KERNELS), "");
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
}

TEST(names_keep_nul_bytes_and_bytes_that_are_not_text)
{
	static const char row[] =
		"\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9,1,7,\"a\0b\xff\xc3(\",5,10,20,0,0,"
		"8,0,16,64,1,1,64,1,1\n";
	struct rk_bytes text;
	struct world w;
	const char *dump;

	rk_bytes_init(&text, 1 << 20);
	rk_bytes_puts(&text, header);
	rk_bytes_put(&text, row, sizeof(row) - 1);
	world_open(&w, 2);
	dump = world_dump(&w, world_file(&w, "1_kernel_trace.csv", text.data, text.len), RK_KERNELS,
			  RK_WANT_ALL);
	if (CHECK(dump != NULL))
		CHECK_MEM(dump, "kernel_name=a\0b\xff\xc3(|start_ns=10", 30);
	world_close(&w);
	rk_bytes_release(&text);
}

TEST(numbers_that_cannot_be_are_missing_and_counted)
{
	struct rk_bytes text;
	struct world w;

	rk_bytes_init(&text, 1 << 20);
	rk_bytes_puts(&text, header);
	rk_bytes_puts(
		&text,
		"\"K\",\"Agent 4\",1,0,9,1,7,\"k\",5,99999999999999999999,20,0,0,8,0,16,64,1,1,"
		"64,1,1\n"
		"\"K\",\"Agent x\",1,0,9,1,7,\"k\",5,10,20,0,0,8,0,16,64,1,1,64,1,1\n"
		"\"K\",\"Agent 4\",1,0,9,1,7,\"k\",5,8.1097E+14,8.1097E+14,0,0,8,0,16,64,1,"
		"1,64,1,1\n"
		"\"K\",\"Agent 4\",1,0,9,1,7,\"k\",5,10.0,20.5,0,0,8,0,16,64,1,1,"
		"4294967295,1,1\n");
	world_open(&w, 2);
	CHECK_STR(
		world_read(&w, "1_kernel_trace.csv", rk_bytes_str(&text), RK_KERNELS),
		"kernel_name=k|grid_x=1|grid_y=1|grid_z=1|block_x=64|block_y=1|block_z=1|regs=8|"
		"shared_mem=0|stream_id=0|device_id=4|queue_id=1|dispatch_id=1|correlation_id=5|"
		"tid=9|vgpr=8|accum_vgpr=0|sgpr=16|scratch_bytes=0|grid_items_x=64|grid_items_y=1|"
		"grid_items_z=1|source=rocprofv3-csv|clock=boottime\n"
		"kernel_name=k|start_ns=10|duration_ns=10|grid_x=1|grid_y=1|grid_z=1|block_x=64|"
		"block_y=1|block_z=1|regs=8|shared_mem=0|stream_id=0|queue_id=1|dispatch_id=1|"
		"correlation_id=5|tid=9|vgpr=8|accum_vgpr=0|sgpr=16|scratch_bytes=0|"
		"grid_items_x=64|grid_items_y=1|grid_items_z=1|source=rocprofv3-csv|"
		"clock=boottime\n"
		"kernel_name=k|grid_x=1|grid_y=1|grid_z=1|block_x=64|block_y=1|block_z=1|regs=8|"
		"shared_mem=0|stream_id=0|device_id=4|queue_id=1|dispatch_id=1|correlation_id=5|"
		"tid=9|vgpr=8|accum_vgpr=0|sgpr=16|scratch_bytes=0|grid_items_x=64|grid_items_y=1|"
		"grid_items_z=1|source=rocprofv3-csv|clock=boottime\n"
		"kernel_name=k|start_ns=10|duration_ns=10|grid_x=67108864|grid_y=1|grid_z=1|"
		"block_x=64|block_y=1|block_z=1|regs=8|shared_mem=0|stream_id=0|device_id=4|"
		"queue_id=1|dispatch_id=1|correlation_id=5|tid=9|vgpr=8|accum_vgpr=0|sgpr=16|"
		"scratch_bytes=0|grid_items_y=1|grid_items_z=1|source=rocprofv3-csv|"
		"clock=boottime\n");
	CHECK_U64(world_warned(&w, "number-out-of-range"), 1);
	CHECK_U64(world_warned(&w, "grid-out-of-range"), 1);
	CHECK_U64(world_warned_line(&w, "number-out-of-range"), 2);
	CHECK_U64(world_warned(&w, "bad-number"), 1);
	CHECK_U64(world_warned_line(&w, "bad-number"), 3);
	CHECK_U64(world_warned(&w, "damaged-time"), 1);
	CHECK_U64(world_warned_line(&w, "damaged-time"), 4);
	CHECK_U64(world_warned(&w, "fraction-cut"), 1);
	world_close(&w);
	rk_bytes_release(&text);
}

TEST(oddities_of_a_joined_row_are_reported_too)
{
	struct rk_bytes text;
	struct world w;

	rk_bytes_init(&text, 1 << 20);
	rk_bytes_puts(&text, header);
	rk_bytes_puts(&text,
		      "\"K\",\"Agent 4\",1,0,9,1,7,\"a\nb\",5,1e15,20,0,0,8,0,16,64,1,1,64,1,1\n");
	put_plain(&text, 3);
	rk_bytes_puts(&text, "short\n");
	world_open(&w, 2);
	CHECK_U64(rows_in(world_read(&w, "1_kernel_trace.csv", rk_bytes_str(&text), RK_KERNELS)),
		  3);
	CHECK_STR(world_warnings(&w), "short-row:1 damaged-time:1 line-break-in-name:1 ");
	CHECK_U64(world_warned_line(&w, "damaged-time"), 2);
	CHECK_U64(world_warned_line(&w, "short-row"), 5);
	world_close(&w);
	rk_bytes_release(&text);
}

static int count_calls(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *calls = arg;

	CHECK(done <= total);
	return ++*calls == 3;
}

TEST(a_scan_is_cancelled_by_its_progress)
{
	uint64_t calls = 0;
	struct made m;
	struct world w;
	const char *path;

	make_file(&m, 5, 4 << 20, false);
	world_open(&w, 1);
	w.ctx.progress = count_calls;
	w.ctx.progress_arg = &calls;
	path = world_file(&w, "1_kernel_trace.csv", m.text.data, m.text.len);
	CHECK(world_dump(&w, path, RK_KERNELS, RK_WANT_ALL) == NULL);
	CHECK_I64(w.err.code, RK_E_CANCELLED);
	CHECK_U64(calls, 3);
	world_close(&w);
	made_release(&m);
}
