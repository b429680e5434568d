/* hive.h - values in the names of folders, as Hive writes them: node=N/rank=R. */
#ifndef RK_HIVE_H
#define RK_HIVE_H

#include "base/bytes.h"
#include "table/source.h"

/* What Hive, and all who read its folders, call a value that is null. */
#define RK_HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

/* The value of a Hive folder: letters, digits and "._-" as they are, else %XX. */
void rk_hive_put(struct rk_bytes *out, const char *value, size_t len);
/* The name behind "node=" in a path as an id; 0 without. */
int rk_hive_node(struct rk_context *ctx, const char *path, uint32_t *ret, struct rk_error *err);

#endif
