/*
 * v1_json.c - results.json of rocprof (v1).
 *
 * The file is {"traceEvents":[{} followed by events; nearly every value is a string. Events named
 * process_name define the meaning of pids in other events: a GPU, its barriers, copies, calls. ts
 * and dur are whole microseconds; the nanoseconds are in args.
 */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/kineto/chrome_json.h"

#define B(f) (UINT64_C(1) << (f))

enum { LANES_MAX = 4096 };

enum {
	F_PH,
	F_NAME,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_LANE,
	F_BEGIN,
	F_END,
	F_PROCESS,
	F_THREAD,
	F_PROC_ID,
	F_GPU,
	F_DEV,
	F_QUEUE,
	F_STREAM,
	F_INDEX,
	F_ITEMS,
	F_BLOCK,
	F_LDS,
	F_SCRATCH,
	F_VGPR,
	F_OLD_VGPR,
	F_ACCUM,
	F_SGPR,
	F_WAVE,
	F_NFIELDS
};

static const struct rk_json_field fields[F_NFIELDS] = {
	[F_PH] = { "ph", RK_JSON_AS_TEXT },
	[F_NAME] = { "name", RK_JSON_AS_TEXT },
	[F_PID] = { "pid", RK_JSON_AS_I64, true },
	[F_TID] = { "tid", RK_JSON_AS_I64 },
	[F_TS] = { "ts", RK_JSON_AS_MICRO },
	[F_DUR] = { "dur", RK_JSON_AS_MICRO },
	[F_LANE] = { "args/name", RK_JSON_AS_TEXT },
	[F_BEGIN] = { "args/BeginNs", RK_JSON_AS_I64 },
	[F_END] = { "args/EndNs", RK_JSON_AS_I64 },
	[F_PROCESS] = { "args/pid", RK_JSON_AS_I64 },
	[F_THREAD] = { "args/tid", RK_JSON_AS_I64 },
	[F_PROC_ID] = { "args/proc-id", RK_JSON_AS_I64 },
	[F_GPU] = { "args/gpu-id", RK_JSON_AS_I64 },
	[F_DEV] = { "args/dev-id", RK_JSON_AS_I64 },
	[F_QUEUE] = { "args/queue-id", RK_JSON_AS_I64 },
	[F_STREAM] = { "args/stream-id", RK_JSON_AS_I64 },
	[F_INDEX] = { "args/Index", RK_JSON_AS_I64 },
	[F_ITEMS] = { "args/grd", RK_JSON_AS_I64 },
	[F_BLOCK] = { "args/wgr", RK_JSON_AS_I64 },
	[F_LDS] = { "args/lds", RK_JSON_AS_I64 },
	[F_SCRATCH] = { "args/scr", RK_JSON_AS_I64 },
	[F_VGPR] = { "args/arch_vgpr", RK_JSON_AS_I64 },
	[F_OLD_VGPR] = { "args/vgpr", RK_JSON_AS_I64 },
	[F_ACCUM] = { "args/accum_vgpr", RK_JSON_AS_I64 },
	[F_SGPR] = { "args/sgpr", RK_JSON_AS_I64 },
	[F_WAVE] = { "args/wave_size", RK_JSON_AS_I64 },
};

/* The meaning of a pid in events. */
enum lane {
	LANE_OTHER,
	LANE_GPU,
	LANE_BARRIERS,
	LANE_COPY,
	LANE_HIP,
	LANE_HSA,
	LANE_MARKERS,
	LANES
};

/* The value stored in s->lanes: the lane and the GPU number, -1 for none. */
static int64_t lane_value(enum lane lane, int64_t number)
{
	return (int64_t)lane + (number + 1) * LANES;
}

static int64_t lane_of_name(const char *name, size_t len)
{
	static const struct {
		const char *word;
		enum lane lane;
	} lanes[] = {
		{ "GPU Barriers", LANE_BARRIERS },
		{ "GPU", LANE_GPU },
		{ "COPY", LANE_COPY },
		{ "CPU HIP API", LANE_HIP },
		{ "CPU HSA API", LANE_HSA },
		{ "Markers and Ranges", LANE_MARKERS },
	};

	for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		size_t n = strlen(lanes[i].word);
		int64_t number = -1;

		if (!rk_text_iprefix(name, len, lanes[i].word))
			continue;
		if (rk_num_i64(name + n, len - n, &number) != RK_NUM_OK || number < 0 ||
		    number > INT32_MAX)
			number = -1;
		return lane_value(lanes[i].lane, number);
	}
	return lane_value(LANE_OTHER, -1);
}

static enum lane lane_of(struct chrome_scan *s, int64_t *number)
{
	const struct rk_json_value *pid = &s->record.values[F_PID];
	const int64_t *v = NULL;

	*number = -1;
	if (pid->has == RK_JSON_HAS)
		v = rk_json_pairs_find(&s->lanes, (uint64_t)pid->i);
	if (!v)
		return LANE_OTHER;
	*number = *v / LANES - 1;
	return (enum lane)(*v % LANES);
}

static enum rk_table table_of(struct chrome_scan *s)
{
	static const enum rk_table tables[] = {
		[LANE_OTHER] = RK_NTABLES,   [LANE_GPU] = RK_KERNELS, [LANE_BARRIERS] = RK_KERNELS,
		[LANE_COPY] = RK_MEMCPY,     [LANE_HIP] = RK_API,     [LANE_HSA] = RK_API,
		[LANE_MARKERS] = RK_MARKERS,
	};
	int64_t number;

	if (!rk_chrome_is(s, F_PH, "X"))
		return RK_NTABLES;
	return tables[lane_of(s, &number)];
}

static int note(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	int64_t lane, *known;

	if (!rk_chrome_is(s, F_PH, "M") || !rk_chrome_is(s, F_NAME, "process_name") ||
	    v[F_PID].has != RK_JSON_HAS || v[F_LANE].has != RK_JSON_HAS)
		return 0;
	lane = lane_of_name(rk_json_record_text(&s->record, F_LANE), v[F_LANE].len);
	known = rk_json_pairs_find(&s->lanes, (uint64_t)v[F_PID].i);
	if (known) {
		*known = lane;
		return 0;
	}
	/* real files have a handful; lookups of unknown lanes must stay cheap */
	if (s->lanes.n >= LANES_MAX)
		return 0;
	return rk_json_pairs_add(&s->lanes, (uint64_t)v[F_PID].i, lane, err);
}

/* Uses nanoseconds if the event has them, else the viewer's microseconds. */
static void put_times(struct chrome_scan *s, unsigned start, unsigned duration)
{
	const struct rk_json_value *v = s->record.values;

	if (v[F_BEGIN].has == RK_JSON_HAS && v[F_END].has == RK_JSON_HAS) {
		rk_json_put_times(&s->rows, start, duration, &v[F_BEGIN], &v[F_END]);
		return;
	}
	rk_json_put_value(&s->rows, start, &v[F_TS]);
	rk_json_put_value(&s->rows, duration, &v[F_DUR]);
}

static int kernel_row(struct chrome_scan *s, struct rk_error *err)
{
	static const unsigned ones[] = { RK_K_GRID_Y,  RK_K_GRID_Z,  RK_K_BLOCK_Y,
					 RK_K_BLOCK_Z, RK_K_ITEMS_Y, RK_K_ITEMS_Z };
	const struct rk_json_value *v = s->record.values,
				   *vgpr = rk_json_either(&v[F_VGPR], &v[F_OLD_VGPR]);
	struct rk_json_value regs = *vgpr, gpu = { .has = RK_JSON_ABSENT };
	uint8_t *barrier = s->rows.col[RK_K_BARRIER];
	enum lane lane = lane_of(s, &gpu.i);

	put_times(s, RK_K_START, RK_K_DURATION);

	/* work-items and workgroup size are one number each: stored as x */
	rk_json_put_grid(&s->rows, RK_K_GRID_X, &v[F_ITEMS], &v[F_BLOCK]);
	rk_json_put_value(&s->rows, RK_K_BLOCK_X, &v[F_BLOCK]);
	rk_json_put_value(&s->rows, RK_K_ITEMS_X, &v[F_ITEMS]);
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		if (v[F_ITEMS].has == RK_JSON_HAS)
			rk_json_put(&s->rows, ones[i], 1);
		else
			rk_json_put_null(&s->rows, ones[i]);
	}

	if (regs.has == RK_JSON_HAS && v[F_ACCUM].has == RK_JSON_HAS &&
	    __builtin_add_overflow(regs.i, v[F_ACCUM].i, &regs.i))
		regs.has = RK_JSON_RANGE;
	rk_json_put_value(&s->rows, RK_K_REGS, &regs);
	rk_json_put_value(&s->rows, RK_K_VGPR, vgpr);
	rk_json_put_value(&s->rows, RK_K_ACCUM_VGPR, &v[F_ACCUM]);
	rk_json_put_value(&s->rows, RK_K_SGPR, &v[F_SGPR]);

	if (gpu.i >= 0)
		gpu.has = RK_JSON_HAS;
	rk_json_put_value(&s->rows, RK_K_SHARED_MEM, &v[F_LDS]);
	rk_json_put_value(&s->rows, RK_K_SCRATCH, &v[F_SCRATCH]);
	rk_json_put_value(&s->rows, RK_K_WAVE_SIZE, &v[F_WAVE]);
	rk_json_put_value(&s->rows, RK_K_QUEUE, &v[F_QUEUE]);
	rk_json_put_value(&s->rows, RK_K_STREAM, rk_json_either(&v[F_STREAM], &v[F_QUEUE]));
	rk_json_put_value(&s->rows, RK_K_DEVICE,
			  rk_json_either(rk_json_either(&v[F_GPU], &v[F_DEV]), &gpu));
	rk_json_put_value(&s->rows, RK_K_CORRELATION, &v[F_INDEX]);
	rk_json_put_value(&s->rows, RK_K_PID, rk_json_either(&v[F_PROC_ID], &v[F_PROCESS]));
	rk_json_put_value(&s->rows, RK_K_TID, &v[F_THREAD]);
	rk_json_put_id(&s->rows, RK_K_SOURCE, s->source_id);
	rk_json_put_id(&s->rows, RK_K_CLOCK, s->clock_id);
	if (barrier)
		barrier[s->rows.b.nrows] = lane == LANE_BARRIERS ||
					   rk_chrome_is(s, F_NAME, "<barrier packet>");
	return rk_chrome_put_text(s, RK_K_NAME, F_NAME, err);
}

static int row(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values, *begin = &v[F_BEGIN], *end = &v[F_END];
	const struct rk_json_value *pid = rk_json_either(&v[F_PROC_ID], &v[F_PROCESS]);
	const struct rk_json_value *tid = rk_json_either(&v[F_THREAD], &v[F_TID]);
	const char *word;
	int64_t number;
	int rc;

	switch (s->table) {
	case RK_KERNELS:
		rc = kernel_row(s, err);
		break;
	case RK_MEMCPY:
		put_times(s, RK_C_START, RK_C_DURATION);
		rk_json_put_value(&s->rows, RK_C_STREAM, rk_json_either(&v[F_STREAM], &v[F_QUEUE]));
		rk_json_put_value(&s->rows, RK_C_CORRELATION, &v[F_INDEX]);
		rk_json_put_value(&s->rows, RK_C_PID, pid);
		rk_json_put_value(&s->rows, RK_C_TID, &v[F_THREAD]);
		rc = rk_chrome_put_text(s, RK_C_DIRECTION, F_NAME, err);
		break;
	case RK_API:
		put_times(s, RK_A_START, RK_A_DURATION);
		rk_json_put_value(&s->rows, RK_A_CORRELATION, &v[F_INDEX]);
		rk_json_put_value(&s->rows, RK_A_PID, pid);
		rk_json_put_value(&s->rows, RK_A_TID, tid);
		word = lane_of(s, &number) == LANE_HIP ? "HIP_API" : "HSA_API";
		if ((rc = rk_json_put_word(&s->rows, RK_A_DOMAIN, word, err)) >= 0)
			rc = rk_chrome_put_text(s, RK_A_FUNCTION, F_NAME, err);
		break;
	default:
		put_times(s, RK_R_START, RK_R_DURATION);
		rk_json_put_value(&s->rows, RK_R_PID, pid);
		rk_json_put_value(&s->rows, RK_R_TID, tid);
		/* the script writes a mark with a duration of one nanosecond */
		word = "range";
		if (begin->has == RK_JSON_HAS && end->has == RK_JSON_HAS && begin->i < INT64_MAX &&
		    (end->i == begin->i || end->i == begin->i + 1))
			word = "mark";
		if ((rc = rk_json_put_word(&s->rows, RK_R_KIND, word, err)) >= 0)
			rc = rk_chrome_put_text(s, RK_R_NAME, F_NAME, err);
		break;
	}
	return rc < 0 ? rc : 1;
}

static const struct chrome_format format = {
	.source = "rocprof-v1-json",
	.clock = "monotonic",
	.count = true,
	.fields = fields,
	.nfields = F_NFIELDS,
	.gives = { [RK_KERNELS] = ~(B(RK_K_DISPATCH) | B(RK_K_NODE) | B(RK_K_RANK) |
				    B(RK_K_CONTEXT) | B(RK_K_GRAPH) | B(RK_K_GRAPH_NODE) |
				    B(RK_K_COLLECTIVE) | B(RK_K_COMM_GROUP) | B(RK_K_COMM_SIZE) |
				    B(RK_K_COMM_SEQ) | B(RK_K_SUBMIT)),
		   [RK_MEMCPY] = ~(B(RK_C_BYTES) | B(RK_C_SRC) | B(RK_C_DST) | B(RK_C_NODE) |
				   B(RK_C_RANK) | B(RK_C_GRAPH) | B(RK_C_GRAPH_NODE)),
		   [RK_API] = ~(B(RK_A_NODE) | B(RK_A_RANK)),
		   [RK_MARKERS] = ~(B(RK_R_NODE) | B(RK_R_RANK)) },
	.table_of = table_of,
	.note = note,
	.row = row,
};

/* Does the text begin with `words`, in order, with blanks between them? */
static bool begins(const char *p, const char *end, const char *const *words)
{
	for (; *words; words++) {
		size_t n = strlen(*words);

		while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
			p++;
		if ((size_t)(end - p) < n || memcmp(p, *words, n) != 0)
			return false;
		p += n;
	}
	return true;
}

/* Events without the opening bracket: rocprof writes this if it has nothing to write. */
static const char *const bare[] = { ",", "{", "\"args\"", NULL };

static int v1_probe(const struct rk_head *head)
{
	static const char *const object[] = { "{", "\"traceEvents\"", ":", "[", "{", "}", NULL };
	static const char *const array[] = { "[", "{", "}", NULL };
	const char *p = rk_json_start(head->data, head->len), *end = head->data + head->len;

	if (!p)
		return 0;
	if (begins(p, end, object) || begins(p, end, bare))
		return 95;
	if (begins(p, end, array) && rk_chrome_has(p, (size_t)(end - p), "\"ph\""))
		return 92;
	return 0;
}

static int v1_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		   struct rk_reader **ret, struct rk_error *err)
{
	const void *head = NULL;
	const char *p;
	size_t len = 0;
	int rc = rk_instream_head(in, &head, &len, err);

	if (rc < 0)
		return rc;
	p = rk_json_start(head, len);
	if (p && begins(p, (const char *)head + len, bare)) {
		rk_fail(err, RK_E_FORMAT,
			"not JSON: it begins with a comma; rocprof writes this when it recorded no "
			"events");
		rk_error_at(err, rk_instream_path(in), 1, 0);
		return RK_E_FORMAT;
	}
	return rk_chrome_open(ops, in, ctx, ret, err);
}

const struct rk_reader_ops rk_reader_rocprof_v1_json = {
	.name = "rocprof-v1-json",
	.help = "results.json of rocprof (v1)",
	.probe = v1_probe,
	.open = v1_open,
	.scan = rk_chrome_scan,
	.close = rk_chrome_close,
	.format = &format,
	.serial = true,
	.precedence = RK_PRECEDENCE_JSON,
	.raw_folder = "/rpl_data_",
};
