/*
 * rocprof_sys.c - the command line of rocprof-sys-sample, formerly omnitrace-sample.
 *
 * It samples the call stacks of the CPU and traces the GPU without changing the program;
 * rocprof-sys-run would need a rewritten one.
 */
#include <string.h>

#include "base/text.h"
#include "tool/tool_impl.h"

enum {
	HAS = RK_TRACE_HIP | RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER | RK_TRACE_SCRATCH
};

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	bool old = !strncmp(rk_base_name(path), "omnitrace", 9);
	const char *prefix = old ? "OMNITRACE" : "ROCPROFSYS";

	rk_list_add(&ret->argv, path);
	/* -o takes a second word, a prefix: another option must follow. */
	rk_list_add(&ret->argv, "-o");
	rk_tool_put_rank_dir(ret, want);
	rk_list_add(&ret->argv, "-T");
	rk_list_add(&ret->argv, "-D");
	/* one file per process, and no folder named after the time of day */
	rk_list_addf(&ret->env, "%s_USE_PID=ON", prefix);
	rk_list_addf(&ret->env, "%s_TIME_OUTPUT=OFF", prefix);
	if (!old && rk_version_since(v, 7, 0))
		rk_list_addf(&ret->env, "%s_USE_ROCPD=ON", prefix);
	ret->delivers = want->traces & HAS;
	rk_tool_no_traces(ret, want->traces & ~(unsigned)HAS,
			  "rocprof-sys traces HIP calls, kernels, copies, markers and scratch");
	if (rk_tool_wants_counters(want))
		rk_list_add(
			&ret->notes,
			"no counters: rockit does not request them from rocprof-sys; use --tool "
			"rocprofv3");
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: rocprof-sys samples the CPU");
	if (want->kernel_regex)
		rk_list_add(&ret->notes, "all kernels are recorded: rocprof-sys has no filter");
	return rk_tool_finish(ret, want, "--", err);
}

static const char *const programs[] = { "rocprof-sys-sample", "omnitrace-sample", NULL };

const struct rk_tool_ops rk_tool_rocprof_sys = {
	.name = "rocprof-sys",
	.programs = programs,
	.renamed = { 6, 3, 0 },
	.one_run = true,
	.command = command,
};
