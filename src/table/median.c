/* median.c - see median.h. */
#include "table/median.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

/*
 * Single values of a group are kept in a list of chunks, each 1.5 times as long as the one before,
 * so at worst about a third of the memory is unused. Values below 2^32 ns (4.3 s) take four bytes
 * (narrow). Every wide value is larger than every narrow one, so the narrow list comes first in
 * order. Once folded, a group has one short chunk that is emptied into the histogram when full.
 */
enum { CHUNK_MIN = 8, CHUNK_MAX = 8192, CHUNK_FOLDED = 32, DIGIT_BITS_MAX = 11 };

/*
 * A histogram has 128 buckets per power of two. Values below 128 have their own bucket; others
 * share one with those that have the same leading eight bits, so the middle of a bucket is at most
 * 1/256 off. A page has the buckets of one power of two and is created for its first value.
 */
enum { PAGE_BITS = 7, PAGE_BUCKETS = 1 << PAGE_BITS };

struct rk_durations_page {
	struct rk_durations_page *next; /* of a larger power */
	unsigned power;                 /* 0: values below 128; p: from 2^(p+6) to 2^(p+7) - 1 */
	uint64_t count[PAGE_BUCKETS];
};

static inline uint64_t chunk_value(const struct rk_durations_chunk *c, uint32_t i)
{
	const void *p = c->data;

	return c->wide ? ((const uint64_t *)p)[i] : ((const uint32_t *)p)[i];
}

static void chunks_free(struct rk_durations_chunk **list)
{
	while (*list) {
		struct rk_durations_chunk *c = *list;

		*list = c->next;
		rk_free(c);
	}
}

/* False when out of memory. Sets t->lost if no more pages are allowed. */
static bool histogram_add(struct rk_durations_store *store, struct rk_durations *t, uint64_t v)
{
	unsigned power = v < PAGE_BUCKETS ? 0 : 63 - (unsigned)__builtin_clzll(v) - PAGE_BITS + 1;
	unsigned shift = power ? power - 1 : 0;
	struct rk_durations_page **at = &t->pages, *p;

	if (t->lost)
		return true;
	while (*at && (*at)->power < power)
		at = &(*at)->next;
	p = *at;
	if (!p || p->power != power) {
		if (store->pages >= store->max_pages) {
			t->lost = true;
			return true;
		}
		p = rk_calloc(1, sizeof(*p));
		if (!p)
			return false;
		store->pages++;
		p->power = power;
		p->next = *at;
		*at = p;
	}
	p->count[(v >> shift) & (PAGE_BUCKETS - 1)]++;
	return true;
}

/*
 * The square of a 32-bit value has 64 bits, and a sum of thousands has more: the upper and lower
 * halves are added separately, which the compiler turns into vector instructions.
 */
static void count_narrow(struct rk_durations *t, const uint32_t *v, uint32_t n)
{
	uint64_t sum = 0, low = 0, high = 0;
	uint32_t min = UINT32_MAX, max = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t square = (uint64_t)v[i] * v[i];

		sum += v[i];
		low += (uint32_t)square;
		high += square >> 32;
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
	}
	t->sum += sum;
	t->squares_lost |=
		__builtin_add_overflow(t->squares, ((rk_u128)high << 32) + low, &t->squares);
	if (n && (!t->n || min < t->min))
		t->min = min;
	if (n && (!t->n || max > t->max))
		t->max = max;
	t->n += n;
}

static void count_wide(struct rk_durations *t, const uint64_t *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		t->sum += v[i];
		t->squares_lost |=
			__builtin_add_overflow(t->squares, (rk_u128)v[i] * v[i], &t->squares);
		if (!t->n || (int64_t)v[i] < t->min)
			t->min = (int64_t)v[i];
		if (!t->n || (int64_t)v[i] > t->max)
			t->max = (int64_t)v[i];
		t->n++;
	}
}

static bool settle_chunk(struct rk_durations_store *store, struct rk_durations *t,
			 struct rk_durations_chunk *c)
{
	const void *data = c->data;
	uint32_t from = c->counted;

	if (c->wide)
		count_wide(t, (const uint64_t *)data + from, c->n - from);
	else
		count_narrow(t, (const uint32_t *)data + from, c->n - from);
	c->counted = c->n;
	if (!store->folded)
		return true;
	while (c->n) {
		if (!histogram_add(store, t, chunk_value(c, c->n - 1)))
			return false;
		c->counted = --c->n;
	}
	return true;
}

bool rk_durations_add_slow(struct rk_durations_store *store, struct rk_durations *t, int64_t dur_ns)
{
	bool wide = dur_ns > UINT32_MAX;
	struct rk_durations_chunk **list = wide ? &t->wide : &t->narrow, *c = *list;
	uint32_t cap = CHUNK_MIN;

	if (c && c->n == c->cap && !settle_chunk(store, t, c))
		return false;
	if (!c || c->n == c->cap) {
		if (c)
			cap = (uint32_t)rk_min(c->cap + c->cap / 2, CHUNK_MAX);
		if (store->folded)
			cap = CHUNK_FOLDED;
		c = rk_alloc(sizeof(*c) + (size_t)cap * (wide ? 8 : 4));
		if (!c)
			return false;
		*c = (struct rk_durations_chunk){ .next = *list, .cap = cap, .wide = wide };
		*list = c;
	}
	if (wide)
		((uint64_t *)(void *)c->data)[c->n++] = (uint64_t)dur_ns;
	else
		((uint32_t *)(void *)c->data)[c->n++] = (uint32_t)dur_ns;
	return true;
}

bool rk_durations_settle(struct rk_durations_store *store, struct rk_durations *t)
{
	/* Older chunks were added to the sums when they were full. */
	return (!t->narrow || settle_chunk(store, t, t->narrow)) &&
	       (!t->wide || settle_chunk(store, t, t->wide));
}

bool rk_durations_fold(struct rk_durations_store *store, struct rk_durations *t)
{
	struct rk_durations_chunk **lists[] = { &t->narrow, &t->wide };

	for (size_t l = 0; l < 2; l++) {
		for (struct rk_durations_chunk *c = *lists[l]; c; c = c->next)
			if (!settle_chunk(store, t, c))
				return false;
		chunks_free(lists[l]);
	}
	return true;
}

/* Middle of the bucket that holds the rank-th smallest value, rank from 0. */
static double histogram_rank(const struct rk_durations *t, uint64_t rank)
{
	for (const struct rk_durations_page *p = t->pages; p; p = p->next) {
		for (unsigned i = 0; i < PAGE_BUCKETS; i++) {
			unsigned shift = p->power ? p->power - 1 : 0;
			uint64_t low = (uint64_t)(p->power ? i + PAGE_BUCKETS : i) << shift;

			if (rank < p->count[i])
				return (double)low + (double)((UINT64_C(1) << shift) - 1) / 2;
			rank -= p->count[i];
		}
	}
	return 0;
}

/*
 * Counts the digit at `shift` of each value that equals `prefix` from bit `top` up. Two loops,
 * because this takes most of the time and nearly all values have four bytes.
 */
static void digit_counts(const struct rk_durations_chunk *c, uint64_t prefix, unsigned top,
			 unsigned shift, unsigned mask, uint32_t *hist)
{
	for (; c; c = c->next) {
		const void *data = c->data;
		const uint32_t *narrow = data;
		const uint64_t *wide = data;

		if (c->wide) {
			for (uint32_t i = 0; i < c->n; i++)
				if (top >= 64 || (wide[i] ^ prefix) >> top == 0)
					hist[wide[i] >> shift & mask]++;
		} else {
			for (uint32_t i = 0; i < c->n; i++)
				if (((uint64_t)narrow[i] ^ prefix) >> top == 0)
					hist[narrow[i] >> shift & mask]++;
		}
	}
}

/*
 * The rank-th smallest value, at most `max`, digit by digit from the top (radix selection). It
 * reads the chunks a few times, makes no copy, and no input order makes it slow.
 */
static uint64_t list_rank(const struct rk_durations_chunk *list, uint64_t n, uint64_t max,
			  uint64_t rank)
{
	unsigned top = max ? 64 - (unsigned)__builtin_clzll(max) : 0;
	unsigned digit_bits = DIGIT_BITS_MAX;
	uint32_t hist[1 << DIGIT_BITS_MAX];
	uint64_t value = 0;

	if (n < 64)
		digit_bits = 4;
	else if (n < 8192)
		digit_bits = 8;
	while (top) {
		unsigned bits = (unsigned)rk_min(top, digit_bits), shift = top - bits, d = 0;

		memset(hist, 0, sizeof(hist[0]) << bits);
		digit_counts(list, value, top, shift, (1u << bits) - 1, hist);
		while (rank >= hist[d])
			rank -= hist[d++];
		value |= (uint64_t)d << shift;
		top = shift;
	}
	return value;
}

/* The next larger value after `low`, which is the value at `rank`. */
static uint64_t list_next(const struct rk_durations_chunk *list, uint64_t rank, uint64_t low)
{
	uint64_t not_above = 0, next = UINT64_MAX;

	for (const struct rk_durations_chunk *c = list; c; c = c->next) {
		for (uint32_t i = 0; i < c->n; i++) {
			uint64_t v = chunk_value(c, i);

			not_above += v <= low;
			next = v > low && v < next ? v : next;
		}
	}
	return not_above > rank + 1 ? low : next;
}

static double exact_middle(const struct rk_durations *t)
{
	uint64_t narrow = 0, rank = (t->n - 1) / 2, max = (uint64_t)t->max, low, high;

	for (const struct rk_durations_chunk *c = t->narrow; c; c = c->next)
		narrow += c->n;
	if (rank >= narrow) {
		low = list_rank(t->wide, t->n - narrow, max, rank - narrow);
		high = t->n % 2 ? low : list_next(t->wide, rank - narrow, low);
	} else {
		low = list_rank(t->narrow, narrow, rk_min(max, UINT32_MAX), rank);
		if (t->n % 2)
			high = low;
		else if (rank + 1 == narrow)
			high = list_rank(t->wide, t->n - narrow, max, 0);
		else
			high = list_next(t->narrow, rank, low);
	}
	return (double)low + (double)(high - low) / 2;
}

bool rk_durations_median(const struct rk_durations *t, double *ret_ns)
{
	if (!t->n || t->lost)
		return false;
	if (t->pages)
		*ret_ns = (histogram_rank(t, (t->n - 1) / 2) + histogram_rank(t, t->n / 2)) / 2;
	else
		*ret_ns = exact_middle(t);
	return true;
}

/*
 * With q the mean rounded down and r the remainder, the squared distances from q add up to squares
 * - n q^2 - 2 q r. This is exact: it fits in 128 bits and the arithmetic wraps there. Only the
 * fraction of a nanosecond between q and the mean is rounded.
 */
double rk_durations_stddev(const struct rk_durations *t)
{
	rk_u128 n = t->n, q, r, around_q;
	double var;

	if (!n || t->squares_lost)
		return NAN;
	q = t->sum / n;
	r = t->sum % n;
	around_q = t->squares - n * q * q - 2 * q * r;
	var = ((double)around_q - (double)r * (double)r / (double)n) / (double)n;
	return var > 0 ? sqrt(var) : 0;
}

void rk_durations_release(struct rk_durations *t)
{
	chunks_free(&t->narrow);
	chunks_free(&t->wide);
	while (t->pages) {
		struct rk_durations_page *p = t->pages;

		t->pages = p->next;
		rk_free(p);
	}
}
