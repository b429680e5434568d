/*
 * kineto.c - traces of PyTorch's profiler (Kineto), AMD and NVIDIA.
 *
 * Framework operators (cat "cpu_op") and Python frames have no table and are skipped. Times are
 * decimal microseconds since baseTimeNanoseconds, which we do not add: the profiler's own viewer
 * shows them without it.
 *
 * The pid of a GPU event is its device, not a process. The profiler only records the process it
 * runs in, so we find out which processes a document has before we read rows that need them: GPU
 * events may come first.
 */
#include <string.h>

#include "base/text.h"
#include "read/kineto/chrome_json.h"

#define B(f) (UINT64_C(1) << (f))

enum {
	F_PH,
	F_CAT,
	F_PID,
	F_NASKED, /* fields that identify processes come before this */
	F_NAME = F_NASKED,
	F_TID,
	F_TS,
	F_DUR,
	F_RECORDED,
	F_DEVICE,
	F_STREAM,
	F_CORRELATION,
	F_REGS,
	F_SHARED,
	F_BYTES,
	F_FROM,
	F_TO,
	F_THREAD,
	F_GRID,
	F_BLOCK = F_GRID + 3,
	F_NFIELDS = F_BLOCK + 3
};

static const struct rk_json_field fields[F_NFIELDS] = {
	[F_PH] = { "ph", RK_JSON_AS_TEXT },
	[F_CAT] = { "cat", RK_JSON_AS_TEXT, true },
	[F_PID] = { "pid", RK_JSON_AS_I64 },
	[F_NAME] = { "name", RK_JSON_AS_TEXT },
	[F_TID] = { "tid", RK_JSON_AS_I64 },
	[F_TS] = { "ts", RK_JSON_AS_MICRO },
	[F_DUR] = { "dur", RK_JSON_AS_MICRO },
	[F_RECORDED] = { "args/recorded dur", RK_JSON_AS_MICRO }, /* by rockit: durations < 0 */
	[F_DEVICE] = { "args/device", RK_JSON_AS_I64 },
	[F_STREAM] = { "args/stream", RK_JSON_AS_I64 },
	[F_CORRELATION] = { "args/correlation", RK_JSON_AS_I64 },
	[F_REGS] = { "args/registers per thread", RK_JSON_AS_I64 },
	[F_SHARED] = { "args/shared memory", RK_JSON_AS_I64 },
	[F_BYTES] = { "args/bytes", RK_JSON_AS_I64 },
	[F_FROM] = { "args/fromDevice", RK_JSON_AS_I64 },
	[F_TO] = { "args/toDevice", RK_JSON_AS_I64 },
	[F_THREAD] = { "args/tid", RK_JSON_AS_I64 }, /* written by rockit: calls on an extra lane */
	[F_GRID] = { "args/grid/0", RK_JSON_AS_I64 },
	[F_GRID + 1] = { "args/grid/1", RK_JSON_AS_I64 },
	[F_GRID + 2] = { "args/grid/2", RK_JSON_AS_I64 },
	[F_BLOCK] = { "args/block/0", RK_JSON_AS_I64 },
	[F_BLOCK + 1] = { "args/block/1", RK_JSON_AS_I64 },
	[F_BLOCK + 2] = { "args/block/2", RK_JSON_AS_I64 },
};

/* Categories of PyTorch since 1.12, and those of earlier releases. */
static const struct {
	const char *cat;
	enum rk_table table;
} categories[] = {
	{ "kernel", RK_KERNELS },
	{ "gpu_memcpy", RK_MEMCPY },
	{ "gpu_memset", RK_MEMCPY },
	{ "cuda_runtime", RK_API },
	{ "cuda_driver", RK_API },
	{ "hip_runtime", RK_API },
	{ "hip_driver", RK_API },
	{ "user_annotation", RK_MARKERS },
	{ "gpu_user_annotation", RK_MARKERS },
	{ "memcpy", RK_MEMCPY },
	{ "memset", RK_MEMCPY },
	{ "runtime", RK_API },
};

static enum rk_table table_of(struct chrome_scan *s)
{
	const struct rk_json_value *v = &s->record.values[F_CAT];
	const char *cat = rk_json_record_text(&s->record, F_CAT);

	if (v->has != RK_JSON_HAS)
		return RK_NTABLES;
	if (s->record.values[F_PH].has == RK_JSON_HAS && !rk_chrome_is(s, F_PH, "X"))
		return RK_NTABLES; /* skip flows and instants */
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		if (rk_text_ieq(cat, v->len, categories[i].cat))
			return categories[i].table;
	/* rockit's own traces also have domains of other APIs */
	if (rk_text_ends(cat, v->len, "_api") || rk_text_ends(cat, v->len, "_API") ||
	    rk_text_ends(cat, v->len, "_API_EXT"))
		return RK_API;
	return RK_NTABLES;
}

/* ---- processes ---- */

/* Ignores Python frames: some have no process. */
static enum rk_table names_process(struct chrome_scan *s)
{
	const struct rk_json_value *v = &s->record.values[F_CAT];
	const char *cat = rk_json_record_text(&s->record, F_CAT);

	if (v->has != RK_JSON_HAS)
		return RK_NTABLES;
	if (table_of(s) == RK_API || rk_text_ieq(cat, v->len, "user_annotation") ||
	    rk_text_ieq(cat, v->len, "cpu_op") || rk_text_ieq(cat, v->len, "operator"))
		return RK_PROCESSES;
	return RK_NTABLES;
}

static int note_process(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *pid = &s->record.values[F_PID];
	struct chrome_reader *r = s->r;

	(void)err;
	if (pid->has != RK_JSON_HAS || pid->i <= 0)
		return 0;
	if (!r->process)
		r->process = pid->i;
	r->several |= pid->i != r->process;
	return 0;
}

static const struct chrome_format asking = {
	.source = "",
	.clock = "",
	.fields = fields,
	.nfields = F_NASKED,
	.table_of = names_process,
	.row = note_process,
};

/*
 * The process of a GPU event. Its pid is a process if it differs from the device in the event: that
 * is so in rockit's own traces, even for processes that only have kernels. If a trace has several
 * processes, it is unknown, because correlation ids are unique only within a process.
 */
static void put_process(struct chrome_scan *s, unsigned field)
{
	static const unsigned char devices[] = { F_DEVICE, F_FROM, F_TO };
	const struct rk_json_value *v = s->record.values, *pid = &v[F_PID];
	bool some = false, same = false;

	if (!rk_json_wants(&s->rows, field))
		return;
	for (size_t i = 0; i < sizeof(devices); i++) {
		some |= v[devices[i]].has == RK_JSON_HAS;
		same |= v[devices[i]].has == RK_JSON_HAS && v[devices[i]].i == pid->i;
	}
	if (pid->has == RK_JSON_HAS && pid->i > 0 && some && !same)
		rk_json_put(&s->rows, field, pid->i);
	else if (s->r->process && !s->r->several)
		rk_json_put(&s->rows, field, s->r->process);
	else
		rk_json_put_null(&s->rows, field);
}

/* ---- rows ---- */

static int kernel_row(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;

	for (unsigned i = 0; i < 3; i++) { /* the grid is in blocks */
		const struct rk_json_value *grid = &v[F_GRID + i], *block = &v[F_BLOCK + i];
		int64_t items;

		rk_json_put_value(&s->rows, RK_K_GRID_X + i, grid);
		rk_json_put_value(&s->rows, RK_K_BLOCK_X + i, block);
		if (grid->has == RK_JSON_HAS && block->has == RK_JSON_HAS &&
		    !__builtin_mul_overflow(grid->i, block->i, &items))
			rk_json_put(&s->rows, RK_K_ITEMS_X + i, items);
		else
			rk_json_put_null(&s->rows, RK_K_ITEMS_X + i);
	}
	rk_json_put_value(&s->rows, RK_K_REGS, &v[F_REGS]);
	rk_json_put_value(&s->rows, RK_K_SHARED_MEM, &v[F_SHARED]);
	rk_json_put_value(&s->rows, RK_K_STREAM, rk_json_either(&v[F_STREAM], &v[F_TID]));
	rk_json_put_value(&s->rows, RK_K_DEVICE, rk_json_either(&v[F_DEVICE], &v[F_PID]));
	rk_json_put_value(&s->rows, RK_K_CORRELATION, &v[F_CORRELATION]);
	put_process(s, RK_K_PID);
	rk_json_put_id(&s->rows, RK_K_SOURCE, s->source_id);
	rk_json_put_id(&s->rows, RK_K_CLOCK, s->clock_id);
	return rk_chrome_put_text(s, RK_K_NAME, F_NAME, err);
}

/* "Memcpy HtoD (Pageable -> Device)"; other names are kept unchanged. */
static const struct {
	const char *name, *direction;
	bool from_device, to_device;
} directions[] = {
	{ "Memcpy HtoD", "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "Memcpy DtoH", "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "Memcpy DtoD", "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "Memcpy HtoH", "MEMORY_COPY_HOST_TO_HOST", false, false },
	{ "Memcpy PtoP", "MEMORY_COPY_PEER_TO_PEER", true, true },
	{ "Memset", NULL, false, true },
};

static int copy_row(struct chrome_scan *s, struct rk_error *err)
{
	static const struct rk_json_value none = { .has = RK_JSON_ABSENT };
	const struct rk_json_value *v = s->record.values;
	const struct rk_json_value *device = rk_json_either(&v[F_DEVICE], &v[F_PID]);
	const size_t n = sizeof(directions) / sizeof(directions[0]);
	const char *name = rk_json_record_text(&s->record, F_NAME);
	size_t i = 0, len = v[F_NAME].has == RK_JSON_HAS ? v[F_NAME].len : 0;
	bool from, to;

	while (i < n && !rk_text_iprefix(name, len, directions[i].name))
		i++;
	from = i < n && directions[i].from_device;
	to = i < n && directions[i].to_device;
	rk_json_put_value(&s->rows, RK_C_BYTES, &v[F_BYTES]);
	rk_json_put_value(&s->rows, RK_C_SRC, rk_json_either(&v[F_FROM], from ? device : &none));
	rk_json_put_value(&s->rows, RK_C_DST, rk_json_either(&v[F_TO], to ? device : &none));
	rk_json_put_value(&s->rows, RK_C_STREAM, rk_json_either(&v[F_STREAM], &v[F_TID]));
	rk_json_put_value(&s->rows, RK_C_CORRELATION, &v[F_CORRELATION]);
	put_process(s, RK_C_PID);
	if (i < n && directions[i].direction)
		return rk_json_put_word(&s->rows, RK_C_DIRECTION, directions[i].direction, err);
	return rk_chrome_put_text(s, RK_C_DIRECTION, F_NAME, err);
}

static int row(struct chrome_scan *s, struct rk_error *err)
{
	static const struct {
		uint8_t start, duration, rank;
	} common[] = {
		[RK_KERNELS] = { RK_K_START, RK_K_DURATION, RK_K_RANK },
		[RK_MEMCPY] = { RK_C_START, RK_C_DURATION, RK_C_RANK },
		[RK_API] = { RK_A_START, RK_A_DURATION, RK_A_RANK },
		[RK_MARKERS] = { RK_R_START, RK_R_DURATION, RK_R_RANK },
	};
	const struct rk_json_value *v = s->record.values;
	bool gpu;
	int rc;

	if (!rk_chrome_is(s, F_PH, "X"))
		return 0;
	rk_json_put_value(&s->rows, common[s->table].start, &v[F_TS]);
	rk_json_put_value(&s->rows, common[s->table].duration,
			  rk_json_either(&v[F_RECORDED], &v[F_DUR]));
	if (s->has_rank)
		rk_json_put(&s->rows, common[s->table].rank, s->rank);
	else
		rk_json_put_null(&s->rows, common[s->table].rank);

	switch (s->table) {
	case RK_KERNELS:
		rc = kernel_row(s, err);
		break;
	case RK_MEMCPY:
		rc = copy_row(s, err);
		break;
	case RK_API:
		rk_json_put_value(&s->rows, RK_A_CORRELATION, &v[F_CORRELATION]);
		rk_json_put_value(&s->rows, RK_A_PID, &v[F_PID]);
		rk_json_put_value(&s->rows, RK_A_TID, rk_json_either(&v[F_THREAD], &v[F_TID]));
		if ((rc = rk_chrome_put_text(s, RK_A_DOMAIN, F_CAT, err)) >= 0)
			rc = rk_chrome_put_text(s, RK_A_FUNCTION, F_NAME, err);
		break;
	default:
		/* an annotation appears twice: on the thread that ran it, and above its kernels */
		gpu = rk_chrome_is(s, F_CAT, "gpu_user_annotation");
		if (gpu) {
			put_process(s, RK_R_PID);
			rk_json_put_null(&s->rows, RK_R_TID);
		} else {
			rk_json_put_value(&s->rows, RK_R_PID, &v[F_PID]);
			rk_json_put_value(&s->rows, RK_R_TID,
					  rk_json_either(&v[F_THREAD], &v[F_TID]));
		}
		rc = rk_json_put_word(&s->rows, RK_R_KIND, gpu ? "gpu_range" : "range", err);
		if (rc >= 0)
			rc = rk_chrome_put_text(s, RK_R_NAME, F_NAME, err);
		break;
	}
	return rc < 0 ? rc : 1;
}

/* ---- other members of the document ---- */

enum { D_ID, D_NAME, D_MEMORY, D_WARP, D_SMS, D_NFIELDS };

static const struct rk_json_field device_fields[D_NFIELDS] = {
	[D_ID] = { "id", RK_JSON_AS_I64 },
	[D_NAME] = { "name", RK_JSON_AS_TEXT },
	[D_MEMORY] = { "totalGlobalMem", RK_JSON_AS_I64 },
	[D_WARP] = { "warpSize", RK_JSON_AS_I64 },
	[D_SMS] = { "numSms", RK_JSON_AS_I64 },
};

static int on_device(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct chrome_scan *s = arg;
	int rc;

	s->seen[RK_AGENTS]++;
	if (s->table != RK_AGENTS || s->rows.b.nrows == s->rows.b.cap)
		return 0;
	rk_json_put_value(&s->rows, RK_G_DEVICE, &r->values[D_ID]);
	rk_json_put_value(&s->rows, RK_G_CU_COUNT, &r->values[D_SMS]);
	rk_json_put_value(&s->rows, RK_G_WAVE_SIZE, &r->values[D_WARP]);
	rk_json_put_value(&s->rows, RK_G_MEMORY, &r->values[D_MEMORY]);
	if ((rc = rk_json_put_word(&s->rows, RK_G_TYPE, "GPU", err)) < 0 ||
	    (rc = rk_json_put_field(&s->rows, RK_G_NAME, r, D_NAME, err)) < 0 ||
	    (rc = rk_json_put_field(&s->rows, RK_G_PRODUCT, r, D_NAME, err)) < 0)
		return rc;
	s->rows.b.nrows++;
	return s->rows.nomem ? rk_fail_nomem(err) : 0;
}

static int on_distributed(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct chrome_scan *s = arg;

	(void)err;
	s->has_rank = r->values[0].has == RK_JSON_HAS;
	s->rank = r->values[0].i;
	return 0;
}

static int member(struct chrome_scan *s, const struct rk_json_token *key, struct rk_error *err)
{
	static const struct rk_json_field rank_field[] = { { "rank", RK_JSON_AS_I64 } };
	static const char devices[] = "deviceProperties", distributed[] = "distributedInfo";
	struct rk_json_record r;
	int rc;

	if (key->len == sizeof(devices) - 1 && !memcmp(key->text, devices, key->len)) {
		rk_json_record_init(&r, device_fields, D_NFIELDS, UINT64_MAX);
		rc = rk_json_record_each(&r, s->rows.json, on_device, s, err);
	} else if (key->len == sizeof(distributed) - 1 &&
		   !memcmp(key->text, distributed, key->len)) {
		rk_json_record_init(&r, rank_field, 1, UINT64_MAX);
		rc = rk_json_record_each(&r, s->rows.json, on_distributed, s, err);
	} else {
		return 0;
	}
	rk_json_record_release(&r);
	return rc < 0 ? rc : 1;
}

/* ---- the reader ---- */

static const struct chrome_format format = {
	.source = "kineto-json",
	.clock = "unknown",
	.fields = fields,
	.nfields = F_NFIELDS,
	.gives = { [RK_KERNELS] = B(RK_K_NAME) | B(RK_K_START) | B(RK_K_DURATION) | B(RK_K_GRID_X) |
				  B(RK_K_GRID_Y) | B(RK_K_GRID_Z) | B(RK_K_BLOCK_X) |
				  B(RK_K_BLOCK_Y) | B(RK_K_BLOCK_Z) | B(RK_K_REGS) |
				  B(RK_K_SHARED_MEM) | B(RK_K_STREAM) | B(RK_K_DEVICE) |
				  B(RK_K_CORRELATION) | B(RK_K_PID) | B(RK_K_RANK) |
				  B(RK_K_ITEMS_X) | B(RK_K_ITEMS_Y) | B(RK_K_ITEMS_Z) |
				  B(RK_K_SOURCE) | B(RK_K_CLOCK),
		   [RK_MEMCPY] = ~(B(RK_C_TID) | B(RK_C_NODE)),
		   [RK_API] = ~B(RK_A_NODE),
		   [RK_MARKERS] = ~B(RK_R_NODE),
		   [RK_AGENTS] = B(RK_G_DEVICE) | B(RK_G_TYPE) | B(RK_G_NAME) | B(RK_G_PRODUCT) |
				 B(RK_G_CU_COUNT) | B(RK_G_WAVE_SIZE) | B(RK_G_MEMORY) },
	.table_of = table_of,
	.row = row,
	.member = member,
};

static int kineto_probe(const struct rk_head *head)
{
	static const char *const marks[] = { "\"deviceProperties\"", "\"baseTimeNanoseconds\"",
					     "\"schemaVersion\"",    "\"cpu_op\"",
					     "\"python_function\"",  "\"cuda_runtime\"",
					     "\"user_annotation\"" };
	static const char kwargs[] = "\"torch_profiler_kwargs\"";
	const char *p = rk_json_start(head->data, head->len);
	size_t left;
	bool events;

	if (!p || (*p != '{' && *p != '['))
		return 0;
	left = (size_t)(head->data + head->len - p);
	events = rk_chrome_has(p, left, "\"traceEvents\"") ||
		 (rk_chrome_has(p, left, "\"ph\"") && rk_chrome_has(p, left, "\"ts\""));
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (rk_chrome_has(p, left, marks[i]))
			return events ? 90 : 0;
	if (rk_chrome_has(p, left, kwargs))
		return events ? 90 : 60;
	return events ? 50 : 0;
}

static int kineto_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
		       struct rk_source **ret, struct rk_error *err)
{
	static const uint64_t pid[RK_NTABLES] = {
		[RK_KERNELS] = B(RK_K_PID), [RK_MEMCPY] = B(RK_C_PID), [RK_MARKERS] = B(RK_R_PID)
	};
	struct chrome_reader *r = (struct chrome_reader *)base;
	struct chrome_reader ask = { .format = &asking, .in = r->in, .ctx = r->ctx };
	const struct rk_batch *batch;
	struct rk_source *s;
	int rc;

	if (want & pid[t] && !r->asked) { /* find out which processes there are */
		rc = rk_chrome_scan(&ask.base, RK_PROCESSES, 0, &s, err);
		if (rc < 0)
			return rc;
		rc = rk_source_next(s, &batch, err);
		rk_source_close(s);
		if (rc < 0)
			return rc;
		r->process = ask.process;
		r->several = ask.several;
		r->asked = true;
	}
	return rk_chrome_scan(base, t, want, ret, err);
}

const struct rk_reader_ops rk_reader_kineto_json = {
	.name = "kineto-json",
	.help = "traces of PyTorch's profiler (Chrome JSON of Kineto), AMD and NVIDIA",
	.probe = kineto_probe,
	.open = rk_chrome_open,
	.scan = kineto_scan,
	.close = rk_chrome_close,
	.format = &format,
	.serial = true,
	.precedence = RK_PRECEDENCE_JSON,
	.rows_rank = RK_ROWS_ONE_RANK,
};
