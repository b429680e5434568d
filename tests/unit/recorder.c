/* recorder.c (test) - what the flight recorder writes, the reader gives back. */
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "read/rkraw/raw.h"
#include "recorder_world.h"

enum { FUNCTIONS = 5, SHAPES = 40, QUEUES = 3, THREADS = 6, EACH = 20000 };

static uint32_t text(const char *s)
{
	return rk_rec_string(s, strlen(s));
}

/* ---- one of each ---- */

static void one_of_each(void *arg)
{
	struct rk_rec_device d = { .number = 2,
				   .type = RK_REC_GPU,
				   .name = text("gfx90a:xnack-"),
				   .vendor = text("AMD"),
				   .compute_units = 104,
				   .clock_mhz = 1700,
				   .wave_size = 64,
				   .memory_bytes = (uint64_t)64 << 30 };
	uint32_t device = rk_rec_device(&d), queue = rk_rec_queue(device, 7, 0);
	struct rk_rec_function f = { text("gemm"), device, 96, 16, 2048 };
	struct rk_rec_shape s = { rk_rec_function(&f), 4096, { 1000, 3, 1 }, { 64, 2, 1 } };
	struct rk_rec_kernel k = {
		rk_rec_shape(&s), queue, 55, 9, { 1000, 1100, 1300, 1750 }, 0, 0
	};
	struct rk_rec_copy c = { RK_REC_DEVICE_TO_HOST,      queue, 56, 4096, 10,
				 { 1500, 1500, 1600, 1900 }, 0,     0 };
	struct rk_rec_sync b = { text("clEnqueueBarrier"), queue, 56, 11, { 1, 1, 2, 2 } };

	(void)arg;
	rk_rec_calibration(device, 1000, 501000, 1000, 20);
	MUST(rk_rec_kernel(&k) && rk_rec_copy(&c) && rk_rec_sync(&b));
	MUST(rk_rec_api(text("clFinish"), 5000, 70, 9));
	MUST(rk_rec_build(text("-O3"), device, 4000, 800));
	MUST(rk_rec_alloc(RK_REC_ALLOC, device, 0xffff0000, 256, 6000, 5));
}

TEST(one_record_of_each_kind_comes_back)
{
	struct world w;
	const char *path, *got;

	world_open(&w, 1);
	unsetenv("RANK");
	CHECK_I64(record(&w, "", one_of_each, NULL, &path), 0);
	got = world_dump(&w, path, RK_KERNELS,
			 RK_WANT_ALL & ~(UINT64_C(1) << RK_K_PID | UINT64_C(1) << RK_K_NODE));
	CHECK_STR(got,
		  "kernel_name=gemm|start_ns=501300|duration_ns=450|grid_x=16|grid_y=2|grid_z=1|"
		  "block_x=64|block_y=2|block_z=1|regs=96|shared_mem=4096|stream_id=7|"
		  "device_id=2|queue_id=7|dispatch_id=9|correlation_id=9|tid=55|vgpr=96|"
		  "scratch_bytes=16|wave_size=64|grid_items_x=1000|grid_items_y=3|"
		  "grid_items_z=1|source=rkraw|clock=boottime\n");
	got = world_dump(&w, path, RK_MEMCPY, 0xff);
	CHECK_STR(got, "direction=MEMORY_COPY_DEVICE_TO_HOST|start_ns=501600|duration_ns=300|"
		       "bytes=4096|src_device=2|stream_id=7|correlation_id=10\n");
	got = world_dump(&w, path, RK_MARKERS, 0xf);
	CHECK_STR(got, "name=clEnqueueBarrier|kind=queue|start_ns=500002|duration_ns=0\n");
	got = world_dump(&w, path, RK_API, 0x1f);
	CHECK_STR(got, "domain=TEST_API|function=clFinish|start_ns=5000|duration_ns=70|"
		       "correlation_id=9\n"
		       "domain=TEST_BUILD|function=-O3|start_ns=4000|duration_ns=800\n");
	got = world_dump(&w, path, RK_MEMALLOC, 0xff);
	CHECK_STR(got, "operation=MEMORY_ALLOCATION_ALLOCATE|start_ns=6000|duration_ns=5|bytes=256|"
		       "address=4294901760|device_id=2\n");
	got = world_dump(&w, path, RK_AGENTS, 0x7ff);
	CHECK_STR(got, "device_id=2|type=GPU|name=gfx90a:xnack-|gfx=gfx90a|cu_count=104|"
		       "max_sclk_mhz=1700|wave_size=64|memory_bytes=68719476736\n");
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
}

/* What a vendor's runtime tells later, and more of than others do. */
static void told_later(void *arg)
{
	struct rk_rec_device d = { .number = 1, .type = RK_REC_GPU, .name = text("H200") };
	uint32_t other, device, stream;

	(void)arg;
	other = rk_rec_device(&d);
	d.number = 0;
	d.arch = text("sm_90");
	device = rk_rec_device(&d);
	stream = rk_rec_stream(device, 13, 2);
	struct rk_rec_function f = { text("k"), device, 32, 0, 0 };
	struct rk_rec_kernel k = { .shape = rk_rec_function(&f),
				   .queue = stream,
				   .tid = RK_REC_UNKNOWN,
				   .correlation = 5,
				   .t = { 9, 9, 9, 10 },
				   .graph = 12,
				   .graph_node = (uint64_t)11 << 32 | 3 };
	struct rk_rec_copy c = { .direction = RK_REC_PEER, .queue = stream, .from = device };
	struct rk_rec_call call = { text("cudaMalloc"), text("CUDA_RUNTIME_API"), 77, 6, 100, 20 };
	struct rk_rec_marker m = { RK_REC_RANGE, text("step"), text("NCCL"), 78, 300, 40 };
	struct rk_rec_memory a = { RK_REC_FREE, other, RK_REC_UNKNOWN, 4096, 64, 8, 500 };

	c.to = other;
	rk_rec_calibration(device, 0, 0, 0, 1);
	MUST(rk_rec_kernel(&k) && rk_rec_copy(&c) && rk_rec_call(&call) && rk_rec_marker(&m));
	m = (struct rk_rec_marker){ RK_REC_MARK, text("now"), 0, 79, 310, 0 };
	MUST(rk_rec_memory(&a) && rk_rec_marker(&m));
	MUST(rk_rec_api(text("plain"), 110, 1, 7));
	rk_rec_source_lost(3);
	rk_rec_note("no copies: refused", 18);
}

TEST(records_that_are_reported_later_come_back)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "", told_later, NULL, &path), 0);
	CHECK_STR(world_dump(&w, path, RK_KERNELS,
			     UINT64_C(1) << RK_K_START | UINT64_C(1) << RK_K_STREAM |
				     UINT64_C(1) << RK_K_TID | UINT64_C(7) << RK_K_CONTEXT),
		  "start_ns=9|stream_id=13|context_id=2|graph_id=12|graph_node_id=47244640259\n");
	CHECK_STR(world_dump(&w, path, RK_MEMCPY, 0x31),
		  "direction=MEMORY_COPY_PEER_TO_PEER|src_device=0|dst_device=1\n");
	CHECK_STR(world_dump(&w, path, RK_API, 0x1f),
		  "domain=CUDA_RUNTIME_API|function=cudaMalloc|start_ns=100|duration_ns=20|"
		  "correlation_id=6\ndomain=TEST_API|function=plain|start_ns=110|duration_ns=1|"
		  "correlation_id=7\n");
	CHECK_STR(world_dump(&w, path, RK_MARKERS, 0x2f),
		  "name=step|kind=NVTX_RANGE:NCCL|start_ns=300|duration_ns=40|tid=78\n"
		  "name=now|kind=NVTX_MARK|start_ns=310|duration_ns=0|tid=79\n");
	CHECK_STR(world_dump(&w, path, RK_MEMALLOC, 0x2bf),
		  "operation=MEMORY_ALLOCATION_FREE|start_ns=500|duration_ns=0|bytes=64|"
		  "address=4096|device_id=1|correlation_id=8\n");
	CHECK_STR(world_dump(&w, path, RK_AGENTS, 0xd),
		  "device_id=1|name=H200\ndevice_id=0|name=H200|gfx=sm_90\n");
	CHECK_STR(world_warnings(&w), "dropped-records:3 collector:1 ");
	world_close(&w);
}

TEST(the_process_has_times_inside_its_life)
{
	struct rk_rec_clocks before, after;
	struct rk_rkraw_info info = { 0 };
	struct world w;
	const char *path;

	world_open(&w, 1);
	rk_rec_clocks(&before);
	CHECK_I64(record(&w, "", one_of_each, NULL, &path), 0);
	rk_rec_clocks(&after);
	CHECK_I64(rows_of(&w, path, RK_PROCESSES), 1);
	CHECK_I64(rk_rkraw_info(path, &info, &w.err), 0);
	CHECK(info.start_ns >= before.boot_ns && info.end_ns <= after.boot_ns);
	CHECK(info.start_ns <= info.end_ns && info.clean && !info.window);
	CHECK_U64(info.records, 6);
	CHECK_I64(info.clock_error_ns, 20);
	CHECK_STR(info.collector, "test");
	world_close(&w);
}

/* ---- many, from many threads ---- */

static uint32_t queues[QUEUES], shapes[SHAPES];

static void define(void)
{
	struct rk_rec_device d = { .type = RK_REC_CPU };
	uint32_t device = rk_rec_device(&d);

	for (uint32_t i = 0; i < QUEUES; i++)
		queues[i] = rk_rec_queue(device, i, 0);
	for (uint32_t i = 0; i < SHAPES; i++) {
		char name[16];
		struct rk_rec_function f = { .regs = i, .device = device };
		struct rk_rec_shape s = { .items = { i + 1, 1, 1 }, .group = { 1, 1, 1 } };

		snprintf(name, sizeof(name), "f%" PRIu32, i % FUNCTIONS);
		f.name = text(name);
		s.function = rk_rec_function(&f);
		shapes[i] = rk_rec_shape(&s);
	}
}

/* Times near and far, forward and back, all from the number. */
static int64_t odd_time(uint64_t n, unsigned which)
{
	uint64_t state = (n * 4 + which + 1) * 0x9e3779b97f4a7c15u;
	uint64_t r = world_random(&state);

	return (int64_t)(r >> 2 >> world_random(&state) % 62);
}

static struct rk_rec_times odd_times(uint64_t n)
{
	return (struct rk_rec_times){ odd_time(n, 0), odd_time(n, 1), odd_time(n, 2),
				      odd_time(n, 3) };
}

static bool numbered(uint64_t n)
{
	struct rk_rec_kernel k = { shapes[n % SHAPES],
				   queues[n % QUEUES],
				   (uint32_t)(n % 77 + 1),
				   n,
				   odd_times(n),
				   0,
				   0 };

	return rk_rec_kernel(&k);
}

static void *write_some(void *arg)
{
	uint64_t first = (uint64_t)(uintptr_t)arg * EACH;

	for (uint64_t n = first; n < first + EACH; n++) {
		MUST(numbered(n));
		if (n % 5 == 0) /* in between, so that histories cross */
			MUST(rk_rec_api(0, (int64_t)n, 1, n));
	}
	return NULL;
}

static void write_on_threads(void *arg)
{
	pthread_t threads[THREADS];

	(void)arg;
	define();
	for (uintptr_t i = 0; i < THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, write_some, (void *)i));
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	MUST(rk_rec_lost() == 0);
}

/* Whether a row is what its number says; false ends the test, or there would be thousands. */
static bool row_is_right(struct world *w, const struct rk_batch *b, size_t row)
{
	uint64_t n = (uint64_t)((const int64_t *)b->cols[RK_K_CORRELATION].data)[row];
	struct rk_rec_times t = odd_times(n);
	char name[16];
	size_t len;
	uint32_t id = ((const uint32_t *)b->cols[RK_K_NAME].data)[row];

	snprintf(name, sizeof(name), "f%u", (unsigned)(n % SHAPES % FUNCTIONS));
	return CHECK_STR(rk_strtab_borrow(w->ctx.names, id, &len), name) &&
	       CHECK_I64(((const int64_t *)b->cols[RK_K_START].data)[row], t.start) &&
	       CHECK_I64(((const int64_t *)b->cols[RK_K_DURATION].data)[row], t.end - t.start) &&
	       CHECK_I64(((const int32_t *)b->cols[RK_K_REGS].data)[row], (int64_t)(n % SHAPES)) &&
	       CHECK_I64(((const int64_t *)b->cols[RK_K_QUEUE].data)[row], (int64_t)(n % QUEUES)) &&
	       CHECK_I64(((const int64_t *)b->cols[RK_K_TID].data)[row], (int64_t)(n % 77 + 1));
}

/* Marks each number once; how many rows were right. */
static uint64_t check_rows(struct world *w, const char *path, uint8_t *seen, uint64_t numbers)
{
	struct rk_reader *r = NULL;
	struct rk_source *s = NULL;
	const struct rk_batch *b;
	uint64_t good = 0;
	bool ok = CHECK_I64(rk_reader_open(path, &w->ctx, &r, &w->err), 0) &&
		  CHECK_I64(r->ops->scan(r, RK_KERNELS, RK_WANT_ALL, &s, &w->err), 0);

	while (ok && rk_source_next(s, &b, &w->err) > 0) {
		for (size_t i = 0; ok && i < b->nrows; i++) {
			uint64_t n = (uint64_t)((const int64_t *)b->cols[RK_K_CORRELATION].data)[i];

			ok = CHECK(n < numbers) && CHECK_U64(seen[n]++, 0) && row_is_right(w, b, i);
			good += ok;
		}
	}
	rk_source_close(s);
	rk_reader_close(r);
	return good;
}

TEST(every_record_of_many_threads_comes_back_once)
{
	static const char *const settings[] = { "", "block=16K", "block=1M" };

	for (unsigned i = 0; i < 3; i++) {
		static uint8_t seen[THREADS * EACH];
		struct world w;
		const char *path;

		memset(seen, 0, sizeof(seen));
		world_open(&w, 1);
		CHECK_I64(record(&w, settings[i], write_on_threads, NULL, &path), 0);
		CHECK_U64(check_rows(&w, path, seen, sizeof(seen)), sizeof(seen));
		CHECK_I64(rows_of(&w, path, RK_API), THREADS * EACH / 5);
		CHECK_STR(world_warnings(&w), "uncalibrated-clock:120000 ");
		world_close(&w);
	}
}

/* ---- bounds ---- */

static uint64_t file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static void write_many(void *arg)
{
	uint64_t good = 0, n = *(uint64_t *)arg;

	define();
	for (uint64_t i = 0; i < n; i++)
		good += numbered(i);
	MUST(good < n && good + rk_rec_lost() == n);
}

TEST(a_full_file_counts_what_it_loses)
{
	static uint8_t seen[300000];
	uint64_t n = sizeof(seen), got;
	struct world w;
	const char *path;

	memset(seen, 0, sizeof(seen));
	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=1M", write_many, &n, &path), 0);
	CHECK(file_bytes(path) <= 1 << 20);
	got = check_rows(&w, path, seen, n);
	CHECK(got > 20000);
	CHECK_U64(world_warned(&w, "dropped-records"), n - got);
	CHECK(seen[0] && seen[got - 1] && !seen[got]);
	world_close(&w);
}

static void write_in_window(void *arg)
{
	uint64_t n = *(uint64_t *)arg;

	define();
	for (uint64_t i = 0; i < n; i++)
		MUST(numbered(i));
}

TEST(a_window_keeps_the_newest_records_and_all_names)
{
	static uint8_t seen[300000];
	uint64_t n = sizeof(seen), got;
	struct world w;
	const char *path;

	memset(seen, 0, sizeof(seen));
	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=1M,window=1", write_in_window, &n, &path), 0);
	CHECK_U64(file_bytes(path), 1 << 20);
	got = check_rows(&w, path, seen, n);
	CHECK(got > 15000 && got < n);
	CHECK_U64(world_warned(&w, "overwritten-records"), n - got);
	CHECK(seen[n - 1] && seen[n - got] && !seen[n - got - 1]);
	CHECK_U64(world_warned(&w, "unknown-name"), 0);
	world_close(&w);
}

static void write_names(void *arg)
{
	struct rk_rec_shape s = { .items = { 1, 1, 1 }, .group = { 1, 1, 1 } };
	struct rk_rec_kernel k = { 0 };
	uint32_t last = 0;

	(void)arg;
	define();
	for (uint32_t i = 0; i < 300000; i++) {
		struct rk_rec_function f = { .name = text("many") };

		s.function = rk_rec_function(&f);
		s.items[0] = i + 1;
		last = rk_rec_shape(&s);
	}
	MUST(last != s.function && text("a name that comes late") != 0);
	k.shape = last;
	k.queue = queues[0];
	MUST(rk_rec_kernel(&k));
}

TEST(shapes_without_number_have_names_of_their_own)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "", write_names, NULL, &path), 0);
	CHECK_STR(world_dump(&w, path, RK_KERNELS, UINT64_C(1) << RK_K_NAME | 1 << RK_K_GRID_X),
		  "kernel_name=many|grid_x=300000\n");
	CHECK_U64(world_warned(&w, "dropped-records"), 0);
	world_close(&w);
}

/* ---- faults ---- */

static void write_past_rlimit(void *arg)
{
	struct rlimit limit = { 3 << 20, 3 << 20 };

	/* SIGXFSZ would end the child */
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
	write_many(arg);
	errno = 42;
	MUST(!numbered(0) && errno == 42);
}

TEST(a_limit_on_file_sizes_stops_the_recording_and_not_the_program)
{
	static uint8_t seen[400000];
	uint64_t n = sizeof(seen), got;
	struct world w;
	const char *path;

	memset(seen, 0, sizeof(seen));
	world_open(&w, 1);
	CHECK_I64(record(&w, "", write_past_rlimit, &n, &path), 0);
	got = check_rows(&w, path, seen, n);
	CHECK(got > 60000);
	CHECK_U64(world_warned(&w, "dropped-records"), n - got + 1);
	CHECK(file_bytes(path) <= 3 << 20);
	world_close(&w);
}

static void expect_off(void *arg)
{
	struct rk_rec_kernel k = { 0 };

	(void)arg;
	MUST(!rk_rec_on() && !rk_rec_start("test"));
	MUST(!text("name") && !rk_rec_kernel(&k) && !rk_rec_api(0, 0, 0, 0));
	rk_rec_begun();
	rk_rec_failed();
	rk_rec_calibration(0, 0, 0, 0, 0);
}

TEST(without_a_directory_nothing_is_recorded)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	world_text(&w, "file", "");
	/* the first word wins: no such place, and a file instead of a directory */
	memcpy(w.dir + strlen(w.dir), "/no", 4);
	CHECK_I64(record(&w, "", expect_off, NULL, &path), 0);
	w.dir[strlen(w.dir) - 3] = '\0';
	memcpy(w.dir + strlen(w.dir), "/file", 6);
	CHECK_I64(record(&w, "", expect_off, NULL, &path), 0);
	w.dir[strlen(w.dir) - 5] = '\0';
	CHECK_U64(world_entries(&w, ""), 1);
	world_close(&w);
}

static void check_settings(void *arg)
{
	char value[16];

	(void)arg;
	MUST(rk_rec_setting("a", value, sizeof(value)) && !strcmp(value, "x,y%z"));
	MUST(!rk_rec_setting("bad", value, sizeof(value)));
	MUST(!rk_rec_setting("cut", value, sizeof(value)));
	MUST(!rk_rec_setting("nul", value, sizeof(value)));
	MUST(!rk_rec_setting("long", value, sizeof(value)));
	MUST(!rk_rec_setting("no", value, sizeof(value)));
	MUST(rk_rec_setting("empty", value, sizeof(value)) && !*value);
	MUST(rk_rec_flag("on", false) && !rk_rec_flag("off", true));
	MUST(rk_rec_flag("odd", true) && !rk_rec_flag("odd", false));
}

TEST(settings_are_words_with_escapes)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w,
			 "a=x%2cy%25z,bad=%4g,nul=a%00,long=12345678901234567,empty=,on=1,off=0,"
			 "odd=2,limit=nonsense,block=5,cut=%4",
			 check_settings, NULL, &path),
		  0);
	world_close(&w);
}

/* ---- threads that end, signals, guards ---- */

static void *write_three(void *arg)
{
	uint64_t first = (uint64_t)(uintptr_t)arg * 3;

	MUST(numbered(first) && numbered(first + 1) && numbered(first + 2));
	return NULL;
}

static void write_on_brief_threads(void *arg)
{
	(void)arg;
	define();
	for (uintptr_t i = 0; i < 500; i++) {
		pthread_t thread;

		MUST(!pthread_create(&thread, NULL, write_three, (void *)i));
		pthread_join(thread, NULL);
	}
}

TEST(threads_that_end_hand_their_block_on)
{
	static uint8_t seen[1500];
	struct world w;
	const char *path;

	memset(seen, 0, sizeof(seen));
	world_open(&w, 1);
	CHECK_I64(record(&w, "", write_on_brief_threads, NULL, &path), 0);
	CHECK_U64(check_rows(&w, path, seen, 1500), 1500);
	CHECK(file_bytes(path) <= 5 * 32 << 10);
	world_close(&w);
}

static uint64_t next_number;

static void on_signal(int number)
{
	(void)number;
	if (numbered(next_number))
		next_number++;
}

static void write_under_signals(void *arg)
{
	struct sigaction action = { .sa_handler = on_signal };

	define();
	MUST(!sigaction(SIGUSR1, &action, NULL));
	for (unsigned i = 0; i < 1000; i++)
		raise(SIGUSR1);
	*(uint64_t *)arg = next_number;
	MUST(next_number == 1000);
}

TEST(signal_handlers_may_record)
{
	static uint8_t seen[1000];
	uint64_t n = 0;
	struct world w;
	const char *path;

	memset(seen, 0, sizeof(seen));
	world_open(&w, 1);
	CHECK_I64(record(&w, "", write_under_signals, &n, &path), 0);
	CHECK_U64(check_rows(&w, path, seen, 1000), 1000);
	world_close(&w);
}

static void enter_twice(void *arg)
{
	(void)arg;
	MUST(rk_rec_enter());
	MUST(!rk_rec_enter());
	rk_rec_leave();
	MUST(rk_rec_enter());
}

TEST(the_guard_is_entered_once)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "", enter_twice, NULL, &path), 0);
	world_close(&w);
}

static void launch_and_die(void *arg)
{
	(void)arg;
	define();
	for (unsigned i = 0; i < 10; i++)
		rk_rec_begun();
	for (unsigned i = 0; i < 6; i++)
		MUST(numbered(i));
	rk_rec_failed();
	raise(SIGKILL);
}

TEST(a_killed_process_tells_what_was_under_way)
{
	struct rk_rkraw_info info = { 0 };
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(WTERMSIG(record(&w, "", launch_and_die, NULL, &path)), SIGKILL);
	CHECK_I64(rows_of(&w, path, RK_KERNELS), 6);
	CHECK_U64(world_warned(&w, "unclean-end"), 3);
	CHECK_I64(rk_rkraw_info(path, &info, &w.err), 0);
	CHECK(!info.clean && info.pending == 3 && info.records == 6);
	world_close(&w);
}
