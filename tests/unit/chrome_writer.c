/* chrome_writer.c - runs as Chrome's trace events: exact times, escaped names, read back. */
#include <errno.h>
#include <stdlib.h>

#include "trace_world.h"

extern const struct rk_writer_ops rk_writer_chrome;

static char *text_of(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t cap = 0;

	if (!CHECK(f != NULL))
		return NULL;
	if (getdelim(&text, &cap, '\0', f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

static void fill(struct trace_world *t)
{
	struct rk_builder *b = trace_rows(t, rk_table_schema(RK_KERNELS), 1);

	trace_kernel(t, b, 0, "k\"<>\\\x01", INT64_C(1392205578819696), 6301, 3);
	for (unsigned i = 0; i < 3; i++) {
		trace_int(b, 0, RK_K_GRID_X + i, 2 + i);
		trace_int(b, 0, RK_K_BLOCK_X + i, 5 + i);
	}
	trace_int(b, 0, RK_K_CORRELATION, 9);
	trace_int(b, 0, RK_K_REGS, 32);
	trace_int(b, 0, RK_K_SHARED_MEM, 0);
	b = trace_rows(t, rk_table_schema(RK_MEMCPY), 1);
	trace_name(t, b, 0, RK_C_DIRECTION, "MEMORY_COPY_HOST_TO_DEVICE");
	trace_int(b, 0, RK_C_START, 1001);
	trace_int(b, 0, RK_C_DURATION, 7);
	trace_int(b, 0, RK_C_BYTES, INT64_C(1) << 40);
	trace_int(b, 0, RK_C_DST, 4);
	trace_int(b, 0, RK_C_STREAM, 2);
	b = trace_rows(t, rk_table_schema(RK_API), 2);
	trace_call(t, b, 0, "launch", 10, 5, 8);
	trace_call(t, b, 1, "crosses", 12, 9, 8);
	trace_int(b, 0, RK_A_CORRELATION, 9);
}

TEST(chrome_events_are_written_word_for_word)
{
	struct trace_world t;
	char *text;

	trace_open(&t, "t.json");
	fill(&t);
	trace_write(&t, &rk_writer_chrome);
	text = text_of(t.file);
	CHECK_STR(
		text,
		"{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"pid 7\"}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8388611,\"args\":{\"name\":\"GPU 0 queue 3\"}},\n"
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\\\"<>\\\\\\u0001\",\"pid\":7,\"tid\":8388611,"
		"\"ts\":1392205578819.696,\"dur\":6.301,\"args\":{\"device\":0,\"stream\":3,\"queue\":3,"
		"\"correlation\":9,\"grid\":[2,3,4],\"block\":[5,6,7],\"registers per thread\":32,"
		"\"shared memory\":0}},\n"
		"{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":68719476745,\"pid\":7,\"tid\":8388611,"
		"\"ts\":1392205578819.696,\"bp\":\"e\"},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":8388613,\"args\":{\"name\":\"GPU 4 copies of stream 2\"}},\n"
		"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"MEMORY_COPY_HOST_TO_DEVICE\",\"pid\":0,\"tid\":8388613,"
		"\"ts\":1.001,\"dur\":0.007,\"args\":{\"toDevice\":4,\"stream\":2,\"bytes\":1099511627776}},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8,\"args\":{\"name\":\"thread 8\"}},\n"
		"{\"ph\":\"X\",\"cat\":\"HIP_API\",\"name\":\"launch\",\"pid\":7,\"tid\":8,\"ts\":0.010,\"dur\":0.005,"
		"\"args\":{\"correlation\":9}},\n"
		"{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":68719476745,\"pid\":7,\"tid\":8,\"ts\":0.010},\n"
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8388615,\"args\":{\"name\":\"thread 8 calls (2)\"}},\n"
		"{\"ph\":\"X\",\"cat\":\"HIP_API\",\"name\":\"crosses\",\"pid\":7,\"tid\":8388615,\"ts\":0.012,\"dur\":0.009,"
		"\"args\":{\"tid\":8}}\n]}\n");
	free(text);
	trace_close(&t);
}

TEST(chrome_events_are_read_back)
{
	struct trace_world t;

	trace_open(&t, "t.json");
	fill(&t);
	trace_write(&t, &rk_writer_chrome);
	CHECK_STR(
		world_dump(&t.w, t.file, RK_KERNELS, RK_WANT_ALL),
		"kernel_name=k\"<>\\\x01|start_ns=1392205578819696|duration_ns=6301|grid_x=2|"
		"grid_y=3|grid_z=4|block_x=5|block_y=6|block_z=7|regs=32|shared_mem=0|stream_id=3|"
		"device_id=0|correlation_id=9|pid=7|grid_items_x=10|grid_items_y=18|grid_items_z=28|"
		"source=kineto-json|clock=unknown\n");
	CHECK_STR(world_dump(&t.w, t.file, RK_MEMCPY, RK_WANT_ALL),
		  "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=1001|duration_ns=7|"
		  "bytes=1099511627776|dst_device=4|stream_id=2|pid=7\n");
	CHECK_STR(
		world_dump(&t.w, t.file, RK_API, RK_WANT_ALL),
		"domain=HIP_API|function=launch|start_ns=10|duration_ns=5|correlation_id=9|pid=7|tid=8\n"
		"domain=HIP_API|function=crosses|start_ns=12|duration_ns=9|pid=7|tid=8\n");
	trace_close(&t);
}

TEST(chrome_times_below_zero_and_at_the_end_of_time_are_exact)
{
	struct trace_world t;
	struct rk_builder *b;
	char *text;

	trace_open(&t, "t.json");
	b = trace_rows(&t, rk_table_schema(RK_KERNELS), 3);
	trace_kernel(&t, b, 0, "before", -1, 2, 1);
	trace_kernel(&t, b, 1, "negative", 5, -7001, 1);
	trace_kernel(&t, b, 2, "last", INT64_MAX, 0, 1);
	trace_write(&t, &rk_writer_chrome);
	CHECK_STR(world_dump(&t.w, t.file, RK_KERNELS, 7),
		  "kernel_name=before|start_ns=-1|duration_ns=2\n"
		  "kernel_name=negative|start_ns=5|duration_ns=-7001\n"
		  "kernel_name=last|start_ns=9223372036854775807|duration_ns=0\n");
	/* a viewer drops what lasts less than nothing */
	text = text_of(t.file);
	CHECK(strstr(text, "\"dur\":0.000,\"args\":{\"recorded dur\":-7.001,") != NULL);
	CHECK(!strstr(text, ",\"dur\":-"));
	free(text);
	trace_close(&t);
}

TEST(markers_and_samples_are_chrome_events_too)
{
	struct trace_world t;
	struct rk_builder *b;
	char *text;

	trace_open(&t, "t.json");
	b = trace_rows(&t, rk_table_schema(RK_MARKERS), 1);
	trace_name(&t, b, 0, RK_R_NAME, "step");
	trace_int(b, 0, RK_R_START, 1000);
	trace_int(b, 0, RK_R_DURATION, 5000);
	trace_int(b, 0, RK_R_PID, 7);
	trace_int(b, 0, RK_R_TID, 8);
	b = trace_rows(&t, rk_table_schema(RK_SAMPLES), 1);
	trace_int(b, 0, RK_S_TIME, 2000);
	trace_int(b, 0, RK_S_DEVICE, 1);
	trace_name(&t, b, 0, RK_S_METRIC, "power");
	trace_name(&t, b, 0, RK_S_UNIT, "W");
	trace_real(b, 0, RK_S_VALUE, 312.5);
	trace_write(&t, &rk_writer_chrome);
	CHECK_STR(world_dump(&t.w, t.file, RK_MARKERS, RK_WANT_ALL),
		  "name=step|kind=range|start_ns=1000|duration_ns=5000|pid=7|tid=8\n");
	text = text_of(t.file);
	CHECK(strstr(text, "{\"ph\":\"C\",\"name\":\"power of GPU 1 (W)\",\"pid\":0,\"ts\":2.000,"
			   "\"args\":{\"value\":312.5}}") != NULL);
	free(text);
	trace_close(&t);
}

TEST(the_chrome_writer_survives_each_failed_allocation_and_a_full_disk)
{
	struct rk_error err = { 0 };
	struct trace_world t;

	trace_open(&t, "t.json");
	fill(&t);
	trace_fail_each(&t, &rk_writer_chrome);
	rk_output_fail_after(1, ENOSPC);
	CHECK_I64(trace_try(&t, &rk_writer_chrome, &err), RK_E_IO);
	rk_output_fail_after(0, 0);
	trace_close(&t);
}
