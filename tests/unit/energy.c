/* energy.c - energy of kernels: by hand, and against a model that is too simple to be wrong. */
#include "run/energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "rockit/rockit.h"
#include "tap.h"
#include "world.h"

#define MS INT64_C(1000000)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct sample {
	int64_t t; /* ms */
	int device;
	double counter, power; /* NaN: none */
};

struct kernel {
	const char *name;
	int64_t start, duration; /* ms */
	int device;
};

static uint32_t word(struct world *w, const char *text)
{
	uint32_t id = 0;

	CHECK_I64(rk_strtab_add(w->ctx.names, text, strlen(text), &id, NULL), 0);
	return id;
}

static void put_i64(struct rk_builder *b, unsigned f, int64_t v)
{
	void *data = rk_builder_column(b, f);

	if (b->schema->fields[f].type == RK_I32)
		((int32_t *)data)[b->nrows] = (int32_t)v;
	else
		((int64_t *)data)[b->nrows] = v;
}

static void put_str(struct rk_builder *b, unsigned f, uint32_t id)
{
	((uint32_t *)rk_builder_column(b, f))[b->nrows] = id;
	if (!id)
		rk_builder_null(b, f, b->nrows);
}

static int give(struct rk_energy *e, struct rk_builder *b, struct rk_error *err)
{
	int rc = b->nrows ? rk_energy_add(e, rk_builder_batch(b), err) : 0;

	rk_builder_reset(b);
	b->nrows = 0;
	return rc;
}

static int put_sample(struct world *w, struct rk_energy *e, struct rk_builder *b, int64_t t,
		      int device, const char *metric, double v, const char *node)
{
	put_i64(b, RK_S_TIME, t);
	put_i64(b, RK_S_DEVICE, device);
	put_str(b, RK_S_METRIC, word(w, metric));
	put_str(b, RK_S_NODE, node ? word(w, node) : 0);
	((double *)rk_builder_column(b, RK_S_VALUE))[b->nrows++] = v;
	return b->nrows == b->cap ? give(e, b, &w->err) : 0;
}

static int put_kernel(struct world *w, struct rk_energy *e, struct rk_builder *b, const char *name,
		      int64_t start, int64_t duration, int device, const char *node)
{
	put_str(b, RK_K_NAME, word(w, name));
	put_i64(b, RK_K_START, start);
	put_i64(b, RK_K_DURATION, duration);
	put_i64(b, RK_K_DEVICE, device);
	put_str(b, RK_K_NODE, node ? word(w, node) : 0);
	b->nrows++;
	return b->nrows == b->cap ? give(e, b, &w->err) : 0;
}

static struct rk_energy *energy_of(struct world *w, const struct sample *s, size_t ns,
				   const struct kernel *k, size_t nk)
{
	struct rk_energy *e = NULL;
	struct rk_builder b;

	CHECK_I64(rk_energy_new(&w->ctx, RK_AGG_NO_KEY, &e, NULL), 0);
	rk_energy_limit(e, 1000, 4);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_SAMPLES), 7, NULL), 0);
	for (size_t i = 0; i < ns; i++) {
		if (!isnan(s[i].counter))
			put_sample(w, e, &b, s[i].t * MS, s[i].device, "energy_j", s[i].counter,
				   NULL);
		if (!isnan(s[i].power))
			put_sample(w, e, &b, s[i].t * MS, s[i].device, "power_w", s[i].power, NULL);
	}
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_KERNELS), 5, NULL), 0);
	for (size_t i = 0; i < nk; i++)
		put_kernel(w, e, &b, k[i].name, k[i].start * MS, k[i].duration * MS, k[i].device,
			   NULL);
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_energy_finish(e, NULL), 0);
	return e;
}

static double joule(int64_t units)
{
	return (double)units / RK_ENERGY_UNITS;
}

/* "name 1.5+-0.5" of each name, then "total kernels idle before after" of each device. */
static const char *told(struct world *w, struct rk_energy *e, const char *const *names)
{
	static char text[600];
	const struct rk_energy_curve *c;
	size_t n, len = 0;

	for (; *names; names++) {
		struct rk_energy_sum s = rk_energy_of_group(e, word(w, *names), false, 0);

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %.6g+-%.6g, ", *names,
					joule(s.units), joule(s.error));
	}
	c = rk_energy_curves(e, &n);
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%lld: %.6g = %.6g + %.6g + %.6g + %.6g; ",
					(long long)c[i].device, joule(c[i].total),
					joule(c[i].kernels),
					joule(c[i].total - c[i].kernels - c[i].before - c[i].after),
					joule(c[i].before), joule(c[i].after));
	return text;
}

static void tells(const struct sample *s, size_t ns, const struct kernel *k, size_t nk,
		  const char *want, const char *warnings)
{
	static const char *const names[] = { "a", "b", NULL };
	struct rk_energy *e;
	struct world w;

	world_open(&w, 1);
	e = energy_of(&w, s, ns, k, nk);
	CHECK_STR(told(&w, e, names), want);
	CHECK_STR(world_warnings(&w), warnings);
	rk_energy_free(e);
	world_close(&w);
}

#define C(t, j)              \
	{                    \
		t, 0, j, NAN \
	}
#define P(t, p)              \
	{                    \
		t, 0, NAN, p \
	}

TEST(energy_of_a_kernel_that_fills_its_intervals_is_the_counter_without_doubt)
{
	static const struct sample s[] = { C(0, 5), C(100, 15), C(200, 115), C(300, 215),
					   C(400, 225) };
	static const struct kernel k[] = { { "a", 100, 200, 0 } };

	tells(s, COUNT(s), k, COUNT(k), "a 200+-0, b 0+-0, 0: 220 = 200 + 0 + 10 + 10; ", "");
}

TEST(energy_of_an_interval_is_shared_by_time_and_idle_power_is_taken_off)
{
	/* idle 100 W; 10 ms of idle in an interval of 100 ms and 73 J */
	static const struct sample s[] = { C(0, 0), C(100, 10), C(200, 83), C(300, 93) };
	static const struct kernel k[] = { { "a", 100, 60, 0 }, { "b", 160, 30, 0 } };

	tells(s, COUNT(s), k, COUNT(k), "a 48+-63, b 24+-63, 0: 93 = 72 + 1 + 10 + 10; ", "");
}

TEST(energy_without_idle_intervals_is_even_within_each_interval)
{
	static const struct sample s[] = { C(0, 0), C(100, 50), C(200, 100) };
	static const struct kernel k[] = { { "a", 0, 50, 0 }, { "a", 150, 25, 0 } };

	tells(s, COUNT(s), k, COUNT(k), "a 37.5+-100, b 0+-0, 0: 100 = 37.5 + 62.5 + 0 + 0; ", "");
}

TEST(energy_of_kernels_at_the_same_time_is_shared)
{
	static const struct sample s[] = { C(0, 0), C(100, 90), C(200, 100) };
	static const struct kernel k[] = { { "a", 0, 100, 0 },
					   { "b", 0, 50, 0 },
					   { "a", 1, 0, 0 } };

	tells(s, COUNT(s), k, COUNT(k), "a 60+-80, b 30+-80, 0: 100 = 90 + 0 + 0 + 10; ", "");
}

TEST(energy_by_power_where_the_counter_does_not_move)
{
	static const struct sample s[] = {
		{ 0, 0, 0, 100 }, { 1000, 0, 0, 100 }, { 2000, 0, 0, 300 }, { 3000, 0, 0, 300 }
	};
	static const struct kernel k[] = { { "a", 2000, 1000, 0 }, { "b", 1500, 500, 0 } };

	/* 100 J, 200 J, 300 J; half of the second is idle at 100 W */
	tells(s, COUNT(s), k, COUNT(k), "a 300+-0, b 150+-100, 0: 600 = 450 + 50 + 100 + 0; ", "");
}

TEST(energy_of_a_counter_that_wraps_around_or_restarts)
{
	static const struct sample wrap[] = { C(0, 65500), C(1000, 65530), C(2000, 24),
					      C(3000, 54) };
	static const struct sample reset[] = { C(0, 300000), C(1000, 300030), C(2000, 5),
					       C(3000, 35) };
	static const struct kernel k[] = { { "a", 1000, 2000, 0 } };

	tells(wrap, 4, k, 1, "a 60+-0, b 0+-0, 0: 90 = 60 + 0 + 30 + 0; ", "energy-wrap:1 ");
	tells(reset, 4, k, 1, "a 30+-0, b 0+-0, 0: 60 = 30 + 0 + 30 + 0; ",
	      "energy-reset:1 energy-uncovered:1 ");
}

TEST(energy_is_not_guessed_where_power_was_not_sampled)
{
	static const struct sample s[] = { P(0, 100),    P(100, 100),  P(200, 100),
					   P(9000, 100), P(9100, 100), P(9200, 100) };
	static const struct kernel k[] = { { "a", 100, 9000, 0 } };

	tells(s, COUNT(s), k, COUNT(k), "a 20+-0, b 0+-0, 0: 40 = 20 + 0 + 10 + 10; ",
	      "energy-gap:1 energy-uncovered:1 ");
}

TEST(energy_samples_in_any_order_and_twice)
{
	static const struct sample s[] = { C(200, 115), C(0, 5),     C(100, 15),
					   C(100, 15),  C(300, 125), C(150, 15) };
	static const struct kernel k[] = { { "a", 100, 100, 0 } };

	tells(s, COUNT(s), k, COUNT(k), "a 100+-0, b 0+-0, 0: 120 = 100 + 0 + 10 + 10; ", "");
}

TEST(energy_samples_of_another_time_are_reported_and_give_nothing)
{
	static const struct sample s[] = { C(0, 5), C(100, 15) };
	static const struct kernel k[] = { { "a", 1000, 100, 0 } };

	tells(s, COUNT(s), k, COUNT(k), "a 0+-0, b 0+-0, 0: 10 = 0 + 10 + 0 + 0; ",
	      "energy-no-overlap:1 ");
}

TEST(energy_samples_of_other_devices_stay_apart)
{
	static const struct sample s[] = {
		{ 0, 0, 0, NAN }, { 0, 1, 7, NAN }, { 100, 0, 10, NAN }, { 100, 1, 107, NAN }
	};
	static const struct kernel one[] = { { "a", 0, 100, 1 } };
	static const struct kernel both[] = { { "a", 0, 100, 1 }, { "b", 0, 100, 0 } };
	static const struct kernel lost[] = { { "a", 0, 100, 0 }, { "b", 0, 100, 5 } };

	tells(s, COUNT(s), one, 1,
	      "a 100+-0, b 0+-0, 0: 10 = 0 + 10 + 0 + 0; 1: 100 = 100 + 0 + 0 + 0; ", "");
	tells(s, COUNT(s), both, 2,
	      "a 100+-0, b 10+-0, 0: 10 = 10 + 0 + 0 + 0; 1: 100 = 100 + 0 + 0 + 0; ", "");
	tells(s, COUNT(s), lost, 2,
	      "a 10+-0, b 0+-0, 0: 10 = 10 + 0 + 0 + 0; 1: 100 = 0 + 100 + 0 + 0; ",
	      "energy-no-device:1 ");
}

TEST(energy_of_the_only_gpu_whatever_its_number)
{
	static const struct sample s[] = { C(0, 5), C(100, 15) };
	static const struct kernel k[] = { { "a", 0, 100, 4 } };

	tells(s, COUNT(s), k, COUNT(k), "a 10+-0, b 0+-0, 0: 10 = 10 + 0 + 0 + 0; ", "");
}

TEST(energy_readings_that_cannot_be_are_left_out)
{
	static const struct sample s[] = { C(0, 5), C(40, -3), C(50, 1e300), C(60, INFINITY),
					   C(100, 15) };
	static const struct kernel k[] = { { "a", 0, 100, 0 } };

	tells(s, COUNT(s), k, COUNT(k), "a 10+-0, b 0+-0, 0: 10 = 10 + 0 + 0 + 0; ",
	      "energy-odd-sample:3 ");
}

static void put_agent(struct world *w, struct rk_builder *b, int device, const char *type)
{
	put_i64(b, RK_G_DEVICE, device);
	put_str(b, RK_G_TYPE, word(w, type));
	put_str(b, RK_G_NODE, 0);
	b->nrows++;
}

TEST(energy_of_agents_that_are_numbered_behind_the_cpus)
{
	struct rk_energy *e = NULL;
	struct rk_builder b;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_energy_new(&w.ctx, RK_AGG_NO_KEY, &e, NULL), 0);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_SAMPLES), 100, NULL), 0);
	for (int d = 0; d < 3; d++)
		for (int i = 0; i < 2; i++)
			put_sample(&w, e, &b, i * 100, d, "energy_j", i * (d + 1), NULL);
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_AGENTS), 100, NULL), 0);
	put_agent(&w, &b, 0, "CPU");
	for (int d = 1; d < 4; d++)
		put_agent(&w, &b, d, "GPU");
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_KERNELS), 100, NULL), 0);
	put_kernel(&w, e, &b, "a", 0, 100, 2, NULL);
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_energy_finish(e, NULL), 0);
	CHECK(joule(rk_energy_of_group(e, word(&w, "a"), false, 0).units) == 2);
	for (size_t d = 0; d < 3; d++)
		CHECK_I64(rk_energy_device_number(e, d), (int64_t)d + 1);
	rk_energy_free(e);
	world_close(&w);
}

/* Three GPUs are sampled. The program's number 0 has an address, for a second process another. */
static double energy_at(const char *pci, const char *second, const char *index_2)
{
	static const char *const sampled[] = { "0000:03:00.0", "0000:43:00.0" };
	struct rk_energy *e = NULL;
	struct rk_builder b;
	struct world w;
	double units;

	world_open(&w, 1);
	CHECK_I64(rk_energy_new(&w.ctx, RK_AGG_NO_KEY, &e, NULL), 0);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_SAMPLES), 100, NULL), 0);
	for (int d = 0; d < 3; d++)
		for (int i = 0; i < 2; i++)
			put_sample(&w, e, &b, i * 100, d, "energy_j", i * (d + 1), NULL);
	give(e, &b, NULL);
	rk_builder_release(&b);
	for (int d = 0; d < 3; d++)
		CHECK_I64(rk_energy_address(e, 0, d, d < 2 ? sampled[d] : index_2, NULL), 0);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_AGENTS), 100, NULL), 0);
	put_str(&b, RK_G_PCI, word(&w, pci));
	put_agent(&w, &b, 0, "GPU");
	put_str(&b, RK_G_PCI, word(&w, second));
	put_agent(&w, &b, 0, "GPU");
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_KERNELS), 100, NULL), 0);
	put_kernel(&w, e, &b, "a", 0, 100, 0, NULL);
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_energy_finish(e, NULL), 0);
	units = joule(rk_energy_of_group(e, word(&w, "a"), false, 0).units);
	rk_energy_free(e);
	world_close(&w);
	return units;
}

TEST(energy_is_joined_by_the_address_of_a_gpu_whatever_its_number)
{
	CHECK(energy_at("0000:83:00.0", "0000:83:00.0", "0000:83:00.0") == 3);
	CHECK(energy_at("0000:43:00.0", "0000:43:00.0", "0000:83:00.0") == 2);
	/* not sampled under this address, or partitions of one package: by order */
	CHECK(energy_at("0000:c3:00.0", "0000:c3:00.0", "0000:83:00.0") == 1);
	CHECK(energy_at("0000:43:00.0", "0000:43:00.0", "0000:43:00.0") == 1);
	/* two processes call different GPUs 0 */
	CHECK(energy_at("0000:43:00.0", "0000:83:00.0", "0000:83:00.0") == 0);
}

/* Kernels of one node and of two, over samples that say no node. */
TEST(energy_samples_without_a_node_are_not_of_two_nodes)
{
	for (int two = 0; two < 2; two++) {
		struct rk_energy *e = NULL;
		struct rk_builder b;
		struct world w;

		world_open(&w, 1);
		CHECK_I64(rk_energy_new(&w.ctx, RK_AGG_NO_KEY, &e, NULL), 0);
		CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_SAMPLES), 100, NULL), 0);
		put_sample(&w, e, &b, 0, 0, "energy_j", 1, NULL);
		put_sample(&w, e, &b, 100, 0, "energy_j", 2, NULL);
		give(e, &b, NULL);
		rk_builder_release(&b);
		CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_KERNELS), 100, NULL), 0);
		put_kernel(&w, e, &b, "a", 0, 100, 0, "n1");
		put_kernel(&w, e, &b, "a", 0, 100, 0, two ? "n2" : "n1");
		CHECK_I64(give(e, &b, NULL), 0);
		rk_builder_release(&b);
		CHECK_I64(rk_energy_finish(e, NULL), 0);
		CHECK(joule(rk_energy_of_group(e, word(&w, "a"), false, 0).units) == !two);
		CHECK_STR(world_warnings(&w), two ? "energy-no-device:2 " : "");
		rk_energy_free(e);
		world_close(&w);
	}
}

/* ---- a model: every kernel with every interval ---- */

enum { NAMES = 5, MAX_POINTS = 60, MAX_KERNELS = 120 };

struct model {
	size_t npoints, nkernels;
	int64_t t[MAX_POINTS];
	double v[MAX_POINTS]; /* the counter */
	int64_t start[MAX_KERNELS], end[MAX_KERNELS];
	int name[MAX_KERNELS];
	double energy[NAMES], error[NAMES], kernels;
	double each[MAX_KERNELS];
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t within(const struct model *m, size_t k, size_t i)
{
	return most(0, least(m->end[k], m->t[i + 1]) - most(m->start[k], m->t[i]));
}

/* Of ns in the interval with a kernel: the ends of kernels cut it into pieces. */
static int64_t busy_in(const struct model *m, size_t i)
{
	int64_t busy = 0, at = m->t[i];

	while (at < m->t[i + 1]) {
		int64_t next = m->t[i + 1];
		bool runs = false;

		for (size_t k = 0; k < m->nkernels; k++) {
			if (m->start[k] > at)
				next = least(next, m->start[k]);
			if (m->end[k] > at)
				next = least(next, m->end[k]);
			runs |= m->start[k] <= at && m->end[k] > at;
		}
		busy += runs ? next - at : 0;
		at = next;
	}
	return busy;
}

static double idle_power(const struct model *m, size_t beside)
{
	double e = 0, ns = 0;

	for (size_t i = 0; i + 1 < m->npoints; i++) {
		bool busy = false;

		for (size_t k = i < beside ? 0 : i - beside; k <= i + beside; k++)
			busy |= k + 1 < m->npoints && busy_in(m, k) > 0;
		if (!busy) {
			e += m->v[i + 1] - m->v[i];
			ns += (double)(m->t[i + 1] - m->t[i]);
		}
	}
	return ns > 0 ? e / ns : beside ? idle_power(m, 0) : -1;
}

static void model_interval(struct model *m, size_t i, double power)
{
	double e = m->v[i + 1] - m->v[i], dt = (double)(m->t[i + 1] - m->t[i]), over = 0;
	double busy = (double)busy_in(m, i);
	double idle = power < 0 ? e * (dt - busy) / dt : fmin(e, power * (dt - busy));
	double doubt = fmax(fmax(0, e - fmax(power, 0) * dt), idle);
	bool has[NAMES] = { false };
	int groups = 0;

	for (size_t k = 0; k < m->nkernels; k++)
		over += (double)within(m, k, i);
	for (size_t k = 0; k < m->nkernels; k++) {
		double part = over > 0 ? (e - idle) * (double)within(m, k, i) / over : 0;

		has[m->name[k]] |= within(m, k, i) > 0;
		m->energy[m->name[k]] += part;
		m->each[k] += part;
		m->kernels += part;
	}
	for (int g = 0; g < NAMES; g++)
		groups += has[g];
	for (int g = 0; g < NAMES; g++)
		if (has[g] && (groups > 1 || busy < dt))
			m->error[g] += doubt;
}

static void model_make(struct model *m, uint64_t *seed)
{
	int64_t span, t = (int64_t)(world_random(seed) % 1000);
	double v = (double)(world_random(seed) % 1000000) / 64;

	memset(m, 0, sizeof(*m));
	m->npoints = 2 + world_random(seed) % (MAX_POINTS - 2);
	m->nkernels = world_random(seed) % MAX_KERNELS;
	for (size_t i = 0; i < m->npoints; i++) {
		m->t[i] = t;
		m->v[i] = v;
		t += 1 + (int64_t)(world_random(seed) % 50);
		v += (double)(1 + world_random(seed) % 5000) / 65536;
	}
	span = t - m->t[0] + 40;
	for (size_t k = 0; k < m->nkernels; k++) {
		int64_t long_one = world_random(seed) % 8 ? 20 : span;

		m->start[k] = m->t[0] - 20 + (int64_t)(world_random(seed) % (uint64_t)span);
		m->end[k] = m->start[k] + (int64_t)(world_random(seed) % (uint64_t)long_one);
		m->name[k] = (int)(world_random(seed) % NAMES);
	}
}

static struct rk_energy *model_run(struct world *w, const struct model *m, struct rk_builder *b)
{
	static const char *const names[NAMES] = { "a", "b", "c", "d", "e" };
	struct rk_energy *e = NULL;
	struct rk_builder s;

	CHECK_I64(rk_energy_new(&w->ctx, RK_AGG_NO_KEY, &e, NULL), 0);
	rk_energy_limit(e, 1000, 16);
	CHECK_I64(rk_builder_init(&s, rk_table_schema(RK_SAMPLES), MAX_POINTS, NULL), 0);
	for (size_t i = 0; i < m->npoints; i++)
		put_sample(w, e, &s, m->t[i], 0, "energy_j", m->v[i], NULL);
	give(e, &s, NULL);
	rk_builder_release(&s);
	CHECK_I64(rk_builder_init(b, rk_table_schema(RK_KERNELS), MAX_KERNELS + 1, NULL), 0);
	for (size_t k = 0; k < m->nkernels; k++)
		put_kernel(w, e, b, names[m->name[k]], m->start[k], m->end[k] - m->start[k], 0,
			   NULL);
	if (m->nkernels)
		CHECK_I64(rk_energy_add(e, rk_builder_batch(b), NULL), 0);
	CHECK_I64(rk_energy_finish(e, NULL), 0);
	return e;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

static bool same_as_model(struct world *w, struct rk_energy *e, struct rk_builder *b,
			  const struct model *m)
{
	static const char *const names[NAMES] = { "a", "b", "c", "d", "e" };
	const struct rk_energy_curve *c;
	int64_t sum = 0;
	bool same = true;
	size_t n;

	for (int g = 0; g < NAMES; g++) {
		struct rk_energy_sum s = rk_energy_of_group(e, word(w, names[g]), false, 0);

		same &= near(joule(s.units), m->energy[g]) && near(joule(s.error), m->error[g]);
		sum += s.units;
	}
	c = rk_energy_curves(e, &n);
	/* to the last bit: of groups, and of the counter */
	same &= n == 1 && sum == c->kernels && near(joule(sum), m->kernels);
	same &= joule(c->total) == m->v[m->npoints - 1] - m->v[0];
	same &= c->kernels + c->before + c->after <= c->total;
	for (size_t k = 0; k < m->nkernels; k++) {
		double got = rk_energy_of_kernel(e, rk_builder_batch(b), k);

		same &= near(isnan(got) ? 0 : got, m->each[k]);
	}
	return same;
}

TEST(energy_of_any_kernels_over_any_samples_is_as_in_a_plain_model)
{
	uint64_t seed = 20261115;

	for (int round = 0; round < 400; round++) {
		struct rk_builder b;
		struct rk_energy *e;
		struct world w;
		struct model m;
		double power;

		model_make(&m, &seed);
		power = idle_power(&m, 1);
		for (size_t i = 0; i + 1 < m.npoints; i++)
			model_interval(&m, i, power);
		world_open(&w, 1);
		e = model_run(&w, &m, &b);
		if (!CHECK(same_as_model(&w, e, &b, &m)))
			printf("# round %d\n", round);
		rk_builder_release(&b);
		rk_energy_free(e);
		world_close(&w);
	}
}

TEST(energy_of_more_samples_than_are_kept_still_adds_up)
{
	const struct rk_energy_curve *c;
	struct rk_energy *e = NULL;
	struct rk_builder b;
	struct world w;
	size_t n;

	world_open(&w, 1);
	CHECK_I64(rk_energy_new(&w.ctx, RK_AGG_NO_KEY, &e, NULL), 0);
	rk_energy_limit(e, 64, 16);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_SAMPLES), 100, NULL), 0);
	for (int i = 0; i <= 1024; i++)
		put_sample(&w, e, &b, i * 10, 0, "energy_j", i / 64.0, NULL);
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_KERNELS), 100, NULL), 0);
	put_kernel(&w, e, &b, "a", 0, 10240, 0, NULL);
	give(e, &b, NULL);
	rk_builder_release(&b);
	CHECK_I64(rk_energy_finish(e, NULL), 0);
	c = rk_energy_curves(e, &n);
	CHECK(c->n < 64 && joule(c->total) == 16);
	CHECK_I64(c->kernels, c->total);
	CHECK_U64(world_warned(&w, "energy-thinned"), 5);
	rk_energy_free(e);
	world_close(&w);
}

TEST(energy_without_memory_is_an_error_and_nothing_leaks)
{
	static const struct sample s[] = { C(0, 0), C(100, 10), C(200, 83), C(300, 93) };
	bool failed = true;

	for (uint64_t n = 1; failed && n < 2000; n++) {
		struct rk_energy *e = NULL;
		struct rk_builder b, k;
		struct world w;
		int rc;

		world_open(&w, 1);
		CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_SAMPLES), 10, NULL), 0);
		CHECK_I64(rk_builder_init(&k, rk_table_schema(RK_KERNELS), 10, NULL), 0);
		for (size_t i = 0; i < COUNT(s); i++)
			put_sample(&w, NULL, &b, s[i].t * MS, 0, "energy_j", s[i].counter, NULL);
		for (int i = 0; i < 8; i++)
			put_kernel(&w, NULL, &k, "a", (8 - i) * 30 * MS, 20 * MS, 0, NULL);
		rk_alloc_fail_after(n);
		rc = rk_energy_new(&w.ctx, RK_AGG_NO_KEY, &e, &w.err);
		if (rc == 0) {
			rk_energy_limit(e, 100, 4);
			rc = rk_energy_add(e, rk_builder_batch(&b), &w.err);
		}
		if (rc == 0)
			rc = rk_energy_add(e, rk_builder_batch(&k), &w.err);
		if (rc == 0)
			rc = rk_energy_finish(e, &w.err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || (failed && rc == RK_E_NOMEM && w.err.code == RK_E_NOMEM));
		rk_energy_free(e);
		rk_builder_release(&b);
		rk_builder_release(&k);
		world_close(&w);
	}
	CHECK(!failed);
}

/* ---- a run: its report and its converted kernels ---- */

static const char trace[] =
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
	"\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\",\"Group_Segment_Size\","
	"\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
	"\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
	"\"KERNEL_DISPATCH\",1,1,7,\"two\",2,1500,2000,0,0,64,1,1,64,1,1\n"
	"\"KERNEL_DISPATCH\",1,1,7,\"one\",1,1000,1500,0,0,64,1,1,64,1,1\n";

static const char power[] = "timestamp_ns,time,Power(Watt) GPU0\n0,,100\n1000,,300\n2000,,300\n";

static int report_and_convert(struct world *w, const char *dir)
{
	char out[sizeof(w->dir) + 16];
	const struct rk_convert_options to = { .out = out, .table = "kernels" };
	const struct rk_run_options how = { .threads = 1 };
	const char *paths[] = { dir };
	struct rk_convert_result done;
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	int rc = rk_run_open(paths, 1, &how, &run, &w->err);

	snprintf(out, sizeof(out), "%s/k.csv", w->dir);
	if (rc == 0)
		rc = rk_run_report(run, NULL, &r, &w->err);
	if (rc == 0)
		CHECK(r->energy.ndevices == 1 &&
		      r->energy.joules.total == r->energy.joules.kernels + r->energy.joules.before);
	if (rc == 0)
		rc = rk_run_convert(run, &to, &done, &w->err);
	rk_report_free(r);
	rk_run_close(run);
	return rc;
}

TEST(energy_of_a_run_without_memory_is_an_error_and_nothing_leaks)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 20000; n++) {
		char dir[sizeof(((struct world *)0)->dir) + 8];
		struct world w;
		int rc;

		world_open(&w, 1);
		world_text(&w, "run/7_kernel_trace.csv", trace);
		world_text(&w, "run/gpu_info_power_profiler_output.csv", power);
		snprintf(dir, sizeof(dir), "%s/run", w.dir);
		rk_alloc_fail_after(n);
		rc = report_and_convert(&w, dir);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || (failed && rc == RK_E_NOMEM && w.err.code == RK_E_NOMEM));
		CHECK(failed || world_has(&w, "k.csv"));
		world_close(&w);
	}
	CHECK(!failed);
}
