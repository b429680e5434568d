/*
 * tar_write.h - writes a tar archive (POSIX ustar, pax if necessary) of members with known sizes.
 */
#ifndef RK_TAR_WRITE_H
#define RK_TAR_WRITE_H

#include "base/bytes.h"
#include "io/file.h"
#include "io/output.h"

enum { RK_TAR_NAME_MAX = 100, RK_TAR_BLOCK = 512 };

enum rk_tar_type { RK_TAR_FILE = '0', RK_TAR_LINK = '2', RK_TAR_DIR = '5' };

struct rk_tar_member {
	const char *name; /* any bytes; not empty; folders without a trailing slash */
	enum rk_tar_type type;
	const char *link; /* the text of a link, else NULL */
	unsigned mode;    /* permission bits */
	uint64_t size;    /* of a file, else 0 */
	int64_t mtime;    /* seconds; times before 1970 become 1970 */
};

/*
 * Appends all blocks before a member's content: its header and, if a name or link text does not
 * fit, a pax header before it. The owner is 0, without a name. The bytes depend only on the
 * arguments.
 */
void rk_tar_put(struct rk_bytes *out, const struct rk_tar_member *m);
/*
 * Number of zeros between content of this size and the next header. Two blocks of zeros end the
 * archive.
 */
size_t rk_tar_padding(uint64_t size);

/*
 * Writes the header of a file; `size` bytes and rk_tar_padding zeros must follow. Sizes above 8 GiB
 * are written as GNU tar does. The same arguments give the same bytes: owner and times are zero.
 */
int rk_tar_header(struct rk_output *out, const char *name, uint64_t size, unsigned mode,
		  struct rk_error *err);
/* Writes a whole member from memory, or from a temporary file. */
int rk_tar_file(struct rk_output *out, const char *name, const void *data, size_t len,
		struct rk_error *err);
int rk_tar_spill(struct rk_output *out, const char *name, struct rk_spill *spill,
		 struct rk_error *err);
int rk_tar_end(struct rk_output *out, struct rk_error *err);

#endif
