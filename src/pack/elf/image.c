/*
 * image.c - the headers of an ELF file in memory, their changes as patches, and who uses a text in
 * the dynamic string table.
 *
 * Linkers let texts share their ends: the run path may be the tail of a symbol's name, or the other
 * way round. So a text is overwritten only after checking every possible user.
 */
#include "pack/elf/image.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { MAX_SLOTS = 1 << 16, MAX_CHAIN = 1 << 16, PAGE_SMALL = 4 << 10, PAGE_LARGE = 64 << 10 };
#define MAX_ALIGN ((uint64_t)1 << 32)
#define MAX_STRINGS ((uint64_t)256 << 20)

static int unsupported(const struct elf_image *m, const char *why)
{
	return rk_fail(m->err, RK_E_UNSUPPORTED, "cannot edit this ELF file: %s", why);
}

static int broken(const struct elf_image *m, uint64_t offset, const char *what)
{
	int rc = rk_fail(m->err, RK_E_FORMAT, "broken ELF file: %s at byte %" PRIu64, what, offset);

	if (m->err)
		m->err->offset = offset;
	return rc;
}

static int read_head(struct elf_image *m)
{
	const uint8_t *ident = m->len < EI_NIDENT ? NULL : elf_bytes(m->view, 0, EI_NIDENT);

	if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return broken(m, 0, "no header");
	if (ident[EI_CLASS] != ELFCLASS64)
		return unsupported(m, "it is not 64-bit");
	if (ident[EI_DATA] != ELFDATA2LSB)
		return unsupported(m, "it has another byte order");
	if (m->len < sizeof(m->head))
		return broken(m, 0, "the header is cut short");
	memcpy(&m->head, elf_bytes(m->view, 0, sizeof(m->head)), sizeof(m->head));
	if (m->head.e_type != ET_DYN && m->head.e_type != ET_EXEC)
		return unsupported(m, "it is neither a program nor a library");
	if (m->head.e_machine == EM_AMDGPU)
		return unsupported(m, "it is device code");
	m->page = m->head.e_machine == EM_X86_64 ? PAGE_SMALL : PAGE_LARGE;
	return 0;
}

static bool segment_is_sane(const struct elf_image *m, const Elf64_Phdr *p)
{
	if (p->p_type == PT_LOAD)
		return elf_fits(p->p_offset, p->p_filesz, m->len) && p->p_filesz <= p->p_memsz &&
		       p->p_align <= MAX_ALIGN &&
		       (p->p_align & (p->p_align - (p->p_align != 0))) == 0;
	if (p->p_type == PT_INTERP || p->p_type == PT_NOTE || p->p_type == PT_DYNAMIC ||
	    p->p_type == PT_GNU_PROPERTY || p->p_type == PT_PHDR)
		return elf_fits(p->p_offset, p->p_filesz, m->len);
	return true;
}

/* Loaders require segments in ascending order. */
static int read_segments(struct elf_image *m)
{
	size_t n = m->head.e_phnum;
	uint64_t end = 0;

	if (n == 0)
		return unsupported(m, "it has no program headers");
	if (n >= PN_XNUM - 1)
		return unsupported(m, "it has too many program headers");
	if (m->head.e_phentsize != sizeof(Elf64_Phdr) ||
	    !elf_fits(m->head.e_phoff, n * sizeof(Elf64_Phdr), m->len) ||
	    m->head.e_phoff < sizeof(m->head))
		return broken(m, m->head.e_phoff, "program headers outside the file");
	m->segments = rk_arena_alloc(m->arena, (n + 1) * sizeof(*m->segments));
	if (!m->segments)
		return rk_fail_nomem(m->err);
	memcpy(m->segments, elf_bytes(m->view, m->head.e_phoff, n * sizeof(*m->segments)),
	       n * sizeof(*m->segments));
	m->nsegments = n;

	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *p = &m->segments[i];
		uint64_t at = m->head.e_phoff + i * sizeof(*p);

		if (!segment_is_sane(m, p))
			return broken(m, at, "a segment outside the file");
		if (!elf_fits(p->p_vaddr, p->p_memsz, ELF_MAX_ADDRESS))
			return unsupported(m, "its addresses are too high");
		if (p->p_type == PT_INTERP && !m->interpreter) {
			m->interpreter = true;
			m->interpreter_at = p->p_offset;
		}
		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_vaddr < end)
			return broken(m, at, "segments that overlap or are out of order");
		end = p->p_vaddr + p->p_memsz;
	}
	return 0;
}

static int read_sections(struct elf_image *m)
{
	size_t n = m->head.e_shnum;

	if (m->head.e_shoff == 0)
		return 0;
	if (n == 0 || n >= SHN_LORESERVE)
		return unsupported(m, "it has too many sections");
	if (m->head.e_shentsize != sizeof(Elf64_Shdr) ||
	    !elf_fits(m->head.e_shoff, n * sizeof(Elf64_Shdr), m->len))
		return broken(m, m->head.e_shoff, "section headers outside the file");
	m->sections = rk_arena_alloc(m->arena, n * sizeof(*m->sections));
	if (!m->sections)
		return rk_fail_nomem(m->err);
	memcpy(m->sections, elf_bytes(m->view, m->head.e_shoff, n * sizeof(*m->sections)),
	       n * sizeof(*m->sections));
	m->nsections = n;
	for (size_t i = 1; i < n; i++) {
		const Elf64_Shdr *s = &m->sections[i];

		if (s->sh_type != SHT_NOBITS && !elf_fits(s->sh_offset, s->sh_size, m->len))
			return broken(m, m->head.e_shoff + i * sizeof(*s),
				      "a section outside the file");
	}
	return 0;
}

/* The last entry counts, as in a loader. */
static bool entry_value(const struct elf_image *m, int64_t tag, uint64_t *ret)
{
	for (size_t i = m->nentries; i-- > 0;)
		if (m->entries[i].d_tag == tag) {
			*ret = m->entries[i].d_un.d_val;
			return true;
		}
	return false;
}

static int read_entries(struct elf_image *m)
{
	const Elf64_Phdr *p = NULL;
	uint64_t flags = 0;

	/* the last one that is not empty counts, as in a loader */
	for (size_t i = 0; i < m->nsegments; i++)
		if (m->segments[i].p_type == PT_DYNAMIC && m->segments[i].p_filesz)
			p = &m->segments[i];
	/* a debug info file has the headers but not the bytes */
	for (size_t i = 1; i < m->nsections && p; i++)
		if (m->sections[i].sh_type == SHT_NOBITS && m->sections[i].sh_addr == p->p_vaddr)
			p = NULL;
	if (!p)
		return unsupported(m, "it has no dynamic section (a static program?)");
	m->nslots = (size_t)(p->p_filesz / sizeof(Elf64_Dyn));
	if (m->nslots > MAX_SLOTS)
		return unsupported(m, "its dynamic section is too large");
	m->entries_at = p->p_offset;
	m->entries = rk_arena_alloc(m->arena, (m->nslots + 1) * sizeof(*m->entries));
	if (!m->entries)
		return rk_fail_nomem(m->err);
	memcpy(m->entries, elf_bytes(m->view, m->entries_at, m->nslots * sizeof(*m->entries)),
	       m->nslots * sizeof(*m->entries));
	while (m->nentries < m->nslots && m->entries[m->nentries].d_tag != DT_NULL)
		m->nentries++;
	if (m->nentries == m->nslots)
		return broken(m, m->entries_at, "a dynamic section without end");

	/* a program that is its own loader has a dynamic section, but nothing reads its run path */
	entry_value(m, DT_FLAGS_1, &flags);
	if (!m->interpreter && (m->head.e_type == ET_EXEC || (flags & DF_1_PIE)))
		return unsupported(m, "a static program has no run path");
	return 0;
}

/*
 * The file offset of an address, and how many bytes follow there, also in segments that follow
 * directly in memory and in the file. False if no segment has file bytes for it.
 */
static bool find_address(const struct elf_image *m, uint64_t address, uint64_t *ret_at,
			 uint64_t *ret_left)
{
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];

		if (p->p_type != PT_LOAD || address < p->p_vaddr ||
		    address - p->p_vaddr >= p->p_filesz)
			continue;
		*ret_at = p->p_offset + (address - p->p_vaddr);
		*ret_left = p->p_filesz - (address - p->p_vaddr);
		for (; i < m->nsegments; i++) {
			p = &m->segments[i];
			if (p->p_type == PT_LOAD && p->p_vaddr == address + *ret_left &&
			    p->p_offset == *ret_at + *ret_left)
				*ret_left += p->p_filesz;
		}
		return true;
	}
	return false;
}

static int find_strings(struct elf_image *m)
{
	uint64_t left = 0;

	if (!entry_value(m, DT_STRTAB, &m->strings_address) ||
	    !entry_value(m, DT_STRSZ, &m->nstrings))
		return unsupported(m, "it has no dynamic string table");
	if (!find_address(m, m->strings_address, &m->strings_at, &left) || m->nstrings > left)
		return broken(m, 0, "a dynamic string table outside the segments");
	if (m->nstrings > MAX_STRINGS)
		return unsupported(m, "its string table is too large");
	if (m->nstrings)
		m->strings = elf_bytes(m->view, m->strings_at, m->nstrings);
	if (!m->strings || m->strings[m->nstrings - 1] != 0)
		return broken(m, m->strings_at, "a dynamic string table without end");
	if (!m->sections)
		return 0;
	for (size_t i = 1; i < m->nsections; i++) {
		const Elf64_Shdr *s = &m->sections[i];

		if (s->sh_type != SHT_STRTAB || !(s->sh_flags & SHF_ALLOC) ||
		    s->sh_addr != m->strings_address)
			continue;
		if (s->sh_offset != m->strings_at)
			return broken(m, m->head.e_shoff + i * sizeof(*s),
				      "a section for the string table at another place");
		m->strings_section = i;
		return 0;
	}
	return unsupported(m, "its string table has no section");
}

/* Reads bytes at an address; false if they are not in the file. */
static bool load(const struct elf_image *m, uint64_t address, void *to, size_t size)
{
	uint64_t at, left;

	if (!find_address(m, address, &at, &left) || left < size)
		return false;
	memcpy(to, elf_bytes(m->view, at, size), size);
	return true;
}

/*
 * All of the list of needed versions: from its first record to the end of its last. Links point
 * only forwards. It must be one piece of the file, as linkers write it.
 */
static int find_needs(struct elf_image *m)
{
	static const char bad[] = "a bad list of needed versions";
	uint64_t n = 0, record, left, records = 0;

	if (!entry_value(m, DT_VERNEED, &m->needs_address) || !entry_value(m, DT_VERNEEDNUM, &n) ||
	    n == 0)
		return 0;
	if (!find_address(m, m->needs_address, &m->needs_at, &left))
		return broken(m, 0, bad);
	record = m->needs_address;
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Verneed v;
		Elf64_Vernaux a = { .vna_next = 1 };
		uint64_t aux;

		if (++records > MAX_CHAIN || !load(m, record, &v, sizeof(v)))
			return broken(m, m->needs_at, bad);
		m->nneeds = rk_max(m->nneeds, record + sizeof(v) - m->needs_address);
		aux = record + v.vn_aux;
		for (uint32_t k = 0; k < v.vn_cnt && a.vna_next; k++) {
			if (++records > MAX_CHAIN || !load(m, aux, &a, sizeof(a)))
				return broken(m, m->needs_at, bad);
			m->nneeds = rk_max(m->nneeds, aux + sizeof(a) - m->needs_address);
			aux += a.vna_next;
		}
		if (v.vn_next == 0)
			break;
		record += v.vn_next;
	}
	return m->nneeds > left ? broken(m, m->needs_at, bad) : 0;
}

int rk_elf_image_read(struct elf_image *m)
{
	uint64_t at[5] = { 0 }, size[5] = { sizeof(m->head) };
	int rc;

	if ((rc = read_head(m)) < 0 || (rc = read_segments(m)) < 0 || (rc = read_sections(m)) < 0 ||
	    (rc = read_entries(m)) < 0 || (rc = find_strings(m)) < 0 || (rc = find_needs(m)) < 0)
		return rc;
	/* the tables that we change must not overlap */
	at[1] = m->head.e_phoff;
	size[1] = m->nsegments * sizeof(*m->segments);
	at[2] = m->head.e_shoff;
	size[2] = m->nsections * sizeof(*m->sections);
	at[3] = m->entries_at;
	size[3] = m->nslots * sizeof(*m->entries);
	at[4] = m->strings_at;
	size[4] = m->nstrings;
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < i; k++)
			if (elf_meet(at[i], size[i], at[k], size[k]))
				return broken(m, at[i], "overlapping tables");
	return 0;
}

int rk_elf_image_patch(struct elf_image *m, uint64_t offset, const void *bytes, size_t len)
{
	struct rk_elf_patch *p =
		rk_arena_grow(m->arena, m->patches, m->npatches, &m->cap_patches, sizeof(*p));

	if (!p)
		return rk_fail_nomem(m->err);
	m->patches = p;
	p[m->npatches++] = (struct rk_elf_patch){ offset, bytes, len };
	return 0;
}

/* Does nothing if the bytes do not change. */
static int patch_if_new(struct elf_image *m, uint64_t offset, const void *bytes, size_t len)
{
	if (elf_fits(offset, len, m->len) &&
	    memcmp(elf_bytes(m->view, offset, len), bytes, len) == 0)
		return 0;
	return rk_elf_image_patch(m, offset, bytes, len);
}

/* Adjusts symbols of moved sections, such as section symbols, for linkers and strip. */
static int patch_symbol_tables(struct elf_image *m)
{
	uint64_t *distances = rk_arena_alloc(m->arena, m->nsections * sizeof(*distances)), any = 0;

	if (!distances)
		return rk_fail_nomem(m->err);
	for (size_t i = 1; i < m->nsections; i++) {
		Elf64_Shdr old;

		memcpy(&old, elf_bytes(m->view, m->head.e_shoff + i * sizeof(old), sizeof(old)),
		       sizeof(old));
		any |= distances[i] = m->sections[i].sh_addr - old.sh_addr; /* how far it moved */
	}
	for (size_t i = 1; i < m->nsections && any; i++) {
		const Elf64_Shdr *table = &m->sections[i];

		if (table->sh_type != SHT_SYMTAB || table->sh_entsize != sizeof(Elf64_Sym))
			continue;
		for (uint64_t k = 0; k < table->sh_size / sizeof(Elf64_Sym); k++) {
			uint64_t at = table->sh_offset + k * sizeof(Elf64_Sym);
			Elf64_Sym sym, *moved;
			int rc;

			memcpy(&sym, elf_bytes(m->view, at, sizeof(sym)), sizeof(sym));
			if (sym.st_shndx >= m->nsections || distances[sym.st_shndx] == 0)
				continue;
			moved = rk_arena_alloc(m->arena, sizeof(*moved));
			if (!moved)
				return rk_fail_nomem(m->err);
			*moved = sym;
			moved->st_value += distances[sym.st_shndx];
			rc = rk_elf_image_patch(m, at, moved, sizeof(*moved));
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	uint64_t x = ((const struct rk_elf_patch *)a)->offset;
	uint64_t y = ((const struct rk_elf_patch *)b)->offset;

	return (x > y) - (x < y);
}

int rk_elf_image_finish(struct elf_image *m)
{
	Elf64_Ehdr *head = rk_arena_alloc(m->arena, sizeof(*head));
	uint64_t needs = 0, name = 0; /* sizes of what did not move and so must keep its bytes */
	size_t old = m->head.e_phnum;
	int rc;

	if (!head)
		return rk_fail_nomem(m->err);
	m->head.e_phnum = (Elf64_Half)m->nsegments;
	for (size_t i = 0; i < m->nsegments && m->nsegments != old; i++)
		if (m->segments[i].p_type == PT_PHDR)
			m->segments[i].p_filesz = m->segments[i].p_memsz =
				m->nsegments * sizeof(*m->segments);
	*head = m->head;
	rc = patch_if_new(m, 0, head, sizeof(*head));
	if (rc < 0)
		return rc;
	if (!m->table_in_tail) { /* headers that were removed become zeros: space for later edits */
		rc = patch_if_new(m, m->head.e_phoff, m->segments,
				  rk_max(m->nsegments, old) * sizeof(*m->segments));
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < m->nsections; i++) {
		rc = patch_if_new(m, m->head.e_shoff + i * sizeof(Elf64_Shdr), &m->sections[i],
				  sizeof(Elf64_Shdr));
		if (rc < 0)
			return rc;
	}
	if (m->nsections && (rc = patch_symbol_tables(m)) < 0)
		return rc;
	rc = patch_if_new(m, m->entries_at, m->entries, m->nslots * sizeof(*m->entries));
	if (rc < 0)
		return rc;

	if (m->npatches)
		qsort(m->patches, m->npatches, sizeof(*m->patches), by_offset);
	entry_value(m, DT_VERNEED, &needs);
	needs = needs == m->needs_address ? m->nneeds : 0;
	for (size_t i = 0; i < m->nsegments; i++)
		if (m->segments[i].p_type == PT_INTERP &&
		    m->segments[i].p_offset == m->interpreter_at)
			name = m->segments[i].p_filesz;
	for (size_t i = 0; i < m->npatches; i++) {
		const struct rk_elf_patch *p = &m->patches[i];
		uint64_t limit = i + 1 < m->npatches ? p[1].offset : m->len;

		if (!elf_fits(p->offset, p->len, limit) ||
		    elf_meet(p->offset, p->len, m->needs_at, needs) ||
		    elf_meet(p->offset, p->len, m->interpreter_at, name))
			return broken(m, p->offset, "overlapping tables");
	}
	return 0;
}

/* ---- users of a text ---- */

struct span {
	uint64_t from, to; /* users that begin in [from, to) are in conflict */
};

static bool in_span(const struct span *s, uint64_t user)
{
	return user >= s->from && user < s->to;
}

/* Undefined symbols come before the first hashed one, so an empty table does not tell the count. */
static bool count_gnu_hash(const struct elf_image *m, uint64_t address, uint64_t *ret)
{
	uint64_t at, left, buckets;
	uint32_t head[4], highest = 0; /* head: buckets, first symbol, filter words, shift */

	if (!load(m, address, head, sizeof(head)))
		return false;
	buckets = address + sizeof(head) + (uint64_t)head[2] * sizeof(uint64_t);
	if (!find_address(m, buckets, &at, &left) || left / sizeof(uint32_t) < head[0])
		return false;
	for (uint64_t i = 0; i < head[0]; i++) {
		uint32_t symbol;

		memcpy(&symbol, elf_bytes(m->view, at + i * sizeof(symbol), sizeof(symbol)),
		       sizeof(symbol));
		if (symbol > highest)
			highest = symbol;
	}

	/* the chain of the highest bucket contains the last symbol and ends with an odd value */
	if (highest == 0 || highest < head[1] ||
	    !find_address(m, buckets + (uint64_t)head[0] * sizeof(uint32_t), &at, &left))
		return false;
	for (uint64_t i = highest - head[1]; i < left / sizeof(uint32_t); i++) {
		uint32_t hash;

		memcpy(&hash, elf_bytes(m->view, at + i * sizeof(hash), sizeof(hash)),
		       sizeof(hash));
		if (hash & 1) {
			*ret = head[1] + i + 1;
			return true;
		}
	}
	return false;
}

/* The largest count that any table gives; false if none does. */
static bool count_symbols(const struct elf_image *m, uint64_t symbols, uint64_t *ret)
{
	uint64_t address, n;
	uint32_t head[2];
	bool known = false;

	*ret = 0;
	for (size_t i = 1; i < m->nsections; i++)
		if (m->sections[i].sh_type == SHT_DYNSYM && m->sections[i].sh_addr == symbols) {
			*ret = m->sections[i].sh_size / sizeof(Elf64_Sym);
			known = true;
		}
	if (entry_value(m, DT_HASH, &address) && load(m, address, head, sizeof(head))) {
		*ret = rk_max(*ret, head[1]);
		known = true;
	}
	if (entry_value(m, DT_GNU_HASH, &address) && count_gnu_hash(m, address, &n)) {
		*ret = rk_max(*ret, n);
		known = true;
	}
	return known;
}

uint64_t rk_elf_largest_symbol(const struct elf_image *m)
{
	uint64_t address, at, left, n, largest = 0;
	Elf64_Sym sym;

	if (!entry_value(m, DT_SYMTAB, &address) || !find_address(m, address, &at, &left) ||
	    !count_symbols(m, address, &n) || n > left / sizeof(sym))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		memcpy(&sym, elf_bytes(m->view, at + i * sizeof(sym), sizeof(sym)), sizeof(sym));
		largest = rk_max(largest, sym.st_size);
	}
	return largest;
}

static bool symbols_use(const struct elf_image *m, const struct span *s)
{
	uint64_t address, at, left, n;

	if (!entry_value(m, DT_SYMTAB, &address))
		return false;
	if (!find_address(m, address, &at, &left) || !count_symbols(m, address, &n) ||
	    n > left / sizeof(Elf64_Sym))
		return true; /* assume the worst */
	for (uint64_t i = 0; i < n; i++) {
		uint32_t name;

		memcpy(&name, elf_bytes(m->view, at + i * sizeof(Elf64_Sym), sizeof(name)),
		       sizeof(name));
		if (in_span(s, name))
			return true;
	}
	return false;
}

/*
 * Walks one chain of versions at `address`: the 32-bit name is at offset `name`, the next link at
 * `next`.
 */
static bool chain_uses(const struct elf_image *m, const struct span *s, uint64_t address,
		       uint32_t count, size_t name, size_t next)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t text, step;

		if (!load(m, address + name, &text, sizeof(text)) ||
		    !load(m, address + next, &step, sizeof(step)) || in_span(s, text))
			return true;
		if (step == 0)
			break;
		address += step;
	}
	return false;
}

static bool needs_use(const struct elf_image *m, const struct span *s)
{
	uint64_t address, n;

	if (!entry_value(m, DT_VERNEED, &address) || !entry_value(m, DT_VERNEEDNUM, &n))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Verneed v;

		if (i >= MAX_CHAIN || !load(m, address, &v, sizeof(v)) || in_span(s, v.vn_file) ||
		    chain_uses(m, s, address + v.vn_aux, v.vn_cnt,
			       offsetof(Elf64_Vernaux, vna_name),
			       offsetof(Elf64_Vernaux, vna_next)))
			return true;
		if (v.vn_next == 0)
			break;
		address += v.vn_next;
	}
	return false;
}

bool rk_elf_needs_whole(const struct elf_image *m, uint64_t address, uint64_t size)
{
	return !elf_meet(m->needs_address, m->nneeds, address, size) ||
	       (m->needs_address >= address &&
		elf_fits(m->needs_address - address, m->nneeds, size));
}

static bool definitions_use(const struct elf_image *m, const struct span *s)
{
	uint64_t address, n;

	if (!entry_value(m, DT_VERDEF, &address) || !entry_value(m, DT_VERDEFNUM, &n))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Verdef v;

		if (i >= MAX_CHAIN || !load(m, address, &v, sizeof(v)) ||
		    chain_uses(m, s, address + v.vd_aux, v.vd_cnt,
			       offsetof(Elf64_Verdaux, vda_name),
			       offsetof(Elf64_Verdaux, vda_next)))
			return true;
		if (v.vd_next == 0)
			break;
		address += v.vd_next;
	}
	return false;
}

bool rk_elf_text_is_alone(const struct elf_image *m, uint64_t offset, uint64_t len)
{
	/* a user that points at the text's NUL has an empty text and keeps it */
	struct span s = { offset, offset + len };

	if (offset == 0 || m->strings[offset - 1] != 0)
		return false;
	for (size_t i = 0; i < m->nentries; i++)
		switch (m->entries[i].d_tag) {
		case DT_NEEDED:
		case DT_SONAME:
		case DT_CONFIG:
		case DT_DEPAUDIT:
		case DT_AUDIT:
		case DT_AUXILIARY:
		case DT_FILTER:
			if (in_span(&s, m->entries[i].d_un.d_val))
				return false;
			break;
		default:
			break;
		}
	/* section names and unknown kinds of tables may also use this string table */
	if (m->strings_section && m->head.e_shstrndx == m->strings_section)
		return false;
	for (size_t i = 1; i < m->nsections && m->strings_section; i++)
		if (m->sections[i].sh_link == m->strings_section)
			switch (m->sections[i].sh_type) {
			case SHT_DYNSYM:
			case SHT_DYNAMIC:
			case SHT_GNU_verneed:
			case SHT_GNU_verdef:
				break;
			default:
				return false;
			}
	return !needs_use(m, &s) && !definitions_use(m, &s) && !symbols_use(m, &s);
}
