/*
 * fake_roctx.c - ROCTx as rocprofv3 --selected-regions sees it: prints each call that is recorded,
 * and aborts at a pop without a push that it has seen, as rocprofv3 does.
 */
#include "fake_roctx.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_bool on;
static _Thread_local int depth;
static atomic_uint_fast64_t ids;

int roctxRangePushA(const char *message)
{
	if (!on)
		return 0;
	printf("push %s\n", message ? message : "(null)");
	return depth++;
}

int roctxRangePop(void)
{
	if (!on)
		return 0;
	if (depth-- == 0)
		abort();
	printf("pop\n");
	return depth;
}

uint64_t roctxRangeStartA(const char *message)
{
	if (on)
		printf("start %s\n", message ? message : "(null)");
	return atomic_fetch_add(&ids, 1);
}

void roctxRangeStop(uint64_t id)
{
	if (on)
		printf("stop %u\n", (unsigned)id);
}

int roctxProfilerResume(uint64_t tid)
{
	printf("resume %u\n", (unsigned)tid);
	on = true;
	return 0;
}

int roctxProfilerPause(uint64_t tid)
{
	printf("pause %u\n", (unsigned)tid);
	on = false;
	return 0;
}
