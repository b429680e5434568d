/* compress.h - decompress gzip, zlib, xz, zstd and Snappy; compress DEFLATE. */
#ifndef RK_COMPRESS_H
#define RK_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/* ---- decompressing a stream, a few bytes at a time ---- */

/* Input and output of one step; the step advances the pointers and reduces the lengths. */
struct rk_unpack_io {
	const uint8_t *in;
	size_t in_len;
	uint8_t *out;
	size_t out_len;
	bool in_last; /* no packed bytes follow those at `in` */
};

struct rk_unpack_ops {
	const char *name; /* "gzip", for messages */
	int (*open)(void **ret, struct rk_error *err);
	/*
	 * 1: go on (a step that moves nothing although in_last is set means that the file is
	 * truncated); 0: the content ends here; < 0: damaged, out of memory, or past a limit. Bytes
	 * before io->out are valid in every case.
	 */
	int (*step)(void *state, struct rk_unpack_io *io, struct rk_error *err);
	/* Starts again at the first byte. */
	int (*rewind)(void *state, struct rk_error *err);
	void (*close)(void *state); /* NULL is fine */
};

enum {
	RK_XZ_MAX_BYTES = 66 << 20, /* a file of `xz -9` needs slightly more than 64 MiB */
	RK_ZSTD_WINDOW_LOG = 26,    /* 64 MiB */
};

/* zlib is one stream of RFC 1950 or one gzip member; what follows it is left at io->in. */
extern const struct rk_unpack_ops rk_unpack_gzip, rk_unpack_zlib, rk_unpack_xz, rk_unpack_zstd;

/* ---- whole blocks ---- */

/*
 * Appends the content of exactly one zlib stream or zstd frame. RK_E_FORMAT if it is damaged or
 * truncated or if other bytes follow; RK_E_LIMIT if `out` reaches its maximum. On failure `out` has some
 * of the content.
 */
int rk_unpack_whole(const struct rk_unpack_ops *ops, const uint8_t *in, size_t len,
		    struct rk_bytes *out, struct rk_error *err);

/*
 * Snappy's raw format, as used in Parquet pages of other writers. True if `in` unpacks to exactly
 * out_len bytes. On failure the content of `out` is undefined.
 */
bool rk_snappy_unpack(const uint8_t *in, size_t len, uint8_t *out, size_t out_len);

/*
 * Appends bytes compressed with DEFLATE (RFC 1951), without header and checksum; browsers can
 * unpack it. level: 1 to 9. `cuts` are ascending offsets where a different kind of data begins; a
 * new code table starts there.
 */
int rk_deflate(struct rk_bytes *out, const void *p, size_t len, const size_t *cuts, size_t ncuts,
	       int level, struct rk_error *err);

#endif
