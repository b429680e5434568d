/*
 * recorder_block.c - blocks: taken by a thread, filled, sealed, handed on.
 *
 * States: FREE or SEALED -> TAKEN -> OPEN -> SEALED. A block that is TAKEN when the process dies
 * holds nothing yet, or nothing any more. Only in a window are sealed blocks taken again, in the
 * order of their sealing: whatever was recorded since the last of them was sealed is there, and
 * besides what older records a block has that was open then. The open block of a thread that ends
 * is kept for the next thread, or short-lived threads would use up a file with blocks of three
 * records.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder_impl.h"

/* ---- loss ---- */

static void count_lost(enum rk_raw_reason why, uint64_t n)
{
	struct rk_raw_header *h = atomic_load_explicit(&rk_rec.header, memory_order_acquire);

	atomic_fetch_add_explicit(&rk_rec.lost, n, memory_order_relaxed);
	if (h)
		__atomic_fetch_add(&h->dropped[why], n, __ATOMIC_RELAXED);
}

void rk_rec_drop(struct rec_thread *t, enum rk_raw_reason why)
{
	t->lost++;
	count_lost(why, 1);
}

void rk_rec_source_lost(uint64_t n)
{
	/* in the child of a fork it would be counted in the parent's file */
	if (rk_rec_on() && atomic_load_explicit(rk_rec.alive, memory_order_relaxed))
		count_lost(RK_RAW_SOURCE, n);
}

/* ---- one block ---- */

static uint64_t index_of(const struct rk_raw_block *b)
{
	return (uint64_t)((const uint8_t *)b - rk_rec.base) / rk_rec.block_bytes;
}

void rk_rec_block_begin(struct rk_raw_block *b, enum rk_raw_kind kind, uint32_t tid,
			uint64_t sequence)
{
	b->magic = RK_RAW_BLOCK_MAGIC;
	__atomic_store_n(&b->published, 0, __ATOMIC_RELAXED);
	b->sequence = sequence;
	b->kind = kind;
	b->tid = tid;
	__atomic_store_n(&b->types, 0, __ATOMIC_RELAXED);
	b->sum = 0;
	__atomic_store_n(&b->state, RK_RAW_OPEN, __ATOMIC_RELEASE);
}

void rk_rec_block_seal(struct rk_raw_block *b)
{
	bool again = rk_rec.window && b->kind == RK_RAW_DATA;

	b->sum = rk_raw_block_sum(b, b + 1, (uint32_t)b->published);
	__atomic_store_n(&b->state, RK_RAW_SEALED, __ATOMIC_RELEASE);
	rk_rec_clocks_last();
	/* the file has it; the program's memory need not */
	madvise(b, rk_rec.block_bytes, MADV_DONTNEED);
	if (again)
		rk_rec_sealed_put(index_of(b));
}

/* Each block once; then the one whose last record is the oldest. 0: all are being written. */
static uint64_t index_in_window(uint64_t turn)
{
	uint64_t index = rk_rec.first_data + turn;

	return index < rk_rec.nblocks ? index : rk_rec_sealed_get();
}

static struct rk_raw_block *next_in_window(uint32_t tid, enum rk_raw_reason *why)
{
	uint64_t turn = atomic_fetch_add(&rk_rec.next, 1), index = index_in_window(turn);
	struct rk_raw_block *b = rk_rec_block_at(index);

	*why = RK_RAW_BUSY;
	if (!index)
		return NULL;
	*why = RK_RAW_DISK;
	if (index >= atomic_load(&rk_rec.reserved) && !rk_rec_file_grow(index, false)) {
		rk_rec_sealed_put(index);
		return NULL;
	}
	if (__atomic_exchange_n(&b->state, RK_RAW_TAKEN, __ATOMIC_ACQ_REL) == RK_RAW_SEALED)
		__atomic_fetch_add(&atomic_load(&rk_rec.header)->overwritten, b->published >> 32,
				   __ATOMIC_RELAXED);
	rk_rec_block_begin(b, RK_RAW_DATA, tid, turn + 1);
	return b;
}

struct rk_raw_block *rk_rec_block_take(enum rk_raw_kind kind, uint32_t tid, enum rk_raw_reason *why)
{
	int full = atomic_load_explicit(&rk_rec.full, memory_order_relaxed);
	uint64_t index;

	if (full) {
		*why = (enum rk_raw_reason)(full - 1);
		return NULL;
	}
	if (rk_rec.window)
		return next_in_window(tid, why);
	index = atomic_fetch_add(&rk_rec.next, 1);
	if (index >= rk_rec.nblocks) {
		*why = RK_RAW_FULL;
		atomic_store(&rk_rec.full, 1 + RK_RAW_FULL);
		return NULL;
	}
	*why = RK_RAW_DISK;
	if (index >= atomic_load(&rk_rec.reserved) &&
	    !rk_rec_file_grow(index, kind == RK_RAW_DEFINITIONS))
		return NULL;
	rk_rec_block_begin(rk_rec_block_at(index), kind, tid, index);
	return rk_rec_block_at(index);
}

/* ---- blocks without a thread ---- */

static bool put_spare(struct rk_raw_block *b)
{
	uint32_t index = (uint32_t)index_of(b);

	for (unsigned i = 0; i < REC_SPARE; i++) {
		uint32_t none = 0;

		if (atomic_compare_exchange_strong(&rk_rec.spare[i], &none, index)) {
			atomic_fetch_add(&rk_rec.nspare, 1);
			return true;
		}
	}
	return false;
}

static struct rk_raw_block *get_spare(void)
{
	if (!atomic_load_explicit(&rk_rec.nspare, memory_order_relaxed))
		return NULL;
	for (unsigned i = 0; i < REC_SPARE; i++) {
		uint32_t index = atomic_exchange(&rk_rec.spare[i], 0);

		if (index) {
			atomic_fetch_sub(&rk_rec.nspare, 1);
			return rk_rec_block_at(index);
		}
	}
	return NULL;
}

void rk_rec_spares_seal(void)
{
	struct rk_raw_block *b;

	while ((b = get_spare()))
		rk_rec_block_seal(b);
}

/* ---- a thread's block ---- */

/* The header's room counts as used: pos and end are of the payload. */
static void hold(struct rec_thread *t, struct rk_raw_block *b)
{
	uint8_t *payload = (uint8_t *)(b + 1);

	t->block = b;
	t->published = b->published;
	t->pos = payload + (uint32_t)b->published;
	t->end = (uint8_t *)b + rk_rec.block_bytes;
	t->queued = t->host = t->correlation = 0;
	t->prev_tid = t->tid;
	t->types = b->types;
	t->generation = atomic_load_explicit(rk_rec.alive, memory_order_relaxed);
}

static void publish_small(struct rec_thread *t, enum rk_raw_tag tag, uint64_t value)
{
	uint8_t *p = rk_rec_varint(t->pos + 2, value);

	t->pos[0] = (uint8_t)tag;
	t->pos[1] = (uint8_t)(p - t->pos - 2);
	t->types |= 1u << tag;
	__atomic_store_n(&t->block->types, t->types, __ATOMIC_RELAXED);
	t->published += (uint64_t)1 << 32 | (uint64_t)(p - t->pos);
	t->pos = p;
	__atomic_store_n(&t->block->published, t->published, __ATOMIC_RELEASE);
}

void rk_rec_block_leave(struct rec_thread *t, bool seal)
{
	if (t->generation != atomic_load_explicit(rk_rec.alive, memory_order_relaxed))
		return;
	if (seal || (size_t)(t->end - t->pos) < rk_rec.block_bytes / 8 || !put_spare(t->block))
		rk_rec_block_seal(t->block);
	t->generation = REC_NO_BLOCK;
}

static bool enter_block(struct rec_thread *t)
{
	enum rk_raw_reason why = RK_RAW_DISK;
	struct rk_raw_block *b = get_spare();
	bool adopted = b != NULL;

	if (!b)
		b = rk_rec_block_take(RK_RAW_DATA, t->tid, &why);
	if (!b) {
		rk_rec_drop(t, why);
		return false;
	}
	hold(t, b);
	if (adopted)
		publish_small(t, RK_RAW_THREAD, t->tid);
	if (t->lost)
		publish_small(t, RK_RAW_DROP, t->lost);
	t->lost = 0;
	return true;
}

static void on_thread_end(void *arg)
{
	struct rec_thread *t = arg;
	int saved = errno;

	if (!t->busy) {
		t->busy = 1;
		rk_rec_block_leave(t, false);
		t->busy = 0;
	}
	t->keyed = false;
	errno = saved;
}

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void make_key(void)
{
	has_key = !pthread_key_create(&key, on_thread_end);
}

static void watch_end(struct rec_thread *t)
{
	if (t->keyed)
		return;
	pthread_once(&key_once, make_key);
	t->keyed = has_key && !pthread_setspecific(key, t);
}

static bool next_block(struct rec_thread *t)
{
	if (!rk_rec_open_late())
		return false;
	rk_rec_tid();
	rk_rec_block_leave(t, true);
	if (!enter_block(t))
		return false;
	watch_end(t);
	return true;
}

bool rk_rec_block_next(struct rec_thread *t)
{
	struct rec_slow slow;
	bool ok;

	if (!rk_rec_on()) {
		rk_rec_drop(t, RK_RAW_DISK);
		return false;
	}
	slow = rk_rec_slow_begin();
	ok = next_block(t);
	rk_rec_slow_end(slow);
	return ok;
}
