/* samples_csv.c - files of samples, variant by variant, and what is wrong with some. */
#include "read/samples/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

static void reads_as(const char *text, const char *want, const char *warnings)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_read(&w, "s.csv", text, RK_SAMPLES);
	if (!CHECK(got != NULL))
		CHECK_STR(w.err.message, "");
	else
		CHECK_STR(got, want);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

static void refused(const char *text)
{
	struct world w;

	world_open(&w, 1);
	CHECK(world_read(&w, "s.csv", text, RK_SAMPLES) == NULL);
	CHECK_I64(w.err.code, RK_E_UNSUPPORTED);
	world_close(&w);
}

TEST(samples_of_rockit_itself_have_a_column_a_gpu)
{
	reads_as("timestamp_ns,time,Power(Watt) GPU0,Power(Watt) GPU1\n"
		 "975779239309496,2026-11-15T03:51:06Z,151.5,N/A\n"
		 "13386742234691895,2026-11-15T03:51:07Z,152,140\n",
		 "time_ns=975779239309496|device_id=0|metric=power_w|value=151.5|unit=W\n"
		 "time_ns=13386742234691895|device_id=0|metric=power_w|value=152|unit=W\n"
		 "time_ns=13386742234691895|device_id=1|metric=power_w|value=140|unit=W\n",
		 "");
	reads_as("timestamp_ns,time,vram(%) GPU0,vram_used(MB) GPU0,vram(%) GPU12,"
		 "vram_used(MB) GPU12\n1000,,50.5,1024,0,2\n",
		 "time_ns=1000|device_id=0|metric=vram_percent|value=50.5|unit=%\n"
		 "time_ns=1000|device_id=0|metric=vram_used_bytes|value=1073741824|unit=B\n"
		 "time_ns=1000|device_id=12|metric=vram_percent|value=0|unit=%\n"
		 "time_ns=1000|device_id=12|metric=vram_used_bytes|value=2097152|unit=B\n",
		 "");
}

TEST(samples_of_madengine_have_wall_clock_times_without_a_zone)
{
	reads_as("time,Power(Watt) GPU0,Power(Watt) GPU1\r\n"
		 "2024-02-29 23:59:59.123456,150.0,N/A\r\n",
		 "time_ns=1709251199123456000|device_id=0|metric=power_w|value=150|unit=W\n",
		 "time-without-zone:1 ");
	reads_as("vram(%) GPU0,vram(%) GPU1\n10,20\n",
		 "device_id=0|metric=vram_percent|value=10|unit=%\n"
		 "device_id=1|metric=vram_percent|value=20|unit=%\n",
		 "");
}

TEST(samples_of_madengine_with_watts_divided_by_a_thousand_are_reported)
{
	reads_as("time,Power(Watt) GPU0\n2024-01-01 00:00:00.0,0.15\n2024-01-01 00:00:01.0,0.7\n",
		 "time_ns=1704067200000000000|device_id=0|metric=power_w|value=0.14999999999999999|"
		 "unit=W\n"
		 "time_ns=1704067201000000000|device_id=0|metric=power_w|value=0.69999999999999996|"
		 "unit=W\n",
		 "time-without-zone:2 small-power:1 ");
}

TEST(samples_with_rows_shorter_than_the_header)
{
	reads_as(
		"timestamp,device,power_watts,power_cap_watts\n"
		"1754585903,card0,152.0\n"
		"1754585903,card7,146.5,750\n"
		"1754585903,\n",
		"time_ns=1754585903000000000|device_id=0|metric=power_w|value=152|unit=W\n"
		"time_ns=1754585903000000000|device_id=7|metric=power_w|value=146.5|unit=W\n"
		"time_ns=1754585903000000000|device_id=7|metric=power_cap_watts|value=750|unit=W\n",
		"short-row:2 ");
}

TEST(samples_of_load_beside_a_growing_count)
{
	reads_as("timestamp,device,gpu_use_percent,gfx_activity,vram_total_bytes,vram_used_bytes\n"
		 "1754585903.25,card0,7,87772295,206141652992,297771008\n",
		 "time_ns=1754585903250000000|device_id=0|metric=busy_percent|value=7|unit=%\n"
		 "time_ns=1754585903250000000|device_id=0|metric=gfx_activity|value=87772295\n"
		 "time_ns=1754585903250000000|device_id=0|metric=vram_total_bytes|"
		 "value=206141652992|unit=B\n"
		 "time_ns=1754585903250000000|device_id=0|metric=vram_used_bytes|value=297771008|"
		 "unit=B\n",
		 "");
}

TEST(samples_of_temperature_take_the_first_sensor_that_has_a_value)
{
	reads_as("timestamp,device,temp_edge_celsius,temp_junction_celsius\n"
		 "1,card0,51.0,44.0\n2,card0,N/A,44.0\n",
		 "time_ns=1000000000|device_id=0|metric=temp_c|value=51|unit=C\n"
		 "time_ns=1000000000|device_id=0|metric=temp_junction_celsius|value=44|unit=C\n"
		 "time_ns=2000000000|device_id=0|metric=temp_c|value=44|unit=C\n",
		 "");
}

#define AMD_SMI                                                                                  \
	"timestamp,gpu,gfx_activity,umc_activity,vcn_activity,gfx_busy_inst_xcp_0,socket_power," \
	"gfx_voltage,power_management,gfx_0_clk,gfx_0_clk_locked,gfx_1_clk,mem_0_clk,edge,"      \
	"hotspot,mem\r\n"

TEST(samples_of_amd_smi_have_lists_states_and_blank_lines)
{
	reads_as(AMD_SMI "\n1786553852,3,10,2,\"['N/A', 'N/A']\",\"[0, 5]\",238,N/A,ENABLED,95,"
			 "DISABLED,94,2000,N/A,37,23\r\n\n",
		 "time_ns=1786553852000000000|device_id=3|metric=busy_percent|value=10|unit=%\n"
		 "time_ns=1786553852000000000|device_id=3|metric=umc_activity|value=2|unit=%\n"
		 "time_ns=1786553852000000000|device_id=3|metric=gfx_busy_inst_xcp_0[0]|value=0\n"
		 "time_ns=1786553852000000000|device_id=3|metric=gfx_busy_inst_xcp_0[1]|value=5\n"
		 "time_ns=1786553852000000000|device_id=3|metric=power_w|value=238|unit=W\n"
		 "time_ns=1786553852000000000|device_id=3|metric=sclk_mhz|value=95|unit=MHz\n"
		 "time_ns=1786553852000000000|device_id=3|metric=gfx_1_clk|value=94|unit=MHz\n"
		 "time_ns=1786553852000000000|device_id=3|metric=mclk_mhz|value=2000|unit=MHz\n"
		 "time_ns=1786553852000000000|device_id=3|metric=temp_c|value=37|unit=C\n"
		 "time_ns=1786553852000000000|device_id=3|metric=mem|value=23|unit=C\n",
		 "");
}

TEST(samples_cut_inside_the_last_row_lose_that_row)
{
	reads_as(AMD_SMI "1,3,10,2,\"['N/A', 'N/", "", "cut-row:1 ");
	reads_as("gpu,socket_power\n0,238\n1,2",
		 "device_id=0|metric=power_w|value=238|unit=W\n"
		 "device_id=1|metric=power_w|value=2|unit=W\n",
		 "");
}

TEST(samples_of_amd_smi_energy_have_no_time)
{
	reads_as("gpu,total_energy_consumption\r\n0,339360563.211\r\n7,1\r\n\n",
		 "device_id=0|metric=energy_j|value=339360563.21100003|unit=J\n"
		 "device_id=7|metric=energy_j|value=1|unit=J\n",
		 "");
}

TEST(samples_of_rocm_smi_have_long_names_and_units_in_cells)
{
	reads_as("device,Average Graphics Package Power (W),sclk clock speed:,GPU use (%),"
		 "GPU memory use (%)\n"
		 "card0,35.0,(132Mhz),3,4\n\n",
		 "device_id=0|metric=power_w|value=35|unit=W\n"
		 "device_id=0|metric=sclk_mhz|value=132|unit=MHz\n"
		 "device_id=0|metric=busy_percent|value=3|unit=%\n"
		 "device_id=0|metric=GPU memory use (%)|value=4|unit=%\n",
		 "");
}

TEST(samples_with_the_header_again_and_odd_rows)
{
	reads_as(
		"\xef\xbb\xbfgpu,socket_power\n0,1\ngpu,socket_power\n0,1,2\n0,3,\n,4\nx,5\n0,oops\n"
		"0,NaN\n0,1e400\n",
		"device_id=0|metric=power_w|value=1|unit=W\n"
		"device_id=0|metric=power_w|value=3|unit=W\n"
		"metric=power_w|value=4|unit=W\n"
		"metric=power_w|value=5|unit=W\n",
		"long-row:1 repeated-header:1 bad-number:3 bad-device:1 ");
}

TEST(samples_with_a_quoted_header_and_blanks_in_it)
{
	reads_as("\n \n\" gpu \", \"socket_power\" \n\"0\",\"5\"\n",
		 "device_id=0|metric=power_w|value=5|unit=W\n", "");
}

TEST(samples_with_times_that_cannot_be_read)
{
	reads_as("timestamp,gpu,socket_power\n"
		 "1.75E+09,0,1\n99999999999,0,2\nyesterday,0,3\n,0,4\n-5,0,5\n",
		 "device_id=0|metric=power_w|value=1|unit=W\n"
		 "device_id=0|metric=power_w|value=2|unit=W\n"
		 "device_id=0|metric=power_w|value=3|unit=W\n"
		 "device_id=0|metric=power_w|value=4|unit=W\n"
		 "device_id=0|metric=power_w|value=5|unit=W\n",
		 "bad-time:3 damaged-time:1 ");
	reads_as("timestamp_ns,Power(Watt) GPU0\n8.1097E+14,100\n9223372036854775808,100\n",
		 "device_id=0|metric=power_w|value=100|unit=W\n"
		 "device_id=0|metric=power_w|value=100|unit=W\n",
		 "bad-time:1 damaged-time:1 ");
}

static void is_time(const char *text, enum rk_when kind, int64_t want)
{
	int64_t ns = 0;

	CHECK_I64(rk_samples_when((struct rk_csv_span){ text, strlen(text) }, &ns), kind);
	if (kind == RK_WHEN_UTC || kind == RK_WHEN_LOCAL)
		CHECK_I64(ns, want);
}

TEST(sample_times_are_exact_to_the_nanosecond)
{
	is_time("1754585903", RK_WHEN_UTC, 1754585903000000000);
	is_time("1754585903.123456789", RK_WHEN_UTC, 1754585903123456789);
	is_time("0.1234567899", RK_WHEN_UTC, 123456789);
	is_time("1970-01-01T00:00:00Z", RK_WHEN_UTC, 0);
	is_time("1969-12-31T23:59:59.5Z", RK_WHEN_UTC, -500000000);
	is_time("2000-03-01 00:00:00", RK_WHEN_LOCAL, 951868800000000000);
	is_time("2026-11-15T03:51:06.000000001+02:00", RK_WHEN_UTC, 1794707466000000001);
	is_time("2026-11-15T03:51:06-0530", RK_WHEN_UTC, 1794734466000000000);
	is_time("", RK_WHEN_NONE, 0);
	is_time("N/A", RK_WHEN_NONE, 0);
	is_time("2026-13-15T03:51:06Z", RK_WHEN_BAD, 0);
	is_time("2026-11-15T03:51:06.5x", RK_WHEN_BAD, 0);
	is_time("2026-11-15X03:51:06", RK_WHEN_BAD, 0);
	is_time("1.", RK_WHEN_BAD, 0);
	is_time("1.5.5", RK_WHEN_BAD, 0);
	is_time("9223372037", RK_WHEN_BAD, 0);
}

static void is_value(const char *text, size_t len, enum rk_value kind, double want)
{
	double v = 0;

	CHECK_I64(rk_samples_value((struct rk_csv_span){ text, len }, &v), kind);
	CHECK(kind != RK_VALUE_OK || v == want);
}

TEST(sample_values_may_have_a_unit_and_nothing_else)
{
	is_value("35.0 W", 6, RK_VALUE_OK, 35);
	is_value("(132Mhz)", 8, RK_VALUE_OK, 132);
	is_value("-1e3", 4, RK_VALUE_OK, -1000);
	is_value("7%", 2, RK_VALUE_OK, 7);
	is_value("2 GB/s", 6, RK_VALUE_OK, 2);
	is_value("Disabled", 8, RK_VALUE_NONE, 0);
	is_value("", 0, RK_VALUE_NONE, 0);
	is_value("5\0", 2, RK_VALUE_BAD, 0);
	is_value("\xff\xfe", 2, RK_VALUE_BAD, 0);
	is_value("W", 1, RK_VALUE_BAD, 0);
	is_value("5 W of 300 all told", 19, RK_VALUE_BAD, 0);
	is_value("inf", 3, RK_VALUE_BAD, 0);
}

TEST(samples_without_rows_are_not_an_error)
{
	reads_as("timestamp,gpu,socket_power", "", "");
	reads_as("timestamp,gpu,socket_power\n", "", "");
	reads_as("timestamp,gpu,socket_power\n\n\n", "", "");
}

TEST(samples_are_known_by_their_header_alone)
{
	refused("timestamp,gpu,colour\n1,2,3\n");
	refused("name,socket_power\na,1\n");
	refused("timestamp,Power(Watt) GPU0,other\n1,2,3\n");
	refused("Power(Watt) GPU\n1\n");
	refused("{\"gpu\": 1, \"socket_power\": 2}\n");
	refused("gpu,device,socket_power\n0,0,1\n");
}

TEST(samples_of_a_list_longer_than_a_batch)
{
	size_t n = 20000;
	char *text = malloc(64 + n * 2), *p = text;
	struct world w;
	const char *got;
	size_t rows = 0;

	world_open(&w, 1);
	if (!CHECK(text != NULL))
		return;
	p = stpcpy(p, "gpu,socket_power,x\n0,1,\"[");
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, i ? ",7" : "7");
	stpcpy(p, "]\"\n");
	got = world_read(&w, "s.csv", text, RK_SAMPLES);
	for (; got && *got; got++)
		rows += *got == '\n';
	CHECK_U64(rows, n + 1);
	free(text);
	world_close(&w);
}

TEST(samples_in_want_of_memory_fail_cleanly)
{
	struct world w;
	const char *path, *got = NULL;

	world_open(&w, 1);
	path = world_text(&w, "s.csv",
			  AMD_SMI "1,3,10,2,\"['N/A']\",\"[0, 5]\",238,N/A,ENABLED,95,"
				  "DISABLED,94,2000,N/A,37,23\r\n1,2\n");
	for (uint64_t n = 1; n < 5000; n++) {
		rk_alloc_fail_after(n);
		got = world_dump(&w, path, RK_SAMPLES, RK_WANT_ALL);
		if (!rk_alloc_failed())
			break;
		/* losing a warning, or the test's own text, is not a failure of the reader */
		CHECK(got || w.err.code == RK_E_NOMEM || !w.err.code);
	}
	rk_alloc_fail_after(0);
	CHECK(got != NULL);
	world_close(&w);
}

TEST(roofline_has_a_row_a_value_with_its_unit)
{
	reads_as("device,HBMBw,HBMBwLow,hbmBwHigh,FP32Flops,MFMAI8Ops,MFMAFI8OpsLow\n"
		 "0,1388.7,1,2,3,4,5\n1,6,7,8,9,10,11\n",
		 "device_id=0|metric=HBMBw|value=1388.7|unit=GB/s\n"
		 "device_id=0|metric=HBMBwLow|value=1|unit=GB/s\n"
		 "device_id=0|metric=hbmBwHigh|value=2|unit=GB/s\n"
		 "device_id=0|metric=FP32Flops|value=3|unit=GFLOP/s\n"
		 "device_id=0|metric=MFMAI8Ops|value=4|unit=GOP/s\n"
		 "device_id=0|metric=MFMAFI8OpsLow|value=5|unit=GOP/s\n"
		 "device_id=1|metric=HBMBw|value=6|unit=GB/s\n"
		 "device_id=1|metric=HBMBwLow|value=7|unit=GB/s\n"
		 "device_id=1|metric=hbmBwHigh|value=8|unit=GB/s\n"
		 "device_id=1|metric=FP32Flops|value=9|unit=GFLOP/s\n"
		 "device_id=1|metric=MFMAI8Ops|value=10|unit=GOP/s\n"
		 "device_id=1|metric=MFMAFI8OpsLow|value=11|unit=GOP/s\n",
		 "");
}

TEST(queries_of_nvidia_smi_are_samples)
{
	reads_as("timestamp, index, name, pstate, memory.total [MiB], memory.used [MiB], "
		 "utilization.gpu [%], power.draw [W], temperature.gpu, clocks.current.sm [MHz], "
		 "clocks_throttle_reasons.active, fan.speed [%]\n"
		 "2026/07/23 12:00:09.250, 1, NVIDIA H200, P0, 143771 MiB, 1 MiB, 89 %, 490.25 W, "
		 "64, 990 MHz, 0x0000000000000001, [N/A]\n",
		 "time_ns=1784808009250000000|device_id=1|metric=vram_total_bytes|"
		 "value=150754820096|unit=B\n"
		 "time_ns=1784808009250000000|device_id=1|metric=vram_used_bytes|value=1048576|"
		 "unit=B\n"
		 "time_ns=1784808009250000000|device_id=1|metric=busy_percent|value=89|unit=%\n"
		 "time_ns=1784808009250000000|device_id=1|metric=power_w|value=490.25|unit=W\n"
		 "time_ns=1784808009250000000|device_id=1|metric=temp_c|value=64|unit=C\n"
		 "time_ns=1784808009250000000|device_id=1|metric=sclk_mhz|value=990|unit=MHz\n",
		 "time-without-zone:1 ");
	/* without units, without time and index, and what a GPU does not have */
	reads_as("utilization.gpu [%], utilization.memory [%], power.draw [W]\n"
		 "7, 3, [Not Supported]\n",
		 "metric=busy_percent|value=7|unit=%\n"
		 "metric=utilization.memory [%]|value=3|unit=%\n",
		 "");
	refused("name, driver_version, pci.bus_id\nNVIDIA H200, 590.1, 00000000:01:00.0\n");
}

TEST(the_text_of_nvidia_smi_dmon_is_samples)
{
	reads_as("#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n"
		 "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz\n"
		 " 20260723   12:00:09      0    490     64      -     89      9   2619    990\n"
		 "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n"
		 "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz\n"
		 " 2026072    12:00:10      1      -      -      -      1      -      -      -\n",
		 "time_ns=1784808009000000000|device_id=0|metric=power_w|value=490|unit=W\n"
		 "time_ns=1784808009000000000|device_id=0|metric=temp_c|value=64|unit=C\n"
		 "time_ns=1784808009000000000|device_id=0|metric=busy_percent|value=89|unit=%\n"
		 "time_ns=1784808009000000000|device_id=0|metric=mem|value=9|unit=%\n"
		 "time_ns=1784808009000000000|device_id=0|metric=mclk_mhz|value=2619|unit=MHz\n"
		 "time_ns=1784808009000000000|device_id=0|metric=sclk_mhz|value=990|unit=MHz\n"
		 "device_id=1|metric=busy_percent|value=1|unit=%\n",
		 "bad-time:1 time-without-zone:1 ");
	reads_as("# gpu    pwr  gtemp\n# Idx      W      C\n    3     45     30\n",
		 "device_id=3|metric=power_w|value=45|unit=W\n"
		 "device_id=3|metric=temp_c|value=30|unit=C\n",
		 "");
	/* processes, and a comment */
	refused("# gpu        pid  type    sm   mem   command\n"
		"    0      4711     C    90    10   app\n");
	refused("# gpu notes\nnothing\n");
}
