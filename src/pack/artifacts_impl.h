/* artifacts_impl.h - state of an artifact while it is being read. */
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
	RK_ARTIFACT_NAMES_MAX = 256 << 20, /* total bytes of names in one artifact */
};

/* The temporary file that all archives are unpacked to, by several threads. */
struct artifact_spill {
	struct rk_spill *file;
	pthread_mutex_t lock; /* protects its length; ranges are written without the lock */
};

/* State of one artifact while one thread reads it. */
struct artifact_reader {
	struct rk_artifact *artifact;
	struct rk_arena *arena;
	struct rk_diag *diag;
	struct artifact_spill *spill; /* for archives */
	const char *path;             /* path of the folder or archive */
	struct rk_list stages;        /* lines of the manifest; entries refer to them by index */
	struct rk_entry *v;           /* grows here, moved to the arena at the end */
	size_t n, cap;
	size_t name_bytes;
};

/* ---- artifact_read.c ---- */

/*
 * Fills r->artifact with sorted entries and adds missing folder entries. Returns 1 if read, 0 if
 * there is no manifest.
 */
int rk_artifact_read(struct artifact_reader *r, struct rk_error *err);

/* artifacts.c: stores the text and kind of a link; warns if it leads out of the tree. */
int rk_artifact_link(struct artifact_reader *r, struct rk_entry *e, const char *text,
		     struct rk_error *err);

#endif
