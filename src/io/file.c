/* file.c - see file.h. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

int rk_file_open(const char *path, struct rk_file **ret, struct rk_error *err)
{
	struct rk_file *f = rk_calloc(1, sizeof(*f));
	struct stat st;
	int rc;

	if (!f)
		return rk_fail_nomem(err);
	f->fd = -1;
	f->path = rk_strdup(path);
	if (!f->path) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	f->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
	if (f->fd < 0) {
		rc = rk_fail_errno(err, errno, "cannot open '%s'", path);
		goto out;
	}
	if (fstat(f->fd, &st)) {
		rc = rk_fail_errno(err, errno, "cannot stat '%s'", path);
		goto out;
	}
	if (S_ISDIR(st.st_mode)) {
		rc = rk_fail_errno(err, EISDIR, "cannot read '%s'", path);
		goto out;
	}
	if (S_ISREG(st.st_mode)) { /* read sequentially: allow readahead */
		posix_fadvise(f->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
		f->seekable = true;
		f->size = (uint64_t)st.st_size;
	}
	*ret = f;
	f = NULL;
	rc = 0;
out:
	rk_file_close(f);
	return rc;
}

int rk_file_read(struct rk_file *f, void *buf, size_t len, size_t *ret_len, struct rk_error *err)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = read(f->fd, (char *)buf + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rk_fail_errno(err, errno, "cannot read '%s'", f->path);
		if (!n)
			break;
		done += (size_t)n;
	}
	*ret_len = done;
	return 0;
}

/* Reads fewer than len bytes only at the end; < 0: errno is set. */
static ssize_t read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < len && n) {
		n = pread(fd, (char *)buf + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0)
			done += (size_t)n;
	}
	return (ssize_t)done;
}

int rk_file_pread(struct rk_file *f, void *buf, size_t len, uint64_t offset, size_t *ret_len,
		  struct rk_error *err)
{
	ssize_t n = read_at(f->fd, buf, len, offset);

	if (n < 0)
		return rk_fail_errno(err, errno, "cannot read '%s'", f->path);
	*ret_len = (size_t)n;
	return 0;
}

int rk_file_rewind(struct rk_file *f, struct rk_error *err)
{
	if (!f->seekable)
		return rk_fail_errno(err, ESPIPE, "cannot read '%s' twice", f->path);
	if (lseek(f->fd, 0, SEEK_SET) < 0)
		return rk_fail_errno(err, errno, "cannot read '%s' twice", f->path);
	return 0;
}

void rk_file_close(struct rk_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	rk_free(f->path);
	rk_free(f);
}

/* ---- temporary bytes on disk that disappear with the process ---- */

struct rk_spill {
	int fd;
	uint64_t size;
};

/*
 * A file without a name or, if the file system does not support that, one that is unlinked at once.
 */
static int nameless(const char *dir, struct rk_error *err)
{
	char path[4096];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/rockit-XXXXXX", dir) >= (int)sizeof(path))
		return rk_fail_errno(err, ENAMETOOLONG, "cannot create a temporary file in '%s'",
				     dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot create a temporary file in '%s'", dir);
	unlink(path);
	return fd;
}

int rk_spill_new(const char *dir, struct rk_spill **ret, struct rk_error *err)
{
	struct rk_spill *s = rk_calloc(1, sizeof(*s));

	if (!s)
		return rk_fail_nomem(err);
	if (!dir)
		dir = getenv("TMPDIR");
	s->fd = nameless(dir && *dir ? dir : "/tmp", err);
	if (s->fd < 0) {
		rk_free(s);
		return RK_E_IO;
	}
	*ret = s;
	return 0;
}

int rk_spill_write(struct rk_spill *s, uint64_t offset, const void *p, size_t len,
		   struct rk_error *err)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pwrite(s->fd, (const char *)p + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rk_fail_errno(
				err, errno,
				"cannot write temporary data (use --tmpdir for another place)");
		done += (size_t)n;
	}
	return 0;
}

int rk_spill_append(struct rk_spill *s, const void *p, size_t len, uint64_t *ret_offset,
		    struct rk_error *err)
{
	int rc = rk_spill_write(s, s->size, p, len, err);

	if (rc < 0)
		return rc;
	*ret_offset = s->size;
	s->size += len;
	return 0;
}

int rk_spill_resize(struct rk_spill *s, uint64_t size, struct rk_error *err)
{
	if (ftruncate(s->fd, (off_t)size))
		return rk_fail_errno(
			err, errno, "no space for temporary data (use --tmpdir for another place)");
	s->size = size;
	return 0;
}

int rk_spill_read(struct rk_spill *s, uint64_t offset, void *p, size_t len, struct rk_error *err)
{
	ssize_t n = read_at(s->fd, p, len, offset);

	if (n < 0)
		return rk_fail_errno(err, errno, "cannot read temporary data back");
	if ((size_t)n < len)
		return rk_fail_errno(err, EIO, "cannot read temporary data back");
	return 0;
}

uint64_t rk_spill_size(const struct rk_spill *s)
{
	return s->size;
}

int rk_spill_fd(const struct rk_spill *s)
{
	return s->fd;
}

void rk_spill_free(struct rk_spill *s)
{
	if (!s)
		return;
	close(s->fd);
	rk_free(s);
}

/* ---- views ---- */

/* A mapping must begin at a page; `offset` need not. */
static int map(int fd, uint64_t offset, size_t len, const char *name, struct rk_view *ret,
	       struct rk_error *err)
{
	size_t before = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));

	*ret = (struct rk_view){ .data = "" };
	if (!len)
		return 0;
	ret->map = mmap(NULL, before + len, PROT_READ, MAP_PRIVATE, fd, (off_t)(offset - before));
	if (ret->map == MAP_FAILED) {
		ret->map = NULL;
		return rk_fail_errno(err, errno, "cannot map '%s'", name);
	}
	ret->map_len = before + len;
	ret->data = (const char *)ret->map + before;
	ret->len = len;
	return 0;
}

enum { BLOCK_BYTES = 64 << 10 };

/* Zeros without memory of their own: a block gets memory and its bytes when it is loaded. */
int rk_view_file(struct rk_file *f, struct rk_view *ret, struct rk_error *err)
{
	struct rk_view v = { .data = "", .file = f };

	if (f->size > SIZE_MAX / 2)
		return rk_fail(err, RK_E_LIMIT, "'%s' is too large for random access", f->path);
	v.len = v.map_len = (size_t)f->size;
	if (v.len) {
		v.loaded = rk_calloc(v.len / BLOCK_BYTES + 1, 1);
		if (!v.loaded)
			return rk_fail_nomem(err);
		v.map = mmap(NULL, v.len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			     -1, 0);
		if (v.map == MAP_FAILED) {
			rk_free(v.loaded);
			return rk_fail_errno(err, errno, "cannot reserve memory for '%s'", f->path);
		}
		v.data = v.map;
	}
	*ret = v;
	return 0;
}

static void load_block(struct rk_view *v, size_t block)
{
	size_t at = block * BLOCK_BYTES, n = v->len - at, got = 0;
	char *to = (char *)v->map + at;

	if (n > BLOCK_BYTES)
		n = BLOCK_BYTES;
	v->loaded[block] = 1;
	if (v->err.code)
		return;
	if (mprotect(to, n, PROT_READ | PROT_WRITE) != 0) {
		rk_fail_errno(&v->err, errno, "cannot read '%s'", v->file->path);
		return;
	}
	if (rk_file_pread(v->file, to, n, at, &got, &v->err) < 0)
		return;
	if (got < n)
		rk_fail(&v->err, RK_E_IO, "'%s' was truncated while it was being read",
			v->file->path);
}

void rk_view_load(struct rk_view *v, uint64_t at, uint64_t len)
{
	if (!v->file || !len)
		return;
	for (size_t i = (size_t)(at / BLOCK_BYTES); i <= (at + len - 1) / BLOCK_BYTES; i++)
		if (!v->loaded[i])
			load_block(v, i);
}

int rk_view_spill(struct rk_spill *s, uint64_t offset, size_t len, struct rk_view *ret,
		  struct rk_error *err)
{
	if (offset > s->size || len > s->size - offset)
		return rk_fail(err, RK_E_IO, "temporary data is truncated");
	return map(s->fd, offset, len, "temporary data", ret, err);
}

void rk_view_close(struct rk_view *v)
{
	if (v->map)
		munmap(v->map, v->map_len);
	rk_file_close(v->file);
	rk_free(v->loaded);
	memset(v, 0, sizeof(*v));
}
