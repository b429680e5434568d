/* file.h - reading files and looking at them; every system call of the readers is here. */
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

#endif
