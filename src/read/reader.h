/* reader.h - what a file format must offer to be read. One const table per format. */
#ifndef RK_READER_H
#define RK_READER_H

#include "base/num.h"
#include "codec/instream.h"
#include "table/source.h"

/* Every reader's struct begins with this. */
struct rk_reader {
	const struct rk_reader_ops *ops;
	uint32_t tables; /* RK_TABLE_BIT of each table it can give; fixed after open */
	bool once;    /* a pipe with one table: it can be read only once; set by rk_reader_open */
	bool repeats; /* set before a scan: kernels has every row of a dispatch, not only the first */
	const char *stats_of; /* RK_STATS: "kernel", "api", "copy" or "domain"; else NULL */
};

/*
 * Several files of one process may have rows of the same table. Only files of the lowest class are
 * used for them, and all files of that class are.
 */
enum rk_precedence {
	RK_PRECEDENCE_BY_TABLES, /* no fixed class: TRACE, COUNTERS or STATS, depending on its tables */
	RK_PRECEDENCE_PARQUET,
	RK_PRECEDENCE_ROCPD,
	RK_PRECEDENCE_TRACE,
	RK_PRECEDENCE_JSON,
	RK_PRECEDENCE_PERFETTO, /* rocprofv3 moves the edges of kernels that overlap */
	RK_PRECEDENCE_V1_DB,
	RK_PRECEDENCE_TEXT,         /* raw traces of rocprof v1, joined */
	RK_PRECEDENCE_TEXT_PART,    /* the same, of one process */
	RK_PRECEDENCE_TEXT_RESULTS, /* its kernels, used when there is no trace of operations */
	RK_PRECEDENCE_TEXT_RESULTS_PART,
	RK_PRECEDENCE_COUNTERS,
	RK_PRECEDENCE_STATS,
};

/* Which ranks the rows of a file may have when its path has no rank. */
enum rk_rows_rank {
	RK_ROWS_NO_RANK,
	RK_ROWS_ONE_RANK,   /* one rank, in the first rows */
	RK_ROWS_MANY_RANKS, /* each row may have another rank */
};

/* A table by which a SQLite file is recognised. */
struct rk_db_sign {
	const char *prefix; /* start of the table's name, case-insensitive; NULL ends the list */
	int score;          /* how certain it is that the file has this format, as for probe */
};

/* What a probe decides by. */
struct rk_head {
	const char *data; /* up to 64 KiB of unpacked content */
	size_t len;
	bool whole;         /* it is the whole content */
	const void *format; /* of the reader that is asked */
};

struct rk_reader_ops {
	const char *name; /* stable word for -v and JSON: "rocprofv3-csv" */
	const char *help; /* one line for `rockit help formats` */
	/* How certain it is that these bytes are this format: 0 (no) to 100 (yes), or RK_E_NOMEM. */
	int (*probe)(const struct rk_head *head);
	/*
	 * Reads what is needed to know the tables (a header, a schema). The reader takes over `in`
	 * when it succeeds; on failure the caller still owns it. `ops` are the reader's own.
	 */
	int (*open)(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err);
	/*
	 * Starts to read one of the tables in reader->tables. `want` has bit i set for each field
	 * the caller will look at; a source may leave the others null. One source at a time.
	 */
	int (*scan)(struct rk_reader *r, enum rk_table t, uint64_t want, struct rk_source **ret,
		    struct rk_error *err);
	void (*close)(struct rk_reader *r);
	const void *format; /* for functions that several readers share: what this one is like */
	/* Its sources use only one thread, so another thread than the caller's may drain them. */
	bool serial;

	/* The fields below are used when the files of a run are combined. All are optional. */

	enum rk_precedence precedence;
	/* The class, when it depends on the file's name or on the table; NULL: `precedence`. */
	enum rk_precedence (*precedence_of)(const char *file_name, enum rk_table t);
	/*
	 * Its files are tables that rockit writes: counters are columns of kernels, a file may be written
	 * again in its own place, and <table>.parquet in a folder was made from the other files in
	 * the folder.
	 */
	bool own_tables;
	/* Kernels have a row per pass of counters: see rk_reader.repeats. */
	bool repeats_dispatches;
	enum rk_rows_rank rows_rank;
	/*
	 * Files below the reader's file whose path contains this are raw data of the same process.
	 * NULL: there are none.
	 */
	const char *raw_folder;
	/*
	 * Tables by which sql/any.c recognises a SQLite file when its first pages do not show the
	 * format. May be NULL.
	 */
	const struct rk_db_sign *db_signs;
};

#define RK_WANT_ALL UINT64_MAX

/* The formats in order (readers.c); NULL after the last. */
const struct rk_reader_ops *rk_reader_at(size_t i);
/* NULL: there is no such format. For tests: other code uses the fields above, never the name. */
const struct rk_reader_ops *rk_reader_by_name(const char *name);
/* Adds a format at the end until this is called with NULL. Not while other threads read. */
void rk_readers_add_for_test(const struct rk_reader_ops *ops);
/* What the reader's probe says of these bytes. */
int rk_reader_probe(const struct rk_reader_ops *ops, const void *head, size_t len, bool whole);

/*
 * Opens path, unpacks, asks each reader's probe, opens with the best. RK_E_UNSUPPORTED with
 * "'x' is not a format rockit knows" when all say 0.
 */
int rk_reader_open(const char *path, struct rk_context *ctx, struct rk_reader **ret,
		   struct rk_error *err);
/* The same for a file whose format is already known. */
int rk_reader_open_as(const char *path, const struct rk_reader_ops *ops, struct rk_context *ctx,
		      struct rk_reader **ret, struct rk_error *err);
void rk_reader_close(struct rk_reader *r); /* NULL is fine */

/*
 * For readers: reports to the progress callback how far `in` was read; RK_E_CANCELLED when the
 * callback cancels.
 */
int rk_reader_progress(struct rk_instream *in, struct rk_context *ctx, struct rk_error *err);

/* A reader that needs no more than the stream. Opened by rk_plain_reader_open, it is closed by this. */
struct rk_plain_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
};
int rk_plain_reader_open(const struct rk_reader_ops *ops, uint32_t tables, struct rk_instream *in,
			 struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err);
void rk_plain_reader_close(struct rk_reader *r);

/* Workgroups: work-items by the size of a workgroup, rounded up; RK_NONE where one is unknown. */
static inline int64_t rk_grid_of(int64_t items, int64_t block)
{
	if (block <= 0 || items < 0)
		return RK_NONE;
	return items / block + (items % block != 0);
}

/* All registers of a work-item; RK_NONE is unknown. */
static inline int64_t rk_regs_of(int64_t vgpr, int64_t accum)
{
	if (vgpr == RK_NONE || accum == RK_NONE)
		return vgpr;
	return rk_add_saturated(vgpr, accum);
}

#endif
