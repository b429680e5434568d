/*
 * crowd.c - thousands of threads, one after the other and in groups, each of which launches and ends in
 * one of three ways: it returns, exits, or is cancelled while it waits.
 *
 * usage: crowd [THREADS [AT_ONCE]]
 */
#include <pthread.h>
#include <unistd.h>

#include "hip.h"

enum { MOST = 256 };

static hipFunction_t scale;
static void *memory;

static void *work(void *arg)
{
	unsigned n = (unsigned)(uintptr_t)arg;

	launch(scale, (struct who){ n, 0, 0, 1 }, memory, 1, 0);
	launch(scale, (struct who){ n, 1, 0, 1 }, memory, 2, 0);
	if (n % 3 == 1)
		pthread_exit(NULL);
	while (n % 3 == 2)
		pause(); /* until it is cancelled */
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = number(argc, argv, 1, 2000), at_once = number(argc, argv, 2, 50);
	pthread_t t[MOST];

	if (!at_once || at_once > MOST)
		return 2;
	MUST(hipInit(0));
	scale = function(load_module(), "scale");
	MUST(hipMalloc(&memory, 1 << 20));
	for (unsigned first = 0; first < threads; first += at_once) {
		unsigned n = threads - first < at_once ? threads - first : at_once;

		for (unsigned i = 0; i < n; i++)
			if (pthread_create(&t[i], NULL, work, (void *)(uintptr_t)(first + i)) != 0)
				return 3;
		while (launched < 2 * (first + n)) /* a thread is not cancelled inside HIP */
			usleep(100);
		for (unsigned i = 0; i < n; i++) {
			if ((first + i) % 3 == 2)
				pthread_cancel(t[i]);
			pthread_join(t[i], NULL);
		}
	}
	MUST(hipDeviceSynchronize());
	printf("{\"kernels\":%u}\n", launched);
	return 0;
}
