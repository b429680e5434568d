/* pack_plan_impl.h - shared by the parts of the planner. */
#ifndef RK_PACK_PLAN_IMPL_H
#define RK_PACK_PLAN_IMPL_H

#include "pack/pack_plan.h"
#include "pack/paths.h"

/* ---- what a file is (pack_items.c) ---- */

enum rk_file_type {
	RK_FILE_DATA,   /* not ELF, or never edited: device code, debug files, object files */
	RK_FILE_STATIC, /* a static program: no loader reads its run path */
	RK_FILE_PROGRAM,
	RK_FILE_LIBRARY,
	RK_FILE_BROKEN, /* broken ELF file */
};

struct rk_file_facts {
	enum rk_file_type type;
	const char *note;   /* why it is not edited, or what is wrong with it, or "" */
	const char *soname; /* NULL: none, or not valid as a file name */
	const char *rpath;  /* the one that loaders use, or "" */
	uint16_t machine;   /* machine of 64-bit host code, else 0 */
};

/* Classifies a file; the result is cached. */
int rk_file_facts(struct rk_pack_plan *p, const struct rk_entry *file,
		  const struct rk_file_facts **ret, struct rk_error *err);

/* Returns true only the first time: warn once, even if several packages use the entry. */
bool rk_entry_say(const struct rk_entry *e);

/* ---- merged trees (pack_overlay.c) ---- */

/* Zero it before use. */
struct rk_overlay {
	struct rk_entry **v; /* rk_alloc'd list; NULL: replaced by another entry */
	size_t n, cap;
	struct rk_path_map map;
};

/*
 * Adds the entries of `a` that match; a later entry replaces an earlier one. `dirs`: also add
 * folders.
 */
int rk_overlay_add(struct rk_overlay *t, const struct rk_artifact *a, const char *const *include,
		   const char *const *exclude, bool dirs, struct rk_diag *diag,
		   struct rk_error *err);
/*
 * Call after the last add. Removes files that have something below them, then sorts in wheel order.
 */
int rk_overlay_settle(struct rk_overlay *t, struct rk_diag *diag, struct rk_error *err);
rk_entry_find_fn rk_overlay_find; /* `tree` is a struct rk_overlay */
void rk_overlay_release(struct rk_overlay *t);

/* ---- one package (pack_items.c) ---- */

struct rk_planner {
	struct rk_pack_plan *p;
	const struct rk_pack_options *o;
	bool *taken;                 /* by artifact: a runtime package uses it */
	struct rk_path_map *by_path; /* by package: its items */
	struct rk_error *err;
};

/* The package being filled. */
struct rk_pack_work {
	struct rk_planner *pl;
	struct rk_dist *d;
	struct rk_overlay tree;
	const char *machine_of; /* the first file that has d->machine */
};

/* Appends an empty item. NULL: no memory, reported in pl->err. */
struct rk_pack_item *rk_pack_item_add(struct rk_pack_work *k, const char *path,
				      enum rk_pack_action action, const char *reason);
/* A formatted string in the arena. NULL: no memory, reported in pl->err. */
const char *rk_pack_text(struct rk_pack_work *k, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* `name` in the folder of `path`. */
const char *rk_pack_sibling(struct rk_pack_work *k, const char *path, const char *name);

/*
 * Adds the bytes of `file` under the name `path`. ELF files get the run path of the package. With
 * `devel` they keep their own, and only its kind (RPATH or RUNPATH) changes.
 */
int rk_pack_put_file(struct rk_pack_work *k, const char *path, const struct rk_entry *file,
		     enum rk_pack_action action, const char *reason, bool devel);
bool rk_pack_has_launcher(uint16_t machine);
int rk_pack_put_launcher(struct rk_pack_work *k, const char *path, const struct rk_entry *program,
			 uint16_t machine);
/* `item` becomes an empty library that loads `soname`. */
int rk_pack_put_stub(struct rk_pack_work *k, struct rk_pack_item *item, const char *soname,
		     uint16_t machine);
/* Adds an item that is not written, with the reason. */
int rk_pack_put_drop(struct rk_pack_work *k, const struct rk_entry *e, const char *reason);

/* ---- rules (pack_rules.c) ---- */

/* Adds all files of a runtime or device package, from k->tree. Items are not sorted yet. */
int rk_pack_runtime(struct rk_pack_work *k);
int rk_pack_device(struct rk_pack_work *k);
/* Finds importable Python packages and the requirements. Call it after the items are sorted. */
int rk_pack_python(struct rk_pack_work *k);
/* Adds the items of devel, from k->tree and the runtime packages before it. */
int rk_pack_devel(struct rk_pack_work *k);

/* ---- files in no package (pack_overlay.c) ---- */

/* Counts the entries of k->tree that the package contains. Call it after the package is filled. */
void rk_pack_mark(struct rk_pack_work *k);
/* Warns about scripts in the table whose programs are not in the package. */
void rk_pack_say_scripts(struct rk_pack_work *k);
/* Call it after all packages. `unread` returns why an artifact was not read; NULL: no memory. */
int rk_pack_list_left(struct rk_planner *pl,
		      const char *(*unread)(struct rk_planner *pl, const void *arg,
					    const struct rk_artifact *a),
		      const void *arg);

#endif
