/* sqlite_db.c - opening a database safely and finding its tables. */
#include "codec/sqlite/sqlite_db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "codec/sqlite/sqlite_impl.h"
#include "io/dirs.h"

enum {
	PATH_BYTES = 4 * PATH_MAX,
	PROGRESS_OPS = 1000,
	FREE_OPS = 1000000, /* what any query may do, however small the file */
};

/* The limits a hostile schema meets; ordinary rocpd files stay far below all of them. */
static const struct {
	int id, value;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 16 << 20 }, { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 200 },  { SQLITE_LIMIT_VDBE_OP, 100000 },
	{ SQLITE_LIMIT_ATTACHED, 0 },      { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 }, { SQLITE_LIMIT_WORKER_THREADS, 0 },
};

int rk_sqlite_fail(struct rk_sqlite *db, const char *table, struct rk_error *err)
{
	const char *why = sqlite3_errmsg(db->h);
	int code = sqlite3_errcode(db->h) & 0xff, rc;

	if (code == SQLITE_NOMEM)
		rc = rk_fail_nomem(err);
	else if (code == SQLITE_INTERRUPT)
		rc = rk_fail(err, RK_E_LIMIT,
			     "'%s' takes too long to read: its tables are not sound",
			     table ? table : db->label);
	else if (code == SQLITE_NOTADB)
		rc = rk_fail(err, RK_E_FORMAT, "'%s' is not a database", db->label);
	else if (table)
		rc = rk_fail(err, RK_E_FORMAT, "cannot read table '%s': %s", table, why);
	else
		rc = rk_fail(err,
			     code == SQLITE_CANTOPEN || code == SQLITE_IOERR ? RK_E_IO :
									       RK_E_FORMAT,
			     "cannot read database '%s': %s", db->label, why);
	rk_error_at(err, db->label, 0, 0);
	return rc;
}

/* No question asked here needs more than a few operations for each byte of the file. */
static int count_ops(void *arg)
{
	struct rk_sqlite *db = arg;

	db->ops += PROGRESS_OPS;
	return db->ops > FREE_OPS + 4 * db->size;
}

int rk_sqlite_prepare(struct rk_sqlite *db, const char *sql, const char *table, sqlite3_stmt **ret,
		      struct rk_error *err)
{
	db->ops = 0;
	if (sqlite3_prepare_v2(db->h, sql, -1, ret, NULL) != SQLITE_OK)
		return rk_sqlite_fail(db, table, err);
	return 0;
}

static int run(struct rk_sqlite *db, const char *sql, struct rk_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = rk_sqlite_prepare(db, sql, NULL, &st, err), step;

	if (rc < 0)
		return rc;
	do
		step = sqlite3_step(st);
	while (step == SQLITE_ROW);
	if (step != SQLITE_DONE)
		rc = rk_sqlite_fail(db, NULL, err);
	sqlite3_finalize(st);
	return rc;
}

static bool hot_wal(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* A journal whose first byte is zero belongs to a transaction that was completed. */
static bool hot_journal(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char first = 0;
	bool hot = fd >= 0 && read(fd, &first, 1) == 1 && first != 0;

	if (fd >= 0)
		close(fd);
	return hot;
}

static const char *find_hot(struct rk_bytes *name, const char *path)
{
	static const struct {
		const char *suffix;
		bool (*hot)(const char *path);
	} kinds[] = { { "-wal", hot_wal }, { "-journal", hot_journal } };

	for (size_t i = 0; i < 2; i++) {
		const char *full;

		rk_bytes_clear(name);
		rk_bytes_puts(name, path);
		rk_bytes_puts(name, kinds[i].suffix);
		full = rk_bytes_str(name);
		if (full && kinds[i].hot(full))
			return kinds[i].suffix;
	}
	return NULL;
}

static void put_uri(struct rk_bytes *uri, const char *path)
{
	rk_bytes_puts(uri, "file:");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c > 0x20 && c < 0x7f && !strchr("%?#&=+", c))
			rk_bytes_put_u8(uri, c);
		else
			rk_bytes_printf(uri, "%%%02X", c);
	}
	rk_bytes_puts(uri, "?mode=ro&immutable=1");
}

/* `name` holds the path of the -wal or -journal file. */
static int copy_hot(struct rk_sqlite *db, const char *path, struct rk_bytes *name,
		    const char *tmpdir, struct rk_error *err)
{
	const char *copy, *beside = db->hot[1] == 'w' ? "db-wal" : "db-journal";
	int rc;

	rc = rk_tempdir_new(tmpdir, &db->tmp, err);
	if (!rc)
		rc = rk_tempdir_copy(db->tmp, rk_bytes_str(name), beside, &copy, err);
	if (!rc)
		rc = rk_tempdir_copy(db->tmp, path, "db", &copy, err);
	if (!rc) {
		rk_bytes_clear(name);
		rk_bytes_puts(name, copy);
		rc = rk_bytes_str(name) ? 0 : rk_fail_nomem(err);
	}
	return rc;
}

/* The copy is opened for writing because SQLite repairs it before it reads. */
static int open_handle(struct rk_sqlite *db, const char *path, const char *tmpdir,
		       struct rk_error *err)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	struct rk_bytes name;
	const char *target;
	int rc = 0;

	rk_bytes_init(&name, PATH_BYTES);
	db->hot = find_hot(&name, path);
	if (db->hot) {
		flags |= SQLITE_OPEN_READWRITE;
		rc = copy_hot(db, path, &name, tmpdir, err);
	} else {
		flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
		rk_bytes_clear(&name);
		put_uri(&name, path);
	}
	target = rk_bytes_str(&name);
	if (!rc && !target)
		rc = rk_fail_nomem(err);
	if (!rc && sqlite3_open_v2(target, &db->h, flags, NULL) != SQLITE_OK)
		rc = rk_sqlite_fail(db, NULL, err);
	rk_bytes_release(&name);
	return rc;
}

/*
 * SQLite refuses a file shorter than its header says, unless writable_schema is on and defensive
 * off (the file is still opened read-only). Then the pages that are there can be read.
 */
static int harden(struct rk_sqlite *db, struct rk_error *err)
{
	const struct {
		int op, value;
	} config[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, !db->cut },
		{ SQLITE_DBCONFIG_WRITABLE_SCHEMA, db->cut },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1 },
	};
	static const char *const pragmas[] = {
		"PRAGMA trusted_schema=OFF",
		"PRAGMA cell_size_check=ON",
		"PRAGMA mmap_size=0",
		"PRAGMA cache_size=-2048",
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db->h, limits[i].id, limits[i].value);
	for (size_t i = 0; i < sizeof(config) / sizeof(config[0]); i++)
		sqlite3_db_config(db->h, config[i].op, config[i].value, NULL);
	sqlite3_progress_handler(db->h, PROGRESS_OPS, count_ops, db);
	if (sqlite3_create_function_v2(db->h, "rk_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, db,
				       rk_sqlite_take_row, NULL, NULL, NULL) != SQLITE_OK)
		return rk_sqlite_fail(db, NULL, err);
	for (size_t i = 0; !rc && i < sizeof(pragmas) / sizeof(pragmas[0]); i++)
		rc = run(db, pragmas[i], err);
	return rc;
}

/*
 * The header's page size and page count: more than the file has means that it was cut. The count
 * means something only when the two change counters agree.
 */
static bool shorter_than_its_header(const char *path, uint64_t size)
{
	uint8_t h[100];
	uint64_t page, count;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, h, sizeof(h));

	if (fd >= 0)
		close(fd);
	if (n != (ssize_t)sizeof(h) || memcmp(h + 24, h + 92, 4) != 0)
		return false;
	page = (uint64_t)h[16] << 8 | h[17];
	page = page == 1 ? 65536 : page;
	count = (uint64_t)h[28] << 24 | (uint64_t)h[29] << 16 | (uint64_t)h[30] << 8 | h[31];
	return page && count > size / page;
}

static int open_resolved(struct rk_sqlite *db, const char *path, const char *tmpdir,
			 struct rk_error *err)
{
	struct stat st;
	int rc;

	if (stat(path, &st) < 0)
		return rk_fail_errno(err, errno, "cannot open '%s'", db->label);
	db->size = (uint64_t)st.st_size;
	rc = open_handle(db, path, tmpdir, err);
	if (rc < 0)
		return rc;
	db->cut = !db->hot && shorter_than_its_header(path, db->size);
	rc = harden(db, err);
	if (!rc) /* forces the schema to be read */
		rc = run(db, "SELECT 1 FROM sqlite_schema LIMIT 1", err);
	return rc;
}

int rk_sqlite_open(const char *path, const char *label, const char *tmpdir, struct rk_sqlite **ret,
		   struct rk_error *err)
{
	struct rk_sqlite *db = rk_calloc(1, sizeof(*db));
	char *real =
		rk_alloc(PATH_MAX); /* SQLite names -wal and -journal after the resolved path */
	int rc;

	if (db)
		db->label = rk_strdup(label);
	if (!db || !db->label || !real)
		rc = rk_fail_nomem(err);
	else if (!realpath(path, real))
		rc = rk_fail_errno(err, errno, "cannot open '%s'", label);
	else
		rc = open_resolved(db, real, tmpdir, err);
	rk_free(real);
	if (rc < 0) {
		rk_error_at(err, label, 0, 0);
		rk_sqlite_close(db);
		return rc;
	}
	*ret = db;
	return 0;
}

void rk_sqlite_close(struct rk_sqlite *db)
{
	if (!db)
		return;
	sqlite3_close(db->h);
	rk_tempdir_free(db->tmp);
	rk_free(db->label);
	rk_free(db);
}

const char *rk_sqlite_hot(const struct rk_sqlite *db)
{
	return db->hot;
}

bool rk_sqlite_cut(const struct rk_sqlite *db)
{
	return db->cut;
}

uint64_t rk_sqlite_size(const struct rk_sqlite *db)
{
	return db->size;
}

int rk_sqlite_tolerate(struct rk_diag *diag, const char *path, struct rk_error *cause, int rc,
		       struct rk_error *err)
{
	if (rc >= 0)
		return 0;
	if (rc == RK_E_FORMAT) {
		rk_diag_add(diag, "damaged-database", path, 0, 1, "%s", cause->message);
		rk_error_clear(cause);
		return 0;
	}
	rk_error_at(cause, path, 0, 0);
	if (err && !err->code)
		*err = *cause;
	return rc;
}
