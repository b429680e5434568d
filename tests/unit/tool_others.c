/* tool_others.c - the older and the larger profilers, and the words of traces. */
#include "tool_world.h"

#define V1_NAMES                                                                        \
	"--timestamp on --basenames off -t /out/tmp -d /out -o /out/results.csv ./app " \
	"-n 4 2"

TEST(rocprof_is_called_without_two_dashes)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	CHECK_STR(wish_told(&w, "rocprof", "6.2"), "rocprof --stats " V1_NAMES);
	CHECK_U64(w.cmd.delivers, RK_TRACE_KERNEL);
	w.want.traces = RK_TRACE_HIP | RK_TRACE_KERNEL | RK_TRACE_MEMCPY;
	CHECK_STR(wish_told(&w, "rocprof", ""), "rocprof --stats --hip-trace " V1_NAMES);
	CHECK(strstr(wish_notes(&w), "no launch sizes"));
	w.want.traces = RK_TRACE_HSA | RK_TRACE_KERNEL;
	CHECK_STR(wish_told(&w, "rocprof", ""), "rocprof --stats --hsa-trace " V1_NAMES);
	CHECK_STR(wish_notes(&w), "");
	wish_close(&w);
}

TEST(rocprof_needs_an_api_trace_to_carry_copies_and_markers)
{
	struct wish w;

	wish_open(&w, RK_TRACE_MEMCPY);
	CHECK_STR(wish_told(&w, "rocprof", ""), "rocprof --hip-trace " V1_NAMES);
	CHECK_U64(w.cmd.delivers, RK_TRACE_MEMCPY);
	w.want.traces = RK_TRACE_MARKER | RK_TRACE_KERNEL;
	CHECK_STR(wish_told(&w, "rocprof", ""),
		  "rocprof --stats --hip-trace --roctx-trace " V1_NAMES);
	w.want.traces = RK_TRACE_MARKER;
	CHECK_STR(wish_told(&w, "rocprof", ""), "rocprof --roctx-trace " V1_NAMES);
	wish_close(&w);
}

TEST(rocprof_keeps_counters_and_api_traces_apart)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL | RK_TRACE_HIP);
	rk_list_add(&w.counters, "SQ_WAVES");
	rk_list_add(&w.counters, "TCC_HIT[0]");
	w.want.kernel_regex = "gemm_kernel";
	CHECK_STR(wish_told(&w, "rocprof", ""), "rocprof -i /out/counters.txt " V1_NAMES);
	CHECK_STR(w.cmd.file.text, "pmc: SQ_WAVES TCC_HIT[0]\nkernel: gemm_kernel\n");
	CHECK_U64(w.cmd.delivers, RK_TRACE_KERNEL);
	CHECK(w.cmd.counters && strstr(wish_notes(&w), "no hip trace: rocprof would lose"));
	w.want.kernel_regex = "gemm|conv";
	wish_told(&w, "rocprof", "");
	CHECK_STR(w.cmd.file.text, "pmc: SQ_WAVES TCC_HIT[0]\n");
	CHECK(strstr(wish_notes(&w), "all kernels are recorded: rocprof filters by parts"));
	wish_close(&w);
}

TEST(what_rocprof_would_evaluate_is_escaped)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	rk_list_add(&w.app, "a\"b$c`d\\e");
	rk_list_add(&w.app, "two  blanks");
	wish_told(&w, "rocprof", "");
	CHECK_STR(w.cmd.argv.v[w.cmd.argv.n - 2], "a\\\"b\\$c\\`d\\\\e");
	CHECK(strstr(wish_notes(&w), "merges several blanks"));
	wish_close(&w);
}

TEST(what_a_script_cannot_express_is_refused)
{
	static const char *const tools[] = { "rocprof", "rocprofv2" };

	for (unsigned i = 0; i < 2; i++) {
		struct wish w;

		wish_open(&w, RK_TRACE_KERNEL);
		w.want.dir = "/my out";
		CHECK(strstr(wish_told(&w, tools[i], ""), "cannot write to '/my out'"));
		CHECK_I64(w.err.code, RK_E_USAGE);
		w.want.dir = "/out";
		rk_list_release(&w.app);
		rk_list_add(&w.app, "-app");
		CHECK(strstr(wish_told(&w, tools[i], ""), "begins with a dash: '-app'"));
		CHECK_I64(w.err.code, RK_E_USAGE);
		CHECK(!w.cmd.argv.v);
		wish_close(&w);
	}
}

TEST(chips_ranks_and_traces_that_rocprof_lacks_are_named)
{
	static const struct rk_pc_sampling pc = { 0 };
	struct wish w;

	wish_open(&w, RK_TRACE_SYS);
	w.want.arch = "gfx1100";
	w.want.rank_key = "RANK";
	w.want.pc = &pc;
	wish_told(&w, "rocprof", "");
	CHECK(!w.cmd.pc);
	CHECK_STR(w.cmd.notes.v[0], "no rccl, scratch, alloc trace: not supported by rocprof");
	CHECK(strstr(wish_notes(&w), "does not support gfx1100"));
	CHECK(strstr(wish_notes(&w), "mixes the rows"));
	CHECK(strstr(wish_notes(&w), "no PC sampling"));
	w.want.arch = "gfx942";
	wish_told(&w, "rocprof", "");
	CHECK(!strstr(wish_notes(&w), "does not know"));
	wish_close(&w);
}

TEST(rocprofv2_names_files_by_process)
{
	struct wish w;

	wish_open(&w, RK_TRACE_HIP | RK_TRACE_KERNEL);
	CHECK_STR(wish_told(&w, "rocprofv2", "6.2"),
		  "rocprofv2 --kernel-trace --hip-api --plugin file -d /out ./app -n 4 2");
	w.want.traces = RK_TRACE_SYS;
	CHECK_STR(wish_told(&w, "rocprofv2", ""),
		  "rocprofv2 --kernel-trace --hip-trace --hsa-api --roctx-trace --plugin file "
		  "-d /out ./app -n 4 2");
	CHECK_STR(wish_notes(&w), "no rccl, scratch, alloc trace: not supported by rocprofv2");
	w.want.traces = 0;
	rk_list_add(&w.counters, "SQ_WAVES");
	CHECK_STR(wish_told(&w, "rocprofv2", ""),
		  "rocprofv2 -i /out/counters.txt --plugin file -d /out ./app -n 4 2");
	CHECK_STR(w.cmd.file.text, "pmc: SQ_WAVES\n");
	wish_close(&w);
}

TEST(rocprof_compute_has_a_path_and_from_7_13_a_directory)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	CHECK_STR(wish_told(&w, "rocprof-compute", "6.4"),
		  "rocprof-compute profile -n rockit -p /out -- ./app -n 4 2");
	CHECK_STR(wish_told(&w, "rocprof-compute", "7.13"),
		  "rocprof-compute profile -n rockit --output-directory /out -- ./app -n 4 2");
	w.want.kernel_regex = "gemm";
	w.want.rank_key = "RANK";
	CHECK_STR(wish_told(&w, "rocprof-compute", ""),
		  "rocprof-compute profile -k gemm -n rockit --output-directory "
		  "/out/rank-%env{RANK}% -- ./app -n 4 2");
	CHECK_STR(wish_notes(&w), "");
	rk_list_add(&w.counters, "SQ_WAVES");
	w.want.traces = RK_TRACE_HIP | RK_TRACE_KERNEL;
	w.want.kernel_regex = "a|b";
	CHECK(!strstr(wish_told(&w, "rocprof-compute", "7.0"), "-k"));
	CHECK_U64(w.cmd.delivers, RK_TRACE_KERNEL);
	CHECK_U64(w.cmd.notes.n, 4);
	CHECK_U64(rk_tool_find("rocprof-compute")->one_run, true);
	wish_close(&w);
}

TEST(chips_that_rocprof_compute_has_no_formulas_for_are_named)
{
	static const struct {
		const char *arch, *release;
		bool known;
	} all[] = {
		{ "gfx90a", "6.4", true },    { "gfx942", "7.0", true }, { "gfx950", "", true },
		{ "gfx1151", "7.13", true },  { "gfx1151", "", true },   { "", "7.0", true },
		{ "gfx1151", "7.0", false },  { "gfx1100", "", false },  { "gfx90c", "", false },
		{ "gfx1201", "7.13", false },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct wish w;

		wish_open(&w, RK_TRACE_KERNEL);
		w.want.arch = all[i].arch;
		wish_told(&w, "rocprof-compute", all[i].release);
		CHECK(!strstr(wish_notes(&w), "rocprof-compute does not support gfx") ==
		      all[i].known);
		wish_close(&w);
	}
}

TEST(tools_are_known_by_their_old_names)
{
	CHECK(rk_tool_find("omniperf") == rk_tool_find("rocprof-compute"));
	CHECK(rk_tool_find("omnitrace") == rk_tool_find("rocprof-sys"));
	CHECK(!rk_tool_find("omni"));
}

TEST(rocprof_sys_samples_and_traces)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL | RK_TRACE_RCCL);
	CHECK_STR(wish_told(&w, "rocprof-sys", "7.0"), "rocprof-sys -o /out -T -D -- ./app -n 4 2");
	CHECK_U64(w.cmd.delivers, RK_TRACE_KERNEL);
	CHECK_STR(wish_join(&w, &w.cmd.env, " "),
		  "ROCPROFSYS_USE_PID=ON ROCPROFSYS_TIME_OUTPUT=OFF ROCPROFSYS_USE_ROCPD=ON");
	wish_told(&w, "rocprof-sys", "6.4");
	CHECK_STR(wish_join(&w, &w.cmd.env, " "),
		  "ROCPROFSYS_USE_PID=ON ROCPROFSYS_TIME_OUTPUT=OFF");
	rk_tool_command_release(&w.cmd);
	w.want.rank_key = "mpi";
	CHECK(rk_tool_find("rocprof-sys")
		      ->command("/opt/rocm/bin/omnitrace-sample", (struct rk_version){ 6, 2, 0 },
				&w.want, &w.cmd, &w.err) == 0);
	CHECK_STR(wish_join(&w, &w.cmd.argv, " "),
		  "/opt/rocm/bin/omnitrace-sample -o /out/rank-%rank% -T -D -- ./app -n 4 2");
	CHECK_STR(w.cmd.env.v[0], "OMNITRACE_USE_PID=ON");
	wish_close(&w);
}

TEST(scripts_and_collectors_take_no_two_dashes)
{
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++) {
		bool script = !strcmp((*t)->name, "rocprof") || !strcmp((*t)->name, "rocprofv2") ||
			      (*t)->library;
		struct wish w;

		wish_open(&w, RK_TRACE_KERNEL);
		wish_told(&w, (*t)->name, "");
		CHECK(rk_list_has(&w.cmd.argv, "--") != script);
		CHECK_STR(w.cmd.argv.v[w.cmd.argv.n - 3], "./app");
		CHECK((*t)->programs[0] != NULL);
		wish_close(&w);
	}
	CHECK(rk_tool_find("nsys") == NULL);
}

TEST(a_collector_is_configured_by_the_environment_alone)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL | RK_TRACE_HIP);
	w.want.dir = "/out, 1%";
	CHECK_STR(wish_told(&w, "opencl", ""), "./app -n 4 2");
	CHECK_STR(rk_list_value(&w.cmd.env, "OPENCL_LAYERS"), "opencl");
	CHECK_STR(rk_list_value(&w.cmd.env, "ROCKIT_COLLECT"), "dir=/out%2C%201%25");
	CHECK_U64(w.cmd.delivers, RK_TRACE_KERNEL);
	CHECK(strstr(wish_notes(&w), "no hip trace") != NULL);
	w.want.traces |= RK_TRACE_HSA;
	w.want.dir = "/out";
	rk_list_add(&w.extra, "limit=4G");
	wish_told(&w, "opencl", "");
	CHECK_STR(rk_list_value(&w.cmd.env, "ROCKIT_COLLECT"), "dir=/out,limit=4G,api=1");
	wish_close(&w);
}

TEST(cupti_is_configured_by_the_environment_too)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL | RK_TRACE_HIP | RK_TRACE_RCCL);
	w.want.dir = "/out";
	CHECK_STR(wish_told(&w, "cupti", ""), "./app -n 4 2");
	CHECK_STR(rk_list_value(&w.cmd.env, "CUDA_INJECTION64_PATH"), "cupti");
	CHECK(!rk_list_value(&w.cmd.env, "NVTX_INJECTION64_PATH"));
	CHECK_STR(rk_list_value(&w.cmd.env, "ROCKIT_COLLECT"), "dir=/out,flush=100");
	CHECK_U64(w.cmd.delivers, RK_TRACE_KERNEL);
	CHECK(strstr(wish_notes(&w), "no rccl trace: NCCL's ranges are recorded as markers") !=
	      NULL);
	w.want.traces = RK_TRACE_SYS;
	rk_list_add(&w.extra, "flush=50");
	wish_told(&w, "cupti", "");
	CHECK_STR(rk_list_value(&w.cmd.env, "NVTX_INJECTION64_PATH"), "cupti");
	CHECK_STR(rk_list_value(&w.cmd.env, "ROCKIT_COLLECT"),
		  "dir=/out,flush=50,flush=100,api=1,alloc=1");
	CHECK_U64(w.cmd.delivers,
		  RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER | RK_TRACE_ALLOC);
	wish_close(&w);
}

TEST(the_rocm_collector_is_loaded_by_the_hsa_runtime)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL | RK_TRACE_MEMCPY);
	w.want.dir = "/out";
	CHECK_STR(wish_told(&w, "rocm", ""), "./app -n 4 2");
	CHECK_STR(rk_list_value(&w.cmd.env, "HSA_TOOLS_LIB"), "rocm");
	CHECK(!rk_list_value(&w.cmd.env, "LD_PRELOAD"));
	CHECK_STR(rk_list_value(&w.cmd.env, "ROCKIT_COLLECT"), "dir=/out,api=launches");
	CHECK_STR(wish_notes(&w), "");
	/* what has no callback is replaced by a preloaded library */
	w.want.traces = RK_TRACE_SYS;
	wish_told(&w, "rocm", "");
	CHECK_STR(rk_list_value(&w.cmd.env, "LD_PRELOAD"), "rocm");
	CHECK_STR(rk_list_value(&w.cmd.env, "ROCKIT_COLLECT"), "dir=/out,api=1,alloc=1");
	CHECK_U64(w.cmd.delivers, RK_TRACE_SYS & ~(unsigned)(RK_TRACE_HSA | RK_TRACE_SCRATCH));
	CHECK(strstr(wish_notes(&w), "no hsa trace") != NULL);
	CHECK(strstr(wish_notes(&w), "no scratch trace") != NULL);
	/* the runtime splits its list of libraries at spaces */
	rk_tool_command_release(&w.cmd);
	CHECK(rk_tool_find("rocm")->command("/a b/librockit-rocm.so", (struct rk_version){ 0 },
					    &w.want, &w.cmd, &w.err) == RK_E_USAGE);
	CHECK(strstr(w.err.message, "'/a b/librockit-rocm.so'") != NULL);
	wish_close(&w);
}

TEST(what_a_collector_is_told_of_a_window)
{
	static const char *const all[] = { "rocm", "cupti", "opencl" };

	for (size_t i = 0; i < 3; i++) {
		struct wish w;

		wish_open(&w, RK_TRACE_KERNEL);
		w.want.dir = "/out";
		w.want.window_bytes = 64 << 20;
		w.want.switched = w.want.asleep = true;
		w.want.range = "step, 1";
		w.want.every_on = 2;
		w.want.every_of = 50;
		w.want.sample = 100;
		wish_told(&w, all[i], "");
		CHECK(strstr(rk_list_value(&w.cmd.env, "ROCKIT_COLLECT"),
			     "dir=/out,window=1,limit=67108864,switch=1,asleep=1,"
			     "range=step%2C%201,every=2:50,sample=100") != NULL);
		wish_close(&w);
	}
}

static const char *refused(const char *tool, unsigned asks)
{
	static struct rk_error err;
	const struct rk_version any = { 0 };

	err = (struct rk_error){ 0 };
	return rk_tool_find(tool)->check(any, asks, &err) == RK_E_USAGE ? err.message : "";
}

TEST(a_tool_refuses_what_it_cannot_honour)
{
	const unsigned window = RK_ASK_WINDOW | RK_ASK_DELAY | RK_ASK_DURATION | RK_ASK_EVERY |
				RK_ASK_SAMPLE;

	CHECK_STR(refused("rocm", window | RK_ASK_RANGE), "");
	CHECK_STR(refused("cupti", window | RK_ASK_RANGE | RK_ASK_COUNTERS), "");
	CHECK_STR(refused("opencl", window), "");
	CHECK(strstr(refused("opencl", RK_ASK_RANGE), "has no --range") != NULL);
	CHECK(strstr(refused("rocm", RK_ASK_COUNTERS), "no counters") != NULL);
	CHECK_STR(refused("rocm", RK_ASK_ATT), "the collector rocm has no --att");
	CHECK_STR(refused("cupti", RK_ASK_ATTACH), "the collector cupti has no --attach");
	CHECK(strstr(refused("rocprofv3", RK_ASK_WINDOW), "has no --window") != NULL);
}

TEST(words_of_traces_are_read)
{
	unsigned bits = 0;

	CHECK(rk_trace_parse("hip,kernel", &bits, NULL) == 0);
	CHECK_U64(bits, RK_TRACE_HIP | RK_TRACE_KERNEL);
	CHECK(rk_trace_parse("alloc, rccl,,", &bits, NULL) == 0);
	CHECK_U64(bits, RK_TRACE_ALLOC | RK_TRACE_RCCL);
	CHECK(rk_trace_parse("sys", &bits, NULL) == 0);
	CHECK_U64(bits, RK_TRACE_SYS);
	CHECK(rk_trace_parse("kfd,ompt,graph,rocshmem,hipfile,rocdecode,rocjpeg", &bits, NULL) ==
	      0);
	CHECK_U64(bits, ((1u << RK_NTRACES) - 1) & ~(unsigned)RK_TRACE_SYS);
	CHECK_STR(rk_trace_name(7), "alloc");
	CHECK_STR(rk_trace_name(14), "rocjpeg");
	CHECK(rk_trace_name(15) == NULL);
}

static const char *unknown(const char *words)
{
	static struct rk_error err;
	unsigned bits = 77;

	err = (struct rk_error){ 0 };
	CHECK_I64(rk_trace_parse(words, &bits, &err), RK_E_USAGE);
	CHECK_U64(bits, 77);
	return err.message;
}

TEST(an_unknown_trace_names_the_nearest)
{
	CHECK_STR(unknown("hip,kernal"), "unknown trace 'kernal'; did you mean 'kernel'?");
	CHECK_STR(unknown("roctx"), "unknown trace 'roctx'; did you mean 'marker'?");
	CHECK_STR(unknown("memory-copy"), "unknown trace 'memory-copy'; did you mean 'memcpy'?");
	CHECK(strstr(unknown("everything"), "known: hip, hsa,"));
	CHECK(strstr(unknown(""), "no trace is named; known: hip, hsa,"));
	CHECK(strstr(unknown("a,x"), "unknown trace 'a'; known: "));
}
