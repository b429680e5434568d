/* counter_pack.c - packing against all packings there are. */
#include "counters/counter_pack.h"

#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

enum { ITEMS = 7, REGISTERS = 12, BLOCKS = 2, PER_ITEM = 4 };

/* A problem small enough to try everything. */
struct small {
	struct rk_pack_register registers[REGISTERS];
	unsigned limits[BLOCKS];
	uint16_t regs[ITEMS][PER_ITEM];
	struct rk_pack_item items[ITEMS];
	struct rk_pack_problem p;
};

static void add_register(struct rk_pack_item *item, uint16_t reg)
{
	for (size_t i = 0; i < item->n; i++)
		if (item->registers[i] == reg)
			return;
	item->registers[item->n++] = reg;
}

static void make(struct small *s, uint64_t *seed)
{
	size_t nitems = 1 + world_random(seed) % ITEMS;

	*s = (struct small){ .limits = { 4, 2 } };
	for (size_t i = 0; i < REGISTERS; i++)
		s->registers[i] =
			(struct rk_pack_register){ .block = i >= 8, .clash = RK_PACK_NONE };
	/* Two registers that are never together. */
	s->registers[0].clash = 1;
	s->registers[1].clash = 0;
	s->p = (struct rk_pack_problem){ .registers = s->registers,
					 .nregisters = REGISTERS,
					 .limits = s->limits,
					 .nblocks = BLOCKS,
					 .items = s->items };
	while (s->p.nitems < nitems) {
		struct rk_pack_item *item = &s->items[s->p.nitems];
		size_t n = world_random(seed) % (PER_ITEM + 1);

		*item = (struct rk_pack_item){ .registers = s->regs[s->p.nitems] };
		for (size_t i = 0; i < n; i++)
			add_register(item, (uint16_t)(world_random(seed) % REGISTERS));
		s->p.nitems += rk_pack_fits(&s->p, item);
	}
}

/* Whether a pass with these items (a bit each) is allowed; by counting, not by the packer. */
static bool allowed(const struct small *s, unsigned items)
{
	bool used[REGISTERS] = { false };
	unsigned count[BLOCKS] = { 0 };

	for (size_t i = 0; i < s->p.nitems; i++)
		for (size_t k = 0; items >> i & 1 && k < s->items[i].n; k++)
			used[s->items[i].registers[k]] = true;
	for (size_t r = 0; r < REGISTERS; r++)
		count[s->registers[r].block] += used[r];
	return count[0] <= s->limits[0] && count[1] <= s->limits[1] && !(used[0] && used[1]);
}

/* The fewest passes for `left`, by trying each pass that has its first item. */
static size_t fewest(const struct small *s, unsigned left)
{
	size_t best = ITEMS;
	unsigned first = left & -left;

	if (!left)
		return 0;
	for (unsigned pass = left; pass; pass = (pass - 1) & left) {
		size_t n;

		if (!(pass & first) || !allowed(s, pass))
			continue;
		n = 1 + fewest(s, left & ~pass);
		best = n < best ? n : best;
	}
	return best;
}

TEST(small_problems_are_packed_as_well_as_trying_everything)
{
	uint64_t seed = 2463534242;

	for (int round = 0; round < 500; round++) {
		uint32_t pass_of[ITEMS];
		struct rk_pack_result r = { .pass_of = pass_of };
		struct rk_error err = { 0 };
		unsigned passes[ITEMS] = { 0 };
		struct small s;

		make(&s, &seed);
		CHECK_I64(rk_pack_solve(&s.p, &r, &err), 0);
		CHECK(r.optimal);
		CHECK_U64(r.npasses, fewest(&s, (1U << s.p.nitems) - 1));
		CHECK(r.lower_bound <= r.npasses && r.lower_bound >= 1);
		for (size_t i = 0; i < s.p.nitems; i++)
			if (CHECK(pass_of[i] < r.npasses))
				passes[pass_of[i]] |= 1U << i;
		for (size_t i = 0; i < r.npasses; i++)
			CHECK(passes[i] && allowed(&s, passes[i]));
	}
}

TEST(nothing_to_pack_takes_no_pass)
{
	struct rk_pack_problem p = { .nitems = 0 };
	struct rk_pack_result r = { .npasses = 9 };
	struct rk_error err = { 0 };

	CHECK_I64(rk_pack_solve(&p, &r, &err), 0);
	CHECK_U64(r.npasses, 0);
	CHECK_U64(r.lower_bound, 0);
	CHECK(r.optimal);
}

TEST(an_item_that_clashes_with_itself_never_fits)
{
	struct rk_pack_register registers[] = { { 0, 1 }, { 0, 0 } };
	uint16_t regs[] = { 0, 1 };
	unsigned limit = 8;
	struct rk_pack_problem p = {
		.registers = registers, .nregisters = 2, .limits = &limit, .nblocks = 1
	};
	struct rk_pack_item item = { regs, 2 };

	CHECK(!rk_pack_fits(&p, &item));
	item.n = 1;
	CHECK(rk_pack_fits(&p, &item));
}

TEST(a_problem_past_the_limits_is_refused)
{
	struct rk_pack_problem p = { .nitems = RK_PACK_ITEMS_MAX + 1 };
	struct rk_pack_result r = { .npasses = 0 };
	struct rk_error err = { 0 };

	CHECK_I64(rk_pack_solve(&p, &r, &err), RK_E_LIMIT);
}
