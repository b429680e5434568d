/* preset_draft.c - see preset_draft.h: builds presets, and reads their JSON strictly. */
#include "session/preset_draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "rockit/monitor.h"
#include "rockit/nearest.h"
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
	[RK_DRAFT_TIMELINE] = offsetof(struct rk_preset, timeline),
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
	int rc;

	if (!d)
		return rk_fail_nomem(err);
	if (base)
		d->preset = *base;
	for (unsigned i = 0; i < RK_NDRAFT_TEXTS; i++) {
		rc = rk_draft_set(d, i, base ? *text_of(base, i) : "", err);
		if (rc < 0) {
			rk_draft_free(d);
			return rc;
		}
	}
	for (unsigned i = 0; base && i < RK_NDRAFT_LISTS; i++)
		rk_list_addv(&d->list[i], (char *const *)*list_of(base, i));
	*ret = d;
	return 0;
}

static void add_words(struct rk_list *l, const char *const *from)
{
	for (; *from; from++)
		rk_list_add_once(l, *from);
}

int rk_draft_add(struct rk_draft *d, const struct rk_preset *from, struct rk_error *err)
{
	const char *had = d->text[RK_DRAFT_COUNTERS];
	struct rk_list *env = &d->list[RK_DRAFT_ENV];
	char *both;
	int rc;

	/* two counter specs are one with a comma */
	if (from->counters[0] && strcmp(had, from->counters) != 0) {
		both = rk_strf("%s%s%s", had, had[0] ? "," : "", from->counters);
		if (!both)
			return rk_fail_nomem(err);
		rk_free(d->text[RK_DRAFT_COUNTERS]);
		d->text[RK_DRAFT_COUNTERS] = both;
	}
	if (from->pc_method[0]) {
		if ((rc = rk_draft_set(d, RK_DRAFT_PC_METHOD, from->pc_method, err)) < 0 ||
		    (rc = rk_draft_set(d, RK_DRAFT_PC_UNIT, from->pc_unit, err)) < 0)
			return rc;
		d->preset.pc_interval = from->pc_interval;
	}
	if (from->timeline[0] && (rc = rk_draft_set(d, RK_DRAFT_TIMELINE, from->timeline, err)) < 0)
		return rc;
	d->preset.stats |= from->stats;
	add_words(&d->list[RK_DRAFT_TRACES], from->traces);
	add_words(&d->list[RK_DRAFT_MONITORS], from->monitors);
	add_words(&d->list[RK_DRAFT_LIBRARIES], from->libraries);
	add_words(&d->list[RK_DRAFT_NOTES], from->notes);
	rk_list_addv(&d->list[RK_DRAFT_TOOL_ARGS], (char *const *)from->tool_args);
	/* "NAME=VALUE" entries replace those of the same name */
	for (const char *const *e = from->env; *e && !env->bad; e++) {
		const char *equals = strchr(*e, '=');
		char *name = rk_strndup(*e, strcspn(*e, "="));

		if (name)
			rk_list_set(env, name, equals ? equals + 1 : "");
		else
			env->bad = true;
		rk_free(name);
	}
	return 0;
}

static uint64_t number_of(const struct rk_list *l, const char *key)
{
	const char *s = rk_list_value(l, key);
	uint64_t v = 0;

	if (!s || rk_num_u64(s, strlen(s), &v) != RK_NUM_OK)
		return 0;
	return v;
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

int rk_draft_words(struct rk_draft *d, enum rk_draft_list list, const char *words,
		   struct rk_error *err)
{
	static const struct {
		int (*parse)(const char *words, unsigned *ret, struct rk_error *err);
		const char *(*name)(unsigned i); /* NULL: the words as they are */
	} kinds[] = {
		[RK_DRAFT_TRACES] = { rk_trace_parse, rk_trace_name },
		[RK_DRAFT_MONITORS] = { rk_monitor_parse, NULL },
		[RK_DRAFT_LIBRARIES] = { rk_library_parse, rk_library_name },
	};
	const char *(*name)(unsigned) = kinds[list].name;
	struct rk_list *l = &d->list[list], parts = { 0 };
	unsigned bits = 0;
	int rc = kinds[list].parse(words, &bits, err);

	if (rc < 0)
		return rc;
	for (unsigned i = 0; name && name(i); i++)
		if (bits >> i & 1)
			rk_list_add_once(l, name(i));
	if (!name)
		rk_list_split(&parts, words, ",");
	for (size_t i = 0; i < parts.n; i++)
		rk_list_add_once(l, parts.v[i]);
	l->bad |= parts.bad;
	rk_list_release(&parts);
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

/* ---- the JSON of a preset: every mistake is an error ---- */

/* What is being read, and where errors go. */
struct parse {
	struct rk_draft *d;
	const char *file;
	struct rk_error *err;
};

struct key {
	const char *name;
	int (*take)(const struct parse *p, const struct rk_tree *v, unsigned index);
	unsigned index; /* of the text or list that it is stored in */
};

static int of_kind(const struct parse *p, const struct rk_tree *v, enum rk_tree_kind kind,
		   const char *word)
{
	if (v->kind == kind)
		return 0;
	return rk_draft_wrong(v, p->file, p->err, "'%s' must be %s", v->key, word);
}

static int take_text(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	int rc = of_kind(p, v, RK_TREE_TEXT, "a text");

	if (rc < 0)
		return rc;
	return rk_draft_set(p->d, index, v->text, p->err);
}

static int take_schema(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	int64_t n = 0;

	(void)index;
	if (v->kind == RK_TREE_NUMBER && rk_tree_int(v, &n) && n == 1)
		return 0;
	return rk_draft_wrong(v, p->file, p->err,
			      "unknown schema %s; this rockit supports schema 1",
			      rk_tree_text(v, "(not a number)"));
}

static int take_timeline(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	const char *word = rk_tree_text(v, "");

	if (!rk_timeline_file(word))
		return rk_draft_wrong(v, p->file, p->err,
				      "'timeline' must be \"pftrace\" or \"json\"");
	return rk_draft_set(p->d, index, word, p->err);
}

static int take_stats(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	(void)index;
	p->d->preset.stats = rk_tree_true(v);
	return of_kind(p, v, RK_TREE_BOOL, "true or false");
}

/* A list replaces the one that was inherited. */
static int take_words(const struct parse *p, const struct rk_tree *v, unsigned list)
{
	bool known = list == RK_DRAFT_TRACES || list == RK_DRAFT_MONITORS ||
		     list == RK_DRAFT_LIBRARIES;
	int rc = of_kind(p, v, RK_TREE_ARRAY, "a list of texts");

	if (rc < 0)
		return rc;
	rk_list_release(&p->d->list[list]);
	for (const struct rk_tree *w = v->first; w; w = w->next) {
		if (w->kind != RK_TREE_TEXT || !w->text[0])
			return rk_draft_wrong(w, p->file, p->err, "'%s' must be a list of texts",
					      v->key);
		if (!known) {
			rk_list_add(&p->d->list[list], w->text);
			continue;
		}
		rc = rk_draft_words(p->d, list, w->text, p->err);
		if (rc == RK_E_NOMEM)
			return rc;
		if (rc < 0) {
			/* report a wrong word as an error of this file */
			rk_error_at(p->err, p->file, w->line, 0);
			if (p->err)
				p->err->code = RK_E_FORMAT;
			return RK_E_FORMAT;
		}
	}
	return 0;
}

static bool is_variable(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n && !s[n] && !(s[0] >= '0' && s[0] <= '9');
}

int rk_draft_pairs(struct rk_draft *d, enum rk_draft_list l, const struct rk_tree *object,
		   const char *file, struct rk_error *err)
{
	if (object->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(object, file, err, "'%s' must be an object", object->key);
	RK_TREE_EACH(c, object)
	{
		const char *value = rk_tree_text(c, NULL);
		bool number;
		int64_t n = 0;

		if (!value)
			return rk_draft_wrong(c, file, err, "'%s' must be a text or a number",
					      c->key);
		if (!c->key[0] || strchr(c->key, '=') ||
		    (l == RK_DRAFT_ENV && !is_variable(c->key)))
			return rk_draft_wrong(c, file, err, "invalid name '%s' of a %s", c->key,
					      l == RK_DRAFT_ENV ? "variable" : "setting");
		number = strcmp(c->key, "nproc_per_node") == 0 || strcmp(c->key, "nnodes") == 0;
		if (l == RK_DRAFT_DISTRIBUTED && number &&
		    (!rk_tree_int(c, &n) || n < 1 || n > 1000000))
			return rk_draft_wrong(c, file, err, "'%s' must be a number of at least 1",
					      c->key);
		rk_list_set(&d->list[l], c->key, value);
	}
	return 0;
}

static int take_pairs(const struct parse *p, const struct rk_tree *v, unsigned list)
{
	return rk_draft_pairs(p->d, list, v, p->file, p->err);
}

static int take_delivers(const struct parse *p, const struct rk_tree *v, unsigned list)
{
	int rc = of_kind(p, v, RK_TREE_OBJECT, "an object of texts");

	rk_list_release(&p->d->list[list]);
	for (const struct rk_tree *c = v->first; rc == 0 && c; c = c->next) {
		rc = of_kind(p, c, RK_TREE_TEXT, "a text");
		rk_list_addf(&p->d->list[list], "%s: %s", c->key, c->text);
	}
	return rc;
}

static int take_interval(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	int64_t ms = 0;

	(void)index;
	if (v->kind != RK_TREE_NUMBER || !rk_tree_int(v, &ms) || ms < 1 || ms > 3600000)
		return rk_draft_wrong(v, p->file, p->err,
				      "'%s' must be a number of milliseconds from 1 to 3600000",
				      v->key);
	p->d->preset.monitor_interval_ms = (unsigned)ms;
	return 0;
}

/* One of a few words, ended by NULL. */
static int take_choice(const struct parse *p, const struct rk_tree *v, enum rk_draft_text t,
		       const char *const *words)
{
	const char *near;

	if (v->kind == RK_TREE_TEXT)
		for (const char *const *w = words; *w; w++)
			if (strcmp(*w, v->text) == 0)
				return rk_draft_set(p->d, t, v->text, p->err);
	if (v->kind != RK_TREE_TEXT)
		return rk_draft_wrong(v, p->file, p->err, "'%s' must be a text such as '%s'",
				      v->key, words[0]);
	near = rk_nearest(v->text, words);
	return rk_draft_wrong(v, p->file, p->err, "'%s' cannot be '%s'; did you mean '%s'?", v->key,
			      v->text, near ? near : words[0]);
}

static int take_pc(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	static const char *const methods[] = { "auto", "host_trap", "stochastic", NULL };
	static const char *const units[] = { "auto", "time", "cycles", "instructions", NULL };
	int64_t n = 0;
	int rc;

	(void)index;
	if ((rc = of_kind(p, v, RK_TREE_OBJECT, "an object")) < 0 ||
	    (rc = rk_draft_set(p->d, RK_DRAFT_PC_METHOD, "auto", p->err)) < 0 ||
	    (rc = rk_draft_set(p->d, RK_DRAFT_PC_UNIT, "auto", p->err)) < 0)
		return rc;
	for (const struct rk_tree *c = v->first; rc == 0 && c; c = c->next) {
		if (strcmp(c->key, "method") == 0) {
			rc = take_choice(p, c, RK_DRAFT_PC_METHOD, methods);
		} else if (strcmp(c->key, "unit") == 0) {
			rc = take_choice(p, c, RK_DRAFT_PC_UNIT, units);
		} else if (strcmp(c->key, "interval") != 0) {
			rc = rk_draft_wrong(c, p->file, p->err,
					    "unknown key '%s' in 'pc_sampling'; it has method, "
					    "unit and interval",
					    c->key);
		} else if (strcmp(rk_tree_text(c, ""), "auto") == 0) {
			p->d->preset.pc_interval = 0;
		} else if (c->kind == RK_TREE_NUMBER && rk_tree_int(c, &n) && n >= 1) {
			p->d->preset.pc_interval = (uint64_t)n;
		} else {
			rc = rk_draft_wrong(
				c, p->file, p->err,
				"'interval' must be \"auto\" or a number of at least 1");
		}
	}
	return rc;
}

static const struct key keys[] = {
	{ "schema", take_schema, 0 },
	{ "name", take_text, RK_DRAFT_NAME },
	{ "extends", take_text, RK_DRAFT_EXTENDS },
	{ "description", take_text, RK_DRAFT_DESCRIPTION },
	{ "use_case", take_text, RK_DRAFT_USE_CASE },
	{ "overhead", take_text, RK_DRAFT_OVERHEAD },
	{ "traces", take_words, RK_DRAFT_TRACES },
	{ "stats", take_stats, 0 },
	{ "timeline", take_timeline, RK_DRAFT_TIMELINE },
	{ "counters", take_text, RK_DRAFT_COUNTERS },
	{ "pc_sampling", take_pc, 0 },
	{ "monitors", take_words, RK_DRAFT_MONITORS },
	{ "monitor_interval_ms", take_interval, 0 },
	{ "libraries", take_words, RK_DRAFT_LIBRARIES },
	{ "env", take_pairs, RK_DRAFT_ENV },
	{ "tool_args", take_words, RK_DRAFT_TOOL_ARGS },
	{ "delivers", take_delivers, RK_DRAFT_DELIVERS },
	{ "distributed", take_pairs, RK_DRAFT_DISTRIBUTED },
	{ "slurm", take_pairs, RK_DRAFT_SLURM },
	{ "notes", take_words, RK_DRAFT_NOTES },
};

enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

int rk_draft_parse(struct rk_draft *d, const struct rk_tree *root, const char *file,
		   struct rk_error *err)
{
	const char *names[NKEYS + 1] = { NULL }, *near;
	const struct parse p = { d, file, err };

	if (root->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(root, file, err,
				      "a preset must be an object: {\"traces\": [...]}");
	for (unsigned i = 0; i < NKEYS; i++)
		names[i] = keys[i].name;
	for (const struct rk_tree *v = root->first; v; v = v->next) {
		unsigned i = 0;
		int rc;

		while (i < NKEYS && strcmp(names[i], v->key) != 0)
			i++;
		if (i < NKEYS) {
			rc = keys[i].take(&p, v, keys[i].index);
			if (rc < 0)
				return rc;
			continue;
		}
		near = rk_nearest(v->key, names);
		if (near)
			return rk_draft_wrong(v, file, err, "unknown key '%s'; did you mean '%s'?",
					      v->key, near);
		return rk_draft_wrong(
			v, file, err,
			"unknown key '%s'; 'rockit presets memory --format json' shows "
			"the keys of a preset",
			v->key);
	}
	return 0;
}
