/* monitor_run.c (tests) - the sampler as a command: directories, durations, programs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "rockit/monitor.h"
#include "rockit/report.h"
#include "tap.h"
#include "world.h"

/* One GPU that says how busy it is. */
static void make_gpu(struct world *w)
{
	world_text(w, "gpu/sys/class/drm/card0/device/uevent", "PCI_SLOT_NAME=0000:03:00.0\n");
	world_text(w, "gpu/sys/class/drm/card0/device/vendor", "0x1002\n");
	world_text(w, "gpu/sys/class/drm/card0/device/class", "0x038000\n");
	world_text(w, "gpu/sys/class/drm/card0/device/gpu_busy_percent", "42\n");
}

struct opened {
	char root[128], dir[160], path[512];
	struct rk_monitor_options opt;
	struct rk_monitor *m;
};

static int open_in(struct world *w, const char *dir, struct opened *o)
{
	*o = (struct opened){ .opt = { .metrics = RK_MONITOR_ALL, .interval_ms = 10 } };
	snprintf(o->root, sizeof(o->root), "%s/gpu", w->dir);
	snprintf(o->dir, sizeof(o->dir), "%s/%s", w->dir, dir);
	o->opt.root = o->root;
	o->opt.dir = o->dir;
	w->err = (struct rk_error){ 0 };
	return rk_monitor_open(&o->opt, &o->m, o->path, sizeof(o->path), &w->err);
}

TEST(a_monitor_makes_its_directory_and_takes_it_away_when_it_fails)
{
	struct rk_monitor_end end;
	struct opened o;
	struct world w;

	world_open(&w, 1);
	world_text(&w, "have/file", "");
	CHECK_I64(open_in(&w, "a/b//c/", &o), RK_E_UNSUPPORTED);
	CHECK(!world_has(&w, "a"));
	CHECK_I64(open_in(&w, "have/b", &o), RK_E_UNSUPPORTED);
	CHECK(!world_has(&w, "have/b") && world_has(&w, "have"));
	CHECK_I64(open_in(&w, "have/file/b", &o), RK_E_IO);
	make_gpu(&w);
	CHECK_I64(open_in(&w, "a/b//c/", &o), 0);
	CHECK_STR(o.path, o.dir);
	CHECK_I64(rk_monitor_attend(o.m, NULL, 1, &end, &w.err), 0);
	CHECK(world_has(&w, "a/b/c/gpu_info_samples.csv"));
	CHECK_I64(end.trouble.code, 0);
	/* what is there is never taken away */
	CHECK_I64(open_in(&w, "a/b/c", &o), RK_E_IO);
	CHECK(world_has(&w, "a/b/c/gpu_info_samples.csv"));
	world_close(&w);
}

TEST(a_directory_name_that_is_too_long_is_refused)
{
	struct rk_monitor_options opt = { .dir = "some/where", .metrics = RK_MONITOR_ALL };
	struct rk_error err = { 0 };
	struct rk_monitor *m = NULL;
	char path[10];

	CHECK_I64(rk_monitor_open(&opt, &m, path, sizeof(path), &err), RK_E_LIMIT);
	CHECK(access("some", F_OK) < 0);
}

TEST(a_program_may_outlast_the_sampler)
{
	char sh[] = "sh", c[] = "-c", script[] = "sleep 0.3; exit 4",
	     *argv[] = { sh, c, script, NULL };
	struct rk_monitor_end end;
	struct opened o;
	struct world w;

	world_open(&w, 1);
	make_gpu(&w);
	CHECK_I64(open_in(&w, "out", &o), 0);
	CHECK_I64(rk_monitor_attend(o.m, argv, 1, &end, &w.err), 0);
	CHECK_I64(end.status, 4);
	CHECK(end.samples.samples >= 2 && end.samples.samples < 25);
	CHECK_I64(rk_monitor_attend(NULL, argv, 0, &end, &w.err), 0);
	CHECK_I64(end.status, 4);
	CHECK_U64(end.samples.samples, 0);
	world_close(&w);
}

TEST(opening_a_monitor_survives_each_failed_allocation)
{
	struct rk_monitor_end end;
	struct opened o;
	struct world w;
	bool failed = true;

	world_open(&w, 1);
	make_gpu(&w);
	for (uint64_t n = 1; failed && n < 1000; n++) {
		char name[32];
		int rc;

		snprintf(name, sizeof(name), "out%u/x", (unsigned)n);
		rk_alloc_fail_after(n);
		rc = open_in(&w, name, &o);
		if (rc == 0)
			rk_monitor_attend(o.m, NULL, 1, &end, NULL);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc == 0 ? end.trouble.code : rc, failed ? RK_E_NOMEM : 0);
		snprintf(name, sizeof(name), "out%u", (unsigned)n);
		CHECK(world_has(&w, name) == (rc == 0));
	}
	CHECK(!failed);
	world_close(&w);
}

TEST(what_a_monitor_did_is_written_as_json)
{
	struct rk_monitor_end end = { .samples = { .samples = 12,
						   .missed = 1,
						   .gpus = 2,
						   .metrics = RK_MONITOR_POWER | RK_MONITOR_TEMP,
						   .cpu_percent = 0.25,
						   .clock_error_ns = 900,
						   .note = "no GPU reports busy" },
				      .status = 7 };
	struct rk_error err = { 0 };
	char *text = NULL;

	CHECK_I64(rk_monitor_json(&end, "a\"b\xff", true, &text, &err), 0);
	CHECK_STR(text,
		  "{\n \"schema\": 1,\n \"dir\": \"a\\\"b\\ufffd\",\n \"samples\": 12,\n"
		  " \"missed\": 1,\n \"gpus\": 2,\n \"metrics\": [\"power\", \"temp\"],\n"
		  " \"cpu_percent\": 0.25,\n \"clock_error_ns\": 900,\n"
		  " \"note\": \"no GPU reports busy\",\n \"error\": \"\",\n \"status\": 7\n}\n");
	rk_text_free(text);
	rk_alloc_fail_after(1);
	CHECK_I64(rk_monitor_json(&end, "d", false, &text, &err), RK_E_NOMEM);
	rk_alloc_fail_after(0);
	CHECK_I64(rk_monitor_json(&end, "d", false, &text, NULL), 0);
	CHECK(strstr(text, "\"status\": null\n") != NULL);
	rk_text_free(text);
}
