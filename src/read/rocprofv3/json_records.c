/* json_records.c - turn a record of rocprofv3's JSON into a row (counters: several rows). */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/rocprofv3/csv.h"
#include "read/rocprofv3/json.h"

#define B(f) (UINT64_C(1) << (f))

/* Null when the process is unknown. */
static void put_who(struct v3j_scan *s, unsigned node, unsigned pid)
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

/* An unknown name (0) becomes null. */
static void put_name(struct v3j_scan *s, unsigned field, uint32_t id)
{
	if (id)
		rk_json_put_id(&s->rows, field, id);
	else
		rk_json_put_null(&s->rows, field);
}

/* Handles are opaque; we identify agents by their node id. */
static void put_agent(struct v3j_scan *s, unsigned field, const struct rk_json_value *handle)
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
	KR_REPLAY = KR_ITEMS + 3,
	KR_NFIELDS
};

/* Fields that come from the kernel symbol. */
#define SYMBOL (B(RK_K_NAME) | B(RK_K_REGS) | B(RK_K_VGPR) | B(RK_K_ACCUM_VGPR) | B(RK_K_SGPR))

/* Fields of a dispatch, as a separate record or inside its counter record. */
#define KERNEL_FIELDS(in)                                                                         \
	[KR_TID] = { "thread_id", RK_JSON_AS_I64, .serves = B(RK_K_TID) },                        \
	[KR_STREAM] = { "stream_id/handle", RK_JSON_AS_U64, .serves = B(RK_K_STREAM) },           \
	[KR_CORRELATION] = { in "correlation_id/internal", RK_JSON_AS_U64,                        \
			     .serves = B(RK_K_CORRELATION) },                                     \
	[KR_EXTERNAL] = { in "correlation_id/external", RK_JSON_AS_U64, .serves = B(RK_K_NAME) }, \
	[KR_START] = { in "start_timestamp", RK_JSON_AS_I64,                                      \
		       .serves = B(RK_K_START) | B(RK_K_DURATION) },                              \
	[KR_END] = { in "end_timestamp", RK_JSON_AS_I64, .serves = B(RK_K_DURATION) },            \
	[KR_AGENT] = { in "dispatch_info/agent_id/handle", RK_JSON_AS_U64,                        \
		       .serves = B(RK_K_DEVICE) },                                                \
	[KR_QUEUE] = { in "dispatch_info/queue_id/handle", RK_JSON_AS_U64,                        \
		       .serves = B(RK_K_QUEUE) | B(RK_K_STREAM) },                                \
	[KR_KERNEL] = { in "dispatch_info/kernel_id", RK_JSON_AS_I64, .serves = SYMBOL },         \
	[KR_DISPATCH] = { in "dispatch_info/dispatch_id", RK_JSON_AS_I64,                         \
			  .serves = B(RK_K_DISPATCH) },                                           \
	[KR_PRIVATE] = { in "dispatch_info/private_segment_size", RK_JSON_AS_I64,                 \
			 .serves = B(RK_K_SCRATCH) },                                             \
	[KR_GROUP] = { in "dispatch_info/group_segment_size", RK_JSON_AS_I64,                     \
		       .serves = B(RK_K_SHARED_MEM) },                                            \
	[KR_BLOCK] = { in "dispatch_info/workgroup_size/x", RK_JSON_AS_I64,                       \
		       .serves = B(RK_K_BLOCK_X) | B(RK_K_GRID_X) },                              \
	[KR_BLOCK + 1] = { in "dispatch_info/workgroup_size/y", RK_JSON_AS_I64,                   \
			   .serves = B(RK_K_BLOCK_Y) | B(RK_K_GRID_Y) },                          \
	[KR_BLOCK + 2] = { in "dispatch_info/workgroup_size/z", RK_JSON_AS_I64,                   \
			   .serves = B(RK_K_BLOCK_Z) | B(RK_K_GRID_Z) },                          \
	[KR_ITEMS] = { in "dispatch_info/grid_size/x", RK_JSON_AS_I64,                            \
		       .serves = B(RK_K_ITEMS_X) | B(RK_K_GRID_X) },                              \
	[KR_ITEMS + 1] = { in "dispatch_info/grid_size/y", RK_JSON_AS_I64,                        \
			   .serves = B(RK_K_ITEMS_Y) | B(RK_K_GRID_Y) },                          \
	[KR_ITEMS + 2] = { in "dispatch_info/grid_size/z", RK_JSON_AS_I64,                        \
			   .serves = B(RK_K_ITEMS_Z) | B(RK_K_GRID_Z) },                          \
	[KR_REPLAY] = { "replay_pass", RK_JSON_AS_I64, .serves = UINT64_MAX },

static const struct rk_json_field kernel_fields[KR_NFIELDS] = { KERNEL_FIELDS("") };
static const struct rk_json_field counted_fields[KR_NFIELDS] = { KERNEL_FIELDS("dispatch_data/") };

/* -1 means unknown. */
static void put_count(struct v3j_scan *s, unsigned field, int32_t v)
{
	if (v >= 0)
		rk_json_put(&s->rows, field, v);
	else
		rk_json_put_null(&s->rows, field);
}

static int kernel_row(struct v3j_scan *s, struct rk_error *err)
{
	static const struct v3j_symbol unknown = { .vgpr = -1, .accum_vgpr = -1, .sgpr = -1 };
	const struct rk_json_value *v = s->record.values, *stream = &v[KR_STREAM];
	const struct v3j_symbol *k = rk_v3j_symbol(&s->names, &v[KR_KERNEL], err);
	struct rk_json_scan *r = &s->rows;
	const int64_t *renamed = NULL;

	/* kernel replay: a record for each repetition of the dispatch, from 0 */
	if (v[KR_REPLAY].has == RK_JSON_HAS && v[KR_REPLAY].i > 0)
		return 0;
	if (!k)
		k = &unknown;
	if (k->id == UINT32_MAX)
		return RK_E_NOMEM;
	/* with --kernel-rename the external id refers to a name from the program */
	if (v[KR_EXTERNAL].has == RK_JSON_HAS && v[KR_EXTERNAL].i)
		renamed = rk_json_pairs_find(&s->names.renamed, (uint64_t)v[KR_EXTERNAL].i);
	if (renamed)
		put_name(s, RK_K_NAME, (uint32_t)*renamed);
	else
		put_name(s, RK_K_NAME, k->id);
	put_count(s, RK_K_VGPR, k->vgpr);
	put_count(s, RK_K_ACCUM_VGPR, k->accum_vgpr);
	put_count(s, RK_K_SGPR, k->sgpr);
	if (k->vgpr >= 0)
		rk_json_put(r, RK_K_REGS,
			    (int64_t)k->vgpr + (k->accum_vgpr > 0 ? k->accum_vgpr : 0));
	else
		rk_json_put_null(r, RK_K_REGS);
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
	/* if the tool has no stream, use the queue instead */
	if (stream->has != RK_JSON_HAS)
		stream = &v[KR_QUEUE];
	if (stream->has == RK_JSON_HAS && stream->i >= INT32_MIN && stream->i <= INT32_MAX)
		rk_json_put(r, RK_K_STREAM, stream->i);
	else
		rk_json_put_null(r, RK_K_STREAM);
	put_agent(s, RK_K_DEVICE, &v[KR_AGENT]);
	put_who(s, RK_K_NODE, RK_K_PID);
	rk_json_put_id(r, RK_K_SOURCE, s->source_id);
	rk_json_put_id(r, RK_K_CLOCK, s->clock_id);
	return 1;
}

/* ---- API calls and markers ---- */

enum { CR_KIND, CR_OPERATION, CR_CORRELATION, CR_START, CR_END, CR_TID, CR_NFIELDS };

/* Fields common to calls, copies and allocations; `t` is the letter of the table's fields. */
#define CALL_FIELDS(t, kind, operation)                                                 \
	[CR_KIND] = { "kind", RK_JSON_AS_I64, .serves = kind },                         \
	[CR_OPERATION] = { "operation", RK_JSON_AS_I64, .serves = operation },          \
	[CR_CORRELATION] = { "correlation_id/internal", RK_JSON_AS_U64,                 \
			     .serves = B(RK_##t##_CORRELATION) },                       \
	[CR_START] = { "start_timestamp", RK_JSON_AS_I64,                               \
		       .serves = B(RK_##t##_START) | B(RK_##t##_DURATION) },            \
	[CR_END] = { "end_timestamp", RK_JSON_AS_I64, .serves = B(RK_##t##_DURATION) }, \
	[CR_TID] = { "thread_id", RK_JSON_AS_I64, .serves = B(RK_##t##_TID) }

static const struct rk_json_field call_fields[CR_NFIELDS] = {
	CALL_FIELDS(A, B(RK_A_DOMAIN) | B(RK_A_FUNCTION), B(RK_A_FUNCTION)),
};
static const struct rk_json_field marker_fields[CR_NFIELDS] = {
	[CR_KIND] = { "kind", RK_JSON_AS_I64, .serves = B(RK_R_NAME) | B(RK_R_KIND) },
	[CR_OPERATION] = { "operation", RK_JSON_AS_I64, .serves = B(RK_R_NAME) },
	[CR_CORRELATION] = { "correlation_id/internal", RK_JSON_AS_U64, .serves = B(RK_R_NAME) },
	[CR_START] = { "start_timestamp", RK_JSON_AS_I64,
		       .serves = B(RK_R_START) | B(RK_R_DURATION) | B(RK_R_KIND) },
	[CR_END] = { "end_timestamp", RK_JSON_AS_I64, .serves = B(RK_R_DURATION) | B(RK_R_KIND) },
	[CR_TID] = { "thread_id", RK_JSON_AS_I64, .serves = B(RK_R_TID) },
};

static int api_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;

	(void)err;
	put_name(s, RK_A_DOMAIN, rk_v3j_kind_name(&s->names, &v[CR_KIND]));
	put_name(s, RK_A_FUNCTION, rk_v3j_operation(&s->names, &v[CR_KIND], &v[CR_OPERATION]));
	rk_json_put_times(&s->rows, RK_A_START, RK_A_DURATION, &v[CR_START], &v[CR_END]);
	rk_json_put_value(&s->rows, RK_A_CORRELATION, &v[CR_CORRELATION]);
	rk_json_put_value(&s->rows, RK_A_TID, &v[CR_TID]);
	put_who(s, RK_A_NODE, RK_A_PID);
	return 1;
}

static int marker_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	const int64_t *text = NULL;
	const char *domain, *kind;
	size_t len;

	if (v[CR_CORRELATION].has == RK_JSON_HAS)
		text = rk_json_pairs_find(&s->names.markers, (uint64_t)v[CR_CORRELATION].i);
	if (text)
		put_name(s, RK_R_NAME, (uint32_t)*text);
	else
		put_name(s, RK_R_NAME, rk_v3j_operation(&s->names, &v[CR_KIND], &v[CR_OPERATION]));
	rk_json_put_times(&s->rows, RK_R_START, RK_R_DURATION, &v[CR_START], &v[CR_END]);
	rk_json_put_value(&s->rows, RK_R_TID, &v[CR_TID]);
	put_who(s, RK_R_NODE, RK_R_PID);
	domain = rk_strtab_borrow(s->names.ctx->names, rk_v3j_kind_name(&s->names, &v[CR_KIND]),
				  &len);
	kind = rk_v3_marker_kind(domain, len, v[CR_START].i != v[CR_END].i);
	return rk_json_put_word(&s->rows, RK_R_KIND, kind, err) < 0 ? RK_E_NOMEM : 1;
}

/* ---- copies ---- */

enum { XR_SRC = CR_NFIELDS, XR_DST, XR_BYTES, XR_STREAM, XR_NFIELDS };

static const struct rk_json_field copy_fields[XR_NFIELDS] = {
	CALL_FIELDS(C, B(RK_C_DIRECTION), B(RK_C_DIRECTION)),
	[XR_SRC] = { "src_agent_id/handle", RK_JSON_AS_U64, .serves = B(RK_C_SRC) },
	[XR_DST] = { "dst_agent_id/handle", RK_JSON_AS_U64, .serves = B(RK_C_DST) },
	[XR_BYTES] = { "bytes", RK_JSON_AS_I64, .serves = B(RK_C_BYTES) },
	[XR_STREAM] = { "stream_id/handle", RK_JSON_AS_U64, .serves = B(RK_C_STREAM) },
};

static int copy_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	uint32_t direction = rk_v3j_operation(&s->names, &v[CR_KIND], &v[CR_OPERATION]);
	int rc = rk_v3_full_direction(s->names.ctx, &direction, err);

	put_name(s, RK_C_DIRECTION, direction);
	rk_json_put_times(&s->rows, RK_C_START, RK_C_DURATION, &v[CR_START], &v[CR_END]);
	rk_json_put_value(&s->rows, RK_C_BYTES, &v[XR_BYTES]);
	put_agent(s, RK_C_SRC, &v[XR_SRC]);
	put_agent(s, RK_C_DST, &v[XR_DST]);
	rk_json_put_value(&s->rows, RK_C_STREAM, &v[XR_STREAM]);
	rk_json_put_value(&s->rows, RK_C_CORRELATION, &v[CR_CORRELATION]);
	rk_json_put_value(&s->rows, RK_C_TID, &v[CR_TID]);
	put_who(s, RK_C_NODE, RK_C_PID);
	return rc < 0 ? rc : 1;
}

/* ---- allocations and scratch memory ---- */

enum { MR_AGENT = CR_NFIELDS, MR_BYTES, MR_ADDRESS, MR_FLAGS, MR_NFIELDS };

static const struct rk_json_field memory_fields[MR_NFIELDS] = {
	CALL_FIELDS(M, B(RK_M_OPERATION), B(RK_M_OPERATION)),
	[MR_AGENT] = { "agent_id/handle", RK_JSON_AS_U64, .serves = B(RK_M_DEVICE) },
	[MR_BYTES] = { "allocation_size", RK_JSON_AS_I64, .serves = B(RK_M_BYTES) },
	[MR_ADDRESS] = { "address", RK_JSON_AS_U64, .serves = B(RK_M_ADDRESS) },
	[MR_FLAGS] = { "flags", RK_JSON_AS_I64, .serves = B(RK_M_FLAGS) },
};

static int memory_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;

	(void)err;
	put_name(s, RK_M_OPERATION, rk_v3j_operation(&s->names, &v[CR_KIND], &v[CR_OPERATION]));
	rk_json_put_times(&s->rows, RK_M_START, RK_M_DURATION, &v[CR_START], &v[CR_END]);
	rk_json_put_value(&s->rows, RK_M_BYTES, &v[MR_BYTES]);
	rk_json_put_value(&s->rows, RK_M_ADDRESS, &v[MR_ADDRESS]);
	rk_json_put_value(&s->rows, RK_M_FLAGS, &v[MR_FLAGS]);
	put_agent(s, RK_M_DEVICE, &v[MR_AGENT]);
	rk_json_put_value(&s->rows, RK_M_CORRELATION, &v[CR_CORRELATION]);
	rk_json_put_value(&s->rows, RK_M_TID, &v[CR_TID]);
	put_who(s, RK_M_NODE, RK_M_PID);
	return 1;
}

/* ---- counters: a dispatch has one record for each instance of a counter ---- */

enum { NR_DISPATCH, NR_KERNEL, NR_AGENT, NR_RECORDS, NR_NFIELDS };

static const struct rk_json_field counter_fields[NR_NFIELDS] = {
	[NR_DISPATCH] = { "dispatch_data/dispatch_info/dispatch_id", RK_JSON_AS_I64,
			  .serves = B(RK_N_DISPATCH) },
	[NR_KERNEL] = { "dispatch_data/dispatch_info/kernel_id", RK_JSON_AS_I64,
			.serves = B(RK_N_NAME) },
	[NR_AGENT] = { "dispatch_data/dispatch_info/agent_id/handle", RK_JSON_AS_U64,
		       .serves = B(RK_N_DEVICE) },
	[NR_RECORDS] = { "records", RK_JSON_AS_LIST, .serves = UINT64_MAX },
};
static const struct rk_json_field instance_fields[] = {
	{ "counter_id/handle", RK_JSON_AS_U64 },
	{ "value", RK_JSON_AS_F64 },
};

static int add_instance(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct v3j_scan *s = arg;
	uint64_t counter = (uint64_t)r->values[0].i;
	size_t i = s->nsums;

	if (r->values[0].has != RK_JSON_HAS)
		return 0;
	/* instances of one counter are adjacent */
	while (i > 0 && s->sums[i - 1].counter != counter)
		i--;
	if (i-- == 0) {
		if (s->nsums == V3J_SUMS_MAX)
			return rk_fail(err, RK_E_LIMIT, "a dispatch has more than %d counters",
				       (int)V3J_SUMS_MAX);
		i = s->nsums++;
		s->sums[i] = (struct v3j_sum){ .counter = counter };
	}
	if (r->values[1].has == RK_JSON_HAS) {
		s->sums[i].value += r->values[1].f;
		s->sums[i].any = true;
	} else if (r->values[1].has != RK_JSON_ABSENT) {
		rk_json_count_wrong(&s->rows, RK_N_VALUE, r->values[1].has);
	}
	return 0;
}

int rk_v3j_read_sums(void *scan, struct rk_json *j, struct rk_error *err)
{
	struct v3j_scan *s = scan;
	struct rk_json_record r;
	int rc;

	s->nsums = s->sums_given = 0;
	if (!s->sums)
		s->sums = rk_calloc(V3J_SUMS_MAX, sizeof(*s->sums));
	if (!s->sums)
		return rk_fail_nomem(err);
	rk_json_record_init(&r, instance_fields, 2, UINT64_MAX);
	rc = rk_json_record_rest(&r, j, add_instance, s, err);
	rk_json_record_release(&r);
	return rc;
}

/* The record has been read; now return its rows one by one. */
static int begin_counters(struct v3j_scan *s, struct rk_error *err)
{
	(void)err;
	if (s->record.values[NR_RECORDS].has != RK_JSON_HAS)
		s->nsums = s->sums_given = 0;
	return 0;
}

int rk_v3j_counter_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	const struct v3j_sum *sum = &s->sums[s->sums_given++];
	const int64_t *name = rk_json_pairs_find(&s->names.counters, sum->counter);
	const struct v3j_symbol *k = rk_v3j_symbol(&s->names, &v[NR_KERNEL], err);
	double *value = s->rows.col[RK_N_VALUE];

	if (k && k->id == UINT32_MAX)
		return RK_E_NOMEM;
	put_name(s, RK_N_NAME, k ? k->id : 0);
	put_name(s, RK_N_COUNTER, name ? (uint32_t)*name : 0);
	if (value)
		value[s->rows.b.nrows] = sum->value;
	if (!sum->any)
		rk_json_put_null(&s->rows, RK_N_VALUE);
	rk_json_put_value(&s->rows, RK_N_DISPATCH, &v[NR_DISPATCH]);
	put_agent(s, RK_N_DEVICE, &v[NR_AGENT]);
	put_who(s, RK_N_NODE, RK_N_PID);
	s->rows.b.nrows++;
	return s->rows.nomem ? rk_fail_nomem(err) : 0;
}

/* ---- PC samples ---- */

enum { PR_TIME, PR_DISPATCH, PR_STALL, PR_ISSUED, PR_WAVES, PR_INDEX, PR_NFIELDS };

static const struct rk_json_field pc_fields[PR_NFIELDS] = {
	[PR_TIME] = { "record/timestamp", RK_JSON_AS_I64, .serves = B(RK_P_TIME) },
	[PR_DISPATCH] = { "record/dispatch_id", RK_JSON_AS_I64, .serves = B(RK_P_DISPATCH) },
	[PR_STALL] = { "record/snapshot/stall_reason", RK_JSON_AS_TEXT, .serves = B(RK_P_STALL) },
	[PR_ISSUED] = { "record/wave_issued", RK_JSON_AS_TEXT, .serves = B(RK_P_STALL) },
	[PR_WAVES] = { "record/wave_cnt", RK_JSON_AS_I64, .serves = B(RK_P_WAVE_COUNT) },
	[PR_INDEX] = { "inst_index", RK_JSON_AS_I64,
		       .serves = B(RK_P_INSTRUCTION) | B(RK_P_SOURCE_LINE) },
};

static uint32_t listed(const uint32_t *list, size_t n, const struct rk_json_value *index)
{
	if (index->has != RK_JSON_HAS || index->i < 0 || (uint64_t)index->i >= n)
		return 0;
	return list[index->i];
}

static int pc_row(struct v3j_scan *s, struct rk_error *err)
{
	static const char prefix[] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
	const struct rk_json_value *v = s->record.values;
	const struct v3j_names *n = &s->names;
	const char *issued = rk_json_record_text(&s->record, PR_ISSUED);
	const char *stall = rk_json_record_text(&s->record, PR_STALL);
	size_t len = v[PR_STALL].len;

	rk_json_put_value(&s->rows, RK_P_TIME, &v[PR_TIME]);
	rk_json_put_value(&s->rows, RK_P_DISPATCH, &v[PR_DISPATCH]);
	rk_json_put_value(&s->rows, RK_P_WAVE_COUNT, &v[PR_WAVES]);
	put_name(s, RK_P_INSTRUCTION, listed(n->instructions, n->ninstructions, &v[PR_INDEX]));
	put_name(s, RK_P_SOURCE_LINE, listed(n->comments, n->ncomments, &v[PR_INDEX]));
	put_who(s, RK_P_NODE, RK_P_PID);

	/* a wave that issued its instruction was not stalled, whatever the file says */
	if (v[PR_STALL].has != RK_JSON_HAS ||
	    (v[PR_ISSUED].has == RK_JSON_HAS &&
	     ((v[PR_ISSUED].len == 1 && *issued == '1') ||
	      (v[PR_ISSUED].len == 4 && !memcmp(issued, "true", 4))))) {
		rk_json_put_null(&s->rows, RK_P_STALL);
		return 1;
	}
	if (rk_text_iprefix(stall, len, prefix)) {
		stall += sizeof(prefix) - 1;
		len -= sizeof(prefix) - 1;
	}
	return rk_json_put_text(&s->rows, RK_P_STALL, stall, len, err) < 0 ? RK_E_NOMEM : 1;
}

/* ---- agents and processes ---- */

enum {
	GR_NODE,
	GR_TYPE,
	GR_NAME,
	GR_PRODUCT,
	GR_CU,
	GR_SCLK,
	GR_MCLK,
	GR_XCC,
	GR_WAVE,
	GR_MEMORY,
	GR_ARRAYS,
	GR_ARRAYS_EACH,
	GR_SIMDS,
	GR_WAVES,
	GR_NFIELDS
};

static const struct rk_json_field agent_fields[GR_NFIELDS] = {
	[GR_NODE] = { "node_id", RK_JSON_AS_I64, .serves = B(RK_G_DEVICE) },
	[GR_TYPE] = { "type", RK_JSON_AS_I64, .serves = B(RK_G_TYPE) },
	[GR_NAME] = { "name", RK_JSON_AS_TEXT, .serves = B(RK_G_NAME) | B(RK_G_GFX) },
	[GR_PRODUCT] = { "product_name", RK_JSON_AS_TEXT, .serves = B(RK_G_PRODUCT) },
	[GR_CU] = { "cu_count", RK_JSON_AS_I64, .serves = B(RK_G_CU_COUNT) },
	[GR_SCLK] = { "max_engine_clk_fcompute", RK_JSON_AS_I64, .serves = B(RK_G_MAX_SCLK) },
	[GR_MCLK] = { "mem_banks/0/mem_clk_max", RK_JSON_AS_I64, .serves = B(RK_G_MAX_MCLK) },
	[GR_XCC] = { "num_xcc", RK_JSON_AS_I64, .serves = B(RK_G_XCC) },
	[GR_WAVE] = { "wave_front_size", RK_JSON_AS_I64, .serves = B(RK_G_WAVE_SIZE) },
	[GR_MEMORY] = { "mem_banks/0/size_in_bytes", RK_JSON_AS_I64, .serves = B(RK_G_MEMORY) },
	[GR_ARRAYS] = { "array_count", RK_JSON_AS_I64, .serves = B(RK_G_SE_COUNT) },
	[GR_ARRAYS_EACH] = { "simd_arrays_per_engine", RK_JSON_AS_I64, .serves = B(RK_G_SE_COUNT) },
	[GR_SIMDS] = { "simd_per_cu", RK_JSON_AS_I64, .serves = B(RK_G_SIMD_PER_CU) },
	[GR_WAVES] = { "max_waves_per_cu", RK_JSON_AS_I64, .serves = B(RK_G_WAVES_PER_CU) },
};

static int agent_row(struct v3j_scan *s, struct rk_error *err)
{
	static const struct {
		uint8_t field, from;
	} numbers[] = {
		{ RK_G_DEVICE, GR_NODE },
		{ RK_G_CU_COUNT, GR_CU },
		{ RK_G_MAX_SCLK, GR_SCLK },
		{ RK_G_MAX_MCLK, GR_MCLK },
		{ RK_G_XCC, GR_XCC },
		{ RK_G_WAVE_SIZE, GR_WAVE },
		{ RK_G_MEMORY, GR_MEMORY },
		{ RK_G_SIMD_PER_CU, GR_SIMDS },
		{ RK_G_WAVES_PER_CU, GR_WAVES },
	};
	const struct rk_json_value *v = s->record.values;
	struct rk_json_value engines = v[GR_ARRAYS];
	int rc;

	if ((rc = rk_json_put_field(&s->rows, RK_G_NAME, &s->record, GR_NAME, err)) < 0 ||
	    (rc = rk_json_put_field(&s->rows, RK_G_PRODUCT, &s->record, GR_PRODUCT, err)) < 0)
		return rc;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		rk_json_put_value(&s->rows, numbers[i].field, &v[numbers[i].from]);
	put_name(s, RK_G_NODE, s->names.has_node ? s->names.node : 0);

	/* shader engines: the driver only reports their arrays */
	if (engines.has == RK_JSON_HAS) {
		if (engines.i > 0 && v[GR_ARRAYS_EACH].has == RK_JSON_HAS &&
		    v[GR_ARRAYS_EACH].i > 0)
			engines.i /= v[GR_ARRAYS_EACH].i;
		else
			engines.has = RK_JSON_ABSENT;
	}
	rk_json_put_value(&s->rows, RK_G_SE_COUNT, &engines);

	/* a GPU's name is its gfx target; a CPU has none */
	if (v[GR_NAME].has == RK_JSON_HAS &&
	    rk_text_iprefix(rk_json_record_text(&s->record, GR_NAME), v[GR_NAME].len, "gfx"))
		rc = rk_json_put_field(&s->rows, RK_G_GFX, &s->record, GR_NAME, err);
	else
		rk_json_put_null(&s->rows, RK_G_GFX);
	if (rc < 0)
		return rc;

	if (v[GR_TYPE].has == RK_JSON_HAS && (v[GR_TYPE].i == 1 || v[GR_TYPE].i == 2))
		rc = rk_json_put_text(&s->rows, RK_G_TYPE, v[GR_TYPE].i == 1 ? "CPU" : "GPU", 3,
				      err);
	else
		rk_json_put_null(&s->rows, RK_G_TYPE);
	return rc < 0 ? rc : 1;
}

enum { OR_PID, OR_PPID, OR_COMMAND, OR_HOST, OR_START, OR_END, OR_NFIELDS };

static const struct rk_json_field process_fields[OR_NFIELDS] = {
	[OR_PID] = { "pid", RK_JSON_AS_I64, .serves = B(RK_O_PID) },
	[OR_PPID] = { "ppid", RK_JSON_AS_I64, .serves = B(RK_O_PPID) },
	[OR_COMMAND] = { "command", RK_JSON_AS_JOIN, .serves = B(RK_O_COMMAND) },
	[OR_HOST] = { "node/hostname", RK_JSON_AS_TEXT, .serves = B(RK_O_NODE) },
	[OR_START] = { "init_time", RK_JSON_AS_I64, .serves = B(RK_O_START) },
	[OR_END] = { "fini_time", RK_JSON_AS_I64, .serves = B(RK_O_END) },
};

static int process_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	int rc;

	if ((rc = rk_json_put_field(&s->rows, RK_O_COMMAND, &s->record, OR_COMMAND, err)) < 0 ||
	    (rc = rk_json_put_field(&s->rows, RK_O_NODE, &s->record, OR_HOST, err)) < 0)
		return rc;
	rk_json_put_value(&s->rows, RK_O_PID, &v[OR_PID]);
	rk_json_put_value(&s->rows, RK_O_PPID, &v[OR_PPID]);
	rk_json_put_value(&s->rows, RK_O_START, &v[OR_START]);
	rk_json_put_value(&s->rows, RK_O_END, &v[OR_END]);
	return 1;
}

/* ---- the tables ---- */

#define NAMES (V3J_BIT(V3J_METADATA) | V3J_BIT(V3J_AGENTS) | V3J_BIT(V3J_STRINGS))

#define KERNELS(part, record_fields)                                                              \
	{                                                                                         \
		.table = RK_KERNELS,                                                              \
		.gives = ~(B(RK_K_RANK) | B(RK_K_BARRIER) | B(RK_K_WAVE_SIZE) | B(RK_K_CONTEXT) | \
			   B(RK_K_GRAPH) | B(RK_K_GRAPH_NODE) | B(RK_K_COLLECTIVE) |              \
			   B(RK_K_COMM_GROUP) | B(RK_K_COMM_SIZE) | B(RK_K_COMM_SEQ) |            \
			   B(RK_K_SUBMIT)),                                                       \
		.parts = V3J_BIT(part), .names = NAMES | V3J_BIT(V3J_SYMBOLS),                    \
		.strings = V3J_NEED_RENAMED, .fields = record_fields, .nfields = KR_NFIELDS,      \
		.row = kernel_row                                                                 \
	}

const struct v3j_table rk_v3j_tables[] = {
	KERNELS(V3J_DISPATCHES, kernel_fields),
	{
		.table = RK_MEMCPY,
		.gives = ~(B(RK_C_RANK) | B(RK_C_GRAPH) | B(RK_C_GRAPH_NODE)),
		.parts = V3J_BIT(V3J_COPIES),
		.names = NAMES,
		.strings = V3J_NEED_OPERATIONS,
		.fields = copy_fields,
		.nfields = XR_NFIELDS,
		.row = copy_row,
	},
	{
		.table = RK_MEMALLOC,
		.gives = ~B(RK_M_RANK),
		.parts = V3J_BIT(V3J_ALLOCATIONS) | V3J_BIT(V3J_SCRATCH),
		.names = NAMES,
		.strings = V3J_NEED_OPERATIONS,
		.fields = memory_fields,
		.nfields = MR_NFIELDS,
		.row = memory_row,
	},
	{
		.table = RK_API,
		.gives = ~B(RK_A_RANK),
		.parts = V3J_BIT(V3J_API),
		.names = NAMES,
		.strings = V3J_NEED_OPERATIONS,
		.fields = call_fields,
		.nfields = CR_NFIELDS,
		.row = api_row,
	},
	{
		.table = RK_MARKERS,
		.gives = ~B(RK_R_RANK),
		.parts = V3J_BIT(V3J_MARKERS),
		.names = NAMES,
		.strings = V3J_NEED_OPERATIONS | V3J_NEED_MARKERS,
		.fields = marker_fields,
		.nfields = CR_NFIELDS,
		.row = marker_row,
	},
	{
		.table = RK_COUNTERS,
		.gives = ~(B(RK_N_RANK) | B(RK_N_PASS) | B(RK_N_INSTANCE)),
		.parts = V3J_BIT(V3J_COUNTER_COLLECTION),
		.names = V3J_BIT(V3J_METADATA) | V3J_BIT(V3J_AGENTS) | V3J_BIT(V3J_SYMBOLS) |
			 V3J_BIT(V3J_COUNTERS),
		.fields = counter_fields,
		.nfields = NR_NFIELDS,
		.row = begin_counters,
	},
	{
		.table = RK_PC_SAMPLES,
		.gives = ~(B(RK_P_RANK) | B(RK_P_NAME)),
		.parts = V3J_BIT(V3J_PC_SAMPLES),
		.names = V3J_BIT(V3J_METADATA) | V3J_BIT(V3J_STRINGS),
		.strings = V3J_NEED_PC,
		.fields = pc_fields,
		.nfields = PR_NFIELDS,
		.row = pc_row,
	},
	{
		.table = RK_AGENTS,
		.gives = ~(B(RK_G_L2_CHANNELS) | B(RK_G_HBM_CHANNELS) | B(RK_G_LDS_BANKS) |
			   B(RK_G_SQC_COUNT) | B(RK_G_PIPES) | B(RK_G_PCI) | B(RK_G_UNIQUE_ID)),
		.parts = V3J_BIT(V3J_AGENTS),
		.names = V3J_BIT(V3J_METADATA),
		.fields = agent_fields,
		.nfields = GR_NFIELDS,
		.row = agent_row,
	},
	{
		.table = RK_PROCESSES,
		.gives = ~(B(RK_O_RANK) | B(RK_O_LOCAL_RANK)),
		.parts = V3J_BIT(V3J_METADATA),
		.fields = process_fields,
		.nfields = OR_NFIELDS,
		.row = process_row,
	},
	/* used if the dispatch has no record of its own */
	KERNELS(V3J_COUNTER_COLLECTION, counted_fields),
	{ 0 },
};
