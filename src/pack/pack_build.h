/* pack_build.h - a plan carried out: the members of each package, and the files themselves. */
#ifndef RK_PACK_BUILD_H
#define RK_PACK_BUILD_H

#include "base/pool.h"
#include "pack/pack_plan.h"
#include "pack/wheel/meta.h"

enum { RK_PACK_EPOCH = 315532800 }; /* 1980-01-01: zip knows no time before */

/* A file of a wheel or an sdist. */
struct rk_pack_member {
	const char *path; /* in the archive */
	const struct rk_content *content;
	uint32_t mode;
	const struct rk_pack_item *item; /* NULL: made */
};

struct rk_pack_members {
	struct rk_pack_member *v; /* the plan's memory */
	size_t n, cap;
};

/* Where the package goes, below the destination: "dist/x.whl". */
int rk_pack_target(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		   const char **ret, struct rk_error *err);

/*
 * Everything in the archive in its order: the platform tree (files of a folder by name, then its
 * folders), the Python package, the metadata. Not here: RECORD and devel's inner archive, which are
 * known last.
 */
int rk_pack_members(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		    struct rk_pack_members *ret, struct rk_error *err);

/* All packages of the plan, each whole when it is ready. */
int rk_pack_build_all(struct rk_pack_plan *p, const struct rk_pack_options *o, const char *tag,
		      struct rk_error *err);

#endif
