/*
 * context_parse.c - madengine's JSON contexts: which of its keys mean something here.
 *
 * A context describes a container, a cluster and a model besides the profiler. What this program
 * does not do is named in `ignored`, so that nobody waits for it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/handle.h"
#include "base/text.h"
#include "rockit/nearest.h"
#include "session/context_impl.h"

static void add_line(struct rk_list *l, const char *fmt, va_list ap)
{
	char text[400];

	vsnprintf(text, sizeof(text), fmt, ap);
	rk_list_add_once(l, text);
}

void rk_madengine_note(struct rk_madengine *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(&m->d->list[RK_DRAFT_NOTES], fmt, ap);
	va_end(ap);
}

void rk_madengine_ignore(struct rk_madengine *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(&m->d->list[RK_DRAFT_IGNORED], fmt, ap);
	va_end(ap);
}

int rk_madengine_env(struct rk_madengine *m, const struct rk_tree *object)
{
	if (rk_tree_get(object, "NCCL_DEBUG"))
		m->nccl_debug = true;
	return rk_draft_pairs(m->d, RK_DRAFT_ENV, object, m->file, m->err);
}

/* Scalars are kept; what a launcher or cluster wants beyond them is named as ignored. */
static int settings(struct rk_madengine *m, const struct rk_tree *object, enum rk_draft_list l)
{
	if (object->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(object, m->file, m->err, "'%s' must be an object",
				      object->key);
	RK_TREE_EACH(c, object)
	{
		struct rk_tree one = *object, only = *c;
		int rc;

		if (!rk_tree_text(c, NULL)) {
			rk_madengine_ignore(m, "%s.%s", object->key, c->key);
			continue;
		}
		only.next = NULL;
		one.first = &only;
		rc = rk_draft_pairs(m->d, l, &one, m->file, m->err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take_distributed(struct rk_madengine *m, const struct rk_tree *v)
{
	return settings(m, v, RK_DRAFT_DISTRIBUTED);
}

static int take_slurm(struct rk_madengine *m, const struct rk_tree *v)
{
	return settings(m, v, RK_DRAFT_SLURM);
}

static int take_tools(struct rk_madengine *m, const struct rk_tree *v)
{
	size_t i = 0;
	int rc = 0;

	if (v->kind != RK_TREE_ARRAY)
		return rk_draft_wrong(
			v, m->file, m->err,
			"'tools' must be a list: [{\"name\": \"rocprofv3_compute\"}]");
	for (const struct rk_tree *t = v->first; rc == 0 && t; t = t->next)
		rc = rk_madengine_tool(m, t, i++);
	return rc;
}

static int take_vendor(struct rk_madengine *m, const struct rk_tree *v)
{
	const char *vendor = rk_tree_text(v, "");

	if (!rk_text_same(vendor, "AMD"))
		rk_madengine_note(m, "gpu_vendor '%s': the tools of a context profile AMD GPUs",
				  vendor);
	return 0;
}

static const struct {
	const char *name;
	int (*take)(struct rk_madengine *m, const struct rk_tree *v);
} keys[] = {
	{ "tools", take_tools },       { "distributed", take_distributed },
	{ "slurm", take_slurm },       { "env_vars", rk_madengine_env },
	{ "gpu_vendor", take_vendor },
};

enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

/* Named as ignored; a slip of the pen would otherwise go unseen. */
static void pass_over(struct rk_madengine *m, const struct rk_tree *v)
{
	const char *names[NKEYS + 1] = { NULL }, *near;

	rk_madengine_ignore(m, "%s", v->key);
	for (unsigned i = 0; i < NKEYS; i++)
		names[i] = keys[i].name;
	near = rk_nearest(v->key, names);
	if (near)
		rk_madengine_note(m, "key '%s' is not known; did you mean '%s'?", v->key, near);
}

/*
 * RCCL never looks at RCCL_DEBUG: who sets it means NCCL_DEBUG. Its calls at level INFO are counted
 * from files; set for that, it would print them between the program's own lines.
 */
static void translate_debug(struct rk_madengine *m)
{
	struct rk_list *env = &m->d->list[RK_DRAFT_ENV];
	const char *level = rk_list_value(env, "RCCL_DEBUG");
	char copy[64];

	if (!level || m->nccl_debug || strlen(level) >= sizeof(copy))
		return;
	if (rk_list_has(&m->d->list[RK_DRAFT_LIBRARIES], "rccl") && strcmp(level, "INFO") == 0)
		return;
	snprintf(copy, sizeof(copy), "%s", level);
	rk_list_set(env, "NCCL_DEBUG", copy);
	rk_madengine_note(m, "RCCL reads NCCL_DEBUG, not RCCL_DEBUG: set to '%s' too", copy);
}

int rk_draft_context(struct rk_draft *d, const struct rk_tree *root, const char *file,
		     struct rk_error *err)
{
	struct rk_madengine m = { .d = d, .file = file, .err = err };
	int rc = 0;

	if (root->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(root, file, err,
				      "a context is an object: {\"tools\": [...]}");
	for (const struct rk_tree *v = root->first; rc == 0 && v; v = v->next) {
		unsigned i = 0;

		while (i < NKEYS && strcmp(keys[i].name, v->key) != 0)
			i++;
		if (i < NKEYS)
			rc = keys[i].take(&m, v);
		else
			pass_over(&m, v);
	}
	translate_debug(&m);
	if (rc == 0 && !d->text[RK_DRAFT_DESCRIPTION][0])
		rc = rk_draft_set(d, RK_DRAFT_DESCRIPTION, "what a context of madengine asks for",
				  err);
	return rc;
}

/* Python's way of writing a dictionary is not JSON; say so before the parser is puzzled. */
static int check_quotes(const char *text, size_t len, const char *name, struct rk_error *err)
{
	size_t i = 0, line = 1;

	for (; i < len && (text[i] == '{' || text[i] == '[' || strchr(" \t\r\n", text[i])); i++)
		line += text[i] == '\n';
	if (i == len || text[i] != '\'')
		return 0;
	rk_fail(err, RK_E_FORMAT,
		"a context is JSON: names and texts stand in \"...\", not in '...'");
	rk_error_at(err, name, line, 0);
	return RK_E_FORMAT;
}

static int name_it(struct rk_draft *d, const char *name, struct rk_error *err)
{
	int rc = rk_draft_set(d, RK_DRAFT_SOURCE, name, err);

	if (rc == 0 && !d->text[RK_DRAFT_NAME][0])
		rc = rk_draft_set(d, RK_DRAFT_NAME, "context", err);
	return rc;
}

int rk_preset_from_context(const struct rk_preset *base, const char *text, size_t len,
			   const char *name, struct rk_preset **ret, struct rk_error *err)
{
	struct rk_tree *root = NULL;
	struct rk_draft *d = NULL;
	int rc;

	if (!text || !name || !ret)
		return rk_misuse(__func__, err);
	rc = check_quotes(text, len, name, err);
	if (rc == 0)
		rc = rk_tree_parse_json(text, len, name, &root, err);
	if (rc == 0)
		rc = rk_draft_new(base, &d, err);
	if (rc == 0)
		rc = rk_draft_context(d, root, name, err);
	if (rc == 0)
		rc = name_it(d, name, err);
	rk_tree_free(root);
	if (rc < 0) {
		rk_draft_free(d);
		return rc;
	}
	return rk_draft_seal(d, ret, err);
}
