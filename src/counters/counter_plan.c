/* counter_plan.c - check which counters exist and plan the passes that collect them. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/list.h"
#include "base/map.h"
#include "base/words.h"
#include "counters/counter_ask.h"
#include "counters/counter_live.h"
#include "counters/counter_pack.h"
#include "counters/counter_resolve.h"
#include "counters/counter_table.h"
#include "metrics/formula/plan.h"
#include "rockit/counters.h"

/* ---- counters as items to pack: the registers they need ---- */

enum { ITEM_REGISTERS_MAX = 64 };

/* A name to collect, and its item. */
struct listed {
	const char *name; /* borrowed */
	size_t item;
};

/* A register: a hardware counter, plain or accumulated. */
struct reg {
	const struct rk_counter_entry *counter;
	uint8_t how; /* enum rk_accumulate */
};

/* The counters of one metric or check: to be measured in one pass if they fit. */
struct formula {
	const char *metric; /* borrowed from the definitions; NULL for a check */
	uint32_t *names;    /* indexes of `listed`, ascending */
	size_t n;
	size_t item; /* NO_ITEM: they do not fit in one pass */
};

#define NO_ITEM SIZE_MAX

struct items {
	const struct rk_counter_table *table;
	const struct rk_counter_target *target;
	struct reg what[RK_PACK_REGISTERS_MAX];
	struct rk_pack_register registers[RK_PACK_REGISTERS_MAX]; /* parallel to `what` */
	size_t nregisters;
	const char *blocks[RK_PACK_BLOCKS_MAX];
	unsigned limits[RK_PACK_BLOCKS_MAX];
	size_t nblocks;
	struct rk_pack_item *items;
	size_t nitems, items_cap;
	struct listed *listed;
	size_t nlisted, listed_cap;
	struct rk_index by_name; /* indexes `listed`: thousands of channels may be requested */
	struct rk_metric_set *metrics;
	struct formula *formulas;
	size_t nformulas, formulas_cap;
};

/* The registers of an item while it is built. */
struct draft {
	uint16_t registers[ITEM_REGISTERS_MAX];
	size_t n;
};

static const struct rk_counter_entry *entry_of(const struct items *s, const char *name)
{
	return rk_counter_table_find(s->table, s->target, rk_counter_word_of(name).name);
}

static int too_many(struct rk_error *err)
{
	return rk_fail(err, RK_E_LIMIT, "too many counters to plan at once");
}

static uint16_t find_register(const struct items *s, const struct rk_counter_entry *e,
			      enum rk_accumulate how)
{
	for (size_t i = 0; i < s->nregisters; i++)
		if (s->what[i].counter == e && s->what[i].how == how)
			return (uint16_t)i;
	return RK_PACK_NONE;
}

static int new_register(struct items *s, const struct rk_counter_entry *e, enum rk_accumulate how,
			const char *block, unsigned limit, struct rk_error *err)
{
	size_t b = 0;

	if (s->nregisters == RK_PACK_REGISTERS_MAX)
		return too_many(err);
	while (b < s->nblocks && strcmp(s->blocks[b], block) != 0)
		b++;
	if (b == RK_PACK_BLOCKS_MAX)
		return too_many(err);
	if (b == s->nblocks) {
		s->blocks[b] = block;
		s->limits[b] = limit;
		s->nblocks++;
	}
	s->what[s->nregisters] = (struct reg){ .counter = e, .how = (uint8_t)how };
	s->registers[s->nregisters] =
		(struct rk_pack_register){ .block = (uint8_t)b, .clash = RK_PACK_NONE };
	return (int)s->nregisters++;
}

/* Adds a register to the draft, unless it is already there. */
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

/*
 * The index of the register for a hardware counter, or a negative error. The accumulator (`how`) of
 * a level counter needs a place next to it: with both resolutions of one level counter in one pass,
 * the second would add up the first.
 */
static int register_of(struct items *s, const struct rk_counter_entry *e, enum rk_accumulate how,
		       struct rk_error *err)
{
	int reg = find_register(s, e, how);
	uint16_t other = RK_PACK_NONE;

	if (reg == RK_PACK_NONE)
		reg = new_register(s, e, how, e->pub.block,
				   rk_counter_table_limit(s->table, s->target, e->pub.block), err);
	if (reg < 0)
		return reg;
	if (how == RK_ACCUMULATE_HIGH)
		other = find_register(s, e, RK_ACCUMULATE_LOW);
	else if (how == RK_ACCUMULATE_LOW)
		other = find_register(s, e, RK_ACCUMULATE_HIGH);
	if (other != RK_PACK_NONE) {
		s->registers[reg].clash = other;
		s->registers[other].clash = (uint16_t)reg;
	}
	return reg;
}

/* All registers that a counter needs. */
static int draft_counter(struct items *s, const struct rk_counter_entry *e, struct draft *d,
			 struct rk_error *err)
{
	int rc;

	if (!e->pub.derived)
		return draft_add(d, register_of(s, e, RK_ACCUMULATE_NO, err), err);
	for (size_t i = 0; e->pub.needs[i]; i++) {
		const struct rk_counter_entry *in = entry_of(s, e->pub.needs[i]);
		enum rk_accumulate how = (enum rk_accumulate)e->accumulate[i];

		/* a level counter and its accumulator */
		if ((rc = draft_add(d, register_of(s, in, RK_ACCUMULATE_NO, err), err)) < 0 ||
		    (rc = draft_add(d, register_of(s, in, how, err), err)) < 0)
			return rc;
	}
	return 0;
}

/* The list entry of a name, or NULL. */
static const struct listed *listed(const struct items *s, const char *name)
{
	uint64_t hash = rk_hash_bytes(name, strlen(name));
	size_t at;

	for (uint32_t i = rk_index_first(&s->by_name, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&s->by_name, hash, &at))
		if (strcmp(s->listed[i].name, name) == 0)
			return &s->listed[i];
	return NULL;
}

/* An accumulator may be listed in several items. */
static int list_name(struct items *s, const char *name, size_t item, struct rk_error *err)
{
	struct listed *more = rk_grow(s->listed, &s->listed_cap, s->nlisted + 1, sizeof(*more));

	if (!more)
		return rk_fail_nomem(err);
	s->listed = more;
	if (!rk_index_add(&s->by_name, rk_hash_bytes(name, strlen(name)), (uint32_t)s->nlisted))
		return rk_fail_nomem(err);
	s->listed[s->nlisted++] = (struct listed){ .name = name, .item = item };
	return 0;
}

/* Sets the registers of item `at`, which may be the next new one, from the draft. */
static int set_item(struct items *s, size_t at, const struct draft *d, struct rk_error *err)
{
	struct rk_pack_item *more;
	uint16_t *registers;

	if (at == RK_PACK_ITEMS_MAX)
		return too_many(err);
	more = rk_grow(s->items, &s->items_cap, at + 1, sizeof(*more));
	if (!more)
		return rk_fail_nomem(err);
	s->items = more;
	registers = rk_alloc((d->n + 1) * sizeof(*registers));
	if (!registers)
		return rk_fail_nomem(err);
	memcpy(registers, d->registers, d->n * sizeof(*registers));
	if (at < s->nitems)
		rk_free(s->items[at].registers);
	else
		s->nitems++;
	s->items[at] = (struct rk_pack_item){ .registers = registers, .n = d->n };
	return 0;
}

static struct rk_pack_problem problem_of(const struct items *s)
{
	return (struct rk_pack_problem){
		.registers = s->registers,
		.nregisters = s->nregisters,
		.limits = s->limits,
		.nblocks = s->nblocks,
		.items = s->items,
		.nitems = s->nitems,
	};
}

/*
 * Adds names that exist on the target (a suffix as in counter_resolve.h is fine), to be collected
 * in one pass if they fit. Names that were added before are not added again; the rest joins them.
 * *ret_fits is false if a counter alone needs more than the GPU has; it is not added.
 * Names are borrowed and must outlive the items.
 */
static int add_names(struct items *s, const char *const *names, bool *ret_fits,
		     struct rk_error *err)
{
	const struct listed *first = NULL;
	struct draft d = { .n = 0 };
	struct rk_pack_problem p;
	struct rk_pack_item item;
	size_t at = s->nitems;
	int rc;

	for (size_t i = 0; names[i] && !first; i++)
		first = listed(s, names[i]);
	if (first) {
		at = first->item;
		d.n = s->items[at].n;
		memcpy(d.registers, s->items[at].registers, d.n * sizeof(*d.registers));
	}
	for (size_t i = 0; names[i]; i++) {
		if (listed(s, names[i]))
			continue;
		rc = draft_counter(s, entry_of(s, names[i]), &d, err);
		if (rc < 0)
			return rc;
	}
	p = problem_of(s);
	item = (struct rk_pack_item){ .registers = d.registers, .n = d.n };
	*ret_fits = rk_pack_fits(&p, &item);
	if (!*ret_fits) {
		/* one by one */
		bool all = names[0] && names[1];

		for (size_t i = 0; names[0] && names[1] && names[i]; i++) {
			const char *const one[] = { names[i], NULL };
			bool fits;

			rc = add_names(s, one, &fits, err);
			if (rc < 0)
				return rc;
			all &= fits;
		}
		*ret_fits = all;
		return 0;
	}
	rc = set_item(s, at, &d, err);
	for (size_t i = 0; rc == 0 && names[i]; i++)
		if (!listed(s, names[i]))
			rc = list_name(s, names[i], at, err);
	return rc;
}

/* Is it an accumulator (SQ_ACCUM_PREV...) right after the level counter it adds up? */
static bool is_accumulator(const struct items *s, const char *name, const char *before)
{
	const struct rk_counter_entry *level = before ? entry_of(s, before) : NULL;

	return strncmp(name, "SQ_ACCUM_PREV", 13) == 0 && level && strstr(before, "LEVEL") &&
	       strcmp(level->pub.block, "SQ") == 0 && s->nlisted &&
	       strcmp(s->listed[s->nlisted - 1].name, before) == 0;
}

/* Adds it to the item of that level counter, which is the last one listed. */
static int accumulate(struct items *s, const char *name, struct rk_error *err)
{
	size_t at = s->listed[s->nlisted - 1].item;
	const struct rk_counter_entry *level = entry_of(s, s->listed[s->nlisted - 1].name);
	enum rk_accumulate how = strstr(name, "HIRES") ? RK_ACCUMULATE_HIGH : RK_ACCUMULATE_LOW;
	struct draft d = { .n = s->items[at].n };
	int rc;

	memcpy(d.registers, s->items[at].registers, d.n * sizeof(*d.registers));
	/* only one accumulator of a name fits in a pass: treat it as a block with one place */
	if ((rc = draft_add(&d, register_of(s, level, how, err), err)) < 0 ||
	    (rc = draft_add(&d, new_register(s, NULL, RK_ACCUMULATE_NO, name, 1, err), err)) < 0 ||
	    (rc = set_item(s, at, &d, err)) < 0)
		return rc;
	return list_name(s, name, at, err);
}

/*
 * ---- formulas: counters to measure together ----
 *
 * A metric such as a hit rate compares counters, and so does a check for contradictions. If they
 * are from different executions of the program, the result may be wrong, even above 100 %. So the
 * counters of each metric and check that the request allows are one more item, and a counter that
 * several of them need may be in several passes. A metric that needs more counters of a block than
 * fit in a pass is reported as split.
 */

/* Is it an accumulator, which was listed with the item of its level counter? */
static bool is_listed_accumulator(const char *name)
{
	return strncmp(name, "SQ_ACCUM_PREV", 13) == 0;
}

/* Adds the registers of a listed name to the draft. False: there are too many. */
static bool draft_listed(struct items *s, const struct listed *one, struct draft *d)
{
	const struct rk_pack_item *item = &s->items[one->item];

	/* an accumulator needs its level counter; other names of an item may be elsewhere */
	if (!is_listed_accumulator(one->name))
		return draft_counter(s, entry_of(s, one->name), d, NULL) == 0;
	for (size_t i = 0; i < item->n; i++)
		if (draft_add(d, item->registers[i], NULL) < 0)
			return false;
	return true;
}

/* A rk_metric_reads_fn; the ids are indexes of `listed`. */
static int add_formula(void *arg, const char *metric, const uint32_t *ids, size_t n,
		       struct rk_error *err)
{
	struct items *s = arg;
	struct formula *f = rk_grow(s->formulas, &s->formulas_cap, s->nformulas + 1, sizeof(*f));
	struct draft d = { .n = 0 };
	struct rk_pack_problem p;
	struct rk_pack_item item;
	bool fits = true;

	if (!f)
		return rk_fail_nomem(err);
	s->formulas = f;
	if (n < 2)
		return 0;
	f += s->nformulas++;
	*f = (struct formula){ .metric = metric, .n = n, .item = NO_ITEM };
	f->names = rk_calloc(n, sizeof(*f->names));
	if (!f->names)
		return rk_fail_nomem(err);
	memcpy(f->names, ids, n * sizeof(*ids));
	for (size_t i = 0; fits && i < n; i++)
		fits = draft_listed(s, &s->listed[ids[i]], &d);
	p = problem_of(s);
	item = (struct rk_pack_item){ .registers = d.registers, .n = d.n };
	if (!fits || !rk_pack_fits(&p, &item))
		return 0;
	f->item = s->nitems;
	return set_item(s, s->nitems, &d, err);
}

/* Adds an item for each metric that the listed names allow. */
static int add_formulas(struct items *s, struct rk_error *err)
{
	struct rk_formula_names *names = NULL;
	int rc;

	if ((rc = rk_metric_set_load(NULL, NULL, &s->metrics, err)) < 0 ||
	    (rc = rk_formula_names_new(&names, err)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < s->nlisted; i++) {
		const char *text = s->listed[i].name;
		const char *device = strstr(text, ":device=");
		size_t len = device ? (size_t)(device - text) : strlen(text);
		char name[RK_COUNTER_NAME_BYTES_MAX + 16];

		/* as a run calls it: the integral has the name of its level counter */
		if (is_listed_accumulator(text))
			snprintf(name, sizeof(name), "%s_ACCUM", i ? s->listed[i - 1].name : "");
		else
			snprintf(name, sizeof(name), "%.*s", (int)len, text);
		rc = rk_formula_names_add(names, name, "", (uint32_t)i, err);
	}
	if (rc == 0)
		rc = rk_metric_reads(s->metrics, s->target->name, names, add_formula, s, err);
	rk_formula_names_free(names);
	return rc;
}

static void release_items(struct items *s)
{
	for (size_t i = 0; i < s->nitems; i++)
		rk_free(s->items[i].registers);
	for (size_t i = 0; i < s->nformulas; i++)
		rk_free(s->formulas[i].names);
	rk_free(s->formulas);
	rk_free(s->items);
	rk_free(s->listed);
	rk_index_release(&s->by_name);
	rk_metric_set_free(s->metrics);
}

/* ---- the plan ---- */

/* The public part comes first; `texts` owns the strings of the plan. */
struct plan {
	struct rk_counter_plan pub;
	struct rk_list texts;
	struct rk_index by_name; /* indexes the checks by requested name */
	size_t checks_cap;
};

static void destroy_plan(void *arg)
{
	struct plan *plan = arg;
	struct rk_counter_plan *p = arg; /* its first member */

	if (!p)
		return;
	for (size_t i = 0; i < p->nchecks; i++)
		rk_free((void *)p->checks[i].use);
	for (size_t i = 0; i < p->npasses; i++)
		rk_free((void *)p->passes[i].counters);
	for (size_t i = 0; i < p->nsplits; i++)
		rk_free((void *)p->splits[i].passes);
	rk_free(p->checks);
	rk_free(p->passes);
	rk_free(p->splits);
	rk_index_release(&plan->by_name);
	rk_list_release(&plan->texts);
	rk_free(plan);
}

void rk_counter_plan_free(struct rk_counter_plan *p)
{
	rk_handle_close(RK_HANDLE_COUNTER_PLAN, p);
}

/* A copy that lives as long as the plan; NULL if out of memory. */
static const char *own(struct plan *p, const char *text)
{
	rk_list_add(&p->texts, text);
	return p->texts.bad ? NULL : p->texts.v[p->texts.n - 1];
}

static struct rk_counter_check *find_check(const struct plan *p, const char *asked)
{
	uint64_t hash = rk_hash_bytes(asked, strlen(asked));
	size_t at;

	for (uint32_t i = rk_index_first(&p->by_name, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&p->by_name, hash, &at))
		if (strcmp(p->pub.checks[i].asked, asked) == 0)
			return &p->pub.checks[i];
	return NULL;
}

/* Adds a copy of the answer, owned by the plan. */
static int add_check(struct plan *p, const char *asked, const struct rk_counter_answer *a,
		     struct rk_error *err)
{
	struct rk_counter_check *c =
		rk_grow(p->pub.checks, &p->checks_cap, p->pub.nchecks + 1, sizeof(*c));
	const char **use;

	if (!c)
		return rk_fail_nomem(err);
	p->pub.checks = c;
	use = rk_calloc(a->use.n + 1, sizeof(*use));
	if (!use)
		return rk_fail_nomem(err);
	c += p->pub.nchecks++;
	*c = (struct rk_counter_check){
		.asked = own(p, asked),
		.status = a->status,
		.use = use,
		.reason = own(p, a->reason),
	};
	for (size_t i = 0; i < a->use.n; i++)
		use[i] = own(p, a->use.v[i]);
	if (p->texts.bad || !rk_index_add(&p->by_name, rk_hash_bytes(asked, strlen(asked)),
					  (uint32_t)p->pub.nchecks - 1))
		return rk_fail_nomem(err);
	return 0;
}

/* Gets the shipped table unless *table is set, the target, and an empty plan for it. */
static int begin(const char *arch, const struct rk_counter_table **table,
		 const struct rk_counter_target **target, struct plan **ret, struct rk_error *err)
{
	struct plan *p;

	if (!*table)
		*table = rk_counter_table_get(err);
	if (!*table)
		return err && err->code ? err->code : RK_E_NOMEM;
	*target = rk_counter_table_target_find(*table, arch);
	if (!*target) {
		const char *names[RK_TARGETS_MAX + 1] = { NULL };
		const struct rk_counter_target *t;

		for (size_t i = 0; (t = rk_counter_table_target(*table, i)) != NULL; i++)
			names[i] = t->name;
		return rk_fail_unknown(err, "target", arch, names);
	}
	p = rk_calloc(1, sizeof(*p));
	if (!p)
		return rk_fail_nomem(err);
	p->pub.arch = own(p, (*target)->name);
	if (!p->pub.arch) {
		destroy_plan(p);
		return rk_fail_nomem(err);
	}
	*ret = p;
	return 0;
}

/* Checks one name. If `origin` is NULL, an unknown name is MISSING like any other. */
static int check_name(struct plan *p, const struct rk_counter_table *t,
		      const struct rk_counter_target *target, const char *name, const char *origin,
		      struct rk_error *err)
{
	struct rk_counter_answer a = { .reason = "" };
	int rc;

	if (find_check(p, name))
		return 0;
	rc = rk_counter_resolve(t, target, name, &a, err);
	if (rc < 0)
		goto out;
	/* the installed profiler may lack what we know */
	if (a.unknown &&
	    rk_counter_table_any(rk_counter_table_get(NULL), rk_counter_word_of(name).name)) {
		snprintf(a.reason, sizeof(a.reason),
			 "the installed rocprofv3 does not have it on %s", target->name);
		a.unknown = false;
	}
	if (a.unknown && origin)
		rc = rk_counter_ask_unknown(target, name, origin, a.use.n ? a.use.v[0] : NULL, err);
	else
		rc = add_check(p, name, &a, err);
out:
	rk_list_release(&a.use);
	return rc;
}

int rk_counters_check(const char *arch, const char *const *names, size_t n,
		      struct rk_counter_plan **ret, struct rk_error *err)
{
	const struct rk_counter_target *target;
	const struct rk_counter_table *t = NULL;
	struct plan *p = NULL;
	int rc;

	if (!arch || !rk_texts_there(names, n) || !ret)
		return rk_misuse(__func__, err);
	rc = begin(arch, &t, &target, &p, err);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct rk_list words = { 0 }, origins = { 0 };

		rc = rk_counter_ask(t, target, names[i], &words, &origins, err);
		for (size_t k = 0; rc == 0 && k < words.n; k++)
			rc = check_name(p, t, target, words.v[k], NULL, err);
		rk_list_release(&words);
		rk_list_release(&origins);
	}
	if (rc < 0 || (rc = rk_handle_open(RK_HANDLE_COUNTER_PLAN, p, destroy_plan, err)) < 0) {
		destroy_plan(p);
		return rc;
	}
	p->pub.optimal = true;
	*ret = &p->pub;
	return 0;
}

/*
 * Which name is in which pass: a bit for each pass, `words` words for each name. A name is in the
 * pass of its item and in those of the formulas that read it.
 */
static void mark_passes(const struct items *items, const struct rk_pack_result *r, uint64_t *in,
			size_t words)
{
	for (size_t i = 0; i < items->nlisted; i++) {
		uint32_t at = r->pass_of[items->listed[i].item];

		in[i * words + at / 64] |= UINT64_C(1) << at % 64;
	}
	for (size_t i = 0; i < items->nformulas; i++) {
		const struct formula *f = &items->formulas[i];
		uint32_t at = f->item == NO_ITEM ? 0 : r->pass_of[f->item];

		for (size_t k = 0; f->item != NO_ITEM && k < f->n; k++) {
			uint32_t name = f->names[k];

			in[name * words + at / 64] |= UINT64_C(1) << at % 64;
			/* the level counter goes before its accumulator */
			if (is_listed_accumulator(items->listed[name].name))
				in[(name - 1) * words + at / 64] |= UINT64_C(1) << at % 64;
		}
	}
}

/* Reports the metrics whose counters are not in one pass. */
static int list_splits(struct plan *p, const struct items *items, const uint64_t *in, size_t words,
		       struct rk_error *err)
{
	uint8_t *used = rk_calloc(p->pub.npasses + 1, 1);
	int rc = 0;

	p->pub.splits = rk_calloc(items->nformulas + 1, sizeof(*p->pub.splits));
	if (!used || !p->pub.splits)
		rc = rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < items->nformulas; i++) {
		const struct formula *f = &items->formulas[i];
		struct rk_counter_split *split = &p->pub.splits[p->pub.nsplits];
		uint32_t *passes;

		if (f->item != NO_ITEM || !f->metric)
			continue;
		/* a run reads each counter from the first pass that has it */
		memset(used, 0, p->pub.npasses);
		for (size_t k = 0; k < f->n; k++) {
			size_t at = 0;

			while (!(in[f->names[k] * words + at / 64] >> at % 64 & 1))
				at++;
			used[at] = 1;
		}
		passes = rk_calloc(p->pub.npasses + 1, sizeof(*passes));
		split->metric = own(p, f->metric);
		if (!passes || !split->metric) {
			rk_free(passes);
			rc = rk_fail_nomem(err);
			break;
		}
		split->passes = passes;
		for (size_t at = 0; at < p->pub.npasses; at++)
			if (used[at])
				passes[split->n++] = (uint32_t)at + 1;
		p->pub.nsplits++;
	}
	rk_free(used);
	return rc;
}

static int pack(struct plan *p, const struct items *items, struct rk_error *err)
{
	const struct rk_pack_problem problem = problem_of(items);
	struct rk_pack_result r = { .optimal = true };
	uint64_t *in = NULL;
	size_t words;
	int rc;

	r.pass_of = rk_calloc(items->nitems + 1, sizeof(*r.pass_of));
	if (!r.pass_of)
		return rk_fail_nomem(err);
	rc = rk_pack_solve(&problem, &r, err);
	if (rc < 0)
		goto out;
	p->pub.lower_bound = r.lower_bound;
	p->pub.optimal = r.optimal;
	p->pub.passes = rk_calloc(r.npasses + 1, sizeof(*p->pub.passes));
	words = r.npasses / 64 + 1;
	in = rk_calloc(items->nlisted * words + 1, sizeof(*in));
	if (!p->pub.passes || !in) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	p->pub.npasses = r.npasses;
	mark_passes(items, &r, in, words);
	/* the names of each pass, in request order */
	for (size_t at = 0; at < r.npasses; at++) {
		struct rk_counter_pass *pass = &p->pub.passes[at];
		const char **names;
		size_t n = 0;

		for (size_t i = 0; i < items->nlisted; i++)
			n += in[i * words + at / 64] >> at % 64 & 1;
		names = rk_calloc(n + 1, sizeof(*names));
		if (!names) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		pass->counters = names;
		for (size_t i = 0; i < items->nlisted; i++)
			if (in[i * words + at / 64] >> at % 64 & 1)
				names[pass->n++] = items->listed[i].name;
	}
	rc = list_splits(p, items, in, words, err);
out:
	rk_free(in);
	rk_free(r.pass_of);
	return rc;
}

static int make_plan(struct plan *p, const struct rk_counter_table *t,
		     const struct rk_counter_target *target, const char *spec, struct rk_error *err)
{
	struct rk_list names = { 0 }, origins = { 0 };
	struct items *items = NULL;
	const char *before = NULL;
	int rc = rk_counter_ask(t, target, spec, &names, &origins, err);

	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = check_name(p, t, target, names.v[i], origins.v[i], err);
	if (rc < 0)
		goto out;
	items = rk_calloc(1, sizeof(*items));
	if (!items) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	items->table = t;
	items->target = target;

	/*
	 * turn the requested names into items; an accumulator goes with the level counter before it
	 */
	for (size_t i = 0; i < names.n; i++) {
		struct rk_counter_check *c = find_check(p, names.v[i]);
		bool fits = true;

		if (c->status == RK_COUNTER_MISSING) {
			before = NULL;
			continue;
		}
		if (!c->use[1] && is_accumulator(items, c->use[0], before))
			rc = accumulate(items, c->use[0], err);
		else
			rc = add_names(items, c->use, &fits, err);
		if (rc < 0)
			goto out;
		before = c->use[0];
		if (!fits) {
			c->status = RK_COUNTER_MISSING;
			c->reason = "needs more counters of one block than the GPU has";
			before = NULL;
		}
	}
	if ((rc = add_formulas(items, err)) == 0)
		rc = pack(p, items, err);
out:
	if (items)
		release_items(items);
	rk_free(items);
	rk_list_release(&names);
	rk_list_release(&origins);
	return rc;
}

/* `live`: a table to use instead of the shipped one, or NULL. */
static int plan_with(const struct rk_counter_table *live, const char *arch, const char *spec,
		     struct rk_counter_plan **ret, struct rk_error *err)
{
	const struct rk_counter_target *target;
	const struct rk_counter_table *t = live;
	struct plan *p = NULL;
	int rc;

	if ((rc = begin(arch, &t, &target, &p, err)) < 0 ||
	    (rc = make_plan(p, t, target, spec, err)) < 0 ||
	    (rc = rk_handle_open(RK_HANDLE_COUNTER_PLAN, p, destroy_plan, err)) < 0) {
		destroy_plan(p);
		return rc;
	}
	*ret = &p->pub;
	return 0;
}

int rk_counters_plan(const char *arch, const char *spec, struct rk_counter_plan **ret,
		     struct rk_error *err)
{
	if (!arch || !spec || !ret)
		return rk_misuse(__func__, err);
	return plan_with(NULL, arch, spec, ret, err);
}

int rk_counters_plan_installed(const char *program, const char *arch, const char *spec,
			       struct rk_counter_plan **ret, struct rk_error *err)
{
	struct rk_counter_table *live = NULL;
	int rc;

	if (!arch || !spec || !ret)
		return rk_misuse(__func__, err);
	if (program && (rc = rk_counter_live_ask(program, arch, &live, err)) < 0)
		return rc;
	rc = plan_with(live, arch, spec, ret, err);
	rk_counter_table_free(live);
	return rc;
}
