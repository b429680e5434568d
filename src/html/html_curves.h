/*
 * html_curves.h - samples over time (power, memory, clocks) as curves of the page.
 *
 * Samples must be sorted by time. A curve has at most RK_CURVE_POINTS points. If there are more
 * samples, neighbours are merged: a point has the min, max and mean of its samples. So memory is
 * bounded, and no peak is lost.
 */
#ifndef RK_HTML_CURVES_H
#define RK_HTML_CURVES_H

#include "base/error.h"
#include "base/json_out.h"
#include "base/strtab.h"

enum { RK_CURVES_MAX = 128, RK_CURVE_POINTS = 2048 };

struct rk_curve_point {
	int64_t start, end; /* times of its first and last sample */
	double min, max, sum;
	uint64_t samples;
};

struct rk_curve {
	uint32_t metric, unit, node; /* ids of the run's names */
	int64_t device;              /* -1: not known */
	struct rk_curve_point *points;
	size_t n;
	uint64_t per_point; /* samples per point */
};

/* Zero it before use. */
struct rk_curves {
	struct rk_curve v[RK_CURVES_MAX];
	size_t n;
	uint64_t left_out; /* samples of further curves, or not finite */
};

/* `of` selects the curve: metric, unit, node, device. */
int rk_curves_add(struct rk_curves *c, const struct rk_curve *of, int64_t time, double value,
		  struct rk_error *err);
/* False: no samples. */
bool rk_curves_span(const struct rk_curves *c, int64_t *ret_start, int64_t *ret_end);
/* An array of objects; times are relative to `origin`. */
void rk_curves_json(struct rk_json_out *j, const struct rk_curves *c, const struct rk_strtab *names,
		    int64_t origin);
void rk_curves_release(struct rk_curves *c);

#endif
