/* preset_draft.c - see preset_draft.h. */
#include "session/preset_draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "rockit/monitor.h"
#include "session/library_trace.h"
#include "tool/tool.h"

static const size_t text_at[RK_NDRAFT_TEXTS] = {
	[RK_DRAFT_NAME] = offsetof(struct rk_preset, name),
	[RK_DRAFT_EXTENDS] = offsetof(struct rk_preset, extends),
	[RK_DRAFT_DESCRIPTION] = offsetof(struct rk_preset, description),
	[RK_DRAFT_USE_CASE] = offsetof(struct rk_preset, use_case),
	[RK_DRAFT_OVERHEAD] = offsetof(struct rk_preset, overhead),
	[RK_DRAFT_SOURCE] = offsetof(struct rk_preset, source),
	[RK_DRAFT_COUNTERS] = offsetof(struct rk_preset, counters),
	[RK_DRAFT_PC_METHOD] = offsetof(struct rk_preset, pc_method),
	[RK_DRAFT_PC_UNIT] = offsetof(struct rk_preset, pc_unit),
};

static const size_t list_at[RK_NDRAFT_LISTS] = {
	[RK_DRAFT_TRACES] = offsetof(struct rk_preset, traces),
	[RK_DRAFT_MONITORS] = offsetof(struct rk_preset, monitors),
	[RK_DRAFT_LIBRARIES] = offsetof(struct rk_preset, libraries),
	[RK_DRAFT_ENV] = offsetof(struct rk_preset, env),
	[RK_DRAFT_TOOL_ARGS] = offsetof(struct rk_preset, tool_args),
	[RK_DRAFT_DELIVERS] = offsetof(struct rk_preset, delivers),
	[RK_DRAFT_DISTRIBUTED] = offsetof(struct rk_preset, distributed),
	[RK_DRAFT_SLURM] = offsetof(struct rk_preset, slurm),
	[RK_DRAFT_IGNORED] = offsetof(struct rk_preset, ignored),
	[RK_DRAFT_NOTES] = offsetof(struct rk_preset, notes),
};

static const char **text_of(const struct rk_preset *p, unsigned i)
{
	return (const char **)((char *)p + text_at[i]);
}

static const char *const **list_of(const struct rk_preset *p, unsigned i)
{
	return (const char *const **)((char *)p + list_at[i]);
}

void rk_draft_free(struct rk_draft *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < RK_NDRAFT_TEXTS; i++)
		rk_free(d->text[i]);
	for (unsigned i = 0; i < RK_NDRAFT_LISTS; i++)
		rk_list_release(&d->list[i]);
	rk_free(d);
}

static void destroy_preset(void *p)
{
	rk_draft_free(p);
}

void rk_preset_free(struct rk_preset *p)
{
	rk_handle_close(RK_HANDLE_PRESET, p);
}

int rk_draft_set(struct rk_draft *d, enum rk_draft_text t, const char *value, struct rk_error *err)
{
	char *copy = rk_strdup(value);

	if (!copy)
		return rk_fail_nomem(err);
	rk_free(d->text[t]);
	d->text[t] = copy;
	return 0;
}

int rk_draft_new(const struct rk_preset *base, struct rk_draft **ret, struct rk_error *err)
{
	struct rk_draft *d = rk_calloc(1, sizeof(*d));
	int rc = d ? 0 : rk_fail_nomem(err);

	if (d && base)
		d->preset = *base;
	for (unsigned i = 0; rc == 0 && i < RK_NDRAFT_TEXTS; i++)
		rc = rk_draft_set(d, i, base ? *text_of(base, i) : "", err);
	for (unsigned i = 0; rc == 0 && base && i < RK_NDRAFT_LISTS; i++)
		rk_list_addv(&d->list[i], (char *const *)*list_of(base, i));
	if (rc < 0) {
		rk_draft_free(d);
		return rc;
	}
	*ret = d;
	return 0;
}

/* Of "NAME=VALUE" entries each over the one of its name. */
static void set_pairs(struct rk_list *l, const char *const *from)
{
	for (; *from && !l->bad; from++) {
		const char *equals = strchr(*from, '=');
		char *name = rk_strndup(*from, equals ? (size_t)(equals - *from) : strlen(*from));

		if (name)
			rk_list_set(l, name, equals ? equals + 1 : "");
		else
			l->bad = true;
		rk_free(name);
	}
}

static void add_words(struct rk_list *l, const char *const *from)
{
	for (; *from; from++)
		rk_list_add_once(l, *from);
}

/* Two counter specs are one with a comma. */
static int add_counters(struct rk_draft *d, const char *more, struct rk_error *err)
{
	struct rk_list all = { 0 };
	int rc;

	if (!more[0] || strcmp(d->text[RK_DRAFT_COUNTERS], more) == 0)
		return 0;
	if (!d->text[RK_DRAFT_COUNTERS][0])
		return rk_draft_set(d, RK_DRAFT_COUNTERS, more, err);
	rk_list_addf(&all, "%s,%s", d->text[RK_DRAFT_COUNTERS], more);
	rc = all.bad ? rk_fail_nomem(err) : rk_draft_set(d, RK_DRAFT_COUNTERS, all.v[0], err);
	rk_list_release(&all);
	return rc;
}

int rk_draft_add(struct rk_draft *d, const struct rk_preset *from, struct rk_error *err)
{
	int rc = add_counters(d, from->counters, err);

	if (rc == 0 && from->pc_method[0]) {
		rc = rk_draft_set(d, RK_DRAFT_PC_METHOD, from->pc_method, err);
		if (rc == 0)
			rc = rk_draft_set(d, RK_DRAFT_PC_UNIT, from->pc_unit, err);
		d->preset.pc_interval = from->pc_interval;
	}
	d->preset.stats |= from->stats;
	add_words(&d->list[RK_DRAFT_TRACES], from->traces);
	add_words(&d->list[RK_DRAFT_MONITORS], from->monitors);
	add_words(&d->list[RK_DRAFT_LIBRARIES], from->libraries);
	add_words(&d->list[RK_DRAFT_NOTES], from->notes);
	rk_list_addv(&d->list[RK_DRAFT_TOOL_ARGS], (char *const *)from->tool_args);
	set_pairs(&d->list[RK_DRAFT_ENV], from->env);
	return rc;
}

static uint64_t number_of(const struct rk_list *l, const char *key)
{
	const char *s = rk_list_value(l, key);
	uint64_t v = 0;

	return s && rk_num_u64(s, strlen(s), &v) == RK_NUM_OK ? v : 0;
}

int rk_draft_seal(struct rk_draft *d, struct rk_preset **ret, struct rk_error *err)
{
	static const char *const none[] = { NULL };
	const struct rk_list *launch = &d->list[RK_DRAFT_DISTRIBUTED];
	const char *launcher = rk_list_value(launch, "launcher");

	for (unsigned i = 0; i < RK_NDRAFT_LISTS; i++) {
		if (d->list[i].bad) {
			rk_draft_free(d);
			return rk_fail_nomem(err);
		}
		*list_of(&d->preset, i) = d->list[i].n ? (const char *const *)d->list[i].v : none;
	}
	for (unsigned i = 0; i < RK_NDRAFT_TEXTS; i++)
		*text_of(&d->preset, i) = d->text[i];
	d->preset.launcher = launcher ? launcher : "";
	d->preset.nproc_per_node = number_of(launch, "nproc_per_node");
	d->preset.nnodes = number_of(launch, "nnodes");
	if (rk_handle_open(RK_HANDLE_PRESET, &d->preset, destroy_preset, err) < 0) {
		rk_draft_free(d);
		return RK_E_NOMEM;
	}
	*ret = &d->preset;
	return 0;
}

int rk_draft_traces(struct rk_draft *d, const char *words, struct rk_error *err)
{
	unsigned bits = 0;
	int rc = rk_trace_parse(words, &bits, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < RK_NTRACES; i++)
		if (bits >> i & 1)
			rk_list_add_once(&d->list[RK_DRAFT_TRACES], rk_trace_name(i));
	return 0;
}

static void add_split(struct rk_list *l, const char *words)
{
	struct rk_list parts = { 0 };

	rk_list_split(&parts, words, ",");
	for (size_t i = 0; i < parts.n; i++)
		rk_list_add_once(l, parts.v[i]);
	l->bad |= parts.bad;
	rk_list_release(&parts);
}

int rk_draft_monitors(struct rk_draft *d, const char *words, struct rk_error *err)
{
	unsigned bits = 0;
	int rc = rk_monitor_parse(words, &bits, err);

	if (rc == 0)
		add_split(&d->list[RK_DRAFT_MONITORS], words);
	return rc;
}

int rk_draft_libraries(struct rk_draft *d, const char *words, struct rk_error *err)
{
	unsigned bits = 0;
	int rc = rk_library_parse(words, &bits, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; rk_library_name(i); i++)
		if (bits >> i & 1)
			rk_list_add_once(&d->list[RK_DRAFT_LIBRARIES], rk_library_name(i));
	return 0;
}

int rk_draft_wrong(const struct rk_tree *at, const char *file, struct rk_error *err,
		   const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rk_fail(err, RK_E_FORMAT, "%s", text);
	rk_error_at(err, file, at ? at->line : 0, 0);
	return RK_E_FORMAT;
}
