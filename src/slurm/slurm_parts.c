/* slurm_parts.c - which ranks of a job left something in its directory. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
#include "codec/json/tree.h"
#include "run/ranks.h"
#include "run/run_json.h"
#include "slurm/slurm_script.h"

/* ---- reading ---- */

enum { RANKS_MAX = 1 << 16 };

enum part_state {
	PART_DONE,
	PART_FAILED,     /* the program or rockit failed; see why */
	PART_UNFINISHED, /* it still runs, or was killed */
	PART_UNREADABLE, /* started, but no readable run.json */
};

struct part {
	int64_t rank, size, status;
	uint64_t kernels;
	enum part_state state;
	char *node, *job, *why; /* "" for nothing */
};

struct rk_slurm_parts {
	char *dir, *job;
	int64_t size; /* expected number; -1: unknown */
	char *ranks;  /* that were to be profiled; NULL: all */
	struct part *v;
	size_t n; /* by rank */
	int64_t *missing;
	size_t nmissing;
	struct rk_list notes;
};

static const char *const state_names[] = { "done", "failed", "unfinished", "unreadable" };

/* Of a run.json; the file of a submitted job has the same keys. */
static char *text_at(const struct rk_tree *t, enum rk_run_key k)
{
	return rk_strdup(rk_tree_text(rk_run_json_at(t, k), ""));
}

static int64_t number_at(const struct rk_tree *t, enum rk_run_key k, int64_t missing)
{
	int64_t v;

	if (!rk_tree_int(rk_run_json_at(t, k), &v))
		return missing;
	return v;
}

/* How it ended, from its run.json. */
static void judge(struct part *part, const struct rk_tree *t)
{
	const char *state = rk_tree_text(rk_run_json_at(t, RK_RUN_STATE), "");
	const char *moved = rk_tree_text(rk_run_json_at(t, RK_RUN_DROPPED_MOVE), NULL);
	const char *scratch = rk_tree_text(rk_run_json_at(t, RK_RUN_SCRATCH), "");

	part->status = number_at(t, RK_RUN_EXIT_STATUS, 0);
	part->state = PART_FAILED;
	if (!strcmp(state, "running")) {
		part->state = PART_UNFINISHED;
		if (scratch[0])
			part->why = rk_strf("its files are still in '%s'", scratch);
		else
			part->why = rk_strdup("still running, or killed");
	} else if (moved) {
		part->why = rk_strf("its files are still in '%s': %s", scratch, moved);
	} else if (part->status) {
		part->why = rk_strf("exit status %" PRId64, part->status);
	} else if (strcmp(state, "done") != 0) {
		part->why = rk_strdup("some passes did not run");
	} else {
		part->state = PART_DONE;
		part->why = rk_strdup("");
	}
}

static int read_part(const char *dir, const char *name, struct part *part, struct rk_error *ret_err)
{
	char *path = rk_strf("%s/%s/" RK_RUN_JSON, dir, name);
	struct rk_error err = { 0 };
	struct rk_tree *t = NULL;
	int rc = RK_E_NOMEM;

	*part = (struct part){ .rank = rk_rank_of_folder(name), .size = -1 };
	if (path)
		rc = rk_run_json_load(path, &t, &err);
	if (rc == 0) {
		judge(part, t);
		part->kernels = (uint64_t)rk_max_i64(number_at(t, RK_RUN_DELIVERED_KERNELS, 0), 0);
		part->size = number_at(t, RK_RUN_SIZE, -1);
	} else {
		part->state = PART_UNREADABLE;
		part->why = rk_strf(RK_RUN_JSON ": %s", err.message);
	}
	part->node = text_at(t, RK_RUN_NODE);
	part->job = text_at(t, RK_RUN_JOB);
	rk_tree_free(t);
	rk_free(path);
	if (rc == RK_E_NOMEM || !part->node || !part->job || !part->why)
		return rk_fail_nomem(ret_err);
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	int64_t x = ((const struct part *)a)->rank, y = ((const struct part *)b)->rank;

	return (x > y) - (x < y);
}

static int read_parts(struct rk_slurm_parts *p, struct rk_error *err)
{
	struct rk_list names = { 0 };
	DIR *d = opendir(p->dir);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return rk_fail_errno(err, errno, "cannot read the directory '%s'", p->dir);
	while ((e = readdir(d)) != NULL)
		if (rk_rank_of_folder(e->d_name) >= 0)
			rk_list_add(&names, e->d_name);
	closedir(d);
	if (names.n > RANKS_MAX) {
		rc = rk_fail(err, RK_E_LIMIT, "more than %d ranks in '%s'", RANKS_MAX, p->dir);
		goto out;
	}
	p->v = rk_calloc(names.n + 1, sizeof(*p->v));
	if (names.bad || !p->v) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	while (p->n < names.n) {
		rc = read_part(p->dir, names.v[p->n], &p->v[p->n], err);
		p->n++;
		if (rc < 0)
			goto out;
	}
	qsort(p->v, p->n, sizeof(*p->v), by_rank);
out:
	rk_list_release(&names);
	return rc;
}

/* The submitted job says how many ranks there should be, even where none has started; else the ranks do. */
static int read_job(struct rk_slurm_parts *p, struct rk_error *err)
{
	char *path = rk_strf("%s/" RK_SLURM_JOB_FILE, p->dir);
	struct rk_tree *t = NULL;
	const char *ranks = NULL;
	bool said;
	int rc = RK_E_NOMEM;

	if (path)
		rc = rk_tree_load_found(path, &t, NULL);
	if (rc == 0) {
		p->size = number_at(t, RK_RUN_SIZE, -1);
		ranks = rk_tree_text(rk_run_json_at(t, RK_RUN_RANKS), NULL);
		if (ranks)
			p->ranks = rk_strdup(ranks);
	}
	p->job = text_at(t, RK_RUN_JOB);
	rk_tree_free(t);
	rk_free(path);
	if (rc == RK_E_NOMEM || !p->job || (ranks && !p->ranks))
		return rk_fail_nomem(err);

	said = p->size >= 0;
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

static int find_missing(struct rk_slurm_parts *p, struct rk_error *err)
{
	size_t most = (size_t)rk_min_i64(rk_max_i64(p->size, 0), RANKS_MAX), at = 0;
	bool *wanted = rk_calloc(most + 1, sizeof(*wanted));
	int rc;

	p->missing = rk_calloc(most + 1, sizeof(*p->missing));
	if (!wanted || !p->missing) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = rk_ranks_chosen(p->ranks, most, wanted, err);
	if (rc < 0)
		goto out;
	for (size_t r = 0; r < most; r++) {
		while (at < p->n && p->v[at].rank < (int64_t)r)
			at++;
		if (wanted[r] && (at == p->n || p->v[at].rank != (int64_t)r))
			p->missing[p->nmissing++] = (int64_t)r;
	}
out:
	rk_free(wanted);
	return rc;
}

/* The same for all ranks that were profiled; the others leave nothing. */
static int read_choice(struct rk_slurm_parts *p, struct rk_error *err)
{
	struct rk_tree *t = NULL;
	const char *ranks;

	for (size_t i = 0; !p->ranks && !t && i < p->n; i++) {
		char *path;
		int rc;

		if (p->v[i].state == PART_UNREADABLE)
			continue;
		path = rk_strf("%s/rank-%05" PRId64 "/" RK_RUN_JSON, p->dir, p->v[i].rank);
		if (!path)
			return rk_fail_nomem(err);
		rc = rk_run_json_load(path, &t, NULL);
		rk_free(path);
		if (rc == RK_E_NOMEM)
			return rk_fail_nomem(err);
	}
	ranks = rk_tree_text(rk_run_json_at(t, RK_RUN_RANKS), NULL);
	if (ranks)
		p->ranks = rk_strdup(ranks);
	if (ranks && !p->ranks) {
		rk_tree_free(t);
		return rk_fail_nomem(err);
	}
	rk_tree_free(t);
	return 0;
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
	if (!p)
		return rk_fail_nomem(err);
	p->size = -1;
	p->dir = rk_strdup(dir);
	if (!p->dir) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	if ((rc = read_parts(p, err)) < 0 || (rc = read_job(p, err)) < 0 ||
	    (rc = read_choice(p, err)) < 0 || (rc = find_missing(p, err)) < 0)
		goto fail;
	for (size_t i = 0; i < p->n; i++) {
		const struct part *v = &p->v[i];

		if (v->job[0] && p->job[0] && strcmp(v->job, p->job) != 0)
			rk_list_addf(&p->notes, "rank %" PRId64 " belongs to job %s, not to %s",
				     v->rank, v->job, p->job);
		if (p->size >= 0 && v->rank >= p->size)
			rk_list_addf(&p->notes,
				     "rank %" PRId64 " is out of range for a job of %" PRId64,
				     v->rank, p->size);
		if (i && v->rank == v[-1].rank)
			rk_list_addf(&p->notes, "rank %" PRId64 " has two directories", v->rank);
	}
	if (!p->n) {
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "no ranks in '%s': it is not the directory of a job, or none of its "
			     "ranks has started",
			     dir);
		goto fail;
	}
	if (p->notes.bad) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	rc = rk_handle_open(RK_HANDLE_SLURM_PARTS, p, destroy_parts, err);
	if (rc < 0)
		goto fail;
	*ret = p;
	return 0;
fail:
	destroy_parts(p);
	return rc;
}

bool rk_slurm_whole(const struct rk_slurm_parts *p)
{
	bool whole;

	if (!rk_handle_hold(RK_HANDLE_SLURM_PARTS, p))
		return false;
	whole = p->n && !p->nmissing && !p->notes.n;
	for (size_t i = 0; i < p->n; i++)
		whole = whole && p->v[i].state == PART_DONE;
	rk_handle_drop(p);
	return whole;
}

void rk_slurm_parts_free(struct rk_slurm_parts *p)
{
	rk_handle_close(RK_HANDLE_SLURM_PARTS, p);
}

/* ---- text and JSON ---- */

/* "0,8-15", as --ranks takes it. Ranks come in order; -1 at the end. */
struct ranges {
	int64_t first, last; /* not written yet; -1: none */
	bool some;
};

static void put_ranges(struct rk_bytes *out, struct ranges *r, int64_t rank)
{
	if (r->first >= 0 && rank == r->last + 1) {
		r->last = rank;
		return;
	}
	if (r->first >= 0) {
		rk_bytes_printf(out, "%s%" PRId64, r->some ? "," : "", r->first);
		if (r->last > r->first)
			rk_bytes_printf(out, "-%" PRId64, r->last);
		r->some = true;
	}
	r->first = r->last = rank;
}

struct sum {
	size_t by_state[PART_UNREADABLE + 1], n;
	uint64_t kernels;
};

/* False where an earlier rank was on the same node: each is reported once. */
static bool sum_node(const struct rk_slurm_parts *p, size_t at, struct sum *ret)
{
	const char *node = p->v[at].node;

	*ret = (struct sum){ .n = 0 };
	for (size_t i = 0; i < at; i++)
		if (!strcmp(p->v[i].node, node))
			return false;
	for (size_t i = at; i < p->n; i++) {
		if (strcmp(p->v[i].node, node) != 0)
			continue;
		ret->n++;
		ret->by_state[p->v[i].state]++;
		ret->kernels += p->v[i].kernels;
	}
	return true;
}

static void put_text(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_slurm_parts *p = what;
	struct ranges missing = { .first = -1 };
	struct sum s;

	(void)look;
	if (p->job[0]) {
		rk_bytes_puts(out, "job ");
		rk_put_plain(out, p->job);
		rk_bytes_puts(out, ": ");
	}
	rk_bytes_printf(out, "%zu rank%s", p->n, rk_plural(p->n));
	if (p->size >= 0)
		rk_bytes_printf(out, " of %" PRId64, p->size);
	if (p->ranks) {
		rk_bytes_puts(out, ", requested: ");
		rk_put_plain(out, p->ranks);
	}
	rk_bytes_puts(out, "\n");

	for (size_t i = 0; i < p->n; i++) {
		const char *node = p->v[i].node;
		struct ranges r = { .first = -1 };

		if (!sum_node(p, i, &s))
			continue;
		rk_put_plain(out, node[0] ? node : "(unknown node)");
		rk_bytes_printf(out, ": rank%s ", rk_plural(s.n));
		for (size_t k = i; k < p->n; k++)
			if (strcmp(p->v[k].node, node) == 0)
				put_ranges(out, &r, p->v[k].rank);
		put_ranges(out, &r, -1);
		rk_bytes_puts(out, ":");
		for (unsigned k = 0; k <= PART_UNREADABLE; k++)
			if (s.by_state[k])
				rk_bytes_printf(out, " %zu %s,", s.by_state[k], state_names[k]);
		rk_bytes_printf(out, " %" PRIu64 " kernel%s\n", s.kernels, rk_plural(s.kernels));
	}
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].state == PART_DONE)
			continue;
		rk_bytes_printf(out, "rank %" PRId64 ": %s: ", p->v[i].rank,
				state_names[p->v[i].state]);
		rk_put_plain(out, p->v[i].why);
		rk_bytes_puts(out, "\n");
	}
	if (p->nmissing) {
		rk_bytes_puts(out, "missing: ");
		for (size_t i = 0; i < p->nmissing; i++)
			put_ranges(out, &missing, p->missing[i]);
		put_ranges(out, &missing, -1);
		rk_bytes_puts(out, "\n");
	}
	for (size_t i = 0; i < p->notes.n; i++) {
		rk_put_plain(out, p->notes.v[i]);
		rk_bytes_puts(out, "\n");
	}
}

static void put_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_slurm_parts *p = what;
	struct rk_json_out j;
	struct sum s;

	(void)look;
	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "dir", p->dir);
	rk_json_text(&j, "job", rk_text_or_null(p->job));
	if (p->size >= 0)
		rk_json_int(&j, "size", p->size);
	else
		rk_json_null(&j, "size");
	rk_json_text(&j, "asked", p->ranks);
	rk_json_bool(&j, "whole", rk_slurm_whole(p));
	rk_json_array(&j, "nodes");
	for (size_t i = 0; i < p->n; i++) {
		if (!sum_node(p, i, &s))
			continue;
		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "node", rk_text_or_null(p->v[i].node));
		rk_json_uint(&j, "ranks", s.n);
		for (unsigned k = 0; k <= PART_UNREADABLE; k++)
			rk_json_uint(&j, state_names[k], s.by_state[k]);
		rk_json_uint(&j, "kernels", s.kernels);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_array(&j, "ranks");
	for (size_t i = 0; i < p->n; i++) {
		const struct part *v = &p->v[i];

		rk_json_object_flat(&j, NULL);
		rk_json_int(&j, "rank", v->rank);
		rk_json_text(&j, "node", rk_text_or_null(v->node));
		rk_json_text(&j, "job", rk_text_or_null(v->job));
		rk_json_text(&j, "state", state_names[v->state]);
		rk_json_int(&j, "exit_status", v->status);
		rk_json_uint(&j, "kernels", v->kernels);
		rk_json_text(&j, "why", rk_text_or_null(v->why));
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_array_flat(&j, "missing");
	for (size_t i = 0; i < p->nmissing; i++)
		rk_json_int(&j, NULL, p->missing[i]);
	rk_json_close(&j);
	rk_json_list(&j, "notes", &p->notes);
	rk_json_end(&j);
}

int rk_slurm_render(const struct rk_slurm_parts *p, enum rk_report_format format, char **ret_text,
		    size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { put_text, put_json };
	const struct rk_render_options look = { .format = format };
	int rc;

	if (format == RK_REPORT_CSV)
		return rk_fail(err, RK_E_USAGE,
			       "the ranks of a job can be printed as text or "
			       "JSON, not CSV");
	rc = rk_handle_use(RK_HANDLE_SLURM_PARTS, p, __func__, err);
	if (rc < 0)
		return rc;
	rc = rk_render(forms, p, &look, ret_text, ret_len, __func__, err);
	rk_handle_drop(p);
	return rc;
}
