/* newest.c - see newest.h. */
#include "newest.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "say.h"

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

bool rk_newest_run(const char *parent, char path[RK_NEWEST_BYTES])
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
	if (!rk_newest_run("rockit_output", path))
		return say_misuse(verb,
				  "no INPUT, and no run under 'rockit_output/'; name a file "
				  "or directory: 'rockit %s INPUT'",
				  verb);
	if (!quiet)
		say_note(verb, path);
	return -1;
}
