/*
 * samples.h - shared by the readers of samples: power, memory, temperature.
 *
 * A row of such a file has many values, of one device (a `device` or `gpu` column) or of all
 * devices (one column per GPU). Each value becomes a row of the samples table.
 */
#ifndef RK_SAMPLES_CSV_H
#define RK_SAMPLES_CSV_H

#include "codec/csv/scan.h"
#include "read/reader.h"

enum { RK_SAMPLES_MAX_COLUMNS = 4096 };

enum rk_sample_role {
	RK_SAMPLE_SKIP,
	RK_SAMPLE_NS,    /* the row's time in ns */
	RK_SAMPLE_WHEN,  /* the row's time in seconds since 1970, or as a date */
	RK_SAMPLE_DATE,  /* the row's date, YYYYMMDD ... */
	RK_SAMPLE_CLOCK, /* ... and its time of day, HH:MM:SS */
	RK_SAMPLE_DEVICE,
	RK_SAMPLE_VALUE,
};

/* The names of a header, borrowed from its text. */
struct rk_samples_header {
	struct rk_csv_span *names;
	unsigned ncols;
	bool has_ns; /* has a column timestamp_ns */
	bool nvidia; /* of nvidia-smi --query-gpu: "power.draw [W]" */
	bool dmon;   /* of nvidia-smi dmon: "# gpu pwr gtemp", columns of text */
};

struct rk_sample_column {
	enum rk_sample_role role;
	int64_t device;         /* from the column name; -1: from the row */
	const char *metric;     /* static; use `own` if NULL or if an earlier column provided it */
	struct rk_csv_span own; /* the name without the GPU */
	const char *unit;       /* static, NULL: none */
	double scale;
	bool watts; /* in madengine's format */
};

/*
 * Determines the meaning of a column. `h` is the whole header: some names depend on other columns.
 */
typedef void rk_sample_classify(const struct rk_samples_header *h, unsigned col,
				struct rk_sample_column *ret);

struct rk_samples_format {
	bool (*is_format)(const struct rk_samples_header *h);
	rk_sample_classify *classify;
};

/* Splits the first line that is not blank into names; 0 columns if it is not a header. */
int rk_samples_header_parse(const char *head, size_t len, struct rk_samples_header *ret,
			    struct rk_error *err);
void rk_samples_header_release(struct rk_samples_header *h);
/* The index of the column with that name (case-insensitive), or -1. */
int rk_samples_header_find(const struct rk_samples_header *h, const char *name);

/* Implement the reader's probe, open, scan and close; ops->format is a struct rk_samples_format. */
int rk_samples_probe(const struct rk_head *head);
int rk_samples_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err);
int rk_samples_scan(struct rk_reader *r, enum rk_table t, uint64_t want, struct rk_source **ret,
		    struct rk_error *err);
void rk_samples_close(struct rk_reader *r);

/* ---- times and values; declared here for tests ---- */

enum rk_when {
	RK_WHEN_NONE,  /* empty, or N/A */
	RK_WHEN_UTC,   /* exact */
	RK_WHEN_LOCAL, /* a date without a zone, treated as UTC */
	RK_WHEN_LOST,  /* digits are missing ("1.7E+09") */
	RK_WHEN_BAD,
};

/*
 * Seconds with an optional fraction, or YYYY-MM-DD[T ]HH:MM:SS[.fraction][Z or offset], also with
 * slashes in the date.
 */
enum rk_when rk_samples_when(struct rk_csv_span c, int64_t *ret_ns);

enum rk_value {
	RK_VALUE_NONE, /* empty, N/A or a state such as ENABLED */
	RK_VALUE_OK,
	RK_VALUE_BAD,
};

/* Parses a number, also in parentheses or followed by a unit: "(132Mhz)", "35.0 W". */
enum rk_value rk_samples_value(struct rk_csv_span c, double *ret);

#endif
