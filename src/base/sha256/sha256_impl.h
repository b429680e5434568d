/* sha256_impl.h - interface between sha256.c and the machine-specific implementations. */
#ifndef RK_SHA256_IMPL_H
#define RK_SHA256_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* K of FIPS 180-4, section 4.2.2. */
extern const uint32_t rk_sha256_k[64];

/*
 * Each adds n blocks of 64 bytes to the state h. Call it only if its `there` function, which asks
 * the processor, returns true. Both exist only on their own architecture.
 */
bool rk_sha256_x86_there(void);
void rk_sha256_x86(uint32_t h[8], const uint8_t *p, size_t n);
bool rk_sha256_arm_there(void);
void rk_sha256_arm(uint32_t h[8], const uint8_t *p, size_t n);

#endif
