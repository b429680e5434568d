/* output.c - see output.h. */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "io/dirs.h"
#include "io/file.h"

enum { WRITEBACK_BYTES = 64 << 10 };

struct rk_output {
	int fd;
	char *path;  /* the target */
	char *temp;  /* name of the temporary file; NULL: it has none, or none is needed */
	bool direct; /* stdout, a device or a pipe: written directly */
	struct rk_spill *spill; /* the destination; there is no file of our own */
	uint64_t offset;
};

static _Atomic int64_t fail_countdown;
static int fail_errno;

void rk_output_fail_after(uint64_t n, int errnum)
{
	fail_errno = errnum;
	atomic_store(&fail_countdown, (int64_t)n);
}

static bool refuse(void)
{
	return atomic_load_explicit(&fail_countdown, memory_order_relaxed) > 0 &&
	       atomic_fetch_sub(&fail_countdown, 1) == 1;
}

/* "dir/.name.rockit-<pid>-<ns>": next to the target, so that rename stays on one file system. */
static char *temp_name(const char *path)
{
	const char *base = rk_base_name(path);

	return rk_strf("%.*s.%s.rockit-%ld-%llx", (int)(base - path), path, base, (long)getpid(),
		       (unsigned long long)rk_clock_steady_ns());
}

bool rk_output_is_direct(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

int rk_output_open(const char *path, struct rk_output **ret, struct rk_error *err)
{
	const char *slash = strrchr(path, '/');
	struct rk_output *o = rk_calloc(1, sizeof(*o));
	char *dir = NULL;
	int rc;

	if (!o)
		return rk_fail_nomem(err);
	o->direct = rk_output_is_direct(path);
	o->fd = -1;
	o->path = rk_strdup(path);
	if (!o->path) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if (!strcmp(path, "-")) {
		o->fd = dup(STDOUT_FILENO);
	} else if (o->direct) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
	} else {
		/* without a name if the file system supports it */
		if (slash)
			dir = rk_strndup(path, slash == path ? 1 : (size_t)(slash - path));
		if (!slash || dir)
			o->fd = open(slash ? dir : ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
		rk_free(dir);
		if (o->fd < 0) {
			o->temp = temp_name(path);
			if (!o->temp) {
				rc = rk_fail_nomem(err);
				goto out;
			}
			o->fd = open(o->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		}
	}
	if (o->fd < 0) {
		rc = rk_fail_errno(err, errno, "cannot write '%s'", path);
		rk_free(o->temp);
		o->temp = NULL;
		goto out;
	}
	*ret = o;
	return 0;
out:
	rk_output_abort(o);
	return rc;
}

int rk_output_open_spill(struct rk_spill *spill, struct rk_output **ret, struct rk_error *err)
{
	struct rk_output *o = rk_calloc(1, sizeof(*o));

	if (!o)
		return rk_fail_nomem(err);
	o->direct = true;
	o->fd = -1;
	o->spill = spill;
	*ret = o;
	return 0;
}

static const char *name_of(const struct rk_output *o)
{
	return o->spill ? "a temporary file" : o->path;
}

int rk_output_write(struct rk_output *o, const void *p, size_t len, struct rk_error *err)
{
	size_t done = 0;
	uint64_t at;
	ssize_t n;

	if (refuse())
		return rk_fail_errno(err, fail_errno, "cannot write '%s'", name_of(o));
	if (o->spill) {
		int rc = rk_spill_append(o->spill, p, len, &at, err);

		if (rc < 0)
			return rc;
		o->offset += len;
		return 0;
	}
	while (done < len) {
		n = write(o->fd, (const char *)p + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rk_fail_errno(err, errno, "cannot write '%s'", o->path);
		done += (size_t)n;
	}
	/* Starts writing to disk now, so that the fsync at the end has little left to do. */
	if (!o->direct && len >= WRITEBACK_BYTES)
		sync_file_range(o->fd, (off_t)o->offset, (off_t)len, SYNC_FILE_RANGE_WRITE);
	o->offset += len;
	return 0;
}

uint64_t rk_output_offset(const struct rk_output *o)
{
	return o->offset;
}

/* Fails if the len bytes at offset cannot be changed any more. */
static int still_there(const struct rk_output *o, uint64_t offset, size_t len, struct rk_error *err)
{
	if (refuse())
		return rk_fail_errno(err, fail_errno, "cannot write '%s'", name_of(o));
	if (o->direct && !o->spill)
		return rk_fail(err, RK_E_UNSUPPORTED, "cannot seek in '%s', which is not a file",
			       name_of(o));
	if (offset > o->offset || len > o->offset - offset)
		return rk_fail(err, RK_E_USAGE, "cannot change bytes past the end of '%s'",
			       name_of(o));
	return 0;
}

int rk_output_patch(struct rk_output *o, uint64_t offset, const void *p, size_t len,
		    struct rk_error *err)
{
	int rc = still_there(o, offset, len, err);
	size_t done = 0;
	ssize_t n;

	if (rc < 0)
		return rc;
	if (o->spill)
		return rk_spill_write(o->spill, offset, p, len, err);
	while (done < len) {
		n = pwrite(o->fd, (const char *)p + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rk_fail_errno(err, errno, "cannot write '%s'", o->path);
		done += (size_t)n;
	}
	return 0;
}

int rk_output_rewind(struct rk_output *o, uint64_t offset, struct rk_error *err)
{
	int rc = still_there(o, offset, 0, err);

	if (rc < 0)
		return rc;
	if (o->spill)
		rc = rk_spill_resize(o->spill, offset, err);
	else if (ftruncate(o->fd, (off_t)offset) || lseek(o->fd, (off_t)offset, SEEK_SET) < 0)
		rc = rk_fail_errno(err, errno, "cannot write '%s'", o->path);
	if (rc < 0)
		return rc;
	o->offset = offset;
	return 0;
}

static int publish(struct rk_output *o, struct rk_error *err)
{
	char link[64];

	if (refuse())
		return rk_fail_errno(err, fail_errno, "cannot finish '%s'", o->path);
	if (fsync(o->fd) && errno != EINVAL && errno != EROFS)
		return rk_fail_errno(err, errno, "cannot finish '%s'", o->path);
	/* Give a nameless file a name; from now on abort must remove it. */
	if (!o->temp) {
		char *temp = temp_name(o->path);
		int rc = 0;

		if (!temp)
			return rk_fail_nomem(err);
		snprintf(link, sizeof(link), "/proc/self/fd/%d", o->fd);
		if (linkat(AT_FDCWD, link, AT_FDCWD, temp, AT_SYMLINK_FOLLOW)) {
			rc = rk_fail_errno(err, errno, "cannot name '%s'", o->path);
			rk_free(temp);
			return rc;
		}
		o->temp = temp;
	}
	if (rename(o->temp, o->path))
		return rk_fail_errno(err, errno, "cannot rename to '%s'", o->path);
	rk_free(o->temp);
	o->temp = NULL;
	return 0;
}

int rk_output_commit(struct rk_output *o, struct rk_error *err)
{
	int rc = 0;

	if (!o->spill && !o->direct) {
		rc = publish(o, err);
	} else if (!o->spill) {
		if (close(o->fd))
			rc = rk_fail_errno(err, errno, "cannot write '%s'", o->path);
		o->fd = -1;
	}
	rk_output_abort(o);
	return rc;
}

void rk_output_abort(struct rk_output *o)
{
	if (!o)
		return;
	if (o->fd >= 0)
		close(o->fd);
	if (o->temp)
		unlink(o->temp);
	rk_free(o->temp);
	rk_free(o->path);
	rk_free(o);
}

/* ---- a file or a directory in one call ---- */

int rk_write_file(const char *path, const char *text, size_t len, struct rk_error *err)
{
	struct rk_output *o;
	int rc;

	rc = rk_output_open(path, &o, err);
	if (rc < 0)
		return rc;
	rc = rk_output_write(o, text, len, err);
	if (rc < 0) {
		rk_output_abort(o);
		return rc;
	}
	return rk_output_commit(o, err);
}

static int make_one(const char *path, struct rk_error *err)
{
	int why = mkdir(path, 0777) ? errno : 0;

	/* A read-only file system reports EROFS even for an existing directory. */
	if (!why || rk_is_dir(path))
		return 0;
	if (why == EEXIST)
		return rk_fail(err, RK_E_IO, "'%s' exists and is not a directory", path);
	return rk_fail_errno(err, why, "cannot create directory '%s'", path);
}

int rk_make_dirs(const char *path, struct rk_error *err)
{
	char *copy = rk_strdup(path);
	int rc = 0;

	if (!copy)
		return rk_fail_nomem(err);
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
