/* html_feed.h - rows of a run's tables become lanes and curves of a page. */
#ifndef RK_HTML_FEED_H
#define RK_HTML_FEED_H

#include "api/run.h"
#include "report/html_page.h"

/* Numbers for the names of the report's tables. Freed by rk_html_names_release. */
int rk_html_names_make(struct rk_run *run, const struct rk_report *r, struct rk_html_names *ret,
		       struct rk_error *err);
void rk_html_names_release(struct rk_html_names *n);

/* Kernels, copies and markers, each in order of time. *ret is finished. */
int rk_html_feed_lanes(struct rk_run *run, const struct rk_html_names *names,
		       const struct rk_report *r, struct rk_lanes **ret, struct rk_error *err);
/* Samples that have a time. */
int rk_html_feed_curves(struct rk_run *run, struct rk_curves *ret, struct rk_error *err);

#endif
