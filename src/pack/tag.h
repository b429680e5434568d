/* tag.h - which glibc files need, which glibc platform tags promise, and the tag of a plan. */
#ifndef RK_PACK_TAG_H
#define RK_PACK_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct rk_glibc {
	unsigned major, minor;
};

bool rk_glibc_of(const char *version, struct rk_glibc *ret); /* parses "GLIBC_2.34" */
bool rk_glibc_newer(struct rk_glibc a, struct rk_glibc b);
/* The newest glibc that a manylinux tag allows; false for other tags. */
bool rk_glibc_promised(const char *tag, struct rk_glibc *ret);

/* The machine's name in tags, "x86_64"; NULL: not supported. */
const char *rk_machine_word(uint16_t machine);

struct rk_pack_plan;
/*
 * The tag of the wheels: the requested one, or linux_MACHINE if none was requested ("any" without
 * ELF files). An invalid tag, or one that promises an older glibc than a file needs, is an error.
 */
int rk_pack_tag(struct rk_pack_plan *p, const char *asked, const char **ret, struct rk_error *err);

#endif
