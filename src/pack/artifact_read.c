/*
 * artifact_read.c - read one artifact: check, sort and complete its entries. A folder is read
 * without following links. A tar archive is read once from the front, its files go straight to the
 * spill, and no file is ever created under a name from the archive.
 */
#include "pack/artifacts_impl.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pack/paths.h"

/* ---- entries ---- */

/* Bytes that would garble the message become '?'. */
static int bad_name(const char *path, const char *where, const char *why, struct rk_error *err)
{
	char shown[200];
	size_t n = 0;

	for (const char *s = path; *s && n < sizeof(shown) - 1; s++)
		shown[n++] = (char)((unsigned char)*s < 32 || (unsigned char)*s > 126 ? '?' : *s);
	shown[n] = '\0';
	return rk_fail(err, RK_E_FORMAT, "the name '%s' in '%s' %s", shown, where, why);
}

/* Also U+0080 to U+009F, U+2028 and U+2029: Python ends lines there, and installers read RECORD by lines. */
static bool has_control(const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p; p++)
		if (*p < 32 || *p == 127 || (p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) ||
		    (p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9)))
			return true;
	return false;
}

bool rk_artifact_name_fits(const char *s)
{
	size_t len = strlen(s);

	return !has_control(s) && rk_utf8_valid(s, len) == len;
}

static bool has_dots(const char *s)
{
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.') || (n == 2 && memcmp(s, "..", 2) == 0))
			return true;
		if (!s[n])
			return false;
	}
}

/*
 * Can this name or path go into a package? It must be relative, in UTF-8, and without empty or dot
 * parts, control characters and backslashes. `where` is for the error.
 */
static int check_path(const char *path, const char *where, struct rk_error *err)
{
	size_t len = strlen(path);

	if (len >= RK_ARTIFACT_PATH_MAX)
		return bad_name(path, where, "is too long", err);
	if (has_control(path))
		return bad_name(path, where, "has a control character, which RECORD does not allow",
				err);
	if (rk_utf8_valid(path, len) != len)
		return bad_name(path, where, "is not UTF-8, which wheels do not allow", err);
	if (strchr(path, '\\'))
		return bad_name(path, where,
				"has a backslash, which some installers treat as a slash", err);
	if (has_dots(path))
		return bad_name(path, where, "leads out of it", err);
	return 0;
}

/* Is `path` the folder, or below it? */
static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

/* Checks the lines of a manifest and adds them to r->stages. */
static int add_stages(struct artifact_reader *r, const char *text, size_t len, struct rk_error *err)
{
	char path[RK_ARTIFACT_PATH_MAX];
	size_t n, known;

	for (size_t at = 0; at < len; at += n + 1) {
		const char *line = text + at, *end = memchr(line, '\n', len - at);
		size_t used = n = end ? (size_t)(end - line) : len - at;

		while (used &&
		       (line[used - 1] == '\r' || line[used - 1] == ' ' || line[used - 1] == '/'))
			used--;
		if (!used)
			continue;
		if (used >= sizeof(path) || memchr(line, 0, used))
			return rk_fail(err, RK_E_FORMAT,
				       "'%s' of '%s' has a line that is not a path",
				       RK_ARTIFACT_MANIFEST, r->artifact->label);
		memcpy(path, line, used);
		path[used] = '\0';
		if (check_path(path, r->path, err) < 0)
			return RK_E_FORMAT;

		for (known = 0; known < r->stages.n; known++) {
			const char *other = r->stages.v[known];

			if (strcmp(path, other) == 0)
				break;
			if (is_below(path, other) || is_below(other, path))
				return rk_fail(err, RK_E_FORMAT,
					       "'%s' of '%s' lists one stage in another",
					       RK_ARTIFACT_MANIFEST, r->artifact->label);
		}
		if (known < r->stages.n)
			continue;
		rk_list_add(&r->stages, path);
		if (r->stages.n > RK_ARTIFACT_STAGES_MAX)
			return rk_fail(err, RK_E_LIMIT, "'%s' has too many stages",
				       r->artifact->label);
		if (r->stages.bad)
			return rk_fail_nomem(err);
	}
	return 0;
}

/* A new entry. Only artifact, path (copied) and stage are set; the rest is zero. */
static int new_entry(struct artifact_reader *r, uint32_t stage, const char *path,
		     struct rk_entry **ret, struct rk_error *err)
{
	struct rk_entry *e;

	r->name_bytes += strlen(path);
	if (r->n >= RK_ARTIFACT_ENTRIES_MAX || r->name_bytes > RK_ARTIFACT_NAMES_MAX)
		return rk_fail(err, RK_E_LIMIT, "'%s' has more than %d files, or names of %d MB",
			       r->path, RK_ARTIFACT_ENTRIES_MAX, RK_ARTIFACT_NAMES_MAX >> 20);
	e = rk_grow(r->v, &r->cap, r->n + 1, sizeof(*e));
	if (!e)
		return rk_fail_nomem(err);
	r->v = e;
	e = &r->v[r->n];
	*e = (struct rk_entry){ .artifact = r->artifact, .stage = stage };
	e->path = rk_arena_text(r->arena, path, strlen(path));
	if (!e->path)
		return rk_fail_nomem(err);
	r->n++;
	*ret = e;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct rk_entry *x = a, *y = b;

	if (x->stage != y->stage)
		return x->stage < y->stage ? -1 : 1;
	return strcmp(x->path, y->path);
}

/*
 * Adds missing entries for parent folders. Entries are sorted, so a folder is missing where the
 * previous entry is not inside it.
 */
static int add_folders(struct artifact_reader *r, struct rk_error *err)
{
	char folder[RK_ARTIFACT_PATH_MAX];
	size_t n = r->n;

	for (size_t i = 0; i < n; i++) {
		struct rk_entry key = { .path = folder, .stage = r->v[i].stage }, *e;
		const char *path = r->v[i].path, *before = "";

		if (i && r->v[i - 1].stage == key.stage)
			before = r->v[i - 1].path;
		for (size_t len = 0; path[len]; len++) {
			int rc;

			if (path[len] != '/' || strncmp(before, path, len + 1) == 0)
				continue;
			memcpy(folder, path, len);
			folder[len] = '\0';
			e = bsearch(&key, r->v, n, sizeof(*r->v), by_place);
			if (e && e->kind == RK_ENTRY_DIR)
				continue;
			if (e)
				return rk_fail(err, RK_E_FORMAT,
					       "'%s' has '%s' below '%s', which is not a folder",
					       r->path, path, folder);
			rc = new_entry(r, key.stage, folder, &e, err);
			if (rc < 0)
				return rc;
			e->kind = RK_ENTRY_DIR;
			e->mode = 0755;
		}
	}
	return 0;
}

/* Sorts the entries, adds missing folder entries, and moves everything to r->artifact. */
static int finish(struct artifact_reader *r, struct rk_error *err)
{
	struct rk_artifact *a = r->artifact;
	size_t kept = 0;
	int rc;

	if (r->n > 1)
		qsort(r->v, r->n, sizeof(*r->v), by_place);
	for (size_t i = 0; i < r->n; i++) {
		if (!kept || by_place(&r->v[kept - 1], &r->v[i]) != 0)
			r->v[kept++] = r->v[i];
		else if (r->v[i].kind != RK_ENTRY_DIR || r->v[kept - 1].kind != RK_ENTRY_DIR)
			return rk_fail(err, RK_E_FORMAT, "'%s' has '%s' twice", r->path,
				       r->v[i].path); /* only folders may be listed twice */
	}
	r->n = kept;
	rc = add_folders(r, err);
	if (rc < 0)
		return rc;
	if (r->n > 1)
		qsort(r->v, r->n, sizeof(*r->v), by_place);

	a->entries = rk_arena_alloc(r->arena, r->n * sizeof(*r->v));
	if (!a->entries)
		return rk_fail_nomem(err);
	if (r->n)
		memcpy(a->entries, r->v, r->n * sizeof(*r->v));
	a->nentries = r->n;
	a->read = true;
	return 0;
}

/* ---- a folder ---- */

struct folder_walk {
	struct artifact_reader *r;
	uint32_t stage;
	const char *top; /* the stage's folder, for messages */
	char path[RK_ARTIFACT_PATH_MAX];
	size_t len;
	unsigned depth;
};

static int cannot(const struct folder_walk *w, int errnum, struct rk_error *err)
{
	return rk_fail_errno(err, errnum, "cannot read '%s/%s'", w->top, w->path);
}

/* A separate function because the text buffer is large and add_entry recurses. */
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

static int add_entry(struct folder_walk *w, int fd, const char *name, struct rk_error *err)
{
	struct rk_arena *a = w->r->arena;
	struct rk_entry *e = NULL;
	struct rk_origin *o;
	struct stat st;
	int rc, sub;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return cannot(w, errno, err);
	rc = new_entry(w->r, w->stage, w->path, &e, err);
	if (rc < 0)
		return rc;
	e->mode = st.st_mode & 0777;
	if (S_ISREG(st.st_mode)) {
		o = rk_arena_alloc(a, sizeof(*o));
		if (!o || !(o->path = rk_arena_textf(a, "%s/%s", w->top, w->path)) ||
		    !(o->name = rk_arena_textf(a, "%s: %s", w->r->artifact->label, w->path)))
			return rk_fail_nomem(err);
		o->size = (uint64_t)st.st_size;
		o->dev = (uint64_t)st.st_dev;
		o->ino = (uint64_t)st.st_ino;
		o->mtime_ns = rk_origin_time(&st);
		e->kind = RK_ENTRY_FILE;
		e->origin = o;
		return 0;
	}
	if (S_ISLNK(st.st_mode))
		return add_link(w, fd, name, e, err);
	if (!S_ISDIR(st.st_mode))
		return rk_fail(err, RK_E_FORMAT, "'%s/%s' is not a file, folder or link", w->top,
			       w->path);
	e->kind = RK_ENTRY_DIR;
	if (w->depth >= RK_ARTIFACT_DEPTH_MAX)
		return rk_fail(err, RK_E_LIMIT, "'%s/%s' is nested deeper than %d folders", w->top,
			       w->path, RK_ARTIFACT_DEPTH_MAX);
	sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub < 0)
		return cannot(w, errno, err);
	w->depth++;
	rc = walk(w, sub, err);
	w->depth--;
	return rc;
}

/* Closes `fd`. */
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
		size_t n = strlen(de->d_name);

		if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
			continue;
		rc = check_path(de->d_name, w->top, err);
		if (rc == 0 && len + n + 2 > sizeof(w->path))
			rc = cannot(w, ENAMETOOLONG, err);
		if (rc < 0)
			break;
		if (len)
			w->path[w->len++] = '/';
		memcpy(w->path + w->len, de->d_name, n + 1);
		w->len += n;
		rc = add_entry(w, dirfd(d), de->d_name, err);
		w->len = len;
		w->path[len] = '\0';
	}
	if (rc == 0 && errno)
		rc = cannot(w, errno, err);
	closedir(d);
	return rc;
}

/*
 * Opens the stage's folder one path component at a time, so that no link is followed. Returns -1
 * and sets errno on failure.
 */
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

/* Returns 1 if a manifest was read, 0 if there is none. */
static int read_manifest(struct artifact_reader *r, int dir, struct rk_error *err)
{
	int fd = openat(dir, RK_ARTIFACT_MANIFEST, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char *text = NULL;
	size_t len = 0;
	ssize_t n = 1;
	struct stat st;
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot open '%s/%s'", r->path,
				     RK_ARTIFACT_MANIFEST);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		rc = rk_fail(err, RK_E_FORMAT, "'%s/%s' is not a regular file", r->path,
			     RK_ARTIFACT_MANIFEST);
		goto out;
	}
	text = rk_alloc(RK_ARTIFACT_MANIFEST_MAX);
	if (!text) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	while (len < RK_ARTIFACT_MANIFEST_MAX && n > 0)
		if ((n = read(fd, text + len, RK_ARTIFACT_MANIFEST_MAX - len)) > 0)
			len += (size_t)n;
	if (n < 0)
		rc = rk_fail_errno(err, errno, "cannot read '%s/%s'", r->path,
				   RK_ARTIFACT_MANIFEST);
	else if (n > 0)
		rc = rk_fail(err, RK_E_LIMIT, "'%s/%s' is too long", r->path, RK_ARTIFACT_MANIFEST);
	else
		rc = add_stages(r, text, len, err);
out:
	rk_free(text);
	close(fd);
	return rc < 0 ? rc : 1;
}

static int read_folder(struct artifact_reader *r, struct rk_error *err)
{
	int fd = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot open '%s'", r->path);
	rc = read_manifest(r, fd, err);
	for (size_t i = 0; rc > 0 && i < r->stages.n; i++) {
		struct folder_walk w = { .r = r, .stage = (uint32_t)i };
		const char *stage = r->stages.v[i];
		int at = open_stage(fd, stage), walked;

		if (at < 0 && errno == ENOENT) {
			rk_diag_add(r->diag, "no-stage", r->artifact->label, 0, 1,
				    "its manifest lists '%s', which does not exist", stage);
			continue;
		}
		if (at < 0) {
			rc = rk_fail_errno(err, errno, "cannot read '%s/%s'", r->path, stage);
			break;
		}
		w.top = rk_arena_textf(r->arena, "%s/%s", r->path, stage);
		if (!w.top) {
			close(at);
			rc = rk_fail_nomem(err);
			break;
		}
		walked = walk(&w, at, err);
		if (walked < 0)
			rc = walked;
	}
	close(fd);
	return rc;
}

/* ---- an archive ---- */

enum { BLOCK_BYTES = 256 << 10 };

struct member_reader {
	struct artifact_reader *r;
	struct archive *a;
	struct archive_entry *e;
	struct rk_path_map names; /* file names, to resolve hard links: index in r->v */
	char *block;
};

static int failed(const struct member_reader *m, struct rk_error *err)
{
	const char *why = archive_error_string(m->a);

	return rk_fail(err, RK_E_FORMAT, "cannot read '%s': %.200s", m->r->path,
		       why ? why : "it is damaged");
}

/* Returns 1 for a member, 0 at the end. */
static int next_member(struct member_reader *m, struct rk_error *err)
{
	int rc = archive_read_next_header(m->a, &m->e);

	if (rc == ARCHIVE_EOF)
		return 0;
	return rc < ARCHIVE_WARN ? failed(m, err) : 1;
}

/* Removes a leading "./" and trailing slashes. */
static int tidy(const struct member_reader *m, const char *name, char path[RK_ARTIFACT_PATH_MAX],
		struct rk_error *err)
{
	size_t len;

	if (!name)
		return rk_fail(err, RK_E_FORMAT, "'%s' has a member without a name", m->r->path);
	while (name[0] == '.' && name[1] == '/')
		name += 2;
	len = strlen(name);
	while (len && name[len - 1] == '/')
		len--;
	if (len >= RK_ARTIFACT_PATH_MAX)
		return rk_fail(err, RK_E_LIMIT, "'%s' has a member with a name of %zu bytes",
			       m->r->path, len);
	memcpy(path, name, len);
	path[len] = '\0';
	return 0;
}

/* Returns the stage that contains the member and its path there; -1: no stage does. */
static ptrdiff_t stage_of(const struct artifact_reader *r, const char *path, const char **ret_rest)
{
	for (size_t i = 0; i < r->stages.n; i++) {
		size_t n = strlen(r->stages.v[i]);

		if (strncmp(path, r->stages.v[i], n) == 0 && (path[n] == '/' || !path[n])) {
			*ret_rest = path + n + (path[n] == '/');
			return (ptrdiff_t)i;
		}
	}
	return -1;
}

/* Is the path a parent folder of a stage? */
static bool leads_to_stage(const struct artifact_reader *r, const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < r->stages.n; i++)
		if (strncmp(r->stages.v[i], path, n) == 0 && r->stages.v[i][n] == '/')
			return true;
	return false;
}

/* Copies the member to the spill. Its size must match its header. */
static int add_archive_file(struct member_reader *m, struct rk_entry *e, struct rk_error *err)
{
	struct artifact_spill *s = m->r->spill;
	struct rk_arena *a = m->r->arena;
	struct rk_origin *o = rk_arena_alloc(a, sizeof(*o));
	uint64_t done = 0;
	la_ssize_t n;
	int rc;

	if (!o || !(o->name = rk_arena_textf(a, "%s: %s", m->r->artifact->label, e->path)))
		return rk_fail_nomem(err);
	if (archive_entry_sparse_count(m->e) > 0)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "'%s' in '%s' is a sparse file, which is not supported", e->path,
			       m->r->path);
	o->size = (uint64_t)archive_entry_size(m->e);
	e->kind = RK_ENTRY_FILE;
	e->origin = o;

	/* reserve a range for this member */
	pthread_mutex_lock(&s->lock);
	o->spill = s->file;
	o->offset = rk_spill_size(s->file);
	if (o->size > INT64_MAX - o->offset)
		rc = rk_fail(err, RK_E_LIMIT, "'%s' is too big", o->name);
	else
		rc = rk_spill_resize(s->file, o->offset + o->size, err);
	pthread_mutex_unlock(&s->lock);
	if (rc < 0) {
		rk_error_at(err, o->name, 0, 0);
		return rc;
	}

	while ((n = archive_read_data(m->a, m->block, BLOCK_BYTES)) > 0) {
		if ((uint64_t)n > o->size - done)
			break;
		rc = rk_spill_write(o->spill, o->offset + done, m->block, (size_t)n, err);
		if (rc < 0)
			return rc;
		done += (uint64_t)n;
	}
	if (n < 0)
		return failed(m, err);
	if (done != o->size)
		return rk_fail(err, RK_E_FORMAT, "'%s' has a different size than its header says",
			       o->name);
	return 0;
}

/* A hard link to an earlier member. */
static int add_hard_link(struct member_reader *m, struct rk_entry *e, struct rk_error *err)
{
	char target[RK_ARTIFACT_PATH_MAX];
	ptrdiff_t i;
	int rc = tidy(m, archive_entry_hardlink(m->e), target, err);

	if (rc < 0)
		return rc;
	i = rk_path_map_find(&m->names, target, strlen(target));
	if (i < 0)
		return rk_fail(
			err, RK_E_FORMAT,
			"'%s' in '%s' is a hard link to '%.200s', which is not an earlier file",
			e->path, m->r->path, target);
	e->kind = RK_ENTRY_FILE;
	e->mode = m->r->v[i].mode;
	e->origin = m->r->v[i].origin;
	return 0;
}

static int add_member(struct member_reader *m, struct rk_error *err)
{
	const char *hard = archive_entry_hardlink(m->e), *soft = archive_entry_symlink(m->e);
	const unsigned type = archive_entry_filetype(m->e);
	const bool folder = type == AE_IFDIR && !hard;
	char name[RK_ARTIFACT_PATH_MAX];
	struct rk_entry *e = NULL;
	const char *rest = "", *key;
	ptrdiff_t stage;
	size_t depth = 0;
	int rc = tidy(m, archive_entry_pathname(m->e), name, err);

	if (rc < 0 || (folder && (!name[0] || leads_to_stage(m->r, name))))
		return rc;
	rc = check_path(name, m->r->path, err);
	if (rc < 0)
		return rc;
	for (const char *s = name; *s; s++)
		depth += *s == '/';
	if (depth > RK_ARTIFACT_DEPTH_MAX)
		return rk_fail(err, RK_E_LIMIT,
			       "'%.100s...' in '%s' is nested deeper than %d folders", name,
			       m->r->path, RK_ARTIFACT_DEPTH_MAX);
	stage = stage_of(m->r, name, &rest);
	if (stage < 0)
		return rk_fail(err, RK_E_FORMAT, "'%s' has '%.200s', which is in no stage of '%s'",
			       m->r->path, name, RK_ARTIFACT_MANIFEST);
	if (!*rest && folder)
		return 0;
	if (!*rest)
		return rk_fail(err, RK_E_FORMAT, "the stage '%.200s' in '%s' is not a folder", name,
			       m->r->path);

	rc = new_entry(m->r, (uint32_t)stage, rest, &e, err);
	if (rc < 0)
		return rc;
	e->mode = archive_entry_perm(m->e) & 0777;
	if (folder)
		e->kind = RK_ENTRY_DIR;
	else if (hard)
		rc = add_hard_link(m, e, err);
	else if (type == AE_IFREG)
		rc = add_archive_file(m, e, err);
	else if (type == AE_IFLNK && soft)
		rc = rk_artifact_link(m->r, e, soft, err);
	else
		rc = rk_fail(err, RK_E_FORMAT, "'%s' in '%s' is not a file, folder or link",
			     e->path, m->r->path);
	if (rc < 0 || e->kind != RK_ENTRY_FILE)
		return rc;
	key = rk_arena_text(m->r->arena, name, strlen(name));
	if (!key)
		return rk_fail_nomem(err);
	return rk_path_map_put(&m->names, key, m->r->n - 1, err);
}

/* The first member must be the manifest. */
static int first_member(struct member_reader *m, struct rk_error *err)
{
	char name[RK_ARTIFACT_PATH_MAX];
	size_t len = 0;
	la_ssize_t n = 1;
	int rc = next_member(m, err);

	if (rc < 0)
		return rc;
	if (rc > 0 && tidy(m, archive_entry_pathname(m->e), name, err) < 0)
		return RK_E_FORMAT;
	if (rc == 0 || strcmp(name, RK_ARTIFACT_MANIFEST) != 0 ||
	    archive_entry_filetype(m->e) != AE_IFREG)
		return rk_fail(err, RK_E_FORMAT, "the first member of '%s' is not '%s'", m->r->path,
			       RK_ARTIFACT_MANIFEST);
	while (n > 0 && len < BLOCK_BYTES)
		if ((n = archive_read_data(m->a, m->block + len, BLOCK_BYTES - len)) > 0)
			len += (size_t)n;
	if (n < 0)
		return failed(m, err);
	if (n > 0)
		return rk_fail(err, RK_E_LIMIT, "'%s' of '%s' is too long", RK_ARTIFACT_MANIFEST,
			       m->r->path);
	return add_stages(m->r, m->block, len, err);
}

static int read_archive(struct artifact_reader *r, struct rk_error *err)
{
	struct member_reader m = { .r = r };
	int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot open '%s'", r->path);
	m.a = archive_read_new();
	m.block = rk_alloc(BLOCK_BYTES);
	if (!m.a || !m.block) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	/* only tar, compressed in one of three ways: do not accept every format libarchive can read */
	if (archive_read_support_format_tar(m.a) < ARCHIVE_WARN ||
	    archive_read_support_filter_gzip(m.a) < ARCHIVE_WARN ||
	    archive_read_support_filter_xz(m.a) < ARCHIVE_WARN ||
	    archive_read_support_filter_zstd(m.a) < ARCHIVE_WARN ||
	    archive_read_open_fd(m.a, fd, BLOCK_BYTES) < ARCHIVE_WARN) {
		rc = failed(&m, err);
		goto out;
	}
	rc = first_member(&m, err);
	while (rc == 0 && (rc = next_member(&m, err)) > 0)
		rc = add_member(&m, err);
out:
	if (m.a)
		archive_read_free(m.a);
	rk_path_map_release(&m.names);
	rk_free(m.block);
	close(fd);
	return rc < 0 ? rc : 1;
}

int rk_artifact_read(struct artifact_reader *r, struct rk_error *err)
{
	int rc = r->artifact->archive ? read_archive(r, err) : read_folder(r, err);

	if (rc <= 0)
		return rc;
	rc = finish(r, err);
	return rc < 0 ? rc : 1;
}
