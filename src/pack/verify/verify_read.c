/*
 * verify_read.c - the members of all wheels, read side by side: sums of their bytes, and what is kept of
 * ELF files. Large ones go through a temporary file, so that memory has a limit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/view.h"
#include "pack/elf/launcher.h"
#include "pack/verify/verify_impl.h"

enum { KEEP_BYTES = 4 << 20 };

/* One member being read. */
struct reading {
	struct rk_sha256 sum;
	bool begun, keep; /* its bytes are wanted once they are all there */
	bool archive;     /* devel's: always through a temporary file */
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
	struct rk_spill *spill; /* an archive's bytes, for the second round */
};

struct task_list {
	struct task *v;
	size_t n, cap;
};

/* ---- ELF ---- */

static const char *copy_text(struct rk_proving *p, const char *s)
{
	return s ? rk_arena_text(p->arena, s, strlen(s)) : NULL;
}

static struct rk_glibc highest(const struct rk_elf *elf)
{
	struct rk_glibc most = { 0 }, g;

	for (size_t i = 0; i < elf->nversions; i++)
		if (elf->versions[i].name && rk_glibc_of(elf->versions[i].name, &g) &&
		    rk_glibc_newer(g, most))
			most = g;
	return most;
}

/* From a thread's memory into the common one; false: none left. */
static bool keep_elf(struct rk_proving *p, const struct rk_elf *elf, struct rk_proof_elf *k)
{
	const char *path = elf->runpath ? elf->runpath : elf->rpath;

	k->kind = elf->kind;
	k->machine = elf->machine;
	k->dynamic = elf->dynamic;
	k->runpath = elf->runpath;
	k->glibc = highest(elf);
	k->soname = copy_text(p, elf->soname);
	k->path = copy_text(p, path);
	k->needed = rk_arena_alloc(p->arena, (elf->nneeded + 1) * sizeof(*k->needed));
	for (; k->needed && k->nneeded < elf->nneeded; k->nneeded++)
		if (!(k->needed[k->nneeded] = copy_text(p, elf->needed[k->nneeded])))
			return false;
	return k->needed && (k->path || !path) && (k->soname || !elf->soname);
}

static void look_at_elf(struct rk_proving *p, const struct rk_proof_package *w,
			struct rk_proof_file *f, const void *data, size_t len)
{
	struct rk_error err = { 0 };
	struct rk_arena *mine = NULL;
	struct rk_elf elf = { 0 };
	struct rk_proof_elf *kept = NULL;
	int rc = rk_arena_new(&mine, &err);

	if (rc == 0)
		rc = rk_elf_read(data, len, mine, &elf, &err);
	if (rc == 0 && elf.kind != RK_ELF_NONE) {
		pthread_mutex_lock(&p->lock);
		kept = rk_arena_alloc(p->arena, sizeof(*kept));
		if (!kept || !keep_elf(p, &elf, kept))
			rc = rk_fail_nomem(&err);
		pthread_mutex_unlock(&p->lock);
	}
	if (rc == 0)
		f->elf = kept;
	else if (rc == RK_E_NOMEM)
		rk_proof_stop(p, &err);
	else
		rk_proof_fault(p, "elf-damaged", w, f->path, "no good ELF file: %s", err.message);
	rk_arena_free(mine);
}

void rk_proof_look(struct rk_proving *p, const struct rk_proof_package *w, struct rk_proof_file *f,
		   const void *data, size_t len)
{
	const char *target;

	if (!rk_elf_is(data, len))
		return;
	target = rk_launcher_target(data, len);
	if (target)
		f->launcher = rk_proof_text(p, target, strlen(target));
	look_at_elf(p, w, f, data, len);
}

/* ---- bytes ---- */

static int begin(struct reading *r, const void *p, size_t len, struct rk_error *err)
{
	r->begun = true;
	r->keep = r->archive || rk_elf_is(p, len);
	if (!r->keep)
		return 0;
	if (r->archive || r->size > KEEP_BYTES)
		return rk_spill_new(NULL, &r->spill, err);
	r->bytes = rk_alloc((size_t)r->size + 1);
	return r->bytes ? 0 : rk_fail_nomem(err);
}

static int take(void *arg, const void *p, size_t len, struct rk_error *err)
{
	struct reading *r = arg;
	uint64_t at;
	int rc = r->begun ? 0 : begin(r, p, len, err);

	if (rc < 0)
		return rc;
	rk_sha256_add(&r->sum, p, len);
	if (r->spill)
		return rk_spill_append(r->spill, p, len, &at, err);
	if (r->bytes)
		memcpy(r->bytes + r->len, p, len);
	r->len += len;
	return 0;
}

static int look(struct task *t, struct reading *r, struct rk_proof_file *f, struct rk_error *err)
{
	struct rk_view view = { 0 };
	int rc = 0;

	if (r->bytes)
		rk_proof_look(t->p, t->w, f, r->bytes, r->len);
	if (!r->spill || r->archive)
		return 0;
	rc = rk_view_spill(r->spill, 0, (size_t)rk_spill_size(r->spill), &view, err);
	if (rc == 0)
		rk_proof_look(t->p, t->w, f, view.data, view.len);
	rk_view_close(&view);
	return rc;
}

static void read_member(void *arg, size_t i, unsigned worker)
{
	struct task *t = &((struct task *)arg)[i];
	struct rk_proof_file *f = &t->w->files[t->file];
	struct reading r = { .archive = t->archive, .size = t->e->size };
	struct rk_error err = { 0 };
	int rc;

	(void)worker;
	if (rk_proof_stopped(t->p))
		return;
	rk_sha256_begin(&r.sum);
	rc = rk_zip_each_bytes(t->w->zip, t->e, take, &r, &err);
	if (rc == 0) {
		rk_sha256_end(&r.sum, f->sha256);
		f->summed = true;
		rc = look(t, &r, f, &err);
	}
	if (rc == 0 && r.archive) {
		t->spill = r.spill;
		r.spill = NULL;
	}
	if (rc == RK_E_NOMEM || rc == RK_E_IO)
		rk_proof_stop(t->p, &err);
	else if (rc < 0)
		rk_proof_fault(t->p, "member-damaged", t->w, t->e->name, "%s", err.message);
	rk_spill_free(r.spill);
	rk_free(r.bytes);
}

/* Adds to the package's files: nothing else may be reading them. */
static void read_archive(void *arg, size_t i, unsigned worker)
{
	struct task *t = &((struct task *)arg)[i];

	(void)worker;
	if (t->spill && !rk_proof_stopped(t->p))
		rk_proof_devel(t->p, t->w, t->e->name, t->spill);
	rk_spill_free(t->spill);
	t->spill = NULL;
}

/* ---- names ---- */

/* U+0085, U+2028 and U+2029, or a control character. */
static bool ends_line(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 32 || !strncmp(s, "\xc2\x85", 2) ||
		    !strncmp(s, "\xe2\x80\xa8", 3) || !strncmp(s, "\xe2\x80\xa9", 3))
			return true;
	return false;
}

static const char *name_trouble(const struct rk_zip_entry *e, const char **ret_kind)
{
	*ret_kind = "name-bad";
	if (!e->name_len || strlen(e->name) != e->name_len)
		return e->name_len ? "the name has a NUL in it" : "the name is empty";
	*ret_kind = "name-encoding";
	if (rk_utf8_valid(e->name, e->name_len) != e->name_len)
		return "the name is not UTF-8";
	for (const char *c = e->name; *c && !e->utf8; c++)
		if (*c & 0x80)
			return "the name is not marked as UTF-8: others read it as cp437";
	*ret_kind = "name-bad";
	if (ends_line(e->name))
		return "the name has a character that ends a line of RECORD for Python";
	*ret_kind = "name-backslash";
	if (strchr(e->name, '\\'))
		return "the name has a backslash in it, which some systems take for a slash";
	*ret_kind = "name-absolute";
	return e->name[0] == '/' ? "the name is absolute" : NULL;
}

/* Each part of the path must be one. */
bool rk_proof_plain_parts(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (!n || (n == 1 && path[0] == '.') || (n == 2 && !strncmp(path, "..", 2)))
			return false;
		path += n + (path[n] == '/');
	}
	return true;
}

/* True when it can be installed under its name. */
static bool check_name(struct rk_proving *p, struct rk_proof_package *w,
		       const struct rk_zip_entry *e)
{
	const char *kind, *why = name_trouble(e, &kind);

	if (!why && !rk_proof_plain_parts(e->name)) {
		kind = strstr(e->name, "..") ? "name-escapes" : "name-bad";
		why = "the path has a part that is empty, '.' or '..'";
	}
	if (why)
		rk_proof_fault(p, kind, w, e->name, "%s", why);
	return !why || !strcmp(kind, "name-encoding");
}

static void check_mode(struct rk_proving *p, struct rk_proof_package *w,
		       const struct rk_zip_entry *e)
{
	if (S_ISLNK(e->mode))
		rk_proof_fault(p, "member-link", w, e->name,
			       "a symbolic link: installers write its target as text");
	else if (e->mode & S_IFMT && !S_ISREG(e->mode) && !S_ISDIR(e->mode))
		rk_proof_fault(p, "member-special", w, e->name, "no file and no folder");
}

static bool is_devel_archive(const struct rk_proof_package *w, const char *path)
{
	const char *base = rk_base_name(path);

	return !strncmp(w->name, "rocm-sdk-devel", 14) &&
	       (!strcmp(base, "_devel.tar") || !strcmp(base, "_devel.tar.xz"));
}

/* ---- all of them ---- */

static void add_member(struct rk_proving *p, struct rk_proof_package *w,
		       const struct rk_zip_entry *e, struct task_list *list)
{
	struct task *v = rk_grow(list->v, &list->cap, list->n + 1, sizeof(*v));
	struct rk_proof_file *f = v ? rk_proof_add(p, w) : NULL;

	if (!v) {
		rk_proof_nomem(p);
		return;
	}
	list->v = v;
	if (!f)
		return;
	if (check_name(p, w, e))
		f->path = e->name; /* lives as long as the archive is open */
	check_mode(p, w, e);
	f->mode = e->mode & 07777;
	f->size = e->size;
	v[list->n++] = (struct task){
		.p = p, .w = w, .e = e, .file = w->n - 1, .archive = is_devel_archive(w, f->path)
	};
}

static void open_wheel(struct rk_proving *p, struct rk_proof_package *w, struct task_list *list)
{
	struct rk_error err = { 0 };
	const struct rk_zip_entry *e;
	size_t n;
	int rc = rk_zip_open(w->path, &w->zip, &err);

	if (rc == RK_E_NOMEM)
		rk_proof_stop(p, &err);
	else if (rc < 0)
		rk_proof_fault(p, "unreadable", w, "", "%s", err.message);
	if (rc < 0)
		return;
	e = rk_zip_entries(w->zip, &n);
	for (size_t i = 0; i < n && p->rc == 0; i++)
		if (!e[i].name_len || e[i].name[e[i].name_len - 1] != '/')
			add_member(p, w, &e[i], list);
}

/* Devel's archives first, then the largest: they take longest. */
static int by_size(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->archive != y->archive)
		return x->archive ? -1 : 1;
	if (x->e->size != y->e->size)
		return x->e->size > y->e->size ? -1 : 1;
	return 0;
}

static void read_all(struct rk_proving *p, struct task_list *list)
{
	size_t archives = 0;

	qsort(list->v, list->n, sizeof(*list->v), by_size);
	rk_pool_run(p->pool, list->n, read_member, list->v);
	while (archives < list->n && list->v[archives].archive)
		archives++;
	rk_pool_run(p->pool, archives, read_archive, list->v);
}

void rk_proof_read(struct rk_proving *p)
{
	struct task_list list = { 0 };

	for (size_t i = 0; i < p->npackages && p->rc == 0; i++)
		if (!p->packages[i].sdist)
			open_wheel(p, &p->packages[i], &list);
		else
			rk_proof_sdist(p, &p->packages[i]);
	if (p->rc == 0 && list.n)
		read_all(p, &list);
	rk_free(list.v);
}
