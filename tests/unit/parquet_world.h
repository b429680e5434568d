/* parquet_world.h - a run's context and a Parquet file that is written, read back and compared. */
#ifndef RK_PARQUET_WORLD_H
#define RK_PARQUET_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "read/reader.h"
#include "tap.h"
#include "write/writer.h"

extern const struct rk_writer_ops rk_writer_parquet;
struct parquet_world {
	struct rk_context ctx;
	char path[64];
	uint32_t ids[64]; /* some texts */
};

/* The value of a row and field as 64 bits, false where it is null. */
typedef bool parquet_value(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
			   size_t row, uint64_t *ret);

static inline void parquet_world_open(struct parquet_world *w)
{
	char text[256];
	int fd;

	*w = (struct parquet_world){ .path = "/tmp/rockit-parquet-XXXXXX" };
	fd = mkstemp(w->path);
	CHECK(fd >= 0);
	close(fd);
	CHECK(rk_strtab_new(16 << 20, &w->ctx.names, NULL) == 0);
	CHECK(rk_diag_new(&w->ctx.diag, NULL) == 0);
	CHECK(rk_pool_new(2, &w->ctx.pool, NULL) == 0);
	for (unsigned i = 0; i < 64; i++) {
		int len = snprintf(text, sizeof(text), "%*skernel_%u", (int)(i % 5) * 40, "", i);

		CHECK(rk_strtab_add(w->ctx.names, text, i ? (size_t)len : 0, &w->ids[i], NULL) ==
		      0);
	}
}

static inline void parquet_world_close(struct parquet_world *w)
{
	unlink(w->path);
	rk_pool_free(w->ctx.pool);
	rk_diag_free(w->ctx.diag);
	rk_strtab_free(w->ctx.names);
}

/* Columns without a value in the batch stay away, as a source would leave them. */
static inline bool parquet_world_fill(struct parquet_world *w, struct rk_builder *b, size_t first,
				      size_t n, parquet_value *value)
{
	rk_builder_reset(b);
	for (unsigned f = 0; f < b->schema->nfields; f++) {
		const size_t size = rk_type_size(b->schema->fields[f].type);
		uint64_t word;

		for (size_t i = 0; i < n; i++) {
			uint8_t *data;

			if (!value(w, b->schema, f, first + i, &word))
				continue;
			data = rk_builder_column(b, f);
			if (!data)
				return false;
			memcpy(data + i * size, &word, size);
		}
		for (size_t i = 0; b->data[f] && i < n; i++) {
			if (!value(w, b->schema, f, first + i, &word) && !rk_builder_null(b, f, i))
				return false;
		}
	}
	b->nrows = n;
	return true;
}

static inline int parquet_world_rows(struct parquet_world *w, struct rk_writer *writer,
				     const struct rk_schema *schema, size_t rows, size_t batch,
				     parquet_value *value, struct rk_error *err)
{
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < rows; at += batch) {
		struct rk_builder b;

		rc = rk_builder_init(&b, schema, batch, err);
		if (rc < 0)
			break;
		if (parquet_world_fill(w, &b, at, rows - at < batch ? rows - at : batch, value))
			rc = rk_writer_parquet.batch(writer, rk_builder_batch(&b), err);
		else
			rc = RK_E_NOMEM;
		rk_builder_release(&b);
	}
	return rc;
}

static inline int parquet_world_write(struct parquet_world *w, const struct rk_schema *schema,
				      size_t rows, size_t batch, parquet_value *value,
				      struct rk_error *err)
{
	struct rk_writer *writer = NULL;
	struct rk_output *out = NULL;
	int rc = rk_output_open(w->path, &out, err);

	if (rc < 0)
		return rc;
	rc = rk_writer_parquet.open(out, schema, &w->ctx, &writer, err);
	if (rc == 0) {
		rc = parquet_world_rows(w, writer, schema, rows, batch, value, err);
		if (rc == 0)
			rc = rk_writer_parquet.finish(writer, err);
		rk_writer_parquet.close(writer);
	}
	if (rc < 0) {
		rk_output_abort(out);
		return rc;
	}
	return rk_output_commit(out, err);
}

/* Counts the cells that are not as `value` says (NULL: none is looked at). */
static inline size_t parquet_world_compare(const struct parquet_world *w, const struct rk_batch *b,
					   size_t first, uint64_t want, parquet_value *value)
{
	size_t wrong = 0;

	for (unsigned f = 0; value && f < b->schema->nfields; f++) {
		const size_t size = rk_type_size(b->schema->fields[f].type);
		const bool wanted = f >= 64 || want >> f & 1;

		for (size_t i = 0; i < b->nrows; i++) {
			uint64_t word = 0, got = 0;
			bool has = value(w, b->schema, f, first + i, &word) && wanted;

			if (has != rk_column_has(&b->cols[f], i)) {
				wrong++;
				continue;
			}
			if (has)
				memcpy(&got, (const uint8_t *)b->cols[f].data + i * size, size);
			if (has && memcmp(&got, &word, size) != 0)
				wrong++;
		}
	}
	return wrong;
}

/* Reads all rows; *ret_rows and *ret_wrong may be NULL. */
static inline int parquet_world_read(struct parquet_world *w, uint64_t want, parquet_value *value,
				     size_t *ret_rows, size_t *ret_wrong, struct rk_error *err)
{
	const struct rk_reader_ops *ops = rk_reader_by_name("parquet");
	const struct rk_batch *b;
	struct rk_instream *in = NULL;
	struct rk_reader *r = NULL;
	struct rk_source *s = NULL;
	size_t rows = 0, wrong = 0;
	int rc = rk_instream_open(w->path, &in, err);

	if (rc < 0)
		return rc;
	rc = ops->open(ops, in, &w->ctx, &r, err);
	if (rc < 0) {
		rk_instream_close(in);
		return rc;
	}
	rc = r->ops->scan(r, (enum rk_table)__builtin_ctz(r->tables), want, &s, err);
	while (rc >= 0 && (rc = rk_source_next(s, &b, err)) == 1) {
		wrong += parquet_world_compare(w, b, rows, want, value);
		rows += b->nrows;
	}
	rk_source_close(s);
	r->ops->close(r);
	if (ret_rows)
		*ret_rows = rows;
	if (ret_wrong)
		*ret_wrong = wrong;
	return rc;
}

#endif
