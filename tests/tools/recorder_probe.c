/*
 * recorder_probe.c - a program that has the flight recorder in it.
 *
 *	recorder-probe VERB [COUNT [THREADS]]
 *
 *	run      COUNT kernels in each of THREADS threads, generated from their numbers; prints the
 *	         CPU time of one
 *	told     kernels without end in THREADS threads, while awake; the number of each that is
 *	         recorded goes to standard output (8 bytes): what a reader of the pipe has got must be
 *	         in the file
 *	brief    COUNT threads one after another, three kernels each
 *	fork     COUNT kernels, a child by fork and one by _Fork with COUNT each, COUNT again
 *	exec     COUNT kernels, then the program again with "run"
 *	leave    COUNT kernels, then _exit
 *	abort    COUNT kernels, then abort
 *	signals  COUNT kernels while a timer's handler records as well
 *	names    COUNT kernels of as many names and shapes
 *	launch   COUNT kernels in two parts; the times are 64 behind
 *	calls    the same with a record of each launching call
 *
 * Prints "recorded N lost M peak K kB" at the end. The settings are the recorder's own, ROCKIT_COLLECT.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"

enum { MAX_THREADS = 64, NAMES = 4, STEP_NS = 1000 };

static uint32_t device, queues[2], shapes[NAMES];
static uint64_t count = 1000;
static _Atomic uint64_t recorded, numbers;
static bool printed; /* which may change errno */

static void define(void)
{
	static const char *const names[NAMES] = { "gemm", "softmax", "layer_norm", "reduce" };
	struct rk_rec_clocks c;
	struct rk_rec_device d = { .type = RK_REC_CPU, .compute_units = 2, .clock_mhz = 3000 };

	d.name = rk_rec_string("probe", 5);
	device = rk_rec_device(&d);
	for (uint32_t i = 0; i < 2; i++)
		queues[i] = rk_rec_queue(device, i, 0);
	for (uint32_t i = 0; i < NAMES; i++) {
		struct rk_rec_function f = { rk_rec_string(names[i], strlen(names[i])), device, 32,
					     RK_REC_UNKNOWN, 1024 };
		struct rk_rec_shape s = {
			rk_rec_function(&f), 1024, { 1000, i + 1, 1 }, { 64, 1, 1 }
		};

		shapes[i] = rk_rec_shape(&s);
	}
	/* the device's clock is CLOCK_MONOTONIC_RAW */
	rk_rec_clocks(&c);
	rk_rec_calibration(device, c.raw_ns, c.boot_ns, c.raw_ns, c.error_ns);
}

/* Everything about it follows from its number. A function of its own: callgrind counts it. */
__attribute__((noinline)) static bool kernel(uint64_t n)
{
	int64_t at = (int64_t)(n * STEP_NS);
	struct rk_rec_kernel k = { .shape = shapes[n % NAMES],
				   .queue = queues[n % 2],
				   .correlation = n,
				   .t = { at, at + 100, at + 300, at + 300 + (int64_t)(n % 500) } };

	return rk_rec_kernel(&k);
}

static void some(uint64_t from, uint64_t n)
{
	uint64_t good = 0;

	for (uint64_t i = 0; i < n; i++) {
		rk_rec_begun();
		good += kernel(from + i);
	}
	recorded += good;
}

static void *worker(void *arg)
{
	(void)arg;
	some(atomic_fetch_add(&numbers, count), count);
	return NULL;
}

static int on_threads(unsigned n, void *(*what)(void *))
{
	pthread_t threads[MAX_THREADS];

	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, what, NULL))
			return 1;
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static int run(unsigned threads)
{
	double before = cpu_ns();
	int rc = 0;

	if (threads > 1)
		rc = on_threads(threads, worker);
	else
		worker(NULL);
	printf("%.1f ns of CPU a record\n",
	       (cpu_ns() - before) / (double)count / (double)(threads ? threads : 1));
	printed = true;
	return rc;
}

static void *tell(void *arg)
{
	(void)arg;
	for (;;) {
		uint64_t n;

		if (!rk_rec_awake()) {
			rk_rec_skip();
			usleep(100);
			continue;
		}
		n = atomic_fetch_add(&numbers, 1);
		rk_rec_begun();
		if (kernel(n) && write(STDOUT_FILENO, &n, sizeof(n)) != (ssize_t)sizeof(n))
			exit(1);
	}
	return NULL;
}

static int told(unsigned threads)
{
	return on_threads(threads, tell);
}

static void *three(void *arg)
{
	(void)arg;
	some(atomic_fetch_add(&numbers, 3), 3);
	return NULL;
}

static int brief(unsigned threads)
{
	int rc = 0;

	(void)threads;
	for (uint64_t i = 0; i < count && !rc; i++)
		rc = on_threads(1, three);
	return rc;
}

static int child(pid_t pid, uint64_t from)
{
	int status;

	if (pid < 0)
		return 1;
	if (!pid) {
		some(from, count);
		exit(0);
	}
	return waitpid(pid, &status, 0) != pid || status;
}

static int forks(unsigned threads)
{
	int rc;

	(void)threads;
	some(0, count);
	rc = child(fork(), 1000000);
	/* no handler of fork() is called for this one */
	rc = rc ? rc : child(_Fork(), 2000000);
	some(count, count);
	return rc;
}

static int again(unsigned threads)
{
	char number[24];

	(void)threads;
	some(0, count);
	snprintf(number, sizeof(number), "%" PRIu64, count);
	execl("/proc/self/exe", "recorder-probe", "run", number, (char *)NULL);
	return 1;
}

static int leave(unsigned threads)
{
	(void)threads;
	some(0, count);
	_exit(0);
}

static int abortion(unsigned threads)
{
	(void)threads;
	some(0, count);
	abort();
}

static void on_timer(int number)
{
	(void)number;
	if (kernel(atomic_fetch_add(&numbers, 1)))
		recorded++;
}

static int signals(unsigned threads)
{
	struct sigaction action = { .sa_handler = on_timer };
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };

	(void)threads;
	numbers = count;
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	some(0, count);
	setitimer(ITIMER_PROF, &never, NULL);
	return 0;
}

static int names(unsigned threads)
{
	(void)threads;
	for (uint64_t i = 0; i < count; i++) {
		char name[64];
		int len = snprintf(name, sizeof(name), "kernel_number_%" PRIu64, i);
		struct rk_rec_function f = { rk_rec_string(name, (size_t)len), device,
					     RK_REC_UNKNOWN, RK_REC_UNKNOWN, RK_REC_UNKNOWN };
		struct rk_rec_shape s = { rk_rec_function(&f), 0, { i + 1, 1, 1 }, { 1, 1, 1 } };

		shapes[i % NAMES] = rk_rec_shape(&s);
		some(i, 1);
	}
	return 0;
}

/* ---- launches first, times later ---- */

enum { BEHIND = 64 };

/* As a busy program does: a launch every few microseconds, a kernel of some more. */
__attribute__((noinline)) static bool launch(uint64_t id, int64_t now)
{
	struct rk_rec_launch l = { .shape = shapes[id % NAMES],
				   .queue = queues[id / 16 % 2],
				   .id = id,
				   .correlation = 1000 + id,
				   .submit_ns = now };

	return rk_rec_launch(&l);
}

__attribute__((noinline)) static bool ran(uint64_t id)
{
	int64_t start = (int64_t)(id * 9000 + id % 7 * 911);

	return rk_rec_ran(id, start, start + 2000 + (int64_t)(id % 5 * 1700), 0);
}

static int launches(bool calls)
{
	uint32_t name = rk_rec_string("hipLaunchKernel", 15);
	int64_t now = rk_rec_now();
	double before = cpu_ns();

	for (uint64_t i = 0; i < count; i++) {
		now += 4000 + (int64_t)(i * 2654435761u % 3000);
		recorded += launch(rk_rec_next_id(), now);
		if (calls)
			recorded += rk_rec_api(name, now - 900, 1800 + (int64_t)(i % 3) * 400,
					       1001 + i);
		if (i >= BEHIND)
			recorded += ran(i - BEHIND + 1);
	}
	for (uint64_t i = count < BEHIND ? 1 : count - BEHIND + 1; i <= count; i++)
		recorded += ran(i);
	printf("%.1f ns of CPU a record\n", (cpu_ns() - before) / (double)recorded);
	printed = true;
	return 0;
}

static int launch_only(unsigned threads)
{
	(void)threads;
	return launches(false);
}

static int launch_and_call(unsigned threads)
{
	(void)threads;
	return launches(true);
}

static int probe(const char *verb, unsigned threads)
{
	static const struct {
		const char *verb;
		int (*run)(unsigned threads);
	} verbs[] = {
		{ "run", run },
		{ "told", told },
		{ "brief", brief },
		{ "fork", forks },
		{ "exec", again },
		{ "leave", leave },
		{ "names", names },
		{ "signals", signals },
		{ "abort", abortion },
		{ "launch", launch_only },
		{ "calls", launch_and_call },
	};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].verb, verb))
			return verbs[i].run(threads);
	fprintf(stderr, "recorder-probe: no verb '%s'\n", verb);
	return 2;
}

/* The most memory it had, in kB. */
static long peak_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

int main(int argc, char **argv)
{
	unsigned threads = 1;
	bool on = rk_rec_start("probe");
	struct rk_rec_clocks c;
	int rc;

	if (argc < 2 || (argc > 2 && sscanf(argv[2], "%" SCNu64, &count) != 1) ||
	    (argc > 3 && sscanf(argv[3], "%u", &threads) != 1) || threads > MAX_THREADS)
		return 2;
	errno = 42;
	define();
	rc = probe(argv[1], threads);
	if (errno != 42 && !rc && !printed)
		fprintf(stderr, "errno changed to %d\n", errno);
	rk_rec_clocks(&c);
	rk_rec_calibration(device, c.raw_ns, c.boot_ns, c.raw_ns, c.error_ns);
	printf("recorder %s, recorded %" PRIu64 " lost %" PRIu64 " peak %ld kB\n",
	       on ? "on" : "off", (uint64_t)recorded, rk_rec_lost(), peak_kb());
	return rc;
}
