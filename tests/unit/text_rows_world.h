/* text_rows_world.h - a table, a temporary file and what was written there, for two tests. */
#ifndef RK_TEXT_ROWS_WORLD_H
#define RK_TEXT_ROWS_WORLD_H

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "table/batch.h"
#include "tap.h"
#include "write/writer.h"

struct text_world {
	struct rk_context ctx;
	struct rk_builder rows;
	char path[64];
	char *text;
};

static inline void text_world_open(struct text_world *w, const struct rk_schema *schema, size_t cap)
{
	int fd;

	*w = (struct text_world){ .path = "/tmp/rockit-rows-XXXXXX" };
	fd = mkstemp(w->path);
	CHECK(fd >= 0);
	close(fd);
	CHECK(rk_strtab_new(1 << 20, &w->ctx.names, NULL) == 0);
	CHECK(rk_builder_init(&w->rows, schema, cap, NULL) == 0);
}

static inline void text_world_close(struct text_world *w)
{
	unlink(w->path);
	rk_builder_release(&w->rows);
	rk_strtab_free(w->ctx.names);
	free(w->text);
}

static inline void text_world_name(struct text_world *w, unsigned field, size_t row, const char *s)
{
	uint32_t *ids = rk_builder_column(&w->rows, field);

	CHECK(rk_strtab_add(w->ctx.names, s, strlen(s), &ids[row], NULL) == 0);
}

/* Writes the batch `times` times. */
static inline int text_world_try(struct text_world *w, const struct rk_writer_ops *ops,
				 unsigned times, struct rk_error *err)
{
	const struct rk_batch *b = rk_builder_batch(&w->rows);
	struct rk_writer *writer = NULL;
	struct rk_output *out = NULL;
	int rc;

	rc = rk_output_open(w->path, &out, err);
	if (rc == 0)
		rc = ops->open(out, w->rows.schema, &w->ctx, &writer, err);
	while (rc == 0 && times--)
		rc = ops->batch(writer, b, err);
	if (rc == 0)
		rc = ops->finish(writer, err);
	if (writer)
		ops->close(writer);
	if (rc == 0)
		return rk_output_commit(out, err);
	rk_output_abort(out);
	return rc;
}

static inline const char *text_world_write(struct text_world *w, const struct rk_writer_ops *ops,
					   unsigned times)
{
	struct rk_error err = { 0 };
	size_t cap = 0;
	FILE *f;

	if (!CHECK_I64(text_world_try(w, ops, times, &err), 0))
		return "";
	f = fopen(w->path, "r");
	if (!CHECK(f != NULL))
		return "";
	if (getdelim(&w->text, &cap, '\0', f) < 0) {
		free(w->text);
		w->text = calloc(1, 1);
	}
	CHECK(fgetc(f) == EOF);
	fclose(f);
	return w->text;
}

static inline size_t text_world_lines(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static inline void text_world_fail_each(struct text_world *w, const struct rk_writer_ops *ops)
{
	for (uint64_t n = 1; n < 200; n++) {
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = text_world_try(w, ops, 1, &err);
		if (!rk_alloc_failed()) {
			CHECK_I64(rc, 0);
			break;
		}
		CHECK(rc == RK_E_NOMEM || rc == 0);
		CHECK_I64(err.code, rc);
	}
	rk_alloc_fail_after(0);
}

#endif
