/* detect.h - which profilers are installed, where, and of which release. */
#ifndef RK_DETECT_H
#define RK_DETECT_H

#include "rockit/tools.h"

#include "tool/version.h"

/*
 * Looks for every program that rk_tools and the doctor know in PATH, $ROCM_PATH, /opt/rocm* and
 * the site-packages of ROCm wheels, each only once by its real path. No process is started:
 * versions come from files beside the program (see detect.c). Nothing found is not an error.
 */
struct rk_detect_options {
	const char *root; /* prefix of the absolute places to look in, for tests; NULL or "" */
	const char *path; /* instead of $PATH; NULL: $PATH */
};

int rk_detect(const struct rk_detect_options *opt, struct rk_tools_found *ret,
	      struct rk_error *err);
/* The best program for `tool` (an rk_tool_ops name) among `found`; NULL when there is none. */
const struct rk_tool_found *rk_detect_best(const struct rk_tools_found *found, const char *tool);

#endif
