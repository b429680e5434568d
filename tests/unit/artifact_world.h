/* artifact_world.h - small folders of artifacts, with ELF files made here. */
#ifndef RK_ARTIFACT_WORLD_H
#define RK_ARTIFACT_WORLD_H

#include "pack/pack_plan.h"
#include "world.h"

#define STAGE "x/stage"

/* Everything is in w->dir/a. What every plan needs: base with its manifest, and a profiler. */
void artifacts_begin(struct world *w, bool kpack);
/* `artifact` is "core-hip_lib_generic"; the file is in its one stage. */
void artifact_file(struct world *w, const char *artifact, const char *path, const void *p,
		   size_t len, unsigned mode);
void artifact_text(struct world *w, const char *artifact, const char *path, const char *text);
void artifact_link(struct world *w, const char *artifact, const char *path, const char *to);
/* soname NULL: none. A library has the run path "$ORIGIN". */
void artifact_library(struct world *w, const char *artifact, const char *path, const char *soname);
void artifact_program(struct world *w, const char *artifact, const char *path);
void artifact_static_program(struct world *w, const char *artifact, const char *path);
/* The bytes of a library, for damage. */
void library_bytes(struct rk_bytes *out, uint16_t machine, const char *soname);

const char *artifacts_dir(struct world *w, char path[512]);

/*
 * The plan, or NULL with w->err. Its warnings as "kind:count ", without that of programs: hardly any is here.
 */
struct rk_pack_plan *artifacts_plan(struct world *w, const struct rk_pack_options *o);
const char *plan_warnings(struct world *w, const struct rk_pack_plan *p);
const struct rk_dist *plan_dist(const struct rk_pack_plan *p, const char *logical,
				const char *family);
/* "action|link or edit" of an item, "none" when there is none. */
const char *plan_item(struct world *w, const struct rk_pack_plan *p, const char *logical,
		      const char *path);
const struct rk_pack_item *plan_find(const struct rk_pack_plan *p, const char *logical,
				     const char *path);

#endif
