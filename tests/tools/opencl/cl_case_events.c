/* cl_case_events.c - cases of cl-cases: events, orders of execution, and what can be asked. */
#include "cl_cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define OUT_OF_ORDER CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE

static cl_event user_event(const struct cl_world *w)
{
	cl_int rc;
	cl_event e = clCreateUserEvent(w->context, &rc);

	cl_must(rc, "clCreateUserEvent");
	return e;
}

static void launch_after(cl_command_queue q, cl_kernel k, cl_uint n, const cl_event *wait,
			 cl_event *event)
{
	size_t global = 64, local = 16;

	cl_must(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, &local, n, wait, event),
		"launch after events");
}

static cl_int status_of(cl_event e)
{
	cl_int status = 99;

	cl_must(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
		"status");
	return status;
}

/* A diamond of kernels behind a user event, with markers and barriers. */
static void out_of_order(void)
{
	struct cl_world w;
	cl_event go, a, b, c, marker;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, OUT_OF_ORDER);
	cl_mem mem = cl_world_buffer(&w, 4096);
	cl_kernel one = case_kernel(&w, "one", mem), two = case_kernel(&w, "two", mem);
	go = user_event(&w);
	for (int i = 0; i < 20; i++) {
		launch_after(q, one, 1, &go, &a);
		launch_after(q, two, 1, &a, &b);
		launch_after(q, one, 1, &a, &c);
		cl_event both[2] = { b, c };
		launch_after(q, two, 2, both, NULL);
		clReleaseEvent(a);
		clReleaseEvent(b);
		clReleaseEvent(c);
	}
	truth_kernel("one", 40);
	truth_kernel("two", 40);
	cl_must(clEnqueueMarkerWithWaitList(q, 0, NULL, &marker), "marker");
	cl_must(clEnqueueBarrierWithWaitList(q, 0, NULL, NULL), "barrier");
	truth_sync(2);
	printf("before: %s\n", status_of(marker) == CL_COMPLETE ? "over" : "under way");
	cl_must(clSetUserEventStatus(go, CL_COMPLETE), "clSetUserEventStatus");
	cl_must(clFinish(q), "clFinish");
	printf("after: %d\n", (int)status_of(marker));
	clReleaseEvent(marker);
	clReleaseEvent(go);
	clReleaseKernel(one);
	clReleaseKernel(two);
	clReleaseMemObject(mem);
	clReleaseCommandQueue(q);
	cl_world_release(&w);
}

/* OpenCL 1.0's barrier, which has no event. (PoCL dies of its clEnqueueWaitForEvents: cl-fake.) */
static void old_barrier(void)
{
	struct cl_world w;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, OUT_OF_ORDER);
	cl_mem mem = cl_world_buffer(&w, 4096);
	cl_kernel one = case_kernel(&w, "one", mem);
	for (int i = 0; i < 5; i++) {
		case_launch(q, one, "one", NULL);
		cl_must(clEnqueueBarrier(q), "clEnqueueBarrier");
	}
	truth_sync(5);
	printf("barrier of no queue: %d\n", (int)clEnqueueBarrier(NULL));
	cl_must(clFinish(q), "clFinish");
	clReleaseKernel(one);
	clReleaseMemObject(mem);
	clReleaseCommandQueue(q);
	cl_world_release(&w);
}

/* A user event that fails takes the commands behind it along: they never ran. */
static void failed_event(void)
{
	struct cl_world w;
	cl_event go, after;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, 0), other = cl_world_queue(&w, 0);
	cl_mem mem = cl_world_buffer(&w, 4096);
	cl_kernel one = case_kernel(&w, "one", mem);
	go = user_event(&w);
	launch_after(q, one, 1, &go, &after);
	cl_must(clSetUserEventStatus(go, -42), "clSetUserEventStatus");
	for (int i = 0; i < 2000 && status_of(after) > CL_COMPLETE; i++)
		usleep(1000);
	printf("status is %s\n", status_of(after) < 0 ? "negative" : "not negative");
	case_launch(other, one, "one", NULL);
	cl_must(clFinish(other), "clFinish");
	clReleaseEvent(after);
	clReleaseEvent(go);
	clReleaseKernel(one);
	clReleaseMemObject(mem);
	clReleaseCommandQueue(other);
}

/* The program ends while a command waits for an event that never comes. */
static void never_complete(void)
{
	struct cl_world w;
	cl_event never;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, OUT_OF_ORDER), other = cl_world_queue(&w, 0);
	cl_mem mem = cl_world_buffer(&w, 4096);
	cl_kernel one = case_kernel(&w, "one", mem);
	never = user_event(&w);
	for (int i = 0; i < 10; i++)
		launch_after(q, one, 1, &never, NULL);
	for (int i = 0; i < 10; i++)
		case_launch(other, one, "one", NULL);
	cl_must(clFinish(other), "clFinish");
	puts("ends with commands that never ran");
}

/* ---- callbacks that use OpenCL themselves ---- */

static struct {
	cl_command_queue q;
	cl_kernel k;
	atomic_int calls, launched;
} shared;

static void CL_CALLBACK on_complete(cl_event event, cl_int status, void *user)
{
	(void)event;
	(void)user;
	if (status != CL_COMPLETE)
		return;
	if (atomic_fetch_add(&shared.calls, 1) % 2 == 0) {
		size_t global = 64;
		cl_event mine = NULL;

		if (clEnqueueNDRangeKernel(shared.q, shared.k, 1, NULL, &global, NULL, 0, NULL,
					   &mine) == CL_SUCCESS) {
			clReleaseEvent(mine);
			clFlush(shared.q);
			atomic_fetch_add(&shared.launched, 1);
		}
	}
}

static void callbacks(void)
{
	struct cl_world w;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_mem mem = cl_world_buffer(&w, 4096);
	cl_kernel one = case_kernel(&w, "one", mem);
	shared.q = cl_world_queue(&w, 0);
	shared.k = case_kernel(&w, "empty", NULL);
	for (int i = 0; i < 200; i++) {
		cl_event e;

		case_launch(q, one, "one", &e);
		cl_must(clSetEventCallback(e, CL_COMPLETE, on_complete, NULL), "callback");
		clReleaseEvent(e);
	}
	cl_must(clFinish(q), "clFinish");
	for (int i = 0;
	     i < 5000 && (atomic_load(&shared.calls) < 200 || atomic_load(&shared.launched) < 100);
	     i++)
		usleep(1000);
	cl_must(clFinish(shared.q), "clFinish");
	printf("callbacks: %d\n", atomic_load(&shared.calls));
	truth_kernel("empty", (uint64_t)atomic_load(&shared.launched));
	clReleaseKernel(one);
	clReleaseKernel(shared.k);
	clReleaseMemObject(mem);
	clReleaseCommandQueue(q);
	clReleaseCommandQueue(shared.q);
	cl_world_release(&w);
}

/* ---- what can be asked ---- */

/* Of the event, or else of the queue: the runtime lets go of its own a little after the end. */
static cl_uint references(cl_command_queue q, cl_event e)
{
	cl_uint refs = 0;

	for (int i = 0; i < 1000 && refs != 1; i++) {
		if (i)
			usleep(1000);
		if (e)
			clGetEventInfo(e, CL_EVENT_REFERENCE_COUNT, sizeof(refs), &refs, NULL);
		else
			clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof(refs), &refs,
					      NULL);
	}
	return refs;
}

static void print_queue(cl_command_queue q)
{
	cl_command_queue_properties p = 99;
	cl_queue_properties list[8] = { 0 };
	size_t bytes = 99;
	cl_int rc = clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof(p), &p, &bytes);

	printf("properties: %d %llx %zu\n", (int)rc, (unsigned long long)p, bytes);
	bytes = 99;
	rc = clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof(list), list, &bytes);
	printf("list: %d %zu bytes:", (int)rc, bytes);
	for (size_t i = 0; rc == CL_SUCCESS && i < bytes / sizeof(*list); i++)
		printf(" %llx", (unsigned long long)list[i]);
	rc = clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, 1, &p, NULL);
	printf("\ntoo short: %d\n", (int)rc);
	rc = clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &bytes);
	printf("size alone: %d %zu\n", (int)rc, bytes);
	printf("references: %u\n", references(q, NULL));
}

/* Launches on it and asks for the times and the references of the event. */
static void try_queue(const struct cl_world *w, cl_command_queue q)
{
	cl_kernel k = case_kernel(w, "empty", NULL);
	cl_ulong ns = 0;
	cl_event e;

	print_queue(q);
	case_launch(q, k, "empty", &e);
	cl_must(clWaitForEvents(1, &e), "clWaitForEvents");
	for (cl_profiling_info i = CL_PROFILING_COMMAND_QUEUED; i <= CL_PROFILING_COMMAND_END;
	     i++) {
		cl_int rc = clGetEventProfilingInfo(e, i, sizeof(ns), &ns, NULL);

		printf("time %x: %d\n", i, (int)rc);
	}
	printf("nonsense: %d\n", (int)clGetEventProfilingInfo(e, 0x9999, sizeof(ns), &ns, NULL));
	printf("too short: %d\n",
	       (int)clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, 1, &ns, NULL));
	cl_must(clFinish(q), "clFinish");
	printf("references of the event: %u\n", references(q, e));
	clReleaseEvent(e);
	print_queue(q);
	clReleaseKernel(k);
	clReleaseCommandQueue(q);
}

static void try_list(const struct cl_world *w, const cl_queue_properties *list)
{
	cl_int rc;
	cl_command_queue q = clCreateCommandQueueWithProperties(w->context, w->device, list, &rc);

	printf("made: %d\n", (int)rc);
	if (q)
		try_queue(w, q);
}

static void queries(void)
{
	static const cl_queue_properties lists[][6] = {
		{ 0 },
		{ CL_QUEUE_PROPERTIES, 0, 0 },
		{ CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0 },
		{ CL_QUEUE_PROPERTIES, OUT_OF_ORDER, 0 },
		{ CL_QUEUE_PROPERTIES, OUT_OF_ORDER | CL_QUEUE_PROFILING_ENABLE, 0 },
		{ 0x1234, 5, 0 },
		{ CL_QUEUE_PROPERTIES, 0x8000, 0 },
	};
	struct cl_world w;
	cl_uint refs = 0;

	case_world(&w);
	try_list(&w, NULL);
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		try_list(&w, lists[i]);
	for (cl_command_queue_properties p = 0; p < 4; p++)
		try_queue(&w, cl_world_queue(&w, p));
	clGetContextInfo(w.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(refs), &refs, NULL);
	printf("references of the context: %u\n", refs);
	cl_world_release(&w);
}

/* An event that is kept long after its queue and its context were let go. */
static void kept_event(void)
{
	struct cl_world w;
	cl_ulong ns = 0;
	cl_event e;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_kernel k = case_kernel(&w, "empty", NULL);
	case_launch(q, k, "empty", &e);
	clFlush(q);
	clReleaseCommandQueue(q);
	clReleaseKernel(k);
	cl_world_release(&w);
	cl_must(clWaitForEvents(1, &e), "clWaitForEvents");
	printf("times: %d\n",
	       (int)clGetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof(ns), &ns, NULL));
	clReleaseEvent(e);
}

const struct cl_case cl_cases_events[] = {
	{ "out-of-order", out_of_order }, { "old-barrier", old_barrier },
	{ "failed-event", failed_event }, { "never-complete", never_complete },
	{ "callbacks", callbacks },       { "queries", queries },
	{ "kept-event", kept_event },     { 0 },
};
