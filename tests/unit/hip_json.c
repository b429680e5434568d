/* hip_json.c (test) - traces of the HIP runtime's own profiler. */
#include <string.h>

#include "every_alloc.h"

#define META \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1024,\"args\":{\"name\":\"CPU HIP [app]\"}}"
#define DOCUMENT(events) "{\"traceEvents\":[" META "," events "],\"displayTimeUnit\":\"us\"}"

static void reads_as(const char *text, enum rk_table t, const char *rows, const char *warnings)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(world_read(&w, "hip.json", text, t), rows);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

#define TRACE                                                                                                \
	DOCUMENT(                                                                                            \
		"{\"ph\":\"X\",\"name\":\"hipLaunchKernel\",\"pid\":1024,\"tid\":4711,\"ts\":0.000,"         \
		"\"dur\":5.125,\"args\":{\"stream\":\"0x10\"}},"                                             \
		"{\"ph\":\"s\",\"name\":\"dep\",\"id\":1,\"pid\":1024,\"tid\":4711,\"ts\":0.1},"             \
		"{\"ph\":\"X\",\"name\":\"void add<float>(float*, int)\",\"pid\":1,\"tid\":0,\"ts\":10.001," \
		"\"dur\":2.500,\"args\":{\"queue_id\":3,\"grid\":\"16x2x1\",\"block\":\"256x1x1\","          \
		"\"stream\":\"0x10\",\"0\":\"0x7f00\"}},"                                                    \
		"{\"ph\":\"X\",\"name\":\"H2D_Rect\",\"pid\":1,\"tid\":1,\"ts\":4,\"dur\":1,"                \
		"\"args\":{\"copy_kind\":\"H2D\",\"bytes\":4096}},"                                          \
		"{\"ph\":\"X\",\"name\":\"Barrier\",\"pid\":1,\"tid\":0,\"ts\":5,\"dur\":1,\"args\":{}},"    \
		"{\"ph\":\"X\",\"name\":\"hipMalloc\",\"pid\":2048,\"tid\":0,\"ts\":1,\"dur\":100,"          \
		"\"args\":{\"ptr\":\"0x7f0000000000\",\"size\":8192}}")

TEST(kernels_copies_calls_and_allocations_of_hips_own_profiler)
{
	reads_as(TRACE, RK_KERNELS,
		 "kernel_name=void add<float>(float*, int)|start_ns=10001|duration_ns=2500|"
		 "grid_x=16|grid_y=2|grid_z=1|block_x=256|block_y=1|block_z=1|stream_id=16|"
		 "device_id=1|queue_id=3|grid_items_x=4096|grid_items_y=2|grid_items_z=1|"
		 "source=hip-json|clock=unknown\n",
		 "");
	reads_as(TRACE, RK_MEMCPY,
		 "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=4000|duration_ns=1000|bytes=4096|"
		 "dst_device=1\n",
		 "");
	reads_as(TRACE, RK_API,
		 "domain=HIP_API|function=hipLaunchKernel|start_ns=0|duration_ns=5125|tid=4711\n",
		 "");
	reads_as(TRACE, RK_MEMALLOC,
		 "operation=ALLOCATE|start_ns=1000|bytes=8192|address=139637976727552\n", "");
}

TEST(names_with_quotes_that_are_not_escaped_are_read)
{
	reads_as(DOCUMENT("{\"ph\":\"X\",\"name\":\"f<(char)'\"'>(int) [with \"x\" , y]\","
			  "\"pid\":0,\"tid\":0,\"ts\":1,\"dur\":2,\"args\":{}},"
			  "{\"ph\":\"X\",\"name\":\"g\",\"pid\":0,\"tid\":0,\"ts\":3,\"dur\":4}"),
		 RK_KERNELS,
		 "kernel_name=f<(char)'\"'>(int) [with \"x\" , y]|start_ns=1000|"
		 "duration_ns=2000|device_id=0|source=hip-json|clock=unknown\n"
		 "kernel_name=g|start_ns=3000|duration_ns=4000|device_id=0|source=hip-json|"
		 "clock=unknown\n",
		 "bad-escape:3 ");
}

TEST(damaged_traces_of_hips_own_profiler)
{
	reads_as(DOCUMENT("{\"ph\":\"X\",\"name\":\"k\",\"pid\":0,\"ts\":\"x\",\"dur\":1e99,"
			  "\"args\":{\"grid\":\"1x\",\"block\":\"axbxc\"}},[1,2],7,null"),
		 RK_KERNELS, "kernel_name=k|grid_x=1|device_id=0|source=hip-json|clock=unknown\n",
		 "bad-number:2 ");
	reads_as("{\"traceEvents\":[" META ",{\"ph\":\"X\",\"name\":\"k", RK_KERNELS, "",
		 "truncated-json:1 ");
}

TEST(every_allocation_that_hips_own_profiler_needs_may_fail)
{
	static const char text[] = TRACE;
	struct world w;

	world_open(&w, 1);
	every_alloc_may_fail(world_file(&w, "hip.json", text, sizeof(text) - 1), 4);
	world_close(&w);
}
