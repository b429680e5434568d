/* diff_doubts.h - what is missing from a run, as far as its files and its record say. */
#ifndef RK_DIFF_DOUBTS_H
#define RK_DIFF_DOUBTS_H

#include "api/run.h"
#include "base/list.h"

/* Once its tables were read: a sentence for each reason not to trust them to be whole. */
int rk_run_doubts(struct rk_run *run, struct rk_list *ret, struct rk_error *err);

#endif
