/*
 * paths.h - paths of files in packages: a map from path to number, patterns, the order in wheels.
 */
#ifndef RK_PATHS_H
#define RK_PATHS_H

#include "base/error.h"
#include "base/map.h"

/* From a path to a number. Zero it before use. Paths are borrowed and must outlive the map. */
struct rk_path_map {
	struct rk_index index; /* holds positions in v */
	struct rk_path_value {
		const char *path;
		size_t len, value;
	} * v;
	size_t n, cap;
};

enum { RK_PATH_NONE = -1 };

/* The number of a path, or RK_PATH_NONE. `path` need not end with NUL. */
ptrdiff_t rk_path_map_find(const struct rk_path_map *m, const char *path, size_t len);
/* Adds a path, or changes the number of an existing one. */
int rk_path_map_put(struct rk_path_map *m, const char *path, size_t value, struct rk_error *err);
void rk_path_map_release(struct rk_path_map *m);

/* ** is any number of folders, also none, * and ? stay inside one; "x/ **" (no blank) is x and all below. */
bool rk_pack_glob(const char *pattern, const char *path);
/* Does any pattern of a NULL-terminated list match? */
bool rk_pack_glob_any(const char *const *patterns, const char *path);

/* Wheel order: files of a folder by name, then its folders. `a_dir`, `b_dir`: it is a folder. */
int rk_pack_order(const char *a, bool a_dir, const char *b, bool b_dir);

#endif
