/* sql_lookup.c - ids that stand for text: a small cache before a seek by key. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "read/sql_read.h"

enum { MAX_WHOLE_ROWS = 1 << 18 };

static int compare_pairs(const void *a, const void *b)
{
	int64_t x = ((const struct sql_pair *)a)->key, y = ((const struct sql_pair *)b)->key;

	return (x > y) - (x < y);
}

static int text_of_row(struct sql_lookup *l, const struct rk_sqlite_cursor *c, int64_t *ret,
		       struct rk_error *err)
{
	size_t len;
	const char *text = rk_sqlite_text(c, 1, &len);
	uint32_t id;
	int rc;

	*ret = RK_NONE;
	if (!text)
		return 0;
	rc = rk_strtab_add(l->r->ctx->names, text, len, &id, err);
	if (rc == 0)
		*ret = id;
	return rc;
}

static int add_pair(struct sql_lookup *l, const struct rk_sqlite_cursor *c, struct rk_error *err)
{
	struct sql_pair *grown, pair;
	int rc;

	if (rk_sqlite_i64(c, 0, &pair.key) != RK_CELL_VALUE)
		return 0;
	if ((l->n & (l->n - 1)) == 0) {
		grown = rk_reallocn(l->pairs, l->n ? l->n * 2 : 1, sizeof(*grown));
		if (!grown)
			return rk_fail_nomem(err);
		l->pairs = grown;
	}
	rc = text_of_row(l, c, &pair.value, err);
	if (rc == 0)
		l->pairs[l->n++] = pair;
	return rc;
}

/* For a table without a key, made by CREATE TABLE AS, say: all of it, once. */
static int read_whole(struct sql_lookup *l, const struct rk_sqlite_table *t,
		      const struct rk_sqlite_column *columns, struct rk_error *err)
{
	struct rk_sqlite_cursor *c = NULL;
	int rc = rk_sqlite_cursor_open(l->r->db, t, columns, 2, RK_SQLITE_STORED, &c, err);

	while (rc == 0 && (rc = rk_sqlite_cursor_step(c, err)) > 0) {
		if (l->n == MAX_WHOLE_ROWS) {
			rk_diag_add(l->r->ctx->diag, "lookup-limit", rk_instream_path(l->r->in), 0,
				    1, "table '%s' has no key and more than %d rows", t->name,
				    MAX_WHOLE_ROWS);
			rc = 0;
			break;
		}
		rc = add_pair(l, c, err);
	}
	rk_sqlite_cursor_close(c);
	if (l->n)
		qsort(l->pairs, l->n, sizeof(*l->pairs), compare_pairs);
	return rc;
}

static int open_lookup(struct sql_lookup *l, const struct sql_lookup_def *def, struct rk_error *err)
{
	const struct rk_sqlite_table *t = rk_sql_table(l->r, def->table);
	struct rk_sqlite_column columns[] = { { def->key, RK_SQLITE_INT },
					      { def->value, RK_SQLITE_TEXT } };

	l->open = true;
	if (!t || !rk_sqlite_has(t, def->key) || !rk_sqlite_has(t, def->value))
		return 0;
	if (!rk_sqlite_keyed_by(t, def->key))
		return read_whole(l, t, columns, err);
	l->pairs = rk_calloc(SQL_CACHE, sizeof(*l->pairs));
	if (!l->pairs)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < SQL_CACHE; i++)
		l->pairs[i].key = RK_NONE;
	return rk_sqlite_cursor_open(l->r->db, t, columns, 2, RK_SQLITE_FROM_KEY, &l->c, err);
}

/* An id that is not there is remembered too. */
static int seek(struct sql_lookup *l, int64_t key, int64_t *ret, struct rk_error *err)
{
	struct sql_pair *place = &l->pairs[rk_hash_u64((uint64_t)key) % SQL_CACHE];
	int64_t found = 0, value = RK_NONE;
	int rc = 0;

	if (place->key != key) {
		rk_sqlite_cursor_seek(l->c, key);
		rc = rk_sqlite_cursor_step(l->c, err);
		if (rc > 0 && rk_sqlite_i64(l->c, 0, &found) == RK_CELL_VALUE && found == key)
			rc = text_of_row(l, l->c, &value, err);
		if (rc < 0)
			return rc;
		*place = (struct sql_pair){ key, value };
	}
	*ret = place->value;
	return 0;
}

int64_t rk_sql_lookup(struct sql_lookup *l, struct sql_reader *r, const struct sql_lookup_def *def,
		      int64_t key, struct rk_error *err)
{
	struct sql_pair wanted = { .key = key }, *found;
	struct rk_error cause = { 0 };
	int64_t value = RK_NONE;
	int rc = 0;

	if (key == RK_NONE)
		return RK_NONE;
	l->r = r;
	if (!l->open)
		rc = open_lookup(l, def, &cause);
	if (rc == 0 && l->c)
		rc = seek(l, key, &value, &cause);
	else if (rc == 0 && l->n) {
		found = bsearch(&wanted, l->pairs, l->n, sizeof(*l->pairs), compare_pairs);
		value = found ? found->value : RK_NONE;
	}
	rk_sql_damage(r, &cause, rc, err);
	return value;
}

void rk_sql_lookup_close(struct sql_lookup *l)
{
	rk_sqlite_cursor_close(l->c);
	rk_free(l->pairs);
	*l = (struct sql_lookup){ 0 };
}
