/* energy_devices.c - see energy_devices.h. */
#include "run/energy_devices.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "run/energy.h"

void rk_energy_devices_init(struct rk_energy_devices *d, const struct rk_strtab *names)
{
	*d = (struct rk_energy_devices){ .names = names, .kernels = { .max = RK_ENERGY_DEVICES } };
}

void rk_energy_devices_release(struct rk_energy_devices *d)
{
	for (size_t i = 0; i < d->n; i++)
		rk_curve_release(&d->curves[i]);
	rk_free(d->curves);
	rk_free(d->agents);
	rk_free(d->places);
	rk_keys_release(&d->kernels);
}

static bool is_at(const struct rk_energy_curve *c, uint32_t node, int64_t device)
{
	return c->node == node && c->device == device;
}

int rk_energy_devices_curve(struct rk_energy_devices *d, uint32_t node, int64_t device, size_t *ret,
			    struct rk_error *err)
{
	void *grown;

	/* samples of all devices come in turn: the next is the likely one */
	for (size_t k = 0; k < d->n; k++) {
		size_t i = (d->last + k) % d->n;

		if (is_at(&d->curves[i], node, device)) {
			d->last = i + 1;
			*ret = i;
			return 0;
		}
	}
	*ret = RK_ENERGY_NOWHERE;
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

int rk_energy_devices_agent(struct rk_energy_devices *d, uint32_t node, int64_t device, bool gpu,
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
	d->agents[d->nagents++] = (struct rk_energy_agent){ node, device, gpu };
	return 0;
}

int rk_energy_devices_kernel(struct rk_energy_devices *d, uint32_t node, int64_t device,
			     uint32_t *ret, struct rk_error *err)
{
	return rk_keys_number(&d->kernels, (struct rk_key3){ node, 0, device }, ret, err);
}

static int by_place(const void *pa, const void *pb, void *arg)
{
	const struct rk_energy_curve *a = pa, *b = pb;
	int c = strcmp(rk_strtab_borrow(arg, a->node, NULL), rk_strtab_borrow(arg, b->node, NULL));

	return c ? c : (a->device > b->device) - (a->device < b->device);
}

/* Of two nodes, one of which may not be known. */
static bool same_node(uint32_t a, uint32_t b)
{
	return !a || !b || a == b;
}

/* An agent's place among the GPUs of its node, itself where no agent says what it is. */
static int64_t place_of_agent(const struct rk_energy_devices *d, uint32_t node, int64_t device)
{
	int64_t place = 0;
	bool known = false;

	for (size_t i = 0; i < d->nagents; i++) {
		const struct rk_energy_agent *a = &d->agents[i];

		if (!a->gpu || !same_node(a->node, node))
			continue;
		known |= a->device == device;
		place += a->device < device;
	}
	return known ? place : device;
}

static size_t only_curve(const struct rk_energy_devices *d, uint32_t node)
{
	size_t found = RK_ENERGY_NOWHERE, n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->curves[i].n && same_node(d->curves[i].node, node)) {
			found = i;
			n++;
		}
	return n == 1 ? found : RK_ENERGY_NOWHERE;
}

static size_t curve_at(const struct rk_energy_devices *d, uint32_t node, int64_t device)
{
	size_t found = RK_ENERGY_NOWHERE, n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (same_node(d->curves[i].node, node) && d->curves[i].device == device) {
			found = i;
			n++;
		}
	return n == 1 ? found : RK_ENERGY_NOWHERE;
}

/* Kernels of one node only, or of none that is known. */
static bool one_device(const struct rk_energy_devices *d, uint32_t node)
{
	size_t n = 0;

	for (size_t i = 0; i < d->kernels.n; i++)
		n += d->kernels.v[i].a == node;
	return n == 1;
}

static size_t find_place(const struct rk_energy_devices *d, uint32_t node, int64_t device)
{
	size_t at = curve_at(d, node, place_of_agent(d, node, device));

	/* one GPU that ran something and one that was sampled: whatever their numbers */
	if (at == RK_ENERGY_NOWHERE && one_device(d, node))
		at = only_curve(d, node);
	return at;
}

/* Samples that name no node cannot be of two of them. */
static void part_nodes(struct rk_energy_devices *d)
{
	for (size_t i = 0; i < d->kernels.n; i++)
		for (size_t k = 0; k < i; k++)
			if (d->places[i] != RK_ENERGY_NOWHERE && d->places[i] == d->places[k] &&
			    d->kernels.v[i].a != d->kernels.v[k].a) {
				size_t at = d->places[i];

				for (size_t j = 0; j < d->kernels.n; j++)
					if (d->places[j] == at)
						d->places[j] = RK_ENERGY_NOWHERE;
			}
}

int rk_energy_devices_settle(struct rk_energy_devices *d, struct rk_error *err)
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

size_t rk_energy_devices_place(const struct rk_energy_devices *d, uint32_t kernel)
{
	return kernel < d->nplaces ? d->places[kernel] : RK_ENERGY_NOWHERE;
}

int64_t rk_energy_devices_number(const struct rk_energy_devices *d, size_t curve)
{
	const struct rk_energy_curve *c = &d->curves[curve];

	for (size_t i = 0; i < d->nplaces; i++)
		if (d->places[i] == curve)
			return d->kernels.v[i].c;
	for (size_t i = 0; i < d->nagents; i++) {
		const struct rk_energy_agent *a = &d->agents[i];

		if (a->gpu && same_node(a->node, c->node) &&
		    place_of_agent(d, a->node, a->device) == c->device)
			return a->device;
	}
	return -1;
}

size_t rk_energy_devices_find(struct rk_energy_devices *d, uint32_t node, int64_t device)
{
	uint32_t at;

	if (rk_keys_number(&d->kernels, (struct rk_key3){ node, 0, device }, &at, NULL) < 0 ||
	    at >= d->nplaces)
		return RK_ENERGY_NOWHERE;
	return d->places[at];
}
