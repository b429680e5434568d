/* json_out.h - writes JSON: commas, quotes and indentation. */
#ifndef RK_JSON_OUT_H
#define RK_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/list.h"

enum { RK_JSON_OUT_DEPTH = 32 };

/*
 * Appends to `out`; check out->bad at the end. A NULL key means a member of an array. Objects and
 * arrays have one member per line unless they are opened as `flat`; everything inside a flat one is
 * flat too.
 */
struct rk_json_out {
	struct rk_bytes *out;
	unsigned depth, flat; /* flat: everything from this depth on is on one line; 0: none */
	bool some[RK_JSON_OUT_DEPTH]; /* the level has a member already */
	bool array[RK_JSON_OUT_DEPTH];
};

void rk_json_begin(struct rk_json_out *j, struct rk_bytes *out); /* opens the outer object */
void rk_json_end(struct rk_json_out *j);                         /* closes it, ends the line */

void rk_json_object(struct rk_json_out *j, const char *key);
void rk_json_object_flat(struct rk_json_out *j, const char *key);
void rk_json_array(struct rk_json_out *j, const char *key);
void rk_json_array_flat(struct rk_json_out *j, const char *key);
void rk_json_close(struct rk_json_out *j); /* the innermost object or array */

void rk_json_text(struct rk_json_out *j, const char *key, const char *s); /* NULL: null */
void rk_json_int(struct rk_json_out *j, const char *key, int64_t v);
void rk_json_uint(struct rk_json_out *j, const char *key, uint64_t v);
void rk_json_real(struct rk_json_out *j, const char *key, double v); /* not finite: null */
void rk_json_bool(struct rk_json_out *j, const char *key, bool v);
void rk_json_null(struct rk_json_out *j, const char *key);
void rk_json_raw(struct rk_json_out *j, const char *key, const void *json, size_t len); /* as is */
/* A flat array of strings. If the list is bad, `out` becomes bad; also in rk_json_pairs. */
void rk_json_list(struct rk_json_out *j, const char *key, const struct rk_list *l);
/* "NAME=VALUE" entries as an object of strings. */
void rk_json_pairs(struct rk_json_out *j, const char *key, const struct rk_list *l);

#endif
