/* newest.h - the newest run directory. */
#ifndef RK_NEWEST_H
#define RK_NEWEST_H

#include <stdbool.h>

enum { RK_NEWEST_BYTES = 512 };

/*
 * Below `parent` the directory whose name has the latest date and time (YYYYMMDD-HHMMSS...); among
 * equals, and after those the ones named otherwise, the one that was changed last. False when
 * there is none.
 */
bool rk_newest_run(const char *parent, char path[RK_NEWEST_BYTES]);

/*
 * The one operand of a verb that was given none: the newest run under rockit_output/, named on
 * stderr unless quiet. -1 to go on; else there is none, it was said, and this is the exit status.
 */
int rk_newest_instead(const char *verb, bool quiet, char path[RK_NEWEST_BYTES]);

#endif
