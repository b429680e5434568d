/* timeline_keys.h - small numbers for what three numbers name together: devices, queues. */
#ifndef RK_TIMELINE_KEYS_H
#define RK_TIMELINE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct rk_key3 {
	int64_t a, b, c;
};

enum { RK_KEYS_RECENT = 16 };

/* Zero it and set `max`, a power of two, before use. */
struct rk_keys {
	struct rk_key3 *v; /* by number */
	size_t n, cap, max;
	uint32_t *slots; /* number + 1, 0: empty; twice cap of them */
	uint32_t recent[RK_KEYS_RECENT];
};

/* *ret = max when there are that many others already. Fails only when out of memory. */
int rk_keys_number_slow(struct rk_keys *k, struct rk_key3 key, uint32_t *ret, struct rk_error *err);
void rk_keys_release(struct rk_keys *k);

static inline int rk_keys_equal(const struct rk_key3 *x, const struct rk_key3 *y)
{
	return x->c == y->c && x->b == y->b && x->a == y->a;
}

/* Rows beside each other are of few devices and queues: one look is enough for nearly all. */
static inline int rk_keys_number(struct rk_keys *k, struct rk_key3 key, uint32_t *ret,
				 struct rk_error *err)
{
	uint32_t *recent = &k->recent[(uint64_t)(key.a ^ key.c) % RK_KEYS_RECENT];
	int rc;

	if (*recent < k->n && rk_keys_equal(&k->v[*recent], &key)) {
		*ret = *recent;
		return 0;
	}
	rc = rk_keys_number_slow(k, key, ret, err);
	if (rc == 0 && *ret < k->n)
		*recent = *ret;
	return rc;
}

#endif
