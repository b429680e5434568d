/* monitor.h - power, memory, clocks and load of the GPUs, sampled beside a program. */
#ifndef ROCKIT_MONITOR_H
#define ROCKIT_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/error.h"

enum rk_monitor_metric {
	RK_MONITOR_POWER = 1u << 0,
	RK_MONITOR_VRAM = 1u << 1,
	RK_MONITOR_BUSY = 1u << 2,
	RK_MONITOR_CLOCK = 1u << 3,
	RK_MONITOR_TEMP = 1u << 4,
	RK_MONITOR_ENERGY = 1u << 5,
	RK_MONITOR_ALL = (1u << 6) - 1,
};

struct rk_monitor_options {
	const char *dir;      /* where the files go; it exists */
	unsigned metrics;     /* RK_MONITOR_ bits */
	unsigned interval_ms; /* 0: 100 */
	const char *root;     /* put before /sys, for tests; NULL or "" */
};

struct rk_monitor_result {
	uint64_t samples; /* moments sampled */
	uint64_t missed;  /* deadlines that had passed when their turn came */
	unsigned gpus;
	unsigned metrics;       /* those that at least one GPU gave */
	double cpu_percent;     /* of one core, over the whole time */
	int64_t clock_error_ns; /* how far the two clocks of a sample may be apart */
	char note[256];         /* what was asked and no GPU gives; "" */
};

struct rk_monitor;

/* "power,vram" to bits; RK_E_USAGE names the nearest right word. "all" is all. */
int rk_monitor_parse(const char *words, unsigned *ret, struct rk_error *err);

/*
 * Samples from a thread of its own until stop. Files are appended to as it goes: what was sampled
 * is on disk whatever happens to the process. RK_E_UNSUPPORTED when no GPU gives any of it.
 */
int rk_monitor_start(const struct rk_monitor_options *opt, struct rk_monitor **ret,
		     struct rk_error *err);
/* Ends the thread and frees the monitor. ret may be NULL. */
int rk_monitor_stop(struct rk_monitor *m, struct rk_monitor_result *ret, struct rk_error *err);

#endif
