/* tool_impl.h - what the tools' files share: notes, the counter file, the end of a command. */
#ifndef RK_TOOL_IMPL_H
#define RK_TOOL_IMPL_H

#include "tool/tool.h"

extern const struct rk_tool_ops rk_tool_rocprofv3, rk_tool_rocprofv2, rk_tool_rocprof,
	rk_tool_rocprof_compute, rk_tool_rocprof_sys, rk_tool_opencl, rk_tool_cupti, rk_tool_rocm;

bool rk_tool_wants_counters(const struct rk_want *want);
bool rk_tool_arch_is(const struct rk_want *want, const char *prefix); /* "gfx94": gfx940.. */
/* Notes that the traces of `bits` are missing; nothing for 0. `why` ends the sentence. */
void rk_tool_no_traces(struct rk_tool_command *c, unsigned bits, const char *why);

/* <dir>/counters.txt with one line of counters, followed by `more` (other lines, may be ""). */
void rk_tool_counter_file(struct rk_tool_command *c, const struct rk_want *want, const char *more);

/* Without special characters of regular expressions: usable by tools that match substrings. */
bool rk_tool_is_plain(const char *regex);

/* want->dir; with a launcher the rank's folder below it, with keys that ROCm's tools expand. */
void rk_tool_put_rank_dir(struct rk_tool_command *c, const struct rk_want *want);

/*
 * --tool-args, `separator` ("--", or NULL if the tool has none) and the program. Releases *c and
 * fails when out of memory.
 */
int rk_tool_finish(struct rk_tool_command *c, const struct rk_want *want, const char *separator,
		   struct rk_error *err);
/* Only the last part of it: the check for memory. */
int rk_tool_end(struct rk_tool_command *c, struct rk_error *err);

#endif
