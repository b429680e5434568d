/* collect.c - see collect.h. */
#include "session/collect.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "io/output.h"
#include "monitor/sampler.h"
#include "session/run_dir.h"

static int by_rank(const void *a, const void *b)
{
	int64_t x = rk_rank_of_folder(*(char *const *)a), y = rk_rank_of_folder(*(char *const *)b);

	return (x > y) - (x < y);
}

/* Names of the folders "rank-K" in `dir`, by rank. */
static int rank_folders(const char *dir, struct rk_list *ret, struct rk_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (rk_rank_of_folder(e->d_name) >= 0)
			rk_list_add(ret, e->d_name);
	if (d)
		closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_rank);
	return ret->bad ? rk_fail_nomem(err) : 0;
}

/* <from>/rank-K becomes <dir>/rank-KKKKK/rocprof_raw[/pass_N]. */
static int move_rank(const struct rk_plan *p, const char *from, const char *name,
		     struct rk_error *err)
{
	const char *pass = from + strlen(p->raw_dir); /* "" or "/pass_N" */
	char *old = rk_strf("%s/%s", from, name);
	char *new = rk_strf("%s/rank-%05" PRId64 "/rocprof_raw%s", p->dir, rk_rank_of_folder(name),
			    pass);
	int rc = old && new ? rk_make_dirs(new, err) : rk_fail_nomem(err);

	/* an empty directory may be renamed over */
	if (rc == 0 && rename(old, new))
		rc = rk_fail_errno(err, errno, "cannot move '%s' to '%s'", old, new);
	rk_free(old);
	rk_free(new);
	return rc;
}

static int collect_in(const struct rk_plan *p, const char *dir, struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = rank_folders(dir, &names, err);

	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = move_rank(p, dir, names.v[i], err);
	rk_list_release(&names);
	return rc;
}

int rk_collect_ranks(const struct rk_plan *p, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && p->rank_key && i < p->npasses; i++)
		rc = collect_in(p, p->passes[i].dir, err);
	return rc;
}

static int add_if_there(struct rk_list *l, const char *dir, const char *name, struct rk_error *err)
{
	char *path = rk_strf("%s/%s", dir, name);
	struct stat st;
	int rc = path ? 0 : rk_fail_nomem(err);

	if (path && stat(path, &st) == 0)
		rk_list_add(l, path);
	rk_free(path);
	return rc;
}

static int add_ranks(struct rk_list *l, const char *dir, struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = rank_folders(dir, &names, err);

	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = add_if_there(l, dir, names.v[i], err);
	rk_list_release(&names);
	return rc;
}

int rk_collect_inputs(const struct rk_plan *p, struct rk_list *ret, struct rk_error *err)
{
	uint64_t files = 0, bytes;
	int rc = rk_count_files(p->raw_dir, &files, &bytes, err);

	if (rc == 0 && files)
		rk_list_add(ret, p->raw_dir);
	if (rc == 0 && p->rank_key)
		rc = add_ranks(ret, p->dir, err);
	for (size_t i = 0; rc == 0 && i < RK_MONITOR_FILES; i++)
		rc = add_if_there(ret, p->dir, rk_monitor_file_names[i], err);
	if (rc == 0)
		rc = add_if_there(ret, p->dir, "library_trace.csv", err);
	return rc == 0 && ret->bad ? rk_fail_nomem(err) : rc;
}
