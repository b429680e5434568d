/* hash.h - 64-bit hash of bytes, seeded per process against crafted collisions. */
#ifndef RK_HASH_H
#define RK_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern uint64_t rk_hash_seed; /* set once by rk_strtab_new; any value is right */

static inline uint64_t rk_hash_mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 u128;
	u128 m = (u128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t rk_hash_u64(uint64_t v)
{
	return rk_hash_mix(v ^ rk_hash_seed, 0x9e3779b97f4a7c15u);
}

uint64_t rk_hash_bytes(const void *p, size_t len);

#endif
