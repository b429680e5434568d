/* fake_cuda.c - see fake_cuda.h: libcuda.so.1. FAKE_CUDA_DRIVER is its release (12090). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

enum { NOT_INITIALIZED = 3, INVALID_VALUE = 1, DEVICES = 2, LAUNCH_CBID = 211, DRIVER_CBID = 307 };

static _Atomic(const struct fake_hooks *) hooks;
static atomic_bool initialized;
static atomic_uint correlations;

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *lib = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void) = NULL;

	if (lib)
		*(void **)&initialize = dlsym(lib, "InitializeInjection");
	if (initialize)
		initialize();
}

int cuInit(unsigned flags)
{
	if (flags)
		return INVALID_VALUE;
	if (getenv("FAKE_CUDA_NO_GPU"))
		return 100;
	if (!atomic_exchange(&initialized, 1))
		inject();
	return 0;
}

int cuDriverGetVersion(int *version)
{
	const char *s = getenv("FAKE_CUDA_DRIVER");

	*version = s ? 0 : 12090;
	for (; s && *s >= '0' && *s <= '9'; s++)
		*version = *version * 10 + (*s - '0');
	return 0;
}

int cuDeviceGetCount(int *n)
{
	*n = DEVICES;
	return atomic_load(&initialized) ? 0 : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal)
{
	if (!atomic_load(&initialized))
		return NOT_INITIALIZED;
	*device = ordinal;
	return ordinal < 0 || ordinal >= DEVICES ? INVALID_VALUE : 0;
}

int cuDeviceGetName(char *name, int bytes, int device)
{
	snprintf(name, (size_t)bytes, "Stand-in H%d00", device + 1);
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	static const struct {
		int attribute, value;
	} known[] = { { 10, 32 }, { 13, 1980000 }, { 16, 132 }, { 34, 0 },
		      { 50, 0 },  { 75, 9 },       { 76, 0 } };

	if (attribute == 33) {
		*value = 0x1b + device; /* the bus */
		return 0;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].attribute == attribute) {
			*value = known[i].value;
			return 0;
		}
	}
	return INVALID_VALUE;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	*bytes = (size_t)141 << 30;
	return 0;
}

/* ---- work ---- */

void fakeSetHooks(const struct fake_hooks *h)
{
	atomic_store(&hooks, h);
}

static uint32_t next(void)
{
	return atomic_fetch_add(&correlations, 1) + 1;
}

/* The runtime's function calls the driver's. */
static void call(const struct fake_hooks *h, uint32_t runtime, uint32_t driver,
		 uint32_t correlation)
{
	if (h->call) {
		h->call(0, driver, correlation, 500);
		h->call(1, runtime, correlation, 900);
	}
}

#define TELL(member, what, runtime, driver)                                 \
	do {                                                                \
		const struct fake_hooks *h_ = atomic_load(&hooks);          \
		(what)->correlation = next();                               \
		if (h_)                                                     \
			call(h_, (runtime), (driver), (what)->correlation); \
		if (h_ && h_->member)                                       \
			h_->member(what);                                   \
	} while (0)

void fakeLaunch(struct fake_launch *l)
{
	TELL(launch, l, LAUNCH_CBID, DRIVER_CBID);
}

void fakeCopy(struct fake_copy *c)
{
	TELL(copy, c, LAUNCH_CBID, DRIVER_CBID);
}

void fakeWait(struct fake_wait *w)
{
	/* by type: for an event, a stream for an event, a stream, all */
	static const uint32_t runtime[] = { 0, 137, 147, 131, 165 },
			      driver[] = { 0, 121, 295, 126, 17 };

	TELL(wait, w, runtime[w->type], driver[w->type]);
}

void fakeAlloc(struct fake_alloc *a)
{
	TELL(alloc, a, LAUNCH_CBID, DRIVER_CBID);
}

struct host_function {
	void (*f)(void *);
	void *user;
};

static void *host_thread(void *arg)
{
	struct host_function *h = arg;

	h->f(h->user);
	return NULL;
}

void fakeHostFunction(void (*f)(void *), void *user)
{
	struct host_function h = { f, user };
	pthread_t thread;

	if (pthread_create(&thread, NULL, host_thread, &h) == 0)
		pthread_join(thread, NULL);
}
