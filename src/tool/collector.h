/* collector.h - rockit's own collectors, libraries that are loaded into the program. */
#ifndef RK_COLLECTOR_H
#define RK_COLLECTOR_H

#include "base/bytes.h"

/*
 * The absolute path of a collector's library, into *ret; false when it is nowhere to be found, or
 * memory ran out (ret->bad). It lies in $ROCKIT_COLLECTORS, or near librockit.so, or near the
 * command: beside it, in rockit/ there, or in ../lib/rockit (or lib64, or Debian's lib/<triplet>).
 * So an installed tree may be moved as a whole.
 */
bool rk_collector_find(const char *library, struct rk_bytes *ret);

/* A value of ROCKIT_COLLECT: what parts the settings, and what escapes, as %XX. */
void rk_collector_put_value(struct rk_bytes *b, const char *s);

#endif
