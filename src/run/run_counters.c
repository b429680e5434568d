/*
 * run_counters.c - the counters of each file, and the keys they are joined under.
 *
 * A level counter needs its own pass: its integral is the next register, which older tools always
 * call SQ_ACCUM_PREV_HIRES. In the file of such a pass the key of the integral includes the level
 * counter's name, and the keys of the other counters include the pass, so that values of the same
 * execution can be compared.
 *
 * Other counters may also be measured in several passes: the planner (counters/counter_plan.c) does
 * that to have all operands of a formula in one execution. In the first pass, in order of the
 * files, the key of such a counter is its name; in pass N it is "NAME@N". As a column of the
 * kernels table it has that name, too, and struct rk_field has the pass of each column.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "run/run.h"

/* SQ_LEVEL_WAVES, SQ_INST_LEVEL_LDS, SQ_IFETCH_LEVEL; levels of other blocks need no accumulator. */
static bool is_level(const char *name)
{
	return strncmp(name, "SQ_", 3) == 0 && strstr(name, "_LEVEL") != NULL &&
	       !rk_text_ends(name, strlen(name), "_ACCUM");
}

const char *rk_level_of_pass(const char *const *names, size_t n)
{
	const char *only = NULL, *before = NULL;
	size_t levels = 0;
	bool accumulates = false;

	for (size_t i = 0; i < n; i++) {
		if (is_level(names[i])) {
			only = names[i];
			levels++;
		}
		if (strcmp(names[i], RK_LEVEL_ACCUMULATOR) != 0)
			continue;
		accumulates = true;
		/* the accumulator integrates the counter just before it */
		before = i > 0 && is_level(names[i - 1]) ? names[i - 1] : NULL;
	}
	if (accumulates && before)
		return before;
	return accumulates && levels == 1 ? only : NULL;
}

#define BIT(f) (UINT64_C(1) << (f))

/*
 * Derives the pass of a file from its counter names; if they are `columns`, they are from all
 * passes.
 */
static int make_keys(struct rk_run *run, struct rk_found *f, bool columns, struct rk_error *err)
{
	const char **names = rk_calloc(f->ncounters, sizeof(*names));
	const char *level;
	int rc = 0;

	f->keys = rk_calloc(f->ncounters, sizeof(*f->keys));
	f->again = rk_calloc(f->ncounters, sizeof(*f->again));
	if (!names || !f->keys || !f->again) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < f->ncounters; i++)
		names[i] = rk_strtab_borrow(run->ctx.names, f->counters[i], NULL);
	level = rk_level_of_pass(names, f->ncounters);
	f->level = level ? level : "";
	for (size_t i = 0; rc == 0 && i < f->ncounters; i++) {
		char *key;

		f->keys[i] = f->counters[i];
		if (!level)
			continue;
		if (!strcmp(names[i], RK_LEVEL_ACCUMULATOR))
			key = rk_strf("%s_ACCUM", level);
		else if (!columns)
			key = rk_strf("%s@%s", names[i], level);
		else
			continue;
		if (key)
			rc = rk_strtab_add(run->ctx.names, key, strlen(key), &f->keys[i], err);
		else
			rc = rk_fail_nomem(err);
		rk_free(key);
		f->keyed = true;
	}
out:
	rk_free(names);
	return rc;
}

/* "NAME@2": the column of a counter that was measured again in pass 2. */
int rk_run_again_name(struct rk_run *run, uint32_t name, int pass, uint32_t *ret,
		      struct rk_error *err)
{
	char *text = rk_strf("%s@%d", rk_strtab_borrow(run->ctx.names, name, NULL), pass);
	int rc;

	if (!text)
		return rk_fail_nomem(err);
	rc = rk_strtab_add(run->ctx.names, text, strlen(text), ret, err);
	rk_free(text);
	return rc;
}

/*
 * Marks the counters of f that an earlier pass of the same program has, too. Accumulators of
 * different level counters have the same name, but other values.
 */
static void mark_again(const struct rk_run *run, size_t at)
{
	struct rk_found *f = &run->found[at];

	for (size_t i = 0; i < at; i++) {
		const struct rk_found *o = &run->found[i];

		if (!o->ncounters || o->program_hash != f->program_hash ||
		    strcmp(o->program, f->program) != 0)
			continue;
		for (size_t k = 0; k < f->ncounters; k++) {
			const char *name = rk_strtab_borrow(run->ctx.names, f->counters[k], NULL);

			if (f->passes[k] < 0 || strcmp(name, RK_LEVEL_ACCUMULATOR) == 0)
				continue;
			for (size_t j = 0; !f->again[k] && j < o->ncounters; j++)
				f->again[k] = o->counters[j] == f->counters[k] &&
					      o->passes[j] >= 0 && o->passes[j] != f->passes[k];
		}
	}
}

/* Finds the counters that were measured in several passes, and gives them keys. */
static int key_passes(struct rk_run *run, struct rk_error *err)
{
	for (size_t i = 0; i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];

		if (f->ncounters)
			mark_again(run, i);
		for (size_t k = 0; k < f->ncounters; k++) {
			int rc;

			/* in the pass of a level counter it has a key already */
			if (!f->again[k] || f->keys[k] != f->counters[k])
				continue;
			rc = rk_run_again_name(run, f->counters[k], f->passes[k], &f->keys[k], err);
			if (rc < 0)
				return rc;
			f->keyed = true;
		}
	}
	return 0;
}

/* Finds the counters of a file: columns after those of the kernels table, or names in rows. */
static int look_into(struct rk_run *run, struct rk_found *f, bool columns, struct rk_error *err)
{
	struct rk_counter_set set = { 0 };
	struct rk_source *rows = NULL;
	struct rk_reader *r = NULL;
	int rc = rk_reader_open_as(f->path, f->ops, &run->ctx, &r, err);

	if (rc < 0)
		return rc;
	if (columns)
		rc = f->ops->scan(r, RK_KERNELS, 0, &rows, err);
	else
		rc = f->ops->scan(r, RK_COUNTERS, BIT(RK_N_COUNTER), &rows, err);
	if (rc < 0)
		goto out;
	if (!columns)
		rc = rk_counter_set_scan(&set, &run->ctx, rows, err);
	for (unsigned i = RK_K_NFIELDS; columns && rc == 0 && i < rows->schema->nfields; i++) {
		const struct rk_field *field = &rows->schema->fields[i];
		size_t before = set.n;
		uint32_t id;

		rc = rk_strtab_add(run->ctx.names, field->name, strlen(field->name), &id, err);
		if (rc == 0)
			rc = rk_counter_set_add(&set, &run->ctx, id, err);
		if (set.n > before)
			set.columns[before].pass = field->pass;
	}
	if (rc < 0)
		goto out;

	f->counters = rk_calloc(set.n, sizeof(*f->counters));
	f->passes = rk_calloc(set.n, sizeof(*f->passes));
	if (f->counters && f->passes) {
		f->ncounters = set.n;
		for (size_t i = 0; i < set.n; i++) {
			f->counters[i] = set.columns[i].name;
			f->passes[i] = columns ? (int)set.columns[i].pass - 1 : f->pass;
		}
		rc = make_keys(run, f, columns, err);
	} else {
		rc = rk_fail_nomem(err);
	}
	if (rc < 0) /* the file was not examined */
		rk_run_counters_forget(f);
out:
	rk_source_close(rows);
	rk_counter_set_release(&set);
	rk_reader_close(r);
	return rc;
}

void rk_run_counters_forget(struct rk_found *f)
{
	rk_free(f->counters);
	rk_free(f->keys);
	rk_free(f->passes);
	rk_free(f->again);
	f->counters = f->keys = NULL;
	f->passes = NULL;
	f->again = NULL;
	f->ncounters = 0;
}

bool rk_run_has_columns(const struct rk_found *f)
{
	return f->used >> RK_KERNELS & 1 && !f->kept && f->ops->own_tables;
}

int rk_run_counter_names(struct rk_run *run, struct rk_error *err)
{
	size_t warnings;
	int rc = 0;

	if (run->counters.named)
		return 0;
	/* the scan that uses the rows reports problems with the file, once */
	rk_diag_list(run->ctx.diag, &warnings);
	for (size_t i = 0; rc == 0 && i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];
		bool columns = rk_run_has_columns(f), joined = columns;

		if (f->counters)
			continue;
		/* are its counters joined to kernels? our own Parquet already has them */
		for (size_t k = 0; !joined && rk_run_has_counters(f) && k < run->nfound; k++) {
			const struct rk_found *o = &run->found[k];

			joined = o->used >> RK_KERNELS & 1 && !rk_run_has_columns(o) &&
				 rk_run_counts_for(f, o);
		}
		if (joined)
			rc = look_into(run, f, columns, err);
	}
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc == 0)
		rc = key_passes(run, err);
	run->counters.named = rc == 0;
	return rc;
}

/* Renames counters to their keys. */
struct keyed {
	struct rk_source base;
	struct rk_source *rows;
	const struct rk_found *f;
	size_t at; /* index in f's counters */
	uint32_t *ids;
	size_t cap;
	struct rk_column cols[RK_N_NFIELDS];
	struct rk_batch batch;
};

static uint32_t key_in(const struct rk_found *f, uint32_t name)
{
	for (size_t i = 0; i < f->ncounters; i++)
		if (f->counters[i] == name)
			return f->keys[i];
	return name;
}

static int keyed_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct keyed *k = (struct keyed *)base;
	const struct rk_found *f = k->f;
	const struct rk_batch *b;
	const uint32_t *from;
	void *ids;
	int rc = rk_source_next(k->rows, &b, err);

	if (rc <= 0)
		return rc;
	ids = rk_grow(k->ids, &k->cap, b->nrows, sizeof(*k->ids));
	if (!ids)
		return rk_fail_nomem(err);
	k->ids = ids;
	memcpy(k->cols, b->cols, sizeof(k->cols));
	from = b->cols[RK_N_COUNTER].data;
	for (size_t i = 0; from && i < b->nrows; i++) {
		/* counters repeat in the same order: try the next one first */
		if (k->at >= f->ncounters)
			k->at = 0;
		if (k->at < f->ncounters && f->counters[k->at] == from[i])
			k->ids[i] = f->keys[k->at];
		else
			k->ids[i] = key_in(f, from[i]);
		k->at++;
	}
	if (from)
		k->cols[RK_N_COUNTER].data = k->ids;
	k->batch = (struct rk_batch){ b->schema, b->nrows, k->cols };
	*batch = &k->batch;
	return 1;
}

static void keyed_close(struct rk_source *base)
{
	struct keyed *k = (struct keyed *)base;

	rk_source_close(k->rows);
	rk_free(k->ids);
	rk_free(k);
}

static const struct rk_source_ops keyed_ops = { .next = keyed_next, .close = keyed_close };

int rk_run_keyed_open(const struct rk_found *f, struct rk_source **rows, struct rk_error *err)
{
	struct keyed *k;

	if (!f->keyed)
		return 0;
	k = rk_calloc(1, sizeof(*k));
	if (!k) {
		rk_source_close(*rows);
		*rows = NULL;
		return rk_fail_nomem(err);
	}
	k->base = (struct rk_source){ &keyed_ops, (*rows)->schema };
	k->rows = *rows;
	k->f = f;
	*rows = &k->base;
	return 0;
}

/* ---- files with counters as columns: map them to the columns of the run's schema ---- */

struct feed {
	unsigned column, field; /* column: of the set; field: of the file */
};

/* A column that is the sum of several fields. */
struct sum {
	double *values; /* NULL: not a sum */
	uint64_t *valid;
};

struct columns {
	struct rk_source base;
	struct rk_source *rows;
	const struct rk_counter_set *set;
	struct feed *feeds; /* by column */
	size_t nfeeds, cap_feeds;
	struct sum *sums; /* per column */
	size_t cap_rows;
	struct rk_column *cols;
	struct rk_batch batch;
};

static int room_for(struct columns *r, size_t nrows, struct rk_error *err)
{
	if (nrows <= r->cap_rows)
		return 0;
	for (size_t i = 1; i < r->nfeeds; i++) {
		unsigned column = r->feeds[i].column;
		struct sum *s = &r->sums[column];
		void *grown;

		if (column != r->feeds[i - 1].column || !r->set->columns[column].sum)
			continue;
		grown = rk_reallocn(s->values, nrows, sizeof(*s->values));
		if (!grown)
			return rk_fail_nomem(err);
		s->values = grown;
		grown = rk_reallocn(s->valid, (nrows + 63) / 64, sizeof(*s->valid));
		if (!grown)
			return rk_fail_nomem(err);
		s->valid = grown;
	}
	r->cap_rows = nrows;
	return 0;
}

static void put_column(struct columns *r, const struct rk_batch *b, const struct feed *f,
		       bool first)
{
	struct rk_column *to = &r->cols[RK_K_NFIELDS + f->column];
	const struct sum *sum = &r->sums[f->column];
	const struct rk_column *from = &b->cols[f->field];
	bool nulls = !from->data || from->valid || (!first && to->valid);
	size_t words = (b->nrows + 63) / 64;
	const double *v = from->data;

	if (!sum->values) {
		if (first)
			*to = *from;
		return;
	}
	if (first) {
		memset(sum->values, 0, b->nrows * sizeof(*sum->values));
		memset(sum->valid, 0xff, words * sizeof(*sum->valid));
	}
	/* if a part is missing, the sum is too */
	if (!v)
		memset(sum->valid, 0, words * sizeof(*sum->valid));
	for (size_t i = 0; v && i < b->nrows; i++)
		sum->values[i] += v[i];
	for (size_t i = 0; v && from->valid && i < words; i++)
		sum->valid[i] &= from->valid[i];
	*to = (struct rk_column){ sum->values, nulls ? sum->valid : NULL };
}

static int columns_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct columns *r = (struct columns *)base;
	const struct rk_batch *b;
	int rc = rk_source_next(r->rows, &b, err);

	if (rc <= 0)
		return rc;
	if (room_for(r, b->nrows, err) < 0)
		return RK_E_NOMEM;
	memset(r->cols, 0, base->schema->nfields * sizeof(*r->cols));
	memcpy(r->cols, b->cols, RK_K_NFIELDS * sizeof(*r->cols));
	for (size_t i = 0; i < r->nfeeds; i++)
		put_column(r, b, &r->feeds[i], !i || r->feeds[i - 1].column != r->feeds[i].column);
	r->batch = (struct rk_batch){ base->schema, b->nrows, r->cols };
	*batch = &r->batch;
	return 1;
}

static void columns_close(struct rk_source *base)
{
	struct columns *r = (struct columns *)base;

	rk_source_close(r->rows);
	for (size_t i = 0; r->sums && i < r->set->n; i++) {
		rk_free(r->sums[i].values);
		rk_free(r->sums[i].valid);
	}
	rk_free(r->sums);
	rk_free(r->feeds);
	rk_free(r->cols);
	rk_free(r);
}

static const struct rk_source_ops columns_ops = { .next = columns_next, .close = columns_close };

static int find_feeds(struct columns *r, struct rk_run *run, const struct rk_found *from,
		      struct rk_error *err)
{
	const struct rk_schema *file = r->rows->schema;

	for (unsigned f = RK_K_NFIELDS; f < file->nfields; f++) {
		const char *name = file->fields[f].name;
		size_t at = 0;
		uint32_t id;
		int column, rc = rk_strtab_add(run->ctx.names, name, strlen(name), &id, err);

		if (rc < 0)
			return rc;
		id = key_in(from, id);
		while ((column = rk_counter_set_next(r->set, id, &at)) >= 0) {
			size_t i = r->nfeeds;
			struct feed *feeds =
				rk_grow(r->feeds, &r->cap_feeds, i + 1, sizeof(*feeds));

			if (!feeds)
				return rk_fail_nomem(err);
			r->feeds = feeds;
			for (; i && feeds[i - 1].column > (unsigned)column; i--)
				feeds[i] = feeds[i - 1];
			feeds[i] = (struct feed){ (unsigned)column, f };
			r->nfeeds++;
		}
	}
	return 0;
}

int rk_run_columns_open(struct rk_run *run, const struct rk_found *f,
			const struct rk_counter_set *set, struct rk_source **rows,
			struct rk_error *err)
{
	struct columns *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r) {
		rk_source_close(*rows);
		*rows = NULL;
		return rk_fail_nomem(err);
	}
	r->base = (struct rk_source){ &columns_ops, &set->schema };
	r->rows = *rows;
	r->set = set;
	r->sums = rk_calloc(set->n, sizeof(*r->sums));
	r->cols = rk_calloc(set->schema.nfields, sizeof(*r->cols));
	if (r->sums && r->cols)
		rc = find_feeds(r, run, f, err);
	else
		rc = rk_fail_nomem(err);
	*rows = &r->base;
	if (rc < 0) {
		columns_close(&r->base);
		*rows = NULL;
	}
	return rc;
}
