/* file.h - files in: reading them, temporary bytes on disk, and views of both in place. */
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
	bool seekable; /* a regular file: pread and a second pass work */
};

/* A directory is refused with RK_E_IO. A FIFO or "-" (stdin) opens as not seekable. */
int rk_file_open(const char *path, struct rk_file **ret, struct rk_error *err);
/* Up to len bytes at the current position; *ret_len 0 means the end. Retries short reads. */
int rk_file_read(struct rk_file *f, void *buf, size_t len, size_t *ret_len, struct rk_error *err);
/* As read, at `offset`, moving nothing; only when seekable. Thread-safe. */
int rk_file_pread(struct rk_file *f, void *buf, size_t len, uint64_t offset, size_t *ret_len,
		  struct rk_error *err);
int rk_file_rewind(struct rk_file *f, struct rk_error *err);
void rk_file_close(struct rk_file *f); /* NULL is fine */

/* ---- temporary bytes on disk that vanish with the process ---- */

struct rk_spill;

/* In `dir`, or $TMPDIR, or /tmp when NULL. The file has no name. */
int rk_spill_new(const char *dir, struct rk_spill **ret, struct rk_error *err);
int rk_spill_append(struct rk_spill *s, const void *p, size_t len, uint64_t *ret_offset,
		    struct rk_error *err);
/* Over bytes that are there already (rk_spill_resize made them, or an append). */
int rk_spill_write(struct rk_spill *s, uint64_t offset, const void *p, size_t len,
		   struct rk_error *err);
/* Makes it `size` bytes long; new ones read as zero and take no room until written. */
int rk_spill_resize(struct rk_spill *s, uint64_t size, struct rk_error *err);
/* Exactly len bytes, or an error. Thread-safe against other reads. */
int rk_spill_read(struct rk_spill *s, uint64_t offset, void *p, size_t len, struct rk_error *err);
uint64_t rk_spill_size(const struct rk_spill *s);
int rk_spill_fd(const struct rk_spill *s); /* borrowed */
void rk_spill_free(struct rk_spill *s);    /* NULL is fine */

/* ---- bytes of a file seen in place, for those who jump about in them ---- */

/*
 * Mapped, so that a library of gigabytes costs the pages that are looked at. Nobody may shorten the
 * file meanwhile: reading behind its end would be a SIGBUS.
 */
struct rk_view {
	const void *data; /* "" when len is 0 */
	size_t len;
	void *map;
	size_t map_len;
};

int rk_view_file(struct rk_file *f, struct rk_view *ret, struct rk_error *err);
/* A part of a spill. */
int rk_view_spill(struct rk_spill *s, uint64_t offset, size_t len, struct rk_view *ret,
		  struct rk_error *err);
void rk_view_close(struct rk_view *v); /* and zeroes it; a zeroed one is fine */

#endif
