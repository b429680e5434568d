/* ncu_csv.c (test) - Nsight Compute as CSV: both pages, units, values, and what is between. */
#include <string.h>

#include "every_alloc.h"

#define FIXED                                                                   \
	"\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\"," \
	"\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
#define DETAILS FIXED "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
#define ROW0                                                                              \
	"\"0\",\"77\",\"app\",\"127.0.0.1\",\"void add<float, 4>(float *)\",\"1\",\"7\"," \
	"\"(256, 2, 1)\",\"(16384, 1, 1)\",\"3\",\"9.0\","
#define ROW1                                                                     \
	"\"1\",\"77\",\"app\",\"127.0.0.1\",\"mul\",\"1\",\"7\",\"(32, 1, 1)\"," \
	"\"(1, 1, 1)\",\"3\",\"9.0\","

static void reads_as(const char *text, enum rk_table t, const char *rows, const char *warnings)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(world_read(&w, "ncu.csv", text, t), rows);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

#define KERNEL0                                                                             \
	"kernel_name=void add<float, 4>(float *)|duration_ns=211940|grid_x=16384|grid_y=1|" \
	"grid_z=1|block_x=256|block_y=2|block_z=1|regs=32|stream_id=7|device_id=3|"         \
	"dispatch_id=0|pid=77|grid_items_x=4194304|grid_items_y=2|grid_items_z=1|"          \
	"source=ncu-csv|clock=unknown\n"
#define KERNEL1                                                                        \
	"kernel_name=mul|grid_x=1|grid_y=1|grid_z=1|block_x=32|block_y=1|block_z=1|"   \
	"stream_id=7|device_id=3|dispatch_id=1|pid=77|grid_items_x=32|grid_items_y=1|" \
	"grid_items_z=1|source=ncu-csv|clock=unknown\n"

TEST(the_details_page_of_ncu_has_a_row_for_each_metric)
{
	static const char text[] =
		"the program's own output\n"
		"==PROF== Profiling \"add\" - 0: 0%....50%....100% - 9 passes\n" DETAILS ROW0
		"\"Speed\",\"gpu__time_duration.sum\",\"us\",\"211.94\"\n" ROW0
		"\"Launch\",\"launch__registers_per_thread\",\"register/thread\",\"32\"\n" ROW0
		"\"Memory\",\"dram__bytes_read.sum\",\"Mbyte\",\"1,205.5\"\n" ROW1
		"\"Memory\",\"dram__bytes_read.sum\",\"\",\"n/a\"\n" ROW1
		"\"Memory\",\"lts__t_sector_hit_rate.pct\",\"%\",\"97.5\"\n"
		"==PROF== Disconnected from process 77\n";

	reads_as(text, RK_KERNELS, KERNEL0 KERNEL1, "no-value:1 ");
	reads_as(text, RK_COUNTERS,
		 "dispatch_id=0|kernel_name=void add<float, 4>(float *)|counter="
		 "gpu__time_duration.sum|value=211940|device_id=3|pid=77\n"
		 "dispatch_id=0|kernel_name=void add<float, 4>(float *)|counter="
		 "launch__registers_per_thread|value=32|device_id=3|pid=77\n"
		 "dispatch_id=0|kernel_name=void add<float, 4>(float *)|counter="
		 "dram__bytes_read.sum|value=1205500000|device_id=3|pid=77\n"
		 "dispatch_id=1|kernel_name=mul|counter=lts__t_sector_hit_rate.pct|value=97.5|"
		 "device_id=3|pid=77\n",
		 "no-value:1 ");
}

/* As ncu 2025.3 writes it: metrics end with a comma, rules have no metric. */
TEST(the_details_page_of_ncu_with_rules_has_short_rows)
{
	static const char text[] =
		"==PROF== Connected to process 77 (/tmp/t)\nhello, program\n"
		"==PROF== Disconnected from process 77\n" FIXED
		"\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\","
		"\"Rule Type\",\"Rule Description\",\"Estimated Speedup Type\","
		"\"Estimated Speedup\"\n" ROW0
		"\"GPU Speed Of Light Throughput\",\"Duration\",\"ns\",\"211,940\",\n" ROW0
		"\"Launch Statistics\",\"Registers Per Thread\",\"register/thread\",\"32\",\n" ROW0
		"\"SpeedOfLight\",\"\",\"\",\"\",\"SOLBottleneck\",\"OPT\",\"Look, here\",\"\","
		"\"\"\n" ROW1 "\"GPU Speed Of Light Throughput\",\"DRAM Frequency\",\"hz\","
		"\"3,197,894,736.84\",\n";

	reads_as(text, RK_KERNELS, KERNEL0 KERNEL1, "");
	reads_as(text, RK_COUNTERS,
		 "dispatch_id=0|kernel_name=void add<float, 4>(float *)|counter=Duration|"
		 "value=211940|device_id=3|pid=77\n"
		 "dispatch_id=0|kernel_name=void add<float, 4>(float *)|counter="
		 "Registers Per Thread|value=32|device_id=3|pid=77\n"
		 "dispatch_id=1|kernel_name=mul|counter=DRAM Frequency|value=3197894736.8400002|"
		 "device_id=3|pid=77\n",
		 "");
}

TEST(the_raw_page_of_ncu_has_a_column_for_each_metric_and_units_below)
{
	static const char text[] = FIXED
		"\"gpu__time_duration.sum\",\"launch__registers_per_thread\","
		"\"device__attribute_display_name\"\n"
		"\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"usecond\","
		"\"register/thread\",\"\"\n" ROW0 "\"211.94\",\"32\",\"NVIDIA H200\"\n" ROW1
		"\"\",\"\",\"\"\n";

	reads_as(text, RK_KERNELS, KERNEL0 KERNEL1, "no-value:1 ");
	reads_as(text, RK_COUNTERS,
		 "dispatch_id=0|kernel_name=void add<float, 4>(float *)|counter="
		 "gpu__time_duration.sum|value=211940|device_id=3|pid=77\n"
		 "dispatch_id=0|kernel_name=void add<float, 4>(float *)|counter="
		 "launch__registers_per_thread|value=32|device_id=3|pid=77\n",
		 "no-value:1 ");
}

TEST(values_of_ncu_may_have_commas_of_both_kinds)
{
	reads_as("ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n"
		 "0,k,a__x.sum,inst,\"1,234,567\"\n0,k,b__x.pct,%,\"9,00\"\n"
		 "0,k,c__x.sum,byte,\"1,234\"\n0,k,d__x.sum,Ghz,1.5\n0,k,e__x,ms,2\n",
		 RK_COUNTERS,
		 "dispatch_id=0|kernel_name=k|counter=a__x.sum|value=1234567\n"
		 "dispatch_id=0|kernel_name=k|counter=b__x.pct|value=9\n"
		 "dispatch_id=0|kernel_name=k|counter=c__x.sum|value=1234\n"
		 "dispatch_id=0|kernel_name=k|counter=d__x.sum|value=1500000000\n"
		 "dispatch_id=0|kernel_name=k|counter=e__x|value=2000000\n",
		 "");
}

TEST(lines_that_are_no_rows_of_ncu_are_counted)
{
	static const char head[] = "ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n";
	struct world w;

	reads_as("ID,Kernel Name,Metric Name,Metric Unit,Metric Value\nx,y\n0,k\n"
		 "-1,k,a__b,%,1\n99999999999999999999,k,a__b,%,1\n0,k,a__b,%,1,2,3\n",
		 RK_COUNTERS, "dispatch_id=0|kernel_name=k|counter=a__b|value=1\n",
		 "stray-line:4 ");
	reads_as(head, RK_COUNTERS, "", "");
	reads_as("ID,Kernel Name,a__b\n0,k,nan\n1,k,1e999\n2,k,5\n", RK_COUNTERS,
		 "dispatch_id=2|kernel_name=k|counter=a__b|value=5\n", "no-value:2 ");
	world_open(&w, 1);
	CHECK(!world_read(&w, "other.csv", "ID,Kernel Name,Value\n0,k,1\n", RK_COUNTERS));
	CHECK_I64(w.err.code, RK_E_UNSUPPORTED);
	world_close(&w);
}

TEST(every_allocation_that_ncu_needs_may_fail)
{
	static const char text[] = "ID,Kernel Name,a__b,c__d\n,,us,\n0,k,1,2\n1,k,3,4\n";
	struct world w;

	world_open(&w, 1);
	every_alloc_may_fail(world_file(&w, "ncu.csv", text, sizeof(text) - 1), 6);
	world_close(&w);
}
