/* metric_numbers.h - the numbers that are shown beside a verdict. */
#ifndef RK_METRIC_NUMBERS_H
#define RK_METRIC_NUMBERS_H

#include "metrics/metric_verdict.h"

/* What a verdict is about: such numbers come first. */
enum rk_verdict_about {
	RK_ABOUT_TIME,
	RK_ABOUT_WAVES,
	RK_ABOUT_LINKS,
	RK_ABOUT_MEMORY,
	RK_ABOUT_COMPUTE,
	RK_ABOUT_WAITS,
	RK_ABOUT_ROOF,
};

/* Infinite numbers become unknown ones. */
void rk_verdict_facts_clean(struct rk_verdict_facts *f);
/*
 * Into ret->numbers: those that are known. comp and fill are what the rules made of the facts: the
 * largest share of a compute pipe in the kernel's own time, and waves per SIMD.
 */
void rk_verdict_numbers(const struct rk_verdict_facts *f, double comp, double fill,
			enum rk_verdict_about about, struct rk_verdict *ret);

#endif
