/*
 * rocprof_compute.c - the command line of rocprof-compute, formerly omniperf.
 *
 * It runs the program about twenty times and collects the counters of its own metrics.
 */
#include "tool/tool_impl.h"

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	/* its formulas are for Instinct, and from 7.13 on for the APUs of gfx115x */
	static const char *const archs[] = { "gfx906", "gfx908", "gfx90a", "gfx94", "gfx95" };
	bool before_7_13 = rk_version_before(v, 7, 13), supported;

	rk_list_add(&ret->argv, path);
	rk_list_add(&ret->argv, "profile");
	/* -k takes parts of names, several words long: another option must follow */
	if (want->kernel_regex && rk_tool_is_plain(want->kernel_regex)) {
		rk_list_add(&ret->argv, "-k");
		rk_list_add(&ret->argv, want->kernel_regex);
	} else if (want->kernel_regex) {
		rk_list_add(&ret->notes,
			    "all kernels are recorded: rocprof-compute filters by parts of "
			    "names, not by regular expressions");
	}
	/* 7.13 replaced --path by a directory with keys; --name is then required but not used */
	rk_list_add(&ret->argv, "-n");
	rk_list_add(&ret->argv, "rockit");
	if (before_7_13) {
		rk_list_add(&ret->argv, "-p");
		rk_list_add(&ret->argv, want->dir);
		if (want->rank_key)
			rk_list_add(&ret->notes, "ranks overwrite each other: start rockit in each "
						 "rank, inside the launcher");
	} else {
		rk_list_add(&ret->argv, "--output-directory");
		rk_tool_put_rank_dir(ret, want);
	}

	ret->delivers = want->traces & RK_TRACE_KERNEL;
	rk_tool_no_traces(ret, want->traces & ~(unsigned)RK_TRACE_KERNEL,
			  "rocprof-compute records only kernels and counters");
	if (rk_tool_wants_counters(want)) {
		ret->counters = true;
		rk_list_add(&ret->notes,
			    "rocprof-compute collects the counters of its own metrics, "
			    "not a list");
	}
	if (want->pc)
		rk_list_add(&ret->notes,
			    "no PC sampling: rockit does not request it from rocprof-compute; use "
			    "--tool rocprofv3");
	supported = !want->arch || !*want->arch ||
		    (rk_tool_arch_is(want, "gfx115") && !before_7_13);
	for (size_t i = 0; i < sizeof(archs) / sizeof(archs[0]); i++)
		supported |= rk_tool_arch_is(want, archs[i]);
	if (!supported)
		rk_list_addf(&ret->notes, "rocprof-compute does not support %s: use rocprofv3",
			     want->arch);
	return rk_tool_finish(ret, want, "--", err);
}

static const char *const programs[] = { "rocprof-compute", "omniperf", NULL };

const struct rk_tool_ops rk_tool_rocprof_compute = {
	.name = "rocprof-compute",
	.programs = programs,
	.renamed = { 6, 3, 0 },
	.one_run = true,
	.repeats = true,
	.command = command,
};
