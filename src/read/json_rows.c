/* json_rows.c - rows from JSON records, and warnings about them. */
#include "read/json_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

enum { PAIRS_MAX = 1 << 20 };

const char *rk_json_start(const char *head, size_t len)
{
	const char *p = head, *end = head + len;

	if (len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
		p++;
	return p < end ? p : NULL;
}

int rk_json_scan_init(struct rk_json_scan *s, struct rk_instream *in, struct rk_context *ctx,
		      enum rk_table t, uint64_t fields, struct rk_error *err)
{
	int rc;

	s->in = in;
	s->ctx = ctx;
	s->base.schema = rk_table_schema(t);
	rc = rk_builder_init(&s->b, s->base.schema, RK_BATCH_ROWS, err);
	if (rc < 0)
		return rc;
	for (unsigned f = 0; f < s->base.schema->nfields; f++) {
		if (!(fields >> f & 1))
			continue;
		s->col[f] = rk_builder_column(&s->b, f);
		if (!s->col[f])
			return rk_fail_nomem(err);
	}
	rc = rk_instream_rewind(in, err);
	if (rc < 0)
		return rc;
	return rk_json_new(in, &s->json, err);
}

void rk_json_scan_release(struct rk_json_scan *s)
{
	rk_json_free(s->json);
	rk_builder_release(&s->b);
}

static void tell(struct rk_context *ctx, const char *kind, const char *file, uint64_t count,
		 const char *fmt, const char *arg, uint64_t at)
{
	char text[600];

	if (!count)
		return;
	snprintf(text, sizeof(text), fmt, arg, (unsigned long long)at);
	rk_diag_most(ctx->diag, kind, file, 0, count, text);
}

static void tell_notes(const struct rk_json *j, struct rk_context *ctx, const char *file)
{
	const struct rk_json_notes *n = rk_json_notes(j);

	tell(ctx, "long-string", file, n->cut, "%s at byte %llu; truncated",
	     "string longer than 1048576 bytes", n->cut_at);
	tell(ctx, "not-a-number", file, n->nonfinite, "%s at byte %llu; treated as null",
	     "NaN or Infinity", n->nonfinite_at);
	tell(ctx, "bad-escape", file, n->escapes, "%s at byte %llu; kept as written",
	     "invalid JSON escape", n->escapes_at);
}

int rk_json_stream_end(struct rk_json *j, struct rk_instream *in, struct rk_context *ctx, int rc,
		       struct rk_error *err)
{
	const char *file = rk_instream_path(in);
	struct rk_error cause = { 0 };
	int more;

	if (rc < 0 && rk_json_truncated(j) && rc == RK_E_FORMAT) {
		tell(ctx, "truncated-json", file, 1, "%s; rows before that are read",
		     err ? err->message : "the JSON ends early", 0);
		rk_error_clear(err);
		tell_notes(j, ctx, file);
		return 0;
	}
	if (rc < 0) {
		rk_error_at(err, file, 0, 0);
		return rc;
	}
	tell_notes(j, ctx, file);
	more = rk_json_more(j, &cause);
	tell(ctx, "second-document", file, more > 0,
	     "%s after the end of the document, at byte %llu; ignored", "more content",
	     rk_json_offset(j));
	return 0;
}

int rk_json_scan_end(struct rk_json_scan *s, int rc, struct rk_error *err)
{
	const char *file = rk_instream_path(s->in);

	s->ended = true;
	tell(s->ctx, "bad-number", file, s->wrong,
	     "%s before byte %llu is not a number; left empty", s->wrong_field, s->wrong_at);
	tell(s->ctx, "number-out-of-range", file, s->range,
	     "%s before byte %llu is out of range; left empty", s->range_field, s->range_at);
	return rk_json_stream_end(s->json, s->in, s->ctx, rc, err);
}

static bool all_null(const struct rk_builder *b, unsigned field)
{
	if (!b->nulls[field])
		return false;
	for (size_t i = 0; i < b->nrows; i += 64) {
		uint64_t rows = ~UINT64_C(0);

		if (b->nrows - i < 64)
			rows = (UINT64_C(1) << (b->nrows - i)) - 1;
		if (b->valid[field][i / 64] & rows)
			return false;
	}
	return true;
}

int rk_json_scan_batch(struct rk_json_scan *s, const struct rk_batch **batch)
{
	if (!s->b.nrows)
		return 0;
	*batch = rk_builder_batch(&s->b);
	/* a column without values counts as missing, so that the file's path may fill it */
	for (unsigned f = 0; f < s->b.schema->nfields; f++)
		if (s->b.data[f] && all_null(&s->b, f))
			s->b.cols[f] = (struct rk_column){ 0 };
	return 1;
}

void rk_json_put_null(struct rk_json_scan *s, unsigned field)
{
	if (s->col[field] && !rk_builder_null(&s->b, field, s->b.nrows))
		s->nomem = true;
}

void rk_json_count_wrong(struct rk_json_scan *s, unsigned field, enum rk_json_has has)
{
	const char *name = s->b.schema->fields[field].name;

	if (has == RK_JSON_RANGE) {
		if (!s->range++) {
			s->range_field = name;
			s->range_at = rk_json_offset(s->json);
		}
	} else if (!s->wrong++) {
		s->wrong_field = name;
		s->wrong_at = rk_json_offset(s->json);
	}
}

void rk_json_put_large(struct rk_json_scan *s, unsigned field)
{
	rk_json_count_wrong(s, field, RK_JSON_RANGE);
	rk_json_put_null(s, field);
}

int rk_json_put_text(struct rk_json_scan *s, unsigned field, const char *text, size_t len,
		     struct rk_error *err)
{
	if (!s->col[field])
		return 0;
	return rk_strtab_add(s->ctx->names, text, len, &((uint32_t *)s->col[field])[s->b.nrows],
			     err);
}

int rk_json_put_word(struct rk_json_scan *s, unsigned field, const char *word, struct rk_error *err)
{
	return rk_json_put_text(s, field, word, strlen(word), err);
}

int rk_json_put_field(struct rk_json_scan *s, unsigned field, const struct rk_json_record *r,
		      unsigned from, struct rk_error *err)
{
	const struct rk_json_value *v = &r->values[from];

	if (v->has == RK_JSON_HAS)
		return rk_json_put_text(s, field, rk_json_record_text(r, from), v->len, err);
	rk_json_put_null(s, field);
	return 0;
}

void rk_json_put_times(struct rk_json_scan *s, unsigned start, unsigned duration,
		       const struct rk_json_value *from, const struct rk_json_value *to)
{
	int64_t d;

	rk_json_put_value(s, start, from);
	if (from->has != RK_JSON_HAS || to->has != RK_JSON_HAS) {
		if (to->has != RK_JSON_ABSENT && to->has != RK_JSON_HAS)
			rk_json_count_wrong(s, duration, to->has);
		rk_json_put_null(s, duration);
	} else if (!rk_sub_i64(to->i, from->i, &d)) {
		rk_json_put_large(s, duration);
	} else {
		rk_json_put(s, duration, d);
	}
}

void rk_json_put_grid(struct rk_json_scan *s, unsigned field, const struct rk_json_value *items,
		      const struct rk_json_value *block)
{
	if (items->has != RK_JSON_HAS || block->has != RK_JSON_HAS || block->i <= 0 || items->i < 0)
		rk_json_put_null(s, field);
	else
		rk_json_put(s, field, items->i / block->i + (items->i % block->i != 0));
}

int rk_json_pairs_add(struct rk_json_pairs *p, uint64_t key, int64_t value, struct rk_error *err)
{
	struct rk_json_pair *grown;

	if (p->n >= PAIRS_MAX) {
		p->lost++;
		return 0;
	}
	grown = rk_grow(p->p, &p->cap, p->n + 1, sizeof(*grown));
	if (!grown)
		return rk_fail_nomem(err);
	p->p = grown;
	if (p->n && p->p[p->n - 1].key >= key)
		p->unsorted = true;
	p->p[p->n++] = (struct rk_json_pair){ key, value };
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct rk_json_pair *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

int64_t *rk_json_pairs_find(struct rk_json_pairs *p, uint64_t key)
{
	size_t lo = 0, hi, n = 0;

	if (p->unsorted) { /* sort by key; keep one of equal keys */
		qsort(p->p, p->n, sizeof(*p->p), by_key);
		for (size_t i = 0; i < p->n; i++)
			if (i + 1 == p->n || p->p[i + 1].key != p->p[i].key)
				p->p[n++] = p->p[i];
		p->n = n;
		p->unsorted = false;
	}
	/* shortcut: kernels are numbered from 0 or 1 without gaps */
	if (key < p->n && p->p[key].key == key)
		return &p->p[key].value;
	for (hi = p->n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->p[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n && p->p[lo].key == key ? &p->p[lo].value : NULL;
}

void rk_json_pairs_release(struct rk_json_pairs *p)
{
	rk_free(p->p);
	*p = (struct rk_json_pairs){ 0 };
}
