/* diff.c - two runs compared: the parts sum, and change sides with the runs. */
#include "rockit/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "diff/diff_parts.h"
#include "diff_world.h"

enum { ROWS = 120, RUNS = 3 };

static const char *const names[] = {
	"gemm",
	"void ns::gemm<float, 128>(float*)",
	"void ns::gemm<float, 256>(float*)",
	"void ns::gemm<half, 64>(half*)",
	"softmax",
	"triton_poi_fused_add_3",
	"triton_poi_fused_add_7",
	"Cijk_Ailk_Bljk_SB_MT64x64x16_SE",
	"Cijk_Ailk_Bljk_SB_MT128x128x8_SE",
	"",
};

static const char *const directions[] = { "MEMORY_COPY_HOST_TO_DEVICE",
					  "MEMORY_COPY_DEVICE_TO_HOST" };

/* Rows of a run that nobody thought of: overlapping, in any order, some without times. */
static size_t random_rows(struct launch *v, uint64_t *seed)
{
	size_t n = world_random(seed) % ROWS, kinds = 1 + world_random(seed) % COUNT(names);
	int64_t span = 1 + (int64_t)(world_random(seed) % 100000);

	for (size_t i = 0; i < n; i++) {
		bool copy = world_random(seed) % 8 == 0;

		v[i] = (struct launch){
			.name = copy ? directions[world_random(seed) % 2] :
				       names[(world_random(seed) + n) % kinds],
			.start = (int64_t)(world_random(seed) % (uint64_t)span),
			.duration = (int64_t)(world_random(seed) % 1000),
			.grid = 1 + (int32_t)(world_random(seed) % 3),
			.block = 64,
			.stream = (int32_t)(world_random(seed) % 3),
			.bytes = copy ? 1 + (int64_t)(world_random(seed) % 4096) : 0,
		};
		if (world_random(seed) % 50 == 0)
			v[i].start = -1;
		if (world_random(seed) % 50 == 0)
			v[i].duration = -1;
	}
	return n;
}

static size_t random_side(struct rk_profile **p, uint64_t *seed)
{
	size_t runs = 1 + world_random(seed) % RUNS;
	struct launch v[ROWS];

	for (size_t i = 0; i < runs; i++) {
		size_t n = random_rows(v, seed);

		p[i] = diff_profile_of(v, n);
	}
	return runs;
}

static struct rk_diff *compare(struct rk_profile **a, size_t na, struct rk_profile **b, size_t nb)
{
	struct rk_error err = { 0 };
	struct rk_diff *d = NULL;

	CHECK_I64(rk_diff_make((const struct rk_profile *const *)a, na,
			       (const struct rk_profile *const *)b, nb, NULL, &d, &err),
		  0);
	return d;
}

static void check_minus_whole(const struct rk_diff_whole *x, const struct rk_diff_whole *y)
{
	CHECK(x->known == y->known);
	CHECK_I64(x->delta_ns, -y->delta_ns);
	CHECK_I64(x->a_ns, y->b_ns);
	CHECK(x->significant == y->significant);
	CHECK_U64(x->nparts, y->nparts);
	for (size_t i = 0; i < x->nparts; i++) {
		/* what appeared in one order of the sides has vanished in the other */
		const char *name = strcmp(x->parts[i].name, "appeared") == 0 ? "vanished" :
				   strcmp(x->parts[i].name, "vanished") == 0 ? "appeared" :
									       x->parts[i].name;
		const struct rk_diff_part *other = diff_part(y, name);

		CHECK(other && other->delta_ns == -x->parts[i].delta_ns &&
		      other->a_ns == x->parts[i].b_ns);
	}
}

static void check_minus(const struct rk_diff *x, const struct rk_diff *y)
{
	check_minus_whole(&x->gpu, &y->gpu);
	check_minus_whole(&x->wall, &y->wall);
	check_minus_whole(&x->copy, &y->copy);
	CHECK_U64(x->nkernels, y->nkernels);
	for (size_t i = 0; i < x->nkernels; i++) {
		const struct rk_diff_kernel *k = &x->kernels[i], *o = NULL;

		for (size_t n = 0; !o && n < y->nkernels; n++)
			if (strcmp(y->kernels[n].a.name, k->b.name) == 0 &&
			    strcmp(y->kernels[n].b.name, k->a.name) == 0 &&
			    (y->kernels[n].match == RK_DIFF_SAME) == (k->match == RK_DIFF_SAME))
				o = &y->kernels[n];
		if (!CHECK(o != NULL))
			continue;
		CHECK_I64(o->delta_ns, -k->delta_ns);
		CHECK_I64(o->speed_ns, -k->speed_ns);
		CHECK_I64(o->calls_ns, -k->calls_ns);
		CHECK(o->significant == k->significant);
	}
}

static void check_zero(const struct rk_diff *d)
{
	CHECK_I64(d->gpu.delta_ns, 0);
	CHECK_I64(d->wall.delta_ns, 0);
	for (size_t i = 0; i < d->wall.nparts; i++)
		CHECK_I64(d->wall.parts[i].delta_ns, 0);
	for (size_t i = 0; i < d->nkernels; i++) {
		CHECK(d->kernels[i].match == RK_DIFF_SAME && !d->kernels[i].significant);
		CHECK_I64(d->kernels[i].speed_ns, 0);
		CHECK_I64(d->kernels[i].calls_ns, 0);
	}
	CHECK_U64(d->ngrids, 0);
}

TEST(parts_of_random_runs_sum_and_change_sign_with_the_sides)
{
	for (uint64_t round = 0; round < 100; round++) {
		uint64_t seed = 0x9e3779b97f4a7c15u * (round + 1);
		struct rk_profile *p[2 * RUNS];
		size_t na = random_side(p, &seed), nb = random_side(p + na, &seed);
		struct rk_diff *x = compare(p, na, p + na, nb), *y = compare(p + na, nb, p, na);
		struct rk_diff *same = compare(p, na, p, na);

		diff_check_sums(x);
		diff_check_sums(y);
		diff_check_sums(same);
		check_minus(x, y);
		check_zero(same);
		rk_diff_free(x);
		rk_diff_free(y);
		rk_diff_free(same);
		for (size_t i = 0; i < na + nb; i++)
			rk_profile_free(p[i]);
	}
}

/* Nanosecond by nanosecond. */
static void count_time(const struct launch *v, size_t n, struct rk_profile_time *t)
{
	enum { SPAN = 3000 };
	static bool kernel[SPAN], copy[SPAN];
	int64_t first = SPAN, last = 0;

	memset(kernel, 0, sizeof(kernel));
	memset(copy, 0, sizeof(copy));
	for (size_t i = 0; i < n; i++) {
		for (int64_t at = v[i].start; at < v[i].start + v[i].duration; at++)
			(v[i].bytes ? copy : kernel)[at] = true;
		first = v[i].start < first ? v[i].start : first;
		last = v[i].start + v[i].duration > last ? v[i].start + v[i].duration : last;
	}
	*t = (struct rk_profile_time){ .known = n > 0, .wall = n ? last - first : 0 };
	for (int64_t at = first; at < last; at++) {
		t->kernels += kernel[at];
		t->copies += copy[at];
		t->both += kernel[at] && copy[at];
		t->idle += !kernel[at] && !copy[at];
	}
}

TEST(busy_and_idle_times_are_those_counted_by_hand)
{
	for (uint64_t round = 0; round < 100; round++) {
		uint64_t seed = 77 + round * 0x9e3779b97f4a7c15u;
		struct launch v[40];
		size_t n = world_random(&seed) % COUNT(v);
		struct rk_profile_time want;
		struct rk_profile *p;

		for (size_t i = 0; i < n; i++)
			v[i] = (struct launch){
				.name = "k",
				.start = (int64_t)(world_random(&seed) % 2000),
				.duration = (int64_t)(world_random(&seed) % 60),
				.bytes = world_random(&seed) % 4 == 0,
			};
		count_time(v, n, &want);
		p = diff_profile_of(v, n);
		CHECK(p->time.known == want.known);
		CHECK_I64(p->time.wall, want.wall);
		CHECK_I64(p->time.kernels, want.kernels);
		CHECK_I64(p->time.copies, want.copies);
		CHECK_I64(p->time.both, want.both);
		CHECK_I64(p->time.idle, want.idle);
		rk_profile_free(p);
	}
}

/* n calls of `duration` each, one behind the other with a gap of `gap`. */
static size_t calls(struct launch *v, const char *name, size_t n, int64_t duration, int64_t gap)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (struct launch){ .name = name,
					.start = (int64_t)i * (duration + gap),
					.duration = duration,
					.grid = 8,
					.block = 64 };
	return n;
}

TEST(speed_is_separated_from_calls_and_gaps)
{
	struct launch a[64], b[64];
	struct rk_diff *d = diff_of(diff_profile_of(a, calls(a, "k", 10, 100, 50)),
				    diff_profile_of(b, calls(b, "k", 12, 110, 20)), NULL);

	diff_check_sums(d);
	CHECK_I64(d->gpu.delta_ns, 320);
	CHECK_I64(d->kernels[0].speed_ns, 100); /* ten calls, 10 ns more each */
	CHECK_I64(d->kernels[0].calls_ns, 220); /* two calls of 110 ns */
	CHECK_I64(d->wall.a_ns, 1450);
	CHECK_I64(diff_part(&d->wall, "idle")->delta_ns, 11 * 20 - 9 * 50);
	CHECK_I64(diff_part(&d->wall, "overlap")->delta_ns, 0);
	CHECK(d->kernels[0].significant);
	rk_diff_free(d);
}

TEST(kernels_that_appear_and_vanish_are_parts_of_their_own)
{
	struct launch a[64], b[64];
	struct rk_diff *d = diff_of(diff_profile_of(a, calls(a, "old", 10, 100, 0)),
				    diff_profile_of(b, calls(b, "new", 10, 70, 0)), NULL);

	diff_check_sums(d);
	CHECK_I64(diff_part(&d->gpu, "appeared")->delta_ns, 700);
	CHECK_I64(diff_part(&d->gpu, "vanished")->delta_ns, -1000);
	CHECK_I64(diff_part(&d->gpu, "speed")->delta_ns, 0);
	CHECK(diff_kernel(d, "old")->match == RK_DIFF_VANISHED);
	CHECK(diff_kernel(d, "new")->match == RK_DIFF_APPEARED);
	rk_diff_free(d);
}

TEST(runs_without_kernels_compare_too)
{
	struct launch b[4];
	struct rk_diff *d = diff_of(diff_profile_of(NULL, 0), diff_profile_of(NULL, 0), NULL);

	CHECK_I64(d->gpu.delta_ns, 0);
	CHECK(!d->wall.known && d->nkernels == 0 && isnan(d->gpu.percent));
	rk_diff_free(d);
	d = diff_of(diff_profile_of(NULL, 0), diff_profile_of(b, calls(b, "k", 1, 5, 0)), NULL);
	diff_check_sums(d);
	CHECK_I64(d->gpu.delta_ns, 5);
	CHECK(isnan(d->gpu.percent) && !d->wall.known);
	rk_diff_free(d);
}

TEST(totals_of_centuries_stay_sums)
{
	struct launch a[8], b[1] = { { .name = "k", .start = 0, .duration = 1 } };
	struct rk_diff *d;

	for (size_t i = 0; i < COUNT(a); i++)
		a[i] = (struct launch){ .name = i % 2 ? "x" : "y", .duration = INT64_MAX / 2 };
	d = diff_of(diff_profile_of(a, COUNT(a)), diff_profile_of(b, 1), NULL);
	diff_check_sums(d);
	CHECK(d->gpu.delta_ns < 0 && d->ndoubts > 0);
	rk_diff_free(d);
}

TEST(names_past_the_limit_count_together_and_are_reported)
{
	enum { MORE = 50, N = RK_PROFILE_NAMES + MORE };
	struct launch *v = calloc(N, sizeof(*v));
	char(*text)[16] = calloc(N, sizeof(*text));
	struct rk_profile *p;

	for (int i = 0; v && text && i < N; i++) {
		snprintf(text[i], sizeof(text[i]), "k%d", i);
		v[i] = (struct launch){ .name = text[i], .start = i, .duration = 3 };
	}
	p = v && text ? diff_profile_of(v, N) : NULL;
	if (CHECK(p != NULL)) {
		CHECK_U64(p->nnames, RK_PROFILE_NAMES + 1);
		CHECK_U64(p->calls, N);
		CHECK_I64(p->total_ns, 3 * N);
		CHECK(p->doubts.n == 1 && strstr(p->doubts.v[0], "kernel names"));
	}
	rk_profile_free(p);
	free(v);
	free(text);
}

/* ---- names ---- */

TEST(base_names_are_without_what_is_generated)
{
	static const char *const want[][2] = {
		{ "void at::native::vectorized<4, Fill<float>>(int, Fill<float>)", "vectorized" },
		{ "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0", "Cijk_Ailk_Bljk_SB" },
		{ "triton_poi_fused_add_12", "triton_poi_fused_add" },
		{ "kernel_0d1d2de3", "kernel" },
		{ "MTkernel", "MTkernel" },
		{ "gemm", "gemm" },
		{ "_3", "_3" },
		{ "", "" },
	};
	struct rk_bytes out;

	rk_bytes_init(&out, 1000);
	for (size_t i = 0; i < COUNT(want); i++) {
		rk_bytes_clear(&out);
		CHECK(rk_match_base(want[i][0], &out));
		CHECK_STR(rk_bytes_str(&out), want[i][1]);
	}
	rk_bytes_release(&out);
}

TEST(a_kernel_under_another_name_is_found_again)
{
	struct launch a[40], b[40];
	struct rk_diff *d;
	const struct rk_diff_kernel *k;

	calls(a, "void gemm<float, 64>(float*)", 20, 100, 0);
	calls(a + 20, "void gemm<half, 64>(half*)", 20, 50, 0);
	calls(b, "void gemm<float, 128>(float*)", 20, 90, 0);
	calls(b + 20, "void gemm<half, 128>(half*)", 20, 40, 0);
	d = diff_of(diff_profile_of(a, 40), diff_profile_of(b, 40), NULL);
	diff_check_sums(d);
	CHECK_U64(d->nkernels, 2);
	k = diff_kernel(d, "void gemm<float, 128>(float*)");
	if (CHECK(k && k->match == RK_DIFF_RENAMED)) {
		CHECK_STR(k->a.name, "void gemm<float, 64>(float*)");
		CHECK_I64(k->speed_ns, -200);
	}
	rk_diff_free(d);
}

TEST(kernels_of_other_sizes_are_not_renamed_ones)
{
	struct launch a[64], b[64];
	struct rk_diff *d;

	calls(a, "gemm_1", 20, 100, 0);
	calls(b, "gemm_2", 50, 100, 0); /* more than twice as often */
	d = diff_of(diff_profile_of(a, 20), diff_profile_of(b, 50), NULL);
	CHECK_U64(d->nkernels, 2);
	rk_diff_free(d);
	calls(b, "gemm_2", 20, 100, 0);
	for (size_t i = 0; i < 20; i++)
		b[i].grid = 8 * 32;
	d = diff_of(diff_profile_of(a, 20), diff_profile_of(b, 20), NULL);
	CHECK_U64(d->nkernels, 2);
	rk_diff_free(d);
}

TEST(a_template_made_with_something_else_is_another_kernel)
{
	struct launch a[20], b[20];
	struct rk_diff *d;

	calls(a, "void apply<add_of_two_tensors<float>>(float*)", 20, 100, 0);
	calls(b, "void apply<silu<half>>(half*)", 20, 100, 0);
	d = diff_of(diff_profile_of(a, 20), diff_profile_of(b, 20), NULL);
	CHECK_U64(d->nkernels, 2);
	rk_diff_free(d);
	calls(a, "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_1LDSB0_APM1_ABV0_ACED0", 20, 100, 0);
	calls(b, "Cijk_Ailk_Bljk_SB_MT8x8x8_MI4_ISA942_WG32", 20, 100, 0);
	d = diff_of(diff_profile_of(a, 20), diff_profile_of(b, 20), NULL);
	CHECK_U64(d->nkernels, 1);
	rk_diff_free(d);
}

TEST(a_kernel_launched_with_another_grid_is_reported)
{
	struct launch a[20], b[20];
	struct rk_diff *d;

	calls(a, "k", 20, 100, 0);
	calls(b, "k", 20, 100, 0);
	b[7].grid = 16;
	d = diff_of(diff_profile_of(a, 20), diff_profile_of(b, 20), NULL);
	CHECK_U64(d->ngrids, 1);
	CHECK(d->kernels[0].grids);
	CHECK_STR(d->grids[0].shape, "grid 16x1x1 block 64x1x1");
	CHECK(d->grids[0].a == 0 && d->grids[0].b == 1);
	rk_diff_free(d);
}

/* ---- noise ---- */

TEST(student_is_near_the_tables)
{
	static const double two[][2] = { { 1, 63.657 }, { 4, 4.604 },  { 5, 4.032 },
					 { 10, 3.169 }, { 30, 2.750 }, { 1e9, 2.576 } };
	static const double one[][2] = { { 2, 6.965 }, { 6, 3.143 }, { 20, 2.528 }, { 1e9, 2.326 } };

	for (size_t i = 0; i < COUNT(two); i++)
		CHECK(fabs(rk_t99(two[i][0]) / two[i][1] - 1) < 0.01);
	for (size_t i = 0; i < COUNT(one); i++)
		CHECK(fabs(rk_t99_above(one[i][0]) / one[i][1] - 1) < 0.01);
}

/* About normal around `mean`. */
static int64_t noisy(uint64_t *seed, double mean, double deviation)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(world_random(seed) % 1000000) / 1e6;
	return (int64_t)(mean + deviation * sum);
}

static size_t noisy_calls(struct launch *v, size_t n, double mean, double deviation, uint64_t *seed)
{
	calls(v, "k", n, (int64_t)(2 * mean), 0);
	for (size_t i = 0; i < n; i++)
		v[i].duration = noisy(seed, mean, deviation);
	return n;
}

TEST(chance_is_not_called_significant_and_a_change_is)
{
	enum { ROUNDS = 100 };
	unsigned chance = 0, missed = 0;
	uint64_t seed = 5;
	struct launch a[100], b[100];

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct rk_profile *pa = diff_profile_of(a, noisy_calls(a, 50, 1000, 100, &seed));
		struct rk_diff *d =
			diff_of(pa, diff_profile_of(b, noisy_calls(b, 50, 1000, 100, &seed)), NULL);

		chance += d->kernels[0].significant;
		rk_diff_free(d);
		pa = diff_profile_of(a, noisy_calls(a, 50, 1000, 100, &seed));
		d = diff_of(pa, diff_profile_of(b, noisy_calls(b, 50, 1100, 100, &seed)), NULL);
		missed += !d->kernels[0].significant;
		rk_diff_free(d);
	}
	CHECK(chance <= ROUNDS / 50);
	CHECK(missed <= ROUNDS / 50);
}

TEST(one_slow_launch_does_not_hide_that_all_are_slower)
{
	struct launch a[100], b[100];
	uint64_t seed = 9;
	struct rk_diff *d;

	noisy_calls(a, 100, 1000, 20, &seed);
	noisy_calls(b, 100, 1200, 20, &seed);
	a[0].duration = b[0].duration = 500000;
	d = diff_of(diff_profile_of(a, 100), diff_profile_of(b, 100), NULL);
	CHECK((double)d->kernels[0].speed_ns < d->kernels[0].noise_ns);
	CHECK(d->kernels[0].significant);
	rk_diff_free(d);
}

TEST(different_grids_of_a_kernel_are_not_noise)
{
	struct launch a[100], b[100];
	uint64_t seed = 11;
	struct rk_diff *d;

	noisy_calls(a, 100, 1000, 10, &seed);
	noisy_calls(b, 100, 1030, 10, &seed);
	for (size_t i = 0; i < 100; i += 2) {
		a[i].grid = b[i].grid = 80;
		a[i].duration *= 10;
		b[i].duration = b[i].duration * 10;
	}
	d = diff_of(diff_profile_of(a, 100), diff_profile_of(b, 100), NULL);
	CHECK(d->kernels[0].significant && d->kernels[0].a.stddev_ns < 200);
	rk_diff_free(d);
}

TEST(medians_and_their_distances_are_those_of_the_rows)
{
	struct launch v[] = { { .name = "k", .duration = 10 },
			      { .name = "k", .duration = 12 },
			      { .name = "k", .duration = 11 },
			      { .name = "k", .duration = 99 },
			      { .name = "k", .duration = 15 } };
	struct rk_profile *p = diff_profile_of(v, COUNT(v));

	CHECK(p->names[0].median_ns == 12 && p->names[0].mad_ns == 2);
	CHECK(isnan(p->names[0].median_low_ns)); /* five say too little */
	rk_profile_free(p);
}
