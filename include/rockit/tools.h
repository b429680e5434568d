/* tools.h - find installed profilers. */
#ifndef ROCKIT_TOOLS_H
#define ROCKIT_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

/* One program. The list owns the strings; unknown ones are "". */
struct rk_tool_found {
	const char *name;    /* "rocprofv3", "rocprof-compute", "rocm-smi", "nsys", ... */
	const char *path;    /* path to run it */
	const char *version; /* its own version: "1.0.0" */
	const char *rocm;    /* the ROCm release it belongs to: "7.0.2" */
	const char *place; /* "PATH", "ROCM_PATH", "/opt/rocm-6.4.1", "wheel rocm-sdk-core 7.0.0" */
	const char *options;  /* what this version has and lacks, in one line; "" for helpers */
	bool first;           /* the one that would be used if there are several with that name */
	bool usable;          /* executable by this user */
	uint64_t reserved[4]; /* 0 */
};

struct rk_tools_found {
	struct rk_tool_found *tools; /* sorted by name, the one to use first */
	size_t n;
	uint64_t reserved[2]; /* 0 */
};

struct rk_tools_options {
	const char *root;     /* for tests: prefix of the places to search; NULL or "" */
	const char *path;     /* replaces $PATH; NULL: $PATH */
	uint64_t reserved[8]; /* 0 */
};

/*
 * Searches PATH, $ROCM_PATH, /opt/rocm* and the site-packages of ROCm wheels; starts no process.
 * Finding nothing is not an error. `opt` may be NULL.
 */
int rk_tools_find(const struct rk_tools_options *opt, struct rk_tools_found *ret,
		  struct rk_error *err);
/*
 * The program that --tool NAME would run; also finds "rocprof-compute" under its old name. NULL:
 * none.
 */
const struct rk_tool_found *rk_tools_best(const struct rk_tools_found *t, const char *tool);
/* Renders text, JSON or CSV; *ret_text is NUL-terminated; free it with rk_text_free. */
int rk_tools_render(const struct rk_tools_found *t, enum rk_report_format format, char **ret_text,
		    size_t *ret_len, struct rk_error *err);
void rk_tools_release(struct rk_tools_found *t); /* NULL is fine */

/* The i-th value for `tool` of a session: "auto", then the profilers. NULL past the last. */
const char *rk_tool_word(size_t i);

RK_END_DECLS

#endif
