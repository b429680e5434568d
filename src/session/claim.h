/* claim.h - files that say who works here: never two ranks on one file, one monitor a node. */
#ifndef RK_CLAIM_H
#define RK_CLAIM_H

#include <stdbool.h>

#include "base/error.h"
#include "run/ranks.h"

/* Begins the names of everything that only organises a run directory; readers pass over these. */
#define RK_OWN_PREFIX ".rockit-"
#define RK_CLAIM_NAME RK_OWN_PREFIX "claim"

/*
 * Makes `dir` (with its parents) and the claim in it, for this process. One that is there already
 * is refused with the names of both machines: the same start of a job, because then two processes
 * have one rank; another one unless `force` is given and its process is not seen to live.
 * The claim stays, so that a later process of the same start is refused too.
 */
int rk_claim_rank(const char *dir, const struct rk_rank *who, bool force, struct rk_error *err);
/* Takes the claim of this process away again: nothing came of the run. */
void rk_claim_drop(const char *dir);

/*
 * Whether this process is to sample the sensors of its node for all ranks below `top`: the first
 * to ask. *ret_path is then to be handed to rk_claim_node_end, else it is NULL.
 */
bool rk_claim_node(const char *top, const struct rk_rank *who, char **ret_path);
void rk_claim_node_end(char *path); /* NULL is fine */

#endif
