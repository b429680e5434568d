/*
 * edit.h - set the run path of an ELF file, as a list of changes to its bytes.
 *
 * The file is not rewritten. A change either overwrites bytes or appends bytes after the old end,
 * so a library of several gigabytes is edited in pieces while it is copied. The first method that
 * works is used:
 *
 * - change only the kind of the entry (RPATH, RUNPATH);
 * - write the text in its old place, or use it where the string table already has it;
 * - grow the string table into the free end of a read-only segment's last page: in place, with the
 *   sections after it moved up, or moved there as a whole;
 * - add a read-only segment at the end of the file. The sections before the string table move up
 *   into its old place, which makes space for the new program header.
 */
#ifndef RK_ELF_EDIT_H
#define RK_ELF_EDIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/file.h"

enum rk_rpath_tag { RK_RPATH, RK_RUNPATH };

struct rk_elf_patch {
	uint64_t offset;
	const uint8_t *bytes;
	size_t len;
};

/* The method that was used, for people. */
enum rk_elf_way { RK_ELF_SAME, RK_ELF_TAG, RK_ELF_IN_PLACE, RK_ELF_ROOM, RK_ELF_SEGMENT };

struct rk_elf_edit {
	enum rk_elf_way way;
	const struct rk_elf_patch *patches; /* sorted by offset, no overlaps, all below old_size */
	size_t npatches;
	uint64_t old_size, new_size; /* zeros between old_size and tail_at */
	uint64_t tail_at;
	const uint8_t *tail;
	size_t ntail;
};

/*
 * Finds the changes after which the file has exactly one run-path entry, of kind `tag`, with the
 * text `rpath`. NULL keeps the text: only the kind changes (RK_ELF_SAME if there is no entry).
 * SONAME, NEEDED and everything else stay. The arena owns *ret.
 * RK_E_UNSUPPORTED: the file cannot be edited (static, 32 bits, foreign byte order, no space for
 * the entry); the message says why. RK_E_IO: it cannot be read, or was truncated meanwhile.
 */
int rk_elf_edit_view(struct rk_view *v, const char *rpath, enum rk_rpath_tag tag,
		     struct rk_arena *arena, struct rk_elf_edit *ret, struct rk_error *err);
/* The same for a file in memory. */
int rk_elf_edit(const void *data, size_t len, const char *rpath, enum rk_rpath_tag tag,
		struct rk_arena *arena, struct rk_elf_edit *ret, struct rk_error *err);

/*
 * `buf` has the old file's bytes from `offset` on; they are replaced by the new file's bytes. Any
 * thread.
 */
void rk_elf_edit_apply(const struct rk_elf_edit *e, uint64_t offset, void *buf, size_t len);

#endif
