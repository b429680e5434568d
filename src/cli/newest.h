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

#endif
