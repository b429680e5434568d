/*
 * elf_edit_users.c - who uses a text of the dynamic string table.
 *
 * Linkers let texts share their ends: the run path may be the tail of a symbol's name, or the other
 * way round. A text is overwritten only when every possible user has been looked at.
 */
#include <string.h>

#include "pack/elf/elf_edit_impl.h"

enum { MAX_CHAIN = 1 << 16 };

struct span {
	uint64_t from, to; /* users that begin in [from, to) are in the way */
};

static bool in_span(const struct span *s, uint64_t user)
{
	return user >= s->from && user < s->to;
}

static bool value_of(const struct elf_image *m, int64_t tag, uint64_t *ret)
{
	for (size_t i = 0; i < m->nentries; i++)
		if (m->entries[i].d_tag == tag) {
			*ret = m->entries[i].d_un.d_val;
			return true;
		}
	return false;
}

/* Bytes at an address, or false. */
static bool load(const struct elf_image *m, uint64_t address, void *to, size_t size)
{
	uint64_t at, left;

	if (!rk_elf_image_find(m, address, &at, &left) || left < size)
		return false;
	memcpy(to, m->data + at, size);
	return true;
}

static bool entries_use(const struct elf_image *m, const struct span *s)
{
	for (size_t i = 0; i < m->nentries; i++)
		switch (m->entries[i].d_tag) {
		case DT_NEEDED:
		case DT_SONAME:
		case DT_CONFIG:
		case DT_DEPAUDIT:
		case DT_AUDIT:
		case DT_AUXILIARY:
		case DT_FILTER:
			if (in_span(s, m->entries[i].d_un.d_val))
				return true;
			break;
		default:
			break;
		}
	return false;
}

/* The highest symbol of a chain of DT_GNU_HASH's table, which ends with an odd value. */
static bool chain_end(const struct elf_image *m, uint64_t chains, uint32_t first, uint32_t symbol,
		      uint64_t *ret)
{
	uint64_t at, left, i = symbol - first;

	if (symbol < first || !rk_elf_image_find(m, chains, &at, &left))
		return false;
	for (; i < left / sizeof(uint32_t); i++) {
		uint32_t hash;

		memcpy(&hash, m->data + at + i * sizeof(hash), sizeof(hash));
		if (hash & 1) {
			*ret = first + i + 1;
			return true;
		}
	}
	return false;
}

/* Undefined symbols stand before the first that is hashed: an empty table says nothing. */
static bool count_gnu_hash(const struct elf_image *m, uint64_t address, uint64_t *ret)
{
	uint64_t at, left, buckets;
	uint32_t head[4], highest = 0; /* head: buckets, first symbol, words of the filter, shift */

	if (!load(m, address, head, sizeof(head)))
		return false;
	buckets = address + sizeof(head) + (uint64_t)head[2] * sizeof(uint64_t);
	if (!rk_elf_image_find(m, buckets, &at, &left) || left / sizeof(uint32_t) < head[0])
		return false;
	for (uint64_t i = 0; i < head[0]; i++) {
		uint32_t symbol;

		memcpy(&symbol, m->data + at + i * sizeof(symbol), sizeof(symbol));
		highest = symbol > highest ? symbol : highest;
	}
	return highest != 0 &&
	       chain_end(m, buckets + (uint64_t)head[0] * sizeof(uint32_t), head[1], highest, ret);
}

/* The most that any table names; false: none says. */
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
	if (value_of(m, DT_HASH, &address) && load(m, address, head, sizeof(head))) {
		*ret = head[1] > *ret ? head[1] : *ret;
		known = true;
	}
	if (value_of(m, DT_GNU_HASH, &address) && count_gnu_hash(m, address, &n)) {
		*ret = n > *ret ? n : *ret;
		known = true;
	}
	return known;
}

uint64_t rk_elf_largest_symbol(const struct elf_image *m)
{
	uint64_t address, at, left, n, largest = 0;
	Elf64_Sym sym;

	if (!value_of(m, DT_SYMTAB, &address) || !rk_elf_image_find(m, address, &at, &left) ||
	    !count_symbols(m, address, &n) || n > left / sizeof(sym))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		memcpy(&sym, m->data + at + i * sizeof(sym), sizeof(sym));
		largest = sym.st_size > largest ? sym.st_size : largest;
	}
	return largest;
}

static bool symbols_use(const struct elf_image *m, const struct span *s)
{
	uint64_t address, at, left, n;

	if (!value_of(m, DT_SYMTAB, &address))
		return false;
	if (!rk_elf_image_find(m, address, &at, &left) || !count_symbols(m, address, &n) ||
	    n > left / sizeof(Elf64_Sym))
		return true; /* for all that is known */
	for (uint64_t i = 0; i < n; i++) {
		uint32_t name;

		memcpy(&name, m->data + at + i * sizeof(Elf64_Sym), sizeof(name));
		if (in_span(s, name))
			return true;
	}
	return false;
}

/* One chain of versions below `address`: its names are 32 bits at `name`, the next at `next`. */
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

	if (!value_of(m, DT_VERNEED, &address) || !value_of(m, DT_VERNEEDNUM, &n))
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

/* Counts a record of 16 bytes at an address as inside or outside. */
static bool tell(uint64_t address, const struct span *s, bool *inside, bool *outside)
{
	bool in = address >= s->from && address < s->to;

	*inside |= in;
	*outside |= !in || s->to - address < sizeof(Elf64_Verneed);
	return !(*inside && *outside);
}

bool rk_elf_needs_whole(const struct elf_image *m, uint64_t address, uint64_t size)
{
	const struct span s = { address, address + size };
	bool inside = false, outside = false;
	uint64_t at, n, aux;

	if (!value_of(m, DT_VERNEED, &at) || !value_of(m, DT_VERNEEDNUM, &n))
		return true;
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Verneed v;
		Elf64_Vernaux a = { .vna_next = 1 };

		if (i >= MAX_CHAIN || !load(m, at, &v, sizeof(v)) ||
		    !tell(at, &s, &inside, &outside))
			return false;
		aux = at + v.vn_aux;
		for (uint32_t k = 0; k < v.vn_cnt && a.vna_next; k++, aux += a.vna_next)
			if (!load(m, aux, &a, sizeof(a)) || !tell(aux, &s, &inside, &outside))
				return false;
		if (v.vn_next == 0)
			break;
		at += v.vn_next;
	}
	return true;
}

static bool definitions_use(const struct elf_image *m, const struct span *s)
{
	uint64_t address, n;

	if (!value_of(m, DT_VERDEF, &address) || !value_of(m, DT_VERDEFNUM, &n))
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

/* Names of sections may be in this table too, and tables of kinds that are not read here. */
static bool sections_use(const struct elf_image *m)
{
	if (m->strings_section == 0)
		return false;
	if (m->head.e_shstrndx == m->strings_section)
		return true;
	for (size_t i = 1; i < m->nsections; i++)
		if (m->sections[i].sh_link == m->strings_section)
			switch (m->sections[i].sh_type) {
			case SHT_DYNSYM:
			case SHT_DYNAMIC:
			case SHT_GNU_verneed:
			case SHT_GNU_verdef:
				break;
			default:
				return true;
			}
	return false;
}

bool rk_elf_text_is_alone(const struct elf_image *m, uint64_t offset, uint64_t len)
{
	/* a user of the text's end has an empty text, and keeps it */
	struct span s = { offset, offset + len };

	if (offset == 0 || m->data[m->strings_at + offset - 1] != 0)
		return false;
	return !entries_use(m, &s) && !sections_use(m) && !needs_use(m, &s) &&
	       !definitions_use(m, &s) && !symbols_use(m, &s);
}
