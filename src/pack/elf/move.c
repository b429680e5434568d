/* move.c - decide which sections can move, and update everything that points to them. */
#include "pack/elf/image.h"

#include <string.h>

#include "base/num.h"

/* older releases of elf.h lack these */
enum { SECTION_RELR = 19, ENTRY_RELR = 36 };
enum { MAX_ALIGN = 64, MAX_GAP = 16, MAX_ROUNDS = 64, MAX_UNUSED = 1 << 20 };

static bool finds_by_header(const Elf64_Phdr *p)
{
	return p->p_type == PT_INTERP || p->p_type == PT_NOTE || p->p_type == PT_GNU_PROPERTY;
}

/* Its bytes are all in the file, and their addresses are `shift` above their offsets. */
static bool header_may_move(const Elf64_Phdr *p, uint64_t shift)
{
	return finds_by_header(p) && p->p_vaddr - p->p_offset == shift && p->p_memsz == p->p_filesz;
}

const Elf64_Phdr *rk_elf_segment_around(const struct elf_image *m, uint64_t at, uint64_t size)
{
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];

		if (p->p_type == PT_LOAD && at >= p->p_offset &&
		    elf_fits(at - p->p_offset, size, p->p_filesz))
			return p;
	}
	return NULL;
}

/* True if only headers and dynamic entries know where the section is. */
static bool may_move(const struct elf_image *m, const Elf64_Shdr *s)
{
	if (!(s->sh_flags & SHF_ALLOC) || (s->sh_flags & (SHF_WRITE | SHF_EXECINSTR | SHF_TLS)) ||
	    s->sh_addralign > MAX_ALIGN || (s->sh_addralign & (s->sh_addralign - 1)))
		return false;
	switch (s->sh_type) {
	case SHT_NOTE:
	case SHT_HASH:
	case SHT_GNU_HASH:
	case SHT_DYNSYM:
	case SHT_GNU_versym:
	case SHT_GNU_verneed:
	case SHT_GNU_verdef:
	case SHT_REL:
	case SHT_RELA:
	case SECTION_RELR:
		return true;
	case SHT_PROGBITS: /* only the interpreter's name */
		for (size_t i = 0; i < m->nsegments; i++) {
			const Elf64_Phdr *p = &m->segments[i];

			if (p->p_type == PT_INTERP && p->p_offset == s->sh_offset &&
			    p->p_filesz == s->sh_size)
				return true;
		}
		return false;
	default:
		return false;
	}
}

/* Skips the string table, which has already moved. */
static bool has_bytes(const struct elf_image *m, size_t i)
{
	return i != m->strings_section && m->sections[i].sh_type != SHT_NOBITS &&
	       m->sections[i].sh_size != 0;
}

static bool is_inside(uint64_t at, uint64_t size, const struct elf_block *b)
{
	return at >= b->at && elf_fits(at - b->at, size, b->size);
}

static bool section_moves(const struct elf_image *m, size_t i, const struct elf_block *b)
{
	const Elf64_Shdr *s = &m->sections[i];

	return i != m->strings_section && s->sh_type != SHT_NOBITS && (s->sh_flags & SHF_ALLOC) &&
	       b->size && is_inside(s->sh_offset, s->sh_size, b) && s->sh_offset < b->at + b->size;
}

/* Extends the block by [at, at + size); false if that starts before the wanted bytes. */
static bool widen(struct elf_block *b, uint64_t first, uint64_t at, uint64_t size, bool *grown)
{
	uint64_t from = at, to = at + size;

	if (at < first)
		return false;
	if (b->size) {
		from = rk_min(from, b->at);
		to = rk_max(to, b->at + b->size);
	}
	*grown |= b->size == 0 || from != b->at || to != b->at + b->size;
	b->at = from;
	b->size = to - from;
	return true;
}

/* One round: adds everything that overlaps the wanted bytes or the current block. */
static bool take_round(const struct elf_image *m, struct elf_block *b, uint64_t first,
		       uint64_t need, bool *grown)
{
	uint64_t size = need;

	if (b->size)
		size = rk_max(size, b->at + b->size - first);

	for (size_t i = 1; i < m->nsections; i++) {
		const Elf64_Shdr *s = &m->sections[i];

		if (!has_bytes(m, i) || !elf_meet(s->sh_offset, s->sh_size, first, size))
			continue;
		if (!may_move(m, s) || s->sh_addr - s->sh_offset != b->address ||
		    !widen(b, first, s->sh_offset, s->sh_size, grown))
			return false;
		b->align = rk_max(b->align, s->sh_addralign);
	}
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];

		if (finds_by_header(p) && elf_meet(p->p_offset, p->p_filesz, first, size) &&
		    (!header_may_move(p, b->address) ||
		     !widen(b, first, p->p_offset, p->p_filesz, grown)))
			return false;
	}
	return true;
}

/* Zeros, and what another ELF editor fills unused bytes with. */
static bool is_filler(uint8_t c)
{
	return c == 0 || c == 'X' || c == 'Z';
}

/*
 * Are the bytes unused and in the same segment as the table? Unused are: the block's own bytes, the
 * old string table, and filler.
 */
static bool is_clear(const struct elf_image *m, const struct elf_block *b, uint64_t first,
		     uint64_t need)
{
	uint64_t end = first + need;

	if (b->size)
		end = rk_max(end, b->at + b->size);
	if (elf_meet(first, end - first, m->entries_at, m->nslots * sizeof(*m->entries)) ||
	    elf_meet(first, end - first, m->head.e_shoff, m->nsections * sizeof(*m->sections)))
		return false;
	for (uint64_t at = first; at < first + need; at++) {
		uint8_t c = *elf_bytes(m->view, at, 1);

		if (elf_meet(at, 1, b->at, b->size) || elf_meet(at, 1, m->strings_at, m->nstrings))
			continue;
		if (m->sections && is_filler(c))
			continue;
		/* without section headers zeros may be data, except as padding between notes */
		if (!m->sections && c == 0 && b->size && at < b->at && b->at - at < MAX_GAP)
			continue;
		return false;
	}
	return true;
}

/* Is it a dynamic entry with the address of something that may move? */
static bool is_address(const Elf64_Dyn *d)
{
	switch (d->d_tag) {
	case DT_HASH:
	case DT_GNU_HASH:
	case DT_SYMTAB:
	case DT_VERSYM:
	case DT_VERNEED:
	case DT_VERDEF:
	case DT_REL:
	case DT_RELA:
	case DT_JMPREL:
	case ENTRY_RELR:
		return true;
	default:
		return false;
	}
}

static bool is_in_section(const struct elf_image *m, const struct elf_block *b, uint64_t address)
{
	for (size_t i = 1; i < m->nsections; i++)
		if (section_moves(m, i, b) && address >= m->sections[i].sh_addr &&
		    address - m->sections[i].sh_addr < m->sections[i].sh_size)
			return true;
	return false;
}

/*
 * Tables that dynamic entries point to move with their sections. Without section headers their
 * sizes are unknown, so none may be in the way; and none may be inside the string table.
 */
static bool entries_allow(const struct elf_image *m, const struct elf_block *b, uint64_t first,
			  uint64_t need)
{
	for (size_t i = 0; i < m->nentries; i++) {
		uint64_t address = m->entries[i].d_un.d_ptr;

		if (!is_address(&m->entries[i]))
			continue;
		if (elf_meet(address, 1, m->strings_address, m->nstrings))
			return false;
		if ((elf_meet(address, 1, b->address, b->size) ||
		     elf_meet(address, 1, first, need)) &&
		    !is_in_section(m, b, address))
			return false;
	}
	return rk_elf_needs_whole(m, b->address, b->size) &&
	       rk_elf_needs_whole(m, m->strings_address, m->nstrings);
}

/*
 * Code may refer to a symbol that other files see, and we cannot change code. A local symbol (a
 * section symbol or ABI note) is only for people and can move.
 */
static bool symbols_allow(const struct elf_image *m, const struct elf_block *b)
{
	for (size_t i = 1; i < m->nsections; i++) {
		const Elf64_Shdr *s = &m->sections[i];
		Elf64_Sym sym;

		if (s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM)
			continue;
		if (s->sh_entsize != sizeof(sym))
			return false;
		for (uint64_t k = 0; k < s->sh_size / sizeof(sym); k++) {
			memcpy(&sym,
			       elf_bytes(m->view, s->sh_offset + k * sizeof(sym), sizeof(sym)),
			       sizeof(sym));
			if (sym.st_shndx == SHN_UNDEF || sym.st_shndx >= m->nsections ||
			    !section_moves(m, sym.st_shndx, b))
				continue;
			if (s->sh_type == SHT_DYNSYM || ELF64_ST_BIND(sym.st_info) != STB_LOCAL)
				return false;
		}
	}
	return true;
}

bool rk_elf_block_find(const struct elf_image *m, uint64_t limit, struct elf_block *ret)
{
	uint64_t first = m->head.e_phoff + m->nsegments * sizeof(*m->segments);
	uint64_t need = sizeof(*m->segments);
	const Elf64_Phdr *around =
		rk_elf_segment_around(m, m->head.e_phoff, first - m->head.e_phoff + need);
	struct elf_block b = { .align = 1, .free_to = first + need };
	bool grown = true;

	if (!around)
		return false;
	b.address = around->p_vaddr - around->p_offset; /* relative until the block is known */
	for (size_t i = 0; grown; i++) {
		grown = false;
		if (!take_round(m, &b, first, need, &grown) || b.size > limit || i > MAX_ROUNDS)
			return false;
	}
	if (!is_clear(m, &b, first, need) || (b.size && !rk_elf_segment_around(m, b.at, b.size)))
		return false;
	b.address += b.at;
	if (!entries_allow(m, &b, b.address - b.at + first, need) || !symbols_allow(m, &b))
		return false;
	*ret = b;
	return true;
}

bool rk_elf_block_take(const struct elf_image *m, uint64_t at, uint64_t size, struct elf_block *ret)
{
	const Elf64_Phdr *around = rk_elf_segment_around(m, at, size);
	struct elf_block b = { .at = at, .size = size, .align = 1 };

	if (!m->sections || !around || size == 0)
		return false;
	b.address = around->p_vaddr + (at - around->p_offset);
	for (size_t i = 1; i < m->nsections; i++) {
		const Elf64_Shdr *s = &m->sections[i];

		if (!has_bytes(m, i) || !elf_meet(s->sh_offset, s->sh_size, at, size))
			continue;
		if (!may_move(m, s) ||
		    s->sh_addr - s->sh_offset != around->p_vaddr - around->p_offset ||
		    !is_inside(s->sh_offset, s->sh_size, &b))
			return false;
		b.align = rk_max(b.align, s->sh_addralign);
	}
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];

		if (p->p_type == PT_LOAD || !elf_fits(p->p_offset, p->p_filesz, m->len) ||
		    !elf_meet(p->p_offset, p->p_filesz, at, size))
			continue;
		if (!header_may_move(p, b.address - at) || !is_inside(p->p_offset, p->p_filesz, &b))
			return false;
	}
	if (elf_meet(at, size, m->entries_at, m->nslots * sizeof(*m->entries)) ||
	    elf_meet(at, size, m->head.e_phoff, m->nsegments * sizeof(*m->segments)) ||
	    elf_meet(at, size, m->head.e_shoff, m->nsections * sizeof(*m->sections)) ||
	    !entries_allow(m, &b, b.address, 0) || !symbols_allow(m, &b))
		return false;
	*ret = b;
	return true;
}

int rk_elf_block_move(struct elf_image *m, const struct elf_block *b, uint64_t at, uint64_t address)
{
	uint64_t distance = address - b->address;
	Elf64_Shdr *moved;

	for (size_t i = 0; i < m->nsegments; i++) {
		Elf64_Phdr *p = &m->segments[i];

		if (!header_may_move(p, b->address - b->at) ||
		    !is_inside(p->p_offset, p->p_filesz, b))
			continue;
		p->p_offset += at - b->at;
		p->p_vaddr += distance;
		p->p_paddr += distance;
	}
	for (size_t i = 0; i < m->nentries; i++)
		if (is_address(&m->entries[i]) &&
		    elf_meet(m->entries[i].d_un.d_ptr, 1, b->address, b->size))
			m->entries[i].d_un.d_ptr += distance;
	if (!m->nsections)
		return 0;

	/* keep the old headers until all are checked: they tell which sections are in the block */
	moved = rk_arena_alloc(m->arena, m->nsections * sizeof(*moved));
	if (!moved)
		return rk_fail_nomem(m->err);
	memcpy(moved, m->sections, m->nsections * sizeof(*moved));
	for (size_t i = 1; i < m->nsections; i++) {
		const Elf64_Shdr *s = &m->sections[i];
		uint64_t from = rk_max(s->sh_offset, b->free_to), end = s->sh_offset + s->sh_size;
		uint8_t *zeros;
		int rc;

		if (!section_moves(m, i, b))
			continue;
		moved[i].sh_offset += at - b->at;
		moved[i].sh_addr += distance;
		if (!b->free_to || from >= end)
			continue;
		/* clear the old place so that the file compresses better */
		zeros = rk_arena_alloc(m->arena, (size_t)(end - from));
		if (!zeros)
			return rk_fail_nomem(m->err);
		rc = rk_elf_image_patch(m, from, zeros, (size_t)(end - from));
		if (rc < 0)
			return rc;
	}
	m->sections = moved;
	return 0;
}

bool rk_elf_is_only_strings(const struct elf_image *m, const Elf64_Phdr *p)
{
	uint64_t from = p->p_vaddr, size = p->p_memsz;

	if (!m->strings_section || p->p_type != PT_LOAD || m->strings_at < p->p_offset ||
	    !elf_fits(m->strings_at - p->p_offset, m->nstrings, p->p_filesz) ||
	    elf_meet(p->p_offset, p->p_filesz, 0, sizeof(m->head)) ||
	    elf_meet(p->p_offset, p->p_filesz, m->head.e_phoff,
		     m->nsegments * sizeof(*m->segments)) ||
	    elf_meet(from, size, m->head.e_entry, 1))
		return false;
	for (size_t i = 1; i < m->nsections; i++)
		if (i != m->strings_section && (m->sections[i].sh_flags & SHF_ALLOC) &&
		    elf_fits(m->sections[i].sh_addr, m->sections[i].sh_size, UINT64_MAX) &&
		    elf_meet(m->sections[i].sh_addr, m->sections[i].sh_size, from, size))
			return false;
	for (size_t i = 0; i < m->nsegments; i++)
		if (&m->segments[i] != p &&
		    elf_meet(m->segments[i].p_vaddr, m->segments[i].p_memsz, from, size))
			return false;
	for (size_t i = 0; i < m->nentries; i++)
		if (m->entries[i].d_tag != DT_STRTAB &&
		    elf_meet(from, size, m->entries[i].d_un.d_ptr, 1))
			return false;
	return true;
}

uint64_t rk_elf_used_to(const struct elf_image *m, const Elf64_Phdr *p)
{
	uint64_t end = p->p_offset + p->p_filesz, used = p->p_offset;
	const uint8_t *bytes;

	if (!m->sections)
		return end;
	for (size_t i = 1; i < m->nsections; i++) {
		const Elf64_Shdr *s = &m->sections[i];

		if (s->sh_type != SHT_NOBITS &&
		    elf_meet(s->sh_offset, s->sh_size, p->p_offset, p->p_filesz))
			used = rk_max(used, s->sh_offset + s->sh_size);
	}
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *o = &m->segments[i];

		if (o->p_type != PT_LOAD && elf_fits(o->p_offset, o->p_filesz, m->len) &&
		    elf_meet(o->p_offset, o->p_filesz, p->p_offset, p->p_filesz))
			used = rk_max(used, o->p_offset + o->p_filesz);
	}
	if (elf_meet(m->head.e_phoff, m->nsegments * sizeof(*m->segments), p->p_offset,
		     p->p_filesz))
		used = rk_max(used, m->head.e_phoff + m->nsegments * sizeof(*m->segments));
	if (used >= end || end - used > MAX_UNUSED)
		return end;
	bytes = elf_bytes(m->view, used, end - used);
	for (uint64_t i = 0; i < end - used; i++)
		if (!is_filler(bytes[i]))
			return end;
	return used;
}
