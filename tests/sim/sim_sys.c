/* sim_sys.c - rocprof-sys-run and rocprof-sys-sample: a trace, a wall clock, the metadata. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim_rocpd.h"

/* Options of both; `sample` only of the sampler. The number is how many words follow at most. */
static const struct {
	const char *name, *letter;
	int words;
	bool sample;
	const char *variable; /* set to the word, or to true */
} options[] = {
	{ "--config", "-c", 1, false, "ROCPROFSYS_CONFIG_FILE" },
	{ "--output", "-o", 2, false, "ROCPROFSYS_OUTPUT_PATH" },
	{ "--trace", "-T", 0, false, "ROCPROFSYS_TRACE" },
	{ "--profile", "-P", 0, false, "ROCPROFSYS_PROFILE" },
	{ "--sample", "-S", 0, false, "ROCPROFSYS_USE_SAMPLING" },
	{ "--host", "-H", 0, false, "ROCPROFSYS_USE_PROCESS_SAMPLING" },
	{ "--device", "-D", 0, false, "ROCPROFSYS_USE_PROCESS_SAMPLING" },
	{ "--trace-buffer-size", "", 1, false, "ROCPROFSYS_PERFETTO_BUFFER_SIZE_KB" },
	{ "--profile-format", "", 1, false, "ROCPROFSYS_PROFILE_FORMAT" },
	{ "--freq", "-f", 1, true, "ROCPROFSYS_SAMPLING_FREQ" },
	{ "--wait", "-w", 1, true, "ROCPROFSYS_SAMPLING_DELAY" },
	{ "--duration", "-d", 1, true, "ROCPROFSYS_SAMPLING_DURATION" },
	{ "--gpus", "", 1, true, "ROCPROFSYS_SAMPLING_GPUS" },
	{ "--cputime", "", 1, true, "ROCPROFSYS_SAMPLING_CPUTIME" },
	{ "--realtime", "", 1, true, "ROCPROFSYS_SAMPLING_REALTIME" },
};
#define OPTIONS (sizeof(options) / sizeof(options[0]))

static _Noreturn void wrong(const char *text, const char *word)
{
	fprintf(stderr, "[rocprof-sys][error] %s: %s\n", text, word);
	exit(1);
}

static size_t option_of(const char *word)
{
	bool sampler = strcmp(sim.tool, "rocprof-sys-sample") == 0;
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < OPTIONS; i++)
		if ((strcmp(options[i].letter, word) == 0 ||
		     (strlen(options[i].name) == len && strncmp(options[i].name, word, len) == 0)) &&
		    (sampler || !options[i].sample))
			return i;
	wrong("unknown option", word);
}

/* Returns the index of the application. */
static int parse(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0) {
		size_t o = option_of(argv[i]);
		const char *value = strchr(argv[i], '=');
		int n = 0;

		if (argv[i][0] != '-')
			wrong("unexpected word", argv[i]);
		i++;
		if (value)
			value++;
		while (!value && i < argc && n < options[o].words && argv[i][0] != '-') {
			if (n == 1)
				setenv("ROCPROFSYS_OUTPUT_PREFIX", argv[i], 1);
			else
				setenv(options[o].variable, argv[i], 1);
			n++;
			i++;
		}
		if (options[o].words && !n && !value)
			wrong("option needs a value", options[o].name);
		if (value || !options[o].words)
			setenv(options[o].variable, value ? value : "true", 1);
	}
	if (i + 1 >= argc)
		wrong("no application", "usage: rocprof-sys-run [options] -- <CMD> <ARGS>");
	return i + 1;
}

static bool on(const char *name, bool otherwise)
{
	const char *v = getenv(name);

	return v && *v ? bool_word(v) == 1 : otherwise;
}

static const char *folder_of(char *const *app)
{
	const char *path = getenv("ROCPROFSYS_OUTPUT_PATH");
	const char *exe = strrchr(app[0], '/') ? strrchr(app[0], '/') + 1 : app[0];
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	path = path && *path ? expand_keys(path, app) : print_text("rocprof-sys-%s-output", exe);
	if (!on("ROCPROFSYS_TIME_OUTPUT", true))
		return path;
	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d_%H.%M", &tm);
	return print_text("%s/%s", path, stamp);
}

static void wall_clock(struct text *out, const struct work *w)
{
	text_add(out, "|----------------|-------|------------|---------|----------|\n"
		      "| LABEL          | COUNT | METRIC     | UNITS   | SUM      |\n");
	for (size_t i = 0; i < w->ndispatches; i++)
		text_add(out, "| |0>>> %s | 1 | wall_clock | sec | %.6f |\n",
			 w->dispatches[i].kernel->brief,
			 (double)(w->dispatches[i].end - w->dispatches[i].start) / 1e9);
}

static void record(const struct work *w, const char *folder)
{
	const char *prefix = getenv("ROCPROFSYS_OUTPUT_PREFIX");
	const char *base = print_text("%s/%s", folder, prefix ? prefix : "");
	struct tool t = { .kernel = true, .copy = true, .hip_runtime = true };
	struct words files = { 0 };

	if (on("ROCPROFSYS_TRACE", true)) {
		t.base = print_text("%sperfetto-trace-%d", base, (int)w->pid);
		words_add(&files, print_text("%s.proto", t.base));
		pftrace_named(file_new(files.at[0]), &t, w);
	}
	if (on("ROCPROFSYS_PROFILE", true)) {
		words_add(&files, print_text("%swall_clock.txt", base));
		wall_clock(file_new(files.at[files.n - 1]), w);
	}
	if (on("ROCPROFSYS_USE_ROCPD", false) && sim.release >= REL_70) {
		words_add(&files, print_text("%srocpd-%d.db", base, (int)w->pid));
		rocpd_write(files.at[files.n - 1], &t, w);
	}
	text_add(file_new(print_text("%smetadata-%d.json", base, (int)w->pid)),
		 "{\"rocprofiler-systems\":{\"metadata\":{\"info\":{\"PID\":%d},\"output\":"
		 "{\"text\":[\"%s\"]}}}}\n",
		 (int)w->pid, words_join(&files, "\",\""));
}

int sys_main(int argc, char **argv)
{
	struct app_end end;
	struct work w;
	char *const *app;
	int i;

	if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		printf("rocprof-sys %s\n", sim.version);
		return 0;
	}
	i = parse(argc, argv);
	app = argv + i;
	fault_start(sim.tool);
	end = app_run(app);
	if (end.exec_errno)
		wrong(strerror(end.exec_errno), app[0]);
	if (app_could_write(&end)) {
		for (unsigned r = 0; r < (sim.ranks ? sim.ranks : 1); r++) {
			w = work_of_worker(&end, app, false, r);
			if (!fault("no-output"))
				record(&w, folder_of(app));
		}
		files_write(NULL);
		fault_end(&end.status);
	}
	app_leave(&end);
}
