/*
 * collectors.c - our own collectors: libraries that are loaded into the program. The program's
 * command line does not change; environment variables do the rest.
 *
 * OpenCL: a layer that the loader puts between the program and every OpenCL runtime, on any device.
 * CUDA: a library that NVIDIA's driver loads and that gets its records from CUPTI.
 * ROCm: a library that AMD's HSA runtime loads, below HIP and OpenCL.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/tool_impl.h"

/* ---- finding them ---- */

static bool is_there(const char *dir, const char *below, const char *library, struct rk_bytes *ret)
{
	const char *path;

	rk_bytes_clear(ret);
	rk_bytes_printf(ret, "%s/%s%s", dir, below, library);
	path = rk_bytes_str(ret);
	return path && path[0] == '/' && access(path, R_OK) == 0;
}

/* Near `file`, which is cut to its directory. */
static bool find_near(char *file, const char *library, struct rk_bytes *ret)
{
	static const char *const below[] = {
		"",
		"rockit/",
		"../lib/rockit/",
		"../lib64/rockit/",
#if defined(__x86_64__)
		"../lib/x86_64-linux-gnu/rockit/"
	};
#elif defined(__aarch64__)
		"../lib/aarch64-linux-gnu/rockit/"
	};
#endif
	char *slash = strrchr(file, '/');

	if (!slash)
		return false;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]) && !ret->bad; i++)
		if (is_there(file, below[i], library, ret))
			return true;
	return false;
}

bool rk_collector_find(const char *library, struct rk_bytes *ret)
{
	const char *named = getenv("ROCKIT_COLLECTORS");
	struct link_map *map = NULL;
	Dl_info info;
	char path[PATH_MAX];
	ssize_t n;

	if (named && named[0])
		return is_there(named, "", library, ret);
	/*
	 * First near the file that this code is in, whose version the collectors have: the shared
	 * library, or the program if the library is part of it. The loader knows a program only as
	 * argv[0], which need not be a path.
	 */
	if (dladdr1((void *)(uintptr_t)rk_collector_find, &info, (void **)&map, RTLD_DL_LINKMAP) &&
	    map && map->l_name && map->l_name[0] && realpath(map->l_name, path) &&
	    find_near(path, library, ret))
		return true;
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return find_near(path, library, ret);
}

/* A value of ROCKIT_COLLECT: the characters that separate settings, and %, as %XX. */
static void put_value(struct rk_bytes *b, const char *s)
{
	for (; *s; s++) {
		if (strchr(",%= \t\n", *s))
			rk_bytes_printf(b, "%%%02X", (unsigned)(unsigned char)*s);
		else
			rk_bytes_put_u8(b, (uint8_t)*s);
	}
}

/* The settings that all collectors have. --tool-args come first: the first of a name counts. */
static void begin_settings(struct rk_bytes *b, const struct rk_want *want)
{
	rk_bytes_init(b, 1 << 16);
	rk_bytes_puts(b, "dir=");
	put_value(b, want->dir);
	for (size_t i = 0; want->extra && i < want->extra->n; i++)
		rk_bytes_printf(b, ",%s", want->extra->v[i]);
	if (want->window_bytes)
		rk_bytes_printf(b, ",window=1,limit=%" PRIu64, want->window_bytes);
	if (want->switched)
		rk_bytes_puts(b, ",switch=1");
	if (want->asleep)
		rk_bytes_puts(b, ",asleep=1");
	if (want->range) {
		rk_bytes_puts(b, ",range=");
		put_value(b, want->range);
	}
	if (want->every_of)
		rk_bytes_printf(b, ",every=%" PRIu64 ":%" PRIu64, want->every_on, want->every_of);
	if (want->sample)
		rk_bytes_printf(b, ",sample=%" PRIu64, want->sample);
}

/* The finished settings, which are released. */
static void put_settings(struct rk_bytes *b, struct rk_tool_command *c)
{
	if (rk_bytes_str(b))
		rk_list_set(&c->env, "ROCKIT_COLLECT", rk_bytes_str(b));
	c->env.bad = c->env.bad || b->bad;
	rk_bytes_release(b);
}

enum {
	CALLS = RK_TRACE_HIP | RK_TRACE_HSA, /* both: every call is wanted */
	/* what the recorder does for every collector; counters and PC samples become notes */
	ALL_CAN = RK_ASK_COUNTERS | RK_ASK_PC | RK_ASK_WINDOW | RK_ASK_DELAY | RK_ASK_DURATION |
		  RK_ASK_EVERY | RK_ASK_SAMPLE,
};

/* Refuses what is not in `can`. */
static int check_asks(const char *tool, unsigned asks, unsigned can, struct rk_error *err)
{
	static const struct {
		unsigned bit;
		const char *option;
	} options[] = {
		{ RK_ASK_ATTACH, "--attach" },
		{ RK_ASK_ATT, "--att" },
		{ RK_ASK_SPM, "--spm" },
		{ RK_ASK_REPLAY, "--replay kernel" },
		{ RK_ASK_COUNTERS, "counters (-c, -i)" },
		{ RK_ASK_RANGE, "--range" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (asks & ~can & options[i].bit)
			return rk_fail(err, RK_E_USAGE, "the collector %s has no %s", tool,
				       options[i].option);
	return 0;
}

/* ---- OpenCL ---- */

enum { OPENCL_HAS = RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER };

/* --tool-args are settings of the collector: "limit=4G window=1". */
static int opencl_command(const char *path, struct rk_version v, const struct rk_want *want,
			  struct rk_tool_command *ret, struct rk_error *err)
{
	struct rk_bytes b;

	(void)v;
	if (strpbrk(path, ":"))
		return rk_fail(err, RK_E_USAGE,
			       "the OpenCL loader cannot load a layer whose path contains a "
			       "colon: '%s'",
			       path);
	rk_list_append(&ret->argv, want->app);
	rk_list_set(&ret->env, "OPENCL_LAYERS", path);

	begin_settings(&b, want);
	/* a recorded call costs as much as a launch: only if all calls are wanted */
	if ((want->traces & CALLS) == CALLS)
		rk_bytes_puts(&b, ",api=1");
	put_settings(&b, ret);

	ret->delivers = want->traces & OPENCL_HAS;
	rk_tool_no_traces(ret, want->traces & ~(unsigned)OPENCL_HAS,
			  "not supported by the OpenCL collector");
	if (rk_tool_wants_counters(want))
		rk_list_add(&ret->notes, "no counters: not available through OpenCL");
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: OpenCL does not support it");
	if (want->kernel_regex)
		rk_list_add(&ret->notes, "all kernels are recorded: the filter is only for "
					 "counters");
	return rk_tool_end(ret, err);
}

static int opencl_check(struct rk_version v, unsigned asks, struct rk_error *err)
{
	(void)v;
	if (asks & RK_ASK_RANGE)
		return rk_fail(err, RK_E_USAGE,
			       "OpenCL has no ranges that a program names, so the collector opencl "
			       "has no --range");
	return check_asks("opencl", asks, ALL_CAN, err);
}

static const char *const opencl_programs[] = { "librockit-opencl.so", NULL };

const struct rk_tool_ops rk_tool_opencl = {
	.name = "opencl",
	.programs = opencl_programs,
	.one_run = true,
	.library = true,
	.api = "OpenCL",
	.lightest = OPENCL_HAS,
	.not_loaded = "the program made no OpenCL call, or its OpenCL loader does not support "
		      "layers",
	.check = opencl_check,
	.command = opencl_command,
};

/* ---- CUDA ---- */

enum {
	CUPTI_HAS = RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER | RK_TRACE_ALLOC,
	FLUSH_MS = 100, /* records older than that are not lost, see rockit-run(1) */
};

/*
 * NVIDIA's metrics that answer the same question as AMD's counters, by the beginning of the
 * counter's name; the first match is used. CUPTI 13.0 has all of them from Turing on (except separate
 * reads and writes on GB202) and runs a kernel twice for all of them together.
 */
#define SM                                                                         \
	"sm__cycles_active.avg.pct_of_peak_sustained_elapsed+"                     \
	"sm__warps_active.avg.pct_of_peak_sustained_active+sm__inst_executed.sum+" \
	"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
#define L2 "lts__t_sector_hit_rate.pct"
#define DRAM                                                  \
	"dram__throughput.avg.pct_of_peak_sustained_elapsed+" \
	"dram__bytes_read.sum+dram__bytes_write.sum"

static const struct question {
	const char *start, *metrics;
} questions[] = {
	{ "SQ_", SM },
	{ "GRBM_", "gpu__time_duration.sum+" SM },
	{ "TCP_", "l1tex__t_sector_hit_rate.pct" },
	{ "TCC_EA", DRAM },
	{ "TCC_", L2 },
	{ "GL2C_", L2 },
	{ "FETCH_SIZE", DRAM },
	{ "WRITE_SIZE", DRAM },
	{ "", SM },
};

/* The metrics for one counter, each once. */
static void choose_metrics(const char *counter, struct rk_list *ret)
{
	const struct question *q = questions;

	while (strncmp(counter, q->start, strlen(q->start)) != 0)
		q++; /* the last one always matches */
	for (const char *p = q->metrics; *p; p += strspn(p, "+")) {
		char name[80];
		size_t len = strcspn(p, "+");

		snprintf(name, sizeof(name), "%.*s", (int)len, p);
		rk_list_add_once(ret, name);
		p += len;
	}
}

static int cupti_command(const char *path, struct rk_version v, const struct rk_want *want,
			 struct rk_tool_command *ret, struct rk_error *err)
{
	struct rk_bytes b;

	(void)v;
	rk_list_append(&ret->argv, want->app);
	rk_list_set(&ret->env, "CUDA_INJECTION64_PATH", path);
	if (want->traces & RK_TRACE_MARKER || want->range)
		rk_list_set(&ret->env, "NVTX_INJECTION64_PATH", path);
	ret->counters = rk_tool_wants_counters(want);
	for (size_t i = 0; ret->counters && i < want->counters->n; i++)
		choose_metrics(want->counters->v[i], &ret->instead);

	begin_settings(&b, want);
	for (size_t i = 0; i < ret->instead.n; i++)
		rk_bytes_printf(&b, "%s%s", i ? "+" : ",counters=", ret->instead.v[i]);
	rk_bytes_printf(&b, ",flush=%d", FLUSH_MS);
	/* a recorded call costs as much as a launch: only if all calls are wanted */
	if ((want->traces & CALLS) == CALLS)
		rk_bytes_puts(&b, ",api=1");
	if (want->traces & RK_TRACE_ALLOC)
		rk_bytes_puts(&b, ",alloc=1");
	put_settings(&b, ret);

	if (ret->counters) {
		/* counted kernels run one by one and several times: their times are useless */
		rk_list_add(&ret->notes, "the matching NVIDIA counters are used: see "
					 "rockit-run(1)");
	} else {
		ret->delivers = want->traces & CUPTI_HAS;
		rk_tool_no_traces(ret, want->traces & CALLS,
				  "this is CUDA; its calls are recorded if both are requested");
		rk_tool_no_traces(ret, want->traces & RK_TRACE_RCCL,
				  "NCCL's ranges are recorded as markers");
		rk_tool_no_traces(ret, want->traces & RK_TRACE_SCRATCH, "not supported by CUPTI");
	}
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: this collector does not support it");
	if (want->kernel_regex)
		rk_list_add(&ret->notes, "all kernels are recorded: this collector has no filter");
	return rk_tool_end(ret, err);
}

static int cupti_check(struct rk_version v, unsigned asks, struct rk_error *err)
{
	(void)v;
	return check_asks("cupti", asks, ALL_CAN | RK_ASK_RANGE, err);
}

static const char *const cupti_programs[] = { "librockit-cupti.so", NULL };

const struct rk_tool_ops rk_tool_cupti = {
	.name = "cupti",
	.programs = cupti_programs,
	.replays = true,
	.library = true,
	.gpu = RK_TOOL_NVIDIA_GPU,
	.api = "CUDA",
	.lightest = RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER,
	.not_loaded = "the program made no CUDA call, or the driver did not load the collector",
	/* CUPTI keeps records until it is flushed, and does not report how many */
	.lost_at_end = "a process did not exit normally: records that CUPTI had not delivered are "
		       "lost (see --tool-args flush=MS)",
	.check = cupti_check,
	.command = cupti_command,
};

/* ---- ROCm ---- */

enum {
	ROCM_HAS = RK_TRACE_HIP | RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER |
		   RK_TRACE_RCCL | RK_TRACE_ALLOC,
	/* libraries that offer no callback: their functions are replaced by ours */
	ROCM_PRELOAD = RK_TRACE_MARKER | RK_TRACE_RCCL,
};

static int rocm_command(const char *path, struct rk_version v, const struct rk_want *want,
			struct rk_tool_command *ret, struct rk_error *err)
{
	struct rk_bytes b;

	(void)v;
	if (strpbrk(path, " :"))
		return rk_fail(err, RK_E_USAGE,
			       "the ROCm collector cannot be loaded from a path with a space or a "
			       "colon, '%s': install rockit in another place",
			       path);
	rk_list_append(&ret->argv, want->app);
	rk_list_set(&ret->env, "HSA_TOOLS_LIB", path);
	if (want->traces & ROCM_PRELOAD || want->range)
		rk_list_set(&ret->env, "LD_PRELOAD", path);

	begin_settings(&b, want);
	rk_bytes_printf(&b, ",api=%s", want->traces & RK_TRACE_HIP ? "1" : "launches");
	if (want->traces & RK_TRACE_ALLOC)
		rk_bytes_puts(&b, ",alloc=1");
	put_settings(&b, ret);

	ret->delivers = want->traces & ROCM_HAS;
	rk_tool_no_traces(ret, want->traces & RK_TRACE_HSA,
			  "HIP calls are recorded, calls of HSA itself are not");
	rk_tool_no_traces(ret, want->traces & ~(unsigned)(ROCM_HAS | RK_TRACE_HSA),
			  "not supported by the ROCm collector");
	if (rk_tool_wants_counters(want))
		rk_list_add(&ret->notes,
			    "no counters: the ROCm collector has none; rocprofv3 does");
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: the ROCm collector does not support it");
	if (want->kernel_regex)
		rk_list_add(&ret->notes, "all kernels are recorded: the filter is only for "
					 "counters");
	return rk_tool_end(ret, err);
}

static int rocm_check(struct rk_version v, unsigned asks, struct rk_error *err)
{
	(void)v;
	if (asks & RK_ASK_COUNTERS)
		return rk_fail(err, RK_E_USAGE,
			       "the ROCm collector has no counters: leave out -c and -i, or use "
			       "--tool rocprofv3");
	return check_asks("rocm", asks, ALL_CAN | RK_ASK_RANGE, err);
}

static const char *const rocm_programs[] = { "librockit-rocm.so", NULL };

const struct rk_tool_ops rk_tool_rocm = {
	.name = "rocm",
	.programs = rocm_programs,
	.one_run = true,
	.library = true,
	.gpu = RK_TOOL_AMD_GPU,
	.api = "HIP and HSA",
	/* without preloading anything; markers of libroctx64 come anyway */
	.lightest = RK_TRACE_KERNEL | RK_TRACE_MEMCPY,
	.not_loaded = "the program made no HIP or HSA call, or another profiler has taken its "
		      "place in AMD's runtime (HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 lets both in)",
	.check = rocm_check,
	.command = rocm_command,
};
