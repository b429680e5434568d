/* launches.c - joins the launches of kernels with the times that were recorded later. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "read/rkraw/raw.h"

enum {
	MAX_WAITING = 1 << 20, /* records that wait for their partner */
	MAX_READINGS = 32,     /* of the file */
	SEEN_IDS = 1 << 15,    /* per piece of the set of ids that are done */
	SEEN_WORDS = SEEN_IDS / 64,
	MAX_SEEN = 1 << 12, /* pieces: 16 MiB for 134 million ids without gaps */
};

/* A record that waits for its partner. */
struct waiting {
	uint64_t id;
	union {
		struct raw_launch launch;
		struct raw_ran ran;
	};
	bool launched;  /* which of the two it is */
	bool ambiguous; /* its id was used twice: no times, because they may be another's */
};

/*
 * The ids whose hash has the value `bits` under `mask`. Rows that were complete before the record
 * at `from` were delivered in an earlier reading of the file.
 */
struct part {
	uint64_t mask, bits, from;
};

struct raw_join {
	bool launches, times; /* the file has such records */
	bool may_repeat;
	struct waiting *v; /* without gaps */
	size_t n, cap;
	uint32_t *slots; /* open addressing by id: 1 + the position in v; at most half full */
	size_t mask;
	/* ids that are done, to notice those that are used again */
	struct rk_map seen;
	uint64_t *bits;
	size_t npieces, cap_pieces;

	struct part part, todo[MAX_READINGS];
	unsigned ntodo, readings;
	bool full; /* no more readings: new launches do not wait while there is no room */
	bool sorted;
	size_t next; /* of the launches that are left, when sorted */
	uint64_t launched_twice, ran_twice, unlaunched, given_up, unseen;
};

struct raw_join *rk_raw_join_new(uint32_t types, bool again)
{
	struct raw_join *j = rk_calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->launches = types >> RK_RAW_LAUNCH & 1;
	j->times = types >> RK_RAW_RAN & 1;
	j->may_repeat = again;
	j->readings = 1;
	return j;
}

void rk_raw_join_free(struct raw_join *j)
{
	if (!j)
		return;
	rk_free(j->v);
	rk_free(j->slots);
	rk_map_release(&j->seen);
	rk_free(j->bits);
	rk_free(j);
}

/* ---- ids that are done ---- */

/* The word with the bit of an id; NULL: it has none. */
static uint64_t *seen_word(const struct raw_join *j, uint64_t id)
{
	int64_t piece = rk_map_get(&j->seen, id / SEEN_IDS, 0);

	return piece < 0 ? NULL : j->bits + (size_t)piece * SEEN_WORDS + id % SEEN_IDS / 64;
}

static bool is_seen(const struct raw_join *j, uint64_t id)
{
	const uint64_t *word = seen_word(j, id);

	return word && *word >> id % 64 & 1;
}

/* Ids count up from 1. If those of a file are spread wider than we have room for, we say so. */
static int see(struct raw_join *j, uint64_t id)
{
	uint64_t *word = seen_word(j, id);

	if (!word && j->npieces == MAX_SEEN) {
		j->unseen++;
		return 0;
	}
	if (!word) {
		uint64_t *grown = rk_grow(j->bits, &j->cap_pieces, j->npieces + 1,
					  SEEN_WORDS * sizeof(*grown));

		if (!grown)
			return RK_E_NOMEM;
		j->bits = grown;
		memset(grown + j->npieces * SEEN_WORDS, 0, SEEN_WORDS * sizeof(*grown));
		if (!rk_map_put(&j->seen, id / SEEN_IDS, 0, (uint32_t)j->npieces))
			return RK_E_NOMEM;
		j->npieces++;
		word = seen_word(j, id);
	}
	*word |= UINT64_C(1) << id % 64;
	return 0;
}

/* ---- records that wait ---- */

/* The slot of an id, or the free one where it belongs. */
static uint32_t *slot_of(const struct raw_join *j, uint64_t id)
{
	size_t at = (uint32_t)rk_hash_u64(id) & j->mask;

	while (j->slots[at] && j->v[j->slots[at] - 1].id != id)
		at = (at + 1) & j->mask;
	return &j->slots[at];
}

static struct waiting *find(const struct raw_join *j, uint64_t id)
{
	uint32_t *slot = j->slots ? slot_of(j, id) : NULL;

	return slot && *slot ? &j->v[*slot - 1] : NULL;
}

static void take_out(struct raw_join *j, struct waiting *w)
{
	uint32_t *slot = slot_of(j, w->id);
	size_t hole = (size_t)(slot - j->slots), at = hole;

	/* Move later entries of the same chain into the hole, unless they belong behind it. */
	for (;;) {
		size_t home;

		at = (at + 1) & j->mask;
		if (!j->slots[at])
			break;
		home = (uint32_t)rk_hash_u64(j->v[j->slots[at] - 1].id) & j->mask;
		if (((at - home) & j->mask) < ((at - hole) & j->mask))
			continue;
		j->slots[hole] = j->slots[at];
		hole = at;
	}
	j->slots[hole] = 0;
	j->n--;
	if (w != &j->v[j->n]) {
		*slot_of(j, j->v[j->n].id) = (uint32_t)(w - j->v) + 1;
		*w = j->v[j->n];
	}
}

static bool grow_slots(struct raw_join *j)
{
	size_t size = j->slots ? 2 * (j->mask + 1) : 1024;
	uint32_t *slots = rk_calloc(size, sizeof(*slots));

	if (!slots)
		return false;
	rk_free(j->slots);
	j->slots = slots;
	j->mask = size - 1;
	for (size_t i = 0; i < j->n; i++)
		*slot_of(j, j->v[i].id) = (uint32_t)i + 1;
	return true;
}

/* Puts off half of the ids until the file is read again. The lowest bits of hashes choose slots. */
static void put_off(struct raw_join *j, uint64_t where)
{
	uint64_t bit = j->part.mask ? (j->part.mask & (0 - j->part.mask)) >> 1 : UINT64_C(1) << 63;
	struct part other = { j->part.mask | bit, j->part.bits | bit, where };

	if (!j->may_repeat || j->readings == MAX_READINGS) {
		j->full = true;
		return;
	}
	if (other.from < j->part.from)
		other.from = j->part.from;
	j->part.mask |= bit;
	j->todo[j->ntodo++] = other;
	j->readings++;
	for (size_t i = j->n; i-- > 0;)
		if (rk_hash_u64(j->v[i].id) & bit)
			take_out(j, &j->v[i]);
}

static bool is_ours(const struct raw_join *j, uint64_t id)
{
	return (rk_hash_u64(id) & j->part.mask) == j->part.bits;
}

/* NULL: out of memory. */
static struct waiting *wait_for(struct raw_join *j, uint64_t id)
{
	struct waiting *v = rk_grow(j->v, &j->cap, j->n + 1, sizeof(*v));

	if (!v)
		return NULL;
	j->v = v;
	if ((!j->slots || 2 * (j->n + 1) > j->mask + 1) && !grow_slots(j))
		return NULL;
	v[j->n] = (struct waiting){ .id = id };
	*slot_of(j, id) = (uint32_t)j->n + 1;
	return &v[j->n++];
}

/* ---- records ---- */

int rk_raw_join_launch(struct raw_join *j, uint64_t where, uint64_t id, const struct raw_launch *l,
		       struct raw_ran *ret)
{
	bool known = where < j->part.from; /* what it completes was delivered */
	int match = known ? RAW_NO_ROW : RAW_ALONE;
	struct waiting *w;

	if (!is_ours(j, id))
		return RAW_NO_ROW;
	w = find(j, id);
	if ((w && w->launched) || is_seen(j, id)) {
		j->launched_twice += !known;
		if (w)
			w->ambiguous = true;
		return (int)match;
	}
	if (w) {
		*ret = w->ran;
		if (!known && !w->ambiguous)
			match = RAW_PAIR;
		take_out(j, w);
		return see(j, id) < 0 ? RK_E_NOMEM : match;
	}
	if (!j->times)
		return (int)match;
	if (j->n == MAX_WAITING && !j->full)
		put_off(j, where);
	if (!is_ours(j, id))
		return RAW_NO_ROW;
	if (j->n >= MAX_WAITING) {
		j->given_up += !known;
		return (int)match;
	}
	w = wait_for(j, id);
	if (!w)
		return RK_E_NOMEM;
	w->launch = *l;
	w->launched = true;
	return RAW_NO_ROW;
}

int rk_raw_join_ran(struct raw_join *j, uint64_t where, uint64_t id, const struct raw_ran *r,
		    struct raw_launch *ret)
{
	bool known = where < j->part.from;
	int match = RAW_NO_ROW;
	struct waiting *w;

	if (!is_ours(j, id))
		return RAW_NO_ROW;
	w = find(j, id);
	if ((w && !w->launched) || is_seen(j, id)) {
		j->ran_twice += !known;
		if (w)
			w->ambiguous = true;
		return RAW_NO_ROW;
	}
	if (w) {
		*ret = w->launch;
		if (!known)
			match = w->ambiguous ? RAW_ALONE : RAW_PAIR;
		take_out(j, w);
		return see(j, id) < 0 ? RK_E_NOMEM : match;
	}
	if (j->launches && j->n == MAX_WAITING && !j->full)
		put_off(j, where);
	if (!is_ours(j, id))
		return RAW_NO_ROW;
	if (!j->launches || j->n >= MAX_WAITING) {
		j->unlaunched += !known;
		return RAW_NO_ROW;
	}
	w = wait_for(j, id);
	if (!w)
		return RK_E_NOMEM;
	w->ran = *r;
	return RAW_NO_ROW;
}

/* ---- what is left at the end ---- */

static int by_id(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

bool rk_raw_join_left(struct raw_join *j, uint64_t *ret_id, struct raw_launch *ret)
{
	size_t launches = 0;

	if (!j->sorted) {
		for (size_t i = 0; i < j->n; i++)
			if (j->v[i].launched)
				j->v[launches++] = j->v[i];
		j->unlaunched += j->n - launches;
		j->n = launches;
		if (launches)
			qsort(j->v, launches, sizeof(*j->v), by_id);
		j->sorted = true;
		j->next = 0;
	}
	if (j->next == j->n)
		return false;
	*ret_id = j->v[j->next].id;
	*ret = j->v[j->next++].launch;
	return true;
}

bool rk_raw_join_again(struct raw_join *j)
{
	if (!j->ntodo)
		return false;
	j->part = j->todo[--j->ntodo];
	j->sorted = j->full = false;
	j->n = 0;
	if (j->slots)
		memset(j->slots, 0, (j->mask + 1) * sizeof(*j->slots));
	rk_map_release(&j->seen);
	j->seen = (struct rk_map){ 0 };
	j->npieces = 0;
	return true;
}

void rk_raw_join_tell(const struct raw_join *j, struct rk_oddities *odd)
{
	if (j->launched_twice)
		rk_oddities_count(odd, "launched-twice", 0, j->launched_twice,
				  "launches with the number of another one; without times");
	if (j->ran_twice)
		rk_oddities_count(odd, "ran-twice", 0, j->ran_twice,
				  "times of kernels that already have some; skipped");
	if (j->unlaunched)
		rk_oddities_count(
			odd, "never-launched", 0, j->unlaunched,
			"times of kernels whose launch is not in the file (overwritten or "
			"dropped); skipped");
	if (j->given_up)
		rk_oddities_count(odd, "launch-limit", 0, j->given_up,
				  "launches that are too far from their times: kept without times");
	if (j->unseen)
		rk_oddities_count(odd, "launch-limit", 0, j->unseen,
				  "numbers of launches are spread too far: not all that are used "
				  "twice are noticed");
}
