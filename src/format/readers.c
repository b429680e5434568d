/* readers.c - the list of formats that can be read, and the choice among them. */
#include "format/reader.h"

#include <string.h>

#include "base/alloc.h"

extern const struct rk_reader_ops rk_reader_parquet, rk_reader_rocpd, rk_reader_rocprofv3_csv;

const struct rk_reader_ops *const rk_readers[] = {
	&rk_reader_rocpd,
	&rk_reader_rocprofv3_csv,
	&rk_reader_parquet,
	NULL,
};

static const struct rk_reader_ops *best_reader(const void *head, size_t len, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const struct rk_reader_ops *best = NULL;
	int score = 0;

	for (const struct rk_reader_ops *const *r = rk_readers; *r; r++) {
		int s = (*r)->probe(head, len, len < (64 << 10), name);

		if (s > score) {
			score = s;
			best = *r;
		}
	}
	return best;
}

static int open_stream(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		       struct rk_error *err)
{
	const char *path = rk_instream_path(in);
	const struct rk_reader_ops *ops;
	const void *head;
	size_t len;
	int rc = rk_instream_head(in, &head, &len, err);

	if (rc < 0)
		return rc;
	if (!len)
		return rk_fail(err, RK_E_UNSUPPORTED, "'%s' is empty", path);
	ops = best_reader(head, len, path);
	if (!ops)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "'%s' is not a format rockit knows (see 'rockit help formats')", path);
	return ops->open(in, ctx, ret, err);
}

int rk_reader_open(const char *path, struct rk_context *ctx, struct rk_reader **ret,
		   struct rk_error *err)
{
	struct rk_instream *in;
	int rc = rk_instream_open(path, &in, err);

	if (rc < 0)
		return rc;
	rc = open_stream(in, ctx, ret, err);
	if (rc < 0) {
		rk_error_at(err, path, 0, 0);
		rk_instream_close(in);
	}
	return rc;
}

void rk_reader_close(struct rk_reader *r)
{
	if (r)
		r->ops->close(r);
}
