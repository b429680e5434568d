/* counter_resolve.h - find what to collect on a target for a requested counter. */
#ifndef RK_COUNTER_RESOLVE_H
#define RK_COUNTER_RESOLVE_H

#include "base/list.h"
#include "counters/counter_table.h"

/* A name as users write it: NAME, NAME[3], NAME:device=0, or both. */
struct rk_counter_word {
	struct rk_piece name, suffix;
	bool instance; /* the suffix selects one instance */
};

struct rk_counter_word rk_counter_word_of(const char *text);

/* The answer for one name. */
struct rk_counter_answer {
	enum rk_counter_status status;
	struct rk_list use; /* what to collect; if MISSING, the nearest counters */
	char reason[256];   /* "" if OK */
	bool unknown;       /* MISSING on this and every other target */
};

/* Zero the answer first; release its `use` also on failure. */
int rk_counter_resolve(const struct rk_counter_table *t, const struct rk_counter_target *target,
		       const char *asked, struct rk_counter_answer *ret, struct rk_error *err);

#endif
