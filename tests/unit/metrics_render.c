/* metrics_render.c - metrics written down: text, plot, JSON, CSV. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "codec/json/tree.h"
#include "metrics/metrics_parts.h"
#include "tap.h"

static struct rk_metric_value hot_metrics[] = {
	{ "kernel_time_ns", "time", "ns", 3, 2500, 2000, 3000, 2533.25, 2400, NAN, NAN },
	{ "gpu_busy_pct", "time", "%", 3, 99.5, 99, 100, 99.5, NAN, NAN, NAN },
	{ "l2_hit_pct", "l2", "%", 3, 50, 25, 75, 51, NAN, NAN, NAN },
	{ "mfma_f64_rate", "flops", "GFLOP/s", 3, 0, 0, 0, 0, NAN, 1e5, 0 },
	{ "fabric_read_bw", "fabric", "GB/s", 2, 800.5, 700, 901, 810, NAN, 1600, 50.03125 },
	{ "l2_bw", "l2", "GB/s", 3, 1234567.5, 1, 3e6, 2, NAN, 2e6, 61.75 },
	{ "my_own", "mine", "things", 1, 7, 7, 7, NAN, NAN, NAN, NAN },
};
static struct rk_metric_value cold_metrics[] = {
	{ "gpu_busy_pct", "time", "%", 1, 1, 1, 1, 1, NAN, NAN, NAN },
};

static uint64_t hot_flags[] = { 2, 0 };

static struct rk_metric_kernel kernels[] = {
	{ .name = "void gemm<float>(int, a_rather_long_type const*, another_rather_long_type*)",
	  .calls = 3,
	  .total_ns = 7500,
	  .percent = 75,
	  .verdict = { .name = "memory:hbm",
		       .reason = "HBM at 53 % of its peak, compute at 4 %",
		       .numbers = { { "hbm_pct", 53, "%" }, { "comp_pct", NAN, "%" } },
		       .nnumbers = 2 },
	  .roof = { .rate = 400,
		    .pipe = "vector f32",
		    .intensity = { NAN, 0.25, NAN, 0.5 },
		    .attainable = { NAN, 2000, NAN, 700 },
		    .percent = { NAN, 20, NAN, 57.125 } },
	  .metrics = hot_metrics,
	  .nmetrics = 7,
	  .flags = hot_flags },
	{ .name = "copy\033[31m\tred, \"quoted\"",
	  .calls = 1,
	  .total_ns = 2000,
	  .percent = 20,
	  .verdict = { .name = "launch", .reason = "2.000 us is less than 10 us" },
	  .roof = { .rate = 9000,
		    .pipe = "vector f32",
		    .intensity = { NAN, NAN, NAN, 64 },
		    .attainable = { NAN, NAN, NAN, 10000 },
		    .percent = { NAN, NAN, NAN, 90 } },
	  .metrics = cold_metrics,
	  .nmetrics = 1 },
	{ .name = "",
	  .calls = 1,
	  .total_ns = 500,
	  .percent = 5,
	  .verdict = { .name = "unusable",
		       .reason = "no counters",
		       .collect = "rockit run -p full -- CMD" },
	  .roof = { .rate = NAN,
		    .pipe = "",
		    .intensity = { NAN, NAN, NAN, NAN },
		    .attainable = { NAN, NAN, NAN, NAN },
		    .percent = { NAN, NAN, NAN, NAN } } },
};

static struct rk_metric_device devices[] = {
	{ .arch = "gfx90a",
	  .product = "MI210",
	  .source = "from the run",
	  .cus = 104,
	  .simds = NAN,
	  .ses = 8,
	  .sqcs = NAN,
	  .banks = 32,
	  .wslots = 32,
	  .sclk = 1700,
	  .mclk = 1600,
	  .l2ch = 32,
	  .hbmch = 32,
	  .xcds = 1,
	  .pipes = 4,
	  .wave = 64 },
};

static struct rk_ceiling ceilings[] = {
	{ "hbm", true, 1638.4, NAN, 1400 },
	{ "l1", true, 11000, 9000, 9000 },
	{ "vector f32", false, 11315, NAN, 10000 },
};

static struct rk_metric_absent absent[] = {
	{ "ipc", "SQ_INSTS was not collected" },
	{ "insts_per_wave", "SQ_INSTS was not collected" },
	{ "lds_bw", "SQ_LDS_IDX_ACTIVE was not collected" },
	{ "mfma_f8_rate", "not defined for gfx90a" },
};

static struct rk_metric_flag flags[] = {
	{ "window-ratio", "the counters cover more than the kernel", 2, 13.25 },
	{ "zero-time", "no time", 1, NAN },
};

static struct rk_verdict_share shares[] = {
	{ "memory:hbm", 1, 3, 7500, 75 },
	{ "launch", 1, 1, 2000, 20 },
	{ "unusable", 1, 1, 500, 5 },
};

static struct rk_trace_device traced[] = {
	{ .name = "device 0",
	  .span_ns = 20000,
	  .busy_ns = 10000,
	  .kernel_ns = 10000,
	  .idle_ns = 8000,
	  .copy_ns = 4000,
	  .overlap_ns = 2000,
	  .kernels = 5,
	  .copies = 2,
	  .gaps = 3,
	  .longest_gap_ns = 5000,
	  .longest_gap_at_ns = 100,
	  .launch_gaps = 4,
	  .launch_gap_ns = 6000,
	  .median_launch_gap_ns = 1500.5 },
	{ .name = "device 1", .median_launch_gap_ns = NAN },
};

static const struct rk_warning warnings[] = { { "short-row", "", 0, 3, "row has 2 cells" } };

static struct rk_metrics sample(void)
{
	return (struct rk_metrics){ .arch = "gfx90a",
				    .normal = RK_PER_WAVE,
				    .dispatches = 5,
				    .total_ns = 10000,
				    .devices = devices,
				    .ndevices = 1,
				    .metrics = hot_metrics,
				    .nmetrics = 7,
				    .kernels = kernels,
				    .nkernels = 3,
				    .absent = absent,
				    .nabsent = 4,
				    .flags = flags,
				    .nflags = 2,
				    .ceilings = ceilings,
				    .nceilings = 3,
				    .verdicts = shares,
				    .nverdicts = 3,
				    .trace = { traced, 2 },
				    .warnings = warnings,
				    .nwarnings = 1 };
}

/* The caller frees it. */
static char *render(const struct rk_metrics *m, const struct rk_metrics_look *how)
{
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;

	CHECK(rk_metrics_render(m, how, &text, &len, &err) == 0);
	CHECK(!text || strlen(text) == len);
	return text;
}

static bool has(const char *text, const char *part)
{
	return text && strstr(text, part);
}

TEST(metrics_page_begins_with_what_limits_each_kernel)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .look = { .columns = 80, .top = 2 }, .no_roofline = true };
	char *text = render(&m, &how);

	CHECK_STR(text,
		  "MI210 (gfx90a): 104 CUs, 1700 MHz, 1638 GB/s HBM; from the run\n"
		  "\n"
		  "What limits the kernels: 5 dispatches of 3 kernels, 10.00 us\n"
		  " Time%  Calls     Total      Mean  Limited by     Kernel\n"
		  " 75.00      3  7.500 us  2.500 us  memory:hbm     void gemm<float>(int, "
		  "a_rat...\n"
		  "        HBM at 53 % of its peak, compute at 4 %\n"
		  "        ! window-ratio in 2 dispatches\n"
		  " 20.00      1  2.000 us  2.000 us  launch         copy\\x1b[31m\\x09red, "
		  "\"quoted\"\n"
		  "        2.000 us is less than 10 us\n"
		  "  5.00  and 1 more (--top 0 shows all)\n"
		  "\n"
		  "Time by verdict\n"
		  " 75.00 ########    7.500 us  memory:hbm     1 kernel, 3 calls\n"
		  " 20.00 ##          2.000 us  launch         1 kernel, 1 call\n"
		  "  5.00 #             500 ns  unknown        1 kernel, 1 call\n"
		  "\n"
		  "Device time, % of span (gaps are between launches)\n"
		  " Device        Span Kernel   Copy   Both   Idle  Max idle     Gaps    Median\n"
		  " device 0  20.00 us   50.0   20.0   10.0   40.0  5.000 us        4  1.500 us\n"
		  " device 1      0 ns      -      -      -      -         -        0         -\n"
		  "\n"
		  "Metrics of  void gemm<float>(int, a_rather_long_type const*, "
		  "another_rather_l...\n"
		  "                       Avg       Min       Max  Unit       % of peak\n"
		  " Time (time)\n"
		  "  gpu_busy_pct       99.50        99       100  %\n"
		  " L2 cache (l2)\n"
		  "  l2_hit_pct            50        25        75  %\n"
		  "  l2_bw             1.235M         1    3.000M  GB/s         61.8\n"
		  " Leaving L2 (fabric)\n"
		  "  fabric_read_bw     800.5       700       901  GB/s         50.0\n"
		  " mine\n"
		  "  my_own                 7         7         7  things\n"
		  " and 2 more (--all, or --group)\n"
		  "\n"
		  "Absent: 4 metrics (-v lists each)\n"
		  "    3  need counters that were not collected: SQ_INSTS (2), SQ_LDS_IDX_ACTIVE\n"
		  "       (1)\n"
		  "    1  not defined for gfx90a\n"
		  "\n"
		  "Suspicious data\n"
		  "! window-ratio in 2 dispatches, at worst by a factor of 13.25\n"
		  "  the counters cover more than the kernel\n"
		  "! zero-time in 1 dispatch\n"
		  "  no time\n");
	rk_text_free(text);
}

TEST(metrics_page_shows_all_metrics_and_each_absent_one_on_request)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .all = true, .absent = true };
	char *text = render(&m, &how);

	CHECK(has(text, "  mfma_f64_rate          0         0         0  GFLOP/s       0.0\n"));
	CHECK(has(text, "\nMetrics of  copy\\x1b[31m\\x09red, \"quoted\"\n"));
	CHECK(has(text, "  insts_per_wave: SQ_INSTS was not collected\n"));
	CHECK(has(text, "        next: rockit run -p full -- CMD\n"));
	CHECK(!has(text, " more ("));
	rk_text_free(text);
}

TEST(metrics_page_says_what_counts_are_divided_by)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .no_roofline = true };
	struct rk_metric_value v = { "l2_req", "own", "req/D", 1, 7, 7, 7, 7, NAN, NAN, NAN };
	struct rk_metric_kernel one = kernels[1];
	char *text;

	one.metrics = &v;
	m.kernels = &one;
	m.nkernels = 1;
	text = render(&m, &how);
	CHECK(has(text, "  7  req/wave\n"));
	rk_text_free(text);
	m.normal = RK_PER_KERNEL;
	text = render(&m, &how);
	CHECK(has(text, "  7  req\n"));
	rk_text_free(text);
}

TEST(metrics_of_asked_groups_alone_are_written_in_every_format)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .groups = "l2, mine" };

	for (int f = RK_REPORT_TEXT; f <= RK_REPORT_CSV; f++) {
		char *text;

		how.look.format = (enum rk_report_format)f;
		text = render(&m, &how);
		CHECK(has(text, "l2_bw") && has(text, "my_own"));
		CHECK(!has(text, "gpu_busy_pct") && !has(text, "fabric_read_bw"));
		rk_text_free(text);
	}
}

TEST(metrics_page_in_colour_paints_and_resets_alike)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .look = { .color = true, .utf8 = true, .columns = 120 } };
	char *text = render(&m, &how);
	size_t on = 0, off = 0;

	for (const char *p = text; p && (p = strstr(p, "\033[")) != NULL; p++)
		*(strncmp(p, "\033[0m", 4) == 0 ? &off : &on) += 1;
	CHECK(on > 10 && on == off);
	CHECK(has(text, "▇▇▇▇▇▇▇▇"));
	rk_text_free(text);
}

/* The text of line `n` (from 0) behind the title of the plot. */
static const char *plot_line(const char *text, int n)
{
	const char *p = text ? strstr(text, "\nRoofline") : NULL;

	for (n += 1; p && n > 0; n--)
		p = strchr(p + 1, '\n');
	return p ? p + 1 : "";
}

TEST(roofline_has_its_kernels_at_their_places)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .look = { .columns = 50 } };
	char *text = render(&m, &how);
	size_t len = 0;

	/* x: 0.1 to 1000 over 40 columns; y: 10^2 to 10^5 GFLOP/s over 16 rows. */
	for (int row = 0; row < 16; row++) {
		const char *line = plot_line(text, row);
		bool b = row == 5, a = row == 12; /* 9000 and 400 GFLOP/s */

		len = strcspn(line, "\n");
		CHECK(len <= 50);
		CHECK(!memchr(line, 'b', len) == !b && !memchr(line, 'a', len) == !a);
		if (b)
			CHECK_U64((size_t)((const char *)memchr(line, 'b', len) - line), 9 + 27);
		if (a)
			CHECK_U64((size_t)((const char *)memchr(line, 'a', len) - line), 9 + 7);
	}
	CHECK(has(text, "\n   100T |") && has(text, "\n    10T |") && has(text, "\n   100G |"));
	CHECK(has(text, "  hbm: 1400 GB/s usually reached, 1638 in theory\n"));
	CHECK(has(text, " a       400     0.500       700   57.1  vector f32"));
	rk_text_free(text);
}

TEST(roofline_takes_the_outermost_level_that_is_known)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .look = { .columns = 80 } };
	struct rk_metric_kernel one = kernels[0];
	char *text;

	one.roof.intensity[RK_LEVEL_HBM] = NAN;
	m.kernels = &one;
	m.nkernels = 1;
	text = render(&m, &how);
	CHECK(has(text, "per byte of l1\n") &&
	      has(text, "l1: 9000 GB/s measured, 11000 in theory"));
	rk_text_free(text);
	one.roof.intensity[RK_LEVEL_L1] = 0;
	text = render(&m, &how);
	CHECK(text && !has(text, "Roofline"));
	rk_text_free(text);
}

TEST(roofline_of_absurd_numbers_stays_on_its_field)
{
	static const double odd[] = { 1e300, 1e-300, 5e-324, 1, INFINITY, -1 };
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .look = { .columns = 1, .utf8 = true } };
	struct rk_metric_kernel two[] = { kernels[0], kernels[1] };

	m.kernels = two;
	m.nkernels = 2;
	for (size_t i = 0; i < 36; i++) {
		char *text;

		two[0].roof.rate = odd[i % 6];
		two[0].roof.intensity[RK_LEVEL_HBM] = odd[i / 6];
		text = render(&m, &how);
		CHECK(text && strlen(text) < 8192);
		rk_text_free(text);
	}
}

static const struct rk_tree *at(const struct rk_tree *t, size_t i)
{
	const struct rk_tree *c = t ? t->first : NULL;

	for (; c && i; i--)
		c = c->next;
	return c;
}

TEST(metrics_as_json_have_the_keys_of_the_contract)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .look = { .format = RK_REPORT_JSON, .top = 1 } };
	char *text = render(&m, &how);
	const struct rk_tree *kernel, *metric;
	struct rk_tree *root = NULL;
	struct rk_error err = { 0 };

	if (!CHECK(text && rk_tree_parse_json(text, strlen(text), "out", &root, &err) == 0)) {
		rk_text_free(text);
		return;
	}
	CHECK_STR(rk_tree_text(rk_tree_get(root, "schema"), ""), "1");
	CHECK_STR(rk_tree_text(rk_tree_get(root, "arch"), ""), "gfx90a");
	CHECK_STR(rk_tree_text(rk_tree_get(root, "normal"), ""), "per_wave");
	CHECK_STR(rk_tree_text(rk_tree_get(root, "per"), ""), "kernel");
	CHECK_STR(rk_tree_text(rk_tree_get(rk_tree_get(root, "device"), "cus"), ""), "104");
	CHECK_U64(rk_tree_get(root, "metrics")->n, 7);
	CHECK_U64(rk_tree_get(root, "kernels")->n, 3);
	CHECK_U64(rk_tree_get(root, "absent")->n, 4);
	metric = at(rk_tree_get(root, "metrics"), 4);
	CHECK_STR(rk_tree_text(rk_tree_get(metric, "id"), ""), "fabric_read_bw");
	CHECK_STR(rk_tree_text(rk_tree_get(metric, "percent_of_peak"), ""), "50.03125");
	CHECK(!rk_tree_get(metric, "median"));
	CHECK(rk_tree_get(at(rk_tree_get(root, "metrics"), 6), "weighted")->kind == RK_TREE_NULL);
	kernel = at(rk_tree_get(root, "kernels"), 0);
	CHECK_STR(rk_tree_text(rk_tree_get(kernel, "verdict"), ""), "memory:hbm");
	CHECK_STR(rk_tree_text(rk_tree_get(kernel, "reason"), ""),
		  "HBM at 53 % of its peak, compute at 4 %");
	CHECK_U64(rk_tree_get(kernel, "metrics")->n, 7);
	CHECK_U64(rk_tree_get(kernel, "flags")->n, 1);
	CHECK(rk_tree_get(at(rk_tree_get(root, "kernels"), 2), "roofline")->kind == RK_TREE_NULL);
	CHECK(!has(text, ": nan") && !has(text, ": inf") && !has(text, ": -"));
	/* A line for each metric: what line tools and people look for. */
	CHECK(has(text, "\n  {\"id\": \"l2_hit_pct\", \"group\": \"l2\", \"unit\": \"%\", "
			"\"dispatches\": 3, \"avg\": 50, \"min\": 25, \"max\": 75, "
			"\"weighted\": 51, \"peak\": null, \"percent_of_peak\": null},\n"));
	rk_tree_free(root);
	rk_text_free(text);
}

TEST(metrics_as_csv_have_a_row_per_kernel_and_metric)
{
	struct rk_metrics m = sample();
	struct rk_metrics_look how = { .look = { .format = RK_REPORT_CSV }, .groups = "time" };
	char *text = render(&m, &how);

	CHECK_STR(text,
		  "of,kernel,calls,total_ns,verdict,id,group,unit,dispatches,avg,min,max,weighted,"
		  "median,peak,percent_of_peak\n"
		  "all,,5,10000,,kernel_time_ns,time,ns,3,2500,2000,3000,2533.25,2400,,\n"
		  "all,,5,10000,,gpu_busy_pct,time,%,3,99.5,99,100,99.5,,,\n"
		  "kernel,\"void gemm<float>(int, a_rather_long_type const*, "
		  "another_rather_long_type*)\",3,7500,memory:hbm,kernel_time_ns,time,ns,3,2500,"
		  "2000,3000,2533.25,2400,,\n"
		  "kernel,\"void gemm<float>(int, a_rather_long_type const*, "
		  "another_rather_long_type*)\",3,7500,memory:hbm,gpu_busy_pct,time,%,3,99.5,99,"
		  "100,99.5,,,\n"
		  "kernel,\"copy\033[31m\tred, \"\"quoted\"\"\",1,2000,launch,gpu_busy_pct,time,%,"
		  "1,1,1,1,1,,,\n");
	rk_text_free(text);
}

static const double first_values[] = { 2500, 99.5, NAN, 0.1, 1, 2, 3 };
static const double second_values[] = { 1, 2, 3, 4, 5, 6, NAN };
static const struct rk_metric_dispatch first = { "a, b", 7, 0, 100, 2500, first_values };
static const struct rk_metric_dispatch second = { "c", -1, -1, -1, -1, second_values };

TEST(a_chip_without_a_name_is_called_by_its_target_once_and_gaps_of_a_profiler_are_its_own)
{
	struct rk_metrics m = sample();
	struct rk_metric_device chip = m.devices[0];
	struct rk_metrics_look how = { .look = { .format = RK_REPORT_TEXT, .columns = 80 } };
	char *text;

	snprintf(chip.product, sizeof(chip.product), "%s", chip.arch);
	m.devices = &chip;
	m.ndevices = 1;
	m.trace.serialised = true;
	text = render(&m, &how);
	CHECK(text && strncmp(text, "gfx90a: ", 8) == 0);
	CHECK(text && strstr(text, "gaps are profiler overhead") != NULL);
	rk_text_free(text);
}

TEST(dispatches_as_csv_have_a_column_per_metric)
{
	struct rk_list groups = { 0 };
	struct rk_dispatch_rows rows = { .metrics = hot_metrics, .nmetrics = 7, .groups = &groups };
	struct rk_bytes out;

	rk_bytes_init(&out, 4096);
	rk_list_add(&groups, "time");
	rk_list_add(&groups, "mine");
	rk_dispatches_csv_head(&rows, &out);
	rk_dispatches_csv_row(&rows, &out, &first);
	rk_dispatches_csv_row(&rows, &out, &second);
	CHECK_STR(rk_bytes_str(&out),
		  "kernel,dispatch_id,device_id,start_ns,duration_ns,kernel_time_ns,gpu_busy_pct,"
		  "my_own\n"
		  "\"a, b\",7,0,100,2500,2500,99.5,3\n"
		  "c,,,,,1,2,\n");
	rk_bytes_release(&out);
	rk_list_release(&groups);
}

TEST(dispatches_as_json_are_one_document_though_written_piece_by_piece)
{
	struct rk_metrics m = sample();
	struct rk_list groups = { 0 };
	struct rk_dispatch_rows rows = { .metrics = hot_metrics, .nmetrics = 7, .groups = &groups };
	const struct rk_tree *one;
	struct rk_bytes piece, all;
	struct rk_tree *root = NULL;
	struct rk_error err = { 0 };

	rk_bytes_init(&piece, 64 << 10);
	rk_bytes_init(&all, 64 << 10);
	for (int step = 0; step < 4; step++) {
		if (step == 0)
			rk_dispatches_json_head(&rows, &piece);
		else if (step < 3)
			rk_dispatches_json_row(&rows, step == 1 ? &first : &second);
		else
			rk_dispatches_json_tail(&rows, &m);
		rk_bytes_put(&all, piece.data, piece.len);
		rk_bytes_clear(&piece);
	}
	CHECK(rk_tree_parse_json((const char *)all.data, all.len, "out", &root, &err) == 0);
	CHECK_STR(rk_tree_text(rk_tree_get(root, "per"), ""), "dispatch");
	CHECK_STR(rk_tree_text(rk_tree_get(root, "arch"), ""), "gfx90a");
	CHECK_U64(root ? rk_tree_get(root, "metrics")->n : 0, 7);
	one = at(rk_tree_get(root, "kernels"), 0);
	CHECK_STR(rk_tree_text(rk_tree_get(one, "name"), ""), "a, b");
	CHECK_STR(rk_tree_text(rk_tree_get(one, "dispatch_id"), ""), "7");
	CHECK_STR(rk_tree_text(rk_tree_get(at(rk_tree_get(one, "metrics"), 3), "value"), ""),
		  "0.1");
	CHECK_STR(rk_tree_text(rk_tree_get(at(rk_tree_get(one, "metrics"), 2), "value"), "none"),
		  "none");
	one = at(rk_tree_get(root, "kernels"), 1);
	CHECK_STR(rk_tree_text(rk_tree_get(one, "device_id"), "none"), "none");
	rk_tree_free(root);
	rk_bytes_release(&piece);
	rk_bytes_release(&all);
}

TEST(metrics_of_nothing_are_written_in_every_format)
{
	struct rk_metrics m = { .arch = "" };
	struct rk_metrics_look how = { .look = { .columns = 40 } };
	char *text = render(&m, &how);

	CHECK_STR(text, "unknown GPU, so there are no peaks; name\n"
			"it with --arch or --sysinfo\n"
			"\nno kernels\n");
	rk_text_free(text);
	how.look.format = RK_REPORT_JSON;
	text = render(&m, &how);
	CHECK(has(text, "\"arch\": null") && has(text, "\"kernels\": []"));
	rk_text_free(text);
	how.look.format = RK_REPORT_CSV;
	text = render(&m, &how);
	CHECK(text && strchr(text, '\n') == text + strlen(text) - 1);
	rk_text_free(text);
}

TEST(values_are_written_with_about_four_digits)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ NAN, "-" },         { INFINITY, "-" },         { 0, "0" },
		{ 7, "7" },           { 1638.4, "1638" },        { 99.5, "99.50" },
		{ 0.25, "0.250" },    { -0.25, "-0.250" },       { 0.00012345, "0.000123" },
		{ 20480, "20480" },   { 99999, "99999" },        { 123456, "123.5k" },
		{ 999950, "1.000M" }, { 12345678901, "12.35G" }, { -5e15, "-5.000P" },
		{ 1e25, "1e+25" },    { 9.99996, "10.00" },      { 99999.7, "100.0k" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rk_bytes out;

		rk_bytes_init(&out, 64);
		rk_put_value(&out, cases[i].v);
		CHECK_STR(rk_bytes_str(&out), cases[i].text);
		rk_bytes_release(&out);
	}
}

TEST(metrics_without_memory_for_them_are_an_error)
{
	struct rk_metrics m = sample();

	for (int f = RK_REPORT_TEXT; f <= RK_REPORT_CSV; f++) {
		const struct rk_metrics_look how = { .look = { .format = (enum rk_report_format)f },
						     .groups = "l2" };
		bool failed = true;

		for (uint64_t n = 1; failed && n < 1000; n++) {
			struct rk_error err = { 0 };
			char *text = NULL;
			size_t len;
			int rc;

			rk_alloc_fail_after(n);
			rc = rk_metrics_render(&m, &how, &text, &len, &err);
			failed = rk_alloc_failed();
			rk_alloc_fail_after(0);
			CHECK(failed ? rc == RK_E_NOMEM && !text : rc == 0);
			rk_text_free(text);
		}
		CHECK(!failed);
	}
}
