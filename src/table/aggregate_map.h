/* aggregate_map.h - small numbers by string id: an array, since ids are dense. */
#ifndef RK_AGGREGATE_MAP_H
#define RK_AGGREGATE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

/* Zero it before use. */
struct rk_idmap {
	uint32_t *at;
	size_t n;
};

int rk_idmap_grow(struct rk_idmap *m, uint32_t id);

/* Where the number of `id` is kept, 0 at first; NULL when out of memory. Moves as it grows. */
static inline uint32_t *rk_idmap_at(struct rk_idmap *m, uint32_t id)
{
	if (id >= m->n && rk_idmap_grow(m, id) < 0)
		return NULL;
	return &m->at[id];
}

static inline void rk_idmap_release(struct rk_idmap *m)
{
	rk_free(m->at);
}

#endif
