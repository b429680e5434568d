/* report.c - sections, and a report written down. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "report/report_parts.h"
#include "tap.h"

static struct rk_report_row rows[] = {
	{ .name = "void gemm<float>(int)",
	  .key = "0",
	  .calls = 1200,
	  .total_ns = 3000000,
	  .min_ns = 1000,
	  .max_ns = 9999,
	  .mean_ns = 2500,
	  .median_ns = 2400.25,
	  .stddev_ns = 10.25,
	  .percent = 75,
	  .timed = true,
	  .median_exact = true },
	{ .name = "copy\033[31m\tred",
	  .key = "",
	  .calls = 3,
	  .total_ns = 1000000,
	  .min_ns = 5,
	  .max_ns = 7,
	  .mean_ns = 333333.25,
	  .median_ns = 6,
	  .stddev_ns = 0,
	  .percent = 25,
	  .timed = true,
	  .median_exact = false },
	{ .name = "<barrier packet>",
	  .key = "1",
	  .calls = 1,
	  .total_ns = 10,
	  .min_ns = -1,
	  .max_ns = -1,
	  .mean_ns = 10,
	  .median_ns = NAN,
	  .stddev_ns = NAN,
	  .percent = 0,
	  .timed = true,
	  .barrier = true },
	{ .name = "a, \"b\"",
	  .key = "1",
	  .calls = 2,
	  .min_ns = -1,
	  .max_ns = -1,
	  .mean_ns = NAN,
	  .median_ns = NAN,
	  .stddev_ns = NAN,
	  .percent = NAN },
};
static struct rk_report_counter counters[] = { { "SQ_WAVES", 2, 24, 8, 16 } };
static struct rk_report_table tables[] = { { "kernels", 1206 }, { "memcpy", 0 }, { "agents", 2 } };
static const struct rk_run_file files[] = {
	{ "a.csv", "rocprofv3-csv", true, "" },
	{ "b.txt", "", false, "not a format rockit knows" },
};
static const struct rk_warning warnings[] = { { "short-row", "a.csv", 7, 3, "row has 2 cells" } };

static struct rk_report sample(void)
{
	return (struct rk_report){ .kernel_rows = 1206,
				   .sum_duration_ns = 4000010,
				   .min_start_ns = 1000,
				   .max_end_ns = 9001000,
				   .timed = true,
				   .kernels = { rows, 4, 1206, 4000000 },
				   .counters = counters,
				   .ncounters = 1,
				   .tables = tables,
				   .ntables = 3,
				   .median_error = 0.00390625,
				   .files = files,
				   .nfiles = 2,
				   .warnings = warnings,
				   .nwarnings = 1 };
}

static struct rk_render_options how;

/* Static storage: the tests look at one text at a time. */
static const char *text_of(enum rk_report_format format, const struct rk_report *r)
{
	static char text[8192];
	struct rk_render_options look = how;
	char *out = NULL;
	size_t len = 0;

	look.format = format;
	CHECK_I64(rk_report_render(r, &look, &out, &len, NULL), 0);
	CHECK(out && len < sizeof(text));
	memcpy(text, out, len + 1);
	rk_text_free(out);
	return text;
}

TEST(report_as_json_has_the_keys_of_the_contract)
{
	struct rk_report r = sample();

	CHECK_STR(
		text_of(RK_REPORT_JSON, &r),
		"{\"schema\":1,\n"
		" \"kernel_rows\":1206,\"sum_duration_ns\":4000010,\"min_start_ns\":1000,"
		"\"max_end_ns\":9001000,\n"
		" \"tables\":{\"kernels\":1206,\"memcpy\":0,\"agents\":2},\n"
		" \"stats_of\":null,\"by\":null,\"median_error\":0.00390625,\n"
		" \"kernels\":[\n"
		"  {\"name\":\"void gemm<float>(int)\",\"calls\":1200,\"total_ns\":3000000,"
		"\"mean_ns\":2500,\"min_ns\":1000,\"max_ns\":9999,\"median_ns\":2400.25,"
		"\"median_exact\":true,\"stddev_ns\":10.25,\"percent\":75,\"barrier\":false},\n"
		"  {\"name\":\"copy\\u001b[31m\\tred\",\"calls\":3,\"total_ns\":1000000,"
		"\"mean_ns\":333333.25,\"min_ns\":5,\"max_ns\":7,\"median_ns\":6,"
		"\"median_exact\":false,\"stddev_ns\":0,\"percent\":25,\"barrier\":false},\n"
		"  {\"name\":\"<barrier packet>\",\"calls\":1,\"total_ns\":10,\"mean_ns\":10,"
		"\"min_ns\":null,\"max_ns\":null,\"median_ns\":null,\"median_exact\":null,"
		"\"stddev_ns\":null,\"percent\":0,\"barrier\":true},\n"
		"  {\"name\":\"a, \\\"b\\\"\",\"calls\":2,\"total_ns\":null,\"mean_ns\":null,"
		"\"min_ns\":null,\"max_ns\":null,\"median_ns\":null,\"median_exact\":null,"
		"\"stddev_ns\":null,\"percent\":null,\"barrier\":false}],\n"
		" \"copies\":[],\n \"api\":[],\n \"markers\":[],\n \"memory\":[],\n"
		" \"libraries\":[],\n \"domains\":[],\n"
		" \"counters\":[\n"
		"  {\"name\":\"SQ_WAVES\",\"rows\":2,\"sum\":24,\"min\":8,\"max\":16}],\n"
		" \"energy\":null,\n"
		" \"samples\":[],\n"
		" \"hotspots\":[],\n"
		" \"files\":[\n"
		"  {\"path\":\"a.csv\",\"format\":\"rocprofv3-csv\",\"used\":true,\"reason\":null},\n"
		"  {\"path\":\"b.txt\",\"format\":null,\"used\":false,"
		"\"reason\":\"not a format rockit knows\"}],\n"
		" \"warnings\":[\n"
		"  {\"kind\":\"short-row\",\"file\":\"a.csv\",\"line\":7,\"count\":3,"
		"\"message\":\"row has 2 cells\"}]\n"
		"}\n");
}

TEST(report_as_csv_has_one_section)
{
	struct rk_report r = sample();

	r.by = "device";
	CHECK_STR(
		text_of(RK_REPORT_CSV, &r),
		"name,device,calls,total_ns,mean_ns,min_ns,max_ns,median_ns,median_exact,"
		"stddev_ns,percent,barrier\n"
		"void gemm<float>(int),0,1200,3000000,2500,1000,9999,2400.25,true,10.25,75,false\n"
		"copy\033[31m\tred,,3,1000000,333333.25,5,7,6,false,0,25,false\n"
		"<barrier packet>,1,1,10,10,,,,,,0,true\n"
		"\"a, \"\"b\"\"\",1,2,,,,,,,,,false\n");
}

TEST(csv_of_statistics_has_what_they_are_about)
{
	struct rk_report r = sample();

	r.api = r.kernels;
	r.kernels = (struct rk_report_section){ NULL, 0, 0, 0 };
	r.stats_of = "api";
	CHECK(strstr(text_of(RK_REPORT_CSV, &r), "\nvoid gemm<float>(int),1200,") != NULL);
}

TEST(report_as_text_is_aligned_and_safe)
{
	struct rk_report r = sample();

	how = (struct rk_render_options){ .utf8 = false, .top = 3 };
	CHECK_STR(
		text_of(RK_REPORT_TEXT, &r),
		"a.csv, 1 not used (rocprofv3-csv)\n"
		"\n"
		"Kernels: 1,206 calls of 4 names, kernel time 4.000 ms in a span of 9.000 ms\n"
		" Time%                Total  Calls      Mean    Median       Min       Max  Name\n"
		" 75.00 ##########  3.000 ms  1,200  2.500 us  2.400 us  1.000 us  9.999 us  "
		"void gemm<float>(int)\n"
		" 25.00 ###         1.000 ms      3  333.3 us      6 ns      5 ns      7 ns  "
		"copy\\x1b[31m\\x09red\n"
		"     -                10 ns      1     10 ns         -         -         -  "
		"<barrier packet>\n"
		"  0.00  and 1 more\n"
		"Medians of many rows are approximate: error at most 0.39 %\n"
		"\n"
		"Counters\n"
		"         Rows           Sum          Mean           Min           Max  Name\n"
		"            2            24            12             8            16  SQ_WAVES\n"
		"\n"
		"Other tables: 2 agents\n");
}

TEST(names_are_cut_to_the_terminal)
{
	struct rk_report r = sample();
	const char *text;

	rows[0].name =
		"a_name_that_goes_on_for_much_longer_than_any_terminal_of_a_hundred_columns_has";
	how = (struct rk_render_options){ .utf8 = true, .columns = 100 };
	text = text_of(RK_REPORT_TEXT, &r);
	CHECK(strstr(text, "terminal") == NULL);
	CHECK(strstr(text, "…\n") != NULL);
	CHECK(strstr(text, " Max ") != NULL);
	r.ncounters = 0;
	how.columns = 80;
	CHECK(strstr(text_of(RK_REPORT_TEXT, &r), " Max ") == NULL);
	rows[0].name = "void gemm<float>(int)";
}

TEST(a_report_of_nothing_says_so)
{
	struct rk_report r = { .by = NULL };

	how = (struct rk_render_options){ .utf8 = true };
	CHECK_STR(text_of(RK_REPORT_TEXT, &r), "0 files\n\nno rows\n");
}

static const char *duration(double ns)
{
	static char text[64];
	struct rk_bytes out;

	rk_bytes_init(&out, 64);
	rk_put_duration(&out, ns);
	memcpy(text, out.data, out.len);
	text[out.len] = '\0';
	rk_bytes_release(&out);
	return text;
}

TEST(durations_have_four_digits_and_a_unit)
{
	CHECK_STR(duration(0), "0 ns");
	CHECK_STR(duration(999), "999 ns");
	CHECK_STR(duration(12.3456), "12.35 ns");
	CHECK_STR(duration(1000), "1.000 us");
	CHECK_STR(duration(999949), "999.9 us");
	CHECK_STR(duration(999950), "1.000 ms");
	CHECK_STR(duration(12345678), "12.35 ms");
	CHECK_STR(duration(99.996e9), "100.0 s");
	CHECK_STR(duration(12345e9), "12345 s");
	CHECK_STR(duration(NAN), "-");
}

static const char *printable(const char *s, bool utf8)
{
	static char text[128];
	struct rk_bytes out;

	rk_bytes_init(&out, sizeof(text) - 1);
	rk_put_printable(&out, s, strlen(s), utf8);
	memcpy(text, out.data, out.len);
	text[out.len] = '\0';
	rk_bytes_release(&out);
	return text;
}

TEST(nothing_in_a_name_steers_the_terminal)
{
	CHECK_STR(printable("a\x7f\x01z", true), "a\\x7f\\x01z");
	CHECK_STR(printable("\xc2\x9b"
			    "31m",
			    true),
		  "\xef\xbf\xbd"
		  "31m");
	CHECK_STR(printable("\xe2\x80\xae"
			    "x",
			    true),
		  "\xef\xbf\xbd"
		  "x");
	CHECK_STR(printable("\xff\xc3\xa9\xe2\x82", true),
		  "\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(printable("\xc3\xa9\xffz", false), "??z");
}

TEST(percentages_leave_barriers_out)
{
	const struct rk_agg_row in[] = {
		{ .name = 0, .calls = 1, .timed = 1, .total_ns = 500, .barrier = true },
		{ .name = 0, .calls = 2, .timed = 2, .total_ns = 300, .keyed = true, .key = -4 },
		{ .name = 0, .calls = 3, .timed = 3, .total_ns = 100 },
		{ .name = 0, .calls = 4, .timed = 0 },
	};
	struct rk_report_section s = { NULL, 0, 0, 0 };
	struct rk_strtab *names;

	CHECK(rk_strtab_new(1 << 16, &names, NULL) == 0);
	CHECK(rk_section_make(in, 4, names, &s, NULL) == 0);
	CHECK_U64(s.calls, 10);
	CHECK_I64(s.total_ns, 400);
	CHECK(s.rows[0].percent == 0);
	CHECK(s.rows[1].percent == 75);
	CHECK_STR(s.rows[1].key, "-4");
	CHECK(s.rows[2].percent == 25);
	CHECK(isnan(s.rows[3].percent));
	rk_free(s.rows);
	rk_strtab_free(names);
}

TEST(statistics_go_to_the_section_they_describe)
{
	CHECK(rk_section_of_stats("kernel") == RK_SECTION_KERNELS);
	CHECK(rk_section_of_stats("copy") == RK_SECTION_COPIES);
	CHECK(rk_section_of_stats("domain") == RK_SECTION_DOMAINS);
	CHECK(rk_section_of_stats("api") == RK_SECTION_API);
	CHECK(rk_section_of_stats("marker") == RK_SECTION_API);
	CHECK(rk_section_of_stats("memory") == RK_SECTION_API);
}
