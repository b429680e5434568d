/* path_map.h - from a path to a number. */
#ifndef RK_PATH_MAP_H
#define RK_PATH_MAP_H

#include <stddef.h>

#include "base/error.h"

/* Zero it before use. Paths are borrowed and must outlive the map. */
struct rk_path_map {
	struct rk_path_slot *slots;
	size_t n, cap; /* cap: 0 or a power of two */
};

enum { RK_PATH_NONE = -1 };

/* The number of a path, or RK_PATH_NONE. `path` need not end with NUL. */
ptrdiff_t rk_path_map_find(const struct rk_path_map *m, const char *path, size_t len);
/* A path that is not there yet, or another number for one that is. */
int rk_path_map_put(struct rk_path_map *m, const char *path, size_t value, struct rk_error *err);
void rk_path_map_release(struct rk_path_map *m);

#endif
