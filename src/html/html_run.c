/*
 * html_run.c - what the page says of the recording, from run.json.
 *
 * The page is for handing on: only what is listed here goes into it. The environment, the
 * directories and the profiler's command lines stay in run.json.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "html/html_page.h"
#include "run/run_json.h"

enum { RUN_MAX = 8 << 20 };

struct keys {
	const enum rk_run_key *v;
	size_t n;
};

static const enum rk_run_key run_keys[] = {
	RK_RUN_ROCKIT,   RK_RUN_STATE,   RK_RUN_COMMAND,  RK_RUN_EXIT_STATUS, RK_RUN_TOOL,
	RK_RUN_PRESET,   RK_RUN_ARCH,    RK_RUN_HOST,     RK_RUN_GPUS,        RK_RUN_START_TIME,
	RK_RUN_END_TIME, RK_RUN_RANK,    RK_RUN_PASSES,   RK_RUN_BASELINE,    RK_RUN_LEDGER,
	RK_RUN_NOTES,    RK_RUN_HAZARDS, RK_RUN_WARNINGS,
};
static const enum rk_run_key pass_keys[] = {
	RK_RUN_PASS_WHAT,   RK_RUN_PASS_COUNTERS,  RK_RUN_PASS_RAN,     RK_RUN_PASS_STATUS,
	RK_RUN_PASS_SIGNAL, RK_RUN_PASS_TIMED_OUT, RK_RUN_PASS_SECONDS, RK_RUN_PASS_FILES,
	RK_RUN_PASS_BYTES,  RK_RUN_PASS_MAX_RSS,
};
static const enum rk_run_key tool_keys[] = { RK_RUN_TOOL_NAME, RK_RUN_TOOL_VERSION };

static const struct keys of_run = { run_keys, sizeof(run_keys) / sizeof(run_keys[0]) };
static const struct keys of_pass = { pass_keys, sizeof(pass_keys) / sizeof(pass_keys[0]) };
static const struct keys of_tool = { tool_keys, sizeof(tool_keys) / sizeof(tool_keys[0]) };

/* NULL lists all. */
static bool listed(const struct keys *list, const char *key)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (strcmp(rk_run_key(list->v[i]), key) == 0)
			return true;
	return !list;
}

/* Which members of the object under `key` are for the page; NULL: all. */
static const struct keys *list_below(const struct keys *list, const char *key)
{
	if (list != &of_run)
		return list;
	if (strcmp(key, rk_run_key(RK_RUN_PASSES)) == 0 ||
	    strcmp(key, rk_run_key(RK_RUN_BASELINE)) == 0)
		return &of_pass;
	return strcmp(key, rk_run_key(RK_RUN_TOOL)) == 0 ? &of_tool : NULL;
}

static void put_node(struct rk_bytes *out, const struct rk_tree *t, const struct keys *list);

static void put_children(struct rk_bytes *out, const struct rk_tree *t, const struct keys *list)
{
	bool object = t->kind == RK_TREE_OBJECT, some = false;

	rk_bytes_put_u8(out, object ? '{' : '[');
	RK_TREE_EACH(c, t)
	{
		if (object && !listed(list, c->key))
			continue;
		if (some)
			rk_bytes_put_u8(out, ',');
		some = true;
		if (object) {
			rk_json_string(out, c->key, strlen(c->key));
			rk_bytes_put_u8(out, ':');
		}
		put_node(out, c, object ? list_below(list, c->key) : list);
	}
	rk_bytes_put_u8(out, object ? '}' : ']');
}

static void put_node(struct rk_bytes *out, const struct rk_tree *t, const struct keys *list)
{
	switch (t->kind) {
	case RK_TREE_OBJECT:
	case RK_TREE_ARRAY:
		put_children(out, t, list);
		break;
	case RK_TREE_TEXT:
		rk_json_string(out, t->text, strlen(t->text));
		break;
	case RK_TREE_NULL:
		rk_bytes_puts(out, "null");
		break;
	default:
		rk_bytes_puts(out, t->text);
	}
}

int rk_html_run_json(const char *path, char **ret, struct rk_error *err)
{
	struct rk_error why = { 0 };
	struct rk_tree *t = NULL;
	struct rk_bytes out;
	int rc = rk_run_json_load(path, &t, &why);

	*ret = NULL;
	if (rc < 0) /* no such file, or none of ours: the page does without */
		return rc == RK_E_NOMEM ? rk_fail_nomem(err) : 0;
	rk_bytes_init(&out, RUN_MAX);
	rc = 0;
	if (rk_run_json_recorded(t)) {
		put_node(&out, t, &of_run);
		rc = rk_bytes_give(&out, ret, NULL, err);
	}
	rk_bytes_release(&out);
	rk_tree_free(t);
	return rc;
}
