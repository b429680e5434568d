/*
 * packet.c - parse one TracePacket, and keep state from earlier packets: sequences, clocks,
 * interned names, tracks and open slices.
 *
 * Field numbers are those of Perfetto's .proto files, named where they are used. The parts of a
 * packet may come in any order, but the sequence data of a packet also applies to its own event. So
 * we find all parts first, then use them in the order we need.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "codec/compress.h"
#include "read/perfetto/perfetto.h"

/* ---- state ---- */

void rk_pf_warn(struct pf_state *s, const char *kind, const char *message)
{
	rk_oddities_count(&s->odd, kind, 0, 1, "%s", message);
}

/* NULL: no memory (err is set), or past a limit (err is not set). */
static struct pf_sequence *find_sequence(struct pf_state *s, uint32_t id, bool *ret_new,
					 struct rk_error *err)
{
	int64_t at = rk_map_get(&s->sequence_at, 0, id);
	struct pf_sequence *grown;

	*ret_new = at < 0;
	if (at >= 0)
		return &s->sequences[at];
	if (s->nsequences == PF_MAX_SEQUENCES) {
		rk_pf_warn(s, "track-limit", "too many packet sequences; some are skipped");
		return NULL;
	}
	grown = rk_grow(s->sequences, &s->cap_sequences, s->nsequences + 1, sizeof(*grown));
	if (grown)
		s->sequences = grown;
	if (!grown || !rk_map_put(&s->sequence_at, 0, id, (uint32_t)s->nsequences)) {
		rk_fail_nomem(err);
		return NULL;
	}
	s->sequences[s->nsequences] = (struct pf_sequence){ 0 };
	return &s->sequences[s->nsequences++];
}

/* NULL as above. */
static struct pf_track *find_track(struct pf_state *s, uint64_t uuid, struct rk_error *err)
{
	int64_t at = rk_map_get(&s->track_at, 0, uuid);
	struct pf_track *grown;

	if (at >= 0)
		return &s->tracks[at];
	if (s->ntracks == PF_MAX_TRACKS) {
		rk_pf_warn(s, "track-limit", "too many tracks; some are skipped");
		return NULL;
	}
	grown = rk_grow(s->tracks, &s->cap_tracks, s->ntracks + 1, sizeof(*grown));
	if (grown)
		s->tracks = grown;
	if (!grown || !rk_map_put(&s->track_at, 0, uuid, (uint32_t)s->ntracks)) {
		rk_fail_nomem(err);
		return NULL;
	}
	s->tracks[s->ntracks] = (struct pf_track){ .pid = RK_NONE,
						   .tid = RK_NONE,
						   .stream = RK_NONE,
						   .agent = RK_NONE,
						   .queue = RK_NONE,
						   .rank = RK_NONE,
						   .node = RK_NONE };
	return &s->tracks[s->ntracks++];
}

int rk_pf_slice_end(struct pf_state *s, struct pf_track *t, int64_t end, struct rk_error *err)
{
	struct pf_slice *slice = t->open;
	int rc = 0;

	if (slice->wanted)
		rc = s->emit(s->arg, slice, t, end, err);
	t->open = slice->outer;
	rk_free(slice->counters); /* begin_slice clears the rest */
	slice->counters = NULL;
	slice->outer = s->spare;
	s->spare = slice;
	s->nslices--;
	return rc;
}

static void free_slices(struct pf_slice *slice)
{
	while (slice) {
		struct pf_slice *outer = slice->outer;

		rk_free(slice->counters);
		rk_free(slice);
		slice = outer;
	}
}

void rk_pf_state_release(struct pf_state *s)
{
	rk_oddities_tell(&s->odd, s->ctx->diag, s->path);
	for (size_t i = 0; i < s->ntracks; i++)
		free_slices(s->tracks[i].open);
	free_slices(s->spare);
	rk_free(s->tracks);
	rk_free(s->sequences);
	rk_map_release(&s->sequence_at);
	rk_map_release(&s->track_at);
	rk_map_release(&s->names);
	rk_bytes_release(&s->bundle);
}

/* ---- interned names ---- */

static const struct {
	const char *name;
	enum pf_value value;
} annotations[] = {
	{ "begin_ns", PF_BEGIN },
	{ "end_ns", PF_END },
	{ "corr_id", PF_CORRELATION },
	{ "correlation_id", PF_CORRELATION },
	{ "stack_id", PF_CORRELATION },
	{ "pid", PF_PID },
	{ "tid", PF_TID },
	{ "stream_id", PF_STREAM },
	{ "agent", PF_AGENT },
	{ "queue", PF_QUEUE },
	{ "dispatch_id", PF_DISPATCH },
	{ "Scratch_Size", PF_SCRATCH },
	{ "private_segment_size", PF_SCRATCH },
	{ "LDS_Block_Size", PF_LDS },
	{ "group_segment_size", PF_LDS },
	{ "VGPR_Count", PF_VGPR_ALONE },
	{ "Accum_VGPR_Count", PF_ACCUM },
	{ "SGPR_Count", PF_SGPR },
	{ "workgroup_size", PF_BLOCK },
	{ "grid_size", PF_ITEMS },
	{ "src_agent", PF_SRC },
	{ "dst_agent", PF_DST },
	{ "copy_bytes", PF_BYTES },
	{ "size", PF_BYTES },
	{ "grid", PF_GRID },
	{ "block", PF_BLOCK },
	{ "regs", PF_REGS },
	{ "shared_mem", PF_LDS },
	{ "scratch", PF_SCRATCH },
	{ "resources", PF_RESOURCES },
	{ "device", PF_AGENT },
	{ "vgpr", PF_VGPR_ALONE },
	{ "accum_vgpr", PF_ACCUM },
	{ "sgpr", PF_SGPR },
	{ "wave_size", PF_WAVE_SIZE },
	{ "barrier", PF_BARRIER },
	{ "bytes", PF_BYTES },
	{ "src_device", PF_SRC },
	{ "dst_device", PF_DST },
	{ "address", PF_ADDRESS },
	{ "ptr", PF_ADDRESS },
	{ "stream", PF_STREAM },
	{ "queue_id", PF_QUEUE },
	{ "flags", PF_FLAGS },
	{ "domain", PF_DOMAIN },
	{ "marker_kind", PF_KIND },
	{ "delta_ns", PF_IGNORED },
	{ "kind", PF_IGNORED },
	{ "operation", PF_IGNORED },
	{ "agent_type", PF_IGNORED },
	{ "kernel_id", PF_IGNORED },
	{ "ancestor_id", PF_IGNORED },
};

/*
 * The code of an annotation's name: enum pf_value if we know it, else PF_NVALUES + the text's id.
 */
static int annotation_of(struct pf_state *s, const uint8_t *text, size_t len, uint32_t *ret,
			 struct rk_error *err)
{
	uint32_t id = 0;
	int rc;

	for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]); i++) {
		if (rk_text_ieq((const char *)text, len, annotations[i].name)) {
			*ret = annotations[i].value;
			return 0;
		}
	}
	rc = rk_strtab_add(s->ctx->names, (const char *)text, len, &id, err);
	if (rc < 0)
		return rc;
	*ret = PF_NVALUES + id;
	return 0;
}

/* Combines the sequence, how often it dropped its names, and the kind of name. */
static uint64_t names_key(const struct pf_state *s, const struct pf_sequence *q,
			  enum pf_intern kind)
{
	return (uint64_t)(q - s->sequences) << 40 | (uint64_t)q->generation << 8 | kind;
}

/* Forgets names that sequences have dropped. If that frees too little, it is not tried again. */
static bool forget_names(struct pf_state *s)
{
	struct rk_map kept = { 0 };

	for (size_t i = 0; i <= s->names.mask; i++) {
		const struct rk_map_slot *p = &s->names.slots[i];

		if (!p->value || (uint32_t)(p->a >> 8) != s->sequences[p->a >> 40].generation)
			continue;
		if (!rk_map_put(&kept, p->a, p->b, p->value - 1)) {
			rk_map_release(&kept);
			return false;
		}
	}
	rk_map_release(&s->names);
	s->names = kept;
	s->names_full = kept.n > PF_MAX_NAMES / 2;
	return true;
}

/* The text's id (of an annotation: see annotation_of), or -1. */
static int64_t interned(const struct pf_state *s, const struct pf_sequence *q, enum pf_intern kind,
			uint64_t iid)
{
	return rk_map_get(&s->names, names_key(s, q, kind), iid);
}

/* ---- the parts of a packet ---- */

struct packet {
	uint64_t timestamp;
	bool has_timestamp, dropped;
	uint32_t clock, sequence, flags;
	int64_t pid;
	struct rk_cursor event, descriptor, interned, snapshot, defaults;
	const struct rk_unpack_ops *packing; /* of a bundle; NULL: it is an ordinary packet */
	struct rk_cursor bundle;
};

static void take_field(const struct rk_pb_field *f, struct packet *p)
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
	case 42: /* previous_packet_dropped: also set in the first packet of a sequence */
		p->dropped = f->value != 0;
		break;
	case 50: /* compressed_packets */
		p->packing = &rk_unpack_zlib;
		p->bundle = rk_pb_message(f);
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
	case 133: /* zstd_compressed_packets */
		p->packing = &rk_unpack_zstd;
		p->bundle = rk_pb_message(f);
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

/* Reads clocks that the sequence defines itself by their offset from a known clock. */
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
		if (k.id == RK_PF_BOOTTIME || (!found && k.id && k.id < RK_PF_FIRST_OWN_CLOCK)) {
			reference = k.last;
			found = true;
		}
	}
	for (c = snapshot; rk_pb_next(&c, &f);) {
		struct pf_clock k = { 0 }, *own = NULL;

		if (f.number == 1)
			k = read_clock(rk_pb_message(&f));
		if (k.id >= RK_PF_FIRST_OWN_CLOCK)
			own = clock_of(q, k.id, true);
		if (!own)
			continue;
		k.offset_ns = found ? reference - k.last * k.unit_ns : 0;
		*own = k;
	}
}

/* The event's time in ns, or RK_NONE. An incremental clock counts from the previous event. */
static int64_t time_of(struct pf_state *s, struct pf_sequence *q, const struct packet *p)
{
	uint32_t id = p->clock ? p->clock : q->default_clock;
	struct pf_clock *k = id >= RK_PF_FIRST_OWN_CLOCK ? clock_of(q, id, false) : NULL;
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
	rk_pf_warn(s, "time-out-of-range", "a time is above 2^63 ns; left empty");
	return RK_NONE;
}

/* ---- sequence ---- */

static int take_interned(struct pf_state *s, const struct pf_sequence *q, struct rk_cursor c,
			 struct rk_error *err)
{
	struct rk_pb_field f, g;

	while (rk_pb_next(&c, &f)) {
		struct rk_cursor entry = rk_pb_message(&f);
		struct rk_pb_field text = { 0 };
		uint64_t iid = 0;
		uint32_t id = 0;
		int rc;

		if (f.number != PF_CATEGORY && f.number != PF_EVENT_NAME &&
		    f.number != PF_ANNOTATION && f.number != PF_STRING_VALUE)
			continue;
		while (rk_pb_next(&entry, &g)) {
			if (g.number == 1)
				iid = g.value;
			else if (g.number == 2 && g.wire == RK_PB_BYTES)
				text = g;
		}

		if (s->names.n >= PF_MAX_NAMES && !s->names_full && !forget_names(s))
			return rk_fail_nomem(err);
		if (s->names.n >= PF_MAX_NAMES) {
			rk_pf_warn(s, "name-limit", "too many interned names; some are dropped");
			continue;
		}
		if (f.number == PF_ANNOTATION)
			rc = annotation_of(s, text.data, text.len, &id, err);
		else
			rc = rk_strtab_add(s->ctx->names, (const char *)text.data, text.len, &id,
					   err);
		if (rc < 0)
			return rc;
		if (!rk_map_put(&s->names, names_key(s, q, (enum pf_intern)f.number), iid, id))
			return rk_fail_nomem(err);
	}
	return 0;
}

/* ---- tracks ---- */

/* Finds up to n numbers in a text, in order; returns how many it found. */
static unsigned numbers(const uint8_t *text, size_t len, int64_t *ret, unsigned n)
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

/* The number after a word, as in "rank 3". Stops at the node's name, which may contain anything. */
static int64_t number_behind(const struct rk_pb_field *f, const char *word)
{
	const uint8_t *node = memmem(f->data, f->len, "node ", 5);
	size_t len = node ? (size_t)(node - f->data) : f->len;
	const uint8_t *at = memmem(f->data, len, word, strlen(word));
	int64_t v = RK_NONE;

	if (at)
		numbers(at, len - (size_t)(at - f->data), &v, 1);
	return v;
}

/*
 * Parses rockit's own descriptions: "pid 7, rank 3, node n1" for a process, "thread 8" for work
 * caused by a thread.
 */
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
	if (rc < 0)
		return rc;
	t->node = id;
	return 0;
}

static int take_descriptor(struct pf_state *s, struct rk_cursor descriptor, struct rk_error *err)
{
	struct rk_pb_field f, g, description = { 0 };
	struct rk_cursor c = descriptor, ids;
	struct pf_track *t;
	uint64_t uuid = 0;

	while (rk_pb_next(&c, &f))
		if (f.number == 1)
			uuid = f.value;
	t = find_track(s, uuid, err);
	if (!t)
		return err->code;
	for (c = descriptor; rk_pb_next(&c, &f);) {
		int64_t v[2] = { RK_NONE, RK_NONE };

		switch (f.number) {
		case 2: /* rocprofv3: STREAM [ 1 ], COMPUTE Agent [4] QUEUE [2] GPU, THREAD 0 (4711) */
			if (f.wire == RK_PB_BYTES)
				numbers(f.data, f.len, v, 2);
			if (begins(&f, "STREAM"))
				t->stream = v[0];
			else if (begins(&f, "COMPUTE")) {
				t->agent = v[0];
				t->queue = v[1];
			} else if (begins(&f, "THREAD"))
				t->tid = v[1];
			break;
		case 3: /* process */
		case 4: /* thread */
			for (ids = rk_pb_message(&f); rk_pb_next(&ids, &g);) {
				if (g.number == 1)
					t->pid = (int64_t)(int32_t)g.value;
				else if (g.number == 2 && f.number == 4 && g.wire == RK_PB_VARINT)
					t->tid = (int64_t)g.value;
			}
			break;
		case 5: /* parent_uuid */
			t->parent = f.value;
			break;
		case 14:
			description = f;
			break;
		default:
			break;
		}
	}
	return take_description(s, t, &description, err); /* last: overrides the others */
}

/* A track without a process or thread inherits it from a parent track. */
static void inherit(const struct pf_state *s, const struct pf_track *t, int64_t *values)
{
	for (int depth = 0; depth < 8; depth++) {
		const struct {
			enum pf_value value;
			int64_t of_track;
		} each[] = {
			{ PF_PID, t->pid },
			{ PF_TID, t->tid },
			{ PF_RANK, t->rank },
			{ PF_NODE, t->node },
		};
		int64_t at;

		for (unsigned i = 0; i < 4; i++)
			if (values[each[i].value] == RK_NONE)
				values[each[i].value] = each[i].of_track;
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
	if (rc < 0)
		return rc;
	*ret = id;
	return 0;
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
			e->category = interned(s, q, PF_CATEGORY, f.value);
		else if (f.number == 22 && e->category < 0)
			rc = take_name(s, &f, &e->category, err);
		else if (f.number == 10) {
			e->name = interned(s, q, PF_EVENT_NAME, f.value);
			e->has_name = true;
		} else if (f.number == 23) {
			rc = take_name(s, &f, &e->name, err);
			e->has_name = true;
		}
	}
	if (e->has_name && e->name < 0 && e->type != RK_PF_END)
		rk_pf_warn(s, "unknown-name", "a name that no earlier packet defined; left empty");
	return rc;
}

static int take_annotation(struct pf_state *s, const struct pf_sequence *q, struct pf_slice *slice,
			   struct rk_cursor c, struct rk_error *err)
{
	struct rk_pb_field f, value = { 0 };
	int64_t what = -1, string = -1, *to;
	struct pf_counter *grown;
	const char *text = NULL;
	uint32_t named = 0;
	uint64_t hex = 0;
	unsigned n = 1;
	size_t len = 0;
	int rc = 0;

	while (rc == 0 && rk_pb_next(&c, &f)) {
		if (f.number == 1)
			what = interned(s, q, PF_ANNOTATION, f.value);
		else if (f.number == 10 && f.wire == RK_PB_BYTES) {
			rc = annotation_of(s, f.data, f.len, &named, err);
			what = named;
		} else if (f.number == 17) {
			string = interned(s, q, PF_STRING_VALUE, f.value);
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

	if (what >= PF_NVALUES) { /* an unknown annotation is a counter if it is a double */
		if (text || value.number != 5 || s->table != RK_COUNTERS ||
		    slice->ncounters == PF_MAX_COUNTERS)
			return 0;
		grown = rk_grow(slice->counters, &slice->cap_counters, slice->ncounters + 1u,
				sizeof(*grown));
		if (!grown)
			return rk_fail_nomem(err);
		slice->counters = grown;
		grown[slice->ncounters++] =
			(struct pf_counter){ (uint32_t)(what - PF_NVALUES), rk_pb_double(&value) };
		return 0;
	}
	if (what == PF_DOMAIN || what == PF_KIND) {
		if (!text)
			return 0;
		rc = rk_strtab_add(s->ctx->names, text, len, &named, err);
		if (rc < 0)
			return rc;
		slice->values[what] = named;
		return 0;
	}

	/* read a value of any type as a number; a text may have three, as "64,1,1" */
	if (what == PF_BLOCK || what == PF_ITEMS || what == PF_GRID)
		n = 3;
	else if (what == PF_RESOURCES)
		n = 5;
	else if (what == PF_VGPR_ALONE)
		what = PF_VGPR;
	to = &slice->values[what];
	if (text && n == 1 && rk_num_u64(text, len, &hex) == RK_NUM_OK && hex <= INT64_MAX) {
		*to = (int64_t)hex; /* "0x7f10", too */
		return 0;
	}
	if (text) {
		numbers((const uint8_t *)text, len, to, n);
		return 0;
	}
	*to = RK_NONE;
	if (value.number == 5) {
		double d = rk_pb_double(&value);

		if (d > -9e15 && d < 9e15)
			*to = (int64_t)d;
	} else if (value.value <= INT64_MAX || value.number == 4)
		*to = (int64_t)value.value;
	return 0;
}

/* The table for a category. rocprofiler-systems prefixes categories with "rocm_". */
static enum rk_table table_of(const char *category, size_t len)
{
	if (rk_text_iprefix(category, len, "rocm_")) {
		category += 5;
		len -= 5;
	}
	if (rk_text_ieq(category, len, RK_PF_KERNELS))
		return RK_KERNELS;
	if (rk_text_ieq(category, len, RK_PF_COPIES))
		return RK_MEMCPY;
	if (rk_text_ieq(category, len, RK_PF_MEMORY))
		return RK_MEMALLOC;
	if (rk_text_ieq(category, len, RK_PF_MARKERS))
		return RK_MARKERS;
	if (rk_text_ends(category, len, "_api") || rk_text_ends(category, len, "_api_ext"))
		return RK_API;
	return RK_MARKERS;
}

/*
 * Slices of the HIP runtime's own profiler (GPU_CLR_PROFILE_OUTPUT=x.pftrace) are recognised by the
 * fixed numbers of its tracks: 0x1000 for calls, 0x2000 + device, 0x3000 for memory, with threads
 * and lanes in the lowest 20 bits. Barriers have no table.
 */
static bool hip_table(const char *category, size_t len, uint64_t track, const char *name,
		      size_t name_len, enum rk_table *ret)
{
	static const char *const copies[] = { "H2D",           "D2H",           "D2D",
					      "BufferToImage", "ImageToBuffer", "Fill" };
	uint64_t process = track >> 20;

	if (process == 0x1000 && rk_text_ieq(category, len, "hip")) {
		*ret = RK_API;
		return true;
	}
	if ((process == 0x3000 || track == 0x3000) && rk_text_ieq(category, len, "memory")) {
		*ret = RK_MEMALLOC;
		return true;
	}
	if (process >> 12 != 2 || !rk_text_ieq(category, len, "gpu"))
		return false;
	*ret = rk_text_ieq(name, name_len, "Barrier") ? RK_NTABLES : RK_KERNELS;
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		size_t n = strlen(copies[i]);

		if (name_len >= n && !memcmp(name, copies[i], n) &&
		    (name_len == n || name[n] == '_'))
			*ret = RK_MEMCPY;
	}
	return true;
}

/* Returns 1 if opened, 0 if the limit was reached. */
static int begin_slice(struct pf_state *s, const struct pf_sequence *q, struct pf_track *t,
		       const struct event *e, const struct packet *p, int64_t time,
		       struct rk_error *err)
{
	struct pf_slice *slice = s->spare;
	struct rk_cursor c = p->event;
	struct rk_pb_field f;
	const char *category, *name;
	size_t len, name_len;
	enum rk_table table;
	bool hip;
	int rc = 0;

	if (s->nslices == PF_MAX_SLICES) {
		rk_pf_warn(s, "slice-limit", "too many open slices; some are dropped");
		t->lost += e->type == RK_PF_BEGIN;
		return 0;
	}
	if (slice)
		s->spare = slice->outer;
	else
		slice = rk_alloc(sizeof(*slice));
	if (!slice)
		return rk_fail_nomem(err);
	*slice = (struct pf_slice){
		.outer = t->open,
		.start = time,
		.name = e->name < 0 ? RK_NONE : e->name,
		.category = e->category < 0 ? 0 : (uint32_t)e->category,
		.instant = e->type == RK_PF_INSTANT,
	};
	for (unsigned i = 0; i < PF_NVALUES; i++)
		slice->values[i] = RK_NONE;
	t->open = slice;
	s->nslices++;

	category = rk_strtab_borrow(s->ctx->names, slice->category, &len);
	name = rk_strtab_borrow(s->ctx->names, e->name < 0 ? 0 : (uint32_t)e->name, &name_len);
	hip = hip_table(category, len, e->track, name, name_len, &table);
	if (!hip)
		table = table_of(category, len);
	slice->wanted = table == s->table || (table == RK_KERNELS && s->table == RK_COUNTERS);
	while (slice->wanted && rc == 0 && rk_pb_next(&c, &f))
		if (f.number == 4)
			rc = take_annotation(s, q, slice, rk_pb_message(&f), err);
	if (slice->wanted)
		inherit(s, t, slice->values);
	slice->hip = hip;
	if (hip) { /* its processes have numbers of their own */
		slice->values[PF_PID] = RK_NONE;
		if (e->track >> 32 == 2)
			slice->values[PF_AGENT] = (int64_t)(e->track >> 20 & 0xfff);
	} else if (slice->values[PF_PID] == RK_NONE) {
		slice->values[PF_PID] = p->pid;
	}
	return rc < 0 ? rc : 1;
}

static int take_event(struct pf_state *s, struct pf_sequence *q, const struct packet *p,
		      struct rk_error *err)
{
	int64_t time = time_of(s, q, p);
	struct pf_track *t;
	struct event e;
	int rc = read_event(s, q, p->event, &e, err);

	if (rc < 0 || (e.type != RK_PF_BEGIN && e.type != RK_PF_END && e.type != RK_PF_INSTANT))
		return rc;
	t = find_track(s, e.track, err);
	if (!t)
		return err->code;
	if (e.type == RK_PF_END && t->lost) {
		t->lost--;
		return 0;
	}
	if (e.type == RK_PF_END && !t->open) {
		rk_pf_warn(s, "unmatched-end", "slice end without a begin; skipped");
		return 0;
	}
	if (e.type == RK_PF_END)
		return rk_pf_slice_end(s, t, time, err);
	rc = begin_slice(s, q, t, &e, p, time, err);
	if (rc <= 0 || e.type != RK_PF_INSTANT)
		return rc < 0 ? rc : 0;
	return rk_pf_slice_end(s, t, time, err);
}

static int take_bundle(struct pf_state *s, const struct packet *p, struct rk_error *err)
{
	struct rk_error cause = { 0 };
	int rc;

	if (s->bundle.len) {
		rk_pf_warn(s, "compressed-packets",
			   "compressed packets inside compressed packets; skipped");
		return 0;
	}
	s->bundle_at = 0;
	rc = rk_unpack_whole(p->packing, p->bundle.pos, rk_cursor_left(&p->bundle), &s->bundle,
			     &cause);
	if (rc >= 0)
		return 0;
	if (rc == RK_E_NOMEM)
		return rk_fail_nomem(err);
	rk_bytes_clear(&s->bundle);
	rk_oddities_count(&s->odd, "compressed-packets", 0, 1,
			  "a bundle of compressed packets is damaged; skipped: %s", cause.message);
	return 0;
}

int rk_pf_packet(struct pf_state *s, const uint8_t *data, size_t len, struct rk_error *err)
{
	struct rk_cursor c = rk_cursor_over(data, len);
	struct packet p = { .pid = RK_NONE };
	struct rk_error local = { 0 };
	struct pf_sequence *q;
	struct rk_pb_field f, g;
	bool fresh;
	int rc;

	if (!err)
		err = &local;
	while (rk_pb_next(&c, &f))
		take_field(&f, &p);
	if (c.bad)
		rk_pf_warn(s, "damaged-packet",
			   "a packet is damaged; only the fields before the damage are read");
	if (p.packing)
		return take_bundle(s, &p, err);
	q = find_sequence(s, p.sequence, &fresh, err);
	if (!q)
		return err->code;
	if (p.dropped && !fresh)
		rk_pf_warn(s, "lost-packets",
			   "the writer dropped packets here: its buffer was full");
	if (p.flags & RK_PF_STATE_CLEARED)
		q->generation++;
	if (p.snapshot.pos)
		take_snapshot(q, p.snapshot);
	while (p.defaults.pos && rk_pb_next(&p.defaults, &f)) {
		if (f.number == 58)
			q->default_clock = (uint32_t)f.value;
		if (f.number != 11) /* track_event_defaults */
			continue;
		for (c = rk_pb_message(&f); rk_pb_next(&c, &g);)
			if (g.number == 11)
				q->default_track = g.value;
	}
	if (p.interned.pos && (rc = take_interned(s, q, p.interned, err)) < 0)
		return rc;
	if (p.descriptor.pos && (rc = take_descriptor(s, p.descriptor, err)) < 0)
		return rc;
	if (p.event.pos)
		return take_event(s, q, &p, err);
	return 0;
}
