/* rocpd.c - the reader of rocpd databases: probe, open, scan. */
#include "read/rocpd/rocpd.h"

#include <string.h>

#include "base/alloc.h"
#include "read/rocpd/rocpd_scan.h"

extern const struct rk_reader_ops rk_reader_rocpd;

static const char magic[16] = "SQLite format 3";

static int rocpd_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)whole;
	(void)file_name;
	if (len < sizeof(magic) || memcmp(head, magic, sizeof(magic)) != 0)
		return 0;
	/* the statements that made the tables stand in the first pages, mostly */
	return memmem(head, len, "rocpd_", 6) ? 95 : 20;
}

int rk_rocpd_damage(struct rocpd *r, struct rk_error *cause, int rc, struct rk_error *err)
{
	return rk_sqlite_tolerate(r->ctx->diag, rk_instream_path(r->in), cause, rc, err);
}

static void warn_about_file(struct rocpd *r)
{
	const char *path = rk_instream_path(r->in), *hot = rk_sqlite_hot(r->db);

	if (hot)
		rk_diag_add(r->ctx->diag, "hot-wal", path, 0, 1,
			    "a '%s' file was left beside it: a copy with its content is read", hot);
	if (rk_sqlite_cut(r->db))
		rk_diag_add(r->ctx->diag, "damaged-database", path, 0, 1,
			    "the file is shorter than its header says: what is there is read");
}

static const struct rocpd_plan *const plans[] = {
	&rk_rocpd_kernels, &rk_rocpd_memcpy,   &rk_rocpd_memalloc, &rk_rocpd_api,
	&rk_rocpd_markers, &rk_rocpd_counters, &rk_rocpd_agents,   &rk_rocpd_processes,
};

/* Base tables that must be there for a standard table; any one of `any` and all of `all`. */
static const struct {
	enum rk_table table;
	uint32_t any, all;
} needs[] = {
	{ RK_KERNELS, 1u << ROCPD_DISPATCH, 0 },
	{ RK_MEMCPY, 1u << ROCPD_COPY, 0 },
	{ RK_MEMALLOC, 1u << ROCPD_ALLOC, 0 },
	{ RK_API, 1u << ROCPD_REGION | 1u << ROCPD_SAMPLE, 0 },
	{ RK_MARKERS, 1u << ROCPD_REGION | 1u << ROCPD_SAMPLE, 1u << ROCPD_EVENT },
	{ RK_COUNTERS, 1u << ROCPD_PMC_EVENT, 1u << ROCPD_DISPATCH },
	{ RK_AGENTS, 1u << ROCPD_AGENT, 0 },
	{ RK_PROCESSES, 1u << ROCPD_PROCESS, 0 },
};

static uint32_t tables_of(const struct rocpd_set *set)
{
	uint32_t has = 0, tables = 0;

	for (unsigned w = 0; w < ROCPD_NWHAT; w++)
		has |= set->tables[w] ? 1u << w : 0;
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (has & needs[i].any && (has & needs[i].all) == needs[i].all)
			tables |= RK_TABLE_BIT(needs[i].table);
	return tables;
}

static void free_reader(struct rocpd *r)
{
	rk_free(r->sets);
	rk_sqlite_tables_free(r->tables, r->ntables);
	rk_sqlite_close(r->db);
	rk_free(r);
}

static int open_database(struct rocpd *r, struct rk_error *err)
{
	const char *path, *label = rk_instream_path(r->in);
	int rc;

	rc = rk_instream_plain_path(r->in, r->ctx->tmpdir, &path, err);
	if (!rc)
		rc = rk_sqlite_open(path, label, r->ctx->tmpdir, &r->db, err);
	if (!rc)
		rc = rk_sqlite_tables(r->db, "rocpd_", &r->tables, &r->ntables, err);
	if (!rc)
		rc = rk_rocpd_find_sets(r->tables, r->ntables, &r->sets, &r->nsets, err);
	for (size_t i = 0; !rc && i < r->nsets; i++)
		r->base.tables |= tables_of(&r->sets[i]);
	if (!rc && !r->base.tables)
		rc = rk_fail(err, RK_E_UNSUPPORTED, "'%s' is a database without rocpd tables",
			     label);
	if (rc < 0)
		rk_error_at(err, label, 0, 0);
	return rc;
}

static int rocpd_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		      struct rk_error *err)
{
	struct rocpd *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = &rk_reader_rocpd;
	r->in = in;
	r->ctx = ctx;
	rc = open_database(r, err);
	if (rc < 0) {
		free_reader(r);
		return rc;
	}
	warn_about_file(r);
	*ret = &r->base;
	return 0;
}

static int rocpd_scan(struct rk_reader *reader, enum rk_table t, uint64_t want,
		      struct rk_source **ret, struct rk_error *err)
{
	struct rocpd *r = (struct rocpd *)reader;

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		if (plans[i]->table == t)
			return rk_rocpd_scan_open(r, plans[i], want, ret, err);
	return rk_fail(err, RK_E_USAGE, "a rocpd file has no table '%s'", rk_table_name(t));
}

static void rocpd_close(struct rk_reader *reader)
{
	struct rocpd *r = (struct rocpd *)reader;
	struct rk_instream *in = r->in;

	free_reader(r);
	rk_instream_close(in);
}

static const struct rk_db_sign signs[] = { { "rocpd_", 100 }, { 0 } };

const struct rk_reader_ops rk_reader_rocpd = {
	.name = "rocpd",
	.help = "SQLite database of rocprofv3 (ROCm 7.0 and later)",
	.probe = rocpd_probe,
	.open = rocpd_open,
	.scan = rocpd_scan,
	.close = rocpd_close,
	.serial = true,
	.precedence = RK_PRECEDENCE_ROCPD,
	.db_signs = signs,
};
