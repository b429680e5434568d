/* cup_range.c (tests) - counting kernels, against functions that play CUPTI's range profiler. */
#include "cup_range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

/* What is played: the step that fails and how, what the chip has not, kernels so far. */
static struct {
	const char *fails, *unknown;
	int code;
	size_t kernels, hosts, profilers, dropped;
	bool started, configured;
	size_t drained; /* kernels in the image */
} play;

static int answer(const char *step)
{
	return play.fails && !strcmp(play.fails, step) ? play.code : 0;
}

/* Every struct says how long it is; CUPTI refuses others. */
#define SIZED(p, type, last) ((p)->bytes == CUPTI_RANGE_BYTES(type, last) ? 0 : 1)

static int f_initialize(struct cupti_init_params *p)
{
	return SIZED(p, struct cupti_init_params, priv) ? 1 : answer("initialize");
}

static int f_device(void *context, uint32_t *ret)
{
	*ret = context ? 3 : 0;
	return answer("device");
}

static int f_chip(struct cupti_chip_params *p)
{
	p->name = "GH100";
	return SIZED(p, struct cupti_chip_params, name) || p->device != 3 ? 1 : answer("chip");
}

static int f_availability(struct cupti_availability_params *p)
{
	if (p->image && p->image_bytes == 100)
		memset(p->image, 0x5a, 100);
	p->image_bytes = 100;
	return SIZED(p, struct cupti_availability_params, image) ? 1 : answer("availability");
}

static int f_host_init(struct cupti_host_init_params *p)
{
	if (SIZED(p, struct cupti_host_init_params, host) || strcmp(p->chip, "GH100") ||
	    p->type != 0 || !p->availability || p->availability[99] != 0x5a)
		return 1;
	play.hosts += !answer("host_init");
	p->host = &play;
	return answer("host_init");
}

static int f_host_end(struct cupti_host_end_params *p)
{
	play.hosts -= p->host == &play;
	return 0;
}

static int f_add(struct cupti_add_params *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (play.unknown && !strcmp(p->names[i], play.unknown))
			return CUPTI_RANGE_INVALID_METRIC;
	return SIZED(p, struct cupti_add_params, n) ? 1 : answer("add");
}

static int f_config_size(struct cupti_config_size_params *p)
{
	p->config_bytes = 40;
	return SIZED(p, struct cupti_config_size_params, config_bytes) ? 1 : answer("config_size");
}

static int f_config(struct cupti_config_params *p)
{
	memset(p->config, 7, p->config_bytes);
	return SIZED(p, struct cupti_config_params, config) ? 1 : answer("config");
}

static int f_passes(struct cupti_passes_params *p)
{
	p->passes = p->config[39];
	return SIZED(p, struct cupti_passes_params, passes) ? 1 : answer("passes");
}

static int f_enable(struct cupti_enable_params *p)
{
	play.profilers += !answer("enable");
	p->profiler = &play.profilers;
	return SIZED(p, struct cupti_enable_params, profiler) ? 1 : answer("enable");
}

static int f_disable(struct cupti_profiler_params *p)
{
	play.profilers -= p->profiler == &play.profilers;
	return 0;
}

static int f_image_size(struct cupti_image_size_params *p)
{
	p->image_bytes = 64;
	return SIZED(p, struct cupti_image_size_params, image_bytes) || p->nodes < p->ranges ?
		       1 :
		       answer("image_size");
}

static int f_image(struct cupti_image_params *p)
{
	memset(p->image, 0, p->image_bytes);
	play.drained = play.kernels = 0;
	return answer("image");
}

static int f_set(struct cupti_set_params *p)
{
	play.configured = true;
	return SIZED(p, struct cupti_set_params, target_level) || p->range != 1 || p->replay != 2 ||
			       p->levels != 1 || p->config[0] != 7 ?
		       1 :
		       answer("set");
}

static int f_start(struct cupti_profiler_params *p)
{
	play.started = play.configured && p->profiler == &play.profilers;
	return play.started ? answer("start") : 1;
}

static int f_stop(struct cupti_stop_params *p)
{
	int rc = play.started ? answer("stop") : 1;

	p->all = 1;
	play.started = play.configured = false;
	return rc;
}

static int f_decode(struct cupti_decode_params *p)
{
	play.drained = play.kernels;
	p->dropped = play.dropped;
	return answer("decode");
}

static int f_info(struct cupti_info_params *p)
{
	p->ranges = play.drained;
	return answer("info");
}

/* The second metric has no value. */
static int f_evaluate(struct cupti_evaluate_params *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (i != 1)
			p->values[i] = (double)p->range * 100 + (double)i;
	return answer("evaluate");
}

static const struct cupti_range functions = {
	.initialize = f_initialize,
	.chip = f_chip,
	.availability = f_availability,
	.host_init = f_host_init,
	.host_end = f_host_end,
	.add = f_add,
	.config_size = f_config_size,
	.config = f_config,
	.passes = f_passes,
	.evaluate = f_evaluate,
	.enable = f_enable,
	.disable = f_disable,
	.start = f_start,
	.stop = f_stop,
	.set = f_set,
	.decode = f_decode,
	.image_size = f_image_size,
	.image = f_image,
	.info = f_info,
	.device = f_device,
};

static const char *metrics[] = { "a.sum", "b.sum", "c.pct" };
static int context; /* its address is used as one */

static struct rk_range *begin(struct rk_range_trouble *t)
{
	return rk_range_open(&functions, &context, metrics, 3, 8, t);
}

static char rows[512];

static void put_row(void *user, size_t range, const double *v)
{
	size_t len = strlen(rows);

	(void)user;
	snprintf(rows + len, sizeof(rows) - len, "%zu:%g,%s,%g ", range, v[0],
		 isnan(v[1]) ? "none" : "some", v[2]);
}

TEST(kernels_are_counted_from_drain_to_drain)
{
	struct rk_range_trouble t;
	struct rk_range *r;
	size_t n, dropped;

	memset(&play, 0, sizeof(play));
	r = begin(&t);
	if (!CHECK(r != NULL))
		return;
	CHECK_STR(rk_range_chip(r), "GH100");
	CHECK_U64(rk_range_passes(r), 7);
	CHECK_U64(rk_range_device(r), 3);
	play.kernels = 2;
	play.dropped = 5;
	rows[0] = '\0';
	CHECK(rk_range_drain(r, put_row, NULL, &n, &dropped, &t));
	CHECK_U64(n, 2);
	CHECK_U64(dropped, 5);
	CHECK_STR(rows, "0:0,none,2 1:100,none,102 ");
	CHECK(play.started);
	/* None since, and then more than there is room for. */
	CHECK(rk_range_drain(r, put_row, NULL, &n, &dropped, &t) && n == 0);
	play.kernels = 100;
	CHECK(rk_range_drain(r, put_row, NULL, &n, &dropped, &t) && n == 8);
	rk_range_close(r);
	CHECK(!play.started && !play.hosts && !play.profilers);
}

TEST(every_step_that_fails_is_named_and_leaves_nothing)
{
	static const char *const steps[] = { "initialize", "device", "chip",   "availability",
					     "host_init",  "add",    "config", "config_size",
					     "passes",     "enable", "image",  "image_size",
					     "set",        "start",  NULL };

	for (const char *const *s = steps; *s; s++) {
		struct rk_range_trouble t;

		memset(&play, 0, sizeof(play));
		play.fails = *s;
		play.code = CUPTI_RANGE_NO_PRIVILEGE;
		CHECK(begin(&t) == NULL);
		CHECK_STR(t.step ? t.step : "", *s);
		CHECK_I64(t.code, CUPTI_RANGE_NO_PRIVILEGE);
		CHECK(!play.hosts && !play.profilers);
	}
	CHECK(strstr(rk_range_advice(CUPTI_RANGE_NO_PRIVILEGE),
		     "NVreg_RestrictProfilingToAdminUsers=0") != NULL);
	CHECK_STR(rk_range_advice(999), "");
}

TEST(a_metric_that_the_chip_lacks_is_named)
{
	struct rk_range_trouble t;

	memset(&play, 0, sizeof(play));
	play.unknown = "b.sum";
	CHECK(begin(&t) == NULL);
	CHECK_STR(t.what, "b.sum");
	CHECK_I64(t.code, CUPTI_RANGE_INVALID_METRIC);
	CHECK(!play.hosts);
}

TEST(a_drain_that_fails_ends_the_counting)
{
	static const char *const steps[] = { "stop", "decode", "info", "evaluate", "set", NULL };

	for (const char *const *s = steps; *s; s++) {
		struct rk_range_trouble t;
		struct rk_range *r;
		size_t n, dropped;

		memset(&play, 0, sizeof(play));
		r = begin(&t);
		play.kernels = 1;
		play.fails = *s;
		play.code = 999;
		CHECK(r && !rk_range_drain(r, put_row, NULL, &n, &dropped, &t));
		CHECK_STR(t.step ? t.step : "", *s);
		CHECK(r && !rk_range_drain(r, put_row, NULL, &n, &dropped, &t));
		rk_range_close(r);
		CHECK(!play.hosts && !play.profilers);
	}
}

TEST(a_library_without_the_profiler_is_recognised_by_what_it_lacks)
{
	struct cupti_range f;

	CHECK_STR(rk_range_load(&f, NULL), "cuptiProfilerInitialize");
}
