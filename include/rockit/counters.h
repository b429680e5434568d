/* counters.h - hardware counters: which exist on which chip, and how many passes a set needs. */
#ifndef ROCKIT_COUNTERS_H
#define ROCKIT_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

/* Strings are static; "" if not applicable. */
struct rk_counter {
	const char *name;
	const char *block; /* "SQ", "TCC", ...; "" for derived ones and constants of the agent */
	const char *description;
	bool derived;
	/*
	 * Hardware counters that a derived counter needs, ends with NULL (empty for a constant);
	 * NULL if it is not derived.
	 */
	const char *const *needs;
	uint64_t reserved[4]; /* 0 */
};

/* Known targets ("gfx906", ...), NULL past the end. */
const char *rk_counters_arch(size_t i);
/* A target by any common spelling ("GFX942", "gfx942:sramecc+"), or NULL. */
const char *rk_counters_arch_find(const char *name);
/* The i-th counter of a target, sorted by name; NULL past the end. */
const struct rk_counter *rk_counters_at(const char *arch, size_t i);
const struct rk_counter *rk_counters_find(const char *arch, const char *name);

/* Owned names: free with rk_counter_names_release. */
struct rk_counter_names {
	char **names; /* ends with NULL */
	size_t n;
	uint64_t reserved[2]; /* 0 */
};
/* Categories of counters by subject: "instructions", "waves", "memory", "cache", ... */
int rk_counters_categories(struct rk_counter_names *ret, struct rk_error *err);
/*
 * The counters of a category on a target, like "@memory" in a spec. RK_E_USAGE suggests the nearest
 * category if the name is unknown.
 */
int rk_counters_of_category(const char *arch, const char *category, struct rk_counter_names *ret,
			    struct rk_error *err);
void rk_counter_names_release(struct rk_counter_names *n); /* NULL is fine */

/* Does a requested name exist on a target? */
enum rk_counter_status {
	RK_COUNTER_OK,      /* exists as written */
	RK_COUNTER_RENAMED, /* exists under other names: `use` */
	RK_COUNTER_MISSING, /* does not exist here; `reason` says why or what is nearest */
};

struct rk_counter_check {
	const char *asked;
	enum rk_counter_status status;
	const char *const *use; /* what to collect instead, ends with NULL; may be empty */
	const char *reason;     /* one sentence; "" if OK */
	uint64_t reserved[4];   /* 0 */
};

struct rk_counter_pass {
	const char *const *counters; /* ends with NULL */
	size_t n;
	uint64_t reserved[2]; /* 0 */
};

/* A metric of `rockit metrics` that compares counters of different passes. */
struct rk_counter_split {
	const char *metric;
	const uint32_t *passes; /* from 1, ascending */
	size_t n;
	uint64_t reserved[2]; /* 0 */
};

/* Owned by the caller: rk_counter_plan_free. */
struct rk_counter_plan {
	const char *arch;
	struct rk_counter_check *checks; /* one per requested name, in order, without duplicates */
	size_t nchecks;
	struct rk_counter_pass *passes;
	size_t npasses;
	size_t lower_bound;              /* any plan needs at least this many passes */
	bool optimal;                    /* npasses == lower_bound, or proven by search */
	struct rk_counter_split *splits; /* needs more counters of a block than fit in a pass */
	size_t nsplits;
};

/*
 * `spec`: a shipped set ("memory_bound", "memory"), "@category", counter names (also "TCC_HIT[0]"
 * and "SQ_WAVES:device=0"), or a file (pmc: lines, rocprofv3 YAML or JSON job file); several are
 * separated by commas. RK_E_USAGE suggests the nearest name for a word that is neither a set nor a
 * counter of any target. Names of a pass are in the order of the request. The counters of each
 * metric (`rockit metrics`) that the request allows are in one pass, so that ratios are of one
 * execution; for that a name may be in several passes. A metric for which this is impossible is in
 * `splits`. SQ_ACCUM_PREV... goes with each level counter that it follows in the request.
 */
int rk_counters_plan(const char *arch, const char *spec, struct rk_counter_plan **ret,
		     struct rk_error *err);
/*
 * The same, but asks an installed rocprofv3-avail which counters the target has: its answer
 * overrules the shipped table, and `arch` may be a target that the table does not have. `program`
 * is started; NULL: rk_counters_plan. Where it lists no GPU of that target, the table is used.
 * RK_E_IO or RK_E_UNSUPPORTED if it cannot be asked.
 */
int rk_counters_plan_installed(const char *program, const char *arch, const char *spec,
			       struct rk_counter_plan **ret, struct rk_error *err);
void rk_counter_plan_free(struct rk_counter_plan *p); /* NULL is fine */

/*
 * Checks names without planning: same struct, no passes. A name may be anything that a spec may
 * contain. A name that no target has is also MISSING, with the nearest names in `use`.
 */
int rk_counters_check(const char *arch, const char *const *names, size_t n,
		      struct rk_counter_plan **ret, struct rk_error *err);

/* The functions below return text, JSON (schema 1) or CSV; free it with rk_text_free. */

/*
 * The counters of a target whose name contains one of the `n` words, or whose description has a
 * word that starts with it, ignoring case. "@category" selects the counters of that category.
 * Without words: all. *ret_count: the number of counters.
 */
int rk_counters_render(const char *arch, const char *const *words, size_t n,
		       enum rk_report_format format, char **ret_text, size_t *ret_len,
		       size_t *ret_count, struct rk_error *err);
/* The known targets. */
int rk_counters_render_targets(enum rk_report_format format, char **ret_text, size_t *ret_len,
			       struct rk_error *err);
/* The text is a `pmc:` file for rocprofv3; comments list replaced and omitted counters. */
int rk_counter_plan_render(const struct rk_counter_plan *p, enum rk_report_format format,
			   char **ret_text, size_t *ret_len, struct rk_error *err);
int rk_counter_checks_render(const struct rk_counter_plan *p, enum rk_report_format format,
			     char **ret_text, size_t *ret_len, struct rk_error *err);

RK_END_DECLS

#endif
