/*
 * guest_hip.c - a library that is another tool for HIP calls: it registers for them and counts.
 *
 * GUEST=first: when it is loaded; GUEST=later: at the fifth HIP call that creates a stream or
 * allocates, which it sees because it is preloaded. Prints "guest N" at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic unsigned asked, allocations;

static int count(uint32_t domain, uint32_t op, void *data)
{
	(void)op;
	(void)data;
	asked += domain == 3;
	return 1;
}

static void enlist(void)
{
	void (*set_callback)(void *) =
		(void (*)(void *))dlsym(RTLD_DEFAULT, "hipRegisterTracerCallback");

	set_callback((void *)count);
}

static void report(void)
{
	fprintf(stderr, "guest %u\n", asked);
}

static int is(const char *when)
{
	const char *guest = getenv("GUEST");

	return guest && strcmp(guest, when) == 0;
}

__attribute__((constructor)) static void load(void)
{
	if (is("first"))
		enlist();
	atexit(report);
}

int hipMalloc(void **p, size_t bytes)
{
	int (*next)(void **, size_t) = (int (*)(void **, size_t))dlsym(RTLD_NEXT, "hipMalloc");

	if (++allocations == 2 && is("later"))
		enlist();
	return next(p, bytes);
}
