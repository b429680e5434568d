/* session_convert.c - after the passes: converts raw files to tables and fills the ledger. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "io/dirs.h"
#include "io/output.h"
#include "monitor/sampler.h"
#include "read/rkraw/raw.h"
#include "run/run_dir.h"
#include "session/library_trace.h"
#include "session/session_impl.h"
#include "table/table.h"
#include "write/writer.h"

/* ---- files of the passes ---- */

static int by_rank(const void *a, const void *b)
{
	int64_t x = rk_rank_of_folder(*(char *const *)a), y = rk_rank_of_folder(*(char *const *)b);

	return (x > y) - (x < y);
}

static void drop(struct rk_session *s, const char *what, const char *why)
{
	rk_list_set(&s->record.dropped, what, why);
}

/* Names of the folders "rank-K" in `dir`, by rank. */
static int rank_folders(const char *dir, struct rk_list *ret, struct rk_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (rk_rank_of_folder(e->d_name) >= 0)
			rk_list_add(ret, e->d_name);
	if (d)
		closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_rank);
	return ret->bad ? rk_fail_nomem(err) : 0;
}

/*
 * Files that workers of a launcher left in rocprof_raw/[pass_N/]rank-K go to
 * rank-KKKKK/rocprof_raw/[pass_N/].
 */
static int move_ranks(const struct rk_plan *p, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && p->rank_key && i < p->npasses; i++) {
		const char *from = p->passes[i].dir;
		const char *pass = from + strlen(p->raw_dir); /* "" or "/pass_N" */
		struct rk_list names = { 0 };

		rc = rank_folders(from, &names, err);
		for (size_t k = 0; rc == 0 && k < names.n; k++) {
			char *old = rk_strf("%s/%s", from, names.v[k]);
			char *new = rk_strf("%s/rank-%05" PRId64 "/rocprof_raw%s", p->dir,
					    rk_rank_of_folder(names.v[k]), pass);

			rc = old && new ? rk_make_dirs(new, err) : rk_fail_nomem(err);
			/* an empty directory may be renamed over */
			if (rc == 0 && rename(old, new))
				rc = rk_fail_errno(err, errno, "cannot move '%s' to '%s'", old,
						   new);
			rk_free(old);
			rk_free(new);
		}
		rk_list_release(&names);
	}
	return rc;
}

static int add_if_there(struct rk_list *l, const char *dir, const char *name, struct rk_error *err)
{
	char *path = rk_strf("%s/%s", dir, name);
	struct stat st;

	if (!path)
		return rk_fail_nomem(err);
	if (stat(path, &st) == 0)
		rk_list_add(l, path);
	rk_free(path);
	return 0;
}

/* Files and folders of the run that hold something to convert, always in the same order. */
static int list_inputs(const struct rk_plan *p, struct rk_list *ret, struct rk_error *err)
{
	struct rk_list ranks = { 0 };
	uint64_t files = 0, bytes;
	int rc = rk_count_files(p->raw_dir, false, &files, &bytes, err);

	if (rc < 0)
		return rc;
	if (files)
		rk_list_add(ret, p->raw_dir);
	if (p->rank_key)
		rc = rank_folders(p->dir, &ranks, err);
	for (size_t i = 0; rc == 0 && i < ranks.n; i++)
		rc = add_if_there(ret, p->dir, ranks.v[i], err);
	rk_list_release(&ranks);
	for (size_t i = 0; rc == 0 && i < RK_MONITOR_FILES; i++)
		rc = add_if_there(ret, p->dir, rk_monitor_file_names[i], err);
	if (rc < 0 || (rc = add_if_there(ret, p->dir, "library_trace.csv", err)) < 0)
		return rc;
	return ret->bad ? rk_fail_nomem(err) : 0;
}

/* ---- the kernels of a run that recorded none ---- */

/*
 * Scripts that read rocprof_kernels.parquet after each run find an empty table instead of a missing
 * file.
 */
static int write_empty_kernels(const struct rk_session *s, struct rk_error *err)
{
	const struct rk_writer_ops *parquet = rk_writer_by_name("parquet");
	struct rk_context ctx = { .tmpdir = NULL };
	const struct rk_plan *p = s->plan;
	struct rk_output *out = NULL;
	struct rk_writer *w = NULL;
	char *path;
	int rc = 0;

	/*
	 * A rank without tables is reported by those who read the job; a run that was broken off, or
	 * whose program or profiler failed, may have had kernels.
	 */
	if (p->rank.rank >= 0 || p->rank_key || s->result->status ||
	    s->result->passes_done < s->result->passes)
		return 0;
	path = rk_strf("%s/%s.parquet", p->dir, rk_table_file(RK_KERNELS));
	if (!path)
		return rk_fail_nomem(err);
	if (access(path, F_OK) == 0 ||
	    (rc = rk_strtab_new(RK_NAMES_MAX_BYTES, &ctx.names, err)) < 0 ||
	    (rc = rk_diag_new(&ctx.diag, err)) < 0 || (rc = rk_pool_new(1, &ctx.pool, err)) < 0 ||
	    (rc = rk_output_open(path, &out, err)) < 0)
		goto out;
	rc = parquet->open(out, rk_table_schema(RK_KERNELS), &ctx, &w, err);
	if (rc == 0)
		rc = parquet->finish(w, err);
	if (w)
		parquet->close(w);
	if (rc == 0)
		rc = rk_output_commit(out, err);
	else
		rk_output_abort(out);
out:
	rk_pool_free(ctx.pool);
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
	rk_free(path);
	return rc;
}

/* ---- the ledger: what was requested, delivered and dropped ---- */

unsigned rk_session_call_trace(const char *name)
{
	static const struct {
		const char *prefix;
		unsigned trace;
	} owners[] = {
		{ "hipFile", RK_TRACE_HIPFILE },  { "hip", RK_TRACE_HIP },
		{ "__hip", RK_TRACE_HIP },        { "hsa_", RK_TRACE_HSA },
		{ "nccl", RK_TRACE_RCCL },        { "rccl", RK_TRACE_RCCL },
		{ "mscclpp", RK_TRACE_RCCL },     { "rocshmem", RK_TRACE_ROCSHMEM },
		{ "rocDec", RK_TRACE_ROCDECODE }, { "rocJpeg", RK_TRACE_ROCJPEG },
		{ "omp", RK_TRACE_OMPT },         { "KFD_", RK_TRACE_KFD },
		{ "graph ", RK_TRACE_GRAPH },
	};

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (!strncmp(name, owners[i].prefix, strlen(owners[i].prefix)))
			return owners[i].trace;
	return 0;
}

static uint64_t rows_of(const struct rk_report *r, const char *table)
{
	for (size_t i = 0; i < r->ntables; i++)
		if (!strcmp(r->tables[i].name, table))
			return r->tables[i].rows;
	return 0;
}

static uint64_t rows_of_trace(const struct rk_report *r, unsigned trace)
{
	uint64_t n = 0;

	switch (trace) {
	case RK_TRACE_KERNEL:
		return rows_of(r, "kernels");
	case RK_TRACE_MEMCPY:
		return rows_of(r, "memcpy");
	case RK_TRACE_MARKER:
		return rows_of(r, "markers");
	case RK_TRACE_SCRATCH:
	case RK_TRACE_ALLOC:
		for (size_t i = 0; i < r->memory.nrows; i++) {
			bool scratch = strcasestr(r->memory.rows[i].name, "scratch") != NULL;

			if (scratch == (trace == RK_TRACE_SCRATCH))
				n += r->memory.rows[i].calls;
		}
		return n;
	default:
		for (size_t i = 0; i < r->api.nrows; i++)
			if (rk_session_call_trace(r->api.rows[i].name) == trace)
				n += r->api.rows[i].calls;
		/* launches of graphs and events of the driver are markers */
		for (size_t i = 0; i < r->markers.nrows; i++)
			if (trace & (RK_TRACE_GRAPH | RK_TRACE_KFD) &&
			    rk_session_call_trace(r->markers.rows[i].name) == trace)
				n += r->markers.rows[i].calls;
		return n;
	}
}

/* A counter that was requested: delivered, delivered as zeros only, or dropped. */
static void one_counter(struct rk_session *s, const char *name, const struct rk_report *r,
			struct rk_list *absent, struct rk_list *zero)
{
	const struct rk_report_counter *c = NULL;

	/* measured in several passes */
	if (rk_list_has(absent, name) || rk_list_has(zero, name))
		return;
	for (size_t i = 0; r && !c && i < r->ncounters; i++)
		if (!strcmp(r->counters[i].name, name))
			c = &r->counters[i];
	if (!c || !c->rows) {
		rk_list_add_once(absent, name);
		drop(s, name, "dropped by the profiler");
	} else if (!(fabs(c->min) > 0) && !(fabs(c->max) > 0)) {
		rk_list_add_once(zero, name);
		drop(s, name, "every value is 0: do not trust it");
	} else {
		rk_list_add_once(&s->record.counters, name);
	}
}

/* "counters A, B, C and 3 more ..." */
static void warn_counters(struct rk_session *s, const struct rk_list *l, const char *what)
{
	size_t shown = l->n > 4 ? 3 : l->n;
	struct rk_bytes b;

	if (!l->n)
		return;
	rk_bytes_init(&b, 4096);
	for (size_t i = 0; i < shown; i++)
		rk_bytes_printf(&b, "%s%s", i ? ", " : "", l->v[i]);
	if (shown < l->n)
		rk_bytes_printf(&b, " and %zu more", l->n - shown);
	if (rk_bytes_str(&b))
		rk_session_warn(s, "counter%s %s %s", l->n == 1 ? "" : "s", rk_bytes_str(&b), what);
	rk_bytes_release(&b);
}

static void put_counters(struct rk_session *s, const struct rk_report *r)
{
	struct rk_list absent = { 0 }, zero = { 0 };
	const struct rk_plan *p = s->plan;

	for (size_t i = 0; p->counters && i < p->counters->nchecks; i++)
		if (p->counters->checks[i].status == RK_COUNTER_MISSING)
			drop(s, p->counters->checks[i].asked, p->counters->checks[i].reason);
	for (size_t i = 0; i < p->npasses; i++)
		for (size_t k = 0; s->record.passes[i].ran && k < p->passes[i].counters.n; k++)
			one_counter(s, p->passes[i].counters.v[k], r, &absent, &zero);
	for (size_t k = 0; s->record.passes[0].ran && k < p->own_counters.n; k++) {
		if (p->tool->library)
			drop(s, p->own_counters.v[k], "the collector has no counters");
		else
			one_counter(s, p->own_counters.v[k], r, &absent, &zero);
	}
	warn_counters(s, &absent, "missing: dropped by the profiler");
	warn_counters(s, &zero, "returned only zeros: do not trust");
	rk_list_release(&absent);
	rk_list_release(&zero);
}

/* A reason that was already reported is not followed by guesses about the program. */
static void warn_no_kernels(struct rk_session *s)
{
	for (size_t i = 0; i < s->plan->npasses; i++) {
		const struct rk_pass_record *did = &s->record.passes[i];

		if (did->disk_full || did->refused || did->child.hung || did->child.killed)
			return;
	}
	if (s->plan->range)
		rk_session_warn(s,
				"no kernels recorded: the program launched none in a range '%s', "
				"or its workers ended by _exit or a signal",
				s->plan->range);
	else
		rk_session_warn(s, "no kernels recorded: the program launched none, or its workers "
				   "ended by _exit or a signal");
}

/* What is traced if the user requests nothing is not reported as missing, except kernels. */
static void fill_ledger(struct rk_session *s, const struct rk_report *r)
{
	/* what these call their rows is not documented */
	const unsigned named_by_guess = RK_TRACE_KFD | RK_TRACE_OMPT | RK_TRACE_GRAPH;
	const struct rk_plan *p = s->plan;
	unsigned given = 0;

	for (size_t i = 0; r && i < r->ntables; i++)
		if (r->tables[i].rows)
			rk_list_addf(&s->record.tables, "%s=%" PRIu64, r->tables[i].name,
				     r->tables[i].rows);
	for (size_t i = 0; i < p->npasses; i++)
		given |= p->passes[i].how.delivers;
	for (unsigned i = 0; i < RK_NTRACES; i++) {
		uint64_t n = 0;

		if (!(p->want.traces >> i & 1))
			continue;
		if (r)
			n = rows_of_trace(r, 1u << i);
		rk_list_addf(&s->record.traces, "%s=%" PRIu64, rk_trace_name(i), n);
		if (!n && !(given >> i & 1))
			drop(s, rk_trace_name(i), "this profiler or release does not trace it");
		else if (!n && (!p->want.nothing_said || 1u << i == RK_TRACE_KERNEL))
			drop(s, rk_trace_name(i),
			     1u << i & named_by_guess ? "requested, but no rows recorded under a "
							"name that rockit knows" :
							"requested, but no rows recorded");
		if (!n && r && 1u << i == RK_TRACE_KERNEL)
			warn_no_kernels(s);
	}
	put_counters(s, r);
	if (p->want.pc_wanted && !(r && rows_of(r, "pc_samples")))
		drop(s, "pc_samples", "no samples recorded");
	if (p->spm.n && !(r && rows_of(r, "samples")))
		drop(s, "spm", "no samples recorded");
	if (p->asks & RK_ASK_ATT && !(r && rows_of(r, "instructions")))
		drop(s, "thread_trace",
		     "no instructions recorded: rocprofv3 needs its trace decoder (--tool-args "
		     "'--att-library-path DIR'), and a kernel that matches");
	if (p->want.libraries && !(r && rows_of(r, "library_calls")))
		drop(s, "library_calls", "the libraries logged nothing");
}

/* ---- what our own collectors report ---- */

/* Adds "N: why" to what is dropped under `what`. */
static void drop_count(struct rk_session *s, const char *what, uint64_t n, const char *why)
{
	const char *before = rk_list_value(&s->record.dropped, what);
	char text[640];

	if (!n)
		return;
	snprintf(text, sizeof(text), "%s%s%" PRIu64 ": %s", before ? before : "",
		 before ? "; " : "", n, why);
	drop(s, what, text);
}

/* Records that were lost, over all processes, and the error of the clocks. */
static void read_recorders(struct rk_session *s)
{
	static const char *const reasons[RK_RAW_REASONS] = {
		[RK_RAW_FULL] = "the file reached its size limit (--tool-args limit=SIZE)",
		[RK_RAW_DISK] = "the disk was full or not writable",
		[RK_RAW_REENTRY] = "a signal handler made calls during a call",
		[RK_RAW_NAMES] = "too many names",
		[RK_RAW_BUSY] = "all buffers were in use",
		[RK_RAW_SOURCE] = "lost by the vendor's runtime",
	};
	static const struct {
		const char *what, *why;
	} skips[RK_RAW_SKIPS] = {
		[RK_RAW_ASLEEP] = { "asleep", "records left out while recording was switched off" },
		[RK_RAW_SAMPLE] = { "sample", "calls left out by --sample" },
		[RK_RAW_EVERY] = { "every", "records left out by --every" },
		[RK_RAW_RANGE] = { "range", "records left out outside of --range" },
	};
	uint64_t lost[RK_RAW_REASONS] = { 0 }, skipped[RK_RAW_SKIPS] = { 0 };
	uint64_t pending = 0, overwritten = 0, copied_over = 0;
	struct rk_error err = { 0 };
	struct rk_rkraw_info info;
	struct rk_walk w = { 0 };

	if (!s->plan->tool->library || !rk_is_dir(s->plan->raw_dir) ||
	    rk_walk_dir(s->plan->raw_dir, &w, &err) < 0)
		return;
	for (size_t i = 0; i < w.n; i++) {
		if (!rk_text_ends(w.paths[i], strlen(w.paths[i]), ".rkraw") ||
		    rk_rkraw_info(w.paths[i], &info, NULL) < 0)
			continue;
		if (info.clock_error_ns > s->record.clock_error_ns)
			s->record.clock_error_ns = info.clock_error_ns;
		for (unsigned k = 0; k < RK_RAW_REASONS; k++)
			lost[k] += rk_min(info.dropped_for[k], UINT64_MAX - lost[k]);
		for (unsigned k = 0; k < RK_RAW_SKIPS; k++)
			skipped[k] += rk_min(info.skipped[k], UINT64_MAX - skipped[k]);
		overwritten += rk_min(info.overwritten, UINT64_MAX - overwritten);
		copied_over += rk_min(info.copied_over, UINT64_MAX - copied_over);
		pending += rk_min(info.pending, UINT64_MAX - pending);
		if (info.note[0])
			drop(s, info.collector, info.note);
		if (!info.clean && s->plan->tool->lost_at_end)
			drop(s, "end", s->plan->tool->lost_at_end);
	}
	rk_walk_release(&w);
	for (unsigned k = 0; k < RK_RAW_REASONS; k++)
		drop_count(s, "records", lost[k], reasons[k] ? reasons[k] : "unknown reason");
	for (unsigned k = 0; k < RK_RAW_SKIPS; k++)
		drop_count(s, skips[k].what, skipped[k], skips[k].why);
	drop_count(s, "overwritten", overwritten, "older records than the window holds");
	drop_count(s, "copied_over", copied_over, "blocks overwritten while they were copied");
	drop_count(s, "operations", pending, "still in flight at the end");
}

/* ---- the tables ---- */

int rk_session_cancelled(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	(void)done;
	(void)total;
	return rk_child_guard_signal() != 0;
}

static int write_tables(struct rk_session *s, const struct rk_list *inputs, struct rk_error *err)
{
	const struct rk_run_options how = { .hide_secrets = true,
					    .redact = s->plan->redact,
					    .progress = rk_session_cancelled };
	struct rk_convert_options what = { 0 };
	const struct rk_warning *w = NULL;
	struct rk_convert_result done;
	struct rk_run *run = NULL;
	char *out = rk_strf("%s/", s->plan->dir);
	size_t n = 0;
	int rc;

	if (!out)
		return rk_fail_nomem(err);
	what.out = out;
	rc = rk_run_open((const char *const *)inputs->v, inputs->n, &how, &run, err);
	if (rc < 0)
		goto out;
	rc = rk_run_convert(run, &what, &done, err);

	/* keep the warnings, and count each kind of repair: it may be needed in several files */
	w = rk_run_warnings(run, &n);
	for (size_t i = 0; i < n; i++) {
		const char *text = rk_list_value(&s->record.repaired, w[i].kind);
		char sum[32], times[40] = "";
		uint64_t before = 0;

		if (text)
			(void)rk_num_u64(text, strlen(text), &before);
		snprintf(sum, sizeof(sum), "%" PRIu64, before + w[i].count);
		rk_list_set(&s->record.repaired, w[i].kind, sum);
		if (w[i].count > 1)
			snprintf(times, sizeof(times), " (%" PRIu64 " times)", w[i].count);
		rk_session_warn(s, "%s%s%s%s", w[i].file, w[i].file[0] ? ": " : "", w[i].message,
				times);
	}
	rk_run_close(run);
out:
	rk_free(out);
	return rc;
}

/* The ledger comes from the tables just written: it lists what a reader finds in them. */
static int look_back(struct rk_session *s, struct rk_error *err)
{
	const struct rk_run_options how = { .threads = 0 };
	const struct rk_report_options plain = { 0 };
	const char *dir = s->plan->dir;
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	int rc = rk_run_open(&dir, 1, &how, &run, err);

	if (rc < 0)
		return rc;
	rc = rk_run_report(run, &plain, &r, err);
	if (rc == 0) {
		s->result->usable = true;
		s->result->kernels = r->kernel_rows;
		fill_ledger(s, r);
		rk_session_stats(s, r);
		rk_report_free(r);
	}
	rk_run_close(run);
	return rc;
}

static void collect_libraries(struct rk_session *s)
{
	const struct rk_plan *p = s->plan;
	struct rk_error err = { 0 };
	uint64_t rows = 0;
	char *csv;

	if (!p->want.libraries)
		return;
	csv = rk_strf("%s/library_trace.csv", p->dir);
	if (!csv)
		rk_fail_nomem(&err);
	else
		rk_library_collect(p->want.libraries, p->library_dir, csv, &rows, &err);
	if (err.code)
		rk_session_warn(s, "library trace: %s", err.message);
	rk_free(csv);
}

int rk_session_convert(struct rk_session *s, struct rk_error *err)
{
	struct rk_list inputs = { 0 };
	struct rk_error why = { 0 };
	bool made = false;
	int rc = move_ranks(s->plan, err);

	if (rc < 0)
		return rc;
	collect_libraries(s);
	/* the raw files are what readers take, and we end with the program */
	if (s->plan->window.record) {
		read_recorders(s);
		return 0;
	}
	rc = list_inputs(s->plan, &inputs, &why);
	if (rc == 0 && inputs.n) {
		rc = write_tables(s, &inputs, &why);
		made = rc == 0;
	}
	if (rc == 0)
		rc = write_empty_kernels(s, &why);
	rk_list_release(&inputs);

	if (rc == RK_E_FORMAT || rc == RK_E_UNSUPPORTED) {
		/* unreadable files of the profiler are a warning, not a failure of ours */
		rk_session_warn(s, "cannot read the output of %s: %s%s%s", s->plan->tool->name,
				why.file, why.file[0] ? ": " : "", why.message);
		drop(s, "conversion", why.message);
		rc = 0;
	} else if (rc == RK_E_CANCELLED) {
		drop(s, "conversion", "stopped by a signal");
		rc = 0;
	} else if (rc < 0 && err) {
		*err = why;
	}
	if (rc == 0 && made)
		rc = look_back(s, err);
	else
		fill_ledger(s, NULL);
	if (rc == 0 && s->result->usable)
		rk_session_timeline(s);
	read_recorders(s);
	return rc;
}
