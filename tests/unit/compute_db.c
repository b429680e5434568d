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

/* Schema 2: samples are spread over tables; the benchmark and metrics are samples without a time. */
static const char newer[] =
	"CREATE TABLE compute_metadata (id INTEGER NOT NULL, compute_version VARCHAR,"
	" git_version VARCHAR, schema_version VARCHAR, PRIMARY KEY (id));"
	"INSERT INTO compute_metadata VALUES(1,'3.9.0','abc','2.0.0');"
	"CREATE TABLE compute_workload (workload_id INTEGER NOT NULL, name VARCHAR, sub_name VARCHAR,"
	" sys_info_extdata JSON, roofline_bench_extdata JSON, PRIMARY KEY (workload_id));"
	"INSERT INTO compute_workload VALUES(1,'w','MI350','{\"gpu_arch\": \"gfx950\","
	" \"num_memory_channels\": 128}','{\"HBMBw\": 4885.5, \"L2Bw\": \"x\", \"other\": 1}');"
	"CREATE TABLE compute_metric_definition (metric_uuid INTEGER NOT NULL, workload_id INTEGER,"
	" name VARCHAR, metric_id VARCHAR, unit VARCHAR, PRIMARY KEY (metric_uuid));"
	"INSERT INTO compute_metric_definition VALUES(7,1,'VALU FLOPs','2.1.0','Gflop/s');"
	"CREATE TABLE compute_workload_metric_value (value_uuid INTEGER NOT NULL, metric_uuid INTEGER,"
	" workload_id INTEGER, value_name VARCHAR, value FLOAT, PRIMARY KEY (value_uuid));"
	"INSERT INTO compute_workload_metric_value VALUES(1,7,1,'Avg',125.5),(2,9,1,NULL,NULL);"
	"CREATE TABLE compute_kernel_metric_value (value_uuid INTEGER NOT NULL, metric_uuid INTEGER,"
	" kernel_uuid INTEGER, value_name VARCHAR, value FLOAT, PRIMARY KEY (value_uuid));"
	"INSERT INTO compute_kernel_metric_value VALUES(1,7,1,'Avg',1),(2,7,1,'Max',2);"
	"CREATE TABLE compute_kernel (kernel_uuid INTEGER NOT NULL, kernel_name VARCHAR,"
	" PRIMARY KEY (kernel_uuid));"
	"INSERT INTO compute_kernel VALUES(1,'add');"
	"CREATE TABLE compute_instruction_line (instruction_uuid INTEGER NOT NULL, code_object_uuid"
	" INTEGER, kernel_uuid INTEGER, code_object_offset INTEGER, comment TEXT, instruction TEXT,"
	" PRIMARY KEY (instruction_uuid));"
	"INSERT INTO compute_instruction_line VALUES(5,1,1,64,'a.hip:3','s_nop 0'),"
	"(6,1,NULL,68,NULL,'s_endpgm');"
	"CREATE TABLE compute_pc_sample_state (pc_sample_state_uuid INTEGER NOT NULL,"
	" instruction_uuid INTEGER, total_count INTEGER, issue_count INTEGER, stall_count INTEGER,"
	" PRIMARY KEY (pc_sample_state_uuid));"
	"INSERT INTO compute_pc_sample_state VALUES(1,5,12,2,10),(2,6,4,NULL,NULL),(3,5,3,0,3);"
	"CREATE TABLE compute_pc_sample_stall_reason_type (pc_sample_stall_reason_type_uuid INTEGER"
	" NOT NULL, text VARCHAR, PRIMARY KEY (pc_sample_stall_reason_type_uuid));"
	"INSERT INTO compute_pc_sample_stall_reason_type VALUES(1,'WAITCNT'),(2,'OTHER');"
	"CREATE TABLE compute_pc_sample_stall_reason (pc_sample_stall_reason_uuid INTEGER NOT NULL,"
	" pc_sample_state_uuid INTEGER, pc_sample_stall_reason_type_uuid INTEGER, count INTEGER,"
	" PRIMARY KEY (pc_sample_stall_reason_uuid));"
	"INSERT INTO compute_pc_sample_stall_reason VALUES(1,1,1,7),(2,1,2,3),(3,3,1,3),(4,99,9,1)";

TEST(compute_db_of_schema_2_gives_samples_by_stall_reason)
{
	struct fixture f;
	struct world w;

	make(&f, newer);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_PC_SAMPLES, RK_WANT_ALL),
		  "kernel_name=add|instruction=s_nop 0|source_line=a.hip:3|wave_count=2\n"
		  "instruction=s_endpgm|wave_count=4\n"
		  "kernel_name=add|instruction=s_nop 0|source_line=a.hip:3|stall_reason=WAITCNT|"
		  "wave_count=7\n"
		  "kernel_name=add|instruction=s_nop 0|source_line=a.hip:3|stall_reason=OTHER|"
		  "wave_count=3\n"
		  "kernel_name=add|instruction=s_nop 0|source_line=a.hip:3|stall_reason=WAITCNT|"
		  "wave_count=3\n"
		  "wave_count=1\n");
	CHECK_STR(world_dump(&w, f.path, RK_AGENTS, RK_WANT_ALL),
		  "type=GPU|name=gfx950|gfx=gfx950|hbm_channels=128\n");
	world_close(&w);
	fixture_end(&f);
}

TEST(compute_db_gives_metrics_of_the_workload_and_its_benchmark)
{
	struct fixture f;
	struct world w;

	make(&f, newer);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_SAMPLES, RK_WANT_ALL),
		  "metric=HBMBw|value=4885.5|unit=GB/s\n"
		  "metric=2.1.0 VALU FLOPs (Avg)|value=125.5|unit=Gflop/s\n"
		  "\n");
	CHECK(strstr(world_warnings(&w), "kernel-metrics") != NULL);
	world_close(&w);
	fixture_end(&f);
}

TEST(compute_db_of_a_newer_schema_is_read_with_a_note)
{
	struct fixture f;
	struct world w;

	make(&f, "CREATE TABLE compute_metadata (id INTEGER PRIMARY KEY, schema_version VARCHAR);"
		 "INSERT INTO compute_metadata VALUES(1,'3.1.0');"
		 "CREATE TABLE compute_workload (sys_info_extdata JSON);"
		 "INSERT INTO compute_workload VALUES('{\"command\": \"a\"}')");
	world_open(&w, 1);
	for (int i = 0; i < 2; i++)
		CHECK_STR(world_dump(&w, f.path, RK_PROCESSES, RK_WANT_ALL), "command=a\n");
	CHECK_STR(world_warnings(&w), "unknown-schema:1 ");
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
	make(&f, newer);
	every_alloc_may_fail(f.path, 6 + 1 + 1 + 3);
	fixture_end(&f);
}
