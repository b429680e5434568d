/*
 * packets.c - Perfetto packets: sequence heads, interned texts, events, track descriptors.
 *
 * Field numbers are those of Perfetto's .proto files; they are named where they are used.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "write/perfetto/perfetto.h"

enum {
	VALUES_MAX = 1 << 16,
	PACKET_ROOM = 64, /* bytes of a packet in addition to its text */
};

static const char *const note_names[PF_NNOTES] = {
	[PF_NOTE_GRID] = "grid",
	[PF_NOTE_BLOCK] = "block",
	[PF_NOTE_REGS] = "regs",
	[PF_NOTE_SHARED_MEM] = "shared_mem",
	[PF_NOTE_SCRATCH] = "scratch",
	[PF_NOTE_RESOURCES] = "resources",
	[PF_NOTE_DEVICE] = "device",
	[PF_NOTE_QUEUE] = "queue",
	[PF_NOTE_STREAM] = "stream_id",
	[PF_NOTE_DISPATCH] = "dispatch_id",
	[PF_NOTE_CORRELATION] = "correlation_id",
	[PF_NOTE_VGPR] = "vgpr",
	[PF_NOTE_ACCUM] = "accum_vgpr",
	[PF_NOTE_SGPR] = "sgpr",
	[PF_NOTE_WAVE_SIZE] = "wave_size",
	[PF_NOTE_ITEMS] = "grid_size",
	[PF_NOTE_BARRIER] = "barrier",
	[PF_NOTE_TID] = "tid",
	[PF_NOTE_BEGIN] = "begin_ns",
	[PF_NOTE_END] = "end_ns",
	[PF_NOTE_BYTES] = "bytes",
	[PF_NOTE_SRC] = "src_device",
	[PF_NOTE_DST] = "dst_device",
	[PF_NOTE_ADDRESS] = "address",
	[PF_NOTE_FLAGS] = "flags",
	[PF_NOTE_DOMAIN] = "domain",
	[PF_NOTE_KIND] = "marker_kind",
};

static const char *const categories[PF_NCATS] = {
	[PF_CAT_KERNEL] = RK_PF_KERNELS,
	[PF_CAT_COPY] = RK_PF_COPIES,
	[PF_CAT_MEMORY] = RK_PF_MEMORY,
	[PF_CAT_MARKER] = RK_PF_MARKERS,
};

/* Reserves `len` bytes; NULL: no memory. */
static uint8_t *room(struct pf_writer *w, size_t len)
{
	return rk_bytes_reserve(&w->buf, len) ? w->buf.data + w->buf.len : NULL;
}

static void done(struct pf_writer *w, const uint8_t *end)
{
	w->buf.len = (size_t)(end - w->buf.data);
}

/* ---- the head of a sequence ---- */

static uint8_t *put_entry(uint8_t *p, uint32_t kind, uint32_t iid, const char *text, size_t len)
{
	uint8_t *entry = rk_pb_open(p, kind);

	p = rk_pb_put_uint(entry, 1, iid);
	p = rk_pb_put_bytes(p, 2, text, len);
	return rk_pb_close(entry, p);
}

static uint8_t *put_clock(uint8_t *p, uint32_t id, int64_t time, bool incremental)
{
	uint8_t *clock = rk_pb_open(p, 1); /* ClockSnapshot.clocks */

	p = rk_pb_put_uint(clock, 1, id);
	p = rk_pb_put_uint(p, 2, (uint64_t)time);
	if (incremental)
		p = rk_pb_put_uint(p, 3, 1);
	return rk_pb_close(clock, p);
}

int rk_pfw_sequence(struct pf_writer *w, int64_t time, struct rk_error *err)
{
	uint8_t *p, *packet, *part;

	if (w->ticking)
		return 0;
	p = room(w, PF_EVENT_ROOM);
	if (!p)
		return rk_fail_nomem(err);

	/* Interned names are valid for one sequence only: forget them all. */
	if (w->names.v)
		memset(w->names.v, 0, w->names.cap * sizeof(*w->names.v));
	if (w->domains.v)
		memset(w->domains.v, 0, w->domains.cap * sizeof(*w->domains.v));
	w->names.n = 0;
	w->domains.n = PF_NCATS - 1;
	w->ncounter_names = PF_NNOTES;
	rk_map_release(&w->values);
	rk_map_release(&w->counters);

	w->sequence++;
	packet = rk_pb_open(p, 1);
	p = rk_pb_put_uint(packet, 10, w->sequence);
	p = rk_pb_put_uint(p, 13, RK_PF_STATE_CLEARED);
	p = rk_pb_put_uint(p, 87, 1); /* first_packet_on_sequence */
	part = rk_pb_open(p, 59);     /* trace_packet_defaults */
	p = rk_pb_close(part, rk_pb_put_uint(part, 58, RK_PF_FIRST_OWN_CLOCK));

	part = rk_pb_open(p, 6); /* clock_snapshot */
	p = put_clock(part, RK_PF_BOOTTIME, time, false);
	p = put_clock(p, RK_PF_FIRST_OWN_CLOCK, time, true);
	p = rk_pb_put_uint(p, 2, RK_PF_BOOTTIME); /* primary_trace_clock */
	p = rk_pb_close(part, p);

	/* InternedData: entries that any table may need. */
	part = p = rk_pb_open(p, 12);
	for (uint32_t i = 1; i < PF_NCATS; i++)
		p = put_entry(p, 1, i, categories[i], strlen(categories[i]));
	for (uint32_t i = 0; i < PF_NNOTES; i++)
		p = put_entry(p, 3, i + 1, note_names[i], strlen(note_names[i]));
	p = rk_pb_close(part, p);
	done(w, rk_pb_close(packet, p));
	w->clock = time;
	w->ticking = true;
	return 0;
}

/* ---- interned texts ---- */

/* A packet with one entry of InternedData. */
static bool put_text(struct pf_writer *w, uint32_t kind, uint32_t iid, const char *text, size_t len)
{
	uint8_t *p = room(w, len + PACKET_ROOM), *packet, *interned;

	if (!p)
		return false;
	packet = rk_pb_open(p, 1);
	p = rk_pb_put_uint(packet, 10, w->sequence);
	p = rk_pb_put_uint(p, 13, RK_PF_NEEDS_STATE);
	interned = rk_pb_open(p, 12);
	p = rk_pb_close(interned, put_entry(interned, kind, iid, text, len));
	done(w, rk_pb_close(packet, p));
	return true;
}

/* Points to the iid of `id`, 0 if it is new; NULL: no memory. */
static uint32_t *iid_of(struct pf_iids *m, uint32_t id)
{
	size_t had = m->cap;
	uint32_t *v;

	if (id < m->cap)
		return &m->v[id];
	v = rk_grow(m->v, &m->cap, (size_t)id + 1, sizeof(*v));
	if (!v)
		return NULL;
	memset(v + had, 0, (m->cap - had) * sizeof(*v));
	m->v = v;
	return &v[id];
}

uint32_t rk_pfw_name(struct pf_writer *w, uint32_t id)
{
	uint32_t *iid = iid_of(&w->names, id);
	const char *text;
	size_t len;

	if (!iid)
		return 0;
	if (*iid)
		return *iid;
	text = rk_strtab_borrow(w->ctx->names, id, &len);
	if (!put_text(w, 2, w->names.n + 1, text, len))
		return 0;
	return *iid = ++w->names.n;
}

/*
 * "HIP_API" becomes category hip_api; "_api" is appended if the reader would not recognize it as
 * API calls.
 */
uint32_t rk_pfw_domain(struct pf_writer *w, uint32_t id, bool *ret_exact)
{
	uint32_t *iid = iid_of(&w->domains, id);
	struct rk_bytes *out = &w->text;
	const char *text;
	size_t len;
	bool exact;

	if (!iid)
		return 0;
	if (*iid) {
		*ret_exact = *iid & 1;
		return *iid >> 1;
	}
	text = rk_strtab_borrow(w->ctx->names, id, &len);
	exact = rk_text_ends(text, len, "_API") || rk_text_ends(text, len, "_API_EXT");
	rk_bytes_clear(out);
	for (size_t i = 0; i < len; i++) {
		bool upper = text[i] >= 'A' && text[i] <= 'Z';

		exact = exact && !(text[i] >= 'a' && text[i] <= 'z');
		rk_bytes_put_u8(out, (uint8_t)(text[i] + (upper ? 32 : 0)));
	}
	if (!out->bad && !exact && !rk_text_ends((const char *)out->data, len, "_api"))
		rk_bytes_puts(out, "_api");
	exact = exact && len <= 64; /* the reader restores names up to this length */
	*ret_exact = exact;
	if (out->bad || !put_text(w, 1, w->domains.n + 1, (const char *)out->data, out->len))
		return 0;
	*iid = ++w->domains.n << 1 | exact;
	return *iid >> 1;
}

uint32_t rk_pfw_value(struct pf_writer *w, enum pf_note note, const int64_t *v, unsigned n)
{
	static const char *const words[] = { "vgpr ", ", accum ", ", sgpr ", ", scratch ",
					     ", lds " };
	uint64_t key = note;
	bool fresh = false;
	int64_t at = 0;

	/* Look up two numbers at a time; the result for a pair is part of the next pair's key. */
	for (unsigned i = 0; i < n; i += 2) {
		uint64_t a = key << 32 | (uint64_t)i << 24 | (uint64_t)(n & 0xff);
		uint64_t b = (uint64_t)(uint32_t)v[i] << 32 | (i + 1 < n ? (uint32_t)v[i + 1] : 0);

		at = rk_map_get(&w->values, a, b);
		fresh = at < 0;
		if (fresh && w->values.n >= VALUES_MAX)
			return 0;
		if (fresh) {
			at = (int64_t)w->values.n + 1;
			if (!rk_map_put(&w->values, a, b, (uint32_t)at)) {
				w->buf.bad = true;
				return 0;
			}
		}
		key = (uint64_t)at;
	}
	if (!fresh)
		return (uint32_t)at;
	rk_bytes_clear(&w->text);
	for (unsigned i = 0; i < n; i++) {
		if (note == PF_NOTE_RESOURCES)
			rk_bytes_puts(&w->text, words[i]);
		else if (i)
			rk_bytes_put_u8(&w->text, ',');
		rk_bytes_printf(&w->text, "%" PRId64, v[i]);
	}
	if (w->text.bad || !put_text(w, 29, (uint32_t)at, (const char *)w->text.data, w->text.len))
		w->buf.bad = true;
	return (uint32_t)at;
}

uint32_t rk_pfw_counter_name(struct pf_writer *w, unsigned field, const char *name)
{
	int64_t at = rk_map_get(&w->counters, 0, field);

	if (at >= 0)
		return (uint32_t)at;
	w->ncounter_names++;
	if (!put_text(w, 3, w->ncounter_names, name, strlen(name)) ||
	    !rk_map_put(&w->counters, 0, field, w->ncounter_names))
		w->buf.bad = true;
	return w->ncounter_names;
}

/* ---- events ---- */

bool rk_pfw_open(struct pf_writer *w, struct pf_event *e, enum rk_pf_type type, uint32_t track,
		 uint32_t category, uint32_t name, size_t extra)
{
	uint8_t *p = room(w, PF_EVENT_ROOM + extra);

	if (!p)
		return false;
	e->packet = rk_pb_open(p, 1);
	p = rk_pb_put_uint(e->packet, 10, w->sequence);
	if (category)
		p = rk_pb_put_uint(p, 13, RK_PF_NEEDS_STATE);
	e->event = rk_pb_open(p, 11);
	p = rk_pb_put_uint(e->event, 9, type);
	p = rk_pb_put_uint(p, 11, track); /* track_uuid */
	if (category) {
		p = rk_pb_put_uint(p, 3, category);
		p = rk_pb_put_uint(p, 10, name);
	}
	e->p = p;
	return true;
}

void rk_pfw_close(struct pf_writer *w, struct pf_event *e, int64_t time)
{
	uint8_t *p = rk_pb_close(e->event, e->p);

	p = rk_pb_put_uint(p, 8, (uint64_t)(time - w->clock));
	w->clock = time;
	done(w, rk_pb_close(e->packet, p));
}

void rk_pfw_count(struct pf_writer *w, uint32_t track, int64_t time, double value)
{
	struct pf_event e;

	if (!rk_pfw_open(w, &e, RK_PF_COUNTER, track, 0, 0, 0))
		return;
	e.p = rk_pb_put_double(e.p, 44, value); /* double_counter_value */
	rk_pfw_close(w, &e, time);
}

/* ---- TrackDescriptors: processes, threads, devices, queues, counters ---- */
/*
 * The description of a track holds what our own reader needs: "pid 7, rank 3, node n1" for a
 * process, "thread 8" for work that a thread caused.
 */

enum { EXPLICIT = 3, DESCRIPTION_MAX = 1 << 16, AGENTS_MAX = 1 << 14 };

/* A TrackDescriptor being written. */
struct descriptor {
	uint8_t *packet, *track, *p;
};

static bool open_descriptor(struct pf_writer *w, struct descriptor *d, uint32_t track, size_t texts)
{
	const struct rk_track *t = &w->tracks.v[track];
	uint8_t *p = room(w, PF_EVENT_ROOM + texts);

	if (!p)
		return false;
	d->packet = rk_pb_open(p, 1);
	p = rk_pb_put_uint(d->packet, 10, w->sequence ? w->sequence : 1);
	d->track = rk_pb_open(p, 60);
	d->p = rk_pb_put_uint(d->track, 1, track); /* uuid */
	if (t->parent)
		d->p = rk_pb_put_uint(d->p, 5, t->parent);
	return true;
}

static void close_descriptor(struct pf_writer *w, struct descriptor *d)
{
	uint8_t *p = rk_pb_close(d->track, d->p);

	done(w, rk_pb_close(d->packet, p));
}

static void put_field(struct descriptor *d, uint32_t field, const struct rk_bytes *text,
		      size_t from, size_t to)
{
	d->p = rk_pb_put_bytes(d->p, field, text->data + from, to - from);
}

/* ---- processes ---- */

/* The name is like "rank 3 on n1 process 4711 ./a.out"; unknown parts are left out. */
static bool describe_process(struct pf_writer *w, uint32_t track)
{
	const struct rk_track_process *p = &w->tracks.processes[w->tracks.v[track].process];
	int64_t command = rk_map_get(&w->commands, (uint64_t)p->node << 32 | (uint32_t)p->rank,
				     (uint64_t)p->pid);
	struct rk_bytes *out = &w->text;
	struct descriptor d;
	uint8_t *process;
	size_t name, len;

	rk_bytes_clear(out);
	if (p->rank != RK_NONE)
		rk_bytes_printf(out, "rank %" PRId64 " ", p->rank);
	if (p->node)
		rk_bytes_printf(out, "on %s ", rk_strtab_borrow(w->ctx->names, p->node, NULL));
	if (p->pid != RK_NONE)
		rk_bytes_printf(out, "process %" PRId64 " ", p->pid);
	if (command > 0) {
		const char *text = rk_strtab_borrow(w->ctx->names, (uint32_t)command, &len);

		rk_bytes_put(out, text, rk_min(len, DESCRIPTION_MAX));
		rk_bytes_put_u8(out, ' ');
	}
	if (!out->bad && out->len)
		out->len--;
	name = out->len;
	rk_tracks_place(&w->tracks, w->tracks.v[track].process, out);

	if (out->bad || !open_descriptor(w, &d, track, out->len))
		return false;
	if (p->shown_pid) {
		process = rk_pb_open(d.p, 3);
		d.p = rk_pb_put_uint(process, 1, (uint64_t)p->shown_pid);
		put_field(&d, 6, out, 0, name); /* process_name */
		d.p = rk_pb_close(process, d.p);
	} else {
		put_field(&d, 2, out, 0, name);
	}
	put_field(&d, 14, out, name, out->len); /* description */
	close_descriptor(w, &d);
	return true;
}

/* ---- other tracks ---- */

static bool describe_other(struct pf_writer *w, uint32_t track)
{
	const struct rk_track *t = &w->tracks.v[track];
	const struct rk_track_process *process = &w->tracks.processes[t->process];
	bool group = t->kind == RK_TRACK_DEVICE || t->kind == RK_TRACK_SENSORS;
	int64_t tid = t->kind == RK_TRACK_THREAD ? t->key : t->tid, agent = -1;
	struct descriptor d;
	uint8_t *thread;
	size_t name;

	/* Add the product name of a device if the agents table has it. */
	if (group)
		agent = rk_map_get(&w->agents, process->node, (uint64_t)t->key);
	if (group && agent < 0)
		agent = rk_map_get(&w->agents, 0, (uint64_t)t->key);
	rk_bytes_clear(&w->text);
	rk_tracks_name(&w->tracks, track, &w->text);
	if (agent > 0)
		rk_bytes_printf(&w->text, " %s",
				rk_strtab_borrow(w->ctx->names, (uint32_t)agent, NULL));
	name = w->text.len;
	if (tid != RK_NONE && !t->rest)
		rk_bytes_printf(&w->text, "thread %" PRId64, tid);
	if (w->text.bad || !open_descriptor(w, &d, track, w->text.len))
		return false;

	/* A ThreadDescriptor is only for tracks that viewers can show as threads. */
	if (t->kind == RK_TRACK_THREAD && !t->lane && !t->rest && t->key > 0 &&
	    t->key <= INT32_MAX && process->shown_pid) {
		thread = rk_pb_open(d.p, 4);
		d.p = rk_pb_put_uint(thread, 1, (uint64_t)process->shown_pid);
		d.p = rk_pb_put_uint(d.p, 2, (uint64_t)t->key);
		put_field(&d, 5, &w->text, 0, name); /* thread_name */
		d.p = rk_pb_close(thread, d.p);
	} else {
		put_field(&d, 2, &w->text, 0, name);
	}
	if (w->text.len > name)
		put_field(&d, 14, &w->text, name, w->text.len);
	if (group)
		d.p = rk_pb_put_uint(d.p, 11, EXPLICIT); /* child_ordering */
	else
		d.p = rk_pb_put_uint(d.p, 12, /* sibling_order_rank: by number, lanes together */
				     (uint64_t)(t->key & 0xfffff) << 8 | t->lane);
	close_descriptor(w, &d);
	return true;
}

bool rk_pfw_describe(struct pf_writer *w, uint32_t track)
{
	uint32_t parent = w->tracks.v[track].parent;

	if (w->tracks.v[track].told)
		return true;
	if (parent && !rk_pfw_describe(w, parent))
		return false;
	w->tracks.v[track].told = true;
	if (w->tracks.v[track].kind == RK_TRACK_PROCESS && !w->tracks.v[track].rest)
		return describe_process(w, track);
	return describe_other(w, track);
}

/* ---- counters ---- */

static const struct {
	const char *unit;
	uint32_t number; /* CounterDescriptor.Unit */
} units[] = { { "bytes", 3 }, { "B", 3 }, { "byte", 3 }, { "ns", 1 }, { "count", 2 } };

uint32_t rk_pfw_counter(struct pf_writer *w, uint32_t parent, uint32_t process, int64_t key,
			const char *name, const char *unit)
{
	uint32_t track = rk_tracks_child(&w->tracks, parent, process, RK_TRACK_COUNTER, key);
	uint32_t number = 0;
	struct descriptor d;
	uint8_t *counter;

	if (!track || w->tracks.v[track].told)
		return track;
	if (parent && !rk_pfw_describe(w, parent))
		return 0;
	w->tracks.v[track].told = true;
	if (w->tracks.v[track].rest)
		name = "more counters";
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].unit, unit))
			number = units[i].number;
	if (!open_descriptor(w, &d, track, strlen(name) + strlen(unit)))
		return 0;
	d.p = rk_pb_put_bytes(d.p, 2, name, strlen(name));
	counter = rk_pb_open(d.p, 8);
	d.p = counter;
	if (number)
		d.p = rk_pb_put_uint(d.p, 3, number);
	else if (*unit)
		d.p = rk_pb_put_bytes(d.p, 6, unit, strlen(unit)); /* unit_name */
	d.p = rk_pb_close(counter, d.p);
	close_descriptor(w, &d);
	return track;
}

/* ---- names of devices and commands of processes ---- */

/* Stores the name by node and device, and also without the node for rows that have none. */
int rk_pfw_agents(struct pf_writer *w, const struct rk_batch *b, struct rk_error *err)
{
	for (size_t i = 0; i < b->nrows && w->agents.n < AGENTS_MAX; i++) {
		uint64_t device = (uint64_t)rk_trace_i64(b, RK_G_DEVICE, i);
		uint32_t node = rk_batch_id(b, RK_G_NODE, i);
		uint32_t name = rk_batch_id(b, RK_G_PRODUCT, i);

		if (!name)
			name = rk_batch_id(b, RK_G_GFX, i);
		if (!name)
			name = rk_batch_id(b, RK_G_NAME, i);
		if (name && (!rk_map_put(&w->agents, node, device, name) ||
			     !rk_map_put(&w->agents, 0, device, name)))
			return rk_fail_nomem(err);
	}
	return 0;
}

int rk_pfw_processes(struct pf_writer *w, const struct rk_batch *b, struct rk_error *err)
{
	for (size_t i = 0; i < b->nrows && w->commands.n < AGENTS_MAX; i++) {
		uint64_t pid = (uint64_t)rk_trace_i64(b, RK_O_PID, i);
		uint32_t rank = (uint32_t)rk_trace_i32(b, RK_O_RANK, i);
		uint32_t node = rk_batch_id(b, RK_O_NODE, i);
		uint32_t command = rk_batch_id(b, RK_O_COMMAND, i);

		if (command && !rk_map_put(&w->commands, (uint64_t)node << 32 | rank, pid, command))
			return rk_fail_nomem(err);
	}
	return 0;
}
