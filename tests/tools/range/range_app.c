/*
 * range_app.c - calls ROCTx as its arguments say: +NAME pushes, - pops, (NAME starts, ) stops the
 * latest started range, "threads" lets eight threads open and close "step" and other ranges.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fake_roctx.h"

enum { THREADS = 8, ROUNDS = 200, MAX_IDS = 256 };

static void *worker(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t id = roctxRangeStartA("started");

		roctxRangePushA("outer");
		roctxRangePushA(i % 3 ? "step" : "other");
		roctxRangePushA("inner");
		roctxRangePop();
		roctxRangePop();
		roctxRangePop();
		roctxRangeStop(id);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t ids[MAX_IDS];
	pthread_t threads[THREADS];
	int n = 0;

	for (int i = 1; i < argc; i++) {
		const char *name = argv[i] + 1;

		if (!strcmp(argv[i], "threads")) {
			for (int k = 0; k < THREADS; k++)
				pthread_create(&threads[k], NULL, worker, NULL);
			for (int k = 0; k < THREADS; k++)
				pthread_join(threads[k], NULL);
		} else if (argv[i][0] == '+') {
			roctxRangePushA(*name ? name : NULL);
		} else if (argv[i][0] == '-') {
			roctxRangePop();
		} else if (argv[i][0] == '(' && n < MAX_IDS) {
			ids[n++] = roctxRangeStartA(name);
		} else if (argv[i][0] == ')' && n) {
			roctxRangeStop(ids[--n]);
		}
	}
	puts("end");
	return 0;
}
