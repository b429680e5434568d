/*
 * elf_edit_segment.c - one new read-only segment at the end of the file, with the longer string table.
 *
 * Its program header needs 56 bytes more. The table of headers stays where it is, because kernels
 * tell a program the table's address by the place in the file, and tools that strip a file expect it
 * there; so what lies behind the table moves up into the string table's old place, or, small
 * sections alone, to the new segment. A library's table is read by its place in the file: there
 * PT_PHDR can be done without, and as a last resort the table itself moves.
 */
#include <string.h>

#include "pack/elf/elf_edit_impl.h"
#include "pack/elf/elf_edit_move.h"

enum { TAIL_ALIGN = 16, MOVE_SMALL = 4 << 10, MOVE_LARGE = 16 << 20 };
#define MAX_STRINGS ((uint64_t)256 << 20)
#define MAX_GAP ((uint64_t)1 << 30)

/* Where the new header comes from. */
enum slot { SLOT_SPARE, SLOT_GROW, SLOT_MOVE };

struct new_segment {
	enum slot slot;
	struct elf_block block; /* what makes place for the header; size 0: nothing */
	uint64_t at, address, align;
	uint64_t gap;                            /* before it, in memory */
	uint64_t block_at, table_at, strings_at; /* counted from `at` */
	uint64_t size;
};

/* Takes a header away whose slot will be used. */
static bool drop_segment(struct elf_image *m, uint32_t type)
{
	for (size_t i = 0; i < m->nsegments; i++) {
		if (m->segments[i].p_type != type)
			continue;
		memmove(&m->segments[i], &m->segments[i + 1],
			(m->nsegments - i - 1) * sizeof(*m->segments));
		m->nsegments--;
		return true;
	}
	return false;
}

static int choose_slot(struct elf_image *m, struct new_segment *n)
{
	int rc;

	n->slot = SLOT_SPARE;
	if (rk_elf_take_own_segment(m, &n->block) || drop_segment(m, PT_NULL))
		return 0;
	n->slot = SLOT_GROW;
	rc = rk_elf_slide_headers(m);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (rk_elf_block_find(m, m->interpreter ? MOVE_LARGE : MOVE_SMALL, &n->block))
		return 0;
	n->block.size = 0;
	if (m->interpreter)
		return rk_fail(m->err, RK_E_UNSUPPORTED,
			       "cannot edit this ELF file: no room for another program header");
	n->slot = drop_segment(m, PT_PHDR) ? SLOT_SPARE : SLOT_MOVE;
	return 0;
}

/*
 * The first place behind the file's end that keeps the block's alignment. The block is not at the
 * segment's very beginning: of two segments that begin at one place, some tools take the first in
 * the table (PT_INTERP) for the one that has the alignment.
 */
static void choose_place(const struct elf_image *m, struct new_segment *n)
{
	uint64_t align = n->block.align > TAIL_ALIGN ? n->block.align : TAIL_ALIGN;

	n->at = elf_round_up(m->len, align);
	if (n->block.size == 0)
		return;
	n->at += n->block.at & (align - 1);
	if (n->at - m->len >= align)
		n->at -= align;
	n->block_at = align;
}

/*
 * A loader takes the first segment whose pages have the place of the table: it may not be in the
 * last page of another one, where memory has zeros.
 */
static void leave_pages(const struct elf_image *m, struct new_segment *n)
{
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];
		uint64_t end = elf_round_up(p->p_offset + p->p_filesz, m->page);

		if (p->p_type == PT_LOAD && n->at < end)
			n->at = end;
	}
}

/*
 * Above all others, and as far from a page's beginning as in the file. The gap is for eu-elflint,
 * which takes a relocation for one of read-only data when the symbol's size reaches so far.
 */
static void choose_address(const struct elf_image *m, struct new_segment *n)
{
	uint64_t end = 0;

	n->align = m->page;
	for (size_t i = 0; i < m->nsegments; i++) {
		const Elf64_Phdr *p = &m->segments[i];

		if (p->p_type != PT_LOAD)
			continue;
		n->align = p->p_align > n->align ? p->p_align : n->align;
		end = p->p_vaddr + p->p_memsz > end ? p->p_vaddr + p->p_memsz : end;
	}
	end += n->gap < MAX_GAP ? n->gap : 0;
	n->address = elf_round_up(end, n->align) + (n->at & (n->align - 1));
}

static void lay_out(const struct elf_image *m, const struct elf_strings *s, struct new_segment *n)
{
	uint64_t table = 0;

	choose_place(m, n);
	if (n->slot == SLOT_MOVE)
		leave_pages(m, n);
	choose_address(m, n);
	if (n->slot == SLOT_MOVE)
		table = (m->nsegments + 1) * sizeof(*m->segments);
	n->table_at = elf_round_up(n->block_at + n->block.size, 8);
	n->strings_at = n->table_at + table;
	n->size = n->strings_at + s->keep + s->text_size;
}

/* Behind the last of its kind: they stand in ascending order. */
static void insert_segment(struct elf_image *m, const struct new_segment *n)
{
	size_t at = 0;

	for (size_t i = 0; i < m->nsegments; i++)
		if (m->segments[i].p_type == PT_LOAD)
			at = i + 1;
	memmove(&m->segments[at + 1], &m->segments[at], (m->nsegments - at) * sizeof(*m->segments));
	m->segments[at] = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = PF_R,
					.p_offset = n->at,
					.p_vaddr = n->address,
					.p_paddr = n->address,
					.p_filesz = n->size,
					.p_memsz = n->size,
					.p_align = n->align };
	m->nsegments++;
}

static void update_table(struct elf_image *m, const struct new_segment *n)
{
	m->head.e_phnum = (Elf64_Half)m->nsegments;
	if (n->slot == SLOT_MOVE) {
		m->head.e_phoff = n->at + n->table_at;
		m->table_in_tail = true;
	}
	for (size_t i = 0; i < m->nsegments; i++) {
		Elf64_Phdr *p = &m->segments[i];

		if (p->p_type == PT_PHDR)
			p->p_filesz = p->p_memsz = m->nsegments * sizeof(*p);
	}
}

static int write_tail(struct elf_image *m, const struct elf_strings *s, const struct new_segment *n)
{
	uint8_t *tail = rk_arena_alloc(m->arena, (size_t)n->size);

	if (!tail)
		return rk_fail_nomem(m->err);
	if (n->block.size)
		memcpy(tail + n->block_at, m->data + n->block.at, (size_t)n->block.size);
	if (n->slot == SLOT_MOVE)
		memcpy(tail + n->table_at, m->segments, m->nsegments * sizeof(*m->segments));
	memcpy(tail + n->strings_at, m->data + m->strings_at, (size_t)s->keep);
	memcpy(tail + n->strings_at + s->keep, s->text, s->text_size);
	m->tail = tail;
	m->tail_at = n->at;
	m->ntail = (size_t)n->size;
	return 0;
}

int rk_elf_edit_segment(struct elf_image *m, const struct elf_strings *s)
{
	struct new_segment n = { 0 };
	int rc;

	if (m->nstrings > MAX_STRINGS)
		return rk_fail(m->err, RK_E_UNSUPPORTED,
			       "cannot edit this ELF file: its string table is too large to move");
	n.gap = rk_elf_largest_symbol(m); /* while all is where the file has it */
	rc = choose_slot(m, &n);
	if (rc < 0)
		return rc;
	lay_out(m, s, &n);
	if (n.block.size) {
		rc = rk_elf_block_move(m, &n.block, n.at + n.block_at, n.address + n.block_at);
		if (rc < 0)
			return rc;
	}
	insert_segment(m, &n);
	update_table(m, &n);
	rk_elf_strings_moved(m, s, n.at + n.strings_at, n.address + n.strings_at);
	return write_tail(m, s, &n);
}
