/*
 * elf_edit_slide.c - sections pushed up a little, to make place before them.
 *
 * Before the string table lie, in most files, the hash table and the symbols; behind it versions and
 * relocations: all of them found by dynamic entries, none by code. So the string table can grow by
 * what its segment's last page has free, and where it leaves for another segment, its old place lets
 * the sections before it make room for one more program header.
 */
#include <string.h>

#include "pack/elf/elf_edit_impl.h"
#include "pack/elf/elf_edit_move.h"

enum { MAX_BEHIND = 2 << 20, MAX_BEFORE = 8 << 20 };

/* `lead` bytes and then the block's, written from `at` on. */
static int write_moved(struct elf_image *m, const struct elf_block *b, uint64_t at,
		       const uint8_t *lead, size_t nlead, size_t gap)
{
	uint8_t *bytes = rk_arena_alloc(m->arena, nlead + gap + (size_t)b->size);

	if (!bytes)
		return rk_fail_nomem(m->err);
	if (nlead)
		memcpy(bytes, lead, nlead);
	memcpy(bytes + nlead + gap, m->data + b->at, (size_t)b->size);
	return rk_elf_image_patch(m, at, bytes, nlead + gap + (size_t)b->size);
}

int rk_elf_slide_headers(struct elf_image *m)
{
	uint64_t first = m->head.e_phoff + m->nsegments * sizeof(*m->segments), step;
	struct elf_block b;
	int rc;

	if (m->strings_at <= first || m->strings_at - first > MAX_BEFORE ||
	    !rk_elf_block_take(m, first, m->strings_at - first, &b))
		return 0;
	step = elf_round_up(sizeof(*m->segments), b.align);
	if (m->nstrings < step || b.address + b.size != m->strings_address)
		return 0;
	rc = rk_elf_block_move(m, &b, b.at + step, b.address + step);
	if (rc == 0)
		rc = write_moved(m, &b, b.at + step, NULL, 0, 0);
	return rc < 0 ? rc : 1;
}

int rk_elf_slide_behind(struct elf_image *m, const struct elf_strings *s, Elf64_Phdr *p)
{
	uint64_t from = m->strings_at + m->nstrings, end = p->p_offset + p->p_filesz;
	uint64_t more = s->keep + s->text_size - m->nstrings, step;
	struct elf_block b;
	int rc;

	if (m->strings_at < p->p_offset || from >= end || end - from > MAX_BEHIND ||
	    !rk_elf_block_take(m, from, end - from, &b))
		return 0;
	step = elf_round_up(more, b.align);
	if (end == m->len || !rk_elf_has_room(m, p, step))
		return 0;
	rc = rk_elf_block_move(m, &b, b.at + step, b.address + step);
	if (rc == 0)
		rc = write_moved(m, &b, m->strings_at + s->keep, (const uint8_t *)s->text,
				 s->text_size, (size_t)(step - more));
	p->p_filesz += step;
	p->p_memsz = p->p_filesz;
	rk_elf_strings_moved(m, s, m->strings_at, m->strings_address);
	return rc < 0 ? rc : 1;
}

bool rk_elf_take_own_segment(struct elf_image *m, struct elf_block *ret)
{
	Elf64_Phdr *p = NULL;
	uint64_t end;

	for (size_t i = 0; i < m->nsegments; i++)
		if (m->segments[i].p_type == PT_LOAD)
			p = &m->segments[i];
	if (!p || p->p_flags != PF_R || p->p_filesz != p->p_memsz || m->strings_at < p->p_offset ||
	    p == m->segments)
		return false;
	end = m->strings_at + m->nstrings;
	if (end != p->p_offset + p->p_filesz)
		return false;
	*ret = (struct elf_block){ .align = 1 };
	if (m->strings_at > p->p_offset &&
	    !rk_elf_block_take(m, p->p_offset, m->strings_at - p->p_offset, ret))
		return false;
	memmove(p, p + 1, (size_t)(m->segments + m->nsegments - p - 1) * sizeof(*p));
	m->nsegments--;
	return true;
}
