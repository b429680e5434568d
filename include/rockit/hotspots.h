/*
 * hotspots.h - which instructions, source lines and stall reasons take the time of each kernel.
 *
 * From samples of the program counter (weights are samples) and from statistics of thread traces
 * (weights are cycles of latency). A kernel with both is listed twice.
 */
#ifndef ROCKIT_HOTSPOTS_H
#define ROCKIT_HOTSPOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"
#include "rockit/warning.h"

RK_BEGIN_DECLS

struct rk_run;

enum rk_hotspot_from { RK_FROM_PC_SAMPLES, RK_FROM_THREAD_TRACE };

struct rk_hotspot_stall {
	const char *reason; /* the tool's name without prefix: "WAITCNT" */
	uint64_t samples;
	uint64_t reserved[2]; /* 0 */
};

/*
 * An instruction of a kernel, or all instructions of one source line. In PC samples, instructions
 * with the same text and line are counted together, because addresses are not recorded.
 */
struct rk_hotspot {
	const char *instruction;         /* NULL: a source line */
	const char *source;              /* "file:line"; "": unknown */
	int64_t vaddr;                   /* -1: unknown */
	uint64_t weight;                 /* samples, or cycles */
	double percent;                  /* of the kernel's weight */
	uint64_t stalled;                /* samples with a stall reason, or cycles */
	struct rk_hotspot_stall *stalls; /* for PC samples: most frequent first */
	size_t nstalls;
	uint64_t hits, idle;  /* for thread traces: how often it ran; idle cycles before it */
	uint64_t reserved[4]; /* 0 */
};

struct rk_hotspot_kernel {
	const char *name; /* "": unknown */
	enum rk_hotspot_from from;
	uint64_t calls; /* in the kernels table; 0: not there */
	int64_t total_ns;
	double percent;                  /* of the weight of all kernels with the same `from` */
	struct rk_hotspot sum;           /* of all instructions; without instruction and source */
	struct rk_hotspot *instructions; /* sorted by weight, largest first */
	size_t ninstructions;
	struct rk_hotspot *lines; /* sorted by weight, largest first; only known lines */
	size_t nlines;
	uint64_t reserved[4]; /* 0 */
};

/* A kernel that ran but has no samples. */
struct rk_hotspot_silent {
	const char *name;
	uint64_t calls;
	int64_t total_ns;
	uint64_t reserved[2]; /* 0 */
};

/* Independent of the run, which may be closed first. */
struct rk_hotspots {
	struct rk_hotspot_kernel *kernels; /* samples before traces; by weight, largest first */
	size_t nkernels;
	struct rk_hotspot_silent
		*silent; /* by time, largest first; empty if there are no samples at all */
	size_t nsilent;
	uint64_t samples, cycles; /* total weight */
	const struct rk_warning *warnings;
	size_t nwarnings;
	void *memory[2], *kept; /* private */
};

/* The caller frees *ret with rk_hotspots_free. Without samples and thread traces there are no kernels. */
int rk_run_hotspots(struct rk_run *run, struct rk_hotspots **ret, struct rk_error *err);
void rk_hotspots_free(struct rk_hotspots *h); /* NULL is fine */

/* look->top limits kernels, and instructions and lines of each, in text. Free with rk_text_free. */
int rk_hotspots_render(const struct rk_hotspots *h, const struct rk_render_options *look,
		       char **ret_text, size_t *ret_len, struct rk_error *err);

RK_END_DECLS

#endif
