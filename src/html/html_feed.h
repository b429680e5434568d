/* html_feed.h - rows of a run's tables become lanes and curves of a page. */
#ifndef RK_HTML_FEED_H
#define RK_HTML_FEED_H

#include "html/html_page.h"
#include "rockit/ranks.h"
#include "run/run.h"

/* Numbers for the names of the report's tables. Freed by rk_html_names_release. */
int rk_html_names_make(struct rk_run *run, const struct rk_report *r, struct rk_html_names *ret,
		       struct rk_error *err);
void rk_html_names_release(struct rk_html_names *n);

enum { RK_HTML_RANKS = 64 }; /* in a timeline */

/* How many of a job's ranks the timeline has no room for; k may be NULL. */
size_t rk_html_ranks_left_out(const struct rk_ranks *k);

/*
 * Kernels, copies and markers, each in order of time, of RK_HTML_RANKS ranks at most: those that
 * rk_ranks_pick finds worth a look. *ret is finished.
 */
int rk_html_feed_lanes(struct rk_run *run, const struct rk_html_names *names,
		       const struct rk_report *r, struct rk_lanes **ret, struct rk_error *err);
/* Samples that have a time. */
int rk_html_feed_curves(struct rk_run *run, struct rk_curves *ret, struct rk_error *err);

#endif
