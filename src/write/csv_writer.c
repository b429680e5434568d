/* csv_writer.c - RFC 4180 with a header line; LF ends a line, a missing value is an empty cell. */
#include <string.h>

#include "base/text.h"
#include "write/text_rows.h"

static int csv_open(struct rk_output *out, const struct rk_schema *schema, struct rk_context *ctx,
		    struct rk_writer **ret, struct rk_error *err)
{
	struct rk_writer *w;
	struct rk_bytes *text;
	int rc = rk_text_rows_open(RK_ROWS_CSV, &rk_writer_csv, out, schema, ctx, &w, err);

	if (rc < 0)
		return rc;
	text = &((struct rk_text_rows *)w)->text;
	for (unsigned i = 0; i < schema->nfields; i++) {
		if (i)
			rk_bytes_put_u8(text, ',');
		rk_csv_cell(text, schema->fields[i].name, strlen(schema->fields[i].name));
	}
	rk_bytes_put_u8(text, '\n');
	*ret = w;
	return 0;
}

const struct rk_writer_ops rk_writer_csv = {
	.name = "csv",
	.help = "comma-separated values with a header, one table",
	.suffix = ".csv",
	.open = csv_open,
	.batch = rk_text_rows_batch,
	.finish = rk_text_rows_finish,
	.close = rk_text_rows_close,
};
