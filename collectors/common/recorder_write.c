/*
 * recorder_write.c - the records.
 *
 * Plain form of each: look whether the thread's block is still its own and has room for the largest
 * record, write tag, length and fields behind what is published, then publish with one store.
 */
#include "recorder_impl.h"

/* Where the fields go, or NULL: nothing is recorded. The thread is busy until `publish`. */
static inline uint8_t *prepare(struct rec_thread *t)
{
	if (rk_rec_busy(t))
		return NULL;
	if (__builtin_expect(t->generation != atomic_load_explicit(rk_rec.alive,
								   memory_order_relaxed) ||
				     t->end - t->pos < RK_RAW_RECORD_MAX,
			     0) &&
	    !rk_rec_block_next(t)) {
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

/* ---- fields that are differences ---- */

static inline uint8_t *put_operation(struct rec_thread *t, uint8_t *p, uint32_t tid,
				     uint64_t correlation)
{
	tid = tid == RK_REC_UNKNOWN ? 0 : tid ? tid : t->tid;
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

/* The thread of a record that another one tells, 0: not known; behind fields that all have. */
static inline uint8_t *put_tid(uint8_t *p, uint32_t tid)
{
	return rk_rec_varint(p, tid == RK_REC_UNKNOWN ? 0 : tid);
}

/* Nodes are numbered from their graph's number in the upper half on. */
static inline uint8_t *put_graph(uint8_t *p, uint64_t graph, uint64_t node)
{
	p = rk_rec_varint(p, graph);
	return rk_rec_zigzag(p, node - (graph << 32));
}

/* ---- operations under way ---- */

static inline struct rk_raw_stripe *stripe(const struct rec_thread *t)
{
	struct rk_raw_header *h = atomic_load_explicit(&rk_rec.header, memory_order_acquire);

	/* a child's first look at its parent's file would be here */
	if (!h || !atomic_load_explicit(rk_rec.alive, memory_order_relaxed))
		return NULL;
	return &h->stripes[t->tid % RK_RAW_STRIPES];
}

uint32_t rk_rec_begun(void)
{
	struct rec_thread *t = rk_rec_me();
	struct rk_raw_stripe *s;

	if (__builtin_expect(!t->tid, 0))
		rk_rec_tid(); /* or all threads that only launch would share a line */
	s = stripe(t);
	if (s)
		__atomic_fetch_add(&s->begun, 1, __ATOMIC_RELAXED);
	return t->tid;
}

/* Over: recorded, lost or never begun. */
static inline void ended(const struct rec_thread *t)
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
	uint8_t *p = prepare(t);
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

bool rk_rec_copy(const struct rk_rec_copy *c)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t);
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
	uint8_t *p = prepare(t);
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

bool rk_rec_api(uint32_t function_name, int64_t start_ns, int64_t duration_ns, uint64_t correlation)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t);

	if (!p)
		return false;
	p = rk_rec_varint(p, function_name);
	p = rk_rec_varint(p, correlation);
	return publish(t, RK_RAW_API, put_host(t, p, start_ns, duration_ns));
}

bool rk_rec_call(const struct rk_rec_call *c)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t);

	if (!p)
		return false;
	p = rk_rec_varint(p, c->name);
	p = rk_rec_varint(p, c->correlation);
	p = put_tid(put_host(t, p, c->start_ns, c->duration_ns), c->tid);
	return publish(t, RK_RAW_API, rk_rec_varint(p, c->domain));
}

bool rk_rec_marker(const struct rk_rec_marker *m)
{
	struct rec_thread *t = rk_rec_me();
	uint8_t *p = prepare(t);

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
	uint8_t *p = prepare(t);
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
	uint8_t *p = prepare(t);

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
	uint8_t *p = prepare(t);

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
	uint8_t *p = prepare(t);

	if (!p)
		return false;
	p = rk_rec_varint(p, m->kind);
	p = rk_rec_varint(p, m->device);
	p = rk_rec_varint(p, m->address);
	p = rk_rec_varint(p, m->bytes);
	p = put_tid(put_host(t, p, m->start_ns, 0), m->tid);
	return publish(t, RK_RAW_ALLOC, rk_rec_varint(p, m->correlation));
}
