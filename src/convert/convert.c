/* convert.c - write a run's tables to files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/text.h"
#include "convert/convert.h"
#include "run/energy.h"
#include "run/sorted.h"

/* A table that is written to a file. */
struct job {
	struct rk_run *run;
	enum rk_table table;
	const struct rk_writer_ops *format;
	const char *path;
	struct rk_sorted sorted;
	struct rk_output *out;
	uint64_t rows;
};

/* Writes the table; j->out is the complete file, but it is not visible yet. */
static int write_rows(void *arg, struct rk_error *err)
{
	struct job *j = arg;
	bool parquet = !strcmp(j->format->name, "parquet");
	struct rk_source *rows = NULL;
	struct rk_writer *w = NULL;
	const struct rk_batch *b;
	int rc;

	j->rows = 0;
	if ((rc = rk_run_spare(j->run, j->path, parquet, err)) < 0 ||
	    (rc = rk_sorted_table(&j->sorted, j->table, &rows, err)) < 0 ||
	    (rc = rk_output_open(j->path, &j->out, err)) < 0 ||
	    (rc = j->format->open(j->out, rows->schema, &j->run->ctx, &w, err)) < 0)
		goto out;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		j->rows += b->nrows;
		rc = w->ops->batch(w, b, err);
		if (rc < 0)
			goto out;
	}
	if (rc < 0)
		goto out;
	rc = w->ops->finish(w, err);
out:
	if (w)
		w->ops->close(w);
	rk_source_close(rows);
	if (rc < 0) {
		rk_output_abort(j->out);
		j->out = NULL;
	}
	return rc;
}

/* Ranks that could not be read completely. */
static size_t damaged_ranks(const struct rk_run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->nfound; i++) {
		size_t k = 0;

		if (!run->found[i].damaged)
			continue;
		while (k < i &&
		       (!run->found[k].damaged || run->found[k].rank != run->found[i].rank))
			k++;
		n += k == i;
	}
	return n;
}

static int write_table(struct job *j, bool empty_too, struct rk_error *err)
{
	int rc;

	j->sorted = (struct rk_sorted){ .run = j->run };
	/* output to a pipe cannot be undone */
	if (rk_output_is_direct(j->path)) {
		rc = rk_sorted_look(&j->sorted, j->table, j->table == RK_KERNELS, err);
		if (rc < 0)
			return rc;
	}
	rc = rk_run_sorted(&j->sorted, write_rows, j, err);
	if (rc < 0)
		return rc;
	if (!j->rows && damaged_ranks(j->run)) {
		rk_output_abort(j->out);
		return rk_fail(err, RK_E_FORMAT, "no rank has a readable table '%s'",
			       rk_table_name(j->table));
	}
	if (!j->rows && !empty_too) {
		rk_output_abort(j->out);
		return 0;
	}
	return rk_output_commit(j->out, err);
}

/* Does a table have any rows? */
static bool has_rows(struct rk_run *run, enum rk_table t)
{
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc;

	if (!(rk_run_tables(run) >> t & 1) || !rk_run_rescannable(run, t))
		return rk_run_tables(run) >> t & 1;
	rc = rk_run_scan(run, t, 0, &rows, NULL);
	while (rc >= 0 && (rc = rk_source_next(rows, &b, NULL)) > 0 && !b->nrows)
		;
	rk_source_close(rows);
	return rc > 0;
}

/*
 * An empty table looks like a run in which nothing happened, so the warning names the tables with
 * rows.
 */
static void warn_empty(struct rk_run *run, enum rk_table empty)
{
	struct rk_bytes there;
	size_t warnings;

	rk_diag_again(run->ctx.diag);
	rk_diag_list(run->ctx.diag, &warnings);
	rk_bytes_init(&there, 1024);
	for (unsigned t = 0; t < RK_NTABLES; t++)
		if (t != (unsigned)empty && has_rows(run, t))
			rk_bytes_printf(&there, "%s--table %s", there.len ? ", " : "",
					rk_table_name(t));
	rk_diag_reset(run->ctx.diag, warnings); /* drop the warnings of this check */
	if (there.len && rk_bytes_str(&there))
		rk_diag_add(run->ctx.diag, "empty-table", "", 0, 1, "no rows in table '%s'; try %s",
			    rk_table_name(empty), rk_bytes_str(&there));
	rk_bytes_release(&there);
}

static int convert_dir(struct rk_run *run, const struct rk_convert_options *opt,
		       const struct rk_writer_ops *format, int table, struct rk_convert_result *ret,
		       struct rk_error *err)
{
	struct rk_convert_result sum = { 0 };
	int rc;

	rc = rk_make_dirs(opt->out, err);
	if (rc < 0)
		return rc;
	for (unsigned t = 0; t < RK_NTABLES; t++) {
		struct job j = { .run = run, .table = t, .format = format };
		char *path;

		if (!(rk_run_tables(run) >> t & 1) || (table >= 0 && (unsigned)table != t))
			continue;
		path = rk_strf("%s/%s%s", opt->out, rk_table_file(t), format->suffix);
		if (!path)
			return rk_fail_nomem(err);
		j.path = path;
		rc = write_table(&j, false, err);
		rk_free(path);
		if (rc < 0)
			return rc;
		sum.rows += j.rows;
		sum.files += j.rows > 0;
	}
	if (table >= 0 && !sum.rows)
		warn_empty(run, (enum rk_table)table);
	*ret = sum;
	return 0;
}

static const struct rk_writer_ops *choose_format(const struct rk_convert_options *opt, bool dir,
						 struct rk_error *err)
{
	const struct rk_writer_ops *w;

	if (opt->format)
		w = rk_writer_by_name(opt->format);
	else if (dir)
		w = rk_writer_by_name("parquet");
	else if (rk_text_ends(opt->out, strlen(opt->out), ".tar"))
		w = rk_writer_by_name("perfetto");
	else
		w = rk_writer_by_path(opt->out);
	if (w)
		return w;
	if (opt->format)
		rk_fail(err, RK_E_USAGE,
			"unknown format '%s'; known formats: parquet, csv, jsonl, perfetto, chrome",
			opt->format);
	else
		rk_fail(err, RK_E_USAGE,
			"cannot tell the format of '%s'; use a name that ends in .parquet, .csv, .jsonl, "
			".pftrace, .json, .tar or / (a directory), or add -f FORMAT",
			opt->out);
	return NULL;
}

int rk_unknown_table(const char *name, struct rk_error *err)
{
	char known[256];
	size_t len = 0;

	for (unsigned t = 0; t < RK_NTABLES && len < sizeof(known); t++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", t ? ", " : "",
					rk_table_name(t));
	return rk_fail(err, RK_E_USAGE, "unknown table '%s'; known tables: %s", name, known);
}

bool rk_names_dir(const char *out)
{
	size_t len = strlen(out);

	return (len && out[len - 1] == '/') || rk_is_dir(out);
}

static int convert_run(struct rk_run *run, const struct rk_convert_options *opt,
		       struct rk_convert_result *ret, struct rk_error *err)
{
	bool dir = opt->dataset || (strcmp(opt->out, "-") && rk_names_dir(opt->out));
	const struct rk_writer_ops *format = choose_format(opt, dir, err);
	struct job j = { .run = run, .table = RK_KERNELS, .format = format, .path = opt->out };
	int table = -1, rc;
	size_t lost;

	if (!format)
		return RK_E_USAGE;
	if (opt->dataset && strcmp(format->name, "parquet") != 0)
		return rk_fail(err, RK_E_USAGE, "a data set consists of Parquet files");
	if (opt->table) {
		table = rk_table_by_name(opt->table);
		if (table < 0)
			return rk_unknown_table(opt->table, err);
		j.table = (enum rk_table)table;
	}
	/* for a trace, clocks are aligned or reported elsewhere */
	if (!format->trace && (rc = rk_run_check_clocks(run, err)) < 0)
		return rc;
	rc = rk_run_warn_ranks(run, err);
	if (rc < 0)
		return rc;
	/* data sets and archives know which rank they write */
	if (!opt->dataset && !format->trace)
		rk_run_tolerate(run);
	if ((table == RK_KERNELS || table < 0) && (rc = rk_run_energy_settle(run, err)) < 0)
		return rc;

	if (opt->dataset) {
		rc = rk_run_convert_dataset(run, opt, table, ret, err);
	} else if (format->trace) {
		rc = rk_run_convert_trace(run, opt, format, table, ret, err);
	} else if (dir) {
		rc = convert_dir(run, opt, format, table, ret, err);
	} else {
		rc = write_table(&j, true, err);
		if (rc == 0 && !j.rows)
			warn_empty(run, j.table);
		if (rc == 0)
			*ret = (struct rk_convert_result){ j.rows, 1 };
	}
	if (rc == 0 && !format->trace)
		rk_run_tell_clocks(run);
	rk_run_tell_names(run);
	lost = opt->dataset || format->trace ? 0 : damaged_ranks(run);
	if (rc == 0 && lost)
		rc = rk_fail(err, RK_E_FORMAT,
			     "%zu rank%s could not be read completely; the others are in '%s'",
			     lost, rk_plural(lost), opt->out);
	return rc;
}

int rk_run_convert(struct rk_run *run, const struct rk_convert_options *opt,
		   struct rk_convert_result *ret, struct rk_error *err)
{
	struct rk_convert_result did = { 0 };
	int rc;

	if (!opt || !opt->out || !rk_texts_there(opt->inputs, opt->ninputs))
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0 || rk_run_enter(run, __func__, err) < 0)
		return RK_E_USAGE;
	rc = convert_run(run, opt, &did, err);
	rk_run_leave(run);
	if (rc == 0 && ret)
		*ret = did;
	return rc;
}
