/* monitor.h - sample power, memory, clocks and load of the GPUs while a program runs. */
#ifndef ROCKIT_MONITOR_H
#define ROCKIT_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"

RK_BEGIN_DECLS

enum rk_monitor_metric {
	RK_MONITOR_POWER = 1u << 0,
	RK_MONITOR_VRAM = 1u << 1,
	RK_MONITOR_BUSY = 1u << 2,
	RK_MONITOR_CLOCK = 1u << 3,
	RK_MONITOR_TEMP = 1u << 4,
	RK_MONITOR_ENERGY = 1u << 5,
	RK_MONITOR_ALL = (1u << 6) - 1,
};

struct rk_monitor_options {
	const char *dir;      /* folder for the files; must exist */
	unsigned metrics;     /* RK_MONITOR_ bits */
	unsigned interval_ms; /* 0: 100 */
	const char *root;     /* for tests: prefix of /sys and /usr/lib; NULL or "" */
	bool overwrite;       /* overwrite existing files; else fail */
	uint64_t reserved[8]; /* 0 */
};

struct rk_monitor_result {
	uint64_t samples; /* points in time that were sampled */
	uint64_t missed;  /* samples skipped because the sampler was late */
	unsigned gpus;
	unsigned metrics;       /* metrics that at least one GPU reports */
	double cpu_percent;     /* of one core, over the whole time */
	int64_t clock_error_ns; /* max distance between the two clocks of a sample */
	char note[256];         /* requested metrics that no GPU reports, lost GPUs; or "" */
	uint64_t reserved[8];   /* 0 */
};

struct rk_monitor;

/* Converts "power,vram" to bits; "all" means all. RK_E_USAGE suggests the nearest valid word. */
int rk_monitor_parse(const char *text, unsigned *ret, struct rk_error *err);
/* The word for bit i; NULL past the last. */
const char *rk_monitor_word(unsigned i);

/*
 * Samples in its own thread until stop: immediately, then at a fixed interval, and once more at the
 * end. Each line is appended with one write, so samples are on disk whatever happens to the
 * process. A value that a GPU does not report is an empty cell. RK_E_UNSUPPORTED if no GPU reports
 * any of the metrics; then no file is created.
 */
int rk_monitor_start(const struct rk_monitor_options *opt, struct rk_monitor **ret,
		     struct rk_error *err);
/* False if it gave up because a file could not be written; stop returns the reason. */
bool rk_monitor_alive(struct rk_monitor *m);
/* Ends the thread and frees the monitor. ret may be NULL; it is also filled on failure. */
int rk_monitor_stop(struct rk_monitor *m, struct rk_monitor_result *ret, struct rk_error *err);

/* ---- as a command: directory, program, result ---- */

/*
 * Like start, but creates opt->dir with its parents; NULL means
 * rockit_output/<YYYYMMDD-HHMMSS>-<pid>. `path` gets its path. Leaves nothing behind on failure.
 */
int rk_monitor_open(const struct rk_monitor_options *opt, struct rk_monitor **ret, char *path,
		    size_t path_size, struct rk_error *err);

struct rk_monitor_end {
	struct rk_monitor_result samples;
	struct rk_error trouble; /* code 0, or why sampling ended early */
	int status;           /* exit status of the program as in a shell: 126, 127, 128 + signal */
	char why[512];        /* why the program could not be started, or "" */
	uint64_t reserved[8]; /* 0 */
};

/*
 * Runs the program (argv, NULL for none) and samples until it ends; without a program, until
 * SIGINT, SIGTERM or SIGHUP, unless they are ignored. duration_ms (0: no limit) ends sampling
 * earlier; the program continues. Then the monitor is stopped and freed; m may be NULL if there is
 * a program. Returns RK_E_ codes only if no process could be created.
 */
int rk_monitor_attend(struct rk_monitor *m, char *const *argv, uint64_t duration_ms,
		      struct rk_monitor_end *ret, struct rk_error *err);

/* The result as JSON; `program`: a program was run. Free *ret_text with rk_text_free. */
int rk_monitor_json(const struct rk_monitor_end *end, const char *dir, bool program,
		    char **ret_text, struct rk_error *err);

RK_END_DECLS

#endif
