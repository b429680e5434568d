/*
 * strtab.c - interned strings.
 *
 * A published entry never moves: entries are in blocks of BLOCK, text is in chunks, and both only
 * grow. The slot array uses open addressing and holds entry ids + 1. When it is half full a larger
 * one is built and published; the old one is kept until the end because a reader may still use it
 * (all old ones together are smaller than the current one). A look-up that misses takes the lock
 * and looks again before it adds. rk_index of map.h cannot be used because look-ups run without a
 * lock while another thread adds.
 */
#include "base/strtab.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

enum {
	BLOCK = 1024,
	MAX_BLOCKS = 1 << 16,
	CHUNK_BYTES = 64 << 10,
	FIRST_SLOTS = 1024,
	STANDINS = 4096,
	OVERHEAD = 64, /* bytes per text beside the text: its entry and up to 8 slot words */
};

struct entry {
	const char *text;
	uint64_t hash;
	size_t len;
};

struct slots {
	struct slots *older;
	size_t mask;
	_Atomic uint32_t id[]; /* 0: empty, else id + 1 */
};

struct chunk {
	struct chunk *next;
	char text[];
};

struct rk_strtab {
	_Atomic(struct slots *) slots;
	_Atomic(struct entry *) *blocks;
	_Atomic uint32_t count;
	pthread_mutex_t lock;
	struct chunk *chunks;
	size_t chunk_used, chunk_cap;
	size_t used_bytes, max_bytes;
	_Atomic bool overflowed;
};

static struct entry *entry_of(const struct rk_strtab *t, uint32_t id)
{
	return atomic_load_explicit(&t->blocks[id / BLOCK], memory_order_acquire) + id % BLOCK;
}

static bool find(const struct rk_strtab *t, uint64_t hash, const char *text, size_t len,
		 uint32_t *ret_id)
{
	struct slots *s = atomic_load_explicit(&t->slots, memory_order_acquire);

	for (size_t i = hash & s->mask;; i = (i + 1) & s->mask) {
		uint32_t id = atomic_load_explicit(&s->id[i], memory_order_acquire);
		struct entry *e;

		if (!id)
			return false;
		e = entry_of(t, id - 1);
		if (e->hash == hash && e->len == len && !memcmp(e->text, text, len)) {
			*ret_id = id - 1;
			return true;
		}
	}
}

static struct slots *slots_new(size_t n)
{
	struct slots *s = rk_calloc(1, sizeof(*s) + n * sizeof(s->id[0]));

	if (s)
		s->mask = n - 1;
	return s;
}

static void slot_put(struct slots *s, uint64_t hash, uint32_t id)
{
	size_t i = hash & s->mask;

	while (atomic_load_explicit(&s->id[i], memory_order_relaxed))
		i = (i + 1) & s->mask;
	atomic_store_explicit(&s->id[i], id + 1, memory_order_release);
}

/* Adds a text that is not in the table. Call with the lock held. */
static int insert(struct rk_strtab *t, uint64_t hash, const char *text, size_t len,
		  uint32_t *ret_id, struct rk_error *err)
{
	uint32_t id = atomic_load(&t->count);
	struct slots *old = atomic_load(&t->slots), *s;
	size_t cap = len + 1 > CHUNK_BYTES / 4 ? len + 1 : CHUNK_BYTES;
	struct entry *block;
	struct chunk *c;
	char *copy;

	if (!atomic_load_explicit(&t->blocks[id / BLOCK], memory_order_relaxed)) {
		block = rk_calloc(BLOCK, sizeof(*block));
		if (!block)
			return rk_fail_nomem(err);
		atomic_store_explicit(&t->blocks[id / BLOCK], block, memory_order_release);
	}
	if ((size_t)id * 2 >= old->mask + 1) {
		s = slots_new((old->mask + 1) * 2);
		if (!s)
			return rk_fail_nomem(err);
		for (uint32_t i = 0; i < id; i++)
			slot_put(s, entry_of(t, i)->hash, i);
		s->older = old;
		atomic_store_explicit(&t->slots, s, memory_order_release);
	}
	if (!t->chunks || t->chunk_cap - t->chunk_used < len + 1) {
		c = rk_alloc(sizeof(*c) + cap);
		if (!c)
			return rk_fail_nomem(err);
		c->next = t->chunks;
		t->chunks = c;
		t->chunk_cap = cap;
		t->chunk_used = 0;
	}
	copy = t->chunks->text + t->chunk_used;
	t->chunk_used += len + 1;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*entry_of(t, id) = (struct entry){ .text = copy, .hash = hash, .len = len };
	t->used_bytes += len + OVERHEAD;
	atomic_store_explicit(&t->count, id + 1, memory_order_release);
	slot_put(atomic_load(&t->slots), hash, id);
	*ret_id = id;
	return 0;
}

static int add_locked(struct rk_strtab *t, uint64_t hash, const char *text, size_t len,
		      uint32_t *ret_id, struct rk_error *err)
{
	char standin[48];
	uint64_t h;

	if (find(t, hash, text, len, ret_id))
		return 0;
	if (len <= t->max_bytes && t->used_bytes + len + OVERHEAD <= t->max_bytes &&
	    atomic_load(&t->count) < (uint32_t)MAX_BLOCKS * BLOCK - STANDINS)
		return insert(t, hash, text, len, ret_id, err);
	atomic_store(&t->overflowed, true);
	snprintf(standin, sizeof(standin), "(name table full) #%03x",
		 (unsigned)(hash >> 40) % STANDINS);
	len = strlen(standin);
	h = rk_hash_bytes(standin, len);
	if (find(t, h, standin, len, ret_id))
		return 0;
	return insert(t, h, standin, len, ret_id, err);
}

int rk_strtab_add(struct rk_strtab *t, const char *text, size_t len, uint32_t *ret_id,
		  struct rk_error *err)
{
	uint64_t hash = rk_hash_bytes(text, len);
	int rc;

	if (!len) {
		*ret_id = 0; /* text may be NULL */
		return 0;
	}
	if (find(t, hash, text, len, ret_id))
		return 0;
	pthread_mutex_lock(&t->lock);
	rc = add_locked(t, hash, text, len, ret_id, err);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

const char *rk_strtab_borrow(const struct rk_strtab *t, uint32_t id, size_t *ret_len)
{
	const struct entry *e = entry_of(t, id);

	if (ret_len)
		*ret_len = e->len;
	return e->text;
}

uint32_t rk_strtab_count(const struct rk_strtab *t)
{
	return atomic_load_explicit(&t->count, memory_order_acquire);
}

bool rk_strtab_overflowed(const struct rk_strtab *t)
{
	return atomic_load(&t->overflowed);
}

int rk_strtab_new(size_t max_bytes, struct rk_strtab **ret, struct rk_error *err)
{
	struct rk_strtab *t = rk_calloc(1, sizeof(*t));
	uint32_t empty;
	int rc;

	if (!t)
		return rk_fail_nomem(err);
	pthread_mutex_init(&t->lock, NULL);
	t->max_bytes = max_bytes;
	t->blocks = rk_calloc(MAX_BLOCKS, sizeof(*t->blocks));
	atomic_init(&t->slots, slots_new(FIRST_SLOTS));
	if (!t->blocks || !atomic_load(&t->slots))
		rc = rk_fail_nomem(err);
	else
		rc = insert(t, rk_hash_bytes("", 0), "", 0, &empty, err);
	if (rc < 0) {
		rk_strtab_free(t);
		return rc;
	}
	*ret = t;
	return 0;
}

void rk_strtab_free(struct rk_strtab *t)
{
	if (!t)
		return;
	for (struct slots *s = atomic_load(&t->slots), *older; s; s = older) {
		older = s->older;
		rk_free(s);
	}
	for (struct chunk *c = t->chunks, *next; c; c = next) {
		next = c->next;
		rk_free(c);
	}
	for (size_t i = 0; t->blocks && i < MAX_BLOCKS && t->blocks[i]; i++)
		rk_free(t->blocks[i]);
	rk_free(t->blocks);
	pthread_mutex_destroy(&t->lock);
	rk_free(t);
}
