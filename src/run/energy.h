/*
 * energy.h - the energy that a device used, attributed to the kernels that ran on it.
 *
 * Add samples first (energy_j, a counter, or power_w if there is no counter), then agents, then
 * kernels, each in any order. The results are in units of 2^-32 J and add up exactly: kernels +
 * idle + before + after == total, the difference of the counter. energy_curve.c describes how
 * energy is split and the error of that. Memory is bounded: kernels go through a temporary file,
 * samples are thinned.
 *
 * A sample names a GPU by its index among the GPUs of its node. The device of a kernel is the same
 * index or, if the agents show that CPUs are numbered along with GPUs, an agent. Programs may see
 * only some of the GPUs, numbered from 0 again: where the PCI addresses of both sides are known,
 * they decide.
 */
#ifndef RK_ENERGY_H
#define RK_ENERGY_H

#include "run/energy_curve.h"
#include "table/aggregate.h"
#include "table/source.h"

enum {
	RK_ENERGY_SAMPLES = 1 << 18, /* above this, every second sample is dropped */
	RK_ENERGY_DEVICES = 1024,    /* above this, further devices are skipped */
};

struct rk_energy;

/*
 * ctx is borrowed; warnings go to it. `key` as in rk_agg_fields: groups are the same as in rk_agg.
 */
int rk_energy_new(struct rk_context *ctx, int key, struct rk_energy **ret, struct rk_error *err);
/* For tests: lower limits. Call before the first row. */
void rk_energy_limit(struct rk_energy *e, size_t samples, size_t held);
/* A sampled GPU: its node (id of the name, 0: unknown), index and PCI address. Before the agents. */
int rk_energy_address(struct rk_energy *e, uint32_t node, int64_t index, const char *pci,
		      struct rk_error *err);
/* The columns of RK_SAMPLES, RK_AGENTS and RK_KERNELS that we read. */
uint64_t rk_energy_wants(const struct rk_energy *e, enum rk_table t);
int rk_energy_add(struct rk_energy *e, const struct rk_batch *b, struct rk_error *err);
/* After the last sample: is there anything to attribute? */
bool rk_energy_some(const struct rk_energy *e);
/* Call once, after the last kernel. */
int rk_energy_finish(struct rk_energy *e, struct rk_error *err);
/* After rk_energy_finish: did any kernel get energy? */
bool rk_energy_found(const struct rk_energy *e);

/* Sum over the kernels of a group. covered_ns is the part of their time with samples. */
struct rk_energy_sum {
	int64_t units, error, covered_ns;
};
struct rk_energy_sum rk_energy_of_group(struct rk_energy *e, uint32_t name, bool keyed,
					int64_t key);
/* Energy of one kernel in joules; NaN if unknown. */
double rk_energy_of_kernel(struct rk_energy *e, const struct rk_batch *b, size_t row);

/* The sampled devices, sorted by node and number. Borrowed. */
const struct rk_energy_curve *rk_energy_curves(const struct rk_energy *e, size_t *ret_n);
/*
 * The number that kernels and agents use for the GPU of that curve, which may differ. -1: unknown.
 */
int64_t rk_energy_device_number(const struct rk_energy *e, size_t curve);
void rk_energy_free(struct rk_energy *e); /* NULL is fine */

/* ---- energy of a run (run_energy.c) ---- */

struct rk_run;

/*
 * The caller owns *ret; NULL if no energy or power was sampled while kernels ran. `key` as in
 * rk_agg_fields.
 */
int rk_run_energy(struct rk_run *run, int key, struct rk_energy **ret, struct rk_error *err);

/* Sets run->energy.split; from then on rk_run_scan_kernels has a column energy_j. */
int rk_run_energy_settle(struct rk_run *run, struct rk_error *err);

/*
 * Replaces *rows (kernels) by the same rows with energy_j as the last column, if it is known and
 * not there yet. Takes ownership, also on failure.
 */
int rk_run_energy_open(struct rk_run *run, struct rk_source **rows, struct rk_error *err);

#endif
