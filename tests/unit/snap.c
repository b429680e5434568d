/* snap.c (test) - copies of a file that is written to at full speed, cut copies, and bad files. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/num.h"
#include "io/dirs.h"
#include "read/rkraw/copy.h"
#include "recorder_raw.h"
#include "recorder_world.h"
#include "rockit/live.h"

static void pause_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* A child that records until it is killed; its file. */
static pid_t begin_child(struct world *w, const char *settings, void (*what)(void), char *path,
			 size_t size)
{
	char all[256];
	pid_t pid;

	snprintf(all, sizeof(all), "dir=%s,%s", w->dir, settings);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setenv("ROCKIT_COLLECT", all, 1);
		MUST(rk_rec_start("test"));
		what();
		for (;;)
			pause();
	}
	snprintf(path, size, "%s/%ld.rkraw", w->dir, (long)pid);
	for (int i = 0; i < 5000 && access(path, F_OK); i++)
		pause_ms(1);
	CHECK(!access(path, F_OK));
	return pid;
}

static void end_child(pid_t pid)
{
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, NULL, 0) == pid);
}

/* ---- full speed ---- */

enum { WRITERS = 4, SHAPES = 500, NUMBERS = 1 << 20 };

static uint32_t queue, shapes[SHAPES];
static _Atomic unsigned nshapes;

/* Shapes come while records are written; each record follows from its thread and number. */
static void *write_all(void *arg)
{
	uint64_t thread = (uint64_t)(uintptr_t)arg;

	for (uint64_t n = 0;; n++) {
		int64_t at = (int64_t)n * 10;
		struct rk_rec_kernel k = { .queue = queue,
					   .tid = (uint32_t)thread + 1,
					   .correlation = thread << 40 | n,
					   .t = { at + 1, at + 3, at + 6,
						  at + 6 + (int64_t)n % 7 } };

		if (n % 2000 == 0 && atomic_load(&nshapes) < SHAPES && thread == 0) {
			unsigned i = atomic_load(&nshapes);
			struct rk_rec_shape s = { .items = { i + 1, 1, 1 }, .group = { 1, 1, 1 } };
			struct rk_rec_function f = { .name = rk_rec_string("f", 1) };

			s.function = rk_rec_function(&f);
			shapes[i] = rk_rec_shape(&s);
			atomic_store(&nshapes, i + 1);
		}
		k.shape = shapes[n % atomic_load(&nshapes)];
		rk_rec_kernel(&k);
	}
	return NULL;
}

static void write_at_full_speed(void)
{
	struct rk_rec_device d = { .type = RK_REC_GPU };
	struct rk_rec_function f = { .name = rk_rec_string("f", 1) };
	struct rk_rec_shape s = { .items = { 1, 1, 1 }, .group = { 1, 1, 1 } };
	pthread_t t;

	queue = rk_rec_queue(rk_rec_device(&d), 0, 0);
	s.function = rk_rec_function(&f);
	shapes[0] = rk_rec_shape(&s);
	atomic_store(&nshapes, 1);
	for (uintptr_t i = 0; i < WRITERS; i++)
		MUST(!pthread_create(&t, NULL, write_all, (void *)i));
}

struct checked {
	const struct rk_raw_block *block;
	uint64_t tid, correlation, queued, records, wrong;
	uint64_t last[WRITERS], count[WRITERS];
	bool defined[1 << 16];
	uint8_t seen[WRITERS][NUMBERS]; /* by the lower bits of the number */
};

static void see_definition(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c)
{
	struct checked *k = arg;
	uint64_t id = rk_cursor_varint(&c);

	(void)b;
	if (tag == RK_RAW_SHAPE && CHECK(id < 1 << 16))
		k->defined[id] = true;
}

static void see_record(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c)
{
	struct checked *k = arg;
	uint64_t shape, thread, n, d[3];
	bool right;

	if (k->block != b || tag == RK_RAW_THREAD) {
		k->block = b;
		k->tid = tag == RK_RAW_THREAD ? rk_cursor_varint(&c) : b->tid;
		k->correlation = k->queued = 0;
	}
	if (tag != RK_RAW_KERNEL)
		return;
	shape = rk_cursor_varint(&c);
	rk_cursor_varint(&c);
	k->tid += raw_signed(&c);
	k->correlation += raw_signed(&c);
	k->queued += raw_signed(&c);
	for (int i = 0; i < 3; i++)
		d[i] = raw_signed(&c);
	thread = k->correlation >> 40;
	n = k->correlation & ((UINT64_C(1) << 40) - 1);
	right = !c.bad && !rk_cursor_left(&c) && thread < WRITERS && k->tid == thread + 1 &&
		k->queued == n * 10 + 1 && d[0] == 2 && d[1] == 3 && d[2] == n % 7 &&
		shape < 1 << 16 && k->defined[shape];
	k->wrong += !right;
	k->records++;
	if (!right)
		return;
	k->count[thread]++;
	k->seen[thread][n % NUMBERS] = 1;
	if (n > k->last[thread])
		k->last[thread] = n;
}

static bool check_copy(const char *path, const struct rk_raw_copied *c)
{
	static struct checked k;
	uint64_t tails = 0;
	struct raw_view v;
	bool ok;

	memset(&k, 0, sizeof(k));
	if (!raw_load(path, &v))
		return false;
	raw_each(&v, RK_RAW_DEFINITIONS, see_definition, &k);
	raw_each(&v, RK_RAW_DATA, see_record, &k);
	ok = CHECK_U64(k.wrong, 0) && CHECK_U64(c->damaged, 0) && CHECK(k.records > 0) &&
	     CHECK_U64(v.h->copied_over, c->copied_over) && CHECK(v.h->flags & RK_RAW_SNAP);
	/*
	 * The newest records are there without a gap. A thread that was stopped while it sealed a
	 * block may leave that one behind among the older ones.
	 */
	for (unsigned i = 0; i < WRITERS; i++) {
		uint64_t n = 0;

		while (n < k.count[i] && k.seen[i][(k.last[i] - n) % NUMBERS])
			n++;
		tails += n;
	}
	ok = ok && (c->copied_over || CHECK(tails * 2 >= k.records));
	raw_drop(&v);
	return ok;
}

TEST(every_record_of_a_copy_is_what_was_written_at_full_speed)
{
	const char *full = getenv("ROCKIT_TEST_FULL");
	unsigned copies = full && full[0] == '1' ? 10000 : 5;
	uint64_t over = 0, records = 0;
	bool ok = true;
	struct world w;
	char path[128], to[128];
	pid_t pid;
	int from;

	world_open(&w, 1);
	snprintf(to, sizeof(to), "%s/copy", w.dir);
	pid = begin_child(&w, "limit=4M,window=1", write_at_full_speed, path, sizeof(path));
	from = open(path, O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < 5000 && records < 100000; i++) { /* until the window is full */
		struct rk_raw_header h;

		pause_ms(1);
		CHECK_I64(rk_raw_copy_header(from, path, &h, &w.err), 0);
		records = h.overwritten;
	}
	CHECK(records > 0);
	for (unsigned i = 0; i < copies && ok; i++) {
		struct rk_raw_copied c = { .records = 0 };
		int fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		ok = CHECK_I64(rk_raw_copy(from, path, fd, true, NULL, &c, &w.err), 0) &&
		     check_copy(to, &c);
		over += c.copied_over;
		close(fd);
	}
	printf("# %u copies, %.1f of 128 blocks overwritten meanwhile\n", copies,
	       (double)over / copies);
	close(from);
	end_child(pid);
	/* and what the dead one left */
	{
		struct rk_snap_options o = { .dir = w.dir };
		struct rk_snap_result r;
		char out[160];

		unlink(to);
		snprintf(out, sizeof(out), "%s/out", w.dir);
		o.out = out;
		CHECK_I64(rk_live_snap(&o, &r, &w.err), 0);
		CHECK_U64(r.running, 0);
		CHECK_U64(r.copied_over, 0);
		CHECK(r.records > 1000);
	}
	world_close(&w);
}

/* ---- cut copies ---- */

enum { RANDOM_RECORDS = 3000, STEP = 1000, DEVICE_BEHIND = 5000000 };

static uint64_t random_state = 88172645463325252u;

/* Records of all kinds whose times rise by about STEP, with calls and kernels of any length. */
static void *write_some(void *arg)
{
	static int64_t now;
	uint32_t device = ((uint32_t *)arg)[0], name = ((uint32_t *)arg)[1];
	uint32_t where = ((uint32_t *)arg)[2], shape = ((uint32_t *)arg)[3];
	int64_t base = rk_rec_now();

	for (int i = 0; i < RANDOM_RECORDS; i++) {
		int64_t at = base + (now += (int64_t)(world_random(&random_state) % STEP));
		int64_t len = (int64_t)(world_random(&random_state) % (50 * STEP));
		int64_t dev = at - DEVICE_BEHIND;
		uint64_t id = rk_rec_next_id();
		struct rk_rec_kernel k = { shape, where, 0, id, { dev, dev, dev, dev + len }, 0, 0 };
		struct rk_rec_copy c = { 1, where, 0, 64, id, { dev, dev, dev, dev + len }, 0, 0 };
		struct rk_rec_launch l = { .shape = shape,
					   .queue = where,
					   .id = id,
					   .correlation = id * 3,
					   .submit_ns = at };
		struct rk_rec_marker m = { RK_REC_RANGE, name, 0, 0, at, len };
		struct rk_rec_memory a = { RK_REC_ALLOC, device, 7, 4096, 64, id, at };

		switch (world_random(&random_state) % 8) {
		case 0:
			MUST(rk_rec_kernel(&k));
			break;
		case 1:
			MUST(rk_rec_copy(&c));
			break;
		case 2:
			MUST(rk_rec_api(name, at, len, id));
			break;
		case 3:
			MUST(rk_rec_marker(&m));
			break;
		case 4:
			MUST(rk_rec_memory(&a));
			break;
		case 5:
			MUST(rk_rec_launch(&l));
			break;
		case 6:
			MUST(rk_rec_launch(&l) && rk_rec_ran(id, 0, 0, RK_RAW_NO_TIMES));
			break;
		default:
			MUST(rk_rec_launch(&l) && rk_rec_ran(id, dev, dev + len, i & 1));
			break;
		}
	}
	return NULL;
}

/* Threads one after another share blocks. */
static void write_all_kinds(void *arg)
{
	struct rk_rec_device d = { .type = RK_REC_GPU };
	struct rk_rec_function f = { .name = rk_rec_string("f", 1) };
	struct rk_rec_shape s = { .items = { 1, 1, 1 }, .group = { 1, 1, 1 } };
	uint32_t ids[4] = { rk_rec_device(&d), rk_rec_string("call", 4) };
	int64_t now = rk_rec_now();
	pthread_t t;

	(void)arg;
	ids[2] = rk_rec_queue(ids[0], 0, 0);
	s.function = rk_rec_function(&f);
	ids[3] = rk_rec_shape(&s);
	rk_rec_calibration(ids[0], now - DEVICE_BEHIND, now, now, 10);
	for (int i = 0; i < 3; i++)
		MUST(!pthread_create(&t, NULL, write_some, ids) && !pthread_join(t, NULL));
}

static bool number_in(const char *line, size_t len, const char *key, int64_t *ret)
{
	const char *at = memmem(line, len, key, strlen(key));

	if (!at)
		return false;
	at += strlen(key);
	return CHECK(rk_num_i64(at, strspn(at, "-0123456789"), ret) == RK_NUM_OK);
}

/* The lines of a table that ended at `from` or later, or have no time. */
static char *lines_from(const char *text, int64_t from, uint64_t *ret_old)
{
	char *kept = malloc(strlen(text) + 1), *p = kept;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n") + 1;
		int64_t start, duration = 0;

		number_in(line, len, "duration_ns=", &duration);
		if (!number_in(line, len, "start_ns=", &start) || start + duration >= from) {
			memcpy(p, line, len);
			p += len;
		} else {
			++*ret_old;
		}
		line += len;
	}
	*p = '\0';
	return kept;
}

static const enum rk_table cut_tables[] = { RK_KERNELS, RK_MEMCPY, RK_API, RK_MARKERS,
					    RK_MEMALLOC };

static void compare_cut(struct world *w, const char *whole, const char *to, int64_t back_ns)
{
	struct rk_raw_copied c = { .records = 0 };
	int from = open(whole, O_RDONLY | O_CLOEXEC);
	int fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t old = 0;

	CHECK_I64(rk_raw_copy(from, whole, fd, false, NULL, &c, &w->err), 0);
	close(from);
	close(fd);
	CHECK_I64(rk_raw_copy_span(to, NULL, &c, &w->err), 0);
	CHECK(c.complete_ns == c.h.start.boot_ns && c.newest_ns > c.complete_ns);
	CHECK_I64(rk_raw_copy_cut(to, c.newest_ns - back_ns, NULL, &c, &w->err), 0);
	for (size_t i = 0; i < sizeof(cut_tables) / sizeof(cut_tables[0]); i++) {
		const char *text = world_dump(w, whole, cut_tables[i], RK_WANT_ALL);
		char *wanted = lines_from(text ? text : "", c.newest_ns - back_ns, &old);

		text = world_dump(w, to, cut_tables[i], RK_WANT_ALL);
		CHECK_STR(text ? text : "", wanted);
		free(wanted);
	}
	CHECK(c.cut >= old);
	CHECK(back_ns > 0 || c.cut > 0);
	CHECK_U64(world_warned(w, "damaged-record"), 0);
	CHECK_U64(world_warned(w, "damaged-block"), 0);
}

TEST(a_cut_copy_has_the_rows_that_ended_in_time_unchanged)
{
	struct world w;
	const char *path;
	char to[128];

	world_open(&w, 1);
	CHECK_I64(record(&w, "block=16K", write_all_kinds, NULL, &path), 0);
	snprintf(to, sizeof(to), "%s/cut.rkraw", w.dir);
	compare_cut(&w, path, to, 0);
	compare_cut(&w, path, to, 10 * STEP);
	compare_cut(&w, path, to, 777 * STEP);
	compare_cut(&w, path, to, 2000 * STEP);
	compare_cut(&w, path, to, INT64_C(3600000000000));
	world_close(&w);
}

/* ---- how much a window holds ---- */

static void write_for_a_while(void *arg)
{
	uint32_t name = rk_rec_string("call", 4);
	int64_t start = rk_rec_now();

	(void)arg;
	for (int64_t i = 0; i < 100000; i++) /* 100 s, one call in each ms */
		MUST(rk_rec_api(name, start + i * 1000000, 500000, 0));
}

TEST(a_window_that_is_too_small_says_what_it_holds_and_what_would_do)
{
	struct world w;
	const char *path;
	struct rk_snap_result r = { .files = 0 };
	char out[128];
	struct rk_snap_options o = { .dir = w.dir,
				     .out = out,
				     .last_ns = 60 * INT64_C(1000000000) };

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=512K,window=1,block=16K", write_for_a_while, NULL, &path), 0);
	snprintf(out, sizeof(out), "%s/a", w.dir);
	CHECK_I64(rk_live_snap(&o, &r, &w.err), 0);
	CHECK(r.held_ns > 30 * INT64_C(1000000000) && r.held_ns < 60 * INT64_C(1000000000));
	CHECK(r.enough_bytes >= 1 << 20 && r.enough_bytes <= 2 << 20);
	/* a file is not a directory */
	o.dir = path;
	CHECK_I64(rk_live_snap(&o, &r, &w.err), RK_E_IO);
	world_close(&w);
}

/* ---- bad files ---- */

/* Snaps the directory; the result, and nothing but `entries` is in it afterwards. */
static int snap_to(struct world *w, const char *name, size_t entries, struct rk_snap_result *r)
{
	char out[160];
	struct rk_snap_options o = { .dir = w->dir, .out = out };
	int rc;

	snprintf(out, sizeof(out), "%s/%s", w->dir, name);
	w->err = (struct rk_error){ 0 };
	rc = rk_live_snap(&o, r, &w->err);
	CHECK_U64(world_entries(w, ""), entries + (rc == 0));
	return rc;
}

static void write_little(void *arg)
{
	(void)arg;
	MUST(rk_rec_api(rk_rec_string("call", 4), rk_rec_now(), 5, 0));
}

TEST(links_pipes_and_other_files_are_not_copied)
{
	static const char *const bad[] = { "", "rkraw", "rkraw\r\n\x1a and no header" };
	struct rk_snap_result r = { .files = 0 };
	struct world w;
	const char *path;
	char other[160], moved[160];

	world_open(&w, 1);
	CHECK_I64(snap_to(&w, "none", 0, &r), RK_E_UNSUPPORTED);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		world_text(&w, "bad.rkraw", bad[i]);
		CHECK_I64(snap_to(&w, "x", 1, &r), RK_E_UNSUPPORTED);
	}
	unlink(world_text(&w, "bad.rkraw", ""));
	CHECK_I64(record(&w, "limit=1M", write_little, NULL, &path), 0);
	snprintf(other, sizeof(other), "%s/1.rkraw", w.dir);
	snprintf(moved, sizeof(moved), "%s/file", w.dir);
	CHECK(!rename(path, moved) && !symlink(moved, other));
	CHECK_I64(snap_to(&w, "x", 2, &r), RK_E_UNSUPPORTED);
	CHECK(strstr(w.err.message, "is a link") != NULL);
	unlink(other);
	CHECK(!mkfifo(other, 0600));
	CHECK_I64(snap_to(&w, "x", 2, &r), RK_E_UNSUPPORTED);
	unlink(other);
	CHECK(!rename(moved, path));
	world_text(&w, "bad.rkraw", "not one");
	CHECK_I64(snap_to(&w, "x", 2, &r), 0);
	CHECK_U64(r.files, 1);
	CHECK(strstr(r.note, "bad.rkraw") != NULL);
	/* the copy is not copied into itself, and is not overwritten */
	CHECK_I64(snap_to(&w, "x", 3, &r), RK_E_IO);
	world_close(&w);
}

TEST(a_file_of_a_terabyte_without_content_costs_nothing)
{
	struct rk_snap_result r = { .files = 0 };
	struct world w;
	const char *path;
	char kept[160];

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=1M", write_little, NULL, &path), 0);
	snprintf(kept, sizeof(kept), "%s", path);
	CHECK(!truncate(kept, (off_t)1 << 40));
	CHECK_I64(snap_to(&w, "x", 1, &r), 0);
	CHECK(r.bytes < 1 << 20);
	CHECK_U64(r.records, 1);
	world_close(&w);
}

/* Bytes of a file that change at random until `end` is set. */
struct scribbler {
	uint8_t *bytes;
	size_t len;
	atomic_bool end;
};

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	uint64_t state = 12345;

	while (!atomic_load(&s->end))
		__atomic_store_n(&s->bytes[world_random(&state) % s->len],
				 (uint8_t)world_random(&state), __ATOMIC_RELAXED);
	return NULL;
}

TEST(a_file_that_changes_at_random_while_it_is_read_is_survived)
{
	const size_t block = 16 << 10, len = 256 << 10;
	struct scribbler s = { .len = len - block };
	struct rk_snap_result r = { .files = 0 };
	struct world w;
	const char *path;
	pthread_t thread;
	uint8_t *map;
	char out[160];
	struct rk_snap_options o = { .dir = w.dir, .out = out, .last_ns = STEP };
	int fd;

	world_open(&w, 1);
	snprintf(out, sizeof(out), "%s/x", w.dir);
	CHECK_I64(record(&w, "limit=1M,block=16K", write_all_kinds, NULL, &path), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(!ftruncate(fd, (off_t)len));
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (CHECK(map != MAP_FAILED)) {
		s.bytes = map + block;
		CHECK(!pthread_create(&thread, NULL, scribble, &s));
		for (int i = 0; i < 50; i++) {
			struct rk_error err = { 0 };

			rk_live_snap(&o, &r, &err);
			rk_remove_tree(out, NULL);
			CHECK_U64(world_entries(&w, ""), 1);
		}
		atomic_store(&s.end, true);
		pthread_join(thread, NULL);
		munmap(map, len);
	}
	close(fd);
	world_close(&w);
}
