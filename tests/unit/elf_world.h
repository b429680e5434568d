/* elf_world.h - small ELF files made by hand: one read-only segment, one that is written to. */
#ifndef RK_ELF_WORLD_H
#define RK_ELF_WORLD_H

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "pack/elf/edit.h"
#include "pack/elf/read.h"
#include "tap.h"

enum { ELF_WORLD_BYTES = 64 << 10, ELF_WORLD_PAGE = 4096, ELF_WORLD_APART = 3 * ELF_WORLD_PAGE };

/* What the file is to have. Zeros make a library without anything. */
struct elf_plan {
	const char *soname, *needed, *rpath, *runpath;
	const char *symbol;  /* defined, at the end of the symbols */
	const char *version; /* wanted of `needed` */
	bool program, is_static, pie, no_sections, no_note;
	bool room;       /* the read-only segment's last page is not full */
	bool null_slot;  /* a program header of no use */
	bool own_header; /* PT_PHDR */
	bool count_hint; /* DT_RELACOUNT */
	bool apart;      /* the strings have a segment of their own, as patchelf makes it */
	bool slack;      /* the read-only segment ends with bytes of no section */
	unsigned spare;  /* DT_NULL besides the one */
};

struct elf_world {
	uint8_t data[ELF_WORLD_BYTES];
	size_t len;
	Elf64_Ehdr head;
	Elf64_Phdr segments[12];
	size_t nsegments;
	Elf64_Shdr sections[16];
	size_t nsections;
	Elf64_Dyn entries[32];
	size_t nentries;
	char strings[1024];
	size_t nstrings;
	size_t dynamic_at;
	struct rk_arena *arena;
	struct rk_error err;
};

/* As linkers do: a text that ends another one is not written again. */
static inline uint32_t elf_text(struct elf_world *w, const char *s)
{
	const char *found = w->nstrings ? memmem(w->strings, w->nstrings, s, strlen(s) + 1) : NULL;
	uint32_t at = (uint32_t)w->nstrings;

	if (found)
		return (uint32_t)(found - w->strings);
	memcpy(w->strings + at, s, strlen(s) + 1);
	w->nstrings += strlen(s) + 1;
	return at;
}

static inline void elf_entry(struct elf_world *w, int64_t tag, uint64_t value)
{
	w->entries[w->nentries++] = (Elf64_Dyn){ .d_tag = tag, .d_un.d_val = value };
}

static inline Elf64_Phdr *elf_segment(struct elf_world *w, uint32_t type, uint32_t flags,
				      uint64_t at, uint64_t size)
{
	Elf64_Phdr *p = &w->segments[w->nsegments++];

	*p = (Elf64_Phdr){ .p_type = type,
			   .p_flags = flags,
			   .p_offset = at,
			   .p_vaddr = at,
			   .p_paddr = at,
			   .p_filesz = size,
			   .p_memsz = size,
			   .p_align = type == PT_LOAD ? ELF_WORLD_PAGE : 1 };
	return p;
}

static inline Elf64_Shdr *elf_section(struct elf_world *w, uint32_t type, uint64_t at,
				      uint64_t size)
{
	Elf64_Shdr *s = &w->sections[w->nsections++];

	*s = (Elf64_Shdr){ .sh_type = type,
			   .sh_flags = SHF_ALLOC,
			   .sh_addr = at,
			   .sh_offset = at,
			   .sh_size = size,
			   .sh_addralign = 1 };
	return s;
}

/* Bytes at the end, aligned by 8: where they are. */
static inline uint64_t elf_put(struct elf_world *w, const void *bytes, size_t len)
{
	uint64_t at = (w->len + 7) & ~(size_t)7;

	memcpy(w->data + at, bytes, len);
	w->len = at + len;
	return at;
}

static inline void elf_put_interpreter(struct elf_world *w)
{
	static const char name[] = "/lib64/ld-linux-x86-64.so.2";
	uint64_t at = elf_put(w, name, sizeof(name));

	elf_segment(w, PT_INTERP, PF_R, at, sizeof(name));
	elf_section(w, SHT_PROGBITS, at, sizeof(name));
}

static inline void elf_put_note(struct elf_world *w)
{
	static const uint32_t note[9] = { 4, 20, 3, 0x00554e47, 1, 2, 3, 4, 5 };
	uint64_t at = elf_put(w, note, sizeof(note));

	elf_segment(w, PT_NOTE, PF_R, at, sizeof(note));
	elf_section(w, SHT_NOTE, at, sizeof(note))->sh_addralign = 4;
}

/* Two symbols, and a hash table that has both in one chain. */
static inline void elf_put_symbols(struct elf_world *w, const struct elf_plan *p)
{
	Elf64_Sym symbols[2] = { 0 };
	const uint32_t hash[5] = { 1, 2, 1, 0, 0 };
	uint64_t at;

	symbols[1].st_name = p->symbol ? elf_text(w, p->symbol) : 0;
	symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	at = elf_put(w, hash, sizeof(hash));
	elf_section(w, SHT_HASH, at, sizeof(hash))->sh_addralign = 8;
	elf_entry(w, DT_HASH, at);
	at = elf_put(w, symbols, sizeof(symbols));
	elf_section(w, SHT_DYNSYM, at, sizeof(symbols))->sh_entsize = sizeof(Elf64_Sym);
	elf_entry(w, DT_SYMTAB, at);
}

static inline void elf_put_version(struct elf_world *w, const struct elf_plan *p)
{
	struct {
		Elf64_Verneed need;
		Elf64_Vernaux aux;
	} v = { 0 };
	uint64_t at;

	if (!p->version)
		return;
	v.need = (Elf64_Verneed){ .vn_version = 1,
				  .vn_cnt = 1,
				  .vn_file = elf_text(w, p->needed),
				  .vn_aux = sizeof(v.need) };
	v.aux.vna_name = elf_text(w, p->version);
	at = elf_put(w, &v, sizeof(v));
	elf_section(w, SHT_GNU_verneed, at, sizeof(v));
	elf_entry(w, DT_VERNEED, at);
	elf_entry(w, DT_VERNEEDNUM, 1);
}

static inline void elf_put_names(struct elf_world *w, const struct elf_plan *p)
{
	if (p->needed)
		elf_entry(w, DT_NEEDED, elf_text(w, p->needed));
	if (p->soname)
		elf_entry(w, DT_SONAME, elf_text(w, p->soname));
	if (p->rpath)
		elf_entry(w, DT_RPATH, elf_text(w, p->rpath));
	if (p->runpath)
		elf_entry(w, DT_RUNPATH, elf_text(w, p->runpath));
	if (p->count_hint)
		elf_entry(w, DT_RELACOUNT, 3);
	if (p->pie)
		elf_entry(w, DT_FLAGS_1, DF_1_PIE);
}

/* The segment that is written to: the dynamic section alone. */
static inline void elf_put_dynamic(struct elf_world *w, const struct elf_plan *p)
{
	size_t n = (w->nentries + 1 + p->spare) * sizeof(Elf64_Dyn);
	Elf64_Phdr *load, *dynamic;
	Elf64_Shdr *s;
	uint64_t at;

	if (p->room)
		w->len = ELF_WORLD_PAGE;
	at = w->dynamic_at = elf_put(w, w->entries, n);
	load = elf_segment(w, PT_LOAD, PF_R | PF_W, at, n);
	dynamic = elf_segment(w, PT_DYNAMIC, PF_R | PF_W, at, n);
	s = elf_section(w, SHT_DYNAMIC, at, n);
	load->p_vaddr = dynamic->p_vaddr = s->sh_addr = at + ELF_WORLD_PAGE;
	s->sh_flags |= SHF_WRITE;
}

static inline void elf_put_headers(struct elf_world *w, const struct elf_plan *p)
{
	w->head = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				.e_type = p->is_static ? ET_EXEC : ET_DYN,
				.e_machine = EM_X86_64,
				.e_version = EV_CURRENT,
				.e_phoff = sizeof(w->head),
				.e_ehsize = sizeof(w->head),
				.e_phentsize = sizeof(Elf64_Phdr),
				.e_phnum = (Elf64_Half)w->nsegments };
	if (!p->no_sections) {
		w->head.e_shentsize = sizeof(Elf64_Shdr);
		w->head.e_shnum = (Elf64_Half)w->nsections;
		w->head.e_shoff = elf_put(w, w->sections, w->nsections * sizeof(Elf64_Shdr));
	}
	memcpy(w->data, &w->head, sizeof(w->head));
	memcpy(w->data + sizeof(w->head), w->segments, w->nsegments * sizeof(Elf64_Phdr));
}

static inline size_t elf_count_segments(const struct elf_plan *p)
{
	return 3u + p->program + !p->no_note + p->null_slot + p->own_header + p->apart;
}

static inline void elf_make(struct elf_world *w, const struct elf_plan *p)
{
	Elf64_Phdr *load;
	uint64_t at;

	memset(w, 0, sizeof(*w));
	CHECK(rk_arena_new(&w->arena, &w->err) == 0);
	w->len = sizeof(w->head) + elf_count_segments(p) * sizeof(Elf64_Phdr);
	w->nsections = 1;
	elf_text(w, "");
	/* the longer text first: the shorter one may be its end */
	if (p->symbol && p->runpath && strlen(p->symbol) > strlen(p->runpath))
		elf_text(w, p->symbol);
	if (p->runpath)
		elf_text(w, p->runpath);
	if (p->own_header)
		elf_segment(w, PT_PHDR, PF_R, sizeof(w->head), w->len - sizeof(w->head));
	if (p->program)
		elf_put_interpreter(w);
	load = elf_segment(w, PT_LOAD, PF_R, 0, 0);
	if (!p->no_note)
		elf_put_note(w);
	elf_put_symbols(w, p);
	elf_put_names(w, p);
	elf_put_version(w, p);
	at = ELF_WORLD_APART;
	if (!p->apart) {
		at = elf_put(w, w->strings, w->nstrings);
		elf_section(w, SHT_STRTAB, at, w->nstrings);
	}
	elf_entry(w, DT_STRTAB, at);
	elf_entry(w, DT_STRSZ, w->nstrings);
	if (p->slack) {
		w->len += 256;
	} else { /* something behind the table, so that it cannot just grow */
		at = elf_put(w, "data", 4);
		elf_section(w, SHT_PROGBITS, at, 4);
	}
	load->p_filesz = load->p_memsz = w->len;
	if (!p->is_static)
		elf_put_dynamic(w, p);
	if (p->apart) {
		w->len = ELF_WORLD_APART;
		at = elf_put(w, w->strings, w->nstrings);
		elf_segment(w, PT_LOAD, PF_R | PF_W, at, w->nstrings);
		elf_section(w, SHT_STRTAB, at, w->nstrings);
	}
	if (p->null_slot)
		elf_segment(w, PT_NULL, 0, 0, 0);
	elf_put_headers(w, p);
}

static inline void elf_done(struct elf_world *w)
{
	rk_arena_free(w->arena);
	w->arena = NULL;
}

static inline int elf_read(struct elf_world *w, struct rk_elf *ret)
{
	rk_error_clear(&w->err);
	return rk_elf_read(w->data, w->len, w->arena, ret, &w->err);
}

/* The file is the edited one afterwards. */
static inline int elf_change(struct elf_world *w, const char *rpath, enum rk_rpath_tag tag,
			     struct rk_elf_edit *e)
{
	int rc;

	rk_error_clear(&w->err);
	rc = rk_elf_edit(w->data, w->len, rpath, tag, w->arena, e, &w->err);
	if (rc == 0 && CHECK(e->new_size <= sizeof(w->data))) {
		/* texts of earlier readings point into the old bytes: they are not used again */
		rk_elf_edit_apply(e, 0, w->data, (size_t)e->new_size);
		w->len = (size_t)e->new_size;
	}
	return rc;
}

#endif
