/* cup_range.c - see cup_range.h. */
#include "cup_range.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE_MAX_MIB = 1024, METRICS_MAX = 256 };

struct rk_range {
	const struct cupti_range *f;
	void *context, *host, *profiler;
	const char **metrics;
	size_t n, most, passes;
	uint32_t device;
	char chip[32];
	uint8_t *availability, *config, *image;
	size_t config_bytes, image_bytes;
	double *values;
	bool counting;
};

const char *rk_range_load(struct cupti_range *f, void *lib)
{
	const char *missing = NULL;
	void *at;

#define LOOK_UP(name, symbol, type)        \
	at = dlsym(lib, symbol);           \
	memcpy(&f->name, &at, sizeof(at)); \
	if (!at && !missing)               \
		missing = symbol;
	CUPTI_RANGE_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	at = dlsym(lib, "cuptiGetDeviceId");
	memcpy(&f->device, &at, sizeof(at));
	return at || missing ? missing : "cuptiGetDeviceId";
}

const char *rk_range_advice(int code)
{
	switch (code) {
	case CUPTI_RANGE_NO_PRIVILEGE:
	case CUPTI_RANGE_VIRTUAL_NO_PRIVILEGE:
		return "only administrators may read counters: run as root (in a container with "
		       "CAP_SYS_ADMIN), or set NVreg_RestrictProfilingToAdminUsers=0 for the nvidia "
		       "module";
	case CUPTI_RANGE_MIG:
		return "a part of a GPU (MIG) has no counters";
	case CUPTI_RANGE_CONFIDENTIAL:
		return "counters are not available under confidential computing";
	case CUPTI_RANGE_VIRTUALIZED:
		return "this virtual GPU has no counters";
	case CUPTI_RANGE_WSL:
		return "counters are not available under WSL";
	case CUPTI_RANGE_NOT_SUPPORTED:
		return "CUPTI cannot read counters of this GPU (Volta and older), or another "
		       "profiler (DCGM) uses them";
	default:
		return "";
	}
}

static bool failed(struct rk_range_trouble *t, const char *step, int code)
{
	if (code && !t->step) {
		t->step = step;
		t->code = code;
	}
	return code != 0;
}

/* Calls a function with its struct, whose size ends after the member `last`; true on failure. */
#define CALL(r, t, function, p, last)                                  \
	((p).bytes = offsetof(__typeof__(p), last) + sizeof((p).last), \
	 failed((t), #function, (r)->f->function(&(p))))

/* ---- the beginning ---- */

static void end_host(struct rk_range *r)
{
	struct cupti_host_end_params p = { .host = r->host };
	struct rk_range_trouble t = { 0 };

	if (r->host)
		CALL(r, &t, host_end, p, host);
	r->host = NULL;
}

/* Creates CUPTI's host object for our metrics. */
static bool make_host(struct rk_range *r, const char **names, size_t n, struct rk_range_trouble *t)
{
	struct cupti_host_init_params init = { .type = CUPTI_HOST_RANGE_PROFILER,
					       .chip = r->chip,
					       .availability = r->availability };
	struct cupti_add_params add = { .names = names, .n = n };

	if (CALL(r, t, host_init, init, host))
		return false;
	add.host = r->host = init.host;
	if (!CALL(r, t, add, add, n))
		return true;
	end_host(r);
	return false;
}

/* One bad name makes the whole call fail: find out which. */
static void name_culprit(struct rk_range *r, struct rk_range_trouble *t)
{
	for (size_t i = 0; i < r->n; i++) {
		struct rk_range_trouble own = { 0 };
		bool good = make_host(r, &r->metrics[i], 1, &own);

		end_host(r);
		if (good)
			continue;
		snprintf(t->what, sizeof(t->what), "%s", r->metrics[i]);
		return;
	}
}

static bool make_config(struct rk_range *r, struct rk_range_trouble *t)
{
	struct cupti_config_size_params size = { .host = r->host };
	struct cupti_config_params config = { .host = r->host };
	struct cupti_passes_params passes = { 0 };

	if (CALL(r, t, config_size, size, config_bytes))
		return false;
	if (!size.config_bytes || size.config_bytes >> 20 > IMAGE_MAX_MIB)
		return !failed(t, "config_size", -1);
	r->config = calloc(1, size.config_bytes);
	if (!r->config)
		return !failed(t, "memory", -1);
	config.config_bytes = r->config_bytes = size.config_bytes;
	config.config = r->config;
	if (CALL(r, t, config, config, config))
		return false;
	passes.config_bytes = r->config_bytes;
	passes.config = r->config;
	if (CALL(r, t, passes, passes, passes))
		return false;
	r->passes = passes.passes;
	return true;
}

static bool make_image(struct rk_range *r, struct rk_range_trouble *t)
{
	struct cupti_image_size_params size = { .profiler = r->profiler,
						.names = r->metrics,
						.n = r->n,
						.ranges = r->most,
						.nodes = (uint32_t)r->most };

	if (CALL(r, t, image_size, size, image_bytes))
		return false;
	if (!size.image_bytes || size.image_bytes >> 20 > IMAGE_MAX_MIB)
		return !failed(t, "image_size", -1);
	r->image_bytes = size.image_bytes;
	r->image = calloc(1, r->image_bytes);
	r->values = calloc(r->n, sizeof(*r->values));
	return r->image && r->values ? true : !failed(t, "memory", -1);
}

/* Sets an empty image and a fresh configuration, which discards earlier counts. */
static bool begin(struct rk_range *r, struct rk_range_trouble *t)
{
	struct cupti_image_params image = { .profiler = r->profiler,
					    .image_bytes = r->image_bytes,
					    .image = r->image };
	struct cupti_set_params set = { .profiler = r->profiler,
					.config_bytes = r->config_bytes,
					.config = r->config,
					.image_bytes = r->image_bytes,
					.image = r->image,
					.range = CUPTI_RANGE_AUTO,
					.replay = CUPTI_REPLAY_KERNEL,
					.ranges_per_pass = r->most,
					.levels = 1,
					.least_level = 1 };
	struct cupti_profiler_params start = { .profiler = r->profiler };

	r->counting = !CALL(r, t, image, image, image) && !CALL(r, t, set, set, target_level) &&
		      !CALL(r, t, start, start, profiler);
	return r->counting;
}

static bool make_all(struct rk_range *r, struct rk_range_trouble *t)
{
	struct cupti_init_params init = { 0 };
	struct cupti_chip_params chip = { 0 };
	struct cupti_availability_params p = { .context = r->context };
	struct cupti_enable_params enable = { .context = r->context };

	if (CALL(r, t, initialize, init, priv) ||
	    failed(t, "device", r->f->device(r->context, &r->device)))
		return false;
	chip.device = r->device;
	if (CALL(r, t, chip, chip, name))
		return false;
	snprintf(r->chip, sizeof(r->chip), "%s", chip.name ? chip.name : "");

	/* asks which counters this machine has; missing permissions show up here first */
	if (CALL(r, t, availability, p, image))
		return false;
	if (!p.image_bytes || p.image_bytes >> 20 > IMAGE_MAX_MIB)
		return !failed(t, "availability", -1);
	r->availability = p.image = calloc(1, p.image_bytes);
	if (!p.image)
		return !failed(t, "memory", -1);
	if (CALL(r, t, availability, p, image))
		return false;

	if (!make_host(r, r->metrics, r->n, t)) {
		if (!strcmp(t->step, "add"))
			name_culprit(r, t);
		return false;
	}
	if (!make_config(r, t) || CALL(r, t, enable, enable, profiler))
		return false;
	r->profiler = enable.profiler;
	return make_image(r, t) && begin(r, t);
}

struct rk_range *rk_range_open(const struct cupti_range *f, void *context, const char **metrics,
			       size_t n, size_t most, struct rk_range_trouble *t)
{
	struct rk_range *r = n && n <= METRICS_MAX && most ? calloc(1, sizeof(*r)) : NULL;

	*t = (struct rk_range_trouble){ 0 };
	if (!r) {
		failed(t, "memory", -1);
		return NULL;
	}
	r->f = f;
	r->context = context;
	r->metrics = metrics;
	r->n = n;
	r->most = most;
	if (make_all(r, t))
		return r;
	rk_range_close(r);
	return NULL;
}

size_t rk_range_passes(const struct rk_range *r)
{
	return r->passes;
}

const char *rk_range_chip(const struct rk_range *r)
{
	return r->chip;
}

uint32_t rk_range_device(const struct rk_range *r)
{
	return r->device;
}

uint32_t rk_range_device_of(const struct cupti_range *f, void *context)
{
	uint32_t device = 0;

	return f->device(context, &device) ? 0 : device;
}

/* ---- the values ---- */

bool rk_range_drain(struct rk_range *r, rk_range_row *row, void *user, size_t *ret_ranges,
		    size_t *ret_dropped, struct rk_range_trouble *t)
{
	struct cupti_stop_params stop = { .profiler = r->profiler };
	struct cupti_decode_params decode = { .profiler = r->profiler };
	struct cupti_info_params info = { .image = r->image, .image_bytes = r->image_bytes };

	*t = (struct rk_range_trouble){ 0 };
	*ret_ranges = *ret_dropped = 0;
	if (!r->counting)
		return !failed(t, "start", -1);
	r->counting = false;
	if (CALL(r, t, stop, stop, all) || CALL(r, t, decode, decode, dropped))
		return false;
	*ret_dropped = decode.dropped;
	if (CALL(r, t, info, info, ranges))
		return false;
	*ret_ranges = info.ranges < r->most ? info.ranges : r->most;
	for (size_t i = 0; i < *ret_ranges; i++) {
		struct cupti_evaluate_params p = { .host = r->host,
						   .image = r->image,
						   .image_bytes = r->image_bytes,
						   .range = i,
						   .names = r->metrics,
						   .n = r->n,
						   .values = r->values };

		for (size_t k = 0; k < r->n; k++)
			r->values[k] = (double)NAN;
		if (CALL(r, t, evaluate, p, values))
			return false;
		row(user, i, r->values);
	}
	return begin(r, t);
}

void rk_range_close(struct rk_range *r)
{
	struct cupti_stop_params stop = { 0 };
	struct cupti_profiler_params disable = { 0 };
	struct rk_range_trouble t = { 0 };

	if (!r)
		return;
	stop.profiler = disable.profiler = r->profiler;
	if (r->counting)
		CALL(r, &t, stop, stop, all);
	if (r->profiler)
		CALL(r, &t, disable, disable, profiler);
	end_host(r);
	free(r->availability);
	free(r->config);
	free(r->image);
	free(r->values);
	free(r);
}
