/* tempdir.c - mkdtemp, files in it, and their removal. */
#include "io/dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/file.h"

struct rk_tempdir {
	char *dir;
	char *path; /* of the file made last */
};

static char *join(const char *dir, const char *name)
{
	size_t len = strlen(dir) + strlen(name) + 2;
	char *p = rk_alloc(len);

	if (p)
		snprintf(p, len, "%s/%s", dir, name);
	return p;
}

int rk_tempdir_new(const char *parent, struct rk_tempdir **ret, struct rk_error *err)
{
	struct rk_tempdir *d = rk_calloc(1, sizeof(*d));
	int rc;

	if (!d)
		return rk_fail_nomem(err);
	if (!parent)
		parent = secure_getenv("TMPDIR");
	if (!parent || !*parent)
		parent = "/tmp";
	d->dir = join(parent, "rockit-XXXXXX");
	if (!d->dir) {
		rk_free(d);
		return rk_fail_nomem(err);
	}
	if (!mkdtemp(d->dir)) {
		rc = rk_fail_errno(err, errno, "cannot make a temporary directory in '%s'", parent);
		rk_free(d->dir);
		rk_free(d);
		return rc;
	}
	*ret = d;
	return 0;
}

int rk_tempdir_create(struct rk_tempdir *d, const char *name, const char **ret_path, int *ret_fd,
		      struct rk_error *err)
{
	char *path = join(d->dir, name);
	int fd;

	if (!path)
		return rk_fail_nomem(err);
	rk_free(d->path);
	d->path = path;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot create '%s'", path);
	*ret_path = path;
	*ret_fd = fd;
	return 0;
}

int rk_tempdir_write(int fd, const void *buf, size_t len, struct rk_error *err)
{
	const char *p = buf;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rk_fail_errno(err, errno, "cannot write a temporary file");
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int copy_bytes(struct rk_file *from, int fd, struct rk_error *err)
{
	enum { CHUNK = 1 << 18 };
	uint8_t *buf = rk_alloc(CHUNK);
	size_t n = 1;
	int rc = buf ? 0 : rk_fail_nomem(err);

	while (!rc && n) {
		rc = rk_file_read(from, buf, CHUNK, &n, err);
		if (!rc)
			rc = rk_tempdir_write(fd, buf, n, err);
	}
	rk_free(buf);
	return rc;
}

int rk_tempdir_copy(struct rk_tempdir *d, const char *from, const char *name, const char **ret_path,
		    struct rk_error *err)
{
	struct rk_file *f = NULL;
	const char *path;
	int fd, rc;

	rc = rk_file_open(from, &f, err);
	if (rc < 0)
		return rc;
	rc = rk_tempdir_create(d, name, &path, &fd, err);
	if (rc < 0)
		goto out;
	rc = copy_bytes(f, fd, err);
	if (close(fd) < 0 && !rc)
		rc = rk_fail_errno(err, errno, "cannot write '%s'", path);
	if (!rc)
		*ret_path = path;
out:
	rk_file_close(f);
	return rc;
}

/* Also what a library put beside our files: SQLite's -shm, for example. */
static void empty_dir(const char *dir)
{
	DIR *h = opendir(dir);
	struct dirent *e;

	if (!h)
		return;
	while ((e = readdir(h)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(h), e->d_name, 0);
	closedir(h);
}

void rk_tempdir_free(struct rk_tempdir *d)
{
	if (!d)
		return;
	empty_dir(d->dir);
	rmdir(d->dir);
	rk_free(d->path);
	rk_free(d->dir);
	rk_free(d);
}
