/* sim_tree.h - a small reader of YAML and JSON: maps, lists and scalars, block and flow style. */
#ifndef SIM_TREE_H
#define SIM_TREE_H

#include "sim.h"

struct node {
	enum { SCALAR, LIST, MAP } kind;
	char *text;  /* of a scalar */
	char **keys; /* of a map */
	struct node **items;
	size_t n;
};

struct node *tree_read(const char *text);                             /* NULL if it is neither */
const struct node *tree_get(const struct node *map, const char *key); /* NULL if absent */

#endif
