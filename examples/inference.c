/*
 * inference.c - a small OpenCL program to profile: steps of a transformer's block on random numbers.
 *
 * Each step writes an input, runs LAYERS layers (layer norm, GEMMs, softmax, GELU, residual), copies
 * the result and reduces it to one number that is read back. Projections of a layer go to a second
 * queue, transfers to a third; events order them. At the end it prints, as a line of JSON,
 * how often it launched each kernel and how many bytes it copied: reference values to check a
 * profile.
 *
 *   cc inference.c -lOpenCL -lm && ./a.out [STEPS]
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 64, DIM = 64, HIDDEN = 128, LAYERS = 2, STEPS = 100, TILE = 8, GROUP = 64 };
/* Sizes of buffers in numbers: activations, intermediates, sums, weights. */
enum {
	STATE = TOKENS * DIM,
	WIDE = TOKENS * HIDDEN,
	SUMS = STATE / GROUP / GROUP,
	SQUARE = DIM * DIM,
	OBLONG = DIM * HIDDEN,
};

static const char source[] =
	"/* c = a * b, or a * b transposed. */\n"
	"__kernel void gemm(__global const float *a, __global const float *b, __global float *c,\n"
	"                   int n, int k, int transposed) {\n"
	"  int x = get_global_id(0), y = get_global_id(1);\n"
	"  int step = transposed ? 1 : n, at = transposed ? x * k : x;\n"
	"  float sum = 0;\n"
	"  for (int i = 0; i < k; i++) sum += a[y * k + i] * b[at + i * step];\n"
	"  c[y * n + x] = sum;\n"
	"}\n"
	"__kernel void softmax(__global float *rows, int n, float scale) {\n"
	"  __global float *r = rows + get_global_id(0) * n;\n"
	"  float top = -INFINITY, sum = 0;\n"
	"  for (int i = 0; i < n; i++) top = fmax(top, r[i] * scale);\n"
	"  for (int i = 0; i < n; i++) sum += r[i] = exp(r[i] * scale - top);\n"
	"  for (int i = 0; i < n; i++) r[i] /= sum;\n"
	"}\n"
	"__kernel void layer_norm(__global const float *in, __global float *out, int n) {\n"
	"  __global const float *r = in + get_global_id(0) * n;\n"
	"  __global float *o = out + get_global_id(0) * n;\n"
	"  float mean = 0, var = 0;\n"
	"  for (int i = 0; i < n; i++) mean += r[i] / n;\n"
	"  for (int i = 0; i < n; i++) var += (r[i] - mean) * (r[i] - mean) / n;\n"
	"  for (int i = 0; i < n; i++) o[i] = (r[i] - mean) * rsqrt(var + 1e-5f);\n"
	"}\n"
	"__kernel void gelu(__global float *x) {\n"
	"  float v = x[get_global_id(0)];\n"
	"  x[get_global_id(0)] = 0.5f * v * (1 + tanh(0.79788456f * (v + 0.044715f * v * v * v)));\n"
	"}\n"
	"__kernel void residual(__global float *x, __global const float *y) {\n"
	"  x[get_global_id(0)] += y[get_global_id(0)];\n"
	"}\n"
	"/* One sum for each group of items. */\n"
	"__kernel void reduce_sum(__global const float *in, __global float *out, __local float *part) {\n"
	"  int l = get_local_id(0);\n"
	"  part[l] = in[get_global_id(0)];\n"
	"  for (int n = get_local_size(0) / 2; n > 0; n /= 2) {\n"
	"    barrier(CLK_LOCAL_MEM_FENCE);\n"
	"    if (l < n) part[l] += part[l + n];\n"
	"  }\n"
	"  if (l == 0) out[get_group_id(0)] = part[0];\n"
	"}\n";

enum kernel { GEMM, SOFTMAX, LAYER_NORM, GELU, RESIDUAL, REDUCE_SUM, KERNELS };
static const char *const names[KERNELS] = { "gemm", "softmax",  "layer_norm",
					    "gelu", "residual", "reduce_sum" };
enum queue { MAIN, SIDE, TRANSFER, QUEUES };
/* Buffers of a step. X goes through the layers. */
enum buffer { X, NORMED, Q, K, V, SCORES, MIXED, UP, INPUT, RESULT, PARTS, SUM, BUFFERS };
static const size_t items[BUFFERS] = { STATE, STATE, STATE, STATE, STATE,         TOKENS *TOKENS,
				       STATE, WIDE,  STATE, STATE, STATE / GROUP, SUMS };
/* Of each layer. */
enum weight { WQ, WK, WV, WO, W_UP, W_DOWN, WEIGHTS };
static const size_t weight_items[WEIGHTS] = { SQUARE, SQUARE, SQUARE, SQUARE, OBLONG, OBLONG };

static struct {
	cl_context context;
	cl_device_id device;
	cl_program program;
	cl_command_queue queue[QUEUES];
	cl_kernel kernel[KERNELS];
	cl_mem buffer[BUFFERS], weight[LAYERS][WEIGHTS];
	/* reference values */
	unsigned long launches[KERNELS], writes, reads, copies;
	size_t written, was_read, copied;
} app;

static void check(cl_int rc, const char *what)
{
	if (rc == CL_SUCCESS)
		return;
	fprintf(stderr, "inference: %s: OpenCL error %d\n", what, (int)rc);
	exit(1);
}

/* ---- setup ---- */

static void find_device(void)
{
	cl_platform_id platforms[8];
	cl_uint n = 0;

	if (clGetPlatformIDs(8, platforms, &n) != CL_SUCCESS || n == 0) {
		fputs("inference: no OpenCL platform; on Debian: apt install pocl-opencl-icd\n",
		      stderr);
		exit(1);
	}
	for (cl_uint i = 0; i < n && i < 8; i++) {
		if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &app.device, NULL) ==
		    CL_SUCCESS)
			return;
	}
	check(CL_DEVICE_NOT_FOUND, "clGetDeviceIDs");
}

static void build(void)
{
	const char *text = source;
	char log[4096] = "";
	cl_int rc;

	app.context = clCreateContext(NULL, 1, &app.device, NULL, NULL, &rc);
	check(rc, "clCreateContext");
	app.program = clCreateProgramWithSource(app.context, 1, &text, NULL, &rc);
	check(rc, "clCreateProgramWithSource");
	rc = clBuildProgram(app.program, 1, &app.device, "", NULL, NULL);
	if (rc != CL_SUCCESS) {
		clGetProgramBuildInfo(app.program, app.device, CL_PROGRAM_BUILD_LOG,
				      sizeof(log) - 1, log, NULL);
		fputs(log, stderr);
	}
	check(rc, "clBuildProgram");
	for (int i = 0; i < KERNELS; i++) {
		app.kernel[i] = clCreateKernel(app.program, names[i], &rc);
		check(rc, "clCreateKernel");
	}
	for (int i = 0; i < QUEUES; i++) {
		app.queue[i] = clCreateCommandQueue(app.context, app.device, 0, &rc);
		check(rc, "clCreateCommandQueue");
	}
}

/* Numbers around 0, small enough that sums stay in range. */
static void randomize(float *to, size_t n)
{
	static unsigned state = 1;

	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		to[i] = ((float)(state >> 8) / 16777216.0f - 0.5f) * 0.2f;
	}
}

static cl_mem new_buffer(size_t count)
{
	cl_int rc;
	cl_mem mem =
		clCreateBuffer(app.context, CL_MEM_READ_WRITE, count * sizeof(float), NULL, &rc);

	check(rc, "clCreateBuffer");
	return mem;
}

static void write_buffer(enum queue q, cl_mem mem, const float *from, size_t count, cl_event *event)
{
	size_t bytes = count * sizeof(*from);

	check(clEnqueueWriteBuffer(app.queue[q], mem, event ? CL_FALSE : CL_TRUE, 0, bytes, from, 0,
				   NULL, event),
	      "clEnqueueWriteBuffer");
	app.writes++;
	app.written += bytes;
}

static void make_buffers(void)
{
	static float numbers[OBLONG];

	for (int i = 0; i < BUFFERS; i++)
		app.buffer[i] = new_buffer(items[i]);
	for (int l = 0; l < LAYERS; l++) {
		for (int i = 0; i < WEIGHTS; i++) {
			app.weight[l][i] = new_buffer(weight_items[i]);
			randomize(numbers, weight_items[i]);
			write_buffer(TRANSFER, app.weight[l][i], numbers, weight_items[i], NULL);
		}
	}
}

/* ---- launching ---- */

static void set_arg(enum kernel k, cl_uint i, size_t size, const void *value)
{
	check(clSetKernelArg(app.kernel[k], i, size, value), "clSetKernelArg");
}

static void set_mem(enum kernel k, cl_uint i, cl_mem mem)
{
	set_arg(k, i, sizeof(mem), &mem);
}

static void launch(enum queue q, enum kernel k, cl_uint dims, const size_t *global,
		   const size_t *local, cl_event wait, cl_event *event)
{
	check(clEnqueueNDRangeKernel(app.queue[q], app.kernel[k], dims, NULL, global, local,
				     wait ? 1 : 0, wait ? &wait : NULL, event),
	      names[k]);
	app.launches[k]++;
}

/* c (m x n) = a (m x k) * b */
static void gemm(enum queue q, cl_mem a, cl_mem b, cl_mem c, int m, int n, int k, cl_int transposed,
		 cl_event wait, cl_event *event)
{
	size_t global[2] = { (size_t)n, (size_t)m }, local[2] = { TILE, TILE };

	set_mem(GEMM, 0, a);
	set_mem(GEMM, 1, b);
	set_mem(GEMM, 2, c);
	set_arg(GEMM, 3, sizeof(n), &n);
	set_arg(GEMM, 4, sizeof(k), &k);
	set_arg(GEMM, 5, sizeof(transposed), &transposed);
	launch(q, GEMM, 2, global, local, wait, event);
}

static void layer_norm(cl_mem in, cl_mem out, cl_event *event)
{
	size_t global = TOKENS, local = 16;
	int n = DIM;

	set_mem(LAYER_NORM, 0, in);
	set_mem(LAYER_NORM, 1, out);
	set_arg(LAYER_NORM, 2, sizeof(n), &n);
	launch(MAIN, LAYER_NORM, 1, &global, &local, NULL, event);
}

static void softmax(cl_mem rows)
{
	size_t global = TOKENS, local = 16;
	float scale = 1.0f / sqrtf(DIM);
	int n = TOKENS;

	set_mem(SOFTMAX, 0, rows);
	set_arg(SOFTMAX, 1, sizeof(n), &n);
	set_arg(SOFTMAX, 2, sizeof(scale), &scale);
	launch(MAIN, SOFTMAX, 1, &global, &local, NULL, NULL);
}

/* The runtime chooses the local size of these two. */
static void residual(cl_mem x, cl_mem y)
{
	size_t global = STATE;

	set_mem(RESIDUAL, 0, x);
	set_mem(RESIDUAL, 1, y);
	launch(MAIN, RESIDUAL, 1, &global, NULL, NULL, NULL);
}

static void gelu(cl_mem x)
{
	size_t global = WIDE;

	set_mem(GELU, 0, x);
	launch(MAIN, GELU, 1, &global, NULL, NULL, NULL);
}

static void reduce(cl_mem in, cl_mem out, size_t count)
{
	size_t local = count < GROUP ? count : GROUP;

	set_mem(REDUCE_SUM, 0, in);
	set_mem(REDUCE_SUM, 1, out);
	set_arg(REDUCE_SUM, 2, local * sizeof(float), NULL);
	launch(MAIN, REDUCE_SUM, 1, &count, &local, NULL, NULL);
}

/* ---- the model ---- */

/* Queries on the main queue, keys and values beside it. */
static void attention(const cl_mem *w, cl_mem *b)
{
	cl_event normed, values;

	layer_norm(b[X], b[NORMED], &normed);
	check(clFlush(app.queue[MAIN]), "clFlush");
	gemm(SIDE, b[NORMED], w[WK], b[K], TOKENS, DIM, DIM, 0, normed, NULL);
	gemm(SIDE, b[NORMED], w[WV], b[V], TOKENS, DIM, DIM, 0, NULL, &values);
	check(clFlush(app.queue[SIDE]), "clFlush");
	gemm(MAIN, b[NORMED], w[WQ], b[Q], TOKENS, DIM, DIM, 0, NULL, NULL);
	gemm(MAIN, b[Q], b[K], b[SCORES], TOKENS, TOKENS, DIM, 1, values, NULL);
	softmax(b[SCORES]);
	gemm(MAIN, b[SCORES], b[V], b[MIXED], TOKENS, DIM, TOKENS, 0, NULL, NULL);
	gemm(MAIN, b[MIXED], w[WO], b[NORMED], TOKENS, DIM, DIM, 0, NULL, NULL);
	residual(b[X], b[NORMED]);
	clReleaseEvent(normed);
	clReleaseEvent(values);
}

static void feed_forward(const cl_mem *w, cl_mem *b)
{
	layer_norm(b[X], b[NORMED], NULL);
	gemm(MAIN, b[NORMED], w[W_UP], b[UP], TOKENS, HIDDEN, DIM, 0, NULL, NULL);
	gelu(b[UP]);
	gemm(MAIN, b[UP], w[W_DOWN], b[MIXED], TOKENS, DIM, HIDDEN, 0, NULL, NULL);
	residual(b[X], b[MIXED]);
}

static void copy_buffer(cl_mem from, cl_mem to, cl_event wait)
{
	size_t bytes = STATE * sizeof(float);

	check(clEnqueueCopyBuffer(app.queue[MAIN], from, to, 0, 0, bytes, wait ? 1 : 0,
				  wait ? &wait : NULL, NULL),
	      "clEnqueueCopyBuffer");
	app.copies++;
	app.copied += bytes;
}

static float step(void)
{
	static float input[STATE];
	float sums[SUMS], sum = 0;
	cl_event written;

	randomize(input, STATE);
	write_buffer(TRANSFER, app.buffer[INPUT], input, STATE, &written);
	check(clFlush(app.queue[TRANSFER]), "clFlush");
	copy_buffer(app.buffer[INPUT], app.buffer[X], written);
	clReleaseEvent(written);
	for (int l = 0; l < LAYERS; l++) {
		attention(app.weight[l], app.buffer);
		feed_forward(app.weight[l], app.buffer);
	}
	copy_buffer(app.buffer[X], app.buffer[RESULT], NULL);
	reduce(app.buffer[RESULT], app.buffer[PARTS], items[RESULT]);
	reduce(app.buffer[PARTS], app.buffer[SUM], items[PARTS]);
	check(clEnqueueReadBuffer(app.queue[MAIN], app.buffer[SUM], CL_TRUE, 0, sizeof(sums), sums,
				  0, NULL, NULL),
	      "clEnqueueReadBuffer");
	app.reads++;
	app.was_read += sizeof(sums);
	for (int i = 0; i < SUMS; i++)
		sum += sums[i];
	return sum;
}

/* ---- the program ---- */

static void print_truth(int steps, double total)
{
	printf("{\"steps\":%d,\"sum\":%.3f,\"kernels\":{", steps, total);
	for (int i = 0; i < KERNELS; i++)
		printf("%s\"%s\":%lu", i ? "," : "", names[i], app.launches[i]);
	printf("},\"copies\":{\"host to device\":[%lu,%zu],\"device to host\":[%lu,%zu],"
	       "\"device to device\":[%lu,%zu]},\"syncs\":0,\"builds\":1}\n",
	       app.writes, app.written, app.reads, app.was_read, app.copies, app.copied);
}

static void release(void)
{
	for (int i = 0; i < BUFFERS; i++)
		clReleaseMemObject(app.buffer[i]);
	for (int l = 0; l < LAYERS; l++) {
		for (int i = 0; i < WEIGHTS; i++)
			clReleaseMemObject(app.weight[l][i]);
	}
	for (int i = 0; i < KERNELS; i++)
		clReleaseKernel(app.kernel[i]);
	for (int i = 0; i < QUEUES; i++)
		clReleaseCommandQueue(app.queue[i]);
	clReleaseProgram(app.program);
	clReleaseContext(app.context);
}

int main(int argc, char **argv)
{
	int steps = STEPS;
	double total = 0;

	if (argc > 1 && (sscanf(argv[1], "%d", &steps) != 1 || steps < 1)) {
		fputs("usage: inference [STEPS]\n", stderr);
		return 2;
	}
	find_device();
	build();
	make_buffers();
	for (int i = 0; i < steps; i++)
		total += (double)step();
	if (!isfinite(total)) {
		fputs("inference: the result is not a number\n", stderr);
		return 1;
	}
	print_truth(steps, total);
	release();
	return 0;
}
