/* rows.c - turn the recorder's records, header and definitions into rows of the standard tables. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "read/rkraw/raw.h"

/* ---- columns and constants ---- */

#define BIT(field) (UINT64_C(1) << (field))

static int64_t small(uint64_t v)
{
	return v <= INT64_MAX ? (int64_t)v : RK_NONE;
}

/* 0 means unknown. */
static int64_t positive(uint64_t v)
{
	return v ? small(v) : RK_NONE;
}

/* Columns that no record can fill; no memory is allocated for them. */
static uint64_t never(const struct raw_rows *r)
{
	static const uint64_t unknown[RK_NTABLES] = {
		[RK_KERNELS] = BIT(RK_K_BARRIER),
		[RK_MEMCPY] = BIT(RK_C_GRAPH) | BIT(RK_C_GRAPH_NODE),
		[RK_MEMALLOC] = BIT(RK_M_FLAGS),
		[RK_COUNTERS] = BIT(RK_N_INSTANCE) | BIT(RK_N_PASS),
		[RK_AGENTS] = BIT(RK_G_MAX_MCLK) | BIT(RK_G_XCC) | BIT(RK_G_SE_COUNT) |
			      BIT(RK_G_SIMD_PER_CU) | BIT(RK_G_WAVES_PER_CU) |
			      BIT(RK_G_L2_CHANNELS) | BIT(RK_G_HBM_CHANNELS) | BIT(RK_G_LDS_BANKS) |
			      BIT(RK_G_SQC_COUNT) | BIT(RK_G_PIPES),
	};
	static const uint64_t ranks[RK_NTABLES] = {
		[RK_KERNELS] = BIT(RK_K_RANK),  [RK_MEMCPY] = BIT(RK_C_RANK),
		[RK_MEMALLOC] = BIT(RK_M_RANK), [RK_API] = BIT(RK_A_RANK),
		[RK_MARKERS] = BIT(RK_R_RANK),  [RK_COUNTERS] = BIT(RK_N_RANK),
	};

	if (r->h->rank < 0)
		return unknown[r->table] | ranks[r->table];
	return unknown[r->table];
}

/* A word in capitals, with "_API" or "_BUILD" appended: a domain of calls. */
static int make_domain(struct raw_rows *r, const char *word, size_t len, const char *tail,
		       uint32_t *ret, struct rk_error *err)
{
	char name[sizeof(r->h->collector) + 16];

	len = rk_min(len, sizeof(r->h->collector));
	memcpy(name, word, len);
	for (size_t i = 0; i < len; i++)
		if (name[i] >= 'a' && name[i] <= 'z')
			name[i] = (char)(name[i] - 32);
	memcpy(name + len, tail, strlen(tail));
	return rk_strtab_add(r->ctx->names, name, len + strlen(tail), ret, err);
}

int rk_raw_rows_init(struct raw_rows *r, struct rk_error *err)
{
	struct rk_strtab *names = r->ctx->names;
	size_t host_len = strnlen(r->h->host, sizeof(r->h->host));
	const char *maker = r->rocm ? "hip" : r->h->collector;
	size_t maker_len = strnlen(maker, sizeof(r->h->collector));
	uint64_t want = r->want & ~never(r);
	uint32_t node_id = 0;
	int rc;

	if ((rc = rk_builder_init(&r->b, rk_table_schema(r->table), RK_BATCH_ROWS, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "rkraw", &r->source_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "boottime", &r->boot_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "device", &r->device_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, r->nvidia ? "sync" : "queue", &r->queue_id, err)) < 0 ||
	    (rc = rk_strtab_add(names, r->h->host, host_len, &node_id, err)) < 0 ||
	    (rc = make_domain(r, maker, maker_len, "_API", &r->api_id, err)) < 0 ||
	    (rc = make_domain(r, maker, maker_len, "_BUILD", &r->build_id, err)) < 0)
		return rc;
	r->node = positive(node_id);
	r->rank = r->h->rank < 0 ? RK_NONE : r->h->rank;

	_Static_assert((int)RK_K_NFIELDS <= (int)RAW_FIELDS, "room for every column");
	for (unsigned field = 0; field < r->b.schema->nfields; field++) {
		if (!(want >> field & 1))
			continue;
		r->cols[field] = rk_builder_column(&r->b, field);
		if (!r->cols[field])
			return rk_fail_nomem(err);
	}
	return 0;
}

/* ---- cells ---- */

/* Called for the first value of a column in a batch: sets the rows before it to null. */
static void begin_column(struct raw_rows *r, unsigned field)
{
	r->begun |= UINT64_C(1) << field;
	for (size_t row = 0; row < r->b.nrows; row++)
		r->nomem |= !rk_builder_null(&r->b, field, row);
}

static void put(struct raw_rows *r, unsigned field, int64_t v)
{
	enum rk_type type = r->b.schema->fields[field].type;
	size_t row = r->b.nrows;
	void *col = r->cols[field];
	bool begun = r->begun >> field & 1;

	if (!col || (v == RK_NONE && !begun))
		return;
	if (type == RK_I32 && v != RK_NONE && v != (int32_t)v) {
		rk_oddities_count(r->odd, "number-out-of-range", 0, 1,
				  "a number does not fit its column; left empty");
		v = RK_NONE;
	}
	if (!begun && v != RK_NONE)
		begin_column(r, field);
	if (v == RK_NONE && begun)
		r->nomem |= !rk_builder_null(&r->b, field, row);
	else if (v == RK_NONE)
		return;
	else if (type == RK_I64)
		((int64_t *)col)[row] = v;
	else
		((uint32_t *)col)[row] = (uint32_t)v;
}

/* A field stored as value + 1; 0 means unknown. */
static int64_t known_of(const uint64_t *d, unsigned field)
{
	return d && d[field] ? small(d[field] - 1) : RK_NONE;
}

/* A string's id in the run. */
static int64_t string_of(const struct raw_rows *r, uint64_t id)
{
	const uint64_t *d = rk_raw_name(r->names, id, RK_RAW_STRING);

	return d ? (int64_t)d[0] : RK_NONE;
}

/* The same for a record; an undefined id gives a warning. */
static int64_t text(struct raw_rows *r, uint64_t id)
{
	int64_t string = string_of(r, id);

	if (string == RK_NONE && id)
		rk_oddities_count(r->odd, "unknown-name", 0, 1,
				  "a record refers to an undefined name; left empty");
	return string;
}

static int64_t intern(struct raw_rows *r, const char *text, size_t len)
{
	uint32_t id = 0;

	if (!len)
		return RK_NONE;
	r->nomem |= rk_strtab_add(r->ctx->names, text, len, &id, NULL) < 0;
	return id;
}

static int64_t word(struct raw_rows *r, const char *s)
{
	return intern(r, s, strlen(s));
}

static void put_common(struct raw_rows *r, unsigned pid, uint32_t tid)
{
	put(r, pid, r->h->pid);
	put(r, pid + 1, positive(tid));
	put(r, pid + 2, r->node);
	put(r, pid + 3, r->rank);
}

/* The id of a definition; one that is too large is undefined, like 0. */
static uint32_t id_of(struct rk_cursor *c)
{
	uint64_t id = rk_cursor_varint(c);

	return id <= UINT32_MAX ? (uint32_t)id : 0;
}

/* ---- delta-encoded fields ---- */

struct operation {
	const uint64_t *queue_def, *device_def;
	const struct raw_clock *clock;
	int64_t start, duration; /* RK_NONE: unknown or out of range */
};

static struct operation operation_on(const struct raw_rows *r, uint64_t queue)
{
	struct operation op = { .start = RK_NONE, .duration = RK_NONE };

	op.queue_def = rk_raw_name(r->names, queue, RK_RAW_QUEUE);
	if (op.queue_def) {
		op.device_def = rk_raw_name(r->names, op.queue_def[0], RK_RAW_DEVICE);
		op.clock = rk_raw_clock(r->names, op.queue_def[0]);
	}
	return op;
}

/* Converts times of the device to time since boot. `on_host`: they already are. */
static void set_times(struct raw_rows *r, struct operation *op, int64_t start, int64_t duration,
		      bool on_host)
{
	if (on_host)
		op->clock = NULL;
	else if (!op->clock && op->queue_def)
		rk_oddities_count(
			r->odd, "uncalibrated-clock", 0, 1,
			"times of a device whose clock was not calibrated against the host clock");
	op->duration = duration;
	if (!rk_raw_time(op->clock, start, &op->start)) {
		rk_oddities_count(r->odd, "time-out-of-range", 0, 1,
				  "a time does not fit in 64 bits; left empty");
		op->start = op->duration = RK_NONE;
	}
}

/*
 * Reads TID and CORR, then TIMES. `may_be_timeless`: if it was never queued, its times are the
 * host's.
 */
static bool get_operation(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c,
			  bool may_be_timeless, struct operation *op)
{
	uint64_t start, duration;

	past->tid += (uint32_t)raw_zigzag(c);
	past->correlation += raw_zigzag(c);
	past->queued += raw_zigzag(c);
	start = past->queued + raw_zigzag(c);
	start += raw_zigzag(c);
	duration = raw_zigzag(c);
	if (c->bad)
		return false;
	set_times(r, op, (int64_t)start, (int64_t)duration, may_be_timeless && !past->queued);
	return true;
}

static bool get_host(struct raw_history *past, struct rk_cursor *c, int64_t *start,
		     int64_t *duration)
{
	past->host += raw_zigzag(c);
	*start = (int64_t)past->host;
	*duration = (int64_t)raw_zigzag(c);
	return !c->bad;
}

static int64_t number_of(const uint64_t *d, unsigned field)
{
	return d ? small(d[field]) : RK_NONE;
}

static int64_t device_number(const struct raw_rows *r, uint64_t id)
{
	return number_of(rk_raw_name(r->names, id, RK_RAW_DEVICE), 0);
}

/*
 * In a window the names of the oldest records may be gone: such a record is lost like those that
 * were overwritten. `name`: what it refers to, NULL if it is not defined.
 */
static bool is_gone(struct raw_rows *r, bool old, const uint64_t *name)
{
	if (!old || name)
		return false;
	rk_oddities_count(r->odd, "overwritten-names", 0, 1,
			  "records of a window whose names were overwritten; skipped");
	return true;
}

/* ---- kernels ---- */

static void put_kernel(struct raw_rows *r, const struct raw_launch *l, int64_t dispatch,
		       const struct operation *op)
{
	const uint64_t *shape = rk_raw_name(r->names, l->shape, RK_RAW_SHAPE);
	/* if there was no room for the shape, the id is the function's */
	const uint64_t *function =
		rk_raw_name(r->names, shape ? shape[0] : l->shape, RK_RAW_FUNCTION);
	int64_t local = known_of(shape, 1), regs = known_of(function, 2);
	int64_t accum = known_of(function, 5), vgprs = regs;
	int64_t stream = number_of(op->queue_def, 1), queue = stream;
	int64_t context = known_of(op->queue_def, 3);

	if (is_gone(r, l->old,
		    function ? rk_raw_name(r->names, function[0], RK_RAW_STRING) : NULL) ||
	    is_gone(r, l->old && l->queue, op->queue_def))
		return;
	if (!function)
		rk_oddities_count(r->odd, "unknown-name", 0, 1,
				  "a record refers to an undefined name; left empty");
	if (local == RK_NONE)
		local = known_of(function, 4);
	if (accum != RK_NONE && regs >= accum)
		vgprs -= accum;
	if (r->rocm && context != RK_NONE)
		queue = context;
	put(r, RK_K_NAME, function ? text(r, function[0]) : RK_NONE);
	put(r, RK_K_REGS, regs);
	put(r, RK_K_VGPR, r->nvidia ? RK_NONE : vgprs);
	put(r, RK_K_ACCUM_VGPR, accum);
	put(r, RK_K_SGPR, known_of(function, 6));
	put(r, RK_K_SCRATCH, known_of(function, 3));
	put(r, RK_K_SHARED_MEM, local);
	for (unsigned i = 0; i < 3; i++) {
		int64_t items = number_of(shape, 2 + i);
		int64_t group = shape ? positive(shape[5 + i]) : RK_NONE;

		put(r, RK_K_ITEMS_X + i, items);
		put(r, RK_K_BLOCK_X + i, group);
		put(r, RK_K_GRID_X + i, rk_grid_of(items, group));
	}
	put(r, RK_K_START, op->start);
	put(r, RK_K_DURATION, op->duration);
	/* else it is that of the call, within a microsecond: not worth two bytes of every row */
	put(r, RK_K_SUBMIT, op->start == RK_NONE ? l->submit : RK_NONE);
	put(r, RK_K_STREAM, stream);
	put(r, RK_K_QUEUE, queue);
	put(r, RK_K_CONTEXT, r->rocm ? RK_NONE : context);
	put(r, RK_K_DEVICE, number_of(op->device_def, 0));
	put(r, RK_K_WAVE_SIZE, op->device_def ? positive(op->device_def[7]) : RK_NONE);
	put(r, RK_K_DISPATCH, dispatch);
	put(r, RK_K_CORRELATION, small(l->correlation));
	put(r, RK_K_GRAPH, positive(l->graph));
	put(r, RK_K_GRAPH_NODE, l->graph ? small(l->node) : RK_NONE);
	put(r, RK_K_SOURCE, r->source_id);
	put(r, RK_K_CLOCK, op->clock ? r->boot_id : r->device_id);
	put_common(r, RK_K_PID, l->tid);
	r->b.nrows++;
}

/* Optional fields at the end of a record. */
static bool get_graph(struct rk_cursor *c, struct raw_launch *l)
{
	if (rk_cursor_left(c)) {
		l->graph = rk_cursor_varint(c);
		l->node = raw_zigzag(c) + (l->graph << 32);
	}
	return !c->bad;
}

static bool kernel(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c)
{
	struct raw_launch l = { .submit = RK_NONE, .old = past->old };
	struct operation op;

	l.shape = id_of(c);
	l.queue = id_of(c);
	op = operation_on(r, l.queue);
	if (!get_operation(r, past, c, false, &op) || !get_graph(c, &l))
		return false;
	l.correlation = past->correlation;
	l.tid = past->tid;
	/* all kernels of a graph launch share one correlation id, so it cannot be the dispatch id */
	put_kernel(r, &l, r->nvidia ? RK_NONE : small(past->correlation), &op);
	return true;
}

/* A kernel from its two records; `ran` NULL: it has no times. */
static void put_joined(struct raw_rows *r, uint64_t id, const struct raw_launch *l,
		       const struct raw_ran *ran)
{
	/* a device may start before the host has read its clock; more is another kernel's time */
	const int64_t slack_ns = 1000000;
	struct operation op = operation_on(r, l->queue);

	if (ran && ran->flags & RK_RAW_NO_TIMES)
		rk_oddities_count(r->odd, "no-device-times", 0, 1,
				  "kernels that the device gave no times for");
	else if (ran)
		set_times(r, &op, ran->start, ran->duration, false);
	if (op.start != RK_NONE && ran->flags & RK_RAW_DOUBTFUL)
		rk_oddities_count(r->odd, "doubtful-times", 0, 1,
				  "kernels whose times came through another tool in the program");
	if (op.start != RK_NONE && op.clock && l->submit > INT64_MIN + slack_ns &&
	    op.start < l->submit - slack_ns)
		rk_oddities_count(r->odd, "start-before-launch", 0, 1,
				  "kernels that start before they were launched; kept as recorded");
	put_kernel(r, l, small(id), &op);
}

static bool launch(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c)
{
	struct raw_launch l = { .old = past->old };
	struct raw_ran ran;
	int match;

	past->own.id += raw_zigzag(c);
	l.correlation = past->own.correlation += raw_zigzag(c);
	l.shape = id_of(c);
	l.queue = id_of(c);
	l.tid = past->own.tid += (uint32_t)raw_zigzag(c);
	past->own.at += raw_zigzag(c);
	l.submit = (int64_t)past->own.at;
	if (!get_graph(c, &l))
		return false;
	if (!r->join)
		return true;
	match = rk_raw_join_launch(r->join, past->where, past->own.id, &l, &ran);
	r->nomem |= match < 0;
	if (match > RAW_NO_ROW)
		put_joined(r, past->own.id, &l, match == RAW_PAIR ? &ran : NULL);
	return true;
}

static bool ran(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c)
{
	uint64_t start;
	struct raw_launch l;
	struct raw_ran times = { 0 };
	int match;

	past->own.id += raw_zigzag(c);
	start = past->own.start + raw_zigzag(c);
	times.duration = (int64_t)raw_zigzag(c);
	if (rk_cursor_left(c))
		times.flags = (uint32_t)rk_cursor_varint(c);
	if (c->bad)
		return false;
	if (!(times.flags & RK_RAW_NO_TIMES))
		past->own.start = start;
	times.start = (int64_t)start;
	match = rk_raw_join_ran(r->join, past->where, past->own.id, &times, &l);
	r->nomem |= match < 0;
	if (match > RAW_NO_ROW)
		put_joined(r, past->own.id, &l, match == RAW_PAIR ? &times : NULL);
	return true;
}

bool rk_raw_rows_left(struct raw_rows *r)
{
	struct raw_launch l;
	uint64_t id;

	while (r->b.nrows < r->b.cap && rk_raw_join_left(r->join, &id, &l))
		put_joined(r, id, &l, NULL);
	return r->b.nrows == r->b.cap;
}

/* ---- copies and others ---- */

/* Indexed by the recorder's enum rk_rec_direction: which ends are the device. */
static const struct {
	const char *word;
	bool from, to;
} directions[] = {
	{ "MEMORY_COPY_UNKNOWN", false, false },
	{ "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "MEMORY_FILL", false, true },
	{ "MEMORY_MAP", true, false },
	{ "MEMORY_UNMAP", false, true },
	{ "MEMORY_MIGRATE", false, true },
	{ "MEMORY_COPY_HOST_TO_HOST", false, false },
	{ "MEMORY_COPY_PEER_TO_PEER", false, false },
};

static bool copy(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c)
{
	uint64_t way = rk_cursor_varint(c);
	struct operation op = operation_on(r, rk_cursor_varint(c));
	uint64_t bytes = rk_cursor_varint(c);
	int64_t from, to;

	if (way >= sizeof(directions) / sizeof(directions[0]))
		way = 0;
	if (!get_operation(r, past, c, true, &op))
		return false;
	from = directions[way].from ? number_of(op.device_def, 0) : RK_NONE;
	to = directions[way].to ? number_of(op.device_def, 0) : RK_NONE;
	if (rk_cursor_left(c)) {
		from = device_number(r, rk_cursor_varint(c));
		to = device_number(r, rk_cursor_varint(c));
	}
	put(r, RK_C_DIRECTION, word(r, directions[way].word));
	put(r, RK_C_START, op.start);
	put(r, RK_C_DURATION, op.duration);
	put(r, RK_C_BYTES, small(bytes));
	put(r, RK_C_SRC, from);
	put(r, RK_C_DST, to);
	put(r, RK_C_STREAM, number_of(op.queue_def, 1));
	put(r, RK_C_CORRELATION, small(past->correlation));
	put_common(r, RK_C_PID, past->tid);
	r->b.nrows++;
	return true;
}

static bool sync_row(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c)
{
	uint64_t name = rk_cursor_varint(c);
	struct operation op = operation_on(r, rk_cursor_varint(c));

	if (!get_operation(r, past, c, true, &op))
		return false;
	put(r, RK_R_NAME, text(r, name));
	put(r, RK_R_KIND, r->queue_id);
	put(r, RK_R_START, op.start);
	put(r, RK_R_DURATION, op.duration);
	put_common(r, RK_R_PID, past->tid);
	r->b.nrows++;
	return true;
}

static bool marker(struct raw_rows *r, const struct raw_history *past, struct rk_cursor *c)
{
	bool mark = rk_cursor_varint(c) == 2;
	uint64_t name = rk_cursor_varint(c);
	const uint64_t *d = rk_raw_name(r->names, rk_cursor_varint(c), RK_RAW_STRING);
	uint32_t tid = (uint32_t)rk_cursor_varint(c);
	int64_t start = (int64_t)raw_zigzag(c), duration = (int64_t)raw_zigzag(c);
	const char *kind = mark ? "NVTX_MARK" : "NVTX_RANGE";
	char full[256];
	size_t len;

	if (c->bad)
		return false;
	if (is_gone(r, past->old, rk_raw_name(r->names, name, RK_RAW_STRING)))
		return true;
	if (r->rocm)
		kind = mark ? "mark" : "range";
	if (d) { /* then a colon and the name of the domain */
		const char *domain = rk_strtab_borrow(r->ctx->names, (uint32_t)d[0], &len);

		snprintf(full, sizeof(full), "%s:%.*s", kind, (int)len, domain);
		kind = full;
	}
	put(r, RK_R_NAME, text(r, name));
	put(r, RK_R_KIND, word(r, kind));
	put(r, RK_R_START, start);
	put(r, RK_R_DURATION, duration);
	put_common(r, RK_R_PID, tid);
	r->b.nrows++;
	return true;
}

static bool counter(struct raw_rows *r, struct rk_cursor *c)
{
	uint64_t name = rk_cursor_varint(c), kernel_name = rk_cursor_varint(c);
	uint64_t device = rk_cursor_varint(c), dispatch = rk_cursor_varint(c);
	uint64_t bits = rk_cursor_varint(c);
	double v, *values = r->cols[RK_N_VALUE];
	bool begun = r->begun >> RK_N_VALUE & 1;

	if (c->bad)
		return false;
	memcpy(&v, &bits, sizeof(v));
	put(r, RK_N_COUNTER, text(r, name));
	put(r, RK_N_NAME, text(r, kernel_name));
	put(r, RK_N_DEVICE, device_number(r, device));
	put(r, RK_N_DISPATCH, small(dispatch));
	put(r, RK_N_PID, r->h->pid);
	put(r, RK_N_NODE, r->node);
	put(r, RK_N_RANK, r->rank);
	/* values that are not finite become null */
	if (values && isfinite(v)) {
		if (!begun)
			begin_column(r, RK_N_VALUE);
		values[r->b.nrows] = v;
	} else if (values && begun) {
		r->nomem |= !rk_builder_null(&r->b, RK_N_VALUE, r->b.nrows);
	}
	r->b.nrows++;
	return true;
}

/* The domain of a library's calls: "rccl" is RCCL_API. */
static int64_t library_of(struct raw_rows *r, uint32_t word)
{
	size_t len;
	const char *text = rk_strtab_borrow(r->ctx->names, word, &len);
	uint32_t id = 0;

	r->nomem |= make_domain(r, text, len, "_API", &id, NULL) < 0;
	return id;
}

/* A call, of any of its three records, after the name and the times. */
static bool put_call(struct raw_rows *r, const struct raw_history *past, struct rk_cursor *c,
		     uint64_t name, int64_t correlation, int64_t start, int64_t duration,
		     int64_t domain)
{
	uint32_t tid = past->thread;

	if (rk_cursor_left(c)) {
		int64_t own;

		tid = (uint32_t)rk_cursor_varint(c);
		own = string_of(r, rk_cursor_varint(c));
		if (own != RK_NONE)
			domain = r->rocm ? library_of(r, (uint32_t)own) : own;
	}
	if (c->bad)
		return false;
	if (is_gone(r, past->old, rk_raw_name(r->names, name, RK_RAW_STRING)))
		return true;
	put(r, RK_A_DOMAIN, domain);
	put(r, RK_A_FUNCTION, text(r, name));
	put(r, RK_A_START, start);
	put(r, RK_A_DURATION, duration);
	put(r, RK_A_CORRELATION, correlation);
	put_common(r, RK_A_PID, tid);
	r->b.nrows++;
	return true;
}

/* API and BUILD. */
static bool call(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c, bool build)
{
	uint64_t name = rk_cursor_varint(c), second = rk_cursor_varint(c);
	struct rk_cursor end = rk_cursor_over(NULL, 0);
	int64_t start, duration;

	if (!get_host(past, c, &start, &duration))
		return false;
	if (build)
		return put_call(r, past, &end, name, RK_NONE, start, duration, r->build_id);
	return put_call(r, past, c, name, positive(second), start, duration, r->api_id);
}

static bool short_call(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c)
{
	uint64_t name = rk_cursor_varint(c), correlation = rk_cursor_varint(c);
	int64_t duration;

	if (correlation) {
		correlation--;
		past->own.correlation += correlation >> 1 ^ (0 - (correlation & 1));
		correlation = past->own.correlation;
	}
	past->own.at += raw_zigzag(c);
	duration = (int64_t)raw_zigzag(c);
	if (c->bad || r->table != RK_API)
		return !c->bad;
	return put_call(r, past, c, name, positive(correlation), (int64_t)past->own.at, duration,
			r->api_id);
}

static bool allocation(struct raw_rows *r, struct raw_history *past, struct rk_cursor *c)
{
	uint64_t kind = rk_cursor_varint(c), device = rk_cursor_varint(c);
	uint64_t address = rk_cursor_varint(c), bytes = rk_cursor_varint(c), correlation = 0;
	uint32_t tid = past->thread;
	int64_t start, duration;

	if (!get_host(past, c, &start, &duration))
		return false;
	if (rk_cursor_left(c)) {
		tid = (uint32_t)rk_cursor_varint(c);
		correlation = rk_cursor_varint(c);
	}
	put(r, RK_M_OPERATION,
	    word(r, kind == 2 ? "MEMORY_ALLOCATION_FREE" : "MEMORY_ALLOCATION_ALLOCATE"));
	put(r, RK_M_START, start);
	put(r, RK_M_DURATION, duration);
	put(r, RK_M_BYTES, small(bytes));
	put(r, RK_M_ADDRESS, small(address));
	put(r, RK_M_DEVICE, device_number(r, device));
	put(r, RK_M_CORRELATION, positive(correlation));
	put_common(r, RK_M_PID, tid);
	r->b.nrows++;
	return true;
}

/* ---- records ---- */

uint32_t rk_raw_tags_of(enum rk_table t)
{
	switch (t) {
	case RK_KERNELS:
		return 1u << RK_RAW_KERNEL | 1u << RK_RAW_LAUNCH | 1u << RK_RAW_RAN;
	case RK_MEMCPY:
		return 1u << RK_RAW_COPY;
	case RK_MARKERS:
		return 1u << RK_RAW_SYNC | 1u << RK_RAW_MARKER;
	case RK_API:
		return 1u << RK_RAW_API | 1u << RK_RAW_BUILD | 1u << RK_RAW_CALL;
	case RK_MEMALLOC:
		return 1u << RK_RAW_ALLOC;
	case RK_COUNTERS:
		return 1u << RK_RAW_COUNTER;
	default:
		return 0;
	}
}

/* Updates the history with a record that gives no row, because later differences refer to it. */
static bool pass_over(struct raw_history *past, uint8_t tag, struct rk_cursor *c)
{
	static const uint8_t before[RK_RAW_ALLOC + 1] = {
		[RK_RAW_KERNEL] = 2, [RK_RAW_COPY] = 3,  [RK_RAW_SYNC] = 2,
		[RK_RAW_API] = 2,    [RK_RAW_BUILD] = 2, [RK_RAW_ALLOC] = 4,
	};

	for (unsigned i = 0; i < before[tag]; i++)
		rk_cursor_varint(c);
	if (tag >= RK_RAW_API) {
		past->host += raw_zigzag(c);
		return !c->bad;
	}
	past->tid += (uint32_t)raw_zigzag(c);
	past->correlation += raw_zigzag(c);
	past->queued += raw_zigzag(c);
	return !c->bad;
}

void rk_raw_begin(struct raw_history *past, uint32_t tid)
{
	*past = (struct raw_history){
		.thread = tid, .tid = tid, .own.tid = tid, .where = past->where, .old = past->old
	};
}

bool rk_raw_rows_add(struct raw_rows *r, struct raw_history *past, uint8_t tag, struct rk_cursor c)
{
	switch (tag) {
	case RK_RAW_THREAD:
		rk_raw_begin(past, (uint32_t)rk_cursor_varint(&c));
		return !c.bad;
	case RK_RAW_MARKER: /* not part of the history */
		return r->table != RK_MARKERS || marker(r, past, &c);
	case RK_RAW_COUNTER:
		return r->table != RK_COUNTERS || counter(r, &c);
	case RK_RAW_LAUNCH:
		return (r->table != RK_KERNELS && r->table != RK_API) || launch(r, past, &c);
	case RK_RAW_RAN:
		return r->table != RK_KERNELS || ran(r, past, &c);
	case RK_RAW_CALL:
		return (r->table != RK_KERNELS && r->table != RK_API) || short_call(r, past, &c);
	case RK_RAW_DROP: /* the header has their total */
		return true;
	default:
		break;
	}
	if (tag < RK_RAW_KERNEL || tag > RK_RAW_ALLOC) {
		if (!r->again)
			rk_oddities_count(r->odd, "unknown-record", 0, 1,
					  "unknown record kind %u (from a newer rockit?); skipped",
					  tag);
		return true;
	}
	if (r->again || !(rk_raw_tags_of(r->table) >> tag & 1))
		return pass_over(past, tag, &c);
	switch (tag) {
	case RK_RAW_KERNEL:
		return kernel(r, past, &c);
	case RK_RAW_COPY:
		return copy(r, past, &c);
	case RK_RAW_SYNC:
		return sync_row(r, past, &c);
	case RK_RAW_ALLOC:
		return allocation(r, past, &c);
	default:
		return call(r, past, &c, tag == RK_RAW_BUILD);
	}
}

const struct rk_batch *rk_raw_rows_batch(struct raw_rows *r)
{
	const struct rk_batch *batch = rk_builder_batch(&r->b);

	for (unsigned field = 0; field < r->b.schema->nfields; field++)
		if (!(r->begun >> field & 1))
			r->b.cols[field] = (struct rk_column){ 0 };
	return batch;
}

void rk_raw_rows_reset(struct raw_rows *r)
{
	rk_builder_reset(&r->b);
	r->begun = 0;
}

/* ---- rows of the header and the definitions ---- */

/* The words of the command separated by blanks, or the program's file if there are none. */
static int64_t command(struct raw_rows *r)
{
	const struct rk_raw_header *h = r->h;
	char line[sizeof(h->command)];
	size_t len = h->command_len < sizeof(line) ? h->command_len : sizeof(line);

	for (size_t i = 0; i < len; i++)
		line[i] = h->command[i] ? h->command[i] : ' ';
	while (len && line[len - 1] == ' ')
		len--;
	if (!len)
		return intern(r, h->exe, strnlen(h->exe, sizeof(h->exe)));
	return intern(r, line, len);
}

void rk_raw_process(struct raw_rows *r)
{
	const struct rk_raw_header *h = r->h;
	int64_t end = h->clean == 1 ? h->end.boot_ns : h->last[h->last_slot & 1].boot_ns;

	put(r, RK_O_PID, h->pid);
	put(r, RK_O_PPID, h->ppid);
	put(r, RK_O_COMMAND, command(r));
	put(r, RK_O_RANK, r->rank);
	put(r, RK_O_LOCAL_RANK, h->local_rank < 0 ? RK_NONE : h->local_rank);
	put(r, RK_O_NODE, r->node);
	put(r, RK_O_START, h->start.boot_ns);
	put(r, RK_O_END, end);
	r->b.nrows++;
}

void rk_raw_agents(struct raw_rows *r, size_t *next)
{
	static const char *const types[] = { "OTHER", "GPU", "CPU", "OTHER" };

	for (; *next < r->names->n && r->b.nrows < r->b.cap; ++*next) {
		const struct raw_definition *def = &r->names->defs[*next];
		const uint64_t *d = &r->names->fields[def->at];
		int64_t name, product, arch = RK_NONE;
		char id[24];

		if (def->tag != RK_RAW_DEVICE)
			continue;
		name = product = string_of(r, d[2]);
		if (name != RK_NONE) { /* "gfx90a:sramecc+" is gfx90a; other names: no target */
			size_t len;
			const char *s = rk_strtab_borrow(r->ctx->names, (uint32_t)name, &len);

			if (len > 3 && !memcmp(s, "gfx", 3)) {
				arch = intern(r, s, strcspn(s, ":"));
				product = RK_NONE;
			}
		}
		if (arch == RK_NONE)
			arch = string_of(r, d[9]);
		put(r, RK_G_DEVICE, small(d[0]));
		put(r, RK_G_TYPE, word(r, types[d[1] < 4 ? d[1] : 0]));
		put(r, RK_G_NAME, name);
		put(r, RK_G_GFX, arch);
		put(r, RK_G_PRODUCT, product);
		put(r, RK_G_CU_COUNT, positive(d[5]));
		put(r, RK_G_MAX_SCLK, positive(d[6]));
		put(r, RK_G_WAVE_SIZE, positive(d[7]));
		put(r, RK_G_MEMORY, positive(d[8]));
		put(r, RK_G_NODE, r->node);
		if (d[10]) {
			uint64_t at = d[10] - 1;

			snprintf(id, sizeof(id), "%04" PRIx64 ":%02x:%02x.%x", at >> 16,
				 (unsigned)(at >> 8 & 0xff), (unsigned)(at >> 3 & 0x1f),
				 (unsigned)(at & 7));
			put(r, RK_G_PCI, word(r, id));
		}
		if (d[11]) {
			snprintf(id, sizeof(id), "0x%016" PRIx64, d[11]);
			put(r, RK_G_UNIQUE_ID, word(r, id));
		}
		r->b.nrows++;
	}
}
