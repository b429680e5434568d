/* text_rows.h - rows as lines of text: what the csv and jsonl writers share. */
#ifndef RK_TEXT_ROWS_H
#define RK_TEXT_ROWS_H

#include "base/bytes.h"
#include "write/writer.h"

enum rk_text_style { RK_ROWS_CSV, RK_ROWS_JSONL };

struct rk_text_rows {
	struct rk_writer base;
	enum rk_text_style style;
	struct rk_output *out;          /* borrowed */
	const struct rk_schema *schema; /* borrowed */
	struct rk_strtab *names;        /* borrowed */
	struct rk_bytes text;           /* not yet written */
	struct rk_bytes frame;          /* what stands around the cells, see text_rows.c */
	struct rk_frame_cell *cells;
	struct rk_bytes name_text; /* names as cells, each once */
	struct rk_name_cell *names_made;
};

int rk_text_rows_open(enum rk_text_style style, const struct rk_writer_ops *ops,
		      struct rk_output *out, const struct rk_schema *schema, struct rk_context *ctx,
		      struct rk_writer **ret, struct rk_error *err);

extern const struct rk_writer_ops rk_writer_csv, rk_writer_jsonl;

/* The callbacks of rk_writer_ops. */
int rk_text_rows_batch(struct rk_writer *w, const struct rk_batch *b, struct rk_error *err);
int rk_text_rows_finish(struct rk_writer *w, struct rk_error *err);
void rk_text_rows_close(struct rk_writer *w);

#endif
