/*
 * perfetto_packet.c - one TracePacket: clocks, interned names, tracks, events.
 *
 * Field numbers are those of Perfetto's .proto files, named where they are used. The parts of a
 * packet may stand in any order, but what a packet says of its sequence holds for its own event:
 * so all parts are found first and looked at in the order they are needed.
 */
#include "base/alloc.h"
#include "read/perfetto/perfetto_reader.h"

enum { BOOTTIME = 6, STATE_CLEARED = 1, BEGIN = 1, END = 2, INSTANT = 3 };

struct packet {
	uint64_t timestamp;
	bool has_timestamp, dropped;
	uint32_t clock, sequence, flags;
	int64_t pid;
	struct rk_cursor event, descriptor, interned, snapshot, defaults;
};

static void take_field(struct pf_state *s, const struct rk_pb_field *f, struct packet *p)
{
	switch (f->number) {
	case 6: /* clock_snapshot */
		p->snapshot = rk_pb_message(f);
		break;
	case 8: /* timestamp */
		p->timestamp = f->value;
		p->has_timestamp = true;
		break;
	case 10: /* trusted_packet_sequence_id */
		p->sequence = (uint32_t)f->value;
		break;
	case 11: /* track_event */
		p->event = rk_pb_message(f);
		break;
	case 12: /* interned_data */
		p->interned = rk_pb_message(f);
		break;
	case 13: /* sequence_flags */
		p->flags = (uint32_t)f->value;
		break;
	case 42: /* previous_packet_dropped: also set in the first of a sequence */
		p->dropped = f->value != 0;
		break;
	case 50: /* compressed_packets */
		rk_pf_warn(s, "compressed-packets", "packets that are compressed; left out");
		break;
	case 58: /* timestamp_clock_id */
		p->clock = (uint32_t)f->value;
		break;
	case 59: /* trace_packet_defaults */
		p->defaults = rk_pb_message(f);
		break;
	case 60: /* track_descriptor */
		p->descriptor = rk_pb_message(f);
		break;
	case 79: /* trusted_pid */
		p->pid = (int64_t)(int32_t)f->value;
		break;
	default:
		break;
	}
}

/* ---- clocks ---- */

static struct pf_clock *clock_of(struct pf_sequence *q, uint32_t id, bool make)
{
	for (unsigned i = 0; i < PF_CLOCKS; i++)
		if (q->clocks[i].id == id)
			return &q->clocks[i];
	for (unsigned i = 0; make && i < PF_CLOCKS; i++) {
		if (!q->clocks[i].id) {
			q->clocks[i].id = id;
			return &q->clocks[i];
		}
	}
	return NULL;
}

static struct pf_clock read_clock(struct rk_cursor c)
{
	struct pf_clock k = { .unit_ns = 1 };
	struct rk_pb_field f;

	while (rk_pb_next(&c, &f)) {
		if (f.number == 1)
			k.id = (uint32_t)f.value;
		else if (f.number == 2)
			k.last = f.value;
		else if (f.number == 3)
			k.incremental = f.value != 0;
		else if (f.number == 4 && f.value)
			k.unit_ns = f.value;
	}
	return k;
}

/* Clocks that the sequence made up, by their distance from one that means something. */
static void take_snapshot(struct pf_sequence *q, struct rk_cursor snapshot)
{
	struct rk_cursor c = snapshot;
	struct rk_pb_field f;
	uint64_t reference = 0;
	bool found = false;

	while (rk_pb_next(&c, &f)) {
		struct pf_clock k;

		if (f.number != 1)
			continue;
		k = read_clock(rk_pb_message(&f));
		if (k.id == BOOTTIME || (!found && k.id && k.id < PF_FIRST_OWN_CLOCK)) {
			reference = k.last;
			found = true;
		}
	}
	for (c = snapshot; rk_pb_next(&c, &f);) {
		struct pf_clock k = { 0 }, *own = NULL;

		if (f.number == 1)
			k = read_clock(rk_pb_message(&f));
		if (k.id >= PF_FIRST_OWN_CLOCK)
			own = clock_of(q, k.id, true);
		if (!own)
			continue;
		k.offset_ns = found ? reference - k.last * k.unit_ns : 0;
		*own = k;
	}
}

/* The event's time in ns, or RK_NONE. An incremental clock's time counts from the one before. */
static int64_t time_of(struct pf_state *s, struct pf_sequence *q, const struct packet *p)
{
	uint32_t id = p->clock ? p->clock : q->default_clock;
	struct pf_clock *k = id >= PF_FIRST_OWN_CLOCK ? clock_of(q, id, false) : NULL;
	uint64_t t = p->timestamp;

	if (!p->has_timestamp)
		return RK_NONE;
	if (k && k->incremental) {
		k->last += t;
		t = k->last;
	}
	if (k)
		t = t * k->unit_ns + k->offset_ns;
	if (t <= INT64_MAX)
		return (int64_t)t;
	rk_pf_warn(s, "time-out-of-range", "a time past 2^63 ns; left empty");
	return RK_NONE;
}

/* ---- sequence ---- */

static void take_defaults(struct pf_sequence *q, struct rk_cursor c)
{
	struct rk_pb_field f, g;

	while (rk_pb_next(&c, &f)) {
		struct rk_cursor event;

		if (f.number == 58)
			q->default_clock = (uint32_t)f.value;
		if (f.number != 11) /* track_event_defaults */
			continue;
		event = rk_pb_message(&f);
		while (rk_pb_next(&event, &g))
			if (g.number == 11)
				q->default_track = g.value;
	}
}

static int take_interned(struct pf_state *s, const struct pf_sequence *q, struct rk_cursor c,
			 struct rk_error *err)
{
	struct rk_pb_field f, g;
	int rc = 0;

	while (rc == 0 && rk_pb_next(&c, &f)) {
		struct rk_cursor entry = rk_pb_message(&f);
		struct rk_pb_field text = { 0 };
		uint64_t iid = 0;
		int kind = f.number == 1  ? PF_CATEGORY :
			   f.number == 2  ? PF_EVENT_NAME :
			   f.number == 3  ? PF_ANNOTATION :
			   f.number == 29 ? PF_STRING_VALUE :
					    -1;

		while (kind >= 0 && rk_pb_next(&entry, &g)) {
			if (g.number == 1)
				iid = g.value;
			else if (g.number == 2 && g.wire == RK_PB_BYTES)
				text = g;
		}
		if (kind >= 0)
			rc = rk_pf_intern(s, q, (enum pf_intern)kind, iid, text.data, text.len,
					  err);
	}
	return rc;
}

/* ---- tracks ---- */

unsigned rk_pf_numbers(const uint8_t *text, size_t len, int64_t *ret, unsigned n)
{
	unsigned count = 0;

	for (size_t i = 0; i < len && count < n; i++) {
		int64_t v = 0;
		bool fits = true;

		if (text[i] < '0' || text[i] > '9')
			continue;
		for (; i < len && text[i] >= '0' && text[i] <= '9'; i++)
			fits = fits && !__builtin_mul_overflow(v, 10, &v) &&
			       !__builtin_add_overflow(v, text[i] - '0', &v);
		ret[count++] = fits ? v : RK_NONE;
	}
	return count;
}

static bool begins(const struct rk_pb_field *f, const char *word)
{
	size_t len = strlen(word);

	return f->wire == RK_PB_BYTES && f->len >= len && !memcmp(f->data, word, len);
}

/* rocprofv3's names: STREAM [ 1 ], COMPUTE Agent [4] QUEUE [2] GPU, THREAD 0 (4711). */
static void take_track_name(struct pf_track *t, const struct rk_pb_field *f)
{
	int64_t v[2] = { RK_NONE, RK_NONE };

	if (f->wire == RK_PB_BYTES)
		rk_pf_numbers(f->data, f->len, v, 2);
	if (begins(f, "STREAM"))
		t->stream = v[0];
	else if (begins(f, "COMPUTE")) {
		t->agent = v[0];
		t->queue = v[1];
	} else if (begins(f, "THREAD"))
		t->tid = v[1];
}

static void take_ids(struct pf_track *t, struct rk_cursor c, bool thread)
{
	struct rk_pb_field f;

	while (rk_pb_next(&c, &f)) {
		if (f.number == 1)
			t->pid = (int64_t)(int32_t)f.value;
		else if (f.number == 2 && thread && f.wire == RK_PB_VARINT)
			t->tid = (int64_t)f.value;
	}
}

/* A number behind a word in what stands before a node's name, which may be anything: "rank 3". */
static int64_t number_behind(const struct rk_pb_field *f, const char *word)
{
	const uint8_t *node = memmem(f->data, f->len, "node ", 5);
	size_t len = node ? (size_t)(node - f->data) : f->len;
	const uint8_t *at = memmem(f->data, len, word, strlen(word));
	int64_t v = RK_NONE;

	if (at)
		rk_pf_numbers(at, len - (size_t)(at - f->data), &v, 1);
	return v;
}

/* rockit's own: "pid 7, rank 3, node n1" of a process, "thread 8" of what a thread caused. */
static int take_description(struct pf_state *s, struct pf_track *t, const struct rk_pb_field *f,
			    struct rk_error *err)
{
	static const char node[] = "node ";
	const uint8_t *at;
	uint32_t id = 0;
	int rc;

	if (f->wire != RK_PB_BYTES || !f->len)
		return 0;
	if (begins(f, "thread ")) {
		t->tid = number_behind(f, "thread ");
		return 0;
	}
	if (begins(f, "pid "))
		t->pid = number_behind(f, "pid ");
	if (begins(f, "pid ") || begins(f, "rank "))
		t->rank = number_behind(f, "rank ");
	else if (!begins(f, node))
		return 0;
	at = memmem(f->data, f->len, node, sizeof(node) - 1);
	if (!at)
		return 0;
	at += sizeof(node) - 1;
	rc = rk_strtab_add(s->ctx->names, (const char *)at, (size_t)(f->data + f->len - at), &id,
			   err);
	t->node = rc == 0 ? id : RK_NONE;
	return rc;
}

static int take_descriptor(struct pf_state *s, struct rk_cursor descriptor, struct rk_error *err)
{
	struct rk_pb_field description = { 0 };
	struct rk_cursor c = descriptor;
	struct rk_pb_field f;
	struct pf_track *t;
	uint64_t uuid = 0;

	while (rk_pb_next(&c, &f))
		if (f.number == 1)
			uuid = f.value;
	t = rk_pf_track(s, uuid, err);
	if (!t)
		return err->code;
	for (c = descriptor; rk_pb_next(&c, &f);) {
		if (f.number == 2)
			take_track_name(t, &f);
		else if (f.number == 3 || f.number == 4)
			take_ids(t, rk_pb_message(&f), f.number == 4);
		else if (f.number == 5)
			t->parent = f.value;
		else if (f.number == 14)
			description = f;
	}
	return take_description(s, t, &description, err); /* it knows better than the others */
}

static void inherit_one(int64_t *value, int64_t of_track)
{
	if (*value == RK_NONE)
		*value = of_track;
}

/* A track without a process or thread is below one that has it. */
static void inherit(const struct pf_state *s, const struct pf_track *t, int64_t *values)
{
	for (int depth = 0; depth < 8; depth++) {
		int64_t at;

		inherit_one(&values[PF_PID], t->pid);
		inherit_one(&values[PF_TID], t->tid);
		inherit_one(&values[PF_RANK], t->rank);
		inherit_one(&values[PF_NODE], t->node);
		at = t->parent ? rk_map_get(&s->track_at, 0, t->parent) : -1;
		if (at < 0)
			break;
		t = &s->tracks[at];
	}
}

/* ---- events ---- */

struct event {
	uint64_t type, track;
	bool has_track, has_name;
	int64_t name, category; /* ids, -1: none */
};

static int take_name(struct pf_state *s, const struct rk_pb_field *f, int64_t *ret,
		     struct rk_error *err)
{
	uint32_t id = 0;
	int rc = 0;

	if (f->wire == RK_PB_BYTES)
		rc = rk_strtab_add(s->ctx->names, (const char *)f->data, f->len, &id, err);
	if (rc == 0)
		*ret = id;
	return rc;
}

static int read_event(struct pf_state *s, const struct pf_sequence *q, struct rk_cursor c,
		      struct event *e, struct rk_error *err)
{
	struct rk_pb_field f;
	int rc = 0;

	*e = (struct event){ .track = q->default_track, .name = -1, .category = -1 };
	while (rc == 0 && rk_pb_next(&c, &f)) {
		if (f.number == 9)
			e->type = f.value;
		else if (f.number == 11)
			e->track = f.value;
		else if (f.number == 3 && f.wire == RK_PB_VARINT && e->category < 0)
			e->category = rk_pf_interned(s, q, PF_CATEGORY, f.value);
		else if (f.number == 22 && e->category < 0)
			rc = take_name(s, &f, &e->category, err);
		else if (f.number == 10) {
			e->name = rk_pf_interned(s, q, PF_EVENT_NAME, f.value);
			e->has_name = true;
		} else if (f.number == 23) {
			rc = take_name(s, &f, &e->name, err);
			e->has_name = true;
		}
	}
	if (e->has_name && e->name < 0 && e->type != END)
		rk_pf_warn(s, "unknown-name", "a name that no packet before it gave; left empty");
	return rc;
}

/* A value of any type as a number; texts may hold three, as "64,1,1". */
static void keep_value(struct pf_slice *slice, unsigned what, const struct rk_pb_field *f,
		       const char *text, size_t len)
{
	bool three = what == PF_BLOCK || what == PF_ITEMS || what == PF_GRID;
	int64_t *to = &slice->values[what == PF_VGPR_ALONE ? PF_VGPR : what];

	if (text)
		rk_pf_numbers((const uint8_t *)text, len, to,
			      three                ? 3 :
			      what == PF_RESOURCES ? 5 :
						     1);
	else if (f->number == 5) {
		double d = rk_pb_double(f);

		*to = d > -9e15 && d < 9e15 ? (int64_t)d : RK_NONE;
	} else
		*to = f->value <= INT64_MAX || f->number == 4 ? (int64_t)f->value : RK_NONE;
}

static int keep_counter(struct pf_slice *slice, uint32_t name, double value, struct rk_error *err)
{
	struct pf_counter *grown;

	if (slice->ncounters == PF_MAX_COUNTERS)
		return 0;
	if ((slice->ncounters & (slice->ncounters - 1)) == 0) {
		grown = rk_reallocn(slice->counters, slice->ncounters ? slice->ncounters * 2u : 1,
				    sizeof(*grown));
		if (!grown)
			return rk_fail_nomem(err);
		slice->counters = grown;
	}
	slice->counters[slice->ncounters++] = (struct pf_counter){ name, value };
	return 0;
}

static int take_annotation(struct pf_state *s, const struct pf_sequence *q, struct pf_slice *slice,
			   struct rk_cursor c, struct rk_error *err)
{
	struct rk_pb_field f, value = { 0 };
	int64_t what = -1, string = -1;
	const char *text = NULL;
	uint32_t named = 0;
	size_t len = 0;
	int rc = 0;

	while (rc == 0 && rk_pb_next(&c, &f)) {
		if (f.number == 1)
			what = rk_pf_interned(s, q, PF_ANNOTATION, f.value);
		else if (f.number == 10 && f.wire == RK_PB_BYTES) {
			rc = rk_pf_annotation(s, f.data, f.len, &named, err);
			what = named;
		} else if (f.number == 17) {
			string = rk_pf_interned(s, q, PF_STRING_VALUE, f.value);
		} else if (f.number == 6 && f.wire == RK_PB_BYTES) {
			text = (const char *)f.data;
			len = f.len;
		} else if (f.number >= 2 && f.number <= 7 && f.wire != RK_PB_BYTES)
			value = f;
	}
	if (string >= 0)
		text = rk_strtab_borrow(s->ctx->names, (uint32_t)string, &len);
	if (rc < 0 || what < 0 || (!text && !value.number))
		return rc;
	if (what == PF_DOMAIN || what == PF_KIND) {
		if (text)
			rc = rk_strtab_add(s->ctx->names, text, len, &named, err);
		if (text && rc == 0)
			slice->values[what] = named;
	} else if (what < PF_NVALUES)
		keep_value(slice, (unsigned)what, &value, text, len);
	else if (!text && value.number == 5 && s->counters)
		rc = keep_counter(slice, (uint32_t)(what - PF_NVALUES), rk_pb_double(&value), err);
	return rc;
}

static bool is_wanted(const struct pf_state *s, uint32_t category)
{
	size_t len;
	const char *text = rk_strtab_borrow(s->ctx->names, category, &len);
	enum rk_table t = rk_pf_table_of(text, len);

	return t == s->table || (t == RK_KERNELS && s->table == RK_COUNTERS);
}

/* 1: it is open; 0: it was past the limit. */
static int begin_slice(struct pf_state *s, const struct pf_sequence *q, struct pf_track *t,
		       const struct event *e, const struct packet *p, int64_t time,
		       struct rk_error *err)
{
	struct pf_slice *slice = rk_pf_slice(s, t, err);
	struct rk_cursor c = p->event;
	struct rk_pb_field f;
	int rc = 0;

	if (!slice) {
		t->lost += e->type == BEGIN;
		return err->code;
	}
	slice->start = time;
	slice->name = e->name < 0 ? RK_NONE : e->name;
	slice->category = e->category < 0 ? 0 : (uint32_t)e->category;
	slice->instant = e->type == INSTANT;
	slice->wanted = is_wanted(s, slice->category);
	while (slice->wanted && rc == 0 && rk_pb_next(&c, &f))
		if (f.number == 4)
			rc = take_annotation(s, q, slice, rk_pb_message(&f), err);
	if (slice->wanted)
		inherit(s, t, slice->values);
	if (slice->values[PF_PID] == RK_NONE)
		slice->values[PF_PID] = p->pid;
	return rc < 0 ? rc : 1;
}

static int end_slice(struct pf_state *s, struct pf_track *t, int64_t time, struct rk_error *err)
{
	if (t->lost) {
		t->lost--;
		return 0;
	}
	if (t->open)
		return rk_pf_slice_end(s, t, time, err);
	rk_pf_warn(s, "unmatched-end", "the end of a slice that never began; passed over");
	return 0;
}

static int take_event(struct pf_state *s, struct pf_sequence *q, const struct packet *p,
		      struct rk_error *err)
{
	int64_t time = time_of(s, q, p);
	struct pf_track *t;
	struct event e;
	int rc = read_event(s, q, p->event, &e, err);

	if (rc < 0 || (e.type != BEGIN && e.type != END && e.type != INSTANT))
		return rc;
	t = rk_pf_track(s, e.track, err);
	if (!t)
		return err->code;
	if (e.type == END)
		return end_slice(s, t, time, err);
	rc = begin_slice(s, q, t, &e, p, time, err);
	if (rc > 0 && e.type == INSTANT)
		return rk_pf_slice_end(s, t, time, err);
	return rc < 0 ? rc : 0;
}

int rk_pf_packet(struct pf_state *s, const uint8_t *data, size_t len, struct rk_error *err)
{
	struct rk_cursor c = rk_cursor_over(data, len);
	struct packet p = { .pid = RK_NONE };
	struct rk_error local = { 0 };
	struct pf_sequence *q;
	struct rk_pb_field f;
	bool fresh;
	int rc = 0;

	err = err ? err : &local;
	while (rk_pb_next(&c, &f))
		take_field(s, &f, &p);
	if (c.bad)
		rk_pf_warn(s, "damaged-packet", "a packet that is no message to its end");
	q = rk_pf_sequence(s, p.sequence, &fresh, err);
	if (!q)
		return err->code;
	if (p.dropped && !fresh)
		rk_pf_warn(s, "lost-packets", "the writer lost packets here: its buffer was full");
	if (p.flags & STATE_CLEARED)
		q->generation++;
	if (p.snapshot.pos)
		take_snapshot(q, p.snapshot);
	if (p.defaults.pos)
		take_defaults(q, p.defaults);
	if (p.interned.pos)
		rc = take_interned(s, q, p.interned, err);
	if (rc == 0 && p.descriptor.pos)
		rc = take_descriptor(s, p.descriptor, err);
	if (rc == 0 && p.event.pos)
		rc = take_event(s, q, &p, err);
	return rc;
}
