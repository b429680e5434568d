/* row.c - the header, single rows, the type of each column, and unusual rows. */
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/csv/scan.h"

/*
 * The end of the header cell at p; commas and line ends inside quotes are part of it. NULL: it
 * never ends.
 */
static const char *name_end(const char *p, const char *end, bool whole, unsigned *lines)
{
	bool quoted = false;

	for (; p < end; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\n' && quoted)
			++*lines;
		else if (!quoted && (*p == ',' || *p == '\n'))
			return p;
	}
	return whole && !quoted ? p : NULL;
}

int rk_csv_header_parse(const char *text, size_t len, bool whole, struct rk_csv_header *ret,
			struct rk_error *err)
{
	const char *p = text, *end = text + len, *to;
	struct rk_csv_header h = { .lines = 1 };
	bool done = false;
	int rc;

	h.names = rk_calloc(RK_CSV_MAX_COLUMNS, sizeof(*h.names));
	if (!h.names)
		return rk_fail_nomem(err);
	if (len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	for (; p < end && (*p == '\n' || *p == '\r'); p++)
		h.lines += *p == '\n';
	if (p == end) {
		rc = rk_fail(err, RK_E_FORMAT, "the file is empty");
		goto fail;
	}
	while (!done) {
		size_t n = 0;
		char *name;

		to = name_end(p, end, whole, &h.lines);
		if (!to) {
			rc = rk_fail(err, RK_E_FORMAT, "the header line does not end");
			goto fail;
		}
		if (h.ncols == RK_CSV_MAX_COLUMNS) {
			rc = rk_fail(err, RK_E_LIMIT, "header has more than %d columns",
				     RK_CSV_MAX_COLUMNS);
			goto fail;
		}
		name = rk_alloc((size_t)(to - p) + 1);
		if (!name) {
			rc = rk_fail_nomem(err);
			goto fail;
		}
		for (; p < to; p++)
			if ((unsigned char)*p > ' ' && *p != '"' && *p != 0x7f)
				name[n++] = *p;
		name[n] = '\0';
		h.names[h.ncols++] = name;
		done = to == end || *to == '\n';
		if (to < end)
			p++;
	}
	h.bytes = (size_t)(p - text);
	*ret = h;
	return 0;
fail:
	rk_csv_header_release(&h);
	return rc;
}

void rk_csv_header_release(struct rk_csv_header *h)
{
	for (unsigned i = 0; i < h->ncols; i++)
		rk_free(h->names[i]);
	rk_free(h->names);
	*h = (struct rk_csv_header){ 0 };
}

int rk_csv_header_find(const struct rk_csv_header *h, const char *name)
{
	/* most differ in their first letter */
	for (unsigned i = 0; i < h->ncols; i++)
		if ((h->names[i][0] | 0x20) == (name[0] | 0x20) &&
		    rk_text_ieq(h->names[i], strlen(h->names[i]), name))
			return (int)i;
	return -1;
}

/* ---- the cells of a single row ---- */

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct rk_csv_span rk_csv_trim(const char *p, size_t len)
{
	for (; len && blank(*p); len--)
		p++;
	while (len && blank(p[len - 1]))
		len--;
	return (struct rk_csv_span){ p, len };
}

static struct rk_csv_span unquoted(struct rk_csv_span c)
{
	if (c.len >= 2 && c.p[0] == '"' && c.p[c.len - 1] == '"')
		return (struct rk_csv_span){ c.p + 1, c.len - 2 };
	return c;
}

unsigned rk_csv_split(const char *row, size_t len, struct rk_csv_span *cells, unsigned max)
{
	const char *end = row + len, *q;
	struct rk_csv_span c;

	for (unsigned n = 0; n < max; row = q + 1) {
		/* a quoted cell may contain commas */
		for (q = row; q < end && blank(*q); q++)
			;
		if (q < end && *q == '"')
			for (q++; q < end && (*q != '"' || (q + 1 < end && q[1] == '"')); q++)
				q += *q == '"';
		if (q >= end || *q != '"')
			q = row; /* no quotes, or an unclosed one: split at commas */
		q = memchr(q, ',', (size_t)(end - q));
		if (!q)
			q = end;
		c = unquoted(rk_csv_trim(row, (size_t)(q - row)));
		cells[n++] = rk_csv_trim(c.p, c.len);
		if (q == end)
			return n;
	}
	return max + 1;
}

/* ---- the type of each column, from the header ---- */

/*
 * `last`: the bind of the previous column. Usually the next bind matches; there may be thousands.
 */
static const struct rk_csv_bind *bind_of(const struct rk_csv_bind *binds, const char *name,
					 const struct rk_csv_bind *last)
{
	if (last && last[1].header && rk_text_ieq(name, strlen(name), last[1].header))
		return last + 1;
	for (; binds; binds = binds->more) {
		for (; binds->header; binds++)
			if (rk_text_same(name, binds->header))
				return binds;
	}
	return NULL;
}

static struct rk_csv_op op_of(const struct rk_csv_bind *b, unsigned col, uint64_t want)
{
	struct rk_csv_op op = { .cell = RK_CELL_SKIP_TEXT, .field = 1, .col = (uint16_t)col };

	if (!b)
		return op;
	op.cell = (uint8_t)b->cell;
	if (b->cell == RK_CELL_SKIP || b->cell == RK_CELL_SKIP_TEXT)
		return op;
	if (b->field >= 64 || want >> b->field & 1)
		op.field = (uint16_t)b->field;
	else
		op.cell = b->cell == RK_CELL_STR ? RK_CELL_SKIP_TEXT : RK_CELL_SKIP;
	return op;
}

/* Number of columns from col on that can be read together; 0 if all are SKIP. */
static unsigned run_length(const struct rk_csv_plan *p, unsigned col)
{
	unsigned n = 0;
	bool any = false;

	for (; col + n < p->ncols - p->tail_cols && n < RK_CSV_MAX_RUN; n++) {
		enum rk_cell c = p->cols[col + n].cell;

		if (c != RK_CELL_SKIP && c != RK_CELL_I64 && c != RK_CELL_SERIAL &&
		    c != RK_CELL_TIME && c != RK_CELL_I32 && c != RK_CELL_U32)
			break;
		any |= c != RK_CELL_SKIP;
	}
	return any && n >= 3 ? n : 0;
}

/* Trailing columns of small numbers, at least four; the first column is never one of them. */
static unsigned tail_length(const struct rk_csv_plan *p)
{
	unsigned n = 0;

	while (n < RK_CSV_END_COLS && n + p->head_cols + 1 < p->ncols) {
		uint8_t c = p->cols[p->ncols - 1 - n].cell;

		if (c != RK_CELL_SKIP && c != RK_CELL_I32 && c != RK_CELL_U32)
			break;
		n++;
	}
	return n >= 4 ? n : 0;
}

/* Leading columns that a format knows and that do not differ in each row, at least three. */
static unsigned head_length(const struct rk_csv_header *h, const struct rk_csv_bind *binds)
{
	unsigned n = 0;

	while (n < RK_CSV_END_COLS && n + 1 < h->ncols) {
		const struct rk_csv_bind *b = bind_of(binds, h->names[n], NULL);

		if (!b || (b->cell != RK_CELL_SKIP && b->cell != RK_CELL_AGENT &&
			   b->cell != RK_CELL_I64 && b->cell != RK_CELL_I32))
			break;
		n++;
	}
	return n >= 3 ? n : 0;
}

/* Collects the numbers of a head or tail that are wanted. */
static unsigned wanted(const struct rk_csv_op *cols, unsigned n, struct rk_csv_put *ret)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++)
		if (cols[i].cell > RK_CELL_SKIP_TEXT)
			ret[k++] = (struct rk_csv_put){ cols[i].field, (uint8_t)i,
							cols[i].cell != RK_CELL_I32 &&
								cols[i].cell != RK_CELL_U32 };
	return k;
}

int rk_csv_plan_make(const struct rk_csv_header *h, const struct rk_csv_bind *binds,
		     const char *free_header, uint64_t want, struct rk_csv_plan *ret,
		     struct rk_error *err)
{
	struct rk_csv_plan p = { .ncols = h->ncols };
	const struct rk_csv_bind *b = NULL;
	uint64_t taken[RK_CSV_MAX_COLUMNS / 64 + 2] = { 0 }; /* fields that have a column */

	p.cols = rk_calloc(h->ncols, sizeof(*p.cols));
	p.ops = rk_calloc(h->ncols, sizeof(*p.ops));
	if (!p.cols || !p.ops) {
		rk_csv_plan_release(&p);
		return rk_fail_nomem(err);
	}
	for (unsigned i = 0; i < h->ncols; i++) {
		uint64_t *word, bit;

		b = bind_of(binds, h->names[i], b);
		p.cols[i] = op_of(b, i, want);
		if (p.cols[i].cell <= RK_CELL_SKIP_TEXT)
			continue;
		/* if two columns have the same name, the first one wins */
		assert(p.cols[i].field / 64 < sizeof(taken) / sizeof(taken[0]));
		word = &taken[p.cols[i].field / 64];
		bit = UINT64_C(1) << (p.cols[i].field % 64);
		if (*word & bit)
			p.cols[i] = op_of(NULL, i, want);
		*word |= bit;
	}
	p.free_col = free_header ? rk_csv_header_find(h, free_header) : -1;
	p.head_cols = head_length(h, binds);
	p.tail_cols = tail_length(&p);
	p.nhead_puts = wanted(p.cols, p.head_cols, p.head_puts);
	p.ntail_puts = wanted(p.cols + p.ncols - p.tail_cols, p.tail_cols, p.tail_puts);
	/* the cells between head and tail; the fast path handles each of those in one step */
	for (unsigned i = p.head_cols, n; i < p.ncols - p.tail_cols; i += n) {
		struct rk_csv_op *last = p.nops ? &p.ops[p.nops - 1] : NULL;

		n = run_length(&p, i);
		if (n) {
			p.ops[p.nops] = p.cols[i];
			p.ops[p.nops++].run = (uint8_t)n;
			continue;
		}
		n = 1;
		if (last && !last->run && last->cell == RK_CELL_SKIP &&
		    p.cols[i].cell == RK_CELL_SKIP)
			last->field++;
		else
			p.ops[p.nops++] = p.cols[i];
	}
	*ret = p;
	return 0;
}

void rk_csv_plan_release(struct rk_csv_plan *p)
{
	rk_free(p->cols);
	rk_free(p->ops);
	*p = (struct rk_csv_plan){ 0 };
}

int rk_csv_sink_init(struct rk_csv_sink *s, const struct rk_csv_plan *plan, struct rk_builder *b,
		     struct rk_strtab *names, struct rk_csv_memory *memory, struct rk_error *err)
{
	*s = (struct rk_csv_sink){ .b = b, .names = names, .memory = memory, .err = err };
	for (unsigned i = 0; i < plan->ncols; i++)
		if (plan->cols[i].cell > RK_CELL_SKIP_TEXT &&
		    !rk_builder_column(b, plan->cols[i].field))
			return rk_fail_nomem(err);
	s->data = b->data;
	return 0;
}

void rk_csv_commit_nulls(struct rk_csv_sink *s)
{
	for (unsigned i = 0; i < s->nnulls; i++)
		if (!rk_builder_null(s->b, s->nulls[i], s->row))
			s->failed = true;
	s->nnulls = 0;
}

/* ---- unusual rows ---- */
/*
 * First the row is split at its commas, respecting quotes. If that does not give as many cells as
 * the header has, or puts words in number columns, cells are counted from both ends around the
 * free-text column: the rest in the middle is the text.
 */

/*
 * The end of the cell at p: the comma after it, or `end`. A quote closes a quoted cell only before
 * a comma or the end; doubled quotes are skipped.
 */
static const char *loose_cell_end(const char *p, const char *end)
{
	const char *q;

	if (p < end && *p == '"') {
		for (q = p + 1; q < end; q++) {
			if (*q != '"')
				continue;
			if (q + 1 == end || q[1] == ',')
				return q + 1;
			if (q[1] == '"')
				q++;
		}
	}
	q = memchr(p, ',', (size_t)(end - p));
	return q ? q : end;
}

/*
 * Takes the cells before the free text from the left and those after it from the right; the rest is
 * the text. Cells on the right are numbers or simple words, so they contain no comma.
 */
static bool split_both_ends(const char *p, size_t len, unsigned ncols, unsigned free_col,
			    struct rk_csv_span *cells)
{
	const char *end = p + len, *q;
	unsigned right = ncols - free_col - 1;

	for (unsigned i = 0; i < free_col; i++) {
		q = loose_cell_end(p, end);
		if (q == end)
			return false;
		cells[i] = (struct rk_csv_span){ p, (size_t)(q - p) };
		p = q + 1;
	}
	for (unsigned i = 0; i < right; i++) {
		q = memrchr(p, ',', (size_t)(end - p));
		if (!q)
			return false;
		cells[ncols - 1 - i] = (struct rk_csv_span){ q + 1, (size_t)(end - q - 1) };
		end = q;
	}
	cells[free_col] = (struct rk_csv_span){ p, (size_t)(end - p) };
	/* a text that begins with a quote must end with one; otherwise there are too many cells */
	return p == end || *p != '"' || (end - p > 1 && end[-1] == '"');
}

/* A number without the blanks that some writers put around it. */
static struct rk_csv_span number_text(struct rk_csv_span c)
{
	c = unquoted(c);
	for (; c.len && (*c.p == ' ' || *c.p == '\t'); c.len--)
		c.p++;
	while (c.len && (c.p[c.len - 1] == ' ' || c.p[c.len - 1] == '\t'))
		c.len--;
	return c;
}

/* The number in "Agent 4", "GPU 4" or "CPU 4". */
static struct rk_csv_span agent_text(struct rk_csv_span c, bool *cpu)
{
	static const char *const words[] = { "Agent ", "GPU ", "CPU " };

	c = number_text(c);
	for (unsigned i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);

		*cpu = i == 2;
		if (rk_text_iprefix(c.p, c.len, words[i]))
			return (struct rk_csv_span){ c.p + n, c.len - n };
	}
	*cpu = false;
	/* rows written from freed memory may have a single quote as their agent */
	if (c.len == 1 && *c.p == '"')
		c.len = 0;
	return c;
}

static enum rk_num read_number(enum rk_cell cell, struct rk_csv_span c, int64_t *v, double *d)
{
	enum rk_num state;
	bool cpu;

	switch (cell) {
	case RK_CELL_F64:
		c = number_text(c);
		return rk_num_f64(c.p, c.len, d);
	case RK_CELL_U64:
		c = number_text(c);
		return rk_num_u64(c.p, c.len, (uint64_t *)v);
	case RK_CELL_AGENT:
		c = agent_text(c, &cpu);
		state = rk_num_i64(c.p, c.len, v);
		if (cpu && state == RK_NUM_OK)
			*v = ~*v;
		return state;
	default:
		c = number_text(c);
		return rk_num_i64(c.p, c.len, v);
	}
}

/* Counts number columns that contain something else. */
static unsigned misfits(const struct rk_csv_plan *plan, const struct rk_csv_span *cells)
{
	unsigned n = 0;
	int64_t v;
	double d;

	for (unsigned i = 0; i < plan->ncols; i++) {
		enum rk_cell cell = plan->cols[i].cell;

		if (cell >= RK_CELL_I64 && cell != RK_CELL_STR)
			n += read_number(cell, cells[i], &v, &d) == RK_NUM_BAD;
	}
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

static void put_number(const struct rk_csv_op *op, struct rk_csv_span c, struct rk_csv_sink *s)
{
	int64_t v = 0;
	double d = 0;
	enum rk_num kind = read_number(op->cell, c, &v, &d);

	if (kind == RK_NUM_OK && ((op->cell == RK_CELL_I32 && (v < INT32_MIN || v > INT32_MAX)) ||
				  (op->cell == RK_CELL_U32 && (v < 0 || v > UINT32_MAX))))
		kind = RK_NUM_RANGE;
	switch (kind) {
	case RK_NUM_EMPTY:
		put_null(s, op->field, -1);
		return;
	case RK_NUM_SCIENCE:
		put_null(s, op->field,
			 op->cell == RK_CELL_TIME ? RK_NOTE_DAMAGED_TIME : RK_NOTE_BAD_NUMBER);
		return;
	case RK_NUM_BAD:
		put_null(s, op->field, RK_NOTE_BAD_NUMBER);
		return;
	case RK_NUM_RANGE:
		put_null(s, op->field, RK_NOTE_RANGE);
		return;
	case RK_NUM_FRACTION:
		s->notes |= 1u << RK_NOTE_FRACTION;
		break;
	case RK_NUM_OK:
		break;
	}
	if (op->cell == RK_CELL_F64)
		((double *)s->data[op->field])[s->row] = d;
	else if (op->cell == RK_CELL_I32 || op->cell == RK_CELL_U32)
		((int32_t *)s->data[op->field])[s->row] = (int32_t)v;
	else
		((int64_t *)s->data[op->field])[s->row] = v;
}

/* Whether all quotes are doubled as in RFC 4180: then one of each pair belongs to the text. */
static bool doubled_quotes(struct rk_csv_span c)
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

static void put_text(unsigned field, struct rk_csv_span c, struct rk_csv_sink *s)
{
	uint32_t *id = &((uint32_t *)s->data[field])[s->row];
	struct rk_csv_span inner = unquoted(c);
	char *text = NULL;
	size_t n = 0;

	if (inner.p != c.p && doubled_quotes(inner)) {
		text = rk_alloc(inner.len);
		if (!text) {
			rk_fail_nomem(s->err);
			s->failed = true;
			return;
		}
		for (size_t i = 0; i < inner.len; i++) {
			text[n++] = inner.p[i];
			i += inner.p[i] == '"';
		}
		inner = (struct rk_csv_span){ text, n };
	}
	if (rk_strtab_add(s->names, inner.p, inner.len, id, s->err) < 0)
		s->failed = true;
	rk_free(text);
}

int rk_csv_row_slow(const struct rk_csv_plan *plan, const char *p, size_t len,
		    struct rk_csv_sink *s)
{
	unsigned ncols = plan->ncols, n = 0, bad = 0;
	struct rk_csv_span *cells = rk_alloc(((size_t)ncols + 1) * 2 * sizeof(*cells)), *other;
	const char *from = p, *end = p + len, *to = p;

	if (!cells) {
		rk_fail_nomem(s->err);
		s->failed = true;
		return 0;
	}
	/* cells from the left; ncols + 2: more than that */
	for (; n <= ncols; from = to + 1) {
		to = loose_cell_end(from, end);
		cells[n++] = (struct rk_csv_span){ from, (size_t)(to - from) };
		if (to == end)
			break;
	}
	if (to < end)
		n++;
	/* one trailing comma more than in the header: ignore the empty cell */
	if (n == ncols + 1 && !cells[ncols].len)
		n = ncols;
	if (n == ncols)
		bad = misfits(plan, cells);

	other = cells + ncols + 1;
	if ((n != ncols || bad) && plan->free_col >= 0 &&
	    split_both_ends(p, len, ncols, (unsigned)plan->free_col, other)) {
		unsigned fewer = misfits(plan, other);

		if (n == ncols ? fewer < bad : !fewer) {
			n = ncols;
			memcpy(cells, other, ncols * sizeof(*cells));
		}
	}

	if (n == ncols)
		s->nnulls = 0;
	for (unsigned i = 0; n == ncols && i < ncols; i++) {
		const struct rk_csv_op *op = &plan->cols[i];

		if (op->cell == RK_CELL_STR)
			put_text(op->field, cells[i], s);
		else if (op->cell > RK_CELL_SKIP_TEXT)
			put_number(op, cells[i], s);
	}
	rk_free(cells);
	if (n == ncols)
		return 1;
	return n < ncols ? 0 : 2;
}
