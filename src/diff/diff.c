/* diff.c - make profiles of runs, compare two sides and judge the difference. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "base/text.h"
#include "diff/diff_pages.h"
#include "diff/diff_parts.h"
#include "run/members.h"
#include "run/run.h"
#include "run/run_json.h"

/* ---- what is missing from a run, according to its warnings and run.json ---- */

/* Prefixes of warning kinds for an unknown number of lost rows. */
static const char *const losses[] = {
	"damaged-",           "cut-",        "truncated-",      "lost-",
	"dropped-",           "unclean-",    "overwritten-",    "unreadable-",
	"unfinished-",        "huge-",       "hot-wal",         "lookup-",
	"track-limit",        "slice-limit", "name-limit",      "late-names",
	"definition-limit",   "group-",      "name-table-full", "many-kernels",
	"compressed-packets",
};

/* Prefixes of warning kinds that count single lost rows. */
static const char *const slips_of[] = {
	"short-row",  "long-row",       "bad-",           "not-a-",        "unknown-name",
	"wrong-type", "number-out-of",  "time-out-of",    "out-of-range",  "duration-out-of",
	"range-end-", "unknown-record", "unclosed-slice", "unmatched-end",
};

static const double SLIPS_MAX = 0.001; /* share of the rows */

static bool begins(const char *kind, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(kind, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

#define BEGINS(kind, words) begins(kind, words, sizeof(words) / sizeof((words)[0]))

/*
 * Visits the folders of a file from the inside out: a run's tables are directly in it, raw files
 * are deeper.
 */
static int records_above(const char *path, struct rk_list *seen, struct rk_error *err)
{
	size_t len = strlen(path);

	for (unsigned level = 0; level < 3; level++) {
		char *record;

		while (len && path[len - 1] != '/')
			len--;
		record = rk_strf("%.*s" RK_RUN_JSON, (int)len, path);
		if (!record)
			return rk_fail_nomem(err);
		if (access(record, R_OK) == 0)
			rk_list_add_once(seen, record);
		rk_free(record);
		if (!len--)
			break;
	}
	if (seen->bad)
		return rk_fail_nomem(err);
	return 0;
}

/* Reads run.json next to the files. */
static int doubt_records(const struct rk_run *run, struct rk_list *ret, struct rk_error *err)
{
	struct rk_list seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < run->nfound; i++) {
		if (!run->found[i].used)
			continue;
		rc = records_above(run->found[i].path, &seen, err);
		if (rc < 0)
			goto out;
	}
	for (size_t i = 0; i < seen.n; i++) {
		const char *path = seen.v[i], *state;
		struct rk_error ignored = { 0 };
		struct rk_tree *t = NULL;
		int64_t status = 0;

		/* ignore a file with that name that is not a run record */
		if (rk_run_json_load(path, &t, &ignored) < 0) {
			if (ignored.code != RK_E_NOMEM)
				continue;
			rc = rk_fail_nomem(err);
			goto out;
		}
		state = rk_tree_text(rk_run_json_at(t, RK_RUN_STATE), "");
		if (rk_run_json_recorded(t)) {
			if (strcmp(state, "done") != 0)
				rk_list_addf(ret,
					     "the run was interrupted or is still running (state "
					     "'%s' in %s)",
					     state, path);
			if (rk_tree_int(rk_run_json_at(t, RK_RUN_EXIT_STATUS), &status) && status)
				rk_list_addf(ret, "the program exited with status %" PRId64 " (%s)",
					     status, path);
		}
		rk_tree_free(t);
	}
out:
	rk_list_release(&seen);
	return rc;
}

/*
 * Call after the tables were read, with `rows` kernels in them. Adds a sentence for each reason to
 * believe that they are incomplete; it goes to `slips` if less than one row in a thousand was lost.
 */
static int run_doubts(struct rk_run *run, const struct rk_members *m, uint64_t rows,
		      struct rk_list *doubts, struct rk_list *slips, struct rk_error *err)
{
	/* different versions or node names do not change sums */
	static const char *const harmless[] = { "versions", "nodes", "empty" };
	const struct rk_warning *w;
	size_t n = 0;

	if (!m->n) {
		int rc = doubt_records(run, doubts, err);

		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < m->nproblems; i++)
		if (!BEGINS(m->problems[i].kind, harmless))
			rk_list_addf(doubts, "%s", m->problems[i].text);
	w = rk_diag_list(run->ctx.diag, &n);
	for (size_t i = 0; i < n; i++) {
		bool slip = BEGINS(w[i].kind, slips_of);
		struct rk_list *to = doubts;

		if (!slip && !BEGINS(w[i].kind, losses))
			continue;
		if (slip && (double)w[i].count < SLIPS_MAX * (double)rows)
			to = slips;
		if (w[i].file[0])
			rk_list_addf(to, "%s (%s)", w[i].message, rk_base_name(w[i].file));
		else
			rk_list_addf(to, "%s", w[i].message);
	}
	if (doubts->bad || slips->bad)
		return rk_fail_nomem(err);
	return 0;
}

/* If a larger share of kernels has no times, totals are not comparable. */
#define UNTIMED_MAX 0.01

enum { TEXT_MAX_BYTES = 1 << 30 };

/* ---- profiles ---- */

static int profile_of(struct rk_run *run, const char *label, bool structure,
		      struct rk_profile **ret, struct rk_error *err)
{
	static const enum rk_table tables[] = { RK_STATS, RK_KERNELS, RK_MEMCPY, RK_API,
						RK_MARKERS };
	struct rk_members ranks = { .job = "" };
	struct rk_profile *made = NULL;
	struct rk_profiler *p = NULL;
	int rc = rk_profiler_new(rk_run_context(run), structure, &p, err);

	if (rc < 0)
		return rc;
	rk_run_tolerate(run);
	rc = rk_members_find(run, &ranks, err);
	if (rc < 0)
		goto out;
	/* with several ranks the machines are known; node names are less reliable */
	if (ranks.n <= 1) {
		rc = rk_run_check_clocks(run, err);
		if (rc < 0)
			goto out;
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct rk_batch *b;
		struct rk_source *rows = NULL;

		if (!(rk_run_tables(run) & RK_TABLE_BIT(tables[i])))
			continue;
		rc = rk_run_scan(run, tables[i], rk_profiler_wants(p, tables[i]), &rows, err);
		while (rc >= 0 && (rc = rk_source_next(rows, &b, err)) > 0)
			rc = rk_profiler_add(p, b, err);
		rk_source_close(rows);
		if (rc < 0)
			goto out;
	}
	if (ranks.n <= 1)
		rk_run_tell_clocks(run);
	for (size_t i = 0; !label && i < run->nfound; i++)
		if (run->found[i].used)
			label = run->found[i].path;
	rc = rk_profiler_finish(p, rk_text_or_empty(label), &made, err);
	if (rc < 0)
		goto out;
	rc = run_doubts(run, &ranks, made->calls, &made->doubts, &made->slips, err);
	if (rc < 0) {
		rk_profile_free(made);
		goto out;
	}
	/* busy and idle times need one clock */
	if (rk_run_has_several_clocks(run))
		made->time.known = false;
	for (size_t i = 1; i < ranks.n; i++)
		if (ranks.v[i].machine != ranks.v[0].machine)
			made->time.known = false;
	rk_run_tell_names(run);
	*ret = made;
out:
	rk_members_release(&ranks);
	rk_profiler_free(p);
	return rc;
}

int rk_run_profile(struct rk_run *run, const char *label, bool structure, struct rk_profile **ret,
		   struct rk_error *err)
{
	int rc;

	if (!ret)
		return rk_misuse(__func__, err);
	rc = rk_run_enter(run, __func__, err);
	if (rc < 0)
		return rc;
	rc = profile_of(run, label, structure, ret, err);
	rk_run_leave(run);
	return rc;
}

/* ---- sides and doubts ---- */

/* The result and everything it owns. */
struct result {
	struct rk_diff d;
	struct rk_list texts, doubts, labels_a, labels_b;
};

static struct rk_diff_side side_of(const struct rk_side *s, struct rk_list *labels)
{
	struct rk_diff_side ret = { .runs = s->runs, .kernels = s->nnames, .calls = s->calls };

	if (s->calls > s->timed)
		ret.untimed = s->calls - s->timed;
	for (size_t i = 0; i < s->runs; i++)
		rk_list_add(labels, s->profiles[i]->label);
	for (size_t i = 0; i < s->copies.n; i++) {
		ret.copies += s->copies.v[i].calls;
		ret.bytes += s->copies.v[i].bytes;
	}
	ret.labels = (const char *const *)labels->v;
	return ret;
}

/* Adds the doubts found while each run was read. */
static void add_doubts(struct rk_list *out, const struct rk_side *s, const char *side, bool slips)
{
	for (size_t r = 0; r < s->runs; r++) {
		const struct rk_profile *p = s->profiles[r];
		const struct rk_list *from = slips ? &p->slips : &p->doubts;

		for (size_t i = 0; i < from->n; i++) {
			if (s->runs == 1)
				rk_list_addf(out, "%s: %s", side, from->v[i]);
			else
				rk_list_addf(out, "%s %zu: %s", side, r + 1, from->v[i]);
		}
	}
}

/* Reasons not to compare totals; launches can still be compared. */
static void add_time_doubts(struct rk_list *out, const struct rk_side *s, const char *side)
{
	if (s->calls > s->timed && (double)(s->calls - s->timed) > UNTIMED_MAX * (double)s->calls)
		rk_list_addf(out, "%s: %" PRIu64 " of %" PRIu64 " kernels have no times", side,
			     s->calls - s->timed, s->calls);
	if (s->total_ns >= RK_PROFILE_TIME_MAX)
		rk_list_addf(out, "%s: kernels take more than 36 years", side);
	if (s->total_ns <= 0)
		rk_list_addf(out, "%s: no GPU time", side);
}

/* Ranks are matched by number. Ranks on only one side suggest different jobs. */
static void add_rank_doubt(struct rk_list *out, const struct rk_diff *d, char side)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < d->ranks.n; i++) {
		const struct rk_diff_line *l = &d->ranks.v[i];

		if (side == 'A' ? l->calls_b : l->calls_a)
			continue;
		if (n++ == 0)
			first = l->name;
	}
	if (n == 1)
		rk_list_addf(out, "%s has kernels only in %c", first, side);
	else if (n)
		rk_list_addf(out, "%zu of %zu ranks have kernels only in %c", n, d->ranks.n, side);
}

/* Everything that is incomplete, and the first reason not to judge (NULL: none). */
struct reasons {
	const char *gate, *structure;
};

static struct reasons list_doubts(const struct rk_diff_work *w, const struct rk_diff_options *opt,
				  struct rk_list *out)
{
	struct reasons why = { 0 };
	size_t grave, timely;

	add_doubts(out, &w->a, "A", false);
	add_doubts(out, &w->b, "B", false);
	grave = out->n;
	if (opt->gated || !opt->structure) {
		uint64_t less = rk_min(w->a.calls, w->b.calls);
		uint64_t more = rk_max(w->a.calls, w->b.calls);

		add_time_doubts(out, &w->a, "A");
		add_time_doubts(out, &w->b, "B");
		if (less && less < more / 2)
			rk_list_addf(out,
				     "%" PRIu64 " kernels in A and %" PRIu64
				     " in B: one side has less than half",
				     w->a.calls, w->b.calls);
		add_rank_doubt(out, w->d, 'A');
		add_rank_doubt(out, w->d, 'B');
	}
	timely = out->n;
	add_doubts(out, &w->a, "A", true);
	add_doubts(out, &w->b, "B", true);
	if (timely)
		why.gate = out->v[0];
	if (grave)
		why.structure = out->v[0];
	else if (out->n > timely)
		why.structure = out->v[timely];
	return why;
}

/* ---- verdicts ---- */

static void decide(struct rk_diff *d, enum rk_diff_verdict v, const char *reason)
{
	d->verdict = v;
	snprintf(d->reason, sizeof(d->reason), "%s", reason);
}

/* Is the growth beyond the gate? With several runs it must also be significant at 99 %. */
static void judge_gate(struct rk_diff_work *w, const char *doubt)
{
	struct rk_diff *d = w->d;
	double df, error = rk_pooled_error(&w->a.totals, &w->b.totals, &df);
	double bound = isnan(error) ? 0 : rk_t99_above(df) * error;

	if (doubt) {
		decide(d, RK_DIFF_UNKNOWN, doubt);
		return;
	}
	d->verdict = RK_DIFF_WITHIN;
	if (d->gpu.percent > d->gate_percent && (double)d->gpu.delta_ns > bound) {
		d->verdict = RK_DIFF_BEYOND;
		snprintf(d->reason, sizeof(d->reason), "GPU time grew by %.2f %%, more than %g %%",
			 d->gpu.percent, d->gate_percent);
	} else if (d->gpu.percent > d->gate_percent) {
		snprintf(d->reason, sizeof(d->reason),
			 "GPU time grew by %.2f %%, more than %g %%, but within the noise of the "
			 "runs",
			 d->gpu.percent, d->gate_percent);
	} else {
		snprintf(d->reason, sizeof(d->reason),
			 "GPU time changed by %+.2f %%, within the limit of %g %%", d->gpu.percent,
			 d->gate_percent);
	}
}

/*
 * Each run of B must equal some run of A. Reports the first one that does not, compared with the
 * first run of A.
 */
static int compare_structures(struct rk_diff_work *w, struct rk_error *err)
{
	const struct rk_profile *first = w->a.profiles[0], *shown = w->b.profiles[0];
	bool alike = true;
	int rc;

	for (size_t i = 0; alike && i < w->b.runs; i++) {
		alike = false;
		for (size_t k = 0; !alike && k < w->a.runs; k++) {
			struct rk_diff_structure s = { .asked = true };

			rc = rk_structure_compare(w->a.profiles[k], w->b.profiles[i], &s, err);
			alike = s.equal;
			rk_structure_release(&s);
			if (rc < 0)
				return rc;
		}
		if (!alike)
			shown = w->b.profiles[i];
	}
	w->d->structure.asked = true;
	/*
	 * runs of A may differ from each other: if B equals one of them, compare the run of B with
	 * itself
	 */
	rc = rk_structure_compare(alike ? shown : first, shown, &w->d->structure, err);
	w->d->structure.launches_a = first->calls;
	return rc;
}

static bool has_rows(const struct rk_side *s)
{
	for (size_t i = 0; i < s->runs; i++)
		if (!s->profiles[i]->structure || (!s->profiles[i]->rows && s->profiles[i]->nnames))
			return false;
	return true;
}

static int judge_structure(struct rk_diff_work *w, const char *doubt, struct rk_error *err)
{
	struct rk_diff *d = w->d;
	int rc;

	d->structure.asked = true;
	if (!has_rows(&w->a) || !has_rows(&w->b)) {
		decide(d, RK_DIFF_UNKNOWN, "statistics files do not list single launches");
		return 0;
	}
	if (!w->a.calls && !w->b.calls && !d->a.copies && !d->b.copies) {
		decide(d, RK_DIFF_UNKNOWN, "neither side has kernels or copies");
		return 0;
	}
	rc = compare_structures(w, err);
	if (rc < 0)
		return rc;
	if (doubt) {
		decide(d, RK_DIFF_UNKNOWN, doubt);
		return 0;
	}
	if (d->structure.equal) {
		decide(d, RK_DIFF_WITHIN, "the structure is the same");
		return 0;
	}
	d->verdict = RK_DIFF_BEYOND;
	snprintf(d->reason, sizeof(d->reason), "the structure differs in %zu places",
		 d->structure.nfindings + d->structure.left_out);
	return 0;
}

static int compare(struct rk_diff_work *w, struct result *r, const struct rk_diff_options *opt,
		   struct rk_error *err)
{
	struct rk_diff *d = w->d;
	struct reasons why;
	int rc = rk_match(&w->a, &w->b, &w->pairs, &w->npairs, err);

	if (rc < 0)
		return rc;
	rc = rk_diff_parts(w, err);
	if (rc < 0)
		return rc;
	d->a = side_of(&w->a, &r->labels_a);
	d->b = side_of(&w->b, &r->labels_b);
	why = list_doubts(w, opt, &r->doubts);
	if (w->texts.bad || r->doubts.bad || r->labels_a.bad || r->labels_b.bad)
		return rk_fail_nomem(err);
	d->doubts = (const char *const *)r->doubts.v;
	d->ndoubts = r->doubts.n;
	d->gated = opt->gated;
	d->gate_percent = opt->gate_percent;
	if (opt->structure) {
		rc = judge_structure(w, why.structure, err);
		if (rc < 0)
			return rc;
	}
	if (opt->gated) {
		enum rk_diff_verdict first = d->verdict;
		char reason[sizeof(d->reason)];

		/* "beyond" takes precedence over "unknown", and "unknown" over "within" */
		memcpy(reason, d->reason, sizeof(reason));
		judge_gate(w, why.gate);
		if (first == RK_DIFF_BEYOND ||
		    (first == RK_DIFF_UNKNOWN && d->verdict == RK_DIFF_WITHIN))
			decide(d, first, reason);
	}
	return 0;
}

static void destroy_diff(void *p)
{
	struct result *r = p;
	struct rk_diff *d = p; /* its first member */

	rk_free(d->kernels);
	rk_free(d->grids);
	rk_free(d->copies.v);
	rk_free(d->calls.v);
	rk_free(d->ranks.v);
	rk_structure_release(&d->structure);
	rk_list_release(&r->texts);
	rk_list_release(&r->doubts);
	rk_list_release(&r->labels_a);
	rk_list_release(&r->labels_b);
	rk_free(r);
}

static int diff_of(const struct rk_profile *const *a, size_t na, const struct rk_profile *const *b,
		   size_t nb, const struct rk_diff_options *opt, struct rk_diff **ret,
		   struct rk_error *err)
{
	struct result *r = rk_calloc(1, sizeof(*r));
	struct rk_diff_work w = { 0 };
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	w.d = &r->d;
	if ((rc = rk_side_make(a, na, &w.a, err)) < 0 ||
	    (rc = rk_side_make(b, nb, &w.b, err)) < 0 || (rc = compare(&w, r, opt, err)) < 0)
		goto out;
	rc = rk_handle_open(RK_HANDLE_DIFF, r, destroy_diff, err);
out:
	r->texts = w.texts;
	rk_side_release(&w.a);
	rk_side_release(&w.b);
	rk_free(w.pairs);
	if (rc < 0)
		destroy_diff(r);
	else
		*ret = &r->d;
	return rc;
}

/* Uses all profiles, or none if one is not valid. */
static int use_profiles(const struct rk_profile *const *p, size_t n, const char *fn,
			struct rk_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int rc = rk_handle_use(RK_HANDLE_PROFILE, p[i], fn, err);

		if (rc < 0) {
			while (i--)
				rk_handle_drop(p[i]);
			return rc;
		}
	}
	return 0;
}

static void drop_profiles(const struct rk_profile *const *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rk_handle_drop(p[i]);
}

int rk_diff_make(const struct rk_profile *const *a, size_t na, const struct rk_profile *const *b,
		 size_t nb, const struct rk_diff_options *opt, struct rk_diff **ret,
		 struct rk_error *err)
{
	static const struct rk_diff_options nothing;
	int rc;

	if (!a || !b || !na || !nb || !ret)
		return rk_misuse(__func__, err);
	rc = RK_CHECK_OPTIONS(opt, __func__, err);
	if (rc < 0)
		return rc;
	if (!opt)
		opt = &nothing;
	/* Reject NaN: no growth is greater than NaN, so everything would pass. */
	if (opt->gated && !(opt->gate_percent >= 0))
		return rk_fail(err, RK_E_USAGE, "the gate must be a percentage of 0 or more");
	rc = use_profiles(a, na, __func__, err);
	if (rc < 0)
		return rc;
	rc = use_profiles(b, nb, __func__, err);
	if (rc < 0)
		goto out;
	rc = diff_of(a, na, b, nb, opt, ret, err);
	drop_profiles(b, nb);
out:
	drop_profiles(a, na);
	return rc;
}

void rk_diff_free(struct rk_diff *d)
{
	rk_handle_close(RK_HANDLE_DIFF, d);
}

int rk_diff_render(const struct rk_diff *d, enum rk_diff_format format,
		   const struct rk_render_options *look, char **ret_text, size_t *ret_len,
		   struct rk_error *err)
{
	static const struct rk_render_options plain;
	struct rk_bytes out;

	if (!d || !ret_text)
		return rk_misuse(__func__, err);
	if (!look)
		look = &plain;
	if (rk_check_enum((unsigned)format, RK_DIFF_MARKDOWN, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	if (format == RK_DIFF_JSON)
		rk_diff_json(&out, d);
	else if (format == RK_DIFF_MARKDOWN)
		rk_diff_markdown(&out, d, look);
	else
		rk_diff_text(&out, d, look);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
