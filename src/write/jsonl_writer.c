/* jsonl_writer.c - one JSON object per line, every column in each; a missing value is null. */
#include "write/text_rows.h"

static int jsonl_open(struct rk_output *out, const struct rk_schema *schema, struct rk_context *ctx,
		      struct rk_writer **ret, struct rk_error *err)
{
	return rk_text_rows_open(RK_ROWS_JSONL, &rk_writer_jsonl, out, schema, ctx, ret, err);
}

const struct rk_writer_ops rk_writer_jsonl = {
	.name = "jsonl",
	.help = "one JSON object per line, one table",
	.suffix = ".jsonl",
	.open = jsonl_open,
	.batch = rk_text_rows_batch,
	.finish = rk_text_rows_finish,
	.close = rk_text_rows_close,
};
