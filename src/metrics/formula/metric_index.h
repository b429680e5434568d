/* metric_index.h - numbers by text: a small hash table whose keys belong to somebody else. */
#ifndef RK_METRIC_INDEX_H
#define RK_METRIC_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero it before use. */
struct rk_metric_index {
	struct rk_metric_slot {
		const char *key; /* NULL: free */
		size_t len;
		size_t value;
	} * slots;
	size_t cap, n;
	uint64_t salt; /* against names made to collide */
};

bool rk_metric_index_find(const struct rk_metric_index *x, const char *key, size_t len,
			  size_t *ret);
/* The key is borrowed and not there yet. False: out of memory. */
bool rk_metric_index_add(struct rk_metric_index *x, const char *key, size_t len, size_t value);
void rk_metric_index_release(struct rk_metric_index *x); /* and zeroes it */

#endif
