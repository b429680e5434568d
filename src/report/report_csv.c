/* report_csv.c - one section of a report as CSV: the kernels, or what a statistics file is about. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/report_parts.h"

static void put_text(struct rk_bytes *out, const char *s)
{
	rk_csv_cell(out, s, strlen(s));
}

static void put_known(struct rk_bytes *out, int64_t v, bool known)
{
	rk_bytes_put_u8(out, ',');
	if (known)
		rk_put_integer(out, v);
}

static void put_double(struct rk_bytes *out, double v)
{
	rk_bytes_put_u8(out, ',');
	rk_put_number(out, v, "");
}

static void put_row(struct rk_bytes *out, const struct rk_report_row *row, bool by, bool energy)
{
	put_text(out, row->name);
	if (by)
		rk_bytes_printf(out, ",%s", row->key);
	rk_bytes_printf(out, ",%" PRIu64, row->calls);
	put_known(out, row->total_ns, row->timed);
	put_double(out, row->mean_ns);
	put_known(out, row->min_ns, row->min_ns >= 0);
	put_known(out, row->max_ns, row->max_ns >= 0);
	put_double(out, row->median_ns);
	rk_bytes_puts(out, !isfinite(row->median_ns) ? "," :
			   row->median_exact         ? ",true" :
						       ",false");
	put_double(out, row->stddev_ns);
	put_double(out, row->percent);
	rk_bytes_puts(out, row->barrier ? ",true" : ",false");
	if (energy) {
		put_double(out, row->energy_j);
		put_double(out, row->energy_error_j);
	}
	rk_bytes_put_u8(out, '\n');
}

void rk_report_csv(struct rk_bytes *out, const struct rk_report *r)
{
	const struct rk_report_section *sec = &r->kernels;
	bool energy = sec->nrows && r->energy.ndevices;

	if (!sec->nrows && r->stats_of)
		sec = rk_report_section(r, rk_section_of_stats(r->stats_of));
	rk_bytes_printf(out,
			"name%s%s,calls,total_ns,mean_ns,min_ns,max_ns,median_ns,median_exact,"
			"stddev_ns,percent,barrier%s\n",
			r->by ? "," : "", r->by ? r->by : "",
			energy ? ",energy_j,energy_error_j" : "");
	for (size_t i = 0; i < sec->nrows; i++)
		put_row(out, &sec->rows[i], r->by != NULL, energy);
}
