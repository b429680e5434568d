/*
 * recorder_sealed.c - of a window: the sealed blocks, the one that was sealed first in front.
 *
 * The order in which blocks were taken would not do. A thread that records little has its block for
 * a long time, and what it wrote last is among the newest when the block is sealed at last.
 *
 * As many places as there are blocks: there is always an empty one for a block that comes. Whoever
 * puts a block claims a number, then fills the place of that number. Nobody waits for one who was
 * stopped between the two. The number is passed by, the block is found when its place has its turn
 * again, or when there is no other; until then it is kept, which loses nothing.
 */
#include <sys/mman.h>

#include "recorder_impl.h"

static uint64_t nplaces(void)
{
	return rk_rec.nblocks - rk_rec.first_data;
}

static _Atomic uint64_t *place_of(uint64_t number)
{
	return &rk_rec.sealed[number % nplaces()];
}

/* The pages of places that were never used take no memory. */
bool rk_rec_sealed_open(void)
{
	size_t len = nplaces() * sizeof(*rk_rec.sealed);
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	rk_rec.sealed = p;
	atomic_store(&rk_rec.sealed_first, 0);
	atomic_store(&rk_rec.sealed_end, 0);
	return true;
}

void rk_rec_sealed_close(void)
{
	if (rk_rec.sealed)
		munmap(rk_rec.sealed, nplaces() * sizeof(*rk_rec.sealed));
	rk_rec.sealed = NULL;
}

/* With the number beside the index no two values are the same: see first_sealed(). */
void rk_rec_sealed_put(uint64_t index)
{
	uint64_t none, number;

	do {
		none = 0;
		number = atomic_fetch_add(&rk_rec.sealed_end, 1);
	} while (!atomic_compare_exchange_strong(place_of(number), &none, number << 32 | index));
}

/* Anywhere: for when the numbers say that there is none. */
static uint64_t any_sealed(void)
{
	for (uint64_t i = 0; i < nplaces(); i++) {
		uint64_t value = atomic_load(place_of(i));

		if (value && atomic_compare_exchange_strong(place_of(i), &value, 0))
			return (uint32_t)value;
	}
	return 0;
}

/* What was in front when it was looked at is in front as long as it is there. */
static uint64_t first_sealed(void)
{
	uint64_t number, value;

	while ((number = atomic_load(&rk_rec.sealed_first)) != atomic_load(&rk_rec.sealed_end)) {
		value = atomic_load(place_of(number));
		if (number != atomic_load(&rk_rec.sealed_first))
			continue;
		if (value && !atomic_compare_exchange_strong(place_of(number), &value, 0))
			continue;
		atomic_compare_exchange_strong(&rk_rec.sealed_first, &number, number + 1);
		if (value)
			return (uint32_t)value;
	}
	return 0;
}

uint64_t rk_rec_sealed_get(void)
{
	uint64_t index = first_sealed();

	return index ? index : any_sealed();
}
