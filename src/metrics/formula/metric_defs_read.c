/* metric_defs_read.c - documents of our own form, piece by piece. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "metrics/formula/metric_defs_impl.h"

enum { WORD_MAX = 32, SLACK_MAX = 10 };

int rk_metric_fault(const struct rk_metric_doc *d, const struct rk_tree *at, const char *fmt, ...)
{
	char text[384];
	va_list args;
	int rc;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	rc = rk_fail(d->err, RK_E_FORMAT, "%s", text);
	rk_error_at(d->err, d->file, at ? at->line : 0, 0);
	return rc;
}

const char *rk_metric_text(const struct rk_metric_doc *d, const char *s)
{
	const char *copy = rk_arena_text(d->set->arena, s, strlen(s));

	if (!copy)
		(void)rk_fail_nomem(d->err);
	return copy;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool rk_metric_is_name(const char *s)
{
	size_t len = 0;

	while (is_letter(s[len]) || (len && is_digit(s[len])))
		len++;
	return len && !s[len] && len <= RK_METRIC_ID_MAX;
}

/* "gfx942", "gfx11*", "sm_90", "sm_*", "*" */
static bool is_target(const char *s, size_t len)
{
	bool sm = len > 3 && strncmp(s, "sm_", 3) == 0;

	if (len == 1 && s[0] == '*')
		return true;
	if (sm && len == 4 && s[3] == '*')
		return true;
	if (len < 4 || len > 15 || (!sm && strncmp(s, "gfx", 3) != 0) || !is_digit(s[3]))
		return false;
	for (size_t i = 4; i < len; i++)
		if (!is_digit(s[i]) && !(s[i] >= 'a' && s[i] <= 'f') &&
		    !(s[i] == '*' && i == len - 1))
			return false;
	return true;
}

static bool is_scalar(const struct rk_tree *t)
{
	return t && (t->kind == RK_TREE_TEXT || t->kind == RK_TREE_NUMBER);
}

int rk_metric_expr_read(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
			const struct rk_tree *t, const struct rk_expr **ret)
{
	struct rk_error why = { 0 };
	int rc;

	if (!is_scalar(t))
		return rk_metric_fault(d, t, "%s '%s': %s is no expression", o->what, o->id,
				       o->key);
	rc = rk_expr_parse(d->set->arena, t->text, strlen(t->text), ret, &why);
	if (rc == RK_E_NOMEM)
		return rk_fail_nomem(d->err);
	return rc < 0 ? rk_metric_fault(d, t, "%s '%s': %s: %.200s", o->what, o->id, o->key,
					why.message) :
			0;
}

/* Closer targets come first: gfx942, gfx94*, gfx9*, *. */
static size_t closeness(const char *target, size_t len)
{
	return target[len - 1] == '*' ? len : 100;
}

int rk_metric_case_add(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
		       const struct rk_tree *at, const char *target, size_t len,
		       const struct rk_expr *e, bool once, struct rk_metric_case **list)
{
	struct rk_metric_case *c, **place = list;
	size_t n = 0;

	if (!is_target(target, len))
		return rk_metric_fault(d, at,
				       "%s '%s': %s: '%.32s' is no target such as gfx942 or gfx11*",
				       o->what, o->id, o->key, target);
	for (c = *list; c; c = c->next) {
		if (strlen(c->target) == len && strncmp(c->target, target, len) == 0)
			return once ? rk_metric_fault(d, at, "%s '%s': %s has two cases for %s",
						      o->what, o->id, o->key, c->target) :
				      0;
		if (closeness(c->target, strlen(c->target)) >= closeness(target, len))
			place = &c->next;
		n++;
	}
	if (n == RK_METRIC_CASES_MAX)
		return rk_metric_fault(d, at, "%s '%s': %s has more than %d cases", o->what, o->id,
				       o->key, RK_METRIC_CASES_MAX);
	c = rk_arena_alloc(d->set->arena, sizeof(*c));
	if (!c || !(c->target = rk_arena_text(d->set->arena, target, len)))
		return rk_fail_nomem(d->err);
	c->expr = e;
	c->next = *place;
	*place = c;
	return 0;
}

/* The targets of a key, parted by blanks. */
static int add_cases(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
		     const struct rk_tree *t, struct rk_metric_case **list)
{
	const struct rk_expr *e = NULL;
	const char *p = t->key;
	int rc = rk_metric_expr_read(d, o, t, &e);
	size_t len;

	if (rc == 0 && !*p)
		return rk_metric_fault(d, t, "%s '%s': %s has a case without target", o->what,
				       o->id, o->key);
	while (rc == 0 && *p) {
		len = strcspn(p, " ");
		rc = rk_metric_case_add(d, o, t, p, len, e, true, list);
		p += len;
		p += *p == ' ';
	}
	return rc;
}

/* An expression, or an object of them by target. */
static int read_cases(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
		      const struct rk_tree *t, const struct rk_metric_case **ret)
{
	struct rk_metric_case *list = NULL;
	const struct rk_expr *e = NULL;
	int rc = 0;

	if (!t || t->kind != RK_TREE_OBJECT) {
		rc = rk_metric_expr_read(d, o, t, &e);
		if (rc == 0)
			rc = rk_metric_case_add(d, o, t, "*", 1, e, true, &list);
		*ret = list;
		return rc;
	}
	if (!t->first)
		return rk_metric_fault(d, t, "%s '%s': %s is empty", o->what, o->id, o->key);
	RK_TREE_EACH(c, t)
	{
		rc = add_cases(d, o, c, &list);
		if (rc < 0)
			return rc;
	}
	*ret = list;
	return 0;
}

static int read_archs(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
		      const struct rk_tree *t, const char *const **ret)
{
	const char **v;
	size_t n = 0;

	if (t->kind != RK_TREE_ARRAY || t->n == 0 || t->n > RK_METRIC_CASES_MAX)
		return rk_metric_fault(d, t, "%s '%s': archs is no list of 1 to %d targets",
				       o->what, o->id, RK_METRIC_CASES_MAX);
	v = rk_arena_alloc(d->set->arena, (t->n + 1) * sizeof(*v));
	if (!v)
		return rk_fail_nomem(d->err);
	RK_TREE_EACH(c, t)
	{
		if (c->kind != RK_TREE_TEXT || !is_target(c->text, strlen(c->text)))
			return rk_metric_fault(
				d, c, "%s '%s': archs: '%.32s' is no target such as gfx942",
				o->what, o->id, c->text);
		if (!(v[n++] = rk_metric_text(d, c->text)))
			return RK_E_NOMEM;
	}
	*ret = v;
	return 0;
}

/* Text for people: valid, on one line, not endless. */
static int read_text(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
		     const struct rk_tree *t, size_t max, const char **ret)
{
	size_t len = strlen(t->text);

	if (!is_scalar(t) || len > max || rk_utf8_valid(t->text, len) != len)
		return rk_metric_fault(d, t, "%s '%s': %s is no text of at most %zu bytes", o->what,
				       o->id, o->key, max);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)t->text[i] < ' ' || t->text[i] == 0x7f)
			return rk_metric_fault(d, t, "%s '%s': %s has control characters", o->what,
					       o->id, o->key);
	*ret = rk_metric_text(d, t->text);
	return *ret ? 0 : RK_E_NOMEM;
}

/* "help", "group", "pass" and their like; what is not there keeps its default. */
static int member_text(const struct rk_metric_doc *d, const struct rk_tree *t, const char *what,
		       const char *id, const char *key, size_t max, const char **ret)
{
	struct rk_metric_owner o = { what, id, key };
	const struct rk_tree *m = rk_tree_get(t, key);

	return m ? read_text(d, &o, m, max, ret) : 0;
}

/* Mistyped keys must not pass for keys that were left out. */
static int check_keys(const struct rk_metric_doc *d, const struct rk_tree *t,
		      const char *const *known)
{
	const char *const *k;

	RK_TREE_EACH(c, t)
	{
		for (k = known; *k && strcmp(*k, c->key) != 0; k++)
			;
		if (!*k)
			return rk_metric_fault(d, c, "unknown key '%.48s'", c->key);
		if (rk_tree_get(t, c->key) != c)
			return rk_metric_fault(d, c, "key '%s' is there twice", c->key);
	}
	return 0;
}

static int read_agg(const struct rk_metric_doc *d, const struct rk_tree *t, struct rk_metric_def *m)
{
	const struct rk_tree *agg = rk_tree_get(t, "agg");
	const char *text = rk_tree_text(agg, "");

	m->median = strcmp(text, "median") == 0;
	if (agg && !m->median && strcmp(text, "mean") != 0)
		return rk_metric_fault(d, agg, "metric '%s': agg is neither mean nor median",
				       m->id);
	return 0;
}

static int read_cases_and_archs(const struct rk_metric_doc *d, const struct rk_tree *t,
				struct rk_metric_def *m)
{
	struct rk_metric_owner o = { "metric", m->id, "expr" };
	const struct rk_tree *peak = rk_tree_get(t, "peak"), *archs = rk_tree_get(t, "archs");
	int rc;

	if (!rk_tree_get(t, "expr"))
		return rk_metric_fault(d, t, "metric '%s' has no expr", m->id);
	rc = read_cases(d, &o, rk_tree_get(t, "expr"), &m->expr);
	o.key = "peak";
	if (rc == 0 && peak)
		rc = read_cases(d, &o, peak, &m->peak);
	if (rc == 0 && archs)
		rc = read_archs(d, &o, archs, &m->archs);
	return rc;
}

static int read_metric(const struct rk_metric_doc *d, const struct rk_tree *t)
{
	static const char *const keys[] = { "id",   "group", "unit", "help", "expr",
					    "peak", "archs", "pass", "agg",  NULL };
	struct rk_metric_def m = {
		.group = "user", .unit = "", .help = "", .pass = "", .file = d->file
	};
	const char *id = rk_tree_text(rk_tree_get(t, "id"), "");
	int rc;

	if (t->kind != RK_TREE_OBJECT)
		return rk_metric_fault(d, t, "a metric is an object with id and expr");
	if (!rk_metric_is_name(id))
		return rk_metric_fault(
			d, t,
			"a metric needs an id of at most %d letters, digits and _, not '%.48s'",
			RK_METRIC_ID_MAX, id);
	if (!(m.id = rk_metric_text(d, id)))
		return RK_E_NOMEM;
	rc = check_keys(d, t, keys);
	if (rc == 0)
		rc = member_text(d, t, "metric", id, "group", WORD_MAX, &m.group);
	if (rc == 0)
		rc = member_text(d, t, "metric", id, "unit", WORD_MAX, &m.unit);
	if (rc == 0)
		rc = member_text(d, t, "metric", id, "help", RK_METRIC_TEXT_MAX, &m.help);
	if (rc == 0)
		rc = member_text(d, t, "metric", id, "pass", RK_METRIC_ID_MAX, &m.pass);
	if (rc == 0)
		rc = read_agg(d, t, &m);
	if (rc == 0)
		rc = read_cases_and_archs(d, t, &m);
	return rc < 0 ? rc : rk_metric_put_def(d, t, &m, true);
}

static int read_term(const struct rk_metric_doc *d, const struct rk_tree *t)
{
	struct rk_metric_term term = { .file = d->file };
	struct rk_metric_owner o = { "term", t->key, "expression" };
	int rc;

	if (!rk_metric_is_name(t->key))
		return rk_metric_fault(
			d, t, "a term's name is of at most %d letters, digits and _, not '%.48s'",
			RK_METRIC_ID_MAX, t->key);
	if (!(term.name = rk_metric_text(d, t->key)))
		return RK_E_NOMEM;
	rc = read_cases(d, &o, t, &term.expr);
	return rc < 0 ? rc : rk_metric_put_term(d, t, &term, true);
}

static bool is_kind(const char *s)
{
	size_t len = 0;

	while (is_letter(s[len]) || is_digit(s[len]) || (len && s[len] == '-'))
		len++;
	return len && !s[len] && len <= RK_METRIC_ID_MAX;
}

static int read_sides(const struct rk_metric_doc *d, const struct rk_tree *t,
		      struct rk_metric_check *c)
{
	struct rk_metric_owner o = { "check", c->kind, "over" };
	const struct rk_tree *archs = rk_tree_get(t, "archs"), *slack = rk_tree_get(t, "slack");
	int rc = read_cases(d, &o, rk_tree_get(t, "over"), &c->over);

	o.key = "under";
	if (rc == 0)
		rc = read_cases(d, &o, rk_tree_get(t, "under"), &c->under);
	if (rc == 0 && archs)
		rc = read_archs(d, &o, archs, &c->archs);
	if (rc == 0 && slack &&
	    (rk_num_f64(slack->text, strlen(slack->text), &c->slack) != RK_NUM_OK || c->slack < 0 ||
	     c->slack > SLACK_MAX))
		rc = rk_metric_fault(d, slack, "check '%s': slack is no number from 0 to %d",
				     c->kind, SLACK_MAX);
	return rc;
}

static int read_check(const struct rk_metric_doc *d, const struct rk_tree *t)
{
	static const char *const keys[] = {
		"kind", "over", "under", "slack", "archs", "text", NULL
	};
	struct rk_metric_check c = { .file = d->file };
	const char *kind = rk_tree_text(rk_tree_get(t, "kind"), "");
	int rc;

	if (t->kind != RK_TREE_OBJECT)
		return rk_metric_fault(d, t,
				       "a check is an object with kind, over, under and text");
	if (!is_kind(kind))
		return rk_metric_fault(
			d, t, "a check needs a kind of letters, digits, - and _, not '%.48s'",
			kind);
	if (!(c.kind = rk_metric_text(d, kind)))
		return RK_E_NOMEM;
	rc = check_keys(d, t, keys);
	if (rc == 0)
		rc = member_text(d, t, "check", kind, "text", RK_METRIC_TEXT_MAX, &c.text);
	if (rc == 0 && !c.text)
		rc = rk_metric_fault(d, t, "check '%s' has no text", kind);
	if (rc == 0)
		rc = read_sides(d, t, &c);
	return rc < 0 ? rc : rk_metric_put_check(d, t, &c, true);
}

static int read_each(const struct rk_metric_doc *d, const struct rk_tree *t, enum rk_tree_kind kind,
		     int (*read)(const struct rk_metric_doc *d, const struct rk_tree *t))
{
	int rc = 0;

	if (t && t->kind != kind)
		return rk_metric_fault(d, t, "'%s' is no %s", t->key,
				       kind == RK_TREE_ARRAY ? "list" : "object");
	for (const struct rk_tree *c = t ? t->first : NULL; c && rc == 0; c = c->next)
		rc = read(d, c);
	return rc;
}

int rk_metric_read_own(const struct rk_metric_doc *d, const struct rk_tree *root)
{
	static const char *const keys[] = { "schema", "terms", "metrics", "checks", NULL };
	const struct rk_tree *schema = rk_tree_get(root, "schema");
	int64_t v = 1;
	int rc = check_keys(d, root, keys);

	if (rc == 0 && schema && (!rk_tree_int(schema, &v) || v != 1))
		rc = rk_metric_fault(d, schema, "schema is %.16s, this version reads schema 1",
				     rk_tree_text(schema, "no number"));
	if (rc == 0)
		rc = read_each(d, rk_tree_get(root, "terms"), RK_TREE_OBJECT, read_term);
	if (rc == 0)
		rc = read_each(d, rk_tree_get(root, "metrics"), RK_TREE_ARRAY, read_metric);
	if (rc == 0)
		rc = read_each(d, rk_tree_get(root, "checks"), RK_TREE_ARRAY, read_check);
	return rc;
}
