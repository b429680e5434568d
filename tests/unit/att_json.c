/* att_json.c (test) - code.json of a thread trace. */
#include <string.h>

#include "every_alloc.h"

#define HEADER \
	"\"header\":\"ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle\""

static void reads_as(const char *text, const char *rows, const char *warnings)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(world_read(&w, "code.json", text, RK_INSTRUCTIONS), rows);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

TEST(instructions_of_a_thread_trace_without_its_statistics)
{
	reads_as("{\"code\":[[\"; add(float*)\",0,1,\"\",1,6400,0,0,0,0],"
		 "[\"s_load_dwordx2 s[0:1], s[2:3], 0x0\",0,2,\"/src/a.hip:12\",1,6404,64,12000,"
		 "900,20],[\"s_endpgm\",0,3,\"\",1,6412,64,256,0,0]]," HEADER
		 ",\"version\":\"3.0.0\"}",
		 "code_object=1|vaddr=6404|instruction=s_load_dwordx2 s[0:1], s[2:3], 0x0|"
		 "hits=64|latency=12000|stall=900|idle=20|"
		 "source_line=/src/a.hip:12\n"
		 "code_object=1|vaddr=6412|instruction=s_endpgm|hits=64|latency=256|"
		 "stall=0|idle=0|source_line=\n",
		 "");
}

TEST(columns_of_a_thread_trace_are_found_by_their_names)
{
	reads_as("{\"code\":[[5,\"s_nop\",1,\"f:1\",2,64,9,8,7]],"
		 "\"header\":\"Hit,ISA,_,Source,Codeobj,Vaddr,Latency,Stall,Idle\"}",
		 "code_object=2|vaddr=64|instruction=s_nop|hits=5|latency=9|"
		 "stall=8|idle=7|source_line=f:1\n",
		 "");
	/* without a header the order is the usual one */
	reads_as("{\"code\":[[\"s_nop\",0,1,\"\",2,64,5,9,8,7]]}",
		 "code_object=2|vaddr=64|instruction=s_nop|hits=5|latency=9|"
		 "stall=8|idle=7|source_line=\n",
		 "");
}

TEST(odd_rows_of_a_thread_trace_are_left_out_or_have_empty_cells)
{
	reads_as("{\"code\":[[],[1,2],7,\"x\",{\"a\":[1]},[\"a\",[1,2],{},null,\"b\",1.5,"
		 "99999999999999999999,4],[\"b\"]]," HEADER "}",
		 "instruction=a|latency=4\ninstruction=b\n", "bad-number:2 number-out-of-range:1 ");
	reads_as("{\"code\":{\"a\":1}," HEADER "}", "", "");
	reads_as("{\"code\":[[\"a\",0,0,\"\",1,2,3,4,5,6],[\"b\"",
		 "code_object=1|vaddr=2|instruction=a|hits=3|latency=4|stall=5|"
		 "idle=6|source_line=\n",
		 "truncated-json:1 ");
}

TEST(a_thread_trace_without_a_needed_column_is_refused)
{
	struct world w;

	world_open(&w, 1);
	CHECK(!world_read(&w, "code.json",
			  "{\"code\":[[\"a\"]],\"header\":\"ISA, LineNumber, Source, Codeobj\"}",
			  RK_INSTRUCTIONS));
	CHECK_I64(w.err.code, RK_E_FORMAT);
	CHECK(strstr(w.err.message, "lacks columns"));
	/* other documents with a member of this name */
	CHECK(!world_read(&w, "other.json", "{\"status\":\"ok\",\"code\":200}", RK_INSTRUCTIONS));
	CHECK_I64(w.err.code, RK_E_UNSUPPORTED);
	world_close(&w);
}

TEST(every_allocation_that_a_thread_trace_needs_may_fail)
{
	static const char text[] = "{\"code\":[[\"a\",0,0,\"\",1,2,3,4,5,6]]," HEADER "}";
	struct world w;

	world_open(&w, 1);
	every_alloc_may_fail(world_file(&w, "code.json", text, sizeof(text) - 1), 1);
	world_close(&w);
}
