/*
 * recorder_names.c - definitions: strings, devices, queues, functions, shapes, calibrations.
 *
 * They are stored one after another in a log in private memory, and a hash table points into it.
 * The log is written to definition blocks as it grows. The child of a fork has a copy and writes
 * all of it to its own file, so ids stay valid. An entry is added to the table only after it is in
 * the file: lookups need no lock, and a record never refers to a definition that is not in the
 * file.
 */
#include <string.h>
#include <sys/mman.h>

#include "recorder_impl.h"

enum {
	LOG_BYTES = 8 << 20,
	SLOTS = 1 << 17,
	IDS = SLOTS / 4 * 3,
	/* shapes (there may be very many) and calibrations must leave room for names */
	SHAPE_LOG = LOG_BYTES / 4 * 3,
	SHAPE_IDS = IDS / 4 * 3,
	MAX_CALIBRATIONS = 1 << 15,
	RECORD_EXTRA = 16, /* bytes of a record besides its body: tag, length, id */
};

struct entry {
	uint32_t id, len;
	uint8_t tag, body[];
};

static struct {
	uint8_t *log;
	_Atomic uint64_t *slots; /* upper half of the hash, 1 + offset / 8; 0: empty */
	size_t used, flushed;
	uint32_t ids, calibrations;
	struct rk_raw_block *block; /* the open block */
	uint8_t *pos, *end;
	uint64_t published, nblocks;
} names;

bool rk_rec_names_init(void)
{
	size_t slots = SLOTS * sizeof(*names.slots);
	uint8_t *p = mmap(NULL, slots + LOG_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	names.slots = (_Atomic uint64_t *)(void *)p;
	names.log = p + slots;
	return true;
}

void rk_rec_names_forget(void)
{
	names.block = NULL;
	names.pos = names.end = NULL;
	names.flushed = 0;
	names.nblocks = 0;
}

static struct entry *entry_at(size_t offset)
{
	return (struct entry *)(void *)(names.log + offset);
}

static size_t entry_bytes(size_t len)
{
	return (offsetof(struct entry, body) + len + 7) & ~(size_t)7;
}

/* ---- the table ---- */

static const struct entry *find(uint8_t tag, const void *body, size_t len, uint64_t hash)
{
	for (size_t i = hash & (SLOTS - 1);; i = (i + 1) & (SLOTS - 1)) {
		uint64_t slot = atomic_load_explicit(&names.slots[i], memory_order_acquire);
		const struct entry *e;

		if (!slot)
			return NULL;
		if (slot >> 32 != hash >> 32)
			continue;
		e = entry_at((size_t)((uint32_t)slot - 1) * 8);
		if (e->tag == tag && e->len == len && !memcmp(e->body, body, len))
			return e;
	}
}

/* ---- the file ---- */

/* In a window the first blocks are reserved for definitions; otherwise any block is used. */
static bool make_room(size_t need)
{
	enum rk_raw_reason why; /* counted with the records that are lost because of it */
	struct rk_raw_block *b = NULL;
	uint64_t index;

	if (names.block && (size_t)(names.end - names.pos) >= need)
		return true;
	index = ++names.nblocks;
	if (!rk_rec.window) {
		b = rk_rec_block_take(RK_RAW_DEFINITIONS, rk_rec_tid(), &why);
	} else if (index < rk_rec.first_data) {
		b = rk_rec_block_at(index);
		rk_rec_block_begin(b, RK_RAW_DEFINITIONS, rk_rec_tid(), index);
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

static void write_entry(const struct entry *e)
{
	uint8_t id[8], *id_end = e->tag == RK_RAW_CALIBRATION ? id : rk_rec_varint(id, e->id);
	size_t nid = (size_t)(id_end - id);
	uint8_t *p = names.pos;

	*p++ = e->tag;
	p = rk_rec_varint(p, nid + e->len);
	memcpy(p, id, nid);
	memcpy(p + nid, e->body, e->len);
	p += nid + e->len;
	__atomic_store_n(&names.block->types, names.block->types | 1u << e->tag, __ATOMIC_RELAXED);
	names.published += (uint64_t)1 << 32 | (uint64_t)(p - names.pos);
	names.pos = p;
	__atomic_store_n(&names.block->published, names.published, __ATOMIC_RELEASE);
}

bool rk_rec_names_flush(void)
{
	while (names.flushed < names.used) {
		const struct entry *e = entry_at(names.flushed);

		if (!make_room(e->len + RECORD_EXTRA))
			return false;
		write_entry(e);
		names.flushed += entry_bytes(e->len);
	}
	return true;
}

/* ---- adding ---- */

/* Call with the lock held. NULL: no room, in memory or in the file. */
static const struct entry *append(uint8_t tag, const void *body, size_t len)
{
	struct entry *e = entry_at(names.used);
	size_t before = names.used, log = LOG_BYTES;
	uint32_t ids = IDS;

	if (tag == RK_RAW_SHAPE || tag == RK_RAW_CALIBRATION) {
		log = SHAPE_LOG;
		ids = SHAPE_IDS;
	}
	if (names.used > log || entry_bytes(len) > log - names.used || names.ids >= ids ||
	    (tag == RK_RAW_CALIBRATION && names.calibrations >= MAX_CALIBRATIONS))
		return NULL;
	e->id = names.ids + 1;
	e->len = (uint32_t)len;
	e->tag = tag;
	memcpy(e->body, body, len);
	names.used += entry_bytes(len);
	/* a child that has not recorded yet has no file: this is written later with all others */
	if (atomic_load(&rk_rec.header) && !rk_rec_names_flush()) {
		names.used = before;
		return NULL;
	}
	if (tag == RK_RAW_CALIBRATION)
		names.calibrations++;
	else
		names.ids++;
	return e;
}

static uint32_t add(struct rec_thread *t, uint8_t tag, const void *body, size_t len, uint64_t hash)
{
	struct rec_slow slow = rk_rec_slow_begin();
	const struct entry *e;

	rk_rec_lock();
	e = find(tag, body, len, hash);
	if (!e) {
		e = append(tag, body, len);
		if (e) {
			uint64_t offset = (uint64_t)((const uint8_t *)e - names.log) / 8;
			size_t i = hash & (SLOTS - 1);

			while (atomic_load_explicit(&names.slots[i], memory_order_relaxed))
				i = (i + 1) & (SLOTS - 1);
			atomic_store_explicit(&names.slots[i], hash >> 32 << 32 | (offset + 1),
					      memory_order_release);
		}
	}
	rk_rec_unlock();
	if (!e)
		rk_rec_drop(t, RK_RAW_NAMES);
	rk_rec_slow_end(slow);
	return e ? e->id : 0;
}

static uint32_t intern(uint8_t tag, const void *body, size_t len)
{
	struct rec_thread *t = rk_rec_me();
	const struct entry *e;
	uint64_t hash;
	uint32_t id;

	if (!rk_rec_on())
		return 0;
	hash = rk_raw_sum(tag, body, len);
	e = find(tag, body, len, hash);
	if (e)
		return e->id;
	if (rk_rec_busy(t))
		return 0;
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

uint32_t rk_rec_epoch(void)
{
	return 1; /* nothing is forgotten yet */
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

void rk_rec_calibration(uint32_t device, int64_t device_ns, int64_t boot_ns, int64_t raw_ns,
			int64_t error_ns)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t body[BODY_BYTES], *p = body;
	struct rec_slow slow;

	if (!rk_rec_on() || rk_rec_busy(t))
		return;
	slow = rk_rec_slow_begin();
	p = rk_rec_varint(p, device);
	p = rk_rec_zigzag(p, (uint64_t)device_ns);
	p = rk_rec_zigzag(p, (uint64_t)boot_ns);
	p = rk_rec_zigzag(p, (uint64_t)raw_ns);
	p = rk_rec_zigzag(p, (uint64_t)error_ns);
	rk_rec_lock();
	append(RK_RAW_CALIBRATION, body, (size_t)(p - body));
	rk_rec_unlock();
	rk_rec_slow_end(slow);
	rk_rec_done(t);
}
