/*
 * chrome_writer.c - writes a run as Chrome trace events (JSON). Categories and arguments are those
 * of PyTorch's profiler, so tools for its traces (including our kineto reader) can read the file.
 *
 * Times are microseconds with three decimals, computed from whole nanoseconds. Slices that overlap
 * on one track go to further lanes, as in the Perfetto trace. A flow joins a launch and the work it
 * caused.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
#include "write/trace.h"

enum {
	FLUSH_BYTES = 256 << 10,
	BUFFER_MAX = 256 << 20,
	FIRST_MADE_TID = 1 << 23, /* for tracks that are not threads; above Linux's largest tid */
};

struct chrome {
	struct rk_writer base;
	struct rk_output *out;
	struct rk_context *ctx;
	struct rk_bytes text, name;
	struct rk_tracks tracks;
	enum rk_table table;
	bool some; /* an event was written */
	uint64_t no_time, crowded;
};

/* Position and times of one slice. */
struct slice {
	uint32_t process, track;
	int64_t start, duration;
	int64_t correlation; /* id of its flow, RK_NONE: none */
};

/* ---- pieces ---- */

static void put_int(struct rk_bytes *out, const char *key, int64_t v)
{
	char digits[24];

	rk_bytes_puts(out, key);
	rk_bytes_put(out, digits, rk_num_put_i64(digits, v));
}

static void put_comma(struct rk_bytes *out)
{
	if (out->len && out->data[out->len - 1] != '{')
		rk_bytes_put_u8(out, ',');
}

/* Writes an argument; `key` includes quotes and colon. Unknown values are skipped. */
static void put_arg(struct rk_bytes *out, const char *key, int64_t v)
{
	if (v == RK_NONE)
		return;
	put_comma(out);
	put_int(out, key, v);
}

static void put_micro(struct rk_bytes *out, const char *key, int64_t ns)
{
	uint64_t whole = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, part = whole % 1000;
	char text[] = { '.', (char)('0' + part / 100), (char)('0' + part / 10 % 10),
			(char)('0' + part % 10) };

	rk_bytes_puts(out, key);
	if (ns < 0)
		rk_bytes_put_u8(out, '-');
	put_int(out, "", (int64_t)(whole / 1000));
	rk_bytes_put(out, text, sizeof(text));
}

static void put_name(struct chrome *c, const char *key, uint32_t id)
{
	size_t len;
	const char *s = rk_strtab_borrow(c->ctx->names, id, &len);

	rk_bytes_puts(&c->text, key);
	rk_json_string(&c->text, s, len);
}

/* Writes the text in c->name; it is empty if there was no memory for it. */
static void put_held(struct chrome *c)
{
	rk_json_string(&c->text, c->name.len ? (const char *)c->name.data : "", c->name.len);
}

static void begin_event(struct chrome *c, const char *text)
{
	rk_bytes_puts(&c->text, c->some ? ",\n" : "\n");
	rk_bytes_puts(&c->text, text);
	c->some = true;
}

/* ---- tracks ---- */

static int64_t pid_of(const struct chrome *c, uint32_t process)
{
	return c->tracks.processes[process].shown_pid;
}

static int64_t tid_of(const struct chrome *c, uint32_t track)
{
	const struct rk_track *t = &c->tracks.v[track];
	bool thread = t->kind == RK_TRACK_THREAD && !t->lane && !t->rest;

	return thread && t->key >= 0 && t->key < FIRST_MADE_TID ? t->key : FIRST_MADE_TID + track;
}

static void put_metadata(struct chrome *c, const char *what, uint32_t process, uint32_t track)
{
	begin_event(c, "{\"ph\":\"M\",\"name\":");
	rk_json_string(&c->text, what, strlen(what));
	put_int(&c->text, ",\"pid\":", pid_of(c, process));
	if (track)
		put_int(&c->text, ",\"tid\":", tid_of(c, track));
	rk_bytes_puts(&c->text, ",\"args\":{\"name\":");
	put_held(c);
	rk_bytes_puts(&c->text, "}}");
}

static void describe_process(struct chrome *c, uint32_t process)
{
	uint32_t track = rk_tracks_of(&c->tracks, process);

	if (!track || c->tracks.v[track].told)
		return;
	c->tracks.v[track].told = true;
	rk_bytes_clear(&c->name);
	rk_tracks_place(&c->tracks, process, &c->name);
	put_metadata(c, "process_name", process, 0);
}

/* 1: the slice has a lane, named like "GPU 4 queue 1 (2)"; 0: it cannot be shown. */
static int place(struct chrome *c, struct slice *s, bool nest, struct rk_error *err)
{
	struct rk_track *t;
	uint32_t lane;
	int64_t end;

	if (!s->track)
		return rk_fail_nomem(err);
	if (s->start == RK_NONE) {
		c->no_time++;
		return 0;
	}
	if (s->duration == RK_NONE)
		s->duration = 0;
	if (s->duration < 0 || !rk_add_i64(s->start, s->duration, &end))
		end = s->start;
	lane = rk_tracks_lane(&c->tracks, s->track, s->start, end, nest);
	if (!lane)
		return rk_fail_nomem(err);
	if (lane == RK_TRACK_FULL)
		c->crowded++;
	else
		s->track = lane;

	describe_process(c, s->process);
	t = &c->tracks.v[s->track];
	if (t->told)
		return 1;
	t->told = true;
	rk_bytes_clear(&c->name);
	if (t->parent && c->tracks.v[t->parent].kind != RK_TRACK_PROCESS) {
		rk_tracks_name(&c->tracks, t->parent, &c->name);
		rk_bytes_put_u8(&c->name, ' ');
	}
	rk_tracks_name(&c->tracks, s->track, &c->name);
	put_metadata(c, "thread_name", s->process, s->track);
	return 1;
}

/* ---- slices ---- */

static void put_where(struct chrome *c, const struct slice *s)
{
	put_int(&c->text, ",\"pid\":", pid_of(c, s->process));
	put_int(&c->text, ",\"tid\":", tid_of(c, s->track));
	put_micro(&c->text, ",\"ts\":", s->start);
}

/*
 * Viewers drop slices that end before they start: write duration 0 and the recorded one as an
 * argument.
 */
static void put_duration(struct chrome *c, int64_t duration)
{
	put_micro(&c->text, ",\"dur\":", rk_max_i64(duration, 0));
	rk_bytes_puts(&c->text, ",\"args\":{");
	if (duration < 0)
		put_micro(&c->text, "\"recorded dur\":", duration);
}

/* Writes the event up to its arguments; `text` is everything before the name. */
static void open_slice(struct chrome *c, const char *text, uint32_t name, const struct slice *s)
{
	begin_event(c, text);
	put_name(c, ",\"name\":", name);
	put_where(c, s);
	put_duration(c, s->duration);
}

/*
 * `step`: "s" at the call, "f" at the work it caused. Ids are global to the trace, so they include
 * the process.
 */
static void put_flow(struct chrome *c, const struct slice *s, char step)
{
	if (s->correlation <= 0 || !(c->tracks.scope.tables >> RK_API & 1))
		return;
	begin_event(c, "{\"ph\":\"");
	rk_bytes_put_u8(&c->text, (uint8_t)step);
	rk_bytes_puts(&c->text, "\",\"cat\":\"ac2g\",\"name\":\"ac2g\"");
	put_int(&c->text, ",\"id\":", ((int64_t)s->process << 36) + s->correlation);
	put_where(c, s);
	rk_bytes_puts(&c->text, step == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* Writes the thread if the track's tid is a different one. */
static void put_thread(struct chrome *c, const struct slice *s, int64_t tid)
{
	if (tid_of(c, s->track) != tid)
		put_arg(&c->text, "\"tid\":", tid);
}

static void put_three(struct chrome *c, const struct rk_batch *b, size_t row, unsigned field,
		      const char *key)
{
	if (rk_trace_i32(b, field, row) == RK_NONE)
		return;
	put_comma(&c->text);
	rk_bytes_puts(&c->text, key);
	for (unsigned i = 0; i < 3; i++) {
		int64_t v = rk_trace_i32(b, field + i, row);

		put_int(&c->text, i ? "," : "[", v == RK_NONE ? 1 : v);
	}
	rk_bytes_put_u8(&c->text, ']');
}

static uint32_t process_of(struct chrome *c, const struct rk_batch *b, unsigned pid, unsigned rank,
			   unsigned node, size_t row)
{
	int64_t p = rk_tracks_process(&c->tracks, rk_trace_i64(b, pid, row),
				      rk_trace_i32(b, rank, row), rk_batch_id(b, node, row));

	if (p < 0) {
		c->text.bad = true;
		return 0;
	}
	return (uint32_t)p;
}

/* A track below a device of the process. */
static uint32_t device_track(struct chrome *c, uint32_t process, int64_t device,
			     enum rk_track_kind kind, int64_t key)
{
	uint32_t parent = rk_tracks_child(&c->tracks, rk_tracks_of(&c->tracks, process), process,
					  RK_TRACK_DEVICE, device);

	return parent ? rk_tracks_child(&c->tracks, parent, process, kind, key) : 0;
}

static uint32_t thread_track(struct chrome *c, uint32_t process, int64_t tid)
{
	return rk_tracks_child(&c->tracks, rk_tracks_of(&c->tracks, process), process,
			       RK_TRACK_THREAD, tid);
}

static int kernel(struct chrome *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	uint32_t process = process_of(c, b, RK_K_PID, RK_K_RANK, RK_K_NODE, row);
	int64_t device = rk_trace_i64(b, RK_K_DEVICE, row),
		queue = rk_trace_i64(b, RK_K_QUEUE, row);
	int64_t stream = rk_trace_i32(b, RK_K_STREAM, row);
	struct slice s = { .process = process,
			   .start = rk_trace_i64(b, RK_K_START, row),
			   .duration = rk_trace_i64(b, RK_K_DURATION, row),
			   .correlation = rk_trace_i64(b, RK_K_CORRELATION, row) };
	int rc;

	if (queue == RK_NONE)
		s.track = device_track(c, process, device, RK_TRACK_STREAM, stream);
	else
		s.track = device_track(c, process, device, RK_TRACK_QUEUE, queue);
	rc = place(c, &s, false, err);
	if (rc <= 0)
		return rc;
	open_slice(c, "{\"ph\":\"X\",\"cat\":\"kernel\"", rk_batch_id(b, RK_K_NAME, row), &s);
	put_arg(&c->text, "\"device\":", device);
	put_arg(&c->text, "\"stream\":", stream);
	put_arg(&c->text, "\"queue\":", queue);
	put_arg(&c->text, "\"correlation\":", s.correlation);
	put_arg(&c->text, "\"dispatch\":", rk_trace_i64(b, RK_K_DISPATCH, row));
	put_three(c, b, row, RK_K_GRID_X, "\"grid\":");
	put_three(c, b, row, RK_K_BLOCK_X, "\"block\":");
	put_arg(&c->text, "\"registers per thread\":", rk_trace_i32(b, RK_K_REGS, row));
	put_arg(&c->text, "\"shared memory\":", rk_trace_i32(b, RK_K_SHARED_MEM, row));
	put_arg(&c->text, "\"scratch\":", rk_trace_i32(b, RK_K_SCRATCH, row));
	for (unsigned f = RK_K_NFIELDS; f < b->schema->nfields; f++) {
		const struct rk_column *col = &b->cols[f];
		const char *name = b->schema->fields[f].name;
		double v = rk_column_has(col, row) ? ((const double *)col->data)[row] : NAN;

		if (!isfinite(v))
			continue;
		put_comma(&c->text);
		rk_json_string(&c->text, name, strlen(name));
		rk_bytes_put_u8(&c->text, ':');
		rk_put_number(&c->text, v, "");
	}
	rk_bytes_puts(&c->text, "}}");
	put_flow(c, &s, 'f');
	return 0;
}

static int copy(struct chrome *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	uint32_t process = process_of(c, b, RK_C_PID, RK_C_RANK, RK_C_NODE, row);
	int64_t src = rk_trace_i64(b, RK_C_SRC, row), dst = rk_trace_i64(b, RK_C_DST, row);
	int64_t stream = rk_trace_i64(b, RK_C_STREAM, row);
	struct slice s = { .process = process,
			   .start = rk_trace_i64(b, RK_C_START, row),
			   .duration = rk_trace_i64(b, RK_C_DURATION, row),
			   .correlation = rk_trace_i64(b, RK_C_CORRELATION, row) };
	int rc;

	s.track = device_track(c, process,
			       rk_copy_device(rk_strtab_borrow(c->ctx->names,
							       rk_batch_id(b, RK_C_DIRECTION, row),
							       NULL),
					      src, dst),
			       RK_TRACK_COPIES, stream);
	rc = place(c, &s, false, err);
	if (rc <= 0)
		return rc;
	open_slice(c, "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\"", rk_batch_id(b, RK_C_DIRECTION, row),
		   &s);
	put_arg(&c->text, "\"fromDevice\":", src);
	put_arg(&c->text, "\"toDevice\":", dst);
	put_arg(&c->text, "\"stream\":", stream);
	put_arg(&c->text, "\"bytes\":", rk_trace_i64(b, RK_C_BYTES, row));
	put_arg(&c->text, "\"correlation\":", s.correlation);
	rk_bytes_puts(&c->text, "}}");
	put_flow(c, &s, 'f');
	return 0;
}

static int allocation(struct chrome *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	uint32_t process = process_of(c, b, RK_M_PID, RK_M_RANK, RK_M_NODE, row);
	uint32_t thread = thread_track(c, process, rk_trace_i64(b, RK_M_TID, row));
	struct slice s = { .process = process,
			   .start = rk_trace_i64(b, RK_M_START, row),
			   .duration = rk_trace_i64(b, RK_M_DURATION, row) };
	int rc;

	if (thread)
		s.track = rk_tracks_child(&c->tracks, thread, process, RK_TRACK_MEMORY, RK_NONE);
	rc = place(c, &s, true, err);
	if (rc <= 0)
		return rc;
	open_slice(c, "{\"ph\":\"X\",\"cat\":\"memory_allocation\"",
		   rk_batch_id(b, RK_M_OPERATION, row), &s);
	put_arg(&c->text, "\"device\":", rk_trace_i64(b, RK_M_DEVICE, row));
	put_arg(&c->text, "\"bytes\":", rk_trace_i64(b, RK_M_BYTES, row));
	put_arg(&c->text, "\"correlation\":", rk_trace_i64(b, RK_M_CORRELATION, row));
	rk_bytes_puts(&c->text, "}}");
	return 0;
}

/*
 * The domain is the category; "_api" is appended if a reader would not recognize it as API calls.
 */
static int call(struct chrome *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	static const char *const known[] = { "_api", "_API", "_runtime", "_driver", "_API_EXT" };
	uint32_t process = process_of(c, b, RK_A_PID, RK_A_RANK, RK_A_NODE, row);
	int64_t tid = rk_trace_i64(b, RK_A_TID, row);
	struct slice s = { .process = process,
			   .track = thread_track(c, process, tid),
			   .start = rk_trace_i64(b, RK_A_START, row),
			   .duration = rk_trace_i64(b, RK_A_DURATION, row),
			   .correlation = rk_trace_i64(b, RK_A_CORRELATION, row) };
	const char *domain;
	bool is_known = false;
	size_t len;
	int rc;

	rc = place(c, &s, true, err);
	if (rc <= 0)
		return rc;
	domain = rk_strtab_borrow(c->ctx->names, rk_batch_id(b, RK_A_DOMAIN, row), &len);
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		is_known = is_known || rk_text_ends(domain, len, known[i]);
	rk_bytes_clear(&c->name);
	rk_bytes_put(&c->name, domain, len);
	if (!is_known)
		rk_bytes_puts(&c->name, "_api");
	begin_event(c, "{\"ph\":\"X\",\"cat\":");
	put_held(c);
	put_name(c, ",\"name\":", rk_batch_id(b, RK_A_FUNCTION, row));
	put_where(c, &s);
	put_duration(c, s.duration);
	put_arg(&c->text, "\"correlation\":", s.correlation);
	put_thread(c, &s, tid);
	rk_bytes_puts(&c->text, "}}");
	put_flow(c, &s, 's');
	return 0;
}

static int marker(struct chrome *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	uint32_t process = process_of(c, b, RK_R_PID, RK_R_RANK, RK_R_NODE, row);
	int64_t tid = rk_trace_i64(b, RK_R_TID, row);
	uint32_t thread = thread_track(c, process, tid);
	struct slice s = { .process = process,
			   .start = rk_trace_i64(b, RK_R_START, row),
			   .duration = rk_trace_i64(b, RK_R_DURATION, row) };
	int rc;

	if (thread)
		s.track = rk_tracks_child(&c->tracks, thread, process, RK_TRACK_MARKERS, RK_NONE);
	rc = place(c, &s, true, err);
	if (rc <= 0)
		return rc;
	open_slice(c, "{\"ph\":\"X\",\"cat\":\"user_annotation\"", rk_batch_id(b, RK_R_NAME, row),
		   &s);
	put_thread(c, &s, tid);
	rk_bytes_puts(&c->text, "}}");
	return 0;
}

static int sample(struct chrome *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	const struct rk_column *value = &b->cols[RK_S_VALUE];
	uint32_t unit = rk_batch_id(b, RK_S_UNIT, row), metric = rk_batch_id(b, RK_S_METRIC, row);
	int64_t time = rk_trace_i64(b, RK_S_TIME, row), device = rk_trace_i64(b, RK_S_DEVICE, row);
	int64_t p = rk_tracks_process(&c->tracks, RK_NONE, RK_NONE, rk_batch_id(b, RK_S_NODE, row));

	if (p < 0)
		return rk_fail_nomem(err);
	if (time == RK_NONE || !rk_column_has(value, row) ||
	    !isfinite(((const double *)value->data)[row])) {
		c->no_time += time == RK_NONE;
		return 0;
	}
	describe_process(c, (uint32_t)p);
	rk_bytes_clear(&c->name);
	rk_bytes_puts(&c->name, rk_strtab_borrow(c->ctx->names, metric, NULL));
	if (device != RK_NONE)
		rk_bytes_printf(&c->name, " of GPU %" PRId64, device);
	if (unit)
		rk_bytes_printf(&c->name, " (%s)", rk_strtab_borrow(c->ctx->names, unit, NULL));
	begin_event(c, "{\"ph\":\"C\",\"name\":");
	put_held(c);
	put_int(&c->text, ",\"pid\":", pid_of(c, (uint32_t)p));
	put_micro(&c->text, ",\"ts\":", time);
	rk_bytes_puts(&c->text, ",\"args\":{\"value\":");
	rk_put_number(&c->text, ((const double *)value->data)[row], "");
	rk_bytes_puts(&c->text, "}}");
	return 0;
}

/* ---- the writer ---- */

static int flush(struct chrome *c, size_t from, struct rk_error *err)
{
	int rc;

	if (c->text.bad || c->name.bad)
		return rk_fail_nomem(err);
	if (c->text.len < from)
		return 0;
	rc = rk_output_write(c->out, c->text.data, c->text.len, err);
	rk_bytes_clear(&c->text);
	return rc;
}

static void chrome_scope(struct rk_writer *base, const struct rk_trace_scope *scope)
{
	((struct chrome *)base)->tracks.scope = *scope;
}

static int chrome_batch(struct rk_writer *base, const struct rk_batch *b, struct rk_error *err)
{
	static int (*const rows[RK_NTABLES])(struct chrome *, const struct rk_batch *, size_t,
					     struct rk_error *) = {
		[RK_KERNELS] = kernel, [RK_MEMCPY] = copy,    [RK_MEMALLOC] = allocation,
		[RK_API] = call,       [RK_MARKERS] = marker, [RK_SAMPLES] = sample,
	};
	struct chrome *c = (struct chrome *)base;
	enum rk_table t = b->schema->table;
	int rc;

	if (t != c->table)
		rk_tracks_settle(&c->tracks);
	c->table = t;
	for (size_t i = 0; rows[t] && i < b->nrows; i++) {
		if ((rc = rows[t](c, b, i, err)) < 0 || (rc = flush(c, FLUSH_BYTES, err)) < 0)
			return rc;
	}
	return 0;
}

static int chrome_finish(struct rk_writer *base, struct rk_error *err)
{
	struct chrome *c = (struct chrome *)base;
	struct rk_diag *d = c->ctx->diag;

	if (d && c->no_time)
		rk_diag_add(d, "no-time", "", 0, c->no_time,
			    "a row has no time; it is not in the trace");
	if (d && c->tracks.shared)
		rk_diag_add(d, "track-limit", "", 0, c->tracks.shared,
			    "more than %d tracks; rows of further ones share a track",
			    RK_TRACKS_MAX);
	if (d && c->crowded)
		rk_diag_add(d, "lane-limit", "", 0, c->crowded,
			    "a slice overlaps %d others of its track; a viewer may not show it",
			    RK_LANES_MAX);
	rk_bytes_puts(&c->text, "\n]}\n");
	return flush(c, 0, err);
}

static void chrome_close(struct rk_writer *base)
{
	struct chrome *c = (struct chrome *)base;

	rk_tracks_release(&c->tracks);
	rk_bytes_release(&c->text);
	rk_bytes_release(&c->name);
	rk_free(c);
}

/* rk_writer_made() recognizes our files by these exact bytes: keep the order, add no blanks. */
static const char head[] = "{\"schemaVersion\":1,\"displayTimeUnit\":\"ns\",\"traceEvents\":[";

static int chrome_open(struct rk_output *out, const struct rk_schema *schema,
		       struct rk_context *ctx, struct rk_writer **ret, struct rk_error *err)
{
	struct chrome *c = rk_calloc(1, sizeof(*c));
	int rc;

	(void)schema;
	if (!c)
		return rk_fail_nomem(err);
	c->base.ops = &rk_writer_chrome;
	c->out = out;
	c->ctx = ctx;
	c->table = RK_NTABLES;
	rk_bytes_init(&c->text, BUFFER_MAX);
	rk_bytes_init(&c->name, BUFFER_MAX);
	rk_bytes_puts(&c->text, head);
	rc = rk_tracks_init(&c->tracks, ctx->names, err);
	if (rc == 0 && c->text.bad)
		rc = rk_fail_nomem(err);
	if (rc < 0) {
		chrome_close(&c->base);
		return rc;
	}
	*ret = &c->base;
	return 0;
}

const struct rk_writer_ops rk_writer_chrome = {
	.name = "chrome",
	.help = "Chrome trace events in JSON, all tables that have times",
	.suffix = ".json",
	.trace = true,
	.open = chrome_open,
	.scope = chrome_scope,
	.batch = chrome_batch,
	.finish = chrome_finish,
	.close = chrome_close,
	.mark = head,
	.mark_len = sizeof(head) - 1,
};
