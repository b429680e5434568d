/* counter_ask.c - see counter_ask.h. */
#include "counters/counter_ask.h"

#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/words.h"
#include "counters/counter_file.h"
#include "counters/counter_resolve.h"
#include "counters/counter_sets.h"

struct asked {
	const struct rk_counter_table *table;
	const struct rk_counter_target *target;
	struct rk_list *names, *origins;
};

static int unknown_category(const char *name, struct rk_error *err)
{
	struct rk_list words = { 0 }, all = { 0 };
	int rc;

	rk_counter_category_names(&all);
	for (size_t i = 0; i < all.n; i++)
		rk_list_addf(&words, "@%s", all.v[i]);
	rc = all.bad || words.bad || !words.n ?
		     rk_fail_nomem(err) :
		     rk_fail_unknown(err, "category", name, (const char *const *)words.v);
	rk_list_release(&all);
	rk_list_release(&words);
	return rc;
}

/* A word that is no counter's name and like none: it may have been meant as a set's. */
static int unknown_word(const char *name, struct rk_error *err)
{
	struct rk_list words = { 0 };
	const struct rk_data_file *set;
	const char *near;
	int rc;

	for (size_t i = 0; (set = rk_counter_set_at(i)) != NULL; i++) {
		struct rk_piece p = rk_counter_set_name(set);

		rk_list_addn(&words, p.s, p.len);
	}
	near = words.n ? rk_nearest(name, (const char *const *)words.v) : NULL;
	if (words.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_fail(err, RK_E_USAGE, "unknown counter, set or file '%s'%s%s%s", name,
			     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	rk_list_release(&words);
	return rc;
}

int rk_counter_ask_unknown(const struct rk_counter_target *target, const char *name,
			   const char *origin, const char *near, struct rk_error *err)
{
	int rc;

	if (near) {
		rc = rk_fail(err, RK_E_USAGE, "unknown counter '%s'; did you mean '%s'?", name,
			     near);
	} else if (origin[0]) {
		rc = rk_fail(err, RK_E_USAGE, "unknown counter '%s'; %s has none like it", name,
			     target->name);
	} else {
		rc = unknown_word(name, err);
	}
	if (origin[0])
		rk_error_at(err, origin, 0, 0);
	return rc;
}

static void add(const struct asked *a, const char *name, const char *origin)
{
	rk_list_add(a->names, name);
	rk_list_add(a->origins, origin);
}

static int room(const struct asked *a, struct rk_error *err)
{
	if (a->names->bad || a->origins->bad)
		return rk_fail_nomem(err);
	if (a->names->n > RK_COUNTER_NAMES_MAX)
		return rk_fail(err, RK_E_LIMIT, "more than %d counters", RK_COUNTER_NAMES_MAX);
	return 0;
}

static int add_category(const struct asked *a, const char *word, const char *origin,
			struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc;

	if (!rk_counter_category_add(a->table, a->target, word + 1, &names)) {
		rc = unknown_category(word, err);
		if (origin[0])
			rk_error_at(err, origin, 0, 0);
		return rc;
	}
	for (size_t i = 0; i < names.n; i++)
		add(a, names.v[i], origin);
	rc = names.bad ? rk_fail_nomem(err) : room(a, err);
	rk_list_release(&names);
	return rc;
}

static int add_name(const struct asked *a, const char *word, const char *origin,
		    struct rk_error *err)
{
	if (word[0] == '@')
		return add_category(a, word, origin, err);
	add(a, word, origin);
	return room(a, err);
}

/* Takes over what a file or a set holds. */
static int add_all(const struct asked *a, struct rk_list *names, const char *origin,
		   struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < names->n; i++)
		rc = add_name(a, names->v[i], origin, err);
	return rc;
}

static int add_set(const struct asked *a, const struct rk_data_file *set, struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = rk_counter_file_parse(set->text, set->len, set->name, &names, err);

	if (rc == 0)
		rc = add_all(a, &names, "", err);
	rk_list_release(&names);
	return rc;
}

static int add_file(const struct asked *a, const char *path, struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = rk_counter_file_read(path, &names, err);

	if (rc == 0)
		rc = add_all(a, &names, path, err);
	rk_list_release(&names);
	return rc;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* By its looks: an error then speaks of a file that is not there. */
static bool like_file(const char *word)
{
	static const char *const endings[] = { ".txt", ".yaml", ".yml", ".json", ".xml" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (rk_text_ends(word, strlen(word), endings[i]))
			return true;
	return strchr(word, '/') != NULL;
}

static int add_word(const struct asked *a, const char *word, struct rk_error *err)
{
	const struct rk_data_file *set = rk_counter_set_find(word);

	if (strlen(word) > RK_COUNTER_NAME_BYTES_MAX && !is_file(word))
		return rk_fail(err, RK_E_USAGE, "a name of %zu bytes is no counter", strlen(word));
	if (word[0] != '@' && rk_counter_table_any(a->table, rk_counter_word_of(word).name))
		return add_name(a, word, "", err);
	if (set)
		return add_set(a, set, err);
	if (word[0] != '@' && (like_file(word) || is_file(word)))
		return add_file(a, word, err);
	return add_name(a, word, "", err);
}

int rk_counter_ask(const struct rk_counter_table *t, const struct rk_counter_target *target,
		   const char *spec, struct rk_list *names, struct rk_list *origins,
		   struct rk_error *err)
{
	const struct asked a = {
		.table = t,
		.target = target,
		.names = names,
		.origins = origins,
	};
	struct rk_list words = { 0 };
	int rc = 0;

	/* A path may hold commas and blanks. */
	if (strpbrk(spec, ", ") && is_file(spec))
		return add_file(&a, spec, err);
	rk_list_split(&words, spec, ", \t\n");
	if (words.bad)
		rc = rk_fail_nomem(err);
	else if (!words.n)
		rc = rk_fail(err, RK_E_USAGE, "no counter named");
	for (size_t i = 0; rc == 0 && i < words.n; i++)
		rc = add_word(&a, words.v[i], err);
	rk_list_release(&words);
	return rc;
}
