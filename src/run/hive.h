/* hive.h - values in the names of folders, as Hive writes them: node=N/rank=R. */
#ifndef RK_HIVE_H
#define RK_HIVE_H

#include "base/bytes.h"
#include "table/source.h"

/* The folder name that Hive and its readers use for null. */
#define RK_HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

/* The value of a Hive folder: letters, digits and "._-" as they are, else %XX. */
void rk_hive_put(struct rk_bytes *out, const char *value, size_t len);
/* The id of the name after "node=" in a path; 0 if there is none. */
int rk_hive_node(struct rk_context *ctx, const char *path, uint32_t *ret, struct rk_error *err);

#endif
