/* tools.c - the profilers we drive, and what their files share. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/words.h"
#include "rockit/tools.h"
#include "tool/tool_impl.h"

enum { MAX_FILE = 1 << 20 };

/*
 * rocprof-compute and rocprof-sys answer other questions, so they come behind; our own collectors
 * are for where there is no AMD profiler.
 */
const struct rk_tool_ops *const rk_tools[] = {
	&rk_tool_rocprofv3,   &rk_tool_rocprofv2, &rk_tool_rocprof, &rk_tool_rocprof_compute,
	&rk_tool_rocprof_sys, &rk_tool_opencl,    &rk_tool_cupti,   NULL,
};

/* What scripts still call them. */
static const char *today(const char *name)
{
	if (!strcmp(name, "omniperf"))
		return "rocprof-compute";
	return strcmp(name, "omnitrace") ? name : "rocprof-sys";
}

const struct rk_tool_ops *rk_tool_find(const char *name)
{
	name = today(name);
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
		if (!strcmp((*t)->name, name))
			return *t;
	return NULL;
}

const char *rk_tool_word(size_t i)
{
	if (i == 0)
		return "auto";
	return i < sizeof(rk_tools) / sizeof(rk_tools[0]) ? rk_tools[i - 1]->name : NULL;
}

static const char *const trace_names[] = { "hip",  "hsa",     "kernel", "memcpy", "marker",
					   "rccl", "scratch", "alloc",  "sys",    NULL };
/* What people call the same things, after the profilers' own options. */
static const struct rk_word_hint other_names[] = {
	{ "kernels", "did you mean 'kernel'?" },
	{ "copy", "did you mean 'memcpy'?" },
	{ "memory-copy", "did you mean 'memcpy'?" },
	{ "markers", "did you mean 'marker'?" },
	{ "roctx", "did you mean 'marker'?" },
	{ "nccl", "did you mean 'rccl'?" },
	{ "allocation", "did you mean 'alloc'?" },
	{ "memory-allocation", "did you mean 'alloc'?" },
	{ "all", "did you mean 'sys'?" },
	{ "scratch-memory", "did you mean 'scratch'?" },
	{ NULL, NULL },
};
static const struct rk_words traces = {
	.what = "trace", .names = trace_names, .n = RK_NTRACES, .hints = other_names
};

const char *rk_trace_name(unsigned i)
{
	return rk_words_at(&traces, i);
}

int rk_trace_parse(const char *words, unsigned *ret, struct rk_error *err)
{
	return rk_words_parse(&traces, words, ret, err);
}

void rk_tool_command_release(struct rk_tool_command *c)
{
	rk_list_release(&c->argv);
	rk_list_release(&c->env);
	rk_list_release(&c->notes);
	rk_list_release(&c->instead);
	rk_free(c->file.path);
	rk_free(c->file.text);
	*c = (struct rk_tool_command){ 0 };
}

bool rk_tool_wants_counters(const struct rk_want *want)
{
	return want->counters && want->counters->n > 0;
}

bool rk_tool_arch_is(const struct rk_want *want, const char *prefix)
{
	return want->arch && !strncmp(want->arch, prefix, strlen(prefix));
}

const char *rk_trace_words(char buf[RK_TRACE_WORDS], unsigned bits)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < RK_NTRACES; i++)
		if (bits >> i & 1)
			at += (size_t)snprintf(buf + at, RK_TRACE_WORDS - at, "%s%s",
					       at ? ", " : "", trace_names[i]);
	return buf;
}

void rk_tool_no_traces(struct rk_tool_command *c, unsigned bits, const char *why)
{
	char words[RK_TRACE_WORDS];

	if (bits)
		rk_list_addf(&c->notes, "no %s trace: %s", rk_trace_words(words, bits), why);
}

void rk_tool_counter_file(struct rk_tool_command *c, const struct rk_want *want, const char *more)
{
	struct rk_bytes text, path;

	rk_bytes_init(&text, MAX_FILE);
	rk_bytes_init(&path, MAX_FILE);
	rk_bytes_puts(&text, "pmc:");
	for (size_t i = 0; i < want->counters->n; i++)
		rk_bytes_printf(&text, " %s", want->counters->v[i]);
	rk_bytes_printf(&text, "\n%s", more);
	rk_bytes_printf(&path, "%s/counters.txt", want->dir);
	if (rk_bytes_str(&text) && rk_bytes_str(&path)) {
		c->file.text = rk_strdup(rk_bytes_str(&text));
		c->file.path = rk_strdup(rk_bytes_str(&path));
	}
	if (!c->file.text || !c->file.path)
		c->argv.bad = true;
	rk_bytes_release(&text);
	rk_bytes_release(&path);
}

/* Without any character that means something in a regular expression. */
bool rk_tool_is_plain(const char *regex)
{
	return *regex && !strpbrk(regex, "\\^$.|?*+()[]{} ,\t\n-");
}

int rk_tool_end(struct rk_tool_command *c, struct rk_error *err)
{
	if (!c->argv.bad && !c->env.bad && !c->notes.bad && !c->instead.bad)
		return 0;
	rk_tool_command_release(c);
	return rk_fail_nomem(err);
}

int rk_tool_finish(struct rk_tool_command *c, const struct rk_want *want, const char *separator,
		   struct rk_error *err)
{
	rk_list_append(&c->argv, want->extra);
	if (separator)
		rk_list_add(&c->argv, separator);
	rk_list_append(&c->argv, want->app);
	return rk_tool_end(c, err);
}
