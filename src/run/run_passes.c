/*
 * run_passes.c - counters that were measured in other runs of the program than the kernels.
 *
 * Hardware counts only so many things at a time, so a program is run once per pass. A dispatch of
 * another pass is taken for the same when it has the same number and is the same kernel with the
 * same grid; when the numbers of a pass begin elsewhere but are as many, they are taken by order.
 * What does not agree is left out and counted: values of different kernels must not meet in a row.
 */
#include <math.h>
#include <string.h>

#include "run/run.h"

#define BIT(f) (UINT64_C(1) << (f))

/* Behind the counters, each row of the matrix says what is known of the dispatch. */
struct checked {
	struct rk_run *run;
	const struct rk_counter_set *set;
	struct rk_matrix *m;
	unsigned name, items, refused; /* columns; refused: the last file that did not agree */
	int64_t first, last;           /* dispatch ids of the kernels */
	bool by_order;                 /* the kernels have no ids: their order stands for them */
	int64_t ordinal;               /* of the row at hand, from 1 */
	/* of the file at hand: */
	double file;
	int64_t other_first, other_last, shift; /* shift: added to its ids to get the kernels' */
	uint64_t mismatches;
	uint32_t odd; /* name of the first of them */
};

/* Work-items in all, in 32 bits as the counter files have it; 0 when not known. */
static uint32_t items_at(const struct rk_batch *b, size_t row)
{
	uint32_t x = (uint32_t)rk_batch_int(b, RK_K_ITEMS_X, row, 0);
	uint32_t y = (uint32_t)rk_batch_int(b, RK_K_ITEMS_Y, row, 1);

	return x * y * (uint32_t)rk_batch_int(b, RK_K_ITEMS_Z, row, 1);
}

/* One pass over a table of a file, kernel names cleaned, a row at a time. */
static int each_row(struct checked *c, struct rk_found *f, enum rk_table t, uint64_t want,
		    int (*use)(struct checked *c, const struct rk_batch *b, size_t row,
			       struct rk_error *err),
		    struct rk_error *err)
{
	struct rk_context *ctx = &c->run->ctx;
	unsigned name = t == RK_KERNELS ? RK_K_NAME : RK_N_NAME;
	unsigned id = t == RK_KERNELS ? RK_K_DISPATCH : RK_N_DISPATCH;
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc = rk_reader_open_as(f->path, f->ops, ctx, &r, err);

	if (rc == 0)
		rc = f->ops->scan(r, t, want | BIT(id), &rows, err);
	if (rc == 0 && t == RK_COUNTERS)
		rc = rk_run_keyed_open(f, &rows, err);
	if (rc == 0)
		rc = rk_names_open(rows, ctx, name, &c->run->style, &rows, err);
	if (rc < 0)
		rows = NULL;
	c->ordinal = 0;
	while (rc >= 0 && rows && (rc = rk_source_next(rows, &b, err)) > 0)
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++) {
			c->ordinal++;
			if (c->by_order || rk_column_has(&b->cols[id], i))
				rc = use(c, b, i, err);
		}
	rk_source_close(rows);
	rk_reader_close(r);
	return rc < 0 ? rc : 0;
}

/* A kernel's number: its dispatch id, or where the file has none (6.2) its place in it. */
static int64_t number_of(const struct checked *c, const struct rk_batch *b, size_t row)
{
	return c->by_order ? c->ordinal : rk_batch_int(b, RK_K_DISPATCH, row, 0);
}

static int note_kernel(struct checked *c, const struct rk_batch *b, size_t row,
		       struct rk_error *err)
{
	int64_t id = number_of(c, b, row);

	c->first = id < c->first ? id : c->first;
	c->last = id > c->last ? id : c->last;
	return rk_matrix_note(c->m, -1, id, err);
}

static int put_kernel(struct checked *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	int64_t id = number_of(c, b, row);
	int rc = rk_matrix_put(c->m, -1, id, c->name, rk_batch_id(b, RK_K_NAME, row), err);

	return rc < 0 ? rc : rk_matrix_put(c->m, -1, id, c->items, items_at(b, row), err);
}

static int note_other(struct checked *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	int64_t id = rk_batch_int(b, RK_K_DISPATCH, row, 0);

	(void)err;
	c->other_first = id < c->other_first ? id : c->other_first;
	c->other_last = id > c->other_last ? id : c->other_last;
	return 0;
}

static bool agrees(const struct checked *c, const double *known, uint32_t name, uint32_t items)
{
	if (isnan(known[c->name]) || (uint32_t)known[c->name] != name)
		return false;
	return !items || !(uint32_t)known[c->items] || (uint32_t)known[c->items] == items;
}

/* The kernels' number for an id of the other file; ids may be as far apart as they fit. */
static int64_t shifted(const struct checked *c, int64_t id)
{
	return (int64_t)((uint64_t)id + (uint64_t)c->shift);
}

static int check_other(struct checked *c, const struct rk_batch *b, size_t row,
		       struct rk_error *err)
{
	int64_t id = shifted(c, rk_batch_int(b, RK_K_DISPATCH, row, 0));
	const double *known;
	int rc = rk_matrix_row(c->m, -1, id, &known, err);

	if (rc > 0 && agrees(c, known, rk_batch_id(b, RK_K_NAME, row), items_at(b, row)))
		return 0;
	if (!c->mismatches++)
		c->odd = rk_batch_id(b, RK_K_NAME, row);
	return rc > 0 ? rk_matrix_put(c->m, -1, id, c->refused, c->file, err) : rc;
}

static int put_counter(struct checked *c, const struct rk_batch *b, size_t row,
		       struct rk_error *err)
{
	int64_t id = shifted(c, rk_batch_int(b, RK_N_DISPATCH, row, 0));
	double refused;
	int rc = rk_matrix_get(c->m, -1, id, c->refused, &refused, err);

	if (rc <= 0 || refused == c->file || !rk_column_has(&b->cols[RK_N_VALUE], row))
		return rc < 0 ? rc : 0;
	/* what an earlier pass has measured stays */
	return rk_join_put(c->m, c->set, rk_batch_id(b, RK_N_COUNTER, row), -1, id,
			   ((const double *)b->cols[RK_N_VALUE].data)[row], err);
}

static const uint64_t kernel_fields = BIT(RK_K_NAME) | BIT(RK_K_ITEMS_X) | BIT(RK_K_ITEMS_Y) |
				      BIT(RK_K_ITEMS_Z);

/* Finds out how the dispatches of file o stand to the kernels. */
static int check_file(struct checked *c, struct rk_found *o, struct rk_error *err)
{
	int rc;

	c->other_first = INT64_MAX;
	c->other_last = INT64_MIN;
	c->shift = 0;
	c->mismatches = 0;
	if (!(o->tables >> RK_KERNELS & 1) || c->first > c->last)
		return 0;
	rc = each_row(c, o, RK_KERNELS, 0, note_other, err);
	if (rc < 0 || c->other_first > c->other_last)
		return rc;
	if (c->other_first != c->first && (uint64_t)c->other_last - (uint64_t)c->other_first ==
						  (uint64_t)c->last - (uint64_t)c->first)
		c->shift = (int64_t)((uint64_t)c->first - (uint64_t)c->other_first);
	return each_row(c, o, RK_KERNELS, kernel_fields, check_other, err);
}

static int add_file(struct checked *c, struct rk_found *o, bool same, struct rk_error *err)
{
	int rc = 0;

	c->file++;
	c->shift = 0;
	if (!same)
		rc = check_file(c, o, err);
	if (rc == 0 && !same && c->mismatches)
		rk_diag_add(c->run->ctx.diag, "pass-mismatch", o->path, 0, c->mismatches,
			    "dispatches are not the kernel, or not of the grid, that the kernels "
			    "table has under their number; their counters are not joined: first "
			    "'%.120s'",
			    rk_strtab_borrow(c->run->ctx.names, c->odd, NULL));
	if (rc == 0)
		rc = each_row(c, o, RK_COUNTERS, BIT(RK_N_COUNTER) | BIT(RK_N_VALUE), put_counter,
			      err);
	return rc;
}

bool rk_run_has_counters(const struct rk_found *f)
{
	return f->used >> RK_COUNTERS & 1 && !f->kept;
}

bool rk_run_counts_for(const struct rk_found *o, const struct rk_found *f)
{
	return rk_run_has_counters(o) && o->ordinal == f->ordinal &&
	       !strcmp(o->program, f->program);
}

bool rk_run_separate(const struct rk_found *o, const struct rk_found *f)
{
	size_t len = strlen(f->group);

	if (o == f)
		return false;
	/* the files of a rocprof-compute directory are a run each */
	return strcmp(o->group, f->group) || (len && f->group[len - 1] == '/');
}

/* What the kernels are numbered by, and which numbers there are. */
static int number_kernels(struct checked *c, struct rk_found *f, struct rk_error *err)
{
	int rc = each_row(c, f, RK_KERNELS, 0, note_kernel, err);

	if (rc < 0 || c->first <= c->last)
		return rc;
	c->by_order = true;
	return each_row(c, f, RK_KERNELS, 0, note_kernel, err);
}

int rk_run_pass_matrix(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		       struct rk_matrix **ret, bool *ret_by_order, struct rk_error *err)
{
	struct checked c = { .run = run, .set = set, .first = INT64_MAX, .last = INT64_MIN };
	unsigned width = (unsigned)set->width;
	int rc = rk_matrix_new(&run->ctx, width + 3, &c.m, err);

	if (rc < 0)
		return rc;
	c.name = width;
	c.items = width + 1;
	c.refused = width + 2;
	rc = number_kernels(&c, f, err);
	if (rc == 0)
		rc = rk_matrix_layout(c.m, err);
	if (rc == 0)
		rc = each_row(&c, f, RK_KERNELS, kernel_fields, put_kernel, err);
	*ret_by_order = c.by_order;
	c.by_order = false; /* counters always have their dispatch */
	/* what was measured beside a level counter is second choice */
	for (size_t i = 0; rc == 0 && i < 2 * run->nfound; i++) {
		struct rk_found *o = &run->found[i % run->nfound];

		if (rk_run_counts_for(o, f) && (o->level && *o->level) == (i >= run->nfound))
			rc = add_file(&c, o, !rk_run_separate(o, f), err);
	}
	if (rc < 0)
		rk_matrix_free(c.m);
	else
		*ret = c.m;
	return rc;
}
