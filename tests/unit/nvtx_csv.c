/* nvtx_csv.c (test) - NVTX push/pop traces as CSV. */
#include "every_alloc.h"

#define HEADER                                                                           \
	"Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID," \
	"Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree\n"

TEST(nvtx_ranges_are_markers)
{
	struct world w;

	world_open(&w, 2);
	CHECK_STR(world_read(&w, "t.csv",
			     HEADER "10,40,30,20,10,main,7,8,0,1,1,,:1,main\n"
				    "15,35,20,0,20,\"f(a, b)\",7,8,1,0,2,1,:1:2,\"--f(a, b)\"\n"
				    ",35,,0,20,x,7,8,1,0,2,1,:1:2,--x\n",
			     RK_MARKERS),
		  "name=main|kind=range|start_ns=10|duration_ns=30|pid=7|tid=8\n"
		  "name=f(a, b)|kind=range|start_ns=15|duration_ns=20|pid=7|tid=8\n"
		  "name=x|kind=range|pid=7|tid=8\n");
	world_close(&w);
}

TEST(nvtx_rows_that_are_short_or_cut_are_counted)
{
	struct world w;

	world_open(&w, 2);
	CHECK_STR(world_read(&w, "t.csv",
			     HEADER "10,40\n10,40,30,20,10,main,7,8,0,1,1,,:1,main\n15,3",
			     RK_MARKERS),
		  "name=main|kind=range|start_ns=10|duration_ns=30|pid=7|tid=8\n");
	CHECK_U64(world_warned(&w, "short-row") + world_warned(&w, "cut-row"), 2);
	world_close(&w);
}

TEST(nvtx_header_alone_gives_no_rows)
{
	struct world w;

	world_open(&w, 2);
	CHECK_STR(world_read(&w, "t.csv", HEADER, RK_MARKERS), "");
	world_close(&w);
}

TEST(nvtx_survives_every_failed_allocation)
{
	struct world w;

	world_open(&w, 1);
	world_text(&w, "t.csv", HEADER "10,40,30,20,10,main,7,8,0,1,1,,:1,main\n");
	every_alloc_may_fail(w.path, 1);
	world_close(&w);
}
