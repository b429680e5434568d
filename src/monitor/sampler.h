/* sampler.h - how GPUs are sampled: one const table per kind of driver. */
#ifndef RK_SAMPLER_H
#define RK_SAMPLER_H

#include <stdbool.h>

#include "base/error.h"
#include "rockit/gpus.h"

enum { RK_MONITOR_FILES = 3, RK_MONITOR_INTERVAL_MS = 100 /* by default */ };

/* The names of the sampler's files within its directory. */
extern const char *const rk_monitor_file_names[RK_MONITOR_FILES];

enum rk_reading {
	/* W; the mean since the last reading if the driver's energy counter is fine enough */
	RK_READ_POWER,
	RK_READ_VRAM_USED,  /* bytes */
	RK_READ_VRAM_TOTAL, /* bytes */
	RK_READ_BUSY,       /* percent */
	RK_READ_SCLK,       /* MHz */
	RK_READ_MCLK,       /* MHz */
	RK_READ_TEMP,       /* degrees Celsius at the edge of the die, or its hottest point */
	RK_READ_ENERGY,     /* J since some moment in the past */
	RK_NREADINGS
};

/* NAN: unknown. */
struct rk_readings {
	double v[RK_NREADINGS];
};

/* The first member of every source. */
struct rk_monitor_source {
	const struct rk_monitor_ops *ops;
};

struct rk_monitor_ops {
	const char *name;
	/* Whether this kind can sample the GPU; the first kind that can is used. */
	bool (*takes)(const struct rk_gpu *gpu);
	/*
	 * Opens the files of one GPU for the readings in `want`, a bit each. A GPU that reports
	 * nothing is not an error: its readings are NAN. `root` is put before /sys and /usr/lib.
	 */
	int (*open)(const char *root, const struct rk_gpu *gpu, unsigned want,
		    struct rk_monitor_source **ret, struct rk_error *err);
	/* Reads all values; those not wanted are NAN. Called from one thread; allocates nothing. */
	void (*read)(struct rk_monitor_source *s, struct rk_readings *ret);
	/* May be NULL. True once the GPU is lost: there will be no more readings. */
	bool (*lost)(const struct rk_monitor_source *s);
	void (*close)(struct rk_monitor_source *s);
};

/* Each kind, listed in sampler.c. */
extern const struct rk_monitor_ops rk_monitor_amdgpu, rk_monitor_nvml;

#endif
