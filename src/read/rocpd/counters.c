/*
 * counters.c - rocpd_pmc_event as the counters table, and its streamed samples as the samples table.
 *
 * The file has a row for each hardware instance of a counter. We return their sum: one row per
 * dispatch and counter. Both the counter rows and the dispatches are read in the order of the event
 * they belong to, and merged. rocprofv3 writes them in that order; if a table is not sorted, SQLite
 * sorts it (on disk if its cache is full).
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/rocpd/rocpd.h"

enum { P_EVENT, P_PMC, P_VALUE, P_SAMPLE, P_NCOLUMNS };
/* s->c is the cursor on dispatches. */
enum { Q_KERNEL = COL_OWN, Q_DISPATCH, Q_PASS, Q_NCOLUMNS };
enum { MAX_GROUP = 1 << 16 };

struct sum {
	int64_t counter; /* name */
	double value;
};

struct rocpd_counters {
	struct rk_sqlite_cursor *pmc; /* if `ahead`: on the first row of the next group */
	bool ahead, dispatch_end;
	int64_t event;          /* event of the row ahead */
	int64_t dispatch_event; /* event of the row s->c is on */
	struct sum *group;      /* sums of one dispatch */
	size_t ngroup, cap, given;
	size_t last; /* index found last */
	uint64_t orphans;
};

/* Reads the next counter row into `ahead` and `event`; `ahead` is false at the end. */
static int step_pmc(struct sql_scan *s, struct rocpd_counters *k, struct rk_error *err)
{
	int64_t sample;

	for (;;) {
		int rc = rk_sqlite_cursor_step(k->pmc, &s->cause);

		k->ahead = rc > 0;
		if (rc <= 0)
			return rk_sql_damage(s->r, &s->cause, rc, err);
		/* streamed samples have the event of their dispatch too: see samples_row */
		if (rk_sqlite_i64(k->pmc, P_SAMPLE, &sample) == RK_CELL_NULL)
			break;
	}
	k->event = RK_NONE;
	if (rk_sqlite_i64(k->pmc, P_EVENT, &k->event) == RK_CELL_WRONG)
		s->wrong++;
	return 0;
}

static int enter(struct sql_scan *s, struct rk_error *err)
{
	static const struct rk_sqlite_column pmc[P_NCOLUMNS] = {
		[P_EVENT] = { .name = "event_id" },
		[P_PMC] = { .name = "pmc_id" },
		[P_VALUE] = { "value", RK_SQLITE_REAL },
		[P_SAMPLE] = { .name = "sample_id" },
	};
	static const struct rk_sqlite_column dispatch[Q_NCOLUMNS] = {
		[COL_NID] = { .name = "nid" },
		[COL_PID] = { .name = "pid" },
		[COL_AGENT] = { .name = "agent_id" },
		[COL_TRACK] = { .name = "track_id" },
		[COL_EVENT] = { .name = "event_id" },
		[Q_KERNEL] = { .name = "kernel_id" },
		[Q_DISPATCH] = { .name = "dispatch_id" },
		[Q_PASS] = { .name = "replay_pass" },
	};
	const struct rk_sqlite_table *values = rk_sql_table(s->r, "rocpd_pmc_event", s->suffix);
	const struct rk_sqlite_table *kernels =
		rk_sql_table(s->r, "rocpd_kernel_dispatch", s->suffix);
	struct rocpd_counters *k = rk_calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return rk_fail_nomem(err);
	((struct rocpd_scan *)s)->counters = k;
	k->dispatch_end = true;
	k->dispatch_event = INT64_MIN;
	if (!values || !kernels)
		return 0;
	rc = rk_sql_open_in_order(s->r, values, pmc, P_NCOLUMNS, P_EVENT, &k->pmc, err);
	if (rc < 0 || !k->pmc)
		return rc;
	rc = rk_sql_open_in_order(s->r, kernels, dispatch, Q_NCOLUMNS, COL_EVENT, &s->c, err);
	if (rc < 0)
		return rc;
	k->dispatch_end = !s->c;
	return step_pmc(s, k, err);
}

void rk_rocpd_counters_leave(struct rocpd_scan *s)
{
	const struct sql_reader *r = s->sql.r;
	struct rocpd_counters *k = s->counters;
	const char *path = rk_instream_path(r->in);

	if (!k)
		return;
	if (k->orphans)
		rk_diag_add(r->ctx->diag, "counter-without-dispatch", path, 0, k->orphans,
			    "counter values without a kernel; skipped");
	rk_sqlite_cursor_close(k->pmc);
	rk_free(k->group);
	rk_free(k);
	s->counters = NULL;
}

/* Instances of one counter are mostly adjacent, so the search starts where the last one ended. */
static struct sum *sum_of(struct rocpd_counters *k, int64_t counter, struct rk_error *err)
{
	struct sum *grown;

	for (size_t i = 0; i < k->ngroup; i++) {
		size_t at = (k->last + i) % k->ngroup;

		if (k->group[at].counter == counter) {
			k->last = at;
			return &k->group[at];
		}
	}
	if (k->ngroup == MAX_GROUP) {
		rk_fail(err, RK_E_LIMIT, "a dispatch has more than %d counters", MAX_GROUP);
		return NULL;
	}
	grown = rk_grow(k->group, &k->cap, k->ngroup + 1, sizeof(*grown));
	if (!grown) {
		rk_fail_nomem(err);
		return NULL;
	}
	k->group = grown;
	k->last = k->ngroup++;
	k->group[k->last] = (struct sum){ .counter = counter };
	return &k->group[k->last];
}

/* Events of the driver are counters without a dispatch: they are markers. */
static bool is_driver_event(struct sql_scan *s, int64_t pmc)
{
	int64_t name = rk_sql_resolve(s, PMCS, pmc, PMC_NAME);
	size_t len = 0;
	const char *text = "";

	if (name != RK_NONE)
		text = rk_strtab_borrow(s->r->ctx->names, (uint32_t)name, &len);
	return rk_text_iprefix(text, len, "KFD_");
}

/* Reads all counter rows of the next event; those without a dispatch are counted and dropped. */
static int read_group(struct sql_scan *s, struct rocpd_counters *k, struct rk_error *err)
{
	int64_t event = k->event;
	bool known;
	int rc = 0;

	/* move s->c to the dispatch of the event */
	while (!k->dispatch_end && k->dispatch_event < event) {
		rc = rk_sqlite_cursor_step(s->c, &s->cause);
		if (rc > 0) {
			k->dispatch_event = rk_sql_cell(s, COL_EVENT);
			continue;
		}
		k->dispatch_end = true;
		k->dispatch_event = INT64_MAX;
		if (rc < 0)
			rk_sql_damage(s->r, &s->cause, rc, &s->error);
	}
	known = !k->dispatch_end && event != RK_NONE && k->dispatch_event == event;

	k->ngroup = k->given = k->last = 0;
	while (!s->error.code && k->ahead && k->event == event) {
		int64_t pmc = RK_NONE;
		double value = 0;
		struct sum *sum;

		if (rk_sqlite_i64(k->pmc, P_PMC, &pmc) == RK_CELL_WRONG)
			s->wrong++;
		if (!known) {
			k->orphans += !is_driver_event(s, pmc);
		} else {
			if (rk_sqlite_f64(k->pmc, P_VALUE, &value) == RK_CELL_WRONG)
				s->wrong++;
			sum = sum_of(k, rk_sql_resolve(s, PMCS, pmc, 0), &s->error);
			if (sum)
				sum->value += value;
		}
		rc = step_pmc(s, k, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rk_rocpd_counters_fill(struct sql_scan *s, struct rk_error *err)
{
	struct rocpd_counters *k = ((struct rocpd_scan *)s)->counters;
	const struct sum *sum;
	size_t row;
	int rc = 0;

	if (!k) {
		rc = enter(s, err);
		k = ((struct rocpd_scan *)s)->counters;
	}
	while (!rc && !s->error.code && s->b.nrows < s->b.cap) {
		if (k->given == k->ngroup) {
			if (!k->ahead)
				return 0;
			rc = read_group(s, k, err);
			continue;
		}
		row = s->b.nrows++;
		sum = &k->group[k->given++];
		rk_sql_put(s, RK_N_NAME, row, rk_rocpd_symbol_name(s, rk_sql_cell(s, Q_KERNEL)));
		rk_sql_put(s, RK_N_DISPATCH, row, rk_sql_cell(s, Q_DISPATCH));
		rk_sql_put(s, RK_N_COUNTER, row, sum->counter);
		if (rk_sql_wants(s, RK_N_VALUE))
			((double *)s->col[RK_N_VALUE])[row] = sum->value;
		rk_sql_put(s, RK_N_DEVICE, row,
			   rk_rocpd_resolve_or_id(s, AGENTS, rk_rocpd_place(s, COL_AGENT)));
		rk_sql_put(s, RK_N_PASS, row, rk_sql_cell(s, Q_PASS));
		rk_sql_put(s, RK_N_PID, row,
			   rk_rocpd_resolve_or_id(s, PROCESSES, rk_rocpd_place(s, COL_PID)));
		rk_sql_put(s, RK_N_NODE, row,
			   rk_sql_resolve(s, NODES, rk_rocpd_place(s, COL_NID), 0));
	}
	if (s->error.code) {
		if (err && !err->code)
			*err = s->error;
		return s->error.code;
	}
	return rc < 0 ? rc : 1;
}

/* ---- streamed counters (SPM): one row per time, counter and instance; nothing is summed ---- */

enum { W_SAMPLE, W_PMC, W_VALUE, W_WHERE, W_NCOLUMNS = W_WHERE + 5 };

static const struct sql_column sample_columns[W_NCOLUMNS] = {
	[W_SAMPLE] = SQL_INT("sample_id", SQL_ALWAYS),
	[W_PMC] =
		SQL_INT("pmc_id", SQL_BIT(RK_S_METRIC) | SQL_BIT(RK_S_DEVICE) | SQL_BIT(RK_S_NODE)),
	[W_VALUE] = SQL_REAL("value", SQL_BIT(RK_S_VALUE)),
	[W_WHERE] = SQL_INT("xcc", SQL_BIT(RK_S_METRIC)),
	[W_WHERE + 1] = SQL_INT("shader_engine", SQL_BIT(RK_S_METRIC)),
	[W_WHERE + 2] = SQL_INT("shader_array", SQL_BIT(RK_S_METRIC)),
	[W_WHERE + 3] = SQL_INT("wgp", SQL_BIT(RK_S_METRIC)),
	[W_WHERE + 4] = SQL_INT("instance", SQL_BIT(RK_S_METRIC)),
};

/* "SQ_WAVES[XCC: 0, SE: 1, Instance: 2]", as `rocpd convert` writes it. */
static void put_metric(struct sql_scan *s, size_t row, int64_t name)
{
	static const char *const words[] = { "XCC", "SE", "SA", "WGP", "Instance" };
	struct rk_bytes *text = &((struct rocpd_scan *)s)->text;
	bool any = false;

	rk_bytes_clear(text);
	rk_bytes_puts(text, rk_strtab_borrow(s->r->ctx->names, (uint32_t)name, NULL));
	for (unsigned i = 0; i < 5; i++) {
		int64_t v = rk_sql_cell(s, W_WHERE + i);

		if (v == RK_NONE)
			continue;
		rk_bytes_printf(text, "%s%s: %" PRId64, any ? ", " : "[", words[i], v);
		any = true;
	}
	if (any)
		rk_bytes_puts(text, "]");
	if (text->bad)
		rk_fail_nomem(&s->error);
	else
		rk_sql_put_text(s, RK_S_METRIC, row, (const char *)text->data, text->len);
}

static int samples_row(struct sql_scan *s, size_t row)
{
	int64_t sample = rk_sql_cell(s, W_SAMPLE), pmc, name;

	if (sample == RK_NONE)
		return 0;
	rk_sql_put(s, RK_S_TIME, row, rk_sql_resolve(s, SAMPLES, sample, 0));
	rk_sql_put_f64(s, RK_S_VALUE, row, W_VALUE);
	pmc = rk_sql_cell(s, W_PMC);
	name = rk_sql_resolve(s, PMCS, pmc, PMC_NAME);
	if (rk_sql_wants(s, RK_S_METRIC) && name != RK_NONE)
		put_metric(s, row, name);
	else
		rk_sql_put(s, RK_S_METRIC, row, name);
	if (rk_sql_wants(s, RK_S_DEVICE))
		rk_sql_put(s, RK_S_DEVICE, row,
			   rk_rocpd_resolve_or_id(s, AGENTS,
						  rk_sql_resolve(s, PMCS, pmc, PMC_AGENT)));
	if (rk_sql_wants(s, RK_S_NODE))
		rk_sql_put(s, RK_S_NODE, row,
			   rk_sql_resolve(s, NODES, rk_sql_resolve(s, PMCS, pmc, PMC_NID), 0));
	return 1;
}

static bool is_streamed(const struct sql_reader *r, const struct rk_sqlite_table *t)
{
	(void)r;
	return rk_sqlite_has(t, "sample_id");
}

const struct sql_part rk_rocpd_samples[1] = {
	{ "rocpd_pmc_event", sample_columns, W_NCOLUMNS, samples_row, is_streamed, NULL },
};
