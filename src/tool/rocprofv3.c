/*
 * rocprofv3.c - the command line of rocprofv3, 6.2 to the newest.
 *
 * Its options changed with every release and an unknown one ends it with status 2, so each option
 * that we use is in a table with its first release. Boolean options are always bare: their optional
 * value would swallow the next word. Options that take several words are followed by another
 * option. All before `--` is for rocprofv3, the rest for the program.
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "tool/tool_impl.h"

/* ---- PC sampling: what a chip and a release support ---- */

enum {
	HOST_TRAP_US = 1000,         /* every wave of the GPU is sampled at each trap */
	STOCHASTIC_CYCLES = 1 << 20, /* half a millisecond; must be a power of two */
	STOCHASTIC_LEAST = 1 << 8,
};

struct pc_choice {
	const char *method, *unit; /* static */
	uint64_t interval;         /* microseconds or cycles */
};

static void stochastic(const struct rk_pc_sampling *pc, struct pc_choice *ret,
		       struct rk_list *notes)
{
	uint64_t cycles = STOCHASTIC_LEAST;

	while (cycles < pc->interval && cycles < UINT64_C(1) << 62)
		cycles <<= 1;
	/* an interval in another unit is useless here */
	if (pc->unit && strcmp(pc->unit, "cycles") != 0) {
		cycles = STOCHASTIC_CYCLES;
		rk_list_addf(notes,
			     "stochastic PC sampling counts cycles, not %s: every %" PRIu64
			     " cycles",
			     pc->unit, cycles);
	} else if (!pc->interval) {
		cycles = STOCHASTIC_CYCLES;
	} else if (cycles != pc->interval) {
		rk_list_addf(notes,
			     "PC sampling interval %" PRIu64 " becomes %" PRIu64
			     ": the hardware needs powers of two",
			     pc->interval, cycles);
	}
	*ret = (struct pc_choice){ "stochastic", "cycles", cycles };
}

/*
 * Decides how to sample on want->arch with release `v`. False when that is not supported: rocprofv3
 * would end the program at its start. `notes` gets what was changed or refused.
 */
static bool choose_pc(struct rk_version v, const struct rk_want *want, struct pc_choice *ret,
		      struct rk_list *notes)
{
	const struct rk_pc_sampling *pc = want->pc;
	bool unknown = !want->arch || !*want->arch;
	bool traps = pc->method && !strcmp(pc->method, "host_trap");
	bool samples = pc->method && !strcmp(pc->method, "stochastic");
	/* MI200 traps; MI300 and later also sample in hardware; other chips do neither */
	bool mi200 = rk_tool_arch_is(want, "gfx90a");
	bool mi300 = rk_tool_arch_is(want, "gfx94") || rk_tool_arch_is(want, "gfx95");

	if (rk_version_before(v, 6, 4)) {
		rk_list_add(notes, "no PC sampling: rocprofv3 supports it since ROCm 6.4");
		return false;
	}
	if (!unknown && !mi200 && !mi300) {
		rk_list_addf(notes,
			     "no PC sampling: %s does not support it (gfx90a, gfx94x and gfx95x "
			     "do)",
			     want->arch);
		return false;
	}
	/* a unit implies the method when none is named */
	if (!pc->method && pc->unit && !strcmp(pc->unit, "time"))
		traps = true;
	if (!traps && rk_version_since(v, 7, 0) && (mi300 || (samples && unknown))) {
		stochastic(pc, ret, notes);
		return true;
	}
	*ret = (struct pc_choice){ "host_trap", "time", HOST_TRAP_US };
	if (samples) {
		rk_list_addf(notes, "PC sampling by host_trap: stochastic needs ROCm 7.0 and "
				    "gfx94x or gfx95x");
	} else if (pc->unit && strcmp(pc->unit, "time") != 0) {
		rk_list_addf(notes,
			     "host_trap PC sampling counts time, not %s: every %" PRIu64 " us",
			     pc->unit, ret->interval);
	} else if (pc->interval) {
		ret->interval = pc->interval;
	}
	return true;
}

/* ---- what may be asked for, and together with what ---- */

/* Options of 'rockit run' by the release that brought what they need. */
static const struct ask {
	unsigned bit;
	const char *option;
	int major, minor;
} asks_known[] = {
	{ RK_ASK_ATTACH, "--attach", 7, 1 }, { RK_ASK_ATT, "--att", 7, 0 },
	{ RK_ASK_SPM, "--spm", 7, 14 },      { RK_ASK_REPLAY, "--replay kernel", 10, 1 },
	{ RK_ASK_DELAY, "--delay", 6, 4 },   { RK_ASK_DURATION, "--duration", 6, 4 },
	{ RK_ASK_RANGE, "--range", 7, 0 },
};

/*
 * What rocprofv3 ends with an error for. With --attach a duration is the attachment's, not a
 * collection period. A thread trace of an attached process needs the SDK after 1.4.1.
 */
static const struct rule {
	unsigned one, others;
	const char *text;
} rules[] = {
	{ RK_ASK_SPM, RK_ASK_COUNTERS,
	  "--spm cannot be combined with counters (-c, -i or the preset's): rocprofv3 either streams "
	  "or counts; use two runs" },
	{ RK_ASK_SPM, RK_ASK_PC, "--spm cannot be combined with PC sampling; use two runs" },
	{ RK_ASK_REPLAY, RK_ASK_ATT,
	  "--replay kernel cannot be combined with --att; use two runs" },
	{ RK_ASK_REPLAY, RK_ASK_SPM, "--replay kernel cannot be combined with --spm" },
	{ RK_ASK_REPLAY, RK_ASK_PC,
	  "--replay kernel cannot be combined with PC sampling; use two runs" },
	{ RK_ASK_REPLAY, RK_ASK_ATTACH,
	  "--replay kernel cannot be combined with --attach: rocprofv3 collects one set of counters "
	  "from a running process" },
	{ RK_ASK_REPLAY, RK_ASK_DELAY | RK_ASK_DURATION,
	  "--replay kernel cannot be combined with --delay or --duration" },
	{ RK_ASK_ATTACH, RK_ASK_DELAY,
	  "--attach cannot be combined with --delay: attach later instead" },
	{ RK_ASK_ATTACH, RK_ASK_ATT,
	  "--attach cannot be combined with --att: rocprofv3 up to ROCm 10.1 cannot trace the "
	  "threads of a running process" },
	{ RK_ASK_ATTACH, RK_ASK_RANGE,
	  "--attach cannot be combined with --range, which needs a library that is loaded at the "
	  "start" },
	{ RK_ASK_RANGE, RK_ASK_DELAY | RK_ASK_DURATION,
	  "--range cannot be combined with --delay or --duration" },
};

static int check(struct rk_version v, unsigned asks, struct rk_error *err)
{
	if (asks & (RK_ASK_WINDOW | RK_ASK_EVERY | RK_ASK_SAMPLE))
		return rk_fail(err, RK_E_USAGE,
			       "rocprofv3 has no --window, --every or --sample; rockit's own "
			       "collectors do (--tool rocm, cupti or opencl)");
	for (size_t i = 0; i < sizeof(asks_known) / sizeof(asks_known[0]); i++) {
		const struct ask *a = &asks_known[i];

		if (asks & a->bit && rk_version_before(v, a->major, a->minor))
			return rk_fail(err, RK_E_USAGE,
				       "%s needs rocprofv3 of ROCm %d.%d or later; this is %d.%d",
				       a->option, a->major, a->minor, v.major, v.minor);
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (asks & rules[i].one && asks & rules[i].others)
			return rk_fail(err, RK_E_USAGE, "%s", rules[i].text);
	if (asks & RK_ASK_REPLAY && !(asks & RK_ASK_COUNTERS))
		return rk_fail(err, RK_E_USAGE,
			       "--replay kernel needs counters: add -c LIST or a preset with "
			       "counters");
	/* host_trap and stochastic sampling of a running process came with the SDK 1.3 */
	if (asks & RK_ASK_ATTACH && asks & RK_ASK_PC && rk_version_before(v, 7, 13))
		return rk_fail(err, RK_E_USAGE,
			       "--attach with PC sampling needs rocprofv3 of ROCm 7.13 or later; "
			       "this is %d.%d",
			       v.major, v.minor);
	return 0;
}

/* ---- the command line ---- */

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
	{ "--kfd-trace", 7, 13 },
	/* all categories; a word after it would be one of them, and an option follows */
	{ "--ompt-trace", 10, 0 },
	{ "--hip-graph-trace", 7, 13 },
	{ "--rocshmem-trace", 7, 13 },
	{ "--hipfile-trace", 10, 0 },
	{ "--rocdecode-trace", 6, 4 },
	{ "--rocjpeg-trace", 7, 0 },
};

/* Whether --tool-args ask for an output format: "--output-format json csv", "-f json". */
static bool asks_for(const struct rk_list *extra, const char *format)
{
	bool listed = false;

	for (size_t i = 0; extra && i < extra->n; i++) {
		const char *word = extra->v[i];

		if (word[0] == '-') {
			listed = !strcmp(word, "-f") || !strncmp(word, "--output-format", 15);
			word += strcspn(word, "=");
			word += *word == '=';
		}
		if (listed && !strcasecmp(word, format))
			return true;
	}
	return false;
}

/*
 * csv on 6.x, which has no rocpd; rocpd from 7.0 on. PC samples are only in csv; with both, the rest
 * still comes from the database, which alone has the sizes of copies.
 */
static void put_formats(struct rk_version v, const struct rk_want *want, struct rk_tool_command *c)
{
	bool has_rocpd = rk_version_since(v, 7, 0);
	/*
	 * Before 7.13 ROCTx messages are put into SQL unquoted: a quote or a semicolon in one makes
	 * the database's writer abort at exit, and everything is lost. CSV has no such problem.
	 */
	bool broken = has_rocpd && rk_version_before(v, 7, 13) && (c->delivers & RK_TRACE_MARKER);
	/* calls of rocJPEG are not in the database, and its tables would hide those of the CSV file */
	bool jpeg = c->delivers & RK_TRACE_ROCJPEG;
	bool rocpd = has_rocpd && !broken && !jpeg, csv = !rocpd || c->pc;
	const char *why = "";

	if (want->stats && csv && c->delivers) /* without a trace --stats is an error */
		rk_list_add(&c->argv, "--stats");
	rk_list_add(&c->argv, "--output-format");
	if (csv)
		rk_list_add(&c->argv, "csv");
	if (rocpd)
		rk_list_add(&c->argv, "rocpd");
	if (broken)
		why = ", and rocpd of this release fails on quotes in markers";
	else if (jpeg)
		why = ", which alone has calls of rocJPEG";
	if (!rocpd && (c->delivers & RK_TRACE_MEMCPY) && !asks_for(want->extra, "json") &&
	    !asks_for(want->extra, "rocpd"))
		rk_list_addf(&c->notes,
			     "no copy sizes: they are not in CSV%s; --tool-args '--output-format "
			     "json' gives them, with far larger files",
			     why);
}

/*
 * One set of files for each process of each rank and host: <rank-N/><host/>pid_*. rocprofv3
 * expands the keys in the process that writes. 6.x creates the folders of -d but not those in -o,
 * and has %hostname% since 6.4.
 */
static void put_names(struct rk_version v, const struct rk_want *want, struct rk_tool_command *c)
{
	const char *key = want->rank_key;
	const char *before = "", *rank = "", *after = "";

	if (key && !strcmp(key, "mpi")) {
		before = "rank-%rank%";
	} else if (key && *key && !key[strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")]) {
		before = "rank-%env{";
		rank = key;
		after = "}%";
	} else if (key) {
		rk_list_addf(&c->notes, "no directory per rank: rocprofv3 cannot expand '%s'", key);
	}
	if (strchr(want->dir, '%') || strstr(want->dir, "$env{") || strchr(want->dir, '{'))
		rk_list_addf(&c->notes,
			     "rocprofv3 may expand a part of '%s' as a key and write elsewhere: "
			     "choose a directory without %% and {",
			     want->dir);
	rk_list_add(&c->argv, "-d");
	if (rk_version_since(v, 7, 0)) {
		rk_list_add(&c->argv, want->dir);
		rk_list_add(&c->argv, "-o");
		rk_list_addf(&c->argv, "%s%s%s%s%%hostname%%/%%pid%%", before, rank, after,
			     *before ? "/" : "");
		return;
	}
	rk_list_addf(&c->argv, "%s%s%s%s%s%s", want->dir, *before ? "/" : "", before, rank, after,
		     rk_version_since(v, 6, 4) ? "/%hostname%" : "");
	rk_list_add(&c->argv, "-o");
	rk_list_add(&c->argv, "%pid%");
}

static void put_traces(struct rk_version v, const struct rk_want *want, struct rk_tool_command *c)
{
	/* what only the database has, all of it newer than the first release with a database */
	const unsigned in_rocpd =
		want->traces & (RK_TRACE_KFD | RK_TRACE_OMPT | RK_TRACE_GRAPH | RK_TRACE_ROCSHMEM);

	for (unsigned i = 0; i < RK_NTRACES; i++) {
		const struct trace_option *o = &trace_options[i];

		if (!(want->traces >> i & 1))
			continue;
		if (1u << i == RK_TRACE_ROCJPEG && in_rocpd && rk_version_since(v, 7, 13)) {
			rk_tool_no_traces(c, RK_TRACE_ROCJPEG,
					  "its calls are only in CSV, and kfd, ompt, graph and "
					  "rocshmem only in rocpd; use two runs");
		} else if (rk_version_since(v, o->major, o->minor)) {
			rk_list_add(&c->argv, o->option);
			c->delivers |= 1u << i;
		} else {
			rk_list_addf(
				&c->notes,
				"no %s trace: rocprofv3 has %s since ROCm %d.%d, this is %d.%d",
				rk_trace_name(i), o->option, o->major, o->minor, v.major, v.minor);
		}
	}
}

/*
 * 6.2 has no --pmc but a file with one line, and writes the results to a folder pmc_1. The sources
 * of 6.3 gained the option in the last weeks before its release. Each --pmc of a kernel replay is
 * one replay; a single one needs no beta.
 */
static void put_counters(struct rk_version v, const struct rk_want *want, struct rk_tool_command *c)
{
	c->counters = rk_tool_wants_counters(want);
	if (!c->counters)
		return;
	if (want->ngroups > 1) {
		rk_list_add(&c->argv, "--kernel-replay-beta-enabled");
		rk_list_add(&c->argv, "--replay-mode");
		rk_list_add(&c->argv, "kernel");
		for (size_t i = 0; i < want->ngroups; i++) {
			rk_list_add(&c->argv, "--pmc");
			rk_list_append(&c->argv, &want->groups[i]);
		}
	} else if (rk_version_since(v, 6, 3)) {
		rk_list_add(&c->argv, "--pmc");
		rk_list_append(&c->argv, want->counters);
	} else {
		rk_tool_counter_file(c, want, "");
		rk_list_add(&c->argv, "-i");
		rk_list_addf(&c->argv, "%s/counters.txt", want->dir);
	}
	/* as one word: it may begin with a dash */
	if (want->kernel_regex && rk_version_since(v, 6, 3))
		rk_list_addf(&c->argv, "--kernel-include-regex=%s", want->kernel_regex);
}

/*
 * When to record. A collection period of 0 s ends as soon as it starts, so a delay without a
 * duration gets a year.
 */
static void put_window(const struct rk_want *want, struct rk_tool_command *c)
{
	enum { YEAR_S = 365 * 24 * 3600 };

	if (want->attach_pid) {
		rk_list_add(&c->argv, "--pid");
		rk_list_addf(&c->argv, "%" PRIu64, want->attach_pid);
		if (want->duration_s) {
			rk_list_add(&c->argv, "--attach-duration-msec");
			rk_list_addf(&c->argv, "%" PRIu64, want->duration_s * 1000);
		}
	} else if (want->delay_s || want->duration_s) {
		rk_list_add(&c->argv, "--collection-period");
		rk_list_addf(&c->argv, "%" PRIu64 ":%" PRIu64 ":1", want->delay_s,
			     want->duration_s ? want->duration_s : YEAR_S);
	}
	if (!want->range)
		return;
	/* the ROCTx of the SDK after ours: the program may have another one, which is not heard */
	rk_list_add(&c->argv, "--selected-regions");
	rk_list_add(&c->argv, "--preload");
	rk_list_add(&c->argv, want->range_library);
	rk_list_add(&c->argv, "librocprofiler-sdk-roctx.so.1");
	rk_list_addf(&c->env, "ROCKIT_RANGE=%s", want->range);
}

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	struct pc_choice pc;

	rk_list_add(&ret->argv, path);
	put_traces(v, want, ret);
	if (want->pc && choose_pc(v, want, &pc, &ret->notes)) {
		ret->pc = true;
		rk_list_add(&ret->argv, "--pc-sampling-beta-enabled");
		rk_list_add(&ret->argv, "--pc-sampling-method");
		rk_list_add(&ret->argv, pc.method);
		rk_list_add(&ret->argv, "--pc-sampling-unit");
		rk_list_add(&ret->argv, pc.unit);
		rk_list_add(&ret->argv, "--pc-sampling-interval");
		rk_list_addf(&ret->argv, "%" PRIu64, pc.interval);
	}
	put_counters(v, want, ret);
	if (want->spm && want->spm->n) {
		rk_list_add(&ret->argv, "--spm-beta-enabled");
		rk_list_add(&ret->argv, "--spm");
		rk_list_append(&ret->argv, want->spm);
	}
	if (want->thread_trace) {
		rk_list_add(&ret->argv, "--att");
		if (want->kernel_regex)
			rk_list_addf(&ret->argv, "--kernel-include-regex=%s", want->kernel_regex);
	}
	if (want->kernel_regex && rk_version_before(v, 6, 3))
		rk_list_addf(&ret->notes,
			     "all kernels are recorded: rocprofv3 has --kernel-include-regex "
			     "since ROCm 6.3, this is %d.%d",
			     v.major, v.minor);
	else if (want->kernel_regex && (ret->delivers & RK_TRACE_KERNEL) && !want->thread_trace)
		rk_list_add(&ret->notes, "rocprofv3 filters kernels only for counters: the trace "
					 "has all kernels");
	put_window(want, ret);
	put_formats(v, want, ret);
	put_names(v, want, ret);
	/*
	 * Without this variable it spools records to .rocprofv3 in the working directory, whatever
	 * -d says, leaves files there, and hangs where that cannot be written.
	 */
	ret->spool = rk_strf("%s/.spool", want->dir);
	if (ret->spool)
		rk_list_set(&ret->env, "ROCPROF_TMPDIR", ret->spool);
	else
		ret->env.bad = true;
	return rk_tool_finish(ret, want, want->attach_pid ? NULL : "--", err);
}

static const char *const programs[] = { "rocprofv3", NULL };

const struct rk_tool_ops rk_tool_rocprofv3 = {
	.name = "rocprofv3",
	.programs = programs,
	.check = check,
	.command = command,
};
