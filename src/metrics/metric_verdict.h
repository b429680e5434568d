/*
 * metric_verdict.h - what limits a kernel, and by how much.
 *
 * The first rule that fires wins; thresholds are data (data/metrics/verdicts.json). A rule does not
 * fire if its inputs are unknown. Names: "unusable", "launch" (too few waves, or too short),
 * "communication", "balanced", "memory:hbm|dram|l2|l1|lds" ("dram" for a memory that is not HBM),
 * "compute:valu|mfma" (the unit of the busiest pipe; the reason names it), "latency", "mixed".
 *
 * A share of a peak above impossible_pct is a fault of the data: it is shown and decides nothing.
 */
#ifndef RK_METRIC_VERDICT_H
#define RK_METRIC_VERDICT_H

#include "base/error.h"
#include "rockit/metrics.h"

/* Facts about one kernel. NaN: unknown. Percentages are of theoretical peaks, weighted by time. */
struct rk_verdict_facts {
	const char *name;
	const char *arch;   /* to suggest what to collect next */
	const char *memory; /* its kind, as in rk_metric_device; NULL: HBM */
	bool counters;      /* at least one counter that formulas use was collected for it */
	bool others;        /* other or damaged counters */
	bool unnamed;       /* the chip is unknown */
	bool timed;         /* at least one dispatch has a time above 0 */
	double mean_ns, median_ns;
	double level_pct[RK_NLEVELS]; /* bandwidth of each level */
	double side_pct;              /* for HBM, if only reads or only writes are known */
	const char *side;             /* which of them: "reads", "writes" */
	double flop_pct;              /* largest share of a pipe's peak */
	const char *flop_pipe;        /* that pipe, or "" */
	double valu_busy_pct, mfma_busy_pct;
	double window_ratio; /* 1000 G / (T sclk) */
	double cycles, sclk; /* G and clock, for rule 0 */
	double waves, cus;
	double remote_pct;     /* the larger share of reads or writes that leave the chip */
	double link_stall_pct; /* PCIe and xGMI credit stalls */
	double dep_wait_pct, issue_wait_pct, lanes_on, occupancy_pct, vmem_latency;
	double no_waveslot_pct, no_vgpr_pct, no_sgpr_pct, no_lds_pct, no_barrier_pct;
	double intensity, ridge; /* FLOP per byte of HBM; ridge of the roofline */
	double gap_share;        /* launch gaps / (gaps + busy) on its queue; NaN: no trace */
};

/* The reason of "unusable" when there is nothing to judge. */
#define RK_NO_COUNTERS "no counters were collected"

/* Never fails: without enough data the verdict is "unusable", with a reason and what to collect. */
void rk_verdict_judge(const struct rk_verdict_facts *f, struct rk_verdict *ret);
/* The largest share of a peak, in percent, if it is impossible; NaN: all are possible. */
double rk_verdict_impossible(const struct rk_verdict_facts *f);

#endif
