/* session_convert.c - the raw files of a session as rockit's tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "session/collect.h"
#include "session/library_trace.h"
#include "session/session_impl.h"

/* A kind of repair may be needed in several files. */
static void count_repairs(struct rk_list *l, const char *kind, uint64_t count)
{
	const char *text = rk_list_value(l, kind);
	uint64_t before = 0;
	char sum[32];

	if (text)
		(void)rk_num_u64(text, strlen(text), &before);
	snprintf(sum, sizeof(sum), "%" PRIu64, before + count);
	rk_list_set(l, kind, sum);
}

static void keep_warnings(struct rk_session *s, struct rk_run *run)
{
	size_t n;
	const struct rk_warning *w = rk_run_warnings(run, &n);

	for (size_t i = 0; i < n; i++) {
		char times[40] = "";

		if (w[i].count > 1)
			snprintf(times, sizeof(times), " (%" PRIu64 " times)", w[i].count);
		count_repairs(&s->record.repaired, w[i].kind, w[i].count);
		rk_session_warn(s, "%s%s%s%s", w[i].file, w[i].file[0] ? ": " : "", w[i].message,
				times);
	}
}

static int write_tables(struct rk_session *s, const struct rk_list *inputs, struct rk_error *err)
{
	const struct rk_run_options how = { .hide_secrets = true, .redact = s->plan->redact };
	struct rk_convert_options what = { 0 };
	struct rk_convert_result done;
	struct rk_run *run = NULL;
	char *out = rk_strf("%s/", s->plan->dir);
	int rc;

	what.out = out;
	rc = out ? rk_run_open((const char *const *)inputs->v, inputs->n, &how, &run, err) :
		   rk_fail_nomem(err);
	if (rc == 0)
		rc = rk_run_convert(run, &what, &done, err);
	if (run)
		keep_warnings(s, run);
	rk_run_close(run);
	rk_free(out);
	return rc;
}

/* From the tables that were just written: the truth is what a reader finds in them. */
static int look_back(struct rk_session *s, struct rk_error *err)
{
	const struct rk_run_options how = { .threads = 0 };
	const struct rk_report_options plain = { 0 };
	const char *dir = s->plan->dir;
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	int rc = rk_run_open(&dir, 1, &how, &run, err);

	if (rc == 0)
		rc = rk_run_report(run, &plain, &r, err);
	if (rc == 0) {
		s->result->usable = true;
		s->result->kernels = r->kernel_rows;
		rk_session_ledger(s, r);
	}
	rk_report_free(r);
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

/* What the profiler left cannot be read: that is told, and is no failure of ours. */
static int forgive(struct rk_session *s, int rc, struct rk_error *why, struct rk_error *err)
{
	if (rc == RK_E_FORMAT || rc == RK_E_UNSUPPORTED) {
		rk_session_warn(s, "cannot read what %s wrote: %s%s%s", s->plan->tool->name,
				why->file, why->file[0] ? ": " : "", why->message);
		rk_list_set(&s->record.dropped, "conversion", why->message);
		return 0;
	}
	if (rc < 0 && err)
		*err = *why;
	return rc;
}

int rk_session_convert(struct rk_session *s, struct rk_error *err)
{
	struct rk_list inputs = { 0 };
	struct rk_error why = { 0 };
	bool made;
	int rc = rk_collect_ranks(s->plan, err);

	if (rc < 0)
		return rc;
	collect_libraries(s);
	rc = rk_collect_inputs(s->plan, &inputs, &why);
	if (rc == 0 && inputs.n)
		rc = write_tables(s, &inputs, &why);
	made = rc == 0 && inputs.n;
	if (rc == 0)
		rc = rk_session_empty_kernels(s, &why);
	rc = forgive(s, rc, &why, err);
	if (rc == 0 && made)
		rc = look_back(s, err);
	else
		rk_session_ledger(s, NULL);
	rk_session_recorders(s);
	rk_list_release(&inputs);
	return rc;
}
