/* report_samples.c - power, memory and clocks that were sampled: how much, and at most. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/page.h"
#include "base/text.h"
#include "report/report_parts.h"

enum {
	VALUE_COLUMNS = 12,
	GPU_COLUMNS_MAX = 40,
	ALWAYS_SHOWN = 64, /* power and memory of so many GPUs, however few rows are asked for */
};

/* What is asked for most comes first. */
static unsigned place_of(const struct rk_report_sample *s)
{
	return !strcmp(s->metric, "power_w") ? 0 : !strcmp(s->metric, "vram_used_bytes") ? 1 : 2;
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
		/* a counter that goes on since the machine was started */
		if (!strcmp(v[i].metric, "energy_j"))
			v[i].mean = NAN;
	}
	if (s->n)
		qsort(v, s->n, sizeof(*v), in_order);
	ret->samples = v;
	ret->nsamples = s->n;
	return 0;
}

static void put_text(struct rk_bytes *out, const char *before, const char *text)
{
	rk_bytes_puts(out, before);
	if (text[0])
		rk_json_string(out, text, strlen(text));
	else
		rk_bytes_puts(out, "null");
}

static void put_real(struct rk_bytes *out, const char *key, double v)
{
	rk_bytes_printf(out, ",\"%s\":", key);
	rk_put_number(out, v, "null");
}

void rk_samples_json(struct rk_bytes *out, const struct rk_report_own *own)
{
	rk_bytes_put_u8(out, '[');
	for (size_t i = 0; own && i < own->nsamples; i++) {
		const struct rk_report_sample *s = &own->samples[i];

		put_text(out, i ? ",\n  {\"metric\":" : "\n  {\"metric\":", s->metric);
		put_text(out, ",\"unit\":", s->unit);
		put_text(out, ",\"node\":", s->node);
		put_real(out, "device", s->device < 0 ? NAN : (double)s->device);
		rk_bytes_printf(out, ",\"samples\":%" PRIu64, s->samples);
		put_real(out, "mean", s->mean);
		put_real(out, "min", s->min);
		put_real(out, "max", s->max);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
}

/* Bytes in what they are bought in; all else as it was written down. */
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
		rk_bytes_puts(&p->cell, unit[0] ? " " : "");
		rk_put_printable(&p->cell, unit, strnlen(unit, 8), p->look->utf8);
	}
	rk_page_right(p, VALUE_COLUMNS);
}

static void gpu_cell(struct rk_page *p, const struct rk_report_sample *s, size_t columns)
{
	if (s->node[0]) {
		rk_put_printable(&p->cell, s->node, strlen(s->node), p->look->utf8);
		rk_bytes_put_u8(&p->cell, ' ');
	}
	if (s->device < 0)
		rk_bytes_puts(&p->cell, "?");
	else
		rk_put_integer(&p->cell, s->device);
	rk_page_right(p, columns);
}

static size_t gpu_columns(const struct rk_report_own *own, size_t shown)
{
	size_t most = strlen("GPU");

	for (size_t i = 0; i < shown; i++) {
		size_t n = strlen(own->samples[i].node);

		n = n ? n + 4 : 0;
		most = n > most ? n : most;
	}
	return most < GPU_COLUMNS_MAX ? most : GPU_COLUMNS_MAX;
}

static size_t shown_of(const struct rk_page *p, const struct rk_report_own *own)
{
	size_t always = 0, top = p->look->top;

	while (always < own->nsamples && always < ALWAYS_SHOWN &&
	       place_of(&own->samples[always]) < 2)
		always++;
	if (!top || top >= own->nsamples)
		return own->nsamples;
	return top > always ? top : always;
}

static void put_heading(struct rk_page *p, size_t gpu, size_t count)
{
	rk_page_title(p, "Samples");
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "GPU", gpu);
	rk_page_word(p, "Samples", count);
	rk_page_word(p, "Mean", VALUE_COLUMNS);
	rk_page_word(p, "Peak", VALUE_COLUMNS);
	rk_page_word(p, "Min", VALUE_COLUMNS);
	rk_bytes_puts(p->out, "  Quantity");
	rk_page_paint(p, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

void rk_samples_text(struct rk_page *p, const struct rk_report_own *own)
{
	size_t shown = own ? shown_of(p, own) : 0, gpu, count;
	uint64_t most = 0;

	if (!shown)
		return;
	for (size_t i = 0; i < shown; i++)
		most = own->samples[i].samples > most ? own->samples[i].samples : most;
	gpu = gpu_columns(own, shown);
	count = rk_page_count_columns(most, "Samples");
	put_heading(p, gpu, count);
	for (size_t i = 0; i < shown; i++) {
		const struct rk_report_sample *s = &own->samples[i];

		gpu_cell(p, s, gpu);
		rk_page_count(p, s->samples, count);
		value_cell(p, s->mean, s->unit);
		value_cell(p, s->max, s->unit);
		value_cell(p, s->min, s->unit);
		rk_page_rest(p, s->metric[0] ? s->metric : "(no name)",
			     gpu + count + 3 * VALUE_COLUMNS + 5 + 2);
	}
	if (shown < own->nsamples)
		rk_bytes_printf(p->out, " and %zu more\n", own->nsamples - shown);
}
