/* fuzz_reader.h - a reader over a file of any bytes, every table drained. */
#ifndef RK_FUZZ_READER_H
#define RK_FUZZ_READER_H

#include "fuzz_file.h"
#include "read/reader.h"

/* A run of a million nulls takes a dozen bytes and is valid. */
enum { FUZZ_MOST_BATCHES = 64 };

static inline void fuzz_drain(struct rk_reader *r)
{
	for (int t = 0; t < RK_NTABLES; t++) {
		struct rk_error err = { 0 };
		const struct rk_batch *b;
		struct rk_source *s = NULL;

		if (!(r->tables >> t & 1) ||
		    r->ops->scan(r, (enum rk_table)t, RK_WANT_ALL, &s, &err))
			continue;
		for (int i = 0; i < FUZZ_MOST_BATCHES && rk_source_next(s, &b, &err) > 0; i++)
			;
		rk_source_close(s);
	}
}

/* Opens `path` with one reader, whatever its probe says, and drains it. */
static inline void fuzz_read(const struct rk_reader_ops *ops, const char *path)
{
	struct rk_context ctx = { 0 };
	struct rk_error err = { 0 };
	struct rk_instream *in = NULL;
	struct rk_reader *r = NULL;

	if (rk_strtab_new(1 << 20, &ctx.names, &err) || rk_diag_new(&ctx.diag, &err) ||
	    rk_pool_new(1, &ctx.pool, &err) || rk_instream_open(path, &in, &err))
		goto out;
	if (ops->open(ops, in, &ctx, &r, &err)) {
		rk_instream_close(in);
		goto out;
	}
	fuzz_drain(r);
	ops->close(r);
out:
	rk_pool_free(ctx.pool);
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
}

#endif
