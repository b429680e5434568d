/* pack.h - build, index and verify Python packages made from ROCm build artifacts. */
#ifndef ROCKIT_PACK_H
#define ROCKIT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"
#include "rockit/warning.h"

RK_BEGIN_DECLS

/* Zero it before use: 0 and NULL are the defaults. Strings are borrowed until rk_pack_free. */
struct rk_pack_options {
	const char *artifact_dir;    /* required */
	const char *dest_dir;        /* required to build: files go below dest_dir/dist */
	const char *version;         /* NULL: the version of the artifacts plus ".dev0" */
	const char *version_suffix;  /* appended to the names of platform folders */
	const char *profiler_name;   /* NULL: rocm-sdk-profiler */
	const char *target_families; /* comma or semicolon list; NULL: all */
	const char *platform_tag;    /* NULL: linux_MACHINE of the ELF files */
	int level; /* 1 to 12; 0 is the default (6), RK_PACK_STORED does not compress */
	bool devel_xz;
	bool runpath;  /* DT_RUNPATH instead of DT_RPATH */
	unsigned jobs; /* 0: one per core */
	int64_t epoch; /* the time of all members, in seconds; 0: 1980-01-01 */
	const char *tmpdir;
	/*
	 * May be NULL. A nonzero result stops the build with RK_E_CANCELLED; no partial file is
	 * left.
	 */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	uint64_t reserved[8]; /* 0 */
};

enum { RK_PACK_STORED = -1 };

/* What happens to one file. */
struct rk_pack_file {
	const char *path; /* in the package */
	const char *
		action; /* "copy", "edit", "resolved", "launcher", "stub", "made", "dir", "link", "alias", "drop" */
	const char *edit; /* what is changed, or "" */
	const char *reason;
	const char *source; /* artifact and file, "" if generated */
	uint64_t size;      /* 0 if nothing is written */
	unsigned mode;
	uint64_t reserved[2]; /* 0 */
};

struct rk_pack_package {
	const char *logical, *dist, *family, *file; /* file: relative to dest_dir */
	const struct rk_pack_file *files;
	size_t nfiles;
	uint64_t bytes;       /* total size of all files before compression */
	uint64_t reserved[4]; /* 0 */
};

/* An artifact, or a file of one, that is in no package. */
struct rk_pack_left {
	const char *artifact; /* its folder or archive */
	const char *path;     /* in the install tree; "": the whole artifact, which was not read */
	const char *reason;
	uint64_t reserved[4]; /* 0 */
};

struct rk_pack;

/* Reads the artifacts and makes the plan; writes nothing. */
int rk_pack_new(const struct rk_pack_options *o, struct rk_pack **ret, struct rk_error *err);
const struct rk_pack_package *rk_pack_packages(const struct rk_pack *p, size_t *ret_n);
const struct rk_warning *rk_pack_warnings(const struct rk_pack *p, size_t *ret_n);
/* Sorted by artifact, reason and path; without folders. */
const struct rk_pack_left *rk_pack_left_out(const struct rk_pack *p, size_t *ret_n);
const char *rk_pack_version(const struct rk_pack *p);
/* The plan as text or JSON; the caller frees *ret (rk_text_free). */
int rk_pack_render(const struct rk_pack *p, enum rk_report_format format, char **ret,
		   size_t *ret_len, struct rk_error *err);
/* Carries out the plan. Each file appears only when it is complete. */
int rk_pack_build(struct rk_pack *p, struct rk_error *err);
void rk_pack_free(struct rk_pack *p); /* NULL is fine */

/*
 * Writes PEP 503 pages with hashes and PEP 658 metadata below dir/simple, for the packages in dir.
 */
int rk_pack_index(const char *dir, size_t *ret_files, struct rk_error *err);
/*
 * The same, and calls `each` (may be NULL) for every tree of pages, `dir` first, after all are
 * written. If folders below have different packages with the same name, one page cannot list both:
 * the tree in `dir` omits these (`apart` of them), and each such folder gets its own tree that also
 * lists the common packages.
 */
int rk_pack_index_trees(const char *dir,
			void (*each)(void *arg, const char *tree, size_t packages, size_t apart),
			void *arg, struct rk_error *err);

/* One problem, or a note. */
struct rk_pack_finding {
	const char *kind;     /* stable id with dashes: "needed-unresolved" */
	const char *package;  /* file name of the wheel */
	const char *path;     /* member, or "" for the whole wheel */
	const char *text;     /* one sentence */
	bool note;            /* for information; nothing is broken */
	uint64_t reserved[4]; /* 0 */
};

struct rk_pack_proof {
	struct rk_pack_finding *findings;
	size_t nfindings;                  /* sorted by package, path, kind */
	size_t faults;                     /* findings that are not notes; 0: OK */
	size_t packages, files, libraries; /* number checked */
	const char *glibc;                 /* highest version that any file needs, or "" */
	const char *platform_tag;          /* the manylinux tag that would fit, or "" */
};

struct rk_pack_verify_options {
	const char *const *paths; /* wheels, or folders of them */
	size_t npaths;
	unsigned jobs;
	/* libraries that the system may provide, besides those of glibc and gcc; ends with NULL */
	const char *const *system;
	uint64_t reserved[8]; /* 0 */
};

/* Checks the wheels as if installed together. A wheel that cannot be read is also a finding. */
int rk_pack_verify(const struct rk_pack_verify_options *o, struct rk_pack_proof **ret,
		   struct rk_error *err);
int rk_pack_proof_render(const struct rk_pack_proof *p, enum rk_report_format format, char **ret,
			 size_t *ret_len, struct rk_error *err);
void rk_pack_proof_free(struct rk_pack_proof *p); /* NULL is fine */

/*
 * Options for a framework's _rocm_init.py. `preload` NULL: PyTorch's list; `check_version` NULL: no
 * version check.
 */
struct rk_rocm_init_options {
	const char *preload;       /* short names, separated by commas */
	const char *check_version; /* exact, or a pattern with * */
	bool minor;                /* lock to major.minor and a wildcard */
	bool fail;                 /* a mismatch is an error, not a warning */
	uint64_t reserved[8];      /* 0 */
};
int rk_rocm_init(const struct rk_rocm_init_options *o, char **ret, size_t *ret_len,
		 struct rk_error *err);

RK_END_DECLS

#endif
