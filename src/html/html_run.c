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
#include "codec/json/tree.h"
#include "html/html_page.h"

enum { RUN_MAX = 8 << 20 };

static const char *const of_run[] = { "rockit",  "state",      "command",  "exit_status",
				      "tool",    "preset",     "arch",     "host",
				      "gpus",    "start_time", "end_time", "rank",
				      "passes",  "baseline",   "ledger",   "notes",
				      "hazards", "warnings",   NULL };
static const char *const of_pass[] = { "what",   "counters",      "ran",     "status",
				       "signal", "timed_out",     "seconds", "files",
				       "bytes",  "max_rss_bytes", NULL };
static const char *const of_tool[] = { "name", "version", NULL };

static bool listed(const char *const *list, const char *key)
{
	for (; list && *list; list++)
		if (strcmp(*list, key) == 0)
			return true;
	return !list;
}

/* Which members of the object under `key` are for the page; NULL: all. */
static const char *const *list_below(const char *const *list, const char *key)
{
	if (list != of_run)
		return list;
	if (strcmp(key, "passes") == 0 || strcmp(key, "baseline") == 0)
		return of_pass;
	return strcmp(key, "tool") == 0 ? of_tool : NULL;
}

static void put_node(struct rk_bytes *out, const struct rk_tree *t, const char *const *list);

static void put_children(struct rk_bytes *out, const struct rk_tree *t, const char *const *list)
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

static void put_node(struct rk_bytes *out, const struct rk_tree *t, const char *const *list)
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
	int rc = rk_tree_load(path, &t, &why);

	*ret = NULL;
	if (rc < 0) /* no such file, or none of ours: the page does without */
		return rc == RK_E_NOMEM ? rk_fail_nomem(err) : 0;
	rk_bytes_init(&out, RUN_MAX);
	rc = 0;
	if (rk_tree_get(t, "ledger")) {
		put_node(&out, t, of_run);
		rc = rk_bytes_give(&out, ret, NULL, err);
	}
	rk_bytes_release(&out);
	rk_tree_free(t);
	return rc;
}
