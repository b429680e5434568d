/*
 * fake_cuda_app.c - a program that "uses CUDA", and says in JSON what it did.
 *
 *	fake-cuda-app VERB [COUNT [THREADS]]
 *
 *	run       COUNT launches in each of THREADS threads, and some of everything else
 *	graphs    a graph of 5 nodes, launched COUNT times
 *	nvtx      ranges and marks of every kind, COUNT times, without CUDA
 *	idle      initialises CUDA and does nothing
 *	silent    does not even do that
 *	fork      launches, then a child that tries to use what it has inherited
 *	heir      marks of NVTX, then a child that is the first to use CUDA and does "run"
 *	spawn     starts itself twice with "run"
 *	leave     launches and _exit; sleeps COUNT2 ms before (third argument)
 *	abort     the same, then abort
 *	callback  launches, and a function in a stream calls exit(7)
 *	endless   launches for ever; prints each thousand to standard output after a while
 *	takeover  another user of CUPTI registers its callbacks after half of the launches
 *	early     another user of CUPTI registers before the first launch
 *	sharing   another user of CUPTI subscribes beside us (the interface with subscribers)
 *	reload    the name of another kernel comes to lie where one was
 *	rate      COUNT launches, and what one costs: CPU time of this thread, of the process, wall time
 *	serve     "serve LOG": steps of 10 launches for ever, with a log as that of tests/device/loops.py
 *	ranges    COUNT NVTX ranges "step", each with 10 launches, and 10 launches after each
 *
 * Each launch takes 100 ns and 10 ns for each of its number modulo 7: no two overlap in a stream.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "../../tools/bench_core.h"
#include "fake_cuda.h"

enum { NAMES = 4, KINDS = 10, MAX_THREADS = 64, OTHERS_BYTES = 1 << 16, EACH = 10 };

static const char *const names[NAMES] = {
	"_ZN2at6native29vectorized_elementwise_kernelILi4EfEEviT0_",
	"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32",
	"_Z9layernormPKfPfi",
	"memset_like",
};

static _Atomic uint64_t launched[NAMES], launched_ns, copies[KINDS + 1], copied[KINDS + 1], waits,
	allocs;
static uint64_t count = 100;
static unsigned nthreads = 1;

static uint64_t number(const char *s)
{
	uint64_t n = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (uint64_t)(*s - '0');
	return n;
}

static int64_t boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void launch(uint64_t n, uint32_t graph, uint64_t node)
{
	struct fake_launch l = { .name = names[n % NAMES],
				 .device = (uint32_t)(n / 8 % 2),
				 .context = 1 + (uint32_t)(n / 8 % 2),
				 .stream = 7 + (uint32_t)(n % 3) * 6,
				 .registers = (uint16_t)(32 + n % NAMES),
				 .grid = { 100 + (int32_t)(n % NAMES), 2, 1 },
				 .block = { 128, 1, 1 },
				 .static_shared = 1024,
				 .dynamic_shared = (int32_t)(n % NAMES) * 512,
				 .local = 16,
				 .graph = graph,
				 .node = node,
				 .duration_ns = 100 + n % 7 * 10 };

	fakeLaunch(&l);
	atomic_fetch_add(&launched[n % NAMES], 1);
	atomic_fetch_add(&launched_ns, l.duration_ns);
}

static void copy(uint64_t n)
{
	struct fake_copy c = { .kind = (uint8_t)(n % (KINDS + 1)),
			       .device = 0,
			       .context = 1,
			       .stream = 7,
			       .from = 0,
			       .to = 1,
			       .bytes = 4096 + n,
			       .duration_ns = 500 };

	fakeCopy(&c);
	atomic_fetch_add(&copies[c.kind], 1);
	atomic_fetch_add(&copied[c.kind], c.bytes);
}

static void other(uint64_t n)
{
	struct fake_wait w = { .type = 1 + (uint32_t)(n % 4),
			       .context = 1,
			       .stream = n % 4 == 3 ? UINT32_MAX : 7,
			       .duration_ns = 300 };
	struct fake_alloc a = { .operation = 1 + (uint32_t)(n % 2),
				.device = 1,
				.address = 0x7f0000000000 + n * 4096,
				.bytes = 4096 };

	fakeWait(&w);
	fakeAlloc(&a);
	atomic_fetch_add(&waits, 1);
	atomic_fetch_add(&allocs, 1);
}

static void *work(void *unused)
{
	(void)unused;
	for (uint64_t n = 0; n < count; n++) {
		launch(n, 0, 0);
		if (n % EACH == 0) {
			copy(n / EACH);
			other(n / EACH);
		}
	}
	return NULL;
}

static void work_in_threads(void)
{
	pthread_t threads[MAX_THREADS];
	unsigned n = 0;

	if (nthreads == 1) {
		work(NULL);
		return;
	}
	while (n < nthreads && n < MAX_THREADS && !pthread_create(&threads[n], NULL, work, NULL))
		n++;
	while (n)
		pthread_join(threads[--n], NULL);
}

static void tell(int64_t begin)
{
	printf("{\"kernels\": {");
	for (unsigned i = 0; i < NAMES; i++)
		printf("%s\"%s\": %" PRIu64, i ? ", " : "", names[i], launched[i]);
	printf("}, \"kernel_ns\": %" PRIu64 ", \"copies\": [", launched_ns);
	for (unsigned i = 0; i <= KINDS; i++)
		printf("%s[%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", copies[i], copied[i]);
	printf("], \"syncs\": %" PRIu64 ", \"allocs\": %" PRIu64 ", \"begin\": %" PRId64
	       ", \"end\": %" PRId64 ", \"pid\": %ld}\n",
	       waits, allocs, begin, boot_ns(), (long)getpid());
	fflush(stdout);
}

/* ---- another user of CUPTI ---- */

typedef void other_request(uint8_t **, size_t *, size_t *);
typedef void other_complete(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void other_request2(uint8_t **, size_t *, size_t *, void *);
typedef void other_complete2(uint8_t *, size_t, size_t, void *);

static _Atomic uint64_t others_records;

static void other_requested(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = aligned_alloc(8, OTHERS_BYTES);
	*size = OTHERS_BYTES;
	*most = 0;
}

static void other_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			    size_t valid)
{
	(void)context;
	(void)stream;
	atomic_fetch_add(&others_records, valid > 0);
	if (size == OTHERS_BYTES) /* one of a user before us is not ours to free */
		free(buffer);
}

static void other_requested2(uint8_t **buffer, size_t *size, size_t *most, void *info)
{
	(void)info;
	other_requested(buffer, size, most);
}

static void other_completed2(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	(void)info;
	other_completed(NULL, 0, buffer, size, valid);
}

static void *cupti_function(const char *name)
{
	void *lib = dlopen("libcupti.so.12", RTLD_NOW | RTLD_NOLOAD);

	lib = lib ? lib : dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	return lib ? dlsym(lib, name) : NULL;
}

static void take_over(void)
{
	int (*callbacks)(other_request *, other_complete *), (*enable)(int);

	*(void **)&callbacks = cupti_function("cuptiActivityRegisterCallbacks");
	*(void **)&enable = cupti_function("cuptiActivityEnable");
	if (callbacks && enable) {
		callbacks(other_requested, other_completed);
		enable(10);
	}
}

static void share(void)
{
	struct {
		size_t bytes;
		const char *name;
		char *old;
		size_t old_bytes;
		uint8_t multiple, unused[7];
	} params = { sizeof(params), "other", NULL, 0, 1, { 0 } };
	int (*subscribe)(void **, void *, void *, void *), (*enable)(void *, int, void *);
	int (*callbacks)(void *, other_request2 *, other_complete2 *);
	void *s = NULL;

	*(void **)&subscribe = cupti_function("cuptiSubscribe_v2");
	*(void **)&callbacks = cupti_function("cuptiActivityRegisterCallbacks_v2");
	*(void **)&enable = cupti_function("cuptiActivityEnable_v2");
	if (!subscribe || !callbacks || !enable || subscribe(&s, NULL, NULL, &params))
		return;
	callbacks(s, other_requested2, other_completed2);
	enable(s, 10, NULL);
}

/* ---- NVTX, as a program has it ---- */

typedef void nvtx_f(void);

enum { CORE = 1, CORE2 = 5, SLOTS = 16 };

static nvtx_f *core[SLOTS], *core2[SLOTS];
static nvtx_f **core_table[SLOTS + 1], **core2_table[SLOTS + 1];

static int module_table(int module, nvtx_f ****table, unsigned *size)
{
	if (module != CORE && module != CORE2)
		return 0;
	*table = module == CORE ? core_table : core2_table;
	*size = SLOTS;
	return 1;
}

static const void *get_table(uint32_t id)
{
	static const struct {
		size_t bytes;
		int (*f)(int, nvtx_f ****, unsigned *);
	} callbacks = { sizeof(callbacks), module_table };

	return id == 1 ? &callbacks : NULL;
}

static bool nvtx_begin(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(const void *(*)(uint32_t)) = NULL;

	for (unsigned i = 1; i < SLOTS; i++) {
		core_table[i] = &core[i];
		core2_table[i] = &core2[i];
	}
	if (lib)
		*(void **)&initialize = dlsym(lib, "InitializeInjectionNvtx2");
	return initialize && initialize(get_table);
}

struct event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

#define CALL(table, n, type) ((type)(table)[n])

/* One nesting with its own domain, one range over threads, and marks. */
static void nvtx_once(const void *domain, const void *registered)
{
	struct event e = { 3, sizeof(e), 0, 0, 0, 0, 0, 0, 1, "step" };
	uint64_t range;

	CALL(core, 9, int (*)(const char *))("outer");
	CALL(core, 10, int (*)(const wchar_t *))(L"inner \u00e9\u4e2d");
	CALL(core2, 4, int (*)(const void *, const void *))(domain, &e);
	range = CALL(core, 5, uint64_t(*)(const char *))("range");
	CALL(core, 11, int (*)(void))();               /* inner */
	CALL(core2, 5, int (*)(const void *))(domain); /* step */
	CALL(core, 7, void (*)(uint64_t))(range);
	e.message_type = 3;
	e.message = registered;
	CALL(core, 2, void (*)(const char *))("mark");
	CALL(core2, 1, void (*)(const void *, const void *))(domain, &e);
	CALL(core, 11, int (*)(void))(); /* outer */
}

static int nvtx_verb(void)
{
	bool on = nvtx_begin();

	if (on) {
		const void *domain = CALL(core2, 12, void *(*)(const char *))("NCCL");
		const void *text = CALL(core2, 10, void *(*)(const void *, const char *))(
			domain, "registered");

		if (CALL(core, 11, int (*)(void))() >= 0) /* nothing was pushed */
			return 3;
		for (uint64_t i = 0; i < count; i++)
			nvtx_once(domain, text);
	}
	printf("{\"nvtx\": %s, \"times\": %" PRIu64 "}\n", on ? "true" : "false", count);
	return 0;
}

/* ---- verbs ---- */

static int run(void)
{
	int64_t begin = boot_ns();

	work_in_threads();
	tell(begin);
	return 0;
}

static int graphs(void)
{
	int64_t begin = boot_ns();

	for (uint64_t i = 0; i < count; i++)
		for (uint64_t node = 0; node < 5; node++)
			launch(node, 12, (uint64_t)11 << 32 | node);
	tell(begin);
	return 0;
}

static int fork_verb(void)
{
	int64_t begin = boot_ns();
	int status = 0;
	pid_t pid;

	work(NULL);
	fflush(stdout);
	pid = fork();
	if (!pid)
		exit(3);
	waitpid(pid, &status, 0);
	work(NULL);
	tell(begin);
	return WEXITSTATUS(status) == 3 ? 0 : 1;
}

static int heir(void)
{
	int status = 0;
	pid_t pid;

	if (nvtx_begin())
		CALL(core, 2, void (*)(const char *))("mark");
	pid = fork();
	if (!pid)
		exit(cuInit(0) ? 9 : run());
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static int spawn(const char *self)
{
	char n[32];
	int status = 0, all = 0;

	snprintf(n, sizeof(n), "%" PRIu64, count);
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid) {
			execl(self, self, "run", n, (char *)NULL);
			_exit(127);
		}
		waitpid(pid, &status, 0);
		all |= status;
	}
	return all ? 1 : run();
}

static void leave_by_exit(void *unused)
{
	(void)unused;
	exit(7);
}

static int callback(void)
{
	run();
	fakeHostFunction(leave_by_exit, NULL);
	return 1;
}

static _Noreturn void endless(void)
{
	for (uint64_t n = 0;; n++) {
		launch(n, 0, 0);
		if (n % 1000 == 999) {
			usleep(20000);
			printf("%" PRIu64 "\n", n + 1);
			fflush(stdout);
		}
	}
}

static int takeover(uint64_t before)
{
	int64_t begin = boot_ns();

	for (uint64_t n = 0; n < before; n++)
		launch(n, 0, 0);
	usleep(300000); /* our own part has been given back by now */
	tell(begin);
	take_over();
	for (uint64_t n = 0; n < 1000; n++)
		launch(n, 0, 0);
	return 0;
}

static int sharing(void)
{
	int64_t begin = boot_ns();
	int (*flush)(uint32_t);

	share();
	work(NULL);
	*(void **)&flush = cupti_function("cuptiActivityFlushAll");
	if (flush)
		flush(1);
	tell(begin);
	fprintf(stderr, "other: %s\n", others_records ? "records" : "none");
	return 0;
}

static int reload(void)
{
	static char place[64];
	struct fake_launch l = { .name = place, .block = { 1, 1, 1 }, .grid = { 1, 1, 1 } };
	int64_t begin = boot_ns();

	for (uint64_t i = 0; i < 2; i++) {
		snprintf(place, sizeof(place), "module_%" PRIu64, i);
		l.duration_ns = 1000;
		fakeLaunch(&l);
		usleep(300000); /* it has been read by now */
	}
	tell(begin);
	return 0;
}

static double clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int rate(void)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
					    CLOCK_THREAD_CPUTIME_ID };
	double before[3], each[3];

	for (uint64_t n = 0; n < 100; n++)
		launch(n, 0, 0);
	bench_core();
	for (unsigned i = 0; i < 3; i++)
		before[i] = clock_ns(clocks[i]);
	for (uint64_t n = 0; n < count; n++)
		launch(n, 0, 0);
	for (unsigned i = 3; i--;)
		each[i] = (clock_ns(clocks[i]) - before[i]) / (double)count;
	printf("{\"launches\":%" PRIu64 ",\"thread_ns\":%.1f,\"process_ns\":%.1f,"
	       "\"wall_ns\":%.1f}\n",
	       count + 100, each[2], each[1], each[0]);
	return 0;
}

/* The launches of a range have a name of their own. */
static int ranges(void)
{
	int64_t begin = boot_ns();
	bool told = nvtx_begin();

	for (uint64_t i = 0; i < count; i++) {
		if (told)
			CALL(core, 9, int (*)(const char *))("step");
		for (unsigned n = 0; n < EACH; n++)
			launch(2, 0, 0);
		usleep(1000);
		if (told)
			CALL(core, 11, int (*)(void))();
		usleep(1000);
		for (unsigned n = 0; n < EACH; n++)
			launch(3, 0, 0);
		usleep(1000);
	}
	tell(begin);
	return 0;
}

static int serve(const char *path)
{
	FILE *log = fopen(path, "w");

	if (!log)
		return 1;
	fprintf(log, "%ld\n", (long)getpid());
	for (uint64_t steps = 100;; steps += 100) {
		for (unsigned n = 0; n < 100 * EACH; n++)
			launch(n, 0, 0);
		usleep(5000);
		fprintf(log, "%" PRId64 " %" PRIu64 "\n", boot_ns(), steps);
		fflush(log);
	}
}

static int sudden(const char *verb, uint64_t wait_ms)
{
	run();
	usleep((useconds_t)wait_ms * 1000);
	if (!strcmp(verb, "abort"))
		abort();
	_exit(5);
}

static int with_cuda(const char *verb, const char *self, uint64_t third)
{
	if (cuInit(0) != 0) {
		fprintf(stderr, "no CUDA here\n");
		return 9;
	}
	if (!strcmp(verb, "run"))
		return run();
	if (!strcmp(verb, "graphs"))
		return graphs();
	if (!strcmp(verb, "fork"))
		return fork_verb();
	if (!strcmp(verb, "spawn"))
		return spawn(self);
	if (!strcmp(verb, "callback"))
		return callback();
	if (!strcmp(verb, "endless"))
		endless();
	if (!strcmp(verb, "takeover"))
		return takeover(count);
	if (!strcmp(verb, "early"))
		return takeover(0);
	if (!strcmp(verb, "sharing"))
		return sharing();
	if (!strcmp(verb, "reload"))
		return reload();
	if (!strcmp(verb, "rate"))
		return rate();
	if (!strcmp(verb, "ranges"))
		return ranges();
	if (!strcmp(verb, "leave") || !strcmp(verb, "abort"))
		return sudden(verb, third);
	return strcmp(verb, "idle") ? 2 : 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "run";
	uint64_t third = argc > 3 ? number(argv[3]) : 1;

	if (!strcmp(verb, "serve") && argc > 2)
		return cuInit(0) ? 9 : serve(argv[2]);

	if (argc > 2)
		count = number(argv[2]);
	if (!strcmp(verb, "run"))
		nthreads = (unsigned)third;
	if (!strcmp(verb, "nvtx"))
		return nvtx_verb();
	if (!strcmp(verb, "heir"))
		return heir();
	return !strcmp(verb, "silent") ? 0 : with_cuda(verb, argv[0], third);
}
