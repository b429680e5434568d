/* reader.h - what a file format must offer to be read. One const table per format. */
#ifndef RK_READER_H
#define RK_READER_H

#include "codec/instream.h"
#include "table/context.h"
#include "table/source.h"

/* Every reader's struct begins with this. */
struct rk_reader {
	const struct rk_reader_ops *ops;
	uint32_t tables; /* RK_TABLE_BIT of each table it can give; fixed after open */
	bool once;       /* a pipe with one table: only one pass; set by rk_reader_open */
	bool repeats;    /* set before a scan: kernels has every row of a dispatch, not the first */
	const char *stats_of; /* RK_STATS: "kernel", "api", "copy" or "domain"; else NULL */
};

struct rk_reader_ops {
	const char *name; /* stable word for -v and JSON: "rocprofv3-csv" */
	const char *help; /* one line for `rockit help formats` */
	/*
	 * How surely these bytes are this format: 0 no .. 100 certain, or RK_E_NOMEM. head holds up to 64 KiB of
	 * unpacked content (whole: it is the whole content); file_name only breaks ties.
	 */
	int (*probe)(const void *head, size_t len, bool whole, const char *file_name);
	/*
	 * Reads what is needed to know the tables (a header, a schema). The reader takes over `in`
	 * when it succeeds; on failure the caller still owns it.
	 */
	int (*open)(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		    struct rk_error *err);
	/*
	 * A new pass over one table that is in reader->tables. `want` has bit i set for each field
	 * the caller will look at; a source may leave the others null. One source at a time.
	 */
	int (*scan)(struct rk_reader *r, enum rk_table t, uint64_t want, struct rk_source **ret,
		    struct rk_error *err);
	void (*close)(struct rk_reader *r);
	/* Its sources use one thread only: they may be drained on another than the caller's. */
	bool serial;
};

#define RK_WANT_ALL UINT64_MAX

/* All formats, NULL at the end (readers.c). */
extern const struct rk_reader_ops *const rk_readers[];

/*
 * Opens path, unpacks, asks each reader's probe, opens with the best. RK_E_UNSUPPORTED with
 * "'x' is not a format rockit knows" when all say 0.
 */
int rk_reader_open(const char *path, struct rk_context *ctx, struct rk_reader **ret,
		   struct rk_error *err);
/* The same for a file whose format is known from before. */
int rk_reader_open_as(const char *path, const struct rk_reader_ops *ops, struct rk_context *ctx,
		      struct rk_reader **ret, struct rk_error *err);
void rk_reader_close(struct rk_reader *r); /* NULL is fine */

#endif
