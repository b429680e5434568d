/* say.c - see say.h. */
#include "say.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 2048 };

const char *say_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void say_safely(FILE *f, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (; *p; p++) {
		/* 0xc2 0x80..0x9f are the control characters beyond ASCII. */
		bool beyond = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (beyond)
			p++;
		if (*p < 0x20 || *p == 0x7f || beyond)
			fprintf(f, "\\x%02x", *p);
		else
			fputc(*p, f);
	}
}

static void put_line(FILE *f, const char *verb, const char *text)
{
	if (verb)
		fprintf(f, "rockit %s: ", verb);
	else
		fputs("rockit: ", f);
	say_safely(f, text);
	fputc('\n', f);
}

/* In one write: the ranks of a job share a terminal. */
void say_note(const char *verb, const char *line)
{
	char buf[4 * LINE_BYTES + 64]; /* each byte may become \xNN */
	FILE *f = fmemopen(buf, sizeof(buf), "w");
	long len;

	if (!f) {
		put_line(stderr, verb, line);
		return;
	}
	put_line(f, verb, line);
	len = ftell(f);
	fclose(f);
	if (len > 0)
		fwrite(buf, 1, (size_t)len, stderr);
}

void say_to_nobody_too(void)
{
	signal(SIGPIPE, SIG_IGN);
}

static void say_formatted(const char *verb, const char *fmt, va_list ap)
{
	char text[LINE_BYTES];

	vsnprintf(text, sizeof(text), fmt, ap);
	say_note(verb, text);
}

int say_misuse(const char *verb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_formatted(verb, fmt, ap);
	va_end(ap);
	return EXIT_MISUSE;
}

int say_failure(const char *verb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_formatted(verb, fmt, ap);
	va_end(ap);
	return EXIT_FAILED;
}

int say_error(const char *verb, const struct rk_error *err)
{
	char text[LINE_BYTES];

	/* The user pressed ^C and needs no message. */
	if (err->code == RK_E_CANCELLED)
		return EXIT_FAILED;
	rk_error_text(err, text, sizeof(text));
	say_note(verb, text);
	return err->code == RK_E_USAGE ? EXIT_MISUSE : EXIT_FAILED;
}

void say_warning_list(const char *verb, const struct rk_warning *w, size_t n)
{
	for (size_t i = 0; i < n; i++, w++) {
		char text[LINE_BYTES], place[512] = "", times[64] = "";
		bool many = w->count > 1;

		if (w->file[0] && w->line)
			snprintf(place, sizeof(place), "%s%s:%" PRIu64, many ? "first at " : "",
				 w->file, w->line);
		else
			snprintf(place, sizeof(place), "%s", w->file);
		if (many)
			snprintf(times, sizeof(times), "%" PRIu64 " times%s", w->count,
				 place[0] ? ", " : "");
		if (place[0] || times[0])
			snprintf(text, sizeof(text), "warning: %s (%s%s)", w->message, times,
				 place);
		else
			snprintf(text, sizeof(text), "warning: %s", w->message);
		say_note(verb, text);
	}
}

struct rk_run_options say_run_begin(const char *verb, const struct rk_common *common,
				    struct rk_progress *p)
{
	rk_progress_begin(p, verb, common->quiet);
	return (struct rk_run_options){ .threads = (unsigned)common->threads,
					.tmpdir = common->tmpdir,
					.progress = rk_progress_step,
					.progress_arg = p };
}

void say_run_end(const char *verb, const struct rk_common *common, struct rk_progress *p,
		 struct rk_run *run)
{
	const struct rk_warning *w;
	const struct rk_run_file *f;
	char text[LINE_BYTES];
	size_t n = 0;

	rk_progress_end(p);
	if (!run)
		return;
	f = rk_run_files(run, &n);
	for (size_t i = 0; common->verbose && i < n; i++) {
		if (f[i].used)
			snprintf(text, sizeof(text), "used %s (%s)", f[i].path, f[i].format);
		else
			snprintf(text, sizeof(text), "not used %s: %s", f[i].path, f[i].reason);
		say_note(verb, text);
	}
	w = rk_run_warnings(run, &n);
	if (!common->quiet)
		say_warning_list(verb, w, n);
	rk_run_close(run);
}

/* ---- progress ---- */

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
	/* Only the first time: a second ^C ends the process at once. */
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

int rk_progress_step(void *arg, uint64_t done, uint64_t total)
{
	struct rk_progress *p = arg;
	double rate;
	int64_t now;

	if (came)
		return 1;
	if (!p->wanted)
		return 0;
	now = now_ns();
	if (now - p->start_ns < FIRST_AFTER_NS || now - p->last_ns < EVERY_NS)
		return 0;
	p->last_ns = now;
	p->shown = true;

	rate = (double)done / ((double)(now - p->start_ns) / 1e9);
	fprintf(stderr, "\r\033[Krockit %s: ", p->verb);
	if (total && done <= total) {
		int64_t left = 0;

		if (rate > 0)
			left = (int64_t)((double)(total - done) / rate + 0.5);
		fprintf(stderr, "%3.0f %%  %.0f MB/s  ETA %" PRId64 ":%02" PRId64,
			100 * (double)done / (double)total, rate / 1e6, left / 60, left % 60);
	} else {
		fprintf(stderr, "%.0f MB  %.0f MB/s", (double)done / 1e6, rate / 1e6);
	}
	fflush(stderr);
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
