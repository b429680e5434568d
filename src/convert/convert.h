/* convert.h - output that convert.c delegates: traces and data sets. */
#ifndef RK_CONVERT_H
#define RK_CONVERT_H

#include "run/run.h"
#include "write/writer.h"

/* Does `out` name a folder: an existing one, or a path that ends with a slash? */
bool rk_names_dir(const char *out);
/* Writes a run as one trace; `format` is a trace format; table < 0: all. opt->out may end in ".tar". */
int rk_run_convert_trace(struct rk_run *run, const struct rk_convert_options *opt,
			 const struct rk_writer_ops *format, int table,
			 struct rk_convert_result *ret, struct rk_error *err);
/* Writes a run as a data set: OUT/TABLE/node=N/rank=R/part-K.parquet. */
int rk_run_convert_dataset(struct rk_run *run, const struct rk_convert_options *opt, int table,
			   struct rk_convert_result *ret, struct rk_error *err);

#endif
