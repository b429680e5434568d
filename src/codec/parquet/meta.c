/* meta.c - reads the footer and page headers (parquet.thrift). */
#include "codec/parquet/meta.h"

#include <string.h>

#include "base/alloc.h"
#include "codec/thrift.h"

enum {
	MAX_DEPTH = 16, /* of the schema */
	CONVERTED_UINT_8 = 11,
	CONVERTED_UINT_64 = 14,
	LOGICAL_INTEGER = 10,
	LOGICAL_NULL = 11,
};

/* One SchemaElement. */
struct element {
	const char *name;
	size_t name_len;
	int64_t physical, repetition, children;
	bool is_unsigned, is_null;
};

/* LogicalType is a union of one field; only INTEGER and NULL matter. */
static void parse_logical(struct rk_thrift_reader *r, struct element *e)
{
	struct rk_thrift_field f = { 0 }, g = { 0 };

	while (rk_thrift_next(r, &f)) {
		e->is_null |= f.id == LOGICAL_NULL;
		if (f.id != LOGICAL_INTEGER || !rk_thrift_struct(r, &f)) {
			rk_thrift_skip(r, &f);
			continue;
		}
		while (rk_thrift_next(r, &g)) {
			if (g.id == 2)
				e->is_unsigned = !rk_thrift_bool(r, &g);
			else
				rk_thrift_skip(r, &g);
		}
	}
}

static void parse_element(struct rk_thrift_reader *r, struct element *e)
{
	struct rk_thrift_field f = { 0 };
	int64_t converted;

	*e = (struct element){ .name = "", .physical = -1 };
	while (rk_thrift_next(r, &f)) {
		switch (f.id) {
		case 1:
			e->physical = rk_thrift_int(r, &f);
			break;
		case 3:
			e->repetition = rk_thrift_int(r, &f);
			break;
		case 4:
			e->name = rk_thrift_binary(r, &f, &e->name_len);
			break;
		case 5:
			e->children = rk_thrift_int(r, &f);
			break;
		case 6:
			converted = rk_thrift_int(r, &f);
			e->is_unsigned |= converted >= CONVERTED_UINT_8 &&
					  converted <= CONVERTED_UINT_64;
			break;
		case 10:
			if (rk_thrift_struct(r, &f))
				parse_logical(r, e);
			break;
		default:
			rk_thrift_skip(r, &f);
		}
	}
}

/*
 * The list is the tree in depth-first order: each element is followed by its children. left[d] is
 * the number of children still to come at depth d.
 */
static int parse_schema(struct rk_thrift_reader *r, const struct rk_thrift_field *field,
			struct rk_pq_footer *f, struct rk_error *err)
{
	int64_t left[MAX_DEPTH + 1] = { 1 };
	struct rk_thrift_field elem;
	size_t n = rk_thrift_list(r, field, &elem), depth = 0;
	struct rk_pq_leaf *leaf;
	struct element e;

	if (r->c.bad || elem.type != RK_THRIFT_STRUCT || !n || f->leaves)
		return rk_fail(err, RK_E_FORMAT, "damaged footer: schema");
	if (n > RK_PQ_MAX_COLUMNS)
		return rk_fail(err, RK_E_LIMIT, "too many columns: %zu", n);
	f->leaves = rk_calloc(n, sizeof(*f->leaves));
	if (!f->leaves)
		return rk_fail_nomem(err);
	for (; n; n--) {
		parse_element(r, &e);
		while (depth && !left[depth])
			depth--;
		if (r->c.bad || !left[depth] || e.children < 0 || depth >= MAX_DEPTH)
			return rk_fail(err, RK_E_FORMAT, "damaged footer: schema");
		left[depth]--;
		if (e.children > 0 || depth == 0) {
			left[++depth] = e.children;
			continue;
		}
		leaf = &f->leaves[f->nleaves];
		leaf->name = rk_strndup(e.name, e.name_len);
		if (!leaf->name)
			return rk_fail_nomem(err);
		f->nleaves++;
		leaf->physical = -1;
		if (e.physical >= 0 && e.physical <= RK_PQ_FIXED)
			leaf->physical = (int)e.physical;
		leaf->optional = e.repetition == RK_PQ_OPTIONAL;
		leaf->nested = depth > 1 || e.repetition == RK_PQ_REPEATED;
		leaf->is_unsigned = e.is_unsigned;
		leaf->is_null = e.is_null;
	}
	return 0;
}

/* If a key occurs twice, the first one counts. */
static int parse_pairs(struct rk_thrift_reader *r, const struct rk_thrift_field *field,
		       struct rk_pq_footer *f, struct rk_error *err)
{
	struct rk_thrift_field elem, g;
	size_t n = rk_thrift_list(r, field, &elem), key_len, value_len;
	const char *key, *value;
	char **to;

	if (n && elem.type != RK_THRIFT_STRUCT)
		r->c.bad = true;
	for (; n && !r->c.bad; n--) {
		g = (struct rk_thrift_field){ 0 };
		key = value = "";
		key_len = value_len = 0;
		while (rk_thrift_next(r, &g)) {
			if (g.id == 1)
				key = rk_thrift_binary(r, &g, &key_len);
			else if (g.id == 2)
				value = rk_thrift_binary(r, &g, &value_len);
			else
				rk_thrift_skip(r, &g);
		}
		if (key_len == 12 && !memcmp(key, "rockit.table", 12))
			to = &f->table;
		else if (key_len == 13 && !memcmp(key, "rockit.schema", 13))
			to = &f->schema;
		else if (key_len == 13 && !memcmp(key, "rockit.passes", 13))
			to = &f->passes;
		else
			continue;
		if (!*to && !(*to = rk_strndup(value, value_len)))
			return rk_fail_nomem(err);
	}
	return 0;
}

int rk_pq_footer_parse(struct rk_pq_footer *f, uint8_t *bytes, size_t len, struct rk_error *err)
{
	struct rk_thrift_reader r = { .c = rk_cursor_over(bytes, len) };
	struct rk_thrift_field field = { 0 }, elem;
	int rc = 0;

	*f = (struct rk_pq_footer){ .bytes = bytes, .len = len };
	while (rc == 0 && rk_thrift_next(&r, &field)) {
		switch (field.id) {
		case 2:
			rc = parse_schema(&r, &field, f, err);
			break;
		case 3:
			f->num_rows = rk_thrift_int(&r, &field);
			break;
		case 4: /* row groups: only remember where they are */
			f->ngroups = rk_thrift_list(&r, &field, &elem);
			f->groups = (size_t)(r.c.pos - f->bytes);
			if (f->ngroups && elem.type != RK_THRIFT_STRUCT)
				r.c.bad = true;
			for (size_t i = 0; i < f->ngroups && !r.c.bad; i++)
				rk_thrift_skip(&r, &elem);
			break;
		case 5:
			rc = parse_pairs(&r, &field, f, err);
			break;
		default:
			rk_thrift_skip(&r, &field);
		}
	}
	if (rc == 0 && (r.c.bad || !f->leaves || f->num_rows < 0))
		rc = rk_fail(err, RK_E_FORMAT, "damaged footer");
	if (rc < 0)
		rk_pq_footer_release(f);
	return rc;
}

void rk_pq_footer_release(struct rk_pq_footer *f)
{
	for (unsigned i = 0; i < f->nleaves; i++)
		rk_free(f->leaves[i].name);
	rk_free(f->leaves);
	rk_free(f->bytes);
	rk_free(f->table);
	rk_free(f->schema);
	rk_free(f->passes);
	*f = (struct rk_pq_footer){ 0 };
}

/* A ColumnChunk; everything we need is in its ColumnMetaData, field 3. */
static void parse_chunk(struct rk_thrift_reader *r, struct rk_pq_chunk *ret)
{
	struct rk_thrift_field f = { 0 }, g;
	int64_t data, dict;

	*ret = (struct rk_pq_chunk){ .codec = -1 };
	while (rk_thrift_next(r, &f)) {
		if (f.id != 3 || !rk_thrift_struct(r, &f)) {
			rk_thrift_skip(r, &f);
			continue;
		}
		g = (struct rk_thrift_field){ 0 };
		data = dict = 0;
		while (rk_thrift_next(r, &g)) {
			switch (g.id) {
			case 1:
				ret->physical = (int)rk_thrift_int(r, &g);
				break;
			case 4:
				ret->codec = (int)rk_thrift_int(r, &g);
				break;
			case 5:
				ret->num_values = rk_thrift_int(r, &g);
				break;
			case 7:
				ret->bytes = rk_thrift_int(r, &g);
				break;
			case 9:
				data = rk_thrift_int(r, &g);
				break;
			case 11:
				dict = rk_thrift_int(r, &g);
				break;
			default:
				rk_thrift_skip(r, &g);
			}
		}
		/* some writers write 0 if there is no dictionary */
		ret->start = dict > 0 && dict < data ? dict : data;
	}
}

int rk_pq_footer_group(const struct rk_pq_footer *f, size_t *offset, struct rk_pq_group *ret,
		       struct rk_error *err)
{
	struct rk_thrift_reader r = { .c = rk_cursor_over(f->bytes, f->len) };
	struct rk_thrift_field field = { 0 }, elem;
	size_t n = 0;

	rk_cursor_take(&r.c, *offset);
	while (rk_thrift_next(&r, &field)) {
		if (field.id == 3) {
			ret->num_rows = rk_thrift_int(&r, &field);
		} else if (field.id == 1 && !n) {
			n = rk_thrift_list(&r, &field, &elem);
			if (n != f->nleaves || elem.type != RK_THRIFT_STRUCT)
				r.c.bad = true;
			for (size_t i = 0; i < n && !r.c.bad; i++)
				parse_chunk(&r, &ret->chunks[i]);
		} else {
			rk_thrift_skip(&r, &field);
		}
	}
	if (r.c.bad || n != f->nleaves || ret->num_rows < 0)
		return rk_fail(err, RK_E_FORMAT, "damaged footer: row group");
	*offset = (size_t)(r.c.pos - f->bytes);
	return 0;
}

/* Data pages of version 1, and dictionary pages: their first two fields are the same. */
static void parse_data_header(struct rk_thrift_reader *r, struct rk_pq_page_header *ret, bool dict)
{
	struct rk_thrift_field f = { 0 };

	while (rk_thrift_next(r, &f)) {
		if (f.id == 1)
			ret->num_values = rk_thrift_int(r, &f);
		else if (f.id == 2)
			ret->encoding = (int)rk_thrift_int(r, &f);
		else if (f.id == 3 && !dict)
			ret->def_encoding = (int)rk_thrift_int(r, &f);
		else
			rk_thrift_skip(r, &f);
	}
}

static void parse_data_header_v2(struct rk_thrift_reader *r, struct rk_pq_page_header *ret)
{
	struct rk_thrift_field f = { 0 };

	while (rk_thrift_next(r, &f)) {
		if (f.id == 1)
			ret->num_values = rk_thrift_int(r, &f);
		else if (f.id == 4)
			ret->encoding = (int)rk_thrift_int(r, &f);
		else if (f.id == 5)
			ret->def_bytes = rk_thrift_int(r, &f);
		else if (f.id == 6)
			ret->rep_bytes = rk_thrift_int(r, &f);
		else if (f.id == 7)
			ret->compressed = rk_thrift_bool(r, &f);
		else
			rk_thrift_skip(r, &f);
	}
}

int rk_pq_page_header_parse(const uint8_t *bytes, size_t len, struct rk_pq_page_header *ret,
			    size_t *ret_len)
{
	struct rk_thrift_reader r = { .c = rk_cursor_over(bytes, len) };
	struct rk_thrift_field f = { 0 };

	*ret = (struct rk_pq_page_header){ .type = -1, .compressed = true };
	ret->def_encoding = RK_PQ_RLE;
	while (rk_thrift_next(&r, &f)) {
		switch (f.id) {
		case 1:
			ret->type = (int)rk_thrift_int(&r, &f);
			break;
		case 2:
			ret->raw_bytes = rk_thrift_int(&r, &f);
			break;
		case 3:
			ret->bytes = rk_thrift_int(&r, &f);
			break;
		case 5:
		case 7:
			if (rk_thrift_struct(&r, &f))
				parse_data_header(&r, ret, f.id == 7);
			break;
		case 8:
			if (rk_thrift_struct(&r, &f))
				parse_data_header_v2(&r, ret);
			break;
		default:
			rk_thrift_skip(&r, &f);
		}
	}
	if (r.c.bad)
		return 0;
	if (ret->bytes < 0 || ret->raw_bytes < 0 || ret->num_values < 0 || ret->def_bytes < 0 ||
	    ret->rep_bytes < 0 || ret->type < 0)
		return RK_E_FORMAT;
	*ret_len = (size_t)(r.c.pos - bytes);
	return 1;
}
