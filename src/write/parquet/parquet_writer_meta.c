/* parquet_writer_meta.c - row groups, page indexes and the footer (parquet.thrift). */
#include "write/parquet/parquet_writer_meta.h"

#include <string.h>

#include "codec/thrift.h"
#include "rockit/rockit.h"

enum {
	INDEX_TEXT_MAX = 64, /* texts in the page index are bounds, and may be cut */
	ORDER_NONE = 0,
	ORDER_ASCENDING = 1,
	ORDER_DESCENDING = 2,
	CONVERTED_UTF8 = 0,
};

static const int physical[] = {
	[RK_I64] = RK_PQ_INT64,      [RK_I32] = RK_PQ_INT32,    [RK_F64] = RK_PQ_DOUBLE,
	[RK_STR] = RK_PQ_BYTE_ARRAY, [RK_BOOL] = RK_PQ_BOOLEAN,
};

/* A value as Parquet's statistics hold it: plain, strings without their length. */
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
 * A text that is cut stays an upper bound when its last character becomes the next one; an ASCII
 * letter has a next one that is valid UTF-8. Text without any is left whole.
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

/* How the pages' bounds follow each other; pages of nulls are passed over. */
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
	return up ? ORDER_ASCENDING : down ? ORDER_DESCENDING : ORDER_NONE;
}

void rk_pq_put_column_index(struct rk_bytes *out, const struct rk_pq_column *c)
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

void rk_pq_put_offset_index(struct rk_bytes *out, const struct rk_pq_column *c, uint64_t offset)
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

static void put_statistics(struct rk_thrift_writer *w, const struct rk_pq_column *c)
{
	const void *p;
	size_t len;

	rk_thrift_put_struct(w, 12);
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
}

/* Levels are always RLE; a dictionary is plain. */
static void put_encodings(struct rk_thrift_writer *w, const struct rk_pq_column *c)
{
	bool has[RK_PQ_NENCODINGS] = { false };
	size_t n = 0;

	for (int e = 0; e < RK_PQ_NENCODINGS; e++) {
		has[e] = c->count[e] || e == RK_PQ_RLE || (e == RK_PQ_PLAIN && c->dict_page.len);
		n += has[e];
	}
	rk_thrift_put_list(w, 2, RK_THRIFT_I32, n);
	for (int e = 0; e < RK_PQ_NENCODINGS; e++) {
		if (has[e])
			rk_thrift_elem_int(w, e);
	}
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

static void put_encoding_counts(struct rk_thrift_writer *w, const struct rk_pq_column *c)
{
	size_t n = c->dict_page.len > 0;

	for (int e = 0; e < RK_PQ_NENCODINGS; e++)
		n += c->count[e] > 0;
	rk_thrift_put_list(w, 13, RK_THRIFT_STRUCT, n);
	if (c->dict_page.len)
		put_encoding_count(w, RK_PQ_DICTIONARY_PAGE, RK_PQ_PLAIN, 1);
	for (int e = 0; e < RK_PQ_NENCODINGS; e++) {
		if (c->count[e])
			put_encoding_count(w, RK_PQ_DATA_PAGE_V2, e, c->count[e]);
	}
}

static void put_chunk_meta(struct rk_thrift_writer *w, const char *name,
			   const struct rk_pq_column *c, uint64_t offset)
{
	rk_thrift_put_struct(w, 3);
	rk_thrift_put_i32(w, 1, physical[c->type]);
	put_encodings(w, c);
	rk_thrift_put_list(w, 3, RK_THRIFT_BINARY, 1);
	rk_thrift_elem_binary(w, name, strlen(name));
	rk_thrift_put_i32(w, 4, (int32_t)c->codec);
	rk_thrift_put_i64(w, 5, (int64_t)c->rows);
	rk_thrift_put_i64(w, 6, (int64_t)c->raw_bytes);
	rk_thrift_put_i64(w, 7, (int64_t)(c->dict_page.len + c->data.len));
	rk_thrift_put_i64(w, 9, (int64_t)(offset + c->dict_page.len));
	if (c->dict_page.len)
		rk_thrift_put_i64(w, 11, (int64_t)offset);
	put_statistics(w, c);
	put_encoding_counts(w, c);
	rk_thrift_end(w);
}

static void put_chunk(struct rk_thrift_writer *w, const char *name, const struct rk_pq_column *c,
		      const struct rk_pq_place *place)
{
	rk_thrift_elem_struct(w);
	rk_thrift_put_i64(w, 2, 0); /* deprecated: the metadata stand here and nowhere else */
	put_chunk_meta(w, name, c, place->offset);
	rk_thrift_put_i64(w, 4, (int64_t)place->offset_index);
	rk_thrift_put_i32(w, 5, (int32_t)place->offset_index_len);
	if (place->column_index_len) {
		rk_thrift_put_i64(w, 6, (int64_t)place->column_index);
		rk_thrift_put_i32(w, 7, (int32_t)place->column_index_len);
	}
	rk_thrift_end(w);
}

static void put_sorting(struct rk_thrift_writer *w, int field)
{
	rk_thrift_put_list(w, 4, RK_THRIFT_STRUCT, 1);
	rk_thrift_elem_struct(w);
	rk_thrift_put_i32(w, 1, field);
	rk_thrift_put_bool(w, 2, false);
	rk_thrift_put_bool(w, 3, false);
	rk_thrift_end(w);
}

void rk_pq_put_group(struct rk_bytes *out, const struct rk_schema *schema,
		     const struct rk_pq_column *cols, const struct rk_pq_place *places,
		     size_t ordinal)
{
	uint64_t raw = 0, stored = 0;
	struct rk_thrift_writer w;

	rk_thrift_begin(&w, out);
	rk_thrift_put_list(&w, 1, RK_THRIFT_STRUCT, schema->nfields);
	for (unsigned i = 0; i < schema->nfields; i++) {
		put_chunk(&w, schema->fields[i].name, &cols[i], &places[i]);
		raw += cols[i].raw_bytes;
		stored += cols[i].dict_page.len + cols[i].data.len;
	}
	rk_thrift_put_i64(&w, 2, (int64_t)raw);
	rk_thrift_put_i64(&w, 3, (int64_t)cols[0].rows);
	if (schema->time_field >= 0)
		put_sorting(&w, schema->time_field);
	rk_thrift_put_i64(&w, 5, (int64_t)places[0].offset);
	rk_thrift_put_i64(&w, 6, (int64_t)stored);
	if (ordinal <= INT16_MAX)
		rk_thrift_put_i16(&w, 7, (int16_t)ordinal);
	rk_thrift_end(&w);
}

static void put_field(struct rk_thrift_writer *w, const struct rk_field *f)
{
	rk_thrift_elem_struct(w);
	rk_thrift_put_i32(w, 1, physical[f->type]);
	rk_thrift_put_i32(w, 3, RK_PQ_OPTIONAL);
	rk_thrift_put_text(w, 4, f->name);
	if (f->type == RK_STR) {
		rk_thrift_put_i32(w, 6, CONVERTED_UTF8);
		rk_thrift_put_struct(w, 10); /* LogicalType ... */
		rk_thrift_put_struct(w, 1);  /* ... STRING */
		rk_thrift_end(w);
		rk_thrift_end(w);
	}
	rk_thrift_end(w);
}

static void put_schema(struct rk_thrift_writer *w, const struct rk_schema *schema)
{
	rk_thrift_put_list(w, 2, RK_THRIFT_STRUCT, schema->nfields + 1);
	rk_thrift_elem_struct(w);
	rk_thrift_put_text(w, 4, "schema");
	rk_thrift_put_i32(w, 5, (int32_t)schema->nfields);
	rk_thrift_end(w);
	for (unsigned i = 0; i < schema->nfields; i++)
		put_field(w, &schema->fields[i]);
}

static void put_pair(struct rk_thrift_writer *w, const char *key, const char *value)
{
	rk_thrift_elem_struct(w);
	rk_thrift_put_text(w, 1, key);
	rk_thrift_put_text(w, 2, value);
	rk_thrift_end(w);
}

void rk_pq_put_footer(struct rk_bytes *out, const struct rk_schema *schema, uint64_t rows,
		      const struct rk_bytes *groups, size_t ngroups)
{
	struct rk_thrift_writer w;

	rk_thrift_begin(&w, out);
	rk_thrift_put_i32(&w, 1, 2);
	put_schema(&w, schema);
	rk_thrift_put_i64(&w, 3, (int64_t)rows);
	rk_thrift_put_list(&w, 4, RK_THRIFT_STRUCT, ngroups);
	rk_bytes_put(out, groups->data, groups->len);
	rk_thrift_put_list(&w, 5, RK_THRIFT_STRUCT, 2);
	put_pair(&w, "rockit.schema", "1");
	put_pair(&w, "rockit.table", rk_table_name(schema->table));
	rk_thrift_put_text(&w, 6, "rockit " ROCKIT_VERSION);
	rk_thrift_put_list(&w, 7, RK_THRIFT_STRUCT, schema->nfields);
	for (unsigned i = 0; i < schema->nfields; i++) {
		rk_thrift_elem_struct(&w);
		rk_thrift_put_struct(&w, 1); /* TYPE_DEFINED_ORDER */
		rk_thrift_end(&w);
		rk_thrift_end(&w);
	}
	rk_thrift_end(&w);
}
