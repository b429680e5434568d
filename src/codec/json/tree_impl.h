/* tree_impl.h - shared by tree.c and its parsers only. */
#ifndef RK_TREE_IMPL_H
#define RK_TREE_IMPL_H

#include "codec/json/tree.h"

/* A tree being built: nodes and texts hang on the root, and go with it. */
struct rk_tree_maker {
	struct rk_tree *root;
	struct rk_tree *open[RK_TREE_DEPTH_MAX];
	struct rk_tree *last[RK_TREE_DEPTH_MAX]; /* last child of what is open there */
	unsigned depth;
	size_t nodes;
	char *key; /* waits for its value */
	const char *name;
};

/* The key of the next value; copied. */
int rk_tree_key(struct rk_tree_maker *m, const char *text, size_t len, struct rk_error *err);
/* A value; ARRAY and OBJECT stay open until rk_tree_shut. `text` is copied, NULL for none. */
int rk_tree_value(struct rk_tree_maker *m, enum rk_tree_kind kind, const char *text, size_t len,
		  uint64_t line, struct rk_error *err);
void rk_tree_shut(struct rk_tree_maker *m);
/* Hands over the root (when rc is 0) or frees everything. Returns rc. */
int rk_tree_made(struct rk_tree_maker *m, int rc, struct rk_tree **ret);

#endif
