/* metric_limits.c - see metric_limits.h. */
#include "metrics/metric_limits.h"

#include <pthread.h>
#include <string.h>

#include "base/data.h"
#include "base/num.h"

#define FILE_NAME "metrics/verdicts.json"

struct threshold {
	const char *name;
	size_t at;
};

#define THRESHOLD(field)                                  \
	{                                                 \
#field, offsetof(struct rk_limits, field) \
	}

static const struct threshold thresholds[] = {
	THRESHOLD(simds_per_cu),   THRESHOLD(simds_per_cu_rdna), THRESHOLD(fill),
	THRESHOLD(remote_pct),     THRESHOLD(remote_hbm_pct),    THRESHOLD(remote_side_pct),
	THRESHOLD(link_stall_pct), THRESHOLD(high_pct),          THRESHOLD(lead_pct),
	THRESHOLD(lead_factor),    THRESHOLD(short_ns),          THRESHOLD(gap_share),
	THRESHOLD(gap_median_ns),  THRESHOLD(dep_wait_pct),      THRESHOLD(issue_wait_pct),
	THRESHOLD(occupancy_pct),  THRESHOLD(lanes_on),          THRESHOLD(ridge_factor),
};

static int wrong(const struct rk_tree *t, const char *file, struct rk_error *err, const char *what,
		 const char *name)
{
	int rc = rk_fail(err, RK_E_FORMAT, "'%s' %s", name, what);

	rk_error_at(err, file, t ? t->line : 0, 0);
	return rc;
}

static int take_threshold(const struct rk_tree *all, const struct threshold *h, const char *file,
			  struct rk_limits *l, struct rk_error *err)
{
	const struct rk_tree *t = rk_tree_get(all, h->name), *v = rk_tree_get(t, "value");
	const char *number = v && v->kind == RK_TREE_NUMBER ? v->text : "";
	double d = 0;

	if (rk_num_f64(number, strlen(number), &d) != RK_NUM_OK || d <= 0)
		return wrong(t, file, err, "needs a value above 0", h->name);
	if (!*rk_tree_text(rk_tree_get(t, "reason"), ""))
		return wrong(t, file, err, "needs a reason", h->name);
	memcpy((char *)l + h->at, &d, sizeof(d));
	return 0;
}

static int take_list(const struct rk_tree *from, const char *name, const char *file,
		     const struct rk_tree **ret, struct rk_error *err)
{
	const struct rk_tree *t = rk_tree_get(from, name);

	if (!t || t->kind != RK_TREE_ARRAY || !t->n)
		return wrong(t, file, err, "must be a list", name);
	RK_TREE_EACH(c, t)
	if (c->kind != RK_TREE_TEXT || !*c->text)
		return wrong(c, file, err, "must contain texts", name);
	*ret = t;
	return 0;
}

static int take_text(const struct rk_tree *from, const char *name, const char *file,
		     const char **ret, struct rk_error *err)
{
	const struct rk_tree *t = rk_tree_get(from, name);

	if (!t || t->kind != RK_TREE_TEXT || !*t->text)
		return wrong(t, file, err, "must be a text", name);
	*ret = t->text;
	return 0;
}

static int take_all(const char *file, struct rk_limits *l, struct rk_error *err)
{
	const struct rk_tree *words = rk_tree_get(l->tree, "communication");
	const struct rk_tree *collect = rk_tree_get(l->tree, "collect");
	const struct {
		const struct rk_tree *from;
		const char *name;
		const struct rk_tree **to;
	} lists[] = {
		{ words, "anywhere", &l->anywhere },     { words, "as_word", &l->as_word },
		{ words, "in_company", &l->in_company }, { words, "company", &l->company },
		{ collect, "memory", &l->memory },       { collect, "compute", &l->compute },
		{ collect, "wait", &l->wait },           { collect, "used_up", &l->used_up },
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(thresholds) / sizeof(thresholds[0]); i++)
		rc = take_threshold(rk_tree_get(l->tree, "thresholds"), &thresholds[i], file, l,
				    err);
	for (size_t i = 0; rc == 0 && i < sizeof(lists) / sizeof(lists[0]); i++)
		rc = take_list(lists[i].from, lists[i].name, file, lists[i].to, err);
	if (rc == 0)
		rc = take_text(collect, "limits", file, &l->collect_limits, err);
	if (rc == 0)
		rc = take_text(collect, "resources", file, &l->collect_resources, err);
	return rc < 0 ? rc : take_text(collect, "other", file, &l->collect_other, err);
}

int rk_limits_parse(const char *text, size_t len, const char *name, struct rk_limits *ret,
		    struct rk_error *err)
{
	struct rk_limits l = { 0 };
	int rc = rk_tree_parse_json(text, len, name, &l.tree, err);

	if (rc == 0)
		rc = take_all(name, &l, err);
	if (rc < 0) {
		rk_tree_free(l.tree);
		return rc;
	}
	*ret = l;
	return 0;
}

void rk_limits_release(struct rk_limits *l)
{
	rk_tree_free(l->tree);
	*l = (struct rk_limits){ 0 };
}

/* Not pthread_once: after a failure for lack of memory we try again. */
const struct rk_limits *rk_limits_borrow(struct rk_error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct rk_limits limits;
	const struct rk_limits *ret = NULL;
	const struct rk_data_file *f;

	pthread_mutex_lock(&lock);
	f = limits.tree ? NULL : rk_data_find(FILE_NAME);
	if (limits.tree || (f && rk_limits_parse(f->text, f->len, FILE_NAME, &limits, err) == 0))
		ret = &limits;
	else if (!f)
		rk_fail(err, RK_E_UNSUPPORTED, "no " FILE_NAME " inside this build");
	pthread_mutex_unlock(&lock);
	return ret;
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static char lower(char c)
{
	return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

/*
 * Ignores case. "_?" in the word is an underscore or nothing, and the only place where a capital
 * may follow a small letter: asyncClear does not match nccl. NULL: no match.
 */
static const char *match_at(const char *s, const char *word)
{
	char before = 0;

	for (; *word; word++) {
		if (word[0] == '_' && word[1] == '?') {
			s += *s == '_';
			word++;
			before = 0;
			continue;
		}
		if (lower(*s) != *word || (is_lower(before) && is_upper(*s)))
			return NULL;
		before = *s++;
	}
	return s;
}

/* Between letters a word begins only where a capital follows a small one: ncclAllReduce. */
static bool word_begins(const char *name, const char *at)
{
	if (at == name)
		return true;
	if (is_lower(at[-1]))
		return is_upper(*at);
	return !is_upper(at[-1]);
}

static bool word_ends(const char *end)
{
	return !is_lower(*end) && !(is_upper(*end) && is_upper(end[-1]));
}

enum place { ANYWHERE, BEGINS, WHOLE };

static bool found(const char *name, const char *word, enum place place)
{
	for (const char *at = name; *at; at++) {
		const char *end = match_at(at, word);

		if (end && (place == ANYWHERE || word_begins(name, at)) &&
		    (place != WHOLE || word_ends(end)))
			return true;
	}
	return false;
}

static bool found_some(const char *name, const struct rk_tree *words, enum place place)
{
	RK_TREE_EACH(w, words)
	if (found(name, w->text, place))
		return true;
	return false;
}

bool rk_limits_communication(const struct rk_limits *l, const char *kernel_name)
{
	return found_some(kernel_name, l->anywhere, ANYWHERE) ||
	       found_some(kernel_name, l->as_word, BEGINS) ||
	       (found_some(kernel_name, l->in_company, BEGINS) &&
		found_some(kernel_name, l->company, WHOLE));
}

bool rk_limits_has(const struct rk_tree *list, const char *word)
{
	if (!*word)
		return true;
	RK_TREE_EACH(w, list)
	if (!strcmp(w->text, word))
		return true;
	return false;
}
