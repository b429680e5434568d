/* csv_scan.h - the rows of a CSV file as batches, several pieces of it at a time. */
#ifndef RK_CSV_SCAN_H
#define RK_CSV_SCAN_H

#include "codec/csv/csv_row.h"
#include "codec/instream.h"
#include "table/source.h"

struct rk_csv_scan {
	struct rk_instream *in; /* borrowed; rewound when the scan begins */
	const struct rk_csv_header *header;
	const struct rk_csv_bind *binds;
	const char *free_header; /* the column of free text, NULL for none */
	const struct rk_schema *schema;
	uint64_t want; /* fields to fill, as the format's finish needs them */
	/*
	 * Called once for each piece, on any thread, with its rows in `b`: derives fields from
	 * others and may drop rows (by lowering b->nrows). Negative: the scan fails. May be NULL.
	 */
	int (*finish)(void *arg, struct rk_builder *b, struct rk_error *err);
	void *arg;
};

/* Batches come in the order of the file. What is odd goes to ctx->diag under these names: */
#define RK_CSV_WARNINGS                                                                  \
	"short-row", "long-row", "huge-row", "cut-row", "repeated-header", "bad-number", \
		"number-out-of-range", "fraction-cut", "damaged-time", "line-break-in-name"

/* The scan's struct is copied; what it points to must outlive the source. */
int rk_csv_scan_open(const struct rk_csv_scan *scan, struct rk_context *ctx, struct rk_source **ret,
		     struct rk_error *err);

#endif
