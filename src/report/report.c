/* report.c - make a report from the tables of a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "io/output.h"
#include "ranks/gather.h"
#include "read/reader.h"
#include "report/report_parts.h"
#include "rockit/hotspots.h"
#include "rockit/ranks.h"
#include "run/energy.h"
#include "table/aggregate.h"
#include "table/stages.h"

/* Time since base_ns on the clock of the reference. */
static double on_reference(const struct rk_ranks *r, const struct rk_ranks_rank *k,
			   int64_t local_ns)
{
	int64_t base; /* on the clock of the rank */

	if (!rk_add_i64(r->base_ns, k->offset_ns, &base))
		base = local_ns;
	return rk_apart(base, local_ns) / (1 + k->drift_ppm * 1e-6);
}

/* Covers ranks whose clocks are aligned; exact for a single rank. */
double rk_report_span_ns(const struct rk_report *r)
{
	double first = 0, last = 0, span = rk_apart(r->min_start_ns, r->max_end_ns);
	bool moved = false, any = false;

	for (size_t i = 0; r->ranks && i < r->ranks->nranks; i++) {
		const struct rk_ranks_rank *k = &r->ranks->ranks[i];
		double from = on_reference(r->ranks, k, k->first_ns);
		double to = on_reference(r->ranks, k, k->last_ns);

		moved |= k->clock != RK_CLOCK_SAME;
		if (!k->kernels || k->clock == RK_CLOCK_ALONE)
			continue;
		if (!any || from < first)
			first = from;
		if (!any || to > last)
			last = to;
		any = true;
	}
	return moved && any ? last - first : span;
}

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
	[RK_SECTION_LIBRARIES] = { "libraries", "Library calls", "",
				   offsetof(struct rk_report, libraries) },
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
	return RK_SECTION_API; /* markers and allocations are calls too */
}

int rk_section_make(const struct rk_agg_row *rows, size_t n, const struct rk_strtab *names,
		    struct rk_report_section *ret, struct rk_error *err)
{
	struct rk_report_row *to = rk_calloc(n, sizeof(*to));

	if (!to)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct rk_agg_row *from = &rows[i];

		to[i] = (struct rk_report_row){
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
			to[i].key[rk_num_put_i64(to[i].key, from->key)] = '\0';
		ret->calls += from->calls;
		if (!from->barrier)
			ret->total_ns = rk_add_saturated(ret->total_ns, from->total_ns);
	}
	for (size_t i = 0; i < n; i++) {
		double whole = (double)ret->total_ns;

		if (!to[i].barrier && !to[i].timed)
			to[i].percent = NAN;
		else if (!to[i].barrier && whole > 0)
			to[i].percent = 100 * (double)to[i].total_ns / whole;
	}
	ret->rows = to;
	ret->nrows = n;
	return 0;
}

enum by { BY_NOTHING, BY_DEVICE, BY_PROCESS, BY_STREAM, BY_RANK, NBY };

static const char *const by_names[NBY] = { "", "device", "process", "stream", "rank" };

/* The tables whose rows are added up by name. A copy belongs to its destination device. */
static const struct plan {
	enum rk_table table;
	enum rk_section section;
	int name, start, duration, barrier;
	int key[NBY];
} plans[] = {
	{ RK_KERNELS,
	  RK_SECTION_KERNELS,
	  RK_K_NAME,
	  RK_K_START,
	  RK_K_DURATION,
	  RK_K_BARRIER,
	  { -1, RK_K_DEVICE, RK_K_PID, RK_K_STREAM, RK_K_RANK } },
	{ RK_MEMCPY,
	  RK_SECTION_COPIES,
	  RK_C_DIRECTION,
	  RK_C_START,
	  RK_C_DURATION,
	  -1,
	  { -1, RK_C_DST, RK_C_PID, RK_C_STREAM, RK_C_RANK } },
	{ RK_API,
	  RK_SECTION_API,
	  RK_A_FUNCTION,
	  RK_A_START,
	  RK_A_DURATION,
	  -1,
	  { -1, -1, RK_A_PID, -1, RK_A_RANK } },
	{ RK_MARKERS,
	  RK_SECTION_MARKERS,
	  RK_R_NAME,
	  RK_R_START,
	  RK_R_DURATION,
	  -1,
	  { -1, -1, RK_R_PID, -1, RK_R_RANK } },
	{ RK_MEMALLOC,
	  RK_SECTION_MEMORY,
	  RK_M_OPERATION,
	  RK_M_START,
	  RK_M_DURATION,
	  -1,
	  { -1, RK_M_DEVICE, RK_M_PID, -1, RK_M_RANK } },
};

enum { NPLANS = sizeof(plans) / sizeof(plans[0]) };

static const int stats_key[NBY] = { -1, -1, RK_T_PID, -1, RK_T_RANK };

struct work {
	struct rk_run *run;
	struct rk_context *ctx;
	enum by by;
	struct rk_agg *aggs[RK_NSECTIONS];
	uint64_t rows[RK_NTABLES];
	uint64_t stats_rows[RK_NSECTIONS], stats_calls[RK_NSECTIONS];
	struct rk_agg_counter *counters;
	struct rk_energy *energy; /* energy of the kernels; NULL: none */
	struct rk_sample_stats samples;
	struct rk_report_own *own; /* r->kept */
	struct rk_gather *gather;  /* NULL: fewer than two ranks */
	struct rk_report *r;
};

static uint64_t bit(int field)
{
	return field < 0 ? 0 : UINT64_C(1) << field;
}

static int add_table(struct work *w, const struct plan *p, struct rk_error *err)
{
	uint64_t want = bit(p->name) | bit(p->start) | bit(p->duration) | bit(p->barrier) |
			bit(p->key[w->by]) | rk_times_needs(p->table);
	struct rk_source *src;
	int rc;

	if (w->gather)
		want |= rk_gather_wants(p->table);
	if ((rc = rk_run_scan_timed(w->run, p->table, want, &src, err)) < 0 ||
	    (rc = rk_times_open(src, w->ctx, &src, err)) < 0)
		return rc;
	if (w->gather && (rc = rk_gather_tap(w->gather, &src, err)) < 0)
		return rc;
	rc = rk_agg_drain(w->aggs[p->section], src, err);
	rk_source_close(src);
	w->rows[p->table] = rk_agg_rows(w->aggs[p->section]) - w->stats_rows[p->section];
	return rc;
}

static int add_stats_row(struct work *w, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	const struct rk_strtab *names = w->ctx->names;
	enum rk_section s =
		rk_section_of_stats(rk_strtab_borrow(names, rk_batch_id(b, RK_T_OF, row), NULL));
	const struct rk_column *stddev = &b->cols[RK_T_STDDEV];
	struct rk_agg_line line = {
		.name = rk_batch_id(b, RK_T_NAME, row),
		.calls = (uint64_t)rk_max_i64(rk_batch_int(b, RK_T_CALLS, row, 0), 0),
		.total_ns = rk_max_i64(rk_batch_int(b, RK_T_TOTAL, row, 0), 0),
		.min_ns = rk_batch_int(b, RK_T_MIN, row, -1),
		.max_ns = rk_batch_int(b, RK_T_MAX, row, -1),
		.stddev_ns = rk_column_has(stddev, row) ? ((const double *)stddev->data)[row] : NAN,
	};

	if (stats_key[w->by] >= 0) {
		line.keyed = rk_column_has(&b->cols[stats_key[w->by]], row);
		line.key = rk_batch_int(b, (unsigned)stats_key[w->by], row, 0);
	}
	line.barrier = strcmp(rk_strtab_borrow(names, line.name, NULL), "<barrier packet>") == 0;
	/* rocprofv3 keeps the square of the total in 64 bits, which may overflow */
	if (line.calls > 1 && line.total_ns > UINT32_MAX && isfinite(line.stddev_ns)) {
		line.stddev_ns = NAN;
		rk_diag_add(w->ctx->diag, "stats-stddev-wrapped", "", 0, 1,
			    "standard deviations in the statistics file are wrong where the "
			    "total is above 4294967295 ns; they are left out");
	}
	w->stats_rows[s]++;
	w->stats_calls[s] += line.calls;
	return rk_agg_add_line(w->aggs[s], &line, err);
}

static int add_stats(struct work *w, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *src = NULL;
	int rc = rk_run_scan(w->run, RK_STATS, RK_WANT_ALL, &src, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(src, &b, err)) > 0) {
		for (size_t i = 0; i < b->nrows && rc >= 0; i++)
			rc = add_stats_row(w, b, i, err);
		if (rc < 0)
			break;
		w->rows[RK_STATS] += b->nrows;
	}
	rk_source_close(src);
	return rc;
}

/* "rocblas rocblas_sgemm transA N ..."; beyond LIBRARY_NAMES different calls only the function. */
static int library_name(struct work *w, const struct rk_batch *b, size_t row, uint32_t *ret,
			struct rk_error *err)
{
	enum { LIBRARY_NAMES = 10000, NAME_BYTES = 4096 };
	static const unsigned parts[] = { RK_L_LIBRARY, RK_L_FUNCTION, RK_L_CONFIG };
	size_t n = w->rows[RK_LIBRARY_CALLS] + row < LIBRARY_NAMES ? 3 : 2;
	char name[NAME_BYTES] = "";
	size_t len = 0;

	for (size_t i = 0; i < n && len < sizeof(name); i++) {
		const char *text =
			rk_strtab_borrow(w->ctx->names, rk_batch_id(b, parts[i], row), NULL);

		if (text[0])
			len += (size_t)snprintf(name + len, sizeof(name) - len, "%s%s",
						len ? " " : "", text);
	}
	return rk_strtab_add(w->ctx->names, name, strlen(name), ret, err);
}

static int add_libraries(struct work *w, struct rk_error *err)
{
	static const int keys[NBY] = { -1, -1, RK_L_PID, -1, RK_L_RANK };
	int key = keys[w->by];
	const struct rk_batch *b;
	struct rk_source *src = NULL;
	int rc = rk_run_scan(w->run, RK_LIBRARY_CALLS, RK_WANT_ALL, &src, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(src, &b, err)) > 0) {
		for (size_t i = 0; i < b->nrows && rc >= 0; i++) {
			struct rk_agg_line line = {
				.calls = (uint64_t)rk_max_i64(rk_batch_int(b, RK_L_CALLS, i, 0), 0),
				.total_ns = rk_batch_int(b, RK_L_TOTAL, i, -1),
				.min_ns = -1,
				.max_ns = -1,
				.stddev_ns = NAN,
			};

			if (key >= 0) {
				line.keyed = rk_column_has(&b->cols[key], i);
				line.key = rk_batch_int(b, (unsigned)key, i, 0);
			}
			rc = library_name(w, b, i, &line.name, err);
			if (rc >= 0)
				rc = rk_agg_add_line(w->aggs[RK_SECTION_LIBRARIES], &line, err);
		}
		if (rc < 0)
			break;
		w->rows[RK_LIBRARY_CALLS] += b->nrows;
	}
	rk_source_close(src);
	return rc;
}

/* Few libraries log times, so their calls are ordered by number where the times are equal. */
static int by_calls(const void *a, const void *b)
{
	const struct rk_report_row *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int count_rows(struct work *w, enum rk_table t, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *src = NULL;
	int rc = rk_run_scan(w->run, t, 0, &src, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(src, &b, err)) > 0)
		w->rows[t] += b->nrows;
	rk_source_close(src);
	return rc;
}

static int add_samples(struct work *w, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *src = NULL;
	int rc = rk_run_scan(w->run, RK_SAMPLES, RK_WANT_ALL, &src, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(src, &b, err)) > 0) {
		w->rows[RK_SAMPLES] += b->nrows;
		rc = rk_sample_stats_add(&w->samples, b, err);
		if (rc < 0)
			break;
	}
	rk_source_close(src);
	if (w->samples.left_out)
		rk_diag_add(w->ctx->diag, "samples-not-shown", "", 0, w->samples.left_out,
			    "more than %d sampled quantities; the rest is not in the report",
			    RK_SAMPLE_STATS_MAX);
	if (rc < 0)
		return rc;
	return rk_report_samples_make(&w->samples, w->ctx->names, w->own, err);
}

/* Finishes a section: makes its rows and frees the aggregate. */
static int make_section(struct work *w, enum rk_section s, struct rk_error *err)
{
	struct rk_report *r = w->r;
	struct rk_agg_row *rows = NULL;
	struct rk_agg_span span;
	size_t n = 0;
	int rc;

	rc = rk_agg_finish(w->aggs[s], &rows, &n, err);
	if (rc < 0)
		return rc;
	rc = rk_section_make(rows, n, w->ctx->names, rk_report_section(r, s), err);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		if (isfinite(rows[i].median_ns) && !rows[i].median_exact)
			r->median_error = RK_MEDIAN_ERROR;
	if (s == RK_SECTION_KERNELS)
		rk_report_energy_rows(w->energy, rows, &r->kernels);
	span = rk_agg_span(w->aggs[s]);
	if (span.known && (s == RK_SECTION_KERNELS || !w->rows[RK_KERNELS])) {
		if (!r->timed || span.start_ns < r->min_start_ns)
			r->min_start_ns = span.start_ns;
		if (!r->timed || span.end_ns > r->max_end_ns)
			r->max_end_ns = span.end_ns;
		r->timed = true;
	}
	rk_agg_free(w->aggs[s]);
	w->aggs[s] = NULL;
out:
	rk_free(rows);
	return rc;
}

static int by_counter_name(const void *a, const void *b)
{
	const struct rk_report_counter *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* The program whose passes the last rows are from. */
static int64_t program_of(void *run)
{
	const struct rk_run *r = run;

	return (int64_t)r->found[r->scanned].program_hash;
}

static int make_counters(struct work *w, bool any, struct rk_error *err)
{
	struct rk_report *r = w->r;
	struct rk_source *src = NULL;
	size_t n = 0;
	int rc;

	if (any) {
		rc = rk_run_scan(w->run, RK_COUNTERS,
				 bit(RK_N_COUNTER) | bit(RK_N_VALUE) | bit(RK_N_PASS), &src, err);
		if (rc < 0)
			return rc;
		rc = rk_agg_counters(src, program_of, w->run, &w->counters, &n,
				     &w->rows[RK_COUNTERS], err);
		rk_source_close(src);
		if (rc < 0)
			return rc;
	}
	r->counters = rk_calloc(n, sizeof(*r->counters));
	if (!r->counters)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct rk_agg_counter *c = &w->counters[i];

		r->counters[i].name = rk_strtab_borrow(w->ctx->names, c->name, NULL);
		r->counters[i].rows = c->rows;
		r->counters[i].sum = c->sum;
		r->counters[i].min = c->min;
		r->counters[i].max = c->max;
	}
	r->ncounters = n;
	qsort(r->counters, n, sizeof(*r->counters), by_counter_name);
	return 0;
}

/* The totals at the top: of the kernels, or of the statistics if there are no kernels. */
static void make_totals(struct work *w)
{
	struct rk_report *r = w->r;
	enum rk_section s = RK_SECTION_KERNELS;
	const struct rk_report_section *sec;

	r->kernel_rows = w->rows[RK_KERNELS];
	if (!r->kernel_rows) {
		if (r->stats_of)
			s = rk_section_of_stats(r->stats_of);
		r->kernel_rows = w->stats_calls[s];
	}
	sec = rk_report_section(r, s);
	for (size_t i = 0; i < sec->nrows; i++)
		r->sum_duration_ns = rk_add_saturated(r->sum_duration_ns, sec->rows[i].total_ns);
}

/* Makes one section after the other, so that only one holds its durations in memory. */
static int make_sections(struct work *w, uint32_t tables, struct rk_error *err)
{
	int key = w->by ? plans[0].key[w->by] : RK_AGG_NO_KEY, rc;

	if ((rc = rk_run_energy(w->run, key, &w->energy, err)) < 0 ||
	    (rc = rk_report_energy_make(w->energy, w->ctx->names, &w->r->energy, w->own, err)) < 0)
		return rc;
	for (unsigned s = 0; s < RK_NSECTIONS; s++) {
		struct rk_agg_fields f = { -1, -1, -1, -1, -1 };

		for (size_t i = 0; i < NPLANS; i++) {
			const struct plan *p = &plans[i];

			if (p->section == s)
				f = (struct rk_agg_fields){ p->name, p->start, p->duration,
							    p->key[w->by], p->barrier };
		}
		/* statistics may have a key even if the rows of the table do not */
		if (w->by && f.key < 0)
			f.key = RK_AGG_ABSENT_KEY;
		rc = rk_agg_new(&f, w->ctx, &w->aggs[s], err);
		if (rc < 0)
			return rc;
	}
	if (tables & RK_TABLE_BIT(RK_STATS) && (rc = add_stats(w, err)) < 0)
		return rc;
	for (size_t i = 0; i < NPLANS; i++) {
		if (tables & RK_TABLE_BIT(plans[i].table) &&
		    (rc = add_table(w, &plans[i], err)) < 0)
			return rc;
		rc = make_section(w, plans[i].section, err);
		if (rc < 0)
			return rc;
	}
	if (tables & RK_TABLE_BIT(RK_LIBRARY_CALLS) && (rc = add_libraries(w, err)) < 0)
		return rc;
	rc = make_section(w, RK_SECTION_LIBRARIES, err);
	if (rc < 0)
		return rc;
	if (w->r->libraries.nrows)
		qsort(w->r->libraries.rows, w->r->libraries.nrows, sizeof(*w->r->libraries.rows),
		      by_calls);
	return make_section(w, RK_SECTION_DOMAINS, err);
}

static int report_make(struct work *w, struct rk_error *err)
{
	uint32_t tables = rk_run_tables(w->run);
	uint32_t seen = RK_TABLE_BIT(RK_STATS) | RK_TABLE_BIT(RK_COUNTERS) |
			RK_TABLE_BIT(RK_SAMPLES) | RK_TABLE_BIT(RK_LIBRARY_CALLS);
	struct rk_run *run = w->run;
	struct rk_report *r = w->r;
	uint64_t rows = 0;
	int rc;

	rc = rk_gather_new(run, &w->gather, err);
	if (rc < 0)
		return rc;
	if (!w->gather &&
	    ((rc = rk_run_check_clocks(run, err)) < 0 || (rc = rk_run_warn_ranks(run, err)) < 0))
		return rc;
	rc = make_sections(w, tables, err);
	if (rc < 0)
		return rc;
	if (w->gather && (rc = rk_gather_finish(w->gather, &r->ranks, err)) < 0)
		return rc;
	rc = make_counters(w, tables & RK_TABLE_BIT(RK_COUNTERS), err);
	if (rc < 0)
		return rc;
	if (tables & RK_TABLE_BIT(RK_SAMPLES) && (rc = add_samples(w, err)) < 0)
		return rc;
	for (size_t i = 0; i < NPLANS; i++)
		seen |= RK_TABLE_BIT(plans[i].table);
	for (unsigned t = 0; t < RK_NTABLES; t++)
		if (tables & ~seen & RK_TABLE_BIT(t) &&
		    (rc = count_rows(w, (enum rk_table)t, err)) < 0)
			return rc;
	if (tables & (RK_TABLE_BIT(RK_PC_SAMPLES) | RK_TABLE_BIT(RK_INSTRUCTIONS)) &&
	    rk_run_rescannable(run, RK_PC_SAMPLES) && rk_run_rescannable(run, RK_INSTRUCTIONS)) {
		rk_diag_again(w->ctx->diag); /* its rows were already counted */
		rc = rk_run_hotspots(run, &r->hotspots, err);
		if (rc < 0)
			return rc;
	}

	/* the run.json of an empty run may give the reason */
	for (unsigned t = 0; t < RK_NTABLES; t++)
		rows += w->rows[t];
	for (size_t i = 0; !rows && i < run->records.n; i++) {
		const char *why = run->records.v[i].text[RK_REC_WARNING];

		if (why[0])
			rk_diag_add(w->ctx->diag, "nothing-recorded", run->records.v[i].dir, 0, 1,
				    "nothing was recorded: %s", why);
	}
	if (!w->gather)
		rk_run_tell_clocks(run);
	r->tables = rk_calloc(RK_NTABLES, sizeof(*r->tables));
	if (!r->tables)
		return rk_fail_nomem(err);
	for (unsigned t = 0; t < RK_NTABLES; t++)
		r->tables[t] =
			(struct rk_report_table){ rk_table_name((enum rk_table)t), w->rows[t] };
	r->ntables = RK_NTABLES;
	return 0;
}

static void destroy_report(void *p)
{
	struct rk_report *r = p;
	struct rk_report_own *own = r->kept;

	for (unsigned s = 0; s < RK_NSECTIONS; s++)
		rk_free(rk_report_section(r, (enum rk_section)s)->rows);
	rk_free(r->energy.devices);
	rk_hotspots_free(r->hotspots);
	rk_ranks_free(r->ranks);
	rk_free(r->counters);
	rk_free(r->tables);
	rk_free((void *)r->warnings);
	if (own && own->run)
		rk_handle_drop(own->run);
	if (own) {
		rk_free(own->samples);
		rk_free(own->numbers);
	}
	rk_free(own);
	rk_free(r);
}

static int report_run(struct rk_run *run, const struct rk_report_options *opt,
		      struct rk_report **ret, struct rk_error *err)
{
	struct work w = { .run = run, .ctx = rk_run_context(run) };
	const char *by = opt && opt->by ? opt->by : "";
	int rc;

	rk_run_tolerate(run);
	while (w.by < NBY && strcmp(by, by_names[w.by]) != 0)
		w.by++;
	if (w.by == NBY)
		return rk_fail(err, RK_E_USAGE,
			       "cannot group by '%s'; known: device, process, stream, rank", by);
	w.r = rk_calloc(1, sizeof(*w.r));
	if (!w.r)
		return rk_fail_nomem(err);
	w.r->kept = w.own = rk_calloc(1, sizeof(*w.own));
	w.r->stats_of = rk_run_stats_of(run);
	if (w.by)
		w.r->by = by_names[w.by];
	if (!w.own) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = report_make(&w, err);
	if (rc < 0)
		goto out;
	make_totals(&w);
	rk_run_tell_names(run);
	rc = rk_run_copy_warnings(run, &w.r->warnings, &w.r->nwarnings, err);
	w.r->files = rk_run_files(run, &w.r->nfiles);
	if (rc < 0)
		goto out;
	rc = rk_handle_open(RK_HANDLE_REPORT, w.r, destroy_report, err);
	if (rc < 0)
		goto out;
	/* The run owns names and files, so the report keeps it open. */
	rk_handle_keep(run);
	w.own->run = run;
	*ret = w.r;
out:
	if (rc < 0)
		destroy_report(w.r);
	for (unsigned s = 0; s < RK_NSECTIONS; s++)
		rk_agg_free(w.aggs[s]);
	rk_free(w.counters);
	rk_energy_free(w.energy);
	rk_sample_stats_release(&w.samples);
	rk_gather_free(w.gather);
	return rc;
}

int rk_run_report(struct rk_run *run, const struct rk_report_options *opt, struct rk_report **ret,
		  struct rk_error *err)
{
	int rc;

	if (!ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0 || rk_run_enter(run, __func__, err) < 0)
		return RK_E_USAGE;
	rc = report_run(run, opt, ret, err);
	rk_run_leave(run);
	return rc;
}

void rk_report_free(struct rk_report *r)
{
	rk_handle_close(RK_HANDLE_REPORT, r);
}

void rk_text_free(char *text)
{
	rk_free(text);
}

int rk_text_save(const char *path, const char *text, size_t len, struct rk_error *err)
{
	if (!path || (len && !text))
		return rk_misuse(__func__, err);
	return rk_write_file(path, text, len, err);
}
