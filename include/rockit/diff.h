/* diff.h - two runs, or two sets of repeated runs, compared: what changed, in parts that sum. */
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
 * What a comparison needs of one run, without its rows: totals by kernel, copies, calls, busy and
 * idle times; with `structure` the sequence of kernels of each queue too. It is whole in itself:
 * the run may be closed.
 */
struct rk_profile;

/* `label` is what the run is called in the result, copied; NULL: its first file. */
int rk_run_profile(struct rk_run *run, const char *label, bool structure, struct rk_profile **ret,
		   struct rk_error *err);
void rk_profile_free(struct rk_profile *p); /* NULL is fine */

/* One whole or part of it: b_ns - a_ns == delta_ns. */
struct rk_diff_part {
	const char *name; /* a stable word: "speed", "calls", "idle", ...; static */
	int64_t a_ns, b_ns, delta_ns;
	uint64_t reserved[2]; /* 0 */
};

enum { RK_DIFF_PARTS = 8 };

/*
 * The parts sum to the whole, in each of the three numbers, and each changes its sign, no more,
 * when A and B change places.
 */
struct rk_diff_whole {
	bool known; /* false: at least one side does not say; all numbers are 0 */
	int64_t a_ns, b_ns, delta_ns;
	double percent;  /* of A; NaN when A is 0 */
	double noise_ns; /* a change up to this is chance, 99 of 100 times; NaN: not known */
	bool significant;
	struct rk_diff_part parts[RK_DIFF_PARTS];
	size_t nparts;
	uint64_t reserved[4]; /* 0 */
};

enum rk_diff_match { RK_DIFF_SAME, RK_DIFF_RENAMED, RK_DIFF_APPEARED, RK_DIFF_VANISHED };

/* A kernel on one side: means over its runs, rounded. NaN: not known. */
struct rk_diff_count {
	const char *name;                        /* "" on the side that does not have it */
	uint64_t calls, calls_least, calls_most; /* of a run */
	int64_t total_ns;
	double mean_ns, median_ns;
	double mad_ns;        /* median distance from the median */
	double stddev_ns;     /* of dispatches of equal grid and block */
	uint64_t reserved[4]; /* 0 */
};

/* Texts of the result are the result's. */
struct rk_diff_kernel {
	enum rk_diff_match match;
	struct rk_diff_count a, b;
	/* delta == speed + calls: calls that both have, changed in mean; calls that one has more */
	int64_t delta_ns, speed_ns, calls_ns;
	double noise_ns;      /* of speed_ns, as above */
	bool significant;     /* beyond the noise, and at least 1 % of the larger total */
	bool grids;           /* launched with other grids or blocks: see `grids` of the result */
	uint64_t reserved[4]; /* 0 */
};

/*
 * Launches of one kernel with one grid and block that one side alone has, or whose share of the
 * kernel's launches changed by more than a tenth of all.
 */
struct rk_diff_grid {
	size_t kernel;        /* index in kernels */
	char shape[112];      /* "grid 8x8x1 block 64x1x1" */
	uint64_t a, b;        /* launches, of the first run of each side */
	uint64_t reserved[2]; /* 0 */
};

/* Copies by direction, API calls by function, synchronisation by name. */
struct rk_diff_line {
	const char *name;
	uint64_t calls_a, calls_b;
	int64_t bytes_a, bytes_b; /* of copies */
	int64_t a_ns, b_ns, delta_ns;
	uint64_t reserved[4]; /* 0 */
};

struct rk_diff_lines {
	struct rk_diff_line *v; /* by change, largest first */
	size_t n;
};

/* One difference in structure. */
struct rk_diff_finding {
	const char *kind; /* "sequence", "queues", "launches", "grids", "copies", "bytes", "syncs" */
	char *subject;    /* the kernel, direction or queue that it is about */
	uint64_t a, b;    /* launches, bytes, ...; of a sequence: its length */
	uint64_t at;      /* of a sequence: where they part, from 0 */
	char *text;       /* one sentence */
	char *around_a, *around_b; /* of a sequence: what stands there; else "" */
	uint64_t reserved[4];      /* 0 */
};

struct rk_diff_queue {
	uint64_t hash, length; /* of the sequence of kernels with their grids; stable */
	bool a, b;             /* which side has it */
	uint64_t reserved[2];  /* 0 */
};

struct rk_diff_structure {
	bool asked;
	bool equal;
	uint64_t launches_a, launches_b; /* of the first run of each side */
	struct rk_diff_finding *findings;
	size_t nfindings, left_out; /* past RK_DIFF_FINDINGS only counted */
	struct rk_diff_queue *queues;
	size_t nqueues;
	uint64_t reserved[4]; /* 0 */
};

enum { RK_DIFF_FINDINGS = 1000 };

enum rk_diff_verdict {
	RK_DIFF_WITHIN = 0,  /* nothing beyond what was asked */
	RK_DIFF_BEYOND = 3,  /* beyond the gate, or different in structure */
	RK_DIFF_UNKNOWN = 4, /* the data are too incomplete to say */
};

struct rk_diff_side {
	const char *const *labels; /* of its runs */
	size_t runs;
	uint64_t kernels; /* names */
	uint64_t calls, untimed;
	uint64_t copies;
	int64_t bytes;
	uint64_t reserved[4]; /* 0 */
};

struct rk_diff {
	struct rk_diff_side a, b;
	struct rk_diff_whole gpu;  /* sum of the durations of kernels */
	struct rk_diff_whole wall; /* first start to last end of kernels and copies */
	struct rk_diff_whole api;  /* sum of the durations of API calls: no parts but its lines */
	struct rk_diff_whole copy; /* the same of copies */
	struct rk_diff_kernel *kernels; /* by change, largest first */
	size_t nkernels;
	struct rk_diff_grid *grids;
	size_t ngrids;
	struct rk_diff_lines copies, calls;
	/* kernels of each rank ("rank 3"), of runs that have several; `rank` is their sum */
	struct rk_diff_lines ranks;
	struct rk_diff_whole rank;
	struct rk_diff_structure structure;
	bool gated;
	double gate_percent;
	enum rk_diff_verdict verdict;
	char reason[256];          /* one sentence: why this verdict */
	const char *const *doubts; /* what is incomplete about the data, NULL at the end */
	size_t ndoubts;
};

struct rk_diff_options {
	bool gated;
	double gate_percent;  /* growth of GPU time that is still fine; from 0 on */
	bool structure;       /* compare structure: profiles must have been made with it */
	uint64_t reserved[8]; /* 0 */
};

/* na, nb >= 1. Owned by the caller: rk_diff_free. The profiles may be freed before it. */
int rk_diff_make(const struct rk_profile *const *a, size_t na, const struct rk_profile *const *b,
		 size_t nb, const struct rk_diff_options *opt, struct rk_diff **ret,
		 struct rk_error *err);
void rk_diff_free(struct rk_diff *d); /* NULL is fine */

enum rk_diff_format { RK_DIFF_TEXT, RK_DIFF_JSON, RK_DIFF_MARKDOWN };

/* look->format means nothing here. *ret_text is NUL-terminated and freed by rk_text_free. */
int rk_diff_render(const struct rk_diff *d, enum rk_diff_format format,
		   const struct rk_render_options *look, char **ret_text, size_t *ret_len,
		   struct rk_error *err);

RK_END_DECLS

#endif
