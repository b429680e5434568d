/* metrics_json.c - metrics as JSON, schema 1: one line per metric. */
#include <math.h>
#include <string.h>

#include "metrics/metrics_parts.h"

static const char *normal_name(enum rk_normal n)
{
	static const char *const names[] = { "per_kernel", "per_wave", "per_cycle", "per_second" };

	return names[n];
}

const char *rk_level_name(enum rk_level l)
{
	static const char *const names[RK_NLEVELS] = { "lds", "l1", "l2", "hbm" };

	return names[l];
}

bool rk_metric_shown(const struct rk_list *groups, const char *group)
{
	return !groups || !groups->n || rk_list_has(groups, group);
}

/* What is not known is "" in the tables and null here. */
static const char *or_null(const char *s)
{
	return s && s[0] ? s : NULL;
}

static void put_metric(struct rk_json_out *j, const struct rk_metric_value *v)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "id", v->id);
	rk_json_text(j, "group", or_null(v->group));
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
	rk_json_close(j);
}

static void put_metrics(struct rk_json_out *j, const struct rk_metric_value *v, size_t n,
			const struct rk_list *groups)
{
	rk_json_array(j, "metrics");
	for (size_t i = 0; i < n; i++)
		if (rk_metric_shown(groups, v[i].group))
			put_metric(j, &v[i]);
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
	rk_json_text(j, "arch", or_null(d->arch));
	rk_json_text(j, "product", or_null(d->product));
	rk_json_text(j, "source", or_null(d->source));
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		rk_json_real(j, facts[i].key, facts[i].value);
	rk_json_close(j);
}

static void put_devices(struct rk_json_out *j, const struct rk_metrics *m)
{
	if (m->ndevices)
		put_device(j, "device", &m->devices[0]);
	else
		rk_json_null(j, "device");
	rk_json_array(j, "devices");
	for (size_t i = 0; i < m->ndevices; i++)
		put_device(j, NULL, &m->devices[i]);
	rk_json_close(j);
}

static void put_verdict(struct rk_json_out *j, const struct rk_verdict *v)
{
	rk_json_text(j, "verdict", v->name);
	rk_json_text(j, "reason", v->reason);
	rk_json_text(j, "collect", or_null(v->collect));
	rk_json_array_flat(j, "numbers");
	for (size_t i = 0; i < v->nnumbers; i++) {
		rk_json_object(j, NULL);
		rk_json_text(j, "name", v->numbers[i].name);
		rk_json_real(j, "value", v->numbers[i].value);
		rk_json_text(j, "unit", v->numbers[i].unit);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static bool is_placed(const struct rk_roof_point *r)
{
	bool some = isfinite(r->rate);

	for (int l = 0; l < RK_NLEVELS; l++)
		some |= isfinite(r->intensity[l]);
	return some;
}

static void put_roofline(struct rk_json_out *j, const struct rk_roof_point *r)
{
	if (!is_placed(r)) {
		rk_json_null(j, "roofline");
		return;
	}
	rk_json_object_flat(j, "roofline");
	rk_json_real(j, "rate", r->rate);
	rk_json_text(j, "pipe", or_null(r->pipe));
	rk_json_object(j, "levels");
	for (int l = 0; l < RK_NLEVELS; l++) {
		rk_json_object(j, rk_level_name((enum rk_level)l));
		rk_json_real(j, "intensity", r->intensity[l]);
		rk_json_real(j, "attainable", r->attainable[l]);
		rk_json_real(j, "percent", r->percent[l]);
		rk_json_close(j);
	}
	rk_json_close(j);
	rk_json_close(j);
}

static void put_kernel_flags(struct rk_json_out *j, const struct rk_metrics *m,
			     const struct rk_metric_kernel *k)
{
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
}

static void put_kernels(struct rk_json_out *j, const struct rk_metrics *m,
			const struct rk_list *groups)
{
	rk_json_array(j, "kernels");
	for (size_t i = 0; i < m->nkernels; i++) {
		const struct rk_metric_kernel *k = &m->kernels[i];

		rk_json_object(j, NULL);
		rk_json_text(j, "name", k->name);
		rk_json_uint(j, "calls", k->calls);
		rk_json_int(j, "total_ns", k->total_ns);
		rk_json_real(j, "percent", k->percent);
		put_verdict(j, &k->verdict);
		put_roofline(j, &k->roof);
		put_kernel_flags(j, m, k);
		put_metrics(j, k->metrics, k->nmetrics, groups);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_absent(struct rk_json_out *j, const struct rk_metrics *m)
{
	rk_json_array(j, "absent");
	for (size_t i = 0; i < m->nabsent; i++) {
		rk_json_object_flat(j, NULL);
		rk_json_text(j, "id", m->absent[i].id);
		rk_json_text(j, "reason", m->absent[i].reason);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_flags(struct rk_json_out *j, const struct rk_metrics *m)
{
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
}

static void put_ceilings(struct rk_json_out *j, const struct rk_metrics *m)
{
	rk_json_array(j, "ceilings");
	for (size_t i = 0; i < m->nceilings; i++) {
		const struct rk_ceiling *c = &m->ceilings[i];

		rk_json_object_flat(j, NULL);
		rk_json_text(j, "name", c->name);
		rk_json_text(j, "unit",
			     c->bandwidth           ? "GB/s" :
			     strstr(c->name, " i8") ? "GOP/s" :
						      "GFLOP/s");
		rk_json_real(j, "theory", c->theory);
		rk_json_real(j, "measured", c->measured);
		rk_json_real(j, "achievable", c->achievable);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_verdicts(struct rk_json_out *j, const struct rk_metrics *m)
{
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
}

static void put_trace_device(struct rk_json_out *j, const struct rk_trace_device *d)
{
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

static void put_trace(struct rk_json_out *j, const struct rk_metrics *m)
{
	rk_json_object(j, "trace");
	rk_json_bool(j, "serialised", m->trace.serialised);
	rk_json_array(j, "devices");
	for (size_t i = 0; i < m->trace.ndevices; i++)
		put_trace_device(j, &m->trace.devices[i]);
	rk_json_close(j);
	rk_json_close(j);
}

static void put_warnings(struct rk_json_out *j, const struct rk_metrics *m)
{
	rk_json_array(j, "warnings");
	for (size_t i = 0; i < m->nwarnings; i++) {
		const struct rk_warning *w = &m->warnings[i];

		rk_json_object_flat(j, NULL);
		rk_json_text(j, "kind", w->kind);
		rk_json_text(j, "file", or_null(w->file));
		if (w->line)
			rk_json_uint(j, "line", w->line);
		else
			rk_json_null(j, "line");
		rk_json_uint(j, "count", w->count);
		rk_json_text(j, "message", w->message);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_facts(struct rk_json_out *j, const struct rk_metrics *m)
{
	rk_json_text(j, "arch", or_null(m->arch));
	rk_json_text(j, "normal", normal_name(m->normal));
	rk_json_uint(j, "dispatches", m->dispatches);
	rk_json_int(j, "total_ns", m->total_ns);
	put_devices(j, m);
}

static void put_rest(struct rk_json_out *j, const struct rk_metrics *m)
{
	put_absent(j, m);
	put_flags(j, m);
	put_ceilings(j, m);
	put_verdicts(j, m);
	put_trace(j, m);
	put_warnings(j, m);
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
	put_kernels(&j, m, groups);
	put_rest(&j, m);
}

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

/* What is known only after the last dispatch stands behind them. */
void rk_dispatches_json_tail(struct rk_dispatch_rows *d, const struct rk_metrics *m)
{
	rk_json_close(&d->json);
	put_facts(&d->json, m);
	put_metrics(&d->json, m->metrics, m->nmetrics, d->groups);
	put_rest(&d->json, m);
}
