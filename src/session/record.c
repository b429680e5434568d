/* record.c - the facts of a run, and run.json, schema 1. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json_out.h"
#include "base/num.h"
#include "base/secrets.h"
#include "io/output.h"
#include "rockit/rockit.h"
#include "run/run_json.h"
#include "session/library_trace.h"
#include "session/session_impl.h"

extern char **environ;

enum { JSON_MAX = 64 << 20 };

/* ---- the facts ---- */

int rk_record_init(struct rk_record *r, const struct rk_plan *p, struct rk_error *err)
{
	*r = (struct rk_record){ .state = "running" };
	r->passes = rk_calloc(p->npasses ? p->npasses : 1, sizeof(*r->passes));
	if (!r->passes)
		return rk_fail_nomem(err);
	return rk_gpus_find(p->root, &r->gpus, err);
}

void rk_record_release(struct rk_record *r)
{
	rk_free(r->passes);
	rk_gpus_release(&r->gpus);
	rk_list_release(&r->tables);
	rk_list_release(&r->traces);
	rk_list_release(&r->counters);
	rk_list_release(&r->dropped);
	rk_list_release(&r->repaired);
	rk_list_release(&r->snaps);
	rk_list_release(&r->warnings);
}

/* ---- run.json ---- */

static double seconds_of(const struct rk_child_result *c)
{
	return (double)(c->end_ns - c->start_ns) / 1e9;
}

static void put_child(struct rk_json_out *j, const struct rk_child_result *c)
{
	rk_json_int(j, rk_run_key(RK_RUN_PASS_STATUS), c->status);
	rk_json_int(j, rk_run_key(RK_RUN_PASS_SIGNAL), c->signal);
	rk_json_bool(j, rk_run_key(RK_RUN_PASS_TIMED_OUT), c->end == RK_CHILD_TIMED_OUT);
	rk_json_int(j, "start_ns", c->start_ns);
	rk_json_int(j, "end_ns", c->end_ns);
	rk_json_real(j, rk_run_key(RK_RUN_PASS_SECONDS), seconds_of(c));
	rk_json_real(j, "user_seconds", (double)c->user_ns / 1e9);
	rk_json_real(j, "system_seconds", (double)c->system_ns / 1e9);
	rk_json_uint(j, rk_run_key(RK_RUN_PASS_MAX_RSS), c->max_rss_bytes);
	rk_json_int(j, "pid", c->pid);
}

static void put_hidden(struct rk_json_out *j, const char *key, const struct rk_list *argv)
{
	struct rk_list hidden = { 0 };

	rk_secrets_args(argv, &hidden);
	rk_json_list(j, key, &hidden);
	rk_list_release(&hidden);
}

static void put_pass(struct rk_json_out *j, const struct rk_plan *p,
		     const struct rk_plan_pass *plan, const struct rk_pass_record *did)
{
	struct rk_list env = { 0 };

	rk_json_object(j, NULL);
	rk_json_text(j, rk_run_key(RK_RUN_PASS_WHAT), plan->what);
	put_hidden(j, "argv", &plan->how.argv);
	rk_secrets_variables(&plan->how.env, &env);
	rk_json_pairs(j, "env", &env);
	rk_list_release(&env);
	rk_json_text(j, "dir", plan->dir);
	rk_json_list(j, rk_run_key(RK_RUN_PASS_COUNTERS), &plan->counters);
	rk_plan_groups(j, p, plan);
	rk_json_bool(j, rk_run_key(RK_RUN_PASS_RAN), did->ran);
	if (did->ran) {
		put_child(j, &did->child);
		rk_json_uint(j, rk_run_key(RK_RUN_PASS_FILES), did->files);
		rk_json_uint(j, rk_run_key(RK_RUN_PASS_BYTES), did->bytes);
	}
	rk_json_close(j);
}

static void put_place(struct rk_json_out *j, const struct rk_plan *p)
{
	const char *node;
	struct utsname u;
	char cwd[4096];

	if (uname(&u) == 0) {
		rk_json_text(j, rk_run_key(RK_RUN_HOST), u.nodename);
		/* redaction does not know the launcher's name for the node */
		node = p->rank.node[0] ? p->rank.node : u.nodename;
		if (p->rank.node[0] && p->redact)
			node = NULL;
		rk_json_text(j, rk_run_key(RK_RUN_NODE), node);
		rk_json_text(j, "kernel", u.release);
		rk_json_text(j, "machine", u.machine);
	}
	rk_run_put_boot(j);
	rk_json_text(j, "directory", getcwd(cwd, sizeof(cwd)) ? cwd : NULL);
	if (p->rank.rank >= 0) {
		rk_json_int(j, rk_run_key(RK_RUN_RANK), p->rank.rank);
		rk_json_text(j, "rank_variable", p->rank.variable);
	}
	if (p->scratch)
		rk_json_text(j, rk_run_key(RK_RUN_SCRATCH), p->scratch);
	if (p->ranks)
		rk_json_text(j, rk_run_key(RK_RUN_RANKS), p->ranks);
	if (p->rank.launcher[0])
		rk_json_text(j, "launcher", p->rank.launcher);
	if (p->rank.job[0])
		rk_json_text(j, rk_run_key(RK_RUN_JOB), p->rank.job);
	if (p->rank.step[0])
		rk_json_text(j, rk_run_key(RK_RUN_STEP), p->rank.step);
	if (p->rank.node_id >= 0)
		rk_json_int(j, "node_id", p->rank.node_id);
	if (p->rank.local_rank >= 0)
		rk_json_int(j, rk_run_key(RK_RUN_LOCAL_RANK), p->rank.local_rank);
	if (p->rank.size >= 0)
		rk_json_int(j, rk_run_key(RK_RUN_SIZE), p->rank.size);
}

/* Maps the index used by samples to the KFD node used by traces. */
static void put_gpus(struct rk_json_out *j, const struct rk_gpus *g)
{
	rk_json_array(j, rk_run_key(RK_RUN_GPUS));
	for (size_t i = 0; i < g->n; i++) {
		const struct rk_gpu *gpu = &g->gpus[i];

		rk_json_object_flat(j, NULL);
		rk_json_int(j, "index", gpu->index);
		rk_json_text(j, "name", gpu->name);
		rk_json_text(j, "gfx", gpu->gfx);
		rk_json_text(j, "pci", gpu->pci);
		rk_json_int(j, "kfd_node", gpu->kfd_node);
		rk_json_text(j, "partition", gpu->partition);
		rk_json_uint(j, "memory_bytes", gpu->memory_bytes);
		rk_json_close(j);
	}
	rk_json_close(j);
}

/* Words of the bits that are set. */
static void put_bits(struct rk_json_out *j, const char *key, unsigned bits,
		     const char *(*name)(unsigned))
{
	rk_json_array_flat(j, key);
	for (unsigned i = 0; name(i); i++)
		if (bits >> i & 1)
			rk_json_text(j, NULL, name(i));
	rk_json_close(j);
}

/* "name=12" entries as numbers. */
static void put_counts(struct rk_json_out *j, const char *key, const struct rk_list *l)
{
	char name[256];

	j->out->bad = j->out->bad || l->bad;
	rk_json_object_flat(j, key);
	for (size_t i = 0; i < l->n; i++) {
		const char *text = rk_list_entry(l->v[i], name, sizeof(name));
		uint64_t v = 0;

		if (text && rk_num_u64(text, strlen(text), &v) == RK_NUM_OK)
			rk_json_uint(j, name, v);
	}
	rk_json_close(j);
}

/*
 * The overhead of the profiler. If it was not measured, an estimate by the vendor's figure: about 6
 * us of interception per kernel.
 */
static void put_overhead(struct rk_json_out *j, const struct rk_record *r, const struct rk_plan *p)
{
	double plain = r->baseline_ran ? seconds_of(&r->baseline) : 0;
	const char *rows = rk_list_value(&r->tables, "kernels");
	int64_t kernels = 0;

	rk_json_object_flat(j, "overhead");
	if (plain > 0 && p->npasses && r->passes[0].ran) {
		rk_json_real(j, "baseline_seconds", plain);
		rk_json_real(j, "profiled_seconds", seconds_of(&r->passes[0].child));
		rk_json_real(j, "ratio", seconds_of(&r->passes[0].child) / plain);
	} else {
		rk_json_null(j, "ratio");
	}
	if (!p->tool->library && rows && rk_num_i64(rows, strlen(rows), &kernels) == RK_NUM_OK)
		rk_json_real(j, "estimated_seconds", (double)kernels * 6e-6);
	rk_json_close(j);
}

static void put_ledger(struct rk_json_out *j, const struct rk_record *r, const struct rk_plan *p)
{
	const struct rk_counter_plan *c = p->counters;
	int64_t error = r->clock_error_ns;

	if (r->start.error_ns > error)
		error = r->start.error_ns;
	if (r->end.error_ns > error)
		error = r->end.error_ns;
	rk_json_object(j, rk_run_key(RK_RUN_LEDGER));

	rk_json_object(j, "asked");
	put_bits(j, "traces", p->want.traces, rk_trace_name);
	rk_json_array_flat(j, "counters");
	for (size_t i = 0; c && i < c->nchecks; i++)
		rk_json_text(j, NULL, c->checks[i].asked);
	rk_json_close(j);
	rk_json_bool(j, "pc_samples", p->want.pc_wanted);
	if (p->spm.n)
		rk_json_list(j, "spm", &p->spm);
	if (p->asks & RK_ASK_ATT)
		rk_json_bool(j, "thread_trace", true);
	put_bits(j, "monitors", p->want.monitors, rk_monitor_word);
	put_bits(j, "libraries", p->want.libraries, rk_library_name);
	rk_json_close(j);

	rk_json_object(j, rk_run_key(RK_RUN_DELIVERED));
	put_counts(j, rk_run_key(RK_RUN_DELIVERED_TABLES), &r->tables);
	put_counts(j, "traces", &r->traces);
	rk_json_list(j, "counters", &r->counters);
	if (r->monitored) {
		put_bits(j, "monitors", r->monitor.metrics, rk_monitor_word);
		rk_json_object_flat(j, "monitor");
		rk_json_uint(j, "samples", r->monitor.samples);
		rk_json_uint(j, "missed", r->monitor.missed);
		rk_json_uint(j, "gpus", r->monitor.gpus);
		rk_json_real(j, "cpu_percent", r->monitor.cpu_percent);
		rk_json_close(j);
	}
	rk_json_close(j);
	rk_json_pairs(j, rk_run_key(RK_RUN_DROPPED), &r->dropped);

	rk_json_object(j, rk_run_key(RK_RUN_REPAIRED));
	put_counts(j, rk_run_key(RK_RUN_REPAIRED_ROWS), &r->repaired);
	rk_json_object(j, "counters"); /* collected under another name */
	for (size_t i = 0; c && i < c->nchecks; i++) {
		if (c->checks[i].status != RK_COUNTER_RENAMED)
			continue;
		rk_json_array_flat(j, c->checks[i].asked);
		for (const char *const *u = c->checks[i].use; u && *u; u++)
			rk_json_text(j, NULL, *u);
		rk_json_close(j);
	}
	rk_json_close(j);
	rk_json_close(j);

	rk_json_int(j, rk_run_key(RK_RUN_CLOCK_ERROR), error);
	put_overhead(j, r, p);
	rk_json_close(j);
}

static void put_document(struct rk_bytes *out, const struct rk_record *r, const struct rk_plan *p)
{
	bool guess = p->arch_assumed;
	struct rk_list env = { 0 };
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, rk_run_key(RK_RUN_ROCKIT), ROCKIT_VERSION);
	rk_json_text(&j, rk_run_key(RK_RUN_STATE), r->state);
	put_hidden(&j, rk_run_key(RK_RUN_COMMAND), &p->want.command);
	if (p->attach_pid) {
		rk_json_object_flat(&j, "attach");
		rk_json_uint(&j, "pid", p->attach_pid);
		rk_json_text(&j, "name", r->target);
		rk_json_close(&j);
	}
	if (p->delay_s)
		rk_json_uint(&j, "delay_s", p->delay_s);
	if (p->duration_s)
		rk_json_uint(&j, "duration_s", p->duration_s);
	if (p->range)
		rk_json_text(&j, "range", p->range);
	rk_plan_window_json(&j, p, &r->snaps);
	rk_json_int(&j, rk_run_key(RK_RUN_EXIT_STATUS), r->status);
	rk_json_object_flat(&j, rk_run_key(RK_RUN_TOOL));
	rk_json_text(&j, rk_run_key(RK_RUN_TOOL_NAME), p->tool->name);
	rk_json_text(&j, rk_run_key(RK_RUN_TOOL_VERSION), p->tool_version);
	rk_json_text(&j, "path", p->tool_path);
	rk_json_close(&j);
	rk_json_text(&j, rk_run_key(RK_RUN_PRESET), p->want.preset ? p->want.preset->name : NULL);
	/* a chip that was only assumed says nothing about a run of our own collectors */
	rk_json_text(&j, rk_run_key(RK_RUN_ARCH), guess && p->tool->library ? NULL : p->arch);
	rk_json_bool(&j, "arch_assumed", guess && !p->tool->library);
	put_place(&j, p);
	put_gpus(&j, &r->gpus);
	rk_run_put_time(&j, rk_run_key(RK_RUN_START_TIME), &r->start);
	rk_run_put_time(&j, rk_run_key(RK_RUN_END_TIME), &r->end);
	rk_json_object(&j, rk_run_key(RK_RUN_CLOCKS));
	rk_json_text(&j, "traces", "CLOCK_BOOTTIME");
	rk_run_put_clock(&j, rk_run_key(RK_RUN_CLOCKS_START), &r->start);
	rk_run_put_clock(&j, rk_run_key(RK_RUN_CLOCKS_END), &r->end);
	rk_json_close(&j);
	rk_secrets_env(environ, &env);
	rk_json_pairs(&j, "environment", &env);
	rk_list_release(&env);
	rk_json_array(&j, rk_run_key(RK_RUN_PASSES));
	for (size_t i = 0; i < p->npasses; i++)
		put_pass(&j, p, &p->passes[i], &r->passes[i]);
	rk_json_close(&j);
	if (r->baseline_ran) {
		rk_json_object_flat(&j, rk_run_key(RK_RUN_BASELINE));
		put_child(&j, &r->baseline);
		rk_json_close(&j);
	}
	put_ledger(&j, r, p);
	rk_json_list(&j, rk_run_key(RK_RUN_NOTES), &p->notes);
	rk_json_list(&j, rk_run_key(RK_RUN_HAZARDS), &p->hazards);
	rk_json_list(&j, rk_run_key(RK_RUN_WARNINGS), &r->warnings);
	rk_json_end(&j);
}

int rk_record_write(const struct rk_record *r, const struct rk_plan *p, const char *dir,
		    struct rk_error *err)
{
	char *path = rk_strf("%s/" RK_RUN_JSON, dir);
	struct rk_bytes text, hidden, *out = p->redact ? &hidden : &text;
	struct rk_redaction_self self;
	int rc;

	rk_bytes_init(&text, JSON_MAX);
	rk_bytes_init(&hidden, JSON_MAX);
	put_document(&text, r, p);
	if (p->redact && rk_bytes_str(&text)) {
		rk_redaction_self(&self);
		rk_redact_text(&hidden, rk_bytes_str(&text), &self.who);
	}
	if (text.bad || hidden.bad || !path)
		rc = rk_fail_nomem(err);
	else
		rc = rk_write_file(path, (const char *)out->data, out->len, err);
	rk_bytes_release(&text);
	rk_bytes_release(&hidden);
	rk_free(path);
	return rc;
}
