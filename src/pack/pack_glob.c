/* pack_glob.c - patterns of paths, as the package table has them. */
#include <string.h>

#include "pack/pack_table.h"

/* One folder's or file's name: nothing here crosses a slash. */
static bool match_name(const char *pat, size_t npat, const char *name, size_t n)
{
	const char *star = NULL, *from = NULL;
	const char *p = pat, *s = name;

	while (s < name + n) {
		if (p < pat + npat && *p == '*') {
			star = p++;
			from = s;
		} else if (p < pat + npat && (*p == '?' || *p == *s)) {
			p++;
			s++;
		} else if (star) {
			p = star + 1;
			s = ++from;
		} else {
			return false;
		}
	}
	while (p < pat + npat && *p == '*')
		p++;
	return p == pat + npat;
}

static size_t segment(const char *s)
{
	const char *slash = strchr(s, '/');

	return slash ? (size_t)(slash - s) : strlen(s);
}

/* Behind the segment and its slash; NULL when it was the last. */
static const char *next(const char *s, size_t len)
{
	return s[len] == '/' ? s + len + 1 : NULL;
}

/* NULL stands for "nothing is left". Patterns are our own: two ** at most, so this stays cheap. */
static bool match(const char *pat, const char *path)
{
	size_t np, ns;

	while (pat) {
		np = segment(pat);
		if (np == 2 && memcmp(pat, "**", 2) == 0) {
			pat = next(pat, np);
			if (!pat)
				return true;
			for (; path; path = next(path, segment(path)))
				if (match(pat, path))
					return true;
			return false;
		}
		if (!path)
			return false;
		ns = segment(path);
		if (!match_name(pat, np, path, ns))
			return false;
		pat = next(pat, np);
		path = next(path, ns);
	}
	return !path;
}

bool rk_pack_glob(const char *pattern, const char *path)
{
	return match(pattern, path);
}

bool rk_pack_glob_any(const char *const *patterns, const char *path)
{
	for (; patterns && *patterns; patterns++)
		if (match(*patterns, path))
			return true;
	return false;
}
