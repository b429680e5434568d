/* stream.c - a table of a run as an Arrow C stream. */
#include "rockit/stream.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "convert/stream_column.h"
#include "rockit/nearest.h"
#include "run/energy.h"
#include "run/run.h"
#include "run/sorted.h"
#include "table/stages.h"

/* ---- the schema ---- */

/* What a schema owns besides itself. */
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

static const char *format_of(enum rk_type t)
{
	switch (t) {
	case RK_I64:
		return "l";
	case RK_I32:
		return "i";
	case RK_F64:
		return "g";
	case RK_BOOL:
		return "b";
	default:
		return "u";
	}
}

/* A schema without children, ready to be released. */
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

static bool make_dictionary(struct ArrowSchema *s)
{
	struct owned *o = s->private_data;

	o->dictionary = rk_calloc(1, sizeof(*o->dictionary));
	s->dictionary = o->dictionary;
	return o->dictionary && make_schema(o->dictionary, "", "u", ARROW_FLAG_NULLABLE);
}

static bool make_column(struct ArrowSchema *s, const struct rk_stream_column *col)
{
	bool dictionary = col->type == RK_STR && !col->plain;

	if (!make_schema(s, col->name, dictionary ? "i" : format_of(col->type),
			 ARROW_FLAG_NULLABLE))
		return false;
	return !dictionary || make_dictionary(s);
}

static bool make_children(struct ArrowSchema *s, const struct rk_stream_column *cols, size_t n)
{
	struct owned *o = s->private_data;

	o->children = rk_calloc(n, sizeof(*o->children));
	o->pointers = rk_calloc(n, sizeof(struct ArrowSchema *));
	if (!o->children || !o->pointers)
		return false;
	s->children = o->pointers;
	s->n_children = (int64_t)n;
	for (size_t i = 0; i < n; i++) {
		o->pointers[i] = &o->children[i];
		if (!make_column(&o->children[i], &cols[i]))
			return false;
	}
	return true;
}

static int schema_of(const struct rk_stream_column *cols, size_t ncols, struct ArrowSchema *ret,
		     struct rk_error *err)
{
	struct ArrowSchema s;

	if (!make_schema(&s, "", "+s", 0))
		return rk_fail_nomem(err);
	if (!make_children(&s, cols, ncols)) {
		s.release(&s);
		return rk_fail_nomem(err);
	}
	*ret = s;
	return 0;
}

/* ---- rows: as recorded, or in order of time ---- */

/* What to read. */
struct wish {
	bool wide; /* kernels with counters and energy */
	bool all;
	uint64_t want;
};

static int find_field(const struct rk_schema *s, const char *name)
{
	for (unsigned f = 0; f < s->nfields; f++)
		if (!strcmp(s->fields[f].name, name))
			return (int)f;
	return -1;
}

/* Columns that are not in the table can only be counters or energy of kernels. */
static struct wish wish_of(enum rk_table t, const struct rk_stream_options *opt)
{
	const struct rk_schema *s = rk_table_schema(t);
	struct wish w = { !opt->columns && t == RK_KERNELS, !opt->columns, 0 };

	for (size_t i = 0; opt->columns && opt->columns[i]; i++) {
		int f = find_field(s, opt->columns[i]);

		if (f >= 0)
			w.want |= UINT64_C(1) << f;
		else
			w.wide = t == RK_KERNELS;
	}
	if (w.all || w.wide)
		w.want = RK_WANT_ALL;
	if (opt->sorted && s->time_field >= 0)
		w.want |= UINT64_C(1) << s->time_field;
	return w;
}

static int open_rows(struct rk_run *run, enum rk_table t, const struct rk_stream_options *opt,
		     struct rk_source **ret, struct rk_error *err)
{
	const struct wish w = wish_of(t, opt);
	struct rk_sorted sorted = { .run = run };
	struct rk_source *rows;
	int rc = 0;

	if (w.wide)
		rc = rk_run_energy_settle(run, err);
	/* rows given to the user cannot be taken back */
	if (rc == 0 && opt->sorted)
		rc = rk_sorted_look(&sorted, t, w.wide, err);
	if (rc == 0)
		rc = w.wide ? rk_run_scan_kernels(run, &rows, err) :
			      rk_run_scan(run, t, w.want, &rows, err);
	if (rc == 0 && opt->sorted)
		rc = rk_sorted_rows(&sorted, &rows, err);
	/* report implausible times only if all of a table is read */
	if (rc == 0 && w.all)
		rc = rk_times_open(rows, &run->ctx, &rows, err);
	if (rc == 0)
		*ret = rows;
	return rc;
}

/* ---- the stream ---- */

enum { DEFAULT_ROWS = 1 << 17, FIRST_ROWS = RK_BATCH_ROWS, MAX_ROWS = 1 << 30 };

struct stream {
	struct rk_run *run; /* held */
	struct rk_source *rows;
	const struct rk_batch *pending; /* rows from pending_at on are not used yet */
	size_t pending_at;
	struct rk_stream_column *cols;
	size_t ncols;
	size_t batch_rows;
	size_t cap, n; /* rows that the columns have room for; that they have */
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

/* Makes room for n more rows, up to the limit of an array. */
static int make_room(struct stream *s, size_t n)
{
	size_t cap = s->cap ? s->cap : FIRST_ROWS;
	int rc = 0;

	while (cap < s->n + n && cap < s->batch_rows)
		cap *= 4;
	if (cap > s->batch_rows)
		cap = s->batch_rows;
	if (cap == s->cap)
		return 0;
	for (size_t i = 0; rc == 0 && i < s->ncols; i++)
		rc = rk_stream_column_grow(&s->cols[i], s->n, cap, &s->err);
	s->cap = cap;
	return rc;
}

/* How many of n rows have texts that fit; 0 if the array must end before them. */
static size_t fitting(const struct stream *s, size_t n)
{
	const struct rk_batch *b = s->pending;

	for (size_t i = 0; i < s->ncols; i++)
		while (n && !rk_stream_column_fits(&s->cols[i], s->run->ctx.names,
						   &b->cols[s->cols[i].field], s->pending_at, s->n,
						   n, s->max_text))
			n /= 2;
	return n;
}

/* 1: rows were added; 0: no more fit. */
static int take_pending(struct stream *s)
{
	const struct rk_batch *b = s->pending;
	size_t n = b->nrows - s->pending_at;
	int rc = 0;

	if (n > s->batch_rows - s->n)
		n = s->batch_rows - s->n;
	n = fitting(s, n);
	if (!n && !s->n)
		return rk_fail(&s->err, RK_E_LIMIT, "text longer than %zu bytes", s->max_text);
	if (!n)
		return 0;
	rc = make_room(s, n);
	for (size_t i = 0; rc == 0 && i < s->ncols; i++)
		rc = rk_stream_column_add(&s->cols[i], s->run->ctx.names,
					  &b->cols[s->cols[i].field], s->pending_at, s->n, n,
					  s->cap, &s->err);
	s->n += n;
	s->pending_at += n;
	if (s->pending_at == b->nrows)
		s->pending = NULL;
	return rc < 0 ? rc : 1;
}

static void end_rows(struct stream *s)
{
	rk_source_close(s->rows);
	s->rows = NULL;
	s->pending = NULL;
	s->ended = true;
}

/* Adds rows until the array is full or the rows end. */
static int fill(struct stream *s)
{
	int rc = 1;

	while (rc > 0 && s->n < s->batch_rows && !s->ended) {
		if (s->pending) {
			rc = take_pending(s);
			continue;
		}
		s->pending_at = 0;
		rc = rk_source_next(s->rows, &s->pending, &s->err);
		if (rc == 0) {
			rk_run_tell_names(s->run);
			end_rows(s);
		}
	}
	return rc < 0 ? rc : 0;
}

static int hand_out(struct stream *s, struct ArrowArray *ret)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->ncols; i++)
		if (s->cols[i].type == RK_STR && !s->cols[i].plain)
			rc = rk_stream_column_freeze(&s->cols[i], s->run->ctx.names, &s->err);
	if (rc == 0)
		rc = rk_stream_array(s->cols, s->ncols, s->n, ret, &s->err);
	for (size_t i = 0; i < s->ncols; i++)
		rk_stream_column_reset(&s->cols[i]);
	s->n = s->cap = 0;
	return rc;
}

static int fail_stream(struct stream *s)
{
	if (s->rows)
		end_rows(s);
	s->ended = true;
	return errno_of(s->err.code);
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
	rc = fill(s);
	if (rc == 0 && s->n)
		rc = hand_out(s, ret);
	else if (rc == 0)
		ret->release = NULL;
	if (rc < 0)
		rc = fail_stream(s);
	rk_run_unlock(s->run);
	return rc;
}

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *ret)
{
	struct stream *s = stream->private_data;

	return schema_of(s->cols, s->ncols, ret, NULL) < 0 ? ENOMEM : 0;
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
	return rk_fail(err, RK_E_USAGE, "no column '%.60s' in table %s%s%s%s", name,
		       rk_table_name(schema->table), near ? "; did you mean '" : "",
		       near ? near : "", near ? "'?" : "");
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

static int add_named(struct stream *s, const char *name, bool plain, struct rk_error *err)
{
	const struct rk_schema *schema = s->rows->schema;
	unsigned f = 0;

	while (f < schema->nfields && strcmp(schema->fields[f].name, name) != 0)
		f++;
	if (f == schema->nfields)
		return unknown_column(schema, name, err);
	for (size_t i = 0; i < s->ncols; i++)
		if (s->cols[i].field == f)
			return rk_fail(err, RK_E_USAGE, "column '%s' is requested twice", name);
	return add_column(s, f, plain, err);
}

static int add_columns(struct stream *s, const struct rk_stream_options *opt, struct rk_error *err)
{
	unsigned nfields = s->rows->schema->nfields;
	int rc = 0;

	s->cols = rk_calloc(nfields, sizeof(*s->cols));
	if (!s->cols)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && opt->columns && opt->columns[i]; i++)
		rc = add_named(s, opt->columns[i], opt->plain_strings, err);
	for (unsigned f = 0; rc == 0 && !opt->columns && f < nfields; f++)
		rc = add_column(s, f, opt->plain_strings, err);
	return rc;
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
	s->batch_rows = opt->batch_rows ? opt->batch_rows : DEFAULT_ROWS;
	if (s->batch_rows > MAX_ROWS)
		s->batch_rows = MAX_ROWS;
	rc = open_rows(run, t, opt, &s->rows, err);
	if (rc == 0)
		rc = add_columns(s, opt, err);
	if (rc < 0) {
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
	const char *table;
	struct stream *s = NULL;
	int t, rc;

	opt = opt ? opt : &plain;
	table = opt->table ? opt->table : "kernels";
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
