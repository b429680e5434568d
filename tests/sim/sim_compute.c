/*
 * sim_compute.c - rocprof-compute profile (omniperf before 6.3): many runs, one workload folder.
 *
 * The real tool runs the application some 24 times on MI300; this one nine times, once per file of
 * perfmon/.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_args.h"

static const struct option_row profile_options[] = {
	{ "-h", "--help", '0', false, NULL },
	{ "--help", "--help", '0', false, NULL },
	{ "-n", "--name", '1', false, NULL },
	{ "--name", "--name", '1', false, NULL },
	{ "-p", "--path", '1', false, NULL },
	{ "--path", "--path", '1', false, NULL },
	{ "--subpath", "--subpath", '1', false, "node_name|gpu_model" },
	{ "--hip-trace", "--hip-trace", '0', false, NULL },
	{ "-k", "--kernel", '+', false, NULL },
	{ "--kernel", "--kernel", '+', false, NULL },
	{ "-d", "--dispatch", '+', false, NULL },
	{ "--dispatch", "--dispatch", '+', false, NULL },
	{ "-b", "--block", '+', false, NULL },
	{ "--block", "--block", '+', false, NULL },
	{ "--list-metrics", "--list-metrics", '*', false, NULL },
	{ "--list-sets", "--list-sets", '0', false, NULL },
	{ "--set", "--set", '1', false,
	  "compute_thruput_util|compute_thruput_flops|mem_thruput|launch_stats" },
	{ "--config-dir", "--config-dir", '1', false, NULL },
	{ "--join-type", "--join-type", '1', false, "kernel|grid" },
	{ "--no-roof", "--no-roof", '0', false, NULL },
	{ "--roof-only", "--roof-only", '0', false, NULL },
	{ "--sort", "--sort", '1', false, "kernels|dispatches" },
	{ "-m", "--mem-level", '+', false, "HBM|L2|vL1D|LDS" },
	{ "--mem-level", "--mem-level", '+', false, "HBM|L2|vL1D|LDS" },
	{ "--device", "--device", '1', true, NULL },
	{ "--kernel-names", "--kernel-names", '0', false, NULL },
	{ "-R", "--roofline-data-type", '+', false, NULL },
	{ "--roofline-data-type", "--roofline-data-type", '+', false, NULL },
	{ "--spatial-multiplexing", "--spatial-multiplexing", '*', false, NULL },
	{ "--format-rocprof-output", "--format-rocprof-output", '1', false, "json|csv|rocpd" },
	{ "--retain-rocpd-output", "--retain-rocpd-output", '0', false, NULL },
	{ "--pc-sampling-method", "--pc-sampling-method", '1', false, "stochastic|host_trap" },
	{ "--pc-sampling-interval", "--pc-sampling-interval", '1', true, NULL },
	{ "--rocprofiler-sdk-library-path", "--rocprofiler-sdk-library-path", '1', false, NULL },
	{ "--output-directory", "--output-directory", '1', false, NULL },
	{ NULL, NULL, '0', false, NULL },
};

/* What is counted in each run. */
static const char *const perfmon[][2] = {
	{ "pmc_perf_0", "SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU GRBM_COUNT GRBM_GUI_ACTIVE" },
	{ "pmc_perf_1", "SQ_BUSY_CYCLES SQ_WAVE_CYCLES TCC_HIT_sum TCC_MISS_sum" },
	{ "pmc_perf_2", "TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum" },
	{ "SQ_IFETCH_LEVEL", "SQ_IFETCH_LEVEL" },
	{ "SQ_INST_LEVEL_LDS", "SQ_INST_LEVEL_LDS" },
	{ "SQ_INST_LEVEL_SMEM", "SQ_INST_LEVEL_SMEM" },
	{ "SQ_INST_LEVEL_VMEM", "SQ_INST_LEVEL_VMEM" },
	{ "SQ_LEVEL_WAVES", "SQ_LEVEL_WAVES" },
	{ "timestamps", "" },
};
#define RUNS (sizeof(perfmon) / sizeof(perfmon[0]))

#define PLACE                                                                                   \
	"Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR," \
	"SGPR,Wave_Size,Kernel_Name"

static const char *soc(void)
{
	return strcmp(sim.arch, "gfx942") == 0 ? "MI300X_A1" :
	       strcmp(sim.arch, "gfx90a") == 0 ? "MI200" :
						 sim.arch;
}

static void place_cells(struct text *out, const struct kernel *k)
{
	text_add(out, "%u,%u,%u,%u,%u,%u,%u,64,", k->grid[0] * k->grid[1] * k->grid[2],
		 k->block[0] * k->block[1] * k->block[2], k->lds, k->scratch, k->vgpr, k->accum,
		 k->sgpr);
	text_add(out, "\"");
	for (const char *p = k->name; *p; p++)
		text_add(out, *p == '"' ? "\"\"" : "%c", *p);
	text_add(out, "\"");
}

static void counter_table(const struct work *w, const char *path, const struct words *counters)
{
	struct text *out = file_new(path);

	text_add(out, "Dispatch_ID,GPU_ID," PLACE ",Start_Timestamp,End_Timestamp,Correlation_ID");
	for (size_t i = 0; i < counters->n; i++)
		text_add(out, ",%s", counters->at[i]);
	text_add(out, "\n");
	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];

		text_add(out, "%u,%u,", d->id - 1, d->agent);
		place_cells(out, d->kernel);
		text_add(out, ",%" PRIu64 ",%" PRIu64 ",%u", d->start, d->end, d->correlation);
		for (size_t c = 0; c < counters->n; c++)
			text_add(out, ",%.1f", counter_value(counters->at[c], d->id));
		text_add(out, "\n");
	}
}

static void timestamps(const struct work *w, const char *folder)
{
	struct text *out = file_new(print_text("%s/timestamps.csv", folder));
	struct text *info = file_new(print_text("%s/pmc_dispatch_info.csv", folder));

	text_add(out, "Dispatch_ID,GPU_ID,Queue_ID,PID,TID," PLACE
		      ",Start_Timestamp,End_Timestamp,Correlation_ID\n");
	text_add(info, "Dispatch_ID,Kernel_Name,GPU_ID\n");
	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];

		text_add(out, "%u,%u,%u,%d,%d,", d->id - 1, d->agent, d->queue, (int)w->pid,
			 (int)w->pid);
		place_cells(out, d->kernel);
		text_add(out, ",%" PRIu64 ",%" PRIu64 ",%u\n", d->start, d->end, d->correlation);
		text_add(info, "%u,\"%s\",%u\n", d->id - 1, d->kernel->brief, d->agent);
	}
}

static void sysinfo(const char *folder, const char *name, char *const *app)
{
	static const char *const columns[][2] = {
		{ "ip_blocks", "SQ|LDS|SQC|TA|TD|TCP|TCC|SPI|CPC|CPF" },
		{ "version", "3.3.0" },
		{ "cpu_model", "AMD EPYC 9654 96-Core Processor" },
		{ "linux_distro", "Ubuntu 24.04" },
		{ "compute_partition", "SPX" },
		{ "memory_partition", "NPS1" },
		{ "gpu_l1", "32" },
		{ "gpu_l2", "4096" },
		{ "cu_per_gpu", "304" },
		{ "simd_per_cu", "4" },
		{ "se_per_gpu", "32" },
		{ "wave_size", "64" },
		{ "workgroup_max_size", "1024" },
		{ "max_waves_per_cu", "32" },
		{ "max_sclk", "2100" },
		{ "max_mclk", "1300" },
		{ "cur_sclk", "2100" },
		{ "cur_mclk", "1300" },
		{ "total_l2_chan", "128" },
		{ "lds_banks_per_cu", "32" },
		{ "sqc_per_gpu", "160" },
		{ "pipes_per_gpu", "4" },
		{ "hbm_bw", "5324.8" },
		{ "num_xcd", "8" },
		{ "num_hbm_channels", "128" },
	};
	struct text *out = file_new(print_text("%s/sysinfo.csv", folder));
	struct text values = { 0 };

	text_add(out, "workload_name,command,hostname,rocm_version,gpu_model,gpu_arch");
	text_add(&values, "%s,\"%s\",%s,%s,%s,%s", name, app[0], host_name(), sim.version, soc(),
		 sim.arch);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		text_add(out, ",%s", columns[i][0]);
		text_add(&values, ",%s", columns[i][1]);
	}
	text_add(out, "\n%s\n", values.at);
}

static void roofline(const char *folder)
{
	struct text *out = file_new(print_text("%s/roofline.csv", folder));

	text_add(out,
		 "device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,L2BwLow,L2BwHigh,FP32Flops,FP32FlopsLow,"
		 "FP32FlopsHigh,MFMAI8Ops,MFMAFI8OpsLow,MFMAI8OpsHigh\n"
		 "0,4000.5,3990.1,4010.2,17000.1,16900.2,17100.3,80000.5,79000.1,81000.9,"
		 "1300000.5,1290000.1,1310000.9\n");
}

/* One run per file of perfmon/; the first that fails ends it. */
static void run_all(const struct args *a, const char *folder, char *const *app)
{
	bool one = args_get(a, "--set") != NULL;
	struct words perf = { 0 };
	struct work last = { 0 };

	for (size_t i = 0; i < (one ? 1 : RUNS); i++) {
		struct words counters = { 0 }, asked = { 0 };
		struct app_end end = app_run(app);

		app_script_end(&end);
		if (end.exec_errno || end.signal || end.status) {
			fprintf(stderr, "ERROR Profiling execution failed.\n");
			exit(1);
		}
		last = work_make(&end, app, true);
		last.pid = end.pid;
		words_split(&asked, perfmon[i][1], " ");
		for (size_t c = 0; c < asked.n; c++)
			if (counter_find(asked.at[c]) && !fault("counters-absent"))
				words_add(begins(perfmon[i][0], "pmc_perf") ? &perf : &counters,
					  asked.at[c]);
		text_add(file_new(print_text("%s/perfmon/%s.txt", folder, perfmon[i][0])),
			 "pmc: %s\n", perfmon[i][1]);
		if (begins(perfmon[i][0], "SQ_"))
			counter_table(&last, print_text("%s/%s.csv", folder, perfmon[i][0]),
				      &counters);
	}
	counter_table(&last, print_text("%s/pmc_perf.csv", folder), &perf);
	timestamps(&last, folder);
}

static int profile(int argc, char **argv)
{
	struct args a = { .prog = print_text("%s profile", sim.tool) };
	const char *path, *folder;
	char *const *app = NULL;
	size_t n = 0;
	int status = 0;

	while (n < (size_t)argc && strcmp(argv[n], "--") != 0)
		n++;
	if (n + 1 < (size_t)argc)
		app = argv + n + 1;
	args_parse(&a, profile_options, true, argv, n);
	if (args_get(&a, "--help")) {
		printf("usage: %s profile --name <workload_name> [profile options] -- <profile_cmd>\n",
		       sim.tool);
		return 0;
	}
	if (args_get(&a, "--output-directory") && sim.release < REL_713)
		argparse_error(a.prog, "unrecognized arguments: --output-directory");
	if (!args_get(&a, "--name"))
		argparse_error(a.prog, "the following arguments are required: -n/--name");
	if (!app)
		argparse_error(a.prog,
			       "Profiling command required. Pass application executable after --");
	fault_start(sim.tool);
	path = args_word(&a, "--path") ? args_word(&a, "--path") : "workloads";
	folder = print_text("%s/%s/%s", path, args_word(&a, "--name"), soc());
	if (args_get(&a, "--output-directory"))
		folder = expand_keys(args_word(&a, "--output-directory"), app);
	run_all(&a, folder, app);
	sysinfo(folder, args_word(&a, "--name"), app);
	if (!args_get(&a, "--no-roof"))
		roofline(folder);
	text_add(file_new(print_text("%s/log.txt", folder)), "INFO simulated\n");
	if (!fault("no-output"))
		files_write(NULL);
	fault_end(&status);
	return status;
}

int compute_main(int argc, char **argv)
{
	if (argc > 1 && (strcmp(argv[1], "-v") == 0 || strcmp(argv[1], "--version") == 0)) {
		printf("%s version: 3.3.0 (release)\nGit revision: 0000000\n", sim.tool);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "profile") == 0)
		return profile(argc - 2, argv + 2);
	argparse_error(sim.tool, "argument mode: invalid choice: '%s' (choose from 'profile')",
		       argc > 1 ? argv[1] : "");
}
