/* stats_kind.h - what a statistics file describes, from the names in it. */
#ifndef RK_STATS_KIND_H
#define RK_STATS_KIND_H

#include <stddef.h>

/*
 * "kernel", "api", "copy", "domain", "marker", "memory" by the first rows in `text` (each begins
 * with a name); what the names leave open, the file's name decides. A static string.
 */
const char *rk_stats_kind(const char *text, size_t len, const char *path);

#endif
