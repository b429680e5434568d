/* tree.c - the tree itself: making, looking up, freeing. */
#include "codec/json/tree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "codec/json/tree_impl.h"

int rk_tree_key(struct rk_tree_maker *m, const char *text, size_t len, struct rk_error *err)
{
	rk_free(m->key);
	m->key = rk_strndup(text, len);
	return m->key ? 0 : rk_fail_nomem(err);
}

static void hang(struct rk_tree_maker *m, struct rk_tree *n)
{
	struct rk_tree *parent = m->depth ? m->open[m->depth - 1] : NULL, *last;

	if (!parent) {
		m->root = n;
		return;
	}
	last = m->last[m->depth - 1];
	if (last)
		last->next = n;
	else
		parent->first = n;
	m->last[m->depth - 1] = n;
	parent->n++;
}

static struct rk_tree *new_node(struct rk_tree_maker *m, enum rk_tree_kind kind, const char *text,
				size_t len)
{
	struct rk_tree *n = rk_calloc(1, sizeof(*n));
	char *copy = n ? rk_strndup(text ? text : "", text ? len : 0) : NULL;

	if (!copy) {
		rk_free(n);
		return NULL;
	}
	n->kind = kind;
	n->text = copy;
	n->key = m->key ? m->key : rk_strdup("");
	m->key = NULL;
	if (n->key)
		return n;
	rk_tree_free(n);
	return NULL;
}

int rk_tree_value(struct rk_tree_maker *m, enum rk_tree_kind kind, const char *text, size_t len,
		  uint64_t line, struct rk_error *err)
{
	bool opens = kind == RK_TREE_ARRAY || kind == RK_TREE_OBJECT;
	struct rk_tree *n;
	int rc = 0;

	if (++m->nodes > RK_TREE_NODES_MAX)
		rc = rk_fail(err, RK_E_LIMIT, "more than %d values", RK_TREE_NODES_MAX);
	else if (opens && m->depth == RK_TREE_DEPTH_MAX)
		rc = rk_fail(err, RK_E_LIMIT, "nested deeper than %d", RK_TREE_DEPTH_MAX);
	if (rc < 0) {
		rk_error_at(err, m->name, line, 0);
		return rc;
	}
	n = new_node(m, kind, text, len);
	if (!n)
		return rk_fail_nomem(err);
	n->line = line;
	hang(m, n);
	if (opens) {
		m->last[m->depth] = NULL;
		m->open[m->depth++] = n;
	}
	return 0;
}

void rk_tree_shut(struct rk_tree_maker *m)
{
	if (m->depth)
		m->depth--;
}

int rk_tree_made(struct rk_tree_maker *m, int rc, struct rk_tree **ret)
{
	rk_free(m->key);
	m->key = NULL;
	if (rc < 0)
		rk_tree_free(m->root);
	else
		*ret = m->root;
	return rc;
}

/* Depth is bounded by RK_TREE_DEPTH_MAX; siblings are a loop. */
void rk_tree_free(struct rk_tree *t)
{
	while (t) {
		struct rk_tree *next = t->next;

		rk_tree_free(t->first);
		rk_free((char *)t->key);
		rk_free((char *)t->text);
		rk_free(t);
		t = next;
	}
}

const struct rk_tree *rk_tree_get(const struct rk_tree *t, const char *key)
{
	const struct rk_tree *found = NULL;

	if (!t || t->kind != RK_TREE_OBJECT)
		return NULL;
	RK_TREE_EACH(c, t)
	if (strcmp(c->key, key) == 0)
		found = c;
	return found;
}

const char *rk_tree_text(const struct rk_tree *t, const char *missing)
{
	bool scalar = t && (t->kind == RK_TREE_TEXT || t->kind == RK_TREE_NUMBER ||
			    t->kind == RK_TREE_BOOL);

	return scalar ? t->text : missing;
}

bool rk_tree_int(const struct rk_tree *t, int64_t *ret)
{
	const char *s = rk_tree_text(t, "");

	return rk_num_i64(s, strlen(s), ret) == RK_NUM_OK;
}

bool rk_tree_true(const struct rk_tree *t)
{
	double v;

	if (!t)
		return false;
	if (t->kind == RK_TREE_NUMBER)
		return rk_num_f64(t->text, strlen(t->text), &v) == RK_NUM_OK && v != 0;
	return t->kind == RK_TREE_BOOL && strcmp(t->text, "true") == 0;
}
