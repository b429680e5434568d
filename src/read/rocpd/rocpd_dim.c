/* rocpd_dim.c - what an id means: rows of the small tables, looked up once and remembered. */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "read/rocpd/rocpd_impl.h"

struct rocpd_dim_def {
	unsigned width; /* columns besides the id */
	struct rk_sqlite_column columns[1 + ROCPD_DIM_WIDTH];
};

#define ID                          \
	{                           \
		"id", RK_SQLITE_INT \
	}
#define INT(name)                   \
	{                           \
		name, RK_SQLITE_INT \
	}
#define TEXT(name)                   \
	{                            \
		name, RK_SQLITE_TEXT \
	}

static const struct rocpd_dim_def defs[ROCPD_NWHAT] = {
	[ROCPD_STRING] = { 1, { ID, TEXT("string") } },
	[ROCPD_NODE] = { 1, { ID, TEXT("hostname") } },
	[ROCPD_PROCESS] = { 1, { ID, INT("pid") } },
	[ROCPD_THREAD] = { 1, { ID, INT("tid") } },
	[ROCPD_AGENT] = { 1, { ID, INT("absolute_index") } },
	[ROCPD_PMC] = { 1, { ID, TEXT("name") } },
	[ROCPD_SYMBOL] = { 5,
			   { ID, TEXT("kernel_name"), TEXT("display_name"), INT("arch_vgpr_count"),
			     INT("accum_vgpr_count"), INT("sgpr_count") } },
	[ROCPD_TRACK] = { 7,
			  { ID, INT("nid"), INT("pid"), INT("tid"), INT("agent_id"),
			    INT("queue_id"), INT("stream_id"), INT("name_id") } },
};

/*
 * Remembered rows: when a keyed dim is full it forgets everything and goes on (it can look again);
 * one that had to be read as a whole stops taking rows.
 */
enum { FIRST_SLOTS = 64, MAX_ROWS = 1 << 16, MAX_WHOLE_ROWS = 1 << 18 };

static uint32_t *slot_of(const struct rocpd_dim *d, int64_t key)
{
	size_t i = rk_hash_u64((uint64_t)key) & d->mask;

	while (d->slots[i] && d->keys[i] != key)
		i = (i + 1) & d->mask;
	return &d->slots[i];
}

static int grow_slots(struct rocpd_dim *d, struct rk_error *err)
{
	size_t n = d->slots ? (d->mask + 1) * 2 : FIRST_SLOTS, old = d->slots ? d->mask + 1 : 0;
	int64_t *old_keys = d->keys, *keys = rk_calloc(n, sizeof(*keys));
	uint32_t *old_slots = d->slots, *slots = rk_calloc(n, sizeof(*slots));

	if (!keys || !slots) {
		rk_free(keys);
		rk_free(slots);
		return rk_fail_nomem(err);
	}
	d->keys = keys;
	d->slots = slots;
	d->mask = n - 1;
	for (size_t i = 0; i < old; i++) {
		uint32_t *s = old_slots[i] ? slot_of(d, old_keys[i]) : NULL;

		if (s) {
			*s = old_slots[i];
			d->keys[s - d->slots] = old_keys[i];
		}
	}
	rk_free(old_keys);
	rk_free(old_slots);
	return 0;
}

static void forget(struct rocpd_dim *d)
{
	memset(d->slots, 0, (d->mask + 1) * sizeof(*d->slots));
	d->n = 0;
	d->last = 0;
}

static int grow_rows(struct rocpd_dim *d, struct rk_error *err)
{
	size_t cap = d->cap ? d->cap * 2 : FIRST_SLOTS;
	int64_t *rows = rk_reallocn(d->rows, cap, d->def->width * sizeof(*rows));

	if (!rows)
		return rk_fail_nomem(err);
	d->rows = rows;
	d->cap = cap;
	return 0;
}

/* A row for `key`, all values NONE; *ret is its index. */
static int add_row(struct rocpd_dim *d, int64_t key, size_t *ret, struct rk_error *err)
{
	uint32_t *slot;
	int rc = 0;

	if (d->c && d->n >= MAX_ROWS)
		forget(d);
	if (!d->slots || d->n * 2 > d->mask)
		rc = grow_slots(d, err);
	if (!rc && d->n == d->cap)
		rc = grow_rows(d, err);
	if (rc < 0)
		return rc;
	slot = slot_of(d, key);
	if (!*slot) {
		*slot = (uint32_t)++d->n;
		d->keys[slot - d->slots] = key;
	}
	*ret = *slot - 1;
	for (unsigned i = 0; i < d->def->width; i++)
		d->rows[*ret * d->def->width + i] = RK_NONE;
	return 0;
}

static int read_value(struct rocpd_dim *d, const struct rk_sqlite_cursor *c, unsigned i,
		      int64_t *ret, struct rk_error *err)
{
	const char *text;
	uint32_t id = 0;
	size_t len;
	int rc = 0;

	if (d->def->columns[i + 1].kind != RK_SQLITE_TEXT) {
		if (rk_sqlite_i64(c, i + 1, ret) == RK_CELL_WRONG)
			rk_diag_add(d->r->ctx->diag, "wrong-type", rk_instream_path(d->r->in), 0, 1,
				    "table '%s' has something that is not a number in '%s'",
				    c->table, d->def->columns[i + 1].name);
		return 0;
	}
	text = rk_sqlite_text(c, i + 1, &len);
	if (text)
		rc = rk_strtab_add(d->r->ctx->names, text, len, &id, err);
	if (text && !rc)
		*ret = id;
	return rc;
}

static int keep_row(struct rocpd_dim *d, const struct rk_sqlite_cursor *c, int64_t key,
		    struct rk_error *err)
{
	size_t row;
	int rc = add_row(d, key, &row, err);

	for (unsigned i = 0; !rc && i < d->def->width; i++)
		rc = read_value(d, c, i, &d->rows[row * d->def->width + i], err);
	return rc;
}

/* For a table without a key, made by CREATE TABLE AS, say: all of it, once. */
static int read_whole(struct rocpd_dim *d, const struct rk_sqlite_table *t, struct rk_error *err)
{
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	int64_t key;
	int rc, step = 0;

	rc = rk_sqlite_cursor_open(d->r->db, t, d->def->columns, d->def->width + 1,
				   RK_SQLITE_STORED, &c, &cause);
	while (!rc && (step = rk_sqlite_cursor_step(c, &cause)) > 0) {
		if (rk_sqlite_i64(c, 0, &key) != RK_CELL_VALUE)
			continue;
		if (d->n == MAX_WHOLE_ROWS) {
			rk_diag_add(d->r->ctx->diag, "lookup-limit", rk_instream_path(d->r->in), 0,
				    1, "table '%s' has no key and more than %d rows", t->name,
				    MAX_WHOLE_ROWS);
			break;
		}
		rc = keep_row(d, c, key, &cause);
	}
	rk_sqlite_cursor_close(c);
	if (step < 0 && !rc)
		rc = step;
	return rk_rocpd_damage(d->r, &cause, rc, err);
}

int rk_rocpd_dim_open(struct rocpd_dim *d, struct rocpd *r, const struct rocpd_set *set,
		      enum rocpd_what what, struct rk_error *err)
{
	const struct rk_sqlite_table *t = set->tables[what];
	struct rk_error cause = { 0 };
	int rc;

	*d = (struct rocpd_dim){ .r = r, .def = &defs[what] };
	if (!t || !rk_sqlite_has(t, "id"))
		return 0;
	if (!rk_sqlite_keyed_by(t, "id"))
		return read_whole(d, t, err);
	rc = rk_sqlite_cursor_open(r->db, t, d->def->columns, d->def->width + 1, RK_SQLITE_FROM_KEY,
				   &d->c, &cause);
	return rk_rocpd_damage(r, &cause, rc, err);
}

/* An id that is not there is remembered too, with no values. */
static int look_up(struct rocpd_dim *d, int64_t id, struct rk_error *err)
{
	struct rk_error cause = { 0 };
	int64_t key = 0;
	size_t row;
	int rc;

	rk_sqlite_cursor_seek(d->c, id);
	rc = rk_sqlite_cursor_step(d->c, &cause);
	if (rc > 0 && rk_sqlite_i64(d->c, 0, &key) == RK_CELL_VALUE && key == id)
		return keep_row(d, d->c, id, err);
	if (rc < 0)
		rc = rk_rocpd_damage(d->r, &cause, rc, err);
	return rc < 0 ? rc : add_row(d, id, &row, err);
}

int rk_rocpd_dim_get(struct rocpd_dim *d, int64_t id, const int64_t **ret, struct rk_error *err)
{
	int rc;

	*ret = NULL;
	if (!d->last || d->last_key != id) {
		d->last = d->slots ? *slot_of(d, id) : 0;
		if (!d->last && d->c) {
			rc = look_up(d, id, err);
			if (rc < 0)
				return rc;
			d->last = *slot_of(d, id);
		}
		d->last_key = id;
	}
	if (d->last)
		*ret = d->rows + (size_t)(d->last - 1) * d->def->width;
	return 0;
}

void rk_rocpd_dim_close(struct rocpd_dim *d)
{
	rk_sqlite_cursor_close(d->c);
	rk_free(d->keys);
	rk_free(d->slots);
	rk_free(d->rows);
	*d = (struct rocpd_dim){ 0 };
}
