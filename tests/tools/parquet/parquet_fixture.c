/*
 * parquet_fixture.c - Parquet files of awkward values, and what is in them.
 *
 *	parquet_fixture write DIRECTORY    NAME.parquet and NAME.jsonl for each case
 *	parquet_fixture read FILE          the rows as rockit reads them, as JSON lines
 *
 * JSON lines here are arrays: the first holds the column names, each further one a row. The
 * values are the same in every run. tests/readers/parquet_readers.py compares.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/reader.h"
#include "write/writer.h"

extern const struct rk_writer_ops rk_writer_parquet;
enum { BATCH = 3000, MAX_FIELDS = 256, POOL = 40 };

static void die(const char *what, const struct rk_error *err)
{
	fprintf(stderr, "parquet_fixture: %s: %s\n", what, err->message);
	exit(EXIT_FAILURE);
}

static uint64_t hash(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xc2b2ae3d27d4eb4fu + 1;

	x ^= x >> 31;
	x *= 0xbf58476d1ce4e5b9u;
	return x ^ x >> 29;
}

/* One case: a schema, so many rows, and per field how values and nulls are chosen. */
struct fixture {
	const char *name;
	struct rk_schema schema;
	struct rk_field fields[MAX_FIELDS];
	char names[MAX_FIELDS][32];
	unsigned values[MAX_FIELDS], nulls[MAX_FIELDS];
	size_t rows;
};

enum value_kind {
	V_CONST,
	V_CYCLE,
	V_NARROW,
	V_SORTED,
	V_WIDE,
	V_EXTREME,
	V_FALLING,
	V_RUNS,
	V_SPREAD,
	V_NKINDS
};
enum null_kind { N_NONE, N_ALL, N_ALTERNATE, N_SOME, N_FIRST, N_LAST, N_ONLY_LAST, N_NKINDS };

static bool is_null(unsigned kind, size_t row, size_t rows, size_t field)
{
	switch (kind) {
	case N_ALL:
		return true;
	case N_ALTERNATE:
		return row % 2;
	case N_SOME:
		return hash(row, field) % 10 == 0;
	case N_FIRST:
		return row < rows / 2;
	case N_LAST:
		return row >= rows / 2;
	case N_ONLY_LAST:
		return row + 1 < rows;
	default:
		return false;
	}
}

static int64_t int_value(unsigned kind, size_t row, size_t field, int64_t min, int64_t max)
{
	const int64_t i = (int64_t)row;

	switch (kind) {
	case V_CONST:
		return -7;
	case V_CYCLE:
		return (i * 7919) % 13 - 6;
	case V_NARROW:
		return (int64_t)(hash(row, field) % 300);
	case V_SORTED:
		return 1000000 + i * 1000 + (int64_t)(hash(row, field) % 900);
	case V_WIDE:
		return max == INT32_MAX ? (int32_t)hash(row, field) : (int64_t)hash(row, field);
	case V_EXTREME:
		return row % 3 == 0 ? min : row % 3 == 1 ? max : 0;
	case V_FALLING:
		return -i * 17;
	case V_RUNS:
		return i / 1000 * 3;
	default:
		return (int64_t)(hash(row, field) % 1500) * 977;
	}
}

static double f64_value(unsigned kind, size_t row, size_t field)
{
	switch (kind) {
	case V_CONST:
		return 0.1;
	case V_CYCLE:
		return (double)(row % 7) / 3;
	case V_EXTREME:
		return row % 4 == 0 ? -0.0 :
		       row % 4 == 1 ? INFINITY :
		       row % 4 == 2 ? -INFINITY :
				      5e-324;
	case V_RUNS:
		return row % 100 == 99 ? (double)NAN : (double)(row / 500);
	default:
		return (double)(int64_t)hash(row, field) / 1e6;
	}
}

/* Empty, with NUL, not UTF-8, long, beyond ASCII, and plain ones that share a long prefix. */
static uint32_t text_id(struct rk_strtab *names, uint64_t n)
{
	static char text[512];
	struct rk_error err = { 0 };
	size_t len;
	uint32_t id;

	switch (n) {
	case 0:
		len = 0;
		break;
	case 1:
		memcpy(text, "nul\0inside", len = 10);
		break;
	case 2:
		memcpy(text, "bad \xff\xc0\x80 utf8 \xed\xa0\x80 end", len = 21);
		break;
	case 3:
		memset(text, 'x', len = 300);
		break;
	case 4:
		memcpy(text, "k\xc3\xa4rnel \xf0\x9f\x9a\x80", len = 12);
		break;
	case 5:
		for (len = 0; len < 300; len += 3)
			memcpy(text + len, "\xe2\x82\xac", 3);
		break;
	default:
		len = (size_t)snprintf(
			text, sizeof(text),
			"void very_long_common_prefix::of_a_template<int, float, %%s>::"
			"operator()(args...) const [with N = %" PRIu64 "]",
			n);
	}
	if (rk_strtab_add(names, text, len, &id, &err) < 0)
		die("strtab", &err);
	return id;
}

static uint64_t text_number(unsigned kind, size_t row, size_t field)
{
	switch (kind) {
	case V_CONST:
		return 10;
	case V_CYCLE:
		return row % 7;
	case V_SORTED:
		return 100 + row; /* no two alike */
	case V_RUNS:
		return row / 700;
	default:
		return hash(row, field) % POOL;
	}
}

static void set_value(struct rk_builder *b, const struct fixture *f, struct rk_context *ctx,
		      unsigned field, size_t at, size_t row)
{
	const unsigned kind = f->values[field];
	void *data = rk_builder_column(b, field);
	struct rk_error err = { .message = "out of memory" };

	if (!data)
		die("builder", &err);
	switch (f->fields[field].type) {
	case RK_I64:
		((int64_t *)data)[at] = int_value(kind, row, field, INT64_MIN, INT64_MAX);
		break;
	case RK_I32:
		((int32_t *)data)[at] = (int32_t)int_value(kind, row, field, INT32_MIN, INT32_MAX);
		break;
	case RK_F64:
		((double *)data)[at] = f64_value(kind, row, field);
		break;
	case RK_STR:
		((uint32_t *)data)[at] = text_id(ctx->names, text_number(kind, row, field));
		break;
	case RK_BOOL:
		((uint8_t *)data)[at] = kind == V_CONST ? 1 :
					kind == V_RUNS  ? row / 900 % 2 :
							  hash(row, field) % 2;
		break;
	}
	if (is_null(f->nulls[field], row, f->rows, field) && !rk_builder_null(b, field, at))
		die("builder", &err);
}

static void print_value(struct rk_bytes *out, const struct rk_batch *b, unsigned field, size_t row,
			const struct rk_strtab *names)
{
	const struct rk_column *c = &b->cols[field];
	const char *text;
	size_t len;
	double v;

	if (!rk_column_has(c, row)) {
		rk_bytes_puts(out, "null");
		return;
	}
	switch (b->schema->fields[field].type) {
	case RK_I64:
		rk_bytes_printf(out, "%" PRId64, ((const int64_t *)c->data)[row]);
		break;
	case RK_I32:
		rk_bytes_printf(out, "%" PRId32, ((const int32_t *)c->data)[row]);
		break;
	case RK_F64:
		v = ((const double *)c->data)[row];
		if (isfinite(v))
			rk_bytes_printf(out, "%.17g", v);
		else
			rk_bytes_puts(out, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
		break;
	case RK_STR:
		text = rk_strtab_borrow(names, ((const uint32_t *)c->data)[row], &len);
		rk_json_string(out, text, len);
		break;
	case RK_BOOL:
		rk_bytes_puts(out, ((const uint8_t *)c->data)[row] ? "true" : "false");
		break;
	}
}

static void flush_text(FILE *to, struct rk_bytes *out)
{
	struct rk_error err = { .message = "cannot write" };

	if (out->bad || fwrite(out->data, 1, out->len, to) != out->len)
		die("output", &err);
	rk_bytes_clear(out);
}

static void print_header(FILE *to, struct rk_bytes *out, const struct rk_schema *s)
{
	for (unsigned i = 0; i < s->nfields; i++) {
		rk_bytes_put_u8(out, i ? ',' : '[');
		rk_json_string(out, s->fields[i].name, strlen(s->fields[i].name));
	}
	rk_bytes_puts(out, "]\n");
	flush_text(to, out);
}

static void print_batch(FILE *to, struct rk_bytes *out, const struct rk_batch *b,
			const struct rk_strtab *names)
{
	for (size_t row = 0; row < b->nrows; row++) {
		for (unsigned i = 0; i < b->schema->nfields; i++) {
			rk_bytes_put_u8(out, i ? ',' : '[');
			print_value(out, b, i, row, names);
		}
		rk_bytes_puts(out, "]\n");
	}
	flush_text(to, out);
}

static void add_field(struct fixture *f, enum rk_type type, unsigned value, unsigned null)
{
	static const char *const types[] = { "i64", "i32", "f64", "str", "bool" };
	unsigned i = f->schema.nfields++;

	snprintf(f->names[i], sizeof(f->names[i]), "%s_v%u_n%u", types[type], value, null);
	f->fields[i] = (struct rk_field){ .name = f->names[i], .type = type };
	f->values[i] = value;
	f->nulls[i] = null;
}

static void init_fixture(struct fixture *f, const char *name, size_t rows)
{
	memset(f, 0, sizeof(*f));
	f->name = name;
	f->rows = rows;
	f->schema.table = RK_KERNELS;
	f->schema.fields = f->fields;
	f->schema.time_field = -1;
}

/* Every type with every kind of value, and with every pattern of nulls. */
static void all_kinds(struct fixture *f)
{
	for (unsigned t = RK_I64; t <= RK_BOOL; t++) {
		for (unsigned v = 0; v < V_NKINDS; v++) {
			for (unsigned n = 0; n < N_NKINDS; n += v % 2 ? 3 : 1) {
				if (f->schema.nfields < MAX_FIELDS)
					add_field(f, (enum rk_type)t, v, n);
			}
		}
	}
}

/* A few columns over several row groups and many pages. */
static void few_columns(struct fixture *f)
{
	add_field(f, RK_STR, V_CYCLE, N_NONE);
	add_field(f, RK_I64, V_SORTED, N_NONE);
	add_field(f, RK_I64, V_SPREAD, N_SOME);
	add_field(f, RK_I32, V_RUNS, N_FIRST);
	add_field(f, RK_STR, V_NARROW, N_LAST);
	add_field(f, RK_F64, V_WIDE, N_ONLY_LAST);
	add_field(f, RK_I64, V_CONST, N_ALL);
	f->schema.time_field = 1;
}

static void standard(struct fixture *f, enum rk_table t)
{
	const struct rk_schema *s = rk_table_schema(t);

	for (unsigned i = 0; i < s->nfields; i++) {
		add_field(f, s->fields[i].type,
			  i == (unsigned)s->time_field ? V_SORTED : i % V_NKINDS,
			  i == (unsigned)s->time_field ? N_NONE :
			  i % 5 == 4                   ? N_ALL :
			  i % 3                        ? N_NONE :
							 N_SOME);
		f->fields[i].name = s->fields[i].name;
	}
	f->schema.table = t;
	f->schema.time_field = s->time_field;
}

static void fill(struct rk_builder *b, const struct fixture *f, struct rk_context *ctx,
		 size_t first, size_t n)
{
	rk_builder_reset(b);
	for (unsigned i = 0; i < f->schema.nfields; i++) {
		for (size_t k = 0; f->nulls[i] != N_ALL && k < n; k++)
			set_value(b, f, ctx, i, k, first + k);
	}
	b->nrows = n;
}

static void write_fixture(const char *dir, const struct fixture *f, struct rk_context *ctx)
{
	struct rk_error err = { 0 };
	struct rk_output *out;
	struct rk_writer *w;
	struct rk_builder b;
	struct rk_bytes text;
	char path[4096];
	FILE *twin;

	rk_bytes_init(&text, 1 << 30);
	snprintf(path, sizeof(path), "%s/%s.jsonl", dir, f->name);
	twin = fopen(path, "w");
	snprintf(path, sizeof(path), "%s/%s.parquet", dir, f->name);
	if (!twin || rk_output_open(path, &out, &err) < 0 ||
	    rk_writer_parquet.open(out, &f->schema, ctx, &w, &err) < 0 ||
	    rk_builder_init(&b, &f->schema, BATCH, &err) < 0)
		die(path, &err);
	print_header(twin, &text, &f->schema);
	for (size_t at = 0; at < f->rows; at += BATCH) {
		fill(&b, f, ctx, at, f->rows - at < BATCH ? f->rows - at : BATCH);
		if (rk_writer_parquet.batch(w, rk_builder_batch(&b), &err) < 0)
			die(path, &err);
		print_batch(twin, &text, rk_builder_batch(&b), ctx->names);
	}
	if (rk_writer_parquet.finish(w, &err) < 0)
		die(path, &err);
	rk_writer_parquet.close(w);
	if (rk_output_commit(out, &err) < 0 || fclose(twin))
		die(path, &err);
	rk_builder_release(&b);
	rk_bytes_release(&text);
}

static void write_all(const char *dir, struct rk_context *ctx)
{
	static struct fixture f;

	init_fixture(&f, "empty", 0);
	standard(&f, RK_KERNELS);
	write_fixture(dir, &f, ctx);
	init_fixture(&f, "one_row", 1);
	all_kinds(&f);
	write_fixture(dir, &f, ctx);
	init_fixture(&f, "all_kinds", 3500);
	all_kinds(&f);
	write_fixture(dir, &f, ctx);
	init_fixture(&f, "few_columns", 150000);
	few_columns(&f);
	write_fixture(dir, &f, ctx);
	for (int t = 0; t < RK_NTABLES; t++) {
		init_fixture(&f, rk_table_name((enum rk_table)t), t == RK_KERNELS ? 17000 : 500);
		standard(&f, (enum rk_table)t);
		write_fixture(dir, &f, ctx);
	}
}

static void read_back(const char *path, struct rk_context *ctx)
{
	const struct rk_batch *b;
	struct rk_error err = { 0 };
	const struct rk_reader_ops *ops = rk_reader_by_name("parquet");
	struct rk_instream *in = NULL;
	struct rk_reader *r = NULL;
	struct rk_source *s = NULL;
	struct rk_bytes text;
	int rc;

	rk_bytes_init(&text, 1 << 30);
	if (rk_instream_open(path, &in, &err) < 0 || ops->open(ops, in, ctx, &r, &err) < 0)
		die(path, &err);
	if (r->ops->scan(r, (enum rk_table)__builtin_ctz(r->tables), RK_WANT_ALL, &s, &err) < 0)
		die(path, &err);
	print_header(stdout, &text, s->schema);
	while ((rc = rk_source_next(s, &b, &err)) == 1)
		print_batch(stdout, &text, b, ctx->names);
	if (rc < 0)
		die(path, &err);
	rk_source_close(s);
	r->ops->close(r);
	rk_bytes_release(&text);
}

int main(int argc, char **argv)
{
	struct rk_context ctx = { 0 };
	struct rk_error err = { 0 };

	if (argc != 3 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "read") != 0)) {
		fputs("usage: parquet_fixture write DIRECTORY | read FILE\n", stderr);
		return 2;
	}
	if (rk_strtab_new(64 << 20, &ctx.names, &err) < 0 || rk_diag_new(&ctx.diag, &err) < 0 ||
	    rk_pool_new(2, &ctx.pool, &err) < 0)
		die("context", &err);
	if (argv[1][0] == 'w')
		write_all(argv[2], &ctx);
	else
		read_back(argv[2], &ctx);
	rk_pool_free(ctx.pool);
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
	return 0;
}
