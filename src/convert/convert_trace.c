/*
 * convert_trace.c - write all tables of a run that have times into one trace, or into a tar with a
 * trace per rank and the manifest that makes viewers show them together.
 *
 * For the archive, each rank is read separately from the files that may have its rows: files whose
 * path names another rank are skipped. The trace of a rank goes to a temporary file first, because
 * tar needs sizes before contents. Ranks of one node are files of one machine. Rows of different
 * nodes are on one clock if they could be aligned (ranks/gather.h); viewers ignore that part of the
 * manifest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/tar_write.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "convert/convert.h"
#include "io/file.h"
#include "ranks/gather.h"
#include "run/sorted.h"
#include "table/stages.h"

#define RANK_ANY (-1)  /* rows of all ranks */
#define RANK_NONE (-2) /* rows without a rank */

enum { RANKS_MAX = 1 << 16 };

/* A trace to write, and the result. */
struct job {
	struct rk_run *run;
	const struct rk_writer_ops *format;
	int table;    /* < 0: all */
	int64_t rank; /* or RANK_ANY, RANK_NONE */
	struct rk_sorted sorted;
	const char *path;
	struct rk_spill *to; /* archive: the trace of this rank */
	uint64_t rows;
	uint32_t node;       /* name id of the first node in the rows, 0: none */
	struct rk_map *pids; /* for an archive: see struct rk_writer */
	uint32_t member;
};

/* ---- one trace ---- */

/* The columns for rank and node. */
static const struct {
	int rank, node;
} place[RK_NTABLES] = {
	[RK_KERNELS] = { RK_K_RANK, RK_K_NODE },   [RK_MEMCPY] = { RK_C_RANK, RK_C_NODE },
	[RK_MEMALLOC] = { RK_M_RANK, RK_M_NODE },  [RK_API] = { RK_A_RANK, RK_A_NODE },
	[RK_MARKERS] = { RK_R_RANK, RK_R_NODE },   [RK_SAMPLES] = { -1, RK_S_NODE },
	[RK_PROCESSES] = { RK_O_RANK, RK_O_NODE }, [RK_AGENTS] = { -1, RK_G_NODE },
};

static int write_table(struct job *j, enum rk_table t, struct rk_writer *w, struct rk_error *err)
{
	bool names = t == RK_AGENTS || t == RK_PROCESSES;
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc;

	if (names)
		rc = rk_run_scan(j->run, t, RK_WANT_ALL, &rows, err);
	else
		rc = rk_sorted_table(&j->sorted, t, &rows, err);
	if (rc == 0 && j->rank != RANK_ANY && place[t].rank >= 0)
		rc = rk_keep_open(rows, (unsigned)place[t].rank, j->rank, j->rank == RANK_NONE,
				  &rows, err);
	while (rc >= 0 && rows && (rc = rk_source_next(rows, &b, err)) > 0) {
		if (!j->node && b->nrows)
			j->node = rk_batch_id(b, (unsigned)place[t].node, 0);
		if (!names)
			j->rows += b->nrows;
		rc = w->ops->batch(w, b, err);
	}
	rk_source_close(rows);
	return rc;
}

static int write_trace(struct job *j, struct rk_output *out, struct rk_error *err)
{
	const uint32_t names = RK_TABLE_BIT(RK_AGENTS) | RK_TABLE_BIT(RK_PROCESSES);
	struct rk_trace_scope scope = { .pids = j->pids, .member = j->member };
	uint32_t tables = rk_run_tables(j->run);
	struct rk_writer *w = NULL;
	int rc;

	j->rows = 0;
	j->node = 0;
	rc = j->format->open(out, NULL, &j->run->ctx, &w, err);
	if (rc < 0)
		return rc;
	if (j->table >= 0)
		tables &= names | RK_TABLE_BIT(j->table);
	for (const enum rk_table *t = rk_trace_tables; *t < RK_NTABLES; t++)
		scope.tables |= tables & RK_TABLE_BIT(*t);
	w->ops->scope(w, &scope);
	for (const enum rk_table *t = rk_trace_tables; *t < RK_NTABLES; t++) {
		if (scope.tables >> *t & 1) {
			rc = write_table(j, *t, w, err);
			if (rc < 0)
				goto out;
		}
	}
	rc = w->ops->finish(w, err);
out:
	w->ops->close(w);
	return rc;
}

static int write_file(void *arg, struct rk_error *err)
{
	struct job *j = arg;
	struct rk_output *out;
	int rc;

	rc = rk_output_open(j->path, &out, err);
	if (rc < 0)
		return rc;
	rc = write_trace(j, out, err);
	if (rc < 0) {
		rk_output_abort(out);
		return rc;
	}
	return rk_output_commit(out, err);
}

/* ---- finding the ranks ---- */

struct ranks {
	int64_t *v;
	size_t n, cap;
	bool none;   /* there are rows without a rank */
	size_t lost; /* ranks that could not be read completely */
};

static int add_rank(struct ranks *r, int64_t rank, struct rk_error *err)
{
	int64_t *v;
	size_t at = r->n;

	while (at && r->v[at - 1] > rank)
		at--;
	if (at && r->v[at - 1] == rank)
		return 0;
	if (r->n == RANKS_MAX)
		return rk_fail(err, RK_E_LIMIT, "more than %d ranks; convert them one by one",
			       RANKS_MAX);
	v = rk_grow(r->v, &r->cap, r->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	r->v = v;
	memmove(v + at + 1, v + at, (r->n - at) * sizeof(*v));
	v[at] = rank;
	r->n++;
	return 0;
}

static int ranks_in(struct rk_run *run, enum rk_table t, unsigned field, struct ranks *r,
		    struct rk_error *err)
{
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc = rk_run_scan(run, t, UINT64_C(1) << field, &rows, err);

	while (rc >= 0 && rows && (rc = rk_source_next(rows, &b, err)) > 0) {
		const struct rk_column *c = &b->cols[field];

		for (size_t i = 0; rc >= 0 && i < b->nrows; i++) {
			if (!rk_column_has(c, i))
				r->none = true;
			else if (!r->n || r->v[r->n - 1] != ((const int32_t *)c->data)[i])
				rc = add_rank(r, ((const int32_t *)c->data)[i], err);
		}
	}
	rk_source_close(rows);
	return rc;
}

/* Ranks named by paths, and by the rows of files whose path does not name one. */
static int find_ranks(struct rk_run *run, struct ranks *r, struct rk_error *err)
{
	static const struct {
		enum rk_table table;
		unsigned field;
	} look[] = { { RK_KERNELS, RK_K_RANK },
		     { RK_MEMCPY, RK_C_RANK },
		     { RK_API, RK_A_RANK },
		     { RK_MARKERS, RK_R_RANK },
		     { RK_MEMALLOC, RK_M_RANK } };
	uint32_t open = 0;
	size_t warnings;
	int rc = 0;

	for (size_t i = 0; i < run->nfound; i++) {
		if (run->found[i].rank < 0 || !run->found[i].used) {
			open |= run->found[i].used;
			continue;
		}
		rc = add_rank(r, run->found[i].rank, err);
		if (rc < 0)
			return rc;
	}
	/* the scan that writes the rows reports problems with the files */
	rk_diag_list(run->ctx.diag, &warnings);
	for (size_t i = 0; rc == 0 && i < sizeof(look) / sizeof(look[0]); i++)
		if (open >> look[i].table & 1)
			rc = ranks_in(run, look[i].table, look[i].field, r, err);
	rk_diag_reset(run->ctx.diag, warnings);
	return rc;
}

/* ---- one rank ---- */

static int write_spill(void *arg, struct rk_error *err)
{
	struct job *j = arg;
	struct rk_output *out;
	int rc;

	if ((rc = rk_spill_resize(j->to, 0, err)) < 0 ||
	    (rc = rk_output_open_spill(j->to, &out, err)) < 0)
		return rc;
	rc = write_trace(j, out, err);
	rk_output_abort(out);
	return rc;
}

static int add_trace(struct job *j, struct rk_output *tar, const char *name, struct rk_error *err)
{
	uint32_t *used = rk_calloc(j->run->nfound + 1, sizeof(*used));
	int rc;

	j->to = NULL;
	if (!used)
		return rk_fail_nomem(err);
	rc = rk_spill_new(j->run->ctx.tmpdir, &j->to, err);
	if (rc < 0)
		goto out;
	/* disable files of other ranks; `used` restores them */
	for (size_t i = 0; i < j->run->nfound; i++) {
		struct rk_found *f = &j->run->found[i];

		used[i] = f->used;
		if (f->rank >= 0 && f->rank != j->rank)
			f->used = 0;
	}
	rc = rk_run_sorted(&j->sorted, write_spill, j, err);
	for (size_t i = 0; i < j->run->nfound; i++)
		j->run->found[i].used = used[i];
	if (rc < 0)
		goto out;
	rc = rk_tar_spill(tar, name, j->to, err);
out:
	rk_spill_free(j->to);
	rk_free(used);
	return rc;
}

/* ---- the archive ---- */

static void put_string(struct rk_bytes *out, const char *key, const char *s)
{
	rk_bytes_puts(out, key);
	rk_json_string(out, s, strlen(s));
}

/* Files without a machine name would all count as one machine. */
static void put_file(struct rk_bytes *m, const struct job *j, const char *name, bool first)
{
	char rank[32] = "no rank";
	const char *machine = rank;
	struct rk_rank_time t;

	if (j->rank != RANK_NONE)
		snprintf(rank, sizeof(rank), "rank %" PRId64, j->rank);
	if (j->node)
		machine = rk_strtab_borrow(j->run->ctx.names, j->node, NULL);
	put_string(m, first ? "\n{\"path\":" : ",\n{\"path\":", name);
	put_string(m, ",\"machine\":{\"name\":", machine);
	rk_bytes_puts(m, "}");
	if (j->run->times && j->rank >= 0 && rk_rank_times_rank(j->run->times, j->rank, &t)) {
		if (t.clock == RK_CLOCK_ALONE) {
			put_string(m, ",\"rockit_clock\":{\"not_aligned\":", t.note);
		} else {
			rk_bytes_printf(m,
					",\"rockit_clock\":{\"offset_ns\":%" PRId64
					",\"drift_ppm\":%.6f,\"error_ns\":%" PRId64,
					t.offset_ns, t.drift_ppm, t.error_ns);
			put_string(m, ",\"by\":", t.by);
		}
		rk_bytes_puts(m, "}");
	}
	rk_bytes_puts(m, "}");
}

/* Skips a damaged rank, unless it is the only one. */
static int write_archive(struct job *j, struct ranks *r, struct rk_output *tar,
			 struct rk_error *err)
{
	struct rk_map pids = { 0 };
	struct rk_bytes text;
	uint64_t rows = 0;
	char name[64];
	int rc;

	rk_bytes_init(&text, 64 << 20);
	/* viewers recognize the file by exactly these first bytes */
	rk_bytes_puts(&text, "{\"perfetto_manifest\":{\"version\":1,\"files\":[");
	j->pids = &pids;
	for (size_t i = 0; i < r->n + r->none; i++) {
		struct rk_error why = { 0 };

		j->rank = i < r->n ? r->v[i] : RANK_NONE;
		j->member = (uint32_t)i;
		if (j->rank == RANK_NONE)
			snprintf(name, sizeof(name), "no-rank.pftrace");
		else
			snprintf(name, sizeof(name), "rank-%05" PRId64 ".pftrace", j->rank);
		rc = add_trace(j, tar, name, &why);
		if (rc == 0) {
			put_file(&text, j, name, i == r->lost);
			rows += j->rows;
			continue;
		}
		if (why.code != RK_E_FORMAT || ++r->lost == r->n + r->none) {
			if (err)
				*err = why;
			goto out;
		}
		rk_diag_add(j->run->ctx.diag, "unreadable-rank", why.file, why.line, 1,
			    "%s; the trace of rank %" PRId64 " is not in the archive", why.message,
			    j->rank);
	}
	rk_bytes_puts(&text, "]}}\n");
	if (text.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = rk_tar_file(tar, "perfetto_manifest.json", text.data, text.len, err);
	if (rc < 0)
		goto out;
	rc = rk_tar_end(tar, err);
out:
	j->rows = rows;
	j->pids = NULL;
	rk_map_release(&pids);
	rk_bytes_release(&text);
	return rc;
}

static int write_tar(struct job *j, unsigned *ret_files, struct rk_error *err)
{
	struct ranks r = { .v = NULL };
	struct rk_output *tar = NULL;
	int rc;

	if (strcmp(j->format->name, "perfetto") != 0)
		return rk_fail(err, RK_E_USAGE,
			       "a .tar archive is written in Perfetto's format only");
	/* the rows of a pipe would only be in the first trace */
	for (const enum rk_table *t = rk_trace_tables; *t < RK_NTABLES; t++)
		if (!rk_run_rescannable(j->run, *t))
			return rk_fail(err, RK_E_USAGE,
				       "a pipe cannot be read once per rank; write a .pftrace");
	rc = find_ranks(j->run, &r, err);
	if (rc < 0)
		goto out;
	if (!r.n)
		r.none = true;
	rc = rk_output_open(j->path, &tar, err);
	if (rc < 0)
		goto out;
	rc = write_archive(j, &r, tar, err);
	if (rc < 0) {
		rk_output_abort(tar);
		goto out;
	}
	*ret_files = 1;
	rc = rk_output_commit(tar, err);
	if (rc == 0 && r.lost)
		rc = rk_fail(err, RK_E_FORMAT,
			     "%zu rank%s could not be read completely; the others are in '%s'",
			     r.lost, rk_plural(r.lost), j->path);
out:
	rk_free(r.v);
	return rc;
}

/* ---- entry point ---- */

int rk_run_convert_trace(struct rk_run *run, const struct rk_convert_options *opt,
			 const struct rk_writer_ops *format, int table,
			 struct rk_convert_result *ret, struct rk_error *err)
{
	struct job j = { .run = run,
			 .sorted = { .run = run },
			 .format = format,
			 .table = table,
			 .rank = RANK_ANY };
	bool dir = rk_names_dir(opt->out);
	struct rk_rank_times *times = NULL;
	unsigned files = 1;
	char *path;
	int rc;

	/* output to a pipe cannot be undone, so sort everything on disk */
	if (!rk_is_dir(opt->out) && rk_output_is_direct(opt->out))
		j.sorted.spill = UINT32_MAX;
	if (dir && (rc = rk_make_dirs(opt->out, err)) < 0)
		return rc;
	path = dir ? rk_strf("%s/trace%s", opt->out, format->suffix) : rk_strdup(opt->out);
	if (!path)
		return rk_fail_nomem(err);
	j.path = path;
	if ((rc = rk_run_spare(run, path, false, err)) < 0 ||
	    (rc = rk_rank_times_new(run, &times, err)) < 0)
		goto out;
	if (!times && (rc = rk_run_check_clocks(run, err)) < 0)
		goto out;
	rk_rank_times_use(run, times);
	if (rk_text_ends(path, strlen(path), ".tar"))
		rc = write_tar(&j, &files, err);
	else
		rc = rk_run_sorted(&j.sorted, write_file, &j, err);
	rk_rank_times_use(run, NULL);
	if (rc < 0)
		goto out;
	if (!times)
		rk_run_tell_clocks(run);
	*ret = (struct rk_convert_result){ j.rows, files };
out:
	rk_rank_times_free(times);
	rk_free(path);
	return rc;
}
