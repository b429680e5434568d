/* cl_cases.c - `cl-cases CASE`, or `cl-cases list`: see cl_cases.h. */
#include "cl_cases.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

const char cl_cases_source[] =
	"__kernel void one(__global int *a) { a[get_global_id(0)] += 1; }\n"
	"__kernel void two(__global int *a) { a[get_global_id(0)] += 2; }\n"
	"__kernel void empty(void) { }\n"
	"__kernel void local_sum(__global int *a, __local int *s) {\n"
	"  s[get_local_id(0)] = a[get_global_id(0)];\n"
	"  barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  a[get_global_id(0)] = s[0];\n"
	"}\n"
	"__kernel void nine_locals(__local int *a, __local int *b, __local int *c, __local int *d,\n"
	"  __local int *e, __local int *f, __local int *g, __local int *h, __local int *i) {\n"
	"  a[0] = b[0] = c[0] = d[0] = e[0] = f[0] = g[0] = h[0] = i[0] = 0;\n"
	"}\n"
	"__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fixed(__global int *a) {\n"
	"  a[get_global_id(0)] += 4;\n"
	"}\n"
	"__kernel void slow(__global int *a) {\n"
	"  int x = a[0];\n"
	"  for (int i = 0; i < 3000000; i++) x = x * 1664525 + 1013904223;\n"
	"  a[get_global_id(0)] = x;\n"
	"}\n";

/* ---- the truth ---- */

#define NAMES 16

static struct {
	pthread_mutex_t lock;
	const char *kernel[NAMES], *direction[NAMES];
	uint64_t launches[NAMES], copies[NAMES], bytes[NAMES];
	uint64_t syncs, builds;
} truth = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The place of `name`, which is taken when it is new. */
static int place(const char **names, const char *name)
{
	int i = 0;

	while (i < NAMES - 1 && names[i] && strcmp(names[i], name) != 0)
		i++;
	names[i] = name;
	return i;
}

void truth_kernel(const char *name, uint64_t n)
{
	pthread_mutex_lock(&truth.lock);
	truth.launches[place(truth.kernel, name)] += n;
	pthread_mutex_unlock(&truth.lock);
}

void truth_copy(const char *direction, uint64_t bytes)
{
	pthread_mutex_lock(&truth.lock);
	int i = place(truth.direction, direction);
	truth.copies[i]++;
	truth.bytes[i] += bytes;
	pthread_mutex_unlock(&truth.lock);
}

void truth_sync(uint64_t n)
{
	truth.syncs += n;
}

void truth_build(uint64_t n)
{
	truth.builds += n;
}

void truth_print(void)
{
	printf("{\"kernels\":{");
	for (int i = 0; i < NAMES && truth.kernel[i]; i++)
		printf("%s\"%s\":%llu", i ? "," : "", truth.kernel[i],
		       (unsigned long long)truth.launches[i]);
	printf("},\"copies\":{");
	for (int i = 0; i < NAMES && truth.direction[i]; i++)
		printf("%s\"%s\":[%llu,%llu]", i ? "," : "", truth.direction[i],
		       (unsigned long long)truth.copies[i], (unsigned long long)truth.bytes[i]);
	printf("},\"syncs\":%llu,\"builds\":%llu}\n", (unsigned long long)truth.syncs,
	       (unsigned long long)truth.builds);
	fflush(stdout);
}

/* ---- what cases share ---- */

void case_world(struct cl_world *w)
{
	cl_world_init(w, cl_cases_source);
	truth_build(1);
}

cl_kernel case_kernel(const struct cl_world *w, const char *name, cl_mem mem)
{
	cl_kernel k = cl_world_kernel(w, name);

	if (mem)
		cl_must(clSetKernelArg(k, 0, sizeof(mem), &mem), "clSetKernelArg");
	return k;
}

void case_launch(cl_command_queue q, cl_kernel k, const char *name, cl_event *event)
{
	cl_launch(q, k, 64, 16, event);
	truth_kernel(name, 1);
}

/* ---- the program ---- */

static const struct cl_case *const lists[] = { cl_cases_commands, cl_cases_events, cl_cases_life };

static int run(const char *name)
{
	for (size_t l = 0; l < sizeof(lists) / sizeof(*lists); l++) {
		for (const struct cl_case *c = lists[l]; c->name; c++) {
			if (!strcmp(name, "list"))
				puts(c->name);
			if (strcmp(name, c->name) != 0)
				continue;
			c->run();
			truth_print();
			return 0;
		}
	}
	return strcmp(name, "list") != 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0); /* output before a crash is seen */
	if (argc == 2 && run(argv[1]) == 0)
		return 0;
	fputs("usage: cl-cases CASE|list\n", stderr);
	return 2;
}
