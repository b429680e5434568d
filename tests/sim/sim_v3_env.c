/* sim_v3_env.c - one pass of rocprofv3 as the variables its library reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim_v3.h"

#define NEVER RELEASES

/* Trace options; from which release on -r and -s mean them too. */
static const struct trace {
	const char *option, *variable;
	enum release runtime, system;
} traces[] = {
	{ "--hip-runtime-trace", "HIP_RUNTIME_API_TRACE", REL_63, REL_62 },
	{ "--hip-compiler-trace", "HIP_COMPILER_API_TRACE", NEVER, REL_62 },
	{ "--hsa-core-trace", "HSA_CORE_API_TRACE", NEVER, REL_62 },
	{ "--hsa-amd-trace", "HSA_AMD_EXT_API_TRACE", NEVER, REL_62 },
	{ "--hsa-image-trace", "HSA_IMAGE_EXT_API_TRACE", NEVER, REL_62 },
	{ "--hsa-finalizer-trace", "HSA_FINALIZER_EXT_API_TRACE", NEVER, REL_62 },
	{ "--marker-trace", "MARKER_API_TRACE", REL_63, REL_62 },
	{ "--kernel-trace", "KERNEL_TRACE", REL_63, REL_62 },
	{ "--memory-copy-trace", "MEMORY_COPY_TRACE", REL_63, REL_62 },
	{ "--scratch-memory-trace", "SCRATCH_MEMORY_TRACE", REL_63, REL_62 },
	{ "--rccl-trace", "RCCL_API_TRACE", REL_63, REL_63 },
	{ "--memory-allocation-trace", "MEMORY_ALLOCATION_TRACE", REL_64, REL_64 },
	{ "--rocdecode-trace", "ROCDECODE_API_TRACE", REL_64, REL_64 },
	{ "--rocjpeg-trace", "ROCJPEG_API_TRACE", REL_70, REL_70 },
	{ "--rocshmem-trace", "ROCSHMEM_API_TRACE", REL_713, REL_713 },
	{ "--hip-graph-trace", "HIP_GRAPH_TRACE", NEVER, NEVER },
	{ "--kfd-page-migration-trace", "KFD_PAGE_MIGRATION_TRACE", REL_713, REL_713 },
	{ "--kfd-page-mapping-trace", "KFD_PAGE_MAPPING_TRACE", REL_713, REL_713 },
	{ "--kfd-queue-trace", "KFD_QUEUE_TRACE", REL_713, REL_713 },
	{ "--kfd-dropped-events-trace", "KFD_DROPPED_EVENTS_TRACE", REL_713, REL_713 },
};
#define TRACES (sizeof(traces) / sizeof(traces[0]))

/* Before 7.0 an aggregate overwrites its members, so that taking one out has no effect. */
static void imply(struct args *a, const char *member)
{
	struct words on = { 0 };

	if (sim.release >= REL_70 && args_bool(a, member) >= 0)
		return;
	words_add(&on, "1");
	args_set(a, member, &on);
}

static void aggregates(struct args *a)
{
	for (size_t i = 0; i < TRACES; i++) {
		const struct trace *t = &traces[i];

		if ((args_bool(a, "--runtime-trace") == 1 && sim.release >= t->runtime) ||
		    (args_bool(a, "--sys-trace") == 1 && sim.release >= t->system) ||
		    (args_bool(a, "--hsa-trace") == 1 && begins(t->option, "--hsa-")) ||
		    (args_bool(a, "--kfd-trace") == 1 && begins(t->option, "--kfd-")))
			imply(a, t->option);
	}
	if (args_bool(a, "--hip-trace") == 1) {
		imply(a, "--hip-runtime-trace");
		imply(a, "--hip-compiler-trace");
		if (sim.release >= REL_713)
			imply(a, "--hip-graph-trace");
	}
	if (args_bool(a, "--kokkos-trace") == 1) {
		imply(a, "--marker-trace");
		imply(a, "--kernel-rename");
	}
}

static bool any_trace(const struct args *a)
{
	for (size_t i = 0; i < TRACES; i++)
		if (args_bool(a, traces[i].option) == 1)
			return true;
	return false;
}

static void put(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

static void put_path(const char *name, const char *more)
{
	const char *old = getenv(name);

	setenv(name, old && *old ? print_text("%s:%s", old, more) : more, 1);
}

/* Options whose value only has to reach the library. */
static void put_plain(const struct args *a)
{
	static const char *const table[][2] = {
		{ "--output-file", "ROCPROF_OUTPUT_FILE_NAME" },
		{ "--output-config", "ROCPROF_OUTPUT_CONFIG_FILE" },
		{ "--kernel-include-regex", "ROCPROF_KERNEL_FILTER_INCLUDE_REGEX" },
		{ "--kernel-exclude-regex", "ROCPROF_KERNEL_FILTER_EXCLUDE_REGEX" },
		{ "--stats", "ROCPROF_STATS" },
		{ "--summary", "ROCPROF_STATS_SUMMARY" },
		{ "--summary-per-domain", "ROCPROF_STATS_SUMMARY_PER_DOMAIN" },
		{ "--summary-units", "ROCPROF_STATS_SUMMARY_UNITS" },
		{ "--summary-output-file", "ROCPROF_STATS_SUMMARY_OUTPUT" },
		{ "--truncate-kernels", "ROCPROF_TRUNCATE_KERNELS" },
		{ "--kernel-rename", "ROCPROF_KERNEL_RENAME" },
		{ "--group-by-queue", "ROCPROF_GROUP_BY_QUEUE" },
		{ "--agent-index", "ROCPROF_AGENT_INDEX" },
		{ "--selected-regions", "ROCPROF_SELECTED_REGIONS" },
		{ "--pc-sampling-unit", "ROCPROF_PC_SAMPLING_UNIT" },
		{ "--pc-sampling-method", "ROCPROF_PC_SAMPLING_METHOD" },
		{ "--pc-sampling-interval", "ROCPROF_PC_SAMPLING_INTERVAL" },
		{ "--pc-sampling-beta-enabled", "ROCPROFILER_PC_SAMPLING_BETA_ENABLED" },
		{ "--perfetto-buffer-size", "ROCPROF_PERFETTO_BUFFER_SIZE_KB" },
		{ "--perfetto-shmem-size-hint", "ROCPROF_PERFETTO_SHMEM_SIZE_HINT_KB" },
		{ "--perfetto-backend", "ROCPROF_PERFETTO_BACKEND" },
		{ "--log-level", "ROCPROF_LOG_LEVEL" },
		{ "pmc_group_interval", "ROCPROF_COUNTER_GROUPS_INTERVAL" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		put(table[i][1], args_word(a, table[i][0]));
}

static void put_counters(const struct args *a)
{
	const struct words *pmc = args_get(a, "--pmc"), *groups = args_get(a, "pmc_groups");

	if (!pmc && !groups)
		return;
	put("ROCPROF_COUNTER_COLLECTION", "1");
	if (pmc)
		put("ROCPROF_COUNTERS", print_text("pmc: %s", words_join(pmc, " ")));
	if (groups)
		put("ROCPROF_COUNTER_GROUPS", print_text("pmc: %s", words_join(groups, "\npmc: ")));
	if (args_word(a, "--replay-mode") && strcmp(args_word(a, "--replay-mode"), "kernel") == 0)
		put("ROCPROF_KERNEL_REPLAY", "1");
}

static void put_output(const struct pass *pass)
{
	const char *path = args_word(&pass->args, "--output-directory");
	const struct words *formats = args_get(&pass->args, "--output-format");
	const char *old = getenv("ROCPROF_OUTPUT_FORMAT");

	if (!path)
		path = getenv("ROCPROF_OUTPUT_PATH");
	if (!path || !*path)
		path = ".";
	put("ROCPROF_OUTPUT_PATH", pass->folder ? print_text("%s/%s", path, pass->folder) : path);
	if (formats)
		put("ROCPROF_OUTPUT_FORMAT",
		    old && *old ? print_text("%s,%s", old, words_join(formats, ",")) :
				  words_join(formats, ","));
}

static void put_rest(const struct args *a)
{
	const struct words *range = args_get(a, "--kernel-iteration-range");
	const struct words *preload = args_get(a, "--preload");
	const char *least = args_word(a, "--minimum-output-data");
	unsigned long long kb;

	if (args_bool(a, "--mangled-kernels") == 1)
		put("ROCPROF_DEMANGLE_KERNELS", "0");
	if (range)
		put("ROCPROF_KERNEL_FILTER_RANGE", words_join(range, ","));
	if (preload && preload->n && *preload->at[0])
		put_path("LD_PRELOAD", words_join(preload, ":"));
	if (least && read_number(least, &kb))
		put("ROCPROF_MINIMUM_OUTPUT_BYTES", print_text("%llu", kb * 1024));
	put_path("ROCP_TOOL_LIBRARIES",
		 print_text("%s/lib/rocprofiler-sdk/librocprofiler-sdk-tool.so", sim.root));
	put_path("LD_LIBRARY_PATH", print_text("%s/lib", sim.root));
	put("ROCPROFILER_LIBRARY_CTOR", "1");
}

static void check_sampling(const struct args *a)
{
	static const char *const three[] = { "--pc-sampling-unit", "--pc-sampling-method",
					     "--pc-sampling-interval" };
	unsigned given = 0;
	unsigned long long interval = 1;

	for (size_t i = 0; i < 3; i++)
		given += args_word(a, three[i]) != NULL;
	if (!given && args_bool(a, "--pc-sampling-beta-enabled") != 1)
		return;
	if (args_bool(a, "--pc-sampling-beta-enabled") != 1 &&
	    !getenv("ROCPROFILER_PC_SAMPLING_BETA_ENABLED"))
		v3_fatal("PC sampling is not enabled: use --pc-sampling-beta-enabled");
	if (given != 3)
		v3_fatal(
			"All three PC sampling configuration options must be specified: unit, method, interval");
	if (!read_number(args_word(a, three[2]), &interval) || interval == 0)
		v3_fatal("PC sampling interval must be a positive number");
}

static void check_thread_trace(const struct args *a)
{
	const struct words *paths = args_get(a, "--att-library-path");
	struct stat st;

	if (args_bool(a, "--advanced-thread-trace") != 1)
		return;
	for (size_t i = 0; paths && i < paths->n; i++)
		if (stat(print_text("%s/librocprof-trace-decoder.so", paths->at[i]), &st) == 0)
			return;
	if (stat(print_text("%s/lib/librocprof-trace-decoder.so", sim.root), &st) != 0)
		v3_fatal("rocprof-trace-decoder library path not found");
}

/* From 7.0 on. A tree without lib/ is one made by hand: it is not looked into. */
static void check_library(const struct args *a)
{
	const char *root = args_word(a, "--rocm-root") ? args_word(a, "--rocm-root") : sim.root;
	const char *library = print_text("%s/lib/librocprofiler-sdk.so", root);
	struct stat st;

	if (sim.release >= REL_70 && stat(print_text("%s/lib", root), &st) == 0 &&
	    stat(library, &st) != 0)
		v3_fatal("library '%s' is not found", library);
}

static void warn_formats(const struct args *a)
{
	const struct words *formats = args_get(a, "--output-format");
	static const char *const old[] = { "csv", "pftrace", "otf2" };

	for (size_t i = 0; i < 3 && formats && sim.release >= REL_713; i++)
		if (words_have(formats, old[i]))
			fprintf(stderr, "[rocprofv3] Warning: output format %s is deprecated\n",
				old[i]);
}

void v3_environment(const struct pass *pass)
{
	struct args a = pass->args;

	check_library(&a);
	warn_formats(&a);
	aggregates(&a);
	if (!any_trace(&a) &&
	    (args_bool(&a, "--stats") == 1 || args_bool(&a, "--summary") == 1 ||
	     args_bool(&a, "--summary-per-domain") == 1 || args_get(&a, "--summary-groups") ||
	     args_get(&a, "--summary-output-file")))
		v3_fatal("No tracing options were enabled for --stats/--summary option");
	check_sampling(&a);
	check_thread_trace(&a);
	for (size_t i = 0; i < TRACES; i++)
		if (args_bool(&a, traces[i].option) == 1)
			put(print_text("ROCPROF_%s", traces[i].variable), "1");
	put_plain(&a);
	put_counters(&a);
	put_output(&(struct pass){ a, pass->folder });
	put_rest(&a);
}
