/* energy.c - see energy.h. */
#include "run/energy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "table/timeline_order.h"

/* ---- which sampled GPU a kernel ran on ---- */

#define NOWHERE SIZE_MAX

struct agent {
	uint32_t node;
	int64_t device;
	bool gpu;
};

struct devices {
	const struct rk_strtab *names;
	struct rk_energy_curve *curves; /* in order of node and device once settled */
	size_t n, cap, last;
	struct agent *agents;
	size_t nagents, cap_agents;
	struct rk_keys kernels; /* node, 0, device */
	size_t *places;         /* curve of each of `kernels`, NOWHERE for none */
	size_t nplaces;
};

static void release_devices(struct devices *d)
{
	for (size_t i = 0; i < d->n; i++)
		rk_curve_release(&d->curves[i]);
	rk_free(d->curves);
	rk_free(d->agents);
	rk_free(d->places);
	rk_keys_release(&d->kernels);
}

static int find_curve(struct devices *d, uint32_t node, int64_t device, size_t *ret,
		      struct rk_error *err)
{
	void *grown;

	/* devices are sampled in turn: try the next one first */
	for (size_t k = 0; k < d->n; k++) {
		size_t i = (d->last + k) % d->n;

		if (d->curves[i].node == node && d->curves[i].device == device) {
			d->last = i + 1;
			*ret = i;
			return 0;
		}
	}
	*ret = NOWHERE;
	if (d->n == RK_ENERGY_DEVICES)
		return 0;
	grown = rk_grow(d->curves, &d->cap, d->n + 1, sizeof(*d->curves));
	if (!grown)
		return rk_fail_nomem(err);
	d->curves = grown;
	d->curves[d->n] = (struct rk_energy_curve){ .node = node, .device = device };
	*ret = d->n++;
	return 0;
}

static int note_agent(struct devices *d, uint32_t node, int64_t device, bool gpu,
		      struct rk_error *err)
{
	void *grown;

	for (size_t i = 0; i < d->nagents; i++)
		if (d->agents[i].node == node && d->agents[i].device == device)
			return 0;
	if (d->nagents == 2 * RK_ENERGY_DEVICES)
		return 0;
	grown = rk_grow(d->agents, &d->cap_agents, d->nagents + 1, sizeof(*d->agents));
	if (!grown)
		return rk_fail_nomem(err);
	d->agents = grown;
	d->agents[d->nagents++] = (struct agent){ node, device, gpu };
	return 0;
}

static int number_kernel(struct devices *d, uint32_t node, int64_t device, uint32_t *ret,
			 struct rk_error *err)
{
	return rk_keys_number(&d->kernels, (struct rk_key3){ node, 0, device }, ret, err);
}

static int by_place(const void *pa, const void *pb, void *arg)
{
	const struct rk_energy_curve *a = pa, *b = pb;
	int c = strcmp(rk_strtab_borrow(arg, a->node, NULL), rk_strtab_borrow(arg, b->node, NULL));

	return c ? c : (a->device > b->device) - (a->device < b->device);
}

/* Node 0 is unknown and matches every node. */
static bool same_node(uint32_t a, uint32_t b)
{
	return !a || !b || a == b;
}

/*
 * The index of an agent among the GPUs of its node; the agent's own number if no agent table
 * describes it.
 */
static int64_t place_of_agent(const struct devices *d, uint32_t node, int64_t device)
{
	int64_t place = 0;
	bool known = false;

	for (size_t i = 0; i < d->nagents; i++) {
		const struct agent *a = &d->agents[i];

		if (!a->gpu || !same_node(a->node, node))
			continue;
		known |= a->device == device;
		place += a->device < device;
	}
	return known ? place : device;
}

static size_t only_curve(const struct devices *d, uint32_t node)
{
	size_t found = NOWHERE, n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->curves[i].n && same_node(d->curves[i].node, node)) {
			found = i;
			n++;
		}
	return n == 1 ? found : NOWHERE;
}

static size_t curve_at(const struct devices *d, uint32_t node, int64_t device)
{
	size_t found = NOWHERE, n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (same_node(d->curves[i].node, node) && d->curves[i].device == device) {
			found = i;
			n++;
		}
	return n == 1 ? found : NOWHERE;
}

/* Whether the kernels of this node (0: unknown) ran on exactly one device. */
static bool one_device(const struct devices *d, uint32_t node)
{
	size_t n = 0;

	for (size_t i = 0; i < d->kernels.n; i++)
		n += d->kernels.v[i].a == node;
	return n == 1;
}

static size_t find_place(const struct devices *d, uint32_t node, int64_t device)
{
	size_t at = curve_at(d, node, place_of_agent(d, node, device));

	/* one GPU ran kernels and one was sampled: they match whatever their numbers are */
	if (at == NOWHERE && one_device(d, node))
		at = only_curve(d, node);
	return at;
}

/* Samples without a node that match kernels of several nodes are assigned to none of them. */
static void part_nodes(struct devices *d)
{
	for (size_t i = 0; i < d->kernels.n; i++)
		for (size_t k = 0; k < i; k++)
			if (d->places[i] != NOWHERE && d->places[i] == d->places[k] &&
			    d->kernels.v[i].a != d->kernels.v[k].a) {
				size_t at = d->places[i];

				for (size_t j = 0; j < d->kernels.n; j++)
					if (d->places[j] == at)
						d->places[j] = NOWHERE;
			}
}

static int settle_devices(struct devices *d, struct rk_error *err)
{
	if (d->n)
		qsort_r(d->curves, d->n, sizeof(*d->curves), by_place, (void *)d->names);
	d->places = rk_calloc(d->kernels.n + 1, sizeof(*d->places));
	if (!d->places)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < d->kernels.n; i++)
		d->places[i] = find_place(d, (uint32_t)d->kernels.v[i].a, d->kernels.v[i].c);
	d->nplaces = d->kernels.n;
	part_nodes(d);
	return 0;
}

static size_t place_of(const struct devices *d, uint32_t kernel)
{
	return kernel < d->nplaces ? d->places[kernel] : NOWHERE;
}

static int64_t number_of_curve(const struct devices *d, size_t curve)
{
	const struct rk_energy_curve *c = &d->curves[curve];

	for (size_t i = 0; i < d->nplaces; i++)
		if (d->places[i] == curve)
			return d->kernels.v[i].c;
	for (size_t i = 0; i < d->nagents; i++) {
		const struct agent *a = &d->agents[i];

		if (a->gpu && same_node(a->node, c->node) &&
		    place_of_agent(d, a->node, a->device) == c->device)
			return a->device;
	}
	return -1;
}

static size_t find_device(struct devices *d, uint32_t node, int64_t device)
{
	uint32_t at;

	if (rk_keys_number(&d->kernels, (struct rk_key3){ node, 0, device }, &at, NULL) < 0 ||
	    at >= d->nplaces)
		return NOWHERE;
	return d->places[at];
}

/* ---- all of it ---- */

#define BIT(f) (UINT64_C(1) << (f))
#define TIME_MAX (INT64_MAX / 2) /* so that any span fits */

enum { MAX_VISITS = 1 << 18 };

struct rk_energy {
	struct rk_context *ctx;
	int key;
	size_t max_samples, nsamples;
	struct devices devices;
	struct rk_keys groups;      /* name, has a key, key */
	struct rk_energy_sum *sums; /* nsums, and one for groups past the limit */
	size_t nsums;
	struct rk_order *order, *again; /* kernels as read; then in order and cut to the samples */
	size_t held;
	/* by group and curve: the interval up to which the uncertainty was added */
	struct rk_keys visits;
	size_t *visited;
	size_t cap_visited;
	struct rk_energy_oddities odd;
	uint64_t thinned, lost_devices;
	uint64_t no_place; /* kernels on devices that were not sampled */
};

int rk_energy_new(struct rk_context *ctx, int key, struct rk_energy **ret, struct rk_error *err)
{
	struct rk_energy *e = rk_calloc(1, sizeof(*e));

	if (!e)
		return rk_fail_nomem(err);
	*e = (struct rk_energy){ .ctx = ctx,
				 .key = key,
				 .max_samples = RK_ENERGY_SAMPLES,
				 .held = RK_ORDER_HELD,
				 .groups = { .max = RK_AGG_MAX_GROUPS },
				 .visits = { .max = MAX_VISITS },
				 .devices = { .names = ctx->names,
					      .kernels = { .max = RK_ENERGY_DEVICES } } };
	*ret = e;
	return 0;
}

void rk_energy_limit(struct rk_energy *e, size_t samples, size_t held)
{
	e->max_samples = samples;
	e->held = held;
}

void rk_energy_free(struct rk_energy *e)
{
	if (!e)
		return;
	release_devices(&e->devices);
	rk_keys_release(&e->groups);
	rk_keys_release(&e->visits);
	rk_order_free(e->order);
	rk_order_free(e->again);
	rk_free(e->visited);
	rk_free(e->sums);
	rk_free(e);
}

uint64_t rk_energy_wants(const struct rk_energy *e, enum rk_table t)
{
	switch (t) {
	case RK_SAMPLES:
		return BIT(RK_S_TIME) | BIT(RK_S_DEVICE) | BIT(RK_S_METRIC) | BIT(RK_S_VALUE) |
		       BIT(RK_S_NODE);
	case RK_AGENTS:
		return BIT(RK_G_DEVICE) | BIT(RK_G_TYPE) | BIT(RK_G_NODE);
	case RK_KERNELS:
		return BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_DEVICE) |
		       BIT(RK_K_NODE) | BIT(RK_K_BARRIER) | (e->key < 0 ? 0 : BIT(e->key));
	default:
		return 0;
	}
}

/* ---- samples ---- */

static int meter_of(const struct rk_energy *e, uint32_t metric)
{
	const char *name = rk_strtab_borrow(e->ctx->names, metric, NULL);

	if (!strcmp(name, "energy_j"))
		return RK_METER_COUNTER;
	return !strcmp(name, "power_w") ? RK_METER_POWER : -1;
}

static void make_room(struct rk_energy *e)
{
	if (e->nsamples < e->max_samples)
		return;
	e->nsamples = 0;
	e->thinned++;
	for (size_t i = 0; i < e->devices.n; i++) {
		struct rk_energy_curve *c = &e->devices.curves[i];

		rk_curve_thin(c);
		e->nsamples += c->samples[RK_METER_COUNTER].n + c->samples[RK_METER_POWER].n;
	}
}

static int add_sample(struct rk_energy *e, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	const struct rk_column *value = &b->cols[RK_S_VALUE];
	int meter = meter_of(e, rk_batch_id(b, RK_S_METRIC, i));
	int64_t t = rk_batch_int(b, RK_S_TIME, i, INT64_MAX);
	size_t at;
	int rc;

	if (meter < 0 || !rk_column_has(value, i) || t > TIME_MAX || t < -TIME_MAX)
		return 0;
	rc = find_curve(&e->devices, rk_batch_id(b, RK_S_NODE, i),
			rk_batch_int(b, RK_S_DEVICE, i, -1), &at, err);
	if (rc < 0)
		return rc;
	if (at == NOWHERE) {
		e->lost_devices++;
		return 0;
	}
	make_room(e);
	rc = rk_curve_add(&e->devices.curves[at], (enum rk_meter)meter, t,
			  ((const double *)value->data)[i], err);
	e->nsamples += !e->devices.curves[at].samples[meter].left_out;
	return rc;
}

bool rk_energy_some(const struct rk_energy *e)
{
	for (size_t i = 0; i < e->devices.n; i++)
		for (unsigned m = 0; m < RK_NMETERS; m++)
			if (e->devices.curves[i].samples[m].n >= 2)
				return true;
	return false;
}

/* ---- agents and kernels ---- */

static int add_agent(struct rk_energy *e, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	const char *type = rk_strtab_borrow(e->ctx->names, rk_batch_id(b, RK_G_TYPE, i), NULL);

	if (!rk_column_has(&b->cols[RK_G_DEVICE], i))
		return 0;
	return note_agent(&e->devices, rk_batch_id(b, RK_G_NODE, i),
			  rk_batch_int(b, RK_G_DEVICE, i, -1), !strcmp(type, "GPU"), err);
}

static int group_of(struct rk_energy *e, const struct rk_batch *b, size_t i, uint32_t *ret,
		    struct rk_error *err)
{
	bool keyed = e->key >= 0 && rk_column_has(&b->cols[e->key], i);
	struct rk_key3 key = { rk_batch_id(b, RK_K_NAME, i), keyed,
			       keyed ? rk_batch_int(b, (unsigned)e->key, i, 0) : 0 };

	return rk_keys_number(&e->groups, key, ret, err);
}

static bool times_of(const struct rk_batch *b, size_t i, int64_t *start, int64_t *end)
{
	int64_t d = rk_batch_int(b, RK_K_DURATION, i, -1);

	if (d < 0 || !rk_column_has(&b->cols[RK_K_START], i))
		return false;
	*start = rk_batch_int(b, RK_K_START, i, 0);
	return *start >= -TIME_MAX && rk_add_i64(*start, d, end) && *end <= TIME_MAX;
}

static int add_kernel(struct rk_energy *e, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];
	struct rk_stretch s = { 0 };
	uint32_t group;
	int rc = group_of(e, b, i, &group, err);

	if (rc < 0 || (rk_column_has(barrier, i) && ((const uint8_t *)barrier->data)[i]) ||
	    !times_of(b, i, &s.start, &s.end) || s.start == s.end)
		return rc;
	rc = number_kernel(&e->devices, rk_batch_id(b, RK_K_NODE, i),
			   rk_batch_int(b, RK_K_DEVICE, i, -1), &s.device, err);
	s.queue = group;
	if (rc == 0 && !e->order)
		rc = rk_order_new(e->ctx->tmpdir, e->held, &e->order, err);
	return rc < 0 ? rc : rk_order_add(e->order, &s, err);
}

int rk_energy_add(struct rk_energy *e, const struct rk_batch *b, struct rk_error *err)
{
	int (*add)(struct rk_energy *, const struct rk_batch *, size_t, struct rk_error *) =
		add_kernel;
	int rc = 0;

	if (b->schema->table == RK_SAMPLES)
		add = add_sample;
	else if (b->schema->table == RK_AGENTS)
		add = add_agent;
	for (size_t i = 0; rc == 0 && i < b->nrows; i++)
		rc = add(e, b, i, err);
	return rc;
}

/* ---- the end ---- */

/* All kernels in order: adds their time to the intervals, and keeps them for the second stage. */
static int cover_all(struct rk_energy *e, struct rk_error *err)
{
	struct rk_stretch s;
	int rc = rk_order_new(e->ctx->tmpdir, e->held, &e->again, err);

	while (rc == 0 && e->order && (rc = rk_order_next(e->order, &s, err)) > 0) {
		size_t at = place_of(&e->devices, s.device);

		rc = 0;
		if (at == NOWHERE || !e->devices.curves[at].n) {
			e->no_place++;
			continue;
		}
		s.device = (uint32_t)at;
		if (rk_curve_cover(&e->devices.curves[at], &s.start, &s.end, s.queue))
			rc = rk_order_add(e->again, &s, err);
	}
	rk_order_free(e->order);
	e->order = NULL;
	return rc;
}

/* The first interval whose uncertainty was not added to the group yet; NULL: not tracked. */
static int visit_of(struct rk_energy *e, const struct rk_stretch *s, size_t **ret,
		    struct rk_error *err)
{
	struct rk_key3 key = { s->queue, 0, s->device };
	uint32_t at;
	int rc = rk_keys_number(&e->visits, key, &at, err);
	size_t *grown;

	*ret = NULL;
	if (rc < 0 || at == MAX_VISITS)
		return rc;
	if (e->cap_visited < e->visits.cap) {
		grown = rk_reallocn(e->visited, e->visits.cap, sizeof(*grown));
		if (!grown)
			return rk_fail_nomem(err);
		memset(grown + e->cap_visited, 0,
		       (e->visits.cap - e->cap_visited) * sizeof(*grown));
		e->visited = grown;
		e->cap_visited = e->visits.cap;
	}
	*ret = &e->visited[at];
	return 0;
}

static void add_up(int64_t *sum, int64_t v)
{
	if (__builtin_add_overflow(*sum, v, sum))
		*sum = INT64_MAX;
}

static int share_out(struct rk_energy *e, const struct rk_stretch *s, struct rk_error *err)
{
	struct rk_energy_curve *c = &e->devices.curves[s->device];
	struct rk_energy_sum *sum = &e->sums[s->queue];
	struct rk_energy_part part;
	size_t *visited, from;
	int rc = visit_of(e, s, &visited, err);

	if (rc < 0 || !rk_curve_part(c, s->start, s->end, c->hint, &part))
		return rc;
	c->hint = part.first;
	from = visited && *visited > part.first ? *visited : part.first;
	if (from <= part.last)
		add_up(&sum->error,
		       c->steps[part.last + 1].error_before - c->steps[from].error_before);
	if (visited && *visited <= part.last)
		*visited = part.last + 1;
	add_up(&sum->units, part.units);
	add_up(&sum->covered_ns, part.covered_ns);
	add_up(&c->covered_ns, part.covered_ns);
	add_up(&c->uncovered_ns, s->end - s->start - part.covered_ns);
	c->kernels += part.units;
	return 0;
}

static int share_all(struct rk_energy *e, struct rk_error *err)
{
	struct rk_stretch s;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < e->devices.n; i++) {
		rc = rk_curve_split(&e->devices.curves[i], err);
		e->devices.curves[i].hint = 0;
	}
	e->nsums = e->groups.n;
	e->sums = rc == 0 ? rk_calloc(e->nsums + 1, sizeof(*e->sums)) : NULL;
	if (rc == 0 && !e->sums)
		rc = rk_fail_nomem(err);
	while (rc == 0 && (rc = rk_order_next(e->again, &s, err)) > 0)
		rc = share_out(e, &s, err);
	rk_order_free(e->again);
	e->again = NULL;
	return rc;
}

static void tell_samples(struct rk_energy *e)
{
	struct rk_diag *d = e->ctx->diag;

	if (e->odd.wild)
		rk_diag_add(d, "energy-odd-sample", "", 0, e->odd.wild,
			    "implausible energy or power reading skipped");
	if (e->odd.wraps)
		rk_diag_add(d, "energy-wrap", "", 0, e->odd.wraps,
			    "the energy counter wrapped around; this was corrected");
	if (e->odd.resets)
		rk_diag_add(d, "energy-reset", "", 0, e->odd.resets,
			    "the energy counter was reset; the energy used just before is unknown");
	if (e->odd.gaps)
		rk_diag_add(
			d, "energy-gap", "", 0, e->odd.gaps,
			"no power samples for a while; the energy used in that time is unknown");
	if (e->thinned)
		rk_diag_add(d, "energy-thinned", "", 0, e->thinned,
			    "more than %zu energy and power samples; every second one was dropped",
			    e->max_samples);
	if (e->lost_devices)
		rk_diag_add(d, "energy-devices", "", 0, e->lost_devices,
			    "more than %d devices have samples; samples of the others are skipped",
			    RK_ENERGY_DEVICES);
}

static void tell_kernels(struct rk_energy *e)
{
	int64_t covered = 0, uncovered = 0;

	for (size_t i = 0; i < e->devices.n; i++) {
		add_up(&covered, e->devices.curves[i].covered_ns);
		add_up(&uncovered, e->devices.curves[i].uncovered_ns);
	}
	if (!covered && uncovered)
		rk_diag_add(
			e->ctx->diag, "energy-no-overlap", "", 0, 1,
			"energy or power samples do not overlap with the kernels (different clock or "
			"different run): no energy is attributed");
	else if (uncovered / 1000 > covered / 1000 / 100)
		rk_diag_add(e->ctx->diag, "energy-uncovered", "", 0, 1,
			    "%.1f %% of kernel time has no energy or power samples; no energy is "
			    "attributed to it",
			    100 * (double)uncovered / ((double)covered + (double)uncovered));
	if (e->no_place)
		rk_diag_add(
			e->ctx->diag, "energy-no-device", "", 0, e->no_place,
			"kernels on devices that have no energy or power samples, or whose samples "
			"cannot be assigned to a device");
}

int rk_energy_finish(struct rk_energy *e, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < e->devices.n; i++)
		rc = rk_curve_settle(&e->devices.curves[i], &e->odd, err);
	if (rc == 0)
		rc = settle_devices(&e->devices, err);
	if (rc == 0)
		rc = cover_all(e, err);
	if (rc == 0)
		rc = share_all(e, err);
	if (rc < 0)
		return rc;
	tell_samples(e);
	tell_kernels(e);
	return 0;
}

bool rk_energy_found(const struct rk_energy *e)
{
	for (size_t i = 0; i < e->devices.n; i++)
		if (e->devices.curves[i].covered_ns)
			return true;
	return false;
}

struct rk_energy_sum rk_energy_of_group(struct rk_energy *e, uint32_t name, bool keyed, int64_t key)
{
	struct rk_key3 k = { name, keyed, keyed ? key : 0 };
	uint32_t at = 0;

	/*
	 * a group that was never seen is past the sums, or is the one for all groups past the limit
	 */
	if (rk_keys_number(&e->groups, k, &at, NULL) < 0 || at > e->nsums)
		return (struct rk_energy_sum){ 0 };
	return e->sums[at];
}

double rk_energy_of_kernel(struct rk_energy *e, const struct rk_batch *b, size_t row)
{
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];
	const struct rk_energy_curve *c;
	struct rk_energy_part part;
	int64_t start, end;
	size_t at;

	if ((rk_column_has(barrier, row) && ((const uint8_t *)barrier->data)[row]) ||
	    !times_of(b, row, &start, &end))
		return NAN;
	at = find_device(&e->devices, rk_batch_id(b, RK_K_NODE, row),
			 rk_batch_int(b, RK_K_DEVICE, row, -1));
	c = at == NOWHERE ? NULL : &e->devices.curves[at];
	if (!c || !rk_curve_part(c, start, end, e->devices.curves[at].hint, &part) ||
	    !part.covered_ns)
		return NAN;
	e->devices.curves[at].hint = part.first;
	return (double)part.units / RK_ENERGY_UNITS;
}

int64_t rk_energy_device_number(const struct rk_energy *e, size_t curve)
{
	return number_of_curve(&e->devices, curve);
}

const struct rk_energy_curve *rk_energy_curves(const struct rk_energy *e, size_t *ret_n)
{
	*ret_n = e->devices.n;
	return e->devices.curves;
}
