/* stream_array.h - columns as Arrow's structs, each with all that its release needs. */
#ifndef RK_STREAM_ARRAY_H
#define RK_STREAM_ARRAY_H

#include "convert/stream_column.h"
#include "rockit/stream.h"

/* On failure *ret is untouched; out of memory is the only one. */
int rk_stream_schema(const struct rk_stream_column *cols, size_t ncols, struct ArrowSchema *ret,
		     struct rk_error *err);
/*
 * The first n rows of the columns, whose buffers they share; dictionaries were frozen. The columns
 * may be reset after it.
 */
int rk_stream_array(const struct rk_stream_column *cols, size_t ncols, size_t n,
		    struct ArrowArray *ret, struct rk_error *err);

#endif
