/*
 * context_cmd.c - the cmd of a tool: "bash .../rocprof_wrapper.sh OPTIONS --".
 *
 * The options are translated into what they ask for, so that any tool and version can deliver it;
 * what has no word of its own goes to the profiler as it is. Nothing of a context is ever run, and
 * a command that a shell would have to understand is refused.
 */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "session/context_impl.h"

/* What becomes of an option, and of the words behind it. */
enum option_kind {
	OPT_TRACE, /* `what` are traces; may have a word for yes or no behind it */
	OPT_STATS,
	OPT_INPUT,   /* a file of counters */
	OPT_PMC,     /* names of counters */
	OPT_IGNORED, /* one word behind it */
	OPT_FORMATS, /* several */
	OPT_PC_FLAG,
	OPT_PC_METHOD,
	OPT_PC_UNIT,
	OPT_PC_INTERVAL,
};

static const struct option {
	const char *name;
	enum option_kind kind;
	const char *what;
} options[] = {
	{ "--hip-trace", OPT_TRACE, "hip" },
	{ "--hip-runtime-trace", OPT_TRACE, "hip" },
	{ "--hip-compiler-trace", OPT_TRACE, "hip" },
	{ "--hip-api", OPT_TRACE, "hip" },
	{ "--hsa-trace", OPT_TRACE, "hsa" },
	{ "--hsa-core-trace", OPT_TRACE, "hsa" },
	{ "--hsa-amd-trace", OPT_TRACE, "hsa" },
	{ "--hsa-api", OPT_TRACE, "hsa" },
	{ "--kernel-trace", OPT_TRACE, "kernel" },
	{ "--memory-copy-trace", OPT_TRACE, "memcpy" },
	{ "--memory-allocation-trace", OPT_TRACE, "alloc" },
	{ "--scratch-memory-trace", OPT_TRACE, "scratch" },
	{ "--rccl-trace", OPT_TRACE, "rccl" },
	{ "--marker-trace", OPT_TRACE, "marker" },
	{ "--roctx-trace", OPT_TRACE, "marker" },
	{ "--sys-trace", OPT_TRACE, "sys" },
	{ "-s", OPT_TRACE, "sys" },
	{ "--runtime-trace", OPT_TRACE, RK_RUNTIME_TRACES },
	{ "-r", OPT_TRACE, RK_RUNTIME_TRACES },
	{ "--stats", OPT_STATS, NULL },
	{ "-i", OPT_INPUT, NULL },
	{ "--input", OPT_INPUT, NULL },
	{ "--pmc", OPT_PMC, NULL },
	{ "-d", OPT_IGNORED, "the run has a directory of its own" },
	{ "--output-directory", OPT_IGNORED, "the run has a directory of its own" },
	{ "-o", OPT_IGNORED, "each process has a file of its own" },
	{ "--output-file", OPT_IGNORED, "each process has a file of its own" },
	{ "--perfetto-trace-filename", OPT_IGNORED, "'rockit convert' makes the picture" },
	{ "-f", OPT_FORMATS, NULL },
	{ "--output-format", OPT_FORMATS, NULL },
	{ "--pc-sampling-beta-enabled", OPT_PC_FLAG, NULL },
	{ "--pc-sampling-method", OPT_PC_METHOD, NULL },
	{ "--pc-sampling-unit", OPT_PC_UNIT, NULL },
	{ "--pc-sampling-interval", OPT_PC_INTERVAL, NULL },
};

enum { NOPTIONS = sizeof(options) / sizeof(options[0]) };

/* The words of a command while they are taken one by one. */
struct words {
	struct rk_madengine *m;
	const struct rk_tree *cmd;
	const struct rk_list *l;
	size_t at;
	const char *value; /* of "--option=value", else NULL */
};

static int refuse(const struct words *w, const char *why, const char *word)
{
	rk_fail(w->m->err, RK_E_USAGE,
		"'cmd' is not run, only read, and %s '%s'; give options of the profiler alone", why,
		word);
	rk_error_at(w->m->err, w->m->file, w->cmd->line, 0);
	return RK_E_USAGE;
}

/* Where a shell would do more than part words: a copy of that character, else '\0'. */
static char shell_character(const char *s)
{
	char quote = '\0';

	for (; *s; s++) {
		if (quote != '\'' && *s == '\\' && s[1])
			s++;
		else if (quote ? *s == quote : (*s == '\'' || *s == '"'))
			quote = quote ? '\0' : *s;
		else if (quote != '\'' && strchr("$`", *s))
			return *s;
		else if (!quote && strchr("&|;<>()\n", *s))
			return *s;
	}
	return '\0';
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

/* "bash .../rocprof_wrapper.sh" or a profiler: all that may stand before the options. */
static int skip_program(struct words *w)
{
	static const char *const shells[] = { "bash", "sh", NULL };
	static const char *const programs[] = { "rocprof_wrapper.sh", "rocprofv3", "rocprofv2",
						"rocprof", NULL };
	const struct rk_list *l = w->l;

	while (w->at < l->n && is_one_of(rk_base_name(l->v[w->at]), shells))
		w->at++;
	if (w->at == l->n)
		return refuse(w, "it has no", "rocprof_wrapper.sh");
	if (!is_one_of(rk_base_name(l->v[w->at]), programs))
		return refuse(w, "it would start", l->v[w->at]);
	w->at++;
	return 0;
}

static bool option_next(const struct words *w)
{
	return w->at >= w->l->n || w->l->v[w->at][0] == '-';
}

/* The one word that an option takes; NULL when there is none. */
static const char *argument(struct words *w)
{
	if (w->value)
		return w->value;
	return option_next(w) ? NULL : w->l->v[w->at++];
}

/* The word for yes or no that may stand behind a switch; true without one. */
static bool switched_on(struct words *w)
{
	static const char *const no[] = { "n", "no", "f", "false", "off", "0", NULL };
	static const char *const yes[] = { "y", "yes", "t", "true", "on", "1", NULL };
	const char *next = w->value ? w->value : option_next(w) ? "" : w->l->v[w->at];
	bool off = false, said = false;

	for (unsigned i = 0; no[i]; i++) {
		off |= rk_text_ieq(next, strlen(next), no[i]);
		said |= rk_text_ieq(next, strlen(next), yes[i]);
	}
	if ((off || said) && !w->value)
		w->at++;
	return !off;
}

/* madengine's own files are ours under the same names; others are files of the user. */
static int add_counters(struct words *w, const char *spec)
{
	static const char *const shipped[] = { "compute_bound.txt", "memory_bound.txt",
					       "communication_bound.txt", "full_profile.txt",
					       NULL };
	struct rk_draft *d = w->m->d;
	struct rk_list text = { 0 };
	const char *had = d->text[RK_DRAFT_COUNTERS], *base = rk_base_name(spec);
	int len = (int)strlen(spec), rc;

	if (strstr(spec, "tools/counters/") && is_one_of(base, shipped)) {
		spec = base;
		len = (int)(strlen(base) - strlen(".txt"));
	}
	rk_list_addf(&text, "%s%s%.*s", had, had[0] ? "," : "", len, spec);
	rc = text.bad ? rk_fail_nomem(w->m->err) :
			rk_draft_set(d, RK_DRAFT_COUNTERS, text.v[0], w->m->err);
	rk_list_release(&text);
	return rc;
}

static int take_pmc(struct words *w)
{
	int rc = 0;

	if (w->value)
		return add_counters(w, w->value);
	while (rc == 0 && !option_next(w))
		rc = add_counters(w, w->l->v[w->at++]);
	return rc;
}

static void take_formats(struct words *w)
{
	rk_madengine_note(w->m, "the output format of a cmd is not used: the version's best is "
				"collected, 'rockit convert' writes the others");
	while (!w->value && !option_next(w))
		w->at++;
}

static int take_pc(struct words *w, enum option_kind kind)
{
	struct rk_draft *d = w->m->d;
	const char *word = kind == OPT_PC_FLAG ? NULL : argument(w);
	int rc = 0;

	if (kind == OPT_PC_FLAG && !switched_on(w))
		return 0;
	for (enum rk_draft_text t = RK_DRAFT_PC_METHOD; rc == 0 && t <= RK_DRAFT_PC_UNIT; t++)
		if (!d->text[t][0])
			rc = rk_draft_set(d, t, "auto", w->m->err);
	if (rc < 0 || !word)
		return rc;
	if (kind == OPT_PC_INTERVAL)
		return rk_num_u64(word, strlen(word), &d->preset.pc_interval) == RK_NUM_OK ?
			       0 :
			       refuse(w, "has no number in", word);
	return rk_draft_set(d, kind == OPT_PC_METHOD ? RK_DRAFT_PC_METHOD : RK_DRAFT_PC_UNIT, word,
			    w->m->err);
}

/* Stochastic samples are taken by cycles; by time no chip takes them. */
static int mend_pc(struct words *w)
{
	struct rk_draft *d = w->m->d;
	int rc;

	if (strcmp(d->text[RK_DRAFT_PC_METHOD], "stochastic") != 0 ||
	    strcmp(d->text[RK_DRAFT_PC_UNIT], "time") != 0)
		return 0;
	rk_madengine_note(w->m, "stochastic PC sampling by time exists on no GPU: method, unit and "
				"interval are the GPU's own");
	d->preset.pc_interval = 0;
	rc = rk_draft_set(d, RK_DRAFT_PC_METHOD, "auto", w->m->err);
	return rc < 0 ? rc : rk_draft_set(d, RK_DRAFT_PC_UNIT, "auto", w->m->err);
}

static int take_ignored(struct words *w, const struct option *o)
{
	const char *word = argument(w);

	rk_madengine_note(w->m, "'%s %s' of a cmd is not used: %s", o->name, word ? word : "",
			  o->what);
	return 0;
}

static int take_option(struct words *w, const struct option *o)
{
	const char *word;

	switch (o->kind) {
	case OPT_TRACE:
		return switched_on(w) ? rk_draft_traces(w->m->d, o->what, w->m->err) : 0;
	case OPT_STATS:
		w->m->d->preset.stats |= switched_on(w);
		return 0;
	case OPT_INPUT:
		word = argument(w);
		return word ? add_counters(w, word) : refuse(w, "has no file behind", o->name);
	case OPT_PMC:
		return take_pmc(w);
	case OPT_IGNORED:
		return take_ignored(w, o);
	case OPT_FORMATS:
		take_formats(w);
		return 0;
	default:
		return take_pc(w, o->kind);
	}
}

/* The option of the next word, with its value when that stands behind a '='; NULL: unknown. */
static const struct option *next_option(struct words *w)
{
	const char *word = w->l->v[w->at], *equals = strchr(word, '=');
	size_t len = equals && word[1] == '-' ? (size_t)(equals - word) : strlen(word);

	w->value = equals && word[1] == '-' ? equals + 1 : NULL;
	for (unsigned i = 0; i < NOPTIONS; i++)
		if (strlen(options[i].name) == len && strncmp(options[i].name, word, len) == 0)
			return &options[i];
	return NULL;
}

static int take_words(struct words *w)
{
	int rc = skip_program(w);

	while (rc == 0 && w->at < w->l->n && strcmp(w->l->v[w->at], "--") != 0) {
		const struct option *o = next_option(w);

		if (!o) /* and the words that belong to it, one by one */
			rk_list_add(&w->m->d->list[RK_DRAFT_TOOL_ARGS], w->l->v[w->at]);
		w->at++;
		if (o)
			rc = take_option(w, o);
	}
	if (rc == 0 && w->at + 1 < w->l->n)
		rc = refuse(w, "has a program behind its '--':", w->l->v[w->at + 1]);
	return rc < 0 ? rc : mend_pc(w);
}

int rk_madengine_cmd(struct rk_madengine *m, const struct rk_tree *cmd)
{
	struct rk_list l = { 0 };
	struct words w = { .m = m, .cmd = cmd, .l = &l };
	const char special[2] = { shell_character(cmd->text), '\0' };
	int rc;

	if (special[0])
		return refuse(&w, "it needs a shell for", special);
	if (!rk_list_split_words(&l, cmd->text))
		rc = refuse(&w, "a quote is left open in", cmd->text);
	else
		rc = l.bad ? rk_fail_nomem(m->err) : take_words(&w);
	rk_list_release(&l);
	return rc;
}
