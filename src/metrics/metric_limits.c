/* metric_limits.c - see metric_limits.h. */
#include "metrics/metric_limits.h"

#include <pthread.h>
#include <string.h>

#include "base/data.h"
#include "base/num.h"
#include "base/text.h"

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
	THRESHOLD(impossible_pct),
};

static int wrong(const struct rk_tree *t, const char *file, struct rk_error *err, const char *what,
		 const char *name)
{
	int rc = rk_fail(err, RK_E_FORMAT, "'%s' %s", name, what);

	rk_error_at(err, file, t ? t->line : 0, 0);
	return rc;
}

int rk_limits_parse(const char *text, size_t len, const char *name, struct rk_limits *ret,
		    struct rk_error *err)
{
	struct rk_limits l = { 0 };
	const struct {
		const char *part, *name;
		const struct rk_tree **to;
	} lists[] = {
		{ "communication", "anywhere", &l.anywhere },
		{ "communication", "as_word", &l.as_word },
		{ "communication", "in_company", &l.in_company },
		{ "communication", "company", &l.company },
		{ "collect", "memory", &l.memory },
		{ "collect", "compute", &l.compute },
		{ "collect", "wait", &l.wait },
		{ "collect", "used_up", &l.used_up },
	};
	const struct {
		const char *name, **to;
	} texts[] = {
		{ "limits", &l.collect_limits },
		{ "resources", &l.collect_resources },
		{ "other", &l.collect_other },
	};
	int rc = rk_tree_parse_json(text, len, name, &l.tree, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
		const struct threshold *h = &thresholds[i];
		const struct rk_tree *t = rk_tree_get(rk_tree_get(l.tree, "thresholds"), h->name);
		const struct rk_tree *v = rk_tree_get(t, "value");
		double d = 0;

		if (!v || v->kind != RK_TREE_NUMBER ||
		    rk_num_f64(v->text, strlen(v->text), &d) != RK_NUM_OK || d <= 0) {
			rc = wrong(t, name, err, "needs a value above 0", h->name);
			goto out;
		}
		if (!*rk_tree_text(rk_tree_get(t, "reason"), "")) {
			rc = wrong(t, name, err, "needs a reason", h->name);
			goto out;
		}
		memcpy((char *)&l + h->at, &d, sizeof(d));
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct rk_tree *t =
			rk_tree_get(rk_tree_get(l.tree, lists[i].part), lists[i].name);

		if (!t || t->kind != RK_TREE_ARRAY || !t->n) {
			rc = wrong(t, name, err, "must be a list", lists[i].name);
			goto out;
		}
		RK_TREE_EACH(c, t)
		{
			if (c->kind != RK_TREE_TEXT || !*c->text) {
				rc = wrong(c, name, err, "must contain texts", lists[i].name);
				goto out;
			}
		}
		*lists[i].to = t;
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct rk_tree *t =
			rk_tree_get(rk_tree_get(l.tree, "collect"), texts[i].name);

		if (!t || t->kind != RK_TREE_TEXT || !*t->text) {
			rc = wrong(t, name, err, "must be a text", texts[i].name);
			goto out;
		}
		*texts[i].to = t->text;
	}
	*ret = l;
	l.tree = NULL;
out:
	rk_tree_free(l.tree);
	return rc;
}

void rk_limits_release(struct rk_limits *l)
{
	rk_tree_free(l->tree);
	*l = (struct rk_limits){ 0 };
}

/* Does not use pthread_once, because we try again after an out-of-memory failure. */
const struct rk_limits *rk_limits_borrow(struct rk_error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct rk_limits limits;
	const struct rk_data_file *f;
	bool there;

	pthread_mutex_lock(&lock);
	if (!limits.tree) {
		f = rk_data_find(FILE_NAME);
		if (f)
			(void)rk_limits_parse(f->text, f->len, FILE_NAME, &limits, err);
		else
			(void)rk_fail(err, RK_E_UNSUPPORTED, "no " FILE_NAME " inside this build");
	}
	there = limits.tree;
	pthread_mutex_unlock(&lock);
	return there ? &limits : NULL;
}

/*
 * Ignores case. "_?" in the word matches an underscore or nothing, and only there a capital may
 * follow a small letter: asyncClear does not match nccl. NULL: no match.
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
		if ((rk_is_upper(*s) ? *s - 'A' + 'a' : *s) != *word ||
		    (rk_is_lower(before) && rk_is_upper(*s)))
			return NULL;
		before = *s++;
	}
	return s;
}

enum place { ANYWHERE, BEGINS, WHOLE };

static bool found_some(const char *name, const struct rk_tree *words, enum place place)
{
	RK_TREE_EACH(w, words)
	{
		for (const char *at = name; *at; at++) {
			const char *end = match_at(at, w->text);
			char before = at > name ? at[-1] : ' ';

			if (!end)
				continue;
			/* between letters only if a capital follows a small one: ncclAllReduce */
			if (place != ANYWHERE &&
			    (rk_is_upper(before) || (rk_is_lower(before) && !rk_is_upper(*at))))
				continue;
			if (place == WHOLE &&
			    (rk_is_lower(*end) || (rk_is_upper(*end) && rk_is_upper(end[-1]))))
				continue;
			return true;
		}
	}
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
