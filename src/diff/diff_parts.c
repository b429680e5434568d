/* diff_parts.c - see diff_parts.h. */
#include "diff/diff_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

/*
 * For few degrees of freedom t comes from a table, otherwise from an expansion around the normal z.
 */
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

/* Noise of values with one sample per run; NaN unless a side has several runs. */
static double noise_of_runs(const struct rk_sample *a, const struct rk_sample *b)
{
	double df, error = rk_pooled_error(a, b, &df);

	if (isnan(error))
		return NAN;
	return rk_t99(df) * error;
}

/*
 * How much the mean of one kernel's dispatches may differ by chance: from the spread of its
 * dispatches with equal grids, or from the spread between runs if there are several; the larger of
 * the two. NaN: unknown. (fmax returns the other value if one is NaN.)
 */
static double noise_of_mean(const struct rk_side_name *a, const struct rk_side_name *b)
{
	double df = a->free + b->free, within = NAN;

	if (df >= 1 && a->timed_all && b->timed_all)
		within = rk_t99(df) * sqrt((a->squares + b->squares) / df *
					   (1 / (double)a->timed_all + 1 / (double)b->timed_all));
	return fmax(within, noise_of_runs(&a->means, &b->means));
}

/* Variance of a side's mean total; adds to *known the time whose spread is known. */
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

/* The same for the time of all kernels. */
static double noise_of_total(const struct rk_side *a, const struct rk_side *b)
{
	double known = 0, both = (double)a->total_ns + (double)b->total_ns;
	double within = 2.5758 * sqrt(variance(a, &known) + variance(b, &known));

	/* kernels called once have no spread; if they are most of the time, the noise is unknown */
	if (known < both / 2 || both <= 0)
		within = NAN;
	return fmax(within, noise_of_runs(&a->totals, &b->totals));
}

/* ---- how often a kernel was launched with each grid, on both sides ---- */

static int by_shape(const void *pa, const void *pb)
{
	const struct rk_shape_count *a = pa, *b = pb;

	for (unsigned i = 0; i < 6; i++)
		if (a->shape.n[i] != b->shape.n[i])
			return a->shape.n[i] < b->shape.n[i] ? -1 : 1;
	return (a->shape.items > b->shape.items) - (a->shape.items < b->shape.items);
}

/*
 * The number of shapes of a name, and with `out` the list of them. b: store the calls as those of
 * B.
 */
static size_t list_shapes(const struct rk_profile *p, const struct rk_profile_name *n, bool b,
			  struct rk_shape_count *out)
{
	size_t c = 0;

	if (!p || !n)
		return 0;
	for (uint32_t s = n->shapes; s; s = p->shapes[s - 1].next, c++) {
		const struct rk_profile_shape *shape = &p->shapes[s - 1];

		if (!out)
			continue;
		out[c] = (struct rk_shape_count){ .shape = shape->shape };
		if (b)
			out[c].b = shape->calls;
		else
			out[c].a = shape->calls;
	}
	return c;
}

int rk_shape_counts(const struct rk_profile *pa, const struct rk_profile_name *a,
		    const struct rk_profile *pb, const struct rk_profile_name *b,
		    struct rk_shape_count **ret, size_t *ret_n, struct rk_error *err)
{
	size_t n = list_shapes(pa, a, false, NULL) + list_shapes(pb, b, true, NULL), out = 0;
	struct rk_shape_count *v = rk_calloc(n, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	n = list_shapes(pa, a, false, v);
	n += list_shapes(pb, b, true, v + n);
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

/* ---- kernels ---- */

/* A change below this share of the larger total is never significant. */
#define LEAST_SHARE 0.01

enum gpu_part { APPEARED, VANISHED, SPEED, CALLS, GPU_PARTS };

__extension__ typedef unsigned __int128 u128;

/* Scales the time t of `more` calls to `few` calls. */
static int64_t scaled(int64_t t, uint64_t few, uint64_t more)
{
	return more ? (int64_t)(((u128)(uint64_t)t * few + more / 2) / more) : 0;
}

static void part_add(struct rk_diff_part *p, int64_t a, int64_t b)
{
	p->a_ns += a;
	p->b_ns += b;
	p->delta_ns += b - a;
}

/* A copy of a text owned by the result; "" if out of memory, see w->texts.bad. */
static const char *own(struct rk_diff_work *w, const char *text)
{
	rk_list_add(&w->texts, text);
	if (w->texts.bad)
		return "";
	return w->texts.v[w->texts.n - 1];
}

static struct rk_diff_count count_of(struct rk_diff_work *w, const struct rk_side_name *n)
{
	struct rk_diff_count c = {
		.name = "", .mean_ns = NAN, .median_ns = NAN, .mad_ns = NAN, .stddev_ns = NAN
	};

	if (!n)
		return c;
	c.name = own(w, n->text);
	c.calls = n->calls;
	c.calls_least = n->least;
	c.calls_most = n->most;
	c.total_ns = n->total_ns;
	c.median_ns = n->median_ns;
	c.mad_ns = n->mad_ns;
	if (n->timed)
		c.mean_ns = (double)n->total_ns / (double)n->timed;
	if (n->free >= 1)
		c.stddev_ns = sqrt(n->squares / n->free);
	return c;
}

static bool is_significant(const struct rk_diff_work *w, const struct rk_pair *p,
			   const struct rk_diff_kernel *k)
{
	double most = (double)rk_max_i64(w->a.total_ns, w->b.total_ns);
	double least = LEAST_SHARE * most;

	if (most <= 0)
		return false;
	if (!p->a || !p->b)
		return fabs((double)k->delta_ns) >= least;
	if (fabs((double)k->calls_ns) >= least &&
	    (p->a->most < p->b->least || p->b->most < p->a->least))
		return true;
	if (fabs((double)k->speed_ns) < least)
		return false;
	if (fabs((double)k->speed_ns) > k->noise_ns)
		return true;
	/*
	 * Single runs: the intervals of the medians must not overlap, and must differ in the
	 * direction of the mean.
	 */
	if (w->a.runs > 1 || w->b.runs > 1)
		return false;
	return (k->speed_ns > 0 && p->a->median_high_ns < p->b->median_low_ns) ||
	       (k->speed_ns < 0 && p->b->median_high_ns < p->a->median_low_ns);
}

/* Also adds the pair's parts to the parts of the whole. */
static void kernel_make(struct rk_diff_work *w, const struct rk_pair *p, struct rk_diff_kernel *k,
			struct rk_diff_part *parts)
{
	static const struct rk_side_name none;
	const struct rk_side_name *a = p->a ? p->a : &none, *b = p->b ? p->b : &none;
	int64_t common_a = a->total_ns, common_b = b->total_ns;

	if (a->timed > b->timed)
		common_a = scaled(a->total_ns, b->timed, a->timed);
	if (b->timed > a->timed)
		common_b = scaled(b->total_ns, a->timed, b->timed);
	*k = (struct rk_diff_kernel){
		.match = p->renamed ? RK_DIFF_RENAMED : RK_DIFF_SAME,
		.a = count_of(w, p->a),
		.b = count_of(w, p->b),
		.delta_ns = b->total_ns - a->total_ns,
		.speed_ns = common_b - common_a,
		.noise_ns = NAN,
	};
	k->calls_ns = k->delta_ns - k->speed_ns;
	if (!p->a) {
		k->match = RK_DIFF_APPEARED;
		part_add(&parts[APPEARED], 0, b->total_ns);
	} else if (!p->b) {
		k->match = RK_DIFF_VANISHED;
		part_add(&parts[VANISHED], a->total_ns, 0);
	} else {
		k->noise_ns = noise_of_mean(a, b) * (double)rk_min(a->timed, b->timed);
		part_add(&parts[SPEED], common_a, common_b);
		part_add(&parts[CALLS], a->total_ns - common_a, b->total_ns - common_b);
	}
	k->significant = is_significant(w, p, k);
}

/* A kernel and its pair, for sorting. */
struct ordered {
	struct rk_diff_kernel k;
	const struct rk_pair *pair;
};

static uint64_t size_of(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static const char *name_of(const struct rk_diff_kernel *k)
{
	return k->a.name[0] ? k->a.name : k->b.name;
}

static int larger_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/* Sorts kernels that changed first. */
static int by_change(const void *pa, const void *pb)
{
	const struct rk_diff_kernel *a = &((const struct ordered *)pa)->k;
	const struct rk_diff_kernel *b = &((const struct ordered *)pb)->k;
	int order = larger_first(size_of(a->delta_ns), size_of(b->delta_ns));

	if (!order)
		order = larger_first(size_of(a->speed_ns), size_of(b->speed_ns));
	if (!order)
		order = larger_first(a->a.calls != a->b.calls, b->a.calls != b->b.calls);
	if (!order)
		order = larger_first((uint64_t)(a->a.total_ns + a->b.total_ns),
				     (uint64_t)(b->a.total_ns + b->b.total_ns));
	if (!order)
		order = strcmp(name_of(a), name_of(b));
	return order;
}

/* ---- grids of kernels on both sides ---- */

static int add_grids(struct rk_diff *d, size_t *cap, size_t kernel, const struct rk_pair *p,
		     struct rk_error *err)
{
	struct rk_shape_count *v = NULL;
	size_t n = 0;
	int rc = rk_shape_counts(p->a->of, p->a->name, p->b->of, p->b->name, &v, &n, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		double a = (double)v[i].a / (double)p->a->name->calls;
		double b = (double)v[i].b / (double)p->b->name->calls;
		struct rk_diff_grid *grown;

		/* only on one side, or the share of launches changed by more than 0.1 */
		if (v[i].a && v[i].b && fabs(a - b) <= 0.1)
			continue;
		if (v[i].shape.n[0] < 0 && v[i].shape.n[3] < 0)
			continue;
		grown = rk_grow(d->grids, cap, d->ngrids + 1, sizeof(*grown));
		if (!grown) {
			rc = rk_fail_nomem(err);
			break;
		}
		d->grids = grown;
		grown += d->ngrids++;
		*grown = (struct rk_diff_grid){ .kernel = kernel, .a = v[i].a, .b = v[i].b };
		rk_shape_text(&v[i].shape, grown->shape, sizeof(grown->shape));
		d->kernels[kernel].grids = true;
	}
	rk_free(v);
	return rc;
}

/* Only true if both runs recorded how kernels were launched. */
static bool has_shape(const struct rk_side_name *n)
{
	return n && (n->work >= 0 || n->block >= 0);
}

static int make_kernels(struct rk_diff_work *w, struct rk_error *err)
{
	struct ordered *list = rk_calloc(w->npairs, sizeof(*list));
	struct rk_diff *d = w->d;
	size_t cap = 0;
	int rc = 0;

	d->kernels = rk_calloc(w->npairs, sizeof(*d->kernels));
	if (!list || !d->kernels) {
		rk_free(list);
		return rk_fail_nomem(err);
	}
	for (size_t i = 0; i < w->npairs; i++) {
		kernel_make(w, &w->pairs[i], &list[i].k, d->gpu.parts);
		list[i].pair = &w->pairs[i];
	}
	qsort(list, w->npairs, sizeof(*list), by_change);
	for (size_t i = 0; i < w->npairs; i++) {
		d->kernels[d->nkernels++] = list[i].k;
		if (!has_shape(list[i].pair->a) || !has_shape(list[i].pair->b))
			continue;
		rc = add_grids(d, &cap, i, list[i].pair, err);
		if (rc < 0)
			break;
	}
	rk_free(list);
	return rc;
}

/* ---- totals ---- */

static void whole_make(struct rk_diff_whole *whole, bool known, int64_t a, int64_t b, double noise)
{
	whole->known = known;
	whole->percent = whole->noise_ns = NAN;
	if (!known) {
		whole->nparts = 0;
		return;
	}
	whole->a_ns = a;
	whole->b_ns = b;
	whole->delta_ns = b - a;
	if (a > 0)
		whole->percent = 100 * (double)whole->delta_ns / (double)a;
	whole->noise_ns = noise;
	whole->significant = fabs((double)whole->delta_ns) > noise;
}

static void wall_part(struct rk_diff_whole *wall, const char *name, int64_t a, int64_t b)
{
	wall->parts[wall->nparts++] = (struct rk_diff_part){ name, a, b, b - a };
}

/* ---- lines ---- */

static int by_line_change(const void *pa, const void *pb)
{
	const struct rk_diff_line *a = pa, *b = pb;
	int order = larger_first(size_of(a->delta_ns), size_of(b->delta_ns));

	if (order)
		return order;
	return strcmp(a->name, b->name);
}

static int make_lines(struct rk_diff_work *w, const struct rk_side_lines *a,
		      const struct rk_side_lines *b, bool known, struct rk_diff_lines *ret,
		      struct rk_diff_whole *whole, struct rk_error *err)
{
	static const struct rk_side_line none;
	struct rk_merge m = RK_MERGE(a->v, a->n, b->v, b->n, &none);

	ret->v = rk_calloc(a->n + b->n, sizeof(*ret->v));
	if (!ret->v)
		return rk_fail_nomem(err);
	while (rk_merge_next(&m)) {
		const struct rk_side_line *x = m.x, *y = m.y;

		ret->v[ret->n++] = (struct rk_diff_line){
			.name = own(w, m.name),
			.calls_a = x->calls,
			.calls_b = y->calls,
			.bytes_a = x->bytes,
			.bytes_b = y->bytes,
			.a_ns = x->total_ns,
			.b_ns = y->total_ns,
			.delta_ns = y->total_ns - x->total_ns,
		};
	}
	qsort(ret->v, ret->n, sizeof(*ret->v), by_line_change);
	whole_make(whole, known, a->total_ns, b->total_ns, NAN);
	return 0;
}

int rk_diff_parts(struct rk_diff_work *w, struct rk_error *err)
{
	static const char *const names[GPU_PARTS] = { "appeared", "vanished", "speed", "calls" };
	const struct rk_side *a = &w->a, *b = &w->b;
	const struct rk_profile_time *ta = &a->time, *tb = &b->time;
	struct rk_diff *d = w->d;
	int rc;

	for (unsigned i = 0; i < GPU_PARTS; i++)
		d->gpu.parts[i].name = names[i];
	d->gpu.nparts = GPU_PARTS;
	rc = make_kernels(w, err);
	if (rc < 0)
		return rc;
	/*
	 * no copies can be a real difference; no API calls only means that they were not recorded
	 */
	rc = make_lines(w, &a->copies, &b->copies, a->copies.known || b->copies.known, &d->copies,
			&d->copy, err);
	if (rc < 0)
		return rc;
	rc = make_lines(w, &a->api, &b->api, a->api.known && b->api.known, &d->calls, &d->api, err);
	if (rc < 0)
		return rc;
	if (a->ranks.n > 1 || b->ranks.n > 1) {
		rc = make_lines(w, &a->ranks, &b->ranks, a->ranks.known && b->ranks.known,
				&d->ranks, &d->rank, err);
		if (rc < 0)
			return rc;
	}
	whole_make(&d->gpu, true, a->total_ns, b->total_ns, noise_of_total(a, b));

	d->wall = d->gpu; /* its parts come first */
	wall_part(&d->wall, "overlap", ta->kernels + ta->unplaced - a->total_ns,
		  tb->kernels + tb->unplaced - b->total_ns);
	wall_part(&d->wall, "unplaced", -ta->unplaced, -tb->unplaced);
	wall_part(&d->wall, "copies", ta->copies - ta->both, tb->copies - tb->both);
	wall_part(&d->wall, "idle", ta->idle, tb->idle);
	whole_make(&d->wall, ta->known && tb->known, ta->wall, tb->wall,
		   noise_of_runs(&a->walls, &b->walls));
	return 0;
}
