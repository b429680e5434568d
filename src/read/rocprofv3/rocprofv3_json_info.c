/* rocprofv3_json_info.c - counters, PC samples, agents and processes of rocprofv3's JSON. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/rocprofv3/json.h"

#define B(f) (UINT64_C(1) << (f))

/* ---- counters: a dispatch has one record for each instance of a counter ---- */

enum { NR_DISPATCH, NR_KERNEL, NR_AGENT, NR_RECORDS, NR_NFIELDS };

static const struct rk_json_field counter_fields[NR_NFIELDS] = {
	[NR_DISPATCH] = { "dispatch_data/dispatch_info/dispatch_id", RK_JSON_AS_I64 },
	[NR_KERNEL] = { "dispatch_data/dispatch_info/kernel_id", RK_JSON_AS_I64 },
	[NR_AGENT] = { "dispatch_data/dispatch_info/agent_id/handle", RK_JSON_AS_U64 },
	[NR_RECORDS] = { "records", RK_JSON_AS_LIST },
};
static const uint64_t counter_serves[NR_NFIELDS] = {
	[NR_DISPATCH] = B(RK_N_DISPATCH),
	[NR_KERNEL] = B(RK_N_NAME),
	[NR_AGENT] = B(RK_N_DEVICE),
	[NR_RECORDS] = UINT64_MAX,
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
	/* instances of one counter follow each other */
	while (i > 0 && s->sums[i - 1].counter != counter)
		i--;
	if (i-- == 0) {
		if (s->nsums == V3J_SUMS_MAX)
			return rk_fail(err, RK_E_LIMIT, "dispatch with over %d counters",
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

/* The record has been read; its rows come one by one from here. */
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
	rk_v3j_put_name(s, RK_N_NAME, k ? k->id : 0);
	rk_v3j_put_name(s, RK_N_COUNTER, name ? (uint32_t)*name : 0);
	if (value)
		value[s->rows.b.nrows] = sum->value;
	if (!sum->any)
		rk_json_put_null(&s->rows, RK_N_VALUE);
	rk_json_put_value(&s->rows, RK_N_DISPATCH, &v[NR_DISPATCH]);
	rk_v3j_put_agent(s, RK_N_DEVICE, &v[NR_AGENT]);
	rk_v3j_put_who(s, RK_N_NODE, RK_N_PID);
	s->rows.b.nrows++;
	return s->rows.nomem ? rk_fail_nomem(err) : 0;
}

const struct v3j_table rk_v3j_counters = {
	.table = RK_COUNTERS,
	.gives = ~(B(RK_N_RANK) | B(RK_N_PASS) | B(RK_N_INSTANCE)),
	.parts = V3J_BIT(V3J_COUNTER_COLLECTION),
	.names = V3J_BIT(V3J_METADATA) | V3J_BIT(V3J_AGENTS) | V3J_BIT(V3J_SYMBOLS) |
		 V3J_BIT(V3J_COUNTERS),
	.fields = counter_fields,
	.nfields = NR_NFIELDS,
	.serves = counter_serves,
	.row = begin_counters,
};

/* ---- PC samples ---- */

enum { PR_TIME, PR_DISPATCH, PR_STALL, PR_ISSUED, PR_WAVES, PR_INDEX, PR_NFIELDS };

static const struct rk_json_field pc_fields[PR_NFIELDS] = {
	[PR_TIME] = { "record/timestamp", RK_JSON_AS_I64 },
	[PR_DISPATCH] = { "record/dispatch_id", RK_JSON_AS_I64 },
	[PR_STALL] = { "record/snapshot/stall_reason", RK_JSON_AS_TEXT },
	[PR_ISSUED] = { "record/wave_issued", RK_JSON_AS_TEXT },
	[PR_WAVES] = { "record/wave_cnt", RK_JSON_AS_I64 },
	[PR_INDEX] = { "inst_index", RK_JSON_AS_I64 },
};
static const uint64_t pc_serves[PR_NFIELDS] = {
	[PR_TIME] = B(RK_P_TIME),        [PR_DISPATCH] = B(RK_P_DISPATCH),
	[PR_STALL] = B(RK_P_STALL),      [PR_ISSUED] = B(RK_P_STALL),
	[PR_WAVES] = B(RK_P_WAVE_COUNT), [PR_INDEX] = B(RK_P_INSTRUCTION) | B(RK_P_SOURCE_LINE),
};

static uint32_t listed(const uint32_t *list, size_t n, const struct rk_json_value *index)
{
	return index->has == RK_JSON_HAS && index->i >= 0 && (uint64_t)index->i < n ?
		       list[index->i] :
		       0;
}

static bool is_issued(struct v3j_scan *s)
{
	const char *text = rk_json_record_text(&s->record, PR_ISSUED);
	size_t len = s->record.values[PR_ISSUED].len;

	return s->record.values[PR_ISSUED].has == RK_JSON_HAS &&
	       ((len == 1 && *text == '1') || (len == 4 && !memcmp(text, "true", 4)));
}

/*
 * The enumerators carry 58 letters of C name that say nothing. A wave that did issue its instruction
 * was not stalled, whatever stands there.
 */
static int put_stall(struct v3j_scan *s, struct rk_error *err)
{
	static const char prefix[] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
	const char *text = rk_json_record_text(&s->record, PR_STALL);
	size_t len = s->record.values[PR_STALL].len;

	if (s->record.values[PR_STALL].has != RK_JSON_HAS || is_issued(s)) {
		rk_json_put_null(&s->rows, RK_P_STALL);
		return 0;
	}
	if (rk_text_iprefix(text, len, prefix)) {
		text += sizeof(prefix) - 1;
		len -= sizeof(prefix) - 1;
	}
	return rk_json_put_text(&s->rows, RK_P_STALL, text, len, err);
}

static int pc_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	const struct v3j_names *n = &s->names;

	rk_json_put_value(&s->rows, RK_P_TIME, &v[PR_TIME]);
	rk_json_put_value(&s->rows, RK_P_DISPATCH, &v[PR_DISPATCH]);
	rk_json_put_value(&s->rows, RK_P_WAVE_COUNT, &v[PR_WAVES]);
	rk_v3j_put_name(s, RK_P_INSTRUCTION,
			listed(n->instructions, n->ninstructions, &v[PR_INDEX]));
	rk_v3j_put_name(s, RK_P_SOURCE_LINE, listed(n->comments, n->ncomments, &v[PR_INDEX]));
	rk_v3j_put_who(s, RK_P_NODE, RK_P_PID);
	return put_stall(s, err) < 0 ? RK_E_NOMEM : 1;
}

const struct v3j_table rk_v3j_pc_samples = {
	.table = RK_PC_SAMPLES,
	.gives = ~(B(RK_P_RANK) | B(RK_P_NAME)),
	.parts = V3J_BIT(V3J_PC_SAMPLES),
	.names = V3J_BIT(V3J_METADATA) | V3J_BIT(V3J_STRINGS),
	.strings = V3J_NEED_PC,
	.fields = pc_fields,
	.nfields = PR_NFIELDS,
	.serves = pc_serves,
	.row = pc_row,
};

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
	[GR_NODE] = { "node_id", RK_JSON_AS_I64 },
	[GR_TYPE] = { "type", RK_JSON_AS_I64 },
	[GR_NAME] = { "name", RK_JSON_AS_TEXT },
	[GR_PRODUCT] = { "product_name", RK_JSON_AS_TEXT },
	[GR_CU] = { "cu_count", RK_JSON_AS_I64 },
	[GR_SCLK] = { "max_engine_clk_fcompute", RK_JSON_AS_I64 },
	[GR_MCLK] = { "mem_banks/0/mem_clk_max", RK_JSON_AS_I64 },
	[GR_XCC] = { "num_xcc", RK_JSON_AS_I64 },
	[GR_WAVE] = { "wave_front_size", RK_JSON_AS_I64 },
	[GR_MEMORY] = { "mem_banks/0/size_in_bytes", RK_JSON_AS_I64 },
	[GR_ARRAYS] = { "array_count", RK_JSON_AS_I64 },
	[GR_ARRAYS_EACH] = { "simd_arrays_per_engine", RK_JSON_AS_I64 },
	[GR_SIMDS] = { "simd_per_cu", RK_JSON_AS_I64 },
	[GR_WAVES] = { "max_waves_per_cu", RK_JSON_AS_I64 },
};
static const uint64_t agent_serves[GR_NFIELDS] = {
	[GR_NODE] = B(RK_G_DEVICE),
	[GR_TYPE] = B(RK_G_TYPE),
	[GR_NAME] = B(RK_G_NAME) | B(RK_G_GFX),
	[GR_PRODUCT] = B(RK_G_PRODUCT),
	[GR_CU] = B(RK_G_CU_COUNT),
	[GR_SCLK] = B(RK_G_MAX_SCLK),
	[GR_MCLK] = B(RK_G_MAX_MCLK),
	[GR_XCC] = B(RK_G_XCC),
	[GR_WAVE] = B(RK_G_WAVE_SIZE),
	[GR_MEMORY] = B(RK_G_MEMORY),
	[GR_ARRAYS] = B(RK_G_SE_COUNT),
	[GR_ARRAYS_EACH] = B(RK_G_SE_COUNT),
	[GR_SIMDS] = B(RK_G_SIMD_PER_CU),
	[GR_WAVES] = B(RK_G_WAVES_PER_CU),
};

static int put_text(struct v3j_scan *s, unsigned field, unsigned from, struct rk_error *err)
{
	if (s->record.values[from].has != RK_JSON_HAS) {
		rk_json_put_null(&s->rows, field);
		return 0;
	}
	return rk_json_put_text(&s->rows, field, rk_json_record_text(&s->record, from),
				s->record.values[from].len, err);
}

/* A GPU's name is its gfx target; a CPU has none. */
static int put_gfx(struct v3j_scan *s, struct rk_error *err)
{
	if (s->record.values[GR_NAME].has == RK_JSON_HAS &&
	    rk_text_iprefix(rk_json_record_text(&s->record, GR_NAME), s->record.values[GR_NAME].len,
			    "gfx"))
		return put_text(s, RK_G_GFX, GR_NAME, err);
	rk_json_put_null(&s->rows, RK_G_GFX);
	return 0;
}

static int put_type(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = &s->record.values[GR_TYPE];

	if (v->has == RK_JSON_HAS && (v->i == 1 || v->i == 2))
		return rk_json_put_text(&s->rows, RK_G_TYPE, v->i == 1 ? "CPU" : "GPU", 3, err);
	rk_json_put_null(&s->rows, RK_G_TYPE);
	return 0;
}

/* Shader engines: the driver tells their arrays alone. */
static void put_engines(struct v3j_scan *s)
{
	const struct rk_json_value *arrays = &s->record.values[GR_ARRAYS];
	const struct rk_json_value *each = &s->record.values[GR_ARRAYS_EACH];
	struct rk_json_value v = *arrays;

	if (arrays->has == RK_JSON_HAS && arrays->i > 0 && each->has == RK_JSON_HAS && each->i > 0)
		v.i /= each->i;
	else if (arrays->has == RK_JSON_HAS)
		v.has = RK_JSON_ABSENT;
	rk_json_put_value(&s->rows, RK_G_SE_COUNT, &v);
}

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
	int rc = put_text(s, RK_G_NAME, GR_NAME, err);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		rk_json_put_value(&s->rows, numbers[i].field, &s->record.values[numbers[i].from]);
	put_engines(s);
	rk_v3j_put_name(s, RK_G_NODE, s->names.has_node ? s->names.node : 0);
	if (rc == 0)
		rc = put_text(s, RK_G_PRODUCT, GR_PRODUCT, err);
	if (rc == 0)
		rc = put_gfx(s, err);
	if (rc == 0)
		rc = put_type(s, err);
	return rc < 0 ? rc : 1;
}

const struct v3j_table rk_v3j_agents = {
	.table = RK_AGENTS,
	.gives = ~(B(RK_G_L2_CHANNELS) | B(RK_G_HBM_CHANNELS) | B(RK_G_LDS_BANKS) |
		   B(RK_G_SQC_COUNT) | B(RK_G_PIPES)),
	.parts = V3J_BIT(V3J_AGENTS),
	.names = V3J_BIT(V3J_METADATA),
	.fields = agent_fields,
	.nfields = GR_NFIELDS,
	.serves = agent_serves,
	.row = agent_row,
};

enum { OR_PID, OR_PPID, OR_COMMAND, OR_HOST, OR_START, OR_END, OR_NFIELDS };

static const struct rk_json_field process_fields[OR_NFIELDS] = {
	[OR_PID] = { "pid", RK_JSON_AS_I64 },
	[OR_PPID] = { "ppid", RK_JSON_AS_I64 },
	[OR_COMMAND] = { "command", RK_JSON_AS_JOIN },
	[OR_HOST] = { "node/hostname", RK_JSON_AS_TEXT },
	[OR_START] = { "init_time", RK_JSON_AS_I64 },
	[OR_END] = { "fini_time", RK_JSON_AS_I64 },
};
static const uint64_t process_serves[OR_NFIELDS] = {
	[OR_PID] = B(RK_O_PID),   [OR_PPID] = B(RK_O_PPID),   [OR_COMMAND] = B(RK_O_COMMAND),
	[OR_HOST] = B(RK_O_NODE), [OR_START] = B(RK_O_START), [OR_END] = B(RK_O_END),
};

static int process_row(struct v3j_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	int rc = put_text(s, RK_O_COMMAND, OR_COMMAND, err);

	if (rc == 0)
		rc = put_text(s, RK_O_NODE, OR_HOST, err);
	rk_json_put_value(&s->rows, RK_O_PID, &v[OR_PID]);
	rk_json_put_value(&s->rows, RK_O_PPID, &v[OR_PPID]);
	rk_json_put_value(&s->rows, RK_O_START, &v[OR_START]);
	rk_json_put_value(&s->rows, RK_O_END, &v[OR_END]);
	return rc < 0 ? rc : 1;
}

const struct v3j_table rk_v3j_processes = {
	.table = RK_PROCESSES,
	.gives = ~(B(RK_O_RANK) | B(RK_O_LOCAL_RANK)),
	.parts = V3J_BIT(V3J_METADATA),
	.fields = process_fields,
	.nfields = OR_NFIELDS,
	.serves = process_serves,
	.row = process_row,
};
