/*
 * hotspots.h - which instructions, source lines and stall reasons take the time of each kernel.
 *
 * From samples of the program counter, where weights are samples, and from statistics of thread
 * traces, where they are cycles of latency; a kernel that has both stands there twice.
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
	const char *reason; /* as the tool has it, without its prefix: "WAITCNT" */
	uint64_t samples;
	uint64_t reserved[2]; /* 0 */
};

/*
 * An instruction of a kernel, or all that comes from one source line. Of PC samples instructions
 * with the same text and line are one: their addresses are not recorded.
 */
struct rk_hotspot {
	const char *instruction;         /* NULL: a line */
	const char *source;              /* "file:line", "" when not known */
	int64_t vaddr;                   /* -1: not known */
	uint64_t weight;                 /* samples, or cycles */
	double percent;                  /* of the kernel's weight */
	uint64_t stalled;                /* samples with a stall reason, or cycles */
	struct rk_hotspot_stall *stalls; /* of samples: most first */
	size_t nstalls;
	uint64_t hits, idle;  /* of thread traces: how often it ran; cycles before it could */
	uint64_t reserved[4]; /* 0 */
};

struct rk_hotspot_kernel {
	const char *name; /* "" when not known */
	enum rk_hotspot_from from;
	uint64_t calls; /* in the trace; 0: it is not there */
	int64_t total_ns;
	double percent;                  /* of the weight of all kernels with the same `from` */
	struct rk_hotspot sum;           /* of all; no instruction, no source */
	struct rk_hotspot *instructions; /* by weight, largest first */
	size_t ninstructions;
	struct rk_hotspot *lines; /* likewise; those whose line is known */
	size_t nlines;
	uint64_t reserved[4]; /* 0 */
};

/* A kernel of the trace that no sample hit. */
struct rk_hotspot_silent {
	const char *name;
	uint64_t calls;
	int64_t total_ns;
	uint64_t reserved[2]; /* 0 */
};

/* It keeps what it needs of the run, which may be closed before it is freed. */
struct rk_hotspots {
	struct rk_hotspot_kernel *kernels; /* samples before traces; by weight, largest first */
	size_t nkernels;
	struct rk_hotspot_silent
		*silent; /* by time, largest first; none where there are no samples */
	size_t nsilent;
	uint64_t samples, cycles; /* weight of all */
	const struct rk_warning *warnings;
	size_t nwarnings;
	void *memory[2], *kept; /* the library's own */
};

/* Owned by the caller: rk_hotspots_free. A run without samples and traces gives no kernels. */
int rk_run_hotspots(struct rk_run *run, struct rk_hotspots **ret, struct rk_error *err);
void rk_hotspots_free(struct rk_hotspots *h); /* NULL is fine */

/* look->top: kernels, and instructions and lines of each, in text. Freed by rk_text_free. */
int rk_hotspots_render(const struct rk_hotspots *h, const struct rk_render_options *look,
		       char **ret_text, size_t *ret_len, struct rk_error *err);

RK_END_DECLS

#endif
