/*
 * energy_curve.h - the energy of a device, interval by interval, and the kernels that ran in them.
 *
 * Energy is counted in units of 2^-32 J (0.23 nJ), so that parts add up exactly.
 */
#ifndef RK_ENERGY_CURVE_H
#define RK_ENERGY_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/source.h"

#define RK_ENERGY_UNITS 4294967296.0 /* units per joule */

/* A counter measures energy since some start; power is the current rate. */
enum rk_meter { RK_METER_COUNTER, RK_METER_POWER, RK_NMETERS };

struct rk_meter_sample {
	int64_t t;
	double v;
};

struct rk_meter_samples {
	struct rk_meter_sample *v;
	size_t n, cap;
	uint64_t seen, stride; /* every stride-th sample is kept (0: all), plus the last */
	struct rk_meter_sample last;
	bool left_out; /* the last sample was not kept */
};

/*
 * Kernel time within an interval: partial cover in ns, and how often all of it is covered (stored
 * as differences).
 */
struct rk_cover {
	int64_t part, full;
};

struct rk_energy_interval {
	int64_t t;              /* start; it ends where the next interval starts */
	int64_t e;              /* units; -1: unknown */
	struct rk_cover over;   /* all kernels */
	struct rk_cover busy;   /* union of all kernels */
	int64_t count, sum, sq; /* kernels that touch it; sums over their groups (differences) */
};

/* An interval after all kernels were added. `before` fields are sums over all earlier intervals. */
struct rk_energy_step {
	int64_t t;
	int64_t share; /* units for kernels; -1: unknown */
	int64_t over;  /* ns of all kernels */
	int64_t whole_before, error_before, void_before;
};

struct rk_energy_curve {
	uint32_t node; /* id in ctx->names, 0: unknown */
	int64_t device;
	struct rk_meter_samples samples[RK_NMETERS];
	enum rk_meter meter;
	struct rk_energy_interval *intervals; /* n, plus one that marks the end of the last */
	struct rk_energy_step *steps;         /* as many */
	size_t n, hint;
	int64_t until; /* end of the union of all kernels so far */
	uint64_t nsamples;
	/* the result, in units */
	bool used; /* a kernel ran within the samples */
	int64_t total, kernels, error, before, after;
	int64_t idle_units, idle_ns; /* sums over the intervals that define idle power */
	int64_t covered_ns, uncovered_ns;
};

/* Counted problems of the samples. */
struct rk_energy_oddities {
	uint64_t resets, wraps, gaps, wild;
};

int rk_curve_add(struct rk_energy_curve *c, enum rk_meter m, int64_t t, double v,
		 struct rk_error *err);
/*
 * Drops every second sample, now and in the future, to bound memory. The total of a counter from
 * the first to the last sample does not change.
 */
void rk_curve_thin(struct rk_energy_curve *c);
/* Turns samples into intervals. None (c->n == 0) if there are fewer than two different samples. */
int rk_curve_settle(struct rk_energy_curve *c, struct rk_energy_oddities *odd,
		    struct rk_error *err);
/*
 * Adds a kernel; starts must not decrease. Clips it to the samples; false: it is outside of them.
 */
bool rk_curve_cover(struct rk_energy_curve *c, int64_t *start, int64_t *end, uint32_t group);
/* Call after the last kernel: computes the steps and the idle energy. */
int rk_curve_split(struct rk_energy_curve *c, struct rk_error *err);

struct rk_energy_part {
	size_t first, last; /* intervals */
	int64_t units, covered_ns;
};

/* The energy of a kernel; call in any order. False: it is outside of the samples. */
bool rk_curve_part(const struct rk_energy_curve *c, int64_t start, int64_t end, size_t hint,
		   struct rk_energy_part *ret);
void rk_curve_release(struct rk_energy_curve *c);

#endif
