/* readers.c - the list of formats that we can read, and how one is chosen. */
#include "read/reader.h"

#include <string.h>

#include "base/alloc.h"
#include "read/foreign.h"

/* Every format, in the order in which `rockit help formats` lists them: rk_reader_<word>. */
#define READERS(X)             \
	X(rocpd)               \
	X(rocprofv3_csv)       \
	X(rocprof_v1_csv)      \
	X(rocprof_v2_csv)      \
	X(rocprof_compute_csv) \
	X(parquet)             \
	X(samples_csv)         \
	X(roofline_csv)        \
	X(sysinfo_csv)         \
	X(library_csv)         \
	X(rocprof_v1_txt)      \
	X(nsys_sqlite)         \
	X(rocprof_v1_db)       \
	X(compute_db)          \
	X(rpd)                 \
	X(nvtx_csv)            \
	X(nvprof_csv)          \
	X(ncu_csv)             \
	X(rocprofv3_json)      \
	X(kineto_json)         \
	X(proton_trace)        \
	X(proton_tree)         \
	X(rocprof_v1_json)     \
	X(hip_json)            \
	X(att_json)            \
	X(perfetto)            \
	X(xplane)              \
	X(rkraw)               \
	X(sqlite_any)

#define DECLARE(word) extern const struct rk_reader_ops rk_reader_##word;
#define ADDRESS(word) &rk_reader_##word,

READERS(DECLARE)

static const struct rk_reader_ops *const readers[] = { READERS(ADDRESS) };
static const struct rk_reader_ops *extra; /* added by a test */

const struct rk_reader_ops *rk_reader_at(size_t i)
{
	size_t n = sizeof(readers) / sizeof(readers[0]);

	if (i < n)
		return readers[i];
	return i == n ? extra : NULL;
}

const struct rk_reader_ops *rk_reader_by_name(const char *name)
{
	const struct rk_reader_ops *ops;

	for (size_t i = 0; (ops = rk_reader_at(i)) != NULL; i++)
		if (!strcmp(ops->name, name))
			break;
	return ops;
}

void rk_readers_add_for_test(const struct rk_reader_ops *ops)
{
	extra = ops;
}

int rk_reader_probe(const struct rk_reader_ops *ops, const void *head, size_t len, bool whole)
{
	return ops->probe(&(struct rk_head){ head, len, whole, ops->format });
}

/* The reader with the highest probe result; the first one of equals. */
static int choose(struct rk_instream *in, const struct rk_reader_ops **ret, struct rk_error *err)
{
	const char *path = rk_instream_path(in);
	const struct rk_reader_ops *ops, *best = NULL;
	const void *head;
	size_t len;
	int score = 0, rc = rk_instream_head(in, &head, &len, err);

	if (rc < 0)
		return rc;
	if (!len)
		return rk_fail(err, RK_E_UNSUPPORTED, "'%s' is empty", path);
	rc = rk_foreign_fail(path, head, len, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; (ops = rk_reader_at(i)) != NULL; i++) {
		int s = rk_reader_probe(ops, head, len, len < (64 << 10));

		if (s < 0)
			return rk_fail_nomem(err);
		if (s > score) {
			score = s;
			best = ops;
		}
	}
	if (!best)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "'%s' is not a format rockit knows (see 'rockit help formats')",
			       path);
	*ret = best;
	return 0;
}

int rk_reader_open_as(const char *path, const struct rk_reader_ops *ops, struct rk_context *ctx,
		      struct rk_reader **ret, struct rk_error *err)
{
	struct rk_instream *in;
	struct rk_reader *r = NULL;
	int rc = rk_instream_open(path, &in, err);

	if (rc < 0)
		return rc;
	if ((!ops && (rc = choose(in, &ops, err)) < 0) ||
	    (rc = ops->open(ops, in, ctx, &r, err)) < 0) {
		rk_instream_close(in);
		goto out;
	}
	/* a pipe with one table can be streamed; with more tables we must read it again */
	if (!rk_instream_rewindable(in)) {
		r->once = __builtin_popcount(r->tables) == 1;
		if (!r->once)
			rc = rk_instream_keep(in, ctx->tmpdir, err);
	}
out:
	if (rc < 0) {
		rk_error_at(err, path, 0, 0);
		rk_reader_close(r);
		return rc;
	}
	*ret = r;
	return 0;
}

int rk_reader_open(const char *path, struct rk_context *ctx, struct rk_reader **ret,
		   struct rk_error *err)
{
	return rk_reader_open_as(path, NULL, ctx, ret, err);
}

void rk_reader_close(struct rk_reader *r)
{
	if (r)
		r->ops->close(r);
}

int rk_plain_reader_open(const struct rk_reader_ops *ops, uint32_t tables, struct rk_instream *in,
			 struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	struct rk_plain_reader *r = rk_alloc(sizeof(*r));

	if (!r)
		return rk_fail_nomem(err);
	*r = (struct rk_plain_reader){ .base = { .ops = ops, .tables = tables },
				       .in = in,
				       .ctx = ctx };
	*ret = &r->base;
	return 0;
}

void rk_plain_reader_close(struct rk_reader *base)
{
	struct rk_plain_reader *r = (struct rk_plain_reader *)base;

	rk_instream_close(r->in);
	rk_free(r);
}

int rk_reader_progress(struct rk_instream *in, struct rk_context *ctx, struct rk_error *err)
{
	uint64_t done, total;

	if (!ctx->progress)
		return 0;
	rk_instream_progress(in, &done, &total);
	if (ctx->progress(ctx->progress_arg, done, total))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	return 0;
}
