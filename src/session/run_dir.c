/* run_dir.c - see run_dir.h. */
#include "session/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list.h"
#include "io/move_tree.h"
#include "io/output.h"
#include "io/walk.h"
#include "monitor/sampler.h"
#include "run/ranks.h"
#include "run/run_json.h"
#include "session/claim.h"
#include "table/table.h"

static int put_cwd(struct rk_bytes *b, struct rk_error *err)
{
	char cwd[PATH_MAX];

	if (!getcwd(cwd, sizeof(cwd)))
		return rk_fail_errno(err, errno, "cannot tell the working directory");
	rk_bytes_puts(b, cwd);
	rk_bytes_puts(b, cwd[1] ? "/" : "");
	return 0;
}

static void put_default(struct rk_bytes *b)
{
	char stamp[32] = "";
	struct tm tm;
	time_t now = time(NULL);

	if (localtime_r(&now, &tm))
		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	rk_bytes_printf(b, "rockit_output/%s-%ld", stamp, (long)getpid());
}

int rk_run_dir_name(const char *dir, int64_t rank, struct rk_bytes *ret, struct rk_error *err)
{
	int rc;

	/* What a profiler puts below it has to fit, too. */
	if (dir && strlen(dir) > PATH_MAX - 512)
		return rk_fail(err, RK_E_USAGE, "the name of the run directory is too long");
	rc = dir && dir[0] == '/' ? 0 : put_cwd(ret, err);
	if (rc < 0)
		return rc;
	if (dir)
		rk_bytes_puts(ret, dir);
	else
		put_default(ret);
	while (ret->len > 1 && ret->data[ret->len - 1] == '/')
		ret->len--;
	if (rank >= 0)
		rk_bytes_printf(ret, "/rank-%05" PRId64, rank);
	return rk_bytes_str(ret) ? 0 : rk_fail_nomem(err);
}

static int list_names(const char *path, struct rk_list *ret, struct rk_error *err)
{
	DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		return rk_fail_errno(err, errno, "cannot read the directory '%s'", path);
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rk_list_add(ret, e->d_name);
	closedir(d);
	return ret->bad ? rk_fail_nomem(err) : 0;
}

static bool is_table(const char *name)
{
	for (int t = 0; t < RK_NTABLES; t++) {
		const char *stem = rk_table_file((enum rk_table)t);
		size_t len = strlen(stem);

		if (!strncmp(name, stem, len) && !strcmp(name + len, ".parquet"))
			return true;
	}
	return false;
}

/* What a run makes in its directory. */
static bool is_ours(const char *name)
{
	static const char *const names[] = { RK_RUN_JSON, "rocprof_raw", "library_logs",
					     "library_trace.csv", "report.html" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	for (size_t i = 0; i < RK_MONITOR_FILES; i++)
		if (!strcmp(name, rk_monitor_file_names[i]))
			return true;
	return rk_rank_of_folder(name) >= 0 || is_table(name) ||
	       strncmp(name, RK_OWN_PREFIX, strlen(RK_OWN_PREFIX)) == 0;
}

/* A run leaves a run.json; the folder that holds ranks, or samples alone, has only our names. */
static bool was_run(const struct rk_list *names)
{
	bool ours = true;

	for (size_t i = 0; i < names->n; i++)
		ours = ours && is_ours(names->v[i]);
	return ours || rk_list_has(names, RK_RUN_JSON);
}

static int remove_all(const char *dir, const char *name, struct rk_error *err)
{
	char *path = rk_strf("%s/%s", dir, name);
	int rc = path ? 0 : rk_fail_nomem(err);

	if (path)
		rc = rk_remove_tree(path, err);
	rk_free(path);
	return rc;
}

static int take_over(const char *path, const struct rk_list *names, bool force,
		     struct rk_error *err)
{
	int rc = 0;

	if (!force)
		return rk_fail(err, RK_E_IO,
			       "the directory '%s' holds something already; name another or add "
			       "--force",
			       path);
	if (!was_run(names))
		return rk_fail(err, RK_E_IO,
			       "the directory '%s' holds something, and no run of rockit: --force "
			       "leaves it alone; name another",
			       path);
	for (size_t i = 0; rc == 0 && i < names->n; i++)
		if (is_ours(names->v[i]) && strcmp(names->v[i], RK_CLAIM_NAME) != 0)
			rc = remove_all(path, names->v[i], err);
	return rc;
}

int rk_run_dir_make(const char *path, bool force, struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = rk_make_dirs(path, err);

	if (rc == 0)
		rc = list_names(path, &names, err);
	if (rc == 0 && names.n > rk_list_has(&names, RK_CLAIM_NAME))
		rc = take_over(path, &names, force, err);
	rk_list_release(&names);
	return rc;
}

int rk_run_dir_claim(const char *raw_dir, struct rk_error *err)
{
	if (mkdir(raw_dir, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return rk_fail_errno(err, errno, "cannot make the directory '%s'", raw_dir);
	return rk_fail(err, RK_E_IO,
		       "another run has just begun to use '%.*s'; name another directory",
		       (int)(strrchr(raw_dir, '/') - raw_dir), raw_dir);
}

int rk_count_files(const char *path, uint64_t *ret_files, uint64_t *ret_bytes, struct rk_error *err)
{
	struct rk_walk w = { 0 };
	struct stat st;
	int rc = rk_is_dir(path) ? rk_walk_dir(path, &w, err) : 0;

	*ret_files = *ret_bytes = 0;
	for (size_t i = 0; rc == 0 && i < w.n; i++) {
		if (stat(w.paths[i], &st) || !S_ISREG(st.st_mode))
			continue;
		++*ret_files;
		*ret_bytes += (uint64_t)st.st_size;
	}
	rk_walk_release(&w);
	return rc;
}
