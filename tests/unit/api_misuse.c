/* api_misuse.c - the API with NULL, closed handles, wrong order, and two threads. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/handle.h"
#include "rockit/counters.h"
#include "rockit/diff.h"
#include "rockit/doctor.h"
#include "rockit/hotspots.h"
#include "rockit/kernels.h"
#include "rockit/metrics.h"
#include "rockit/monitor.h"
#include "rockit/nearest.h"
#include "rockit/pack.h"
#include "rockit/preset.h"
#include "rockit/ranks.h"
#include "rockit/rockit.h"
#include "rockit/session.h"
#include "rockit/slurm.h"
#include "rockit/stream.h"
#include "rockit/tools.h"
#include "tap.h"
#include "world.h"

#define HEAD                                                                              \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\"," \
	"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","           \
	"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","           \
	"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","  \
	"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
#define ROW(id, start, end)                                                               \
	"\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9," #id ",7,\"k" #id "\",5," #start "," #end \
	",0,0,8,0,16,64,1,1,64,1,1\n"

/* A run of two kernels. */
static struct rk_run *open_run(struct world *w)
{
	const char *path =
		world_text(w, "1_kernel_trace.csv", HEAD ROW(1, 100, 150) ROW(2, 160, 200));
	struct rk_run *run = NULL;

	CHECK_I64(rk_run_open(&path, 1, NULL, &run, &w->err), 0);
	return run;
}

/* RK_E_USAGE with a sentence that begins with the function's name. */
#define REFUSED(fn, ...)                                                        \
	do {                                                                    \
		rk_error_clear(&w.err);                                         \
		CHECK_I64(fn(__VA_ARGS__), RK_E_USAGE);                         \
		CHECK(!strncmp(w.err.message, #fn ": ", sizeof(#fn ": ") - 1)); \
	} while (0)

TEST(null_is_refused_by_every_call_on_a_run)
{
	const struct rk_convert_options out = { .out = "/nowhere/x.csv" };
	const struct rk_html_options page = { .path = "/nowhere/x.html" };
	const struct rk_metrics_look look = { 0 };
	struct ArrowArrayStream s;
	struct rk_hotspots *h;
	struct rk_metrics *m;
	struct rk_profile *p;
	struct rk_report *r;
	size_t n = 7;
	struct world w;

	world_open(&w, 1);
	REFUSED(rk_run_open, NULL, 1, NULL, NULL, &w.err);
	REFUSED(rk_run_check_output, NULL, "x", &w.err);
	REFUSED(rk_run_convert, NULL, &out, NULL, &w.err);
	REFUSED(rk_run_convert, NULL, NULL, NULL, &w.err);
	REFUSED(rk_run_report, NULL, NULL, &r, &w.err);
	REFUSED(rk_run_report, NULL, NULL, NULL, &w.err);
	REFUSED(rk_run_html, NULL, &page, NULL, &w.err);
	REFUSED(rk_run_metrics, NULL, NULL, &m, &w.err);
	REFUSED(rk_metrics_write_dispatches, NULL, NULL, &look, "x", NULL, &w.err);
	REFUSED(rk_run_hotspots, NULL, &h, &w.err);
	REFUSED(rk_run_profile, NULL, NULL, false, &p, &w.err);
	REFUSED(rk_run_stream, NULL, NULL, &s, &w.err);
	REFUSED(rk_run_each_kernel, NULL, NULL, NULL, &w.err);
	CHECK(!rk_run_files(NULL, &n) && n == 0);
	CHECK(!rk_run_warnings(NULL, &n) && !rk_run_warnings(NULL, NULL));
	CHECK(!rk_run_table_at(NULL, 0));
	rk_run_close(NULL);
	/* and nobody needs to take an error */
	CHECK_I64(rk_run_report(NULL, NULL, NULL, NULL), RK_E_USAGE);
	world_close(&w);
}

TEST(null_is_refused_by_calls_on_results)
{
	const struct rk_profile *none[] = { NULL };
	struct rk_diff *d;
	char *text;
	struct world w;

	world_open(&w, 1);
	REFUSED(rk_report_render, NULL, NULL, &text, NULL, &w.err);
	REFUSED(rk_report_redact, NULL, RK_REPORT_TEXT, &text, NULL, &w.err);
	REFUSED(rk_metrics_render, NULL, NULL, &text, NULL, &w.err);
	REFUSED(rk_hotspots_render, NULL, NULL, &text, NULL, &w.err);
	REFUSED(rk_diff_make, none, 1, none, 1, NULL, &d, &w.err);
	REFUSED(rk_diff_make, NULL, 0, NULL, 0, NULL, &d, &w.err);
	REFUSED(rk_diff_render, NULL, RK_DIFF_TEXT, NULL, &text, NULL, &w.err);
	REFUSED(rk_text_save, NULL, "x", 1, &w.err);
	rk_report_free(NULL);
	rk_metrics_free(NULL);
	rk_hotspots_free(NULL);
	rk_profile_free(NULL);
	rk_diff_free(NULL);
	rk_text_free(NULL);
	world_close(&w);
}

TEST(null_is_refused_by_sessions_and_tools)
{
	struct rk_session_result did;
	struct rk_session *s;
	char *text;
	size_t n = 7;
	struct world w;

	world_open(&w, 1);
	REFUSED(rk_session_plan, NULL, &s, &w.err);
	REFUSED(rk_session_render, NULL, RK_REPORT_TEXT, &text, NULL, &w.err);
	REFUSED(rk_session_run, NULL, NULL, &did, &w.err);
	REFUSED(rk_session_run, NULL, NULL, NULL, &w.err);
	REFUSED(rk_session_for_kernel, NULL, NULL, &s, &w.err);
	REFUSED(rk_session_for_memory, NULL, &s, &w.err);
	REFUSED(rk_session_for_compute_unit, NULL, &s, &w.err);
	REFUSED(rk_session_for_rocprof_compute, NULL, "gfx942", &s, &w.err);
	CHECK(!rk_session_dir(NULL) && !rk_session_planned(NULL));
	CHECK(!rk_session_notes(NULL, &n) && n == 0 && !rk_session_hazards(NULL, NULL));
	rk_session_free(NULL);
	REFUSED(rk_tools_find, NULL, NULL, &w.err);
	REFUSED(rk_tools_render, NULL, RK_REPORT_TEXT, &text, NULL, &w.err);
	CHECK(!rk_tools_best(NULL, "rocprofv3"));
	rk_tools_release(NULL);
	world_close(&w);
}

TEST(null_is_refused_by_presets_and_counters)
{
	struct rk_counter_names names;
	struct rk_counter_plan *plan;
	struct rk_preset *p;
	char *text;
	struct world w;

	world_open(&w, 1);
	REFUSED(rk_preset_load, NULL, &p, &w.err);
	REFUSED(rk_preset_list, NULL, &w.err);
	REFUSED(rk_preset_from_context, NULL, NULL, 0, NULL, &p, &w.err);
	REFUSED(rk_presets_render, NULL, 1, false, RK_REPORT_TEXT, &text, NULL, &w.err);
	rk_preset_free(NULL);
	rk_preset_names_release(NULL);
	REFUSED(rk_counters_plan, NULL, NULL, &plan, &w.err);
	REFUSED(rk_counters_check, "gfx942", NULL, 1, &plan, &w.err);
	REFUSED(rk_counters_render, NULL, NULL, 0, RK_REPORT_TEXT, &text, NULL, NULL, &w.err);
	REFUSED(rk_counters_render_targets, RK_REPORT_TEXT, NULL, NULL, &w.err);
	REFUSED(rk_counter_plan_render, NULL, RK_REPORT_TEXT, &text, NULL, &w.err);
	REFUSED(rk_counter_checks_render, NULL, RK_REPORT_TEXT, &text, NULL, &w.err);
	REFUSED(rk_counters_categories, NULL, &w.err);
	REFUSED(rk_counters_of_category, NULL, "memory", &names, &w.err);
	CHECK(!rk_counters_at(NULL, 0) && !rk_counters_find("gfx942", NULL));
	CHECK(!rk_counters_arch_find(NULL));
	rk_counter_plan_free(NULL);
	rk_counter_names_release(NULL);
	CHECK(!rk_nearest(NULL, NULL));
	world_close(&w);
}

TEST(null_within_a_list_is_refused)
{
	const char *const texts[] = { "SQ_WAVES", NULL };
	const struct rk_convert_options to = { .out = "/nowhere/", .inputs = texts, .ninputs = 2 };
	const struct rk_pack_verify_options wheels = { .paths = texts, .npaths = 2 };
	struct rk_counter_plan *plan;
	struct rk_pack_proof *proof;
	struct rk_run *run;
	char *text;
	struct world w;

	world_open(&w, 1);
	REFUSED(rk_run_open, texts, 2, NULL, &run, &w.err);
	REFUSED(rk_counters_check, "gfx942", texts, 2, &plan, &w.err);
	REFUSED(rk_counters_render, "gfx942", texts, 2, RK_REPORT_TEXT, &text, NULL, NULL, &w.err);
	CHECK(rk_pack_verify(&wheels, &proof, NULL) < 0);
	run = open_run(&w);
	REFUSED(rk_run_convert, run, &to, NULL, &w.err);
	rk_run_close(run);
	world_close(&w);
}

TEST(null_is_refused_by_the_rest)
{
	struct rk_monitor_end end;
	struct rk_slurm_parts *parts;
	struct rk_slurm_job *job;
	struct rk_pack_proof *proof;
	struct rk_monitor *m;
	struct rk_pack *pack;
	const char *id;
	char *text;
	unsigned bits;
	size_t n = 7;
	struct world w;

	world_open(&w, 1);
	REFUSED(rk_doctor_new, NULL, NULL, &w.err);
	REFUSED(rk_doctor_render, NULL, NULL, false, &text, NULL, &w.err);
	rk_doctor_free(NULL);
	REFUSED(rk_gpus_find, NULL, NULL, &w.err);
	rk_gpus_release(NULL);
	CHECK_STR(rk_gpus_arch(NULL), "");
	REFUSED(rk_monitor_start, NULL, &m, &w.err);
	REFUSED(rk_monitor_open, NULL, &m, NULL, 0, &w.err);
	REFUSED(rk_monitor_stop, NULL, NULL, &w.err);
	REFUSED(rk_monitor_attend, NULL, NULL, 0, &end, &w.err);
	REFUSED(rk_monitor_parse, NULL, &bits, &w.err);
	REFUSED(rk_monitor_json, NULL, NULL, false, &text, &w.err);
	CHECK(!rk_monitor_alive(NULL));
	REFUSED(rk_slurm_plan, NULL, &job, &w.err);
	REFUSED(rk_slurm_submit, NULL, &id, &w.err);
	REFUSED(rk_slurm_wait, NULL, NULL, NULL, &w.err);
	REFUSED(rk_slurm_collect, NULL, &parts, &w.err);
	REFUSED(rk_slurm_record, NULL, &w.err);
	REFUSED(rk_ranks_render, NULL, NULL, &text, NULL, &w.err);
	REFUSED(rk_slurm_render, NULL, RK_REPORT_TEXT, &text, NULL, &w.err);
	CHECK(!rk_slurm_whole(NULL) && !rk_slurm_dir(NULL) && !rk_slurm_script(NULL, &n) && !n);
	rk_slurm_job_free(NULL);
	rk_slurm_parts_free(NULL);
	CHECK(rk_pack_new(NULL, &pack, NULL) < 0 && rk_pack_build(NULL, NULL) < 0);
	CHECK(rk_pack_render(NULL, RK_REPORT_TEXT, &text, NULL, NULL) < 0);
	CHECK(rk_pack_verify(NULL, &proof, NULL) < 0 && rk_pack_index(NULL, NULL, NULL) < 0);
	CHECK(rk_pack_proof_render(NULL, RK_REPORT_TEXT, &text, NULL, NULL) < 0);
	CHECK(rk_rocm_init(NULL, &text, NULL, NULL) < 0);
	CHECK(rk_pack_index_trees(NULL, NULL, NULL, NULL) < 0);
	CHECK(!rk_pack_packages(NULL, &n) && !rk_pack_warnings(NULL, NULL));
	CHECK(!rk_pack_left_out(NULL, &n) && !n && !rk_pack_left_out(NULL, NULL));
	rk_pack_free(NULL);
	rk_pack_proof_free(NULL);
	world_close(&w);
}

/* An older library must not take the format of a later release for text. */
TEST(values_of_a_later_release_are_refused)
{
	const enum rk_report_format later = (enum rk_report_format)99;
	const struct rk_render_options how = { .format = later };
	const struct rk_metrics_options normal = { .normal = (enum rk_normal)99 };
	const struct rk_metrics_look look = { .look = how };
	struct rk_tools_found tools = { 0 };
	struct rk_metrics *m = NULL;
	struct rk_report *r = NULL;
	char *text = NULL;
	struct world w;
	struct rk_run *run;

	world_open(&w, 1);
	run = open_run(&w);
	CHECK_I64(rk_run_report(run, NULL, &r, &w.err), 0);
	CHECK_I64(rk_run_metrics(run, NULL, &m, &w.err), 0);
	REFUSED(rk_report_render, r, &how, &text, NULL, &w.err);
	REFUSED(rk_metrics_render, m, &look, &text, NULL, &w.err);
	rk_metrics_free(m);
	m = NULL;
	REFUSED(rk_run_metrics, run, &normal, &m, &w.err);
	REFUSED(rk_tools_render, &tools, later, &text, NULL, &w.err);
	REFUSED(rk_presets_render, NULL, 0, false, later, &text, NULL, &w.err);
	REFUSED(rk_counters_render_targets, later, &text, NULL, &w.err);
	CHECK(!text && !m);
	rk_report_free(r);
	rk_run_close(run);
	world_close(&w);
}

TEST(options_that_were_not_zeroed_are_refused)
{
	struct rk_run_options how;
	struct rk_stream_options opt = { 0 };
	struct ArrowArrayStream s;
	struct rk_run *run = NULL;
	const char *path = "x";
	struct world w;

	world_open(&w, 1);
	memset(&how, 0x5a, sizeof(how));
	REFUSED(rk_run_open, &path, 1, &how, &run, &w.err);
	run = open_run(&w);
	opt.reserved[7] = 1;
	REFUSED(rk_run_stream, run, &opt, &s, &w.err);
	rk_run_close(run);
	world_close(&w);
}

TEST(a_closed_run_is_refused_and_closing_twice_does_nothing)
{
	struct rk_report *r = NULL;
	struct rk_run *run;
	struct world w;

	world_open(&w, 1);
	run = open_run(&w);
	rk_run_close(run);
	rk_run_close(run);
	REFUSED(rk_run_report, run, NULL, &r, &w.err);
	CHECK(strstr(w.err.message, "the run is NULL or was closed"));
	world_close(&w);
}

TEST(results_outlive_their_run_and_are_freed_once)
{
	struct rk_profile *p = NULL;
	struct rk_hotspots *h = NULL;
	struct rk_metrics *m = NULL;
	struct rk_report *r = NULL;
	struct rk_diff *d = NULL;
	struct rk_run *run;
	char *text = NULL;
	struct world w;

	world_open(&w, 1);
	run = open_run(&w);
	CHECK_I64(rk_run_report(run, NULL, &r, &w.err), 0);
	CHECK_I64(rk_run_metrics(run, NULL, &m, &w.err), 0);
	CHECK_I64(rk_run_hotspots(run, &h, &w.err), 0);
	CHECK_I64(rk_run_profile(run, "a", true, &p, &w.err), 0);
	rk_run_close(run);
	CHECK_I64(rk_report_render(r, NULL, &text, NULL, &w.err), 0);
	CHECK(text && strstr(text, "k1"));
	rk_text_free(text);
	CHECK_STR(r->kernels.rows[0].name, "k1");
	CHECK_STR(m->kernels[0].name, "k1");
	CHECK_I64(rk_diff_make((const struct rk_profile *const *)&p, 1,
			       (const struct rk_profile *const *)&p, 1, NULL, &d, &w.err),
		  0);
	for (unsigned i = 0; i < 2; i++) {
		rk_report_free(r);
		rk_metrics_free(m);
		rk_hotspots_free(h);
		rk_profile_free(p);
		rk_diff_free(d);
	}
	REFUSED(rk_diff_make, (const struct rk_profile *const *)&p, 1,
		(const struct rk_profile *const *)&p, 1, NULL, &d, &w.err);
	world_close(&w);
}

TEST(a_freed_session_is_refused)
{
	char *argv[] = { "app", NULL };
	const struct rk_session_options opt = {
		.tool = "rocprofv3", .tool_version = "7.0.0", .arch = "gfx942", .argv = argv
	};
	struct rk_session_result did;
	struct rk_session *s = NULL;
	char *text;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_session_plan(&opt, &s, &w.err), 0);
	rk_session_free(s);
	rk_session_free(s);
	REFUSED(rk_session_run, s, NULL, &did, &w.err);
	REFUSED(rk_session_render, s, RK_REPORT_JSON, &text, NULL, &w.err);
	CHECK(!rk_session_dir(s) && !rk_session_planned(s));
	world_close(&w);
}

TEST(a_handle_of_another_kind_is_refused)
{
	struct rk_report *r = NULL;
	struct rk_run *run;
	struct world w;

	world_open(&w, 1);
	run = open_run(&w);
	CHECK_I64(rk_run_report(run, NULL, &r, &w.err), 0);
	rk_run_close((struct rk_run *)(void *)r);
	rk_report_free((struct rk_report *)(void *)run);
	CHECK_U64(r->kernel_rows, 2);
	rk_report_free(r);
	rk_run_close(run);
	world_close(&w);
}

/* ---- two threads ---- */

struct meeting {
	struct rk_run *run;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool inside, leave;
	int rc;
};

static int wait_inside(void *arg, const struct rk_kernel *kernel)
{
	struct meeting *m = arg;

	(void)kernel;
	pthread_mutex_lock(&m->lock);
	m->inside = true;
	pthread_cond_broadcast(&m->changed);
	while (!m->leave)
		pthread_cond_wait(&m->changed, &m->lock);
	pthread_mutex_unlock(&m->lock);
	return 0;
}

static void *iterate(void *arg)
{
	struct meeting *m = arg;

	m->rc = rk_run_each_kernel(m->run, wait_inside, m, NULL);
	return NULL;
}

/* The other thread is in a call on the run until it is let go. */
static void meet(struct meeting *m, pthread_t *thread)
{
	CHECK(!pthread_create(thread, NULL, iterate, m));
	pthread_mutex_lock(&m->lock);
	while (!m->inside)
		pthread_cond_wait(&m->changed, &m->lock);
	pthread_mutex_unlock(&m->lock);
}

static void let_go(struct meeting *m, pthread_t thread)
{
	pthread_mutex_lock(&m->lock);
	m->leave = true;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	CHECK(!pthread_join(thread, NULL));
}

TEST(a_run_that_another_thread_uses_is_refused_and_may_be_closed)
{
	struct meeting m = { .lock = PTHREAD_MUTEX_INITIALIZER,
			     .changed = PTHREAD_COND_INITIALIZER };
	struct rk_report *r = NULL;
	pthread_t thread;
	struct world w;

	world_open(&w, 1);
	m.run = open_run(&w);
	meet(&m, &thread);
	REFUSED(rk_run_report, m.run, NULL, &r, &w.err);
	CHECK(strstr(w.err.message, "the run is in use by another thread"));
	rk_run_close(m.run);
	let_go(&m, thread);
	CHECK_I64(m.rc, 0);
	world_close(&w);
}

static void *own_run(void *arg)
{
	const char *path = arg;

	for (unsigned i = 0; i < 20; i++) {
		struct rk_report *r = NULL;
		struct rk_run *run = NULL;

		if (rk_run_open(&path, 1, NULL, &run, NULL) < 0 ||
		    rk_run_report(run, NULL, &r, NULL) < 0 || r->kernel_rows != 2)
			return "wrong";
		rk_run_close(run);
		rk_report_free(r);
	}
	return NULL;
}

TEST(threads_with_runs_of_their_own_do_not_meet)
{
	pthread_t threads[4];
	struct world w;
	char path[600];

	world_open(&w, 1);
	rk_run_close(open_run(&w));
	snprintf(path, sizeof(path), "%s/1_kernel_trace.csv", w.dir);
	for (unsigned i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, own_run, path));
	for (unsigned i = 0; i < 4; i++) {
		void *wrong = NULL;

		CHECK(!pthread_join(threads[i], &wrong));
		CHECK(!wrong);
	}
	world_close(&w);
}
