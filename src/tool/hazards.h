/* hazards.h - what is known to go wrong with a tool, a release or a chip. */
#ifndef RK_HAZARDS_H
#define RK_HAZARDS_H

#include <stddef.h>

#include "tool/version.h"

/* Static. The text says what happens and what to do, in one line. */
struct rk_hazard {
	const char *tool;              /* "rocprofv3", ... */
	struct rk_version from, until; /* ROCm releases [from, until); zero: open */
	const char *arch;              /* what the gfx target begins with; "" for all */
	const char *text;
};

/*
 * The next hazard that applies at or after *at (start with 0, which is moved on), NULL at the end.
 * An unknown release meets only what is still open, an unknown or empty `arch` only what holds
 * for all chips.
 */
const struct rk_hazard *rk_hazards_next(const char *tool, struct rk_version v, const char *arch,
					size_t *at);

#endif
