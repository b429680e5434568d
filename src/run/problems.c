/* problems.c - describe the problems of the ranks of a job. */
#include "run/members.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "run/ranks.h"
#include "run/run_ranks.h"

enum { RANGES_MAX = 12, GROUPS_MAX = 4, TEXT_MAX = 8192, RANKS_MAX = 1 << 16 };

/* ---- sentences ---- */

/* The ranks that a sentence is about, ascending. Zero it before use. */
struct rank_list {
	int64_t *v;
	size_t n, cap;
	bool bad;
};

static void list_add(struct rank_list *l, int64_t rank)
{
	int64_t *v;

	if (l->bad)
		return;
	v = rk_grow(l->v, &l->cap, l->n + 1, sizeof(*v));
	if (!v) {
		l->bad = true;
		return;
	}
	l->v = v;
	v[l->n++] = rank;
}

static void list_release(struct rank_list *l)
{
	rk_free(l->v);
	*l = (struct rank_list){ .v = NULL };
}

static const char *one_or_many(const struct rank_list *l, const char *one, const char *many)
{
	return l->n == 1 ? one : many;
}

/* Appends "rank 3" or "ranks 0, 3-5"; truncates a long list and adds its length. */
static void list_put(struct rk_bytes *b, const struct rank_list *l)
{
	unsigned ranges = 0;

	b->bad |= l->bad;
	rk_bytes_puts(b, one_or_many(l, "rank ", "ranks "));
	for (size_t i = 0, to; i < l->n; i = to + 1) {
		to = i;
		while (to + 1 < l->n && l->v[to + 1] == l->v[to] + 1)
			to++;
		if (ranges++ == RANGES_MAX) {
			rk_bytes_printf(b, ", ... (%zu in total)", l->n);
			return;
		}
		rk_bytes_printf(b, "%s%" PRId64, i ? ", " : "", l->v[i]);
		if (to > i)
			rk_bytes_printf(b, to == i + 1 ? ", %" PRId64 : "-%" PRId64, l->v[to]);
	}
}

/* Starts a sentence: the ranks, then the text for one rank or for many. */
static void begin(struct rk_bytes *b, const struct rank_list *l, const char *one, const char *many)
{
	rk_bytes_init(b, TEXT_MAX);
	list_put(b, l);
	rk_bytes_puts(b, one_or_many(l, one, many));
}

/*
 * Adds a problem of the ranks `l` with the text of `b`; releases both. `kind` and `warning` are
 * static.
 */
static int add_problem(struct rk_members *m, const char *kind, const char *warning,
		       struct rank_list *l, struct rk_bytes *b, struct rk_error *err)
{
	const char **warnings =
		rk_grow(m->warnings, &m->cap_warnings, m->nproblems + 1, sizeof(*warnings));
	struct rk_ranks_problem *v =
		rk_grow(m->problems, &m->cap_problems, m->nproblems + 1, sizeof(*v));
	struct rk_ranks_problem new = { .kind = kind, .rank = -1, .count = l->n };
	char *text = NULL;
	int rc;

	if (l->n)
		new.rank = l->v[0];
	b->bad |= l->bad;
	list_release(l);
	rc = rk_bytes_give(b, &text, NULL, err);
	if (v)
		m->problems = v;
	if (warnings)
		m->warnings = warnings;
	if (rc < 0 || !v || !warnings) {
		rk_free(text);
		return rk_fail_nomem(err);
	}
	new.text = text;
	warnings[m->nproblems] = warning;
	v[m->nproblems++] = new;
	return 0;
}

/* ---- problems of single ranks, reported together ---- */

/*
 * Returns the detail by which ranks with the same problem are grouped; NULL: the rank does not have
 * the problem.
 */
typedef const char *fault_of(const struct rk_rank_place *p);

static const char *record_unreadable(const struct rk_rank_place *p)
{
	return p->record ? p->record->fault : NULL;
}

static bool is_ours(const struct rk_rank_place *p)
{
	return p->record && p->record->ours;
}

static const char *unfinished(const struct rk_rank_place *p)
{
	if (!is_ours(p) || strcmp(p->record->text[RK_REC_STATE], "running") != 0)
		return NULL;
	return p->record->text[RK_REC_SCRATCH];
}

static const char *stopped(const struct rk_rank_place *p)
{
	return is_ours(p) && !strcmp(p->record->text[RK_REC_STATE], "stopped") ? "" : NULL;
}

static const char *files_unreadable(const struct rk_rank_place *p)
{
	return p->unreadable ? "" : NULL;
}

static const char *without_kernels(const struct rk_rank_place *p)
{
	bool none = !(p->tables & RK_TABLE_BIT(RK_KERNELS));

	return none || (is_ours(p) && p->record->kernels == 0) ? "" : NULL;
}

static const struct ask {
	const char *kind, *warning;
	fault_of *fault;
	const char *one, *many; /* text after the ranks */
	const char *detail;     /* text before the common detail, unless that is "" */
} asks[] = {
	{ "broken", "damaged-record", record_unreadable, " has an unreadable run.json",
	  " have an unreadable run.json", ": " },
	{ "broken", "unfinished-rank", unfinished,
	  " did not finish: killed, cancelled, node lost, or still running",
	  " did not finish: killed, cancelled, nodes lost, or still running",
	  "; raw files are in " },
	{ "broken", "stopped-rank", stopped, " was stopped before it was done",
	  " were stopped before they were done", "" },
	{ "broken", "damaged-rank", files_unreadable,
	  " has damaged or truncated files, which were skipped",
	  " have damaged or truncated files, which were skipped", "" },
	{ "empty", "empty-rank", without_kernels, " has no kernels", " have no kernels", "" },
};
enum { NASKS = sizeof(asks) / sizeof(asks[0]) };

static bool counts(const struct rk_rank_place *p)
{
	return p->fate == RK_PLACE_USED && !p->again;
}

static int tell(struct rk_members *m, const struct ask *a, const char *common, struct rank_list *l,
		struct rk_error *err)
{
	struct rk_bytes b;

	begin(&b, l, a->one, a->many);
	if (common[0])
		rk_bytes_printf(&b, "%s%s", a->detail, common);
	return add_problem(m, a->kind, a->warning, l, &b, err);
}

/* One sentence per common detail up to a limit, then one for the rest. */
static int ask_all(struct rk_run *run, struct rk_members *m, const struct ask *a,
		   struct rk_error *err)
{
	bool *told = rk_calloc(run->places.n + 1, sizeof(*told));
	unsigned groups = 0;
	int rc = 0;

	if (!told)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < run->places.n; i++) {
		const char *common = counts(&run->places.v[i]) ? a->fault(&run->places.v[i]) : NULL;
		struct rank_list l = { .v = NULL };

		if (!common || told[i])
			continue;
		if (groups++ == GROUPS_MAX)
			common = NULL;
		for (size_t k = i; k < run->places.n; k++) {
			const struct rk_rank_place *p = &run->places.v[k];
			const char *same = counts(p) && !told[k] ? a->fault(p) : NULL;

			if (!same || (common && strcmp(same, common) != 0))
				continue;
			told[k] = true;
			list_add(&l, p->rank);
		}
		rc = tell(m, a, common ? common : "", &l, err);
	}
	rk_free(told);
	return rc;
}

/* ---- differences between ranks ---- */

static int by_rank(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* A rank and the label it is grouped by. */
struct labelled {
	const char *label;
	int64_t rank;
};

static int by_label(const void *a, const void *b)
{
	const struct labelled *x = a, *y = b;
	int order = strcmp(x->label, y->label);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Writes "A on ranks 0-3, B on rank 4", unless all n entries have the same label. */
static int tell_groups(struct rk_members *m, const char *warning, struct labelled *v, size_t n,
		       struct rk_error *err)
{
	struct rank_list all = { .v = NULL };
	unsigned groups = 0;
	struct rk_bytes b;
	int rc = 0;

	if (n)
		qsort(v, n, sizeof(*v), by_label);
	rk_bytes_init(&b, TEXT_MAX);
	rk_bytes_puts(&b, "recorded by different versions: ");
	for (size_t i = 0, to; i < n; i = to) {
		struct rank_list l = { .v = NULL };

		for (to = i; to < n && !strcmp(v[to].label, v[i].label); to++) {
			list_add(&l, v[to].rank);
			list_add(&all, v[to].rank);
		}
		groups++;
		if (groups <= GROUPS_MAX) {
			rk_bytes_printf(&b, "%s%s on ", i ? ", " : "", v[i].label);
			list_put(&b, &l);
		} else if (groups == GROUPS_MAX + 1) {
			rk_bytes_puts(&b, ", and others");
		}
		list_release(&l);
	}
	if (groups > 1 || b.bad) {
		if (all.n)
			qsort(all.v, all.n, sizeof(*all.v), by_rank);
		rc = add_problem(m, "versions", warning, &all, &b, err);
	}
	list_release(&all);
	rk_bytes_release(&b);
	return rc;
}

/* Compares the versions of the profiler, or those of rockit. */
static int compare_versions(struct rk_run *run, struct rk_members *m, bool rockit,
			    struct rk_error *err)
{
	struct labelled *v = rk_calloc(run->places.n + 1, sizeof(*v));
	const char *warning = "tool-versions";
	size_t n = 0;
	int rc;

	if (!v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < run->places.n; i++) {
		const struct rk_rank_place *p = &run->places.v[i];
		char *const *text, *label;

		if (!counts(p) || !is_ours(p))
			continue;
		text = p->record->text;
		if (!text[rockit ? RK_REC_ROCKIT : RK_REC_TOOL][0])
			continue;
		if (rockit)
			label = rk_strf("rockit %s", text[RK_REC_ROCKIT]);
		else
			label = rk_strf("%s %s", text[RK_REC_TOOL], text[RK_REC_TOOL_VERSION]);
		if (!label) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		v[n++] = (struct labelled){ label, p->rank };
	}
	if (rockit)
		warning = "rockit-versions";
	rc = tell_groups(m, warning, v, n, err);
out:
	for (size_t i = 0; i < n; i++)
		rk_free((char *)v[i].label);
	rk_free(v);
	return rc;
}

/* ---- nodes ---- */

static int by_node(const void *a, const void *b)
{
	const struct rk_member *x = *(const struct rk_member *const *)a;
	const struct rk_member *y = *(const struct rk_member *const *)b;
	int order = strcmp(x->node, y->node);

	if (order)
		return order;
	if (x->machine != y->machine)
		return x->machine < y->machine ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* n ranks whose nodes have the same name but are several machines. */
static int tell_clash(struct rk_members *m, const struct rk_member **v, size_t n,
		      struct rk_error *err)
{
	struct rank_list all = { .v = NULL }, l = { .v = NULL };
	unsigned machines = 0;
	struct rk_bytes b;

	rk_bytes_init(&b, TEXT_MAX);
	rk_bytes_printf(
		&b, "several machines are named '%s', or the machine was rebooted: ", v[0]->node);
	for (size_t i = 0; i < n; i++) {
		list_add(&all, v[i]->rank);
		list_add(&l, v[i]->rank);
		if (i + 1 < n && v[i + 1]->machine == v[i]->machine)
			continue;
		if (machines++ < GROUPS_MAX) {
			if (machines > 1)
				rk_bytes_puts(&b, " and ");
			list_put(&b, &l);
		}
		list_release(&l);
	}
	if (machines > GROUPS_MAX)
		rk_bytes_puts(&b, " and others");
	rk_bytes_puts(&b, " have different clocks");
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_rank);
	return add_problem(m, "nodes", "node-names", &all, &b, err);
}

static int compare_nodes(struct rk_members *m, struct rk_error *err)
{
	const struct rk_member **v = rk_calloc(m->n + 1, sizeof(*v));
	int rc = 0;

	if (!v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < m->n; i++)
		v[i] = &m->v[i];
	if (m->n)
		qsort(v, m->n, sizeof(*v), by_node);
	for (size_t i = 0, to; rc == 0 && i < m->n; i = to) {
		for (to = i + 1; to < m->n && !strcmp(v[to]->node, v[i]->node); to++)
			continue;
		m->nodes += v[i]->node[0] != '\0';
		if (v[i]->node[0] && v[to - 1]->machine != v[i]->machine)
			rc = tell_clash(m, v + i, to - i, err);
	}
	rk_free(v);
	return rc;
}

/* ---- programs that failed ---- */

static int tell_statuses(struct rk_members *m, struct rk_error *err)
{
	struct rank_list l = { .v = NULL };
	int64_t first = 0;
	bool same = true;
	struct rk_bytes b;

	for (size_t i = 0; i < m->n; i++) {
		const struct rk_member *v = &m->v[i];

		if (v->status <= 0 || !strcmp(v->state, "running"))
			continue;
		if (!l.n)
			first = v->status;
		same = same && v->status == first;
		list_add(&l, v->rank);
	}
	if (!l.n && !l.bad)
		return 0;
	rk_bytes_init(&b, TEXT_MAX);
	rk_bytes_puts(&b, "the program of ");
	list_put(&b, &l);
	rk_bytes_printf(&b, " exited with status %" PRId64, first);
	if (first > 128 && first < 128 + 65)
		rk_bytes_printf(&b, " (signal %" PRId64 ")", first - 128);
	if (!same)
		rk_bytes_puts(&b, " and others");
	return add_problem(m, "broken", "failed-rank", &l, &b, err);
}

/* ---- missing ranks ---- */

static int tell_missing(struct rk_run *run, struct rk_members *m, struct rk_error *err)
{
	int64_t last = m->n ? m->v[m->n - 1].rank : -1;
	int64_t most = m->size ? (int64_t)m->size : last + 1;
	const char *chosen = NULL; /* --ranks of the first run.json; NULL: all */
	struct rank_list l = { .v = NULL };
	struct rk_bytes b;
	bool *wanted;
	int rc;

	if (run->some_ranks || most <= 0)
		return 0;
	rk_bytes_init(&b, TEXT_MAX);
	if (most > RANKS_MAX) {
		rk_bytes_printf(&b, "only %zu of %" PRId64 " ranks are present", m->n, most);
		return add_problem(m, "missing", "missing-ranks", &l, &b, err);
	}
	for (size_t i = 0; !chosen && i < run->places.n; i++)
		if (run->places.v[i].fate == RK_PLACE_USED && is_ours(&run->places.v[i]))
			chosen = run->places.v[i].record->text[RK_REC_RANKS];
	if (chosen && !chosen[0])
		chosen = NULL;
	wanted = rk_calloc((size_t)most + 1, sizeof(*wanted));
	if (!wanted)
		return rk_fail_nomem(err);
	rc = rk_ranks_chosen(chosen, (size_t)most, wanted, err);
	if (rc < 0) {
		rk_free(wanted);
		return rc;
	}
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].rank < most)
			wanted[m->v[i].rank] = false;
	for (int64_t r = 0; r < most; r++)
		if (wanted[r])
			list_add(&l, r);
	rk_free(wanted);
	if (!l.n && !l.bad)
		return 0;
	list_put(&b, &l);
	if (m->size)
		rk_bytes_printf(&b, " of %" PRIu64, m->size);
	rk_bytes_puts(&b, one_or_many(&l, " is missing", " are missing"));
	if (!m->size)
		rk_bytes_printf(&b, "; the highest rank is %" PRId64, last);
	return add_problem(m, "missing", "missing-ranks", &l, &b, err);
}

/* ---- ranks with two folders ---- */

static bool is_twice(const struct rk_rank_place *p)
{
	return p->fate == RK_PLACE_DUPLICATE || p->again;
}

static size_t parent_len(const char *folder)
{
	return (size_t)(rk_base_name(folder) - folder);
}

static bool same_parent(const struct rk_rank_place *a, const struct rk_rank_place *b)
{
	size_t len = parent_len(a->folder);

	return len == parent_len(b->folder) && !strncmp(a->folder, b->folder, len);
}

static const char *why_not(const struct rk_rank_place *p, const struct rk_rank_place *used)
{
	if (is_ours(p) && is_ours(used) && rk_place_other_job(p, used))
		return "from another job";
	if (!p->tables && used->tables)
		return "no readable files";
	if (!is_ours(p))
		return "no run.json";
	if (strcmp(p->record->text[RK_REC_STATE], "done") != 0)
		return "not finished";
	return "found later";
}

static int tell_twice(struct rk_members *m, const struct rk_rank_place *p,
		      const struct rk_rank_place *used, struct rank_list *l, struct rk_error *err)
{
	const char *more = one_or_many(l, "", " and so on"), *warning = "duplicate-rank";
	struct rk_bytes b;

	begin(&b, l, " has two folders: ", " have two folders each: ");
	if (p->again) {
		warning = "ambiguous-rank";
		rk_bytes_printf(
			&b, "'%s' and '%s'%s; it is unclear which is current, so both are counted",
			used->folder, p->folder, more);
	} else {
		rk_bytes_printf(&b, "'%s'%s is used, '%s' is not (%s)", used->folder, more,
				p->folder, why_not(p, used));
	}
	return add_problem(m, "duplicate", warning, l, &b, err);
}

/* One sentence for all ranks whose folders are in the same parents. */
static int tell_all_twice(struct rk_run *run, struct rk_members *m, struct rk_error *err)
{
	bool *told = rk_calloc(run->places.n + 1, sizeof(*told));
	unsigned groups = 0;
	int rc = 0;

	if (!told)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < run->places.n; i++) {
		const struct rk_rank_place *p = &run->places.v[i], *used;
		struct rank_list l = { .v = NULL };
		bool rest;

		if (told[i] || !is_twice(p))
			continue;
		used = rk_run_place_of(run, p->rank);
		rest = groups++ == GROUPS_MAX;
		for (size_t k = i; k < run->places.n; k++) {
			const struct rk_rank_place *o = &run->places.v[k];

			if (told[k] || !is_twice(o))
				continue;
			if (!rest && (p->again != o->again || !same_parent(p, o) ||
				      !same_parent(used, rk_run_place_of(run, o->rank))))
				continue;
			told[k] = true;
			if (!l.n || l.v[l.n - 1] != o->rank)
				list_add(&l, o->rank);
		}
		rc = tell_twice(m, p, used, &l, err);
	}
	rk_free(told);
	return rc;
}

/* ---- ranks of another job ---- */

static void put_job(struct rk_bytes *b, const struct rk_rank_place *p)
{
	const struct rk_run_record *r = p->record;

	if (r->text[RK_REC_JOB][0])
		rk_bytes_printf(b, "job %s", r->text[RK_REC_JOB]);
	else
		rk_bytes_puts(b, "a job");
	if (r->size > 0)
		rk_bytes_printf(b, " of %" PRId64 " ranks", r->size);
}

static int tell_other_jobs(struct rk_run *run, struct rk_members *m, enum rk_place_fate fate,
			   struct rk_error *err)
{
	const struct rk_rank_place *most = NULL, *first = NULL;
	const char *warning = "several-jobs", *end = "; all are counted";
	struct rank_list l = { .v = NULL };
	struct rk_bytes b;

	for (size_t i = 0; !most && i < run->places.n; i++)
		if (run->places.v[i].fate == RK_PLACE_USED && rk_place_tells_job(&run->places.v[i]))
			most = &run->places.v[i];
	for (size_t i = 0; most && i < run->places.n; i++) {
		const struct rk_rank_place *p = &run->places.v[i];

		if (p->fate != fate || !rk_place_tells_job(p) || !rk_place_other_job(most, p) ||
		    (l.n && l.v[l.n - 1] == p->rank))
			continue;
		if (!first)
			first = p;
		list_add(&l, p->rank);
	}
	if (!first)
		return 0;
	if (fate == RK_PLACE_OTHER_JOB) {
		warning = "other-job";
		end = "; skipped";
	}
	begin(&b, &l, "", "");
	rk_bytes_puts(&b, " in '");
	rk_bytes_put(&b, first->folder, parent_len(first->folder));
	if (!parent_len(first->folder))
		rk_bytes_puts(&b, ".");
	rk_bytes_printf(&b, "'%s from ", one_or_many(&l, " is", " are"));
	put_job(&b, first);
	rk_bytes_puts(&b, ", others from ");
	put_job(&b, most);
	rk_bytes_puts(&b, end);
	return add_problem(m, "other-job", warning, &l, &b, err);
}

/* Reports ranks left by an earlier job if no rank says which job it belongs to. */
static int tell_too_many(struct rk_members *m, struct rk_error *err)
{
	struct rank_list l = { .v = NULL };
	struct rk_bytes b;

	for (size_t i = 0; m->size && i < m->n; i++)
		if ((uint64_t)m->v[i].rank >= m->size)
			list_add(&l, m->v[i].rank);
	if (!l.n && !l.bad)
		return 0;
	begin(&b, &l, " does not belong", " do not belong");
	rk_bytes_printf(&b, " to a job of %" PRIu64 " ranks", m->size);
	return add_problem(m, "other-job", "too-many-ranks", &l, &b, err);
}

/* ---- folders with a wrong name ---- */

static int tell_renamed(struct rk_run *run, struct rk_members *m, struct rk_error *err)
{
	const struct rk_rank_place *first = NULL;
	struct rank_list l = { .v = NULL };
	struct rk_bytes b;

	for (size_t i = 0; i < run->places.n; i++) {
		const struct rk_rank_place *p = &run->places.v[i];

		if (!p->record || p->record->rank < 0 || p->record->rank == p->rank ||
		    p->fate != RK_PLACE_USED)
			continue;
		if (!first)
			first = p;
		list_add(&l, p->rank);
	}
	if (!first)
		return 0;
	begin(&b, &l, " has the run.json of another rank", " have the run.json of other ranks");
	rk_bytes_printf(&b, " ('%s': rank %" PRId64 "); the folder names are used", first->folder,
			first->record->rank);
	return add_problem(m, "broken", "renamed-rank", &l, &b, err);
}

/* ---- entry points ---- */

int rk_problems_find(struct rk_run *run, struct rk_members *m, struct rk_error *err)
{
	int rc;

	if ((rc = tell_missing(run, m, err)) < 0 || (rc = tell_all_twice(run, m, err)) < 0 ||
	    (rc = tell_other_jobs(run, m, RK_PLACE_OTHER_JOB, err)) < 0 ||
	    (rc = tell_other_jobs(run, m, RK_PLACE_USED, err)) < 0 ||
	    (rc = tell_too_many(m, err)) < 0 || (rc = tell_renamed(run, m, err)) < 0)
		return rc;
	for (unsigned i = 0; i < NASKS; i++)
		if ((rc = ask_all(run, m, &asks[i], err)) < 0)
			return rc;
	if ((rc = tell_statuses(m, err)) < 0 || (rc = compare_versions(run, m, false, err)) < 0 ||
	    (rc = compare_versions(run, m, true, err)) < 0)
		return rc;
	return compare_nodes(m, err);
}

int rk_problems_damaged(struct rk_run *run, struct rk_members *m, struct rk_error *err)
{
	static const struct ask damaged = {
		"broken",
		"damaged-rows",
		NULL,
		" has damaged tables; only rows before the damage are counted",
		" have damaged tables; only rows before the damage are counted",
		""
	};
	struct rank_list l = { .v = NULL };
	size_t n = 0;

	for (size_t i = 0; i < run->nfound; i++)
		if (run->found[i].damaged && run->found[i].rank >= 0)
			list_add(&l, run->found[i].rank);
	if (!l.n && !l.bad)
		return 0;
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), by_rank);
	for (size_t i = 0; i < l.n; i++)
		if (!n || l.v[i] != l.v[n - 1])
			l.v[n++] = l.v[i];
	l.n = n;
	return tell(m, &damaged, "", &l, err);
}
