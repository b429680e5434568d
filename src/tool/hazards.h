/*
 * hazards.h - known faults of profilers, from data/tools/hazards.json: which of them concern a tool,
 * a release, a chip, and what is to be done with it.
 */
#ifndef RK_HAZARDS_H
#define RK_HAZARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tool/version.h"

/* What is the case beside what is requested; beside enum rk_ask in one word of bits. */
enum rk_case {
	RK_CASE_PYTHON = 1u << 16, /* the program is Python, perhaps with torch */
	RK_CASE_JOB = 1u << 17,    /* it has several ranks */
	RK_CASE_TORCH = 1u << 18,  /* the process to attach to has loaded torch */
	RK_CASE_WSL = 1u << 19,    /* under Windows */
};

/* Everything is borrowed. */
struct rk_hazard_case {
	const char *tool; /* "rocprofv3", ... */
	/* An unknown release has only faults that are still open. */
	struct rk_version version;
	const char *arch;   /* unknown, NULL or "": only faults of all chips */
	bool any;           /* whatever may be requested: traces and asks are ignored */
	unsigned traces;    /* RK_TRACE_ bits */
	unsigned asks;      /* RK_ASK_ and RK_CASE_ bits */
	const char *driver; /* version of amdgpu; NULL or "": unknown, counts as too old */
	uint64_t firmware;  /* of the command processor; 0: unknown, counts as new enough */
};

struct rk_hazard {
	char *text;   /* what happens and what to do, in one line */
	bool special; /* of certain releases, chips or machines, not of the tool as such */
};

struct rk_hazards {
	struct rk_hazard *v;
	size_t n, cap;
};

/* Those that apply, in the order of the file. *ret is zeroed by the caller. Fails out of memory. */
int rk_hazards_find(const struct rk_hazard_case *c, struct rk_hazards *ret, struct rk_error *err);
void rk_hazards_release(struct rk_hazards *h); /* and zeroes it */

#endif
