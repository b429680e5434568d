/* sim_v3_stats.c - statistics of rocprofv3: *_stats.csv, domain_stats.csv, the summary, agent_info. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim_v3.h"

struct row {
	const char *name;
	uint64_t calls, total, least, most;
	double squares;
};
struct table {
	struct row *rows;
	size_t n;
	uint64_t total;
};

static void add(struct table *t, const char *name, uint64_t start, uint64_t end)
{
	uint64_t length = end > start ? end - start : 0;
	struct row *more, *r = NULL;

	for (size_t i = 0; i < t->n && !r; i++)
		if (strcmp(t->rows[i].name, name) == 0)
			r = &t->rows[i];
	if (!r) {
		more = take((t->n + 1) * sizeof(*more));
		if (t->n)
			memcpy(more, t->rows, t->n * sizeof(*more));
		t->rows = more;
		r = &t->rows[t->n++];
		*r = (struct row){ .name = name, .least = length };
	}
	r->calls++;
	r->total += length;
	r->least = length < r->least ? length : r->least;
	r->most = length > r->most ? length : r->most;
	r->squares += (double)length * (double)length;
	t->total += length;
}

static int by_total(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->total < y->total ? 1 : x->total > y->total ? -1 : strcmp(x->name, y->name);
}

static char *number(double v)
{
	return print_text(v >= 1.0 ? "%.6f" : "%.8e", v);
}

static char *percent(double v)
{
	return print_text(v >= 1.0 ? "%.2f" : v > 0.01 ? "%.4f" : "%e", v);
}

static double deviation(const struct row *r)
{
	double n = (double)r->calls, mean = (double)r->total / n;

	return r->calls < 2 ? 0.0 : sqrt(fabs(r->squares - n * mean * mean) / (n - 1));
}

static void stats_file(const struct tool *tool, const char *what, struct table *t)
{
	struct text *out;

	if (!t->n)
		return;
	qsort(t->rows, t->n, sizeof(*t->rows), by_total);
	out = file_new(print_text("%s_%s_stats.csv", tool->base, what));
	text_add(out, "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\","
		      "\"MinNs\",\"MaxNs\",\"StdDev\"\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct row *r = &t->rows[i];
		double share = t->total ? 100.0 * (double)r->total / (double)t->total : 0.0;

		text_add(out, "\"%s\",%" PRIu64 ",%" PRIu64 ",%s,%s,%" PRIu64 ",%" PRIu64 ",%s\n",
			 r->name, r->calls, r->total, number((double)r->total / (double)r->calls),
			 percent(share), r->least, r->most, number(deviation(r)));
	}
}

static void kernels_of(struct table *t, const struct tool *tool, const struct work *w,
		       const char *name)
{
	for (size_t i = 0; tool->kernel && i < w->ndispatches; i++)
		add(t, name ? name : tool_kernel_name(tool, w->dispatches[i].kernel),
		    w->dispatches[i].start, w->dispatches[i].end);
}

static void calls_of(struct table *t, const struct tool *tool, const struct work *w,
		     const char *family, const char *name)
{
	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];

		if (begins(c->domain, family) && tool_wants_call(tool, c))
			add(t,
			    name       ? name :
			    c->message ? c->message :
					 c->function,
			    c->start, c->end);
	}
}

static void copies_of(struct table *t, const struct tool *tool, const struct work *w,
		      const char *name)
{
	for (size_t i = 0; tool->copy && i < w->ncopies; i++)
		add(t, name ? name : print_text("MEMORY_COPY_%s", w->copies[i].direction),
		    w->copies[i].start, w->copies[i].end);
}

static void allocations_of(struct table *t, const struct tool *tool, const struct work *w,
			   bool scratch, const char *name)
{
	const char *kind = scratch ? "SCRATCH_MEMORY" : "MEMORY_ALLOCATION";

	if (scratch ? !tool->scratch : !tool->alloc)
		return;
	for (size_t i = 0; i < w->nallocations; i++) {
		const struct allocation *a = &w->allocations[i];

		if (a->scratch == scratch)
			add(t, name ? name : print_text("%s_%s", kind, a->operation), a->start,
			    a->end);
	}
}

static const char *const families[][2] = { { "HSA", "hsa_api" },
					   { "HIP", "hip_api" },
					   { "MARKER", "marker_api" },
					   { "RCCL", "rccl_api" } };

void csv_stats_files(const struct tool *tool, const struct work *w)
{
	struct table domains = { 0 }, kernels = { 0 }, copies = { 0 }, memory = { 0 },
		     scratch = { 0 };

	for (size_t i = 0; i < 4; i++) {
		struct table t = { 0 };

		calls_of(&t, tool, w, families[i][0], NULL);
		stats_file(tool, families[i][1], &t);
		calls_of(&domains, tool, w, families[i][0], print_text("%s_API", families[i][0]));
	}
	kernels_of(&kernels, tool, w, NULL);
	copies_of(&copies, tool, w, NULL);
	allocations_of(&memory, tool, w, false, NULL);
	allocations_of(&scratch, tool, w, true, NULL);
	stats_file(tool, "kernel", &kernels);
	stats_file(tool, "memory_copy", &copies);
	stats_file(tool, "memory_allocation", &memory);
	stats_file(tool, "scratch_memory", &scratch);
	kernels_of(&domains, tool, w, "KERNEL_DISPATCH");
	copies_of(&domains, tool, w, "MEMORY_COPY");
	allocations_of(&domains, tool, w, false, "MEMORY_ALLOCATION");
	allocations_of(&domains, tool, w, true, "SCRATCH_MEMORY");
	stats_file(tool, "domain", &domains);
}

void summary_text(struct text *out, const struct tool *tool, const struct work *w)
{
	struct table t = { 0 };

	kernels_of(&t, tool, w, NULL);
	if (t.n)
		qsort(t.rows, t.n, sizeof(*t.rows), by_total);
	text_add(out, "\nROCPROFV3 SUMMARY:\n\n| NAME | DOMAIN | CALLS | DURATION (nsec) | AVERAGE "
		      "(nsec) | PERCENT (INC) | MIN (nsec) | MAX (nsec) | STDDEV |\n");
	for (size_t i = 0; i < t.n; i++) {
		const struct row *r = &t.rows[i];

		text_add(out,
			 "| %s | KERNEL_DISPATCH | %" PRIu64 " | %" PRIu64
			 " | %.3f | %.2f | %" PRIu64 " | %" PRIu64 " | %.3f |\n",
			 r->name, r->calls, r->total, (double)r->total / (double)r->calls,
			 t.total ? 100.0 * (double)r->total / (double)t.total : 0.0, r->least,
			 r->most, deviation(r));
	}
}

/* Columns of agent_info.csv with the values of a CPU and of a GPU; %u is the node. */
static const char *const agent_columns[][3] = {
	{ "Node_Id", "%u", "%u" },
	{ "Logical_Node_Id", "%u", "%u" },
	{ "Agent_Type", "\"CPU\"", "\"GPU\"" },
	{ "Cpu_Cores_Count", "96", "0" },
	{ "Simd_Count", "0", "1216" },
	{ "Cpu_Core_Id_Base", "0", "0" },
	{ "Simd_Id_Base", "0", "2147487744" },
	{ "Max_Waves_Per_Simd", "0", "8" },
	{ "Lds_Size_In_Kb", "0", "64" },
	{ "Gds_Size_In_Kb", "0", "0" },
	{ "Num_Gws", "0", "64" },
	{ "Wave_Front_Size", "0", "64" },
	{ "Num_Xcc", "0", "8" },
	{ "Cu_Count", "96", "304" },
	{ "Array_Count", "0", "32" },
	{ "Num_Shader_Banks", "0", "32" },
	{ "Simd_Arrays_Per_Engine", "0", "1" },
	{ "Cu_Per_Simd_Array", "0", "10" },
	{ "Simd_Per_Cu", "0", "4" },
	{ "Max_Slots_Scratch_Cu", "0", "32" },
	{ "Gfx_Target_Version", "0", "GFX" },
	{ "Vendor_Id", "0", "4098" },
	{ "Device_Id", "0", "29857" },
	{ "Location_Id", "0", "1280" },
	{ "Domain", "0", "0" },
	{ "Drm_Render_Minor", "0", "128" },
	{ "Num_Sdma_Engines", "0", "2" },
	{ "Num_Sdma_Xgmi_Engines", "0", "14" },
	{ "Num_Sdma_Queues_Per_Engine", "0", "8" },
	{ "Num_Cp_Queues", "0", "24" },
	{ "Max_Engine_Clk_Ccompute", "3700", "3700" },
	{ "Max_Engine_Clk_Fcompute", "0", "2100" },
	{ "Sdma_Fw_Version", "0", "22" },
	{ "Fw_Version", "0", "156" },
	{ "Capability", "0", "746403456" },
	{ "Cu_Per_Engine", "0", "10" },
	{ "Max_Waves_Per_Cu", "0", "32" },
	{ "Family_Id", "0", "145" },
	{ "Workgroup_Max_Size", "0", "1024" },
	{ "Grid_Max_Size", "0", "4294967295" },
	{ "Local_Mem_Size", "0", "0" },
	{ "Hive_Id", "0", "0" },
	{ "Gpu_Id", "0", "51110" },
	{ "Workgroup_Max_Dim_X", "0", "1024" },
	{ "Workgroup_Max_Dim_Y", "0", "1024" },
	{ "Workgroup_Max_Dim_Z", "0", "1024" },
	{ "Grid_Max_Dim_X", "0", "4294967295" },
	{ "Grid_Max_Dim_Y", "0", "4294967295" },
	{ "Grid_Max_Dim_Z", "0", "4294967295" },
	{ "Name", "\"AMD EPYC 9654 96-Core Processor\"", "ARCH" },
	{ "Vendor_Name", "\"CPU\"", "\"AMD\"" },
	{ "Product_Name", "\"AMD EPYC 9654 96-Core Processor\"", "\"AMD Instinct (simulated)\"" },
	{ "Model_Name", "\"\"", "\"ip discovery\"" },
};
#define AGENT_COLUMNS (sizeof(agent_columns) / sizeof(agent_columns[0]))

/* gfx90a -> 90010, gfx942 -> 90402, gfx1100 -> 110000: the last two digits are hexadecimal. */
static unsigned gfx_version(void)
{
	size_t len = strlen(sim.arch);
	unsigned long long major = 9, minor = 0, step = 0;

	if (len < 6)
		return 0;
	read_number(print_text("%.*s", (int)len - 5, sim.arch + 3), &major);
	read_number(print_text("0x%c", sim.arch[len - 2]), &minor);
	read_number(print_text("0x%c", sim.arch[len - 1]), &step);
	return (unsigned)(major * 10000 + minor * 100 + step);
}

static void agent_cell(struct text *out, const char *value, unsigned node)
{
	if (strcmp(value, "%u") == 0)
		text_add(out, "%u", node);
	else if (strcmp(value, "GFX") == 0)
		text_add(out, "%u", gfx_version());
	else if (strcmp(value, "ARCH") == 0)
		text_add(out, "\"%s\"", sim.arch);
	else
		text_add(out, "%s", value);
}

void agent_info(struct text *out)
{
	for (size_t i = 0; i < AGENT_COLUMNS; i++)
		text_add(out, "%s\"%s\"", i ? "," : "", agent_columns[i][0]);
	text_add(out, "\n");
	for (unsigned node = 0; node <= sim.gpus; node++) {
		for (size_t i = 0; i < AGENT_COLUMNS; i++) {
			text_add(out, i ? "," : "");
			agent_cell(out, agent_columns[i][node ? 2 : 1], node);
		}
		text_add(out, "\n");
	}
}
