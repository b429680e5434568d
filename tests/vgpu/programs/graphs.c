/*
 * graphs.c - graphs that come and go: each is launched, and destroyed as soon as it has ended.
 *
 * usage: graphs [GRAPHS [LAUNCHES]]
 */
#include "hip.h"

int main(int argc, char **argv)
{
	unsigned graphs = number(argc, argv, 1, 50), launches = number(argc, argv, 2, 3);
	hipFunction_t gemm, reduce;
	hipModule_t module;
	hipStream_t stream;
	void *p;

	MUST(hipInit(0));
	module = load_module();
	gemm = function(module, "gemm");
	reduce = function(module, "reduce");
	MUST(hipMalloc(&p, 1 << 20));
	MUST(hipStreamCreate(&stream));
	for (unsigned g = 0; g < graphs; g++) {
		hipGraphExec_t exec;
		hipGraph_t graph;

		MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
		for (unsigned k = 0; k < 8; k++)
			launch(k % 2 ? gemm : reduce, (struct who){ 0, g, k, 4 }, p, 4, stream);
		MUST(hipStreamEndCapture(stream, &graph));
		MUST(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
		launched -= 8; /* captured, not run */
		for (unsigned i = 0; i < launches; i++, launched += 8)
			MUST(hipGraphLaunch(exec, stream));
		MUST(hipStreamSynchronize(stream));
		MUST(hipGraphExecDestroy(exec));
		MUST(hipGraphDestroy(graph));
	}
	MUST(hipStreamDestroy(stream));
	MUST(hipFree(p));
	printf("{\"kernels\":%u,\"calls\":%u}\n", launched, called);
	return 0;
}
