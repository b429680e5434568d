/* rocprof_v1_txt.c - raw text traces, form by form. */
#include <string.h>

#include "base/alloc.h"
#include "read/reader.h"
#include "tap.h"
#include "world.h"

static void reads_as(const char *text, enum rk_table t, const char *want, const char *warnings)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_read(&w, "trace.txt", text, t);
	if (!CHECK(got != NULL))
		CHECK_STR(w.err.message, "");
	else
		CHECK_STR(got, want);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

#define PREAMBLE                                                                         \
	"ROCTracer (pid=566828): \n0x55e1b9d507c0 agent cpu\n0x55e1b9d4eeb0 agent gpu\n" \
	"975779239309496\n    HSA-trace()\n    HSA-activity-trace()\n"

TEST(raw_hsa_trace_has_calls_and_copies_behind_them)
{
	static const char text[] = PREAMBLE
		"100:150 5:6 hsa_agent_get_info(, 0, 0x7ffdd25cc9a8) = 0 :6\n"
		"200:260 5:6 hsa_queue_store(0x7f, 1) = void :58\n"
		"300:400 async-copy:58:5\n";

	reads_as(text, RK_API,
		 "domain=HSA_API|function=hsa_agent_get_info|start_ns=100|duration_ns=50|"
		 "correlation_id=6|pid=5|tid=6\n"
		 "domain=HSA_API|function=hsa_queue_store|start_ns=200|duration_ns=60|"
		 "correlation_id=58|pid=5|tid=6\n",
		 "");
	reads_as(text, RK_MEMCPY,
		 "direction=async-copy|start_ns=300|duration_ns=100|correlation_id=58|pid=5\n", "");
}

TEST(raw_hip_trace_has_calls_with_kernels_behind_them)
{
	reads_as("1:3 5:6 hipLaunchKernel(function_address=0x1, stream=<null>) "
		 "kernel=void f<int>(int*) :9\n"
		 "4:5 5:6 hipMalloc(ptr=0x1, size=5)\n",
		 RK_API,
		 "domain=HIP_API|function=hipLaunchKernel|start_ns=1|duration_ns=2|"
		 "correlation_id=9|pid=5|tid=6\n"
		 "domain=HIP_API|function=hipMalloc|start_ns=4|duration_ns=1|pid=5|tid=6\n",
		 "");
}

TEST(raw_activity_has_kernels_copies_and_barriers)
{
	static const char text[] = "13386742234691895:13386742234691995 0:1 "
				   "void ns::f<ns::T>(int*, float) [clone .kd]:12:77\n"
				   "10:30 0:2 CopyHostToDevice:13:77\n"
				   "40:41 1:3 Marker:14:77\n"
				   "50:51 1:3 vecCopy(double*):15:77\n";

	reads_as(text, RK_KERNELS,
		 "kernel_name=void ns::f<ns::T>(int*, float) [clone .kd]|"
		 "start_ns=13386742234691895|duration_ns=100|stream_id=1|device_id=0|queue_id=1|"
		 "correlation_id=12|pid=77|barrier=0|source=rocprof-txt|clock=monotonic\n"
		 "kernel_name=<barrier packet>|start_ns=40|duration_ns=1|stream_id=3|device_id=1|"
		 "queue_id=3|correlation_id=14|pid=77|barrier=1|source=rocprof-txt|"
		 "clock=monotonic\n"
		 "kernel_name=vecCopy(double*)|start_ns=50|duration_ns=1|stream_id=3|device_id=1|"
		 "queue_id=3|correlation_id=15|pid=77|barrier=0|source=rocprof-txt|"
		 "clock=monotonic\n",
		 "");
	reads_as(text, RK_MEMCPY,
		 "direction=CopyHostToDevice|start_ns=10|duration_ns=20|stream_id=2|"
		 "correlation_id=13|pid=77\n",
		 "");
}

TEST(raw_ranges_nest_on_a_thread_and_cross_threads_by_id)
{
	reads_as("100 5:5 1:0:\"A\"\n"
		 "110 5:6 1:0:\"other thread\"\n"
		 "120 5:5 1:0:\"B: with \"quotes\"\"\n"
		 "130 5:5 3:1:\"C\"\n"
		 "140 5:5 0:0:\"mark\"\n"
		 "150 5:5 2:0:\"\"\n"
		 "160 5:5 2:0:\"\"\n"
		 "170 5:9 4:1:\"\"\n"
		 "180 5:5 2:0:\"\"\n",
		 RK_MARKERS,
		 "name=mark|kind=mark|start_ns=140|duration_ns=0|pid=5|tid=5\n"
		 "name=B: with \"quotes\"|kind=range|start_ns=120|duration_ns=30|pid=5|tid=5\n"
		 "name=A|kind=range|start_ns=100|duration_ns=60|pid=5|tid=5\n"
		 "name=C|kind=range|start_ns=130|duration_ns=40|pid=5|tid=5\n"
		 "name=other thread|kind=range|start_ns=110|pid=5|tid=6\n",
		 "unmatched-range-end:1 open-range:1 ");
}

#define DISPATCH                                                                              \
	"dispatch[4], gpu-id(8), queue-id(1), queue-index(9), pid(11), tid(12), grd(1000), "  \
	"wgr(256), lds(512), scr(16), arch_vgpr(8), accum_vgpr(4), sgpr(32), wave_size(64), " \
	"sig(0x0), obj(0x7f1), kernel-name(\"vecCopy(double*, int), (more) [clone .kd]\")"
#define KERNEL(times)                                                                         \
	"kernel_name=vecCopy(double*, int), (more) [clone .kd]|" times                        \
	"grid_x=4|grid_y=1|grid_z=1|block_x=256|block_y=1|block_z=1|regs=12|shared_mem=512|"  \
	"stream_id=1|device_id=8|queue_id=1|dispatch_id=4|pid=11|tid=12|vgpr=8|accum_vgpr=4|" \
	"sgpr=32|scratch_bytes=16|wave_size=64|grid_items_x=1000|grid_items_y=1|"             \
	"grid_items_z=1|barrier=0|source=rocprof-txt|clock=monotonic\n"

TEST(raw_results_have_kernels_and_the_counters_behind_each)
{
	static const char text[] = DISPATCH ", time(1,20,50,90)\n  SQ_WAVES (16384.0000000000)\n"
					    "  TCC_HIT[0] (0.2500000000)\n" DISPATCH "\n";

	reads_as(text, RK_KERNELS, KERNEL("start_ns=20|duration_ns=30|") KERNEL(""), "");
	reads_as(text, RK_COUNTERS,
		 "dispatch_id=4|kernel_name=vecCopy(double*, int), (more) [clone .kd]|"
		 "counter=SQ_WAVES|value=16384|device_id=8|pid=11\n"
		 "dispatch_id=4|kernel_name=vecCopy(double*, int), (more) [clone .kd]|"
		 "counter=TCC_HIT[0]|value=0.25|device_id=8|pid=11\n",
		 "");
}

TEST(raw_grids_too_large_for_their_column_are_reported)
{
	reads_as("dispatch[0], grd(4294967296), wgr(64), kernel-name(\"k\")\n", RK_KERNELS,
		 "kernel_name=k|grid_x=67108864|grid_y=1|grid_z=1|block_x=64|block_y=1|block_z=1|"
		 "dispatch_id=0|grid_items_y=1|grid_items_z=1|barrier=0|source=rocprof-txt|"
		 "clock=monotonic\n",
		 "number-out-of-range:1 ");
}

TEST(text_of_rocprofv2_has_calls)
{
	reads_as("Enabling API Tracing\n"
		 "Domain(HIP_API_DOMAIN), Function(hipMalloc), Start_Timestamp(611510516160324), "
		 "End_Timestamp(611510516183168), Correlation_ID(2)\n",
		 RK_API,
		 "domain=HIP_API_DOMAIN|function=hipMalloc|start_ns=611510516160324|"
		 "duration_ns=22844|correlation_id=2\n",
		 "");
}

TEST(text_of_rocprofv2_does_not_tell_marks_from_ranges)
{
	reads_as("Domain(ROCTX_DOMAIN), Timestamp(10), ROCTX_ID(0), ROCTX_Message(a mark (1))\n"
		 "Domain(ROCTX_DOMAIN), Timestamp(20), ROCTX_ID(0), ROCTX_Message(a range)\n"
		 "Domain(ROCTX_DOMAIN), Timestamp(30), ROCTX_ID(1), ROCTX_Message(with id)\n"
		 "Domain(ROCTX_DOMAIN), Timestamp(45), ROCTX_ID(1),\n"
		 "Domain(ROCTX_DOMAIN), Timestamp(50), ROCTX_ID(0),\n",
		 RK_MARKERS,
		 "name=a mark (1)|kind=mark|start_ns=10\n"
		 "name=a range|kind=mark|start_ns=20\n"
		 "name=with id|kind=range|start_ns=30|duration_ns=15\n",
		 "range-end-lost:1 ");
}

TEST(raw_lines_that_are_not_records_are_counted)
{
	reads_as("1:2 5:6 hipFree(0x1) :1\r\n"
		 "rubbish\n1:2 x\n99999999999999999999:1 5:6 hipFree() :2\n-1:2 5:6 f() :3\n"
		 "3:4 5:6 hipFree(0x1) :4\n4:5 5:6 hipFree(0x2) :5\n5:6 5:6 hipFree() :6\n"
		 "6:7 5:6 hipFree(0x1) :7\n7:8 5:6 hipFree(0x2) :8\n8:",
		 RK_API,
		 "domain=HIP_API|function=hipFree|start_ns=1|duration_ns=1|correlation_id=1|pid=5|"
		 "tid=6\n"
		 "domain=HIP_API|function=hipFree|start_ns=3|duration_ns=1|correlation_id=4|pid=5|"
		 "tid=6\n"
		 "domain=HIP_API|function=hipFree|start_ns=4|duration_ns=1|correlation_id=5|pid=5|"
		 "tid=6\n"
		 "domain=HIP_API|function=hipFree|start_ns=5|duration_ns=1|correlation_id=6|pid=5|"
		 "tid=6\n"
		 "domain=HIP_API|function=hipFree|start_ns=6|duration_ns=1|correlation_id=7|pid=5|"
		 "tid=6\n"
		 "domain=HIP_API|function=hipFree|start_ns=7|duration_ns=1|correlation_id=8|pid=5|"
		 "tid=6\n",
		 "unknown-line:4 cut-row:1 ");
}

TEST(logs_and_settings_are_not_traces)
{
	static const char *const texts[] = {
		"Omniperf version: 2.0.0\nTarget: MI300X_A1\n   |-> [rocprofv2] - GRBM_COUNT\n",
		"kernel: [a, b]\nsettings:\n  - pmc (1)\n",
		"975779239309496\n",
		"0x55e1b9d507c0 agent cpu\n0x55e1b9d4eeb0 agent gpu\n",
		"  SQ_WAVES (16384.0)\n",
		"1:2 5:6 hipFree(0x1) :1\nlog\nlog\nlog\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct world w;

		world_open(&w, 1);
		CHECK(world_read(&w, "log.txt", texts[i], RK_API) == NULL);
		CHECK_I64(w.err.code, RK_E_UNSUPPORTED);
		CHECK(strstr(w.err.message, "is not a format rockit knows") != NULL);
		world_close(&w);
	}
}

TEST(raw_traces_in_want_of_memory_fail_cleanly)
{
	static const enum rk_table tables[] = { RK_MARKERS, RK_KERNELS, RK_COUNTERS };
	struct world w;

	world_open(&w, 1);
	world_text(&w, "t.txt",
		   "100 5:5 1:0:\"A\"\n110 5:5 2:0:\"\"\n120 5:5 3:0:\"B\"\n" DISPATCH
		   "\n  SQ_WAVES (1.0)\n");
	for (unsigned i = 0; i < 3; i++) {
		const char *got = NULL;

		for (uint64_t n = 1; n < 5000; n++) {
			rk_alloc_fail_after(n);
			got = world_dump(&w, w.path, tables[i], RK_WANT_ALL);
			if (!rk_alloc_failed())
				break;
			CHECK(got || w.err.code == RK_E_NOMEM || !w.err.code);
		}
		rk_alloc_fail_after(0);
		CHECK(got != NULL);
	}
	world_close(&w);
}
