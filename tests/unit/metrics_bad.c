/* metrics_bad.c - metrics of what is damaged, mixed, huge or empty. */
#include "metrics_world.h"

#define GFX90A (&(struct rk_metrics_options){ .arch = "gfx90a" })

/* One file of rocprof-compute with the chip beside it. */
static void make(struct ask *a, const char *pmc_perf)
{
	world_text(&a->w, "in/sysinfo.csv", SYSINFO);
	world_text(&a->w, "in/pmc_perf.csv", pmc_perf);
}

TEST(two_kinds_of_chips_have_their_own_formulas)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "v3/agent_info.csv", AGENTS MI300X(4) MI210(5));
	world_text(&a.w, "v3/1_counter_collection.csv",
		   V3 V3_OF(4, 1, "a", "GRBM_GUI_ACTIVE", 8000, 1000,
			    2000) V3_OF(5, 2, "b", "GRBM_GUI_ACTIVE", 8000, 3000, 5000)
			   V3_OF(4, 3, "a", "GRBM_GUI_ACTIVE", 8000, 6000, 7000)
				   V3_OF(5, 4, "c", "GRBM_GUI_ACTIVE", 8000, 8000, 9000)
					   V3_OF(5, 5, "c", "GRBM_GUI_ACTIVE", 8000, 9000, 9500));
	if (ask(&a, "v3", NULL)) {
		CHECK_U64(a.m->ndevices, 2);
		/* most dispatches ran on the MI210 */
		CHECK_STR(a.m->arch, "gfx90a");
		CHECK_STR(a.m->devices[1].arch, "gfx942");
		CHECK_U64(flagged(&a, "mixed-architectures"), 2);
		CHECK_NEAR(of_kernel(&a, "a", "kernel_cycles")->avg, 1000);
		CHECK_NEAR(of_kernel(&a, "b", "kernel_cycles")->avg, 8000);
		CHECK_U64(value_of(&a, "kernel_cycles")->dispatches, 5);
		CHECK_NEAR(value_of(&a, "kernel_cycles")->avg, (2 * 1000 + 3 * 8000) / 5.);
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

/* The same device in the one folder is another in the other. */
TEST(runs_on_different_chips_in_one_directory_keep_their_own)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/one/agent_info.csv", AGENTS MI300X(4));
	world_text(&a.w, "in/one/1_counter_collection.csv",
		   V3 V3_OF(4, 1, "a", "GRBM_GUI_ACTIVE", 8000, 1000, 2000));
	world_text(&a.w, "in/two/agent_info.csv", AGENTS MI210(4));
	world_text(&a.w, "in/two/1_counter_collection.csv",
		   V3 V3_OF(4, 1, "b", "GRBM_GUI_ACTIVE", 8000, 1000, 2000)
			   V3_OF(4, 2, "b", "GRBM_GUI_ACTIVE", 8000, 3000, 4000));
	world_text(&a.w, "in/six/sysinfo.csv", SYSINFO);
	world_text(&a.w, "in/six/pmc_perf.csv",
		   WIDE "GRBM_GUI_ACTIVE,SQ_ACTIVE_INST_VALU" TIMES ROW(
			   0, "c") "1000,50000,5000,6000\n");
	if (ask(&a, "in", NULL)) {
		CHECK_U64(a.m->ndevices, 3);
		CHECK_STR(a.m->arch, "gfx90a");
		CHECK_U64(flagged(&a, "mixed-architectures"), 1);
		CHECK_NEAR(of_kernel(&a, "a", "kernel_cycles")->avg, 1000);
		CHECK_NEAR(of_kernel(&a, "b", "kernel_cycles")->avg, 8000);
		/* 100 compute units, not 104 */
		CHECK_NEAR(of_kernel(&a, "c", "valu_busy_pct")->avg, 50);
	}
	if (ask(&a, "in", &(struct rk_metrics_options){ .arch = "gfx90a" }))
		CHECK_U64(flagged(&a, "mixed-architectures"), 0);
	ask_close(&a);
}

TEST(a_file_that_is_named_describes_devices_by_their_numbers_else_by_its_first)
{
	struct rk_metrics_options opt = { 0 };
	char path[600];
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "agent_info.csv", AGENTS MI300X(4) MI210(5));
	world_text(&a.w, "in/1_counter_collection.csv",
		   V3 V3_OF(4, 1, "a", "GRBM_GUI_ACTIVE", 8000, 1000, 2000)
			   V3_OF(5, 2, "b", "GRBM_GUI_ACTIVE", 8000, 3000, 5000)
				   V3_OF(6, 3, "c", "GRBM_GUI_ACTIVE", 8000, 6000, 7000));
	snprintf(path, sizeof(path), "%s/agent_info.csv", a.w.dir);
	opt.sysinfo = path;
	if (ask(&a, "in", &opt)) {
		CHECK_NEAR(of_kernel(&a, "a", "kernel_cycles")->avg, 1000);
		CHECK_NEAR(of_kernel(&a, "b", "kernel_cycles")->avg, 8000);
		CHECK_NEAR(of_kernel(&a, "c", "kernel_cycles")->avg, 1000);
	}
	ask_close(&a);
}

/* 1024 GB/s are all of the one's, and a fifth of the other's. */
TEST(kernels_are_judged_by_the_peaks_of_their_own_chip)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/v3/agent_info.csv", AGENTS MI300X(4));
	world_text(&a.w, "in/v3/1_counter_collection.csv",
		   V3 V3_OF(4, 1, "a", "TCC_EA0_RDREQ", 16000, 1000,
			    2000) V3_OF(4, 1, "a", "TCC_EA0_RDREQ_32B", 0, 1000, 2000)
			   V3_OF(4, 1, "a", "TCC_BUBBLE", 0, 1000, 2000)
				   V3_OF(4, 1, "a", "TCC_EA0_WRREQ", 0, 1000, 2000)
					   V3_OF(4, 1, "a", "TCC_EA0_WRREQ_64B", 0, 1000, 2000));
	world_text(&a.w, "in/six/sysinfo.csv", SYSINFO);
	world_text(&a.w, "in/six/pmc_perf.csv",
		   WIDE "TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum,TCC_EA_WRREQ_sum,"
			"TCC_EA_WRREQ_64B_sum" TIMES ROW(0, "c") "16000,0,0,0,5000,6000\n" ROW(
				1, "c") "16000,0,0,0,7000,8000\n");
	if (ask(&a, "in", NULL)) {
		CHECK_STR(kernel_of(&a, "c")->verdict.name, "memory:hbm");
		CHECK_STR(kernel_of(&a, "c")->verdict.reason,
			  "HBM at 100 % of peak, compute unknown");
		CHECK_STR(kernel_of(&a, "a")->verdict.name, "launch");
		CHECK_STR(absent(&a, "remote_rd_pct"), "TCC_EA_RDREQ_DRAM_sum was not collected");
	}
	ask_close(&a);
}

/* 100 units of 128 operations at 1000 MHz do 12800 in a ns. */
/* 4 TB/s of an MI300X that its sysinfo describes as one die with 768 GB/s. */
TEST(an_impossible_description_is_corrected_and_named)
{
	struct ask a;

	ask_open(&a);
	world_text(
		&a.w, "in/sysinfo.csv",
		"workload_name,command,ip_blocks,gpu_model,gpu_arch,cu_per_gpu,max_sclk,max_mclk,"
		"total_l2_chan,num_xcd,num_hbm_channels,hbm_bw\n"
		"w,prog,SQ,MI300X_A1,gfx942,304,2100,1500,16,1,16,768\n");
	world_text(&a.w, "in/pmc_perf.csv",
		   WIDE "TCC_EA0_RDREQ_sum,TCC_BUBBLE_sum,TCC_EA0_RDREQ_32B_sum,TCC_EA0_WRREQ_sum,"
			"TCC_EA0_WRREQ_64B_sum" TIMES ROW(
				0, "copy") "400000,0,0,225000,225000,5000,15000\n");
	if (ask(&a, "in", NULL)) {
		CHECK_U64(warned(&a, "impossible-device"), 1);
		CHECK_NEAR(a.m->devices[0].xcds, 8);
		CHECK_STR(kernel_of(&a, "copy")->verdict.name, "memory:hbm");
		CHECK_STR(kernel_of(&a, "copy")->verdict.reason,
			  "HBM at 75 % of peak, compute unknown");
		CHECK_U64(flagged(&a, "above-peak"), 0);
	}
	ask_close(&a);
}

TEST(a_share_above_its_peak_is_a_doubt_and_decides_nothing)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/sysinfo.csv", SYSINFO);
	/* 7.3 TB/s of 1.024 */
	world_text(&a.w, "in/pmc_perf.csv",
		   WIDE "TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum,TCC_EA_WRREQ_sum,"
			"TCC_EA_WRREQ_64B_sum,SQ_WAIT_ANY,SQ_WAVE_CYCLES" TIMES ROW(
				0, "copy") "1000000,0,137500,137500,70,100,5000,15000\n");
	if (ask(&a, "in", NULL)) {
		const struct rk_metric_kernel *k = kernel_of(&a, "copy");

		CHECK_STR(k->verdict.name, "latency");
		CHECK_STR(k->verdict.reason, "waves wait 70 % of their time for results; memory "
					     "unknown; HBM at 711 % of peak is impossible");
		CHECK_U64(flagged(&a, "above-peak"), 1);
		CHECK_U64(flagged(&a, "bandwidth-above-peak"), 1);
		CHECK_U64(k->flags[a.m->nflags - 1], 1);
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

/* A recording without any agent: the counters are judged by the target's usual product. */
TEST(a_target_without_a_description_is_judged_as_its_usual_product)
{
	static const char *const names[] = { "gfx942", "MI300X" };
	struct ask a;

	for (size_t i = 0; i < 2; i++) {
		const struct rk_metrics_options opt = { .arch = names[i] };

		ask_open(&a);
		world_text(&a.w, "in/1_counter_collection.csv",
			   V3 V3_ROW(1, "TCC_EA0_RDREQ_sum", 400000, 5000,
				     15000) V3_ROW(1, "TCC_BUBBLE_sum", 0, 5000, 15000)
				   V3_ROW(1, "TCC_EA0_RDREQ_32B_sum", 0, 5000,
					  15000) V3_ROW(1, "TCC_EA0_WRREQ_sum", 225000, 5000, 15000)
					   V3_ROW(1, "TCC_EA0_WRREQ_64B_sum", 225000, 5000, 15000));
		if (ask(&a, "in", &opt)) {
			CHECK_STR(a.m->kernels[0].verdict.name, "memory:hbm");
			CHECK_U64(warned(&a, "assumed-device"), i == 0);
			CHECK_STR(a.m->devices[0].product, "MI300X");
		}
		ask_close(&a);
	}
}

#define RX7900XTX(id) \
#id "," #id ",\"GPU\",192,32,1,96,12,2,2,2500,32,\"gfx1100\",\"AMD Radeon RX 7900 XTX\"\n"

#define COUNTED(name, value) V3_ROW(1, name, value, 5000, 105000)

/* 787 GB/s of 960 on the chip that most people have; waves wait for it. */
TEST(a_kernel_at_the_bandwidth_of_gddr_is_limited_by_it)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/1_agent_info.csv", AGENTS RX7900XTX(4));
	world_text(&a.w, "in/1_counter_collection.csv",
		   V3 COUNTED("SQ_WAVES", 40000) COUNTED("SQ_WAVE_CYCLES",
							 1000) COUNTED("SQ_WAIT_ANY", 820)
			   COUNTED("GRBM_GUI_ACTIVE", 250000) COUNTED("GL2C_EA_RDREQ_32B_sum", 0)
				   COUNTED("GL2C_EA_RDREQ_64B_sum",
					   100000) COUNTED("GL2C_EA_RDREQ_96B_sum", 0)
					   COUNTED("GL2C_EA_RDREQ_128B_sum",
						   365000) COUNTED("GL2C_MC_WRREQ_sum", 400000)
						   COUNTED("GL2C_EA_WRREQ_64B_sum", 400000));
	if (ask(&a, "in", NULL)) {
		const struct rk_metric_kernel *k = &a.m->kernels[0];

		CHECK_STR(a.m->devices[0].memory, "GDDR");
		CHECK_STR(k->verdict.name, "memory:dram");
		CHECK_STR(k->verdict.reason, "GDDR at 82 % of peak, compute unknown");
		CHECK_STR(k->verdict.numbers[0].name, "dram_pct");
		CHECK_NEAR(value_of(&a, "fabric_bw")->avg, 787.2);
		CHECK_NEAR(value_of(&a, "fabric_bw")->peak, 960);
		CHECK_STR(absent(&a, "hbm_rd_pct"),
			  "not defined for gfx1100: the memory is not HBM; see fabric_bw, and the "
			  "group dram");
		CHECK(is_whole(a.m));
	}
	/* 8.4 million clocks of 250000 on 48 workgroup processors */
	world_text(&a.w, "in/1_counter_collection.csv",
		   V3 COUNTED("SQ_INST_CYCLES_VALU", 8400000) COUNTED("GRBM_GUI_ACTIVE", 250000));
	if (ask(&a, "in", NULL)) {
		CHECK_NEAR(value_of(&a, "valu_busy_pct")->avg, 70);
		CHECK_STR(a.m->kernels[0].verdict.name, "compute:valu");
	}
	ask_close(&a);
}

#define F32(n)                                                                                   \
	"SQ_INSTS_VALU_ADD_F32,SQ_INSTS_VALU_MUL_F32,SQ_INSTS_VALU_TRANS_F32,SQ_INSTS_VALU_FMA_" \
	"F32,TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum,TCC_EA_WRREQ_sum,TCC_EA_WRREQ_64B_sum" n

/* A matrix kernel of which only vector operations were counted is drawn too low. */
TEST(a_place_in_the_roofline_says_which_operations_were_not_counted)
{
	struct rk_metrics_look look = { .look.format = RK_REPORT_TEXT };
	struct rk_error err = { 0 };
	struct ask a;
	char *text = NULL;
	size_t len;

	ask_open(&a);
	world_text(&a.w, "in/sysinfo.csv", SYSINFO);
	world_text(&a.w, "in/pmc_perf.csv",
		   WIDE F32() TIMES ROW(0, "gemm") "10,10,0,40,1000,0,100,100,5000,25000\n");
	if (ask(&a, "in", NULL)) {
		const struct rk_metric_kernel *k = kernel_of(&a, "gemm");

		CHECK_STR(k->roof.uncounted, "vector and matrix");
		/* far below the ridge only because the rest is missing */
		CHECK_STR(k->verdict.name, "mixed");
		CHECK_I64(rk_metrics_render(a.m, &look, &text, &len, &err), 0);
		CHECK(text && strstr(text, " * a: not all vector and matrix operations were "
					   "counted, so the true place is higher") != NULL);
		rk_text_free(text);
	}
	/* no matrix instruction was executed */
	world_text(&a.w, "in/pmc_perf.csv",
		   WIDE F32(",SQ_INSTS_MFMA,SQ_INSTS_VALU")
			   TIMES ROW(0, "gemm") "10,10,0,40,1000,0,100,100,0,60,5000,25000\n");
	if (ask(&a, "in", NULL))
		CHECK_STR(kernel_of(&a, "gemm")->roof.uncounted, "vector");
	ask_close(&a);
}

/* Strix Halo: L2's traffic, or that of the arbiter of the memory alone. */
TEST(rdna_3_5_has_its_own_caches_and_memory)
{
	static const struct rk_metrics_options halo = { .arch = "Radeon 8060S" };
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/1_counter_collection.csv",
		   V3 COUNTED("GCEA_RDRAM_SIZE_REQ_sum", 500000)
			   COUNTED("GCEA_WDRAM_SIZE_REQ_sum", 140000) COUNTED("TCP_REQ_sum", 1000)
				   COUNTED("TCP_REQ_MISS_sum", 250) COUNTED("GL1C_REQ_sum", 400)
					   COUNTED("GL1C_REQ_MISS_sum", 100)
						   COUNTED("SQ_WAVE_CYCLES_sum", 1000)
							   COUNTED("SQ_WAIT_BARRIER", 300));
	if (ask(&a, "in", &halo)) {
		CHECK_NEAR(value_of(&a, "dram_read_bw")->avg, 160);
		CHECK_NEAR(value_of(&a, "dram_read_bw")->peak, 256);
		CHECK_NEAR(value_of(&a, "fabric_bw")->avg, 204.8);
		CHECK_NEAR(value_of(&a, "l1_hit_pct")->avg, 75);
		CHECK_NEAR(value_of(&a, "gl1_hit_pct")->avg, 75);
		CHECK_NEAR(value_of(&a, "wait_barrier_frac")->avg, 30);
		CHECK_STR(a.m->kernels[0].verdict.name, "memory:dram");
		CHECK_STR(a.m->kernels[0].verdict.reason, "LPDDR at 80 % of peak, compute unknown");
	}
	ask_close(&a);
}

TEST(more_arithmetic_than_the_chip_can_do_is_a_doubt)
{
	struct ask a;

	ask_open(&a);
	make(&a, WIDE "SQ_INSTS_VALU_ADD_F32,SQ_INSTS_VALU_MUL_F32,SQ_INSTS_VALU_TRANS_F32,"
		      "SQ_INSTS_VALU_FMA_F32,SQ_INSTS_VALU_ADD_F64,SQ_INSTS_VALU_MUL_F64,"
		      "SQ_INSTS_VALU_TRANS_F64,SQ_INSTS_VALU_FMA_F64" TIMES
			      ROW(0, "a") "0,0,0,0,0,0,0,100000,5000,6000\n" ROW(
				      1, "b") "0,0,0,0,0,0,0,150000,7000,8000\n");
	if (ask(&a, "in", NULL))
		CHECK_U64(flagged(&a, "arithmetic-above-peak"), 1);
	ask_close(&a);
}

TEST(few_reads_from_the_host_do_not_make_a_kernel_communicate)
{
	struct ask a;

	ask_open(&a);
	make(&a,
	     WIDE "TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum,TCC_EA_RDREQ_DRAM_sum,TCC_EA_WRREQ_sum,"
		  "TCC_EA_WRREQ_64B_sum,TCC_EA_WRREQ_DRAM_sum" TIMES
			  ROW(0, "fill") "310,0,140,160000,160000,160000,5000,15000\n" ROW(
				  1, "pull") "80000,0,40000,80000,80000,80000,25000,35000\n");
	if (ask(&a, "in", NULL)) {
		CHECK_STR(kernel_of(&a, "fill")->verdict.name, "memory:hbm");
		CHECK_STR(kernel_of(&a, "pull")->verdict.name, "communication");
	}
	ask_close(&a);
}

/* No numbers have a range, too: nothing is moved into it. */
TEST(passes_are_not_joined_to_a_file_without_kernels)
{
	struct ask a;

	ask_open(&a);
	make(&a, WIDE "GRBM_GUI_ACTIVE" TIMES);
	world_text(&a.w, "in/SQ_LEVEL_WAVES.csv",
		   WIDE "SQ_WAVES" TIMES ROW(0, "a") "64,5000,6000\n" ROW(1, "a") "64,7000,8000\n");
	if (ask(&a, "in", NULL))
		CHECK(is_whole(a.m));
	ask_close(&a);
}

TEST(counters_that_no_formula_reads_are_not_called_none)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "v3/1_counter_collection.csv",
		   V3 V3_OF(4, 1, "a", "FETCH_SIZE", 8000, 1000, 90000));
	if (ask(&a, "v3", NULL))
		CHECK_STR(kernel_of(&a, "a")->verdict.reason,
			  "the collected counters do not show what limits it; name the "
			  "chip with --arch");
	ask_close(&a);
}

TEST(chips_without_kernels_are_not_shown)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "v3/agent_info.csv", AGENTS MI300X(4) MI210(5));
	world_text(&a.w, "v3/1_counter_collection.csv",
		   V3 V3_OF(5, 2, "b", "GRBM_GUI_ACTIVE", 8000, 3000, 5000));
	if (ask(&a, "v3", NULL)) {
		CHECK_U64(a.m->ndevices, 1);
		CHECK_STR(a.m->arch, "gfx90a");
		CHECK_U64(flagged(&a, "mixed-architectures"), 0);
		CHECK_NEAR(value_of(&a, "kernel_cycles")->avg, 8000);
	}
	ask_close(&a);
}

TEST(an_unknown_chip_is_reported_and_has_what_needs_no_chip)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "v3/1_counter_collection.csv",
		   V3 V3_ROW(1, "SQ_WAVES", 64, 1000, 2000)
			   V3_ROW(1, "TCC_HIT_sum", 4, 1000, 2000));
	if (ask(&a, "v3", NULL)) {
		CHECK_STR(a.m->arch, "");
		CHECK_U64(flagged(&a, "unknown-target"), 1);
		CHECK_NEAR(value_of(&a, "wavefronts")->avg, 64);
		CHECK_STR(absent(&a, "l2_hit_pct"), "not defined for an unknown target");
		CHECK(is_whole(a.m));
	}
	/* a chip that came after this program */
	world_text(&a.w, "v3/agent_info.csv",
		   AGENTS "4,4,\"GPU\",1216,64,8,304,32,1,4,2100,32,\"gfx9999\",\"AMD MI999\"\n");
	if (ask(&a, "v3", NULL))
		CHECK(is_whole(a.m));
	ask_close(&a);
}

TEST(without_counters_the_trace_gives_the_verdict)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/1_agent_info.csv", AGENTS MI300X(4));
	world_text(&a.w, "in/1_kernel_trace.csv",
		   TRACE TRACE_ROW(1, "ncclDevKernel_AllReduce", 1000, 901000)
			   TRACE_ROW(2, "tiny", 1000000, 1001000)
				   TRACE_ROW(3, "gemm", 2000000, 9000000));
	if (ask(&a, "in", NULL) && CHECK_U64(a.m->nkernels, 3)) {
		CHECK_STR(kernel_of(&a, "ncclDevKernel_AllReduce")->verdict.name, "communication");
		CHECK_STR(kernel_of(&a, "tiny")->verdict.name, "launch");
		CHECK_STR(a.m->kernels[0].name, "gemm");
		CHECK(*a.m->kernels[0].verdict.collect);
		CHECK_NEAR(value_of(&a, "kernel_time_ns")->max, 7e6);
		CHECK(strstr(absent(&a, "wavefronts"), "SQ_WAVES was not collected") != NULL);
		CHECK_U64(a.m->trace.ndevices, 1);
		CHECK_I64(a.m->trace.devices[0].kernel_ns, 900000 + 1000 + 7000000);
		CHECK_U64(flagged(&a, "partial-passes"), 0);
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

static double share_sum(const struct rk_metrics *m)
{
	double sum = 0;

	for (size_t i = 0; i < m->nverdicts; i++)
		sum += m->verdicts[i].percent;
	return sum;
}

TEST(shares_of_time_by_verdict_add_up)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "in/1_kernel_trace.csv",
		   TRACE TRACE_ROW(1, "a", 1000, 901000) TRACE_ROW(2, "b", 1000000, 1001000)
			   TRACE_ROW(3, "c", 2000000, 9000000));
	if (ask(&a, "in", NULL)) {
		int64_t total = 0;
		uint64_t calls = 0;

		for (size_t i = 0; i < a.m->nverdicts; i++) {
			total += a.m->verdicts[i].total_ns;
			calls += a.m->verdicts[i].calls;
			CHECK(!i || a.m->verdicts[i - 1].total_ns >= a.m->verdicts[i].total_ns);
		}
		CHECK_I64(total, a.m->total_ns);
		CHECK_U64(calls, a.m->dispatches);
		CHECK(fabs(share_sum(a.m) - 100) < 1e-9);
	}
	ask_close(&a);
}

TEST(times_of_zero_and_below_give_no_rates)
{
	struct ask a;

	ask_open(&a);
	make(&a,
	     WIDE "GRBM_GUI_ACTIVE,SQ_WAVES,SQ_INSTS_SALU" TIMES /* 0 ns, -100 ns, 1000 ns */
		     ROW(0, "a") "1000,64,640,5000,5000\n" ROW(
			     1, "a") "1000,64,640,6000,5900\n" ROW(2,
								   "b") "1000,64,640,7000,8000\n");
	if (ask(&a, "in", &(struct rk_metrics_options){ .normal = RK_PER_SECOND })) {
		CHECK_U64(flagged(&a, "no-time"), 2);
		CHECK_U64(value_of(&a, "inst_salu")->dispatches, 1);
		CHECK_NEAR(value_of(&a, "inst_salu")->avg, 640 / 1e-6);
		CHECK_NEAR(value_of(&a, "wavefronts")->avg, 64);
		CHECK_U64(value_of(&a, "wavefronts")->dispatches, 3);
		CHECK_STR(kernel_of(&a, "a")->verdict.name, "unusable");
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

TEST(counters_that_are_not_numbers_are_missing_and_reported)
{
	struct ask a;

	ask_open(&a);
	make(&a,
	     WIDE "SQ_WAVES,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS" TIMES
		     ROW(0, "a") "64,nan,-5,-7,5000,6000\n" ROW(
			     1,
			     "a") "64,10,20,30,7000,8000\n" ROW(2,
								"a") "64,,inf,1e400,7000,8000\n");
	if (ask(&a, "in", NULL)) {
		CHECK_U64(value_of(&a, "inst_salu")->dispatches, 1);
		CHECK_NEAR(value_of(&a, "inst_salu")->avg, 10);
		CHECK_NEAR(value_of(&a, "inst_smem")->min, 20);
		CHECK_NEAR(value_of(&a, "inst_lds")->max, 30);
		/* dispatches, not values */
		CHECK_U64(flagged(&a, "damaged-counter"), 1);
		CHECK_U64(flagged(&a, "partial-passes"), 2);
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

TEST(sums_of_huge_values_are_missing_and_never_infinite)
{
	char own[600];
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "own.json",
		   "{\"schema\": 1, \"metrics\": [{\"id\": \"huge\", \"expr\": \"SQ_WAVES*1e8\"}, "
		   "{\"id\": \"low\", \"expr\": \"0-SQ_WAVES*1e8\"}]}");
	snprintf(own, sizeof(own), "%s/own.json", a.w.dir);
	make(&a, WIDE "SQ_WAVES" TIMES ROW(0, "a") "1e300,5000,1000000005000\n" ROW(
			 1, "a") "1e300,2000000000000,3000000000000\n" ROW(2, "a") "5e299,1,2\n");
	if (ask(&a, "in", &(struct rk_metrics_options){ .metrics = own })) {
		CHECK_NEAR(value_of(&a, "huge")->max, 1e308);
		CHECK_NEAR(value_of(&a, "huge")->avg, NAN);
		CHECK_NEAR(value_of(&a, "huge")->weighted, NAN);
		CHECK_NEAR(of_kernel(&a, "a", "huge")->avg, NAN);
		CHECK_NEAR(of_kernel(&a, "a", "low")->avg, NAN);
		CHECK_NEAR(value_of(&a, "wavefronts")->avg, 2.5e300 / 3);
		CHECK_NEAR(value_of(&a, "wavefronts")->weighted, NAN);
	}
	ask_close(&a);
}

TEST(contradictory_counters_are_reported_by_name)
{
	struct ask a;

	ask_open(&a);
	make(&a,
	     WIDE "TCC_HIT_sum,TCC_MISS_sum,TCC_REQ_sum,GRBM_GUI_ACTIVE,GRBM_COUNT" TIMES
		     ROW(0, "a") "300,0,100,1000,1000,5000,6000\n" ROW(
			     1,
			     "a") "50,50,100,1000,500,7000,8000\n" ROW(2,
								       "b") "50,50,100,20000,20000,9000,10000\n");
	if (ask(&a, "in", NULL)) {
		const struct rk_metric_kernel *k = kernel_of(&a, "a");

		CHECK_U64(flagged(&a, "hits-above-requests"), 1);
		CHECK_U64(flagged(&a, "busy-above-total"), 1);
		CHECK_U64(flagged(&a, "window-ratio"), 1);
		for (size_t i = 0; i < a.m->nflags; i++) {
			const struct rk_metric_flag *f = &a.m->flags[i];

			CHECK(*f->text);
			if (strcmp(f->kind, "hits-above-requests") == 0) {
				CHECK_NEAR(f->worst, 3);
				CHECK_U64(k->flags[i], 1);
			}
			if (strcmp(f->kind, "window-ratio") == 0) {
				CHECK_NEAR(f->worst, 20);
				CHECK_U64(k->flags[i], 0);
				CHECK_U64(kernel_of(&a, "b")->flags[i], 1);
			}
		}
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

TEST(counters_that_are_all_zero_were_not_collected)
{
	struct ask a;

	ask_open(&a);
	make(&a, WIDE "GRBM_GUI_ACTIVE,GRBM_COUNT,SQ_WAVES,SQ_BUSY_CYCLES" TIMES ROW(
			 0, "a") "0,0,0,0,5000,6000\n" ROW(1, "a") "0,0,0,0,7000,8000\n");
	if (ask(&a, "in", &(struct rk_metrics_options){ .normal = RK_PER_CYCLE })) {
		CHECK_U64(flagged(&a, "no-waves"), 2);
		CHECK_U64(flagged(&a, "no-cycles"), 2);
		CHECK_STR(a.m->kernels[0].verdict.name, "unusable");
		CHECK(*absent(&a, "gpu_busy_pct"));
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

/* `n` counters nobody knows, and behind them one that everybody knows, in one dispatch. */
static void make_many(struct ask *a, unsigned n, const char *name)
{
	struct rk_bytes text;

	rk_bytes_init(&text, 4 << 20);
	rk_bytes_puts(&text, WIDE);
	for (unsigned i = 0; i < n; i++)
		rk_bytes_printf(&text, name, i);
	rk_bytes_puts(&text, "SQ_WAVES" TIMES ROW(0, "a"));
	for (unsigned i = 0; i < n; i++)
		rk_bytes_printf(&text, "%u,", i);
	rk_bytes_puts(&text, "64,5000,6000\n");
	world_text(&a->w, "in/sysinfo.csv", SYSINFO);
	world_file(&a->w, "in/pmc_perf.csv", text.data, text.len);
	rk_bytes_release(&text);
}

TEST(more_counters_than_columns_fit_do_no_harm)
{
	struct ask a;

	ask_open(&a);
	make_many(&a, 3000, "MINE_%u,");
	if (ask(&a, "in", NULL))
		CHECK_NEAR(value_of(&a, "wavefronts")->avg, 64);
	make_many(&a, 2000, "TCC_HIT[%u],");
	if (ask(&a, "in", NULL)) {
		CHECK_NEAR(value_of(&a, "wavefronts")->avg, 64);
		CHECK(strstr(absent(&a, "l2_hit_pct"), "TCC_MISS_sum was not collected") != NULL);
	}
	ask_close(&a);
}

TEST(two_thousand_channels_add_up)
{
	struct ask a;
	char own[600];

	ask_open(&a);
	world_text(&a.w, "own.json",
		   "{\"schema\": 1, \"metrics\": [{\"id\": \"hits\", \"expr\": \"TCC_HIT_sum\"}]}");
	snprintf(own, sizeof(own), "%s/own.json", a.w.dir);
	make_many(&a, 2000, "TCC_HIT[%u],");
	if (ask(&a, "in", &(struct rk_metrics_options){ .metrics = own }))
		CHECK_NEAR(value_of(&a, "hits")->avg, 1999 * 1000);
	ask_close(&a);
}

TEST(a_parquet_has_all_channels_or_none)
{
	char out[600], own[600], chip[600];
	const struct rk_convert_options convert = { .out = out };
	struct rk_metrics_options opt = { .metrics = own, .sysinfo = chip };
	struct rk_convert_result result;
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "own.json",
		   "{\"schema\": 1, \"metrics\": [{\"id\": \"hits\", \"expr\": \"TCC_HIT_sum\"}]}");
	snprintf(own, sizeof(own), "%s/own.json", a.w.dir);
	snprintf(out, sizeof(out), "%s/out.parquet", a.w.dir);
	snprintf(chip, sizeof(chip), "%s/in/sysinfo.csv", a.w.dir);
	make_many(&a, 1100, "TCC_HIT[%u],");
	if (ask(&a, "in", &opt)) {
		CHECK_NEAR(value_of(&a, "hits")->avg, 1099 * 550);
		CHECK_I64(rk_run_convert(a.run, &convert, &result, &a.w.err), 0);
	}
	/* what did not fit is missing, and never a part of it the whole */
	if (ask(&a, "out.parquet", &opt)) {
		CHECK_STR(absent(&a, "hits"), "TCC_HIT_sum was not collected");
		CHECK_NEAR(value_of(&a, "wavefronts")->avg, 64);
	}
	ask_close(&a);
}

TEST(a_run_without_kernels_has_no_values)
{
	struct ask a;

	ask_open(&a);
	make(&a, WIDE "SQ_WAVES" TIMES);
	if (ask(&a, "in", NULL)) {
		CHECK_U64(a.m->dispatches, 0);
		CHECK_U64(a.m->nkernels, 0);
		CHECK_U64(a.m->nmetrics, 0);
		CHECK_STR(absent(&a, "kernel_time_ns"), "there are no kernels");
		CHECK_U64(a.m->nflags, 0);
		CHECK_I64(a.m->total_ns, 0);
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}

TEST(kernels_past_those_that_fit_count_together)
{
	enum { KERNELS = 6000 };
	struct rk_bytes text;
	struct ask a;

	ask_open(&a);
	rk_bytes_init(&text, 4 << 20);
	rk_bytes_puts(&text, TRACE);
	for (int i = 0; i < KERNELS; i++)
		rk_bytes_printf(
			&text,
			"\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9,%d,7,\"k%d\",5,%d,%d,0,0,8,0,"
			"16,256,1,1,1024,1,1\n",
			i + 1, i, i * 20000, i * 20000 + 10000 + i);
	world_file(&a.w, "1_kernel_trace.csv", text.data, text.len);
	if (ask(&a, "1_kernel_trace.csv", GFX90A)) {
		const struct rk_metric_kernel *others = kernel_of(&a, "(other kernels)");
		uint64_t calls = 0;

		CHECK_U64(warned(&a, "many-kernels"), 1);
		CHECK_I64(a.m->total_ns, 10000LL * KERNELS + KERNELS * (KERNELS - 1LL) / 2);
		CHECK(a.m->nkernels < KERNELS && a.m->kernels[0].name == others->name);
		for (size_t i = 0; i < a.m->nkernels; i++) {
			calls += a.m->kernels[i].calls;
			CHECK(!i || a.m->kernels[i - 1].total_ns >= a.m->kernels[i].total_ns);
		}
		CHECK_U64(calls, KERNELS);
		CHECK_U64(others->calls, KERNELS - a.m->nkernels + 1);
		CHECK_U64(of_kernel(&a, "(other kernels)", "kernel_time_ns")->dispatches,
			  others->calls);
		/* nobody else has their values */
		CHECK_U64(of_kernel(&a, a.m->kernels[1].name, "kernel_time_ns")->dispatches, 1);
		CHECK(fabs(share_sum(a.m) - 100) < 1e-6);
		CHECK(is_whole(a.m));
	}
	rk_bytes_release(&text);
	ask_close(&a);
}

TEST(times_that_do_not_add_up_stay_at_the_largest)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "1_kernel_trace.csv",
		   TRACE TRACE_ROW(1, "a", 0, 9000000000000000000)
			   TRACE_ROW(2, "b", 0, 9000000000000000000)
				   TRACE_ROW(3, "a", 5, 9000000000000000000));
	if (ask(&a, "1_kernel_trace.csv", GFX90A)) {
		CHECK_I64(a.m->total_ns, INT64_MAX);
		CHECK(a.m->nverdicts > 0 && a.m->verdicts[0].total_ns == INT64_MAX);
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}
