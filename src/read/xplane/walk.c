/* walk.c - walk through a profile of JAX: its fields, and the first pass for planes, lines, names. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "read/xplane/xplane.h"

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
enum { LINE_ID = 1, LINE_NAME, LINE_TIME };
enum { STAT_NAME = 1, STAT_DOUBLE, STAT_UINT, STAT_INT, STAT_TEXT, STAT_BYTES, STAT_REF };
enum { ENTRY_KEY = 1, ENTRY_VALUE }; /* of a map */
enum { METADATA_NAME = 2 };

static const char *const role_names[XP_NROLES] = {
	"correlation_id", "kernel_details", "memcpy_details", "memset_details",
	"hlo_op",         "hlo_module",     "step_num",       "device_vendor",
	"core_count",     "clock_rate",     "memory_size",
};

void rk_xp_warn(struct xp_reader *r, const char *kind, const char *message)
{
	rk_oddities_count(&r->odd, kind, 0, 1, "%s", message);
}

/* ---- fields ---- */

/* Both are reported by the first pass only, which sees all of the file. */
static int damaged(struct xp_walk *w)
{
	w->stop = true;
	if (w->arg)
		return 0;
	rk_oddities_count(&w->r->odd, "damaged-trace", 0, 1,
			  "invalid field at byte %" PRIu64 "; everything before it is read",
			  w->file.offset);
	return 0;
}

static int cut(struct xp_walk *w)
{
	w->stop = true;
	if (w->arg)
		return 0;
	if (w->file.damage.code)
		rk_xp_warn(w->r, "cut-trace", w->file.damage.message);
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
static int next_field(struct xp_walk *w, uint64_t end, struct rk_pb_field *f, struct rk_error *err)
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

int rk_xp_skip(struct xp_walk *w, uint64_t n, struct rk_error *err)
{
	int rc = rk_pb_stream_skip(&w->file, n, err);

	return rc == 0 ? cut(w) : rc;
}

int rk_xp_message(struct xp_walk *w, const struct rk_pb_field *f, struct rk_cursor *ret,
		  struct rk_error *err)
{
	int rc;

	if (f->wire != RK_PB_BYTES)
		return 0;
	if (f->len > MAX_MESSAGE) {
		rk_xp_warn(w->r, "huge-event", "an event or a name is larger than 1 MiB; skipped");
		rc = rk_xp_skip(w, f->len, err);
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

static const char *name_of(const struct xp_reader *r, size_t plane, bool stat, uint64_t id,
			   size_t *len)
{
	int64_t name = rk_map_get(&r->names, plane * 2 + stat, id);

	*len = 0;
	return name < 0 ? NULL : rk_strtab_borrow(r->ctx->names, (uint32_t)name, len);
}

/* An entry of the map of names of a plane. */
static int take_name(struct xp_walk *w, struct rk_cursor c, bool stat, struct rk_error *err)
{
	struct xp_reader *r = w->r;
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
	if (r->planes[w->plane].kind == XP_PLANE_HOST && !stat && name.len && *name.data == '$')
		return 0;
	if (r->names.n >= MAX_NAMES) {
		rk_xp_warn(r, "name-limit", "too many names; the rest is skipped");
		return 0;
	}
	rc = rk_strtab_add(r->ctx->names, name.data ? (const char *)name.data : "", name.len, &id,
			   err);
	if (rc < 0)
		return rc;
	return rk_map_put(&r->names, w->plane * 2 + stat, key, id) ? 0 : rk_fail_nomem(err);
}

struct xp_stat rk_xp_stat(const struct xp_reader *r, size_t plane, struct rk_cursor c)
{
	struct xp_stat s = { .role = -1, .number = RK_NONE };
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
	for (int i = 0; name >= 0 && i < XP_NROLES; i++)
		if (r->roles[i] == (uint32_t)name)
			s.role = i;
	return s;
}

static void take_plane_name(struct xp_plane *p, struct rk_cursor c)
{
	static const char gpu[] = "/device:GPU:", host[] = "/host:";
	const char *name = (const char *)c.pos;
	size_t len = rk_cursor_left(&c);

	if (rk_text_iprefix(name, len, gpu) &&
	    rk_num_i64(name + sizeof(gpu) - 1, len - sizeof(gpu) + 1, &p->device) == RK_NUM_OK)
		p->kind = XP_PLANE_GPU;
	else if (rk_text_iprefix(name, len, host))
		p->kind = XP_PLANE_HOST;
	p->other_device = p->kind == XP_PLANE_OTHER && rk_text_iprefix(name, len, "/device:");
}

static void take_plane_stat(const struct xp_walk *w, struct rk_cursor c)
{
	struct xp_plane *p = &w->r->planes[w->plane];
	struct xp_stat s = rk_xp_stat(w->r, w->plane, c);

	if (s.role == XP_VENDOR && s.text)
		p->amd = rk_text_iprefix(s.text, s.len, "AMD");
	else if (s.role == XP_CORES)
		p->cores = s.number;
	else if (s.role == XP_CLOCK)
		p->clock_khz = s.number;
	else if (s.role == XP_MEMORY)
		p->memory = s.number;
}

/* "Stream #17(Kernel)", "Host Threads/583", "python3". */
static void take_line_name(struct xp_line *line, struct rk_cursor c)
{
	const char *name = (const char *)c.pos, *slash;
	size_t len = rk_cursor_left(&c);

	line->stream = rk_text_iprefix(name, len, "Stream #");
	slash = len ? memrchr(name, '/', len) : NULL;
	if (slash)
		rk_num_i64(slash + 1, (size_t)(name + len - slash - 1), &line->tid);
}

static int index_field(struct xp_walk *w, const struct rk_pb_field *f, struct rk_error *err)
{
	struct xp_reader *r = w->r;
	struct xp_plane *p = &r->planes[w->plane];
	struct rk_cursor c;
	int rc;

	if (w->line_end) {
		struct xp_line *line = &r->lines[w->line];

		if (f->number == LINE_ID)
			line->id = (int64_t)f->value;
		if (f->number == LINE_TIME)
			line->time_ns = (int64_t)f->value;
		if (f->number != LINE_NAME)
			return rk_xp_skip(w, f->len, err);
		rc = rk_xp_message(w, f, &c, err);
		if (rc > 0)
			take_line_name(line, c);
		return rc;
	}
	/* a name's value may hold a whole program; other planes' names are not used */
	if (f->number != PLANE_NAME && (p->kind == XP_PLANE_OTHER || f->number < PLANE_EVENT_NAME ||
					f->number > PLANE_STAT || f->len > MAX_MESSAGE))
		return rk_xp_skip(w, f->len, err);
	rc = rk_xp_message(w, f, &c, err);
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

static int add_plane(struct xp_reader *r, struct rk_error *err)
{
	struct xp_plane *grown = rk_grow(r->planes, &r->cap_planes, r->nplanes + 1, sizeof(*grown));

	if (!grown)
		return rk_fail_nomem(err);
	r->planes = grown;
	r->planes[r->nplanes++] =
		(struct xp_plane){ .cores = RK_NONE, .clock_khz = RK_NONE, .memory = RK_NONE };
	return 0;
}

static int add_line(struct xp_reader *r, struct rk_error *err)
{
	struct xp_line *grown = rk_grow(r->lines, &r->cap_lines, r->nlines + 1, sizeof(*grown));

	if (!grown)
		return rk_fail_nomem(err);
	r->lines = grown;
	r->lines[r->nlines++] = (struct xp_line){ .tid = RK_NONE };
	if (r->planes[r->nplanes - 1].other_device)
		rk_xp_warn(r, "other-device", "lines of a device that is not a GPU; skipped");
	return 0;
}

static int take_host(struct xp_walk *w, const struct rk_pb_field *f, struct rk_error *err)
{
	struct xp_reader *r = w->r;
	struct rk_cursor c;
	uint32_t id;
	int rc = rk_xp_message(w, f, &c, err);

	if (rc <= 0 || !rk_cursor_left(&c))
		return rc;
	rc = rk_strtab_add(r->ctx->names, (const char *)c.pos, rk_cursor_left(&c), &id, err);
	if (rc >= 0)
		r->node = id;
	return rc;
}

/* Such as lost events. */
static int take_complaint(struct xp_walk *w, const struct rk_pb_field *f, struct rk_error *err)
{
	struct rk_cursor c;
	int rc = rk_xp_message(w, f, &c, err);

	if (rc > 0)
		rk_oddities_count(&w->r->odd, "profiler-says", 0, 1, "JAX's profiler says: %.*s",
				  (int)rk_min(rk_cursor_left(&c), 120), (const char *)c.pos);
	return rc;
}

int rk_xp_step(struct xp_walk *w, xp_use_fn *use, struct rk_error *err)
{
	struct xp_reader *r = w->r;
	bool index = !w->arg;
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
			rk_xp_warn(r, "name-limit", "too many lines; the rest is skipped");
		/* a file that grows has lines and planes that the first pass did not see */
		if (w->line >= MAX_LINES || (!index && w->line >= r->nlines))
			return rk_xp_skip(w, f.len, err);
		w->line_end = w->file.offset + f.len;
		return index ? add_line(r, err) : 0;
	}
	if (!w->plane_end && f.number == SPACE_PLANE && f.wire == RK_PB_BYTES && f.len) {
		w->plane = w->next_plane++;
		if (w->plane == MAX_PLANES)
			rk_xp_warn(r, "name-limit", "too many planes; the rest is skipped");
		if (w->plane >= MAX_PLANES || (!index && w->plane >= r->nplanes))
			return rk_xp_skip(w, f.len, err);
		w->plane_end = w->file.offset + f.len;
		return index ? add_plane(r, err) : 0;
	}
	if (!w->plane_end && f.number == SPACE_HOST && index)
		return take_host(w, &f, err);
	if (!w->plane_end && (f.number == SPACE_ERROR || f.number == SPACE_WARNING) && index)
		return take_complaint(w, &f, err);
	return rk_xp_skip(w, f.len, err);
}

int rk_xp_index(struct xp_reader *r, struct rk_error *err)
{
	struct xp_walk w = { .r = r, .file = { .in = r->in } };
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && i < XP_NROLES; i++)
		rc = rk_strtab_adds(r->ctx->names, role_names[i], &r->roles[i], err);
	while (rc >= 0 && !w.stop)
		rc = rk_xp_step(&w, index_field, err);
	rk_pb_stream_release(&w.file);
	return rc;
}
