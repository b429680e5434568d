/*
 * ranges.c - ROCTx as programs misuse it: ranges that another thread stops, a stack that is too deep, names
 * that are too long, empty or missing, a pop without a push.
 *
 * usage: ranges [ROUNDS]   prints how many ranges it closed and marks it set
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

#include "common.h"

/* those of the first library that is loaded and has them */
static int (*push)(const char *);
static int (*pop)(void);
static void (*mark)(const char *);
static uint64_t (*start)(const char *);
static void (*stop)(uint64_t);

static _Atomic unsigned closed, marks;
static int levels; /* sum of what push and pop returned */

static void *stop_there(void *arg)
{
	stop((uint64_t)(uintptr_t)arg);
	closed++;
	return NULL;
}

static void *deep(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		push("deep");
	for (int i = 0; i < 100; i++)
		pop();
	closed += 100;
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned rounds = number(argc, argv, 1, 1);
	static char name[9001];
	pthread_t thread;

	push = (int (*)(const char *))dlsym(RTLD_DEFAULT, "roctxRangePushA");
	pop = (int (*)(void))dlsym(RTLD_DEFAULT, "roctxRangePop");
	mark = (void (*)(const char *))dlsym(RTLD_DEFAULT, "roctxMarkA");
	start = (uint64_t(*)(const char *))dlsym(RTLD_DEFAULT, "roctxRangeStartA");
	stop = (void (*)(uint64_t))dlsym(RTLD_DEFAULT, "roctxRangeStop");
	if (!push || !pop || !mark || !start || !stop)
		return 2;
	memset(name, 'x', sizeof(name) - 1);
	pop();
	for (unsigned i = 0; i < rounds; i++) {
		uint64_t a = start("a"), b = start("b");

		pthread_create(&thread, NULL, stop_there, (void *)(uintptr_t)a);
		pthread_join(thread, NULL);
		stop(b);
		stop(b);
		pthread_create(&thread, NULL, deep, NULL);
		pthread_join(thread, NULL);
		levels += push(name) + push("");
		levels += pop() + pop();
		mark("mark");
		closed += 3;
		marks++;
	}
	printf("{\"ranges\":%u,\"marks\":%u,\"levels\":%d}\n", closed, marks, levels);
	return 0;
}
