/* nvprof_csv.c (test) - GPU traces of nvprof: remarks, units, names with ids. */
#include <string.h>

#include "every_alloc.h"

#define REMARKS                                                     \
	"==4711== NVPROF is profiling process 4711, command: ./a\n" \
	"==4711== Profiling result:\n"
#define HEADER                                                                             \
	"\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\"," \
	"\"Block Z\",\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\","  \
	"\"Throughput\",\"SrcMemType\",\"DstMemType\",\"Device\",\"Context\",\"Stream\","  \
	"\"Name\"\n"
#define COPY                                                                    \
	"0.233170123,1.504000,,,,,,,,,,0.190735,123.8,\"Pageable\",\"Device\"," \
	"\"Tesla V100-SXM2-16GB (2)\",\"1\",\"7\",\"[CUDA memcpy HtoD]\"\n"
#define KERNEL                                                                                    \
	"0.2335,2.048000,196,1,1,256,2,1,16,1.500000,512,,,,,\"Tesla V100-SXM2-16GB (2)\",\"1\"," \
	"\"7\",\"add(float const *, int) [107]\"\n"

static void reads_as(const char *text, enum rk_table t, const char *rows, const char *warnings)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(world_read(&w, "nvprof.csv", text, t), rows);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

#define KERNEL_ROW                                                                               \
	"kernel_name=add(float const *, int)|start_ns=233500000|duration_ns=2048|grid_x=196|"    \
	"grid_y=1|grid_z=1|block_x=256|block_y=2|block_z=1|regs=16|shared_mem=2048|stream_id=7|" \
	"device_id=2|correlation_id=107|pid=4711|grid_items_x=50176|grid_items_y=2|"             \
	"grid_items_z=1|source=nvprof-csv|clock=unknown\n"
#define COPY_ROW                                                                                 \
	"direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=233170123|duration_ns=1504|bytes=200000|" \
	"dst_device=2|stream_id=7|pid=4711\n"

TEST(nvprof_kernels_and_copies_in_the_units_of_the_file)
{
	static const char text[] = REMARKS HEADER "s,us,,,,,,,,KB,B,MB,GB/s,,,,,,\n" COPY KERNEL
						  "==4711== Warning: 3 records dropped\n";

	reads_as(text, RK_KERNELS, KERNEL_ROW, "");
	reads_as(text, RK_MEMCPY, COPY_ROW, "");
}

TEST(nvprof_header_without_quotes_and_with_a_correlation_column)
{
	reads_as(
		"Start,Duration,Grid X,Grid Y,Grid Z,Block X,Block Y,Block Z,Registers Per Thread,"
		"Static SMem,Dynamic SMem,Size,Throughput,SrcMemType,DstMemType,Device,Context,"
		"Stream,System,Name,Correlation_ID\r\n"
		"ms,ns,,,,,,,,B,B,B,,,,,,,,,\r\n"
		"1.5,70,2,1,1,32,1,1,8,0,0,,,,,A100 (0),1,13,,f<int, 3>(int, int),55\r\n",
		RK_KERNELS,
		"kernel_name=f<int, 3>(int, int)|start_ns=1500000|duration_ns=70|grid_x=2|grid_y=1|"
		"grid_z=1|block_x=32|block_y=1|block_z=1|regs=8|shared_mem=0|stream_id=13|"
		"device_id=0|correlation_id=55|grid_items_x=64|grid_items_y=1|grid_items_z=1|"
		"source=nvprof-csv|clock=unknown\n",
		"");
}

TEST(nvprof_times_are_exact_and_rounded_to_the_nearest)
{
	struct world w;

	world_open(&w, 1);
	world_text(&w, "n.csv",
		   "Start,Duration,Device,Name\ns,ms,,\n"
		   "9007199254.740993001,0.0000004,0,a\n0.0000000005,123456789.1234565,0,b\n");
	CHECK_STR(
		world_dump(&w, w.path, RK_KERNELS,
			   UINT64_C(1) << RK_K_START | UINT64_C(1) << RK_K_DURATION),
		"start_ns=9007199254740993001|duration_ns=0\nstart_ns=1|duration_ns=123456789123457\n");
	world_close(&w);
}

TEST(nvprof_odd_lines_are_counted)
{
	reads_as(REMARKS HEADER "s,us,,,,,,,,KB,B,MB,GB/s,,,,,,\n" KERNEL "1,2,3\n"
				"1.0e-3,x,,,,,,,,,,,,,,V100 (0),1,7,k\n"
				"1,2,,,,,,,,,,,,,,V100 (0),1,7,[Unified Memory GPU page faults]\n"
				"==4711== API calls:\nNo API activities were profiled.\n",
		 RK_KERNELS,
		 KERNEL_ROW "kernel_name=k|stream_id=7|device_id=0|pid=4711|source=nvprof-csv|"
			    "clock=unknown\n",
		 "damaged-time:2 not-a-kernel:1 short-row:1 stray-line:1 ");
}

TEST(nvprof_without_units_takes_nanoseconds_and_says_so)
{
	reads_as("Start,Duration,Device,Name\n10,5,0,k\n10,", RK_KERNELS,
		 "kernel_name=k|start_ns=10|duration_ns=5|device_id=0|source=nvprof-csv|"
		 "clock=unknown\n",
		 "no-units:1 cut-row:1 ");
}

TEST(nvprof_copies_go_every_way)
{
	reads_as(
		"Start,Duration,Size,Device,Name\nns,ns,KB,,\n1,1,1,0,[CUDA memcpy DtoH]\n"
		"2,1,1,0,[CUDA memcpy DtoD]\n3,1,1,0,[CUDA memcpy PtoP]\n4,1,2.5,0,[CUDA memset]\n"
		"5,1,1,0,[Unified Memory Memcpy HtoD]\n6,1,1,0,[CUDA memcpy XtoY]\n",
		RK_MEMCPY,
		"direction=MEMORY_COPY_DEVICE_TO_HOST|start_ns=1|duration_ns=1|bytes=1024|src_device=0\n"
		"direction=MEMORY_COPY_DEVICE_TO_DEVICE|start_ns=2|duration_ns=1|bytes=1024|"
		"src_device=0|dst_device=0\n"
		"direction=MEMORY_COPY_PEER_TO_PEER|start_ns=3|duration_ns=1|bytes=1024|src_device=0|"
		"dst_device=0\n"
		"direction=MEMORY_SET|start_ns=4|duration_ns=1|bytes=2560|dst_device=0\n"
		"direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=5|duration_ns=1|bytes=1024|dst_device=0\n"
		"direction=MEMORY_COPY_UNKNOWN|start_ns=6|duration_ns=1|bytes=1024\n",
		"");
}

TEST(nvprof_survives_every_failed_allocation)
{
	struct world w;

	world_open(&w, 1);
	world_text(&w, "n.csv", REMARKS HEADER "s,us,,,,,,,,KB,B,MB,GB/s,,,,,,\n" COPY KERNEL);
	every_alloc_may_fail(w.path, 2);
	world_close(&w);
}
