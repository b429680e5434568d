/* sim_v3_json.c - `_results.json` of rocprofv3: names first, then the records that refer to them. */
#include <string.h>

#include "sim_v3.h"

/* Kinds of records; their numbers are positions in strings.buffer_records. */
static const char *const kinds[] = {
	"NONE",
	"HSA_CORE_API",
	"HSA_AMD_EXT_API",
	"HSA_IMAGE_EXT_API",
	"HSA_FINALIZE_EXT_API",
	"HIP_RUNTIME_API",
	"HIP_COMPILER_API",
	"MARKER_CORE_API",
	"MARKER_CONTROL_API",
	"MARKER_NAME_API",
	"MEMORY_COPY",
	"KERNEL_DISPATCH",
	"SCRATCH_MEMORY",
	"RCCL_API",
	"MEMORY_ALLOCATION",
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct names {
	struct words operations[KINDS];
};

static size_t kind_of(const char *name)
{
	size_t k = 0;

	while (k + 1 < KINDS && !begins(kinds[k], name))
		k++;
	return k;
}

static size_t operation(struct names *n, size_t kind, const char *name)
{
	struct words *w = &n->operations[kind];

	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->at[i], name) == 0)
			return i;
	words_add(w, name);
	return w->n - 1;
}

static void put_agents(struct text *j)
{
	text_add(j, "\"agents\":[");
	for (unsigned node = 0; node <= sim.gpus; node++) {
		text_add(j,
			 "%s{\"size\":320,\"id\":{\"handle\":%u},\"type\":%d,\"node_id\":%u,"
			 "\"logical_node_id\":%u,\"logical_node_type_id\":%u,\"name\":",
			 node ? "," : "", 1000 + node, node ? 2 : 1, node, node,
			 node ? node - 1 : 0);
		text_json(j, node ? sim.arch : "AMD EPYC 9654 96-Core Processor");
		text_add(j,
			 ",\"product_name\":\"simulated\",\"vendor_name\":\"AMD\",\"cu_count\":%d,"
			 "\"simd_per_cu\":4,\"wave_front_size\":64,\"num_xcc\":%d,"
			 "\"max_engine_clk_fcompute\":2100,\"mem_banks\":[]}",
			 node ? 304 : 96, node ? 8 : 0);
	}
	text_add(j, "],");
}

/* All counters of all groups, ids from 1. */
static struct words all_counters(const struct tool *t)
{
	struct words all = { 0 };

	for (size_t g = 0; g < t->ngroups; g++)
		for (size_t i = 0; i < t->groups[g].n; i++)
			if (!words_have(&all, t->groups[g].at[i]))
				words_add(&all, t->groups[g].at[i]);
	return all;
}

static void put_counters(struct text *j, const struct words *counters)
{
	text_add(j, "\"counters\":[");
	for (size_t i = 0; i < counters->n; i++)
		text_add(j,
			 "%s{\"agent_id\":{\"handle\":1001},\"id\":{\"handle\":%zu},"
			 "\"is_constant\":0,\"is_derived\":0,\"name\":\"%s\",\"description\":\"\","
			 "\"block\":\"\",\"expression\":\"\"}",
			 i ? "," : "", i + 1, counters->at[i]);
	text_add(j, "],");
}

static void put_names(struct text *j, const struct names *n)
{
	text_add(j, "\"buffer_records\":[");
	for (size_t k = 0; k < KINDS; k++) {
		bool ext = sim.release >= REL_70 && begins(kinds[k], "HIP_");

		text_add(j, "%s{\"kind\":\"%s%s\",\"operations\":[", k ? "," : "", kinds[k],
			 ext ? "_EXT" : "");
		for (size_t i = 0; i < n->operations[k].n; i++) {
			text_bytes(j, ",", i ? 1 : 0);
			text_json(j, n->operations[k].at[i]);
		}
		text_add(j, "]}");
	}
	text_add(j, "]");
}

static void put_strings(struct text *j, const struct names *n, const struct work *w)
{
	bool first = true;

	text_add(j, "\"strings\":{\"callback_records\":[],");
	put_names(j, n);
	text_add(j, ",\"marker_api\":[");
	for (size_t i = 0; i < w->ncalls; i++) {
		if (!w->calls[i].message)
			continue;
		text_add(j, "%s{\"key\":%u,\"value\":", first ? "" : ",", w->calls[i].correlation);
		text_json(j, w->calls[i].message);
		text_add(j, "}");
		first = false;
	}
	text_add(j, "],\"correlation_id\":{\"external\":[]},\"counters\":{\"dimension_ids\":[]},"
		    "\"pc_sample_instructions\":[],\"pc_sample_comments\":[]},");
}

static void put_symbols(struct text *j, const struct tool *t, const struct work *w)
{
	text_add(j, "\"code_objects\":[],\"kernel_symbols\":[{\"kernel_id\":0}");
	for (size_t i = 0; i < w->nkernels; i++) {
		const struct kernel *k = &kernel_list[i];

		text_add(j, ",{\"size\":80,\"kernel_id\":%zu,\"code_object_id\":1,\"kernel_name\":",
			 i + 1);
		text_json(j, print_text("%s.kd", k->mangled));
		text_add(
			j,
			",\"group_segment_size\":%u,\"private_segment_size\":%u,\"sgpr_count\":%u,"
			"\"arch_vgpr_count\":%u,\"accum_vgpr_count\":%u,\"formatted_kernel_name\":",
			k->lds, k->scratch, k->sgpr, k->vgpr, k->accum);
		text_json(j, tool_kernel_name(t, k));
		text_add(j, ",\"demangled_kernel_name\":");
		text_json(j, k->name);
		text_add(j, ",\"truncated_kernel_name\":");
		text_json(j, k->brief);
		text_add(j, "}");
	}
	text_add(j, "],\"host_functions\":[],\"summary\":[],");
}

static void put_dispatch_info(struct text *j, const struct dispatch *d)
{
	const struct kernel *k = d->kernel;

	text_add(j,
		 "\"dispatch_info\":{\"size\":64,\"agent_id\":{\"handle\":%u},"
		 "\"queue_id\":{\"handle\":%u},\"kernel_id\":%u,\"dispatch_id\":%u,"
		 "\"private_segment_size\":%u,\"group_segment_size\":%u,"
		 "\"workgroup_size\":{\"x\":%u,\"y\":%u,\"z\":%u},"
		 "\"grid_size\":{\"x\":%u,\"y\":%u,\"z\":%u}}",
		 1000 + d->agent, d->queue, d->kernel_id, d->id, k->scratch, k->lds, k->block[0],
		 k->block[1], k->block[2], k->grid[0], k->grid[1], k->grid[2]);
}

static void put_record(struct text *j, bool first, size_t kind, size_t op, const struct work *w,
		       unsigned correlation, uint64_t start, uint64_t end)
{
	text_add(j,
		 "%s{\"size\":64,\"kind\":%zu,\"operation\":%zu,\"thread_id\":%d,"
		 "\"correlation_id\":{\"internal\":%u,\"external\":0},\"start_timestamp\":%" PRIu64
		 ",\"end_timestamp\":%" PRIu64,
		 first ? "" : ",", kind, op, (int)w->pid, correlation, start, end);
}

static void put_counting(struct text *j, const struct tool *t, const struct work *w,
			 const struct words *all)
{
	const struct words *c;
	bool first = true;

	text_add(j, "\"callback_records\":{\"counter_collection\":[");
	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];

		if (!tool_counts(t, w, i, &c))
			continue;
		text_add(j,
			 "%s{\"thread_id\":%d,\"dispatch_data\":{\"size\":112,\"correlation_id\":"
			 "{\"internal\":%u,\"external\":0},\"start_timestamp\":%" PRIu64
			 ",\"end_timestamp\":%" PRIu64 ",",
			 first ? "" : ",", (int)w->pid, d->correlation, d->start, d->end);
		put_dispatch_info(j, d);
		text_add(j, "},\"records\":[");
		for (size_t k = 0; k < c->n; k++) {
			size_t id = 0;

			while (strcmp(all->at[id], c->at[k]) != 0)
				id++;
			text_add(j, "%s{\"counter_id\":{\"handle\":%zu},\"value\":%.1f}",
				 k ? "," : "", id + 1, counter_value(c->at[k], d->id));
		}
		text_add(j, "]%s}", sim.release >= REL_70 ? ",\"stream_id\":{\"handle\":1}" : "");
		first = false;
	}
	text_add(j, "]},");
}

static void put_calls(struct text *j, const struct tool *t, const struct work *w, struct names *n,
		      const char *family, const char *key)
{
	bool first = true;

	text_add(j, "\"%s\":[", key);
	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];
		size_t kind = kind_of(c->domain);

		if (!begins(c->domain, family) || !tool_wants_call(t, c))
			continue;
		put_record(j, first, kind, operation(n, kind, c->function), w, c->correlation,
			   c->start, c->end);
		text_add(j, "}");
		first = false;
	}
	text_add(j, "],");
}

static void put_kernels(struct text *j, const struct tool *t, const struct work *w, struct names *n)
{
	size_t kind = kind_of("KERNEL_DISPATCH");

	text_add(j, "\"kernel_dispatch\":[");
	for (size_t i = 0; t->kernel && i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];

		put_record(j, !i, kind, operation(n, kind, "KERNEL_DISPATCH_COMPLETE"), w,
			   d->correlation, d->start, d->end);
		text_add(j, ",");
		put_dispatch_info(j, d);
		text_add(j, "%s}", sim.release >= REL_70 ? ",\"stream_id\":{\"handle\":1}" : "");
	}
	text_add(j, "],");
}

static void put_copies(struct text *j, const struct tool *t, const struct work *w, struct names *n)
{
	size_t kind = kind_of("MEMORY_COPY");

	text_add(j, "\"memory_copy\":[");
	for (size_t i = 0; t->copy && i < w->ncopies; i++) {
		const struct copy *c = &w->copies[i];
		const char *name = print_text("MEMORY_COPY_%s", c->direction);

		put_record(j, !i, kind, operation(n, kind, name), w, c->correlation, c->start,
			   c->end);
		text_add(j,
			 ",\"dst_agent_id\":{\"handle\":%u},\"src_agent_id\":{\"handle\":%u},"
			 "\"bytes\":%" PRIu64 "}",
			 1000 + c->dst, 1000 + c->src, c->bytes);
	}
	text_add(j, "],");
}

static void put_memory(struct text *j, const struct tool *t, const struct work *w, struct names *n,
		       bool scratch)
{
	const char *kind_name = scratch ? "SCRATCH_MEMORY" : "MEMORY_ALLOCATION";
	size_t kind = kind_of(kind_name);
	bool first = true;

	text_add(j, "\"%s\":[", scratch ? "scratch_memory" : "memory_allocation");
	for (size_t i = 0; (scratch ? t->scratch : t->alloc) && i < w->nallocations; i++) {
		const struct allocation *a = &w->allocations[i];
		const char *name = print_text("%s_%s", kind_name, a->operation);

		if (a->scratch != scratch)
			continue;
		put_record(j, first, kind, operation(n, kind, name), w, a->correlation, a->start,
			   a->end);
		text_add(j, ",\"agent_id\":{\"handle\":%u},", 1000 + a->agent);
		if (scratch)
			text_add(j, "\"queue_id\":{\"handle\":1},\"flags\":0");
		else
			text_add(j, "\"address\":\"0x%016" PRIx64 "\"", a->address);
		text_add(j, ",\"allocation_size\":%" PRIu64 "}", a->bytes);
		first = false;
	}
	text_add(j, scratch ? "]" : "],");
}

void json_file(const struct tool *t, const struct work *w)
{
	struct text *j = file_new(print_text("%s_results.json", t->base));
	struct words counters = all_counters(t);
	struct text records = { 0 };
	struct names names = { 0 };

	put_counting(&records, t, w, &counters);
	text_add(&records, "\"buffer_records\":{");
	put_kernels(&records, t, w, &names);
	put_calls(&records, t, w, &names, "HIP", "hip_api");
	put_calls(&records, t, w, &names, "HSA", "hsa_api");
	put_calls(&records, t, w, &names, "MARKER", "marker_api");
	put_calls(&records, t, w, &names, "RCCL", "rccl_api");
	put_copies(&records, t, w, &names);
	put_memory(&records, t, w, &names, false);
	put_memory(&records, t, w, &names, true);
	text_add(&records, "}");
	text_add(j,
		 "{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"pid\":%d,\"init_time\":%" PRIu64
		 ",\"fini_time\":%" PRIu64 ",\"node\":{\"hostname\":\"%s\"},\"command\":[",
		 (int)w->pid, w->start, w->end, host_name());
	for (size_t i = 0; w->argv[i]; i++) {
		text_bytes(j, ",", i ? 1 : 0);
		text_json(j, w->argv[i]);
	}
	text_add(j, "]},");
	put_agents(j);
	put_counters(j, &counters);
	put_strings(j, &names, w);
	put_symbols(j, t, w);
	text_bytes(j, records.at, records.len);
	text_add(j, "}]}");
}
