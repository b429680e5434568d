/* html_curves.c - see html_curves.h. */
#include "html/html_curves.h"

#include <math.h>

#include "base/alloc.h"
#include "base/num.h"

static void join(struct rk_curve_point *to, const struct rk_curve_point *p)
{
	to->end = rk_max_i64(to->end, p->end);
	to->start = rk_min_i64(to->start, p->start);
	if (p->min < to->min)
		to->min = p->min;
	if (p->max > to->max)
		to->max = p->max;
	to->sum += p->sum;
	to->samples += p->samples;
}

int rk_curves_add(struct rk_curves *c, const struct rk_curve *of, int64_t time, double value,
		  struct rk_error *err)
{
	struct rk_curve_point p = { time, time, value, value, value, 1 };
	struct rk_curve *curve;

	for (curve = c->v; curve < c->v + c->n; curve++)
		if (curve->metric == of->metric && curve->unit == of->unit &&
		    curve->node == of->node && curve->device == of->device)
			break;
	if (!isfinite(value) || curve == c->v + RK_CURVES_MAX) {
		c->left_out++;
		return 0;
	}
	if (curve == c->v + c->n) {
		*curve = *of;
		curve->n = 0;
		curve->per_point = 1;
		curve->points = rk_alloc(RK_CURVE_POINTS * sizeof(*curve->points));
		if (!curve->points)
			return rk_fail_nomem(err);
		c->n++;
	}
	if (curve->n && curve->points[curve->n - 1].samples < curve->per_point) {
		join(&curve->points[curve->n - 1], &p);
		return 0;
	}
	if (curve->n == RK_CURVE_POINTS) { /* merge pairs of points */
		for (size_t i = 0; i < curve->n / 2; i++) {
			struct rk_curve_point two = curve->points[2 * i];

			join(&two, &curve->points[2 * i + 1]);
			curve->points[i] = two;
		}
		curve->n /= 2;
		curve->per_point *= 2;
	}
	curve->points[curve->n++] = p;
	return 0;
}

bool rk_curves_span(const struct rk_curves *c, int64_t *ret_start, int64_t *ret_end)
{
	bool some = false;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->v[i].n; k++) {
			const struct rk_curve_point *p = &c->v[i].points[k];

			if (!some || p->start < *ret_start)
				*ret_start = p->start;
			if (!some || p->end > *ret_end)
				*ret_end = p->end;
			some = true;
		}
	return some;
}

void rk_curves_json(struct rk_json_out *j, const struct rk_curves *c, const struct rk_strtab *names,
		    int64_t origin)
{
	rk_json_array(j, "curves");
	for (const struct rk_curve *curve = c->v; curve < c->v + c->n; curve++) {
		rk_json_object(j, NULL);
		rk_json_text(j, "metric", rk_strtab_borrow(names, curve->metric, NULL));
		rk_json_text(j, "unit", rk_strtab_borrow(names, curve->unit, NULL));
		rk_json_text(j, "node", rk_strtab_borrow(names, curve->node, NULL));
		rk_json_int(j, "device", curve->device);
		rk_json_array_flat(j, "points");
		for (size_t i = 0; i < curve->n; i++) {
			const struct rk_curve_point *p = &curve->points[i];

			rk_json_array(j, NULL);
			rk_json_int(j, NULL, p->start - origin);
			rk_json_int(j, NULL, p->end - p->start);
			rk_json_real(j, NULL, p->min);
			rk_json_real(j, NULL, p->max);
			rk_json_real(j, NULL, p->sum / (double)p->samples);
			rk_json_close(j);
		}
		rk_json_close(j);
		rk_json_close(j);
	}
	rk_json_close(j);
}

void rk_curves_release(struct rk_curves *c)
{
	for (size_t i = 0; i < c->n; i++)
		rk_free(c->v[i].points);
	c->n = 0;
}
