/* preset_parse.c - the JSON of a preset, strictly: a slip is said, never passed over. */
#include <string.h>

#include "base/num.h"
#include "rockit/nearest.h"
#include "session/preset_draft.h"

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
	return v->kind == kind ?
		       0 :
		       rk_draft_wrong(v, p->file, p->err, "'%s' must be %s", v->key, word);
}

static int take_text(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	int rc = of_kind(p, v, RK_TREE_TEXT, "a text");

	return rc < 0 ? rc : rk_draft_set(p->d, index, v->text, p->err);
}

static int take_schema(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	int64_t n = 0;

	(void)index;
	if (v->kind == RK_TREE_NUMBER && rk_tree_int(v, &n) && n == 1)
		return 0;
	return rk_draft_wrong(v, p->file, p->err, "schema %s is not known here; this is schema 1",
			      rk_tree_text(v, "of that kind"));
}

static int take_stats(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	(void)index;
	p->d->preset.stats = rk_tree_true(v);
	return of_kind(p, v, RK_TREE_BOOL, "true or false");
}

/* An error of a word is one of this file. */
static int at_word(const struct parse *p, const struct rk_tree *w, int rc)
{
	if (rc < 0 && rc != RK_E_NOMEM) {
		rk_error_at(p->err, p->file, w->line, 0);
		if (p->err)
			p->err->code = RK_E_FORMAT;
		return RK_E_FORMAT;
	}
	return rc;
}

static int add_word(const struct parse *p, const struct rk_tree *w, unsigned list)
{
	if (list == RK_DRAFT_TRACES)
		return at_word(p, w, rk_draft_traces(p->d, w->text, p->err));
	if (list == RK_DRAFT_MONITORS)
		return at_word(p, w, rk_draft_monitors(p->d, w->text, p->err));
	if (list == RK_DRAFT_LIBRARIES)
		return at_word(p, w, rk_draft_libraries(p->d, w->text, p->err));
	rk_list_add(&p->d->list[list], w->text);
	return 0;
}

/* A list stands instead of the one that was inherited. */
static int take_words(const struct parse *p, const struct rk_tree *v, unsigned list)
{
	int rc = of_kind(p, v, RK_TREE_ARRAY, "a list of texts");

	rk_list_release(&p->d->list[list]);
	for (const struct rk_tree *w = v->first; rc == 0 && w; w = w->next) {
		if (w->kind != RK_TREE_TEXT || !w->text[0])
			rc = rk_draft_wrong(w, p->file, p->err, "'%s' must be a list of texts",
					    v->key);
		else
			rc = add_word(p, w, list);
	}
	return rc;
}

static bool is_variable(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n && !s[n] && !(s[0] >= '0' && s[0] <= '9');
}

static bool is_number_key(const char *key)
{
	return strcmp(key, "nproc_per_node") == 0 || strcmp(key, "nnodes") == 0;
}

int rk_draft_pairs(struct rk_draft *d, enum rk_draft_list l, const struct rk_tree *object,
		   const char *file, struct rk_error *err)
{
	if (object->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(object, file, err, "'%s' must be an object", object->key);
	RK_TREE_EACH(c, object)
	{
		const char *value = rk_tree_text(c, NULL);
		int64_t n = 0;

		if (!value)
			return rk_draft_wrong(c, file, err, "'%s' must be a text or a number",
					      c->key);
		if (l == RK_DRAFT_ENV ? !is_variable(c->key) : !c->key[0] || strchr(c->key, '='))
			return rk_draft_wrong(c, file, err, "'%s' cannot be the name of a %s",
					      c->key, l == RK_DRAFT_ENV ? "variable" : "setting");
		if (l == RK_DRAFT_DISTRIBUTED && is_number_key(c->key) &&
		    (!rk_tree_int(c, &n) || n < 1 || n > 1000000))
			return rk_draft_wrong(c, file, err, "'%s' must be a number from 1 on",
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
	near = rk_nearest(rk_tree_text(v, ""), words);
	return rk_draft_wrong(v, p->file, p->err, "'%s' cannot be '%s'; did you mean '%s'?", v->key,
			      rk_tree_text(v, "of that kind"), near ? near : words[0]);
}

static int take_pc_interval(const struct parse *p, const struct rk_tree *v)
{
	int64_t n = 0;

	if (strcmp(rk_tree_text(v, ""), "auto") != 0 &&
	    (v->kind != RK_TREE_NUMBER || !rk_tree_int(v, &n) || n < 1))
		return rk_draft_wrong(v, p->file, p->err,
				      "'interval' must be \"auto\" or a number from 1 on");
	p->d->preset.pc_interval = (uint64_t)n;
	return 0;
}

static int take_pc(const struct parse *p, const struct rk_tree *v, unsigned index)
{
	static const char *const methods[] = { "auto", "host_trap", "stochastic", NULL };
	static const char *const units[] = { "auto", "time", "cycles", "instructions", NULL };
	int rc = of_kind(p, v, RK_TREE_OBJECT, "an object");

	(void)index;
	if (rc == 0)
		rc = rk_draft_set(p->d, RK_DRAFT_PC_METHOD, "auto", p->err);
	if (rc == 0)
		rc = rk_draft_set(p->d, RK_DRAFT_PC_UNIT, "auto", p->err);
	for (const struct rk_tree *c = v->first; rc == 0 && c; c = c->next) {
		if (strcmp(c->key, "method") == 0)
			rc = take_choice(p, c, RK_DRAFT_PC_METHOD, methods);
		else if (strcmp(c->key, "unit") == 0)
			rc = take_choice(p, c, RK_DRAFT_PC_UNIT, units);
		else if (strcmp(c->key, "interval") == 0)
			rc = take_pc_interval(p, c);
		else
			rc = rk_draft_wrong(c, p->file, p->err,
					    "'pc_sampling' has no key '%s'; it has method, unit "
					    "and interval",
					    c->key);
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

static int unknown_key(const struct parse *p, const struct rk_tree *v)
{
	const char *names[NKEYS + 1] = { NULL }, *near;

	for (unsigned i = 0; i < NKEYS; i++)
		names[i] = keys[i].name;
	near = rk_nearest(v->key, names);
	if (near)
		return rk_draft_wrong(v, p->file, p->err, "unknown key '%s'; did you mean '%s'?",
				      v->key, near);
	return rk_draft_wrong(v, p->file, p->err,
			      "unknown key '%s'; 'rockit presets memory --format json' shows the "
			      "keys of a preset",
			      v->key);
}

int rk_draft_parse(struct rk_draft *d, const struct rk_tree *root, const char *file,
		   struct rk_error *err)
{
	const struct parse p = { d, file, err };
	int rc = 0;

	if (root->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(root, file, err,
				      "a preset is an object: {\"traces\": [...]}");
	for (const struct rk_tree *v = root->first; rc == 0 && v; v = v->next) {
		unsigned i = 0;

		while (i < NKEYS && strcmp(keys[i].name, v->key) != 0)
			i++;
		rc = i < NKEYS ? keys[i].take(&p, v, keys[i].index) : unknown_key(&p, v);
	}
	return rc;
}
