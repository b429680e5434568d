/* run_dir.c - see run_dir.h. */
#include "session/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/output.h"
#include "io/walk.h"

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
	int rc = dir && dir[0] == '/' ? 0 : put_cwd(ret, err);

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

/* The parents of `path`, one after the other; `path` is given back as it was. */
static int make_parents(char *path, struct rk_error *err)
{
	for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
		int failed, why;

		*p = '\0';
		failed = mkdir(path, 0777);
		why = errno;
		if (failed && why != EEXIST && !rk_is_dir(path))
			return rk_fail_errno(err, why, "cannot make the directory '%s'", path);
		*p = '/';
	}
	return 0;
}

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	bool empty = d != NULL;

	while (d && empty && (e = readdir(d)) != NULL)
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return empty;
}

int rk_run_dir_make(const char *path, bool force, struct rk_error *err)
{
	char *copy = rk_strdup(path);
	int rc = copy ? make_parents(copy, err) : rk_fail_nomem(err);

	rk_free(copy);
	if (rc < 0 || mkdir(path, 0777) == 0)
		return rc;
	if (errno != EEXIST)
		return rk_fail_errno(err, errno, "cannot make the directory '%s'", path);
	if (!rk_is_dir(path))
		return rk_fail(err, RK_E_IO, "'%s' is there and is no directory", path);
	if (force || is_empty(path))
		return 0;
	return rk_fail(err, RK_E_IO,
		       "the directory '%s' holds something already; name another or add --force",
		       path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

static bool is_ours(const char *name)
{
	static const char *const names[] = { "run.json",
					     "rocprof_raw",
					     "library_logs",
					     "library_trace.csv",
					     "gpu_info_power_profiler_output.csv",
					     "gpu_info_vram_profiler_output.csv",
					     "gpu_info_samples.csv" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "rank-", 5) || rk_text_ends(name, len, ".parquet");
}

int rk_run_dir_clear(const char *path, struct rk_error *err)
{
	DIR *d = opendir(path);
	struct dirent *e;
	struct rk_bytes b;
	int rc = 0;

	rk_bytes_init(&b, 1 << 16);
	while (d && rc == 0 && (e = readdir(d)) != NULL) {
		if (!is_ours(e->d_name))
			continue;
		rk_bytes_clear(&b);
		rk_bytes_printf(&b, "%s/%s", path, e->d_name);
		if (!rk_bytes_str(&b))
			rc = rk_fail_nomem(err);
		else if (nftw(rk_bytes_str(&b), remove_one, 16, FTW_DEPTH | FTW_PHYS))
			rc = rk_fail_errno(err, errno, "cannot remove '%s'", rk_bytes_str(&b));
	}
	if (d)
		closedir(d);
	rk_bytes_release(&b);
	return rc;
}

int rk_make_dirs(const char *path, struct rk_error *err)
{
	return rk_run_dir_make(path, true, err);
}

int rk_write_file(const char *path, const char *text, size_t len, struct rk_error *err)
{
	struct rk_output *o = NULL;
	int rc = rk_output_open(path, &o, err);

	if (rc < 0)
		return rc;
	rc = rk_output_write(o, text, len, err);
	if (rc == 0)
		return rk_output_commit(o, err);
	rk_output_abort(o);
	return rc;
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
