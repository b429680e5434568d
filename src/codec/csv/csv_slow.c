/*
 * csv_slow.c - rows with something odd in them.
 *
 * First the row is cut at its commas with quotes taken as quotes. When that does not give as many
 * cells as the header has, or puts words where numbers belong, the cells are counted from both
 * ends around the free-text column: whatever is left in the middle is the text.
 */
#include "codec/csv/csv_row.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"

struct span {
	const char *p;
	size_t len;
};

/* The closing quote of a quoted cell that begins at p, or NULL; pairs of quotes are passed. */
static const char *closing_quote(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p != '"')
			continue;
		if (p + 1 == end || p[1] == ',')
			return p;
		if (p[1] == '"')
			p++;
	}
	return NULL;
}

/* The end of the cell at p: the comma behind it, or `end`. */
static const char *cell_end(const char *p, const char *end)
{
	const char *q = p < end && *p == '"' ? closing_quote(p, end) : NULL;

	if (q)
		return q + 1;
	q = memchr(p, ',', (size_t)(end - p));
	return q ? q : end;
}

/* Cells from the left, at most max; the number of cells there are (max + 1: more than max). */
static unsigned split(const char *p, size_t len, struct span *cells, unsigned max)
{
	const char *end = p + len;
	unsigned n = 0;

	for (;;) {
		const char *q = cell_end(p, end);

		if (n == max)
			return max + 1;
		cells[n++] = (struct span){ p, (size_t)(q - p) };
		if (q == end)
			return n;
		p = q + 1;
	}
}

/*
 * `left` cells from the left and `right` from the right, the free text between them. Cells on
 * the right are numbers or simple words: they hold no comma.
 */
static bool split_both_ends(const char *p, size_t len, unsigned ncols, unsigned free_col,
			    struct span *cells)
{
	const char *end = p + len, *q;
	unsigned right = ncols - free_col - 1;

	for (unsigned i = 0; i < free_col; i++) {
		q = cell_end(p, end);
		if (q == end)
			return false;
		cells[i] = (struct span){ p, (size_t)(q - p) };
		p = q + 1;
	}
	for (unsigned i = 0; i < right; i++) {
		q = memrchr(p, ',', (size_t)(end - p));
		if (!q)
			return false;
		cells[ncols - 1 - i] = (struct span){ q + 1, (size_t)(end - q - 1) };
		end = q;
	}
	cells[free_col] = (struct span){ p, (size_t)(end - p) };
	/* a text that opens with a quote closes with one: otherwise there are cells too many */
	return p == end || *p != '"' || (end - p > 1 && end[-1] == '"');
}

static struct span unquoted(struct span c)
{
	if (c.len >= 2 && c.p[0] == '"' && c.p[c.len - 1] == '"')
		return (struct span){ c.p + 1, c.len - 2 };
	return c;
}

/* Numbers, with the blanks some writers put around them cut off. */
static struct span number_text(struct span c)
{
	c = unquoted(c);
	for (; c.len && (*c.p == ' ' || *c.p == '\t'); c.len--)
		c.p++;
	while (c.len && (c.p[c.len - 1] == ' ' || c.p[c.len - 1] == '\t'))
		c.len--;
	return c;
}

static struct span agent_text(struct span c)
{
	static const char *const words[] = { "Agent ", "GPU ", "CPU " };

	c = number_text(c);
	for (unsigned i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);

		if (rk_text_iprefix(c.p, c.len, words[i]))
			return (struct span){ c.p + n, c.len - n };
	}
	/* rows of freed memory may show a lone quote as their agent */
	return c.len == 1 && *c.p == '"' ? (struct span){ c.p, 0 } : c;
}

static bool is_number(enum rk_cell cell)
{
	return cell >= RK_CELL_I64 && cell != RK_CELL_STR;
}

static enum rk_num read_number(enum rk_cell cell, struct span c, int64_t *v, double *d)
{
	switch (cell) {
	case RK_CELL_F64:
		c = number_text(c);
		return rk_num_f64(c.p, c.len, d);
	case RK_CELL_U64:
		c = number_text(c);
		return rk_num_u64(c.p, c.len, (uint64_t *)v);
	case RK_CELL_AGENT:
		c = agent_text(c);
		return rk_num_i64(c.p, c.len, v);
	default:
		c = number_text(c);
		return rk_num_i64(c.p, c.len, v);
	}
}

/* How many number columns hold something else. */
static unsigned misfits(const struct rk_csv_plan *plan, const struct span *cells)
{
	unsigned n = 0;
	int64_t v;
	double d;

	for (unsigned i = 0; i < plan->ncols; i++)
		if (is_number(plan->cols[i].cell))
			n += read_number(plan->cols[i].cell, cells[i], &v, &d) == RK_NUM_BAD;
	return n;
}

static void put_null(struct rk_csv_sink *s, unsigned field, int note)
{
	if (note >= 0)
		s->notes |= 1u << note;
	if (s->nnulls < 64)
		s->nulls[s->nnulls++] = (uint16_t)field;
	else if (!rk_builder_null(s->b, field, s->row))
		s->failed = true;
}

static bool fits(enum rk_cell cell, int64_t v)
{
	if (cell == RK_CELL_I32)
		return v >= INT32_MIN && v <= INT32_MAX;
	return cell != RK_CELL_U32 || (v >= 0 && v <= UINT32_MAX);
}

static void put_number(const struct rk_csv_op *op, struct span c, struct rk_csv_sink *s)
{
	enum rk_num kind;
	int64_t v = 0;
	double d = 0;

	kind = read_number(op->cell, c, &v, &d);
	if (kind == RK_NUM_EMPTY) {
		put_null(s, op->field, -1);
		return;
	}
	if (kind == RK_NUM_SCIENCE) {
		put_null(s, op->field,
			 op->cell == RK_CELL_TIME ? RK_NOTE_DAMAGED_TIME : RK_NOTE_BAD_NUMBER);
		return;
	}
	if (kind == RK_NUM_OK && !fits(op->cell, v))
		kind = RK_NUM_RANGE;
	if (kind == RK_NUM_BAD || kind == RK_NUM_RANGE) {
		put_null(s, op->field, kind == RK_NUM_BAD ? RK_NOTE_BAD_NUMBER : RK_NOTE_RANGE);
		return;
	}
	if (kind == RK_NUM_FRACTION)
		s->notes |= 1u << RK_NOTE_FRACTION;
	if (op->cell == RK_CELL_F64)
		((double *)s->data[op->field])[s->row] = d;
	else if (op->cell == RK_CELL_I32 || op->cell == RK_CELL_U32)
		((int32_t *)s->data[op->field])[s->row] = (int32_t)v;
	else
		((int64_t *)s->data[op->field])[s->row] = v;
}

/* Every quote doubled: RFC 4180 wrote it, and one of each pair belongs to the text. */
static bool doubled_quotes(struct span c)
{
	bool any = false;

	for (size_t i = 0; i < c.len; i++) {
		if (c.p[i] != '"')
			continue;
		if (i + 1 == c.len || c.p[i + 1] != '"')
			return false;
		any = true;
		i++;
	}
	return any;
}

static int put_undoubled(struct span c, uint32_t *id, struct rk_csv_sink *s)
{
	char *text = rk_alloc(c.len);
	size_t n = 0;
	int rc;

	if (!text)
		return rk_fail_nomem(s->err);
	for (size_t i = 0; i < c.len; i++) {
		text[n++] = c.p[i];
		i += c.p[i] == '"';
	}
	rc = rk_strtab_add(s->names, text, n, id, s->err);
	rk_free(text);
	return rc;
}

static void put_text(unsigned field, struct span c, struct rk_csv_sink *s)
{
	uint32_t *id = &((uint32_t *)s->data[field])[s->row];
	struct span inner = unquoted(c);
	int rc;

	if (inner.p != c.p && doubled_quotes(inner))
		rc = put_undoubled(inner, id, s);
	else
		rc = rk_strtab_add(s->names, inner.p, inner.len, id, s->err);
	if (rc < 0)
		s->failed = true;
}

static void put_cells(const struct rk_csv_plan *plan, const struct span *cells,
		      struct rk_csv_sink *s)
{
	s->nnulls = 0;
	for (unsigned i = 0; i < plan->ncols; i++) {
		const struct rk_csv_op *op = &plan->cols[i];

		if (op->cell == RK_CELL_STR)
			put_text(op->field, cells[i], s);
		else if (op->cell > RK_CELL_SKIP_TEXT)
			put_number(op, cells[i], s);
	}
}

/* One trailing comma more than the header has: an empty cell nobody named. */
static unsigned drop_empty_tail(const struct span *cells, unsigned n, unsigned ncols)
{
	return n == ncols + 1 && !cells[ncols].len ? ncols : n;
}

int rk_csv_row_slow(const struct rk_csv_plan *plan, const char *p, size_t len,
		    struct rk_csv_sink *s)
{
	unsigned ncols = plan->ncols, n, bad = 0;
	struct span *cells = rk_alloc(((size_t)ncols + 1) * 2 * sizeof(*cells));
	struct span *other = cells ? cells + ncols + 1 : NULL;
	int rc;

	if (!cells) {
		rk_fail_nomem(s->err);
		s->failed = true;
		return 0;
	}
	n = drop_empty_tail(cells, split(p, len, cells, ncols + 1), ncols);
	if (n == ncols)
		bad = misfits(plan, cells);
	if ((n != ncols || bad) && plan->free_col >= 0 &&
	    split_both_ends(p, len, ncols, (unsigned)plan->free_col, other)) {
		unsigned fewer = misfits(plan, other);

		if (n == ncols ? fewer < bad : !fewer) {
			n = ncols;
			memcpy(cells, other, ncols * sizeof(*cells));
		}
	}
	rc = n == ncols ? 1 : n < ncols ? 0 : 2;
	if (rc == 1)
		put_cells(plan, cells, s);
	rk_free(cells);
	return rc;
}
