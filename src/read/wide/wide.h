/*
 * wide.h - CSV files of the tools before rocprofv3: one row per dispatch, one column per counter.
 *
 * A format is a list of kinds of files. Each kind is recognised by its header and lists the columns
 * its files may have. If the kind has counters, every other column is a hardware counter: such a
 * file also provides the counters table, with columns turned into rows.
 */
#ifndef RK_WIDE_CSV_H
#define RK_WIDE_CSV_H

#include "read/rocprofv3/csv.h"

/* One kind of file, recognised by header names it must have and must not have. */
struct rk_wide_kind {
	const char *must[6], *must_not[6];
	const char *free_header[2]; /* possible names of the column with free text */
	const char *clock;          /* the clock of its times */
	const char *absent[2]; /* columns that some builds have in the header but not in the rows */
	struct rk_v3_table tables[2];
	unsigned ntables;
	bool counters; /* columns that tables[0], kernels, does not list are counters */
	bool once;     /* kernels keeps only the first of several rows of a dispatch */
	bool barriers; /* kernels may be barrier packets */
	bool stats;    /* RK_STATS describes kernels */
	bool wrapped;  /* printed for people: a saved analysis; names were wrapped */
};

/*
 * One per scan, the argument of finishers. Begins with the struct that rocprofv3's finishers use.
 */
struct rk_wide_scan {
	struct rk_v3_scan v3;
	bool barriers, wrapped;
	uint32_t barrier_id;
};

/*
 * Reader functions. ops->format is an array of kinds that ends with .ntables 0; the first match is
 * used.
 */
int rk_wide_probe(const struct rk_head *head);
int rk_wide_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		 struct rk_reader **ret, struct rk_error *err);
int rk_wide_scan(struct rk_reader *r, enum rk_table t, uint64_t want, struct rk_source **ret,
		 struct rk_error *err);
void rk_wide_close(struct rk_reader *r);
enum rk_precedence rk_wide_precedence(const char *file_name, enum rk_table t);

/* For kernels whose sizes are one number: adds every field that another one is derived from. */
uint64_t rk_wide_kernel_needs(uint64_t want);
int rk_wide_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err);
/* Rejoins names that a table printer wrapped. */
int rk_wide_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err);

/* Copies, renamed as in rocprofv3. */
int rk_wide_finish_copies(void *scan, struct rk_builder *b, struct rk_error *err);
/* Kernels and copies from one list of operations. */
int rk_wide_finish_op_kernels(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_wide_finish_op_copies(void *scan, struct rk_builder *b, struct rk_error *err);

/* Fields of a wide row; counters follow them. */
enum rk_wide_field { RK_W_DISPATCH, RK_W_NAME, RK_W_DEVICE, RK_W_PID, RK_W_XCC, RK_W_NFIELDS };

/* The meaning of each column of a file (pivot.c). Binds are in header order. */
struct rk_wide_columns {
	struct rk_csv_bind *kernels; /* without counters */
	struct rk_csv_bind *counters;
	struct rk_schema schema; /* for `counters`: RK_W_*, then a double per counter */
	struct rk_field *fields;
	unsigned ncounters;
	bool per_xcc; /* one row per dispatch and accelerator die */
};

/*
 * `fixed` lists the columns that are not counters. Copies of a column from a join of passes, with
 * _1, _2 ... after the name, are skipped. Names are borrowed from the header.
 */
int rk_wide_columns_make(const struct rk_csv_header *h, const struct rk_csv_bind *fixed,
			 struct rk_wide_columns *ret, struct rk_error *err);
void rk_wide_columns_release(struct rk_wide_columns *c);

/* Turns `rows` of c->schema into counters. Takes ownership of `rows`, also on failure. */
int rk_wide_pivot_open(struct rk_source *rows, const struct rk_wide_columns *c,
		       struct rk_context *ctx, uint64_t want, struct rk_source **ret,
		       struct rk_error *err);

#endif
