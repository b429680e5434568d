/* sqlite.c - see sqlite.h. */
#include "codec/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/num.h"
#include "base/text.h"
#include "io/dirs.h"

struct rk_sqlite {
	sqlite3 *h;
	char *label;
	uint64_t size;
	uint64_t ops;    /* virtual machine operations since the last row */
	const char *hot; /* suffix of the file that made a copy necessary */
	bool cut;
	struct rk_tempdir *tmp;         /* holds the copy */
	struct rk_sqlite_cursor *taker; /* the cursor that gets the numbers from rk_row() */
};

/* ---- the numbers of a row ---- */

/*
 * Numbers are not read with sqlite3_column_...(), which costs more than the rest of the row. They
 * are the arguments of our own SQL function: SELECT rk_row(a, b, c), text FROM t. It gets them
 * straight from SQLite's registers. A sorted query computes its columns before it sorts, so there
 * we use ordinary columns.
 */

static void cell_from_double(struct rk_sqlite_cell *cell, enum rk_sqlite_kind kind, double d)
{
	const double exact = 9007199254740992.0; /* 2^53 */

	cell->state = RK_CELL_VALUE;
	if (kind == RK_SQLITE_REAL)
		cell->v.d = d;
	else if (d > -exact && d < exact && d == trunc(d))
		cell->v.i = (int64_t)d;
	else
		cell->state = RK_CELL_WRONG;
}

static void cell_from_text(struct rk_sqlite_cell *cell, enum rk_sqlite_kind kind, const char *s,
			   int len)
{
	enum rk_num num = RK_NUM_BAD;

	if (s && kind == RK_SQLITE_REAL)
		num = rk_num_f64(s, (size_t)len, &cell->v.d);
	else if (s)
		num = rk_num_i64(s, (size_t)len, &cell->v.i);
	cell->state = num == RK_NUM_OK ? RK_CELL_VALUE : RK_CELL_WRONG;
}

static void cell_from_value(struct rk_sqlite_cell *cell, enum rk_sqlite_kind kind, sqlite3_value *v)
{
	int type = sqlite3_value_type(v);

	if (type == SQLITE_INTEGER && kind == RK_SQLITE_INT) {
		cell->v.i = sqlite3_value_int64(v);
		cell->state = RK_CELL_VALUE;
	} else if (type == SQLITE_NULL) {
		cell->state = RK_CELL_NULL;
	} else if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) {
		cell_from_double(cell, kind, sqlite3_value_double(v));
	} else if (type == SQLITE_TEXT) {
		const char *s = (const char *)sqlite3_value_text(v);

		cell_from_text(cell, kind, s, sqlite3_value_bytes(v));
	} else {
		cell->state = RK_CELL_WRONG;
	}
}

/* As cell_from_value, for a column of the result. */
static void cell_from_column(struct rk_sqlite_cell *cell, enum rk_sqlite_kind kind,
			     sqlite3_stmt *st, int at)
{
	int type = sqlite3_column_type(st, at);

	if (type == SQLITE_INTEGER && kind == RK_SQLITE_INT) {
		cell->v.i = sqlite3_column_int64(st, at);
		cell->state = RK_CELL_VALUE;
	} else if (type == SQLITE_NULL) {
		cell->state = RK_CELL_NULL;
	} else if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) {
		cell_from_double(cell, kind, sqlite3_column_double(st, at));
	} else if (type == SQLITE_TEXT) {
		const char *s = (const char *)sqlite3_column_text(st, at);

		cell_from_text(cell, kind, s, sqlite3_column_bytes(st, at));
	} else {
		cell->state = RK_CELL_WRONG;
	}
}

/* rk_row(a, b, ...): puts its arguments into the cells of db->taker. */
static void take_row(sqlite3_context *ctx, int n, sqlite3_value **args)
{
	struct rk_sqlite *db = sqlite3_user_data(ctx);
	struct rk_sqlite_cursor *c = db->taker;

	for (int k = 0; c && k < n; k++) {
		unsigned i = c->number[k];

		cell_from_value(&c->cells[i], c->kinds[i], args[k]);
	}
}

/* ---- opening a database safely ---- */

enum {
	PATH_BYTES = 4 * PATH_MAX,
	PROGRESS_OPS = 1000,
	FREE_OPS = 1000000, /* operations that any query may use, however small the file */
};

/* Limits for hostile schemas; ordinary rocpd files stay far below all of them. */
static const struct {
	int id, value;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 16 << 20 }, { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 200 },  { SQLITE_LIMIT_VDBE_OP, 100000 },
	{ SQLITE_LIMIT_ATTACHED, 0 },      { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 }, { SQLITE_LIMIT_WORKER_THREADS, 0 },
};

static int sqlite_fail(struct rk_sqlite *db, const char *table, struct rk_error *err)
{
	const char *why = sqlite3_errmsg(db->h);
	int code = sqlite3_errcode(db->h) & 0xff, rc;

	if (code == SQLITE_NOMEM)
		rc = rk_fail_nomem(err);
	else if (code == SQLITE_INTERRUPT)
		rc = rk_fail(err, RK_E_LIMIT, "'%s' takes too long to read: its tables are damaged",
			     table ? table : db->label);
	else if (code == SQLITE_NOTADB)
		rc = rk_fail(err, RK_E_FORMAT, "'%s' is not a database", db->label);
	else if (table)
		rc = rk_fail(err, RK_E_FORMAT, "cannot read table '%s': %s", table, why);
	else if (code == SQLITE_CANTOPEN || code == SQLITE_IOERR)
		rc = rk_fail(err, RK_E_IO, "cannot read database '%s': %s", db->label, why);
	else
		rc = rk_fail(err, RK_E_FORMAT, "cannot read database '%s': %s", db->label, why);
	rk_error_at(err, db->label, 0, 0);
	return rc;
}

/* Our queries need only a few operations for each byte of the file. */
static int count_ops(void *arg)
{
	struct rk_sqlite *db = arg;

	db->ops += PROGRESS_OPS;
	return db->ops > FREE_OPS + 4 * db->size;
}

/* `table`, for messages, may be NULL. */
static int sqlite_prepare(struct rk_sqlite *db, const char *sql, const char *table,
			  sqlite3_stmt **ret, struct rk_error *err)
{
	db->ops = 0;
	if (sqlite3_prepare_v2(db->h, sql, -1, ret, NULL) != SQLITE_OK)
		return sqlite_fail(db, table, err);
	return 0;
}

/* 1: a row; 0: the end; < 0: the handle's error, translated. */
static inline int sqlite_step(struct rk_sqlite *db, sqlite3_stmt *st, const char *table,
			      struct rk_error *err)
{
	db->ops = 0;
	switch (sqlite3_step(st)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return sqlite_fail(db, table, err);
	}
}

static int run(struct rk_sqlite *db, const char *sql, struct rk_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite_prepare(db, sql, NULL, &st, err);

	if (rc < 0)
		return rc;
	while ((rc = sqlite_step(db, st, NULL, err)) > 0)
		;
	sqlite3_finalize(st);
	return rc;
}

/*
 * The suffix of a -wal or -journal file that must be applied, or NULL; `name` is its path. A
 * journal whose first byte is zero belongs to a completed transaction.
 */
static const char *find_hot(struct rk_bytes *name, const char *path)
{
	struct stat st;
	char first = 0;
	int fd;

	rk_bytes_clear(name);
	rk_bytes_printf(name, "%s-wal", path);
	if (rk_bytes_str(name) && stat(rk_bytes_str(name), &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0)
		return "-wal";
	rk_bytes_clear(name);
	rk_bytes_printf(name, "%s-journal", path);
	if (!rk_bytes_str(name))
		return NULL;
	fd = open(rk_bytes_str(name), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (read(fd, &first, 1) != 1)
		first = 0;
	close(fd);
	return first ? "-journal" : NULL;
}

/* A copy is opened for writing because SQLite repairs it before it reads. */
static int open_handle(struct rk_sqlite *db, const char *path, const char *tmpdir,
		       struct rk_error *err)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	struct rk_bytes name;
	const char *target, *beside;
	int rc = 0;

	rk_bytes_init(&name, PATH_BYTES);
	db->hot = find_hot(&name, path);
	if (db->hot) {
		flags |= SQLITE_OPEN_READWRITE;
		beside = db->hot[1] == 'w' ? "db-wal" : "db-journal";
		rc = rk_tempdir_new(tmpdir, &db->tmp, err);
		if (rc < 0 ||
		    (rc = rk_tempdir_copy(db->tmp, rk_bytes_str(&name), beside, &target, err)) <
			    0 ||
		    (rc = rk_tempdir_copy(db->tmp, path, "db", &target, err)) < 0)
			goto out;
		rk_bytes_clear(&name);
		rk_bytes_puts(&name, target);
	} else {
		flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
		rk_bytes_clear(&name);
		rk_bytes_puts(&name, "file:");
		for (; *path; path++) {
			unsigned char c = (unsigned char)*path;

			if (c > 0x20 && c < 0x7f && !strchr("%?#&=+", c))
				rk_bytes_put_u8(&name, c);
			else
				rk_bytes_printf(&name, "%%%02X", c);
		}
		rk_bytes_puts(&name, "?mode=ro&immutable=1");
	}
	target = rk_bytes_str(&name);
	if (!target)
		rc = rk_fail_nomem(err);
	else if (sqlite3_open_v2(target, &db->h, flags, NULL) != SQLITE_OK)
		rc = sqlite_fail(db, NULL, err);
out:
	rk_bytes_release(&name);
	return rc;
}

/*
 * SQLite refuses a file shorter than its header says, unless writable_schema is on and defensive
 * off (the file is still opened read-only). Then the existing pages can be read.
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
	int rc;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db->h, limits[i].id, limits[i].value);
	for (size_t i = 0; i < sizeof(config) / sizeof(config[0]); i++)
		sqlite3_db_config(db->h, config[i].op, config[i].value, NULL);
	sqlite3_progress_handler(db->h, PROGRESS_OPS, count_ops, db);
	if (sqlite3_create_function_v2(db->h, "rk_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, db,
				       take_row, NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_fail(db, NULL, err);
	for (size_t i = 0; i < sizeof(pragmas) / sizeof(pragmas[0]); i++) {
		rc = run(db, pragmas[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * The header's page size and page count: if the file has less, it is truncated. The count is valid
 * only if the two change counters agree.
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
	if (page == 1)
		page = 65536;
	count = (uint64_t)h[28] << 24 | (uint64_t)h[29] << 16 | (uint64_t)h[30] << 8 | h[31];
	return page && count > size / page;
}

int rk_sqlite_open(const char *path, const char *label, const char *tmpdir, struct rk_sqlite **ret,
		   struct rk_error *err)
{
	struct rk_sqlite *db = rk_calloc(1, sizeof(*db));
	/* SQLite names -wal and -journal after the resolved path */
	char *real = rk_alloc(PATH_MAX);
	struct stat st;
	int rc;

	if (db)
		db->label = rk_strdup(label);
	if (!db || !db->label || !real) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if (!realpath(path, real) || stat(real, &st) < 0) {
		rc = rk_fail_errno(err, errno, "cannot open '%s'", label);
		goto out;
	}
	db->size = (uint64_t)st.st_size;
	rc = open_handle(db, real, tmpdir, err);
	if (rc < 0)
		goto out;
	db->cut = !db->hot && shorter_than_its_header(real, db->size);
	rc = harden(db, err);
	if (rc == 0) /* forces the schema to be read */
		rc = run(db, "SELECT 1 FROM sqlite_schema LIMIT 1", err);
out:
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

/* ---- the tables of a database and their columns ---- */

enum { MAX_TABLES = 100000, SQL_BYTES = 1 << 16 };

/* Appends "name" with quotes doubled. */
static void sqlite_put_name(struct rk_bytes *sql, const char *name)
{
	rk_bytes_put_u8(sql, '"');
	for (; *name; name++) {
		if (*name == '"')
			rk_bytes_put_u8(sql, '"');
		rk_bytes_put_u8(sql, (uint8_t)*name);
	}
	rk_bytes_put_u8(sql, '"');
}

/* Names with a NUL inside cannot be queried: skip them. */
static const char *plain_text(sqlite3_stmt *st, int i, size_t *ret_len)
{
	const char *s = (const char *)sqlite3_column_text(st, i);
	size_t len = (size_t)sqlite3_column_bytes(st, i);

	*ret_len = len;
	return s && strlen(s) == len ? s : NULL;
}

/* Ordinary tables: a virtual one has no root page. */
static int list_names(struct rk_sqlite *db, const char *prefix, struct rk_sqlite_table **list,
		      size_t *n, struct rk_error *err)
{
	struct rk_sqlite_table *grown;
	sqlite3_stmt *st = NULL;
	size_t cap = 0;
	int rc;

	rc = sqlite_prepare(db, "SELECT name FROM sqlite_schema WHERE type='table' AND rootpage>0",
			    NULL, &st, err);
	if (rc < 0)
		return rc;
	while ((rc = sqlite_step(db, st, NULL, err)) > 0) {
		size_t len;
		const char *name = plain_text(st, 0, &len);

		if (!name || !rk_text_iprefix(name, len, prefix))
			continue;
		if (*n >= MAX_TABLES) {
			rc = rk_fail(err, RK_E_LIMIT, "more than %d tables", MAX_TABLES);
			break;
		}
		grown = rk_grow(*list, &cap, *n + 1, sizeof(*grown));
		if (!grown) {
			rc = rk_fail_nomem(err);
			break;
		}
		*list = grown;
		grown[*n] = (struct rk_sqlite_table){ .name = rk_strndup(name, len), .key = -1 };
		if (!grown[(*n)++].name) {
			rc = rk_fail_nomem(err);
			break;
		}
	}
	sqlite3_finalize(st);
	return rc;
}

static int add_column(struct rk_sqlite_table *t, sqlite3_stmt *st, struct rk_error *err)
{
	size_t len, type_len;
	const char *name = plain_text(st, 1, &len), *type;
	char **grown, *copy;

	/* hidden: 0 ordinary, 1 of a virtual table, 2 and 3 generated by an expression */
	if (!name || sqlite3_column_int(st, 6) != 0)
		return 0;
	grown = rk_reallocn(t->columns, t->ncolumns + 1, sizeof(*grown));
	if (!grown)
		return rk_fail_nomem(err);
	t->columns = grown;
	copy = rk_strndup(name, len);
	if (!copy)
		return rk_fail_nomem(err);
	type = plain_text(st, 2, &type_len);
	if (sqlite3_column_int(st, 5) == 1 && type && rk_text_ieq(type, type_len, "INTEGER"))
		t->key = (int)t->ncolumns;
	t->columns[t->ncolumns++] = copy;
	return 0;
}

/* PRAGMA what("table") */
static int prepare_pragma(struct rk_sqlite *db, const char *what, const char *table,
			  sqlite3_stmt **ret, struct rk_error *err)
{
	struct rk_bytes sql;
	const char *text;
	int rc;

	rk_bytes_init(&sql, SQL_BYTES);
	rk_bytes_printf(&sql, "PRAGMA %s(", what);
	sqlite_put_name(&sql, table);
	rk_bytes_puts(&sql, ")");
	text = rk_bytes_str(&sql);
	rc = text ? sqlite_prepare(db, text, table, ret, err) : rk_fail_nomem(err);
	rk_bytes_release(&sql);
	return rc;
}

static int list_columns(struct rk_sqlite *db, struct rk_sqlite_table *t, struct rk_error *err)
{
	sqlite3_stmt *st = NULL;
	int npk = 0, rc = prepare_pragma(db, "table_xinfo", t->name, &st, err);

	if (rc < 0)
		return rc;
	while ((rc = sqlite_step(db, st, t->name, err)) > 0) {
		npk += sqlite3_column_int(st, 5) > 0;
		rc = add_column(t, st, err);
		if (rc < 0)
			break;
	}
	if (npk != 1)
		t->key = -1;
	sqlite3_finalize(st);
	return rc;
}

/*
 * Seeks are cheap only by the key that orders the stored rows. "INTEGER PRIMARY KEY DESC" is not
 * such a key, nor is the key of a table without rowids: both have an index.
 */
static int drop_other_key(struct rk_sqlite *db, struct rk_sqlite_table *t, struct rk_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = prepare_pragma(db, "index_list", t->name, &st, err);

	if (rc < 0)
		return rc;
	while ((rc = sqlite_step(db, st, t->name, err)) > 0) {
		size_t len;
		const char *origin = plain_text(st, 3, &len);

		if (origin && rk_text_ieq(origin, len, "pk"))
			t->key = -1;
	}
	sqlite3_finalize(st);
	return rc;
}

int rk_sqlite_tables(struct rk_sqlite *db, const char *prefix, struct rk_sqlite_table **ret,
		     size_t *ret_n, struct rk_error *err)
{
	struct rk_sqlite_table *list = NULL;
	size_t n = 0;
	int rc = list_names(db, prefix, &list, &n, err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = list_columns(db, &list[i], err);
		if (rc == 0 && list[i].key >= 0)
			rc = drop_other_key(db, &list[i], err);
	}
	if (rc < 0) {
		rk_error_at(err, db->label, 0, 0);
		rk_sqlite_tables_free(list, n);
		return rc;
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

void rk_sqlite_tables_free(struct rk_sqlite_table *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < t[i].ncolumns; k++)
			rk_free(t[i].columns[k]);
		rk_free(t[i].columns);
		rk_free(t[i].name);
	}
	rk_free(t);
}

bool rk_sqlite_has(const struct rk_sqlite_table *t, const char *column)
{
	for (size_t k = 0; k < t->ncolumns; k++)
		if (rk_text_ieq(t->columns[k], strlen(t->columns[k]), column))
			return true;
	return false;
}

bool rk_sqlite_keyed_by(const struct rk_sqlite_table *t, const char *column)
{
	return t->key >= 0 && rk_text_ieq(t->columns[t->key], strlen(t->columns[t->key]), column);
}

uint64_t rk_sqlite_rows_about(struct rk_sqlite *db, const struct rk_sqlite_table *t)
{
	sqlite3_stmt *st = NULL;
	struct rk_bytes sql;
	const char *text;
	int64_t most = 0;

	if (t->key < 0)
		return 0;
	rk_bytes_init(&sql, SQL_BYTES);
	rk_bytes_puts(&sql, "SELECT max(");
	sqlite_put_name(&sql, t->columns[t->key]);
	rk_bytes_puts(&sql, ") FROM ");
	sqlite_put_name(&sql, t->name);
	text = rk_bytes_str(&sql);
	if (text && !sqlite_prepare(db, text, t->name, &st, NULL) && sqlite3_step(st) == SQLITE_ROW)
		most = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	rk_bytes_release(&sql);
	return most > 0 ? (uint64_t)most : 0;
}

/* ---- the rows of one table ---- */

/* A row has at least a cell pointer, a length, a key and a header: more than four bytes. */
enum { LEAST_ROW_BYTES = 4, SPARE_ROWS = 1000 };

/*
 * SELECT rk_row(numbers), texts FROM table. Sorted, or without numbers: SELECT numbers, texts. NOT
 * INDEXED: a covering index would give the rows in its own order.
 */
static void put_query(struct rk_bytes *sql, struct rk_sqlite_cursor *c,
		      const struct rk_sqlite_table *t, const struct rk_sqlite_column *columns,
		      size_t n, int order)
{
	int8_t place = 1;

	for (size_t i = 0; i < n; i++) {
		c->at[i] = -1;
		c->kinds[i] = columns[i].kind;
		if (!columns[i].name || !rk_sqlite_has(t, columns[i].name))
			continue;
		c->at[i] = 0;
		if (columns[i].kind != RK_SQLITE_TEXT)
			c->number[c->nnumbers++] = (uint8_t)i;
	}
	c->sorted = order >= 0 && c->at[order] >= 0;

	rk_bytes_puts(sql, "SELECT ");
	if (!c->nnumbers)
		rk_bytes_puts(sql, "NULL");
	else if (!c->sorted)
		rk_bytes_puts(sql, "rk_row(");
	else
		place = (int8_t)c->nnumbers;
	for (unsigned k = 0; k < c->nnumbers; k++) {
		if (k)
			rk_bytes_puts(sql, ",");
		sqlite_put_name(sql, columns[c->number[k]].name);
		c->at[c->number[k]] = (int8_t)k;
	}
	if (c->nnumbers && !c->sorted)
		rk_bytes_puts(sql, ")");
	for (size_t i = 0; i < n; i++) {
		if (columns[i].kind != RK_SQLITE_TEXT || c->at[i] < 0)
			continue;
		rk_bytes_puts(sql, ",");
		sqlite_put_name(sql, columns[i].name);
		c->at[i] = place++;
	}

	rk_bytes_puts(sql, " FROM ");
	sqlite_put_name(sql, t->name);
	rk_bytes_puts(sql, " NOT INDEXED");
	if (order == RK_SQLITE_FROM_KEY) {
		rk_bytes_puts(sql, " WHERE ");
		sqlite_put_name(sql, t->columns[t->key]);
		rk_bytes_puts(sql, ">=?1");
	} else if (c->sorted) {
		rk_bytes_printf(sql, " ORDER BY %d", c->at[order] + 1);
	}
}

int rk_sqlite_cursor_open(struct rk_sqlite *db, const struct rk_sqlite_table *t,
			  const struct rk_sqlite_column *columns, size_t n, int order,
			  struct rk_sqlite_cursor **ret, struct rk_error *err)
{
	struct rk_sqlite_cursor *c;
	struct rk_bytes sql;
	const char *text;
	int rc;

	if (n > RK_SQLITE_MAX_COLUMNS || order >= (int)n ||
	    (order == RK_SQLITE_FROM_KEY && t->key < 0))
		return rk_fail(err, RK_E_USAGE, "table '%s' does not support this query", t->name);
	c = rk_calloc(1, sizeof(*c));
	if (!c)
		return rk_fail_nomem(err);
	c->db = db;
	c->table = t->name;
	rk_bytes_init(&sql, SQL_BYTES);
	put_query(&sql, c, t, columns, n, order);
	text = rk_bytes_str(&sql);
	if (text)
		rc = sqlite_prepare(db, text, t->name, &c->stmt, err);
	else
		rc = rk_fail_nomem(err);
	rk_bytes_release(&sql);
	if (rc < 0) {
		rk_sqlite_cursor_close(c);
		return rc;
	}
	*ret = c;
	return 0;
}

void rk_sqlite_cursor_seek(struct rk_sqlite_cursor *c, int64_t key)
{
	sqlite3_reset(c->stmt);
	sqlite3_bind_int64(c->stmt, 1, key);
	c->rows = 0;
}

int rk_sqlite_cursor_step(struct rk_sqlite_cursor *c, struct rk_error *err)
{
	int rc;

	c->db->taker = c;
	rc = sqlite_step(c->db, c->stmt, c->table, err);
	if (rc <= 0)
		return rc;
	/* pages that form a loop give endless rows */
	if (++c->rows > c->db->size / LEAST_ROW_BYTES + SPARE_ROWS)
		return rk_fail(err, RK_E_FORMAT, "table '%s' has more rows than fit into the file",
			       c->table);
	for (unsigned k = 0; c->sorted && k < c->nnumbers; k++) {
		unsigned i = c->number[k];

		cell_from_column(&c->cells[i], c->kinds[i], c->stmt, (int)k);
	}
	return 1;
}

void rk_sqlite_cursor_close(struct rk_sqlite_cursor *c)
{
	if (!c)
		return;
	sqlite3_finalize(c->stmt);
	rk_free(c);
}

const char *rk_sqlite_text(const struct rk_sqlite_cursor *c, unsigned i, size_t *ret_len)
{
	int at = c->at[i];
	const char *s;

	*ret_len = 0;
	if (at < 0 || sqlite3_column_type(c->stmt, at) == SQLITE_NULL)
		return NULL;
	s = (const char *)sqlite3_column_text(c->stmt, at);
	if (s)
		*ret_len = (size_t)sqlite3_column_bytes(c->stmt, at);
	return s;
}
