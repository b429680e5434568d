/* reader.h - what a file format must offer to be read. One const table per format. */
#ifndef RK_READER_H
#define RK_READER_H

#include "codec/instream.h"
#include "table/source.h"

/* Every reader's struct begins with this. */
struct rk_reader {
	const struct rk_reader_ops *ops;
	uint32_t tables; /* RK_TABLE_BIT of each table it can give; fixed after open */
	bool once;       /* a pipe with one table: only one pass; set by rk_reader_open */
	bool repeats;    /* set before a scan: kernels has every row of a dispatch, not the first */
	const char *stats_of; /* RK_STATS: "kernel", "api", "copy" or "domain"; else NULL */
};

/*
 * Several files of one process may have rows of the same table. The file with the lowest class gives
 * them; of one class all do.
 */
enum rk_precedence {
	RK_PRECEDENCE_BY_TABLES, /* no class: one of TRACE, COUNTERS, STATS, by the tables it has */
	RK_PRECEDENCE_PARQUET,
	RK_PRECEDENCE_ROCPD,
	RK_PRECEDENCE_TRACE,
	RK_PRECEDENCE_JSON,
	RK_PRECEDENCE_PERFETTO, /* rocprofv3 moves the edges of kernels that overlap */
	RK_PRECEDENCE_V1_DB,
	RK_PRECEDENCE_TEXT,         /* raw traces of rocprof v1, joined */
	RK_PRECEDENCE_TEXT_PART,    /* the same, of one process */
	RK_PRECEDENCE_TEXT_RESULTS, /* its kernels where there is no trace of operations */
	RK_PRECEDENCE_TEXT_RESULTS_PART,
	RK_PRECEDENCE_COUNTERS,
	RK_PRECEDENCE_STATS,
};

/* Which ranks the rows of a file may name when its path names none. */
enum rk_rows_rank {
	RK_ROWS_NO_RANK,
	RK_ROWS_ONE_RANK,   /* the first rows tell it */
	RK_ROWS_MANY_RANKS, /* each row may name another */
};

/* A table by which a SQLite file is recognised. */
struct rk_db_sign {
	const char *prefix; /* of the table's name, in any case; NULL ends the list */
	int score;          /* how surely the file is this format, as for probe */
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

	/* What follows is asked when the files of a run are put together. All of it may be left out. */

	enum rk_precedence precedence;
	/* The class where it depends on the file's name or on the table; NULL: `precedence`. */
	enum rk_precedence (*precedence_of)(const char *file_name, enum rk_table t);
	/*
	 * Its files are tables that rockit writes: counters are columns of kernels, a file may be written
	 * again in its own place, and <table>.parquet in a folder was made of what is in the folder.
	 */
	bool own_tables;
	/* Kernels have a row per pass of counters: see rk_reader.repeats. */
	bool repeats_dispatches;
	enum rk_rows_rank rows_rank;
	/*
	 * A part of a path: files below the reader's file whose path has it are raw data of the same
	 * process. NULL: there are none.
	 */
	const char *raw_folder;
	/* SQLite files whose beginning does not tell whose they are: how sql/any.c knows. May be NULL. */
	const struct rk_db_sign *db_signs;
};

#define RK_WANT_ALL UINT64_MAX

/* The formats in their order (readers.c); NULL behind the last. */
const struct rk_reader_ops *rk_reader_at(size_t i);
/* NULL: there is no such format. For tests: other code asks the fields above, never the name. */
const struct rk_reader_ops *rk_reader_by_name(const char *name);
/* One more format behind the others, until this is called with NULL. Not while other threads read. */
void rk_readers_add_for_test(const struct rk_reader_ops *ops);

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

/* For readers: tells the progress callback how far `in` is; RK_E_CANCELLED when it says so. */
int rk_reader_progress(struct rk_instream *in, struct rk_context *ctx, struct rk_error *err);

#endif
