/* artifacts_folder.c - an artifact that is a folder. No link in it is ever followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "pack/artifacts_impl.h"

struct folder_walk {
	struct artifact_reader *r;
	uint32_t stage;
	const char *top; /* the stage's folder, as people would write it */
	char path[RK_ARTIFACT_PATH_MAX];
	size_t len;
	unsigned depth;
};

static int cannot(const struct folder_walk *w, int errnum, struct rk_error *err)
{
	return rk_fail_errno(err, errnum, "cannot read '%s/%s'", w->top, w->path);
}

static int add_file(struct folder_walk *w, const struct stat *st, struct rk_entry *e,
		    struct rk_error *err)
{
	struct rk_arena *a = w->r->arena;
	struct rk_origin *o = rk_arena_alloc(a, sizeof(*o));

	if (!o)
		return rk_fail_nomem(err);
	o->path = rk_arena_textf(a, "%s/%s", w->top, w->path);
	o->name = rk_arena_textf(a, "%s: %s", w->r->artifact->label, w->path);
	o->size = (uint64_t)st->st_size;
	o->dev = (uint64_t)st->st_dev;
	o->ino = (uint64_t)st->st_ino;
	o->mtime_ns = rk_origin_time(st);
	e->kind = RK_ENTRY_FILE;
	e->origin = o;
	return o->path && o->name ? 0 : rk_fail_nomem(err);
}

static int add_link(struct folder_walk *w, int fd, const char *name, struct rk_entry *e,
		    struct rk_error *err)
{
	char text[RK_ARTIFACT_PATH_MAX + 1];
	ssize_t n = readlinkat(fd, name, text, sizeof(text));

	if (n < 0)
		return cannot(w, errno, err);
	if (n == (ssize_t)sizeof(text))
		return cannot(w, ENAMETOOLONG, err);
	text[n] = '\0';
	return rk_artifact_link(w->r, e, text, err);
}

static int walk(struct folder_walk *w, int fd, struct rk_error *err);

static int enter(struct folder_walk *w, int fd, const char *name, struct rk_error *err)
{
	int rc, sub;

	if (w->depth >= RK_ARTIFACT_DEPTH_MAX)
		return rk_fail(err, RK_E_LIMIT, "'%s/%s' lies deeper than %d folders", w->top,
			       w->path, RK_ARTIFACT_DEPTH_MAX);
	sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub < 0)
		return cannot(w, errno, err);
	w->depth++;
	rc = walk(w, sub, err);
	w->depth--;
	return rc;
}

static int add_entry(struct folder_walk *w, int fd, const char *name, struct rk_error *err)
{
	struct rk_entry *e = NULL;
	struct stat st;
	int rc;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return cannot(w, errno, err);
	rc = rk_artifact_add(w->r, w->stage, w->path, &e, err);
	if (rc < 0)
		return rc;
	e->mode = st.st_mode & 0777;
	if (S_ISREG(st.st_mode))
		return add_file(w, &st, e, err);
	if (S_ISLNK(st.st_mode))
		return add_link(w, fd, name, e, err);
	if (!S_ISDIR(st.st_mode))
		return rk_fail(err, RK_E_FORMAT, "'%s/%s' is no file, folder or link", w->top,
			       w->path);
	e->kind = RK_ENTRY_DIR;
	return enter(w, fd, name, err);
}

static int push(struct folder_walk *w, const char *name, struct rk_error *err)
{
	size_t n = strlen(name);
	int rc = rk_artifact_check_path(name, w->top, err);

	if (rc < 0)
		return rc;
	if (w->len + n + 2 > sizeof(w->path))
		return cannot(w, ENAMETOOLONG, err);
	if (w->len)
		w->path[w->len++] = '/';
	memcpy(w->path + w->len, name, n + 1);
	w->len += n;
	return 0;
}

/* `fd` is closed here. */
static int walk(struct folder_walk *w, int fd, struct rk_error *err)
{
	DIR *d = fdopendir(fd);
	size_t len = w->len;
	struct dirent *de;
	int rc = 0;

	if (!d) {
		rc = cannot(w, errno, err);
		close(fd);
		return rc;
	}
	while (rc == 0 && (errno = 0, de = readdir(d))) {
		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		rc = push(w, de->d_name, err);
		if (rc == 0)
			rc = add_entry(w, dirfd(d), de->d_name, err);
		w->len = len;
		w->path[len] = '\0';
	}
	if (rc == 0 && errno)
		rc = cannot(w, errno, err);
	closedir(d);
	return rc;
}

/* The stage's folder, name by name so that no link is followed; RK_E_IO with errno ENOENT: not there. */
static int open_stage(int fd, const char *stage)
{
	char name[RK_ARTIFACT_PATH_MAX];
	int at = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	size_t n;

	for (; at >= 0 && *stage; stage += n + (stage[n] == '/')) {
		int saved, next;

		n = strcspn(stage, "/");
		memcpy(name, stage, n);
		name[n] = '\0';
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		saved = errno;
		close(at);
		errno = saved;
		at = next;
	}
	return at;
}

static int read_stage(struct artifact_reader *r, int fd, size_t i, struct rk_error *err)
{
	struct folder_walk w = { .r = r, .stage = (uint32_t)i };
	int at = open_stage(fd, r->stages.v[i]);

	if (at < 0 && errno == ENOENT) {
		rk_diag_add(r->diag, "no-stage", r->artifact->label, 0, 1,
			    "its manifest lists '%s', which is not there", r->stages.v[i]);
		return 0;
	}
	if (at < 0)
		return rk_fail_errno(err, errno, "cannot read '%s/%s'", r->path, r->stages.v[i]);
	w.top = rk_arena_textf(r->arena, "%s/%s", r->path, r->stages.v[i]);
	if (!w.top) {
		close(at);
		return rk_fail_nomem(err);
	}
	return walk(&w, at, err);
}

/* 1 read, 0 there is none. */
static int read_manifest(struct artifact_reader *r, int dir, struct rk_error *err)
{
	int fd = openat(dir, RK_ARTIFACT_MANIFEST, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 1;
	struct stat st;
	char *text;
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot open '%s/%s'", r->path,
				     RK_ARTIFACT_MANIFEST);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return rk_fail(err, RK_E_FORMAT, "'%s/%s' is no file", r->path,
			       RK_ARTIFACT_MANIFEST);
	}
	text = rk_alloc(RK_ARTIFACT_MANIFEST_MAX);
	while (text && len < RK_ARTIFACT_MANIFEST_MAX && n > 0)
		if ((n = read(fd, text + len, RK_ARTIFACT_MANIFEST_MAX - len)) > 0)
			len += (size_t)n;
	if (!text)
		rc = rk_fail_nomem(err);
	else if (n < 0)
		rc = rk_fail_errno(err, errno, "cannot read '%s/%s'", r->path,
				   RK_ARTIFACT_MANIFEST);
	else if (n > 0)
		rc = rk_fail(err, RK_E_LIMIT, "'%s/%s' is too long", r->path, RK_ARTIFACT_MANIFEST);
	else
		rc = rk_artifact_manifest(r, text, len, err);
	rk_free(text);
	close(fd);
	return rc < 0 ? rc : 1;
}

int rk_artifact_read_folder(struct artifact_reader *r, struct rk_error *err)
{
	int fd = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot open '%s'", r->path);
	rc = read_manifest(r, fd, err);
	for (size_t i = 0; rc > 0 && i < r->stages.n; i++) {
		int one = read_stage(r, fd, i, err);

		rc = one < 0 ? one : rc;
	}
	close(fd);
	return rc;
}
