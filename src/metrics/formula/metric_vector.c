/* metric_vector.c - values of one step or of one for each instance. */
#include "metrics/formula/metric_vector.h"

#include <string.h>

/* In one expression, over all its values: far above what 300 instances and 1000 parts need. */
enum { ELEMENTS_MAX = 1 << 20 };

static bool many(const struct rk_value *a)
{
	return a->n > 1 || a->lump;
}

static int not_recorded(struct rk_value_maker *m, const char *counter)
{
	return rk_fail(m->err, RK_E_UNSUPPORTED, "instances of %s were not recorded", counter);
}

struct rk_element *rk_value_elements(struct rk_value_maker *m, size_t n)
{
	struct rk_element *v;

	if (n > ELEMENTS_MAX - m->nelements) {
		rk_fail(m->err, RK_E_UNSUPPORTED, "an expression over more than %d instances",
			ELEMENTS_MAX);
		return NULL;
	}
	v = rk_arena_alloc(m->arena, n * sizeof(*v));
	if (v)
		m->nelements += n;
	else
		rk_fail_nomem(m->err);
	return v;
}

int rk_value_of_step(struct rk_value_maker *m, uint32_t step, struct rk_value *ret)
{
	struct rk_element *v = rk_value_elements(m, 1);

	if (!v)
		return m->err->code;
	v->step = step;
	*ret = (struct rk_value){ .v = v, .n = 1 };
	return 0;
}

/* The dimensions in which not all instances stand at the same place, a bit each. */
static unsigned spread(const struct rk_value *a)
{
	unsigned bits = 0;

	for (size_t i = 1; i < a->n; i++)
		for (unsigned d = 0; d < RK_NDIMS; d++)
			if (a->v[i].dims[d] != a->v[0].dims[d])
				bits |= 1u << d;
	return bits;
}

/*
 * Whether instances can be taken pair by pair. Where each side has but one dimension it may have
 * another name on the other side: XCD 3 of one counter is instance 3 of another.
 */
static bool same_places(const struct rk_value *a, const struct rk_value *b)
{
	unsigned da = spread(a), db = spread(b);
	bool lines = da && db && !(da & (da - 1)) && !(db & (db - 1));

	for (size_t i = 0; i < a->n; i++) {
		const uint32_t *x = a->v[i].dims, *y = b->v[i].dims;

		if (lines ? x[__builtin_ctz(da)] != y[__builtin_ctz(db)] :
			    memcmp(x, y, sizeof(a->v[i].dims)) != 0)
			return false;
	}
	return true;
}

static int fit(struct rk_value_maker *m, const struct rk_value *a, const struct rk_value *b)
{
	if (a->lump && b->n > 1)
		return not_recorded(m, a->lump);
	if (b->lump && a->n > 1)
		return not_recorded(m, b->lump);
	if (a->n == 1 || b->n == 1)
		return 0;
	if (a->n != b->n)
		return rk_fail(m->err, RK_E_UNSUPPORTED,
			       "%zu instances do not go with %zu; reduce one side first", a->n,
			       b->n);
	if (!same_places(a, b))
		return rk_fail(m->err, RK_E_UNSUPPORTED,
			       "instances of different places do not go together");
	return 0;
}

/* What becomes of a sum over instances; see struct rk_value. */
static const char *bend(enum rk_step_op op, const struct rk_value *a, const struct rk_value *b)
{
	if (!many(a) && !many(b))
		return NULL;
	if (op == RK_STEP_DIV && many(b))
		return "ratio";
	if (op == RK_STEP_MUL && many(a) && many(b))
		return "product";
	if (op == RK_STEP_MIN || op == RK_STEP_MAX)
		return op == RK_STEP_MIN ? "minimum" : "maximum";
	if ((op == RK_STEP_ADD || op == RK_STEP_SUB) && many(a) != many(b))
		return "offset"; /* would be counted once for each instance */
	return a->bent ? a->bent : b->bent;
}

int rk_value_binary(struct rk_value_maker *m, enum rk_step_op op, const struct rk_value *a,
		    const struct rk_value *b, struct rk_value *ret)
{
	const struct rk_value *longer = b->n > a->n ? b : a;
	struct rk_element *v;
	int rc = fit(m, a, b);

	if (rc < 0)
		return rc;
	if (!(v = rk_value_elements(m, longer->n)))
		return m->err->code;
	for (size_t i = 0; i < longer->n; i++) {
		v[i] = longer->v[i];
		rc = rk_step_make(m->program, op, a->v[a->n > 1 ? i : 0].step,
				  b->v[b->n > 1 ? i : 0].step, &v[i].step, m->err);
		if (rc < 0)
			return rc;
	}
	*ret = (struct rk_value){ v, longer->n, a->lump ? a->lump : b->lump, bend(op, a, b) };
	return 0;
}

int rk_value_max0(struct rk_value_maker *m, const struct rk_value *a, struct rk_value *ret)
{
	struct rk_element *v = rk_value_elements(m, a->n);
	int rc;

	if (!v)
		return m->err->code;
	for (size_t i = 0; i < a->n; i++) {
		v[i] = a->v[i];
		rc = rk_step_make(m->program, RK_STEP_MAX0, a->v[i].step, RK_STEP_NONE, &v[i].step,
				  m->err);
		if (rc < 0)
			return rc;
	}
	*ret = (struct rk_value){ v, a->n, a->lump, many(a) ? "maximum" : NULL };
	return 0;
}

/* Of a counter whose sum alone is known: the sum of its sum is known too, and nothing else. */
static int reduce_lump(struct rk_value_maker *m, const struct rk_value *a, enum rk_expr_how how,
		       unsigned dims, struct rk_value *ret)
{
	if (how != RK_HOW_SUM || a->bent)
		return not_recorded(m, a->lump);
	*ret = *a;
	if (!dims)
		ret->lump = NULL;
	return 0;
}

/* The group of an element in v[0..*n), made when there is none. */
static size_t group_of(struct rk_element *v, size_t *n, const struct rk_element *e)
{
	size_t i = 0;

	while (i < *n && memcmp(v[i].dims, e->dims, sizeof(e->dims)) != 0)
		i++;
	if (i == *n) {
		v[i] = *e;
		v[i].step = RK_STEP_NONE;
		(*n)++;
	}
	return i;
}

static int join(struct rk_value_maker *m, enum rk_expr_how how, uint32_t *step, uint32_t more)
{
	static const enum rk_step_op ops[] = { [RK_HOW_SUM] = RK_STEP_ADD,
					       [RK_HOW_MIN] = RK_STEP_MIN,
					       [RK_HOW_MAX] = RK_STEP_MAX,
					       [RK_HOW_AVR] = RK_STEP_ADD };

	if (*step == RK_STEP_NONE) {
		*step = more;
		return 0;
	}
	return rk_step_make(m->program, ops[how], *step, more, step, m->err);
}

static int divide(struct rk_value_maker *m, uint32_t *step, size_t n)
{
	uint32_t count;
	int rc = rk_step_number(m->program, (double)n, &count, m->err);

	return rc < 0 ? rc : rk_step_make(m->program, RK_STEP_DIV, *step, count, step, m->err);
}

int rk_value_reduce(struct rk_value_maker *m, const struct rk_value *a, enum rk_expr_how how,
		    unsigned dims, struct rk_value *ret)
{
	struct rk_element *v, *counts; /* counts: in `step`, how many are in each group */
	size_t n = 0;
	int rc = 0;

	if (a->lump)
		return reduce_lump(m, a, how, dims, ret);
	v = rk_value_elements(m, a->n);
	counts = v ? rk_value_elements(m, a->n) : NULL;
	if (!counts)
		return m->err->code;
	for (size_t i = 0; rc == 0 && i < a->n; i++) {
		struct rk_element e = a->v[i];
		size_t g;

		for (unsigned d = 0; d < RK_NDIMS; d++)
			if (!dims || dims >> d & 1)
				e.dims[d] = 0;
		g = group_of(v, &n, &e);
		counts[g].step++;
		rc = join(m, how, &v[g].step, e.step);
	}
	for (size_t g = 0; rc == 0 && how == RK_HOW_AVR && g < n; g++)
		rc = divide(m, &v[g].step, counts[g].step);
	if (rc == 0)
		*ret = (struct rk_value){ .v = v, .n = n };
	return rc;
}

/* Several picks of one dimension are alternatives; each picked dimension has to fit. */
static bool picked(const struct rk_element *e, const struct rk_expr_pick *picks, unsigned *dims)
{
	unsigned asked = 0, found = 0;

	for (const struct rk_expr_pick *k = picks; k; k = k->next) {
		uint32_t at = e->dims[k->dim];

		asked |= 1u << k->dim;
		if (at >= k->first && at <= k->last)
			found |= 1u << k->dim;
	}
	*dims = asked;
	return asked == found;
}

int rk_value_select(struct rk_value_maker *m, const struct rk_value *a,
		    const struct rk_expr_pick *picks, struct rk_value *ret)
{
	struct rk_element *v;
	unsigned dims;
	size_t n = 0;

	if (a->lump)
		return not_recorded(m, a->lump);
	if (!(v = rk_value_elements(m, a->n)))
		return m->err->code;
	for (size_t i = 0; i < a->n; i++) {
		if (!picked(&a->v[i], picks, &dims))
			continue;
		v[n] = a->v[i];
		for (unsigned d = 0; d < RK_NDIMS; d++)
			if (dims >> d & 1)
				v[n].dims[d] = 0;
		n++;
	}
	if (!n)
		return rk_fail(m->err, RK_E_UNSUPPORTED, "no selected instance was recorded");
	*ret = (struct rk_value){ v, n, NULL, n > 1 ? a->bent : NULL };
	return 0;
}

int rk_value_whole(struct rk_value_maker *m, const struct rk_value *a, uint32_t *ret)
{
	struct rk_value sum;
	int rc;

	if (many(a) && a->bent)
		return rk_fail(m->err, RK_E_UNSUPPORTED, "per-instance %s; reduce it first",
			       a->bent);
	if ((rc = rk_value_reduce(m, a, RK_HOW_SUM, 0, &sum)) == 0)
		*ret = sum.v[0].step;
	return rc;
}
