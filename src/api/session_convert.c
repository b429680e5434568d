/* session_convert.c - the raw files of a session as rockit's tables. */
#include <dirent.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "api/session_impl.h"
#include "session/library_trace.h"
#include "session/run_dir.h"

static void add_if_there(struct rk_list *l, const char *dir, const char *name)
{
	struct rk_bytes b;
	struct stat st;

	rk_bytes_init(&b, 1 << 16);
	rk_bytes_printf(&b, "%s/%s", dir, name);
	if (rk_bytes_str(&b) && stat(rk_bytes_str(&b), &st) == 0)
		rk_list_add(l, rk_bytes_str(&b));
	l->bad = l->bad || b.bad;
	rk_bytes_release(&b);
}

static void add_ranks(struct rk_list *l, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL)
		if (!strncmp(e->d_name, "rank-", 5))
			add_if_there(l, dir, e->d_name);
	if (d)
		closedir(d);
}

static void find_inputs(const struct rk_plan *p, struct rk_list *ret)
{
	uint64_t files = 0, bytes;

	if (rk_count_files(p->raw_dir, &files, &bytes, NULL) == 0 && files)
		rk_list_add(ret, p->raw_dir);
	if (p->rank_key)
		add_ranks(ret, p->dir);
	add_if_there(ret, p->dir, "gpu_info_power_profiler_output.csv");
	add_if_there(ret, p->dir, "gpu_info_vram_profiler_output.csv");
	add_if_there(ret, p->dir, "gpu_info_samples.csv");
	add_if_there(ret, p->dir, "library_trace.csv");
}

/* What readers said, once for each kind. */
static void keep_warnings(struct rk_session *s, struct rk_run *run)
{
	size_t n;
	const struct rk_warning *w = rk_run_warnings(run, &n);

	for (size_t i = 0; i < n; i++) {
		rk_list_addf(&s->record.repaired, "%s=%" PRIu64, w[i].kind, w[i].count);
		rk_session_warn(s, "%s%s%s", w[i].file, w[i].file[0] ? ": " : "", w[i].message);
	}
}

static int write_tables(struct rk_session *s, const struct rk_list *inputs, struct rk_error *err)
{
	const struct rk_run_options how = { .threads = 0 };
	struct rk_convert_options what = { 0 };
	struct rk_convert_result done;
	struct rk_run *run = NULL;
	struct rk_bytes out;
	int rc;

	rk_bytes_init(&out, 1 << 16);
	rk_bytes_printf(&out, "%s/", s->plan->dir);
	what.out = rk_bytes_str(&out);
	rc = what.out ? rk_run_open((const char *const *)inputs->v, inputs->n, &how, &run, err) :
			rk_fail_nomem(err);
	if (rc == 0)
		rc = rk_run_convert(run, &what, &done, err);
	if (run)
		keep_warnings(s, run);
	rk_run_close(run);
	rk_bytes_release(&out);
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
	struct rk_bytes csv;
	uint64_t rows = 0;

	if (!p->want.libraries)
		return;
	rk_bytes_init(&csv, 1 << 16);
	rk_bytes_printf(&csv, "%s/library_trace.csv", p->dir);
	if (!rk_bytes_str(&csv))
		rk_fail_nomem(&err);
	else
		rk_library_collect(p->want.libraries, p->library_dir, rk_bytes_str(&csv), &rows,
				   &err);
	if (err.code)
		rk_session_warn(s, "library trace: %s", err.message);
	rk_bytes_release(&csv);
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
	size_t ranks;
	bool made = false;
	int rc = rk_collect_ranks(s->plan, &ranks, err);

	if (rc < 0)
		return rc;
	collect_libraries(s);
	find_inputs(s->plan, &inputs);
	if (inputs.bad)
		rc = rk_fail_nomem(&why);
	else if (inputs.n)
		rc = write_tables(s, &inputs, &why);
	made = rc == 0 && inputs.n;
	rc = forgive(s, rc, &why, err);
	if (rc == 0 && made)
		rc = look_back(s, err);
	else
		rk_session_ledger(s, NULL);
	rk_list_release(&inputs);
	return rc;
}
