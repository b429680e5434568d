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
	uint32_t pci;   /* id of the address; 0: unknown */
	bool ambiguous; /* several GPUs have this number: each process sees others */
};

/* A GPU that was sampled: its index in the samples. */
struct address {
	uint32_t node, pci;
	int64_t index;
};

struct devices {
	const struct rk_strtab *names;
	struct rk_energy_curve *curves; /* sorted by node and device after settling */
	size_t n, cap, last;
	struct agent *agents;
	size_t nagents, cap_agents;
	struct address *addresses;
	size_t naddresses, cap_addresses;
	struct rk_keys kernels; /* node, 0, device */
	size_t *places;         /* by index in `kernels`: its curve, or NOWHERE */
	size_t nplaces;
};

static int find_curve(struct devices *d, uint32_t node, int64_t device, size_t *ret,
		      struct rk_error *err)
{
	void *grown;

	/* devices are sampled in turn, so try the next one first */
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

static int by_place(const void *pa, const void *pb, void *arg)
{
	const struct rk_energy_curve *a = pa, *b = pb;
	int c = strcmp(rk_strtab_borrow(arg, a->node, NULL), rk_strtab_borrow(arg, b->node, NULL));

	return c ? c : (a->device > b->device) - (a->device < b->device);
}

/* Node 0 means unknown and matches every node. */
static bool same_node(uint32_t a, uint32_t b)
{
	return !a || !b || a == b;
}

/*
 * The index in the samples of the GPU at an address; -1 if there is none, or several: the partitions
 * of a package have one address, and each is sampled on its own.
 */
static int64_t place_of_address(const struct devices *d, const struct agent *a)
{
	int64_t place = -1;

	for (size_t i = 0; a->pci && i < d->naddresses; i++) {
		if (d->addresses[i].pci != a->pci || !same_node(d->addresses[i].node, a->node))
			continue;
		if (place >= 0 && place != d->addresses[i].index)
			return -1;
		place = d->addresses[i].index;
	}
	return place;
}

/*
 * The index of an agent among the GPUs of its node: by its address, else by its order; the agent's
 * own number if no agent table lists it. RK_NONE: the number is that of several GPUs.
 */
static int64_t place_of_agent(const struct devices *d, uint32_t node, int64_t device)
{
	int64_t place = 0, found;
	bool known = false;

	for (size_t i = 0; i < d->nagents; i++) {
		const struct agent *a = &d->agents[i];

		if (!a->gpu || !same_node(a->node, node) || a->device != device)
			continue;
		if (a->ambiguous)
			return RK_NONE;
		found = place_of_address(d, a);
		if (found >= 0)
			return found;
	}

	for (size_t i = 0; i < d->nagents; i++) {
		const struct agent *a = &d->agents[i];

		if (!a->gpu || !same_node(a->node, node))
			continue;
		known |= a->device == device;
		place += a->device < device;
	}
	return known ? place : device;
}

/* The curve of the device that a kernel names; NOWHERE if it was not sampled or is ambiguous. */
static size_t find_place(const struct devices *d, const struct rk_key3 *kernel)
{
	uint32_t node = (uint32_t)kernel->a;
	int64_t device = place_of_agent(d, node, kernel->c);
	size_t found = NOWHERE, nfound = 0, sampled = NOWHERE, nsampled = 0, ran = 0;

	if (device == RK_NONE)
		return NOWHERE;
	for (size_t i = 0; i < d->n; i++) {
		if (!same_node(d->curves[i].node, node))
			continue;
		if (d->curves[i].device == device) {
			found = i;
			nfound++;
		}
		if (d->curves[i].n) {
			sampled = i;
			nsampled++;
		}
	}
	if (nfound == 1)
		return found;
	/* one GPU ran kernels and one was sampled: they match, whatever their numbers */
	for (size_t i = 0; i < d->kernels.n; i++)
		ran += d->kernels.v[i].a == kernel->a;
	return ran == 1 && nsampled == 1 ? sampled : NOWHERE;
}

static int settle_devices(struct devices *d, struct rk_error *err)
{
	if (d->n)
		qsort_r(d->curves, d->n, sizeof(*d->curves), by_place, (void *)d->names);
	d->places = rk_calloc(d->kernels.n + 1, sizeof(*d->places));
	if (!d->places)
		return rk_fail_nomem(err);
	d->nplaces = d->kernels.n;
	for (size_t i = 0; i < d->nplaces; i++)
		d->places[i] = find_place(d, &d->kernels.v[i]);

	/*
	 * samples without a node that match kernels of several nodes are assigned to none of them
	 */
	for (size_t i = 0; i < d->nplaces; i++)
		for (size_t k = 0; k < i; k++) {
			size_t at = d->places[i];

			if (at == NOWHERE || at != d->places[k] ||
			    d->kernels.v[i].a == d->kernels.v[k].a)
				continue;
			for (size_t j = 0; j < d->nplaces; j++)
				if (d->places[j] == at)
					d->places[j] = NOWHERE;
		}
	return 0;
}

/* ---- state ---- */

#define BIT(f) (UINT64_C(1) << (f))

enum { MAX_VISITS = 1 << 18 };

struct rk_energy {
	struct rk_context *ctx;
	int key;
	size_t max_samples, nsamples;
	struct rk_era era;
	struct devices devices;
	struct rk_keys groups;      /* name, has a key, key */
	struct rk_energy_sum *sums; /* nsums, plus one for groups beyond the limit */
	size_t nsums;
	struct rk_order *order, *again; /* kernels as read; sorted and clipped to the samples */
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
	struct devices *d;

	if (!e)
		return;
	d = &e->devices;
	for (size_t i = 0; i < d->n; i++)
		rk_curve_release(&d->curves[i]);
	rk_free(d->curves);
	rk_free(d->agents);
	rk_free(d->addresses);
	rk_free(d->places);
	rk_keys_release(&d->kernels);
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
	uint64_t want;

	switch (t) {
	case RK_SAMPLES:
		return BIT(RK_S_TIME) | BIT(RK_S_DEVICE) | BIT(RK_S_METRIC) | BIT(RK_S_VALUE) |
		       BIT(RK_S_NODE);
	case RK_AGENTS:
		return BIT(RK_G_DEVICE) | BIT(RK_G_TYPE) | BIT(RK_G_NODE) | BIT(RK_G_PCI);
	case RK_KERNELS:
		want = BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_DEVICE) |
		       BIT(RK_K_NODE) | BIT(RK_K_BARRIER);
		if (e->key >= 0)
			want |= BIT(e->key);
		return want;
	default:
		return 0;
	}
}

/* ---- samples ---- */

static int add_sample(struct rk_energy *e, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	const char *metric = rk_strtab_borrow(e->ctx->names, rk_batch_id(b, RK_S_METRIC, i), NULL);
	const struct rk_column *value = &b->cols[RK_S_VALUE];
	int64_t t = rk_batch_int(b, RK_S_TIME, i, 0);
	struct rk_energy_curve *c;
	enum rk_meter meter;
	size_t at;
	int rc;

	if (!strcmp(metric, "energy_j"))
		meter = RK_METER_COUNTER;
	else if (!strcmp(metric, "power_w"))
		meter = RK_METER_POWER;
	else
		return 0;
	if (!rk_column_has(value, i) || !rk_column_has(&b->cols[RK_S_TIME], i) ||
	    !rk_era_holds(&e->era, RK_ERA_MOST, t, t))
		return 0;
	rc = find_curve(&e->devices, rk_batch_id(b, RK_S_NODE, i),
			rk_batch_int(b, RK_S_DEVICE, i, -1), &at, err);
	if (rc < 0)
		return rc;
	if (at == NOWHERE) {
		e->lost_devices++;
		return 0;
	}

	if (e->nsamples >= e->max_samples) {
		e->nsamples = 0;
		e->thinned++;
		for (size_t k = 0; k < e->devices.n; k++) {
			c = &e->devices.curves[k];
			rk_curve_thin(c);
			e->nsamples +=
				c->samples[RK_METER_COUNTER].n + c->samples[RK_METER_POWER].n;
		}
	}
	c = &e->devices.curves[at];
	rc = rk_curve_add(c, meter, t, ((const double *)value->data)[i], err);
	e->nsamples += !c->samples[meter].left_out;
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

int rk_energy_address(struct rk_energy *e, uint32_t node, int64_t index, const char *pci,
		      struct rk_error *err)
{
	struct devices *d = &e->devices;
	struct address new = { .node = node, .index = index };
	struct address *grown;
	int rc;

	if (d->naddresses == RK_ENERGY_DEVICES)
		return 0;
	rc = rk_strtab_adds(e->ctx->names, pci, &new.pci, err);
	if (rc < 0)
		return rc;
	grown = rk_grow(d->addresses, &d->cap_addresses, d->naddresses + 1, sizeof(*grown));
	if (!grown)
		return rk_fail_nomem(err);
	d->addresses = grown;
	d->addresses[d->naddresses++] = new;
	return 0;
}

static int add_agent(struct rk_energy *e, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	const char *type = rk_strtab_borrow(e->ctx->names, rk_batch_id(b, RK_G_TYPE, i), NULL);
	struct agent new = { .node = rk_batch_id(b, RK_G_NODE, i),
			     .device = rk_batch_int(b, RK_G_DEVICE, i, -1),
			     .gpu = !strcmp(type, "GPU"),
			     .pci = rk_batch_id(b, RK_G_PCI, i) };
	struct devices *d = &e->devices;
	void *grown;

	if (!rk_column_has(&b->cols[RK_G_DEVICE], i) || d->nagents == 2 * RK_ENERGY_DEVICES)
		return 0;
	for (size_t k = 0; k < d->nagents; k++) {
		struct agent *a = &d->agents[k];

		if (a->node != new.node || a->device != new.device)
			continue;
		a->ambiguous |= a->pci && new.pci && a->pci != new.pci;
		return 0;
	}
	grown = rk_grow(d->agents, &d->cap_agents, d->nagents + 1, sizeof(*d->agents));
	if (!grown)
		return rk_fail_nomem(err);
	d->agents = grown;
	d->agents[d->nagents++] = new;
	return 0;
}

static bool times_of(struct rk_energy *e, const struct rk_batch *b, size_t i, int64_t *start,
		     int64_t *end)
{
	int64_t d = rk_batch_int(b, RK_K_DURATION, i, -1);

	if (d < 0 || !rk_column_has(&b->cols[RK_K_START], i))
		return false;
	*start = rk_batch_int(b, RK_K_START, i, 0);
	return rk_add_i64(*start, d, end) && rk_era_holds(&e->era, RK_ERA_MOST, *start, *end);
}

static int add_kernel(struct rk_energy *e, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];
	struct rk_key3 group = { .a = rk_batch_id(b, RK_K_NAME, i) };
	struct rk_key3 device = { rk_batch_id(b, RK_K_NODE, i), 0,
				  rk_batch_int(b, RK_K_DEVICE, i, -1) };
	struct rk_stretch s = { 0 };
	int rc;

	if (e->key >= 0 && rk_column_has(&b->cols[e->key], i)) {
		group.b = 1;
		group.c = rk_batch_int(b, (unsigned)e->key, i, 0);
	}
	rc = rk_keys_number(&e->groups, group, &s.queue, err);
	if (rc < 0)
		return rc;
	if ((rk_column_has(barrier, i) && ((const uint8_t *)barrier->data)[i]) ||
	    !times_of(e, b, i, &s.start, &s.end) || s.start == s.end)
		return 0;
	rc = rk_keys_number(&e->devices.kernels, device, &s.device, err);
	if (rc < 0)
		return rc;
	if (!e->order) {
		rc = rk_order_new(e->ctx->tmpdir, e->held, &e->order, err);
		if (rc < 0)
			return rc;
	}
	return rk_order_add(e->order, &s, err);
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

/* ---- evaluation ---- */

/*
 * The first interval whose uncertainty was not added to the group yet; *ret is NULL if that is not
 * tracked.
 */
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

/* Adds the energy of a kernel to the sums of its group and its device. */
static int share_out(struct rk_energy *e, const struct rk_stretch *s, struct rk_error *err)
{
	struct rk_energy_curve *c = &e->devices.curves[s->device];
	struct rk_energy_sum *sum = &e->sums[s->queue];
	struct rk_energy_part part;
	size_t *visited, from;
	int rc = visit_of(e, s, &visited, err);

	if (rc < 0 || !rk_curve_part(c, s->start, s->end, c->hint, &part))
		return rc;
	c->hint = from = part.first;
	if (visited && *visited > from)
		from = *visited;
	if (from <= part.last)
		sum->error = rk_add_saturated(sum->error, c->steps[part.last + 1].error_before -
								  c->steps[from].error_before);
	if (visited && *visited <= part.last)
		*visited = part.last + 1;
	sum->units = rk_add_saturated(sum->units, part.units);
	sum->covered_ns = rk_add_saturated(sum->covered_ns, part.covered_ns);
	c->covered_ns = rk_add_saturated(c->covered_ns, part.covered_ns);
	c->uncovered_ns = rk_add_saturated(c->uncovered_ns, s->end - s->start - part.covered_ns);
	c->kernels += part.units;
	return 0;
}

static void warn(struct rk_energy *e)
{
	const struct {
		const char *kind, *text;
		uint64_t n;
	} oddities[] = {
		{ "energy-odd-sample", "implausible energy or power reading skipped", e->odd.wild },
		{ "energy-wrap", "the energy counter wrapped around; this was corrected",
		  e->odd.wraps },
		{ "energy-reset",
		  "the energy counter was reset; the energy used just before is unknown",
		  e->odd.resets },
		{ "energy-gap",
		  "no power samples for a while; the energy used in that time is unknown",
		  e->odd.gaps },
	};
	struct rk_diag *d = e->ctx->diag;
	int64_t covered = 0, uncovered = 0;

	for (size_t i = 0; i < sizeof(oddities) / sizeof(oddities[0]); i++)
		if (oddities[i].n)
			rk_diag_add(d, oddities[i].kind, "", 0, oddities[i].n, "%s",
				    oddities[i].text);
	if (e->thinned)
		rk_diag_add(d, "energy-thinned", "", 0, e->thinned,
			    "more than %zu energy and power samples; every second one was dropped",
			    e->max_samples);
	if (e->lost_devices)
		rk_diag_add(d, "energy-devices", "", 0, e->lost_devices,
			    "more than %d devices have samples; samples of the others are skipped",
			    RK_ENERGY_DEVICES);

	for (size_t i = 0; i < e->devices.n; i++) {
		covered = rk_add_saturated(covered, e->devices.curves[i].covered_ns);
		uncovered = rk_add_saturated(uncovered, e->devices.curves[i].uncovered_ns);
	}
	if (!covered && uncovered)
		rk_diag_add(
			d, "energy-no-overlap", "", 0, 1,
			"energy or power samples do not overlap with the kernels (different clock or "
			"different run): no energy is attributed");
	else if (uncovered / 1000 > covered / 1000 / 100)
		rk_diag_add(d, "energy-uncovered", "", 0, 1,
			    "%.1f %% of kernel time has no energy or power samples; no energy is "
			    "attributed to it",
			    100 * (double)uncovered / ((double)covered + (double)uncovered));
	if (e->no_place)
		rk_diag_add(
			d, "energy-no-device", "", 0, e->no_place,
			"kernels on devices that have no energy or power samples, or whose samples "
			"cannot be assigned to a device");
}

int rk_energy_finish(struct rk_energy *e, struct rk_error *err)
{
	struct devices *d = &e->devices;
	struct rk_stretch s;
	int rc;

	for (size_t i = 0; i < d->n; i++) {
		rc = rk_curve_settle(&d->curves[i], &e->odd, err);
		if (rc < 0)
			return rc;
	}
	rc = settle_devices(d, err);
	if (rc < 0)
		return rc;

	/* first add the time of all kernels, in order, to the intervals, and keep the kernels */
	rc = rk_order_new(e->ctx->tmpdir, e->held, &e->again, err);
	while (rc >= 0 && e->order && (rc = rk_order_next(e->order, &s, err)) > 0) {
		size_t at = s.device < d->nplaces ? d->places[s.device] : NOWHERE;

		if (at == NOWHERE || !d->curves[at].n) {
			e->no_place++;
			continue;
		}
		s.device = (uint32_t)at;
		if (rk_curve_cover(&d->curves[at], &s.start, &s.end, s.queue))
			rc = rk_order_add(e->again, &s, err);
	}
	if (rc < 0)
		return rc;
	rk_order_free(e->order);
	e->order = NULL;

	/* then split the energy of each interval, and add up the parts of each kernel */
	for (size_t i = 0; i < d->n; i++) {
		rc = rk_curve_split(&d->curves[i], err);
		if (rc < 0)
			return rc;
		d->curves[i].hint = 0;
	}
	e->nsums = e->groups.n;
	e->sums = rk_calloc(e->nsums + 1, sizeof(*e->sums));
	if (!e->sums)
		return rk_fail_nomem(err);
	while (rc >= 0 && (rc = rk_order_next(e->again, &s, err)) > 0)
		rc = share_out(e, &s, err);
	if (rc < 0)
		return rc;
	rk_order_free(e->again);
	e->again = NULL;
	warn(e);
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

	/* an unknown group is beyond the sums, or is the one for all groups beyond the limit */
	if (rk_keys_number(&e->groups, k, &at, NULL) < 0 || at > e->nsums)
		return (struct rk_energy_sum){ 0 };
	return e->sums[at];
}

double rk_energy_of_kernel(struct rk_energy *e, const struct rk_batch *b, size_t row)
{
	struct rk_key3 device = { rk_batch_id(b, RK_K_NODE, row), 0,
				  rk_batch_int(b, RK_K_DEVICE, row, -1) };
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];
	struct devices *d = &e->devices;
	struct rk_energy_curve *c;
	struct rk_energy_part part;
	int64_t start, end;
	uint32_t at;

	if ((rk_column_has(barrier, row) && ((const uint8_t *)barrier->data)[row]) ||
	    !times_of(e, b, row, &start, &end))
		return NAN;
	if (rk_keys_number(&d->kernels, device, &at, NULL) < 0 || at >= d->nplaces ||
	    d->places[at] == NOWHERE)
		return NAN;
	c = &d->curves[d->places[at]];
	if (!rk_curve_part(c, start, end, c->hint, &part) || !part.covered_ns)
		return NAN;
	c->hint = part.first;
	return (double)part.units / RK_ENERGY_UNITS;
}

int64_t rk_energy_device_number(const struct rk_energy *e, size_t curve)
{
	const struct devices *d = &e->devices;
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

const struct rk_energy_curve *rk_energy_curves(const struct rk_energy *e, size_t *ret_n)
{
	*ret_n = e->devices.n;
	return e->devices.curves;
}
