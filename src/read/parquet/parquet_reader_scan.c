/* parquet_reader_scan.c - row group by row group, the wanted columns side by side. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "read/parquet/parquet_reader.h"

/* One field of the table that the file has and the caller wants. */
struct column {
	unsigned field;
	int leaf;
	struct rk_pq_pages pages;
	uint8_t *data; /* RK_BATCH_ROWS values of the field's type */
	uint64_t *valid;
};

struct scan {
	struct rk_source base;
	struct rk_pq_reader *r;
	struct rk_pq_shared shared;
	struct column *cols;
	size_t ncols;
	struct rk_pq_group group;
	size_t group_at, group_no; /* next one */
	uint64_t rows_left;        /* of the current group */
	uint64_t rows_done;        /* in batches before this one */
	struct rk_column *out;
	struct rk_batch batch;
	uint32_t levels[RK_PQ_STEP];
	uint64_t words[RK_PQ_STEP];
};

_Static_assert((int)RK_BATCH_ROWS <= (int)RK_PQ_STEP, "a batch is decoded in one step");

static void scan_close(struct rk_source *source)
{
	struct scan *s = (struct scan *)source;

	for (size_t i = 0; i < s->ncols; i++) {
		rk_pq_pages_release(&s->cols[i].pages);
		rk_free(s->cols[i].data);
		rk_free(s->cols[i].valid);
	}
	rk_bytes_release(&s->shared.stored);
	rk_free(s->cols);
	rk_free(s->group.chunks);
	rk_free(s->out);
	rk_free(s);
}

/* A page never holds more values than a 32-bit number can count. */
static bool rows_are_plausible(const struct rk_pq_group *g, unsigned nleaves)
{
	for (unsigned i = 0; i < nleaves; i++) {
		if (g->num_rows / INT32_MAX > g->chunks[i].bytes)
			return false;
	}
	return true;
}

/* 1: a group with rows is open; 0: there is none left. */
static int next_group(struct scan *s, struct rk_error *err)
{
	const struct rk_pq_footer *f = &s->r->footer;
	int rc;

	while (!s->rows_left) {
		if (s->group_no == f->ngroups)
			return 0;
		rc = rk_pq_footer_group(f, &s->group_at, &s->group, err);
		if (rc < 0)
			return rc;
		s->group_no++;
		if (!rows_are_plausible(&s->group, f->nleaves))
			return rk_fail(err, RK_E_FORMAT, "row group of %" PRId64 " rows",
				       s->group.num_rows);
		for (size_t i = 0; s->group.num_rows && i < s->ncols; i++) {
			struct column *c = &s->cols[i];

			rc = rk_pq_pages_begin(&c->pages, &s->group.chunks[c->leaf],
					       s->group.num_rows, err);
			if (rc < 0)
				return rc;
		}
		s->rows_left = (uint64_t)s->group.num_rows;
	}
	return 1;
}

static bool make_room(struct column *c, enum rk_type type)
{
	if (!c->data)
		c->data = rk_alloc(RK_BATCH_ROWS * rk_type_size(type));
	if (!c->valid)
		c->valid = rk_calloc(RK_BATCH_ROWS / 64, sizeof(*c->valid));
	return c->data && c->valid;
}

static int out_of_range(const struct column *c, uint64_t v, struct rk_error *err)
{
	return rk_fail(err, RK_E_FORMAT, "column '%s': %" PRIu64 " (%" PRId64 ") is out of range",
		       c->pages.leaf->name, v, (int64_t)v);
}

/* Integers as the file has them: do they fit a field of this type? */
static int check_range(const struct column *c, enum rk_type type, const uint64_t *words, size_t n,
		       struct rk_error *err)
{
	const bool is_unsigned = c->pages.leaf->is_unsigned;

	for (size_t i = 0; i < n; i++) {
		int64_t v = (int64_t)words[i];

		if (is_unsigned && v < 0)
			return out_of_range(c, words[i], err);
		if (type == RK_I32 && (v < INT32_MIN || v > INT32_MAX))
			return out_of_range(c, words[i], err);
	}
	return 0;
}

static bool is_real(const struct rk_pq_leaf *leaf)
{
	return leaf->physical == RK_PQ_FLOAT || leaf->physical == RK_PQ_DOUBLE;
}

/* Past it not every integer is a number of the type: digits may be lost. */
static double exact_limit(const struct column *c)
{
	return c->pages.leaf->physical == RK_PQ_FLOAT ? 0x1p24 : 0x1p53;
}

static int no_integer(const struct column *c, uint64_t row, double v, struct rk_error *err)
{
	const bool single = c->pages.leaf->physical == RK_PQ_FLOAT;

	if (isinf(v) || fabs(v) <= exact_limit(c))
		return rk_fail(err, RK_E_FORMAT,
			       "column '%s', row %" PRIu64 ": %.17g is no integer",
			       c->pages.leaf->name, row, v);
	return rk_fail(err, RK_E_FORMAT,
		       "column '%s', row %" PRIu64 ": %.17g is past 2^%d, where a %sfloating point "
		       "number is no exact integer; write the column as integers",
		       c->pages.leaf->name, row, v, single ? 24 : 53, single ? "32-bit " : "");
}

/*
 * As pandas makes of integers some of which are null: doubles, and NaN where there is none. Of the
 * rows from `at` of the batch *present have a value, in `words` without gaps.
 */
static int to_integers(struct scan *s, const struct column *c, size_t at, size_t rows,
		       size_t *present, struct rk_error *err)
{
	const bool all = *present == rows;
	const double limit = exact_limit(c);
	size_t from = 0, to = 0;

	for (size_t i = 0; from < *present; i++) {
		double v;

		if (!all && !s->levels[i])
			continue;
		memcpy(&v, &s->words[from++], 8);
		s->levels[i] = isnan(v) ? 0u : 1u;
		if (isnan(v))
			continue;
		if (!(fabs(v) <= limit) || trunc(v) != v)
			return no_integer(c, s->rows_done + at + i + 1, v, err);
		s->words[to++] = (uint64_t)(int64_t)v;
	}
	*present = to;
	return 0;
}

static void to_doubles(const struct rk_pq_leaf *leaf, uint64_t *words, size_t n)
{
	if (leaf->physical != RK_PQ_INT32 && leaf->physical != RK_PQ_INT64)
		return;
	for (size_t i = 0; i < n; i++) {
		double v = leaf->is_unsigned ? (double)words[i] : (double)(int64_t)words[i];

		memcpy(&words[i], &v, 8);
	}
}

/* Words to a column of their width, every row having one. */
static void narrow(uint8_t *to, size_t size, const uint64_t *words, size_t n)
{
	uint32_t *to32 = (uint32_t *)(void *)to;

	if (size == 8) {
		memcpy(to, words, n * 8);
	} else if (size == 4) {
		for (size_t i = 0; i < n; i++)
			to32[i] = (uint32_t)words[i];
	} else {
		for (size_t i = 0; i < n; i++)
			to[i] = (uint8_t)words[i];
	}
}

/* Puts the words, without gaps, to the rows that have a value. */
static void spread(uint8_t *to, size_t size, const uint64_t *words, const uint32_t *levels,
		   size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t w = levels[i] ? words[k] : 0;

		k += levels[i];
		narrow(to + i * size, size, &w, 1);
	}
}

static void note_levels(uint64_t *valid, size_t at, const uint32_t *levels, size_t n)
{
	for (size_t i = 0; i < n; i++, at++) {
		uint64_t bit = UINT64_C(1) << at % 64;

		valid[at / 64] = levels[i] ? valid[at / 64] | bit : valid[at / 64] & ~bit;
	}
}

/* n rows from `at` on that all have a value, or all have none. */
static void note_run(uint64_t *valid, size_t at, size_t n, bool present)
{
	while (n) {
		size_t k = 64 - at % 64 < n ? 64 - at % 64 : n;
		uint64_t mask = (k < 64 ? (UINT64_C(1) << k) - 1 : UINT64_MAX) << at % 64;

		valid[at / 64] = present ? valid[at / 64] | mask : valid[at / 64] & ~mask;
		at += k;
		n -= k;
	}
}

/* Rows [at, ...) of the batch, as far as one page goes; returns how many, adds to *present. */
static int fill_some(struct scan *s, struct column *c, size_t at, size_t n, size_t *present,
		     struct rk_error *err)
{
	const enum rk_type type = s->base.schema->fields[c->field].type;
	const size_t size = rk_type_size(type);
	size_t k;
	int rc = 0, rows = rk_pq_pages_next(&c->pages, n, s->levels, s->words, &k, err);

	if (rows < 0)
		return rows;
	if ((type == RK_I32 || type == RK_I64) && is_real(c->pages.leaf))
		rc = to_integers(s, c, at, (size_t)rows, &k, err);
	if (rc < 0)
		return rc;
	if (type == RK_I32 || (type == RK_I64 && c->pages.leaf->is_unsigned))
		rc = check_range(c, type, s->words, k, err);
	else if (type == RK_F64)
		to_doubles(c->pages.leaf, s->words, k);
	if (rc < 0)
		return rc;
	if (k == (size_t)rows) {
		narrow(c->data + at * size, size, s->words, k);
		note_run(c->valid, at, k, true);
	} else if (k) {
		spread(c->data + at * size, size, s->words, s->levels, (size_t)rows);
		note_levels(c->valid, at, s->levels, (size_t)rows);
	} else {
		memset(c->data + at * size, 0, (size_t)rows * size);
		note_run(c->valid, at, (size_t)rows, false);
	}
	*present += k;
	return rows;
}

static int fill_column(struct scan *s, struct column *c, size_t n, struct rk_error *err)
{
	struct rk_column *out = &s->out[c->field];
	size_t present = 0;

	if (!make_room(c, s->base.schema->fields[c->field].type))
		return rk_fail_nomem(err);
	for (size_t at = 0; at < n;) {
		int rows = fill_some(s, c, at, n - at, &present, err);

		if (rows < 0)
			return rows;
		at += (size_t)rows;
	}
	out->data = present ? c->data : NULL;
	out->valid = present && present < n ? c->valid : NULL;
	return 0;
}

static int report_progress(struct scan *s, struct rk_error *err)
{
	const struct rk_context *ctx = s->r->ctx;

	if (ctx->progress && ctx->progress(ctx->progress_arg, s->shared.done, s->r->file->size))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	return 0;
}

static int fill_batch(struct scan *s, size_t n, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->ncols; i++)
		rc = fill_column(s, &s->cols[i], n, err);
	return rc;
}

static int scan_next(struct rk_source *source, const struct rk_batch **batch, struct rk_error *err)
{
	struct scan *s = (struct scan *)source;
	size_t n;
	int rc = next_group(s, err);

	if (rc == 0)
		return 0;
	n = s->rows_left < RK_BATCH_ROWS ? (size_t)s->rows_left : RK_BATCH_ROWS;
	if (rc > 0)
		rc = fill_batch(s, n, err);
	if (rc == 0)
		rc = report_progress(s, err);
	if (rc < 0) {
		rk_error_at(err, rk_instream_path(s->r->in), 0, 0);
		return rc;
	}
	s->rows_left -= n;
	s->rows_done += n;
	s->batch.nrows = n;
	*batch = &s->batch;
	return 1;
}

static const struct rk_source_ops scan_ops = {
	.next = scan_next,
	.close = scan_close,
};

static void add_columns(struct scan *s, uint64_t want)
{
	const struct rk_pq_reader *r = s->r;

	for (unsigned i = 0; i < r->schema.nfields; i++) {
		struct column *c = &s->cols[s->ncols];
		int leaf = r->leaf_of[i];

		/* `want` has no bits for the fields past its width: they are always wanted. */
		if (leaf < 0 || (i < 64 && !(want >> i & 1)))
			continue;
		c->field = i;
		c->leaf = leaf;
		rk_pq_pages_init(&c->pages, &s->shared, &r->footer.leaves[leaf]);
		s->ncols++;
	}
}

int rk_pq_scan(struct rk_pq_reader *r, uint64_t want, struct rk_source **ret, struct rk_error *err)
{
	const unsigned nfields = r->schema.nfields;
	struct scan *s = rk_calloc(1, sizeof(*s));

	if (!s)
		return rk_fail_nomem(err);
	s->base.ops = &scan_ops;
	s->base.schema = &r->schema;
	s->r = r;
	s->shared.file = r->file;
	s->shared.names = r->ctx->names;
	rk_bytes_init(&s->shared.stored, RK_PQ_MAX_PAGE);
	s->group_at = r->footer.groups;
	s->cols = rk_calloc(nfields, sizeof(*s->cols));
	s->out = rk_calloc(nfields, sizeof(*s->out));
	s->group.chunks = rk_calloc(r->footer.nleaves, sizeof(*s->group.chunks));
	if (!s->cols || !s->out || !s->group.chunks) {
		scan_close(&s->base);
		return rk_fail_nomem(err);
	}
	add_columns(s, want);
	s->batch = (struct rk_batch){ .schema = &r->schema, .cols = s->out };
	*ret = &s->base;
	return 0;
}
