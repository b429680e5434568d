/*
 * comm_class.c - which ranks stay together in an operation.
 *
 * Each set has a leader, its first rank. A rank joins the set of a leader with which it is together, the
 * newest first, as ranks next to each other are mostly in one communicator; else it leads a new one.
 * Compared are some calls of each, all from about the same time.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "ranks/comm_match_impl.h"

enum {
	LOOK = 256,     /* calls of a rank that are compared */
	EARLY = 32,     /* after so many a bad match is given up */
	TOGETHER = 90,  /* percent of calls that must meet */
	LEADERS = 4096, /* that a rank is compared with */
};

struct span {
	int64_t start, end;
};

struct first {
	uint32_t domain;
	int64_t at;
};

struct looked {
	struct span *v; /* LOOK */
	size_t n;
};

struct classes {
	const struct rk_comm_rank *in;
	size_t n;
	const struct rk_comm_op *op;
	struct looked *looked;
	struct span *spans;
	struct first *firsts; /* by domain, then time */
	size_t nfirsts;
	uint32_t *leaders; /* rank of each set's leader */
	size_t nleaders;
};

static int by_domain(const void *a, const void *b)
{
	const struct first *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void find_firsts(struct classes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct rk_comm_rank *r = &c->in[i];

		for (size_t k = 0; k < r->ncalls; k++) {
			if (r->calls[k].sig == c->op->sig) {
				c->firsts[c->nfirsts++] =
					(struct first){ r->domain,
							comm_time(r, r->calls[k].start_ns) };
				break;
			}
		}
	}
	if (c->nfirsts)
		qsort(c->firsts, c->nfirsts, sizeof(*c->firsts), by_domain);
}

static size_t domain_from(const struct classes *c, uint64_t domain)
{
	size_t from = 0, to = c->nfirsts;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (c->firsts[mid].domain < domain)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* When nine of ten ranks on this clock have begun: where all that is compared begins. */
static int64_t begin(const struct classes *c, uint32_t domain)
{
	size_t from = domain_from(c, domain), to = domain_from(c, (uint64_t)domain + 1);

	return from == to ? INT64_MIN : c->firsts[from + (to - from - 1) * 9 / 10].at;
}

static void look(struct classes *c, size_t i, int64_t from)
{
	const struct rk_comm_rank *r = &c->in[i];
	struct looked *l = &c->looked[i];

	*l = (struct looked){ .v = c->spans + i * LOOK };
	for (size_t k = 0; k < r->ncalls && l->n < LOOK; k++) {
		struct span s;

		if (r->calls[k].sig != c->op->sig)
			continue;
		s.start = comm_time(r, r->calls[k].start_ns);
		s.end = comm_time(r, r->calls[k].end_ns);
		if (s.end >= from)
			l->v[l->n++] = s;
	}
}

static bool ends_near(const struct span *a, const struct span *b, int64_t apart)
{
	int64_t da = a->end - a->start, db = b->end - b->start, most = (da < db ? da : db) / 2;

	most = most < apart ? apart : most;
	return llabs(a->end - b->end) <= most;
}

/* Calls before the other one's first and after its last are no sign: a recording may be shorter. */
static bool together(const struct classes *c, size_t x, size_t y)
{
	const struct looked *a = &c->looked[x], *b = &c->looked[y];
	int64_t touch = comm_touch_ns(&c->in[x]) + comm_touch_ns(&c->in[y]);
	int64_t apart = comm_apart_ns(&c->in[x], &c->in[y]);
	size_t i = 0, j = 0, met = 0, near = 0, na = 0, nb = 0;

	while (i < a->n && j < b->n) {
		if (a->v[i].end + touch < b->v[j].start) {
			na += j > 0;
			i++;
		} else if (b->v[j].end + touch < a->v[i].start) {
			nb += i > 0;
			j++;
		} else {
			near += ends_near(&a->v[i], &b->v[j], apart);
			met++, na++, nb++, i++, j++;
		}
		if ((na > EARLY || nb > EARLY) && met * 2 < na)
			return false;
	}
	return met && met * 100 >= (na > nb ? na : nb) * TOGETHER &&
	       (!c->op->all || near * 2 >= met);
}

static uint32_t find_class(struct classes *c, size_t i)
{
	size_t tries = 0;

	for (size_t k = c->nleaders; k-- && tries < LEADERS; tries++) {
		uint32_t leader = c->leaders[k];

		if (c->in[leader].domain == c->in[i].domain && together(c, leader, i))
			return (uint32_t)k;
	}
	c->leaders[c->nleaders] = (uint32_t)i;
	return (uint32_t)c->nleaders++;
}

int rk_comm_classes(const struct rk_comm_rank *in, size_t n, const struct rk_comm_op *op,
		    uint32_t *ret, size_t *ret_n, struct rk_error *err)
{
	struct classes c = { .in = in, .n = n, .op = op };
	int rc = 0;

	c.looked = rk_calloc(n + 1, sizeof(*c.looked));
	c.spans = rk_calloc(n + 1, LOOK * sizeof(*c.spans));
	c.firsts = rk_calloc(n + 1, sizeof(*c.firsts));
	c.leaders = rk_calloc(n + 1, sizeof(*c.leaders));
	if (!c.looked || !c.spans || !c.firsts || !c.leaders)
		rc = rk_fail_nomem(err);
	if (rc == 0) {
		find_firsts(&c);
		for (size_t i = 0; i < n; i++)
			look(&c, i, begin(&c, in[i].domain));
		for (size_t i = 0; i < n; i++)
			ret[i] = find_class(&c, i);
		*ret_n = c.nleaders;
	}
	rk_free(c.looked);
	rk_free(c.spans);
	rk_free(c.firsts);
	rk_free(c.leaders);
	return rc;
}
