/* counter_table_impl.h - what a table of counters is made of; for the two files that handle it. */
#ifndef RK_COUNTER_TABLE_IMPL_H
#define RK_COUNTER_TABLE_IMPL_H

#include "counters/counter_table.h"

enum { RK_GENERATIONS_MAX = 8, RK_GROUPS_MAX = 32 };

struct rk_counter_group {
	const char *name;
	uint64_t targets;
};

struct rk_counter_generation {
	const char *name;
	const char *blocks[RK_BLOCKS_MAX];
	unsigned limits[RK_BLOCKS_MAX];
	size_t nblocks;
};

/* Names, texts and lists of inputs lie in three pools whose size is known from the text. */
struct rk_counter_table {
	struct rk_counter_target targets[RK_TARGETS_MAX];
	struct rk_counter_group groups[RK_GROUPS_MAX];
	struct rk_counter_generation generations[RK_GENERATIONS_MAX];
	size_t ntargets, ngroups, ngenerations;
	struct rk_counter_entry *entries;
	size_t nentries, entries_max;
	char *text;
	size_t text_len, text_max;
	const char **inputs;
	uint8_t *accumulate; /* beside inputs */
	size_t ninputs, inputs_max;
	uint16_t *index; /* of all targets, one after the other */
};

#endif
