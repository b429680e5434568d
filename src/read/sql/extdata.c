/*
 * extdata.c - a minimal JSON parser for columns that contain JSON.
 *
 * It is tolerant: text that is not JSON gives "not found", never an error. It finds a value by
 * skipping the ones before it; skipping only counts open brackets, so it needs no stack.
 */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/sql/sql.h"

enum { MAX_DEPTH = 64 };

static size_t skip_space(struct sql_span j, size_t i)
{
	while (i < j.len && (j.s[i] == ' ' || j.s[i] == '\t' || j.s[i] == '\n' || j.s[i] == '\r'))
		i++;
	return i;
}

/* j.s[i] is the opening quote. Returns the index after the closing quote, 0 if there is none. */
static size_t skip_string(struct sql_span j, size_t i)
{
	for (i++; i < j.len; i++) {
		if (j.s[i] == '\\')
			i++;
		else if (j.s[i] == '"')
			return i + 1;
	}
	return 0;
}

/* Skips one value of any kind. Returns the index after it, 0 if it does not end. */
static size_t skip_value(struct sql_span j, size_t i)
{
	int depth = 0;

	while (i < j.len) {
		char c = j.s[i];

		if (c == '"') {
			i = skip_string(j, i);
			if (!i || depth == 0)
				return i;
			continue;
		}
		if (c == '{' || c == '[') {
			if (++depth > MAX_DEPTH)
				return 0;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				return i;
			if (--depth == 0)
				return i + 1;
		} else if (c == ',' && depth == 0) {
			return i;
		}
		i++;
	}
	return depth == 0 ? i : 0;
}

struct sql_span rk_sql_json(const struct rk_sqlite_cursor *c, unsigned i)
{
	struct sql_span json = { NULL, 0 };

	json.s = rk_sqlite_text(c, i, &json.len);
	if (!json.s)
		json.len = 0;
	return json;
}

static void trim_end(struct sql_span *v)
{
	while (v->len && strchr(" \t\r\n", v->s[v->len - 1]))
		v->len--;
}

bool rk_sql_json_field(struct sql_span j, const char *key, struct sql_span *ret)
{
	size_t key_len = strlen(key), i = skip_space(j, 0);

	if (i >= j.len || j.s[i] != '{')
		return false;
	do {
		size_t k = skip_space(j, i + 1), end, v;

		if (k >= j.len || j.s[k] != '"' || !(end = skip_string(j, k)))
			return false;
		v = skip_space(j, end);
		if (v >= j.len || j.s[v] != ':')
			return false;
		v = skip_space(j, v + 1);
		i = skip_value(j, v);
		if (!i)
			return false;
		if (end - k - 2 == key_len && memcmp(j.s + k + 1, key, key_len) == 0) {
			*ret = (struct sql_span){ j.s + v, i - v };
			trim_end(ret);
			return true;
		}
		i = skip_space(j, i);
	} while (i < j.len && j.s[i] == ',');
	return false;
}

bool rk_sql_json_element(struct sql_span *rest, struct sql_span *ret)
{
	struct sql_span j = *rest;
	size_t v, end;

	if (!j.len || (j.s[0] != '[' && j.s[0] != ','))
		return false;
	v = skip_space(j, 1);
	end = skip_value(j, v);
	if (end <= v)
		return false;
	*ret = (struct sql_span){ j.s + v, end - v };
	trim_end(ret);
	end = skip_space(j, end);
	*rest = (struct sql_span){ j.s + end, j.len - end };
	return true;
}

static bool unquote(struct sql_span *v)
{
	if (v->len < 2 || v->s[0] != '"' || v->s[v->len - 1] != '"')
		return false;
	v->s++;
	v->len -= 2;
	return true;
}

bool rk_sql_json_i64(struct sql_span value, int64_t *ret)
{
	unquote(&value);
	return rk_num_i64(value.s, value.len, ret) == RK_NUM_OK;
}

int64_t rk_sql_json_number(struct sql_span json, const char *key)
{
	struct sql_span value;
	int64_t v;

	if (!rk_sql_json_field(json, key, &value) || !rk_sql_json_i64(value, &v))
		return RK_NONE;
	return v;
}

static int hex4(const char *s)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		char c = s[i];

		if (c >= '0' && c <= '9')
			v = v << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			v = v << 4 | (c - 'A' + 10);
		else
			return -1;
	}
	return v;
}

static void put_utf8(struct rk_bytes *out, uint32_t c)
{
	char u[4];

	rk_bytes_put(out, u, rk_utf8_put(u, c));
}

/* v.s[i] is the 'u' of \uXXXX; returns the index of its last character. */
static size_t put_escape_u(struct rk_bytes *out, struct sql_span v, size_t i)
{
	int hi = -1, lo = -1;
	bool high;

	if (v.len - i > 4)
		hi = hex4(v.s + i + 1);
	high = hi >= 0xd800 && hi < 0xdc00;
	if (hi < 0) {
		put_utf8(out, 0xfffd);
		return i;
	}
	if (high && v.len - i > 10 && v.s[i + 5] == '\\' && v.s[i + 6] == 'u')
		lo = hex4(v.s + i + 7);
	if (high && lo >= 0xdc00 && lo < 0xe000) {
		put_utf8(out, 0x10000u + ((uint32_t)(hi - 0xd800) << 10) + (uint32_t)(lo - 0xdc00));
		return i + 10;
	}
	put_utf8(out, hi >= 0xd800 && hi < 0xe000 ? 0xfffd : (uint32_t)hi);
	return i + 4;
}

bool rk_sql_json_text(struct sql_span v, struct rk_bytes *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

	if (!unquote(&v))
		return false;
	for (size_t i = 0; i < v.len; i++) {
		const char *known;

		if (v.s[i] != '\\' || i + 1 == v.len) {
			rk_bytes_put_u8(out, (uint8_t)v.s[i]);
			continue;
		}
		i++;
		known = v.s[i] ? strchr(from, v.s[i]) : NULL;
		if (known)
			rk_bytes_put_u8(out, (uint8_t)to[known - from]);
		else if (v.s[i] == 'u')
			i = put_escape_u(out, v, i);
		else
			rk_bytes_put_u8(out, (uint8_t)v.s[i]);
	}
	return true;
}
