/* run_energy.h - energy of a run's kernels. */
#ifndef RK_RUN_ENERGY_H
#define RK_RUN_ENERGY_H

#include "run/energy.h"
#include "run/run.h"

/*
 * *ret is the caller's; NULL where no energy or power was sampled while kernels ran. `key` as in
 * rk_agg_fields.
 */
int rk_run_energy(struct rk_run *run, int key, struct rk_energy **ret, struct rk_error *err);

/* Settles run->energy, from which on rk_run_scan_kernels gives a column energy_j. */
int rk_run_energy_settle(struct rk_run *run, struct rk_error *err);

/*
 * Replaces *rows, kernels, by the same with energy_j as the last column, where it is known and not
 * there already. Takes it over, also on failure.
 */
int rk_run_energy_open(struct rk_run *run, struct rk_source **rows, struct rk_error *err);

#endif
