/*
 * rocprofv3.c - the command line of rocprofv3, 6.2 to the newest.
 *
 * Its options changed with every release and an unknown one ends it with status 2, so each option
 * that we use stands in a table with its first release. Boolean options are always bare: their
 * optional value would swallow the next word. Options that take several words are followed by
 * another option. All before `--` is rocprofv3's, the rest the program's.
 */
#include <inttypes.h>
#include <string.h>

#include "tool/pc_sampling.h"
#include "tool/tool_impl.h"

/* In the order of the RK_TRACE_ bits. */
static const struct trace_option {
	const char *option;
	int major, minor; /* first release that has it */
} trace_options[RK_NTRACES] = {
	{ "--hip-trace", 6, 2 },
	{ "--hsa-trace", 6, 2 },
	{ "--kernel-trace", 6, 2 },
	{ "--memory-copy-trace", 6, 2 },
	{ "--marker-trace", 6, 2 },
	{ "--rccl-trace", 6, 3 },
	{ "--scratch-memory-trace", 6, 2 },
	/* the change log says 6.3; the sources of that time lack it */
	{ "--memory-allocation-trace", 6, 4 },
};

static void put_traces(struct rk_version v, const struct rk_want *want, struct rk_tool_command *c)
{
	for (unsigned i = 0; i < RK_NTRACES; i++) {
		const struct trace_option *o = &trace_options[i];

		if (!(want->traces >> i & 1))
			continue;
		if (rk_version_since(v, o->major, o->minor)) {
			rk_list_add(&c->argv, o->option);
			c->delivers |= 1u << i;
		} else {
			rk_list_addf(
				&c->notes,
				"no %s trace: rocprofv3 has %s from ROCm %d.%d on, this is %d.%d",
				rk_trace_name(i), o->option, o->major, o->minor, v.major, v.minor);
		}
	}
}

/*
 * Releases before 7.13 put ROCTx messages into SQL as they are: a quote or a semicolon in one
 * makes the database's writer abort at exit, and everything is lost. CSV survives any message.
 */
static bool markers_break_rocpd(struct rk_version v, unsigned given)
{
	return (given & RK_TRACE_MARKER) && rk_version_before(v, 7, 13);
}

/*
 * csv on 6.x, which knows no rocpd; rocpd from 7.0 on. PC samples stand in csv only; with both,
 * the rest still comes from the database, which alone has the sizes of copies.
 */
static void put_formats(struct rk_version v, const struct rk_want *want, struct rk_tool_command *c)
{
	bool broken = rk_version_since(v, 7, 0) && markers_break_rocpd(v, c->delivers);
	bool rocpd = rk_version_since(v, 7, 0) && !broken, csv = !rocpd || c->pc;

	if (want->stats && csv && c->delivers) /* without a trace --stats is an error */
		rk_list_add(&c->argv, "--stats");
	else if (want->stats && c->delivers)
		rk_list_add(&c->notes, "no statistics files: rocprofv3 writes them with csv only; "
				       "rockit makes its own from the trace");
	rk_list_add(&c->argv, "--output-format");
	if (csv)
		rk_list_add(&c->argv, "csv");
	if (rocpd)
		rk_list_add(&c->argv, "rocpd");
	if (!rocpd && (c->delivers & RK_TRACE_MEMCPY))
		rk_list_addf(&c->notes,
			     "no sizes of copies: csv has none%s; --tool-args '--output-format "
			     "json' gives them, with far larger files",
			     broken ? ", and rocpd of this release breaks at quotes in markers" :
				      "");
}

/*
 * 6.2 has no --pmc: a file with one line is its way, only that the results then stand in a folder
 * pmc_1. The sources of 6.3 gained the option in the last weeks before its release.
 */
static void put_counters(struct rk_version v, const struct rk_want *want, struct rk_tool_command *c)
{
	if (!rk_tool_wants_counters(want))
		return;
	c->counters = true;
	if (rk_version_since(v, 6, 3)) {
		rk_list_add(&c->argv, "--pmc");
		rk_list_append(&c->argv, want->counters);
		return;
	}
	rk_tool_counter_file(c, want, "");
	rk_list_add(&c->argv, "-i");
	rk_list_addf(&c->argv, "%s/counters.txt", want->dir);
}

static void put_pc_sampling(struct rk_version v, const struct rk_want *want,
			    struct rk_tool_command *c)
{
	struct rk_pc_choice pc;

	if (!want->pc || !rk_pc_choose(v, want, &pc, &c->notes))
		return;
	c->pc = true;
	rk_list_add(&c->argv, "--pc-sampling-beta-enabled");
	rk_list_add(&c->argv, "--pc-sampling-method");
	rk_list_add(&c->argv, pc.method);
	rk_list_add(&c->argv, "--pc-sampling-unit");
	rk_list_add(&c->argv, pc.unit);
	rk_list_add(&c->argv, "--pc-sampling-interval");
	rk_list_addf(&c->argv, "%" PRIu64, pc.interval);
}

/* As one word: an expression may begin with a dash. */
static void put_regex(const struct rk_want *want, struct rk_tool_command *c)
{
	if (!want->kernel_regex)
		return;
	if (c->counters)
		rk_list_addf(&c->argv, "--kernel-include-regex=%s", want->kernel_regex);
	if (c->delivers & RK_TRACE_KERNEL)
		rk_list_add(&c->notes, "rocprofv3 filters kernels for counters only: the trace has "
				       "all kernels");
}

/* The expansion takes capitals, digits and underscores. */
static bool good_variable(const char *name)
{
	return *name && !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

/*
 * One set of files for each process of each rank and host: <rank-N/><host/>pid_*. rocprofv3
 * expands the keys in the process that writes. 6.x makes the folders of -d but not those in -o,
 * and knew %hostname% from 6.4 on.
 */
static void put_names(struct rk_version v, const struct rk_want *want, struct rk_tool_command *c)
{
	const char *key = want->rank_key, *host = rk_version_since(v, 6, 4) ? "%hostname%" : "";
	const char *before = "", *rank = "", *after = "";

	if (key && !strcmp(key, "mpi")) {
		before = "rank-%rank%";
	} else if (key && good_variable(key)) {
		before = "rank-%env{";
		rank = key;
		after = "}%";
	} else if (key) {
		rk_list_addf(&c->notes, "no folders by rank: rocprofv3 cannot expand '%s'", key);
	}
	if (strchr(want->dir, '%') || strstr(want->dir, "$env{") || strchr(want->dir, '{'))
		rk_list_addf(&c->notes,
			     "rocprofv3 may take a part of '%s' for a key and write "
			     "elsewhere: choose a directory without %% and {",
			     want->dir);
	rk_list_add(&c->argv, "-d");
	if (rk_version_since(v, 7, 0)) {
		rk_list_add(&c->argv, want->dir);
		rk_list_add(&c->argv, "-o");
		rk_list_addf(&c->argv, "%s%s%s%s%%hostname%%/%%pid%%", before, rank, after,
			     *before ? "/" : "");
		return;
	}
	rk_list_addf(&c->argv, "%s%s%s%s%s%s%s", want->dir, *before ? "/" : "", before, rank, after,
		     *host ? "/" : "", host);
	rk_list_add(&c->argv, "-o");
	rk_list_add(&c->argv, "%pid%");
}

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	rk_list_add(&ret->argv, path);
	put_traces(v, want, ret);
	put_pc_sampling(v, want, ret);
	put_counters(v, want, ret);
	put_regex(want, ret);
	put_formats(v, want, ret);
	put_names(v, want, ret);
	return rk_tool_finish(ret, want, "--", err);
}

static const char *const programs[] = { "rocprofv3", NULL };

const struct rk_tool_ops rk_tool_rocprofv3 = {
	.name = "rocprofv3",
	.programs = programs,
	.command = command,
};
