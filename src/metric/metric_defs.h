/*
 * metric_defs.h - metric definitions: data/metrics, a user's file, rocprofiler-sdk's counters.
 *
 * A document of ours:
 *
 *   {"schema": 1,
 *    "terms":   {"G": "GRBM_GUI_ACTIVE/xcds", "to_l2": {"gfx942": "...", "*": "..."}},
 *    "metrics": [{"id": "l2_hit_pct", "group": "l2", "unit": "%", "help": "...",
 *                 "expr": "..." or {"gfx90a": "...", "*": "..."},     "*": all other targets
 *                 "archs": ["gfx90a", ...],                  only these; without: those of expr
 *                 "peak": "..." or {...}, "pass": "SQ_INST_LEVEL_VMEM", "agg": "median"}],
 *    "checks":  [{"kind": "window-ratio", "over": "...", "under": "...", "slack": 0.1,
 *                 "archs": [...], "text": "..."}]}
 *
 * A target may be written with * at its end: "gfx10*". One of rocprofiler-sdk is a counter_defs.yaml:
 * its derived counters become metrics of the group "sdk".
 */
#ifndef RK_METRIC_DEFS_H
#define RK_METRIC_DEFS_H

#include <stdbool.h>

#include "metric/metric_expr.h"

/* The expressions of one thing, target by target; the first that fits. */
struct rk_metric_case {
	const char *target; /* "gfx942", "gfx11*", "*" */
	const struct rk_expr *expr;
	struct rk_metric_case *next;
};

struct rk_metric_def {
	const char *id, *group, *unit, *help;
	const struct rk_metric_case *expr, *peak; /* peak: NULL without */
	const char *const *archs; /* NULL: wherever expr has a case; ends with NULL */
	const char *pass; /* names are first looked for in the pass with this level counter; "" */
	bool median;
};

struct rk_metric_term {
	const char *name;
	const struct rk_metric_case *expr;
};

/* Told when over > under * (1 + slack). */
struct rk_metric_check {
	const char *kind, *text;
	const struct rk_metric_case *over, *under;
	const char *const *archs; /* as above */
	double slack;
};

struct rk_metric_set {
	struct rk_metric_def *defs;
	size_t ndefs;
	struct rk_metric_term *terms;
	size_t nterms;
	struct rk_metric_check *checks;
	size_t nchecks;
	struct rk_expr_arena *arena; /* texts and nodes */
};

enum { RK_METRICS_MAX = 4096 };

/* The shipped definitions, and `file` (NULL: none) over them: equal ids and names replace. */
int rk_metric_set_load(const char *file, struct rk_metric_set **ret, struct rk_error *err);
/* From text alone, without the shipped ones: for tests and fuzzing. `name` is for errors. */
int rk_metric_set_parse(const char *text, size_t len, const char *name, struct rk_metric_set **ret,
			struct rk_error *err);
void rk_metric_set_free(struct rk_metric_set *s); /* NULL is fine */

/* NULL: not defined for this target. */
const struct rk_expr *rk_metric_case_for(const struct rk_metric_case *c, const char *arch);
bool rk_metric_archs_has(const char *const *archs, const char *arch); /* true when archs is NULL */
const struct rk_expr *rk_metric_term_for(const struct rk_metric_set *s, const char *name,
					 const char *arch);

#endif
