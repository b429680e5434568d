/* metrics.h - metrics, roofline and verdicts from the counters and the trace of a run. */
#ifndef ROCKIT_METRICS_H
#define ROCKIT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"
#include "rockit/warning.h"

RK_BEGIN_DECLS

struct rk_run;

enum rk_normal { RK_PER_KERNEL, RK_PER_WAVE, RK_PER_CYCLE, RK_PER_SECOND };

/* One metric over some dispatches. NaN: unknown. The result owns the strings. */
struct rk_metric_value {
	const char *id, *group, *unit;
	uint64_t dispatches;  /* number of dispatches with a value */
	double avg, min, max; /* unweighted, over these dispatches */
	double weighted;      /* weighted by time; dispatches without a time are left out */
	double median;        /* if the metric's definition requests it, else NaN */
	double peak, percent_of_peak;
	bool split;           /* its counters are from different passes: no pass has all of them */
	uint64_t reserved[3]; /* 0 */
};

struct rk_metric_absent {
	const char *id, *reason;
	uint64_t reserved[2]; /* 0 */
};

/* A contradiction or a doubtful value in the data. */
struct rk_metric_flag {
	const char *kind; /* "window-ratio", "hits-above-requests", ... */
	const char *text; /* what it means and what to do */
	uint64_t dispatches;
	double worst;         /* largest factor by which the bound was exceeded; NaN: meaningless */
	uint64_t reserved[4]; /* 0 */
};

/* Facts about the chip. NaN or "": unknown. */
struct rk_metric_device {
	char arch[16];      /* "gfx942" */
	char product[64];   /* "MI300X_A1" */
	const char *source; /* source of the numbers, for people; static */
	double cus, simds, ses, sqcs, banks, wslots, sclk, mclk, l2ch, hbmch, xcds, pipes, wave;
	const char *memory;   /* its kind: "HBM", "GDDR", "LPDDR"; static */
	uint64_t reserved[7]; /* 0 */
};

/* A ceiling of the roofline. rate: GFLOP/s (GOP/s), bandwidth: GB/s. */
struct rk_ceiling {
	const char *name; /* "hbm" ("dram" if it is of another kind), "l2", "l1", "lds"; "vector f32",
			     "matrix f16", ... */
	bool bandwidth;
	double theory;        /* clock times width */
	double measured;      /* by rocprof-compute's benchmark; NaN: not measured */
	double achievable;    /* measured, or the typical share of theory */
	uint64_t reserved[4]; /* 0 */
};

enum rk_level { RK_LEVEL_LDS, RK_LEVEL_L1, RK_LEVEL_L2, RK_LEVEL_HBM, RK_NLEVELS };

/* A kernel in the roofline; NaN: unknown. */
struct rk_roof_point {
	double rate;                   /* GFLOP/s */
	const char *pipe;              /* the ceiling it is compared with, or "" */
	double intensity[RK_NLEVELS];  /* FLOP per byte of that level */
	double attainable[RK_NLEVELS]; /* min(pipe, intensity * bandwidth), achievable values */
	double percent[RK_NLEVELS];    /* rate as a percentage of attainable */
	/*
	 * Operations that the chip can count but the run did not: "matrix", "vector", "vector and
	 * matrix"; rate and intensity are too low by them. NULL: none, or the kernel has none.
	 */
	const char *uncounted;
	uint64_t reserved[3]; /* 0 */
};

/* One number that led to a verdict. */
struct rk_verdict_number {
	const char *name; /* "hbm_pct", ...; "dram_pct" if the memory is of another kind */
	double value;
	const char *unit;
	uint64_t reserved[2]; /* 0 */
};

enum { RK_VERDICT_NUMBERS = 12 };

struct rk_verdict {
	const char *name; /* "memory:hbm", "memory:dram", "compute:valu", "latency", "launch",
			     "communication", "balanced", "mixed", "unusable" */
	char reason[240]; /* a sentence with the decisive numbers */
	struct rk_verdict_number numbers[RK_VERDICT_NUMBERS];
	size_t nnumbers;
	char collect[160];    /* what to collect next if data is missing, or "" */
	uint64_t reserved[4]; /* 0 */
};

struct rk_metric_kernel {
	const char *name;
	uint64_t calls;
	int64_t total_ns;
	double percent; /* share of the time of all kernels */
	struct rk_verdict verdict;
	struct rk_roof_point roof;
	struct rk_metric_value *metrics; /* metrics that have a value, in order of definition */
	size_t nmetrics;
	uint64_t *flags;      /* by index in rk_metrics.flags: dispatches of this kernel */
	uint64_t reserved[8]; /* 0 */
};

struct rk_verdict_share {
	const char *name;
	uint64_t kernels, calls;
	int64_t total_ns;
	double percent;
	uint64_t reserved[4]; /* 0 */
};

/* Facts about one device that need only the trace. Times are in ns. */
struct rk_trace_device {
	char name[48];      /* "device 0", with node or rank if there are several */
	int64_t span_ns;    /* first start to last end of its kernels and copies */
	int64_t busy_ns;    /* at least one kernel ran */
	int64_t kernel_ns;  /* sum of durations: more than busy_ns if kernels overlap */
	int64_t idle_ns;    /* part of the span without kernels and copies */
	int64_t copy_ns;    /* at least one copy ran */
	int64_t overlap_ns; /* both a kernel and a copy ran */
	uint64_t kernels, copies;
	uint64_t gaps; /* periods of the span without kernels and copies */
	int64_t longest_gap_ns, longest_gap_at_ns;
	/*
	 * from the end of a kernel to the start of the next one on the same queue, if below 1 ms:
	 */
	uint64_t launch_gaps;
	int64_t launch_gap_ns;
	double median_launch_gap_ns; /* NaN: none */
	uint64_t reserved[8];        /* 0 */
};

struct rk_trace_facts {
	struct rk_trace_device *devices;
	size_t ndevices;
	bool serialised;      /* a counter profiler serialised the kernels: gaps are its overhead */
	uint64_t reserved[4]; /* 0 */
};

struct rk_metrics {
	const char *arch; /* "" if unknown */
	enum rk_normal normal;
	uint64_t dispatches;
	int64_t total_ns;
	struct rk_metric_device *devices; /* with kernels, each kind once; the first is `arch` */
	size_t ndevices;
	struct rk_metric_value *metrics; /* over all dispatches, in order of definition */
	size_t nmetrics;
	struct rk_metric_kernel *kernels; /* sorted by total time, largest first */
	size_t nkernels;
	struct rk_metric_absent *absent;
	size_t nabsent;
	struct rk_metric_flag *flags; /* flags with at least one dispatch */
	size_t nflags;
	struct rk_ceiling *ceilings;
	size_t nceilings;
	struct rk_verdict_share *verdicts; /* sorted by time, largest first */
	size_t nverdicts;
	struct rk_trace_facts trace;
	const struct rk_warning *warnings;
	size_t nwarnings;
	/*
	 * The average of a ratio over dispatches is SUM(A)/SUM(B), as in the release of rocprof-compute
	 * that recorded the run; else it is the mean of A/B.
	 */
	bool of_sums;
};

/*
 * One dispatch, valid during the callback below. values[i] belongs to metrics[i], NaN if missing.
 */
struct rk_metric_dispatch {
	const char *kernel;
	/* -1: unknown */
	int64_t dispatch_id, device_id, start_ns, duration_ns;
	const double *values;
	uint64_t reserved[4]; /* 0 */
};

struct rk_metrics_options {
	const char *arch;    /* NULL: from the run */
	const char *sysinfo; /* a file that describes the chip; NULL: from the run */
	const char *metrics; /* a file of definitions that override the shipped ones; NULL: none */
	const char *kernel_regex; /* NULL: all kernels */
	enum rk_normal normal;
	/*
	 * Called for each dispatch in table order, after one call of `begin` with the metrics (id,
	 * group, unit and peak of each; valid during that call, the strings until rk_run_metrics
	 * returns). Return nonzero to stop with RK_E_CANCELLED. NULL: not called.
	 */
	int (*begin)(void *arg, const struct rk_metric_value *metrics, size_t n);
	int (*dispatch)(void *arg, const struct rk_metric_dispatch *d);
	void *arg;
	uint64_t reserved[8]; /* 0 */
};

/* Free *ret with rk_metrics_free. You may close the run before that. */
int rk_run_metrics(struct rk_run *run, const struct rk_metrics_options *opt,
		   struct rk_metrics **ret, struct rk_error *err);
void rk_metrics_free(struct rk_metrics *m); /* NULL is fine */

/*
 * How to render metrics. The fields after `groups` only affect text; JSON and CSV have everything.
 */
struct rk_metrics_look {
	struct rk_render_options look; /* top: number of kernels to show */
	const char *groups;            /* "l2,lds": only metrics of these groups; NULL: all */
	bool all;                      /* show every metric, not only the most useful ones */
	bool absent; /* list each absent metric with its reason, not only their number */
	bool no_roofline;
	uint64_t reserved[8]; /* 0 */
};

/* *ret_text is NUL-terminated; free it with rk_text_free. */
int rk_metrics_render(const struct rk_metrics *m, const struct rk_metrics_look *how,
		      char **ret_text, size_t *ret_len, struct rk_error *err);

/*
 * Writes the values of each dispatch while they are computed, in bounded memory. The file appears
 * completely or not at all. JSON is the same document with dispatches instead of kernels; CSV has
 * one row per dispatch. opt->begin and opt->dispatch are not called. `path` "-" is stdout. The text
 * format gives RK_E_USAGE. `ret` may be NULL; otherwise it is as in rk_run_metrics.
 */
int rk_metrics_write_dispatches(struct rk_run *run, const struct rk_metrics_options *opt,
				const struct rk_metrics_look *how, const char *path,
				struct rk_metrics **ret, struct rk_error *err);

RK_END_DECLS

#endif
