/* metrics_calls.c - progress, lack of memory, tables, pipes and ranks. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "metrics_world.h"

#define GFX90A (&(struct rk_metrics_options){ .arch = "gfx90a" })

/* One file of rocprof-compute with the chip beside it. */
static void make(struct ask *a, const char *pmc_perf)
{
	world_text(&a->w, "in/sysinfo.csv", SYSINFO);
	world_text(&a->w, "in/pmc_perf.csv", pmc_perf);
}

/* ---- callbacks ---- */

struct told {
	size_t begun, nmetrics, waves, dispatches;
	size_t stop_at; /* 0: never, 1: begin, 2: the first dispatch, ... */
	char ids[8];    /* dispatch ids in their order */
	double sum;
};

static int on_begin(void *arg, const struct rk_metric_value *metrics, size_t n)
{
	struct told *t = arg;

	t->begun++;
	t->nmetrics = n;
	CHECK_U64(t->dispatches, 0);
	t->waves = n;
	for (size_t i = 0; i < n; i++)
		if (strcmp(metrics[i].id, "wavefronts") == 0)
			t->waves = i;
	return t->stop_at == 1;
}

static int on_dispatch(void *arg, const struct rk_metric_dispatch *d)
{
	struct told *t = arg;

	CHECK_U64(t->begun, 1);
	if (t->dispatches < sizeof(t->ids) - 1)
		t->ids[t->dispatches] = (char)('0' + d->dispatch_id);
	t->dispatches++;
	if (t->waves < t->nmetrics && !isnan(d->values[t->waves]))
		t->sum += d->values[t->waves];
	CHECK_I64(d->device_id, 2);
	CHECK_I64(d->duration_ns, 1000 * (d->dispatch_id + 1));
	CHECK_STR(d->kernel, d->dispatch_id == 1 ? "b" : "a");
	return t->dispatches + 1 == t->stop_at;
}

static int ask_told(struct ask *a, struct told *t, const char *regex)
{
	const struct rk_metrics_options opt = {
		.begin = on_begin, .dispatch = on_dispatch, .arg = t, .kernel_regex = regex
	};

	return ask_with(a, "in", 1, &opt);
}

TEST(each_dispatch_is_reported_once_in_order_after_the_beginning)
{
	struct told t = { 0 };
	struct ask a;

	ask_open(&a);
	make(&a, WIDE "SQ_WAVES" TIMES ROW(0, "a") "1,1000,2000\n" ROW(1, "b") "10,3000,5000\n" ROW(
			 2, "a") ",6000,9000\n");
	CHECK_I64(ask_told(&a, &t, NULL), 0);
	CHECK_U64(t.begun, 1);
	CHECK_STR(t.ids, "012");
	CHECK_NEAR(t.sum, 11);
	CHECK_U64(a.m ? a.m->dispatches : 0, 3);
	t = (struct told){ 0 };
	CHECK_I64(ask_told(&a, &t, "^a$"), 0);
	CHECK_STR(t.ids, "02");
	for (size_t stop = 1; stop < 5; stop++) {
		t = (struct told){ .stop_at = stop };
		CHECK_I64(ask_told(&a, &t, NULL), RK_E_CANCELLED);
		CHECK_U64(t.dispatches, stop - 1);
		CHECK(a.m == NULL);
	}
	ask_close(&a);
}

/* ---- memory and pipes ---- */

static int whole_way(const char *path, struct rk_error *err)
{
	const struct rk_run_options how = { .threads = 1 };
	struct rk_metrics *m = NULL, *again = NULL;
	struct rk_run *run = NULL;
	int rc = rk_run_open(&path, 1, &how, &run, err), first;

	if (rc == 0) {
		rc = rk_run_metrics(run, NULL, &m, err);
		first = rc;
		/* after a failure the run is as good as before */
		if (first < 0 && !rk_run_metrics(run, NULL, &again, NULL))
			CHECK(again->nmetrics > 5);
	}
	rk_metrics_free(again);
	rk_metrics_free(m);
	rk_run_close(run);
	return rc;
}

static void fail_each_allocation(struct ask *a, const char *sub)
{
	uint64_t n = 1, tried = 0;
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", a->w.dir, sub);
	for (;; n += n < 60 ? 1 : n / 40, tried++) {
		struct rk_error err = { 0 };
		bool failed;
		int rc;

		rk_alloc_fail_after(n);
		rc = whole_way(path, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		/* losing a warning or the readable form of a name is not a failure */
		if (rc < 0 && (!CHECK_I64(rc, RK_E_NOMEM) || !CHECK_I64(err.code, RK_E_NOMEM)))
			break;
		if (!failed) {
			CHECK_I64(rc, 0);
			break;
		}
	}
	CHECK(tried > 100);
}

TEST(metrics_survive_every_failed_allocation)
{
	struct ask a;

	ask_open(&a);
	make(&a, WIDE "GRBM_GUI_ACTIVE,SQ_WAVES,TCC_HIT[0],TCC_HIT[1],TCC_MISS_sum" TIMES ROW(
			 0, "a") "1000,512,10,20,10,5000,6000\n");
	world_text(&a.w, "in/SQ_LEVEL_WAVES.csv",
		   WIDE "GRBM_GUI_ACTIVE,SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES" TIMES ROW(
			   0, "a") "9999,0,5000,5000,6000\n");
	fail_each_allocation(&a, "in");
	ask_close(&a);
}

TEST(metrics_of_parquet_survive_every_failed_allocation)
{
	char out[600];
	const struct rk_convert_options convert = { .out = out };
	struct rk_convert_result result;
	struct ask a;

	ask_open(&a);
	make(&a, WIDE "GRBM_GUI_ACTIVE,SQ_WAVES,TCC_HIT[0],TCC_HIT[1],TCC_MISS_sum" TIMES ROW(
			 0, "a") "1000,512,10,20,10,5000,6000\n");
	snprintf(out, sizeof(out), "%s/tables/", a.w.dir);
	if (ask(&a, "in", NULL) && CHECK_I64(rk_run_convert(a.run, &convert, &result, &a.w.err), 0))
		fail_each_allocation(&a, "tables");
	ask_close(&a);
}

TEST(tables_that_were_converted_together_count_counters_once)
{
	char out[600];
	const struct rk_convert_options convert = { .out = out };
	struct rk_convert_result result;
	struct ask raw, own;

	ask_open(&raw);
	ask_open(&own);
	make(&raw, WIDE "GRBM_GUI_ACTIVE,SQ_WAVES,TCC_HIT[0],TCC_HIT[1],TCC_MISS_sum" TIMES ROW(
			   0, "a") "1000,512,10,20,10,5000,6000\n");
	snprintf(out, sizeof(out), "%s/tables/", own.w.dir);
	if (ask(&raw, "in", NULL) &&
	    CHECK_I64(rk_run_convert(raw.run, &convert, &result, &raw.w.err), 0) &&
	    ask(&own, "tables", NULL)) {
		CHECK(result.files >= 3);
		/* the chip is among the tables, too */
		CHECK_STR(own.m->arch, "gfx90a");
		CHECK_NEAR(value_of(&own, "l2_hit_pct")->avg, 75);
		CHECK(same_answer(raw.m, own.m));
	}
	ask_close(&own);
	ask_close(&raw);
}

/* A pipe that somebody else writes `text` to. */
static pid_t pipe_of(struct ask *a, const char *text, char path[600])
{
	pid_t child;

	snprintf(path, 600, "%s/pipe", a->w.dir);
	unlink(path);
	CHECK_I64(mkfifo(path, 0600), 0);
	child = fork();
	if (child == 0) {
		FILE *f = fopen(path, "w");

		if (f)
			fputs(text, f);
		_exit(f && fclose(f) == 0 ? 0 : 1);
	}
	CHECK(child > 0);
	return child;
}

static void ask_pipe(struct ask *a, const char *text)
{
	char path[600];
	pid_t child = pipe_of(a, text, path);

	ask(a, "pipe", GFX90A);
	if (child <= 0)
		return;
	kill(child, SIGKILL); /* it waits for a reader that did not come, if it is still there */
	waitpid(child, NULL, 0);
}

TEST(a_pipe_is_judged_by_what_can_be_read_once)
{
	struct ask a;

	ask_open(&a);
	ask_pipe(&a, TRACE TRACE_ROW(1, "a", 1000, 901000));
	if (a.m) {
		CHECK_U64(a.m->dispatches, 1);
		CHECK_I64(a.m->total_ns, 900000);
		CHECK_U64(a.m->nwarnings, 1); /* the chip has only a target */
		CHECK_U64(warned(&a, "assumed-device"), 1);
		CHECK(is_whole(a.m));
	}
	ask_pipe(&a, V3 V3_ROW(1, "SQ_WAVES", 64, 1000, 2000));
	if (a.m) {
		CHECK_U64(a.m->dispatches, 1);
		CHECK_U64(warned(&a, "counters-not-joined"), 1);
		CHECK_STR(absent(&a, "wavefronts"), "SQ_WAVES was not collected");
	}
	ask_close(&a);
}

TEST(ranks_of_one_run_are_added_up)
{
	struct ask a;

	ask_open(&a);
	world_text(&a.w, "run/rank-0/1_agent_info.csv", AGENTS MI300X(4));
	world_text(&a.w, "run/rank-0/1_counter_collection.csv",
		   V3 V3_ROW(1, "SQ_WAVES", 100, 1000, 2000)
			   V3_ROW(1, "TCC_HIT[0]", 10, 1000, 2000));
	world_text(&a.w, "run/rank-1/1_agent_info.csv", AGENTS MI210(4));
	/* the other chip has more channels than this one */
	world_text(&a.w, "run/rank-1/1_counter_collection.csv",
		   V3 V3_ROW(1, "SQ_WAVES", 300, 1000, 3000) V3_ROW(1, "TCC_HIT[0]", 10, 1000, 3000)
			   V3_ROW(1, "TCC_HIT[1]", 10, 1000, 3000)
				   V3_ROW(1, "TCC_MISS_sum", 10, 1000, 3000));
	if (ask(&a, "run", NULL)) {
		CHECK_U64(a.m->dispatches, 2);
		CHECK_I64(a.m->total_ns, 3000);
		CHECK_NEAR(value_of(&a, "wavefronts")->avg, 200);
		CHECK_NEAR(value_of(&a, "wavefronts")->weighted, (100. + 2 * 300) / 3);
		CHECK_NEAR(value_of(&a, "l2_hit_pct")->avg, 200 / 3.);
		CHECK(is_whole(a.m));
	}
	ask_close(&a);
}
