/* artifact_world.c - see artifact_world.h. */
#include "artifact_world.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pack/elf/launcher.h"
#include "tap.h"

const char *artifacts_dir(struct world *w, char path[512])
{
	snprintf(path, 512, "%s/a", w->dir);
	return path;
}

void artifact_file(struct world *w, const char *artifact, const char *path, const void *p,
		   size_t len, unsigned mode)
{
	char name[1024];

	snprintf(name, sizeof(name), "a/%s/artifact_manifest.txt", artifact);
	world_text(w, name, STAGE "\n");
	snprintf(name, sizeof(name), "a/%s/" STAGE "/%s", artifact, path);
	CHECK(!chmod(world_file(w, name, p, len), (mode_t)mode));
}

void artifact_text(struct world *w, const char *artifact, const char *path, const char *text)
{
	artifact_file(w, artifact, path, text, strlen(text), 0644);
}

void artifact_link(struct world *w, const char *artifact, const char *path, const char *to)
{
	char name[1024];

	artifact_text(w, artifact, path, "");
	snprintf(name, sizeof(name), "%s/a/%s/" STAGE "/%s", w->dir, artifact, path);
	CHECK(!unlink(name));
	CHECK(!symlink(to, name));
}

/* The dynamic entry that has the SONAME becomes another one. */
static void replace_soname(struct rk_bytes *b, uint64_t tag, uint64_t value)
{
	static const uint8_t soname[8] = { DT_SONAME };

	for (size_t i = 0; i + 16 <= b->len; i += 8)
		if (memcmp(b->data + i, soname, 8) == 0 && b->data[i + 8] && !b->data[i + 12]) {
			for (size_t k = 0; k < 8; k++) {
				b->data[i + k] = (uint8_t)(tag >> 8 * k);
				b->data[i + 8 + k] = (uint8_t)(value >> 8 * k);
			}
			return;
		}
	CHECK(0);
}

void library_bytes(struct rk_bytes *out, uint16_t machine, const char *soname)
{
	rk_bytes_init(out, 1 << 20);
	CHECK(!rk_alias_library_make(machine, soname ? soname : "libnone.so", "libc.so.6", out,
				     NULL));
	if (!soname)
		replace_soname(out, DT_DEBUG, 0);
}

void artifact_library(struct world *w, const char *artifact, const char *path, const char *soname)
{
	struct rk_bytes b;

	library_bytes(&b, EM_X86_64, soname);
	artifact_file(w, artifact, path, b.data, b.len, 0755);
	rk_bytes_release(&b);
}

/* The last segment, which is of no use here, names one. */
static void add_interpreter(struct rk_bytes *b)
{
	static const char name[] = "libc.so.6";
	Elf64_Phdr p = { .p_type = PT_INTERP, .p_filesz = sizeof(name), .p_align = 1 };
	size_t at = 0;

	while (at + sizeof(name) < b->len && memcmp(b->data + at, name, sizeof(name)) != 0)
		at++;
	p.p_offset = p.p_vaddr = p.p_paddr = at;
	p.p_memsz = p.p_filesz;
	memcpy(b->data + 64 + 3 * sizeof(p), &p, sizeof(p));
}

void artifact_program(struct world *w, const char *artifact, const char *path)
{
	struct rk_bytes b;

	library_bytes(&b, EM_X86_64, NULL);
	add_interpreter(&b);
	artifact_file(w, artifact, path, b.data, b.len, 0755);
	rk_bytes_release(&b);
}

void artifact_static_program(struct world *w, const char *artifact, const char *path)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 16);
	CHECK(!rk_launcher_make(EM_X86_64, "x", &b, NULL));
	artifact_file(w, artifact, path, b.data, b.len, 0755);
	rk_bytes_release(&b);
}

void artifacts_begin(struct world *w, bool kpack)
{
	artifact_text(w, "base_lib_generic", "share/therock/therock_manifest.json",
		      kpack ? "{\"flags\":{\"KPACK_SPLIT_ARTIFACTS\":true}}" : "{\"flags\":{}}");
	artifact_text(w, "base_lib_generic", ".info/version", "10.1.0\n");
	artifact_text(w, "rocprofiler-systems_run_generic", "bin/rocprof-sys-python",
		      "#!/bin/sh\n");
}

struct rk_pack_plan *artifacts_plan(struct world *w, const struct rk_pack_options *o)
{
	struct rk_pack_options mine = o ? *o : (struct rk_pack_options){ 0 };
	struct rk_pack_plan *p = NULL;
	char dir[512];

	mine.artifact_dir = artifacts_dir(w, dir);
	mine.tmpdir = w->dir;
	rk_error_clear(&w->err);
	if (rk_pack_plan_make(&mine, "1.0", &p, &w->err) < 0)
		return NULL;
	return p;
}

const char *plan_warnings(struct world *w, const struct rk_pack_plan *p)
{
	size_t n;
	const struct rk_warning *v = rk_diag_list(p->diag, &n);

	rk_bytes_clear(&w->text);
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].kind, "no-program"))
			rk_bytes_printf(&w->text, "%s:%d ", v[i].kind, (int)v[i].count);
	return rk_bytes_str(&w->text);
}

const struct rk_dist *plan_dist(const struct rk_pack_plan *p, const char *logical,
				const char *family)
{
	for (size_t i = 0; i < p->ndists; i++)
		if (strcmp(p->dists[i].kind->logical, logical) == 0 &&
		    (!family || strcmp(p->dists[i].family, family) == 0))
			return &p->dists[i];
	return NULL;
}

const struct rk_pack_item *plan_find(const struct rk_pack_plan *p, const char *logical,
				     const char *path)
{
	const struct rk_dist *d = plan_dist(p, logical, NULL);

	for (size_t i = 0; d && i < d->n; i++)
		if (strcmp(d->items[i].path, path) == 0)
			return &d->items[i];
	return NULL;
}

const char *plan_item(struct world *w, const struct rk_pack_plan *p, const char *logical,
		      const char *path)
{
	const struct rk_pack_item *item = plan_find(p, logical, path);

	rk_bytes_clear(&w->text);
	if (!item)
		return "none";
	rk_bytes_printf(&w->text, "%s|%s", rk_pack_action_names[item->action],
			item->link ? item->link : item->edit);
	return rk_bytes_str(&w->text);
}
