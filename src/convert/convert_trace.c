/* convert_trace.c - all tables of a run that have times, one after another into one writer. */
#include "convert/convert_trace.h"

#include <string.h>

#include "base/text.h"
#include "io/spill.h"
#include "ranks/gather.h"
#include "table/keep.h"

/* Which column tells the rank and the node. */
static const struct {
	int rank, node;
} place[RK_NTABLES] = {
	[RK_KERNELS] = { RK_K_RANK, RK_K_NODE },   [RK_MEMCPY] = { RK_C_RANK, RK_C_NODE },
	[RK_MEMALLOC] = { RK_M_RANK, RK_M_NODE },  [RK_API] = { RK_A_RANK, RK_A_NODE },
	[RK_MARKERS] = { RK_R_RANK, RK_R_NODE },   [RK_SAMPLES] = { -1, RK_S_NODE },
	[RK_PROCESSES] = { RK_O_RANK, RK_O_NODE }, [RK_AGENTS] = { -1, RK_G_NODE },
};

static bool wanted(const struct rk_trace_job *j, enum rk_table t)
{
	bool names = t == RK_AGENTS || t == RK_PROCESSES;

	return rk_run_tables(j->run) >> t & 1 && (j->table < 0 || j->table == (int)t || names);
}

static void note_node(struct rk_trace_job *j, const struct rk_batch *b)
{
	const struct rk_column *c = &b->cols[place[b->schema->table].node];

	if (!j->node && b->nrows && rk_column_has(c, 0))
		j->node = ((const uint32_t *)c->data)[0];
}

static int open_rows(struct rk_trace_job *j, enum rk_table t, struct rk_source **ret,
		     struct rk_error *err)
{
	bool names = t == RK_AGENTS || t == RK_PROCESSES;
	int rc = names ? rk_run_scan(j->run, t, RK_WANT_ALL, ret, err) :
			 rk_sorted_table(&j->sorted, t, ret, err);

	if (rc == 0 && j->rank != RK_RANK_ANY && place[t].rank >= 0)
		rc = rk_keep_open(*ret, (unsigned)place[t].rank, j->rank, j->rank == RK_RANK_NONE,
				  ret, err);
	return rc;
}

static int write_table(struct rk_trace_job *j, enum rk_table t, struct rk_writer *w,
		       struct rk_error *err)
{
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc = open_rows(j, t, &rows, err);

	while (rc >= 0 && rows && (rc = rk_source_next(rows, &b, err)) > 0) {
		note_node(j, b);
		if (t != RK_AGENTS && t != RK_PROCESSES)
			j->rows += b->nrows;
		rc = w->ops->batch(w, b, err);
	}
	rk_source_close(rows);
	return rc;
}

int rk_trace_write(struct rk_trace_job *j, struct rk_output *out, struct rk_error *err)
{
	struct rk_writer *w = NULL;
	int rc = j->format->open(out, NULL, &j->run->ctx, &w, err);

	j->rows = 0;
	j->node = 0;
	if (rc < 0)
		return rc;
	w->pids = j->pids;
	w->member = j->member;
	for (const enum rk_table *t = rk_trace_tables; *t < RK_NTABLES; t++)
		if (wanted(j, *t))
			w->tables |= RK_TABLE_BIT(*t);
	for (const enum rk_table *t = rk_trace_tables; rc == 0 && *t < RK_NTABLES; t++)
		if (w->tables >> *t & 1)
			rc = write_table(j, *t, w, err);
	if (rc == 0)
		rc = w->ops->finish(w, err);
	w->ops->close(w);
	return rc;
}

static int write_file(void *arg, struct rk_error *err)
{
	struct rk_trace_job *j = arg;
	struct rk_output *out = NULL;
	int rc = rk_output_open(j->path, &out, err);

	if (rc == 0)
		rc = rk_trace_write(j, out, err);
	if (rc == 0)
		return rk_output_commit(out, err);
	rk_output_abort(out);
	return rc;
}

/* DIR/trace.pftrace for a directory. */
static int path_of(const struct rk_convert_options *opt, const struct rk_writer_ops *format,
		   struct rk_bytes *path, struct rk_error *err)
{
	size_t len = strlen(opt->out);
	bool dir = (len && opt->out[len - 1] == '/') || rk_is_dir(opt->out);
	int rc = dir ? rk_make_dirs(opt->out, err) : 0;

	rk_bytes_puts(path, opt->out);
	if (dir)
		rk_bytes_printf(path, "/trace%s", format->suffix);
	return rc == 0 && !rk_bytes_str(path) ? rk_fail_nomem(err) : rc;
}

int rk_run_convert_trace(struct rk_run *run, const struct rk_convert_options *opt,
			 const struct rk_writer_ops *format, int table,
			 struct rk_convert_result *ret, struct rk_error *err)
{
	struct rk_trace_job j = { .run = run,
				  .sorted = { .run = run },
				  .format = format,
				  .table = table,
				  .rank = RK_RANK_ANY };
	struct rk_fuse_times *times = NULL;
	unsigned files = 1;
	struct rk_bytes path;
	int rc;

	rk_bytes_init(&path, 1 << 16);
	/* what was written to a pipe cannot be taken back: all is sorted on disk */
	if (!rk_is_dir(opt->out) && rk_output_is_direct(opt->out))
		j.sorted.spill = UINT32_MAX;
	rc = path_of(opt, format, &path, err);
	j.path = rk_bytes_str(&path);
	if (rc == 0)
		rc = rk_run_spare(run, j.path, false, err);
	if (rc == 0)
		rc = rk_fuse_times_new(run, &times, err);
	if (rc == 0 && !times)
		rc = rk_run_check_clocks(run, err);
	rk_fuse_times_use(run, times);
	if (rc == 0)
		rc = rk_text_ends((const char *)path.data, path.len, ".tar") ?
			     rk_trace_archive(&j, &files, err) :
			     rk_run_sorted(&j.sorted, write_file, &j, err);
	rk_bytes_release(&path);
	rk_fuse_times_use(run, NULL);
	if (rc == 0 && !times)
		rk_run_tell_clocks(run);
	rk_fuse_times_free(times);
	if (rc == 0)
		*ret = (struct rk_convert_result){ j.rows, files };
	return rc;
}
