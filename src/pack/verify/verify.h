/*
 * verify.h - verify packages: what was found in each package, and how the parts report problems.
 *
 * First every package is read, its members in parallel (archives.c). Then each package is checked
 * by itself (wheel.c, scripts.c), then all that are installed together (closure.c). Only the first
 * step uses threads.
 */
#ifndef RK_VERIFY_H
#define RK_VERIFY_H

#include <pthread.h>
#include <string.h>

#include "rockit/pack.h"

#include "archive/zip_read.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "base/sha256/sha256.h"
#include "io/file.h"
#include "pack/elf/read.h"
#include "pack/paths.h"
#include "pack/tag.h"

enum {
	RK_PROOF_PATH_MAX = 8192,
	RK_PROOF_TEXT_MAX = 16 << 20, /* RECORD, METADATA, Python files */
};

/* The facts we keep about an ELF file. */
struct rk_proof_elf {
	enum rk_elf_kind kind;
	uint16_t machine;
	const char *path; /* DT_RUNPATH, else DT_RPATH; NULL: none */
	const char **needed;
	size_t nneeded;
	struct rk_glibc glibc; /* 0.0: needs no glibc */
};

enum rk_proof_kind { RK_PROOF_FILE, RK_PROOF_LINK, RK_PROOF_DIR };

/* A program or a library, not device code or an object file. */
static inline bool rk_proof_is_loadable(const struct rk_proof_elf *e)
{
	return e && (e->kind == RK_ELF_EXE || e->kind == RK_ELF_SHARED);
}

/* Where the next line begins, or the end of the text. */
static inline const char *rk_proof_next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

struct rk_proof_file {
	const char *path; /* relative to site-packages; "": not part of the set */
	enum rk_proof_kind kind;
	bool inner; /* in devel's inner archive: exists after it is expanded */
	uint32_t mode;
	uint64_t size;
	bool summed;
	uint8_t sha256[RK_SHA256_BYTES];
	const char *link;               /* link text */
	const char *launcher;           /* what it starts, if it is one of our launchers */
	const struct rk_proof_elf *elf; /* NULL: not ELF, or damaged */
	const char *text;               /* for an sdist: text of Python files and metadata */
	size_t package;
};

struct rk_proof_package {
	const char *path, *file; /* file: the last part of path */
	unsigned group; /* 0: installed with all others; else alternatives, one folder each */
	bool sdist;     /* else a wheel */
	struct rk_zip_file *zip; /* NULL: could not be opened */
	const char *name;        /* distribution name, normalised; "": the file name has none */
	const char *version;     /* as in the file name */
	const char *tags;        /* "py3-none-linux_x86_64" */
	const char *platforms;   /* the part of it after the second dash */
	const char *dist_info;   /* folder with a trailing slash, or "" */
	struct rk_proof_file *files;
	size_t n, cap;
};

struct rk_proving {
	const struct rk_pack_verify_options *o;
	struct rk_arena *arena; /* take `lock` while threads run */
	pthread_mutex_t lock;
	struct rk_pool *pool;
	struct rk_proof_package *packages;
	size_t npackages, cap_packages;
	unsigned groups; /* not counting 0 */
	struct rk_pack_finding *findings;
	size_t nfindings, cap_findings;
	int rc; /* fatal error: no memory, no space for temporary files */
	struct rk_error err;
};

/* Any thread. `kind` must be static; `path` and the text are copied. */
void rk_proof_fault(struct rk_proving *p, const char *kind, const struct rk_proof_package *w,
		    const char *path, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same as a note, when nothing is broken. */
void rk_proof_note(struct rk_proving *p, const char *kind, const struct rk_proof_package *w,
		   const char *path, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Keeps the first error; any thread. */
void rk_proof_stop(struct rk_proving *p, const struct rk_error *err);
void rk_proof_nomem(struct rk_proving *p); /* the same: no memory */
bool rk_proof_stopped(struct rk_proving *p);
/* NULL: rk_proof_stop was called. Any thread. */
const char *rk_proof_text(struct rk_proving *p, const char *s, size_t len);
struct rk_proof_file *rk_proof_add(struct rk_proving *p, struct rk_proof_package *w);

/* archives.c: opens all packages, reads all members. */
void rk_proof_read(struct rk_proving *p);

/* wheel.c: names, metadata, RECORD, tags. */
void rk_proof_file_name(struct rk_proving *p, struct rk_proof_package *w);
void rk_proof_wheel(struct rk_proving *p, struct rk_proof_package *w);
/* A member's text, to be freed with rk_free; NULL: missing, or an error was reported. */
char *rk_proof_load(struct rk_proving *p, struct rk_proof_package *w, const char *name,
		    size_t *ret_len);
/* The value of "Name: value" before the first empty line, copied; NULL: none. */
const char *rk_proof_header(struct rk_proving *p, const char *text, const char *name);
/* The highest glibc that any file needs, and the tag that would fit. Strings are in the arena. */
void rk_proof_floor(struct rk_proving *p, struct rk_pack_proof *ret);

/* scripts.c: checks entry points of a wheel or sdist, and that names are importable. */
void rk_proof_scripts(struct rk_proving *p, struct rk_proof_package *w);

/* closure.c: packages of a group are installed together with those of group 0. */
void rk_proof_closure(struct rk_proving *p, unsigned group);

#endif
