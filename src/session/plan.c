/* plan.c - see plan.h. */
#include "session/plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "session/environment.h"
#include "session/run_dir.h"

extern char **environ;

/*
 * Ranks that are told no directory meet in one that has the name of their start. *ret is NULL where
 * there is nothing to say; else the caller's.
 */
static int common_dir(const struct rk_session_options *opt, struct rk_plan *p, char **ret,
		      struct rk_error *err)
{
	const struct rk_rank *r = &p->rank;

	*ret = NULL;
	if (opt->dir || r->rank < 0)
		return 0;
	if (!r->job[0]) {
		rk_list_add(&p->notes,
			    "nothing names this job, so each rank has a run directory of "
			    "its own; -d DIR gives them one");
		return 0;
	}
	*ret = rk_strf("rockit_output/job-%s%s%s", r->job, r->step[0] ? "." : "", r->step);
	if (!*ret)
		return rk_fail_nomem(err);
	for (char *c = *ret + strlen("rockit_output/"); *c; c++)
		*c = (unsigned char)*c <= ' ' || *c == '/' ? '_' : *c;
	return 0;
}

/* Under a launcher each rank has a folder of its own; a launcher in the command makes ranks. */
static int plan_dirs(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	struct rk_bytes b;
	char *common = NULL;
	int rc = common_dir(opt, p, &common, err);

	rk_bytes_init(&b, 1 << 16);
	if (rc == 0)
		rc = rk_run_dir_name(common ? common : opt->dir, p->rank.rank, &b, err);
	if (rc == 0) {
		p->target = rk_strdup(rk_bytes_str(&b));
		rc = p->target ? 0 : rk_fail_nomem(err);
	}
	if (rc == 0 && p->rank.rank >= 0 && p->chosen)
		rc = rk_scratch_pick(environ, p->target, &p->notes, &p->scratch, err);
	if (rc == 0) {
		p->dir = p->scratch ? rk_strf("%s/%s", p->scratch, rk_base_name(p->target)) :
				      rk_strdup(p->target);
		p->raw_dir = p->dir ? rk_strf("%s/rocprof_raw", p->dir) : NULL;
		p->library_dir = p->dir ? rk_strf("%s/library_logs", p->dir) : NULL;
		rc = p->raw_dir && p->library_dir ? 0 : rk_fail_nomem(err);
	}
	rk_bytes_release(&b);
	rk_free(common);
	return rc;
}

/* What the environment would bring in of an earlier profiler, by name. */
static void find_leaks(struct rk_plan *p)
{
	for (char **e = environ; e && *e; e++)
		if (rk_env_leaks(*e))
			rk_list_addn(&p->unset, *e, strcspn(*e, "="));
}

static int plan_rank(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	p->rank = rk_rank_find(environ);
	if (opt->ranks && p->rank.rank < 0)
		rk_list_add(&p->notes,
			    "--ranks says nothing here: no launcher's rank variable is set");
	if (p->rank.contradicts[0])
		rk_list_addf(&p->notes,
			     "%s says rank %" PRId64 " and %s says %" PRId64 " of as many: %s is "
			     "taken; ROCKIT_RANK would settle it",
			     p->rank.variable, p->rank.rank, p->rank.contradicts,
			     p->rank.other_rank, p->rank.variable);
	return rk_rank_chosen(p->rank.rank < 0 ? NULL : opt->ranks, p->rank.rank, &p->chosen, err);
}

/*
 * One torchrun on each node of a job: the job's rank is the node's, its workers have RANK. Workers
 * of mpirun would be known by %rank%, which is the node's as well.
 */
static const char *worker_key(const struct rk_plan *p)
{
	const char *key = rk_launcher_key(&p->want.command);

	return p->rank.rank < 0 || (key && strcmp(key, "RANK") == 0) ? key : NULL;
}

static int make(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	int rc = opt->argv && opt->argv[0] && opt->argv[0][0] ?
			 plan_rank(opt, p, err) :
			 rk_fail(err, RK_E_USAGE, "no program to run; put it behind '--'");
	bool dummy;

	if (rc == 0) /* a list that is written wrong is wrong without a launcher, too */
		rc = rk_rank_chosen(opt->ranks, 0, &dummy, err);
	if (rc == 0)
		rc = plan_dirs(opt, p, err);
	if (rc == 0)
		rc = rk_plan_request(opt, &p->want, &p->notes, err);
	if (rc == 0)
		rc = rk_plan_arch(opt, p, err);
	if (rc == 0)
		rc = rk_plan_counters(p, err);
	if (rc == 0)
		rc = rk_plan_tool(opt, p, err);
	if (rc < 0)
		return rc;
	if (p->want.nothing_said && p->tool->library)
		p->want.traces = RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER;
	p->rank_key = worker_key(p);
	find_leaks(p);
	if (p->redact)
		rk_list_add(&p->notes, "--redact hides nothing in rocprof_raw, which is the "
				       "profiler's own: leave it out when the run is passed on");
	rc = rk_plan_passes(p, err);
	if (rc == 0 && (p->notes.bad || p->unset.bad || p->hazards.bad))
		rc = rk_fail_nomem(err);
	return rc;
}

/* A copy of what may be NULL; false when memory ran out. */
static bool copy(char **at, const char *text)
{
	*at = text ? rk_strdup(text) : NULL;
	return *at || !text;
}

/* What the plan only hands on. */
static int copy_options(const struct rk_session_options *opt, struct rk_plan *p,
			struct rk_error *err)
{
	p->timeout_ms = opt->timeout_s > UINT64_MAX / 1000 ? UINT64_MAX : opt->timeout_s * 1000;
	p->force = opt->force;
	p->keep_going = opt->keep_going;
	p->baseline = opt->baseline;
	p->redact = opt->redact;
	return copy(&p->kernel_regex, opt->kernel_regex) && copy(&p->ranks, opt->ranks) &&
			       copy(&p->root, opt->root) ?
		       0 :
		       rk_fail_nomem(err);
}

int rk_plan_make(const struct rk_session_options *opt, struct rk_plan **ret, struct rk_error *err)
{
	struct rk_plan *p = rk_calloc(1, sizeof(*p));
	int rc = p ? copy_options(opt, p, err) : rk_fail_nomem(err);

	if (rc == 0)
		rc = make(opt, p, err);
	if (rc < 0) {
		rk_plan_free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void rk_plan_free(struct rk_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->passes && i < p->npasses; i++) {
		rk_tool_command_release(&p->passes[i].how);
		rk_list_release(&p->passes[i].counters);
		rk_free(p->passes[i].dir);
	}
	rk_free(p->passes);
	rk_request_release(&p->want);
	rk_counter_plan_free(p->counters);
	rk_list_release(&p->own_counters);
	rk_free(p->tool_path);
	rk_free(p->tool_version);
	rk_free(p->arch);
	rk_free(p->ranks);
	rk_free(p->target);
	rk_free(p->scratch);
	rk_free(p->dir);
	rk_free(p->raw_dir);
	rk_free(p->library_dir);
	rk_free(p->kernel_regex);
	rk_free(p->root);
	rk_list_release(&p->unset);
	rk_list_release(&p->library_env);
	rk_list_release(&p->notes);
	rk_list_release(&p->hazards);
	rk_free(p);
}
