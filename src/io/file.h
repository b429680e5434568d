/* file.h - reads files, keeps temporary bytes on disk, and gives random access to both. */
#ifndef RK_FILE_H
#define RK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct rk_file {
	int fd;
	char *path;
	uint64_t size; /* bytes; 0 when not seekable */
	bool seekable; /* a regular file: pread and reading twice work */
};

/* A directory is refused with RK_E_IO. A FIFO or "-" (stdin) opens as not seekable. */
int rk_file_open(const char *path, struct rk_file **ret, struct rk_error *err);
/* Up to len bytes at the current position; *ret_len 0 means the end. Retries short reads. */
int rk_file_read(struct rk_file *f, void *buf, size_t len, size_t *ret_len, struct rk_error *err);
/* As read, but at `offset` and without moving the position; only if seekable. Thread-safe. */
int rk_file_pread(struct rk_file *f, void *buf, size_t len, uint64_t offset, size_t *ret_len,
		  struct rk_error *err);
int rk_file_rewind(struct rk_file *f, struct rk_error *err);
void rk_file_close(struct rk_file *f); /* NULL is fine */

/* ---- temporary bytes on disk that disappear with the process ---- */

struct rk_spill;

/* In `dir`, or $TMPDIR, or /tmp when NULL. The file has no name. */
int rk_spill_new(const char *dir, struct rk_spill **ret, struct rk_error *err);
int rk_spill_append(struct rk_spill *s, const void *p, size_t len, uint64_t *ret_offset,
		    struct rk_error *err);
/* Overwrites existing bytes (from rk_spill_resize or an append). */
int rk_spill_write(struct rk_spill *s, uint64_t offset, const void *p, size_t len,
		   struct rk_error *err);
/* Makes it `size` bytes long; new bytes read as zero and use no space until written. */
int rk_spill_resize(struct rk_spill *s, uint64_t size, struct rk_error *err);
/* Reads exactly len bytes, or fails. Safe with other reads at the same time. */
int rk_spill_read(struct rk_spill *s, uint64_t offset, void *p, size_t len, struct rk_error *err);
uint64_t rk_spill_size(const struct rk_spill *s);
int rk_spill_fd(const struct rk_spill *s); /* borrowed */
void rk_spill_free(struct rk_spill *s);    /* NULL is fine */

/* ---- bytes of a file, for random access ---- */

/*
 * A file of gigabytes costs only the parts that are read. Those of a user's file must be loaded
 * first: another process may truncate it, which would raise SIGBUS if it were mapped.
 */
struct rk_view {
	const void *data; /* "" when len is 0 */
	size_t len;
	void *map;
	size_t map_len;
	struct rk_file *file; /* owned; NULL: all bytes are there */
	uint8_t *loaded;      /* one for each block */
	struct rk_error err;  /* the first failure to load */
};

/* On success the view owns `f`. Bytes that were not loaded are zeros. */
int rk_view_file(struct rk_file *f, struct rk_view *ret, struct rk_error *err);
/* A part of a spill: nothing to load. */
int rk_view_spill(struct rk_spill *s, uint64_t offset, size_t len, struct rk_view *ret,
		  struct rk_error *err);
/*
 * Makes [at, at + len), which must be inside the view, readable. A failure is kept in v->err, and
 * the bytes are zeros: look at it after the last load.
 */
void rk_view_load(struct rk_view *v, uint64_t at, uint64_t len);
void rk_view_close(struct rk_view *v); /* and zeroes it; a zeroed one is fine */

#endif
