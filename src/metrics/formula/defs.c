/* defs.c - sets of metric definitions: reading, lookup, replacement. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/json/tree.h"
#include "metrics/formula/defs.h"

/* A document while it is read. */
struct doc {
	struct rk_metric_set *set;
	const char *file; /* owned by the set */
	struct rk_error *err;
};

/* The owner of an expression, for error messages: "metric 'x', peak". */
struct owner {
	const char *what, *id, *key;
};

enum { WORD_MAX = 32, SLACK_MAX = 10 };

/* Reports an error at a position in the document. */
__attribute__((format(printf, 3, 4))) static int fault(const struct doc *d,
						       const struct rk_tree *at, const char *fmt,
						       ...)
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

/* Copies the text to the set's memory; NULL if out of memory, with err set. */
static const char *keep_text(const struct doc *d, const char *s)
{
	const char *copy = rk_arena_text(d->set->arena, s, strlen(s));

	if (!copy)
		(void)rk_fail_nomem(d->err);
	return copy;
}

/* ---- a set: its contents, and adding to it ---- */

static bool target_fits(const char *target, const char *arch)
{
	size_t len = strlen(target);

	if (len && target[len - 1] == '*')
		return strncmp(target, arch, len - 1) == 0;
	return strcmp(target, arch) == 0;
}

const struct rk_expr *rk_metric_case_for(const struct rk_metric_case *c, const char *arch)
{
	while (c && !target_fits(c->target, arch))
		c = c->next;
	return c ? c->expr : NULL;
}

bool rk_metric_archs_has(const char *const *archs, const char *arch)
{
	for (; archs && *archs; archs++)
		if (target_fits(*archs, arch))
			return true;
	return !archs;
}

const char *rk_metric_reason_for(const struct rk_metric_set *s, const struct rk_metric_def *m,
				 const char *arch)
{
	for (const struct rk_metric_reason *r = s->reasons; r; r = r->next)
		for (const char *const *of = r->of; *of; of++)
			if ((!strcmp(*of, m->id) || !strcmp(*of, m->group)) &&
			    rk_metric_archs_has(r->archs, arch))
				return r->text;
	return NULL;
}

static uint64_t hash_of(const char *key)
{
	return rk_hash_bytes(key, strlen(key));
}

/* The element with that key, or NULL. Elements begin with their key and file. */
static const void *find(const struct rk_index *x, const void *v, size_t size, const char *key)
{
	uint64_t hash = hash_of(key);
	size_t at;

	for (uint32_t i = rk_index_first(x, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(x, hash, &at)) {
		const char *element = (const char *)v + i * size;

		if (strcmp(((const char *const *)(const void *)element)[0], key) == 0)
			return element;
	}
	return NULL;
}

const struct rk_metric_def *rk_metric_def_find(const struct rk_metric_set *s, const char *id)
{
	return find(&s->by_id, s->defs, sizeof(*s->defs), id);
}

const struct rk_expr *rk_metric_term_for(const struct rk_metric_set *s, const char *name,
					 const char *arch)
{
	const struct rk_metric_term *t = find(&s->by_name, s->terms, sizeof(*s->terms), name);

	return t ? rk_metric_case_for(t->expr, arch) : NULL;
}

/* One of the lists of a set. */
struct list {
	struct rk_index *by_key;
	void *v;
	size_t n, *cap, size; /* size: of one element */
};

/* find_place() finds the document of any element in its second member. */
_Static_assert(offsetof(struct rk_metric_def, file) == sizeof(char *), "file comes after the key");
_Static_assert(offsetof(struct rk_metric_term, file) == sizeof(char *), "file comes after the key");
_Static_assert(offsetof(struct rk_metric_check, file) == sizeof(char *),
	       "file comes after the key");

/*
 * The index of an element with this key: the existing one, or the end of the list, which then has
 * room for it. With `once`, the existing one must be from another document.
 */
static int find_place(const struct doc *d, const struct rk_tree *at, bool once, const char *key,
		      struct list *l, size_t *ret)
{
	const char *old = find(l->by_key, l->v, l->size, key);
	void *grown;

	if (old) {
		if (once && ((const char *const *)(const void *)old)[1] == d->file)
			return fault(d, at, "'%.96s' is defined twice", key);
		*ret = (size_t)(old - (const char *)l->v) / l->size;
		return 0;
	}
	if (l->n == RK_METRICS_MAX)
		return fault(d, at, "more than %d definitions of one kind", RK_METRICS_MAX);
	grown = rk_grow(l->v, l->cap, l->n + 1, l->size);
	if (!grown)
		return rk_fail_nomem(d->err);
	l->v = grown;
	if (!rk_index_add(l->by_key, hash_of(key), (uint32_t)l->n))
		return rk_fail_nomem(d->err);
	*ret = l->n;
	return 0;
}

static int put_def(const struct doc *d, const struct rk_tree *at, const struct rk_metric_def *def,
		   bool once)
{
	struct rk_metric_set *s = d->set;
	struct list l = { &s->by_id, s->defs, s->ndefs, &s->defs_cap, sizeof(*def) };
	size_t i;
	int rc = find_place(d, at, once, def->id, &l, &i);

	s->defs = l.v;
	if (rc < 0)
		return rc;
	s->defs[i] = *def;
	s->ndefs += i == s->ndefs;
	return 0;
}

static int put_term(const struct doc *d, const struct rk_tree *at,
		    const struct rk_metric_term *term, bool once)
{
	struct rk_metric_set *s = d->set;
	struct list l = { &s->by_name, s->terms, s->nterms, &s->terms_cap, sizeof(*term) };
	size_t i;
	int rc = find_place(d, at, once, term->name, &l, &i);

	s->terms = l.v;
	if (rc < 0)
		return rc;
	s->terms[i] = *term;
	s->nterms += i == s->nterms;
	return 0;
}

/* ---- parts of documents ---- */

/* A C identifier of bounded length. */
static bool is_name(const char *s)
{
	size_t len = 0;

	while (s[len] == '_' || rk_is_letter(s[len]) || (len && rk_is_digit(s[len])))
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
	if (len < 4 || len > 15 || (!sm && strncmp(s, "gfx", 3) != 0) || !rk_is_digit(s[3]))
		return false;
	for (size_t i = 4; i < len; i++)
		if (!rk_is_digit(s[i]) && !(s[i] >= 'a' && s[i] <= 'f') &&
		    !(s[i] == '*' && i == len - 1))
			return false;
	return true;
}

static bool is_scalar(const struct rk_tree *t)
{
	return t && (t->kind == RK_TREE_TEXT || t->kind == RK_TREE_NUMBER);
}

static int read_expr(const struct doc *d, const struct owner *o, const struct rk_tree *t,
		     const struct rk_expr **ret)
{
	struct rk_error why = { 0 };
	int rc;

	if (!is_scalar(t))
		return fault(d, t, "%s '%s': %s must be a formula", o->what, o->id, o->key);
	rc = rk_expr_parse(d->set->arena, t->text, strlen(t->text), ret, &why);
	if (rc == RK_E_NOMEM)
		return rk_fail_nomem(d->err);
	if (rc < 0)
		return fault(d, t, "%s '%s': %s: %.200s", o->what, o->id, o->key, why.message);
	return 0;
}

/* Sort order: more specific targets come first: gfx942, gfx94*, gfx9*, *. */
static size_t closeness(const char *target, size_t len)
{
	return target[len - 1] == '*' ? len : 100;
}

/* Inserts a case in that order. `once`: a second case for the same target is an error. */
static int add_case(const struct doc *d, const struct owner *o, const struct rk_tree *at,
		    const char *target, size_t len, const struct rk_expr *e, bool once,
		    struct rk_metric_case **list)
{
	struct rk_metric_case *c, **place = list;
	size_t n = 0;

	if (!is_target(target, len))
		return fault(d, at,
			     "%s '%s': %s: invalid target '%.32s'; write it like gfx942 "
			     "or gfx11*",
			     o->what, o->id, o->key, target);
	for (c = *list; c; c = c->next) {
		if (strlen(c->target) == len && strncmp(c->target, target, len) == 0) {
			if (!once)
				return 0;
			return fault(d, at, "%s '%s': %s has two cases for %s", o->what, o->id,
				     o->key, c->target);
		}
		if (closeness(c->target, strlen(c->target)) >= closeness(target, len))
			place = &c->next;
		n++;
	}
	if (n == RK_METRIC_CASES_MAX)
		return fault(d, at, "%s '%s': %s has more than %d cases", o->what, o->id, o->key,
			     RK_METRIC_CASES_MAX);
	c = rk_arena_alloc(d->set->arena, sizeof(*c));
	if (!c || !(c->target = rk_arena_text(d->set->arena, target, len)))
		return rk_fail_nomem(d->err);
	c->expr = e;
	c->next = *place;
	*place = c;
	return 0;
}

/* Reads an expression, or an object with one per target; a key may have several targets. */
static int read_cases(const struct doc *d, const struct owner *o, const struct rk_tree *t,
		      const struct rk_metric_case **ret)
{
	struct rk_metric_case *list = NULL;
	const struct rk_expr *e = NULL;
	int rc;

	if (!t || t->kind != RK_TREE_OBJECT) {
		if ((rc = read_expr(d, o, t, &e)) < 0 ||
		    (rc = add_case(d, o, t, "*", 1, e, true, &list)) < 0)
			return rc;
		*ret = list;
		return 0;
	}
	if (!t->first)
		return fault(d, t, "%s '%s': %s is empty", o->what, o->id, o->key);
	RK_TREE_EACH(c, t)
	{
		rc = read_expr(d, o, c, &e);
		if (rc < 0)
			return rc;
		if (!c->key[0])
			return fault(d, c, "%s '%s': %s has a case without target", o->what, o->id,
				     o->key);
		for (const char *p = c->key; *p;) {
			size_t len = strcspn(p, " ");

			rc = add_case(d, o, c, p, len, e, true, &list);
			if (rc < 0)
				return rc;
			p += len;
			p += *p == ' ';
		}
	}
	*ret = list;
	return 0;
}

static int read_words(const struct doc *d, const struct owner *o, const struct rk_tree *t,
		      const char *what, const char *const **ret)
{
	const char **v;
	size_t n = 0;

	if (!t || t->kind != RK_TREE_ARRAY || t->n == 0 || t->n > RK_METRIC_CASES_MAX)
		return fault(d, t, "%s '%s': %s must be a list of 1 to %d %s", o->what, o->id,
			     o->key, RK_METRIC_CASES_MAX, what);
	v = rk_arena_alloc(d->set->arena, (t->n + 1) * sizeof(*v));
	if (!v)
		return rk_fail_nomem(d->err);
	RK_TREE_EACH(c, t)
	{
		if (c->kind != RK_TREE_TEXT)
			return fault(d, c, "%s '%s': %s must contain texts", o->what, o->id,
				     o->key);
		if (!(v[n++] = keep_text(d, c->text)))
			return RK_E_NOMEM;
	}
	v[n] = NULL;
	*ret = v;
	return 0;
}

static int read_archs(const struct doc *d, const struct owner *o, const struct rk_tree *t,
		      const char *const **ret)
{
	const struct owner archs = { o->what, o->id, "archs" };
	int rc = read_words(d, &archs, t, "targets", ret);

	if (rc < 0)
		return rc;
	RK_TREE_EACH(c, t)
	if (!is_target(c->text, strlen(c->text)))
		return fault(d, c, "%s '%s': archs: invalid target '%.32s'; write it like gfx942",
			     o->what, o->id, c->text);
	return 0;
}

/*
 * Reads "help", "group", "pass" and so on: one line of valid text of limited length. A missing key
 * keeps its default.
 */
static int read_text(const struct doc *d, const struct rk_tree *t, const char *what, const char *id,
		     const char *key, size_t max, const char **ret)
{
	const struct rk_tree *m = rk_tree_get(t, key);
	size_t len;

	if (!m)
		return 0;
	len = strlen(m->text);
	if (!is_scalar(m) || len > max || rk_utf8_valid(m->text, len) != len)
		return fault(d, m, "%s '%s': %s must be a text of at most %zu bytes", what, id, key,
			     max);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)m->text[i] < ' ' || m->text[i] == 0x7f)
			return fault(d, m, "%s '%s': %s has control characters", what, id, key);
	if (!(*ret = keep_text(d, m->text)))
		return RK_E_NOMEM;
	return 0;
}

/* Unknown keys are errors, so that typos are found. */
static int check_keys(const struct doc *d, const struct rk_tree *t, const char *const *known)
{
	const char *const *k;

	RK_TREE_EACH(c, t)
	{
		for (k = known; *k && strcmp(*k, c->key) != 0; k++)
			;
		if (!*k)
			return fault(d, c, "unknown key '%.48s'", c->key);
		if (rk_tree_get(t, c->key) != c)
			return fault(d, c, "duplicate key '%s'", c->key);
	}
	return 0;
}

static int read_metric(const struct doc *d, const struct rk_tree *t)
{
	static const char *const keys[] = { "id",   "group", "unit", "help", "expr",
					    "peak", "archs", "pass", "agg",  NULL };
	struct rk_metric_def m = {
		.group = "user", .unit = "", .help = "", .pass = "", .file = d->file
	};
	const struct {
		const char *key;
		size_t max;
		const char **to;
	} texts[] = {
		{ "group", WORD_MAX, &m.group },
		{ "unit", WORD_MAX, &m.unit },
		{ "help", RK_METRIC_TEXT_MAX, &m.help },
		{ "pass", RK_METRIC_ID_MAX, &m.pass },
	};
	const struct rk_tree *expr = rk_tree_get(t, "expr"), *peak = rk_tree_get(t, "peak");
	const struct rk_tree *archs = rk_tree_get(t, "archs"), *agg = rk_tree_get(t, "agg");
	const char *id = rk_tree_text(rk_tree_get(t, "id"), "");
	struct owner o = { "metric", id, "expr" };
	int rc;

	if (t->kind != RK_TREE_OBJECT)
		return fault(d, t, "a metric must be an object with id and expr");
	if (!is_name(id))
		return fault(
			d, t,
			"a metric needs an id of at most %d letters, digits and _, not '%.48s'",
			RK_METRIC_ID_MAX, id);
	if (!(m.id = keep_text(d, id)))
		return RK_E_NOMEM;
	rc = check_keys(d, t, keys);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		rc = read_text(d, t, "metric", id, texts[i].key, texts[i].max, texts[i].to);
		if (rc < 0)
			return rc;
	}
	m.median = strcmp(rk_tree_text(agg, ""), "median") == 0;
	if (agg && !m.median && strcmp(rk_tree_text(agg, ""), "mean") != 0)
		return fault(d, agg, "metric '%s': agg must be mean or median", id);
	if (!expr)
		return fault(d, t, "metric '%s' has no expr", id);
	rc = read_cases(d, &o, expr, &m.expr);
	if (rc < 0)
		return rc;
	o.key = "peak";
	if ((peak && (rc = read_cases(d, &o, peak, &m.peak)) < 0) ||
	    (archs && (rc = read_archs(d, &o, archs, &m.archs)) < 0))
		return rc;
	return put_def(d, t, &m, true);
}

static int read_term(const struct doc *d, const struct rk_tree *t)
{
	struct rk_metric_term term = { .file = d->file };
	struct owner o = { "term", t->key, "expression" };
	int rc;

	if (!is_name(t->key))
		return fault(d, t,
			     "a term needs a name of at most %d letters, digits and _, not "
			     "'%.48s'",
			     RK_METRIC_ID_MAX, t->key);
	if (!(term.name = keep_text(d, t->key)))
		return RK_E_NOMEM;
	rc = read_cases(d, &o, t, &term.expr);
	if (rc < 0)
		return rc;
	return put_term(d, t, &term, true);
}

static int read_check(const struct doc *d, const struct rk_tree *t)
{
	static const char *const keys[] = {
		"kind", "over", "under", "slack", "archs", "text", NULL
	};
	struct rk_metric_set *s = d->set;
	struct rk_metric_check c = { .file = d->file };
	const struct rk_tree *archs = rk_tree_get(t, "archs"), *slack = rk_tree_get(t, "slack");
	const char *kind = rk_tree_text(rk_tree_get(t, "kind"), "");
	struct list l = { &s->by_kind, s->checks, s->nchecks, &s->checks_cap, sizeof(c) };
	struct owner o = { "check", kind, "over" };
	size_t len = 0, i;
	int rc;

	if (t->kind != RK_TREE_OBJECT)
		return fault(d, t, "a check must be an object with kind, over, under and text");
	while (kind[len] == '_' || rk_is_letter(kind[len]) || rk_is_digit(kind[len]) ||
	       (len && kind[len] == '-'))
		len++;
	if (!len || kind[len] || len > RK_METRIC_ID_MAX)
		return fault(d, t, "a check needs a kind of letters, digits, - and _, not '%.48s'",
			     kind);
	if (!(c.kind = keep_text(d, kind)))
		return RK_E_NOMEM;
	if ((rc = check_keys(d, t, keys)) < 0 ||
	    (rc = read_text(d, t, "check", kind, "text", RK_METRIC_TEXT_MAX, &c.text)) < 0)
		return rc;
	if (!c.text)
		return fault(d, t, "check '%s' has no text", kind);
	rc = read_cases(d, &o, rk_tree_get(t, "over"), &c.over);
	if (rc < 0)
		return rc;
	o.key = "under";
	if ((rc = read_cases(d, &o, rk_tree_get(t, "under"), &c.under)) < 0 ||
	    (archs && (rc = read_archs(d, &o, archs, &c.archs)) < 0))
		return rc;
	if (slack && (rk_num_f64(slack->text, strlen(slack->text), &c.slack) != RK_NUM_OK ||
		      c.slack < 0 || c.slack > SLACK_MAX))
		return fault(d, slack, "check '%s': slack must be a number from 0 to %d", kind,
			     SLACK_MAX);

	rc = find_place(d, t, true, c.kind, &l, &i);
	s->checks = l.v;
	if (rc < 0)
		return rc;
	s->checks[i] = c;
	s->nchecks += i == s->nchecks;
	return 0;
}

static int read_reason(const struct doc *d, const struct rk_tree *t)
{
	static const char *const keys[] = { "of", "archs", "text", NULL };
	const struct rk_tree *of = rk_tree_get(t, "of");
	struct owner o = { "reason of", rk_tree_text(of ? of->first : NULL, ""), "of" };
	struct rk_metric_reason *r;
	int rc;

	if (t->kind != RK_TREE_OBJECT)
		return fault(d, t, "a reason must be an object with of, archs and text");
	if (d->set->nreasons == RK_METRICS_MAX)
		return fault(d, t, "more than %d definitions of one kind", RK_METRICS_MAX);
	r = rk_arena_alloc(d->set->arena, sizeof(*r));
	if (!r)
		return rk_fail_nomem(d->err);
	*r = (struct rk_metric_reason){ 0 };
	if ((rc = check_keys(d, t, keys)) < 0 ||
	    (rc = read_words(d, &o, of, "groups or ids", &r->of)) < 0 ||
	    (rc = read_archs(d, &o, rk_tree_get(t, "archs"), &r->archs)) < 0 ||
	    (rc = read_text(d, t, "reason of", o.id, "text", RK_METRIC_REASON_MAX, &r->text)) < 0)
		return rc;
	if (!r->text)
		return fault(d, t, "the reason of '%s' has no text", o.id);
	*d->set->last_reason = r;
	d->set->last_reason = &r->next;
	d->set->nreasons++;
	return 0;
}

static int read_each(const struct doc *d, const struct rk_tree *t, enum rk_tree_kind kind,
		     int (*read)(const struct doc *d, const struct rk_tree *t))
{
	int rc;

	if (t && t->kind != kind)
		return fault(d, t, "'%s' must be %s", t->key,
			     kind == RK_TREE_ARRAY ? "a list" : "an object");
	RK_TREE_EACH(c, t)
	{
		rc = read(d, c);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* "NAME", or "NAME[12]" as tools name a single instance. */
static bool is_counter_name(const char *s)
{
	char name[RK_METRIC_ID_MAX + 1];
	size_t len = strcspn(s, "[");

	if (len > RK_METRIC_ID_MAX || strlen(s) > RK_METRIC_ID_MAX)
		return false;
	memcpy(name, s, len);
	name[len] = '\0';
	if (!s[len])
		return is_name(name);
	s += len + 1;
	len = strspn(s, "0123456789");
	return is_name(name) && len > 0 && strcmp(s + len, "]") == 0;
}

/* Copies text as one line of limited length with valid characters. */
static const char *clean(const struct doc *d, const char *text)
{
	char line[RK_METRIC_TEXT_MAX + 1];
	size_t len = strlen(text);

	if (len > RK_METRIC_TEXT_MAX)
		len = RK_METRIC_TEXT_MAX;
	len = rk_utf8_valid(text, len);
	for (size_t i = 0; i < len; i++)
		line[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
	while (len && line[len - 1] == ' ')
		len--;
	line[len] = '\0';
	return keep_text(d, line);
}

/* A derived counter has an expression per architecture; hardware events have none. */
static int read_counter(const struct doc *d, const struct rk_tree *t)
{
	const char *name = rk_tree_text(rk_tree_get(t, "name"), "");
	const struct rk_tree *defs = rk_tree_get(t, "definitions");
	struct owner o = { "counter", name, "expression" };
	struct rk_metric_case *cases = NULL;
	struct rk_metric_def m = { .group = "sdk", .unit = "", .pass = "", .file = d->file };
	struct rk_metric_term term = { .file = d->file };
	int rc;

	if (t->kind != RK_TREE_OBJECT || !is_counter_name(name))
		return fault(d, t, "invalid counter name '%.48s'", name);
	if (!defs || defs->kind != RK_TREE_ARRAY)
		return fault(d, t, "counter '%s' has no list of definitions", name);
	RK_TREE_EACH(def, defs)
	{
		const struct rk_tree *text = rk_tree_get(def, "expression");
		const struct rk_tree *archs = rk_tree_get(def, "architectures");
		const struct rk_expr *e = NULL;

		if (!text)
			continue;
		if (!archs || archs->kind != RK_TREE_ARRAY)
			return fault(d, def, "counter '%s': a definition without architectures",
				     name);
		rc = read_expr(d, &o, text, &e);
		if (rc < 0)
			return rc;
		RK_TREE_EACH(a, archs)
		{
			const char *target = rk_tree_text(a, "");

			rc = add_case(d, &o, a, target, strlen(target), e, false, &cases);
			if (rc < 0)
				return rc;
		}
	}
	if (!cases)
		return 0;

	m.id = keep_text(d, name);
	m.help = m.id ? clean(d, rk_tree_text(rk_tree_get(t, "description"), "")) : NULL;
	if (!m.help)
		return RK_E_NOMEM;
	m.expr = cases;
	rc = put_def(d, t, &m, false);
	/* a single instance is referred to by name and number, not by name alone */
	if (rc < 0 || strchr(name, '['))
		return rc;
	term.name = m.id;
	term.expr = cases;
	return put_term(d, t, &term, false);
}

static int read_sdk(const struct doc *d, const struct rk_tree *sdk)
{
	const struct rk_tree *version = rk_tree_get(sdk, "counters-schema-version");
	const struct rk_tree *counters = rk_tree_get(sdk, "counters");
	int64_t v = 1;

	if (version && (!rk_tree_int(version, &v) || v != 1))
		return fault(d, version, "counters-schema-version is %.16s, this version reads 1",
			     rk_tree_text(version, "no number"));
	if (!counters || counters->kind != RK_TREE_ARRAY)
		return fault(d, sdk, "rocprofiler-sdk has no list of counters");
	return read_each(d, counters, RK_TREE_ARRAY, read_counter);
}

static bool has_ours(const struct rk_tree *root)
{
	return rk_tree_get(root, "metrics") || rk_tree_get(root, "terms") ||
	       rk_tree_get(root, "checks") || rk_tree_get(root, "absent");
}

static int read_tree(struct rk_metric_set *s, const struct rk_tree *root, const char *file,
		     struct rk_error *err)
{
	static const char *const keys[] = { "schema", "terms", "metrics", "checks", "absent", NULL };
	struct doc d = { s, NULL, err };
	const struct rk_tree *sdk = rk_tree_get(root, "rocprofiler-sdk");
	const struct rk_tree *schema = rk_tree_get(root, "schema");
	int64_t v = 1;
	int rc;

	d.file = rk_arena_text(s->arena, file, strlen(file));
	if (!d.file)
		return rk_fail_nomem(err);
	if (sdk)
		return read_sdk(&d, sdk);
	if (!has_ours(root))
		return fault(&d, root,
			     "no definitions: expected \"metrics\", \"terms\" or \"checks\", "
			     "or the \"rocprofiler-sdk\" of a counter_defs.yaml");
	rc = check_keys(&d, root, keys);
	if (rc < 0)
		return rc;
	if (schema && (!rk_tree_int(schema, &v) || v != 1))
		return fault(&d, schema, "schema is %.16s, this version reads schema 1",
			     rk_tree_text(schema, "no number"));
	if ((rc = read_each(&d, rk_tree_get(root, "terms"), RK_TREE_OBJECT, read_term)) < 0 ||
	    (rc = read_each(&d, rk_tree_get(root, "metrics"), RK_TREE_ARRAY, read_metric)) < 0)
		return rc;
	if ((rc = read_each(&d, rk_tree_get(root, "checks"), RK_TREE_ARRAY, read_check)) < 0)
		return rc;
	return read_each(&d, rk_tree_get(root, "absent"), RK_TREE_ARRAY, read_reason);
}

static int new_set(struct rk_metric_set **ret, struct rk_error *err)
{
	struct rk_metric_set *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->last_reason = &s->reasons;
	rc = rk_arena_new(&s->arena, err);
	if (rc < 0)
		rk_free(s);
	else
		*ret = s;
	return rc;
}

void rk_metric_set_free(struct rk_metric_set *s)
{
	if (!s)
		return;
	rk_free(s->defs);
	rk_free(s->terms);
	rk_free(s->checks);
	rk_index_release(&s->by_id);
	rk_index_release(&s->by_name);
	rk_index_release(&s->by_kind);
	rk_arena_free(s->arena);
	rk_free(s);
}

int rk_metric_set_load(const char *file, const struct rk_tree *release, struct rk_metric_set **ret,
		       struct rk_error *err)
{
	struct rk_metric_set *s = NULL;
	struct rk_tree *root = NULL;
	int rc = new_set(&s, err);

	if (rc < 0)
		return rc;
	for (const struct rk_data_file *f = rk_data_files; f->name; f++) {
		if (strncmp(f->name, "metrics/", 8) != 0 ||
		    !rk_text_ends(f->name, strlen(f->name), ".json"))
			continue;
		rc = rk_tree_parse_json(f->text, f->len, f->name, &root, err);
		if (rc < 0)
			goto out;
		/* the folder also has tables of devices and rules, which have different keys */
		if (has_ours(root) && (rc = read_tree(s, root, f->name, err)) < 0)
			goto out;
		rk_tree_free(root);
		root = NULL;
	}
	if (release && (rc = read_tree(s, release, "metrics/versions.json", err)) < 0)
		goto out;
	if (file && (rc = rk_tree_load(file, &root, err)) == 0)
		rc = read_tree(s, root, file, err);
	if (rc < 0)
		goto out;
	*ret = s;
	s = NULL;
out:
	rk_tree_free(root);
	rk_metric_set_free(s);
	return rc;
}

int rk_metric_set_parse(const char *text, size_t len, const char *name, struct rk_metric_set **ret,
			struct rk_error *err)
{
	size_t nlen = strlen(name);
	struct rk_metric_set *s = NULL;
	struct rk_tree *root = NULL;
	int rc;

	if (rk_text_ends(name, nlen, ".yaml") || rk_text_ends(name, nlen, ".yml"))
		rc = rk_tree_parse_yaml(text, len, name, &root, err);
	else
		rc = rk_tree_parse_json(text, len, name, &root, err);
	if (rc < 0 || (rc = new_set(&s, err)) < 0 || (rc = read_tree(s, root, name, err)) < 0)
		goto out;
	*ret = s;
	s = NULL;
out:
	rk_tree_free(root);
	rk_metric_set_free(s);
	return rc;
}
