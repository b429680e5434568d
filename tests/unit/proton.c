/* proton.c (test) - trees and traces of Triton's Proton. */
#include <stdio.h>
#include <string.h>

#include "every_alloc.h"

#define LEAF(name, metrics)                            \
	"{\"children\":[],\"frame\":{\"name\":\"" name \
	"\",\"type\":\"function\"},\"metrics\":{" metrics "}}"

static const char tree[] =
	"[{\"children\":["
	"{\"frame\":{\"name\":\"scope\"},\"metrics\":{\"cpu_time (ns)\":12},\"children\":[" LEAF("_Z3addv", "\"count\":4,\"device_id\":\"0\",\"time (ns)\":100,\"flops8\":1e11") "," LEAF(
		"mul",
		"\"time (ns)\":2.5e3,\"count\":2.0") "]}," LEAF("mul",
								"\"count\":1,\"time (ns)\":7") "," LEAF("never",
													"\"count\":0,\"time (ns)\":0") "],"
																       "\"frame\":{\"name\":\"ROOT\"},\"metrics\":{\"count\":0,\"time (ns)\":0}},"
																       "{\"HIP\":{\"0\":{\"arch\":\"gfx942\",\"bus_width\":8192,\"clock_rate\":2100000,"
																       "\"memory_clock_rate\":1300000,\"num_sms\":304},\"x\":{\"arch\":\"90\"}}}]\n";

static void reads_as(const char *text, enum rk_table t, const char *rows, const char *warnings)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_read(&w, "a.hatchet", text, t);
	CHECK_STR(got ? got : w.err.message, rows);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

TEST(proton_tree_gives_the_times_of_its_nodes)
{
	reads_as(tree, RK_STATS,
		 "of=kernel|name=_Z3addv|calls=4|total_ns=100|mean_ns=25\n"
		 "of=kernel|name=mul|calls=2|total_ns=2500|mean_ns=1250\n"
		 "of=kernel|name=mul|calls=1|total_ns=7|mean_ns=7\n",
		 "");
	reads_as(tree, RK_AGENTS,
		 "device_id=0|type=GPU|gfx=gfx942|cu_count=304|max_sclk_mhz=2100|"
		 "max_mclk_mhz=1300\n"
		 "type=GPU\n",
		 "");
}

TEST(proton_tree_may_have_odd_values)
{
	static const struct {
		const char *text, *rows, *warnings;
	} cases[] = {
		{ "[" LEAF("a", "\"cycles\":5,\"count\":1") ",{}]", "", "no-time:1 " },
		{ "[" LEAF("a", "\"time (ns)\":\"soon\",\"count\":1") "]", "", "bad-number:1 " },
		{ "[" LEAF("a", "\"time (ns)\":5,\"count\":\"many\"") "]",
		  "of=kernel|name=a|total_ns=5\n", "bad-number:1 " },
		{ "[" LEAF("a", "\"time (ns)\":1e30,\"count\":1") "]",
		  "of=kernel|name=a|calls=1|mean_ns=1e+30\n", "number-out-of-range:1 " },
		{ "[" LEAF("a", "\"time (ns)\":-5,\"count\":1") "]", "of=kernel|name=a|calls=1\n",
		  "number-out-of-range:1 " },
		{ "[{\"children\":7,\"frame\":3,\"metrics\":{\"time (ns)\":5}}]",
		  "of=kernel|total_ns=5\n", "" },
		{ "[{\"children\":[[1],3,\"x\"," LEAF(
			  "b", "\"time (ns)\":5") "],\"frame\":{},\"metrics\":[]}]",
		  "of=kernel|name=b|total_ns=5\n", "" },
		{ "[" LEAF("a", "\"time (ns)\":5") ",{\"HIP\":[1],\"CUDA\":{\"0\":3}},{\"x\":1}]",
		  "of=kernel|name=a|total_ns=5\n", "" },
		{ "[" LEAF("a", "\"time (ns)\":5") "", "of=kernel|name=a|total_ns=5\n",
		  "truncated-json:1 " },
		{ "[" LEAF("a", "\"time (ns)\":5") "] []", "of=kernel|name=a|total_ns=5\n",
		  "second-document:1 " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		reads_as(cases[i].text, RK_STATS, cases[i].rows, cases[i].warnings);
}

/* A chain of `n` nodes; the innermost one has a time. */
static void chain(struct rk_bytes *b, unsigned n)
{
	rk_bytes_init(b, 1 << 20);
	rk_bytes_puts(b, "[");
	for (unsigned i = 0; i < n; i++)
		rk_bytes_puts(b, "{\"metrics\":{},\"frame\":{\"name\":\"f\"},\"children\":[");
	rk_bytes_puts(b, LEAF("deep", "\"time (ns)\":5"));
	for (unsigned i = 0; i < n; i++)
		rk_bytes_puts(b, "]}");
	rk_bytes_puts(b, "]");
}

TEST(proton_tree_has_a_limit_on_its_depth)
{
	struct rk_bytes b;
	struct world w;

	chain(&b, 250);
	reads_as(rk_bytes_str(&b), RK_STATS, "of=kernel|name=deep|total_ns=5\n", "");
	rk_bytes_release(&b);
	chain(&b, 300);
	world_open(&w, 1);
	CHECK(world_read(&w, "a.hatchet", rk_bytes_str(&b), RK_STATS) == NULL);
	CHECK_I64(w.err.code, RK_E_LIMIT);
	world_close(&w);
	rk_bytes_release(&b);
}

#define EVENT(cat, name, tid, ts, dur)                                                        \
	"{\"args\":{\"call_stack\":[\"ROOT\",\"" name "\"]},\"cat\":\"" cat "\",\"dur\":" dur \
	",\"name\":\"" name "\",\"ph\":\"X\",\"pid\":0,\"tid\":" tid ",\"ts\":" ts "}"

static const char trace[] =
	"{\"displayTimeUnit\":\"us\",\"traceEvents\":["
	"{\"args\":{\"name\":\"GPU Stream 3\"},\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":200003}," EVENT(
		"scope", "step", "77", "0.0",
		"90.5") "," EVENT("scope", "replay", "100003", "1.0",
				  "2.0") "," EVENT("metric", "gemm: <flops, 8>", "77", "5.0",
						   "1.0") ","
							  "{\"cat\":\"flow\",\"ph\":\"s\",\"id\":1,\"name\":\"launch->kernel\",\"pid\":0,\"tid\":77,\"ts\":0}," EVENT(
								  "kernel", "matmul", "200003",
								  "12.345", "6.001") "]}\n";

TEST(proton_trace_gives_kernels_and_scopes)
{
	reads_as(trace, RK_KERNELS,
		 "kernel_name=matmul|start_ns=12345|duration_ns=6001|stream_id=3|"
		 "source=proton-trace|clock=unknown\n",
		 "");
	reads_as(trace, RK_MARKERS,
		 "name=step|kind=range|start_ns=0|duration_ns=90500|tid=77\n"
		 "name=replay|kind=gpu_range|start_ns=1000|duration_ns=2000\n"
		 "name=gemm: <flops, 8>|kind=range|start_ns=5000|duration_ns=1000|tid=77\n",
		 "");
}

TEST(proton_trace_may_have_a_document_for_each_stream)
{
	static const char text[] = "{\"displayTimeUnit\":\"us\",\"traceEvents\":[" EVENT(
		"kernel", "a", "0", "1", "2") "]}\n"
					      "{\"displayTimeUnit\":\"us\",\"traceEvents\":[" EVENT(
						      "kernel", "b", "7", "1", "2") "]}\n";

	reads_as(text, RK_KERNELS,
		 "kernel_name=a|start_ns=1000|duration_ns=2000|stream_id=0|source=proton-trace|"
		 "clock=unknown\n"
		 "kernel_name=b|start_ns=1000|duration_ns=2000|stream_id=7|source=proton-trace|"
		 "clock=unknown\n",
		 "");
}

TEST(proton_trace_with_junk_behind_it_is_read)
{
	reads_as("{\"displayTimeUnit\":\"us\",\"traceEvents\":[" EVENT("kernel", "a", "0", "1",
								       "2") "]}\n}",
		 RK_KERNELS,
		 "kernel_name=a|start_ns=1000|duration_ns=2000|stream_id=0|source=proton-trace|"
		 "clock=unknown\n",
		 "second-document:1 ");
}

TEST(proton_files_and_other_json_are_not_confused)
{
	static const char *const others[] = {
		"[1,2]",
		"[{\"ph\":\"X\",\"ts\":1,\"children\":2}]",
		("{\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":5,\"traceEvents\":[{\"ph\":\"X\","
		 "\"ts\":1,\"args\":{\"call_stack\":[]}}]}"),
		"{\"displayTimeUnit\":\"us\",\"traceEvents\":[]}",
		"{\"children\":[]}",
		"[",
		"",
	};
	const struct rk_reader_ops *ops = rk_reader_by_name("proton-tree"),
				   *chrome = rk_reader_by_name("proton-trace");

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		CHECK_I64(rk_reader_probe(ops, others[i], strlen(others[i]), true), 0);
		CHECK_I64(rk_reader_probe(chrome, others[i], strlen(others[i]), true), 0);
	}
	CHECK_I64(rk_reader_probe(ops, tree, strlen(tree), true), 93);
	CHECK_I64(rk_reader_probe(chrome, trace, strlen(trace), true), 94);
}

TEST(proton_survives_every_failed_allocation)
{
	struct world w;

	world_open(&w, 1);
	every_alloc_may_fail(world_text(&w, "a.hatchet", tree), 3 + 2);
	every_alloc_may_fail(world_text(&w, "a.json", trace), 1 + 3);
	world_close(&w);
}
