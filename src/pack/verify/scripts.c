/*
 * scripts.c - check that functions of console scripts exist, that Python can import the names, and
 * that a package has the programs of its kind.
 *
 * Python is not run: a function exists if a line of its module, not indented, defines, assigns or imports its
 * name. A module that imports everything from another, or has its own __getattr__, passes.
 */
#include "pack/verify/verify.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/text.h"
#include "pack/pack_table.h"

/*
 * ---- does a wheel have all programs of its kind? ----
 *
 * _dist_info.py in the wheel says which kind it is, because the name can be anything. Wheels built
 * by others do not have it and are skipped.
 */

static const struct rk_pack_kind *kind_of(struct rk_proving *p, struct rk_proof_package *w)
{
	static const char before[] = "\nTHIS_PACKAGE_ENTRY = ALL_PACKAGES[";
	const struct rk_pack_table *table = NULL;
	const struct rk_pack_kind *kind = NULL;
	struct rk_error err = { 0 };
	const char *path = NULL, *at; /* path: NAME/_dist_info.py at the top of the wheel */
	size_t len;
	char *text;

	for (size_t i = 0; i < w->n && !path; i++) {
		const char *slash = strchr(w->files[i].path, '/');

		if (slash && !strcmp(slash, "/_dist_info.py") && !w->files[i].inner)
			path = w->files[i].path;
	}
	text = path ? rk_proof_load(p, w, path, &len) : NULL;
	if (!text)
		return NULL;
	if (rk_pack_table_load(p->arena, NULL, &table, &err) < 0) {
		rk_proof_stop(p, &err);
		goto out;
	}
	at = strstr(text, before);
	if (!at)
		goto out;
	at += sizeof(before) - 1;
	at += *at == '"' || *at == '\'';
	len = strcspn(at, "\"'\n");
	for (size_t i = 0; i < table->n && !kind; i++)
		if (strlen(table->kinds[i].logical) == len &&
		    !strncmp(table->kinds[i].logical, at, len))
			kind = &table->kinds[i];
out:
	rk_free(text);
	return kind;
}

/* Only a note: the package works, and a build may leave programs out. */
static void check_promised(struct rk_proving *p, struct rk_proof_package *w)
{
	const struct rk_pack_kind *kind = kind_of(p, w);
	char path[RK_PROOF_PATH_MAX];
	struct rk_bytes absent;
	const char *list;
	size_t len;
	char *text;

	if (!kind || !kind->nscripts)
		return;
	snprintf(path, sizeof(path), "%sentry_points.txt", w->dist_info);
	text = rk_proof_load(p, w, path, &len);
	rk_bytes_init(&absent, 1 << 16);
	for (size_t i = 0; i < kind->nscripts; i++) {
		const char *name = kind->scripts[i].name, *line = text;
		size_t n = strlen(name);

		for (; line; line = strchr(line, '\n')) {
			line += strspn(line, " \t\r\n");
			if (!strncmp(line, name, n) && (line[n] == ' ' || line[n] == '='))
				break;
		}
		if (!line)
			rk_bytes_printf(&absent, "%s%s", absent.len ? ", " : "", name);
	}
	list = rk_bytes_str(&absent);
	if (!list)
		rk_proof_nomem(p);
	else if (*list)
		rk_proof_note(p, "script-absent", w, path, "made without %s", list);
	rk_bytes_release(&absent);
	rk_free(text);
}

/* ---- Python identifiers ---- */

enum { NAME_MAX_BYTES = 255 };

static bool word_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static size_t word(const char *s)
{
	size_t n = 0;

	if (word_start(s[0]))
		while (word_start(s[n]) || (s[n] >= '0' && s[n] <= '9'))
			n++;
	return n;
}

/* An identifier that is not a keyword. */
static bool importable(const char *s, size_t len)
{
	static const char *const keywords[] = {
		"False",  "None",   "True",    "and",      "as",       "assert", "async",
		"await",  "break",  "class",   "continue", "def",      "del",    "elif",
		"else",   "except", "finally", "for",      "from",     "global", "if",
		"import", "in",     "is",      "lambda",   "nonlocal", "not",    "or",
		"pass",   "raise",  "return",  "try",      "while",    "with",   "yield",
	};

	for (unsigned i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (strlen(keywords[i]) == len && !strncmp(keywords[i], s, len))
			return false;
	return len && word(s) == len;
}

/* ---- is a name defined? ---- */

static bool is_name(const char *at, const char *name, size_t len)
{
	return word(at) == len && !strncmp(at, name, len);
}

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* Does this import line bind the name? "a as b" binds b. */
static bool imports(const char *s, const char *name, size_t len)
{
	for (; *s && *s != '\n' && *s != '#'; s++) {
		size_t n = word(s);

		if (*s == '*')
			return true;
		if (!n)
			continue;
		if (is_name(s, name, len) && strncmp(skip_blanks(s + n), "as ", 3))
			return true;
		s += n - 1;
	}
	return false;
}

/* Does the line assign the name: "a = ", "a: int = ", "a, b = "? */
static bool assigns(const char *s, const char *name, size_t len)
{
	size_t n;

	while ((n = word(s))) {
		const char *behind = skip_blanks(s + n);

		if (is_name(s, name, len) &&
		    (*behind == ',' || *behind == ':' || (*behind == '=' && behind[1] != '=')))
			return true;
		if (*behind != ',' && *behind != '=')
			return false;
		s = skip_blanks(behind + 1);
	}
	return false;
}

/* The text after a keyword, or NULL. */
static const char *after(const char *s, const char *keyword)
{
	size_t n = strlen(keyword);

	if (strncmp(s, keyword, n) || (s[n] != ' ' && s[n] != '\t'))
		return NULL;
	return skip_blanks(s + n);
}

/* A parenthesized import may span several lines, which are indented. */
static bool defines(const char *text, const char *name, size_t len)
{
	bool importing = false;

	for (const char *line = text; line && *line; line = rk_proof_next_line(line)) {
		const char *s = line, *rest;

		if (importing || after(line, "from")) {
			const char *open = strchr(line, '('), *end = strchr(line, '\n');

			if (imports(line, name, len))
				return true;
			importing = importing || (open && (!end || open < end));
			if (memchr(line, ')', end ? (size_t)(end - line) : strlen(line)))
				importing = false;
			continue;
		}
		if ((rest = after(s, "async")))
			s = rest;
		if ((rest = after(s, "def")) || (rest = after(s, "class"))) {
			if (is_name(rest, name, len) || is_name(rest, "__getattr__", 11))
				return true;
		} else if ((rest = after(s, "import")) || (rest = after(s, "from"))) {
			if (imports(rest, name, len))
				return true;
		} else if (assigns(s, name, len)) {
			return true;
		}
	}
	return false;
}

/* ---- sources ---- */

/*
 * The module's source from a wheel (owned by the caller) or an sdist (copied); NULL: it does not
 * exist.
 */
static char *source_at(struct rk_proving *p, struct rk_proof_package *w, const char *path)
{
	size_t len;
	char *copy;

	if (!w->sdist)
		return rk_proof_load(p, w, path, &len);
	for (size_t i = 0; i < w->n; i++) {
		const char *have = w->files[i].path, *slash = strchr(have, '/');

		/* below NAME-VERSION/ or NAME-VERSION/src/ */
		if (!slash || !w->files[i].text)
			continue;
		slash += 1;
		if (!strncmp(slash, "src/", 4))
			slash += 4;
		if (strcmp(slash, path))
			continue;
		copy = rk_strdup(w->files[i].text);
		if (!copy)
			rk_proof_nomem(p);
		return copy;
	}
	return NULL;
}

static char *module_source(struct rk_proving *p, struct rk_proof_package *w, const char *module,
			   size_t len)
{
	char file[NAME_MAX_BYTES + 32];
	char *text;

	if (len > NAME_MAX_BYTES)
		return NULL;
	for (size_t i = 0; i < len; i++)
		file[i] = module[i] == '.' ? '/' : module[i];
	memcpy(file + len, ".py", sizeof(".py"));
	text = source_at(p, w, file);
	if (text)
		return text;
	memcpy(file + len, "/__init__.py", sizeof("/__init__.py"));
	return source_at(p, w, file);
}

/* ---- entry points ---- */

/* One line "name = module:function" of `len` bytes. */
static void check_script(struct rk_proving *p, struct rk_proof_package *w, const char *where,
			 const char *line, size_t len)
{
	const char *end = line + len, *equals = memchr(line, '=', len), *target, *colon, *function;
	size_t name = equals ? (size_t)(equals - line) : 0, module, n;
	char *text;

	while (name && line[name - 1] == ' ')
		name--;
	if (!name) {
		rk_proof_fault(p, "script-form", w, where, "'%.*s' is not 'name = target'",
			       (int)len, line);
		return;
	}
	target = skip_blanks(equals + 1);
	if (target > end)
		end = target;
	colon = memchr(target, ':', (size_t)(end - target));
	module = colon ? (size_t)(colon - target) : 0;
	function = colon ? skip_blanks(colon + 1) : target;
	n = word(function);
	if (!module || !n || function + n > end) {
		rk_proof_fault(p, "script-form", w, where, "'%.*s' is not 'module:function'",
			       (int)(end - target), target);
		return;
	}
	while (module && target[module - 1] == ' ')
		module--;
	text = module_source(p, w, target, module);
	if (!text && !p->rc)
		rk_proof_fault(p, "script-module", w, where,
			       "script '%.*s' is in the module '%.*s', which does not exist",
			       (int)name, line, (int)module, target);
	else if (text && !defines(text, function, n))
		rk_proof_fault(p, "script-function", w, where,
			       "script '%.*s' calls '%.*s', which does not exist in '%.*s'",
			       (int)name, line, (int)n, function, (int)module, target);
	rk_free(text);
}

static void check_entry_points(struct rk_proving *p, struct rk_proof_package *w, const char *where,
			       const char *text)
{
	bool scripts = false;

	for (const char *line = text; line && *line; line = rk_proof_next_line(line)) {
		const char *at = skip_blanks(line);
		size_t len = strcspn(at, "\r\n");

		if (!len || *at == '#' || *at == ';')
			continue;
		if (*at == '[')
			scripts = !strncmp(at, "[console_scripts]", 17) ||
				  !strncmp(at, "[gui_scripts]", 13);
		else if (scripts)
			check_script(p, w, where, at, len);
	}
}

/* ---- names ---- */

void rk_proof_scripts(struct rk_proving *p, struct rk_proof_package *w)
{
	static const char bad_name[] = "Python cannot import '%.*s': invalid name";
	char path[RK_PROOF_PATH_MAX];
	size_t len;
	char *text;

	for (size_t i = 0; w->sdist && i < w->n; i++)
		if (w->files[i].text && rk_text_ends(w->files[i].path, strlen(w->files[i].path),
						     ".egg-info/entry_points.txt"))
			check_entry_points(p, w, w->files[i].path, w->files[i].text);
	if (w->sdist || !w->zip)
		return;

	/* packages and modules at the top of the wheel */
	for (size_t i = 0; i < w->n; i++) {
		const char *file = w->files[i].path;
		size_t top = strcspn(file, "/");
		bool package = file[top] && !strcmp(file + top, "/__init__.py");
		bool module = !file[top] && rk_text_ends(file, top, ".py");

		if (module)
			top -= strlen(".py");
		if ((package || module) && !importable(file, top))
			rk_proof_fault(p, "name-import", w, file, bad_name, (int)top, file);
	}
	if (!w->dist_info[0])
		return;

	snprintf(path, sizeof(path), "%stop_level.txt", w->dist_info);
	text = rk_proof_load(p, w, path, &len);
	for (const char *line = text; line && *line; line = rk_proof_next_line(line)) {
		size_t n = strcspn(line, "\r\n");

		if (n && !importable(line, n))
			rk_proof_fault(p, "name-import", w, path, bad_name, (int)n, line);
	}
	rk_free(text);

	snprintf(path, sizeof(path), "%sentry_points.txt", w->dist_info);
	text = rk_proof_load(p, w, path, &len);
	if (text)
		check_entry_points(p, w, path, text);
	rk_free(text);
	check_promised(p, w);
}
