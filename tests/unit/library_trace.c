/* library_trace.c - logs of rocBLAS, hipBLASLt, MIOpen and RCCL: switched on, read, counted. */
#include "session/library_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tap.h"

enum { ALL = (1 << RK_NLIBRARIES) - 1 };

/* The call of a line as "library|function|config|calls", "" when it is none. */
static const char *call_of(const char *line, size_t len)
{
	static char text[4096];
	struct rk_library_call call;
	struct rk_bytes config;

	text[0] = '\0';
	rk_bytes_init(&config, 1 << 20);
	if (rk_library_line(line, len, &call, &config))
		snprintf(text, sizeof(text), "%s%s|%s|%s|%llu", rk_library_name(call.library),
			 call.summary ? "*" : "", call.function,
			 rk_bytes_str(&config) ? rk_bytes_str(&config) : "bad",
			 (unsigned long long)call.calls);
	rk_bytes_release(&config);
	return text;
}

TEST(a_line_of_each_library_is_a_call)
{
	static const char *const lines[][2] = {
		{ "./rocblas-bench -f gemm_ex --transposeA N  -m 64\t-n 8 --alpha 1",
		  "rocblas|gemm_ex|--transposeA N -m 64 -n 8 --alpha 1|1" },
		{ "[1,0]<stderr>:./rocblas-bench -f axpy -r f32_r -n 5",
		  "rocblas|axpy|-r f32_r -n 5|1" },
		{ "- { rocblas_function: \"rocblas_gemm_ex\", atomics_mode: atomics_allowed, a_type: "
		  "\"bf16_r\", transA: 'T', M: 12288, alpha: 1.0, call_count: 136 }",
		  "rocblas*|gemm_ex|atomics_mode=atomics_allowed a_type=bf16_r transA=T M=12288 "
		  "alpha=1.0|136" },
		{ "hipblaslt-bench --api_method c -m 1024 -n 512  --alpha 1.000000",
		  "hipblaslt|matmul|--api_method c -m 1024 -n 512 --alpha 1.000000|1" },
		{ "/opt/rocm/bin/hipblaslt-bench --function matmul -m 3",
		  "hipblaslt|matmul|-m 3|1" },
		{ "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 128 -c 3",
		  "miopen|conv|-n 128 -c 3|1" },
		{ "MIOpen: Command [LogCmdFindConvolution] ./bin/MIOpenDriver convfp16 -n 2",
		  "miopen|find:convfp16|-n 2|1" },
		{ "n7:177794:177794 [7] NCCL INFO AllReduce: opCount 0 sendbuff 0x7fb201e00400 recvbuff "
		  "0x7fb201e00400 count 1024 datatype 7 op 0 root 0 comm 0x558f79e65f00 [nranks=16] "
		  "stream 0x558f83fe3ca0 task 0 globalrank 170",
		  "rccl|AllReduce|count=1024 datatype=7 op=0 nranks=16|1" },
		{ "Send: opCount 1f sendbuff 0x1 count 8 datatype 2 peer 3 comm 9 [nranks=2, "
		  "localRanks=2] stream=0x1",
		  "rccl|Send|count=8 datatype=2 peer=3 nranks=2|1" },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CHECK_STR(call_of(lines[i][0], strlen(lines[i][0])), lines[i][1]);
}

TEST(lines_that_are_not_calls_are_skipped)
{
	static const char *const lines[] = {
		"",
		" ",
		"rocblas-bench",
		"rocblas-bench ",
		"./rocblas-bench -m 4",
		"myrocblas-bench -f x",
		"rocblas-benchmark -f x",
		"- { rocblas_function: \"rocblas_sgemm\", M: 4 }",
		"- { rocblas_function: \"rocblas_sgemm\", call_count: -3 }",
		"- { rocblas_function: \"rocblas_sgemm\", call_count: 0 }",
		"- { rocblas_function: , call_count: 3 }",
		"- { rocblas_function: \"rocblas_sgemm\", call_count: 3",
		"./bin/MIOpenDriver conv -n 1",
		"MIOpen(HIP): Command [LogCmd ./bin/MIOpenDriver conv",
		"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver ",
		"NCCL INFO Init timings - ncclCommInitRank: rank 5 nranks 16",
		": opCount 0 sendbuff",
		" : opCount 0 count 4",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CHECK_STR(call_of(lines[i], strlen(lines[i])), "");
}

TEST(bytes_nobody_wrote_as_text_do_no_harm)
{
	static const char nul[] = "./rocblas-bench -f ge\0mm -m\x01 4 \xff\xfe";
	static const char cut[] = "x: opCount 0 count";
	char longest[3000];

	CHECK_STR(call_of(nul, sizeof(nul) - 1), "rocblas|ge|mm -m 4 \xef\xbf\xbd\xef\xbf\xbd|1");
	CHECK_STR(call_of(cut, sizeof(cut) - 1), "rccl|x||1");
	CHECK_STR(call_of("\xff: opCount 0 count 3", 20), "");
	snprintf(longest, sizeof(longest), "hipblaslt-bench -f %02000d -m", 7);
	CHECK(strlen(call_of(longest, strlen(longest))) < 200);
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "hipblaslt-bench ", 16);
	CHECK_U64(strlen(call_of(longest, sizeof(longest))),
		  strlen("hipblaslt|matmul||1") + RK_LIBRARY_CONFIG_MAX);
	CHECK(strstr(call_of(longest, sizeof(longest)), "xxx...|1"));
}

TEST(libraries_are_parsed_by_name)
{
	struct rk_error err = { 0 };
	unsigned bits = 0;

	CHECK(rk_library_parse("rocblas,rccl", &bits, &err) == 0);
	CHECK_U64(bits, 1 << RK_LIBRARY_ROCBLAS | 1 << RK_LIBRARY_RCCL);
	CHECK(rk_library_parse(" ,", &bits, &err) == RK_E_USAGE);
	CHECK_STR(err.message, "no library is named; known: rocblas, hipblaslt, miopen, rccl");
	err = (struct rk_error){ 0 };
	CHECK(rk_library_parse("miopn", &bits, &err) == RK_E_USAGE);
	CHECK_STR(err.message, "unknown library 'miopn'; did you mean 'miopen'?");
	err = (struct rk_error){ 0 };
	CHECK(rk_library_parse("cublas_and_more", &bits, &err) == RK_E_USAGE);
	CHECK_STR(err.message, "unknown library 'cublas_and_more'; known: rocblas, hipblaslt, "
			       "miopen, rccl");
	err = (struct rk_error){ 0 };
	CHECK(rk_library_parse("rocblas,tensile", &bits, &err) == RK_E_USAGE);
	CHECK(strstr(err.message, "'tensile'; it does not log its calls"));
	CHECK(!rk_library_name(RK_NLIBRARIES));
}

TEST(each_library_logs_into_files_of_the_run)
{
	struct rk_list env = { 0 }, notes = { 0 };
	struct rk_error err = { 0 };

	CHECK(rk_library_env(ALL, "/run/libs", NULL, &env, &notes, &err) == 0);
	CHECK_STR(rk_list_value(&env, "ROCBLAS_LAYER"), "6");
	CHECK_STR(rk_list_value(&env, "ROCBLAS_LOG_BENCH_PATH"), "/run/libs/rocblas-bench.log");
	CHECK_STR(rk_list_value(&env, "HIPBLASLT_LOG_MASK"), "32");
	CHECK_STR(rk_list_value(&env, "HIPBLASLT_LOG_FILE"), "/run/libs/hipblaslt-%i.log");
	CHECK_STR(rk_list_value(&env, "MIOPEN_ENABLE_LOGGING_CMD"), "1");
	CHECK_STR(rk_list_value(&env, "NCCL_DEBUG"), "INFO");
	CHECK_STR(rk_list_value(&env, "NCCL_DEBUG_SUBSYS"), "INIT,COLL");
	CHECK_STR(rk_list_value(&env, "NCCL_DEBUG_FILE"), "/run/libs/rccl-%h-%p.log");
	CHECK_U64(env.n, 9);
	CHECK_U64(notes.n, 2);
	rk_list_release(&env);
	rk_list_release(&notes);
	CHECK(rk_library_env(1 << RK_LIBRARY_RCCL, "/d", NULL, &env, &notes, &err) == 0);
	CHECK_U64(env.n, 3);
	CHECK_U64(notes.n, 0);
	rk_list_release(&env);
	CHECK_STR(rk_library_stderr_copy(ALL), "miopen-stderr.log");
	CHECK(!rk_library_stderr_copy(1 << RK_LIBRARY_RCCL));
}

TEST(what_the_user_has_set_is_left_and_named)
{
	char *inherited[] = { (char *)"NCCL_DEBUG=INFO", (char *)"NCCL_DEBUG_FILE=/x",
			      (char *)"HIPBLASLT_LOG_LEVEL=2", (char *)"NCCL_DEBUG_SUBSYS=ALL",
			      NULL };
	struct rk_list env = { 0 }, notes = { 0 };
	struct rk_error err = { 0 };

	CHECK(rk_library_env(1 << RK_LIBRARY_RCCL | 1 << RK_LIBRARY_HIPBLASLT, "/d", inherited,
			     &env, &notes, &err) == 0);
	CHECK(!rk_list_value(&env, "NCCL_DEBUG_FILE") && !rk_list_value(&env, "NCCL_DEBUG_SUBSYS"));
	CHECK_STR(rk_list_value(&env, "NCCL_DEBUG"), "INFO");
	CHECK_U64(notes.n, 3);
	CHECK_STR(
		notes.v[0],
		"NCCL_DEBUG_SUBSYS is already set and keeps its value: calls of rccl may be missing");
	CHECK(strstr(notes.v[2], "HIPBLASLT_LOG_LEVEL is set"));
	rk_list_release(&env);
	rk_list_release(&notes);
}

TEST(variables_of_a_preset_are_left_and_a_percent_sign_is_not_a_folder)
{
	struct rk_list env = { 0 }, notes = { 0 };
	struct rk_error err = { 0 };

	rk_list_add(&env, "NCCL_DEBUG=TRACE");
	CHECK(rk_library_env(1 << RK_LIBRARY_RCCL, "/100%", NULL, &env, &notes, &err) == 0);
	CHECK_U64(env.n, 2);
	CHECK_STR(rk_list_value(&env, "NCCL_DEBUG"), "TRACE");
	CHECK_U64(notes.n, 2);
	CHECK_STR(notes.v[1],
		  "no log of rccl: it does not accept '%' in the name of the directory");
	rk_list_release(&env);
	rk_list_release(&notes);
}

/* A folder of logs, and library_trace.csv beside it. */
struct run {
	char top[64], dir[80], csv[96];
	char text[8192]; /* the csv */
};

static void run_make(struct run *r)
{
	snprintf(r->top, sizeof(r->top), "/tmp/rockit-library-XXXXXX");
	CHECK(mkdtemp(r->top) != NULL);
	snprintf(r->dir, sizeof(r->dir), "%s/logs", r->top);
	snprintf(r->csv, sizeof(r->csv), "%s/library_trace.csv", r->top);
	CHECK(mkdir(r->dir, 0700) == 0);
}

static void run_log(const struct run *r, const char *name, const char *text, size_t len)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	f = fopen(path, "w");
	CHECK(f != NULL);
	if (!f)
		return;
	CHECK(fwrite(text, 1, len, f) == len);
	fclose(f);
}

static void run_drop(const struct run *r)
{
	static const char *const names[] = { "rocblas-bench.log", "rocblas-profile.log",
					     "hipblaslt-7.log",   "rccl-h-1.log",
					     "rccl-h-2.log",      "miopen-stderr.log",
					     "notes.txt" };
	char path[160];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", r->dir, names[i]);
		unlink(path);
	}
	unlink(r->csv);
	CHECK(rmdir(r->dir) == 0);
	CHECK(rmdir(r->top) == 0);
}

/* The rows, or the error; r->text is the file, "" when there is none. */
static int64_t run_collect(struct run *r, unsigned libraries)
{
	struct rk_error err = { 0 };
	uint64_t rows = 0;
	int rc = rk_library_collect(libraries, r->dir, r->csv, &rows, &err);
	FILE *f = fopen(r->csv, "r");
	size_t len = f ? fread(r->text, 1, sizeof(r->text) - 1, f) : 0;

	r->text[len] = '\0';
	if (f)
		fclose(f);
	return rc < 0 ? rc : (int64_t)rows;
}

#define LOG(r, name, text) run_log((r), (name), (text), sizeof(text) - 1)

static void run_fill(const struct run *r)
{
	LOG(r, "rocblas-bench.log",
	    "./rocblas-bench -f gemm -m 1\n./rocblas-bench -f gemm -m 1\n"
	    "./rocblas-bench -f gemm -m 2\nnoise\n./rocblas-bench -f ge");
	LOG(r, "rocblas-profile.log",
	    "- { rocblas_function: \"rocblas_sgemm\", M: 1, call_count: 2 }\n");
	LOG(r, "hipblaslt-7.log", "hipblaslt-bench -m 1 --name \"a,b\"\n");
	LOG(r, "rccl-h-1.log", "AllReduce: opCount 0 count 4 datatype 7 op 0 [nranks=2]\n");
	LOG(r, "rccl-h-2.log", "AllReduce: opCount 0 count 4 datatype 7 op 0 [nranks=2]\r\n");
	LOG(r, "miopen-stderr.log",
	    "\0\1 garbage\nMIOpen: Command [X] ./bin/MIOpenDriver conv -n 1\n");
	LOG(r, "notes.txt", "hipblaslt-bench -m 77\n");
}

TEST(calls_of_all_logs_are_counted_the_most_frequent_first)
{
	struct run r;

	run_make(&r);
	run_fill(&r);
	CHECK_I64(run_collect(&r, ALL), 5);
	CHECK_STR(r.text, "library,function,config,calls,total_ns\n"
			  "rocblas,gemm,-m 1,2,\n"
			  "rccl,AllReduce,count=4 datatype=7 op=0 nranks=2,2,\n"
			  "rocblas,gemm,-m 2,1,\n"
			  "hipblaslt,matmul,\"-m 1 --name \"\"a,b\"\"\",1,\n"
			  "miopen,conv,-n 1,1,\n");
	run_drop(&r);
}

TEST(of_two_logs_of_rocblas_the_one_with_more_calls_counts)
{
	struct run r;

	run_make(&r);
	LOG(&r, "rocblas-bench.log", "./rocblas-bench -f gemm -m 1\n");
	LOG(&r, "rocblas-profile.log",
	    "- { rocblas_function: \"rocblas_sgemm\", M: 1, call_count: 9 }\n");
	CHECK_I64(run_collect(&r, 1 << RK_LIBRARY_ROCBLAS), 1);
	CHECK_STR(r.text, "library,function,config,calls,total_ns\nrocblas,sgemm,M=1,9,\n");
	run_drop(&r);
}

TEST(without_calls_there_is_no_file)
{
	struct run r;

	run_make(&r);
	CHECK_I64(run_collect(&r, ALL), 0);
	LOG(&r, "hipblaslt-7.log", "nothing of interest\nhipblaslt-bench -m 1 without an end");
	CHECK_I64(run_collect(&r, ALL), 0);
	CHECK_STR(r.text, "");
	LOG(&r, "rccl-h-1.log", "AllReduce: opCount 0 count 4\n");
	CHECK_I64(run_collect(&r, 1 << RK_LIBRARY_ROCBLAS), 0);
	run_drop(&r);
	CHECK_I64(run_collect(&r, ALL), 0);
}

TEST(past_the_limit_new_calls_are_counted_together)
{
	struct rk_library_counts c = { .max_rows = 3 };
	struct rk_bytes config;
	struct rk_error err = { 0 };
	uint64_t calls = 0;

	rk_bytes_init(&config, 100);
	for (unsigned i = 0; i < 10; i++) {
		struct rk_library_call call = { .library = RK_LIBRARY_RCCL, .calls = 1 };

		snprintf(call.function, sizeof(call.function), "f%u", i % 6);
		CHECK(rk_library_count(&c, &call, &config, &err) == 0);
	}
	rk_library_counts_settle(&c);
	CHECK_U64(c.nrows, 4);
	for (size_t i = 0; i < c.nrows; i++)
		calls += c.rows[i].calls;
	CHECK_U64(calls, 10);
	CHECK_STR(c.rows[0].text, "(other)");
	CHECK_U64(c.rows[0].calls, 4);
	rk_library_counts_release(&c);
	rk_bytes_release(&config);
}

TEST(counts_that_do_not_fit_stay_at_the_largest)
{
	struct rk_library_call call = { .function = "f", .calls = UINT64_MAX - 1 };
	struct rk_library_counts c = { 0 };
	struct rk_bytes config;
	struct rk_error err = { 0 };

	rk_bytes_init(&config, 100);
	for (unsigned i = 0; i < 3; i++)
		CHECK(rk_library_count(&c, &call, &config, &err) == 0);
	CHECK_U64(c.nrows, 1);
	CHECK_U64(c.rows[0].calls, UINT64_MAX);
	rk_library_counts_release(&c);
	rk_bytes_release(&config);
}

TEST(thousands_of_different_calls_are_distinguished)
{
	struct rk_library_counts c = { 0 };
	struct rk_error err = { 0 };

	for (unsigned i = 0; i < 20000; i++) {
		struct rk_library_call call = { .library = i & 1, .function = "gemm", .calls = 1 };
		struct rk_bytes config;

		rk_bytes_init(&config, 100);
		rk_bytes_printf(&config, "-m %u", i % 5000);
		CHECK(rk_library_count(&c, &call, &config, &err) == 0);
		rk_bytes_release(&config);
	}
	CHECK_U64(c.nrows, 5000);
	rk_library_counts_settle(&c);
	CHECK_U64(c.rows[0].calls, 4);
	CHECK_U64(c.rows[c.nrows - 1].calls, 4);
	rk_library_counts_release(&c);
}

TEST(logs_survive_every_failed_allocation)
{
	bool failed = true;
	struct run r;

	run_make(&r);
	run_fill(&r);
	for (uint64_t n = 1; failed && n < 20000; n++) {
		struct rk_error err = { 0 };
		uint64_t rows = 0;
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_library_collect(ALL, r.dir, r.csv, &rows, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 ? rows == 5 : rc == RK_E_NOMEM && err.code == RK_E_NOMEM);
	}
	CHECK(!failed);
	run_drop(&r);
}
