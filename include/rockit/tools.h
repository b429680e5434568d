/* tools.h - profilers that are installed. */
#ifndef ROCKIT_TOOLS_H
#define ROCKIT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"

RK_BEGIN_DECLS

/* One program. Strings are owned by the list it stands in; "" when not known. */
struct rk_tool_found {
	const char *name;    /* "rocprofv3", "rocprof-compute", "rocm-smi", "nsys", ... */
	const char *path;    /* as it would be run */
	const char *version; /* its own: "1.0.0" */
	const char *rocm;    /* the ROCm release it belongs to: "7.0.2" */
	const char *place; /* "PATH", "ROCM_PATH", "/opt/rocm-6.4.1", "wheel rocm-sdk-core 7.0.0" */
	const char *options;  /* what this version has and lacks, in one line; "" for helpers */
	bool first;           /* the one that would be used, of several of that name */
	bool usable;          /* executable by this user */
	uint64_t reserved[4]; /* 0 */
};

struct rk_tools_found {
	struct rk_tool_found *tools; /* in the order of the names, the one to use first */
	size_t n;
	uint64_t reserved[2]; /* 0 */
};

void rk_tools_release(struct rk_tools_found *t);

/* The i-th word for `tool` of a session: "auto", then the profilers. NULL past the last. */
const char *rk_tool_word(size_t i);

RK_END_DECLS

#endif
