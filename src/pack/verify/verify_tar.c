/* verify_tar.c - archives of another kind: devel's inner tar, and source distributions. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/view.h"
#include "pack/verify/verify_impl.h"

enum { BLOCK_BYTES = 256 << 10, MEMORY_BYTES = 4 << 20 };

struct tar {
	struct rk_proving *p;
	struct rk_proof_package *w;
	const char *member; /* of the wheel; "" for an sdist */
	struct archive *a;
	struct archive_entry *e;
	char *block;
	const char *top; /* the folder all of it lies in; NULL: not known yet */
};

static void damaged(struct tar *t)
{
	const char *why = archive_error_string(t->a);

	rk_proof_fault(t->p, "archive-damaged", t->w, t->member,
		       "the archive cannot be read: %.200s", why ? why : "it is damaged");
}

/* True: go on. */
static bool next(struct tar *t)
{
	int rc = rk_proof_stopped(t->p) ? ARCHIVE_EOF : archive_read_next_header(t->a, &t->e);

	if (rc != ARCHIVE_EOF && rc < ARCHIVE_WARN)
		damaged(t);
	return rc != ARCHIVE_EOF && rc >= ARCHIVE_WARN;
}

static bool good_path(const char *path)
{
	return path[0] && rk_proof_plain_parts(path);
}

/* The path without "./" and slashes behind it, checked; NULL: reported, or nothing to keep. */
static const char *path_of(struct tar *t)
{
	const char *name = archive_entry_pathname(t->e), *path;
	size_t len;

	/* the locale need not have the letters of the name */
	name = name ? name : archive_entry_pathname_utf8(t->e);
	if (!name) {
		rk_proof_fault(t->p, "name-encoding", t->w, t->member,
			       "the archive has a name that cannot be read");
		return NULL;
	}
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	len = strlen(name);
	while (len && name[len - 1] == '/')
		len--;
	path = len ? rk_proof_text(t->p, name, len) : NULL;
	if (path && !good_path(path)) {
		rk_proof_fault(t->p, path[0] == '/' ? "name-absolute" : "name-escapes", t->w, path,
			       "a path of the archive leads out of it");
		return NULL;
	}
	if (path && rk_utf8_valid(path, len) != len)
		rk_proof_fault(t->p, "name-encoding", t->w, path, "the name is not UTF-8");
	return path;
}

/* ---- bytes ---- */

/* All bytes to `to`, or to a temporary file when that is NULL. */
static int copy_bytes(struct tar *t, char *to, size_t room, struct rk_spill *s,
		      struct rk_error *err)
{
	uint64_t at, len = 0;
	la_ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = archive_read_data(t->a, t->block, BLOCK_BYTES)) != 0) {
		if (n < 0 || (to && (uint64_t)n > room - len)) {
			damaged(t);
			return RK_E_FORMAT;
		}
		if (to)
			memcpy(to + len, t->block, (size_t)n);
		else
			rc = rk_spill_append(s, t->block, (size_t)n, &at, err);
		len += (uint64_t)n;
	}
	if (rc == 0 && to && len != room) {
		damaged(t);
		return RK_E_FORMAT;
	}
	return rc;
}

static int look_small(struct tar *t, struct rk_proof_file *f, struct rk_error *err)
{
	char *bytes = rk_alloc((size_t)f->size + 1);
	int rc = bytes ? copy_bytes(t, bytes, (size_t)f->size, NULL, err) : rk_fail_nomem(err);

	if (rc == 0)
		rk_proof_look(t->p, t->w, f, bytes, (size_t)f->size);
	rk_free(bytes);
	return rc;
}

static int look_large(struct tar *t, struct rk_proof_file *f, struct rk_error *err)
{
	struct rk_spill *s = NULL;
	struct rk_view view = { 0 };
	int rc = rk_spill_new(NULL, &s, err);

	if (rc == 0)
		rc = copy_bytes(t, NULL, 0, s, err);
	if (rc == 0)
		rc = rk_view_spill(s, 0, (size_t)rk_spill_size(s), &view, err);
	if (rc == 0)
		rk_proof_look(t->p, t->w, f, view.data, view.len);
	rk_view_close(&view);
	rk_spill_free(s);
	return rc;
}

static void look(struct tar *t, struct rk_proof_file *f)
{
	struct rk_error err = { 0 };
	int rc = f->size <= MEMORY_BYTES ? look_small(t, f, &err) : look_large(t, f, &err);

	if (rc < 0 && rc != RK_E_FORMAT)
		rk_proof_stop(t->p, &err);
}

/* ---- devel ---- */

static void keep_kind(struct tar *t, struct rk_proof_file *f)
{
	const char *hard = archive_entry_hardlink(t->e), *soft = archive_entry_symlink(t->e);
	unsigned type = archive_entry_filetype(t->e);

	soft = soft ? soft : archive_entry_symlink_utf8(t->e);
	if (hard || (type == S_IFLNK && !soft)) {
		rk_proof_fault(t->p, "member-special", t->w, f->path,
			       "a hard link, or a link without a target, in the archive");
	} else if (type == S_IFLNK) {
		f->kind = RK_PROOF_LINK;
		f->link = rk_proof_text(t->p, soft, strlen(soft));
	} else if (type == S_IFDIR) {
		f->kind = RK_PROOF_DIR;
	} else if (type != S_IFREG) {
		rk_proof_fault(t->p, "member-special", t->w, f->path, "no file, folder or link");
	} else {
		look(t, f);
	}
}

static void add_inner(struct tar *t)
{
	const char *path = path_of(t);
	struct rk_proof_file *f = path ? rk_proof_add(t->p, t->w) : NULL;

	if (!f)
		return;
	f->path = path;
	f->inner = true;
	f->mode = (uint32_t)archive_entry_mode(t->e) & 07777;
	f->size = (uint64_t)archive_entry_size(t->e);
	keep_kind(t, f);
}

/* Reads from a descriptor that is open at the beginning. */
static bool open_tar(struct tar *t, int fd)
{
	t->a = archive_read_new();
	t->block = rk_alloc(BLOCK_BYTES);
	if (!t->a || !t->block) {
		rk_proof_nomem(t->p);
		return false;
	}
	if (archive_read_support_format_tar(t->a) < ARCHIVE_WARN ||
	    archive_read_support_filter_gzip(t->a) < ARCHIVE_WARN ||
	    archive_read_support_filter_xz(t->a) < ARCHIVE_WARN ||
	    archive_read_open_fd(t->a, fd, BLOCK_BYTES) < ARCHIVE_WARN) {
		damaged(t);
		return false;
	}
	return true;
}

static void close_tar(struct tar *t)
{
	if (t->a)
		archive_read_free(t->a);
	rk_free(t->block);
}

void rk_proof_devel(struct rk_proving *p, struct rk_proof_package *w, const char *member,
		    struct rk_spill *tar)
{
	struct tar t = { .p = p, .w = w, .member = member };

	if (lseek(rk_spill_fd(tar), 0, SEEK_SET) == 0 && open_tar(&t, rk_spill_fd(tar)))
		while (next(&t))
			add_inner(&t);
	close_tar(&t);
}

/* ---- source distributions ---- */

static bool is_wanted(const char *path)
{
	static const char *const ends[] = { ".py", "/PKG-INFO", "/entry_points.txt" };

	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (rk_text_ends(path, strlen(path), ends[i]))
			return true;
	return false;
}

static void keep_text(struct tar *t, struct rk_proof_file *f)
{
	struct rk_error err = { 0 };
	char *text = rk_alloc((size_t)f->size + 1);
	int rc = text ? copy_bytes(t, text, (size_t)f->size, NULL, &err) : rk_fail_nomem(&err);

	if (rc == 0)
		f->text = rk_proof_text(t->p, text, (size_t)f->size);
	f->text_len = f->text ? (size_t)f->size : 0;
	if (rc < 0 && rc != RK_E_FORMAT)
		rk_proof_stop(t->p, &err);
	rk_free(text);
}

/* Everything lies in one folder: NAME-VERSION. */
static void check_top(struct tar *t, const char *path)
{
	size_t n = strcspn(path, "/");

	if (!t->top)
		t->top = rk_proof_text(t->p, path, n);
	else if (strlen(t->top) != n || strncmp(t->top, path, n))
		rk_proof_fault(t->p, "sdist-folder", t->w, path, "not in the folder '%s'", t->top);
}

static void add_source(struct tar *t)
{
	const char *path = path_of(t);
	unsigned type = archive_entry_filetype(t->e);
	struct rk_proof_file *f;

	if (!path)
		return;
	check_top(t, path);
	if (type == S_IFDIR)
		return;
	if (type != S_IFREG || archive_entry_hardlink(t->e)) {
		rk_proof_fault(t->p, "member-special", t->w, path, "no file and no folder");
		return;
	}
	f = rk_proof_add(t->p, t->w);
	if (!f)
		return;
	f->path = path;
	f->mode = (uint32_t)archive_entry_mode(t->e) & 07777;
	f->size = (uint64_t)archive_entry_size(t->e);
	if (is_wanted(path) && f->size <= RK_PROOF_TEXT_MAX)
		keep_text(t, f);
}

/* PKG-INFO says the same as the file's name. */
static void check_info(struct tar *t)
{
	const char *where = t->top ? t->top : "", *text = NULL, *version;
	char path[RK_PROOF_PATH_MAX];
	const struct rk_proof_file *f;

	if (strlen(where) + sizeof("/PKG-INFO") > sizeof(path))
		return;
	memcpy(path, where, strlen(where));
	memcpy(path + strlen(where), "/PKG-INFO", sizeof("/PKG-INFO"));
	f = rk_proof_find(t->w, path);
	text = f ? f->text : NULL;
	version = text ? rk_proof_header(t->p, text, "Version") : NULL;
	if (!text)
		rk_proof_fault(t->p, "metadata-missing", t->w, path, "there is no PKG-INFO");
	else if (!version || strcmp(version, t->w->version))
		rk_proof_fault(t->p, "metadata-wrong", t->w, path,
			       "version '%s' is not that of the file's name",
			       version ? version : "");
}

void rk_proof_sdist(struct rk_proving *p, struct rk_proof_package *w)
{
	struct tar t = { .p = p, .w = w, .member = "" };
	int fd = open(w->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		rk_proof_fault(p, "unreadable", w, "", "cannot open it: %s", strerror(errno));
		return;
	}
	if (open_tar(&t, fd)) {
		while (next(&t))
			add_source(&t);
		check_info(&t);
	}
	close_tar(&t);
	close(fd);
}
