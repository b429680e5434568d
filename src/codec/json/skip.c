/*
 * skip.c - skips values without parsing them.
 *
 * Windows of 64 bytes become bit masks: quotes, backslashes, opening and closing brackets. A quote
 * after an odd number of backslashes is text. The running parity of the other quotes tells which
 * bytes are inside strings. Brackets outside strings change the depth. State between windows:
 * `escape` (the first byte is escaped, 0 or 1) and `inside` (the window begins in a string, 0 or
 * all ones).
 */
#include <string.h>

#include "codec/json/impl.h"

struct skipper {
	uint64_t escape, inside;
	unsigned depth; /* open objects and arrays */
	unsigned most;
};

/* Marks bytes that are escaped: those after an odd number of backslashes. */
static inline uint64_t escaped(uint64_t backslash, uint64_t *carry)
{
	const uint64_t even = 0x5555555555555555u;
	uint64_t follows, odd_runs, ends;
	bool over;

	if (!backslash) {
		follows = *carry;
		*carry = 0;
		return follows;
	}
	backslash &= ~*carry;
	follows = backslash << 1 | *carry;
	odd_runs = backslash & ~even & ~follows;
	over = __builtin_add_overflow(odd_runs, backslash, &ends);
	*carry = over;
	return (even ^ ends << 1) & follows;
}

/*
 * `n` bytes of the window are valid, the rest is blanks. Returns the number of bytes up to the
 * bracket where the depth reaches 0; n: it does not; -1: too deep.
 */
static inline int window(struct skipper *s, const char *p, unsigned n)
{
	rk_json_vec v[4], w[4], bit = JSON_SET(0x20);
	uint64_t in, text, open, brackets;

	for (unsigned i = 0; i < 4; i++) {
		v[i] = JSON_LOAD(p + 16 * i);
		w[i] = JSON_OR(v[i], bit); /* [ ] become { } */
	}
#define ALL(x, c) \
	rk_json_bits(JSON_EQ(x[0], c), JSON_EQ(x[1], c), JSON_EQ(x[2], c), JSON_EQ(x[3], c))
	text = escaped(ALL(v, '\\'), &s->escape);
	if (n < 64)
		s->escape = text >> n & 1;
	/* the parity of the quotes up to each byte */
	in = ALL(v, '"') & ~text;
	in ^= in << 1;
	in ^= in << 2;
	in ^= in << 4;
	in ^= in << 8;
	in ^= in << 16;
	in ^= in << 32;
	in ^= s->inside;
	s->inside = in >> 63 ? ~UINT64_C(0) : 0;
	open = ALL(w, '{');
	for (brackets = (open | ALL(w, '}')) & ~in; brackets; brackets &= brackets - 1) {
		if (open & brackets & -brackets) {
			if (++s->depth > s->most)
				return -1;
		} else if (--s->depth == 0) {
			return __builtin_ctzll(brackets) + 1;
		}
	}
#undef ALL
	return (int)n;
}

static int too_deep(struct rk_json *j, struct rk_error *err)
{
	return rk_json_fail_at(j, j->pos, RK_E_LIMIT, "nesting deeper than 511 levels", err);
}

/* Skips the rest of the block; pos ends after it, or after the bracket that closes the value. */
static int skip_block(struct rk_json *j, struct skipper *s, struct rk_error *err)
{
	char tail[64];
	size_t n;
	int k = 0;

	for (; j->end - j->pos >= 64; j->pos += 64) {
		k = window(s, j->pos, 64);
		if (k < 0)
			return too_deep(j, err);
		if (!s->depth) {
			j->pos += k;
			return 0;
		}
	}
	n = (size_t)(j->end - j->pos);
	if (!n)
		return 0;
	memset(tail, ' ', sizeof(tail));
	memcpy(tail, j->pos, n);
	k = window(s, tail, (unsigned)n);
	if (k < 0)
		return too_deep(j, err);
	j->pos += k;
	return 0;
}

int rk_json_skip_rest(struct rk_json *j, struct rk_error *err)
{
	struct skipper s = { .depth = 1, .most = RK_JSON_DEPTH_MAX - j->depth };
	unsigned depth = j->depth;
	struct rk_json_token tok;
	int rc;

	if (!depth)
		return 0;
	while (j->loose) { /* the parity of quotes says nothing */
		rc = rk_json_next(j, &tok, err);
		if (rc < 0)
			return rc;
		if (j->depth < depth)
			return 0;
	}
	for (;;) {
		rc = skip_block(j, &s, err);
		if (rc < 0)
			return rc;
		if (!s.depth)
			break;
		rc = rk_json_refill(j, err);
		if (rc <= 0)
			return rc < 0 ? rc : rk_json_fail_end(j, err);
	}
	j->depth--;
	rk_json_value_done(j);
	return 0;
}

int rk_json_skip_value(struct rk_json *j, struct rk_error *err)
{
	struct rk_json_token tok;
	int kind = rk_json_next(j, &tok, err);

	if (kind == RK_JSON_OBJECT || kind == RK_JSON_ARRAY)
		return rk_json_skip_rest(j, err);
	return kind < 0 ? kind : 0;
}

int rk_json_jump(struct rk_json *j, uint64_t offset, struct rk_error *err)
{
	while (j->base + (uint64_t)(j->end - j->buf) < offset) {
		int rc;

		j->pos = j->end;
		rc = rk_json_refill(j, err);
		if (rc <= 0)
			return rc < 0 ? rc : rk_json_fail_end(j, err);
	}
	if (offset > rk_json_offset(j))
		j->pos = j->buf + (offset - j->base);
	rk_json_value_done(j);
	return 0;
}
