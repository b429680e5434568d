/*
 * metric_defs_sdk.c - the derived counters of a counter_defs.yaml as metrics and terms.
 *
 * The file belongs to others and grows: keys that are not known are passed over, of two definitions
 * for one target the first stands, of two counters with one name the later.
 */
#include <string.h>

#include "base/text.h"
#include "metrics/formula/metric_defs_impl.h"

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
		return rk_metric_is_name(name);
	s += len + 1;
	len = strspn(s, "0123456789");
	return rk_metric_is_name(name) && len > 0 && strcmp(s + len, "]") == 0;
}

/* One line of bounded, valid text. */
static const char *clean(const struct rk_metric_doc *d, const char *text)
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
	return rk_metric_text(d, line);
}

/* An expression for each architecture; nothing for a definition that is a hardware event. */
static int read_definition(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
			   const struct rk_tree *def, struct rk_metric_case **list)
{
	const struct rk_tree *text = rk_tree_get(def, "expression");
	const struct rk_tree *archs = rk_tree_get(def, "architectures");
	const struct rk_expr *e = NULL;
	int rc;

	if (!text)
		return 0;
	if (!archs || archs->kind != RK_TREE_ARRAY)
		return rk_metric_fault(d, def, "counter '%s': a definition without architectures",
				       o->id);
	rc = rk_metric_expr_read(d, o, text, &e);
	for (const struct rk_tree *a = archs->first; a && rc == 0; a = a->next) {
		const char *target = rk_tree_text(a, "");

		rc = rk_metric_case_add(d, o, a, target, strlen(target), e, false, list);
	}
	return rc;
}

static int put(const struct rk_metric_doc *d, const struct rk_tree *t, const char *name,
	       const struct rk_metric_case *cases)
{
	struct rk_metric_def m = {
		.group = "sdk", .unit = "", .pass = "", .expr = cases, .file = d->file
	};
	struct rk_metric_term term = { .expr = cases, .file = d->file };
	int rc;

	m.id = rk_metric_text(d, name);
	m.help = m.id ? clean(d, rk_tree_text(rk_tree_get(t, "description"), "")) : NULL;
	if (!m.help)
		return RK_E_NOMEM;
	term.name = m.id;
	rc = rk_metric_put_def(d, t, &m, false);
	/* A single instance is asked for by name and number, not by name. */
	if (rc == 0 && !strchr(name, '['))
		rc = rk_metric_put_term(d, t, &term, false);
	return rc;
}

static int read_counter(const struct rk_metric_doc *d, const struct rk_tree *t)
{
	const char *name = rk_tree_text(rk_tree_get(t, "name"), "");
	const struct rk_tree *defs = rk_tree_get(t, "definitions");
	struct rk_metric_owner o = { "counter", name, "expression" };
	struct rk_metric_case *list = NULL;
	int rc = 0;

	if (t->kind != RK_TREE_OBJECT || !is_counter_name(name))
		return rk_metric_fault(d, t, "a counter without a proper name: '%.48s'", name);
	if (!defs || defs->kind != RK_TREE_ARRAY)
		return rk_metric_fault(d, t, "counter '%s' has no list of definitions", name);
	for (const struct rk_tree *c = defs->first; c && rc == 0; c = c->next)
		rc = read_definition(d, &o, c, &list);
	return rc < 0 || !list ? rc : put(d, t, name, list);
}

int rk_metric_read_sdk(const struct rk_metric_doc *d, const struct rk_tree *sdk)
{
	const struct rk_tree *version = rk_tree_get(sdk, "counters-schema-version");
	const struct rk_tree *counters = rk_tree_get(sdk, "counters");
	int64_t v = 1;
	int rc = 0;

	if (version && (!rk_tree_int(version, &v) || v != 1))
		return rk_metric_fault(d, version,
				       "counters-schema-version is %.16s, this version reads 1",
				       rk_tree_text(version, "no number"));
	if (!counters || counters->kind != RK_TREE_ARRAY)
		return rk_metric_fault(d, sdk, "rocprofiler-sdk has no list of counters");
	for (const struct rk_tree *c = counters->first; c && rc == 0; c = c->next)
		rc = read_counter(d, c);
	return rc;
}
