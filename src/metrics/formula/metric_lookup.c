/* metric_lookup.c - what a name in a formula stands for, in one run on one chip. */
#include "metrics/formula/metric_lookup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/metric_device.h"

enum { CHANNELS_PER_DIE = 16 }; /* of TCC, where instances of all dies are counted through */

/* What the formulas call columns of the kernels table. */
static const char *const fixed[RK_MC_NFIXED] = {
	[RK_MC_TIME] = "T",
	[RK_MC_GRID] = "Grid_Size",
	[RK_MC_GROUP] = "Workgroup_Size",
	[RK_MC_VGPR] = "Arch_VGPR",
	[RK_MC_AGPR] = "Accum_VGPR",
	[RK_MC_SGPR] = "SGPR",
	[RK_MC_LDS] = "LDS_Per_Workgroup",
	[RK_MC_SCRATCH] = "Scratch_Per_Workitem",
};

static bool find_fixed(const char *name, struct rk_name *ret)
{
	for (unsigned i = 0; i < RK_MC_NFIXED; i++) {
		if (strcmp(fixed[i], name) == 0) {
			*ret = (struct rk_name){ .kind = RK_NAME_COLUMN,
						 .column = i,
						 .single = true };
			return true;
		}
	}
	return false;
}

static bool same(const struct rk_metric_input *in, const uint32_t *ids, size_t n)
{
	return in->n == n && memcmp(in->ids, ids, n * sizeof(*ids)) == 0;
}

/* The column of these counters together. */
static int input_of(struct rk_metric_inputs *in, const char *name, const uint32_t *ids, size_t n,
		    unsigned *ret, struct rk_error *err)
{
	struct rk_metric_input *v, *one;
	size_t i = 0;

	while (i < in->n && !same(&in->v[i], ids, n))
		i++;
	*ret = RK_MC_NFIXED + (unsigned)i;
	if (i < in->n)
		return 0;
	v = rk_grow(in->v, &in->cap, in->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	in->v = v;
	one = &v[in->n++];
	*one = (struct rk_metric_input){ rk_strdup(name), rk_calloc(n, sizeof(*ids)), n };
	if (!one->name || !one->ids)
		return rk_fail_nomem(err);
	memcpy(one->ids, ids, n * sizeof(*ids));
	return 0;
}

void rk_metric_inputs_release(struct rk_metric_inputs *in)
{
	for (size_t i = 0; i < in->n; i++) {
		rk_free(in->v[i].name);
		rk_free(in->v[i].ids);
	}
	rk_free(in->v);
	*in = (struct rk_metric_inputs){ 0 };
}

static int as_column(struct rk_metric_lookup *l, const char *name,
		     const struct rk_counter_match *match, struct rk_name *ret,
		     struct rk_error *err)
{
	ret->kind = RK_NAME_COLUMN;
	return input_of(l->inputs, name, match->ids, match->n, &ret->column, err);
}

/* Channels of L2 are counted through over the dies of a package. */
static void place(const struct rk_metric_lookup *l, const char *name, int64_t index,
		  uint32_t dims[RK_NDIMS])
{
	bool dies = strncmp(name, "TCC", 3) == 0 && l->device->xcds > 1;

	dims[RK_DIM_XCC] = dies ? (uint32_t)(index / CHANNELS_PER_DIE) : 0;
	dims[RK_DIM_INSTANCE] = (uint32_t)(dies ? index % CHANNELS_PER_DIE : index);
}

static int as_instances(struct rk_metric_lookup *l, const char *name,
			const struct rk_counter_match *match, struct rk_name *ret,
			struct rk_error *err)
{
	struct rk_name_instance *v = rk_grow(l->instances, &l->cap_instances, match->n, sizeof(*v));
	int rc = 0;

	if (!v)
		return rk_fail_nomem(err);
	l->instances = v;
	for (size_t i = 0; rc == 0 && i < match->n; i++) {
		v[i] = (struct rk_name_instance){ 0 };
		place(l, name, match->index[i], v[i].dims);
		rc = input_of(l->inputs, name, &match->ids[i], 1, &v[i].column, err);
	}
	ret->kind = RK_NAME_INSTANCES;
	ret->instances = v;
	ret->ninstances = match->n;
	return rc;
}

/* With one die there is one instance of these blocks: its least and its most are its sum. */
static bool once_per_die(const char *name)
{
	static const char *const blocks[] = { "GRBM_", "CPC_", "CPF_" };

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (strncmp(name, blocks[i], strlen(blocks[i])) == 0)
			return true;
	return false;
}

static int find_counter(struct rk_metric_lookup *l, const char *name, enum rk_name_use use,
			int64_t index, struct rk_name *ret, struct rk_error *err)
{
	const char *arch = l->device->arch;
	/* a pass of its own has clocks of its own, but percentages are of the main pass's */
	const char *pass = strncmp(name, "GRBM_", 5) == 0 ? "" : l->pass;
	struct rk_counter_match match = { 0 };

	if (use == RK_USE_LEVEL)
		rk_counter_names_find_level(l->names, arch, name, &match);
	else if (use == RK_USE_ONE)
		rk_counter_names_find_one(l->names, arch, name, index, &match);
	else if (use == RK_USE_INSTANCES)
		rk_counter_names_find_instances(l->names, arch, name, pass, &match);
	else
		rk_counter_names_find(l->names, arch, name, pass, &match);
	if (!match.n)
		return 0;
	if (use == RK_USE_INSTANCES && match.index[0] >= 0)
		return as_instances(l, name, &match, ret, err);
	ret->single = l->device->xcds == 1 && once_per_die(name);
	return as_column(l, name, &match, ret, err);
}

static void say_missing(const struct rk_metric_lookup *l, const char *name, enum rk_name_use use,
			int64_t index, struct rk_name *ret)
{
	char as[RK_COUNTER_NAME_MAX + 1];

	rk_counter_name_spell(l->device->arch, name, as);
	ret->kind = RK_NAME_MISSING;
	if (use == RK_USE_LEVEL)
		snprintf(ret->why, sizeof(ret->why), "the integral of %.96s was not collected", as);
	else if (use == RK_USE_ONE)
		snprintf(ret->why, sizeof(ret->why), "%.96s[%lld] was not collected", as,
			 (long long)index);
	else
		snprintf(ret->why, sizeof(ret->why), "%.120s was not collected", as);
}

int rk_metric_look_up(void *arg, const char *name, enum rk_name_use use, int64_t index,
		      struct rk_name *ret, struct rk_error *err)
{
	struct rk_metric_lookup *l = arg;
	int rc;

	*ret = (struct rk_name){ .kind = RK_NAME_MISSING };
	rc = find_counter(l, name, use, index, ret, err);
	if (rc < 0 || ret->kind != RK_NAME_MISSING)
		return rc;
	say_missing(l, name, use, index, ret);
	if (use == RK_USE_LEVEL || use == RK_USE_ONE || find_fixed(name, ret))
		return 0;
	ret->term = strcmp(name, "D") == 0 ? l->normal :
					     rk_metric_term_for(l->set, name, l->device->arch);
	if (ret->term) {
		ret->kind = RK_NAME_TERM;
	} else if (rk_metric_device_constant(l->device, name, &ret->number)) {
		ret->kind = isnan(ret->number) ? RK_NAME_MISSING : RK_NAME_NUMBER;
		snprintf(ret->why, sizeof(ret->why), "%s of the chip is not known", name);
	}
	return 0;
}
