/* gen_csv.c - a directory as rocprofv3 --output-format csv leaves it. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gen_out.h"

/* Only the first dispatches have counters: two rows each. */
enum { MAX_COUNTED = 5000, NCOUNTERS = 2 };

struct stats {
	unsigned kernel;
	uint64_t calls;
	int64_t total_ns, min_ns, max_ns;
	long double sum_squares;
};

struct run {
	struct gen_out *kernel, *api, *copy, *alloc, *marker, *counter;
	char host_dir[3000];
	struct stats stats[GEN_KERNELS];
	uint64_t counter_state;
	int64_t phase_start_ns;
};

static void make_dir(const char *path)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		gen_die("cannot make directory", path);
}

static struct gen_out *open_file(const struct run *r, const char *what)
{
	static char paths[8][4096]; /* a gen_out keeps its path for messages */
	static unsigned used;
	char *path = paths[used++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%d_%s.csv", r->host_dir, GEN_PID, what);
	return gen_out_open(path);
}

static void put_agent(struct gen_out *o, unsigned id)
{
	gen_put(o, "\"Agent ");
	gen_put_u64(o, id);
	gen_put(o, "\",");
}

static void put_times(struct gen_out *o, int64_t start_ns, int64_t end_ns)
{
	gen_cell_u64(o, (uint64_t)start_ns);
	gen_last_u64(o, (uint64_t)end_ns);
}

static void api_row(struct gen_out *o, const char *domain, const char *function,
		    const struct gen_event *e, int64_t start_ns, int64_t end_ns)
{
	gen_cell(o, domain);
	gen_cell(o, function);
	gen_cell_u64(o, GEN_PID);
	gen_cell_u64(o, e->tid);
	gen_cell_u64(o, e->correlation_id);
	put_times(o, start_ns, end_ns);
}

static void copy_row(struct gen_out *o, const struct gen_event *e)
{
	gen_put(o, e->to_device ? "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_DEVICE\"," :
				  "\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",");
	gen_cell_u64(o, e->stream);
	put_agent(o, e->to_device ? 0 : e->agent);
	put_agent(o, e->to_device ? e->agent : 0);
	gen_cell_u64(o, e->correlation_id);
	put_times(o, e->start_ns, e->end_ns);
}

static void alloc_row(struct gen_out *o, const struct gen_event *e, bool is_free)
{
	char address[24];

	gen_put(o, "\"MEMORY_ALLOCATION\",");
	gen_cell(o, is_free ? "MEMORY_ALLOCATION_FREE" : "MEMORY_ALLOCATION_ALLOCATE");
	if (is_free)
		gen_put(o, "\"\",");
	else
		put_agent(o, e->agent);
	gen_cell_u64(o, is_free ? 0 : e->bytes);
	snprintf(address, sizeof(address), "0x%016" PRIx64,
		 UINT64_C(0x7beb64200000) + (e->correlation_id << 21));
	gen_cell(o, address);
	gen_cell_u64(o, e->correlation_id);
	put_times(o, e->call_start_ns, e->call_end_ns);
}

static void counter_rows(struct run *r, const struct gen_event *e)
{
	static const char *const names[NCOUNTERS] = { "SQ_WAVES", "GRBM_GUI_ACTIVE" };
	const struct gen_kernel *k = &gen_kernels[e->kernel];
	struct gen_out *o = r->counter;
	uint64_t values[NCOUNTERS];

	values[0] = (uint64_t)e->grid[0] * e->grid[1] / 64 + 1;
	values[1] =
		(uint64_t)(e->end_ns - e->start_ns) * 21 / 10 + gen_random(&r->counter_state) % 64;
	for (int i = 0; i < NCOUNTERS; i++) {
		gen_cell_u64(o, e->correlation_id);
		gen_cell_u64(o, e->dispatch_id);
		put_agent(o, e->agent);
		gen_cell_u64(o, e->queue);
		gen_cell_u64(o, GEN_PID);
		gen_cell_u64(o, e->tid);
		gen_cell_u64(o, (uint32_t)(e->grid[0] * e->grid[1] * e->grid[2]));
		gen_cell_u64(o, e->kernel + 1);
		gen_cell(o, k->name);
		gen_cell_u64(o, k->block[0] * k->block[1] * k->block[2]);
		gen_cell_u64(o, k->lds);
		gen_cell_u64(o, k->scratch);
		gen_cell_u64(o, k->vgpr);
		gen_cell_u64(o, k->accum_vgpr);
		gen_cell_u64(o, k->sgpr);
		gen_cell(o, names[i]);
		gen_put_u64(o, values[i]);
		gen_put(o, ".000000,");
		put_times(o, e->start_ns, e->end_ns);
	}
}

static void count(struct stats *s, int64_t ns)
{
	if (s->calls == 0 || ns < s->min_ns)
		s->min_ns = ns;
	if (s->calls == 0 || ns > s->max_ns)
		s->max_ns = ns;
	s->calls++;
	s->total_ns += ns;
	s->sum_squares += (long double)ns * (long double)ns;
}

static int by_total(const void *a, const void *b)
{
	const struct stats *x = a, *y = b;

	return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
}

static void put_real(struct gen_out *o, double v, const char *end)
{
	char text[64];

	snprintf(text, sizeof(text), v >= 1 ? "%.6f%s" : "%.8e%s", v, end);
	gen_put(o, text);
}

static void put_percent(struct gen_out *o, double v)
{
	char text[64];

	snprintf(text, sizeof(text), v >= 1 ? "%.2f," : v > 0.01 ? "%.4f," : "%.8e,", v);
	gen_put(o, text);
}

static void stats_row(struct gen_out *o, const struct stats *s, int64_t all_ns)
{
	long double n = (long double)s->calls, mean = (long double)s->total_ns / n;
	long double variance = s->calls > 1 ? (s->sum_squares - mean * mean * n) / (n - 1) : 0;

	gen_cell(o, gen_kernels[s->kernel].name);
	gen_cell_u64(o, s->calls);
	gen_cell_u64(o, (uint64_t)s->total_ns);
	put_real(o, (double)mean, ",");
	put_percent(o, 100.0 * (double)s->total_ns / (double)all_ns);
	gen_cell_u64(o, (uint64_t)s->min_ns);
	gen_cell_u64(o, (uint64_t)s->max_ns);
	put_real(o, variance > 0 ? sqrt((double)variance) : 0, "\n");
}

static void write_stats(struct run *r)
{
	struct gen_out *o = open_file(r, "kernel_stats");
	int64_t all_ns = 0;

	gen_put(o, "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\","
		   "\"MaxNs\",\"StdDev\"\n");
	for (int i = 0; i < GEN_KERNELS; i++)
		all_ns += r->stats[i].total_ns;
	qsort(r->stats, GEN_KERNELS, sizeof(r->stats[0]), by_total);
	for (int i = 0; i < GEN_KERNELS && r->stats[i].calls; i++)
		stats_row(o, &r->stats[i], all_ns);
	gen_out_close(o);
}

static void write_agents(const struct run *r)
{
	struct gen_out *o = open_file(r, "agent_info");

	gen_put(o,
		"\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cpu_Cores_Count\",\"Simd_Count\","
		"\"Cpu_Core_Id_Base\",\"Simd_Id_Base\",\"Max_Waves_Per_Simd\",\"Lds_Size_In_Kb\","
		"\"Gds_Size_In_Kb\",\"Num_Gws\",\"Wave_Front_Size\",\"Num_Xcc\",\"Cu_Count\","
		"\"Array_Count\",\"Num_Shader_Banks\",\"Simd_Arrays_Per_Engine\","
		"\"Cu_Per_Simd_Array\",\"Simd_Per_Cu\",\"Max_Slots_Scratch_Cu\","
		"\"Gfx_Target_Version\",\"Vendor_Id\",\"Device_Id\",\"Location_Id\",\"Domain\","
		"\"Drm_Render_Minor\",\"Num_Sdma_Engines\",\"Num_Sdma_Xgmi_Engines\","
		"\"Num_Sdma_Queues_Per_Engine\",\"Num_Cp_Queues\",\"Max_Engine_Clk_Ccompute\","
		"\"Max_Engine_Clk_Fcompute\",\"Sdma_Fw_Version\",\"Fw_Version\",\"Capability\","
		"\"Cu_Per_Engine\",\"Max_Waves_Per_Cu\",\"Family_Id\",\"Workgroup_Max_Size\","
		"\"Grid_Max_Size\",\"Local_Mem_Size\",\"Hive_Id\",\"Gpu_Id\","
		"\"Workgroup_Max_Dim_X\",\"Workgroup_Max_Dim_Y\",\"Workgroup_Max_Dim_Z\","
		"\"Grid_Max_Dim_X\",\"Grid_Max_Dim_Y\",\"Grid_Max_Dim_Z\",\"Name\",\"Vendor_Name\","
		"\"Product_Name\",\"Model_Name\"\n");
	for (unsigned id = 0; id < GEN_FIRST_GPU; id++) {
		gen_cell_u64(o, id);
		gen_cell_u64(o, id);
		gen_put(o, "\"CPU\",24,0,0,0,0,0,0,0,0,1,24,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3800,0,"
			   "0,0,0,0,0,23,0,0,0,0,0,0,0,0,0,0,0,\"AMD EPYC 9534 64-Core Processor\","
			   "\"CPU\",\"AMD EPYC 9534 64-Core Processor\",\"\"\n");
	}
	for (unsigned id = GEN_FIRST_GPU; id < GEN_FIRST_GPU + GEN_GPUS; id++) {
		gen_cell_u64(o, id);
		gen_cell_u64(o, id);
		gen_put(o, "\"GPU\",0,1216,0,2147487744,8,64,0,64,64,8,304,32,4,1,10,4,32,90402,"
			   "4098,29857,1280,0,128,2,14,8,24,3700,2100,24,177,671588992,80,32,145,"
			   "1024,4294967295,206141652992,0,64700,1024,1024,1024,2147483647,65535,"
			   "65535,\"gfx942\",\"AMD\",\"AMD Instinct MI300X\",\"ip discovery\"\n");
	}
	gen_out_close(o);
}

#define API_HEADER                                                                 \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"

static void open_run(struct run *r)
{
	r->kernel = open_file(r, "kernel_trace");
	r->api = open_file(r, "hip_api_trace");
	r->copy = open_file(r, "memory_copy_trace");
	r->alloc = open_file(r, "memory_allocation_trace");
	r->marker = open_file(r, "marker_api_trace");
	r->counter = open_file(r, "counter_collection");
	gen_kernel_header(r->kernel);
	gen_put(r->api, API_HEADER);
	gen_put(r->marker, API_HEADER);
	gen_put(r->copy, "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\","
			 "\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\","
			 "\"End_Timestamp\"\n");
	gen_put(r->alloc, "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\","
			  "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n");
	gen_put(r->counter,
		"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
		"\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\","
		"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\","
		"\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","
		"\"End_Timestamp\"\n");
}

static void close_run(struct run *r)
{
	gen_out_close(r->kernel);
	gen_out_close(r->api);
	gen_out_close(r->copy);
	gen_out_close(r->alloc);
	gen_out_close(r->marker);
	gen_out_close(r->counter);
}

static void write_event(struct run *r, const struct gen_event *e)
{
	api_row(r->api, "HIP_RUNTIME_API_EXT", e->is_copy ? "hipMemcpyAsync" : "hipLaunchKernel", e,
		e->call_start_ns, e->call_end_ns);
	if (e->is_copy) {
		copy_row(r->copy, e);
		/* Every copy to the device had a fresh buffer, which is given back after the other. */
		if (e->correlation_id % 8 == 0)
			alloc_row(r->alloc, e, !e->to_device);
		return;
	}
	gen_kernel_row(r->kernel, e);
	r->stats[e->kernel].kernel = e->kernel;
	count(&r->stats[e->kernel], e->end_ns - e->start_ns);
	if (e->dispatch_id <= MAX_COUNTED)
		counter_rows(r, e);
}

/* A range around each phase of a training step, ended by the first kernel of the next. */
static void write_marker(struct run *r, const struct gen_event *last)
{
	static const char *const names[GEN_PHASES] = { "forward", "backward", "optimizer" };

	api_row(r->marker, "MARKER_CORE_RANGE_API", names[last->phase % GEN_PHASES], last,
		r->phase_start_ns, last->call_end_ns);
}

void gen_write_dir(const char *dir, uint64_t seed, uint64_t rows)
{
	struct run *r = calloc(1, sizeof(*r));
	struct gen_workload w;
	struct gen_event e, last = { 0 };

	if (!r)
		gen_die("no memory for", dir);
	make_dir(dir);
	snprintf(r->host_dir, sizeof(r->host_dir), "%s/%s", dir, GEN_HOST);
	make_dir(r->host_dir);
	open_run(r);
	gen_start(&w, seed, rows);
	while (gen_next(&w, &e)) {
		if (last.tid && e.phase != last.phase)
			write_marker(r, &last);
		if (!last.tid || e.phase != last.phase)
			r->phase_start_ns = e.call_start_ns;
		write_event(r, &e);
		last = e;
	}
	if (last.tid)
		write_marker(r, &last);
	close_run(r);
	write_stats(r);
	write_agents(r);
	free(r);
}
