/* fuzz_deflate_join.c - any bytes through the walk over deflate streams, compared with zlib. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "archive/deflate_join.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 16 };

/* Bytes of input that zlib accepts as a whole stream, *ret_out: its output bytes; 0: none. */
static size_t unpack(const uint8_t *p, size_t len, uint8_t *to, size_t room, size_t *ret_out)
{
	z_stream z = { 0 };
	int rc;

	if (inflateInit2(&z, -15) != Z_OK)
		return 0;
	z.next_in = (z_const Bytef *)p, z.avail_in = (uInt)len;
	z.next_out = to, z.avail_out = (uInt)room;
	rc = inflate(&z, Z_FINISH);
	*ret_out = z.total_out;
	inflateEnd(&z);
	return rc == Z_STREAM_END ? z.total_in : 0;
}

/* The stream, opened, with an empty one behind it gives the same bytes. */
static void check_open(const uint8_t *data, size_t size, const uint8_t *want, size_t want_len)
{
	static uint8_t back[MOST];
	uint8_t *copy = malloc(size + RK_DEFLATE_JOIN_BYTES + 2);
	size_t len = size, got;

	memcpy(copy, data, size);
	if (rk_deflate_open(copy, &len, NULL) < 0 || len > size + RK_DEFLATE_JOIN_BYTES)
		abort();
	memcpy(copy + len, "\x03\x00", 2);
	if (unpack(copy, len + 2, back, sizeof(back), &got) != len + 2 || got != want_len ||
	    memcmp(back, want, got) != 0)
		abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t out[MOST];
	struct rk_deflate_place at;
	size_t used, got = 0;
	int rc;

	if (size > MOST)
		return 0;
	rc = rk_deflate_find_last(data, size, &at, NULL);
	if (rc == 0 && (at.last >= at.end || at.end > 8 * (uint64_t)size))
		abort();
	used = unpack(data, size, out, sizeof(out), &got);
	if (!used)
		return 0; /* zlib also refuses distances before the beginning */
	if (rc < 0 || (at.end + 7) / 8 != used)
		abort();
	check_open(data, used, out, got);
	return 0;
}
