/*
 * deflate_effort.h - packing with as much effort as the bytes are worth.
 *
 * What is packed already (compressed device code, archives) is only copied, and where a quick look
 * finds as good as nothing, the quick look is all there is. Decided by the bytes alone, so that the
 * same bytes give the same bytes.
 */
#ifndef RK_DEFLATE_EFFORT_H
#define RK_DEFLATE_EFFORT_H

#include "archive/deflate_piece.h"

enum { RK_PACKER_MAX = 8 << 20 }; /* bytes that are packed at once */

/* For one thread at a time. */
struct rk_packer;

/* level: 1 to 12, the most effort that is made. */
int rk_packer_new(int level, struct rk_packer **ret, struct rk_error *err);
/* As the functions of deflate_piece.h; 0 of rk_packer_whole also says that it is not worth it. */
size_t rk_packer_bound(struct rk_packer *k, size_t len);
size_t rk_packer_whole(struct rk_packer *k, const void *p, size_t len, void *to, size_t room);
int rk_packer_piece(struct rk_packer *k, const void *p, size_t len, bool last, void *to,
		    size_t room, size_t *ret_len, struct rk_error *err);
void rk_packer_free(struct rk_packer *k); /* NULL is fine */

#endif
