/* say.c - see say.h. */
#include "say.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "command.h"

enum { LINE_BYTES = 2048 };

void say_safely(FILE *f, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (; *p; p++) {
		/* 0xc2 0x80..0x9f are the control characters beyond ASCII. */
		bool beyond = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

		if (*p < 0x20 || *p == 0x7f || beyond)
			fprintf(f, "\\x%02x", beyond ? *++p : *p);
		else
			fputc(*p, f);
	}
}

static void put_line(FILE *f, const char *verb, const char *text)
{
	fprintf(f, "rockit%s%s: ", verb ? " " : "", verb ? verb : "");
	say_safely(f, text);
	fputc('\n', f);
}

/* In one piece: the ranks of a job share a terminal. */
static void say_line(const char *verb, const char *text)
{
	char line[4 * LINE_BYTES + 64]; /* each byte may become \xNN */
	FILE *f = fmemopen(line, sizeof(line), "w");
	long len;

	if (!f) {
		put_line(stderr, verb, text);
		return;
	}
	put_line(f, verb, text);
	len = ftell(f);
	fclose(f);
	if (len > 0)
		fwrite(line, 1, (size_t)len, stderr);
}

void say_note(const char *verb, const char *line)
{
	say_line(verb, line);
}

void say_to_nobody_too(void)
{
	signal(SIGPIPE, SIG_IGN);
}

int say_misuse(const char *verb, const char *fmt, ...)
{
	char text[LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say_line(verb, text);
	return EXIT_MISUSE;
}

int say_failure(const char *verb, const char *fmt, ...)
{
	char text[LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say_line(verb, text);
	return EXIT_FAILED;
}

int say_error(const char *verb, const struct rk_error *err)
{
	char text[LINE_BYTES];

	/* Whoever pressed ^C knows. */
	if (err->code == RK_E_CANCELLED)
		return EXIT_FAILED;
	rk_error_text(err, text, sizeof(text));
	say_line(verb, text);
	return err->code == RK_E_USAGE ? EXIT_MISUSE : EXIT_FAILED;
}

static void say_warning(const char *verb, const struct rk_warning *w)
{
	char text[LINE_BYTES], place[512] = "", times[64] = "";
	bool many = w->count > 1;

	if (w->file[0] && w->line)
		snprintf(place, sizeof(place), "%s%s:%" PRIu64, many ? "first at " : "", w->file,
			 w->line);
	else
		snprintf(place, sizeof(place), "%s", w->file);
	if (many)
		snprintf(times, sizeof(times), "%" PRIu64 " times%s", w->count,
			 place[0] ? ", " : "");
	if (place[0] || times[0])
		snprintf(text, sizeof(text), "warning: %s (%s%s)", w->message, times, place);
	else
		snprintf(text, sizeof(text), "warning: %s", w->message);
	say_line(verb, text);
}

void say_warning_list(const char *verb, const struct rk_warning *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		say_warning(verb, &w[i]);
}

void say_warnings(const char *verb, const struct rk_run *run)
{
	size_t n = 0;
	const struct rk_warning *w = rk_run_warnings(run, &n);

	say_warning_list(verb, w, n);
}

void say_files(const char *verb, const struct rk_run *run)
{
	size_t n = 0;
	const struct rk_run_file *f = rk_run_files(run, &n);

	for (size_t i = 0; i < n; i++) {
		char text[LINE_BYTES];

		if (f[i].used)
			snprintf(text, sizeof(text), "used %s (%s)", f[i].path, f[i].format);
		else
			snprintf(text, sizeof(text), "not used %s: %s", f[i].path, f[i].reason);
		say_line(verb, text);
	}
}
