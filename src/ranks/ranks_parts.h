/* ranks_parts.h - the part of a report about a job of several ranks. */
#ifndef RK_RANKS_PARTS_H
#define RK_RANKS_PARTS_H

#include "base/bytes.h"
#include "base/list.h"
#include "base/page.h"
#include "rockit/ranks.h"

enum { RK_RANKS_WHOLE = 32 }; /* tables with up to this many lines are shown completely */

/*
 * Adds one sentence for each of these, as far as known: whether the job is balanced, which rank is
 * waited for, how much communication is hidden, whether the network is to blame. Check l->bad
 * afterwards.
 */
void rk_ranks_say(struct rk_list *l, const struct rk_ranks *k);

/* True if its program failed or was interrupted, or it has no kernels. */
bool rk_ranks_troubled(const struct rk_ranks_rank *r);
/*
 * Chooses `limit` ranks to show: those with problems, those that compute longest and shortest,
 * those that others wait for. Sets shown[i] for all ranks. False: out of memory.
 */
bool rk_ranks_pick(const struct rk_ranks *k, size_t limit, bool *shown);
/* How many of n rows the text shows: all if they are few or with --top 0, otherwise --top. */
size_t rk_ranks_limit(const struct rk_render_options *look, size_t n);
/* The rank that causes most of the waiting with a known cause; -1: none. */
int64_t rk_ranks_straggler(const struct rk_ranks *k);

/* Writes the sections of the text report. */
void rk_ranks_text(struct rk_page *p, const struct rk_ranks *k);

/* Writes the value of "ranks", after its key. */
void rk_ranks_json(struct rk_bytes *out, const struct rk_ranks *k);

#endif
