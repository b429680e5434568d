/*
 * energy.h - the energy that a device drew, attributed to the kernels that ran on it.
 *
 * Samples first (energy_j, a counter, or where that is missing power_w), then agents, then kernels,
 * each in any order. What comes out, in units of 2^-32 J, adds up exactly: kernels + idle + before +
 * after == total, the difference of the counter. The rule of the split and its error are in
 * energy_curve.c. Memory is bounded: kernels go through a temporary file, samples are thinned.
 *
 * A sample names a GPU by its place among the GPUs of its node. A kernel's device is that place too,
 * or, where the agents say that CPUs are numbered along with GPUs, an agent.
 */
#ifndef RK_ENERGY_H
#define RK_ENERGY_H

#include "run/energy_curve.h"
#include "table/aggregate.h"
#include "table/source.h"

enum {
	RK_ENERGY_SAMPLES = 1 << 18, /* past these every second one is left out */
	RK_ENERGY_DEVICES = 1024,    /* past these the others are left out */
};

struct rk_energy;

/* ctx is borrowed and takes the warnings. `key` as in rk_agg_fields: groups are those of rk_agg. */
int rk_energy_new(struct rk_context *ctx, int key, struct rk_energy **ret, struct rk_error *err);
/* Tests make them small. Before the first row. */
void rk_energy_limit(struct rk_energy *e, size_t samples, size_t held);
/* Columns that are looked at: of RK_SAMPLES, RK_AGENTS and RK_KERNELS. */
uint64_t rk_energy_wants(const struct rk_energy *e, enum rk_table t);
int rk_energy_add(struct rk_energy *e, const struct rk_batch *b, struct rk_error *err);
/* After the last sample: whether there is anything to attribute. */
bool rk_energy_some(const struct rk_energy *e);
/* After the last kernel, once. */
int rk_energy_finish(struct rk_energy *e, struct rk_error *err);
/* Whether, when all is done, some kernel got something. */
bool rk_energy_found(const struct rk_energy *e);

/* Of all kernels of a group. covered_ns is the part of their time in which samples were taken. */
struct rk_energy_sum {
	int64_t units, error, covered_ns;
};
struct rk_energy_sum rk_energy_of_group(struct rk_energy *e, uint32_t name, bool keyed,
					int64_t key);
/* Of one kernel, in joule; NaN where nothing is known. */
double rk_energy_of_kernel(struct rk_energy *e, const struct rk_batch *b, size_t row);

/* Devices that were sampled, in the order of node and number. Borrowed. */
const struct rk_energy_curve *rk_energy_curves(const struct rk_energy *e, size_t *ret_n);
/* The number of that curve's GPU in kernels and agents, which may be another; -1: not known. */
int64_t rk_energy_device_number(const struct rk_energy *e, size_t curve);
void rk_energy_free(struct rk_energy *e); /* NULL is fine */

/* ---- of a run (run_energy.c) ---- */

struct rk_run;

/*
 * *ret is the caller's; NULL where no energy or power was sampled while kernels ran. `key` as in
 * rk_agg_fields.
 */
int rk_run_energy(struct rk_run *run, int key, struct rk_energy **ret, struct rk_error *err);

/* Settles run->energy.split, from which on rk_run_scan_kernels gives a column energy_j. */
int rk_run_energy_settle(struct rk_run *run, struct rk_error *err);

/*
 * Replaces *rows, kernels, by the same with energy_j as the last column, where it is known and not
 * there already. Takes it over, also on failure.
 */
int rk_run_energy_open(struct rk_run *run, struct rk_source **rows, struct rk_error *err);

#endif
