/* edit.c - set the run path of an ELF file: choose a method and write the entry. */
#include "pack/elf/edit.h"

#include <string.h>

#include "base/num.h"

#include "pack/elf/image.h"

/*
 * ---- the string table ----
 *
 * A longer string table fits where a read-only segment has space after its end. The segment's last
 * page is mapped anyway, and linkers fill it with zeros in the file. In memory the space ends at
 * the next segment's first page, because two segments in one page would share their protection. In
 * the file it ends at whatever comes next. At the end of the file the space is unlimited: a segment
 * that an earlier edit put there can grow.
 */

/* A growing string table: the old one up to `keep`, then the new text. */
struct elf_strings {
	uint64_t keep; /* offset of the new text in the table */
	const char *text;
	size_t text_size; /* including its NUL */
};

enum { TABLE_ALIGN = 8 };

static void strings_moved(struct elf_image *m, const struct elf_strings *s, uint64_t at,
			  uint64_t address)
{
	uint64_t size = s->keep + s->text_size;

	for (size_t i = 0; i < m->nentries; i++)
		if (m->entries[i].d_tag == DT_STRTAB)
			m->entries[i].d_un.d_ptr = address;
		else if (m->entries[i].d_tag == DT_STRSZ)
			m->entries[i].d_un.d_val = size;
	if (m->strings_section) {
		Elf64_Shdr *h = &m->sections[m->strings_section];

		h->sh_offset = at;
		h->sh_addr = address;
		h->sh_size = size;
	}
}

static void lower(uint64_t *limit, uint64_t from, uint64_t at)
{
	if (at >= from && at - from < *limit)
		*limit = at - from;
}

/* Free bytes up to the next segment in memory, or to the highest address. */
static uint64_t room_in_memory(const struct elf_image *m, uint64_t end)
{
	uint64_t room = ELF_MAX_ADDRESS - end;

	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];
		uint64_t first = p->p_vaddr & ~(m->page - 1);

		if (p->p_type != PT_LOAD || p->p_vaddr < end)
			continue;
		if (first < end)
			return 0;
		lower(&room, end, first);
	}
	return room;
}

/* Free bytes up to whatever comes next in the file; 0 if a section or segment continues there. */
static uint64_t room_in_file(const struct elf_image *m, uint64_t end)
{
	uint64_t room = UINT64_MAX;

	lower(&room, end, m->head.e_phoff);
	if (m->sections)
		lower(&room, end, m->head.e_shoff);
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];

		if (p->p_offset < end && end - p->p_offset < p->p_filesz)
			return 0;
		if (p->p_filesz)
			lower(&room, end, p->p_offset);
	}
	for (size_t i = 1; i < m->nsections; i++) {
		const Elf64_Shdr *s = &m->sections[i];

		if (s->sh_type == SHT_NOBITS || s->sh_size == 0)
			continue;
		if (s->sh_offset < end && s->sh_offset + s->sh_size > end)
			return 0;
		lower(&room, end, s->sh_offset);
	}
	return room;
}

/* Can this segment grow by n bytes? Only zeros count as unused. */
static bool has_room(const struct elf_image *m, const Elf64_Phdr *p, uint64_t n)
{
	uint64_t end = p->p_offset + p->p_filesz, room;
	const uint8_t *unused;

	if (p->p_type != PT_LOAD || (p->p_flags & PF_W) || !(p->p_flags & PF_R) ||
	    p->p_filesz != p->p_memsz || room_in_memory(m, p->p_vaddr + p->p_memsz) < n)
		return false;
	room = room_in_file(m, end);
	if (end == m->len)
		return room == UINT64_MAX && m->ntail == 0;
	if (room == UINT64_MAX || room < n || !elf_fits(end, n, m->len))
		return false;
	unused = elf_bytes(m->view, end, n);
	for (uint64_t i = 0; i < n; i++)
		if (unused[i])
			return false;
	return true;
}

/*
 * ---- moving sections up a little to make space before them ----
 *
 * In most files the hash table and the symbols come before the string table, and the versions and
 * relocations come after it. All of them are found through dynamic entries, never by code. So the
 * string table can grow by the free bytes of its segment's last page. If it moves to another
 * segment instead, the sections before it can move into its old place, which makes space for one
 * more program header.
 */

enum { MAX_BEHIND = 2 << 20, MAX_BEFORE = 8 << 20 };

/* Writes `lead` bytes, then the block's bytes, at `at`. */
static int write_moved(struct elf_image *m, const struct elf_block *b, uint64_t at,
		       const uint8_t *lead, size_t nlead, size_t gap)
{
	uint8_t *bytes = rk_arena_alloc(m->arena, nlead + gap + (size_t)b->size);

	if (!bytes)
		return rk_fail_nomem(m->err);
	if (nlead)
		memcpy(bytes, lead, nlead);
	memcpy(bytes + nlead + gap, elf_bytes(m->view, b->at, b->size), (size_t)b->size);
	return rk_elf_image_patch(m, at, bytes, nlead + gap + (size_t)b->size);
}

/* Returns 1 if the sections between the program headers and the string table moved up. */
static int slide_headers(struct elf_image *m)
{
	uint64_t first = m->head.e_phoff + m->nsegments * sizeof(*m->segments), step;
	struct elf_block b;
	int rc;

	if (m->strings_at <= first || m->strings_at - first > MAX_BEFORE ||
	    !rk_elf_block_take(m, first, m->strings_at - first, &b))
		return 0;
	step = elf_round_up(sizeof(*m->segments), b.align);
	if (m->nstrings < step || b.address + b.size != m->strings_address ||
	    !rk_elf_segment_around(m, b.at, b.size + step))
		return 0;
	if ((rc = rk_elf_block_move(m, &b, b.at + step, b.address + step)) < 0 ||
	    (rc = write_moved(m, &b, b.at + step, NULL, 0, 0)) < 0)
		return rc;
	return 1;
}

/*
 * Returns 1 if the sections after the string table moved up and the text was put before them. They
 * move into the unused end of the segment, or the segment grows.
 */
static int slide_behind(struct elf_image *m, const struct elf_strings *s, Elf64_Phdr *p)
{
	uint64_t from = m->strings_at + m->nstrings, end = p->p_offset + p->p_filesz, used, step;
	uint64_t more = s->keep + s->text_size - m->nstrings;
	struct elf_block b = { .align = 1 };
	int rc;

	if (m->strings_at < p->p_offset || from >= end)
		return 0;
	used = rk_max(rk_elf_used_to(m, p), from);
	if (used - from > MAX_BEHIND ||
	    (used > from && !rk_elf_block_take(m, from, used - from, &b)))
		return 0;
	step = elf_round_up(more, b.align);
	if (step > end - used) {
		uint64_t grow = step - (end - used);

		if (end == m->len || !has_room(m, p, grow))
			return 0;
		p->p_filesz += grow;
		p->p_memsz = p->p_filesz;
	}
	if (b.size) {
		rc = rk_elf_block_move(m, &b, b.at + step, b.address + step);
		if (rc < 0)
			return rc;
	}
	rc = write_moved(m, &b, m->strings_at + s->keep, (const uint8_t *)s->text, s->text_size,
			 (size_t)(step - more));
	if (rc < 0)
		return rc;
	strings_moved(m, s, m->strings_at, m->strings_address);
	return 1;
}

static void remove_segment(struct elf_image *m, Elf64_Phdr *p)
{
	m->nsegments--;
	memmove(p, p + 1, (size_t)(m->segments + m->nsegments - p) * sizeof(*p));
	m->segments[m->nsegments] = (Elf64_Phdr){ 0 };
}

/*
 * Removes the segment that another ELF editor made for the string table alone, which has moved:
 * strip would keep it without bytes, at an offset that no loader accepts.
 */
static bool drop_old_segment(struct elf_image *m)
{
	for (size_t i = 0; i < m->nsegments; i++)
		if (rk_elf_is_only_strings(m, &m->segments[i])) {
			remove_segment(m, &m->segments[i]);
			return true;
		}
	return false;
}

/*
 * True if the string table ends the last segment and an earlier edit added that segment: its header
 * can be reused.
 */
static bool take_own_segment(struct elf_image *m, struct elf_block *ret)
{
	Elf64_Phdr *p = NULL;

	for (size_t i = 0; i < m->nsegments; i++)
		if (m->segments[i].p_type == PT_LOAD)
			p = &m->segments[i];
	if (!p || p == m->segments || p->p_flags != PF_R || p->p_filesz != p->p_memsz ||
	    m->strings_at < p->p_offset || m->strings_at + m->nstrings != p->p_offset + p->p_filesz)
		return false;
	*ret = (struct elf_block){ .align = 1 };
	if (m->strings_at > p->p_offset &&
	    !rk_elf_block_take(m, p->p_offset, m->strings_at - p->p_offset, ret))
		return false;
	remove_segment(m, p);
	return true;
}

/* Appends bytes to a segment, in the file or as its tail, and grows the segment. */
static int append(struct elf_image *m, Elf64_Phdr *p, uint64_t pad, uint8_t *bytes, size_t len)
{
	uint64_t at = p->p_offset + p->p_filesz + pad;

	p->p_filesz += pad + len;
	p->p_memsz = p->p_filesz;
	if (at - pad < m->len)
		return rk_elf_image_patch(m, at, bytes, len);
	m->tail_at = at;
	m->tail = bytes;
	m->ntail = len;
	return 0;
}

/* Returns 1 if the table is at the end of its segment, so that only the new text was added. */
static int grow_table(struct elf_image *m, const struct elf_strings *s)
{
	uint64_t end = m->strings_at + m->nstrings, more = s->keep + s->text_size - m->nstrings;
	uint64_t old = m->nstrings - s->keep; /* bytes of the old text that we overwrite */
	uint8_t *text;
	int rc;

	for (size_t i = 0; i < m->nsegments; i++) {
		Elf64_Phdr *p = &m->segments[i];

		if (p->p_offset + p->p_filesz != end || !has_room(m, p, more))
			continue;
		text = rk_arena_alloc(m->arena, s->text_size);
		if (!text)
			return rk_fail_nomem(m->err);
		memcpy(text, s->text, s->text_size);
		if (old) {
			rc = rk_elf_image_patch(m, m->strings_at + s->keep, text, (size_t)old);
			if (rc < 0)
				return rc;
		}
		rc = append(m, p, 0, text + old, (size_t)more);
		if (rc < 0)
			return rc;
		strings_moved(m, s, m->strings_at, m->strings_address);
		return 1;
	}
	return 0;
}

/* Returns 1 if the table and the new text were appended to a segment with these flags. */
static int move_table(struct elf_image *m, const struct elf_strings *s, uint32_t flags)
{
	uint64_t size = s->keep + s->text_size;

	for (size_t i = 0; i < m->nsegments; i++) {
		Elf64_Phdr *p = &m->segments[i];
		uint64_t end = p->p_offset + p->p_filesz;
		uint64_t pad = elf_round_up(end, TABLE_ALIGN) - end;
		uint8_t *bytes;
		int rc;

		if (p->p_type != PT_LOAD || p->p_flags != flags || !has_room(m, p, pad + size))
			continue;
		bytes = rk_arena_alloc(m->arena, (size_t)size);
		if (!bytes)
			return rk_fail_nomem(m->err);
		memcpy(bytes, m->strings, (size_t)s->keep);
		memcpy(bytes + s->keep, s->text, s->text_size);
		strings_moved(m, s, end + pad, p->p_vaddr + p->p_filesz + pad);
		rc = append(m, p, pad, bytes, (size_t)size);
		return rc < 0 ? rc : 1;
	}
	return 0;
}

/*
 * ---- one new read-only segment at the end of the file, with the longer string table ----
 *
 * Its program header needs 56 more bytes. The header table stays in place, because kernels derive
 * the table's address from its file offset and strip tools expect it there. So what follows the
 * table moves up into the string table's old place, or, if it is only small sections, to the new
 * segment. A library's table is read by its file offset: there PT_PHDR is not needed, and as a last
 * resort the table itself moves.
 */

enum { TAIL_ALIGN = 16, MOVE_SMALL = 4 << 10, MOVE_LARGE = 16 << 20 };
#define MAX_GAP ((uint64_t)1 << 30)

/* Where the new header comes from. */
enum slot { SLOT_SPARE, SLOT_GROW, SLOT_MOVE };

struct new_segment {
	enum slot slot;
	struct elf_block block; /* what must move to make space for the header; size 0: nothing */
	uint64_t at, address, align;
	uint64_t gap;                            /* gap before it, in memory */
	uint64_t block_at, table_at, strings_at; /* relative to `at` */
	uint64_t size;
};

/* Removes a header so that its slot can be reused. */
static bool drop_segment(struct elf_image *m, uint32_t type)
{
	for (size_t i = 0; i < m->nsegments; i++)
		if (m->segments[i].p_type == type) {
			remove_segment(m, &m->segments[i]);
			return true;
		}
	return false;
}

/* Notes of equal alignment that follow each other need one header, as linkers write it. */
static bool merge_notes(struct elf_image *m)
{
	for (size_t i = 0; i < m->nsegments; i++)
		for (size_t k = 0; k < m->nsegments; k++) {
			Elf64_Phdr *p = &m->segments[i], *q = &m->segments[k];
			uint64_t size = q->p_offset - p->p_offset;

			if (p->p_type != PT_NOTE || q->p_type != PT_NOTE ||
			    p->p_align != q->p_align || p->p_flags != q->p_flags ||
			    (p->p_align != 4 && p->p_align != 8) || p->p_filesz == 0 ||
			    p->p_filesz != p->p_memsz || q->p_filesz != q->p_memsz ||
			    q->p_offset < p->p_offset || q->p_vaddr - p->p_vaddr != size ||
			    elf_round_up(p->p_filesz, p->p_align) != size)
				continue;
			p->p_filesz = p->p_memsz = size + q->p_filesz;
			remove_segment(m, q);
			return true;
		}
	return false;
}

static int choose_slot(struct elf_image *m, struct new_segment *n)
{
	int rc;

	n->slot = SLOT_SPARE;
	if (take_own_segment(m, &n->block) || drop_old_segment(m) || drop_segment(m, PT_NULL))
		return 0;
	n->slot = SLOT_GROW;
	rc = slide_headers(m);
	if (rc < 0)
		return rc;
	if (rc > 0 || rk_elf_block_find(m, m->interpreter ? MOVE_LARGE : MOVE_SMALL, &n->block))
		return 0;
	n->block.size = 0;
	n->slot = SLOT_SPARE;
	if (merge_notes(m))
		return 0;
	if (m->interpreter)
		return rk_fail(m->err, RK_E_UNSUPPORTED,
			       "cannot edit this ELF file: no space for another program header");
	if (!drop_segment(m, PT_PHDR))
		n->slot = SLOT_MOVE;
	return 0;
}

static void lay_out(const struct elf_image *m, const struct elf_strings *s, struct new_segment *n)
{
	uint64_t align = rk_max(n->block.align, TAIL_ALIGN), end = 0, table = 0;

	/*
	 * The first place after the file's end that keeps the block's alignment. The block is not at
	 * the very start of the segment: if two segments start at the same place, some tools use the
	 * alignment of the first in the table (PT_INTERP).
	 */
	n->at = elf_round_up(m->len, align);
	if (n->block.size) {
		n->at += n->block.at & (align - 1);
		if (n->at - m->len >= align)
			n->at -= align;
		n->block_at = align;
	}

	/*
	 * A loader uses the first segment whose pages include the table. So the table must not be in
	 * the last page of another segment, where memory has zeros.
	 */
	for (size_t i = 0; i < m->nsegments && n->slot == SLOT_MOVE; i++) {
		const Elf64_Phdr *p = &m->segments[i];

		if (p->p_type == PT_LOAD)
			n->at = rk_max(n->at, elf_round_up(p->p_offset + p->p_filesz, m->page));
	}

	/*
	 * An address above all others, with the same offset in its page as in the file. The gap is
	 * for eu-elflint: if a symbol's size reaches into read-only data, it treats its relocation
	 * as one of read-only data.
	 */
	n->align = m->page;
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];

		if (p->p_type != PT_LOAD)
			continue;
		n->align = rk_max(n->align, p->p_align);
		end = rk_max(end, p->p_vaddr + p->p_memsz);
	}
	if (n->gap < MAX_GAP)
		end += n->gap;
	n->address = elf_round_up(end, n->align) + (n->at & (n->align - 1));

	if (n->slot == SLOT_MOVE)
		table = (m->nsegments + 1) * sizeof(*m->segments);
	n->table_at = elf_round_up(n->block_at + n->block.size, 8);
	n->strings_at = n->table_at + table;
	n->size = n->strings_at + s->keep + s->text_size;
}

static int add_segment(struct elf_image *m, const struct elf_strings *s)
{
	struct new_segment n = { 0 };
	size_t at = 0;
	uint8_t *tail;
	int rc;

	n.gap = rk_elf_largest_symbol(m); /* before anything moves */
	rc = choose_slot(m, &n);
	if (rc < 0)
		return rc;
	lay_out(m, s, &n);
	if (!elf_fits(n.address, n.size, ELF_MAX_ADDRESS))
		return rk_fail(m->err, RK_E_UNSUPPORTED,
			       "cannot edit this ELF file: its addresses are too high");
	if (n.block.size) {
		rc = rk_elf_block_move(m, &n.block, n.at + n.block_at, n.address + n.block_at);
		if (rc < 0)
			return rc;
	}

	/* its header goes after the last PT_LOAD: they are in ascending order */
	for (size_t i = 0; i < m->nsegments; i++)
		if (m->segments[i].p_type == PT_LOAD)
			at = i + 1;
	memmove(&m->segments[at + 1], &m->segments[at], (m->nsegments - at) * sizeof(*m->segments));
	m->segments[at] = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = PF_R,
					.p_offset = n.at,
					.p_vaddr = n.address,
					.p_paddr = n.address,
					.p_filesz = n.size,
					.p_memsz = n.size,
					.p_align = n.align };
	m->nsegments++;
	if (n.slot == SLOT_MOVE) {
		m->head.e_phoff = n.at + n.table_at;
		m->table_in_tail = true;
	}
	strings_moved(m, s, n.at + n.strings_at, n.address + n.strings_at);

	tail = rk_arena_alloc(m->arena, (size_t)n.size);
	if (!tail)
		return rk_fail_nomem(m->err);
	if (n.block.size)
		memcpy(tail + n.block_at, elf_bytes(m->view, n.block.at, n.block.size),
		       (size_t)n.block.size);
	if (n.slot == SLOT_MOVE)
		memcpy(tail + n.table_at, m->segments, m->nsegments * sizeof(*m->segments));
	memcpy(tail + n.strings_at, m->strings, (size_t)s->keep);
	memcpy(tail + n.strings_at + s->keep, s->text, s->text_size);
	m->tail = tail;
	m->tail_at = n.at;
	m->ntail = (size_t)n.size;
	return 0;
}

/* ---- choosing the method, writing the entry ---- */

enum { MAX_RUN_PATHS = 16 };

/* The requested run path, and the offset in the table where its text was found or put. */
struct wish {
	const char *text;
	size_t len;
	int64_t tag;
	uint64_t at;
	enum rk_elf_way way;
};

static const char *text_at(const struct elf_image *m, uint64_t offset)
{
	return (const char *)m->strings + offset;
}

/* The entry that takes effect: loaders ignore RPATH if there is a RUNPATH. NULL: none. */
static const Elf64_Dyn *entry_in_force(const struct elf_image *m)
{
	const Elf64_Dyn *found = NULL;

	for (size_t i = 0; i < m->nentries; i++)
		if (elf_is_run_path(&m->entries[i]) &&
		    (!found || found->d_tag == DT_RPATH || m->entries[i].d_tag == DT_RUNPATH))
			found = &m->entries[i];
	return found;
}

/*
 * Usable bytes for a text: its length plus the zeros that an earlier, longer text left after its
 * NUL.
 */
static size_t capacity(const struct elf_image *m, uint64_t offset)
{
	size_t n = strlen(text_at(m, offset));

	while (offset + n + 1 < m->nstrings && text_at(m, offset)[n + 1] == '\0')
		n++;
	return n;
}

/* Returns 1 if the text was written over a text that only the run path used. */
static int overwrite(struct elf_image *m, struct wish *w)
{
	for (size_t i = 0; i < m->nentries; i++) {
		uint64_t at = m->entries[i].d_un.d_val;
		size_t old;
		uint8_t *bytes;
		int rc;

		if (!elf_is_run_path(&m->entries[i]))
			continue;
		old = capacity(m, at);
		if (old < w->len || !rk_elf_text_is_alone(m, at, old))
			continue;
		bytes = rk_arena_alloc(m->arena, old);
		if (!bytes)
			return rk_fail_nomem(m->err);
		memcpy(bytes, w->text, w->len);
		w->at = at;
		w->way = RK_ELF_IN_PLACE;
		rc = rk_elf_image_patch(m, m->strings_at + at, bytes, old);
		return rc < 0 ? rc : 1;
	}
	return 0;
}

/* A new text replaces the old one if that is at the end of the table; otherwise it is appended. */
static uint64_t new_text_at(const struct elf_image *m)
{
	for (size_t i = 0; i < m->nentries; i++) {
		uint64_t at = m->entries[i].d_un.d_val, len;

		if (!elf_is_run_path(&m->entries[i]))
			continue;
		len = capacity(m, at);
		if (at + len + 1 == m->nstrings && rk_elf_text_is_alone(m, at, len))
			return at;
	}
	return m->nstrings;
}

static int put_text(struct elf_image *m, struct wish *w)
{
	struct elf_strings s = { .text = w->text, .text_size = w->len + 1 };
	const Elf64_Dyn *now = entry_in_force(m);
	const char *found;
	int rc;

	if (now && strcmp(text_at(m, now->d_un.d_val), w->text) == 0) {
		w->at = now->d_un.d_val;
		w->way = RK_ELF_TAG;
		return 0;
	}
	/* the text with its NUL may be anywhere in the table, even as the tail of another text */
	found = memmem(text_at(m, 0), (size_t)m->nstrings, w->text, w->len + 1);
	if (found) {
		w->at = (uint64_t)(found - text_at(m, 0));
		w->way = RK_ELF_IN_PLACE;
		return 0;
	}
	rc = overwrite(m, w);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	s.keep = w->at = new_text_at(m);

	/* each method returns 1 on success */
	w->way = RK_ELF_ROOM;
	rc = grow_table(m, &s);
	for (size_t i = 0; i < m->nsegments && rc == 0; i++)
		if (m->segments[i].p_type == PT_LOAD)
			rc = slide_behind(m, &s, &m->segments[i]);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = move_table(m, &s, PF_R);
	if (rc == 0)
		rc = move_table(m, &s, PF_R | PF_X);
	if (rc > 0)
		drop_old_segment(m);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	w->way = RK_ELF_SEGMENT;
	return add_segment(m, &s);
}

/* Keeps exactly one entry, in the first one's place, and closes the gaps. */
static int set_entry(struct elf_image *m, const struct wish *w)
{
	size_t slot = m->nentries, kept = 0;

	for (size_t i = 0; i < m->nentries; i++) {
		bool path = elf_is_run_path(&m->entries[i]);

		if (path && slot != m->nentries)
			continue;
		if (path)
			slot = kept;
		m->entries[kept++] = m->entries[i];
	}
	if (slot != m->nentries) {
		for (; m->nentries > kept; m->nentries--)
			m->entries[m->nentries - 1] = (Elf64_Dyn){ .d_tag = DT_NULL };
	} else if (m->nentries + 1 < m->nslots && m->entries[m->nentries + 1].d_tag == DT_NULL) {
		slot = m->nentries++; /* a spare DT_NULL */
	} else {
		/* replace a hint that loaders do not need */
		for (slot = 0; slot < m->nentries; slot++)
			if (m->entries[slot].d_tag == DT_RELACOUNT ||
			    m->entries[slot].d_tag == DT_RELCOUNT)
				break;
		if (slot == m->nentries)
			return rk_fail(
				m->err, RK_E_UNSUPPORTED,
				"cannot edit this ELF file: no space for another dynamic entry");
	}
	m->entries[slot] = (Elf64_Dyn){ .d_tag = w->tag, .d_un.d_val = w->at };
	return 0;
}

static int make_edit(struct rk_view *v, const char *rpath, enum rk_rpath_tag tag,
		     struct rk_arena *arena, struct rk_elf_edit *ret, struct rk_error *err)
{
	struct elf_image m = { .view = v, .len = v->len, .arena = arena, .err = err };
	struct wish w = { .text = rpath, .tag = tag == RK_RPATH ? DT_RPATH : DT_RUNPATH };
	const Elf64_Dyn *now;
	size_t n = 0;
	int rc = rk_elf_image_read(&m);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < m.nentries; i++) {
		uint64_t at = m.entries[i].d_un.d_val;

		if (elf_is_run_path(&m.entries[i]) && (n++ >= MAX_RUN_PATHS || at >= m.nstrings ||
						       strlen(text_at(&m, at)) >= RK_ELF_TEXT_MAX))
			return rk_fail(err, RK_E_FORMAT,
				       "broken ELF file: too many run paths, or one that "
				       "is not in the string table");
	}
	now = entry_in_force(&m);
	if (!rpath && now)
		w.text = text_at(&m, now->d_un.d_val);
	if (w.text) {
		w.len = strlen(w.text);
		if (w.len >= RK_ELF_TEXT_MAX)
			return rk_fail(err, RK_E_LIMIT, "run path longer than %d bytes",
				       RK_ELF_TEXT_MAX - 1);
		if ((rc = put_text(&m, &w)) < 0 || (rc = set_entry(&m, &w)) < 0 ||
		    (rc = rk_elf_image_finish(&m)) < 0)
			return rc;
	}

	*ret = (struct rk_elf_edit){ .way = w.way,
				     .patches = m.patches,
				     .npatches = m.npatches,
				     .old_size = v->len,
				     .new_size = v->len,
				     .tail_at = v->len };
	if (m.npatches == 0)
		ret->way = RK_ELF_SAME;
	if (m.ntail) {
		ret->tail_at = m.tail_at;
		ret->tail = m.tail;
		ret->ntail = m.ntail;
		ret->new_size = m.tail_at + m.ntail;
	}
	return 0;
}

int rk_elf_edit_view(struct rk_view *v, const char *rpath, enum rk_rpath_tag tag,
		     struct rk_arena *arena, struct rk_elf_edit *ret, struct rk_error *err)
{
	struct rk_elf_edit e;
	int rc = make_edit(v, rpath, tag, arena, &e, err);

	if (v->err.code) { /* the edit was made from zeros */
		if (err)
			*err = v->err;
		return v->err.code;
	}
	if (rc == 0)
		*ret = e;
	return rc;
}

int rk_elf_edit(const void *data, size_t len, const char *rpath, enum rk_rpath_tag tag,
		struct rk_arena *arena, struct rk_elf_edit *ret, struct rk_error *err)
{
	struct rk_view all = { .data = data, .len = len };

	return rk_elf_edit_view(&all, rpath, tag, arena, ret, err);
}

/* Copies the part of [at, at + n) that is in the window. */
static void overlay(uint64_t offset, uint8_t *buf, size_t len, uint64_t at, const uint8_t *bytes,
		    size_t n)
{
	uint64_t from = rk_max(at, offset), to = rk_min(at + n, offset + len);

	if (from < to)
		memcpy(buf + (from - offset), bytes + (from - at), (size_t)(to - from));
}

void rk_elf_edit_apply(const struct rk_elf_edit *e, uint64_t offset, void *buf, size_t len)
{
	size_t low = 0, high = e->npatches;

	while (low < high) { /* find the first patch that ends after the start of the window */
		size_t mid = low + (high - low) / 2;

		if (e->patches[mid].offset + e->patches[mid].len <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < e->npatches && e->patches[low].offset < offset + len; low++)
		overlay(offset, buf, len, e->patches[low].offset, e->patches[low].bytes,
			e->patches[low].len);
	if (offset + len > e->old_size) {
		uint64_t from = rk_max(offset, e->old_size);

		memset((uint8_t *)buf + (from - offset), 0, (size_t)(offset + len - from));
		if (e->ntail)
			overlay(offset, buf, len, e->tail_at, e->tail, e->ntail);
	}
}
