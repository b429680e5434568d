/*
 * zip_write.h - a zip archive whose members are packed side by side.
 *
 * The same members give the same bytes, whatever the number of threads: members above a limit are
 * packed in pieces of fixed size that join to one deflate stream.
 */
#ifndef RK_ZIP_WRITE_H
#define RK_ZIP_WRITE_H

#include "base/pool.h"
#include "base/sha256/sha256.h"
#include "io/output.h"

struct rk_zip_member {
	const char *name; /* UTF-8, relative, no "..": the caller's care */
	uint32_t mode;    /* of st_mode, with the file type */
	uint64_t size;
	bool stored; /* not packed, whatever the level */
	/* Exactly len bytes from `offset`; called by several threads at once. */
	int (*read)(const void *arg, uint64_t offset, void *to, size_t len, struct rk_error *err);
	const void *arg;
	/* filled by rk_zip_add: */
	uint8_t sha256[RK_SHA256_BYTES];
	uint32_t crc;
	uint64_t packed;
};

struct rk_zip_options {
	int level;     /* 0 stored, 1 to 12 */
	int64_t epoch; /* seconds: the time of every member; before 1980 is 1980 */
	/*
	 * May be NULL. `done` of the bytes given to rk_zip_add so far; not 0 stops: RK_E_CANCELLED. Called
	 * by any thread of the pool, by one at a time.
	 */
	int (*progress)(void *arg, uint64_t done);
	void *progress_arg;
};

struct rk_zip;

/* `out` and `pool` are borrowed until rk_zip_finish. */
int rk_zip_new(struct rk_output *out, struct rk_pool *pool, const struct rk_zip_options *o,
	       struct rk_zip **ret, struct rk_error *err);
/*
 * Any number of times; members[] are written in order and may be let go afterwards. A member that does
 * not shrink is stored. After a failure the archive is good for rk_zip_free alone.
 */
int rk_zip_add(struct rk_zip *z, struct rk_zip_member *members, size_t n, struct rk_error *err);
/* The directory at the end; Zip64 where it must be. */
int rk_zip_finish(struct rk_zip *z, struct rk_error *err);
void rk_zip_free(struct rk_zip *z); /* NULL is fine */

/* A `read` for bytes in memory: arg is where they are. */
int rk_zip_read_memory(const void *arg, uint64_t offset, void *to, size_t len,
		       struct rk_error *err);

#endif
