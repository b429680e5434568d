/* run_files.c - which files there are, what they hold, and what their paths say. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/run.h"
#include "base/alloc.h"
#include "base/text.h"

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
	*found = (struct rk_found){ .pass = -1, .rank = -1, .pid = -1 };
	return found;
}

static bool read_once(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
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
	if (rc < 0) {
		if (rc != RK_E_UNSUPPORTED)
			rk_diag_add(run->ctx.diag, "unreadable-file", path, why.line, 1, "%s",
				    why.message);
		return 0;
	}
	f->ops = r->ops;
	f->tables = r->tables;
	f->stats_of = r->stats_of;
	if (read_once(path))
		f->kept = r;
	else
		rk_reader_close(r);
	return 0;
}

/* A directory that rockit made: its Parquet files, not what they were made from. */
static bool is_rockit_dir(const char *dir, struct rk_bytes *path)
{
	struct stat st;

	rk_bytes_clear(path);
	rk_bytes_printf(path, "%s/run.json", dir);
	return rk_bytes_str(path) && !stat(rk_bytes_str(path), &st);
}

static int look_in_dir(struct rk_run *run, const char *dir, struct rk_error *err)
{
	size_t before = run->nfound, known = 0;
	struct rk_bytes path;
	struct rk_walk w = { 0 };
	bool made_here;
	int rc = rk_walk_dir(dir, &w, err);

	rk_bytes_init(&path, 1 << 16);
	made_here = is_rockit_dir(dir, &path);
	rk_bytes_release(&path);
	for (size_t i = 0; rc == 0 && i < w.n; i++)
		if (!made_here || rk_text_ends(w.paths[i], strlen(w.paths[i]), ".parquet"))
			rc = look_at(run, w.paths[i], false, err);
	rk_walk_release(&w);
	for (size_t i = before; i < run->nfound; i++)
		known += run->found[i].ops != NULL;
	if (rc == 0 && !known)
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "no profiler output in '%s' (see 'rockit help formats')", dir);
	return rc;
}

int rk_run_find(struct rk_run *run, const char *const *paths, size_t npaths, struct rk_error *err)
{
	int rc = npaths ? 0 : rk_fail(err, RK_E_USAGE, "no input given");

	for (size_t i = 0; rc == 0 && i < npaths; i++)
		rc = rk_is_dir(paths[i]) ? look_in_dir(run, paths[i], err) :
					   look_at(run, paths[i], true, err);
	if (rc < 0)
		return rc;
	run->files = rk_calloc(run->nfound, sizeof(*run->files));
	run->reasons = rk_calloc(run->nfound, sizeof(*run->reasons));
	return run->files && run->reasons ? 0 : rk_fail_nomem(err);
}
