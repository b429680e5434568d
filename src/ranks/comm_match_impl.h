/* comm_match_impl.h - what comm_match.c and comm_class.c share. */
#ifndef RK_COMM_MATCH_IMPL_H
#define RK_COMM_MATCH_IMPL_H

#include "ranks/comm_match.h"

/* Clocks may be wrong by so much and more, but then calls that follow each other would touch. */
#define COMM_TOUCH_NS INT64_C(10000)

static inline int64_t comm_touch_ns(const struct rk_comm_rank *r)
{
	return r->error_ns < COMM_TOUCH_NS ? r->error_ns : COMM_TOUCH_NS;
}

static inline int64_t comm_time(const struct rk_comm_rank *r, int64_t ns)
{
	return r->clock ? rk_align_to_reference(r->clock, ns) : ns;
}

/* What two clocks may be apart; ranks of a node have the same. */
static inline int64_t comm_apart_ns(const struct rk_comm_rank *a, const struct rk_comm_rank *b)
{
	return a->node == b->node ? 0 : a->error_ns + b->error_ns;
}

/*
 * ret[i]: number of the set that rank i is in for this operation, from 0, ranks of no calls included;
 * *ret_n of them.
 */
int rk_comm_classes(const struct rk_comm_rank *in, size_t n, const struct rk_comm_op *op,
		    uint32_t *ret, size_t *ret_n, struct rk_error *err);

#endif
