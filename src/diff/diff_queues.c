/*
 * diff_queues.c - what each queue was given, in order, whatever the queues are called.
 *
 * A queue is a stream of a device in a process (where streams are not recorded, a queue). Its
 * launches are put in the order of their dispatch ids, which is the order of submission and knows
 * nothing of speed; where there are none, of their starts. Two runs are compared by what is in
 * the queues: their numbers, and how their kernels lay between each other, are chance.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "diff/diff_profile_impl.h"

#define BIT(f) (UINT64_C(1) << (f))

uint64_t rk_launches_wants(void)
{
	return BIT(RK_K_STREAM) | BIT(RK_K_QUEUE) | BIT(RK_K_DEVICE) | BIT(RK_K_DISPATCH) |
	       BIT(RK_K_PID) | BIT(RK_K_NODE) | BIT(RK_K_RANK);
}

static int queue_of(struct rk_launches *l, const struct rk_batch *b, size_t row, uint32_t *ret,
		    struct rk_error *err)
{
	struct rk_key3 key = { rk_batch_id(b, RK_K_NODE, row), rk_batch_int(b, RK_K_RANK, row, -1),
			       rk_batch_int(b, RK_K_PID, row, -1) };
	uint32_t place;
	int rc = rk_keys_number(&l->places, key, &place, err);

	if (rc < 0 || place == RK_PROFILE_QUEUES) {
		*ret = RK_PROFILE_QUEUES;
		return rc;
	}
	key = (struct rk_key3){ place, rk_batch_int(b, RK_K_DEVICE, row, -1),
				rk_batch_int(b, RK_K_STREAM, row,
					     rk_batch_int(b, RK_K_QUEUE, row, -1)) };
	return rk_keys_number(&l->queues, key, ret, err);
}

int rk_launches_add(struct rk_launches *l, const struct rk_batch *b, size_t row, uint32_t shape,
		    struct rk_error *err)
{
	struct rk_stretch s = { .queue = shape };
	int rc = queue_of(l, b, row, &s.device, err);

	if (rc < 0)
		return rc;
	if (s.device == RK_PROFILE_QUEUES || shape == RK_SHAPE_NONE) {
		l->lost++;
		return 0;
	}
	s.start = rk_batch_int(b, RK_K_DISPATCH, row, rk_batch_int(b, RK_K_START, row, INT64_MAX));
	return rk_order_add(l->order, &s, err);
}

/* One launch more: order counts, and no process has a seed of its own. */
static uint64_t chain(uint64_t hash, uint64_t symbol)
{
	return rk_hash_mix(hash ^ symbol, 0x9e3779b97f4a7c15u) + hash;
}

/* Symbols as they come, queue by queue later: a list of blocks would be no smaller. */
struct kept {
	uint32_t *queue, *symbol;
	size_t n, cap_queue, cap_symbol;
};

static int keep(struct kept *k, const struct rk_stretch *s, size_t max, struct rk_error *err)
{
	uint32_t *queue, *symbol;

	if (k->n >= max)
		return 0;
	queue = rk_grow(k->queue, &k->cap_queue, k->n + 1, sizeof(*queue));
	if (queue)
		k->queue = queue;
	symbol = rk_grow(k->symbol, &k->cap_symbol, k->n + 1, sizeof(*symbol));
	if (symbol)
		k->symbol = symbol;
	if (!queue || !symbol)
		return rk_fail_nomem(err);
	queue[k->n] = s->device;
	symbol[k->n++] = s->queue;
	return 0;
}

/* Counting sort: each queue's symbols together, in their order. */
static int place_symbols(const struct kept *k, struct rk_profile *p, struct rk_error *err)
{
	size_t at = 0;

	p->symbols = rk_alloc((k->n + 1) * sizeof(*p->symbols));
	if (!p->symbols)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < k->n; i++)
		p->queues[k->queue[i]].kept++;
	for (size_t q = 0; q < p->nqueues; q++) {
		p->queues[q].first = at;
		at += p->queues[q].kept;
		p->queues[q].kept = 0;
	}
	for (size_t i = 0; i < k->n; i++) {
		struct rk_profile_queue *q = &p->queues[k->queue[i]];

		p->symbols[q->first + q->kept++] = k->symbol[i];
	}
	p->nsymbols = k->n;
	return 0;
}

static int by_content(const void *pa, const void *pb)
{
	const struct rk_profile_queue *a = pa, *b = pb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->length < b->length ? -1 : a->length > b->length;
}

static int drain(struct rk_launches *l, struct rk_profile *p, struct kept *k, struct rk_error *err)
{
	struct rk_stretch s;
	int rc;

	while ((rc = rk_order_next(l->order, &s, err)) > 0) {
		struct rk_profile_queue *q = &p->queues[s.device];

		q->hash = chain(q->hash, p->shapes[s.queue].hash);
		q->length++;
		rc = keep(k, &s, l->symbols_max, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

int rk_launches_finish(struct rk_launches *l, struct rk_profile *p, struct rk_error *err)
{
	struct kept k = { 0 };
	int rc;

	p->queues = rk_calloc(l->queues.n, sizeof(*p->queues));
	if (!p->queues)
		return rk_fail_nomem(err);
	p->nqueues = l->queues.n;
	rc = drain(l, p, &k, err);
	if (rc == 0)
		rc = place_symbols(&k, p, err);
	rk_free(k.queue);
	rk_free(k.symbol);
	if (l->lost)
		rk_list_addf(&p->doubts, "more queues or grids than are kept");
	qsort(p->queues, p->nqueues, sizeof(*p->queues), by_content);
	return rc;
}

void rk_launches_release(struct rk_launches *l)
{
	rk_keys_release(&l->places);
	rk_keys_release(&l->queues);
	rk_order_free(l->order);
}
