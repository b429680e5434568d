/* sim_args.c - words as Python's argparse reads them. */
#include "sim_args.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void argparse_error(const char *prog, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr,
		"usage: %s [options] -- <application> [application options]\n%s: error: ", prog,
		prog);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

void python_traceback(const char *script, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr,
		"Traceback (most recent call last):\n"
		"  File \"%s/bin/%s\", line 1480, in <module>\n    ec = main(sys.argv[1:])\n",
		sim.root, script);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

int bool_word(const char *word)
{
	static const char *const yes[] = { "y", "yes", "t", "true", "on", "1" };
	static const char *const no[] = { "n", "no", "f", "false", "off", "0" };

	for (size_t i = 0; i < 6; i++) {
		if (strcasecmp(word, yes[i]) == 0)
			return 1;
		if (strcasecmp(word, no[i]) == 0)
			return 0;
	}
	return -1;
}

static struct given *slot(struct args *a, const char *dest)
{
	struct given *more;

	for (size_t i = 0; i < a->ngiven; i++)
		if (strcmp(a->given[i].dest, dest) == 0)
			return &a->given[i];
	more = take((a->ngiven + 1) * sizeof(*more));
	if (a->ngiven)
		memcpy(more, a->given, a->ngiven * sizeof(*more));
	a->given = more;
	a->given[a->ngiven].dest = dest;
	return &a->given[a->ngiven++];
}

const struct words *args_get(const struct args *a, const char *dest)
{
	for (size_t i = 0; i < a->ngiven; i++)
		if (strcmp(a->given[i].dest, dest) == 0)
			return &a->given[i].words;
	return NULL;
}

const char *args_word(const struct args *a, const char *dest)
{
	const struct words *w = args_get(a, dest);

	return w && w->n ? w->at[0] : NULL;
}

int args_bool(const struct args *a, const char *dest)
{
	const char *w = args_word(a, dest);

	return w ? *w == '1' : -1;
}

void args_set(struct args *a, const char *dest, const struct words *words)
{
	slot(a, dest)->words = *words;
}

static const struct option_row *exact(const struct option_row *table, const char *name, size_t len)
{
	for (; table->name; table++)
		if (strncmp(table->name, name, len) == 0 && table->name[len] == '\0')
			return table;
	return NULL;
}

/* A unique prefix of a long option; several of one destination do not clash in practice. */
static const struct option_row *abbreviated(const struct args *a, const struct option_row *table,
					    const char *name, size_t len)
{
	const struct option_row *found = NULL;

	for (; table->name; table++) {
		if (strncmp(table->name, name, len) != 0 || table->name[1] != '-')
			continue;
		if (found)
			argparse_error(a->prog, "ambiguous option: %.*s could match %s, %s",
				       (int)len, name, found->name, table->name);
		found = table;
	}
	return found;
}

/* `-3`, `-.5`: no option looks like that, so it is a value. */
static bool is_negative(const char *word)
{
	size_t whole = strspn(word + 1, "0123456789");
	size_t part = word[1 + whole] == '.' ? strspn(word + 2 + whole, "0123456789") : 0;

	return (whole && !word[1 + whole]) || (part && !word[2 + whole + part]);
}

/* What one word is, before anything is done with it. */
struct word {
	bool is_option;
	const struct option_row *row; /* NULL: an option nobody knows */
	const char *value;            /* the rest of the same word, or NULL */
};

/* The steps of argparse in their order: a blank makes a value only of what matched nothing. */
static struct word classify(const struct args *a, const struct option_row *table,
			    bool abbreviations, const char *word)
{
	size_t len = strcspn(word, "=");
	struct word w = { .is_option = true };

	if (word[0] != '-' || !word[1])
		return (struct word){ 0 };
	w.row = exact(table, word, strlen(word));
	if (w.row)
		return w;
	w.value = word[len] ? word + len + 1 : NULL;
	if (w.value)
		w.row = exact(table, word, len);
	if (!w.row && word[1] == '-' && abbreviations)
		w.row = abbreviated(a, table, word, len);
	if (!w.row && word[1] != '-') {
		w.value = word + 2;
		w.row = exact(table, word, 2);
	}
	if (!w.row && (is_negative(word) || strchr(word, ' ')))
		return (struct word){ 0 };
	return w;
}

static void check_word(const struct args *a, const struct option_row *row, char *word)
{
	struct words choices = { 0 };
	unsigned long long number;

	if (row->is_int &&
	    (strchr(word, 'x') || !read_number(word[0] == '-' ? word + 1 : word, &number)))
		argparse_error(a->prog, "argument %s: invalid int value: '%s'", row->name, word);
	if (!row->choices)
		return;
	if (strcmp(row->dest, "--output-format") == 0)
		for (char *p = word; *p; p++)
			*p = (char)tolower((unsigned char)*p);
	words_split(&choices, row->choices, "|");
	if (!words_have(&choices, word))
		argparse_error(a->prog, "argument %s: invalid choice: '%s' (choose from '%s')",
			       row->name, word, words_join(&choices, "', '"));
}

static void keep(struct args *a, const struct option_row *row, struct words *values)
{
	if (row->nargs == '?') {
		int yes = values->n ? bool_word(values->at[0]) : 1;
		struct words w = { 0 };

		if (yes < 0)
			python_traceback(a->prog, "ValueError: invalid truth value '%s'",
					 values->at[0]);
		words_add(&w, yes ? "1" : "0");
		*values = w;
	}
	for (size_t i = 0; i < values->n; i++)
		check_word(a, row, values->at[i]);
	if (strcmp(row->dest, "--pmc") == 0) {
		struct words *more = take((a->npmc + 1) * sizeof(*more));

		if (a->npmc)
			memcpy(more, a->pmc_flags, a->npmc * sizeof(*more));
		more[a->npmc++] = *values;
		a->pmc_flags = more;
	}
	slot(a, row->dest)->words = *values;
}

/* Takes the words that belong to the option before `i`; returns the first that does not. */
static size_t take_values(struct args *a, const struct word *kinds, char **words, size_t i,
			  size_t n)
{
	const struct option_row *row = kinds[i - 1].row;
	const char *value = kinds[i - 1].value;
	size_t most = row->nargs == '0' ? 0 : row->nargs == '+' || row->nargs == '*' ? n : 1;
	struct words values = { 0 };

	if (value && row->nargs == '0')
		argparse_error(a->prog, "argument %s: ignored explicit argument '%s'", row->name,
			       value);
	if (value)
		words_add(&values, value);
	else
		while (values.n < most && i < n && !kinds[i].is_option)
			words_add(&values, words[i++]);
	if (!values.n && (row->nargs == '1' || row->nargs == '+'))
		argparse_error(a->prog, "argument %s: expected %s argument", row->name,
			       row->nargs == '1' ? "one" : "at least one");
	if (row->nargs == '0')
		words_add(&values, "1");
	keep(a, row, &values);
	return i;
}

void args_parse(struct args *a, const struct option_row *table, bool abbreviations, char **words,
		size_t n)
{
	struct word *kinds = take((n + 1) * sizeof(*kinds));
	struct words unknown = { 0 };

	/* an ambiguous word is an error before any other is looked at closer */
	for (size_t i = 0; i < n; i++)
		kinds[i] = classify(a, table, abbreviations, words[i]);
	for (size_t i = 0; i < n;) {
		const struct option_row *row = kinds[i].row;

		if (row)
			i = take_values(a, kinds, words, i + 1, n);
		else
			words_add(&unknown, words[i++]);
		/* help and version act at once */
		if (row &&
		    (strcmp(row->dest, "--help") == 0 || strcmp(row->dest, "--version") == 0))
			return;
	}
	if (unknown.n)
		argparse_error(a->prog, "unrecognized arguments: %s", words_join(&unknown, " "));
}
