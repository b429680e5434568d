/* pack_index_old.c - see pack_index_old.h. */
#include "pack/pack_index_old.h"

#include <dirent.h>
#include <string.h>

#include "io/file.h"

enum { HEAD_BYTES = 1024 };

/* The beginning of a page of ours; else "". */
static const char *read_head(const char *page, char head[HEAD_BYTES])
{
	struct rk_file *f = NULL;
	size_t n = 0;

	head[0] = '\0';
	if (rk_file_open(page, &f, NULL) < 0)
		return head;
	if (rk_file_read(f, head, HEAD_BYTES - 1, &n, NULL) < 0)
		n = 0;
	head[n] = '\0';
	rk_file_close(f);
	if (!strstr(head, RK_INDEX_GENERATOR))
		head[0] = '\0';
	return head;
}

bool rk_index_is_ours(const char *dir, const char *page)
{
	char head[HEAD_BYTES];
	struct dirent *e;
	bool alone = true;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d)))
		alone = alone && (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
				  !strcmp(e->d_name, "index.html"));
	if (d)
		closedir(d);
	return d && alone && *read_head(page, head);
}

int rk_index_check_whole(struct rk_arena *a, const char *dir, struct rk_error *err)
{
	const char *top = rk_arena_textf(a, "%s/simple", dir), *page;
	char head[HEAD_BYTES];
	DIR *d = top ? opendir(top) : NULL;
	struct dirent *e;
	int rc = top ? 0 : rk_fail_nomem(err);

	while (d && rc == 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		page = rk_arena_textf(a, "%s/%s/index.html", top, e->d_name);
		if (!page)
			rc = rk_fail_nomem(err);
		else if (strstr(read_head(page, head), "<a href=\"../../../"))
			rc = rk_fail(err, RK_E_USAGE,
				     "'%s' is part of the index of a folder above it: name that "
				     "one, or remove '%s' first",
				     top, top);
	}
	if (d)
		closedir(d);
	return rc;
}
