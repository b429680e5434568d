/*
 * rocprof_compute.c - the command line of rocprof-compute, once omniperf.
 *
 * It runs the program some twenty times by itself and collects the counters of its own metrics.
 */
#include "tool/tool_impl.h"

/* 7.13 replaced --path by a directory with keys; --name is then not used, but asked for. */
static void put_directory(struct rk_version v, const struct rk_want *want,
			  struct rk_tool_command *c)
{
	rk_list_add(&c->argv, "-n");
	rk_list_add(&c->argv, "rockit");
	if (rk_version_before(v, 7, 13)) {
		rk_list_add(&c->argv, "-p");
		rk_list_add(&c->argv, want->dir);
		if (want->rank_key)
			rk_list_add(&c->notes, "ranks overwrite each other: start rockit in each "
					       "rank, inside the launcher");
		return;
	}
	rk_list_add(&c->argv, "--output-directory");
	rk_tool_put_rank_dir(c, want);
}

/* -k takes parts of names, several words long: another option must follow. */
static void put_filter(const struct rk_want *want, struct rk_tool_command *c)
{
	if (!want->kernel_regex)
		return;
	if (!rk_tool_is_plain(want->kernel_regex)) {
		rk_list_add(&c->notes,
			    "all kernels are recorded: rocprof-compute filters by parts of "
			    "names, not by regular expressions");
		return;
	}
	rk_list_add(&c->argv, "-k");
	rk_list_add(&c->argv, want->kernel_regex);
}

/* Its formulas are for Instinct, and from 7.13 on for the APUs of gfx115x. */
static bool knows(struct rk_version v, const struct rk_want *want)
{
	static const char *const all[] = { "gfx906", "gfx908", "gfx90a", "gfx94", "gfx95" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (rk_tool_arch_is(want, all[i]))
			return true;
	return !want->arch || !*want->arch ||
	       (rk_tool_arch_is(want, "gfx115") && !rk_version_before(v, 7, 13));
}

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	rk_list_add(&ret->argv, path);
	rk_list_add(&ret->argv, "profile");
	put_filter(want, ret);
	put_directory(v, want, ret);
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
	if (!knows(v, want))
		rk_list_addf(&ret->notes, "rocprof-compute does not support %s: use rocprofv3",
			     want->arch);
	return rk_tool_finish(ret, want, "--", err);
}

static const char *const programs[] = { "rocprof-compute", "omniperf", NULL };

const struct rk_tool_ops rk_tool_rocprof_compute = {
	.name = "rocprof-compute",
	.programs = programs,
	.one_run = true,
	.command = command,
};
