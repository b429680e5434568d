/* window.c - see window.h. */
#include "session/window.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/dirs.h"
#include "rockit/live.h"
#include "run/run_dir.h"
#include "session/trigger.h"

enum {
	FIND_MS = 500,    /* how often we look for files of new processes */
	APART_MS = 10000, /* between two snapshots */
	RETELL_MS = 1000,
	MOST_FILES = 4096,
};

/* The recorder's file of one process. */
struct recorded {
	char *path;
	struct rk_trigger *trigger; /* NULL: none, or the file is not ready */
};

struct rk_window {
	struct rk_session *s;
	const struct rk_plan_pass *pass;
	struct recorded *files;
	size_t n, cap;
	uint64_t now_ms, find_ms;
	bool on;            /* recording is wanted now */
	bool told;          /* ... and the collectors know it */
	uint64_t retell_ms; /* until then new files may not be ready */
	bool trouble;       /* that they cannot be switched was reported */

	/* Snapshots are made on a thread of their own: signals for the program do not wait for them. */
	pthread_t thread;
	bool busy; /* a thread was started and not joined */
	_Atomic bool done;
	unsigned number; /* of the last snapshot; 0: none yet */
	uint64_t made_ms;
	char *out, why[RK_TRIGGER_WHY];
	struct rk_snap_result got;
	struct rk_error err;
	int rc;
};

/* ---- snapshots ---- */

static void *make_snapshot(void *arg)
{
	struct rk_window *w = arg;
	const struct rk_snap_options opt = {
		.dir = w->s->plan->dir,
		.out = w->out,
		.last_ns = (int64_t)w->s->plan->window.last_s * 1000000000,
	};

	w->rc = rk_live_snap(&opt, &w->got, &w->err);
	atomic_store(&w->done, true);
	return NULL;
}

/* The oldest goes when there is one more than --keep. */
static void drop_oldest(struct rk_window *w)
{
	const struct rk_plan *p = w->s->plan;
	char *old;

	if (w->number <= p->window.keep)
		return;
	old = rk_strf("%s/" RK_SNAP_NAME, p->dir, w->number - (unsigned)p->window.keep);
	if (old)
		rk_remove_tree(old, NULL);
	rk_free(old);
}

/* "snap-001: SIGUSR2; it holds 41 of 60 s, --max-size 800M would hold all". */
static void say_snapshot(struct rk_window *w)
{
	const struct rk_snap_result *got = &w->got;
	char held[160] = "";

	if (got->enough_bytes)
		snprintf(held, sizeof(held),
			 "; it holds %.0f of %" PRIu64 " s, --max-size %" PRIu64 "M would hold all",
			 (double)got->held_ns / 1e9, w->s->plan->window.last_s,
			 (got->enough_bytes + (1 << 20) - 1) >> 20);
	rk_session_say(w->s, RK_SNAP_NAME ": %s%s%s%s", w->number, w->why, held,
		       got->note[0] ? "; " : "", got->note);
}

/* Joins the thread if it has finished, or `wait`s for it. */
static void end_snapshot(struct rk_window *w, bool wait)
{
	if (!w->busy || (!wait && !atomic_load(&w->done)))
		return;
	pthread_join(w->thread, NULL);
	w->busy = false;
	if (w->rc < 0) {
		rk_session_warn(w->s, "no snapshot (%s): %s", w->why, w->err.message);
	} else {
		drop_oldest(w);
		say_snapshot(w);
		rk_list_addf(&w->s->record.snaps, RK_SNAP_NAME "=%s", w->number, w->why);
	}
	rk_free(w->out);
	w->out = NULL;
}

/* `asked`: the user wants it, and gets a message if it is too early. */
static void start_snapshot(struct rk_window *w, const char *why, bool asked)
{
	if (w->busy || (w->number && w->now_ms - w->made_ms < APART_MS)) {
		if (asked)
			rk_session_say(w->s,
				       "no snapshot: the last one was made less than %d s ago",
				       APART_MS / 1000);
		return;
	}
	w->made_ms = w->now_ms;
	w->number++;
	w->err = (struct rk_error){ 0 };
	w->got = (struct rk_snap_result){ 0 };
	snprintf(w->why, sizeof(w->why), "%s", why);
	w->out = rk_strf("%s/" RK_SNAP_NAME, w->s->plan->dir, w->number);
	atomic_store(&w->done, false);
	w->busy = w->out && !pthread_create(&w->thread, NULL, make_snapshot, w);
	if (w->busy)
		return;
	rk_session_warn(w->s, "no snapshot (%s): cannot start a thread", why);
	rk_free(w->out);
	w->out = NULL;
}

static void on_signal(void *arg)
{
	struct rk_window *w = arg;

	start_snapshot(w, "SIGUSR2", true);
}

/* ---- the files ---- */

static void find_files(struct rk_window *w)
{
	DIR *d = opendir(w->pass->dir);
	struct dirent *e;

	while (d && w->n < MOST_FILES && (e = readdir(d)) != NULL) {
		struct recorded *more;
		char *path;
		size_t i = 0;

		if (!rk_text_ends(e->d_name, strlen(e->d_name), ".rkraw"))
			continue;
		while (i < w->n && strcmp(rk_base_name(w->files[i].path), e->d_name) != 0)
			i++;
		if (i < w->n)
			continue;
		path = rk_strf("%s/%s", w->pass->dir, e->d_name);
		more = path ? rk_grow(w->files, &w->cap, w->n + 1, sizeof(*more)) : NULL;
		if (!more) { /* the next look finds it again */
			rk_free(path);
			break;
		}
		w->files = more;
		w->files[w->n++] = (struct recorded){ .path = path };
	}
	if (d)
		closedir(d);
}

/* Whether recording is wanted at this time. */
static bool is_on(const struct rk_plan *p, uint64_t ms)
{
	uint64_t s = ms / 1000;

	if (s < p->delay_s)
		return false;
	s -= p->delay_s;
	if (p->duration_s && s >= p->duration_s)
		return false;
	return p->range || !p->window.every_of || s % p->window.every_of < p->window.every_on;
}

/*
 * Switches all collectors at the right time, and those of new processes if they started otherwise. A
 * file that is not ready yet is missed, so new ones are switched repeatedly for some time.
 */
static void switch_files(struct rk_window *w, bool more)
{
	const struct rk_plan *p = w->s->plan;
	const struct rk_switch_options opt = { .dir = p->dir, .on = w->on, .wait_ms = 1 };
	bool starts = p->delay_s == 0;
	struct rk_switch_result did = { 0 };
	struct rk_error err = { 0 };
	int rc;

	if (more && w->on != starts)
		w->retell_ms = w->now_ms + RETELL_MS;
	if ((w->told == w->on && w->now_ms >= w->retell_ms) || !w->n)
		return;
	if (w->told != w->on)
		for (size_t i = 0; i < w->n; i++)
			if (w->files[i].trigger)
				rk_trigger_forget(w->files[i].trigger);
	w->told = w->on;
	rc = rk_live_switch(&opt, &did, &err);
	/* processes may have ended; a silent one follows later */
	if (rc == 0 || rc == RK_E_UNSUPPORTED || did.silent || w->trouble)
		return;
	w->trouble = true;
	rk_session_warn(w->s, "cannot switch recording %s: %s", w->on ? "on" : "off", err.message);
}

static void tick(void *arg, uint64_t elapsed_ms)
{
	struct rk_window *w = arg;
	const struct rk_plan *p = w->s->plan;
	const struct rk_trigger_options look = { .step = p->range,
						 .slow_percent = p->window.slow_percent,
						 .gap_ms = p->window.gap_ms };
	char why[RK_TRIGGER_WHY];
	size_t before = w->n;

	w->now_ms = elapsed_ms;
	w->on = is_on(p, elapsed_ms);
	end_snapshot(w, false);
	if (elapsed_ms >= w->find_ms) {
		find_files(w);
		w->find_ms = elapsed_ms + FIND_MS;
	}
	if (rk_plan_switches(p))
		switch_files(w, w->n > before);
	for (size_t i = 0; i < w->n; i++) {
		struct recorded *f = &w->files[i];

		if (!look.slow_percent && !look.gap_ms)
			continue;
		if (!f->trigger && rk_trigger_open(f->path, &look, &f->trigger, NULL) < 0)
			continue;
		if (f->trigger && rk_trigger_look(f->trigger, elapsed_ms, why))
			start_snapshot(w, why, false);
	}
}

/* ---- the whole ---- */

int rk_window_open(struct rk_session *s, const struct rk_plan_pass *pass, struct rk_window **ret,
		   struct rk_error *err)
{
	const struct rk_plan_window *p = &s->plan->window;

	*ret = NULL;
	if (!rk_plan_switches(s->plan) && !p->on_signal && !p->on_crash && !p->slow_percent &&
	    !p->gap_ms)
		return 0;
	*ret = rk_calloc(1, sizeof(**ret));
	if (!*ret)
		return rk_fail_nomem(err);
	(*ret)->s = s;
	(*ret)->pass = pass;
	(*ret)->told = s->plan->delay_s == 0;
	return 0;
}

void rk_window_attend(struct rk_window *w, struct rk_child_options *opt)
{
	opt->arg = w;
	opt->tick = tick;
	if (w->s->plan->window.on_signal) {
		opt->own_signal = SIGUSR2;
		opt->signalled = on_signal;
	}
}

void rk_window_close(struct rk_window *w, const struct rk_child_result *did)
{
	char why[RK_TRIGGER_WHY];

	if (!w)
		return;
	end_snapshot(w, true);
	/* one that we or the user ended did not crash; a crash has its snapshot however early */
	if (w->s->plan->window.on_crash && did->end == RK_CHILD_SIGNALLED && !did->forwarded) {
		snprintf(why, sizeof(why), "the program was ended by signal %d (%s)", did->signal,
			 strsignal(did->signal));
		w->now_ms = w->made_ms + APART_MS;
		start_snapshot(w, why, false);
		end_snapshot(w, true);
	}
	for (size_t i = 0; i < w->n; i++) {
		rk_trigger_close(w->files[i].trigger);
		rk_free(w->files[i].path);
	}
	rk_free(w->files);
	rk_free(w);
}
