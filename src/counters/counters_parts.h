/* counters_parts.h - counters, checks and plans in the three forms; render.c chooses. */
#ifndef RK_COUNTERS_PARTS_H
#define RK_COUNTERS_PARTS_H

#include "base/bytes.h"
#include "rockit/counters.h"

/* Some counters of a target. */
struct rk_counters_shown {
	const char *arch;
	const struct rk_counter **counters;
	size_t n;
};

/* "ok", "renamed", "missing". */
const char *rk_counter_status_word(enum rk_counter_status s);
size_t rk_counters_count(const char *arch);

/* Each appends to `out`; whoever calls looks at out->bad. */
void rk_counters_text(struct rk_bytes *out, const struct rk_counters_shown *s);
void rk_counters_json(struct rk_bytes *out, const struct rk_counters_shown *s);
void rk_counters_csv(struct rk_bytes *out, const struct rk_counters_shown *s);
void rk_counters_targets_text(struct rk_bytes *out);
void rk_counters_targets_json(struct rk_bytes *out);
void rk_counters_targets_csv(struct rk_bytes *out);
void rk_counters_plan_text(struct rk_bytes *out, const struct rk_counter_plan *p);
void rk_counters_plan_json(struct rk_bytes *out, const struct rk_counter_plan *p);
void rk_counters_plan_csv(struct rk_bytes *out, const struct rk_counter_plan *p);
void rk_counters_checks_text(struct rk_bytes *out, const struct rk_counter_plan *p);
void rk_counters_checks_json(struct rk_bytes *out, const struct rk_counter_plan *p);
void rk_counters_checks_csv(struct rk_bytes *out, const struct rk_counter_plan *p);

#endif
