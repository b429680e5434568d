/*
 * many.c - threads, streams, graphs, copies and fills on every GPU. Prints one JSON line of what it
 * launched and moved, and fails if a byte of a copy is wrong.
 *
 * usage: many [THREADS [LAUNCHES]]
 */
#include <pthread.h>

#include "hip.h"

enum { BYTES = 1 << 20 };

static hipModule_t module; /* of the current GPU */
static unsigned nlaunches = 20, wrong;
static _Atomic unsigned long long moved, set;

static void check(const void *got, const void *want, size_t size, const char *what)
{
	if (memcmp(got, want, size) != 0) {
		fprintf(stderr, "%s: wrong bytes\n", what);
		wrong++;
	}
}

struct worker {
	pthread_t thread;
	unsigned id;
	int gpu;
	hipFunction_t scale, add;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	hipStream_t stream[2];
	void *p;

	MUST(hipSetDevice(w->gpu));
	MUST(hipMalloc(&p, BYTES));
	for (unsigned s = 0; s < 2; s++)
		MUST(hipStreamCreate(&stream[s]));
	for (unsigned i = 0; i < nlaunches; i++)
		launch(i % 3 ? w->scale : w->add, (struct who){ w->id, i, i % 2, 1 }, p, 1 + i % 7,
		       stream[i % 2]);
	for (unsigned s = 0; s < 2; s++) {
		MUST(hipStreamSynchronize(stream[s]));
		MUST(hipStreamDestroy(stream[s]));
	}
	MUST(hipFree(p));
	return NULL;
}

static void copies(void)
{
	unsigned char *from = malloc(4 * BYTES), *to = malloc(4 * BYTES);
	void *a, *b, *pinned;

	for (unsigned i = 0; i < 4 * BYTES; i++)
		from[i] = (unsigned char)(i * 7 + (i >> 9));
	MUST(hipMalloc(&a, 4 * BYTES));
	MUST(hipMalloc(&b, 4 * BYTES));
	MUST(hipHostMalloc(&pinned, BYTES, 0));
	MUST(hipMemcpy(a, from, 4 * BYTES, hipMemcpyHostToDevice));
	MUST(hipMemcpy(b, a, 4 * BYTES, hipMemcpyDeviceToDevice));
	MUST(hipMemcpy(to, b, 4 * BYTES, hipMemcpyDeviceToHost));
	check(to, from, 4 * BYTES, "there and back");
	memcpy(pinned, from + 5, BYTES - 5);
	MUST(hipMemcpy(a, pinned, BYTES - 5, hipMemcpyHostToDevice));
	MUST(hipMemcpy(to, a, BYTES - 5, hipMemcpyDeviceToHost));
	check(to, from + 5, BYTES - 5, "from pinned memory");
	MUST(hipMemset(b, 0x5a, 12345));
	MUST(hipMemcpy(to, b, 4 * BYTES, hipMemcpyDeviceToHost));
	memset(from, 0x5a, 12345);
	check(to, from, 4 * BYTES, "after a fill");
	moved += 4ull * BYTES * 4 + 2ull * (BYTES - 5);
	set += 12345;
	MUST(hipFree(a));
	MUST(hipFree(b));
	MUST(hipHostFree(pinned));
	free(from);
	free(to);
}

static void graph(hipFunction_t scale, hipFunction_t add)
{
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t exec;
	void *p;

	MUST(hipMalloc(&p, BYTES));
	MUST(hipStreamCreate(&stream));
	MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	launch(scale, (struct who){ 100, 0, 9, 2 }, p, 4, stream);
	launch(add, (struct who){ 100, 1, 9, 2 }, p, 4, stream);
	MUST(hipStreamEndCapture(stream, &graph));
	MUST(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	launched -= 2; /* captured, not run */
	for (unsigned i = 0; i < 3; i++, launched += 2)
		MUST(hipGraphLaunch(exec, stream));
	MUST(hipStreamSynchronize(stream));
	MUST(hipGraphExecDestroy(exec));
	MUST(hipGraphDestroy(graph));
	MUST(hipStreamDestroy(stream));
	MUST(hipFree(p));
}

static void events(hipFunction_t reduce)
{
	hipEvent_t begin, end;
	float ms = -1;
	void *p;

	MUST(hipMalloc(&p, BYTES));
	MUST(hipEventCreate(&begin));
	MUST(hipEventCreate(&end));
	MUST(hipEventRecord(begin, 0));
	launch(reduce, (struct who){ 101, 0, 0, 3 }, p, 100, 0);
	MUST(hipEventRecord(end, 0));
	MUST(hipEventSynchronize(end));
	MUST(hipEventElapsedTime(&ms, begin, end));
	if (ms <= 0 || ms > 10000) {
		fprintf(stderr, "an event took %g ms\n", ms);
		wrong++;
	}
	MUST(hipEventDestroy(begin));
	MUST(hipEventDestroy(end));
	MUST(hipFree(p));
}

int main(int argc, char **argv)
{
	unsigned threads = number(argc, argv, 1, 4);
	struct worker workers[64] = { 0 };
	int gpus;

	nlaunches = number(argc, argv, 2, nlaunches);
	if (threads > 64)
		return 2;
	MUST(hipInit(0));
	MUST(hipGetDeviceCount(&gpus));
	for (int g = 0; g < gpus; g++) {
		MUST(hipSetDevice(g));
		module = load_module();
		copies();
		for (unsigned i = 0; i < threads; i++) {
			workers[i] = (struct worker){ .id = i, .gpu = g };
			workers[i].scale = function(module, "scale");
			workers[i].add = function(module, "add");
			pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		}
		for (unsigned i = 0; i < threads; i++)
			pthread_join(workers[i].thread, NULL);
		graph(function(module, "scale"), function(module, "add"));
		events(function(module, "reduce"));
		MUST(hipDeviceSynchronize());
		MUST(hipModuleUnload(module));
	}
	printf("{\"gpus\":%d,\"kernels\":%u,\"calls\":%u,\"copied\":%llu,\"filled\":%llu,\"wrong\":%u}\n",
	       gpus, launched, called, (unsigned long long)moved, (unsigned long long)set, wrong);
	return wrong ? 1 : 0;
}
