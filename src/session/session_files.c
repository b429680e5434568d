/* session_files.c - files beside the tables: a preset's timeline for a viewer, statistics. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/output.h"
#include "run/run.h"
#include "session/preset_draft.h"
#include "session/session_impl.h"

/* ---- the timeline ---- */

static const struct {
	const char *word, *file, *format;
} timelines[] = {
	{ "pftrace", "model_trace.pftrace", "perfetto" },
	{ "json", "trace.json", "chrome" },
};

enum { NTIMELINES = sizeof(timelines) / sizeof(timelines[0]) };

const char *rk_timeline_file(const char *word)
{
	for (size_t i = 0; i < NTIMELINES; i++)
		if (!strcmp(timelines[i].word, word))
			return timelines[i].file;
	return NULL;
}

void rk_session_timeline(struct rk_session *s)
{
	const struct rk_plan *p = s->plan;
	const struct rk_run_options how = { .hide_secrets = true,
					    .redact = p->redact,
					    .progress = rk_session_cancelled };
	const char *file = rk_timeline_file(p->want.timeline), *dir = p->dir;
	struct rk_convert_options what = { 0 };
	struct rk_convert_result done;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	char *path;

	if (!file)
		return;
	path = rk_strf("%s/%s", p->dir, file);
	what.out = path;
	for (size_t i = 0; i < NTIMELINES; i++)
		if (timelines[i].file == file)
			what.format = timelines[i].format;
	if (!path)
		rk_fail_nomem(&err);
	else if (rk_run_open(&dir, 1, &how, &run, &err) == 0)
		rk_run_convert(run, &what, &done, &err);
	rk_run_close(run);
	rk_free(path);
	if (err.code) {
		rk_list_set(&s->record.dropped, file, err.message);
		rk_session_warn(s, "no %s: %s", file, err.message);
		return;
	}
	rk_session_say(s, "timeline for a viewer: %s/%s", p->target, file);
}

/* ---- statistics, under the names and with the columns of rocprof ---- */

/* The rows of a section, or those of one trace. A file of the profiler is kept. */
static int put_stats(const struct rk_plan *p, const char *name, const struct rk_report_section *sec,
		     unsigned trace, struct rk_error *err)
{
	char *path = rk_strf("%s/results.%s.csv", p->raw_dir, name);
	double total = 0;
	struct rk_bytes b;
	size_t n = 0;
	int rc = 0;

	if (!path)
		return rk_fail_nomem(err);
	rk_bytes_init(&b, UINT32_MAX);
	for (size_t i = 0; i < sec->nrows; i++) {
		const struct rk_report_row *row = &sec->rows[i];

		if (row->timed && !row->barrier &&
		    (!trace || rk_session_call_trace(row->name) == trace))
			total += (double)row->total_ns;
	}
	rk_bytes_puts(&b, RK_STATS_HEADER);
	for (size_t i = 0; i < sec->nrows; i++) {
		const struct rk_report_row *row = &sec->rows[i];

		if (!row->timed || row->barrier ||
		    (trace && rk_session_call_trace(row->name) != trace))
			continue;
		n++;
		rk_csv_text(&b, row->name, ',');
		rk_bytes_printf(&b, "%" PRIu64 ",%" PRId64 ",%.0f,%.6f\n", row->calls,
				row->total_ns, row->mean_ns,
				total > 0 ? 100 * (double)row->total_ns / total : 0);
	}
	if (b.bad)
		rc = rk_fail_nomem(err);
	else if (n && access(path, F_OK) != 0)
		rc = rk_write_file(path, (const char *)b.data, b.len, err);
	rk_bytes_release(&b);
	rk_free(path);
	return rc;
}

void rk_session_stats(struct rk_session *s, const struct rk_report *r)
{
	const struct rk_plan *p = s->plan;
	struct rk_error err = { 0 };

	if (!p->want.stats)
		return;
	if (put_stats(p, "stats", &r->kernels, 0, &err) < 0 ||
	    put_stats(p, "hip_stats", &r->api, RK_TRACE_HIP, &err) < 0 ||
	    put_stats(p, "hsa_stats", &r->api, RK_TRACE_HSA, &err) < 0 ||
	    put_stats(p, "copy_stats", &r->copies, 0, &err) < 0) {
		rk_list_set(&s->record.dropped, "statistics", err.message);
		rk_session_warn(s, "no statistics files: %s", err.message);
	}
}
