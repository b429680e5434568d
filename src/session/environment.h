/* environment.h - what a pass's program finds in its environment. */
#ifndef RK_ENVIRONMENT_H
#define RK_ENVIRONMENT_H

#include <stdbool.h>

#include "base/list.h"

/* Variables of an earlier profiler that would leak into this one: ROCPROF_*. */
bool rk_env_leaks(const char *entry);

/*
 * `set` over `base`, into *ret: ROCPROF_* entries of base are left out; lists of libraries and
 * paths (LD_PRELOAD, LD_LIBRARY_PATH, ...) are appended to; ROCKIT_* are ours to set; any other
 * variable that base has already keeps its value.
 */
void rk_env_make(char *const *base, const struct rk_list *set, struct rk_list *ret);

/* Names of the variables in `set` that keep another value, that of `base`; once each. */
void rk_env_kept(char *const *base, const struct rk_list *set, struct rk_list *ret);

#endif
