/*
 * dataset_write.c - write one table of one rank to its files.
 *
 * Usually all rows are of one rank on one node: one file, and batches go to it without a copy. If
 * rows name other ranks or nodes, a limited number of files is open at a time, and further scans of
 * the input write the rest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "convert/dataset.h"
#include "run/sorted.h"
#include "write/writer.h"

/*
 * Columns of a table's files: those of its rows without node and rank, which are folder names.
 * `from` maps them to fields of the rows.
 */
struct part_schema {
	struct rk_schema schema;
	struct rk_field *fields;
	unsigned *from;
	int node, rank; /* fields of the rows, -1: none */
};

static int field_named(const struct rk_schema *s, const char *name, enum rk_type type)
{
	for (unsigned i = 0; i < s->nfields; i++)
		if (!strcmp(s->fields[i].name, name) && s->fields[i].type == type)
			return (int)i;
	return -1;
}

/* The owner must free it also after a failure. */
static int make_part_schema(struct part_schema *s, const struct rk_schema *rows,
			    struct rk_error *err)
{
	unsigned n = 0;

	*s = (struct part_schema){ .node = field_named(rows, "node", RK_STR),
				   .rank = field_named(rows, "rank", RK_I32) };
	s->fields = rk_calloc(rows->nfields, sizeof(*s->fields));
	s->from = rk_calloc(rows->nfields, sizeof(*s->from));
	if (!s->fields || !s->from)
		return rk_fail_nomem(err);
	s->schema = (struct rk_schema){ rows->table, 0, s->fields, -1 };
	for (unsigned i = 0; i < rows->nfields; i++) {
		if ((int)i == s->node || (int)i == s->rank)
			continue;
		if ((int)i == rows->time_field)
			s->schema.time_field = (int)n;
		s->fields[n] = rows->fields[i];
		s->from[n++] = i;
	}
	s->schema.nfields = n;
	return 0;
}

enum { OPEN_MAX_FILES = 4, KEYS_MAX = 1 << 16 };

enum state { WAITING, OPEN, DONE };

/* One folder that rows go to. */
struct part {
	uint32_t node; /* 0: unknown */
	int64_t rank;  /* INT64_MIN: unknown */
	enum state state;
	struct rk_output *out;
	struct rk_writer *w;
	uint64_t rows;
};

struct scan {
	struct rk_dataset *d;
	struct rk_unit *u;
	enum rk_table table;
	struct rk_sorted sorted;
	struct part_schema columns;
	struct part *parts;
	size_t nparts, cap_parts, open, last;
	uint32_t *of; /* by row of a batch: its part */
	size_t cap_of;
	struct rk_column *cols;
	uint64_t rows, files;
	bool input; /* the input is damaged */
};

/* ---- files ---- */

/* After a failure the part also counts as open: undo closes it. */
static int open_part(struct scan *p, struct part *k, struct rk_error *err)
{
	struct rk_context *ctx = &p->d->run->ctx;
	size_t len;
	const char *node = rk_strtab_borrow(ctx->names, k->node, &len), *text;
	struct rk_bytes path;
	int rc;

	k->rows = 0;
	k->state = OPEN;
	p->open++;
	rk_bytes_init(&path, 1 << 16);
	rk_bytes_printf(&path, "%s/%s/node=", p->d->out, rk_table_name(p->table));
	rk_hive_put(&path, node, len);
	rk_bytes_puts(&path, "/rank=");
	if (k->rank == INT64_MIN)
		rk_bytes_puts(&path, RK_HIVE_NULL);
	else
		rk_bytes_printf(&path, "%" PRId64, k->rank);
	text = rk_bytes_str(&path);
	rc = text ? rk_make_dirs(text, err) : rk_fail_nomem(err);
	if (rc < 0)
		goto out;
	/* rows that name another rank than their folder go next to the files of that rank */
	if (p->u->rank >= 0 && p->u->rank != k->rank)
		rk_bytes_printf(&path, "/part-0-in-rank-%" PRId64 ".parquet", p->u->rank);
	else
		rk_bytes_printf(&path, "/part-%u.parquet", p->u->part);
	text = rk_bytes_str(&path);
	rc = text ? rk_run_spare(p->d->run, text, false, err) : rk_fail_nomem(err);
	if (rc < 0 || (rc = rk_output_open(text, &k->out, err)) < 0)
		goto out;
	rc = rk_writer_parquet.open(k->out, &p->columns.schema, ctx, &k->w, err);
out:
	rk_bytes_release(&path);
	return rc;
}

static void drop_part(struct part *k, enum state state)
{
	if (k->w)
		k->w->ops->close(k->w);
	rk_output_abort(k->out);
	k->w = NULL;
	k->out = NULL;
	k->state = state;
}

/* ---- rows ---- */

/* Sets p->last to the part of this node and rank. */
static int find_part(struct scan *p, uint32_t node, int64_t rank, struct rk_error *err)
{
	struct part *v;

	for (size_t i = 0; i < p->nparts; i++) {
		if (p->parts[i].node == node && p->parts[i].rank == rank) {
			p->last = i;
			return 0;
		}
	}
	if (p->nparts == KEYS_MAX)
		return rk_fail(err, RK_E_LIMIT, "rows of more than %d ranks", KEYS_MAX);
	v = rk_grow(p->parts, &p->cap_parts, p->nparts + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	p->parts = v;
	v[p->nparts] = (struct part){ .node = node, .rank = rank };
	p->last = p->nparts++;
	return 0;
}

static int put_rows(struct scan *p, struct part *k, const struct rk_batch *b, const uint32_t *rows,
		    size_t n, struct rk_error *err)
{
	struct rk_builder some;
	int rc = rk_builder_init(&some, &p->columns.schema, n, err);

	if (rc < 0)
		return rc;
	for (unsigned f = 0; f < p->columns.schema.nfields; f++) {
		const struct rk_column *from = &b->cols[p->columns.from[f]];
		size_t size = rk_type_size(p->columns.schema.fields[f].type);
		uint8_t *v;

		if (!from->data)
			continue;
		v = rk_builder_column(&some, f);
		for (size_t i = 0; v && i < n; i++) {
			memcpy(v + i * size, (const uint8_t *)from->data + rows[i] * size, size);
			if (!rk_column_has(from, rows[i]) && !rk_builder_null(&some, f, i))
				v = NULL;
		}
		if (!v) {
			rc = rk_fail_nomem(err);
			goto out;
		}
	}
	some.nrows = n;
	k->rows += n;
	rc = k->w->ops->batch(k->w, rk_builder_batch(&some), err);
out:
	rk_builder_release(&some);
	return rc;
}

static int put_mixed(struct scan *p, const struct rk_batch *b, struct rk_error *err)
{
	uint32_t *rows = rk_calloc(b->nrows, sizeof(*rows));
	int rc = 0;

	if (!rows)
		return rk_fail_nomem(err);
	for (size_t k = 0; rc == 0 && k < p->nparts; k++) {
		size_t n = 0;

		if (p->parts[k].state != OPEN)
			continue;
		for (size_t i = 0; i < b->nrows; i++)
			if (p->of[i] == k)
				rows[n++] = (uint32_t)i;
		if (n)
			rc = put_rows(p, &p->parts[k], b, rows, n, err);
	}
	rk_free(rows);
	return rc;
}

static int put_batch(struct scan *p, const struct rk_batch *b, struct rk_error *err)
{
	const struct part_schema *columns = &p->columns;
	const struct rk_batch view = { &columns->schema, b->nrows, p->cols };
	const int64_t none = p->u->rank >= 0 ? p->u->rank : INT64_MIN;
	uint32_t *of = rk_grow(p->of, &p->cap_of, b->nrows, sizeof(*of));
	struct part *k;
	bool same = true;
	int rc;

	if (!of)
		return rk_fail_nomem(err);
	p->of = of;
	for (size_t i = 0; i < b->nrows; i++) {
		int64_t rank = none;
		uint32_t node = 0;

		if (columns->rank >= 0)
			rank = rk_batch_int(b, (unsigned)columns->rank, i, none);
		if (columns->node >= 0)
			node = rk_batch_id(b, (unsigned)columns->node, i);
		k = p->nparts ? &p->parts[p->last] : NULL;
		if (!k || k->node != node || k->rank != rank) {
			rc = find_part(p, node, rank, err);
			if (rc < 0)
				return rc;
			k = &p->parts[p->last];
		}
		if (k->state == WAITING && p->open < OPEN_MAX_FILES) {
			rc = open_part(p, k, err);
			if (rc < 0)
				return rc;
		}
		of[i] = (uint32_t)p->last;
		same &= of[i] == of[0];
	}
	if (!b->nrows)
		return 0;
	if (!same)
		return put_mixed(p, b, err);

	k = &p->parts[of[0]];
	if (k->state != OPEN)
		return 0;
	for (unsigned i = 0; i < columns->schema.nfields; i++)
		p->cols[i] = b->cols[columns->from[i]];
	k->rows += b->nrows;
	return k->w->ops->batch(k->w, &view, err);
}

/* ---- scans ---- */

/* Files opened in this scan must be written again. */
static void undo(struct scan *p)
{
	for (size_t i = 0; i < p->nparts; i++)
		if (p->parts[i].state == OPEN)
			drop_part(&p->parts[i], WAITING);
	p->open = 0;
}

static int pump(void *arg, struct rk_error *err)
{
	struct scan *p = arg;
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc, out = 0; /* out: errors that are not the input's fault */

	rc = rk_sorted_table(&p->sorted, p->table, &rows, err);
	p->input = rc < 0;
	if (rc == 0 && !p->cols) {
		p->cols = rk_calloc(rows->schema->nfields, sizeof(*p->cols));
		if (p->cols)
			rc = out = make_part_schema(&p->columns, rows->schema, err);
		else
			rc = out = rk_fail_nomem(err);
	}
	while (rc >= 0 && (rc = rk_source_next(rows, &b, err)) > 0)
		rc = out = put_batch(p, b, err);
	p->input |= rc < 0 && out >= 0;
	rk_source_close(rows);
	if (rc < 0)
		undo(p);
	return rc;
}

/* Returns 1 if there are parts left for another scan. */
static int one_scan(struct scan *p, bool again, struct rk_error *err)
{
	struct rk_diag *diag = p->d->run->ctx.diag;
	size_t warnings;
	int rc;

	rk_diag_list(diag, &warnings);
	rc = rk_run_sorted(&p->sorted, pump, p, err);
	if (again)
		rk_diag_reset(diag, warnings);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < p->nparts; i++) {
		struct part *k = &p->parts[i];
		struct rk_output *out = k->out;

		if (k->state != OPEN)
			continue;
		rc = k->w->ops->finish(k->w, err);
		if (rc < 0)
			return rc;
		k->out = NULL;
		drop_part(k, DONE);
		p->rows += k->rows;
		p->files++;
		rc = rk_output_commit(out, err);
		if (rc < 0)
			return rc;
	}
	p->open = 0;
	for (size_t i = 0; i < p->nparts; i++)
		if (p->parts[i].state == WAITING)
			return 1;
	return 0;
}

int rk_dataset_write(struct rk_dataset *d, struct rk_unit *u, enum rk_table t, bool *ret_input,
		     struct rk_error *err)
{
	struct scan p = { .d = d, .u = u, .table = t, .sorted = { .run = d->run } };
	int rc = one_scan(&p, false, err);

	while (rc > 0)
		rc = one_scan(&p, true, err);
	undo(&p);
	d->rows[t] += p.rows;
	d->files[t] += p.files;
	u->rows += p.rows;
	*ret_input = rc < 0 && p.input && rc != RK_E_NOMEM && rc != RK_E_CANCELLED;
	rk_free(p.columns.fields);
	rk_free(p.columns.from);
	rk_free(p.parts);
	rk_free(p.of);
	rk_free(p.cols);
	return rc;
}
