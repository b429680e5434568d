/*
 * diff_structure.h - what two runs did, whatever their speed: launches by kernel and grid, the
 * sequence of each queue, copies and their bytes, synchronisation.
 */
#ifndef RK_DIFF_STRUCTURE_H
#define RK_DIFF_STRUCTURE_H

#include "diff/diff_profile.h"

/*
 * Adds what differs to ret->findings; queues of both sides to ret->queues. Profiles must have
 * been made with their structure. Released by rk_structure_release, also after a failure.
 */
int rk_structure_compare(const struct rk_profile *a, const struct rk_profile *b,
			 struct rk_diff_structure *ret, struct rk_error *err);
void rk_structure_release(struct rk_diff_structure *s);

/* diff_sequence.c: the queues alone. */
int rk_structure_queues(const struct rk_profile *a, const struct rk_profile *b,
			struct rk_diff_structure *ret, struct rk_error *err);

/* As rk_diff_finding; texts are copied, NULL stands for "". Past the limit it is only counted. */
struct rk_finding {
	const char *kind, *subject, *text, *around_a, *around_b;
	uint64_t a, b, at;
};
int rk_structure_find(struct rk_diff_structure *s, const struct rk_finding *f,
		      struct rk_error *err);

#endif
