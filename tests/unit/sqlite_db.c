/* sqlite_db.c (test) - opening, describing and reading databases. */
#include "codec/sqlite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rocpd_fixture.h"
#include "tap.h"

static struct rk_sqlite *open_db(const char *path)
{
	struct rk_error err = { 0 };
	struct rk_sqlite *db = NULL;

	CHECK_I64(rk_sqlite_open(path, path, NULL, &db, &err), 0);
	CHECK_STR(err.message, "");
	return db;
}

TEST(odd_paths_and_links_open)
{
	static const char *const names[] = { "a b.db", "q?mode=rwc.db", "hash#1.db", "100%25.db",
					     "\xc3\xa9&=+.db" };
	struct rk_sqlite_table *t = NULL;
	struct rk_error err = { 0 };
	struct fixture f;
	char path[256];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct rk_sqlite *db;

		fixture_begin(&f);
		fixture_sql(&f, "CREATE TABLE rocpd_string_x(id INTEGER PRIMARY KEY)");
		fixture_close(&f);
		snprintf(path, sizeof(path), "%s/%s", f.dir, names[i]);
		CHECK(i % 2 ? symlink(f.path, path) == 0 : rename(f.path, path) == 0);
		db = open_db(path);
		CHECK_I64(rk_sqlite_tables(db, "ROCPD_", &t, &n, &err), 0);
		CHECK_U64(n, 1);
		rk_sqlite_tables_free(t, n);
		rk_sqlite_close(db);
		fixture_end(&f);
	}
}

TEST(tables_are_described_as_they_are_stored)
{
	struct rk_sqlite_table *t = NULL;
	struct rk_error err = { 0 };
	struct rk_sqlite *db;
	struct fixture f;
	size_t n = 0;

	fixture_begin(&f);
	fixture_sql(&f, "CREATE TABLE t1(a, id INTEGER PRIMARY KEY, b AS (a+1));"
			"CREATE TABLE t2(id INT PRIMARY KEY, \"q\"\"uote\" TEXT);"
			"CREATE TABLE t3(a INTEGER, b INTEGER, PRIMARY KEY(a,b)) WITHOUT ROWID;"
			"CREATE TABLE t5(id INTEGER PRIMARY KEY DESC);"
			"CREATE TABLE t6(id INTEGER PRIMARY KEY) WITHOUT ROWID;"
			"CREATE VIEW t4 AS SELECT 1; CREATE TABLE other(a);");
	fixture_close(&f);
	db = open_db(f.path);
	CHECK_I64(rk_sqlite_tables(db, "t", &t, &n, &err), 0);
	CHECK_U64(n, 5);
	if (n == 5) {
		CHECK_U64(t[0].ncolumns, 2);
		CHECK_I64(t[0].key, 1);
		CHECK(rk_sqlite_has(&t[0], "ID") && !rk_sqlite_has(&t[0], "b"));
		CHECK_I64(t[1].key, -1);
		CHECK_STR(t[1].columns[1], "q\"uote");
		CHECK_I64(t[2].key, -1);
		CHECK_I64(t[3].key, -1);
		CHECK_I64(t[4].key, -1);
	}
	rk_sqlite_tables_free(t, n);
	rk_sqlite_close(db);
	fixture_end(&f);
}

TEST(cursors_read_in_the_order_asked_for)
{
	static const struct rk_sqlite_column columns[] = { { "v", RK_SQLITE_INT },
							   { "name", RK_SQLITE_TEXT },
							   { "nothing", RK_SQLITE_INT },
							   { "w", RK_SQLITE_REAL } };
	static const struct {
		int order;
		int64_t first, last;
	} cases[] = { { RK_SQLITE_STORED, 30, 20 }, { 0, 10, 30 }, { RK_SQLITE_FROM_KEY, 10, 20 } };
	struct rk_sqlite_table *t = NULL;
	struct rk_error err = { 0 };
	struct rk_sqlite *db;
	struct fixture f;
	size_t n = 0;

	fixture_begin(&f);
	fixture_sql(
		&f,
		"CREATE TABLE \"t\"\"\"(id INTEGER PRIMARY KEY, v INT, name TEXT UNIQUE, w REAL);"
		"INSERT INTO \"t\"\"\" VALUES (1,30,'a',0.5),(2,10,'c',1),(5,20,'b','2')");
	fixture_close(&f);
	db = open_db(f.path);
	CHECK_I64(rk_sqlite_tables(db, "t", &t, &n, &err), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rk_sqlite_cursor *c = NULL;
		int64_t v = 0, first = 0;
		double w = 0;
		size_t len;

		CHECK_I64(rk_sqlite_cursor_open(db, t, columns, 4, cases[i].order, &c, &err), 0);
		if (cases[i].order == RK_SQLITE_FROM_KEY)
			rk_sqlite_cursor_seek(c, 2);
		while (c && rk_sqlite_cursor_step(c, &err) > 0) {
			CHECK(rk_sqlite_i64(c, 0, &v) == RK_CELL_VALUE);
			CHECK(rk_sqlite_i64(c, 2, &v) == RK_CELL_NULL);
			CHECK(rk_sqlite_f64(c, 3, &w) == RK_CELL_VALUE && w > 0);
			CHECK(rk_sqlite_text(c, 1, &len) && len == 1);
			first = first ? first : v;
		}
		CHECK_I64(first, cases[i].first);
		CHECK_I64(v, cases[i].last);
		rk_sqlite_cursor_close(c);
	}
	rk_sqlite_tables_free(t, n);
	rk_sqlite_close(db);
	fixture_end(&f);
}

TEST(a_missing_database_is_an_error_that_names_it)
{
	struct rk_error err = { 0 };
	struct rk_sqlite *db = NULL;

	CHECK_I64(rk_sqlite_open("/nonexistent/x.db", "x.db", NULL, &db, &err), RK_E_IO);
	CHECK_STR(err.file, "x.db");
	CHECK(db == NULL);
}
