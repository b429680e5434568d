/*
 * cl_rate.c - `cl-rate HOW LAUNCHES [PER_FINISH]`: launches an empty kernel and prints, as a line
 * of JSON, what a launch costs: CPU time of this thread, of the whole process, and wall time. HOW
 * is "async" (clFinish after every PER_FINISH launches), "sync" (after each), "event" (waits for an
 * event of its own each time) or "profiled" (as async, but the program itself profiles: it takes an
 * event for each launch and asks it for its four times after the clFinish).
 */
#include "cl_world.h"

#include "../bench_core.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PROFILED_MAX 10000

static const char source[] = "__kernel void nothing(void) { }\n";

static void wait_own(cl_command_queue q, cl_kernel k)
{
	cl_event event;

	cl_launch(q, k, 2, 1, &event);
	cl_must(clWaitForEvents(1, &event), "clWaitForEvents");
	cl_must(clReleaseEvent(event), "clReleaseEvent");
}

/* What a program would have to do that wants the times itself. */
static void launch_profiled(cl_command_queue q, cl_kernel k, uint64_t n)
{
	static cl_event events[PROFILED_MAX];
	cl_ulong ns = 0;

	for (uint64_t i = 0; i < n; i++)
		cl_launch(q, k, 2, 1, &events[i]);
	cl_must(clFinish(q), "clFinish");
	for (uint64_t i = 0; i < n; i++) {
		for (cl_profiling_info t = CL_PROFILING_COMMAND_QUEUED;
		     t <= CL_PROFILING_COMMAND_END; t++)
			cl_must(clGetEventProfilingInfo(events[i], t, sizeof(ns), &ns, NULL),
				"clGetEventProfilingInfo");
		cl_must(clReleaseEvent(events[i]), "clReleaseEvent");
	}
}

static void launch_all(cl_command_queue q, cl_kernel k, const char *how, uint64_t n, uint64_t per)
{
	for (uint64_t i = 0; !strcmp(how, "profiled") && i < n; i += per)
		launch_profiled(q, k, per);
	for (uint64_t i = 0; strcmp(how, "profiled") && i < n; i++) {
		if (!strcmp(how, "event")) {
			wait_own(q, k);
			continue;
		}
		cl_launch(q, k, 2, 1, NULL);
		if ((i + 1) % per == 0)
			cl_must(clFinish(q), "clFinish");
	}
	cl_must(clFinish(q), "clFinish");
}

int main(int argc, char **argv)
{
	struct cl_world w;
	const char *how = argc > 1 ? argv[1] : "async";
	uint64_t n = argc > 2 ? cl_number(argv[2]) : 10000;
	uint64_t per = argc > 3 ? cl_number(argv[3]) : 1000;
	uint64_t thread, process, wall;

	if (!per || per > PROFILED_MAX)
		per = PROFILED_MAX;
	cl_world_init(&w, source);
	cl_command_queue q =
		cl_world_queue(&w, strcmp(how, "profiled") ? 0 : CL_QUEUE_PROFILING_ENABLE);
	cl_kernel k = cl_world_kernel(&w, "nothing");
	launch_all(q, k, how, 100, 100);
	bench_core();

	wall = cl_now_ns(CLOCK_MONOTONIC);
	process = cl_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	thread = cl_now_ns(CLOCK_THREAD_CPUTIME_ID);
	launch_all(q, k, how, n, strcmp(how, "sync") ? per : 1);
	thread = cl_now_ns(CLOCK_THREAD_CPUTIME_ID) - thread;
	process = cl_now_ns(CLOCK_PROCESS_CPUTIME_ID) - process;
	wall = cl_now_ns(CLOCK_MONOTONIC) - wall;
	printf("{\"launches\":%llu,\"thread_ns\":%.1f,\"process_ns\":%.1f,\"wall_ns\":%.1f}\n",
	       (unsigned long long)n + 100, (double)thread / (double)n, (double)process / (double)n,
	       (double)wall / (double)n);
	clReleaseKernel(k);
	clReleaseCommandQueue(q);
	cl_world_release(&w);
	return 0;
}
