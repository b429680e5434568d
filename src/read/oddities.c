/* oddities.c - warnings about a file that is read once for each of its tables. */
#include "read/oddities.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rk_oddities_count(struct rk_oddities *o, const char *kind, uint64_t line, uint64_t count,
		       const char *fmt, ...)
{
	struct rk_oddity *odd = o->list, *end = o->list + RK_ODDITIES;
	va_list ap;

	while (odd < end && odd->kind && strcmp(odd->kind, kind) != 0)
		odd++;
	if (odd == end)
		return;
	odd->count += count;
	if (odd->kind)
		return;
	odd->kind = kind;
	odd->line = line;
	va_start(ap, fmt);
	vsnprintf(odd->message, sizeof(odd->message), fmt, ap);
	va_end(ap);
}

void rk_oddities_tell(struct rk_oddities *o, struct rk_diag *d, const char *file)
{
	for (struct rk_oddity *odd = o->list; odd < o->list + RK_ODDITIES && odd->kind; odd++)
		rk_diag_most(d, odd->kind, file, odd->line, odd->count, odd->message);
	*o = (struct rk_oddities){ 0 };
}

void rk_oddities_tell_lines(struct rk_oddities *o, struct rk_lines *lines, struct rk_diag *d,
			    const char *file)
{
	if (lines->huge)
		rk_oddities_count(o, "huge-row", lines->huge_line, lines->huge,
				  "a line is longer than %d bytes; skipped", RK_LINES_MAX);
	lines->huge = 0;
	rk_oddities_tell(o, d, file);
}
