/*
 * cl_world.h - what the OpenCL test programs share: a device, a queue, a program from source, and
 * an end with a message when a call fails that must not.
 */
#ifndef CL_WORLD_H
#define CL_WORLD_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#include <CL/cl.h>

#include <stddef.h>
#include <stdint.h>

struct cl_world {
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_program program; /* built from the source given to cl_world_init() */
};

/* Ends the program with status 1 and a line on stderr when `rc` is not CL_SUCCESS. */
void cl_must(cl_int rc, const char *what);

/* Exits with 77 where there is no OpenCL device. `source` may be NULL: no program then. */
void cl_world_init(struct cl_world *w, const char *source);
void cl_world_release(struct cl_world *w);

cl_command_queue cl_world_queue(const struct cl_world *w, cl_command_queue_properties properties);
cl_kernel cl_world_kernel(const struct cl_world *w, const char *name);
cl_mem cl_world_buffer(const struct cl_world *w, size_t bytes);

/* Enqueues a one-dimensional range; `event` may be NULL. */
void cl_launch(cl_command_queue q, cl_kernel k, size_t global, size_t local, cl_event *event);

/* A whole number from `text`, or the end of the program. */
uint64_t cl_number(const char *text);

/* Nanoseconds of a clock of clock_gettime(). */
uint64_t cl_now_ns(int clock);

#endif
