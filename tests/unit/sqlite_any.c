/* sqlite_any.c (test) - databases whose first pages do not tell whose they are. */
#include <string.h>

#include "every_alloc.h"
#include "rocpd_fixture.h"

#define BIT(f) (UINT64_C(1) << (f))

static const char nsys[] =
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
	"INSERT INTO StringIds VALUES(1,'add');"
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, demangledName INTEGER);"
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(5,1)";

/* Tables made behind 100 KB of rows of another: the first page has no room for their names. */
static void late(struct fixture *f, const char *sql)
{
	fixture_begin(f);
	fixture_sql(f,
		    "PRAGMA page_size=512; CREATE TABLE other(a CHECK(a <> '%s'));"
		    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200) "
		    "INSERT INTO other SELECT zeroblob(500) FROM n; %s",
		    "........................................................................"
		    "........................................................................"
		    "........................................................................"
		    "........................................................................",
		    sql);
	fixture_close(f);
}

static void reads_as(const char *path, enum rk_table t, uint64_t want, const char *rows)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_dump(&w, path, t, want);
	CHECK_STR(got ? got : w.err.message, rows);
	world_close(&w);
}

TEST(database_with_late_tables_is_recognised_by_them)
{
	struct fixture f;

	late(&f, nsys);
	reads_as(f.path, RK_KERNELS, BIT(RK_K_NAME) | BIT(RK_K_START),
		 "kernel_name=add|start_ns=5\n");
	fixture_end(&f);
	late(&f, "CREATE TABLE KERN (\"Index\" INTEGER, \"KernelName\" TEXT);"
		 "INSERT INTO KERN VALUES(3,'k')");
	reads_as(f.path, RK_KERNELS, BIT(RK_K_NAME), "kernel_name=k\n");
	fixture_end(&f);
	late(&f, "CREATE TABLE compute_dispatch (dispatch_id INTEGER);"
		 "INSERT INTO compute_dispatch VALUES(3)");
	reads_as(f.path, RK_KERNELS, BIT(RK_K_DISPATCH), "dispatch_id=3\n");
	fixture_end(&f);
}

TEST(database_that_is_all_in_its_log_is_recognised_by_its_tables)
{
	struct fixture f;
	struct world w;

	fixture_begin(&f);
	fixture_sql(&f, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; %s", nsys);
	world_open(&w, 1);
	CHECK_STR(world_dump(&w, f.path, RK_KERNELS, BIT(RK_K_NAME)), "kernel_name=add\n");
	CHECK_U64(world_warned(&w, "hot-wal"), 1);
	world_close(&w);
	fixture_close(&f);
	fixture_end(&f);
}

TEST(database_of_nobody_is_refused)
{
	struct fixture f;
	struct world w;

	late(&f, "CREATE TABLE mine(a)");
	world_open(&w, 1);
	CHECK(world_dump(&w, f.path, RK_KERNELS, RK_WANT_ALL) == NULL);
	CHECK_I64(w.err.code, RK_E_UNSUPPORTED);
	CHECK(strstr(w.err.message, "without tables rockit knows") != NULL);
	world_close(&w);
	fixture_end(&f);
}

TEST(database_with_late_tables_survives_every_failed_allocation)
{
	struct fixture f;

	late(&f, nsys);
	every_alloc_may_fail(f.path, 1);
	fixture_end(&f);
}
