/* recorder_switch.c (test) - launches before times, and recording that is switched, gated, sampled. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "recorder_raw.h"
#include "recorder_world.h"

static uint32_t text(const char *s)
{
	return rk_rec_string(s, strlen(s));
}

static void pause_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* ---- launches ---- */

static void launch_and_run(void *arg)
{
	struct rk_rec_function f = { .name = text("f") };
	struct rk_rec_launch l = { .tid = 77, .correlation = 1000 };

	(void)arg;
	l.shape = rk_rec_function(&f); /* 2 */
	l.queue = rk_rec_queue(0, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		l.id = rk_rec_next_id();
		l.correlation++;
		l.submit_ns = 1000000 + 100 * i;
		l.graph = i == 2 ? 9 : 0;
		l.graph_node = (uint64_t)9 << 32 | 6;
		MUST(rk_rec_launch(&l));
		MUST(rk_rec_api(text("hipLaunchKernel"), 999990 + 100 * i, 50, l.correlation));
	}
	MUST(rk_rec_ran(2, 5000, 5400, 0) && rk_rec_ran(3, 0, 0, RK_RAW_NO_TIMES));
	MUST(rk_rec_ran(1, 4000, 4100, RK_RAW_DOUBTFUL));
	/* not launched in this file; a clock that goes backwards */
	MUST(rk_rec_ran(UINT64_MAX, 4000, 3990, 0));
}

struct seen {
	struct raw_bases past;
	struct raw_launch launches[3];
	struct raw_ran ran[4];
	unsigned nlaunches, nran;
};

static void see(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c)
{
	struct seen *s = arg;

	raw_follow(&s->past, b, tag, c);
	if (tag == RK_RAW_LAUNCH && CHECK(s->nlaunches < 3))
		s->launches[s->nlaunches++] = raw_launch(&s->past, c);
	if (tag == RK_RAW_CALL)
		raw_call(&s->past, c);
	if (tag == RK_RAW_RAN && CHECK(s->nran < 4))
		s->ran[s->nran++] = raw_ran(&s->past, c);
}

TEST(a_launch_is_recorded_before_its_times)
{
	struct seen s = { 0 };
	struct raw_view v;
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "", launch_and_run, NULL, &path), 0);
	if (raw_load(path, &v)) {
		raw_each(&v, RK_RAW_DATA, see, &s);
		CHECK(s.nlaunches == 3 && s.nran == 4);
		for (unsigned i = 0; i < 3; i++) {
			const struct raw_launch *l = &s.launches[i];

			CHECK(l->id == i + 1 && l->correlation == 1001 + i && l->shape == 2);
			CHECK(l->queue == 3 && l->tid == 77 && l->at == 1000000 + 100 * (int)i);
			CHECK_U64(l->graph, i == 2 ? 9 : 0);
			CHECK_U64(l->node, i == 2 ? (uint64_t)9 << 32 | 6 : 0);
		}
		CHECK(s.ran[0].id == 2 && s.ran[0].start == 5000 && s.ran[0].duration == 400);
		CHECK(s.ran[1].id == 3 && s.ran[1].flags == RK_RAW_NO_TIMES);
		CHECK(s.ran[2].id == 1 && s.ran[2].start == 4000 && s.ran[2].duration == 100);
		CHECK_U64(s.ran[2].flags, RK_RAW_DOUBTFUL);
		CHECK(s.ran[3].id == UINT64_MAX && s.ran[3].duration == -10 && !s.ran[3].flags);
	}
	raw_drop(&v);
	CHECK_STR(world_dump(&w, path, RK_API, 0x16),
		  "function=hipLaunchKernel|start_ns=999990|correlation_id=1001\n"
		  "function=hipLaunchKernel|start_ns=1000090|correlation_id=1002\n"
		  "function=hipLaunchKernel|start_ns=1000190|correlation_id=1003\n");
	world_close(&w);
}

static void name_devices(void *arg)
{
	struct rk_rec_device d = { .number = 1, .name = text("a") };

	(void)arg;
	rk_rec_device(&d);
	d.unique_id = 0x1234567890abcdef;
	rk_rec_device(&d);
	d.pci = 1 + (2 << 16 | 0xc1 << 8);
	rk_rec_device(&d);
}

struct identities {
	unsigned n;
	uint64_t fields[3], pci[3], unique[3];
};

static void see_device(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c)
{
	struct identities *d = arg;
	uint64_t v;

	(void)b;
	if (tag != RK_RAW_DEVICE || !CHECK(d->n < 3))
		return;
	for (; rk_cursor_left(&c); d->fields[d->n]++) {
		v = rk_cursor_varint(&c);
		if (d->fields[d->n] == 11)
			d->pci[d->n] = v;
		if (d->fields[d->n] == 12)
			d->unique[d->n] = v;
	}
	d->n++;
}

TEST(a_device_has_its_address_and_its_own_number)
{
	struct identities d = { 0 };
	struct raw_view v;
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "", name_devices, NULL, &path), 0);
	if (raw_load(path, &v)) {
		raw_each(&v, RK_RAW_DEFINITIONS, see_device, &d);
		CHECK(d.n == 3 && d.fields[0] == 10 && d.fields[1] == 13 && d.fields[2] == 13);
		CHECK(d.pci[1] == 0 && d.unique[1] == 0x1234567890abcdef);
		CHECK(d.pci[2] == 1 + (2 << 16 | 0xc1 << 8) && d.unique[2] == d.unique[1]);
	}
	raw_drop(&v);
	world_close(&w);
}

/* ---- the header ---- */

static uint64_t start_of_self(void)
{
	FILE *f = fopen("/proc/self/stat", "r");
	unsigned long long start = 0;
	int n = f ? fscanf(f,
			   "%*d (%*[^)]) %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			   "%*s %*s %*s %*s %*s %llu",
			   &start) :
		    0;

	if (f)
		fclose(f);
	return n == 1 ? start : 0;
}

/* The file of this process, mapped a second time, as another process would. */
static struct rk_raw_header *outside(const char *dir, pid_t pid)
{
	char path[256];
	void *p = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/%ld.rkraw", dir, (long)pid);
	fd = open(path, O_RDWR);
	if (fd >= 0) {
		p = mmap(NULL, sizeof(struct rk_raw_header), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 0);
		close(fd);
	}
	return p == MAP_FAILED ? NULL : p;
}

/* Whether the mappings of this process show the file by its name. */
static bool is_shown(const char *dir)
{
	char line[512], path[256];
	FILE *f = fopen("/proc/self/maps", "r");
	bool found = false;

	snprintf(path, sizeof(path), "%s/%ld.rkraw\n", dir, (long)getpid());
	while (f && !found && fgets(line, sizeof(line), f))
		found = strstr(line, path) != NULL;
	if (f)
		fclose(f);
	return found;
}

static void check_header(void *arg)
{
	bool shown = is_shown(arg);
	struct rk_raw_header *h = outside(arg, getpid());

	MUST(shown);

	MUST(h && h->flags == RK_RAW_SWITCHED);
	MUST(h->proc_start && h->proc_start == start_of_self());
	MUST(h->wanted == 1 && h->awake == 1 && h->live_from == 0);
}

TEST(only_the_owner_may_read_the_file_which_says_whose_it_is)
{
	struct world w;
	const char *path;
	struct stat st;

	world_open(&w, 1);
	CHECK_I64(record(&w, "", check_header, w.dir, &path), 0);
	CHECK(!stat(path, &st) && (st.st_mode & 07777) == 0600);
	world_close(&w);
}

static void with_little_space(void *arg)
{
	struct rk_raw_header *h = outside(arg, getpid());

	/* a sixteenth of what was left; the recorder's own tables are not counted */
	MUST(h && h->limit_blocks * h->block_bytes <= 16 << 20);
	MUST(rk_rec_api(text("call"), 1, 1, 0));
}

TEST(a_program_with_little_address_space_keeps_most_of_it)
{
	struct rlimit before, limit;
	struct world w;
	const char *path;
	void *much = mmap(NULL, (size_t)4 << 30, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(much != MAP_FAILED && f && fscanf(f, "%lu", &pages) == 1);
	CHECK(!getrlimit(RLIMIT_AS, &before));
	limit = before;
	limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (256 << 20);
	world_open(&w, 1);
	if (CHECK(!setrlimit(RLIMIT_AS, &limit)))
		CHECK_I64(record(&w, "", with_little_space, w.dir, &path), 0);
	CHECK(!setrlimit(RLIMIT_AS, &before));
	world_close(&w);
	munmap(much, (size_t)4 << 30);
	if (f)
		fclose(f);
}

/* ---- the switch ---- */

static atomic_int told_on, told_off;
static pid_t told_by;

static void on_switch(bool awake)
{
	told_by = (pid_t)syscall(SYS_gettid);
	if (awake)
		told_on++;
	else
		told_off++;
}

static void want(struct rk_raw_header *h, uint32_t value)
{
	__atomic_store_n(&h->wanted, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, &h->wanted, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static bool becomes(struct rk_raw_header *h, uint32_t awake)
{
	for (unsigned i = 0; i < 2000; i++) {
		if (__atomic_load_n(&h->awake, __ATOMIC_ACQUIRE) == awake)
			return true;
		pause_ms(5);
	}
	return false;
}

static unsigned threads_of_self(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

static bool api_if_awake(int64_t at)
{
	if (!rk_rec_awake()) {
		rk_rec_skip();
		return false;
	}
	return rk_rec_api(text("call"), at, 1, 0);
}

/* How often the watching thread was put to sleep. */
static long switches_of(pid_t tid)
{
	char path[64], line[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/status", (long)tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

static void be_switched(void *arg)
{
	struct rk_raw_header *h = outside(arg, getpid());
	long before;

	MUST(h && h->wanted == 0 && h->awake == 0 && !rk_rec_awake());
	rk_rec_on_switch(on_switch);
	MUST(!api_if_awake(1));
	want(h, 1);
	MUST(becomes(h, 1) && rk_rec_awake() && told_on == 1);
	MUST(api_if_awake(2));
	/* words that mean nothing change nothing */
	want(h, 2);
	want(h, 0xdeadbeef);
	pause_ms(50);
	MUST(h->awake == 1 && rk_rec_awake() && told_on == 1 && !told_off);
	before = switches_of(told_by);
	pause_ms(300);
	MUST(before > 0 && switches_of(told_by) == before); /* it sleeps */
	want(h, 0);
	MUST(becomes(h, 0) && !rk_rec_awake() && told_off == 1);
	MUST(!api_if_awake(3) && !api_if_awake(4));
	want(h, 1);
	MUST(becomes(h, 1) && api_if_awake(5));
}

static uint64_t skipped_of(const struct rk_raw_header *h, enum rk_raw_skip why)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < RK_RAW_STRIPES; i++)
		n += h->stripes[i].skipped[why];
	return n;
}

TEST(recording_is_switched_from_outside_by_a_word_in_the_file)
{
	struct raw_view v;
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "switch=1,asleep=1", be_switched, w.dir, &path), 0);
	CHECK_STR(world_dump(&w, path, RK_API, 4), "start_ns=2\nstart_ns=5\n");
	if (raw_load(path, &v))
		CHECK_U64(skipped_of(v.h, RK_RAW_ASLEEP), 3);
	raw_drop(&v);
	world_close(&w);
}

static void stay_deaf(void *arg)
{
	struct rk_raw_header *h = outside(arg, getpid());

	MUST(h && threads_of_self() == 1);
	want(h, 0);
	pause_ms(50);
	MUST(h->awake == 1 && rk_rec_awake() && api_if_awake(1));
}

TEST(without_the_setting_there_is_no_thread_and_no_switch)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "", stay_deaf, w.dir, &path), 0);
	world_close(&w);
}

static volatile sig_atomic_t handled_by;

static void on_signal(int number)
{
	(void)number;
	handled_by = (int)syscall(SYS_gettid);
}

/* A child that only asks is in a file of its own, as awake as its parent was, and can be switched. */
static void child_of_switched(const char *dir)
{
	struct rk_raw_header *h;

	MUST(!rk_rec_awake());
	h = outside(dir, getpid());
	MUST(h && h->pid == (uint32_t)getpid() && h->wanted == 0 && threads_of_self() == 2);
	want(h, 1);
	MUST(becomes(h, 1) && rk_rec_awake() && api_if_awake(7));
	_exit(0); /* with the thread asleep */
}

static void fork_while_switched(void *arg)
{
	struct rk_raw_header *h = outside(arg, getpid());
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t usr;
	int status = -1;
	pid_t pid;

	MUST(h && threads_of_self() == 2 && !rk_rec_awake());
	/* a signal that no thread of the program takes is not for ours */
	MUST(!sigaction(SIGUSR1, &action, NULL));
	sigemptyset(&usr);
	sigaddset(&usr, SIGUSR1);
	MUST(!pthread_sigmask(SIG_BLOCK, &usr, NULL) && !kill(getpid(), SIGUSR1));
	pause_ms(20);
	MUST(!handled_by);
	MUST(!pthread_sigmask(SIG_UNBLOCK, &usr, NULL) && handled_by == getpid());
	pid = fork();
	if (!pid)
		child_of_switched(arg);
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	pid = _Fork(); /* no handler is called */
	if (!pid)
		child_of_switched(arg);
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	MUST(h->awake == 0 && !rk_rec_awake()); /* the children's switches are theirs */
	pid = fork();
	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	want(h, 1);
	MUST(becomes(h, 1));
}

TEST(children_are_switched_on_their_own)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "switch=1,asleep=1", fork_while_switched, w.dir, &path), 0);
	CHECK_U64(world_entries(&w, "."), 3); /* not one of the child that recorded nothing */
	world_close(&w);
}

/* ---- a file that someone else writes to ---- */

static atomic_bool scribbled;

/* Random numbers over the headers of all blocks, and the part of the header that changes. */
static void *scribble(void *arg)
{
	struct raw_view *v = arg;
	uint64_t random = 88172645463325252u;

	for (unsigned round = 0; round < 3000; round++) {
		for (size_t at = 0; at < v->len; at += v->h->block_bytes) {
			size_t first = at ? 0 : offsetof(struct rk_raw_header, sum);
			size_t end = at ? 64 : sizeof(struct rk_raw_header);
			uint64_t n = world_random(&random);

			first += n % (end - first - 7);
			n = world_random(&random);
			memcpy(v->data + at + first, &n, sizeof(n));
		}
	}
	scribbled = true;
	return NULL;
}

static void *write_on(void *arg)
{
	char name[32];

	(void)arg;
	for (int64_t n = 0; !scribbled; n++) {
		struct rk_rec_function f = { .regs = (uint32_t)n };
		struct rk_rec_launch l = { .id = rk_rec_next_id(), .submit_ns = n };

		snprintf(name, sizeof(name), "%d", (int)(n % 5000));
		f.name = text(name);
		l.shape = rk_rec_function(&f);
		rk_rec_launch(&l);
		rk_rec_ran(l.id, n, n + 1, 0);
		if (n % 50000 == 49999) /* its block goes to another thread */
			break;
	}
	return NULL;
}

static void write_under_attack(void *arg)
{
	char path[256];
	struct raw_view v = { 0 };
	pthread_t writers[3], enemy;
	struct stat st;
	int fd;

	write_on(NULL); /* the file has its full size then */
	snprintf(path, sizeof(path), "%s/%ld.rkraw", (const char *)arg, (long)getpid());
	fd = open(path, O_RDWR);
	MUST(fd >= 0 && !fstat(fd, &st));
	v.len = (size_t)st.st_size;
	v.data = mmap(NULL, v.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	v.h = (const struct rk_raw_header *)(const void *)v.data;
	MUST(v.data != MAP_FAILED);
	MUST(!pthread_create(&enemy, NULL, scribble, &v));
	while (!scribbled) {
		for (unsigned i = 0; i < 3; i++)
			MUST(!pthread_create(&writers[i], NULL, write_on, NULL));
		for (unsigned i = 0; i < 3; i++)
			MUST(!pthread_join(writers[i], NULL));
	}
	MUST(!pthread_join(enemy, NULL));
	/* whatever the word was, it is heard again */
	want((struct rk_raw_header *)(void *)v.data, 0);
	MUST(becomes((struct rk_raw_header *)(void *)v.data, 0));
}

TEST(whatever_others_write_to_the_file_the_program_goes_on)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=1M,window=1,switch=1", write_under_attack, w.dir, &path), 0);
	CHECK_I64(record(&w, "limit=2M,switch=1", write_under_attack, w.dir, &path), 0);
	world_close(&w);
}

/* ---- ranges and sampling ---- */

static void in_range(const char *name, unsigned calls, int64_t *at)
{
	rk_rec_range(name, strlen(name), true);
	for (unsigned i = 0; i < calls; i++)
		api_if_awake(++*at);
	rk_rec_range(name, strlen(name), false);
}

static void walk_ranges(void *arg)
{
	int64_t at = 0;

	(void)arg;
	rk_rec_range("step", 4, false); /* was open before */
	for (unsigned i = 0; i < 3; i++) {
		api_if_awake(++at);
		in_range("step", 1, &at);
		in_range("steps", 1, &at);
	}
	rk_rec_range("step", 4, true); /* nested */
	in_range("step", 1, &at);
	in_range("other", 1, &at);
	rk_rec_range("step", 4, false);
	api_if_awake(++at);
}

/* What is recorded of walk_ranges(), and what is counted. */
static void ranges_give(const char *settings, const char *rows, uint64_t outside_range,
			uint64_t not_chosen)
{
	struct raw_view v;
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, settings, walk_ranges, NULL, &path), 0);
	CHECK_STR(world_dump(&w, path, RK_API, 4), rows);
	if (raw_load(path, &v)) {
		CHECK_U64(skipped_of(v.h, RK_RAW_RANGE), outside_range);
		CHECK_U64(skipped_of(v.h, RK_RAW_EVERY), not_chosen);
	}
	raw_drop(&v);
	world_close(&w);
}

TEST(only_calls_in_ranges_of_the_name_are_recorded)
{
	ranges_give("range=step", "start_ns=2\nstart_ns=5\nstart_ns=8\nstart_ns=10\nstart_ns=11\n",
		    7, 0);
}

TEST(one_of_two_ranges_is_recorded)
{
	ranges_give("range=step,every=1:2", "start_ns=2\nstart_ns=8\n", 7, 3);
	/* of all ranges that are in no other: the first step, the second, the third, the last */
	ranges_give("every=1:2", "start_ns=2\nstart_ns=5\nstart_ns=8\nstart_ns=10\nstart_ns=11\n",
		    4, 3);
	/* an invalid setting is ignored */
	ranges_give("every=0:2",
		    "start_ns=1\nstart_ns=2\nstart_ns=3\nstart_ns=4\nstart_ns=5\n"
		    "start_ns=6\nstart_ns=7\nstart_ns=8\nstart_ns=9\nstart_ns=10\n"
		    "start_ns=11\nstart_ns=12\n",
		    0, 0);
}

enum { CALLS = 100000, LOOP = 100 };

/* A loop of as many different calls as the sampling has steps: each has its share. */
static void sample_loop(void *arg)
{
	(void)arg;
	for (int64_t i = 0; i < CALLS; i++)
		if (rk_rec_sampled())
			MUST(rk_rec_api(text("call"), i % LOOP, 1, 0));
}

TEST(one_call_of_a_hundred_is_recorded_and_not_always_the_same)
{
	struct raw_view v;
	struct world w;
	const char *path, *got;
	uint64_t rows = 0, kinds = 0;
	bool seen[LOOP] = { false };

	world_open(&w, 1);
	CHECK_I64(record(&w, "sample=100", sample_loop, NULL, &path), 0);
	got = world_dump(&w, path, RK_API, 4);
	for (const char *p = got; p && *p; p = strchr(p, '\n') + 1, rows++) {
		unsigned at = LOOP;

		if (!CHECK(sscanf(p, "start_ns=%u", &at) == 1 && at < LOOP))
			break;
		kinds += !seen[at];
		seen[at] = true;
	}
	CHECK(rows > CALLS / 100 * 8 / 10 && rows < CALLS / 100 * 12 / 10);
	CHECK(kinds > LOOP * 9 / 10);
	if (raw_load(path, &v))
		CHECK_U64(skipped_of(v.h, RK_RAW_SAMPLE), CALLS - rows);
	raw_drop(&v);
	world_close(&w);
}
