/*
 * fake_cuda.h - a stand-in for the CUDA driver, and what it tells the stand-in for CUPTI.
 *
 * libcuda.so.1 of the stand-in has the few functions of the driver that a collector asks, and
 * fake* functions with which a test program "launches". It loads CUDA_INJECTION64_PATH at cuInit()
 * as the driver does. Work is over at once: it starts when it is launched and takes as long as the
 * program says.
 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

struct fake_launch {
	const char *name;
	uint32_t device, context, stream;
	uint16_t registers;
	int32_t grid[3], block[3], static_shared, dynamic_shared;
	uint32_t local, graph;
	uint64_t node;
	uint64_t duration_ns;
	uint32_t correlation; /* filled in by the driver */
};

struct fake_copy {
	uint8_t kind; /* CUPTI's number; 0: a fill */
	uint32_t device, context, stream, from, to;
	uint64_t bytes, duration_ns;
	uint32_t correlation;
};

struct fake_wait {
	uint32_t type, context, stream, correlation;
	uint64_t duration_ns;
};

struct fake_alloc {
	uint32_t operation, device, correlation;
	uint64_t address, bytes;
};

/* What the stand-in for CUPTI wants to hear; any may be NULL. */
struct fake_hooks {
	void (*launch)(const struct fake_launch *);
	void (*copy)(const struct fake_copy *);
	void (*wait)(const struct fake_wait *);
	void (*alloc)(const struct fake_alloc *);
	/* A call on this thread; runtime or driver. */
	void (*call)(int runtime, uint32_t cbid, uint32_t correlation, uint64_t duration_ns);
};

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *n);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);

void fakeSetHooks(const struct fake_hooks *hooks);
void fakeLaunch(struct fake_launch *l);
void fakeCopy(struct fake_copy *c);
void fakeWait(struct fake_wait *w);
void fakeAlloc(struct fake_alloc *a);
/* Calls f on a thread of the driver and waits for it, as for a function in a stream. */
void fakeHostFunction(void (*f)(void *), void *user);

#endif
