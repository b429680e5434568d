/*
 * hip_json.c - the profiler that is built into the HIP runtime (GPU_CLR_PROFILE_OUTPUT=x.json).
 *
 * The document is {"traceEvents":[...],"displayTimeUnit":"us"}. The pid of an event is 1024 for
 * calls, 2048 for the lifetimes of allocations, and the device for everything on a GPU. Times are
 * microseconds since the first call. Names are not escaped: a quote in a kernel's name is text.
 */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/kineto/chrome_json.h"

#define B(f) (UINT64_C(1) << (f))

enum { PID_CALLS = 1024, PID_MEMORY = 2048 };

enum {
	F_PH,
	F_NAME,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_QUEUE,
	F_GRID,
	F_BLOCK,
	F_COPY,
	F_BYTES,
	F_SIZE,
	F_ADDRESS,
	F_STREAM,
	F_NFIELDS
};

static const struct rk_json_field fields[F_NFIELDS] = {
	[F_PH] = { "ph", RK_JSON_AS_TEXT },
	[F_NAME] = { "name", RK_JSON_AS_TEXT },
	[F_PID] = { "pid", RK_JSON_AS_I64 },
	[F_TID] = { "tid", RK_JSON_AS_I64 },
	[F_TS] = { "ts", RK_JSON_AS_MICRO },
	[F_DUR] = { "dur", RK_JSON_AS_MICRO },
	[F_QUEUE] = { "args/queue_id", RK_JSON_AS_U64 },
	[F_GRID] = { "args/grid", RK_JSON_AS_TEXT },
	[F_BLOCK] = { "args/block", RK_JSON_AS_TEXT },
	[F_COPY] = { "args/copy_kind", RK_JSON_AS_TEXT },
	[F_BYTES] = { "args/bytes", RK_JSON_AS_I64 },
	[F_SIZE] = { "args/size", RK_JSON_AS_I64 },
	[F_ADDRESS] = { "args/ptr", RK_JSON_AS_U64 },
	[F_STREAM] = { "args/stream", RK_JSON_AS_U64 },
};

/* Names of copies and fills; others are kept as written. */
static const struct {
	const char *name, *direction;
	bool from_device, to_device;
} copies[] = {
	{ "H2D", "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "D2H", "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "D2D", "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "BufferToImage", NULL, true, true },
	{ "ImageToBuffer", NULL, true, true },
	{ "Fill", NULL, false, true },
};
enum { NCOPIES = sizeof(copies) / sizeof(copies[0]) };

/* The index in `copies`; NCOPIES: none of them. "H2D_Rect" and "H2D_Image" are copies, too. */
static size_t find_copy(const char *name, size_t len)
{
	size_t i = 0;

	for (; i < NCOPIES; i++) {
		size_t n = strlen(copies[i].name);

		if (len >= n && !memcmp(name, copies[i].name, n) && (len == n || name[n] == '_'))
			break;
	}
	return i;
}

static enum rk_table table_of(struct chrome_scan *s)
{
	const struct rk_json_value *v = s->record.values;
	const char *name = rk_json_record_text(&s->record, F_NAME);

	if (!rk_chrome_is(s, F_PH, "X") || v[F_NAME].has != RK_JSON_HAS ||
	    v[F_PID].has != RK_JSON_HAS)
		return RK_NTABLES;
	if (v[F_PID].i == PID_CALLS)
		return RK_API;
	if (v[F_PID].i == PID_MEMORY)
		return RK_MEMALLOC;
	if (v[F_COPY].has == RK_JSON_HAS || find_copy(name, v[F_NAME].len) < NCOPIES)
		return RK_MEMCPY;
	return rk_chrome_is(s, F_NAME, "Barrier") ? RK_NTABLES : RK_KERNELS;
}

/* "16x1x1": three numbers; RK_NONE if it is something else. */
static void read_size(const struct chrome_scan *s, unsigned field, int64_t *ret)
{
	const struct rk_json_value *v = &s->record.values[field];
	const char *p = rk_json_record_text(&s->record, field);
	size_t left = v->has == RK_JSON_HAS ? v->len : 0;

	for (unsigned i = 0; i < 3; i++) {
		const char *x = left ? memchr(p, 'x', left) : NULL;
		size_t n = x && i < 2 ? (size_t)(x - p) : left;

		if (!n || rk_num_i64(p, n, &ret[i]) != RK_NUM_OK || ret[i] < 0)
			ret[i] = RK_NONE;
		n += n < left;
		p += n;
		left -= n;
	}
}

static void put_or_null(struct chrome_scan *s, unsigned field, int64_t v)
{
	if (v == RK_NONE)
		rk_json_put_null(&s->rows, field);
	else
		rk_json_put(&s->rows, field, v);
}

/* The grid is as the launch call has it: in blocks. */
static int kernel_row(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	int64_t grid[3], block[3];

	read_size(s, F_GRID, grid);
	read_size(s, F_BLOCK, block);
	for (unsigned i = 0; i < 3; i++) {
		int64_t items;

		put_or_null(s, RK_K_GRID_X + i, grid[i]);
		put_or_null(s, RK_K_BLOCK_X + i, block[i]);
		if (grid[i] == RK_NONE || block[i] == RK_NONE ||
		    __builtin_mul_overflow(grid[i], block[i], &items))
			items = RK_NONE;
		put_or_null(s, RK_K_ITEMS_X + i, items);
	}
	rk_json_put_value(&s->rows, RK_K_START, &v[F_TS]);
	rk_json_put_value(&s->rows, RK_K_DURATION, &v[F_DUR]);
	rk_json_put_value(&s->rows, RK_K_DEVICE, &v[F_PID]);
	rk_json_put_value(&s->rows, RK_K_QUEUE, &v[F_QUEUE]);
	rk_json_put_value(&s->rows, RK_K_STREAM, &v[F_STREAM]);
	rk_json_put_id(&s->rows, RK_K_SOURCE, s->source_id);
	rk_json_put_id(&s->rows, RK_K_CLOCK, s->clock_id);
	return rk_chrome_put_text(s, RK_K_NAME, F_NAME, err);
}

static int copy_row(struct chrome_scan *s, struct rk_error *err)
{
	static const struct rk_json_value none = { .has = RK_JSON_ABSENT };
	const struct rk_json_value *v = s->record.values;
	size_t i = find_copy(rk_json_record_text(&s->record, F_NAME), v[F_NAME].len);
	bool from = i < NCOPIES && copies[i].from_device, to = i < NCOPIES && copies[i].to_device;

	rk_json_put_value(&s->rows, RK_C_START, &v[F_TS]);
	rk_json_put_value(&s->rows, RK_C_DURATION, &v[F_DUR]);
	rk_json_put_value(&s->rows, RK_C_BYTES, &v[F_BYTES]);
	rk_json_put_value(&s->rows, RK_C_SRC, from ? &v[F_PID] : &none);
	rk_json_put_value(&s->rows, RK_C_DST, to ? &v[F_PID] : &none);
	rk_json_put_value(&s->rows, RK_C_STREAM, &v[F_STREAM]);
	if (i < NCOPIES && copies[i].direction)
		return rk_json_put_word(&s->rows, RK_C_DIRECTION, copies[i].direction, err);
	return rk_chrome_put_text(s, RK_C_DIRECTION, F_NAME, err);
}

static int row(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	int rc;

	switch (s->table) {
	case RK_KERNELS:
		rc = kernel_row(s, err);
		break;
	case RK_MEMCPY:
		rc = copy_row(s, err);
		break;
	case RK_MEMALLOC: /* the event lasts as long as the memory, not as the call */
		rk_json_put_value(&s->rows, RK_M_START, &v[F_TS]);
		rk_json_put_value(&s->rows, RK_M_BYTES, &v[F_SIZE]);
		rk_json_put_value(&s->rows, RK_M_ADDRESS, &v[F_ADDRESS]);
		rc = rk_json_put_word(&s->rows, RK_M_OPERATION, "ALLOCATE", err);
		break;
	default:
		rk_json_put_value(&s->rows, RK_A_START, &v[F_TS]);
		rk_json_put_value(&s->rows, RK_A_DURATION, &v[F_DUR]);
		rk_json_put_value(&s->rows, RK_A_TID, &v[F_TID]);
		if ((rc = rk_json_put_word(&s->rows, RK_A_DOMAIN, "HIP_API", err)) >= 0)
			rc = rk_chrome_put_text(s, RK_A_FUNCTION, F_NAME, err);
		break;
	}
	return rc < 0 ? rc : 1;
}

static const struct chrome_format format = {
	.source = "hip-json",
	.clock = "unknown",
	.loose = true,
	.fields = fields,
	.nfields = F_NFIELDS,
	.gives = { [RK_KERNELS] = B(RK_K_NAME) | B(RK_K_START) | B(RK_K_DURATION) | B(RK_K_GRID_X) |
				  B(RK_K_GRID_Y) | B(RK_K_GRID_Z) | B(RK_K_BLOCK_X) |
				  B(RK_K_BLOCK_Y) | B(RK_K_BLOCK_Z) | B(RK_K_STREAM) |
				  B(RK_K_DEVICE) | B(RK_K_QUEUE) | B(RK_K_ITEMS_X) |
				  B(RK_K_ITEMS_Y) | B(RK_K_ITEMS_Z) | B(RK_K_SOURCE) |
				  B(RK_K_CLOCK),
		   [RK_MEMCPY] = B(RK_C_DIRECTION) | B(RK_C_START) | B(RK_C_DURATION) |
				 B(RK_C_BYTES) | B(RK_C_SRC) | B(RK_C_DST) | B(RK_C_STREAM),
		   [RK_MEMALLOC] = B(RK_M_OPERATION) | B(RK_M_START) | B(RK_M_BYTES) |
				   B(RK_M_ADDRESS),
		   [RK_API] = B(RK_A_DOMAIN) | B(RK_A_FUNCTION) | B(RK_A_START) | B(RK_A_DURATION) |
			      B(RK_A_TID) },
	.table_of = table_of,
	.row = row,
};

static int hip_probe(const struct rk_head *head)
{
	static const char *const calls[] = { "\"pid\":1024", "\"pid\": 1024" };
	const char *p = rk_json_start(head->data, head->len);
	size_t left = p ? (size_t)(head->data + head->len - p) : 0;

	if (!left || *p != '{' || !rk_chrome_has(p, left, "\"traceEvents\""))
		return 0;
	if (rk_chrome_has(p, left, "\"CPU HIP ["))
		return 95;
	/* names of processes may come later than the first calls */
	for (size_t i = 0; i < 2; i++)
		if (rk_chrome_has(p, left, calls[i]) && rk_chrome_has(p, left, "\"hip") &&
		    !rk_chrome_has(p, left, "\"cat\""))
			return 80;
	return 0;
}

const struct rk_reader_ops rk_reader_hip_json = {
	.name = "hip-json",
	.help = "trace of the HIP runtime's own profiler (GPU_CLR_PROFILE_OUTPUT), JSON",
	.probe = hip_probe,
	.open = rk_chrome_open,
	.scan = rk_chrome_scan,
	.close = rk_chrome_close,
	.format = &format,
	.serial = true,
	.precedence = RK_PRECEDENCE_JSON,
};
