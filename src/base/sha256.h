/* sha256.h - SHA-256 (FIPS 180-4) of bytes in memory. */
#ifndef RK_SHA256_H
#define RK_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { RK_SHA256_BYTES = 32 };

void rk_sha256(const void *p, size_t len, uint8_t ret[RK_SHA256_BYTES]);

#endif
