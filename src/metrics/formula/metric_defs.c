/* metric_defs.c - sets of definitions: loading, looking up, replacing. */
#include "metrics/formula/metric_defs.h"

#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/text.h"
#include "metrics/formula/metric_defs_impl.h"

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

const struct rk_metric_def *rk_metric_def_find(const struct rk_metric_set *s, const char *id)
{
	size_t at;

	return rk_metric_index_find(&s->by_id, id, strlen(id), &at) ? &s->defs[at] : NULL;
}

const struct rk_expr *rk_metric_term_for(const struct rk_metric_set *s, const char *name,
					 const char *arch)
{
	size_t at;

	if (!rk_metric_index_find(&s->by_name, name, strlen(name), &at))
		return NULL;
	return rk_metric_case_for(s->terms[at].expr, arch);
}

/* Where `key` is or goes: the number of an element, or `n` for a new one. */
static int place_of(const struct rk_metric_doc *d, const struct rk_tree *at,
		    const struct rk_metric_index *x, const char *key, size_t n, size_t *ret)
{
	if (rk_metric_index_find(x, key, strlen(key), ret))
		return 0;
	*ret = n;
	if (n == RK_METRICS_MAX)
		return rk_metric_fault(d, at, "more than %d definitions of a kind", RK_METRICS_MAX);
	return 0;
}

/* The array with room for one behind its n elements; NULL when out of memory. */
static void *with_room(void *array, size_t n, size_t size)
{
	bool full = (n & (n - 1)) == 0; /* the room is a power of two */

	return full ? rk_reallocn(array, n ? n * 2 : 1, size) : array;
}

static int check_once(const struct rk_metric_doc *d, const struct rk_tree *at, bool once,
		      const char *file, const char *key)
{
	if (once && file == d->file)
		return rk_metric_fault(d, at, "'%.96s' is defined twice", key);
	return 0;
}

int rk_metric_put_def(const struct rk_metric_doc *d, const struct rk_tree *at,
		      const struct rk_metric_def *def, bool once)
{
	struct rk_metric_set *s = d->set;
	struct rk_metric_def *v;
	size_t i;
	int rc = place_of(d, at, &s->by_id, def->id, s->ndefs, &i);

	if (rc == 0 && i < s->ndefs)
		rc = check_once(d, at, once, s->defs[i].file, def->id);
	if (rc < 0)
		return rc;
	if (i == s->ndefs) {
		if (!(v = with_room(s->defs, i, sizeof(*v))))
			return rk_fail_nomem(d->err);
		s->defs = v;
		if (!rk_metric_index_add(&s->by_id, def->id, strlen(def->id), i))
			return rk_fail_nomem(d->err);
		s->ndefs++;
	}
	s->defs[i] = *def;
	return 0;
}

int rk_metric_put_term(const struct rk_metric_doc *d, const struct rk_tree *at,
		       const struct rk_metric_term *term, bool once)
{
	struct rk_metric_set *s = d->set;
	struct rk_metric_term *v;
	size_t i;
	int rc = place_of(d, at, &s->by_name, term->name, s->nterms, &i);

	if (rc == 0 && i < s->nterms)
		rc = check_once(d, at, once, s->terms[i].file, term->name);
	if (rc < 0)
		return rc;
	if (i == s->nterms) {
		if (!(v = with_room(s->terms, i, sizeof(*v))))
			return rk_fail_nomem(d->err);
		s->terms = v;
		if (!rk_metric_index_add(&s->by_name, term->name, strlen(term->name), i))
			return rk_fail_nomem(d->err);
		s->nterms++;
	}
	s->terms[i] = *term;
	return 0;
}

int rk_metric_put_check(const struct rk_metric_doc *d, const struct rk_tree *at,
			const struct rk_metric_check *check, bool once)
{
	struct rk_metric_set *s = d->set;
	struct rk_metric_check *v;
	size_t i;
	int rc = place_of(d, at, &s->by_kind, check->kind, s->nchecks, &i);

	if (rc == 0 && i < s->nchecks)
		rc = check_once(d, at, once, s->checks[i].file, check->kind);
	if (rc < 0)
		return rc;
	if (i == s->nchecks) {
		if (!(v = with_room(s->checks, i, sizeof(*v))))
			return rk_fail_nomem(d->err);
		s->checks = v;
		if (!rk_metric_index_add(&s->by_kind, check->kind, strlen(check->kind), i))
			return rk_fail_nomem(d->err);
		s->nchecks++;
	}
	s->checks[i] = *check;
	return 0;
}

static bool has_ours(const struct rk_tree *root)
{
	return rk_tree_get(root, "metrics") || rk_tree_get(root, "terms") ||
	       rk_tree_get(root, "checks");
}

static int read_tree(struct rk_metric_set *s, const struct rk_tree *root, const char *file,
		     struct rk_error *err)
{
	struct rk_metric_doc d = { s, NULL, err };
	const struct rk_tree *sdk = rk_tree_get(root, "rocprofiler-sdk");

	d.file = rk_arena_text(s->arena, file, strlen(file));
	if (!d.file)
		return rk_fail_nomem(err);
	if (sdk)
		return rk_metric_read_sdk(&d, sdk);
	if (!has_ours(root))
		return rk_metric_fault(
			&d, root,
			"no definitions: expected \"metrics\", \"terms\" or \"checks\", "
			"or the \"rocprofiler-sdk\" of a counter_defs.yaml");
	return rk_metric_read_own(&d, root);
}

static int new_set(struct rk_metric_set **ret, struct rk_error *err)
{
	struct rk_metric_set *s = rk_calloc(1, sizeof(*s));
	int rc = s ? rk_arena_new(&s->arena, err) : rk_fail_nomem(err);

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
	rk_metric_index_release(&s->by_id);
	rk_metric_index_release(&s->by_name);
	rk_metric_index_release(&s->by_kind);
	rk_arena_free(s->arena);
	rk_free(s);
}

/* The folder also holds tables of devices and rules, which have other keys. */
static int read_shipped(struct rk_metric_set *s, const struct rk_data_file *f, struct rk_error *err)
{
	struct rk_tree *root = NULL;
	int rc = rk_tree_parse_json(f->text, f->len, f->name, &root, err);

	if (rc == 0 && has_ours(root))
		rc = read_tree(s, root, f->name, err);
	rk_tree_free(root);
	return rc;
}

static int read_all_shipped(struct rk_metric_set *s, struct rk_error *err)
{
	int rc = 0;

	for (const struct rk_data_file *f = rk_data_files; f->name && rc == 0; f++)
		if (strncmp(f->name, "metrics/", 8) == 0 &&
		    rk_text_ends(f->name, strlen(f->name), ".json"))
			rc = read_shipped(s, f, err);
	return rc;
}

int rk_metric_set_load(const char *file, struct rk_metric_set **ret, struct rk_error *err)
{
	struct rk_metric_set *s = NULL;
	struct rk_tree *root = NULL;
	int rc = new_set(&s, err);

	if (rc < 0)
		return rc;
	rc = read_all_shipped(s, err);
	if (rc == 0 && file)
		rc = rk_tree_load(file, &root, err);
	if (rc == 0 && file)
		rc = read_tree(s, root, file, err);
	rk_tree_free(root);
	if (rc < 0)
		rk_metric_set_free(s);
	else
		*ret = s;
	return rc;
}

int rk_metric_set_parse(const char *text, size_t len, const char *name, struct rk_metric_set **ret,
			struct rk_error *err)
{
	size_t nlen = strlen(name);
	bool yaml = rk_text_ends(name, nlen, ".yaml") || rk_text_ends(name, nlen, ".yml");
	struct rk_metric_set *s = NULL;
	struct rk_tree *root = NULL;
	int rc = yaml ? rk_tree_parse_yaml(text, len, name, &root, err) :
			rk_tree_parse_json(text, len, name, &root, err);

	if (rc == 0)
		rc = new_set(&s, err);
	if (rc == 0)
		rc = read_tree(s, root, name, err);
	rk_tree_free(root);
	if (rc < 0)
		rk_metric_set_free(s);
	else
		*ret = s;
	return rc;
}
