/*
 * edit.h - another RPATH for an ELF file, as a list of changes to its bytes.
 *
 * Nothing is rewritten: a change is some bytes over old ones, or bytes behind the old end, so that a
 * library of gigabytes is edited while it is copied, in pieces. Ways, the first that does: the tag's
 * kind alone; the text in its old place, or where the string table has it already; the string table
 * longer where a read-only segment has room up to its end of page, with what lies behind it moved up
 * or as a whole; one new read-only segment at the end of the file, for whose program header the
 * sections before the string table move up into its old place.
 */
#ifndef RK_ELF_EDIT_H
#define RK_ELF_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"

enum rk_rpath_tag { RK_RPATH, RK_RUNPATH };

struct rk_elf_patch {
	uint64_t offset;
	const uint8_t *bytes;
	size_t len;
};

/* How it was done, for people. */
enum rk_elf_way { RK_ELF_SAME, RK_ELF_TAG, RK_ELF_IN_PLACE, RK_ELF_ROOM, RK_ELF_SEGMENT };

struct rk_elf_edit {
	enum rk_elf_way way;
	const struct rk_elf_patch *patches; /* by offset, none over another, all below old_size */
	size_t npatches;
	uint64_t old_size, new_size; /* zeros from old_size to tail_at */
	uint64_t tail_at;
	const uint8_t *tail;
	size_t ntail;
};

/*
 * The changes after which the file has exactly one run-path entry, of kind `tag`, with the text
 * `rpath`; NULL keeps the text (only the kind changes; RK_ELF_SAME when there is none). SONAME,
 * NEEDED and everything else stay. *ret is the arena's.
 * RK_E_UNSUPPORTED: a static file, 32 bits, a foreign byte order, no room for the entry: the file
 * must stay as it is, and the message says why.
 */
int rk_elf_edit(const void *data, size_t len, const char *rpath, enum rk_rpath_tag tag,
		struct rk_arena *arena, struct rk_elf_edit *ret, struct rk_error *err);

/*
 * `buf` has the old file's bytes from `offset` on as far as they go; afterwards it has those of the
 * new one. Any thread.
 */
void rk_elf_edit_apply(const struct rk_elf_edit *e, uint64_t offset, void *buf, size_t len);

#endif
