/* headed_csv.c - see headed_csv.h. */
#include "read/headed_csv.h"

#include "base/alloc.h"

int rk_headed_probe(const void *head, size_t len, bool whole,
		    bool (*is)(const struct rk_csv_header *h))
{
	struct rk_csv_header h;
	int rc = rk_csv_header_parse(head, len, whole, &h, NULL);
	bool yes;

	if (rc < 0)
		return rc == RK_E_NOMEM ? rc : 0;
	yes = is(&h);
	rk_csv_header_release(&h);
	return yes ? 90 : 0;
}

bool rk_headed_has(const struct rk_csv_header *h, const char *const *names)
{
	for (; *names; names++)
		if (rk_csv_header_find(h, *names) < 0)
			return false;
	return true;
}

void rk_headed_close(struct rk_reader *base)
{
	struct rk_headed_csv *r = (struct rk_headed_csv *)base;

	rk_csv_header_release(&r->header);
	rk_instream_close(r->in);
	rk_free(r);
}

int rk_headed_new(const struct rk_reader_ops *ops, enum rk_table t, size_t size,
		  struct rk_instream *in, struct rk_context *ctx, struct rk_headed_csv **ret,
		  struct rk_error *err)
{
	struct rk_headed_csv *r = rk_calloc(1, size);
	const void *head = NULL;
	size_t len = 0;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->base.tables = RK_TABLE_BIT(t);
	r->ctx = ctx;
	rc = rk_instream_head(in, &head, &len, err);
	if (rc == 0)
		rc = rk_csv_header_parse(head, len, true, &r->header, err);
	if (rc < 0) {
		rk_headed_close(&r->base);
		return rc;
	}
	*ret = r;
	return 0;
}
