/* metrics_impl.h - the parts of rk_run_metrics: devices, columns, sums, result. */
#ifndef RK_METRICS_IMPL_H
#define RK_METRICS_IMPL_H

#include "base/map.h"
#include "metrics/formula/plan.h"
#include "metrics/metric_device.h"
#include "metrics/metric_roofline.h"
#include "report/timeline.h"
#include "run/run.h"
#include "table/aggregate.h"

/* ---- devices (metrics_input.c) ---- */

enum { RK_KINDS_MAX = 64 };

/* Chips with the same numbers are one kind and share a plan. */
struct rk_kinds {
	struct rk_metric_device *v;
	size_t n, cap;
	/* the kind of each agent */
	struct rk_kind_agent {
		bool any; /* the agent has no number: it means all */
		int64_t device;
		uint32_t node; /* 0: unknown */
		unsigned kind;
		size_t file; /* file that describes it */
		bool near;   /* no file that describes agents is closer to the file being read */
	} * agents;
	size_t nagents, cap_agents;
	bool described; /* described by the user, for all files */
	size_t reading; /* file of the next rows, SIZE_MAX before the first */
};

/* Never empty: without data there is one unknown kind. */
int rk_kinds_find(struct rk_run *run, const struct rk_metrics_options *opt, struct rk_kinds *ret,
		  struct rk_error *err);
/* Call before rows of another file: programs that ran on different chips each have a folder. */
void rk_kinds_turn_to(struct rk_kinds *k, const struct rk_run *run, size_t file);
unsigned rk_kind_of(const struct rk_kinds *k, int64_t device, uint32_t node);
void rk_kinds_release(struct rk_kinds *k);

/* ---- order (metrics_sums.c) ---- */

/* Rows of a batch, grouped by kernel, so that sums stay in registers. */
struct rk_metric_order {
	size_t n;
	uint32_t rows[RK_PROGRAM_ROWS];
	struct rk_metric_stretch {
		uint32_t group, end; /* rows from the end of the previous stretch up to `end` */
	} runs[RK_PROGRAM_ROWS];
	size_t nruns;
	uint32_t *first; /* per group, for sorting */
	size_t cap;
};

/*
 * Orders rows first .. first + n by their groups, which are below `ngroups`. `sorted` false: keep
 * their order, for callers that receive each dispatch.
 */
int rk_metric_order_make(struct rk_metric_order *o, size_t first, const uint32_t *groups, size_t n,
			 size_t ngroups, bool sorted, struct rk_error *err);

/* ---- columns (metrics_input.c) ---- */

/* Collects the counters of all files as names for formulas. */
int rk_metric_names_of(struct rk_run *run, struct rk_formula_names **ret, struct rk_error *err);
/*
 * Makes a column of `set` for each input; the last is the time if a file measured it several times.
 */
int rk_metric_columns_make(struct rk_run *run, const struct rk_metric_inputs *inputs,
			   struct rk_counter_set *set, struct rk_error *err);

/* Batches as columns of doubles, NaN if missing. */
struct rk_metric_block {
	const struct rk_counter_set *set;
	size_t ncolumns;
	const double **columns; /* RK_MC_NFIXED columns, then the inputs */
	double *store;    /* RK_PROGRAM_ROWS values per column; the first column is the time */
	uint64_t damaged; /* rows whose counter values are negative or not a number */
	uint8_t hurt[RK_PROGRAM_ROWS]; /* which of the current rows are damaged */
};
int rk_metric_block_init(struct rk_metric_block *k, const struct rk_counter_set *set,
			 struct rk_error *err);
void rk_metric_block_release(struct rk_metric_block *k);
/* Rows of a batch of set->schema, in that order. */
void rk_metric_block_load(struct rk_metric_block *k, const struct rk_batch *b,
			  const struct rk_metric_order *o);

/* ---- sums (metrics_sums.c) ---- */

struct rk_metric_sum {
	double sum, min, max;
	double weighted, weight;  /* value x time, and time */
	double lost, lost_weight; /* accumulated rounding error of sum and weighted */
	double over, under;       /* sums of the sides of a ratio, if the plan has them */
	uint64_t n;
};

/* Sums for one kernel, or for all. */
struct rk_metric_group {
	uint32_t name;
	unsigned kind;    /* kind of its first dispatch */
	uint64_t counted; /* dispatches with at least one counter */
	double totals[RK_NTOTALS], total_time[RK_NTOTALS]; /* ns of the dispatches that have it */
	struct rk_metric_sum *sums;                        /* per metric */
	uint64_t *flags;                                   /* per check */
};

/* One value of a metric that needs a median. */
struct rk_metric_kept {
	uint32_t metric, group;
	double value;
};

struct rk_metric_sums {
	size_t nmetrics, nchecks;
	struct rk_metric_group *groups;
	size_t n, cap, max;
	struct rk_idmap by_name; /* group + 1 */
	bool full;               /* more names than groups: the last group is RK_OTHER_KERNELS */
	double *worst;           /* per check */
	struct rk_metric_kept *kept;
	size_t nkept, cap_kept;
	bool kept_full;
};

#define RK_OTHER_KERNELS UINT32_MAX /* not a valid name id */

enum { RK_METRIC_SUMS_BYTES = 48 << 20, RK_METRIC_KEPT_MAX = 1 << 20 };

int rk_metric_sums_init(struct rk_metric_sums *s, size_t nmetrics, size_t nchecks,
			struct rk_error *err);
void rk_metric_sums_release(struct rk_metric_sums *s);
/* The group of a kernel name. */
int rk_metric_sums_group(struct rk_metric_sums *s, uint32_t name, unsigned kind, uint32_t *ret,
			 struct rk_error *err);

/* The outputs of one plan for some rows. place[i]: index of output i. */
struct rk_metric_rows {
	const struct rk_metric_plan *plan;
	const struct rk_program_state *state;
	const unsigned *place;
	const struct rk_metric_order *order;
	const double *time; /* NaN: unknown */
};
int rk_metric_sums_add(struct rk_metric_sums *s, const struct rk_metric_rows *rows,
		       struct rk_error *err);

/* ---- result (metrics_result.c) ---- */

struct rk_metric_work {
	struct rk_run *run;
	const struct rk_metrics_options *opt;
	struct rk_metric_set *set;
	struct rk_kinds kinds;
	struct rk_formula_names *names;
	struct rk_metric_inputs inputs;
	struct rk_counter_set columns;
	struct rk_metric_plan **plans; /* per kind */
	struct rk_program_state **states;
	unsigned **places; /* per kind: the definition of each output */
	struct rk_metric_block block;
	struct rk_metric_sums sums;
	struct rk_agg *agg; /* calls and times by kernel name */
	struct rk_timeline *timeline;
	struct rk_trace_facts trace;
	struct rk_roof_measure *measured;
	size_t nmeasured;
	uint64_t rows, untimed, partial;
	bool traced;  /* kernels ran as without a counter profiler */
	bool of_sums; /* the average of a ratio is the ratio of sums: data/metrics/versions.json */
	uint64_t kind_rows[RK_KINDS_MAX];
};

int rk_metric_result(struct rk_metric_work *w, struct rk_metrics **ret, struct rk_error *err);

#endif
