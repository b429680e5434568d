/* spill.c - temporary bytes on disk that vanish with the process. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/file.h"

struct rk_spill {
	int fd;
	uint64_t size;
};

/* A file without a name; where the file system has none, one that loses its name at once. */
static int nameless(const char *dir, struct rk_error *err)
{
	char path[4096];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/rockit-XXXXXX", dir) >= (int)sizeof(path))
		return rk_fail_errno(err, ENAMETOOLONG, "cannot make a temporary file in '%s'",
				     dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot make a temporary file in '%s'", dir);
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
				err, errno, "cannot write temporary data (--tmpdir names a place)");
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
			err, errno, "cannot make room for temporary data (--tmpdir names a place)");
	s->size = size;
	return 0;
}

int rk_spill_read(struct rk_spill *s, uint64_t offset, void *p, size_t len, struct rk_error *err)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(s->fd, (char *)p + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return rk_fail_errno(err, n < 0 ? errno : EIO,
					     "cannot read temporary data back");
		done += (size_t)n;
	}
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
