/* sim_v3_csv.c - the CSV files of rocprofv3, with the columns of each release. */
#include <string.h>

#include "sim_v3.h"

#define API_HEADER                                                                 \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"

/* Column names as one text; quoted cell by cell. */
static void header(struct text *out, const char *names)
{
	struct words cells = { 0 };

	words_split(&cells, names, ",");
	text_add(out, "\"%s\"\n", words_join(&cells, "\",\""));
}

static struct text *csv(const struct tool *t, const char *what)
{
	return file_new(print_text("%s_%s.csv", t->base, what));
}

static const char *kernel_columns(void)
{
	switch (sim.release) {
	case REL_62:
		return "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,"
		       "End_Timestamp,Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,"
		       "Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z";
	case REL_63:
	case REL_64:
		return "Kind,Agent_Id,Queue_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,"
		       "Correlation_Id,Start_Timestamp,End_Timestamp,Private_Segment_Size,"
		       "Group_Segment_Size,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"
		       "Grid_Size_X,Grid_Size_Y,Grid_Size_Z";
	default:
		return "Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,"
		       "Correlation_Id,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,"
		       "VGPR_Count,Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,"
		       "Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z";
	}
}

static unsigned rounded_lds(const struct kernel *k)
{
	return (k->lds + 511) / 512 * 512;
}

static void kernel_row(struct text *out, const struct tool *t, const struct work *w,
		       const struct dispatch *d)
{
	const struct kernel *k = d->kernel;

	text_add(out, "\"KERNEL_DISPATCH\",%s,%u,", tool_agent(t, d->agent), d->queue);
	if (sim.release >= REL_70)
		text_add(out, "%u,", d->stream);
	if (sim.release >= REL_63)
		text_add(out, "%d,%u,", (int)w->pid, d->id);
	text_add(out, "%u,\"%s\",%u,%" PRIu64 ",%" PRIu64 ",", d->kernel_id, tool_kernel_name(t, k),
		 d->correlation, d->start, d->end);
	if (sim.release >= REL_70)
		text_add(out, "%u,%u,%u,%u,%u,", rounded_lds(k), k->scratch, k->vgpr, k->accum,
			 k->sgpr);
	else
		text_add(out, "%u,%u,", k->scratch, k->lds);
	text_add(out, "%u,%u,%u,%u,%u,%u\n", k->block[0], k->block[1], k->block[2], k->grid[0],
		 k->grid[1], k->grid[2]);
}

static void kernel_file(const struct tool *t, const struct work *w)
{
	struct text *out;

	if (!t->kernel || !w->ndispatches)
		return;
	out = csv(t, "kernel_trace");
	header(out, kernel_columns());
	for (size_t i = 0; i < w->ndispatches; i++)
		kernel_row(out, t, w, &w->dispatches[i]);
}

static void counter_header(struct text *out)
{
	header(out, print_text("Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,"
			       "Grid_Size,%sKernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,"
			       "VGPR_Count,%sSGPR_Count,Counter_Name,Counter_Value%s",
			       sim.release >= REL_63 ? "Kernel_Id," : "",
			       sim.release >= REL_64 ? "Accum_VGPR_Count," : "",
			       sim.release >= REL_63 ? ",Start_Timestamp,End_Timestamp" : ""));
}

static char *counter_number(double v)
{
	if (sim.release <= REL_63)
		return print_text("%.0f", v);
	return print_text(v >= 1.0 ? "%.6f" : "%.8e", v);
}

static void counter_row_out(struct text *out, const struct tool *t, const struct work *w,
			    const struct dispatch *d, const char *counter)
{
	const struct kernel *k = d->kernel;

	text_add(out, "%u,%u,%s,%u,%d,%d,%u,", d->correlation, d->id, tool_agent(t, d->agent),
		 d->queue, (int)w->pid, (int)w->pid, k->grid[0] * k->grid[1] * k->grid[2]);
	if (sim.release >= REL_63)
		text_add(out, "%u,", d->kernel_id);
	text_add(out, "\"%s\",%u,%u,%u,%u,", tool_kernel_name(t, k),
		 k->block[0] * k->block[1] * k->block[2], rounded_lds(k), k->scratch, k->vgpr);
	if (sim.release >= REL_64)
		text_add(out, "%u,", k->accum);
	text_add(out, "%u,\"%s\",%s", k->sgpr, counter,
		 counter_number(counter_value(counter, d->id)));
	if (sim.release >= REL_63)
		text_add(out, ",%" PRIu64 ",%" PRIu64, d->start, d->end);
	text_add(out, "\n");
}

static void counter_file(const struct tool *t, const struct work *w)
{
	const struct words *counters;
	struct text *out = NULL;

	for (size_t i = 0; i < w->ndispatches; i++) {
		if (!tool_counts(t, w, i, &counters))
			continue;
		if (!out) {
			out = csv(t, "counter_collection");
			counter_header(out);
		}
		for (size_t c = 0; c < counters->n; c++)
			counter_row_out(out, t, w, &w->dispatches[i], counters->at[c]);
	}
}

/* One file per library; `family` is what its domains begin with. */
static void api_file(const struct tool *t, const struct work *w, const char *family,
		     const char *what)
{
	struct text *out = NULL;

	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];

		if (!begins(c->domain, family) || !tool_wants_call(t, c))
			continue;
		if (!out) {
			out = csv(t, what);
			text_add(out, API_HEADER);
		}
		text_add(out, "\"%s\",\"%s\",%d,%d,%u,%" PRIu64 ",%" PRIu64 "\n", tool_domain(c),
			 c->message ? c->message : c->function, (int)w->pid, (int)w->pid,
			 c->correlation, c->start, c->end);
	}
}

static void copy_file(const struct tool *t, const struct work *w)
{
	struct text *out;

	if (!t->copy)
		return;
	out = csv(t, "memory_copy_trace");
	header(out,
	       print_text("Kind,Direction,%sSource_Agent_Id,Destination_Agent_Id,Correlation_Id,"
			  "Start_Timestamp,End_Timestamp",
			  sim.release >= REL_70 ? "Stream_Id," : ""));
	for (size_t i = 0; i < w->ncopies; i++) {
		const struct copy *c = &w->copies[i];

		text_add(out, "\"MEMORY_COPY\",\"%s%s\",",
			 sim.release >= REL_63 ? "MEMORY_COPY_" : "", c->direction);
		if (sim.release >= REL_70)
			text_add(out, "%u,", c->stream);
		text_add(out, "%s,%s,%u,%" PRIu64 ",%" PRIu64 "\n", tool_agent(t, c->src),
			 tool_agent(t, c->dst), c->correlation, c->start, c->end);
	}
}

static void allocation_file(const struct tool *t, const struct work *w)
{
	struct text *out;

	if (!t->alloc || sim.release < REL_64)
		return;
	out = csv(t, "memory_allocation_trace");
	header(out,
	       "Kind,Operation,Agent_Id,Allocation_Size,Address,Correlation_Id,Start_Timestamp,"
	       "End_Timestamp");
	for (size_t i = 0; i < w->nallocations; i++) {
		const struct allocation *a = &w->allocations[i];

		if (a->scratch)
			continue;
		text_add(out,
			 "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_%s\",%s,%" PRIu64
			 ",\"0x%016" PRIx64 "\",%u,%" PRIu64 ",%" PRIu64 "\n",
			 a->operation, a->bytes ? tool_agent(t, a->agent) : "\"\"", a->bytes,
			 a->address, a->correlation, a->start, a->end);
	}
}

static void scratch_file(const struct tool *t, const struct work *w)
{
	struct text *out;

	if (!t->scratch)
		return;
	out = csv(t, "scratch_memory_trace");
	header(out, print_text("Kind,Operation,Agent_Id,Queue_Id,Thread_Id,%s,Start_Timestamp,"
			       "End_Timestamp%s",
			       sim.release >= REL_64 ? "Alloc_Flags" : "Alloc_flags",
			       sim.release >= REL_70 ? ",Allocation_Size" : ""));
	for (size_t i = 0; i < w->nallocations; i++) {
		const struct allocation *a = &w->allocations[i];

		if (!a->scratch)
			continue;
		text_add(out,
			 "\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_%s\",%s,1,%d,0,%" PRIu64 ",%" PRIu64,
			 a->operation, tool_agent(t, a->agent), (int)w->pid, a->start, a->end);
		if (sim.release >= REL_70)
			text_add(out, ",%" PRIu64, a->bytes);
		text_add(out, "\n");
	}
}

static void sample_file(const struct tool *t, const struct work *w)
{
	bool stochastic = t->sampling && strcmp(t->sampling, "stochastic") == 0;
	struct text *out;

	if (!t->sampling || !w->ndispatches)
		return;
	out = csv(t, stochastic ? "pc_sampling_stochastic" : "pc_sampling_host_trap");
	header(out,
	       print_text("Sample_Timestamp,Exec_Mask,Dispatch_Id,Instruction,"
			  "Instruction_Comment,Correlation_Id%s",
			  stochastic ? ",Wave_Issued_Instruction,Instruction_Type,Stall_Reason,"
				       "Wave_Count" :
				       ""));
	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];

		text_add(out,
			 "%" PRIu64 ",18446744073709551615,%u,\"v_fma_f32 v1, v2, v3, v1\","
			 "\"app.cpp:%u\",%u",
			 d->start + 500, d->id, 40 + d->kernel_id, d->correlation);
		if (stochastic)
			text_add(out, ",0,\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_VALU\","
				      "\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
				      "WAITCNT\",4");
		text_add(out, "\n");
	}
}

void csv_files(const struct tool *t, const struct work *w)
{
	agent_info(csv(t, "agent_info"));
	api_file(t, w, "HSA", "hsa_api_trace");
	api_file(t, w, "HIP", "hip_api_trace");
	api_file(t, w, "MARKER", "marker_api_trace");
	api_file(t, w, "RCCL", "rccl_api_trace");
	copy_file(t, w);
	allocation_file(t, w);
	scratch_file(t, w);
	counter_file(t, w);
	sample_file(t, w);
	kernel_file(t, w);
}
