/* pack_build.h - carry out a plan: list the members of each package and write the packages. */
#ifndef RK_PACK_BUILD_H
#define RK_PACK_BUILD_H

#include "base/pool.h"
#include "pack/pack_plan.h"
#include "pack/wheel/meta.h"

enum { RK_PACK_EPOCH = 315532800 }; /* 1980-01-01, the earliest time zip can store */

/* A file of a wheel or an sdist. */
struct rk_pack_member {
	const char *path; /* path in the archive */
	const struct rk_content *content;
	uint32_t mode;
	const struct rk_pack_item *item; /* NULL: generated */
};

struct rk_pack_members {
	struct rk_pack_member *v; /* owned by the plan */
	size_t n, cap;
};

/* The package's path below the destination: "dist/x.whl". */
int rk_pack_target(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		   const char **ret, struct rk_error *err);

/*
 * All members of the archive in order: the platform tree (files of a folder by name, then its
 * folders), the Python package, the metadata. RECORD and devel's inner archive are not in the list,
 * because they are only known at the end.
 */
int rk_pack_members(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		    struct rk_pack_members *ret, struct rk_error *err);

/* Writes all packages of the plan. Each file appears only when it is complete. */
int rk_pack_build_all(struct rk_pack_plan *p, const struct rk_pack_options *o, const char *tag,
		      struct rk_error *err);

#endif
