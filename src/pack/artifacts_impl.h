/* artifacts_impl.h - one artifact while it is read. */
#ifndef RK_ARTIFACTS_IMPL_H
#define RK_ARTIFACTS_IMPL_H

#include <pthread.h>

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

/* The one temporary file that all archives are unpacked to, by several threads. */
struct artifact_spill {
	struct rk_spill *file;
	pthread_mutex_t lock; /* for its length; ranges are written without the lock */
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

/* ---- artifact_read.c ---- */

/* Fills r->artifact: sorted, with folders that have no entry of their own. 1: read; 0: no manifest. */
int rk_artifact_read(struct artifact_reader *r, struct rk_error *err);

/* artifacts.c: stores the text and kind of a link; warns if it leads out of the tree. */
int rk_artifact_link(struct artifact_reader *r, struct rk_entry *e, const char *text,
		     struct rk_error *err);

#endif
