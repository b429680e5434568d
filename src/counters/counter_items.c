/* counter_items.c - see counter_items.h. */
#include "counters/counter_items.h"

#include <string.h>

#include "base/alloc.h"
#include "counters/counter_resolve.h"

enum { ITEM_REGISTERS_MAX = 64 };

/* Registers of an item that is being put together. */
struct draft {
	uint16_t registers[ITEM_REGISTERS_MAX];
	size_t n;
};

static const struct rk_counter_entry *entry_of(const struct rk_counter_items *s, const char *name)
{
	return rk_counter_table_find(s->table, s->target, rk_counter_word_of(name).name);
}

static int too_many(struct rk_error *err)
{
	return rk_fail(err, RK_E_LIMIT, "too many counters to plan at once");
}

static int block_index(struct rk_counter_items *s, const char *name, unsigned limit,
		       struct rk_error *err)
{
	for (size_t i = 0; i < s->nblocks; i++)
		if (strcmp(s->blocks[i], name) == 0)
			return (int)i;
	if (s->nblocks == RK_PACK_BLOCKS_MAX)
		return too_many(err);
	s->blocks[s->nblocks] = name;
	s->limits[s->nblocks] = limit;
	return (int)s->nblocks++;
}

static uint16_t find_register(const struct rk_counter_items *s, const struct rk_counter_entry *e,
			      enum rk_accumulate how)
{
	for (size_t i = 0; i < s->nregisters; i++)
		if (s->what[i].counter == e && s->what[i].how == how)
			return (uint16_t)i;
	return RK_PACK_NONE;
}

static int make_arrays(struct rk_counter_items *s, struct rk_error *err)
{
	if (!s->what)
		s->what = rk_calloc(RK_PACK_REGISTERS_MAX, sizeof(*s->what));
	if (!s->registers)
		s->registers = rk_calloc(RK_PACK_REGISTERS_MAX, sizeof(*s->registers));
	return s->what && s->registers ? 0 : rk_fail_nomem(err);
}

static int new_register(struct rk_counter_items *s, const struct rk_counter_entry *e,
			enum rk_accumulate how, const char *block, unsigned limit,
			struct rk_error *err)
{
	int b, rc = make_arrays(s, err);

	if (rc < 0)
		return rc;
	if (s->nregisters == RK_PACK_REGISTERS_MAX)
		return too_many(err);
	b = block_index(s, block, limit, err);
	if (b < 0)
		return b;
	s->what[s->nregisters] = (struct rk_counter_register){ .counter = e, .how = (uint8_t)how };
	s->registers[s->nregisters] =
		(struct rk_pack_register){ .block = (uint8_t)b, .clash = RK_PACK_NONE };
	return (int)s->nregisters++;
}

/* Adds a register to the draft once. */
static int draft_add(struct draft *d, int reg, struct rk_error *err)
{
	if (reg < 0)
		return reg;
	for (size_t i = 0; i < d->n; i++)
		if (d->registers[i] == reg)
			return 0;
	if (d->n == ITEM_REGISTERS_MAX)
		return too_many(err);
	d->registers[d->n++] = (uint16_t)reg;
	return 0;
}

static int hardware(struct rk_counter_items *s, const struct rk_counter_entry *e,
		    enum rk_accumulate how, struct rk_error *err)
{
	uint16_t reg = find_register(s, e, how);

	if (reg != RK_PACK_NONE)
		return reg;
	return new_register(s, e, how, e->pub.block,
			    rk_counter_table_limit(s->table, s->target, e->pub.block), err);
}

/*
 * The accumulator of a level counter takes a place beside it. Both resolutions of one level
 * counter in one run would have the second add up the first.
 */
static int accumulator(struct rk_counter_items *s, const struct rk_counter_entry *e,
		       enum rk_accumulate how, struct rk_error *err)
{
	int reg = hardware(s, e, how, err);
	uint16_t other;

	if (reg < 0)
		return reg;
	other = find_register(s, e,
			      how == RK_ACCUMULATE_HIGH ? RK_ACCUMULATE_LOW : RK_ACCUMULATE_HIGH);
	if (other != RK_PACK_NONE) {
		s->registers[reg].clash = other;
		s->registers[other].clash = (uint16_t)reg;
	}
	return reg;
}

/* All registers that a counter needs. */
static int draft_counter(struct rk_counter_items *s, const struct rk_counter_entry *e,
			 struct draft *d, struct rk_error *err)
{
	if (!e->pub.derived)
		return draft_add(d, hardware(s, e, RK_ACCUMULATE_NO, err), err);
	for (size_t i = 0; e->pub.needs[i]; i++) {
		const struct rk_counter_entry *in = entry_of(s, e->pub.needs[i]);
		enum rk_accumulate how = (enum rk_accumulate)e->accumulate[i];
		int rc = draft_add(d, hardware(s, in, RK_ACCUMULATE_NO, err), err);

		if (rc == 0 && how != RK_ACCUMULATE_NO)
			rc = draft_add(d, accumulator(s, in, how, err), err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool draft_fits(const struct rk_counter_items *s, struct draft *d)
{
	const struct rk_pack_problem p = {
		.registers = s->registers,
		.nregisters = s->nregisters,
		.limits = s->limits,
		.nblocks = s->nblocks,
	};
	const struct rk_pack_item item = { .registers = d->registers, .n = d->n };

	return rk_pack_fits(&p, &item);
}

/* Where a name is listed, or NULL. */
static const struct rk_listed *listed(const struct rk_counter_items *s, const char *name)
{
	uint64_t hash = rk_name_hash(name);

	for (size_t i = 0; i < s->nlisted; i++)
		if (s->listed[i].hash == hash && strcmp(s->listed[i].name, name) == 0)
			return &s->listed[i];
	return NULL;
}

static int list_name(struct rk_counter_items *s, const char *name, size_t item,
		     struct rk_error *err)
{
	if (s->nlisted == s->listed_max) {
		size_t max = s->listed_max ? s->listed_max * 2 : 64;
		struct rk_listed *more = rk_reallocn(s->listed, max, sizeof(*more));

		if (!more)
			return rk_fail_nomem(err);
		s->listed = more;
		s->listed_max = max;
	}
	s->listed[s->nlisted++] = (struct rk_listed){
		.name = name,
		.hash = rk_name_hash(name),
		.item = item,
	};
	return 0;
}

/* Gives item `at` the registers of the draft. */
static int set_item(struct rk_counter_items *s, size_t at, const struct draft *d,
		    struct rk_error *err)
{
	uint16_t *registers = rk_alloc((d->n + 1) * sizeof(*registers));

	if (!registers)
		return rk_fail_nomem(err);
	memcpy(registers, d->registers, d->n * sizeof(*registers));
	rk_free(s->items[at].registers);
	s->items[at] = (struct rk_pack_item){ .registers = registers, .n = d->n };
	return 0;
}

static int new_item(struct rk_counter_items *s, const struct draft *d, struct rk_error *err)
{
	int rc;

	if (s->nitems == RK_PACK_ITEMS_MAX)
		return too_many(err);
	if (s->nitems == s->items_max) {
		size_t max = s->items_max ? s->items_max * 2 : 64;
		struct rk_pack_item *more = rk_reallocn(s->items, max, sizeof(*more));

		if (!more)
			return rk_fail_nomem(err);
		s->items = more;
		s->items_max = max;
	}
	s->items[s->nitems] = (struct rk_pack_item){ .n = 0 };
	rc = set_item(s, s->nitems, d, err);
	return rc < 0 ? rc : (int)s->nitems++;
}

static int draft_names(struct rk_counter_items *s, const char *const *names, struct draft *d,
		       struct rk_error *err)
{
	int rc = 0;

	for (; rc == 0 && *names; names++)
		if (!listed(s, *names))
			rc = draft_counter(s, entry_of(s, *names), d, err);
	return rc;
}

static int list_names(struct rk_counter_items *s, const char *const *names, size_t item,
		      struct rk_error *err)
{
	int rc = 0;

	for (; rc == 0 && *names; names++)
		if (!listed(s, *names))
			rc = list_name(s, *names, item, err);
	return rc;
}

/* The item where one of the names is already, or -1. */
static long item_of_any(const struct rk_counter_items *s, const char *const *names)
{
	for (; *names; names++) {
		const struct rk_listed *at = listed(s, *names);

		if (at)
			return (long)at->item;
	}
	return -1;
}

static int each_alone(struct rk_counter_items *s, const char *const *names, bool *ret_fits,
		      struct rk_error *err)
{
	int rc = 0;

	for (; rc == 0 && *names; names++) {
		const char *const one[] = { *names, NULL };

		rc = rk_counter_items_add(s, one, ret_fits, err);
	}
	return rc;
}

int rk_counter_items_add(struct rk_counter_items *s, const char *const *names, bool *ret_fits,
			 struct rk_error *err)
{
	long at = item_of_any(s, names);
	struct draft d = { .n = 0 };
	int rc;

	if (at >= 0) {
		d.n = s->items[at].n;
		memcpy(d.registers, s->items[at].registers, d.n * sizeof(*d.registers));
	}
	rc = draft_names(s, names, &d, err);
	if (rc < 0)
		return rc;
	*ret_fits = draft_fits(s, &d);
	if (!*ret_fits)
		return names[0] && names[1] ? each_alone(s, names, ret_fits, err) : 0;
	rc = at >= 0 ? set_item(s, (size_t)at, &d, err) : new_item(s, &d, err);
	if (rc < 0)
		return rc;
	return list_names(s, names, at >= 0 ? (size_t)at : (size_t)rc, err);
}

bool rk_counter_items_accumulator(const struct rk_counter_items *s, const char *name,
				  const char *before)
{
	const struct rk_counter_entry *level = before ? entry_of(s, before) : NULL;

	return strncmp(name, "SQ_ACCUM_PREV", 13) == 0 && level && strstr(before, "LEVEL") &&
	       strcmp(level->pub.block, "SQ") == 0 && s->nlisted &&
	       strcmp(s->listed[s->nlisted - 1].name, before) == 0;
}

int rk_counter_items_accumulate(struct rk_counter_items *s, const char *name, struct rk_error *err)
{
	size_t at = s->listed[s->nlisted - 1].item;
	const struct rk_counter_entry *level = entry_of(s, s->listed[s->nlisted - 1].name);
	enum rk_accumulate how = strstr(name, "HIRES") ? RK_ACCUMULATE_HIGH : RK_ACCUMULATE_LOW;
	struct draft d = { .n = s->items[at].n };
	int rc;

	memcpy(d.registers, s->items[at].registers, d.n * sizeof(*d.registers));
	rc = draft_add(&d, accumulator(s, level, how, err), err);
	if (rc < 0)
		return rc;
	/* Two of one name in a run could not be told apart: as if it were a block with one place. */
	rc = draft_add(&d, new_register(s, NULL, RK_ACCUMULATE_NO, name, 1, err), err);
	if (rc == 0)
		rc = set_item(s, at, &d, err);
	return rc < 0 ? rc : list_name(s, name, at, err);
}

void rk_counter_items_release(struct rk_counter_items *s)
{
	for (size_t i = 0; i < s->nitems; i++)
		rk_free(s->items[i].registers);
	rk_free(s->items);
	rk_free(s->listed);
	rk_free(s->what);
	rk_free(s->registers);
}
