/* base85.c - see base85.h. */
#include "base/base85.h"

static const char digits[85 + 1] = "!#$%()*+,./0123456789:;?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_"
				   "abcdefghijklmnopqrstuvwxyz{|}~";

/* Four bytes as five digits; missing bytes count as 0, and the last digits are then not wanted. */
static void put_group(uint8_t *to, const uint8_t *from, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < 4; i++)
		v = v << 8 | (i < n ? from[i] : 0u);
	for (size_t i = 5; i-- > 0; v /= 85)
		to[i] = (uint8_t)digits[v % 85];
}

void rk_base85_put(struct rk_bytes *out, const void *p, size_t len)
{
	const uint8_t *from = p;
	size_t groups = len / 4 + 1;

	if (groups > SIZE_MAX / 5 || !rk_bytes_reserve(out, groups * 5)) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < len; i += 4) {
		size_t n = len - i < 4 ? len - i : 4;

		put_group(out->data + out->len, from + i, n);
		out->len += n + 1;
	}
}
