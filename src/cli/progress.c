/* progress.c - see progress.h. */
#include "progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define FIRST_AFTER_NS SECOND_NS
#define EVERY_NS (SECOND_NS / 5)

static volatile sig_atomic_t came;

static void on_signal(int sig)
{
	came = sig;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

void rk_progress_begin(struct rk_progress *p, const char *verb, bool quiet)
{
	/* Once: a second ^C ends the process at once. */
	struct sigaction once = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
	struct sigaction old;
	const int signals[] = { SIGINT, SIGTERM };
	const char *term = getenv("TERM");

	for (size_t i = 0; i < 2; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &once, NULL);
	*p = (struct rk_progress){ .verb = verb, .start_ns = now_ns() };
	p->last_ns = p->start_ns;
	p->wanted = !quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

static void show(struct rk_progress *p, uint64_t done, uint64_t total, int64_t spent_ns)
{
	double seconds = (double)spent_ns / 1e9, rate = (double)done / seconds;

	fprintf(stderr, "\r\033[Krockit %s: ", p->verb);
	if (total && done <= total) {
		int64_t left = rate > 0 ? (int64_t)((double)(total - done) / rate + 0.5) : 0;

		fprintf(stderr, "%3.0f %%  %.0f MB/s  ETA %" PRId64 ":%02" PRId64,
			100 * (double)done / (double)total, rate / 1e6, left / 60, left % 60);
	} else {
		fprintf(stderr, "%.0f MB  %.0f MB/s", (double)done / 1e6, rate / 1e6);
	}
	fflush(stderr);
	p->shown = true;
}

int rk_progress_step(void *arg, uint64_t done, uint64_t total)
{
	struct rk_progress *p = arg;
	int64_t now;

	if (came)
		return 1;
	if (!p->wanted)
		return 0;
	now = now_ns();
	if (now - p->start_ns < FIRST_AFTER_NS || now - p->last_ns < EVERY_NS)
		return 0;
	p->last_ns = now;
	show(p, done, total, now - p->start_ns);
	return 0;
}

void rk_progress_end(struct rk_progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	fflush(stderr);
	p->shown = false;
}

int rk_progress_signal(void)
{
	return came;
}
