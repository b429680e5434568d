/* parquet_page_unpack.c - pages out of zstd, Snappy and gzip, to exactly the size they declare. */
#include <zlib.h>
#include <zstd.h>

#include "codec/parquet/parquet_page.h"
#include "codec/snappy.h"

static int unpack_gzip(const uint8_t *in, size_t len, uint8_t *raw, size_t raw_len,
		       struct rk_error *err)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)len };
	int rc;

	z.next_out = raw;
	z.avail_out = (uInt)raw_len;
	/* 32: gzip and zlib headers are told apart by content. */
	if (inflateInit2(&z, 15 + 32) != Z_OK)
		return rk_fail_nomem(err);
	rc = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (rc != Z_STREAM_END || z.avail_out)
		return rk_fail(err, RK_E_FORMAT, "damaged gzip page");
	return 0;
}

int rk_pq_unpack(int codec, const uint8_t *in, size_t len, uint8_t *raw, size_t raw_len,
		 struct rk_error *err)
{
	switch (codec) {
	case RK_PQ_ZSTD:
		if (ZSTD_decompress(raw, raw_len, in, len) != raw_len)
			return rk_fail(err, RK_E_FORMAT, "damaged zstd page");
		return 0;
	case RK_PQ_SNAPPY:
		if (!rk_snappy_unpack(in, len, raw, raw_len))
			return rk_fail(err, RK_E_FORMAT, "damaged snappy page");
		return 0;
	case RK_PQ_GZIP:
		return unpack_gzip(in, len, raw, raw_len, err);
	default:
		return rk_fail(err, RK_E_UNSUPPORTED, "compression codec %d is not supported",
			       codec);
	}
}
