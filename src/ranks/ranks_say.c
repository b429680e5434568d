/* ranks_say.c - summary sentences for a job of several ranks, and which ranks to show. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
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
	if (n <= RK_RANKS_WHOLE || !look->top)
		return n;
	return rk_min(n, look->top);
}

static int by_key(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

bool rk_ranks_pick(const struct rk_ranks *k, size_t limit, bool *shown)
{
	struct entry *orders[NORDERS], *all = rk_calloc(NORDERS * k->nranks, sizeof(*all));
	size_t left = limit;

	if (!all)
		return false;
	for (size_t i = 0; i < k->nranks; i++) {
		/* keep half for others: in a cancelled job all ranks have problems */
		shown[i] = k->nranks <= limit ||
			   (left > limit / 2 && rk_ranks_troubled(&k->ranks[i]));
		left -= left && shown[i];
	}
	for (unsigned o = 0; o < NORDERS; o++) {
		orders[o] = all + o * k->nranks;
		for (size_t i = 0; i < k->nranks; i++) {
			int64_t compute = k->ranks[i].compute_ns;
			const int64_t keys[] = { [SLOWEST] = compute,
						 [WAITED_FOR] = k->ranks[i].caused_ns,
						 [FASTEST] = -compute };

			orders[o][i] = (struct entry){ keys[o], i };
		}
		qsort(orders[o], k->nranks, sizeof(*all), by_key);
	}
	/* one from each order in turn, until there are enough */
	for (size_t i = 0; i < k->nranks; i++) {
		for (unsigned o = 0; o < NORDERS && left; o++) {
			size_t at = orders[o][i].at;

			if (o == WAITED_FOR && orders[o][i].key <= 0)
				continue;
			left -= !shown[at];
			shown[at] = true;
		}
	}
	rk_free(all);
	return true;
}

/* ---- several stragglers ---- */

/*
 * The ranks of a slow node, or a few slow GPUs, take turns being last: each of them causes a part
 * of the waiting, and none causes most of it.
 */

#define NEARLY_ALL 0.75

enum { FEW = 8, ONE_IN = 4 }; /* at most FEW ranks, and at most one in four */

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

/*
 * Finds the node that causes nearly all of the waiting and has a much smaller share of the ranks:
 * ranks [*from, *from + count) of v, sorted by node. Returns the count; 0: no such node.
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
		if (i)
			rk_bytes_puts(out, to == n ? " and " : ", ");
		rk_put_integer(out, v[i]->rank);
		if (to > i + 1)
			rk_bytes_printf(out, "-%" PRId64, v[to - 1]->rank);
	}
}

/* ---- sentences ---- */

#define BALANCED 0.05 /* at most this much above the mean: not worth fixing */
#define MOSTLY (2.0 / 3)
#define HARDLY 0.01
#define LEAST_CAUSED 0.1
#define FAR_MORE 1.5 /* than others */

struct sums {
	double span, comm, both, wait, caused;
	double collectives, late;        /* time in collectives; before the last rank arrived */
	double judged_late, judged_wire; /* time in collectives with that verdict */
	const struct rk_ranks_rank *busiest, *waited_for;
	size_t meeting; /* ranks that take part in collectives */
	/* ranks whose arrival is unknown, or NULL: waiting for them looks like a slow network */
	const char *unseen;
};

static struct sums sums_of(const struct rk_ranks *k)
{
	/* [absent][alone] */
	static const char *const unseen[2][2] = {
		{ NULL, "ranks on other clocks" },
		{ "missing ranks", "missing ranks or ranks on other clocks" },
	};
	bool absent = k->size > k->nranks, alone = false;
	struct sums s = { 0 };

	for (size_t i = 0; i < k->nranks; i++) {
		const struct rk_ranks_rank *r = &k->ranks[i];

		if (r->compute_ns >= 0) {
			s.span += rk_apart(r->first_ns, r->last_ns);
			s.comm += (double)r->comm_ns;
			s.both += (double)r->both_ns;
		}
		if (r->compute_ns > 0 && (!s.busiest || r->compute_ns > s.busiest->compute_ns))
			s.busiest = r;
		if (r->caused_ns > 0 && (!s.waited_for || r->caused_ns > s.waited_for->caused_ns))
			s.waited_for = r;
		s.meeting += r->collectives > 0;
		s.wait += (double)r->wait_ns;
		s.caused += (double)r->caused_ns;
		absent |= !r->kernels;
		/* a rank whose clock is not aligned is only compared with ranks of its node */
		alone |= r->collectives && r->clock == RK_CLOCK_ALONE;
	}
	s.unseen = unseen[absent][alone];
	for (size_t i = 0; i < k->ncollectives; i++) {
		const struct rk_ranks_collective *c = &k->collectives[i];

		s.collectives += (double)c->total_ns;
		s.late += (double)c->late_ns;
		if (!strcmp(c->verdict, "late"))
			s.judged_late += (double)c->total_ns;
		if (!strcmp(c->verdict, "wire"))
			s.judged_wire += (double)c->total_ns;
	}
	return s;
}

/* "12.3 %", "0.4 %", "100 %" */
static const char *percent(char text[16], double share)
{
	double v = share < 1e6 ? 100 * share : 1e8;

	snprintf(text, 16, "%.*f %%", fabs(v) < 99.95 ? 1 : 0, v);
	return text;
}

/*
 * Only counts waiting with a known cause: if clocks are too uncertain, no rank is blamed. With two
 * ranks, one always causes at least half, so it must also cause far more than its share.
 */
static bool is_straggler(const struct sums *s)
{
	double caused = s->waited_for ? (double)s->waited_for->caused_ns : 0;

	return caused > 0 && caused >= s->caused / 2 && caused >= s->wait * LEAST_CAUSED &&
	       caused * (double)s->meeting >= s->caused * FAR_MORE;
}

int64_t rk_ranks_straggler(const struct rk_ranks *k)
{
	struct sums s = sums_of(k);

	return is_straggler(&s) ? s.waited_for->rank : -1;
}

/*
 * Names the node, or the few ranks, that cause nearly all of the waiting. False: there is no small
 * group of stragglers.
 */
static bool say_several(struct rk_list *l, const struct rk_ranks *k, const struct sums *s,
			const char *of_time, const char *untold)
{
	const struct rk_ranks_rank **v = rk_calloc(k->nranks + 1, sizeof(*v));
	size_t few = 1, node, from = 0, n = k->nranks;
	double caused = 0;
	struct rk_bytes who;
	char share[16];

	if (!v) {
		l->bad = true;
		return false;
	}
	for (size_t i = 0; i < n; i++)
		v[i] = &k->ranks[i];
	qsort(v, n, sizeof(*v), by_caused);
	while (few < n && few <= FEW && sum_of(v, few) < NEARLY_ALL * s->caused)
		few++;
	if (few == 1 || few > FEW || few > n / ONE_IN)
		few = 0; /* too many to name */
	qsort(v, n, sizeof(*v), by_node);
	node = count_node(v, n, s->caused, &from);

	rk_bytes_init(&who, 4096);
	if (node && (!few || few * 2 > node)) {
		rk_bytes_puts(&who, "the ranks of one node, ");
		caused = sum_of(v + from, node);
		put_numbers(&who, v + from, node);
	} else if (few) {
		qsort(v, n, sizeof(*v), by_caused);
		qsort(v, few, sizeof(*v), by_rank);
		rk_bytes_puts(&who, "ranks ");
		caused = sum_of(v, few);
		put_numbers(&who, v, few);
	}
	if (caused > 0 && caused >= s->wait * LEAST_CAUSED && rk_bytes_str(&who))
		rk_list_addf(l, "stragglers: %s; ranks wait %s of their time, %s of it for these%s",
			     rk_bytes_str(&who), of_time, percent(share, caused / s->wait), untold);
	else
		caused = 0;
	l->bad |= who.bad;
	rk_bytes_release(&who);
	rk_free(v);
	return caused > 0;
}

/*
 * If the clocks are too uncertain: names the few ranks that wait less than half as long as the
 * mean, because the last rank to arrive does not wait. The rank that is known to be waited for most
 * must be among them. False: none, or too many. If the cause of most of the waiting is known, it
 * was already reported.
 */
static bool say_likely(struct rk_list *l, const struct rk_ranks *k, const struct sums *s,
		       const char *of_time, const char *untold)
{
	const struct rk_ranks_rank *v[FEW];
	double most = s->meeting ? s->wait / (double)s->meeting / 2 : 0;
	bool there = !s->waited_for;
	struct rk_bytes who;
	size_t n = 0;

	if (s->caused >= s->wait / 2)
		return false;
	for (size_t i = 0; i < k->nranks; i++) {
		const struct rk_ranks_rank *r = &k->ranks[i];

		if (!r->collectives || (double)r->wait_ns >= most)
			continue;
		if (n == FEW)
			return false;
		v[n++] = r;
		there |= r == s->waited_for;
	}
	if (!n || !there || n > k->nranks / ONE_IN)
		return false;
	rk_bytes_init(&who, 4096);
	put_numbers(&who, v, n);
	if (rk_bytes_str(&who))
		rk_list_addf(l,
			     "likely straggler%s: rank%s %s, waiting less than half as long as the "
			     "mean; ranks wait %s of their time%s",
			     rk_plural(n), rk_plural(n), rk_bytes_str(&who), of_time, untold);
	l->bad |= who.bad;
	rk_bytes_release(&who);
	return true;
}

static void say_waiting(struct rk_list *l, const struct rk_ranks *k, const struct sums *s)
{
	const struct rk_ranks_rank *r = s->waited_for;
	char share[16], of_time[16], rest[16], untold[80] = "";

	if (s->wait <= 0)
		return;
	percent(share, r ? (double)r->caused_ns / s->wait : 0);
	percent(of_time, s->span > 0 ? s->wait / s->span : 0);
	percent(rest, 1 - s->caused / s->wait);
	if (s->caused < s->wait * (1 - LEAST_CAUSED))
		snprintf(untold, sizeof(untold), "; %s cannot be attributed (clock uncertainty)",
			 rest);
	if (s->span > 0 && s->wait / s->span < HARDLY)
		rk_list_addf(l, "ranks hardly wait for each other: %s of their time", of_time);
	else if (is_straggler(s))
		rk_list_addf(l,
			     "straggler: rank %" PRId64 ", last in %" PRIu64 " of %" PRIu64
			     " collectives; ranks wait %s of their time, %s of it for this one%s",
			     r->rank, r->last, r->collectives, of_time, share, untold);
	else if (say_several(l, k, s, of_time, untold) || say_likely(l, k, s, of_time, untold))
		return;
	else if (r)
		rk_list_addf(l,
			     "no single straggler: ranks wait %s of their time, %s of it for rank "
			     "%" PRId64 ", the most%s",
			     of_time, share, r->rank, untold);
	else
		rk_list_addf(l, "ranks wait %s of their time%s", of_time, untold);
}

/* The verdicts already take the clock errors into account. */
static void say_wire(struct rk_list *l, const struct sums *s)
{
	char before[16], after[16]; /* before and after the last rank arrived */
	double late;

	if (s->collectives <= 0)
		return;
	late = s->late / s->collectives;
	percent(before, late);
	percent(after, 1 - late);
	if (s->judged_late > MOSTLY * s->collectives)
		rk_list_addf(l,
			     "not the network: %s of collective time is spent waiting for the last "
			     "rank",
			     before);
	else if (s->judged_wire > MOSTLY * s->collectives && s->unseen)
		rk_list_addf(l,
			     "the network, or %s: %s of collective time is spent after the last of "
			     "the other ranks arrived",
			     s->unseen, after);
	else if (s->judged_wire > MOSTLY * s->collectives)
		rk_list_addf(l,
			     "the network: %s of collective time is spent after the last rank "
			     "arrived",
			     after);
	else if (late > MOSTLY)
		rk_list_addf(l,
			     "probably not the network: %s of collective time is spent waiting for "
			     "the last rank, but the clocks are too uncertain to be sure",
			     before);
	else if (late < 1 - MOSTLY)
		rk_list_addf(l,
			     "probably the network%s%s: %s of collective time is spent after the "
			     "last rank arrived, but the clocks are too uncertain to be sure",
			     s->unseen ? ", or " : "", rk_text_or_empty(s->unseen), after);
	else
		rk_list_addf(l,
			     "both late ranks and the network: %s of collective time is spent "
			     "waiting for the last rank, as far as the clocks%s show",
			     before, s->unseen ? " and the ranks that can be compared" : "");
}

void rk_ranks_say(struct rk_list *l, const struct rk_ranks *k)
{
	struct sums s = sums_of(k);
	char share[16], hidden[16];

	if (s.busiest && isfinite(k->imbalance) && k->imbalance <= BALANCED)
		rk_list_addf(l,
			     "balanced: rank %" PRId64
			     ", the busiest, computes %s longer than the mean",
			     s.busiest->rank, percent(share, k->imbalance));
	else if (s.busiest && isfinite(k->imbalance))
		rk_list_addf(l, "not balanced: rank %" PRId64 " computes %s longer than the mean",
			     s.busiest->rank, percent(share, k->imbalance));

	say_waiting(l, k, &s);
	if (s.comm > 0 && s.span > 0)
		rk_list_addf(l,
			     "communication takes %s of rank time; %s of it is hidden behind "
			     "compute",
			     percent(share, s.comm / s.span), percent(hidden, s.both / s.comm));
	say_wire(l, &s);

	if (k->intra_ns > 0 && k->inter_ns > 0) {
		struct rk_bytes text;

		rk_bytes_init(&text, 256);
		rk_bytes_puts(&text, "collectives between nodes ");
		rk_put_duration(&text, (double)k->inter_ns);
		rk_bytes_puts(&text, ", within a node ");
		rk_put_duration(&text, (double)k->intra_ns);
		rk_bytes_puts(&text, ", summed over ranks");
		if (rk_bytes_str(&text))
			rk_list_add(l, rk_bytes_str(&text));
		else
			l->bad = true;
		rk_bytes_release(&text);
	}
}
