/* arrow_world.h - a strict reader of Arrow C arrays: every rule of the interface is checked. */
#ifndef RK_ARROW_WORLD_H
#define RK_ARROW_WORLD_H

#include "base/bytes.h"
#include "rockit/stream.h"

/* Checks one array against its schema, with children and dictionary. */
void arrow_check(const struct ArrowSchema *s, const struct ArrowArray *a);
/* Adds rows to `text`, a line each: "name=value|..." of what is not null. */
void arrow_put(struct rk_bytes *text, const struct ArrowSchema *s, const struct ArrowArray *a);
/*
 * Reads a stream to its end, checks and adds all that comes to `text` (may be NULL), and releases all
 * of it. Returns rows, or the negated errno; *ret_arrays (may be NULL) is how many arrays there were.
 */
int64_t arrow_drain(struct ArrowArrayStream *stream, struct rk_bytes *text, size_t *ret_arrays);

#endif
