/* session_ledger.c - what was asked against what came. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "session/session_impl.h"

/* Whose function a name is. */
static unsigned owner_of(const char *name)
{
	static const struct {
		const char *prefix;
		unsigned trace;
	} owners[] = {
		{ "hip", RK_TRACE_HIP },   { "__hip", RK_TRACE_HIP }, { "hsa_", RK_TRACE_HSA },
		{ "nccl", RK_TRACE_RCCL }, { "rccl", RK_TRACE_RCCL }, { "mscclpp", RK_TRACE_RCCL },
	};

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (!strncmp(name, owners[i].prefix, strlen(owners[i].prefix)))
			return owners[i].trace;
	return 0;
}

static uint64_t rows_of(const struct rk_report *r, const char *table)
{
	for (size_t i = 0; i < r->ntables; i++)
		if (!strcmp(r->tables[i].name, table))
			return r->tables[i].rows;
	return 0;
}

static bool is_scratch(const char *name)
{
	return strcasestr(name, "scratch") != NULL;
}

static uint64_t rows_of_trace(const struct rk_report *r, unsigned trace)
{
	uint64_t n = 0;

	switch (trace) {
	case RK_TRACE_KERNEL:
		return rows_of(r, "kernels");
	case RK_TRACE_MEMCPY:
		return rows_of(r, "memcpy");
	case RK_TRACE_MARKER:
		return rows_of(r, "markers");
	case RK_TRACE_SCRATCH:
	case RK_TRACE_ALLOC:
		for (size_t i = 0; i < r->memory.nrows; i++)
			if (is_scratch(r->memory.rows[i].name) == (trace == RK_TRACE_SCRATCH))
				n += r->memory.rows[i].calls;
		return n;
	default:
		for (size_t i = 0; i < r->api.nrows; i++)
			if (owner_of(r->api.rows[i].name) == trace)
				n += r->api.rows[i].calls;
		return n;
	}
}

static void drop(struct rk_session *s, const char *what, const char *why)
{
	rk_list_set(&s->record.dropped, what, why);
}

static void traces(struct rk_session *s, const struct rk_report *r)
{
	const struct rk_plan *p = s->plan;
	unsigned given = 0;

	for (size_t i = 0; i < p->npasses; i++)
		given |= p->passes[i].how.delivers;
	for (unsigned i = 0; i < RK_NTRACES; i++) {
		uint64_t n;

		if (!(p->want.traces >> i & 1))
			continue;
		n = r ? rows_of_trace(r, 1u << i) : 0;
		rk_list_addf(&s->record.traces, "%s=%" PRIu64, rk_trace_name(i), n);
		if (!n && !(given >> i & 1))
			drop(s, rk_trace_name(i), "this profiler or release does not trace it");
		else if (!n)
			drop(s, rk_trace_name(i), "asked for, and no row came");
		if (!n && r && 1u << i == RK_TRACE_KERNEL)
			rk_session_warn(s, "no kernel was recorded: the program launched none, or "
					   "its workers ended by _exit or a signal");
	}
}

static const struct rk_report_counter *counter_in(const struct rk_report *r, const char *name)
{
	for (size_t i = 0; r && i < r->ncounters; i++)
		if (!strcmp(r->counters[i].name, name))
			return &r->counters[i];
	return NULL;
}

/* A counter that was to be collected: it came, or came as nothing but zeros, or did not come. */
static void one_counter(struct rk_session *s, const char *name, const struct rk_report *r,
			struct rk_list *absent, struct rk_list *zero)
{
	const struct rk_report_counter *c = counter_in(r, name);

	if (!c || !c->rows) {
		rk_list_add_once(absent, name);
		drop(s, name, "the profiler left it out");
	} else if (!(fabs(c->min) > 0) && !(fabs(c->max) > 0)) {
		rk_list_add_once(zero, name);
		drop(s, name, "every value is 0: not to be trusted");
	} else {
		rk_list_add_once(&s->record.counters, name);
	}
}

/* "A, B and 3 more". */
static void put_some(struct rk_bytes *b, const struct rk_list *l)
{
	size_t shown = l->n > 4 ? 3 : l->n;

	for (size_t i = 0; i < shown; i++)
		rk_bytes_printf(b, "%s%s", i ? ", " : "", l->v[i]);
	if (shown < l->n)
		rk_bytes_printf(b, " and %zu more", l->n - shown);
}

static void warn_counters(struct rk_session *s, const struct rk_list *l, const char *what)
{
	struct rk_bytes b;

	if (!l->n)
		return;
	rk_bytes_init(&b, 4096);
	put_some(&b, l);
	if (rk_bytes_str(&b))
		rk_session_warn(s, "counter%s %s %s", l->n == 1 ? "" : "s", rk_bytes_str(&b), what);
	rk_bytes_release(&b);
}

static void counters(struct rk_session *s, const struct rk_report *r)
{
	struct rk_list absent = { 0 }, zero = { 0 };
	const struct rk_plan *p = s->plan;

	for (size_t i = 0; p->counters && i < p->counters->nchecks; i++)
		if (p->counters->checks[i].status == RK_COUNTER_MISSING)
			drop(s, p->counters->checks[i].asked, p->counters->checks[i].reason);
	for (size_t i = 0; i < p->npasses; i++)
		for (size_t k = 0; s->record.passes[i].ran && k < p->passes[i].counters.n; k++)
			one_counter(s, p->passes[i].counters.v[k], r, &absent, &zero);
	for (size_t k = 0; s->record.passes[0].ran && k < p->own_counters.n; k++) {
		if (p->tool->library)
			drop(s, p->own_counters.v[k], "the collector has no counters");
		else
			one_counter(s, p->own_counters.v[k], r, &absent, &zero);
	}
	warn_counters(s, &absent, "did not come back: the profiler left them out");
	warn_counters(s, &zero, "came back as nothing but zeros: not to be trusted");
	rk_list_release(&absent);
	rk_list_release(&zero);
}

void rk_session_ledger(struct rk_session *s, const struct rk_report *r)
{
	for (size_t i = 0; r && i < r->ntables; i++)
		if (r->tables[i].rows)
			rk_list_addf(&s->record.tables, "%s=%" PRIu64, r->tables[i].name,
				     r->tables[i].rows);
	traces(s, r);
	counters(s, r);
	if (s->plan->want.pc_wanted && !(r && rows_of(r, "pc_samples")))
		drop(s, "pc_samples", "no sample came");
	if (s->plan->want.libraries && !(r && rows_of(r, "library_calls")))
		drop(s, "library_calls", "the libraries logged nothing");
}
