/*
 * stream.h - tables of a run as Arrow C streams, without a copy.
 *
 * The structs are those of the Arrow C data and stream interfaces; their layout never changes. You can
 * include this header before or after another one that declares them under the same guards.
 */
#ifndef ROCKIT_STREAM_H
#define ROCKIT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"

RK_BEGIN_DECLS

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};

#endif

struct rk_run;

/* Zero it, then set what you need. */
struct rk_stream_options {
	const char *table;          /* "kernels", ...; NULL: kernels */
	const char *const *columns; /* only these, in this order; ends with NULL; NULL: all */
	size_t batch_rows;          /* max rows of an array; 0: 131072 */
	bool plain_strings;         /* utf8 instead of dictionary<int32, utf8> */
	bool sorted;                /* sorted by time, as in written files; else as recorded */
	uint64_t reserved[8];       /* 0 */
};

/*
 * One table over all files of the run: a struct array per batch, every column nullable. A table
 * that the run does not have gives a stream without rows. Only requested columns are decoded. If
 * all columns of kernels are requested, they include its counters, and energy_j if known.
 *
 * Integers are int64 or int32, values are double, strings are as requested, barrier is bool. A
 * dictionary only grows: an index means the same string in every array of a stream. Buffers are
 * aligned to 64 bytes.
 *
 * The caller owns the stream, its schema and its arrays, and releases each once. They are
 * independent: you can close the run and release the stream while arrays are in use. A stream keeps
 * the parts of its run that it needs, so the run's files and threads are freed when both are
 * closed.
 *
 * Use a stream on one thread at a time. Several threads may read streams of one run; they wait for
 * each other. Arrays and schemas may be used and released on any thread.
 *
 * get_next returns errno values: ENOMEM, EIO, EBADMSG (damaged file), ECANCELED (by the progress
 * callback of the run), ENOTSUP, EOVERFLOW (a limit), EINVAL. After an error it returns the same
 * error again. get_last_error returns the message with file and line: "x.csv:12: ...".
 *
 * Fails with RK_E_USAGE for an unknown table or column, or a column named twice; *ret is unchanged.
 */
int rk_run_stream(struct rk_run *run, const struct rk_stream_options *opt,
		  struct ArrowArrayStream *ret, struct rk_error *err);

/*
 * The error of a stream from rk_run_stream, with file, line and offset; code 0: no error. Borrowed
 * from the stream. NULL for a stream of another library, and for a released one.
 */
const struct rk_error *rk_stream_error(const struct ArrowArrayStream *stream);

/* The i-th table that the files of the run contain, in the order of rk_table_at; NULL past the end. */
const char *rk_run_table_at(const struct rk_run *run, size_t i);

RK_END_DECLS

#endif
