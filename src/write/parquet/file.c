/* file.c - writes a table as a Parquet file: row groups, page indexes, footer (parquet.thrift). */
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "codec/thrift.h"
#include "rockit/rockit.h"
#include "write/parquet/encode.h"
#include "write/writer.h"

/*
 * File offsets of a column's chunk and its two page indexes; without column index its length is 0.
 */
struct place {
	uint64_t offset;
	uint64_t column_index, offset_index;
	uint32_t column_index_len, offset_index_len;
};

enum {
	INDEX_TEXT_MAX = 64, /* longer texts in the page index are truncated, which it allows */
	ORDER_NONE = 0,
	ORDER_ASCENDING = 1,
	ORDER_DESCENDING = 2,
	CONVERTED_UTF8 = 0,
	PASSES_BYTES_MAX = 1 << 22,
};

static const int physical[] = {
	[RK_I64] = RK_PQ_INT64,      [RK_I32] = RK_PQ_INT32,    [RK_F64] = RK_PQ_DOUBLE,
	[RK_STR] = RK_PQ_BYTE_ARRAY, [RK_BOOL] = RK_PQ_BOOLEAN,
};

/* The bytes of a value in Parquet's statistics: plain encoding, strings without their length. */
static const void *value_bytes(const struct rk_pq_column *c, const uint64_t *v, size_t *ret_len)
{
	if (c->type == RK_STR)
		return rk_strtab_borrow(c->names, (uint32_t)*v, ret_len);
	*ret_len = rk_type_size(c->type);
	return v;
}

static void put_min(struct rk_thrift_writer *w, const struct rk_pq_column *c, const uint64_t *v)
{
	size_t len;
	const char *p = value_bytes(c, v, &len);

	if (len > INDEX_TEXT_MAX) {
		len = INDEX_TEXT_MAX;
		while (len && ((uint8_t)p[len] & 0xc0) == 0x80)
			len--;
	}
	rk_thrift_elem_binary(w, p, len);
}

/*
 * A truncated text is smaller than the full one. To keep an upper bound, the last character kept is
 * replaced by its successor; only ASCII is, because the result must be valid UTF-8. A text without
 * ASCII in its first INDEX_TEXT_MAX bytes is not truncated.
 */
static void put_max(struct rk_thrift_writer *w, const struct rk_pq_column *c, const uint64_t *v)
{
	char cut[INDEX_TEXT_MAX];
	size_t len, k = INDEX_TEXT_MAX;
	const char *p = value_bytes(c, v, &len);

	if (len > INDEX_TEXT_MAX) {
		while (k && (uint8_t)p[k - 1] >= 0x7f)
			k--;
		if (k) {
			memcpy(cut, p, k);
			cut[k - 1]++;
			p = cut;
			len = k;
		}
	}
	rk_thrift_elem_binary(w, p, len);
}

/* Whether the bounds of the pages ascend or descend; pages of nulls are skipped. */
static int page_order(const struct rk_pq_column *c)
{
	const struct rk_pq_page *last = NULL;
	bool up = true, down = true;

	for (size_t i = 0; i < c->npages; i++) {
		const struct rk_pq_page *p = &c->pages[i];
		int min, max;

		if (p->all_null)
			continue;
		if (last) {
			min = rk_pq_compare(c->type, c->names, last->range.min, p->range.min);
			max = rk_pq_compare(c->type, c->names, last->range.max, p->range.max);
			up &= min <= 0 && max <= 0;
			down &= min >= 0 && max >= 0;
		}
		last = p;
	}
	if (up)
		return ORDER_ASCENDING;
	return down ? ORDER_DESCENDING : ORDER_NONE;
}

/* This and the functions below append to `out`; out->bad reports a failure. */
static void pq_put_column_index(struct rk_bytes *out, const struct rk_pq_column *c)
{
	struct rk_thrift_writer w;

	rk_thrift_begin(&w, out);
	rk_thrift_put_list(&w, 1, RK_THRIFT_TRUE, c->npages);
	for (size_t i = 0; i < c->npages; i++)
		rk_thrift_elem_bool(&w, c->pages[i].all_null);
	rk_thrift_put_list(&w, 2, RK_THRIFT_BINARY, c->npages);
	for (size_t i = 0; i < c->npages; i++) {
		if (c->pages[i].all_null)
			rk_thrift_elem_binary(&w, "", 0);
		else
			put_min(&w, c, &c->pages[i].range.min);
	}
	rk_thrift_put_list(&w, 3, RK_THRIFT_BINARY, c->npages);
	for (size_t i = 0; i < c->npages; i++) {
		if (c->pages[i].all_null)
			rk_thrift_elem_binary(&w, "", 0);
		else
			put_max(&w, c, &c->pages[i].range.max);
	}
	rk_thrift_put_i32(&w, 4, page_order(c));
	rk_thrift_put_list(&w, 5, RK_THRIFT_I64, c->npages);
	for (size_t i = 0; i < c->npages; i++)
		rk_thrift_elem_int(&w, (int64_t)c->pages[i].nulls);
	rk_thrift_end(&w);
}

static void pq_put_offset_index(struct rk_bytes *out, const struct rk_pq_column *c, uint64_t offset)
{
	struct rk_thrift_writer w;

	rk_thrift_begin(&w, out);
	rk_thrift_put_list(&w, 1, RK_THRIFT_STRUCT, c->npages);
	for (size_t i = 0; i < c->npages; i++) {
		const struct rk_pq_page *p = &c->pages[i];

		rk_thrift_elem_struct(&w);
		rk_thrift_put_i64(&w, 1, (int64_t)(offset + c->dict_page.len + p->offset));
		rk_thrift_put_i32(&w, 2, (int32_t)p->bytes);
		rk_thrift_put_i64(&w, 3, (int64_t)p->first_row);
		rk_thrift_end(&w);
	}
	rk_thrift_end(&w);
}

static void put_encoding_count(struct rk_thrift_writer *w, int page_type, int encoding,
			       unsigned count)
{
	rk_thrift_elem_struct(w);
	rk_thrift_put_i32(w, 1, page_type);
	rk_thrift_put_i32(w, 2, encoding);
	rk_thrift_put_i32(w, 3, (int32_t)count);
	rk_thrift_end(w);
}

static void put_chunk_meta(struct rk_thrift_writer *w, const char *name,
			   const struct rk_pq_column *c, uint64_t offset)
{
	const bool dict = c->dict_page.len > 0;
	size_t ncounts = dict, nencodings = 0, len;
	bool has[RK_PQ_NENCODINGS];
	const void *p;

	rk_thrift_put_struct(w, 3);
	rk_thrift_put_i32(w, 1, physical[c->type]);
	/* Levels are always RLE; dictionary entries are plain. */
	for (int e = 0; e < RK_PQ_NENCODINGS; e++) {
		has[e] = c->count[e] || e == RK_PQ_RLE || (e == RK_PQ_PLAIN && dict);
		nencodings += has[e];
		ncounts += c->count[e] > 0;
	}
	rk_thrift_put_list(w, 2, RK_THRIFT_I32, nencodings);
	for (int e = 0; e < RK_PQ_NENCODINGS; e++) {
		if (has[e])
			rk_thrift_elem_int(w, e);
	}
	rk_thrift_put_list(w, 3, RK_THRIFT_BINARY, 1);
	rk_thrift_elem_binary(w, name, strlen(name));
	rk_thrift_put_i32(w, 4, (int32_t)c->codec);
	rk_thrift_put_i64(w, 5, (int64_t)c->rows);
	rk_thrift_put_i64(w, 6, (int64_t)c->raw_bytes);
	rk_thrift_put_i64(w, 7, (int64_t)(c->dict_page.len + c->data.len));
	rk_thrift_put_i64(w, 9, (int64_t)(offset + c->dict_page.len));
	if (dict)
		rk_thrift_put_i64(w, 11, (int64_t)offset);

	rk_thrift_put_struct(w, 12); /* Statistics */
	rk_thrift_put_i64(w, 3, (int64_t)c->null_rows);
	if (c->range.set && !c->no_range) {
		p = value_bytes(c, &c->range.max, &len);
		rk_thrift_put_binary(w, 5, p, len);
		p = value_bytes(c, &c->range.min, &len);
		rk_thrift_put_binary(w, 6, p, len);
		rk_thrift_put_bool(w, 7, true);
		rk_thrift_put_bool(w, 8, true);
	}
	rk_thrift_end(w);

	rk_thrift_put_list(w, 13, RK_THRIFT_STRUCT, ncounts);
	if (dict)
		put_encoding_count(w, RK_PQ_DICTIONARY_PAGE, RK_PQ_PLAIN, 1);
	for (int e = 0; e < RK_PQ_NENCODINGS; e++) {
		if (c->count[e])
			put_encoding_count(w, RK_PQ_DATA_PAGE_V2, e, c->count[e]);
	}
	rk_thrift_end(w);
}

static void pq_put_group(struct rk_bytes *out, const struct rk_schema *schema,
			 const struct rk_pq_column *cols, const struct place *places,
			 size_t ordinal)
{
	uint64_t raw = 0, stored = 0;
	struct rk_thrift_writer w;

	rk_thrift_begin(&w, out);
	rk_thrift_put_list(&w, 1, RK_THRIFT_STRUCT, schema->nfields);
	for (unsigned i = 0; i < schema->nfields; i++) {
		const struct place *place = &places[i];

		rk_thrift_elem_struct(&w);
		rk_thrift_put_i64(&w, 2, 0); /* file_offset: deprecated, always 0 */
		put_chunk_meta(&w, schema->fields[i].name, &cols[i], place->offset);
		rk_thrift_put_i64(&w, 4, (int64_t)place->offset_index);
		rk_thrift_put_i32(&w, 5, (int32_t)place->offset_index_len);
		if (place->column_index_len) {
			rk_thrift_put_i64(&w, 6, (int64_t)place->column_index);
			rk_thrift_put_i32(&w, 7, (int32_t)place->column_index_len);
		}
		rk_thrift_end(&w);
		raw += cols[i].raw_bytes;
		stored += cols[i].dict_page.len + cols[i].data.len;
	}
	rk_thrift_put_i64(&w, 2, (int64_t)raw);
	rk_thrift_put_i64(&w, 3, (int64_t)cols[0].rows);
	if (schema->time_field >= 0) {
		rk_thrift_put_list(&w, 4, RK_THRIFT_STRUCT, 1); /* sorting_columns */
		rk_thrift_elem_struct(&w);
		rk_thrift_put_i32(&w, 1, schema->time_field);
		rk_thrift_put_bool(&w, 2, false);
		rk_thrift_put_bool(&w, 3, false);
		rk_thrift_end(&w);
	}
	rk_thrift_put_i64(&w, 5, (int64_t)places[0].offset);
	rk_thrift_put_i64(&w, 6, (int64_t)stored);
	if (ordinal <= INT16_MAX)
		rk_thrift_put_i16(&w, 7, (int16_t)ordinal);
	rk_thrift_end(&w);
}

static void put_pair(struct rk_thrift_writer *w, const char *key, const char *value)
{
	rk_thrift_elem_struct(w);
	rk_thrift_put_text(w, 1, key);
	rk_thrift_put_text(w, 2, value);
	rk_thrift_end(w);
}

/*
 * The pass of each counter, in order of the columns: "3 TCC_HIT_sum\n", or "- energy_j\n" if it is
 * unknown; nothing if they are all from one pass.
 */
static void put_passes(struct rk_bytes *out, const struct rk_schema *schema)
{
	unsigned first = 0;
	bool several = false;

	for (unsigned i = 0; i < schema->nfields; i++) {
		unsigned pass = schema->fields[i].pass;

		several |= pass && first && pass != first;
		first = first ? first : pass;
	}
	for (unsigned i = RK_K_NFIELDS; several && i < schema->nfields; i++) {
		const struct rk_field *f = &schema->fields[i];

		if (f->pass)
			rk_bytes_printf(out, "%u %s\n", f->pass - 1, f->name);
		else
			rk_bytes_printf(out, "- %s\n", f->name);
	}
}

/* `groups`: output of ngroups calls of pq_put_group. */
static void pq_put_footer(struct rk_bytes *out, const struct rk_schema *schema, uint64_t rows,
			  const struct rk_bytes *groups, size_t ngroups)
{
	struct rk_thrift_writer w;
	struct rk_bytes passes;
	const char *text;

	rk_bytes_init(&passes, PASSES_BYTES_MAX);
	put_passes(&passes, schema);
	text = passes.len ? rk_bytes_str(&passes) : NULL;
	rk_thrift_begin(&w, out);
	rk_thrift_put_i32(&w, 1, 2);
	rk_thrift_put_list(&w, 2, RK_THRIFT_STRUCT, schema->nfields + 1);
	rk_thrift_elem_struct(&w);
	rk_thrift_put_text(&w, 4, "schema");
	rk_thrift_put_i32(&w, 5, (int32_t)schema->nfields);
	rk_thrift_end(&w);
	for (unsigned i = 0; i < schema->nfields; i++) {
		const struct rk_field *f = &schema->fields[i];

		rk_thrift_elem_struct(&w);
		rk_thrift_put_i32(&w, 1, physical[f->type]);
		rk_thrift_put_i32(&w, 3, RK_PQ_OPTIONAL);
		rk_thrift_put_text(&w, 4, f->name);
		if (f->type == RK_STR) {
			rk_thrift_put_i32(&w, 6, CONVERTED_UTF8);
			rk_thrift_put_struct(&w, 10); /* LogicalType ... */
			rk_thrift_put_struct(&w, 1);  /* ... STRING */
			rk_thrift_end(&w);
			rk_thrift_end(&w);
		}
		rk_thrift_end(&w);
	}
	rk_thrift_put_i64(&w, 3, (int64_t)rows);
	rk_thrift_put_list(&w, 4, RK_THRIFT_STRUCT, ngroups);
	rk_bytes_put(out, groups->data, groups->len);
	rk_thrift_put_list(&w, 5, RK_THRIFT_STRUCT, text ? 3 : 2);
	put_pair(&w, "rockit.schema", "1");
	put_pair(&w, "rockit.table", rk_table_name(schema->table));
	if (text)
		put_pair(&w, "rockit.passes", text);
	rk_thrift_put_text(&w, 6, "rockit " ROCKIT_VERSION);
	rk_thrift_put_list(&w, 7, RK_THRIFT_STRUCT, schema->nfields);
	for (unsigned i = 0; i < schema->nfields; i++) {
		rk_thrift_elem_struct(&w);
		rk_thrift_put_struct(&w, 1); /* TYPE_DEFINED_ORDER */
		rk_thrift_end(&w);
		rk_thrift_end(&w);
	}
	rk_thrift_end(&w);
	rk_bytes_release(&passes);
}

/* ---- the writer ---- */
/*
 * Rows are collected until a page is full; its columns are then encoded in parallel. Encoded pages
 * are collected until the row group is full. Then the columns are written one after the other,
 * followed by the page indexes of the group.
 */

enum {
	GROUP_ROWS = 131072,
	/* After MANY_GROUPS the groups get longer, to limit the size of the footer. */
	MANY_GROUPS = 64,
	LONG_GROUP_ROWS = 1 << 20,
	GROUP_BYTES = RK_ROW_GROUP_BYTES / 2, /* encoded; half, because buffers grow by doubling */
	PAGE_BYTES = RK_ROW_GROUP_BYTES / 4,  /* of rows, before encoding */
	MIN_PAGE_ROWS = 64,
	FOOTER_MAX = 1 << 30,
};

struct parquet_writer {
	struct rk_writer base;
	struct rk_output *out; /* borrowed */
	const struct rk_schema *schema;
	struct rk_pool *pool;
	struct rk_pq_column *cols;
	struct place *places;
	struct rk_pq_scratch *scratch; /* one per worker */
	unsigned nscratch;
	size_t page_rows;  /* rows in the page being filled */
	size_t group_rows; /* rows in flushed pages of the group */
	uint64_t rows;     /* rows in groups already written */
	size_t ngroups;
	struct rk_bytes groups; /* metadata of the groups, for the footer */
	struct rk_bytes buf;
};

static void parquet_close(struct rk_writer *writer)
{
	struct parquet_writer *w = (struct parquet_writer *)writer;

	for (unsigned i = 0; w->cols && i < w->schema->nfields; i++)
		rk_pq_column_release(&w->cols[i]);
	for (unsigned i = 0; i < w->nscratch; i++)
		rk_pq_scratch_release(&w->scratch[i]);
	rk_bytes_release(&w->groups);
	rk_bytes_release(&w->buf);
	rk_free(w->cols);
	rk_free(w->places);
	rk_free(w->scratch);
	rk_free(w);
}

static int parquet_open(struct rk_output *out, const struct rk_schema *schema,
			struct rk_context *ctx, struct rk_writer **ret, struct rk_error *err)
{
	struct parquet_writer *w;
	unsigned threads;
	int rc;

	w = rk_calloc(1, sizeof(*w));
	if (!w)
		return rk_fail_nomem(err);
	w->base.ops = &rk_writer_parquet;
	w->out = out;
	w->schema = schema;
	w->pool = ctx->pool;
	rk_bytes_init(&w->groups, FOOTER_MAX);
	rk_bytes_init(&w->buf, FOOTER_MAX);
	if (!schema->nfields) {
		rc = rk_fail(err, RK_E_USAGE, "a Parquet file needs a column");
		goto fail;
	}
	threads = rk_pool_threads(w->pool);
	w->places = rk_calloc(schema->nfields, sizeof(*w->places));
	w->cols = rk_calloc(schema->nfields, sizeof(*w->cols));
	w->scratch = rk_calloc(threads, sizeof(*w->scratch));
	if (!w->places || !w->cols || !w->scratch) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	for (unsigned i = 0; i < schema->nfields; i++)
		rk_pq_column_init(&w->cols[i], schema->fields[i].type, ctx->names);
	for (; w->nscratch < threads; w->nscratch++) {
		rc = rk_pq_scratch_init(&w->scratch[w->nscratch], err);
		if (rc < 0)
			goto fail;
	}
	rc = rk_output_write(out, "PAR1", 4, err);
	if (rc < 0)
		goto fail;
	*ret = &w->base;
	return 0;
fail:
	parquet_close(&w->base);
	return rc;
}

static void flush_task(void *arg, size_t i, unsigned worker)
{
	struct parquet_writer *w = arg;

	w->cols[i].rc = rk_pq_column_flush(&w->cols[i], &w->scratch[worker]);
}

static void finish_task(void *arg, size_t i, unsigned worker)
{
	struct parquet_writer *w = arg;

	w->cols[i].rc = rk_pq_column_finish(&w->cols[i], &w->scratch[worker]);
}

static int run_columns(struct parquet_writer *w, void (*task)(void *arg, size_t i, unsigned worker),
		       struct rk_error *err)
{
	rk_pool_run(w->pool, w->schema->nfields, task, w);
	for (unsigned i = 0; i < w->schema->nfields; i++) {
		if (w->cols[i].rc < 0)
			return rk_fail_nomem(err);
	}
	return 0;
}

static int put_bytes(struct parquet_writer *w, const struct rk_bytes *b, struct rk_error *err)
{
	if (b->bad)
		return rk_fail_nomem(err);
	if (!b->len)
		return 0;
	return rk_output_write(w->out, b->data, b->len, err);
}

/* All column indexes and then all offset indexes of the group, in one write. */
static int write_index(struct parquet_writer *w, struct rk_error *err)
{
	const uint64_t offset = rk_output_offset(w->out);

	rk_bytes_clear(&w->buf);
	for (unsigned i = 0; i < w->schema->nfields; i++) {
		size_t before = w->buf.len;

		if (w->cols[i].no_range)
			continue;
		pq_put_column_index(&w->buf, &w->cols[i]);
		w->places[i].column_index = offset + before;
		w->places[i].column_index_len = (uint32_t)(w->buf.len - before);
	}
	for (unsigned i = 0; i < w->schema->nfields; i++) {
		size_t before = w->buf.len;

		pq_put_offset_index(&w->buf, &w->cols[i], w->places[i].offset);
		w->places[i].offset_index = offset + before;
		w->places[i].offset_index_len = (uint32_t)(w->buf.len - before);
	}
	return put_bytes(w, &w->buf, err);
}

static int flush_group(struct parquet_writer *w, struct rk_error *err)
{
	int rc;

	if (!w->group_rows)
		return 0;
	rc = run_columns(w, finish_task, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < w->schema->nfields; i++) {
		w->places[i] = (struct place){ .offset = rk_output_offset(w->out) };
		if ((rc = put_bytes(w, &w->cols[i].dict_page, err)) < 0 ||
		    (rc = put_bytes(w, &w->cols[i].data, err)) < 0)
			return rc;
	}
	rc = write_index(w, err);
	if (rc < 0)
		return rc;
	pq_put_group(&w->groups, w->schema, w->cols, w->places, w->ngroups);
	if (w->groups.bad)
		return rk_fail_nomem(err);
	for (unsigned i = 0; i < w->schema->nfields; i++)
		rk_pq_column_reset(&w->cols[i]);
	w->ngroups++;
	w->rows += w->group_rows;
	w->group_rows = 0;
	return 0;
}

static int flush_page(struct parquet_writer *w, struct rk_error *err)
{
	size_t max_rows = w->ngroups < MANY_GROUPS ? GROUP_ROWS : LONG_GROUP_ROWS, bytes = 0;
	int rc;

	if (!w->page_rows)
		return 0;
	rc = run_columns(w, flush_task, err);
	if (rc < 0)
		return rc;
	w->group_rows += w->page_rows;
	w->page_rows = 0;
	for (unsigned i = 0; i < w->schema->nfields; i++) {
		const struct rk_pq_column *c = &w->cols[i];

		bytes += c->data.len + c->dict.n * sizeof(*c->dict.vals);
	}
	if (w->group_rows + RK_PQ_PAGE_ROWS > max_rows || bytes >= GROUP_BYTES)
		return flush_group(w, err);
	return 0;
}

/*
 * Row limit of a page; it shrinks with the number of columns that have values in the page or batch.
 */
static size_t page_limit(const struct parquet_writer *w, const struct rk_batch *b)
{
	size_t width = 1;

	for (unsigned i = 0; i < w->schema->nfields; i++) {
		if (w->cols[i].vals || b->cols[i].data)
			width += rk_type_size(w->cols[i].type);
	}
	return rk_max(MIN_PAGE_ROWS, rk_min(PAGE_BYTES / width, RK_PQ_PAGE_ROWS));
}

static int parquet_batch(struct rk_writer *writer, const struct rk_batch *b, struct rk_error *err)
{
	struct parquet_writer *w = (struct parquet_writer *)writer;
	const size_t limit = page_limit(w, b);
	size_t done = 0, n;
	int rc;

	for (; done < b->nrows; done += n) {
		if (w->page_rows >= limit) {
			rc = flush_page(w, err);
			if (rc < 0)
				return rc;
		}
		n = rk_min(b->nrows - done, limit - w->page_rows);
		for (unsigned i = 0; i < w->schema->nfields; i++) {
			if (!rk_pq_column_append(&w->cols[i], &b->cols[i], done, n))
				return rk_fail_nomem(err);
		}
		w->page_rows += n;
	}
	return 0;
}

static int parquet_finish(struct rk_writer *writer, struct rk_error *err)
{
	struct parquet_writer *w = (struct parquet_writer *)writer;
	uint8_t tail[8] = { 0, 0, 0, 0, 'P', 'A', 'R', '1' };
	int rc;

	if ((rc = flush_page(w, err)) < 0 || (rc = flush_group(w, err)) < 0)
		return rc;
	rk_bytes_clear(&w->buf);
	pq_put_footer(&w->buf, w->schema, w->rows, &w->groups, w->ngroups);
	for (unsigned i = 0; i < 4; i++)
		tail[i] = (uint8_t)(w->buf.len >> 8 * i);
	rk_bytes_put(&w->buf, tail, sizeof(tail));
	return put_bytes(w, &w->buf, err);
}

const struct rk_writer_ops rk_writer_parquet = {
	.name = "parquet",
	.help = "Apache Parquet, columns compressed with zstd",
	.suffix = ".parquet",
	.open = parquet_open,
	.batch = parquet_batch,
	.finish = parquet_finish,
	.close = parquet_close,
};
