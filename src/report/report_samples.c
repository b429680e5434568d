/* report_samples.c - sampled power, memory and clocks, and the energy of devices and kernels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
#include "report/report_parts.h"
#include "table/table.h"

int rk_sample_stats_add(struct rk_sample_stats *s, const struct rk_batch *b, struct rk_error *err)
{
	s->keys.max = RK_SAMPLE_STATS_MAX;
	for (size_t i = 0; i < b->nrows; i++) {
		struct rk_sample_stat *v, one = { .metric = rk_batch_id(b, RK_S_METRIC, i),
						  .unit = rk_batch_id(b, RK_S_UNIT, i),
						  .node = rk_batch_id(b, RK_S_NODE, i),
						  .device = rk_batch_int(b, RK_S_DEVICE, i, -1),
						  .min = (double)INFINITY,
						  .max = -(double)INFINITY };
		struct rk_key3 key = { one.node, (int64_t)((uint64_t)one.metric << 32 | one.unit),
				       one.device };
		double value;
		uint32_t at;
		int rc;

		if (!rk_column_has(&b->cols[RK_S_TIME], i) ||
		    !rk_column_has(&b->cols[RK_S_VALUE], i))
			continue;
		value = ((const double *)b->cols[RK_S_VALUE].data)[i];
		if (!isfinite(value))
			continue;
		rc = rk_keys_number(&s->keys, key, &at, err);
		if (rc < 0)
			return rc;
		if (at >= RK_SAMPLE_STATS_MAX) {
			s->left_out++;
			continue;
		}
		if (at >= s->n) {
			v = rk_grow(s->v, &s->cap, at + 1u, sizeof(*v));
			if (!v)
				return rk_fail_nomem(err);
			s->v = v;
			s->v[at] = one;
			s->n = at + 1u;
		}
		v = &s->v[at];
		v->n++;
		v->sum += value;
		if (value < v->min)
			v->min = value;
		if (value > v->max)
			v->max = value;
	}
	return 0;
}

void rk_sample_stats_release(struct rk_sample_stats *s)
{
	rk_keys_release(&s->keys);
	rk_free(s->v);
	*s = (struct rk_sample_stats){ 0 };
}

enum {
	VALUE_COLUMNS = 12,
	GPU_COLUMNS_MAX = 40,
	ALWAYS_SHOWN = 64, /* power and memory of this many GPUs are shown whatever --top says */
};

/* Sort order: the most useful quantities first. */
static unsigned place_of(const struct rk_report_sample *s)
{
	if (!strcmp(s->metric, "power_w"))
		return 0;
	if (!strcmp(s->metric, "vram_used_bytes"))
		return 1;
	return 2;
}

static int in_order(const void *pa, const void *pb)
{
	const struct rk_report_sample *a = pa, *b = pb;
	int c = (int)place_of(a) - (int)place_of(b);

	if (!c)
		c = strcmp(a->metric, b->metric);
	if (!c)
		c = strcmp(a->node, b->node);
	if (!c)
		c = (a->device > b->device) - (a->device < b->device);
	return c ? c : strcmp(a->unit, b->unit);
}

int rk_report_samples_make(const struct rk_sample_stats *s, const struct rk_strtab *names,
			   struct rk_report_own *ret, struct rk_error *err)
{
	struct rk_report_sample *v = rk_calloc(s->n, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < s->n; i++) {
		const struct rk_sample_stat *of = &s->v[i];

		v[i] = (struct rk_report_sample){ .metric =
							  rk_strtab_borrow(names, of->metric, NULL),
						  .unit = rk_strtab_borrow(names, of->unit, NULL),
						  .node = rk_strtab_borrow(names, of->node, NULL),
						  .device = of->device,
						  .samples = of->n,
						  .mean = of->sum / (double)of->n,
						  .min = of->min,
						  .max = of->max };
		/* a counter that runs since boot has no meaningful mean */
		if (!strcmp(v[i].metric, "energy_j"))
			v[i].mean = NAN;
	}
	if (s->n)
		qsort(v, s->n, sizeof(*v), in_order);
	ret->samples = v;
	ret->nsamples = s->n;
	return 0;
}

/* `before` is the text before the value: ,"key": */
static void put_name(struct rk_bytes *out, const char *before, const char *text)
{
	rk_bytes_puts(out, before);
	rk_put_json_text(out, rk_text_or(text, NULL));
}

static void put_real(struct rk_bytes *out, const char *before, double v)
{
	rk_bytes_puts(out, before);
	rk_put_number(out, v, "null");
}

/* The number of a device; < 0: unknown. */
static void put_number(struct rk_bytes *out, const char *before, int64_t v)
{
	put_real(out, before, v < 0 ? NAN : (double)v);
}

void rk_samples_json(struct rk_bytes *out, const struct rk_report_own *own)
{
	rk_bytes_put_u8(out, '[');
	for (size_t i = 0; own && i < own->nsamples; i++) {
		const struct rk_report_sample *s = &own->samples[i];

		put_name(out, i ? ",\n  {\"metric\":" : "\n  {\"metric\":", s->metric);
		put_name(out, ",\"unit\":", s->unit);
		put_name(out, ",\"node\":", s->node);
		put_number(out, ",\"device\":", s->device);
		rk_bytes_printf(out, ",\"samples\":%" PRIu64, s->samples);
		put_real(out, ",\"mean\":", s->mean);
		put_real(out, ",\"min\":", s->min);
		put_real(out, ",\"max\":", s->max);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
}

/* The number of a GPU; < 0: unknown. */
static void put_gpu(struct rk_bytes *out, int64_t device)
{
	if (device < 0)
		rk_bytes_puts(out, "?");
	else
		rk_put_integer(out, device);
}

/* Bytes in binary units; other values in their own unit. */
static void value_cell(struct rk_page *p, double v, const char *unit)
{
	static const char *const sizes[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t at = 0;

	if (!isfinite(v)) {
		rk_bytes_puts(&p->cell, "-");
	} else if (!strcmp(unit, "B")) {
		for (; at < 4 && fabs(v) >= 1023.95; at++)
			v /= 1024;
		rk_bytes_printf(&p->cell, "%.4g %s", v, sizes[at]);
	} else if (!strcmp(unit, "J")) {
		rk_put_energy(&p->cell, v);
	} else {
		rk_bytes_printf(&p->cell, fabs(v) < 1e3 ? "%.4g" : "%.0f", v);
		if (unit[0])
			rk_bytes_put_u8(&p->cell, ' ');
		rk_put_printable(&p->cell, unit, strnlen(unit, 8), p->look->utf8);
	}
	rk_page_right(p, VALUE_COLUMNS);
}

void rk_samples_text(struct rk_page *p, const struct rk_report_own *own)
{
	size_t shown = 0, gpu = strlen("GPU"), count;
	uint64_t most = 0;

	if (own)
		shown = rk_page_shown(p, own->nsamples);
	if (!shown)
		return;
	while (shown < own->nsamples && shown < ALWAYS_SHOWN && place_of(&own->samples[shown]) < 2)
		shown++;
	for (size_t i = 0; i < shown; i++) {
		size_t n = strlen(own->samples[i].node);

		if (n)
			gpu = rk_max(gpu, n + 4);
		most = rk_max(most, own->samples[i].samples);
	}
	gpu = rk_min(gpu, GPU_COLUMNS_MAX);
	count = rk_page_count_columns(most, "Samples");

	rk_page_title(p, "Samples");
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "GPU", gpu);
	rk_page_word(p, "Samples", count);
	rk_page_word(p, "Mean", VALUE_COLUMNS);
	rk_page_word(p, "Max", VALUE_COLUMNS);
	rk_page_word(p, "Min", VALUE_COLUMNS);
	rk_page_last(p, "  Quantity");
	for (size_t i = 0; i < shown; i++) {
		const struct rk_report_sample *s = &own->samples[i];

		if (s->node[0]) {
			rk_put_printable(&p->cell, s->node, strlen(s->node), p->look->utf8);
			rk_bytes_put_u8(&p->cell, ' ');
		}
		put_gpu(&p->cell, s->device);
		rk_page_right(p, gpu);
		rk_page_count(p, s->samples, count);
		value_cell(p, s->mean, s->unit);
		value_cell(p, s->max, s->unit);
		value_cell(p, s->min, s->unit);
		rk_page_rest(p, rk_text_or(s->metric, "(no name)"),
			     gpu + count + 3 * VALUE_COLUMNS + 5 + 2);
	}
	if (shown < own->nsamples)
		rk_bytes_printf(p->out, " and %zu more\n", own->nsamples - shown);
}

static double joule(int64_t units)
{
	return (double)units / RK_ENERGY_UNITS;
}

void rk_report_energy_rows(struct rk_energy *e, const struct rk_agg_row *rows,
			   struct rk_report_section *kernels)
{
	for (size_t i = 0; e && i < kernels->nrows; i++) {
		struct rk_energy_sum s =
			rk_energy_of_group(e, rows[i].name, rows[i].keyed, rows[i].key);

		if (!s.covered_ns)
			continue;
		kernels->rows[i].energy_j = joule(s.units);
		kernels->rows[i].energy_error_j = joule(s.error);
		kernels->rows[i].energy_ns = s.covered_ns;
	}
}

int rk_report_energy_make(const struct rk_energy *e, const struct rk_strtab *names,
			  struct rk_report_energy *ret, struct rk_report_own *own,
			  struct rk_error *err)
{
	const struct rk_energy_curve *c;
	size_t n;

	if (!e)
		return 0;
	c = rk_energy_curves(e, &n);
	ret->devices = rk_calloc(n, sizeof(*ret->devices));
	own->numbers = rk_calloc(n, sizeof(*own->numbers));
	if (!ret->devices || !own->numbers)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < n; i++, c++) {
		struct rk_report_energy_device *d = &ret->devices[ret->ndevices];
		const struct rk_energy_step *s = c->steps;

		if (!c->n)
			continue;
		*d = (struct rk_report_energy_device){
			.node = rk_strtab_borrow(names, c->node, NULL),
			.device = c->device,
			.from = c->meter == RK_METER_COUNTER ? "counter" : "power",
			.samples = c->nsamples,
			.interval_ns = ((double)s[c->n].t - (double)s[0].t) / (double)c->n,
			.idle_w = NAN,
			.used = c->used,
			.joules = { .total = joule(c->total),
				    .kernels = joule(c->kernels),
				    .kernels_error = joule(c->error),
				    .idle = joule(c->total - c->kernels - c->before - c->after),
				    .before = joule(c->before),
				    .after = joule(c->after) },
		};
		if (c->idle_ns)
			d->idle_w = joule(c->idle_units) / ((double)c->idle_ns / 1e9);
		if (d->used) {
			ret->joules.total += d->joules.total;
			ret->joules.kernels += d->joules.kernels;
			ret->joules.kernels_error += d->joules.kernels_error;
			ret->joules.idle += d->joules.idle;
			ret->joules.before += d->joules.before;
			ret->joules.after += d->joules.after;
		}
		own->numbers[ret->ndevices++] = rk_energy_device_number(e, i);
	}
	return 0;
}

static void joules_json(struct rk_bytes *out, const struct rk_report_joules *v)
{
	put_real(out, "\"total_j\":", v->total);
	put_real(out, ",\"kernels_j\":", v->kernels);
	put_real(out, ",\"kernels_error_j\":", v->kernels_error);
	put_real(out, ",\"idle_j\":", v->idle);
	put_real(out, ",\"before_j\":", v->before);
	put_real(out, ",\"after_j\":", v->after);
}

static int64_t number_of(const struct rk_report_own *own, size_t device)
{
	return own && own->numbers ? own->numbers[device] : -1;
}

void rk_energy_json(struct rk_bytes *out, const struct rk_report_energy *e,
		    const struct rk_report_own *own)
{
	if (!e->ndevices) {
		rk_bytes_puts(out, "null");
		return;
	}
	rk_bytes_put_u8(out, '{');
	joules_json(out, &e->joules);
	rk_bytes_puts(out, ",\n  \"devices\":[");
	for (size_t i = 0; i < e->ndevices; i++) {
		const struct rk_report_energy_device *d = &e->devices[i];

		rk_bytes_puts(out, i ? ",\n   " : "\n   ");
		put_number(out, "{\"device\":", d->device);
		put_number(out, ",\"kernels_device\":", number_of(own, i));
		put_name(out, ",\"node\":", d->node);
		rk_bytes_printf(out, ",\"from\":\"%s\",\"samples\":%" PRIu64, d->from, d->samples);
		put_real(out, ",\"interval_ns\":", d->interval_ns);
		put_real(out, ",\"idle_w\":", d->idle_w);
		rk_bytes_printf(out, ",\"used\":%s,", d->used ? "true" : "false");
		joules_json(out, &d->joules);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_puts(out, "]}");
}

void rk_put_energy(struct rk_bytes *out, double joule)
{
	static const struct {
		const char *unit;
		double size;
	} units[] = { { "nJ", 1e-9 }, { "uJ", 1e-6 }, { "mJ", 1e-3 },
		      { "J", 1 },     { "kJ", 1e3 },  { "MJ", 1e6 } };
	int decimals = 0;
	size_t u = 0;
	double v;

	if (!isfinite(joule)) {
		rk_bytes_puts(out, "-");
		return;
	}
	if (joule == 0) {
		rk_bytes_puts(out, "0 J");
		return;
	}
	/* 999.95 would be printed as 1000, as for times */
	while (u < 5 && fabs(joule) / units[u].size >= 999.95)
		u++;
	v = joule / units[u].size;
	if (v < 9.9995)
		decimals = 3;
	else if (v < 99.995)
		decimals = 2;
	else if (v < 999.95)
		decimals = 1;
	rk_bytes_printf(out, "%.*f %s", decimals, v, units[u].unit);
}

static void put_part(struct rk_bytes *out, const char *before, double joule, const char *after)
{
	rk_bytes_puts(out, before);
	rk_put_energy(out, joule);
	rk_bytes_puts(out, after);
}

static void put_joules(struct rk_page *p, const struct rk_report_joules *j)
{
	put_part(p->out, "", j->total, " = kernels ");
	put_part(p->out, "", j->kernels, p->look->utf8 ? " ±" : " +-");
	put_part(p->out, " ", j->kernels_error, "");
	put_part(p->out, ", idle ", j->idle, "");
	put_part(p->out, ", before ", j->before, "");
	put_part(p->out, ", after ", j->after, "");
}

static void put_source(struct rk_page *p, const struct rk_report_energy_device *d)
{
	if (isfinite(d->idle_w))
		rk_bytes_printf(p->out, "; idle at %.4g W", d->idle_w);
	rk_bytes_printf(p->out, "; %s read every ", d->from);
	rk_put_duration(p->out, d->interval_ns);
}

void rk_energy_text(struct rk_page *p, const struct rk_report_energy *e,
		    const struct rk_report_own *own)
{
	if (!e->ndevices)
		return;
	rk_page_title(p, "Energy");
	rk_bytes_puts(p->out, ": ");
	put_joules(p, &e->joules);
	if (e->ndevices == 1)
		put_source(p, &e->devices[0]);
	rk_bytes_put_u8(p->out, '\n');
	for (size_t i = 0; e->ndevices > 1 && i < e->ndevices; i++) {
		const struct rk_report_energy_device *d = &e->devices[i];
		int64_t number = number_of(own, i);

		/*
		 * samples number GPUs; kernels often number CPUs along with them: "GPU 0 (device
		 * 1)"
		 */
		rk_bytes_puts(p->out, "  ");
		rk_put_printable(p->out, d->node, strlen(d->node), p->look->utf8);
		rk_bytes_puts(p->out, d->node[0] ? " GPU " : "GPU ");
		put_gpu(p->out, d->device);
		if (number >= 0)
			rk_bytes_printf(p->out, " (device %" PRId64 ")", number);
		if (d->used) {
			rk_bytes_puts(p->out, " ");
			put_joules(p, &d->joules);
		} else {
			rk_bytes_puts(p->out, " without kernels ");
			rk_put_energy(p->out, d->joules.total);
		}
		put_source(p, d);
		rk_bytes_put_u8(p->out, '\n');
	}
}
