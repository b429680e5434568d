/* kineto_json.c - PyTorch's traces and rocprof v1's results.json: Chrome events, table by table. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "read/kineto/chrome_json.h"
#include "tap.h"
#include "world.h"

static void reads_as(const char *text, enum rk_table t, const char *want, const char *warnings)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_read(&w, "trace.json", text, t);
	if (!CHECK(got != NULL))
		CHECK_STR(w.err.message, "");
	else
		CHECK_STR(got, want);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

#define KINETO(events)                                                                           \
	"{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"AMD Instinct MI300X\"," \
	"\"totalGlobalMem\":206141652992,\"warpSize\":64,\"numSms\":304}],"                      \
	"\"baseTimeNanoseconds\":1775078550000000000,\"traceEvents\":[" events "]}"
#define EVENT(cat, name, ts, dur, args) EVENT_OF("25", cat, name, ts, dur, args)
#define EVENT_OF(pid, cat, name, ts, dur, args)                                \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid \
	",\"tid\":26,\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define KERNEL KERNEL_OF("2") /* its device, as the profiler writes it */
#define KERNEL_OF(pid)                                                                          \
	EVENT_OF(pid, "kernel", "k<1, 2>(int)", "1428625731622.25", "18.112",                   \
		 "\"queued\":0,\"device\":2,\"context\":1,\"stream\":7,\"correlation\":675771," \
		 "\"registers per thread\":16,\"shared memory\":128,\"blocks per SM\":135.5,"   \
		 "\"grid\":[17888,2,1],\"block\":[128,4,1],\"est. achieved occupancy %\":100")
#define OP(pid)                                                                \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mul\",\"pid\":" pid \
	",\"ts\":1,\"dur\":2}"
#define KERNEL_ROW KERNEL_ROW_OF("")
#define KERNEL_ROW_OF(pid)                                                                      \
	"kernel_name=k<1, 2>(int)|start_ns=1428625731622250|duration_ns=18112|grid_x=17888|"    \
	"grid_y=2|grid_z=1|block_x=128|block_y=4|block_z=1|regs=16|shared_mem=128|stream_id=7|" \
	"device_id=2|correlation_id=675771|" pid                                                \
	"grid_items_x=2289664|grid_items_y=8|grid_items_z=1|"                                   \
	"source=kineto-json|clock=unknown\n"

TEST(kineto_kernels_have_grids_and_registers)
{
	reads_as(
		KINETO(EVENT(
			"cpu_op", "aten::mul", "1", "2",
			"\"Input Dims\":[[1],[]]") "," KERNEL
						   ",{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":25},"
						   "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"ts\":1}"),
		RK_KERNELS, KERNEL_ROW_OF("pid=25|"), "");
}

TEST(kineto_kernels_belong_to_the_process_of_the_events_beside_them)
{
	reads_as(KINETO(KERNEL "," OP("31")), RK_KERNELS, KERNEL_ROW_OF("pid=31|"), "");
	reads_as(KINETO(KERNEL "," EVENT("cuda_runtime", "f", "1", "2", "")), RK_KERNELS,
		 KERNEL_ROW_OF("pid=25|"), "");
	reads_as(KINETO(EVENT("gpu_memset", "Memset", "3", "1", "") "," OP("31")), RK_MEMCPY,
		 "direction=Memset|start_ns=3000|duration_ns=1000|dst_device=25|stream_id=26|"
		 "pid=31\n",
		 "");
}

TEST(kineto_events_without_a_process_name_none)
{
	reads_as(KINETO(KERNEL "," OP("0") "," OP("\"Spans\"") "," OP("-4")), RK_KERNELS,
		 KERNEL_ROW, "");
	reads_as(KINETO(KERNEL ",{\"ph\":\"X\",\"cat\":\"python_function\",\"pid\":7},"
			       "{\"ph\":\"X\",\"pid\":8},{\"ph\":\"X\",\"cat\":null,\"pid\":9}"),
		 RK_KERNELS, KERNEL_ROW, "");
}

TEST(kineto_kernels_of_several_processes_say_their_own_or_none)
{
	reads_as(KINETO(OP("31") "," KERNEL "," OP("32")), RK_KERNELS, KERNEL_ROW, "");
	/* as in a trace that rockit wrote: the device is among the arguments */
	reads_as(KINETO(OP("31") "," KERNEL_OF("25") "," OP("25")), RK_KERNELS,
		 KERNEL_ROW_OF("pid=25|"), "");
	/* a device whose number is that of a process */
	reads_as(KINETO(OP("31") "," OP("25") "," EVENT("kernel", "k", "1", "2", "\"device\":25")),
		 RK_KERNELS,
		 "kernel_name=k|start_ns=1000|duration_ns=2000|stream_id=26|device_id=25|"
		 "source=kineto-json|clock=unknown\n",
		 "");
}

/* Correlation ids are those of one process, unless two of them use the same. */
TEST(kineto_kernels_of_several_processes_belong_to_that_of_their_call)
{
#define CALL(pid, id) EVENT_OF(pid, "cuda_runtime", "f", "1", "2", "\"correlation\":" id)
#define ONE(id) EVENT_OF("0", "kernel", "k", "5", "2", "\"device\":0,\"correlation\":" id)
#define ONE_ROW(id, pid)                                                                           \
	"kernel_name=k|start_ns=5000|duration_ns=2000|stream_id=26|device_id=0|correlation_id=" id \
	"|" pid "source=kineto-json|clock=unknown\n"
	reads_as(KINETO(ONE("7") "," ONE("8") "," ONE("9") "," ONE("10") "," CALL(
			 "31", "7") "," CALL("32", "8") "," CALL("31", "9") "," CALL("32", "9")),
		 RK_KERNELS,
		 ONE_ROW("7", "pid=31|") ONE_ROW("8", "pid=32|") ONE_ROW("9", "") ONE_ROW("10", ""),
		 "");
}

#define RANKED(info, events) "{\"schemaVersion\":1," info "\"traceEvents\":[" events "]}"
#define DISTRIBUTED \
	"\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,\"pg_config\":[{\"ranks\":[0]}]}"
#define PLAIN_KERNEL EVENT_OF("0", "kernel", "k", "5", "2", "\"device\":0")
#define RANK_ROW(rank)                                                                \
	"kernel_name=k|start_ns=5000|duration_ns=2000|stream_id=26|device_id=0|" rank \
	"source=kineto-json|clock=unknown\n"

TEST(kineto_rows_have_the_rank_of_the_document_wherever_it_is)
{
	reads_as(RANKED(DISTRIBUTED ",", PLAIN_KERNEL), RK_KERNELS, RANK_ROW("rank=3|"), "");
	reads_as("{\"traceEvents\":[" PLAIN_KERNEL "],\"schemaVersion\":1," DISTRIBUTED "}",
		 RK_KERNELS, RANK_ROW("rank=3|"), "");
	reads_as("{\"traceEvents\":[" EVENT("cuda_runtime", "f", "1", "2", "") "]," DISTRIBUTED "}",
		 RK_API,
		 "domain=cuda_runtime|function=f|start_ns=1000|duration_ns=2000|pid=25|tid=26|"
		 "rank=3\n",
		 "");
	reads_as(RANKED("\"distributedInfo\":{\"rank\":-3},", PLAIN_KERNEL), RK_KERNELS,
		 RANK_ROW(""), "");
	reads_as(RANKED("\"distributedInfo\":{\"rank\":99999999999},", PLAIN_KERNEL), RK_KERNELS,
		 RANK_ROW(""), "");
}

/* Tools that merge traces make pids unique and keep the old ones. */
TEST(kineto_events_of_a_merged_trace_have_ranks_of_their_own)
{
#define MERGED(cat, rank, pid, raw, args) \
	EVENT_OF(pid, cat, "k", "5", "2", args "\"rank\":" rank ",\"pid_raw\":" raw)
	reads_as(KINETO(MERGED("kernel", "0", "2", "2", "\"device\":2,") "," MERGED(
			 "kernel", "1", "100000003", "3",
			 "") "," MERGED("cpu_op", "0", "71", "71",
					"") "," MERGED("cpu_op", "1", "100000072", "72", "")),
		 RK_KERNELS,
		 "kernel_name=k|start_ns=5000|duration_ns=2000|stream_id=26|device_id=2|pid=71|"
		 "rank=0|source=kineto-json|clock=unknown\n"
		 "kernel_name=k|start_ns=5000|duration_ns=2000|stream_id=26|device_id=3|pid=72|"
		 "rank=1|source=kineto-json|clock=unknown\n",
		 "");
	reads_as(KINETO(MERGED("cuda_runtime", "1", "100000072", "72", "")), RK_API,
		 "domain=cuda_runtime|function=k|start_ns=5000|duration_ns=2000|pid=72|tid=26|"
		 "rank=1\n",
		 "");
}

#define COMM_ARGS                                                                                 \
	"\"Collective name\":\"allreduce\",\"Process Group Name\":\"0\",\"Process Group Ranks\":" \
	"\"[0, 1]\",\"dtype\":\"Float\",\"In msg nelems\":64,\"Out msg nelems\":64,\"Seq\":5"
#define COMM_ROW "collective=allreduce|comm_group=0 [0, 1]|comm_size=Float 64|comm_seq=5\n"

TEST(kineto_kernels_say_which_collective_they_run)
{
	static const char row[] =
		"kernel_name=ncclDevKernel_Generic|start_ns=5000|duration_ns=2000|"
		"stream_id=26|device_id=0|source=kineto-json|clock=unknown|" COMM_ROW;

	reads_as(KINETO(EVENT_OF("0", "kernel", "ncclDevKernel_Generic", "5", "2",
				 "\"device\":0," COMM_ARGS)),
		 RK_KERNELS, row, "");
	/* more of them and less */
	reads_as(KINETO(EVENT_OF("0", "kernel", "k", "5", "2",
				 "\"device\":0,\"Collective name\":\"all_to_allv\","
				 "\"Process Group ID\":7,\"dtype\":\"Half\",\"In msg nelems\":1,"
				 "\"Out msg nelems\":2,\"Seq\":-1")),
		 RK_KERNELS,
		 "kernel_name=k|start_ns=5000|duration_ns=2000|stream_id=26|device_id=0|"
		 "source=kineto-json|clock=unknown|collective=all_to_allv|comm_group=7|"
		 "comm_size=Half 1 to 2\n",
		 "");
}

/* Older releases: the operator says it, and the launch or the kernel says which operator. */
TEST(kineto_operators_say_which_collective_their_kernels_run)
{
#define COMM_OP EVENT("cpu_op", "record_param_comms", "1", "9", "\"External id\":44," COMM_ARGS)
#define COMM_KERNEL(args)                                          \
	EVENT_OF("0", "kernel", "ncclDevKernel_Generic", "5", "2", \
		 "\"device\":0,\"correlation\":12" args)
#define COMM_KERNEL_ROW                                                                  \
	"kernel_name=ncclDevKernel_Generic|start_ns=5000|duration_ns=2000|stream_id=26|" \
	"device_id=0|correlation_id=12|pid=25|source=kineto-json|clock=unknown|" COMM_ROW
	reads_as(KINETO(COMM_KERNEL(",\"External id\":44") "," COMM_OP), RK_KERNELS,
		 COMM_KERNEL_ROW, "");
	reads_as(KINETO(COMM_KERNEL(
			 "") "," EVENT("cuda_runtime", "hipExtLaunchKernel", "1", "2",
				       "\"External id\":44,\"correlation\":12,"
				       "\"kernel\":\"ncclDevKernel_Generic\"") "," COMM_OP),
		 RK_KERNELS, COMM_KERNEL_ROW, "");
	/* a kernel that only runs beside it */
	reads_as(KINETO(EVENT_OF("0", "kernel", "fill", "5", "2",
				 "\"device\":0,\"External id\":44") "," COMM_OP),
		 RK_KERNELS,
		 "kernel_name=fill|start_ns=5000|duration_ns=2000|stream_id=26|device_id=0|pid=25|"
		 "source=kineto-json|clock=unknown\n",
		 "");
}

TEST(kineto_hardware_counters_are_counted)
{
	reads_as(KINETO(KERNEL ",{\"ph\":\"C\",\"name\":\"sm__cycles\",\"pid\":\"GPU 0 Counters\","
			       "\"tid\":3,\"ts\":1,\"args\":{\"\":12.5}},"
			       "{\"ph\":\"C\",\"name\":\"mine\",\"pid\":7,\"ts\":1}"),
		 RK_KERNELS, KERNEL_ROW, "counters-not-read:1 ");
}

TEST(kineto_processes_may_have_nothing_but_kernels_and_copies)
{
	reads_as(KINETO(OP("31") "," KERNEL_OF("31") "," KERNEL_OF("25") "," KERNEL), RK_KERNELS,
		 KERNEL_ROW_OF("pid=31|") KERNEL_ROW_OF("pid=25|") KERNEL_ROW_OF("pid=31|"), "");
	reads_as(KINETO(KERNEL_OF("25")), RK_KERNELS, KERNEL_ROW_OF("pid=25|"), "");
	/* rockit's copies have no device but where they are from and go */
	reads_as(KINETO(OP("31") "," EVENT("gpu_memcpy", "c", "3", "1", "\"toDevice\":4") "," EVENT(
			 "gpu_memcpy", "c", "3", "1", "\"fromDevice\":25,\"toDevice\":4")),
		 RK_MEMCPY,
		 "direction=c|start_ns=3000|duration_ns=1000|dst_device=4|stream_id=26|pid=25\n"
		 "direction=c|start_ns=3000|duration_ns=1000|src_device=25|dst_device=4|"
		 "stream_id=26|pid=31\n",
		 "");
	/* not known: rockit writes 0 */
	reads_as(KINETO(OP("31") "," KERNEL_OF("0")), RK_KERNELS, KERNEL_ROW_OF("pid=31|"), "");
}

TEST(kineto_processes_without_end_take_no_time)
{
	enum { N = 50000 };
	static char text[N * 48 + 1000];
	size_t len = (size_t)snprintf(text, sizeof(text), "[%s", KERNEL);
	clock_t begin = clock();

	for (int i = N; i; i--)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":%d}", i);
	snprintf(text + len, sizeof(text) - len, "]");
	reads_as(text, RK_KERNELS, KERNEL_ROW, "");
	CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
}

TEST(kineto_may_be_a_bare_array)
{
	reads_as("[" KERNEL "]", RK_KERNELS, KERNEL_ROW, "");
}

TEST(kineto_keys_may_come_in_any_order)
{
	reads_as("[{\"args\":{\"block\":[64,1,1],\"grid\":[3,1,1]},\"dur\":1,\"ts\":2,"
		 "\"tid\":4,\"pid\":5,\"name\":\"k\",\"cat\":\"kernel\",\"ph\":\"X\"}]",
		 RK_KERNELS,
		 "kernel_name=k|start_ns=2000|duration_ns=1000|grid_x=3|grid_y=1|grid_z=1|"
		 "block_x=64|block_y=1|block_z=1|stream_id=4|device_id=5|grid_items_x=192|"
		 "grid_items_y=1|grid_items_z=1|source=kineto-json|clock=unknown\n",
		 "");
}

TEST(kineto_times_are_exact)
{
	static const char *const times[][2] = {
		{ "9007199254740993.123", "9007199254740993123" },
		{ "3603029046460.717", "3603029046460717" },
		{ "7", "7000" },
		{ "7.5", "7500" },
		{ "7.1239", "7124" },
		{ "0.0004", "0" },
		{ "-2.5", "-2500" },
		{ "1.5e3", "1500000" },
		{ "1.25E1", "12500" },
		{ "1e-05", "0" },
		{ "2.5e-03", "3" },
		{ "\"12.5\"", "12500" },
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		char text[300], want[200];

		snprintf(text, sizeof(text),
			 "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":%s,\"dur\":1}]",
			 times[i][0]);
		snprintf(want, sizeof(want),
			 "kernel_name=k|start_ns=%s|duration_ns=1000|source=kineto-json|"
			 "clock=unknown\n",
			 times[i][1]);
		reads_as(text, RK_KERNELS, want, "");
	}
}

TEST(kineto_times_that_do_not_fit_are_counted)
{
	reads_as("[{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":92233720368547758070.5,\"dur\":\"x\"}]",
		 RK_KERNELS, "source=kineto-json|clock=unknown\n",
		 "bad-number:1 number-out-of-range:1 ");
}

#define GPU_1(cat, name, ts, dur, args) EVENT_OF("1", cat, name, ts, dur, "\"device\":1" args)

TEST(kineto_copies_have_directions)
{
	reads_as(
		KINETO(GPU_1("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "1", "2", ",\"stream\":7,\"correlation\":5,\"bytes\":4096") "," GPU_1(
			"gpu_memcpy", "Memcpy PtoP (Device -> Device)", "2", "2",
			",\"fromDevice\":1,\"toDevice\":3,\"bytes\":8") "," GPU_1("gpu_memset",
										  "Memset (Device)",
										  "3", "0.5",
										  "") "," GPU_1("gpu_memcpy",
												"CopyDeviceToHost",
												"4",
												"1",
												"")),
		RK_MEMCPY,
		"direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=1000|duration_ns=2000|bytes=4096|"
		"dst_device=1|stream_id=7|correlation_id=5\n"
		"direction=MEMORY_COPY_PEER_TO_PEER|start_ns=2000|duration_ns=2000|bytes=8|"
		"src_device=1|dst_device=3|stream_id=26\n"
		"direction=Memset (Device)|start_ns=3000|duration_ns=500|dst_device=1|stream_id=26\n"
		"direction=CopyDeviceToHost|start_ns=4000|duration_ns=1000|stream_id=26\n",
		"");
}

TEST(kineto_runtime_calls_are_api)
{
	reads_as(KINETO(EVENT("cuda_runtime", "hipLaunchKernel", "1", "2",
			      "\"cid\":48,\"correlation\":5") "," EVENT("cuda_driver",
									"cuLaunchKernel", "3", "2",
									"\"cbid\":307")),
		 RK_API,
		 "domain=cuda_runtime|function=hipLaunchKernel|start_ns=1000|duration_ns=2000|"
		 "correlation_id=5|pid=25|tid=26\n"
		 "domain=cuda_driver|function=cuLaunchKernel|start_ns=3000|duration_ns=2000|"
		 "pid=25|tid=26\n",
		 "");
}

TEST(kineto_annotations_are_markers)
{
	reads_as("{\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3},\"traceEvents\":[" EVENT(
			 "user_annotation", "ProfilerStep#6", "1", "2",
			 "") "," EVENT("gpu_user_annotation", "ProfilerStep#6", "2", "2", "") "]}",
		 RK_MARKERS,
		 "name=ProfilerStep#6|kind=range|start_ns=1000|duration_ns=2000|pid=25|tid=26|"
		 "rank=3\n"
		 "name=ProfilerStep#6|kind=gpu_range|start_ns=2000|duration_ns=2000|pid=25|"
		 "rank=3\n",
		 "");
}

TEST(kineto_devices_are_agents)
{
	reads_as(KINETO(KERNEL), RK_AGENTS,
		 "device_id=0|type=GPU|name=AMD Instinct MI300X|product=AMD Instinct MI300X|"
		 "cu_count=304|wave_size=64|memory_bytes=206141652992\n",
		 "");
}

TEST(kineto_tables_found_empty_are_not_read_again)
{
	const struct rk_batch *b;
	struct rk_source *s = NULL;
	struct rk_reader *r = NULL;
	struct world w;

	world_open(&w, 1);
	CHECK(rk_reader_open(world_text(&w, "x.json", KINETO(KERNEL)), &w.ctx, &r, &w.err) == 0);
	CHECK(r->ops->scan(r, RK_KERNELS, RK_WANT_ALL, &s, &w.err) == 0);
	CHECK_STR(world_drain(&w, s), KERNEL_ROW);
	CHECK(r->ops->scan(r, RK_API, RK_WANT_ALL, &s, &w.err) == 0);
	CHECK(rk_source_next(s, &b, &w.err) == 0);
	CHECK_U64(rk_json_offset(((struct chrome_scan *)s)->rows.json), 0);
	rk_source_close(s);
	CHECK(r->ops->scan(r, RK_AGENTS, RK_WANT_ALL, &s, &w.err) == 0);
	CHECK(strlen(world_drain(&w, s)) > 0);
	rk_reader_close(r);
	world_close(&w);
}

TEST(kineto_that_is_cut_gives_the_rows_before)
{
	reads_as("{\"traceEvents\":[" KERNEL ",{\"ph\":\"X\",\"cat\":\"ker", RK_KERNELS, KERNEL_ROW,
		 "truncated-json:1 ");
}

TEST(kineto_that_is_broken_names_the_byte)
{
	struct world w;

	world_open(&w, 1);
	CHECK(world_read(&w, "x.json", "{\"traceEvents\":[{\"ph\":\"X\"} 5]}", RK_KERNELS) == NULL);
	CHECK_I64(w.err.code, RK_E_FORMAT);
	CHECK_U64(w.err.offset, 27);
	world_close(&w);
}

TEST(kineto_second_document_is_a_warning)
{
	reads_as("[" KERNEL "] [" KERNEL "]", RK_KERNELS, KERNEL_ROW, "second-document:1 ");
}

TEST(kineto_names_of_two_mebibytes_are_cut)
{
	size_t len = (size_t)2 << 20;
	struct rk_bytes text;
	struct world w;
	const char *got;

	world_open(&w, 1);
	rk_bytes_init(&text, len + 200);
	rk_bytes_puts(&text, "[{\"ph\":\"X\",\"ts\":1,\"cat\":\"kernel\",\"name\":\"");
	for (size_t i = 0; i < len; i++)
		rk_bytes_put_u8(&text, 'n');
	rk_bytes_puts(&text, "\",\"dur\":1}]");
	world_file(&w, "x.json", text.data, text.len);
	got = world_dump(&w, w.path, RK_KERNELS, RK_WANT_ALL);
	CHECK(got && strlen(got) > 1 << 20 && strlen(got) < (1 << 20) + 200);
	CHECK_U64(world_warned(&w, "long-string"), 1);
	rk_bytes_release(&text);
	world_close(&w);
}

/* ---- rocprof v1 ---- */

#define V1(events)                                                                                             \
	"{ \"traceEvents\":[{}\n"                                                                              \
	",{\"args\":{\"name\":\"Markers and Ranges\"},\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\"}\n"     \
	",{\"args\":{\"name\":\"COPY\"},\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\"}\n"                   \
	",{\"args\":{\"name\":\"CPU HIP API\"},\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\"}\n"            \
	",{\"args\":{\"name\":\"CPU HSA API\"},\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\"}\n"            \
	",{\"args\":{\"name\":\"GPU1\"},\"ph\":\"M\",\"pid\":7,\"name\":\"process_name\"}\n"                   \
	",{\"args\":{\"name\":\"GPU Barriers1\"},\"ph\":\"M\",\"pid\":519,\"name\":\"process_name\"}\n" events \
	"],\n\"otherData\":{\"CMD\":\"x\"}}\n"
#define V1_EVENT(pid, name, args)                                                                   \
	",{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":9,\"ts\":\"894000395123\","   \
	"\"dur\":\"30\",\n\"args\":{\"BeginNs\":\"894000395123160\",\"EndNs\":\"894000395153161\"," \
	"\"pid\":\"57\",\"tid\":\"58\"" args "}}\n"

TEST(v1_json_kernels_and_barriers)
{
	reads_as(
		V1(V1_EVENT("7", "k(int) [clone .kd]",
			    ",\"gpu-id\":\"8\",\"queue-id\":\"0\",\"grd\":\"4294967040\","
			    "\"wgr\":\"256\",\"lds\":\"512\",\"scr\":\"0\",\"arch_vgpr\":\"16\","
			    "\"accum_vgpr\":\"4\",\"sgpr\":\"32\",\"wave_size\":\"64\"")
			   V1_EVENT(
				   "519", "<barrier packet>",
				   ",\"vgpr\":\"1\"") ",{\"ph\":\"s\",\"name\":\"dep\",\"pid\":7,\"tid\":1,\"ts\":\"1\"}\n"),
		RK_KERNELS,
		"kernel_name=k(int) [clone .kd]|start_ns=894000395123160|duration_ns=30001|"
		"grid_x=16777215|grid_y=1|grid_z=1|block_x=256|block_y=1|block_z=1|regs=20|"
		"shared_mem=512|stream_id=0|device_id=8|queue_id=0|pid=57|tid=58|vgpr=16|"
		"accum_vgpr=4|sgpr=32|scratch_bytes=0|wave_size=64|grid_items_y=1|grid_items_z=1|"
		"barrier=0|source=rocprof-v1-json|clock=monotonic\n"
		"kernel_name=<barrier packet>|start_ns=894000395123160|duration_ns=30001|regs=1|"
		"device_id=1|pid=57|tid=58|vgpr=1|barrier=1|source=rocprof-v1-json|"
		"clock=monotonic\n",
		"number-out-of-range:1 ");
}

TEST(v1_json_calls_copies_and_markers)
{
	static const char text[] =
		V1(V1_EVENT("2", "hipMalloc", ",\"Index\":\"3\"") V1_EVENT("3", "hsa_init", "")
			   V1_EVENT("0", "step", "")
				   V1_EVENT("1", "CopyHostToDevice", ",\"proc-id\":\"60\""));

	reads_as(text, RK_API,
		 "domain=HIP_API|function=hipMalloc|start_ns=894000395123160|duration_ns=30001|"
		 "correlation_id=3|pid=57|tid=58\n"
		 "domain=HSA_API|function=hsa_init|start_ns=894000395123160|duration_ns=30001|"
		 "pid=57|tid=58\n",
		 "");
	reads_as(text, RK_MARKERS,
		 "name=step|kind=range|start_ns=894000395123160|duration_ns=30001|pid=57|tid=58\n",
		 "");
	reads_as(text, RK_MEMCPY,
		 "direction=CopyHostToDevice|start_ns=894000395123160|duration_ns=30001|pid=60|"
		 "tid=58\n",
		 "");
}

TEST(v1_json_offers_only_tables_with_rows)
{
	struct rk_reader *r = NULL;
	struct world w;

	world_open(&w, 1);
	CHECK(rk_reader_open(world_text(&w, "results.json", V1(V1_EVENT("2", "hipMalloc", ""))),
			     &w.ctx, &r, &w.err) == 0);
	CHECK_U64(r->tables, RK_TABLE_BIT(RK_API));
	CHECK_STR(r->ops->name, "rocprof-v1-json");
	rk_reader_close(r);
	world_close(&w);
}

TEST(v1_json_that_begins_with_a_comma_is_named)
{
	struct world w;

	world_open(&w, 1);
	CHECK(world_read(&w, "results.json",
			 ",{\"args\":{\"name\":\"COPY\"},\"ph\":\"M\",\"pid\":1}\n",
			 RK_KERNELS) == NULL);
	CHECK_I64(w.err.code, RK_E_FORMAT);
	CHECK(strstr(w.err.message, "begins with a comma") != NULL);
	CHECK_U64(w.err.line, 1);
	world_close(&w);
}

TEST(chrome_json_survives_every_failed_allocation)
{
	static const char *const texts[] = { KINETO(OP("31") "," KERNEL),
					     V1(V1_EVENT("7", "k", "")) };
	struct world w;

	world_open(&w, 1);
	for (size_t i = 0; i < 2; i++) {
		bool done = false;
		char path[sizeof(w.path)];

		memcpy(path, world_text(&w, "x.json", texts[i]), sizeof(path));
		for (uint64_t n = 1; !done && n < 2000; n++) {
			const char *got;

			rk_alloc_fail_after(n);
			got = world_dump(&w, path, RK_KERNELS, RK_WANT_ALL);
			done = !rk_alloc_failed();
			rk_alloc_fail_after(0);
			CHECK(got != NULL || w.err.code == RK_E_NOMEM || w.text.bad);
		}
		CHECK(done);
	}
	world_close(&w);
}
