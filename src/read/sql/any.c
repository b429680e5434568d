/*
 * any.c - a SQLite file whose first pages do not show its format.
 *
 * Table names are mostly in the first pages, unless a killed program left them in the log next to
 * the file, or the tables were created late. Then we open the file and look at its tables.
 */
#include <string.h>

#include "base/text.h"
#include "read/sql/sql.h"

static int any_probe(const struct rk_head *head)
{
	return rk_sql_has_magic(head) ? 30 : 0;
}

/* How well the tables match a format; 0: not at all. */
static int score_of(const struct rk_reader_ops *ops, const struct rk_sqlite_table *tables, size_t n)
{
	int score = 0;

	for (const struct rk_db_sign *s = ops->db_signs; s && s->prefix; s++)
		for (size_t i = 0; s->score > score && i < n; i++)
			if (rk_text_iprefix(tables[i].name, strlen(tables[i].name), s->prefix))
				score = s->score;
	return score;
}

static int any_open(const struct rk_reader_ops *any, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err)
{
	const struct rk_reader_ops *ops, *owner = NULL;
	const char *path, *label = rk_instream_path(in);
	struct rk_sqlite_table *tables = NULL;
	struct rk_sqlite *db = NULL;
	size_t n = 0;
	int rc, best = 0;

	(void)any;
	if ((rc = rk_instream_plain_path(in, ctx->tmpdir, &path, err)) < 0 ||
	    (rc = rk_sqlite_open(path, label, ctx->tmpdir, &db, err)) < 0 ||
	    (rc = rk_sqlite_tables(db, "", &tables, &n, err)) < 0)
		goto out;
	for (size_t i = 0; (ops = rk_reader_at(i)) != NULL; i++) {
		int score = score_of(ops, tables, n);

		if (score > best) {
			best = score;
			owner = ops;
		}
	}
	if (!owner)
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "'%s' is a database without tables rockit knows", label);
out:
	rk_sqlite_tables_free(tables, n);
	rk_sqlite_close(db);
	if (rc < 0) {
		rk_error_at(err, label, 0, 0);
		return rc;
	}
	return owner->open(owner, in, ctx, ret, err);
}

/* Opens the file with the reader of that format, so scan and close are that reader's. */
const struct rk_reader_ops rk_reader_sqlite_any = {
	.name = "sqlite",
	.help = "any of the databases above, recognised by its tables",
	.probe = any_probe,
	.open = any_open,
	.serial = true,
};
