/* sim_tree.c - a small reader of YAML and JSON. */
#include "sim_tree.h"

#include <stdio.h>
#include <string.h>

struct line {
	size_t indent;
	char *text;
};
struct reader {
	struct line *lines;
	size_t n, at;
	const char *p; /* inside flow style */
	bool bad;
};

static struct node *flow(struct reader *r);
static struct node *block(struct reader *r, size_t indent);

const struct node *tree_get(const struct node *map, const char *key)
{
	for (size_t i = 0; map && map->kind == MAP && i < map->n; i++)
		if (strcmp(map->keys[i], key) == 0)
			return map->items[i];
	return NULL;
}

static void push(struct node *to, const char *key, struct node *item)
{
	struct node **items = take((to->n + 1) * sizeof(*items));
	char **keys = take((to->n + 1) * sizeof(*keys));

	for (size_t i = 0; i < to->n; i++) {
		items[i] = to->items[i];
		keys[i] = to->keys[i];
	}
	items[to->n] = item;
	keys[to->n] = key ? copy_text(key) : NULL;
	to->items = items;
	to->keys = keys;
	to->n++;
}

static struct node *scalar(const char *text, size_t len)
{
	struct node *node = take(sizeof(*node));

	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	node->kind = SCALAR;
	node->text = print_text("%.*s", (int)len, text);
	return node;
}

static void skip_blank(struct reader *r)
{
	while (*r->p && strchr(" \t\r\n", *r->p))
		r->p++;
}

/* A quoted string at r->p, which ends behind it. */
static char *quoted(struct reader *r)
{
	struct text t = { 0 };
	char q = *r->p++;

	text_bytes(&t, "", 0);
	for (; *r->p && *r->p != q; r->p++) {
		if (q == '"' && *r->p == '\\' && r->p[1]) {
			r->p++;
			text_bytes(&t, *r->p == 'n' ? "\n" : *r->p == 't' ? "\t" : r->p, 1);
		} else {
			text_bytes(&t, r->p, 1);
		}
	}
	if (*r->p)
		r->p++;
	else
		r->bad = true;
	return t.at;
}

static struct node *flow_items(struct reader *r, char shut)
{
	struct node *node = take(sizeof(*node));

	node->kind = shut == ']' ? LIST : MAP;
	r->p++;
	for (skip_blank(r); *r->p && *r->p != shut && !r->bad; skip_blank(r)) {
		struct node *item = flow(r);
		const char *key = NULL;

		skip_blank(r);
		if (shut == '}') {
			key = item->text;
			r->bad |= *r->p != ':' || !key;
			if (r->bad)
				break;
			r->p++;
			item = flow(r);
			skip_blank(r);
		}
		push(node, key, item);
		if (*r->p == ',')
			r->p++;
		else if (*r->p != shut)
			r->bad = true;
	}
	r->bad |= *r->p != shut;
	if (*r->p)
		r->p++;
	return node;
}

static struct node *flow(struct reader *r)
{
	struct node *node;
	size_t len;

	skip_blank(r);
	if (*r->p == '[' || *r->p == '{')
		return flow_items(r, *r->p == '[' ? ']' : '}');
	if (*r->p == '"' || *r->p == '\'') {
		node = take(sizeof(*node));
		node->text = quoted(r);
		return node;
	}
	len = strcspn(r->p, ",]}:\n");
	node = scalar(r->p, len);
	r->p += len;
	return node;
}

/* A value after `key:` or `-`: flow style may go on over the next lines. */
static struct node *inline_value(struct reader *r, const char *text)
{
	struct text all = { 0 };

	text_add(&all, "%s", text);
	if (*text == '[' || *text == '{') {
		while (r->at < r->n && !strchr(all.at + all.len - 1, *text == '[' ? ']' : '}'))
			text_add(&all, " %s", r->lines[r->at++].text);
		r->p = all.at;
		return flow(r);
	}
	if (*text == '"' || *text == '\'') {
		r->p = all.at;
		return flow(r);
	}
	return scalar(text, strlen(text));
}

/* The length of the key of `key: value`, or 0. */
static size_t key_length(const char *text)
{
	const char *p = text;

	if (*p == '"' || *p == '\'') {
		p = strchr(p + 1, *p);
		return p && p[1] == ':' ? (size_t)(p + 1 - text) : 0;
	}
	for (p = strchr(p, ':'); p; p = strchr(p + 1, ':'))
		if (p[1] == ' ' || !p[1])
			return (size_t)(p - text);
	return 0;
}

static char *key_of(const char *text, size_t len)
{
	if (*text == '"' || *text == '\'')
		return print_text("%.*s", (int)len - 2, text + 1);
	return print_text("%.*s", (int)len, text);
}

static bool is_item(const struct line *l)
{
	return l->text[0] == '-' && (l->text[1] == ' ' || !l->text[1]);
}

static struct node *block_list(struct reader *r, size_t indent)
{
	struct node *node = take(sizeof(*node));

	node->kind = LIST;
	while (r->at < r->n && r->lines[r->at].indent == indent && is_item(&r->lines[r->at])) {
		struct line *l = &r->lines[r->at];
		size_t skip = 1 + strspn(l->text + 1, " ");

		if (!l->text[skip]) {
			r->at++;
			push(node, NULL,
			     r->at < r->n ? block(r, r->lines[r->at].indent) : scalar("", 0));
		} else if (key_length(l->text + skip) ||
			   is_item(&(struct line){ 0, l->text + skip })) {
			l->text += skip;
			l->indent += skip;
			push(node, NULL, block(r, l->indent));
		} else {
			r->at++;
			push(node, NULL, inline_value(r, l->text + skip));
		}
	}
	return node;
}

static struct node *block_map(struct reader *r, size_t indent)
{
	struct node *node = take(sizeof(*node));

	node->kind = MAP;
	while (r->at < r->n && r->lines[r->at].indent == indent) {
		const char *text = r->lines[r->at].text;
		size_t len = key_length(text);
		const char *value = text + len + 1 + strspn(text + len + 1, " ");
		const struct line *next;

		if (!len)
			break;
		r->at++;
		next = r->at < r->n ? &r->lines[r->at] : NULL;
		if (*value)
			push(node, key_of(text, len), inline_value(r, value));
		else if (next &&
			 (next->indent > indent || (next->indent == indent && is_item(next))))
			push(node, key_of(text, len), block(r, next->indent));
		else
			push(node, key_of(text, len), scalar("", 0));
	}
	return node;
}

static struct node *block(struct reader *r, size_t indent)
{
	size_t before = r->at;
	struct node *node = is_item(&r->lines[r->at]) ? block_list(r, indent) :
							block_map(r, indent);

	r->bad |= r->at == before;
	return node;
}

/* A comment starts at a # behind a blank, outside quotes. */
static void strip_comment(char *text)
{
	char q = '\0';

	for (char *p = text; *p; p++) {
		if (q)
			q = *p == q ? '\0' : q;
		else if (*p == '"' || *p == '\'')
			q = *p;
		if (!q && *p == '#' && (p == text || p[-1] == ' ' || p[-1] == '\t')) {
			*p = '\0';
			break;
		}
	}
	for (size_t len = strlen(text); len && strchr(" \t\r", text[len - 1]); len--)
		text[len - 1] = '\0';
}

struct node *tree_read(const char *text)
{
	struct reader r = { .p = text };
	struct words lines = { 0 };
	struct node *node;

	if (text[strspn(text, " \t\r\n")] == '{') {
		node = flow(&r);
		return r.bad ? NULL : node;
	}
	words_split(&lines, text, "\n");
	r.lines = take((lines.n + 1) * sizeof(*r.lines));
	for (size_t i = 0; i < lines.n; i++) {
		size_t indent = strspn(lines.at[i], " ");

		strip_comment(lines.at[i]);
		if (strlen(lines.at[i]) > indent && strcmp(lines.at[i], "---") != 0)
			r.lines[r.n++] = (struct line){ indent, lines.at[i] + indent };
	}
	if (!r.n)
		return NULL;
	node = block(&r, r.lines[0].indent);
	return r.bad || r.at < r.n ? NULL : node;
}
