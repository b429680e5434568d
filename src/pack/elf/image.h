/*
 * image.h - an ELF file that is being edited: its headers in memory, and sections that can move.
 *
 * The headers and the dynamic section are read into an image. edit.c changes the image, and at the
 * end every difference from the file becomes a patch. String tables and moved sections become
 * patches right away, or part of the tail.
 */
#ifndef RK_ELF_IMAGE_H
#define RK_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>

#include "pack/elf/edit.h"
#include "pack/elf/read.h"

/* No address space is larger; sums of two addresses below it do not overflow. */
#define ELF_MAX_ADDRESS ((uint64_t)1 << 62)

struct elf_image {
	struct rk_view *view;
	uint64_t len;
	struct rk_arena *arena;
	struct rk_error *err;
	Elf64_Ehdr head;
	Elf64_Phdr *segments; /* has space for one more; unused ones are zeros */
	size_t nsegments;
	Elf64_Shdr *sections; /* NULL: the file has none */
	size_t nsections;
	bool interpreter;        /* can be started: its program headers are then read in memory */
	uint64_t interpreter_at; /* its name in the file, before it moves */
	/* dynamic section: used entries, and how many would fit */
	Elf64_Dyn *entries;
	size_t nentries, nslots;
	uint64_t entries_at;
	/* dynamic string table, as in the file */
	const uint8_t *strings;
	uint64_t strings_at, strings_address, nstrings;
	size_t strings_section; /* 0: none */
	/* list of needed versions, as in the file; nneeds: its bytes, 0: none */
	uint64_t needs_at, needs_address, nneeds;
	uint64_t page; /* largest page size the machine may have */

	/* the changes so far */
	struct rk_elf_patch *patches;
	size_t npatches, cap_patches;
	uint8_t *tail;
	uint64_t tail_at;
	size_t ntail;
	bool table_in_tail; /* the program headers are in the tail */
};

/* Do [a, a + na) and [b, b + nb) overlap? The sums must not overflow. */
static inline bool elf_meet(uint64_t a, uint64_t na, uint64_t b, uint64_t nb)
{
	return na && nb && a < b + nb && b < a + na;
}

/* `align` must be a power of two; the caller checks for overflow. */
static inline uint64_t elf_round_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

static inline bool elf_is_run_path(const Elf64_Dyn *d)
{
	return d->d_tag == DT_RPATH || d->d_tag == DT_RUNPATH;
}

/* Reads and checks the file. RK_E_UNSUPPORTED or RK_E_FORMAT with the reason. */
int rk_elf_image_read(struct elf_image *m);
/* Replaces the bytes at `offset`. `bytes` is borrowed and must live as long as the arena. */
int rk_elf_image_patch(struct elf_image *m, uint64_t offset, const void *bytes, size_t len);
/* Adds patches for all differences from the file, then sorts the patches; they do not overlap. */
int rk_elf_image_finish(struct elf_image *m);

/* Is the run path the only user of this text in the string table, [offset, offset + len]? */
bool rk_elf_text_is_alone(const struct elf_image *m, uint64_t offset, uint64_t len);
/* Is the list of needed versions entirely inside or entirely outside the range of addresses? */
bool rk_elf_needs_whole(const struct elf_image *m, uint64_t address, uint64_t size);
/* The size of the largest dynamic symbol; 0: unknown. */
uint64_t rk_elf_largest_symbol(const struct elf_image *m);

/* ---- sections that can move (move.c) ---- */

/* The segment with all these bytes of the file; NULL: none. */
const Elf64_Phdr *rk_elf_segment_around(const struct elf_image *m, uint64_t at, uint64_t size);

/* Whole sections and notes that move together. */
struct elf_block {
	uint64_t at, size, align;
	uint64_t address; /* address of `at` in memory */
	uint64_t free_to; /* the old place is cleared from here on; 0: not cleared */
};

/*
 * The block of at most `limit` bytes that must move to make space for one more program header. Size
 * 0: that space is unused already. False: something there cannot move.
 */
bool rk_elf_block_find(const struct elf_image *m, uint64_t limit, struct elf_block *ret);
/* The block [at, at + size) if everything in it can move. */
bool rk_elf_block_take(const struct elf_image *m, uint64_t at, uint64_t size,
		       struct elf_block *ret);
/* Moves the block to `at` and `address` and updates everything that points to it. */
int rk_elf_block_move(struct elf_image *m, const struct elf_block *b, uint64_t at,
		      uint64_t address);
/* Is the old string table all that this segment has? */
bool rk_elf_is_only_strings(const struct elf_image *m, const Elf64_Phdr *p);
/* The end of the last section or note in the segment; the bytes after it are unused. */
uint64_t rk_elf_used_to(const struct elf_image *m, const Elf64_Phdr *p);

#endif
