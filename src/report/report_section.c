/* report_section.c - groups of rows as sections of a report. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "report/report_parts.h"

static const struct {
	const char *key, *title, *stats_of;
	size_t offset;
} sections[RK_NSECTIONS] = {
	[RK_SECTION_KERNELS] = { "kernels", "Kernels", "kernel",
				 offsetof(struct rk_report, kernels) },
	[RK_SECTION_COPIES] = { "copies", "Copies", "copy", offsetof(struct rk_report, copies) },
	[RK_SECTION_API] = { "api", "API calls", "api", offsetof(struct rk_report, api) },
	[RK_SECTION_MARKERS] = { "markers", "Markers", "", offsetof(struct rk_report, markers) },
	[RK_SECTION_MEMORY] = { "memory", "Memory operations", "",
				offsetof(struct rk_report, memory) },
	[RK_SECTION_DOMAINS] = { "domains", "Domains", "domain",
				 offsetof(struct rk_report, domains) },
};

const char *rk_section_key(enum rk_section s)
{
	return sections[s].key;
}

const char *rk_section_title(enum rk_section s)
{
	return sections[s].title;
}

struct rk_report_section *rk_report_section(const struct rk_report *r, enum rk_section s)
{
	return (struct rk_report_section *)((uintptr_t)r + sections[s].offset);
}

enum rk_section rk_section_of_stats(const char *of)
{
	for (unsigned s = 0; s < RK_NSECTIONS; s++)
		if (strcmp(sections[s].stats_of, of) == 0)
			return (enum rk_section)s;
	return RK_SECTION_API; /* markers, allocations: calls as well */
}

static void row_fill(struct rk_report_row *to, const struct rk_agg_row *from,
		     const struct rk_strtab *names)
{
	*to = (struct rk_report_row){
		.name = rk_strtab_borrow(names, from->name, NULL),
		.calls = from->calls,
		.total_ns = from->total_ns,
		.min_ns = from->min_ns,
		.max_ns = from->max_ns,
		.mean_ns = from->mean_ns,
		.median_ns = from->median_ns,
		.stddev_ns = from->stddev_ns,
		.timed = from->timed != 0,
		.median_exact = from->median_exact,
		.barrier = from->barrier,
		.energy_j = NAN,
		.energy_error_j = NAN,
	};
	if (from->keyed)
		to->key[rk_num_put_i64(to->key, from->key)] = '\0';
}

/* Totals are far below 2^63 in honest input; a sum past it stops there. */
static int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int rk_section_make(const struct rk_agg_row *rows, size_t n, const struct rk_strtab *names,
		    struct rk_report_section *ret, struct rk_error *err)
{
	struct rk_report_row *to = rk_calloc(n, sizeof(*to));

	if (!to)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		row_fill(&to[i], &rows[i], names);
		ret->calls += rows[i].calls;
		if (!rows[i].barrier)
			ret->total_ns = add_saturated(ret->total_ns, rows[i].total_ns);
	}
	for (size_t i = 0; i < n; i++) {
		double whole = (double)ret->total_ns;

		if (to[i].barrier)
			to[i].percent = 0;
		else
			to[i].percent = !to[i].timed ? NAN :
					whole > 0    ? 100 * (double)to[i].total_ns / whole :
						       0;
	}
	ret->rows = to;
	ret->nrows = n;
	return 0;
}
