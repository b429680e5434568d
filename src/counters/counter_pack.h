/*
 * counter_pack.h - how many passes do counters need?
 *
 * A register is one place of a block that counts one event. An item is a set of registers that must
 * be in the same pass: all inputs of a derived counter, or a single register. Blocks have a limit
 * of registers per pass; a register that several items of a pass share is needed only once.
 */
#ifndef RK_COUNTER_PACK_H
#define RK_COUNTER_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	RK_PACK_REGISTERS_MAX = 1024,
	RK_PACK_ITEMS_MAX = 8192,
	RK_PACK_BLOCKS_MAX = 32,
	RK_PACK_NONE = UINT16_MAX,
};

struct rk_pack_register {
	uint8_t block;
	uint16_t clash; /* a register that cannot be in the same pass, or RK_PACK_NONE */
};

struct rk_pack_item {
	uint16_t *registers; /* no duplicates; may be empty */
	size_t n;
};

struct rk_pack_problem {
	const struct rk_pack_register *registers;
	size_t nregisters;
	const unsigned *limits; /* by block, at least 1 */
	size_t nblocks;
	const struct rk_pack_item *items; /* each fits in one pass */
	size_t nitems;
};

struct rk_pack_result {
	uint32_t *pass_of; /* by item; provided by the caller, nitems long */
	size_t npasses;
	size_t lower_bound; /* max over blocks of registers / limit, rounded up */
	bool optimal; /* no packing has fewer passes: equal to the bound, or proven by search */
};

/* Do these registers fit in one pass? */
bool rk_pack_fits(const struct rk_pack_problem *p, const struct rk_pack_item *item);
/* RK_E_LIMIT if the problem exceeds the maxima above. */
int rk_pack_solve(const struct rk_pack_problem *p, struct rk_pack_result *ret,
		  struct rk_error *err);

#endif
