/* snappy.h - unpacking Snappy's raw format, as Parquet pages of other writers use it. */
#ifndef RK_SNAPPY_H
#define RK_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True when `in` unpacks to exactly out_len bytes. On failure `out` holds anything. */
bool rk_snappy_unpack(const uint8_t *in, size_t len, uint8_t *out, size_t out_len);

#endif
