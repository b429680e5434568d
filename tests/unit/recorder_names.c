/*
 * recorder_names.c (test) - names without number in a window: constant memory, constant size, and
 * each record that is kept has the names it was written with.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "recorder_raw.h"
#include "recorder_world.h"

enum { MILLION = 1000000, THREADS = 4, FUNCTIONS = 8 };

#define WINDOW "limit=4M,window=1"

static uint32_t text(const char *s)
{
	return rk_rec_string(s, strlen(s));
}

/* ---- what the file defines ---- */

struct definition {
	uint64_t id;
	const uint8_t *body;
	size_t len;
	uint8_t tag;
};

struct definitions {
	struct definition *v;
	size_t n, cap;
	uint64_t live_from;
};

static void collect(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c)
{
	struct definitions *d = arg;
	uint64_t id = tag == RK_RAW_CALIBRATION ? 0 : rk_cursor_varint(&c);

	(void)b;
	if (d->n == d->cap) {
		d->cap = d->cap ? d->cap * 2 : 1024;
		d->v = realloc(d->v, d->cap * sizeof(*d->v));
	}
	if (CHECK(d->v != NULL))
		d->v[d->n++] = (struct definition){ id, c.pos, rk_cursor_left(&c), tag };
}

static int by_id(const void *a, const void *b)
{
	const struct definition *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* An id may be there more than once, but it always means the same. */
static void read_definitions(const struct raw_view *v, struct definitions *d)
{
	*d = (struct definitions){ .live_from = v->h->live_from };
	raw_each(v, RK_RAW_DEFINITIONS, collect, d);
	qsort(d->v, d->n, sizeof(*d->v), by_id);
	for (size_t i = 1; i < d->n; i++) {
		const struct definition *x = &d->v[i - 1], *y = &d->v[i];

		if (x->id && x->id == y->id &&
		    !CHECK(x->tag == y->tag && x->len == y->len &&
			   !memcmp(x->body, y->body, x->len)))
			break;
	}
}

static const struct definition *named(const struct definitions *d, uint64_t id, uint8_t tag)
{
	struct definition key = { .id = id },
			  *found = bsearch(&key, d->v, d->n, sizeof(key), by_id);

	return found && found->tag == tag ? found : NULL;
}

static uint64_t field(const struct definition *d, unsigned n)
{
	struct rk_cursor c = rk_cursor_over(d->body, d->len);

	while (n--)
		rk_cursor_varint(&c);
	return rk_cursor_varint(&c);
}

static bool is_text(const struct definition *d, const char *s)
{
	return d && d->len == strlen(s) && !memcmp(d->body, s, d->len);
}

/* ---- numbered launches: everything follows from the number ---- */

static void function_name(uint64_t n, char *buf, size_t cap)
{
	snprintf(buf, cap, "function_%u", (unsigned)(n % FUNCTIONS));
}

static uint32_t function_of(uint64_t n)
{
	struct rk_rec_function f = { .regs = RK_REC_UNKNOWN };
	char name[32];

	function_name(n, name, sizeof(name));
	f.name = text(name);
	return rk_rec_function(&f);
}

static uint32_t shape_of(uint64_t n)
{
	struct rk_rec_shape s = { function_of(n), 0, { n + 1, 2, 1 }, { 1, 1, 1 } };

	return rk_rec_shape(&s);
}

static bool launch(uint64_t n, uint32_t shape, uint32_t queue)
{
	struct rk_rec_launch l = { .shape = shape,
				   .queue = queue,
				   .id = rk_rec_next_id(),
				   .correlation = n,
				   .submit_ns = (int64_t)n };

	return rk_rec_launch(&l) && rk_rec_ran(l.id, 10, 20, 0);
}

static uint32_t device_of(uint32_t number)
{
	struct rk_rec_device d = { .number = number, .name = text("a device") };

	return rk_rec_device(&d);
}

struct check {
	const struct definitions *d;
	struct raw_bases past;
	uint8_t *seen; /* by number */
	uint64_t n;    /* numbers are below this */
	uint64_t kept, calls, old, wrong;
	bool own_queue; /* each launch has a queue of its own */
};

static bool is_right(const struct check *k, const struct raw_launch *l)
{
	const struct definition *shape = named(k->d, l->shape, RK_RAW_SHAPE), *f = NULL;
	const struct definition *queue = named(k->d, l->queue, RK_RAW_QUEUE), *device = NULL;
	char name[32];

	if (shape)
		f = named(k->d, field(shape, 0), RK_RAW_FUNCTION);
	if (queue)
		device = named(k->d, field(queue, 0), RK_RAW_DEVICE);
	if (!f || !device)
		return false;
	function_name(l->correlation, name, sizeof(name));
	return field(shape, 2) == l->correlation + 1 && field(shape, 3) == 2 &&
	       is_text(named(k->d, field(f, 0), RK_RAW_STRING), name) &&
	       is_text(named(k->d, field(device, 2), RK_RAW_STRING), "a device") &&
	       field(queue, 1) == (k->own_queue ? l->correlation : 7);
}

static void check_launch(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c)
{
	struct check *k = arg;
	struct raw_launch l;

	raw_follow(&k->past, b, tag, c);
	if (tag == RK_RAW_RAN)
		raw_ran(&k->past, c);
	if (tag != RK_RAW_LAUNCH)
		return;
	l = raw_launch(&k->past, c);
	if (b->sequence < k->d->live_from) {
		k->old++;
		return;
	}
	k->kept++;
	k->wrong += !is_right(k, &l);
	if (k->seen && CHECK(l.correlation < k->n))
		CHECK_U64(k->seen[l.correlation]++, 0);
}

/* Reads a file and checks all launches in it. */
static void check_file(const char *path, struct check *k)
{
	struct definitions d;
	struct raw_view v;

	if (raw_load(path, &v)) {
		read_definitions(&v, &d);
		k->d = &d;
		raw_each(&v, RK_RAW_DATA, check_launch, k);
		CHECK_U64(k->wrong, 0);
		CHECK(v.h->dropped[RK_RAW_NAMES] < 100 && v.len <= 4 << 20);
		free(d.v);
	}
	raw_drop(&v);
}

/* ---- a million of each ---- */

static long resident_kb(void)
{
	long kb = -1, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	/* the third number: shared pages, those of the file among them */
	if (f && fscanf(f, "%*s %ld %ld", &kb, &pages) == 2)
		kb = (kb - pages) * (sysconf(_SC_PAGESIZE) / 1024);
	if (f)
		fclose(f);
	return kb;
}

static _Atomic uint64_t next_number;
static uint32_t the_queue; /* asked for once */
/* A thread that slept while the others defined 10^5 names: its launch is refused, and counted. */
static _Atomic uint64_t too_late;

static void *many_shapes(void *arg)
{
	uint64_t n;

	while ((n = next_number++) < *(uint64_t *)arg)
		while (!launch(n, shape_of(n), the_queue))
			too_late++;
	next_number--;
	return NULL;
}

static void *many_queues(void *arg)
{
	uint64_t n;

	while ((n = next_number++) < *(uint64_t *)arg)
		while (!launch(n, shape_of(n), rk_rec_queue(device_of(0), (uint32_t)n, 0)))
			too_late++;
	next_number--;
	return NULL;
}

static void on_threads(void *(*what)(void *), uint64_t up_to)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		MUST(!pthread_create(&threads[i], NULL, what, &up_to));
	for (unsigned i = 0; i < THREADS; i++)
		MUST(!pthread_join(threads[i], NULL));
}

static void a_million(void *(*what)(void *))
{
	long before;

	the_queue = rk_rec_queue(device_of(0), 7, 0);
	on_threads(what, MILLION / 5);
	before = resident_kb();
	on_threads(what, MILLION);
	MUST(resident_kb() < before + 1024);
	MUST(rk_rec_lost() == too_late && too_late < 100 && rk_rec_epoch() > 2);
}

static void a_million_shapes(void *arg)
{
	(void)arg;
	a_million(many_shapes);
}

static void a_million_queues(void *arg)
{
	(void)arg;
	a_million(many_queues);
}

static uint8_t seen[MILLION];

static void million(void (*what)(void *), bool own_queue, uint64_t least)
{
	struct check k = { .seen = seen, .n = MILLION, .own_queue = own_queue };
	struct world w;
	const char *path;
	uint64_t tail = 0;

	memset(seen, 0, sizeof(seen));
	world_open(&w, 1);
	CHECK_I64(record(&w, WINDOW, what, NULL, &path), 0);
	check_file(path, &k);
	while (tail < MILLION && seen[MILLION - 1 - tail])
		tail++;
	printf("# %" PRIu64 " kept, the last %" PRIu64 " without a gap, %" PRIu64 " too old\n",
	       k.kept, tail, k.old);
	CHECK(tail >= least);
	/* the reader finds these, and older ones whose names happen to be there */
	CHECK(rows_of(&w, path, RK_KERNELS) >= (int64_t)k.kept);
	CHECK_U64(world_warned(&w, "unknown-name"), 0);
	world_close(&w);
}

TEST(a_million_shapes_of_several_threads_keep_their_names_in_a_small_window)
{
	million(a_million_shapes, false, 10000);
}

TEST(a_million_queues_and_shapes_keep_their_names_in_a_small_window)
{
	million(a_million_queues, true, 5000);
}

/* Names that are used once, in calls. */
static void a_million_names(void *arg)
{
	char name[64];

	(void)arg;
	for (uint64_t n = 0; n < MILLION; n++) {
		snprintf(name, sizeof(name), "call_%" PRIu64, n);
		MUST(rk_rec_api(text(name), (int64_t)n, 1, n + 1));
	}
	MUST(rk_rec_lost() == 0);
}

static void check_call(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c)
{
	struct check *k = arg;
	struct raw_call call;
	char want[64];

	raw_follow(&k->past, b, tag, c);
	if (tag != RK_RAW_CALL)
		return;
	call = raw_call(&k->past, c);
	if (b->sequence < k->d->live_from)
		return;
	snprintf(want, sizeof(want), "call_%" PRIu64, call.correlation - 1);
	k->kept++;
	k->wrong += !is_text(named(k->d, call.name, RK_RAW_STRING), want);
}

TEST(a_million_names_of_calls_are_right_in_a_small_window)
{
	struct definitions d;
	struct raw_view v;
	struct world w;
	const char *path;
	struct check k = { .d = &d };

	world_open(&w, 1);
	CHECK_I64(record(&w, WINDOW, a_million_names, NULL, &path), 0);
	if (raw_load(path, &v)) {
		read_definitions(&v, &d);
		raw_each(&v, RK_RAW_DATA, check_call, &k);
		CHECK(k.kept > 10000);
		CHECK_U64(k.wrong, 0);
		free(d.v);
	}
	raw_drop(&v);
	world_close(&w);
}

/* ---- ids that are kept ---- */

/* A collector that keeps its ids and never asks again: they stay valid as long as it uses them. */
static void keep_ids(void *arg)
{
	uint32_t shape = shape_of(3), queue = rk_rec_queue(device_of(0), 7, 0);
	uint32_t idle = rk_rec_queue(device_of(1), 8, 0);

	(void)arg;
	for (uint64_t n = 0; n < 500000; n++) {
		MUST(launch(n + 4, shape_of(n + 4), queue));
		if (n % 1000 == 0)
			MUST(launch(3, shape, queue));
	}
	/* this one was not used for so long that it is forgotten: lost and counted, not misnamed */
	MUST(!rk_rec_lost() && !launch(1, shape, idle) && rk_rec_lost() == 1);
	/* who asks again gets one that is valid */
	MUST(launch(1, shape_of(1), rk_rec_queue(device_of(0), 7, 0)));
}

TEST(an_id_stays_valid_while_it_is_used)
{
	struct definitions d;
	struct raw_view v;
	struct world w;
	const char *path;
	unsigned devices = 0;
	struct check k = { .d = &d };

	world_open(&w, 1);
	CHECK_I64(record(&w, WINDOW, keep_ids, NULL, &path), 0);
	if (raw_load(path, &v)) {
		read_definitions(&v, &d);
		raw_each(&v, RK_RAW_DATA, check_launch, &k);
		CHECK(k.kept > 10000 && k.wrong == 0);
		CHECK_U64(v.h->dropped[RK_RAW_NAMES], 1);
		/* both devices are there, although one was never used */
		for (size_t i = 0; i < d.n; i++)
			if (d.v[i].tag == RK_RAW_DEVICE)
				devices |= 1u << field(&d.v[i], 0);
		CHECK_U64(devices, 3);
		free(d.v);
	}
	raw_drop(&v);
	world_close(&w);
}

/* ---- forks ---- */

static void fork_in_the_middle(void *arg)
{
	uint32_t shape = shape_of(0);
	int status = -1;
	pid_t pid;

	the_queue = rk_rec_queue(device_of(0), 7, 0);
	on_threads(many_shapes, 100000);
	pid = fork();
	if (!pid) {
		*(pid_t *)arg = getpid();
		/* both ids are the parent's */
		MUST(launch(0, shape, the_queue));
		on_threads(many_shapes, 200000);
		MUST(rk_rec_lost() < 100);
		rk_rec_end();
		_exit(0);
	}
	on_threads(many_shapes, 150000);
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	*(pid_t *)arg = pid;
	MUST(!status && rk_rec_lost() < 100);
}

TEST(a_child_has_the_names_of_its_parent)
{
	struct check parent = { 0 }, child = { 0 };
	struct world w;
	const char *path;
	char other[256];
	pid_t *pid =
		mmap(NULL, sizeof(*pid), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	world_open(&w, 1);
	if (CHECK(pid != MAP_FAILED)) {
		CHECK_I64(record(&w, WINDOW, fork_in_the_middle, pid, &path), 0);
		check_file(path, &parent);
		snprintf(other, sizeof(other), "%s/%ld.rkraw", w.dir, (long)*pid);
		check_file(other, &child);
		CHECK(parent.kept > 10000 && child.kept > 10000);
		munmap(pid, sizeof(*pid));
	}
	world_close(&w);
}

/* ---- a copy of a file that is being written ---- */

/* Header, block, header again: a block that was taken again meanwhile is left out. */
static void copy_block(int fd, size_t bytes, uint64_t index, uint8_t *to)
{
	off_t at = (off_t)(index * bytes);
	struct rk_raw_block before, after, *b = (void *)to;

	if (!CHECK(pread(fd, &before, sizeof(before), at) == sizeof(before)) ||
	    !CHECK(pread(fd, to, bytes, at) == (ssize_t)bytes) ||
	    !CHECK(pread(fd, &after, sizeof(after), at) == sizeof(after)))
		return;
	if (before.sequence == after.sequence && after.state != RK_RAW_TAKEN)
		*b = before; /* what was published then */
	else
		memset(to, 0, bytes);
}

/* Blocks with records first, then definitions, the header last. */
static bool copy_file(int fd, struct raw_view *v)
{
	struct rk_raw_header h;
	struct stat st;
	uint64_t n;

	if (!CHECK(pread(fd, &h, sizeof(h), 0) == sizeof(h) && !fstat(fd, &st)))
		return false;
	v->len = (size_t)st.st_size;
	n = v->len / h.block_bytes;
	for (uint64_t i = h.definition_blocks + 1; i < n; i++)
		copy_block(fd, h.block_bytes, i, v->data + i * h.block_bytes);
	for (uint64_t i = 1; i <= h.definition_blocks; i++)
		copy_block(fd, h.block_bytes, i, v->data + i * h.block_bytes);
	v->h = (const void *)v->data;
	return CHECK(pread(fd, v->data, sizeof(h), 0) == sizeof(h));
}

static int open_when_there(const char *dir, pid_t pid)
{
	char path[256];
	int fd = -1;

	snprintf(path, sizeof(path), "%s/%ld.rkraw", dir, (long)pid);
	for (unsigned i = 0; i < 10000 && fd < 0; i++) {
		fd = open(path, O_RDONLY);
		usleep(1000);
	}
	return fd;
}

static void write_without_end(const char *dir)
{
	char all[256];

	snprintf(all, sizeof(all), "dir=%s," WINDOW, dir);
	setenv("ROCKIT_COLLECT", all, 1);
	rk_rec_start("test");
	the_queue = rk_rec_queue(device_of(0), 7, 0);
	on_threads(many_shapes, UINT64_MAX / 2);
	_exit(1);
}

TEST(a_copy_of_a_running_file_has_the_names_of_its_records)
{
	struct raw_view v = { .data = calloc(1, 4 << 20) };
	uint64_t kept = 0, copies = 0;
	struct world w;
	int fd, status;
	pid_t pid;

	world_open(&w, 1);
	fflush(NULL);
	pid = fork();
	if (!pid)
		write_without_end(w.dir);
	fd = open_when_there(w.dir, pid);
	for (; CHECK(fd >= 0 && v.data) && copies < 10 && copy_file(fd, &v); copies++) {
		struct definitions d;
		struct check k = { .d = &d };

		read_definitions(&v, &d);
		raw_each(&v, RK_RAW_DATA, check_launch, &k);
		free(d.v);
		kept += k.kept;
		if (!CHECK_U64(k.wrong, 0))
			break;
	}
	printf("# %" PRIu64 " launches in %" PRIu64 " copies\n", kept, copies);
	CHECK(kept > 1000);
	if (fd >= 0)
		close(fd);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	free(v.data);
	world_close(&w);
}

/* ---- a file that is not a window ---- */

static void grow(void *arg)
{
	uint32_t queue = rk_rec_queue(device_of(0), 7, 0), shape = shape_of(0);

	(void)arg;
	for (uint64_t n = 1; n < 300000; n++)
		MUST(launch(n, shape_of(n), queue));
	/* known to the file, if not to the memory */
	MUST(launch(0, shape, queue) && rk_rec_lost() == 0);
}

TEST(a_file_that_grows_has_all_names)
{
	struct check k = { .seen = seen, .n = 300000 };
	struct definitions d;
	struct raw_view v;
	struct world w;
	const char *path;

	memset(seen, 0, sizeof(seen));
	world_open(&w, 1);
	CHECK_I64(record(&w, "", grow, NULL, &path), 0);
	if (raw_load(path, &v)) {
		read_definitions(&v, &d);
		k.d = &d;
		raw_each(&v, RK_RAW_DATA, check_launch, &k);
		CHECK_U64(k.kept, 300000);
		CHECK_U64(k.wrong, 0);
		free(d.v);
	}
	raw_drop(&v);
	world_close(&w);
}

/* ---- a window that is too small for its names ---- */

static void long_names(void *arg)
{
	char name[7000];
	size_t len = *(size_t *)arg;

	memset(name, 'x', sizeof(name));
	for (uint64_t n = 0; n < 2000; n++) {
		struct rk_rec_device d = { .number = 0 };
		uint32_t queue;

		snprintf(name, 16, "%08" PRIu64, n % 40);
		name[8] = 'x';
		d.name = rk_rec_string(name, len);
		name[9] = 'v';
		d.vendor = rk_rec_string(name, len);
		name[9] = 'd';
		d.driver = rk_rec_string(name, len);
		name[9] = 'x';
		queue = rk_rec_queue(rk_rec_device(&d), (uint32_t)n, 0);
		launch(n, queue ? shape_of(n) : 0, queue);
	}
}

static void see_names(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c)
{
	struct check *k = arg;
	const struct definition *queue, *device;
	struct raw_launch l;

	raw_follow(&k->past, b, tag, c);
	if (tag == RK_RAW_RAN)
		raw_ran(&k->past, c);
	if (tag != RK_RAW_LAUNCH)
		return;
	l = raw_launch(&k->past, c);
	if (b->sequence < k->d->live_from || !l.queue)
		return;
	k->kept++;
	queue = named(k->d, l.queue, RK_RAW_QUEUE);
	device = queue ? named(k->d, field(queue, 0), RK_RAW_DEVICE) : NULL;
	if (queue && !field(queue, 0))
		k->old++; /* there was no room for the device */
	else
		k->wrong += !device || field(queue, 1) != l.correlation ||
			    !named(k->d, field(device, 2), RK_RAW_STRING) ||
			    !named(k->d, field(device, 3), RK_RAW_STRING);
}

static void tiny_window(size_t len, bool fits)
{
	struct definitions d;
	struct raw_view v;
	struct world w;
	const char *path;
	struct check k = { .d = &d };

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=64K,block=16K,window=1", long_names, &len, &path), 0);
	if (raw_load(path, &v)) {
		read_definitions(&v, &d);
		raw_each(&v, RK_RAW_DATA, see_names, &k);
		CHECK_U64(k.wrong, 0);
		CHECK(k.kept > 0);
		CHECK((v.h->dropped[RK_RAW_NAMES] > 0) == !fits && (k.old > 0) == !fits);
		free(d.v);
	}
	raw_drop(&v);
	world_close(&w);
}

TEST(names_that_do_not_fit_are_lost_and_counted_and_never_wrong)
{
	tiny_window(7000, false); /* a device needs 21000 bytes, and half of the room is 16 KB */
	tiny_window(3000, true);
}
