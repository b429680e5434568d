/* nsys_sqlite.c (test) - exports of Nsight Systems, old and new, whole and not. */

#include "every_alloc.h"
#include "rocpd_fixture.h"

/* Process 7001 with thread 7002, as packed: hardware 1, machine 1. */
#define PID "(72339069014638592+7001*16777216)"
#define TID "(" PID "+7002)"

static const char strings[] =
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
	"INSERT INTO StringIds VALUES(1,'void add<int>(int *, int)'),(2,'add'),"
	"(3,'cudaLaunchKernel_v7000'),(4,'cuInit'),(5,'MPI_Send')";

/* The columns that all schemas have had. */
static const char kernels[] =
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
	" contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
	" demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER,"
	" gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
	" staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, gridId INTEGER);"
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1000,1500,0,1,7,42," PID
	",1,2,32,16,4,1,64,2,1,1024,512,9),(2000,2001,1,1,13,43," PID
	",NULL,2,16,1,1,1,32,1,1,0,0,10)";

static const char copies[] =
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,"
	" streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,"
	" copyKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER);"
	"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(100,200,0,7,1," PID ",4096,1,NULL,NULL),"
	"(300,350,0,7,2," PID ",16,2,NULL,NULL),(400,410,0,7,3," PID ",8,10,0,1),"
	"(500,510,0,7,4," PID ",8,8,NULL,NULL),(600,610,0,7,5," PID ",8,99,NULL,NULL);"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER,"
	" streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER,"
	" bytes INTEGER);"
	"INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(700,701,1,7,6," PID ",0,1048576)";

static const char calls[] =
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"
	" globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER);"
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(900,950,0," TID ",42,3,0),"
	"(10,20,1," TID ",1,4,0)";

static const char ranges[] =
	"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
	" globalTid INTEGER, textId INTEGER);"
	"INSERT INTO NVTX_EVENTS VALUES(1,NULL,75,'MPI'," TID ",NULL),"
	"(5,25,59,'step 1'," TID ",NULL),(6,8,60,NULL," TID ",5),(7,NULL,34,'here'," TID ",NULL),"
	"(8,NULL,39,'MPI Rank 0'," TID ",NULL),(9,NULL,59,'never over'," TID ",NULL)";

static const char machine[] =
	"CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, clockRate"
	" INTEGER, smCount INTEGER, cuDevice INTEGER, threadsPerWarp INTEGER);"
	"INSERT INTO TARGET_INFO_GPU VALUES(0,'NVIDIA A100',85899345920,1410000000,108,3,32);"
	"CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
	"INSERT INTO PROCESSES VALUES(" PID ",7001,'./app'),(" PID ",NULL,NULL);"
	"CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
	"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('CpuCores','128'),('Hostname','nid1')";

static void usual(struct fixture *f)
{
	fixture_begin(f);
	fixture_sql(f, "%s;%s;%s;%s;%s;%s", strings, kernels, copies, calls, ranges, machine);
	fixture_close(f);
}

TEST(nsys_kernels_have_their_demangled_name)
{
	struct fixture f;
	struct world w;

	usual(&f);
	world_open(&w, 1);
	CHECK_STR(
		world_dump(&w, f.path, RK_KERNELS, RK_WANT_ALL),
		"kernel_name=void add<int>(int *, int)|start_ns=1000|duration_ns=500|grid_x=16|"
		"grid_y=4|grid_z=1|block_x=64|block_y=2|block_z=1|regs=32|shared_mem=1536|"
		"stream_id=7|device_id=0|dispatch_id=9|correlation_id=42|pid=7001|node=nid1|"
		"grid_items_x=1024|grid_items_y=8|grid_items_z=1|source=nsys-sqlite|clock=unknown\n"
		"kernel_name=add|start_ns=2000|duration_ns=1|grid_x=1|grid_y=1|grid_z=1|"
		"block_x=32|block_y=1|block_z=1|regs=16|shared_mem=0|stream_id=13|device_id=1|"
		"dispatch_id=10|correlation_id=43|pid=7001|node=nid1|grid_items_x=32|"
		"grid_items_y=1|grid_items_z=1|source=nsys-sqlite|clock=unknown\n");
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_copies_and_memsets_have_directions)
{
	struct fixture f;
	struct world w;

	usual(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_MEMCPY, RK_WANT_ALL),
		  "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=100|duration_ns=100|bytes=4096|"
		  "dst_device=0|stream_id=7|correlation_id=1|pid=7001|node=nid1\n"
		  "direction=MEMORY_COPY_DEVICE_TO_HOST|start_ns=300|duration_ns=50|bytes=16|"
		  "src_device=0|stream_id=7|correlation_id=2|pid=7001|node=nid1\n"
		  "direction=MEMORY_COPY_PEER_TO_PEER|start_ns=400|duration_ns=10|bytes=8|"
		  "src_device=0|dst_device=1|stream_id=7|correlation_id=3|pid=7001|node=nid1\n"
		  "direction=MEMORY_COPY_DEVICE_TO_DEVICE|start_ns=500|duration_ns=10|bytes=8|"
		  "src_device=0|dst_device=0|stream_id=7|correlation_id=4|pid=7001|node=nid1\n"
		  "direction=MEMORY_COPY_UNKNOWN|start_ns=600|duration_ns=10|bytes=8|stream_id=7|"
		  "correlation_id=5|pid=7001|node=nid1\n"
		  "direction=MEMORY_SET|start_ns=700|duration_ns=1|bytes=1048576|dst_device=1|"
		  "stream_id=7|correlation_id=6|pid=7001|node=nid1\n");
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_calls_ranges_gpus_and_processes)
{
	struct fixture f;
	struct world w;

	usual(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_API, RK_WANT_ALL),
		  "domain=CUDA_RUNTIME_API|function=cudaLaunchKernel_v7000|start_ns=900|"
		  "duration_ns=50|correlation_id=42|pid=7001|tid=7002|node=nid1\n"
		  "domain=CUDA_DRIVER_API|function=cuInit|start_ns=10|duration_ns=10|"
		  "correlation_id=1|pid=7001|tid=7002|node=nid1\n");
	CHECK_STR(world_dump(&w, f.path, RK_MARKERS, RK_WANT_ALL),
		  "name=step 1|kind=range|start_ns=5|duration_ns=20|pid=7001|tid=7002|node=nid1\n"
		  "name=MPI_Send|kind=range|start_ns=6|duration_ns=2|pid=7001|tid=7002|node=nid1\n"
		  "name=here|kind=mark|start_ns=7|duration_ns=0|pid=7001|tid=7002|node=nid1\n"
		  "name=never over|kind=range|start_ns=9|pid=7001|tid=7002|node=nid1\n");
	CHECK_STR(world_dump(&w, f.path, RK_AGENTS, RK_WANT_ALL),
		  "device_id=3|type=GPU|name=NVIDIA A100|product=NVIDIA A100|cu_count=108|"
		  "max_sclk_mhz=1410|wave_size=32|memory_bytes=85899345920|node=nid1\n");
	CHECK_STR(world_dump(&w, f.path, RK_PROCESSES, RK_WANT_ALL),
		  "pid=7001|command=./app|node=nid1\npid=7001|node=nid1\n");
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_columns_that_are_not_wanted_are_null)
{
	struct fixture f;
	struct world w;

	usual(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_KERNELS, SQL_BIT(RK_K_START) | SQL_BIT(RK_K_REGS)),
		  "start_ns=1000|regs=32\nstart_ns=2000|regs=16\n");
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_tables_and_columns_may_be_missing)
{
	struct fixture f;
	struct world w;

	fixture_begin(&f);
	fixture_sql(&f, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER,"
			" demangledName INTEGER);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1,3,1)");
	fixture_close(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_KERNELS, RK_WANT_ALL),
		  "start_ns=1|duration_ns=2|source=nsys-sqlite|clock=unknown\n");
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_strings_may_have_no_key)
{
	struct fixture f;
	struct world w;

	fixture_begin(&f);
	fixture_sql(&f,
		    "CREATE TABLE StringIds (id INTEGER, value TEXT);"
		    "INSERT INTO StringIds VALUES(9,'nine'),(2,'two'),(1,'one'),(NULL,'none');%s",
		    kernels);
	fixture_close(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_KERNELS, SQL_BIT(RK_K_NAME)),
		  "kernel_name=one\nkernel_name=two\n");
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_wrong_types_and_large_numbers_are_counted)
{
	struct fixture f;
	struct world w;

	fixture_begin(&f);
	fixture_sql(&f, "%s", strings);
	fixture_sql(&f,
		    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, streamId, gridX, blockX);"
		    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES('soon',3,5,2147483647,1024),"
		    "(-9223372036854775807,9223372036854775807,4294967296,1,1),(5,9,x'00',2,2)");
	fixture_close(&f);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_KERNELS, ~(SQL_BIT(RK_K_SOURCE) | SQL_BIT(RK_K_CLOCK))),
		  "grid_x=2147483647|block_x=1024|stream_id=5\n"
		  "start_ns=-9223372036854775807|grid_x=1|block_x=1|grid_items_x=1\n"
		  "start_ns=5|duration_ns=4|grid_x=2|block_x=2|grid_items_x=4\n");
	CHECK_U64(world_warned(&w, "wrong-type"), 2);
	CHECK_U64(world_warned(&w, "out-of-range"), 3);
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_database_that_only_looks_like_one_is_refused)
{
	struct fixture f;
	struct world w;

	fixture_begin(&f);
	fixture_sql(&f, "%s", strings);
	fixture_close(&f);
	world_open(&w, 1);
	CHECK(world_dump(&w, f.path, RK_KERNELS, RK_WANT_ALL) == NULL);
	CHECK_I64(w.err.code, RK_E_UNSUPPORTED);
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_damaged_table_gives_the_rows_before_the_damage)
{
	struct fixture f;
	struct world w;
	const char *got;

	fixture_begin(&f);
	fixture_sql(&f, "PRAGMA page_size=1024;%s;%s", strings, kernels);
	fixture_sql(&f,
		    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
		    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start,end) SELECT i,i+1 FROM n");
	fixture_close(&f);
	fixture_damage(&f, 12 * 1024, 0xff, 1024);
	world_open(&w, 1);
	got = world_dump(&w, f.path, RK_KERNELS, SQL_BIT(RK_K_START));
	CHECK(got != NULL);
	CHECK_U64(world_warned(&w, "damaged-database"), 1);
	world_close(&w);
	fixture_end(&f);
}

TEST(nsys_survives_every_failed_allocation)
{
	struct fixture f;

	usual(&f);
	every_alloc_may_fail(f.path, 2 + 6 + 2 + 4 + 1 + 2);
	fixture_end(&f);
}
