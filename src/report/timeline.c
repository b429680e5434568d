/* timeline.c - see timeline.h. */
#include "report/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "table/timeline_order.h"

/* Adds the length of [from, to) if it is not empty. */
static void extend(int64_t *sum, int64_t from, int64_t to)
{
	if (to > from)
		*sum += to - from;
}

static void add_gap(struct rk_sweep_device *d, int64_t from, int64_t to)
{
	if (to <= from)
		return;
	d->facts.gaps++;
	d->facts.idle_ns += to - from;
	if (to - from > d->facts.longest_gap_ns) {
		d->facts.longest_gap_ns = to - from;
		d->facts.longest_gap_at_ns = from;
	}
}

/*
 * The part of s after *until is new time of its kind. Of that, the part before other_until overlaps
 * the other kind. Overlap with a later interval is added when that interval arrives.
 */
static void cover(struct rk_sweep_device *d, const struct rk_stretch *s, int64_t *until,
		  int64_t other_until, int64_t *sum)
{
	int64_t from = rk_max_i64(s->start, *until);

	extend(sum, from, s->end);
	extend(&d->facts.overlap_ns, from, rk_min_i64(s->end, other_until));
	*until = rk_max_i64(*until, s->end);
}

bool rk_sweep_add(struct rk_sweep *w, const struct rk_stretch *s)
{
	struct rk_sweep_device *d = &w->devices[s->device];
	bool copy = s->queue == RK_QUEUE_COPY;
	struct rk_sweep_queue *q;
	int64_t gap = 0;

	/* a row from 0 to 0 has no known time: the span starts with the first row that has one */
	if (!d->begun || (!d->first && !d->last)) {
		d->begun = true;
		d->first = d->last = d->kernels_until = d->copies_until = s->start;
	}
	d->last = rk_max_i64(d->last, s->end);
	d->facts.copies += copy;
	d->facts.kernels += !copy;
	if (s->end == s->start) /* no duration: does not split a gap */
		return true;
	add_gap(d, rk_max_i64(d->kernels_until, d->copies_until), s->start);
	if (copy) {
		cover(d, s, &d->copies_until, d->kernels_until, &d->facts.copy_ns);
		return true;
	}
	/* thousands of overlapping kernels may add up to more than 64 bits can hold */
	d->facts.kernel_ns = rk_add_saturated(d->facts.kernel_ns, s->end - s->start);
	cover(d, s, &d->kernels_until, d->copies_until, &d->facts.busy_ns);
	if (s->queue == RK_QUEUE_NONE)
		return true;

	q = &w->queues[s->queue];
	if (q->begun) {
		gap = s->start - q->until;
		q->until = rk_max_i64(q->until, s->end);
	} else {
		q->until = s->end;
		q->begun = true;
	}
	if (gap <= 0 || gap >= RK_LAUNCH_GAP_NS)
		return true;
	d->facts.launch_gaps++;
	d->facts.launch_gap_ns += gap;
	if (!rk_durations_add(&w->store, &d->gaps, gap))
		return false;
	if (w->store.folded || ++w->held <= RK_MEDIAN_EXACT_MAX)
		return true;
	w->store.folded = true;
	for (size_t i = 0; i < w->ndevices; i++)
		if (!rk_durations_fold(&w->store, &w->devices[i].gaps))
			return false;
	return true;
}

bool rk_sweep_finish(struct rk_sweep *w)
{
	for (size_t i = 0; i < w->ndevices; i++) {
		struct rk_sweep_device *d = &w->devices[i];

		d->facts.median_launch_gap_ns = NAN;
		if (!d->begun)
			continue;
		add_gap(d, rk_max_i64(d->kernels_until, d->copies_until), d->last);
		d->facts.span_ns = d->last - d->first;
		if (!rk_durations_settle(&w->store, &d->gaps))
			return false;
		rk_durations_median(&d->gaps, &d->facts.median_launch_gap_ns);
	}
	return true;
}

#define BIT(f) (UINT64_C(1) << (f))

enum { UNKNOWN = -1 };

#define NOBODY UINT32_MAX

struct rk_timeline {
	struct rk_context *ctx;
	struct rk_order *order;
	struct rk_era era;
	struct rk_keys devices;            /* node, rank, device */
	struct rk_keys queues;             /* device index (for streams: -1 - index), pid, queue */
	bool kernels[RK_TIMELINE_DEVICES]; /* by device: it has kernels */
	bool copies[RK_TIMELINE_DEVICES];  /* and copies from or to the host, or within it */
	uint64_t far, no_device, no_queue; /* counts of rows */
	/* which ends of a copy are devices, cached for its direction */
	uint32_t direction;
	bool from, to;
};

int rk_timeline_new(struct rk_context *ctx, struct rk_timeline **ret, struct rk_error *err)
{
	struct rk_timeline *t = rk_calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return rk_fail_nomem(err);
	rc = rk_order_new(ctx->tmpdir, RK_ORDER_HELD, &t->order, err);
	if (rc < 0) {
		rk_timeline_free(t);
		return rc;
	}
	t->ctx = ctx;
	t->devices.max = RK_TIMELINE_DEVICES;
	t->queues.max = RK_TIMELINE_QUEUES;
	t->direction = UINT32_MAX;
	*ret = t;
	return 0;
}

int rk_timeline_limit(struct rk_timeline *t, size_t held, struct rk_error *err)
{
	struct rk_order *order;
	int rc = rk_order_new(t->ctx->tmpdir, held, &order, err);

	if (rc < 0)
		return rc;
	rk_order_free(t->order);
	t->order = order;
	return 0;
}

uint64_t rk_timeline_wants(enum rk_table t)
{
	if (t == RK_KERNELS)
		return BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_DEVICE) | BIT(RK_K_QUEUE) |
		       BIT(RK_K_STREAM) | BIT(RK_K_PID) | BIT(RK_K_NODE) | BIT(RK_K_RANK) |
		       BIT(RK_K_BARRIER);
	if (t == RK_MEMCPY)
		return BIT(RK_C_START) | BIT(RK_C_DURATION) | BIT(RK_C_DIRECTION) | BIT(RK_C_SRC) |
		       BIT(RK_C_DST) | BIT(RK_C_NODE) | BIT(RK_C_RANK);
	return 0;
}

/* False: the row has no times, or impossible ones. */
static inline bool times_of(struct rk_timeline *t, const struct rk_batch *b, unsigned start,
			    unsigned duration, size_t i, struct rk_stretch *ret)
{
	int64_t d = rk_batch_int(b, duration, i, -1);

	if (d < 0 || !rk_column_has(&b->cols[start], i))
		return false;
	ret->start = rk_batch_int(b, start, i, 0);
	if (rk_add_i64(ret->start, d, &ret->end) &&
	    rk_era_holds(&t->era, RK_ERA_MOST, ret->start, ret->end))
		return true;
	t->far++;
	return false;
}

static int add_kernel(struct rk_timeline *t, const struct rk_batch *b, size_t i,
		      struct rk_error *err)
{
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];
	struct rk_key3 device, queue;
	struct rk_stretch s;
	int rc;

	if (rk_column_has(barrier, i) && ((const uint8_t *)barrier->data)[i])
		return 0;
	if (!times_of(t, b, RK_K_START, RK_K_DURATION, i, &s))
		return 0;
	device = (struct rk_key3){ rk_batch_id(b, RK_K_NODE, i),
				   rk_batch_int(b, RK_K_RANK, i, UNKNOWN),
				   rk_batch_int(b, RK_K_DEVICE, i, UNKNOWN) };
	rc = rk_keys_number(&t->devices, device, &s.device, err);
	if (rc < 0)
		return rc;
	if (s.device == RK_TIMELINE_DEVICES) {
		t->no_device++;
		return 0;
	}
	t->kernels[s.device] = true;

	queue = (struct rk_key3){ s.device, rk_batch_int(b, RK_K_PID, i, UNKNOWN), 0 };
	s.queue = RK_QUEUE_NONE;
	if (rk_column_has(&b->cols[RK_K_QUEUE], i)) {
		queue.c = rk_batch_int(b, RK_K_QUEUE, i, 0);
	} else if (rk_column_has(&b->cols[RK_K_STREAM], i)) {
		queue.a = -1 - queue.a;
		queue.c = rk_batch_int(b, RK_K_STREAM, i, 0);
	} else {
		return rk_order_add(t->order, &s, err);
	}
	rc = rk_keys_number(&t->queues, queue, &s.queue, err);
	if (rc < 0)
		return rc;
	if (s.queue == RK_TIMELINE_QUEUES) {
		s.queue = RK_QUEUE_NONE;
		t->no_queue++;
	}
	return rk_order_add(t->order, &s, err);
}

/* peer: the other end is another device. */
static int add_copy_to(struct rk_timeline *t, const struct rk_batch *b, size_t i, int64_t device,
		       bool peer, struct rk_stretch *s, struct rk_error *err)
{
	struct rk_key3 key = { rk_batch_id(b, RK_C_NODE, i), rk_batch_int(b, RK_C_RANK, i, UNKNOWN),
			       device };
	int rc = rk_keys_number(&t->devices, key, &s->device, err);

	if (rc < 0)
		return rc;
	if (s->device == RK_TIMELINE_DEVICES) {
		t->no_device++;
		return 0;
	}
	s->queue = RK_QUEUE_COPY;
	t->copies[s->device] |= !peer;
	return rk_order_add(t->order, s, err);
}

static int add_copy(struct rk_timeline *t, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	uint32_t direction = rk_batch_id(b, RK_C_DIRECTION, i);
	int64_t from = UNKNOWN, to = UNKNOWN;
	struct rk_stretch s;
	const char *word;
	bool peer;
	int rc;

	if (!times_of(t, b, RK_C_START, RK_C_DURATION, i, &s))
		return 0;
	/* a host agent has a number too: only the direction distinguishes it from a device */
	if (direction != t->direction) {
		word = rk_strtab_borrow(t->ctx->names, direction, NULL);
		t->from = !strstr(word, "HOST_TO");
		t->to = !strstr(word, "TO_HOST");
		t->direction = direction;
	}
	if (!t->from && !t->to) /* from host to host */
		return 0;
	if (t->from)
		from = rk_batch_int(b, RK_C_SRC, i, UNKNOWN);
	if (t->to)
		to = rk_batch_int(b, RK_C_DST, i, UNKNOWN);
	peer = from != UNKNOWN && to != UNKNOWN && from != to;
	if (to != UNKNOWN || from == UNKNOWN) {
		rc = add_copy_to(t, b, i, to, peer, &s, err);
		if (rc < 0)
			return rc;
	}
	if (from != UNKNOWN && from != to)
		return add_copy_to(t, b, i, from, peer, &s, err);
	return 0;
}

int rk_timeline_add(struct rk_timeline *t, const struct rk_batch *b, struct rk_error *err)
{
	enum rk_table table = b->schema->table;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		if (table == RK_KERNELS)
			rc = add_kernel(t, b, i, err);
		else if (table == RK_MEMCPY)
			rc = add_copy(t, b, i, err);
	}
	return rc;
}

/*
 * A device that a rank only names as the other end of copies belongs to another rank, which lists
 * it. NOBODY: the copies are listed where they are from or go.
 */
static uint32_t peer_of(const struct rk_timeline *t, uint32_t device)
{
	const struct rk_key3 *k = &t->devices.v[device];

	if (k->b == UNKNOWN || t->kernels[device] || t->copies[device])
		return device;
	for (uint32_t i = 0; i < t->devices.n; i++) {
		const struct rk_key3 *o = &t->devices.v[i];

		if (o->a == k->a && o->b == k->b && (t->kernels[i] || t->copies[i]))
			return NOBODY;
	}
	return device;
}

/*
 * The device for copies that name none: the only one with kernels on their node and rank, else
 * itself.
 */
static uint32_t owner_of(const struct rk_timeline *t, uint32_t device)
{
	const struct rk_key3 *k = &t->devices.v[device];
	uint32_t owner = device;

	if (k->c != UNKNOWN)
		return peer_of(t, device);
	if (t->kernels[device])
		return device;
	for (uint32_t i = 0; i < t->devices.n; i++) {
		const struct rk_key3 *o = &t->devices.v[i];

		if (!t->kernels[i] || o->a != k->a || o->b != k->b)
			continue;
		if (owner != device)
			return device;
		owner = i;
	}
	return owner;
}

/* A device of the result and its sort key. */
struct named {
	const char *node;
	struct rk_key3 key;
	const struct rk_sweep_device *d;
};

static int by_place(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int order = strcmp(a->node, b->node);

	if (!order)
		order = (a->key.b > b->key.b) - (a->key.b < b->key.b);
	return order ? order : (a->key.c > b->key.c) - (a->key.c < b->key.c);
}

static int give(const struct rk_timeline *t, const struct rk_sweep *w, struct rk_trace_facts *ret,
		struct rk_error *err)
{
	size_t n = w->ndevices, out = 0;
	const struct rk_key3 *all = t->devices.v;
	bool nodes = false, ranks = false; /* which parts of the names differ */
	struct named *list = rk_calloc(n, sizeof(*list));
	struct rk_trace_device *facts = rk_calloc(n, sizeof(*facts));

	if (!list || !facts) {
		rk_free(list);
		rk_free(facts);
		return rk_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		nodes |= all[i].a != all[0].a;
		ranks |= all[i].b != all[0].b;
		if (w->devices[i].begun)
			list[out++] = (struct named){ rk_strtab_borrow(t->ctx->names,
								       (uint32_t)all[i].a, NULL),
						      all[i], &w->devices[i] };
	}
	qsort(list, out, sizeof(*list), by_place);
	for (size_t i = 0; i < out; i++) {
		const struct rk_key3 *k = &list[i].key;
		const char *node = nodes ? list[i].node : "";
		char rank[18] = "", device[28] = "unknown device"; /* longest possible texts */
		size_t len, room;

		facts[i] = list[i].d->facts;
		if (ranks && k->b != UNKNOWN)
			snprintf(rank, sizeof(rank), "rank %" PRId32 " ", (int32_t)k->b);
		if (k->c != UNKNOWN)
			snprintf(device, sizeof(device), "device %" PRId64, k->c);
		/* truncate a long node name, but never inside a UTF-8 character */
		room = sizeof(facts[i].name) - 2 - strlen(rank) - strlen(device);
		len = rk_utf8_valid(node, rk_min(strlen(node), room));
		snprintf(facts[i].name, sizeof(facts[i].name), "%.*s%s%s%s", (int)len, node,
			 len ? " " : "", rank, device);
	}
	rk_free(list);
	*ret = (struct rk_trace_facts){ facts, out };
	return 0;
}

int rk_timeline_finish(struct rk_timeline *t, struct rk_trace_facts *ret, struct rk_error *err)
{
	size_t nd = t->devices.n, nq = t->queues.n;
	struct rk_sweep w = { .ndevices = nd, .store = { .max_pages = RK_MEDIAN_MAX_PAGES } };
	uint32_t *owners = rk_alloc((nd + 1) * sizeof(*owners));
	struct rk_stretch s;
	int rc;

	w.devices = rk_calloc(nd + 1, sizeof(*w.devices));
	w.queues = rk_calloc(nq + 1, sizeof(*w.queues));
	if (!owners || !w.devices || !w.queues) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (uint32_t i = 0; i < nd; i++)
		owners[i] = owner_of(t, i);
	while ((rc = rk_order_next(t->order, &s, err)) > 0) {
		s.device = owners[s.device];
		if (s.device == NOBODY)
			continue;
		if (!rk_sweep_add(&w, &s)) {
			rc = rk_fail_nomem(err);
			goto out;
		}
	}
	if (rc < 0)
		goto out;
	if (!rk_sweep_finish(&w)) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = give(t, &w, ret, err);
	if (rc < 0)
		goto out;
	if (t->far)
		rk_diag_add(t->ctx->diag, "time-out-of-range", "", 0, t->far,
			    "kernels and copies more than 146 years from the others; left out of "
			    "busy and idle times");
	if (t->no_device)
		rk_diag_add(t->ctx->diag, "many-devices", "", 0, t->no_device,
			    "more than %d devices; kernels and copies of the rest are left out "
			    "of busy and idle times",
			    RK_TIMELINE_DEVICES);
	if (t->no_queue)
		rk_diag_add(t->ctx->diag, "many-queues", "", 0, t->no_queue,
			    "more than %d queues; kernels on the rest are left out of launch "
			    "gaps",
			    RK_TIMELINE_QUEUES);
out:
	for (size_t i = 0; w.devices && i < nd; i++)
		rk_durations_release(&w.devices[i].gaps);
	rk_free(w.devices);
	rk_free(w.queues);
	rk_free(owners);
	return rc;
}

double rk_timeline_gap_share(const struct rk_trace_facts *f)
{
	double gaps = 0, busy = 0;

	for (size_t i = 0; i < f->ndevices; i++) {
		gaps += (double)f->devices[i].launch_gap_ns;
		busy += (double)f->devices[i].kernel_ns;
	}
	return gaps + busy > 0 ? gaps / (gaps + busy) : NAN;
}

void rk_timeline_free(struct rk_timeline *t)
{
	if (!t)
		return;
	rk_order_free(t->order);
	rk_keys_release(&t->devices);
	rk_keys_release(&t->queues);
	rk_free(t);
}
