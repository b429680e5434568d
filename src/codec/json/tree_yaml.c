/* tree_yaml.c - YAML into a tree, by libyaml's events. */
#include <string.h>

#include "codec/json/tree_impl.h"

#ifdef ROCKIT_HAVE_YAML
#include <yaml.h>

#include "base/num.h"
#include "base/text.h"

/* In a mapping scalars are keys and values in turn; `due` says for each level which. */
struct yaml {
	struct rk_tree_maker m;
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

static enum rk_tree_kind kind_of(const yaml_event_t *e, const char *s, size_t len)
{
	double v;

	if (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return RK_TREE_TEXT;
	if (len == 0 || rk_text_ieq(s, len, "null") || rk_text_ieq(s, len, "~"))
		return RK_TREE_NULL;
	if (rk_text_ieq(s, len, "true") || rk_text_ieq(s, len, "false"))
		return RK_TREE_BOOL;
	return rk_num_f64(s, len, &v) == RK_NUM_OK ? RK_TREE_NUMBER : RK_TREE_TEXT;
}

static int put_value(struct yaml *y, enum rk_tree_kind kind, const char *s, size_t len,
		     const yaml_event_t *e, struct rk_error *err)
{
	if (y->mapping[y->m.depth])
		y->key_due[y->m.depth] = true;
	return rk_tree_value(&y->m, kind, s, len, e->start_mark.line + 1, err);
}

static int scalar(struct yaml *y, const yaml_event_t *e, struct rk_error *err)
{
	const char *s = (const char *)e->data.scalar.value;
	size_t len = e->data.scalar.length;
	enum rk_tree_kind kind = kind_of(e, s, len);

	if (y->mapping[y->m.depth] && y->key_due[y->m.depth]) {
		y->key_due[y->m.depth] = false;
		return rk_tree_key(&y->m, s, len, err);
	}
	if (kind == RK_TREE_BOOL) {
		s = rk_text_ieq(s, len, "true") ? "true" : "false";
		len = strlen(s);
	}
	return put_value(y, kind, s, len, e, err);
}

static int open_container(struct yaml *y, const yaml_event_t *e, bool mapping, struct rk_error *err)
{
	int rc;

	if (y->mapping[y->m.depth] && y->key_due[y->m.depth])
		return fail_at(y, e, RK_E_FORMAT, "a key must be plain text", err);
	rc = put_value(y, mapping ? RK_TREE_OBJECT : RK_TREE_ARRAY, NULL, 0, e, err);
	if (rc < 0)
		return rc;
	y->mapping[y->m.depth] = y->key_due[y->m.depth] = mapping;
	return 0;
}

static int take(struct yaml *y, const yaml_event_t *e, bool *ended, struct rk_error *err)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return scalar(y, e, err);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return open_container(y, e, e->type == YAML_MAPPING_START_EVENT, err);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		rk_tree_shut(&y->m);
		return 0;
	case YAML_ALIAS_EVENT: /* a few of these can make a document of terabytes */
		return fail_at(y, e, RK_E_UNSUPPORTED, "YAML aliases are not read", err);
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

static int fail_parse(const yaml_parser_t *p, const char *name, struct rk_error *err)
{
	if (p->error == YAML_MEMORY_ERROR)
		return rk_fail_nomem(err);
	rk_fail(err, RK_E_FORMAT, "not YAML: %s", p->problem ? p->problem : "unreadable");
	rk_error_at(err, name, p->problem_mark.line + 1, 0);
	return RK_E_FORMAT;
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
			rc = fail_parse(&p, name, err);
			break;
		}
		rc = take(&y, &e, &ended, err);
		yaml_event_delete(&e);
	}
	yaml_parser_delete(&p);
	if (rc == 0 && !y.m.root)
		rc = rk_tree_value(&y.m, RK_TREE_NULL, NULL, 0, 1, err);
	return rk_tree_made(&y.m, rc, ret);
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
