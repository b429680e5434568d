/* metric_verdict.c - what limits a kernel: each rule, their order, and what is not known. */
#include "metrics/metric_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "metrics/metric_limits.h"
#include "tap.h"

#define LIMITS "rockit run -c @limits --then metrics -- PROGRAM"
#define RESOURCES "rockit run -c @limits,@resources --then metrics -- PROGRAM"
#define OTHER "rockit run -p full --then metrics -- PROGRAM"

/* All that the facts have of doubles, to set them at once. */
static double *numbers_of(struct rk_verdict_facts *f, size_t i)
{
	double *const all[] = {
		&f->mean_ns,
		&f->median_ns,
		&f->level_pct[RK_LEVEL_LDS],
		&f->level_pct[RK_LEVEL_L1],
		&f->level_pct[RK_LEVEL_L2],
		&f->level_pct[RK_LEVEL_HBM],
		&f->side_pct,
		&f->flop_pct,
		&f->valu_busy_pct,
		&f->mfma_busy_pct,
		&f->window_ratio,
		&f->cycles,
		&f->sclk,
		&f->waves,
		&f->cus,
		&f->remote_pct,
		&f->link_stall_pct,
		&f->dep_wait_pct,
		&f->issue_wait_pct,
		&f->lanes_on,
		&f->occupancy_pct,
		&f->vmem_latency,
		&f->no_waveslot_pct,
		&f->no_vgpr_pct,
		&f->no_sgpr_pct,
		&f->no_lds_pct,
		&f->no_barrier_pct,
		&f->intensity,
		&f->ridge,
		&f->gap_share,
	};

	return i < sizeof(all) / sizeof(all[0]) ? all[i] : NULL;
}

static struct rk_verdict_facts nothing(void)
{
	struct rk_verdict_facts f = {
		.name = "k", .arch = "gfx942", .flop_pipe = "", .side = "reads"
	};

	for (size_t i = 0; numbers_of(&f, i); i++)
		*numbers_of(&f, i) = NAN;
	f.timed = true;
	f.mean_ns = f.median_ns = 100000;
	return f;
}

/* A kernel that fires no rule but the last, with all inputs known. */
static struct rk_verdict_facts dull(void)
{
	struct rk_verdict_facts f = nothing();

	f.counters = true;
	f.level_pct[RK_LEVEL_HBM] = 20;
	f.level_pct[RK_LEVEL_L2] = 15;
	f.level_pct[RK_LEVEL_L1] = 10;
	f.level_pct[RK_LEVEL_LDS] = 5;
	f.flop_pct = 3;
	f.flop_pipe = "vector f32";
	f.valu_busy_pct = 12;
	f.mfma_busy_pct = 0;
	f.window_ratio = 1;
	f.cycles = 210000;
	f.sclk = 2100;
	f.cus = 304;
	f.waves = 20000;
	f.remote_pct = 0;
	f.link_stall_pct = 0;
	f.dep_wait_pct = 30;
	f.issue_wait_pct = 10;
	f.lanes_on = 64;
	f.occupancy_pct = 60;
	f.vmem_latency = 700;
	f.gap_share = 0.1;
	return f;
}

static struct rk_verdict judge(const struct rk_verdict_facts *f)
{
	struct rk_verdict v;

	rk_verdict_judge(f, &v);
	CHECK(*v.reason != '\0');
	CHECK(strlen(v.reason) < sizeof(v.reason) - 1);
	CHECK(v.nnumbers <= RK_VERDICT_NUMBERS);
	for (size_t i = 0; i < v.nnumbers; i++)
		CHECK(isfinite(v.numbers[i].value) && *v.numbers[i].name);
	return v;
}

static void check(const struct rk_verdict_facts *f, const char *name, const char *reason,
		  const char *collect)
{
	struct rk_verdict v = judge(f);

	CHECK_STR(v.name, name);
	CHECK_STR(v.reason, reason);
	CHECK_STR(v.collect, collect);
}

TEST(what_is_above_its_peak_decides_nothing)
{
	struct rk_verdict_facts f = dull();

	CHECK(isnan(rk_verdict_impossible(&f)));
	f.level_pct[RK_LEVEL_HBM] = 105;
	check(&f, "memory:hbm", "HBM at 105 % of peak, VALU busy at 12 %", "");
	f.level_pct[RK_LEVEL_HBM] = 711;
	check(&f, "mixed",
	      "nothing stands out: L2 at 15 % of peak, VALU busy at 12 %, waits 30 % of wave time; "
	      "HBM at 711 % of peak is impossible",
	      "");
	CHECK(rk_verdict_impossible(&f) == 711);
	f.flop_pct = 900;
	f.mfma_busy_pct = 130;
	CHECK(rk_verdict_impossible(&f) == 900);
	f.remote_pct = 90;
	CHECK_STR(judge(&f).name, "mixed");
	f = nothing();
	f.counters = true;
	f.sclk = 2100;
	f.side_pct = 300;
	check(&f, "unusable",
	      "check the chip (--arch, --sysinfo) and the times; HBM at 300 % of peak is impossible",
	      LIMITS);
	f = nothing();
	f.counters = true;
	f.sclk = 2100;
	f.intensity = 0.1;
	f.ridge = 30;
	CHECK_STR(judge(&f).name, "memory:hbm");
	f.level_pct[RK_LEVEL_HBM] = 200;
	CHECK_STR(judge(&f).name, "unusable");
}

TEST(a_clock_above_the_nominal_one_is_not_more_than_all_of_the_time)
{
	struct rk_verdict_facts f = dull();

	f.valu_busy_pct = 99;
	f.window_ratio = 1.12;
	check(&f, "compute:valu", "VALU busy at 100 %, HBM at 20 % of peak", "");
	/* more clocks than there are is a fault, and so is far more work than time */
	f.valu_busy_pct = 120;
	CHECK_STR(judge(&f).name, "mixed");
	f.valu_busy_pct = 50;
	f.window_ratio = 10;
	CHECK_STR(judge(&f).name, "mixed");
	CHECK(rk_verdict_impossible(&f) == 500);
}

TEST(memory_that_is_not_hbm_is_not_called_so)
{
	struct rk_verdict_facts f = dull();
	struct rk_verdict v;

	f.memory = "GDDR";
	f.level_pct[RK_LEVEL_HBM] = 82;
	check(&f, "memory:dram", "GDDR at 82 % of peak, VALU busy at 12 %", "");
	v = judge(&f);
	CHECK_STR(v.numbers[0].name, "dram_pct");
	for (size_t i = 0; i < v.nnumbers; i++)
		CHECK(strstr(v.numbers[i].name, "hbm") == NULL);
	f.level_pct[RK_LEVEL_HBM] = NAN;
	f.side_pct = 70;
	f.level_pct[RK_LEVEL_L2] = NAN;
	check(&f, "memory:dram", "its reads alone take GDDR to 70 % of peak, VALU busy at 12 %",
	      LIMITS);
	f.memory = "HBM";
	CHECK_STR(judge(&f).name, "memory:hbm");
}

TEST(without_a_clear_limit_the_verdict_is_mixed)
{
	struct rk_verdict_facts f = dull();

	check(&f, "mixed",
	      "nothing stands out: HBM at 20 % of peak, VALU busy at 12 %, waits 30 % of wave time",
	      "");
}

TEST(a_copy_kernel_of_mi200_is_bound_by_hbm)
{
	struct rk_verdict_facts f = dull();
	struct rk_verdict v;

	f.level_pct[RK_LEVEL_HBM] = 53;
	f.valu_busy_pct = 4;
	f.dep_wait_pct = 80;
	f.mean_ns = 25000;
	check(&f, "memory:hbm", "HBM at 53 % of peak, VALU busy at 4 %", "");
	v = judge(&f);
	CHECK_STR(v.numbers[0].name, "hbm_pct");
	CHECK(v.numbers[0].value == 53);
	CHECK_STR(v.numbers[0].unit, "%");
	CHECK_U64(v.nnumbers, RK_VERDICT_NUMBERS);
}

TEST(a_copy_kernel_too_small_for_mi300x_waits)
{
	struct rk_verdict_facts f = dull();

	f.level_pct[RK_LEVEL_HBM] = 21;
	f.dep_wait_pct = 67;
	f.mean_ns = f.median_ns = 15000;
	check(&f, "latency",
	      "waves wait 67 % of their time for results: a memory instruction takes 700 clocks; "
	      "HBM at 21 % of peak",
	      "");
	CHECK_STR(judge(&f).numbers[0].name, "dep_wait_pct");
}

TEST(what_has_no_time_or_no_waves_is_unusable)
{
	struct rk_verdict_facts f = dull();

	f.timed = false;
	f.name = "ncclDevKernel";
	check(&f, "unusable", "no dispatch has a time above 0", LIMITS);
	f = dull();
	f.waves = 0;
	check(&f, "unusable", "SQ_WAVES is 0: the counters could not be read; run 'rockit doctor'",
	      LIMITS);
	f = dull();
	f.cycles = f.sclk = NAN;
	check(&f, "unusable", "cycles (GRBM_GUI_ACTIVE) and chip clock are unknown", LIMITS);
	f.sclk = 2100;
	CHECK_STR(judge(&f).name, "mixed");
	f.sclk = NAN;
	f.cycles = 210000;
	CHECK_STR(judge(&f).name, "mixed");
}

TEST(fewer_waves_than_simds_is_the_launch)
{
	struct rk_verdict_facts f = dull();

	f.waves = 1215;
	f.name = "ncclDevKernel"; /* comes later in the order */
	f.level_pct[RK_LEVEL_HBM] = 99;
	check(&f, "launch", "fewer waves than SIMDs (1215 for 1216): most of the chip is idle", "");
	CHECK_STR(judge(&f).numbers[0].name, "fill");
	f.waves = 1216;
	CHECK_STR(judge(&f).name, "communication");
	/* two SIMDs in a compute unit */
	f.arch = "gfx1100";
	f.cus = 96;
	f.waves = 191;
	CHECK_STR(judge(&f).name, "launch");
	f.waves = 192;
	CHECK_STR(judge(&f).name, "communication");
	f.cus = 0;
	CHECK_STR(judge(&f).name, "communication");
}

TEST(requests_that_leave_the_chip_are_communication)
{
	struct rk_verdict_facts f = dull();

	f.remote_pct = 25;
	f.level_pct[RK_LEVEL_HBM] = 10;
	check(&f, "communication",
	      "25 % of its reads or writes leave the chip, HBM at 10 % of peak", "");
	CHECK_STR(judge(&f).numbers[0].name, "remote_pct");
	f.level_pct[RK_LEVEL_HBM] = 9.9;
	CHECK_STR(judge(&f).name, "mixed");
	f.level_pct[RK_LEVEL_HBM] = NAN;
	CHECK_STR(judge(&f).name, "mixed");
	f = dull();
	f.remote_pct = 24.9;
	CHECK_STR(judge(&f).name, "mixed");
	f.link_stall_pct = 10;
	f.level_pct[RK_LEVEL_HBM] = 90;
	check(&f, "communication", "L2 waits for PCIe and xGMI 10 % of its busy time", "");
}

TEST(memory_and_compute_are_weighed)
{
	static const struct {
		double mem, comp;
		const char *name;
	} cases[] = {
		{ 60, 60, "balanced" },   { 60, 59, "memory:l2" },    { 59, 60, "compute:valu" },
		{ 95, 0, "memory:l2" },   { 40, 20, "memory:l2" },    { 40, 20.1, "mixed" },
		{ 39.9, 0, "mixed" },     { 20, 40, "compute:valu" }, { 20.1, 40, "mixed" },
		{ 59, 59, "mixed" },      { 60, NAN, "memory:l2" },   { NAN, 60, "compute:valu" },
		{ 59, NAN, "mixed" },     { NAN, 59, "mixed" },       { 0, 40, "compute:valu" },
		{ INFINITY, 5, "mixed" }, { 5, INFINITY, "mixed" },   { -5, 5, "mixed" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rk_verdict_facts f = dull();

		for (int l = 0; l < RK_NLEVELS; l++)
			f.level_pct[l] = l == RK_LEVEL_L2 ? cases[i].mem : NAN;
		f.flop_pct = f.mfma_busy_pct = NAN;
		f.valu_busy_pct = cases[i].comp;
		CHECK_STR(judge(&f).name, cases[i].name);
	}
}

TEST(reads_alone_may_be_enough_to_say_memory)
{
	struct rk_verdict_facts f = nothing();

	f.counters = true;
	f.sclk = 1700;
	f.side_pct = 65;
	check(&f, "memory:hbm", "its reads alone take HBM to 65 % of peak, compute unknown",
	      LIMITS);
	f.side_pct = 14;
	check(&f, "unusable",
	      "its reads alone take HBM to 14 % of peak, and nothing else was collected", LIMITS);
	CHECK_STR(judge(&f).numbers[2].name, "hbm_side_pct");
	f.valu_busy_pct = 70; /* with the writes it may be balanced */
	check(&f, "compute:valu", "VALU busy at 70 %, memory unknown", LIMITS);
	f.valu_busy_pct = 40;
	CHECK_STR(judge(&f).name, "mixed"); /* nor is it known to be far behind */
}

TEST(the_level_nearest_to_its_peak_gives_the_name)
{
	static const char *const names[RK_NLEVELS] = { "memory:lds", "memory:l1", "memory:l2",
						       "memory:hbm" };

	for (int l = 0; l < RK_NLEVELS; l++) {
		struct rk_verdict_facts f = dull();

		f.level_pct[l] = 75;
		CHECK_STR(judge(&f).name, names[l]);
	}
}

TEST(the_busiest_pipe_gives_the_name)
{
	struct rk_verdict_facts f = dull();

	f.flop_pct = 71;
	f.flop_pipe = "matrix f16";
	check(&f, "compute:mfma", "matrix f16 at 71 %, HBM at 20 % of peak", "");
	CHECK_STR(judge(&f).numbers[0].name, "compute_pct");
	f.flop_pipe = "vector f64";
	check(&f, "compute:valu", "vector f64 at 71 %, HBM at 20 % of peak", "");
	f.flop_pipe = NULL;
	check(&f, "compute:valu", "operations at 71 %, HBM at 20 % of peak", "");
	f.mfma_busy_pct = 80;
	check(&f, "compute:mfma", "MFMA busy at 80 %, HBM at 20 % of peak", "");
}

TEST(busy_shares_are_of_the_time_of_the_kernel)
{
	struct rk_verdict_facts f = dull();

	f.valu_busy_pct = 8;
	f.window_ratio = 9;
	check(&f, "compute:valu", "VALU busy at 72 %, HBM at 20 % of peak", "");
	f.valu_busy_pct = 72;
	f.window_ratio = 0.5; /* never makes it less */
	CHECK_STR(judge(&f).name, "compute:valu");
	f.window_ratio = NAN;
	CHECK_STR(judge(&f).name, "compute:valu");
}

TEST(short_kernels_and_gaps_between_them_are_the_launch)
{
	struct rk_verdict_facts f = dull();

	f.dep_wait_pct = 90; /* comes later */
	f.mean_ns = 9999;
	check(&f, "launch", "takes 10 us on average, hardly more than a launch", "");
	CHECK_STR(judge(&f).numbers[0].name, "mean_ns");
	f.mean_ns = 10000;
	CHECK_STR(judge(&f).name, "latency");
	f.gap_share = 0.42;
	f.median_ns = 19000;
	check(&f, "launch",
	      "launch gaps are 42 % of its queue's time, and its median time is 19 us", "");
	f.median_ns = 20000;
	CHECK_STR(judge(&f).name, "latency");
	f.median_ns = 19000;
	f.gap_share = 0.3;
	CHECK_STR(judge(&f).name, "latency");
	/* a short kernel that reaches the roof is at the roof */
	f = dull();
	f.mean_ns = 5000;
	f.level_pct[RK_LEVEL_HBM] = 70;
	CHECK_STR(judge(&f).name, "memory:hbm");
}

#define WAITS "waves wait 50 % of their time for results"
#define HBM "; HBM at 20 % of peak"

TEST(latency_says_why_as_far_as_it_is_known)
{
	struct rk_verdict_facts f = dull();

	f.dep_wait_pct = 50;
	f.lanes_on = 47;
	check(&f, "latency", WAITS ": lanes diverge, 47 of 64 are active" HBM, "");
	f.issue_wait_pct = 30;
	check(&f, "latency", WAITS ": 30 % is waiting to issue" HBM, "");
	f.occupancy_pct = 12;
	check(&f, "latency", WAITS ": occupancy is 12 %" HBM, RESOURCES);
	/* where no counter tells it, another run would not either */
	f.arch = "gfx1100";
	check(&f, "latency", WAITS ": occupancy is 12 %" HBM, "");
	f.arch = "gfx942";
	f.no_lds_pct = 3;
	f.no_vgpr_pct = 34;
	check(&f, "latency", WAITS ": occupancy is 12 %, limited by vector registers (34 %)" HBM,
	      "");
	f.no_lds_pct = f.no_vgpr_pct = 0;
	check(&f, "latency",
	      WAITS ": occupancy is 12 % but no resource is used up: few waves are started" HBM,
	      "");
	f.occupancy_pct = f.issue_wait_pct = f.lanes_on = f.vmem_latency = NAN;
	check(&f, "latency", WAITS HBM, "");
}

TEST(operations_and_bytes_alone_are_held_against_the_ridge)
{
	struct rk_verdict_facts f = dull();

	f.valu_busy_pct = f.mfma_busy_pct = f.dep_wait_pct = NAN;
	f.flop_pipe = "matrix bf16";
	f.ridge = 30;
	f.intensity = 14.9;
	check(&f, "memory:hbm", "15 FLOP per byte of HBM, far below the ridge at 30", LIMITS);
	f.intensity = 15;
	check(&f, "balanced", "15 FLOP per byte of HBM, near the ridge at 30", LIMITS);
	f.intensity = 61;
	check(&f, "compute:mfma", "61 FLOP per byte of HBM, far above the ridge at 30", LIMITS);
	CHECK_STR(judge(&f).numbers[0].name, "intensity");
	/* where waits are known they decide */
	f.dep_wait_pct = 20;
	CHECK_STR(judge(&f).name, "mixed");
	f.dep_wait_pct = NAN;
	f.ridge = 0;
	CHECK_STR(judge(&f).name, "mixed");
}

TEST(without_counters_names_and_times_still_tell)
{
	struct rk_verdict_facts f = nothing();

	check(&f, "unusable", "no counters were collected", LIMITS);
	f.name = "ncclDevKernel_Generic_4";
	check(&f, "communication", "named like a collective or a transfer between GPUs", "");
	f.name = "k";
	f.mean_ns = 6300;
	check(&f, "launch", "takes 6.3 us on average, hardly more than a launch", LIMITS);
	f.mean_ns = 12000;
	f.median_ns = 12000;
	f.gap_share = 0.5;
	CHECK_STR(judge(&f).name, "launch");
	f.gap_share = NAN;
	f.arch = "gfx1103";
	check(&f, "unusable", "no counters were collected", OTHER);
	f.arch = "";
	check(&f, "unusable", "no counters were collected", LIMITS);
	f.arch = NULL;
	f.name = NULL;
	check(&f, "unusable", "no counters were collected", LIMITS);
	/* waves that the size of the launch gives are enough for one rule */
	f.cus = 304;
	f.waves = 10;
	CHECK_STR(judge(&f).name, "launch");
	f.waves = 0;
	CHECK_STR(judge(&f).name, "launch");
}

TEST(what_is_missing_is_collected_where_it_could_change_the_verdict)
{
	struct rk_verdict_facts f = dull();

	f.dep_wait_pct = NAN;
	check(&f, "mixed",
	      "nothing stands out: HBM at 20 % of peak, VALU busy at 12 %, waits unknown", LIMITS);
	f.arch = "gfx906"; /* has no such counter */
	CHECK_STR(judge(&f).collect, "");
	f = dull();
	f.level_pct[RK_LEVEL_HBM] = NAN;
	CHECK_STR(judge(&f).collect, LIMITS);
	f.valu_busy_pct = 70;
	CHECK_STR(judge(&f).collect, LIMITS); /* may be balanced */
	f.dep_wait_pct = NAN;
	f.level_pct[RK_LEVEL_HBM] = 20;
	CHECK_STR(judge(&f).collect, ""); /* waits would not change it */
	f = dull();
	f.valu_busy_pct = f.mfma_busy_pct = f.flop_pct = NAN;
	f.level_pct[RK_LEVEL_HBM] = 70;
	check(&f, "memory:hbm", "HBM at 70 % of peak, compute unknown", LIMITS);
	f = nothing();
	f.counters = true;
	f.cycles = 210000;
	f.waves = 5000;
	check(&f, "unusable", "the collected counters do not show what limits it", LIMITS);
	f.arch = "gfx1100";
	CHECK_STR(judge(&f).collect, LIMITS);
	f.arch = "gfx1103"; /* in no table of counters */
	check(&f, "unusable", "the collected counters do not show what limits it", "");
}

TEST(any_input_may_be_missing_or_absurd)
{
	static const double odd[] = { NAN, INFINITY, -INFINITY, 0, -1, 1e300, -1e300, 5e-324 };
	uint64_t seed = 99;

	for (int round = 0; round < 3000; round++) {
		struct rk_verdict_facts f = dull();

		for (size_t i = 0; numbers_of(&f, i); i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			if (seed >> 62)
				*numbers_of(&f, i) = odd[seed >> 33 & 7];
		}
		f.timed = round % 3 != 0;
		f.counters = round % 2 != 0;
		f.name = round % 5 ? "k" : NULL;
		CHECK(judge(&f).name != NULL);
	}
}

static bool is_communication(const char *name)
{
	const struct rk_limits *l = rk_limits_borrow(NULL);

	return CHECK(l != NULL) && rk_limits_communication(l, name);
}

TEST(names_of_collectives_are_known)
{
	static const char *const names[] = {
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
		"rcclGenericKernel<1, false>",
		"NCCLSENDRECV",
		"void vllm::all_reduce_kernel<float>",
		"AllReduceTwoShot",
		"_ZN12tensorrt_llm9allreduceE",
		"oneShotAllReduceKernel",
		"ALL_TO_ALL_kernel",
		"moe_alltoall_dispatch",
		"all_toall",
		"allGather2",
		"fsdp_all_gather_copy_in",
		"reduce_scatter_kernel",
		"ReduceScatterRing",
		"sendrecv",
		"SendRecv_p2p",
		"Broadcast_Ring_LL",
		"broadcastPeer",
		"mscclpp::broadcast6",
		"xgmi_broadcast",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!is_communication(names[i]))
			CHECK_STR("not communication", names[i]);
}

TEST(names_like_those_of_collectives_are_not_collectives)
{
	static const char *const names[] = {
		"",
		"a",
		"all",
		"reduce",
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>",
		"small_reduce_kernel",
		"smallReduce",
		"SMALL_REDUCE",
		"call_gather",
		"wallToAll",
		"broadcast_add_kernel",
		"ck::kernel_elementwise<Broadcast<float>, Add>",
		"DeviceBroadcastString",
		"BROADCAST_RINGS",
		"void broadcast_tensor<float, 4>(float*, int rank)",
		"asyncClearBuffer",
		"truncClamp",
		"circClip",
		"scatter_reduce",
		"gather_all",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_communication(names[i]))
			CHECK_STR("communication", names[i]);
}

TEST(hostile_names_do_no_harm)
{
	enum { LEN = 1 << 20 };
	char *name = malloc(LEN + 8);
	struct rk_verdict_facts f = dull();

	memset(name, 'a', LEN);
	memcpy(name + LEN, "nccl", 5);
	CHECK(is_communication(name));
	memcpy(name + LEN, "ncc", 4);
	CHECK(!is_communication(name));
	for (int i = 0; i < LEN; i++)
		name[i] = (char)(i % 255 + 1);
	CHECK(!is_communication(name));
	f.name = name;
	f.flop_pipe = name;
	f.flop_pct = 90;
	CHECK_STR(judge(&f).name, "compute:valu");
	f.arch = name;
	CHECK_STR(judge(&f).name, "compute:valu");
	CHECK(!is_communication("\xff\xfe\x80%s%n_broadcast"));
	free(name);
}

/* The shipped file with one text replaced. */
static int parse_with(const char *from, const char *to, struct rk_error *err)
{
	const struct rk_data_file *d = rk_data_find("metrics/verdicts.json");
	const char *at = strstr(d->text, from);
	char *text = rk_strf("%.*s%s%s", (int)(at - d->text), d->text, to, at + strlen(from));
	struct rk_limits l;
	int rc = rk_limits_parse(text, strlen(text), "x.json", &l, err);

	if (rc == 0)
		rk_limits_release(&l);
	rk_free(text);
	return rc;
}

TEST(every_threshold_must_be_there_with_its_reason)
{
	static const char *const breaks[][3] = {
		{ "\"high_pct\"", "\"hihg_pct\"", "'high_pct' needs a value above 0" },
		{ "\"value\": 60", "\"value\": \"60\"", "'high_pct' needs a value above 0" },
		{ "\"value\": 60", "\"value\": -60", "'high_pct' needs a value above 0" },
		{ "\"reason\": \"enough", "\"raeson\": \"enough", "'lead_pct' needs a reason" },
		{ "\"thresholds\"", "\"x\"", "'simds_per_cu' needs a value above 0" },
		{ "[\"broadcast\"]", "[]", "'in_company' must be a list" },
		{ "[\"broadcast\"]", "[7]", "'in_company' must contain texts" },
		{ "[\"broadcast\"]", "\"broadcast\"", "'in_company' must be a list" },
		{ "\"limits\": \"rockit", "\"limits\": 3, \"x\": \"rockit",
		  "'limits' must be a text" },
		{ "\"collect\"", "\"x\"", "'memory' must be a list" },
	};

	CHECK_I64(parse_with("\"value\": 60", "\"value\": 6e1", NULL), 0);
	for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
		struct rk_error err = { 0 };

		CHECK_I64(parse_with(breaks[i][0], breaks[i][1], &err), RK_E_FORMAT);
		CHECK_STR(err.message, breaks[i][2]);
		CHECK_STR(err.file, "x.json");
	}
	CHECK_I64(parse_with("{", "", NULL), RK_E_FORMAT);
}

TEST(thresholds_survive_every_failed_allocation)
{
	const struct rk_data_file *d = rk_data_find("metrics/verdicts.json");
	bool failed = true;

	for (uint64_t n = 1; failed && n < 5000; n++) {
		struct rk_error err = { 0 };
		struct rk_limits l;
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_limits_parse(d->text, d->len, d->name, &l, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		if (rc == 0)
			rk_limits_release(&l);
		CHECK(failed ? rc == RK_E_NOMEM && err.code == RK_E_NOMEM : rc == 0);
	}
	CHECK(!failed);
}
