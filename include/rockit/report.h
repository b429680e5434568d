/* report.h - what a run's tables say, as plain data and as text. */
#ifndef ROCKIT_REPORT_H
#define ROCKIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/error.h"
#include "rockit/warning.h"

struct rk_report_options {
	size_t top;     /* rows to show per section, 0: all (JSON and CSV always hold all) */
	const char *by; /* NULL, "device", "process", "stream" or "rank" */
};

/* One group of equal names: kernels, copies by direction, API functions, markers. */
struct rk_report_row {
	const char *name;
	const char *key; /* value of `by`, "" without */
	uint64_t calls;
	int64_t total_ns, min_ns, max_ns;
	double mean_ns, median_ns, stddev_ns;
	double percent; /* of the section's total, barriers left out */
	bool timed;        /* false: no row had times; the numbers above are not known */
	bool median_known; /* statistics files do not say */
	bool median_exact;
	bool barrier;
};

struct rk_report_section {
	struct rk_report_row *rows; /* by total, largest first */
	size_t nrows;
};

struct rk_report_counter {
	const char *name;
	uint64_t rows;
	double sum, min, max;
};

struct rk_report_table {
	const char *name; /* "kernels", "memcpy", ... */
	uint64_t rows;
};

struct rk_report {
	uint64_t kernel_rows;
	int64_t sum_duration_ns, min_start_ns, max_end_ns;
	bool timed;                    /* min_start_ns and max_end_ns hold something */
	const char *stats_of;          /* NULL, "kernel", "api", "copy" or "domain" */
	const char *by;                /* as asked, NULL without */
	struct rk_report_table *tables; /* every standard table, rows 0 included */
	size_t ntables;
	struct rk_report_section kernels, copies, api, markers, domains;
	struct rk_report_counter *counters;
	size_t ncounters;
	double median_error; /* relative error of medians that are not exact */
	const struct rk_warning *warnings; /* the run's, borrowed */
	size_t nwarnings;
};

enum rk_report_format { RK_REPORT_TEXT, RK_REPORT_JSON, RK_REPORT_CSV };

struct rk_render_options {
	enum rk_report_format format;
	bool color;
	unsigned columns; /* terminal width; 0: 100 */
	size_t top;       /* rows per section in text; 0: all */
};

/* *ret_text is NUL-terminated and freed by rk_text_free. */
int rk_report_render(const struct rk_report *r, const struct rk_render_options *opt,
		     char **ret_text, size_t *ret_len, struct rk_error *err);
void rk_text_free(char *text);
void rk_report_free(struct rk_report *r); /* NULL is fine */

#endif
