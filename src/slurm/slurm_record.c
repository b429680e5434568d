/*
 * slurm_record.c - DIR/run.json of a job: its ranks, and their clocks against one of them.
 *
 * A job that was started by one `rockit run` has a run.json already; that one gets a member "fused",
 * which replaces the one of an earlier collect.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/num.h"
#include "base/text.h"
#include "io/output.h"
#include "ranks/gather.h"
#include "rockit/slurm.h"
#include "run/members.h"
#include "run/run_json.h"

enum { JSON_MAX = 256 << 20 };

static const char *const clock_names[] = {
	[RK_CLOCK_SAME] = "same", [RK_CLOCK_ALIGNED] = "aligned", [RK_CLOCK_ALONE] = "alone"
};

static void put_rank(struct rk_json_out *j, const struct rk_member *m, const struct rk_rank_time *t)
{
	rk_json_object_flat(j, NULL);
	rk_json_int(j, "rank", m->rank);
	rk_json_text(j, "node", rk_text_or_null(m->node));
	rk_json_text(j, "state", rk_text_or_null(m->state));
	rk_json_text(j, "clock", clock_names[t->clock]);
	if (t->clock != RK_CLOCK_ALONE) {
		rk_json_int(j, "offset_ns", t->offset_ns);
		rk_json_real(j, "drift_ppm", t->drift_ppm);
		rk_json_int(j, "error_ns", t->error_ns);
		rk_json_text(j, "by", t->by);
	}
	if (t->note[0])
		rk_json_text(j, t->clock == RK_CLOCK_ALONE ? "why" : "note", t->note);
	rk_json_close(j);
}

static void put_fused(struct rk_json_out *j, const struct rk_members *m,
		      const struct rk_rank_times *t)
{
	int64_t reference = m->n ? m->v[0].rank : -1, base = 0;

	if (t)
		rk_rank_times_base(t, &reference, &base);
	rk_json_object(j, rk_run_key(RK_RUN_FUSED));
	rk_json_int(j, "reference", reference);
	if (t)
		rk_json_int(j, "base_ns", base);
	else
		rk_json_null(j, "base_ns");
	rk_json_array(j, "ranks");
	for (size_t i = 0; i < m->n; i++) {
		struct rk_rank_time of = {
			.rank = m->v[i].rank, .clock = RK_CLOCK_SAME, .by = "node", .note = ""
		};

		/* without times all ranks are of one machine */
		if (t)
			rk_rank_times_rank(t, m->v[i].rank, &of);
		else
			of.error_ns = rk_max_i64(m->v[i].clock_error_ns, 0);
		put_rank(j, &m->v[i], &of);
	}
	rk_json_close(j);
	rk_json_array(j, "problems");
	for (size_t i = 0; i < m->nproblems; i++) {
		const struct rk_ranks_problem *p = &m->problems[i];

		rk_json_object_flat(j, NULL);
		rk_json_text(j, "kind", p->kind);
		if (p->rank >= 0)
			rk_json_int(j, "rank", p->rank);
		rk_json_uint(j, "count", p->count);
		rk_json_text(j, "text", p->text);
		rk_json_close(j);
	}
	rk_json_close(j);
	rk_json_close(j);
}

static int write_record(const char *path, const struct rk_members *m, const struct rk_rank_times *t,
			struct rk_error *err)
{
	bool done = m->n && (!m->size || m->size == m->n);
	struct rk_bytes text, fresh;
	struct rk_json_out j;
	struct stat st;
	size_t brace = 0;
	int rc;

	for (size_t i = 0; i < m->n; i++)
		done &= strcmp(m->v[i].state, "done") == 0;
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return rk_fail(err, RK_E_IO, "'%s' is not a regular file; remove it", path);
	rk_bytes_init(&text, JSON_MAX);
	rk_bytes_init(&fresh, JSON_MAX);
	rc = rk_run_json_without(path, RK_RUN_FUSED, &text, err);
	if (rc < 0)
		goto out;
	rk_json_begin(&j, &fresh);
	if (!text.len) {
		rk_json_int(&j, "schema", 1);
		rk_json_text(&j, rk_run_key(RK_RUN_ROCKIT), ROCKIT_VERSION);
		rk_json_text(&j, rk_run_key(RK_RUN_STATE), done ? "done" : "stopped");
		rk_json_text(&j, rk_run_key(RK_RUN_JOB), rk_text_or_null(m->job));
		if (m->size)
			rk_json_uint(&j, rk_run_key(RK_RUN_SIZE), m->size);
		if (m->nodes)
			rk_json_uint(&j, "nodes", m->nodes);
	}
	put_fused(&j, m, t);
	rk_json_end(&j);
	/* the new document without its brace, behind the old one's members */
	if (text.len) {
		rk_bytes_puts(&text, ",");
		brace = 1;
	}
	if (fresh.len)
		rk_bytes_put(&text, fresh.data + brace, fresh.len - brace);
	if (text.bad || fresh.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = rk_write_file(path, (const char *)text.data, text.len, err);
out:
	rk_bytes_release(&text);
	rk_bytes_release(&fresh);
	return rc;
}

int rk_slurm_record(const char *dir, struct rk_error *err)
{
	struct rk_members m = { .job = "" };
	struct rk_rank_times *times = NULL;
	struct rk_run *run = NULL;
	char *path;
	int rc;

	if (!dir)
		return rk_misuse(__func__, err);
	path = rk_strf("%s/" RK_RUN_JSON, dir);
	if (!path)
		return rk_fail_nomem(err);
	if ((rc = rk_run_open(&dir, 1, NULL, &run, err)) < 0 ||
	    (rc = rk_members_find(run, &m, err)) < 0 ||
	    (rc = rk_rank_times_new(run, &times, err)) < 0 ||
	    (rc = rk_problems_damaged(run, &m, err)) < 0)
		goto out;
	if (m.n)
		rc = write_record(path, &m, times, err);
out:
	rk_rank_times_free(times);
	rk_members_release(&m);
	rk_run_close(run);
	rk_free(path);
	return rc;
}
