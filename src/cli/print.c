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

static bool want_color(const struct rk_common *common, const char *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (common->color != RK_COLOR_AUTO)
		return common->color == RK_COLOR_ALWAYS;
	return to_stdout(out) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0) &&
	       isatty(STDOUT_FILENO);
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
	setlocale(LC_CTYPE, "");
	return (struct rk_render_options){
		.format = (enum rk_report_format)format,
		.color = want_color(common, out),
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
	if (strlen(name) < STAMP)
		return false;
	for (int i = 0; i < STAMP; i++)
		if (i == 8 ? name[i] != '-' : name[i] < '0' || name[i] > '9')
			return false;
	return true;
}

static bool newer(const struct candidate *a, const struct candidate *b)
{
	int c;

	if (a->stamped != b->stamped)
		return a->stamped;
	c = a->stamped ? memcmp(a->name, b->name, STAMP) : 0;
	if (c)
		return c > 0;
	if (a->changed.tv_sec != b->changed.tv_sec)
		return a->changed.tv_sec > b->changed.tv_sec;
	if (a->changed.tv_nsec != b->changed.tv_nsec)
		return a->changed.tv_nsec > b->changed.tv_nsec;
	return strcmp(a->name, b->name) > 0;
}

static bool look_at(DIR *d, const char *name, struct candidate *ret)
{
	struct stat st;

	if (name[0] == '.' || strlen(name) >= sizeof(ret->name) ||
	    fstatat(dirfd(d), name, &st, 0) != 0 || !S_ISDIR(st.st_mode))
		return false;
	memcpy(ret->name, name, strlen(name) + 1);
	ret->stamped = has_stamp(name);
	ret->changed = st.st_mtim;
	return true;
}

/*
 * Finds the directory in `parent` whose name has the latest date and time (YYYYMMDD-HHMMSS...).
 * Among equals, the one modified last wins; other names come after these, also by modification
 * time. False when there is none.
 */
static bool find_newest(const char *parent, char path[RK_NEWEST_BYTES])
{
	struct candidate best = { .name = "" }, c;
	const struct dirent *e;
	DIR *d = opendir(parent);

	if (!d)
		return false;
	while ((e = readdir(d)) != NULL)
		if (look_at(d, e->d_name, &c) && (!best.name[0] || newer(&c, &best)))
			best = c;
	closedir(d);
	if (!best.name[0])
		return false;
	snprintf(path, RK_NEWEST_BYTES, "%s/%s", parent, best.name);
	return true;
}

int rk_newest_instead(const char *verb, bool quiet, char path[RK_NEWEST_BYTES])
{
	if (!find_newest("rockit_output", path))
		return say_misuse(verb,
				  "no INPUT, and no run under 'rockit_output/'; name a file "
				  "or directory: 'rockit %s INPUT'",
				  verb);
	if (!quiet)
		say_note(verb, path);
	return -1;
}
