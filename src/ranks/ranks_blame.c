/*
 * ranks_blame.c - whom a job waits for when it is more than one rank.
 *
 * A slow node, or some slow GPUs, come last in turns: each of their ranks is to blame for a part of the
 * waiting, and none for most of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ranks/ranks_parts.h"

#define NEARLY_ALL 0.75

enum { FEW = 8, ONE_IN = 4 }; /* not more than so many, and not more than every fourth */

typedef const struct rk_ranks_rank *const *ranks_in;

static int by_caused(const void *pa, const void *pb)
{
	const struct rk_ranks_rank *a = *(ranks_in)pa, *b = *(ranks_in)pb;

	if (a->caused_ns != b->caused_ns)
		return a->caused_ns > b->caused_ns ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_rank(const void *pa, const void *pb)
{
	const struct rk_ranks_rank *a = *(ranks_in)pa, *b = *(ranks_in)pb;

	return (a->rank > b->rank) - (a->rank < b->rank);
}

static int by_node(const void *pa, const void *pb)
{
	int order = strcmp((*(ranks_in)pa)->node, (*(ranks_in)pb)->node);

	return order ? order : by_rank(pa, pb);
}

static double sum_of(const struct rk_ranks_rank **v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)v[i]->caused_ns;
	return sum;
}

/* How many of v, by caused, it takes for nearly all of the waiting; 0: too many to be named. */
static size_t count_few(const struct rk_ranks_rank **v, size_t n, double all)
{
	size_t few = 1;

	while (few < n && few <= FEW && sum_of(v, few) < NEARLY_ALL * all)
		few++;
	return few > 1 && few <= FEW && few <= n / ONE_IN ? few : 0;
}

/*
 * The node, as ranks [*from, *from + count) of v by node, that nearly all of the waiting is for, and far
 * more of it than it has ranks; 0: there is none.
 */
static size_t count_node(const struct rk_ranks_rank **v, size_t n, double all, size_t *from)
{
	for (size_t i = 0, to; i < n; i = to) {
		double sum;

		for (to = i + 1; to < n && !strcmp(v[to]->node, v[i]->node);)
			to++;
		sum = sum_of(v + i, to - i);
		*from = i;
		if (v[i]->node[0] && to - i > 1 && sum >= NEARLY_ALL * all &&
		    sum * (double)n >= 1.5 * all * (double)(to - i))
			return to - i;
	}
	return 0;
}

static void put_numbers(struct rk_bytes *out, const struct rk_ranks_rank **v, size_t n)
{
	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && v[to]->rank == v[to - 1]->rank + 1;)
			to++;
		rk_bytes_printf(out, "%s%" PRId64, !i ? "" : to == n ? " and " : ", ", v[i]->rank);
		if (to > i + 1)
			rk_bytes_printf(out, "-%" PRId64, v[to - 1]->rank);
	}
}

static double name(struct rk_bytes *out, const struct rk_ranks_rank **v, size_t n)
{
	size_t few, node, from = 0;
	double all = sum_of(v, n), caused = 0;

	qsort(v, n, sizeof(*v), by_caused);
	few = count_few(v, n, all);
	qsort(v, n, sizeof(*v), by_node);
	node = count_node(v, n, all, &from);
	if (node && (!few || few * 2 > node)) {
		rk_bytes_puts(out, "the ranks of one node, ");
		v += from;
		n = node;
	} else if (few) {
		qsort(v, n, sizeof(*v), by_caused);
		n = few;
		qsort(v, n, sizeof(*v), by_rank);
		rk_bytes_puts(out, "ranks ");
	} else {
		return 0;
	}
	caused = sum_of(v, n);
	put_numbers(out, v, n);
	return caused;
}

double rk_ranks_stragglers(struct rk_bytes *out, const struct rk_ranks *k)
{
	const struct rk_ranks_rank **v = rk_calloc(k->nranks + 1, sizeof(*v));
	double caused = 0;

	if (!v) {
		out->bad = true;
		return 0;
	}
	for (size_t i = 0; i < k->nranks; i++)
		v[i] = &k->ranks[i];
	if (k->nranks)
		caused = name(out, v, k->nranks);
	rk_free(v);
	return caused;
}

/* ---- where the clocks cannot tell ---- */

static double mean_wait(const struct rk_ranks *k)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < k->nranks; i++) {
		n += k->ranks[i].collectives > 0;
		sum += (double)k->ranks[i].wait_ns;
	}
	return n > 0 ? sum / n : 0;
}

size_t rk_ranks_never_waiting(struct rk_bytes *out, const struct rk_ranks *k,
			      const struct rk_ranks_rank *one)
{
	const struct rk_ranks_rank *v[FEW];
	double most = mean_wait(k) / 2;
	bool there = !one;
	size_t n = 0;

	for (size_t i = 0; i < k->nranks; i++) {
		const struct rk_ranks_rank *r = &k->ranks[i];

		if (!r->collectives || (double)r->wait_ns >= most)
			continue;
		if (n == FEW)
			return 0;
		v[n++] = r;
		there |= r == one;
	}
	if (!there || n > k->nranks / ONE_IN)
		return 0;
	put_numbers(out, v, n);
	return n;
}
