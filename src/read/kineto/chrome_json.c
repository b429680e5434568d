/* chrome_json.c - walk through Chrome trace events. */
#include "read/kineto/chrome_json.h"

#include <string.h>

#include "base/alloc.h"

bool rk_chrome_has(const char *head, size_t len, const char *text)
{
	return memmem(head, len, text, strlen(text)) != NULL;
}

bool rk_chrome_is(const struct chrome_scan *s, unsigned from, const char *word)
{
	const struct rk_json_value *v = &s->record.values[from];

	return v->has == RK_JSON_HAS && v->len == strlen(word) &&
	       !memcmp(rk_json_record_text(&s->record, from), word, v->len);
}

int rk_chrome_put_text(struct chrome_scan *s, unsigned field, unsigned from, struct rk_error *err)
{
	return rk_json_put_field(&s->rows, field, &s->record, from, err);
}

/* Called as soon as the event's kind is known: most events belong to another table. */
static bool keep(void *arg, const struct rk_json_record *r)
{
	struct chrome_scan *s = arg;
	enum rk_table t = s->r->format->table_of(s);

	(void)r;
	return t == s->table || (t == RK_NTABLES && s->r->format->note);
}

/*
 * Called inside the list of events. Skips an event as soon as it is known to belong to another
 * table.
 */
static int on_event(struct chrome_scan *s, int kind, struct rk_error *err)
{
	const struct chrome_format *f = s->r->format;
	enum rk_table t;
	int rc;

	if (kind == RK_JSON_ARRAY)
		return rk_json_skip_rest(s->rows.json, err);
	if (kind != RK_JSON_OBJECT)
		return 0;
	rc = rk_json_record_read(&s->record, s->rows.json, err);
	if (rc < 0)
		return rc;
	t = f->table_of(s);
	if (t < RK_NTABLES)
		s->seen[t]++;
	else if (f->note && !s->record.dropped)
		return f->note(s, err);
	if (t != s->table || s->record.dropped || t == RK_NTABLES)
		return 0;
	rc = f->row(s, err);
	if (rc < 0)
		return rc;
	s->rows.b.nrows += (size_t)rc;
	return s->rows.nomem ? rk_fail_nomem(err) : 0;
}

/* Returns 1 to continue, 0 at the end of the document. */
static int step(struct chrome_scan *s, struct rk_error *err)
{
	static const char events[] = "traceEvents";
	struct rk_json_token tok;
	int rc = 0, kind = rk_json_next(s->rows.json, &tok, err);

	if (kind == RK_JSON_END && s->r->format->documents)
		return rk_json_again(s->rows.json, err);
	if (kind <= RK_JSON_END)
		return kind;
	if (kind == RK_JSON_ARRAY_END || kind == RK_JSON_OBJECT_END) {
		s->level = rk_json_depth(s->rows.json) ? 1 : 0;
	} else if (s->level == 2) {
		rc = on_event(s, kind, err);
	} else if (s->level == 0) {
		s->level = kind == RK_JSON_ARRAY ? 2 : 1;
	} else if (kind == RK_JSON_KEY && tok.len == sizeof(events) - 1 &&
		   !memcmp(tok.text, events, tok.len)) {
		rc = rk_json_next(s->rows.json, &tok, err);
		if (rc == RK_JSON_ARRAY)
			s->level = 2;
		else if (rc == RK_JSON_OBJECT)
			rc = rk_json_skip_rest(s->rows.json, err);
	} else if (kind == RK_JSON_KEY) {
		if (s->r->format->member)
			rc = s->r->format->member(s, &tok, err);
		if (rc == 0)
			rc = rk_json_skip_value(s->rows.json, err);
	}
	return rc < 0 ? rc : 1;
}

static int chrome_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct chrome_scan *s = (struct chrome_scan *)base;
	int rc = s->rows.ended ? 0 : rk_reader_progress(s->rows.in, s->rows.ctx, err);

	rk_builder_reset(&s->rows.b);
	if (s->r->known && s->table < RK_NTABLES && !s->r->rows[s->table])
		return 0;
	/* a member may add several rows at once; `member` leaves room for them */
	while (rc >= 0 && !s->rows.ended && s->rows.b.nrows < s->rows.b.cap) {
		rc = step(s, err);
		if (rc > 0)
			continue;
		rc = rk_json_scan_end(&s->rows, rc, err);
		if (rc < 0)
			return rc;
		memcpy(s->r->rows, s->seen, sizeof(s->seen));
		s->r->known = true;
	}
	if (rc < 0)
		return rc;
	return rk_json_scan_batch(&s->rows, batch);
}

static void chrome_source_close(struct rk_source *base)
{
	struct chrome_scan *s = (struct chrome_scan *)base;

	rk_json_pairs_release(&s->lanes);
	rk_json_record_release(&s->record);
	rk_json_scan_release(&s->rows);
	rk_free(s);
}

static const struct rk_source_ops chrome_source_ops = { .next = chrome_next,
							.close = chrome_source_close };

int rk_chrome_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		   struct rk_error *err)
{
	struct chrome_reader *r = (struct chrome_reader *)base;
	const struct chrome_format *f = r->format;
	struct chrome_scan *s = rk_calloc(1, sizeof(*s));
	bool rows = t < RK_NTABLES;
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->r = r;
	s->table = t;
	s->rows.base.ops = &chrome_source_ops;
	rk_json_record_init(&s->record, f->fields, f->nfields, UINT64_MAX);
	s->record.keep = keep;
	s->record.arg = s;
	if ((rc = rk_json_scan_init(&s->rows, r->in, r->ctx, rows ? t : RK_KERNELS,
				    rows ? want & f->gives[t] : 0, err)) < 0 ||
	    (rc = rk_strtab_adds(r->ctx->names, f->source, &s->source_id, err)) < 0 ||
	    (rc = rk_strtab_adds(r->ctx->names, f->clock, &s->clock_id, err)) < 0) {
		chrome_source_close(&s->rows.base);
		return rc;
	}
	if (f->loose)
		rk_json_set_loose(s->rows.json);
	*ret = &s->rows.base;
	return 0;
}

int rk_chrome_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		   struct rk_reader **ret, struct rk_error *err)
{
	const struct chrome_format *format = ops->format;
	struct chrome_reader *r = rk_calloc(1, sizeof(*r));
	const struct rk_batch *batch;
	struct rk_source *s = NULL;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->format = format;
	r->in = in;
	r->ctx = ctx;
	if (format->count) { /* read the whole document once without creating rows */
		if ((rc = rk_instream_keep(in, ctx->tmpdir, err)) >= 0 &&
		    (rc = rk_chrome_scan(&r->base, RK_NTABLES, 0, &s, err)) >= 0)
			rc = rk_source_next(s, &batch, err);
		rk_source_close(s);
		if (rc < 0) {
			rk_free(r);
			return rc;
		}
	}
	for (unsigned t = 0; t < RK_NTABLES; t++)
		if (format->gives[t] && (!format->count || r->rows[t]))
			r->base.tables |= RK_TABLE_BIT(t);
	if (!r->base.tables)
		r->base.tables = RK_TABLE_BIT(RK_KERNELS);
	*ret = &r->base;
	return 0;
}

void rk_chrome_close(struct rk_reader *base)
{
	struct chrome_reader *r = (struct chrome_reader *)base;

	rk_instream_close(r->in);
	rk_free(r);
}
