/* plan.h - the metrics that the recorded counters allow, compiled for one chip. */
#ifndef RK_METRIC_PLAN_H
#define RK_METRIC_PLAN_H

#include "metrics/formula/defs.h"
#include "metrics/formula/names.h"
#include "metrics/formula/program.h"
#include "rockit/metrics.h"

/* Columns of every plan: these from the kernels table, then counters. */
enum rk_metric_column {
	RK_MC_TIME,  /* ns */
	RK_MC_GRID,  /* work-items */
	RK_MC_GROUP, /* work-items per workgroup */
	RK_MC_VGPR,
	RK_MC_AGPR,
	RK_MC_SGPR,
	RK_MC_LDS,
	RK_MC_SCRATCH,
	RK_MC_NFIXED
};

/* A column of counters: the sum of the values recorded under these ids. */
struct rk_metric_input {
	char *name; /* as in the formula */
	uint32_t *ids;
	size_t n;
};

/* Shared by the plans of a run. Zero it before use. */
struct rk_metric_inputs {
	struct rk_metric_input *v;
	size_t n, cap;
};
void rk_metric_inputs_release(struct rk_metric_inputs *in);

struct rk_metric_output {
	const struct rk_metric_def *def;
	unsigned result;
	double peak; /* NaN: none */
	bool split;  /* its counters are from several passes, because no pass has all of them */
	/* a ratio: its two sides, for the ratio of their sums; else RK_NO_RESULT */
	unsigned over, under;
};

/* Sums over the dispatches of a kernel, for the roofline and the verdict. */
enum rk_metric_total {
	RK_TOTAL_BYTES,                             /* RK_NLEVELS of them */
	RK_TOTAL_OPS = RK_TOTAL_BYTES + RK_NLEVELS, /* 16: in the order of rk_roof_pipes */
	RK_NTOTALS = RK_TOTAL_OPS + 16,
};

#define RK_NO_RESULT UINT32_MAX

/* Results of a check: by how much the bound is exceeded (reported if positive), and the factor. */
struct rk_metric_bound {
	unsigned margin, factor; /* or RK_NO_RESULT */
};

struct rk_metric_plan {
	struct rk_metric_device device;
	struct rk_program *program;
	struct rk_metric_output *outputs; /* in order of definition */
	size_t noutputs;
	struct rk_metric_absent *absent; /* the plan owns the reasons */
	size_t nabsent;
	struct rk_metric_bound *checks; /* one per check of the set */
	unsigned totals[RK_NTOTALS];    /* results or RK_NO_RESULT */
	bool countable[RK_NTOTALS];     /* the chip has counters of it */
};

/*
 * `set`, `names` and `inputs` must outlive the plan, which adds its inputs to `inputs`. `sides`: also
 * compute both sides of ratios.
 */
int rk_metric_plan_new(const struct rk_metric_set *set, const struct rk_metric_device *device,
		       enum rk_normal normal, bool sides, struct rk_formula_names *names,
		       struct rk_metric_inputs *inputs, struct rk_metric_plan **ret,
		       struct rk_error *err);
void rk_metric_plan_free(struct rk_metric_plan *p); /* NULL is fine */

/*
 * Calls `use` for each metric and then each check of the target that can be computed from `names`,
 * with the ids of the counters that it reads (possibly none, never one twice): what must be
 * measured together. `id` is NULL for a check. Facts about the chip count as known. A negative code
 * of `use` ends it.
 */
typedef int rk_metric_reads_fn(void *arg, const char *id, const uint32_t *ids, size_t n,
			       struct rk_error *err);
int rk_metric_reads(const struct rk_metric_set *set, const char *arch,
		    struct rk_formula_names *names, rk_metric_reads_fn *use, void *arg,
		    struct rk_error *err);

#endif
