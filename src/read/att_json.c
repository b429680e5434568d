/*
 * att_json.c - code.json of a thread trace's ui_output folder: the instructions of the traced code
 * and what they cost. The same numbers as in stats_ui_output_*.csv beside the folder, which is used
 * if it is there.
 *
 * The document is {"code": [[isa, 0, line, source, code object, address, hits, ...], ...],
 * "header": "ISA, _, LineNumber, ..."}. The header comes after the rows, so it is read first.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "read/json_rows.h"

enum { NCOLUMNS = 8, MAX_CELLS = 64 };

/* Our columns, their names in the header, and where they are without one. */
static const struct {
	const char *name;
	uint8_t field, place;
	bool text;
} columns[NCOLUMNS] = {
	{ "ISA", RK_I_INSTRUCTION, 0, true },
	{ "Source", RK_I_SOURCE_LINE, 3, true },
	{ "Codeobj", RK_I_CODE_OBJECT, 4 },
	{ "Vaddr", RK_I_VADDR, 5 },
	{ "Hit", RK_I_HITS, 6 },
	{ "Latency", RK_I_LATENCY, 7 },
	{ "Stall", RK_I_STALL, 8 },
	{ "Idle", RK_I_IDLE, 9 },
};

struct att_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	int8_t of_cell[MAX_CELLS]; /* index in `columns`, -1: not used */
};

struct att_scan {
	struct rk_json_scan rows;
	const struct att_reader *r;
	unsigned level; /* 0: outside, 1: document, 2: list of rows */
};

static int att_probe(const struct rk_head *head)
{
	const char *p = rk_json_start(head->data, head->len);
	size_t left = p ? (size_t)(head->data + head->len - p) : 0;
	const char *code = left ? memmem(p, left, "\"code\"", 6) : NULL;

	/* nothing but the key comes before the rows */
	if (!code || *p != '{' || code - p > 64)
		return 0;
	for (code += 6, left -= (size_t)(code - p); left && strchr(" \t\r\n:[", *code); code++)
		left--;
	if (memmem(head->data, head->len, "Codeobj", 7) &&
	    memmem(head->data, head->len, "Vaddr", 5))
		return 95;
	/* the header may be far behind: a row begins with the text of an instruction */
	return left && *code == '"' ? 60 : 0;
}

/* Sets the meaning of each cell from the document's own header. */
static int use_header(struct att_reader *r, const char *text, size_t len, struct rk_error *err)
{
	unsigned cell = 0, found = 0;

	memset(r->of_cell, -1, sizeof(r->of_cell));
	for (size_t at = 0; at <= len && cell < MAX_CELLS; cell++) {
		const char *comma = memchr(text + at, ',', len - at);
		size_t n = comma ? (size_t)(comma - text) - at : len - at;
		const char *name = text + at;

		at += n + 1;
		while (n && *name == ' ') {
			name++;
			n--;
		}
		for (unsigned k = 0; k < NCOLUMNS; k++)
			if (rk_text_ieq(name, n, columns[k].name)) {
				r->of_cell[cell] = (int8_t)k;
				found++;
			}
	}
	if (found < NCOLUMNS)
		return rk_fail(err, RK_E_FORMAT,
			       "the header of this thread trace lacks columns: '%.100s'", text);
	return 0;
}

/* Looks for the header behind the rows; without one the order is that of all known releases. */
static int find_header(struct att_reader *r, struct rk_error *err)
{
	struct rk_json *j = NULL;
	struct rk_json_token tok;
	char text[512];
	int rc, kind;

	memset(r->of_cell, -1, sizeof(r->of_cell));
	for (unsigned k = 0; k < NCOLUMNS; k++)
		r->of_cell[columns[k].place] = (int8_t)k;
	if ((rc = rk_instream_rewind(r->in, err)) < 0 || (rc = rk_json_new(r->in, &j, err)) < 0)
		return rc;
	rc = kind = rk_json_next(j, &tok, err);
	while (kind == RK_JSON_OBJECT || kind == RK_JSON_KEY) {
		rc = kind = rk_json_next(j, &tok, err);
		if (kind != RK_JSON_KEY)
			break;
		if (tok.len != 6 || memcmp(tok.text, "header", 6) != 0) {
			rc = rk_json_skip_value(j, err);
			if (rc < 0)
				break;
			continue;
		}
		rc = rk_json_next(j, &tok, err);
		if (rc == RK_JSON_STRING && tok.len < sizeof(text)) {
			memcpy(text, tok.text, tok.len);
			text[tok.len] = '\0';
			rc = use_header(r, text, tok.len, err);
		}
		break;
	}
	/* what is truncated or damaged is reported when the rows are read */
	if (rc < 0 && rk_json_truncated(j)) {
		rk_error_clear(err);
		rc = 0;
	}
	rk_json_free(j);
	return rc < 0 ? rc : 0;
}

/* Reads the row whose array was just opened. Returns 1, or 0 if it is not an instruction. */
static int read_row(struct att_scan *s, struct rk_error *err)
{
	struct rk_json_value values[NCOLUMNS] = { 0 };
	uint32_t ids[NCOLUMNS] = { 0 };
	struct rk_json_token tok;
	bool comment = false;
	int kind, rc;

	for (unsigned cell = 0; (kind = rk_json_next(s->rows.json, &tok, err)) != RK_JSON_ARRAY_END;
	     cell++) {
		int k = cell < MAX_CELLS ? s->r->of_cell[cell] : -1;

		if (kind < 0)
			return kind;
		if (kind == RK_JSON_ARRAY || kind == RK_JSON_OBJECT) {
			rc = rk_json_skip_rest(s->rows.json, err);
			if (rc < 0)
				return rc;
			continue;
		}
		if (k < 0)
			continue;
		if (columns[k].text && kind == RK_JSON_STRING) {
			comment |= columns[k].field == RK_I_INSTRUCTION && tok.len &&
				   *tok.text == ';'; /* "; name_of_the_kernel" */
			rc = rk_strtab_add(s->rows.ctx->names, tok.text, tok.len, &ids[k], err);
			if (rc < 0)
				return rc;
			values[k].has = RK_JSON_HAS;
		} else if (kind == RK_JSON_NUMBER && !columns[k].text) {
			enum rk_num got = rk_num_i64(tok.text, tok.len, &values[k].i);

			values[k].has = RK_JSON_WRONG;
			if (got == RK_NUM_OK)
				values[k].has = RK_JSON_HAS;
			else if (got == RK_NUM_RANGE)
				values[k].has = RK_JSON_RANGE;
		} else if (kind != RK_JSON_NULL) {
			values[k].has = RK_JSON_WRONG;
		}
	}
	if (comment || values[0].has != RK_JSON_HAS)
		return 0;
	for (unsigned k = 0; k < NCOLUMNS; k++)
		if (columns[k].text && values[k].has == RK_JSON_HAS)
			rk_json_put_id(&s->rows, columns[k].field, ids[k]);
		else
			rk_json_put_value(&s->rows, columns[k].field, &values[k]);
	return 1;
}

/* Returns 1 to continue, 0 at the end of the document. */
static int step(struct att_scan *s, struct rk_error *err)
{
	struct rk_json_token tok;
	int rc = 0, kind = rk_json_next(s->rows.json, &tok, err);

	if (kind <= RK_JSON_END)
		return kind;
	if (s->level == 2) {
		if (kind == RK_JSON_ARRAY) {
			rc = read_row(s, err);
			s->rows.b.nrows += rc > 0;
		} else if (kind == RK_JSON_OBJECT) {
			rc = rk_json_skip_rest(s->rows.json, err);
		} else if (kind == RK_JSON_ARRAY_END) {
			s->level = 1;
		}
	} else if (kind == RK_JSON_KEY && tok.len == 4 && !memcmp(tok.text, "code", 4)) {
		rc = rk_json_next(s->rows.json, &tok, err);
		if (rc == RK_JSON_ARRAY)
			s->level = 2;
		else if (rc == RK_JSON_OBJECT)
			rc = rk_json_skip_rest(s->rows.json, err);
	} else if (kind == RK_JSON_KEY) {
		rc = rk_json_skip_value(s->rows.json, err);
	} else if (kind == RK_JSON_ARRAY) {
		rc = rk_json_skip_rest(s->rows.json, err);
	}
	if (rc >= 0 && s->rows.nomem)
		rc = rk_fail_nomem(err);
	return rc < 0 ? rc : 1;
}

static int att_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct att_scan *s = (struct att_scan *)base;
	int rc = s->rows.ended ? 0 : rk_reader_progress(s->rows.in, s->rows.ctx, err);

	rk_builder_reset(&s->rows.b);
	while (rc >= 0 && !s->rows.ended && s->rows.b.nrows < s->rows.b.cap) {
		rc = step(s, err);
		if (rc <= 0)
			rc = rk_json_scan_end(&s->rows, rc, err);
	}
	return rc < 0 ? rc : rk_json_scan_batch(&s->rows, batch);
}

static void att_source_close(struct rk_source *base)
{
	struct att_scan *s = (struct att_scan *)base;

	rk_json_scan_release(&s->rows);
	rk_free(s);
}

static const struct rk_source_ops att_source_ops = { .next = att_next, .close = att_source_close };

static int att_scan_open(struct rk_reader *base, enum rk_table t, uint64_t want,
			 struct rk_source **ret, struct rk_error *err)
{
	struct att_reader *r = (struct att_reader *)base;
	struct att_scan *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->r = r;
	s->rows.base.ops = &att_source_ops;
	rc = rk_json_scan_init(&s->rows, r->in, r->ctx, t, want, err);
	if (rc < 0) {
		att_source_close(&s->rows.base);
		return rc;
	}
	*ret = &s->rows.base;
	return 0;
}

static void att_close(struct rk_reader *base)
{
	struct att_reader *r = (struct att_reader *)base;

	rk_instream_close(r->in);
	rk_free(r);
}

static int att_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err)
{
	struct att_reader *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->base.tables = RK_TABLE_BIT(RK_INSTRUCTIONS);
	r->in = in;
	r->ctx = ctx;
	if ((rc = rk_instream_keep(in, ctx->tmpdir, err)) < 0 || (rc = find_header(r, err)) < 0) {
		rk_free(r);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

const struct rk_reader_ops rk_reader_att_json = {
	.name = "att-json",
	.help = "code.json of a thread trace (ui_output folder of rocprofv3 --att)",
	.probe = att_probe,
	.open = att_open,
	.scan = att_scan_open,
	.close = att_close,
	.serial = true,
	.precedence = RK_PRECEDENCE_JSON,
};
