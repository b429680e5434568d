/* slurm_parts.c - see slurm_parts.h. */
#include "slurm/slurm_parts.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "codec/json/tree.h"
#include "run/ranks.h"
#include "run/run_json.h"

const char *rk_part_state_name(enum rk_part_state s)
{
	static const char *const names[] = { "done", "failed", "unfinished", "unreadable" };

	return names[s];
}

/* Of a run.json; the file of a submitted job has the same keys. */
static char *text_at(const struct rk_tree *t, enum rk_run_key k)
{
	return rk_strdup(rk_tree_text(rk_run_json_at(t, k), ""));
}

static int64_t number_at(const struct rk_tree *t, enum rk_run_key k, int64_t missing)
{
	int64_t v;

	return rk_tree_int(rk_run_json_at(t, k), &v) ? v : missing;
}

/* What became of it, in the words of its run.json. */
static void judge(struct rk_part *part, const struct rk_tree *t)
{
	const char *state = rk_tree_text(rk_run_json_at(t, RK_RUN_STATE), "");
	const char *moved = rk_tree_text(rk_run_json_at(t, RK_RUN_DROPPED_MOVE), NULL);
	const char *scratch = rk_tree_text(rk_run_json_at(t, RK_RUN_SCRATCH), "");

	part->status = number_at(t, RK_RUN_EXIT_STATUS, 0);
	if (!strcmp(state, "running")) {
		part->state = RK_PART_UNFINISHED;
		part->why = scratch[0] ? rk_strf("what there is lies in '%s'", scratch) :
					 rk_strdup("it runs, or was killed");
	} else if (moved) {
		part->state = RK_PART_FAILED;
		part->why = rk_strf("it stays in '%s': %s", scratch, moved);
	} else if (part->status) {
		part->state = RK_PART_FAILED;
		part->why = rk_strf("exit status %" PRId64, part->status);
	} else {
		part->state = !strcmp(state, "done") ? RK_PART_DONE : RK_PART_FAILED;
		part->why = rk_strdup(part->state == RK_PART_DONE ? "" : "not all passes were run");
	}
}

static int read_part(const char *dir, const char *name, struct rk_part *part,
		     struct rk_error *ret_err)
{
	char *path = rk_strf("%s/%s/" RK_RUN_JSON, dir, name);
	struct rk_error err = { 0 };
	struct rk_tree *t = NULL;
	int64_t kernels;
	int rc = path ? rk_run_json_load(path, &t, &err) : RK_E_NOMEM;

	*part = (struct rk_part){ .rank = rk_rank_of_folder(name), .size = -1 };
	if (rc == 0) {
		judge(part, t);
		kernels = number_at(t, RK_RUN_DELIVERED_KERNELS, 0);
		part->kernels = kernels > 0 ? (uint64_t)kernels : 0;
		part->size = number_at(t, RK_RUN_SIZE, -1);
	} else {
		part->state = RK_PART_UNREADABLE;
		part->why = rk_strf(RK_RUN_JSON ": %s", err.message);
	}
	part->node = text_at(t, RK_RUN_NODE);
	part->job = text_at(t, RK_RUN_JOB);
	rk_tree_free(t);
	rk_free(path);
	return rc != RK_E_NOMEM && part->node && part->job && part->why ? 0 :
									  rk_fail_nomem(ret_err);
}

static int by_rank(const void *a, const void *b)
{
	int64_t x = ((const struct rk_part *)a)->rank, y = ((const struct rk_part *)b)->rank;

	return (x > y) - (x < y);
}

static int list_folders(const char *dir, struct rk_list *ret, struct rk_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return rk_fail_errno(err, errno, "cannot read the directory '%s'", dir);
	while ((e = readdir(d)) != NULL)
		if (rk_rank_of_folder(e->d_name) >= 0)
			rk_list_add(ret, e->d_name);
	closedir(d);
	if (ret->n > RK_SLURM_RANKS_MAX)
		return rk_fail(err, RK_E_LIMIT, "more than %d ranks in '%s'", RK_SLURM_RANKS_MAX,
			       dir);
	return ret->bad ? rk_fail_nomem(err) : 0;
}

static int read_parts(struct rk_slurm_parts *p, struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = list_folders(p->dir, &names, err);

	if (rc == 0) {
		p->v = rk_calloc(names.n ? names.n : 1, sizeof(*p->v));
		rc = p->v ? 0 : rk_fail_nomem(err);
	}
	for (; rc == 0 && p->n < names.n; p->n++)
		rc = read_part(p->dir, names.v[p->n], &p->v[p->n], err);
	rk_list_release(&names);
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_rank);
	return rc;
}

/* What was submitted says how many there should be, even where not one has come. */
static int read_job(struct rk_slurm_parts *p, struct rk_error *err)
{
	char *path = rk_strf("%s/" RK_SLURM_JOB_FILE, p->dir);
	struct rk_tree *t = NULL;
	const char *ranks = NULL;
	int rc = path ? rk_tree_load_found(path, &t, NULL) : RK_E_NOMEM;

	if (rc == 0) {
		p->size = number_at(t, RK_RUN_SIZE, -1);
		ranks = rk_tree_text(rk_run_json_at(t, RK_RUN_RANKS), NULL);
		p->ranks = ranks ? rk_strdup(ranks) : NULL;
	}
	p->job = text_at(t, RK_RUN_JOB);
	rk_tree_free(t);
	rk_free(path);
	return rc != RK_E_NOMEM && p->job && (p->ranks || !ranks) ? 0 : rk_fail_nomem(err);
}

/* What no submitted job says: from the ranks that are there. */
static int from_ranks(struct rk_slurm_parts *p, struct rk_error *err)
{
	bool said = p->size >= 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!said && p->v[i].size > p->size)
			p->size = p->v[i].size;
		if (!p->job[0] && p->v[i].job[0]) {
			rk_free(p->job);
			p->job = rk_strdup(p->v[i].job);
			if (!p->job)
				return rk_fail_nomem(err);
		}
	}
	return 0;
}

static void compare_jobs(struct rk_slurm_parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct rk_part *v = &p->v[i];

		if (v->job[0] && p->job[0] && strcmp(v->job, p->job) != 0)
			rk_list_addf(&p->notes, "rank %" PRId64 " is of job %s, not of %s", v->rank,
				     v->job, p->job);
		if (p->size >= 0 && v->rank >= p->size)
			rk_list_addf(&p->notes,
				     "rank %" PRId64 " is one too many for a job of %" PRId64,
				     v->rank, p->size);
		if (i && v->rank == v[-1].rank)
			rk_list_addf(&p->notes, "rank %" PRId64 " has two folders", v->rank);
	}
}

static int find_missing(struct rk_slurm_parts *p, struct rk_error *err)
{
	size_t most = p->size > RK_SLURM_RANKS_MAX ? RK_SLURM_RANKS_MAX :
		      p->size > 0                  ? (size_t)p->size :
						     0;
	bool *wanted = rk_calloc(most + 1, sizeof(*wanted));
	size_t at = 0;
	int rc;

	p->missing = rk_calloc(most + 1, sizeof(*p->missing));
	rc = wanted && p->missing ? rk_ranks_chosen(p->ranks, most, wanted, err) :
				    rk_fail_nomem(err);
	for (size_t r = 0; rc == 0 && r < most; r++) {
		while (at < p->n && p->v[at].rank < (int64_t)r)
			at++;
		if (wanted[r] && (at == p->n || p->v[at].rank != (int64_t)r))
			p->missing[p->nmissing++] = (int64_t)r;
	}
	rk_free(wanted);
	return rc;
}

/* The same for all ranks that were profiled; the others leave nothing. */
static int read_choice(struct rk_slurm_parts *p, struct rk_error *err)
{
	struct rk_tree *t = NULL;
	const char *ranks;
	int rc = 0;

	for (size_t i = 0; !p->ranks && !t && i < p->n && rc != RK_E_NOMEM; i++) {
		char *path = rk_strf("%s/rank-%05" PRId64 "/" RK_RUN_JSON, p->dir, p->v[i].rank);

		if (p->v[i].state != RK_PART_UNREADABLE)
			rc = path ? rk_run_json_load(path, &t, NULL) : RK_E_NOMEM;
		rk_free(path);
	}
	ranks = rk_tree_text(rk_run_json_at(t, RK_RUN_RANKS), NULL);
	if (ranks) {
		p->ranks = rk_strdup(ranks);
		rc = p->ranks ? rc : RK_E_NOMEM;
	}
	rk_tree_free(t);
	return rc == RK_E_NOMEM ? rk_fail_nomem(err) : 0;
}

static void destroy_parts(void *arg)
{
	struct rk_slurm_parts *p = arg;

	if (!p)
		return;
	for (size_t i = 0; p->v && i < p->n; i++) {
		rk_free(p->v[i].node);
		rk_free(p->v[i].job);
		rk_free(p->v[i].why);
	}
	rk_free(p->v);
	rk_free(p->missing);
	rk_free(p->ranks);
	rk_free(p->dir);
	rk_free(p->job);
	rk_list_release(&p->notes);
	rk_free(p);
}

int rk_slurm_collect(const char *dir, struct rk_slurm_parts **ret, struct rk_error *err)
{
	struct rk_slurm_parts *p;
	int rc;

	if (!dir || !ret)
		return rk_misuse(__func__, err);
	p = rk_calloc(1, sizeof(*p));
	rc = p ? 0 : rk_fail_nomem(err);
	if (rc == 0) {
		p->size = -1;
		p->dir = rk_strdup(dir);
		rc = p->dir ? read_parts(p, err) : rk_fail_nomem(err);
	}
	if (rc == 0)
		rc = read_job(p, err);
	if (rc == 0)
		rc = from_ranks(p, err);
	if (rc == 0)
		rc = read_choice(p, err);
	if (rc == 0)
		rc = find_missing(p, err);
	if (rc == 0) {
		compare_jobs(p);
		rc = p->notes.bad ? rk_fail_nomem(err) : 0;
	}
	if (rc == 0)
		rc = rk_handle_open(RK_HANDLE_SLURM_PARTS, p, destroy_parts, err);
	if (rc < 0) {
		destroy_parts(p);
		return rc;
	}
	*ret = p;
	return 0;
}

bool rk_slurm_whole(const struct rk_slurm_parts *p)
{
	bool whole;

	if (!rk_handle_hold(RK_HANDLE_SLURM_PARTS, p))
		return false;
	whole = p->n && !p->nmissing && !p->notes.n;
	for (size_t i = 0; i < p->n; i++)
		whole = whole && p->v[i].state == RK_PART_DONE;
	rk_handle_drop(p);
	return whole;
}

void rk_slurm_parts_free(struct rk_slurm_parts *p)
{
	rk_handle_close(RK_HANDLE_SLURM_PARTS, p);
}

int rk_slurm_render(const struct rk_slurm_parts *p, enum rk_report_format format, char **ret_text,
		    size_t *ret_len, struct rk_error *err)
{
	struct rk_bytes out;
	int rc;

	if (!ret_text)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	if (format == RK_REPORT_CSV)
		return rk_fail(err, RK_E_USAGE, "the parts of a job are text or JSON, not CSV");
	rc = rk_handle_use(RK_HANDLE_SLURM_PARTS, p, __func__, err);
	if (rc < 0)
		return rc;
	rk_bytes_init(&out, 256 << 20);
	if (format == RK_REPORT_JSON)
		rk_slurm_parts_json(p, &out);
	else
		rk_slurm_parts_text(p, &out);
	rk_handle_drop(p);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
