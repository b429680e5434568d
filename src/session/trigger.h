/*
 * trigger.h - what the newest records of a running program say: a step that took too long, a time
 * without kernels. Only reads the file of the program's recorder; nothing happens in the program.
 */
#ifndef RK_TRIGGER_H
#define RK_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* At least one of slow_percent and gap_ms is not 0. The name is borrowed. */
struct rk_trigger_options {
	const char *step; /* the range that is a step; NULL without slow_percent */
	uint64_t slow_percent, gap_ms;
};

enum { RK_TRIGGER_WHY = 160 };

/* One recorder's file, a window. */
struct rk_trigger;

/* *ret is NULL if the file is not, or not yet, the window of a recorder. Fails out of memory. */
int rk_trigger_open(const char *path, const struct rk_trigger_options *opt, struct rk_trigger **ret,
		    struct rk_error *err);
void rk_trigger_close(struct rk_trigger *t); /* NULL is fine */

/*
 * Looks at what was recorded since the last call. True: `why` is a sentence about the last thing that
 * a snapshot was requested for. Call it some times a second; `now_ms` is any steady clock.
 */
bool rk_trigger_look(struct rk_trigger *t, uint64_t now_ms, char why[RK_TRIGGER_WHY]);
/* Recording was stopped or started: a time without kernels says nothing. */
void rk_trigger_forget(struct rk_trigger *t);

#endif
