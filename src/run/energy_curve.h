/*
 * energy_curve.h - what a device drew, interval by interval, and which kernels ran meanwhile.
 *
 * Energy is counted in units of 2^-32 J (0.23 nJ), so that parts add up to the last bit.
 */
#ifndef RK_ENERGY_CURVE_H
#define RK_ENERGY_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/source.h"

#define RK_ENERGY_UNITS 4294967296.0 /* of one joule */

/* A counter says how much since some beginning, power how fast at that moment. */
enum rk_meter { RK_METER_COUNTER, RK_METER_POWER, RK_NMETERS };

struct rk_meter_sample {
	int64_t t;
	double v;
};

struct rk_meter_samples {
	struct rk_meter_sample *v;
	size_t n, cap;
	uint64_t seen, stride; /* one in so many is kept (0: each), and the last */
	struct rk_meter_sample last;
	bool left_out; /* the last */
};

/* Time that kernels take of an interval: parts in ns, and how often all of it (as differences). */
struct rk_cover {
	int64_t part, full;
};

struct rk_energy_interval {
	int64_t t;              /* it begins; it ends where the next begins */
	int64_t e;              /* units; -1: not known */
	struct rk_cover over;   /* of all kernels */
	struct rk_cover busy;   /* of their union */
	int64_t count, sum, sq; /* kernels that touch it; sums over their groups (differences) */
};

/* The same when all kernels were seen. `before` fields are sums over all earlier intervals. */
struct rk_energy_step {
	int64_t t;
	int64_t share; /* units for kernels; -1: not known */
	int64_t over;  /* ns of all kernels */
	int64_t whole_before, error_before, void_before;
};

struct rk_energy_curve {
	uint32_t node; /* id in ctx->names, 0: not known */
	int64_t device;
	struct rk_meter_samples samples[RK_NMETERS];
	enum rk_meter meter;
	struct rk_energy_interval *intervals; /* n, and one more that only ends the last */
	struct rk_energy_step *steps;         /* as many */
	size_t n, hint;
	int64_t until; /* the union of kernels so far */
	uint64_t nsamples;
	/* the result; units */
	bool used; /* some kernel ran within */
	int64_t total, kernels, error, before, after;
	int64_t idle_units, idle_ns; /* of the intervals that idle power is the mean of */
	int64_t covered_ns, uncovered_ns;
};

/* What was odd about the samples, added up. */
struct rk_energy_oddities {
	uint64_t resets, wraps, gaps, wild;
};

int rk_curve_add(struct rk_energy_curve *c, enum rk_meter m, int64_t t, double v,
		 struct rk_error *err);
/*
 * Leaves out every second sample, those to come too, so that memory is bounded; what a counter
 * counted from the first to the last stays what it is.
 */
void rk_curve_thin(struct rk_energy_curve *c);
/* Samples become intervals. None (c->n == 0) where there are fewer than two that differ. */
int rk_curve_settle(struct rk_energy_curve *c, struct rk_energy_oddities *odd,
		    struct rk_error *err);
/* A kernel; starts must not go back. Gives the part that is within the samples, false: none is. */
bool rk_curve_cover(struct rk_energy_curve *c, int64_t *start, int64_t *end, uint32_t group);
/* All kernels were seen: makes the steps, and what is idle. */
int rk_curve_split(struct rk_energy_curve *c, struct rk_error *err);

struct rk_energy_part {
	size_t first, last; /* intervals */
	int64_t units, covered_ns;
};

/* Of a kernel, in any order. False: it is outside of the samples. */
bool rk_curve_part(const struct rk_energy_curve *c, int64_t start, int64_t end, size_t hint,
		   struct rk_energy_part *ret);
void rk_curve_release(struct rk_energy_curve *c);

#endif
