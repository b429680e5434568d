/* meta_world.h - a plan made by hand: the packages of a small ROCm, without files of artifacts. */
#ifndef RK_META_WORLD_H
#define RK_META_WORLD_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pack/wheel/meta.h"
#include "tap.h"

enum { META, CORE, LIBRARIES, DEVICE, DEVEL, PROFILER, NKINDS };

struct meta_world {
	struct rk_pack_kind kinds[NKINDS];
	struct rk_pack_table table;
	struct rk_dist dists[NKINDS];
	struct rk_pack_plan plan;
	struct rk_error err;
	char *text;
};

static struct rk_pack_script meta_scripts[] = {
	{ "rocminfo", "bin/rocminfo", true },
	{ "amdclang++", "lib/llvm/bin/amdclang++", false },
	{ "hipcc", "bin/hipcc", false },
	{ "rocprofv3-avail", "bin/rocprofv3-avail", false },
	{ "not-there", "bin/not-there", false },
};

static struct rk_pack_item meta_core_items[] = {
	{ .path = "bin/hipcc", .action = RK_PACK_COPY },
	{ .path = "bin/not-there", .action = RK_PACK_DROP },
	{ .path = "bin/rocminfo", .action = RK_PACK_EDIT },
	{ .path = "bin/rocprofv3-avail", .action = RK_PACK_COPY },
	{ .path = "lib/llvm/bin/amdclang++", .action = RK_PACK_LAUNCHER },
};

static struct rk_pack_item meta_device_items[] = {
	{ .path = "lib/rocblas/library/a \"b\".co", .action = RK_PACK_COPY },
	{ .path = "top.dat", .action = RK_PACK_RESOLVED },
};

static const char *meta_families[] = { "gfx110X-all", "gfx94X-dcgpu" };
static const char *meta_targets[] = { "gfx1100", "gfx942", "gfx942:xnack+" };

static const struct rk_pack_kind meta_kinds[NKINDS] = {
	[META] = { "meta", RK_PACK_META, true, .dist = "rocm", .summary = "Selects ROCm" },
	[CORE] = { "core", RK_PACK_RUNTIME, true, .dist = "rocm-sdk-core", .summary = "The core",
		   .scripts = meta_scripts, .nscripts = 5 },
	[LIBRARIES] = { "libraries", RK_PACK_RUNTIME, .per_family = true,
			.dist = "rocm-sdk-libraries-{family}", .dist_kpack = "rocm-sdk-libraries" },
	[DEVICE] = { "device", RK_PACK_DEVICE, .per_family = true,
		     .dist = "rocm-sdk-device-{family}" },
	[DEVEL] = { "devel", RK_PACK_DEVEL, .dist = "rocm-sdk-devel" },
	[PROFILER] = { "profiler", RK_PACK_RUNTIME, .dist = "rocm-sdk-profiler" },
};

static const struct rk_dist meta_dists[NKINDS] = {
	[META] = { .family = "", .dist = "rocm", .platform = "", .module = "rocm_sdk" },
	[CORE] = { .family = "",
		   .dist = "rocm-sdk-core",
		   .platform = "_rocm_sdk_core",
		   .module = "rocm_sdk_core",
		   .items = meta_core_items,
		   .n = 5 },
	[LIBRARIES] = { .family = "gfx94X-dcgpu",
			.dist = "rocm-sdk-libraries-gfx94X-dcgpu",
			.platform = "_rocm_sdk_libraries_gfx94X_dcgpu",
			.module = "rocm_sdk_libraries_gfx94X_dcgpu" },
	[DEVICE] = { .family = "gfx942",
		     .dist = "rocm-sdk-device-gfx942",
		     .platform = "_rocm_sdk_libraries",
		     .module = "",
		     .items = meta_device_items,
		     .n = 2 },
	[DEVEL] = { .family = "",
		    .dist = "rocm-sdk-devel",
		    .platform = "_rocm_sdk_devel",
		    .module = "rocm_sdk_devel" },
	[PROFILER] = { .family = "",
		       .dist = "rocm-sdk-profiler",
		       .platform = "_rocm_sdk_profiler",
		       .module = "rocm_sdk_profiler" },
};

static inline void meta_open(struct meta_world *w, bool kpack)
{
	memset(w, 0, sizeof(*w));
	memcpy(w->kinds, meta_kinds, sizeof(meta_kinds));
	memcpy(w->dists, meta_dists, sizeof(meta_dists));
	for (int i = 0; i < NKINDS; i++) {
		if (!w->kinds[i].dist_kpack)
			w->kinds[i].dist_kpack = w->kinds[i].dist;
		w->dists[i].kind = &w->kinds[i];
	}
	w->table = (struct rk_pack_table){ w->kinds, NKINDS };
	w->plan = (struct rk_pack_plan){ .table = &w->table,
					 .kpack = kpack,
					 .version = "7.0",
					 .nonce = "",
					 .families = kpack ? meta_targets : meta_families,
					 .nfamilies = kpack ? 3 : 2,
					 .machine = EM_X86_64,
					 .dists = w->dists,
					 .ndists = NKINDS };
	CHECK(rk_arena_new(&w->plan.arena, &w->err) == 0);
}

static inline void meta_close(struct meta_world *w)
{
	rk_arena_free(w->plan.arena);
	free(w->text);
}

/* The bytes of a content as text, borrowed until the next call. */
static inline const char *meta_text(struct meta_world *w, const struct rk_content *c)
{
	free(w->text);
	w->text = calloc(1, (size_t)c->size + 1);
	CHECK(rk_content_read(c, 0, w->text, (size_t)c->size, &w->err) == 0);
	return w->text;
}

/* The member of that path, NULL when there is none. */
static inline const char *meta_find(struct meta_world *w, const struct rk_made_list *l,
				    const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].path, path))
			return meta_text(w, l->v[i].content);
	return NULL;
}

/* All paths, each with a newline; borrowed until the next call. */
static inline const char *meta_paths(struct meta_world *w, const struct rk_made_list *l)
{
	size_t len = 1;

	for (size_t i = 0; i < l->n; i++)
		len += strlen(l->v[i].path) + 1;
	free(w->text);
	w->text = calloc(1, len);
	for (size_t i = 0, at = 0; i < l->n; i++) {
		memcpy(w->text + at, l->v[i].path, strlen(l->v[i].path));
		at += strlen(l->v[i].path);
		w->text[at++] = '\n';
	}
	return w->text;
}

/* What begins with the last occurrence of `from`. */
static inline const char *meta_tail(const char *text, const char *from)
{
	const char *found = NULL;

	while (text && (text = strstr(text, from)))
		found = text++;
	return found;
}

#endif
