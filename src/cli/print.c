/* print.c - see print.h. */
#include "print.h"

#include <dirent.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

const char *const rk_format_words[] = { "text", "json", "csv", NULL };

static bool to_stdout(const char *out)
{
	return !out || strcmp(out, "-") == 0;
}

/* $COLUMNS, else the terminal's width, else 0: names are not cut in a pipe or a file. */
static unsigned columns(const char *out)
{
	const char *set = getenv("COLUMNS");
	struct winsize size;
	unsigned n = 0;

	for (; set && *set >= '0' && *set <= '9' && n < 10000; set++)
		n = n * 10 + (unsigned)(*set - '0');
	if (n || !to_stdout(out))
		return n;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

struct rk_render_options rk_print_look(const struct rk_common *common, const char *out, int format)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	bool color = common->color == RK_COLOR_ALWAYS;

	if (common->color == RK_COLOR_AUTO)
		color = to_stdout(out) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0) &&
			isatty(STDOUT_FILENO);
	setlocale(LC_CTYPE, "");
	return (struct rk_render_options){
		.format = (enum rk_report_format)format,
		.color = color,
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.columns = columns(out),
	};
}

int rk_print_text(const char *verb, const char *out, char *text, size_t len)
{
	struct rk_error err = { 0 };
	int status = EXIT_DONE;

	if (!to_stdout(out)) {
		if (rk_text_save(out, text, len, &err) < 0)
			status = say_error(verb, &err);
	} else if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0) {
		status = say_failure(verb, "cannot write standard output: %s", strerror(errno));
	}
	rk_text_free(text);
	return status;
}

/* ---- the newest run directory ---- */

enum { STAMP = 15 }; /* YYYYMMDD-HHMMSS */

struct candidate {
	char name[256];
	bool stamped;
	struct timespec changed;
};

static bool has_stamp(const char *name)
{
	for (int i = 0; i < STAMP; i++)
		if (i == 8 ? name[i] != '-' : name[i] < '0' || name[i] > '9')
			return false;
	return true;
}

static bool newer(const struct candidate *a, const struct candidate *b)
{
	int c = 0;

	if (a->stamped != b->stamped)
		return a->stamped;
	if (a->stamped)
		c = memcmp(a->name, b->name, STAMP);
	if (c)
		return c > 0;
	if (a->changed.tv_sec != b->changed.tv_sec)
		return a->changed.tv_sec > b->changed.tv_sec;
	if (a->changed.tv_nsec != b->changed.tv_nsec)
		return a->changed.tv_nsec > b->changed.tv_nsec;
	return strcmp(a->name, b->name) > 0;
}

/*
 * Among the directories with a date and time in the name (YYYYMMDD-HHMMSS...) the latest wins, then
 * the one modified last. Other names come after these, also by modification time.
 */
int rk_newest_instead(const char *verb, bool quiet, char path[RK_NEWEST_BYTES])
{
	struct candidate best = { .name = "" };
	DIR *d = opendir("rockit_output");
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		size_t len = strlen(e->d_name);
		struct candidate c;
		struct stat st;

		if (e->d_name[0] == '.' || len >= sizeof(c.name) ||
		    fstatat(dirfd(d), e->d_name, &st, 0) != 0 || !S_ISDIR(st.st_mode))
			continue;
		memcpy(c.name, e->d_name, len + 1);
		c.stamped = has_stamp(c.name);
		c.changed = st.st_mtim;
		if (!best.name[0] || newer(&c, &best))
			best = c;
	}
	if (d)
		closedir(d);
	if (!best.name[0])
		return say_misuse(verb,
				  "no INPUT, and no run under 'rockit_output/'; name a file "
				  "or directory: 'rockit %s INPUT'",
				  verb);
	snprintf(path, RK_NEWEST_BYTES, "rockit_output/%s", best.name);
	if (!quiet)
		say_note(verb, path);
	return -1;
}

/* ---- plans of sessions ---- */

void rk_print_notes(const char *verb, const struct rk_session *session)
{
	const char *const *lines;
	char line[1024];
	size_t n;

	lines = rk_session_notes(session, &n);
	for (size_t i = 0; i < n; i++)
		say_note(verb, lines[i]);
	lines = rk_session_hazards(session, &n);
	for (size_t i = 0; i < n; i++) {
		snprintf(line, sizeof(line), "known problem of %s: %s",
			 rk_session_planned(session)->tool, lines[i]);
		say_note(verb, line);
	}
}

int rk_print_plan(const char *verb, const struct rk_session *session, enum rk_report_format format)
{
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len;

	if (rk_session_render(session, format, &text, &len, &err) < 0) {
		say_error(verb, &err);
		return EXIT_OWN;
	}
	return rk_print_text(verb, NULL, text, len) == EXIT_DONE ? EXIT_DONE : EXIT_OWN;
}
