/*
 * content.h - the content of a file in a package: ranges of other files, with edits, and generated
 * bytes. Any thread can read at any offset; nothing is copied until it goes into its package.
 */
#ifndef RK_CONTENT_H
#define RK_CONTENT_H

#include <stdbool.h>

#include "base/alloc.h"
#include "io/file.h"
#include "pack/elf/edit.h"

/* Where bytes come from: a file, or a range of the spill (unpacked archives). */
struct rk_origin {
	const char *path; /* NULL: in the spill */
	struct rk_spill *spill;
	uint64_t offset; /* in the spill */
	uint64_t size;
	uint64_t dev, ino; /* of `path` when we found it; 0: unknown */
	int64_t mtime_ns;
	const char *name; /* for messages: "base_lib_generic.tar.xz: lib/x.so" */
};

enum rk_piece_kind { RK_PIECE_BYTES, RK_PIECE_ORIGIN, RK_PIECE_ZEROS };

struct rk_piece {
	enum rk_piece_kind kind;
	uint64_t at, size; /* position in the content; the size is after the edit */
	const void *bytes;
	const struct rk_origin *origin;
	const struct rk_elf_edit *edit; /* NULL: unchanged */
};

/* A sequence of pieces. */
struct rk_content {
	uint64_t size;
	struct rk_piece *pieces;
	size_t n, cap;
};

/* The arena owns all memory. */
int rk_content_new(struct rk_arena *a, struct rk_content **ret, struct rk_error *err);
int rk_content_bytes(struct rk_arena *a, struct rk_content *c, const void *p, size_t len,
		     struct rk_error *err); /* borrowed, not copied */
int rk_content_origin(struct rk_arena *a, struct rk_content *c, const struct rk_origin *o,
		      const struct rk_elf_edit *edit, struct rk_error *err);
int rk_content_zeros(struct rk_arena *a, struct rk_content *c, uint64_t n, struct rk_error *err);
/* Appends all pieces of `more`. */
int rk_content_append(struct rk_arena *a, struct rk_content *c, const struct rk_content *more,
		      struct rk_error *err);

/*
 * The read function of struct rk_zip_member; `content` is a struct rk_content. It is an error if a
 * file has shrunk.
 */
int rk_content_read(const void *content, uint64_t offset, void *to, size_t len,
		    struct rk_error *err);

struct stat;
int64_t rk_origin_time(const struct stat *st); /* for mtime_ns */

/* Reads the first bytes of an origin. *ret_len < len only if the origin is shorter. */
int rk_origin_head(const struct rk_origin *o, void *to, size_t len, size_t *ret_len,
		   struct rk_error *err);
/* Reads exactly len bytes, which must be inside the origin. */
int rk_origin_read(const struct rk_origin *o, uint64_t offset, void *to, size_t len,
		   struct rk_error *err);
/* The whole origin for random access: its bytes must be loaded (io/file.h). */
int rk_origin_view(const struct rk_origin *o, struct rk_view *ret, struct rk_error *err);

#endif
