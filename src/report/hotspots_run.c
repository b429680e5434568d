/* hotspots_run.c - build hotspots from the samples and thread traces of a run. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/map.h"
#include "base/strtab.h"
#include "report/hotspots.h"
#include "rockit/hotspots.h"
#include "run/run.h"
#include "table/aggregate.h"

static const char rest[] = "(past the limit)";

struct make {
	const struct rk_hot_cell *cells;
	size_t n;
	const struct rk_strtab *names;
	struct rk_hotspots *h;
	struct rk_hotspot *spots; /* room for two per cell */
	size_t nspots;
	struct rk_hotspot_stall *stalls; /* room for three per cell */
	size_t nstalls;
	uint32_t *reasons; /* by entry of stalls, while a group is built */
};

static bool same_kernel(const struct rk_hot_cell *a, const struct rk_hot_cell *b)
{
	return a->from == b->from && a->kernel == b->kernel;
}

static bool same_line(const struct rk_hot_cell *a, const struct rk_hot_cell *b)
{
	return same_kernel(a, b) && a->rest == b->rest && a->source == b->source;
}

static bool same_instruction(const struct rk_hot_cell *a, const struct rk_hot_cell *b)
{
	return same_line(a, b) && a->vaddr == b->vaddr && a->instruction == b->instruction;
}

/* The end of the group that starts at i. */
static size_t group_end(const struct make *m, size_t i,
			bool (*same)(const struct rk_hot_cell *, const struct rk_hot_cell *))
{
	size_t k = i + 1;

	while (k < m->n && same(&m->cells[i], &m->cells[k]))
		k++;
	return k;
}

static int by_samples(const void *pa, const void *pb)
{
	const struct rk_hotspot_stall *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->reason, b->reason);
}

enum { MAX_REASONS = 64 };

/*
 * Sums the cells from i to end. There are about ten reasons, so a linear search is fast; the limit
 * is for hostile files.
 */
static struct rk_hotspot fold(struct make *m, size_t i, size_t end)
{
	struct rk_hotspot s = { .vaddr = -1, .source = "", .stalls = &m->stalls[m->nstalls] };
	uint32_t *reasons = &m->reasons[m->nstalls];

	for (; i < end; i++) {
		const struct rk_hot_cell *c = &m->cells[i];
		size_t k = 0;

		s.weight += c->weight;
		s.hits += c->hits;
		s.idle += c->idle;
		if (!c->stall) {
			s.stalled += c->stalled;
			continue;
		}
		s.stalled += c->weight;
		while (k < s.nstalls && reasons[k] != c->stall)
			k++;
		if (k == s.nstalls && k == MAX_REASONS) {
			k--;
			s.stalls[k].reason = "(others)";
		} else if (k == s.nstalls) {
			reasons[k] = c->stall;
			s.stalls[k].reason = rk_strtab_borrow(m->names, c->stall, NULL);
			s.stalls[k].samples = 0;
			s.nstalls++;
		}
		s.stalls[k].samples += c->weight;
	}
	qsort(s.stalls, s.nstalls, sizeof(*s.stalls), by_samples);
	m->nstalls += s.nstalls;
	return s;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct rk_hotspot *a = pa, *b = pb;
	int c;

	if ((a->instruction == rest) != (b->instruction == rest)) /* the rest comes last */
		return a->instruction == rest ? 1 : -1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->hits != b->hits)
		return a->hits > b->hits ? -1 : 1;
	c = strcmp(a->source, b->source);
	if (c)
		return c;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (!a->instruction || !b->instruction)
		return 0;
	return strcmp(a->instruction, b->instruction);
}

static void settle(struct rk_hotspot *spots, size_t n, uint64_t whole)
{
	for (size_t i = 0; i < n; i++)
		spots[i].percent = whole ? 100 * (double)spots[i].weight / (double)whole : 0;
	qsort(spots, n, sizeof(*spots), by_weight);
}

static int by_kernel(const void *pa, const void *pb)
{
	const struct rk_hotspot_kernel *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->sum.weight != b->sum.weight)
		return a->sum.weight > b->sum.weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void make_kernels(struct make *m)
{
	struct rk_hotspots *h = m->h;

	for (size_t i = 0, end, next; i < m->n; i = end) {
		struct rk_hotspot_kernel *k = &h->kernels[h->nkernels++];

		end = group_end(m, i, same_kernel);
		k->name = rk_strtab_borrow(m->names, m->cells[i].kernel, NULL);
		k->sum = fold(m, i, end);
		k->sum.percent = 100;
		if (m->cells[i].from == RK_HOT_SAMPLES) {
			k->from = RK_FROM_PC_SAMPLES;
			h->samples += k->sum.weight;
		} else {
			k->from = RK_FROM_THREAD_TRACE;
			h->cycles += k->sum.weight;
		}

		k->instructions = &m->spots[m->nspots];
		for (size_t at = i; at < end; at = next) {
			const struct rk_hot_cell *c = &m->cells[at];
			struct rk_hotspot *s = &k->instructions[k->ninstructions++];

			next = group_end(m, at, same_instruction);
			*s = fold(m, at, next);
			s->instruction = rest;
			if (!c->rest)
				s->instruction = rk_strtab_borrow(m->names, c->instruction, NULL);
			s->source = rk_strtab_borrow(m->names, c->source, NULL);
			s->vaddr = c->vaddr;
		}
		m->nspots += k->ninstructions;
		settle(k->instructions, k->ninstructions, k->sum.weight);

		k->lines = &m->spots[m->nspots];
		for (size_t at = i; at < end; at = next) {
			const struct rk_hot_cell *c = &m->cells[at];

			next = group_end(m, at, same_line);
			if (!c->source || c->rest)
				continue;
			k->lines[k->nlines] = fold(m, at, next);
			k->lines[k->nlines++].source = rk_strtab_borrow(m->names, c->source, NULL);
		}
		m->nspots += k->nlines;
		settle(k->lines, k->nlines, k->sum.weight);
	}
	for (size_t i = 0; i < h->nkernels; i++) {
		struct rk_hotspot_kernel *k = &h->kernels[i];
		uint64_t whole = k->from == RK_FROM_PC_SAMPLES ? h->samples : h->cycles;

		if (whole)
			k->percent = 100 * (double)k->sum.weight / (double)whole;
	}
	qsort(h->kernels, h->nkernels, sizeof(*h->kernels), by_kernel);
}

/*
 * Fills *ret (zeroed) except for calls and times. Free it with destroy_hotspots, also on failure.
 */
static int make_hotspots(const struct rk_hot_cell *cells, size_t n, const struct rk_strtab *names,
			 struct rk_hotspots *ret, struct rk_error *err)
{
	struct make m = { .cells = cells, .n = n, .names = names, .h = ret };
	size_t nkernels = 0;

	for (size_t i = 0; i < n; i = group_end(&m, i, same_kernel))
		nkernels++;
	m.spots = ret->memory[0] = rk_calloc(2 * n + 1, sizeof(*m.spots));
	m.stalls = ret->memory[1] = rk_calloc(3 * n + 1, sizeof(*m.stalls));
	m.reasons = rk_calloc(3 * n + 1, sizeof(*m.reasons));
	ret->kernels = rk_calloc(nkernels + 1, sizeof(*ret->kernels));
	if (!m.spots || !m.stalls || !m.reasons || !ret->kernels) {
		rk_free(m.reasons);
		return rk_fail_nomem(err);
	}
	make_kernels(&m);
	rk_free(m.reasons);
	return 0;
}

#define BIT(f) (UINT64_C(1) << (f))

/* Passes each batch of a table to `use` until it returns something other than 0. */
static int each_batch(struct rk_run *run, enum rk_table t, uint64_t want,
		      int (*use)(struct rk_hot *h, const struct rk_batch *b, struct rk_error *err),
		      struct rk_hot *h, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *rows = NULL;
	int rc = rk_run_scan(run, t, want, &rows, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		rc = use(h, b, err);
		if (rc)
			break;
	}
	rk_source_close(rows);
	return rc;
}

static int needs_kernels(struct rk_hot *h, const struct rk_batch *b, struct rk_error *err)
{
	(void)h;
	(void)err;
	return rk_hot_needs_kernels(b);
}

static bool has(const struct rk_run *run, enum rk_table t)
{
	return rk_run_tables(run) >> t & 1;
}

/* Finds the kernels of samples that only have a dispatch id. */
static int find_names(struct rk_run *run, struct rk_hot *h, struct rk_error *err)
{
	const uint64_t want = rk_hot_wants(RK_KERNELS);
	struct rk_error why = { 0 };
	size_t warnings;
	int rc;

	if (!has(run, RK_PC_SAMPLES) || !has(run, RK_KERNELS) ||
	    !rk_run_rescannable(run, RK_PC_SAMPLES) || !rk_run_rescannable(run, RK_KERNELS))
		return 0;
	rk_diag_list(run->ctx.diag, &warnings);
	rc = each_batch(run, RK_PC_SAMPLES, BIT(RK_P_NAME) | BIT(RK_P_DISPATCH), needs_kernels, h,
			&why);
	if (rc > 0 && (rc = each_batch(run, RK_KERNELS, want, rk_hot_note, h, &why)) == 0 &&
	    (rc = rk_hot_layout(h, &why)) == 0)
		rc = each_batch(run, RK_KERNELS, want, rk_hot_name, h, &why);
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc == RK_E_LIMIT) {
		rk_diag_add(run->ctx.diag, "hotspot-names", "", 0, 1,
			    "%s; samples are not split by kernel", why.message);
		return 0;
	}
	if (rc < 0 && err)
		*err = why;
	return rc;
}

static int fill(struct rk_run *run, struct rk_hotspots *ret, struct rk_error *err)
{
	static const enum rk_table tables[] = { RK_PC_SAMPLES, RK_INSTRUCTIONS };
	const struct rk_hot_cell *cells = NULL;
	struct rk_hot *h = NULL;
	size_t n = 0;
	int rc;

	if ((rc = rk_hot_new(&run->ctx, &run->style, &h, err)) < 0 ||
	    (rc = find_names(run, h, err)) < 0)
		goto out;
	for (size_t i = 0; i < 2; i++) {
		enum rk_table t = tables[i];

		if (has(run, t) &&
		    (rc = each_batch(run, t, rk_hot_wants(t), rk_hot_add, h, err)) < 0)
			goto out;
	}
	rk_hot_finish(h, &cells, &n);
	rc = make_hotspots(cells, n, run->ctx.names, ret, err);
out:
	rk_hot_free(h);
	return rc;
}

/* ---- calls and times of the same kernels, from the trace ---- */

static int kernels_of(struct rk_run *run, struct rk_agg_row **ret, size_t *ret_n,
		      struct rk_error *err)
{
	static const struct rk_agg_fields fields = { RK_K_NAME, -1, RK_K_DURATION, RK_AGG_NO_KEY,
						     RK_K_BARRIER };
	struct rk_source *rows = NULL;
	struct rk_agg *agg = NULL;
	int rc = rk_agg_new(&fields, &run->ctx, &agg, err);

	if (rc < 0)
		return rc;
	rk_agg_limit(agg, 0, RK_AGG_MAX_GROUPS); /* no medians */
	rc = rk_run_scan(run, RK_KERNELS, BIT(RK_K_NAME) | BIT(RK_K_DURATION) | BIT(RK_K_BARRIER),
			 &rows, err);
	if (rc < 0 || (rc = rk_agg_drain(agg, rows, err)) < 0)
		goto out;
	rc = rk_agg_finish(agg, ret, ret_n, err);
out:
	rk_source_close(rows);
	rk_agg_free(agg);
	return rc;
}

static int add_trace(struct rk_run *run, struct rk_hotspots *h, struct rk_error *err)
{
	struct rk_strtab *names = run->ctx.names;
	struct rk_agg_row *rows = NULL;
	struct rk_idmap at = { 0 };
	size_t n = 0, warnings;
	int rc;

	if (!has(run, RK_KERNELS) || !rk_run_rescannable(run, RK_KERNELS) || !h->nkernels)
		return 0;
	rk_diag_list(run->ctx.diag, &warnings);
	rc = kernels_of(run, &rows, &n, err);
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc < 0)
		goto out;
	h->silent = rk_calloc(n + 1, sizeof(*h->silent));
	if (!h->silent) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	/* the first index (from 1) of each name among the kernels with samples */
	for (size_t i = h->nkernels; i-- > 0;) {
		const char *name = h->kernels[i].name;
		uint32_t id, *slot = NULL;

		if (rk_strtab_add(names, name, strlen(name), &id, err) == 0)
			slot = rk_idmap_at(&at, id);
		if (!slot) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		*slot = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < n; i++) {
		const char *name = rk_strtab_borrow(names, rows[i].name, NULL);
		uint32_t first = rows[i].name < at.n ? at.at[rows[i].name] : 0;

		if (!first && !rows[i].barrier)
			h->silent[h->nsilent++] =
				(struct rk_hotspot_silent){ name, rows[i].calls, rows[i].total_ns };
		for (size_t k = first; first && k <= h->nkernels; k++) {
			if (h->kernels[k - 1].name == name) {
				h->kernels[k - 1].calls = rows[i].calls;
				h->kernels[k - 1].total_ns = rows[i].total_ns;
			}
		}
	}
out:
	rk_free(rows);
	rk_idmap_release(&at);
	return rc;
}

static void destroy_hotspots(void *p)
{
	struct rk_hotspots *h = p;

	rk_free(h->memory[0]);
	rk_free(h->memory[1]);
	rk_free(h->kernels);
	rk_free(h->silent);
	rk_free((void *)h->warnings);
	if (h->kept)
		rk_handle_drop(h->kept);
	rk_free(h);
}

static int hotspots_of(struct rk_run *run, struct rk_hotspots **ret, struct rk_error *err)
{
	struct rk_hotspots *h = rk_calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return rk_fail_nomem(err);
	if ((rc = fill(run, h, err)) < 0 || (rc = add_trace(run, h, err)) < 0)
		goto fail;
	rk_run_tell_names(run);
	if ((rc = rk_run_copy_warnings(run, &h->warnings, &h->nwarnings, err)) < 0 ||
	    (rc = rk_handle_open(RK_HANDLE_HOTSPOTS, h, destroy_hotspots, err)) < 0)
		goto fail;
	/* The run owns names and warnings, so the result keeps it open. */
	rk_handle_keep(run);
	h->kept = run;
	*ret = h;
	return 0;
fail:
	destroy_hotspots(h);
	return rc;
}

int rk_run_hotspots(struct rk_run *run, struct rk_hotspots **ret, struct rk_error *err)
{
	int rc;

	if (!ret)
		return rk_misuse(__func__, err);
	if (rk_run_enter(run, __func__, err) < 0)
		return RK_E_USAGE;
	rc = hotspots_of(run, ret, err);
	rk_run_leave(run);
	return rc;
}

void rk_hotspots_free(struct rk_hotspots *h)
{
	rk_handle_close(RK_HANDLE_HOTSPOTS, h);
}
