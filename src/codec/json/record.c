/* record.c - reads selected fields of an object: follows the tokens in a tree of keys. */
#include "codec/json/record.h"

#include <string.h>

#include "base/num.h"

enum { LEVELS_MAX = 16, TEXT_BYTES_MAX = 16 << 20 };

/* An open object or array that has wanted values in it. */
struct level {
	uint8_t node;
	int index; /* of the next element */
};

static uint8_t add_child(struct rk_json_record *r, uint8_t parent, const char *key, unsigned len)
{
	struct rk_json_node *p = &r->nodes[parent];
	uint8_t k = p->first;
	int index = len ? 0 : -1;

	while (k && !(r->nodes[k].len == len && !memcmp(r->nodes[k].key, key, len)))
		k = r->nodes[k].sibling;
	if (k)
		return k;
	for (unsigned i = 0; i < len && index >= 0; i++) {
		if (key[i] < '0' || key[i] > '9' || index > 9999)
			index = -1;
		else
			index = index * 10 + (key[i] - '0');
	}
	k = (uint8_t)r->nnodes++;
	r->nodes[k] = (struct rk_json_node){ .key = key, .len = len, .index = index, .slot = -1 };
	if (p->last)
		r->nodes[p->last].sibling = k;
	else
		p->first = p->hint = k;
	p->last = k;
	return k;
}

void rk_json_record_init(struct rk_json_record *r, const struct rk_json_field *fields, unsigned n,
			 uint64_t want)
{
	*r = (struct rk_json_record){ .fields = fields, .nfields = n, .nnodes = 1 };
	r->nodes[0].slot = -1;
	rk_bytes_init(&r->text, TEXT_BYTES_MAX);
	for (unsigned i = 0; i < n; i++) {
		const char *p = fields[i].path;
		uint8_t node = 0;

		if (!(want >> i & 1))
			continue;
		for (;;) {
			size_t len = strcspn(p, "/");

			node = add_child(r, node, p, (unsigned)len);
			if (!p[len])
				break;
			p += len + 1;
		}
		r->nodes[node].slot = (int)i;
	}
}

void rk_json_record_release(struct rk_json_record *r)
{
	rk_bytes_release(&r->text);
}

/* Keys usually come in the same order as in the previous record. */
static inline uint8_t child_by_key(struct rk_json_record *r, struct rk_json_node *p,
				   const struct rk_json_token *tok)
{
	uint8_t k = p->hint;

	if (!k || r->nodes[k].len != tok->len || memcmp(r->nodes[k].key, tok->text, tok->len))
		for (k = p->first; k; k = r->nodes[k].sibling)
			if (r->nodes[k].len == tok->len &&
			    !memcmp(r->nodes[k].key, tok->text, tok->len))
				break;
	if (k)
		p->hint = r->nodes[k].sibling ? r->nodes[k].sibling : p->first;
	return k;
}

static enum rk_json_has has_of(enum rk_num n)
{
	switch (n) {
	case RK_NUM_OK:
	case RK_NUM_FRACTION:
		return RK_JSON_HAS;
	case RK_NUM_EMPTY:
		return RK_JSON_ABSENT;
	case RK_NUM_RANGE:
		return RK_JSON_RANGE;
	default:
		return RK_JSON_WRONG;
	}
}

static inline enum rk_json_has to_i64(const struct rk_json_token *tok, int64_t *ret)
{
	uint64_t v = 0;

	if (tok->len > 18)
		return has_of(rk_num_i64(tok->text, tok->len, ret));
	for (size_t i = 0; i < tok->len; i++) {
		unsigned d = (unsigned)(uint8_t)tok->text[i] - '0';

		if (d > 9)
			return has_of(rk_num_i64(tok->text, tok->len, ret));
		v = v * 10 + d;
	}
	*ret = (int64_t)v;
	return tok->len ? RK_JSON_HAS : RK_JSON_ABSENT;
}

/* Adds a decimal digit; false if it does not fit into 64 bits. */
static bool shift_in(int64_t *v, unsigned digit)
{
	return !__builtin_mul_overflow(*v, 10, v) && !__builtin_add_overflow(*v, (int64_t)digit, v);
}

/*
 * "1428625731622.25" -> 1428625731622250, digit by digit: a double of that size is off by 100 ns.
 * `places` is the number of decimal places that count, three more than the exponent; the rest is
 * rounded.
 */
static enum rk_json_has digits_ns(const char *p, size_t len, long places, int64_t *ret)
{
	bool point = false, any = false, round = false;
	int64_t v = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned d = (unsigned)(uint8_t)p[i] - '0';

		if (p[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (d > 9)
			return RK_JSON_WRONG;
		any = true;
		if (!point || places > 0) {
			if (!shift_in(&v, d))
				return RK_JSON_RANGE;
		} else if (places == 0) {
			round = d >= 5;
		}
		places -= point;
	}
	for (; places > 0; places--)
		if (v && !shift_in(&v, 0))
			return RK_JSON_RANGE;
	if (round && __builtin_add_overflow(v, 1, &v))
		return RK_JSON_RANGE;
	*ret = v;
	return any ? RK_JSON_HAS : RK_JSON_WRONG;
}

static enum rk_json_has to_ns(const struct rk_json_token *tok, int64_t *ret)
{
	bool negative = tok->len && tok->text[0] == '-';
	const char *p = tok->text + negative, *e;
	size_t len = tok->len - negative;
	int64_t exponent = 0;
	enum rk_json_has has;
	double us = 0;

	if (!tok->len)
		return RK_JSON_ABSENT;
	e = memchr(p, 'e', len);
	if (!e)
		e = memchr(p, 'E', len);
	if (e) {
		if (rk_num_i64(e + 1, len - (size_t)(e + 1 - p), &exponent) != RK_NUM_OK ||
		    exponent > 30)
			return RK_JSON_WRONG;
		len = (size_t)(e - p);
	}
	/* "1.5e-05", as Python writes values below 100 ps: few digits, no loss */
	if (exponent < -2) {
		if (rk_num_f64(tok->text, tok->len, &us) != RK_NUM_OK)
			return RK_JSON_WRONG;
		if (!(us > -1e12 && us < 1e12))
			return RK_JSON_RANGE;
		*ret = (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
		return RK_JSON_HAS;
	}
	has = digits_ns(p, len, 3 + (long)exponent, ret);
	if (has == RK_JSON_HAS && negative)
		*ret = -*ret;
	return has;
}

static inline void store(struct rk_json_record *r, int slot, int kind,
			 const struct rk_json_token *tok)
{
	struct rk_json_value *v = &r->values[slot];
	struct rk_json_token word = *tok;
	uint64_t bits = 0;

	if (kind == RK_JSON_NULL) {
		v->has = RK_JSON_ABSENT;
		return;
	}
	if (kind == RK_JSON_TRUE || kind == RK_JSON_FALSE)
		word = (struct rk_json_token){ kind == RK_JSON_TRUE ? "1" : "0", 1 };
	switch (r->fields[slot].type) {
	case RK_JSON_AS_I64:
		v->has = to_i64(&word, &v->i);
		break;
	case RK_JSON_AS_U64:
		v->has = has_of(rk_num_u64(word.text, word.len, &bits));
		v->i = (int64_t)bits;
		break;
	case RK_JSON_AS_F64:
		v->has = has_of(rk_num_f64(word.text, word.len, &v->f));
		break;
	case RK_JSON_AS_MICRO:
		v->has = to_ns(&word, &v->i);
		break;
	case RK_JSON_AS_TEXT:
	case RK_JSON_AS_JOIN:
		v->has = RK_JSON_HAS;
		v->at = (uint32_t)r->text.len;
		rk_bytes_put(&r->text, word.text, word.len);
		/*
		 * an error is reported at the end of the record; `keep` may read the value before
		 */
		v->len = r->text.bad ? 0 : (uint32_t)word.len;
		break;
	case RK_JSON_AS_LIST:
		v->has = RK_JSON_WRONG;
		break;
	}
}

/* Joins the strings and numbers of the array that was just opened, with blanks between them. */
static int join(struct rk_json_record *r, struct rk_json *j, int slot, struct rk_error *err)
{
	struct rk_json_value *v = &r->values[slot];
	struct rk_json_token tok;
	int kind;

	v->at = (uint32_t)r->text.len;
	v->has = RK_JSON_HAS;
	while ((kind = rk_json_next(j, &tok, err)) >= 0 && kind != RK_JSON_ARRAY_END) {
		if (kind == RK_JSON_OBJECT || kind == RK_JSON_ARRAY) {
			kind = rk_json_skip_rest(j, err);
			if (kind < 0)
				break;
		} else if (kind == RK_JSON_STRING || kind == RK_JSON_NUMBER) {
			if (r->text.len > v->at)
				rk_bytes_put_u8(&r->text, ' ');
			rk_bytes_put(&r->text, tok.text, tok.len);
		}
	}
	v->len = (uint32_t)(r->text.len - v->at);
	return kind < 0 ? kind : 0;
}

/* Handles the beginning of the value of node `k`; *deeper if it opens a level of its own. */
static inline int take(struct rk_json_record *r, struct rk_json *j, uint8_t k, int kind,
		       const struct rk_json_token *tok, bool *deeper, struct rk_error *err)
{
	int slot = r->nodes[k].slot;

	*deeper = false;
	if (kind != RK_JSON_OBJECT && kind != RK_JSON_ARRAY) {
		if (slot >= 0)
			store(r, slot, kind, tok);
		return 0;
	}
	if (k && r->nodes[k].first) {
		*deeper = true;
		return 0;
	}
	if (slot >= 0 && kind == RK_JSON_ARRAY && r->fields[slot].type == RK_JSON_AS_JOIN)
		return join(r, j, slot, err);
	if (slot >= 0 && kind == RK_JSON_ARRAY && r->fields[slot].type == RK_JSON_AS_LIST) {
		r->values[slot].has = RK_JSON_HAS;
		return r->list(r->arg, j, err);
	}
	if (slot >= 0)
		r->values[slot].has = RK_JSON_WRONG;
	return rk_json_skip_rest(j, err);
}

static int walk(struct rk_json_record *r, struct rk_json *j, struct rk_error *err)
{
	struct level levels[LEVELS_MAX] = { { 0 } }, *l = levels;
	unsigned depth = rk_json_depth(j);
	struct rk_json_token tok;
	bool deeper;
	int kind, slot, rc;

	while ((kind = rk_json_next(j, &tok, err)) > RK_JSON_END) {
		uint8_t k;

		if (kind == RK_JSON_OBJECT_END || kind == RK_JSON_ARRAY_END) {
			if (l == levels)
				return 0;
			l--;
			continue;
		}
		if (kind == RK_JSON_KEY) {
			k = child_by_key(r, &r->nodes[l->node], &tok);
			kind = rk_json_next(j, &tok, err);
			if (kind < 0)
				return kind;
		} else {
			k = r->nodes[l->node].first;
			while (k && r->nodes[k].index != l->index)
				k = r->nodes[k].sibling;
			l->index++;
		}
		rc = take(r, j, k, kind, &tok, &deeper, err);
		if (rc < 0)
			return rc;
		slot = r->nodes[k].slot;
		if (k && slot >= 0 && r->fields[slot].decide && r->keep && !r->keep(r->arg, r)) {
			r->dropped = true;
			while (rk_json_depth(j) >= depth) {
				rc = rk_json_skip_rest(j, err);
				if (rc < 0)
					return rc;
			}
			return 0;
		}
		if (deeper && l + 1 == levels + LEVELS_MAX)
			return rk_fail(err, RK_E_LIMIT, "field path too long");
		if (deeper)
			*++l = (struct level){ .node = k };
	}
	return kind;
}

int rk_json_record_read(struct rk_json_record *r, struct rk_json *j, struct rk_error *err)
{
	int rc;

	for (unsigned i = 0; i < r->nfields; i++)
		r->values[i].has = RK_JSON_ABSENT;
	r->nodes[0].hint = r->nodes[0].first;
	r->dropped = false;
	rk_bytes_clear(&r->text);
	rc = walk(r, j, err);
	if (rc < 0 || !r->text.bad)
		return rc;
	if (r->text.len < TEXT_BYTES_MAX / 2)
		return rk_fail_nomem(err);
	return rk_fail(err, RK_E_LIMIT, "a record has more than 16 MiB of text");
}

int rk_json_record_rest(struct rk_json_record *r, struct rk_json *j,
			int (*each)(void *arg, struct rk_json_record *r, struct rk_error *err),
			void *arg, struct rk_error *err)
{
	struct rk_json_token tok;
	int kind, rc = 0;

	while ((kind = rk_json_next(j, &tok, err)) != RK_JSON_ARRAY_END) {
		if (kind < 0)
			return kind;
		rc = 0;
		if (kind == RK_JSON_ARRAY) {
			rc = rk_json_skip_rest(j, err);
		} else if (kind == RK_JSON_OBJECT) {
			rc = rk_json_record_read(r, j, err);
			if (rc == 0)
				rc = each(arg, r, err);
		}
		if (rc < 0)
			return rc;
	}
	return rc;
}

int rk_json_record_each(struct rk_json_record *r, struct rk_json *j,
			int (*each)(void *arg, struct rk_json_record *r, struct rk_error *err),
			void *arg, struct rk_error *err)
{
	struct rk_json_token tok;
	int rc, kind = rk_json_next(j, &tok, err);

	if (kind == RK_JSON_ARRAY)
		return rk_json_record_rest(r, j, each, arg, err);
	if (kind != RK_JSON_OBJECT)
		return kind < 0 ? kind : 0;
	rc = rk_json_record_read(r, j, err);
	return rc < 0 ? rc : each(arg, r, err);
}
