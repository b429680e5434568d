/* text_writer.c - writes rows as lines of text: CSV and JSON lines. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "write/writer.h"

enum {
	FLUSH_BYTES = 256 << 10,
	NUMBER_BYTES = 32, /* upper limit for one number */
	NAME_CELLS = 16384,
	NAME_BYTES_MAX = 2 << 20,
	ROW_MAX_BYTES = 64 << 20,
};

struct name_cell {
	uint32_t from, len; /* in `name_text` */
	bool made;
};

/*
 * Most columns of most batches are all null. The constant text between the other cells (commas,
 * keys, nulls) is therefore built once per batch. A row is then frame, cell, frame, cell, ..., last
 * frame.
 */
struct frame_cell {
	unsigned field;
	size_t from, len; /* in `frame` */
};

enum text_style { ROWS_CSV, ROWS_JSONL };

struct text_rows {
	struct rk_writer base;
	enum text_style style;
	struct rk_output *out;          /* borrowed */
	const struct rk_schema *schema; /* borrowed */
	struct rk_strtab *names;        /* borrowed */
	struct rk_bytes text;           /* not yet written */
	struct rk_bytes frame;          /* constant text between the cells */
	struct frame_cell *cells;
	struct rk_bytes name_text; /* names formatted as cells, each once */
	struct name_cell *names_made;
};

static void text_rows_close(struct rk_writer *w)
{
	struct text_rows *t = (struct text_rows *)w;

	rk_bytes_release(&t->text);
	rk_bytes_release(&t->frame);
	rk_bytes_release(&t->name_text);
	rk_free(t->names_made);
	rk_free(t->cells);
	rk_free(t);
}

static int text_rows_open(enum text_style style, const struct rk_writer_ops *ops,
			  struct rk_output *out, const struct rk_schema *schema,
			  struct rk_context *ctx, struct rk_writer **ret, struct rk_error *err)
{
	struct text_rows *t = rk_calloc(1, sizeof(*t));

	if (!t)
		return rk_fail_nomem(err);
	*t = (struct text_rows){ .base = { .ops = ops },
				 .style = style,
				 .out = out,
				 .schema = schema,
				 .names = ctx->names };
	rk_bytes_init(&t->text, FLUSH_BYTES + ROW_MAX_BYTES);
	rk_bytes_init(&t->frame, ROW_MAX_BYTES);
	rk_bytes_init(&t->name_text, 16 * NAME_BYTES_MAX);
	t->cells = rk_calloc(schema->nfields + 1, sizeof(*t->cells));
	t->names_made = rk_calloc(NAME_CELLS, sizeof(*t->names_made));
	if (!t->cells || !t->names_made ||
	    !rk_bytes_reserve(&t->text, FLUSH_BYTES + FLUSH_BYTES / 16)) {
		text_rows_close(&t->base);
		return rk_fail_nomem(err);
	}
	*ret = &t->base;
	return 0;
}

static int flush(struct text_rows *t, struct rk_error *err)
{
	int rc;

	if (t->text.bad)
		return rk_fail_nomem(err);
	if (!t->text.len)
		return 0;
	rc = rk_output_write(t->out, t->text.data, t->text.len, err);
	rk_bytes_clear(&t->text);
	return rc;
}

/*
 * Fills `cells` and `frame` for a batch. Returns the number of cells; the last frame follows them.
 */
static size_t make_frames(struct text_rows *t, const struct rk_batch *b)
{
	size_t n = 0, from = 0;

	rk_bytes_clear(&t->frame);
	for (unsigned i = 0; i < t->schema->nfields; i++) {
		const char *name = t->schema->fields[i].name;

		if (t->style == ROWS_JSONL) {
			rk_bytes_put_u8(&t->frame, i ? ',' : '{');
			rk_json_string(&t->frame, name, strlen(name));
			rk_bytes_puts(&t->frame, b->cols[i].data ? ":" : ":null");
		} else if (i) {
			rk_bytes_put_u8(&t->frame, ',');
		}
		if (!b->cols[i].data)
			continue;
		t->cells[n++] = (struct frame_cell){ i, from, t->frame.len - from };
		from = t->frame.len;
	}
	rk_bytes_puts(&t->frame, t->style == ROWS_CSV ? "\n" : "}\n");
	t->cells[n] = (struct frame_cell){ 0, from, t->frame.len - from };
	return n;
}

/* The caller has reserved the room. */
static void put_raw(struct rk_bytes *out, const void *p, size_t len)
{
	memcpy(out->data + out->len, p, len);
	out->len += len;
}

/*
 * The name formatted as a cell. It is cached, since traces have few names and many rows. NULL when
 * the cache is full or out of memory: the caller then formats the name itself.
 */
static const struct name_cell *name_cell(struct text_rows *t, uint32_t id)
{
	struct name_cell *cell = id < NAME_CELLS ? &t->names_made[id] : NULL;
	const char *s;
	size_t len;

	if (!cell || cell->made)
		return cell;
	s = rk_strtab_borrow(t->names, id, &len);
	if (len > NAME_BYTES_MAX || t->name_text.len > NAME_BYTES_MAX)
		return NULL;
	cell->from = (uint32_t)t->name_text.len;
	if (t->style == ROWS_CSV)
		rk_csv_cell(&t->name_text, s, len);
	else
		rk_json_string(&t->name_text, s, len);
	cell->len = (uint32_t)(t->name_text.len - cell->from);
	cell->made = !t->name_text.bad;
	return cell->made ? cell : NULL;
}

/* Reserves `room` bytes for the rest of the row. */
static void put_name(struct text_rows *t, uint32_t id, size_t room)
{
	const struct name_cell *cell = name_cell(t, id);
	const char *s;
	size_t len;

	if (cell) {
		if (rk_bytes_reserve(&t->text, cell->len + room) && cell->len)
			put_raw(&t->text, t->name_text.data + cell->from, cell->len);
		return;
	}
	s = rk_strtab_borrow(t->names, id, &len);
	if (t->style == ROWS_CSV)
		rk_csv_cell(&t->text, s, len);
	else
		rk_json_string(&t->text, s, len);
	rk_bytes_reserve(&t->text, room);
}

/*
 * Reserves room for everything but names first, so that most cells need no check. Neither format
 * can express NaN or infinity; they are written as missing.
 */
static void put_row(struct text_rows *t, const struct rk_batch *b, size_t ncells, size_t row)
{
	const struct frame_cell *last = &t->cells[ncells];
	size_t room = t->frame.len + ncells * NUMBER_BYTES;
	struct rk_bytes *text = &t->text;

	rk_bytes_reserve(text, room);
	for (const struct frame_cell *c = t->cells; c < last; c++) {
		const void *data = b->cols[c->field].data;
		bool has = rk_column_has(&b->cols[c->field], row);
		char *end;
		double v;

		if (text->bad)
			return;
		put_raw(text, t->frame.data + c->from, c->len);
		end = (char *)text->data + text->len;
		if (!has) {
			if (t->style == ROWS_JSONL)
				put_raw(text, "null", 4);
			continue;
		}
		switch (t->schema->fields[c->field].type) {
		case RK_I64:
			text->len += rk_num_put_i64(end, ((const int64_t *)data)[row]);
			break;
		case RK_I32:
			text->len += rk_num_put_i64(end, ((const int32_t *)data)[row]);
			break;
		case RK_F64:
			v = ((const double *)data)[row];
			if (isfinite(v))
				text->len += rk_num_put_f64(end, v);
			else if (t->style == ROWS_JSONL)
				put_raw(text, "null", 4);
			break;
		case RK_STR:
			put_name(t, ((const uint32_t *)data)[row], room);
			break;
		case RK_BOOL:
			if (((const uint8_t *)data)[row])
				put_raw(text, "true", 4);
			else
				put_raw(text, "false", 5);
			break;
		}
	}
	if (!text->bad)
		put_raw(text, t->frame.data + last->from, last->len);
}

static int text_rows_batch(struct rk_writer *w, const struct rk_batch *b, struct rk_error *err)
{
	struct text_rows *t = (struct text_rows *)w;
	size_t ncells = make_frames(t, b);
	int rc;

	if (t->frame.bad)
		return rk_fail_nomem(err);
	for (size_t row = 0; row < b->nrows; row++) {
		put_row(t, b, ncells, row);
		if (t->text.len < FLUSH_BYTES && !t->text.bad)
			continue;
		rc = flush(t, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int text_rows_finish(struct rk_writer *w, struct rk_error *err)
{
	return flush((struct text_rows *)w, err);
}

/* ---- RFC 4180 with a header line; LF ends a line, a missing value is an empty cell ---- */

static int csv_open(struct rk_output *out, const struct rk_schema *schema, struct rk_context *ctx,
		    struct rk_writer **ret, struct rk_error *err)
{
	struct rk_writer *w;
	struct rk_bytes *text;
	int rc = text_rows_open(ROWS_CSV, &rk_writer_csv, out, schema, ctx, &w, err);

	if (rc < 0)
		return rc;
	text = &((struct text_rows *)w)->text;
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
	.batch = text_rows_batch,
	.finish = text_rows_finish,
	.close = text_rows_close,
};

/* ---- one JSON object per line, every column in each; a missing value is null ---- */

static int jsonl_open(struct rk_output *out, const struct rk_schema *schema, struct rk_context *ctx,
		      struct rk_writer **ret, struct rk_error *err)
{
	return text_rows_open(ROWS_JSONL, &rk_writer_jsonl, out, schema, ctx, ret, err);
}

const struct rk_writer_ops rk_writer_jsonl = {
	.name = "jsonl",
	.help = "one JSON object per line, one table",
	.suffix = ".jsonl",
	.open = jsonl_open,
	.batch = text_rows_batch,
	.finish = text_rows_finish,
	.close = text_rows_close,
};
