/*
 * xplane.c - profiles of JAX and XLA (*.xplane.pb), AMD and NVIDIA.
 *
 * The file is one protobuf message XSpace: planes of lines of events. Only lines "Stream #N" of the
 * planes /device:GPU:N are kernels and copies; the other lines of a GPU ("XLA Ops", "Steps") repeat
 * their time. Calls of the GPU's runtime are events of the host planes that have a correlation id. The
 * XLA operation of a kernel is a marker of the kind gpu_range, as annotations of PyTorch are; steps
 * are markers too. Other events of the host are framework and Python functions, which have no table.
 *
 * Names of events and statistics come after the events of a plane, so the file is read once for them
 * and then once per table. Times are picoseconds from the time of the line, which counts from the
 * start of the profile. Start and end are each rounded to the nearest nanosecond.
 *
 * Warnings: "cut-trace", "damaged-trace", "huge-event", "unknown-name", "name-limit",
 * "time-out-of-range", "number-out-of-range", "other-device", "profiler-says" (a text in the file).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/protobuf.h"
#include "read/oddities.h"
#include "read/reader.h"

/* Memory limits. */
enum {
	MAX_MESSAGE = 1 << 20, /* an event or a name */
	MAX_PLANES = 1 << 14,
	MAX_LINES = 1 << 18,
	MAX_NAMES = 1 << 19,
};

/* Fields of the messages, numbered as in xplane.proto. */
enum { SPACE_PLANE = 1, SPACE_ERROR, SPACE_WARNING, SPACE_HOST };
enum { PLANE_NAME = 2, PLANE_LINE, PLANE_EVENT_NAME, PLANE_STAT_NAME, PLANE_STAT };
enum { LINE_ID = 1, LINE_NAME, LINE_TIME, LINE_EVENT };
enum { EVENT_NAME = 1, EVENT_OFFSET, EVENT_DURATION, EVENT_STAT };
enum { STAT_NAME = 1, STAT_DOUBLE, STAT_UINT, STAT_INT, STAT_TEXT, STAT_BYTES, STAT_REF };
enum { ENTRY_KEY = 1, ENTRY_VALUE }; /* of a map */
enum { METADATA_NAME = 2 };

/* Statistics that are used. */
enum role {
	CORRELATION,
	KERNEL_DETAILS,
	COPY_DETAILS,
	SET_DETAILS,
	HLO_OP,
	HLO_MODULE,
	STEP,
	VENDOR,
	CORES,
	CLOCK,
	MEMORY,
	NROLES
};
static const char *const role_names[NROLES] = {
	"correlation_id", "kernel_details", "memcpy_details", "memset_details",
	"hlo_op",         "hlo_module",     "step_num",       "device_vendor",
	"core_count",     "clock_rate",     "memory_size",
};

enum plane_kind { PLANE_OTHER, PLANE_GPU, PLANE_HOST };
struct plane {
	enum plane_kind kind;
	bool other_device; /* a device that is not a GPU */
	int64_t device;
	bool amd;
	int64_t cores, clock_khz, memory;
};
struct line {
	bool stream;
	int64_t id, time_ns;
	int64_t tid; /* of a host line */
};

struct xplane_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct plane *planes;
	struct line *lines; /* of all planes */
	size_t nplanes, cap_planes, nlines, cap_lines;
	struct rk_map names; /* (2 * plane, event) and (2 * plane + 1, statistic) -> id of the name */
	uint32_t roles[NROLES];
	int64_t node; /* RK_NONE: unknown, or several */
	struct rk_oddities odd;
};

/* Where a walk through the file is. */
struct walk {
	struct xplane_reader *r;
	struct rk_pb_stream file;
	uint64_t plane_end, line_end; /* offsets; 0: not inside one */
	size_t plane, line;           /* numbers of the current ones */
	size_t next_plane, next_line;
	bool stop; /* at the end, or at damage */
	void *arg; /* NULL in the first pass */
};

static void warn(struct xplane_reader *r, const char *kind, const char *message)
{
	rk_oddities_count(&r->odd, kind, 0, 1, "%s", message);
}

/* ---- fields of messages that are too long for memory ---- */

/* Both are reported by the first pass only, which sees all of the file. */
static int damaged(struct walk *w)
{
	w->stop = true;
	if (w->arg)
		return 0;
	rk_oddities_count(&w->r->odd, "damaged-trace", 0, 1,
			  "invalid field at byte %" PRIu64 "; everything before it is read",
			  w->file.offset);
	return 0;
}

static int cut(struct walk *w)
{
	w->stop = true;
	if (w->arg)
		return 0;
	if (w->file.damage.code)
		warn(w->r, "cut-trace", w->file.damage.message);
	else
		rk_oddities_count(&w->r->odd, "cut-trace", 0, 1,
				  "the file ends inside a message at byte %" PRIu64
				  "; everything before it is read",
				  w->file.offset);
	return 0;
}

/*
 * Reads the head of the next field of the message that ends at `end`. The bytes of a BYTES field
 * follow in the file; f->data is NULL. Returns 1, or 0 at the end of the file or at damage.
 */
static int next_field(struct walk *w, uint64_t end, struct rk_pb_field *f, struct rk_error *err)
{
	struct rk_pb_stream *file = &w->file;
	struct rk_cursor c;
	uint64_t tag, used;
	size_t left;
	int rc = rk_pb_stream_gather(file, 20, err); /* at most two varints; fewer at the end */

	if (rc < 0)
		return rc;
	left = file->to - file->from;
	if (!left && !w->plane_end && !file->damage.code) {
		w->stop = true;
		return 0;
	}
	if (left > end - file->offset)
		left = (size_t)(end - file->offset);
	c = rk_cursor_over(file->buf + file->from, left);
	tag = rk_cursor_varint(&c);
	*f = (struct rk_pb_field){ .number = (uint32_t)(tag >> 3),
				   .wire = (enum rk_pb_wire)(tag & 7) };
	switch (f->wire) {
	case RK_PB_VARINT:
		f->value = rk_cursor_varint(&c);
		break;
	case RK_PB_FIXED64:
		f->value = rk_cursor_u64le(&c);
		break;
	case RK_PB_FIXED32:
		f->value = rk_cursor_u32le(&c);
		break;
	case RK_PB_BYTES:
		f->value = rk_cursor_varint(&c);
		break;
	default:
		return damaged(w);
	}
	if (c.bad && rc == 0 && left == file->to - file->from)
		return cut(w);
	used = (uint64_t)(c.pos - (file->buf + file->from));
	if (c.bad || !f->number || (f->wire == RK_PB_BYTES && f->value > end - file->offset - used))
		return damaged(w);
	f->len = f->wire == RK_PB_BYTES ? (size_t)f->value : 0;
	rk_pb_stream_skip(file, used, err);
	return 1;
}

static int skip(struct walk *w, uint64_t n, struct rk_error *err)
{
	int rc = rk_pb_stream_skip(&w->file, n, err);

	return rc == 0 ? cut(w) : rc;
}

/*
 * The message of a field as a whole: its bytes are skipped, but valid until the next read. Returns 1;
 * 0 if there is none.
 */
static int take_message(struct walk *w, const struct rk_pb_field *f, struct rk_cursor *ret,
			struct rk_error *err)
{
	int rc;

	if (f->wire != RK_PB_BYTES)
		return 0;
	if (f->len > MAX_MESSAGE) {
		warn(w->r, "huge-event", "an event or a name is larger than 1 MiB; skipped");
		rc = skip(w, f->len, err);
		return rc < 0 ? rc : 0;
	}
	rc = rk_pb_stream_gather(&w->file, f->len, err);
	if (rc <= 0)
		return rc < 0 ? rc : cut(w);
	*ret = rk_cursor_over(w->file.buf + w->file.from, f->len);
	rk_pb_stream_skip(&w->file, f->len, err);
	return 1;
}

/* ---- the first pass: planes, lines and names ---- */

static const char *name_of(const struct xplane_reader *r, size_t plane, bool stat, uint64_t id,
			   size_t *len)
{
	int64_t name = rk_map_get(&r->names, plane * 2 + stat, id);

	*len = 0;
	return name < 0 ? NULL : rk_strtab_borrow(r->ctx->names, (uint32_t)name, len);
}

/* An entry of the map of names of a plane. */
static int take_name(struct walk *w, struct rk_cursor c, bool stat, struct rk_error *err)
{
	struct xplane_reader *r = w->r;
	struct rk_cursor m;
	struct rk_pb_field f, g, name = { 0 };
	uint64_t key = 0;
	uint32_t id;
	int rc;

	while (rk_pb_next(&c, &f)) {
		if (f.number == ENTRY_KEY)
			key = f.value;
		if (f.number != ENTRY_VALUE)
			continue;
		for (m = rk_pb_message(&f); rk_pb_next(&m, &g);)
			if (g.number == METADATA_NAME && g.wire == RK_PB_BYTES)
				name = g;
	}
	/* Python's functions: many, and not used */
	if (r->planes[w->plane].kind == PLANE_HOST && !stat && name.len && *name.data == '$')
		return 0;
	if (r->names.n >= MAX_NAMES) {
		warn(r, "name-limit", "too many names; the rest is skipped");
		return 0;
	}
	rc = rk_strtab_add(r->ctx->names, name.data ? (const char *)name.data : "", name.len, &id,
			   err);
	if (rc < 0)
		return rc;
	return rk_map_put(&r->names, w->plane * 2 + stat, key, id) ? 0 : rk_fail_nomem(err);
}

/* A statistic: its name and its value. */
struct stat {
	int role; /* -1: not used */
	int64_t number;
	const char *text; /* NULL: it is a number */
	size_t len;
};

static struct stat read_stat(const struct xplane_reader *r, size_t plane, struct rk_cursor c)
{
	struct stat s = { .role = -1, .number = RK_NONE };
	struct rk_pb_field f;
	int64_t name = -1;

	while (rk_pb_next(&c, &f)) {
		switch (f.number) {
		case STAT_NAME:
			name = rk_map_get(&r->names, plane * 2 + 1, f.value);
			break;
		case STAT_UINT:
		case STAT_INT:
			s.number = f.value <= INT64_MAX ? (int64_t)f.value : RK_NONE;
			break;
		case STAT_TEXT:
			s.text = (const char *)f.data;
			s.len = f.len;
			break;
		case STAT_REF:
			s.text = name_of(r, plane, true, f.value, &s.len);
			break;
		default:
			break;
		}
	}
	for (int i = 0; name >= 0 && i < NROLES; i++)
		if (r->roles[i] == (uint32_t)name)
			s.role = i;
	return s;
}

static void take_plane_name(struct plane *p, struct rk_cursor c)
{
	static const char gpu[] = "/device:GPU:", host[] = "/host:";
	const char *name = (const char *)c.pos;
	size_t len = rk_cursor_left(&c);

	if (rk_text_iprefix(name, len, gpu) &&
	    rk_num_i64(name + sizeof(gpu) - 1, len - sizeof(gpu) + 1, &p->device) == RK_NUM_OK)
		p->kind = PLANE_GPU;
	else if (rk_text_iprefix(name, len, host))
		p->kind = PLANE_HOST;
	p->other_device = p->kind == PLANE_OTHER && rk_text_iprefix(name, len, "/device:");
}

static void take_plane_stat(const struct walk *w, struct rk_cursor c)
{
	struct plane *p = &w->r->planes[w->plane];
	struct stat s = read_stat(w->r, w->plane, c);

	if (s.role == VENDOR && s.text)
		p->amd = rk_text_iprefix(s.text, s.len, "AMD");
	else if (s.role == CORES)
		p->cores = s.number;
	else if (s.role == CLOCK)
		p->clock_khz = s.number;
	else if (s.role == MEMORY)
		p->memory = s.number;
}

/* "Stream #17(Kernel)", "Host Threads/583", "python3". */
static void take_line_name(struct line *line, struct rk_cursor c)
{
	const char *name = (const char *)c.pos, *slash;
	size_t len = rk_cursor_left(&c);

	line->stream = rk_text_iprefix(name, len, "Stream #");
	slash = len ? memrchr(name, '/', len) : NULL;
	if (slash)
		rk_num_i64(slash + 1, (size_t)(name + len - slash - 1), &line->tid);
}

static int index_field(struct walk *w, const struct rk_pb_field *f, struct rk_error *err)
{
	struct xplane_reader *r = w->r;
	struct plane *p = &r->planes[w->plane];
	struct rk_cursor c;
	int rc;

	if (w->line_end) {
		struct line *line = &r->lines[w->line];

		if (f->number == LINE_ID)
			line->id = (int64_t)f->value;
		if (f->number == LINE_TIME)
			line->time_ns = (int64_t)f->value;
		if (f->number != LINE_NAME)
			return skip(w, f->len, err);
		rc = take_message(w, f, &c, err);
		if (rc > 0)
			take_line_name(line, c);
		return rc;
	}
	/* a name's value may hold a whole program; other planes' names are not used */
	if (f->number != PLANE_NAME && (p->kind == PLANE_OTHER || f->number < PLANE_EVENT_NAME ||
					f->number > PLANE_STAT || f->len > MAX_MESSAGE))
		return skip(w, f->len, err);
	rc = take_message(w, f, &c, err);
	if (rc <= 0)
		return rc;
	if (f->number == PLANE_NAME)
		take_plane_name(p, c);
	else if (f->number == PLANE_STAT)
		take_plane_stat(w, c);
	else
		return take_name(w, c, f->number == PLANE_STAT_NAME, err);
	return 0;
}

static int add_plane(struct xplane_reader *r, struct rk_error *err)
{
	struct plane *grown = rk_grow(r->planes, &r->cap_planes, r->nplanes + 1, sizeof(*grown));

	if (!grown)
		return rk_fail_nomem(err);
	r->planes = grown;
	r->planes[r->nplanes++] =
		(struct plane){ .cores = RK_NONE, .clock_khz = RK_NONE, .memory = RK_NONE };
	return 0;
}

static int add_line(struct xplane_reader *r, struct rk_error *err)
{
	struct line *grown = rk_grow(r->lines, &r->cap_lines, r->nlines + 1, sizeof(*grown));

	if (!grown)
		return rk_fail_nomem(err);
	r->lines = grown;
	r->lines[r->nlines++] = (struct line){ .tid = RK_NONE };
	if (r->planes[r->nplanes - 1].other_device)
		warn(r, "other-device", "lines of a device that is not a GPU; skipped");
	return 0;
}

static int take_host(struct walk *w, const struct rk_pb_field *f, struct rk_error *err)
{
	struct xplane_reader *r = w->r;
	struct rk_cursor c;
	uint32_t id;
	int rc = take_message(w, f, &c, err);

	if (rc <= 0 || !rk_cursor_left(&c))
		return rc;
	rc = rk_strtab_add(r->ctx->names, (const char *)c.pos, rk_cursor_left(&c), &id, err);
	if (rc >= 0)
		r->node = id;
	return rc;
}

/* Such as lost events. */
static int take_complaint(struct walk *w, const struct rk_pb_field *f, struct rk_error *err)
{
	struct rk_cursor c;
	int rc = take_message(w, f, &c, err);

	if (rc > 0)
		rk_oddities_count(&w->r->odd, "profiler-says", 0, 1, "JAX's profiler says: %.*s",
				  (int)rk_min(rk_cursor_left(&c), 120), (const char *)c.pos);
	return rc;
}

/*
 * ---- one step through the file: the next field, whatever message it is in ----
 *
 * Enters planes and lines, and passes their other fields to `use`, which has to read or skip the
 * field's bytes.
 */
typedef int use_fn(struct walk *w, const struct rk_pb_field *f, struct rk_error *err);

static int step(struct walk *w, bool index, use_fn *use, struct rk_error *err)
{
	struct xplane_reader *r = w->r;
	struct rk_pb_field f;
	uint64_t end = UINT64_MAX;
	int rc;

	if (w->line_end && w->file.offset >= w->line_end)
		w->line_end = 0;
	if (w->plane_end && w->file.offset >= w->plane_end)
		w->plane_end = w->line_end = 0;
	if (w->plane_end)
		end = w->line_end ? w->line_end : w->plane_end;
	rc = next_field(w, end, &f, err);
	if (rc <= 0)
		return rc;
	if (w->line_end || (w->plane_end && f.number != PLANE_LINE))
		return use(w, &f, err);
	if (w->plane_end && f.wire == RK_PB_BYTES) {
		w->line = w->next_line++;
		if (w->line == MAX_LINES)
			warn(r, "name-limit", "too many lines; the rest is skipped");
		/* a file that grows has lines and planes that the first pass did not see */
		if (w->line >= MAX_LINES || (!index && w->line >= r->nlines))
			return skip(w, f.len, err);
		w->line_end = w->file.offset + f.len;
		return index ? add_line(r, err) : 0;
	}
	if (!w->plane_end && f.number == SPACE_PLANE && f.wire == RK_PB_BYTES && f.len) {
		w->plane = w->next_plane++;
		if (w->plane == MAX_PLANES)
			warn(r, "name-limit", "too many planes; the rest is skipped");
		if (w->plane >= MAX_PLANES || (!index && w->plane >= r->nplanes))
			return skip(w, f.len, err);
		w->plane_end = w->file.offset + f.len;
		return index ? add_plane(r, err) : 0;
	}
	if (!w->plane_end && f.number == SPACE_HOST && index)
		return take_host(w, &f, err);
	if (!w->plane_end && (f.number == SPACE_ERROR || f.number == SPACE_WARNING) && index)
		return take_complaint(w, &f, err);
	return skip(w, f.len, err);
}

/* ---- events as rows ---- */

struct event {
	int64_t name; /* id; -1: unknown */
	const char *text;
	int64_t start, duration;   /* RK_NONE: unknown */
	struct stat stats[NROLES]; /* role -1: absent */
};

struct xplane_source {
	struct rk_source base;
	struct walk walk;
	struct rk_builder b;
	enum rk_table table;
	uint64_t want, range;
	size_t next_plane; /* of the agents */
	uint32_t source_id, clock_id, gpu_range_id, range_id;
	struct rk_error error;
};

static void put(struct xplane_source *s, unsigned field, int64_t v)
{
	int rc = 0;

	if (s->want >> field & 1)
		rc = rk_builder_put(&s->b, field, v);
	if (rc < 0)
		rk_fail_nomem(&s->error);
	s->range += rc > 0;
}

static void put_text(struct xplane_source *s, unsigned field, const char *text, size_t len)
{
	uint32_t id = 0;

	if (!(s->want >> field & 1))
		return;
	if (rk_strtab_add(s->walk.r->ctx->names, text, len, &id, &s->error) >= 0)
		put(s, field, id);
}

static void put_word(struct xplane_source *s, unsigned field, const char *word)
{
	put_text(s, field, word, strlen(word));
}

/* To the nearest nanosecond. */
static int64_t ns_of(int64_t ps)
{
	int64_t ns = ps / 1000, rest = ps % 1000;

	if (rest < 0) {
		rest += 1000;
		ns--;
	}
	return ns + (rest >= 500);
}

static void read_times(struct xplane_source *s, int64_t line_ns, int64_t offset_ps,
		       int64_t duration_ps, struct event *e)
{
	int64_t end;

	e->start = e->duration = RK_NONE;
	if (__builtin_add_overflow(line_ns, ns_of(offset_ps), &e->start) ||
	    __builtin_add_overflow(offset_ps, duration_ps, &end) ||
	    __builtin_add_overflow(line_ns, ns_of(end), &end) || e->start == RK_NONE ||
	    !rk_sub_i64(end, e->start, &e->duration)) {
		warn(s->walk.r, "time-out-of-range", "a time does not fit 64 bits; left empty");
		e->start = e->duration = RK_NONE;
	}
}

static void read_event(struct xplane_source *s, struct rk_cursor c, struct event *e)
{
	const struct walk *w = &s->walk;
	int64_t offset = 0, duration = 0;
	struct rk_pb_field f;

	*e = (struct event){ .name = -1, .text = "" };
	for (unsigned i = 0; i < NROLES; i++)
		e->stats[i] = (struct stat){ .role = -1, .number = RK_NONE };
	while (rk_pb_next(&c, &f)) {
		struct stat stat;

		if (f.number == EVENT_NAME)
			e->name = rk_map_get(&w->r->names, w->plane * 2, f.value);
		else if (f.number == EVENT_OFFSET)
			offset = (int64_t)f.value;
		else if (f.number == EVENT_DURATION)
			duration = (int64_t)f.value;
		if (f.number != EVENT_STAT)
			continue;
		stat = read_stat(w->r, w->plane, rk_pb_message(&f));
		if (stat.role >= 0)
			e->stats[stat.role] = stat;
	}
	if (c.bad)
		warn(w->r, "damaged-trace",
		     "an event is damaged; only the fields before that are read");
	if (e->name >= 0)
		e->text = rk_strtab_borrow(w->r->ctx->names, (uint32_t)e->name, NULL);
	read_times(s, w->r->lines[w->line].time_ns, offset, duration, e);
}

/* Up to three numbers after `key` in " grid:16,1,1 block:512,1,1 group_mem:0". */
static unsigned take_numbers(const struct stat *s, const char *key, int64_t v[3])
{
	const char *p, *end, *from;
	unsigned n = 0;

	if (s->role < 0 || !s->text)
		return 0;
	p = memmem(s->text, s->len, key, strlen(key));
	if (!p)
		return 0;
	end = s->text + s->len;
	for (p += strlen(key); n < 3; p++) {
		for (from = p; p < end && *p >= '0' && *p <= '9'; p++)
			;
		if (rk_num_i64(from, (size_t)(p - from), &v[n]) != RK_NUM_OK)
			break;
		n++;
		if (p == end || *p != ',')
			break;
	}
	return n;
}

static int64_t number_in(const struct stat *s, const char *key)
{
	int64_t v[3];

	return take_numbers(s, key, v) ? v[0] : RK_NONE;
}

static void put_kernel(struct xplane_source *s, const struct event *e, const struct plane *p)
{
	const struct stat *details = &e->stats[KERNEL_DETAILS];
	int64_t grid[3], block[3], fixed, dynamic, shared = number_in(details, "group_mem:");
	bool grids = take_numbers(details, "grid:", grid) == 3;
	bool blocks = take_numbers(details, "block:", block) == 3;

	for (unsigned i = 0; i < 3; i++) { /* the grid is in blocks */
		int64_t items = RK_NONE;

		put(s, RK_K_GRID_X + i, grids ? grid[i] : RK_NONE);
		put(s, RK_K_BLOCK_X + i, blocks ? block[i] : RK_NONE);
		if (grids && blocks && __builtin_mul_overflow(grid[i], block[i], &items))
			items = INT64_MAX;
		put(s, RK_K_ITEMS_X + i, items);
	}
	/* the older collector of AMD wrote bytes of an address into these */
	fixed = number_in(details, "static_shared:");
	dynamic = number_in(details, "dynamic_shared:");
	if (shared == RK_NONE && !p->amd && fixed != RK_NONE && dynamic != RK_NONE)
		shared = rk_add_saturated(fixed, dynamic);
	put(s, RK_K_REGS, p->amd ? RK_NONE : number_in(details, "regs:"));
	put(s, RK_K_SHARED_MEM, shared);
	put(s, RK_K_SCRATCH, number_in(details, "private_mem:"));
	put(s, RK_K_DEVICE, p->device);
	put(s, RK_K_SOURCE, s->source_id);
	put(s, RK_K_CLOCK, s->clock_id);
}

static void put_copy(struct xplane_source *s, const struct event *e, const struct plane *p)
{
	static const char *const words[][2] = { { "MemcpyH2D", "MEMORY_COPY_HOST_TO_DEVICE" },
						{ "MemcpyD2H", "MEMORY_COPY_DEVICE_TO_HOST" },
						{ "MemcpyD2D", "MEMORY_COPY_DEVICE_TO_DEVICE" },
						{ "MemcpyP2P", "MEMORY_COPY_PEER_TO_PEER" } };
	const char *direction = rk_copy_direction(e->text);
	int64_t bytes = number_in(&e->stats[COPY_DETAILS], "size:");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(e->text, words[i][0]))
			direction = words[i][1];
	if (bytes == RK_NONE)
		bytes = number_in(&e->stats[SET_DETAILS], "size:");
	put_word(s, RK_C_DIRECTION, direction);
	put(s, RK_C_BYTES, bytes);
	put(s, RK_C_SRC, strstr(direction, "_DEVICE_TO_") ? p->device : RK_NONE);
	put(s, RK_C_DST,
	    strstr(direction, "_TO_DEVICE") || e->stats[SET_DETAILS].role >= 0 ? p->device :
										 RK_NONE);
}

static bool is_copy(const struct event *e)
{
	if (e->stats[COPY_DETAILS].role >= 0 || e->stats[SET_DETAILS].role >= 0)
		return true;
	return e->stats[KERNEL_DETAILS].role < 0 && rk_is_copy_word(e->text);
}

/* "jit_step/fusion.3": the operation and its program. */
static void put_operation(struct xplane_source *s, const struct event *e)
{
	const struct stat *op = &e->stats[HLO_OP], *module = &e->stats[HLO_MODULE];
	char text[512];
	int n;

	if (module->role < 0 || !module->text) {
		put_text(s, RK_R_NAME, op->text, op->len);
		return;
	}
	n = snprintf(text, sizeof(text), "%.*s/%.*s", (int)rk_min(module->len, 200), module->text,
		     (int)rk_min(op->len, 300), op->text);
	put_text(s, RK_R_NAME, text, (size_t)n);
}

/* Fields that the tables have in common. */
static const struct {
	uint8_t start, duration, stream, correlation, node;
} common[] = {
	[RK_KERNELS] = { RK_K_START, RK_K_DURATION, RK_K_STREAM, RK_K_CORRELATION, RK_K_NODE },
	[RK_MEMCPY] = { RK_C_START, RK_C_DURATION, RK_C_STREAM, RK_C_CORRELATION, RK_C_NODE },
	[RK_API] = { RK_A_START, RK_A_DURATION, 0, RK_A_CORRELATION, RK_A_NODE },
	[RK_MARKERS] = { RK_R_START, RK_R_DURATION, 0, 0, RK_R_NODE },
};

/* Adds the event's row to the table, if it belongs there. */
static void add_row(struct xplane_source *s, const struct event *e)
{
	const struct walk *w = &s->walk;
	const struct plane *p = &w->r->planes[w->plane];
	const struct line *line = &w->r->lines[w->line];
	bool gpu = p->kind == PLANE_GPU;

	if (s->table == RK_KERNELS) {
		if (!gpu || is_copy(e))
			return;
		if (e->name < 0)
			warn(w->r, "unknown-name", "an event has no name");
		put(s, RK_K_NAME, e->name < 0 ? RK_NONE : e->name);
		put_kernel(s, e, p);
	} else if (s->table == RK_MEMCPY) {
		if (!gpu || !is_copy(e))
			return;
		put_copy(s, e, p);
	} else if (s->table == RK_API) {
		const char *domain = rk_runtime_domain(e->text);

		if (gpu || e->stats[CORRELATION].role < 0 || !domain)
			return;
		put(s, RK_A_FUNCTION, e->name);
		put_word(s, RK_A_DOMAIN, domain);
		put(s, RK_A_TID, line->tid);
	} else if (gpu) {
		if (e->stats[HLO_OP].role < 0 || !e->stats[HLO_OP].text || is_copy(e))
			return;
		put_operation(s, e);
		put(s, RK_R_KIND, s->gpu_range_id);
		put(s, RK_R_TID, RK_NONE);
	} else {
		if (e->stats[STEP].role < 0)
			return;
		put(s, RK_R_NAME, e->name < 0 ? RK_NONE : e->name);
		put(s, RK_R_KIND, s->range_id);
		put(s, RK_R_TID, line->tid);
	}
	put(s, common[s->table].start, e->start);
	put(s, common[s->table].duration, e->duration);
	if (common[s->table].stream)
		put(s, common[s->table].stream, line->id);
	if (common[s->table].correlation)
		put(s, common[s->table].correlation, e->stats[CORRELATION].number);
	put(s, common[s->table].node, w->r->node);
	s->b.nrows++;
}

/* May the current line have rows of the table? */
static bool has_rows(const struct xplane_source *s)
{
	const struct walk *w = &s->walk;
	enum plane_kind kind = w->r->planes[w->plane].kind;

	if (kind == PLANE_GPU)
		return w->r->lines[w->line].stream && s->table != RK_API;
	return kind == PLANE_HOST && (s->table == RK_API || s->table == RK_MARKERS);
}

static int use_event(struct walk *w, const struct rk_pb_field *f, struct rk_error *err)
{
	struct xplane_source *s = w->arg;
	struct rk_cursor c;
	struct event e;
	int rc;

	if (w->line_end && !has_rows(s))
		return skip(w, w->line_end - w->file.offset, err);
	if (!w->line_end || f->number != LINE_EVENT)
		return skip(w, f->len, err);
	rc = take_message(w, f, &c, err);
	if (rc <= 0)
		return rc;
	read_event(s, c, &e);
	add_row(s, &e);
	if (s->error.code && err && !err->code)
		*err = s->error;
	return s->error.code;
}

static void add_agents(struct xplane_source *s)
{
	const struct xplane_reader *r = s->walk.r;

	for (; s->next_plane < r->nplanes && s->b.nrows < s->b.cap; s->next_plane++) {
		const struct plane *p = &r->planes[s->next_plane];

		if (p->kind != PLANE_GPU)
			continue;
		put(s, RK_G_DEVICE, p->device);
		put_word(s, RK_G_TYPE, "GPU");
		put(s, RK_G_CU_COUNT, p->cores);
		put(s, RK_G_MAX_SCLK, p->clock_khz == RK_NONE ? RK_NONE : p->clock_khz / 1000);
		put(s, RK_G_MEMORY, p->memory);
		put(s, RK_G_NODE, r->node);
		s->b.nrows++;
	}
}

static int xplane_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct xplane_source *s = (struct xplane_source *)base;
	struct xplane_reader *r = s->walk.r;
	int rc = rk_reader_progress(r->in, r->ctx, err);

	if (rc < 0)
		return rc;
	rk_builder_reset(&s->b);
	if (s->table == RK_AGENTS)
		add_agents(s);
	else
		while (!s->walk.stop && s->b.nrows < s->b.cap)
			if ((rc = step(&s->walk, false, use_event, err)) < 0)
				return rc;
	if (s->error.code) {
		if (err && !err->code)
			*err = s->error;
		return s->error.code;
	}
	if (s->range)
		rk_oddities_count(&r->odd, "number-out-of-range", 0, s->range,
				  "a number does not fit its column; left empty");
	s->range = 0;
	*batch = rk_builder_batch(&s->b);
	if (!s->b.nrows)
		rk_oddities_tell(&r->odd, r->ctx->diag, rk_instream_path(r->in));
	return s->b.nrows > 0;
}

static void xplane_source_close(struct rk_source *base)
{
	struct xplane_source *s = (struct xplane_source *)base;
	struct xplane_reader *r = s->walk.r;

	rk_oddities_tell(&r->odd, r->ctx->diag, rk_instream_path(r->in));
	rk_pb_stream_release(&s->walk.file);
	rk_builder_release(&s->b);
	rk_free(s);
}

static int xplane_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
		       struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { xplane_next, xplane_source_close };
	struct xplane_reader *r = (struct xplane_reader *)base;
	struct rk_strtab *names = r->ctx->names;
	struct xplane_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->walk = (struct walk){ .r = r, .file = { .in = r->in }, .arg = s };
	s->table = t;
	s->want = want;
	if ((rc = rk_strtab_adds(names, "xplane", &s->source_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "unknown", &s->clock_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "gpu_range", &s->gpu_range_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "range", &s->range_id, err)) < 0 ||
	    (rc = rk_builder_init(&s->b, s->base.schema, RK_BATCH_ROWS, err)) < 0 ||
	    (rc = rk_instream_rewind(r->in, err)) < 0) {
		xplane_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

/* ---- reader ---- */

/* The first plane, which may be longer than the head, begins with its id and its name. */
static int xplane_probe(const struct rk_head *head)
{
	static const char *const names[] = { "/host:", "/device:", "Task Environment", "#Chip" };
	struct rk_cursor c = rk_cursor_over(head->data, head->len);
	uint64_t tag, len;
	const char *name;

	if (rk_cursor_varint(&c) != (SPACE_PLANE << 3 | RK_PB_BYTES))
		return 0;
	len = rk_cursor_varint(&c);
	if (c.bad || (head->whole && len > rk_cursor_left(&c)))
		return 0;
	tag = rk_cursor_varint(&c);
	if (tag == (1 << 3 | RK_PB_VARINT)) {
		rk_cursor_varint(&c);
		tag = rk_cursor_varint(&c);
	}
	len = rk_cursor_varint(&c);
	if (tag != (PLANE_NAME << 3 | RK_PB_BYTES) || len > rk_cursor_left(&c))
		return 0;
	name = (const char *)rk_cursor_take(&c, (size_t)len);
	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (rk_text_iprefix(name, (size_t)len, names[i]))
			return 95;
	return 0;
}

static void free_reader(struct xplane_reader *r)
{
	rk_free(r->planes);
	rk_free(r->lines);
	rk_map_release(&r->names);
	rk_free(r);
}

static int xplane_open(const struct rk_reader_ops *ops, struct rk_instream *in,
		       struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	struct xplane_reader *r = rk_calloc(1, sizeof(*r));
	struct walk w = { .r = r, .file = { .in = in } };
	int rc = 0;

	if (!r)
		return rk_fail_nomem(err);
	*r = (struct xplane_reader){
		.base = { .ops = ops,
			  .tables = RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_MEMCPY) |
				    RK_TABLE_BIT(RK_API) | RK_TABLE_BIT(RK_MARKERS) |
				    RK_TABLE_BIT(RK_AGENTS) },
		.in = in,
		.ctx = ctx,
		.node = RK_NONE
	};
	for (unsigned i = 0; rc >= 0 && i < NROLES; i++)
		rc = rk_strtab_adds(ctx->names, role_names[i], &r->roles[i], err);
	if (rc >= 0)
		rc = rk_instream_keep(in, ctx->tmpdir, err);
	while (rc >= 0 && !w.stop)
		rc = step(&w, true, index_field, err);
	rk_pb_stream_release(&w.file);
	if (rc < 0) {
		free_reader(r);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

static void xplane_close(struct rk_reader *base)
{
	struct xplane_reader *r = (struct xplane_reader *)base;

	rk_instream_close(r->in);
	free_reader(r);
}

const struct rk_reader_ops rk_reader_xplane = {
	.name = "xplane",
	.help = "profiles of JAX and XLA (.xplane.pb)",
	.probe = xplane_probe,
	.open = xplane_open,
	.scan = xplane_scan,
	.close = xplane_close,
	.serial = true,
};
