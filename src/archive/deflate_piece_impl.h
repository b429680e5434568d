/* deflate_piece_impl.h - a library that packs, as deflate_piece.c sees it. */
#ifndef RK_DEFLATE_PIECE_IMPL_H
#define RK_DEFLATE_PIECE_IMPL_H

#include "archive/deflate_piece.h"

/* The functions do what those of deflate_piece.h do; none may be NULL. */
struct rk_deflater_ops {
	int (*open)(int level, struct rk_deflater **ret, struct rk_error *err);
	size_t (*bound)(struct rk_deflater *d, size_t len);
	size_t (*pack)(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room);
	int (*piece)(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		     size_t room, size_t *ret_len, struct rk_error *err);
	void (*close)(struct rk_deflater *d);
	uint32_t (*crc)(const void *p, size_t len);
};

/* The first member of what `open` makes. */
struct rk_deflater {
	const struct rk_deflater_ops *ops;
};

extern const struct rk_deflater_ops rk_deflater_zlib;
extern const struct rk_deflater_ops *const rk_deflater_fast; /* NULL: this build has no libdeflate */

#endif
