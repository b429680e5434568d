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

static int push(struct list *l, char *path, struct rk_error *err)
{
	char **paths;

	if (l->n >= RK_WALK_MAX_FILES)
		return rk_fail(err, RK_E_LIMIT, "more than %d files below one directory",
			       RK_WALK_MAX_FILES);
	paths = rk_grow(l->paths, &l->cap, l->n + 1, sizeof(*paths));
	if (!paths)
		return rk_fail_nomem(err);
	l->paths = paths;
	l->paths[l->n++] = path;
	return 0;
}

static int walk(struct list *l, const char *dir, unsigned depth, struct rk_error *err);

/* Takes over `path`. Links to directories are not followed: they may form a loop. */
static int visit(struct list *l, char *path, unsigned depth, struct rk_error *err)
{
	struct stat st, target;
	int rc = 0;

	if (lstat(path, &st) || (S_ISLNK(st.st_mode) && stat(path, &target)))
		goto out; /* gone in the meantime, or a dangling link */
	if (S_ISDIR(st.st_mode)) {
		rc = walk(l, path, depth + 1, err);
	} else if (S_ISREG(st.st_mode) || (S_ISLNK(st.st_mode) && S_ISREG(target.st_mode))) {
		rc = push(l, path, err);
		if (!rc)
			return 0;
	}
out:
	rk_free(path);
	return rc;
}

static int walk(struct list *l, const char *dir, unsigned depth, struct rk_error *err)
{
	size_t len = strlen(dir);
	struct dirent *e;
	char *path;
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
		if (e->d_name[0] == '.')
			continue;
		path = rk_strf("%.*s/%s", (int)len, dir, e->d_name);
		rc = path ? visit(l, path, depth, err) : rk_fail_nomem(err);
	}
	closedir(d);
	return rc;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int rk_walk_dir(const char *dir, struct rk_walk *ret, struct rk_error *err)
{
	struct list l = { 0 };
	int rc = walk(&l, dir, 0, err);

	*ret = (struct rk_walk){ .paths = l.paths, .n = l.n };
	if (rc < 0) {
		rk_walk_release(ret);
		return rc;
	}
	if (l.n)
		qsort(l.paths, l.n, sizeof(*l.paths), by_bytes);
	return 0;
}

void rk_walk_release(struct rk_walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		rk_free(w->paths[i]);
	rk_free(w->paths);
	*w = (struct rk_walk){ 0 };
}

/* ---- see move_tree.h ---- */

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

static bool all_zero(const uint8_t *p, size_t len)
{
	return len && p[0] == 0 && memcmp(p, p + 1, len - 1) == 0;
}

/* Blocks of zeros become holes: recorders map more of a file than they fill. */
static bool put_block(int fd, const uint8_t *p, size_t len)
{
	if (len == BLOCK_BYTES && all_zero(p, len))
		return lseek(fd, (off_t)len, SEEK_CUR) >= 0;
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static ssize_t get_block(int fd, uint8_t *p)
{
	size_t len = 0;
	ssize_t n = 1;

	while (len < BLOCK_BYTES && n) {
		n = read(fd, p + len, BLOCK_BYTES - len);
		if (n < 0 && errno != EINTR)
			return -1;
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

static bool copy_bytes(int in, int out, uint8_t *block)
{
	off_t size = 0;
	ssize_t n;

	while ((n = get_block(in, block)) > 0) {
		if (!put_block(out, block, (size_t)n))
			return false;
		size += n;
	}
	return n == 0 && ftruncate(out, size) == 0 && fsync(out) == 0;
}

static int copy_file(const char *from, const char *to, mode_t mode, struct rk_error *err)
{
	uint8_t *block = rk_alloc(BLOCK_BYTES);
	int in = block ? open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0777);
	int rc = 0;

	if (!block)
		rc = rk_fail_nomem(err);
	else if (out < 0 || !copy_bytes(in, out, block))
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

static int copy_any(const char *from, const char *to, unsigned depth, struct rk_error *err);

static int copy_dir(const char *from, const char *to, unsigned depth, struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = 0;

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

static int copy_any(const char *from, const char *to, unsigned depth, struct rk_error *err)
{
	struct stat st;

	if (lstat(from, &st))
		return rk_fail_errno(err, errno, "cannot stat '%s'", from);
	if (S_ISDIR(st.st_mode))
		return copy_dir(from, to, depth, err);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, err);
	return S_ISREG(st.st_mode) ? copy_file(from, to, st.st_mode, err) : 0;
}

/* On another file system, a copy waits in `aside`. */
static int bring_one(const char *from, const char *to, const char *aside, const char *name,
		     struct rk_error *err)
{
	char *old = rk_strf("%s/%s", from, name), *new = rk_strf("%s/%s", to, name);
	char *waiting = rk_strf("%s/%s", aside, name);
	int rc = old && new &&waiting ? 0 : rk_fail_nomem(err);

	if (rc == 0 && rename(old, new)) {
		if (errno == EXDEV)
			rc = copy_any(old, waiting, 0, err);
		else
			rc = rk_fail_errno(err, errno, "cannot move '%s' to '%s'", old, new);
	}
	rk_free(old);
	rk_free(new);
	rk_free(waiting);
	return rc;
}

static int show_all(const char *aside, const char *to, struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = names_in(aside, &names, err);

	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		char *old = rk_strf("%s/%s", aside, names.v[i]);
		char *new = rk_strf("%s/%s", to, names.v[i]);

		if (!old || !new)
			rc = rk_fail_nomem(err);
		else if (rename(old, new))
			rc = rk_fail_errno(err, errno, "cannot move '%s' to '%s'", old, new);
		rk_free(old);
		rk_free(new);
	}
	rk_list_release(&names);
	return rc;
}

static int bring_all(const char *from, const char *to, const char *aside, const char *skip,
		     struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = rk_remove_tree(aside, err);

	if (rc == 0 && mkdir(aside, 0777))
		rc = rk_fail_errno(err, errno, "cannot create directory '%s'", aside);
	if (rc == 0)
		rc = names_in(from, &names, err);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		if (!skip || strcmp(names.v[i], skip) != 0)
			rc = bring_one(from, to, aside, names.v[i], err);
	if (rc == 0)
		rc = show_all(aside, to, err);
	rk_list_release(&names);
	return rc;
}

int rk_move_tree(const char *from, const char *to, const char *aside, const char *skip,
		 struct rk_error *err)
{
	char *waiting = rk_strf("%s/%s", to, aside);
	int rc = waiting ? bring_all(from, to, waiting, skip, err) : rk_fail_nomem(err);

	if (waiting && rk_remove_tree(waiting, rc < 0 ? NULL : err) < 0 && rc == 0)
		rc = RK_E_IO;
	if (rc == 0)
		rc = rk_remove_tree(from, err);
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

static int copy_to_temp(struct rk_file *from, int fd, struct rk_error *err)
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
	rc = copy_to_temp(f, fd, err);
	if (close(fd) < 0 && !rc)
		rc = rk_fail_errno(err, errno, "cannot write '%s'", path);
	if (!rc)
		*ret_path = path;
out:
	rk_file_close(f);
	return rc;
}

/* Also removes files that a library created next to ours, such as SQLite's -shm. */
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
