/* rocprofv3_csv.c - every kind of CSV file rocprofv3 writes, over its releases, value by value. */
#include "read/rocprofv3/csv.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "world.h"

/* One table of one file. */
static void reads_as(const char *name, const char *text, enum rk_table t, const char *want)
{
	struct world w;
	const char *got;

	world_open(&w, 2);
	got = world_read(&w, name, text, t);
	if (!CHECK(got != NULL))
		CHECK_STR(w.err.message, "");
	else
		CHECK_STR(got, want);
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
}

TEST(kernel_trace_of_rocm_6_2_has_16_columns)
{
	reads_as(
		"1_kernel_trace.csv",
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\","
		"\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
		"\"Private_Segment_Size\",\"Group_Segment_Size\",\"Workgroup_Size_X\","
		"\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\","
		"\"Grid_Size_Z\"\n"
		"\"KERNEL_DISPATCH\",8,3,11,\"copy(int*, int)\",21,13386742234691895,"
		"13386742234700000,16,1024,64,2,1,1000,1024,1\n",
		RK_KERNELS,
		"kernel_name=copy(int*, int)|start_ns=13386742234691895|duration_ns=8105|grid_x=16|"
		"grid_y=512|grid_z=1|block_x=64|block_y=2|block_z=1|shared_mem=1024|stream_id=3|"
		"device_id=8|queue_id=3|correlation_id=21|scratch_bytes=16|grid_items_x=1000|"
		"grid_items_y=1024|grid_items_z=1|source=rocprofv3-csv|clock=boottime\n");
}

TEST(kernel_trace_of_rocm_6_3_has_18_columns)
{
	reads_as(
		"1_kernel_trace.csv",
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\","
		"\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
		"\"Private_Segment_Size\",\"Group_Segment_Size\",\"Workgroup_Size_X\","
		"\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\","
		"\"Grid_Size_Z\"\n"
		"\"KERNEL_DISPATCH\",8,3,777,5,11,\"k\",21,1000,1500,16,1024,64,1,1,64,1,1\n",
		RK_KERNELS,
		"kernel_name=k|start_ns=1000|duration_ns=500|grid_x=1|grid_y=1|grid_z=1|block_x=64|"
		"block_y=1|block_z=1|shared_mem=1024|stream_id=3|device_id=8|queue_id=3|"
		"dispatch_id=5|correlation_id=21|tid=777|scratch_bytes=16|grid_items_x=64|"
		"grid_items_y=1|grid_items_z=1|source=rocprofv3-csv|clock=boottime\n");
}

TEST(kernel_trace_of_early_rocm_7_has_19_columns_and_agents_as_text)
{
	reads_as(
		"1_kernel_trace.csv",
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
		"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
		"\"End_Timestamp\",\"Private_Segment_Size\",\"Group_Segment_Size\","
		"\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
		"\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
		"\"KERNEL_DISPATCH\",\"Agent 2\",3,9,777,5,11,\"k\",21,1000,1500,16,1024,64,1,1,64,"
		"1,1\n"
		"\"KERNEL_DISPATCH\",\"GPU 1\",3,9,777,6,11,\"k\",22,2000,2001,16,1024,64,1,1,65,1,"
		"1\n",
		RK_KERNELS,
		"kernel_name=k|start_ns=1000|duration_ns=500|grid_x=1|grid_y=1|grid_z=1|block_x=64|"
		"block_y=1|block_z=1|shared_mem=1024|stream_id=9|device_id=2|queue_id=3|"
		"dispatch_id=5|correlation_id=21|tid=777|scratch_bytes=16|grid_items_x=64|"
		"grid_items_y=1|grid_items_z=1|source=rocprofv3-csv|clock=boottime\n"
		"kernel_name=k|start_ns=2000|duration_ns=1|grid_x=2|grid_y=1|grid_z=1|block_x=64|"
		"block_y=1|block_z=1|shared_mem=1024|stream_id=9|device_id=1|queue_id=3|"
		"dispatch_id=6|correlation_id=22|tid=777|scratch_bytes=16|grid_items_x=65|"
		"grid_items_y=1|grid_items_z=1|source=rocprofv3-csv|clock=boottime\n");
}

#define HEADER_22                                                                       \
	"Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name," \
	"Correlation_Id,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,"     \
	"VGPR_Count,Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,"     \
	"Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z"
#define KERNEL_22                                                                            \
	"kernel_name=k|start_ns=1000|duration_ns=500|grid_x=1|grid_y=1|grid_z=1|block_x=64|" \
	"block_y=1|block_z=1|regs=44|shared_mem=1024|stream_id=9|device_id=2|queue_id=3|"    \
	"dispatch_id=5|correlation_id=21|tid=777|vgpr=32|accum_vgpr=12|sgpr=48|"             \
	"scratch_bytes=16|grid_items_x=64|grid_items_y=1|grid_items_z=1|"                    \
	"source=rocprofv3-csv|clock=boottime\n"
#define ROW_22                                                                              \
	"\"KERNEL_DISPATCH\",\"Agent 2\",3,9,777,5,11,\"k\",21,1000,1500,1024,16,32,12,48," \
	"64,1,1,64,1,1"

TEST(kernel_trace_of_rocm_7_has_22_columns_quoted_or_not)
{
	static const char quoted[] =
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
		"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
		"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","
		"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
		"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n" ROW_22
		"\n";

	reads_as("1_kernel_trace.csv", quoted, RK_KERNELS, KERNEL_22);
	reads_as("1_kernel_trace.csv", HEADER_22 "\n" ROW_22 "\n", RK_KERNELS, KERNEL_22);
}

TEST(agent_and_queue_columns_may_be_there_twice)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 20);
	rk_bytes_puts(&b,
		      "Kind,Agent_Id,Queue_Id,Queue_Id,Agent_Id,Dispatch_Id,Kernel_Id,Kernel_Name,"
		      "Start_Timestamp,End_Timestamp\n");
	for (int i = 1; i <= 3; i++)
		rk_bytes_printf(&b, "KERNEL_DISPATCH,Agent 4,1,9,9,%d,7,k,%d,%d\n", i, 100 * i,
				100 * i + 50);
	reads_as("1_kernel_trace.csv", rk_bytes_str(&b), RK_KERNELS,
		 "kernel_name=k|start_ns=100|duration_ns=50|stream_id=1|device_id=4|queue_id=1|"
		 "dispatch_id=1|source=rocprofv3-csv|clock=boottime\n"
		 "kernel_name=k|start_ns=200|duration_ns=50|stream_id=1|device_id=4|queue_id=1|"
		 "dispatch_id=2|source=rocprofv3-csv|clock=boottime\n"
		 "kernel_name=k|start_ns=300|duration_ns=50|stream_id=1|device_id=4|queue_id=1|"
		 "dispatch_id=3|source=rocprofv3-csv|clock=boottime\n");
	rk_bytes_release(&b);
}

TEST(kernel_trace_with_columns_added_by_someone_else)
{
	reads_as("t.csv", HEADER_22 ",Phase\n" ROW_22 ",\"decode, late\"\n" ROW_22 ",\n",
		 RK_KERNELS, KERNEL_22 KERNEL_22);
	reads_as("t.csv", "Note," HEADER_22 "\n\"a, b\"," ROW_22 "\n", RK_KERNELS, KERNEL_22);
}

TEST(kernel_trace_behind_a_mark_and_blank_lines_with_mixed_line_ends)
{
	reads_as("t.csv",
		 "\xef\xbb\xbf\n\r\n" HEADER_22 "\r\n\n" ROW_22 "\r\n\n   \n" ROW_22
		 "\n\r\n" ROW_22,
		 RK_KERNELS, KERNEL_22 KERNEL_22 KERNEL_22);
}

TEST(kernel_trace_with_every_number_in_quotes)
{
	reads_as("t.csv",
		 HEADER_22
		 "\n\"KERNEL_DISPATCH\",\"Agent 2\",\"3\",\"9\",\"777\",\"5\",\"11\",\"k\",\"21\","
		 "\"1000\",\"1500\",\"1024\",\"16\",\"32\",\"12\",\"48\",\"64\",\"1\",\"1\","
		 "\"64\",\"1\",\"1\"\n",
		 RK_KERNELS, KERNEL_22);
}

TEST(kernel_trace_with_a_wrapped_header)
{
	reads_as(
		"t.csv",
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
		"\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\","
		"\"Group_Segment_Size\",\"Workgroup\n_Size_X\",\"Workgroup_Size_Y\","
		"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
		"\"KERNEL_DISPATCH\",8,3,11,\"k\",21,1000,1500,16,1024,64,1,1,64,1,1\n",
		RK_KERNELS,
		"kernel_name=k|start_ns=1000|duration_ns=500|grid_x=1|grid_y=1|grid_z=1|block_x=64|"
		"block_y=1|block_z=1|shared_mem=1024|stream_id=3|device_id=8|queue_id=3|"
		"correlation_id=21|scratch_bytes=16|grid_items_x=64|grid_items_y=1|grid_items_z=1|"
		"source=rocprofv3-csv|clock=boottime\n");
}

TEST(kernel_trace_of_rocpd_convert_has_a_guid_and_other_case)
{
	reads_as("out_kernel_trace.csv",
		 "\"Guid\",\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\","
		 "\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
		 "\"Start_Timestamp\",\"End_Timestamp\",\"Lds_Block_Size\",\"Scratch_Size\","
		 "\"Vgpr_Count\",\"Accum_Vgpr_Count\",\"Sgpr_Count\",\"Workgroup_Size_X\","
		 "\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\","
		 "\"Grid_Size_Z\"\n"
		 "\"0000ddb5-8903-7903-b269-cd8d3745bb8a\"," ROW_22 "\n",
		 RK_KERNELS, KERNEL_22);
}

TEST(kernel_trace_counts_grids_of_over_two_billion_items)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(world_read(&w, "t.csv",
			     HEADER_22
			     "\n\"KERNEL_DISPATCH\",\"Agent 2\",3,9,777,5,11,\"k\",21,1000,1500,"
			     "1024,16,32,12,48,64,0,1,4294967295,5,1\n",
			     RK_KERNELS),
		  "kernel_name=k|start_ns=1000|duration_ns=500|grid_x=67108864|grid_z=1|block_x=64|"
		  "block_y=0|block_z=1|regs=44|shared_mem=1024|stream_id=9|device_id=2|queue_id=3|"
		  "dispatch_id=5|correlation_id=21|tid=777|vgpr=32|accum_vgpr=12|sgpr=48|"
		  "scratch_bytes=16|grid_items_y=5|grid_items_z=1|source=rocprofv3-csv|"
		  "clock=boottime\n");
	CHECK_STR(world_warnings(&w), "grid-out-of-range:1 ");
	world_close(&w);
}

/* A counter file gives its values, and each dispatch once as a kernel. */
static void counters_read_as(const char *text, const char *values, const char *kernels)
{
	reads_as("1_counter_collection.csv", text, RK_COUNTERS, values);
	reads_as("1_counter_collection.csv", text, RK_KERNELS, kernels);
}

TEST(counter_collection_of_rocm_6_2_has_15_columns)
{
	counters_read_as(
		"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
		"\"Thread_Id\",\"Grid_Size\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
		"\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\"\n"
		"1,1,4,2,33,34,4096,\"a<1, 2>\",256,512,0,8,16,\"SQ_WAVES\",64\n"
		"1,1,4,2,33,34,4096,\"a<1, 2>\",256,512,0,8,16,\"GRBM_COUNT\",12345.5\n"
		"2,2,4,2,33,34,100,\"b\",64,0,0,8,16,\"SQ_WAVES\",2\n",
		"dispatch_id=1|kernel_name=a<1, 2>|counter=SQ_WAVES|value=64|device_id=4|pid=33\n"
		"dispatch_id=1|kernel_name=a<1, 2>|counter=GRBM_COUNT|value=12345.5|device_id=4|pid=33\n"
		"dispatch_id=2|kernel_name=b|counter=SQ_WAVES|value=2|device_id=4|pid=33\n",
		"kernel_name=a<1, 2>|grid_x=16|grid_y=1|grid_z=1|block_x=256|block_y=1|block_z=1|regs=8|"
		"shared_mem=512|stream_id=2|device_id=4|queue_id=2|dispatch_id=1|correlation_id=1|"
		"pid=33|tid=34|vgpr=8|sgpr=16|scratch_bytes=0|grid_items_x=4096|grid_items_y=1|"
		"grid_items_z=1|source=rocprofv3-csv|clock=boottime\n"
		"kernel_name=b|grid_x=2|grid_y=1|grid_z=1|block_x=64|block_y=1|block_z=1|regs=8|"
		"shared_mem=0|stream_id=2|device_id=4|queue_id=2|dispatch_id=2|correlation_id=2|pid=33|"
		"tid=34|vgpr=8|sgpr=16|scratch_bytes=0|grid_items_x=100|grid_items_y=1|"
		"grid_items_z=1|source=rocprofv3-csv|clock=boottime\n");
}

TEST(counter_collection_with_16_columns_has_a_kernel_id)
{
	counters_read_as(
		"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
		"\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\","
		"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
		"\"Counter_Value\"\n"
		"1,1,4,2,33,34,4096,17,\"a\",256,512,0,8,16,\"SQ_WAVES\",16384.000000\n",
		"dispatch_id=1|kernel_name=a|counter=SQ_WAVES|value=16384|device_id=4|pid=33\n",
		"kernel_name=a|grid_x=16|grid_y=1|grid_z=1|block_x=256|block_y=1|block_z=1|regs=8|"
		"shared_mem=512|stream_id=2|device_id=4|queue_id=2|dispatch_id=1|correlation_id=1|"
		"pid=33|tid=34|vgpr=8|sgpr=16|scratch_bytes=0|grid_items_x=4096|grid_items_y=1|"
		"grid_items_z=1|source=rocprofv3-csv|clock=boottime\n");
}

TEST(counter_collection_with_18_columns_has_times)
{
	counters_read_as(
		"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
		"\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\","
		"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
		"\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		"1,1,4,2,33,34,4096,17,\"a\",256,512,0,8,16,\"SQ_WAVES\",0.00000000e+00,100,250\n",
		"dispatch_id=1|kernel_name=a|counter=SQ_WAVES|value=0|device_id=4|pid=33\n",
		"kernel_name=a|start_ns=100|duration_ns=150|grid_x=16|grid_y=1|grid_z=1|block_x=256|"
		"block_y=1|block_z=1|regs=8|shared_mem=512|stream_id=2|device_id=4|queue_id=2|"
		"dispatch_id=1|correlation_id=1|pid=33|tid=34|vgpr=8|sgpr=16|scratch_bytes=0|"
		"grid_items_x=4096|grid_items_y=1|grid_items_z=1|source=rocprofv3-csv|"
		"clock=boottime\n");
}

TEST(counter_collection_of_rocm_7_has_19_columns)
{
	counters_read_as(
		"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
		"\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\","
		"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\","
		"\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","
		"\"End_Timestamp\"\n"
		"1,1,\"Agent 4\",2,33,34,4096,17,\"a\",256,512,0,8,4,16,\"SQ_WAVES\",1.5e3,100,250\n"
		"1,1,\"Agent 4\",2,33,34,4096,17,\"a\",256,512,0,8,4,16,\"X\",-2,100,250\n",
		"dispatch_id=1|kernel_name=a|counter=SQ_WAVES|value=1500|device_id=4|pid=33\n"
		"dispatch_id=1|kernel_name=a|counter=X|value=-2|device_id=4|pid=33\n",
		"kernel_name=a|start_ns=100|duration_ns=150|grid_x=16|grid_y=1|grid_z=1|block_x=256|"
		"block_y=1|block_z=1|regs=12|shared_mem=512|stream_id=2|device_id=4|queue_id=2|"
		"dispatch_id=1|correlation_id=1|pid=33|tid=34|vgpr=8|accum_vgpr=4|sgpr=16|"
		"scratch_bytes=0|grid_items_x=4096|grid_items_y=1|grid_items_z=1|"
		"source=rocprofv3-csv|clock=boottime\n");
}

#define API_HEADER                                                                 \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"

TEST(api_traces_of_all_domains_are_calls)
{
	static const char text[] = API_HEADER
		"\"HSA_CORE_API\",\"hsa_init\",1,2,3,100,110\n"
		"\"HSA_AMD_EXT_API\",\"hsa_amd_x\",1,2,4,120,125\n"
		"\"HIP_RUNTIME_API\",\"hipMalloc\",1,2,5,130,150\n"
		"\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",1,2,6,160,161\n"
		"\"HIP_COMPILER_API_EXT\",\"__hipRegisterFatBinary\",1,2,7,170,170\n"
		"\"RCCL_API\",\"ncclAllReduce\",1,2,8,180,200\n"
		"\"ROCDECODE_API\",\"rocDecCreateDecoder\",1,2,9,210,220\n"
		"\"ROCJPEG_API\",\"rocJpegDecode\",1,2,10,230,240\n";

	reads_as("1_hip_api_trace.csv", text, RK_API,
		 "domain=HSA_CORE_API|function=hsa_init|start_ns=100|duration_ns=10|"
		 "correlation_id=3|pid=1|tid=2\n"
		 "domain=HSA_AMD_EXT_API|function=hsa_amd_x|start_ns=120|duration_ns=5|"
		 "correlation_id=4|pid=1|tid=2\n"
		 "domain=HIP_RUNTIME_API|function=hipMalloc|start_ns=130|duration_ns=20|"
		 "correlation_id=5|pid=1|tid=2\n"
		 "domain=HIP_RUNTIME_API_EXT|function=hipLaunchKernel|start_ns=160|duration_ns=1|"
		 "correlation_id=6|pid=1|tid=2\n"
		 "domain=HIP_COMPILER_API_EXT|function=__hipRegisterFatBinary|start_ns=170|"
		 "duration_ns=0|correlation_id=7|pid=1|tid=2\n"
		 "domain=RCCL_API|function=ncclAllReduce|start_ns=180|duration_ns=20|"
		 "correlation_id=8|pid=1|tid=2\n"
		 "domain=ROCDECODE_API|function=rocDecCreateDecoder|start_ns=210|duration_ns=10|"
		 "correlation_id=9|pid=1|tid=2\n"
		 "domain=ROCJPEG_API|function=rocJpegDecode|start_ns=230|duration_ns=10|"
		 "correlation_id=10|pid=1|tid=2\n");
	reads_as("1_hip_api_trace.csv", text, RK_MARKERS, "");
}

TEST(markers_go_to_their_own_table_with_their_kind)
{
	static const char text[] = API_HEADER
		"\"MARKER_CORE_API\",\"step 1, \"warm\"\",1,2,3,100,180\n"
		"\"HIP_RUNTIME_API\",\"hipMalloc\",1,2,4,130,150\n"
		"\"MARKER_CORE_RANGE_API\",\"step 2\",1,2,5,200,201\n"
		"\"MARKER_CORE_API\",\"a mark\",1,2,6,300,300\n"
		"\"MARKER_CONTROL_API\",\"roctxProfilerPause\",1,2,7,310,311\n"
		"\"MARKER_NAME_API\",\"roctxNameOsThread\",1,2,8,320,321\n";

	reads_as("1_marker_api_trace.csv", text, RK_MARKERS,
		 "name=step 1, \"warm\"|kind=range|start_ns=100|duration_ns=80|pid=1|tid=2\n"
		 "name=step 2|kind=range|start_ns=200|duration_ns=1|pid=1|tid=2\n"
		 "name=a mark|kind=mark|start_ns=300|duration_ns=0|pid=1|tid=2\n"
		 "name=roctxProfilerPause|kind=control|start_ns=310|duration_ns=1|pid=1|tid=2\n"
		 "name=roctxNameOsThread|kind=name|start_ns=320|duration_ns=1|pid=1|tid=2\n");
	reads_as("1_marker_api_trace.csv", text, RK_API,
		 "domain=HIP_RUNTIME_API|function=hipMalloc|start_ns=130|duration_ns=20|"
		 "correlation_id=4|pid=1|tid=2\n");
}

TEST(api_trace_of_rocpd_convert_has_a_guid)
{
	reads_as("regions_trace.csv",
		 "\"Guid\",\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
		 "\"Start_Timestamp\",\"End_Timestamp\"\n"
		 "\"0000ddb5-8903\",\"HIP_RUNTIME_API_EXT\",\"hipFree\",1,2,3,100,110\n",
		 RK_API,
		 "domain=HIP_RUNTIME_API_EXT|function=hipFree|start_ns=100|duration_ns=10|"
		 "correlation_id=3|pid=1|tid=2\n");
}

TEST(api_trace_with_an_unquoted_header_and_bare_words)
{
	reads_as("x.csv",
		 "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,"
		 "End_Timestamp\nHIP_RUNTIME_API,hipFree,1,2,3,100,110\n",
		 RK_API,
		 "domain=HIP_RUNTIME_API|function=hipFree|start_ns=100|duration_ns=10|"
		 "correlation_id=3|pid=1|tid=2\n");
}

TEST(memory_copies_of_rocm_6_and_7_and_the_build_without_prefix)
{
	reads_as("1_memory_copy_trace.csv",
		 "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
		 "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		 "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,8,5,100,190\n"
		 "\"MEMORY_COPY\",\"DEVICE_TO_HOST\",8,0,6,200,230\n",
		 RK_MEMCPY,
		 "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=100|duration_ns=90|src_device=0|"
		 "dst_device=8|correlation_id=5\n"
		 "direction=MEMORY_COPY_DEVICE_TO_HOST|start_ns=200|duration_ns=30|src_device=8|"
		 "dst_device=0|correlation_id=6\n");
	reads_as(
		"1_memory_copy_trace.csv",
		"Kind,Direction,Stream_Id,Source_Agent_Id,Destination_Agent_Id,Correlation_Id,"
		"Start_Timestamp,End_Timestamp\n"
		"\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_DEVICE\",3,\"Agent 1\",\"Agent 2\",5,100,190\n",
		RK_MEMCPY,
		"direction=MEMORY_COPY_DEVICE_TO_DEVICE|start_ns=100|duration_ns=90|src_device=1|"
		"dst_device=2|stream_id=3|correlation_id=5\n");
}

TEST(memory_allocations_whatever_the_order_of_columns)
{
	static const char want[] =
		"operation=MEMORY_ALLOCATION_ALLOCATE|start_ns=100|duration_ns=50|bytes=4096|"
		"address=139718691782656|device_id=4|correlation_id=7\n"
		"operation=MEMORY_ALLOCATION_FREE|start_ns=200|duration_ns=10|bytes=0|"
		"address=139718691782656|correlation_id=8\n";

	reads_as("1_memory_allocation_trace.csv",
		 "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\","
		 "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		 "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 4\",4096,"
		 "\"0x00007f12cafe0000\",7,100,150\n"
		 "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x00007f12cafe0000\",8,"
		 "200,210\n",
		 RK_MEMALLOC, want);
	reads_as("1_memory_allocation_trace.csv",
		 "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Starting_Address\","
		 "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
		 "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",4,4096,"
		 "\"0x00007f12cafe0000\",7,100,150\n"
		 "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",,0,\"0x00007f12cafe0000\",8,200,"
		 "210\n",
		 RK_MEMALLOC, want);
	reads_as("1_memory_allocation_trace.csv",
		 "\"Kind\",\"Operation\",\"Address\",\"Agent_Id\",\"Start_Timestamp\","
		 "\"End_Timestamp\",\"Correlation_Id\",\"Allocation_Size\"\n"
		 "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"0x00007f12cafe0000\","
		 "\"Agent 4\",100,150,7,4096\n"
		 "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"0x00007f12cafe0000\",\"\",200,"
		 "210,8,0\n",
		 RK_MEMALLOC, want);
}

TEST(scratch_memory_with_and_without_a_size)
{
	reads_as("1_scratch_memory_trace.csv",
		 "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\","
		 "\"Start_Timestamp\",\"End_Timestamp\"\n"
		 "\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_ALLOC\",4,1,99,2,100,150\n",
		 RK_MEMALLOC,
		 "operation=SCRATCH_MEMORY_ALLOC|start_ns=100|duration_ns=50|device_id=4|flags=2|"
		 "tid=99\n");
	reads_as("1_scratch_memory_trace.csv",
		 "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_flags\","
		 "\"Start_Timestamp\",\"End_Timestamp\",\"Allocation_Size\"\n"
		 "\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_FREE\",\"Agent 4\",1,99,0,100,150,8192\n",
		 RK_MEMALLOC,
		 "operation=SCRATCH_MEMORY_FREE|start_ns=100|duration_ns=50|bytes=8192|device_id=4|"
		 "flags=0|tid=99\n");
}

#define COPIES                                                                  \
	"\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\","             \
	"\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\","      \
	"\"End_Timestamp\"\n"                                                   \
	"\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,\"\",\"\",1,10,20\n"  \
	"\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\",0,\"CPU 0\",\"GPU 0\"," \
	"2,30,40\n"                                                             \
	"\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",0,\"GPU 1\",\"CPU 1\"," \
	"3,50,60\n"

TEST(agents_counted_by_type_do_not_collide)
{
	uint64_t want = UINT64_C(1) << RK_C_SRC | UINT64_C(1) << RK_C_DST;
	struct world w;

	world_open(&w, 1);
	/* without agent_info.csv the two types only differ */
	world_text(&w, "7_memory_copy_trace.csv", COPIES);
	CHECK_STR(world_dump(&w, w.path, RK_MEMCPY, want),
		  "start_ns=10\nstart_ns=30|src_device=-1|dst_device=0\n"
		  "start_ns=50|src_device=1|dst_device=-2\n");
	/* with it, they are the agents of its table */
	world_text(&w, "7_agent_info.csv",
		   "\"Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Simd_Count\",\"Name\"\n"
		   "0,\"CPU\",2,0,\"a\"\n1,\"CPU\",2,0,\"b\"\n4,\"GPU\",304,1216,\"gfx942\"\n"
		   "6,\"GPU\",304,1216,\"gfx942\"\n");
	world_text(&w, "7_memory_copy_trace.csv", COPIES);
	CHECK_STR(world_dump(&w, w.path, RK_MEMCPY, want),
		  "start_ns=10\nstart_ns=30|src_device=0|dst_device=4\n"
		  "start_ns=50|src_device=6|dst_device=1\n");
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
}

TEST(agents_of_agent_info)
{
	reads_as(
		"1_agent_info.csv",
		"\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cpu_Cores_Count\",\"Simd_Count\","
		"\"Wave_Front_Size\",\"Num_Xcc\",\"Cu_Count\",\"Array_Count\","
		"\"Simd_Arrays_Per_Engine\",\"Simd_Per_Cu\",\"Max_Waves_Per_Cu\","
		"\"Max_Engine_Clk_Ccompute\","
		"\"Max_Engine_Clk_Fcompute\",\"Local_Mem_Size\",\"Name\",\"Vendor_Name\","
		"\"Product_Name\",\"Model_Name\"\n"
		"0,0,\"CPU\",64,0,0,1,64,0,0,0,0,3700,0,0,\"AMD EPYC 9654, 96 cores\",\"CPU\","
		"\"AMD EPYC 9654, 96 cores\",\"\"\n"
		"4,1,\"GPU\",0,1216,64,8,304,64,2,4,32,3700,2100,206141652992,\"gfx942\",\"AMD\","
		"\"AMD Instinct MI300X\",\"ip discovery\"\n",
		RK_AGENTS,
		"device_id=0|type=CPU|name=AMD EPYC 9654, 96 cores|product=AMD EPYC 9654, 96 cores|"
		"cu_count=64|max_sclk_mhz=0|xcc=1|wave_size=0|simd_per_cu=0|"
		"waves_per_cu=0\n"
		"device_id=4|type=GPU|name=gfx942|gfx=gfx942|product=AMD Instinct MI300X|cu_count=304|"
		"max_sclk_mhz=2100|xcc=8|wave_size=64|memory_bytes=206141652992|se_count=32|"
		"simd_per_cu=4|waves_per_cu=32\n");
}

TEST(agent_info_with_agents_of_its_own_is_read_once)
{
	reads_as("1_agent_info.csv",
		 "\"Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Simd_Count\",\"Name\",\"Agent_Id\"\n"
		 "4,\"GPU\",304,1216,\"gfx942\",\"GPU 0\"\n",
		 RK_AGENTS, "device_id=4|type=GPU|name=gfx942|gfx=gfx942|cu_count=304\n");
}

#define STATS_HEADER                                                                     \
	"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\"," \
	"\"MaxNs\",\"StdDev\"\n"

static void stats_are_of(const char *file, const char *name, const char *of)
{
	char text[512], want[512];

	snprintf(text, sizeof(text), STATS_HEADER "\"%s\",4,1000,250.000000,62.50,100,400,1.5e1\n",
		 name);
	snprintf(want, sizeof(want),
		 "of=%s|name=%s|calls=4|total_ns=1000|mean_ns=250|min_ns=100|max_ns=400|"
		 "stddev_ns=15|percent=62.5\n",
		 of, name);
	reads_as(file, text, RK_STATS, want);
}

TEST(statistics_say_what_they_describe)
{
	stats_are_of("x.csv", "void k<int, 4>(int*)", "kernel");
	stats_are_of("1_kernel_stats.csv", "hip_kernel", "kernel");
	stats_are_of("x.csv", "hipMalloc", "api");
	stats_are_of("x.csv", "hsa_signal_wait", "api");
	stats_are_of("x.csv", "ncclAllReduce", "api");
	stats_are_of("x.csv", "__hipPushCallConfiguration", "api");
	stats_are_of("x.csv", "rocDecCreateDecoder", "api");
	stats_are_of("x.csv", "rocJpegDecode", "api");
	stats_are_of("x.csv", "MEMORY_COPY_HOST_TO_DEVICE", "copy");
	stats_are_of("x.csv", "MEMORY_ALLOCATION_ALLOCATE", "memory");
	stats_are_of("x.csv", "SCRATCH_MEMORY_ALLOC", "memory");
	stats_are_of("x.csv", "KERNEL_DISPATCH", "domain");
	stats_are_of("x.csv", "HIP_API", "domain");
	stats_are_of("1_marker_api_stats.csv", "train step", "marker");
	stats_are_of("1_marker_api_stats.csv", "", "marker");
}

TEST(statistics_with_bare_names_are_read_from_the_right)
{
	reads_as("results.stats.csv",
		 "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"
		 "void k<A, B<int, 3> >(int*, {lambda(int)#1}),14,1649757,117839,57.25\n"
		 "plain,2,20,10,42.75\n",
		 RK_STATS,
		 "of=kernel|name=void k<A, B<int, 3> >(int*, {lambda(int)#1})|calls=14|"
		 "total_ns=1649757|mean_ns=117839|percent=57.25\n"
		 "of=kernel|name=plain|calls=2|total_ns=20|mean_ns=10|percent=42.75\n");
}

TEST(pc_samples_of_both_methods)
{
	reads_as("1_pc_sampling_host_trap.csv",
		 "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\","
		 "\"Instruction_Comment\",\"Correlation_Id\"\n"
		 "1000,18446744073709551615,1,\"v_add_f32 v0, v1, v2\",\"/src/k.cpp:12\",5\n"
		 "1001,1,1,\"\",\"no instruction at 0x10\",5\n",
		 RK_PC_SAMPLES,
		 "time_ns=1000|dispatch_id=1|instruction=v_add_f32 v0, v1, v2|"
		 "source_line=/src/k.cpp:12\n"
		 "time_ns=1001|dispatch_id=1|instruction=|source_line=no instruction at 0x10\n");
	reads_as(
		"1_pc_sampling_stochastic.csv",
		"\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\","
		"\"Instruction_Comment\",\"Correlation_Id\",\"Wave_Issued_Instruction\","
		"\"Instruction_Type\",\"Stall_Reason\",\"Wave_Count\"\n"
		"1000,3,1,\"s_waitcnt vmcnt(0), lgkmcnt(0)\",\"\",5,0,"
		"\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_NO_INST\","
		"\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT\",8\n",
		RK_PC_SAMPLES,
		"time_ns=1000|dispatch_id=1|instruction=s_waitcnt vmcnt(0), lgkmcnt(0)|source_line=|"
		"stall_reason=WAITCNT|wave_count=8\n");
}

TEST(thread_trace_statistics_are_instructions)
{
	reads_as(
		"stats_ui_output_agent_1_dispatch_2.csv",
		"\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\","
		"\"Source\"\n"
		"1,6400,\"s_load_dwordx4 s[0:3], s[4:5], 0x0\",64,2048,100,5,\"/src/k.cpp:3\"\n"
		"1,6408,\"; void k<int, 4>(int*)\",0,0,0,0,\"\"\n",
		RK_INSTRUCTIONS,
		"code_object=1|vaddr=6400|instruction=s_load_dwordx4 s[0:3], s[4:5], 0x0|hits=64|"
		"latency=2048|stall=100|idle=5|source_line=/src/k.cpp:3\n"
		"code_object=1|vaddr=6408|instruction=; void k<int, 4>(int*)|hits=0|latency=0|stall=0|"
		"idle=0|source_line=\n");
}

TEST(streamed_counters_are_samples_and_not_counters_of_a_dispatch)
{
	reads_as("1_streaming_performance_monitor.csv",
		 "\"Dispatch_Id\",\"Counter_Name\",\"Counter_Value\"\n1,\"SQ_WAVES\",64\n"
		 "1,\"SQ_WAVES\",65.5\n",
		 RK_SAMPLES, "metric=SQ_WAVES|value=64\nmetric=SQ_WAVES|value=65.5\n");
}

TEST(graph_launches_and_hip_events_are_markers)
{
	reads_as("1_graph_launch_trace.csv",
		 "Guid,Kind,Agent_Id,Queue_Id,Thread_Id,Correlation_Id,Start_Timestamp,"
		 "End_Timestamp,Duration,Graph_Exec_Id,Kernel_Dispatch_Count\n"
		 "g,Graph Launch,Agent 4,2,501,10,90,95,5,9,1\n",
		 RK_MARKERS, "name=graph 9|kind=graph|start_ns=90|duration_ns=5|tid=501\n");
	reads_as("1_hip_event_trace.csv",
		 "Guid,Kind,Operation,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Event_Handle,"
		 "Source_Queue_Id,Correlation_Id,Start_Timestamp,End_Timestamp,Duration\n"
		 "g,HIP_EVENT,HIP_EVENT_RECORD,Agent 4,2,3,501,77,2,10,510,590,80\n",
		 RK_MARKERS,
		 "name=HIP_EVENT_RECORD|kind=queue|start_ns=510|duration_ns=80|tid=501\n");
}

TEST(files_that_are_something_else_are_refused_with_their_name)
{
	static const char *const texts[] = {
		"just text\n",
		"a,b,c\n1,2,3\n",
		"Kind,Agent_Id,Kernel_Name\n",
		"{\"schema\":1}\n",
	};
	struct world w;

	world_open(&w, 1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CHECK(world_read(&w, "x.csv", texts[i], RK_KERNELS) == NULL);
		CHECK_I64(w.err.code, RK_E_UNSUPPORTED);
		CHECK(strstr(w.err.message, "x.csv") != NULL);
	}
	CHECK(world_read(&w, "x.csv", "", RK_KERNELS) == NULL);
	CHECK(strstr(w.err.message, "x.csv' is empty") != NULL);
	world_close(&w);
}

TEST(rows_with_damaged_times_stay_without_them)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(world_read(&w, "x.csv",
			     API_HEADER
			     "\"HIP_RUNTIME_API\",\"hipFree\",1,2,3,8.1097E+14,8.1097E+14\r\n"
			     "\"HIP_RUNTIME_API\",\"hipFree\",1,2,4,-5,-7\r\n"
			     "\"HIP_RUNTIME_API\",\"hipFree\",1,2,4,-9223372036854775807,"
			     "9223372036854775807\r\n",
			     RK_API),
		  "domain=HIP_RUNTIME_API|function=hipFree|correlation_id=3|pid=1|tid=2\n"
		  "domain=HIP_RUNTIME_API|function=hipFree|start_ns=-5|duration_ns=-2|"
		  "correlation_id=4|pid=1|tid=2\n"
		  "domain=HIP_RUNTIME_API|function=hipFree|start_ns=-9223372036854775807|"
		  "correlation_id=4|pid=1|tid=2\n");
	CHECK_STR(world_warnings(&w), "duration-out-of-range:1 damaged-time:1 ");
	world_close(&w);
}

TEST(each_dispatch_counts_once_also_when_its_rows_are_apart)
{
	struct world w;
	struct rk_bytes text;
	const char *dump;
	size_t rows = 0;

	rk_bytes_init(&text, 8 << 20);
	rk_bytes_puts(&text,
		      "Dispatch_Id,Agent_Id,Process_Id,Kernel_Name,Counter_Name,Counter_Value\n");
	for (int counter = 0; counter < 3; counter++)
		for (int i = 0; i < 5000; i++)
			rk_bytes_printf(&text, "%d,4,%d,k,C%d,1\n", i / 2, i % 2, counter);
	world_open(&w, 2);
	dump = world_dump(&w, world_file(&w, "x.csv", text.data, text.len), RK_KERNELS,
			  RK_WANT_ALL);
	for (; dump && *dump; dump++)
		rows += *dump == '\n';
	CHECK_U64(rows, 5000);
	world_close(&w);
	rk_bytes_release(&text);
}
