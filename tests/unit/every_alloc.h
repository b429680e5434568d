/* every_alloc.h - reads all tables of a file while each allocation in turn fails. */
#ifndef RK_EVERY_ALLOC_H
#define RK_EVERY_ALLOC_H

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

/* Rows of all tables, or the error. */
static inline int64_t every_row(struct world *w, const char *path)
{
	struct rk_reader *r = NULL;
	const struct rk_batch *b;
	int64_t rows = 0;
	int rc = rk_reader_open(path, &w->ctx, &r, &w->err);

	for (int t = 0; rc == 0 && t < RK_NTABLES; t++) {
		struct rk_source *s = NULL;

		if (!(r->tables >> t & 1))
			continue;
		rc = r->ops->scan(r, (enum rk_table)t, RK_WANT_ALL, &s, &w->err);
		while (rc == 0 && (rc = rk_source_next(s, &b, &w->err)) > 0) {
			rows += (int64_t)b->nrows;
			rc = 0;
		}
		rk_source_close(s);
	}
	rk_reader_close(r);
	return rc < 0 ? rc : rows;
}

/* Each failure gives RK_E_NOMEM, or, where only a warning is lost, all rows. */
static inline void every_alloc_may_fail(const char *path, int64_t rows)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 20000; n++) {
		struct world w;
		int64_t got;

		world_open(&w, 1);
		rk_alloc_fail_after(n);
		got = every_row(&w, path);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		if (got < 0)
			CHECK(got == RK_E_NOMEM && w.err.code == RK_E_NOMEM);
		else
			CHECK_I64(got, rows);
		world_close(&w);
	}
	CHECK(!failed);
}

#endif
