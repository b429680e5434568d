/* diff_judge.c - gates, structure, and what happens without memory. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "diff_world.h"
#include "rockit/rockit.h"

static const struct rk_diff_options gate5 = { .gated = true, .gate_percent = 5 };
static const struct rk_diff_options structure = { .structure = true };

/* n kernels of `duration`; stream, dispatch and names as a program that takes turns would. */
static size_t program(struct launch *v, size_t n, int64_t duration)
{
	static const char *const names[] = { "norm", "gemm", "softmax", "gemm" };

	for (size_t i = 0; i < n; i++)
		v[i] = (struct launch){ .name = names[i % 4],
					.start = 1000 * (int64_t)i,
					.duration = duration,
					.grid = 8,
					.block = 64,
					.stream = (int32_t)(i % 2),
					.dispatch = (int64_t)i + 1 };
	return n;
}

static enum rk_diff_verdict gate(int64_t a, int64_t b, size_t na, size_t nb)
{
	struct launch x[100], y[100];
	struct rk_diff *d = diff_of(diff_profile_of(x, program(x, na, a)),
				    diff_profile_of(y, program(y, nb, b)), &gate5);
	enum rk_diff_verdict v = d->verdict;

	CHECK(d->reason[0]);
	rk_diff_free(d);
	return v;
}

TEST(a_gate_is_passed_or_not)
{
	CHECK(gate(1000, 1000, 40, 40) == RK_DIFF_WITHIN);
	CHECK(gate(1000, 1050, 40, 40) == RK_DIFF_WITHIN);
	CHECK(gate(1000, 1051, 40, 40) == RK_DIFF_BEYOND);
	CHECK(gate(1000, 500, 40, 40) == RK_DIFF_WITHIN);
	CHECK(gate(1000, 1000, 40, 80) == RK_DIFF_BEYOND);
}

TEST(a_gate_that_means_nothing_is_refused)
{
	static const double bad[] = { NAN, -1, -INFINITY };
	struct launch x[40];
	const struct rk_profile *p = diff_profile_of(x, program(x, 40, 1000));

	for (size_t i = 0; i < 3; i++) {
		const struct rk_diff_options opt = { .gated = true, .gate_percent = bad[i] };
		struct rk_error err = { 0 };
		struct rk_diff *d = NULL;

		CHECK_I64(rk_diff_make(&p, 1, &p, 1, &opt, &d, &err), RK_E_USAGE);
		CHECK(!d);
	}
	rk_profile_free((struct rk_profile *)p);
}

TEST(a_gate_needs_data)
{
	CHECK(gate(1000, 1000, 40, 19) == RK_DIFF_UNKNOWN); /* cut off? */
	CHECK(gate(1000, 1000, 0, 40) == RK_DIFF_UNKNOWN);
	CHECK(gate(1000, 1000, 40, 0) == RK_DIFF_UNKNOWN);
	CHECK(gate(-1, 1000, 40, 40) == RK_DIFF_UNKNOWN);
}

static enum rk_diff_verdict gate_runs(const int64_t *a, size_t na, const int64_t *b, size_t nb)
{
	struct rk_profile *p[16];
	struct rk_error err = { 0 };
	struct rk_diff *d = NULL;
	enum rk_diff_verdict v;
	struct launch x[40];

	for (size_t i = 0; i < na + nb; i++)
		p[i] = diff_profile_of(x, program(x, 40, i < na ? a[i] : b[i - na]));
	CHECK_I64(rk_diff_make((const struct rk_profile *const *)p, na,
			       (const struct rk_profile *const *)p + na, nb, &gate5, &d, &err),
		  0);
	diff_check_sums(d);
	v = d->verdict;
	rk_diff_free(d);
	for (size_t i = 0; i < na + nb; i++)
		rk_profile_free(p[i]);
	return v;
}

TEST(repeated_runs_that_scatter_do_not_fail_the_gate)
{
	static const int64_t wild_a[] = { 800, 1200, 1000, 900 },
			     wild_b[] = { 1300, 900, 1100, 1000 };
	static const int64_t calm_a[] = { 990, 1000, 1010, 1005 };
	static const int64_t calm_b[] = { 1090, 1100, 1110, 1105 };

	CHECK(gate_runs(wild_a, 4, wild_b, 4) == RK_DIFF_WITHIN); /* 10 % more, by chance */
	CHECK(gate_runs(calm_a, 4, calm_b, 4) == RK_DIFF_BEYOND);
	CHECK(gate_runs(calm_b, 4, calm_a, 4) == RK_DIFF_WITHIN);
	CHECK(gate_runs(calm_a, 4, calm_b, 1) == RK_DIFF_BEYOND);
}

/* ---- structure ---- */

static struct rk_diff *structures(struct launch *a, size_t na, struct launch *b, size_t nb)
{
	return diff_of(diff_profile_of(a, na), diff_profile_of(b, nb), &structure);
}

static const struct rk_diff_finding *finding(const struct rk_diff *d, const char *kind)
{
	for (size_t i = 0; i < d->structure.nfindings; i++)
		if (strcmp(d->structure.findings[i].kind, kind) == 0)
			return &d->structure.findings[i];
	return NULL;
}

TEST(other_queue_numbers_times_and_row_order_make_no_difference)
{
	struct launch a[60], b[60];
	uint64_t seed = 3;
	struct rk_diff *d;

	program(a, 60, 100);
	program(b, 60, 730);
	for (size_t i = 0; i < 60; i++) {
		b[i].stream = 7 - b[i].stream;
		b[i].start = (int64_t)(world_random(&seed) % 100000);
		b[i].dispatch += 1000;
	}
	for (size_t i = 59; i > 0; i--) {
		size_t k = world_random(&seed) % (i + 1);
		struct launch t = b[i];

		b[i] = b[k];
		b[k] = t;
	}
	d = structures(a, 60, b, 60);
	CHECK(d->structure.equal && d->verdict == RK_DIFF_WITHIN);
	CHECK_U64(d->structure.nfindings, 0);
	CHECK_U64(d->structure.nqueues, 2);
	rk_diff_free(d);
}

TEST(a_launch_that_is_doubled_is_found_with_its_place)
{
	struct launch a[60], b[61];
	const struct rk_diff_finding *f;
	struct rk_diff *d;

	program(a, 60, 100);
	program(b, 60, 100);
	memmove(b + 31, b + 30, 30 * sizeof(b[0])); /* b[30], a softmax of stream 0, twice */
	for (size_t i = 31; i < 61; i++)
		b[i].dispatch++;
	d = structures(a, 60, b, 61);
	CHECK(d->verdict == RK_DIFF_BEYOND);
	f = finding(d, "launches");
	if (CHECK(f != NULL)) {
		CHECK_STR(f->subject, "softmax");
		CHECK(f->a == 15 && f->b == 16);
	}
	f = finding(d, "sequence");
	if (CHECK(f != NULL)) {
		CHECK_U64(f->at, 16); /* 0, 2, .. 30 are sixteen launches of stream 0 */
		CHECK(f->a == 30 && f->b == 31);
		CHECK(strstr(f->around_a, "[norm grid 8x1x1 block 64x1x1]") != NULL);
		CHECK(strstr(f->around_b, "[softmax grid 8x1x1 block 64x1x1]") != NULL);
	}
	rk_diff_free(d);
}

TEST(swapped_launches_and_other_grids_are_found)
{
	struct launch a[60], b[60];
	struct rk_diff *d;

	program(a, 60, 100);
	program(b, 60, 100);
	b[10].name = "norm";
	b[12].name = "softmax"; /* both on stream 0: counts are the same */
	d = structures(a, 60, b, 60);
	CHECK(d->verdict == RK_DIFF_BEYOND && finding(d, "sequence") && !finding(d, "launches"));
	rk_diff_free(d);
	program(b, 60, 100);
	b[3].grid = 16;
	d = structures(a, 60, b, 60);
	CHECK(d->verdict == RK_DIFF_BEYOND && finding(d, "grids") && !finding(d, "launches"));
	rk_diff_free(d);
}

TEST(a_queue_more_and_other_bytes_are_found)
{
	struct launch a[62], b[62];
	struct rk_diff *d;

	program(a, 60, 100);
	program(b, 60, 100);
	a[60] = (struct launch){ .name = "TO_DEVICE", .duration = 5, .bytes = 100 };
	b[60] = (struct launch){ .name = "TO_DEVICE", .duration = 9, .bytes = 104 };
	d = structures(a, 61, b, 61);
	CHECK(d->verdict == RK_DIFF_BEYOND && finding(d, "bytes") && !finding(d, "sequence"));
	rk_diff_free(d);
	b[60] = a[60];
	b[61] = (struct launch){
		.name = "gemm", .stream = 9, .dispatch = 99, .grid = 8, .block = 64
	};
	d = structures(a, 61, b, 62);
	CHECK(d->verdict == RK_DIFF_BEYOND && finding(d, "queues"));
	rk_diff_free(d);
}

TEST(nothing_against_nothing_is_not_called_equal)
{
	struct rk_diff *d = structures(NULL, 0, NULL, 0);

	CHECK(d->verdict == RK_DIFF_UNKNOWN);
	rk_diff_free(d);
}

TEST(a_difference_behind_what_is_kept_is_found_without_its_place)
{
	struct launch a[500], b[500];
	struct diff_limits few = { 64, 100 };
	struct rk_profile *pa, *pb;
	struct rk_diff *d;
	struct world w;
	int rc;

	world_open(&w, 1);
	program(a, 500, 100);
	program(b, 500, 100);
	b[400].name = "gelu";
	pa = diff_profile(&w, a, 500, true, few, &rc);
	pb = diff_profile(&w, b, 500, true, few, &rc);
	d = diff_of(pa, pb, &structure);
	if (CHECK(finding(d, "sequence") != NULL)) {
		CHECK_U64(finding(d, "sequence")->at, 50);
		CHECK(strstr(finding(d, "sequence")->text, "after the first 50") != NULL);
	}
	rk_diff_free(d);
	world_close(&w);
}

TEST(sorting_by_way_of_files_changes_nothing)
{
	struct diff_limits few = { 64, 1 << 20 };
	struct launch v[600];
	struct rk_profile *p, *q;
	uint64_t seed = 21;
	struct rk_diff *d;
	struct world w;
	int rc;

	world_open(&w, 1);
	program(v, 600, 100);
	for (size_t i = 0; i < 600; i++)
		v[i].start = (int64_t)(world_random(&seed) % 100000);
	p = diff_profile(&w, v, 600, true, few, &rc);
	q = diff_profile_of(v, 600);
	CHECK_I64(p->time.idle, q->time.idle);
	CHECK_I64(p->time.kernels, q->time.kernels);
	d = diff_of(p, q, &structure);
	CHECK(d->structure.equal);
	rk_diff_free(d);
	world_close(&w);
}

/* ---- memory ---- */

static int everything(struct world *w, const struct launch *a, const struct launch *b, size_t n)
{
	const struct rk_diff_options opt = { .gated = true, .structure = true };
	const struct rk_render_options look = { .utf8 = true };
	struct rk_profile *pa = NULL, *pb = NULL;
	struct rk_diff *d = NULL;
	int rc;

	pa = diff_profile(w, a, n, true, (struct diff_limits){ 0, 0 }, &rc);
	if (rc == 0)
		pb = diff_profile(w, b, n, true, (struct diff_limits){ 0, 0 }, &rc);
	if (rc == 0)
		rc = rk_diff_make((const struct rk_profile *const *)&pa, 1,
				  (const struct rk_profile *const *)&pb, 1, &opt, &d, &w->err);
	for (int f = RK_DIFF_TEXT; rc == 0 && f <= RK_DIFF_MARKDOWN; f++) {
		char *text = NULL;
		size_t len;

		rc = rk_diff_render(d, (enum rk_diff_format)f, &look, &text, &len, &w->err);
		rk_text_free(text);
	}
	rk_diff_free(d);
	rk_profile_free(pa);
	rk_profile_free(pb);
	return rc;
}

TEST(a_comparison_without_memory_ends_cleanly)
{
	struct launch a[24], b[24];
	bool failed = true;

	program(a, 24, 100);
	program(b, 24, 120);
	for (size_t i = 0; i < 8; i++) {
		a[i].name = "void k<1>()";
		b[i].name = "void k<2>()";
	}
	a[9].bytes = b[9].bytes = 7;
	b[20].grid = 9;
	for (uint64_t n = 1; failed; n++) {
		struct world w;
		int rc;

		world_open(&w, 1);
		rk_alloc_fail_after(n);
		rc = everything(&w, a, b, 24);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == (failed ? RK_E_NOMEM : 0));
		world_close(&w);
	}
}
