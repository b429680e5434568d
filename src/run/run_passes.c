/*
 * run_passes.c - join counters of other executions of the program than that of the kernels.
 *
 * Hardware can only count a few things at a time, so a program is executed once per pass. A
 * dispatch of another pass is treated as the same if it has the same number, kernel and grid. If a
 * pass has as many dispatches but its numbers start elsewhere, they are matched by order.
 * Dispatches that do not match are left out and counted: a row must never mix values of different
 * kernels.
 */
#include <math.h>

#include "run/run.h"

#define BIT(f) (UINT64_C(1) << (f))

/* After the counters, each row of the matrix has columns that describe the dispatch. */
struct checked {
	struct rk_run *run;
	const struct rk_counter_set *set;
	struct rk_matrix *m;
	unsigned name, items, refused; /* columns; refused: the last file that did not match */
	int64_t first, last;           /* dispatch ids of the kernels */
	bool by_order;                 /* the kernels have no ids: use their order */
	int64_t ordinal;               /* of the current row, from 1 */
	/* of the current file: */
	double file;
	int64_t other_first, other_last, shift; /* shift: add to its ids to get the kernels' ids */
	uint64_t mismatches;
	uint32_t odd; /* kernel name of the first mismatch */
};

/* Total work-items in 32 bits, as in counter files; 0 if unknown. */
static uint32_t items_at(const struct rk_batch *b, size_t row)
{
	uint32_t x = (uint32_t)rk_batch_int(b, RK_K_ITEMS_X, row, 0);
	uint32_t y = (uint32_t)rk_batch_int(b, RK_K_ITEMS_Y, row, 1);

	return x * y * (uint32_t)rk_batch_int(b, RK_K_ITEMS_Z, row, 1);
}

/* Calls back for each row of a table of a file, with cleaned kernel names. */
static int each_row(struct checked *c, struct rk_found *f, enum rk_table t, uint64_t want,
		    int (*use)(struct checked *c, const struct rk_batch *b, size_t row,
			       struct rk_error *err),
		    struct rk_error *err)
{
	unsigned name = t == RK_KERNELS ? RK_K_NAME : RK_N_NAME;
	unsigned id = t == RK_KERNELS ? RK_K_DISPATCH : RK_N_DISPATCH;
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL, *named = NULL;
	const struct rk_batch *b;
	int rc = rk_run_open_table(c->run, f, t, want | BIT(id), false, &r, &rows, err);

	if (rc == 0) {
		rc = rk_names_open(rows, &c->run->ctx, name, &c->run->style, &named, err);
		rows = NULL;
	}
	c->ordinal = 0;
	while (rc >= 0 && (rc = rk_source_next(named, &b, err)) > 0)
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++) {
			c->ordinal++;
			if (c->by_order || rk_column_has(&b->cols[id], i))
				rc = use(c, b, i, err);
		}
	rk_source_close(rows);
	rk_source_close(named);
	rk_reader_close(r);
	return rc;
}

/* The number of a kernel: its dispatch id, or its index if the file has no ids (ROCm 6.2). */
static int64_t number_of(const struct checked *c, const struct rk_batch *b, size_t row)
{
	return c->by_order ? c->ordinal : rk_batch_int(b, RK_K_DISPATCH, row, 0);
}

static int note_kernel(struct checked *c, const struct rk_batch *b, size_t row,
		       struct rk_error *err)
{
	int64_t id = number_of(c, b, row);

	if (id < c->first)
		c->first = id;
	if (id > c->last)
		c->last = id;
	return rk_matrix_note(c->m, -1, id, err);
}

static int put_kernel(struct checked *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	int64_t id = number_of(c, b, row);
	int rc = rk_matrix_put(c->m, -1, id, c->name, rk_batch_id(b, RK_K_NAME, row), err);

	if (rc < 0)
		return rc;
	return rk_matrix_put(c->m, -1, id, c->items, items_at(b, row), err);
}

static int note_other(struct checked *c, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	int64_t id = rk_batch_int(b, RK_K_DISPATCH, row, 0);

	(void)err;
	if (id < c->other_first)
		c->other_first = id;
	if (id > c->other_last)
		c->other_last = id;
	return 0;
}

/* Converts an id of the other file; wraps on overflow, since ids may be any distance apart. */
static int64_t shifted(const struct checked *c, int64_t id)
{
	return (int64_t)((uint64_t)id + (uint64_t)c->shift);
}

static int check_other(struct checked *c, const struct rk_batch *b, size_t row,
		       struct rk_error *err)
{
	int64_t id = shifted(c, rk_batch_int(b, RK_K_DISPATCH, row, 0));
	uint32_t name = rk_batch_id(b, RK_K_NAME, row), items = items_at(b, row);
	const double *known;
	int rc = rk_matrix_row(c->m, -1, id, &known, err);

	if (rc > 0 && !isnan(known[c->name]) && (uint32_t)known[c->name] == name &&
	    (!items || !(uint32_t)known[c->items] || (uint32_t)known[c->items] == items))
		return 0;
	if (!c->mismatches++)
		c->odd = name;
	if (rc <= 0)
		return rc;
	return rk_matrix_put(c->m, -1, id, c->refused, c->file, err);
}

static int put_counter(struct checked *c, const struct rk_batch *b, size_t row,
		       struct rk_error *err)
{
	int64_t id = shifted(c, rk_batch_int(b, RK_N_DISPATCH, row, 0));
	double refused;
	int rc = rk_matrix_get(c->m, -1, id, c->refused, &refused, err);

	if (rc <= 0)
		return rc;
	if (refused == c->file || !rk_column_has(&b->cols[RK_N_VALUE], row))
		return 0;
	/* values of an earlier pass take precedence */
	return rk_join_put(c->m, c->set, rk_batch_id(b, RK_N_COUNTER, row), -1, id,
			   ((const double *)b->cols[RK_N_VALUE].data)[row], err);
}

static const uint64_t kernel_fields = BIT(RK_K_NAME) | BIT(RK_K_ITEMS_X) | BIT(RK_K_ITEMS_Y) |
				      BIT(RK_K_ITEMS_Z);

/*
 * Maps the dispatches of file o to the kernels (unless they are the `same`) and adds its counters.
 */
static int add_file(struct checked *c, struct rk_found *o, bool same, struct rk_error *err)
{
	uint64_t want = BIT(RK_N_COUNTER) | BIT(RK_N_VALUE);
	int rc;

	c->file++;
	c->shift = 0;
	c->mismatches = 0;
	c->other_first = INT64_MAX;
	c->other_last = INT64_MIN;
	if (same || !(o->tables >> RK_KERNELS & 1) || c->first > c->last)
		return each_row(c, o, RK_COUNTERS, want, put_counter, err);
	rc = each_row(c, o, RK_KERNELS, 0, note_other, err);
	if (rc < 0)
		return rc;
	if (c->other_first <= c->other_last) {
		if ((uint64_t)c->other_last - (uint64_t)c->other_first ==
		    (uint64_t)c->last - (uint64_t)c->first)
			c->shift = (int64_t)((uint64_t)c->first - (uint64_t)c->other_first);
		rc = each_row(c, o, RK_KERNELS, kernel_fields, check_other, err);
		if (rc < 0)
			return rc;
	}
	if (c->mismatches)
		rk_diag_add(c->run->ctx.diag, "pass-mismatch", o->path, 0, c->mismatches,
			    "dispatches differ in kernel or grid between passes; their "
			    "counters were not joined: first '%.120s'",
			    rk_strtab_borrow(c->run->ctx.names, c->odd, NULL));
	return each_row(c, o, RK_COUNTERS, want, put_counter, err);
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
	rc = each_row(&c, f, RK_KERNELS, 0, note_kernel, err);
	if (rc == 0 && c.first > c.last) {
		c.by_order = true;
		rc = each_row(&c, f, RK_KERNELS, 0, note_kernel, err);
	}
	if (rc < 0 || (rc = rk_matrix_layout(c.m, err)) < 0 ||
	    (rc = each_row(&c, f, RK_KERNELS, kernel_fields, put_kernel, err)) < 0)
		goto fail;
	*ret_by_order = c.by_order;
	c.by_order = false; /* counters always have a dispatch id */
	/* values measured together with a level counter are second choice */
	for (size_t i = 0; i < 2 * run->nfound; i++) {
		struct rk_found *o = &run->found[i % run->nfound];

		if (!rk_run_counts_for(o, f) || (o->level && *o->level) != (i >= run->nfound))
			continue;
		rc = add_file(&c, o, !rk_run_is_separate(o, f), err);
		if (rc < 0)
			goto fail;
	}
	*ret = c.m;
	return 0;
fail:
	rk_matrix_free(c.m);
	return rc;
}
