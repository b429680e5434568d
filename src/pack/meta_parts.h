/* meta_parts.h - what the makers of metadata share: names, scripts, templates, extras. */
#ifndef RK_META_PARTS_H
#define RK_META_PARTS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "pack/pack_meta.h"

enum { RK_META_BYTES = 16 << 20 }; /* of one made file */

/* A member whose text becomes the arena's; `text` is released either way. */
int rk_made_text(struct rk_arena *a, struct rk_made_list *out, const char *path,
		 struct rk_bytes *text, struct rk_error *err);

/*
 * `from` packed by xz into a spill, which *ret refers to and which is the caller's. The same bytes for
 * any number of threads; memory is bounded, more threads than it allows are not used.
 */
int rk_content_xz(struct rk_arena *a, const struct rk_content *from, unsigned threads,
		  const char *tmpdir, const struct rk_content **ret, struct rk_spill **ret_spill,
		  struct rk_error *err);

/* ---- names ---- */

/* The distribution of a kind for a family, of which the tail ":xnack+" does not count. NULL: no memory. */
const char *rk_kind_dist(const struct rk_pack_plan *p, const struct rk_pack_kind *k,
			 const char *family);
bool rk_kind_of_family(const struct rk_pack_plan *p, const struct rk_pack_kind *k);
/* The families a distribution knows of: all, or of a restricted meta package its own. */
size_t rk_dist_families(const struct rk_pack_plan *p, const struct rk_dist *d,
			const char *const **ret);

/* ---- console scripts ---- */

/* Whether what the script starts is in the package: one that starts nothing is not offered. */
bool rk_script_works(const struct rk_dist *d, const struct rk_pack_script *s);

/* ---- Python ---- */

/* A text as a Python literal in ASCII; bytes that are not UTF-8 as surrogates, as Python reads paths. */
void rk_python_repr(struct rk_bytes *out, const char *s);
/* "pack/templates/NAME" with its @WORDS@ filled in. */
int rk_template_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		    const char *name, struct rk_error *err);
/* The same for any text. */
int rk_template_fill(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		     const char *text, size_t len, struct rk_error *err);
/* _dist_info.py: the template, and what is known of this build behind it. */
int rk_dist_info_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		     struct rk_error *err);

/* METADATA, of the meta package PKG-INFO. */
int rk_metadata_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		    struct rk_error *err);

/* ---- what the meta package asks for ---- */

struct rk_extra {
	const char *extra; /* "" for what is always installed */
	const char *dist;
};

struct rk_extras {
	struct rk_extra *v; /* by extra, then as they are asked for */
	size_t n, cap;
};

/* From the plan's arena. Families are the default one and, where there are several, each. */
int rk_extras_make(const struct rk_pack_plan *p, const struct rk_dist *d, struct rk_extras *ret,
		   struct rk_error *err);

#endif
