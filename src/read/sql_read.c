/* sql_read.c - opening a SQLite file and choosing its tables. */
#include "read/sql_read.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

bool rk_sql_has_mark(const void *head, size_t len, const char *const *marks, size_t nmarks)
{
	static const char magic[16] = "SQLite format 3";

	if (len < sizeof(magic) || memcmp(head, magic, sizeof(magic)) != 0)
		return false;
	for (size_t i = 0; i < nmarks; i++)
		if (memmem(head, len, marks[i], strlen(marks[i])))
			return true;
	return false;
}

const struct rk_sqlite_table *rk_sql_table(const struct sql_reader *r, const char *name)
{
	for (size_t i = 0; i < r->ntables; i++)
		if (rk_text_ieq(r->tables[i].name, strlen(r->tables[i].name), name))
			return &r->tables[i];
	return NULL;
}

int rk_sql_damage(struct sql_reader *r, struct rk_error *cause, int rc, struct rk_error *err)
{
	return rk_sqlite_tolerate(r->ctx->diag, rk_instream_path(r->in), cause, rc, err);
}

static void warn_about_file(struct sql_reader *r)
{
	const char *path = rk_instream_path(r->in), *hot = rk_sqlite_hot(r->db);
	char message[64];

	if (hot) {
		snprintf(message, sizeof(message), "a '%s' file lay beside it: both are read", hot);
		rk_diag_most(r->ctx->diag, "hot-wal", path, 0, 1, message);
	}
	if (rk_sqlite_cut(r->db))
		rk_diag_most(r->ctx->diag, "damaged-database", path, 0, 1,
			     "the file is shorter than its header says: what is there is read");
}

static bool applies(const struct sql_reader *r, const struct sql_part *p)
{
	const struct rk_sqlite_table *t = rk_sql_table(r, p->table);

	return t && (!p->fits || p->fits(r, t)) && (!p->nth || p->nth(t, 0));
}

static void find_tables(struct sql_reader *r)
{
	for (size_t i = 0; i < r->format->nplans; i++) {
		const struct sql_plan *plan = &r->format->plans[i];

		for (size_t k = 0; k < plan->nparts; k++)
			if (applies(r, &plan->parts[k]))
				r->base.tables |= RK_TABLE_BIT(plan->table);
	}
}

static int open_database(struct sql_reader *r, struct rk_error *err)
{
	const char *path, *label = rk_instream_path(r->in);
	int rc = rk_instream_plain_path(r->in, r->ctx->tmpdir, &path, err);

	if (!rc)
		rc = rk_sqlite_open(path, label, r->ctx->tmpdir, &r->db, err);
	if (!rc)
		rc = rk_sqlite_tables(r->db, "", &r->tables, &r->ntables, err);
	if (!rc)
		find_tables(r);
	if (!rc && !r->base.tables)
		rc = rk_fail(err, RK_E_UNSUPPORTED, "'%s' is a database without %s tables", label,
			     r->format->what);
	if (!rc && r->format->opened)
		rc = r->format->opened(r, err);
	if (rc < 0)
		rk_error_at(err, label, 0, 0);
	return rc;
}

static void free_reader(struct sql_reader *r)
{
	rk_sqlite_tables_free(r->tables, r->ntables);
	rk_sqlite_close(r->db);
	rk_free(r);
}

int rk_sql_open(const struct sql_format *f, struct rk_instream *in, struct rk_context *ctx,
		struct rk_reader **ret, struct rk_error *err)
{
	struct sql_reader *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = f->ops;
	r->format = f;
	r->in = in;
	r->ctx = ctx;
	r->node = RK_NONE;
	rc = open_database(r, err);
	if (rc < 0) {
		free_reader(r);
		return rc;
	}
	warn_about_file(r);
	*ret = &r->base;
	return 0;
}

void rk_sql_close(struct rk_reader *base)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct rk_instream *in = r->in;

	free_reader(r);
	rk_instream_close(in);
}
