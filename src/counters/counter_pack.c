/*
 * counter_pack.c - see counter_pack.h.
 *
 * Items that are part of a larger item go with it. The larger items are placed first, each into the
 * pass that shares the most registers with it; then single registers fill the free places. If that
 * takes more passes than the lower bound, we search for a better placement of the larger items. In
 * that search only the number of single registers matters, because blocks are independent.
 */
#include "counters/counter_pack.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

enum {
	WORDS = RK_PACK_REGISTERS_MAX / 64,
	/* A few milliseconds; typical sets need a few hundred steps at most. */
	NODES_MAX = 5000,
	CANDIDATES_MAX = 64,
};

struct pass {
	uint64_t has[WORDS];
	uint8_t used[RK_PACK_BLOCKS_MAX];
};

struct solver {
	const struct rk_pack_problem *p;
	uint16_t *groups; /* items of several registers, largest first */
	size_t ngroups;
	uint16_t *order;  /* the groups in search order */
	uint16_t *parent; /* by item: the item it goes with, or itself */
	struct pass *passes;
	size_t npasses;
	uint32_t *pass_of;                  /* by item, in the current packing */
	size_t singles[RK_PACK_BLOCKS_MAX]; /* registers that are not in a group */
	size_t total[RK_PACK_BLOCKS_MAX];   /* places used over all passes */
	size_t nodes, target;               /* state of the search */
};

static bool has(const struct pass *r, uint16_t reg)
{
	return r->has[reg / 64] >> reg % 64 & 1;
}

/* Does the item fit in the pass? *ret_shared: how many of its registers are already there. */
static bool fits(const struct rk_pack_problem *p, const struct pass *r,
		 const struct rk_pack_item *item, size_t *ret_shared)
{
	uint8_t used[RK_PACK_BLOCKS_MAX];

	memcpy(used, r->used, p->nblocks);
	*ret_shared = 0;
	for (size_t i = 0; i < item->n; i++) {
		uint16_t reg = item->registers[i];
		const struct rk_pack_register *what = &p->registers[reg];

		if (has(r, reg)) {
			++*ret_shared;
			continue;
		}
		if (what->clash != RK_PACK_NONE && has(r, what->clash))
			return false;
		if (++used[what->block] > p->limits[what->block])
			return false;
	}
	return true;
}

bool rk_pack_fits(const struct rk_pack_problem *p, const struct rk_pack_item *item)
{
	const struct pass empty = { .used = { 0 } };
	size_t shared;

	for (size_t i = 0; i < item->n; i++)
		for (size_t j = 0; j < i; j++)
			if (p->registers[item->registers[i]].clash == item->registers[j])
				return false;
	return fits(p, &empty, item, &shared);
}

static void put(const struct rk_pack_problem *p, struct pass *r, const struct rk_pack_item *item)
{
	for (size_t i = 0; i < item->n; i++) {
		uint16_t reg = item->registers[i];

		if (has(r, reg))
			continue;
		r->has[reg / 64] |= UINT64_C(1) << reg % 64;
		r->used[p->registers[reg].block]++;
	}
}

static void place(struct solver *s, size_t at, size_t item)
{
	struct pass *r = &s->passes[at];

	for (size_t b = 0; b < s->p->nblocks; b++)
		s->total[b] -= r->used[b];
	put(s->p, r, &s->p->items[item]);
	for (size_t b = 0; b < s->p->nblocks; b++)
		s->total[b] += r->used[b];
	s->pass_of[item] = (uint32_t)at;
}

static void clear_passes(struct solver *s)
{
	memset(s->passes, 0, s->p->nitems * sizeof(*s->passes));
	memset(s->total, 0, sizeof(s->total));
	s->npasses = 0;
}

/*
 * Places the item in the pass that shares the most with it; in a new one if it does not fit
 * anywhere.
 */
static void place_anywhere(struct solver *s, size_t item)
{
	size_t best = s->npasses, most = 0;

	for (size_t i = 0; i < s->npasses; i++) {
		size_t shared;

		if (!fits(s->p, &s->passes[i], &s->p->items[item], &shared))
			continue;
		if (best == s->npasses || shared > most) {
			best = i;
			most = shared;
		}
	}
	place(s, best, item);
	if (best == s->npasses)
		s->npasses++;
}

/* Does the search place this item? Single registers only matter if they clash. */
static bool is_group(const struct rk_pack_problem *p, const struct rk_pack_item *item)
{
	return item->n > 1 ||
	       (item->n == 1 && p->registers[item->registers[0]].clash != RK_PACK_NONE);
}

/* Places single registers in the order of the request, then items that go with others. */
static void place_rest(struct solver *s)
{
	for (size_t i = 0; i < s->p->nitems; i++)
		if (s->parent[i] == i && !is_group(s->p, &s->p->items[i]))
			place_anywhere(s, i);
	for (size_t i = 0; i < s->p->nitems; i++)
		if (s->parent[i] != i)
			s->pass_of[i] = s->pass_of[s->parent[i]];
}

static void place_greedily(struct solver *s)
{
	clear_passes(s);
	for (size_t i = 0; i < s->ngroups; i++)
		place_anywhere(s, s->groups[i]);
	place_rest(s);
}

/* Passes that the item fits in, those that share the most with it first; at most one empty pass. */
static size_t candidates(const struct solver *s, const struct rk_pack_item *item, uint16_t *ret)
{
	size_t n = 0, shared[CANDIDATES_MAX];

	/* all empty passes are equivalent */
	for (size_t i = 0; i <= s->npasses && i < s->target && n < CANDIDATES_MAX; i++) {
		size_t same, at = n;

		if (!fits(s->p, &s->passes[i], item, &same))
			continue;
		for (; at > 0 && shared[at - 1] < same; at--) {
			shared[at] = shared[at - 1];
			ret[at] = ret[at - 1];
		}
		shared[at] = same;
		ret[at] = (uint16_t)i;
		n++;
	}
	return n;
}

/*
 * Places groups from `next` on in at most `target` passes. Returns 1 if done, 0 if impossible, -1
 * if it gave up.
 */
static int search(struct solver *s, size_t next)
{
	uint16_t where[CANDIDATES_MAX];
	size_t npasses = s->npasses, n;

	/* the placed items and the single registers must fit in `target` passes */
	for (size_t b = 0; b < s->p->nblocks; b++)
		if (s->total[b] + s->singles[b] > s->target * s->p->limits[b])
			return 0;
	if (next == s->ngroups)
		return 1;
	if (++s->nodes > NODES_MAX || s->target > CANDIDATES_MAX)
		return -1;
	n = candidates(s, &s->p->items[s->order[next]], where);
	for (size_t i = 0; i < n; i++) {
		struct pass pass_before = s->passes[where[i]];
		size_t total_before[RK_PACK_BLOCKS_MAX];
		int found;

		memcpy(total_before, s->total, sizeof(s->total));
		place(s, where[i], s->order[next]);
		s->npasses = npasses + (where[i] == npasses);
		found = search(s, next + 1);
		if (found)
			return found;
		s->passes[where[i]] = pass_before;
		memcpy(s->total, total_before, sizeof(s->total));
		s->npasses = npasses;
	}
	return 0;
}

/*
 * Finds groups that pairwise cannot share a pass and so need one each. Greedy: may find fewer than
 * there are.
 */
static size_t find_apart(const struct solver *s, size_t first, uint16_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ngroups && n < CANDIDATES_MAX; i++) {
		uint16_t group = s->groups[(first + i) % s->ngroups];
		struct pass with = { .used = { 0 } };
		size_t k = 0, shared;

		put(s->p, &with, &s->p->items[group]);
		while (k < n && !fits(s->p, &with, &s->p->items[ret[k]], &shared))
			k++;
		if (k == n)
			ret[n++] = group;
	}
	return n;
}

/* A lower bound from groups that cannot share a pass. These are searched first, to fail early. */
static size_t bound_of_groups(struct solver *s)
{
	uint16_t found[CANDIDATES_MAX];
	size_t most = 0, n;

	for (size_t i = 0; i < s->ngroups && i < CANDIDATES_MAX; i++) {
		n = find_apart(s, i, found);
		if (n <= most)
			continue;
		most = n;
		memcpy(s->order, found, n * sizeof(*found));
	}
	n = most;
	for (size_t i = 0; i < s->ngroups; i++) {
		size_t k = 0;

		while (k < most && s->order[k] != s->groups[i])
			k++;
		if (k == most)
			s->order[n++] = s->groups[i];
	}
	return most;
}

/* Does `a` have all registers of `b`? */
static bool contains(const struct rk_pack_item *a, const struct rk_pack_item *b)
{
	for (size_t i = 0; i < b->n; i++) {
		size_t j = 0;

		while (j < a->n && a->registers[j] != b->registers[i])
			j++;
		if (j == a->n)
			return false;
	}
	return true;
}

/* Finds which items go with which, and the groups, largest first. `first` is scratch memory. */
static void sort_items(struct solver *s, uint16_t *first)
{
	const struct rk_pack_item *items = s->p->items;
	size_t largest = 0;

	for (size_t i = 0; i < s->p->nitems; i++)
		largest = rk_max(largest, items[i].n);
	for (size_t size = largest + 1; size-- > 0;) {
		for (size_t i = 0; i < s->p->nitems; i++) {
			size_t g = 0;

			if (items[i].n != size)
				continue;
			while (g < s->ngroups && !contains(&items[s->groups[g]], &items[i]))
				g++;
			s->parent[i] = g < s->ngroups ? s->groups[g] : (uint16_t)i;
			if (g == s->ngroups && is_group(s->p, &items[i]))
				s->groups[s->ngroups++] = (uint16_t)i;
		}
	}
	/* equal single items go with the first of them */
	memset(first, 0xff, s->p->nregisters * sizeof(*first));
	for (size_t i = 0; i < s->p->nitems; i++) {
		uint16_t reg;

		if (items[i].n != 1 || s->parent[i] != i || is_group(s->p, &items[i]))
			continue;
		reg = items[i].registers[0];
		if (first[reg] == RK_PACK_NONE)
			first[reg] = (uint16_t)i;
		s->parent[i] = first[reg];
		s->singles[s->p->registers[reg].block] += s->parent[i] == i;
	}
}

/* The lower bound from each block by itself. */
static size_t bound(const struct solver *s)
{
	size_t distinct[RK_PACK_BLOCKS_MAX] = { 0 }, most = s->p->nitems > 0;
	uint64_t seen[WORDS] = { 0 };

	for (size_t i = 0; i < s->p->nitems; i++) {
		for (size_t j = 0; j < s->p->items[i].n; j++) {
			uint16_t reg = s->p->items[i].registers[j];
			uint64_t bit = UINT64_C(1) << reg % 64;

			distinct[s->p->registers[reg].block] += !(seen[reg / 64] & bit);
			seen[reg / 64] |= bit;
		}
	}
	for (size_t b = 0; b < s->p->nblocks; b++)
		most = rk_max(most, (distinct[b] + s->p->limits[b] - 1) / s->p->limits[b]);
	return most;
}

int rk_pack_solve(const struct rk_pack_problem *p, struct rk_pack_result *ret, struct rk_error *err)
{
	struct solver s = { .p = p, .pass_of = ret->pass_of };
	size_t greedy;
	uint16_t *first;
	int rc = 0, found = 0;

	if (p->nregisters > RK_PACK_REGISTERS_MAX || p->nblocks > RK_PACK_BLOCKS_MAX ||
	    p->nitems > RK_PACK_ITEMS_MAX)
		return rk_fail(err, RK_E_LIMIT, "too many counters to plan at once");
	s.groups = rk_calloc(p->nitems + 1, sizeof(*s.groups));
	s.order = rk_calloc(p->nitems + 1, sizeof(*s.order));
	s.parent = rk_calloc(p->nitems + 1, sizeof(*s.parent));
	s.passes = rk_calloc(p->nitems + 1, sizeof(*s.passes));
	first = rk_calloc(p->nregisters + 1, sizeof(*first));
	if (!s.groups || !s.order || !s.parent || !s.passes || !first) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	sort_items(&s, first);
	ret->lower_bound = bound(&s);
	ret->optimal = true;
	place_greedily(&s);

	/* search for fewer passes, from the lower bound up; if that fails keep the greedy result */
	greedy = s.npasses;
	if (ret->lower_bound < greedy) {
		s.target = rk_max(ret->lower_bound, bound_of_groups(&s));
		for (; s.target < greedy && found <= 0; s.target++) {
			clear_passes(&s);
			s.nodes = 0;
			found = search(&s, 0);
			if (found < 0)
				ret->optimal = false; /* not proven impossible */
		}
		if (found > 0)
			place_rest(&s);
		else
			place_greedily(&s);
	}
	ret->npasses = s.npasses;
out:
	rk_free(s.groups);
	rk_free(s.order);
	rk_free(s.parent);
	rk_free(s.passes);
	rk_free(first);
	return rc;
}
