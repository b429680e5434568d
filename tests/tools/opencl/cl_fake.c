/*
 * cl_fake.c - `cl-fake LAYER CASE`: loads a layer over a runtime that is made up, for what no real
 * one here does: queues that change, creation that is refused, a timer, commands that never end,
 * millions of launches. Prints what the application would see.
 *
 * Time of the made-up device: CLOCK_BOOTTIME and an hour.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define HOUR_NS 3600000000000ll
#define AMD 0x1002
#define NVIDIA 0x10de
#define INTEL 0x8086
#define HANDLE(type, n) ((type)(uintptr_t)(n))

/* ---- the runtime ---- */

struct fake_queue {
	cl_command_queue_properties properties;
	atomic_int refs;
};

struct fake_event {
	struct fake_queue *queue;
	atomic_int refs;
	_Atomic cl_int status;
	cl_ulong at;
};

static struct {
	bool refuse_profiling;     /* when queues are made */
	atomic_bool hold;          /* commands do not end */
	atomic_bool without_times; /* commands that are over say "not available" */
	const char *version;
	cl_uint vendor; /* of PCI */
	atomic_int timer_calls, live_events, made_queues;
} fake = { .version = "OpenCL 1.2 fake" };

static cl_ulong device_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (cl_ulong)(t.tv_sec * 1000000000ll + t.tv_nsec + HOUR_NS);
}

static cl_int give(const void *value, size_t bytes, size_t cap, void *to, size_t *ret)
{
	if (to && cap < bytes)
		return CL_INVALID_VALUE;
	if (to)
		memcpy(to, value, bytes);
	if (ret)
		*ret = bytes;
	return CL_SUCCESS;
}

static cl_int misuse(void)
{
	fputs("cl-fake: a question of another vendor\n", stderr);
	exit(1);
}

static cl_int CL_API_CALL platform_ids(cl_uint cap, cl_platform_id *to, cl_uint *ret)
{
	if (to && cap)
		*to = HANDLE(cl_platform_id, 0x10);
	if (ret)
		*ret = 1;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id p, cl_platform_info what, size_t cap,
					void *to, size_t *ret)
{
	cl_ulong resolution = 1;

	(void)p;
	if (what == CL_PLATFORM_HOST_TIMER_RESOLUTION)
		return give(&resolution, sizeof(resolution), cap, to, ret);
	return give(fake.version, strlen(fake.version) + 1, cap, to, ret);
}

static cl_int CL_API_CALL device_info(cl_device_id d, cl_device_info what, size_t cap, void *to,
				      size_t *ret)
{
	cl_platform_id platform = HANDLE(cl_platform_id, 0x10);
	cl_ulong number = CL_DEVICE_TYPE_GPU;
	cl_uint small = 8;

	(void)d;
	if (what == CL_DEVICE_VENDOR_ID)
		return give(&fake.vendor, sizeof(fake.vendor), cap, to, ret);
	/* Each vendor's own question, to which all others must never have to answer. */
	if (what == 0x4043)
		return fake.vendor == AMD ? give(&(cl_uint){ 64 }, 4, cap, to, ret) : misuse();
	if (what == 0x4003)
		return fake.vendor == NVIDIA ? give(&(cl_uint){ 32 }, 4, cap, to, ret) : misuse();
	if (what == CL_DEVICE_PLATFORM)
		return give(&platform, sizeof(platform), cap, to, ret);
	if (what == CL_DEVICE_TYPE || what == CL_DEVICE_GLOBAL_MEM_SIZE)
		return give(&number, sizeof(number), cap, to, ret);
	if (what == CL_DEVICE_NAME || what == CL_DEVICE_VENDOR || what == CL_DRIVER_VERSION)
		return give("fake", 5, cap, to, ret);
	return give(&small, sizeof(small), cap, to, ret);
}

static cl_command_queue make_queue(cl_command_queue_properties properties, cl_int *ret)
{
	struct fake_queue *q = NULL;

	if (!fake.refuse_profiling || !(properties & CL_QUEUE_PROFILING_ENABLE))
		q = calloc(1, sizeof(*q));
	if (ret)
		*ret = q ? CL_SUCCESS : CL_INVALID_QUEUE_PROPERTIES;
	if (!q)
		return NULL;
	q->properties = properties;
	q->refs = 1;
	fake.made_queues++;
	return (cl_command_queue)q;
}

static cl_command_queue CL_API_CALL create(cl_context c, cl_device_id d,
					   cl_command_queue_properties properties, cl_int *ret)
{
	(void)c;
	(void)d;
	return make_queue(properties, ret);
}

static cl_command_queue CL_API_CALL create_listed(cl_context c, cl_device_id d,
						  const cl_queue_properties *list, cl_int *ret)
{
	cl_command_queue_properties properties = 0;

	for (; list && list[0]; list += 2) {
		if (list[0] == CL_QUEUE_PROPERTIES)
			properties = list[1];
	}
	return create(c, d, properties, ret);
}

static cl_int CL_API_CALL queue_info(cl_command_queue handle, cl_command_queue_info what,
				     size_t cap, void *to, size_t *ret)
{
	struct fake_queue *q = (struct fake_queue *)handle;

	if (what != CL_QUEUE_PROPERTIES)
		return CL_INVALID_VALUE;
	return give(&q->properties, sizeof(q->properties), cap, to, ret);
}

static cl_int CL_API_CALL set_property(cl_command_queue handle,
				       cl_command_queue_properties properties, cl_bool on,
				       cl_command_queue_properties *old)
{
	struct fake_queue *q = (struct fake_queue *)handle;

	if (old)
		*old = q->properties;
	q->properties = on ? q->properties | properties : q->properties & ~properties;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_queue(cl_command_queue handle)
{
	struct fake_queue *q = (struct fake_queue *)handle;

	if (--q->refs == 0)
		free(q);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event handle)
{
	struct fake_event *e = (struct fake_event *)handle;

	if (--e->refs)
		return CL_SUCCESS;
	release_queue((cl_command_queue)e->queue);
	free(e);
	fake.live_events--;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL retain_event(cl_event handle)
{
	((struct fake_event *)handle)->refs++;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL event_info(cl_event handle, cl_event_info what, size_t cap, void *to,
				     size_t *ret)
{
	struct fake_event *e = (struct fake_event *)handle;
	cl_int status = fake.hold ? CL_RUNNING : e->status;
	cl_uint refs = (cl_uint)e->refs;

	if (what == CL_EVENT_COMMAND_EXECUTION_STATUS)
		return give(&status, sizeof(status), cap, to, ret);
	if (what == CL_EVENT_REFERENCE_COUNT)
		return give(&refs, sizeof(refs), cap, to, ret);
	return give(&e->queue, sizeof(e->queue), cap, to, ret);
}

static cl_int CL_API_CALL event_times(cl_event handle, cl_profiling_info what, size_t cap, void *to,
				      size_t *ret)
{
	struct fake_event *e = (struct fake_event *)handle;
	cl_ulong at = e->at + 100 * (what - CL_PROFILING_COMMAND_QUEUED);

	if (!(e->queue->properties & CL_QUEUE_PROFILING_ENABLE) || fake.without_times ||
	    fake.hold || e->status < 0)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return give(&at, sizeof(at), cap, to, ret);
}

static cl_int CL_API_CALL ndrange(cl_command_queue handle, cl_kernel k, cl_uint dims,
				  const size_t *offset, const size_t *global, const size_t *local,
				  cl_uint nwait, const cl_event *wait, cl_event *event)
{
	struct fake_queue *q = (struct fake_queue *)handle;
	struct fake_event *e;

	(void)k, (void)dims, (void)offset, (void)global, (void)local, (void)nwait, (void)wait;
	if (!event)
		return CL_SUCCESS;
	e = calloc(1, sizeof(*e));
	if (!e)
		return CL_OUT_OF_HOST_MEMORY;
	e->queue = q;
	e->refs = 1;
	e->status = CL_COMPLETE;
	e->at = device_now();
	q->refs++;
	fake.live_events++;
	*event = (cl_event)e;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL finish(cl_command_queue q)
{
	(void)q;
	return CL_SUCCESS;
}

static cl_kernel CL_API_CALL create_kernel(cl_program p, const char *name, cl_int *ret)
{
	(void)p;
	(void)name;
	if (ret)
		*ret = CL_SUCCESS;
	return HANDLE(cl_kernel, 0x7000);
}

static cl_int CL_API_CALL work_group_info(cl_kernel k, cl_device_id d,
					  cl_kernel_work_group_info what, size_t cap, void *to,
					  size_t *ret)
{
	(void)k, (void)d;
	if (what == 0x425b)
		return fake.vendor == INTEL ? give(&(cl_uint){ 128 }, 4, cap, to, ret) : misuse();
	return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL barrier(cl_command_queue q)
{
	return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static cl_int CL_API_CALL wait_enqueued(cl_command_queue q, cl_uint n, const cl_event *events)
{
	(void)q;
	return n && events ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL kernel_info_amd(cl_kernel k, cl_device_id d, cl_uint what, size_t cap,
					  void *to, size_t *ret)
{
	(void)k, (void)d;
	return what == 13 ? give(&(size_t){ 84 }, sizeof(size_t), cap, to, ret) : misuse();
}

static cl_int CL_API_CALL timers(cl_device_id d, cl_ulong *device, cl_ulong *host)
{
	(void)d;
	fake.timer_calls++;
	*device = device_now();
	*host = *device - (cl_ulong)HOUR_NS;
	return CL_SUCCESS;
}

static void *CL_API_CALL extension(cl_platform_id p, const char *name)
{
	cl_command_queue(CL_API_CALL * f)(cl_context, cl_device_id, const cl_queue_properties *,
					  cl_int *) = create_listed;
	cl_int(CL_API_CALL * info)(cl_kernel, cl_device_id, cl_uint, size_t, void *, size_t *) =
		kernel_info_amd;
	void *address = NULL;

	(void)p;
	if (!strcmp(name, "clCreateCommandQueueWithPropertiesKHR"))
		memcpy(&address, &f, sizeof(address));
	if (!strcmp(name, "clGetKernelInfoAMD") && fake.vendor == AMD)
		memcpy(&address, &info, sizeof(address));
	return address;
}

static const cl_icd_dispatch target = {
	.clGetPlatformIDs = platform_ids,
	.clGetPlatformInfo = platform_info,
	.clGetDeviceInfo = device_info,
	.clCreateCommandQueue = create,
	.clCreateCommandQueueWithProperties = create_listed,
	.clGetCommandQueueInfo = queue_info,
	.clSetCommandQueueProperty = set_property,
	.clReleaseCommandQueue = release_queue,
	.clReleaseEvent = release_event,
	.clRetainEvent = retain_event,
	.clGetEventInfo = event_info,
	.clGetEventProfilingInfo = event_times,
	.clEnqueueNDRangeKernel = ndrange,
	.clEnqueueBarrier = barrier,
	.clEnqueueWaitForEvents = wait_enqueued,
	.clFinish = finish,
	.clCreateKernel = create_kernel,
	.clGetKernelWorkGroupInfo = work_group_info,
	.clGetDeviceAndHostTimer = timers,
	.clGetExtensionFunctionAddressForPlatform = extension,
};

/* ---- the application ---- */

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
	return cl->clCreateCommandQueue(NULL, HANDLE(cl_device_id, 0x20), properties, NULL);
}

static unsigned asked(cl_command_queue q)
{
	cl_command_queue_properties p = 0;

	cl->clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof(p), &p, NULL);
	return (unsigned)p;
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
	cl_command_queue q = cl->clCreateCommandQueueWithProperties(
		NULL, HANDLE(cl_device_id, 0x20), on_device, NULL);

	printf("on the device: %u\n", (unsigned)((struct fake_queue *)q)->properties);
	cl->clReleaseCommandQueue(q);
	fake.refuse_profiling = true;
	q = new_queue(0);
	show("refused", q);
	cl->clReleaseCommandQueue(q);
	printf("asked for: %s\n", new_queue(CL_QUEUE_PROFILING_ENABLE) ? "made" : "none");
	printf("queues made: %d\n", fake.made_queues);
}

/* The function of the extension for runtimes before 2.0. */
static void extended(void)
{
	cl_command_queue(CL_API_CALL * f)(cl_context, cl_device_id, const cl_queue_properties *,
					  cl_int *);
	void *p = cl->clGetExtensionFunctionAddressForPlatform(
		HANDLE(cl_platform_id, 0x10), "clCreateCommandQueueWithPropertiesKHR");
	cl_int rc = 99;

	must(p != NULL, "no function");
	memcpy(&f, &p, sizeof(f));
	show("extension", f(NULL, HANDLE(cl_device_id, 0x20), NULL, &rc));
	printf("status %d, others: %s\n", (int)rc,
	       cl->clGetExtensionFunctionAddressForPlatform(HANDLE(cl_platform_id, 0x10), "x") ?
		       "some" :
		       "none");
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
	printf("events left: %d\n", fake.live_events);
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
	printf("events left: %d\n", fake.live_events);
}

static void of_vendor(cl_uint vendor)
{
	fake.vendor = vendor;
	show("launch", new_queue(0));
}

static void amd(void)
{
	of_vendor(AMD);
}

static void nvidia(void)
{
	of_vendor(NVIDIA);
}

static void intel(void)
{
	of_vendor(INTEL);
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
	printf("left: %d\n", fake.live_events);
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
	       after.ru_maxrss - before.ru_maxrss, fake.live_events);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "change", change },  { "refuse", refuse },     { "extended", extended },
	{ "odd", odd_events }, { "timer", timer },       { "no-timer", no_timer },
	{ "hold", hold },      { "millions", millions }, { "barriers", barriers },
	{ "amd", amd },        { "nvidia", nvidia },     { "intel", intel },
	{ "nobody", nobody },
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
	must(init(sizeof(target) / sizeof(void *), &target, &n, &table) == CL_SUCCESS && table,
	     "the layer does not start");
	/* As loaders do: what is empty falls through. */
	memcpy(&whole, &target, sizeof(whole));
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
