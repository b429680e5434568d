/* preset_context.c - madengine's contexts: what is honoured, what is named as ignored. */
#include <string.h>

#include "base/alloc.h"
#include "preset_world.h"
#include "tap.h"

enum { RUNTIME = RK_TRACE_SYS & ~RK_TRACE_HSA };

/* A text with this in it. */
static bool mentions(const char *const *list, const char *part)
{
	for (; *list; list++)
		if (strstr(*list, part))
			return true;
	return false;
}

static struct rk_preset *context(const struct rk_preset *base, const char *text)
{
	struct rk_preset *p = NULL;
	struct rk_error err = { 0 };

	CHECK(rk_preset_from_context(base, text, strlen(text), "context.json", &p, &err) == 0);
	CHECK_STR(err.message, "");
	return p;
}

TEST(a_tool_of_a_context_is_the_preset_of_its_name)
{
	struct rk_preset *p = context(NULL, "{\"gpu_vendor\": \"AMD\", \"guest_os\": \"UBUNTU\","
					    "\"tools\": [{\"name\": \"rocprofv3_compute\"}]}");

	CHECK_STR(p->name, "context");
	CHECK_STR(p->source, "context.json");
	CHECK_U64(traces_of(p), RK_TRACE_HIP | RK_TRACE_KERNEL);
	CHECK_STR(p->counters, "compute_bound");
	CHECK(has(p->ignored, "guest_os") && count(p->ignored) == 1);
	CHECK(!p->notes[0]);
	rk_preset_free(p);
}

TEST(monitors_and_libraries_of_a_context_are_ours)
{
	struct rk_preset *p = context(
		NULL,
		"{\"tools\": [{\"name\": \"rocprofv3_full\","
		" \"env_vars\": {\"RCCL_DEBUG\": \"INFO\", \"HSA_ENABLE_SDMA\": \"0\"}},"
		"{\"name\": \"gpu_info_power_profiler\", \"env_vars\": {\"POWER_DEVICE\": \"all\","
		" \"POWER_SAMPLING_RATE\": \"0.5\", \"POWER_DUAL_GCD\": \"false\"}},"
		"{\"name\": \"gpu_info_vram_profiler\", \"env_vars\":"
		" {\"VRAM_DEVICE\": \"0,1\", \"VRAM_SAMPLING_RATE\": 0.1}},"
		"{\"name\": \"miopen_trace\", \"env_vars\": {\"MIOPEN_TRACE\": \"1\"}},"
		"{\"name\": \"rocblas_trace\"}]}");

	CHECK(p->stats);
	CHECK_U64(traces_of(p), RK_TRACE_SYS);
	CHECK(has(p->monitors, "power") && has(p->monitors, "vram"));
	CHECK_U64(p->monitor_interval_ms, 100);
	CHECK(has(p->libraries, "miopen") && has(p->libraries, "rocblas"));
	CHECK(has(p->env, "HSA_ENABLE_SDMA=0") && has(p->env, "RCCL_DEBUG=INFO"));
	CHECK(has(p->libraries, "rccl") && !mentions(p->env, "NCCL_DEBUG"));
	CHECK(!mentions(p->env, "POWER_") && !mentions(p->env, "MIOPEN_TRACE"));
	CHECK(has(p->ignored, "env_vars.POWER_DUAL_GCD"));
	CHECK(mentions(p->notes, "VRAM_DEVICE '0,1'"));
	rk_preset_free(p);
}

TEST(a_cmd_is_taken_apart_into_what_it_asks_for)
{
	struct rk_preset *p = context(
		NULL, "{\"tools\": [{\"name\": \"rocprof\", \"cmd\": \"bash "
		      "../scripts/common/tools/rocprof_wrapper.sh --hip-trace --kernel-trace "
		      "--memory-copy-trace --output-format pftrace -d ./my_traces --\","
		      "\"env_vars\": {\"RCCL_DEBUG\": \"TRACE\", \"HSA_ENABLE_SDMA\": \"0\"}}]}");

	CHECK_U64(traces_of(p), RK_TRACE_HIP | RK_TRACE_KERNEL | RK_TRACE_MEMCPY);
	CHECK(has(p->env, "RCCL_DEBUG=TRACE") && has(p->env, "NCCL_DEBUG=TRACE"));
	CHECK(mentions(p->notes, "'-d ./my_traces'") && mentions(p->notes, "output format"));
	CHECK(!p->tool_args[0]);
	rk_preset_free(p);
}

TEST(options_of_a_cmd_that_have_no_word_here_go_to_the_profiler)
{
	struct rk_preset *p = context(
		NULL, "{\"tools\": [{\"name\": \"rocprofv3\", \"cmd\": \"/opt/rocm/bin/rocprofv3 "
		      "--runtime-trace --stats --hsa-trace=no --marker-trace off "
		      "--kernel-include-regex 'a|b' --log-level info "
		      "--pmc SQ_WAVES SQ_INSTS_VALU -i mine.txt --input=b.yaml\"}]}");

	CHECK_U64(traces_of(p), (unsigned)RUNTIME);
	CHECK(p->stats);
	CHECK_STR(p->counters, "SQ_WAVES,SQ_INSTS_VALU,mine.txt,b.yaml");
	CHECK_U64(count(p->tool_args), 4);
	CHECK_STR(p->tool_args[1], "a|b");
	CHECK_STR(p->tool_args[3], "info");
	rk_preset_free(p);
}

TEST(traces_of_newer_releases_in_a_cmd_are_ours)
{
	struct rk_preset *p = context(
		NULL, "{\"tools\": [{\"name\": \"rocprofv3\", \"cmd\": \"rocprofv3 --kfd-trace "
		      "--hip-graph-trace --rocshmem-trace --hipfile-trace --rocdecode-trace "
		      "--rocjpeg-trace\"}]}");

	CHECK_U64(traces_of(p), RK_TRACE_KFD | RK_TRACE_GRAPH | RK_TRACE_ROCSHMEM |
					RK_TRACE_HIPFILE | RK_TRACE_ROCDECODE | RK_TRACE_ROCJPEG);
	CHECK(!p->tool_args[0]);
	rk_preset_free(p);
}

TEST(the_counter_files_of_madengine_are_the_sets_of_that_name)
{
	struct rk_preset *p = context(
		NULL, "{\"tools\": [{\"name\": \"rocprof\", \"cmd\": \"bash rocprof_wrapper.sh "
		      "-i ../scripts/common/tools/counters/memory_bound.txt --\"}]}");

	CHECK_STR(p->counters, "memory_bound");
	rk_preset_free(p);
	p = context(NULL, "{\"tools\": [{\"name\": \"rocprofv3_agent_counter\"}]}");
	CHECK_STR(p->counters, "SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_VMEM_RD,SQ_INSTS_VMEM_WR,"
			       "SQ_WAIT_INST_ANY");
	CHECK(p->stats);
	rk_preset_free(p);
}

TEST(pc_sampling_that_no_gpu_has_is_mended)
{
	struct rk_preset *p = context(
		NULL, "{\"tools\": [{\"name\": \"rocprof\", \"cmd\": \"rocprofv3 --kernel-trace "
		      "--pc-sampling-beta-enabled --pc-sampling-unit time --pc-sampling-method "
		      "stochastic --pc-sampling-interval 1000 --\"}]}");

	CHECK_STR(p->pc_method, "auto");
	CHECK_U64(p->pc_interval, 0);
	CHECK(mentions(p->notes, "stochastic PC sampling by time"));
	rk_preset_free(p);
	p = context(NULL, "{\"tools\": [{\"name\": \"rocprof\", \"cmd\": \"rocprofv3 "
			  "--pc-sampling-unit time --pc-sampling-method host_trap "
			  "--pc-sampling-interval 500\"}]}");
	CHECK_STR(p->pc_method, "host_trap");
	CHECK_STR(p->pc_unit, "time");
	CHECK_U64(p->pc_interval, 500);
	rk_preset_free(p);
}

TEST(a_context_overrides_a_preset)
{
	struct rk_preset *base = NULL, *p;
	struct rk_error err = { 0 };

	CHECK(rk_preset_load("memory", &base, &err) == 0);
	p = context(base, "{\"tools\": [{\"name\": \"gpu_info_power_profiler\"}],"
			  "\"env_vars\": {\"OMP_NUM_THREADS\": 8, \"NCCL_IB_DISABLE\": \"0\"}}");
	CHECK_STR(p->name, "memory");
	CHECK_STR(p->counters, "memory_bound");
	CHECK(has(p->monitors, "power"));
	CHECK(has(p->env, "OMP_NUM_THREADS=8") && has(p->env, "NCCL_IB_DISABLE=0"));
	rk_preset_free(p);
	rk_preset_free(base);
}

TEST(launcher_and_cluster_of_a_context_are_kept)
{
	struct rk_preset *p = context(
		NULL, "{\"slurm\": {\"partition\": \"amd-rccl\", \"nodes\": 2, \"exclusive\": true,"
		      " \"setup\": [\"x\"]}, \"distributed\": {\"launcher\": \"torchrun\","
		      " \"nnodes\": 2, \"nproc_per_node\": 4, \"rdzv\": {}}, \"debug\": false,"
		      " \"docker_gpus\": \"all\", \"k8s\": {}}");

	CHECK_STR(p->launcher, "torchrun");
	CHECK_U64(p->nnodes, 2);
	CHECK_U64(p->nproc_per_node, 4);
	CHECK(has(p->slurm, "partition=amd-rccl") && has(p->slurm, "nodes=2"));
	CHECK(has(p->slurm, "exclusive=true"));
	CHECK(has(p->ignored, "slurm.setup") && has(p->ignored, "distributed.rdzv"));
	CHECK(has(p->ignored, "docker_gpus") && has(p->ignored, "k8s") && has(p->ignored, "debug"));
	rk_preset_free(p);
}

TEST(tools_that_are_not_ours_are_named_as_ignored)
{
	struct rk_preset *p = context(
		NULL, "{\"tools\": [{\"name\": \"rpd\"}, {\"name\": \"rocm_trace_lite\"},"
		      " {\"name\": \"test_tools_A\", \"cmd\": \"echo cmd_A && \"},"
		      " {\"name\": \"rocprof_hip_only\", \"pre_scripts\": [{\"path\": \"x.sh\"}]}],"
		      " \"tool\": []}");

	CHECK_U64(traces_of(p), RK_TRACE_HIP);
	CHECK(mentions(p->ignored, "tools[0] rpd: "));
	CHECK(mentions(p->ignored, "tools[1] rocm_trace_lite: "));
	CHECK(mentions(p->ignored, "tools[2] test_tools_A: "));
	CHECK(has(p->ignored, "tools[3].pre_scripts"));
	CHECK(mentions(p->notes, "unknown key 'tool'; did you mean 'tools'?"));
	rk_preset_free(p);
}

#define CMD(text) "{\"tools\": [{\"name\": \"rocprof\",\n\"cmd\": \"" text "\"}]}"
#define NOT_RUN "'cmd' is only read, not executed, and "
#define ALONE "; give only options of the profiler"

static const struct bad {
	const char *text;
	int code;
	uint64_t line;
	const char *message;
} bad[] = {
	{ "[]", RK_E_FORMAT, 1, "a context must be an object: {\"tools\": [...]}" },
	{ "{'tools': []}", RK_E_FORMAT, 1,
	  "invalid JSON in the context: use \"...\" for names and texts, not '...'" },
	{ "{\n 'tools': []}", RK_E_FORMAT, 2,
	  "invalid JSON in the context: use \"...\" for names and texts, not '...'" },
	{ "{\"tools\": {}}", RK_E_FORMAT, 1,
	  "'tools' must be a list: [{\"name\": \"rocprofv3_compute\"}]" },
	{ "{\"tools\": [\n\"rocprof\"]}", RK_E_FORMAT, 2,
	  "tools[0] must be an object with a name: {\"name\": \"rocprofv3_compute\"}" },
	{ "{\"tools\": [{\"name\": \"rocprofv3_comput\"}]}", RK_E_USAGE, 1,
	  "unknown tool 'rocprofv3_comput'; did you mean 'rocprofv3_compute'?" },
	{ "{\"tools\": [{\"name\": \"strace\"}]}", RK_E_USAGE, 1,
	  "unknown tool 'strace'; use rocprofv3_ and the name of a preset" },
	{ "{\"tools\": [{\"name\": \"rocprof\", \"env_vars\": []}]}", RK_E_FORMAT, 1,
	  "'env_vars' must be an object" },
	{ "{\"tools\": [{\"name\": \"rocprof\", \"cmd\": 1}]}", RK_E_FORMAT, 1,
	  "'cmd' must be a text" },
	{ "{\"env_vars\": {\"A-B\": 1}}", RK_E_FORMAT, 1, "invalid name 'A-B' of a variable" },
	{ "{\"slurm\": 1}", RK_E_FORMAT, 1, "'slurm' must be an object" },
	{ "{\"distributed\": {\"nproc_per_node\": -1}}", RK_E_FORMAT, 1,
	  "'nproc_per_node' must be a number of at least 1" },
	{ "{\"tools\": [{\"name\": \"gpu_info_power_profiler\","
	  " \"env_vars\": {\"POWER_SAMPLING_RATE\": \"fast\"}}]}",
	  RK_E_FORMAT, 1,
	  "'POWER_SAMPLING_RATE' must be seconds between samples, from 0.001 to 3600" },
	{ CMD("rm -rf /"), RK_E_USAGE, 2, NOT_RUN "it would start 'rm'" ALONE },
	{ CMD("rocprofv3 --sys-trace && rm x"), RK_E_USAGE, 2,
	  NOT_RUN "it needs a shell for '&'" ALONE },
	{ CMD("rocprofv3 -d $(id) --"), RK_E_USAGE, 2, NOT_RUN "it needs a shell for '$'" ALONE },
	{ CMD("rocprofv3 -d \\\"`id`\\\" --"), RK_E_USAGE, 2,
	  NOT_RUN "it needs a shell for '`'" ALONE },
	{ CMD("rocprofv3 --sys-trace | tee x"), RK_E_USAGE, 2,
	  NOT_RUN "it needs a shell for '|'" ALONE },
	{ CMD("rocprofv3 --sys-trace -- ./app"), RK_E_USAGE, 2,
	  NOT_RUN "has a program after its '--': './app'" ALONE },
	{ CMD("bash"), RK_E_USAGE, 2, NOT_RUN "it has no 'rocprof_wrapper.sh'" ALONE },
	{ CMD("rocprofv3 'open"), RK_E_USAGE, 2,
	  NOT_RUN "has an unclosed quote in 'rocprofv3 'open'" ALONE },
	{ CMD("rocprofv3 -i"), RK_E_USAGE, 2, NOT_RUN "needs a file after '-i'" ALONE },
	{ CMD("rocprofv3 --pc-sampling-interval often"), RK_E_USAGE, 2,
	  NOT_RUN "has no number in 'often'" ALONE },
};

TEST(errors_in_a_context_are_reported_with_their_line)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rk_preset *p = NULL;
		struct rk_error err = { 0 };

		CHECK(rk_preset_from_context(NULL, bad[i].text, strlen(bad[i].text), "c.json", &p,
					     &err) == bad[i].code);
		CHECK_STR(err.message, bad[i].message);
		CHECK_U64(err.line, bad[i].line);
		CHECK_STR(err.file, "c.json");
		CHECK(!p);
	}
}

TEST(a_context_survives_every_failed_allocation)
{
	static const char text[] =
		"{\"guest_os\": \"x\", \"tool\": 1, \"slurm\": {\"nodes\": 2},"
		"\"tools\": [{\"name\": \"rocprofv3_full\", \"env_vars\": {\"RCCL_DEBUG\": \"INFO\"}},"
		"{\"name\": \"rocprof\", \"cmd\": \"rocprofv3 --hip-trace --pmc A B -d x --zap 'q r' --\"},"
		"{\"name\": \"miopen_trace\"}, {\"name\": \"gpu_info_power_profiler\"}]}";
	bool failed = true;

	for (uint64_t n = 1; failed && n < 20000; n++) {
		struct rk_preset *p = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_preset_from_context(NULL, text, sizeof(text) - 1, "c.json", &p, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 ? p != NULL : rc == RK_E_NOMEM && !p);
		rk_preset_free(p);
	}
	CHECK(!failed);
}
