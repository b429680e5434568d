/*
 * wide.h - CSV files of the tools before rocprofv3: a row per dispatch, a column per counter.
 *
 * A format is a list of kinds of files, each recognised by its header, with the columns that files
 * of the kind may have. For kinds with counters, every other column is a hardware counter: such a
 * file also gives the counters table, with columns turned into rows.
 */
#ifndef RK_WIDE_CSV_H
#define RK_WIDE_CSV_H

#include "read/rocprofv3/csv.h"

/* One kind of file, recognised by header names it must have and must not have. */
struct rk_wide_kind {
	const char *must[6], *must_not[6];
	const char *free_header[2]; /* spellings of the column of free text */
	const char *clock;          /* the clock of its times */
	const char *absent[2]; /* some builds have these columns in the header but not in the rows */
	struct rk_v3_table tables[2];
	unsigned ntables;
	bool counters; /* columns that tables[0], kernels, does not name are counters */
	bool once;     /* kernels has only the first of several rows of a dispatch */
	bool barriers; /* kernels may be barrier packets */
	bool stats;    /* RK_STATS describes kernels */
	bool wrapped;  /* names were wrapped by a table printer */
};

/* One per scan, the argument of finishers: begins with what those of rocprofv3 look at. */
struct rk_wide_scan {
	struct rk_v3_scan v3;
	bool barriers, wrapped;
	uint32_t barrier_id;
};

/*
 * What reader ops are made of. ops->format is an array of kinds, of which the first match is used;
 * it ends with .ntables 0.
 */
int rk_wide_probe(const struct rk_head *head);
int rk_wide_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		 struct rk_reader **ret, struct rk_error *err);
int rk_wide_scan(struct rk_reader *r, enum rk_table t, uint64_t want, struct rk_source **ret,
		 struct rk_error *err);
void rk_wide_close(struct rk_reader *r);
enum rk_precedence rk_wide_precedence(const char *file_name, enum rk_table t);

/* For kernels with sizes in one number; every field that another is made from. */
uint64_t rk_wide_kernel_needs(uint64_t want);
int rk_wide_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err);
/* Joins names that a table printer has wrapped. */
int rk_wide_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err);

/* Copies, with rocprofv3's names. */
int rk_wide_finish_copies(void *scan, struct rk_builder *b, struct rk_error *err);
/* Kernels and copies from one list of operations. */
int rk_wide_finish_op_kernels(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_wide_finish_op_copies(void *scan, struct rk_builder *b, struct rk_error *err);

/* Fields of a wide row; counters follow them. */
enum rk_wide_field { RK_W_DISPATCH, RK_W_NAME, RK_W_DEVICE, RK_W_PID, RK_W_XCC, RK_W_NFIELDS };

/* What each column of a file is (pivot.c). Binds are in the order of the header. */
struct rk_wide_columns {
	struct rk_csv_bind *kernels; /* counters skipped */
	struct rk_csv_bind *counters;
	struct rk_schema schema; /* of `counters`: RK_W_*, then a double per counter */
	struct rk_field *fields;
	unsigned ncounters;
	bool per_xcc; /* a row per dispatch and accelerator die */
};

/*
 * `fixed` lists the columns that are not counters. Copies of a column from a join of passes, with
 * _1, _2 ... after the name, are skipped. Names are borrowed from the header.
 */
int rk_wide_columns_make(const struct rk_csv_header *h, const struct rk_csv_bind *fixed,
			 struct rk_wide_columns *ret, struct rk_error *err);
void rk_wide_columns_release(struct rk_wide_columns *c);

/* Turns `rows` of c->schema into counters. Takes over `rows`, also on failure. */
int rk_wide_pivot_open(struct rk_source *rows, const struct rk_wide_columns *c,
		       struct rk_context *ctx, uint64_t want, struct rk_source **ret,
		       struct rk_error *err);

#endif
