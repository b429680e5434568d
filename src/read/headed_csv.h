/* headed_csv.h - a CSV file that is told by the names in its header: what such readers share. */
#ifndef RK_HEADED_CSV_H
#define RK_HEADED_CSV_H

#include "codec/csv/csv_scan.h"
#include "read/reader.h"

/* The first member of such a reader. */
struct rk_headed_csv {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_csv_header header;
};

/* A probe's answer: 90 when `is` says yes to the header, 0, or RK_E_NOMEM. */
int rk_headed_probe(const void *head, size_t len, bool whole,
		    bool (*is)(const struct rk_csv_header *h));
/* Whether all names (ended by NULL) are there. */
bool rk_headed_has(const struct rk_csv_header *h, const char *const *names);

/*
 * Allocates a reader of `size` bytes, zeroed, for one table, with its header. `in` is still the
 * caller's: a reader that is given out takes it by r->in. On failure nothing is left.
 */
int rk_headed_new(const struct rk_reader_ops *ops, enum rk_table t, size_t size,
		  struct rk_instream *in, struct rk_context *ctx, struct rk_headed_csv **ret,
		  struct rk_error *err);
/* The callback `close`. */
void rk_headed_close(struct rk_reader *base);

#endif
