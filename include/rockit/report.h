/* report.h - a summary of the tables of a run, as data and as text. */
#ifndef ROCKIT_REPORT_H
#define ROCKIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/warning.h"

RK_BEGIN_DECLS

struct rk_run_file; /* rockit.h */
struct rk_run;
struct rk_hotspots; /* hotspots.h */
struct rk_ranks;    /* ranks.h */

struct rk_report_options {
	const char *by;       /* NULL, "device", "process", "stream" or "rank" */
	uint64_t reserved[8]; /* 0 */
};

/*
 * One group of rows with the same name: kernels, copies by direction, API functions, markers. Unknown
 * values are NaN in a double and -1 in min_ns and max_ns.
 */
struct rk_report_row {
	const char *name;
	char key[24]; /* value of `by` in decimal; "": not used or unknown */
	uint64_t calls;
	int64_t total_ns, min_ns, max_ns;
	double mean_ns, median_ns;
	double stddev_ns; /* population standard deviation; for a statistics file: its own value */
	double percent;   /* of the section's total, which excludes barriers; 0 for barriers */
	bool timed;       /* false: no row has times; the numbers above are unknown */
	bool median_exact;
	bool barrier;
	/*
	 * For kernels, if energy or power was sampled while they ran; else NaN. The error is at
	 * most energy_error_j, under the rule in rockit-report(1). energy_ns: the part of total_ns
	 * that is covered by samples.
	 */
	double energy_j, energy_error_j;
	int64_t energy_ns;
	uint64_t reserved[8]; /* 0 */
};

struct rk_report_section {
	struct rk_report_row *rows; /* sorted by total, largest first, then by name */
	size_t nrows;
	uint64_t calls;
	int64_t total_ns;     /* without barriers */
	uint64_t reserved[4]; /* 0 */
};

/* In joules. kernels + idle + before + after == total, exact below 2 MJ. */
struct rk_report_joules {
	double total, kernels, kernels_error;
	double idle;          /* between kernels, and the rounding error */
	double before, after; /* before the first kernel, after the last one */
	uint64_t reserved[2]; /* 0 */
};

/* A GPU whose energy or power was sampled. */
struct rk_report_energy_device {
	const char *node; /* "": unknown */
	int64_t device;
	const char *from; /* "counter" or "power" */
	uint64_t samples;
	double interval_ns; /* mean time between samples */
	double idle_w;      /* mean power of intervals without kernels; NaN: no such interval */
	bool used;          /* kernels ran on it */
	struct rk_report_joules joules;
	uint64_t reserved[4]; /* 0 */
};

struct rk_report_energy {
	struct rk_report_joules joules; /* sum over the devices that were used */
	struct rk_report_energy_device *devices;
	size_t ndevices;      /* 0: no energy data */
	uint64_t reserved[4]; /* 0 */
};

struct rk_report_counter {
	const char *name;
	uint64_t rows;
	double sum, min, max; /* NaN: unknown */
	uint64_t reserved[4]; /* 0 */
};

struct rk_report_table {
	const char *name; /* "kernels", "memcpy", ... */
	uint64_t rows;
	uint64_t reserved[2]; /* 0 */
};

/* Independent of the run, which may be closed first. */
struct rk_report {
	uint64_t kernel_rows;    /* for a statistics file: the sum of its calls */
	int64_t sum_duration_ns; /* kernels, including barriers */
	/* First start and last end of the kernels; if there are none, of all other rows. */
	int64_t min_start_ns, max_end_ns;
	bool timed;                     /* min_start_ns and max_end_ns are valid */
	const char *stats_of;           /* NULL, "kernel", "api", "copy" or "domain" */
	const char *by;                 /* as requested; NULL: not set */
	struct rk_report_table *tables; /* every standard table, including empty ones */
	size_t ntables;
	struct rk_report_section kernels, copies, api, markers, memory, domains;
	struct rk_report_counter *counters; /* sorted by name */
	size_t ncounters;
	struct rk_report_energy energy;
	struct rk_hotspots *hotspots; /* hotspots.h; NULL: no PC samples and no thread trace */
	struct rk_ranks *ranks;       /* ranks.h; NULL: fewer than two ranks */
	double median_error;          /* relative error of inexact medians; 0: all are exact */
	const struct rk_run_file *files;
	size_t nfiles;
	const struct rk_warning *warnings;
	size_t nwarnings;
	void *kept; /* private */
	/* calls of rocBLAS and others by library, function and arguments, the most frequent first */
	struct rk_report_section libraries;
};

enum rk_report_format { RK_REPORT_TEXT, RK_REPORT_JSON, RK_REPORT_CSV };

/* JSON and CSV always have all rows; the members after `format` only affect text. */
struct rk_render_options {
	enum rk_report_format format;
	bool color;
	bool utf8;            /* false: ASCII only */
	unsigned columns;     /* truncate names to fit; 0: do not truncate */
	size_t top;           /* rows per section; 0: all */
	uint64_t reserved[8]; /* 0 */
};

/* *ret_text is NUL-terminated; free it with rk_text_free. */
int rk_report_render(const struct rk_report *r, const struct rk_render_options *opt,
		     char **ret_text, size_t *ret_len, struct rk_error *err);
void rk_text_free(char *text);
/*
 * Hides hosts, users and paths in *text, which was rendered in this format from `r`, its ranks or
 * the hotspots of its run; *text and *len are replaced, on failure they are as before. Names in a text are
 * only recognised whole: render it with columns 0.
 */
int rk_report_redact(const struct rk_report *r, enum rk_report_format format, char **text,
		     size_t *len, struct rk_error *err);

/* The file appears completely or not at all; "-" is stdout. */
int rk_text_save(const char *path, const char *text, size_t len, struct rk_error *err);

void rk_report_free(struct rk_report *r); /* NULL is fine */

struct rk_html_options {
	const char *path;               /* the file; "-" is stdout */
	const char *title;              /* NULL: from the files of the run */
	const struct rk_report *report; /* of this run, if you have one; NULL: made by the call */
	const char *by;                 /* as in rk_report_options; not with `report` */
	const char *arch;               /* as in rk_metrics_options; NULL: from the data */
	const char *kernel_regex;       /* as in rk_metrics_options */
	bool redact;                    /* hide host, user and paths */
	uint64_t reserved[8];           /* 0 */
};

struct rk_html_result {
	uint64_t rows;        /* timeline rows: kernels, copies, markers */
	uint64_t bytes;       /* file size */
	uint64_t reserved[8]; /* 0 */
};

/*
 * Writes the whole run as one self-contained HTML page: tables, timeline, curves, metrics. The file
 * appears completely or not at all. `ret` may be NULL.
 */
int rk_run_html(struct rk_run *run, const struct rk_html_options *opt, struct rk_html_result *ret,
		struct rk_error *err);

RK_END_DECLS

#endif
