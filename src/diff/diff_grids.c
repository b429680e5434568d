/* diff_grids.c - how often a kernel was launched with each grid, on both sides. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diff/diff_parts.h"

static int by_shape(const void *pa, const void *pb)
{
	const struct rk_shape_count *a = pa, *b = pb;

	for (unsigned i = 0; i < 6; i++)
		if (a->shape.n[i] != b->shape.n[i])
			return a->shape.n[i] < b->shape.n[i] ? -1 : 1;
	return (a->shape.items > b->shape.items) - (a->shape.items < b->shape.items);
}

static size_t count(const struct rk_profile *p, const struct rk_profile_name *n)
{
	size_t c = 0;

	for (uint32_t s = p && n ? n->shapes : 0; s; s = p->shapes[s - 1].next)
		c++;
	return c;
}

static size_t list(const struct rk_profile *p, const struct rk_profile_name *n, bool b,
		   struct rk_shape_count *out)
{
	size_t c = 0;

	for (uint32_t s = p && n ? n->shapes : 0; s; s = p->shapes[s - 1].next) {
		const struct rk_profile_shape *shape = &p->shapes[s - 1];

		out[c++] = (struct rk_shape_count){ shape->shape, b ? 0 : shape->calls,
						    b ? shape->calls : 0 };
	}
	return c;
}

int rk_shape_counts(const struct rk_profile *pa, const struct rk_profile_name *a,
		    const struct rk_profile *pb, const struct rk_profile_name *b,
		    struct rk_shape_count **ret, size_t *ret_n, struct rk_error *err)
{
	size_t n = count(pa, a) + count(pb, b), out = 0;
	struct rk_shape_count *v = rk_calloc(n, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	n = list(pa, a, false, v);
	n += list(pb, b, true, v + n);
	qsort(v, n, sizeof(*v), by_shape);
	for (size_t i = 0; i < n; i++) {
		if (out && by_shape(&v[out - 1], &v[i]) == 0) {
			v[out - 1].a += v[i].a;
			v[out - 1].b += v[i].b;
		} else {
			v[out++] = v[i];
		}
	}
	*ret = v;
	*ret_n = out;
	return 0;
}
