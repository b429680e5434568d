/* metrics_parts.h - the output of `rockit metrics`: text, JSON and CSV. */
#ifndef RK_METRICS_PARTS_H
#define RK_METRICS_PARTS_H

#include "base/bytes.h"
#include "base/json_out.h"
#include "base/list.h"
#include "base/page.h"
#include "rockit/metrics.h"

/* Does the filter `groups` (NULL: no filter) accept it? */
bool rk_metric_shown(const struct rk_list *groups, const char *group);

/* Each appends to `out`; the caller checks out->bad. `groups` NULL: all. */
void rk_metrics_json(struct rk_bytes *out, const struct rk_metrics *m,
		     const struct rk_list *groups);
void rk_metrics_text(struct rk_bytes *out, const struct rk_metrics *m,
		     const struct rk_metrics_look *how, const struct rk_list *groups);

/*
 * The same document with dispatches instead of kernels: head, any number of dispatches, tail. `out`
 * may be emptied between calls. `metrics` is the array that `begin` received.
 */
struct rk_dispatch_rows {
	const struct rk_metric_value *metrics;
	size_t nmetrics;
	const struct rk_list *groups;
	struct rk_json_out json;
};
void rk_dispatches_json_head(struct rk_dispatch_rows *d, struct rk_bytes *out);
void rk_dispatches_json_row(struct rk_dispatch_rows *d, const struct rk_metric_dispatch *row);
void rk_dispatches_json_tail(struct rk_dispatch_rows *d, const struct rk_metrics *m);
void rk_dispatches_csv_head(const struct rk_dispatch_rows *d, struct rk_bytes *out);
void rk_dispatches_csv_row(const struct rk_dispatch_rows *d, struct rk_bytes *out,
			   const struct rk_metric_dispatch *row);

/* State of the text output. */
struct rk_metrics_page {
	struct rk_page page;
	const struct rk_metrics *m;
	const struct rk_metrics_look *how;
	const struct rk_list *groups;
	size_t shown; /* number of kernels to show */
};
void rk_metrics_plot(struct rk_metrics_page *p);
/* "12.35", "20480", "123.4M": about four digits. */
void rk_put_value(struct rk_bytes *out, double v);

#endif
