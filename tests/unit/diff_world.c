/* diff_world.c - see diff_world.h. */
#include "diff_world.h"

#include <string.h>

static bool nomem; /* while rows were made */

static uint32_t word(struct world *w, const char *text)
{
	uint32_t id = 0;

	nomem |= rk_strtab_add(w->ctx.names, text, strlen(text), &id, NULL) < 0;
	return id;
}

static void put_i64(struct rk_builder *b, unsigned f, size_t i, int64_t v, bool has)
{
	int64_t *data = rk_builder_column(b, f);

	nomem |= !data;
	if (data)
		data[i] = v;
	if (data && !has)
		nomem |= !rk_builder_null(b, f, i);
}

static void put_i32(struct rk_builder *b, unsigned f, size_t i, int32_t v, bool has)
{
	int32_t *data = rk_builder_column(b, f);

	nomem |= !data;
	if (data)
		data[i] = v;
	if (data && !has)
		nomem |= !rk_builder_null(b, f, i);
}

static void put_kernel(struct world *w, struct rk_builder *b, size_t i, const struct launch *l)
{
	put_i32(b, RK_K_NAME, i, (int32_t)word(w, l->name), true);
	put_i64(b, RK_K_START, i, l->start, l->start >= 0);
	put_i64(b, RK_K_DURATION, i, l->duration, l->duration >= 0);
	for (unsigned k = 0; k < 3; k++) {
		put_i32(b, RK_K_GRID_X + k, i, k ? 1 : l->grid, l->grid != 0);
		put_i32(b, RK_K_BLOCK_X + k, i, k ? 1 : l->block, l->block != 0);
	}
	put_i32(b, RK_K_STREAM, i, l->stream, true);
	put_i64(b, RK_K_DISPATCH, i, l->dispatch, l->dispatch != 0);
}

static void put_copy(struct world *w, struct rk_builder *b, size_t i, const struct launch *l)
{
	put_i32(b, RK_C_DIRECTION, i, (int32_t)word(w, l->name), true);
	put_i64(b, RK_C_START, i, l->start, l->start >= 0);
	put_i64(b, RK_C_DURATION, i, l->duration, l->duration >= 0);
	put_i64(b, RK_C_BYTES, i, l->bytes, true);
}

static int add(struct world *w, struct rk_profiler *p, enum rk_table t, const struct launch *v,
	       size_t n, struct rk_error *err)
{
	struct rk_builder b;
	int rc = rk_builder_init(&b, rk_table_schema(t), n + 1, err);

	if (rc < 0)
		return rc;
	nomem = false;
	for (size_t i = 0; i < n; i++) {
		if ((v[i].bytes != 0) != (t == RK_MEMCPY))
			continue;
		if (t == RK_MEMCPY)
			put_copy(w, &b, b.nrows++, &v[i]);
		else
			put_kernel(w, &b, b.nrows++, &v[i]);
	}
	if (nomem)
		rc = rk_fail_nomem(err);
	else if (b.nrows)
		rc = rk_profiler_add(p, rk_builder_batch(&b), err);
	rk_builder_release(&b);
	return rc;
}

struct rk_profile *diff_profile(struct world *w, const struct launch *v, size_t n, bool structure,
				struct diff_limits limits, int *ret_rc)
{
	struct rk_profile *ret = NULL;
	struct rk_profiler *p = NULL;
	int rc = rk_profiler_new(&w->ctx, structure, &p, &w->err);

	if (rc == 0 && limits.held)
		rc = rk_profiler_limit(p, limits.held, limits.symbols, &w->err);
	if (rc == 0)
		rc = add(w, p, RK_KERNELS, v, n, &w->err);
	if (rc == 0)
		rc = add(w, p, RK_MEMCPY, v, n, &w->err);
	if (rc == 0)
		rc = rk_profiler_finish(p, "run", &ret, &w->err);
	rk_profiler_free(p);
	*ret_rc = rc;
	return ret;
}

struct rk_profile *diff_profile_of(const struct launch *v, size_t n)
{
	struct rk_profile *p;
	struct world w;
	int rc;

	world_open(&w, 1);
	p = diff_profile(&w, v, n, true, (struct diff_limits){ 0, 0 }, &rc);
	CHECK_I64(rc, 0);
	world_close(&w);
	return p;
}

struct rk_diff *diff_of(struct rk_profile *a, struct rk_profile *b,
			const struct rk_diff_options *opt)
{
	const struct rk_profile *pa = a, *pb = b;
	struct rk_error err = { 0 };
	struct rk_diff *d = NULL;

	CHECK_I64(rk_diff_make(&pa, 1, &pb, 1, opt, &d, &err), 0);
	rk_profile_free(a);
	if (b != a)
		rk_profile_free(b);
	return d;
}

const struct rk_diff_part *diff_part(const struct rk_diff_whole *w, const char *name)
{
	for (size_t i = 0; i < w->nparts; i++)
		if (strcmp(w->parts[i].name, name) == 0)
			return &w->parts[i];
	return NULL;
}

const struct rk_diff_kernel *diff_kernel(const struct rk_diff *d, const char *name)
{
	for (size_t i = 0; i < d->nkernels; i++) {
		const struct rk_diff_kernel *k = &d->kernels[i];

		if (strcmp(k->match == RK_DIFF_VANISHED ? k->a.name : k->b.name, name) == 0)
			return k;
	}
	return NULL;
}

static void check_whole(const struct rk_diff_whole *w)
{
	int64_t a = 0, b = 0, delta = 0;

	CHECK_I64(w->delta_ns, w->b_ns - w->a_ns);
	for (size_t i = 0; i < w->nparts; i++) {
		CHECK_I64(w->parts[i].delta_ns, w->parts[i].b_ns - w->parts[i].a_ns);
		a += w->parts[i].a_ns;
		b += w->parts[i].b_ns;
		delta += w->parts[i].delta_ns;
	}
	if (!w->nparts)
		return;
	CHECK_I64(a, w->a_ns);
	CHECK_I64(b, w->b_ns);
	CHECK_I64(delta, w->delta_ns);
}

static void check_lines(const struct rk_diff_lines *l, const struct rk_diff_whole *w)
{
	int64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->v[i].delta_ns;
	if (w->known)
		CHECK_I64(sum, w->delta_ns);
}

void diff_check_sums(const struct rk_diff *d)
{
	int64_t delta = 0, speed = 0, calls = 0, single = 0;

	check_whole(&d->gpu);
	check_whole(&d->wall);
	check_lines(&d->copies, &d->copy);
	check_lines(&d->calls, &d->api);
	for (size_t i = 0; i < d->nkernels; i++) {
		const struct rk_diff_kernel *k = &d->kernels[i];
		bool both = k->match == RK_DIFF_SAME || k->match == RK_DIFF_RENAMED;

		CHECK_I64(k->delta_ns, k->b.total_ns - k->a.total_ns);
		CHECK_I64(k->delta_ns, k->speed_ns + k->calls_ns);
		delta += k->delta_ns;
		speed += both ? k->speed_ns : 0;
		calls += both ? k->calls_ns : 0;
		single += both ? 0 : k->delta_ns;
	}
	CHECK_I64(delta, d->gpu.delta_ns);
	CHECK_I64(speed, diff_part(&d->gpu, "speed")->delta_ns);
	CHECK_I64(calls, diff_part(&d->gpu, "calls")->delta_ns);
	CHECK_I64(single, diff_part(&d->gpu, "appeared")->delta_ns +
				  diff_part(&d->gpu, "vanished")->delta_ns);
}
