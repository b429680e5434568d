/*
 * rocprof.c - the command lines of rocprof and rocprofv2, shell scripts without `--`.
 *
 * rocprof: the program begins with the first word that is not an option; an unknown option is an
 * error. It does not quote its own paths, so they must not contain blanks, and it passes the
 * program's words to `eval` in double quotes, so they are escaped for that. results.csv, the only
 * file with launch sizes and registers, is written with --stats, --hsa-trace or -i, never with
 * --hip-trace alone.
 *
 * rocprofv2: with -o all processes would write to one file; without it each file name has the
 * process number.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "tool/tool_impl.h"

enum { MAX_ARGUMENT = 1 << 20 };

enum { HAS = RK_TRACE_HIP | RK_TRACE_HSA | RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER };

/* RK_E_USAGE for requests that such a script cannot express. */
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

/* -i with a file of one `pmc:` line, and a `kernel:` line if the filter is plain text. */
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

static void put_v1_traces(unsigned traces, struct rk_tool_command *c)
{
	const unsigned apis = RK_TRACE_HIP | RK_TRACE_HSA;

	/*
	 * Copies, and kernels if anything else is traced, come from the tracing library and need
	 * one of its two API traces. That of HIP is far cheaper.
	 */
	if (!(traces & apis) && (traces & (RK_TRACE_MEMCPY | RK_TRACE_MARKER)) &&
	    (traces & (RK_TRACE_MEMCPY | RK_TRACE_KERNEL)))
		traces |= RK_TRACE_HIP;
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

	(void)v;
	if (rc < 0)
		return rc;
	rk_list_add(&ret->argv, path);
	ret->delivers = want->traces & HAS;
	rk_tool_no_traces(ret, want->traces & ~(unsigned)HAS, "not supported by rocprof");
	if (rk_tool_wants_counters(want)) {
		rk_tool_no_traces(ret, ret->delivers & ~(unsigned)RK_TRACE_KERNEL,
				  "rocprof would lose the counters");
		ret->delivers &= RK_TRACE_KERNEL;
		put_counters("rocprof", want, ret);
	} else {
		put_v1_traces(ret->delivers, ret);
	}
	rk_list_add(&ret->argv, "--timestamp");
	rk_list_add(&ret->argv, "on");
	rk_list_add(&ret->argv, "--basenames");
	rk_list_add(&ret->argv, "off");
	/* -t before -d, which it would undo: data below -d is then never removed as temporary */
	rk_list_add(&ret->argv, "-t");
	rk_list_addf(&ret->argv, "%s/tmp", want->dir);
	rk_list_add(&ret->argv, "-d");
	rk_list_add(&ret->argv, want->dir);
	rk_list_add(&ret->argv, "-o");
	rk_list_addf(&ret->argv, "%s/results.csv", want->dir);
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

static int v2_command(const char *path, struct rk_version v, const struct rk_want *want,
		      struct rk_tool_command *ret, struct rk_error *err)
{
	int rc = check("rocprofv2", want, err);

	(void)v;
	if (rc < 0)
		return rc;
	rk_list_add(&ret->argv, path);
	ret->delivers = want->traces & HAS;
	rk_tool_no_traces(ret, want->traces & ~(unsigned)HAS, "not supported by rocprofv2");
	if (ret->delivers & RK_TRACE_KERNEL)
		rk_list_add(&ret->argv, "--kernel-trace");
	/* --hip-trace is calls and GPU activity, which includes copies; --hip-api is calls alone */
	if (ret->delivers & RK_TRACE_MEMCPY)
		rk_list_add(&ret->argv, "--hip-trace");
	else if (ret->delivers & RK_TRACE_HIP)
		rk_list_add(&ret->argv, "--hip-api");
	if (ret->delivers & RK_TRACE_HSA)
		rk_list_add(&ret->argv, "--hsa-api");
	if (ret->delivers & RK_TRACE_MARKER)
		rk_list_add(&ret->argv, "--roctx-trace");
	if (rk_tool_wants_counters(want))
		put_counters("rocprofv2", want, ret);
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: rockit does not support it with "
					 "rocprofv2");
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
