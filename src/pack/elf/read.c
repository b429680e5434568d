/*
 * read.c - what a packager needs to know about an ELF file.
 *
 * Reads 32-bit and 64-bit files of either byte order, record by record, and checks each record
 * against the file's length first. It reads what a loader uses: program headers and the dynamic
 * section. Section headers, which a stripped file may lack, only show whether the dynamic section
 * has bytes.
 */
#include "pack/elf/read.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "base/cursor.h"
#include "base/num.h"

enum { MAX_NEEDED = 1 << 14, MAX_VERSIONS = 1 << 16 };

struct reader {
	struct rk_view *view;
	uint64_t len;
	bool wide, little;
	struct rk_arena *arena;
	struct rk_error *err;
	Elf64_Ehdr head;
	Elf64_Phdr *segments;       /* e_phnum of them */
	uint64_t strings, nstrings; /* the dynamic string table: offset, bytes */
};

static int broken(const struct reader *r, uint64_t offset, const char *what)
{
	int rc = rk_fail(r->err, RK_E_FORMAT, "broken ELF file: %s at byte %" PRIu64, what, offset);

	if (r->err)
		r->err->offset = offset;
	return rc;
}

/* The record of `size` bytes at `at`; false if it is outside the file. */
static bool find_record(const struct reader *r, uint64_t at, size_t size, struct rk_cursor *ret)
{
	if (!elf_fits(at, size, r->len))
		return false;
	*ret = rk_cursor_over(elf_bytes(r->view, at, size), size);
	return true;
}

/* Reads the next number of `bytes` bytes from the record, in the file's byte order. */
static uint64_t number(const struct reader *r, struct rk_cursor *c, unsigned bytes)
{
	const uint8_t *p = rk_cursor_take(c, bytes);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < bytes; i++)
		v = v << 8 | p[r->little ? bytes - 1 - i : i];
	return v;
}

/* Reads an address, offset or size, which is as wide as the file's class. */
static uint64_t word(const struct reader *r, struct rk_cursor *c)
{
	return number(r, c, r->wide ? 8 : 4);
}

static int read_segments(struct reader *r)
{
	size_t size = r->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), n = r->head.e_phnum;

	if (n == 0)
		return 0;
	if (n == PN_XNUM)
		return broken(r, 0, "more than 65534 program headers");
	if (r->head.e_phentsize != size || !elf_fits(r->head.e_phoff, n * size, r->len))
		return broken(r, r->head.e_phoff, "program headers outside the file");
	r->segments = rk_arena_alloc(r->arena, n * sizeof(*r->segments));
	if (!r->segments)
		return rk_fail_nomem(r->err);
	for (size_t i = 0; i < n; i++) {
		Elf64_Phdr *p = &r->segments[i];
		struct rk_cursor c;

		find_record(r, r->head.e_phoff + i * size, size, &c);
		p->p_type = (uint32_t)number(r, &c, 4);
		if (r->wide)
			number(r, &c, 4); /* flags; 32-bit files have them further down */
		p->p_offset = word(r, &c);
		p->p_vaddr = word(r, &c);
		word(r, &c); /* physical address */
		p->p_filesz = word(r, &c);
	}
	return 0;
}

static const Elf64_Phdr *segment_of(const struct reader *r, uint32_t type)
{
	for (size_t i = 0; r->segments && i < r->head.e_phnum; i++)
		if (r->segments[i].p_type == type)
			return &r->segments[i];
	return NULL;
}

/* A debug info file has the segment headers but not their bytes. */
static bool is_hollow(const struct reader *r, const Elf64_Phdr *dynamic)
{
	size_t size = r->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct rk_cursor c;

	if (r->head.e_shentsize != size)
		return false;
	for (uint64_t i = 0, at = r->head.e_shoff; i < r->head.e_shnum; i++, at += size) {
		uint64_t type, address;

		if (!find_record(r, at, size, &c))
			return false;
		number(r, &c, 4); /* name */
		type = number(r, &c, 4);
		word(r, &c); /* flags */
		address = word(r, &c);
		if (type == SHT_NOBITS && address == dynamic->p_vaddr)
			return true;
	}
	return false;
}

/*
 * The file offset of an address, and how many bytes follow there. Another ELF editor lets a table
 * continue in the next segment where that follows directly, in memory and in the file.
 */
static bool find_address(const struct reader *r, uint64_t address, uint64_t *ret_at,
			 uint64_t *ret_left)
{
	for (size_t i = 0; i < r->head.e_phnum; i++) {
		const Elf64_Phdr *p = &r->segments[i];

		if (p->p_type != PT_LOAD || address < p->p_vaddr ||
		    address - p->p_vaddr >= p->p_filesz ||
		    !elf_fits(p->p_offset, p->p_filesz, r->len))
			continue;
		*ret_at = p->p_offset + (address - p->p_vaddr);
		*ret_left = p->p_filesz - (address - p->p_vaddr);
		for (; i < r->head.e_phnum; i++) {
			p = &r->segments[i];
			if (p->p_type == PT_LOAD && p->p_vaddr == address + *ret_left &&
			    p->p_offset == *ret_at + *ret_left &&
			    elf_fits(p->p_offset, p->p_filesz, r->len))
				*ret_left += p->p_filesz;
		}
		return true;
	}
	return false;
}

static int read_text(const struct reader *r, uint64_t offset, const char **ret)
{
	uint64_t left = offset < r->nstrings ? r->nstrings - offset : 0;

	const uint8_t *text;

	if (left > RK_ELF_TEXT_MAX)
		left = RK_ELF_TEXT_MAX;
	text = left ? elf_bytes(r->view, r->strings + offset, left) : NULL;
	if (!text || !memchr(text, 0, (size_t)left))
		return broken(r, r->strings, "a name outside the string table or too long");
	*ret = (const char *)text;
	return 0;
}

/* The dynamic section, collected before we can look up names. */
struct entries {
	const Elf64_Dyn *v;
	size_t n, nneeded;
	uint64_t strings, nstrings, versions, nversions, flags_1;
	bool has_strings, has_versions;
};

static int read_entries(const struct reader *r, const Elf64_Phdr *p, struct entries *ret)
{
	size_t size = r->wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	uint64_t max = p->p_filesz / size;
	Elf64_Dyn *v;

	if (!elf_fits(p->p_offset, p->p_filesz, r->len))
		return broken(r, p->p_offset, "a dynamic section outside the file");
	v = rk_arena_alloc(r->arena, (size_t)max * sizeof(*v));
	if (!v)
		return rk_fail_nomem(r->err);
	ret->v = v;
	for (uint64_t i = 0; i < max; i++) {
		uint64_t tag, value;
		struct rk_cursor c;

		find_record(r, p->p_offset + i * size, size, &c);
		tag = word(r, &c);
		value = word(r, &c);
		v[i].d_tag = r->wide ? (int64_t)tag : (int32_t)(uint32_t)tag; /* signed */
		v[i].d_un.d_val = value;
		switch (v[i].d_tag) {
		case DT_NULL:
			return 0;
		case DT_NEEDED:
			ret->nneeded++;
			break;
		case DT_STRTAB:
			ret->strings = value;
			ret->has_strings = true;
			break;
		case DT_STRSZ:
			ret->nstrings = value;
			break;
		case DT_VERNEED:
			ret->versions = value;
			ret->has_versions = true;
			break;
		case DT_VERNEEDNUM:
			ret->nversions = value;
			break;
		case DT_FLAGS_1:
			ret->flags_1 = value;
			break;
		default:
			break;
		}
		ret->n++;
	}
	return 0;
}

static int read_names(const struct reader *r, const struct entries *d, struct rk_elf *e)
{
	if (d->nneeded > MAX_NEEDED)
		return broken(r, 0, "more than 16384 needed libraries");
	e->needed = rk_arena_alloc(r->arena, d->nneeded * sizeof(*e->needed));
	if (!e->needed)
		return rk_fail_nomem(r->err);
	for (size_t i = 0; i < d->n; i++) {
		const char **to;
		int rc;

		switch (d->v[i].d_tag) {
		case DT_NEEDED:
			to = &e->needed[e->nneeded++];
			break;
		case DT_SONAME:
			to = &e->soname;
			break;
		case DT_RPATH:
			to = &e->rpath;
			break;
		case DT_RUNPATH:
			to = &e->runpath;
			break;
		default:
			continue;
		}
		rc = read_text(r, d->v[i].d_un.d_val, to);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * The versions needed from other files; if `to` is NULL, only counts them. The list ends before
 * `end`. Elf_Verneed and Elf_Vernaux have the same 16-byte layout in 32-bit and 64-bit files.
 */
static int read_needs(const struct reader *r, uint64_t at, uint64_t end, uint64_t nfiles,
		      struct rk_elf_version *to, size_t *n)
{
	static const char bad[] = "a bad list of needed versions";
	uint64_t next = 1, next_aux;

	for (uint64_t i = 0; i < nfiles && next; i++, at += next) {
		uint64_t aux, count, name;
		struct rk_cursor c;
		const char *file;
		int rc;

		if (!elf_fits(at, sizeof(Elf64_Verneed), end) || i >= MAX_VERSIONS ||
		    !find_record(r, at, sizeof(Elf64_Verneed), &c))
			return broken(r, at, bad);
		number(r, &c, 2); /* version */
		count = number(r, &c, 2);
		rc = read_text(r, number(r, &c, 4), &file);
		if (rc < 0)
			return rc;
		aux = at + number(r, &c, 4);
		next = number(r, &c, 4);

		next_aux = 1;
		for (uint64_t k = 0; k < count && next_aux; k++, aux += next_aux, ++*n) {
			if (!elf_fits(aux, sizeof(Elf64_Vernaux), end) || *n >= MAX_VERSIONS ||
			    !find_record(r, aux, sizeof(Elf64_Vernaux), &c))
				return broken(r, aux, bad);
			number(r, &c, 4 + 2 + 2); /* hash, flags, other */
			name = number(r, &c, 4);
			next_aux = number(r, &c, 4);
			if (!to)
				continue;
			to[*n].file = file;
			rc = read_text(r, name, &to[*n].name);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int read_dynamic(struct reader *r, struct rk_elf *e)
{
	const Elf64_Phdr *p = NULL, *interpreter = segment_of(r, PT_INTERP);
	struct rk_elf_version *versions;
	struct entries d = { 0 };
	uint64_t at = 0, left = 0;
	size_t n = 0;
	int rc;

	/* the last one that is not empty counts, as in a loader */
	for (size_t i = 0; i < r->head.e_phnum; i++)
		if (r->segments[i].p_type == PT_DYNAMIC && r->segments[i].p_filesz)
			p = &r->segments[i];
	if (!p || is_hollow(r, p))
		return 0;
	e->dynamic = true;
	if (interpreter && interpreter->p_filesz) {
		uint64_t size = rk_min(interpreter->p_filesz, RK_ELF_TEXT_MAX);
		const uint8_t *text;

		at = interpreter->p_offset;
		text = elf_fits(at, size, r->len) ? elf_bytes(r->view, at, size) : NULL;
		if (!text || !memchr(text, 0, (size_t)size))
			return broken(r, at, "an interpreter name outside the file or too long");
		e->interpreter = (const char *)text;
	}
	rc = read_entries(r, p, &d);
	if (rc < 0)
		return rc;
	if (d.has_strings) {
		if (!find_address(r, d.strings, &r->strings, &left) || d.nstrings > left)
			return broken(r, 0, "a dynamic string table outside the segments");
		r->nstrings = d.nstrings;
	}
	rc = read_names(r, &d, e);
	if (rc < 0)
		return rc;
	/* some libraries can also be started and have an interpreter: libc, libcap, libQt6Core */
	if (d.flags_1 & DF_1_PIE)
		e->kind = RK_ELF_EXE;
	else if (e->soname && r->head.e_type == ET_DYN)
		e->kind = RK_ELF_SHARED;

	/* needed versions: count them first */
	if (!d.has_versions || d.nversions == 0)
		return 0;
	if (!find_address(r, d.versions, &at, &left))
		return broken(r, 0, "a list of needed versions outside the segments");
	rc = read_needs(r, at, at + left, d.nversions, NULL, &n);
	if (rc < 0)
		return rc;
	e->versions = versions = rk_arena_alloc(r->arena, n * sizeof(*versions));
	if (!versions)
		return rk_fail_nomem(r->err);
	return read_needs(r, at, at + left, d.nversions, versions, &e->nversions);
}

static enum rk_elf_kind kind_of(const struct reader *r)
{
	uint16_t type = r->head.e_type;

	if (r->head.e_machine == EM_AMDGPU || (type != ET_EXEC && type != ET_DYN))
		return RK_ELF_OTHER;
	return type == ET_EXEC || segment_of(r, PT_INTERP) ? RK_ELF_EXE : RK_ELF_SHARED;
}

bool rk_elf_is(const void *head, size_t len)
{
	return len >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0;
}

static int read_head(struct reader *r, struct rk_elf *e)
{
	const uint8_t *ident = r->view->data;
	Elf64_Ehdr *h = &r->head;
	struct rk_cursor c;

	if (r->len < EI_NIDENT ||
	    (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return broken(r, 0, "an unknown width or byte order");
	r->wide = e->wide = ident[EI_CLASS] == ELFCLASS64;
	r->little = e->little = ident[EI_DATA] == ELFDATA2LSB;
	if (!find_record(r, 0, r->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), &c))
		return broken(r, 0, "the header is cut short");
	rk_cursor_take(&c, EI_NIDENT);
	h->e_type = (uint16_t)number(r, &c, 2);
	h->e_machine = (uint16_t)number(r, &c, 2);
	number(r, &c, 4); /* version */
	word(r, &c);      /* entry */
	h->e_phoff = word(r, &c);
	h->e_shoff = word(r, &c);
	number(r, &c, 4 + 2); /* flags, size of this header */
	h->e_phentsize = (uint16_t)number(r, &c, 2);
	h->e_phnum = (uint16_t)number(r, &c, 2);
	h->e_shentsize = (uint16_t)number(r, &c, 2);
	h->e_shnum = (uint16_t)number(r, &c, 2);
	e->machine = h->e_machine;
	e->kind = kind_of(r); /* relocatable and similar files need no segments */
	return 0;
}

int rk_elf_read_view(struct rk_view *v, struct rk_arena *arena, struct rk_elf *ret,
		     struct rk_error *err)
{
	struct reader r = { .view = v, .len = v->len, .arena = arena, .err = err };
	struct rk_elf e = { 0 };
	int rc = 0;

	rk_view_load(v, 0, rk_min(v->len, EI_NIDENT));
	if (rk_elf_is(v->data, v->len))
		rc = read_head(&r, &e);
	if (rc == 0 && (e.kind == RK_ELF_EXE || e.kind == RK_ELF_SHARED)) {
		rc = read_segments(&r);
		if (rc == 0) {
			e.kind = kind_of(&r);
			rc = read_dynamic(&r, &e);
		}
	}
	if (v->err.code) { /* what was found then is not what the file has */
		if (err)
			*err = v->err;
		return v->err.code;
	}
	if (rc < 0)
		return rc;
	*ret = e;
	return 0;
}

int rk_elf_read(const void *data, size_t len, struct rk_arena *arena, struct rk_elf *ret,
		struct rk_error *err)
{
	struct rk_view all = { .data = data, .len = len };

	return rk_elf_read_view(&all, arena, ret, err);
}
