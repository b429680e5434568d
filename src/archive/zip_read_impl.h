/* zip_read_impl.h - an open archive, as its directory gave it. */
#ifndef RK_ZIP_READ_IMPL_H
#define RK_ZIP_READ_IMPL_H

#include "archive/zip_read.h"

struct rk_zip_file {
	struct rk_file *file;
	struct rk_zip_entry *entries;
	size_t n;
	char *names; /* of all entries, each with its NUL */
};

enum { RK_ZIP_STORED = 0, RK_ZIP_DEFLATED = 8 };

/* Exactly len bytes. */
int rk_zip_pread(struct rk_zip_file *z, void *to, size_t len, uint64_t offset,
		 struct rk_error *err);

#endif
