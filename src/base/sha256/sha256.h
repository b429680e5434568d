/* sha256.h - SHA-256 (FIPS 180-4), at once or in parts. */
#ifndef RK_SHA256_H
#define RK_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RK_SHA256_BYTES = 32, RK_SHA256_BLOCK = 64 };

/* A checksum in progress; needs no release. */
struct rk_sha256 {
	uint32_t h[8];
	uint64_t len;
	uint8_t rest[RK_SHA256_BLOCK];
};

void rk_sha256_begin(struct rk_sha256 *s);
void rk_sha256_add(struct rk_sha256 *s, const void *p, size_t len);
void rk_sha256_end(struct rk_sha256 *s, uint8_t ret[RK_SHA256_BYTES]);

void rk_sha256(const void *p, size_t len, uint8_t ret[RK_SHA256_BYTES]);

/* The implementation used on this machine: "sha-ni", "armv8" or "plain". */
const char *rk_sha256_by(void);
/* Test hook: use plain C on any machine. */
void rk_sha256_force_plain(bool on);

#endif
