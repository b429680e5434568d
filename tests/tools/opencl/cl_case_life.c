/* cl_case_life.c - cases of cl-cases: threads, contexts, processes, beginnings and ends. */
#include "cl_cases.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define EACH 200

/* ---- threads ---- */

static struct {
	struct cl_world w;
	cl_command_queue q; /* of all threads */
	cl_mem mem;
} common;

static void *worker(void *unused)
{
	cl_command_queue own = cl_world_queue(&common.w, 0);
	cl_kernel one = case_kernel(&common.w, "one", common.mem);
	cl_kernel two = case_kernel(&common.w, "two", common.mem);

	(void)unused;
	for (int i = 0; i < EACH; i++) {
		case_launch(own, one, "one", NULL);
		case_launch(common.q, two, "two", NULL);
		if (i % 50 == 0)
			cl_must(clFinish(own), "clFinish");
	}
	cl_must(clFinish(own), "clFinish");
	clReleaseKernel(one);
	clReleaseKernel(two);
	clReleaseCommandQueue(own);
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];

	case_world(&common.w);
	common.q = cl_world_queue(&common.w, 0);
	common.mem = cl_world_buffer(&common.w, 4096);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&t[i], NULL, worker, NULL))
			exit(1);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	cl_must(clFinish(common.q), "clFinish");
	clReleaseMemObject(common.mem);
	clReleaseCommandQueue(common.q);
	cl_world_release(&common.w);
}

/* ---- contexts and devices ---- */

static void contexts(void)
{
	for (int i = 0; i < 4; i++) {
		struct cl_world w;

		case_world(&w);
		cl_command_queue q = cl_world_queue(&w, 0);
		cl_mem mem = cl_world_buffer(&w, 4096);
		cl_kernel slow = case_kernel(&w, "slow", mem);
		for (int n = 0; n < 3; n++)
			case_launch(q, slow, "slow", NULL);
		cl_must(clFlush(q), "clFlush");
		/* Everything is let go while the kernels run; odd rounds wait for them first. */
		if (i % 2)
			cl_must(clFinish(q), "clFinish");
		clReleaseKernel(slow);
		clReleaseMemObject(mem);
		clReleaseCommandQueue(q);
		cl_world_release(&w);
	}
	sleep(1); /* the last ones end */
}

static void on_parts(struct cl_world *w, cl_uint n, cl_device_id *parts)
{
	cl_int rc;

	clReleaseContext(w->context);
	w->context = clCreateContext(NULL, n, parts, NULL, NULL, &rc);
	cl_must(rc, "clCreateContext");
	const char *source = cl_cases_source;
	w->program = clCreateProgramWithSource(w->context, 1, &source, NULL, &rc);
	cl_must(rc, "clCreateProgramWithSource");
	cl_must(clBuildProgram(w->program, 0, NULL, "", NULL, NULL), "clBuildProgram");
	truth_build(1);
	cl_kernel k = case_kernel(w, "empty", NULL);
	for (cl_uint i = 0; i < n; i++) {
		cl_command_queue q = clCreateCommandQueue(w->context, parts[i], 0, &rc);

		cl_must(rc, "clCreateCommandQueue");
		for (cl_uint j = 0; j <= i; j++)
			case_launch(q, k, "empty", NULL);
		cl_must(clFinish(q), "clFinish");
		clReleaseCommandQueue(q);
		clReleaseDevice(parts[i]);
	}
	clReleaseKernel(k);
}

static void sub_devices(void)
{
	cl_device_partition_property by[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
	cl_device_id parts[64];
	struct cl_world w;
	cl_uint n = 0;

	cl_world_init(&w, NULL);
	cl_int rc = clCreateSubDevices(w.device, by, 64, parts, &n);
	printf("sub-devices: %d\n", (int)rc);
	if (rc == CL_SUCCESS)
		on_parts(&w, n, parts);
	cl_world_release(&w);
}

/* ---- kernels and programs ---- */

/* Handles that come again for other kernels; all kernels at once; copies. */
static void handles(void)
{
	static const char *const names[] = { "one", "two", "empty" };
	struct cl_world w;
	cl_kernel all[16], copy;
	cl_uint n = 0;
	cl_int rc;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_mem mem = cl_world_buffer(&w, 4096);
	for (int i = 0; i < 300; i++) {
		const char *name = names[i % 3];
		cl_kernel k = case_kernel(&w, name, i % 3 == 2 ? NULL : mem);

		case_launch(q, k, name, NULL);
		clReleaseKernel(k);
	}
	cl_must(clCreateKernelsInProgram(w.program, 16, all, &n), "clCreateKernelsInProgram");
	printf("kernels: %u\n", n);
	for (cl_uint i = 0; i < n; i++) {
		char name[64] = "";

		clGetKernelInfo(all[i], CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL);
		if (!strcmp(name, "empty"))
			case_launch(q, all[i], "empty", NULL);
		copy = clCloneKernel(all[i], &rc);
		if (rc == CL_SUCCESS && !strcmp(name, "empty"))
			case_launch(q, copy, "empty", NULL);
		if (rc == CL_SUCCESS)
			clReleaseKernel(copy);
		clReleaseKernel(all[i]);
	}
	cl_must(clFinish(q), "clFinish");
	clReleaseMemObject(mem);
	clReleaseCommandQueue(q);
	cl_world_release(&w);
}

static atomic_int built;

static void CL_CALLBACK on_built(cl_program program, void *user)
{
	(void)program;
	if (user == &built)
		atomic_fetch_add(&built, 1);
}

static void builds(void)
{
	const char *good = "__kernel void k(void) { }\n",
		   *bad = "__kernel void k(void) { nonsense }\n";
	struct cl_world w;
	cl_int rc;

	cl_world_init(&w, NULL);
	cl_program p = clCreateProgramWithSource(w.context, 1, &good, NULL, &rc);
	cl_must(rc, "source");
	cl_must(clBuildProgram(p, 1, &w.device, "", on_built, &built), "with a callback");
	for (int i = 0; i < 5000 && !atomic_load(&built); i++)
		usleep(1000);
	printf("callbacks: %d\n", atomic_load(&built));
	clReleaseProgram(p);
	p = clCreateProgramWithSource(w.context, 1, &bad, NULL, &rc);
	printf("bad source: %d\n", (int)clBuildProgram(p, 1, &w.device, "", NULL, NULL));
	clReleaseProgram(p);
	p = clCreateProgramWithSource(w.context, 1, &good, NULL, &rc);
	rc = clCompileProgram(p, 1, &w.device, "", 0, NULL, NULL, NULL, NULL);
	printf("compiled: %d\n", (int)rc);
	cl_program linked = clLinkProgram(w.context, 1, &w.device, "", 1, &p, NULL, NULL, &rc);
	printf("linked: %d\n", (int)rc);
	truth_build(4);
	if (linked)
		clReleaseProgram(linked);
	clReleaseProgram(p);
	cl_world_release(&w);
}

/* Calls that must be refused are refused in the same words. */
static void errors(void)
{
	struct cl_world w;
	size_t global = 64, bytes;
	cl_event e = NULL;
	cl_int rc = 0;
	char c;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_mem mem = cl_world_buffer(&w, 64);
	cl_kernel k = cl_world_kernel(&w, "one"); /* its argument is not set */
	printf("no argument: %d\n",
	       (int)clEnqueueNDRangeKernel(q, k, 1, NULL, &global, NULL, 0, NULL, &e));
	printf("no queue: %d\n",
	       (int)clEnqueueNDRangeKernel(NULL, k, 1, NULL, &global, NULL, 0, NULL, &e));
	cl_must(clSetKernelArg(k, 0, sizeof(mem), &mem), "clSetKernelArg");
	printf("no dimensions: %d\n",
	       (int)clEnqueueNDRangeKernel(q, k, 0, NULL, &global, NULL, 0, NULL, &e));
	printf("event untouched: %s\n", e ? "no" : "yes");
	printf("read too far: %d\n",
	       (int)clEnqueueReadBuffer(q, mem, CL_TRUE, 64, 1, &c, 0, NULL, NULL));
	void *at = clEnqueueMapBuffer(q, mem, CL_TRUE, CL_MAP_READ, 0, 1000, 0, NULL, NULL, &rc);
	printf("map too far: %d %s\n", (int)rc, at ? "mapped" : "not mapped");
	printf("marker: %d\n", (int)clEnqueueMarker(q, NULL));
	printf("finish nothing: %d\n", (int)clFinish(NULL));
	printf("wait for nothing: %d\n", (int)clWaitForEvents(0, NULL));
	printf("release nothing: %d\n", (int)clReleaseCommandQueue(NULL));
	printf("info of nothing: %d\n",
	       (int)clGetCommandQueueInfo(NULL, CL_QUEUE_PROPERTIES, 0, NULL, &bytes));
	printf("times of nothing: %d\n",
	       (int)clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, 0, NULL, &bytes));
	printf("no such kernel: %s\n", clCreateKernel(w.program, "nobody", &rc) ? "made" : "none");
	printf("status: %d\n", (int)rc);
	clCreateCommandQueue(NULL, w.device, 0, &rc);
	printf("queue of no context: %d\n", (int)rc);
	clReleaseKernel(k);
	clReleaseMemObject(mem);
	clReleaseCommandQueue(q);
	cl_world_release(&w);
}

/* ---- processes ---- */

static void ten_launches(void)
{
	struct cl_world w;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_kernel k = case_kernel(&w, "empty", NULL);
	for (int i = 0; i < 10; i++)
		case_launch(q, k, "empty", NULL);
	cl_must(clFinish(q), "clFinish");
	clReleaseKernel(k);
	clReleaseCommandQueue(q);
	cl_world_release(&w);
}

static void await_child(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		exit(1);
	printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

/* Children of a program with OpenCL under way, which they leave alone. */
static void forks(void)
{
	struct cl_world w;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_mem mem = cl_world_buffer(&w, 4096);
	cl_kernel slow = case_kernel(&w, "slow", mem);
	for (int i = 0; i < 6; i++) {
		case_launch(q, slow, "slow", NULL);
		cl_must(clFlush(q), "clFlush");
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0 && i % 3 == 0)
			_exit(i);
		if (pid == 0 && i % 3 == 1)
			execl("/bin/true", "true", (char *)NULL);
		if (pid == 0)
			quick_exit(i);
		await_child(pid);
	}
	cl_must(clFinish(q), "clFinish");
	clReleaseKernel(slow);
	clReleaseMemObject(mem);
	clReleaseCommandQueue(q);
	cl_world_release(&w);
}

/* The loader is at work before the fork, the runtime only after it: parent and child both use it. */
static void fork_first(void)
{
	cl_uint n = 0;

	clGetPlatformIDs(0, NULL, &n);
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		ten_launches();
		truth_print();
		exit(0);
	}
	await_child(pid);
	ten_launches();
}

static void no_exit(void)
{
	ten_launches();
	truth_print();
	_exit(3);
}

static void aborts(void)
{
	ten_launches();
	truth_print();
	abort();
}

static void *exit_here(void *unused)
{
	(void)unused;
	ten_launches();
	truth_print();
	exit(5);
}

static void exit_in_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, exit_here, NULL) == 0)
		pthread_join(t, NULL);
}

/* The program ends at once, with work under way that it never waited for. */
static void exit_busy(void)
{
	struct cl_world w;

	case_world(&w);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_mem mem = cl_world_buffer(&w, 4096);
	cl_kernel slow = case_kernel(&w, "slow", mem);
	for (int i = 0; i < 20; i++)
		cl_launch(q, slow, 64, 16, NULL);
	cl_must(clFlush(q), "clFlush");
	puts("ends at once");
}

const struct cl_case cl_cases_life[] = {
	{ "threads", threads },
	{ "contexts", contexts },
	{ "sub-devices", sub_devices },
	{ "handles", handles },
	{ "builds", builds },
	{ "errors", errors },
	{ "forks", forks },
	{ "fork-first", fork_first },
	{ "no-exit", no_exit },
	{ "aborts", aborts },
	{ "exit-in-thread", exit_in_thread },
	{ "exit-busy", exit_busy },
	{ 0 },
};
