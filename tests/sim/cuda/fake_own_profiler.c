/*
 * fake_own_profiler.c - a program with a profiler of its own that is linked with CUPTI, as PyTorch is:
 * launches COUNT kernels, then profiles COUNT more, and says in JSON what its profiler saw.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_layout.h"

enum { KERNEL = 10, BYTES = 1 << 20, COUNT = 300 };

typedef void request(uint8_t **, size_t *, size_t *);
typedef void complete(void *, uint32_t, uint8_t *, size_t, size_t);

int cuptiActivityRegisterCallbacks(request *, complete *);
int cuptiActivityEnable(int kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
int cuptiActivityRegisterTimestampCallback(uint64_t (*f)(void));

static uint8_t *mine;
static unsigned seen, others, unknown, late;

/* A clock that nobody else has. */
static uint64_t ticks(void)
{
	static uint64_t t;

	return t += 1000;
}

static void requested(uint8_t **buffer, size_t *size, size_t *most)
{
	mine = aligned_alloc(8, BYTES);
	*buffer = mine;
	*size = mine ? BYTES : 0;
	*most = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *r = NULL;

	(void)context;
	(void)stream;
	(void)size;
	if (buffer != mine) {
		unknown++;
		return;
	}
	while (cuptiActivityGetNextRecord(buffer, valid, &r) == 0) {
		uint32_t kind;
		uint64_t start;

		memcpy(&kind, r, sizeof(kind));
		memcpy(&start, (char *)r + FAKE_KERNEL_START, sizeof(start));
		late += start > 1000 * COUNT;
		seen += kind == KERNEL;
		others += kind != KERNEL;
	}
	free(mine);
	mine = NULL;
}

static void launch(unsigned n)
{
	struct fake_launch l = { .name = "_Z9layernormPKfPfi",
				 .context = 1,
				 .stream = 7,
				 .grid = { 1, 1, 1 },
				 .block = { 64, 1, 1 },
				 .duration_ns = 100 };
	struct fake_wait w = { .type = 1, .context = 1, .stream = 7, .duration_ns = 300 };

	for (unsigned i = 0; i < n; i++) {
		fakeLaunch(&l);
		fakeWait(&w);
	}
}

int main(void)
{
	if (cuInit(0))
		return 1;
	launch(COUNT);
	cuptiActivityRegisterTimestampCallback(ticks);
	cuptiActivityRegisterCallbacks(requested, completed);
	cuptiActivityEnable(KERNEL);
	launch(COUNT);
	cuptiActivityFlushAll(1);
	printf("{\"seen\": %u, \"others\": %u, \"unknown\": %u, \"late\": %u}\n", seen, others,
	       unknown, late);
	return 0;
}
