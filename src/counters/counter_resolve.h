/* counter_resolve.h - what to collect on a target for a requested counter. */
#ifndef RK_COUNTER_RESOLVE_H
#define RK_COUNTER_RESOLVE_H

#include "base/list.h"
#include "counters/counter_table.h"

/* A name as it may be written: NAME, NAME[3], NAME:device=0, or both. */
struct rk_counter_word {
	struct rk_piece name, suffix;
	bool instance; /* the suffix picks one instance */
};

struct rk_counter_word rk_counter_word_of(const char *text);

/* The result for one name. */
struct rk_counter_answer {
	enum rk_counter_status status;
	struct rk_list use; /* what to collect; if MISSING, the nearest counters */
	char reason[256];   /* "" when OK */
	bool unknown;       /* MISSING, and on every other target too */
};

/* Zero the answer before; release its `use` also on failure. */
int rk_counter_resolve(const struct rk_counter_table *t, const struct rk_counter_target *target,
		       const char *asked, struct rk_counter_answer *ret, struct rk_error *err);

#endif
