/* options.c - see options.h. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "rockit/monitor.h"
#include "say.h"

static const char *const color_words[] = { "auto", "always", "never", NULL };

static const struct rk_opt common[] = {
	{ "quiet", 'q', NULL, "no warnings and no progress", RK_OPT_FLAG,
	  offsetof(struct rk_common, quiet) },
	{ "verbose", 'v', NULL, "print more details", RK_OPT_FLAG,
	  offsetof(struct rk_common, verbose) },
	{ "color", 0, "WHEN", "auto, always or never; NO_COLOR is honoured", RK_OPT_CHOICE,
	  offsetof(struct rk_common, color), color_words },
	{ "threads", 0, "N", "threads to use (default: one per CPU, at most 16)", RK_OPT_NUMBER,
	  offsetof(struct rk_common, threads) },
	{ "tmpdir", 0, "DIR", "directory for temporary files (default: $TMPDIR or /tmp)",
	  RK_OPT_TEXT, offsetof(struct rk_common, tmpdir) },
	{ "help", 'h', NULL, "print this help", RK_OPT_FLAG, offsetof(struct rk_common, help) },
	{ NULL },
};

enum { MAX_OPTIONS = 64, MAX_WORD = 63 };

const struct rk_opt *rk_option_at(const struct rk_command *cmd, size_t i)
{
	const struct rk_opt *o = cmd->options;

	for (; o && o->name; o++)
		if (i-- == 0)
			return o;
	for (o = common; o->name; o++) {
		bool heavy = o->offset == offsetof(struct rk_common, threads) ||
			     o->offset == offsetof(struct rk_common, tmpdir);
		bool taken = o->letter == 'h' || (!cmd->plain && !(cmd->light && heavy));

		if (taken && i-- == 0)
			return o;
	}
	return NULL;
}

static int unknown_long(const struct rk_command *cmd, const char *name)
{
	const char *words[MAX_OPTIONS + 1], *near;
	size_t n = 0;

	for (const struct rk_foreign *f = cmd->foreign; f && f->name; f++)
		if (!strcmp(f->name, name))
			return say_misuse(cmd->name,
					  "unknown option '--%s'; in rockit, rocprof's --%s is %s",
					  name, name, f->here);
	for (const struct rk_opt *o; n < MAX_OPTIONS && (o = rk_option_at(cmd, n)) != NULL; n++)
		words[n] = o->name;
	words[n] = NULL;
	near = rk_nearest(name, words);
	if (near)
		return say_misuse(cmd->name, "unknown option '--%s'; did you mean '--%s'?", name,
				  near);
	return say_misuse(cmd->name, "unknown option '--%s'; see 'rockit %s --help'", name,
			  cmd->name);
}

/* Digits, then perhaps a unit of `kind`. Returns NULL, or what the option takes instead. */
static const char *read_number(enum rk_opt_kind kind, const char *text, uint64_t *ret)
{
	static const struct {
		enum rk_opt_kind kind;
		char unit;
		uint64_t times;
	} units[] = {
		{ RK_OPT_SECONDS, 's', 1 },     { RK_OPT_SECONDS, 'm', 60 },
		{ RK_OPT_SECONDS, 'h', 3600 },  { RK_OPT_BYTES, 'K', 1 << 10 },
		{ RK_OPT_BYTES, 'M', 1 << 20 }, { RK_OPT_BYTES, 'G', 1 << 30 },
	};
	uint64_t v = 0, times = 1;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && v <= RK_OPT_NUMBER_MAX; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && p > text; i++) {
		if (units[i].kind != kind || units[i].unit != *p)
			continue;
		times = units[i].times;
		p++;
		break;
	}
	*ret = v * times;
	if (p > text && !*p && v <= RK_OPT_NUMBER_MAX)
		return NULL;
	if (kind == RK_OPT_SECONDS)
		return "seconds, such as 60, 60s or 5m";
	return kind == RK_OPT_BYTES ? "a size, such as 512M or 2G" : "a number";
}

/* Returns -1, or says why the value is wrong and returns the exit status. */
static int store(const struct rk_command *cmd, const struct rk_opt *o, void *settings,
		 const char *value)
{
	void *at = (char *)settings + o->offset;
	const char *takes;
	char known[256] = "";
	uint64_t v = 0;
	size_t len = 0;

	switch (o->kind) {
	case RK_OPT_FLAG:
		*(bool *)at = true;
		break;
	case RK_OPT_TEXT:
		if (o->once && *(const char **)at && strcmp(*(const char **)at, value))
			return say_misuse(cmd->name, "option '--%s' was given twice: '%s' and '%s'",
					  o->name, *(const char **)at, value);
		*(const char **)at = value;
		break;
	case RK_OPT_NUMBER:
	case RK_OPT_SECONDS:
	case RK_OPT_BYTES:
		takes = read_number(o->kind, value, &v);
		if (takes)
			return say_misuse(cmd->name, "option '--%s' takes %s, not '%s'", o->name,
					  takes, value);
		*(uint64_t *)at = v;
		break;
	case RK_OPT_CHOICE:
		for (int i = 0; o->choices[i]; i++) {
			if (strcmp(o->choices[i], value) == 0) {
				*(int *)at = i;
				return -1;
			}
			if (len < sizeof(known))
				len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
							i ? ", " : "", o->choices[i]);
		}
		return say_misuse(cmd->name, "option '--%s' takes one of %s, not '%s'", o->name,
				  known, value);
	}
	return -1;
}

struct arguments {
	char **argv;
	int argc, next;
};

/* "--name", "--name=value" or "--name value"; `text` is what follows the dashes. */
static int parse_long(const struct rk_command *cmd, void *settings, const char *text,
		      struct arguments *args)
{
	const char *equals = strchr(text, '='), *value = equals ? equals + 1 : NULL;
	size_t len = equals ? (size_t)(equals - text) : strlen(text), i = 0;
	const struct rk_opt *o;
	char name[MAX_WORD + 1];

	while ((o = rk_option_at(cmd, i++)) != NULL)
		if (strlen(o->name) == len && memcmp(o->name, text, len) == 0)
			break;
	if (!o) {
		snprintf(name, sizeof(name), "%.*s", (int)(len < MAX_WORD ? len : MAX_WORD), text);
		return unknown_long(cmd, name);
	}
	if (o->kind == RK_OPT_FLAG && value)
		return say_misuse(cmd->name, "option '--%s' takes no argument", o->name);
	if (o->kind != RK_OPT_FLAG && !value) {
		if (args->next == args->argc)
			return say_misuse(cmd->name, "option '--%s' needs an argument %s", o->name,
					  o->arg);
		value = args->argv[args->next++];
	}
	return store(cmd, o, settings, value);
}

/* "-qv", "-o value" or "-ovalue"; `text` is what follows the dash. */
static int parse_letters(const struct rk_command *cmd, void *settings, const char *text,
			 struct arguments *args)
{
	for (; *text; text++) {
		const struct rk_opt *o;
		const char *value = NULL;
		size_t i = 0;

		while ((o = rk_option_at(cmd, i++)) != NULL)
			if (o->letter == *text)
				break;
		if (!o)
			return say_misuse(cmd->name, "unknown option '-%c'; see 'rockit %s --help'",
					  *text, cmd->name);
		if (o->kind == RK_OPT_FLAG) {
			store(cmd, o, settings, NULL);
			continue;
		}
		if (text[1])
			value = text + 1;
		else if (args->next < args->argc)
			value = args->argv[args->next++];
		else
			return say_misuse(cmd->name, "option '-%c' needs an argument %s", *text,
					  o->arg);
		return store(cmd, o, settings, value);
	}
	return -1;
}

int rk_options_parse(const struct rk_command *cmd, void *settings, int argc, char **argv,
		     int *ret_operands)
{
	struct arguments args = { .argv = argv, .argc = argc, .next = 1 };
	bool ended = false;
	int n = 0;

	while (args.next < argc) {
		char *word = argv[args.next++];
		int rc = -1;

		if (ended || word[0] != '-' || word[1] == '\0') {
			argv[n++] = word;
			if (cmd->program && !ended) {
				/*
				 * A program without "--" before it. If a "--" follows later, it is
				 * unclear which of the words before it are ours.
				 */
				for (int i = args.next; i < argc; i++)
					if (strcmp(argv[i], "--") == 0)
						return say_misuse(cmd->name,
								  "unexpected argument '%s'; put "
								  "'--' before the program",
								  argv[0]);
				ended = true;
			}
		} else if (strcmp(word, "--") == 0) {
			ended = true;
		} else if (word[1] == '-') {
			rc = parse_long(cmd, settings, word + 2, &args);
		} else {
			rc = parse_letters(cmd, settings, word + 1, &args);
		}
		if (rc >= 0)
			return rc;
		if (((const struct rk_common *)settings)->help) {
			rk_command_help(cmd);
			return EXIT_DONE;
		}
	}
	*ret_operands = n;
	return -1;
}

void rk_options_help(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	puts("options:");
	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++) {
		char letter[] = "   ", left[64];

		if (o->letter)
			snprintf(letter, sizeof(letter), "-%c,", o->letter);
		if (o->arg)
			snprintf(left, sizeof(left), "%s --%s %s", letter, o->name, o->arg);
		else
			snprintf(left, sizeof(left), "%s --%s", letter, o->name);
		if (strlen(left) > 24) /* the help starts on the next line */
			printf("  %s\n  %-24s %s\n", left, "", o->help);
		else
			printf("  %-24s %s\n", left, o->help);
	}
}

void rk_options_words(const struct rk_command *cmd, const char *before)
{
	const struct rk_opt *o = NULL;
	const char *word;

	for (size_t i = 0; before && before[0] == '-' && (o = rk_option_at(cmd, i)) != NULL; i++)
		if ((before[1] == '-' && !strcmp(before + 2, o->name)) ||
		    (o->letter && before[1] == o->letter && !before[2]))
			break;
	if (o && o->kind != RK_OPT_FLAG) {
		for (size_t i = 0; o->choices && o->choices[i]; i++)
			puts(o->choices[i]);
		for (size_t i = 0; o->word && (word = o->word(i)) != NULL; i++)
			puts(word);
		return;
	}
	for (size_t i = 0; cmd->word && (word = cmd->word(i)) != NULL; i++)
		puts(word);
	for (size_t i = 0; cmd->verbs && cmd->verbs[i]; i++)
		printf("%s\t%s\n", rk_verb_word(cmd->verbs[i]), cmd->verbs[i]->summary);
	for (size_t i = 0; !cmd->verbs && (o = rk_option_at(cmd, i)) != NULL; i++) {
		printf("--%s\t%s\n", o->name, o->help);
		if (o->letter)
			printf("-%c\t%s\n", o->letter, o->help);
	}
}

/* ---- what shells offer ---- */

const char *const rk_offer_traces[] = { "hip",   "hsa",      "kernel",  "memcpy",    "marker",
					"rccl",  "scratch",  "alloc",   "kfd",       "ompt",
					"graph", "rocshmem", "hipfile", "rocdecode", "rocjpeg",
					"sys",   NULL };

const char *const rk_offer_libraries[] = { "rocblas", "hipblaslt", "miopen", "rccl", "none", NULL };

const char *const rk_offer_counters[] = { "compute_bound",
					  "memory_bound",
					  "communication_bound",
					  "full_profile",
					  "instruction_mix",
					  "@instructions",
					  "@waves",
					  "@memory",
					  "@cache",
					  "@compute_unit",
					  "@lds",
					  "@stalls",
					  "@limits",
					  "@flops",
					  "@resources",
					  NULL };

const char *const rk_offer_groups[] = { "time",     "launch", "occupancy", "waves", "mix",
					"scratch",  "pipes",  "latency",   "stall", "flops",
					"roofline", "lds",    "l1",        "sl1d",  "l1i",
					"gl1",      "l2",     "fabric",    "hbm",   "dram",
					"comm",     "atomic", "scheduler", NULL };

const char *const rk_offer_triggers[] = { "signal", "crash", "slow-step:20%", "gap:100ms", NULL };

bool rk_sample_parse(const char *verb, const char *text, uint64_t *ret)
{
	*ret = 0;
	if (!text || (!strncmp(text, "1/", 2) && text[2] != '0' &&
		      !read_number(RK_OPT_NUMBER, text + 2, ret)))
		return true;
	say_misuse(verb, "option '--sample' takes 1/N, such as 1/100, not '%s'", text);
	return false;
}

const struct rk_foreign rk_rocprof_options[] = {
	{ "hip-trace", "'-t hip', or '-t hip,kernel' to include kernels" },
	{ "hip-api", "'-t hip'" },
	{ "hip-activity", "'-t hip,kernel,memcpy'" },
	{ "hip-runtime-trace", "'-t hip'" },
	{ "hip-compiler-trace", "'-t hip'" },
	{ "hsa-trace", "'-t hsa', or '-t hsa,kernel' to include kernels" },
	{ "hsa-api", "'-t hsa'" },
	{ "hsa-activity", "'-t hsa,kernel,memcpy'" },
	{ "hsa-core-trace", "'-t hsa'" },
	{ "hsa-amd-trace", "'-t hsa'" },
	{ "kernel-trace", "'-t kernel'" },
	{ "memory-copy-trace", "'-t memcpy'" },
	{ "memory-allocation-trace", "'-t alloc'" },
	{ "scratch-memory-trace", "'-t scratch'" },
	{ "marker-trace", "'-t marker'" },
	{ "roctx-trace", "'-t marker'" },
	{ "roctx-range", "'-t marker'" },
	{ "rccl-trace", "'-t rccl'" },
	{ "kfd-trace", "'-t kfd'" },
	{ "ompt-trace", "'-t ompt'" },
	{ "hip-graph-trace", "'-t graph'" },
	{ "rocshmem-trace", "'-t rocshmem'" },
	{ "hipfile-trace", "'-t hipfile'" },
	{ "rocdecode-trace", "'-t rocdecode'" },
	{ "rocjpeg-trace", "'-t rocjpeg'" },
	{ "pid", "'--attach PID'" },
	{ "attach-duration-msec", "'--duration S'" },
	{ "collection-period", "'--delay S --duration S'" },
	{ "selected-regions", "'--range NAME'" },
	{ "replay-mode", "'--replay kernel'" },
	{ "kernel-replay-beta-enabled", "'--replay kernel'" },
	{ "spm-beta-enabled", "'--spm LIST'" },
	{ "advanced-thread-trace", "'--att'" },
	{ "runtime-trace", "'-t hip,kernel,memcpy,marker,rccl,scratch,alloc'" },
	{ "sys-trace", "'-t sys'" },
	{ "pmc", "'-c LIST'" },
	{ "list-avail", "'rockit counters'" },
	{ "list-basic", "'rockit counters'" },
	{ "list-derived", "'rockit counters'" },
	{ "list-counters", "'rockit counters'" },
	{ "kernel-include-regex", "'--kernel-regex RE'" },
	{ "pc-sampling-method", "'-p pc_sampling'" },
	{ "pc-sampling-beta-enabled", "'-p pc_sampling'" },
	{ "stats", "'--then report', or 'rockit report' after the run" },
	{ "summary", "'--then report', or 'rockit report' after the run" },
	{ "timestamp", "always on" },
	{ "output-directory", "'-d DIR'" },
	{ "output-file", "'-d DIR'" },
	{ "output-format", "'rockit convert DIR -o OUT' after the run" },
	{ "plugin", "'rockit convert DIR -o OUT' after the run" },
	{ NULL, NULL },
};

const char *rk_sensor_word(size_t i)
{
	return rk_monitor_word((unsigned)i);
}
