/* counter_items.h - counters as items to pack: which registers they take, what they are called. */
#ifndef RK_COUNTER_ITEMS_H
#define RK_COUNTER_ITEMS_H

#include "counters/counter_pack.h"
#include "counters/counter_table.h"

/* A name that is collected, and with which item. */
struct rk_listed {
	const char *name; /* borrowed */
	uint64_t hash;    /* of the name: lists of thousands of channels are asked for */
	size_t item;
};

/* One register: a hardware counter, as it is or accumulated. */
struct rk_counter_register {
	const struct rk_counter_entry *counter;
	uint8_t how; /* enum rk_accumulate */
};

/* Zero it, set table and target; release it in the end. */
struct rk_counter_items {
	const struct rk_counter_table *table;
	const struct rk_counter_target *target;
	struct rk_counter_register *what;
	struct rk_pack_register *registers;
	size_t nregisters;
	const char *blocks[RK_PACK_BLOCKS_MAX];
	unsigned limits[RK_PACK_BLOCKS_MAX];
	size_t nblocks;
	struct rk_pack_item *items;
	size_t nitems, items_max;
	struct rk_listed *listed;
	size_t nlisted, listed_max;
};

/*
 * Adds names that exist on the target (a suffix as in counter_resolve.h is fine), to be collected
 * in one run when they fit there. Names that were added before are not added again, and bring the
 * rest to where they are. *ret_fits is false, and nothing is added, for a counter that alone needs
 * more than the GPU has. Names are borrowed and must outlive the items.
 */
int rk_counter_items_add(struct rk_counter_items *s, const char *const *names, bool *ret_fits,
			 struct rk_error *err);
/*
 * An accumulator (SQ_ACCUM_PREV...) right after the level counter it adds up: it joins that
 * counter's item, and there is one of its name in a run. False when the name before is no such
 * counter; it is then like any other.
 */
bool rk_counter_items_accumulator(const struct rk_counter_items *s, const char *name,
				  const char *before);
int rk_counter_items_accumulate(struct rk_counter_items *s, const char *name, struct rk_error *err);

void rk_counter_items_release(struct rk_counter_items *s);

#endif
