/*
 * verify_impl.h - the closure prover: what was found in each package, and the set they make together.
 *
 * First every package is read, its members side by side (verify_read.c, verify_tar.c); then each is
 * looked at alone (verify_wheel.c, verify_record.c, verify_scripts.c), then all that are installed together
 * (verify_set.c, verify_closure.c). Only the first part has threads.
 */
#ifndef RK_VERIFY_IMPL_H
#define RK_VERIFY_IMPL_H

#include <pthread.h>

#include "rockit/pack.h"

#include "archive/zip_read.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "base/sha256/sha256.h"
#include "io/spill.h"
#include "pack/elf/read.h"
#include "pack/glibc.h"
#include "pack/path_map.h"

enum {
	RK_PROOF_PATH_MAX = 8192,
	RK_PROOF_TEXT_MAX = 16 << 20, /* RECORD, METADATA, Python files */
};

/* What is kept of an ELF file. */
struct rk_proof_elf {
	enum rk_elf_kind kind;
	uint16_t machine;
	bool dynamic, runpath; /* the entries are those of DT_RUNPATH */
	const char *soname;
	const char *path; /* of DT_RUNPATH, else of DT_RPATH; NULL: none */
	const char **needed;
	size_t nneeded;
	struct rk_glibc glibc; /* 0.0: nothing of it */
};

enum rk_proof_kind { RK_PROOF_FILE, RK_PROOF_LINK, RK_PROOF_DIR };

struct rk_proof_file {
	const char *path; /* below site-packages; "" is left out of the set */
	enum rk_proof_kind kind;
	bool inner; /* in the archive of devel: there once it is expanded */
	uint32_t mode;
	uint64_t size;
	bool summed;
	uint8_t sha256[RK_SHA256_BYTES];
	const char *link;               /* of a link */
	const char *launcher;           /* what it starts, when it is one of our launchers */
	const struct rk_proof_elf *elf; /* NULL: none, or damaged */
	const char *text;               /* of an sdist: Python files and metadata */
	size_t text_len;
	size_t package;
};

struct rk_proof_package {
	const char *path, *file; /* where it lies; its name */
	unsigned group;          /* 0: with all others; else alternatives, one folder each */
	bool sdist;              /* else a wheel */
	struct rk_zip_file *zip; /* NULL: could not be opened */
	const char *name;      /* of the distribution, normalised; "" when the file name has none */
	const char *version;   /* as in the file name */
	const char *tags;      /* "py3-none-linux_x86_64" */
	const char *platforms; /* the part of it behind the second dash */
	const char *dist_info; /* folder with a slash behind it, or "" */
	struct rk_proof_file *files;
	size_t n, cap;
};

struct rk_proving {
	const struct rk_pack_verify_options *o;
	struct rk_arena *arena; /* with `lock` while threads are at work */
	pthread_mutex_t lock;
	struct rk_pool *pool;
	struct rk_proof_package *packages;
	size_t npackages, cap_packages;
	unsigned groups; /* besides 0 */
	struct rk_pack_finding *findings;
	size_t nfindings, cap_findings;
	int rc; /* what stops the whole: no memory, no room for temporary files */
	struct rk_error err;
};

/* Any thread. `kind` is static, `path` and the text are copied. */
void rk_proof_fault(struct rk_proving *p, const char *kind, const struct rk_proof_package *w,
		    const char *path, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Worth knowing, and nothing is broken by it. */
void rk_proof_note(struct rk_proving *p, const char *kind, const struct rk_proof_package *w,
		   const char *path, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Keeps the first error; any thread. */
void rk_proof_stop(struct rk_proving *p, const struct rk_error *err);
void rk_proof_nomem(struct rk_proving *p); /* the same: no memory */
bool rk_proof_stopped(struct rk_proving *p);
/* NULL: rk_proof_stop was called. Any thread. */
const char *rk_proof_text(struct rk_proving *p, const char *s, size_t len);
struct rk_proof_file *rk_proof_add(struct rk_proving *p, struct rk_proof_package *w);

/* verify_read.c: opens all wheels, reads all members. */
void rk_proof_read(struct rk_proving *p);
/* The facts of an ELF file or a launcher into `f`. Any thread. */
void rk_proof_look(struct rk_proving *p, const struct rk_proof_package *w, struct rk_proof_file *f,
		   const void *data, size_t len);

/* verify_tar.c: devel's archive from a spill; an sdist from its file. */
void rk_proof_devel(struct rk_proving *p, struct rk_proof_package *w, const char *member,
		    struct rk_spill *tar);
void rk_proof_sdist(struct rk_proving *p, struct rk_proof_package *w);

/* verify_wheel.c: names, metadata, tags. */
void rk_proof_file_name(struct rk_proving *p, struct rk_proof_package *w);
void rk_proof_wheel(struct rk_proving *p, struct rk_proof_package *w);
/* A member's text, the caller's (rk_free); NULL: there is none, or it was reported. */
char *rk_proof_load(struct rk_proving *p, struct rk_proof_package *w, const char *name,
		    size_t *ret_len);
/* The value of "Name: value" before the first empty line, copied; NULL: none. */
const char *rk_proof_header(struct rk_proving *p, const char *text, const char *name);
/* The file of this path, or NULL. */
const struct rk_proof_file *rk_proof_find(const struct rk_proof_package *w, const char *path);

/* verify_read.c: no part of the path is empty, "." or "..". */
bool rk_proof_plain_parts(const char *path);

/* verify_record.c */
void rk_proof_record(struct rk_proving *p, struct rk_proof_package *w);

/* verify_scripts.c: entry points of a wheel or an sdist, names that Python can import. */
void rk_proof_scripts(struct rk_proving *p, struct rk_proof_package *w);

/* verify_promised.c: scripts that a package of its kind should have. */
void rk_proof_promised(struct rk_proving *p, struct rk_proof_package *w);

/* verify_tag.c: glibc and machines. */
void rk_proof_tag(struct rk_proving *p, struct rk_proof_package *w);
/* The highest glibc of all, and the tag that would hold: texts of the arena. */
void rk_proof_floor(struct rk_proving *p, struct rk_pack_proof *ret);

/* The files that are installed together. */
struct rk_proof_set {
	struct rk_path_map map; /* number in v; `any` is a folder */
	const struct rk_proof_file **v;
	size_t n, any;
	struct rk_path_map names; /* last parts of paths: number in v */
};

enum rk_proof_walk { RK_WAY_THERE, RK_WAY_NOWHERE, RK_WAY_ABSOLUTE, RK_WAY_LEAVES, RK_WAY_CIRCLE };

/* verify_set.c: also says which paths are there twice. */
int rk_proof_set_make(struct rk_proving *p, unsigned group, struct rk_proof_set *ret);
void rk_proof_set_release(struct rk_proof_set *s);
/* Follows `rel` from the folder of `from`, and links. *ret NULL: it ends at a folder. */
enum rk_proof_walk rk_proof_walk(const struct rk_proof_set *s, const char *from, const char *rel,
				 size_t rel_len, const struct rk_proof_file **ret);

/* verify_closure.c */
void rk_proof_closure(struct rk_proving *p, const struct rk_proof_set *s);

#endif
