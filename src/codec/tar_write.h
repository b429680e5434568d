/* tar_write.h - a tar archive (POSIX ustar) written in one go; sizes are known before. */
#ifndef RK_TAR_WRITE_H
#define RK_TAR_WRITE_H

#include "io/output.h"
#include "io/spill.h"

enum { RK_TAR_NAME_MAX = 100 };

/*
 * A file's header; `size` bytes and rk_tar_pad must follow. Sizes past 8 GiB are written as GNU tar
 * does. The same arguments give the same bytes: owner and times are zero, the mode is `mode`.
 */
int rk_tar_header(struct rk_output *out, const char *name, uint64_t size, unsigned mode,
		  struct rk_error *err);
int rk_tar_pad(struct rk_output *out, uint64_t size, struct rk_error *err);
/* A whole member from memory, or from a temporary file. */
int rk_tar_file(struct rk_output *out, const char *name, const void *data, size_t len,
		struct rk_error *err);
int rk_tar_spill(struct rk_output *out, const char *name, struct rk_spill *spill,
		 struct rk_error *err);
int rk_tar_end(struct rk_output *out, struct rk_error *err);

#endif
