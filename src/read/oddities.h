/*
 * oddities.h - warnings about a file that is read once for each of its tables.
 *
 * The same problem is found again each time. It is counted here and reported at the end of each
 * reading; the warning keeps the largest count.
 */
#ifndef RK_ODDITIES_H
#define RK_ODDITIES_H

#include "base/diag.h"
#include "codec/instream.h"

enum { RK_ODDITIES = 16 }; /* max kinds; further kinds are dropped */

struct rk_oddities {
	struct rk_oddity {
		const char *kind; /* NULL: unused */
		char message[160];
		uint64_t line, count;
	} list[RK_ODDITIES];
};

/* Counts a problem of `kind`, a constant; keeps line and message of the first one. */
void rk_oddities_count(struct rk_oddities *o, const char *kind, uint64_t line, uint64_t count,
		       const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Reports all warnings and clears them. */
void rk_oddities_tell(struct rk_oddities *o, struct rk_diag *d, const char *file);
/* The same at the end of a file that was read line by line, with the lines that were too long. */
void rk_oddities_tell_lines(struct rk_oddities *o, struct rk_lines *lines, struct rk_diag *d,
			    const char *file);

#endif
