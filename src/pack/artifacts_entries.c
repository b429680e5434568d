/* artifacts_entries.c - the entries of one artifact: checked, sorted, whole. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pack/artifacts_impl.h"

/* With nothing in it that would spoil a message. */
static int bad_name(const char *path, const char *where, const char *why, struct rk_error *err)
{
	char shown[200];
	size_t n = 0;

	for (const char *s = path; *s && n < sizeof(shown) - 1; s++)
		shown[n++] = (char)((unsigned char)*s < 32 || (unsigned char)*s > 126 ? '?' : *s);
	shown[n] = '\0';
	return rk_fail(err, RK_E_FORMAT, "the name '%s' in '%s' %s", shown, where, why);
}

/* U+0080 to U+009F, U+2028 and U+2029: Python ends lines there, and installers read RECORD by lines. */
static bool is_late_control(const char *s)
{
	unsigned char a = (unsigned char)s[0], b = a ? (unsigned char)s[1] : 0;

	if (a == 0xc2)
		return b >= 0x80 && b <= 0x9f;
	return a == 0xe2 && b == 0x80 &&
	       ((unsigned char)s[2] == 0xa8 || (unsigned char)s[2] == 0xa9);
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 32 || *s == 127 || is_late_control(s))
			return true;
	return false;
}

bool rk_artifact_name_fits(const char *s)
{
	size_t len = strlen(s);

	return !has_control(s) && rk_utf8_valid(s, len) == len;
}

static bool has_dots(const char *s)
{
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.') || (n == 2 && memcmp(s, "..", 2) == 0))
			return true;
		if (!s[n])
			return false;
	}
}

int rk_artifact_check_path(const char *path, const char *where, struct rk_error *err)
{
	size_t len = strlen(path);

	if (len >= RK_ARTIFACT_PATH_MAX)
		return bad_name(path, where, "is too long", err);
	if (has_control(path))
		return bad_name(path, where, "has a control character, which RECORD cannot hold",
				err);
	if (rk_utf8_valid(path, len) != len)
		return bad_name(path, where, "is not UTF-8, which a wheel cannot hold", err);
	if (strchr(path, '\\'))
		return bad_name(path, where,
				"has a backslash, which installers may take for a slash", err);
	if (has_dots(path))
		return bad_name(path, where, "does not stay below it", err);
	return 0;
}

/* Does `path` lie below `folder`, or is it the same? */
static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

static int add_stage(struct artifact_reader *r, const char *line, size_t len, struct rk_error *err)
{
	char path[RK_ARTIFACT_PATH_MAX];

	while (len && (line[len - 1] == '\r' || line[len - 1] == ' ' || line[len - 1] == '/'))
		len--;
	if (!len)
		return 0;
	if (len >= sizeof(path) || memchr(line, 0, len))
		return rk_fail(err, RK_E_FORMAT, "'%s' of '%s' has a line that is no path",
			       RK_ARTIFACT_MANIFEST, r->artifact->label);
	memcpy(path, line, len);
	path[len] = '\0';
	if (rk_artifact_check_path(path, r->path, err) < 0)
		return RK_E_FORMAT;
	for (size_t i = 0; i < r->stages.n; i++) {
		if (strcmp(path, r->stages.v[i]) == 0)
			return 0;
		if (is_below(path, r->stages.v[i]) || is_below(r->stages.v[i], path))
			return rk_fail(err, RK_E_FORMAT, "'%s' of '%s' lists one stage in another",
				       RK_ARTIFACT_MANIFEST, r->artifact->label);
	}
	rk_list_add(&r->stages, path);
	if (r->stages.n > RK_ARTIFACT_STAGES_MAX)
		return rk_fail(err, RK_E_LIMIT, "'%s' has too many stages", r->artifact->label);
	return r->stages.bad ? rk_fail_nomem(err) : 0;
}

int rk_artifact_manifest(struct artifact_reader *r, const char *text, size_t len,
			 struct rk_error *err)
{
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;

		rc = add_stage(r, text + at, n, err);
		at += n + 1;
	}
	return rc;
}

int rk_artifact_add(struct artifact_reader *r, uint32_t stage, const char *path,
		    struct rk_entry **ret, struct rk_error *err)
{
	struct rk_entry *e;

	r->name_bytes += strlen(path);
	if (r->n >= RK_ARTIFACT_ENTRIES_MAX || r->name_bytes > RK_ARTIFACT_NAMES_MAX)
		return rk_fail(err, RK_E_LIMIT, "'%s' has more than %d files, or names of %d MB",
			       r->path, RK_ARTIFACT_ENTRIES_MAX, RK_ARTIFACT_NAMES_MAX >> 20);
	e = rk_grow(r->v, &r->cap, r->n + 1, sizeof(*e));
	if (!e)
		return rk_fail_nomem(err);
	r->v = e;
	e = &r->v[r->n];
	*e = (struct rk_entry){ .artifact = r->artifact, .stage = stage };
	e->path = rk_arena_text(r->arena, path, strlen(path));
	if (!e->path)
		return rk_fail_nomem(err);
	r->n++;
	*ret = e;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct rk_entry *x = a, *y = b;

	if (x->stage != y->stage)
		return x->stage < y->stage ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void sort(struct artifact_reader *r)
{
	if (r->n > 1)
		qsort(r->v, r->n, sizeof(*r->v), by_place);
}

/* A folder may come twice, nothing else. */
static int drop_doubles(struct artifact_reader *r, struct rk_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (kept && by_place(&r->v[kept - 1], &r->v[i]) == 0) {
			if (r->v[i].kind != RK_ENTRY_DIR || r->v[kept - 1].kind != RK_ENTRY_DIR)
				return rk_fail(err, RK_E_FORMAT, "'%s' has '%s' twice", r->path,
					       r->v[i].path);
			continue;
		}
		r->v[kept++] = r->v[i];
	}
	r->n = kept;
	return 0;
}

/* The folder that is the first `len` bytes of v[i].path: made unless it is there among the first n. */
static int need_folder(struct artifact_reader *r, size_t n, size_t i, size_t len,
		       struct rk_error *err)
{
	struct rk_entry key = { .stage = r->v[i].stage }, *e;
	char path[RK_ARTIFACT_PATH_MAX];
	int rc;

	memcpy(path, r->v[i].path, len);
	path[len] = '\0';
	key.path = path;
	e = bsearch(&key, r->v, n, sizeof(*r->v), by_place);
	if (e && e->kind != RK_ENTRY_DIR)
		return rk_fail(err, RK_E_FORMAT, "'%s' has '%s' below '%s', which is no folder",
			       r->path, r->v[i].path, path);
	if (e)
		return 0;
	rc = rk_artifact_add(r, key.stage, path, &e, err);
	if (rc < 0)
		return rc;
	e->kind = RK_ENTRY_DIR;
	e->mode = 0755;
	return 0;
}

/* All that lies below one folder stands together, so a folder is new where the one before is not in it. */
static int add_folders(struct artifact_reader *r, struct rk_error *err)
{
	size_t n = r->n;

	for (size_t i = 0; i < n; i++) {
		const char *path = r->v[i].path;
		const char *before = i && r->v[i - 1].stage == r->v[i].stage ? r->v[i - 1].path :
									       "";

		for (size_t len = 0; path[len]; len++) {
			int rc = 0;

			if (path[len] == '/' && strncmp(before, path, len + 1) != 0)
				rc = need_folder(r, n, i, len, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int rk_artifact_finish(struct artifact_reader *r, struct rk_error *err)
{
	struct rk_artifact *a = r->artifact;
	int rc;

	sort(r);
	if ((rc = drop_doubles(r, err)) < 0 || (rc = add_folders(r, err)) < 0)
		return rc;
	sort(r);
	a->entries = rk_arena_alloc(r->arena, r->n * sizeof(*r->v));
	if (!a->entries)
		return rk_fail_nomem(err);
	if (r->n)
		memcpy(a->entries, r->v, r->n * sizeof(*r->v));
	a->nentries = r->n;
	a->read = true;
	return 0;
}
