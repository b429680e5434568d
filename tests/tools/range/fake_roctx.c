/*
 * fake_roctx.c - ROCTx as rocprofv3 --selected-regions sees it: prints each call that is recorded,
 * and aborts at a pop without a push and a stop without a start that it has seen, as rocprofv3
 * does. It lets other threads run where a switch of recording in the middle of a call matters.
 */
#include "fake_roctx.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_IDS = 1 << 16 };

static atomic_bool on, started[MAX_IDS];
static _Thread_local int depth;
static atomic_uint_fast64_t ids;

int roctxRangePushA(const char *message)
{
	sched_yield();
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
	uint64_t id = atomic_fetch_add(&ids, 1);

	sched_yield();
	if (on && id < MAX_IDS) {
		printf("start %s\n", message ? message : "(null)");
		started[id] = true;
	}
	return id;
}

void roctxRangeStop(uint64_t id)
{
	if (!on)
		return;
	if (id >= MAX_IDS || !atomic_exchange(&started[id], false))
		abort();
	printf("stop %u\n", (unsigned)id);
}

int roctxProfilerResume(uint64_t tid)
{
	printf("resume %u\n", (unsigned)tid);
	sched_yield();
	on = true;
	return 0;
}

int roctxProfilerPause(uint64_t tid)
{
	printf("pause %u\n", (unsigned)tid);
	on = false;
	return 0;
}
