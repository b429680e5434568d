/* rocpd_event.c - the event that belongs to a row. */
#include <string.h>

#include "read/rocpd/rocpd_impl.h"

/* Rows to step over before a seek is cheaper. */
enum { NEAR_ROWS = 32 };

int rk_rocpd_events_open(struct rocpd_events *e, struct rocpd *r, const struct rocpd_set *set,
			 unsigned columns, struct rk_error *err)
{
	static const struct rk_sqlite_column all[EVENT_NCOLUMNS] = {
		[EVENT_ID] = { .name = "id" },
		[EVENT_CATEGORY] = { .name = "category_id" },
		[EVENT_STACK] = { .name = "stack_id" },
		[EVENT_EXTDATA] = { "extdata", RK_SQLITE_TEXT },
	};
	const struct rk_sqlite_table *t = set->tables[ROCPD_EVENT];
	struct rk_sqlite_column wanted[EVENT_NCOLUMNS];
	struct rk_error cause = { 0 };
	int rc;

	*e = (struct rocpd_events){ .r = r };
	if (!t || !rk_sqlite_has(t, "id"))
		return 0;
	memcpy(wanted, all, sizeof(wanted));
	for (unsigned i = 0; i < EVENT_NCOLUMNS; i++)
		if (i != EVENT_ID && !(columns >> i & 1))
			wanted[i].name = NULL;
	e->keyed = rk_sqlite_keyed_by(t, "id");
	rc = rk_sqlite_cursor_open(r->db, t, wanted, EVENT_NCOLUMNS,
				   e->keyed ? RK_SQLITE_FROM_KEY : RK_SQLITE_STORED, &e->c, &cause);
	return rk_rocpd_damage(r, &cause, rc, err);
}

static int step(struct rocpd_events *e, struct rk_error *err)
{
	int rc = rk_sqlite_cursor_step(e->c, &e->cause);

	e->on_row = rc > 0;
	e->ended = rc <= 0;
	if (rc < 0)
		return rk_rocpd_damage(e->r, &e->cause, rc, err);
	if (rc > 0 && rk_sqlite_i64(e->c, EVENT_ID, &e->at) != RK_CELL_VALUE)
		e->at = INT64_MIN;
	return rc;
}

int rk_rocpd_events_find(struct rocpd_events *e, int64_t id, struct rk_error *err)
{
	int64_t ahead;
	int rc = 1;

	if (!e->c)
		return 0;
	if (e->on_row && e->at == id)
		return 1;
	if (e->ended && !e->keyed)
		return 0;
	if (e->keyed && (!e->on_row || id < e->at || __builtin_sub_overflow(id, e->at, &ahead) ||
			 ahead > NEAR_ROWS)) {
		rk_sqlite_cursor_seek(e->c, id);
		rc = step(e, err);
	}
	while (rc > 0 && (!e->on_row || e->at < id))
		rc = step(e, err);
	return rc < 0 ? rc : rc > 0 && e->at == id;
}

void rk_rocpd_events_close(struct rocpd_events *e)
{
	rk_sqlite_cursor_close(e->c);
	*e = (struct rocpd_events){ 0 };
}
