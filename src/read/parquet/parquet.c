/*
 * parquet.c - Parquet files with one of the standard tables, written by rockit or rewritten by
 * other tools.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/parquet/page.h"
#include "read/reader.h"

enum {
	TAIL_BYTES = 8, /* footer length, then the magic again */
	SCHEMA = 1,     /* newest "rockit.schema" that we understand */
	PASSES_MAX = 1 << 20,
};

struct pq_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_file *file;
	struct rk_pq_footer footer;
	struct rk_schema schema; /* fields of the standard table, then counters */
	struct rk_field *fields; /* the schema's fields if there are counters */
	int *leaf_of;            /* by field: column of the file, or -1 */
};

/* ---- the file ---- */

static int parquet_probe(const struct rk_head *head)
{
	return head->len >= 4 && !memcmp(head->data, "PAR1", 4) ? 100 : 0;
}

static void parquet_close(struct rk_reader *reader)
{
	struct pq_reader *r = (struct pq_reader *)reader;

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

	if (rc < 0)
		return rc;
	if (got != len)
		return rk_fail(err, RK_E_FORMAT, "the file ends early");
	return 0;
}

static int read_footer(struct pq_reader *r, struct rk_error *err)
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
		return rk_fail(err, RK_E_FORMAT,
			       "the footer of %" PRIu32 " bytes does not fit in the file", len);
	if (len > RK_PQ_MAX_FOOTER)
		return rk_fail(err, RK_E_LIMIT, "the footer is too large: %" PRIu32 " bytes", len);
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

/*
 * Identifies the table by our metadata, else by its columns: a file rewritten by others has no
 * metadata of ours.
 */
static int find_table(const struct rk_pq_footer *f, struct rk_error *err)
{
	int t = f->table ? rk_table_by_name(f->table) : -1;

	if (f->schema && strcmp(f->schema, "1") != 0)
		return rk_fail(
			err, RK_E_UNSUPPORTED,
			"written by a newer rockit: schema '%.20s', this one reads schema %d; update rockit",
			f->schema, SCHEMA);
	if (t >= 0)
		return t;
	if (find_leaf(f, "kernel_name") >= 0 && find_leaf(f, "start_ns") >= 0 &&
	    find_leaf(f, "duration_ns") >= 0)
		return RK_KERNELS;
	for (t = 0; t < RK_NTABLES; t++) {
		const struct rk_schema *s = rk_table_schema((enum rk_table)t);
		/* columns that were added to the format later may be missing */
		unsigned i = 0, n = t == RK_AGENTS ? RK_G_NODE + 1 : s->nfields;

		while (i < n && find_leaf(f, s->fields[i].name) >= 0)
			i++;
		if (i == n)
			return t;
	}
	return rk_fail(err, RK_E_UNSUPPORTED, "its columns match no table that rockit knows");
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

/*
 * Columns beyond the standard table: in the kernels table, a numeric column is a counter if its
 * name is unique and can be written again.
 */
static void add_counters(struct pq_reader *r, const bool *known)
{
	struct rk_schema *s = &r->schema;

	for (unsigned i = 0; i < r->footer.nleaves; i++) {
		const struct rk_pq_leaf *leaf = &r->footer.leaves[i];
		bool counter = s->table == RK_KERNELS && is_number(leaf->physical) &&
			       rk_utf8_valid(leaf->name, strlen(leaf->name)) == strlen(leaf->name);

		if (known[i])
			continue;
		for (unsigned k = 0; counter && k < RK_K_NFIELDS; k++)
			counter = strcmp(leaf->name, s->fields[k].name) != 0;
		if (!counter) {
			rk_diag_add(r->ctx->diag, "unknown-column", rk_instream_path(r->in), 0, 1,
				    "column '%s' is not part of the table; ignored", leaf->name);
			continue;
		}
		r->fields[s->nfields] = (struct rk_field){ .name = leaf->name, .type = RK_F64 };
		r->leaf_of[s->nfields++] = (int)i;
	}
}

/*
 * Reads the passes of counters, "3 TCC_HIT_sum\n" or "- energy_j\n" for each counter column in
 * order. Where they do not match the columns, as in a file that others rewrote, all passes stay
 * unknown.
 */
static void read_passes(struct pq_reader *r)
{
	const char *at = r->footer.passes ? r->footer.passes : "";
	struct rk_schema *s = &r->schema;
	unsigned i = RK_K_NFIELDS;

	if (s->table != RK_KERNELS)
		return;
	for (; *at && i < s->nfields; i++) {
		size_t word = strcspn(at, " \n"), len = strcspn(at, "\n");
		const char *name = s->fields[i].name;
		bool unknown = word == 1 && *at == '-';
		uint64_t pass = 0;

		if (!at[len] || word == len || len - word - 1 != strlen(name) ||
		    memcmp(at + word + 1, name, len - word - 1) != 0 ||
		    (!unknown && (rk_num_u64(at, word, &pass) != RK_NUM_OK || pass > PASSES_MAX)))
			break;
		r->fields[i].pass = unknown ? 0 : (unsigned)pass + 1;
		at += len + 1;
	}
	for (unsigned k = RK_K_NFIELDS; (*at || i < s->nfields) && k < s->nfields; k++)
		r->fields[k].pass = 0;
}

static int match_fields(struct pq_reader *r, bool *known, struct rk_error *err)
{
	const struct rk_schema *std = rk_table_schema(r->schema.table);

	for (unsigned i = 0; i < std->nfields; i++) {
		int at = find_leaf(&r->footer, std->fields[i].name);
		const struct rk_pq_leaf *leaf;
		bool fits;

		r->fields[i] = std->fields[i];
		r->leaf_of[i] = at;
		if (at < 0)
			continue;
		leaf = &r->footer.leaves[at];
		known[at] = true;
		if (std->fields[i].type == RK_STR)
			fits = leaf->physical == RK_PQ_BYTE_ARRAY;
		else if (std->fields[i].type == RK_BOOL)
			fits = leaf->physical == RK_PQ_BOOLEAN;
		else
			fits = is_number(leaf->physical);
		if (leaf->is_null) {
			r->leaf_of[i] = -1; /* written by pandas: a text column without values */
			continue;
		}
		if (!fits)
			return rk_fail(err, RK_E_UNSUPPORTED, "column '%s' has the wrong type: %s",
				       leaf->name,
				       leaf->physical >= 0 ? physical_names[leaf->physical] :
							     "none");
	}
	return 0;
}

static int make_schema(struct pq_reader *r, struct rk_error *err)
{
	const unsigned nleaves = r->footer.nleaves;
	bool *known = NULL;
	int t, rc;

	t = find_table(&r->footer, err);
	if (t < 0)
		return t;
	for (unsigned i = 0; i < nleaves; i++)
		if (r->footer.leaves[i].nested)
			return rk_fail(
				err, RK_E_UNSUPPORTED,
				"column '%s' is nested or repeated: only flat columns are read",
				r->footer.leaves[i].name);
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
	read_passes(r);
	r->base.tables = RK_TABLE_BIT(t);
out:
	rk_free(known);
	return rc;
}

static int parquet_open(const struct rk_reader_ops *ops, struct rk_instream *in,
			struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	struct pq_reader *r = rk_calloc(1, sizeof(*r));
	const char *path;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->ctx = ctx;
	r->in = in;
	if ((rc = rk_instream_plain_path(in, ctx->tmpdir, &path, err)) < 0 ||
	    (rc = rk_file_open(path, &r->file, err)) < 0 || (rc = read_footer(r, err)) < 0 ||
	    (rc = make_schema(r, err)) < 0) {
		rk_error_at(err, rk_instream_path(in), 0, 0);
		r->in = NULL; /* on failure it still belongs to the caller */
		parquet_close(&r->base);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

/* ---- a scan: row group by row group, all wanted columns in parallel ---- */

/* A field of the table that the file has and the caller wants. */
struct column {
	unsigned field;
	int leaf;
	struct rk_pq_pages pages;
	uint8_t *data; /* RK_BATCH_ROWS values of the field's type */
	uint64_t *valid;
};

struct scan {
	struct rk_source base;
	struct pq_reader *r;
	struct rk_pq_shared shared;
	struct column *cols;
	size_t ncols;
	struct rk_pq_group group;
	size_t group_at, group_no; /* next one */
	uint64_t rows_left;        /* in the current group */
	uint64_t rows_done;        /* rows in earlier batches */
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

/* Returns 1 if a group with rows is open, 0 if there is none left. */
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
		/* a page cannot have more values than fit in 32 bits */
		for (unsigned i = 0; i < f->nleaves; i++)
			if (s->group.num_rows / INT32_MAX > s->group.chunks[i].bytes)
				return rk_fail(err, RK_E_FORMAT,
					       "implausible row group of %" PRId64 " rows",
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

static int out_of_range(const struct column *c, uint64_t v, struct rk_error *err)
{
	return rk_fail(err, RK_E_FORMAT, "column '%s': %" PRIu64 " (%" PRId64 ") is out of range",
		       c->pages.leaf->name, v, (int64_t)v);
}

/* Checks that the file's integers fit a field of this type. */
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

/*
 * pandas writes integers with nulls as doubles, with NaN for null. *present of the batch's rows
 * from `at` on have a value; the values are in `words` without gaps.
 */
static int to_integers(struct scan *s, const struct column *c, size_t at, size_t rows,
		       size_t *present, struct rk_error *err)
{
	const bool all = *present == rows, single = c->pages.leaf->physical == RK_PQ_FLOAT;
	const char *name = c->pages.leaf->name;
	/* above this limit the type cannot represent every integer */
	const double limit = single ? 0x1p24 : 0x1p53;
	size_t from = 0, to = 0;

	for (size_t i = 0; from < *present; i++) {
		double v;

		if (!all && !s->levels[i])
			continue;
		memcpy(&v, &s->words[from++], 8);
		s->levels[i] = isnan(v) ? 0u : 1u;
		if (isnan(v))
			continue;
		if (fabs(v) <= limit && trunc(v) == v) {
			s->words[to++] = (uint64_t)(int64_t)v;
			continue;
		}
		if (isinf(v) || fabs(v) <= limit)
			return rk_fail(err, RK_E_FORMAT,
				       "column '%s', row %" PRIu64 ": %.17g is not an integer",
				       name, s->rows_done + at + i + 1, v);
		return rk_fail(err, RK_E_FORMAT,
			       "column '%s', row %" PRIu64
			       ": %.17g is above 2^%d, where %sfloating-point "
			       "numbers skip integers; write the column as integers",
			       name, s->rows_done + at + i + 1, v, single ? 24 : 53,
			       single ? "32-bit " : "");
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

/* Copies words to a column of their width, if every row has a value. */
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

/* Copies words, which have no gaps, to the rows that have a value. */
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

/* Marks n rows from `at` on as all present or all null. */
static void note_run(uint64_t *valid, size_t at, size_t n, bool present)
{
	while (n) {
		size_t k = rk_min(64 - at % 64, n);
		uint64_t mask = (UINT64_MAX >> (64 - k)) << at % 64;

		if (present)
			valid[at / 64] |= mask;
		else
			valid[at / 64] &= ~mask;
		at += k;
		n -= k;
	}
}

/*
 * Fills rows of the batch from `at` on, from at most one page. Returns how many; adds to *present.
 */
static int fill_some(struct scan *s, struct column *c, size_t at, size_t n, size_t *present,
		     struct rk_error *err)
{
	const enum rk_type type = s->base.schema->fields[c->field].type;
	const size_t size = rk_type_size(type);
	size_t k;
	int physical = c->pages.leaf->physical;
	int rc = 0, rows = rk_pq_pages_next(&c->pages, n, s->levels, s->words, &k, err);

	if (rows < 0)
		return rows;
	if ((type == RK_I32 || type == RK_I64) &&
	    (physical == RK_PQ_FLOAT || physical == RK_PQ_DOUBLE))
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
	const size_t size = rk_type_size(s->base.schema->fields[c->field].type);
	struct rk_column *out = &s->out[c->field];
	size_t present = 0;

	if (!c->data)
		c->data = rk_alloc(RK_BATCH_ROWS * size);
	if (!c->valid)
		c->valid = rk_calloc(RK_BATCH_ROWS / 64, sizeof(*c->valid));
	if (!c->data || !c->valid)
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

static int scan_next(struct rk_source *source, const struct rk_batch **batch, struct rk_error *err)
{
	struct scan *s = (struct scan *)source;
	const struct rk_context *ctx = s->r->ctx;
	size_t n;
	int rc = next_group(s, err);

	if (rc == 0)
		return 0;
	n = RK_BATCH_ROWS;
	if (n > s->rows_left)
		n = (size_t)s->rows_left;
	for (size_t i = 0; rc >= 0 && i < s->ncols; i++)
		rc = fill_column(s, &s->cols[i], n, err);
	if (rc >= 0 && ctx->progress &&
	    ctx->progress(ctx->progress_arg, s->shared.done, s->r->file->size))
		rc = rk_fail(err, RK_E_CANCELLED, "cancelled");
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

static int parquet_scan(struct rk_reader *reader, enum rk_table t, uint64_t want,
			struct rk_source **ret, struct rk_error *err)
{
	struct pq_reader *r = (struct pq_reader *)reader;
	const unsigned nfields = r->schema.nfields;
	struct scan *s;

	if (t != r->schema.table)
		return rk_fail(err, RK_E_USAGE, "the file has no table '%s'", rk_table_name(t));
	s = rk_calloc(1, sizeof(*s));
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
	for (unsigned i = 0; i < nfields; i++) {
		struct column *c = &s->cols[s->ncols];

		/* `want` has 64 bits: fields beyond them are always read */
		if (r->leaf_of[i] < 0 || (i < 64 && !(want >> i & 1)))
			continue;
		c->field = i;
		c->leaf = r->leaf_of[i];
		rk_pq_pages_init(&c->pages, &s->shared, &r->footer.leaves[c->leaf]);
		s->ncols++;
	}
	s->batch = (struct rk_batch){ .schema = &r->schema, .cols = s->out };
	*ret = &s->base;
	return 0;
}

const struct rk_reader_ops rk_reader_parquet = {
	.name = "parquet",
	.help = "Parquet files with one of rockit's tables",
	.probe = parquet_probe,
	.open = parquet_open,
	.scan = parquet_scan,
	.close = parquet_close,
	.serial = true,
	.precedence = RK_PRECEDENCE_PARQUET,
	.own_tables = true,
	.rows_rank = RK_ROWS_MANY_RANKS,
};
