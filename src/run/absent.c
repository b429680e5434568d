/* absent.c - ranks that are missing, that come twice, and that are of another job. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "run/members.h"
#include "run/ranks.h"
#include "run/run_ranks.h"

enum { TEXT_MAX = 8192, RANKS_MAX = 1 << 16, GROUPS_MAX = 4 };

/* ---- missing ---- */

/* The ranks that were to be profiled, as some rank's run.json has it; NULL: all. */
static const char *chosen(const struct rk_run *run)
{
	for (size_t i = 0; i < run->nplaces; i++) {
		const struct rk_run_record *r = run->places[i].record;

		if (run->places[i].fate == RK_PLACE_USED && r && r->ours)
			return r->text[RK_REC_RANKS][0] ? r->text[RK_REC_RANKS] : NULL;
	}
	return NULL;
}

static int find_missing(const struct rk_run *run, const struct rk_fuse_members *m, size_t most,
			struct rk_rank_list *ret, struct rk_error *err)
{
	bool *wanted = rk_calloc(most + 1, sizeof(*wanted));
	int rc = wanted ? rk_ranks_chosen(chosen(run), most, wanted, err) : rk_fail_nomem(err);
	size_t at = 0;

	for (size_t r = 0; rc == 0 && r < most; r++) {
		while (at < m->n && m->v[at].rank < (int64_t)r)
			at++;
		if (wanted[r] && (at == m->n || m->v[at].rank != (int64_t)r))
			rk_rank_list_add(ret, (int64_t)r);
	}
	rk_free(wanted);
	return rc;
}

static int tell_missing(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err)
{
	int64_t last = m->n ? m->v[m->n - 1].rank : -1;
	int64_t most = m->size ? (int64_t)m->size : last + 1;
	struct rk_rank_list l = { .v = NULL };
	struct rk_bytes b;
	int rc = 0;

	if (run->some_ranks)
		return 0;
	if (most > 0 && most <= RANKS_MAX)
		rc = find_missing(run, m, (size_t)most, &l, err);
	rk_bytes_init(&b, TEXT_MAX);
	if (most > RANKS_MAX) {
		rk_bytes_printf(&b, "only %zu ranks of %" PRId64 " are here", m->n, most);
	} else if (l.n || l.bad) {
		rk_rank_list_put(&b, &l);
		if (m->size)
			rk_bytes_printf(&b, " of %" PRIu64, m->size);
		rk_bytes_puts(&b, l.n == 1 ? " is missing" : " are missing");
		if (!m->size)
			rk_bytes_printf(&b, "; the highest is rank %" PRId64, last);
	}
	if (rc == 0 && (b.len || b.bad))
		rc = rk_problem_add(m, "missing", "missing-ranks", &l, &b, err);
	rk_rank_list_release(&l);
	rk_bytes_release(&b);
	return rc;
}

/* ---- twice ---- */

static bool is_twice(const struct rk_rank_place *p)
{
	return p->fate == RK_PLACE_DUPLICATE || p->again;
}

static size_t parent_len(const char *folder)
{
	return (size_t)(rk_base_name(folder) - folder);
}

static bool same_parent(const char *a, const char *b)
{
	return parent_len(a) == parent_len(b) && !strncmp(a, b, parent_len(a));
}

/* Whether two that come twice are told in one sentence: their folders lie beside each other. */
static bool told_with(const struct rk_run *run, const struct rk_rank_place *a,
		      const struct rk_rank_place *b)
{
	const struct rk_rank_place *x = rk_run_place_of(run, a->rank);
	const struct rk_rank_place *y = rk_run_place_of(run, b->rank);

	return a->again == b->again && same_parent(a->folder, b->folder) &&
	       same_parent(x->folder, y->folder);
}

static const char *why_not(const struct rk_rank_place *p, const struct rk_rank_place *used)
{
	bool ours = p->record && p->record->ours, both = ours && used->record && used->record->ours;

	if (both && rk_place_other_job(p, used))
		return "of another job";
	if (!p->tables && used->tables)
		return "nothing there can be read";
	if (ours && strcmp(p->record->text[RK_REC_STATE], "done") != 0)
		return "not finished";
	return ours ? "found later" : "no run.json";
}

static int tell_twice(struct rk_run *run, struct rk_fuse_members *m, const struct rk_rank_place *p,
		      const struct rk_rank_list *l, struct rk_error *err)
{
	const struct rk_rank_place *used = rk_run_place_of(run, p->rank);
	struct rk_bytes b;

	rk_bytes_init(&b, TEXT_MAX);
	rk_rank_list_put(&b, l);
	rk_bytes_printf(&b, l->n == 1 ? " has two folders: " : " have two folders each: ");
	if (p->again)
		rk_bytes_printf(
			&b, "'%s' and '%s'%s; nothing says which is meant, and both are counted",
			used->folder, p->folder, l->n > 1 ? " and so on" : "");
	else
		rk_bytes_printf(&b, "'%s'%s is used, '%s' is not (%s)", used->folder,
				l->n > 1 ? " and so on" : "", p->folder, why_not(p, used));
	return rk_problem_add(m, "duplicate", p->again ? "ambiguous-rank" : "duplicate-rank", l, &b,
			      err);
}

static int tell_all_twice(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err)
{
	bool *told = rk_calloc(run->nplaces + 1, sizeof(*told));
	unsigned groups = 0;
	int rc = told ? 0 : rk_fail_nomem(err);

	for (size_t i = 0; rc == 0 && i < run->nplaces; i++) {
		const struct rk_rank_place *p = &run->places[i];
		struct rk_rank_list l = { .v = NULL };
		bool rest;

		if (told[i] || !is_twice(p))
			continue;
		rest = groups++ == GROUPS_MAX;
		for (size_t k = i; k < run->nplaces; k++) {
			const struct rk_rank_place *o = &run->places[k];

			if (told[k] || !is_twice(o) || (!rest && !told_with(run, p, o)))
				continue;
			told[k] = true;
			if (!l.n || l.v[l.n - 1] != o->rank)
				rk_rank_list_add(&l, o->rank);
		}
		rc = tell_twice(run, m, p, &l, err);
		rk_rank_list_release(&l);
	}
	rk_free(told);
	return rc;
}

/* ---- of another job ---- */

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

static bool tells_job(const struct rk_rank_place *p)
{
	return p->record && p->record->ours &&
	       (p->record->text[RK_REC_JOB][0] || p->record->size > 0);
}

/* The first that is used and says of which job it is. */
static const struct rk_rank_place *job_of_most(const struct rk_run *run)
{
	for (size_t i = 0; i < run->nplaces; i++)
		if (run->places[i].fate == RK_PLACE_USED && tells_job(&run->places[i]))
			return &run->places[i];
	return NULL;
}

static int tell_other_jobs(struct rk_run *run, struct rk_fuse_members *m, bool left_out,
			   struct rk_error *err)
{
	const struct rk_rank_place *most = job_of_most(run), *first = NULL;
	struct rk_rank_list l = { .v = NULL };
	struct rk_bytes b;
	int rc = 0;

	for (size_t i = 0; most && i < run->nplaces; i++) {
		const struct rk_rank_place *p = &run->places[i];

		if (p->fate != (left_out ? RK_PLACE_OTHER_JOB : RK_PLACE_USED) || !tells_job(p) ||
		    !rk_place_other_job(most, p) || (l.n && l.v[l.n - 1] == p->rank))
			continue;
		first = first ? first : p;
		rk_rank_list_add(&l, p->rank);
	}
	if (first) {
		rk_bytes_init(&b, TEXT_MAX);
		rk_rank_list_put(&b, &l);
		rk_bytes_printf(&b, " in '%.*s'%s of ", (int)parent_len(first->folder),
				parent_len(first->folder) ? first->folder : ".",
				l.n == 1 ? " is" : " are");
		put_job(&b, first);
		rk_bytes_puts(&b, ", others of ");
		put_job(&b, most);
		rk_bytes_puts(&b, left_out ? ", and left out" : "; all are counted");
		rc = rk_problem_add(m, "other-job", left_out ? "other-job" : "several-jobs", &l, &b,
				    err);
	}
	rk_rank_list_release(&l);
	return rc;
}

/* Left behind by an earlier job, where no rank says which job it is of. */
static int tell_too_many(struct rk_fuse_members *m, struct rk_error *err)
{
	struct rk_rank_list l = { .v = NULL };
	struct rk_bytes b;
	int rc = 0;

	for (size_t i = 0; m->size && i < m->n; i++)
		if ((uint64_t)m->v[i].rank >= m->size)
			rk_rank_list_add(&l, m->v[i].rank);
	if (l.n || l.bad) {
		rk_bytes_init(&b, TEXT_MAX);
		rk_rank_list_put(&b, &l);
		rk_bytes_printf(&b,
				l.n == 1 ? " is too many for a job of %" PRIu64 :
					   " are too many for a job of %" PRIu64,
				m->size);
		rc = rk_problem_add(m, "other-job", "too-many-ranks", &l, &b, err);
	}
	rk_rank_list_release(&l);
	return rc;
}

/* ---- a folder under a wrong name ---- */

static int tell_renamed(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err)
{
	const struct rk_rank_place *first = NULL;
	struct rk_rank_list l = { .v = NULL };
	struct rk_bytes b;
	int rc = 0;

	for (size_t i = 0; i < run->nplaces; i++) {
		const struct rk_rank_place *p = &run->places[i];

		if (!p->record || p->record->rank < 0 || p->record->rank == p->rank ||
		    p->fate != RK_PLACE_USED)
			continue;
		first = first ? first : p;
		rk_rank_list_add(&l, p->rank);
	}
	if (first) {
		rk_bytes_init(&b, TEXT_MAX);
		rk_rank_list_put(&b, &l);
		rk_bytes_printf(&b, l.n == 1 ? " has the run.json of another rank" :
					       " have the run.json of other ranks");
		rk_bytes_printf(&b, " ('%s': rank %" PRId64 "); the names of folders count",
				first->folder, first->record->rank);
		rc = rk_problem_add(m, "broken", "renamed-rank", &l, &b, err);
	}
	rk_rank_list_release(&l);
	return rc;
}

int rk_fuse_absent(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err)
{
	int rc = tell_missing(run, m, err);

	if (rc == 0)
		rc = tell_all_twice(run, m, err);
	for (int left_out = 1; rc == 0 && left_out >= 0; left_out--)
		rc = tell_other_jobs(run, m, left_out, err);
	if (rc == 0)
		rc = tell_too_many(m, err);
	return rc < 0 ? rc : tell_renamed(run, m, err);
}
