/* counter_ask.c - see counter_ask.h. */
#include "counters/counter_ask.h"

#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/handle.h"
#include "base/text.h"
#include "base/words.h"
#include "codec/json/tree.h"
#include "counters/counter_resolve.h"
#include "io/file.h"
#include "rockit/nearest.h"

/* ---- files ---- */

static int add_words(struct rk_list *names, struct rk_piece words, struct rk_error *err)
{
	struct rk_piece word;

	while (rk_piece_word(&words, " \t\r,", &word)) {
		size_t ok = 0;

		/* characters of "NAME", "NAME[3]", "NAME:device=0" and "@category" */
		while (ok < word.len && (rk_is_letter(word.s[ok]) || rk_is_digit(word.s[ok]) ||
					 (word.s[ok] && strchr("_[]:=@", word.s[ok]))))
			ok++;
		if (ok < word.len || word.len > RK_COUNTER_NAME_BYTES_MAX)
			return rk_fail(err, RK_E_FORMAT, "not a counter name");
		if (names->n == RK_COUNTER_NAMES_MAX)
			return rk_fail(err, RK_E_LIMIT, "more than %d counters",
				       RK_COUNTER_NAMES_MAX);
		rk_list_addn(names, word.s, word.len);
		if (names->bad)
			return rk_fail_nomem(err);
	}
	return 0;
}

static int read_text(const char *text, size_t len, const char *name, struct rk_list *names,
		     struct rk_error *err)
{
	static const char *const others[] = { "range", "gpu", "kernel", "hip", "hsa" };
	struct rk_piece rest = { .s = text, .len = len }, line, key, words;

	for (uint64_t number = 1; rk_piece_line(&rest, &line); number++) {
		bool known = !line.len, colon = rk_piece_split(line, ':', &key, &words);
		int rc = 0;

		key = rk_piece_trim(key);
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			known |= colon && rk_piece_is(key, others[i]);
		if (colon && rk_piece_is(key, "pmc"))
			rc = add_words(names, words, err);
		else if (!known)
			rc = rk_fail(err, RK_E_FORMAT, "not a 'pmc: NAMES' line");
		if (rc < 0) {
			rk_error_at(err, name, number, 0);
			return rc;
		}
	}
	return 0;
}

/* Reads a list of names, a list of such lists, or names in one string. */
static int read_pmc(const struct rk_tree *t, const char *name, struct rk_list *names,
		    struct rk_error *err)
{
	int rc = 0;

	if (t->kind == RK_TREE_ARRAY) {
		RK_TREE_EACH(c, t)
		{
			rc = read_pmc(c, name, names, err);
			if (rc < 0)
				return rc;
		}
		return 0;
	}
	if (t->kind == RK_TREE_TEXT)
		rc = add_words(names, rk_piece_of(t->text), err);
	else if (t->kind != RK_TREE_NULL)
		rc = rk_fail(err, RK_E_FORMAT, "'pmc' must be a list of names");
	if (rc < 0)
		rk_error_at(err, name, t->line, 0);
	return rc;
}

static int read_job(const struct rk_tree *job, const char *name, struct rk_list *names,
		    struct rk_error *err)
{
	static const char *const keys[] = { "pmc", "pmc_groups", "pmc-groups" };
	int rc;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct rk_tree *pmc = rk_tree_get(job, keys[i]);

		if (pmc && (rc = read_pmc(pmc, name, names, err)) < 0)
			return rc;
	}
	return 0;
}

static int read_tree(const char *text, size_t len, bool yaml, const char *name,
		     struct rk_list *names, struct rk_error *err)
{
	struct rk_tree *root = NULL;
	int rc;

	if (yaml)
		rc = rk_tree_parse_yaml(text, len, name, &root, err);
	else
		rc = rk_tree_parse_json(text, len, name, &root, err);
	if (rc < 0 || (rc = read_job(root, name, names, err)) < 0)
		goto out;
	RK_TREE_EACH(job, rk_tree_get(root, "jobs"))
	{
		rc = read_job(job, name, names, err);
		if (rc < 0)
			goto out;
	}
out:
	rk_tree_free(root);
	return rc;
}

int rk_counter_file_parse(const char *text, size_t len, const char *name, struct rk_list *names,
			  struct rk_error *err)
{
	size_t before = names->n, nlen = strlen(name), at = 0;
	char first;
	int rc;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	while (at < len && strchr(" \t\r\n", text[at]))
		at++;
	first = at < len ? text[at] : '\0';
	if (rk_text_ends(name, nlen, ".yaml") || rk_text_ends(name, nlen, ".yml"))
		rc = read_tree(text, len, true, name, names, err);
	else if (rk_text_ends(name, nlen, ".json") || first == '{')
		rc = read_tree(text, len, false, name, names, err);
	else if (first == '<')
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "rocprof XML is not supported; write the counters as 'pmc: NAMES'");
	else
		rc = read_text(text, len, name, names, err);
	if (rc == 0 && names->n == before)
		rc = rk_fail(err, RK_E_FORMAT, "no counters; write lines such as 'pmc: NAMES'");
	if (rc < 0)
		rk_error_at(err, name, 0, 0);
	return rc;
}

int rk_counter_file_read(const char *path, struct rk_list *names, struct rk_error *err)
{
	enum { PIECE = 1 << 16 };
	struct rk_file *f = NULL;
	struct rk_bytes b;
	size_t got = 1;
	int rc = rk_file_open(path, &f, err);

	if (rc < 0)
		return rc;
	rk_bytes_init(&b, RK_COUNTER_FILE_BYTES_MAX + 2 * PIECE);
	while (got && b.len <= RK_COUNTER_FILE_BYTES_MAX) {
		if (!rk_bytes_reserve(&b, PIECE)) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		rc = rk_file_read(f, b.data + b.len, PIECE, &got, err);
		if (rc < 0)
			goto out;
		b.len += got;
	}
	if (b.len > RK_COUNTER_FILE_BYTES_MAX)
		rc = rk_fail(err, RK_E_LIMIT, "larger than 1 MiB: not a list of counters");
	else
		rc = rk_counter_file_parse((const char *)b.data, b.len, path, names, err);
out:
	if (rc < 0)
		rk_error_at(err, path, 0, 0);
	rk_bytes_release(&b);
	rk_file_close(f);
	return rc;
}

/* ---- shipped sets ---- */

static const char folder[] = "counters/", ending[] = ".txt";

/* The name of a set: "memory_bound". */
static struct rk_piece set_name(const struct rk_data_file *set)
{
	struct rk_piece p = rk_piece_of(set->name + sizeof(folder) - 1);

	p.len -= sizeof(ending) - 1;
	return p;
}

/* Every .txt file of the folder except the three that rockit itself needs. */
static bool is_set(const struct rk_data_file *f)
{
	static const char *const others[] = { "table", "renames", "categories" };

	if (strncmp(f->name, folder, sizeof(folder) - 1) != 0 ||
	    !rk_text_ends(f->name, strlen(f->name), ending))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (rk_piece_is(set_name(f), others[i]))
			return false;
	return true;
}

const struct rk_data_file *rk_counter_set_find(const char *name)
{
	for (const struct rk_data_file *f = rk_data_files; f->name; f++) {
		struct rk_piece full, shorter, rest;

		if (!is_set(f))
			continue;
		full = set_name(f);
		rk_piece_split(full, '_', &shorter, &rest);
		if (rk_piece_is(full, name) || rk_piece_is(shorter, name))
			return f;
	}
	return NULL;
}

/* ---- categories ---- */

static struct rk_piece categories(void)
{
	const struct rk_data_file *f = rk_data_find("counters/categories.txt");

	if (!f)
		return rk_piece_of("");
	return (struct rk_piece){ .s = f->text, .len = f->len };
}

/* Adds the counters of a category (without '@') that the target has; false: unknown category. */
static bool category_add(const struct rk_counter_table *t, const struct rk_counter_target *target,
			 const char *name, struct rk_list *names)
{
	struct rk_piece text = categories(), line, word, choice;

	while (rk_piece_line(&text, &line)) {
		if (!rk_piece_word(&line, " ", &word) || !rk_text_ieq(word.s, word.len, name))
			continue;
		/* the first of "A/B/C" that the target has */
		while (rk_piece_word(&line, " ", &word)) {
			const struct rk_counter_entry *e = NULL;

			while (!e && rk_piece_word(&word, "/", &choice))
				e = rk_counter_table_find(t, target, choice);
			if (e)
				rk_list_add_once(names, e->pub.name);
		}
		return true;
	}
	return false;
}

/* Adds the names of all categories, each after `prefix`. */
static void category_names(const char *prefix, struct rk_list *names)
{
	struct rk_piece text = categories(), line, word;

	while (rk_piece_line(&text, &line))
		if (rk_piece_word(&line, " ", &word))
			rk_list_addf(names, "%s%.*s", prefix, (int)word.len, word.s);
}

/* Takes ownership of the list. */
static int give(struct rk_list *l, struct rk_counter_names *ret, struct rk_error *err)
{
	if (l->bad) {
		rk_list_release(l);
		return rk_fail_nomem(err);
	}
	*ret = (struct rk_counter_names){ .names = l->v, .n = l->n };
	return 0;
}

int rk_counters_categories(struct rk_counter_names *ret, struct rk_error *err)
{
	struct rk_list l = { 0 };

	if (!ret)
		return rk_misuse(__func__, err);
	category_names("", &l);
	return give(&l, ret, err);
}

int rk_counters_of_category(const char *arch, const char *category, struct rk_counter_names *ret,
			    struct rk_error *err)
{
	const struct rk_counter_target *target;
	const struct rk_counter_table *t;
	struct rk_list l = { 0 };
	const char *near;
	int rc;

	if (!arch || !category || !ret)
		return rk_misuse(__func__, err);
	t = rk_counter_table_get(err);
	if (!t)
		return RK_E_NOMEM;
	target = rk_counter_table_target_find(t, arch);
	if (!target)
		return rk_fail(err, RK_E_USAGE, "unknown target '%s'", arch);
	if (category_add(t, target, category, &l))
		return give(&l, ret, err);
	category_names("", &l);
	near = l.bad ? NULL : rk_nearest(category, (const char *const *)l.v);
	if (near)
		rc = rk_fail(err, RK_E_USAGE, "no category '%.60s'; did you mean '%s'?", category,
			     near);
	else
		rc = rk_fail(err, RK_E_USAGE, "no category '%.60s'", category);
	rk_list_release(&l);
	return rc;
}

void rk_counter_names_release(struct rk_counter_names *n)
{
	struct rk_list l;

	if (!n)
		return;
	l = (struct rk_list){ .v = n->names, .n = n->n, .cap = n->n };
	rk_list_release(&l);
	*n = (struct rk_counter_names){ 0 };
}

/* ---- the user's request ---- */

struct asked {
	const struct rk_counter_table *table;
	const struct rk_counter_target *target;
	struct rk_list *names, *origins;
};

int rk_counter_ask_unknown(const struct rk_counter_target *target, const char *name,
			   const char *origin, const char *near, struct rk_error *err)
{
	struct rk_list sets = { 0 };
	int rc;

	if (near) {
		rc = rk_fail(err, RK_E_USAGE, "unknown counter '%s'; did you mean '%s'?", name,
			     near);
	} else if (origin[0]) {
		rc = rk_fail(err, RK_E_USAGE, "unknown counter '%s'; %s has no similar counter",
			     name, target->name);
	} else {
		/* not similar to any counter: it may be a misspelt set */
		for (const struct rk_data_file *f = rk_data_files; f->name; f++)
			if (is_set(f))
				rk_list_addn(&sets, set_name(f).s, set_name(f).len);
		near = sets.n ? rk_nearest(name, (const char *const *)sets.v) : NULL;
		if (sets.bad)
			rc = rk_fail_nomem(err);
		else if (near)
			rc = rk_fail(err, RK_E_USAGE,
				     "unknown counter, set or file '%s'; did you mean '%s'?", name,
				     near);
		else
			rc = rk_fail(
				err, RK_E_USAGE,
				"unknown counter, set or file '%s'; 'rockit counters' lists them",
				name);
		rk_list_release(&sets);
	}
	if (origin[0])
		rk_error_at(err, origin, 0, 0);
	return rc;
}

/* Adds a name or a category. */
static int add_name(const struct asked *a, const char *word, const char *origin,
		    struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc = 0;

	if (word[0] != '@') {
		rk_list_add(&names, word);
	} else if (!category_add(a->table, a->target, word + 1, &names)) {
		category_names("@", &names);
		if (names.bad || !names.n)
			rc = rk_fail_nomem(err);
		else
			rc = rk_fail_unknown(err, "category", word, (const char *const *)names.v);
		if (origin[0])
			rk_error_at(err, origin, 0, 0);
		goto out;
	}
	for (size_t i = 0; i < names.n; i++) {
		rk_list_add(a->names, names.v[i]);
		rk_list_add(a->origins, origin);
	}
	if (names.bad || a->names->bad || a->origins->bad)
		rc = rk_fail_nomem(err);
	else if (a->names->n > RK_COUNTER_NAMES_MAX)
		rc = rk_fail(err, RK_E_LIMIT, "more than %d counters", RK_COUNTER_NAMES_MAX);
out:
	rk_list_release(&names);
	return rc;
}

/* Adds the names of a set, or of the file `path` if `set` is NULL. */
static int add_file(const struct asked *a, const struct rk_data_file *set, const char *path,
		    struct rk_error *err)
{
	struct rk_list names = { 0 };
	int rc;

	if (set)
		rc = rk_counter_file_parse(set->text, set->len, set->name, &names, err);
	else
		rc = rk_counter_file_read(path, &names, err);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = add_name(a, names.v[i], set ? "" : path, err);
	rk_list_release(&names);
	return rc;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

static int add_word(const struct asked *a, const char *word, struct rk_error *err)
{
	static const char *const endings[] = { ".txt", ".yaml", ".yml", ".json", ".xml" };
	const struct rk_data_file *set = rk_counter_set_find(word);
	size_t len = strlen(word);
	bool path = false;

	if (len > RK_COUNTER_NAME_BYTES_MAX && !is_file(word))
		return rk_fail(err, RK_E_USAGE, "a name of %zu bytes is not a counter", len);
	if (word[0] != '@' && rk_counter_table_any(a->table, rk_counter_word_of(word).name))
		return add_name(a, word, "", err);
	/* a word that looks like a path: report a missing file */
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		path |= rk_text_ends(word, len, endings[i]);
	path |= strchr(word, '/') || is_file(word);
	if (set || (word[0] != '@' && path))
		return add_file(a, set, word, err);
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

	/* a path may contain commas and blanks */
	if (strpbrk(spec, ", ") && is_file(spec))
		return add_file(&a, NULL, spec, err);
	rk_list_split(&words, spec, ", \t\n");
	if (words.bad)
		rc = rk_fail_nomem(err);
	else if (!words.n)
		rc = rk_fail(err, RK_E_USAGE, "no counter given");
	for (size_t i = 0; rc == 0 && i < words.n; i++)
		rc = add_word(&a, words.v[i], err);
	rk_list_release(&words);
	return rc;
}
