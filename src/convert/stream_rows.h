/* stream_rows.h - the rows that a stream is made of. */
#ifndef RK_STREAM_ROWS_H
#define RK_STREAM_ROWS_H

#include "rockit/stream.h"
#include "run/run.h"

/* Options were checked for everything but the names of columns. */
int rk_stream_rows(struct rk_run *run, enum rk_table t, const struct rk_stream_options *opt,
		   struct rk_source **ret, struct rk_error *err);

#endif
