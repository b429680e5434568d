/* sim_v2.c - rocprofv2: no `--`, one run per input line that holds "pmc", the file plugin's CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_v3.h"

struct v2 {
	const char *input, *name, *folder, *plugin;
	bool basenames, hip_api, hip_ops, hsa_api, hsa_ops, roctx, kernel;
	bool version1; /* the plugin mimics rocprof v1 */
};

static _Noreturn void wrong(const char *text)
{
	printf("%s\n", text);
	exit(1);
}

static void list_counters(void)
{
	for (const struct counter_row *row = counter_rows; row->name; row++)
		if (counter_find(row->name) == row)
			printf("gfx %s:0 : %s : simulated\n", sim.arch, row->name);
	exit(0);
}

static bool take_flag(struct v2 *v, const char *word)
{
	bool all = strcmp(word, "--sys-trace") == 0;
	bool hip = strcmp(word, "--hip-trace") == 0 || strcmp(word, "--hip-activity") == 0;
	bool hsa = strcmp(word, "--hsa-trace") == 0 || strcmp(word, "--hsa-activity") == 0;
	bool other = strcmp(word, "--disable-json-data-flows") == 0 || strcmp(word, "-ns") == 0;

	if (strcmp(word, "--list-counters") == 0)
		list_counters();
	v->hip_api |= all || hip || strcmp(word, "--hip-api") == 0;
	v->hip_ops |= all || hip;
	v->hsa_api |= all || hsa || strcmp(word, "--hsa-api") == 0;
	v->hsa_ops |= all || hsa;
	v->roctx |= all || strcmp(word, "--roctx-trace") == 0;
	v->kernel |= strcmp(word, "--kernel-trace") == 0;
	v->basenames |= strcmp(word, "--basenames") == 0;
	return all || hip || hsa || other || strcmp(word, "--hip-api") == 0 ||
	       strcmp(word, "--hsa-api") == 0 || strcmp(word, "--roctx-trace") == 0 ||
	       strcmp(word, "--kernel-trace") == 0 || strcmp(word, "--basenames") == 0;
}

static bool take_value(struct v2 *v, const char *word, const char *value)
{
	if (strcmp(word, "-i") == 0)
		v->input = value;
	else if (strcmp(word, "-o") == 0)
		v->name = value;
	else if (strcmp(word, "-d") == 0)
		v->folder = value;
	else if (strcmp(word, "--plugin") == 0)
		v->plugin = value;
	else if (strcmp(word, "--plugin-version") == 0)
		v->version1 = strcmp(value, "1") == 0;
	else
		return strcmp(word, "-m") == 0 || strcmp(word, "-fi") == 0 ||
		       strcmp(word, "--flush-interval") == 0 || strcmp(word, "-tp") == 0 ||
		       strcmp(word, "--trace-period") == 0;
	return true;
}

static int parse(struct v2 *v, int argc, char **argv)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-') {
		if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
			puts("Usage: rocprofv2 [options] <app command line>");
			exit(0);
		}
		if (take_flag(v, argv[i]))
			i++;
		else if (i + 1 < argc && take_value(v, argv[i], argv[i + 1]))
			i += 2;
		else
			wrong(print_text("Wrong option \"%s\", Please use the following options:",
					 argv[i]));
	}
	if (i >= argc)
		wrong("Need an application to profile");
	if (v->plugin && strcmp(v->plugin, "file") != 0 && strcmp(v->plugin, "cli") != 0 &&
	    strcmp(v->plugin, "perfetto") != 0)
		wrong(print_text("Plugin '%s' is not installed", v->plugin));
	return i;
}

/* Where the rows go: a file of the file plugin, or the console. */
struct place {
	const char *folder, *tail;
	bool console;
	struct text shown;
};

static struct text *open_table(struct place *p, const char *what, const char *columns, bool blank)
{
	struct text *out = p->console ?
				   &p->shown :
				   file_new(print_text("%s/%s_%s.csv", p->folder, what, p->tail));

	text_add(out, "%s\n%s", columns, blank ? "\n" : "");
	return out;
}

static char *quoted_name(const struct v2 *v, const struct kernel *k)
{
	char *name = copy_text(v->basenames ? k->brief : k->name);

	for (char *p = name; *p; p++)
		if (*p == '"')
			*p = '\'';
	return name;
}

static void result_rows(const struct v2 *v, const struct work *w, struct place *p,
			const struct words *counters)
{
	struct text *out;
	const char *more = counters->n ? print_text(",%s", words_join(counters, ",")) : "";

	out = open_table(
		p, "results",
		print_text("Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,"
			   "LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,"
			   "Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,"
			   "Correlation_ID%s",
			   more),
		counters->n > 0);
	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];
		const struct kernel *k = d->kernel;

		text_add(out,
			 "%u,%u,%u,%d,%d,%u,%u,%u,%u,%u,%u,%u,64,\"%s\",%" PRIu64 ",%" PRIu64 ",%u",
			 d->id, 11994 + d->agent, d->queue, (int)w->pid, (int)w->pid,
			 k->grid[0] * k->grid[1] * k->grid[2],
			 k->block[0] * k->block[1] * k->block[2], (k->lds + 511) / 512 * 512,
			 k->scratch, k->vgpr, k->accum, k->sgpr, quoted_name(v, k), d->start,
			 d->end, d->correlation);
		for (size_t c = 0; c < counters->n; c++)
			text_add(out, ",%f", counter_value(counters->at[c], d->id));
		text_add(out, "\n");
	}
}

/* plugin-version 1: no sig and obj, two of the four times are 0. */
static void result_rows_v1(const struct v2 *v, const struct work *w, struct place *p,
			   const struct words *counters)
{
	struct text *out;

	out = open_table(
		p, "results",
		print_text("Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,"
			   "arch_vgpr,accum_vgpr,sgpr,wave_size%s%s,DispatchNs,BeginNs,EndNs,"
			   "CompleteNs",
			   counters->n ? "," : "", words_join(counters, ",")),
		counters->n > 0);
	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];
		const struct kernel *k = d->kernel;

		text_add(out, "%u,\"%s\",%u,%u,%u,%d,%d,%u,%u,%u,%u,%u,%u,%u,64", d->id - 1,
			 quoted_name(v, k), d->agent, d->queue, d->id - 1, (int)w->pid, (int)w->pid,
			 k->grid[0] * k->grid[1] * k->grid[2],
			 k->block[0] * k->block[1] * k->block[2], (k->lds + 511) / 512 * 512,
			 k->scratch, k->vgpr, k->accum, k->sgpr);
		for (size_t c = 0; c < counters->n; c++)
			text_add(out, ",%f", counter_value(counters->at[c], d->id));
		text_add(out, ",0,%" PRIu64 ",%" PRIu64 ",0\n", d->start, d->end);
	}
}

static void call_rows(const struct work *w, struct place *p, const char *family, const char *what,
		      const char *domain)
{
	struct text *out = open_table(
		p, what, "Domain,Function,Start_Timestamp,End_Timestamp,Correlation_ID", true);

	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];

		if (begins(c->domain, family) && strcmp(c->domain, "HIP_COMPILER") != 0)
			text_add(out, "%s,%s,%" PRIu64 ",%" PRIu64 ",%u\n", domain, c->function,
				 c->start, c->end, c->correlation);
	}
}

static void activity_rows(const struct v2 *v, const struct work *w, struct place *p)
{
	struct text *out = open_table(p, "hcc_ops_trace",
				      "Domain,Operation,Kernel_Name,Start_Timestamp,Stop_Timestamp,"
				      "Correlation_ID",
				      true);

	for (size_t i = 0; i < w->ndispatches; i++) {
		const struct dispatch *d = &w->dispatches[i];

		text_add(out, "HIP_OPS_DOMAIN,KernelExecution,\"%s\",%" PRIu64 ",%" PRIu64 ",%u\n",
			 quoted_name(v, d->kernel), d->start, d->end, d->correlation);
	}
	for (size_t i = 0; i < w->ncopies; i++)
		text_add(out, "HIP_OPS_DOMAIN,%s,,%" PRIu64 ",%" PRIu64 ",%u\n",
			 begins(w->copies[i].direction, "HOST") ? "CopyHostToDevice" :
								  "CopyDeviceToHost",
			 w->copies[i].start, w->copies[i].end, w->copies[i].correlation);
}

static void copy_rows(const struct work *w, struct place *p)
{
	struct text *out =
		open_table(p, "async_copy_trace",
			   "Domain,Operation,Start_Timestamp,Stop_Timestamp,Correlation_ID", true);

	for (size_t i = 0; i < w->ncopies; i++)
		text_add(out, "HSA_OPS_DOMAIN,async-copy,%" PRIu64 ",%" PRIu64 ",%u\n",
			 w->copies[i].start, w->copies[i].end, w->copies[i].correlation);
}

static void marker_rows(const struct work *w, struct place *p)
{
	struct text *out = open_table(p, "roctx_trace", "Domain,ROCTX_ID,Message,Timestamp", true);

	for (size_t i = 0; i < w->ncalls; i++)
		if (w->calls[i].message)
			text_add(out, "ROCTX_DOMAIN,%u,\"%s\",%" PRIu64 "\n",
				 w->calls[i].correlation, w->calls[i].message, w->calls[i].start);
}

static void record(const struct v2 *v, const struct work *w, const struct words *counters,
		   bool counting, const char *folder)
{
	struct place p = {
		.folder = folder,
		.tail = v->name ? v->name : print_text("%d", (int)w->pid),
		.console = v->plugin ? strcmp(v->plugin, "cli") == 0 : !v->folder && !v->name,
	};
	struct tool tool = { .kernel = true,
			     .hip_runtime = v->hip_api,
			     .base = print_text("%s/%s", folder, p.tail) };

	if (v->plugin && strcmp(v->plugin, "perfetto") == 0) {
		pftrace_file(&tool, w);
		return;
	}
	if ((counting || v->kernel) && v->version1)
		result_rows_v1(v, w, &p, counters);
	else if (counting || v->kernel)
		result_rows(v, w, &p, counters);
	if (v->hip_api)
		call_rows(w, &p, "HIP", "hip_api_trace", "HIP_API_DOMAIN");
	if (v->hsa_api)
		call_rows(w, &p, "HSA", "hsa_api_trace", "HSA_API_DOMAIN");
	if (v->hip_ops)
		activity_rows(v, w, &p);
	if (v->hsa_ops)
		copy_rows(w, &p);
	if (v->roctx)
		marker_rows(w, &p);
	if (p.console && p.shown.len)
		fputs(p.shown.at, stdout);
}

/* One run; `line` names its counters, NULL for a run that only traces. */
static int run(const struct v2 *v, char *const *app, const char *line, const char *folder)
{
	struct words asked = { 0 }, counters = { 0 };
	struct app_end end;
	struct work w;

	if (line)
		words_split(&asked, strchr(line, ':') ? strchr(line, ':') + 1 : "", " ,\t\r");
	for (size_t i = 0; i < asked.n; i++) {
		bool lost = fault("counters-absent") ||
			    (fault("counters-some-absent") && i % 2 == 1);

		if (!lost && counter_find(asked.at[i]))
			words_add(&counters, asked.at[i]);
		else
			fprintf(stderr, "Counter '%s' is not found\n", asked.at[i]);
	}
	end = app_run(app);
	app_script_end(&end);
	if (end.exec_errno) {
		fprintf(stderr, "rocprofv2: %s: %s\n", app[0], strerror(end.exec_errno));
		return 127;
	}
	for (unsigned i = 0; i < (sim.ranks ? sim.ranks : 1); i++) {
		w = work_of_worker(&end, app, line != NULL, i);
		if (app_could_write(&end) && !fault("no-output"))
			record(v, &w, &counters, line != NULL, folder);
	}
	files_write(NULL);
	return end.signal ? 128 + end.signal : end.status;
}

/* Every line with "pmc" in it is a run, `#pmc: X` too. */
static int run_lines(const struct v2 *v, char *const *app, const char *folder)
{
	char *text = read_whole(v->input, NULL);
	struct words lines = { 0 };
	unsigned n = 0;
	int status = 0;

	if (!text)
		wrong(print_text("Input file '%s' cannot be read", v->input));
	words_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++)
		if (strstr(lines.at[i], "pmc"))
			status = run(v, app, lines.at[i][0] == '#' ? "" : lines.at[i],
				     print_text("%s/pmc_%u", folder, ++n));
	return status;
}

int v2_main(int argc, char **argv)
{
	struct v2 v = { 0 };
	int app = parse(&v, argc, argv), status;
	const char *folder = v.folder ? v.folder : ".";

	fault_start("rocprofv2");
	if (v.input)
		status = run_lines(&v, argv + app, folder);
	else
		status = run(&v, argv + app, NULL, folder);
	fault_end(&status);
	return status;
}
