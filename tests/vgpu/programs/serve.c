/*
 * serve.c - an inference server: it answers requests until it is killed, and never exits by itself.
 *
 * usage: serve [IDLE_MS [REQUESTS]]   IDLE_MS between requests (10), REQUESTS before it idles for ever
 */
#include <time.h>

#include "hip.h"

int main(int argc, char **argv)
{
	unsigned idle_ms = number(argc, argv, 1, 10), requests = number(argc, argv, 2, UINT32_MAX);
	struct timespec pause = { idle_ms / 1000, idle_ms % 1000 * 1000000 };
	hipFunction_t gemm, reduce;
	hipModule_t module;
	hipStream_t stream;
	float token[16];
	void *p;

	MUST(hipInit(0));
	module = load_module();
	gemm = function(module, "gemm");
	reduce = function(module, "reduce");
	MUST(hipMalloc(&p, 1 << 20));
	MUST(hipStreamCreate(&stream));
	for (uint32_t request = 0; request < requests; request++) {
		for (uint32_t layer = 0; layer < 8; layer++)
			launch(gemm, (struct who){ 0, request * 9 + layer, 0, 7 }, p, 16, stream);
		launch(reduce, (struct who){ 0, request * 9 + 8, 0, 7 }, p, 1, stream);
		MUST(hipMemcpyAsync(token, p, sizeof(token), hipMemcpyDeviceToHost, stream));
		MUST(hipStreamSynchronize(stream));
		printf("%u\n", request);
		fflush(stdout);
		nanosleep(&pause, NULL);
	}
	for (;;)
		nanosleep(&(struct timespec){ 1, 0 }, NULL);
}
