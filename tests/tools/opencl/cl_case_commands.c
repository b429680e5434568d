/* cl_case_commands.c - cases of cl-cases: every kind of command. */
#include "cl_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 4096

/* A world with a queue and a buffer, for cases that need one of each. */
struct bench {
	struct cl_world w;
	cl_command_queue q;
	cl_mem mem;
};

static void bench_init(struct bench *b)
{
	case_world(&b->w);
	b->q = cl_world_queue(&b->w, 0);
	b->mem = cl_world_buffer(&b->w, BYTES);
}

static void bench_release(struct bench *b)
{
	cl_must(clFinish(b->q), "clFinish");
	clReleaseMemObject(b->mem);
	clReleaseCommandQueue(b->q);
	cl_world_release(&b->w);
}

/* ---- launches ---- */

static void launch_dims(struct bench *b, cl_kernel k)
{
	size_t global[3] = { 8, 6, 4 }, local[3] = { 4, 3, 2 }, offset[3] = { 1, 0, 0 };

	for (cl_uint dims = 1; dims <= 3; dims++) {
		cl_must(clEnqueueNDRangeKernel(b->q, k, dims, NULL, global, local, 0, NULL, NULL),
			"launch with a local size");
		cl_must(clEnqueueNDRangeKernel(b->q, k, dims, offset, global, NULL, 0, NULL, NULL),
			"launch without a local size");
		truth_kernel("empty", 2);
	}
}

static void launches(void)
{
	struct bench b;
	int first = 0, zero = 0;

	bench_init(&b);
	cl_kernel one = case_kernel(&b.w, "one", b.mem), two = case_kernel(&b.w, "two", b.mem);
	cl_kernel empty = case_kernel(&b.w, "empty", NULL),
		  fixed = case_kernel(&b.w, "fixed", b.mem);
	cl_must(clEnqueueFillBuffer(b.q, b.mem, &zero, sizeof(zero), 0, BYTES, 0, NULL, NULL),
		"clEnqueueFillBuffer");
	truth_copy("fill", BYTES);
	launch_dims(&b, empty);
	for (int i = 0; i < 10; i++) {
		case_launch(b.q, one, "one", NULL);
		case_launch(b.q, two, "two", NULL);
	}
	cl_launch(b.q, fixed, 64, 4, NULL);
	truth_kernel("fixed", 1);
	cl_must(clEnqueueReadBuffer(b.q, b.mem, CL_TRUE, 0, sizeof(first), &first, 0, NULL, NULL),
		"clEnqueueReadBuffer");
	truth_copy("device to host", sizeof(first));
	printf("first item: %d\n", first);
	clReleaseKernel(one);
	clReleaseKernel(two);
	clReleaseKernel(empty);
	clReleaseKernel(fixed);
	bench_release(&b);
}

static void CL_CALLBACK on_host(void *args)
{
	int *const *counter = args;

	++**counter;
}

static void tasks(void)
{
	struct bench b;
	int counter = 0, *args = &counter;
	cl_event event;

	bench_init(&b);
	cl_kernel empty = case_kernel(&b.w, "empty", NULL);
	cl_must(clEnqueueTask(b.q, empty, 0, NULL, NULL), "clEnqueueTask");
	truth_kernel("empty", 1);
	cl_int rc = clEnqueueNativeKernel(b.q, on_host, &args, sizeof(args), 0, NULL, NULL, 0, NULL,
					  &event);
	printf("native kernel: %d\n", (int)rc);
	if (rc == CL_SUCCESS) {
		cl_must(clWaitForEvents(1, &event), "clWaitForEvents");
		clReleaseEvent(event);
		truth_kernel("<native kernel>", 1);
	}
	printf("counter: %d\n", counter);
	clReleaseKernel(empty);
	bench_release(&b);
}

/* Local memory that arguments ask for, more and less. */
static void local_memory(void)
{
	struct bench b;

	bench_init(&b);
	cl_kernel k = case_kernel(&b.w, "local_sum", b.mem);
	for (size_t bytes = 256; bytes <= 1024; bytes *= 2) {
		cl_must(clSetKernelArg(k, 1, bytes, NULL), "clSetKernelArg");
		case_launch(b.q, k, "local_sum", NULL);
	}
	clReleaseKernel(k);
	bench_release(&b);
}

/* The first argument changes to what the ninth was. */
static void local_arguments(void)
{
	struct bench b;

	bench_init(&b);
	cl_kernel k = case_kernel(&b.w, "nine_locals", NULL);
	for (cl_uint i = 0; i < 9; i++)
		cl_must(clSetKernelArg(k, i, i < 8 ? 64 : 256, NULL), "clSetKernelArg");
	case_launch(b.q, k, "nine_locals", NULL);
	cl_must(clSetKernelArg(k, 0, 256, NULL), "clSetKernelArg");
	case_launch(b.q, k, "nine_locals", NULL);
	clReleaseKernel(k);
	bench_release(&b);
}

/* ---- buffers ---- */

static void read_and_write(struct bench *b, char *host)
{
	cl_event event;

	cl_must(clEnqueueWriteBuffer(b->q, b->mem, CL_FALSE, 0, BYTES, host, 0, NULL, &event),
		"clEnqueueWriteBuffer");
	truth_copy("host to device", BYTES);
	cl_must(clEnqueueReadBuffer(b->q, b->mem, CL_TRUE, 16, 100, host, 1, &event, NULL),
		"clEnqueueReadBuffer");
	truth_copy("device to host", 100);
	clReleaseEvent(event);
}

static void rectangles(struct bench *b, cl_mem other, char *host)
{
	size_t zero[3] = { 0, 0, 0 }, region[3] = { 8, 4, 2 };

	cl_must(clEnqueueWriteBufferRect(b->q, b->mem, CL_TRUE, zero, zero, region, 16, 128, 16,
					 128, host, 0, NULL, NULL),
		"clEnqueueWriteBufferRect");
	truth_copy("host to device", 64);
	cl_must(clEnqueueReadBufferRect(b->q, b->mem, CL_TRUE, zero, zero, region, 16, 128, 16, 128,
					host, 0, NULL, NULL),
		"clEnqueueReadBufferRect");
	truth_copy("device to host", 64);
	cl_must(clEnqueueCopyBufferRect(b->q, b->mem, other, zero, zero, region, 16, 128, 16, 128,
					0, NULL, NULL),
		"clEnqueueCopyBufferRect");
	truth_copy("device to device", 64);
}

static void map_and_unmap(struct bench *b)
{
	cl_int rc;
	char *at = clEnqueueMapBuffer(b->q, b->mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 512, 0,
				      NULL, NULL, &rc);

	cl_must(rc, "clEnqueueMapBuffer");
	truth_copy("map", 512);
	memset(at, 7, 512);
	cl_must(clEnqueueUnmapMemObject(b->q, b->mem, at, 0, NULL, NULL),
		"clEnqueueUnmapMemObject");
	truth_copy("unmap", 512);
}

static void transfers(void)
{
	static char host[BYTES];
	struct bench b;
	int seven = 7;

	bench_init(&b);
	cl_mem other = cl_world_buffer(&b.w, BYTES);
	memset(host, 3, sizeof(host));
	read_and_write(&b, host);
	cl_must(clEnqueueCopyBuffer(b.q, b.mem, other, 0, 0, 1000, 0, NULL, NULL),
		"clEnqueueCopyBuffer");
	truth_copy("device to device", 1000);
	cl_must(clEnqueueFillBuffer(b.q, other, &seven, sizeof(seven), 0, 2000, 0, NULL, NULL),
		"clEnqueueFillBuffer");
	truth_copy("fill", 2000);
	rectangles(&b, other, host);
	map_and_unmap(&b);
	cl_must(clEnqueueMigrateMemObjects(b.q, 1, &other, 0, 0, NULL, NULL),
		"clEnqueueMigrateMemObjects");
	truth_copy("migrate", BYTES);
	printf("host byte: %d\n", host[0]);
	clReleaseMemObject(other);
	bench_release(&b);
}

/* ---- images ---- */

static cl_mem make_image(const struct bench *b)
{
	cl_image_format format = { CL_RGBA, CL_UNSIGNED_INT8 };
	cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D,
			       .image_width = 16,
			       .image_height = 8 };
	cl_int rc;
	cl_mem image = clCreateImage(b->w.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &rc);

	cl_must(rc, "clCreateImage");
	return image;
}

static void copy_images(struct bench *b, cl_mem from, cl_mem to)
{
	size_t zero[3] = { 0, 0, 0 }, half[3] = { 16, 4, 1 };

	cl_must(clEnqueueCopyImage(b->q, from, to, zero, zero, half, 0, NULL, NULL),
		"clEnqueueCopyImage");
	cl_must(clEnqueueCopyImageToBuffer(b->q, from, b->mem, zero, half, 0, 0, NULL, NULL),
		"clEnqueueCopyImageToBuffer");
	cl_must(clEnqueueCopyBufferToImage(b->q, b->mem, to, 0, zero, half, 0, NULL, NULL),
		"clEnqueueCopyBufferToImage");
	for (int i = 0; i < 3; i++)
		truth_copy("device to device", 256);
}

static void images(void)
{
	static char host[512];
	struct bench b;
	cl_uint color[4] = { 1, 2, 3, 4 };
	size_t zero[3] = { 0, 0, 0 }, all[3] = { 16, 8, 1 }, row = 0;
	cl_int rc;

	bench_init(&b);
	cl_mem from = make_image(&b), to = make_image(&b);
	cl_must(clEnqueueFillImage(b.q, from, color, zero, all, 0, NULL, NULL), "fill image");
	truth_copy("fill", 512);
	copy_images(&b, from, to);
	cl_must(clEnqueueReadImage(b.q, to, CL_TRUE, zero, all, 0, 0, host, 0, NULL, NULL), "read");
	truth_copy("device to host", 512);
	printf("pixel: %d %d %d %d\n", host[0], host[1], host[2], host[3]);
	cl_must(clEnqueueWriteImage(b.q, to, CL_FALSE, zero, all, 0, 0, host, 0, NULL, NULL),
		"write");
	truth_copy("host to device", 512);
	void *at = clEnqueueMapImage(b.q, to, CL_TRUE, CL_MAP_READ, zero, all, &row, NULL, 0, NULL,
				     NULL, &rc);
	cl_must(rc, "clEnqueueMapImage");
	truth_copy("map", 512);
	cl_must(clEnqueueUnmapMemObject(b.q, to, at, 0, NULL, NULL), "unmap image");
	truth_copy("unmap", 512);
	cl_must(clFinish(b.q), "clFinish");
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	bench_release(&b);
}

/* ---- shared virtual memory ---- */

static void shared_memory(void)
{
	static char host[BYTES];
	struct bench b;
	char zero = 0;

	bench_init(&b);
	void *at = clSVMAlloc(b.w.context, CL_MEM_READ_WRITE, BYTES, 0);
	printf("shared memory: %s\n", at ? "yes" : "no");
	if (at) {
		cl_must(clEnqueueSVMMemFill(b.q, at, &zero, 1, BYTES, 0, NULL, NULL), "fill");
		truth_copy("fill", BYTES);
		cl_must(clEnqueueSVMMemcpy(b.q, CL_TRUE, at, host, 1024, 0, NULL, NULL), "memcpy");
		truth_copy("device to device", 1024);
		cl_must(clEnqueueSVMMap(b.q, CL_TRUE, CL_MAP_READ, at, 2048, 0, NULL, NULL), "map");
		truth_copy("map", 2048);
		cl_must(clEnqueueSVMUnmap(b.q, at, 0, NULL, NULL), "unmap");
		truth_copy("unmap", 2048);
		cl_must(clEnqueueSVMFree(b.q, 1, &at, NULL, NULL, 0, NULL, NULL), "free");
		truth_sync(1);
	}
	bench_release(&b);
}

const struct cl_case cl_cases_commands[] = {
	{ "launches", launches },           { "tasks", tasks },
	{ "local-memory", local_memory },   { "local-arguments", local_arguments },
	{ "transfers", transfers },         { "images", images },
	{ "shared-memory", shared_memory }, { 0 },
};
