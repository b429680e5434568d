/*
 * verify_promised.c - does a wheel start all the programs that a package of its kind is for?
 *
 * Which kind it is, is told by the wheel itself (_dist_info.py): its name may be any. Wheels of others say nothing
 * of the kind, and are not asked.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "pack/pack_table.h"
#include "pack/verify/verify_impl.h"

/* "NAME/_dist_info.py" at the top of the wheel, or NULL. */
static const char *find_info(const struct rk_proof_package *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const char *slash = strchr(w->files[i].path, '/');

		if (slash && !strcmp(slash, "/_dist_info.py") && !w->files[i].inner)
			return w->files[i].path;
	}
	return NULL;
}

static const struct rk_pack_kind *find_kind(const struct rk_pack_table *t, const char *text)
{
	static const char before[] = "\nTHIS_PACKAGE_ENTRY = ALL_PACKAGES[";
	const char *at = strstr(text, before);
	size_t len;

	if (!at)
		return NULL;
	at += sizeof(before) - 1;
	at += *at == '"' || *at == '\'';
	len = strcspn(at, "\"'\n");
	for (size_t i = 0; i < t->n; i++)
		if (strlen(t->kinds[i].logical) == len && !strncmp(t->kinds[i].logical, at, len))
			return &t->kinds[i];
	return NULL;
}

static bool has_script(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += strspn(line, " \t\r\n");
		if (!strncmp(line, name, n) && (line[n] == ' ' || line[n] == '='))
			return true;
	}
	return false;
}

/* A note: what is there holds, and a build without some of them is nobody's mistake. */
static void check_scripts(struct rk_proving *p, struct rk_proof_package *w,
			  const struct rk_pack_kind *kind, const char *where, const char *text)
{
	struct rk_bytes absent;
	const char *list;

	rk_bytes_init(&absent, 1 << 16);
	for (size_t i = 0; i < kind->nscripts; i++)
		if (!has_script(text, kind->scripts[i].name))
			rk_bytes_printf(&absent, "%s%s", absent.len ? ", " : "",
					kind->scripts[i].name);
	list = rk_bytes_str(&absent);
	if (!list)
		rk_proof_nomem(p);
	else if (*list)
		rk_proof_note(p, "script-absent", w, where, "made without %s", list);
	rk_bytes_release(&absent);
}

static const struct rk_pack_kind *kind_of(struct rk_proving *p, struct rk_proof_package *w)
{
	const char *path = find_info(w);
	const struct rk_pack_table *table = NULL;
	const struct rk_pack_kind *kind = NULL;
	struct rk_error err = { 0 };
	size_t len;
	char *text = path ? rk_proof_load(p, w, path, &len) : NULL;

	if (text && rk_pack_table_load(p->arena, NULL, &table, &err) < 0)
		rk_proof_stop(p, &err);
	else if (text)
		kind = find_kind(table, text);
	rk_free(text);
	return kind;
}

void rk_proof_promised(struct rk_proving *p, struct rk_proof_package *w)
{
	const struct rk_pack_kind *kind = kind_of(p, w);
	char path[RK_PROOF_PATH_MAX];
	size_t len;
	char *text;

	if (!kind || !kind->nscripts)
		return;
	snprintf(path, sizeof(path), "%sentry_points.txt", w->dist_info);
	text = rk_proof_load(p, w, path, &len);
	check_scripts(p, w, kind, path, text ? text : "");
	rk_free(text);
}
