/* base64.c - see base64.h. */
#include "base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes, of which `n` are there, as four digits. */
static void put_group(uint8_t *to, const uint8_t *from, size_t n)
{
	uint32_t v = (uint32_t)from[0] << 16;

	v |= n > 1 ? (uint32_t)from[1] << 8 : 0;
	v |= n > 2 ? from[2] : 0u;
	to[0] = (uint8_t)digits[v >> 18];
	to[1] = (uint8_t)digits[v >> 12 & 63];
	to[2] = n > 1 ? (uint8_t)digits[v >> 6 & 63] : '=';
	to[3] = n > 2 ? (uint8_t)digits[v & 63] : '=';
}

void rk_base64_put(struct rk_bytes *out, const void *p, size_t len)
{
	const uint8_t *from = p;
	size_t groups = len / 3 + (len % 3 != 0);

	if (groups > SIZE_MAX / 4 || !rk_bytes_reserve(out, groups * 4)) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < len; i += 3) {
		put_group(out->data + out->len, from + i, len - i < 3 ? len - i : 3);
		out->len += 4;
	}
}
