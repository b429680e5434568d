/* sim_v3_jobs.c - input files of rocprofv3: pmc: text, YAML and JSON jobs, and the passes they make. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_tree.h"
#include "sim_v3.h"

void v3_fatal(const char *fmt, ...)
{
	va_list ap;

	fputs(sim.release >= REL_713 ? "[rocprofv3] Fatal error: " : "Fatal error: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static struct pass *add_pass(struct passes *list, const struct args *args, const char *folder)
{
	struct pass *more = take((list->n + 1) * sizeof(*more));
	struct pass *p = &more[list->n];

	if (list->n)
		memcpy(more, list->at, list->n * sizeof(*more));
	list->at = more;
	list->n++;
	p->args = *args;
	p->args.given = take((args->ngiven + 1) * sizeof(*args->given));
	if (args->ngiven)
		memcpy(p->args.given, args->given, args->ngiven * sizeof(*args->given));
	p->folder = folder;
	return p;
}

/* The default of the parser, where that is not None: it counts as given. */
static const char *parser_default(const char *dest)
{
	static const char *const table[][2] = {
		{ "--collection-period-unit", "sec" },
		{ "--preload", "" },
		{ "--att-serialize-all", "0" },
		{ "--att-perfcounter-target-only", "0" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i][0], dest) == 0)
			return table[i][1];
	return NULL;
}

static void merge(struct args *into, const char *dest, const struct words *words)
{
	const struct words *have = args_get(into, dest);
	const char *before = have ? words_join(have, "', '") : parser_default(dest);
	const char *now = words_join(words, "', '");

	if (before && strcmp(before, now) != 0)
		python_traceback(
			"rocprofv3",
			"RuntimeError: Conflicting values for option '%s': ['%s'] vs ['%s']", dest,
			before, now);
	args_set(into, dest, words);
}

/* A line of text: the counters, or false if it is none. Commas stay in the names. */
static bool text_line(char *line, struct words *counters)
{
	char *hash, *at;

	/* from 7.13 on comments go first; before, a commented line made a pass without a name */
	if (sim.release >= REL_713 && (hash = strchr(line, '#')))
		*hash = '\0';
	at = strstr(line, "pmc:");
	if (!at)
		return false;
	hash = strchr(line, '#');
	if (hash)
		*hash = '\0';
	if (!hash || at < hash)
		words_split(counters, at + 4, " \t\r");
	if (!counters->n)
		words_add(counters, "");
	return true;
}

static void text_passes(struct passes *list, const struct args *cli, const char *text)
{
	struct words lines = { 0 };

	words_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		struct words counters = { 0 };

		if (!text_line(lines.at[i], &counters))
			continue;
		add_pass(list, cli, print_text("pmc_%zu", list->n + 1));
		merge(&list->at[list->n - 1].args, "--pmc", &counters);
	}
}

/* One key of a job. Lists of lists become words with blanks (pmc_groups). */
static struct words words_of(const struct node *value)
{
	struct words w = { 0 };

	if (value->kind == SCALAR)
		words_add(&w, value->text);
	for (size_t i = 0; value->kind == LIST && i < value->n; i++) {
		struct words inner = words_of(value->items[i]);

		words_add(&w, words_join(&inner, " "));
	}
	return w;
}

static const struct option_row *row_of_key(const char *key)
{
	char *name = print_text("--%s", key);

	for (char *p = name; *p; p++)
		if (*p == '_')
			*p = '-';
	for (const struct option_row *row = option_tables[sim.release]; row->name; row++)
		if (strcmp(row->name, name) == 0 && !strchr(key, '-'))
			return row;
	return NULL;
}

static void merge_key(struct args *into, const char *key, const struct node *value)
{
	const struct option_row *row = row_of_key(key);
	struct words w = words_of(value);

	if (row && row->nargs == '?') {
		int yes = w.n ? bool_word(w.at[0]) : -1;

		w = (struct words){ 0 };
		words_add(&w, yes == 1 ? "1" : "0");
	}
	if (row)
		merge(into, row->dest, &w);
	else if (begins(key, "pmc_group") && sim.release >= REL_70)
		args_set(into, print_text("%s", key), &w);
}

static void job_passes(struct passes *list, const struct args *cli, const struct node *jobs)
{
	for (size_t i = 0; i < jobs->n; i++) {
		const struct node *job = jobs->items[i];
		bool pmc = tree_get(job, "pmc") != NULL;
		struct pass *p;

		if (jobs->n > 1 && !pmc && sim.release >= REL_713)
			continue;
		p = add_pass(list, cli, NULL);
		if (jobs->n > 1 || pmc)
			p->folder = print_text("pass_%zu", list->n);
		for (size_t k = 0; k < job->n && job->kind == MAP; k++)
			merge_key(&p->args, job->keys[k], job->items[k]);
	}
}

static void file_passes(struct passes *list, const struct args *cli, const char *path)
{
	char *text = read_whole(path, NULL);
	const struct node *tree, *jobs;

	if (ends(path, ".txt") || (sim.release >= REL_713 && ends(path, ".text"))) {
		if (!text)
			python_traceback("rocprofv3", "FileNotFoundError: '%s'", path);
		if (sim.release >= REL_713)
			fputs("[rocprofv3] Warning: text input files are deprecated\n", stderr);
		text_passes(list, cli, text);
		return;
	}
	if (!ends(path, ".yaml") && !ends(path, ".yml") && !ends(path, ".json"))
		v3_fatal(
			"Input file '%s' does not have a recognized extension (.txt, .json, .yaml, .yml)",
			path);
	if (!text)
		python_traceback("rocprofv3", "FileNotFoundError: '%s'", path);
	tree = tree_read(text);
	jobs = tree_get(tree, "jobs");
	if (!jobs || jobs->kind != LIST)
		python_traceback("rocprofv3", "KeyError: 'jobs'");
	job_passes(list, cli, jobs);
}

/* Commas and blanks both part the names on the command line. */
static struct words names_of(const struct words *flag)
{
	struct words names = { 0 };

	for (size_t i = 0; i < flag->n; i++)
		words_split(&names, flag->at[i], ", ");
	return names;
}

/* All groups in one run of the application. */
static void replay_pass(struct passes *list, const struct args *cli)
{
	struct args plain = *cli;
	struct words groups = { 0 };

	if (args_bool(cli, "--kernel-replay-beta-enabled") != 1)
		v3_fatal("kernel replay is a beta: use --kernel-replay-beta-enabled");
	if (!cli->npmc)
		v3_fatal("--replay-mode kernel needs counters");
	if (args_bool(cli, "--advanced-thread-trace") == 1 || args_get(cli, "--spm") ||
	    args_word(cli, "--pc-sampling-method") || args_get(cli, "--collection-period") ||
	    args_get(cli, "--pid"))
		v3_fatal("--replay-mode kernel cannot be combined with this");
	for (size_t i = 0; i < cli->npmc; i++) {
		struct words names = names_of(&cli->pmc_flags[i]);

		if (!names.n)
			v3_fatal("--pmc without counters");
		words_add(&groups, words_join(&names, " "));
	}
	args_set(&plain, "pmc_groups", &groups);
	add_pass(list, &plain, NULL);
}

struct passes v3_passes(const struct args *cli)
{
	bool several = cli->npmc > 1 && sim.release >= REL_713;
	const char *input = args_word(cli, "--input");
	struct passes list = { 0 };
	struct args plain = *cli;
	const char *replay = args_word(cli, "--replay-mode");

	if (replay && strcmp(replay, "kernel") == 0) {
		replay_pass(&list, cli);
		return list;
	}
	if (cli->npmc && !several) {
		struct words names = names_of(&cli->pmc_flags[cli->npmc - 1]);

		args_set(&plain, "--pmc", &names);
	}
	if (input)
		file_passes(&list, &plain, input);
	else if (!several)
		add_pass(&list, &plain, NULL);
	for (size_t i = 0; several && !input && i < cli->npmc; i++) {
		struct words names = names_of(&cli->pmc_flags[i]);
		struct pass *p = add_pass(&list, cli, print_text("pass_%zu", i + 1));

		args_set(&p->args, "--pmc", &names);
	}
	return list;
}
