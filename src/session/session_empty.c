/*
 * session_empty.c - the kernels of a run that recorded none: a table without rows.
 *
 * What reads rocprof_kernels.parquet after each run is then told that there were none, and not that
 * there is no such file.
 */
#include <unistd.h>

#include "base/alloc.h"
#include "session/session_impl.h"
#include "table/table.h"
#include "write/writer.h"

static int make_context(struct rk_context *ctx, struct rk_error *err)
{
	int rc = rk_strtab_new(RK_NAMES_MAX_BYTES, &ctx->names, err);

	if (rc == 0)
		rc = rk_diag_new(&ctx->diag, err);
	return rc < 0 ? rc : rk_pool_new(1, &ctx->pool, err);
}

static int write_empty(const char *path, struct rk_error *err)
{
	const struct rk_writer_ops *parquet = rk_writer_by_name("parquet");
	struct rk_context ctx = { .tmpdir = NULL };
	struct rk_output *out = NULL;
	struct rk_writer *w = NULL;
	int rc = make_context(&ctx, err);

	if (rc == 0)
		rc = rk_output_open(path, &out, err);
	if (rc == 0)
		rc = parquet->open(out, rk_table_schema(RK_KERNELS), &ctx, &w, err);
	if (rc == 0)
		rc = parquet->finish(w, err);
	if (w)
		parquet->close(w);
	if (rc == 0)
		rc = rk_output_commit(out, err);
	else
		rk_output_abort(out);
	rk_pool_free(ctx.pool);
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
	return rc;
}

int rk_session_empty_kernels(const struct rk_session *s, struct rk_error *err)
{
	const struct rk_plan *p = s->plan;
	char *path;
	int rc;

	/*
	 * A rank without tables is told of by those who read the job; a run that was broken off, or whose
	 * program or profiler failed, may have had kernels.
	 */
	if (p->rank.rank >= 0 || p->rank_key || s->result->status ||
	    s->result->passes_done < s->result->passes)
		return 0;
	path = rk_strf("%s/%s.parquet", p->dir, rk_table_file(RK_KERNELS));
	rc = path ? 0 : rk_fail_nomem(err);
	if (path && access(path, F_OK))
		rc = write_empty(path, err);
	rk_free(path);
	return rc;
}
