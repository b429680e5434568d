/* rocpd_damage.c (test) - files of killed runs, cut files, damaged pages, and files of others. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rocpd_fixture.h"
#include "tap.h"

#define GUID "_0000ddb5_8903_7903_b269_cd8d3745bb8a"

static void copy_file(const char *from, const char *to)
{
	static char buf[4 << 20];
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	size_t n = in ? fread(buf, 1, sizeof(buf), in) : 0;

	CHECK(n > 0 && out && fwrite(buf, 1, n, out) == n);
	if (in)
		fclose(in);
	if (out)
		fclose(out);
}

/* The database and the file with `suffix` beside it as they lie now, as "cut.db" in `to`. */
static void copy_as_killed(const struct fixture *from, const char *suffix, struct fixture *to)
{
	char a[256], b[256];

	fixture_begin(to);
	fixture_close(to);
	copy_file(from->path, to->path);
	snprintf(a, sizeof(a), "%s%s", from->path, suffix);
	snprintf(b, sizeof(b), "%s%s", to->path, suffix);
	copy_file(a, b);
}

TEST(the_log_of_a_killed_run_is_read_and_the_directory_left_alone)
{
	struct rk_bytes before, after;
	struct fixture f, killed;
	struct rig r;

	fixture_begin(&f);
	fixture_sql(&f, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0");
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	copy_as_killed(&f, "-wal", &killed);
	rk_bytes_init(&before, 4096);
	rk_bytes_init(&after, 4096);
	fixture_listing(&killed, &before);
	/* the copy is made there too: that it is gone afterwards shows in the listing */
	CHECK_I64(rig_open_in(&r, killed.path, killed.dir), 0);
	CHECK_I64(rig_count(&r, RK_KERNELS), 2);
	CHECK_U64(rig_warnings(&r, "hot-wal"), 1);
	rig_close(&r);
	fixture_listing(&killed, &after);
	CHECK_STR(rk_bytes_str(&after), rk_bytes_str(&before));
	rk_bytes_release(&before);
	rk_bytes_release(&after);
	fixture_end(&killed);
	fixture_end(&f);
}

TEST(the_journal_of_a_killed_run_is_rolled_back)
{
	struct fixture f, killed;
	struct rig r;

	fixture_begin(&f);
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	/* a cache of a few pages: the transaction reaches the file before it is over */
	fixture_sql(&f,
		    "PRAGMA synchronous=FULL; PRAGMA cache_size=5; BEGIN;"
		    "UPDATE rocpd_kernel_dispatch%s SET start=1, end=2;"
		    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5000) "
		    "INSERT INTO rocpd_kernel_dispatch%s(start,end) SELECT i,i FROM n",
		    GUID, GUID);
	copy_as_killed(&f, "-journal", &killed);
	CHECK_I64(rig_open(&r, killed.path), 0);
	CHECK_I64(rig_count(&r, RK_KERNELS), 2);
	CHECK_U64(rig_warnings(&r, "hot-wal"), 1);
	CHECK_U64(rig_warnings(&r, "damaged-database"), 0);
	rig_close(&r);
	fixture_end(&killed);
	fixture_end(&f);
}

TEST(nothing_appears_beside_a_database)
{
	struct rk_bytes before, after;
	struct fixture f;
	struct rig r;

	fixture_begin(&f);
	fixture_sql(&f, "PRAGMA journal_mode=WAL"); /* the header asks for a log ever after */
	fixture_schema(&f, GUID);
	fixture_rows(&f, GUID, 500);
	fixture_close(&f);
	rk_bytes_init(&before, 4096);
	rk_bytes_init(&after, 4096);
	fixture_listing(&f, &before);
	chmod(f.path, 0400);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_I64(rig_count(&r, RK_KERNELS), 2);
	fixture_listing(&f, &after);
	CHECK_STR(rk_bytes_str(&after), rk_bytes_str(&before));
	rig_close(&r);
	rk_bytes_clear(&after);
	fixture_listing(&f, &after);
	CHECK_STR(rk_bytes_str(&after), rk_bytes_str(&before));
	rk_bytes_release(&before);
	rk_bytes_release(&after);
	fixture_end(&f);
}

/* 2000 dispatches, some 40 bytes each, in pages of 1024 bytes. */
static void many_dispatches(struct fixture *f)
{
	fixture_begin(f);
	fixture_sql(f, "PRAGMA page_size=1024");
	fixture_schema(f, GUID);
	fixture_rows(f, GUID, 500);
	fixture_sql(f,
		    "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i+1 FROM n WHERE i<2000) "
		    "INSERT INTO rocpd_kernel_dispatch%s(id,start,end,kernel_id) "
		    "SELECT i,i*10,i*10+5,7 FROM n",
		    GUID);
	fixture_close(f);
}

static long file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (long)st.st_size;
}

TEST(rows_before_a_damaged_page_are_kept)
{
	struct fixture f;
	struct rig r;
	int64_t n;

	many_dispatches(&f);
	fixture_damage(&f, file_size(f.path) - 12 * 1024, 0xff, 512);
	CHECK_I64(rig_open(&r, f.path), 0);
	n = rig_count(&r, RK_KERNELS);
	CHECK(n > 500 && n < 2000);
	CHECK_U64(rig_warnings(&r, "damaged-database"), 1);
	CHECK_I64(rig_count(&r, RK_API), 2);
	rig_close(&r);
	fixture_end(&f);
}

TEST(damage_in_a_small_table_costs_names_not_rows)
{
	struct fixture f;
	struct rig r;
	sqlite3_stmt *st = NULL;
	long page = 0;

	many_dispatches(&f);
	CHECK(sqlite3_open(f.path, &f.db) == SQLITE_OK);
	CHECK(sqlite3_prepare_v2(f.db,
				 "SELECT rootpage FROM sqlite_schema WHERE name='"
				 "rocpd_info_kernel_symbol" GUID "'",
				 -1, &st, NULL) == SQLITE_OK);
	if (sqlite3_step(st) == SQLITE_ROW)
		page = (long)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	fixture_close(&f);
	fixture_damage(&f, (page - 1) * 1024, 0xee, 1024);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK_I64(rig_count(&r, RK_KERNELS), 2000);
	CHECK(rig_warnings(&r, "damaged-database") > 0);
	rig_close(&r);
	fixture_end(&f);
}

TEST(a_file_that_was_cut_is_read_as_far_as_it_goes)
{
	struct fixture f;
	struct rig r;
	int64_t n;

	many_dispatches(&f);
	CHECK(truncate(f.path, file_size(f.path) - 20 * 1024 - 100) == 0);
	CHECK_I64(rig_open(&r, f.path), 0);
	n = rig_count(&r, RK_KERNELS);
	CHECK(n > 500 && n < 2000);
	CHECK(rig_warnings(&r, "damaged-database") >= 2);
	rig_close(&r);
	fixture_end(&f);
}

TEST(cut_anywhere_a_file_gives_rows_or_an_error)
{
	struct fixture f;
	struct rig r;
	long size;

	many_dispatches(&f);
	size = file_size(f.path);
	for (long cut = size - 1024; cut > 0; cut -= 7 * 1024 + 13) {
		CHECK(truncate(f.path, cut) == 0);
		if (!rig_open(&r, f.path))
			CHECK(rig_count(&r, RK_KERNELS) >= 0 && rig_count(&r, RK_COUNTERS) >= 0);
		else
			CHECK(r.err.code == RK_E_FORMAT && r.err.message[0]);
		rig_close(&r);
	}
	fixture_end(&f);
}

TEST(files_that_are_not_a_rocpd_database_are_refused_in_one_line)
{
	static const struct {
		const char *content;
		size_t len;
		int code;
	} cases[] = {
		{ "", 0, RK_E_UNSUPPORTED },
		{ "Kind,Name\n", 10, RK_E_FORMAT },
		{ "SQLite format 3", 16, RK_E_FORMAT },
	};
	struct fixture f;
	struct rig r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		FILE *h;

		fixture_begin(&f);
		fixture_close(&f);
		h = fopen(f.path, "wb");
		CHECK(h && fwrite(cases[i].content, 1, cases[i].len, h) == cases[i].len);
		if (h)
			fclose(h);
		CHECK_I64(rig_open(&r, f.path), cases[i].code);
		CHECK_STR(r.err.file, f.path);
		CHECK(r.err.message[0] && !strchr(r.err.message, '\n'));
		rig_close(&r);
		fixture_end(&f);
	}
	fixture_begin(&f);
	fixture_sql(&f, "CREATE TABLE songs(id INTEGER PRIMARY KEY, title TEXT)");
	fixture_close(&f);
	CHECK_I64(rig_open(&r, f.path), RK_E_UNSUPPORTED);
	rig_close(&r);
	fixture_end(&f);
}

TEST(a_page_that_points_at_itself_ends)
{
	struct fixture f;
	struct rig r;
	sqlite3_stmt *st = NULL;
	long page = 0;

	many_dispatches(&f);
	CHECK(sqlite3_open(f.path, &f.db) == SQLITE_OK);
	CHECK(sqlite3_prepare_v2(f.db,
				 "SELECT rootpage FROM sqlite_schema WHERE name='"
				 "rocpd_kernel_dispatch" GUID "'",
				 -1, &st, NULL) == SQLITE_OK);
	if (sqlite3_step(st) == SQLITE_ROW)
		page = (long)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	fixture_close(&f);
	/* an interior page: bytes 8..11 are its last child; the page itself is made that child */
	fixture_damage(&f, (page - 1) * 1024 + 8, 0, 2);
	fixture_damage(&f, (page - 1) * 1024 + 10, (int)(page >> 8), 1);
	fixture_damage(&f, (page - 1) * 1024 + 11, (int)(page & 0xff), 1);
	CHECK_I64(rig_open(&r, f.path), 0);
	CHECK(rig_count(&r, RK_KERNELS) >= 0);
	CHECK(rig_warnings(&r, "damaged-database") > 0);
	rig_close(&r);
	fixture_end(&f);
}
