/* session.c (tests) - sessions from options to run.json, with a profiler that is a small script. */
#include "rockit/session.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rockit/rockit.h"

#include "base/alloc.h"
#include "base/list.h"
#include "run/run_json.h"
#include "tap.h"
#include "world.h"

/* ---- a machine with one profiler ---- */

/* Writes two kernels below the folder after -d, then runs the command after --. */
static const char profiler[] =
	"#!/bin/sh\n"
	"dir=.\n"
	"while [ $# -gt 0 ] && [ \"$1\" != -- ]; do\n"
	"	[ \"$1\" = -d ] && dir=$2\n"
	"	shift\n"
	"done\n"
	"shift\n"
	"[ -d \"$dir\" ] || mkdir -p \"$dir\"\n"
	"printf '%s\\n' '\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\","
	"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"'"
	" '\"KERNEL_DISPATCH\",1,1,7,1,3,\"first\",1,1000,2000'"
	" '\"KERNEL_DISPATCH\",1,1,7,2,4,\"second\",2,3000,5000'"
	" >\"$dir/7_kernel_trace.csv\"\n"
	"exec \"$@\"\n";

struct place {
	struct world w;
	char dir[128];
	struct rk_list said, warned;
};

static void place_open(struct place *p)
{
	*p = (struct place){ 0 };
	world_open(&p->w, 1);
	chmod(world_text(&p->w, "opt/rocm-6.4.0/bin/rocprofv3", profiler), 0755);
	snprintf(p->dir, sizeof(p->dir), "%s/run", p->w.dir);
}

static void place_close(struct place *p)
{
	rk_list_release(&p->said);
	rk_list_release(&p->warned);
	world_close(&p->w);
}

static void say(void *arg, const char *line)
{
	rk_list_add(&((struct place *)arg)->said, line);
}

static void warn(void *arg, const char *line)
{
	rk_list_add(&((struct place *)arg)->warned, line);
}

static struct rk_session_options options(struct place *p, char **argv)
{
	return (struct rk_session_options){ .traces = "kernel",
					    .tool = "rocprofv3",
					    .arch = "gfx942",
					    .dir = p->dir,
					    .root = p->w.dir,
					    .argv = argv };
}

/* Plans and runs; the first error there is. */
static int run(struct place *p, const struct rk_session_options *opt, struct rk_session_result *ret,
	       struct rk_error *err)
{
	const struct rk_session_hooks hooks = { .say = say, .warn = warn, .arg = p };
	struct rk_session *s = NULL;
	int rc = rk_session_plan(opt, &s, err);

	if (rc == 0)
		rc = rk_session_run(s, &hooks, ret, err);
	rk_session_free(s);
	return rc;
}

TEST(a_session_ends_with_tables_and_a_record)
{
	char *argv[] = { "true", NULL };
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	CHECK_STR(err.message, "");
	CHECK(did.ran && did.profiled && did.usable);
	CHECK_U64(did.kernels, 2);
	CHECK(world_has(&p.w, "run/run.json"));
	CHECK(world_has(&p.w, "run/rocprof_kernels.parquet"));
	CHECK_U64(p.warned.n, 0);
	place_close(&p);
}

/* The warning of this kind in a report over the run's directory, "" without. */
static void warned_of(struct place *p, const char *kind, char *buf, size_t size)
{
	const char *dir = p->dir;
	const struct rk_report_options plain = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *opened = NULL;
	struct rk_error err = { 0 };

	buf[0] = '\0';
	if (CHECK_I64(rk_run_open(&dir, 1, NULL, &opened, &err), 0) &&
	    CHECK_I64(rk_run_report(opened, &plain, &r, &err), 0)) {
		CHECK_U64(r->kernel_rows, 0);
		for (size_t i = 0; i < r->nwarnings; i++)
			if (!strcmp(r->warnings[i].kind, kind))
				snprintf(buf, size, "%s", r->warnings[i].message);
	}
	rk_report_free(r);
	rk_run_close(opened);
}

TEST(a_run_without_kernels_has_their_table_without_rows_and_says_why)
{
	char *argv[] = { "true", NULL }, why[512], path[160];
	const char *dir;
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	struct rk_run *opened = NULL;
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	chmod(world_text(&p.w, "opt/rocm-6.4.0/bin/rocprofv3", "#!/bin/sh\n"), 0755);
	opt = options(&p, argv);
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	CHECK(did.ran && !did.usable);
	CHECK(world_has(&p.w, "run/rocprof_kernels.parquet"));
	warned_of(&p, "nothing-recorded", why, sizeof(why));
	CHECK(!strncmp(why, "nothing was recorded: rocprofv3 wrote no file in pass 1", 55));
	/* without the table, run.json is still there to tell */
	snprintf(path, sizeof(path), "%s/rocprof_kernels.parquet", p.dir);
	unlink(path);
	dir = p.dir;
	CHECK_I64(rk_run_open(&dir, 1, NULL, &opened, &err), RK_E_UNSUPPORTED);
	CHECK(strstr(err.message, "run': rocprofv3 wrote no file in pass 1") != NULL);
	place_close(&p);
}

TEST(a_run_that_was_broken_off_has_no_table_that_says_there_was_nothing)
{
	char *argv[] = { "true", NULL };
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	chmod(world_text(&p.w, "opt/rocm-6.4.0/bin/rocprofv3", "#!/bin/sh\nexit 3\n"), 0755);
	opt = options(&p, argv);
	opt.counters = "SQ_WAVES"; /* a second pass, which is not reached */
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	CHECK(did.ran && !did.usable && did.passes_done < did.passes);
	CHECK(!world_has(&p.w, "run/rocprof_kernels.parquet"));
	place_close(&p);
}

/* Raises a signal at a line about the second pass. */
static void say_and_raise(void *arg, const char *line)
{
	struct place *p = arg;

	rk_list_add(&p->said, line);
	if (!strncmp(line, "pass 2", 6))
		raise(SIGTERM);
}

static void warn_and_raise(void *arg, const char *line)
{
	struct place *p = arg;

	rk_list_add(&p->warned, line);
	raise(SIGINT);
}

/* Runs two passes with these hooks; *ret is run.json, freed by the caller. */
static void run_two(struct place *p, char **argv, const struct rk_session_hooks *hooks,
		    struct rk_session_result *did, struct rk_tree **ret)
{
	struct rk_session_options opt = options(p, argv);
	struct rk_session *s = NULL;
	struct rk_error err = { 0 };
	char path[160];

	opt.counters = "SQ_WAVES";
	opt.keep_going = true;
	CHECK_I64(rk_session_plan(&opt, &s, &err), 0);
	CHECK_I64(rk_session_run(s, hooks, did, &err), 0);
	rk_session_free(s);
	snprintf(path, sizeof(path), "%s/run.json", p->dir);
	CHECK_I64(rk_run_json_load(path, ret, &err), 0);
}

TEST(a_signal_before_a_pass_ends_it_and_the_record_says_so)
{
	char *argv[] = { "sleep", "20", NULL };
	struct rk_session_result did = { 0 };
	struct rk_tree *json = NULL;
	struct place p;
	const struct rk_session_hooks hooks = { .say = say_and_raise, .warn = warn, .arg = &p };

	place_open(&p);
	/* the first pass ends at once, the second one would not */
	chmod(world_text(&p.w, "opt/rocm-6.4.0/bin/rocprofv3",
			 "#!/bin/sh\ncase $* in *pmc*) exec sleep 60;; esac\n"),
	      0755);
	run_two(&p, argv, &hooks, &did, &json);
	CHECK_I64(did.status, 128 + SIGTERM);
	CHECK_STR(rk_tree_text(rk_run_json_at(json, RK_RUN_STATE), ""), "done");
	rk_tree_free(json);
	place_close(&p);
}

TEST(a_signal_between_passes_stops_the_session_and_the_record_says_so)
{
	char *argv[] = { "true", NULL };
	struct rk_session_result did = { 0 };
	struct rk_tree *json = NULL;
	struct place p;
	const struct rk_session_hooks hooks = { .say = say, .warn = warn_and_raise, .arg = &p };

	place_open(&p);
	/* the first pass fails, which is a warning */
	chmod(world_text(&p.w, "opt/rocm-6.4.0/bin/rocprofv3", "#!/bin/sh\nexit 3\n"), 0755);
	run_two(&p, argv, &hooks, &did, &json);
	CHECK_U64(did.passes_done, 1);
	CHECK_I64(did.status, 3);
	CHECK_STR(rk_tree_text(rk_run_json_at(json, RK_RUN_STATE), ""), "stopped");
	CHECK(strstr(p.warned.v[p.warned.n - 1], "stopped by signal 2") != NULL);
	rk_tree_free(json);
	place_close(&p);
}

/* ---- options and effects ---- */

/* A small file of the place, whole; the buffer is the caller's. */
static const char *content(struct place *p, const char *name, char *buf, size_t size)
{
	char path[256];
	FILE *f;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", p->w.dir, name);
	f = fopen(path, "r");
	if (f) {
		n = fread(buf, 1, size - 1, f);
		fclose(f);
	}
	buf[n] = '\0';
	return buf;
}

static size_t times(const char *text, const char *word)
{
	size_t n = 0;

	while ((text = strstr(text, word)) != NULL) {
		text += strlen(word);
		n++;
	}
	return n;
}

TEST(the_baseline_has_the_preset_s_variables_and_nothing_of_a_profiler)
{
	char script[256], text[65536];
	char *argv[] = { "sh", "-c", script, NULL };
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	snprintf(script, sizeof(script), "echo \"$A $ROCPROF_OLD.\" >>%s/seen", p.w.dir);
	opt = options(&p, argv);
	opt.context = "{\"tools\": [], \"env_vars\": {\"A\": \"b\"}}";
	opt.baseline = true;
	setenv("ROCPROF_OLD", "1", 1);
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	unsetenv("ROCPROF_OLD");
	CHECK_STR(err.message, "");
	CHECK_STR(content(&p, "seen", text, sizeof(text)), "b .\nb .\n");
	CHECK(strstr(content(&p, "run/run.json", text, sizeof(text)), "\"baseline_seconds\"") !=
	      NULL);
	place_close(&p);
}

/* The plan as text; freed by rk_text_free. "" when it cannot be made. */
static char *plan_of(const struct rk_session_options *opt)
{
	struct rk_session *s = NULL;
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len;

	if (CHECK_I64(rk_session_plan(opt, &s, &err), 0))
		CHECK_I64(rk_session_render(s, RK_REPORT_TEXT, &text, &len, &err), 0);
	CHECK_STR(err.message, "");
	rk_session_free(s);
	return text ? text : rk_strdup("");
}

static bool has_line(const struct rk_list *l, const char *begin)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strncmp(l->v[i], begin, strlen(begin)))
			return true;
	return false;
}

TEST(counters_that_were_typed_are_reported_under_their_other_names)
{
	static const char begin[] = "counters renamed for gfx942: ";
	char *argv[] = { "true", NULL };
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	opt.counters = "TCP_READ,SQ_WAVES,L2CacheHit";
	opt.force = true;
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	CHECK(has_line(&p.said, "counters renamed for gfx942: TCP_TOTAL_READ for "
				"TCP_READ, TCC_HIT_sum and TCC_MISS_sum for L2CacheHit"));
	/* those of presets and sets nobody has typed */
	rk_list_release(&p.said);
	opt.counters = NULL;
	opt.preset = "memory";
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	opt.preset = NULL;
	opt.counters = "memory";
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	CHECK(p.said.n > 0 && !has_line(&p.said, begin));
	place_close(&p);
}

TEST(counters_alone_warn_that_times_are_not_real)
{
	static const char note[] = "# note: only counters are collected, so kernel times include";
	char *argv[] = { "true", NULL }, *text;
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	opt.counters = "SQ_WAVES";
	text = plan_of(&opt); /* with the kernels' trace */
	CHECK(strstr(text, note) == NULL);
	rk_text_free(text);
	opt.traces = NULL;
	text = plan_of(&opt);
	CHECK(strstr(text, note) != NULL);
	rk_text_free(text);
	place_close(&p);
}

TEST(a_variable_that_the_user_has_set_is_listed_in_the_plan)
{
	char *argv[] = { "true", NULL }, *text;
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	opt.context = "{\"tools\": [], \"env_vars\": {\"OF_A_USER_A\": \"b\"}}";
	setenv("OF_A_USER_A", "mine", 1);
	text = plan_of(&opt);
	unsetenv("OF_A_USER_A");
	CHECK(strstr(text, "# note: OF_A_USER_A is already set and keeps its value\n") != NULL);
	rk_text_free(text);
	place_close(&p);
}

TEST(a_context_may_be_given_as_a_preset_s_file)
{
	static const char context[] =
		"{\"tools\": [{\"name\": \"rocprof\"}], \"docker_gpus\": \"all\","
		"\"distributed\": {\"launcher\": \"torchrun\"}}";
	char *argv[] = { "python3", "train.py", NULL }, *text;
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	opt.traces = NULL;
	opt.preset = world_text(&p.w, "context.json", context);
	text = plan_of(&opt);
	CHECK(strstr(text, "'docker_gpus' of the context is ignored") != NULL);
	CHECK(strstr(text, " -- torchrun --standalone train.py\n") != NULL);
	rk_text_free(text);
	place_close(&p);
}

TEST(a_plan_whose_counters_do_not_exist_traces_kernels)
{
	char *argv[] = { "true", NULL }, *text;
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	opt.traces = NULL;
	opt.arch = "gfx1100";
	opt.counters = "SQ_INSTS_VALU_MFMA_I8";
	text = plan_of(&opt);
	CHECK(strstr(text, "none of the counters exist on gfx1100") != NULL);
	CHECK(strstr(text, "nothing else to collect: tracing kernels") != NULL);
	CHECK(strstr(text, "rocprofv3 --kernel-trace --output-format") != NULL);
	rk_text_free(text);
	place_close(&p);
}

TEST(a_session_may_be_run_again_and_takes_its_own_directory)
{
	char *argv[] = { "true", NULL };
	struct rk_session_result did = { 0 };
	struct rk_session *s = NULL;
	struct rk_error err = { 0 };
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	opt.force = true;
	CHECK_I64(rk_session_plan(&opt, &s, &err), 0);
	for (int i = 0; s && i < 2; i++) {
		CHECK_I64(rk_session_run(s, NULL, &did, &err), 0);
		CHECK_U64(did.kernels, 2);
	}
	rk_session_free(s);
	place_close(&p);
}

/* A GPU whose driver tells its memory. */
static void put_gpu(struct place *p)
{
	static const char *const files[][2] = {
		{ "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:01:00.0\n" },
		{ "vendor", "0x1002\n" },
		{ "device", "0x74a1\n" },
		{ "class", "0x120000\n" },
		{ "mem_info_vram_total", "206141652992\n" },
		{ "mem_info_vram_used", "51535413248\n" },
	};
	char name[128];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(name, sizeof(name), "sys/class/drm/card0/device/%s", files[i][0]);
		world_text(&p->w, name, files[i][1]);
	}
}

TEST(a_session_samples_the_gpus_and_records_them)
{
	char *argv[] = { "true", NULL }, text[65536];
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	put_gpu(&p);
	opt = options(&p, argv);
	opt.monitor = "vram,energy";
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	CHECK_STR(err.message, "");
	CHECK(world_has(&p.w, "run/gpu_info_vram_profiler_output.csv"));
	CHECK(world_has(&p.w, "run/samples.parquet"));
	content(&p, "run/run.json", text, sizeof(text));
	CHECK(strstr(text, "\"monitors\": [\"vram\"]") != NULL);
	CHECK(strstr(text, "\"monitors\": \"no GPU reports energy\"") != NULL);
	CHECK(strstr(text, "\"pci\": \"0000:01:00.0\"") != NULL);
	place_close(&p);
}

TEST(a_gpu_without_a_target_is_a_gpu)
{
	char *argv[] = { "true", NULL }, *text;
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	put_gpu(&p);
	opt = options(&p, argv);
	opt.tool = opt.arch = NULL;
	text = plan_of(&opt);
	CHECK(strncmp(text, "# rocprofv3 6.4.0, gfx942 (assumed)", 35) == 0);
	CHECK(strstr(text, "# note: the gfx target of the AMD GPU is unknown") != NULL);
	CHECK(strstr(text, "no AMD GPU") == NULL);
	rk_text_free(text);
	place_close(&p);
}

TEST(a_plan_says_what_is_sampled_and_how_often)
{
	char *argv[] = { "true", NULL }, *text;
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	text = plan_of(&opt);
	CHECK(strstr(text, "sampled") == NULL);
	rk_text_free(text);
	opt.monitor = "power,vram";
	text = plan_of(&opt);
	CHECK(strstr(text, "# sampled during the passes: power, vram every 100 ms\n") != NULL);
	rk_text_free(text);
	opt.monitor = NULL;
	opt.context = "{\"tools\": [{\"name\": \"gpu_info_power_profiler\", "
		      "\"env_vars\": {\"POWER_SAMPLING_RATE\": \"0.25\"}}]}";
	text = plan_of(&opt);
	CHECK(strstr(text, "# sampled during the passes: power every 250 ms\n") != NULL);
	rk_text_free(text);
	place_close(&p);
}

TEST(counters_that_a_tool_does_not_take_need_no_other_name)
{
	char *argv[] = { "true", NULL }, *text;
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	opt.tool = "omniperf";
	opt.tool_version = "6.4";
	opt.arch = "gfx1100";
	opt.counters = "memory";
	text = plan_of(&opt);
	CHECK(strncmp(text, "# rocprof-compute 6.4, gfx1100", 30) == 0);
	CHECK(strstr(text, "rocprof-compute does not support gfx1100") != NULL);
	CHECK(strstr(text, "instead") == NULL && strstr(text, "# note: counter ") == NULL);
	rk_text_free(text);
	place_close(&p);
}

TEST(a_machine_without_gpu_does_not_fail_the_monitor)
{
	char *argv[] = { "true", NULL }, text[65536];
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	opt.monitor = "power";
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	CHECK_U64(did.kernels, 2);
	CHECK_U64(p.warned.n, 1);
	content(&p, "run/run.json", text, sizeof(text));
	CHECK(strstr(text, "\"monitors\": \"no GPU found") != NULL);
	place_close(&p);
}

TEST(the_same_repair_in_two_files_is_one_entry_of_the_ledger)
{
	static const char header[] = "Kind,Agent_Id,Queue_Id,Kernel_Name,Start_Timestamp,"
				     "End_Timestamp";
	char script[1024], text[65536];
	char *argv[] = { "sh", "-c", script, NULL };
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	struct rk_session_options opt;
	const char *rows;
	struct place p;

	place_open(&p);
	snprintf(
		script, sizeof(script),
		"for n in 8 9; do printf '%s\nKERNEL_DISPATCH,1,1,k,10,20\nKERNEL_DISPATCH,1\n"
		"KERNEL_DISPATCH,2\nKERNEL_DISPATCH,1,1,k,30,40\n' >%s/rocprof_raw/${n}_kernel_trace.csv; done",
		header, p.dir);
	opt = options(&p, argv);
	CHECK_I64(run(&p, &opt, &did, &err), 0);
	content(&p, "run/run.json", text, sizeof(text));
	rows = strstr(text, "\"repaired\"");
	CHECK(rows != NULL);
	CHECK_U64(rows ? times(rows, "\"short-row\": 4") : 0, 1);
	CHECK_U64(rows ? times(rows, "short-row\"") : 0, 1);
	CHECK_U64(times(text, " (2 times)\""), 2);
	place_close(&p);
}

/* ---- memory ---- */

static int plan_once(const struct rk_session_options *opt, struct rk_error *err)
{
	struct rk_session *s = NULL;
	char *text = NULL;
	size_t len;
	int rc = rk_session_plan(opt, &s, err);

	for (int f = RK_REPORT_TEXT; rc == 0 && f <= RK_REPORT_JSON; f++) {
		rc = rk_session_render(s, (enum rk_report_format)f, &text, &len, err);
		if (rc == 0)
			rk_text_free(text);
	}
	rk_session_free(s);
	return rc;
}

/* Each allocation in turn fails; a plan that is made all the same would lack something. */
/* All of the first allocations, then ever fewer: most are those of one table of formulas. */
static void plan_may_lack_memory(const struct rk_session_options *opt)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 100000; n += 1 + n / 64) {
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = plan_once(opt, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		if (!CHECK_I64(rc, failed ? RK_E_NOMEM : 0) || !CHECK_I64(err.code, rc)) {
			printf("# allocation %d: %s\n", (int)n, err.message);
			break;
		}
	}
	CHECK(!failed);
}

TEST(a_plan_needs_all_the_memory_it_asks_for)
{
	static const char context[] =
		"{\"tools\": [{\"name\": \"rocprof\", \"env_vars\": {\"A\": \"b\"}}],"
		"\"distributed\": {\"launcher\": \"torchrun\", \"nproc_per_node\": 2}}";
	char *argv[] = { "python3", "train.py", NULL };
	struct rk_session_options opt;
	struct place p;

	place_open(&p);
	opt = options(&p, argv);
	plan_may_lack_memory(&opt);
	opt.tool_args = "--one 'two three'";
	opt.context = context;
	opt.traces = NULL;
	opt.library_trace = "rocblas,miopen";
	opt.monitor = "power";
	plan_may_lack_memory(&opt);
	opt.context = NULL;
	opt.counters = "@waves,SQ_BUSY_CYCLES,L2CacheHit";
	opt.tool = "rocprof";
	opt.tool_version = "6.1";
	opt.kernel_regex = "gemm";
	plan_may_lack_memory(&opt);
	opt.counters = "SQ_WAVES";
	opt.tool = "rocprof-compute";
	opt.tool_version = "7.0";
	plan_may_lack_memory(&opt);
	place_close(&p);
}

/*
 * A run that lacks memory fails, or has all kernels and says what else it lacks. All of the first
 * allocations, then ever fewer: each costs two processes.
 */
static void run_may_lack_memory(void (*adjust)(struct place *p, struct rk_session_options *opt))
{
	char *argv[] = { "true", NULL };
	bool failed = true;

	for (uint64_t n = 1; failed && n < 1000000; n += 1 + n / 16) {
		struct rk_session_result did = { 0 };
		struct rk_error err = { 0 };
		struct rk_session_options opt;
		struct place p;
		int rc;

		place_open(&p);
		opt = options(&p, argv);
		if (adjust)
			adjust(&p, &opt);
		rk_alloc_fail_after(n);
		rc = run(&p, &opt, &did, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		if (rc == 0 ? !CHECK_U64(did.kernels, 2) : !CHECK_I64(err.code, RK_E_NOMEM))
			printf("# allocation %d: %s\n", (int)n, err.message);
		place_close(&p);
	}
	CHECK(!failed);
}

TEST(a_run_without_memory_ends_with_an_error_or_has_its_kernels)
{
	run_may_lack_memory(NULL);
}

/* The sampler, the logs of libraries, a program's standard error and a hidden record. */
static void everything(struct place *p, struct rk_session_options *opt)
{
	put_gpu(p);
	opt->monitor = "vram";
	opt->library_trace = "rocblas,miopen";
	opt->redact = true;
	opt->baseline = true;
}

TEST(a_run_with_everything_survives_a_lack_of_memory)
{
	run_may_lack_memory(everything);
}
