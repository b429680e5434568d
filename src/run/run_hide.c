/* run_hide.c - command lines without the secrets in them, as a pass over the table of processes. */
#include <string.h>

#include "base/alloc.h"
#include "base/secrets.h"
#include "run/run.h"

enum { COMMAND_BYTES_MAX = 16 << 20 };

struct hide {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_context *ctx;
	bool redact;
	struct rk_redaction_self self;
	uint32_t *ids; /* the column that replaces the recorded one */
	size_t cap;
	struct rk_column cols[RK_O_NFIELDS];
	struct rk_batch batch;
};

/* `text` without secrets and, if that is asked for, without names and places. */
static bool clean(const struct hide *h, const char *text, struct rk_bytes *out)
{
	struct rk_bytes plain;

	if (!h->redact) {
		rk_hide_argument(out, NULL, text);
		return rk_bytes_str(out) != NULL;
	}
	rk_bytes_init(&plain, COMMAND_BYTES_MAX);
	rk_hide_argument(&plain, NULL, text);
	if (rk_bytes_str(&plain))
		rk_redact_text(out, rk_bytes_str(&plain), &h->self.who);
	else
		out->bad = true;
	rk_bytes_release(&plain);
	return rk_bytes_str(out) != NULL;
}

static int hide_one(const struct hide *h, uint32_t id, uint32_t *ret, struct rk_error *err)
{
	struct rk_bytes text, out;
	size_t len;
	const char *recorded = rk_strtab_borrow(h->ctx->names, id, &len);
	int rc;

	rk_bytes_init(&text, COMMAND_BYTES_MAX);
	rk_bytes_init(&out, COMMAND_BYTES_MAX);
	rk_bytes_put(&text, recorded, len);
	if (rk_bytes_str(&text) && clean(h, rk_bytes_str(&text), &out))
		rc = rk_strtab_add(h->ctx->names, (const char *)out.data, out.len, ret, err);
	else
		rc = rk_fail_nomem(err);
	rk_bytes_release(&text);
	rk_bytes_release(&out);
	return rc;
}

static int replace(struct hide *h, const struct rk_batch *b, struct rk_error *err)
{
	const uint32_t *from = b->cols[RK_O_COMMAND].data;
	int rc = 0;

	if (h->cap < b->nrows) {
		rk_free(h->ids);
		h->ids = rk_alloc(b->nrows * sizeof(*h->ids));
		h->cap = h->ids ? b->nrows : 0;
		if (!h->ids)
			return rk_fail_nomem(err);
	}
	for (size_t i = 0; rc == 0 && i < b->nrows; i++)
		rc = hide_one(h, from[i], &h->ids[i], err);
	return rc;
}

static int hide_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct hide *h = (struct hide *)base;
	const struct rk_batch *b;
	int rc = rk_source_next(h->rows, &b, err);

	if (rc <= 0)
		return rc;
	if (!b->cols[RK_O_COMMAND].data) {
		*batch = b;
		return 1;
	}
	rc = replace(h, b, err);
	if (rc < 0)
		return rc;
	memcpy(h->cols, b->cols, sizeof(h->cols));
	h->cols[RK_O_COMMAND].data = h->ids;
	h->batch = (struct rk_batch){ b->schema, b->nrows, h->cols };
	*batch = &h->batch;
	return 1;
}

static void hide_close(struct rk_source *base)
{
	struct hide *h = (struct hide *)base;

	rk_source_close(h->rows);
	rk_free(h->ids);
	rk_free(h);
}

static const struct rk_source_ops hide_ops = { .next = hide_next, .close = hide_close };

int rk_run_hide_open(struct rk_source *rows, struct rk_run *run, struct rk_source **ret,
		     struct rk_error *err)
{
	struct hide *h = rk_calloc(1, sizeof(*h));

	if (!h) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	h->base = (struct rk_source){ &hide_ops, rows->schema };
	h->rows = rows;
	h->ctx = &run->ctx;
	h->redact = run->opt.redact;
	if (h->redact)
		rk_redaction_self(&h->self);
	*ret = &h->base;
	return 0;
}
