/* json_records.c - one record of rocprofv3's JSON, one row. */
#include <string.h>

#include "base/text.h"
#include "read/rocprofv3/json.h"

#define B(f) (UINT64_C(1) << (f))

void rk_v3j_put_who(struct v3j_scan *s, unsigned node, unsigned pid)
{
	if (s->names.has_node)
		rk_json_put_id(&s->rows, node, s->names.node);
	else
		rk_json_put_null(&s->rows, node);
	if (s->names.has_pid)
		rk_json_put(&s->rows, pid, s->names.pid);
	else
		rk_json_put_null(&s->rows, pid);
}

void rk_v3j_put_name(struct v3j_scan *s, unsigned field, uint32_t id)
{
	if (id)
		rk_json_put_id(&s->rows, field, id);
	else
		rk_json_put_null(&s->rows, field);
}

void rk_v3j_put_agent(struct v3j_scan *s, unsigned field, const struct rk_json_value *handle)
{
	const int64_t *node = NULL;

	if (handle->has == RK_JSON_HAS)
		node = rk_json_pairs_find(&s->names.agents, (uint64_t)handle->i);
	if (node)
		rk_json_put(&s->rows, field, *node);
	else
		rk_json_put_null(&s->rows, field);
}

/* ---- kernels ---- */

enum {
	KR_TID,
	KR_STREAM,
	KR_CORRELATION,
	KR_EXTERNAL,
	KR_START,
	KR_END,
	KR_AGENT,
	KR_QUEUE,
	KR_KERNEL,
	KR_DISPATCH,
	KR_PRIVATE,
	KR_GROUP,
	KR_BLOCK,
	KR_ITEMS = KR_BLOCK + 3,
	KR_NFIELDS = KR_ITEMS + 3
};

/* A dispatch, as a record of its own and inside the record of its counters. */
#define KERNEL_FIELDS(in)                                                           \
	[KR_TID] = { "thread_id", RK_JSON_AS_I64 },                                 \
	[KR_STREAM] = { "stream_id/handle", RK_JSON_AS_U64 },                       \
	[KR_CORRELATION] = { in "correlation_id/internal", RK_JSON_AS_U64 },        \
	[KR_EXTERNAL] = { in "correlation_id/external", RK_JSON_AS_U64 },           \
	[KR_START] = { in "start_timestamp", RK_JSON_AS_I64 },                      \
	[KR_END] = { in "end_timestamp", RK_JSON_AS_I64 },                          \
	[KR_AGENT] = { in "dispatch_info/agent_id/handle", RK_JSON_AS_U64 },        \
	[KR_QUEUE] = { in "dispatch_info/queue_id/handle", RK_JSON_AS_U64 },        \
	[KR_KERNEL] = { in "dispatch_info/kernel_id", RK_JSON_AS_I64 },             \
	[KR_DISPATCH] = { in "dispatch_info/dispatch_id", RK_JSON_AS_I64 },         \
	[KR_PRIVATE] = { in "dispatch_info/private_segment_size", RK_JSON_AS_I64 }, \
	[KR_GROUP] = { in "dispatch_info/group_segment_size", RK_JSON_AS_I64 },     \
	[KR_BLOCK] = { in "dispatch_info/workgroup_size/x", RK_JSON_AS_I64 },       \
	[KR_BLOCK + 1] = { in "dispatch_info/workgroup_size/y", RK_JSON_AS_I64 },   \
	[KR_BLOCK + 2] = { in "dispatch_info/workgroup_size/z", RK_JSON_AS_I64 },   \
	[KR_ITEMS] = { in "dispatch_info/grid_size/x", RK_JSON_AS_I64 },            \
	[KR_ITEMS + 1] = { in "dispatch_info/grid_size/y", RK_JSON_AS_I64 },        \
	[KR_ITEMS + 2] = { in "dispatch_info/grid_size/z", RK_JSON_AS_I64 },

static const struct rk_json_field kernel_fields[KR_NFIELDS] = { KERNEL_FIELDS("") };
static const struct rk_json_field counted_fields[KR_NFIELDS] = { KERNEL_FIELDS("dispatch_data/") };

static const uint64_t kernel_serves[KR_NFIELDS] = {
	[KR_TID] = B(RK_K_TID),
	[KR_STREAM] = B(RK_K_STREAM),
	[KR_CORRELATION] = B(RK_K_CORRELATION),
	[KR_EXTERNAL] = B(RK_K_NAME),
	[KR_START] = B(RK_K_START) | B(RK_K_DURATION),
	[KR_END] = B(RK_K_DURATION),
	[KR_AGENT] = B(RK_K_DEVICE),
	[KR_QUEUE] = B(RK_K_QUEUE) | B(RK_K_STREAM),
	[KR_KERNEL] = B(RK_K_NAME) | B(RK_K_REGS) | B(RK_K_VGPR) | B(RK_K_ACCUM_VGPR) |
		      B(RK_K_SGPR),
	[KR_DISPATCH] = B(RK_K_DISPATCH),
	[KR_PRIVATE] = B(RK_K_SCRATCH),
	[KR_GROUP] = B(RK_K_SHARED_MEM),
	[KR_BLOCK] = B(RK_K_BLOCK_X) | B(RK_K_GRID_X),
	[KR_BLOCK + 1] = B(RK_K_BLOCK_Y) | B(RK_K_GRID_Y),
	[KR_BLOCK + 2] = B(RK_K_BLOCK_Z) | B(RK_K_GRID_Z),
	[KR_ITEMS] = B(RK_K_ITEMS_X) | B(RK_K_GRID_X),
	[KR_ITEMS + 1] = B(RK_K_ITEMS_Y) | B(RK_K_GRID_Y),
	[KR_ITEMS + 2] = B(RK_K_ITEMS_Z) | B(RK_K_GRID_Z),
};

/* -1 is not known. */
static void put_count(struct v3j_scan *s, unsigned field, int32_t v)
{
	if (v >= 0)
		rk_json_put(&s->rows, field, v);
	else
		rk_json_put_null(&s->rows, field);
}

static void put_registers(struct v3j_scan *s, const struct v3j_symbol *k)
{
	int32_t vgpr = k ? k->vgpr : -1, accum = k ? k->accum_vgpr : -1;

	put_count(s, RK_K_VGPR, vgpr);
	put_count(s, RK_K_ACCUM_VGPR, accum);
	put_count(s, RK_K_SGPR, k ? k->sgpr : -1);
	if (vgpr >= 0)
		rk_json_put(&s->rows, RK_K_REGS, (int64_t)vgpr + (accum > 0 ? accum : 0));
	else
		rk_json_put_null(&s->rows, RK_K_REGS);
}

/* With --kernel-rename the external id stands for a name given by the program. */
static int put_kernel(struct v3j_scan *s, const struct rk_json_value *kernel,
		      const struct rk_json_value *external, unsigned name, bool registers,
		      struct rk_error *err)
{
	const struct v3j_symbol *k;
	const int64_t *renamed = NULL;

	k = rk_v3j_symbol(&s->names, kernel, err);
	if (k && k->id == UINT32_MAX)
		return RK_E_NOMEM;
	if (external && external->has == RK_JSON_HAS && external->i)
		renamed = rk_json_pairs_find(&s->names.renamed, (uint64_t)external->i);
	rk_v3j_put_name(s, name, renamed ? (uint32_t)*renamed : k ? k->id : 0);
	if (registers)
		put_registers(s, k);
	return 0;
}

/* Where the tool knows no stream, the queue stands for it. */
static void put_stream(struct v3j_scan *s, const struct rk_json_value *v)
{
	const struct rk_json_value *from = v[KR_STREAM].has == RK_JSON_HAS ? &v[KR_STREAM] :
									     &v[KR_QUEUE];

	if (from->has == RK_JSON_HAS && from->i >= INT32_MIN && from->i <= INT32_MAX)
		rk_json_put(&s->rows, RK_K_STREAM, from->i);
	else
		rk_json_put_null(&s->rows, RK_K_STREAM);
}

static int kernel_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	struct rk_json_scan *r = &s->rows;

	rk_json_put_times(r, RK_K_START, RK_K_DURATION, &v[KR_START], &v[KR_END]);
	for (unsigned i = 0; i < 3; i++) {
		rk_json_put_grid(r, RK_K_GRID_X + i, &v[KR_ITEMS + i], &v[KR_BLOCK + i]);
		rk_json_put_value(r, RK_K_BLOCK_X + i, &v[KR_BLOCK + i]);
		rk_json_put_value(r, RK_K_ITEMS_X + i, &v[KR_ITEMS + i]);
	}
	rk_json_put_value(r, RK_K_SHARED_MEM, &v[KR_GROUP]);
	rk_json_put_value(r, RK_K_SCRATCH, &v[KR_PRIVATE]);
	rk_json_put_value(r, RK_K_QUEUE, &v[KR_QUEUE]);
	rk_json_put_value(r, RK_K_DISPATCH, &v[KR_DISPATCH]);
	rk_json_put_value(r, RK_K_CORRELATION, &v[KR_CORRELATION]);
	rk_json_put_value(r, RK_K_TID, &v[KR_TID]);
	put_stream(s, v);
	rk_v3j_put_agent(s, RK_K_DEVICE, &v[KR_AGENT]);
	rk_v3j_put_who(s, RK_K_NODE, RK_K_PID);
	rk_json_put_id(r, RK_K_SOURCE, s->source_id);
	rk_json_put_id(r, RK_K_CLOCK, s->clock_id);
	if (put_kernel(s, &v[KR_KERNEL], &v[KR_EXTERNAL], RK_K_NAME, true, err) < 0)
		return RK_E_NOMEM;
	return 1;
}

/* ---- API calls and markers ---- */

enum { CR_KIND, CR_OPERATION, CR_CORRELATION, CR_START, CR_END, CR_TID, CR_NFIELDS };

static const struct rk_json_field call_fields[CR_NFIELDS] = {
	[CR_KIND] = { "kind", RK_JSON_AS_I64 },
	[CR_OPERATION] = { "operation", RK_JSON_AS_I64 },
	[CR_CORRELATION] = { "correlation_id/internal", RK_JSON_AS_U64 },
	[CR_START] = { "start_timestamp", RK_JSON_AS_I64 },
	[CR_END] = { "end_timestamp", RK_JSON_AS_I64 },
	[CR_TID] = { "thread_id", RK_JSON_AS_I64 },
};
static const uint64_t call_serves[CR_NFIELDS] = {
	[CR_KIND] = B(RK_A_DOMAIN) | B(RK_A_FUNCTION),
	[CR_OPERATION] = B(RK_A_FUNCTION),
	[CR_CORRELATION] = B(RK_A_CORRELATION),
	[CR_START] = B(RK_A_START) | B(RK_A_DURATION),
	[CR_END] = B(RK_A_DURATION),
	[CR_TID] = B(RK_A_TID),
};
static const uint64_t marker_serves[CR_NFIELDS] = {
	[CR_KIND] = B(RK_R_NAME) | B(RK_R_KIND),
	[CR_OPERATION] = B(RK_R_NAME),
	[CR_CORRELATION] = B(RK_R_NAME),
	[CR_START] = B(RK_R_START) | B(RK_R_DURATION) | B(RK_R_KIND),
	[CR_END] = B(RK_R_DURATION) | B(RK_R_KIND),
	[CR_TID] = B(RK_R_TID),
};

static int api_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;

	(void)err;
	rk_v3j_put_name(s, RK_A_DOMAIN, rk_v3j_kind_name(&s->names, &v[CR_KIND]));
	rk_v3j_put_name(s, RK_A_FUNCTION,
			rk_v3j_operation(&s->names, &v[CR_KIND], &v[CR_OPERATION]));
	rk_json_put_times(&s->rows, RK_A_START, RK_A_DURATION, &v[CR_START], &v[CR_END]);
	rk_json_put_value(&s->rows, RK_A_CORRELATION, &v[CR_CORRELATION]);
	rk_json_put_value(&s->rows, RK_A_TID, &v[CR_TID]);
	rk_v3j_put_who(s, RK_A_NODE, RK_A_PID);
	return 1;
}

/* As the CSV reader has it: ranges and marks share their domains, a mark has no length. */
static const char *marker_kind(const struct v3j_scan *s, const struct rk_json_value *v)
{
	size_t len;
	const char *domain = rk_strtab_borrow(s->names.ctx->names,
					      rk_v3j_kind_name(&s->names, &v[CR_KIND]), &len);

	if (rk_text_iprefix(domain, len, "MARKER_CONTROL"))
		return "control";
	if (rk_text_iprefix(domain, len, "MARKER_NAME"))
		return "name";
	return v[CR_START].i != v[CR_END].i ? "range" : "mark";
}

static int marker_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	const int64_t *text = NULL;
	const char *kind;

	if (v[CR_CORRELATION].has == RK_JSON_HAS)
		text = rk_json_pairs_find(&s->names.markers, (uint64_t)v[CR_CORRELATION].i);
	rk_v3j_put_name(s, RK_R_NAME,
			text ? (uint32_t)*text :
			       rk_v3j_operation(&s->names, &v[CR_KIND], &v[CR_OPERATION]));
	rk_json_put_times(&s->rows, RK_R_START, RK_R_DURATION, &v[CR_START], &v[CR_END]);
	rk_json_put_value(&s->rows, RK_R_TID, &v[CR_TID]);
	rk_v3j_put_who(s, RK_R_NODE, RK_R_PID);
	kind = marker_kind(s, v);
	return rk_json_put_text(&s->rows, RK_R_KIND, kind, strlen(kind), err) < 0 ? RK_E_NOMEM : 1;
}

/* ---- copies ---- */

enum { XR_SRC = CR_NFIELDS, XR_DST, XR_BYTES, XR_STREAM, XR_NFIELDS };

static const struct rk_json_field copy_fields[XR_NFIELDS] = {
	[CR_KIND] = { "kind", RK_JSON_AS_I64 },
	[CR_OPERATION] = { "operation", RK_JSON_AS_I64 },
	[CR_CORRELATION] = { "correlation_id/internal", RK_JSON_AS_U64 },
	[CR_START] = { "start_timestamp", RK_JSON_AS_I64 },
	[CR_END] = { "end_timestamp", RK_JSON_AS_I64 },
	[CR_TID] = { "thread_id", RK_JSON_AS_I64 },
	[XR_SRC] = { "src_agent_id/handle", RK_JSON_AS_U64 },
	[XR_DST] = { "dst_agent_id/handle", RK_JSON_AS_U64 },
	[XR_BYTES] = { "bytes", RK_JSON_AS_I64 },
	[XR_STREAM] = { "stream_id/handle", RK_JSON_AS_U64 },
};
static const uint64_t copy_serves[XR_NFIELDS] = {
	[CR_KIND] = B(RK_C_DIRECTION),
	[CR_OPERATION] = B(RK_C_DIRECTION),
	[CR_CORRELATION] = B(RK_C_CORRELATION),
	[CR_START] = B(RK_C_START) | B(RK_C_DURATION),
	[CR_END] = B(RK_C_DURATION),
	[CR_TID] = B(RK_C_TID),
	[XR_SRC] = B(RK_C_SRC),
	[XR_DST] = B(RK_C_DST),
	[XR_BYTES] = B(RK_C_BYTES),
	[XR_STREAM] = B(RK_C_STREAM),
};

/* Builds of 2024 have HOST_TO_DEVICE for what is MEMORY_COPY_HOST_TO_DEVICE before and after. */
static int put_direction(struct v3j_scan *s, uint32_t id, struct rk_error *err)
{
	struct rk_bytes full;
	size_t len;
	const char *text = rk_strtab_borrow(s->names.ctx->names, id, &len);
	int rc;

	if (!id || rk_text_iprefix(text, len, "MEMORY_COPY_")) {
		rk_v3j_put_name(s, RK_C_DIRECTION, id);
		return 0;
	}
	rk_bytes_init(&full, len + 16);
	rk_bytes_puts(&full, "MEMORY_COPY_");
	rk_bytes_put(&full, text, len);
	rc = full.bad ? rk_fail_nomem(err) :
			rk_json_put_text(&s->rows, RK_C_DIRECTION, (const char *)full.data,
					 full.len, err);
	rk_bytes_release(&full);
	return rc;
}

static int copy_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	int rc = put_direction(s, rk_v3j_operation(&s->names, &v[CR_KIND], &v[CR_OPERATION]), err);

	rk_json_put_times(&s->rows, RK_C_START, RK_C_DURATION, &v[CR_START], &v[CR_END]);
	rk_json_put_value(&s->rows, RK_C_BYTES, &v[XR_BYTES]);
	rk_v3j_put_agent(s, RK_C_SRC, &v[XR_SRC]);
	rk_v3j_put_agent(s, RK_C_DST, &v[XR_DST]);
	rk_json_put_value(&s->rows, RK_C_STREAM, &v[XR_STREAM]);
	rk_json_put_value(&s->rows, RK_C_CORRELATION, &v[CR_CORRELATION]);
	rk_json_put_value(&s->rows, RK_C_TID, &v[CR_TID]);
	rk_v3j_put_who(s, RK_C_NODE, RK_C_PID);
	return rc < 0 ? rc : 1;
}

/* ---- allocations and scratch memory ---- */

enum { MR_AGENT = CR_NFIELDS, MR_BYTES, MR_ADDRESS, MR_FLAGS, MR_NFIELDS };

static const struct rk_json_field memory_fields[MR_NFIELDS] = {
	[CR_KIND] = { "kind", RK_JSON_AS_I64 },
	[CR_OPERATION] = { "operation", RK_JSON_AS_I64 },
	[CR_CORRELATION] = { "correlation_id/internal", RK_JSON_AS_U64 },
	[CR_START] = { "start_timestamp", RK_JSON_AS_I64 },
	[CR_END] = { "end_timestamp", RK_JSON_AS_I64 },
	[CR_TID] = { "thread_id", RK_JSON_AS_I64 },
	[MR_AGENT] = { "agent_id/handle", RK_JSON_AS_U64 },
	[MR_BYTES] = { "allocation_size", RK_JSON_AS_I64 },
	[MR_ADDRESS] = { "address", RK_JSON_AS_U64 },
	[MR_FLAGS] = { "flags", RK_JSON_AS_I64 },
};
static const uint64_t memory_serves[MR_NFIELDS] = {
	[CR_KIND] = B(RK_M_OPERATION),
	[CR_OPERATION] = B(RK_M_OPERATION),
	[CR_CORRELATION] = B(RK_M_CORRELATION),
	[CR_START] = B(RK_M_START) | B(RK_M_DURATION),
	[CR_END] = B(RK_M_DURATION),
	[CR_TID] = B(RK_M_TID),
	[MR_AGENT] = B(RK_M_DEVICE),
	[MR_BYTES] = B(RK_M_BYTES),
	[MR_ADDRESS] = B(RK_M_ADDRESS),
	[MR_FLAGS] = B(RK_M_FLAGS),
};

static int memory_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;

	(void)err;
	rk_v3j_put_name(s, RK_M_OPERATION,
			rk_v3j_operation(&s->names, &v[CR_KIND], &v[CR_OPERATION]));
	rk_json_put_times(&s->rows, RK_M_START, RK_M_DURATION, &v[CR_START], &v[CR_END]);
	rk_json_put_value(&s->rows, RK_M_BYTES, &v[MR_BYTES]);
	rk_json_put_value(&s->rows, RK_M_ADDRESS, &v[MR_ADDRESS]);
	rk_json_put_value(&s->rows, RK_M_FLAGS, &v[MR_FLAGS]);
	rk_v3j_put_agent(s, RK_M_DEVICE, &v[MR_AGENT]);
	rk_json_put_value(&s->rows, RK_M_CORRELATION, &v[CR_CORRELATION]);
	rk_json_put_value(&s->rows, RK_M_TID, &v[CR_TID]);
	rk_v3j_put_who(s, RK_M_NODE, RK_M_PID);
	return 1;
}

/* ---- the tables ---- */

#define NAMES (V3J_BIT(V3J_METADATA) | V3J_BIT(V3J_AGENTS) | V3J_BIT(V3J_STRINGS))

#define KERNELS(part, record_fields)                                                              \
	{                                                                                         \
		.table = RK_KERNELS,                                                              \
		.gives = ~(B(RK_K_RANK) | B(RK_K_BARRIER) | B(RK_K_WAVE_SIZE) | B(RK_K_CONTEXT) | \
			   B(RK_K_GRAPH) | B(RK_K_GRAPH_NODE)),                                   \
		.parts = V3J_BIT(part), .names = NAMES | V3J_BIT(V3J_SYMBOLS),                    \
		.strings = V3J_NEED_RENAMED, .fields = record_fields, .nfields = KR_NFIELDS,      \
		.serves = kernel_serves, .row = kernel_row                                        \
	}

const struct v3j_table rk_v3j_kernels = KERNELS(V3J_DISPATCHES, kernel_fields);
const struct v3j_table rk_v3j_dispatches_of_counters =
	KERNELS(V3J_COUNTER_COLLECTION, counted_fields);

const struct v3j_table rk_v3j_api = {
	.table = RK_API,
	.gives = ~B(RK_A_RANK),
	.parts = V3J_BIT(V3J_API),
	.names = NAMES,
	.strings = V3J_NEED_OPERATIONS,
	.fields = call_fields,
	.nfields = CR_NFIELDS,
	.serves = call_serves,
	.row = api_row,
};
const struct v3j_table rk_v3j_markers = {
	.table = RK_MARKERS,
	.gives = ~B(RK_R_RANK),
	.parts = V3J_BIT(V3J_MARKERS),
	.names = NAMES,
	.strings = V3J_NEED_OPERATIONS | V3J_NEED_MARKERS,
	.fields = call_fields,
	.nfields = CR_NFIELDS,
	.serves = marker_serves,
	.row = marker_row,
};
const struct v3j_table rk_v3j_memcpy = {
	.table = RK_MEMCPY,
	.gives = ~B(RK_C_RANK),
	.parts = V3J_BIT(V3J_COPIES),
	.names = NAMES,
	.strings = V3J_NEED_OPERATIONS,
	.fields = copy_fields,
	.nfields = XR_NFIELDS,
	.serves = copy_serves,
	.row = copy_row,
};
const struct v3j_table rk_v3j_memalloc = {
	.table = RK_MEMALLOC,
	.gives = ~B(RK_M_RANK),
	.parts = V3J_BIT(V3J_ALLOCATIONS) | V3J_BIT(V3J_SCRATCH),
	.names = NAMES,
	.strings = V3J_NEED_OPERATIONS,
	.fields = memory_fields,
	.nfields = MR_NFIELDS,
	.serves = memory_serves,
	.row = memory_row,
};
