/* diff.h - compare two runs, or two sets of repeated runs: what changed, in parts that add up. */
#ifndef ROCKIT_DIFF_H
#define ROCKIT_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

struct rk_run;

/*
 * The data of one run that a comparison needs, without its rows: totals by kernel, copies, calls, busy
 * and idle times; with `structure` also the sequence of kernels of each queue. Independent of the run,
 * which may be closed.
 */
struct rk_profile;

/* `label`: the name of the run in the result, copied; NULL: its first file. */
int rk_run_profile(struct rk_run *run, const char *label, bool structure, struct rk_profile **ret,
		   struct rk_error *err);
void rk_profile_free(struct rk_profile *p); /* NULL is fine */

/* A whole or a part of it: b_ns - a_ns == delta_ns. */
struct rk_diff_part {
	const char *name; /* a stable word: "speed", "calls", "idle", ...; static */
	int64_t a_ns, b_ns, delta_ns;
	uint64_t reserved[2]; /* 0 */
};

enum { RK_DIFF_PARTS = 8 };

/*
 * The parts add up to the whole, for each of the three numbers. Swapping A and B only changes the sign of
 * delta_ns.
 */
struct rk_diff_whole {
	bool known; /* false: unknown on at least one side; all numbers are 0 */
	int64_t a_ns, b_ns, delta_ns;
	double percent;  /* of A; NaN if A is 0 */
	double noise_ns; /* changes up to this occur by chance in 99 of 100 cases; NaN: unknown */
	bool significant;
	struct rk_diff_part parts[RK_DIFF_PARTS];
	size_t nparts;
	uint64_t reserved[4]; /* 0 */
};

enum rk_diff_match { RK_DIFF_SAME, RK_DIFF_RENAMED, RK_DIFF_APPEARED, RK_DIFF_VANISHED };

/* A kernel on one side: means over its runs, rounded. NaN: unknown. */
struct rk_diff_count {
	const char *name;                        /* "" on the side without this kernel */
	uint64_t calls, calls_least, calls_most; /* mean, min and max of the runs */
	int64_t total_ns;
	double mean_ns, median_ns;
	double mad_ns;        /* median absolute deviation */
	double stddev_ns;     /* of dispatches of equal grid and block */
	uint64_t reserved[4]; /* 0 */
};

/* The result owns the strings. */
struct rk_diff_kernel {
	enum rk_diff_match match;
	struct rk_diff_count a, b;
	/* delta == speed + calls; speed: change of the mean times common calls; calls: additional calls */
	int64_t delta_ns, speed_ns, calls_ns;
	double noise_ns;      /* of speed_ns, as above */
	bool significant;     /* beyond the noise, and at least 1 % of the larger total */
	bool grids;           /* grids or blocks changed: see `grids` of the result */
	uint64_t reserved[4]; /* 0 */
};

/*
 * Launches of one kernel with a grid and block that only one side has, or whose share of the
 * kernel's launches changed by more than 0.1.
 */
struct rk_diff_grid {
	size_t kernel;        /* index in kernels */
	char shape[112];      /* "grid 8x8x1 block 64x1x1" */
	uint64_t a, b;        /* launches, in the first run of each side */
	uint64_t reserved[2]; /* 0 */
};

/* Copies by direction, API calls by function, synchronisation by name. */
struct rk_diff_line {
	const char *name;
	uint64_t calls_a, calls_b;
	int64_t bytes_a, bytes_b; /* for copies */
	int64_t a_ns, b_ns, delta_ns;
	uint64_t reserved[4]; /* 0 */
};

struct rk_diff_lines {
	struct rk_diff_line *v; /* sorted by change, largest first */
	size_t n;
};

/* One difference in structure. */
struct rk_diff_finding {
	const char *kind; /* "sequence", "queues", "launches", "grids", "copies", "bytes", "syncs" */
	char *subject;    /* the kernel, direction or queue */
	uint64_t a, b;    /* launches, bytes, ...; for a sequence: its length */
	uint64_t at;      /* for a sequence: index of the first difference */
	char *text;       /* one sentence */
	char *around_a, *around_b; /* for a sequence: the launches around it; else "" */
	uint64_t reserved[4];      /* 0 */
};

struct rk_diff_queue {
	uint64_t hash, length; /* of the sequence of kernels and their grids; stable */
	bool a, b;             /* which side has it */
	uint64_t reserved[2];  /* 0 */
};

struct rk_diff_structure {
	bool asked;
	bool equal;
	uint64_t launches_a, launches_b; /* in the first run of each side */
	struct rk_diff_finding *findings;
	size_t nfindings, left_out; /* findings beyond RK_DIFF_FINDINGS are only counted */
	struct rk_diff_queue *queues;
	size_t nqueues;
	uint64_t reserved[4]; /* 0 */
};

enum { RK_DIFF_FINDINGS = 1000 };

enum rk_diff_verdict {
	RK_DIFF_WITHIN = 0,  /* within the gate, same structure */
	RK_DIFF_BEYOND = 3,  /* beyond the gate, or different in structure */
	RK_DIFF_UNKNOWN = 4, /* the data is too incomplete to decide */
};

struct rk_diff_side {
	const char *const *labels; /* labels of its runs */
	size_t runs;
	uint64_t kernels; /* number of kernel names */
	uint64_t calls, untimed;
	uint64_t copies;
	int64_t bytes;
	uint64_t reserved[4]; /* 0 */
};

struct rk_diff {
	struct rk_diff_side a, b;
	struct rk_diff_whole gpu;  /* sum of the durations of kernels */
	struct rk_diff_whole wall; /* first start to last end of kernels and copies */
	struct rk_diff_whole api; /* sum of the durations of API calls; has no parts, see `calls` */
	struct rk_diff_whole copy;      /* the same for copies */
	struct rk_diff_kernel *kernels; /* sorted by change, largest first */
	size_t nkernels;
	struct rk_diff_grid *grids;
	size_t ngrids;
	struct rk_diff_lines copies, calls;
	/* kernels per rank ("rank 3") if there are several ranks; `rank` is their sum */
	struct rk_diff_lines ranks;
	struct rk_diff_whole rank;
	struct rk_diff_structure structure;
	bool gated;
	double gate_percent;
	enum rk_diff_verdict verdict;
	char reason[256];          /* one sentence: why this verdict */
	const char *const *doubts; /* why the data may be incomplete; ends with NULL */
	size_t ndoubts;
};

struct rk_diff_options {
	bool gated;
	double gate_percent;  /* allowed growth of GPU time; >= 0 */
	bool structure;       /* compare structure: the profiles must include it */
	uint64_t reserved[8]; /* 0 */
};

/* na, nb >= 1. The caller frees *ret with rk_diff_free. The profiles may be freed before it. */
int rk_diff_make(const struct rk_profile *const *a, size_t na, const struct rk_profile *const *b,
		 size_t nb, const struct rk_diff_options *opt, struct rk_diff **ret,
		 struct rk_error *err);
void rk_diff_free(struct rk_diff *d); /* NULL is fine */

enum rk_diff_format { RK_DIFF_TEXT, RK_DIFF_JSON, RK_DIFF_MARKDOWN };

/* Ignores look->format. *ret_text is NUL-terminated; free it with rk_text_free. */
int rk_diff_render(const struct rk_diff *d, enum rk_diff_format format,
		   const struct rk_render_options *look, char **ret_text, size_t *ret_len,
		   struct rk_error *err);

RK_END_DECLS

#endif
