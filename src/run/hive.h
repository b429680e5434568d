/* hive.h - values in folder names, in Hive's format: node=N/rank=R. */
#ifndef RK_HIVE_H
#define RK_HIVE_H

#include "base/bytes.h"
#include "table/source.h"

/* The folder name that Hive and its readers use for null. */
#define RK_HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

/* Appends a value for a folder name: letters, digits and "._-" unchanged, others as %XX. */
void rk_hive_put(struct rk_bytes *out, const char *value, size_t len);
/* The name id of the value after "node=" in a path; 0 if there is none. */
int rk_hive_node(struct rk_context *ctx, const char *path, uint32_t *ret, struct rk_error *err);

#endif
