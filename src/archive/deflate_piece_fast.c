/* deflate_piece_fast.c - packing by libdeflate: whole buffers only, three times as fast as zlib. */
#include "archive/deflate_piece_impl.h"

#ifdef ROCKIT_HAVE_LIBDEFLATE
#include <libdeflate.h>

#include "archive/deflate_join.h"
#include "base/alloc.h"

struct fast {
	struct rk_deflater base;
	struct libdeflate_compressor *c;
};

static void fast_close(struct rk_deflater *d)
{
	struct fast *f = (struct fast *)d;

	libdeflate_free_compressor(f->c);
	rk_free(f);
}

static int fast_open(int level, struct rk_deflater **ret, struct rk_error *err)
{
	struct fast *f = rk_calloc(1, sizeof(*f));

	if (f)
		f->c = libdeflate_alloc_compressor(level);
	if (!f || !f->c) {
		rk_free(f);
		return rk_fail_nomem(err);
	}
	f->base.ops = rk_deflater_fast;
	*ret = &f->base;
	return 0;
}

static size_t fast_bound(struct rk_deflater *d, size_t len)
{
	struct fast *f = (struct fast *)d;

	return libdeflate_deflate_compress_bound(f->c, len) + RK_DEFLATE_JOIN_BYTES;
}

static size_t fast_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room)
{
	struct fast *f = (struct fast *)d;

	return libdeflate_deflate_compress(f->c, p, len, to, room);
}

static int fast_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err)
{
	size_t n = room > RK_DEFLATE_JOIN_BYTES ?
			   fast_pack(d, p, len, to, room - RK_DEFLATE_JOIN_BYTES) :
			   0;

	if (!n)
		return rk_fail(err, RK_E_LIMIT, "%zu packed bytes do not fit into %zu", len, room);
	*ret_len = n;
	return last ? 0 : rk_deflate_open(to, ret_len, err);
}

static uint32_t fast_crc(const void *p, size_t len)
{
	return len ? libdeflate_crc32(0, p, len) : 0;
}

static const struct rk_deflater_ops fast = {
	.open = fast_open,
	.bound = fast_bound,
	.pack = fast_pack,
	.piece = fast_piece,
	.close = fast_close,
	.crc = fast_crc,
};

const struct rk_deflater_ops *const rk_deflater_fast = &fast;
#else
const struct rk_deflater_ops *const rk_deflater_fast = NULL;
#endif
