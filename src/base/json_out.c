/* json_out.c - see json_out.h. */
#include "base/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"

static bool on_one_line(const struct rk_json_out *j)
{
	return j->flat && j->depth >= j->flat;
}

static void new_line(struct rk_json_out *j)
{
	rk_bytes_put_u8(j->out, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		rk_bytes_put_u8(j->out, ' ');
}

/* Writes what comes before a member: comma, indentation, key. */
static void member(struct rk_json_out *j, const char *key)
{
	if (!j->depth || j->depth >= RK_JSON_OUT_DEPTH)
		return;
	if (j->some[j->depth])
		rk_bytes_puts(j->out, on_one_line(j) ? ", " : ",");
	if (!on_one_line(j))
		new_line(j);
	j->some[j->depth] = true;
	if (key) {
		rk_json_string(j->out, key, strlen(key));
		rk_bytes_puts(j->out, ": ");
	}
}

static void open_level(struct rk_json_out *j, const char *key, bool array, bool flat)
{
	member(j, key);
	rk_bytes_put_u8(j->out, array ? '[' : '{');
	j->depth++;
	if (j->depth >= RK_JSON_OUT_DEPTH) {
		j->out->bad = true;
		return;
	}
	j->some[j->depth] = false;
	j->array[j->depth] = array;
	if (flat && !j->flat)
		j->flat = j->depth;
}

void rk_json_begin(struct rk_json_out *j, struct rk_bytes *out)
{
	*j = (struct rk_json_out){ .out = out };
	open_level(j, NULL, false, false);
}

void rk_json_close(struct rk_json_out *j)
{
	bool flat = on_one_line(j), some;

	if (!j->depth || j->depth >= RK_JSON_OUT_DEPTH)
		return;
	some = j->some[j->depth];
	if (j->flat == j->depth)
		j->flat = 0;
	j->depth--;
	if (some && !flat)
		new_line(j);
	rk_bytes_put_u8(j->out, j->array[j->depth + 1] ? ']' : '}');
}

void rk_json_end(struct rk_json_out *j)
{
	rk_json_close(j);
	rk_bytes_put_u8(j->out, '\n');
}

void rk_json_raw(struct rk_json_out *j, const char *key, const void *json, size_t len)
{
	member(j, key);
	rk_bytes_put(j->out, json, len);
}

void rk_json_object(struct rk_json_out *j, const char *key)
{
	open_level(j, key, false, false);
}

void rk_json_object_flat(struct rk_json_out *j, const char *key)
{
	open_level(j, key, false, true);
}

void rk_json_array(struct rk_json_out *j, const char *key)
{
	open_level(j, key, true, false);
}

void rk_json_array_flat(struct rk_json_out *j, const char *key)
{
	open_level(j, key, true, true);
}

void rk_json_null(struct rk_json_out *j, const char *key)
{
	member(j, key);
	rk_bytes_puts(j->out, "null");
}

void rk_json_text(struct rk_json_out *j, const char *key, const char *s)
{
	if (!s) {
		rk_json_null(j, key);
		return;
	}
	member(j, key);
	rk_json_string(j->out, s, strlen(s));
}

void rk_json_int(struct rk_json_out *j, const char *key, int64_t v)
{
	member(j, key);
	rk_bytes_printf(j->out, "%" PRId64, v);
}

void rk_json_uint(struct rk_json_out *j, const char *key, uint64_t v)
{
	member(j, key);
	rk_bytes_printf(j->out, "%" PRIu64, v);
}

void rk_json_real(struct rk_json_out *j, const char *key, double v)
{
	char text[32];

	if (!isfinite(v)) {
		rk_json_null(j, key);
		return;
	}
	member(j, key);
	rk_bytes_put(j->out, text, rk_num_put_f64(text, v));
}

void rk_json_bool(struct rk_json_out *j, const char *key, bool v)
{
	member(j, key);
	rk_bytes_puts(j->out, v ? "true" : "false");
}

void rk_json_list(struct rk_json_out *j, const char *key, const struct rk_list *l)
{
	j->out->bad = j->out->bad || l->bad;
	rk_json_array_flat(j, key);
	for (size_t i = 0; i < l->n; i++)
		rk_json_text(j, NULL, l->v[i]);
	rk_json_close(j);
}

void rk_json_pairs(struct rk_json_out *j, const char *key, const struct rk_list *l)
{
	j->out->bad = j->out->bad || l->bad;
	rk_json_object_flat(j, key);
	for (size_t i = 0; i < l->n; i++) {
		size_t len = strcspn(l->v[i], "=");
		const char *value = l->v[i] + len + (l->v[i][len] == '=');

		member(j, NULL);
		rk_json_string(j->out, l->v[i], len);
		rk_bytes_puts(j->out, ": ");
		rk_json_string(j->out, value, strlen(value));
	}
	rk_json_close(j);
}
