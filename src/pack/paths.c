/* paths.c - see paths.h. */
#include "pack/paths.h"

#include <string.h>

#include "base/alloc.h"

/* ---- the map ---- */

static struct rk_path_value *find(const struct rk_path_map *m, uint64_t hash, const char *path,
				  size_t len)
{
	size_t at;

	for (uint32_t i = rk_index_first(&m->index, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&m->index, hash, &at))
		if (m->v[i].len == len && memcmp(m->v[i].path, path, len) == 0)
			return &m->v[i];
	return NULL;
}

ptrdiff_t rk_path_map_find(const struct rk_path_map *m, const char *path, size_t len)
{
	const struct rk_path_value *p = find(m, rk_hash_bytes(path, len), path, len);

	return p ? (ptrdiff_t)p->value : RK_PATH_NONE;
}

int rk_path_map_put(struct rk_path_map *m, const char *path, size_t value, struct rk_error *err)
{
	size_t len = strlen(path);
	uint64_t hash = rk_hash_bytes(path, len);
	struct rk_path_value *p = find(m, hash, path, len);

	if (!p) {
		p = rk_grow(m->v, &m->cap, m->n + 1, sizeof(*p));
		if (!p)
			return rk_fail_nomem(err);
		m->v = p;
		if (m->n >= UINT32_MAX - 1 || !rk_index_add(&m->index, hash, (uint32_t)m->n))
			return rk_fail_nomem(err);
		p = &m->v[m->n++];
	}
	*p = (struct rk_path_value){ .path = path, .len = len, .value = value };
	return 0;
}

void rk_path_map_release(struct rk_path_map *m)
{
	rk_index_release(&m->index);
	rk_free(m->v);
	*m = (struct rk_path_map){ 0 };
}

/* ---- patterns ---- */

/* Matches the name of one folder or file, so nothing here crosses a slash. */
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

/* The text after the segment and its slash; NULL after the last segment. */
static const char *next(const char *s, size_t len)
{
	return s[len] == '/' ? s + len + 1 : NULL;
}

/* Patterns are our own and have at most two **, so this stays cheap. */
bool rk_pack_glob(const char *pat, const char *path)
{
	size_t np, ns; /* a NULL pattern or path has nothing left to match */

	while (pat) {
		np = segment(pat);
		if (np == 2 && memcmp(pat, "**", 2) == 0) {
			pat = next(pat, np);
			if (!pat)
				return true;
			for (; path; path = next(path, segment(path)))
				if (rk_pack_glob(pat, path))
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

bool rk_pack_glob_any(const char *const *patterns, const char *path)
{
	for (; patterns && *patterns; patterns++)
		if (rk_pack_glob(*patterns, path))
			return true;
	return false;
}

/* ---- the order in wheels ---- */

int rk_pack_order(const char *a, bool a_dir, const char *b, bool b_dir)
{
	bool deep_a, deep_b;

	for (; *a && *a == *b; a++, b++)
		;
	/* at the first difference: a path that has another folder in the rest comes later */
	deep_a = a_dir || strchr(a, '/');
	deep_b = b_dir || strchr(b, '/');
	if (deep_a != deep_b)
		return deep_a ? 1 : -1;
	if (*a == *b)
		return 0;
	/* a prefix sorts before a longer name */
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}
