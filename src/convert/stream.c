/* stream.c - a table of a run as an Arrow C stream. */
#include "rockit/stream.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "convert/stream_column.h"
#include "rockit/nearest.h"
#include "run/energy.h"
#include "run/run.h"
#include "run/sorted.h"
#include "table/stages.h"

/* ---- the schema ---- */

/* Memory that a schema owns. */
struct owned {
	char *name;
	struct ArrowSchema *children, **pointers; /* one allocation each */
	struct ArrowSchema *dictionary;
};

static void release_schema(struct ArrowSchema *s)
{
	struct owned *o = s->private_data;

	for (int64_t i = 0; i < s->n_children; i++)
		if (o->children[i].release)
			o->children[i].release(&o->children[i]);
	if (o->dictionary && o->dictionary->release)
		o->dictionary->release(o->dictionary);
	rk_free(o->children);
	rk_free(o->pointers);
	rk_free(o->dictionary);
	rk_free(o->name);
	rk_free(o);
	s->release = NULL;
}

/* A schema without children; its release function is set. */
static bool make_schema(struct ArrowSchema *s, const char *name, const char *format, int64_t flags)
{
	struct owned *o = rk_calloc(1, sizeof(*o));

	if (!o)
		return false;
	o->name = rk_strdup(name);
	if (!o->name) {
		rk_free(o);
		return false;
	}
	*s = (struct ArrowSchema){ .format = format,
				   .name = o->name,
				   .flags = flags,
				   .release = release_schema,
				   .private_data = o };
	return true;
}

static int schema_of(const struct rk_stream_column *cols, size_t ncols, struct ArrowSchema *ret)
{
	static const char *const formats[] = {
		[RK_I64] = "l", [RK_I32] = "i", [RK_F64] = "g", [RK_BOOL] = "b", [RK_STR] = "u",
	};
	struct ArrowSchema s;
	struct owned *o;

	if (!make_schema(&s, "", "+s", 0))
		return RK_E_NOMEM;
	o = s.private_data;
	o->children = rk_calloc(ncols, sizeof(*o->children));
	o->pointers = rk_calloc(ncols, sizeof(struct ArrowSchema *));
	if (!o->children || !o->pointers)
		goto fail;
	s.children = o->pointers;
	s.n_children = (int64_t)ncols;
	for (size_t i = 0; i < ncols; i++) {
		bool dictionary = cols[i].type == RK_STR && !cols[i].plain;
		const char *format = dictionary ? "i" : formats[cols[i].type];
		struct ArrowSchema *child = &o->children[i], *texts;

		o->pointers[i] = child;
		if (!make_schema(child, cols[i].name, format, ARROW_FLAG_NULLABLE))
			goto fail;
		if (!dictionary)
			continue;
		texts = rk_calloc(1, sizeof(*texts));
		((struct owned *)child->private_data)->dictionary = texts;
		child->dictionary = texts;
		if (!texts || !make_schema(texts, "", "u", ARROW_FLAG_NULLABLE))
			goto fail;
	}
	*ret = s;
	return 0;
fail:
	s.release(&s);
	return RK_E_NOMEM;
}

/* ---- rows: as recorded, or sorted by time ---- */

static int open_rows(struct rk_run *run, enum rk_table t, const struct rk_stream_options *opt,
		     struct rk_source **ret, struct rk_error *err)
{
	const struct rk_schema *schema = rk_table_schema(t);
	bool all = !opt->columns, wide = all && t == RK_KERNELS; /* with counters and energy */
	struct rk_sorted sorted = { .run = run };
	struct rk_source *rows;
	uint64_t want = 0;
	int rc;

	/* columns that are not in the table can only be counters or energy of kernels */
	for (size_t i = 0; !all && opt->columns[i]; i++) {
		unsigned f = 0;

		while (f < schema->nfields && strcmp(schema->fields[f].name, opt->columns[i]) != 0)
			f++;
		if (f < schema->nfields)
			want |= UINT64_C(1) << f;
		else
			wide = t == RK_KERNELS;
	}
	if (all || wide)
		want = RK_WANT_ALL;
	if (opt->sorted && schema->time_field >= 0)
		want |= UINT64_C(1) << schema->time_field;

	if (wide && (rc = rk_run_energy_settle(run, err)) < 0)
		return rc;
	/* rows that the user has received cannot be taken back */
	if (opt->sorted && (rc = rk_sorted_look(&sorted, t, wide, err)) < 0)
		return rc;
	if (wide)
		rc = rk_run_scan_kernels(run, &rows, err);
	else
		rc = rk_run_scan(run, t, want, &rows, err);
	if (rc < 0 || (opt->sorted && (rc = rk_sorted_rows(&sorted, &rows, err)) < 0))
		return rc;
	/* report implausible times only if a whole table is read */
	if (all && (rc = rk_times_open(rows, &run->ctx, &rows, err)) < 0)
		return rc;
	*ret = rows;
	return 0;
}

/* ---- the stream ---- */

enum { DEFAULT_ROWS = 1 << 17, FIRST_ROWS = RK_BATCH_ROWS, MAX_ROWS = 1 << 30 };

struct stream {
	struct rk_run *run; /* held, see base/handle.h */
	struct rk_source *rows;
	const struct rk_batch *pending; /* rows from pending_at on are not used yet */
	size_t pending_at;
	struct rk_stream_column *cols;
	size_t ncols;
	size_t batch_rows;
	size_t cap, n; /* cap: rows that the columns have room for; n: rows that they have */
	size_t max_text;
	bool ended;
	struct rk_run_late late;
	struct rk_error err;
	char text[sizeof(struct rk_error) + 64];
};

static int errno_of(int code)
{
	switch (code) {
	case RK_E_NOMEM:
		return ENOMEM;
	case RK_E_IO:
		return EIO;
	case RK_E_FORMAT:
		return EBADMSG;
	case RK_E_LIMIT:
		return EOVERFLOW;
	case RK_E_UNSUPPORTED:
		return ENOTSUP;
	case RK_E_CANCELLED:
		return ECANCELED;
	default:
		return EINVAL;
	}
}

/* Returns 1 if rows were added, 0 if no more fit. */
static int take_pending(struct stream *s)
{
	const struct rk_strtab *names = s->run->ctx.names;
	const struct rk_batch *b = s->pending;
	size_t n = rk_min(b->nrows - s->pending_at, s->batch_rows - s->n);
	size_t cap = s->cap ? s->cap : FIRST_ROWS;
	int rc;

	for (size_t i = 0; i < s->ncols; i++) {
		const struct rk_column *c = &b->cols[s->cols[i].field];

		while (n && !rk_stream_column_fits(&s->cols[i], names, c, s->pending_at, s->n, n,
						   s->max_text))
			n /= 2;
	}
	if (!n && !s->n)
		return rk_fail(&s->err, RK_E_LIMIT, "text longer than %zu bytes", s->max_text);
	if (!n)
		return 0;

	/* grow the columns, up to the limit of an array */
	while (cap < s->n + n && cap < s->batch_rows)
		cap *= 4;
	cap = rk_min(cap, s->batch_rows);
	for (size_t i = 0; cap != s->cap && i < s->ncols; i++) {
		rc = rk_stream_column_grow(&s->cols[i], s->n, cap, &s->err);
		if (rc < 0)
			return rc;
	}
	s->cap = cap;
	for (size_t i = 0; i < s->ncols; i++) {
		rc = rk_stream_column_add(&s->cols[i], names, &b->cols[s->cols[i].field],
					  s->pending_at, s->n, n, cap, &s->err);
		if (rc < 0)
			return rc;
	}
	s->n += n;
	s->pending_at += n;
	if (s->pending_at == b->nrows)
		s->pending = NULL;
	return 1;
}

static void end_rows(struct stream *s)
{
	rk_source_close(s->rows);
	s->rows = NULL;
	s->pending = NULL;
	s->ended = true;
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *ret)
{
	struct stream *s = stream->private_data;
	int rc;

	if (s->err.code)
		return errno_of(s->err.code);
	rc = rk_run_wait(s->run, &s->err);
	if (rc < 0)
		return errno_of(rc);
	/* add rows until the array is full or there are no more */
	while (s->n < s->batch_rows && !s->ended) {
		if (s->pending) {
			rc = take_pending(s);
			if (rc < 0)
				goto out;
			if (rc == 0)
				break;
			continue;
		}
		s->pending_at = 0;
		rc = rk_source_next(s->rows, &s->pending, &s->err);
		if (rc < 0)
			goto out;
		if (rc == 0) {
			rk_run_tell_names(s->run);
			end_rows(s);
		}
	}
	rc = 0;
	if (!s->n) {
		ret->release = NULL;
		goto out;
	}
	for (size_t i = 0; i < s->ncols; i++) {
		if (s->cols[i].type != RK_STR || s->cols[i].plain)
			continue;
		rc = rk_stream_column_freeze(&s->cols[i], s->run->ctx.names, &s->err);
		if (rc < 0)
			goto out;
	}
	rc = rk_stream_array(s->cols, s->ncols, s->n, ret, &s->err);
	for (size_t i = 0; i < s->ncols; i++)
		rk_stream_column_reset(&s->cols[i]);
	s->n = s->cap = 0;
out:
	if (rc < 0) {
		end_rows(s);
		rc = errno_of(s->err.code);
	}
	rk_run_unlock(s->run);
	return rc;
}

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	struct stream *s = stream->private_data;

	return schema_of(s->cols, s->ncols, ret) < 0 ? ENOMEM : 0;
}

static const char *stream_get_last_error(struct ArrowArrayStream *stream)
{
	struct stream *s = stream->private_data;
	const struct rk_error *e = &s->err;

	if (!e->code)
		return NULL;
	rk_error_text(e, s->text, sizeof(s->text));
	return s->text;
}

static void free_stream(struct stream *s)
{
	for (size_t i = 0; i < s->ncols; i++) {
		rk_free((char *)s->cols[i].name);
		rk_stream_column_release(&s->cols[i]);
	}
	rk_free(s->cols);
	rk_free(s);
}

static void end_stream(void *arg)
{
	end_rows(arg);
}

static void done_stream(void *arg)
{
	struct stream *s = arg;
	struct rk_run *run = s->run;

	free_stream(s);
	rk_handle_drop(run);
}

/* Never waits: the caller may hold a lock that a progress callback waits for. */
static void stream_release(struct ArrowArrayStream *stream)
{
	struct stream *s = stream->private_data;

	stream->release = NULL;
	stream->private_data = NULL;
	s->late = (struct rk_run_late){ end_stream, done_stream, s, NULL };
	rk_run_later(s->run, &s->late);
}

const struct rk_error *rk_stream_error(const struct ArrowArrayStream *stream)
{
	if (!stream || !stream->private_data || stream->release != stream_release)
		return NULL;
	return &((const struct stream *)stream->private_data)->err;
}

void rk_stream_limit_text(struct ArrowArrayStream *stream, size_t bytes)
{
	((struct stream *)stream->private_data)->max_text = bytes;
}

static int unknown_column(const struct rk_schema *schema, const char *name, struct rk_error *err)
{
	const char **words = rk_calloc(schema->nfields + 1, sizeof(*words)), *near;

	for (unsigned f = 0; words && f < schema->nfields; f++)
		words[f] = schema->fields[f].name;
	near = words ? rk_nearest(name, words) : NULL;
	rk_free(words);
	if (near)
		return rk_fail(err, RK_E_USAGE, "no column '%.60s' in table %s; did you mean '%s'?",
			       name, rk_table_name(schema->table), near);
	return rk_fail(err, RK_E_USAGE, "no column '%.60s' in table %s", name,
		       rk_table_name(schema->table));
}

static int add_column(struct stream *s, unsigned field, bool plain, struct rk_error *err)
{
	const struct rk_field *f = &s->rows->schema->fields[field];
	struct rk_stream_column *col = &s->cols[s->ncols];

	*col = (struct rk_stream_column){ .name = rk_strdup(f->name),
					  .type = f->type,
					  .plain = plain && f->type == RK_STR,
					  .field = field };
	if (!col->name)
		return rk_fail_nomem(err);
	s->ncols++;
	return 0;
}

static int add_columns(struct stream *s, const struct rk_stream_options *opt, struct rk_error *err)
{
	const struct rk_schema *schema = s->rows->schema;
	int rc;

	s->cols = rk_calloc(schema->nfields, sizeof(*s->cols));
	if (!s->cols)
		return rk_fail_nomem(err);
	for (unsigned f = 0; !opt->columns && f < schema->nfields; f++) {
		rc = add_column(s, f, opt->plain_strings, err);
		if (rc < 0)
			return rc;
	}
	for (size_t k = 0; opt->columns && opt->columns[k]; k++) {
		const char *name = opt->columns[k];
		unsigned f = 0;

		while (f < schema->nfields && strcmp(schema->fields[f].name, name) != 0)
			f++;
		if (f == schema->nfields)
			return unknown_column(schema, name, err);
		for (size_t i = 0; i < s->ncols; i++)
			if (s->cols[i].field == f)
				return rk_fail(err, RK_E_USAGE, "column '%s' is requested twice",
					       name);
		rc = add_column(s, f, opt->plain_strings, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* On success the stream holds the run. */
static int open_stream(struct rk_run *run, enum rk_table t, const struct rk_stream_options *opt,
		       struct stream **ret, struct rk_error *err)
{
	struct stream *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->run = run;
	s->max_text = INT32_MAX;
	s->batch_rows = rk_min(opt->batch_rows ? opt->batch_rows : DEFAULT_ROWS, MAX_ROWS);
	if ((rc = open_rows(run, t, opt, &s->rows, err)) < 0 ||
	    (rc = add_columns(s, opt, err)) < 0) {
		rk_source_close(s->rows);
		free_stream(s);
		return rc;
	}
	rk_handle_keep(run);
	*ret = s;
	return 0;
}

int rk_run_stream(struct rk_run *run, const struct rk_stream_options *opt,
		  struct ArrowArrayStream *ret, struct rk_error *err)
{
	const struct rk_stream_options plain = { 0 };
	const char *table = "kernels";
	struct stream *s = NULL;
	int t, rc;

	if (!opt)
		opt = &plain;
	if (opt->table)
		table = opt->table;
	t = rk_table_by_name(table);
	if (!ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	if (t < 0)
		return rk_unknown_table(table, err);
	rc = rk_run_enter(run, __func__, err);
	if (rc < 0)
		return rc;
	rc = open_stream(run, (enum rk_table)t, opt, &s, err);
	rk_run_leave(run);
	if (rc == 0)
		*ret = (struct ArrowArrayStream){ stream_get_schema, stream_get_next,
						  stream_get_last_error, stream_release, s };
	return rc;
}

const char *rk_run_table_at(const struct rk_run *run, size_t i)
{
	uint32_t tables = 0;

	if (rk_run_enter(run, __func__, NULL) < 0)
		return NULL;
	tables = rk_run_tables(run);
	rk_run_leave(run);
	for (unsigned t = 0; t < RK_NTABLES; t++)
		if (tables >> t & 1 && !i--)
			return rk_table_name((enum rk_table)t);
	return NULL;
}
