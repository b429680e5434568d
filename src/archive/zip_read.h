/* zip_read.h - reads a zip archive: checks its directory, and reads its members. */
#ifndef RK_ZIP_READ_H
#define RK_ZIP_READ_H

#include <stdbool.h>

#include "io/file.h"

struct rk_zip_entry {
	const char *name; /* as in the archive, terminated; may contain any bytes, also NUL */
	size_t name_len;
	bool utf8;       /* marked as UTF-8; if not, other readers may decode it differently */
	uint32_t mode;   /* of st_mode; 0 when the archive was not made on Unix */
	uint16_t method; /* 0 stored, 8 deflated; others cannot be read */
	uint32_t crc;
	uint64_t size, packed, offset; /* offset of the local header */
	uint64_t data;                 /* offset of the packed bytes */
};

struct rk_zip_file;

/*
 * Checks every number in the directory against the file, and each local header against the
 * directory. Refuses members that overlap, are encrypted or have a size that deflate cannot reach,
 * and anything between the members and the end that programs interpret differently.
 */
int rk_zip_open(const char *path, struct rk_zip_file **ret, struct rk_error *err);
/* In the order of the directory; names may occur twice. Borrowed. */
const struct rk_zip_entry *rk_zip_entries(const struct rk_zip_file *z, size_t *ret_n);
/* The first entry with this name. */
const struct rk_zip_entry *rk_zip_find(const struct rk_zip_file *z, const char *name);
/*
 * Passes the member's bytes to `take` in pieces, in order; checks size and CRC at the end. Bounded
 * memory. `take` returns < 0 to stop. Several threads may read from one archive.
 */
int rk_zip_each_bytes(struct rk_zip_file *z, const struct rk_zip_entry *e,
		      int (*take)(void *arg, const void *p, size_t len, struct rk_error *err),
		      void *arg, struct rk_error *err);
/* Reads a whole small member; RK_E_LIMIT above max. *ret ends with a NUL that is not counted. */
int rk_zip_load(struct rk_zip_file *z, const struct rk_zip_entry *e, size_t max, char **ret,
		size_t *ret_len, struct rk_error *err);
void rk_zip_close(struct rk_zip_file *z); /* NULL is fine */

#endif
