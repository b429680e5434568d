/* move_tree.c - see move_tree.h. */

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
#include "io/dirs.h"

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

/* Whole blocks of nothing become holes: recorders map more of a file than they fill. */
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
		return rk_fail_errno(err, errno, "cannot read the directory '%s'", dir);
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
		return rk_fail_errno(err, errno, "cannot make the directory '%s'", to);
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
		return rk_fail_errno(err, errno, "cannot look at '%s'", from);
	if (S_ISDIR(st.st_mode))
		return copy_dir(from, to, depth, err);
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, err);
	return S_ISREG(st.st_mode) ? copy_file(from, to, st.st_mode, err) : 0;
}

/* Where the file system is another one, a copy waits in `aside`. */
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
		rc = rk_fail_errno(err, errno, "cannot make the directory '%s'", aside);
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
