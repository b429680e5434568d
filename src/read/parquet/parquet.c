/*
 * parquet.c - Parquet files that hold one of the standard tables, ours or rewritten by
 * others.
 */
#include "read/parquet/parquet_reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

extern const struct rk_reader_ops rk_reader_parquet;

enum {
	TAIL_BYTES = 8, /* length of the footer, and the magic again */
	SCHEMA = 1,     /* newest "rockit.schema" that is understood */
};

static int parquet_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)whole;
	(void)file_name;
	return len >= 4 && !memcmp(head, "PAR1", 4) ? 100 : 0;
}

static void parquet_close(struct rk_reader *reader)
{
	struct rk_pq_reader *r = (struct rk_pq_reader *)reader;

	rk_pq_footer_release(&r->footer);
	rk_file_close(r->file);
	rk_instream_close(r->in);
	rk_free(r->fields);
	rk_free(r->leaf_of);
	rk_free(r);
}

static int read_exactly(struct rk_file *f, void *buf, size_t len, uint64_t offset,
			struct rk_error *err)
{
	size_t got;
	int rc = rk_file_pread(f, buf, len, offset, &got, err);

	if (rc == 0 && got != len)
		rc = rk_fail(err, RK_E_FORMAT, "the file ends early");
	return rc;
}

static int read_footer(struct rk_pq_reader *r, struct rk_error *err)
{
	const uint64_t size = r->file->size;
	uint8_t tail[TAIL_BYTES] = { 0 }, *bytes;
	struct rk_cursor c = rk_cursor_over(tail, sizeof(tail));
	uint32_t len;
	int rc;

	if (size < 4 + TAIL_BYTES)
		return rk_fail(err, RK_E_FORMAT, "too short for a Parquet file");
	rc = read_exactly(r->file, tail, sizeof(tail), size - TAIL_BYTES, err);
	if (rc < 0)
		return rc;
	if (memcmp(tail + 4, "PAR1", 4) != 0)
		return rk_fail(err, RK_E_FORMAT,
			       "no Parquet footer: the file is cut off or still being written");
	len = rk_cursor_u32le(&c);
	if (len > size - TAIL_BYTES - 4)
		return rk_fail(err, RK_E_FORMAT, "footer of %" PRIu32 " bytes does not fit", len);
	if (len > RK_PQ_MAX_FOOTER)
		return rk_fail(err, RK_E_LIMIT, "footer of %" PRIu32 " bytes", len);
	bytes = rk_alloc(len);
	if (!bytes)
		return rk_fail_nomem(err);
	rc = read_exactly(r->file, bytes, len, size - TAIL_BYTES - len, err);
	if (rc < 0) {
		rk_free(bytes);
		return rc;
	}
	return rk_pq_footer_parse(&r->footer, bytes, len, err);
}

static int find_leaf(const struct rk_pq_footer *f, const char *name)
{
	for (unsigned i = 0; i < f->nleaves; i++) {
		if (!strcmp(f->leaves[i].name, name))
			return (int)i;
	}
	return -1;
}

/* Columns that came later are not asked for. */
static bool has_all(const struct rk_pq_footer *f, const struct rk_schema *s)
{
	unsigned n = s->table == RK_AGENTS ? RK_G_NODE + 1 : s->nfields;

	for (unsigned i = 0; i < n; i++) {
		if (find_leaf(f, s->fields[i].name) < 0)
			return false;
	}
	return true;
}

/* By what the file says, or by its columns: a rewritten file has lost our metadata. */
static int find_table(const struct rk_pq_footer *f, struct rk_error *err)
{
	int t = f->table ? rk_table_by_name(f->table) : -1;

	if (f->schema && strcmp(f->schema, "1") != 0)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "written by a newer rockit: schema '%.20s', this one reads %d",
			       f->schema, SCHEMA);
	if (t >= 0)
		return t;
	if (find_leaf(f, "kernel_name") >= 0 && find_leaf(f, "start_ns") >= 0 &&
	    find_leaf(f, "duration_ns") >= 0)
		return RK_KERNELS;
	for (t = 0; t < RK_NTABLES; t++) {
		if (has_all(f, rk_table_schema((enum rk_table)t)))
			return t;
	}
	return rk_fail(err, RK_E_UNSUPPORTED, "no columns of a table that rockit knows");
}

static const char *const physical_names[] = {
	"BOOLEAN", "INT32",  "INT64",      "INT96",
	"FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY",
};

static bool is_number(int physical)
{
	return physical == RK_PQ_INT32 || physical == RK_PQ_INT64 || physical == RK_PQ_FLOAT ||
	       physical == RK_PQ_DOUBLE;
}

static bool type_fits(enum rk_type type, int physical)
{
	switch (type) {
	case RK_STR:
		return physical == RK_PQ_BYTE_ARRAY;
	case RK_BOOL:
		return physical == RK_PQ_BOOLEAN;
	default:
		return is_number(physical);
	}
}

static int check_leaves(const struct rk_pq_footer *f, struct rk_error *err)
{
	for (unsigned i = 0; i < f->nleaves; i++) {
		if (f->leaves[i].nested)
			return rk_fail(
				err, RK_E_UNSUPPORTED,
				"column '%s' is nested or repeated: only flat columns are read",
				f->leaves[i].name);
	}
	return 0;
}

static int check_type(const struct rk_field *field, const struct rk_pq_leaf *leaf,
		      struct rk_error *err)
{
	if (type_fits(field->type, leaf->physical))
		return 0;
	return rk_fail(err, RK_E_UNSUPPORTED, "column '%s' has type %s", leaf->name,
		       leaf->physical >= 0 ? physical_names[leaf->physical] : "none");
}

/* Not a second column of a standard name, and a name that may be written again. */
static bool is_counter(const struct rk_pq_leaf *leaf, const struct rk_schema *s)
{
	if (s->table != RK_KERNELS || !is_number(leaf->physical))
		return false;
	for (unsigned i = 0; i < RK_K_NFIELDS; i++) {
		if (!strcmp(leaf->name, s->fields[i].name))
			return false;
	}
	return rk_utf8_valid(leaf->name, strlen(leaf->name)) == strlen(leaf->name);
}

/* Columns that the standard table lacks: counters where they are numbers of the kernels. */
static void add_counters(struct rk_pq_reader *r, const bool *known)
{
	struct rk_schema *s = &r->schema;

	for (unsigned i = 0; i < r->footer.nleaves; i++) {
		const struct rk_pq_leaf *leaf = &r->footer.leaves[i];

		if (known[i])
			continue;
		if (!is_counter(leaf, s)) {
			rk_diag_add(r->ctx->diag, "unknown-column", rk_instream_path(r->in), 0, 1,
				    "column '%s' is not part of the table and was left out",
				    leaf->name);
			continue;
		}
		r->fields[s->nfields] = (struct rk_field){ .name = leaf->name, .type = RK_F64 };
		r->leaf_of[s->nfields++] = (int)i;
	}
}

static int match_fields(struct rk_pq_reader *r, bool *known, struct rk_error *err)
{
	const struct rk_schema *std = rk_table_schema(r->schema.table);

	for (unsigned i = 0; i < std->nfields; i++) {
		int at = find_leaf(&r->footer, std->fields[i].name), rc;

		r->fields[i] = std->fields[i];
		r->leaf_of[i] = at;
		if (at < 0)
			continue;
		known[at] = true;
		if (r->footer.leaves[at].is_null) {
			r->leaf_of[i] = -1; /* as pandas writes a text that no row has */
			continue;
		}
		rc = check_type(&std->fields[i], &r->footer.leaves[at], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int make_schema(struct rk_pq_reader *r, struct rk_error *err)
{
	const unsigned nleaves = r->footer.nleaves;
	bool *known = NULL;
	int t, rc;

	rc = t = find_table(&r->footer, err);
	if (rc >= 0)
		rc = check_leaves(&r->footer, err);
	if (rc < 0)
		return rc;
	r->schema = *rk_table_schema((enum rk_table)t);
	known = rk_calloc(nleaves, sizeof(*known));
	r->fields = rk_calloc(r->schema.nfields + nleaves, sizeof(*r->fields));
	r->leaf_of = rk_calloc(r->schema.nfields + nleaves, sizeof(*r->leaf_of));
	if (!known || !r->fields || !r->leaf_of) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = match_fields(r, known, err);
	if (rc < 0)
		goto out;
	add_counters(r, known);
	r->schema.fields = r->fields;
	r->base.tables = RK_TABLE_BIT(t);
out:
	rk_free(known);
	return rc;
}

static int parquet_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
			struct rk_error *err)
{
	struct rk_pq_reader *r = rk_calloc(1, sizeof(*r));
	const char *path;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = &rk_reader_parquet;
	r->ctx = ctx;
	r->in = in;
	rc = rk_instream_plain_path(in, ctx->tmpdir, &path, err);
	if (rc == 0)
		rc = rk_file_open(path, &r->file, err);
	if (rc == 0)
		rc = read_footer(r, err);
	if (rc == 0)
		rc = make_schema(r, err);
	if (rc < 0) {
		rk_error_at(err, rk_instream_path(in), 0, 0);
		r->in = NULL; /* stays the caller's */
		parquet_close(&r->base);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

static int parquet_scan(struct rk_reader *reader, enum rk_table t, uint64_t want,
			struct rk_source **ret, struct rk_error *err)
{
	struct rk_pq_reader *r = (struct rk_pq_reader *)reader;

	if (t != r->schema.table)
		return rk_fail(err, RK_E_USAGE, "the file holds no table '%s'", rk_table_name(t));
	return rk_pq_scan(r, want, ret, err);
}

const struct rk_reader_ops rk_reader_parquet = {
	.name = "parquet",
	.help = "Parquet files with a table of rockit's",
	.probe = parquet_probe,
	.open = parquet_open,
	.scan = parquet_scan,
	.close = parquet_close,
	.serial = true,
	.precedence = RK_PRECEDENCE_PARQUET,
	.own_tables = true,
	.rows_rank = RK_ROWS_MANY_RANKS,
};
