/* sysinfo_csv.c - sysinfo.csv over its generations. */
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

static void reads_as(const char *text, enum rk_table t, const char *want, const char *warnings)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_read(&w, "sysinfo.csv", text, t);
	if (!CHECK(got != NULL))
		CHECK_STR(w.err.message, "");
	else
		CHECK_STR(got, want);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

#define OMNIPERF_1                                                                            \
	"workload_name,host_name,host_cpu,host_distro,host_kernel,host_rocmver,date,gpu_soc," \
	"numSE,numCU,numSIMD,waveSize,maxWavesPerCU,maxWorkgroupSize,L1,L2,sclk,mclk,"        \
	"cur_sclk,cur_mclk,L2Banks,name,numSQC,hbmBW,ip_blocks\n"

TEST(sysinfo_of_omniperf_1_has_no_command)
{
	struct world w;

	reads_as(OMNIPERF_1 "w,node7,AMD EPYC,,4.18,4.2.0,Thu Sep 22,gfx908,8,120,4,64,40,1024,16,,"
			    "1502,1200,300,1200,32,mi100,48,1228.8,SQ|LDS",
		 RK_AGENTS,
		 "type=GPU|name=mi100|gfx=gfx908|product=mi100|cu_count=120|max_sclk_mhz=1502|"
		 "max_mclk_mhz=1200|wave_size=64|node=node7|se_count=8|simd_per_cu=4|"
		 "waves_per_cu=40|l2_channels=32|hbm_channels=32|sqc_count=48\n",
		 "");
	world_open(&w, 1);
	CHECK(world_text(&w, "sysinfo.csv", OMNIPERF_1) != NULL);
	{
		struct rk_reader *r = NULL;

		CHECK_I64(rk_reader_open(w.path, &w.ctx, &r, &w.err), 0);
		CHECK_U64(r ? r->tables : 0, RK_TABLE_BIT(RK_AGENTS));
		rk_reader_close(r);
	}
	world_close(&w);
}

#define COMPUTE_2                                                                          \
	"workload_name,command,ip_blocks,timestamp,version,hostname,cpu_model,sbios,"      \
	"linux_distro,linux_kernel_version,amd_gpu_kernel_version,cpu_memory,gpu_memory,"  \
	"rocm_version,vbios,compute_partition,memory_partition,gpu_model,gpu_arch,gpu_l1," \
	"gpu_l2,cu_per_gpu,simd_per_cu,se_per_gpu,wave_size,workgroup_max_size,"           \
	"max_waves_per_cu,max_sclk,max_mclk,cur_sclk,cur_mclk,total_l2_chan,"              \
	"lds_banks_per_cu,sqc_per_gpu,pipes_per_gpu,hbm_bw,num_xcd,num_hbm_channels\n"
#define ROW_2                                                                                \
	"SQ|LDS,Thu 30 May,2,node9,AMD Ryzen,\"American Megatrends, LLC.1\",Ubuntu,5.18,,"   \
	"114656528,,6.2.0,113-M,SPX,NPS1,MI300X_A1,gfx942,32,4096,304,4,32,64,1024,32,2100," \
	"1300,2100,1300,128,32,160,4,5324.8,8,128\n"

TEST(sysinfo_of_rocprof_compute_2_has_command_and_xcds)
{
	reads_as(COMPUTE_2 "w,./vcopy -n 1," ROW_2, RK_AGENTS,
		 "type=GPU|name=MI300X_A1|gfx=gfx942|product=MI300X_A1|cu_count=304|"
		 "max_sclk_mhz=2100|max_mclk_mhz=1300|xcc=8|wave_size=64|node=node9|se_count=32|"
		 "simd_per_cu=4|waves_per_cu=32|l2_channels=128|hbm_channels=128|lds_banks=32|"
		 "sqc_count=160|pipes=4\n",
		 "");
	reads_as(COMPUTE_2 "w,./vcopy -n 1," ROW_2, RK_PROCESSES,
		 "command=./vcopy -n 1|node=node9\n", "");
	reads_as(COMPUTE_2 "w,\"./vcopy -n 1,2\"," ROW_2, RK_PROCESSES,
		 "command=./vcopy -n 1,2|node=node9\n", "");
}

TEST(sysinfo_of_rocprof_compute_3_may_lack_clocks)
{
	reads_as("workload_name,command,ip_blocks,hostname,gpu_series,gpu_model,gpu_arch,"
		 "gpu_chip_id,cu_per_gpu,wave_size,max_sclk,max_mclk,cur_sclk,num_xcd\n"
		 "w,cmd,SQ,h,MI300,MI300X_A1,gfx942,29857,304,64,2100,,2100,8\n",
		 RK_AGENTS,
		 "type=GPU|name=MI300X_A1|gfx=gfx942|product=MI300X_A1|cu_count=304|"
		 "max_sclk_mhz=2100|xcc=8|wave_size=64|node=h\n",
		 "");
}

#define NARROW "workload_name,ip_blocks,gpu_arch,max_mclk,"

TEST(sysinfo_bandwidth_corrects_the_count_of_channels)
{
	reads_as(NARROW "hbm_bw,num_hbm_channels\n"
			"w,SQ,gfx942,1300,5324.8,96\n" /* 1.3 * 32 * 128 */
			"w,SQ,gfx942,1300,5324.8,\n"
			"w,SQ,gfx908,1200,1200,32\n" /* another tool's figure: 31.25 channels */
			"w,SQ,gfx942,,5324.8,96\n"
			"w,SQ,gfx942,1300,,64\n"
			"w,SQ,gfx942,0,5324.8,\n"
			"w,SQ,gfx942,1300,nan,\n",
		 RK_AGENTS,
		 "type=GPU|gfx=gfx942|max_mclk_mhz=1300|hbm_channels=128\n"
		 "type=GPU|gfx=gfx942|max_mclk_mhz=1300|hbm_channels=128\n"
		 "type=GPU|gfx=gfx908|max_mclk_mhz=1200|hbm_channels=32\n"
		 "type=GPU|gfx=gfx942|hbm_channels=96\n"
		 "type=GPU|gfx=gfx942|max_mclk_mhz=1300|hbm_channels=64\n"
		 "type=GPU|gfx=gfx942|max_mclk_mhz=0\n"
		 "type=GPU|gfx=gfx942|max_mclk_mhz=1300\n",
		 "bad-number:1 ");
}

TEST(sysinfo_of_omniperf_2_counts_channels_of_all_dies)
{
	reads_as("workload_name,ip_blocks,gpu_soc,L2Banks,totalL2Banks,LDSBanks,numPipes\n"
		 "w,SQ,gfx942,16,128,32,4\n",
		 RK_AGENTS, "type=GPU|gfx=gfx942|l2_channels=128|lds_banks=32|pipes=4\n", "");
}

TEST(sysinfo_with_odd_cells_and_rows)
{
	reads_as(COMPUTE_2, RK_AGENTS, "", "");
	reads_as(COMPUTE_2 "w,cmd,SQ\n", RK_AGENTS, "", "short-row:1 ");
	reads_as(
		"workload_name,ip_blocks,gpu_arch,cu_per_gpu,num_xcd\nw,SQ,gfx942,many,99999999999999999999\n",
		RK_AGENTS, "type=GPU|gfx=gfx942\n", "bad-number:1 number-out-of-range:1 ");
}

TEST(sysinfo_in_want_of_memory_fails_cleanly)
{
	struct world w;
	const char *path, *got = NULL;

	world_open(&w, 1);
	path = world_text(&w, "sysinfo.csv", COMPUTE_2 "w,./vcopy -n 1," ROW_2);
	for (uint64_t n = 1; n < 5000; n++) {
		rk_alloc_fail_after(n);
		got = world_dump(&w, path, RK_AGENTS, RK_WANT_ALL);
		if (!rk_alloc_failed())
			break;
		CHECK(got || w.err.code == RK_E_NOMEM || !w.err.code);
	}
	rk_alloc_fail_after(0);
	CHECK(got != NULL);
	world_close(&w);
}

TEST(sysinfo_with_more_columns_than_any_has_no_release)
{
	struct rk_reader *r = NULL;
	struct rk_bytes text;
	struct world w;

	world_open(&w, 1);
	rk_bytes_init(&text, 1 << 16);
	rk_bytes_puts(&text, "workload_name,ip_blocks,gpu_arch");
	for (unsigned i = 3; i < 128; i++)
		rk_bytes_printf(&text, ",c%u", i);
	rk_bytes_puts(&text, ",rocm_version\nw,SQ,gfx942");
	for (unsigned i = 3; i < 128; i++)
		rk_bytes_puts(&text, ",1");
	rk_bytes_puts(&text, ",7.1.0\n");
	CHECK(world_text(&w, "sysinfo.csv", rk_bytes_str(&text)) != NULL);
	CHECK_I64(rk_reader_open(w.path, &w.ctx, &r, &w.err), 0);
	CHECK_I64(r ? r->release : -1, 0);
	rk_reader_close(r);
	rk_bytes_release(&text);
	world_close(&w);
}
