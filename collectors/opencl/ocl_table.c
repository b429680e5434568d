/* ocl_table.c - see ocl.h: from handles to places in tables, without locks. */
#include "ocl.h"

#define MOST_STEPS 64 /* a table that is so full counts as full: looking must stay cheap */

static uint32_t hash(uintptr_t key)
{
	return (uint32_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

uint32_t rk_ocl_slot(_Atomic(uintptr_t) *keys, uint32_t cap, const void *key, bool claim)
{
	uintptr_t wanted = (uintptr_t)key;
	uint32_t at = hash(wanted) & (cap - 1);

	if (!wanted)
		return cap;
	for (int i = 0; i < MOST_STEPS; i++, at = (at + 1) & (cap - 1)) {
		uintptr_t there = atomic_load_explicit(&keys[at], memory_order_acquire);

		if (there == wanted)
			return at;
		if (there)
			continue;
		if (!claim)
			return cap;
		/* On failure `there` is what another thread was faster to put in. */
		if (atomic_compare_exchange_strong(&keys[at], &there, wanted) || there == wanted)
			return at;
	}
	return cap;
}
