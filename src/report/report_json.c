/* report_json.c - a report as JSON, schema 1: one line per row. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "ranks/ranks_parts.h"
#include "report/hotspots_parts.h"
#include "report/report_parts.h"

static void put_text(struct rk_bytes *out, const char *s)
{
	if (s)
		rk_json_string(out, s, strlen(s));
	else
		rk_bytes_puts(out, "null");
}

static void key(struct rk_bytes *out, const char *name)
{
	rk_bytes_printf(out, ",\"%s\":", name);
}

static void put_if(struct rk_bytes *out, const char *name, int64_t v, bool known)
{
	key(out, name);
	if (known)
		rk_put_integer(out, v);
	else
		rk_bytes_puts(out, "null");
}

static void put_double(struct rk_bytes *out, const char *name, double v)
{
	key(out, name);
	rk_put_number(out, v, "null");
}

static void put_bool(struct rk_bytes *out, const char *name, bool v)
{
	key(out, name);
	rk_bytes_puts(out, v ? "true" : "false");
}

static void put_row(struct rk_bytes *out, const struct rk_report_row *row, const char *by,
		    bool energy)
{
	rk_bytes_puts(out, "{\"name\":");
	put_text(out, row->name);
	if (by) {
		key(out, by);
		rk_bytes_puts(out, row->key[0] ? row->key : "null");
	}
	rk_bytes_printf(out, ",\"calls\":%" PRIu64, row->calls);
	put_if(out, "total_ns", row->total_ns, row->timed);
	put_double(out, "mean_ns", row->mean_ns);
	put_if(out, "min_ns", row->min_ns, row->min_ns >= 0);
	put_if(out, "max_ns", row->max_ns, row->max_ns >= 0);
	put_double(out, "median_ns", row->median_ns);
	if (isfinite(row->median_ns))
		put_bool(out, "median_exact", row->median_exact);
	else
		rk_bytes_puts(out, ",\"median_exact\":null");
	put_double(out, "stddev_ns", row->stddev_ns);
	put_double(out, "percent", row->percent);
	put_bool(out, "barrier", row->barrier);
	if (energy) {
		put_double(out, "energy_j", row->energy_j);
		put_double(out, "energy_error_j", row->energy_error_j);
		put_if(out, "energy_ns", row->energy_ns, isfinite(row->energy_j));
	}
	rk_bytes_put_u8(out, '}');
}

/* Between the members of an array, each on its own line. */
static void next_line(struct rk_bytes *out, size_t i)
{
	rk_bytes_puts(out, i ? ",\n  " : "\n  ");
}

static void put_sections(struct rk_bytes *out, const struct rk_report *r)
{
	for (unsigned s = 0; s < RK_NSECTIONS; s++) {
		const struct rk_report_section *sec = rk_report_section(r, (enum rk_section)s);

		rk_bytes_printf(out, ",\n \"%s\":[", rk_section_key((enum rk_section)s));
		for (size_t i = 0; i < sec->nrows; i++) {
			next_line(out, i);
			put_row(out, &sec->rows[i], r->by,
				s == RK_SECTION_KERNELS && r->energy.ndevices);
		}
		rk_bytes_put_u8(out, ']');
	}
}

static void put_counters(struct rk_bytes *out, const struct rk_report *r)
{
	rk_bytes_puts(out, ",\n \"counters\":[");
	for (size_t i = 0; i < r->ncounters; i++) {
		const struct rk_report_counter *c = &r->counters[i];

		next_line(out, i);
		rk_bytes_puts(out, "{\"name\":");
		put_text(out, c->name);
		rk_bytes_printf(out, ",\"rows\":%" PRIu64, c->rows);
		put_double(out, "sum", c->sum);
		put_double(out, "min", c->min);
		put_double(out, "max", c->max);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
}

static void put_files(struct rk_bytes *out, const struct rk_report *r)
{
	rk_bytes_puts(out, ",\n \"files\":[");
	for (size_t i = 0; i < r->nfiles; i++) {
		next_line(out, i);
		rk_bytes_puts(out, "{\"path\":");
		put_text(out, r->files[i].path);
		key(out, "format");
		put_text(out, r->files[i].format[0] ? r->files[i].format : NULL);
		put_bool(out, "used", r->files[i].used);
		key(out, "reason");
		put_text(out, r->files[i].reason[0] ? r->files[i].reason : NULL);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
}

void rk_report_json(struct rk_bytes *out, const struct rk_report *r)
{
	rk_bytes_printf(out, "{\"schema\":1,\n \"kernel_rows\":%" PRIu64, r->kernel_rows);
	put_if(out, "sum_duration_ns", r->sum_duration_ns, true);
	put_if(out, "min_start_ns", r->min_start_ns, r->timed);
	put_if(out, "max_end_ns", r->max_end_ns, r->timed);
	rk_bytes_puts(out, ",\n \"tables\":{");
	for (size_t i = 0; i < r->ntables; i++)
		rk_bytes_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "", r->tables[i].name,
				r->tables[i].rows);
	rk_bytes_puts(out, "},\n \"stats_of\":");
	put_text(out, r->stats_of);
	key(out, "by");
	put_text(out, r->by);
	put_double(out, "median_error", r->median_error);
	put_sections(out, r);
	put_counters(out, r);
	rk_bytes_puts(out, ",\n \"energy\":");
	rk_energy_json(out, &r->energy, r->kept);
	rk_bytes_puts(out, ",\n \"samples\":");
	rk_samples_json(out, r->kept);
	rk_bytes_puts(out, ",\n \"hotspots\":");
	rk_hotspots_json_array(out, r->hotspots);
	if (r->ranks) {
		rk_bytes_puts(out, ",\n \"ranks\":");
		rk_ranks_json(out, r->ranks);
	}
	put_files(out, r);
	rk_warnings_json(out, r->warnings, r->nwarnings);
	rk_bytes_puts(out, "\n}\n");
}
