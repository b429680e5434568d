/*
 * ranks.h - a job of several ranks: their clocks, load, collectives and copies.
 *
 * A report of rows with more than one rank holds one of these (report.h). Times of ranks on different
 * nodes are compared only where their clocks could be related, and then within the error that is
 * stated; everything about a single rank stands without that.
 */
#ifndef ROCKIT_RANKS_H
#define ROCKIT_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

/* How the clock of a rank relates to that of the reference. */
enum rk_ranks_clock {
	RK_CLOCK_SAME,    /* the reference itself, or another rank of its node */
	RK_CLOCK_ALIGNED, /* offset, drift and error hold something */
	RK_CLOCK_ALONE,   /* not alignable: `clock_note` says why */
};

/* One rank. Times in ns on its own clock; -1 and "" where something is not known. */
struct rk_ranks_rank {
	int64_t rank, local_rank;
	const char *node;
	const char *tool, *tool_version; /* that recorded it */
	const char *state;               /* of its run.json: "done", "running", "stopped" */
	int64_t status;                  /* exit status of its program, -1 unknown */
	uint64_t kernels;                /* barriers left out, here and below */
	int64_t kernel_ns;               /* sum of their durations */
	int64_t first_ns, last_ns;       /* first start, last end */
	/* Unions over all its devices' kernels: each instant counts once. */
	int64_t compute_ns; /* some kernel that computes is running */
	int64_t comm_ns;    /* some kernel that communicates is running */
	int64_t both_ns;    /* both at once: communication that is hidden */
	int64_t idle_ns;    /* neither, between first_ns and last_ns */
	/* Collectives that could be matched with other ranks'. */
	uint64_t collectives;
	uint64_t last;     /* in how many it was the last to come */
	int64_t wait_ns;   /* it waited for others to come, sum */
	int64_t caused_ns; /* others waited for it, sum over them, where it was the last */
	enum rk_ranks_clock clock;
	int64_t offset_ns; /* its clock minus the reference's, at base_ns of rk_ranks */
	double drift_ppm;
	int64_t error_ns;       /* the largest that offset and drift may be wrong by */
	const char *clock_by;   /* "node", "collectives", "snapshots", "messages", joined by ", " */
	const char *clock_note; /* one sentence without a full stop, or "" */
	uint64_t reserved[8];   /* 0 */
};

/* All matched instances of one operation (name, and ranks that take part). */
struct rk_ranks_collective {
	const char *name;   /* "AllReduce", as in the API, with what the kernel's name adds to it */
	uint64_t calls;     /* instances that were matched on all ranks that took part */
	uint64_t unmatched; /* calls of single ranks that were not */
	uint64_t ranks;     /* that took part, most often */
	bool inter_node;    /* some instance has ranks of several nodes */
	int64_t total_ns;   /* from the first to come to the last to leave, sum over instances */
	int64_t late_ns;    /* of it: until the last had come */
	int64_t wire_ns;    /* of it: from there on */
	int64_t wait_ns;    /* ranks' time spent waiting for the last, sum over ranks */
	double wire_median_ns, wire_max_ns;
	int64_t straggler;        /* the rank that was last most often, -1 none */
	uint64_t straggler_calls; /* in how many */
	int64_t error_ns;         /* of the clocks that were compared, the largest */
	const char *verdict;      /* "late", "wire" or "even"; one word, static */
	uint64_t reserved[8];     /* 0 */
};

/* A kernel whose time differs between ranks. */
struct rk_ranks_spread {
	const char *name;
	uint64_t ranks;         /* that ran it */
	int64_t min_ns, max_ns; /* total of a rank */
	int64_t min_rank, max_rank;
	double mean_ns;
	double imbalance;     /* max / mean - 1 */
	uint64_t reserved[4]; /* 0 */
};

/* Copies from one place to another. */
struct rk_ranks_copy {
	const char *node; /* of the rank that copied; "" not known */
	const char *direction;
	int64_t src, dst; /* device numbers; -1: host or not known */
	uint64_t calls;
	int64_t bytes;        /* -1: the source does not say */
	int64_t time_ns;      /* sum of durations */
	double gb_per_s;      /* NaN: not known */
	uint64_t reserved[4]; /* 0 */
};

/* What is wrong with the parts of the job; the rest stands. */
struct rk_ranks_problem {
	const char *
		kind; /* "missing", "duplicate", "other-job", "empty", "broken", "versions", "nodes",
			     "clock"; static */
	int64_t rank;         /* the first it is about, -1: none in particular */
	uint64_t count;       /* of ranks */
	const char *text;     /* one sentence without a full stop */
	uint64_t reserved[4]; /* 0 */
};

struct rk_ranks {
	uint64_t size;               /* of the job as the launcher said it, 0 unknown */
	size_t nodes;                /* by name, that have ranks here; 0: no name is known */
	const char *job;             /* "" not known */
	int64_t reference;           /* the rank whose clock is compared with, -1 none */
	int64_t base_ns;             /* on its clock */
	struct rk_ranks_rank *ranks; /* by rank */
	size_t nranks;
	struct rk_ranks_collective *collectives; /* by wait_ns, largest first */
	size_t ncollectives;
	struct rk_ranks_spread *spreads; /* by max - mean, largest first */
	size_t nspreads;
	struct rk_ranks_copy *copies; /* by node, src, dst, direction */
	size_t ncopies;
	struct rk_ranks_problem *problems;
	size_t nproblems;
	/* communication of all ranks: sums over ranks */
	int64_t intra_ns, inter_ns; /* matched collectives within a node, and over several */
	/* busiest rank / mean - 1, of compute_ns; NaN with no kernels */
	double imbalance;
};

/* Without the rest of the report; CSV has a row for each rank. Freed by rk_text_free. */
int rk_ranks_render(const struct rk_ranks *k, const struct rk_render_options *look, char **ret_text,
		    size_t *ret_len, struct rk_error *err);

RK_END_DECLS

#endif
