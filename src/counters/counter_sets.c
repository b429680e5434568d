/* counter_sets.c - see counter_sets.h. */
#include "counters/counter_sets.h"

#include <string.h>

#include "base/text.h"

static const char folder[] = "counters/", ending[] = ".txt";

struct rk_piece rk_counter_set_name(const struct rk_data_file *set)
{
	struct rk_piece p = rk_piece_of(set->name + sizeof(folder) - 1);

	p.len -= sizeof(ending) - 1;
	return p;
}

/* Every .txt file of the folder but the three that rockit itself needs. */
static bool is_set(const struct rk_data_file *f)
{
	static const char *const others[] = { "table", "renames", "categories" };
	struct rk_piece name;

	if (strncmp(f->name, folder, sizeof(folder) - 1) != 0 ||
	    !rk_text_ends(f->name, strlen(f->name), ending))
		return false;
	name = rk_counter_set_name(f);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (rk_piece_is(name, others[i]))
			return false;
	return true;
}

const struct rk_data_file *rk_counter_set_at(size_t i)
{
	for (const struct rk_data_file *f = rk_data_files; f->name; f++)
		if (is_set(f) && i-- == 0)
			return f;
	return NULL;
}

const struct rk_data_file *rk_counter_set_find(const char *name)
{
	const struct rk_data_file *f;

	for (size_t i = 0; (f = rk_counter_set_at(i)) != NULL; i++) {
		struct rk_piece full = rk_counter_set_name(f), shorter, rest;

		rk_piece_split(full, '_', &shorter, &rest);
		if (rk_piece_is(full, name) || rk_piece_is(shorter, name))
			return f;
	}
	return NULL;
}

static struct rk_piece categories(void)
{
	const struct rk_data_file *f = rk_data_find("counters/categories.txt");

	return (struct rk_piece){ .s = f ? f->text : "", .len = f ? f->len : 0 };
}

/* Of "A/B/C" the first that the target has. */
static void add_first(const struct rk_counter_table *t, const struct rk_counter_target *target,
		      struct rk_piece choices, struct rk_list *names)
{
	struct rk_piece name;

	while (rk_piece_word(&choices, "/", &name)) {
		const struct rk_counter_entry *e = rk_counter_table_find(t, target, name);

		if (e) {
			rk_list_add_once(names, e->pub.name);
			return;
		}
	}
}

bool rk_counter_category_add(const struct rk_counter_table *t,
			     const struct rk_counter_target *target, const char *name,
			     struct rk_list *names)
{
	struct rk_piece text = categories(), line, word;

	while (rk_piece_line(&text, &line)) {
		if (!rk_piece_word(&line, " ", &word) || !rk_text_ieq(word.s, word.len, name))
			continue;
		while (rk_piece_word(&line, " ", &word))
			add_first(t, target, word, names);
		return true;
	}
	return false;
}

void rk_counter_category_names(struct rk_list *names)
{
	struct rk_piece text = categories(), line, word;

	while (rk_piece_line(&text, &line))
		if (rk_piece_word(&line, " ", &word))
			rk_list_addn(names, word.s, word.len);
}
