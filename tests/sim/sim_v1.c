/*
 * sim_v1.c - rocprof, the first: its words, its runs, and rows put together by index alone.
 *
 * The script loses the application's status; it fails itself only where no results were written.
 */
#include "sim_v1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void usage(void)
{
	puts("ROCm Profiling Library (RPL) run script, a part of ROCprofiler library package.\n"
	     "Usage:\n  rocprof [-h] [--list-basic] [--list-derived] [-i <input .txt/.xml file>] "
	     "[-o <output CSV file>] <app command line>");
	exit(1);
}

static void list(bool derived)
{
	for (const struct counter_row *row = counter_rows; row->name; row++)
		if (counter_find(row->name) == row && (strcmp(row->block, "-") == 0) == derived)
			printf("  gpu-agent1 : %s : simulated\n", row->name);
	exit(1);
}

static _Noreturn void wrong(const char *text)
{
	printf("%s\n", text);
	exit(1);
}

static bool on_off(const char *option, const char *word)
{
	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		wrong(print_text("Wrong option '%s %s'", option, word));
	return strcmp(word, "on") == 0;
}

/* Options without a value. */
static bool take_flag(struct v1 *v, const char *word)
{
	const struct {
		const char *name;
		bool *to;
	} flags[] = {
		{ "--stats", &v->stats },       { "--hip-trace", &v->hip },
		{ "--hsa-trace", &v->hsa },     { "--sys-trace", &v->sys },
		{ "--roctx-trace", &v->roctx }, { "--roctx-rename", NULL },
		{ "--parallel-kernels", NULL }, { "--verbose", NULL },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(flags[i].name, word) != 0)
			continue;
		if (flags[i].to)
			*flags[i].to = true;
		return true;
	}
	return false;
}

static bool take_value(struct v1 *v, const char *word, const char *value)
{
	static const char *const ignored[] = { "--tool-version", "-m",
					       "--ctx-limit",    "--heartbeat",
					       "--trace-period", "--flush-rate" };
	static const char *const switches[] = { "--cmd-qts", "--ctx-wait", "--obj-tracking",
						"--trace-start" };

	if (strcmp(word, "-i") == 0)
		v->input = value;
	else if (strcmp(word, "-o") == 0)
		v->output = value;
	else if (strcmp(word, "-d") == 0)
		v->data = value;
	else if (strcmp(word, "-t") == 0)
		v->temporary = value;
	else if (strcmp(word, "--basenames") == 0)
		v->basenames = on_off(word, value);
	else if (strcmp(word, "--timestamp") == 0)
		v->timestamp = on_off(word, value);
	else {
		for (size_t i = 0; i < 6; i++)
			if (strcmp(ignored[i], word) == 0)
				return true;
		for (size_t i = 0; i < 4; i++)
			if (strcmp(switches[i], word) == 0)
				return on_off(word, value), true;
		return false;
	}
	return true;
}

/* Stops at the first word it does not know: the application, unless that begins with a dash. */
static int parse(struct v1 *v, int argc, char **argv)
{
	int i = 1;

	while (i < argc) {
		if (strcmp(argv[i], "-h") == 0)
			usage();
		if (strcmp(argv[i], "--list-basic") == 0 || strcmp(argv[i], "--list-derived") == 0)
			list(strcmp(argv[i], "--list-derived") == 0);
		if (strcmp(argv[i], "--version") == 0) {
			printf("ROCm version: %s\nROCProfiler version: 2.0\n", sim.version);
			exit(0);
		}
		if (take_flag(v, argv[i]))
			i++;
		else if (i + 1 < argc && take_value(v, argv[i], argv[i + 1]))
			i += 2;
		else
			break;
	}
	if (i < argc && argv[i][0] == '-')
		wrong(print_text("Wrong option '%s'", argv[i]));
	if (v->output && !ends(v->output, ".csv"))
		wrong(print_text("Bad output file '%s': it must end in .csv", v->output));
	return i;
}

const char *v1_kernel_name(const struct v1 *v, const struct kernel *k)
{
	if (v->basenames)
		return k->brief;
	return begins(k->mangled, "_Z") ? print_text("%s [clone .kd]", k->name) :
					  print_text("%s.kd", k->name);
}

bool v1_traced(const struct v1 *v, const struct call *c)
{
	return ((v->hip || v->sys) && strcmp(c->domain, "HIP_RUNTIME") == 0) ||
	       ((v->hsa || v->sys) && begins(c->domain, "HSA")) ||
	       ((v->roctx || v->sys) && strcmp(c->domain, "MARKER") == 0);
}

bool v1_wanted(const struct v1 *v, const struct dispatch *d)
{
	long index = (long)d->id - 1;
	bool named = v->kernels.n == 0;

	for (size_t i = 0; i < v->kernels.n; i++)
		named |= strstr(d->kernel->name, v->kernels.at[i]) != NULL;
	return named && index >= v->range_from && (v->range_to < 0 || index < v->range_to);
}

bool v1_by_database(const struct v1 *v)
{
	return v->stats || v->hip || v->hsa || v->sys || v->roctx;
}

bool v1_has_results(const struct v1 *v)
{
	return v->stats || v->hsa || v->input || !v1_by_database(v);
}

/* Asking for HSA activity switches HIP activity off. */
bool v1_has_ops(const struct v1 *v)
{
	return (v->hip || v->sys) && !v->hsa;
}

static size_t column(struct v1_table *t, const char *counter)
{
	for (size_t i = 0; i < t->counters.n; i++)
		if (strcmp(t->counters.at[i], counter) == 0)
			return i;
	words_add(&t->counters, counter);
	return t->counters.n - 1;
}

static void set_value(struct v1_row *row, size_t at, const char *text)
{
	while (row->values.n <= at)
		words_add(&row->values, "None");
	row->values.at[at] = copy_text(text);
}

/* The first run makes the rows; later ones only add columns to the row of the same index. */
static void merge_run(const struct v1 *v, struct v1_table *t, const struct v1_run *run,
		      const struct work *w, bool first)
{
	struct v1_row *last = NULL;

	if (first)
		t->rows = take((w->ndispatches + 1) * sizeof(*t->rows));
	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];
		struct v1_row *row = NULL;

		if (!v1_wanted(v, d))
			continue;
		/* a quote in the name: the line is not understood, its counters go to the one before */
		if (strchr(v1_kernel_name(v, d->kernel), '"')) {
			row = last;
		} else if (first) {
			row = &t->rows[t->n++];
			row->d = d;
		} else {
			for (size_t r = 0; r < t->n && !row; r++)
				if (t->rows[r].d->id == d->id)
					row = &t->rows[r];
		}
		last = row;
		for (size_t c = 0; row && c < run->counters.n && !fault("counters-absent"); c++)
			if (!fault("counters-some-absent") || c % 2 == 0)
				set_value(row, column(t, run->counters.at[c]),
					  print_text("%.10f",
						     counter_value(run->counters.at[c], d->id)));
	}
}

/* Counters it does not know, or too many of a block, end the application at its start. */
static void check_counters(const struct v1_run *run)
{
	const char *block = counters_overflow(&run->counters);

	for (size_t i = 0; i < run->counters.n; i++)
		if (!counter_find(run->counters.at[i]))
			wrong(print_text("ROCProfiler: input metric '%s' is not found\nError found, "
					 "profiling aborted.",
					 run->counters.at[i]));
	if (block)
		wrong(print_text(
			"ROCProfiler: input metrics out of HW limit of block %s\nError found, "
			"profiling aborted.",
			block));
}

static void environment(const struct v1 *v)
{
	struct text domain = { 0 };

	text_add(&domain, "%s%s%s", v->hip || v->sys ? ":hip" : "", v->hsa || v->sys ? ":hsa" : "",
		 v->roctx || v->sys ? ":roctx" : "");
	setenv("ROCP_HSA_INTERCEPT", "1", 1);
	setenv("ROCP_MERGE_PIDS", "1", 1);
	if (domain.len)
		setenv("ROCTRACER_DOMAIN", domain.at, 1);
	if (v->timestamp)
		setenv("ROCP_TIMESTAMP_ON", "1", 1);
	if (v->basenames)
		setenv("ROCP_TRUNCATE_NAMES", "1", 1);
}

static char *stamp(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "%y%m%d_%H%M%S", &tm);
	return copy_text(text);
}

static const char *base_of(const struct v1 *v)
{
	const char *name = v->output ? v->output : v->input ? v->input : "results.csv";
	const char *slash = strrchr(name, '/');
	const char *dot;

	if (!v->output && slash)
		name = slash + 1;
	dot = strrchr(name, '.');
	return print_text("%.*s", (int)(dot ? (size_t)(dot - name) : strlen(name)), name);
}

/* All runs, in the order of their names; false if one left nothing to read. */
static bool run_all(struct v1 *v, char *const *app, struct v1_table *t, struct work *first)
{
	const char *when = stamp();
	const char *session =
		print_text("%s/rpl_data_%s_%d", v->data ? v->data : "", when, (int)getpid());

	for (size_t i = 0; i < v->nruns; i++) {
		struct app_end end;
		struct work w;

		check_counters(&v->runs[i]);
		end = app_run(app);
		app_script_end(&end);
		if (end.exec_errno) {
			fprintf(stderr, "rocprof: %s: command not found\n", app[0]);
			return false;
		}
		if (!app_could_write(&end))
			return false;
		w = work_make(&end, app, v->runs[i].counters.n > 0);
		w.pid = end.pid;
		if (v->data && !fault("no-output"))
			v1_raw_files(v, &v->runs[i], &w,
				     print_text("%s/%s_results_%s", session, v->runs[i].name,
						when));
		merge_run(v, t, &v->runs[i], &w, i == 0);
		if (i == 0)
			*first = w;
	}
	return true;
}

int v1_main(int argc, char **argv)
{
	struct v1 v = { .range_to = -1 };
	struct v1_table table = { 0 };
	struct work work = { 0 };
	int status = 0, app = parse(&v, argc, argv);

	if (access(print_text("%s/bin/rocm_agent_enumerator", sim.root), X_OK) != 0) {
		puts("rocprof: rocm_agent_enumerator is not found, exiting");
		return 0;
	}
	fault_start("rocprof");
	if (app >= argc)
		usage();
	v.timestamp |= v1_by_database(&v);
	v.base = base_of(&v);
	v1_read_input(&v);
	environment(&v);
	printf("RPL: on '%s' from '%s' in '%s'\n", stamp(), sim.root, v.base);
	if (!run_all(&v, argv + app, &table, &work)) {
		puts("Profiling data corrupted");
		return 1;
	}
	if (!fault("no-output"))
		v1_files(&v, &work, &table);
	files_write(NULL);
	fault_end(&status);
	return status;
}
