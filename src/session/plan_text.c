/* plan_text.c - a plan as text, which can be pasted into a shell, and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/json_out.h"
#include "base/text.h"
#include "rockit/monitor.h"
#include "session/plan.h"

static void put_names(struct rk_bytes *out, const char *title, const struct rk_list *l)
{
	if (!l->n)
		return;
	rk_bytes_puts(out, title);
	for (size_t i = 0; i < l->n; i++) {
		rk_bytes_put_u8(out, ' ');
		rk_put_plain(out, l->v[i]);
	}
	rk_bytes_put_u8(out, '\n');
}

static void put_command(struct rk_bytes *out, const struct rk_list *env, const struct rk_list *argv)
{
	/* NAME='value': only the value may need quotes. */
	for (size_t k = 0; k < env->n; k++) {
		const char *entry = env->v[k];
		size_t len = strcspn(entry, "=");

		rk_bytes_put(out, entry, len);
		rk_bytes_put_u8(out, '=');
		if (entry[len])
			rk_shell_word(out, RK_SHELL_SHOWN, entry + len + 1);
		rk_bytes_put_u8(out, ' ');
	}
	for (size_t k = 0; k < argv->n; k++) {
		if (k)
			rk_bytes_put_u8(out, ' ');
		rk_shell_word(out, RK_SHELL_SHOWN, argv->v[k]);
	}
	rk_bytes_put_u8(out, '\n');
}

static void put_pass(struct rk_bytes *out, const struct rk_plan *p, size_t i)
{
	const struct rk_plan_pass *pass = &p->passes[i];
	const struct rk_tool_command *c = &pass->how;

	rk_bytes_printf(out, "\n# pass %zu of %zu: %s\n", i + 1, p->npasses, pass->what);
	if (pass->ngroups < 2)
		put_names(out, "# counters:", &pass->counters);
	for (size_t k = 0; pass->ngroups > 1 && k < pass->ngroups; k++) {
		rk_bytes_printf(out, "# replay %zu of each kernel:", k + 1);
		put_names(out, "", &pass->groups[k]);
	}
	if (pass->spm)
		put_names(out, "# streamed counters:", &p->spm);
	if (c->file.path) {
		size_t len = strcspn(c->file.text, "\n");

		rk_bytes_puts(out, "# ");
		rk_put_plain(out, c->file.path);
		rk_bytes_printf(out, " contains: %.*s\n", len > 1000 ? 1000 : (int)len,
				c->file.text);
	}
	put_command(out, &c->env, &c->argv);
}

void rk_plan_groups(struct rk_json_out *j, const struct rk_plan *p, const struct rk_plan_pass *pass)
{
	if (pass->spm)
		rk_json_list(j, "spm", &p->spm);
	if (!pass->ngroups)
		return;
	rk_json_array(j, "groups");
	for (size_t k = 0; k < pass->ngroups; k++)
		rk_json_list(j, NULL, &pass->groups[k]);
	rk_json_close(j);
}

/* The triggers, as on the command line. */
static void list_triggers(const struct rk_plan_window *w, struct rk_list *ret)
{
	if (w->on_signal)
		rk_list_add(ret, "signal");
	if (w->on_crash)
		rk_list_add(ret, "crash");
	if (w->slow_percent)
		rk_list_addf(ret, "slow-step:%" PRIu64 "%%", w->slow_percent);
	if (w->gap_ms)
		rk_list_addf(ret, "gap:%" PRIu64 "ms", w->gap_ms);
}

/* What our own collector leaves out, and what it keeps. */
static void put_window(struct rk_bytes *out, const struct rk_plan *p)
{
	const struct rk_plan_window *w = &p->window;
	const char *unit = p->range ? "ranges" : "seconds";
	struct rk_list triggers = { 0 };

	if (p->tool->library && p->delay_s)
		rk_bytes_printf(out, "# recording starts after %" PRIu64 " s\n", p->delay_s);
	if (p->tool->library && p->duration_s)
		rk_bytes_printf(out, "# recording lasts %" PRIu64 " s\n", p->duration_s);
	if (w->every_of)
		rk_bytes_printf(out, "# recorded: %" PRIu64 " of every %" PRIu64 " %s\n",
				w->every_on, w->every_of, unit);
	if (w->bytes)
		rk_bytes_printf(out, "# window: %" PRIu64 " KiB of each process\n", w->bytes >> 10);
	list_triggers(w, &triggers);
	put_names(out, "# snapshots at:", &triggers);
	out->bad = out->bad || triggers.bad;
	rk_list_release(&triggers);
}

void rk_plan_window_json(struct rk_json_out *j, const struct rk_plan *p,
			 const struct rk_list *snaps)
{
	const struct rk_plan_window *w = &p->window;
	struct rk_list triggers = { 0 };

	if (w->every_of) {
		rk_json_object_flat(j, "every");
		rk_json_uint(j, "on", w->every_on);
		rk_json_uint(j, "of", w->every_of);
		rk_json_text(j, "unit", p->range ? "ranges" : "seconds");
		rk_json_close(j);
	}
	if (w->sample)
		rk_json_uint(j, "sample", w->sample);
	if (!w->bytes)
		return;
	list_triggers(w, &triggers);
	rk_json_object(j, "window");
	rk_json_uint(j, "bytes", w->bytes);
	if (w->last_s)
		rk_json_uint(j, "last_s", w->last_s);
	rk_json_uint(j, "keep", w->keep);
	rk_json_list(j, "snap_on", &triggers);
	if (snaps)
		rk_json_pairs(j, "snaps", snaps);
	rk_json_close(j);
	j->out->bad = j->out->bad || triggers.bad;
	rk_list_release(&triggers);
}

void rk_plan_text(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const char *separator = "# sampled during the passes: ";
	const struct rk_plan *p = what;
	const struct rk_counter_plan *c = p->counters;

	(void)look;
	if (!p->chosen) {
		rk_bytes_printf(out, "# rank %" PRId64 " is not in --ranks ", p->rank.rank);
		rk_put_plain(out, p->ranks);
		rk_bytes_puts(out, ": the program runs without the profiler\n\n");
		put_command(out, &p->want.env, &p->want.command);
		return;
	}
	rk_bytes_printf(out, "# %s", p->tool->name);
	if (p->tool_version[0])
		rk_bytes_printf(out, " %s", p->tool_version);
	/* Our own collectors do not depend on the chip. */
	if (!p->tool->library || !p->arch_assumed) {
		rk_bytes_puts(out, ", ");
		rk_put_plain(out, p->arch);
		if (p->arch_assumed)
			rk_bytes_puts(out, " (assumed)");
	}
	if (p->attach_pid)
		rk_bytes_printf(out, ", attached to process %" PRIu64, p->attach_pid);
	else if (p->tool->repeats)
		rk_bytes_puts(out, ", one execution of the program for each of its counter sets");
	else
		rk_bytes_printf(out, ", %zu execution%s of the program", p->npasses,
				p->npasses == 1 ? "" : "s");
	rk_bytes_puts(out, "\n# output: ");
	rk_put_plain(out, p->dir);
	rk_bytes_put_u8(out, '\n');

	for (unsigned i = 0; rk_monitor_word(i); i++) {
		if (!(p->want.monitors >> i & 1))
			continue;
		rk_bytes_printf(out, "%s%s", separator, rk_monitor_word(i));
		separator = ", ";
	}
	if (p->want.monitors)
		rk_bytes_printf(out, " every %" PRIu64 " ms\n", p->want.interval_ms);
	put_window(out, p);
	put_names(out, "# variables removed:", &p->unset);
	/* a tool that makes its own passes gets no counters from us */
	for (size_t i = 0; c && !p->tool->one_run && i < c->nchecks; i++) {
		if (c->checks[i].status != RK_COUNTER_RENAMED)
			continue;
		rk_bytes_printf(out, "# %s has no counter %s; using:", c->arch, c->checks[i].asked);
		for (const char *const *u = c->checks[i].use; *u; u++)
			rk_bytes_printf(out, " %s", *u);
		rk_bytes_put_u8(out, '\n');
	}
	for (size_t i = 0; i < p->notes.n; i++) {
		rk_bytes_puts(out, "# note: ");
		rk_put_plain(out, p->notes.v[i]);
		rk_bytes_put_u8(out, '\n');
	}
	for (size_t i = 0; i < p->hazards.n; i++) {
		rk_bytes_printf(out, "# known problem of %s: ", p->tool->name);
		rk_put_plain(out, p->hazards.v[i]);
		rk_bytes_put_u8(out, '\n');
	}
	for (size_t i = 0; i < p->npasses; i++)
		put_pass(out, p, i);
}

void rk_plan_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_plan *p = what;
	struct rk_json_out j;

	(void)look;
	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "tool", p->tool->name);
	rk_json_text(&j, "tool_version", p->tool_version);
	rk_json_text(&j, "tool_path", p->tool_path);
	rk_json_text(&j, "arch", p->arch);
	rk_json_text(&j, "dir", p->dir);
	rk_json_bool(&j, "profiled", p->chosen);
	rk_json_array(&j, "passes");
	for (size_t i = 0; p->chosen && i < p->npasses; i++) {
		const struct rk_plan_pass *pass = &p->passes[i];

		rk_json_object(&j, NULL);
		rk_json_text(&j, "what", pass->what);
		rk_json_list(&j, "argv", &pass->how.argv);
		rk_json_pairs(&j, "env", &pass->how.env);
		rk_json_text(&j, "dir", pass->dir);
		rk_json_list(&j, "counters", &pass->counters);
		rk_plan_groups(&j, p, pass);
		if (pass->how.file.path) {
			rk_json_array(&j, "files");
			rk_json_object_flat(&j, NULL);
			rk_json_text(&j, "path", pass->how.file.path);
			rk_json_text(&j, "text", pass->how.file.text);
			rk_json_close(&j);
			rk_json_close(&j);
		}
		rk_json_close(&j);
	}
	rk_json_close(&j);
	if (p->want.monitors) {
		rk_json_object_flat(&j, "monitor");
		rk_json_array_flat(&j, "metrics");
		for (unsigned i = 0; rk_monitor_word(i); i++)
			if (p->want.monitors >> i & 1)
				rk_json_text(&j, NULL, rk_monitor_word(i));
		rk_json_close(&j);
		rk_json_uint(&j, "interval_ms", p->want.interval_ms);
		rk_json_close(&j);
	} else {
		rk_json_null(&j, "monitor");
	}
	rk_plan_window_json(&j, p, NULL);
	rk_json_list(&j, "unset", &p->unset);
	rk_json_list(&j, "notes", &p->notes);
	rk_json_list(&j, "hazards", &p->hazards);
	rk_json_end(&j);
}
