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
	rk_json_list(&j, "unset", &p->unset);
	rk_json_list(&j, "notes", &p->notes);
	rk_json_list(&j, "hazards", &p->hazards);
	rk_json_end(&j);
}
