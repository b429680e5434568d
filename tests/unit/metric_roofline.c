/* metric_roofline.c (test) - ceilings of chips and kernels below them. */
#include "metrics/metric_roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/metric_device.h"
#include "tap.h"
#include "world.h"

static void product(const char *name, struct rk_metric_device *d)
{
	struct rk_error err = { 0 };
	struct rk_device_notes notes;

	rk_metric_device_clear(d);
	snprintf(d->product, sizeof(d->product), "%s", name);
	CHECK_I64(rk_metric_device_complete(d, &notes, &err), 0);
}

struct roof {
	struct rk_ceiling *c;
	size_t n;
};

static void build(struct roof *r, const char *name, const struct rk_roof_measure *m, size_t n)
{
	struct rk_error err = { 0 };
	struct rk_metric_device d;

	product(name, &d);
	*r = (struct roof){ 0 };
	CHECK_I64(rk_roof_ceilings(&d, m, n, &r->c, &r->n, &err), 0);
}

static const struct rk_ceiling *find(const struct roof *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->c[i].name, name))
			return &r->c[i];
	return NULL;
}

/* "name=theory" of each, in its order. */
static const char *show(const struct roof *r)
{
	static char text[1200];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < r->n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s=%.1f\n", r->c[i].name,
					r->c[i].theory);
	return text;
}

static void theory_is(const char *name, const char *want)
{
	struct roof r;

	build(&r, name, NULL, 0);
	CHECK_STR(show(&r), want);
	rk_free(r.c);
}

TEST(ceilings_are_clock_times_width)
{
	/* 104 CUs at 1.7 GHz: 176.8 of 128 B or 128 FLOP are 22630.4 */
	theory_is("MI210", "lds=22630.4\nl1=11315.2\nl2=6963.2\nhbm=1638.4\n"
			   "vector f16=45260.8\nvector f32=22630.4\nvector f32 packed=45260.8\n"
			   "vector f64=22630.4\nmatrix f16=181043.2\nmatrix bf16=181043.2\n"
			   "matrix f32=45260.8\nmatrix f64=45260.8\nmatrix i8=181043.2\n");
	theory_is("MI250X (one GCD)",
		  "lds=23936.0\nl1=11968.0\nl2=6963.2\nhbm=1638.4\n"
		  "vector f16=47872.0\nvector f32=23936.0\nvector f32 packed=47872.0\n"
		  "vector f64=23936.0\nmatrix f16=191488.0\nmatrix bf16=191488.0\n"
		  "matrix f32=47872.0\nmatrix f64=47872.0\nmatrix i8=191488.0\n");
	theory_is("MI300X", "lds=81715.2\nl1=81715.2\nl2=34406.4\nhbm=5324.8\n"
			    "vector f16=163430.4\nvector f32=163430.4\nvector f64=81715.2\n"
			    "matrix f16=1307443.2\nmatrix bf16=1307443.2\nmatrix f8=2614886.4\n"
			    "matrix f32=163430.4\nmatrix f64=163430.4\nmatrix xf32=653721.6\n"
			    "matrix i8=2614886.4\n");
	theory_is("MI100", "lds=23070.7\nl1=11535.4\nl2=3076.1\nhbm=1228.8\n"
			   "vector f16=46141.4\nvector f32=23070.7\nvector f64=11535.4\n"
			   "matrix f16=184565.8\nmatrix bf16=92282.9\nmatrix f32=46141.4\n"
			   "matrix i8=184565.8\n");
	theory_is("MI355X", "lds=78643.2\nl1=78643.2\nl2=39321.6\nhbm=7987.2\n"
			    "vector f16=157286.4\nvector f32=157286.4\nvector f64=78643.2\n"
			    "matrix f16=2516582.4\nmatrix bf16=2516582.4\nmatrix f8=5033164.8\n"
			    "matrix f6f4=10066329.6\nmatrix f32=157286.4\nmatrix f64=78643.2\n"
			    "matrix i8=5033164.8\n");
	/* memory that is not HBM has another name */
	theory_is("RX 7900 XTX", "lds=15360.0\ndram=960.0\nvector f16=122880.0\n"
				 "vector f32=61440.0\nvector f64=1920.0\nmatrix f16=122880.0\n"
				 "matrix bf16=122880.0\nmatrix i8=122880.0\n");
	theory_is("RX 6900 XT", "lds=11520.0\ndram=512.0\nvector f16=46080.0\n"
				"vector f32=23040.0\nvector f64=1440.0\n");
	theory_is("RX 9070 XT", "lds=12165.1\ndram=640.0\nvector f16=97321.0\n"
				"vector f32=48660.5\nvector f64=760.3\nmatrix f16=194641.9\n"
				"matrix bf16=194641.9\nmatrix f8=389283.8\nmatrix i8=389283.8\n");
	theory_is("AMD Radeon 8060S", "lds=7424.0\ndram=256.0\nvector f16=59392.0\n"
				      "vector f32=29696.0\nvector f64=464.0\nmatrix f16=59392.0\n"
				      "matrix bf16=59392.0\nmatrix i8=59392.0\n");
	theory_is("something else", "");
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

TEST(without_a_benchmark_the_usual_share_is_achievable)
{
	struct roof r;

	build(&r, "MI210", NULL, 0);
	CHECK(near(find(&r, "hbm")->achievable, 0.85 * 1638.4));
	CHECK(near(find(&r, "l2")->achievable, 0.72 * 6963.2));
	CHECK(near(find(&r, "l1")->achievable, 0.82 * 11315.2));
	CHECK(near(find(&r, "lds")->achievable, 0.80 * 22630.4));
	CHECK(near(find(&r, "vector f32")->achievable, 0.93 * 22630.4));
	CHECK(near(find(&r, "vector f64")->achievable, 0.90 * 22630.4));
	CHECK(near(find(&r, "matrix f16")->achievable, 0.92 * 181043.2));
	CHECK(isnan(find(&r, "hbm")->measured));
	CHECK(find(&r, "hbm")->bandwidth && !find(&r, "vector f32")->bandwidth);
	rk_free(r.c);
}

/* rocprof-compute calls the cache next to a CU of RDNA L0, and another one L1. */
TEST(a_benchmark_of_rdna_has_its_own_columns)
{
	static const struct rk_roof_measure m[] = { { "L1Bw", 3000 }, { "L0Bw", 9000 } };
	struct roof r;

	build(&r, "Radeon 8060S", m, 2);
	CHECK(find(&r, "l1")->measured == 9000);
	rk_free(r.c);
	build(&r, "MI210", m, 2);
	CHECK(find(&r, "l1")->measured == 3000);
	rk_free(r.c);
}

TEST(a_benchmark_is_the_mean_over_devices)
{
	static const struct rk_roof_measure m[] = {
		{ "HBMBw", 1000 },         { "HBMBw", 1400 },      { "HBMBwLow", 1 },
		{ "hbmBwHigh", 9999 },     { "HBMBw", 0 },         { "HBMBw", INFINITY },
		{ "HBMBw", NAN },          { "HBMBw", -4 },        { "MFMAI8Ops", 166000 },
		{ "MFMAFI8OpsLow", 5 },    { "MFMAF16Flops", 7 },  { "mfmabf16flops", 8 },
		{ "FP32Flops", 21000 },    { "FP16Flops", 40000 }, { "FP64Flops", 20000 },
		{ "MFMAF32Flops", 41000 }, { "L1Bw", 9000 },       { "L2Bw", 5000 },
		{ "LDSBw", 18000 },        { "MALLBw", 4000 },     { "device", 3 },
	};
	struct roof r;

	build(&r, "MI210", m, sizeof(m) / sizeof(m[0]));
	CHECK(find(&r, "hbm")->measured == 1200 && find(&r, "hbm")->achievable == 1200);
	CHECK(near(find(&r, "hbm")->theory, 1638.4));
	CHECK(find(&r, "matrix i8")->measured == 166000);
	CHECK(find(&r, "matrix f16")->measured == 7);
	CHECK(find(&r, "matrix bf16")->measured == 8);
	CHECK(find(&r, "vector f16")->measured == 40000);
	CHECK(find(&r, "l1")->measured == 9000 && find(&r, "l2")->measured == 5000);
	CHECK(find(&r, "lds")->measured == 18000);
	CHECK(find(&r, "mall")->measured == 4000 && isnan(find(&r, "mall")->theory));
	CHECK(isnan(find(&r, "matrix f64")->measured));
	rk_free(r.c);
	/* of a chip nobody knows the measured ones are all there is */
	build(&r, "something else", m, 2);
	CHECK_U64(r.n, 1);
	CHECK(r.n && r.c[0].achievable == 1200 && isnan(r.c[0].theory));
	rk_free(r.c);
}

static struct rk_roof_kernel kernel_of_nothing(void)
{
	struct rk_roof_kernel k = { .time_ns = NAN };

	for (size_t i = 0; i < 16; i++)
		k.flops[i] = NAN;
	for (size_t i = 0; i < RK_NLEVELS; i++)
		k.bytes[i] = NAN;
	return k;
}

static void set(struct rk_roof_kernel *k, const char *pipe, double flops)
{
	for (size_t i = 0; rk_roof_pipes[i]; i++)
		if (!strcmp(rk_roof_pipes[i], pipe))
			k->flops[i] = flops;
}

/* Round numbers, so that the points can be reckoned in the head. */
static const struct rk_ceiling plain[] = {
	{ "lds", true, NAN, NAN, 10000 },         { "l1", true, NAN, NAN, 5000 },
	{ "l2", true, NAN, NAN, 2000 },           { "hbm", true, NAN, NAN, 1000 },
	{ "vector f32", false, NAN, NAN, 20000 }, { "vector f64", false, 10000, NAN, NAN },
	{ "matrix i8", false, NAN, NAN, 80000 },
};
enum { NPLAIN = sizeof(plain) / sizeof(plain[0]) };

TEST(a_kernel_is_held_against_its_pipe_and_its_levels)
{
	struct rk_roof_kernel k = kernel_of_nothing();
	struct rk_roof_point p;

	k.time_ns = 1000;
	set(&k, "vector f32", 4e6);    /* 4000 GFLOP/s: a fifth of its pipe */
	set(&k, "vector f64", 1e6);    /* a tenth */
	k.bytes[RK_LEVEL_HBM] = 1e6;   /* intensity 5: 5000 */
	k.bytes[RK_LEVEL_L2] = 250000; /* intensity 20: 40000, the pipe ends it at 20000 */
	k.bytes[RK_LEVEL_L1] = 0;
	rk_roof_place(plain, NPLAIN, &k, &p);
	CHECK_STR(p.pipe, "vector f32");
	CHECK(p.rate == 5000);
	CHECK(p.intensity[RK_LEVEL_HBM] == 5 && p.attainable[RK_LEVEL_HBM] == 5000);
	CHECK(p.percent[RK_LEVEL_HBM] == 100);
	CHECK(p.intensity[RK_LEVEL_L2] == 20 && p.attainable[RK_LEVEL_L2] == 20000);
	CHECK(p.percent[RK_LEVEL_L2] == 25);
	CHECK(isnan(p.intensity[RK_LEVEL_L1]) && isnan(p.attainable[RK_LEVEL_L1]));
	CHECK(isnan(p.percent[RK_LEVEL_L1]) && isnan(p.intensity[RK_LEVEL_LDS]));
	/* without what is usually reached, theory stands */
	set(&k, "vector f64", 9e6);
	rk_roof_place(plain, NPLAIN, &k, &p);
	CHECK_STR(p.pipe, "vector f64");
	CHECK(p.attainable[RK_LEVEL_L2] == 10000);
}

TEST(integers_count_where_they_are_the_work)
{
	struct rk_roof_kernel k = kernel_of_nothing();
	struct rk_roof_point p;

	k.time_ns = 100;
	k.bytes[RK_LEVEL_HBM] = 1000;
	set(&k, "matrix i8", 4e6);
	set(&k, "vector f32", 1000);
	rk_roof_place(plain, NPLAIN, &k, &p);
	CHECK_STR(p.pipe, "matrix i8");
	CHECK(p.rate == 40000 && p.intensity[RK_LEVEL_HBM] == 4000);
	CHECK(p.attainable[RK_LEVEL_HBM] == 80000 && p.percent[RK_LEVEL_HBM] == 50);
	set(&k, "matrix i8", 100);
	rk_roof_place(plain, NPLAIN, &k, &p);
	CHECK_STR(p.pipe, "vector f32");
	CHECK(p.rate == 10);
}

TEST(what_is_not_known_of_a_kernel_stays_unknown)
{
	struct rk_roof_kernel k = kernel_of_nothing();
	struct rk_roof_point p;

	rk_roof_place(plain, NPLAIN, &k, &p);
	CHECK_STR(p.pipe, "");
	CHECK(isnan(p.rate) && isnan(p.percent[RK_LEVEL_HBM]));
	k.time_ns = 0;
	k.bytes[RK_LEVEL_HBM] = 64;
	set(&k, "vector f32", 640);
	rk_roof_place(plain, NPLAIN, &k, &p);
	CHECK(isnan(p.rate) && p.intensity[RK_LEVEL_HBM] == 10);
	CHECK(p.attainable[RK_LEVEL_HBM] == 10000 && isnan(p.percent[RK_LEVEL_HBM]));
	/* it counted, and there was nothing */
	k.time_ns = 10;
	set(&k, "vector f32", 0);
	rk_roof_place(plain, NPLAIN, &k, &p);
	CHECK_STR(p.pipe, "");
	CHECK(p.rate == 0 && p.intensity[RK_LEVEL_HBM] == 0);
	CHECK(isnan(p.attainable[RK_LEVEL_HBM]) && isnan(p.percent[RK_LEVEL_HBM]));
	set(&k, "vector f32", 640);
	rk_roof_place(NULL, 0, &k, &p);
	CHECK_STR(p.pipe, "");
	CHECK(p.rate == 64);
}

static double some_number(uint64_t *seed)
{
	uint64_t r = world_random(seed);

	switch (r % 8) {
	case 0:
		return NAN;
	case 1:
		return 0;
	case 2:
		return 1e-320;
	case 3:
		return 1e300;
	default:
		return ldexp((double)(r >> 12), (int)(r >> 4 & 31) - 48);
	}
}

static bool sound(double rate, double attainable, double percent)
{
	if (isinf(rate) || isinf(attainable) || isinf(percent))
		return false;
	return isnan(percent) || (percent <= 100) == (rate <= attainable);
}

TEST(percent_and_attainable_never_contradict_and_nothing_is_infinite)
{
	uint64_t seed = 20240521;
	size_t wrong = 0, below = 0, above = 0;

	for (unsigned n = 0; n < 200000; n++) {
		struct rk_roof_kernel k = kernel_of_nothing();
		struct rk_roof_point p;

		k.time_ns = some_number(&seed);
		for (size_t i = 0; rk_roof_pipes[i]; i++)
			k.flops[i] = some_number(&seed);
		for (size_t l = 0; l < RK_NLEVELS; l++)
			k.bytes[l] = some_number(&seed);
		rk_roof_place(plain, NPLAIN, &k, &p);
		for (size_t l = 0; l < RK_NLEVELS; l++) {
			wrong += !sound(p.rate, p.attainable[l], p.percent[l]);
			wrong += isinf(p.intensity[l]) != 0;
			below += p.percent[l] <= 100;
			above += p.percent[l] > 100;
		}
	}
	CHECK_U64(wrong, 0);
	CHECK(below > 1000 && above > 1000);
}

TEST(a_rate_one_step_above_the_roof_is_above_it)
{
	struct rk_roof_kernel k = kernel_of_nothing();
	struct rk_roof_point p;
	struct rk_ceiling roof[] = { { "hbm", true, NAN, NAN, 1e12 },
				     { "vector f32", false, NAN, NAN, nextafter(2, 0) } };

	k.time_ns = 1;
	k.bytes[RK_LEVEL_HBM] = 1;
	set(&k, "vector f32", 2);
	rk_roof_place(roof, 2, &k, &p);
	CHECK(p.rate > p.attainable[RK_LEVEL_HBM] && p.percent[RK_LEVEL_HBM] > 100);
	set(&k, "vector f32", nextafter(2, 0));
	rk_roof_place(roof, 2, &k, &p);
	CHECK(p.percent[RK_LEVEL_HBM] == 100);
}

TEST(ceilings_in_want_of_memory_fail_cleanly)
{
	struct rk_metric_device d;
	int rc = RK_E_NOMEM;

	product("MI300X", &d);
	for (uint64_t n = 1; rc < 0 && n < 5000; n++) {
		struct rk_error err = { 0 };
		struct roof r = { 0 };

		rk_alloc_fail_after(n);
		rc = rk_roof_ceilings(&d, NULL, 0, &r.c, &r.n, &err);
		CHECK(rc == 0 || (rc == RK_E_NOMEM && err.code == RK_E_NOMEM && !r.c));
		rk_alloc_fail_after(0);
		rk_free(r.c);
	}
	CHECK_I64(rc, 0);
}
