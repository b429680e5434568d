/* pack_facts.c - what a file is: by its name first, then by its first bytes. */
#include <elf.h>
#include <string.h>

#include "base/text.h"
#include "pack/elf/read.h"
#include "pack/pack_plan_impl.h"

enum { HEAD_BYTES = 64 };

/* Names that settle it: these files are never edited, whatever is in them. */
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
		{ ".exe", "a program of another system" },
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

/* A SONAME is used as the name of a file: one that could not be is none. */
static bool is_file_name(const char *s)
{
	return *s && !strchr(s, '/') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0 &&
	       rk_artifact_name_fits(s);
}

static int keep_text(struct rk_pack_plan *p, const char *s, const char **ret, struct rk_error *err)
{
	*ret = rk_arena_text(p->arena, s, strlen(s));
	return *ret ? 0 : rk_fail_nomem(err);
}

/* Processors that run an operating system; all others run what is loaded onto them as data. */
static bool is_host(uint16_t machine)
{
	static const uint16_t hosts[] = { EM_X86_64, EM_AARCH64, EM_386,  EM_ARM,
					  EM_PPC64,  EM_RISCV,   EM_S390, 258 /* LoongArch */ };

	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++)
		if (hosts[i] == machine)
			return true;
	return false;
}

/* Texts of `elf` point into the view, which goes. */
static int take(struct rk_pack_plan *p, const struct rk_elf *elf, struct rk_file_facts *f,
		struct rk_error *err)
{
	const char *rpath = elf->runpath ? elf->runpath : elf->rpath;
	int rc = 0;

	if (elf->kind != RK_ELF_EXE && elf->kind != RK_ELF_SHARED) {
		f->note = elf->kind == RK_ELF_OTHER ? "object file or device code" : "";
		return 0;
	}
	if (!is_host(elf->machine)) {
		f->note = "code for another kind of processor";
		return 0;
	}
	if (elf->kind == RK_ELF_SHARED)
		f->type = RK_FILE_LIBRARY;
	else /* without an interpreter nobody reads a run path, dynamic section or not */
		f->type = elf->dynamic && elf->interpreter ? RK_FILE_PROGRAM : RK_FILE_STATIC;
	f->machine = elf->wide ? elf->machine : 0;
	if (elf->soname && elf->kind == RK_ELF_SHARED && is_file_name(elf->soname))
		rc = keep_text(p, elf->soname, &f->soname, err);
	if (rc == 0 && rpath)
		rc = keep_text(p, rpath, &f->rpath, err);
	return rc;
}

static int look(struct rk_pack_plan *p, const struct rk_entry *file, struct rk_file_facts *f,
		struct rk_error *err)
{
	struct rk_error why = { 0 };
	struct rk_arena *scratch = NULL;
	struct rk_view view = { 0 };
	struct rk_elf elf = { 0 };
	int rc = rk_arena_new(&scratch, err);

	if (rc == 0)
		rc = rk_origin_view(file->origin, &view, err);
	if (rc == 0) {
		rc = rk_elf_read(view.data, view.len, scratch, &elf, &why);
		if (rc == 0) {
			rc = take(p, &elf, f, err);
		} else if (rc == RK_E_FORMAT) {
			f->type = RK_FILE_BROKEN;
			rc = keep_text(p, why.message, &f->note, err);
		} else {
			rk_fail(err, rc, "%s", why.message);
		}
	}
	rk_view_close(&view);
	rk_arena_free(scratch);
	return rc;
}

bool rk_entry_say(const struct rk_entry *e)
{
	bool first = !e->said;

	((struct rk_entry *)e)->said = true; /* entries belong to the plan */
	return first;
}

int rk_file_facts(struct rk_pack_plan *p, const struct rk_entry *file,
		  const struct rk_file_facts **ret, struct rk_error *err)
{
	struct rk_file_facts *f;
	char head[HEAD_BYTES];
	size_t n = 0;
	int rc = 0;

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
		if (rc == 0 && rk_elf_is(head, n))
			rc = look(p, file, f, err);
	}
	if (rc < 0)
		return rc;
	((struct rk_entry *)file)->facts =
		f; /* entries belong to the plan; this is its memory of them */
	*ret = f;
	return 0;
}
