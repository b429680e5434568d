/*
 * deflate_pack.h - compresses whole buffers with DEFLATE, or the pieces of one stream separately.
 *
 * Uses libdeflate if the build has it, else zlib. The same input always gives the same output.
 */
#ifndef RK_DEFLATE_PACK_H
#define RK_DEFLATE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* For one thread at a time. Takes about 1 MB of memory at levels above 9, less below. */
struct rk_deflater;

/* level: 1 to 12; above 9 is 9 with zlib. */
int rk_deflater_new(int level, struct rk_deflater **ret, struct rk_error *err);
/* The largest compressed size of a piece of len bytes. */
size_t rk_deflater_bound(struct rk_deflater *d, size_t len);
/* Compresses to a complete stream. 0: it does not fit into `room`. */
size_t rk_deflater_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room);
/*
 * Compresses one piece of a stream. Consecutive pieces form one stream if the last one is marked as
 * last. `room` must be at least rk_deflater_bound.
 */
int rk_deflater_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err);
void rk_deflater_free(struct rk_deflater *d); /* NULL is fine */

/* CRC-32 as in zip and gzip. */
uint32_t rk_crc32(const void *p, size_t len);
/* The CRC of two consecutive pieces; len is the length of the second. */
uint32_t rk_crc32_join(uint32_t a, uint32_t b, uint64_t len);

/* Allocators for zlib's streams that use the library's memory functions. */
void *rk_zlib_alloc(void *opaque, unsigned n, unsigned size);
void rk_zlib_free(void *opaque, void *p);

/* Test hook: use zlib from now on, even if libdeflate is available. */
void rk_deflater_force_zlib(bool on);

/*
 * A packer spends as much effort as the bytes are worth. Bytes that are already compressed (device
 * code, archives) are only copied, and if full effort would gain almost nothing, low effort is
 * used. The decision depends only on the bytes. At most 8 MiB at once; for one thread at a time.
 */
struct rk_packer;

/* level: 1 to 12, the maximum effort. */
int rk_packer_new(int level, struct rk_packer **ret, struct rk_error *err);
/* As rk_deflater above; rk_packer_whole also returns 0 if compressing is not worth it. */
size_t rk_packer_bound(struct rk_packer *k, size_t len);
size_t rk_packer_whole(struct rk_packer *k, const void *p, size_t len, void *to, size_t room);
int rk_packer_piece(struct rk_packer *k, const void *p, size_t len, bool last, void *to,
		    size_t room, size_t *ret_len, struct rk_error *err);
void rk_packer_free(struct rk_packer *k); /* NULL is fine */

#endif
