/* file.c - reading files. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static int open_fd(const char *path, struct rk_error *err)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);

	return fd < 0 ? rk_fail_errno(err, errno, "cannot open '%s'", path) : fd;
}

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
	rc = f->fd = open_fd(path, err);
	if (rc < 0)
		goto out;
	if (fstat(f->fd, &st)) {
		rc = rk_fail_errno(err, errno, "cannot look at '%s'", path);
		goto out;
	}
	if (S_ISDIR(st.st_mode)) {
		rc = rk_fail_errno(err, EISDIR, "cannot read '%s'", path);
		goto out;
	}
	f->seekable = S_ISREG(st.st_mode);
	if (f->seekable) /* read from one end to the other: the disk may run ahead */
		posix_fadvise(f->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	f->size = f->seekable ? (uint64_t)st.st_size : 0;
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

int rk_file_pread(struct rk_file *f, void *buf, size_t len, uint64_t offset, size_t *ret_len,
		  struct rk_error *err)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(f->fd, (char *)buf + done, len - done, (off_t)(offset + done));
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

int rk_file_rewind(struct rk_file *f, struct rk_error *err)
{
	if (!f->seekable || lseek(f->fd, 0, SEEK_SET) < 0)
		return rk_fail_errno(err, f->seekable ? errno : ESPIPE, "cannot read '%s' twice",
				     f->path);
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
