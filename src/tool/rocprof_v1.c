/*
 * rocprof_v1.c - the command line of rocprof, the first of its kind.
 *
 * A shell script. It knows no `--`: the first word that is not its own begins the program, and one
 * with a dash in front is an error. It does not quote its own paths, so blanks in them cannot
 * work, and it hands the program's words to `eval` between double quotes, so what means something
 * there is escaped here. results.csv, the only place with launch sizes and registers, comes with
 * --stats, --hsa-trace or -i, never with --hip-trace alone.
 */
#include <string.h>

#include "base/bytes.h"
#include "tool/legacy.h"

enum { MAX_ARGUMENT = 1 << 20 };

enum { HAS = RK_TRACE_HIP | RK_TRACE_HSA | RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER };

/* An API trace beside counters loses them; the session asks for one at a time anyway. */
static unsigned asked(const struct rk_want *want, struct rk_tool_command *c)
{
	unsigned traces = want->traces & HAS;

	rk_tool_no_traces(c, want->traces & ~(unsigned)HAS, "rocprof has none");
	if (rk_tool_wants_counters(want)) {
		rk_tool_no_traces(c, traces & ~(unsigned)RK_TRACE_KERNEL,
				  "rocprof loses the counters beside it");
		traces &= RK_TRACE_KERNEL;
	}
	return traces;
}

/*
 * Copies, and kernels as soon as anything but them is traced, come from the tracing library and
 * need one of its two API traces. That of HIP is far cheaper.
 */
static unsigned with_carrier(unsigned traces)
{
	const unsigned apis = RK_TRACE_HIP | RK_TRACE_HSA;

	if (traces & apis || !(traces & (RK_TRACE_MEMCPY | RK_TRACE_MARKER)))
		return traces;
	if (traces & (RK_TRACE_MEMCPY | RK_TRACE_KERNEL))
		traces |= RK_TRACE_HIP;
	return traces;
}

static void put_traces(unsigned traces, struct rk_tool_command *c)
{
	if (traces & RK_TRACE_KERNEL)
		rk_list_add(&c->argv, "--stats");
	if (traces & RK_TRACE_HIP)
		rk_list_add(&c->argv, "--hip-trace");
	if (traces & RK_TRACE_HSA)
		rk_list_add(&c->argv, "--hsa-trace");
	if (traces & RK_TRACE_MARKER)
		rk_list_add(&c->argv, "--roctx-trace");
	if ((traces & RK_TRACE_KERNEL) && (traces & (RK_TRACE_HIP | RK_TRACE_MARKER)) &&
	    !(traces & RK_TRACE_HSA))
		rk_list_add(&c->notes,
			    "no launch sizes and registers of kernels: beside a HIP trace "
			    "rocprof leaves them out");
}

/* -t before -d, which it would undo: the data below -d is then never taken for temporary. */
static void put_names(const struct rk_want *want, struct rk_tool_command *c)
{
	rk_list_add(&c->argv, "--timestamp");
	rk_list_add(&c->argv, "on");
	rk_list_add(&c->argv, "--basenames");
	rk_list_add(&c->argv, "off");
	rk_list_add(&c->argv, "-t");
	rk_list_addf(&c->argv, "%s/tmp", want->dir);
	rk_list_add(&c->argv, "-d");
	rk_list_add(&c->argv, want->dir);
	rk_list_add(&c->argv, "-o");
	rk_list_addf(&c->argv, "%s/results.csv", want->dir);
}

static void put_word(const char *word, struct rk_tool_command *c)
{
	struct rk_bytes b;

	rk_bytes_init(&b, MAX_ARGUMENT);
	for (const char *p = word; *p; p++) {
		if (strchr("\"$`\\", *p))
			rk_bytes_put_u8(&b, '\\');
		rk_bytes_put_u8(&b, (uint8_t)*p);
	}
	if (rk_bytes_str(&b))
		rk_list_add(&c->argv, rk_bytes_str(&b));
	else
		c->argv.bad = true;
	rk_bytes_release(&b);
	if (strpbrk(word, "\t\n") || strstr(word, "  "))
		rk_list_addf(&c->notes,
			     "rocprof makes one blank of several in the argument '%.60s'", word);
}

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	int rc = rk_legacy_check("rocprof", want, err);
	unsigned traces;

	(void)v;
	if (rc < 0)
		return rc;
	rk_list_add(&ret->argv, path);
	traces = asked(want, ret);
	ret->delivers = traces;
	if (rk_tool_wants_counters(want))
		rk_legacy_counters("rocprof", want, ret);
	else
		put_traces(with_carrier(traces), ret);
	put_names(want, ret);
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: rocprof has none");
	if (want->rank_key)
		rk_list_add(&ret->notes, "rocprof mixes the rows of several processes in one file: "
					 "start rockit in each rank, inside the launcher");
	if (want->arch && *want->arch && !rk_tool_arch_is(want, "gfx8") &&
	    !rk_tool_arch_is(want, "gfx90") && !rk_tool_arch_is(want, "gfx94"))
		rk_list_addf(&ret->notes, "rocprof does not know %s: use rocprofv3", want->arch);
	rk_list_append(&ret->argv, want->extra);
	for (size_t i = 0; i < want->app->n; i++)
		put_word(want->app->v[i], ret);
	return rk_tool_end(ret, err);
}

static const char *const programs[] = { "rocprof", NULL };

const struct rk_tool_ops rk_tool_rocprof = {
	.name = "rocprof",
	.programs = programs,
	.command = command,
};
