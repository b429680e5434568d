/* version.h - releases of ROCm and of its profilers. */
#ifndef RK_VERSION_H
#define RK_VERSION_H

#include <stdbool.h>

/* A ROCm release: 7.0.2 is { 7, 0, 2 }. All zero: not known, treated as the newest. */
struct rk_version {
	int major, minor, patch;
};

/* The newest release whose options and faults we know. */
#define RK_ROCM_NEWEST ((struct rk_version){ 10, 1, 0 })

/* "7.0.2", "7.13", "rocm-6.2.1-66" (what follows the digits is dropped); false: not a version. */
bool rk_version_parse(const char *text, struct rk_version *ret);
/*
 * The ROCm release that goes with `text`, a version of `tool`: rocprofiler-sdk's own numbers
 * (0.4.0 is 6.2, 1.0.0 is 7.0), rocprof-compute's and rocprofiler-systems' too; a ROCm release
 * stays what it is.
 */
bool rk_version_of_tool(const char *tool, const char *text, struct rk_version *ret);
/*
 * `text`, a version of `tool` or a ROCm release, came out after this rockit: it is called with the
 * options of RK_ROCM_NEWEST. A patch release of ROCm does not count as newer.
 */
bool rk_version_newer(const char *tool, const char *text);
int rk_version_compare(struct rk_version a, struct rk_version b);
/* v is major.minor or later; an unknown version is. */
bool rk_version_since(struct rk_version v, int major, int minor);
bool rk_version_before(struct rk_version v, int major, int minor); /* the opposite */
bool rk_version_known(struct rk_version v);

#endif
