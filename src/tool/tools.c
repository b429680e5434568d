/* tools.c - the profilers we drive, what their files share, and the list of installed ones. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_out.h"
#include "base/page.h"
#include "base/text.h"
#include "base/words.h"
#include "rockit/tools.h"
#include "tool/tool_impl.h"

enum { MAX_FILE = 1 << 20 };

/*
 * rocprof-compute and rocprof-sys answer other questions, so they come later; our own collectors
 * are for systems without an AMD profiler, OpenCL for those without a collector for their GPU.
 */
const struct rk_tool_ops *const rk_tools[] = {
	&rk_tool_rocprofv3,       &rk_tool_rocprofv2,   &rk_tool_rocprof,
	&rk_tool_rocprof_compute, &rk_tool_rocprof_sys, &rk_tool_rocm,
	&rk_tool_cupti,           &rk_tool_opencl,      NULL,
};

const struct rk_tool_ops *rk_tool_find(const char *name)
{
	/* old names that scripts still use */
	if (!strcmp(name, "omniperf"))
		name = "rocprof-compute";
	else if (!strcmp(name, "omnitrace"))
		name = "rocprof-sys";
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
		if (!strcmp((*t)->name, name))
			return *t;
	return NULL;
}

const char *rk_tool_word(size_t i)
{
	if (i == 0)
		return "auto";
	if (i >= sizeof(rk_tools) / sizeof(rk_tools[0]))
		return NULL;
	return rk_tools[i - 1]->name;
}

static const char *const trace_names[] = { "hip",   "hsa",      "kernel",  "memcpy",    "marker",
					   "rccl",  "scratch",  "alloc",   "kfd",       "ompt",
					   "graph", "rocshmem", "hipfile", "rocdecode", "rocjpeg",
					   "sys",   NULL };
/* Other names that people use, from the profilers' options. */
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
	{ "openmp", "did you mean 'ompt'?" },
	{ "hip-graph", "did you mean 'graph'?" },
	{ NULL, NULL },
};
static const struct rk_words traces = {
	.what = "trace",
	.names = trace_names,
	.n = RK_NTRACES,
	.all = RK_TRACE_SYS,
	.hints = other_names,
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
	rk_free(c->spool);
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

void rk_tool_no_traces(struct rk_tool_command *c, unsigned bits, const char *why)
{
	char words[RK_NTRACES * 12] = "";
	size_t at = 0;

	if (!bits)
		return;
	for (unsigned i = 0; i < RK_NTRACES; i++)
		if (bits >> i & 1)
			at += (size_t)snprintf(words + at, sizeof(words) - at, "%s%s",
					       at ? ", " : "", trace_names[i]);
	rk_list_addf(&c->notes, "no %s trace: %s", words, why);
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

bool rk_tool_is_plain(const char *regex)
{
	return *regex && !strpbrk(regex, "\\^$.|?*+()[]{} ,\t\n-");
}

void rk_tool_put_rank_dir(struct rk_tool_command *c, const struct rk_want *want)
{
	if (!want->rank_key)
		rk_list_add(&c->argv, want->dir);
	else if (!strcmp(want->rank_key, "mpi"))
		rk_list_addf(&c->argv, "%s/rank-%%rank%%", want->dir);
	else
		rk_list_addf(&c->argv, "%s/rank-%%env{%s}%%", want->dir, want->rank_key);
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

/* ---- the installed profilers as text, JSON and CSV ---- */

static void put_text(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_tools_found *t = what;

	(void)look;
	if (!t->n)
		rk_bytes_puts(out, "no profiler found\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct rk_tool_found *f = &t->tools[i];

		rk_bytes_printf(out, "%-16s %-10s %s%s%s\n", f->name,
				f->version[0] ? f->version : "-", f->path,
				f->first ? "" : " (not used: another one comes first)",
				f->usable ? "" : " (cannot be executed)");
	}
}

static void put_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_tools_found *t = what;
	struct rk_json_out j;

	(void)look;
	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_array(&j, "tools");
	for (size_t i = 0; i < t->n; i++) {
		const struct rk_tool_found *f = &t->tools[i];

		rk_json_object(&j, NULL);
		rk_json_text(&j, "name", f->name);
		rk_json_text(&j, "path", f->path);
		rk_json_text(&j, "version", f->version);
		rk_json_text(&j, "rocm", f->rocm);
		rk_json_text(&j, "place", f->place);
		rk_json_text(&j, "options", f->options);
		rk_json_bool(&j, "first", f->first);
		rk_json_bool(&j, "usable", f->usable);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_csv(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_tools_found *t = what;

	(void)look;
	rk_bytes_puts(out, "name,path,version,rocm,first,usable\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct rk_tool_found *f = &t->tools[i];

		rk_csv_text(out, f->name, ',');
		rk_csv_text(out, f->path, ',');
		rk_csv_text(out, f->version, ',');
		rk_csv_text(out, f->rocm, ',');
		rk_csv_text(out, f->first ? "true" : "false", ',');
		rk_csv_text(out, f->usable ? "true" : "false", '\n');
	}
}

int rk_tools_render(const struct rk_tools_found *t, enum rk_report_format format, char **ret_text,
		    size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { put_text, put_json, put_csv };
	const struct rk_render_options look = { .format = format };

	return rk_render(forms, t, &look, ret_text, ret_len, __func__, err);
}
