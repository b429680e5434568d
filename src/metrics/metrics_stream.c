/* metrics_stream.c - the metrics of each dispatch, written while they are computed. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/list.h"
#include "io/output.h"
#include "metrics/metrics_parts.h"
#include "run/run.h"

enum { PIECE_BYTES = 256 << 10, ROW_MAX_BYTES = 64 << 20 };

struct stream {
	struct rk_dispatch_rows rows;
	struct rk_metric_value *metrics; /* ours: what begin is given is lent */
	struct rk_list groups;
	struct rk_bytes out;
	struct rk_output *file;
	bool json, begun;
	struct rk_error err; /* why a callback ended the run */
};

static int drain(struct stream *s, size_t above)
{
	int rc = 0;

	if (s->out.bad)
		return rk_fail_nomem(&s->err);
	if (s->out.len <= above)
		return 0;
	rc = rk_output_write(s->file, s->out.data, s->out.len, &s->err);
	rk_bytes_clear(&s->out);
	return rc;
}

static int begin(void *arg, const struct rk_metric_value *metrics, size_t n)
{
	struct stream *s = arg;

	s->metrics = rk_calloc(n, sizeof(*metrics));
	if (!s->metrics)
		return rk_fail_nomem(&s->err);
	for (size_t i = 0; i < n; i++)
		s->metrics[i] = metrics[i];
	s->rows.metrics = s->metrics;
	s->rows.nmetrics = n;
	s->begun = true;
	if (s->json)
		rk_dispatches_json_head(&s->rows, &s->out);
	else
		rk_dispatches_csv_head(&s->rows, &s->out);
	return drain(s, PIECE_BYTES);
}

static int dispatch(void *arg, const struct rk_metric_dispatch *d)
{
	struct stream *s = arg;

	if (s->json)
		rk_dispatches_json_row(&s->rows, d);
	else
		rk_dispatches_csv_row(&s->rows, &s->out, d);
	return drain(s, PIECE_BYTES);
}

/* A run without dispatches need not begin any. */
static int end(struct stream *s, const struct rk_metrics *m)
{
	if (!s->begun && begin(s, NULL, 0) < 0)
		return s->err.code;
	if (s->json)
		rk_dispatches_json_tail(&s->rows, m);
	return drain(s, 0);
}

static int compute(struct stream *s, struct rk_run *run, const struct rk_metrics_options *opt,
		   struct rk_metrics **ret, struct rk_error *err)
{
	struct rk_metrics_options mine = *opt;
	int rc;

	mine.begin = begin;
	mine.dispatch = dispatch;
	mine.arg = s;
	rc = rk_run_metrics(run, &mine, ret, err);
	if (rc == 0)
		rc = end(s, *ret);
	/* That it was cancelled says less than why. */
	if (s->err.code) {
		rc = s->err.code;
		if (err)
			*err = s->err;
	}
	return rc;
}

static int write_dispatches(struct rk_run *run, const struct rk_metrics_options *opt,
			    const struct rk_metrics_look *how, const char *path,
			    struct rk_metrics **ret, struct rk_error *err)
{
	struct stream s = { .json = how->look.format == RK_REPORT_JSON };
	struct rk_metrics *m = NULL;
	int rc;

	if (how->look.format == RK_REPORT_TEXT)
		return rk_fail(err, RK_E_USAGE, "dispatches are written as json or csv");
	rk_bytes_init(&s.out, ROW_MAX_BYTES);
	if (how->groups)
		rk_list_split(&s.groups, how->groups, ", ");
	s.rows.groups = &s.groups;
	rc = s.groups.bad ? rk_fail_nomem(err) : rk_output_open(path, &s.file, err);
	if (rc == 0)
		rc = compute(&s, run, opt, &m, err);
	if (rc == 0)
		rc = rk_output_commit(s.file, err);
	else
		rk_output_abort(s.file);
	if (rc == 0 && ret) {
		*ret = m;
		m = NULL;
	}
	rk_metrics_free(m);
	rk_free(s.metrics);
	rk_bytes_release(&s.out);
	rk_list_release(&s.groups);
	return rc;
}

int rk_metrics_write_dispatches(struct rk_run *run, const struct rk_metrics_options *opt,
				const struct rk_metrics_look *how, const char *path,
				struct rk_metrics **ret, struct rk_error *err)
{
	static const struct rk_metrics_options nothing;
	int rc;

	if (!how || !path)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0 || RK_CHECK_OPTIONS(how, __func__, err) < 0 ||
	    rk_run_enter(run, __func__, err) < 0)
		return RK_E_USAGE;
	rc = write_dispatches(run, opt ? opt : &nothing, how, path, ret, err);
	rk_run_leave(run);
	return rc;
}
