/* stream.c - tables as Arrow C streams. */
#include "rockit/stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "convert/stream_column.h"
#include "rockit/rockit.h"
#include "tap.h"
#include "unit/arrow_world.h"
#include "world.h"

#define HEAD                                                                              \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\"," \
	"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","           \
	"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","           \
	"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","  \
	"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
#define ROW "\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9,%u,7,\"%s\",5,%u,%u,0,0,8,0,16,64,1,1,64,1,1\n"

/* A trace of n kernels that start at start(i), named k0 to k6. */
static const char *write_trace(struct world *w, const char *name, unsigned n,
			       unsigned (*start)(unsigned i, unsigned n))
{
	struct rk_bytes text;
	const char *path;
	char kernel[8];

	rk_bytes_init(&text, 64 << 20);
	rk_bytes_puts(&text, HEAD);
	for (unsigned i = 0; i < n; i++) {
		unsigned at = start(i, n);

		snprintf(kernel, sizeof(kernel), "k%u", i % 7);
		rk_bytes_printf(&text, ROW, i + 1, kernel, at, at + 50 + i % 3);
	}
	path = world_file(w, name, text.data, text.len);
	rk_bytes_release(&text);
	return path;
}

static unsigned forwards(unsigned i, unsigned n)
{
	(void)n;
	return 1000 + i * 100;
}

static unsigned backwards(unsigned i, unsigned n)
{
	return 1000 + (n - i) * 100;
}

static struct rk_run *open_with(struct world *w, const char *path, const struct rk_run_options *o)
{
	struct rk_run *run = NULL;

	rk_error_clear(&w->err);
	if (!CHECK_I64(rk_run_open(&path, 1, o, &run, &w->err), 0))
		CHECK_STR(w->err.message, "");
	return run;
}

static struct rk_run *open_run(struct world *w, const char *path)
{
	const struct rk_run_options opt = { .threads = 2 };

	return open_with(w, path, &opt);
}

/* Rows of a stream as text. The run is closed before the first is read. */
static const char *dump(struct world *w, const char *path, const struct rk_stream_options *opt)
{
	struct rk_run *run = open_run(w, path);
	struct ArrowArrayStream s;

	rk_bytes_clear(&w->text);
	if (!CHECK_I64(rk_run_stream(run, opt, &s, &w->err), 0))
		rk_bytes_puts(&w->text, w->err.message);
	rk_run_close(run);
	if (!w->err.code)
		CHECK(arrow_drain(&s, &w->text, NULL) >= 0);
	return rk_bytes_str(&w->text);
}

TEST(a_stream_has_the_rows_of_its_table)
{
	static const char *const columns[] = { "start_ns", "kernel_name", "duration_ns", "grid_x",
					       "barrier",  "rank",        NULL };
	struct rk_stream_options opt = { .columns = columns };
	static const char want[] = "start_ns=1000|kernel_name=k0|duration_ns=50|grid_x=1\n"
				   "start_ns=1100|kernel_name=k1|duration_ns=51|grid_x=1\n"
				   "start_ns=1200|kernel_name=k2|duration_ns=52|grid_x=1\n";
	struct world w;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 3, forwards);
	CHECK_STR(dump(&w, path, &opt), want);
	opt.plain_strings = true;
	CHECK_STR(dump(&w, path, &opt), want);
	opt.batch_rows = 1;
	CHECK_STR(dump(&w, path, &opt), want);
	world_close(&w);
}

TEST(all_columns_are_those_of_the_file_that_convert_writes)
{
	struct rk_stream_options opt = { 0 };
	char out[600];
	struct rk_convert_options to = { .out = out };
	struct rk_convert_result done;
	struct rk_bytes kept;
	struct rk_run *run;
	struct world w;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 500, forwards);
	snprintf(out, sizeof(out), "%s/x.parquet", w.dir);
	run = open_run(&w, path);
	CHECK_I64(rk_run_convert(run, &to, &done, &w.err), 0);
	rk_run_close(run);
	rk_bytes_init(&kept, 1 << 20);
	rk_bytes_puts(&kept, dump(&w, path, &opt));
	CHECK_STR(dump(&w, out, &opt), rk_bytes_str(&kept));
	rk_bytes_release(&kept);
	world_close(&w);
}

/* Rows and arrays of a stream over `path`. */
static int64_t count(struct world *w, const char *path, const struct rk_stream_options *opt,
		     size_t limit, size_t *arrays)
{
	struct rk_run *run = open_run(w, path);
	struct ArrowArrayStream s;

	if (!CHECK_I64(rk_run_stream(run, opt, &s, &w->err), 0))
		CHECK_STR(w->err.message, "");
	rk_run_close(run);
	if (limit)
		rk_stream_limit_text(&s, limit);
	return arrow_drain(&s, NULL, arrays);
}

TEST(arrays_have_as_many_rows_as_asked_for)
{
	struct rk_stream_options opt = { .batch_rows = 1000 };
	struct world w;
	size_t arrays;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 20001, forwards);
	CHECK_I64(count(&w, path, &opt, 0, &arrays), 20001);
	CHECK_U64(arrays, 21);
	opt.batch_rows = 0;
	CHECK_I64(count(&w, path, &opt, 0, &arrays), 20001);
	CHECK_U64(arrays, 1);
	opt.batch_rows = SIZE_MAX;
	CHECK_I64(count(&w, path, &opt, 0, &arrays), 20001);
	CHECK_U64(arrays, 1);
	world_close(&w);
}

TEST(texts_that_do_not_fit_go_to_the_next_array)
{
	static const char *const columns[] = { "kernel_name", NULL };
	struct rk_stream_options opt = { .columns = columns, .plain_strings = true };
	struct world w;
	size_t arrays;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 500, forwards);
	CHECK_I64(count(&w, path, &opt, 100, &arrays), 500);
	CHECK_U64(arrays, 10);
	CHECK_I64(count(&w, path, &opt, 1, &arrays), -EOVERFLOW);
	world_close(&w);
}

TEST(a_table_that_is_not_there_has_no_rows)
{
	struct rk_stream_options opt = { .table = "memcpy" };
	struct rk_run *run;
	struct world w;
	size_t arrays = 9;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 3, forwards);
	CHECK_I64(count(&w, path, &opt, 0, &arrays), 0);
	CHECK_U64(arrays, 0);
	run = open_run(&w, path);
	CHECK_STR(rk_run_table_at(run, 0), "kernels");
	CHECK(!rk_run_table_at(run, 1));
	rk_run_close(run);
	CHECK(!rk_run_table_at(run, 0));
	world_close(&w);
}

TEST(a_sorted_stream_is_in_order_however_the_file_is)
{
	static const char *const columns[] = { "start_ns", NULL };
	struct rk_stream_options opt = { .columns = columns, .sorted = true, .batch_rows = 8192 };
	struct ArrowArrayStream s;
	struct ArrowArray a;
	struct rk_run *run;
	struct world w;
	const char *path;
	int64_t last = 0, rows = 0;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 150000, backwards);
	run = open_run(&w, path);
	CHECK_I64(rk_run_stream(run, &opt, &s, &w.err), 0);
	while (s.get_next(&s, &a) == 0 && a.release) {
		const int64_t *v = a.children[0]->buffers[1];

		for (int64_t i = 0; i < a.length; last = v[i++])
			CHECK(v[i] > last);
		rows += a.length;
		a.release(&a);
	}
	CHECK_I64(rows, 150000);
	s.release(&s);
	rk_run_close(run);
	world_close(&w);
}

TEST(an_index_means_the_same_in_every_array)
{
	static const char *const columns[] = { "kernel_name", NULL };
	struct rk_stream_options opt = { .columns = columns, .batch_rows = 5 };
	struct ArrowArray a[4];
	struct ArrowArrayStream s;
	struct rk_run *run;
	struct world w;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 20, forwards);
	run = open_run(&w, path);
	CHECK_I64(rk_run_stream(run, &opt, &s, &w.err), 0);
	for (unsigned i = 0; i < 4; i++)
		CHECK_I64(s.get_next(&s, &a[i]), 0);
	/* all of them after stream and run are gone */
	s.release(&s);
	rk_run_close(run);
	for (unsigned i = 0; i < 4; i++) {
		const struct ArrowArray *names = a[i].children[0]->dictionary;

		CHECK_I64(names->length, i ? 7 : 5);
		CHECK_MEM(names->buffers[2], "k0k1k2k3k4k5k6", (size_t)names->length * 2);
		a[i].release(&a[i]);
	}
	world_close(&w);
}

TEST(a_child_that_was_moved_outlives_its_parent)
{
	struct rk_stream_options opt = { 0 };
	struct ArrowArrayStream s;
	struct ArrowArray a, child;
	struct rk_run *run;
	struct world w;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 9, forwards);
	run = open_run(&w, path);
	CHECK_I64(rk_run_stream(run, &opt, &s, &w.err), 0);
	CHECK_I64(s.get_next(&s, &a), 0);
	child = *a.children[0];
	a.children[0]->release = NULL;
	a.release(&a);
	s.release(&s);
	rk_run_close(run);
	CHECK_I64(child.length, 9);
	CHECK_MEM(child.dictionary->buffers[2], "k0k1k2", 6);
	child.release(&child);
	world_close(&w);
}

static int refused(struct world *w, struct rk_run *run, const struct rk_stream_options *opt)
{
	struct ArrowArrayStream s = { 0 };
	int rc;

	rk_error_clear(&w->err);
	rc = rk_run_stream(run, opt, &s, &w->err);
	CHECK(!s.release && !s.private_data);
	return rc;
}

TEST(wrong_words_are_refused_with_the_right_one)
{
	const char *columns[] = { "kernel_nam", NULL, NULL };
	struct rk_stream_options opt = { .table = "kernel" };
	struct rk_run *run;
	struct world w;

	world_open(&w, 1);
	run = open_run(&w, write_trace(&w, "1_kernel_trace.csv", 3, forwards));
	CHECK_I64(refused(&w, run, &opt), RK_E_USAGE);
	CHECK(strstr(w.err.message, "unknown table 'kernel'; known tables: kernels"));
	opt = (struct rk_stream_options){ .columns = columns };
	CHECK_I64(refused(&w, run, &opt), RK_E_USAGE);
	CHECK_STR(w.err.message,
		  "no column 'kernel_nam' in table kernels; did you mean 'kernel_name'?");
	columns[0] = columns[1] = "rank";
	CHECK_I64(refused(&w, run, &opt), RK_E_USAGE);
	CHECK_STR(w.err.message, "column 'rank' is requested twice");
	CHECK_I64(rk_run_stream(run, NULL, NULL, NULL), RK_E_USAGE);
	rk_run_close(run);
	CHECK_I64(refused(&w, run, NULL), RK_E_USAGE);
	CHECK_STR(w.err.message, "rk_run_stream: the run is NULL or was closed");
	CHECK_I64(refused(&w, NULL, NULL), RK_E_USAGE);
	rk_run_close(run);
	rk_run_close(NULL);
	CHECK(!rk_stream_error(NULL));
	world_close(&w);
}

/* A Parquet file whose pages are not what they were. */
static const char *damaged(struct world *w, char *out, size_t size)
{
	struct rk_convert_options to = { .out = out };
	struct rk_convert_result done;
	struct rk_run *run = open_run(w, write_trace(w, "1_kernel_trace.csv", 20000, forwards));
	FILE *f;

	snprintf(out, size, "%s/x.parquet", w->dir);
	CHECK_I64(rk_run_convert(run, &to, &done, &w->err), 0);
	rk_run_close(run);
	f = fopen(out, "r+");
	CHECK(f && !fseek(f, 4, SEEK_SET));
	for (unsigned i = 0; f && i < 300; i++)
		fputc(0xff, f);
	if (f)
		fclose(f);
	return out;
}

TEST(a_damaged_file_is_named)
{
	struct rk_stream_options opt = { 0 };
	struct ArrowArrayStream s;
	struct ArrowArray a;
	struct rk_run *run;
	struct world w;
	char out[600];

	world_open(&w, 1);
	run = open_run(&w, damaged(&w, out, sizeof(out)));
	CHECK_I64(rk_run_stream(run, &opt, &s, &w.err), 0);
	CHECK(rk_stream_error(&s) && !rk_stream_error(&s)->code);
	CHECK_I64(s.get_next(&s, &a), EBADMSG);
	CHECK_I64(s.get_next(&s, &a), EBADMSG);
	CHECK(strstr(s.get_last_error(&s), "x.parquet: "));
	CHECK_STR(rk_stream_error(&s)->file, out);
	CHECK_I64(rk_stream_error(&s)->code, RK_E_FORMAT);
	s.release(&s);
	CHECK(!rk_stream_error(&s));
	rk_run_close(run);
	world_close(&w);
}

struct inside {
	struct rk_run *run;
	struct ArrowArrayStream *stream;
	int entered, rc;
	uint64_t calls;
};

static int look_inside(void *arg, uint64_t done, uint64_t total)
{
	struct inside *in = arg;

	(void)done;
	(void)total;
	in->calls++;
	if (in->run && in->stream) {
		struct ArrowArray a;

		in->entered = rk_run_stream(in->run, NULL, in->stream, NULL);
		if (in->stream->release) {
			CHECK_I64(in->stream->get_next(in->stream, &a), EINVAL);
			in->stream->release(in->stream);
		}
		in->stream = NULL;
	}
	return in->rc;
}

TEST(a_progress_callback_cannot_use_its_run_but_may_end_a_stream)
{
	struct inside in = { 0 };
	const struct rk_run_options how = { .threads = 1,
					    .progress = look_inside,
					    .progress_arg = &in };
	struct ArrowArrayStream s, other;
	struct rk_run *run;
	struct world w;

	world_open(&w, 1);
	run = open_with(&w, write_trace(&w, "1_kernel_trace.csv", 30000, forwards), &how);
	CHECK_I64(rk_run_stream(run, NULL, &s, &w.err), 0);
	CHECK_I64(rk_run_stream(run, NULL, &other, &w.err), 0);
	in = (struct inside){ .run = run, .stream = &other };
	CHECK_I64(arrow_drain(&s, NULL, NULL), 30000);
	CHECK(in.calls && !in.stream);
	CHECK_I64(in.entered, RK_E_USAGE);
	CHECK(!other.release);
	rk_run_close(run);
	world_close(&w);
}

TEST(a_progress_callback_cancels_and_is_not_called_after_the_run_was_closed)
{
	struct inside in = { .rc = 1 };
	const struct rk_run_options how = { .progress = look_inside, .progress_arg = &in };
	struct ArrowArrayStream s;
	struct rk_run *run;
	struct world w;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 30000, forwards);
	run = open_with(&w, path, &how);
	CHECK_I64(rk_run_stream(run, NULL, &s, &w.err), 0);
	CHECK_I64(arrow_drain(&s, NULL, NULL), -ECANCELED);
	CHECK_I64(rk_run_stream(run, NULL, &s, &w.err), 0);
	rk_run_close(run);
	in.calls = 0;
	CHECK_I64(arrow_drain(&s, NULL, NULL), 30000);
	CHECK_U64(in.calls, 0);
	world_close(&w);
}

static void *drain_thread(void *arg)
{
	struct ArrowArrayStream *s = arg;
	struct ArrowArray a;
	int64_t rows = 0;

	while (s->get_next(s, &a) == 0 && a.release) {
		rows += a.length;
		a.release(&a);
	}
	s->release(s);
	return (void *)(intptr_t)rows;
}

TEST(threads_take_turns_with_the_streams_of_a_run)
{
	struct rk_stream_options opt = { .batch_rows = 700 };
	struct ArrowArrayStream s[3];
	pthread_t threads[3];
	struct rk_run *run;
	struct world w;

	world_open(&w, 1);
	run = open_run(&w, write_trace(&w, "1_kernel_trace.csv", 50000, forwards));
	for (unsigned i = 0; i < 3; i++)
		CHECK_I64(rk_run_stream(run, &opt, &s[i], &w.err), 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK(!pthread_create(&threads[i], NULL, drain_thread, &s[i]));
	rk_run_close(run);
	for (unsigned i = 0; i < 3; i++) {
		void *rows = NULL;

		CHECK(!pthread_join(threads[i], &rows));
		CHECK_I64((intptr_t)rows, 50000);
	}
	world_close(&w);
}

static int64_t attempt(struct world *w, const char *path, bool plain)
{
	const struct rk_run_options how = { .threads = 1 };
	struct rk_stream_options opt = { .plain_strings = plain, .batch_rows = 20 };
	struct ArrowArrayStream s;
	struct rk_run *run = NULL;
	int rc;

	rk_error_clear(&w->err);
	rc = rk_run_open(&path, 1, &how, &run, &w->err);
	if (rc == 0)
		rc = rk_run_stream(run, &opt, &s, &w->err);
	rk_run_close(run);
	if (rc < 0)
		return rc == RK_E_NOMEM ? -ENOMEM : rc;
	return arrow_drain(&s, NULL, NULL);
}

TEST(each_allocation_of_a_stream_may_fail)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	path = write_trace(&w, "1_kernel_trace.csv", 50, forwards);
	for (unsigned plain = 0; plain < 2; plain++) {
		bool failed = true;

		for (uint64_t n = 1; failed && n < 20000; n++) {
			int64_t rows;

			rk_alloc_fail_after(n);
			rows = attempt(&w, path, plain);
			failed = rk_alloc_failed();
			rk_alloc_fail_after(0);
			CHECK(rows == 50 || (failed && rows == -ENOMEM));
		}
		CHECK(!failed);
	}
	world_close(&w);
}

TEST(bits_are_copied_from_anywhere_to_anywhere)
{
	uint64_t from[6], to[6], seed = 5;

	for (unsigned i = 0; i < 6; i++)
		from[i] = world_random(&seed);
	for (size_t at = 0; at < 70; at += 3) {
		for (size_t skip = 0; skip < 70; skip += 5) {
			for (size_t n = 0; n < 200; n += 7) {
				size_t set = 0;
				bool same = true;

				memset(to, 0, sizeof(to));
				rk_bits_copy(to, at, from, skip, n);
				for (size_t i = 0; i < 384; i++) {
					bool in = i >= at && i < at + n;
					size_t k = i - at + skip;
					bool want = in && from[k / 64] >> k % 64 & 1;

					same = same && (to[i / 64] >> i % 64 & 1) == want;
					set += want;
				}
				CHECK(same && rk_bits_count(to, at + n) == set);
			}
		}
	}
}
