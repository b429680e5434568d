/* artifacts_impl.h - what the parts of the artifact reader share. */
#ifndef RK_ARTIFACTS_IMPL_H
#define RK_ARTIFACTS_IMPL_H

#include <pthread.h>

#include "base/bytes.h"
#include "base/list.h"
#include "pack/artifacts.h"

#define RK_ARTIFACT_MANIFEST "artifact_manifest.txt"

enum {
	RK_ARTIFACT_PATH_MAX = 4096,
	RK_ARTIFACT_DEPTH_MAX = 128,
	RK_ARTIFACT_ENTRIES_MAX = 2000000,
	RK_ARTIFACT_STAGES_MAX = 10000,
	RK_ARTIFACT_MANIFEST_MAX = 1 << 20,
	RK_ARTIFACT_NAMES_MAX = 256 << 20, /* bytes of all names of one artifact */
};

/* Where all archives go, whoever reads them. */
struct artifact_spill {
	struct rk_spill *file;
	pthread_mutex_t lock; /* of its length; ranges are written without */
};

/* One artifact while it is read, by one thread. */
struct artifact_reader {
	struct rk_artifact *artifact;
	struct rk_arena *arena;
	struct rk_diag *diag;
	struct artifact_spill *spill; /* for archives */
	const char *path;             /* of the folder or archive */
	struct rk_list stages;        /* the manifest's lines; entries have their index */
	struct rk_entry *v;           /* grows here, then goes to the arena */
	size_t n, cap;
	size_t name_bytes;
};

/*
 * Is `name` (one name, or a path of them) fit to go into a package? Relative, no empty or dot
 * parts, UTF-8, no control characters, no backslash. `where` is for the error.
 */
int rk_artifact_check_path(const char *path, const char *where, struct rk_error *err);

/* The lines of a manifest into r->stages, checked. */
int rk_artifact_manifest(struct artifact_reader *r, const char *text, size_t len,
			 struct rk_error *err);
/* A new entry, zeroed but for artifact, path (copied) and stage. */
int rk_artifact_add(struct artifact_reader *r, uint32_t stage, const char *path,
		    struct rk_entry **ret, struct rk_error *err);
/* Sorted, with folders that only their files told of; then r->artifact has them. */
int rk_artifact_finish(struct artifact_reader *r, struct rk_error *err);

/* 1: read; 0: it has no manifest. */
int rk_artifact_read_folder(struct artifact_reader *r, struct rk_error *err);
int rk_artifact_read_archive(struct artifact_reader *r, struct rk_error *err);

/* The text and kind of a link, warned of where it leads out. */
int rk_artifact_link(struct artifact_reader *r, struct rk_entry *e, const char *text,
		     struct rk_error *err);

#endif
