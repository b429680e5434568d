/*
 * archives.c - read the members of all packages: wheels (in parallel), devel's inner tar, and
 * source distributions. Computes hashes and keeps facts about ELF files. Large members go through a
 * temporary file to limit memory.
 */
#include "pack/verify/verify.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"
#include "pack/elf/launcher.h"

enum { BLOCK_BYTES = 256 << 10, KEEP_BYTES = 4 << 20 };

/* ---- ELF ---- */

static const char *copy_text(struct rk_proving *p, const char *s)
{
	return s ? rk_arena_text(p->arena, s, strlen(s)) : NULL;
}

/* Copies from the thread's arena to the shared one; false: no memory. */
static bool keep_elf(struct rk_proving *p, const struct rk_elf *elf, struct rk_proof_elf *k)
{
	const char *path = elf->runpath ? elf->runpath : elf->rpath;
	struct rk_glibc g;

	k->kind = elf->kind;
	k->machine = elf->machine;
	for (size_t i = 0; i < elf->nversions; i++)
		if (elf->versions[i].name && rk_glibc_of(elf->versions[i].name, &g) &&
		    rk_glibc_newer(g, k->glibc))
			k->glibc = g;
	k->path = copy_text(p, path);
	k->needed = rk_arena_alloc(p->arena, (elf->nneeded + 1) * sizeof(*k->needed));
	for (; k->needed && k->nneeded < elf->nneeded; k->nneeded++)
		if (!(k->needed[k->nneeded] = copy_text(p, elf->needed[k->nneeded])))
			return false;
	return k->needed && (k->path || !path);
}

/* Keeps the facts if the bytes are an ELF file, and the target if they are a launcher. */
static void look_at(struct rk_proving *p, const struct rk_proof_package *w, struct rk_proof_file *f,
		    const void *data, size_t len)
{
	struct rk_error err = { 0 };
	struct rk_arena *mine = NULL;
	struct rk_elf elf = { 0 };
	struct rk_proof_elf *kept = NULL;
	const char *target;
	int rc;

	if (!rk_elf_is(data, len))
		return;
	target = rk_launcher_target(data, len);
	if (target)
		f->launcher = rk_proof_text(p, target, strlen(target));
	if ((rc = rk_arena_new(&mine, &err)) < 0 ||
	    (rc = rk_elf_read(data, len, mine, &elf, &err)) < 0)
		goto out;
	pthread_mutex_lock(&p->lock);
	kept = rk_arena_alloc(p->arena, sizeof(*kept));
	if (!kept || !keep_elf(p, &elf, kept))
		rc = rk_fail_nomem(&err);
	pthread_mutex_unlock(&p->lock);
out:
	if (rc == 0)
		f->elf = kept;
	else if (rc == RK_E_NOMEM)
		rk_proof_stop(p, &err);
	else
		rk_proof_fault(p, "elf-damaged", w, f->path, "%s", err.message);
	rk_arena_free(mine);
}

/* No part of the path is empty, "." or "..". */
static bool has_plain_parts(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (!n || (n == 1 && path[0] == '.') || (n == 2 && !strncmp(path, "..", 2)))
			return false;
		path += n + (path[n] == '/');
	}
	return true;
}

/* ---- tar archives ---- */

struct tar {
	struct rk_proving *p;
	struct rk_proof_package *w;
	const char *member; /* member of the wheel; "" for an sdist */
	struct archive *a;
	struct archive_entry *e;
	char *block;
	const char *top; /* the folder that contains everything; NULL: not known yet */
};

static void damaged(struct tar *t)
{
	const char *why = archive_error_string(t->a);

	rk_proof_fault(t->p, "archive-damaged", t->w, t->member,
		       "the archive cannot be read: %.200s", why ? why : "damaged");
}

/* True: continue. */
static bool next(struct tar *t)
{
	int rc;

	if (rk_proof_stopped(t->p))
		return false;
	rc = archive_read_next_header(t->a, &t->e);
	if (rc == ARCHIVE_EOF)
		return false;
	if (rc < ARCHIVE_WARN)
		damaged(t);
	return rc >= ARCHIVE_WARN;
}

/* The path without leading "./" and trailing slashes, checked; NULL: reported, or empty. */
static const char *path_of(struct tar *t)
{
	const char *name = archive_entry_pathname(t->e), *path;
	size_t len;

	if (!name) /* the locale may not support the characters of the name */
		name = archive_entry_pathname_utf8(t->e);
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
	if (!path)
		return NULL;
	if (!has_plain_parts(path)) {
		rk_proof_fault(t->p, path[0] == '/' ? "name-absolute" : "name-escapes", t->w, path,
			       "a path leads out of the archive");
		return NULL;
	}
	if (rk_utf8_valid(path, len) != len)
		rk_proof_fault(t->p, "name-encoding", t->w, path, "the name is not UTF-8");
	return path;
}

/* ---- bytes ---- */

/*
 * Copies all bytes to `to`, or to a temporary file if `to` is NULL. RK_E_FORMAT: already reported
 * by `damaged`.
 */
static int copy_bytes(struct tar *t, char *to, size_t room, struct rk_spill *s,
		      struct rk_error *err)
{
	uint64_t at, len = 0;
	la_ssize_t n;

	while ((n = archive_read_data(t->a, t->block, BLOCK_BYTES)) != 0) {
		if (n < 0 || (to && (uint64_t)n > room - len)) {
			damaged(t);
			return RK_E_FORMAT;
		}
		if (to) {
			memcpy(to + len, t->block, (size_t)n);
		} else {
			int rc = rk_spill_append(s, t->block, (size_t)n, &at, err);

			if (rc < 0)
				return rc;
		}
		len += (uint64_t)n;
	}
	if (to && len != room) {
		damaged(t);
		return RK_E_FORMAT;
	}
	return 0;
}

static void look_inner(struct tar *t, struct rk_proof_file *f)
{
	struct rk_error err = { 0 };
	struct rk_spill *s = NULL;
	struct rk_view view = { 0 };
	char *bytes = NULL;
	int rc;

	if (f->size <= KEEP_BYTES) {
		bytes = rk_alloc((size_t)f->size + 1);
		rc = bytes ? copy_bytes(t, bytes, (size_t)f->size, NULL, &err) :
			     rk_fail_nomem(&err);
		if (rc == 0)
			look_at(t->p, t->w, f, bytes, (size_t)f->size);
		goto out;
	}
	if ((rc = rk_spill_new(NULL, &s, &err)) < 0 || (rc = copy_bytes(t, NULL, 0, s, &err)) < 0 ||
	    (rc = rk_view_spill(s, 0, (size_t)rk_spill_size(s), &view, &err)) < 0)
		goto out;
	look_at(t->p, t->w, f, view.data, view.len);
out:
	if (rc < 0 && rc != RK_E_FORMAT)
		rk_proof_stop(t->p, &err);
	rk_view_close(&view);
	rk_spill_free(s);
	rk_free(bytes);
}

static void add_inner(struct tar *t)
{
	const char *path = path_of(t);
	struct rk_proof_file *f = path ? rk_proof_add(t->p, t->w) : NULL;
	const char *hard = archive_entry_hardlink(t->e), *soft = archive_entry_symlink(t->e);
	unsigned type = archive_entry_filetype(t->e);

	if (!f)
		return;
	f->path = path;
	f->inner = true;
	f->mode = (uint32_t)archive_entry_mode(t->e) & 07777;
	f->size = (uint64_t)archive_entry_size(t->e);
	if (!soft)
		soft = archive_entry_symlink_utf8(t->e);
	if (hard || (type == S_IFLNK && !soft)) {
		rk_proof_fault(t->p, "member-special", t->w, f->path,
			       "a hard link, or a link without a target, in the archive");
	} else if (type == S_IFLNK) {
		f->kind = RK_PROOF_LINK;
		f->link = rk_proof_text(t->p, soft, strlen(soft));
	} else if (type == S_IFDIR) {
		f->kind = RK_PROOF_DIR;
	} else if (type != S_IFREG) {
		rk_proof_fault(t->p, "member-special", t->w, f->path, "not a file, folder or link");
	} else {
		look_inner(t, f);
	}
}

/* `fd` must be at its beginning. */
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

/* ---- source distributions ---- */

static bool is_wanted(const char *path)
{
	static const char *const ends[] = { ".py", "/PKG-INFO", "/entry_points.txt" };

	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (rk_text_ends(path, strlen(path), ends[i]))
			return true;
	return false;
}

/* Everything must be in one folder: NAME-VERSION. */
static void add_source(struct tar *t)
{
	const char *path = path_of(t);
	unsigned type = archive_entry_filetype(t->e);
	struct rk_error err = { 0 };
	struct rk_proof_file *f;
	size_t top;
	char *text;
	int rc;

	if (!path)
		return;
	top = strcspn(path, "/");
	if (!t->top)
		t->top = rk_proof_text(t->p, path, top);
	else if (strlen(t->top) != top || strncmp(t->top, path, top))
		rk_proof_fault(t->p, "sdist-folder", t->w, path, "not in the folder '%s'", t->top);
	if (type == S_IFDIR)
		return;
	if (type != S_IFREG || archive_entry_hardlink(t->e)) {
		rk_proof_fault(t->p, "member-special", t->w, path, "not a file or folder");
		return;
	}
	f = rk_proof_add(t->p, t->w);
	if (!f)
		return;
	f->path = path;
	f->mode = (uint32_t)archive_entry_mode(t->e) & 07777;
	f->size = (uint64_t)archive_entry_size(t->e);
	if (!is_wanted(path) || f->size > RK_PROOF_TEXT_MAX)
		return;

	text = rk_alloc((size_t)f->size + 1);
	rc = text ? copy_bytes(t, text, (size_t)f->size, NULL, &err) : rk_fail_nomem(&err);
	if (rc == 0)
		f->text = rk_proof_text(t->p, text, (size_t)f->size);
	else if (rc != RK_E_FORMAT)
		rk_proof_stop(t->p, &err);
	rk_free(text);
}

/* Also checks that PKG-INFO has the version in the file name. */
static void read_sdist(struct rk_proving *p, struct rk_proof_package *w)
{
	struct tar t = { .p = p, .w = w, .member = "" };
	int fd = open(w->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	const char *top, *text = NULL, *version;
	char path[RK_PROOF_PATH_MAX];

	if (fd < 0) {
		rk_proof_fault(p, "unreadable", w, "", "cannot open it: %s", strerror(errno));
		return;
	}
	if (!open_tar(&t, fd))
		goto out;
	while (next(&t))
		add_source(&t);

	top = rk_text_or_empty(t.top);
	if (strlen(top) + sizeof("/PKG-INFO") > sizeof(path))
		goto out;
	memcpy(path, top, strlen(top));
	memcpy(path + strlen(top), "/PKG-INFO", sizeof("/PKG-INFO"));
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->files[i].path, path)) {
			text = w->files[i].text;
			break;
		}
	if (!text) {
		rk_proof_fault(p, "metadata-missing", w, path, "PKG-INFO is missing");
		goto out;
	}
	version = rk_proof_header(p, text, "Version");
	if (!version || strcmp(version, w->version))
		rk_proof_fault(p, "metadata-wrong", w, path,
			       "version '%s' differs from the file name",
			       rk_text_or_empty(version));
out:
	close_tar(&t);
	close(fd);
}

/* ---- wheels ---- */

/* One member being read. */
struct reading {
	struct rk_sha256 sum;
	bool begun;
	bool archive; /* devel's inner archive: always goes through a temporary file */
	uint64_t size;
	uint8_t *bytes;
	size_t len;
	struct rk_spill *spill;
};

struct task {
	struct rk_proving *p;
	struct rk_proof_package *w;
	const struct rk_zip_entry *e;
	size_t file; /* in w->files */
	bool archive;
	struct rk_spill *spill; /* an archive's bytes, for the second step */
};

struct task_list {
	struct task *v;
	size_t n, cap;
};

static int take(void *arg, const void *p, size_t len, struct rk_error *err)
{
	struct reading *r = arg;
	uint64_t at;
	int rc = 0;

	if (!r->begun && (r->archive || rk_elf_is(p, len))) { /* we need its bytes */
		if (r->archive || r->size > KEEP_BYTES)
			rc = rk_spill_new(NULL, &r->spill, err);
		else if (!(r->bytes = rk_alloc((size_t)r->size + 1)))
			rc = rk_fail_nomem(err);
		if (rc < 0)
			return rc;
	}
	r->begun = true;
	rk_sha256_add(&r->sum, p, len);
	if (r->spill)
		return rk_spill_append(r->spill, p, len, &at, err);
	if (r->bytes)
		memcpy(r->bytes + r->len, p, len);
	r->len += len;
	return 0;
}

static void read_member(void *arg, size_t i, unsigned worker)
{
	struct task *t = &((struct task *)arg)[i];
	struct rk_proof_file *f = &t->w->files[t->file];
	struct reading r = { .archive = t->archive, .size = t->e->size };
	struct rk_view view = { 0 };
	struct rk_error err = { 0 };
	int rc;

	(void)worker;
	if (rk_proof_stopped(t->p))
		return;
	rk_sha256_begin(&r.sum);
	rc = rk_zip_each_bytes(t->w->zip, t->e, take, &r, &err);
	if (rc < 0)
		goto out;
	rk_sha256_end(&r.sum, f->sha256);
	f->summed = true;
	if (r.bytes) {
		look_at(t->p, t->w, f, r.bytes, r.len);
	} else if (r.archive) {
		t->spill = r.spill;
		r.spill = NULL;
	} else if (r.spill) {
		rc = rk_view_spill(r.spill, 0, (size_t)rk_spill_size(r.spill), &view, &err);
		if (rc == 0)
			look_at(t->p, t->w, f, view.data, view.len);
		rk_view_close(&view);
	}
out:
	if (rc == RK_E_NOMEM || rc == RK_E_IO)
		rk_proof_stop(t->p, &err);
	else if (rc < 0)
		rk_proof_fault(t->p, "member-damaged", t->w, t->e->name, "%s", err.message);
	rk_spill_free(r.spill);
	rk_free(r.bytes);
}

/* Adds to the package's files, so nothing else may be reading them. */
static void read_archive(void *arg, size_t i, unsigned worker)
{
	struct task *t = &((struct task *)arg)[i];
	struct tar tar = { .p = t->p, .w = t->w, .member = t->e->name };

	(void)worker;
	if (t->spill && !rk_proof_stopped(t->p)) {
		if (lseek(rk_spill_fd(t->spill), 0, SEEK_SET) == 0 &&
		    open_tar(&tar, rk_spill_fd(t->spill)))
			while (next(&tar))
				add_inner(&tar);
		close_tar(&tar);
	}
	rk_spill_free(t->spill);
	t->spill = NULL;
}

/* ---- names ---- */

/* Why it cannot be installed under its name, or NULL. *ret_kind is the kind of finding. */
static const char *name_trouble(const struct rk_zip_entry *e, const char **ret_kind)
{
	*ret_kind = "name-bad";
	if (!e->name_len)
		return "the name is empty";
	if (strlen(e->name) != e->name_len)
		return "the name contains a NUL byte";
	*ret_kind = "name-encoding";
	if (rk_utf8_valid(e->name, e->name_len) != e->name_len)
		return "the name is not UTF-8";
	for (const char *c = e->name; *c && !e->utf8; c++)
		if (*c & 0x80)
			return "the name is not marked as UTF-8: other programs read it as cp437";
	*ret_kind = "name-bad";
	for (const char *c = e->name; *c; c++) /* also rejects U+0085, U+2028 and U+2029 */
		if ((unsigned char)*c < 32 || !strncmp(c, "\xc2\x85", 2) ||
		    !strncmp(c, "\xe2\x80\xa8", 3) || !strncmp(c, "\xe2\x80\xa9", 3))
			return "the name has a character that Python treats as a line end in RECORD";
	*ret_kind = "name-backslash";
	if (strchr(e->name, '\\'))
		return "the name has a backslash, which some systems treat as a slash";
	*ret_kind = "name-absolute";
	if (e->name[0] == '/')
		return "the name is absolute";
	*ret_kind = strstr(e->name, "..") ? "name-escapes" : "name-bad";
	if (!has_plain_parts(e->name))
		return "the path has a part that is empty, '.' or '..'";
	return NULL;
}

static void add_member(struct rk_proving *p, struct rk_proof_package *w,
		       const struct rk_zip_entry *e, struct task_list *list)
{
	struct task *v = rk_grow(list->v, &list->cap, list->n + 1, sizeof(*v));
	struct rk_proof_file *f;
	const char *kind, *why, *base;

	if (!v) {
		rk_proof_nomem(p);
		return;
	}
	list->v = v;
	f = rk_proof_add(p, w);
	if (!f)
		return;
	why = name_trouble(e, &kind);
	if (why)
		rk_proof_fault(p, kind, w, e->name, "%s", why);
	if (!why || !strcmp(kind, "name-encoding"))
		f->path = e->name; /* valid as long as the archive is open */
	if (S_ISLNK(e->mode))
		rk_proof_fault(p, "member-link", w, e->name,
			       "a symbolic link: installers would write its target as text");
	else if (e->mode & S_IFMT && !S_ISREG(e->mode) && !S_ISDIR(e->mode))
		rk_proof_fault(p, "member-special", w, e->name, "not a file or folder");
	f->mode = e->mode & 07777;
	f->size = e->size;
	base = rk_base_name(f->path);
	v[list->n++] = (struct task){
		.p = p,
		.w = w,
		.e = e,
		.file = w->n - 1,
		.archive = !strncmp(w->name, "rocm-sdk-devel", 14) &&
			   (!strcmp(base, "_devel.tar") || !strcmp(base, "_devel.tar.xz")),
	};
}

/* Devel's archives first, then the largest members, because they take longest. */
static int by_size(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->archive != y->archive)
		return x->archive ? -1 : 1;
	if (x->e->size != y->e->size)
		return x->e->size > y->e->size ? -1 : 1;
	return 0;
}

void rk_proof_read(struct rk_proving *p)
{
	struct task_list list = { 0 };
	size_t archives = 0;

	for (size_t i = 0; i < p->npackages && p->rc == 0; i++) {
		struct rk_proof_package *w = &p->packages[i];
		const struct rk_zip_entry *e;
		struct rk_error err = { 0 };
		size_t n;
		int rc;

		if (w->sdist) {
			read_sdist(p, w);
			continue;
		}
		rc = rk_zip_open(w->path, &w->zip, &err);
		if (rc == RK_E_NOMEM)
			rk_proof_stop(p, &err);
		else if (rc < 0)
			rk_proof_fault(p, "unreadable", w, "", "%s", err.message);
		if (rc < 0)
			continue;
		e = rk_zip_entries(w->zip, &n);
		for (size_t k = 0; k < n && p->rc == 0; k++)
			if (!e[k].name_len || e[k].name[e[k].name_len - 1] != '/')
				add_member(p, w, &e[k], &list);
	}
	if (p->rc == 0 && list.n) {
		qsort(list.v, list.n, sizeof(*list.v), by_size);
		rk_pool_run(p->pool, list.n, read_member, list.v);
		while (archives < list.n && list.v[archives].archive)
			archives++;
		rk_pool_run(p->pool, archives, read_archive, list.v);
	}
	rk_free(list.v);
}
