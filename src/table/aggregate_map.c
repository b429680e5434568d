/* aggregate_map.c - see aggregate_map.h. */
#include "table/aggregate_map.h"

#include <string.h>

#include "rockit/error.h"

int rk_idmap_grow(struct rk_idmap *m, uint32_t id)
{
	size_t n = m->n ? m->n * 2 : 1024;
	uint32_t *at;

	while (n <= id)
		n *= 2;
	at = rk_reallocn(m->at, n, sizeof(*at));
	if (!at)
		return RK_E_NOMEM;
	memset(at + m->n, 0, (n - m->n) * sizeof(*at));
	m->at = at;
	m->n = n;
	return 0;
}
