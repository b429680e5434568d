/*
 * cl_fake.c - `cl-fake LAYER CASE`: loads a layer over a fake runtime (cl_fake.h) and
 * prints what the application would see.
 */
#include "cl_fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

static const cl_icd_dispatch *cl; /* the layer */

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "cl-fake: %s\n", what);
	exit(1);
}

static cl_command_queue new_queue(cl_command_queue_properties properties)
{
	return cl->clCreateCommandQueue(NULL, FAKE_DEVICE, properties, NULL);
}

static unsigned asked(cl_command_queue q)
{
	cl_command_queue_properties p = 0;

	cl->clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof(p), &p, NULL);
	return (unsigned)p;
}

/* At most `enough`, if it is a matter of time: the layer's own thread may have some in its hands. */
static int events_left(int enough)
{
	struct timespec t = { .tv_nsec = 1000000 };

	for (int i = 0; i < 10000 && fake.live_events > enough; i++)
		nanosleep(&t, NULL);
	return fake.live_events;
}

static void launch(cl_command_queue q, cl_event *event)
{
	static cl_kernel k;
	size_t global = 64, local = 8;

	if (!k)
		k = cl->clCreateKernel(NULL, "fake", NULL);
	must(cl->clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, 0, NULL, event) ==
		     CL_SUCCESS,
	     "launch");
}

static int times_of(cl_event e)
{
	cl_ulong ns;

	return cl->clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof(ns), &ns, NULL);
}

static void show(const char *what, cl_command_queue q)
{
	cl_event e;

	launch(q, &e);
	cl->clFinish(q);
	printf("%s: properties %u, below %u, times %d\n", what, asked(q),
	       (unsigned)((struct fake_queue *)q)->properties, times_of(e));
	cl->clReleaseEvent(e);
}

/* Properties that change under way, as OpenCL 1.0 had it. */
static void change(void)
{
	cl_command_queue_properties old = 99;
	cl_command_queue q = new_queue(0);

	show("made", q);
	cl->clSetCommandQueueProperty(q, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &old);
	printf("was %u\n", (unsigned)old);
	show("on", q);
	cl->clSetCommandQueueProperty(q, CL_QUEUE_PROFILING_ENABLE, CL_FALSE, &old);
	printf("was %u\n", (unsigned)old);
	show("off", q);
	cl->clReleaseCommandQueue(q);
	q = new_queue(CL_QUEUE_PROFILING_ENABLE);
	show("asked for", q);
	cl->clSetCommandQueueProperty(q, CL_QUEUE_PROFILING_ENABLE, CL_FALSE, NULL);
	show("not any more", q);
	cl->clReleaseCommandQueue(q);
}

static void refuse(void)
{
	cl_queue_properties on_device[] = {
		CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0
	};
	cl_command_queue q =
		cl->clCreateCommandQueueWithProperties(NULL, FAKE_DEVICE, on_device, NULL);

	printf("on the device: %u\n", (unsigned)((struct fake_queue *)q)->properties);
	cl->clReleaseCommandQueue(q);
	fake.refuse_profiling = true;
	q = new_queue(0);
	show("refused", q);
	cl->clReleaseCommandQueue(q);
	printf("asked for: %s\n", new_queue(CL_QUEUE_PROFILING_ENABLE) ? "made" : "none");
	printf("queues made: %d\n", fake.made_queues);
}

static void show_extension(const char *what, void *p)
{
	cl_command_queue(CL_API_CALL * f)(cl_context, cl_device_id, const cl_queue_properties *,
					  cl_int *);
	cl_int rc = 99;

	must(p != NULL, "no function");
	memcpy(&f, &p, sizeof(f));
	show(what, f(NULL, FAKE_DEVICE, NULL, &rc));
	must(rc == CL_SUCCESS, "status");
}

/* The function of the extension for runtimes before 2.0, by the newer question or the older. */
static void extended(void)
{
	static const char name[] = "clCreateCommandQueueWithPropertiesKHR";

	show_extension("any platform", cl->clGetExtensionFunctionAddress(name));
	show_extension("extension",
		       cl->clGetExtensionFunctionAddressForPlatform(FAKE_PLATFORM, name));
	printf("others: %s\n",
	       cl->clGetExtensionFunctionAddressForPlatform(FAKE_PLATFORM, "x") ? "some" : "none");
}

/* Commands that fail, and such that are over without times. */
static void odd_events(void)
{
	cl_command_queue q = new_queue(0);
	cl_event e;

	launch(q, &e);
	((struct fake_event *)e)->status = -5;
	cl->clFinish(q);
	cl->clReleaseEvent(e);
	fake.without_times = true;
	launch(q, NULL);
	cl->clFinish(q);
	fake.without_times = false;
	show("then", q);
	cl->clReleaseCommandQueue(q);
	printf("events left: %d\n", events_left(0));
}

/* Markers whose times are all "not available", or 0, or left over from another command. */
static void idle(void)
{
	cl_command_queue q = new_queue(0);

	fake.without_times = true;
	cl->clEnqueueMarkerWithWaitList(q, 0, NULL, NULL);
	cl->clFinish(q);
	fake.without_times = false;
	fake.stale_times = true;
	for (int i = 0; i < 2; i++)
		cl->clEnqueueMarkerWithWaitList(q, 0, NULL, NULL);
	cl->clFinish(q);
	cl->clReleaseCommandQueue(q);
	printf("events left: %d\n", events_left(0));
}

static void timer(void)
{
	fake.version = "OpenCL 2.1 fake";
	show("timer", new_queue(0));
	printf("timer was asked: %s\n", fake.timer_calls > 0 ? "yes" : "no");
}

static void no_timer(void)
{
	show("no timer", new_queue(0));
	printf("timer was asked: %s\n", fake.timer_calls > 0 ? "yes" : "no");
}

/* A sub-device that is let go: its timer is not asked at the end. */
static void part(void)
{
	fake.version = "OpenCL 2.1 fake";
	show("part", cl->clCreateCommandQueue(NULL, FAKE_PART, 0, NULL));
	printf("timer was asked: %s\n", fake.timer_calls > 0 ? "yes" : "no");
}

static void waited(void)
{
	cl_command_queue q = new_queue(0);
	cl_event e;

	launch(q, &e);
	printf("nothing: %d\n", (int)cl->clWaitForEvents(1, NULL));
	fake.waited = false;
	printf("one: %d\n", (int)cl->clWaitForEvents(1, &e));
	cl->clReleaseEvent(e);
}

/* More queues than there are places. */
static void crowd(void)
{
	for (int i = 0; i < 6000; i++) {
		cl_command_queue q = new_queue(0);

		must(q && asked(q) == 0, "queue");
		launch(q, NULL);
		cl->clFinish(q);
	}
}

/* The layer leaves a limited address space to the program. */
static void space(void)
{
	struct rlimit limit;

	show("launch", new_queue(0));
	must(getrlimit(RLIMIT_AS, &limit) == 0, "getrlimit");
	printf("room: %s\n", mmap(NULL, limit.rlim_cur / 4 * 3, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ?
				     "no" :
				     "yes");
}

/* Calls that wait in the queue and have no event. */
static void barriers(void)
{
	cl_command_queue q = new_queue(0);
	cl_event e;

	launch(q, &e);
	for (int i = 0; i < 5; i++) {
		must(cl->clEnqueueWaitForEvents(q, 1, &e) == CL_SUCCESS, "clEnqueueWaitForEvents");
		must(cl->clEnqueueBarrier(q) == CL_SUCCESS, "clEnqueueBarrier");
	}
	printf("refused: %d %d\n", (int)cl->clEnqueueBarrier(NULL),
	       (int)cl->clEnqueueWaitForEvents(q, 0, NULL));
	cl->clFinish(q);
	cl->clReleaseEvent(e);
	cl->clReleaseCommandQueue(q);
	printf("events left: %d\n", events_left(0));
}

static void of_vendor(cl_uint vendor)
{
	fake.vendor = vendor;
	show("launch", new_queue(0));
}

static void amd(void)
{
	of_vendor(FAKE_AMD);
}

static void nvidia(void)
{
	of_vendor(FAKE_NVIDIA);
}

static void intel(void)
{
	of_vendor(FAKE_INTEL);
}

static void nobody(void)
{
	of_vendor(0);
}

/* More commands than are kept, none of which ends; then all do. */
static void hold(void)
{
	cl_command_queue q = new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);

	fake.hold = true;
	for (int i = 0; i < 1100000; i++)
		launch(q, NULL);
	printf("kept: %d\n", fake.live_events);
	fake.hold = false;
	cl->clFinish(q);
	printf("left: %d\n", events_left(0));
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ten million launches: the first million and the last take as long, memory stays as it is. */
static void millions(void)
{
	cl_command_queue q = new_queue(0);
	double first = 0, last = 0;
	struct rusage before, after;

	for (int m = 0; m < 10; m++) {
		double start = seconds();

		for (int i = 0; i < 1000000; i++) {
			launch(q, NULL);
			if (i % 64 == 0)
				cl->clFinish(q);
		}
		cl->clFinish(q);
		last = seconds() - start;
		if (m == 0) {
			first = last;
			getrusage(RUSAGE_SELF, &before);
		}
	}
	getrusage(RUSAGE_SELF, &after);
	cl->clReleaseCommandQueue(q);
	printf("{\"first_s\":%.3f,\"last_s\":%.3f,\"grown_kb\":%ld,\"left\":%d}\n", first, last,
	       after.ru_maxrss - before.ru_maxrss, events_left(1023));
}

/* A million launches, each of another size, on queues that come and go. */
static void shapes(void)
{
	cl_kernel kernel = cl->clCreateKernel(NULL, "fake", NULL);

	for (size_t i = 1; i <= 1000000; i += 1000) {
		cl_command_queue q = new_queue(0);

		for (size_t n = i; n < i + 1000; n++)
			must(cl->clEnqueueNDRangeKernel(q, kernel, 1, NULL, &n, NULL, 0, NULL,
							NULL) == CL_SUCCESS,
			     "launch");
		cl->clFinish(q);
		cl->clReleaseCommandQueue(q);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "change", change },  { "refuse", refuse },     { "extended", extended },
	{ "odd", odd_events }, { "timer", timer },       { "no-timer", no_timer },
	{ "hold", hold },      { "millions", millions }, { "barriers", barriers },
	{ "idle", idle },      { "part", part },         { "waited", waited },
	{ "crowd", crowd },    { "space", space },       { "amd", amd },
	{ "nvidia", nvidia },  { "intel", intel },       { "nobody", nobody },
	{ "shapes", shapes },
};

static void load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *p = lib ? dlsym(lib, "clInitLayer") : NULL;
	const cl_icd_dispatch *table = NULL;
	static cl_icd_dispatch whole;
	pfn_clInitLayer init;
	cl_uint n = 0;

	must(p != NULL, "the layer cannot be loaded");
	memcpy(&init, &p, sizeof(init));
	must(init(sizeof(fake_target) / sizeof(void *), &fake_target, &n, &table) == CL_SUCCESS &&
		     table,
	     "the layer does not start");
	/* As loaders do: what is empty falls through. */
	memcpy(&whole, &fake_target, sizeof(whole));
	for (size_t i = 0; i < n; i++) {
		memcpy(&p, (const char *)table + i * sizeof(p), sizeof(p));
		if (p)
			memcpy((char *)&whole + i * sizeof(p), &p, sizeof(p));
	}
	cl = &whole;
}

int main(int argc, char **argv)
{
	must(argc == 3, "usage: cl-fake LAYER CASE");
	load(argv[1]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (!strcmp(cases[i].name, argv[2])) {
			cases[i].run();
			return 0;
		}
	}
	must(false, "no such case");
}
