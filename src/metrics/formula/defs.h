/*
 * defs.h - metric definitions: data/metrics, a user's file, rocprofiler-sdk's counters.
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
 *                 "archs": [...], "text": "..."}],
 *    "absent":  [{"of": ["l1", "agprs"], "archs": [...], "text": "..."}]}  why these groups or ids
 *                                                           are not defined there; the first fits
 *
 * A target may be written with * at its end: "gfx10*"; a case may name several: "gfx10* gfx11*". The
 * closest fits: gfx942, gfx94*, gfx9*, *. Only id and expr are needed. One of rocprofiler-sdk is a
 * counter_defs.yaml: its derived counters become metrics of the group "sdk", and terms.
 */
#ifndef RK_METRIC_DEFS_H
#define RK_METRIC_DEFS_H

#include <stdbool.h>

#include "base/map.h"
#include "metrics/formula/expr.h"

struct rk_tree;

/* The expressions of one definition, by target; the first match is used. */
struct rk_metric_case {
	const char *target; /* "gfx942", "gfx11*", "*" */
	const struct rk_expr *expr;
	struct rk_metric_case *next;
};

/* This and the next two structs begin with their key and the file they are from. */
struct rk_metric_def {
	const char *id, *file, *group, *unit, *help;
	const struct rk_metric_case *expr, *peak; /* peak: NULL if none */
	const char *const *archs; /* NULL: all targets that expr has a case for; ends with NULL */
	const char *pass; /* names are first looked up in the pass with this level counter, or "" */
	bool median;
};

struct rk_metric_term {
	const char *name, *file;
	const struct rk_metric_case *expr;
};

/* Reported if over > under * (1 + slack). */
struct rk_metric_check {
	const char *kind, *file, *text;
	const struct rk_metric_case *over, *under;
	const char *const *archs; /* as in rk_metric_def */
	double slack;
};

/* Why metrics are not defined for some targets. */
struct rk_metric_reason {
	const char *const *of; /* groups or ids; ends with NULL */
	const char *const *archs;
	const char *text;
	struct rk_metric_reason *next;
};

struct rk_metric_set {
	struct rk_metric_def *defs;
	size_t ndefs, defs_cap;
	struct rk_metric_term *terms;
	size_t nterms, terms_cap;
	struct rk_metric_check *checks;
	size_t nchecks, checks_cap;
	struct rk_metric_reason *reasons, **last_reason;
	size_t nreasons;
	struct rk_arena *arena; /* owns strings and nodes */
	struct rk_index by_id, by_name, by_kind;
};

enum {
	RK_METRICS_MAX = 4096, /* max definitions, terms, checks */
	RK_METRIC_ID_MAX = 96,
	RK_METRIC_TEXT_MAX = 1000, /* max bytes of a help text or of a check's text */
	RK_METRIC_REASON_MAX = 200,
	RK_METRIC_CASES_MAX = 64,
};

/*
 * Loads the shipped definitions, those of the release that recorded the data (a document of ours;
 * NULL: none) and those in `file` (NULL: none). Later ones replace equal ids and names.
 */
int rk_metric_set_load(const char *file, const struct rk_tree *release, struct rk_metric_set **ret,
		       struct rk_error *err);
/*
 * Reads definitions from text, without the shipped ones: for tests and fuzzing. `name` is for
 * errors; it ends in .yaml or .yml if the text is YAML.
 */
int rk_metric_set_parse(const char *text, size_t len, const char *name, struct rk_metric_set **ret,
			struct rk_error *err);
void rk_metric_set_free(struct rk_metric_set *s); /* NULL is fine */

/* NULL: not defined for this target. */
const struct rk_expr *rk_metric_case_for(const struct rk_metric_case *c, const char *arch);
bool rk_metric_archs_has(const char *const *archs, const char *arch); /* true if archs is NULL */
/* Why it is not defined for this target; NULL: no reason is given. */
const char *rk_metric_reason_for(const struct rk_metric_set *s, const struct rk_metric_def *m,
				 const char *arch);
const struct rk_metric_def *rk_metric_def_find(const struct rk_metric_set *s, const char *id);
const struct rk_expr *rk_metric_term_for(const struct rk_metric_set *s, const char *name,
					 const char *arch);

#endif
