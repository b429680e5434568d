/*
 * pack_items.c - items of a package. Classifies files by name first, then by their first bytes.
 * Items are plain copies, files with a new run path, and generated files.
 */
#include "pack/pack_plan_impl.h"

#include <elf.h>
#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "pack/elf/launcher.h"
#include "pack/elf/read.h"

/* ---- what a file is ---- */

enum { HEAD_BYTES = 64 };

/* Files with these names are never edited, whatever they contain. */
static const char *note_of_name(const char *path)
{
	static const struct {
		const char *ending, *note;
	} known[] = {
		{ ".txt", "text" },
		{ ".h", "text" },
		{ ".hpp", "text" },
		{ ".hsaco", "device code" },
		{ ".co", "device code" },
		{ ".lib", "archive" },
		{ ".exe", "program for another operating system" },
		{ ".debug", "debug file" },
		{ ".o", "object file" },
		{ ".a", "archive" },
	};
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (rk_text_ends(path, len, known[i].ending))
			return known[i].note;
	return NULL;
}

static int keep_text(struct rk_pack_plan *p, const char *s, const char **ret, struct rk_error *err)
{
	*ret = rk_arena_text(p->arena, s, strlen(s));
	return *ret ? 0 : rk_fail_nomem(err);
}

/* Is it a host processor? Code for any other machine is data that is loaded onto a device. */
static bool is_host(uint16_t machine)
{
	static const uint16_t hosts[] = { EM_X86_64, EM_AARCH64, EM_386,  EM_ARM,
					  EM_PPC64,  EM_RISCV,   EM_S390, 258 /* LoongArch */ };

	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++)
		if (hosts[i] == machine)
			return true;
	return false;
}

/* Strings of `elf` point into the view, which gets closed, so they are copied. */
static int look(struct rk_pack_plan *p, const struct rk_entry *file, struct rk_file_facts *f,
		struct rk_error *err)
{
	struct rk_error why = { 0 };
	struct rk_arena *scratch = NULL;
	struct rk_view view = { 0 };
	struct rk_elf elf = { 0 };
	const char *rpath, *s;
	int rc;

	if ((rc = rk_arena_new(&scratch, err)) < 0 ||
	    (rc = rk_origin_view(file->origin, &view, err)) < 0)
		goto out;
	rc = rk_elf_read_view(&view, scratch, &elf, &why);
	if (rc == RK_E_FORMAT) {
		f->type = RK_FILE_BROKEN;
		rc = keep_text(p, why.message, &f->note, err);
		goto out;
	}
	if (rc < 0) {
		rk_fail(err, rc, "%s", why.message);
		goto out;
	}
	if (elf.kind != RK_ELF_EXE && elf.kind != RK_ELF_SHARED) {
		if (elf.kind == RK_ELF_OTHER)
			f->note = "object file or device code";
		goto out;
	}
	if (!is_host(elf.machine)) {
		f->note = "code for another kind of processor";
		goto out;
	}
	if (elf.kind == RK_ELF_SHARED)
		f->type = RK_FILE_LIBRARY;
	else /* without an interpreter no loader reads the run path, even if there is a dynamic section */
		f->type = elf.dynamic && elf.interpreter ? RK_FILE_PROGRAM : RK_FILE_STATIC;
	f->machine = elf.wide ? elf.machine : 0;
	/* SONAMEs become file names: ignore those that are not valid file names */
	s = elf.soname;
	if (s && elf.kind == RK_ELF_SHARED && *s && !strchr(s, '/') && strcmp(s, ".") != 0 &&
	    strcmp(s, "..") != 0 && rk_artifact_name_fits(s) &&
	    (rc = keep_text(p, s, &f->soname, err)) < 0)
		goto out;
	rpath = elf.runpath ? elf.runpath : elf.rpath;
	if (rpath)
		rc = keep_text(p, rpath, &f->rpath, err);
out:
	rk_view_close(&view);
	rk_arena_free(scratch);
	return rc;
}

bool rk_entry_say(const struct rk_entry *e)
{
	bool first = !e->said;

	((struct rk_entry *)e)->said = true; /* cast is fine: the plan owns the entries */
	return first;
}

int rk_file_facts(struct rk_pack_plan *p, const struct rk_entry *file,
		  const struct rk_file_facts **ret, struct rk_error *err)
{
	struct rk_file_facts *f;
	char head[HEAD_BYTES];
	size_t n = 0;
	int rc;

	if (file->facts) {
		*ret = file->facts;
		return 0;
	}
	f = rk_arena_alloc(p->arena, sizeof(*f));
	if (!f)
		return rk_fail_nomem(err);
	f->rpath = "";
	f->note = note_of_name(file->path);
	if (!f->note) {
		f->note = "";
		rc = rk_origin_head(file->origin, head, sizeof(head), &n, err);
		if (rc < 0 || (rk_elf_is(head, n) && (rc = look(p, file, f, err)) < 0))
			return rc;
	}
	((struct rk_entry *)file)->facts = f; /* the cache; the plan owns the entries */
	*ret = f;
	return 0;
}

/* ---- items ---- */

enum { RPATH_MAX = 16 << 10 };

const char *const rk_pack_action_names[] = {
	[RK_PACK_COPY] = "copy",         [RK_PACK_EDIT] = "edit", [RK_PACK_RESOLVED] = "resolved",
	[RK_PACK_LAUNCHER] = "launcher", [RK_PACK_STUB] = "stub", [RK_PACK_MADE] = "made",
	[RK_PACK_DIR] = "dir",           [RK_PACK_LINK] = "link", [RK_PACK_ALIAS] = "alias",
	[RK_PACK_DROP] = "drop",
};

const char *rk_pack_text(struct rk_pack_work *k, const char *fmt, ...)
{
	const char *text;
	va_list args;

	va_start(args, fmt);
	text = rk_arena_textv(k->pl->p->arena, fmt, args);
	va_end(args);
	if (!text)
		rk_fail_nomem(k->pl->err);
	return text;
}

struct rk_pack_item *rk_pack_item_add(struct rk_pack_work *k, const char *path,
				      enum rk_pack_action action, const char *reason)
{
	struct rk_dist *d = k->d;
	struct rk_pack_item *item = NULL;

	if (path && reason)
		item = rk_arena_grow(k->pl->p->arena, d->items, d->n, &d->cap, sizeof(*item));
	if (!item) {
		rk_fail_nomem(k->pl->err);
		return NULL;
	}
	d->items = item;
	item = &d->items[d->n++];
	*item = (struct rk_pack_item){
		.path = path, .action = action, .mode = 0644, .edit = "", .reason = reason
	};
	return item;
}

int rk_pack_put_drop(struct rk_pack_work *k, const struct rk_entry *e, const char *reason)
{
	struct rk_pack_item *item = rk_pack_item_add(k, e->path, RK_PACK_DROP, reason);

	if (!item)
		return RK_E_NOMEM;
	item->entry = e;
	item->mode = 0;
	return 0;
}

/* ---- relative paths ---- */

/* "../" for each folder in the path. */
static void put_up(struct rk_bytes *out, const char *path)
{
	for (; *path; path++)
		if (*path == '/')
			rk_bytes_puts(out, "../");
}

/* Copies the text to the arena and releases `b`. NULL: no memory, reported. */
static const char *keep(struct rk_pack_work *k, struct rk_bytes *b)
{
	const char *text = NULL;

	if (!b->bad)
		text = rk_arena_text(k->pl->p->arena, (const char *)b->data, b->len);
	if (!text)
		rk_fail_nomem(k->pl->err);
	rk_bytes_release(b);
	return text;
}

const char *rk_pack_sibling(struct rk_pack_work *k, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return rk_pack_text(k, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name);
}

/* ---- run paths ---- */

/* Skips duplicates and empty parts: an empty part means the current directory. */
static void put_part(struct rk_bytes *out, const char *part, size_t len)
{
	const char *s = (const char *)out->data;
	size_t n;

	if (!len || out->bad)
		return;
	for (size_t at = 0; at < out->len; at += n + 1) {
		const char *colon = memchr(s + at, ':', out->len - at);

		n = colon ? (size_t)(colon - s) - at : out->len - at;
		if (n == len && memcmp(s + at, part, len) == 0)
			return;
	}
	if (out->len)
		rk_bytes_puts(out, ":");
	rk_bytes_put(out, part, len);
}

/* The file's own run path, then the packages it may need ("$ORIGIN/../../_rocm_sdk_core/lib"). */
static const char *rpath_for(struct rk_pack_work *k, const char *path, const char *old)
{
	struct rk_pack_plan *p = k->pl->p;
	struct rk_bytes out, part;
	size_t n;

	rk_bytes_init(&out, RPATH_MAX);
	rk_bytes_init(&part, RPATH_MAX);
	for (; *old; old += n + (old[n] == ':')) {
		n = strcspn(old, ":");
		put_part(&out, old, n);
	}
	for (size_t i = 0; i < k->d->kind->nrpaths; i++) {
		const struct rk_pack_rpath *r = &k->d->kind->rpaths[i];
		const struct rk_pack_kind *kind = rk_pack_table_find(p->table, r->kind);
		const char *platform = NULL;

		if (kind)
			platform = rk_pack_platform_name(p->arena, p->table, kind, p->kpack,
							 k->d->family, p->nonce);
		rk_bytes_clear(&part);
		rk_bytes_puts(&part, "$ORIGIN/../");
		put_up(&part, path);
		rk_bytes_printf(&part, "%s/%s", rk_text_or_empty(platform), r->dir);
		out.bad |= part.bad || !platform;
		if (!out.bad)
			put_part(&out, (const char *)part.data, part.len);
	}
	rk_bytes_release(&part);
	return keep(k, &out);
}

/* Returns 1 if *ret is the edit; 0 if the file is copied unchanged, with a warning. */
static int edit_file(struct rk_pack_work *k, const struct rk_entry *file, const char *rpath,
		     struct rk_elf_edit *ret)
{
	enum rk_rpath_tag tag = k->pl->o->runpath ? RK_RUNPATH : RK_RPATH;
	struct rk_error why = { 0 };
	struct rk_view view = { 0 };
	int rc = rk_origin_view(file->origin, &view, k->pl->err);

	if (rc < 0)
		return rc;
	rc = rk_elf_edit_view(&view, rpath, tag, k->pl->p->arena, ret, &why);
	rk_view_close(&view);
	if (rc == 0)
		return ret->way != RK_ELF_SAME;
	if (rc == RK_E_NOMEM)
		return rk_fail_nomem(k->pl->err);
	if (rc != RK_E_UNSUPPORTED) {
		rk_fail(k->pl->err, rc, "cannot edit '%s': %.300s", file->origin->name,
			why.message);
		return rc;
	}
	rk_diag_add(k->pl->p->diag, "not-edited", file->artifact->label, 0, 1,
		    "the run path of '%s' was not changed: %.300s", file->path, why.message);
	return 0;
}

/* ---- files ---- */

static int set_content(struct rk_pack_work *k, struct rk_pack_item *item,
		       const struct rk_entry *file, const struct rk_elf_edit *edit)
{
	struct rk_arena *a = k->pl->p->arena;
	struct rk_content *c = NULL;
	struct rk_elf_edit *kept = NULL;
	int rc = rk_content_new(a, &c, k->pl->err);

	if (rc < 0)
		return rc;
	if (edit) {
		kept = rk_arena_alloc(a, sizeof(*kept));
		if (!kept)
			return rk_fail_nomem(k->pl->err);
		*kept = *edit;
	}
	item->content = c;
	return rk_content_origin(a, c, file->origin, kept, k->pl->err);
}

static int edit_item(struct rk_pack_work *k, struct rk_pack_item *item, const struct rk_entry *file,
		     const struct rk_file_facts *f, bool devel)
{
	static const char *const ways[] = { [RK_ELF_SAME] = "as it was",
					    [RK_ELF_TAG] = "kind of entry",
					    [RK_ELF_IN_PLACE] = "in place",
					    [RK_ELF_ROOM] = "in unused space",
					    [RK_ELF_SEGMENT] = "new segment" };
	const char *tag = k->pl->o->runpath ? "runpath" : "rpath";
	const char *rpath = devel ? f->rpath : rpath_for(k, item->path, f->rpath);
	struct rk_elf_edit edit = { 0 };
	unsigned long long more;
	int rc;

	if (!rpath)
		return RK_E_NOMEM;
	if (!*rpath)
		return set_content(k, item, file, NULL);
	rc = edit_file(k, file, devel ? NULL : rpath, &edit);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return set_content(k, item, file, NULL);
	if (item->action == RK_PACK_COPY)
		item->action = RK_PACK_EDIT;
	more = edit.new_size - edit.old_size;
	if (more)
		item->edit = rk_pack_text(k, "%s '%s' (%s, +%llu bytes)", tag, rpath,
					  ways[edit.way], more);
	else
		item->edit = rk_pack_text(k, "%s '%s' (%s)", tag, rpath, ways[edit.way]);
	return item->edit ? set_content(k, item, file, &edit) : RK_E_NOMEM;
}

/* Why a file is copied unchanged. */
static const char *reason_of(const struct rk_file_facts *f)
{
	switch (f->type) {
	case RK_FILE_STATIC:
		return "static program, no run path";
	case RK_FILE_PROGRAM:
		return "program";
	case RK_FILE_LIBRARY:
		return "library";
	default:
		return *f->note ? f->note : "file";
	}
}

int rk_pack_put_file(struct rk_pack_work *k, const char *path, const struct rk_entry *file,
		     enum rk_pack_action action, const char *reason, bool devel)
{
	const struct rk_file_facts *f;
	struct rk_pack_item *item;
	int rc = rk_file_facts(k->pl->p, file, &f, k->pl->err);

	if (rc < 0)
		return rc;
	/*
	 * all host files of a package must be for one machine, which decides its launchers and its
	 * tag
	 */
	if (!devel && f->machine && !k->d->machine) {
		k->d->machine = f->machine;
		k->machine_of = file->origin->name;
	}
	if (!devel && f->machine && k->d->machine != f->machine)
		return rk_fail(k->pl->err, RK_E_FORMAT,
			       "'%s' and '%s' are for different machines (%u and %u): one package "
			       "cannot have both",
			       k->machine_of, file->origin->name, k->d->machine, f->machine);
	item = rk_pack_item_add(k, path, action, *reason ? reason : reason_of(f));
	if (!item)
		return RK_E_NOMEM;
	item->entry = file;
	item->mode = file->mode & 0100 ? 0755 : 0644;
	if (f->type == RK_FILE_PROGRAM || f->type == RK_FILE_LIBRARY)
		return edit_item(k, item, file, f, devel);
	return set_content(k, item, file, NULL);
}

/* Moves generated bytes to the arena. */
static int set_bytes(struct rk_pack_work *k, struct rk_pack_item *item, const struct rk_bytes *b)
{
	struct rk_arena *a = k->pl->p->arena;
	struct rk_content *c = NULL;
	void *copy = rk_arena_alloc(a, b->len);
	int rc = rk_content_new(a, &c, k->pl->err);

	if (rc < 0 || !copy)
		return rk_fail_nomem(k->pl->err);
	if (b->len)
		memcpy(copy, b->data, b->len);
	item->content = c;
	return rk_content_bytes(a, c, copy, b->len, k->pl->err);
}

bool rk_pack_has_launcher(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_AARCH64;
}

int rk_pack_put_launcher(struct rk_pack_work *k, const char *path, const struct rk_entry *program,
			 uint16_t machine)
{
	const char *to = program->path, *way;
	struct rk_pack_item *item;
	struct rk_bytes out;
	size_t common = 0;
	int rc;

	/* the relative path from the launcher's folder to the program */
	for (size_t i = 0; path[i] && path[i] == to[i]; i++)
		if (path[i] == '/')
			common = i + 1;
	rk_bytes_init(&out, RPATH_MAX);
	put_up(&out, path + common);
	rk_bytes_puts(&out, to + common);
	way = keep(k, &out);
	if (!way)
		return RK_E_NOMEM;

	item = rk_pack_item_add(k, path, RK_PACK_LAUNCHER, "link to a program");
	if (!item || !(item->edit = rk_pack_text(k, "runs '%s'", way)))
		return RK_E_NOMEM;
	item->mode = 0755;
	item->entry = program;
	rk_bytes_init(&out, RK_LAUNCHER_BYTES_MAX + RK_LAUNCHER_PATH_MAX);
	rc = rk_launcher_make(machine, way, &out, k->pl->err);
	if (rc == 0)
		rc = set_bytes(k, item, &out);
	rk_bytes_release(&out);
	return rc;
}

int rk_pack_put_stub(struct rk_pack_work *k, struct rk_pack_item *item, const char *soname,
		     uint16_t machine)
{
	struct rk_bytes out;
	int rc;

	rk_bytes_init(&out, 1 << 20);
	rc = rk_alias_library_make(machine, rk_base_name(item->path), soname, &out, k->pl->err);
	if (rc == 0)
		rc = set_bytes(k, item, &out);
	rk_bytes_release(&out);
	return rc;
}
