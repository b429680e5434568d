/*
 * any.c - a SQLite file whose first pages do not show its format.
 *
 * The names of tables are mostly in the first pages, but not when a killed program left them in the
 * log beside the file, or made tables late. Then we open the file and look at its tables.
 */
#include <string.h>

#include "base/text.h"
#include "read/sql/sql.h"

extern const struct rk_reader_ops rk_reader_sqlite_any;
static int any_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)whole;
	(void)file_name;
	return rk_sql_has_magic(head, len) ? 30 : 0;
}

static bool has_table(const struct rk_sqlite_table *tables, size_t n, const char *prefix)
{
	for (size_t i = 0; i < n; i++)
		if (rk_text_iprefix(tables[i].name, strlen(tables[i].name), prefix))
			return true;
	return false;
}

/* The reader that matches these tables best, or NULL. */
static const struct rk_reader_ops *owner_of(const struct rk_sqlite_table *tables, size_t n)
{
	const struct rk_reader_ops *ops, *best = NULL;
	int score = 0;

	for (size_t i = 0; (ops = rk_reader_at(i)) != NULL; i++)
		for (const struct rk_db_sign *s = ops->db_signs; s && s->prefix; s++)
			if (s->score > score && has_table(tables, n, s->prefix)) {
				score = s->score;
				best = ops;
			}
	return best;
}

static int any_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		    struct rk_error *err)
{
	const struct rk_reader_ops *owner = NULL;
	const char *path, *label = rk_instream_path(in);
	struct rk_sqlite_table *tables = NULL;
	struct rk_sqlite *db = NULL;
	size_t n = 0;
	int rc = rk_instream_plain_path(in, ctx->tmpdir, &path, err);

	if (rc == 0)
		rc = rk_sqlite_open(path, label, ctx->tmpdir, &db, err);
	if (rc == 0)
		rc = rk_sqlite_tables(db, "", &tables, &n, err);
	if (rc == 0)
		owner = owner_of(tables, n);
	if (rc == 0 && !owner)
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "'%s' is a database without tables rockit knows", label);
	rk_sqlite_tables_free(tables, n);
	rk_sqlite_close(db);
	if (rc < 0) {
		rk_error_at(err, label, 0, 0);
		return rc;
	}
	return owner->open(in, ctx, ret, err);
}

/* Opens the reader of that format, so scan and close are that reader's. */
const struct rk_reader_ops rk_reader_sqlite_any = {
	.name = "sqlite",
	.help = "any of the databases above, recognised by its tables",
	.probe = any_probe,
	.open = any_open,
	.serial = true,
};
