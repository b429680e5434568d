/* hip.h - what the HIP test programs share: a check of every call, the module, launches that say who. */
#ifndef HIP_H
#define HIP_H

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#include "common.h"

static _Atomic unsigned called;

/* Every HIP call of a program is in here, so this counts them. */
#define MUST(call)                                                                    \
	do {                                                                          \
		hipError_t rc_ = (call);                                              \
                                                                                      \
		called++;                                                             \
		if (rc_ != hipSuccess) {                                              \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
				hipGetErrorName(rc_));                                \
			exit(3);                                                      \
		}                                                                     \
	} while (0)

struct who {
	uint32_t thread, number, stream, tag;
};

static _Atomic unsigned launched;

static hipModule_t load_module(void)
{
	hipModule_t module;
	size_t size;
	char *image = read_code(&size);

	MUST(hipModuleLoadData(&module, image));
	free(image);
	return module;
}

static hipFunction_t function(hipModule_t module, const char *name)
{
	hipFunction_t f;

	MUST(hipModuleGetFunction(&f, module, name));
	return f;
}

/* All kernels have at most these arguments. */
static void launch(hipFunction_t f, struct who who, void *p, unsigned groups, hipStream_t stream)
{
	struct {
		struct who who;
		void *p, *q, *r;
	} args = { who, p, p, p };
	size_t size = sizeof(args);
	void *config[] = { HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE,
			   &size, HIP_LAUNCH_PARAM_END };

	MUST(hipModuleLaunchKernel(f, groups, 1, 1, 64, 1, 1, 0, stream, NULL, config));
	launched++;
}

#endif
