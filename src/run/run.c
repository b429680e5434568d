/* run.c - a run: opened, looked at, closed. */
#include "run/run_ranks.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "run/energy.h"
#include "write/writer.h"

/* Each thread has memory of its own: more than this would break the promise of 64 MB. */
enum { MAX_DEFAULT_THREADS = 16 };

static unsigned cpus(void)
{
	cpu_set_t set;
	int n = 1;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	return n < 1 ? 1 : n > MAX_DEFAULT_THREADS ? MAX_DEFAULT_THREADS : (unsigned)n;
}

static int make_context(struct rk_run *run, struct rk_error *err)
{
	struct rk_context *ctx = &run->ctx;
	int rc = rk_strtab_new(RK_NAMES_MAX_BYTES, &ctx->names, err);

	if (rc == 0)
		rc = rk_diag_new(&ctx->diag, err);
	if (rc == 0)
		rc = rk_pool_new(run->opt.threads ? run->opt.threads : cpus(), &ctx->pool, err);
	if (rc == 0 && run->opt.tmpdir) {
		run->tmpdir = rk_strdup(run->opt.tmpdir);
		rc = run->tmpdir ? 0 : rk_fail_nomem(err);
	}
	ctx->tmpdir = run->opt.tmpdir = run->tmpdir;
	return rc < 0 ? rc : rk_run_guard(run, err);
}

int rk_run_open(const char *const *paths, size_t npaths, const struct rk_run_options *opt,
		struct rk_run **ret, struct rk_error *err)
{
	struct rk_run *run;
	int rc;

	if (!ret || !rk_texts_there(paths, npaths))
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	run = rk_calloc(1, sizeof(*run));
	if (!run)
		return rk_fail_nomem(err);
	if (opt)
		run->opt = *opt;
	run->style = (struct rk_name_style){ run->opt.mangled, run->opt.truncate };
	rc = make_context(run, err);
	if (rc == 0)
		rc = rk_run_find(run, paths, npaths, err);
	if (rc == 0)
		rc = rk_run_settle(run, err);
	if (rc == 0)
		rc = rk_handle_open(RK_HANDLE_RUN, run, rk_run_destroy, err);
	if (rc < 0) {
		rk_run_destroy(run);
		return rc;
	}
	*ret = run;
	return 0;
}

void rk_run_destroy(void *p)
{
	struct rk_run *run = p;

	for (size_t i = 0; i < run->nfound; i++) {
		rk_reader_close(run->found[i].kept);
		rk_free(run->found[i].path);
		rk_free(run->found[i].group);
		rk_free(run->found[i].counters);
		rk_free(run->found[i].keys);
		rk_free(run->found[i].program);
	}
	for (size_t i = 0; i < run->nrecords; i++)
		rk_record_clear(&run->records[i]);
	rk_free(run->records);
	rk_run_places_free(run);
	for (size_t i = 0; run->reasons && i < run->nfound; i++)
		rk_free(run->reasons[i]);
	rk_free(run->reasons);
	rk_free(run->files);
	rk_free(run->found);
	if (run->counters)
		rk_counter_set_release(run->counters);
	rk_free(run->counters);
	rk_energy_free(run->energy);
	rk_free(run->energy_fields);
	rk_pool_free(run->ctx.pool);
	rk_diag_free(run->ctx.diag);
	rk_strtab_free(run->ctx.names);
	rk_run_unguard(run);
	rk_free(run->tmpdir);
	rk_free(run);
}

const char *rk_version(void)
{
	return ROCKIT_VERSION;
}

uint32_t rk_run_tables(const struct rk_run *run)
{
	uint32_t tables = 0;

	for (size_t i = 0; i < run->nfound; i++)
		tables |= run->found[i].used;
	return tables;
}

struct rk_context *rk_run_context(struct rk_run *run)
{
	return &run->ctx;
}

const char *rk_run_stats_of(const struct rk_run *run)
{
	const char *of = NULL;

	if (rk_run_tables(run) != RK_TABLE_BIT(RK_STATS))
		return NULL;
	for (size_t i = 0; i < run->nfound; i++) {
		const char *its = run->found[i].stats_of;

		if (!run->found[i].used)
			continue;
		if (!its || (of && strcmp(of, its)))
			return NULL;
		of = its;
	}
	/* to the outside, statistics of markers and of allocations are of calls */
	if (of && (!strcmp(of, "marker") || !strcmp(of, "memory")))
		return "api";
	return of;
}

void rk_run_tell_names(struct rk_run *run)
{
	if (rk_strtab_overflowed(run->ctx.names))
		rk_diag_most(run->ctx.diag, "name-table-full", "", 0, 1,
			     "more distinct names than are kept; the others stand as '(name table "
			     "full) #xyz', several under one");
}

const struct rk_warning *rk_run_warnings(const struct rk_run *run, size_t *ret_n)
{
	const struct rk_warning *list;

	if (!ret_n)
		return NULL;
	*ret_n = 0;
	if (rk_run_enter(run, __func__, NULL) < 0)
		return NULL;
	list = rk_diag_list(run->ctx.diag, ret_n);
	rk_run_leave(run);
	return list;
}

int rk_run_copy_warnings(const struct rk_run *run, const struct rk_warning **ret, size_t *ret_n,
			 struct rk_error *err)
{
	size_t n;
	const struct rk_warning *list = rk_diag_list(run->ctx.diag, &n);
	struct rk_warning *copy = rk_calloc(n + 1, sizeof(*copy));

	if (!copy)
		return rk_fail_nomem(err);
	if (n)
		memcpy(copy, list, n * sizeof(*copy));
	*ret = copy;
	*ret_n = n;
	return 0;
}

const struct rk_run_file *rk_run_files(const struct rk_run *run, size_t *ret_n)
{
	const struct rk_run_file *files;

	if (!ret_n)
		return NULL;
	*ret_n = 0;
	if (rk_run_enter(run, __func__, NULL) < 0)
		return NULL;
	*ret_n = run->files ? run->nfound : 0;
	files = run->files;
	rk_run_leave(run);
	return files;
}

const char *rk_table_at(size_t i)
{
	return i < RK_NTABLES ? rk_table_name((enum rk_table)i) : NULL;
}

const char *rk_format_name(bool writer, size_t i, const char **ret_help)
{
	const struct rk_reader_ops *reader;
	size_t n = 0;

	if (!writer) {
		reader = rk_reader_at(i);
		if (reader && ret_help)
			*ret_help = reader->help;
		return reader ? reader->name : NULL;
	}
	while (n < i && rk_writers[n])
		n++;
	if (rk_writers[n] && ret_help)
		*ret_help = rk_writers[n]->help;
	return rk_writers[n] ? rk_writers[n]->name : NULL;
}
