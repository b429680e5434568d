/* deflate_piece.c - see deflate_piece.h; and packing by zlib. */
#include "archive/deflate_piece.h"

#include <limits.h>
#include <stdatomic.h>
#include <zlib.h>

#include "archive/deflate_piece_impl.h"
#include "base/alloc.h"

enum { NO_HEADER = -15, MEMORY = 9, BEST = 9, FLUSH_BYTES = 16 };

/* -- zlib --------------------------------------------------------------------------------- */

struct slow {
	struct rk_deflater base;
	z_stream z;
};

static voidpf take(voidpf opaque, uInt n, uInt size)
{
	(void)opaque;
	return rk_calloc(n, size);
}

static void give(voidpf opaque, voidpf p)
{
	(void)opaque;
	rk_free(p);
}

static int slow_open(int level, struct rk_deflater **ret, struct rk_error *err)
{
	struct slow *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->z.zalloc = take;
	s->z.zfree = give;
	rc = deflateInit2(&s->z, level < BEST ? level : BEST, Z_DEFLATED, NO_HEADER, MEMORY,
			  Z_DEFAULT_STRATEGY);
	if (rc != Z_OK) {
		rk_free(s);
		return rk_fail_nomem(err);
	}
	s->base.ops = &rk_deflater_zlib;
	*ret = &s->base;
	return 0;
}

static void slow_close(struct rk_deflater *d)
{
	struct slow *s = (struct slow *)d;

	deflateEnd(&s->z);
	rk_free(s);
}

static size_t slow_bound(struct rk_deflater *d, size_t len)
{
	struct slow *s = (struct slow *)d;

	return deflateBound(&s->z, len) + FLUSH_BYTES;
}

/* 0: it does not fit. */
static size_t slow_all(struct slow *s, const void *p, size_t len, int flush, void *to, size_t room)
{
	int rc;

	if (len > UINT_MAX || deflateReset(&s->z) != Z_OK)
		return 0;
	s->z.next_in = (z_const Bytef *)p;
	s->z.avail_in = (uInt)len;
	s->z.next_out = to;
	s->z.avail_out = (uInt)(room < UINT_MAX ? room : UINT_MAX);
	rc = deflate(&s->z, flush);
	if (flush == Z_FINISH ? rc != Z_STREAM_END : rc != Z_OK || !s->z.avail_out)
		return 0;
	return s->z.total_out;
}

static size_t slow_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room)
{
	return slow_all((struct slow *)d, p, len, Z_FINISH, to, room);
}

static int slow_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err)
{
	size_t n = slow_all((struct slow *)d, p, len, last ? Z_FINISH : Z_FULL_FLUSH, to, room);

	if (!n)
		return rk_fail(err, RK_E_LIMIT, "%zu packed bytes do not fit into %zu", len, room);
	*ret_len = n;
	return 0;
}

static uint32_t slow_crc(const void *p, size_t len)
{
	return (uint32_t)crc32_z(0, len ? p : (const Bytef *)"", len);
}

const struct rk_deflater_ops rk_deflater_zlib = {
	.open = slow_open,
	.bound = slow_bound,
	.pack = slow_pack,
	.piece = slow_piece,
	.close = slow_close,
	.crc = slow_crc,
};

/* -- either ------------------------------------------------------------------------------- */

static atomic_bool force_zlib;

void rk_deflater_force_zlib(bool on)
{
	atomic_store(&force_zlib, on);
}

static const struct rk_deflater_ops *chosen(void)
{
	return rk_deflater_fast && !atomic_load(&force_zlib) ? rk_deflater_fast : &rk_deflater_zlib;
}

int rk_deflater_new(int level, struct rk_deflater **ret, struct rk_error *err)
{
	return chosen()->open(level, ret, err);
}

size_t rk_deflater_bound(struct rk_deflater *d, size_t len)
{
	return d->ops->bound(d, len);
}

size_t rk_deflater_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room)
{
	return room ? d->ops->pack(d, p, len, to, room) : 0;
}

int rk_deflater_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err)
{
	return d->ops->piece(d, p, len, last, to, room, ret_len, err);
}

void rk_deflater_free(struct rk_deflater *d)
{
	if (d)
		d->ops->close(d);
}

uint32_t rk_crc32(const void *p, size_t len)
{
	return chosen()->crc(p, len);
}

uint32_t rk_crc32_join(uint32_t a, uint32_t b, uint64_t len)
{
	return (uint32_t)crc32_combine(a, b, (z_off_t)len);
}
