/* metrics_run.c - metrics of whole directories, with values computed by hand. */
#include "metrics_world.h"

#define MAIN                                                                                   \
	"GRBM_GUI_ACTIVE,GRBM_COUNT,SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_VMEM,"       \
	"SQ_BUSY_CU_CYCLES,SQ_INSTS,TCC_HIT_sum,TCC_MISS_sum,TCC_EA_RDREQ[0],TCC_EA_RDREQ[1]," \
	"TCC_EA_RDREQ_32B_sum,TCC_EA_WRREQ_sum,TCC_EA_WRREQ_64B[0],TCC_EA_WRREQ_64B[1],"       \
	"TCP_PENDING_STALL_CYCLES_sum,TCP_GATE_EN1_sum"

/* The kernel `copy` twice and `fill` once, two level counters in passes of their own. */
static void make_compute(struct ask *a)
{
	world_text(&a->w, "in/sysinfo.csv", SYSINFO);
	world_text(
		&a->w, "in/pmc_perf.csv",
		WIDE MAIN TIMES ROW(
			0,
			"copy") "1000,2000,512,10240,2560,100,500,2000,30,10,1000,3000,0,"
				"2000,1500,500,10,100,5000,6000\n" ROW(
					1,
					"copy") "3000,4000,1024,20480,5120,200,1000,5000,90,10,2000,6000,4000,"
						"4000,1000,1000,30,100,10000,13000\n" ROW(
							2,
							"fill") "500,500,400,800,400,0,100,300,0,0,0,0,0,800,800,0,80,100,20000,"
								"20500\n");
	world_text(
		&a->w, "in/SQ_LEVEL_WAVES.csv",
		WIDE "GRBM_GUI_ACTIVE,SQ_WAVES,SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES" TIMES
			ROW(0, "copy") "9999,512,0,5000,5000,6000\n" ROW(
				1,
				"copy") "9999,1024,0,12000,10000,13000\n" ROW(2,
									      "fill") "9999,400,0,1000,20000,20500\n");
	world_text(
		&a->w, "in/SQ_INST_LEVEL_VMEM.csv",
		WIDE "SQ_INSTS_VMEM,SQ_INST_LEVEL_VMEM,SQ_ACCUM_PREV_HIRES" TIMES
			ROW(0, "copy") "50,0,500,5000,6000\n" ROW(
				1,
				"copy") "40,0,800,10000,13000\n" ROW(2,
								     "fill") "0,0,0,20000,20500\n");
}

TEST(metrics_of_a_compute_directory_are_those_computed_by_hand)
{
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	if (ask(&a, "in", NULL)) {
		const struct rk_metric_value *v = value_of(&a, "wavefronts");

		CHECK_STR(a.m->arch, "gfx90a");
		CHECK_U64(a.m->dispatches, 3);
		CHECK_I64(a.m->total_ns, 4500);
		CHECK_U64(v->dispatches, 3);
		CHECK_NEAR(v->avg, (512 + 1024 + 400) / 3.);
		CHECK_NEAR(v->min, 400);
		CHECK_NEAR(v->max, 1024);
		CHECK_NEAR(v->weighted, (512e3 + 1024 * 3e3 + 400 * 500) / 4500);
		CHECK_NEAR(v->median, NAN);
		CHECK_NEAR(v->peak, NAN);
		CHECK_NEAR(value_of(&a, "kernel_time_ns")->avg, 1500);
		CHECK_NEAR(value_of(&a, "ipc")->avg, (4 + 5 + 3) / 3.);
		CHECK_NEAR(value_of(&a, "ipc")->peak, 5);
		CHECK_NEAR(value_of(&a, "ipc")->percent_of_peak, 80);
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

TEST(kernels_come_by_time_with_their_own_values)
{
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	if (ask(&a, "in", NULL) && CHECK_U64(a.m->nkernels, 2)) {
		CHECK_STR(a.m->kernels[0].name, "copy");
		CHECK_U64(a.m->kernels[0].calls, 2);
		CHECK_I64(a.m->kernels[0].total_ns, 4000);
		CHECK_NEAR(a.m->kernels[0].percent, 100 * 4000. / 4500);
		CHECK_STR(a.m->kernels[1].name, "fill");
		CHECK_NEAR(of_kernel(&a, "copy", "wavefronts")->avg, 768);
		CHECK_NEAR(of_kernel(&a, "fill", "wavefronts")->max, 400);
		/* no lookups, no rate: of those that have one */
		CHECK_U64(of_kernel(&a, "fill", "l2_hit_pct")->dispatches, 0);
		CHECK_U64(value_of(&a, "l2_hit_pct")->dispatches, 2);
		CHECK_NEAR(value_of(&a, "l2_hit_pct")->avg, (75 + 90) / 2.);
		CHECK_NEAR(value_of(&a, "l2_hit_pct")->weighted, (75 * 1. + 90 * 3) / 4);
	}
	ask_close(&a);
}

TEST(an_integral_uses_its_own_pass_and_the_clocks_of_the_main_one)
{
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	if (ask(&a, "in", NULL)) {
		const struct rk_metric_value *v = of_kernel(&a, "copy", "occupancy_waves");

		CHECK_NEAR(v->max, 5000. / 1000);
		CHECK_NEAR(v->min, 12000. / 3000);
		CHECK_NEAR(v->weighted, (5 * 1000. + 4 * 3000.) / 4000);
		CHECK_NEAR(v->peak, 32 * 100);
		CHECK_NEAR(v->percent_of_peak, 100 * 4.5 / 3200);
		CHECK_NEAR(of_kernel(&a, "fill", "occupancy_waves")->avg, 2);
		/* 50 and 40 instructions in the pass of the level, 100 and 200 in the main one */
		v = of_kernel(&a, "copy", "vmem_latency");
		CHECK_NEAR(v->min, 10);
		CHECK_NEAR(v->max, 20);
		CHECK_U64(of_kernel(&a, "fill", "vmem_latency")->dispatches, 0);
	}
	ask_close(&a);
}

/* rocprof-compute 3.6: a file per replay, until its analysis joins them. */
TEST(files_of_replays_are_passes_of_one_program)
{
	static const char *const names[][2] = {
		{ "in/results_pmc_perf_0.csv", "in/results_pmc_perf_1.csv" },
		{ "in/pmc_perf_0.csv", "in/results_SQC_DCACHE.csv" },
	};
	struct ask a;

	for (size_t i = 0; i < 4; i++) {
		ask_open(&a);
		world_text(&a.w, "in/sysinfo.csv", SYSINFO);
		world_text(&a.w, names[i % 2][0],
			   LONG LONG_ROW(0, "SQ_WAVES", 64, 1000, 2000)
				   LONG_ROW(1, "SQ_WAVES", 64, 5000, 6000));
		world_text(&a.w, names[i % 2][1],
			   LONG LONG_ROW(0, "TCC_HIT_sum", 30, 91000, 93000)
				   LONG_ROW(0, "TCC_MISS_sum", 10, 91000, 93000)
					   LONG_ROW(1, "TCC_HIT_sum", 30, 95000, 97000)
						   LONG_ROW(1, "TCC_MISS_sum", 10, 95000, 97000));
		if (i >= 2) /* the joined file is one more */
			world_text(&a.w, "in/pmc_perf.csv",
				   LONG LONG_ROW(0, "SQ_WAVES", 64, 1000, 2000) LONG_ROW(
					   1, "SQ_WAVES", 64, 5000, 6000) LONG_ROW(0, "TCC_HIT_sum",
										   30, 91000, 93000)
					   LONG_ROW(0, "TCC_MISS_sum", 10, 91000, 93000) LONG_ROW(
						   1, "TCC_HIT_sum", 30, 95000, 97000)
						   LONG_ROW(1, "TCC_MISS_sum", 10, 95000, 97000));
		if (ask(&a, "in", NULL)) {
			CHECK_U64(a.m->dispatches, 2);
			CHECK_NEAR(value_of(&a, "wavefronts")->avg, 64);
			CHECK_NEAR(value_of(&a, "l2_hits")->avg, 30);
			CHECK_NEAR(value_of(&a, "l2_hit_pct")->avg, 75);
			CHECK_U64(value_of(&a, "l2_hit_pct")->dispatches, 2);
		}
		ask_close(&a);
	}
}

/* It executes the program once more to sample instructions. */
TEST(dispatches_of_sampled_instructions_are_not_counted_again)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/sysinfo.csv", SYSINFO);
	world_text(&a.w, "in/pmc_perf.csv",
		   LONG LONG_ROW(0, "SQ_WAVES", 64, 1000, 2000)
			   LONG_ROW(1, "SQ_WAVES", 64, 5000, 6000));
	world_text(&a.w, "in/77_ps_file_kernel_trace.csv",
		   TRACE TRACE_ROW(1, "copy", 91000, 99000) TRACE_ROW(2, "copy", 191000, 199000));
	if (ask(&a, "in", NULL)) {
		CHECK_U64(a.m->dispatches, 2);
		CHECK_I64(a.m->total_ns, 2000);
	}
	world_text(&a.w, "only/77_ps_file_kernel_trace.csv",
		   TRACE TRACE_ROW(1, "copy", 91000, 99000));
	if (ask(&a, "only", NULL))
		CHECK_U64(a.m->dispatches, 1);
	ask_close(&a);
}

/* 30 of 40 and 10 of 100 hits: the mean of 75 % and 10 %, or 40 of 140. */
TEST(averages_are_those_of_the_release_that_recorded_the_folder)
{
	static const struct {
		const char *release;
		double hits;
		bool of_sums;
	} cases[] = {
		{ "7.13.0", 42.5, false },
		{ "7.14.0", 4000 / 140., true },
		{ "10.1.0-55", 4000 / 140., true },
		{ "", 42.5, false },
		{ "new", 42.5, false },
	};
	struct ask a;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char sysinfo[400];

		snprintf(
			sysinfo, sizeof(sysinfo),
			"workload_name,command,ip_blocks,rocm_version,gpu_model,gpu_arch,cu_per_gpu,"
			"num_xcd\nw,\"a, b\",SQ,%s,MI210,gfx90a,104,1\n",
			cases[i].release);
		ask_open(&a);
		world_text(&a.w, "in/sysinfo.csv", sysinfo);
		world_text(&a.w, "in/pmc_perf.csv",
			   WIDE "TCC_HIT_sum,TCC_MISS_sum,TCP_TOTAL_CACHE_ACCESSES_sum,"
				"TCP_TCC_READ_REQ_sum,TCP_TCC_WRITE_REQ_sum,"
				"TCP_TCC_ATOMIC_WITH_RET_REQ_sum,"
				"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum" TIMES
					ROW(0, "copy") "30,10,100,50,0,0,0,1000,2000\n" ROW(
						1, "copy") "10,90,300,30,0,0,0,5000,6000\n");
		if (ask(&a, "in", NULL)) {
			const struct rk_metric_value *v = value_of(&a, "l2_hit_pct");

			CHECK(a.m->of_sums == cases[i].of_sums);
			CHECK_NEAR(v->avg, cases[i].hits);
			CHECK_NEAR(v->min, 10);
			CHECK_NEAR(of_kernel(&a, "copy", "l2_hit_pct")->avg, cases[i].hits);
			CHECK_NEAR(value_of(&a, "l2_hits")->avg, 20);
			/* 100 - 100 * 80 / 400, or the mean of 50 and 90 */
			CHECK_NEAR(value_of(&a, "l1_hit_pct")->avg, cases[i].of_sums ? 80 : 70);
		}
		ask_close(&a);
	}
}

/* 60 waves of 64 lanes, 100 accesses of L1, 50 reads of L2 and 10 writes to it. */
TEST(the_roofline_has_the_lines_of_the_release_that_recorded_the_folder)
{
	static const struct {
		const char *release;
		double l1, l2; /* bytes */
	} cases[] = {
		{ "7.13.0", 6400, 3840 },
		{ "7.14.0", 12800, 7040 },
		{ "", 12800, 7040 },
	};
	struct ask a;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct rk_metric_kernel *k;
		char sysinfo[400];

		snprintf(
			sysinfo, sizeof(sysinfo),
			"workload_name,command,ip_blocks,rocm_version,gpu_model,gpu_arch,cu_per_gpu,"
			"num_xcd\nw,a,SQ,%s,MI300X,gfx942,304,8\n",
			cases[i].release);
		ask_open(&a);
		world_text(&a.w, "in/sysinfo.csv", sysinfo);
		world_text(&a.w, "in/pmc_perf.csv",
			   WIDE "SQ_INSTS_VALU_ADD_F32,SQ_INSTS_VALU_MUL_F32,"
				"SQ_INSTS_VALU_TRANS_F32,SQ_INSTS_VALU_FMA_F32,"
				"TCP_TOTAL_CACHE_ACCESSES_sum,TCP_TCC_READ_REQ_sum,"
				"TCP_TCC_WRITE_REQ_sum,TCP_TCC_ATOMIC_WITH_RET_REQ_sum,"
				"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum" TIMES ROW(
					0, "copy") "10,10,0,20,100,50,10,0,0,1000,2000\n");
		if (ask(&a, "in", NULL) && CHECK((k = kernel_of(&a, "copy")) != NULL)) {
			CHECK_NEAR(k->roof.intensity[RK_LEVEL_L1], 60 * 64 / cases[i].l1);
			CHECK_NEAR(k->roof.intensity[RK_LEVEL_L2], 60 * 64 / cases[i].l2);
			/* the table of L1 and L2 was always right */
			CHECK_NEAR(value_of(&a, "l1_bw")->avg, 12.8);
		}
		ask_close(&a);
	}
}

TEST(channels_add_up_under_either_prefix)
{
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	if (ask(&a, "in", NULL)) {
		const struct rk_metric_value *v = of_kernel(&a, "copy", "fabric_read_bw");

		/* 4000 reads of 64 bytes in 1000 ns; 4000 of 32 and 4000 of 64 in 3000 ns */
		CHECK_NEAR(v->max, 256);
		CHECK_NEAR(v->min, (4000 * 32 + 4000 * 64) / 3000.);
		CHECK_NEAR(v->peak, 1000 * 32 * 32 / 1000.);
		/* 2000 of 64 bytes; 2000 of 64 and 2000 of 32 */
		v = of_kernel(&a, "copy", "fabric_write_bw");
		CHECK_NEAR(v->max, 128);
		CHECK_NEAR(v->min, (2000 * 64 + 2000 * 32) / 3000.);
	}
	/* gfx908 has these counters under both names */
	world_text(&a.w, "v3/1_counter_collection.csv",
		   V3 V3_ROW(1, "TCC_EA_WRREQ_sum", 100, 1000, 2000)
			   V3_ROW(1, "TCC_EA0_WRREQ_64B_sum", 60, 1000, 2000));
	if (ask(&a, "v3", &(struct rk_metrics_options){ .arch = "gfx908" }))
		CHECK_NEAR(value_of(&a, "fabric_write_bw")->avg, (60 * 64 + 40 * 32) / 1000.);
	ask_close(&a);
}

TEST(medians_are_of_all_dispatches_and_of_each_kernel)
{
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	if (ask(&a, "in", NULL)) {
		CHECK_NEAR(value_of(&a, "l1_stall_l2_data_pct")->median, 30);
		CHECK_NEAR(of_kernel(&a, "copy", "l1_stall_l2_data_pct")->median, 20);
		CHECK_NEAR(of_kernel(&a, "fill", "l1_stall_l2_data_pct")->median, 80);
		CHECK_NEAR(value_of(&a, "l1_stall_l2_data_pct")->avg, 40);
	}
	ask_close(&a);
}

static double normal_of(struct ask *a, enum rk_normal normal)
{
	const struct rk_metrics_options opt = { .normal = normal, .kernel_regex = "fill" };

	return ask(a, "in", &opt) && CHECK(a->m->normal == normal) ? value_of(a, "inst_salu")->avg :
								     NAN;
}

TEST(the_four_normalisers_agree)
{
	double kernel, wave, cycle, second;
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	kernel = normal_of(&a, RK_PER_KERNEL);
	wave = normal_of(&a, RK_PER_WAVE);
	cycle = normal_of(&a, RK_PER_CYCLE);
	second = normal_of(&a, RK_PER_SECOND);
	CHECK_NEAR(kernel, 400);
	CHECK_NEAR(wave * 400, kernel);
	CHECK_NEAR(cycle * 500, kernel);
	CHECK_NEAR(second * 500e-9, kernel);
	ask_close(&a);
}

TEST(the_mean_per_second_is_one_of_rates)
{
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	if (ask(&a, "in", &(struct rk_metrics_options){ .normal = RK_PER_SECOND }))
		CHECK_NEAR(of_kernel(&a, "copy", "inst_salu")->avg,
			   (2560 / 1e-6 + 5120 / 3e-6) / 2);
	ask_close(&a);
}

TEST(a_filter_leaves_the_other_kernels_out_of_everything)
{
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	if (ask(&a, "in", &(struct rk_metrics_options){ .kernel_regex = "^co" })) {
		CHECK_U64(a.m->nkernels, 1);
		CHECK_U64(a.m->dispatches, 2);
		CHECK_I64(a.m->total_ns, 4000);
		CHECK_NEAR(a.m->kernels[0].percent, 100);
		CHECK_NEAR(value_of(&a, "wavefronts")->min, 512);
	}
	if (ask(&a, "in", &(struct rk_metrics_options){ .kernel_regex = "nothing" })) {
		CHECK_U64(a.m->nkernels, 0);
		CHECK_U64(a.m->nmetrics, 0);
		CHECK_U64(a.m->nverdicts, 0);
		CHECK(is_whole(a.m));
	}
	CHECK_I64(ask_with(&a, "in", 1, &(struct rk_metrics_options){ .kernel_regex = "(" }),
		  RK_E_USAGE);
	CHECK(strstr(a.w.err.message, "regular expression") != NULL);
	ask_close(&a);
}

TEST(what_the_user_says_of_the_chip_goes_first)
{
	char other[600];
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	snprintf(other, sizeof(other), "%s/other.csv", a.w.dir);
	world_text(&a.w, "other.csv",
		   SYSINFO_HEAD
		   "w,prog,SQ,MI210,gfx90a,50,4,8,64,32,1000,1000,1000,1000,32,32,50,4,2,"
		   "32\n");
	if (ask(&a, "in", &(struct rk_metrics_options){ .sysinfo = other })) {
		CHECK_NEAR(a.m->devices[0].cus, 50);
		/* over half the clocks, for there are two dies */
		CHECK_NEAR(value_of(&a, "kernel_cycles")->max, 1500);
		CHECK_NEAR(value_of(&a, "occupancy_waves")->peak, 32 * 50);
	}
	if (ask(&a, "in", &(struct rk_metrics_options){ .arch = "gfx908" })) {
		CHECK_STR(a.m->arch, "gfx908");
		CHECK_STR(absent(&a, "vmem_latency"), "not defined for gfx908");
	}
	CHECK_I64(ask_with(&a, "in", 1, &(struct rk_metrics_options){ .arch = "gfx1" }),
		  RK_E_USAGE);
	CHECK_I64(ask_with(&a, "in", 1, &(struct rk_metrics_options){ .sysinfo = "/nowhere" }),
		  RK_E_IO);
	snprintf(other, sizeof(other), "%s/in/pmc_perf.csv", a.w.dir);
	CHECK_I64(ask_with(&a, "in", 1, &(struct rk_metrics_options){ .sysinfo = other }),
		  RK_E_FORMAT);
	CHECK(strstr(a.w.err.message, "describes no GPU") != NULL);
	ask_close(&a);
}

TEST(a_long_file_has_the_median_time_of_its_rows)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/sysinfo.csv", SYSINFO);
	/* 100 ns, 100 ns, 300 ns, 400 ns: 200; the integral is a counter of its own */
	world_text(&a.w, "in/pmc_perf.csv",
		   LONG LONG_ROW(1, "SQ_WAVES", 64, 1000, 1100) LONG_ROW(1, "GRBM_GUI_ACTIVE", 50,
									 1000, 1100)
			   LONG_ROW(1, "SQ_LEVEL_WAVES_ACCUM", 100, 2000, 2300)
				   LONG_ROW(1, "SQ_INSTS_SALU", 20, 3000, 3400)
					   LONG_ROW(2, "SQ_WAVES", 64, 5000, 5700)
						   LONG_ROW(2, "GRBM_GUI_ACTIVE", 100, 5000, 5700));
	if (ask(&a, "in", &(struct rk_metrics_options){ .normal = RK_PER_SECOND })) {
		const struct rk_metric_value *t = value_of(&a, "kernel_time_ns");

		CHECK_U64(a.m->dispatches, 2);
		CHECK_NEAR(t->min, 200);
		CHECK_NEAR(t->max, 700);
		CHECK_NEAR(value_of(&a, "inst_salu")->avg, 20 / 200e-9);
		CHECK_NEAR(value_of(&a, "occupancy_waves")->avg, 2);
		/* the second dispatch ran in one pass only */
		CHECK_U64(flagged(&a, "partial-passes"), 1);
	}
	ask_close(&a);
}

static void make_passes(struct ask *a)
{
	world_text(&a->w, "v3/agent_info.csv", AGENTS MI300X(4));
	world_text(&a->w, "v3/pass_1/1_counter_collection.csv",
		   V3 V3_ROW(1, "GRBM_GUI_ACTIVE", 8000, 1000, 2000)
			   V3_ROW(1, "SQ_WAVES", 4096, 1000, 2000)
				   V3_ROW(2, "GRBM_GUI_ACTIVE", 16000, 3000, 5000)
					   V3_ROW(2, "SQ_WAVES", 8192, 3000, 5000));
	world_text(&a->w, "v3/pass_2/1_counter_collection.csv",
		   V3 V3_ROW(1, "SQ_INSTS_SALU", 40960, 1100, 2300)
			   V3_ROW(2, "SQ_INSTS_SALU", 40960, 3100, 5200));
}

TEST(passes_of_rocprofv3_meet_in_one_dispatch)
{
	struct ask a;

	ask_open(&a);
	make_passes(&a);
	if (ask(&a, "v3", &(struct rk_metrics_options){ .normal = RK_PER_WAVE })) {
		CHECK_STR(a.m->arch, "gfx942");
		CHECK_U64(a.m->dispatches, 2);
		CHECK_NEAR(value_of(&a, "kernel_cycles")->min, 1000);
		CHECK_NEAR(value_of(&a, "kernel_cycles")->max, 2000);
		CHECK_NEAR(value_of(&a, "inst_salu")->max, 10);
		CHECK_NEAR(value_of(&a, "inst_salu")->min, 5);
		CHECK_NEAR(value_of(&a, "kernel_time_ns")->max, 2000);
		CHECK_U64(flagged(&a, "partial-passes"), 0);
	}
	ask_close(&a);
}

/*
 * Hits and misses of pass 2 are from an execution with ten times the hits of pass 1, where misses
 * were not counted.
 */
static void make_repeats(struct ask *a)
{
	world_text(&a->w, "v3/agent_info.csv", AGENTS MI300X(4));
	world_text(&a->w, "v3/pass_1/1_counter_collection.csv",
		   V3 V3_ROW(1, "TCC_HIT_sum", 100, 1000, 2000)
			   V3_ROW(1, "TCC_REQ_sum", 400, 1000, 2000)
				   V3_ROW(1, "TCP_TCC_READ_REQ_sum", 7, 1000, 2000));
	world_text(&a->w, "v3/pass_2/1_counter_collection.csv",
		   V3 V3_ROW(1, "TCC_MISS_sum", 1000, 1000, 2000)
			   V3_ROW(1, "TCC_HIT_sum", 1000, 1000, 2000)
				   V3_ROW(1, "TCP_TCC_WRITE_REQ_sum", 9, 1000, 2000));
}

TEST(a_formula_uses_the_pass_that_has_all_its_counters)
{
	struct ask a;

	ask_open(&a);
	make_repeats(&a);
	if (ask(&a, "v3", NULL)) {
		CHECK_NEAR(value_of(&a, "l2_hit_pct")->avg, 50);
		CHECK(!value_of(&a, "l2_hit_pct")->split);
		/* alone, a counter is the first that was measured */
		CHECK_NEAR(value_of(&a, "l2_hits")->avg, 100);
		CHECK_U64(flagged(&a, "hits-above-requests"), 0);
		/* no pass has reads and writes */
		CHECK(value_of(&a, "l1_l2_bw_no_atomics")->split);
		CHECK(!value_of(&a, "l1_l2_read")->split);
	}
	ask_close(&a);
}

TEST(programs_that_measure_a_counter_in_different_passes_keep_it)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "v3/agent_info.csv", AGENTS MI300X(4));
	world_text(&a.w, "v3/one/pass_1/1_counter_collection.csv",
		   V3 V3_ROW(1, "TCC_HIT_sum", 100, 1000, 2000));
	world_text(&a.w, "v3/two/pass_1/1_counter_collection.csv",
		   V3 V3_ROW(1, "SQ_WAVES", 64, 1000, 2000));
	world_text(&a.w, "v3/two/pass_2/1_counter_collection.csv",
		   V3 V3_ROW(1, "TCC_HIT_sum", 300, 1000, 2000));
	if (ask(&a, "v3", NULL)) {
		CHECK_U64(value_of(&a, "l2_hits")->dispatches, 2);
		CHECK_NEAR(value_of(&a, "l2_hits")->max, 300);
	}
	ask_close(&a);
}

TEST(integrals_of_two_passes_keep_their_level_counters)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "v3/agent_info.csv", AGENTS MI300X(4));
	world_text(&a.w, "v3/pass_1/1_counter_collection.csv",
		   V3 V3_ROW(1, "GRBM_GUI_ACTIVE", 8000, 1000, 2000)
			   V3_ROW(1, "SQ_LEVEL_WAVES", 0, 1000, 2000)
				   V3_ROW(1, "SQ_ACCUM_PREV_HIRES", 5000, 1000, 2000));
	world_text(&a.w, "v3/pass_2/1_counter_collection.csv",
		   V3 V3_ROW(1, "SQ_IFETCH", 100, 1000, 2000)
			   V3_ROW(1, "SQ_IFETCH_LEVEL", 0, 1000, 2000)
				   V3_ROW(1, "SQ_ACCUM_PREV_HIRES", 700, 1000, 2000));
	if (ask(&a, "v3", NULL)) {
		CHECK_NEAR(value_of(&a, "occupancy_waves")->avg, 5);
		CHECK_NEAR(value_of(&a, "ifetch_latency")->avg, 7);
	}
	ask_close(&a);
}

TEST(a_pass_that_ended_early_is_reported)
{
	struct ask a;

	ask_open(&a);
	make_passes(&a);
	world_text(&a.w, "v3/pass_2/1_counter_collection.csv",
		   V3 V3_ROW(1, "SQ_INSTS_SALU", 40960, 1100, 2300));
	if (ask(&a, "v3", NULL)) {
		CHECK_U64(value_of(&a, "inst_salu")->dispatches, 1);
		CHECK_NEAR(value_of(&a, "inst_salu")->avg, 40960);
		CHECK_U64(flagged(&a, "partial-passes"), 1);
	}
	ask_close(&a);
}

TEST(results_of_rocprof_v1_have_counters_without_times)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "results.csv",
		   "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,"
		   "accum_vgpr,sgpr,wave_size,sig,obj,SQ_WAVES,SQ_INSTS_SALU\n"
		   "0,\"copy\",8,0,0,77,78,1024,256,0,0,16,0,32,64,0x0,0x7f,512,1024\n");
	if (ask(&a, "results.csv",
		&(struct rk_metrics_options){ .arch = "gfx90a", .normal = RK_PER_WAVE })) {
		CHECK_NEAR(value_of(&a, "inst_salu")->avg, 2);
		CHECK_NEAR(value_of(&a, "inst_salu")->weighted, NAN);
		CHECK_NEAR(value_of(&a, "grid_size")->avg, 1024);
		CHECK_STR(absent(&a, "kernel_time_ns"),
			  "no dispatch has a value: a divisor is 0 or a counter is missing");
		CHECK_U64(flagged(&a, "no-time"), 1);
		CHECK_STR(a.m->kernels[0].verdict.name, "unusable");
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

/* Asks the raw files, then what they are converted to. */
static void check_converted(const char *in, const char *sysinfo, void (*make)(struct ask *a))
{
	char out[600], chip[600];
	const struct rk_convert_options convert = { .out = out };
	struct rk_convert_result result;
	struct rk_metrics_options opt = { .sysinfo = chip };
	struct ask raw, own;

	ask_open(&raw);
	ask_open(&own);
	make(&raw);
	snprintf(out, sizeof(out), "%s/out.parquet", own.w.dir);
	snprintf(chip, sizeof(chip), "%s/%s", raw.w.dir, sysinfo);
	if (ask(&raw, in, &opt)) {
		CHECK_I64(rk_run_convert(raw.run, &convert, &result, &raw.w.err), 0);
		if (ask(&own, "out.parquet", &opt)) {
			CHECK(same_answer(raw.m, own.m));
			CHECK(own.m->nmetrics > 10);
		}
	}
	ask_close(&own);
	ask_close(&raw);
}

TEST(our_own_parquet_of_passes_gives_the_same)
{
	check_converted("v3", "v3/agent_info.csv", make_passes);
}

TEST(our_own_parquet_of_repeated_counters_gives_the_same)
{
	check_converted("v3", "v3/agent_info.csv", make_repeats);
}

static void make_one_level(struct ask *a)
{
	world_text(&a->w, "in/sysinfo.csv", SYSINFO);
	world_text(&a->w, "in/pmc_perf.csv",
		   WIDE "GRBM_GUI_ACTIVE,SQ_WAVES,TCC_HIT[0],TCC_HIT[1],TCC_MISS_sum" TIMES
			   ROW(0, "copy") "1000,512,10,20,10,5000,6000\n" ROW(
				   1, "copy") "3000,1024,10,,10,10000,13000\n");
	world_text(
		&a->w, "in/SQ_LEVEL_WAVES.csv",
		WIDE "GRBM_GUI_ACTIVE,SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES" TIMES ROW(
			0,
			"copy") "9999,0,5000,5000,6000\n" ROW(1,
							      "copy") "9999,0,12000,10000,13000\n");
}

TEST(our_own_parquet_of_one_level_counter_gives_the_same)
{
	check_converted("in", "in/sysinfo.csv", make_one_level);
}

static void make_two_levels(struct ask *a)
{
	make_one_level(a);
	world_text(
		&a->w, "in/SQ_IFETCH_LEVEL.csv",
		WIDE "SQ_IFETCH,SQ_IFETCH_LEVEL,SQ_ACCUM_PREV_HIRES" TIMES ROW(
			0,
			"copy") "100,0,5000,5000,6000\n" ROW(1,
							     "copy") "200,0,12000,10000,13000\n");
}

TEST(our_own_parquet_of_several_level_counters_gives_the_same)
{
	check_converted("in", "in/sysinfo.csv", make_two_levels);
}

TEST(a_channel_that_is_missing_makes_the_sum_missing)
{
	struct ask a;

	ask_open(&a);
	make_one_level(&a);
	if (ask(&a, "in", NULL)) {
		CHECK_U64(value_of(&a, "l2_hit_pct")->dispatches, 1);
		CHECK_NEAR(value_of(&a, "l2_hit_pct")->avg, 75);
		CHECK_U64(flagged(&a, "partial-passes"), 1);
	}
	ask_close(&a);
}

TEST(channels_in_two_passes_count_once)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "v3/agent_info.csv", AGENTS MI300X(4));
	world_text(&a.w, "v3/pass_1/1_counter_collection.csv",
		   V3 V3_ROW(1, "TCC_HIT[0]", 30, 1000, 2000)
			   V3_ROW(1, "TCC_HIT[1]", 30, 1000, 2000)
				   V3_ROW(1, "TCC_MISS_sum", 40, 1000, 2000));
	world_text(&a.w, "v3/pass_2/1_counter_collection.csv",
		   V3 V3_ROW(1, "TCC_HIT[0]", 31, 1100, 2300)
			   V3_ROW(1, "TCC_HIT[1]", 31, 1100, 2300)
				   V3_ROW(1, "SQ_WAVES", 64, 1100, 2300));
	if (ask(&a, "v3", NULL))
		CHECK_NEAR(value_of(&a, "l2_hit_pct")->avg, 60);
	ask_close(&a);
}

TEST(one_thread_and_two_give_the_same)
{
	struct ask one, two;

	ask_open(&one);
	ask_open(&two);
	make_compute(&one);
	make_compute(&two);
	if (CHECK_I64(ask_with(&one, "in", 1, NULL), 0) &&
	    CHECK_I64(ask_with(&two, "in", 2, NULL), 0))
		CHECK(same_answer(one.m, two.m));
	ask_close(&two);
	ask_close(&one);
}

TEST(asking_twice_gives_the_same)
{
	struct rk_metrics *again = NULL;
	struct ask a;

	ask_open(&a);
	make_compute(&a);
	if (ask(&a, "in", NULL) && CHECK_I64(rk_run_metrics(a.run, NULL, &again, &a.w.err), 0)) {
		CHECK(same_answer(a.m, again));
		CHECK_U64(again->nwarnings, a.m->nwarnings);
	}
	rk_metrics_free(again);
	ask_close(&a);
}
