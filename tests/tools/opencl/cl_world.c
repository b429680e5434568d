/* cl_world.c - see cl_world.h. */
#include "cl_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"

void cl_must(cl_int rc, const char *what)
{
	if (rc == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: OpenCL error %d\n", what, (int)rc);
	exit(1);
}

static void build(struct cl_world *w, const char *source)
{
	cl_int rc;

	w->program = clCreateProgramWithSource(w->context, 1, &source, NULL, &rc);
	cl_must(rc, "clCreateProgramWithSource");
	cl_must(clBuildProgram(w->program, 1, &w->device, "", NULL, NULL), "clBuildProgram");
}

void cl_world_init(struct cl_world *w, const char *source)
{
	cl_uint n = 0;
	cl_int rc;

	memset(w, 0, sizeof(*w));
	if (clGetPlatformIDs(1, &w->platform, &n) != CL_SUCCESS || n == 0 ||
	    clGetDeviceIDs(w->platform, CL_DEVICE_TYPE_ALL, 1, &w->device, &n) != CL_SUCCESS ||
	    n == 0) {
		fputs("no OpenCL device\n", stderr);
		exit(77);
	}
	w->context = clCreateContext(NULL, 1, &w->device, NULL, NULL, &rc);
	cl_must(rc, "clCreateContext");
	if (source)
		build(w, source);
}

void cl_world_release(struct cl_world *w)
{
	if (w->program)
		cl_must(clReleaseProgram(w->program), "clReleaseProgram");
	cl_must(clReleaseContext(w->context), "clReleaseContext");
}

cl_command_queue cl_world_queue(const struct cl_world *w, cl_command_queue_properties properties)
{
	cl_int rc;
	cl_command_queue q = clCreateCommandQueue(w->context, w->device, properties, &rc);

	cl_must(rc, "clCreateCommandQueue");
	return q;
}

cl_kernel cl_world_kernel(const struct cl_world *w, const char *name)
{
	cl_int rc;
	cl_kernel k = clCreateKernel(w->program, name, &rc);

	cl_must(rc, "clCreateKernel");
	return k;
}

cl_mem cl_world_buffer(const struct cl_world *w, size_t bytes)
{
	cl_int rc;
	cl_mem m = clCreateBuffer(w->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);

	cl_must(rc, "clCreateBuffer");
	return m;
}

void cl_launch(cl_command_queue q, cl_kernel k, size_t global, size_t local, cl_event *event)
{
	cl_must(clEnqueueNDRangeKernel(q, k, 1, NULL, &global, local ? &local : NULL, 0, NULL,
				       event),
		"clEnqueueNDRangeKernel");
}

uint64_t cl_number(const char *text)
{
	uint64_t value = 0;

	if (!text || rk_num_u64(text, strlen(text), &value) != RK_NUM_OK) {
		fputs("a number is missing\n", stderr);
		exit(2);
	}
	return value;
}

uint64_t cl_now_ns(int clock)
{
	struct timespec t;

	clock_gettime((clockid_t)clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
