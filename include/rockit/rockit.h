/*
 * rockit.h - the library: open profiler output as one run, convert it, report on it.
 *
 * The library never prints and never exits. Functions return 0, or a negative enum rk_code and fill
 * `err` (which may be NULL). Only one thread at a time may use a run; concurrent calls from another
 * thread fail with RK_E_USAGE. Runs share nothing. NULL and closed handles give RK_E_USAGE, or NULL
 * and 0 from functions without an error. docs/api.md has the rules for all headers.
 */
#ifndef ROCKIT_ROCKIT_H
#define ROCKIT_ROCKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"
#include "rockit/warning.h"

RK_BEGIN_DECLS

#define ROCKIT_VERSION "1.0.0"
#define ROCKIT_VERSION_MAJOR 1
#define ROCKIT_VERSION_MINOR 0
#define ROCKIT_VERSION_PATCH 0

/* The version of the linked library; ROCKIT_VERSION is that of the header. */
const char *rk_version(void);

struct rk_run;

struct rk_run_options {
	unsigned threads;   /* 0: one per CPU that this process may use, at most 16 */
	const char *tmpdir; /* spill files; NULL: $TMPDIR or /tmp */
	bool mangled;       /* keep kernel names as recorded, without demangling */
	bool truncate;      /* shorten kernel names to the bare function name */
	bool hide_secrets;  /* in command lines of processes */
	bool redact;        /* with hide_secrets: also hide host, user and paths */
	/*
	 * Called now and then with the bytes read and the total bytes (0: unknown); return nonzero
	 * to cancel. It may be called from a thread of the library, one call at a time, but not
	 * after the run was closed. It must not use its run (calls fail), but it may close it and
	 * release streams.
	 */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	uint64_t reserved[8]; /* 0 */
};

/*
 * Opens files and directories together as one run. Files may be plain, .gz, .xz or .zst; the format is
 * detected by content. In a directory no row counts twice, even if several files contain it.
 */
int rk_run_open(const char *const *paths, size_t npaths, const struct rk_run_options *opt,
		struct rk_run **ret, struct rk_error *err);
/* NULL and a closed run are fine. Existing results and streams stay valid. */
void rk_run_close(struct rk_run *run);

/*
 * Fails with RK_E_USAGE if `out` is a file that the run reads, because writing would destroy it.
 * NULL and "-" mean standard output.
 */
int rk_run_check_output(const struct rk_run *run, const char *out, struct rk_error *err);

/* A file that was found: whether it is used, and if not, why. Borrowed. */
struct rk_run_file {
	const char *path;
	const char *format; /* the reader's name; "": none matches */
	bool used;
	const char *reason;   /* why it is not used; "": it is used */
	uint64_t reserved[4]; /* 0 */
};
const struct rk_run_file *rk_run_files(const struct rk_run *run, size_t *ret_n);

/* All warnings so far. Borrowed until the next call on the run. */
const struct rk_warning *rk_run_warnings(const struct rk_run *run, size_t *ret_n);

struct rk_convert_options {
	const char *out; /* file, directory (ends in '/' or exists as one), or "-" */
	/* "parquet", "csv", "jsonl", "perfetto", "chrome"; NULL: from the suffix of `out` */
	const char *format;
	/* NULL: kernels for a file; every table with rows for a directory or a trace */
	const char *table;
	/*
	 * With `dataset`, `out` is a folder for TABLE/node=N/rank=R/part-K.parquet. The work can be split
	 * over `nshards` processes (0: one); this is number `shard`, from 1. Together they write the same
	 * files as one process.
	 */
	bool dataset;
	unsigned shard, nshards;
	/*
	 * the paths that the run was opened with: `out` of a data set must not be inside. May be
	 * NULL, 0
	 */
	const char *const *inputs;
	size_t ninputs;
	uint64_t reserved[8]; /* 0 */
};

struct rk_convert_result {
	uint64_t rows;        /* of all tables */
	unsigned files;       /* files written */
	uint64_t reserved[8]; /* 0 */
};

/* `ret` may be NULL. */
int rk_run_convert(struct rk_run *run, const struct rk_convert_options *opt,
		   struct rk_convert_result *ret, struct rk_error *err);

/* The caller frees *ret with rk_report_free. */
int rk_run_report(struct rk_run *run, const struct rk_report_options *opt, struct rk_report **ret,
		  struct rk_error *err);

/* Names of the standard tables; NULL past the end. */
const char *rk_table_at(size_t i);
/* Names and one-line descriptions of the formats; NULL past the end. */
const char *rk_format_name(bool writer, size_t i, const char **ret_help);

RK_END_DECLS

#endif
