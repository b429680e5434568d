/*
 * tree.h - small JSON or YAML documents as a tree: presets, contexts, job files, run.json.
 *
 * Not for traces: the whole document is in memory, and its size, depth and number of nodes have
 * limits (RK_E_LIMIT). Numbers keep their text. If a key occurs twice, both are kept, and
 * rk_tree_get finds the last.
 */
#ifndef RK_TREE_H
#define RK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
	RK_TREE_BYTES_MAX = 4 << 20,
	RK_TREE_NODES_MAX = 200000,
	RK_TREE_DEPTH_MAX = 64,
};

enum rk_tree_kind {
	RK_TREE_NULL,
	RK_TREE_BOOL,
	RK_TREE_NUMBER,
	RK_TREE_TEXT,
	RK_TREE_ARRAY,
	RK_TREE_OBJECT,
};

struct rk_tree {
	enum rk_tree_kind kind;
	const char *key;  /* in an object, else "" */
	const char *text; /* TEXT and NUMBER as written; "true" or "false" for BOOL; else "" */
	uint64_t line;    /* 1-based, 0 when unknown */
	struct rk_tree *first, *next; /* first child; next sibling */
	size_t n;                     /* number of children */
};

/* `name` is used in errors: a path or an option. *ret is the root. */
int rk_tree_parse_json(const char *text, size_t len, const char *name, struct rk_tree **ret,
		       struct rk_error *err);
/* RK_E_UNSUPPORTED when built without libyaml. Aliases are refused, merge keys are plain keys. */
int rk_tree_parse_yaml(const char *text, size_t len, const char *name, struct rk_tree **ret,
		       struct rk_error *err);
/* .yaml and .yml are YAML, everything else is JSON. */
int rk_tree_load(const char *path, struct rk_tree **ret, struct rk_error *err);
/*
 * The same for a file that was found, not named by the user: refuses pipes and devices, so it never
 * blocks.
 */
int rk_tree_load_found(const char *path, struct rk_tree **ret, struct rk_error *err);
void rk_tree_free(struct rk_tree *root); /* NULL is fine */

/* `t` may be NULL in all of these; they then find nothing. */
const struct rk_tree *rk_tree_get(const struct rk_tree *t, const char *key);
/* Text, number or bool as text; `missing` for anything else. */
const char *rk_tree_text(const struct rk_tree *t, const char *missing);
/* False if it is not an integer that fits. */
bool rk_tree_int(const struct rk_tree *t, int64_t *ret);
bool rk_tree_true(const struct rk_tree *t); /* true, or a number other than 0 */

/* Loops over the children of t, which may be NULL. */
#define RK_TREE_EACH(c, t) for (const struct rk_tree *c = (t) ? (t)->first : NULL; c; c = c->next)

#endif
