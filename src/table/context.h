/* context.h - what every reader, pass and writer of one run shares. */
#ifndef RK_CONTEXT_H
#define RK_CONTEXT_H

#include "base/diag.h"
#include "base/pool.h"
#include "base/strtab.h"

/* Memory limits that together keep a conversion under 64 MB whatever the input's size. */
enum {
	RK_NAMES_MAX_BYTES = 8 << 20,    /* the table of distinct names */
	RK_SORT_WINDOW_BYTES = 16 << 20, /* rows held back while sorting */
	RK_ROW_GROUP_BYTES = 10 << 20,   /* rows of a Parquet row group before encoding */
	RK_TEXT_BLOCK_BYTES = 2 << 20,   /* text read at a time */
};

struct rk_context {
	struct rk_strtab *names;
	struct rk_diag *diag;
	struct rk_pool *pool;
	const char *tmpdir; /* for spill files; NULL: $TMPDIR or /tmp */
	/* Called now and then with bytes read of bytes to read (0: unknown); nonzero cancels. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

#endif
