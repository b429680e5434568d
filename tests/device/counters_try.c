/*
 * counters_try.c - the collector's way to hardware counters (collectors/cupti/cup_range.c), step by
 * step on a real GPU: what CUPTI, the chip and the permissions allow.
 *
 *   counters_try [LIBCUPTI [METRIC...]]
 *
 * Each metric is tried alone first; then all that are known together, over two kernels. Exit status
 * 0: values came; 1: some step failed, which is named; 77: no CUDA here.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cup_range.h"

enum { SKIPPED = 77, MOST = 64, LAUNCHES = 3, N = 1 << 22 };

/* Multiplies a lot, and copies a lot. */
static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry compute(.param .u64 p, .param .u32 n)\n{\n"
	" .reg .pred %q;\n .reg .b32 %r<8>;\n .reg .f32 %f<4>;\n .reg .b64 %d<4>;\n"
	" ld.param.u64 %d1, [p];\n ld.param.u32 %r1, [n];\n"
	" mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n mov.u32 %r4, %tid.x;\n"
	" mad.lo.s32 %r5, %r2, %r3, %r4;\n mov.u32 %r6, 0;\n cvt.rn.f32.u32 %f1, %r5;\n"
	"LOOP:\n fma.rn.f32 %f1, %f1, %f1, %f1;\n add.u32 %r6, %r6, 1;\n"
	" setp.lt.u32 %q, %r6, 512;\n @%q bra LOOP;\n"
	" setp.ge.u32 %q, %r5, %r1;\n @%q bra END;\n mul.wide.u32 %d2, %r5, 4;\n"
	" add.s64 %d3, %d1, %d2;\n cvta.to.global.u64 %d3, %d3;\n st.global.f32 [%d3], %f1;\n"
	"END:\n ret;\n}\n"
	".visible .entry memory(.param .u64 p, .param .u32 n)\n{\n"
	" .reg .pred %q;\n .reg .b32 %r<8>;\n .reg .f32 %f<4>;\n .reg .b64 %d<4>;\n"
	" ld.param.u64 %d1, [p];\n ld.param.u32 %r1, [n];\n"
	" mov.u32 %r2, %ctaid.x;\n mov.u32 %r3, %ntid.x;\n mov.u32 %r4, %tid.x;\n"
	" mad.lo.s32 %r5, %r2, %r3, %r4;\n setp.ge.u32 %q, %r5, %r1;\n @%q bra END;\n"
	" mul.wide.u32 %d2, %r5, 4;\n add.s64 %d3, %d1, %d2;\n cvta.to.global.u64 %d3, %d3;\n"
	" ld.global.f32 %f1, [%d3];\n add.f32 %f1, %f1, %f1;\n st.global.f32 [%d3], %f1;\n"
	"END:\n ret;\n}\n";

static struct {
	int (*cuInit)(unsigned);
	int (*cuDeviceGet)(int *, int);
	int (*cuCtxCreate_v2)(void **, unsigned, int);
	int (*cuModuleLoadData)(void **, const void *);
	int (*cuModuleGetFunction)(void **, void *, const char *);
	int (*cuMemAlloc_v2)(uint64_t *, size_t);
	int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			      unsigned, void *, void **, void **);
	int (*cuCtxSynchronize)(void);
	int (*cuDriverGetVersion)(int *);
} cu;

static int load_driver(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int missing = !lib;

#define LOAD(name)                                         \
	do {                                               \
		void *at = lib ? dlsym(lib, #name) : NULL; \
		memcpy(&cu.name, &at, sizeof(at));         \
		missing |= !at;                            \
	} while (0)
	LOAD(cuInit);
	LOAD(cuDeviceGet);
	LOAD(cuCtxCreate_v2);
	LOAD(cuModuleLoadData);
	LOAD(cuModuleGetFunction);
	LOAD(cuMemAlloc_v2);
	LOAD(cuLaunchKernel);
	LOAD(cuCtxSynchronize);
	LOAD(cuDriverGetVersion);
	return !missing;
}

struct world {
	void *context, *kernels[2];
	uint64_t memory;
};

static int prepare(struct world *w)
{
	void *module = NULL;
	int device = 0, rc = cu.cuDeviceGet(&device, 0);

	rc = rc ? rc : cu.cuCtxCreate_v2(&w->context, 0, device);
	rc = rc ? rc : cu.cuModuleLoadData(&module, ptx);
	rc = rc ? rc : cu.cuModuleGetFunction(&w->kernels[0], module, "compute");
	rc = rc ? rc : cu.cuModuleGetFunction(&w->kernels[1], module, "memory");
	return rc ? rc : cu.cuMemAlloc_v2(&w->memory, (size_t)N * 4);
}

static int launch(const struct world *w)
{
	unsigned n = N;
	uint64_t memory = w->memory;
	void *arguments[] = { &memory, &n };
	int rc = 0;

	for (int i = 0; rc == 0 && i < LAUNCHES; i++)
		for (int k = 0; rc == 0 && k < 2; k++)
			rc = cu.cuLaunchKernel(w->kernels[k], N / 256, 1, 1, 256, 1, 1, 0, NULL,
					       arguments, NULL);
	return rc ? rc : cu.cuCtxSynchronize();
}

static void say(const char *what, const struct rk_range_trouble *t)
{
	printf("FAIL %s: step %s, code %d%s%s%s%s\n", what, t->step, t->code,
	       t->what[0] ? ", metric " : "", t->what, rk_range_advice(t->code)[0] ? "; " : "",
	       rk_range_advice(t->code));
}

static const char **shown;
static size_t nshown;

static void print(void *user, size_t range, const double *values)
{
	(void)user;
	printf("kernel %zu (%s)\n", range, range % 2 ? "memory" : "compute");
	for (size_t i = 0; i < nshown; i++)
		printf("  %-60s %.6g\n", shown[i], values[i]);
}

/* Those that the chip has; each is tried alone. */
static size_t known_of(const struct cupti_range *f, void *context, const char **metrics, size_t n,
		       const char **known)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		struct rk_range_trouble t;
		struct rk_range *r = rk_range_open(f, context, &metrics[i], 1, 4, &t);

		if (r) {
			printf("ok   %s: %zu passes on %s\n", metrics[i], rk_range_passes(r),
			       rk_range_chip(r));
			known[found++] = metrics[i];
		} else {
			say(metrics[i], &t);
		}
		rk_range_close(r);
	}
	return found;
}

static int try_all(const struct cupti_range *f, const struct world *w, const char **metrics,
		   size_t n)
{
	struct rk_range_trouble t;
	size_t ranges = 0, dropped = 0;
	struct rk_range *r = rk_range_open(f, w->context, metrics, n, 64, &t);
	int rc;

	if (!r) {
		say("all together", &t);
		return 1;
	}
	printf("together: %zu metrics, %zu passes, chip %s\n", n, rk_range_passes(r),
	       rk_range_chip(r));
	shown = metrics;
	nshown = n;
	for (int round = 0; round < 2; round++) {
		rc = launch(w);
		printf("launched: %d\n", rc);
		if (!rk_range_drain(r, print, NULL, &ranges, &dropped, &t)) {
			say("drain", &t);
			return 1;
		}
		printf("%zu ranges of %d launches, %zu dropped\n", ranges, 2 * LAUNCHES, dropped);
	}
	rk_range_close(r);
	printf("afterwards: launch %d\n", launch(w));
	return ranges == 2 * LAUNCHES ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const char *defaults[] = {
		"gpu__time_duration.sum",
		"sm__throughput.avg.pct_of_peak_sustained_elapsed",
		"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__warps_active.avg.pct_of_peak_sustained_active",
		"sm__inst_executed.sum",
		"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__inst_executed_pipe_tensor.sum",
		"l1tex__t_sector_hit_rate.pct",
		"lts__t_sector_hit_rate.pct",
		"dram__throughput.avg.pct_of_peak_sustained_elapsed",
		"dram__bytes_read.sum",
		"dram__bytes_write.sum",
	};
	const char *path = argc > 1 ? argv[1] : "libcupti.so.13", *missing, *known[MOST];
	const char **metrics = argc > 2 ? (const char **)argv + 2 : defaults;
	size_t n = argc > 2 ? (size_t)argc - 2 : sizeof(defaults) / sizeof(defaults[0]);
	struct cupti_range f;
	struct world w = { 0 };
	int version = 0, rc;
	void *lib;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (!load_driver() || cu.cuInit(0)) {
		printf("skip: no CUDA driver, or no GPU\n");
		return SKIPPED;
	}
	cu.cuDriverGetVersion(&version);
	printf("driver of CUDA %d\n", version);
	lib = dlopen(path, RTLD_NOW);
	if (!lib) {
		printf("FAIL %s\n", dlerror());
		return 1;
	}
	missing = rk_range_load(&f, lib);
	if (missing) {
		printf("FAIL %s lacks %s\n", path, missing);
		return 1;
	}
	rc = prepare(&w);
	if (rc) {
		printf("FAIL the driver: %d\n", rc);
		return 1;
	}
	n = known_of(&f, w.context, metrics, n < MOST ? n : MOST, known);
	return n ? try_all(&f, &w, known, n) : 1;
}
