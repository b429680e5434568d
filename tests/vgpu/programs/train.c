/*
 * train.c - a loop like that of training: ranges around steps, a forward and a backward pass, an
 * optimizer, a copy of the loss. Ranges are those of libroctx64, if it is there.
 *
 * usage: train [STEPS [LAYERS]]
 */
#include <dlfcn.h>

#include "hip.h"

static int (*push)(const char *);
static int (*pop)(void);
static void (*mark)(const char *);

static void begin(const char *name)
{
	if (push)
		push(name);
}

static void end(void)
{
	if (pop)
		pop();
}

int main(int argc, char **argv)
{
	uint32_t steps = number(argc, argv, 1, 3), layers = number(argc, argv, 2, 4);
	void *roctx = dlopen("libroctx64.so.4", RTLD_NOW), *weights, *batch;
	hipFunction_t gemm, add, scale, reduce;
	uint32_t number = 0, copies = 0;
	hipStream_t compute, input;
	float loss, *host;
	hipModule_t module;
	hipEvent_t loaded;

	if (roctx) {
		push = (int (*)(const char *))dlsym(roctx, "roctxRangePushA");
		pop = (int (*)(void))dlsym(roctx, "roctxRangePop");
		mark = (void (*)(const char *))dlsym(roctx, "roctxMarkA");
	}
	MUST(hipInit(0));
	module = load_module();
	gemm = function(module, "gemm");
	add = function(module, "add");
	scale = function(module, "scale");
	reduce = function(module, "reduce");
	MUST(hipMalloc(&weights, 1 << 20));
	MUST(hipMalloc(&batch, 1 << 20));
	MUST(hipHostMalloc((void **)&host, 1 << 20, 0));
	MUST(hipStreamCreate(&compute));
	MUST(hipStreamCreate(&input));
	MUST(hipEventCreate(&loaded));
	for (uint32_t step = 0; step < steps; step++) {
		char name[32];

		snprintf(name, sizeof(name), "step %u", step);
		begin(name);
		MUST(hipMemcpyAsync(batch, host, 1 << 20, hipMemcpyHostToDevice, input));
		MUST(hipEventRecord(loaded, input));
		MUST(hipStreamWaitEvent(compute, loaded, 0));
		begin("forward");
		for (uint32_t l = 0; l < layers; l++) {
			launch(gemm, (struct who){ 0, number++, 1, step }, weights, 64, compute);
			launch(add, (struct who){ 0, number++, 1, step }, weights, 16, compute);
		}
		end();
		begin("backward");
		for (uint32_t l = 0; l < 2 * layers; l++)
			launch(gemm, (struct who){ 0, number++, 1, step }, weights, 64, compute);
		end();
		begin("optimizer");
		launch(scale, (struct who){ 0, number++, 1, step }, weights, 128, compute);
		end();
		launch(reduce, (struct who){ 0, number++, 1, step }, weights, 1, compute);
		MUST(hipMemcpyAsync(&loss, weights, sizeof(loss), hipMemcpyDeviceToHost, compute));
		MUST(hipStreamSynchronize(compute));
		copies += 2;
		end();
		if (mark)
			mark("step done");
	}
	printf("{\"kernels\":%u,\"calls\":%u,\"copies\":%u,\"steps\":%u,\"ranges\":%u}\n", launched,
	       called, copies, steps, push ? 4 * steps : 0);
	return 0;
}
