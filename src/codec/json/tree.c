/* tree.c - see tree.h. */
#include "codec/json/tree.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/json/stream.h"
#include "io/file.h"

/* A tree being built; the root owns all nodes and texts. */
struct maker {
	struct rk_tree *root;
	struct rk_tree *open[RK_TREE_DEPTH_MAX];
	struct rk_tree *last[RK_TREE_DEPTH_MAX]; /* last child of `open` at that depth */
	unsigned depth;
	size_t nodes;
	char *key; /* of the next value */
	const char *name;
};

/* The key of the next value; copied. */
static int put_key(struct maker *m, const char *text, size_t len, struct rk_error *err)
{
	rk_free(m->key);
	m->key = rk_strndup(text, len);
	return m->key ? 0 : rk_fail_nomem(err);
}

/* Adds a value; ARRAY and OBJECT stay open until their end. `text` is copied, NULL for none. */
static int add_value(struct maker *m, enum rk_tree_kind kind, const char *text, size_t len,
		     uint64_t line, struct rk_error *err)
{
	bool opens = kind == RK_TREE_ARRAY || kind == RK_TREE_OBJECT;
	struct rk_tree *n, *parent;
	int rc = 0;

	if (++m->nodes > RK_TREE_NODES_MAX)
		rc = rk_fail(err, RK_E_LIMIT, "more than %d values", RK_TREE_NODES_MAX);
	else if (opens && m->depth == RK_TREE_DEPTH_MAX)
		rc = rk_fail(err, RK_E_LIMIT, "nested deeper than %d", RK_TREE_DEPTH_MAX);
	if (rc < 0) {
		rk_error_at(err, m->name, line, 0);
		return rc;
	}

	n = rk_calloc(1, sizeof(*n));
	if (!n)
		return rk_fail_nomem(err);
	n->kind = kind;
	n->line = line;
	n->text = text ? rk_strndup(text, len) : rk_strdup("");
	n->key = m->key ? m->key : rk_strdup("");
	m->key = NULL;
	if (!n->text || !n->key) {
		rk_tree_free(n);
		return rk_fail_nomem(err);
	}

	if (!m->depth) {
		m->root = n;
	} else {
		parent = m->open[m->depth - 1];
		if (parent->n++)
			m->last[m->depth - 1]->next = n;
		else
			parent->first = n;
		m->last[m->depth - 1] = n;
	}
	if (opens)
		m->open[m->depth++] = n;
	return 0;
}

/* Returns the root through `ret` (if rc is 0) or frees everything. Returns rc. */
static int made(struct maker *m, int rc, struct rk_tree **ret)
{
	rk_free(m->key);
	m->key = NULL;
	if (rc < 0)
		rk_tree_free(m->root);
	else
		*ret = m->root;
	return rc;
}

/* Recursion is limited by RK_TREE_DEPTH_MAX; siblings are handled in a loop. */
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

/* ---- JSON into a tree ---- */

/* Counts lines while the tokens are read; `at` follows the stream. */
struct lines {
	const char *text;
	size_t len, at;
	uint64_t line;
};

static uint64_t line_of(struct lines *l, uint64_t offset)
{
	size_t end = offset < l->len ? (size_t)offset : l->len;

	for (; l->at < end; l->at++)
		l->line += l->text[l->at] == '\n';
	return l->line;
}

static int take(struct maker *m, int kind, const struct rk_json_token *tok, uint64_t line,
		struct rk_error *err)
{
	switch (kind) {
	case RK_JSON_KEY:
		return put_key(m, tok->text, tok->len, err);
	case RK_JSON_OBJECT:
		return add_value(m, RK_TREE_OBJECT, NULL, 0, line, err);
	case RK_JSON_ARRAY:
		return add_value(m, RK_TREE_ARRAY, NULL, 0, line, err);
	case RK_JSON_STRING:
		return add_value(m, RK_TREE_TEXT, tok->text, tok->len, line, err);
	case RK_JSON_NUMBER:
		return add_value(m, RK_TREE_NUMBER, tok->text, tok->len, line, err);
	case RK_JSON_TRUE:
		return add_value(m, RK_TREE_BOOL, "true", 4, line, err);
	case RK_JSON_FALSE:
		return add_value(m, RK_TREE_BOOL, "false", 5, line, err);
	case RK_JSON_NULL:
		return add_value(m, RK_TREE_NULL, NULL, 0, line, err);
	default:
		if (m->depth)
			m->depth--;
		return 0;
	}
}

int rk_tree_parse_json(const char *text, size_t len, const char *name, struct rk_tree **ret,
		       struct rk_error *err)
{
	struct maker m = { .name = name };
	struct lines lines = { .text = text, .len = len, .line = 1 };
	struct rk_json_token tok;
	struct rk_json *j;
	int kind, rc;

	if (len > RK_TREE_BYTES_MAX)
		return rk_fail(err, RK_E_LIMIT, "larger than %d bytes", RK_TREE_BYTES_MAX);
	rc = rk_json_new_text(text, len, name, &j, err);
	if (rc < 0)
		return rc;
	while ((kind = rk_json_next(j, &tok, err)) > RK_JSON_END) {
		rc = take(&m, kind, &tok, line_of(&lines, rk_json_offset(j)), err);
		if (rc < 0)
			goto out;
	}
	if (kind < 0) {
		rc = kind;
		/* convert the tokenizer's offset to a line number */
		if (err && rc != RK_E_NOMEM) {
			err->line = line_of(&lines, err->offset);
			rk_error_at(err, name, err->line, 0);
		}
	} else if (rk_json_more(j, err) > 0) {
		rc = rk_fail(err, RK_E_FORMAT, "extra text after the end of the JSON");
		rk_error_at(err, name, line_of(&lines, rk_json_offset(j)), 0);
	}
out:
	rk_json_free(j);
	return made(&m, rc, ret);
}

/* ---- YAML into a tree, by libyaml's events ---- */

#ifdef ROCKIT_HAVE_YAML
#include <yaml.h>

/* In a mapping scalars are keys and values in turn; `due` tells which, for each level. */
struct yaml {
	struct maker m;
	bool mapping[RK_TREE_DEPTH_MAX + 1];
	bool key_due[RK_TREE_DEPTH_MAX + 1];
};

static int fail_at(struct yaml *y, const yaml_event_t *e, int code, const char *what,
		   struct rk_error *err)
{
	rk_fail(err, code, "%s", what);
	rk_error_at(err, y->m.name, e->start_mark.line + 1, 0);
	return code;
}

/* Plain words and numbers get a type, quoted text is always text. */
static int scalar(struct yaml *y, const yaml_event_t *e, struct rk_error *err)
{
	const char *s = (const char *)e->data.scalar.value;
	size_t len = e->data.scalar.length;
	enum rk_tree_kind kind = RK_TREE_TEXT;
	double v;

	if (y->mapping[y->m.depth]) {
		y->key_due[y->m.depth] = !y->key_due[y->m.depth];
		if (!y->key_due[y->m.depth])
			return put_key(&y->m, s, len, err);
	}
	if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
		if (len == 0 || rk_text_ieq(s, len, "null") || rk_text_ieq(s, len, "~")) {
			kind = RK_TREE_NULL;
		} else if (rk_text_ieq(s, len, "true") || rk_text_ieq(s, len, "false")) {
			kind = RK_TREE_BOOL;
			s = len == 4 ? "true" : "false"; /* in lower case */
		} else if (rk_num_f64(s, len, &v) == RK_NUM_OK) {
			kind = RK_TREE_NUMBER;
		}
	}
	return add_value(&y->m, kind, s, len, e->start_mark.line + 1, err);
}

static int take_event(struct yaml *y, const yaml_event_t *e, bool *ended, struct rk_error *err)
{
	bool mapping = e->type == YAML_MAPPING_START_EVENT, *due = &y->key_due[y->m.depth];
	int rc;

	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return scalar(y, e, err);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		if (y->mapping[y->m.depth] && *due)
			return fail_at(y, e, RK_E_FORMAT, "a key must be plain text", err);
		*due = true;
		rc = add_value(&y->m, mapping ? RK_TREE_OBJECT : RK_TREE_ARRAY, NULL, 0,
			       e->start_mark.line + 1, err);
		if (rc < 0)
			return rc;
		y->mapping[y->m.depth] = y->key_due[y->m.depth] = mapping;
		return 0;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		if (y->m.depth)
			y->m.depth--;
		return 0;
	case YAML_ALIAS_EVENT: /* refused: a few aliases can expand to terabytes */
		return fail_at(y, e, RK_E_UNSUPPORTED, "YAML aliases are not supported", err);
	case YAML_DOCUMENT_START_EVENT:
		if (y->m.root)
			return fail_at(y, e, RK_E_UNSUPPORTED, "more than one YAML document", err);
		return 0;
	case YAML_STREAM_END_EVENT:
		*ended = true;
		return 0;
	default:
		return 0;
	}
}

int rk_tree_parse_yaml(const char *text, size_t len, const char *name, struct rk_tree **ret,
		       struct rk_error *err)
{
	struct yaml y = { .m.name = name };
	yaml_parser_t p;
	bool ended = false;
	int rc = 0;

	if (len > RK_TREE_BYTES_MAX)
		return rk_fail(err, RK_E_LIMIT, "larger than %d bytes", RK_TREE_BYTES_MAX);
	if (!yaml_parser_initialize(&p))
		return rk_fail_nomem(err);
	yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
	while (rc == 0 && !ended) {
		yaml_event_t e;

		if (!yaml_parser_parse(&p, &e)) {
			if (p.error == YAML_MEMORY_ERROR) {
				rc = rk_fail_nomem(err);
				break;
			}
			rc = rk_fail(err, RK_E_FORMAT, "not YAML: %s",
				     p.problem ? p.problem : "unreadable");
			rk_error_at(err, name, p.problem_mark.line + 1, 0);
			break;
		}
		rc = take_event(&y, &e, &ended, err);
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&p);
	if (rc == 0 && !y.m.root)
		rc = add_value(&y.m, RK_TREE_NULL, NULL, 0, 1, err);
	return made(&y.m, rc, ret);
}

#else

int rk_tree_parse_yaml(const char *text, size_t len, const char *name, struct rk_tree **ret,
		       struct rk_error *err)
{
	(void)text;
	(void)len;
	(void)ret;
	rk_fail(err, RK_E_UNSUPPORTED, "this rockit was built without libyaml; use a JSON file");
	rk_error_at(err, name, 0, 0);
	return RK_E_UNSUPPORTED;
}

#endif

/* ---- a small document from a file ---- */

int rk_tree_load(const char *path, struct rk_tree **ret, struct rk_error *err)
{
	size_t plen = strlen(path), len;
	char *text = rk_alloc(RK_TREE_BYTES_MAX + 1);
	struct rk_file *f = NULL;
	int rc;

	if (!text)
		return rk_fail_nomem(err);
	rc = rk_file_open(path, &f, err);
	if (rc < 0 || (rc = rk_file_read(f, text, RK_TREE_BYTES_MAX + 1, &len, err)) < 0)
		goto out;
	if (len > RK_TREE_BYTES_MAX) {
		rc = rk_fail(err, RK_E_LIMIT, "larger than %d bytes", RK_TREE_BYTES_MAX);
		rk_error_at(err, path, 0, 0);
		goto out;
	}
	text[len] = '\0';
	if (rk_text_ends(path, plen, ".yaml") || rk_text_ends(path, plen, ".yml"))
		rc = rk_tree_parse_yaml(text, len, path, ret, err);
	else
		rc = rk_tree_parse_json(text, len, path, ret, err);
out:
	rk_file_close(f);
	rk_free(text);
	return rc;
}

int rk_tree_load_found(const char *path, struct rk_tree **ret, struct rk_error *err)
{
	struct stat st;
	int rc;

	if (stat(path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return rk_tree_load(path, ret, err);
	rc = rk_fail(err, RK_E_FORMAT, "a pipe or a device, not a file");
	rk_error_at(err, path, 0, 0);
	return rc;
}
