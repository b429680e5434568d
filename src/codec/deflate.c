/* deflate.c - see deflate.h. */
#include "codec/deflate.h"

#include <limits.h>
#include <zlib.h>

#include "base/alloc.h"

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

/* A part of the input, all of it: there is room. */
static bool put(z_stream *z, const uint8_t *p, size_t len, int flush)
{
	int rc;

	z->next_in = (Bytef *)p;
	z->avail_in = (uInt)len;
	rc = deflate(z, flush);
	return rc == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) && !z->avail_in;
}

/* deflateBound says how much room is needed at most; a table of codes has less than 400 bytes. */
static bool pack(z_stream *z, struct rk_bytes *out, const uint8_t *p, size_t len,
		 const size_t *cuts, size_t ncuts)
{
	size_t bound = deflateBound(z, (uLong)len) + 400 * ncuts, at = 0;
	bool ok = true;

	if (bound > UINT_MAX || !rk_bytes_reserve(out, bound))
		return false;
	z->next_out = out->data + out->len;
	z->avail_out = (uInt)bound;
	for (size_t i = 0; ok && i < ncuts; i++) {
		/* nothing to flush is an error to zlib */
		if (cuts[i] > at)
			ok = put(z, p + at, cuts[i] - at, Z_BLOCK);
		at = cuts[i];
	}
	if (!ok || !put(z, p + at, len - at, Z_FINISH))
		return false;
	out->len += bound - z->avail_out;
	return true;
}

int rk_deflate(struct rk_bytes *out, const void *p, size_t len, const size_t *cuts, size_t ncuts,
	       int level, struct rk_error *err)
{
	z_stream z = { .zalloc = take, .zfree = give };
	bool done;

	if (len > UINT_MAX / 2)
		return rk_fail(err, RK_E_LIMIT, "%zu bytes are too many to pack at once", len);
	/* raw: a window of -15 */
	if (deflateInit2(&z, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return rk_fail_nomem(err);
	done = pack(&z, out, len ? p : "", len, cuts, ncuts);
	deflateEnd(&z);
	if (!done)
		out->bad = true;
	return done ? 0 : rk_fail_nomem(err);
}
