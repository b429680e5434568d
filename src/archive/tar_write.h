/* tar_write.h - a tar archive (POSIX ustar, pax where it must be); sizes are known before. */
#ifndef RK_TAR_WRITE_H
#define RK_TAR_WRITE_H

#include "base/bytes.h"
#include "io/file.h"
#include "io/output.h"

enum { RK_TAR_NAME_MAX = 100, RK_TAR_BLOCK = 512 };

enum rk_tar_type { RK_TAR_FILE = '0', RK_TAR_LINK = '2', RK_TAR_DIR = '5' };

struct rk_tar_member {
	const char *name; /* bytes as they are; not empty; a folder's without the slash at its end */
	enum rk_tar_type type;
	const char *link; /* the text of a link, else NULL */
	unsigned mode;    /* permission bits */
	uint64_t size;    /* of a file, else 0 */
	int64_t mtime;    /* seconds; before 1970 is 1970 */
};

/*
 * Appends all blocks that stand before a member's content: its header and, where a name or the text of
 * a link has no room there, a pax header before it. Owner is 0, without a name. Nothing but the arguments
 * decides about the bytes.
 */
void rk_tar_put(struct rk_bytes *out, const struct rk_tar_member *m);
/* Zeros between a content of this size and the next header; at the end of all are two blocks of them. */
size_t rk_tar_padding(uint64_t size);

/*
 * A file's header; `size` bytes and rk_tar_padding zeros must follow. Sizes past 8 GiB are written as GNU tar
 * does. The same arguments give the same bytes: owner and times are zero, the mode is `mode`.
 */
int rk_tar_header(struct rk_output *out, const char *name, uint64_t size, unsigned mode,
		  struct rk_error *err);
/* A whole member from memory, or from a temporary file. */
int rk_tar_file(struct rk_output *out, const char *name, const void *data, size_t len,
		struct rk_error *err);
int rk_tar_spill(struct rk_output *out, const char *name, struct rk_spill *spill,
		 struct rk_error *err);
int rk_tar_end(struct rk_output *out, struct rk_error *err);

#endif
