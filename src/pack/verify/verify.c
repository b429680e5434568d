/* verify.c - check packages, each by itself and all as installed together. */
#include "pack/verify/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/text.h"
#include "io/dirs.h"

/* The result and the memory it owns. */
struct owned_proof {
	struct rk_pack_proof proof;
	struct rk_arena *arena;
};

void rk_proof_stop(struct rk_proving *p, const struct rk_error *err)
{
	pthread_mutex_lock(&p->lock);
	if (!p->rc) {
		p->err = *err;
		p->rc = err->code;
	}
	pthread_mutex_unlock(&p->lock);
}

bool rk_proof_stopped(struct rk_proving *p)
{
	bool stopped;

	pthread_mutex_lock(&p->lock);
	stopped = p->rc != 0;
	pthread_mutex_unlock(&p->lock);
	return stopped;
}

void rk_proof_nomem(struct rk_proving *p)
{
	struct rk_error err = { 0 };

	rk_fail_nomem(&err);
	rk_proof_stop(p, &err);
}

const char *rk_proof_text(struct rk_proving *p, const char *s, size_t len)
{
	const char *copy;

	pthread_mutex_lock(&p->lock);
	copy = rk_arena_text(p->arena, s, len);
	pthread_mutex_unlock(&p->lock);
	if (!copy)
		rk_proof_nomem(p);
	return copy;
}

/* ---- findings ---- */

static void add_finding(struct rk_proving *p, struct rk_pack_finding f, const char *fmt,
			va_list args)
{
	struct rk_pack_finding *v;
	char text[2048];
	bool ok = false;

	vsnprintf(text, sizeof(text), fmt, args);
	pthread_mutex_lock(&p->lock);
	v = rk_grow(p->findings, &p->cap_findings, p->nfindings + 1, sizeof(*v));
	if (v) {
		p->findings = v;
		f.path = rk_arena_text(p->arena, f.path, strlen(f.path));
		f.text = rk_arena_text(p->arena, text, strlen(text));
		ok = f.path && f.text;
		v[p->nfindings] = f;
		p->nfindings += ok;
	}
	pthread_mutex_unlock(&p->lock);
	if (!ok)
		rk_proof_nomem(p);
}

void rk_proof_fault(struct rk_proving *p, const char *kind, const struct rk_proof_package *w,
		    const char *path, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_finding(p, (struct rk_pack_finding){ .kind = kind, .package = w->file, .path = path },
		    fmt, args);
	va_end(args);
}

void rk_proof_note(struct rk_proving *p, const char *kind, const struct rk_proof_package *w,
		   const char *path, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_finding(p,
		    (struct rk_pack_finding){
			    .kind = kind, .package = w->file, .path = path, .note = true },
		    fmt, args);
	va_end(args);
}

static int by_place(const void *a, const void *b)
{
	const struct rk_pack_finding *x = a, *y = b;
	int c = strcmp(x->package, y->package);

	if (!c)
		c = strcmp(x->path, y->path);
	if (!c)
		c = strcmp(x->kind, y->kind);
	if (!c)
		c = strcmp(x->text, y->text);
	return c;
}

/* ---- packages ---- */

struct rk_proof_file *rk_proof_add(struct rk_proving *p, struct rk_proof_package *w)
{
	struct rk_proof_file *v = rk_grow(w->files, &w->cap, w->n + 1, sizeof(*v));

	if (!v) {
		rk_proof_nomem(p);
		return NULL;
	}
	w->files = v;
	v[w->n] = (struct rk_proof_file){ .path = "", .package = (size_t)(w - p->packages) };
	return &v[w->n++];
}

static bool is_wheel(const char *path)
{
	return rk_text_ends(path, strlen(path), ".whl");
}

static bool is_sdist(const char *path)
{
	return rk_text_ends(path, strlen(path), ".tar.gz");
}

static void add_package(struct rk_proving *p, const char *path, unsigned group)
{
	struct rk_proof_package *v =
		rk_grow(p->packages, &p->cap_packages, p->npackages + 1, sizeof(*v));
	const char *copy;

	if (!v) {
		rk_proof_nomem(p);
		return;
	}
	p->packages = v;
	copy = rk_proof_text(p, path, strlen(path));
	if (!copy)
		return;
	v[p->npackages++] = (struct rk_proof_package){ .path = copy,
						       .file = rk_base_name(copy),
						       .group = group,
						       .sdist = !is_wheel(copy),
						       .name = "",
						       .version = "",
						       .tags = "",
						       .platforms = "",
						       .dist_info = "" };
}

/*
 * Folders below are alternatives, one per family; packages above are installed with each of them.
 */
static void add_folder(struct rk_proving *p, const char *dir, struct rk_error *err)
{
	struct rk_walk found = { 0 };
	size_t top = strlen(dir), last = 0;
	const char *before = NULL;

	if (rk_walk_dir(dir, &found, err) < 0)
		return;
	while (top > 1 && dir[top - 1] == '/')
		top--;
	for (size_t i = 0; i < found.n; i++) {
		const char *path = found.paths[i], *rest = path + top + 1;
		size_t folder = (size_t)(rk_base_name(rest) - rest);

		if (!is_wheel(path) && !is_sdist(path))
			continue;
		if (folder == 0 || (folder == 5 && !strncmp(rest, "dist/", 5))) {
			add_package(p, path, 0);
			continue;
		}
		if (!before || folder != last || strncmp(before, rest, folder))
			p->groups++;
		before = rest;
		last = folder;
		add_package(p, path, p->groups);
	}
	rk_walk_release(&found);
}

static int by_file(const void *a, const void *b)
{
	const struct rk_proof_package *x = a, *y = b;
	int c = strcmp(x->file, y->file);

	if (!c)
		c = (x->group > y->group) - (x->group < y->group);
	if (!c)
		c = strcmp(x->path, y->path);
	return c;
}

static void prove(struct rk_proving *p, struct rk_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < p->o->npaths && p->rc == 0; i++) {
		const char *path = p->o->paths[i];

		if (rk_is_dir(path))
			add_folder(p, path, err);
		else if (is_wheel(path) || is_sdist(path))
			add_package(p, path, 0);
		else
			rk_fail(err, RK_E_USAGE, "'%s' is not a wheel, a .tar.gz or a folder",
				path);
		if (err->code)
			return;
	}
	if (p->rc == 0 && !p->npackages)
		rk_fail(err, RK_E_USAGE, "no packages to verify");
	if (p->rc || !p->npackages)
		return;

	qsort(p->packages, p->npackages, sizeof(*p->packages), by_file);
	for (size_t i = 0; i < p->npackages; i++)
		rk_proof_file_name(p, &p->packages[i]);
	rk_proof_read(p);
	for (size_t i = 0; i < p->npackages && p->rc == 0; i++) {
		if (p->packages[i].zip)
			rk_proof_wheel(p, &p->packages[i]);
		rk_proof_scripts(p, &p->packages[i]);
	}
	for (unsigned g = p->groups ? 1 : 0; g <= p->groups && p->rc == 0; g++)
		rk_proof_closure(p, g);

	/* sort the findings and remove duplicates, which alternative sets may produce */
	if (p->nfindings)
		qsort(p->findings, p->nfindings, sizeof(*p->findings), by_place);
	for (size_t i = 0; i < p->nfindings; i++)
		if (!n || by_place(&p->findings[n - 1], &p->findings[i]))
			p->findings[n++] = p->findings[i];
	p->nfindings = n;
}

static void destroy_proof(void *p)
{
	struct owned_proof *o = p;

	rk_arena_free(o->arena);
	rk_free(o);
}

static int hand_over(struct rk_proving *p, struct rk_pack_proof **ret, struct rk_error *err)
{
	struct owned_proof *o = rk_calloc(1, sizeof(*o));
	size_t bytes = p->nfindings * sizeof(*p->findings);
	struct rk_pack_proof *r = o ? &o->proof : NULL;

	if (!r || !(r->findings = rk_arena_alloc(p->arena, bytes))) {
		rk_free(o);
		return rk_fail_nomem(err);
	}
	if (p->nfindings)
		memcpy(r->findings, p->findings, bytes);
	r->nfindings = p->nfindings;
	r->packages = p->npackages;
	for (size_t i = 0; i < p->npackages; i++)
		for (size_t k = 0; k < p->packages[i].n; k++) {
			r->files += p->packages[i].files[k].kind == RK_PROOF_FILE;
			r->libraries += rk_proof_is_loadable(p->packages[i].files[k].elf);
		}
	for (size_t i = 0; i < p->nfindings; i++)
		r->faults += !p->findings[i].note;
	rk_proof_floor(p, r);
	if (p->rc || rk_handle_open(RK_HANDLE_PROOF, o, destroy_proof, err) < 0) {
		rk_free(o);
		return rk_fail_nomem(err);
	}
	o->arena = p->arena;
	p->arena = NULL;
	*ret = r;
	return 0;
}

int rk_pack_verify(const struct rk_pack_verify_options *o, struct rk_pack_proof **ret,
		   struct rk_error *err)
{
	struct rk_proving p = { .o = o };
	struct rk_error why = { 0 };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned jobs;

	if (!o || !rk_texts_there(o->paths, o->npaths) || !ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(o, __func__, err) < 0)
		return RK_E_USAGE;
	jobs = o->jobs;
	pthread_mutex_init(&p.lock, NULL);
	if (!jobs)
		jobs = cpus > 0 ? (unsigned)cpus : 1;
	if (rk_arena_new(&p.arena, &why) == 0 && rk_pool_new(jobs, &p.pool, &why) == 0)
		prove(&p, &why);
	if (!why.code && p.rc)
		why = p.err;
	if (!why.code)
		hand_over(&p, ret, &why);
	for (size_t i = 0; i < p.npackages; i++) {
		rk_zip_close(p.packages[i].zip);
		rk_free(p.packages[i].files);
	}
	rk_free(p.packages);
	rk_free(p.findings);
	rk_pool_free(p.pool);
	rk_arena_free(p.arena);
	pthread_mutex_destroy(&p.lock);
	if (why.code && err && !err->code)
		*err = why;
	return why.code;
}

void rk_pack_proof_free(struct rk_pack_proof *p)
{
	rk_handle_close(RK_HANDLE_PROOF, p);
}
