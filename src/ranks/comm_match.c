/* comm_match.c - see comm_match.h. */
#include "ranks/comm_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "table/median.h"

/*
 * Tolerance when comparing calls. Clocks may be worse, but with a larger tolerance consecutive
 * calls would overlap.
 */
#define TOUCH_NS INT64_C(10000)

static int64_t touch_ns(const struct rk_comm_rank *r)
{
	return rk_min_i64(r->error_ns, TOUCH_NS);
}

static int64_t common_time(const struct rk_comm_rank *r, int64_t ns)
{
	return r->clock ? rk_align_to_reference(r->clock, ns) : ns;
}

/* The maximum error between two clocks; ranks of a node share one. */
static int64_t apart_ns(const struct rk_comm_rank *a, const struct rk_comm_rank *b)
{
	return a->node == b->node ? 0 : a->error_ns + b->error_ns;
}

/* ---- which ranks take part together in an operation ---- */

/*
 * Each set has a leader, its first rank. A rank joins the set of the newest leader whose calls
 * coincide with its own, because neighbouring ranks are mostly in one communicator. If there is
 * none, it leads a new set. We compare only some calls of each rank, all from about the same time.
 */
enum {
	LOOK = 256,     /* calls of a rank to compare */
	EARLY = 32,     /* give up on a bad match after this many */
	TOGETHER = 90,  /* percent of calls that must coincide */
	LEADERS = 4096, /* max leaders that a rank is compared with */
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
	struct first *firsts; /* sorted by domain, then time */
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

/* Comparisons begin when nine out of ten ranks on this clock have started. */
static void look_at_calls(struct classes *c, size_t i)
{
	const struct rk_comm_rank *r = &c->in[i];
	struct looked *l = &c->looked[i];
	size_t first = domain_from(c, r->domain), end = domain_from(c, (uint64_t)r->domain + 1);
	int64_t from = INT64_MIN;

	if (first < end)
		from = c->firsts[first + (end - first - 1) * 9 / 10].at;
	*l = (struct looked){ .v = c->spans + i * LOOK };
	for (size_t k = 0; k < r->ncalls && l->n < LOOK; k++) {
		struct span s;

		if (r->calls[k].sig != c->op->sig)
			continue;
		s.start = common_time(r, r->calls[k].start_ns);
		s.end = common_time(r, r->calls[k].end_ns);
		if (s.end >= from)
			l->v[l->n++] = s;
	}
}

/* Ignores calls before the other's first and after its last: its recording may be shorter. */
static bool together(const struct classes *c, size_t x, size_t y)
{
	const struct looked *a = &c->looked[x], *b = &c->looked[y];
	int64_t touch = touch_ns(&c->in[x]) + touch_ns(&c->in[y]);
	int64_t apart = apart_ns(&c->in[x], &c->in[y]);
	size_t i = 0, j = 0, met = 0, near = 0, na = 0, nb = 0;

	while (i < a->n && j < b->n) {
		if (a->v[i].end + touch < b->v[j].start) {
			na += j > 0;
			i++;
		} else if (b->v[j].end + touch < a->v[i].start) {
			nb += i > 0;
			j++;
		} else {
			int64_t da = a->v[i].end - a->v[i].start;
			int64_t db = b->v[j].end - b->v[j].start;
			int64_t most = rk_max_i64(rk_min_i64(da, db) / 2, apart);

			near += llabs(a->v[i].end - b->v[j].end) <= most;
			met++, na++, nb++, i++, j++;
		}
		if ((na > EARLY || nb > EARLY) && met * 2 < na)
			return false;
	}
	return met && met * 100 >= rk_max(na, nb) * TOGETHER && (!c->op->all || near * 2 >= met);
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

/*
 * ret[i]: the set (from 0) of rank i for this operation, also for ranks without calls. *ret_n: number of
 * sets.
 */
static int classes_of(const struct rk_comm_rank *in, size_t n, const struct rk_comm_op *op,
		      uint32_t *ret, size_t *ret_n, struct rk_error *err)
{
	struct classes c = { .in = in, .n = n, .op = op };
	int rc = 0;

	c.looked = rk_calloc(n + 1, sizeof(*c.looked));
	c.spans = rk_calloc(n + 1, LOOK * sizeof(*c.spans));
	c.firsts = rk_calloc(n + 1, sizeof(*c.firsts));
	c.leaders = rk_calloc(n + 1, sizeof(*c.leaders));
	if (!c.looked || !c.spans || !c.firsts || !c.leaders) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		const struct rk_comm_rank *r = &in[i];
		size_t k = 0;

		while (k < r->ncalls && r->calls[k].sig != op->sig)
			k++;
		if (k < r->ncalls)
			c.firsts[c.nfirsts++] =
				(struct first){ r->domain, common_time(r, r->calls[k].start_ns) };
	}
	qsort(c.firsts, c.nfirsts, sizeof(*c.firsts), by_domain);
	for (size_t i = 0; i < n; i++)
		look_at_calls(&c, i);
	for (size_t i = 0; i < n; i++)
		ret[i] = find_class(&c, i);
	*ret_n = c.nleaders;
out:
	rk_free(c.looked);
	rk_free(c.spans);
	rk_free(c.firsts);
	rk_free(c.leaders);
	return rc;
}

/* ---- instances ---- */

struct member {
	int64_t start, end;
	uint32_t at; /* index of its rank in the input */
	uint32_t size;
};

/* Sums of one operation for one number of ranks. */
struct row {
	size_t op, size;
	struct rk_comm_sum sum;
	struct rk_durations wires;
	uint32_t *last; /* by rank: how often it was the last */
};

/* The ranks that take part together in an operation, and their current instance. */
struct set {
	size_t op, size, row;
	struct member *v; /* `size` of them */
	size_t n;
	int64_t min_end;
	uint64_t epoch; /* number of the instance, from 1 */
};

/* A rank's position in the current instance of its set. */
struct seat {
	uint64_t epoch;
	uint32_t at;
};

struct head {
	int64_t start;
	uint32_t at;
};

struct match {
	const struct rk_comm_rank *in;
	size_t n;
	const struct rk_comm_op *ops;
	size_t nops;
	uint32_t *sets_of; /* by operation and rank: set number */
	struct seat *seats;
	struct set *sets;
	size_t nsets, cap_sets;
	struct row *rows;
	size_t nrows, cap_rows;
	uint64_t *lost;       /* by operation: calls of ranks that match no other rank */
	struct rk_map by_sig; /* operations */
	struct head *heap;
	size_t nheap, *next;
	struct rk_durations_store store;
	struct rk_comm_match *ret;
};

/* ---- sets ---- */

static int row_find(struct match *m, size_t op, size_t size, size_t *ret, struct rk_error *err)
{
	struct row *r;

	for (size_t i = m->nrows; i--;) {
		if (m->rows[i].op == op && m->rows[i].size == size) {
			*ret = i;
			return 0;
		}
	}
	r = rk_grow(m->rows, &m->cap_rows, m->nrows + 1, sizeof(*r));
	if (!r)
		return rk_fail_nomem(err);
	m->rows = r;
	r += m->nrows;
	*r = (struct row){ .op = op, .size = size };
	r->sum.op = op;
	r->sum.ranks = size;
	r->last = rk_calloc(m->n, sizeof(*r->last));
	if (!r->last)
		return rk_fail_nomem(err);
	*ret = m->nrows++;
	return 0;
}

static int sets_of_op(struct match *m, size_t op, struct rk_error *err)
{
	uint32_t *of = m->sets_of + op * m->n;
	size_t n = 0, first = m->nsets;
	struct set *v;
	int rc = classes_of(m->in, m->n, &m->ops[op], of, &n, err);

	if (rc < 0)
		return rc;
	v = rk_grow(m->sets, &m->cap_sets, m->nsets + n, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	m->sets = v;
	memset(v + first, 0, n * sizeof(*v));
	m->nsets += n;
	for (size_t i = 0; i < m->n; i++) {
		of[i] += (uint32_t)first;
		v[of[i]].op = op;
		v[of[i]].size++;
	}
	for (struct set *s = v + first; s < v + m->nsets; s++) {
		s->epoch = 1;
		if (s->size < 2)
			continue;
		s->v = rk_calloc(s->size, sizeof(*s->v));
		if (!s->v)
			return rk_fail_nomem(err);
		rc = row_find(m, s->op, s->size, &s->row, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- one instance ---- */

static int64_t duration(const struct member *v)
{
	return v->end - v->start;
}

/*
 * After the last rank arrives, no rank needs more than this factor times what the last rank needs.
 */
#define WIRE_FACTOR 2

struct judged {
	int64_t first, come, left;
	uint32_t last;
	bool sure;       /* `last` is certain */
	bool inter_node; /* ranks are on several nodes */
	int64_t error, late_sure;
};

/*
 * Did all others arrive before it, according to clocks that may be wrong or by how long they were
 * in the call? *most: the longest wait.
 */
static bool is_last(const struct match *m, const struct set *s, uint32_t at, int64_t *most)
{
	const struct member *last = s->v;
	bool sure = true;

	while (last->at != at)
		last++;
	for (const struct member *v = s->v; v < s->v + s->n; v++) {
		int64_t apart = apart_ns(&m->in[v->at], &m->in[last->at]);
		int64_t by_clocks = last->start - v->start - apart;
		int64_t by_durations = duration(v) - WIRE_FACTOR * duration(last);
		int64_t wait = rk_max_i64(by_clocks, by_durations);

		if (v == last)
			continue;
		sure = sure && wait > 0;
		*most = rk_max_i64(*most, wait);
	}
	return sure;
}

static struct judged judge(const struct match *m, const struct set *s)
{
	struct judged j = { .first = s->v[0].start,
			    .come = s->v[0].start,
			    .left = s->v[0].end,
			    .last = s->v[0].at };

	for (size_t i = 0; i < s->n; i++) {
		const struct member *v = &s->v[i];

		j.first = rk_min_i64(j.first, v->start);
		j.left = rk_max_i64(j.left, v->end);
		if (v->start > j.come) {
			j.come = v->start;
			j.last = v->at;
		}
		j.inter_node |= m->in[v->at].node != m->in[s->v[0].at].node;
		j.error = rk_max_i64(j.error, m->in[v->at].error_ns);
	}
	j.sure = is_last(m, s, j.last, &j.late_sure);
	if (!j.sure) {
		/*
		 * the clocks may be wrong: try the rank with the shortest call, because the last
		 * one does not wait
		 */
		const struct member *shortest = s->v;

		for (const struct member *v = s->v; v < s->v + s->n; v++)
			if (duration(v) < duration(shortest))
				shortest = v;
		if (shortest->at != j.last && is_last(m, s, shortest->at, &j.late_sure)) {
			j.last = shortest->at;
			j.sure = true;
		}
	}
	j.left = rk_max_i64(j.left, j.come);
	if (!j.inter_node)
		j.error = 0;
	return j;
}

/* Saturates, because values in files may be arbitrarily large. */
static void add_ns(int64_t *sum, int64_t ns)
{
	*sum = rk_add_saturated(*sum, ns);
}

static int add_instance(struct match *m, const struct set *s, struct rk_error *err)
{
	bool all = m->ops[s->op].all;
	struct row *row = &m->rows[s->row];
	struct rk_comm_sum *sum = &row->sum;
	struct judged j = judge(m, s);
	int64_t *total = j.inter_node ? &m->ret->inter_ns : &m->ret->intra_ns;
	int64_t waited = 0, wire = j.left - j.come;
	uint32_t size = 0;
	bool differ = false;

	for (size_t i = 0; i < s->n; i++) {
		const struct member *v = &s->v[i];
		struct rk_comm_line *line = &m->ret->lines[v->at];

		differ |= size && v->size && v->size != size;
		if (v->size)
			size = v->size;

		line->collectives++;
		add_ns(total, duration(v));
		if (!all)
			continue;
		add_ns(&line->wait_ns, j.come - v->start);
		add_ns(&waited, j.come - v->start);
	}
	sum->calls++;
	sum->differ += differ && m->ops[s->op].even;
	sum->inter_node |= j.inter_node;
	add_ns(&sum->total_ns, j.left - j.first);
	add_ns(&sum->late_ns, j.come - j.first);
	add_ns(&sum->late_sure_ns, j.late_sure);
	add_ns(&sum->wire_ns, wire);
	add_ns(&sum->wait_ns, waited);
	sum->wire_max_ns = fmax(sum->wire_max_ns, (double)wire);
	sum->error_ns = rk_max_i64(sum->error_ns, j.error);
	if (all && j.sure) {
		row->last[j.last]++;
		m->ret->lines[j.last].last++;
		add_ns(&m->ret->lines[j.last].caused_ns, waited);
	}
	if (!rk_durations_add(&m->store, &row->wires, wire))
		return rk_fail_nomem(err);
	return 0;
}

/* Most of the set must take part; otherwise the calls only look like an instance. */
static int set_close(struct match *m, struct set *s, struct rk_error *err)
{
	int rc = 0;

	if (s->n >= 2 && s->n * 2 > s->size)
		rc = add_instance(m, s, err);
	else
		m->rows[s->row].sum.unmatched += s->n;
	s->n = 0;
	s->epoch++;
	return rc;
}

/* ---- calls in order of time ---- */

static struct seat *seat_of(const struct match *m, const struct set *s, uint32_t rank)
{
	return &m->seats[s->op * m->n + rank];
}

static void sit(const struct match *m, struct set *s, const struct member *c)
{
	struct seat *seat = seat_of(m, s, c->at);

	seat->epoch = s->epoch;
	seat->at = (uint32_t)s->n;
	if (!s->n || c->end < s->min_end)
		s->min_end = c->end;
	s->v[s->n++] = *c;
}

static int come(struct match *m, struct set *s, const struct member *c, struct rk_error *err)
{
	const struct seat *seat = seat_of(m, s, c->at);
	bool there = seat->epoch == s->epoch;
	int64_t over_at = there ? c->start : c->start - touch_ns(&m->in[c->at]);
	uint64_t *unmatched = &m->rows[s->row].sum.unmatched;
	int rc = 0;

	/* the rank has two calls at once, so we cannot tell which one belongs here */
	if (there && s->v[seat->at].end > c->start) {
		++*unmatched;
		return 0;
	}
	if (s->n && (there || s->min_end < over_at)) {
		size_t over = there && s->v[seat->at].end == c->start, n = s->n;

		for (size_t i = 0; i < n; i++)
			over += s->v[i].end < over_at;
		if (n == s->size || over * 2 >= n) {
			rc = set_close(m, s, err);
		} else {
			/* remove calls that ended before the others started */
			s->n = 0;
			s->epoch++;
			for (size_t i = 0; i < n; i++) {
				struct member keep = s->v[i];

				if (keep.end < over_at + there)
					++*unmatched;
				else
					sit(m, s, &keep);
			}
		}
	}
	sit(m, s, c);
	return rc;
}

/* ---- all ranks in order of time ---- */

static void sift(struct head *h, size_t n, size_t at)
{
	struct head moving = h[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < n && h[child + 1].start < h[child].start)
			child++;
		if (child >= n || h[child].start >= moving.start)
			break;
		h[at] = h[child];
		at = child;
	}
	h[at] = moving;
}

static bool head_of(const struct match *m, uint32_t at, struct head *ret)
{
	const struct rk_comm_rank *r = &m->in[at];

	if (m->next[at] == r->ncalls)
		return false;
	*ret = (struct head){ common_time(r, r->calls[m->next[at]].start_ns), at };
	return true;
}

static int sweep(struct match *m, struct rk_error *err)
{
	int rc;

	for (size_t i = 0; i < m->n; i++)
		m->nheap += head_of(m, (uint32_t)i, &m->heap[m->nheap]);
	for (size_t i = m->nheap / 2; i--;)
		sift(m->heap, m->nheap, i);
	while (m->nheap) {
		struct head h = m->heap[0];
		const struct rk_comm_rank *r = &m->in[h.at];
		const struct rk_align_call *c = &r->calls[m->next[h.at]++];
		int64_t op = rk_map_get(&m->by_sig, c->sig, 0);
		struct set *s;
		struct member me;

		if (!head_of(m, h.at, &m->heap[0]))
			m->heap[0] = m->heap[--m->nheap];
		if (m->nheap)
			sift(m->heap, m->nheap, 0);
		if (op < 0 || m->ops[op].exact)
			continue;
		s = &m->sets[m->sets_of[(size_t)op * m->n + h.at]];
		if (s->size < 2) {
			m->lost[op]++;
			continue;
		}
		me = (struct member){ h.start, common_time(r, c->end_ns), h.at, c->size };
		rc = come(m, s, &me, err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < m->nsets; i++) {
		if (!m->sets[i].n)
			continue;
		rc = set_close(m, &m->sets[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- calls with numbers ---- */

/* A call of an operation; calls with the same domain and number are one instance. */
struct numbered {
	uint32_t domain, seq;
	struct member me;
};

static int by_number(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return (x->me.at > y->me.at) - (x->me.at < y->me.at);
}

/* The instances of n calls of one domain, in order. `seat` has room for all ranks. */
static int instances_of(struct match *m, size_t op, const struct numbered *v, size_t n,
			struct member *seat, struct rk_error *err)
{
	struct set s = { .op = op, .v = seat, .epoch = 1 };
	bool *seen = rk_calloc(m->n, sizeof(*seen));
	int rc = 0;

	if (!seen)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		s.size += !seen[v[i].me.at];
		seen[v[i].me.at] = true;
	}
	rk_free(seen);
	if (s.size < 2) {
		m->lost[op] += n;
		return 0;
	}
	rc = row_find(m, op, s.size, &s.row, err);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		/* a collective may run several kernels on a rank */
		if (s.n && seat[s.n - 1].at == v[i].me.at) {
			seat[s.n - 1].start = rk_min_i64(seat[s.n - 1].start, v[i].me.start);
			seat[s.n - 1].end = rk_max_i64(seat[s.n - 1].end, v[i].me.end);
		} else {
			seat[s.n++] = v[i].me;
		}
		if (i + 1 == n || v[i + 1].seq != v[i].seq)
			rc = set_close(m, &s, err);
	}
	return rc;
}

static int match_numbers(struct match *m, size_t op, struct rk_error *err)
{
	struct numbered *v = NULL;
	struct member *seat = rk_calloc(m->n + 1, sizeof(*seat));
	size_t n = 0, cap = 0;
	int rc = 0;

	if (!seat)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < m->n; i++) {
		const struct rk_comm_rank *r = &m->in[i];

		for (size_t k = 0; k < r->ncalls; k++) {
			const struct rk_align_call *c = &r->calls[k];
			struct numbered *grown;

			if (c->sig != m->ops[op].sig)
				continue;
			grown = rk_grow(v, &cap, n + 1, sizeof(*v));
			if (!grown) {
				rc = rk_fail_nomem(err);
				goto out;
			}
			v = grown;
			v[n++] = (struct numbered){ r->domain,
						    c->seq,
						    { common_time(r, c->start_ns),
						      common_time(r, c->end_ns), (uint32_t)i,
						      c->size } };
		}
	}
	if (n)
		qsort(v, n, sizeof(*v), by_number);
	for (size_t from = 0, to; rc == 0 && from < n; from = to) {
		for (to = from + 1; to < n && v[to].domain == v[from].domain;)
			to++;
		rc = instances_of(m, op, v + from, to - from, seat, err);
	}
out:
	rk_free(v);
	rk_free(seat);
	return rc;
}

/* ---- sums ---- */

const char *rk_comm_verdict(const struct rk_comm_sum *s)
{
	double half = (double)s->total_ns / 2;

	if ((double)s->late_sure_ns > half)
		return "late";
	return (double)s->late_ns + (double)s->calls * (double)s->error_ns < half ? "wire" : "even";
}

static int by_wait(const void *a, const void *b)
{
	const struct rk_comm_sum *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	return (x->ranks > y->ranks) - (x->ranks < y->ranks);
}

static int sums_make(struct match *m, struct rk_error *err)
{
	struct rk_comm_match *ret = m->ret;

	/* unmatched calls of an operation are added to its row with the most calls */
	for (size_t op = 0; op < m->nops; op++) {
		size_t best = m->nrows;
		int rc;

		if (!m->lost[op])
			continue;
		for (size_t i = 0; i < m->nrows; i++)
			if (m->rows[i].op == op &&
			    (best == m->nrows || m->rows[i].sum.calls > m->rows[best].sum.calls))
				best = i;
		if (best == m->nrows) {
			rc = row_find(m, op, 1, &best, err);
			if (rc < 0)
				return rc;
		}
		m->rows[best].sum.unmatched += m->lost[op];
	}
	ret->sums = rk_calloc(m->nrows + 1, sizeof(*ret->sums));
	if (!ret->sums)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < m->nrows; i++) {
		struct row *r = &m->rows[i];

		if (!r->sum.calls && !r->sum.unmatched)
			continue;
		if (!rk_durations_settle(&m->store, &r->wires))
			return rk_fail_nomem(err);
		if (!rk_durations_median(&r->wires, &r->sum.wire_median_ns))
			r->sum.wire_median_ns = NAN;
		if (!r->sum.calls)
			r->sum.wire_max_ns = NAN;
		r->sum.straggler = -1;
		for (size_t k = 0; k < m->n; k++) {
			if (r->last[k] > r->sum.straggler_calls) {
				r->sum.straggler_calls = r->last[k];
				r->sum.straggler = m->in[k].rank;
			}
		}
		r->sum.verdict = rk_comm_verdict(&r->sum);
		ret->sums[ret->nsums++] = r->sum;
	}
	qsort(ret->sums, ret->nsums, sizeof(*ret->sums), by_wait);
	return 0;
}

int rk_comm_match(const struct rk_comm_rank *in, size_t n, const struct rk_comm_op *ops,
		  size_t nops, struct rk_comm_match *ret, struct rk_error *err)
{
	struct rk_comm_match got = { .lines = NULL };
	struct match m = { .in = in, .n = n, .ops = ops, .nops = nops, .ret = &got };
	int rc;

	m.sets_of = rk_calloc(n * nops + 1, sizeof(*m.sets_of));
	m.seats = rk_calloc(n * nops + 1, sizeof(*m.seats));
	m.lost = rk_calloc(nops + 1, sizeof(*m.lost));
	m.heap = rk_calloc(n + 1, sizeof(*m.heap));
	m.next = rk_calloc(n + 1, sizeof(*m.next));
	got.lines = rk_calloc(n + 1, sizeof(*got.lines));
	m.store.max_pages = RK_MEDIAN_MAX_PAGES;
	if (!m.sets_of || !m.seats || !m.lost || !m.heap || !m.next || !got.lines) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < nops; i++) {
		if (!rk_map_put(&m.by_sig, ops[i].sig, 0, (uint32_t)i)) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		rc = ops[i].exact ? match_numbers(&m, i, err) : sets_of_op(&m, i, err);
		if (rc < 0)
			goto out;
	}
	rc = sweep(&m, err);
	if (rc < 0)
		goto out;
	rc = sums_make(&m, err);
	if (rc < 0)
		goto out;
	*ret = got;
	got = (struct rk_comm_match){ .lines = NULL };
out:
	for (size_t i = 0; i < m.nsets; i++)
		rk_free(m.sets[i].v);
	for (size_t i = 0; i < m.nrows; i++) {
		rk_free(m.rows[i].last);
		rk_durations_release(&m.rows[i].wires);
	}
	rk_free(m.sets_of);
	rk_free(m.seats);
	rk_free(m.sets);
	rk_free(m.rows);
	rk_free(m.lost);
	rk_map_release(&m.by_sig);
	rk_free(m.heap);
	rk_free(m.next);
	rk_comm_match_release(&got);
	return rc;
}

void rk_comm_match_release(struct rk_comm_match *m)
{
	rk_free(m->lines);
	rk_free(m->sums);
	*m = (struct rk_comm_match){ .lines = NULL };
}
