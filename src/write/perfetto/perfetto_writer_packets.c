/*
 * perfetto_writer_packets.c - packets: the head of a sequence, interned texts, events.
 *
 * Field numbers are those of Perfetto's .proto files, named where they are used.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "write/perfetto/perfetto_writer.h"

enum {
	BOOTTIME = 6,
	OWN_CLOCK = 64,
	STATE_CLEARED = 1,
	NEEDS_STATE = 2,
	VALUES_MAX = 1 << 16,
	PACKET_ROOM = 64, /* bytes of a packet around a text */
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
	[PF_CAT_KERNEL] = "kernel_dispatch",
	[PF_CAT_COPY] = "memory_copy",
	[PF_CAT_MEMORY] = "memory_allocation",
	[PF_CAT_MARKER] = "marker_api",
};

/* Room for `len` bytes; NULL: no memory. */
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

/* InternedData: what every sequence may say. */
static uint8_t *put_words(uint8_t *p)
{
	uint8_t *interned = rk_pb_open(p, 12);

	p = interned;
	for (uint32_t i = 1; i < PF_NCATS; i++)
		p = put_entry(p, 1, i, categories[i], strlen(categories[i]));
	for (uint32_t i = 0; i < PF_NNOTES; i++)
		p = put_entry(p, 3, i + 1, note_names[i], strlen(note_names[i]));
	return rk_pb_close(interned, p);
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

static uint8_t *put_snapshot(uint8_t *p, int64_t time)
{
	uint8_t *snapshot = rk_pb_open(p, 6);

	p = put_clock(snapshot, BOOTTIME, time, false);
	p = put_clock(p, OWN_CLOCK, time, true);
	p = rk_pb_put_uint(p, 2, BOOTTIME); /* primary_trace_clock */
	return rk_pb_close(snapshot, p);
}

static void forget_names(struct pf_writer *w)
{
	if (w->names.v)
		memset(w->names.v, 0, w->names.cap * sizeof(*w->names.v));
	if (w->domains.v)
		memset(w->domains.v, 0, w->domains.cap * sizeof(*w->domains.v));
	w->names.n = 0;
	w->domains.n = PF_NCATS - 1;
	w->ncounter_names = PF_NNOTES;
	rk_map_release(&w->values);
	rk_map_release(&w->counters);
}

int rk_pfw_sequence(struct pf_writer *w, int64_t time, struct rk_error *err)
{
	uint8_t *p, *packet, *defaults;

	if (w->ticking)
		return 0;
	p = room(w, PF_EVENT_ROOM);
	if (!p)
		return rk_fail_nomem(err);
	forget_names(w);
	w->sequence++;
	packet = rk_pb_open(p, 1);
	p = rk_pb_put_uint(packet, 10, w->sequence);
	p = rk_pb_put_uint(p, 13, STATE_CLEARED);
	p = rk_pb_put_uint(p, 87, 1); /* first_packet_on_sequence */
	defaults = rk_pb_open(p, 59);
	p = rk_pb_close(defaults, rk_pb_put_uint(defaults, 58, OWN_CLOCK));
	p = put_snapshot(p, time);
	done(w, rk_pb_close(packet, put_words(p)));
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
	p = rk_pb_put_uint(p, 13, NEEDS_STATE);
	interned = rk_pb_open(p, 12);
	p = rk_pb_close(interned, put_entry(interned, kind, iid, text, len));
	done(w, rk_pb_close(packet, p));
	return true;
}

/* The place of id's iid, which is 0 when it is new; NULL: no memory. */
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

/* "HIP_API" is the category hip_api; what the reader would not take for calls gets the ending. */
static bool domain_text(const char *text, size_t len, struct rk_bytes *out)
{
	bool exact = rk_text_ends(text, len, "_API") || rk_text_ends(text, len, "_API_EXT");

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		exact = exact && !(c >= 'a' && c <= 'z');
		rk_bytes_put_u8(out, (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c));
	}
	if (!out->bad && !exact && !rk_text_ends((const char *)out->data, len, "_api"))
		rk_bytes_puts(out, "_api");
	return exact && len <= 64; /* that much the reader turns back */
}

uint32_t rk_pfw_domain(struct pf_writer *w, uint32_t id, bool *ret_exact)
{
	uint32_t *iid = iid_of(&w->domains, id);
	const char *text;
	size_t len;

	if (!iid)
		return 0;
	if (!*iid) {
		text = rk_strtab_borrow(w->ctx->names, id, &len);
		rk_bytes_clear(&w->text);
		*ret_exact = domain_text(text, len, &w->text);
		if (w->text.bad ||
		    !put_text(w, 1, w->domains.n + 1, (const char *)w->text.data, w->text.len))
			return 0;
		*iid = ++w->domains.n << 1 | *ret_exact;
	}
	*ret_exact = *iid & 1;
	return *iid >> 1;
}

/* The text of a value into w->text. */
static void value_text(struct pf_writer *w, enum pf_note note, const int64_t *v, unsigned n)
{
	static const char *const words[] = { "vgpr ", ", accum ", ", sgpr ", ", scratch ",
					     ", lds " };

	rk_bytes_clear(&w->text);
	for (unsigned i = 0; i < n; i++) {
		if (note == PF_NOTE_RESOURCES)
			rk_bytes_puts(&w->text, words[i]);
		else if (i)
			rk_bytes_put_u8(&w->text, ',');
		rk_bytes_printf(&w->text, "%" PRId64, v[i]);
	}
}

uint32_t rk_pfw_value(struct pf_writer *w, enum pf_note note, const int64_t *v, unsigned n)
{
	uint64_t key = note;
	int64_t at = 0;

	/* numbers two by two, each pair under the place of those before it */
	for (unsigned i = 0; i < n; i += 2) {
		uint64_t a = key << 32 | (uint64_t)i << 24 | (uint64_t)(n & 0xff);
		uint64_t b = (uint64_t)(uint32_t)v[i] << 32 | (i + 1 < n ? (uint32_t)v[i + 1] : 0);

		at = rk_map_get(&w->values, a, b);
		if (at < 0) {
			at = (int64_t)w->values.n + 1;
			if (w->values.n >= VALUES_MAX)
				return 0;
			if (!rk_map_put(&w->values, a, b, (uint32_t)at)) {
				w->buf.bad = true;
				return 0;
			}
			if (i + 2 >= n) {
				value_text(w, note, v, n);
				if (w->text.bad ||
				    !put_text(w, 29, (uint32_t)at, (const char *)w->text.data,
					      w->text.len))
					w->buf.bad = true;
			}
		}
		key = (uint64_t)at;
	}
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

bool rk_pfw_open(struct pf_writer *w, struct pf_event *e, enum pf_event_type type, uint32_t track,
		 uint32_t category, uint32_t name, size_t extra)
{
	uint8_t *p = room(w, PF_EVENT_ROOM + extra);

	if (!p)
		return false;
	e->packet = rk_pb_open(p, 1);
	p = rk_pb_put_uint(e->packet, 10, w->sequence);
	if (category)
		p = rk_pb_put_uint(p, 13, NEEDS_STATE);
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

	if (!rk_pfw_open(w, &e, PF_EVENT_COUNTER, track, 0, 0, 0))
		return;
	e.p = rk_pb_put_double(e.p, 44, value); /* double_counter_value */
	rk_pfw_close(w, &e, time);
}
