/* rocprofv3_json.c - rocprofv3's JSON, table by table, and what becomes of damaged files. */
#include "read/rocprofv3/json.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

#define METADATA                                                                             \
	"\"metadata\":{\"node\":{\"id\":0,\"hostname\":\"n1\"},\"pid\":77,\"init_time\":10," \
	"\"fini_time\":99,\"command\":[\"./a.out\",\"-n\",\"4\"]}"
#define AGENTS                                                                                  \
	"\"agents\":[{\"id\":{\"handle\":500},\"type\":1,\"node_id\":0,\"name\":\"EPYC\","      \
	"\"caches\":[{\"size\":1}]},{\"id\":{\"handle\":18446744073709551615},\"type\":2,"      \
	"\"node_id\":4,\"name\":\"gfx942\",\"product_name\":\"MI300X\",\"cu_count\":304,"       \
	"\"num_xcc\":8,\"wave_front_size\":64,\"array_count\":64,\"simd_arrays_per_engine\":2," \
	"\"simd_per_cu\":4,\"max_waves_per_cu\":32,\"max_engine_clk_fcompute\":2100,"           \
	"\"mem_banks\":[{\"mem_clk_max\":1300,\"size_in_bytes\":206158430208}]}]"
#define GPU "\"agent_id\":{\"handle\":18446744073709551615}"
#define COUNTERS                                                       \
	"\"counters\":[{\"id\":{\"handle\":9},\"name\":\"SQ_WAVES\"}," \
	"{\"id\":{\"handle\":10},\"name\":\"GRBM_COUNT\"}]"
#define STRINGS                                                                                   \
	"\"strings\":{\"callback_records\":[{\"kind\":\"X\",\"operations\":[\"wrong\"]}],"        \
	"\"buffer_records\":[{\"kind\":\"NONE\",\"operations\":[]},"                              \
	"{\"kind\":\"HIP_RUNTIME_API\",\"operations\":[\"hipMalloc\",\"hipFree\"]},"              \
	"{\"kind\":\"MARKER_CORE_API\",\"operations\":[\"roctxMarkA\",\"roctxRangePushA\"]},"     \
	"{\"kind\":\"MEMORY_COPY\",\"operations\":[\"MEMORY_COPY_NONE\",\"HOST_TO_DEVICE\","      \
	"\"MEMORY_COPY_DEVICE_TO_HOST\"]},"                                                       \
	"{\"kind\":\"MEMORY_ALLOCATION\",\"operations\":[\"N\",\"MEMORY_ALLOCATION_ALLOCATE\"]}," \
	"{\"kind\":\"SCRATCH_MEMORY\",\"operations\":[\"N\",\"SCRATCH_MEMORY_ALLOC\"]},"          \
	"{\"kind\":\"MARKER_CONTROL_API\",\"operations\":[\"roctxProfilerPause\"]}],"             \
	"\"marker_api\":[{\"key\":4,\"value\":\"second\"},{\"key\":3,\"value\":\"step\"}],"       \
	"\"correlation_id\":{\"external\":[{\"key\":5,\"value\":\"renamed\"}]},"                  \
	"\"pc_sample_instructions\":[\"v_add\",\"s_nop\"],"                                       \
	"\"pc_sample_comments\":[\"a.cpp:1\",\"\"]}"
#define SYMBOLS                                                                                   \
	"\"kernel_symbols\":[{\"kernel_id\":0,\"formatted_kernel_name\":\"\"},"                   \
	"{\"kernel_id\":1,\"kernel_name\":\"_Z4copyPi.kd\",\"sgpr_count\":16,"                    \
	"\"arch_vgpr_count\":8,\"accum_vgpr_count\":4,\"formatted_kernel_name\":\"copy(int*)\"}," \
	"{\"kernel_id\":2,\"kernel_name\":\"plain.kd\"}]"
#define DISPATCH                                                                               \
	"\"correlation_id\":{\"internal\":21,\"external\":0},"                                 \
	"\"start_timestamp\":63857982592000,\"end_timestamp\":63857982594840,"                 \
	"\"dispatch_info\":{\"size\":72," GPU ",\"queue_id\":{\"handle\":16},\"kernel_id\":1," \
	"\"dispatch_id\":5,\"private_segment_size\":0,\"group_segment_size\":1024,"            \
	"\"workgroup_size\":{\"x\":64,\"y\":2,\"z\":1},\"grid_size\":{\"x\":1000,\"y\":2,\"z\":1}}"
#define HEAD \
	"{\"rocprofiler-sdk-tool\":[{" METADATA "," AGENTS "," COUNTERS "," STRINGS "," SYMBOLS ","
#define CALL(kind, operation, id, from, to)                                                   \
	"{\"kind\":" kind ",\"operation\":" operation ",\"correlation_id\":{\"internal\":" id \
	"},\"start_timestamp\":" from ",\"end_timestamp\":" to ",\"thread_id\":78"

/* buffer_records with this in them. */
#define FILE_WITH(records) \
	HEAD "\"callback_records\":{\"counter_collection\":[]},\"buffer_records\":{" records "}}]}"

#define KERNEL_ROW                                                                              \
	"kernel_name=copy(int*)|start_ns=63857982592000|duration_ns=2840|grid_x=16|grid_y=1|"   \
	"grid_z=1|block_x=64|block_y=2|block_z=1|regs=12|shared_mem=1024|stream_id=3|"          \
	"device_id=4|queue_id=16|dispatch_id=5|correlation_id=21|pid=77|tid=78|node=n1|vgpr=8|" \
	"accum_vgpr=4|sgpr=16|scratch_bytes=0|grid_items_x=1000|grid_items_y=2|grid_items_z=1|" \
	"source=rocprofv3-json|clock=boottime\n"

static void reads_as(const char *text, enum rk_table t, const char *want, const char *warnings)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_read(&w, "1_results.json", text, t);
	if (!CHECK(got != NULL))
		CHECK_STR(w.err.message, "");
	else
		CHECK_STR(got, want);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

TEST(v3_json_kernels_have_every_column)
{
	reads_as(FILE_WITH("\"kernel_dispatch\":[{\"size\":184,\"thread_id\":78," DISPATCH
			   ",\"stream_id\":{\"handle\":3}}]"),
		 RK_KERNELS, KERNEL_ROW, "");
}

TEST(v3_json_of_6_2_has_no_stream)
{
	reads_as(FILE_WITH("\"kernel_dispatch\":[{\"start_timestamp\":1,\"end_timestamp\":2,"
			   "\"dispatch_info\":{\"kernel_id\":2,\"queue_id\":{\"handle\":7}}}]"),
		 RK_KERNELS,
		 "kernel_name=plain.kd|start_ns=1|duration_ns=1|stream_id=7|queue_id=7|pid=77|"
		 "node=n1|source=rocprofv3-json|clock=boottime\n",
		 "");
}

TEST(v3_json_kernels_can_be_renamed)
{
	reads_as(FILE_WITH("\"kernel_dispatch\":[{\"correlation_id\":{\"external\":5},"
			   "\"dispatch_info\":{\"kernel_id\":2}}]"),
		 RK_KERNELS,
		 "kernel_name=renamed|pid=77|node=n1|source=rocprofv3-json|clock=boottime\n", "");
}

TEST(v3_json_calls_have_names)
{
	reads_as(
		FILE_WITH("\"kernel_dispatch\":[],\"hip_api\":[" CALL(
			"1", "1", "9", "100",
			"150") ",\"args\":[{\"name\":\"ptr\",\"value\":\"]}\"}]}],\"rccl_api\":[" CALL("99",
												       "0",
												       "10",
												       "1",
												       "2") "}]"),
		RK_API,
		"domain=HIP_RUNTIME_API|function=hipFree|start_ns=100|duration_ns=50|"
		"correlation_id=9|pid=77|tid=78|node=n1\n"
		"start_ns=1|duration_ns=1|correlation_id=10|pid=77|tid=78|node=n1\n",
		"");
}

TEST(v3_json_markers_have_their_text)
{
	reads_as(
		FILE_WITH("\"marker_api\":[" CALL("2", "1", "3", "10", "30") "}," CALL(
			"2", "0", "4", "5", "5") "}," CALL("6", "0", "8", "6", "7") "}]"),
		RK_MARKERS,
		"name=step|kind=range|start_ns=10|duration_ns=20|pid=77|tid=78|node=n1\n"
		"name=second|kind=mark|start_ns=5|duration_ns=0|pid=77|tid=78|node=n1\n"
		"name=roctxProfilerPause|kind=control|start_ns=6|duration_ns=1|pid=77|tid=78|node=n1\n",
		"");
}

TEST(v3_json_copies_have_directions)
{
	reads_as(FILE_WITH("\"memory_copy\":[" CALL(
			 "3", "1", "4", "1",
			 "4") ",\"dst_agent_id\":{\"handle\":18446744073709551615},"
			      "\"src_agent_id\":{\"handle\":500},\"bytes\":64,"
			      "\"stream_id\":{\"handle\":2}}," CALL("3", "2", "5", "9", "9") "}]"),
		 RK_MEMCPY,
		 "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=1|duration_ns=3|bytes=64|"
		 "src_device=0|dst_device=4|stream_id=2|correlation_id=4|pid=77|tid=78|node=n1\n"
		 "direction=MEMORY_COPY_DEVICE_TO_HOST|start_ns=9|duration_ns=0|correlation_id=5|"
		 "pid=77|tid=78|node=n1\n",
		 "");
}

TEST(v3_json_memory_is_allocations_and_scratch)
{
	reads_as(FILE_WITH("\"memory_allocation\":[" CALL(
			 "4", "1", "4", "1",
			 "4") "," GPU ",\"address\":\"0x7f0000000000\",\"allocation_size\":4096}],"
			      "\"scratch_memory\":[" CALL(
				      "5", "1", "5", "2",
				      "3") "," GPU ",\"flags\":1,\"allocation_size\":8}]"),
		 RK_MEMALLOC,
		 "operation=MEMORY_ALLOCATION_ALLOCATE|start_ns=1|duration_ns=3|bytes=4096|"
		 "address=139637976727552|device_id=4|correlation_id=4|pid=77|tid=78|node=n1\n"
		 "operation=SCRATCH_MEMORY_ALLOC|start_ns=2|duration_ns=1|bytes=8|device_id=4|"
		 "flags=1|correlation_id=5|pid=77|tid=78|node=n1\n",
		 "");
}

#define COUNTED                                                                              \
	HEAD "\"callback_records\":{\"counter_collection\":[{\"thread_id\":78,"              \
	     "\"dispatch_data\":{" DISPATCH "},\"records\":["                                \
	     "{\"counter_id\":{\"handle\":9},\"value\":1.5},"                                \
	     "{\"counter_id\":{\"handle\":10},\"value\":7},"                                 \
	     "{\"counter_id\":{\"handle\":9},\"value\":2}],\"stream_id\":{\"handle\":3}}]}," \
	     "\"buffer_records\":{\"kernel_dispatch\":[]}}]}"

TEST(v3_json_counters_are_summed_over_instances)
{
	reads_as(COUNTED, RK_COUNTERS,
		 "dispatch_id=5|kernel_name=copy(int*)|counter=SQ_WAVES|value=3.5|device_id=4|"
		 "pid=77|node=n1\n"
		 "dispatch_id=5|kernel_name=copy(int*)|counter=GRBM_COUNT|value=7|device_id=4|"
		 "pid=77|node=n1\n",
		 "");
}

TEST(v3_json_dispatches_with_counters_are_kernels)
{
	reads_as(COUNTED, RK_KERNELS, KERNEL_ROW, "");
}

#define REPLAYED(pass, counter, value)                                             \
	"{\"thread_id\":78,\"replay_pass\":" pass ",\"dispatch_data\":{" DISPATCH  \
	"},\"records\":[{\"counter_id\":{\"handle\":" counter "},\"value\":" value \
	"}],\"stream_id\":{\"handle\":3}}"

TEST(v3_json_replays_of_a_dispatch_are_one_kernel_with_all_counters)
{
	static const char text[] = HEAD "\"callback_records\":{\"counter_collection\":[" REPLAYED(
		"0", "9",
		"3") "," REPLAYED("1", "10",
				  "7") "]},\"buffer_records\":{\"kernel_dispatch\":[]}}]}";

	reads_as(text, RK_KERNELS, KERNEL_ROW, "");
	reads_as(text, RK_COUNTERS,
		 "dispatch_id=5|kernel_name=copy(int*)|counter=SQ_WAVES|value=3|device_id=4|"
		 "pid=77|node=n1\n"
		 "dispatch_id=5|kernel_name=copy(int*)|counter=GRBM_COUNT|value=7|device_id=4|"
		 "pid=77|node=n1\n",
		 "");
}

TEST(v3_json_pc_samples_have_instructions)
{
	reads_as(FILE_WITH("\"pc_sample_stochastic\":[{\"record\":{\"hw_id\":{\"workgroup_id \":1},"
			   "\"timestamp\":6,\"dispatch_id\":1,\"wave_cnt\":3,\"snapshot\":"
			   "{\"stall_reason\":\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_"
			   "REASON_WAITCNT\"}},\"inst_index\":0}],\"pc_sample_host_trap\":"
			   "[{\"record\":{\"timestamp\":7},\"inst_index\":9}]"),
		 RK_PC_SAMPLES,
		 "time_ns=6|dispatch_id=1|instruction=v_add|source_line=a.cpp:1|"
		 "stall_reason=WAITCNT|wave_count=3|pid=77|node=n1\n"
		 "time_ns=7|pid=77|node=n1\n",
		 "");
}

TEST(v3_json_pc_samples_of_instructions_that_were_issued_have_no_stall)
{
	reads_as(FILE_WITH(
			 "\"pc_sample_stochastic\":[{\"record\":{\"timestamp\":6,\"wave_issued\":1,"
			 "\"snapshot\":{\"stall_reason\":\"OTHER_WAIT\"}},\"inst_index\":9},"
			 "{\"record\":{\"timestamp\":7,\"wave_issued\":true,"
			 "\"snapshot\":{\"stall_reason\":\"OTHER_WAIT\"}},\"inst_index\":9},"
			 "{\"record\":{\"timestamp\":8,\"wave_issued\":0,"
			 "\"snapshot\":{\"stall_reason\":\"OTHER_WAIT\"}},\"inst_index\":9}]"),
		 RK_PC_SAMPLES,
		 "time_ns=6|pid=77|node=n1\n"
		 "time_ns=7|pid=77|node=n1\n"
		 "time_ns=8|stall_reason=OTHER_WAIT|pid=77|node=n1\n",
		 "");
}

TEST(v3_json_agents_and_processes_are_tables)
{
	reads_as(FILE_WITH(""), RK_AGENTS,
		 "device_id=0|type=CPU|name=EPYC|node=n1\n"
		 "device_id=4|type=GPU|name=gfx942|gfx=gfx942|product=MI300X|cu_count=304|"
		 "max_sclk_mhz=2100|max_mclk_mhz=1300|xcc=8|wave_size=64|"
		 "memory_bytes=206158430208|node=n1|se_count=32|simd_per_cu=4|waves_per_cu=32\n",
		 "");
	reads_as(FILE_WITH(""), RK_PROCESSES,
		 "pid=77|command=./a.out -n 4|node=n1|start_ns=10|end_ns=99\n", "");
}

TEST(v3_json_tables_without_rows_are_not_offered)
{
	struct rk_reader *r = NULL;
	struct world w;

	world_open(&w, 1);
	CHECK(rk_reader_open(world_text(&w, "x.json",
					FILE_WITH("\"kernel_dispatch\":[{}],\"hip_api\":[]")),
			     &w.ctx, &r, &w.err) == 0);
	CHECK_U64(r->tables,
		  RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_AGENTS) | RK_TABLE_BIT(RK_PROCESSES));
	rk_reader_close(r);
	world_close(&w);
}

TEST(v3_json_that_is_cut_gives_the_rows_before)
{
	reads_as(HEAD "\"buffer_records\":{\"kernel_dispatch\":[{\"thread_id\":78," DISPATCH
		      ",\"stream_id\":{\"handle\":3}},{\"thread_id\":78,\"start_time",
		 RK_KERNELS, KERNEL_ROW, "truncated-json:1 ");
}

TEST(v3_json_cut_anywhere_is_not_a_failure)
{
	static const char text[] = COUNTED;
	struct world w;

	world_open(&w, 1);
	for (size_t n = 30; n < sizeof(text) - 1; n += 7) {
		struct rk_reader *r = NULL;

		rk_diag_reset(w.ctx.diag, 0);
		rk_error_clear(&w.err);
		if (!CHECK(rk_reader_open(world_file(&w, "x.json", text, n), &w.ctx, &r, &w.err) ==
			   0))
			break;
		rk_reader_close(r);
		CHECK_U64(world_warned(&w, "truncated-json"), 1);
	}
	world_close(&w);
}

static void fails_at(const char *text, uint64_t offset)
{
	struct world w;

	world_open(&w, 1);
	CHECK(world_read(&w, "x.json", text, RK_KERNELS) == NULL);
	CHECK_I64(w.err.code, RK_E_FORMAT);
	CHECK_U64(w.err.offset, offset);
	CHECK(strstr(w.err.file, "x.json") != NULL);
	world_close(&w);
}

TEST(v3_json_that_is_broken_names_the_byte)
{
	fails_at("{\"rocprofiler-sdk-tool\":[{]}]}", 26);
	fails_at(
		"{\"rocprofiler-sdk-tool\":[{\"buffer_records\":{\"kernel_dispatch\":[{\"a\" 1}]}}]}",
		68);
}

TEST(v3_json_second_document_is_a_warning)
{
	reads_as(FILE_WITH("\"kernel_dispatch\":[{\"start_timestamp\":1}]") "\n{\"more\":1}",
		 RK_KERNELS, "start_ns=1|pid=77|node=n1|source=rocprofv3-json|clock=boottime\n",
		 "second-document:1 ");
}

TEST(v3_json_odd_numbers_are_counted)
{
	reads_as(FILE_WITH("\"kernel_dispatch\":[{\"start_timestamp\":99999999999999999999,"
			   "\"end_timestamp\":NaN,\"thread_id\":\"x\",\"dispatch_info\":"
			   "{\"workgroup_size\":{\"x\":5000000000}}}]"),
		 RK_KERNELS, "pid=77|node=n1|source=rocprofv3-json|clock=boottime\n",
		 "bad-number:1 number-out-of-range:2 not-a-number:1 ");
}

TEST(v3_json_of_two_processes_keeps_them_apart)
{
	reads_as("{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":1},\"kernel_symbols\":"
		 "[{\"kernel_id\":1,\"formatted_kernel_name\":\"a\"}],\"buffer_records\":"
		 "{\"kernel_dispatch\":[{\"dispatch_info\":{\"kernel_id\":1}}]}},"
		 "{\"metadata\":{\"pid\":2},\"kernel_symbols\":[{\"kernel_id\":1,"
		 "\"formatted_kernel_name\":\"b\"}],\"buffer_records\":{\"kernel_dispatch\":"
		 "[{\"dispatch_info\":{\"kernel_id\":1}}]}}]}",
		 RK_KERNELS,
		 "kernel_name=a|pid=1|source=rocprofv3-json|clock=boottime\n"
		 "kernel_name=b|pid=2|source=rocprofv3-json|clock=boottime\n",
		 "");
}

TEST(v3_json_with_sorted_keys_finds_its_names)
{
	reads_as("{\"rocprofiler-sdk-tool\":[{" AGENTS ",\"buffer_records\":{\"kernel_dispatch\":"
		 "[{\"thread_id\":78," DISPATCH ",\"stream_id\":{\"handle\":3}}]}," SYMBOLS
		 "," METADATA "," STRINGS "}]}",
		 RK_KERNELS, KERNEL_ROW, "");
}

TEST(v3_json_odd_shapes_are_passed_over)
{
	reads_as("{\"rocprofiler-sdk-tool\":[5,[6],{\"metadata\":7,\"agents\":{},\"strings\":[1],"
		 "\"kernel_symbols\":\"x\",\"buffer_records\":{\"kernel_dispatch\":[1,[2],{}],"
		 "\"hip_api\":null}}],\"rocprofiler-sdk-tool\":3}",
		 RK_KERNELS, "source=rocprofv3-json|clock=boottime\n", "");
}

TEST(v3_json_survives_every_failed_allocation)
{
	static const enum rk_table tables[] = { RK_KERNELS, RK_COUNTERS, RK_AGENTS, RK_PROCESSES };
	struct world w;

	world_open(&w, 1);
	world_text(&w, "x.json", COUNTED);
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		bool done = false;

		for (uint64_t n = 1; !done && n < 2000; n++) {
			const char *got;
			char path[sizeof(w.path)];

			memcpy(path, w.path, sizeof(path));
			rk_alloc_fail_after(n);
			got = world_dump(&w, path, tables[t], RK_WANT_ALL);
			done = !rk_alloc_failed();
			rk_alloc_fail_after(0);
			CHECK(got != NULL || w.err.code == RK_E_NOMEM || w.text.bad);
		}
		CHECK(done);
	}
	world_close(&w);
}
