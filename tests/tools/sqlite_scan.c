/*
 * sqlite_scan.c - the bare cost of reading kernel dispatches with SQLite: step, take every column.
 *
 *	sqlite-scan FILE.db          prints rows and a checksum; the yardstick for `rockit convert x.db`
 *	sqlite-scan FILE.db narrow   only the columns that `rockit report x.db` looks at
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char query[] =
	"SELECT K.tid, K.agent_id, K.kernel_id, K.dispatch_id, K.queue_id, K.stream_id, K.start,"
	" K.\"end\", K.private_segment_size, K.group_segment_size, K.workgroup_size_x,"
	" K.workgroup_size_y, K.workgroup_size_z, K.grid_size_x, K.grid_size_y, K.grid_size_z,"
	" E.stack_id FROM rocpd_kernel_dispatch K JOIN rocpd_event E ON E.id = K.event_id";

static const char narrow[] = "SELECT kernel_id, start, \"end\", agent_id, queue_id"
			     " FROM rocpd_kernel_dispatch";

static _Noreturn void fail(sqlite3 *db, const char *path)
{
	fprintf(stderr, "sqlite-scan: '%s': %s\n", path, sqlite3_errmsg(db));
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	sqlite3 *db;
	sqlite3_stmt *s;
	uint64_t rows = 0, sum = 0;
	int rc, ncols;

	if (argc != 2 && argc != 3) {
		fputs("usage: sqlite-scan FILE.db [narrow]\n", stderr);
		return 2;
	}
	if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_exec(db, "PRAGMA mmap_size = 8589934592", NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, argc == 3 ? narrow : query, -1, &s, NULL) != SQLITE_OK)
		fail(db, argv[1]);
	ncols = sqlite3_column_count(s);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < ncols; i++)
			sum += (uint64_t)sqlite3_column_int64(s, i);
		rows++;
	}
	if (rc != SQLITE_DONE)
		fail(db, argv[1]);
	sqlite3_finalize(s);
	sqlite3_close(db);
	printf("%" PRIu64 " rows, checksum %" PRIu64 "\n", rows, sum);
	return EXIT_SUCCESS;
}
