/* sample_stats.h - what the sampled quantities of each GPU were like: mean, least, most. */
#ifndef RK_SAMPLE_STATS_H
#define RK_SAMPLE_STATS_H

#include "table/source.h"
#include "table/timeline_keys.h"

enum { RK_SAMPLE_STATS_MAX = 1 << 14 }; /* quantities of all GPUs; further ones are left out */

struct rk_sample_stat {
	uint32_t metric, unit, node; /* ids of the run's names */
	int64_t device;              /* place among the GPUs of its node; -1: not known */
	uint64_t n;
	double min, max, sum;
};

/* Zero it before use. */
struct rk_sample_stats {
	struct rk_keys keys; /* node, metric and unit, device */
	struct rk_sample_stat *v;
	size_t n, cap;
	uint64_t left_out; /* samples of further quantities */
};

/* Samples without a time measure the chip, not the run: they do not count. */
int rk_sample_stats_add(struct rk_sample_stats *s, const struct rk_batch *b, struct rk_error *err);
void rk_sample_stats_release(struct rk_sample_stats *s);

#endif
