/* metrics_csv.c - metrics as CSV: a row per kernel and metric, or a row per dispatch. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "metrics/metrics_parts.h"
#include "report/report_parts.h"

static void put_text(struct rk_bytes *out, const char *s)
{
	rk_csv_cell(out, s, strlen(s));
	rk_bytes_put_u8(out, ',');
}

static void put_values(struct rk_bytes *out, const struct rk_metric_value *v)
{
	const double cells[] = {
		v->avg, v->min, v->max, v->weighted, v->median, v->peak, v->percent_of_peak
	};

	put_text(out, v->id);
	put_text(out, v->group);
	put_text(out, v->unit);
	rk_bytes_printf(out, "%" PRIu64, v->dispatches);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		rk_bytes_put_u8(out, ',');
		rk_put_number(out, cells[i], "");
	}
	rk_bytes_put_u8(out, '\n');
}

static void put_kernel(struct rk_bytes *out, const struct rk_metric_kernel *k,
		       const struct rk_list *groups)
{
	for (size_t i = 0; i < k->nmetrics; i++) {
		if (!rk_metric_shown(groups, k->metrics[i].group))
			continue;
		rk_bytes_puts(out, "kernel,");
		put_text(out, k->name);
		rk_bytes_printf(out, "%" PRIu64 ",", k->calls);
		rk_put_integer(out, k->total_ns);
		rk_bytes_put_u8(out, ',');
		put_text(out, k->verdict.name);
		put_values(out, &k->metrics[i]);
	}
}

void rk_metrics_csv(struct rk_bytes *out, const struct rk_metrics *m, const struct rk_list *groups)
{
	rk_bytes_puts(out, "of,kernel,calls,total_ns,verdict,id,group,unit,dispatches,avg,min,max,"
			   "weighted,median,peak,percent_of_peak\n");
	for (size_t i = 0; i < m->nmetrics; i++) {
		if (!rk_metric_shown(groups, m->metrics[i].group))
			continue;
		rk_bytes_printf(out, "all,,%" PRIu64 ",", m->dispatches);
		rk_put_integer(out, m->total_ns);
		rk_bytes_puts(out, ",,");
		put_values(out, &m->metrics[i]);
	}
	for (size_t i = 0; i < m->nkernels; i++)
		put_kernel(out, &m->kernels[i], groups);
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

static void put_known(struct rk_bytes *out, int64_t v)
{
	rk_bytes_put_u8(out, ',');
	if (v >= 0)
		rk_put_integer(out, v);
}

void rk_dispatches_csv_row(const struct rk_dispatch_rows *d, struct rk_bytes *out,
			   const struct rk_metric_dispatch *row)
{
	rk_csv_cell(out, row->kernel, strlen(row->kernel));
	put_known(out, row->dispatch_id);
	put_known(out, row->device_id);
	put_known(out, row->start_ns);
	put_known(out, row->duration_ns);
	for (size_t i = 0; i < d->nmetrics; i++) {
		if (!rk_metric_shown(d->groups, d->metrics[i].group))
			continue;
		rk_bytes_put_u8(out, ',');
		rk_put_number(out, row->values[i], "");
	}
	rk_bytes_put_u8(out, '\n');
}
