/* elf_edit_move.h - sections that can be elsewhere: which, and what must be told of it. */
#ifndef RK_ELF_EDIT_MOVE_H
#define RK_ELF_EDIT_MOVE_H

#include "pack/elf/elf_edit_impl.h"

/* Whole sections and notes, moved as they lie. */
struct elf_block {
	uint64_t at, size, align;
	uint64_t address; /* of `at` in memory */
	uint64_t free_to; /* what was behind this is cleared in the old place; 0: nothing is */
};

/*
 * The block of at most `limit` bytes that must go so that the table has one more header; size 0:
 * the bytes are nobody's. False: something lies there that cannot move.
 */
bool rk_elf_block_find(const struct elf_image *m, uint64_t limit, struct elf_block *ret);
/* All of [at, at + size), when all that lies there can move. */
bool rk_elf_block_take(const struct elf_image *m, uint64_t at, uint64_t size,
		       struct elf_block *ret);
/* Everything that points to it points to `at` and `address` from now on. */
int rk_elf_block_move(struct elf_image *m, const struct elf_block *b, uint64_t at,
		      uint64_t address);

#endif
