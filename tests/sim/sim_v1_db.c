/* sim_v1_db.c - results.db of rocprof v1: tables KERN, HIP, HSA, OPS, COPY. */
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim_v1.h"

#define TAIL \
	"\"Index\" INTEGER,\"Data\" TEXT,\"__section\" INTEGER,\"__lane\" INTEGER,\"DurationNs\" INTEGER"

static void run(sqlite3 *db, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	if (!text || sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "rockit-sim: %s: %s\n", sqlite3_errmsg(db), text);
		exit(120);
	}
	sqlite3_free(text);
}

static void kernels(sqlite3 *db, const struct v1 *v, const struct work *w, const struct v1_table *t)
{
	struct text columns = { 0 };

	text_add(&columns,
		 "\"Index\" INTEGER,\"KernelName\" TEXT,\"gpu-id\" INTEGER,\"pid\" INTEGER,"
		 "\"tid\" INTEGER,\"grd\" INTEGER,\"wgr\" INTEGER,\"lds\" INTEGER");
	for (size_t i = 0; i < t->counters.n; i++)
		text_add(&columns, ",\"%s\" REAL", t->counters.at[i]);
	run(db,
	    "CREATE TABLE KERN(%s,\"DispatchNs\" INTEGER,\"BeginNs\" INTEGER,\"EndNs\" INTEGER,"
	    "\"CompleteNs\" INTEGER,\"DurationNs\" INTEGER)",
	    columns.at);
	for (size_t i = 0; i < t->n; i++) {
		const struct dispatch *d = t->rows[i].d;
		struct text values = { 0 };

		text_bytes(&values, "", 0);
		for (size_t c = 0; c < t->counters.n; c++)
			text_add(&values, "%s,",
				 c < t->rows[i].values.n ? t->rows[i].values.at[c] : "NULL");
		run(db,
		    "INSERT INTO KERN VALUES(%u,%Q,%u,%d,%d,%u,%u,%u,%s%lld,%lld,%lld,%lld,%lld)",
		    d->id - 1, v1_kernel_name(v, d->kernel), d->agent, (int)w->pid, (int)w->pid,
		    d->kernel->grid[0] * d->kernel->grid[1] * d->kernel->grid[2],
		    d->kernel->block[0] * d->kernel->block[1] * d->kernel->block[2], d->kernel->lds,
		    values.at, (long long)d->start - 2000, (long long)d->start, (long long)d->end,
		    (long long)d->end + 1000, (long long)(d->end - d->start));
	}
}

static void calls(sqlite3 *db, const struct v1 *v, const struct work *w, const char *table)
{
	run(db,
	    "CREATE TABLE %s(\"BeginNs\" INTEGER,\"EndNs\" INTEGER,\"pid\" INTEGER,\"tid\" INTEGER,"
	    "\"Name\" TEXT,\"args\" TEXT," TAIL ")",
	    table);
	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];

		if (begins(c->domain, table) && v1_traced(v, c))
			run(db, "INSERT INTO %s VALUES(%lld,%lld,%d,%d,%Q,'( )',%d,'',0,0,%lld)",
			    table, (long long)c->start, (long long)c->end, (int)w->pid, (int)w->pid,
			    c->function, (int)i, (long long)(c->end - c->start));
	}
}

static void operations(sqlite3 *db, const struct v1 *v, const struct work *w,
		       const struct v1_table *t)
{
	run(db, "CREATE TABLE OPS(\"BeginNs\" INTEGER,\"EndNs\" INTEGER,\"dev-id\" INTEGER,"
		"\"queue-id\" INTEGER,\"Name\" TEXT,\"pid\" INTEGER,\"tid\" INTEGER,"
		"\"roctx-range\" TEXT,\"stream-id\" INTEGER," TAIL ")");
	for (size_t i = 0; i < t->n; i++) {
		const struct dispatch *d = t->rows[i].d;

		run(db, "INSERT INTO OPS VALUES(%lld,%lld,%u,0,%Q,%d,%d,'',1,%d,'',0,0,%lld)",
		    (long long)d->start, (long long)d->end, d->agent - 1,
		    v1_kernel_name(v, d->kernel), (int)w->pid, (int)w->pid, (int)i,
		    (long long)(d->end - d->start));
	}
}

void v1_database(const struct v1 *v, const struct work *w, const struct v1_table *t)
{
	sqlite3_int64 size = 0;
	unsigned char *bytes;
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		exit(120);
	run(db, "BEGIN");
	if (v->stats || v->hsa)
		kernels(db, v, w, t);
	if (v->hip || v->sys)
		calls(db, v, w, "HIP");
	if (v->hsa || v->sys)
		calls(db, v, w, "HSA");
	if (v1_has_ops(v))
		operations(db, v, w, t);
	run(db, "COMMIT");
	bytes = sqlite3_serialize(db, "main", &size, 0);
	if (bytes)
		text_bytes(file_new(print_text("%s.db", v->base)), bytes, (size_t)size);
	sqlite3_free(bytes);
	sqlite3_close(db);
}
