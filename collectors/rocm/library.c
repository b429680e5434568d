/* library.c - see rocm.h. Nothing here runs often. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "rocm.h"

enum { PLACE_BYTES_MAX = 1 << 20 };

/* ---- libraries ---- */

struct search {
	const char *name;
	char path[4096];
};

static int is_it(struct dl_phdr_info *info, size_t size, void *user)
{
	struct search *s = user;
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, s->name, strlen(s->name)) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(s->path))
		return 0;
	memcpy(s->path, info->dlpi_name, strlen(info->dlpi_name) + 1);
	return 1;
}

void *rk_rocm_library(const char *name)
{
	struct search s = { .name = name };

	if (!dl_iterate_phdr(is_it, &s))
		return NULL;
	return dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD);
}

/* A pointer to a function cannot be assigned from dlsym()'s void pointer in ISO C. */
bool rk_rocm_symbol(void *library, const char *name, void *to)
{
	void *at = library ? dlsym(library, name) : NULL;

	memcpy(to, &at, sizeof(at));
	return at;
}

const char *rk_rocm_file(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
}

/* ---- the place for a callback ---- */

struct zeros {
	const char *inside; /* an address in the library */
	uintptr_t begin, end;
};

/* The library's variables that are zero when it is loaded: the part of a segment behind its file. */
static int find_zeros(struct dl_phdr_info *info, size_t size, void *user)
{
	struct zeros *z = user;
	uintptr_t inside = (uintptr_t)z->inside;
	bool found = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		found = found || (inside >= at && inside - at < p->p_memsz);
		if (p->p_flags & PF_W && p->p_memsz > p->p_filesz) {
			z->begin = (at + p->p_filesz + 7) & ~(uintptr_t)7;
			z->end = (at + p->p_memsz) & ~(uintptr_t)7;
		}
	}
	if (!found)
		z->begin = z->end = 0;
	return found;
}

void rk_rocm_take_place(struct rk_rocm_place *ret, void (*enlist)(void *ours), void *ours)
{
	struct zeros z = { 0 };
	void *volatile *now;
	void **before = NULL;
	size_t n;

	*ret = (struct rk_rocm_place){ .ours = ours };
	memcpy(&z.inside, &enlist, sizeof(z.inside));
	dl_iterate_phdr(find_zeros, &z);
	n = (z.end - z.begin) / sizeof(*before);
	now = (void *volatile *)z.begin;
	if (z.end > z.begin && z.end - z.begin <= PLACE_BYTES_MAX)
		before = malloc(n * sizeof(*before));
	for (size_t i = 0; before && i < n; i++)
		before[i] = now[i];
	enlist(ours);
	for (size_t i = 0; before && i < n && !ret->at; i++)
		if (now[i] == ours && before[i] != ours) {
			ret->at = &now[i];
			ret->before = before[i];
		}
	free(before);
}

bool rk_rocm_has_place(const struct rk_rocm_place *p)
{
	return !p->at || *p->at == p->ours;
}
