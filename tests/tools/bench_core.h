/*
 * bench_core.h - `make bench` measures with the program on one core and everything else (the runtime's
 * threads, the device, the collector's threads) on another: they are started there, and the measured
 * thread leaves before its loop.
 */
#ifndef BENCH_CORE_H
#define BENCH_CORE_H

#include <sched.h>
#include <stdlib.h>

/* Moves this thread to the core in BENCH_CORE; does nothing without it. */
static inline void bench_core(void)
{
	const char *text = getenv("BENCH_CORE");
	unsigned core = 0;
	cpu_set_t set;

	if (!text)
		return;
	for (; *text >= '0' && *text <= '9'; text++)
		core = core * 10 + (unsigned)(*text - '0');
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

#endif
