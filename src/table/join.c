/* join.c - see join.h. */
#include "table/join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/map.h"

enum { COLLECT_MAX = 1 << 20, MASK_BITS = 48 /* exact in a double */ };

/* *at: 1 + position in the index, 0 to start. */
static const struct rk_counter_feed *next_feed(const struct rk_counter_set *set, uint32_t id,
					       size_t *at)
{
	uint64_t hash = rk_hash_u64(id);
	size_t slot = *at - 1;
	uint32_t i = *at ? rk_index_next(&set->by_id, hash, &slot) :
			   rk_index_first(&set->by_id, hash, &slot);

	while (i != RK_INDEX_NONE && set->feeds[i].id != id)
		i = rk_index_next(&set->by_id, hash, &slot);
	*at = slot + 1;
	return i == RK_INDEX_NONE ? NULL : &set->feeds[i];
}

int rk_counter_set_next(const struct rk_counter_set *set, uint32_t id, size_t *at)
{
	const struct rk_counter_feed *f = next_feed(set, id, at);

	return f ? (int)f->column : -1;
}

int rk_counter_set_feed(struct rk_counter_set *set, uint32_t id, unsigned column,
			struct rk_error *err)
{
	struct rk_counter_feed *feeds =
		rk_grow(set->feeds, &set->cap_feeds, set->nfeeds + 1, sizeof(*feeds));

	if (!feeds)
		return rk_fail_nomem(err);
	set->feeds = feeds;
	if (!rk_index_add(&set->by_id, rk_hash_u64(id), (uint32_t)set->nfeeds))
		return rk_fail_nomem(err);
	feeds[set->nfeeds++] = (struct rk_counter_feed){ id, column, set->columns[column].parts++ };
	return 0;
}

int rk_counter_set_column(struct rk_counter_set *set, uint32_t name, bool sum, unsigned *ret,
			  struct rk_error *err)
{
	void *columns = rk_grow(set->columns, &set->cap, set->n + 1, sizeof(*set->columns));

	if (!columns)
		return rk_fail_nomem(err);
	set->columns = columns;
	set->columns[set->n] = (struct rk_counter_column){ .name = name, .sum = sum };
	*ret = (unsigned)set->n++;
	return 0;
}

int rk_counter_set_add(struct rk_counter_set *set, struct rk_context *ctx, uint32_t id,
		       struct rk_error *err)
{
	const char *name = rk_strtab_borrow(ctx->names, id, NULL);
	unsigned column = 0;
	size_t at = 0;
	int rc;

	if (!*name || next_feed(set, id, &at))
		return 0;
	if (set->n == COLLECT_MAX) {
		set->more = true;
		return 0;
	}
	rc = rk_counter_set_column(set, id, false, &column, err);
	return rc < 0 ? rc : rk_counter_set_feed(set, id, column, err);
}

int rk_counter_set_scan(struct rk_counter_set *set, struct rk_context *ctx,
			struct rk_source *counters, struct rk_error *err)
{
	const struct rk_batch *b;
	uint32_t last = 0;
	int rc;

	while ((rc = rk_source_next(counters, &b, err)) > 0) {
		const struct rk_column *c = &b->cols[RK_N_COUNTER];

		for (size_t i = 0; c->data && i < b->nrows; i++) {
			uint32_t id = ((const uint32_t *)c->data)[i];

			if (id == last || !rk_column_has(c, i))
				continue;
			rc = rk_counter_set_add(set, ctx, id, err);
			if (rc < 0)
				return rc;
			last = id;
		}
	}
	return rc;
}

/* The columns "X[0]", "X[1]", ... of one X belong together: a part of them would look like all. */
struct family {
	uint32_t base; /* id of X, 0: not an instance */
	uint32_t column;
	size_t size;
	bool kept;
};

static int by_base(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

static int by_column(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	return (x->column > y->column) - (x->column < y->column);
}

/* Single columns first, then complete families, in the order of their first members. */
static void choose(struct family *v, size_t n)
{
	size_t room = RK_JOIN_MAX_COUNTERS;

	for (size_t i = 0; i < n; i++) {
		v[i].kept = !v[i].base && room;
		room -= v[i].kept;
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i].base && v[i].size && v[i].size <= room) {
			v[i].kept = true;
			room -= v[i].size;
		}
	}
}

/*
 * Columns that fit get new numbers in `to`, the others UINT32_MAX; *ret_n is the number that fit.
 */
static int renumber(const struct rk_counter_set *set, struct rk_context *ctx, uint32_t *to,
		    size_t *ret_n, struct rk_error *err)
{
	struct family *v = rk_calloc(set->n, sizeof(*v));
	size_t n = set->n, kept = 0;
	int rc = 0;

	if (!v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		size_t len;
		const char *name = rk_strtab_borrow(ctx->names, set->columns[i].name, &len);
		const char *bracket = len && name[len - 1] == ']' ? strchr(name, '[') : NULL;

		v[i].column = (uint32_t)i;
		if (!bracket)
			continue;
		rc = rk_strtab_add(ctx->names, name, (size_t)(bracket - name), &v[i].base, err);
		if (rc < 0)
			goto out;
	}

	/* store the size of a family in its first member */
	qsort(v, n, sizeof(*v), by_base);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && v[i].base && v[end].base == v[i].base; end++)
			;
		v[i].size = end - i;
	}
	qsort(v, n, sizeof(*v), by_column);
	choose(v, n);

	/* all members are kept or dropped like the first */
	qsort(v, n, sizeof(*v), by_base);
	for (size_t i = 1; i < n; i++)
		if (v[i].base && v[i].base == v[i - 1].base)
			v[i].kept = v[i - 1].kept;
	qsort(v, n, sizeof(*v), by_column);
	for (size_t i = 0; i < n; i++)
		to[i] = v[i].kept ? (uint32_t)kept++ : UINT32_MAX;
	*ret_n = kept;
out:
	rk_free(v);
	return rc;
}

/* Drops columns beyond the limit, instances first; keeps the order. */
static int trim(struct rk_counter_set *set, struct rk_context *ctx, struct rk_error *err)
{
	uint32_t *to = rk_calloc(set->n, sizeof(*to));
	size_t n = set->nfeeds, kept = 0;
	int rc;

	if (!to)
		return rk_fail_nomem(err);
	rc = renumber(set, ctx, to, &kept, err);
	if (rc < 0)
		goto out;
	set->more = true;
	for (size_t i = 0; i < set->n; i++)
		if (to[i] != UINT32_MAX)
			set->columns[to[i]] = set->columns[i];
	set->n = kept;
	rk_index_release(&set->by_id);
	set->nfeeds = 0;
	for (size_t i = 0; i < n; i++) {
		struct rk_counter_feed f = set->feeds[i];

		if (to[f.column] == UINT32_MAX)
			continue;
		set->feeds[set->nfeeds] = (struct rk_counter_feed){ f.id, to[f.column], f.part };
		if (!rk_index_add(&set->by_id, rk_hash_u64(f.id), (uint32_t)set->nfeeds++)) {
			rc = rk_fail_nomem(err);
			goto out;
		}
	}
out:
	rk_free(to);
	return rc;
}

static uint32_t masks_of(const struct rk_counter_column *c)
{
	return c->sum ? (c->parts + MASK_BITS - 1) / MASK_BITS : 0;
}

static bool is_taken(const struct rk_counter_set *set, const struct rk_context *ctx,
		     const char *name, size_t except)
{
	const struct rk_schema *kernels = rk_table_schema(RK_KERNELS);

	/* some readers of our files ignore case */
	for (unsigned f = 0; f < kernels->nfields; f++)
		if (!strcasecmp(kernels->fields[f].name, name))
			return true;
	for (size_t i = 0; except != SIZE_MAX && i < set->n; i++)
		if (i != except &&
		    !strcmp(rk_strtab_borrow(ctx->names, set->columns[i].name, NULL), name))
			return true;
	return false;
}

/* The name of a column: that of its counter, or "counter_..." if kernels has such a column. */
static int column_name(const struct rk_counter_set *set, struct rk_context *ctx, size_t column,
		       const char **ret, struct rk_error *err)
{
	const char *name = rk_strtab_borrow(ctx->names, set->columns[column].name, NULL);
	char *other = NULL, *message;
	uint32_t id = set->columns[column].name;
	int rc = 0;

	*ret = name;
	if (!is_taken(set, ctx, name, SIZE_MAX))
		return 0;
	do {
		char *longer = rk_strf("counter_%s", other ? other : name);

		rk_free(other);
		other = longer;
	} while (other && is_taken(set, ctx, other, column));
	if (other)
		rc = rk_strtab_adds(ctx->names, other, &id, err);
	message =
		rk_strf("counter '%s' is in column '%s', because kernels has a column of its name",
			name, other ? other : "");
	if (!other || !message)
		rc = rk_fail_nomem(err);
	else if (rc == 0)
		rk_diag_most(ctx->diag, "counter-renamed", "", 0, 1, message);
	*ret = rk_strtab_borrow(ctx->names, id, NULL);
	rk_free(other);
	rk_free(message);
	return rc;
}

int rk_counter_set_schema(struct rk_counter_set *set, struct rk_context *ctx, struct rk_error *err)
{
	const struct rk_schema *kernels = rk_table_schema(RK_KERNELS);
	int rc;

	if (set->n > RK_JOIN_MAX_COUNTERS) {
		rc = trim(set, ctx, err);
		if (rc < 0)
			return rc;
	}
	set->width = set->n;
	for (size_t i = 0; i < set->n; i++) {
		set->columns[i].masks = (uint32_t)set->width;
		set->width += masks_of(&set->columns[i]);
	}
	set->fields = rk_calloc(kernels->nfields + set->n, sizeof(*set->fields));
	if (!set->fields)
		return rk_fail_nomem(err);
	memcpy(set->fields, kernels->fields, kernels->nfields * sizeof(*set->fields));
	for (size_t i = 0; i < set->n; i++) {
		struct rk_field *f = &set->fields[kernels->nfields + i];

		rc = column_name(set, ctx, i, &f->name, err);
		if (rc < 0)
			return rc;
		f->type = RK_F64;
		f->pass = set->columns[i].pass;
	}
	set->schema = *kernels;
	set->schema.fields = set->fields;
	set->schema.nfields += (unsigned)set->n;
	return 0;
}

void rk_counter_set_release(struct rk_counter_set *set)
{
	rk_free(set->columns);
	rk_free(set->feeds);
	rk_index_release(&set->by_id);
	rk_free(set->fields);
	*set = (struct rk_counter_set){ 0 };
}

int rk_join_note(struct rk_matrix *m, struct rk_source *counters, struct rk_error *err)
{
	const struct rk_batch *b;
	int rc;

	while ((rc = rk_source_next(counters, &b, err)) > 0) {
		for (size_t i = 0; i < b->nrows; i++) {
			if (!rk_column_has(&b->cols[RK_N_DISPATCH], i))
				continue;
			rc = rk_matrix_note(m, rk_batch_int(b, RK_N_PID, i, -1),
					    rk_batch_int(b, RK_N_DISPATCH, i, 0), err);
			if (rc < 0)
				return rc;
		}
	}
	return rc;
}

/* 1: the part is new and now marked; 0: it is already in the sum. */
static int take_part(struct rk_matrix *m, int64_t pid, int64_t dispatch,
		     const struct rk_counter_column *c, uint32_t part, struct rk_error *err)
{
	unsigned column = c->masks + part / MASK_BITS;
	uint64_t bit = UINT64_C(1) << part % MASK_BITS, bits;
	double mask;
	int rc = rk_matrix_get(m, pid, dispatch, column, &mask, err);

	if (rc <= 0)
		return rc;
	bits = isnan(mask) ? 0 : (uint64_t)mask;
	if (bits & bit)
		return 0;
	rk_matrix_tally(m)[column] |= bit;
	rc = rk_matrix_put(m, pid, dispatch, column, (double)(bits | bit), err);
	return rc < 0 ? rc : 1;
}

int rk_join_put(struct rk_matrix *m, const struct rk_counter_set *set, uint32_t id, int64_t pid,
		int64_t dispatch, double value, struct rk_error *err)
{
	const struct rk_counter_feed *f;
	size_t at = 0;

	while ((f = next_feed(set, id, &at))) {
		const struct rk_counter_column *c = &set->columns[f->column];
		double known;
		int rc = rk_matrix_get(m, pid, dispatch, f->column, &known, err);

		if (rc > 0 && c->sum)
			rc = take_part(m, pid, dispatch, c, f->part, err);
		else if (rc > 0)
			rc = isnan(known) != 0;
		if (rc < 0)
			return rc;
		if (!rc)
			continue;
		if (isnan(known))
			known = 0;
		rc = rk_matrix_put(m, pid, dispatch, f->column, value + known, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rk_join_fill(struct rk_matrix *m, const struct rk_counter_set *set, struct rk_source *counters,
		 struct rk_error *err)
{
	const struct rk_batch *b;
	int rc;

	while ((rc = rk_source_next(counters, &b, err)) > 0) {
		const struct rk_column *value = &b->cols[RK_N_VALUE];

		for (size_t i = 0; i < b->nrows; i++) {
			if (!rk_column_has(&b->cols[RK_N_DISPATCH], i) ||
			    !rk_column_has(&b->cols[RK_N_COUNTER], i) || !rk_column_has(value, i))
				continue;
			rc = rk_join_put(m, set, rk_batch_id(b, RK_N_COUNTER, i),
					 rk_batch_int(b, RK_N_PID, i, -1),
					 rk_batch_int(b, RK_N_DISPATCH, i, 0),
					 ((const double *)value->data)[i], err);
			if (rc < 0)
				return rc;
		}
	}
	return rc;
}

struct join {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_matrix *m;
	const struct rk_counter_set *set;
	bool by_order;
	int64_t ordinal;     /* of the last row */
	struct rk_builder b; /* only its counter columns are used */
	struct rk_column *cols;
	struct rk_batch batch;
};

static int join_row(struct join *j, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	unsigned first = rk_table_schema(RK_KERNELS)->nfields;
	const uint64_t *all = rk_matrix_tally(j->m);
	bool known = rk_column_has(&b->cols[RK_K_DISPATCH], row);
	const double *values = NULL;
	int rc = 0;

	j->ordinal++;
	if (known || j->by_order)
		rc = rk_matrix_row(j->m, rk_batch_int(b, RK_K_PID, row, -1),
				   rk_batch_int(b, RK_K_DISPATCH, row, j->ordinal), &values, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < j->set->n; i++) {
		const struct rk_counter_column *c = &j->set->columns[i];
		known = rc > 0 && !isnan(values[i]);
		/* a sum is valid only with every part that any dispatch has */
		for (uint32_t k = c->masks; known && k < c->masks + masks_of(c); k++)
			known = all[k] == (isnan(values[k]) ? 0 : (uint64_t)values[k]);
		if (known)
			((double *)j->b.data[first + i])[row] = values[i];
		else if (!rk_builder_null(&j->b, first + i, row))
			return rk_fail_nomem(err);
	}
	return 0;
}

static int join_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct join *j = (struct join *)base;
	unsigned first = rk_table_schema(RK_KERNELS)->nfields;
	const struct rk_batch *b;
	int rc = rk_source_next(j->rows, &b, err);

	if (rc <= 0)
		return rc;
	if (j->b.cap < b->nrows) {
		rk_builder_release(&j->b);
		rc = rk_builder_init(&j->b, &j->set->schema, b->nrows, err);
		if (rc < 0)
			return rc;
	}
	for (unsigned i = 0; j->m && i < j->set->n; i++)
		if (!rk_builder_column(&j->b, first + i))
			return rk_fail_nomem(err);
	rk_builder_reset(&j->b);
	for (size_t i = 0; j->m && i < b->nrows; i++) {
		rc = join_row(j, b, i, err);
		if (rc < 0)
			return rc;
	}
	j->b.nrows = b->nrows;
	memcpy(j->cols, rk_builder_batch(&j->b)->cols, j->set->schema.nfields * sizeof(*j->cols));
	memcpy(j->cols, b->cols, first * sizeof(*j->cols));
	j->batch = (struct rk_batch){ &j->set->schema, b->nrows, j->cols };
	*batch = &j->batch;
	return 1;
}

static void join_close(struct rk_source *base)
{
	struct join *j = (struct join *)base;

	rk_source_close(j->rows);
	rk_matrix_free(j->m);
	rk_builder_release(&j->b);
	rk_free(j->cols);
	rk_free(j);
}

static const struct rk_source_ops join_ops = { .next = join_next, .close = join_close };

int rk_join_open(struct rk_source *rows, struct rk_matrix *m, const struct rk_counter_set *set,
		 bool by_order, struct rk_source **ret, struct rk_error *err)
{
	struct join *j = rk_calloc(1, sizeof(*j));
	int rc;

	if (!j) {
		rk_source_close(rows);
		rk_matrix_free(m);
		return rk_fail_nomem(err);
	}
	j->base = (struct rk_source){ &join_ops, &set->schema };
	j->rows = rows;
	j->m = m;
	j->set = set;
	j->by_order = by_order;
	j->cols = rk_calloc(set->schema.nfields, sizeof(*j->cols));
	if (j->cols)
		rc = rk_builder_init(&j->b, &set->schema, RK_BATCH_ROWS, err);
	else
		rc = rk_fail_nomem(err);
	if (rc < 0) {
		join_close(&j->base);
		return rc;
	}
	*ret = &j->base;
	return 0;
}
