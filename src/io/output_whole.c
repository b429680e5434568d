/* output_whole.c - a file or a directory in one call. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "io/dirs.h"
#include "io/output.h"

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

static int make_one(const char *path, struct rk_error *err)
{
	int why = mkdir(path, 0777) ? errno : 0;

	/* A file system that is read-only says so even of a directory that is there. */
	if (!why || rk_is_dir(path))
		return 0;
	if (why == EEXIST)
		return rk_fail(err, RK_E_IO, "'%s' is there and is no directory", path);
	return rk_fail_errno(err, why, "cannot make the directory '%s'", path);
}

int rk_make_dirs(const char *path, struct rk_error *err)
{
	char *copy = rk_strdup(path);
	int rc = copy ? 0 : rk_fail_nomem(err);

	for (char *p = copy; rc == 0 && *p && (p = strchr(p + 1, '/')) != NULL;) {
		*p = '\0';
		rc = make_one(copy, err);
		*p = '/';
	}
	if (rc == 0)
		rc = make_one(copy, err);
	rk_free(copy);
	return rc;
}
