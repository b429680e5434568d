/*
 * fake_cupti_range.c - a stand-in for libcupti with callbacks and the range profiler of CUDA 13.
 *
 *	FAKE_RANGE=word,...   held (somebody has subscribed), closed (counters are for administrators
 *	                      alone), lacks=METRIC, break=N (the Nth decoding fails), drop (a range of
 *	                      each decoding is dropped)
 *
 * A kernel of N launches so far has, of metric M of a list, the value 1000 * M + N; of a share of a
 * peak 90 + N; of a metric whose name begins with "nan" none. Context C is of device C - 1, and "made" at its first launch.
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_cuda.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the header that has them is NVIDIA's */

enum { OK = 0, WRONG = 1, CLOSED = 35, HELD = 39, UNKNOWN_ERROR = 999 };
enum { DRIVER_API = 1, RESOURCE = 3, CREATED = 1, LAUNCH = 307, GRAPH_LAUNCH = 514 };
enum { CONTEXTS = 8, MOST = 4096 };

struct call_data {
	int site;
	const char *function;
	const void *parameters;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_uid;
	uint64_t *data;
	uint32_t correlation;
};

struct resource_data {
	void *context, *stream, *descriptor;
};

typedef void callback_function(void *user, int domain, uint32_t id, const void *data);

/* A context, and its profiler. */
static struct context {
	bool made, enabled, set, started;
	size_t most, n, decoded;
	uint64_t values[MOST];
} contexts[CONTEXTS];

static callback_function *callback;
static void *callback_user;
static bool enabled[8][1024];
static _Atomic uint64_t launches;
static uint64_t decodings;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static const char *mode(const char *word)
{
	const char *s = getenv("FAKE_RANGE");
	size_t len = strlen(word);

	for (; s && *s; s = strchr(s, ','), s = s ? s + 1 : NULL)
		if (!strncmp(s, word, len) && (!s[len] || s[len] == ',' || s[len] == '='))
			return s[len] == '=' ? s + len + 1 : "";
	return NULL;
}

static void tell(int domain, uint32_t id, const void *data)
{
	if (callback && enabled[domain][id])
		callback(callback_user, domain, id, data);
}

/* Called for each launch of the driver, those of graphs included. */
static void on_launch(const struct fake_launch *l)
{
	struct context *c = &contexts[l->context % CONTEXTS];
	struct resource_data resource = { .context = c };
	int result = 0;
	struct call_data d = { .function = "cuLaunchKernel",
			       .result = &result,
			       .symbol = l->graph ? NULL : l->name,
			       .context = c,
			       .context_uid = l->context,
			       .correlation = l->correlation };
	uint32_t id = l->graph ? GRAPH_LAUNCH : LAUNCH;
	uint64_t now;

	/* nobody uses a context before it is made */
	pthread_mutex_lock(&making);
	if (!c->made) {
		c->made = true;
		tell(RESOURCE, CREATED, &resource);
	}
	pthread_mutex_unlock(&making);
	tell(DRIVER_API, id, &d);
	now = ++launches;
	if (c->started && c->n < c->most && c->n < MOST)
		c->values[c->n++] = now;
	d.site = 1;
	tell(DRIVER_API, id, &d);
}

__attribute__((constructor)) static void begin(void)
{
	static const struct fake_hooks hooks = { .launch = on_launch };

	fakeSetHooks(&hooks);
}

/* ---- what every CUPTI has ---- */

int cuptiGetVersion(uint32_t *version)
{
	*version = 130001;
	return OK;
}

int cuptiGetTimestamp(uint64_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*t = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	return OK;
}

int cuptiActivityRegisterCallbacks(void *request, void *complete)
{
	(void)request;
	(void)complete;
	return UNKNOWN_ERROR; /* nobody wants activities who wants counters */
}

int cuptiActivityEnable(int kind)
{
	(void)kind;
	return UNKNOWN_ERROR;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	(void)buffer;
	(void)valid;
	(void)record;
	return UNKNOWN_ERROR;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	(void)context;
	(void)stream;
	*n = 0;
	return OK;
}

int cuptiActivityFlushAll(uint32_t flag)
{
	(void)flag;
	return OK;
}

int cuptiSubscribe(void **subscriber, callback_function *f, void *user)
{
	if (mode("held") || callback)
		return HELD;
	callback = f;
	callback_user = user;
	*subscriber = &callback;
	return OK;
}

int cuptiUnsubscribe(void *subscriber)
{
	callback = NULL;
	return subscriber ? OK : WRONG;
}

int cuptiEnableCallback(uint32_t on, void *subscriber, int domain, uint32_t id)
{
	if (subscriber != &callback || domain >= 8 || id >= 1024)
		return WRONG;
	enabled[domain][id] = on;
	return OK;
}

int cuptiGetDeviceId(void *context, uint32_t *device)
{
	*device = (uint32_t)((struct context *)context - contexts) - 1;
	return OK;
}

/* ---- the range profiler; each struct begins with its size, which must be as known ---- */

int cuptiProfilerInitialize(size_t *p)
{
	return p[0] == 16 ? OK : WRONG;
}

struct chip {
	size_t size;
	void *priv;
	size_t device;
	const char *name;
};

int cuptiDeviceGetChipName(struct chip *p)
{
	p->name = "GH100";
	return p->size == 32 ? OK : WRONG;
}

struct availability {
	size_t size;
	void *priv, *context;
	size_t bytes;
	uint8_t *image;
};

int cuptiProfilerGetCounterAvailability(struct availability *p)
{
	if (mode("closed"))
		return CLOSED;
	p->bytes = 16;
	return p->size == 40 ? OK : WRONG;
}

struct host {
	size_t size;
	void *priv;
	int type;
	const char *chip;
	const uint8_t *availability;
	void *object;
};

int cuptiProfilerHostInitialize(struct host *p)
{
	p->object = malloc(1);
	return p->size == 48 && p->object ? OK : WRONG;
}

struct host_object {
	size_t size;
	void *priv, *object;
	size_t bytes;
	uint8_t *image;
};

int cuptiProfilerHostDeinitialize(struct host_object *p)
{
	free(p->object);
	return p->size == 24 ? OK : WRONG;
}

struct names {
	size_t size;
	void *priv, *object;
	const char **names;
	size_t n;
};

int cuptiProfilerHostConfigAddMetrics(struct names *p)
{
	const char *lacks = mode("lacks");

	for (size_t i = 0; lacks && i < p->n; i++)
		if (!strcmp(p->names[i], lacks))
			return WRONG;
	return p->size == 40 ? OK : WRONG;
}

int cuptiProfilerHostGetConfigImageSize(struct host_object *p)
{
	p->bytes = 8;
	return p->size == 32 ? OK : WRONG;
}

int cuptiProfilerHostGetConfigImage(struct host_object *p)
{
	memset(p->image, 9, p->bytes);
	return p->size == 40 ? OK : WRONG;
}

struct passes {
	size_t size;
	void *priv;
	size_t bytes;
	uint8_t *image;
	size_t passes;
};

int cuptiProfilerHostGetNumOfPasses(struct passes *p)
{
	p->passes = p->image[0];
	return p->size == 40 ? OK : WRONG;
}

struct profiler {
	size_t size;
	void *priv;
	struct context *context, *object;
};

int cuptiRangeProfilerEnable(struct profiler *p)
{
	p->object = p->context;
	p->object->enabled = true;
	return p->size == 32 ? OK : WRONG;
}

/* Their third member is the object. */
int cuptiRangeProfilerDisable(struct profiler *p)
{
	p->context->enabled = false;
	return p->size == 24 ? OK : WRONG;
}

int cuptiRangeProfilerStart(struct profiler *p)
{
	p->context->started = p->context->enabled && p->context->set;
	return p->size == 24 && p->context->started ? OK : WRONG;
}

struct configuration {
	size_t size;
	void *priv;
	struct context *object;
	size_t bytes;
	const uint8_t *config;
	size_t image_bytes;
	uint8_t *image;
	int range, replay;
	size_t most;
	uint16_t levels, least;
	size_t pass;
	uint16_t level;
};

int cuptiRangeProfilerSetConfig(struct configuration *p)
{
	p->object->set = p->config[0] == 9 && p->range == 1 && p->replay == 2;
	p->object->most = p->most;
	p->object->n = 0;
	return p->size == offsetof(struct configuration, level) + 2 ? OK : WRONG;
}

struct stop {
	size_t size;
	void *priv;
	struct context *object;
	size_t pass, level;
	uint8_t all;
};

int cuptiRangeProfilerStop(struct stop *p)
{
	bool was = p->object->started;

	p->object->started = p->object->set = false;
	p->all = 1;
	return p->size == 41 && was ? OK : WRONG;
}

struct decode {
	size_t size;
	void *priv;
	struct context *object;
	size_t dropped;
};

int cuptiRangeProfilerDecodeData(struct decode *p)
{
	const char *end = mode("break");

	p->object->decoded = p->object->n;
	p->dropped = 0;
	if (mode("drop") && p->object->n) {
		p->object->decoded--;
		p->dropped = 1;
	}
	if (end && ++decodings == (uint64_t)(end[0] - '0'))
		return UNKNOWN_ERROR;
	return p->size == 32 ? OK : WRONG;
}

struct image_size {
	size_t size;
	void *priv;
	struct context *object;
	const char **names;
	size_t n, ranges;
	uint32_t nodes;
	size_t bytes;
};

int cuptiRangeProfilerGetCounterDataSize(struct image_size *p)
{
	p->bytes = sizeof(void *);
	return p->size == 64 && p->nodes >= p->ranges ? OK : WRONG;
}

struct image {
	size_t size;
	void *priv;
	struct context *object;
	size_t bytes;
	uint8_t *image;
};

/* The image says whose it is. */
int cuptiRangeProfilerCounterDataImageInitialize(struct image *p)
{
	memcpy(p->image, &p->object, sizeof(p->object));
	p->object->n = p->object->decoded = 0;
	return p->size == 40 ? OK : WRONG;
}

static struct context *of_image(const uint8_t *image)
{
	struct context *c;

	memcpy(&c, image, sizeof(c));
	return c;
}

struct info {
	size_t size;
	void *priv;
	const uint8_t *image;
	size_t bytes, ranges;
};

int cuptiRangeProfilerGetCounterDataInfo(struct info *p)
{
	p->ranges = of_image(p->image)->decoded;
	return p->size == 40 ? OK : WRONG;
}

struct evaluation {
	size_t size;
	void *priv, *host;
	const uint8_t *image;
	size_t bytes, range;
	const char **names;
	size_t n;
	double *values;
};

int cuptiProfilerHostEvaluateToGpuValues(struct evaluation *p)
{
	const struct context *c = of_image(p->image);

	if (p->size != 72 || p->range >= c->decoded)
		return WRONG;
	for (size_t i = 0; i < p->n; i++) {
		double count = (double)c->values[p->range];

		if (strncmp(p->names[i], "nan", 3) == 0)
			p->values[i] = (double)NAN;
		else if (strstr(p->names[i], "pct_of_peak"))
			p->values[i] = 90 + count;
		else
			p->values[i] = 1000.0 * (double)i + count;
	}
	return OK;
}
