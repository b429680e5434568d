/* trace_world.h - rows by hand, a trace of them in a file, and what readers find there. */
#ifndef RK_TRACE_WORLD_H
#define RK_TRACE_WORLD_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"
#include "write/writer.h"

enum { TRACE_ROWS = 4096, TRACE_BATCHES = 8 };

struct trace_world {
	struct world w;
	char file[96];
	struct rk_builder rows[TRACE_BATCHES]; /* batches in the order they are written */
	size_t n;
};

static inline void trace_open(struct trace_world *t, const char *name)
{
	memset(t, 0, sizeof(*t));
	world_open(&t->w, 1);
	snprintf(t->file, sizeof(t->file), "%s/%s", t->w.dir, name);
}

static inline void trace_close(struct trace_world *t)
{
	for (size_t i = 0; i < t->n; i++)
		rk_builder_release(&t->rows[i]);
	world_close(&t->w);
}

/* A batch of `rows` rows; columns are null until they are set. */
static inline struct rk_builder *trace_rows(struct trace_world *t, const struct rk_schema *schema,
					    size_t rows)
{
	struct rk_builder *b = &t->rows[t->n++];

	CHECK(rk_builder_init(b, schema, rows ? rows : 1, NULL) == 0);
	b->nrows = rows;
	return b;
}

static inline void *trace_column(struct rk_builder *b, unsigned field)
{
	bool had = b->data[field] != NULL;
	void *col = rk_builder_column(b, field);

	for (size_t i = 0; !had && i < b->nrows; i++) {
		memset((char *)col + i * rk_type_size(b->schema->fields[field].type), 0,
		       rk_type_size(b->schema->fields[field].type));
		rk_builder_null(b, field, i);
	}
	return col;
}

static inline void trace_has(struct rk_builder *b, unsigned field, size_t row)
{
	b->valid[field][row / 64] |= UINT64_C(1) << row % 64;
}

static inline void trace_int(struct rk_builder *b, size_t row, unsigned field, int64_t v)
{
	void *col = trace_column(b, field);

	if (b->schema->fields[field].type == RK_I64)
		((int64_t *)col)[row] = v;
	else if (b->schema->fields[field].type == RK_BOOL)
		((uint8_t *)col)[row] = v != 0;
	else
		((int32_t *)col)[row] = (int32_t)v;
	trace_has(b, field, row);
}

static inline void trace_real(struct rk_builder *b, size_t row, unsigned field, double v)
{
	((double *)trace_column(b, field))[row] = v;
	trace_has(b, field, row);
}

static inline void trace_name_of(struct trace_world *t, struct rk_builder *b, size_t row,
				 unsigned field, const char *s, size_t len)
{
	uint32_t *col = trace_column(b, field);

	CHECK(rk_strtab_add(t->w.ctx.names, s, len, &col[row], NULL) == 0);
	trace_has(b, field, row);
}

static inline void trace_name(struct trace_world *t, struct rk_builder *b, size_t row,
			      unsigned field, const char *s)
{
	trace_name_of(t, b, row, field, s, strlen(s));
}

/* A kernel by what most tests need. */
static inline void trace_kernel(struct trace_world *t, struct rk_builder *b, size_t row,
				const char *name, int64_t start, int64_t duration, int64_t queue)
{
	trace_name(t, b, row, RK_K_NAME, name);
	trace_int(b, row, RK_K_START, start);
	trace_int(b, row, RK_K_DURATION, duration);
	trace_int(b, row, RK_K_DEVICE, 0);
	trace_int(b, row, RK_K_QUEUE, queue);
	trace_int(b, row, RK_K_STREAM, queue);
	trace_int(b, row, RK_K_PID, 7);
}

static inline void trace_call(struct trace_world *t, struct rk_builder *b, size_t row,
			      const char *name, int64_t start, int64_t duration, int64_t tid)
{
	trace_name(t, b, row, RK_A_DOMAIN, "HIP_API");
	trace_name(t, b, row, RK_A_FUNCTION, name);
	trace_int(b, row, RK_A_START, start);
	trace_int(b, row, RK_A_DURATION, duration);
	trace_int(b, row, RK_A_PID, 7);
	trace_int(b, row, RK_A_TID, tid);
}

static inline int trace_try(struct trace_world *t, const struct rk_writer_ops *ops,
			    struct rk_error *err)
{
	struct rk_trace_scope scope = { 0 };
	struct rk_writer *w = NULL;
	struct rk_output *out = NULL;
	int rc = rk_output_open(t->file, &out, err);

	if (rc == 0)
		rc = ops->open(out, NULL, &t->w.ctx, &w, err);
	for (size_t i = 0; i < t->n; i++)
		scope.tables |= RK_TABLE_BIT(t->rows[i].schema->table);
	if (w)
		ops->scope(w, &scope);
	for (size_t i = 0; rc == 0 && i < t->n; i++)
		rc = ops->batch(w, rk_builder_batch(&t->rows[i]), err);
	if (rc == 0)
		rc = ops->finish(w, err);
	if (w)
		ops->close(w);
	if (rc == 0)
		return rk_output_commit(out, err);
	rk_output_abort(out);
	return rc;
}

static inline void trace_write(struct trace_world *t, const struct rk_writer_ops *ops)
{
	struct rk_error err = { 0 };

	CHECK_I64(trace_try(t, ops, &err), 0);
	CHECK_STR(err.message, "");
}

/* Each failed allocation gives an error and nothing else; the n-th that is not reached, a file. */
static inline void trace_fail_each(struct trace_world *t, const struct rk_writer_ops *ops)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 2000; n++) {
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = trace_try(t, ops, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || (failed && rc == RK_E_NOMEM && err.code == RK_E_NOMEM));
	}
	CHECK(!failed);
}

#endif
