/*
 * parquet_writer.c - one table into a Parquet file.
 *
 * Rows collect until a page is full; its columns are then encoded side by side. Encoded pages
 * collect until the row group is full, and then the columns are written one after the other,
 * with the page index of the group behind them.
 */
#include "base/alloc.h"
#include "write/parquet/parquet_writer_meta.h"
#include "write/writer.h"

enum {
	GROUP_ROWS = 131072,
	/* A file that grows long gets longer groups, so that its footer stays in bounds. */
	MANY_GROUPS = 64,
	LONG_GROUP_ROWS = 1 << 20,
	GROUP_BYTES = RK_ROW_GROUP_BYTES / 2, /* encoded; buffers grow by doubling */
	PAGE_BYTES = RK_ROW_GROUP_BYTES / 4,  /* of rows before encoding */
	MIN_PAGE_ROWS = 64,
	FOOTER_MAX = 1 << 30,
};

extern const struct rk_writer_ops rk_writer_parquet;

struct parquet_writer {
	struct rk_writer base;
	struct rk_output *out; /* borrowed */
	const struct rk_schema *schema;
	struct rk_pool *pool;
	struct rk_pq_column *cols;
	struct rk_pq_place *places;
	struct rk_pq_scratch *scratch; /* one per worker */
	unsigned nscratch;
	size_t page_rows;  /* rows in the page being filled */
	size_t group_rows; /* rows in flushed pages of the group */
	uint64_t rows;     /* rows in groups that are written */
	size_t ngroups;
	struct rk_bytes groups; /* their descriptions, for the footer */
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

static int make_scratch(struct parquet_writer *w, struct rk_error *err)
{
	unsigned n = rk_pool_threads(w->pool);
	int rc;

	w->scratch = rk_calloc(n, sizeof(*w->scratch));
	if (!w->scratch)
		return rk_fail_nomem(err);
	for (; w->nscratch < n; w->nscratch++) {
		rc = rk_pq_scratch_init(&w->scratch[w->nscratch], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int make_columns(struct parquet_writer *w, struct rk_context *ctx, struct rk_error *err)
{
	const struct rk_schema *s = w->schema;

	if (!s->nfields)
		return rk_fail(err, RK_E_USAGE, "a Parquet file needs a column");
	w->places = rk_calloc(s->nfields, sizeof(*w->places));
	w->cols = rk_calloc(s->nfields, sizeof(*w->cols));
	if (!w->places || !w->cols)
		return rk_fail_nomem(err);
	for (unsigned i = 0; i < s->nfields; i++)
		rk_pq_column_init(&w->cols[i], s->fields[i].type, ctx->names);
	return 0;
}

static int parquet_open(struct rk_output *out, const struct rk_schema *schema,
			struct rk_context *ctx, struct rk_writer **ret, struct rk_error *err)
{
	struct parquet_writer *w = rk_calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return rk_fail_nomem(err);
	w->base.ops = &rk_writer_parquet;
	w->out = out;
	w->schema = schema;
	w->pool = ctx->pool;
	rk_bytes_init(&w->groups, FOOTER_MAX);
	rk_bytes_init(&w->buf, FOOTER_MAX);
	rc = make_columns(w, ctx, err);
	if (rc == 0)
		rc = make_scratch(w, err);
	if (rc == 0)
		rc = rk_output_write(out, "PAR1", 4, err);
	if (rc < 0) {
		parquet_close(&w->base);
		return rc;
	}
	*ret = &w->base;
	return 0;
}

static void flush_task(void *arg, size_t i, unsigned worker)
{
	struct parquet_writer *w = arg;

	rk_pq_column_flush(&w->cols[i], &w->scratch[worker]);
}

static void finish_task(void *arg, size_t i, unsigned worker)
{
	struct parquet_writer *w = arg;

	rk_pq_column_finish(&w->cols[i], &w->scratch[worker]);
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
	return b->len ? rk_output_write(w->out, b->data, b->len, err) : 0;
}

static int write_chunks(struct parquet_writer *w, struct rk_error *err)
{
	for (unsigned i = 0; i < w->schema->nfields; i++) {
		int rc;

		w->places[i] = (struct rk_pq_place){ .offset = rk_output_offset(w->out) };
		rc = put_bytes(w, &w->cols[i].dict_page, err);
		if (rc == 0)
			rc = put_bytes(w, &w->cols[i].data, err);
		if (rc < 0)
			return rc;
	}
	return 0;
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
		rk_pq_put_column_index(&w->buf, &w->cols[i]);
		w->places[i].column_index = offset + before;
		w->places[i].column_index_len = (uint32_t)(w->buf.len - before);
	}
	for (unsigned i = 0; i < w->schema->nfields; i++) {
		size_t before = w->buf.len;

		rk_pq_put_offset_index(&w->buf, &w->cols[i], w->places[i].offset);
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
	if (rc == 0)
		rc = write_chunks(w, err);
	if (rc == 0)
		rc = write_index(w, err);
	if (rc < 0)
		return rc;
	rk_pq_put_group(&w->groups, w->schema, w->cols, w->places, w->ngroups);
	if (w->groups.bad)
		return rk_fail_nomem(err);
	for (unsigned i = 0; i < w->schema->nfields; i++)
		rk_pq_column_reset(&w->cols[i]);
	w->ngroups++;
	w->rows += w->group_rows;
	w->group_rows = 0;
	return 0;
}

static size_t group_bytes(const struct parquet_writer *w)
{
	size_t sum = 0;

	for (unsigned i = 0; i < w->schema->nfields; i++) {
		const struct rk_pq_column *c = &w->cols[i];

		sum += c->data.len + c->dict.n * sizeof(*c->dict.vals);
	}
	return sum;
}

static int flush_page(struct parquet_writer *w, struct rk_error *err)
{
	size_t max_rows = w->ngroups < MANY_GROUPS ? GROUP_ROWS : LONG_GROUP_ROWS;
	int rc;

	if (!w->page_rows)
		return 0;
	rc = run_columns(w, flush_task, err);
	if (rc < 0)
		return rc;
	w->group_rows += w->page_rows;
	w->page_rows = 0;
	if (w->group_rows + RK_PQ_PAGE_ROWS > max_rows || group_bytes(w) >= GROUP_BYTES)
		return flush_group(w, err);
	return 0;
}

/* Rows that a page may hold: the more columns have values, in it or in the batch, the fewer. */
static size_t page_limit(const struct parquet_writer *w, const struct rk_batch *b)
{
	size_t width = 1, rows;

	for (unsigned i = 0; i < w->schema->nfields; i++) {
		if (w->cols[i].vals || b->cols[i].data)
			width += rk_type_size(w->cols[i].type);
	}
	rows = PAGE_BYTES / width;
	if (rows >= RK_PQ_PAGE_ROWS)
		return RK_PQ_PAGE_ROWS;
	return rows < MIN_PAGE_ROWS ? MIN_PAGE_ROWS : rows;
}

static int append_rows(struct parquet_writer *w, const struct rk_batch *b, size_t first, size_t n,
		       struct rk_error *err)
{
	for (unsigned i = 0; i < w->schema->nfields; i++) {
		if (!rk_pq_column_append(&w->cols[i], &b->cols[i], first, n))
			return rk_fail_nomem(err);
	}
	w->page_rows += n;
	return 0;
}

static int parquet_batch(struct rk_writer *writer, const struct rk_batch *b, struct rk_error *err)
{
	struct parquet_writer *w = (struct parquet_writer *)writer;
	const size_t limit = page_limit(w, b);
	size_t done = 0, n;
	int rc = 0;

	while (rc == 0 && done < b->nrows) {
		if (w->page_rows >= limit) {
			rc = flush_page(w, err);
			continue;
		}
		n = b->nrows - done;
		if (n > limit - w->page_rows)
			n = limit - w->page_rows;
		rc = append_rows(w, b, done, n, err);
		done += n;
	}
	return rc;
}

static void put_u32le(uint8_t *p, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static int parquet_finish(struct rk_writer *writer, struct rk_error *err)
{
	struct parquet_writer *w = (struct parquet_writer *)writer;
	uint8_t tail[8] = { 0, 0, 0, 0, 'P', 'A', 'R', '1' };
	int rc = flush_page(w, err);

	if (rc == 0)
		rc = flush_group(w, err);
	if (rc < 0)
		return rc;
	rk_bytes_clear(&w->buf);
	rk_pq_put_footer(&w->buf, w->schema, w->rows, &w->groups, w->ngroups);
	put_u32le(tail, (uint32_t)w->buf.len);
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
