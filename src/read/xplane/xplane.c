/* xplane.c - the reader of JAX's profiles: events as rows. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "read/xplane/xplane.h"

/* Fields of the messages, numbered as in xplane.proto. */
enum { LINE_EVENT = 4 };
enum { EVENT_NAME = 1, EVENT_OFFSET, EVENT_DURATION, EVENT_STAT };

/* ---- events as rows ---- */

struct event {
	int64_t name; /* id; -1: unknown */
	const char *text;
	int64_t start, duration;         /* RK_NONE: unknown */
	struct xp_stat stats[XP_NROLES]; /* role -1: absent */
};

struct xplane_source {
	struct rk_source base;
	struct xp_walk walk;
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
		rk_xp_warn(s->walk.r, "time-out-of-range",
			   "a time does not fit 64 bits; left empty");
		e->start = e->duration = RK_NONE;
	}
}

static void read_event(struct xplane_source *s, struct rk_cursor c, struct event *e)
{
	const struct xp_walk *w = &s->walk;
	int64_t offset = 0, duration = 0;
	struct rk_pb_field f;

	*e = (struct event){ .name = -1, .text = "" };
	for (unsigned i = 0; i < XP_NROLES; i++)
		e->stats[i] = (struct xp_stat){ .role = -1, .number = RK_NONE };
	while (rk_pb_next(&c, &f)) {
		struct xp_stat stat;

		if (f.number == EVENT_NAME)
			e->name = rk_map_get(&w->r->names, w->plane * 2, f.value);
		else if (f.number == EVENT_OFFSET)
			offset = (int64_t)f.value;
		else if (f.number == EVENT_DURATION)
			duration = (int64_t)f.value;
		if (f.number != EVENT_STAT)
			continue;
		stat = rk_xp_stat(w->r, w->plane, rk_pb_message(&f));
		if (stat.role >= 0)
			e->stats[stat.role] = stat;
	}
	if (c.bad)
		rk_xp_warn(w->r, "damaged-trace",
			   "an event is damaged; only the fields before that are read");
	if (e->name >= 0)
		e->text = rk_strtab_borrow(w->r->ctx->names, (uint32_t)e->name, NULL);
	read_times(s, w->r->lines[w->line].time_ns, offset, duration, e);
}

/* Up to three numbers after `key` in " grid:16,1,1 block:512,1,1 group_mem:0". */
static unsigned take_numbers(const struct xp_stat *s, const char *key, int64_t v[3])
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

static int64_t number_in(const struct xp_stat *s, const char *key)
{
	int64_t v[3];

	return take_numbers(s, key, v) ? v[0] : RK_NONE;
}

static void put_kernel(struct xplane_source *s, const struct event *e, const struct xp_plane *p)
{
	const struct xp_stat *details = &e->stats[XP_KERNEL_DETAILS];
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

static void put_copy(struct xplane_source *s, const struct event *e, const struct xp_plane *p)
{
	static const char *const words[][2] = { { "MemcpyH2D", "MEMORY_COPY_HOST_TO_DEVICE" },
						{ "MemcpyD2H", "MEMORY_COPY_DEVICE_TO_HOST" },
						{ "MemcpyD2D", "MEMORY_COPY_DEVICE_TO_DEVICE" },
						{ "MemcpyP2P", "MEMORY_COPY_PEER_TO_PEER" } };
	const char *direction = rk_copy_direction(e->text);
	int64_t bytes = number_in(&e->stats[XP_COPY_DETAILS], "size:");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(e->text, words[i][0]))
			direction = words[i][1];
	if (bytes == RK_NONE)
		bytes = number_in(&e->stats[XP_SET_DETAILS], "size:");
	put_word(s, RK_C_DIRECTION, direction);
	put(s, RK_C_BYTES, bytes);
	put(s, RK_C_SRC, strstr(direction, "_DEVICE_TO_") ? p->device : RK_NONE);
	put(s, RK_C_DST,
	    strstr(direction, "_TO_DEVICE") || e->stats[XP_SET_DETAILS].role >= 0 ? p->device :
										    RK_NONE);
}

static bool is_copy(const struct event *e)
{
	if (e->stats[XP_COPY_DETAILS].role >= 0 || e->stats[XP_SET_DETAILS].role >= 0)
		return true;
	return e->stats[XP_KERNEL_DETAILS].role < 0 &&
	       (rk_copy_direction(e->text) != e->text || !strncmp(e->text, "Memcpy", 6) ||
		!strncmp(e->text, "Memset", 6));
}

/* "jit_step/fusion.3": the operation and its program. */
static void put_operation(struct xplane_source *s, const struct event *e)
{
	const struct xp_stat *op = &e->stats[XP_HLO_OP], *module = &e->stats[XP_HLO_MODULE];
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
	const struct xp_walk *w = &s->walk;
	const struct xp_plane *p = &w->r->planes[w->plane];
	const struct xp_line *line = &w->r->lines[w->line];
	bool gpu = p->kind == XP_PLANE_GPU;

	if (s->table == RK_KERNELS) {
		if (!gpu || is_copy(e))
			return;
		if (e->name < 0)
			rk_xp_warn(w->r, "unknown-name", "an event has no name");
		put(s, RK_K_NAME, e->name < 0 ? RK_NONE : e->name);
		put_kernel(s, e, p);
	} else if (s->table == RK_MEMCPY) {
		if (!gpu || !is_copy(e))
			return;
		put_copy(s, e, p);
	} else if (s->table == RK_API) {
		const char *domain = rk_runtime_domain(e->text);

		if (gpu || e->stats[XP_CORRELATION].role < 0 || !domain)
			return;
		put(s, RK_A_FUNCTION, e->name);
		put_word(s, RK_A_DOMAIN, domain);
		put(s, RK_A_TID, line->tid);
	} else if (gpu) {
		if (e->stats[XP_HLO_OP].role < 0 || !e->stats[XP_HLO_OP].text || is_copy(e))
			return;
		put_operation(s, e);
		put(s, RK_R_KIND, s->gpu_range_id);
		put(s, RK_R_TID, RK_NONE);
	} else {
		if (e->stats[XP_STEP].role < 0)
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
		put(s, common[s->table].correlation, e->stats[XP_CORRELATION].number);
	put(s, common[s->table].node, w->r->node);
	s->b.nrows++;
}

/* May the current line have rows of the table? */
static bool has_rows(const struct xplane_source *s)
{
	const struct xp_walk *w = &s->walk;
	enum xp_plane_kind kind = w->r->planes[w->plane].kind;

	if (kind == XP_PLANE_GPU)
		return w->r->lines[w->line].stream && s->table != RK_API;
	return kind == XP_PLANE_HOST && (s->table == RK_API || s->table == RK_MARKERS);
}

static int use_event(struct xp_walk *w, const struct rk_pb_field *f, struct rk_error *err)
{
	struct xplane_source *s = w->arg;
	struct rk_cursor c;
	struct event e;
	int rc;

	if (w->line_end && !has_rows(s))
		return rk_xp_skip(w, w->line_end - w->file.offset, err);
	if (!w->line_end || f->number != LINE_EVENT)
		return rk_xp_skip(w, f->len, err);
	rc = rk_xp_message(w, f, &c, err);
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
	const struct xp_reader *r = s->walk.r;

	for (; s->next_plane < r->nplanes && s->b.nrows < s->b.cap; s->next_plane++) {
		const struct xp_plane *p = &r->planes[s->next_plane];

		if (p->kind != XP_PLANE_GPU)
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
	struct xp_reader *r = s->walk.r;
	int rc = rk_reader_progress(r->in, r->ctx, err);

	if (rc < 0)
		return rc;
	rk_builder_reset(&s->b);
	if (s->table == RK_AGENTS)
		add_agents(s);
	else
		while (!s->walk.stop && s->b.nrows < s->b.cap)
			if ((rc = rk_xp_step(&s->walk, use_event, err)) < 0)
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
	struct xp_reader *r = s->walk.r;

	rk_oddities_tell(&r->odd, r->ctx->diag, rk_instream_path(r->in));
	rk_pb_stream_release(&s->walk.file);
	rk_builder_release(&s->b);
	rk_free(s);
}

static int xplane_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
		       struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { xplane_next, xplane_source_close };
	struct xp_reader *r = (struct xp_reader *)base;
	struct rk_strtab *names = r->ctx->names;
	struct xplane_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->walk = (struct xp_walk){ .r = r, .file = { .in = r->in }, .arg = s };
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

	if (rk_cursor_varint(&c) != (1 << 3 | RK_PB_BYTES))
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
	if (tag != (2 << 3 | RK_PB_BYTES) || len > rk_cursor_left(&c))
		return 0;
	name = (const char *)rk_cursor_take(&c, (size_t)len);
	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (rk_text_iprefix(name, (size_t)len, names[i]))
			return 95;
	return 0;
}

static void free_reader(struct xp_reader *r)
{
	rk_free(r->planes);
	rk_free(r->lines);
	rk_map_release(&r->names);
	rk_free(r);
}

static int xplane_open(const struct rk_reader_ops *ops, struct rk_instream *in,
		       struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	struct xp_reader *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	*r = (struct xp_reader){
		.base = { .ops = ops,
			  .tables = RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_MEMCPY) |
				    RK_TABLE_BIT(RK_API) | RK_TABLE_BIT(RK_MARKERS) |
				    RK_TABLE_BIT(RK_AGENTS) },
		.in = in,
		.ctx = ctx,
		.node = RK_NONE
	};
	rc = rk_instream_keep(in, ctx->tmpdir, err);
	if (rc >= 0)
		rc = rk_xp_index(r, err);
	if (rc < 0) {
		free_reader(r);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

static void xplane_close(struct rk_reader *base)
{
	struct xp_reader *r = (struct xp_reader *)base;

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
