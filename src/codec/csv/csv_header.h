/* csv_header.h - the first line of a CSV file. */
#ifndef RK_CSV_HEADER_H
#define RK_CSV_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { RK_CSV_MAX_COLUMNS = 4096 };

struct rk_csv_header {
	char **names; /* cells without quotes, white space and control characters */
	unsigned ncols;
	size_t bytes;   /* where the first row begins: BOM, header and its line end passed */
	unsigned lines; /* lines the header takes: a cell may hold a newline */
};

/*
 * `text` is the beginning of a file, `whole` when it is all of it. Leading blank lines and a
 * UTF-8 byte order mark are passed over. RK_E_FORMAT when there is no complete header line.
 */
int rk_csv_header_parse(const char *text, size_t len, bool whole, struct rk_csv_header *ret,
			struct rk_error *err);
void rk_csv_header_release(struct rk_csv_header *h);

/* The column of that name in any case, or -1. */
int rk_csv_header_find(const struct rk_csv_header *h, const char *name);

#endif
