/*
 * recorder_block.c - blocks and the records in them.
 *
 * In a window: the sealed blocks, oldest seal first.
 *
 * The order in which blocks were taken is not enough. A thread that records little keeps its block
 * for a long time, and its last records are among the newest when the block is finally sealed.
 *
 * There are as many slots as blocks, so a slot is always free. To add a block, a thread claims a
 * number, then fills the slot of that number. No thread waits for one that was stopped between the
 * two steps: its number is skipped, and its block is found when the slot comes round again, or when
 * there is no other. Until then the block is kept, so nothing is lost.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder_impl.h"

static uint64_t nplaces(void)
{
	return rk_rec.nblocks - rk_rec.first_data;
}

static _Atomic uint64_t *place_of(uint64_t number)
{
	return &rk_rec.sealed[number % nplaces()];
}

/* Pages of slots that were never used take no memory. */
static size_t places_bytes(void)
{
	return nplaces() * (sizeof(*rk_rec.sealed) + sizeof(*rk_rec.born));
}

bool rk_rec_sealed_open(void)
{
	size_t len = places_bytes();
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	rk_rec.sealed = p;
	rk_rec.born = (uint32_t *)(void *)(rk_rec.sealed + nplaces());
	atomic_store(&rk_rec.sealed_first, 0);
	atomic_store(&rk_rec.sealed_end, 0);
	return true;
}

void rk_rec_sealed_close(void)
{
	if (rk_rec.sealed)
		munmap(rk_rec.sealed, places_bytes());
	rk_rec.sealed = NULL;
}

/* The number next to the index makes every value unique; see first_sealed(). */
static void rec_sealed_put(uint64_t index)
{
	uint64_t none, number;

	do {
		none = 0;
		number = atomic_fetch_add(&rk_rec.sealed_end, 1);
	} while (!atomic_compare_exchange_strong(place_of(number), &none, number << 32 | index));
}

/* A block that was first when we looked stays first until it is removed. */
static uint64_t first_sealed(void)
{
	uint64_t number, value;

	while ((number = atomic_load(&rk_rec.sealed_first)) != atomic_load(&rk_rec.sealed_end)) {
		value = atomic_load(place_of(number));
		if (number != atomic_load(&rk_rec.sealed_first))
			continue;
		if (value && !atomic_compare_exchange_strong(place_of(number), &value, 0))
			continue;
		atomic_compare_exchange_strong(&rk_rec.sealed_first, &number, number + 1);
		if (value)
			return (uint32_t)value;
	}
	return 0;
}

/* Removes and returns the block that was sealed first; 0: there is none. */
static uint64_t rec_sealed_get(void)
{
	uint64_t index = first_sealed();

	if (index)
		return index;
	/* No block is at the expected numbers: search all slots. */
	for (uint64_t i = 0; i < nplaces(); i++) {
		uint64_t value = atomic_load(place_of(i));

		if (value && atomic_compare_exchange_strong(place_of(i), &value, 0))
			return (uint32_t)value;
	}
	return 0;
}

/* ---- blocks: taken by a thread, filled, sealed, reused ---- */
/*
 * States: FREE or SEALED -> TAKEN -> OPEN -> SEALED. A block that is TAKEN when the process dies
 * has no valid records. Sealed blocks are reused only in a window, in the order in which they were
 * sealed. So the file has everything recorded after the last reused block was sealed, plus older
 * records of blocks that were open then. When a thread ends, its open block is kept for the next
 * thread; otherwise short-lived threads would fill the file with blocks of three records.
 */

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
	/* in the child of a fork this would count in the parent's file */
	if (rk_rec_on() && atomic_load_explicit(rk_rec.alive, memory_order_relaxed))
		count_lost(RK_RAW_SOURCE, n);
}

/* ---- one block ---- */

static uint64_t index_of(const struct rk_raw_block *b)
{
	return (uint64_t)((const uint8_t *)b - rk_rec.base) / rk_rec.block_bytes;
}

/* What the file says, but never more than there is: others may write to it. */
static size_t payload_bytes(const struct rk_raw_block *b)
{
	size_t most = rk_rec.block_bytes - sizeof(*b);
	uint32_t len = (uint32_t)__atomic_load_n(&b->published, __ATOMIC_RELAXED);

	return len < most ? len : most;
}

/*
 * Someone who copies the block while it is taken again reads its header before and after. The new
 * sequence is there before the first byte of the payload changes.
 */
void rk_rec_block_begin(struct rk_raw_block *b, enum rk_raw_kind kind, uint32_t tid,
			uint64_t sequence)
{
	__atomic_store_n(&b->state, RK_RAW_TAKEN, __ATOMIC_RELAXED);
	__atomic_store_n(&b->sequence, sequence, __ATOMIC_RELAXED);
	__atomic_store_n(&b->published, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	b->magic = RK_RAW_BLOCK_MAGIC;
	b->kind = kind;
	b->tid = tid;
	__atomic_store_n(&b->types, 0, __ATOMIC_RELAXED);
	b->sum = 0;
	__atomic_store_n(&b->state, RK_RAW_OPEN, __ATOMIC_RELEASE);
}

void rk_rec_block_seal(struct rk_raw_block *b)
{
	bool again = rk_rec.window && index_of(b) >= rk_rec.first_data;

	b->sum = rk_raw_block_sum(b, b + 1, payload_bytes(b));
	__atomic_store_n(&b->state, RK_RAW_SEALED, __ATOMIC_RELEASE);
	rk_rec_clocks_last();
	/* the data is in the file; free the program's memory */
	madvise(b, rk_rec.block_bytes, MADV_DONTNEED);
	if (again)
		rec_sealed_put(index_of(b));
}

/* Takes unused blocks first, then the block whose last record is oldest. */
static struct rk_raw_block *next_in_window(uint32_t tid, enum rk_raw_reason *why)
{
	uint64_t index = rk_rec.first_data + atomic_fetch_add(&rk_rec.next, 1), sequence;
	struct rk_raw_block *b;
	uint32_t epoch;

	if (index >= rk_rec.nblocks)
		index = rec_sealed_get();
	*why = RK_RAW_BUSY;
	if (!index)
		return NULL;
	b = rk_rec_block_at(index);
	*why = RK_RAW_DISK;
	if (index >= atomic_load(&rk_rec.reserved) && !rk_rec_file_grow(index, false)) {
		rec_sealed_put(index);
		return NULL;
	}
	if (__atomic_exchange_n(&b->state, RK_RAW_TAKEN, __ATOMIC_ACQ_REL) == RK_RAW_SEALED)
		__atomic_fetch_add(&atomic_load(&rk_rec.header)->overwritten, b->published >> 32,
				   __ATOMIC_RELAXED);
	/* a number of this epoch: see begin_epoch() */
	do {
		epoch = atomic_load(&rk_rec.epoch);
		sequence = atomic_fetch_add(&rk_rec.sequence, 1) + 1;
	} while (atomic_load(&rk_rec.epoch) != epoch);
	rk_rec_block_begin(b, RK_RAW_DATA, tid, sequence);
	rk_rec.born[index - rk_rec.first_data] = epoch;
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

/* ---- open blocks of ended threads ---- */

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

static uint32_t epoch_of(const struct rk_raw_block *b)
{
	if (!rk_rec.window)
		return atomic_load_explicit(&rk_rec.epoch, memory_order_relaxed);
	return rk_rec.born[index_of(b) - rk_rec.first_data];
}

static bool is_too_old(uint32_t epoch)
{
	return atomic_load_explicit(&rk_rec.epoch, memory_order_relaxed) - epoch >= rk_rec.lag;
}

static bool enter_block(struct rec_thread *t)
{
	enum rk_raw_reason why = RK_RAW_DISK;
	struct rk_raw_block *b = get_spare();
	bool adopted;

	while (b && (is_too_old(epoch_of(b)) ||
		     rk_rec.block_bytes - sizeof(*b) - payload_bytes(b) < rk_rec.block_bytes / 8)) {
		rk_rec_block_seal(b);
		b = get_spare();
	}
	adopted = b != NULL;

	if (!b)
		b = rk_rec_block_take(RK_RAW_DATA, t->tid, &why);
	if (!b) {
		rk_rec_drop(t, why);
		return false;
	}
	/* The header counts as used; pos and end refer to the payload. */
	t->block = b;
	t->published = b->published;
	t->pos = (uint8_t *)(b + 1) + payload_bytes(b);
	t->epoch = epoch_of(b);
	t->end = (uint8_t *)b + rk_rec.block_bytes;
	t->queued = t->host = t->correlation = 0;
	t->prev_tid = t->tid;
	memset(&t->last, 0, sizeof(t->last));
	t->last.tid = t->tid;
	t->types = b->types;
	t->generation = atomic_load_explicit(rk_rec.alive, memory_order_relaxed);
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

static bool rec_block_next(struct rec_thread *t)
{
	struct rec_slow slow;
	bool ok = false;

	if (!rk_rec_on()) {
		rk_rec_drop(t, RK_RAW_DISK);
		return false;
	}
	slow = rk_rec_slow_begin();
	if (rk_rec_open_late()) {
		rk_rec_tid();
		rk_rec_block_leave(t, true);
		ok = enter_block(t);
	}
	if (ok && !t->keyed) {
		pthread_once(&key_once, make_key);
		t->keyed = has_key && !pthread_setspecific(key, t);
	}
	rk_rec_slow_end(slow);
	return ok;
}

/* ---- writing records ---- */
/*
 * All record functions work the same way: check that the thread still owns its block and that the
 * largest record fits, write tag, length and fields after the published bytes, then publish with
 * one store.
 */

static inline bool has_block(const struct rec_thread *t)
{
	return t->generation == atomic_load_explicit(rk_rec.alive, memory_order_relaxed) &&
	       t->end - t->pos >= RK_RAW_RECORD_MAX && !is_too_old(t->epoch);
}

/* Whether a definition is in the file, for as long as the thread's block is. */
static inline bool is_defined(const struct rec_thread *t, uint32_t id)
{
	_Atomic uint64_t *set = rk_rec_stamps_of(id);

	for (unsigned i = 0; id && i < REC_STAMP_WAYS; i++) {
		uint64_t stamp = atomic_load_explicit(&set[i], memory_order_acquire);

		if (stamp >> 32 == id)
			return (uint32_t)stamp >= t->epoch;
	}
	return !id;
}

__attribute__((noinline)) static bool prepare_slowly(struct rec_thread *t, const uint32_t ids[3])
{
	/* a definition may need the room of the one before, and a block gets too old meanwhile */
	for (unsigned tries = 0; tries < 4; tries++) {
		bool all = true;

		if (!has_block(t) && !rec_block_next(t))
			return false;
		for (unsigned i = 0; i < 3; i++) {
			if (is_defined(t, ids[i]))
				continue;
			all = false;
			if (!rk_rec_define(ids[i], t->epoch))
				tries = 4; /* forgotten, or no room at all */
		}
		if (all)
			return true;
	}
	rk_rec_drop(t, RK_RAW_NAMES);
	return false;
}

/*
 * Returns where the fields go, or NULL if nothing is recorded. The thread is busy until `publish`.
 * The ids are those of the definitions that the record uses, 0 for none.
 */
__attribute__((always_inline)) static inline uint8_t *prepare(struct rec_thread *t, uint32_t a,
							      uint32_t b, uint32_t c)
{
	if (rk_rec_busy(t))
		return NULL;
	if (__builtin_expect(!has_block(t) || !is_defined(t, a) || !is_defined(t, b) ||
				     !is_defined(t, c),
			     0) &&
	    !prepare_slowly(t, (const uint32_t[]){ a, b, c })) {
		rk_rec_done(t);
		return NULL;
	}
	return t->pos + 2;
}

static inline bool publish(struct rec_thread *t, enum rk_raw_tag tag, const uint8_t *p)
{
	uint64_t len = (uint64_t)(p - t->pos);

	t->pos[0] = (uint8_t)tag;
	t->pos[1] = (uint8_t)(len - 2);
	if (__builtin_expect(!(t->types >> tag & 1), 0)) {
		t->types |= 1u << tag;
		__atomic_store_n(&t->block->types, t->types, __ATOMIC_RELAXED);
	}
	t->published += (uint64_t)1 << 32 | len;
	t->pos += len;
	__atomic_store_n(&t->block->published, t->published, __ATOMIC_RELEASE);
	rk_rec_done(t);
	return true;
}

/* ---- delta-encoded fields ---- */

static inline uint32_t thread_of(const struct rec_thread *t, uint32_t tid)
{
	if (tid == RK_REC_UNKNOWN)
		return 0;
	return tid ? tid : t->tid;
}

static inline uint8_t *put_operation(struct rec_thread *t, uint8_t *p, uint32_t tid,
				     uint64_t correlation)
{
	tid = thread_of(t, tid);
	p = rk_rec_zigzag(p, (uint64_t)tid - t->prev_tid);
	p = rk_rec_zigzag(p, correlation - t->correlation);
	t->prev_tid = tid;
	t->correlation = correlation;
	return p;
}

static inline uint8_t *put_times(struct rec_thread *t, uint8_t *p, const struct rk_rec_times *at)
{
	uint64_t queued = (uint64_t)at->queued, submit = (uint64_t)at->submit;
	uint64_t start = (uint64_t)at->start, end = (uint64_t)at->end;

	p = rk_rec_zigzag(p, queued - t->queued);
	p = rk_rec_zigzag(p, submit - queued);
	p = rk_rec_zigzag(p, start - submit);
	p = rk_rec_zigzag(p, end - start);
	t->queued = queued;
	return p;
}

static inline uint8_t *put_host(struct rec_thread *t, uint8_t *p, int64_t start_ns,
				int64_t duration_ns)
{
	p = rk_rec_zigzag(p, (uint64_t)start_ns - t->host);
	p = rk_rec_zigzag(p, (uint64_t)duration_ns);
	t->host = (uint64_t)start_ns;
	return p;
}

/* The thread of a record that another thread writes, after the common fields; 0: unknown. */
static inline uint8_t *put_tid(uint8_t *p, uint32_t tid)
{
	return rk_rec_varint(p, tid == RK_REC_UNKNOWN ? 0 : tid);
}

/* Nodes are stored relative to their graph's number in the upper half. */
static inline uint8_t *put_graph(uint8_t *p, uint64_t graph, uint64_t node)
{
	p = rk_rec_varint(p, graph);
	return rk_rec_zigzag(p, node - (graph << 32));
}

/* ---- running operations ---- */

uint64_t rk_rec_next_id(void)
{
	return atomic_fetch_add_explicit(&rk_rec.ids, 1, memory_order_relaxed) + 1;
}

static inline struct rk_raw_stripe *stripe(struct rec_thread *t)
{
	struct rk_raw_header *h = atomic_load_explicit(&rk_rec.header, memory_order_acquire);

	/* a child could touch its parent's file here */
	if (!h || !atomic_load_explicit(rk_rec.alive, memory_order_relaxed))
		return NULL;
	if (__builtin_expect(!t->tid, 0))
		rk_rec_tid(); /* otherwise all threads that only launch would share a cache line */
	return &h->stripes[t->tid % RK_RAW_STRIPES];
}

struct rk_raw_stripe *rk_rec_stripe(struct rec_thread *t)
{
	return stripe(t);
}

static inline void begun(struct rec_thread *t)
{
	struct rk_raw_stripe *s = stripe(t);

	if (s)
		__atomic_fetch_add(&s->begun, 1, __ATOMIC_RELAXED);
}

uint32_t rk_rec_begun(void)
{
	begun(rk_rec_me());
	return rk_rec_tid();
}

/* The operation ended: recorded, dropped or never started. */
static inline void ended(struct rec_thread *t)
{
	struct rk_raw_stripe *s = stripe(t);

	if (s)
		__atomic_fetch_add(&s->ended, 1, __ATOMIC_RELAXED);
}

void rk_rec_failed(void)
{
	ended(rk_rec_me());
}

/* ---- records ---- */

bool rk_rec_kernel(const struct rk_rec_kernel *k)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, k->shape, k->queue, 0);
	bool ok = false;

	if (p) {
		p = rk_rec_varint(p, k->shape);
		p = rk_rec_varint(p, k->queue);
		p = put_operation(t, p, k->tid, k->correlation);
		p = put_times(t, p, &k->t);
		if (k->graph)
			p = put_graph(p, k->graph, k->graph_node);
		ok = publish(t, RK_RAW_KERNEL, p);
	}
	ended(t);
	return ok;
}

bool rk_rec_launch(const struct rk_rec_launch *l)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, l->shape, l->queue, 0);
	uint32_t tid;

	begun(t);
	if (!p)
		return false;
	tid = thread_of(t, l->tid);
	p = rk_rec_zigzag(p, l->id - t->last.id);
	p = rk_rec_zigzag(p, l->correlation - t->last.correlation);
	p = rk_rec_varint(p, l->shape);
	p = rk_rec_varint(p, l->queue);
	p = rk_rec_zigzag(p, (uint64_t)tid - t->last.tid);
	p = rk_rec_zigzag(p, (uint64_t)l->submit_ns - t->last.at);
	if (l->graph)
		p = put_graph(p, l->graph, l->graph_node);
	t->last.id = l->id;
	t->last.correlation = l->correlation;
	t->last.tid = tid;
	t->last.at = (uint64_t)l->submit_ns;
	return publish(t, RK_RAW_LAUNCH, p);
}

bool rk_rec_ran(uint64_t id, int64_t start, int64_t end, uint32_t flags)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = id ? prepare(t, 0, 0, 0) : NULL;
	bool ok = false;

	if (p) {
		p = rk_rec_zigzag(p, id - t->last.id);
		t->last.id = id;
		if (flags & RK_RAW_NO_TIMES) {
			p = rk_rec_varint(rk_rec_varint(p, 0), 0);
		} else {
			p = rk_rec_zigzag(p, (uint64_t)start - t->last.start);
			p = rk_rec_zigzag(p, (uint64_t)end - (uint64_t)start);
			t->last.start = (uint64_t)start;
		}
		if (flags)
			p = rk_rec_varint(p, flags);
		ok = publish(t, RK_RAW_RAN, p);
	}
	ended(t);
	return ok;
}

bool rk_rec_copy(const struct rk_rec_copy *c)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, c->queue, c->from, c->to);
	bool ok = false;

	if (p) {
		p = rk_rec_varint(p, c->direction);
		p = rk_rec_varint(p, c->queue);
		p = rk_rec_varint(p, c->bytes);
		p = put_operation(t, p, c->tid, c->correlation);
		p = put_times(t, p, &c->t);
		if (c->from || c->to)
			p = rk_rec_varint(rk_rec_varint(p, c->from), c->to);
		ok = publish(t, RK_RAW_COPY, p);
	}
	ended(t);
	return ok;
}

bool rk_rec_sync(const struct rk_rec_sync *s)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, s->name, s->queue, 0);
	bool ok = false;

	if (p) {
		p = rk_rec_varint(p, s->name);
		p = rk_rec_varint(p, s->queue);
		p = put_operation(t, p, s->tid, s->correlation);
		ok = publish(t, RK_RAW_SYNC, put_times(t, p, &s->t));
	}
	ended(t);
	return ok;
}

static inline uint8_t *put_call(struct rec_thread *t, uint8_t *p, uint32_t name,
				uint64_t correlation, int64_t start_ns, int64_t duration_ns)
{
	p = rk_rec_varint(p, name);
	if (correlation) {
		p = rk_rec_varint(p, 1 + rk_rec_sign_last(correlation - t->last.correlation));
		t->last.correlation = correlation;
	} else {
		p = rk_rec_varint(p, 0);
	}
	p = rk_rec_zigzag(p, (uint64_t)start_ns - t->last.at);
	t->last.at = (uint64_t)start_ns;
	return rk_rec_zigzag(p, (uint64_t)duration_ns);
}

bool rk_rec_api(uint32_t function_name, int64_t start_ns, int64_t duration_ns, uint64_t correlation)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, function_name, 0, 0);

	if (!p)
		return false;
	p = put_call(t, p, function_name, correlation, start_ns, duration_ns);
	return publish(t, RK_RAW_CALL, p);
}

bool rk_rec_call(const struct rk_rec_call *c)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, c->name, c->domain, 0);

	if (!p)
		return false;
	p = put_call(t, p, c->name, c->correlation, c->start_ns, c->duration_ns);
	return publish(t, RK_RAW_CALL, rk_rec_varint(put_tid(p, c->tid), c->domain));
}

bool rk_rec_marker(const struct rk_rec_marker *m)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, m->name, m->domain, 0);

	if (!p)
		return false;
	p = rk_rec_varint(p, m->kind);
	p = rk_rec_varint(p, m->name);
	p = rk_rec_varint(p, m->domain);
	p = rk_rec_varint(p, m->tid ? m->tid : t->tid);
	p = rk_rec_zigzag(p, (uint64_t)m->start_ns);
	return publish(t, RK_RAW_MARKER, rk_rec_zigzag(p, (uint64_t)m->duration_ns));
}

bool rk_rec_counter(const struct rk_rec_counter *c)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, c->counter, c->kernel, c->device);
	uint64_t bits;

	if (!p)
		return false;
	memcpy(&bits, &c->value, sizeof(bits));
	p = rk_rec_varint(p, c->counter);
	p = rk_rec_varint(p, c->kernel);
	p = rk_rec_varint(p, c->device);
	p = rk_rec_varint(p, c->dispatch);
	return publish(t, RK_RAW_COUNTER, rk_rec_varint(p, bits));
}

bool rk_rec_build(uint32_t name, uint32_t device, int64_t start_ns, int64_t duration_ns)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, name, device, 0);

	if (!p)
		return false;
	p = rk_rec_varint(p, name);
	p = rk_rec_varint(p, device);
	return publish(t, RK_RAW_BUILD, put_host(t, p, start_ns, duration_ns));
}

bool rk_rec_alloc(uint32_t kind, uint32_t device, uint64_t address, uint64_t bytes,
		  int64_t start_ns, int64_t duration_ns)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, device, 0, 0);

	if (!p)
		return false;
	p = rk_rec_varint(p, kind);
	p = rk_rec_varint(p, device);
	p = rk_rec_varint(p, address);
	p = rk_rec_varint(p, bytes);
	return publish(t, RK_RAW_ALLOC, put_host(t, p, start_ns, duration_ns));
}

bool rk_rec_memory(const struct rk_rec_memory *m)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t, m->device, 0, 0);

	if (!p)
		return false;
	p = rk_rec_varint(p, m->kind);
	p = rk_rec_varint(p, m->device);
	p = rk_rec_varint(p, m->address);
	p = rk_rec_varint(p, m->bytes);
	p = put_tid(put_host(t, p, m->start_ns, 0), m->tid);
	return publish(t, RK_RAW_ALLOC, rk_rec_varint(p, m->correlation));
}
