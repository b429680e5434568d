/*
 * elf_edit_room.c - a longer string table where a read-only segment has room behind its end.
 *
 * A segment's last page is there in memory anyway, and in the file linkers fill it up with zeros.
 * The room ends where the next segment begins, in memory by pages, because two segments of one page
 * would have one protection; and where anything begins in the file. At the end of the file there is
 * room without end: a segment that was put there by an earlier edit grows.
 */
#include <string.h>

#include "pack/elf/elf_edit_impl.h"

enum { TABLE_ALIGN = 8 };

uint8_t *rk_elf_strings_bytes(const struct elf_image *m, const struct elf_strings *s)
{
	uint8_t *p = rk_arena_alloc(m->arena, (size_t)s->keep + s->text_size);

	if (p) {
		memcpy(p, m->data + m->strings_at, (size_t)s->keep);
		memcpy(p + s->keep, s->text, s->text_size);
	}
	return p;
}

void rk_elf_strings_moved(struct elf_image *m, const struct elf_strings *s, uint64_t at,
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

/* Bytes up to the next segment in memory. */
static uint64_t room_in_memory(const struct elf_image *m, uint64_t end)
{
	uint64_t room = UINT64_MAX;

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

/* Bytes up to whatever comes next in the file; none at all where a section goes on. */
static uint64_t room_in_file(const struct elf_image *m, uint64_t end)
{
	uint64_t room = UINT64_MAX;

	lower(&room, end, m->head.e_phoff);
	if (m->sections)
		lower(&room, end, m->head.e_shoff);
	for (size_t i = 0; i < m->nsegments; i++)
		if (m->segments[i].p_filesz)
			lower(&room, end, m->segments[i].p_offset);
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

static bool is_zero(const struct elf_image *m, uint64_t at, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (m->data[at + i])
			return false;
	return true;
}

/* May this segment grow by n bytes? Only zeros are taken for nobody's. */
bool rk_elf_has_room(const struct elf_image *m, const Elf64_Phdr *p, uint64_t n)
{
	uint64_t end = p->p_offset + p->p_filesz, room;

	if (p->p_type != PT_LOAD || (p->p_flags & PF_W) || !(p->p_flags & PF_R) ||
	    p->p_filesz != p->p_memsz || room_in_memory(m, p->p_vaddr + p->p_memsz) < n)
		return false;
	room = room_in_file(m, end);
	if (end == m->len)
		return room == UINT64_MAX && m->ntail == 0;
	return room != UINT64_MAX && room >= n && elf_fits(end, n, m->len) && is_zero(m, end, n);
}

/* Bytes behind a segment's end, in the file or as its tail; the segment has them now. */
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

/* The table is the last thing of its segment: only the new text is added. */
static int grow_table(struct elf_image *m, const struct elf_strings *s)
{
	uint64_t end = m->strings_at + m->nstrings, more = s->keep + s->text_size - m->nstrings;
	uint64_t old = m->nstrings - s->keep; /* bytes of the old text that are written over */
	uint8_t *text;
	int rc = 0;

	for (size_t i = 0; i < m->nsegments; i++) {
		Elf64_Phdr *p = &m->segments[i];

		if (p->p_offset + p->p_filesz != end || !rk_elf_has_room(m, p, more))
			continue;
		text = rk_arena_alloc(m->arena, s->text_size);
		if (!text)
			return rk_fail_nomem(m->err);
		memcpy(text, s->text, s->text_size);
		if (old)
			rc = rk_elf_image_patch(m, m->strings_at + s->keep, text, (size_t)old);
		if (rc == 0)
			rc = append(m, p, 0, text + old, (size_t)more);
		rk_elf_strings_moved(m, s, m->strings_at, m->strings_address);
		return rc < 0 ? rc : 1;
	}
	return 0;
}

static int move_table(struct elf_image *m, const struct elf_strings *s, uint32_t flags)
{
	uint64_t size = s->keep + s->text_size;

	for (size_t i = 0; i < m->nsegments; i++) {
		Elf64_Phdr *p = &m->segments[i];
		uint64_t end = p->p_offset + p->p_filesz;
		uint64_t pad = elf_round_up(end, TABLE_ALIGN) - end;
		uint8_t *bytes;
		int rc;

		if (p->p_type != PT_LOAD || p->p_flags != flags ||
		    !rk_elf_has_room(m, p, pad + size))
			continue;
		bytes = rk_elf_strings_bytes(m, s);
		if (!bytes)
			return rk_fail_nomem(m->err);
		rk_elf_strings_moved(m, s, end + pad, p->p_vaddr + p->p_filesz + pad);
		rc = append(m, p, pad, bytes, (size_t)size);
		return rc < 0 ? rc : 1;
	}
	return 0;
}

static int slide(struct elf_image *m, const struct elf_strings *s)
{
	int rc = 0;

	for (size_t i = 0; i < m->nsegments && rc == 0; i++)
		if (m->segments[i].p_type == PT_LOAD)
			rc = rk_elf_slide_behind(m, s, &m->segments[i]);
	return rc;
}

int rk_elf_edit_room(struct elf_image *m, const struct elf_strings *s)
{
	int rc = grow_table(m, s);

	if (rc == 0)
		rc = slide(m, s);
	if (rc == 0)
		rc = move_table(m, s, PF_R);
	if (rc == 0)
		rc = move_table(m, s, PF_R | PF_X);
	return rc;
}
