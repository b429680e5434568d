/* csv_plan.c - what each column of a CSV file is, from its header. */
#include "codec/csv/csv_row.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* `last`: the bind of the column before. Mostly the one behind it is meant; thousands may follow. */
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

/* Fields that a column before has: two of one name would fight for one field, the first has it. */
struct taken {
	uint64_t bits[RK_CSV_MAX_COLUMNS / 64 + 2];
};

static bool take(struct taken *t, unsigned field)
{
	uint64_t *word = &t->bits[field / 64], bit = UINT64_C(1) << (field % 64);
	bool first;

	assert(field / 64 < sizeof(t->bits) / sizeof(t->bits[0]));
	first = !(*word & bit);
	*word |= bit;
	return first;
}

static bool in_run(enum rk_cell c)
{
	return c == RK_CELL_SKIP || c == RK_CELL_I64 || c == RK_CELL_SERIAL || c == RK_CELL_TIME ||
	       c == RK_CELL_I32 || c == RK_CELL_U32;
}

/* How many columns from col on can be taken together; a run of nothing but SKIP is none. */
static unsigned run_length(const struct rk_csv_plan *p, unsigned col)
{
	unsigned n = 0;
	bool any = false;

	while (col + n < p->ncols - p->tail_cols && n < RK_CSV_MAX_RUN &&
	       in_run(p->cols[col + n].cell))
		any |= p->cols[col + n++].cell != RK_CELL_SKIP;
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

/* Leading columns that a format knows and that are not another in each row, at least three. */
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

/* What stands between head and tail, which are a step of the fast path each. */
static void fold(struct rk_csv_plan *p)
{
	for (unsigned i = p->head_cols; i < p->ncols - p->tail_cols;) {
		struct rk_csv_op *last = p->nops ? &p->ops[p->nops - 1] : NULL;
		unsigned run = run_length(p, i);

		if (run) {
			p->ops[p->nops] = p->cols[i];
			p->ops[p->nops++].run = (uint8_t)run;
		} else if (last && !last->run && last->cell == RK_CELL_SKIP &&
			   p->cols[i].cell == RK_CELL_SKIP) {
			last->field++;
		} else {
			p->ops[p->nops++] = p->cols[i];
		}
		i += run ? run : 1;
	}
}

static unsigned wanted(const struct rk_csv_op *cols, unsigned n, struct rk_csv_put *ret)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++)
		if (cols[i].cell != RK_CELL_SKIP)
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
	struct taken taken = { { 0 } };

	p.cols = rk_calloc(h->ncols, sizeof(*p.cols));
	p.ops = rk_calloc(h->ncols, sizeof(*p.ops));
	if (!p.cols || !p.ops) {
		rk_csv_plan_release(&p);
		return rk_fail_nomem(err);
	}
	for (unsigned i = 0; i < h->ncols; i++) {
		struct rk_csv_op op;

		b = bind_of(binds, h->names[i], b);
		op = op_of(b, i, want);
		if (op.cell > RK_CELL_SKIP_TEXT && !take(&taken, op.field))
			op = op_of(NULL, i, want);
		p.cols[i] = op;
	}
	p.free_col = free_header ? rk_csv_header_find(h, free_header) : -1;
	p.head_cols = head_length(h, binds);
	p.tail_cols = tail_length(&p);
	p.nhead_puts = wanted(p.cols, p.head_cols, p.head_puts);
	p.ntail_puts = wanted(p.cols + p.ncols - p.tail_cols, p.tail_cols, p.tail_puts);
	fold(&p);
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
