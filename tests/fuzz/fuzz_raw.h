/* fuzz_raw.h - for fuzz targets that read files of the flight recorder. */
#ifndef RK_FUZZ_RAW_H
#define RK_FUZZ_RAW_H

#include "base/rkraw.h"

/* Sums that are right let changes through to what is behind them. */
static inline void raw_mend(uint8_t *data, size_t len)
{
	struct rk_raw_header h;
	struct rk_raw_block b;
	size_t size = RK_RAW_BLOCK_MIN;

	if (len < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	if (h.block_bytes >= RK_RAW_BLOCK_MIN && h.block_bytes <= RK_RAW_BLOCK_MAX)
		size = h.block_bytes;
	for (size_t at = size; at + sizeof(b) <= len; at += size) {
		memcpy(&b, data + at, sizeof(b));
		if ((uint32_t)b.published > len - at - sizeof(b))
			continue;
		b.sum = rk_raw_block_sum(&b, data + at + sizeof(b), (uint32_t)b.published);
		memcpy(data + at, &b, sizeof(b));
	}
}

#endif
