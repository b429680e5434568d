/* reader.h - the interface of a file format. One const table per format. */
#ifndef RK_READER_H
#define RK_READER_H

#include <string.h>

#include "base/num.h"
#include "codec/instream.h"
#include "table/source.h"

/* Every reader's struct begins with this. */
struct rk_reader {
	const struct rk_reader_ops *ops;
	uint32_t tables; /* RK_TABLE_BIT of each table it can provide; fixed after open */
	bool once;     /* a pipe with one table: it can be read only once; set by rk_reader_open */
	bool repeats;  /* set before a scan: kernels gets every row of a dispatch */
	bool ordinals; /* set before a scan: see rk_reader_ops.ordinals */
	bool untimed;  /* kernels have no times; set by open */
	unsigned analysis;    /* set by open: see rk_reader_ops.analysis */
	int release;          /* ROCm release that wrote the file, 70200 is 7.2.0; 0: unknown */
	const char *stats_of; /* RK_STATS: "kernel", "api", "copy" or "domain"; else NULL */
	bool many_ranks;      /* its rows may be of many ranks, whatever ops->rows_rank says */
	bool has_rank;        /* the file says that it is of one rank ... */
	int64_t rank;         /* ... this one */
};

/*
 * Several files of one process may have rows of the same table. Then all files of the lowest class
 * are used, and no others.
 */
enum rk_precedence {
	RK_PRECEDENCE_BY_TABLES, /* no fixed class: TRACE, COUNTERS or STATS, depending on its tables */
	RK_PRECEDENCE_PARQUET,
	RK_PRECEDENCE_ROCPD,
	RK_PRECEDENCE_TRACE,
	RK_PRECEDENCE_JSON,
	RK_PRECEDENCE_PERFETTO, /* rocprofv3 moves the edges of overlapping kernels */
	RK_PRECEDENCE_V1_DB,
	RK_PRECEDENCE_TEXT,         /* raw traces of rocprof v1, merged */
	RK_PRECEDENCE_TEXT_PART,    /* the same for one process */
	RK_PRECEDENCE_TEXT_RESULTS, /* kernels of rocprof v1, if there is no trace of operations */
	RK_PRECEDENCE_TEXT_RESULTS_PART,
	RK_PRECEDENCE_COUNTERS,
	RK_PRECEDENCE_STATS,
};

/* Which ranks the rows of a file may have if its path does not name one. */
enum rk_rows_rank {
	RK_ROWS_NO_RANK,
	RK_ROWS_ONE_RANK,   /* one rank, found in the first rows */
	RK_ROWS_MANY_RANKS, /* each row may have a different rank */
};

/* A table by which a SQLite file is recognised. */
struct rk_db_sign {
	const char *prefix; /* start of the table's name, case-insensitive; NULL ends the list */
	int score;          /* confidence that the file has this format, as for probe */
};

/* Input of a probe. */
struct rk_head {
	const char *data; /* up to 64 KiB of unpacked content */
	size_t len;
	bool whole;         /* `data` is the whole content */
	const void *format; /* the reader's own `format` */
};

struct rk_reader_ops {
	const char *name; /* stable name for -v and JSON: "rocprofv3-csv" */
	const char *help; /* one line for `rockit help formats` */
	/* Confidence that these bytes are this format: 0 (no) to 100 (certain), or RK_E_NOMEM. */
	int (*probe)(const struct rk_head *head);
	/*
	 * Reads enough to know the tables (a header, a schema). On success the reader owns `in`; on
	 * failure the caller still does. `ops` are the reader's own.
	 */
	int (*open)(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err);
	/*
	 * Starts reading one of the tables in reader->tables. `want` has bit i set for each field
	 * the caller will use; a source may leave the others null. Only one source at a time.
	 */
	int (*scan)(struct rk_reader *r, enum rk_table t, uint64_t want, struct rk_source **ret,
		    struct rk_error *err);
	void (*close)(struct rk_reader *r);
	const void *format; /* private data, for functions that several readers share */
	/* Its sources are single-threaded, so another thread may drain them. */
	bool serial;

	/* The optional fields below are used to combine the files of a run. */

	enum rk_precedence precedence;
	/* The class if it depends on the file name or on the table; NULL: use `precedence`. */
	enum rk_precedence (*precedence_of)(const char *file_name, enum rk_table t);
	/*
	 * Its files are tables that rockit writes: counters are columns of kernels, a file may be
	 * overwritten in place, and <table>.parquet in a folder was made from the other files in
	 * the folder.
	 */
	bool own_tables;
	/* Kernels have a row per counter pass: see rk_reader.repeats. */
	bool repeats_dispatches;
	/*
	 * Counters belong to kernels that may have no dispatch id. With rk_reader.ordinals, both
	 * tables have the kernel's order in the file instead, from 1.
	 */
	bool ordinals;
	/*
	 * The file was computed from others, which are usually beside it: 1 a database with all of
	 * them, 2 a table for people. 0: it was recorded.
	 */
	unsigned analysis;
	enum rk_rows_rank rows_rank;
	/*
	 * Files below the folder of the reader's file whose path contains this are raw data of the
	 * same process. NULL: none.
	 */
	const char *raw_folder;
	/*
	 * Tables by which sql/any.c recognises a SQLite file if its first pages do not show the
	 * format. May be NULL.
	 */
	const struct rk_db_sign *db_signs;
};

#define RK_WANT_ALL UINT64_MAX

/* The list of formats (readers.c); NULL after the last. */
const struct rk_reader_ops *rk_reader_at(size_t i);
/*
 * NULL: there is no such format. Only for tests: other code uses the fields above, never the name.
 */
const struct rk_reader_ops *rk_reader_by_name(const char *name);
/* Appends a format until this is called with NULL. Not thread-safe. */
void rk_readers_add_for_test(const struct rk_reader_ops *ops);
/* Calls the reader's probe with these bytes. */
int rk_reader_probe(const struct rk_reader_ops *ops, const void *head, size_t len, bool whole);

/*
 * Opens and unpacks the file, calls each reader's probe, and opens it with the best match.
 * RK_E_UNSUPPORTED with "'x' is not a format rockit knows" if all return 0.
 */
int rk_reader_open(const char *path, struct rk_context *ctx, struct rk_reader **ret,
		   struct rk_error *err);
/* The same for a file with a known format. */
int rk_reader_open_as(const char *path, const struct rk_reader_ops *ops, struct rk_context *ctx,
		      struct rk_reader **ret, struct rk_error *err);
void rk_reader_close(struct rk_reader *r); /* NULL is fine */

/*
 * For readers: reports how far `in` was read to the progress callback; RK_E_CANCELLED if the
 * callback cancels.
 */
int rk_reader_progress(struct rk_instream *in, struct rk_context *ctx, struct rk_error *err);

/*
 * A reader that only needs the stream. Opened by rk_plain_reader_open and closed by
 * rk_plain_reader_close.
 */
struct rk_plain_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
};
int rk_plain_reader_open(const struct rk_reader_ops *ops, uint32_t tables, struct rk_instream *in,
			 struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err);
void rk_plain_reader_close(struct rk_reader *r);

/* Workgroups: work-items divided by workgroup size, rounded up; RK_NONE if one is unknown. */
static inline int64_t rk_grid_of(int64_t items, int64_t block)
{
	if (block <= 0 || items < 0)
		return RK_NONE;
	return items / block + (items % block != 0);
}

/* Total registers of a work-item; RK_NONE means unknown. */
static inline int64_t rk_regs_of(int64_t vgpr, int64_t accum)
{
	if (vgpr == RK_NONE || accum == RK_NONE)
		return vgpr;
	return rk_add_saturated(vgpr, accum);
}

/* Does the HIP runtime's name of an operation on the GPU mean a copy or a fill? */
static inline bool rk_is_copy_word(const char *type)
{
	static const char *const words[] = { "Copy", "Fill", "Memcpy", "Memset", "MEMORY_COPY" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(type, words[i]))
			return true;
	return false;
}

/* rocprofv3's longer word for the direction of such an operation; `type` itself for all others. */
static inline const char *rk_copy_direction(const char *type)
{
	static const char *const words[][2] = {
		{ "CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE" },
		{ "CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_HOST" },
		{ "CopyDeviceToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i][0]);

		/* "2D" may follow: a rectangle */
		if (!strncmp(type, words[i][0], len) && (!type[len] || !strcmp(type + len, "2D")))
			return words[i][1];
	}
	return type;
}

/* The domain of the runtime whose calls begin like `word` ("hipMalloc"); NULL: none. */
static inline const char *rk_runtime_domain(const char *word)
{
	static const char *const runtimes[][2] = { { "hip", "HIP_RUNTIME_API" },
						   { "hsa", "HSA_CORE_API" },
						   { "cu", "CUDA_RUNTIME_API" } };

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (!strncmp(word, runtimes[i][0], strlen(runtimes[i][0])))
			return runtimes[i][1];
	return NULL;
}

#endif
