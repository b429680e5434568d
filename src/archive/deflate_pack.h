/*
 * deflate_pack.h - whole buffers packed by DEFLATE, or the pieces of one stream, each on its own.
 *
 * By libdeflate where the build has it, else by zlib. The same bytes give the same bytes.
 */
#ifndef RK_DEFLATE_PACK_H
#define RK_DEFLATE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* For one thread at a time; some megabyte at levels above 9, less below. */
struct rk_deflater;

/* level: 1 to 12; above 9 is 9 with zlib. */
int rk_deflater_new(int level, struct rk_deflater **ret, struct rk_error *err);
/* How many bytes a piece of len bytes may become. */
size_t rk_deflater_bound(struct rk_deflater *d, size_t len);
/* A whole stream. 0: it does not fit into `room`. */
size_t rk_deflater_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room);
/*
 * A piece of a stream: pieces behind each other, the last of them packed as such, are one. `room` is
 * what rk_deflater_bound says, or more.
 */
int rk_deflater_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err);
void rk_deflater_free(struct rk_deflater *d); /* NULL is fine */

/* CRC-32 as in zip and gzip. */
uint32_t rk_crc32(const void *p, size_t len);
/* That of two pieces behind each other; len is of the second. */
uint32_t rk_crc32_join(uint32_t a, uint32_t b, uint64_t len);

/* Test hook: zlib from now on, whatever there is. */
void rk_deflater_force_zlib(bool on);

/*
 * A packer makes as much effort as the bytes are worth. Bytes that are packed already (compressed
 * device code, archives) are only copied, and where a quick look finds as good as nothing, the quick
 * look is all there is. Only the bytes decide. At most 8 MiB at once; for one thread at a time.
 */
struct rk_packer;

/* level: 1 to 12, the most effort that is made. */
int rk_packer_new(int level, struct rk_packer **ret, struct rk_error *err);
/* As those of rk_deflater above; 0 of rk_packer_whole also says that it is not worth it. */
size_t rk_packer_bound(struct rk_packer *k, size_t len);
size_t rk_packer_whole(struct rk_packer *k, const void *p, size_t len, void *to, size_t room);
int rk_packer_piece(struct rk_packer *k, const void *p, size_t len, bool last, void *to,
		    size_t room, size_t *ret_len, struct rk_error *err);
void rk_packer_free(struct rk_packer *k); /* NULL is fine */

#endif
