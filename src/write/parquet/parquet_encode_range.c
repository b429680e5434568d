/* parquet_encode_range.c - smallest and largest values, in Parquet's order of each type. */
#include <math.h>
#include <string.h>

#include "write/parquet/parquet_encode.h"

void rk_pq_range_i64(struct rk_pq_range *r, const int64_t *v, size_t n)
{
	int64_t min = v[0], max = v[0];

	for (size_t i = 1; i < n; i++) {
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
	}
	*r = (struct rk_pq_range){ .set = true, .min = (uint64_t)min, .max = (uint64_t)max };
}

void rk_pq_range_i32(struct rk_pq_range *r, const int32_t *v, size_t n)
{
	int32_t min = v[0], max = v[0];

	for (size_t i = 1; i < n; i++) {
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
	}
	r->set = true;
	r->min = (uint64_t)(int64_t)min;
	r->max = (uint64_t)(int64_t)max;
}

void rk_pq_range_bool(struct rk_pq_range *r, const uint8_t *v, size_t n)
{
	uint8_t all = 1, any = 0;

	for (size_t i = 0; i < n; i++) {
		all &= v[i];
		any |= v[i];
	}
	*r = (struct rk_pq_range){ .set = true, .min = all & 1, .max = any & 1 };
}

static double f64_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, 8);
	return v;
}

static uint64_t f64_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, 8);
	return bits;
}

bool rk_pq_range_f64(struct rk_pq_range *r, const double *v, size_t n)
{
	double min = v[0], max = v[0];
	bool nan = false;

	for (size_t i = 0; i < n; i++) {
		nan |= v[i] != v[i];
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
	}
	r->set = !nan;
	/* Zeros of both signs are equal here and may not be to a reader: cover both. */
	r->min = f64_bits(min == 0 ? -0.0 : min);
	r->max = f64_bits(max == 0 ? 0.0 : max);
	return !nan;
}

static int compare_text(const struct rk_strtab *names, uint64_t a, uint64_t b)
{
	size_t alen, blen;
	const char *at, *bt;
	int c;

	if (a == b)
		return 0;
	at = rk_strtab_borrow(names, (uint32_t)a, &alen);
	bt = rk_strtab_borrow(names, (uint32_t)b, &blen);
	c = memcmp(at, bt, alen < blen ? alen : blen);
	return c ? c : (alen > blen) - (alen < blen);
}

int rk_pq_compare(enum rk_type type, const struct rk_strtab *names, uint64_t a, uint64_t b)
{
	double x, y;

	switch (type) {
	case RK_STR:
		return compare_text(names, a, b);
	case RK_F64:
		x = f64_of(a);
		y = f64_of(b);
		return (x > y) - (x < y);
	default:
		return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
	}
}

void rk_pq_range_str(struct rk_pq_range *r, const struct rk_strtab *names, const uint64_t *ids,
		     const uint8_t *seen, size_t n)
{
	r->set = false;
	for (size_t i = 0; i < n; i++) {
		struct rk_pq_range one = { .set = true, .min = ids[i], .max = ids[i] };

		if (seen[i])
			rk_pq_range_join(r, &one, RK_STR, names);
	}
}

void rk_pq_range_join(struct rk_pq_range *r, const struct rk_pq_range *other, enum rk_type type,
		      const struct rk_strtab *names)
{
	if (!other->set)
		return;
	if (!r->set) {
		*r = *other;
		return;
	}
	if (rk_pq_compare(type, names, other->min, r->min) < 0)
		r->min = other->min;
	if (rk_pq_compare(type, names, other->max, r->max) > 0)
		r->max = other->max;
}
