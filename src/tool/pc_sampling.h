/* pc_sampling.h - which way of PC sampling a chip and a release can do. */
#ifndef RK_PC_SAMPLING_H
#define RK_PC_SAMPLING_H

#include "tool/tool.h"

struct rk_pc_choice {
	const char *method, *unit; /* static */
	uint64_t interval;         /* microseconds or cycles */
};

/*
 * Settles want->pc for release `v` and want->arch. False when it cannot be had there: rocprofv3
 * would end the program at its start. What was changed or refused is said in `notes`.
 */
bool rk_pc_choose(struct rk_version v, const struct rk_want *want, struct rk_pc_choice *ret,
		  struct rk_list *notes);

#endif
