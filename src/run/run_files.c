/* run_files.c - which files there are, what they hold, and what their paths say. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"
#include "run/ranks.h"
#include "run/run_ranks.h"
#include "write/writer.h"

static struct rk_found *new_found(struct rk_run *run, struct rk_error *err)
{
	size_t cap = run->cap_found ? run->cap_found * 2 : 16;
	struct rk_found *found;

	if (run->nfound == run->cap_found) {
		found = rk_reallocn(run->found, cap, sizeof(*found));
		if (!found) {
			rk_fail_nomem(err);
			return NULL;
		}
		run->found = found;
		run->cap_found = cap;
	}
	found = &run->found[run->nfound++];
	*found = (struct rk_found){ .pass = -1, .rank = -1, .pid = -1, .table_here = -1 };
	return found;
}

static bool read_once(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

/* A trace that rockit wrote, plain: a view of what lies beside it. */
static bool made_here(const char *path)
{
	struct rk_file *f = NULL;
	char head[4096];
	size_t len = 0;
	bool ret = rk_file_open(path, &f, NULL) == 0 && f->seekable &&
		   rk_file_pread(f, head, sizeof(head), 0, &len, NULL) == 0 &&
		   rk_writer_made(head, len);

	rk_file_close(f);
	return ret;
}

/* api.parquet and its like: the table of what is in this folder and below. */
static int table_here(const struct rk_found *f)
{
	const char *name = rk_base_name(f->path);

	for (int t = 0; f->ops->own_tables && t < RK_NTABLES; t++) {
		size_t len = strlen(rk_table_name((enum rk_table)t));

		if (!strncmp(name, rk_table_name((enum rk_table)t), len) &&
		    !strcmp(name + len, ".parquet"))
			return t;
	}
	return -1;
}

/* Tables and databases are never empty. */
static bool is_cut_off(const char *path)
{
	size_t len = strlen(path);
	struct stat st;

	return (rk_text_ends(path, len, ".parquet") || rk_text_ends(path, len, ".db")) &&
	       !stat(path, &st) && S_ISREG(st.st_mode) && !st.st_size;
}

/* `must`: the user named this very file, so that it must be one we know. */
static int look_at(struct rk_run *run, const char *path, bool must, struct rk_error *err)
{
	struct rk_found *f = new_found(run, err);
	struct rk_reader *r = NULL;
	struct rk_error why = { 0 };
	int rc = f ? rk_run_place(f, path, err) : RK_E_NOMEM;

	if (rc < 0)
		return rc;
	rc = rk_reader_open(path, &run->ctx, &r, &why);
	if (rc < 0 && (must || rc == RK_E_NOMEM)) {
		if (err)
			*err = why;
		return rc;
	}
	if (rc == RK_E_UNSUPPORTED && is_cut_off(path)) {
		rk_error_clear(&why);
		rc = rk_fail(&why, RK_E_FORMAT, "the file is empty: it was cut off");
	}
	if (rc < 0) {
		f->unreadable = rc != RK_E_UNSUPPORTED;
		if (f->unreadable)
			rk_diag_add(run->ctx.diag, "unreadable-file", path, why.line, 1, "%s",
				    why.message);
		return 0;
	}
	f->ops = r->ops;
	f->tables = r->tables;
	f->stats_of = r->stats_of;
	f->in_dir = !must;
	f->table_here = must ? -1 : table_here(f);
	f->made_here = !must && !read_once(path) && made_here(path);
	if (read_once(path))
		f->kept = r;
	else
		rk_reader_close(r);
	return 0;
}

/* By this name the kernels of a directory are known. */
#define KERNELS_FILE "rocprof_kernels.parquet"

/* Length of the directory's part of a path, without the slash. */
static size_t dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool is_below(const char *path, const char *dir, size_t len)
{
	return !strncmp(path, dir, len) && path[len] == '/';
}

/*
 * In a directory that rockit made, or wrote its tables to, the tables count, not what they were made
 * from. One whose run was broken off has no tables yet: there the raw files are all there is. Paths
 * are sorted, so what is below a directory stands together; `skip` gets a mark for each file to
 * pass over.
 */
static void pass_over_raw(const struct rk_walk *w, size_t at, bool *skip)
{
	const char *dir = w->paths[at];
	size_t len = dir_len(dir), first = at, last = at;
	bool tables = false;

	while (first > 0 && is_below(w->paths[first - 1], dir, len))
		first--;
	while (last + 1 < w->n && is_below(w->paths[last + 1], dir, len))
		last++;
	for (size_t i = first; i <= last; i++)
		tables |= dir_len(w->paths[i]) == len &&
			  rk_text_ends(w->paths[i], strlen(w->paths[i]), ".parquet");
	for (size_t i = first; tables && i <= last; i++)
		skip[i] |= !rk_text_ends(w->paths[i], strlen(w->paths[i]), ".parquet");
}

/* Whether folders of ranks lie below the one of path `at`. */
static bool above_ranks(const struct rk_walk *w, size_t at)
{
	size_t len = dir_len(w->paths[at]), first = at;
	bool above = false;

	while (first > 0 && is_below(w->paths[first - 1], w->paths[at], len))
		first--;
	for (size_t i = first; i < w->n && is_below(w->paths[i], w->paths[at], len) && !above; i++)
		above = rk_rank_prefix(w->paths[i]) > len + 1;
	return above;
}

static int add_record(struct rk_run *run, const struct rk_walk *w, size_t at, struct rk_error *err)
{
	int rc = rk_records_add(run, w->paths[at], err);

	if (rc == 0)
		run->records[run->nrecords - 1].above = above_ranks(w, at);
	return rc;
}

static int look_at_all(struct rk_run *run, const struct rk_walk *w, struct rk_error *err)
{
	bool *skip = rk_calloc(w->n ? w->n : 1, sizeof(*skip));
	int rc = skip ? 0 : rk_fail_nomem(err);

	for (size_t i = 0; rc == 0 && i < w->n; i++) {
		bool record = rk_text_ends(w->paths[i], strlen(w->paths[i]), "/run.json");

		skip[i] |= record;
		if (record)
			rc = add_record(run, w, i, err);
		if (record || rk_text_ends(w->paths[i], strlen(w->paths[i]), "/" KERNELS_FILE))
			pass_over_raw(w, i, skip);
	}
	for (size_t i = 0; rc == 0 && i < w->n; i++)
		if (!skip[i])
			rc = look_at(run, w->paths[i], false, err);
	rk_free(skip);
	return rc;
}

/* What run.json says was wrong with the run of this directory; NULL: nothing, or there is none. */
static const char *why_nothing(const struct rk_run *run, const char *dir)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	for (size_t i = 0; i < run->nrecords; i++) {
		const struct rk_run_record *r = &run->records[i];

		if (r->ours && is_below(r->dir, dir, len) && !r->dir[len + 1])
			return r->text[RK_REC_WARNING][0] ? r->text[RK_REC_WARNING] : NULL;
	}
	return NULL;
}

/* Nothing to read; where a file could not be read, it is the one to name. */
static int fail_nothing(const struct rk_run *run, const char *dir, struct rk_error *err)
{
	size_t n;
	const struct rk_warning *w = rk_diag_list(run->ctx.diag, &n);
	const char *why = why_nothing(run, dir);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(w[i].kind, "unreadable-file") != 0)
			continue;
		rk_fail(err, RK_E_FORMAT, "%s", w[i].message);
		rk_error_at(err, w[i].file, w[i].line, 0);
		return RK_E_FORMAT;
	}
	if (why)
		return rk_fail(err, RK_E_UNSUPPORTED, "no profiler output in '%s': %s", dir, why);
	return rk_fail(err, RK_E_UNSUPPORTED,
		       "no profiler output in '%s' (see 'rockit help formats')", dir);
}

/* A run's raw files are of its run.json, which lies beside their folder. */
static int look_beside(struct rk_run *run, const char *dir, struct rk_error *err)
{
	return rk_text_ends(dir, strlen(dir), "/rocprof_raw") ? rk_records_near(run, dir, err) : 0;
}

static int look_in_dir(struct rk_run *run, const char *dir, struct rk_error *err)
{
	size_t before = run->nfound, known = 0;
	struct rk_walk w = { 0 };
	int rc = look_beside(run, dir, err);

	if (rc == 0)
		rc = rk_walk_dir(dir, &w, err);

	if (rc == 0)
		rc = look_at_all(run, &w, err);
	rk_walk_release(&w);
	for (size_t i = before; i < run->nfound; i++)
		known += run->found[i].ops != NULL;
	return rc == 0 && !known ? fail_nothing(run, dir, err) : rc;
}

static int look_at_file(struct rk_run *run, const char *path, struct rk_error *err)
{
	int rc = look_at(run, path, true, err);

	return rc == 0 ? rk_records_near(run, path, err) : rc;
}

/* A folder of a rank, or something in it, or what a run is just being made of. */
static bool names_rank(const char *path)
{
	return rk_rank_prefix(path) || rk_rank_of_folder(rk_base_name(path)) >= 0 ||
	       !strcmp(rk_base_name(path), "rocprof_raw");
}

int rk_run_find(struct rk_run *run, const char *const *paths, size_t npaths, struct rk_error *err)
{
	int rc = npaths ? 0 : rk_fail(err, RK_E_USAGE, "no input given");

	for (size_t i = 0; i < npaths; i++)
		run->some_ranks |= names_rank(paths[i]);
	for (size_t i = 0; rc == 0 && i < npaths; i++)
		rc = rk_is_dir(paths[i]) ? look_in_dir(run, paths[i], err) :
					   look_at_file(run, paths[i], err);
	if (rc < 0)
		return rc;
	rk_records_settle(run);
	rc = rk_run_places(run, err);
	if (rc < 0)
		return rc;
	run->files = rk_calloc(run->nfound, sizeof(*run->files));
	run->reasons = rk_calloc(run->nfound, sizeof(*run->reasons));
	return run->files && run->reasons ? 0 : rk_fail_nomem(err);
}
