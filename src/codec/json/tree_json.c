/* tree_json.c - JSON into a tree. */
#include <string.h>

#include "codec/json/json_stream.h"
#include "codec/json/tree_impl.h"

/* Lines are counted as the tokens come: `at` moves with the stream. */
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

static int take(struct rk_tree_maker *m, int kind, const struct rk_json_token *tok, uint64_t line,
		struct rk_error *err)
{
	switch (kind) {
	case RK_JSON_KEY:
		return rk_tree_key(m, tok->text, tok->len, err);
	case RK_JSON_OBJECT:
		return rk_tree_value(m, RK_TREE_OBJECT, NULL, 0, line, err);
	case RK_JSON_ARRAY:
		return rk_tree_value(m, RK_TREE_ARRAY, NULL, 0, line, err);
	case RK_JSON_STRING:
		return rk_tree_value(m, RK_TREE_TEXT, tok->text, tok->len, line, err);
	case RK_JSON_NUMBER:
		return rk_tree_value(m, RK_TREE_NUMBER, tok->text, tok->len, line, err);
	case RK_JSON_TRUE:
		return rk_tree_value(m, RK_TREE_BOOL, "true", 4, line, err);
	case RK_JSON_FALSE:
		return rk_tree_value(m, RK_TREE_BOOL, "false", 5, line, err);
	case RK_JSON_NULL:
		return rk_tree_value(m, RK_TREE_NULL, NULL, 0, line, err);
	default:
		rk_tree_shut(m);
		return 0;
	}
}

/* The tokenizer's offset, which nobody wants to count, becomes a line. */
static int told_by_line(struct rk_error *err, int rc, struct lines *l, const char *name)
{
	if (err && rc < 0 && rc != RK_E_NOMEM) {
		err->line = line_of(l, err->offset);
		rk_error_at(err, name, err->line, 0);
	}
	return rc;
}

int rk_tree_parse_json(const char *text, size_t len, const char *name, struct rk_tree **ret,
		       struct rk_error *err)
{
	struct rk_tree_maker m = { .name = name };
	struct lines lines = { .text = text, .len = len, .line = 1 };
	struct rk_json_token tok;
	struct rk_json *j = NULL;
	int kind, rc = len > RK_TREE_BYTES_MAX ?
			       rk_fail(err, RK_E_LIMIT, "larger than %d bytes", RK_TREE_BYTES_MAX) :
			       rk_json_new_text(text, len, name, &j, err);

	while (rc == 0) {
		kind = rk_json_next(j, &tok, err);
		if (kind == RK_JSON_END)
			break;
		rc = kind < 0 ? told_by_line(err, kind, &lines, name) :
				take(&m, kind, &tok, line_of(&lines, rk_json_offset(j)), err);
	}
	if (rc == 0 && rk_json_more(j, err) > 0) {
		rc = rk_fail(err, RK_E_FORMAT, "there is more after the end of the JSON");
		rk_error_at(err, name, line_of(&lines, rk_json_offset(j)), 0);
	}
	rk_json_free(j);
	return rk_tree_made(&m, rc, ret);
}
