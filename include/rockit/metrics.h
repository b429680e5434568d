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

/* One metric over some dispatches. NaN: not known. Texts belong to the result. */
struct rk_metric_value {
	const char *id, *group, *unit;
	uint64_t dispatches;  /* that have a value */
	double avg, min, max; /* unweighted over those */
	double weighted;      /* by the time of each dispatch; those without a time are left out */
	double median;        /* if the metric's definition asks for it, else NaN */
	double peak, percent_of_peak;
	uint64_t reserved[4]; /* 0 */
};

struct rk_metric_absent {
	const char *id, *reason;
	uint64_t reserved[2]; /* 0 */
};

/* A contradiction or a doubt in the data, with a name. */
struct rk_metric_flag {
	const char *kind; /* "window-ratio", "hits-above-requests", ... */
	const char *text; /* what it means and what to do */
	uint64_t dispatches;
	double worst;         /* largest factor by which the bound was exceeded; NaN: no meaning */
	uint64_t reserved[4]; /* 0 */
};

/* Facts about the chip. NaN or "": not known. */
struct rk_metric_device {
	char arch[16];      /* "gfx942" */
	char product[64];   /* "MI300X_A1" */
	const char *source; /* origin of the numbers, in words; static */
	double cus, simds, ses, sqcs, banks, wslots, sclk, mclk, l2ch, hbmch, xcds, pipes, wave;
	uint64_t reserved[8]; /* 0 */
};

/* A ceiling of the roofline. rate: GFLOP/s (GOP/s), bandwidth: GB/s. */
struct rk_ceiling {
	const char *name; /* "hbm", "l2", "l1", "lds"; "vector f32", "matrix f16", ... */
	bool bandwidth;
	double theory;        /* clock times width */
	double measured;      /* by rocprof-compute's benchmark, NaN without */
	double achievable;    /* measured, or the usual share of theory */
	uint64_t reserved[4]; /* 0 */
};

enum rk_level { RK_LEVEL_LDS, RK_LEVEL_L1, RK_LEVEL_L2, RK_LEVEL_HBM, RK_NLEVELS };

/* A kernel in the roofline; NaN: not known. */
struct rk_roof_point {
	double rate;                   /* GFLOP/s */
	const char *pipe;              /* the ceiling it is compared with, "" when none */
	double intensity[RK_NLEVELS];  /* FLOP per byte of that level */
	double attainable[RK_NLEVELS]; /* min(pipe, intensity * bandwidth), achievable figures */
	double percent[RK_NLEVELS];    /* rate in percent of attainable */
	uint64_t reserved[4];          /* 0 */
};

/* One number that led to a verdict. */
struct rk_verdict_number {
	const char *name; /* "hbm_pct", ... */
	double value;
	const char *unit;
	uint64_t reserved[2]; /* 0 */
};

enum { RK_VERDICT_NUMBERS = 12 };

struct rk_verdict {
	const char *name; /* "memory:hbm", "compute:valu", "latency", "launch", "communication",
			     "balanced", "mixed", "unusable" */
	char reason[240]; /* a sentence with the numbers that decided */
	struct rk_verdict_number numbers[RK_VERDICT_NUMBERS];
	size_t nnumbers;
	char collect[160];    /* what to collect next if data is missing, else "" */
	uint64_t reserved[4]; /* 0 */
};

struct rk_metric_kernel {
	const char *name;
	uint64_t calls;
	int64_t total_ns;
	double percent; /* of the time of all kernels */
	struct rk_verdict verdict;
	struct rk_roof_point roof;
	struct rk_metric_value *metrics; /* metrics that have a value, in order of definition */
	size_t nmetrics;
	uint64_t *flags;      /* per entry of rk_metrics.flags: dispatches of this kernel */
	uint64_t reserved[8]; /* 0 */
};

struct rk_verdict_share {
	const char *name;
	uint64_t kernels, calls;
	int64_t total_ns;
	double percent;
	uint64_t reserved[4]; /* 0 */
};

/* Facts about one device from the trace alone. Times in ns. */
struct rk_trace_device {
	char name[48];      /* "device 0", with node or rank where there are several */
	int64_t span_ns;    /* first start to last end of its kernels and copies */
	int64_t busy_ns;    /* some kernel ran */
	int64_t kernel_ns;  /* sum of durations: above busy_ns when kernels overlap */
	int64_t idle_ns;    /* span without kernel and without copy */
	int64_t copy_ns;    /* some copy ran */
	int64_t overlap_ns; /* a kernel and a copy ran */
	uint64_t kernels, copies;
	uint64_t gaps; /* parts of the span without kernel and copy */
	int64_t longest_gap_ns, longest_gap_at_ns;
	/* from the end of a kernel to the start of the next on the same queue, below 1 ms: */
	uint64_t launch_gaps;
	int64_t launch_gap_ns;
	double median_launch_gap_ns; /* NaN: none */
	uint64_t reserved[8];        /* 0 */
};

struct rk_trace_facts {
	struct rk_trace_device *devices;
	size_t ndevices;
	bool serialised; /* a profiler ran kernels one by one to count: gaps are its overhead */
	uint64_t reserved[4]; /* 0 */
};

struct rk_metrics {
	const char *arch; /* "" when not known */
	enum rk_normal normal;
	uint64_t dispatches;
	int64_t total_ns;
	struct rk_metric_device *devices; /* with kernels, each kind once; the first is `arch` */
	size_t ndevices;
	struct rk_metric_value *metrics; /* over all dispatches, in the order of definition */
	size_t nmetrics;
	struct rk_metric_kernel *kernels; /* by total time, largest first */
	size_t nkernels;
	struct rk_metric_absent *absent;
	size_t nabsent;
	struct rk_metric_flag *flags; /* flags with at least one dispatch */
	size_t nflags;
	struct rk_ceiling *ceilings;
	size_t nceilings;
	struct rk_verdict_share *verdicts; /* by time, largest first */
	size_t nverdicts;
	struct rk_trace_facts trace;
	const struct rk_warning *warnings;
	size_t nwarnings;
};

/* One dispatch, lent to the callback below. values[i] is of metrics[i], NaN where missing. */
struct rk_metric_dispatch {
	const char *kernel;
	/* -1: not known */
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
	 * Called for each dispatch in the order of the table, after one call of `begin` with the
	 * metrics (id, group, unit and peak of each; valid during that call, the texts until
	 * rk_run_metrics returns). Return nonzero to stop with RK_E_CANCELLED. NULL: not called.
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

/* How to render metrics. The fields after `groups` are for text; JSON and CSV have everything. */
struct rk_metrics_look {
	struct rk_render_options look; /* top: number of kernels to show */
	const char *groups;            /* "l2,lds": metrics of these groups only; NULL: of all */
	bool all;                      /* every metric, not only the most useful ones */
	bool absent; /* list each absent metric with its reason, not only how many */
	bool no_roofline;
	uint64_t reserved[8]; /* 0 */
};

/* *ret_text is NUL-terminated and freed by rk_text_free. */
int rk_metrics_render(const struct rk_metrics *m, const struct rk_metrics_look *how,
		      char **ret_text, size_t *ret_len, struct rk_error *err);

/*
 * Writes the values of each dispatch while they are computed, in bounded memory; the file appears
 * whole or not at all. JSON is the same document with dispatches instead of kernels; CSV has a row
 * per dispatch. opt->begin and opt->dispatch are not called. `path` "-" is stdout. The text format
 * gives RK_E_USAGE. `ret` may be NULL; otherwise as in rk_run_metrics.
 */
int rk_metrics_write_dispatches(struct rk_run *run, const struct rk_metrics_options *opt,
				const struct rk_metrics_look *how, const char *path,
				struct rk_metrics **ret, struct rk_error *err);

RK_END_DECLS

#endif
