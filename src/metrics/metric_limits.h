/* metric_limits.h - thresholds and words for verdicts (data/metrics/verdicts.json). */
#ifndef RK_METRIC_LIMITS_H
#define RK_METRIC_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "codec/json/tree.h"

struct rk_limits {
	double simds_per_cu, simds_per_cu_rdna;
	double fill;
	double remote_pct, remote_hbm_pct, remote_side_pct, link_stall_pct;
	double high_pct, lead_pct, lead_factor, impossible_pct;
	double short_ns, gap_share, gap_median_ns;
	double dep_wait_pct, issue_wait_pct, occupancy_pct, lanes_on;
	double ridge_factor;
	/* lists of strings: words in names, and targets that have the counters of an input */
	const struct rk_tree *anywhere, *as_word, *in_company, *company;
	const struct rk_tree *memory, *compute, *wait, *used_up;
	/* commands to collect more data */
	const char *collect_limits, *collect_resources, *collect_other;
	struct rk_tree *tree; /* owns the strings */
};

/* Each threshold must be present, positive and have a reason; lists must contain strings. */
int rk_limits_parse(const char *text, size_t len, const char *name, struct rk_limits *ret,
		    struct rk_error *err);
void rk_limits_release(struct rk_limits *l);

/* The shipped limits, read once and kept; NULL with *err set on failure. Thread-safe. */
const struct rk_limits *rk_limits_borrow(struct rk_error *err);

/* Does the kernel's name look like a collective or a transfer between GPUs? */
bool rk_limits_communication(const struct rk_limits *l, const char *kernel_name);
/* Does `list` contain `word`? An unknown word ("") counts as present. */
bool rk_limits_has(const struct rk_tree *list, const char *word);

#endif
