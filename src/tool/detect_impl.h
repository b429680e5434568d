/* detect_impl.h - the parts of detect.c: where to look, and versions from files. */
#ifndef RK_DETECT_IMPL_H
#define RK_DETECT_IMPL_H

#include <limits.h>

#include "base/list.h"
#include "tool/version.h"

/* Directories of programs and what each is called, two lists of one length. */
struct rk_places {
	struct rk_list dirs, labels;
};

/* `root` is put before the absolute places, `path` is split at colons. */
void rk_places_find(struct rk_places *p, const char *root, const char *path);
void rk_places_release(struct rk_places *p);

/* False, and ret "", when it does not fit. */
bool rk_path_put(char ret[PATH_MAX], const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Names below `dir` that begin with `prefix`, the highest version first. */
void rk_names_below(const char *dir, const char *prefix, struct rk_list *ret);

enum { RK_VERSION_TEXT = 32 };
struct rk_found_version {
	char own[RK_VERSION_TEXT], rocm[RK_VERSION_TEXT]; /* "" when not known */
	bool bad;                                         /* memory ran out on the way */
};
/* What files beside the program say; `real` is `dir`/`name` with all links followed. */
void rk_version_beside(const char *name, const char *dir, const char *real,
		       struct rk_found_version *ret);
/* One line about what `name` of release `rocm` (as text) has and lacks; "" for helpers. */
enum { RK_OPTIONS_TEXT = 160 };
void rk_options_of(const char *name, const char *rocm, char ret[RK_OPTIONS_TEXT]);

#endif
