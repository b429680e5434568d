/*
 * rocprof_v2.c - the command line of rocprofv2.
 *
 * Like the first rocprof a script without `--`. With -o all processes would write one file;
 * without it each file carries the number of its process.
 */
#include "tool/legacy.h"

enum { HAS = RK_TRACE_HIP | RK_TRACE_HSA | RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER };

/* --hip-trace is API and GPU activity, --hip-api the calls alone. Copies are activity. */
static void put_traces(unsigned traces, struct rk_tool_command *c)
{
	bool copies = traces & RK_TRACE_MEMCPY;

	if (traces & RK_TRACE_KERNEL)
		rk_list_add(&c->argv, "--kernel-trace");
	if (copies)
		rk_list_add(&c->argv, "--hip-trace");
	else if (traces & RK_TRACE_HIP)
		rk_list_add(&c->argv, "--hip-api");
	if (traces & RK_TRACE_HSA)
		rk_list_add(&c->argv, "--hsa-api");
	if (traces & RK_TRACE_MARKER)
		rk_list_add(&c->argv, "--roctx-trace");
}

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	int rc = rk_legacy_check("rocprofv2", want, err);

	(void)v;
	if (rc < 0)
		return rc;
	rk_list_add(&ret->argv, path);
	ret->delivers = want->traces & HAS;
	rk_tool_no_traces(ret, want->traces & ~(unsigned)HAS, "rocprofv2 has none");
	put_traces(ret->delivers, ret);
	if (rk_tool_wants_counters(want))
		rk_legacy_counters("rocprofv2", want, ret);
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: rocprofv2 has none that rockit can use");
	if (want->stats)
		rk_list_add(&ret->notes, "no statistics files: rocprofv2 writes none; rockit makes "
					 "its own from the trace");
	if (want->rank_key)
		rk_list_add(&ret->notes,
			    "no folders by rank: rocprofv2 names files by process only");
	rk_list_add(&ret->argv, "--plugin");
	rk_list_add(&ret->argv, "file");
	rk_list_add(&ret->argv, "-d");
	rk_list_add(&ret->argv, want->dir);
	return rk_tool_finish(ret, want, NULL, err);
}

static const char *const programs[] = { "rocprofv2", NULL };

const struct rk_tool_ops rk_tool_rocprofv2 = {
	.name = "rocprofv2",
	.programs = programs,
	.command = command,
};
