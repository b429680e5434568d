/* sim_v1_input.c - rocprof's input files: text with pmc, range, gpu and kernel lines, and XML. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_v1.h"

static void add_run(struct v1 *v, const char *name, const char *counters)
{
	struct v1_run *more = take((v->nruns + 1) * sizeof(*more));

	if (v->nruns)
		memcpy(more, v->runs, v->nruns * sizeof(*more));
	v->runs = more;
	v->runs[v->nruns].name = name;
	words_split(&v->runs[v->nruns++].counters, counters, " ,\t\r");
}

/* `3:9`, `3:` or `3`. */
static void set_range(struct v1 *v, const char *text)
{
	long from = 0, to = -1;
	int n = sscanf(text, " %ld : %ld", &from, &to);

	v->range_from = from;
	v->range_to = n == 2 ? to : strchr(text, ':') ? -1 : from + 1;
}

/* `key :` with blanks before the colon; the length of the key, or 0. */
static size_t key_of(const char *line, const char **ret_value)
{
	size_t len = strcspn(line, " :\t");
	size_t colon = len + strspn(line + len, " \t");

	if (line[colon] != ':')
		return 0;
	*ret_value = line + colon + 1;
	return len;
}

static bool is(const char *line, size_t len, const char *key)
{
	return len == strlen(key) && strncmp(line, key, len) == 0;
}

static void read_text(struct v1 *v, const char *text)
{
	struct words lines = { 0 };
	unsigned number = 0;

	words_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		char *line = lines.at[i] + strspn(lines.at[i], " \t");
		const char *value;
		size_t len;

		line[strcspn(line, "#")] = '\0';
		if (!*line)
			continue;
		len = key_of(line, &value);
		if (is(line, len, "range")) {
			set_range(v, value);
		} else if (is(line, len, "kernel")) {
			v->kernels = (struct words){ 0 };
			words_split(&v->kernels, value, " ,\t\r");
		} else if (is(line, len, "pmc") || is(line, len, "hip") || is(line, len, "hsa")) {
			add_run(v, print_text("input%u", number),
				is(line, len, "pmc") ? value : "");
		}
		number++;
	}
}

/* <metric name=A,B ></metric>: one run with all names. */
static void read_xml(struct v1 *v, const char *text)
{
	struct text all = { 0 };

	text_bytes(&all, "", 0);
	for (text = strstr(text, "name="); text; text = strstr(text, "name=")) {
		text += 5;
		text += *text == '"';
		text_add(&all, " %.*s", (int)strcspn(text, "\"> "), text);
	}
	add_run(v, "input0", all.at);
}

/* input10 comes before input2, as ls lists them. */
static int by_name(const void *a, const void *b)
{
	const struct v1_run *x = a, *y = b;

	return strcmp(print_text("%s.xml", x->name), print_text("%s.xml", y->name));
}

void v1_read_input(struct v1 *v)
{
	char *text;

	if (!v->input) {
		add_run(v, "input", "");
		return;
	}
	text = read_whole(v->input, NULL);
	if (!text || (!ends(v->input, ".txt") && !ends(v->input, ".xml"))) {
		printf("Bad input file '%s'\n", v->input);
		exit(1);
	}
	if (ends(v->input, ".xml"))
		read_xml(v, text);
	else
		read_text(v, text);
	if (!v->nruns) {
		printf("Input file '%s' asks for nothing\n", v->input);
		exit(1);
	}
	qsort(v->runs, v->nruns, sizeof(*v->runs), by_name);
}
