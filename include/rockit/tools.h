/* tools.h - profilers that are installed. */
#ifndef ROCKIT_TOOLS_H
#define ROCKIT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

/* One program. Strings are owned by the list; "" when not known. */
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

struct rk_tools_options {
	const char *root;     /* put before the places to look in, for tests; NULL or "" */
	const char *path;     /* instead of $PATH; NULL: $PATH */
	uint64_t reserved[8]; /* 0 */
};

/*
 * Looks in PATH, $ROCM_PATH, /opt/rocm* and the site-packages of ROCm wheels; starts no process.
 * Finding nothing is not an error. `opt` may be NULL.
 */
int rk_tools_find(const struct rk_tools_options *opt, struct rk_tools_found *ret,
		  struct rk_error *err);
/* The program that --tool NAME would run, "rocprof-compute" by its old name, too; NULL: none. */
const struct rk_tool_found *rk_tools_best(const struct rk_tools_found *t, const char *tool);
/* As text, JSON or CSV; *ret_text is NUL-terminated and freed by rk_text_free. */
int rk_tools_render(const struct rk_tools_found *t, enum rk_report_format format, char **ret_text,
		    size_t *ret_len, struct rk_error *err);
void rk_tools_release(struct rk_tools_found *t); /* NULL is fine */

/* The i-th word for `tool` of a session: "auto", then the profilers. NULL past the last. */
const char *rk_tool_word(size_t i);

RK_END_DECLS

#endif
