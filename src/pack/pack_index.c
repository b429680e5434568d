/*
 * pack_index.c - write a tree of pages that pip can use as a package index (PEP 503), with hashes,
 * and the metadata of wheels next to them (PEP 658, PEP 714).
 *
 * Packages are in the folder, in dist/ below it, and in folders one level below either (one per
 * family). If two such folders have different files with the same name, one page cannot list both.
 * Then each folder gets its own tree with its packages and the common ones, and the common tree
 * omits these packages.
 */
#include "rockit/pack.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/zip_read.h"
#include "base/alloc.h"
#include "base/handle.h"
#include "base/sha256/sha256.h"
#include "base/text.h"
#include "io/dirs.h"
#include "io/file.h"
#include "io/output.h"
#include "pack/wheel/meta.h"

/* Identifies our pages. */
#define GENERATOR "<meta name=\"generator\" content=\"rockit pack index\">\n"

/* ---- existing pages ---- */

enum { HEAD_BYTES = 1024 };

/* The beginning of the file if it is one of our pages, else "". */
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
	if (!strstr(head, GENERATOR))
		head[0] = '\0';
	return head;
}

/* True if the folder has exactly one file, one of our pages. */
static bool is_our_page(const char *dir, const char *page)
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

/*
 * Returns RK_E_USAGE if dir/simple is the tree of a family's folder. That tree also lists the
 * common packages of the parent folder, which are not visible from here, so rewriting it would lose
 * them.
 */
static int check_whole(struct rk_arena *a, const char *dir, struct rk_error *err)
{
	const char *top = rk_arena_textf(a, "%s/simple", dir), *page;
	char head[HEAD_BYTES];
	struct dirent *e;
	int rc = 0;
	DIR *d;

	if (!top)
		return rk_fail_nomem(err);
	d = opendir(top);
	while (d && rc == 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		page = rk_arena_textf(a, "%s/%s/index.html", top, e->d_name);
		if (!page)
			rc = rk_fail_nomem(err);
		else if (strstr(read_head(page, head), "<a href=\"../../../"))
			rc = rk_fail(err, RK_E_USAGE,
				     "'%s' is part of the index of a parent folder: index that "
				     "folder, or remove '%s' first",
				     top, top);
	}
	if (d)
		closedir(d);
	return rc;
}

/* ---- packages ---- */

enum {
	PAGE_MAX_BYTES = 256 << 20,
	METADATA_MAX_BYTES = 16 << 20,
	BLOCK_BYTES = 256 << 10,
	HEX_BYTES = 2 * RK_SHA256_BYTES + 1,
};

struct package {
	const char *path;
	const char *relpath;  /* relative to the indexed folder */
	const char *file;     /* file name */
	const char *project;  /* normalised */
	const char *folder;   /* relative, with a trailing slash; "" if common */
	const char *requires; /* Requires-Python, or NULL */
	char sum[HEX_BYTES], metadata[HEX_BYTES]; /* "": none */
	bool differs; /* another folder has a different file of this name */
};

/* A tree that was written, to be reported. */
struct told {
	const char *tree;
	size_t packages, apart;
};

struct indexing {
	struct rk_arena *arena;
	const char *dir;
	struct package *v;
	size_t n, cap;
	struct told *told;
	size_t ntold, cap_told;
	struct rk_error *err;
};

static void hex(const uint8_t sum[RK_SHA256_BYTES], char to[HEX_BYTES])
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = 0; i < RK_SHA256_BYTES; i++) {
		to[2 * i] = digits[sum[i] >> 4];
		to[2 * i + 1] = digits[sum[i] & 15];
	}
	to[HEX_BYTES - 1] = '\0';
}

/* ---- finding packages ---- */

static bool ends(const char *s, const char *end)
{
	return rk_text_ends(s, strlen(s), end);
}

/*
 * Length of NAME in NAME-VERSION...: up to the first dash (wheels), or up to the last dash before a
 * digit (sdists). 0: there is no name, or it has characters that pip cannot request.
 */
static size_t name_length(const char *file)
{
	size_t len = 0;

	if (ends(file, ".whl")) {
		len = strcspn(file, "-");
		if (!file[len])
			return 0;
	} else if (ends(file, ".tar.gz") || ends(file, ".zip")) {
		for (const char *c = file; (c = strchr(c, '-')); c++)
			if (c[1] >= '0' && c[1] <= '9')
				len = (size_t)(c - file);
	}
	if (strspn(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") < len)
		return 0;
	return len;
}

static int add(struct indexing *x, const char *path, size_t top)
{
	size_t name = name_length(rk_base_name(path));
	struct package p = { .folder = "" }, *v;
	const char *from, *slash;

	if (!name)
		return 0;
	v = rk_grow(x->v, &x->cap, x->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(x->err);
	x->v = v;
	p.path = rk_arena_text(x->arena, path, strlen(path));
	if (!p.path)
		return rk_fail_nomem(x->err);
	p.relpath = p.path + top;
	p.file = rk_base_name(p.path);
	p.project = rk_arena_text(x->arena, p.file, name);
	if (!p.project || !(p.project = rk_pep503_name(x->arena, p.project, '-')))
		return rk_fail_nomem(x->err);

	/*
	 * each folder below dir/ or dir/dist/ is a separate set; skip our pages and deeper folders
	 */
	from = p.relpath;
	if (!strncmp(from, "dist/", 5))
		from += 5;
	slash = strchr(from, '/');
	if (slash && (strchr(slash + 1, '/') || !strncmp(from, "simple/", 7)))
		return 0;
	if (slash)
		p.folder = rk_arena_text(x->arena, p.relpath, (size_t)(slash - p.relpath) + 1);
	if (!p.folder)
		return rk_fail_nomem(x->err);
	v[x->n++] = p;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct package *x = a, *y = b;
	int c = strcmp(x->project, y->project);

	if (!c)
		c = strcmp(x->file, y->file);
	if (!c)
		c = strcmp(x->relpath, y->relpath);
	return c;
}

static int find_packages(struct indexing *x)
{
	struct rk_walk found = { 0 };
	size_t top = strlen(x->dir);
	int rc;

	if (!rk_is_dir(x->dir))
		return rk_fail(x->err, RK_E_USAGE, "'%s' is not a folder", x->dir);
	rc = rk_walk_dir(x->dir, &found, x->err);
	if (rc < 0)
		return rc;
	while (top > 1 && x->dir[top - 1] == '/')
		top--;
	for (size_t i = 0; i < found.n && rc == 0; i++)
		rc = add(x, found.paths[i], top + 1);
	rk_walk_release(&found);
	if (rc < 0)
		return rc;
	if (!x->n)
		return rk_fail(x->err, RK_E_USAGE, "there are no packages in '%s'", x->dir);
	qsort(x->v, x->n, sizeof(*x->v), by_name);
	return 0;
}

/* ---- facts about each package ---- */

static int sum_file(struct indexing *x, struct package *p)
{
	uint8_t *block = rk_alloc(BLOCK_BYTES), sum[RK_SHA256_BYTES];
	struct rk_file *f = NULL;
	struct rk_sha256 s;
	size_t n = 1;
	int rc;

	if (!block)
		return rk_fail_nomem(x->err);
	rc = rk_file_open(p->path, &f, x->err);
	if (rc < 0)
		goto out;
	rk_sha256_begin(&s);
	while (n) {
		rc = rk_file_read(f, block, BLOCK_BYTES, &n, x->err);
		if (rc < 0)
			goto out;
		rk_sha256_add(&s, block, n);
	}
	rk_sha256_end(&s, sum);
	hex(sum, p->sum);
out:
	rk_file_close(f);
	rk_free(block);
	return rc;
}

/* Keeps the value of Requires-Python, which must come before the first empty line. */
static int keep_requires(struct indexing *x, struct package *p, const char *text)
{
	static const char name[] = "Requires-Python:";
	const char *line = text, *value;

	while (*line && *line != '\n') {
		size_t len = strcspn(line, "\r\n");

		if (rk_text_iprefix(line, len, name)) {
			value = line + sizeof(name) - 1;
			while (*value == ' ')
				value++;
			p->requires = rk_arena_text(x->arena, value, (size_t)(line + len - value));
			return p->requires ? 0 : rk_fail_nomem(x->err);
		}
		line = strchr(line, '\n');
		if (!line)
			break;
		line++;
	}
	return 0;
}

/* Also writes FILE.metadata, which pip requests instead of the wheel. */
static int read_wheel(struct indexing *x, struct package *p)
{
	const char *path = rk_arena_textf(x->arena, "%s.metadata", p->path);
	const struct rk_zip_entry *entries, *e = NULL;
	uint8_t sum[RK_SHA256_BYTES];
	struct rk_zip_file *z = NULL;
	char *text = NULL;
	size_t len = 0, n;
	int rc = path ? rk_zip_open(p->path, &z, x->err) : rk_fail_nomem(x->err);

	if (rc < 0)
		goto out;
	entries = rk_zip_entries(z, &n);
	for (size_t i = 0; i < n && !e; i++) {
		const char *name = entries[i].name, *slash = strchr(name, '/');

		if (slash && !strcmp(slash, "/METADATA") &&
		    rk_text_ends(name, (size_t)(slash - name), ".dist-info"))
			e = &entries[i];
	}
	if (!e) {
		rc = rk_fail(x->err, RK_E_FORMAT, "'%s' has no METADATA: it is not a wheel",
			     p->path);
		goto out;
	}
	if ((rc = rk_zip_load(z, e, METADATA_MAX_BYTES, &text, &len, x->err)) < 0 ||
	    (rc = keep_requires(x, p, text)) < 0 ||
	    (rc = rk_write_file(path, text, len, x->err)) < 0)
		goto out;
	rk_sha256(text, len, sum);
	hex(sum, p->metadata);
out:
	if (rc < 0)
		rk_error_at(x->err, p->path, 0, 0);
	rk_zip_close(z);
	rk_free(text);
	return rc;
}

/* ---- pages ---- */

static void put_escaped(struct rk_bytes *out, const char *s)
{
	for (; *s; s++) {
		if (strchr("&<>\"'", *s))
			rk_bytes_printf(out, "&#%d;", *s);
		else
			rk_bytes_put_u8(out, (uint8_t)*s);
	}
}

static void begin_page(struct rk_bytes *out, const char *title)
{
	rk_bytes_puts(out, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
			   "<meta name=\"pypi:repository-version\" content=\"1.0\">\n");
	rk_bytes_puts(out, GENERATOR);
	rk_bytes_puts(out, "<title>");
	put_escaped(out, title);
	rk_bytes_puts(out, "</title>\n</head>\n<body>\n");
}

static int end_page(struct indexing *x, struct rk_bytes *out, const char *dir)
{
	const char *path = rk_arena_textf(x->arena, "%s/index.html", dir);
	int rc;

	rk_bytes_puts(out, "</body>\n</html>\n");
	if (out->bad || !path)
		return rk_fail_nomem(x->err);
	rc = rk_make_dirs(dir, x->err);
	return rc < 0 ? rc : rk_write_file(path, (const char *)out->data, out->len, x->err);
}

/* `up`: relative path from the page to the indexed folder. */
static void put_package(struct rk_bytes *out, const struct package *p, const char *up)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-._~/";

	rk_bytes_printf(out, "<a href=\"%s", up);
	for (const char *s = p->relpath; *s; s++) {
		if (strchr(plain, *s))
			rk_bytes_put_u8(out, (uint8_t)*s);
		else
			rk_bytes_printf(out, "%%%02X", (unsigned char)*s);
	}
	rk_bytes_printf(out, "#sha256=%s\"", p->sum);
	if (p->requires) {
		rk_bytes_puts(out, " data-requires-python=\"");
		put_escaped(out, p->requires);
		rk_bytes_puts(out, "\"");
	}
	if (p->metadata[0])
		rk_bytes_printf(out,
				" data-dist-info-metadata=\"sha256=%s\" "
				"data-core-metadata=\"sha256=%s\"",
				p->metadata, p->metadata);
	rk_bytes_puts(out, ">");
	put_escaped(out, p->file);
	rk_bytes_puts(out, "</a><br>\n");
}

/* One tree of pages, for the packages of `folder` and the common ones. */
struct tree {
	struct indexing *x;
	const char *folder; /* "": the common tree */
	const char *top;    /* where it is written */
	const char *up;     /* relative path from a project's page to the indexed folder */
};

static bool listed(const struct tree *t, const struct package *p)
{
	if (!t->folder[0])
		return !p->differs;
	return !p->folder[0] || !strcmp(p->folder, t->folder);
}

/* Returns 1 if a page was written, 0 if there are no packages for it. */
static int write_project(const struct tree *t, size_t from, size_t to, size_t *files)
{
	struct indexing *x = t->x;
	const struct package *before = NULL;
	const char *dir = rk_arena_textf(x->arena, "%s/%s", t->top, x->v[from].project);
	struct rk_bytes out;
	int rc = 0;

	if (!dir)
		return rk_fail_nomem(x->err);
	rk_bytes_init(&out, PAGE_MAX_BYTES);
	begin_page(&out, x->v[from].project);
	for (size_t i = from; i < to; i++) {
		/* list the same file in two folders only once */
		if (!listed(t, &x->v[i]) || (before && !strcmp(x->v[i].file, before->file)))
			continue;
		put_package(&out, &x->v[i], t->up);
		before = &x->v[i];
		++*files;
	}
	if (before)
		rc = end_page(x, &out, dir);
	rk_bytes_release(&out);
	return rc < 0 ? rc : before != NULL;
}

/* ---- removing old pages ---- */

/* Removes our old pages of projects that the tree no longer lists. */
static int remove_stale(const struct tree *t)
{
	struct indexing *x = t->x;
	DIR *d = opendir(t->top);
	struct dirent *e;
	int rc = 0;

	while (d && rc == 0 && (e = readdir(d))) {
		const char *dir, *page;
		size_t i = 0;

		while (i < x->n && (strcmp(x->v[i].project, e->d_name) || !listed(t, &x->v[i])))
			i++;
		if (e->d_name[0] == '.' || i < x->n)
			continue;
		dir = rk_arena_textf(x->arena, "%s/%s", t->top, e->d_name);
		page = dir ? rk_arena_textf(x->arena, "%s/index.html", dir) : NULL;
		if (!page)
			rc = rk_fail_nomem(x->err);
		else if (rk_is_dir(dir) && is_our_page(dir, page) && (unlink(page) || rmdir(dir)))
			rc = rk_fail_errno(x->err, errno, "cannot remove the old page '%s'", page);
	}
	if (d)
		closedir(d);
	return rc;
}

/* ---- trees ---- */

/* Writes the tree and remembers what to report about it. */
static int write_tree(const struct tree *t)
{
	struct indexing *x = t->x;
	struct told *v = rk_grow(x->told, &x->cap_told, x->ntold + 1, sizeof(*v));
	struct rk_bytes root;
	int rc = 0;

	if (!v)
		return rk_fail_nomem(x->err);
	x->told = v;
	v = &x->told[x->ntold++];
	*v = (struct told){ .tree = t->top };
	for (size_t i = 0; i < x->n && !t->folder[0]; i++)
		v->apart += x->v[i].differs;
	rk_bytes_init(&root, PAGE_MAX_BYTES);
	begin_page(&root, "Simple index");
	for (size_t i = 0, k; i < x->n && rc >= 0; i = k) {
		for (k = i + 1; k < x->n && !strcmp(x->v[i].project, x->v[k].project); k++)
			;
		rc = write_project(t, i, k, &v->packages);
		if (rc > 0)
			rk_bytes_printf(&root, "<a href=\"%s/\">%s</a><br>\n", x->v[i].project,
					x->v[i].project);
	}
	if (rc >= 0)
		rc = end_page(x, &root, t->top);
	rk_bytes_release(&root);
	return rc < 0 ? rc : remove_stale(t);
}

/* Writes the common tree, and separate trees for folders that cannot share it. */
static int write_trees(struct indexing *x)
{
	struct tree all = { .x = x, .folder = "", .up = "../../" };
	int rc;

	all.top = rk_arena_textf(x->arena, "%s/simple", x->dir);
	if (!all.top)
		return rk_fail_nomem(x->err);
	rc = write_tree(&all);
	for (size_t i = 0; i < x->n && rc == 0; i++) {
		struct tree t = { .x = x, .folder = x->v[i].folder };
		bool seen = !x->v[i].differs || !t.folder[0];

		for (size_t k = 0; k < i && !seen; k++)
			seen = x->v[k].differs && !strcmp(x->v[k].folder, t.folder);
		if (seen)
			continue;
		t.up = strncmp(t.folder, "dist/", 5) ? "../../../" : "../../../../";
		t.top = rk_arena_textf(x->arena, "%s/%ssimple", x->dir, t.folder);
		if (!t.top)
			return rk_fail_nomem(x->err);
		rc = write_tree(&t);
	}
	return rc;
}

int rk_pack_index_trees(const char *dir,
			void (*each)(void *arg, const char *tree, size_t packages, size_t apart),
			void *arg, struct rk_error *err)
{
	struct rk_error mine = { 0 };
	struct indexing x = { .dir = dir, .err = &mine };
	int rc;

	if (!dir)
		return rk_misuse(__func__, err);
	if ((rc = rk_arena_new(&x.arena, &mine)) < 0 || (rc = find_packages(&x)) < 0 ||
	    (rc = check_whole(x.arena, dir, &mine)) < 0)
		goto out;
	for (size_t i = 0; i < x.n; i++)
		if ((rc = sum_file(&x, &x.v[i])) < 0 ||
		    (ends(x.v[i].file, ".whl") && (rc = read_wheel(&x, &x.v[i])) < 0))
			goto out;
	for (size_t i = 1; i < x.n; i++)
		if (!strcmp(x.v[i].file, x.v[i - 1].file) && strcmp(x.v[i].sum, x.v[i - 1].sum))
			x.v[i].differs = x.v[i - 1].differs = true;
	rc = write_trees(&x);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < x.ntold && each; i++)
		each(arg, x.told[i].tree, x.told[i].packages, x.told[i].apart);
out:
	rk_free(x.told);
	rk_free(x.v);
	rk_arena_free(x.arena);
	if (rc < 0 && err && !err->code)
		*err = mine;
	return rc;
}

struct first {
	size_t packages;
	bool known;
};

static void keep_first(void *arg, const char *tree, size_t packages, size_t apart)
{
	struct first *f = arg;

	(void)tree, (void)apart;
	if (!f->known)
		*f = (struct first){ packages, true };
}

int rk_pack_index(const char *dir, size_t *ret_files, struct rk_error *err)
{
	struct first first = { 0 };
	int rc = rk_pack_index_trees(dir, keep_first, &first, err);

	if (rc == 0 && ret_files)
		*ret_files = first.packages;
	return rc;
}
