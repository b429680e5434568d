/* sim_v1_files.c - what rocprof v1 writes: results.csv, the statistics, JSON, and the raw text. */
#include <stdlib.h>
#include <string.h>

#include "sim_v1.h"

#define BASE                                                                              \
	"Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr," \
	"accum_vgpr,sgpr,wave_size,sig,obj"

static unsigned product(const unsigned v[3])
{
	return v[0] * v[1] * v[2];
}

static void result_header(struct text *out, const struct v1 *v, const struct v1_table *t)
{
	struct words cells = { 0 };

	words_split(&cells, BASE, ",");
	for (size_t i = 0; i < t->counters.n; i++)
		words_add(&cells, t->counters.at[i]);
	if (v->timestamp)
		words_split(&cells, "DispatchNs,BeginNs,EndNs,CompleteNs", ",");
	if (v1_by_database(v))
		text_add(out, "\"%s\",\"DurationNs\"\n", words_join(&cells, "\",\""));
	else
		text_add(out, "%s\n", words_join(&cells, ","));
}

/* Through the database numbers lose trailing zeroes and text is quoted. */
static const char *value_text(const struct v1 *v, const char *text)
{
	char *end;

	if (!v1_by_database(v) || strcmp(text, "None") == 0)
		return text;
	return print_text("%.12g", strtod(text, &end));
}

static void result_row(struct text *out, const struct v1 *v, const struct work *w,
		       const struct v1_table *t, const struct v1_row *row)
{
	const struct dispatch *d = row->d;
	const struct kernel *k = d->kernel;
	const char *q = v1_by_database(v) ? "\"" : "";

	text_add(out, "%u,\"%s\",%u,0,%u,%d,%d,%u,%u,%u,%u,%u,%u,%u,64,%s0x0%s,%s0x7f0000001000%s",
		 d->id - 1, v1_kernel_name(v, k), d->agent, d->id - 1, (int)w->pid, (int)w->pid,
		 product(k->grid), product(k->block), (k->lds + 511) / 512 * 512, k->scratch,
		 k->vgpr, k->accum, k->sgpr, q, q, q, q);
	for (size_t i = 0; i < t->counters.n; i++)
		text_add(out, ",%s", i < row->values.n ? value_text(v, row->values.at[i]) : "None");
	if (v->timestamp)
		text_add(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, d->start - 2000,
			 d->start, d->end, d->end + 1000);
	if (v1_by_database(v))
		text_add(out, ",%" PRId64, (int64_t)(d->end - d->start));
	text_add(out, "\n");
}

struct sums {
	struct sum {
		const char *name;
		uint64_t calls, total;
	} * rows;
	size_t n;
	uint64_t total;
};

static void add(struct sums *s, const char *name, uint64_t start, uint64_t end)
{
	struct sum *r = NULL;

	for (size_t i = 0; i < s->n && !r; i++)
		if (strcmp(s->rows[i].name, name) == 0)
			r = &s->rows[i];
	if (!r) {
		struct sum *more = take((s->n + 1) * sizeof(*more));

		if (s->n)
			memcpy(more, s->rows, s->n * sizeof(*more));
		s->rows = more;
		r = &s->rows[s->n++];
		r->name = name;
	}
	r->calls++;
	r->total += end - start;
	s->total += end - start;
}

static int by_total(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->total < y->total ? 1 : x->total > y->total ? -1 : 0;
}

static void stats_file(const struct v1 *v, const char *what, struct sums *s)
{
	struct text *out = file_new(print_text("%s%s.csv", v->base, what));

	if (s->n)
		qsort(s->rows, s->n, sizeof(*s->rows), by_total);
	text_add(out, "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n");
	for (size_t i = 0; i < s->n; i++)
		text_add(out, "\"%s\",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g\n", s->rows[i].name,
			 s->rows[i].calls, s->rows[i].total, s->rows[i].total / s->rows[i].calls,
			 s->total ? 100.0 * (double)s->rows[i].total / (double)s->total : 0.0);
}

static void calls_stats(const struct v1 *v, const struct work *w, const char *family,
			const char *what)
{
	struct sums s = { 0 };

	for (size_t i = 0; i < w->ncalls; i++)
		if (begins(w->calls[i].domain, family) && v1_traced(v, &w->calls[i]))
			add(&s, w->calls[i].function, w->calls[i].start, w->calls[i].end);
	stats_file(v, what, &s);
}

static const char *copy_name(const struct v1 *v, const struct copy *c)
{
	if (v->hsa)
		return "async-copy";
	return begins(c->direction, "HOST") ? "CopyHostToDevice" : "CopyDeviceToHost";
}

static void all_stats(const struct v1 *v, const struct work *w, const struct v1_table *t)
{
	struct sums kernels = { 0 }, copies = { 0 };

	if (v->stats || v->hsa || v1_has_ops(v)) {
		for (size_t i = 0; i < t->n; i++)
			add(&kernels, v1_kernel_name(v, t->rows[i].d->kernel), t->rows[i].d->start,
			    t->rows[i].d->end);
		stats_file(v, ".stats", &kernels);
	}
	if (v->hip || v->sys)
		calls_stats(v, w, "HIP", ".hip_stats");
	if (v->hsa || v->sys)
		calls_stats(v, w, "HSA", ".hsa_stats");
	if (!v->hip && !v->hsa && !v->sys)
		return;
	for (size_t i = 0; i < w->ncopies; i++)
		add(&copies, copy_name(v, &w->copies[i]), w->copies[i].start, w->copies[i].end);
	stats_file(v, ".copy_stats", &copies);
}

/* Every value is a string except pid and tid; the first event is empty. */
static void json_event(struct text *out, const char *name, int pid, int tid, uint64_t start,
		       uint64_t end)
{
	text_add(out,
		 ",{\"ts\":\"%" PRIu64 "\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"dur\":\"%" PRIu64
		 "\",\"name\":",
		 start / 1000, pid, tid, (end - start) / 1000 ? (end - start) / 1000 : 1);
	text_json(out, name);
	text_add(out,
		 ",\"args\":{\"BeginNs\":\"%" PRIu64 "\",\"EndNs\":\"%" PRIu64
		 "\",\"pid\":\"%d\",\"tid\":\"%d\",\"Name\":",
		 start, end, pid, tid);
	text_json(out, name);
	text_add(out, ",\"DurationNs\":\"%" PRIu64 "\"}}\n", end - start);
}

static void json_process(struct text *out, const char *name, int pid)
{
	text_add(out,
		 ",{\"args\":{\"name\":\"%s\"},\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\","
		 "\"sort_index\":%d}\n",
		 name, pid, pid);
}

static void json_file(const struct v1 *v, const struct work *w, const struct v1_table *t)
{
	struct text *out = file_new(print_text("%s.json", v->base));

	text_add(out, "{ \"traceEvents\":[{}\n");
	json_process(out, "Markers and Ranges", 0);
	json_process(out, "COPY", 1);
	json_process(out, "CPU HIP API", 2);
	json_process(out, "CPU HSA API", 3);
	for (unsigned gpu = 0; gpu < sim.gpus; gpu++)
		json_process(out, print_text("GPU%u", gpu), 6 + (int)gpu);
	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];

		if (v1_traced(v, c))
			json_event(out, c->message ? c->message : c->function,
				   c->message               ? 0 :
				   begins(c->domain, "HIP") ? 2 :
							      3,
				   (int)w->pid, c->start, c->end);
	}
	for (size_t i = 0; i < t->n; i++)
		json_event(out, v1_kernel_name(v, t->rows[i].d->kernel),
			   5 + (int)t->rows[i].d->agent, 1, t->rows[i].d->start, t->rows[i].d->end);
	for (size_t i = 0; (v->hip || v->sys) && i < w->ncopies; i++)
		json_event(out, copy_name(v, &w->copies[i]), 1, 0, w->copies[i].start,
			   w->copies[i].end);
	text_add(out, "],\"otherData\":{\"0-HSA System\":\"simulated\"}}\n");
}

void v1_files(const struct v1 *v, const struct work *w, const struct v1_table *t)
{
	struct text *out;

	if (v1_by_database(v)) {
		all_stats(v, w, t);
		json_file(v, w, t);
		v1_database(v, w, t);
		text_add(file_new(print_text("%s.sysinfo.txt", v->base)),
			 "CMD: rocminfo\nName: %s\n", sim.arch);
	}
	if (!v1_has_results(v))
		return;
	out = file_new(print_text("%s.csv", v->base));
	result_header(out, v, t);
	for (size_t i = 0; i < t->n; i++)
		result_row(out, v, w, t, &t->rows[i]);
}

static void raw_dispatch(struct text *out, const struct v1 *v, const struct v1_run *run,
			 const struct work *w, const struct dispatch *d)
{
	const struct kernel *k = d->kernel;

	text_add(out,
		 "dispatch[%u], gpu-id(%u), queue-id(0), queue-index(%u), pid(%d), tid(%d), "
		 "grd(%u), wgr(%u), lds(%u), scr(%u), arch_vgpr(%u), accum_vgpr(%u), sgpr(%u), "
		 "wave_size(64), sig(0x0), obj(0x7f0000001000), kernel-name(\"%s\")",
		 d->id - 1, d->agent, d->id - 1, (int)w->pid, (int)w->pid, product(k->grid),
		 product(k->block), (k->lds + 511) / 512 * 512, k->scratch, k->vgpr, k->accum,
		 k->sgpr, v1_kernel_name(v, k));
	if (v->timestamp)
		text_add(out, ", time(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")",
			 d->start - 2000, d->start, d->end, d->end + 1000);
	text_add(out, "\n");
	for (size_t i = 0; i < run->counters.n; i++)
		text_add(out, "  %s (%.10f)\n", run->counters.at[i],
			 counter_value(run->counters.at[i], d->id));
}

/* Each file twice: with the process in its name, and what the script put together of them. */
static void both(const char *folder, const struct work *w, const char *name, const struct text *t)
{
	if (!t->len)
		return;
	text_bytes(file_new(print_text("%s/%d_%s", folder, (int)w->pid, name)), t->at, t->len);
	text_bytes(file_new(print_text("%s/%s", folder, name)), t->at, t->len);
}

static void raw_calls(const struct v1 *v, const struct work *w, const char *folder)
{
	struct text hip = { 0 }, hsa = { 0 };

	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];

		if (!v1_traced(v, c) || c->message)
			continue;
		text_add(begins(c->domain, "HIP") ? &hip : &hsa,
			 "%" PRIu64 ":%" PRIu64 " %d:%d %s()%s :%u\n", c->start, c->end,
			 (int)w->pid, (int)w->pid, c->function,
			 begins(c->domain, "HIP") ? "" : " = 0", c->correlation);
	}
	both(folder, w, "hip_api_trace.txt", &hip);
	both(folder, w, "hsa_api_trace.txt", &hsa);
}

void v1_raw_files(const struct v1 *v, const struct v1_run *run, const struct work *w,
		  const char *folder)
{
	struct text results = { 0 }, ops = { 0 }, begin = { 0 };

	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];

		if (!v1_wanted(v, d))
			continue;
		raw_dispatch(&results, v, run, w, d);
		if (v1_has_ops(v))
			text_add(&ops, "%" PRIu64 ":%" PRIu64 " %u:0 %s:%u:%d\n", d->start, d->end,
				 d->agent - 1, d->kernel->brief, d->correlation, (int)w->pid);
	}
	text_add(&begin, "%" PRIu64 "\n", w->start);
	both(folder, w, "results.txt", &results);
	raw_calls(v, w, folder);
	both(folder, w, "hcc_ops_trace.txt", &ops);
	both(folder, w, "begin_ts_file.txt", &begin);
}
