/*
 * zip_write.h - writes a zip archive and compresses its members in parallel.
 *
 * The same members give the same bytes for any number of threads: large members are compressed in
 * pieces of fixed size that are joined into one deflate stream.
 */
#ifndef RK_ZIP_WRITE_H
#define RK_ZIP_WRITE_H

#include "base/pool.h"
#include "base/sha256/sha256.h"
#include "io/output.h"

struct rk_zip_member {
	const char *name; /* UTF-8, relative, no "..": the caller checks */
	uint32_t mode;    /* of st_mode, with the file type */
	uint64_t size;
	bool stored; /* not compressed, whatever the level */
	/* Reads exactly len bytes at `offset`; called by several threads at once. */
	int (*read)(const void *arg, uint64_t offset, void *to, size_t len, struct rk_error *err);
	const void *arg;
	/* filled by rk_zip_add: */
	uint8_t sha256[RK_SHA256_BYTES];
	uint32_t crc;
	uint64_t packed;
};

struct rk_zip_options {
	int level;     /* 0 stored, 1 to 12 */
	int64_t epoch; /* seconds, for all members; times before 1980 become 1980 */
	/*
	 * May be NULL. `done` counts the bytes passed to rk_zip_add so far; a result other than 0
	 * stops with RK_E_CANCELLED. Called by any thread of the pool, one at a time.
	 */
	int (*progress)(void *arg, uint64_t done);
	void *progress_arg;
};

struct rk_zip;

/* `out` and `pool` are borrowed until rk_zip_finish. */
int rk_zip_new(struct rk_output *out, struct rk_pool *pool, const struct rk_zip_options *o,
	       struct rk_zip **ret, struct rk_error *err);
/*
 * May be called any number of times. Members are written in order and may be freed afterwards. A
 * member that does not shrink is stored. After a failure only rk_zip_free may be called.
 */
int rk_zip_add(struct rk_zip *z, struct rk_zip_member *members, size_t n, struct rk_error *err);
/* Writes the directory at the end; Zip64 if necessary. */
int rk_zip_finish(struct rk_zip *z, struct rk_error *err);
void rk_zip_free(struct rk_zip *z); /* NULL is fine */

/* A `read` function for bytes in memory; arg points to them. */
int rk_zip_read_memory(const void *arg, uint64_t offset, void *to, size_t len,
		       struct rk_error *err);

#endif
