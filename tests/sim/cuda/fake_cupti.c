/*
 * fake_cupti.c - a stand-in for libcupti: activity records in the layouts of several releases.
 *
 *	FAKE_CUPTI_RELEASE=12.9     which one (fake_layout.h)
 *	FAKE_CUPTI_MODE=word,...    what goes wrong:
 *		held[=NAME]   somebody else has subscribed: error 39
 *		refuse=KIND   this kind cannot be enabled
 *		whole         calls cannot be enabled one by one
 *		drop=N        every Nth record is dropped, and counted
 *		mute          never asks for a buffer; all is dropped and counted
 *		notime        the clock stays CUPTI's own (CLOCK_REALTIME)
 *		timeless=N    every Nth kernel has no times
 *		unknown       a record of an unknown kind before each other one
 *		outside       a record beyond the buffer's end
 *		incomplete    a buffer ends inside a record
 *		hang          the last flush does not return
 *		late          a buffer comes back when the process ends, after all of its handlers
 *
 * Built with FAKE_V2 it has the interface with subscribers, with FAKE_OLD it lacks what 12.6 added,
 * and with FAKE_LACKS a function that there always was.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake_cuda.h"
#include "fake_layout.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the header that has them is NVIDIA's */

enum { OK = 0, NO_MORE = 12, REFUSED = 14, BAD_KIND = 21, HELD = 39 };
enum { MEMCPY = 1, MEMSET, DRIVER = 4, RUNTIME, DEVICE = 8, KERNEL = 10, MEMCPY2 = 22 };
enum { SYNC = 38, MEMORY2 = 49, UNKNOWN = 200, KINDS = 256, SUBSCRIBERS = 4, UNKNOWN_BYTES = 16 };
enum { RECORD_MAX = 256, TAIL = 8, CALLS = 1024 };

typedef void request1(uint8_t **, size_t *, size_t *);
typedef void complete1(void *, uint32_t, uint8_t *, size_t, size_t);
typedef void request2(uint8_t **, size_t *, size_t *, void *);
typedef void complete2(uint8_t *, size_t, size_t, void *);

/* Whoever takes records: number 0 is the interface without subscribers. */
struct client {
	bool used, enabled[KINDS], single[2][CALLS]; /* calls of the driver, of the runtime */
	request1 *request;
	complete1 *complete;
	request2 *request_v2;
	complete2 *complete_v2;
	uint64_t (*clock)(void);
	uint8_t *buffer;
	size_t size, at;
	uint64_t dropped;
};

static struct release {
	const char *name;
	uint32_t api;
	size_t kernel, copy, copy2, fill, sync, memory;
} releases[] = {
#define ROW(word, name, api, kernel, copy, copy2, fill, sync, memory) \
	{ name, api, kernel, copy, copy2, fill, sync, memory },
	FAKE_RELEASES(ROW)
};

static struct release *release;
static struct client clients[1 + SUBSCRIBERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool subscribed;
static uint64_t made;
static const char *modes;

/* ---- modes ---- */

/* The value of a word, "" for one without; NULL: not set. */
static const char *mode(const char *word)
{
	const char *s = modes;
	size_t len = strlen(word);

	for (; s && *s; s = strchr(s, ','), s = s ? s + 1 : NULL)
		if (!strncmp(s, word, len) && (!s[len] || s[len] == ',' || s[len] == '='))
			return s[len] == '=' ? s + len + 1 : "";
	return NULL;
}

static uint64_t parse(const char *s)
{
	uint64_t n = 0;

	for (; s && *s >= '0' && *s <= '9'; s++)
		n = n * 10 + (uint64_t)(*s - '0');
	return n;
}

static uint64_t number(const char *word)
{
	return parse(mode(word));
}

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("FAKE_CUPTI_RELEASE");

	modes = getenv("FAKE_CUPTI_MODE");
	for (size_t i = 0; !release && i < sizeof(releases) / sizeof(releases[0]); i++)
		if (!name || !strcmp(name, releases[i].name))
			release = &releases[i];
	if (!release) { /* a number of the interface that nobody knows */
		release = &releases[0];
		release->api = (uint32_t)parse(name);
	}
}

/* ---- time ---- */

static uint64_t real_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_of(const struct client *c)
{
	return c->clock ? c->clock() : real_time();
}

/* ---- buffers ---- */

/* The completion may call us again: the lock is let go for it. */
static void give_back(struct client *c)
{
	uint8_t *buffer = c->buffer;
	size_t size = c->size, at = c->at;
	complete1 *f = c->complete;
	complete2 *f2 = c->complete_v2;

	c->buffer = NULL;
	if (!buffer)
		return;
	pthread_mutex_unlock(&lock);
	if (f2)
		f2(buffer, size, at, NULL);
	else if (f)
		f(NULL, 0, buffer, size, at);
	pthread_mutex_lock(&lock);
}

static void fetch(struct client *c)
{
	uint8_t *buffer = NULL;
	size_t size = 0, most = 0;

	if (mode("mute"))
		return;
	if (c->request_v2)
		c->request_v2(&buffer, &size, &most, NULL);
	else if (c->request)
		c->request(&buffer, &size, &most);
	c->buffer = buffer;
	c->size = size;
	c->at = 0;
}

static void append(struct client *c, const void *record, size_t bytes)
{
	made++;
	if (number("drop") && made % number("drop") == 0) {
		c->dropped++;
		return;
	}
	while (c->buffer && c->size - c->at < bytes + TAIL) /* others may have got one meanwhile */
		give_back(c);
	if (!c->buffer)
		fetch(c);
	if (!c->buffer) {
		c->dropped++;
		return;
	}
	memcpy(c->buffer + c->at, record, bytes);
	c->at += bytes;
}

static void give_record(struct client *c, const void *record, size_t bytes)
{
	uint32_t unknown[UNKNOWN_BYTES / 4] = { UNKNOWN };

	if (mode("unknown"))
		append(c, unknown, sizeof(unknown));
	append(c, record, bytes);
}

/* ---- records ---- */

static void put32(uint8_t *r, size_t at, uint32_t v)
{
	memcpy(r + at, &v, 4);
}

static void put64(uint8_t *r, size_t at, uint64_t v)
{
	memcpy(r + at, &v, 8);
}

static void fill_kernel(uint8_t *r, const struct fake_launch *l, uint64_t start)
{
	memcpy(r + FAKE_KERNEL_REGISTERS, &l->registers, 2);
	put64(r, FAKE_KERNEL_START, start);
	put64(r, FAKE_KERNEL_END, start ? start + l->duration_ns : 0);
	put32(r, FAKE_KERNEL_DEVICE, l->device);
	put32(r, FAKE_KERNEL_CONTEXT, l->context);
	put32(r, FAKE_KERNEL_STREAM, l->stream);
	memcpy(r + FAKE_KERNEL_GRID, l->grid, 12);
	memcpy(r + FAKE_KERNEL_BLOCK, l->block, 12);
	put32(r, FAKE_KERNEL_STATIC, (uint32_t)l->static_shared);
	put32(r, FAKE_KERNEL_DYNAMIC, (uint32_t)l->dynamic_shared);
	put32(r, FAKE_KERNEL_LOCAL, l->local);
	put32(r, FAKE_KERNEL_CORRELATION, l->correlation);
	memcpy(r + FAKE_KERNEL_NAME, &l->name, sizeof(l->name));
	put64(r, FAKE_KERNEL_NODE, l->node);
	put32(r, FAKE_KERNEL_GRAPH, l->graph);
}

struct api_call {
	uint32_t cbid, correlation;
	uint64_t duration_ns;
};

static bool wants(const struct client *c, uint32_t kind, const void *what)
{
	if (!c->used)
		return false;
	if (kind == RUNTIME || kind == DRIVER) {
		const struct api_call *call = what;

		return c->enabled[kind] || c->single[kind == RUNTIME][call->cbid];
	}
	return c->enabled[kind];
}

/* Each client that has the kind gets the record that `fill` makes of `what`. */
static void each(uint32_t kind, size_t bytes, void (*fill)(uint8_t *, const void *, uint64_t),
		 const void *what)
{
	pthread_mutex_lock(&lock);
	for (struct client *c = clients; c < clients + 1 + SUBSCRIBERS; c++) {
		uint8_t record[RECORD_MAX];

		if (!wants(c, kind, what))
			continue;
		memset(record, 0xa5, sizeof(record)); /* fields that nobody should look at */
		put32(record, 0, kind);
		fill(record, what, time_of(c));
		give_record(c, record, bytes);
	}
	pthread_mutex_unlock(&lock);
}

static void launch_record(uint8_t *r, const void *what, uint64_t now)
{
	static uint64_t n;

	n++;
	fill_kernel(r, what, number("timeless") && n % number("timeless") == 0 ? 0 : now);
}

static void launch(const struct fake_launch *l)
{
	each(KERNEL, release->kernel, launch_record, l);
}

static void copy_record(uint8_t *r, const void *what, uint64_t now)
{
	const struct fake_copy *c = what;
	bool peer = c->kind == 10;

	if (c->kind)
		r[FAKE_COPY_KIND] = c->kind;
	put64(r, FAKE_COPY_BYTES, c->bytes);
	put64(r, FAKE_COPY_START, now);
	put64(r, FAKE_COPY_END, now + c->duration_ns);
	put32(r, FAKE_COPY_DEVICE, c->device);
	put32(r, FAKE_COPY_CONTEXT, c->context);
	put32(r, FAKE_COPY_STREAM, c->stream);
	put32(r, peer ? FAKE_COPY2_CORRELATION : FAKE_COPY_CORRELATION, c->correlation);
	if (peer) {
		put32(r, FAKE_COPY_FROM, c->from);
		put32(r, FAKE_COPY_TO, c->to);
	}
}

static void copy(const struct fake_copy *c)
{
	if (c->kind == 10)
		each(MEMCPY2, release->copy2, copy_record, c);
	else
		each(c->kind ? MEMCPY : MEMSET, c->kind ? release->copy : release->fill,
		     copy_record, c);
}

static void wait_record(uint8_t *r, const void *what, uint64_t now)
{
	const struct fake_wait *w = what;

	put32(r, FAKE_SYNC_TYPE, w->type);
	put64(r, FAKE_SYNC_START, now);
	put64(r, FAKE_SYNC_END, now + w->duration_ns);
	put32(r, FAKE_SYNC_CORRELATION, w->correlation);
	put32(r, FAKE_SYNC_CONTEXT, w->context);
	put32(r, FAKE_SYNC_STREAM, w->stream);
}

static void wait_hook(const struct fake_wait *w)
{
	each(SYNC, release->sync, wait_record, w);
}

static void alloc_record(uint8_t *r, const void *what, uint64_t now)
{
	const struct fake_alloc *a = what;

	put32(r, FAKE_MEMORY_OPERATION, a->operation);
	put32(r, FAKE_MEMORY_CORRELATION, a->correlation);
	put64(r, FAKE_MEMORY_ADDRESS, a->address);
	put64(r, FAKE_MEMORY_BYTES, a->bytes);
	put64(r, FAKE_MEMORY_TIME, now);
	put32(r, FAKE_MEMORY_DEVICE, a->device);
}

static void alloc_hook(const struct fake_alloc *a)
{
	each(MEMORY2, release->memory, alloc_record, a);
}

static void call_record(uint8_t *r, const void *what, uint64_t now)
{
	const struct api_call *c = what;

	put32(r, FAKE_API_CBID, c->cbid);
	put64(r, FAKE_API_START, now);
	put64(r, FAKE_API_END, now + c->duration_ns);
	put32(r, FAKE_API_THREAD, (uint32_t)syscall(SYS_gettid));
	put32(r, FAKE_API_CORRELATION, c->correlation);
}

static void call_hook(int runtime, uint32_t cbid, uint32_t correlation, uint64_t duration_ns)
{
	struct api_call c = { cbid, correlation, duration_ns };

	each(runtime ? RUNTIME : DRIVER, FAKE_API_BYTES, call_record, &c);
}

static const struct fake_hooks hooks = { launch, copy, wait_hook, alloc_hook, call_hook };

/* The driver of this process, if it has one. */
static void hook(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
	void (*set)(const struct fake_hooks *) = NULL;

	if (lib)
		*(void **)&set = dlsym(lib, "fakeSetHooks");
	if (set)
		set(&hooks);
}

/* ---- the functions of CUPTI ---- */

int cuptiGetVersion(uint32_t *version)
{
	*version = release->api;
	return OK;
}

int cuptiGetResultString(int rc, const char **text)
{
	*text = rc == HELD    ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" :
		rc == REFUSED ? "CUPTI_ERROR_NOT_COMPATIBLE" :
				"CUPTI_ERROR_UNKNOWN";
	return OK;
}

int cuptiGetTimestamp(uint64_t *t)
{
	*t = time_of(&clients[0]);
	return OK;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*f)(void))
{
	if (mode("notime"))
		return REFUSED;
	for (unsigned kind = 0; kind < KINDS; kind++)
		if (clients[0].enabled[kind])
			return REFUSED;
	clients[0].clock = f;
	return OK;
}

int cuptiSetThreadIdType(int type)
{
	return type == 1 ? OK : REFUSED;
}

int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
	static const struct {
		int domain;
		uint32_t cbid;
		const char *name;
	} known[] = {
		{ 2, 211, "cudaLaunchKernel_v7000" },      { 1, 307, "cuLaunchKernel" },
		{ 2, 131, "cudaStreamSynchronize_v3020" }, { 1, 126, "cuStreamSynchronize" },
		{ 2, 165, "cudaDeviceSynchronize_v3020" }, { 1, 17, "cuCtxSynchronize" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].domain == domain && known[i].cbid == cbid) {
			*name = known[i].name;
			return OK;
		}
	}
	return REFUSED;
}

int cuptiActivityRegisterCallbacks(request1 *request, complete1 *complete)
{
	pthread_mutex_lock(&lock);
	clients[0].used = true;
	clients[0].request = request;
	clients[0].complete = complete;
	pthread_mutex_unlock(&lock);
	return OK;
}

static int enable(struct client *c, int kind)
{
	if (kind < 0 || kind >= KINDS)
		return BAD_KIND;
	if (mode("held"))
		return HELD;
	if (mode("refuse") && (uint64_t)kind == number("refuse"))
		return REFUSED;
	hook();
	pthread_mutex_lock(&lock);
	c->enabled[kind] = true;
	pthread_mutex_unlock(&lock);
	return OK;
}

int cuptiActivityEnable(int kind)
{
	return enable(&clients[0], kind);
}

static int disable(struct client *c, int kind)
{
	if (kind < 0 || kind >= KINDS)
		return BAD_KIND;
	pthread_mutex_lock(&lock);
	c->enabled[kind] = false;
	pthread_mutex_unlock(&lock);
	return OK;
}

int cuptiActivityDisable(int kind)
{
	return disable(&clients[0], kind);
}

#ifndef FAKE_OLD
static int enable_call(struct client *c, bool runtime, uint32_t cbid, uint8_t on)
{
	if (cbid >= CALLS || mode("whole"))
		return REFUSED;
	/* 13.0 and 13.1 brought these: a number that is beyond a release's is memory of others */
	if (cbid == (runtime ? 534 : 800) && release->api < (runtime ? 130100u : 130000u))
		abort();
	hook();
	pthread_mutex_lock(&lock);
	c->single[runtime][cbid] = on;
	pthread_mutex_unlock(&lock);
	return OK;
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t on)
{
	return enable_call(&clients[0], false, cbid, on);
}

int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t on)
{
	return enable_call(&clients[0], true, cbid, on);
}
#endif

static void device_record(uint8_t *r, const void *what, uint64_t now)
{
	(void)r;
	(void)what;
	(void)now;
}

int cuptiActivityEnableAndDump(int kind)
{
	int rc = enable(&clients[0], kind);

	if (rc == OK && kind == DEVICE)
		each(DEVICE, 64, device_record, NULL);
	return rc;
}

static size_t bytes_of(const uint8_t *r)
{
	uint32_t kind;

	memcpy(&kind, r, 4);
	switch (kind) {
	case KERNEL:
		return release->kernel;
	case MEMCPY:
		return release->copy;
	case MEMCPY2:
		return release->copy2;
	case MEMSET:
		return release->fill;
	case SYNC:
		return release->sync;
	case MEMORY2:
		return release->memory;
	case DEVICE:
		return 64;
	case UNKNOWN:
		return UNKNOWN_BYTES;
	default:
		return FAKE_API_BYTES;
	}
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *r = *record;

	r = r ? r + bytes_of(r) : buffer;
	if (mode("incomplete") && r != buffer)
		return BAD_KIND;
	if (mode("outside") && r != buffer) {
		*record = buffer + valid + 4096;
		return OK;
	}
	if (r >= buffer + valid)
		return NO_MORE;
	*record = r;
	return OK;
}

static int dropped_of(struct client *c, size_t *n)
{
	pthread_mutex_lock(&lock);
	*n = c->dropped;
	c->dropped = 0;
	pthread_mutex_unlock(&lock);
	return OK;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	(void)context;
	(void)stream;
	return dropped_of(&clients[0], n);
}

static void flush(void)
{
	pthread_mutex_lock(&lock);
	for (struct client *c = clients; c < clients + 1 + SUBSCRIBERS; c++)
		if (c->used)
			give_back(c);
	pthread_mutex_unlock(&lock);
}

#ifndef FAKE_LACKS
int cuptiActivityFlushAll(uint32_t flag)
{
	if (flag && mode("hang"))
		for (;;)
			sleep(1000);
	if (!mode("late"))
		flush();
	return OK;
}
#endif

int cuptiSubscribe(void **subscriber, void *callback, void *user)
{
	(void)callback;
	(void)user;
	if (mode("held") || subscribed)
		return HELD;
	subscribed = true;
	*subscriber = &clients[0];
	return OK;
}

int cuptiUnsubscribe(void *subscriber)
{
	subscribed = false;
	return subscriber ? OK : REFUSED;
}

__attribute__((destructor)) static void late(void)
{
	if (mode("late"))
		flush();
}

#ifdef FAKE_V2
struct params {
	size_t bytes;
	const char *name;
	char *old_name;
	size_t old_bytes;
	uint8_t multiple;
};

int cuptiSubscribe_v2(void **subscriber, void *callback, void *user, struct params *p)
{
	(void)callback;
	(void)user;
	if (mode("held")) {
		snprintf(p->old_name, p->old_bytes, "%s", mode("held"));
		return HELD;
	}
	*subscriber = NULL;
	pthread_mutex_lock(&lock);
	for (struct client *c = clients + 1; p->multiple && c < clients + 1 + SUBSCRIBERS; c++) {
		if (!c->used) {
			c->used = true;
			*subscriber = c;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return *subscriber ? OK : HELD;
}

int cuptiActivityRegisterCallbacks_v2(void *subscriber, request2 *request, complete2 *complete)
{
	struct client *c = subscriber;

	c->request_v2 = request;
	c->complete_v2 = complete;
	return OK;
}

int cuptiActivityEnable_v2(void *subscriber, int kind, void *config)
{
	(void)config;
	return enable(subscriber, kind);
}

int cuptiActivityDisable_v2(void *subscriber, int kind, void *config)
{
	(void)config;
	return disable(subscriber, kind);
}

int cuptiActivityEnableDriverApi_v2(void *subscriber, uint32_t cbid, uint8_t on)
{
	return enable_call(subscriber, false, cbid, on);
}

int cuptiActivityEnableRuntimeApi_v2(void *subscriber, uint32_t cbid, uint8_t on)
{
	return enable_call(subscriber, true, cbid, on);
}

int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer, size_t valid, void **record)
{
	return subscriber ? cuptiActivityGetNextRecord(buffer, valid, record) : REFUSED;
}

int cuptiActivityGetNumDroppedRecords_v2(void *subscriber, void *context, uint32_t stream,
					 size_t *n)
{
	(void)context;
	(void)stream;
	return dropped_of(subscriber, n);
}

int cuptiActivitySetAttribute_v2(void *subscriber, int attribute, size_t *bytes, void *value)
{
	struct client *c = subscriber;

	if (attribute != 22 || *bytes != sizeof(c->clock) || mode("notime"))
		return REFUSED;
	memcpy(&c->clock, value, sizeof(c->clock));
	return OK;
}

int cuptiGetTimestamp_v2(void *subscriber, uint64_t *t)
{
	*t = time_of(subscriber);
	return OK;
}
#endif
