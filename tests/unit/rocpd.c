/* rocpd.c (test) - what the reader makes of databases old, new, merged and odd. */
#include "read/rocpd/rocpd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "rocpd_fixture.h"
#include "tap.h"

#define GUID "_0000ddb5_8903_7903_b269_cd8d3745bb8a"

#define BIT(f) (UINT64_C(1) << (f))
#define KERNEL_BASICS (BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DURATION))

/* A database with the usual rows of process 500, closed, and opened by the reader. */
static int usual(struct fixture *f, struct rig *r)
{
	fixture_begin(f);
	fixture_schema(f, GUID);
	fixture_rows(f, GUID, 500);
	fixture_close(f);
	return rig_open(r, f->path);
}

static void finish(struct fixture *f, struct rig *r)
{
	rig_close(r);
	fixture_end(f);
}

TEST(kernels_have_every_column)
{
	struct fixture f;
	struct rig r;

	CHECK_I64(usual(&f, &r), 0);
	CHECK_STR(
		rig_dump(&r, RK_KERNELS, RK_WANT_ALL),
		"kernel_name=add(float*) start_ns=13386742234691895 duration_ns=100 grid_x=16 "
		"grid_y=4 grid_z=1 block_x=64 block_y=2 block_z=1 regs=36 shared_mem=2048 "
		"stream_id=3 device_id=4 queue_id=2 dispatch_id=1 correlation_id=10 pid=500 tid=500 "
		"node=node500 vgpr=32 accum_vgpr=4 sgpr=96 scratch_bytes=0 grid_items_x=1000 "
		"grid_items_y=7 grid_items_z=1 source=rocpd clock=boottime\n"
		"kernel_name=mul start_ns=13386742234695000 duration_ns=300 grid_x=2 grid_y=1 "
		"grid_z=1 block_x=256 block_y=1 block_z=1 regs=8 shared_mem=0 stream_id=3 "
		"device_id=4 queue_id=2 dispatch_id=2 correlation_id=20 pid=500 tid=500 "
		"node=node500 vgpr=8 accum_vgpr=0 sgpr=16 scratch_bytes=16 grid_items_x=512 "
		"grid_items_y=1 grid_items_z=1 source=rocpd clock=boottime\n");
	finish(&f, &r);
}

TEST(copies_allocations_calls_and_markers)
{
	struct fixture f;
	struct rig r;

	CHECK_I64(usual(&f, &r), 0);
	CHECK_STR(
		rig_dump(&r, RK_MEMCPY, RK_WANT_ALL),
		"direction=MEMORY_COPY_HOST_TO_DEVICE start_ns=3000 duration_ns=400 bytes=4096 src_device=0 "
		"dst_device=4 stream_id=3 correlation_id=40 pid=500 tid=500 node=node500\n");
	CHECK_STR(
		rig_dump(&r, RK_MEMALLOC, RK_WANT_ALL),
		"operation=MEMORY_ALLOCATION_ALLOCATE start_ns=500 duration_ns=100 bytes=8192 address=4096 device_id=4 "
		"pid=500 tid=500 node=node500\n"
		"operation=MEMORY_ALLOCATION_VMEM_FREE start_ns=700 duration_ns=10 bytes=0 address=4096 device_id=4 "
		"pid=500 tid=500 node=node500\n"
		"operation=SCRATCH_MEMORY_ALLOC start_ns=800 duration_ns=20 bytes=64 device_id=4 flags=3 "
		"correlation_id=50 pid=500 tid=500 node=node500\n");
	CHECK_STR(
		rig_dump(&r, RK_API, RK_WANT_ALL),
		"domain=HIP_RUNTIME_API_EXT function=hipLaunchKernel start_ns=1000 duration_ns=500 "
		"correlation_id=10 pid=500 tid=500 node=node500\n"
		"domain=HIP_RUNTIME_API_EXT function=hipLaunchKernel start_ns=2000 duration_ns=500 "
		"correlation_id=20 pid=500 tid=500 node=node500\n");
	CHECK_STR(rig_dump(&r, RK_MARKERS, RK_WANT_ALL),
		  "name=step 1 kind=range start_ns=900 duration_ns=8100 pid=500 tid=500 "
		  "node=node500\n");
	finish(&f, &r);
}

TEST(counters_are_summed_over_instances)
{
	struct fixture f;
	struct rig r;

	CHECK_I64(usual(&f, &r), 0);
	CHECK_STR(
		rig_dump(&r, RK_COUNTERS, RK_WANT_ALL),
		"dispatch_id=1 kernel_name=add(float*) counter=SQ_WAVES value=4 device_id=4 pid=500 "
		"node=node500\n"
		"dispatch_id=1 kernel_name=add(float*) counter=GRBM_COUNT value=100 device_id=4 "
		"pid=500 node=node500\n"
		"dispatch_id=2 kernel_name=mul counter=SQ_WAVES value=8 device_id=4 pid=500 "
		"node=node500\n");
	finish(&f, &r);
}

TEST(agents_and_processes)
{
	struct fixture f;
	struct rig r;

	CHECK_I64(usual(&f, &r), 0);
	CHECK_STR(rig_dump(&r, RK_AGENTS, RK_WANT_ALL),
		  "device_id=0 type=CPU name=EPYC product=EPYC node=node500\n"
		  "device_id=4 type=GPU name=gfx942 gfx=gfx942 product=MI300X cu_count=304 "
		  "max_sclk_mhz=2100 max_mclk_mhz=1300 xcc=8 wave_size=64 memory_bytes=128 "
		  "node=node500 se_count=32 simd_per_cu=4 waves_per_cu=32\n");
	CHECK_STR(rig_dump(&r, RK_PROCESSES, RK_WANT_ALL),
		  "pid=500 ppid=1 command=./app --n 1 node=node500 start_ns=100 end_ns=90000\n");
	finish(&f, &r);
}

TEST(columns_that_are_not_wanted_are_null)
{
	struct fixture f;
	struct rig r;

	CHECK_I64(usual(&f, &r), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, KERNEL_BASICS),
		  "kernel_name=add(float*) start_ns=13386742234691895 duration_ns=100\n"
		  "kernel_name=mul start_ns=13386742234695000 duration_ns=300\n");
	CHECK_STR(rig_dump(&r, RK_MARKERS, 0), "\n");
	CHECK_STR(rig_dump(&r, RK_API, BIT(RK_A_DURATION)), " duration_ns=500\n duration_ns=500\n");
	finish(&f, &r);
}

TEST(the_name_to_show_is_taken_unless_the_mangled_one_is_asked_for)
{
	struct fixture f;
	struct rig r;

	CHECK_I64(usual(&f, &r), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, BIT(RK_K_NAME)),
		  "kernel_name=add(float*)\nkernel_name=mul\n");
	r.ctx.mangled = true;
	CHECK_STR(rig_dump(&r, RK_KERNELS, BIT(RK_K_NAME)),
		  "kernel_name=_Z3addPf.kd\nkernel_name=mul\n");
	finish(&f, &r);
}

TEST(a_suffix_may_be_glued_on_and_views_are_not_needed)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, "cc3883073c204c7d");
	fixture_rows(&f, "cc3883073c204c7d", 9);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_I64(rig_count(&r, RK_KERNELS), 2);
	CHECK_I64(rig_count(&r, RK_API), 2);
	finish(&f, &r);
}

TEST(ids_of_a_merged_file_mean_something_only_in_their_own_set)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, "_aaaa");
	fixture_rows(&f, "_aaaa", 1);
	fixture_schema(&f, "_bbbb");
	fixture_rows(&f, "_bbbb", 2);
	fixture_sql(&f, "UPDATE rocpd_info_kernel_symbol_bbbb SET display_name='other' WHERE id=7;"
			"UPDATE rocpd_event_bbbb SET stack_id=stack_id+1");
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS,
			   BIT(RK_K_NAME) | BIT(RK_K_PID) | BIT(RK_K_NODE) | BIT(RK_K_CORRELATION)),
		  "kernel_name=add(float*) correlation_id=10 pid=1 node=node1\n"
		  "kernel_name=mul correlation_id=20 pid=1 node=node1\n"
		  "kernel_name=other correlation_id=11 pid=2 node=node2\n"
		  "kernel_name=mul correlation_id=21 pid=2 node=node2\n");
	CHECK_I64(rig_count(&r, RK_COUNTERS), 6);
	CHECK_I64(rig_count(&r, RK_PROCESSES), 2);
	finish(&f, &r);
}

TEST(other_tables_and_columns_of_later_schemas_do_no_harm)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(
		&f,
		"CREATE TABLE rocpd_event_operation%s(id INTEGER PRIMARY KEY, guid TEXT);"
		"CREATE TABLE rocpd_graph_launch%s(id INTEGER PRIMARY KEY);"
		"ALTER TABLE rocpd_kernel_dispatch%s ADD graph_exec_id INTEGER NOT NULL DEFAULT 0;"
		"ALTER TABLE rocpd_pmc_event%s ADD sample_id INTEGER;"
		"ALTER TABLE rocpd_pmc_event%s ADD xcc INTEGER;"
		"INSERT INTO rocpd_pmc_event%s(event_id,pmc_id,value,sample_id) "
		"VALUES (2,11,1000,1),(4,11,1000,2)",
		GUID, GUID, GUID, GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_I64(rig_count(&r, RK_KERNELS), 2);
	CHECK_STR(rig_dump(&r, RK_COUNTERS, BIT(RK_N_DISPATCH) | BIT(RK_N_VALUE)),
		  "dispatch_id=1 value=4\ndispatch_id=1 value=100\ndispatch_id=2 value=8\n");
	/* streamed counters are samples; these have lost their times */
	CHECK_STR(rig_dump(&r, RK_SAMPLES, RK_WANT_ALL),
		  " metric=SQ_WAVES value=1000\n metric=SQ_WAVES value=1000\n");
	finish(&f, &r);
}

TEST(a_dispatch_that_was_replayed_counts_once_and_keeps_all_its_counters)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(
		&f,
		"ALTER TABLE rocpd_kernel_dispatch%s ADD replay_pass INTEGER;"
		"UPDATE rocpd_kernel_dispatch%s SET replay_pass=0 WHERE id=1;"
		"INSERT INTO rocpd_info_pmc%s(id,name) VALUES (13,'SQ_BUSY_CYCLES');"
		"INSERT INTO rocpd_event%s(id,category_id,stack_id,correlation_id,extdata) "
		"VALUES (8,3,10,0,'{}'),(9,3,10,0,'{}');"
		"INSERT INTO rocpd_kernel_dispatch%s(nid,pid,tid,agent_id,kernel_id,dispatch_id,"
		"queue_id,stream_id,start,end,event_id,replay_pass) VALUES "
		"(77,500,500,1,7,1,2,3,13386742234692000,13386742234692100,8,1),"
		"(77,500,500,1,7,1,2,3,13386742234693000,13386742234693100,9,2);"
		"INSERT INTO rocpd_pmc_event%s(event_id,pmc_id,value) VALUES (8,13,7000)",
		GUID, GUID, GUID, GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, BIT(RK_K_DISPATCH) | BIT(RK_K_START)),
		  " start_ns=13386742234691895 dispatch_id=1\n"
		  " start_ns=13386742234695000 dispatch_id=2\n");
	CHECK_I64(rig_count(&r, RK_KERNELS), 2);
	CHECK_STR(rig_dump(&r, RK_COUNTERS, BIT(RK_N_DISPATCH) | BIT(RK_N_VALUE)),
		  "dispatch_id=1 value=4\ndispatch_id=1 value=100\ndispatch_id=2 value=8\n"
		  "dispatch_id=1 value=7000\n");
	finish(&f, &r);
}

TEST(tables_that_are_missing_give_nulls_and_no_rows)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(&f,
		    "DROP TABLE rocpd_event%s; DROP TABLE rocpd_info_agent%s;"
		    "DROP TABLE rocpd_info_kernel_symbol%s; DROP TABLE rocpd_memory_copy%s;"
		    "DROP TABLE rocpd_info_process%s; DROP TABLE rocpd_info_node%s;"
		    "DROP TABLE rocpd_string%s; DROP TABLE rocpd_info_pmc%s",
		    GUID, GUID, GUID, GUID, GUID, GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_U64(r.reader->tables & (RK_TABLE_BIT(RK_MEMCPY) | RK_TABLE_BIT(RK_MARKERS) |
				      RK_TABLE_BIT(RK_AGENTS)),
		  0);
	CHECK_STR(rig_dump(&r, RK_KERNELS,
			   KERNEL_BASICS | BIT(RK_K_DEVICE) | BIT(RK_K_PID) | BIT(RK_K_NODE) |
				   BIT(RK_K_CORRELATION) | BIT(RK_K_REGS)),
		  " start_ns=13386742234691895 duration_ns=100 device_id=1 pid=500\n"
		  " start_ns=13386742234695000 duration_ns=300 device_id=1 pid=500\n");
	CHECK_I64(rig_count(&r, RK_API), 3); /* nothing says that one is a marker */
	CHECK_I64(rig_count(&r, RK_MARKERS), 0);
	CHECK_STR(rig_dump(&r, RK_COUNTERS,
			   BIT(RK_N_DISPATCH) | BIT(RK_N_COUNTER) | BIT(RK_N_VALUE)),
		  "dispatch_id=1 value=104\ndispatch_id=2 value=8\n");
	finish(&f, &r);
}

TEST(rows_with_nulls_do_not_vanish)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(&f,
		    "UPDATE rocpd_kernel_dispatch%s SET region_name_id=NULL, tid=NULL, "
		    "queue_id=NULL, event_id=NULL, kernel_id=NULL WHERE id=2;"
		    "INSERT INTO rocpd_kernel_dispatch%s(id) VALUES (3)",
		    GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, KERNEL_BASICS | BIT(RK_K_TID) | BIT(RK_K_QUEUE)),
		  "kernel_name=add(float*) start_ns=13386742234691895 duration_ns=100 queue_id=2 "
		  "tid=500\n"
		  " start_ns=13386742234695000 duration_ns=300\n"
		  "\n");
	finish(&f, &r);
}

TEST(ids_that_lead_nowhere_give_nulls)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(&f,
		    "UPDATE rocpd_kernel_dispatch%s SET kernel_id=-5, event_id=99, nid=1, pid=6, "
		    "tid=7, agent_id=9223372036854775807",
		    GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS,
			   BIT(RK_K_NAME) | BIT(RK_K_CORRELATION) | BIT(RK_K_PID) | BIT(RK_K_TID) |
				   BIT(RK_K_NODE) | BIT(RK_K_DEVICE)),
		  " device_id=9223372036854775807 pid=6 tid=7\n"
		  " device_id=9223372036854775807 pid=6 tid=7\n");
	CHECK_I64(rig_count(&r, RK_COUNTERS), 0);
	CHECK_U64(rig_warnings(&r, "counter-without-dispatch"), 4);
	finish(&f, &r);
}

TEST(a_process_id_is_looked_up_when_it_is_not_the_pid)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(
		&f,
		"UPDATE rocpd_info_process%s SET pid=4321; UPDATE rocpd_info_thread%s SET tid=8",
		GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, BIT(RK_K_PID) | BIT(RK_K_TID)),
		  " pid=4321 tid=8\n pid=4321 tid=8\n");
	finish(&f, &r);
}

TEST(tracks_are_places_in_schema_four)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(
		&f,
		"ALTER TABLE rocpd_track%s ADD agent_id INTEGER;"
		"ALTER TABLE rocpd_track%s ADD queue_id INTEGER;"
		"INSERT INTO rocpd_track%s(id,nid,pid,tid,agent_id,queue_id) VALUES (3,77,500,500,1,6);"
		"DROP TABLE rocpd_kernel_dispatch%s;"
		"CREATE TABLE rocpd_kernel_dispatch%s(id INTEGER PRIMARY KEY, guid TEXT, "
		"track_id INTEGER, kernel_id INTEGER, start BIGINT, end BIGINT);"
		"INSERT INTO rocpd_kernel_dispatch%s VALUES (1,'g',3,7,100,150),(2,'g',8,7,200,260)",
		GUID, GUID, GUID, GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(
		rig_dump(&r, RK_KERNELS, RK_WANT_ALL & ~(BIT(RK_K_SOURCE) | BIT(RK_K_CLOCK))),
		"kernel_name=add(float*) start_ns=100 duration_ns=50 regs=36 device_id=4 queue_id=6 "
		"pid=500 tid=500 node=node500 vgpr=32 accum_vgpr=4 sgpr=96\n"
		"kernel_name=add(float*) start_ns=200 duration_ns=60 regs=36 vgpr=32 accum_vgpr=4 "
		"sgpr=96\n");
	finish(&f, &r);
}

TEST(plain_tables_without_keys_are_accepted)
{
	static const char *const names[] = { "string",      "info_node",       "info_process",
					     "info_thread", "info_agent",      "info_kernel_symbol",
					     "event",       "kernel_dispatch", "region",
					     "info_pmc",    "pmc_event" };
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fixture_sql(&f, "CREATE TABLE rocpd_%s AS SELECT * FROM rocpd_%s%s", names[i],
			    names[i], GUID);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fixture_sql(&f, "DROP TABLE rocpd_%s%s", names[i], GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, BIT(RK_K_NAME) | BIT(RK_K_CORRELATION) | BIT(RK_K_NODE)),
		  "kernel_name=add(float*) correlation_id=10 node=node500\n"
		  "kernel_name=mul correlation_id=20 node=node500\n");
	CHECK_I64(rig_count(&r, RK_API), 2);
	CHECK_I64(rig_count(&r, RK_MARKERS), 1);
	CHECK_I64(rig_count(&r, RK_COUNTERS), 3);
	finish(&f, &r);
}

TEST(marker_kinds_and_messages)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_sql(&f,
		    "INSERT INTO rocpd_string%s(id,string) VALUES (1,'MARKER_CORE_API'),"
		    "(2,'MARKER_CONTROL_API'),(3,'MARKER_CORE_RANGE_API'),(4,'roctxMarkA')",
		    GUID);
	fixture_sql(
		&f,
		"INSERT INTO rocpd_event%s(id,category_id,extdata) VALUES "
		"(1,1,'{\"a\":[1,{\"message\":\"no\"}],\"message\":\"say \\\"hi\\\"\\u00e9\\n\"}'),"
		"(2,2,'{}'),(3,3,'not json'),(4,1,NULL),(5,1,'{\"message\":17}')",
		GUID);
	fixture_sql(&f, "INSERT INTO rocpd_track%s(id,nid,pid,tid,name_id) VALUES (1,0,7,8,4)",
		    GUID);
	fixture_sql(&f,
		    "INSERT INTO rocpd_region%s(id,pid,tid,start,end,name_id,event_id) VALUES "
		    "(1,7,8,10,20,4,1),(2,7,8,30,30,4,2),(3,7,8,40,40,4,3)",
		    GUID);
	fixture_sql(&f,
		    "INSERT INTO rocpd_sample%s(id,track_id,timestamp,event_id) VALUES (4,1,50,4),"
		    "(5,1,60,5),(6,1,70,3)",
		    GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_MARKERS, RK_WANT_ALL),
		  "name=say \"hi\"\xc3\xa9\n kind=range start_ns=10 duration_ns=10 pid=7 tid=8\n"
		  "name=roctxMarkA kind=control start_ns=30 duration_ns=0 pid=7 tid=8\n"
		  "name=roctxMarkA kind=range start_ns=40 duration_ns=0 pid=7 tid=8\n"
		  "name=roctxMarkA kind=mark start_ns=50 duration_ns=0 pid=7 tid=8\n"
		  "name=roctxMarkA kind=mark start_ns=60 duration_ns=0 pid=7 tid=8\n"
		  /* rocprofv3 gives marks the category of ranges */
		  "name=roctxMarkA kind=mark start_ns=70 duration_ns=0 pid=7 tid=8\n");
	CHECK_STR(rig_dump(&r, RK_API, RK_WANT_ALL), "");
	finish(&f, &r);
}

TEST(samples_without_an_event_are_calls_that_took_no_time)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(&f,
		    "INSERT INTO rocpd_track%s(id,nid,pid,tid,name_id) VALUES (1,77,500,500,5);"
		    "INSERT INTO rocpd_sample%s(track_id,timestamp) VALUES (1,12345);"
		    "DELETE FROM rocpd_region%s",
		    GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_API, RK_WANT_ALL),
		  " function=hipLaunchKernel start_ns=12345 duration_ns=0 pid=500 tid=500 "
		  "node=node500\n");
	finish(&f, &r);
}

TEST(events_are_found_in_any_order)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_sql(&f,
		    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) "
		    "INSERT INTO rocpd_event%s(id,stack_id) SELECT i*3,i FROM n",
		    GUID);
	fixture_sql(&f,
		    "INSERT INTO rocpd_kernel_dispatch%s(id,event_id) VALUES (1,1500),(2,3),(3,6),"
		    "(4,6),(5,300),(6,301),(7,303),(8,4),(9,1501),(10,9)",
		    GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, BIT(RK_K_CORRELATION)),
		  " correlation_id=500\n correlation_id=1\n correlation_id=2\n correlation_id=2\n"
		  " correlation_id=100\n\n correlation_id=101\n\n\n correlation_id=3\n");
	finish(&f, &r);
}

TEST(counters_out_of_order_are_still_one_row_each)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(
		&f,
		"INSERT INTO rocpd_pmc_event%s(event_id,pmc_id,value) VALUES (2,11,10),(4,12,1),"
		"(NULL,11,5),(77,11,5),(2,12,'7'),(2,12,'x')",
		GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_COUNTERS,
			   BIT(RK_N_DISPATCH) | BIT(RK_N_COUNTER) | BIT(RK_N_VALUE)),
		  "dispatch_id=1 counter=SQ_WAVES value=14\n"
		  "dispatch_id=1 counter=GRBM_COUNT value=107\n"
		  "dispatch_id=2 counter=SQ_WAVES value=8\n"
		  "dispatch_id=2 counter=GRBM_COUNT value=1\n");
	CHECK_U64(rig_warnings(&r, "counter-without-dispatch"), 2);
	CHECK_U64(rig_warnings(&r, "wrong-type"), 1);
	finish(&f, &r);
}

TEST(numbers_of_the_wrong_type_are_read_or_counted)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_sql(&f,
		    "DROP TABLE rocpd_kernel_dispatch%s;"
		    "CREATE TABLE rocpd_kernel_dispatch%s(id INTEGER PRIMARY KEY, start, end);"
		    "INSERT INTO rocpd_kernel_dispatch%s VALUES (1,'13386742234691895',"
		    "13386742234691996),(2,5.0,7.0),(3,5.5,9),(4,'abc',9),(5,x'00',9),(6,1e300,9),"
		    "(7,'',9),(8,1.2e16,9)",
		    GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, KERNEL_BASICS),
		  " start_ns=13386742234691895 duration_ns=101\n start_ns=5 duration_ns=2\n"
		  "\n\n\n\n\n\n");
	CHECK_U64(rig_warnings(&r, "wrong-type"), 6);
	finish(&f, &r);
}

TEST(numbers_that_do_not_fit_are_null_and_counted)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(
		&f,
		"UPDATE rocpd_kernel_dispatch%s SET grid_size_x=4294967296, workgroup_size_x=64,"
		"workgroup_size_y=0, grid_size_z=-1 WHERE id=1;"
		"UPDATE rocpd_kernel_dispatch%s SET start=-9223372036854775807, "
		"end=9223372036854775807 WHERE id=1;"
		"UPDATE rocpd_kernel_dispatch%s SET start=10, end=4 WHERE id=2",
		GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS,
			   BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_GRID_X) |
				   BIT(RK_K_GRID_Y) | BIT(RK_K_GRID_Z) | BIT(RK_K_ITEMS_X)),
		  " start_ns=-9223372036854775807 grid_x=67108864\n"
		  " start_ns=10 duration_ns=-6 grid_x=2 grid_y=1 grid_z=1 grid_items_x=512\n");
	CHECK_U64(rig_warnings(&r, "out-of-range"), 2);
	finish(&f, &r);
}

TEST(many_rows_come_in_batches)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_sql(
		&f,
		"BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE "
		"i<20000) INSERT INTO rocpd_kernel_dispatch%s(dispatch_id,event_id,start,end) "
		"SELECT i,i,i*10,i*10+5 FROM n;"
		"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<39999) "
		"INSERT INTO rocpd_pmc_event%s(event_id,pmc_id,value) SELECT i/2+1,11+i%%2,i FROM n;"
		"INSERT INTO rocpd_info_pmc%s(id,name) VALUES (11,'A'),(12,'B'); COMMIT",
		GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_I64(rig_count(&r, RK_KERNELS), 20000);
	CHECK_I64(rig_count(&r, RK_COUNTERS), 40000);
	finish(&f, &r);
}

TEST(more_names_than_are_remembered_are_looked_up_again)
{
	const char *text, *last;
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_sql(&f,
		    "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE "
		    "i<70000) INSERT INTO rocpd_string%s(id,string) SELECT i,'f'||i FROM n;"
		    "INSERT INTO rocpd_region%s(name_id) SELECT id FROM rocpd_string%s ORDER BY id;"
		    "INSERT INTO rocpd_region%s(name_id) VALUES (5); COMMIT",
		    GUID, GUID, GUID, GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	text = rig_dump(&r, RK_API, BIT(RK_A_FUNCTION));
	last = text ? strstr(text, "=f70000\n") : NULL;
	CHECK_STR(last, "=f70000\n function=f5\n");
	finish(&f, &r);
}

static int stop_at_half(void *arg, uint64_t done, uint64_t total)
{
	int *calls = arg;

	++*calls;
	return done > total / 2;
}

TEST(progress_moves_and_can_stop_a_scan)
{
	struct fixture f;
	struct rig r;
	int calls = 0;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_sql(
		&f,
		"BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE "
		"i<60000) INSERT INTO rocpd_kernel_dispatch%s(start,end) SELECT i,i FROM n; COMMIT",
		GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	r.ctx.progress = stop_at_half;
	r.ctx.progress_arg = &calls;
	CHECK_I64(rig_count(&r, RK_KERNELS), RK_E_CANCELLED);
	CHECK_I64(calls, 5); /* 8192 rows each */
	finish(&f, &r);
}

TEST(only_stored_tables_and_columns_are_read)
{
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_sql(&f,
		    "CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM rocpd_kernel_dispatch%s "
		    "WHERE id=1;"
		    "CREATE VIEW rocpd_string AS SELECT 1 AS id, 'no' AS string;"
		    "CREATE TABLE rocpd_kernel_dispatch_x(id INTEGER PRIMARY KEY, start INTEGER, "
		    "end AS (start+zeroblob(100000000)), kernel_id AS (7));"
		    "INSERT INTO rocpd_kernel_dispatch_x(id,start) VALUES (1,5)",
		    GUID);
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_STR(rig_dump(&r, RK_KERNELS, KERNEL_BASICS),
		  "kernel_name=add(float*) start_ns=13386742234691895 duration_ns=100\n"
		  "kernel_name=mul start_ns=13386742234695000 duration_ns=300\n"
		  " start_ns=5\n");
	finish(&f, &r);
}

static void gzip_file(const char *from, const char *to)
{
	static char buf[1 << 20];
	FILE *in = fopen(from, "rb");
	gzFile out = gzopen(to, "wb");
	size_t n = in ? fread(buf, 1, sizeof(buf), in) : 0;

	CHECK(in && out && gzwrite(out, buf, (unsigned)n) == (int)n);
	gzclose(out);
	if (in)
		fclose(in);
}

TEST(a_packed_database_is_unpacked_first)
{
	char packed[256];
	struct fixture f;
	struct rig r;

	CHECK_I64(usual(&f, &r), 0);
	rig_close(&r);
	snprintf(packed, sizeof(packed), "%s.gz", f.path);
	gzip_file(f.path, packed);
	CHECK_I64(rig_open(&r, packed), 0);
	CHECK_I64(rig_count(&r, RK_KERNELS), 2);
	finish(&f, &r);
}

TEST(probe_knows_a_database_by_its_content)
{
	static const char sqlite[64] = "SQLite format 3",
			  rocpd[] = "SQLite format 3\0..rocpd_string..";
	const struct rk_reader_ops *ops = rk_reader_by_name("rocpd");

	CHECK_I64(rk_reader_probe(ops, "id,name", 7, true), 0);
	CHECK_I64(rk_reader_probe(ops, "", 0, true), 0);
	CHECK_I64(rk_reader_probe(ops, sqlite, sizeof(sqlite), true), 20);
	CHECK_I64(rk_reader_probe(ops, rocpd, sizeof(rocpd), true), 95);
}

/* Rows of all tables together, or the error. */
static int64_t drain_all(struct rig *r)
{
	int64_t all = 0;

	for (int t = 0; t < RK_NTABLES; t++) {
		int64_t n = r->reader->tables >> t & 1 ? rig_count(r, (enum rk_table)t) : 0;

		if (n < 0)
			return n;
		all += n;
	}
	return all;
}

TEST(every_allocation_of_a_read_may_fail)
{
	struct fixture f;
	struct rig r;
	uint64_t fail = 1;
	int64_t rows;

	CHECK_I64(usual(&f, &r), 0);
	rows = drain_all(&r);
	rig_close(&r);
	for (;; fail++) {
		int64_t rc;

		rk_alloc_fail_after(fail);
		rc = rig_open(&r, f.path);
		if (!rc)
			rc = drain_all(&r);
		if (!rk_alloc_failed())
			break;
		CHECK(rc == RK_E_NOMEM ? r.err.code == RK_E_NOMEM : rc == rows);
		rig_close(&r);
	}
	rk_alloc_fail_after(0);
	rig_close(&r);
	CHECK(fail > 100 && fail < 5000);
	fixture_end(&f);
}
