/* diff_noise.c - see diff_noise.h. */
#include "diff/diff_noise.h"

#include <math.h>

/* Where t is far from normal it stands in a table, else it is expanded around the normal z. */
static double student(double df, double z, const double *few)
{
	double z2 = z * z, v = 1 / df;

	if (df < 1)
		return few[0];
	if (df < 5)
		return few[(int)df - 1];
	return z * (1 + v * ((z2 + 1) / 4 + v * ((5 * z2 + 16) * z2 + 3) / 96 +
			     v * v * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384));
}

double rk_t99(double df)
{
	static const double few[4] = { 63.657, 9.925, 5.841, 4.604 };

	return student(df, 2.5758, few);
}

double rk_t99_above(double df)
{
	static const double few[4] = { 31.821, 6.965, 4.541, 3.747 };

	return student(df, 2.3263, few);
}

double rk_pooled_error(const struct rk_sample *a, const struct rk_sample *b, double *ret_df)
{
	double df = a->n + b->n - 2;

	*ret_df = df;
	if (df < 1 || a->n < 1 || b->n < 1)
		return NAN;
	return sqrt((a->squares + b->squares) / df * (1 / a->n + 1 / b->n));
}

double rk_noise_of_runs(const struct rk_sample *a, const struct rk_sample *b)
{
	double df, error = rk_pooled_error(a, b, &df);

	return isnan(error) ? NAN : rk_t99(df) * error;
}

/* fmax takes the other when one of the two is NaN. */
double rk_noise_of_mean(const struct rk_side_name *a, const struct rk_side_name *b)
{
	double df = a->free + b->free, within = NAN;

	if (df >= 1 && a->timed_all && b->timed_all)
		within = rk_t99(df) * sqrt((a->squares + b->squares) / df *
					   (1 / (double)a->timed_all + 1 / (double)b->timed_all));
	return fmax(within, rk_noise_of_runs(&a->means, &b->means));
}

/* Variance of a side's mean total; *known grows by the time whose spread is known. */
static double variance(const struct rk_side *s, double *known)
{
	double sum = 0;

	for (size_t i = 0; i < s->nnames; i++) {
		const struct rk_side_name *n = &s->names[i];

		if (n->free < 1)
			continue;
		sum += (double)n->timed * n->squares / n->free;
		*known += (double)n->total_ns;
	}
	return sum / (double)s->runs;
}

double rk_noise_of_total(const struct rk_side *a, const struct rk_side *b)
{
	double known = 0, both = (double)a->total_ns + (double)b->total_ns;
	double within = 2.5758 * sqrt(variance(a, &known) + variance(b, &known));

	/* kernels that were called once say nothing; where they are most of it, nothing is known */
	if (known < both / 2 || both <= 0)
		within = NAN;
	return fmax(within, rk_noise_of_runs(&a->totals, &b->totals));
}
