/*
 * cl_rate.c - `cl-rate HOW LAUNCHES [PER_FINISH]`: launches an empty kernel and prints, as a line
 * of JSON, what a launch costs: CPU time of this thread, of the whole process, and wall time. HOW
 * is "async" (clFinish after every PER_FINISH launches), "sync" (after each) or "event" (waits for
 * an event of its own each time).
 */
#include "cl_world.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char source[] = "__kernel void nothing(void) { }\n";

static void wait_own(cl_command_queue q, cl_kernel k)
{
	cl_event event;

	cl_launch(q, k, 2, 1, &event);
	cl_must(clWaitForEvents(1, &event), "clWaitForEvents");
	cl_must(clReleaseEvent(event), "clReleaseEvent");
}

static void launch_all(cl_command_queue q, cl_kernel k, const char *how, uint64_t n, uint64_t per)
{
	for (uint64_t i = 0; i < n; i++) {
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

	cl_world_init(&w, source);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_kernel k = cl_world_kernel(&w, "nothing");
	launch_all(q, k, how, 100, 100);

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
