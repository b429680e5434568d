/* dirs.c - see dirs.h. */
#include "io/dirs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list.h"
#include "io/file.h"

struct list {
	char **paths;
	size_t n, cap;
};

bool rk_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Links to directories are not followed, because they may form a loop. */
static int walk(struct list *l, const char *dir, bool hidden, unsigned depth, struct rk_error *err)
{
	size_t len = strlen(dir);
	struct stat st, target;
	struct dirent *e;
	char **paths;
	int rc = 0;
	DIR *d;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (depth > RK_WALK_MAX_DEPTH)
		return rk_fail(err, RK_E_LIMIT, "'%s' is more than %d directories deep", dir,
			       RK_WALK_MAX_DEPTH);
	d = opendir(dir);
	if (!d)
		return rk_fail_errno(err, errno, "cannot read directory '%s'", dir);
	while (!rc && (e = readdir(d))) {
		char *path;

		if (e->d_name[0] == '.' &&
		    (!hidden || !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")))
			continue;
		path = rk_strf("%.*s/%s", (int)len, dir, e->d_name);
		if (!path) {
			rc = rk_fail_nomem(err);
		} else if (lstat(path, &st) || (S_ISLNK(st.st_mode) && stat(path, &target))) {
			/* removed in the meantime, or a dangling link */
		} else if (S_ISDIR(st.st_mode)) {
			rc = walk(l, path, hidden, depth + 1, err);
		} else if (S_ISREG(st.st_mode) ||
			   (S_ISLNK(st.st_mode) && S_ISREG(target.st_mode))) {
			if (l->n >= RK_WALK_MAX_FILES) {
				rc = rk_fail(err, RK_E_LIMIT,
					     "more than %d files below one directory",
					     RK_WALK_MAX_FILES);
			} else if (!(paths = rk_grow(l->paths, &l->cap, l->n + 1,
						     sizeof(*paths)))) {
				rc = rk_fail_nomem(err);
			} else {
				l->paths = paths;
				paths[l->n++] = path;
				path = NULL;
			}
		}
		rk_free(path);
	}
	closedir(d);
	return rc;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int walk_sorted(const char *dir, bool hidden, struct rk_walk *ret, struct rk_error *err)
{
	struct list l = { 0 };
	int rc = walk(&l, dir, hidden, 0, err);

	*ret = (struct rk_walk){ .paths = l.paths, .n = l.n };
	if (rc < 0) {
		rk_walk_release(ret);
		return rc;
	}
	if (l.n)
		qsort(l.paths, l.n, sizeof(*l.paths), by_bytes);
	return 0;
}

int rk_walk_dir(const char *dir, struct rk_walk *ret, struct rk_error *err)
{
	return walk_sorted(dir, false, ret, err);
}

int rk_walk_all(const char *dir, struct rk_walk *ret, struct rk_error *err)
{
	return walk_sorted(dir, true, ret, err);
}

void rk_walk_release(struct rk_walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		rk_free(w->paths[i]);
	rk_free(w->paths);
	*w = (struct rk_walk){ 0 };
}

/* ---- trees ---- */

enum { BLOCK_BYTES = 256 << 10 };

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

int rk_remove_tree(const char *path, struct rk_error *err)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return rk_fail_errno(err, errno, "cannot remove '%s'", path);
	return 0;
}

/* Blocks of zeros become holes: recorders map more of a file than they use. */
static bool copy_bytes(int in, int out, uint8_t *block)
{
	off_t size = 0;

	for (;;) {
		size_t len = 0, done = 0;
		ssize_t n = 1;

		while (len < BLOCK_BYTES && n) {
			n = read(in, block + len, BLOCK_BYTES - len);
			if (n < 0 && errno != EINTR)
				return false;
			if (n > 0)
				len += (size_t)n;
		}
		if (!len)
			break;
		if (len == BLOCK_BYTES && block[0] == 0 && !memcmp(block, block + 1, len - 1)) {
			if (lseek(out, (off_t)len, SEEK_CUR) < 0)
				return false;
			done = len;
		}
		while (done < len) {
			n = write(out, block + done, len - done);
			if (n == 0 || (n < 0 && errno != EINTR))
				return false;
			if (n > 0)
				done += (size_t)n;
		}
		size += (off_t)len;
	}
	return ftruncate(out, size) == 0 && fsync(out) == 0;
}

static int copy_file(const char *from, const char *to, mode_t mode, struct rk_error *err)
{
	uint8_t *block = rk_alloc(BLOCK_BYTES);
	int in, out = -1, rc = 0;

	if (!block)
		return rk_fail_nomem(err);
	in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in >= 0)
		out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
	if (out < 0 || !copy_bytes(in, out, block))
		rc = rk_fail_errno(err, errno, "cannot copy '%s' to '%s'", from, to);
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && rc == 0)
		rc = rk_fail_errno(err, errno, "cannot write '%s'", to);
	rk_free(block);
	return rc;
}

static int copy_link(const char *from, const char *to, struct rk_error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n >= 0) {
		target[n] = '\0';
		if (symlink(target, to) == 0)
			return 0;
	}
	return rk_fail_errno(err, errno, "cannot copy the link '%s' to '%s'", from, to);
}

static int names_in(const char *dir, struct rk_list *ret, struct rk_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return rk_fail_errno(err, errno, "cannot read directory '%s'", dir);
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rk_list_add(ret, e->d_name);
	closedir(d);
	return ret->bad ? rk_fail_nomem(err) : 0;
}

/* Copies a file, directory or symbolic link. */
static int copy_any(const char *from, const char *to, unsigned depth, struct rk_error *err)
{
	struct rk_list names = { 0 };
	struct stat st;
	int rc;

	if (lstat(from, &st))
		return rk_fail_errno(err, errno, "cannot stat '%s'", from);
	if (S_ISREG(st.st_mode))
		return copy_file(from, to, st.st_mode, err);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, err);
	if (!S_ISDIR(st.st_mode))
		return 0;

	if (depth >= RK_WALK_MAX_DEPTH)
		return rk_fail(err, RK_E_LIMIT, "folders in '%s' are nested too deeply", from);
	if (mkdir(to, 0777))
		return rk_fail_errno(err, errno, "cannot create directory '%s'", to);
	rc = names_in(from, &names, err);
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		char *old = rk_strf("%s/%s", from, names.v[i]);
		char *new = rk_strf("%s/%s", to, names.v[i]);

		rc = old && new ? copy_any(old, new, depth + 1, err) : rk_fail_nomem(err);
		rk_free(old);
		rk_free(new);
	}
	rk_list_release(&names);
	return rc;
}

/*
 * Renames one entry. On another file system it is first copied to `aside` (if given), then renamed.
 */
static int bring(const char *from, const char *to, const char *aside, const char *name,
		 struct rk_error *err)
{
	char *old = rk_strf("%s/%s", from, name), *new = rk_strf("%s/%s", to, name);
	char *waiting = rk_strf("%s/%s", aside ? aside : to, name);
	int rc = 0;

	if (!old || !new || !waiting)
		rc = rk_fail_nomem(err);
	else if (!rename(old, new))
		rc = 0;
	else if (aside && errno == EXDEV)
		rc = copy_any(old, waiting, 0, err);
	else
		rc = rk_fail_errno(err, errno, "cannot move '%s' to '%s'", old, new);
	rk_free(old);
	rk_free(new);
	rk_free(waiting);
	return rc;
}

int rk_move_tree(const char *from, const char *to, const char *aside, const char *skip,
		 struct rk_error *err)
{
	char *waiting = rk_strf("%s/%s", to, aside);
	struct rk_list names = { 0 }, copies = { 0 };
	int rc;

	if (!waiting)
		return rk_fail_nomem(err);
	rc = rk_remove_tree(waiting, err);
	if (rc < 0)
		goto out;
	if (mkdir(waiting, 0777)) {
		rc = rk_fail_errno(err, errno, "cannot create directory '%s'", waiting);
		goto out;
	}
	rc = names_in(from, &names, err);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		if (!skip || strcmp(names.v[i], skip) != 0)
			rc = bring(from, to, waiting, names.v[i], err);
	if (rc < 0)
		goto out;
	rc = names_in(waiting, &copies, err);
	for (size_t i = 0; rc == 0 && i < copies.n; i++)
		rc = bring(waiting, to, NULL, copies.v[i], err);
out:
	if (rk_remove_tree(waiting, rc < 0 ? NULL : err) < 0 && rc == 0)
		rc = RK_E_IO;
	if (rc == 0)
		rc = rk_remove_tree(from, err);
	rk_list_release(&names);
	rk_list_release(&copies);
	rk_free(waiting);
	return rc;
}

/* ---- mkdtemp, files in it, and their removal ---- */

struct rk_tempdir {
	char *dir;
	char *path; /* of the file made last */
};

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
	d->dir = rk_strf("%s/rockit-XXXXXX", parent);
	if (!d->dir) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if (!mkdtemp(d->dir)) {
		rc = rk_fail_errno(err, errno, "cannot create a temporary directory in '%s'",
				   parent);
		goto out;
	}
	*ret = d;
	return 0;
out:
	rk_free(d->dir);
	rk_free(d);
	return rc;
}

int rk_tempdir_create(struct rk_tempdir *d, const char *name, const char **ret_path, int *ret_fd,
		      struct rk_error *err)
{
	char *path = rk_strf("%s/%s", d->dir, name);
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

int rk_tempdir_copy(struct rk_tempdir *d, const char *from, const char *name, const char **ret_path,
		    struct rk_error *err)
{
	enum { CHUNK = 1 << 18 };
	struct rk_file *f = NULL;
	const char *path;
	uint8_t *buf = NULL;
	size_t n;
	int fd, rc;

	rc = rk_file_open(from, &f, err);
	if (rc < 0)
		return rc;
	rc = rk_tempdir_create(d, name, &path, &fd, err);
	if (rc < 0)
		goto out;
	buf = rk_alloc(CHUNK);
	if (!buf)
		rc = rk_fail_nomem(err);
	for (n = 1; !rc && n;) {
		rc = rk_file_read(f, buf, CHUNK, &n, err);
		if (!rc)
			rc = rk_tempdir_write(fd, buf, n, err);
	}
	if (close(fd) < 0 && !rc)
		rc = rk_fail_errno(err, errno, "cannot write '%s'", path);
	if (!rc)
		*ret_path = path;
out:
	rk_free(buf);
	rk_file_close(f);
	return rc;
}

void rk_tempdir_free(struct rk_tempdir *d)
{
	struct dirent *e;
	DIR *dir;

	if (!d)
		return;
	/* also files that a library created next to ours, such as SQLite's -shm */
	dir = opendir(d->dir);
	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(d->dir);
	rk_free(d->path);
	rk_free(d->dir);
	rk_free(d);
}
