/*
 * recorder_names.c - definitions: strings, devices, queues, functions, shapes, calibrations.
 *
 * In memory there are two generations of definitions, each a log with hash tables that point into
 * it. New ones, and those of the old generation that are asked for again, are added to the young
 * one. When it is full, the old one is forgotten and the young one becomes the old one. So memory
 * is bounded, and what is in use is kept. Looking up a known definition takes no lock.
 *
 * In a window the blocks for definitions are a ring of segments, and time is divided into epochs: a
 * segment has all definitions that were used in its epoch. A data block knows the epoch in which it
 * was taken, and every record in it uses definitions that were written since then: if the newest
 * copy is older, it is written again first (rk_rec_define()). When a segment is full, a new epoch
 * begins and the oldest segment is overwritten; `live_from` in the header says from which block on
 * all definitions are still there. A thread leaves its block before that happens to it (`lag`).
 *
 * Stamps are the epochs of the newest copies, in a small table that is read without a lock: one
 * word per definition, which is true forever once it was written. A missing stamp costs time only.
 *
 * In a file that is not a window there is one epoch, and nothing in the file is ever forgotten. The
 * child of a fork writes what it uses to its own file again; its ids are the same.
 */
#include <string.h>
#include <sys/mman.h>

#include "recorder_impl.h"

enum {
	LOG_BYTES = 8 << 20,
	SLOTS = 1 << 17,
	ENTRIES = SLOTS / 4 * 3,
	GENERATION_EPOCHS = 4, /* at least, in a window; see make_memory() */
	/* a definition and all that it refers to: a shape, its function, a device with four texts */
	CHAIN = 8,
	CHAIN_BYTES = CHAIN * (RK_RAW_TEXT_MAX + 64),
	MAX_CALIBRATIONS = 1 << 15, /* in a file that is not a window */
	RECORD_EXTRA = 16,          /* bytes of a record besides its body: tag, length, id */
	PINNED = 64,
	CLOCKS = 64,
	CLOCK_READINGS = 8, /* the last ones of each device are kept */
	MAX_REFS = 4,
};

struct entry {
	uint32_t id, len;
	uint32_t epoch; /* when it was last written to the file; 0: not yet */
	uint8_t tag, body[];
};

struct generation {
	_Atomic uint64_t *slots; /* by content: upper half of the hash, 1 + offset / 8; 0: empty */
	uint32_t *by_id;         /* 1 + offset / 8; 0: empty */
	uint8_t *log;
	size_t used;
	uint32_t entries;
};

/* The last calibrations of a device, to be written again in each epoch. */
struct clock {
	uint32_t device, n; /* n: how many there have been */
	int64_t readings[CLOCK_READINGS][4];
};

static struct {
	struct generation generations[2];
	/* twice the number of the young generation; odd: it is just being changed */
	_Atomic uint32_t turn;
	uint32_t ids,
		first_id; /* the last id given; the first one given since the file was opened */
	uint32_t pinned[PINNED], npinned; /* devices and notes: in every epoch, used or not */
	struct clock clocks[CLOCKS];
	uint32_t nclocks, calibrations, victim;
	/* the file */
	struct rk_raw_block *block; /* the open block */
	uint8_t *pos, *end;
	uint64_t published, sequence;
	uint32_t segments, segment_blocks;
	uint32_t first_epoch, used_blocks; /* of the file; of the segment */
	uint64_t first_turn[REC_SEGMENTS]; /* sequence of the first data block in each epoch */
	uint32_t added;                    /* entries and bytes in this epoch, in memory */
	size_t added_bytes;
	bool pinning;
} names;

/* ---- memory ---- */

enum { BY_ID_BYTES = SLOTS * sizeof(uint32_t), SLOT_BYTES = SLOTS * sizeof(uint64_t) };
/* lookups without the lock may read past the end of an entry that is being replaced */
enum { GENERATION_BYTES = SLOT_BYTES + BY_ID_BYTES + LOG_BYTES + 2 * RK_RAW_TEXT_MAX };

bool rk_rec_names_init(void)
{
	size_t stamps = REC_STAMPS * sizeof(*rk_rec.stamps);
	size_t page = 1 << 16, each = (GENERATION_BYTES + page - 1) & ~(page - 1);
	uint8_t *p = mmap(NULL, stamps + 2 * each, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	rk_rec.stamps = (_Atomic uint64_t *)(void *)p;
	p += stamps;
	for (unsigned i = 0; i < 2; i++, p += each) {
		names.generations[i].slots = (_Atomic uint64_t *)(void *)p;
		names.generations[i].by_id = (uint32_t *)(void *)(p + SLOT_BYTES);
		names.generations[i].log = p + SLOT_BYTES + BY_ID_BYTES;
	}
	return true;
}

void rk_rec_names_forget(void)
{
	names.block = NULL;
	names.pos = names.end = NULL;
}

static struct generation *young(void)
{
	return &names.generations[atomic_load_explicit(&names.turn, memory_order_relaxed) >> 1 & 1];
}

static struct generation *old(void)
{
	return &names.generations[!(atomic_load_explicit(&names.turn, memory_order_relaxed) >> 1 &
				    1)];
}

static struct entry *entry_at(const struct generation *g, uint32_t place)
{
	return (struct entry *)(void *)(g->log + (size_t)(place - 1) * 8);
}

static size_t entry_bytes(size_t len)
{
	return (offsetof(struct entry, body) + len + 7) & ~(size_t)7;
}

static struct entry *find(const struct generation *g, uint8_t tag, const void *body, size_t len,
			  uint64_t hash)
{
	for (size_t i = hash & (SLOTS - 1);; i = (i + 1) & (SLOTS - 1)) {
		uint64_t slot = atomic_load_explicit(&g->slots[i], memory_order_acquire);
		struct entry *e;

		if (!slot)
			return NULL;
		if (slot >> 32 != hash >> 32)
			continue;
		e = entry_at(g, (uint32_t)slot);
		if (e->tag == tag && e->len == len && !memcmp(e->body, body, len))
			return e;
	}
}

/* The id of a definition of the young generation; 0: ask again with the lock. Takes no lock. */
static uint32_t find_quickly(uint8_t tag, const void *body, size_t len, uint64_t hash)
{
	uint32_t turn = atomic_load_explicit(&names.turn, memory_order_acquire), id;
	const struct entry *e;

	if (turn & 1)
		return 0;
	e = find(&names.generations[turn >> 1 & 1], tag, body, len, hash);
	if (!e)
		return 0;
	id = e->id;
	/* the place may be used for something else by now */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&names.turn, memory_order_relaxed) == turn ? id : 0;
}

static struct entry *find_id(const struct generation *g, uint32_t id)
{
	for (size_t i = id & (SLOTS - 1); g->by_id[i]; i = (i + 1) & (SLOTS - 1))
		if (entry_at(g, g->by_id[i])->id == id)
			return entry_at(g, g->by_id[i]);
	return NULL;
}

/* Makes the entry at the end of the young log known. */
static struct entry *link_entry(struct entry *e, uint64_t hash)
{
	struct generation *g = young();
	uint32_t place = (uint32_t)(g->used / 8) + 1;
	size_t i = e->id & (SLOTS - 1);

	while (g->by_id[i])
		i = (i + 1) & (SLOTS - 1);
	g->by_id[i] = place;
	i = hash & (SLOTS - 1);
	while (atomic_load_explicit(&g->slots[i], memory_order_relaxed))
		i = (i + 1) & (SLOTS - 1);
	atomic_store_explicit(&g->slots[i], hash >> 32 << 32 | place, memory_order_release);
	g->used += entry_bytes(e->len);
	g->entries++;
	names.added++;
	names.added_bytes += entry_bytes(e->len);
	return e;
}

/* The ids that a definition has in it, as many as are not 0. */
static unsigned refs_of(uint8_t tag, const uint8_t *body, size_t len, uint32_t ret[MAX_REFS])
{
	static const uint16_t fields[] = {
		[RK_RAW_DEVICE] = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 9,
		[RK_RAW_QUEUE] = 1 << 0,
		[RK_RAW_FUNCTION] = 1 << 0 | 1 << 1,
		[RK_RAW_SHAPE] = 1 << 0,
		[RK_RAW_NOTE] = 1 << 0,
	};
	const uint8_t *end = body + len;
	unsigned n = 0;

	if (tag == RK_RAW_STRING)
		return 0;
	for (unsigned field = 0; body < end; field++) {
		uint64_t v = 0;

		for (unsigned shift = 0; body < end && shift < 64; shift += 7) {
			v |= (uint64_t)(*body & 0x7f) << shift;
			if (!(*body++ & 0x80))
				break;
		}
		if (v && fields[tag] >> field & 1)
			ret[n++] = (uint32_t)v;
	}
	return n;
}

/*
 * The entry of an id, in the young generation afterwards, and so is all that it refers to. NULL:
 * forgotten.
 */
static struct entry *resolve(uint32_t id)
{
	struct entry *e = find_id(young(), id), *copy;
	uint32_t refs[MAX_REFS];
	unsigned n;

	if (e)
		return e;
	e = find_id(old(), id);
	if (!e)
		return NULL;
	n = refs_of(e->tag, e->body, e->len, refs);
	for (unsigned i = 0; i < n; i++)
		resolve(refs[i]);
	copy = (struct entry *)(void *)(young()->log + young()->used);
	memcpy(copy, e, offsetof(struct entry, body) + e->len);
	return link_entry(copy, rk_raw_sum(e->tag, e->body, e->len));
}

/* In the file for good, even if it was forgotten here. */
static bool is_in_file(uint32_t id)
{
	return !rk_rec.window && id >= names.first_id && id <= names.ids;
}

static void next_generation(void)
{
	uint32_t turn = atomic_load_explicit(&names.turn, memory_order_relaxed);
	struct generation *g = old();

	atomic_store_explicit(&names.turn, turn + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	/* gives the memory back, and reads as zeros */
	madvise(g->slots, GENERATION_BYTES, MADV_DONTNEED);
	g->used = 0;
	g->entries = 0;
	atomic_store_explicit(&names.turn, turn + 2, memory_order_release);
	for (unsigned i = 0; i < names.npinned; i++)
		resolve(names.pinned[i]);
}

uint32_t rk_rec_epoch(void)
{
	return (atomic_load_explicit(&names.turn, memory_order_acquire) + 1) / 2 + 1;
}

/* ---- stamps ---- */

static void set_stamp(uint32_t id, uint32_t epoch)
{
	_Atomic uint64_t *set = rk_rec_stamps_of(id), *at;

	/* in turn: the ids of one record may be in the same set, and must not replace each other */
	at = &set[names.victim++ % REC_STAMP_WAYS];
	for (unsigned i = 0; i < REC_STAMP_WAYS; i++) {
		uint64_t v = atomic_load_explicit(&set[i], memory_order_relaxed);

		if (v >> 32 == id || !v) {
			at = &set[i];
			break;
		}
	}
	atomic_store_explicit(at, (uint64_t)id << 32 | epoch, memory_order_release);
}

/* ---- the file ---- */

static void pin_all(void);

/*
 * Threads take a number for their block and look at the epoch afterwards; here it is the other way
 * round. So the records of a block with a number from first_turn on use definitions of this epoch
 * or later ones.
 */
static void begin_epoch(uint32_t epoch)
{
	atomic_store(&rk_rec.epoch, epoch);
	if (rk_rec.window)
		names.first_turn[epoch % names.segments] =
			atomic_fetch_add(&rk_rec.sequence, 0) + 1;
	names.used_blocks = 0;
	names.added = 0;
	names.added_bytes = 0;
	if (names.block)
		rk_rec_block_seal(names.block);
	names.block = NULL;
}

static void next_epoch(void)
{
	struct rk_raw_header *h = atomic_load(&rk_rec.header);
	uint32_t epoch = atomic_load(&rk_rec.epoch) + 1;

	begin_epoch(epoch);
	/* say that they are gone before the first of them is overwritten */
	if (epoch - names.first_epoch >= names.segments)
		__atomic_store_n(&h->live_from, names.first_turn[(epoch + 1) % names.segments],
				 __ATOMIC_RELEASE);
	atomic_thread_fence(memory_order_seq_cst);
	pin_all();
}

/* The next block for definitions. NULL: none left, in a window in this segment. */
static struct rk_raw_block *next_block(void)
{
	enum rk_raw_reason why; /* counted with the records that are lost because of it */
	struct rk_raw_block *b;
	uint64_t index;

	if (!rk_rec.window)
		return rk_rec_block_take(RK_RAW_DEFINITIONS, rk_rec_tid(), &why);
	if (names.used_blocks == names.segment_blocks)
		return NULL;
	index = atomic_load(&rk_rec.epoch) % names.segments * names.segment_blocks;
	index += 1 + names.used_blocks++;
	b = rk_rec_block_at(index);
	rk_rec_block_begin(b, RK_RAW_DEFINITIONS, rk_rec_tid(), ++names.sequence);
	return b;
}

static bool make_room(size_t need)
{
	struct rk_raw_block *b;

	if (names.block && (size_t)(names.end - names.pos) >= need)
		return true;
	if (need > rk_rec.block_bytes - sizeof(*b))
		return false;
	b = next_block();
	if (!b && rk_rec.window && !names.pinning) {
		next_epoch();
		if (names.block && (size_t)(names.end - names.pos) >= need)
			return true;
		b = next_block();
	}
	if (!b)
		return false;
	if (names.block)
		rk_rec_block_seal(names.block);
	names.block = b;
	names.pos = (uint8_t *)(b + 1);
	names.end = (uint8_t *)b + rk_rec.block_bytes;
	names.published = 0;
	return true;
}

/* There is room. id 0: the record has none. */
static void write_record(uint8_t tag, uint32_t id, const void *body, size_t len)
{
	uint8_t text[8], *text_end = id ? rk_rec_varint(text, id) : text, *p = names.pos;
	size_t nid = (size_t)(text_end - text);

	*p++ = tag;
	p = rk_rec_varint(p, nid + len);
	memcpy(p, text, nid);
	memcpy(p + nid, body, len);
	p += nid + len;
	__atomic_store_n(&names.block->types, names.block->types | 1u << tag, __ATOMIC_RELAXED);
	names.published += (uint64_t)1 << 32 | (uint64_t)(p - names.pos);
	names.pos = p;
	__atomic_store_n(&names.block->published, names.published, __ATOMIC_RELEASE);
}

/*
 * Writes a definition and what it refers to, unless this epoch has them. If another epoch begins
 * halfway, the first half must be written again.
 */
static bool emit(struct entry *e)
{
	uint32_t refs[MAX_REFS], epoch;
	unsigned n = refs_of(e->tag, e->body, e->len, refs);

	if (e->epoch == atomic_load(&rk_rec.epoch))
		return true;
	for (unsigned tries = 0; tries < 3; tries++) {
		epoch = atomic_load(&rk_rec.epoch);
		for (unsigned i = 0; i < n; i++) {
			struct entry *ref = find_id(young(), refs[i]);

			if (ref ? !emit(ref) : !is_in_file(refs[i]))
				return false;
		}
		if (!make_room(e->len + RECORD_EXTRA))
			return false;
		if (epoch != atomic_load(&rk_rec.epoch))
			continue;
		write_record(e->tag, e->id, e->body, e->len);
		e->epoch = epoch;
		set_stamp(e->id, epoch);
		return true;
	}
	return false;
}

/* Call before anything that adds to memory: entries do not move until the next call. */
static void make_memory(void)
{
	/*
	 * In a window a generation lasts several epochs. What is used is written again every two or
	 * three, and thus not forgotten, even if nobody asks for its id again.
	 */
	if (rk_rec.window && atomic_load(&rk_rec.header) &&
	    (names.added >= ENTRIES / GENERATION_EPOCHS - CHAIN ||
	     names.added_bytes >= LOG_BYTES / GENERATION_EPOCHS - CHAIN_BYTES))
		next_epoch();
	if (young()->used > LOG_BYTES - CHAIN_BYTES || young()->entries > ENTRIES - CHAIN)
		next_generation();
}

bool rk_rec_define(uint32_t id, uint32_t since)
{
	struct rec_slow slow = rk_rec_slow_begin();
	struct entry *e;
	bool ok;

	rk_rec_lock();
	make_memory();
	e = resolve(id);
	if (e && e->epoch >= since) {
		set_stamp(id, e->epoch);
		ok = true;
	} else if (e) {
		ok = emit(e);
	} else {
		ok = is_in_file(id);
		if (ok)
			set_stamp(id, atomic_load(&rk_rec.epoch));
	}
	rk_rec_unlock();
	rk_rec_slow_end(slow);
	return ok;
}

void rk_rec_names_open(void)
{
	uint32_t blocks = (uint32_t)(rk_rec.first_data - 1);

	names.segments = blocks < REC_SEGMENTS ? 2 : REC_SEGMENTS;
	names.segment_blocks = blocks / names.segments;
	names.first_id = names.ids + 1;
	names.sequence = 0;
	names.first_epoch = atomic_load(&rk_rec.epoch) + 1;
	names.calibrations = 0;
	begin_epoch(names.first_epoch);
	/* a block is left before its definitions are overwritten, while others are still there */
	rk_rec.lag = rk_rec.window ? names.segments / 2 : UINT32_MAX;
	pin_all();
}

/* ---- adding ---- */

/* NULL: no room in the file, or it refers to a definition that was forgotten. */
static struct entry *define(uint8_t tag, const void *body, size_t len, uint64_t hash)
{
	uint32_t refs[MAX_REFS];
	unsigned n = refs_of(tag, body, len, refs);
	struct entry *e;

	if (names.ids == UINT32_MAX)
		return NULL;
	for (unsigned i = 0; i < n; i++)
		if (!resolve(refs[i]) && !is_in_file(refs[i]))
			return NULL;
	e = (struct entry *)(void *)(young()->log + young()->used);
	e->id = names.ids + 1;
	e->len = (uint32_t)len;
	e->epoch = 0;
	e->tag = tag;
	memcpy(e->body, body, len);
	/* a child that has not recorded yet has no file: it is written when it is used */
	if (atomic_load(&rk_rec.header) && !emit(e))
		return NULL;
	names.ids++;
	if ((tag == RK_RAW_DEVICE || tag == RK_RAW_NOTE) && names.npinned < PINNED)
		names.pinned[names.npinned++] = e->id;
	return link_entry(e, hash);
}

static uint32_t add(struct rec_thread *t, uint8_t tag, const void *body, size_t len, uint64_t hash)
{
	struct rec_slow slow = rk_rec_slow_begin();
	const struct entry *e;
	uint32_t id;

	rk_rec_lock();
	make_memory();
	e = find(young(), tag, body, len, hash);
	if (!e) {
		e = find(old(), tag, body, len, hash);
		e = e ? resolve(e->id) : define(tag, body, len, hash);
	}
	id = e ? e->id : 0;
	rk_rec_unlock();
	if (!e)
		rk_rec_drop(t, RK_RAW_NAMES);
	rk_rec_slow_end(slow);
	return id;
}

static uint32_t intern(uint8_t tag, const void *body, size_t len)
{
	struct rec_thread *t = rk_rec_me();
	uint64_t hash;
	uint32_t id;

	if (!rk_rec_on())
		return 0;
	hash = rk_raw_sum(tag, body, len);
	id = find_quickly(tag, body, len, hash);
	if (id || rk_rec_busy(t))
		return id;
	id = add(t, tag, body, len, hash);
	rk_rec_done(t);
	return id;
}

/* ---- kinds ---- */

/* At most twelve numbers of ten bytes. */
enum { BODY_BYTES = 120 };

static uint32_t intern_numbers(uint8_t tag, const uint64_t *v, size_t n)
{
	uint8_t body[BODY_BYTES], *p = body;

	for (size_t i = 0; i < n; i++)
		p = rk_rec_varint(p, v[i]);
	return intern(tag, body, (size_t)(p - body));
}

uint32_t rk_rec_string(const char *text, size_t len)
{
	return intern(RK_RAW_STRING, text, len < RK_RAW_TEXT_MAX ? len : RK_RAW_TEXT_MAX);
}

uint32_t rk_rec_device(const struct rk_rec_device *d)
{
	const uint64_t v[] = { d->number,       d->type,          d->name,      d->vendor,
			       d->driver,       d->compute_units, d->clock_mhz, d->wave_size,
			       d->memory_bytes, d->arch,          d->pci,       d->unique_id };
	size_t n = sizeof(v) / sizeof(v[0]);

	while (n > 9 && !v[n - 1]) /* the others are always there */
		n--;
	return intern_numbers(RK_RAW_DEVICE, v, n);
}

uint32_t rk_rec_queue(uint32_t device, uint32_t number, uint32_t flags)
{
	const uint64_t v[] = { device, number, flags };

	return intern_numbers(RK_RAW_QUEUE, v, 3);
}

uint32_t rk_rec_stream(uint32_t device, uint32_t number, uint32_t context)
{
	const uint64_t v[] = { device, number, 0, (uint64_t)context + 1 };

	return intern_numbers(RK_RAW_QUEUE, v, 4);
}

void rk_rec_note(const char *text, size_t len)
{
	const uint64_t string = rk_rec_string(text, len);

	intern_numbers(RK_RAW_NOTE, &string, 1);
}

/* Stores value + 1, so that 0 means unknown. */
static uint32_t known(uint32_t v)
{
	return v == RK_REC_UNKNOWN ? 0 : v + 1;
}

uint32_t rk_rec_function(const struct rk_rec_function *f)
{
	const uint64_t v[] = { f->name,
			       f->device,
			       known(f->regs),
			       known(f->private_bytes),
			       known(f->local_bytes),
			       known(f->agprs),
			       known(f->sgprs) };

	return intern_numbers(RK_RAW_FUNCTION, v, f->agprs || f->sgprs ? 7 : 5);
}

uint32_t rk_rec_shape(const struct rk_rec_shape *s)
{
	const uint64_t v[] = { s->function, known(s->local_bytes), s->items[0], s->items[1],
			       s->items[2], s->group[0],           s->group[1], s->group[2] };
	uint32_t id = intern_numbers(RK_RAW_SHAPE, v, 8);

	return id ? id : s->function;
}

/* ---- calibrations ---- */

static void write_calibration(uint32_t device, const int64_t reading[4])
{
	uint8_t body[BODY_BYTES], *p = rk_rec_varint(body, device);
	struct entry *e = find_id(young(), device);
	uint32_t epoch;

	for (unsigned i = 0; i < 4; i++)
		p = rk_rec_zigzag(p, (uint64_t)reading[i]);
	if (!rk_rec.window && names.calibrations >= MAX_CALIBRATIONS)
		return;
	for (unsigned tries = 0; tries < 3; tries++) {
		epoch = atomic_load(&rk_rec.epoch);
		if ((e && !emit(e)) || !make_room((size_t)(p - body) + RECORD_EXTRA))
			return;
		if (epoch == atomic_load(&rk_rec.epoch)) {
			write_record(RK_RAW_CALIBRATION, 0, body, (size_t)(p - body));
			names.calibrations++;
			return;
		}
	}
}

/* A definition with all that it refers to. */
static size_t chain_bytes(const struct entry *e)
{
	uint32_t refs[MAX_REFS];
	unsigned n = e ? refs_of(e->tag, e->body, e->len, refs) : 0;
	size_t sum = e ? e->len + RECORD_EXTRA : 0;

	for (unsigned i = 0; i < n; i++)
		sum += chain_bytes(find_id(young(), refs[i]));
	return sum;
}

/* Half of a segment is for the definitions that are used. */
static bool may_pin(size_t bytes)
{
	size_t block = rk_rec.block_bytes, all = names.segment_blocks * block;
	size_t left = (names.segment_blocks - names.used_blocks) * block;

	if (names.block)
		left += (size_t)(names.end - names.pos);
	return !rk_rec.window || left >= bytes + all / 2;
}

/* Writes what every epoch should have. It never begins another one. */
static void pin_all(void)
{
	names.pinning = true;
	for (unsigned i = 0; i < names.npinned; i++) {
		struct entry *e = find_id(young(), names.pinned[i]);

		if (e && may_pin(chain_bytes(e)))
			emit(e);
	}
	for (unsigned i = 0; i < names.nclocks; i++) {
		const struct clock *c = &names.clocks[i];

		if (!may_pin(chain_bytes(find_id(young(), c->device)) +
			     (size_t)CLOCK_READINGS * BODY_BYTES))
			continue;
		for (uint32_t n = c->n > CLOCK_READINGS ? c->n - CLOCK_READINGS : 0; n < c->n; n++)
			write_calibration(c->device, c->readings[n % CLOCK_READINGS]);
	}
	names.pinning = false;
}

void rk_rec_calibration(uint32_t device, int64_t device_ns, int64_t boot_ns, int64_t raw_ns,
			int64_t error_ns)
{
	const int64_t reading[4] = { device_ns, boot_ns, raw_ns, error_ns };
	struct rec_thread *t = rk_rec_me();
	struct clock *c = names.clocks;
	struct rec_slow slow;

	if (!rk_rec_on() || rk_rec_busy(t))
		return;
	slow = rk_rec_slow_begin();
	rk_rec_lock();
	make_memory();
	while (c < names.clocks + names.nclocks && c->device != device)
		c++;
	if (c == names.clocks + names.nclocks && names.nclocks < CLOCKS)
		names.clocks[names.nclocks++].device = device;
	resolve(device);
	if (atomic_load(&rk_rec.header))
		write_calibration(device, reading);
	if (c < names.clocks + names.nclocks)
		memcpy(c->readings[c->n++ % CLOCK_READINGS], reading, sizeof(reading));
	rk_rec_unlock();
	rk_rec_slow_end(slow);
	rk_rec_done(t);
}
