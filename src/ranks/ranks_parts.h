/* ranks_parts.h - what a report says of a job of several ranks. */
#ifndef RK_RANKS_PARTS_H
#define RK_RANKS_PARTS_H

#include "base/bytes.h"
#include "base/list.h"
#include "base/page.h"
#include "rockit/ranks.h"

enum { RK_RANKS_WHOLE = 32 }; /* so many lines of a text are not cut */

/*
 * Whether the job is balanced, who is waited for, how much communication is hidden, whether it is
 * the wire: a sentence each, for what is known of them. Look at l->bad.
 */
void rk_ranks_say(struct rk_list *l, const struct rk_ranks *k);

/* Its program failed or was interrupted, or it has no kernels. */
bool rk_ranks_troubled(const struct rk_ranks_rank *r);
/*
 * Which ranks are worth a line when there is room for `limit` of them: those in trouble, those that
 * compute longest and shortest, those that others wait for. shown[i] for all; false: no memory.
 */
bool rk_ranks_pick(const struct rk_ranks *k, size_t limit, bool *shown);
/* How many rows of n a text shows: all when they are few, or with --top 0; else as --top says. */
size_t rk_ranks_limit(const struct rk_render_options *look, size_t n);
/* The rank that causes most of the waiting whose cause is known; -1: none. */
int64_t rk_ranks_straggler(const struct rk_ranks *k);

/* The sections of a text. */
void rk_ranks_text(struct rk_page *p, const struct rk_ranks *k);

/* The value of "ranks", after its key. */
void rk_ranks_json(struct rk_bytes *out, const struct rk_ranks *k);

#endif
