/*
 * cl_dlopen.c - `cl-dlopen`: gets OpenCL by dlopen, uses it, lets go of it, and does so again, as
 * plug-ins and Python modules do.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "__kernel void loaded(void) { }\n";

/* The function of that name in the library, as a pointer of the right type. */
#define FUNCTION(lib, name) __typeof__(&name) p_##name = (__typeof__(&name))find(lib, #name)

typedef void (*any_fn)(void);

static any_fn find(void *lib, const char *name)
{
	void *p = dlsym(lib, name);
	any_fn f;

	if (!p) {
		fprintf(stderr, "no %s\n", name);
		exit(1);
	}
	memcpy(&f, &p, sizeof(f));
	return f;
}

static void check(cl_int rc, const char *what)
{
	if (rc == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, (int)rc);
	exit(1);
}

static void use(void *lib, int launches)
{
	FUNCTION(lib, clGetPlatformIDs);
	FUNCTION(lib, clGetDeviceIDs);
	FUNCTION(lib, clCreateContext);
	FUNCTION(lib, clCreateCommandQueue);
	FUNCTION(lib, clCreateProgramWithSource);
	FUNCTION(lib, clBuildProgram);
	FUNCTION(lib, clCreateKernel);
	FUNCTION(lib, clEnqueueNDRangeKernel);
	FUNCTION(lib, clFinish);
	const char *text = source;
	size_t size = 8;
	cl_platform_id platform;
	cl_device_id device;
	cl_int rc;

	if (p_clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS)
		exit(77);
	check(p_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
	cl_context context = p_clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
	check(rc, "context");
	cl_command_queue q = p_clCreateCommandQueue(context, device, 0, &rc);
	check(rc, "queue");
	cl_program program = p_clCreateProgramWithSource(context, 1, &text, NULL, &rc);
	check(rc, "program");
	check(p_clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
	cl_kernel k = p_clCreateKernel(program, "loaded", &rc);
	check(rc, "kernel");
	for (int i = 0; i < launches; i++)
		check(p_clEnqueueNDRangeKernel(q, k, 1, NULL, &size, NULL, 0, NULL, NULL), "go");
	check(p_clFinish(q), "finish");
}

int main(void)
{
	for (int round = 1; round <= 3; round++) {
		void *lib = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);

		if (!lib)
			return 77;
		use(lib, 10 * round);
		dlclose(lib);
	}
	puts("{\"kernels\":{\"loaded\":60},\"copies\":{},\"syncs\":0,\"builds\":3}");
	return 0;
}
