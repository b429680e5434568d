/*
 * ranks.h - a job of several ranks: their clocks, load, collectives and copies.
 *
 * A report on several ranks includes one of these (report.h). Times of ranks on different nodes are
 * compared only if their clocks could be aligned, and then within the stated error. Numbers of a
 * single rank do not depend on the alignment.
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

/* The clock of a rank, compared with that of the reference. */
enum rk_ranks_clock {
	RK_CLOCK_SAME,    /* the reference itself, or another rank of its node */
	RK_CLOCK_ALIGNED, /* offset, drift and error are valid */
	RK_CLOCK_ALONE,   /* not alignable: `clock_note` says why */
};

/* One rank. Times in ns on its own clock; -1 and "" mean unknown. */
struct rk_ranks_rank {
	int64_t rank, local_rank;
	const char *node;
	const char *tool, *tool_version; /* the profiler */
	const char *state;               /* in its run.json: "done", "running", "stopped" */
	int64_t status;                  /* exit status of its program; -1: unknown */
	uint64_t kernels;                /* without barriers, here and below */
	int64_t kernel_ns;               /* sum of their durations */
	int64_t first_ns, last_ns;       /* first start, last end */
	/* Unions over all its devices' kernels: each instant counts once. */
	int64_t compute_ns; /* a compute kernel is running */
	int64_t comm_ns;    /* a kernel that communicates is running */
	int64_t both_ns;    /* both at once: hidden communication */
	int64_t idle_ns;    /* neither, between first_ns and last_ns */
	/* Collectives that could be matched with those of other ranks. */
	uint64_t collectives;
	uint64_t last;     /* how often it was the last to arrive */
	int64_t wait_ns;   /* total time it waited for others */
	int64_t caused_ns; /* total time that others waited for it when it was last */
	enum rk_ranks_clock clock;
	int64_t offset_ns; /* its clock minus the reference's, at base_ns of rk_ranks */
	double drift_ppm;
	int64_t error_ns;       /* largest error of offset and drift */
	const char *clock_by;   /* "node", "collectives", "snapshots", "messages", joined by ", " */
	const char *clock_note; /* one sentence without a full stop, or "" */
	uint64_t reserved[8];   /* 0 */
};

/* All matched instances of one operation (name and participating ranks). */
struct rk_ranks_collective {
	const char *name;   /* "AllReduce", as in the API, with details from the kernel name */
	uint64_t calls;     /* instances matched on all participating ranks */
	uint64_t unmatched; /* calls of single ranks that were not matched */
	uint64_t ranks;     /* the usual number of participating ranks */
	bool inter_node;    /* at least one instance has ranks of several nodes */
	int64_t total_ns;   /* from the first arrival to the last end, sum over instances */
	int64_t late_ns;    /* the part before the last arrival */
	int64_t wire_ns;    /* the part after it */
	int64_t wait_ns;    /* time spent waiting for the last rank, summed over ranks */
	double wire_median_ns, wire_max_ns;
	int64_t straggler;        /* the rank that was last most often; -1: none */
	uint64_t straggler_calls; /* how often that was */
	int64_t error_ns;         /* largest error of the compared clocks */
	const char *verdict;      /* "late", "wire" or "even"; one word, static */
	uint64_t reserved[8];     /* 0 */
};

/* A kernel whose time differs between ranks. */
struct rk_ranks_spread {
	const char *name;
	uint64_t ranks;         /* number of ranks that ran it */
	int64_t min_ns, max_ns; /* total time per rank */
	int64_t min_rank, max_rank;
	double mean_ns;
	double imbalance;     /* max / mean - 1 */
	uint64_t reserved[4]; /* 0 */
};

/* Copies from one place to another. */
struct rk_ranks_copy {
	const char *node; /* node of the rank that copied; "": unknown */
	const char *direction;
	int64_t src, dst; /* device numbers; -1: host or unknown */
	uint64_t calls;
	int64_t bytes;        /* -1: unknown */
	int64_t time_ns;      /* sum of durations */
	double gb_per_s;      /* NaN: unknown */
	uint64_t reserved[4]; /* 0 */
};

/* A problem with a part of the job; the other parts are reported. */
struct rk_ranks_problem {
	const char *
		kind; /* "missing", "duplicate", "other-job", "empty", "broken", "versions", "nodes",
			     "clock"; static */
	int64_t rank;         /* the first affected rank; -1: none in particular */
	uint64_t count;       /* number of ranks */
	const char *text;     /* one sentence without a full stop */
	uint64_t reserved[4]; /* 0 */
};

struct rk_ranks {
	uint64_t size;     /* number of ranks according to the launcher; 0: unknown */
	size_t nodes;      /* number of nodes with ranks here, by name; 0: no names known */
	const char *job;   /* "": unknown */
	int64_t reference; /* the rank whose clock is the reference; -1: none */
	int64_t base_ns;   /* on the reference's clock */
	struct rk_ranks_rank *ranks; /* sorted by rank */
	size_t nranks;
	struct rk_ranks_collective *collectives; /* sorted by wait_ns, largest first */
	size_t ncollectives;
	struct rk_ranks_spread *spreads; /* sorted by max - mean, largest first */
	size_t nspreads;
	struct rk_ranks_copy *copies; /* sorted by node, src, dst, direction */
	size_t ncopies;
	struct rk_ranks_problem *problems;
	size_t nproblems;
	/* communication of all ranks: sums over ranks */
	int64_t intra_ns, inter_ns; /* matched collectives within a node, and across nodes */
	/* compute_ns of the busiest rank / mean - 1; NaN if there are no kernels */
	double imbalance;
};

/*
 * Renders only the ranks, without the rest of the report; CSV has one row per rank. Free with
 * rk_text_free.
 */
int rk_ranks_render(const struct rk_ranks *k, const struct rk_render_options *look, char **ret_text,
		    size_t *ret_len, struct rk_error *err);

RK_END_DECLS

#endif
