/* csv_split.h - the cells of a single row, for files too small for the scanner of csv_scan.h. */
#ifndef RK_CSV_SPLIT_H
#define RK_CSV_SPLIT_H

#include <stddef.h>

struct rk_csv_span {
	const char *p; /* in the row: quotes around a cell and blanks cut off, nothing unescaped */
	size_t len;
};

/* Cells of the row, at most `max`; returns how many there are, max + 1 when more. */
unsigned rk_csv_split(const char *row, size_t len, struct rk_csv_span *cells, unsigned max);

/* Blanks at both ends cut off. */
struct rk_csv_span rk_csv_trim(const char *p, size_t len);

#endif
