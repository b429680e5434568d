/* compute_db.c (test) - analysis databases of rocprof-compute. */
#include "every_alloc.h"
#include "rocpd_fixture.h"

static const char usual[] =
	"CREATE TABLE compute_workload (workload_id INTEGER NOT NULL, name VARCHAR,"
	" sys_info_extdata JSON, PRIMARY KEY (workload_id));"
	"INSERT INTO compute_workload VALUES(1,'w','{\"command\": \"./app -n 1\", \"hostname\":"
	" \"node1\", \"gpu_arch\": \"gfx950\", \"gpu_model\": \"MI350\", \"cu_per_gpu\": 256,"
	" \"max_sclk\": \"2200\", \"max_mclk\": 1900, \"num_xcd\": 8, \"wave_size\": 64,"
	" \"se_per_gpu\": 32, \"simd_per_cu\": 4, \"max_waves_per_cu\": \"32\", \"total_l2_chan\":"
	" \"128\", \"num_hbm_channels\": 128, \"lds_banks_per_cu\": 32, \"sqc_per_gpu\": 128,"
	" \"pipes_per_gpu\": 4}');"
	"CREATE TABLE compute_kernel (kernel_uuid INTEGER NOT NULL, workload_id INTEGER,"
	" kernel_name VARCHAR, PRIMARY KEY (kernel_uuid));"
	"INSERT INTO compute_kernel VALUES(1,1,'add'),(2,1,'mul');"
	"CREATE TABLE compute_dispatch (dispatch_uuid INTEGER NOT NULL, kernel_uuid INTEGER,"
	" dispatch_id INTEGER, gpu_id INTEGER, start_timestamp INTEGER, end_timestamp INTEGER,"
	" PRIMARY KEY (dispatch_uuid));"
	"INSERT INTO compute_dispatch VALUES(1,2,0,4,100,250),(2,1,1,4,300,301),(3,9,2,4,NULL,5);"
	"CREATE TABLE compute_pcsampling (pc_sampling_uuid INTEGER NOT NULL, kernel_uuid INTEGER,"
	" source VARCHAR, instruction VARCHAR, count INTEGER, stall_reason JSON,"
	" PRIMARY KEY (pc_sampling_uuid));"
	"INSERT INTO compute_pcsampling VALUES(1,1,'a.hip:3','s_nop 0',12,'{\"WAIT\": 3}')";

static void make(struct fixture *f, const char *sql)
{
	fixture_begin(f);
	fixture_sql(f, "%s", sql);
	fixture_close(f);
}

TEST(compute_db_gives_kernels_samples_gpu_and_command)
{
	struct fixture f;
	struct world w;

	make(&f, usual);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_KERNELS, RK_WANT_ALL),
		  "kernel_name=mul|start_ns=100|duration_ns=150|device_id=4|dispatch_id=0|"
		  "node=node1|source=rocprof-compute-db|clock=unknown\n"
		  "kernel_name=add|start_ns=300|duration_ns=1|device_id=4|dispatch_id=1|node=node1|"
		  "source=rocprof-compute-db|clock=unknown\n"
		  "device_id=4|dispatch_id=2|node=node1|source=rocprof-compute-db|clock=unknown\n");
	CHECK_STR(world_dump(&w, f.path, RK_PC_SAMPLES, RK_WANT_ALL),
		  "kernel_name=add|instruction=s_nop 0|source_line=a.hip:3|"
		  "stall_reason={\"WAIT\": 3}|wave_count=12|node=node1\n");
	CHECK_STR(world_dump(&w, f.path, RK_AGENTS, RK_WANT_ALL),
		  "type=GPU|name=gfx950|gfx=gfx950|product=MI350|cu_count=256|max_sclk_mhz=2200|"
		  "max_mclk_mhz=1900|xcc=8|wave_size=64|node=node1|se_count=32|simd_per_cu=4|"
		  "waves_per_cu=32|l2_channels=128|hbm_channels=128|lds_banks=32|sqc_count=128|"
		  "pipes=4\n");
	CHECK_STR(world_dump(&w, f.path, RK_PROCESSES, RK_WANT_ALL),
		  "command=./app -n 1|node=node1\n");
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
	fixture_end(&f);
}

TEST(compute_db_that_mentions_rocpd_is_not_read_as_one)
{
	struct fixture f;
	struct world w;

	make(&f, "CREATE TABLE compute_workload (sys_info_extdata JSON);"
		 "INSERT INTO compute_workload VALUES('{\"command\": \"rocpd_convert\"}'),"
		 "('not json'),(NULL)");
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_PROCESSES, RK_WANT_ALL), "command=rocpd_convert\n\n\n");
	world_close(&w);
	fixture_end(&f);
}

TEST(compute_db_survives_every_failed_allocation)
{
	struct fixture f;

	make(&f, usual);
	every_alloc_may_fail(f.path, 3 + 1 + 1 + 1);
	fixture_end(&f);
}
