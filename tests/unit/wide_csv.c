/*
 * wide_csv.c - CSV of rocprof v1, rocprofv2 and rocprof-compute: every kind and what can be wrong
 * with it, value by value.
 */
#include "read/wide/wide.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

/* One table of a text, with the warnings it must give. */
static void reads_with(const char *text, enum rk_table t, const char *want, const char *warnings)
{
	struct world w;
	const char *got;

	world_open(&w, 2);
	got = world_read(&w, "t.csv", text, t);
	if (!CHECK(got != NULL))
		CHECK_STR(w.err.message, "");
	else
		CHECK_STR(got, want);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

static void reads_as(const char *text, enum rk_table t, const char *want)
{
	reads_with(text, t, want, "");
}

/* Tables of a text, 0 when nobody reads it. */
static uint32_t tables_of(const char *text, const char *reader)
{
	struct world w;
	struct rk_reader *r = NULL;
	uint32_t tables = 0;

	world_open(&w, 1);
	if (rk_reader_open(world_text(&w, "t.csv", text), &w.ctx, &r, &w.err) == 0) {
		CHECK_STR(r->ops->name, reader);
		tables = r->tables;
	}
	rk_reader_close(r);
	world_close(&w);
	return tables;
}

#define KERNELS RK_TABLE_BIT(RK_KERNELS)
#define COUNTERS RK_TABLE_BIT(RK_COUNTERS)

#define V1_HEADER                                                                         \
	"Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr," \
	"accum_vgpr,sgpr,wave_size,sig,obj"
#define V1_TIMES ",DispatchNs,BeginNs,EndNs,CompleteNs"
#define V1_REST                                                                          \
	"|grid_x=4|grid_y=1|grid_z=1|block_x=256|block_y=1|block_z=1|regs=24|"           \
	"shared_mem=512|stream_id=3|device_id=8|queue_id=3|dispatch_id=0|pid=77|tid=78|" \
	"vgpr=16|accum_vgpr=8|sgpr=32|scratch_bytes=64|wave_size=64|grid_items_x=1000|"  \
	"grid_items_y=1|grid_items_z=1|barrier=0|source=rocprof-v1-csv|clock=monotonic\n"

TEST(v1_results_with_times_and_a_header_in_quotes)
{
	reads_as(
		"\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\","
		"\"grd\",\"wgr\",\"lds\",\"scr\",\"arch_vgpr\",\"accum_vgpr\",\"sgpr\","
		"\"wave_size\",\"sig\",\"obj\",\"DispatchNs\",\"BeginNs\",\"EndNs\","
		"\"CompleteNs\",\"DurationNs\"\n"
		"0,\"copy(double*, int) [clone .kd]\",8,3,0,77,78,1000,256,512,64,16,8,32,64,\"0x0\","
		"\"0x7fe7a63eb600\",13386742234691000,13386742234691895,13386742234700000,"
		"13386742234700100,8105\n",
		RK_KERNELS,
		"kernel_name=copy(double*, int) [clone .kd]|start_ns=13386742234691895|"
		"duration_ns=8105" V1_REST);
	CHECK_U64(tables_of(V1_HEADER V1_TIMES ",DurationNs\n", "rocprof-v1-csv"), KERNELS);
}

TEST(v1_results_with_counters_have_no_times)
{
	static const char text[] = V1_HEADER
		",FETCH_SIZE,SQ_WAVES,LDSBankConflict\n"
		"0,\"k\",8,3,0,77,78,1000,256,512,64,16,8,32,64,0x0,0x7f4c3a925580,"
		"1979347.8750000000,16384,0.0000000000\n"
		"1,\"k\",8,3,1,77,78,1000,256,512,64,16,8,32,64,0x0,0x7f4c3a925580,"
		"-0.5,1e3,None\n";

	reads_with(
		text, RK_COUNTERS,
		"dispatch_id=0|kernel_name=k|counter=FETCH_SIZE|value=1979347.875|device_id=8|"
		"pid=77\n"
		"dispatch_id=0|kernel_name=k|counter=SQ_WAVES|value=16384|device_id=8|pid=77\n"
		"dispatch_id=0|kernel_name=k|counter=LDSBankConflict|value=0|device_id=8|pid=77\n"
		"dispatch_id=1|kernel_name=k|counter=FETCH_SIZE|value=-0.5|device_id=8|pid=77\n"
		"dispatch_id=1|kernel_name=k|counter=SQ_WAVES|value=1000|device_id=8|pid=77\n",
		"bad-number:1 ");
	reads_as(V1_HEADER ",SQ_WAVES\n"
			   "0,\"k\",8,3,0,77,78,1000,256,512,64,16,8,32,64,0x0,0x7f4c3a925580,1\n",
		 RK_KERNELS, "kernel_name=k" V1_REST);
}

TEST(v1_results_of_rocm_5_1_have_vgpr_and_fbar)
{
	static const char text[] =
		"Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,"
		"fbar,sig,obj,SQ_WAVES,DispatchNs,BeginNs,EndNs,CompleteNs\r\n"
		"7,\"<barrier packet>\",0,1,2,77,78,64,64,0,0,4,32,4160,0x0,0x7f0d5c804280,12,"
		"100,200,350,400\r\n";

	reads_as(text, RK_KERNELS,
		 "kernel_name=<barrier packet>|start_ns=200|duration_ns=150|grid_x=1|grid_y=1|"
		 "grid_z=1|block_x=64|block_y=1|block_z=1|regs=4|shared_mem=0|stream_id=1|"
		 "device_id=0|queue_id=1|dispatch_id=7|pid=77|tid=78|vgpr=4|sgpr=32|"
		 "scratch_bytes=0|grid_items_x=64|grid_items_y=1|grid_items_z=1|barrier=1|"
		 "source=rocprof-v1-csv|clock=monotonic\n");
	reads_as(text, RK_COUNTERS,
		 "dispatch_id=7|kernel_name=<barrier packet>|counter=SQ_WAVES|value=12|"
		 "device_id=0|pid=77\n");
}

TEST(v1_names_with_commas_need_no_quotes)
{
	reads_as("Index,KernelName,gpu-id,pid,SQ_WAVES,BeginNs,EndNs\n"
		 "3,void f<int, 2u>(int*, {lambda(int)#1}),8,77,64,1000,1500\n"
		 "4,g(\"x, y\", int),8,77,65,2000,2500\n",
		 RK_COUNTERS,
		 "dispatch_id=3|kernel_name=void f<int, 2u>(int*, {lambda(int)#1})|"
		 "counter=SQ_WAVES|value=64|device_id=8|pid=77\n"
		 "dispatch_id=4|kernel_name=g(\"x, y\", int)|counter=SQ_WAVES|value=65|"
		 "device_id=8|pid=77\n");
}

TEST(v1_files_of_joined_passes_and_of_no_rows)
{
	reads_as("Index,KernelName,BeginNs,EndNs\n0,\"k\",10,30\n", RK_KERNELS,
		 "kernel_name=k|start_ns=10|duration_ns=20|dispatch_id=0|barrier=0|"
		 "source=rocprof-v1-csv|clock=monotonic\n");
	reads_as("Index,KernelName\n", RK_KERNELS, "");
	reads_as("Index,KernelName", RK_KERNELS, "");
	CHECK_U64(tables_of("Index,KernelName", "rocprof-v1-csv"), KERNELS);
}

/* rocprofv2 --plugin-version 1 of ROCm 6.1 */
TEST(v1_rows_without_sig_and_obj_under_a_header_with_them)
{
	reads_as(V1_HEADER V1_TIMES
		 "\n0,\"a, b\",8,3,0,77,78,1000,256,512,64,16,8,32,64,0,200,350,0\n",
		 RK_KERNELS, "kernel_name=a, b|start_ns=200|duration_ns=150" V1_REST);
}

#define V2_HEADER                                                                         \
	"Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup," \
	"Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,"           \
	"Start_Timestamp,End_Timestamp,Correlation_ID"
#define V2_KERNEL(dispatch)                                                                 \
	"|grid_x=2|grid_y=1|grid_z=1|block_x=256|block_y=1|block_z=1|regs=12|"              \
	"shared_mem=512|stream_id=1|device_id=11995|queue_id=1|dispatch_id=" dispatch       \
	"|correlation_id=9|pid=77|tid=78|vgpr=8|accum_vgpr=4|sgpr=16|scratch_bytes=0|"      \
	"wave_size=64|grid_items_x=512|grid_items_y=1|grid_items_z=1|source=rocprofv2-csv|" \
	"clock=monotonic\n"

TEST(v2_results_with_counters_have_a_blank_line_behind_the_header)
{
	static const char text[] = V2_HEADER
		",GRBM_COUNT,SQ_WAVES\n\n"
		"1,11995,1,77,78,512,256,512,0,8,4,16,64,\"copy(double*, int) (.kd)\",200,350,9,"
		"12637.000000,3.500000\n"
		"3,11995,1,77,78,512,256,512,0,8,4,16,64,\"k\",400,500,9,,7\n";

	reads_as(text, RK_KERNELS,
		 "kernel_name=copy(double*, int) (.kd)|start_ns=200|duration_ns=150" V2_KERNEL(
			 "1") "kernel_name=k|start_ns=400|duration_ns=100" V2_KERNEL("3"));
	reads_as(text, RK_COUNTERS,
		 "dispatch_id=1|kernel_name=copy(double*, int) (.kd)|counter=GRBM_COUNT|"
		 "value=12637|device_id=11995|pid=77\n"
		 "dispatch_id=1|kernel_name=copy(double*, int) (.kd)|counter=SQ_WAVES|value=3.5|"
		 "device_id=11995|pid=77\n"
		 "dispatch_id=3|kernel_name=k|counter=SQ_WAVES|value=7|device_id=11995|pid=77\n");
}

TEST(v2_results_of_the_first_release_have_short_names)
{
	reads_as("Dispatch_ID,GPU_ID,Queue_ID,Queue_Index,PID,TID,GRD,WGR,LDS,SCR,Arch_VGPR,"
		 "ACCUM_VGPR,SGPR,Wave_Size,SIG,OBJ,Kernel_Name,Start_Timestamp,End_Timestamp,"
		 "Correlation_ID,GRBM_COUNT\n\n"
		 "1,11995,1,1,77,78,512,256,512,0,8,4,16,64,140464978048000,1,\"k\",0,"
		 "140469300947216,9,12637.000000\n",
		 RK_KERNELS, "kernel_name=k|start_ns=0|duration_ns=140469300947216" V2_KERNEL("1"));
}

TEST(v2_times_that_a_spreadsheet_has_rounded_are_refused)
{
	reads_with(V2_HEADER
		   "\r\n1,11995,1,77,78,512,256,512,0,8,4,16,64,\"k\",8.1097E+14,8.1097E+14,9\r\n",
		   RK_KERNELS, "kernel_name=k" V2_KERNEL("1"), "damaged-time:1 ");
}

TEST(v2_rows_of_several_dies_are_one_dispatch)
{
	static const char text[] = V2_HEADER
		",XCC_Index,SQ_WAVES\n"
		"1,11995,1,77,78,512,256,512,0,8,4,16,64,\"k\",200,350,9,0,10\n"
		"1,11995,1,77,78,512,256,512,0,8,4,16,64,\"k\",200,350,9,1,20\n";

	reads_as(text, RK_KERNELS, "kernel_name=k|start_ns=200|duration_ns=150" V2_KERNEL("1"));
	reads_as(text, RK_COUNTERS,
		 "dispatch_id=1|kernel_name=k|counter=SQ_WAVES|value=10|instance=0|"
		 "device_id=11995|pid=77\n"
		 "dispatch_id=1|kernel_name=k|counter=SQ_WAVES|value=20|instance=1|"
		 "device_id=11995|pid=77\n");
}

TEST(v2_traces_of_calls_with_and_without_kernel_names)
{
	static const char want[] =
		"domain=HIP_API_DOMAIN|function=hipMalloc|start_ns=100|duration_ns=10|"
		"correlation_id=1\n"
		"domain=HIP_API_DOMAIN|function=hipLaunchKernel|start_ns=120|duration_ns=5|"
		"correlation_id=2\n";

	reads_as("Domain,Function,Start_Timestamp,End_Timestamp,Correlation_ID\n\n"
		 "HIP_API_DOMAIN,hipMalloc,100,110,1\n"
		 "HIP_API_DOMAIN,hipLaunchKernel,120,125,2\n",
		 RK_API, want);
	reads_as("Domain,Function,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID\n\n"
		 "HIP_API_DOMAIN,hipMalloc,,100,110,1\n"
		 "HIP_API_DOMAIN,hipLaunchKernel,f(int, int),120,125,2\n",
		 RK_API, want);
}

TEST(v2_operations_are_kernels_and_copies)
{
	static const char text[] =
		"Domain,Operation,Kernel_Name,Start_Timestamp,Stop_Timestamp,Correlation_ID\n\n"
		"HIP_OPS_DOMAIN,CopyHostToDevice,,100,110,1\n"
		"HIP_OPS_DOMAIN,KernelExecution,\"f(int, int)\",120,125,2\n"
		"HIP_OPS_DOMAIN,FillBuffer,,130,131,3\n";

	reads_as(text, RK_KERNELS,
		 "kernel_name=f(int, int)|start_ns=120|duration_ns=5|correlation_id=2|"
		 "source=rocprofv2-csv|clock=monotonic\n");
	reads_as(text, RK_MEMCPY,
		 "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=100|duration_ns=10|"
		 "correlation_id=1\n"
		 "direction=FillBuffer|start_ns=130|duration_ns=1|correlation_id=3\n");
	reads_as("Domain,Operation,Start_Timestamp,Stop_Timestamp,Correlation_ID\n\n"
		 "HSA_OPS_DOMAIN,CopyDeviceToHost,100,110,1\n",
		 RK_MEMCPY,
		 "direction=MEMORY_COPY_DEVICE_TO_HOST|start_ns=100|duration_ns=10|"
		 "correlation_id=1\n");
}

/* What a join of passes makes: copies of columns, and counters whose names end in a number. */
TEST(joined_passes_count_each_counter_once)
{
	static const char text[] =
		"Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
		"Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,wave_size,obj,SQ_WAVES,"
		"SQ_WAVES_LT_16,SQC_DCACHE_REQ_READ_2,TCC_HIT[0],wave_size_1,obj_1,SQ_WAVES_1,"
		"Correlation_ID_2,XCC_Index_2,SQ_CYCLES,SQ_CYCLES,Start_Timestamp,End_Timestamp\n"
		"0,\"k\",2,512,256,0,0,8,4,16,64,0x7f,10.0,11.0,12.0,13.0,64,0x7e,99.0,5,0,14.0,98,"
		"1248227257271964.0,1248227257271974.0\n";

	reads_as(text, RK_COUNTERS,
		 "dispatch_id=0|kernel_name=k|counter=SQ_WAVES|value=10|device_id=2\n"
		 "dispatch_id=0|kernel_name=k|counter=SQ_WAVES_LT_16|value=11|device_id=2\n"
		 "dispatch_id=0|kernel_name=k|counter=SQC_DCACHE_REQ_READ_2|value=12|device_id=2\n"
		 "dispatch_id=0|kernel_name=k|counter=TCC_HIT[0]|value=13|device_id=2\n"
		 "dispatch_id=0|kernel_name=k|counter=SQ_CYCLES|value=14|device_id=2\n");
	reads_as(
		text, RK_KERNELS,
		"kernel_name=k|start_ns=1248227257271964|duration_ns=10|grid_x=2|grid_y=1|grid_z=1|"
		"block_x=256|block_y=1|block_z=1|regs=12|shared_mem=0|device_id=2|dispatch_id=0|"
		"vgpr=8|accum_vgpr=4|sgpr=16|scratch_bytes=0|wave_size=64|grid_items_x=512|"
		"grid_items_y=1|grid_items_z=1|source=rocprof-compute-csv|clock=monotonic\n");
}

TEST(half_renamed_passes_of_old_omniperf)
{
	reads_as("Dispatch_ID,Kernel_Name,GPU_ID,queue-id,queue-index,pid,tid,grd,Workgroup_Size,"
		 "LDS_Per_Workgroup,scr,vgpr,SGPR,fbar,sig,obj,SQ_WAVES,DispatchNs,"
		 "Start_Timestamp,End_Timestamp,CompleteNs\n"
		 "5,\"k\",2,1,0,77,78,100,64,512,32,8,16,4160,0x0,0x7f,3,1,200,350,400\n",
		 RK_KERNELS,
		 "kernel_name=k|start_ns=200|duration_ns=150|grid_x=2|grid_y=1|grid_z=1|block_x=64|"
		 "block_y=1|block_z=1|regs=8|shared_mem=512|stream_id=1|device_id=2|queue_id=1|"
		 "dispatch_id=5|pid=77|tid=78|vgpr=8|sgpr=16|scratch_bytes=32|grid_items_x=100|"
		 "grid_items_y=1|grid_items_z=1|source=rocprof-compute-csv|clock=monotonic\n");
	reads_as("Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n"
		 ",,12074318637816165,12074318637816170\n",
		 RK_KERNELS,
		 "kernel_name=|start_ns=12074318637816165|duration_ns=5|"
		 "source=rocprof-compute-csv|clock=monotonic\n");
}

TEST(passes_of_rocprofv3_under_rocprof_compute_have_its_clock)
{
	reads_as(
		V2_HEADER ",Kernel_ID,SQ_WAVES\n"
			  "1,11995,1,77,78,512,256,512,0,8,4,16,64,\"k\",200,350,9,4,10\n",
		RK_KERNELS,
		"kernel_name=k|start_ns=200|duration_ns=150|grid_x=2|grid_y=1|grid_z=1|block_x=256|"
		"block_y=1|block_z=1|regs=12|shared_mem=512|stream_id=1|device_id=11995|queue_id=1|"
		"dispatch_id=1|correlation_id=9|pid=77|tid=78|vgpr=8|accum_vgpr=4|sgpr=16|"
		"scratch_bytes=0|wave_size=64|grid_items_x=512|grid_items_y=1|grid_items_z=1|"
		"source=rocprof-compute-csv|clock=boottime\n");
}

TEST(long_form_gives_counters_and_each_dispatch_once)
{
	static const char text[] =
		"GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
		"Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp,"
		"End_Timestamp,Kernel_ID,Counter_Name,Counter_Value\r\n"
		"2,1,512,256,0,0,8,4,16,\"f(int, int)\",13386742234691895,13386742234691900,1,"
		"SQ_WAVES,10\r\n"
		"2,1,512,256,0,0,8,4,16,\"f(int, int)\",13386742234691895,13386742234691900,1,"
		"TCC_HIT[3],0.5\r\n";

	reads_as(
		text, RK_COUNTERS,
		"dispatch_id=1|kernel_name=f(int, int)|counter=SQ_WAVES|value=10|device_id=2\n"
		"dispatch_id=1|kernel_name=f(int, int)|counter=TCC_HIT[3]|value=0.5|device_id=2\n");
	reads_as(text, RK_KERNELS,
		 "kernel_name=f(int, int)|start_ns=13386742234691895|duration_ns=5|grid_x=2|"
		 "grid_y=1|grid_z=1|block_x=256|block_y=1|block_z=1|regs=12|shared_mem=0|"
		 "device_id=2|dispatch_id=1|vgpr=8|accum_vgpr=4|sgpr=16|scratch_bytes=0|"
		 "grid_items_x=512|grid_items_y=1|grid_items_z=1|source=rocprof-compute-csv|"
		 "clock=boottime\n");
}

TEST(passes_whose_filter_let_nothing_through)
{
	reads_as("Dispatch_ID,Kernel_Name\n", RK_KERNELS, "");
	CHECK_U64(tables_of("Dispatch_ID,Kernel_Name", "rocprof-compute-csv"), KERNELS);
}

TEST(lists_of_dispatches_have_names_in_one_line)
{
	reads_with("Dispatch_ID,Kernel_Name,GPU_ID\n"
		   "0,\"void f<false, wra\npped_kernel, int, uns\nigned, long>(...\",2\n"
		   "1,g.kd,2\n"
		   "2,\"h<a\n, b>(int)\",3\n",
		   RK_KERNELS,
		   "kernel_name=void f<false, wrapped_kernel, int, unsigned, long>(...|device_id=2|"
		   "dispatch_id=0|source=rocprof-compute-csv|clock=unknown\n"
		   "kernel_name=g.kd|device_id=2|dispatch_id=1|source=rocprof-compute-csv|"
		   "clock=unknown\n"
		   "kernel_name=h<a, b>(int)|device_id=3|dispatch_id=2|source=rocprof-compute-csv|"
		   "clock=unknown\n",
		   "line-break-in-name:2 ");
}

TEST(top_kernels_are_statistics_with_names_in_one_line)
{
	reads_with(
		"Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\n"
		"\"void f<false, wra\npped_kernel, int\n>...\",2.0,1935008.0,967504.0,967504.0,66.75\n"
		"\"long_name_\nwithout_commas\",1,660438,660438.5,660438.0,22.5\n"
		"g.kd,1.0,4290.0,4290.0,4290.0,0.125\n",
		RK_STATS,
		"of=kernel|name=void f<false, wrapped_kernel, int>...|calls=2|total_ns=1935008|"
		"mean_ns=967504|percent=66.75\n"
		"of=kernel|name=long_name_without_commas|calls=1|total_ns=660438|"
		"mean_ns=660438.5|percent=22.5\n"
		"of=kernel|name=g.kd|calls=1|total_ns=4290|mean_ns=4290|percent=0.125\n",
		"line-break-in-name:2 ");
}

TEST(statistics_of_v1_have_names_without_quotes)
{
	reads_as("\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"
		 "void f<int, 2u>(A<b, c> const&, {lambda(int)#1}),1,535519,535519,32.5\n"
		 "\"<barrier packet>\",256,3074377285,12009286,57.358118080420425\n",
		 RK_STATS,
		 "of=kernel|name=void f<int, 2u>(A<b, c> const&, {lambda(int)#1})|calls=1|"
		 "total_ns=535519|mean_ns=535519|percent=32.5\n"
		 "of=kernel|name=<barrier packet>|calls=256|total_ns=3074377285|mean_ns=12009286|"
		 "percent=57.358118080420425\n");
}

TEST(wide_files_that_are_somebody_elses)
{
	CHECK_U64(tables_of("kernel_name,start_ns,duration_ns,dispatch_id\n", ""), 0);
	CHECK_U64(tables_of("dispatch_id,kernel_name,counter,value\n", ""), 0);
	CHECK_U64(tables_of("time_ns,dispatch_id,kernel_name,instruction\n", ""), 0);
	CHECK_U64(tables_of("Index,Name\n1,2\n", ""), 0);
	CHECK_U64(tables_of("Kernel_Name,Duration\nk,5\n", ""), 0);
}

TEST(wide_rows_that_are_wrong_are_counted)
{
	reads_with("\xef\xbb\xbf"
		   "Index,KernelName,gpu-id,SQ_WAVES,BeginNs,EndNs\r\n"
		   "0,\"k\",8,1,10,20\n"
		   "1,\"k\",8\n"
		   "Index,KernelName,gpu-id,SQ_WAVES,BeginNs,EndNs\n"
		   "2,\"k\",8,NaN,99999999999999999999,20\n"
		   "3,\"k\xff\",8,Infinity,30,40.5\r\n"
		   "4,\"k\",8,1,50,6",
		   RK_KERNELS,
		   "kernel_name=k|start_ns=10|duration_ns=10|device_id=8|dispatch_id=0|"
		   "barrier=0|source=rocprof-v1-csv|clock=monotonic\n"
		   "kernel_name=k|device_id=8|dispatch_id=2|barrier=0|source=rocprof-v1-csv|"
		   "clock=monotonic\n"
		   "kernel_name=k\xff|start_ns=30|duration_ns=10|device_id=8|dispatch_id=3|"
		   "barrier=0|source=rocprof-v1-csv|clock=monotonic\n"
		   "kernel_name=k|start_ns=50|duration_ns=-44|device_id=8|dispatch_id=4|"
		   "barrier=0|source=rocprof-v1-csv|clock=monotonic\n",
		   "short-row:1 repeated-header:1 number-out-of-range:1 fraction-cut:1 ");
}

/* 4000 counters: a header longer than what a probe sees, more rows than one batch of counters. */
TEST(headers_may_be_longer_than_the_head_of_a_file)
{
	enum { COUNTERS_IN_HEADER = 4000, ROWS = 5 };
	struct world w;
	struct rk_bytes text;
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	uint64_t n = 0;
	double sum = 0;

	world_open(&w, 2);
	rk_bytes_init(&text, 1 << 20);
	rk_bytes_puts(&text, "Dispatch_ID,Kernel_Name");
	for (int i = 0; i < COUNTERS_IN_HEADER; i++)
		rk_bytes_printf(&text, ",A_COUNTER_WITH_A_LONG_NAME[%d]", i);
	for (int row = 0; row < ROWS; row++) {
		rk_bytes_printf(&text, "\n%d,k", row);
		for (int i = 0; i < COUNTERS_IN_HEADER; i++)
			rk_bytes_printf(&text, ",%d", i);
	}
	CHECK(rk_reader_open(world_file(&w, "t.csv", text.data, text.len), &w.ctx, &r, &w.err) ==
	      0);
	CHECK(r && r->ops->scan(r, RK_COUNTERS, RK_WANT_ALL, &rows, &w.err) == 0);
	while (rows && rk_source_next(rows, &b, &w.err) == 1)
		for (size_t i = 0; i < b->nrows; i++, n++)
			sum += ((const double *)b->cols[RK_N_VALUE].data)[i];
	CHECK_U64(n, COUNTERS_IN_HEADER * ROWS);
	CHECK(sum == 3999.0 * 2000 * ROWS);
	CHECK_STR(world_warnings(&w), "");
	rk_source_close(rows);
	rk_reader_close(r);
	rk_bytes_release(&text);
	world_close(&w);
}

static void survives(const char *text, enum rk_table t)
{
	bool failed = true;
	struct world w;

	for (uint64_t n = 1; failed && n < 5000; n++) {
		world_open(&w, 1);
		world_text(&w, "t.csv", text);
		rk_alloc_fail_after(n);
		/* no text and no error: the world itself had no memory for it */
		if (!world_dump(&w, w.path, t, RK_WANT_ALL) && w.err.code)
			CHECK(w.err.code == RK_E_NOMEM);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		world_close(&w);
	}
	CHECK(!failed);
}

TEST(wide_files_survive_every_failed_allocation)
{
	static const char v1[] = V1_HEADER
		",A,B,A_1" V1_TIMES
		"\n0,\"k\",8,3,0,77,78,1000,256,512,64,16,8,32,64,0x0,0x7f,1,2,3,1,2,3,4\n";
	static const char v2[] = V2_HEADER
		",XCC_Index,A\n1,2,1,77,78,512,256,512,0,8,4,16,64,\"k\",200,350,9,0,\n";
	static const char ops[] =
		"Domain,Operation,Kernel_Name,Start_Timestamp,Stop_Timestamp,Correlation_ID\n"
		"X,CopyHostToDevice,,100,110,1\n";
	static const char top[] =
		"Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\n\"a\nb\",1,2,3,4,5\n";

	survives(v1, RK_KERNELS);
	survives(v1, RK_COUNTERS);
	survives(v2, RK_KERNELS);
	survives(v2, RK_COUNTERS);
	survives(ops, RK_KERNELS);
	survives(ops, RK_MEMCPY);
	survives(top, RK_STATS);
}
