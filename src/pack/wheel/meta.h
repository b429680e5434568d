/*
 * meta.h - generated files of a package: metadata, Python templates, RECORD, the sdist and devel's
 * archive. The plan's arena owns their bytes.
 */
#ifndef RK_META_H
#define RK_META_H

#include "archive/zip_write.h"
#include "base/bytes.h"
#include "pack/pack_plan.h"

/* PEP 440: checks and normalises ("1.0-RC1" to "1.0rc1"). RK_E_USAGE with the reason. */
int rk_pep440_normal(struct rk_arena *a, const char *version, const char **ret,
		     struct rk_error *err);
/* Lower case, runs of -_. become one `with`: "-" for PEP 503, "_" for file names. */
const char *rk_pep503_name(struct rk_arena *a, const char *name, char with); /* NULL: no memory */

/* A generated file: path in the wheel or sdist, content, permission bits. */
struct rk_made {
	const char *path;
	const struct rk_content *content;
	uint32_t mode;
};

struct rk_made_list {
	struct rk_made *v;
	size_t n, cap;
};

/* The wheel's file name: "rocm_sdk_core-7.0-py3-none-linux_x86_64.whl"; `tag` is the platform tag. */
const char *rk_wheel_name(struct rk_arena *a, const struct rk_dist *d, const char *version,
			  const char *tag);
/* The metadata folder: "rocm_sdk_core-7.0.dist-info". */
const char *rk_dist_info_dir(struct rk_arena *a, const struct rk_dist *d, const char *version);

/*
 * Generates the platform folder's __init__.py and the Python files of the pure package. A device
 * package has neither; it gets a list of its files for the devel tree (.devel_links/TARGET.json in
 * the platform folder).
 */
int rk_meta_python(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		   struct rk_error *err);
/* METADATA, WHEEL, top_level.txt, and entry_points.txt if there are scripts; not RECORD. */
int rk_meta_dist_info(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		      struct rk_made_list *out, struct rk_error *err);
/* One line of RECORD, with CSV quoting. `sha256` NULL: RECORD's own line, without hash and size. */
void rk_record_line(struct rk_bytes *out, const char *path, const uint8_t sha256[RK_SHA256_BYTES],
		    uint64_t size);

/* The members of the meta package's sdist, in order; each path begins with "rocm-VERSION/". */
int rk_meta_sdist(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		  struct rk_error *err);
/* Writes the sdist: tar in gzip, reproducible. level: 1 to 9, anything else means 9. */
int rk_sdist_write(const char *path, const struct rk_made_list *members, int64_t epoch, int level,
		   struct rk_error *err);

/*
 * The items of devel as one tar, with links after their targets if both are in it. `*ret` consists
 * of pieces: generated headers, and files by reference. With `xz` it is compressed into a spill
 * first.
 */
int rk_devel_tar(struct rk_pack_plan *p, const struct rk_dist *d, int64_t epoch, bool xz,
		 unsigned threads, const char *tmpdir, const struct rk_content **ret,
		 struct rk_spill **ret_spill, struct rk_error *err);

/* ---- shared helpers ---- */

enum { RK_META_BYTES = 16 << 20 }; /* max size of a generated file */

/* Adds a member; the text is copied to the arena and `text` is released, also on failure. */
int rk_made_text(struct rk_arena *a, struct rk_made_list *out, const char *path,
		 struct rk_bytes *text, struct rk_error *err);

/* ---- names ---- */

/*
 * The distribution name of a kind for a family; a suffix such as ":xnack+" is ignored. NULL: no
 * memory.
 */
const char *rk_kind_dist(const struct rk_pack_plan *p, const struct rk_pack_kind *k,
			 const char *family);
/* The families of a distribution: all, or those of a restricted meta package. */
size_t rk_dist_families(const struct rk_pack_plan *p, const struct rk_dist *d,
			const char *const **ret);

/* ---- console scripts ---- */

/* Is the script's program in the package? If not, the script is left out. */
bool rk_script_works(const struct rk_dist *d, const struct rk_pack_script *s);

/* ---- Python ---- */

/*
 * Appends a string as an ASCII Python literal; bytes that are not UTF-8 become surrogates, as in
 * paths.
 */
void rk_python_repr(struct rk_bytes *out, const char *s);
/* "pack/templates/NAME" with its @WORDS@ filled in. */
int rk_template_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		    const char *name, struct rk_error *err);
/* The same for any template text. */
int rk_template_fill(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		     const char *text, size_t len, struct rk_error *err);
/* _dist_info.py: the template, followed by the values of this build. */
int rk_dist_info_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		     struct rk_error *err);

/* METADATA; in the meta package's sdist it is PKG-INFO. */
int rk_metadata_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		    struct rk_error *err);

/* ---- requirements of the meta package ---- */

struct rk_extra {
	const char *extra; /* "": always installed */
	const char *dist;
};

struct rk_extras {
	struct rk_extra *v; /* sorted by extra, then by requirement */
	size_t n, cap;
};

/*
 * Allocated in the plan's arena. Extras for the default family and, if there are several, for each
 * one.
 */
int rk_extras_make(const struct rk_pack_plan *p, const struct rk_dist *d, struct rk_extras *ret,
		   struct rk_error *err);

#endif
