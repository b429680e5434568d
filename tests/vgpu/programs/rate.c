/*
 * rate.c - what a launch costs: the same kernel many times, in rounds of 1,000 with a wait after each.
 * Prints one JSON line with nanoseconds per launch: CPU of the launching thread, CPU of all threads, and
 * wall-clock time, without the waits.
 *
 * usage: rate [LAUNCHES]
 */
#define _GNU_SOURCE /* the core of a thread */
#include <time.h>

#include "hip.h"

#include "../../tools/bench_core.h"

enum { ROUND = 1000, WARM = 3000 };

static double ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	unsigned n = number(argc, argv, 1, 100000), done = 0;
	double thread = 0, wall = 0, process;
	hipFunction_t scale;
	hipModule_t module;
	hipStream_t stream;
	void *p;

	MUST(hipInit(0));
	module = load_module();
	scale = function(module, "scale");
	MUST(hipMalloc(&p, 1 << 20));
	MUST(hipStreamCreate(&stream));
	for (unsigned i = 0; i < WARM; i++)
		launch(scale, (struct who){ 0, i, 0, 6 }, p, 1, stream);
	MUST(hipStreamSynchronize(stream));
	bench_core();
	process = ns_of(CLOCK_PROCESS_CPUTIME_ID);
	while (done < n) {
		double t = ns_of(CLOCK_THREAD_CPUTIME_ID), w = ns_of(CLOCK_MONOTONIC);

		for (unsigned i = 0; i < ROUND; i++, done++)
			launch(scale, (struct who){ 0, done, 0, 6 }, p, 1, stream);
		thread += ns_of(CLOCK_THREAD_CPUTIME_ID) - t;
		wall += ns_of(CLOCK_MONOTONIC) - w;
		MUST(hipStreamSynchronize(stream));
	}
	process = ns_of(CLOCK_PROCESS_CPUTIME_ID) - process;
	printf("{\"kernels\":%u,\"thread_ns\":%.1f,\"process_ns\":%.1f,\"wall_ns\":%.1f}\n",
	       launched, thread / done, process / done, wall / done);
	return 0;
}
