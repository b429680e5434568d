/* rpd.c (test) - databases of rocmProfileData and rocm-trace-lite, whole and not. */

#include "every_alloc.h"
#include "rocpd_fixture.h"

static const char strings[] =
	"CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"
	"INSERT INTO rocpd_string VALUES(1,''),(2,'_Z3addv'),(3,'KernelExecution'),(4,'Task'),"
	"(5,'CopyHostToDevice'),(6,'FillBuffer'),(7,'Barrier'),(8,'hipLaunchKernel'),"
	"(9,'hipExtModuleLaunchKernel'),(10,'hipMemcpyAsync'),(11,'UserMarker'),(12,'step 1'),"
	"(13,'hipGraphLaunch'),(14,'node'),(15,'writeRows'),(16,'mulled'),(17,'SQ_WAVES'),"
	"(18,'torch'),(19,'hip'),(20,'aten::mm'),(21,'CopyDeviceToHost2D'),(22,'newCall')";

static const char ops[] =
	"CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER,"
	" sequenceId INTEGER, completionSignal TEXT, start INTEGER, end INTEGER,"
	" description_id INTEGER, opType_id INTEGER);"
	"INSERT INTO rocpd_op VALUES(4294967297,2,0,0,'',100,150,2,3),"
	"(4294967298,2,1,0,'',200,210,16,3),(4294967299,2,0,0,'',300,301,14,4),"
	"(4294967300,2,0,0,'',400,500,1,5),(4294967301,2,0,0,'',510,520,1,5),"
	"(4294967302,2,0,0,'',530,531,1,6),(4294967303,2,0,0,'',540,541,1,7),"
	"(4294967304,3,0,0,'',550,560,1,21),(4294967305,2,0,0,'',600,601,14,3)";

static const char calls[] =
	"CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER,"
	" end INTEGER, apiName_id INTEGER, args_id INTEGER);"
	"INSERT INTO rocpd_api VALUES(1,70,71,90,95,8,1),(2,70,71,96,99,9,1),(3,70,72,290,295,13,1),"
	"(4,70,71,390,505,10,1),(5,70,71,506,525,10,1),(6,70,71,10,80,11,12),(7,70,71,20,20,11,12),"
	"(8,70,71,700,701,15,1),(9,70,71,702,703,22,1);"
	"CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);"
	"INSERT INTO rocpd_api_ops VALUES(1,1,4294967297),(2,3,4294967299),(3,2,4294967298),"
	"(4,4,4294967300),(5,5,4294967301),(6,9,4294967305);"
	"CREATE TABLE rocpd_kernelapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX INTEGER,"
	" gridY INTEGER, gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER,"
	" groupSegmentSize INTEGER, privateSegmentSize INTEGER, kernelName_id INTEGER);"
	"INSERT INTO rocpd_kernelapi VALUES(1,'0x0',4,2,1,64,1,1,16,8,2),"
	"(2,'0x0',1792,782,1,256,1,1,0,0,16),(9,'0x0',8,1,1,4,1,1,0,0,14);"
	"CREATE TABLE rocpd_copyapi (api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size INTEGER,"
	" width INTEGER, height INTEGER, kind INTEGER);"
	"INSERT INTO rocpd_copyapi VALUES(4,'0x0',4096,'','',1),(5,'0x0','','','',1)";

static const char sensors[] =
	"CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER,"
	" monitorType TEXT, start INTEGER, end INTEGER, value TEXT);"
	"INSERT INTO rocpd_monitor VALUES(1,'gpu',0,'sclk',5,9,'1700'),(2,'gpu',1,'fan',6,7,'2.5')";

static void usual(struct fixture *f)
{
	fixture_begin(f);
	fixture_sql(f, "%s;%s;%s;%s", strings, ops, calls, sensors);
	fixture_close(f);
}

static void dumps(const struct fixture *f, enum rk_table t, uint64_t want, const char *rows)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_dump(&w, f->path, t, want);
	CHECK_STR(got ? got : w.err.message, rows);
	world_close(&w);
}

TEST(rpd_kernels_are_kernel_executions_and_graph_nodes)
{
	struct fixture f;

	usual(&f);
	dumps(&f, RK_KERNELS, RK_WANT_ALL,
	      "kernel_name=_Z3addv|start_ns=100|duration_ns=50|grid_x=4|grid_y=2|grid_z=1|"
	      "block_x=64|block_y=1|block_z=1|shared_mem=16|stream_id=0|device_id=2|queue_id=0|"
	      "dispatch_id=4294967297|correlation_id=1|pid=70|tid=71|scratch_bytes=8|"
	      "grid_items_x=256|grid_items_y=2|grid_items_z=1|source=rpd|clock=unknown\n"
	      "kernel_name=mulled|start_ns=200|duration_ns=10|grid_x=7|grid_y=782|grid_z=1|"
	      "block_x=256|block_y=1|block_z=1|shared_mem=0|stream_id=1|device_id=2|queue_id=1|"
	      "dispatch_id=4294967298|correlation_id=2|pid=70|tid=71|scratch_bytes=0|"
	      "grid_items_x=1792|grid_items_y=782|grid_items_z=1|source=rpd|clock=unknown\n"
	      "kernel_name=node|start_ns=300|duration_ns=1|stream_id=0|device_id=2|queue_id=0|"
	      "dispatch_id=4294967299|correlation_id=3|pid=70|tid=72|source=rpd|clock=unknown\n"
	      "kernel_name=node|start_ns=600|duration_ns=1|block_x=4|block_y=1|block_z=1|"
	      "shared_mem=0|stream_id=0|device_id=2|queue_id=0|dispatch_id=4294967305|"
	      "correlation_id=9|pid=70|tid=71|scratch_bytes=0|source=rpd|clock=unknown\n");
	dumps(&f, RK_KERNELS, SQL_BIT(RK_K_START) | SQL_BIT(RK_K_PID),
	      "start_ns=100|pid=70\nstart_ns=200|pid=70\nstart_ns=300|pid=70\nstart_ns=600|pid=70\n");
	fixture_end(&f);
}

TEST(rpd_copies_have_a_size_where_one_was_recorded)
{
	struct fixture f;
	struct world w;

	usual(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_MEMCPY, RK_WANT_ALL),
		  "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=400|duration_ns=100|bytes=4096|"
		  "dst_device=2|stream_id=0|correlation_id=4|pid=70|tid=71\n"
		  "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=510|duration_ns=10|"
		  "dst_device=2|stream_id=0|correlation_id=5|pid=70|tid=71\n"
		  "direction=FillBuffer|start_ns=530|duration_ns=1|dst_device=2|stream_id=0\n"
		  "direction=MEMORY_COPY_DEVICE_TO_HOST|start_ns=550|duration_ns=10|src_device=3|"
		  "stream_id=0\n");
	CHECK_STR(world_warnings(&w), "skipped-operation:1 ");
	world_close(&w);
	fixture_end(&f);
}

TEST(rpd_direction_of_a_copy_is_that_of_its_call_whatever_else_is_read)
{
	struct fixture f;

	fixture_begin(&f);
	fixture_sql(&f,
		    "%s;%s;%s;UPDATE rocpd_string SET string='Memcpy' WHERE id=5;"
		    "DELETE FROM rocpd_op WHERE opType_id<>5",
		    strings, ops, calls);
	fixture_close(&f);
	dumps(&f, RK_MEMCPY, SQL_BIT(RK_C_DIRECTION),
	      "direction=MEMORY_COPY_HOST_TO_DEVICE\ndirection=MEMORY_COPY_HOST_TO_DEVICE\n");
	dumps(&f, RK_MEMCPY, SQL_BIT(RK_C_DST), "dst_device=2\ndst_device=2\n");
	fixture_end(&f);
}

TEST(rpd_copy_of_a_call_with_several_parts_has_no_size)
{
	struct fixture f;
	struct world w;

	fixture_begin(&f);
	fixture_sql(&f,
		    "%s;%s;%s;UPDATE rocpd_api_ops SET api_id=4 WHERE id=5;"
		    "UPDATE rocpd_copyapi SET width=16,height='8',size='' WHERE api_ptr_id=4",
		    strings, ops, calls);
	fixture_close(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_MEMCPY, SQL_BIT(RK_C_START) | SQL_BIT(RK_C_BYTES)),
		  "start_ns=400\nstart_ns=510\nstart_ns=530\nstart_ns=550\n");
	CHECK_U64(world_warned(&w, "split-copy"), 2);
	world_close(&w);
	fixture_end(&f);
}

TEST(rpd_calls_and_user_markers_are_told_apart)
{
	struct fixture f;

	usual(&f);
	dumps(&f, RK_API, ~(SQL_BIT(RK_A_PID) | SQL_BIT(RK_A_TID) | SQL_BIT(RK_A_DURATION)),
	      "domain=HIP_RUNTIME_API|function=hipLaunchKernel|start_ns=90|correlation_id=1\n"
	      "domain=HIP_RUNTIME_API|function=hipExtModuleLaunchKernel|start_ns=96|"
	      "correlation_id=2\n"
	      "domain=HIP_RUNTIME_API|function=hipGraphLaunch|start_ns=290|correlation_id=3\n"
	      "domain=HIP_RUNTIME_API|function=hipMemcpyAsync|start_ns=390|correlation_id=4\n"
	      "domain=HIP_RUNTIME_API|function=hipMemcpyAsync|start_ns=506|correlation_id=5\n"
	      "function=writeRows|start_ns=700|correlation_id=8\n"
	      "function=newCall|start_ns=702|correlation_id=9\n");
	dumps(&f, RK_MARKERS, RK_WANT_ALL,
	      "name=step 1|kind=range|start_ns=10|duration_ns=70|pid=70|tid=71\n"
	      "name=step 1|kind=mark|start_ns=20|duration_ns=0|pid=70|tid=71\n");
	dumps(&f, RK_SAMPLES, RK_WANT_ALL,
	      "time_ns=5|device_id=0|metric=sclk_mhz|value=1700|unit=MHz\n"
	      "time_ns=6|device_id=1|metric=fan|value=2.5\n");
	fixture_end(&f);
}

TEST(rpd_schema_3_has_domains_texts_and_counters)
{
	struct fixture f;

	fixture_begin(&f);
	fixture_sql(&f,
		    "%s;%s;%s;ALTER TABLE rocpd_api ADD COLUMN domain_id INTEGER;"
		    "UPDATE rocpd_api SET domain_id=19;"
		    "UPDATE rocpd_api SET domain_id=23 WHERE id=8;"
		    "INSERT INTO rocpd_string VALUES(23,'rpd_tracer');"
		    "INSERT INTO rocpd_api VALUES(20,70,71,1,2,20,1,18),(21,70,71,3,4,11,501,18);"
		    "CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT);"
		    "INSERT INTO rocpd_ustring VALUES(12,'other'),(501,'unique');"
		    "CREATE TABLE rocpd_counter (id INTEGER PRIMARY KEY, op_id INTEGER,"
		    " name_id INTEGER, value REAL);"
		    "INSERT INTO rocpd_counter VALUES(1,4294967298,17,8.5),(2,4294967297,17,4)",
		    strings, ops, calls);
	fixture_close(&f);
	dumps(&f, RK_MARKERS, SQL_BIT(RK_R_NAME) | SQL_BIT(RK_R_START),
	      "name=other|start_ns=10\nname=other|start_ns=20\nname=aten::mm|start_ns=1\n"
	      "name=unique|start_ns=3\n");
	dumps(&f, RK_COUNTERS, RK_WANT_ALL,
	      "dispatch_id=4294967297|kernel_name=_Z3addv|counter=SQ_WAVES|value=4|device_id=2|"
	      "pid=70\n"
	      "dispatch_id=4294967298|kernel_name=mulled|counter=SQ_WAVES|value=8.5|device_id=2|"
	      "pid=70\n");
	fixture_end(&f);
}

TEST(rpd_grids_are_work_items_when_rocprofiler_wrote_them)
{
	struct fixture f;

	fixture_begin(&f);
	fixture_sql(&f,
		    "%s;%s;%s;CREATE TABLE rocpd_ustring (id INTEGER PRIMARY KEY, string TEXT);"
		    "INSERT INTO rocpd_string VALUES(30,'kfd_queue'),"
		    "(31,'MEMORY_COPY_DEVICE_TO_DEVICE');"
		    "UPDATE rocpd_op SET opType_id=31 WHERE id=4294967300;"
		    /* call 1 also starts the kernel 'mulled', whose launch is not recorded */
		    "UPDATE rocpd_api_ops SET api_id=1 WHERE api_id=2",
		    strings, ops, calls);
	fixture_close(&f);
	dumps(&f, RK_KERNELS, SQL_BIT(RK_K_NAME) | SQL_BIT(RK_K_GRID_X) | SQL_BIT(RK_K_ITEMS_X),
	      "kernel_name=_Z3addv|grid_x=1|grid_items_x=4\nkernel_name=mulled\nkernel_name=node\n"
	      "kernel_name=node|grid_x=2|grid_items_x=8\n");
	dumps(&f, RK_MEMCPY, SQL_BIT(RK_C_SRC) | SQL_BIT(RK_C_DST),
	      "dst_device=2\ndst_device=2\ndst_device=2\nsrc_device=3\n");
	fixture_end(&f);
}

TEST(rocm_trace_lite_has_grids_in_a_text_and_marks_among_operations)
{
	struct fixture f;

	fixture_begin(&f);
	fixture_sql(&f,
		    "%s;CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, gpuId INTEGER, queueId"
		    " INTEGER, sequenceId INTEGER, completionSignal TEXT, start INTEGER, end"
		    " INTEGER, description_id INTEGER, opType_id INTEGER, roctxId INTEGER);"
		    "INSERT INTO rocpd_op VALUES(1,0,2252800,0,'hwq=0x26 wg=64,1,1 grid=640,1,1',"
		    "5,9,16,3,0),(2,-1,0,0,'',6,8,12,11,0),(3,0,1,0,'wg=64,x grid=1',10,11,16,3,0);"
		    "CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, pid INTEGER);"
		    "CREATE TABLE rocpd_api_ops (id INTEGER PRIMARY KEY, api_id INTEGER, op_id"
		    " INTEGER);"
		    "CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
		    "INSERT INTO rocpd_metadata VALUES(1,'pid','21353')",
		    strings);
	fixture_close(&f);
	dumps(&f, RK_KERNELS, RK_WANT_ALL,
	      "kernel_name=mulled|start_ns=5|duration_ns=4|grid_x=10|grid_y=1|grid_z=1|block_x=64|"
	      "block_y=1|block_z=1|stream_id=2252800|device_id=0|queue_id=2252800|dispatch_id=1|"
	      "pid=21353|grid_items_x=640|grid_items_y=1|grid_items_z=1|source=rpd|clock=unknown\n"
	      "kernel_name=mulled|start_ns=10|duration_ns=1|stream_id=1|device_id=0|queue_id=1|"
	      "dispatch_id=3|pid=21353|source=rpd|clock=unknown\n");
	dumps(&f, RK_MARKERS, RK_WANT_ALL,
	      "name=step 1|kind=range|start_ns=6|duration_ns=2|pid=21353\n");
	fixture_end(&f);
}

static void is_format(const struct fixture *f, const char *name)
{
	struct rk_reader *r = NULL;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_reader_open(f->path, &w.ctx, &r, &w.err), 0);
	CHECK_STR(r ? r->ops->name : w.err.message, name);
	rk_reader_close(r);
	world_close(&w);
}

TEST(rpd_and_rocprofv3_databases_are_not_confused)
{
	struct fixture f;

	fixture_begin(&f);
	fixture_schema(&f, "_0123");
	fixture_rows(&f, "_0123", 5);
	fixture_close(&f);
	is_format(&f, "rocpd");
	fixture_end(&f);
	fixture_begin(&f); /* the tables are only in the log: the first pages show nothing */
	fixture_sql(&f, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;%s;%s;%s", strings,
		    ops, calls);
	is_format(&f, "rpd");
	fixture_close(&f);
	fixture_end(&f);
}

TEST(rpd_wrong_values_are_counted)
{
	struct fixture f;
	struct world w;

	fixture_begin(&f);
	fixture_sql(&f, "%s;%s;%s", strings, ops, calls);
	fixture_sql(&f, "UPDATE rocpd_copyapi SET size=-5 WHERE api_ptr_id=4;"
			"UPDATE rocpd_copyapi SET size='much' WHERE api_ptr_id=5;"
			"UPDATE rocpd_op SET start='soon' WHERE id=4294967297;"
			"UPDATE rocpd_op SET queueId=99999999999 WHERE id=4294967298;"
			"UPDATE rocpd_kernelapi SET gridX=9223372036854775807 WHERE api_ptr_id=1");
	fixture_close(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_MEMCPY, SQL_BIT(RK_C_BYTES)), "\n\n\n\n");
	CHECK_U64(world_warned(&w, "wrong-type"), 2);
	CHECK_STR(world_dump(&w, f.path, RK_KERNELS,
			     SQL_BIT(RK_K_START) | SQL_BIT(RK_K_STREAM) | SQL_BIT(RK_K_GRID_X) |
				     SQL_BIT(RK_K_ITEMS_X)),
		  "stream_id=0\nstart_ns=200|grid_x=7|grid_items_x=1792\n"
		  "start_ns=300|stream_id=0\nstart_ns=600|stream_id=0\n");
	CHECK_U64(world_warned(&w, "wrong-type"), 3);
	CHECK_U64(world_warned(&w, "out-of-range"), 2);
	world_close(&w);
	fixture_end(&f);
}

TEST(rpd_links_to_nothing_and_damage_keep_the_rows)
{
	struct fixture f;
	struct world w;

	fixture_begin(&f);
	fixture_sql(&f,
		    "%s;%s;%s;DELETE FROM rocpd_api;DELETE FROM rocpd_kernelapi;"
		    "UPDATE rocpd_api_ops SET op_id='x' WHERE id=1",
		    strings, ops, calls);
	fixture_close(&f);
	dumps(&f, RK_KERNELS, SQL_BIT(RK_K_START) | SQL_BIT(RK_K_PID) | SQL_BIT(RK_K_CORRELATION),
	      "start_ns=100\nstart_ns=200|correlation_id=2\nstart_ns=300|correlation_id=3\n"
	      "start_ns=600|correlation_id=9\n");
	fixture_end(&f);

	fixture_begin(&f);
	fixture_sql(&f, "PRAGMA page_size=512;%s;%s;%s", strings, ops, calls);
	fixture_sql(&f,
		    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
		    "INSERT INTO rocpd_op SELECT 8589934592+i,2,0,0,'',i,i+1,2,3 FROM n");
	fixture_close(&f);
	fixture_damage(&f, 40 * 512, 0xff, 512);
	world_open(&w, 1);
	CHECK(world_dump(&w, f.path, RK_KERNELS, SQL_BIT(RK_K_START)) != NULL);
	CHECK_U64(world_warned(&w, "damaged-database"), 1);
	world_close(&w);
	fixture_end(&f);
}

TEST(rpd_survives_every_failed_allocation)
{
	struct fixture f;

	usual(&f);
	every_alloc_may_fail(f.path, 4 + 4 + 7 + 2 + 2);
	fixture_end(&f);
}
