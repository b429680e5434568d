/* sim_v3_tool.c - what rocprofv3's library does inside the application, from the environment. */
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_v3.h"

static _Noreturn void tool_abort(const char *where, const char *text)
{
	struct app_end end = { .signal = SIGABRT };

	glog('F', where, "%s", text);
	app_leave(&end);
}

/* `NAME:device=N`: N counts the GPUs from 0. */
static const char *on_device(const char *name)
{
	const char *at = strstr(name, ":device=");
	unsigned long long device;

	if (!at)
		return name;
	if (!read_number(at + 8, &device) || device >= sim.gpus)
		return "";
	return print_text("%.*s", (int)(at - name), name);
}

/* One `pmc:` line: what this GPU has of it. */
static struct words counter_line(const char *line)
{
	struct words asked = { 0 }, found = { 0 };

	words_split(&asked, line + (begins(line, "pmc:") ? 4 : 0), " \t");
	if (!asked.n)
		words_add(&asked, "");
	for (size_t i = 0; i < asked.n; i++) {
		const char *name = on_device(asked.at[i]);
		bool lost = fault("counters-absent") ||
			    (fault("counters-some-absent") && i % 2 == 1);

		if (!lost && counter_find(name))
			words_add(&found, name);
		else if (!lost)
			glog('W', "tool.cpp:812", "Unable to find counter: '%s' on agent 1 (%s)",
			     asked.at[i], sim.arch);
	}
	return found;
}

static void read_counters(struct tool *t)
{
	const char *text = getenv("ROCPROF_COUNTER_GROUPS");
	const char *interval = getenv("ROCPROF_COUNTER_GROUPS_INTERVAL");
	struct words lines = { 0 };
	unsigned long long v = 1;

	t->counting = env_on("ROCPROF_COUNTER_COLLECTION");
	if (!text)
		text = getenv("ROCPROF_COUNTERS");
	if (!t->counting || !text)
		return;
	words_split(&lines, text, "\n");
	t->groups = take((lines.n + 1) * sizeof(*t->groups));
	for (size_t i = 0; i < lines.n; i++) {
		const char *block;

		t->groups[t->ngroups++] = counter_line(lines.at[i]);
		block = counters_overflow(&t->groups[i]);
		if (block)
			tool_abort("tool.cpp:901",
				   print_text("Request exceeds the capabilities of the hardware to"
					      " collect: too many counters of block %s",
					      block));
	}
	if (interval && read_number(interval, &v) && v == 0)
		v = 1;
	t->interval = (size_t)v;
}

static void read_formats(struct tool *t)
{
	const char *text = getenv("ROCPROF_OUTPUT_FORMAT");
	struct words known = { 0 };

	words_split(&known, "csv json pftrace otf2", " ");
	if (sim.release >= REL_70)
		words_add(&known, "rocpd");
	words_split(&t->formats, text ? text : "", ", ");
	if (!t->formats.n)
		words_add(&t->formats, sim.release < REL_70 ? "csv" : "rocpd");
	for (size_t i = 0; i < t->formats.n; i++)
		if (!words_have(&known, t->formats.at[i]))
			tool_abort("config.cpp:210",
				   print_text("Unsupported output format type: %s",
					      t->formats.at[i]));
}

/* What no GPU can do ends the application when it starts. */
static void read_sampling(struct tool *t)
{
	const char *unit = getenv("ROCPROF_PC_SAMPLING_UNIT");
	bool stochastic;

	t->sampling = getenv("ROCPROF_PC_SAMPLING_METHOD");
	if (!t->sampling)
		return;
	stochastic = strcmp(t->sampling, "stochastic") == 0;
	if (begins(sim.arch, "gfx9") && unit && strcmp(unit, stochastic ? "cycles" : "time") == 0 &&
	    (!stochastic || (sim.release >= REL_70 && strcmp(sim.arch, "gfx942") == 0)))
		return;
	glog('E', "tool.cpp:1502",
	     "PC sampling configuration is not supported on any of the agents");
	exit(1);
}

/* The few forms of ECMAScript that POSIX spells otherwise. */
static char *posix(const char *pattern)
{
	struct text t = { 0 };

	text_bytes(&t, "", 0);
	for (; *pattern; pattern++) {
		if (begins(pattern, "(?:")) {
			text_bytes(&t, "(", 1);
			pattern += 2;
		} else if (begins(pattern, "\\d")) {
			text_add(&t, "[0-9]");
			pattern++;
		} else {
			text_bytes(&t, pattern, 1);
		}
	}
	return t.at;
}

static bool bad_regex(const char *pattern)
{
	regex_t re;

	if (!pattern || !*pattern)
		return false;
	if (regcomp(&re, posix(pattern), REG_EXTENDED | REG_NOSUB) != 0)
		return true;
	regfree(&re);
	return false;
}

static struct tool tool_read(void)
{
	struct tool t = {
		.hip_runtime = env_on("ROCPROF_HIP_RUNTIME_API_TRACE"),
		.hip_compiler = env_on("ROCPROF_HIP_COMPILER_API_TRACE"),
		.hsa_core = env_on("ROCPROF_HSA_CORE_API_TRACE"),
		.hsa_amd = env_on("ROCPROF_HSA_AMD_EXT_API_TRACE"),
		.marker = env_on("ROCPROF_MARKER_API_TRACE"),
		.rccl = env_on("ROCPROF_RCCL_API_TRACE"),
		.kernel = env_on("ROCPROF_KERNEL_TRACE"),
		.replay = env_on("ROCPROF_KERNEL_REPLAY"),
		.copy = env_on("ROCPROF_MEMORY_COPY_TRACE"),
		.alloc = env_on("ROCPROF_MEMORY_ALLOCATION_TRACE"),
		.scratch = env_on("ROCPROF_SCRATCH_MEMORY_TRACE"),
		.stats = env_on("ROCPROF_STATS"),
		.summary = env_on("ROCPROF_STATS_SUMMARY") ||
			   env_on("ROCPROF_STATS_SUMMARY_PER_DOMAIN"),
		.truncated = env_on("ROCPROF_TRUNCATE_KERNELS"),
		.agents = getenv("ROCPROF_AGENT_INDEX"),
	};
	const char *demangle = getenv("ROCPROF_DEMANGLE_KERNELS");

	t.mangled = demangle && strcmp(demangle, "0") == 0;
	if (bad_regex(getenv("ROCPROF_KERNEL_FILTER_INCLUDE_REGEX")) ||
	    bad_regex(getenv("ROCPROF_KERNEL_FILTER_EXCLUDE_REGEX")))
		tool_abort("tool.cpp:640", "regex_error: bad kernel filter");
	read_formats(&t);
	read_sampling(&t);
	read_counters(&t);
	return t;
}

static bool matches(const char *variable, const char *name, bool otherwise)
{
	const char *pattern = getenv(variable);
	regex_t re;
	bool yes;

	if (!pattern || !*pattern || regcomp(&re, posix(pattern), REG_EXTENDED | REG_NOSUB) != 0)
		return otherwise;
	yes = regexec(&re, name, 0, NULL, 0) == 0;
	regfree(&re);
	return yes;
}

/* `[1,3,[8-12]]`: brackets, commas and blanks all part numbers and ranges. */
static bool in_range(unsigned iteration)
{
	const char *text = getenv("ROCPROF_KERNEL_FILTER_RANGE");
	struct words parts = { 0 };

	if (!text)
		return true;
	words_split(&parts, text, "[], ");
	for (size_t i = 0; i < parts.n; i++) {
		unsigned from, to;
		int n = sscanf(parts.at[i], "%u-%u", &from, &to);

		if ((n == 1 && iteration == from) ||
		    (n == 2 && iteration >= from && iteration <= to))
			return true;
	}
	return false;
}

bool tool_counts(const struct tool *t, const struct work *w, size_t dispatch,
		 const struct words **ret_counters)
{
	const struct dispatch *d = &w->dispatches[dispatch];
	const char *name = tool_kernel_name(t, d->kernel);
	bool ranged = getenv("ROCPROF_KERNEL_FILTER_RANGE") != NULL;
	unsigned iteration = 0;

	if (!t->ngroups)
		return false;
	for (size_t i = 0; ranged && i < w->ndispatches; i++)
		iteration += w->dispatches[i].kernel == d->kernel && w->dispatches[i].id <= d->id;
	*ret_counters = &t->groups[(d->id - 1) / t->interval % t->ngroups];
	return (*ret_counters)->n && in_range(iteration) &&
	       matches("ROCPROF_KERNEL_FILTER_INCLUDE_REGEX", name, true) &&
	       !matches("ROCPROF_KERNEL_FILTER_EXCLUDE_REGEX", name, false);
}

const char *tool_kernel_name(const struct tool *t, const struct kernel *k)
{
	if (t->mangled)
		return print_text("%s.kd", k->mangled);
	return t->truncated ? k->brief : k->name;
}

bool tool_wants_call(const struct tool *t, const struct call *c)
{
	return (t->hip_runtime && strcmp(c->domain, "HIP_RUNTIME") == 0) ||
	       (t->hip_compiler && strcmp(c->domain, "HIP_COMPILER") == 0) ||
	       (t->hsa_core && strcmp(c->domain, "HSA_CORE") == 0) ||
	       (t->hsa_amd && strcmp(c->domain, "HSA_AMD_EXT") == 0) ||
	       (t->marker && strcmp(c->domain, "MARKER") == 0) ||
	       (t->rccl && strcmp(c->domain, "RCCL") == 0);
}

char *tool_agent(const struct tool *t, unsigned node)
{
	if (sim.release < REL_70)
		return print_text("%u", node);
	if (t->agents && strcmp(t->agents, "type-relative") == 0)
		return print_text("\"%s %u\"", node ? "GPU" : "CPU", node ? node - 1 : 0);
	return print_text("\"Agent %u\"", node);
}

char *tool_domain(const struct call *c)
{
	if (strcmp(c->domain, "MARKER") == 0)
		return copy_text(sim.release < REL_70 ? "MARKER_CORE_API" :
							"MARKER_CORE_RANGE_API");
	return print_text("%s_API%s", c->domain,
			  sim.release >= REL_70 && begins(c->domain, "HIP") ? "_EXT" : "");
}

/* A UUID of version 7 in form, of the process in content. */
const char *tool_guid(const struct work *w)
{
	return print_text("%08x-%04x-7%03x-8%03x-%012llx", (unsigned)w->ppid,
			  (unsigned)w->pid & 0xffffu, (unsigned)w->pid >> 16 & 0xfffu,
			  (unsigned)(w->start >> 48) & 0xfffu,
			  (unsigned long long)w->start & 0xffffffffffffu);
}

static bool has_data(const struct tool *t, const struct work *w)
{
	const struct words *counters;

	if ((t->kernel && w->ndispatches) || t->copy || t->alloc || t->scratch)
		return true;
	for (size_t i = 0; i < w->ncalls; i++)
		if (tool_wants_call(t, &w->calls[i]))
			return true;
	for (size_t i = 0; i < w->ndispatches; i++)
		if (tool_counts(t, w, i, &counters))
			return true;
	return t->sampling && w->ndispatches;
}

static const char *guid;

static void opened(const char *path)
{
	bool db = ends(path, ".db");

	glog('E', db ? "generateRocpd.cpp:605" : "output_stream.cpp:111",
	     "Opened result file: %s%s", path, db ? print_text(" (UUID=%s)", guid) : "");
}

static void put_summary(const struct tool *t, const struct work *w)
{
	const char *to = getenv("ROCPROF_STATS_SUMMARY_OUTPUT");
	struct text console = { 0 };

	if (!t->summary)
		return;
	if (to && strcmp(to, "stdout") != 0 && strcmp(to, "stderr") != 0) {
		summary_text(file_new(print_text("%s_%s.txt", t->base, to)), t, w);
		return;
	}
	/* both names mean the standard output */
	summary_text(&console, t, w);
	fputs(console.at, stdout);
}

/* The files of this process. */
static void record(struct tool *t, const struct app_end *end, char *const *argv)
{
	struct work w = work_make(end, argv, t->counting);
	const char *path = getenv("ROCPROF_OUTPUT_PATH");
	const char *prefix = getenv("ROCPROF_OUTPUT_FILE_NAME");
	const char *least = getenv("ROCPROF_MINIMUM_OUTPUT_BYTES");
	unsigned long long bytes = 0;

	t->base = print_text("%s/%s", expand_keys(path && *path ? path : ".", argv),
			     expand_keys(prefix && *prefix ? prefix : "%hostname%/%pid%", argv));
	guid = tool_guid(&w);
	if (!has_data(t, &w) || fault("no-output"))
		return;
	if (words_have(&t->formats, "csv"))
		csv_files(t, &w);
	if (words_have(&t->formats, "csv") && t->stats)
		csv_stats_files(t, &w);
	if (words_have(&t->formats, "json"))
		json_file(t, &w);
	if (words_have(&t->formats, "pftrace"))
		pftrace_file(t, &w);
	if (words_have(&t->formats, "rocpd"))
		rocpd_file(t, &w);
	if (words_have(&t->formats, "otf2"))
		text_add(file_new(print_text("%s_results.otf2", t->base)),
			 "[OTF2]\nversion=3.0\nnumber_of_locations=1\n");
	put_summary(t, &w);
	if (env_on("ROCPROF_OUTPUT_CONFIG_FILE"))
		text_add(file_new(print_text("%s_config.json", t->base)),
			 "{\"rocprofiler-sdk-tool\":{\"output_path\":\"%s\"}}\n", path);
	if (!least || !read_number(least, &bytes) || files_bytes() >= bytes)
		files_write(opened);
	if (words_have(&t->formats, "rocpd") && rocpd_breaks(t, &w))
		tool_abort("sql.cpp:88", "sqlite3_exec failed: near \"s\": syntax error");
}

/* Workers of a launcher, one process each. */
static void record_workers(struct tool *t, const struct app_end *end, char *const *argv)
{
	unsigned n = sim.ranks ? sim.ranks : 2;

	for (unsigned i = 0; i < n; i++) {
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			if (sim.ranks) {
				setenv("RANK", print_text("%u", i), 1);
				setenv("LOCAL_RANK", print_text("%u", i), 1);
				setenv("WORLD_SIZE", print_text("%u", n), 1);
				setenv("LOCAL_WORLD_SIZE", print_text("%u", n), 1);
			}
			record(t, end, argv);
			fflush(NULL);
			_exit(0);
		}
		while (waitpid(pid, NULL, 0) < 0)
			;
	}
}

static void never_ends(int sig)
{
	(void)sig;
	for (;;)
		pause();
}

/* The handler waits for a lock that its own thread has. */
static _Noreturn void hang_in_handler(int sig)
{
	signal(sig, never_ends);
	raise(sig);
	exit(120);
}

/*
 * The files records are kept in while the application runs, in the working directory whatever -d
 * says. A killed application leaves them behind, and counters always do.
 */
static const char *spool_begin(const struct tool *t, char *const *argv)
{
	const char *folder = getenv("ROCPROF_TMPDIR");
	const char *path;
	int fd;

	folder = print_text("%s/.rocprofv3", expand_keys(folder && *folder ? folder : ".", argv));
	mkdir(folder, 0777);
	path = print_text("%s/%d-%d-%s.dat", folder, (int)getppid(), (int)getpid(),
			  t->counting ? "counter_values" : "kernel_dispatch");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, "\1\0\0\0", 4) != 4) {
		glog('F', "tmp_file.cpp:61", "Error opening temporary file: %s", path);
		hang_in_handler(SIGABRT);
	}
	close(fd);
	return path;
}

static void spool_end(const char *path)
{
	char *folder = copy_text(path);

	if (!strstr(path, "counter_values"))
		unlink(path);
	*strrchr(folder, '/') = '\0';
	rmdir(folder);
}

/* A large trace takes long to write. */
static void write_slowly(void)
{
	const char *path = print_text("%s/part", getenv("ROCPROF_OUTPUT_PATH"));
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	char block[4096] = { 0 };

	for (int i = 0; i < 24 && write(fd, block, sizeof(block)) > 0; i++)
		usleep(500000);
	close(fd);
	unlink(path);
}

void tool_run(char *const *argv)
{
	struct tool t = tool_read();
	const char *spool = t.kernel || t.counting ? spool_begin(&t, argv) : NULL;
	struct app_end end = app_run(argv);

	if (end.exec_errno) {
		if (spool)
			spool_end(spool);
		v3_not_started(argv, end.exec_errno);
	}
	if (end.signal == SIGSEGV && fault("hang-after-crash"))
		hang_in_handler(SIGSEGV);
	if (app_could_write(&end)) {
		if (fault("slow-write"))
			write_slowly();
		if (sim.ranks || fault("same-name"))
			record_workers(&t, &end, argv);
		else
			record(&t, &end, argv);
		if (spool)
			spool_end(spool);
		fault_end(&end.status);
	}
	app_leave(&end);
}
