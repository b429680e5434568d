/*
 * sqlite_any.c - a SQLite file whose beginning does not tell whose it is.
 *
 * The names of tables stand in the first pages mostly, but not when a killed program left them in
 * the log beside the file, or made tables late. Then the file is opened and asked.
 */
#include <string.h>

#include "base/text.h"
#include "codec/sqlite/sqlite_db.h"
#include "read/reader.h"

extern const struct rk_reader_ops rk_reader_sqlite_any;
extern const struct rk_reader_ops rk_reader_rocpd, rk_reader_nsys_sqlite, rk_reader_rocprof_v1_db,
	rk_reader_compute_db;

/* Beginnings of names of tables, the surest first. */
static const struct {
	const char *name;
	const struct rk_reader_ops *reader;
} owners[] = {
	{ "rocpd_", &rk_reader_rocpd },
	{ "CUPTI_ACTIVITY_KIND_", &rk_reader_nsys_sqlite },
	{ "NVTX_EVENTS", &rk_reader_nsys_sqlite },
	{ "compute_dispatch", &rk_reader_compute_db },
	{ "compute_workload", &rk_reader_compute_db },
	{ "KERN", &rk_reader_rocprof_v1_db },
	{ "OPS", &rk_reader_rocprof_v1_db },
	{ "HIP", &rk_reader_rocprof_v1_db },
	{ "HSA", &rk_reader_rocprof_v1_db },
};

static int any_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	static const char magic[16] = "SQLite format 3";

	(void)whole;
	(void)file_name;
	return len >= sizeof(magic) && !memcmp(head, magic, sizeof(magic)) ? 30 : 0;
}

static const struct rk_reader_ops *owner_of(const struct rk_sqlite_table *tables, size_t n)
{
	for (size_t k = 0; k < sizeof(owners) / sizeof(owners[0]); k++)
		for (size_t i = 0; i < n; i++)
			if (rk_text_iprefix(tables[i].name, strlen(tables[i].name), owners[k].name))
				return owners[k].reader;
	return NULL;
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
	rk_sqlite_tables_free(tables, n);
	rk_sqlite_close(db);
	if (rc == 0 && !owner)
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "'%s' is a database without tables rockit knows", label);
	if (rc < 0)
		rk_error_at(err, label, 0, 0);
	return rc < 0 ? rc : owner->open(in, ctx, ret, err);
}

/* The reader that is opened is the owner's: scan and close are too. */
const struct rk_reader_ops rk_reader_sqlite_any = {
	.name = "sqlite",
	.help = "any of the databases above, told by its tables",
	.probe = any_probe,
	.open = any_open,
	.serial = true,
};
