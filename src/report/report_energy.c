/* report_energy.c - what the devices drew, and what of it is the kernels'. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/page.h"
#include "base/text.h"
#include "report/report_parts.h"

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

static void device_fill(struct rk_report_energy_device *to, const struct rk_energy_curve *c,
			const struct rk_strtab *names)
{
	const struct rk_energy_step *s = c->steps;

	*to = (struct rk_report_energy_device){
		.node = rk_strtab_borrow(names, c->node, NULL),
		.device = c->device,
		.from = c->meter == RK_METER_COUNTER ? "counter" : "power",
		.samples = c->nsamples,
		.interval_ns = ((double)s[c->n].t - (double)s[0].t) / (double)c->n,
		.idle_w = c->idle_ns ? joule(c->idle_units) / ((double)c->idle_ns / 1e9) : NAN,
		.used = c->used,
		.joules = { .total = joule(c->total),
			    .kernels = joule(c->kernels),
			    .kernels_error = joule(c->error),
			    .idle = joule(c->total - c->kernels - c->before - c->after),
			    .before = joule(c->before),
			    .after = joule(c->after) },
	};
}

static void add(struct rk_report_joules *sum, const struct rk_report_joules *j)
{
	sum->total += j->total;
	sum->kernels += j->kernels;
	sum->kernels_error += j->kernels_error;
	sum->idle += j->idle;
	sum->before += j->before;
	sum->after += j->after;
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
	for (size_t i = 0; i < n; i++) {
		struct rk_report_energy_device *d = &ret->devices[ret->ndevices];

		if (!c[i].n)
			continue;
		device_fill(d, &c[i], names);
		if (d->used)
			add(&ret->joules, &d->joules);
		own->numbers[ret->ndevices++] = rk_energy_device_number(e, i);
	}
	return 0;
}

double rk_energy_per_call(const struct rk_report_row *row)
{
	double measured = (double)row->energy_ns / row->mean_ns; /* calls */

	return measured > 0 ? row->energy_j / measured : NAN;
}

static void put_real(struct rk_bytes *out, const char *key, double v)
{
	rk_bytes_printf(out, "\"%s\":", key);
	rk_put_number(out, v, "null");
}

static void joules_json(struct rk_bytes *out, const struct rk_report_joules *v)
{
	const struct {
		const char *key;
		double v;
	} parts[] = { { "total_j", v->total },
		      { "kernels_j", v->kernels },
		      { "kernels_error_j", v->kernels_error },
		      { "idle_j", v->idle },
		      { "before_j", v->before },
		      { "after_j", v->after } };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (i)
			rk_bytes_put_u8(out, ',');
		put_real(out, parts[i].key, parts[i].v);
	}
}

static void device_json(struct rk_bytes *out, const struct rk_report_energy_device *d,
			int64_t number)
{
	rk_bytes_put_u8(out, '{');
	put_real(out, "device", d->device < 0 ? NAN : (double)d->device);
	rk_bytes_put_u8(out, ',');
	put_real(out, "kernels_device", number < 0 ? NAN : (double)number);
	rk_bytes_puts(out, ",\"node\":");
	if (d->node[0])
		rk_json_string(out, d->node, strlen(d->node));
	else
		rk_bytes_puts(out, "null");
	rk_bytes_printf(out, ",\"from\":\"%s\",\"samples\":%" PRIu64 ",", d->from, d->samples);
	put_real(out, "interval_ns", d->interval_ns);
	rk_bytes_put_u8(out, ',');
	put_real(out, "idle_w", d->idle_w);
	rk_bytes_printf(out, ",\"used\":%s,", d->used ? "true" : "false");
	joules_json(out, &d->joules);
	rk_bytes_put_u8(out, '}');
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
		rk_bytes_puts(out, i ? ",\n   " : "\n   ");
		device_json(out, &e->devices[i], number_of(own, i));
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
	/* as with times: 999.95 would be written as 1000 */
	while (u < 5 && fabs(joule) / units[u].size >= 999.95)
		u++;
	v = joule / units[u].size;
	rk_bytes_printf(out, "%.*f %s",
			v < 9.9995 ? 3 :
			v < 99.995 ? 2 :
			v < 999.95 ? 1 :
				     0,
			v, units[u].unit);
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

/* Samples count GPUs; kernels often count CPUs along with them: "GPU 0 (device 1)". */
static void put_name(struct rk_page *p, const struct rk_report_energy_device *d, int64_t number)
{
	rk_bytes_puts(p->out, "  ");
	rk_put_printable(p->out, d->node, strlen(d->node), p->look->utf8);
	rk_bytes_printf(p->out, "%sGPU ", d->node[0] ? " " : "");
	if (d->device < 0)
		rk_bytes_puts(p->out, "?");
	else
		rk_put_integer(p->out, d->device);
	if (number >= 0)
		rk_bytes_printf(p->out, " (device %" PRId64 ")", number);
	rk_bytes_puts(p->out, d->used ? " " : " without kernels ");
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
		put_name(p, &e->devices[i], number_of(own, i));
		if (e->devices[i].used)
			put_joules(p, &e->devices[i].joules);
		else
			rk_put_energy(p->out, e->devices[i].joules.total);
		put_source(p, &e->devices[i]);
		rk_bytes_put_u8(p->out, '\n');
	}
}
