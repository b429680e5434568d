/*
 * metrics_render.c - metrics as JSON (schema 1) and CSV; dispatches are written while they are
 * computed.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/list.h"
#include "base/text.h"
#include "io/output.h"
#include "metrics/metric_roofline.h"
#include "metrics/metrics_parts.h"
#include "run/run.h"

/* ---- JSON: one line per metric ---- */

bool rk_metric_shown(const struct rk_list *groups, const char *group)
{
	return !groups || !groups->n || rk_list_has(groups, group);
}

static void put_metrics(struct rk_json_out *j, const struct rk_metric_value *values, size_t n,
			const struct rk_list *groups)
{
	rk_json_array(j, "metrics");
	for (size_t i = 0; i < n; i++) {
		const struct rk_metric_value *v = &values[i];

		if (!rk_metric_shown(groups, v->group))
			continue;
		rk_json_object_flat(j, NULL);
		rk_json_text(j, "id", v->id);
		rk_json_text(j, "group", rk_text_or_null(v->group));
		rk_json_text(j, "unit", v->unit);
		rk_json_uint(j, "dispatches", v->dispatches);
		rk_json_real(j, "avg", v->avg);
		rk_json_real(j, "min", v->min);
		rk_json_real(j, "max", v->max);
		rk_json_real(j, "weighted", v->weighted);
		if (isfinite(v->median))
			rk_json_real(j, "median", v->median);
		rk_json_real(j, "peak", v->peak);
		rk_json_real(j, "percent_of_peak", v->percent_of_peak);
		if (v->split)
			rk_json_bool(j, "split", true);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_device(struct rk_json_out *j, const char *key, const struct rk_metric_device *d)
{
	const struct {
		const char *key;
		double value;
	} facts[] = {
		{ "cus", d->cus },          { "simds", d->simds },
		{ "ses", d->ses },          { "sqcs", d->sqcs },
		{ "banks", d->banks },      { "wave_slots", d->wslots },
		{ "sclk_mhz", d->sclk },    { "mclk_mhz", d->mclk },
		{ "l2_channels", d->l2ch }, { "hbm_channels", d->hbmch },
		{ "xcds", d->xcds },        { "pipes", d->pipes },
		{ "wave_size", d->wave },
	};

	rk_json_object_flat(j, key);
	rk_json_text(j, "arch", rk_text_or_null(d->arch));
	rk_json_text(j, "product", rk_text_or_null(d->product));
	rk_json_text(j, "source", rk_text_or_null(d->source));
	rk_json_text(j, "memory", rk_text_or_null(d->memory));
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		rk_json_real(j, facts[i].key, facts[i].value);
	rk_json_close(j);
}

static void put_kernel(struct rk_json_out *j, const struct rk_metrics *m,
		       const struct rk_metric_kernel *k, const struct rk_list *groups)
{
	const struct rk_roof_point *r = &k->roof;
	bool placed = isfinite(r->rate);

	rk_json_object(j, NULL);
	rk_json_text(j, "name", k->name);
	rk_json_uint(j, "calls", k->calls);
	rk_json_int(j, "total_ns", k->total_ns);
	rk_json_real(j, "percent", k->percent);
	rk_json_text(j, "verdict", k->verdict.name);
	rk_json_text(j, "reason", k->verdict.reason);
	rk_json_text(j, "collect", rk_text_or_null(k->verdict.collect));
	rk_json_array_flat(j, "numbers");
	for (size_t i = 0; i < k->verdict.nnumbers; i++) {
		rk_json_object(j, NULL);
		rk_json_text(j, "name", k->verdict.numbers[i].name);
		rk_json_real(j, "value", k->verdict.numbers[i].value);
		rk_json_text(j, "unit", k->verdict.numbers[i].unit);
		rk_json_close(j);
	}
	rk_json_close(j);

	for (int l = 0; l < RK_NLEVELS; l++)
		placed |= isfinite(r->intensity[l]);
	if (placed) {
		rk_json_object_flat(j, "roofline");
		rk_json_real(j, "rate", r->rate);
		rk_json_text(j, "pipe", rk_text_or_null(r->pipe));
		rk_json_text(j, "uncounted", rk_text_or_null(r->uncounted));
		rk_json_object(j, "levels");
		for (int l = 0; l < RK_NLEVELS; l++) {
			rk_json_object(j, rk_level_name(m->ndevices ? m->devices : NULL,
							(enum rk_level)l));
			rk_json_real(j, "intensity", r->intensity[l]);
			rk_json_real(j, "attainable", r->attainable[l]);
			rk_json_real(j, "percent", r->percent[l]);
			rk_json_close(j);
		}
		rk_json_close(j);
		rk_json_close(j);
	} else {
		rk_json_null(j, "roofline");
	}

	rk_json_array_flat(j, "flags");
	for (size_t i = 0; k->flags && i < m->nflags; i++) {
		if (!k->flags[i])
			continue;
		rk_json_object(j, NULL);
		rk_json_text(j, "kind", m->flags[i].kind);
		rk_json_uint(j, "dispatches", k->flags[i]);
		rk_json_close(j);
	}
	rk_json_close(j);
	put_metrics(j, k->metrics, k->nmetrics, groups);
	rk_json_close(j);
}

static void put_facts(struct rk_json_out *j, const struct rk_metrics *m)
{
	static const char *const normals[] = { "per_kernel", "per_wave", "per_cycle",
					       "per_second" };

	rk_json_text(j, "arch", rk_text_or_null(m->arch));
	rk_json_text(j, "normal", normals[m->normal]);
	rk_json_text(j, "average", m->of_sums ? "ratio of sums" : "mean of dispatches");
	rk_json_uint(j, "dispatches", m->dispatches);
	rk_json_int(j, "total_ns", m->total_ns);
	if (m->ndevices)
		put_device(j, "device", &m->devices[0]);
	else
		rk_json_null(j, "device");
	rk_json_array(j, "devices");
	for (size_t i = 0; i < m->ndevices; i++)
		put_device(j, NULL, &m->devices[i]);
	rk_json_close(j);
}

static void put_trace(struct rk_json_out *j, const struct rk_trace_facts *t)
{
	rk_json_object(j, "trace");
	rk_json_bool(j, "serialised", t->serialised);
	rk_json_array(j, "devices");
	for (size_t i = 0; i < t->ndevices; i++) {
		const struct rk_trace_device *d = &t->devices[i];

		rk_json_object_flat(j, NULL);
		rk_json_text(j, "name", d->name);
		rk_json_int(j, "span_ns", d->span_ns);
		rk_json_int(j, "busy_ns", d->busy_ns);
		rk_json_int(j, "kernel_ns", d->kernel_ns);
		rk_json_int(j, "idle_ns", d->idle_ns);
		rk_json_int(j, "copy_ns", d->copy_ns);
		rk_json_int(j, "overlap_ns", d->overlap_ns);
		rk_json_uint(j, "kernels", d->kernels);
		rk_json_uint(j, "copies", d->copies);
		rk_json_uint(j, "gaps", d->gaps);
		rk_json_int(j, "longest_gap_ns", d->longest_gap_ns);
		rk_json_int(j, "longest_gap_at_ns", d->longest_gap_at_ns);
		rk_json_uint(j, "launch_gaps", d->launch_gaps);
		rk_json_int(j, "launch_gap_ns", d->launch_gap_ns);
		rk_json_real(j, "median_launch_gap_ns", d->median_launch_gap_ns);
		rk_json_close(j);
	}
	rk_json_close(j);
	rk_json_close(j);
}

/* Writes the rest, starting with "absent". */
static void put_rest(struct rk_json_out *j, const struct rk_metrics *m)
{
	rk_json_array(j, "absent");
	for (size_t i = 0; i < m->nabsent; i++) {
		rk_json_object_flat(j, NULL);
		rk_json_text(j, "id", m->absent[i].id);
		rk_json_text(j, "reason", m->absent[i].reason);
		rk_json_close(j);
	}
	rk_json_close(j);

	rk_json_array(j, "flags");
	for (size_t i = 0; i < m->nflags; i++) {
		rk_json_object_flat(j, NULL);
		rk_json_text(j, "kind", m->flags[i].kind);
		rk_json_text(j, "text", m->flags[i].text);
		rk_json_uint(j, "dispatches", m->flags[i].dispatches);
		rk_json_real(j, "worst", m->flags[i].worst);
		rk_json_close(j);
	}
	rk_json_close(j);

	rk_json_array(j, "ceilings");
	for (size_t i = 0; i < m->nceilings; i++) {
		const struct rk_ceiling *c = &m->ceilings[i];
		const char *unit = "GFLOP/s";

		if (c->bandwidth)
			unit = "GB/s";
		else if (strstr(c->name, " i8"))
			unit = "GOP/s";
		rk_json_object_flat(j, NULL);
		rk_json_text(j, "name", c->name);
		rk_json_text(j, "unit", unit);
		rk_json_real(j, "theory", c->theory);
		rk_json_real(j, "measured", c->measured);
		rk_json_real(j, "achievable", c->achievable);
		rk_json_close(j);
	}
	rk_json_close(j);

	rk_json_array(j, "verdicts");
	for (size_t i = 0; i < m->nverdicts; i++) {
		const struct rk_verdict_share *v = &m->verdicts[i];

		rk_json_object_flat(j, NULL);
		rk_json_text(j, "name", v->name);
		rk_json_uint(j, "kernels", v->kernels);
		rk_json_uint(j, "calls", v->calls);
		rk_json_int(j, "total_ns", v->total_ns);
		rk_json_real(j, "percent", v->percent);
		rk_json_close(j);
	}
	rk_json_close(j);
	put_trace(j, &m->trace);

	rk_json_array(j, "warnings");
	for (size_t i = 0; i < m->nwarnings; i++) {
		const struct rk_warning *w = &m->warnings[i];

		rk_json_object_flat(j, NULL);
		rk_json_text(j, "kind", w->kind);
		rk_json_text(j, "file", rk_text_or_null(w->file));
		if (w->line)
			rk_json_uint(j, "line", w->line);
		else
			rk_json_null(j, "line");
		rk_json_uint(j, "count", w->count);
		rk_json_text(j, "message", w->message);
		rk_json_close(j);
	}
	rk_json_close(j);
	rk_json_end(j);
}

void rk_metrics_json(struct rk_bytes *out, const struct rk_metrics *m, const struct rk_list *groups)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "per", "kernel");
	put_facts(&j, m);
	put_metrics(&j, m->metrics, m->nmetrics, groups);
	rk_json_array(&j, "kernels");
	for (size_t i = 0; i < m->nkernels; i++)
		put_kernel(&j, m, &m->kernels[i], groups);
	rk_json_close(&j);
	put_rest(&j, m);
}

/* ---- CSV: a row per kernel and metric ---- */

static void put_values(struct rk_bytes *out, const struct rk_metric_value *v)
{
	const double cells[] = {
		v->avg, v->min, v->max, v->weighted, v->median, v->peak, v->percent_of_peak
	};

	rk_csv_text(out, v->id, ',');
	rk_csv_text(out, v->group, ',');
	rk_csv_text(out, v->unit, ',');
	rk_bytes_printf(out, "%" PRIu64, v->dispatches);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		rk_bytes_put_u8(out, ',');
		rk_put_number(out, cells[i], "");
	}
	rk_bytes_put_u8(out, '\n');
}

/* ---- dispatches ---- */

void rk_dispatches_json_head(struct rk_dispatch_rows *d, struct rk_bytes *out)
{
	rk_json_begin(&d->json, out);
	rk_json_int(&d->json, "schema", 1);
	rk_json_text(&d->json, "per", "dispatch");
	rk_json_array(&d->json, "kernels");
}

static void int_or_null(struct rk_json_out *j, const char *key, int64_t v)
{
	if (v >= 0)
		rk_json_int(j, key, v);
	else
		rk_json_null(j, key);
}

void rk_dispatches_json_row(struct rk_dispatch_rows *d, const struct rk_metric_dispatch *row)
{
	struct rk_json_out *j = &d->json;

	rk_json_object_flat(j, NULL);
	rk_json_text(j, "name", row->kernel);
	int_or_null(j, "dispatch_id", row->dispatch_id);
	int_or_null(j, "device_id", row->device_id);
	int_or_null(j, "start_ns", row->start_ns);
	int_or_null(j, "duration_ns", row->duration_ns);
	rk_json_array(j, "metrics");
	for (size_t i = 0; i < d->nmetrics; i++) {
		if (!rk_metric_shown(d->groups, d->metrics[i].group))
			continue;
		rk_json_object(j, NULL);
		rk_json_text(j, "id", d->metrics[i].id);
		rk_json_real(j, "value", row->values[i]);
		rk_json_close(j);
	}
	rk_json_close(j);
	rk_json_close(j);
}

/* After the dispatches: writes values that are only known at the end. */
void rk_dispatches_json_tail(struct rk_dispatch_rows *d, const struct rk_metrics *m)
{
	rk_json_close(&d->json);
	put_facts(&d->json, m);
	put_metrics(&d->json, m->metrics, m->nmetrics, d->groups);
	put_rest(&d->json, m);
}

void rk_dispatches_csv_head(const struct rk_dispatch_rows *d, struct rk_bytes *out)
{
	rk_bytes_puts(out, "kernel,dispatch_id,device_id,start_ns,duration_ns");
	for (size_t i = 0; i < d->nmetrics; i++) {
		if (!rk_metric_shown(d->groups, d->metrics[i].group))
			continue;
		rk_bytes_put_u8(out, ',');
		rk_csv_cell(out, d->metrics[i].id, strlen(d->metrics[i].id));
	}
	rk_bytes_put_u8(out, '\n');
}

void rk_dispatches_csv_row(const struct rk_dispatch_rows *d, struct rk_bytes *out,
			   const struct rk_metric_dispatch *row)
{
	const int64_t known[] = { row->dispatch_id, row->device_id, row->start_ns,
				  row->duration_ns };

	rk_csv_cell(out, row->kernel, strlen(row->kernel));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		rk_bytes_put_u8(out, ',');
		if (known[i] >= 0)
			rk_put_integer(out, known[i]);
	}
	for (size_t i = 0; i < d->nmetrics; i++) {
		if (!rk_metric_shown(d->groups, d->metrics[i].group))
			continue;
		rk_bytes_put_u8(out, ',');
		rk_put_number(out, row->values[i], "");
	}
	rk_bytes_put_u8(out, '\n');
}

/* ---- dispatches written while they are computed ---- */

enum { PIECE_BYTES = 256 << 10, ROW_MAX_BYTES = 64 << 20 };

struct stream {
	struct rk_dispatch_rows rows;
	struct rk_metric_value *metrics; /* our copy: the argument of `begin` is only borrowed */
	struct rk_list groups;
	struct rk_bytes out;
	struct rk_output *file;
	bool json, begun;
	struct rk_error err; /* why a callback cancelled */
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

int rk_metrics_write_dispatches(struct rk_run *run, const struct rk_metrics_options *opt,
				const struct rk_metrics_look *how, const char *path,
				struct rk_metrics **ret, struct rk_error *err)
{
	struct rk_metrics_options mine = { 0 };
	struct stream s = { 0 };
	struct rk_metrics *m = NULL;
	int rc;

	if (!how || !path)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0 || RK_CHECK_OPTIONS(how, __func__, err) < 0 ||
	    rk_run_enter(run, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&s.out, ROW_MAX_BYTES);
	s.json = how->look.format == RK_REPORT_JSON;
	s.rows.groups = &s.groups;
	if (how->look.format == RK_REPORT_TEXT) {
		rc = rk_fail(err, RK_E_USAGE, "dispatches can only be written as json or csv");
		goto out;
	}
	if (how->groups)
		rk_list_split(&s.groups, how->groups, ", ");
	if (s.groups.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = rk_output_open(path, &s.file, err);
	if (rc < 0)
		goto out;

	if (opt)
		mine = *opt;
	mine.begin = begin;
	mine.dispatch = dispatch;
	mine.arg = &s;
	rc = rk_run_metrics(run, &mine, &m, err);
	/* without dispatches `begin` was not called */
	if (rc == 0 && (s.begun || begin(&s, NULL, 0) == 0)) {
		if (s.json)
			rk_dispatches_json_tail(&s.rows, m);
		drain(&s, 0);
	}
	/* report the cause instead of "cancelled" */
	if (s.err.code) {
		rc = s.err.code;
		if (err)
			*err = s.err;
	}
	if (rc < 0) {
		rk_output_abort(s.file);
		goto out;
	}
	rc = rk_output_commit(s.file, err);
	if (rc == 0 && ret) {
		*ret = m;
		m = NULL;
	}
out:
	rk_metrics_free(m);
	rk_free(s.metrics);
	rk_bytes_release(&s.out);
	rk_list_release(&s.groups);
	rk_run_leave(run);
	return rc;
}

/* ---- text, JSON or CSV ---- */

struct shown {
	const struct rk_metrics *m;
	const struct rk_metrics_look *how;
	struct rk_list groups;
};

static void form_text(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct shown *s = what;

	(void)look;
	rk_metrics_text(out, s->m, s->how, &s->groups);
}

static void form_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct shown *s = what;

	(void)look;
	rk_metrics_json(out, s->m, &s->groups);
}

/* One row per kernel and metric, starting with the totals over all kernels. */
static void form_csv(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct shown *s = what;
	const struct rk_metrics *m = s->m;

	(void)look;
	rk_bytes_puts(out, "of,kernel,calls,total_ns,verdict,id,group,unit,dispatches,avg,min,max,"
			   "weighted,median,peak,percent_of_peak\n");
	for (size_t i = 0; i < m->nmetrics; i++) {
		if (!rk_metric_shown(&s->groups, m->metrics[i].group))
			continue;
		rk_bytes_printf(out, "all,,%" PRIu64 ",", m->dispatches);
		rk_put_integer(out, m->total_ns);
		rk_bytes_puts(out, ",,");
		put_values(out, &m->metrics[i]);
	}
	for (size_t n = 0; n < m->nkernels; n++) {
		const struct rk_metric_kernel *k = &m->kernels[n];

		for (size_t i = 0; i < k->nmetrics; i++) {
			if (!rk_metric_shown(&s->groups, k->metrics[i].group))
				continue;
			rk_bytes_puts(out, "kernel,");
			rk_csv_text(out, k->name, ',');
			rk_bytes_printf(out, "%" PRIu64 ",", k->calls);
			rk_put_integer(out, k->total_ns);
			rk_bytes_put_u8(out, ',');
			rk_csv_text(out, k->verdict.name, ',');
			put_values(out, &k->metrics[i]);
		}
	}
}

int rk_metrics_render(const struct rk_metrics *m, const struct rk_metrics_look *how,
		      char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { form_text, form_json, form_csv };
	static const struct rk_metrics_look plain;
	struct shown s = { .m = m, .how = how ? how : &plain };
	int rc;

	if (s.how->groups)
		rk_list_split(&s.groups, s.how->groups, ", ");
	if (s.groups.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_render(forms, m ? &s : NULL, &s.how->look, ret_text, ret_len, __func__,
			       err);
	rk_list_release(&s.groups);
	return rc;
}
