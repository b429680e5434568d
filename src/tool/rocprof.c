/*
 * rocprof.c - the command lines of rocprof and rocprofv2, shell scripts without `--`.
 *
 * rocprof: the first word that is not its own begins the program, and one with a dash in front is an
 * error. It does not quote its own paths, so blanks in them cannot work, and it passes the
 * program's words to `eval` between double quotes, so they are escaped for that. results.csv, the only
 * file with launch sizes and registers, comes with --stats, --hsa-trace or -i, never with
 * --hip-trace alone.
 *
 * rocprofv2: with -o all processes would write one file; without it each file carries the number of
 * its process.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "tool/tool_impl.h"

enum { MAX_ARGUMENT = 1 << 20 };

enum { HAS = RK_TRACE_HIP | RK_TRACE_HSA | RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER };

/* RK_E_USAGE for what such a script cannot express at all. */
static int check(const char *tool, const struct rk_want *want, struct rk_error *err)
{
	const char *first = want->app->n ? want->app->v[0] : "";

	if (*first == '-')
		return rk_fail(err, RK_E_USAGE,
			       "%s cannot run a program whose name begins with a dash: '%s'", tool,
			       first);
	if (strpbrk(want->dir, " \t\n*?["))
		return rk_fail(err, RK_E_USAGE,
			       "%s cannot write to '%s': it does not quote blanks and wildcards; "
			       "choose another directory",
			       tool, want->dir);
	if (!strcmp(tool, "rocprof") && strstr(want->dir, ".csv"))
		return rk_fail(err, RK_E_USAGE,
			       "rocprof cannot write to '%s': it cuts names at '.csv'; choose "
			       "another directory",
			       want->dir);
	return 0;
}

/* -i with a file of one `pmc:` line, and a `kernel:` line where the filter is plain text. */
static void put_counters(const char *tool, const struct rk_want *want, struct rk_tool_command *c)
{
	const char *regex = want->kernel_regex;
	char filter[256] = "";

	if (regex && rk_tool_is_plain(regex) && strlen(regex) < 200)
		snprintf(filter, sizeof(filter), "kernel: %s\n", regex);
	else if (regex)
		rk_list_addf(&c->notes,
			     "all kernels are recorded: %s filters by parts of names, not by "
			     "regular expressions",
			     tool);
	rk_tool_counter_file(c, want, filter);
	rk_list_add(&c->argv, "-i");
	rk_list_addf(&c->argv, "%s/counters.txt", want->dir);
	c->counters = true;
}

/* ---- rocprof ---- */

/* An API trace beside counters loses them; the session asks for one at a time anyway. */
static unsigned asked(const struct rk_want *want, struct rk_tool_command *c)
{
	unsigned traces = want->traces & HAS;

	rk_tool_no_traces(c, want->traces & ~(unsigned)HAS, "rocprof has none");
	if (rk_tool_wants_counters(want)) {
		rk_tool_no_traces(c, traces & ~(unsigned)RK_TRACE_KERNEL,
				  "rocprof would lose the counters");
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

static void put_v1_traces(unsigned traces, struct rk_tool_command *c)
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
			    "no launch sizes and registers of kernels: rocprof does not write "
			    "them with a HIP trace");
}

/* -t before -d, which it would undo: the data below -d is then never removed as temporary. */
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
			     "rocprof merges several blanks into one in the argument '%.60s'",
			     word);
}

static int v1_command(const char *path, struct rk_version v, const struct rk_want *want,
		      struct rk_tool_command *ret, struct rk_error *err)
{
	int rc = check("rocprof", want, err);
	unsigned traces;

	(void)v;
	if (rc < 0)
		return rc;
	rk_list_add(&ret->argv, path);
	traces = asked(want, ret);
	ret->delivers = traces;
	if (rk_tool_wants_counters(want))
		put_counters("rocprof", want, ret);
	else
		put_v1_traces(with_carrier(traces), ret);
	put_names(want, ret);
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: rocprof does not support it");
	if (want->rank_key)
		rk_list_add(&ret->notes, "rocprof mixes the rows of several processes in one file: "
					 "start rockit in each rank, inside the launcher");
	if (want->arch && *want->arch && !rk_tool_arch_is(want, "gfx8") &&
	    !rk_tool_arch_is(want, "gfx90") && !rk_tool_arch_is(want, "gfx94"))
		rk_list_addf(&ret->notes, "rocprof does not support %s: use rocprofv3", want->arch);
	rk_list_append(&ret->argv, want->extra);
	for (size_t i = 0; i < want->app->n; i++)
		put_word(want->app->v[i], ret);
	return rk_tool_end(ret, err);
}

static const char *const v1_programs[] = { "rocprof", NULL };

const struct rk_tool_ops rk_tool_rocprof = {
	.name = "rocprof",
	.programs = v1_programs,
	.command = v1_command,
};

/* ---- rocprofv2 ---- */

/* --hip-trace is API and GPU activity, --hip-api the calls alone. Copies are activity. */
static void put_v2_traces(unsigned traces, struct rk_tool_command *c)
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

static int v2_command(const char *path, struct rk_version v, const struct rk_want *want,
		      struct rk_tool_command *ret, struct rk_error *err)
{
	int rc = check("rocprofv2", want, err);

	(void)v;
	if (rc < 0)
		return rc;
	rk_list_add(&ret->argv, path);
	ret->delivers = want->traces & HAS;
	rk_tool_no_traces(ret, want->traces & ~(unsigned)HAS, "rocprofv2 has none");
	put_v2_traces(ret->delivers, ret);
	if (rk_tool_wants_counters(want))
		put_counters("rocprofv2", want, ret);
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: rockit does not support it with "
					 "rocprofv2");
	if (want->stats)
		rk_list_add(&ret->notes, "no statistics files: rocprofv2 writes none; rockit "
					 "computes its own from the trace");
	if (want->rank_key)
		rk_list_add(&ret->notes,
			    "no directory per rank: rocprofv2 names files only by process");
	rk_list_add(&ret->argv, "--plugin");
	rk_list_add(&ret->argv, "file");
	rk_list_add(&ret->argv, "-d");
	rk_list_add(&ret->argv, want->dir);
	return rk_tool_finish(ret, want, NULL, err);
}

static const char *const v2_programs[] = { "rocprofv2", NULL };

const struct rk_tool_ops rk_tool_rocprofv2 = {
	.name = "rocprofv2",
	.programs = v2_programs,
	.command = v2_command,
};
