/* ranks_pick.c - which of very many ranks are worth a line. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ranks/ranks_parts.h"

enum order { SLOWEST, WAITED_FOR, FASTEST, NORDERS };

struct entry {
	int64_t key;
	size_t at;
};

bool rk_ranks_troubled(const struct rk_ranks_rank *r)
{
	return !r->kernels || r->status > 0 || (r->state[0] && strcmp(r->state, "done") != 0);
}

size_t rk_ranks_limit(const struct rk_render_options *look, size_t n)
{
	return n <= RK_RANKS_WHOLE || !look->top || n < look->top ? n : look->top;
}

static int by_key(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static int64_t key_of(const struct rk_ranks_rank *r, enum order order)
{
	if (order == WAITED_FOR)
		return r->caused_ns;
	return order == SLOWEST ? r->compute_ns : -r->compute_ns;
}

/* One of each order in turn, until there are enough. */
static void take_turns(struct entry *const orders[NORDERS], size_t n, size_t left, bool *shown)
{
	for (size_t i = 0; i < n; i++) {
		for (unsigned o = 0; o < NORDERS && left; o++) {
			size_t at = orders[o][i].at;

			if (o == WAITED_FOR && orders[o][i].key <= 0)
				continue;
			left -= !shown[at];
			shown[at] = true;
		}
	}
}

bool rk_ranks_pick(const struct rk_ranks *k, size_t limit, bool *shown)
{
	struct entry *orders[NORDERS], *all = rk_calloc(NORDERS * k->nranks, sizeof(*all));
	size_t left = limit;

	if (!all)
		return false;
	for (size_t i = 0; i < k->nranks; i++) {
		/* room is kept for the others: a job that was cancelled has trouble on all */
		shown[i] = k->nranks <= limit ||
			   (left > limit / 2 && rk_ranks_troubled(&k->ranks[i]));
		left -= left && shown[i];
	}
	for (unsigned o = 0; o < NORDERS; o++) {
		orders[o] = all + o * k->nranks;
		for (size_t i = 0; i < k->nranks; i++)
			orders[o][i] = (struct entry){ key_of(&k->ranks[i], (enum order)o), i };
		qsort(orders[o], k->nranks, sizeof(*all), by_key);
	}
	take_turns(orders, k->nranks, left, shown);
	rk_free(all);
	return true;
}
