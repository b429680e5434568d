/* tag.h - which glibc files want and platform tags promise, and the tag of a plan. */
#ifndef RK_PACK_TAG_H
#define RK_PACK_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct rk_glibc {
	unsigned major, minor;
};

bool rk_glibc_of(const char *version, struct rk_glibc *ret); /* of "GLIBC_2.34" */
bool rk_glibc_newer(struct rk_glibc a, struct rk_glibc b);
/* What a manylinux tag promises to need at most; false for other tags. */
bool rk_glibc_promised(const char *tag, struct rk_glibc *ret);

/* A machine as tags name it, "x86_64"; NULL: one that packages are not made for. */
const char *rk_machine_word(uint16_t machine);

struct rk_pack_plan;
/*
 * The tag of the wheels: as asked, when it has the form of one and no file wants a newer glibc than it
 * promises, else linux_MACHINE.
 */
int rk_pack_tag(struct rk_pack_plan *p, const char *asked, const char **ret, struct rk_error *err);

#endif
