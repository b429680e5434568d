/* rocprof_v1_db.c (test) - results.db of rocprof: each way its script has laid it out. */
#include "every_alloc.h"
#include "rocpd_fixture.h"

#define BIT(f) (UINT64_C(1) << (f))

static void make(struct fixture *f, const char *sql)
{
	fixture_begin(f);
	fixture_sql(f, "%s", sql);
	fixture_close(f);
}

static void reads_as(const char *sql, enum rk_table t, uint64_t want, const char *rows)
{
	struct fixture f;
	struct world w;

	make(&f, sql);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, t, want), rows);
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
	fixture_end(&f);
}

static const char kern[] =
	"CREATE TABLE KERN (\"Index\" INTEGER, \"KernelName\" TEXT, \"gpu-id\" INTEGER,"
	" \"queue-id\" INTEGER, \"queue-index\" INTEGER, \"pid\" INTEGER, \"tid\" INTEGER,"
	" \"grd\" INTEGER, \"wgr\" INTEGER, \"lds\" INTEGER, \"scr\" INTEGER, \"arch_vgpr\""
	" INTEGER, \"accum_vgpr\" INTEGER, \"sgpr\" INTEGER, \"wave_size\" INTEGER, \"sig\""
	" INTEGER, \"obj\" INTEGER, \"SQ_WAVES\" INTEGER, \"Wavefronts\" REAL, \"DispatchNs\""
	" INTEGER, \"BeginNs\" INTEGER, \"EndNs\" INTEGER, \"CompleteNs\" INTEGER,"
	" \"DurationNs\" INTEGER);"
	"INSERT INTO KERN VALUES(0,'\"add(int*, int) [clone .kd]\"',8,2,0,500,501,1000,64,512,16,"
	"32,4,48,64,'0x0','0x7f00',16,0.5,90,100,180,190,80),"
	"(1,'\"<barrier packet>\"',8,2,1,500,501,0,0,0,0,0,0,0,64,'0x0','0x0',0,0,200,210,211,"
	"220,1)";

TEST(v1_db_kernels_are_in_kern)
{
	reads_as(kern, RK_KERNELS, RK_WANT_ALL,
		 "kernel_name=add(int*, int) [clone .kd]|start_ns=100|duration_ns=80|grid_x=16|"
		 "grid_y=1|grid_z=1|block_x=64|block_y=1|block_z=1|regs=36|shared_mem=512|"
		 "stream_id=2|device_id=8|queue_id=2|dispatch_id=0|pid=500|tid=501|vgpr=32|"
		 "accum_vgpr=4|sgpr=48|scratch_bytes=16|wave_size=64|grid_items_x=1000|"
		 "grid_items_y=1|grid_items_z=1|barrier=0|source=rocprof-v1-db|clock=monotonic\n"
		 "kernel_name=<barrier packet>|start_ns=210|duration_ns=1|grid_y=1|grid_z=1|"
		 "block_x=0|block_y=1|block_z=1|regs=0|shared_mem=0|stream_id=2|device_id=8|"
		 "queue_id=2|dispatch_id=1|pid=500|tid=501|vgpr=0|accum_vgpr=0|sgpr=0|"
		 "scratch_bytes=0|wave_size=64|grid_items_x=0|grid_items_y=1|grid_items_z=1|"
		 "barrier=1|source=rocprof-v1-db|clock=monotonic\n");
}

TEST(v1_db_counters_are_the_other_columns_of_kern)
{
	reads_as(kern, RK_COUNTERS, RK_WANT_ALL,
		 "dispatch_id=0|kernel_name=add(int*, int) [clone .kd]|counter=SQ_WAVES|value=16|"
		 "device_id=8|pid=500\n"
		 "dispatch_id=1|kernel_name=<barrier packet>|counter=SQ_WAVES|value=0|device_id=8|"
		 "pid=500\n"
		 "dispatch_id=0|kernel_name=add(int*, int) [clone .kd]|counter=Wavefronts|"
		 "value=0.5|device_id=8|pid=500\n"
		 "dispatch_id=1|kernel_name=<barrier packet>|counter=Wavefronts|value=0|"
		 "device_id=8|pid=500\n");
}

TEST(v1_db_of_old_scripts_has_vgpr_in_table_a)
{
	reads_as("CREATE TABLE A (\"Index\" INTEGER, \"KernelName\" TEXT, \"vgpr\" INTEGER,"
		 " \"fbar\" INTEGER, \"BeginNs\" INTEGER, \"EndNs\" INTEGER);"
		 "INSERT INTO A VALUES(0,'\"k.kd\"',24,0,5,9)",
		 RK_KERNELS, BIT(RK_K_NAME) | BIT(RK_K_REGS) | BIT(RK_K_VGPR) | BIT(RK_K_DURATION),
		 "kernel_name=k.kd|duration_ns=4|regs=24|vgpr=24\n");
}

static const char traced[] =
	"CREATE TABLE A (\"Index\" INTEGER, \"KernelName\" TEXT);"
	"CREATE TABLE OPS (\"BeginNs\" INTEGER, \"EndNs\" INTEGER, \"dev-id\" INTEGER,"
	" \"queue-id\" INTEGER, \"Name\" TEXT, \"pid\" INTEGER, \"tid\" INTEGER, \"Index\""
	" INTEGER, \"proc-id\" INTEGER, \"Data\" TEXT, \"DurationNs\" INTEGER);"
	"INSERT INTO OPS VALUES(100,150,0,1,'f(int, int)',6,1,21,500,'',50),"
	"(160,160,0,0,'<barrier packet>',6,0,22,500,'',0);"
	"CREATE TABLE COPY (\"BeginNs\" INTEGER, \"EndNs\" INTEGER, \"dev-id\" INTEGER,"
	" \"queue-id\" INTEGER, \"Name\" TEXT, \"pid\" INTEGER, \"tid\" INTEGER, \"Index\""
	" INTEGER, \"proc-id\" INTEGER, \"Data\" TEXT, \"DurationNs\" INTEGER);"
	"INSERT INTO COPY VALUES(10,20,0,3,'CopyHostToDevice',1,0,8,500,'',10);"
	"CREATE TABLE HIP (\"BeginNs\" INTEGER, \"EndNs\" INTEGER, \"pid\" INTEGER, \"tid\""
	" INTEGER, \"Name\" TEXT, \"args\" TEXT, \"Index\" INTEGER, \"Data\" TEXT, \"DurationNs\""
	" INTEGER);"
	"INSERT INTO HIP VALUES(1,5,2,501,'hipMalloc','( ptr(0x1) )',7,'',4);"
	"CREATE TABLE rocTX (\"BeginNs\" INTEGER, \"EndNs\" INTEGER, \"pid\" INTEGER, \"tid\""
	" INTEGER, \"Name\" TEXT, \"Index\" INTEGER);"
	"INSERT INTO rocTX VALUES(1,2,0,501,'\"here\"',0),(3,90,0,501,'\"loop\"',1)";

TEST(v1_db_kernels_are_in_ops_when_hip_was_traced)
{
	reads_as(traced, RK_KERNELS, RK_WANT_ALL,
		 "kernel_name=f(int, int)|start_ns=100|duration_ns=50|stream_id=1|device_id=0|"
		 "queue_id=1|correlation_id=21|pid=500|barrier=0|source=rocprof-v1-db|"
		 "clock=monotonic\n"
		 "kernel_name=<barrier packet>|start_ns=160|duration_ns=0|stream_id=0|device_id=0|"
		 "queue_id=0|correlation_id=22|pid=500|barrier=1|source=rocprof-v1-db|"
		 "clock=monotonic\n");
}

TEST(v1_db_copies_calls_and_marks)
{
	reads_as(traced, RK_MEMCPY, RK_WANT_ALL,
		 "direction=CopyHostToDevice|start_ns=10|duration_ns=10|stream_id=3|"
		 "correlation_id=8|pid=500\n");
	reads_as(traced, RK_API, RK_WANT_ALL,
		 "domain=HIP_API|function=hipMalloc|start_ns=1|duration_ns=4|correlation_id=7|"
		 "tid=501\n");
	reads_as(traced, RK_MARKERS, RK_WANT_ALL,
		 "name=here|kind=mark|start_ns=1|duration_ns=1|tid=501\n"
		 "name=loop|kind=range|start_ns=3|duration_ns=87|tid=501\n");
}

TEST(v1_db_with_sections_has_processes_and_streams)
{
	reads_as("CREATE TABLE OPS (\"BeginNs\" INTEGER, \"EndNs\" INTEGER, \"dev-id\" INTEGER,"
		 " \"queue-id\" INTEGER, \"Name\" TEXT, \"pid\" INTEGER, \"tid\" INTEGER,"
		 " \"roctx-range\" TEXT, \"stream-id\" INTEGER, \"Index\" INTEGER, \"__section\""
		 " INTEGER, \"__lane\" INTEGER);"
		 "INSERT INTO OPS VALUES(1,3,0,1,'k',500,501,'',4,9,6,1)",
		 RK_KERNELS, BIT(RK_K_PID) | BIT(RK_K_TID) | BIT(RK_K_STREAM) | BIT(RK_K_QUEUE),
		 "stream_id=4|queue_id=1|pid=500|tid=501\n");
	reads_as("CREATE TABLE HSA (\"BeginNs\" INTEGER, \"EndNs\" INTEGER, \"pid\" INTEGER,"
		 " \"tid\" INTEGER, \"Name\" TEXT, \"__section\" INTEGER);"
		 "INSERT INTO HSA VALUES(1,3,500,501,'hsa_init',3)",
		 RK_API, RK_WANT_ALL,
		 "domain=HSA_API|function=hsa_init|start_ns=1|duration_ns=2|pid=500|tid=501\n");
}

TEST(v1_db_without_times_gives_what_it_has)
{
	reads_as("CREATE TABLE KERN (\"Index\" INTEGER, \"KernelName\" TEXT, \"GRBM_COUNT\""
		 " INTEGER); INSERT INTO KERN VALUES(3,'k',7)",
		 RK_KERNELS, BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DISPATCH),
		 "kernel_name=k|dispatch_id=3\n");
}

TEST(v1_db_numbers_that_are_none_are_counted)
{
	struct fixture f;
	struct world w;

	make(&f, "CREATE TABLE KERN (\"Index\" INTEGER, \"KernelName\" TEXT, \"grd\" INTEGER,"
		 " \"wgr\" INTEGER, \"BeginNs\" INTEGER, \"EndNs\" INTEGER, \"SQ_WAVES\" REAL);"
		 "INSERT INTO KERN VALUES(0,'\"',4294967040,256,'None',9,'None'),"
		 "(1,NULL,64,0,1,2,NULL)");
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_KERNELS,
			     BIT(RK_K_NAME) | BIT(RK_K_GRID_X) | BIT(RK_K_ITEMS_X) |
				     BIT(RK_K_DURATION)),
		  "kernel_name=\"|grid_x=16777215\nduration_ns=1|grid_items_x=64\n");
	CHECK_STR(world_dump(&w, f.path, RK_COUNTERS, BIT(RK_N_DISPATCH) | BIT(RK_N_VALUE)),
		  "dispatch_id=0\ndispatch_id=1\n");
	CHECK_U64(world_warned(&w, "wrong-type"), 2);
	CHECK_U64(world_warned(&w, "out-of-range"), 1);
	world_close(&w);
	fixture_end(&f);
}

TEST(v1_db_survives_every_failed_allocation)
{
	struct fixture f;

	make(&f, kern);
	every_alloc_may_fail(f.path, 2 + 4);
	fixture_end(&f);
	make(&f, traced);
	every_alloc_may_fail(f.path, 2 + 1 + 1 + 2);
	fixture_end(&f);
}
