/* stamp.h - what the place of a file says: constants for columns that the file leaves out. */
#ifndef RK_STAMP_H
#define RK_STAMP_H

#include "table/context.h"
#include "table/source.h"

enum { RK_STAMPS_MAX = 5 };

/* `field` is an I64, I32 or STR (an id) column. */
struct rk_stamp {
	unsigned field;
	int64_t value;
	bool over; /* also where rows have a value */
};

/*
 * Columns that are all null get the value in every row; others stay, unless it goes over them. Takes
 * over `rows`.
 */
int rk_stamp_open(struct rk_source *rows, const struct rk_stamp *stamps, unsigned n,
		  struct rk_source **ret, struct rk_error *err);

#endif
