/*
 * image.h - an ELF file that is being edited: its headers in memory, and sections that can move.
 *
 * The headers and the dynamic section are read into an image, edit.c changes the image, and at the end
 * what differs from the file becomes patches. String tables and moved sections are patches at once, or
 * a part of the tail.
 */
#ifndef RK_ELF_IMAGE_H
#define RK_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>

#include "pack/elf/edit.h"

struct elf_image {
	const uint8_t *data;
	uint64_t len;
	struct rk_arena *arena;
	struct rk_error *err;
	Elf64_Ehdr head;
	Elf64_Phdr *segments; /* room for one more */
	size_t nsegments;
	Elf64_Shdr *sections; /* NULL: the file has none */
	size_t nsections;
	bool interpreter; /* a program: what starts it reads its program headers in memory */
	/* of the dynamic section: used entries, and how many would fit */
	Elf64_Dyn *entries;
	size_t nentries, nslots;
	uint64_t entries_at;
	/* of the dynamic string table as it is in the file */
	uint64_t strings_at, strings_address, nstrings;
	size_t strings_section; /* 0: none */
	uint64_t page;          /* the largest the machine may have */

	/* the changes so far */
	struct rk_elf_patch *patches;
	size_t npatches, cap_patches;
	uint8_t *tail;
	uint64_t tail_at;
	size_t ntail;
	bool table_in_tail; /* the program headers are written there */
};

static inline bool elf_fits(uint64_t at, uint64_t size, uint64_t len)
{
	return at <= len && size <= len - at;
}

/* Do [a, a + na) and [b, b + nb) have a byte in common? The sums do not overflow. */
static inline bool elf_meet(uint64_t a, uint64_t na, uint64_t b, uint64_t nb)
{
	return na && nb && a < b + nb && b < a + na;
}

/* `align` is a power of two; the caller has seen that it does not overflow. */
static inline uint64_t elf_round_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

static inline bool elf_is_run_path(const Elf64_Dyn *d)
{
	return d->d_tag == DT_RPATH || d->d_tag == DT_RUNPATH;
}

/* Reads and checks. RK_E_UNSUPPORTED or RK_E_FORMAT with the reason. */
int rk_elf_image_read(struct elf_image *m);
/* Bytes over those at `offset`; borrowed, of the arena. */
int rk_elf_image_patch(struct elf_image *m, uint64_t offset, const void *bytes, size_t len);
/* Patches for what differs from the file; afterwards all are in order, none over another. */
int rk_elf_image_finish(struct elf_image *m);

/*
 * Is [offset, offset + len] of the string table, a text and its end, used by the run path alone?
 * False where that is unknown.
 */
bool rk_elf_text_is_alone(const struct elf_image *m, uint64_t offset, uint64_t len);
/* Is the list of wanted versions either in the range of addresses as a whole, or not at all? */
bool rk_elf_needs_whole(const struct elf_image *m, uint64_t address, uint64_t size);
/* The size of the largest dynamic symbol; 0: unknown. */
uint64_t rk_elf_largest_symbol(const struct elf_image *m);

/* ---- sections that can move (move.c) ---- */

/* Whole sections and notes that move together. */
struct elf_block {
	uint64_t at, size, align;
	uint64_t address; /* of `at` in memory */
	uint64_t free_to; /* what was behind this is cleared in the old place; 0: nothing is */
};

/*
 * The block of at most `limit` bytes that must go so that the table has one more header; size 0:
 * the bytes are unused. False: something is there that cannot move.
 */
bool rk_elf_block_find(const struct elf_image *m, uint64_t limit, struct elf_block *ret);
/* All of [at, at + size), when everything there can move. */
bool rk_elf_block_take(const struct elf_image *m, uint64_t at, uint64_t size,
		       struct elf_block *ret);
/* Everything that points to it points to `at` and `address` from now on. */
int rk_elf_block_move(struct elf_image *m, const struct elf_block *b, uint64_t at,
		      uint64_t address);

#endif
