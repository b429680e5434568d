/*
 * deflate_join.c - see deflate_join.h.
 *
 * A compressor marks the last block of its output with a bit, but does not say where that bit is.
 * To find it, we walk through all blocks: we decode symbols just enough to know their length, and
 * write nothing. That is much faster than compressing.
 *
 * Bits are taken from the low end of a 64-bit word, which always has enough for one step: a literal
 * or length code (15 bits and 5 extra), a distance (15 bits and 13 extra). Zeros follow the end of
 * the input; a walk that uses them has failed.
 */
#include "archive/deflate_join.h"

#include <stdbool.h>
#include <string.h>

enum { STORED, FIXED, DYNAMIC };
enum { MAX_BITS = 15, LITERALS = 288, DISTANCES = 32, PRECODES = 19 };
enum { INDEX_BITS = 10, PRECODE_BITS = 7 }; /* bits of the table indexes */

/*
 * An entry of a table: the low bits are the length of the symbol in bits, including the extra bits
 * after its code. An entry covers as many literals as fit into the index, and the symbol after
 * them.
 */
enum {
	TAKE = 63, /* a 64-bit shift uses only these bits, so no mask is needed */
	IS_END = 64,
	IS_LONG = 128,              /* longer than the index, or an invalid code */
	IS_MATCH = 1 << INDEX_BITS, /* a distance follows; the value is the start of their table */
};

/* A code sorted by code words, for words longer than a table's index. */
struct code {
	uint16_t count[MAX_BITS + 1]; /* words of each length */
	uint16_t symbols[LITERALS];   /* by word */
};

/* The rest of the input. */
struct bits {
	const uint8_t *p;
	size_t len, at; /* at: the next byte to load; past len if zeros were loaded */
	uint64_t bits;
	unsigned n; /* valid bits; bits above them may also be valid */
};

struct walk {
	struct bits b;
	struct code literal, distance;
	uint16_t table[2 << INDEX_BITS]; /* of literals and lengths, then of distances */
	uint16_t precodes[1 << PRECODE_BITS];
};

/* -- bits --------------------------------------------------------------------------------- */

static inline void refill(struct bits *w)
{
	uint64_t more;

	if (w->at + 8 <= w->len) {
		memcpy(&more, w->p + w->at, 8); /* all supported machines are little endian */
		w->bits |= more << w->n;
		w->at += (63 - w->n) >> 3;
		w->n |= 56;
		return;
	}
	while (w->n <= 56) {
		w->bits |= (uint64_t)(w->at < w->len ? w->p[w->at] : 0) << w->n;
		w->at++;
		w->n += 8;
	}
}

static inline void take(struct bits *w, unsigned n)
{
	w->bits >>= n;
	w->n -= n;
}

/* Reads a number of at most 16 bits. */
static unsigned number(struct bits *w, unsigned n)
{
	unsigned v;

	refill(w);
	v = (unsigned)w->bits & ((1u << n) - 1);
	take(w, n);
	return v;
}

static uint64_t place(const struct bits *w)
{
	return 8 * (uint64_t)w->at - w->n;
}

static bool overrun(const struct bits *w)
{
	return place(w) > 8 * (uint64_t)w->len;
}

/* -- codes -------------------------------------------------------------------------------- */

/* Makes the table entry of a symbol whose code word has `len` bits. */
typedef uint16_t entry_fn(unsigned symbol, unsigned len);

static uint16_t literal_entry(unsigned symbol, unsigned len)
{
	if (symbol < 256)
		return (uint16_t)len;
	if (symbol == 256)
		return (uint16_t)(len | IS_END);
	if (symbol > 285)
		return IS_LONG;
	/*
	 * 257 to 264 and 285 have no extra bits; the others have one more with every four symbols
	 */
	if (symbol >= 265 && symbol < 285)
		len += (symbol - 261) / 4;
	return (uint16_t)(len | IS_MATCH);
}

static uint16_t distance_entry(unsigned symbol, unsigned len)
{
	if (symbol > 29)
		return IS_LONG;
	if (symbol >= 4)
		len += symbol / 2 - 1;
	return (uint16_t)len;
}

/* For the precode the entry keeps the symbol itself. */
static uint16_t precode_entry(unsigned symbol, unsigned len)
{
	return (uint16_t)(symbol << 10 | len);
}

/*
 * Counts the words and sorts the symbols. False for impossible lengths: more words than the bits
 * can encode, or fewer (allowed for a code of one word or none).
 */
static bool order(struct code *c, const uint8_t *lens, unsigned n)
{
	uint16_t next[MAX_BITS + 2] = { 0 };
	int left = 1, used;

	memset(c->count, 0, sizeof(c->count));
	for (unsigned i = 0; i < n; i++)
		c->count[lens[i]]++;
	used = (int)n - c->count[0];
	c->count[0] = 0;
	for (unsigned len = 1; len <= MAX_BITS; len++) {
		left = 2 * left - c->count[len];
		if (left < 0)
			return false;
		next[len + 1] = (uint16_t)(next[len] + c->count[len]);
	}
	for (unsigned i = 0; i < n; i++)
		if (lens[i])
			c->symbols[next[lens[i]]++] = (uint16_t)i;
	return left == 0 || used == 0 || (used == 1 && c->count[1] == 1);
}

/* Code words start at the highest bit, table indexes at the lowest. */
static unsigned reversed(unsigned word, unsigned len)
{
	unsigned r = 0;

	for (; len; len--, word >>= 1)
		r = r << 1 | (word & 1);
	return r;
}

static void fill(const struct code *c, entry_fn *entry, uint16_t *table, unsigned bits)
{
	unsigned word = 0, s = 0;

	for (unsigned i = 0; i < 1u << bits; i++)
		table[i] = IS_LONG;
	for (unsigned len = 1; len <= bits; len++, word <<= 1) {
		for (unsigned k = 0; k < c->count[len]; k++, word++) {
			uint16_t e = entry(c->symbols[s++], len);

			for (unsigned i = reversed(word, len); i < 1u << bits; i += 1u << len)
				table[i] = e;
		}
	}
}

/* Combines the symbols that fit into one index: literals, and the length or end after them. */
static void chain(uint16_t *table)
{
	static const unsigned size = 1u << INDEX_BITS;
	uint16_t single[1 << INDEX_BITS];

	memcpy(single, table, sizeof(single));
	for (unsigned i = 0; i < size; i++) {
		unsigned e = single[i], used = e, next;

		while (e < INDEX_BITS) { /* literals so far: e bits of the index */
			next = single[i >> e];
			/* a length's extra bits follow its code; their value does not matter */
			if (next & IS_LONG || e + (next & TAKE) > INDEX_BITS)
				break;
			used = e + next;
			e = next & (IS_MATCH | IS_END) ? TAKE : used;
		}
		table[i] = (uint16_t)used;
	}
}

/* The entry of a word longer than a table's index; IS_LONG: there is none. */
static unsigned long_entry(const struct code *c, entry_fn *entry, uint64_t bits)
{
	unsigned word = 0, first = 0, s = 0;

	for (unsigned len = 1; len <= MAX_BITS; len++) {
		word |= (unsigned)(bits >> (len - 1)) & 1;
		if (word - first < c->count[len])
			return entry(c->symbols[s + word - first], len);
		s += c->count[len];
		first = (first + c->count[len]) << 1;
		word <<= 1;
	}
	return IS_LONG;
}

/* -- blocks ------------------------------------------------------------------------------- */

static bool make_tables(struct walk *w, const uint8_t *lens, unsigned nliterals,
			unsigned ndistances)
{
	if (!order(&w->literal, lens, nliterals) ||
	    !order(&w->distance, lens + nliterals, ndistances))
		return false;
	fill(&w->literal, literal_entry, w->table, INDEX_BITS);
	chain(w->table);
	fill(&w->distance, distance_entry, w->table + IS_MATCH, INDEX_BITS);
	return true;
}

/* One symbol of the precode: a length, or how often one is repeated. 0: no such symbol. */
static unsigned read_run(struct walk *w, uint8_t last, uint8_t *ret)
{
	unsigned e, symbol;

	refill(&w->b);
	e = w->precodes[w->b.bits % (1 << PRECODE_BITS)];
	if (e == IS_LONG)
		return 0;
	take(&w->b, e & TAKE);
	symbol = e >> 10;
	switch (symbol) {
	case 16:
		*ret = last;
		return 3 + number(&w->b, 2);
	case 17:
		*ret = 0;
		return 3 + number(&w->b, 3);
	case 18:
		*ret = 0;
		return 11 + number(&w->b, 7);
	default:
		*ret = (uint8_t)symbol;
		return 1;
	}
}

static bool dynamic_tables(struct walk *w)
{
	/* the order of the precode's own lengths, the rarest last (RFC 1951, 3.2.7) */
	static const uint8_t at[PRECODES] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
					      11, 4,  12, 3, 13, 2, 14, 1, 15 };
	uint8_t lens[LITERALS + DISTANCES + 138], precode[PRECODES] = { 0 }, last = 0;
	unsigned nliterals = 257 + number(&w->b, 5), ndistances = 1 + number(&w->b, 5);
	unsigned total = nliterals + ndistances, nprecodes, n;
	struct code c;

	if (nliterals > 286 || ndistances > 30)
		return false;
	nprecodes = 4 + number(&w->b, 4);
	for (unsigned i = 0; i < nprecodes; i++)
		precode[at[i]] = (uint8_t)number(&w->b, 3);
	if (!order(&c, precode, PRECODES))
		return false;
	fill(&c, precode_entry, w->precodes, PRECODE_BITS);
	for (unsigned i = 0; i < total; i += n) {
		n = read_run(w, last, &last);
		if (!n || overrun(&w->b) || i + n > total)
			return false;
		memset(lens + i, last, n);
	}
	return lens[256] && make_tables(w, lens, nliterals, ndistances);
}

/* A word that is not in the table: too long, or invalid. */
static __attribute__((noinline)) unsigned long_word(const struct walk *w, unsigned before,
						    uint64_t bits)
{
	if (before & IS_MATCH)
		return long_entry(&w->distance, distance_entry, bits);
	return long_entry(&w->literal, literal_entry, bits);
}

/* The entry after `before`. Only `before` selects the table, so there is no branch. */
static inline unsigned step(struct bits *b, const struct walk *w, unsigned before)
{
	unsigned e = w->table[b->bits % (1 << INDEX_BITS) | (before & IS_MATCH)];

	if (__builtin_expect(e & IS_LONG, 0)) {
		refill(b);
		e = long_word(w, before, b->bits);
		take(b, e & TAKE);
		refill(b);
		return e;
	}
	take(b, e & TAKE);
	return e;
}

/*
 * Two steps for each refill: a distance is never followed by a distance, so they use at most 10 +
 * 13 and 10 + 5 of 56 bits, which leaves enough for the next index.
 */
static bool walk_symbols(struct walk *w)
{
	struct bits b = w->b;
	unsigned e = 0;

	do {
		refill(&b);
		e = step(&b, w, e);
		if (e & (IS_END | IS_LONG))
			break;
		e = step(&b, w, e);
	} while (!(e & (IS_END | IS_LONG)) && b.at <= b.len + 8);
	w->b = b;
	return (e & (IS_END | IS_LONG)) == IS_END;
}

static bool skip_stored(struct bits *w)
{
	uint64_t at = (place(w) + 7) / 8;
	const uint8_t *p = w->p + at;
	unsigned n;

	if (at > w->len || w->len - at < 4)
		return false;
	n = p[0] | (unsigned)p[1] << 8;
	if ((n ^ 0xffff) != (p[2] | (unsigned)p[3] << 8) || w->len - at - 4 < n)
		return false;
	w->at = (size_t)at + 4 + n;
	w->bits = 0;
	w->n = 0;
	return true;
}

static bool skip_block(struct walk *w, unsigned kind)
{
	uint8_t lens[LITERALS + DISTANCES];

	switch (kind) {
	case STORED:
		return skip_stored(&w->b);
	case FIXED:
		memset(lens, 8, 144);
		memset(lens + 144, 9, 112);
		memset(lens + 256, 7, 24);
		memset(lens + 280, 8, 8);
		memset(lens + LITERALS, 5, DISTANCES);
		if (!make_tables(w, lens, LITERALS, DISTANCES))
			return false;
		break;
	case DYNAMIC:
		if (!dynamic_tables(w))
			return false;
		break;
	default:
		return false;
	}
	return walk_symbols(w) && !overrun(&w->b);
}

int rk_deflate_find_last(const void *p, size_t len, struct rk_deflate_place *ret,
			 struct rk_error *err)
{
	struct walk w;
	uint64_t header;
	unsigned bits;

	w.b = (struct bits){ .p = p, .len = len }; /* the tables are filled when they are needed */
	do {
		header = place(&w.b);
		bits = number(&w.b, 3);
		if (overrun(&w.b) || !skip_block(&w, bits >> 1))
			return rk_fail(err, RK_E_FORMAT, "broken deflate stream of %zu bytes", len);
	} while (!(bits & 1));
	*ret = (struct rk_deflate_place){ .last = header, .end = place(&w.b) };
	return 0;
}

int rk_deflate_open(uint8_t *p, size_t *len, struct rk_error *err)
{
	struct rk_deflate_place at;
	size_t end;
	int rc = rk_deflate_find_last(p, *len, &at, err);

	if (rc < 0)
		return rc;
	p[at.last / 8] &= (uint8_t) ~(1u << at.last % 8);
	end = (size_t)((at.end + 7) / 8);
	if (at.end % 8) /* the rest of the byte is undefined */
		p[end - 1] &= (uint8_t)((1u << at.end % 8) - 1);
	/* the new block's header is three zero bits, then zeros up to the next byte */
	if (at.end % 8 == 0 || at.end % 8 > 5)
		p[end++] = 0;
	memcpy(p + end, "\0\0\xff\xff", 4);
	*len = end + 4;
	return 0;
}
