/* legacy.h - what rocprof and rocprofv2 have in common: shell scripts without `--`. */
#ifndef RK_LEGACY_H
#define RK_LEGACY_H

#include "tool/tool_impl.h"

/* What cannot be told to such a script at all: RK_E_USAGE. */
int rk_legacy_check(const char *tool, const struct rk_want *want, struct rk_error *err);
/* -i with a file of one `pmc:` line, and a `kernel:` line where the filter is plain text. */
void rk_legacy_counters(const char *tool, const struct rk_want *want, struct rk_tool_command *c);

#endif
