/*
 * run_ranks.h - the run.json beside the files of a run, the folders of ranks that it was found in, and which
 * of them count.
 *
 * Two ranks of one number would be added up as if they were one, and a rank that an earlier job left
 * behind would be compared with this one's. So of a rank's folders one is used, and ranks of another
 * job are left out where it is plain which job is meant: more than half of the ranks are of it.
 */
#ifndef RK_RUN_RANKS_H
#define RK_RUN_RANKS_H

#include "run/run.h"

enum rk_place_fate {
	RK_PLACE_USED,
	RK_PLACE_OTHER_JOB,
	RK_PLACE_DUPLICATE,
};

struct rk_rank_place {
	int64_t rank;
	char *folder;                       /* without a slash; "node=N" of a data set's node N */
	const struct rk_run_record *record; /* NULL: none; not `ours`: one that cannot be read */
	size_t order;                       /* in which it was found */
	uint32_t tables;                    /* that its files can give */
	unsigned unreadable;                /* of its files */
	bool hive;                          /* a data set: each table has a folder of the rank */
	bool again; /* used, although the one before has the same rank: nothing says which is meant */
	enum rk_place_fate fate;
};

/* Length of the path up to and with the slash of the innermost folder that names a rank; 0 without. */
size_t rk_rank_prefix(const char *path);

/* One more, `path` being DIR/run.json, a regular file. */
int rk_records_add(struct rk_run *run, const char *path, struct rk_error *err);
/* Those near a file that was named itself. */
int rk_records_near(struct rk_run *run, const char *path, struct rk_error *err);
/* All are there: each found file gets its own, and the rank it names where its path names none. */
void rk_records_settle(struct rk_run *run);
/* The record above the folders of ranks that the file, or its rows, belong to; NULL: none. */
const struct rk_run_record *rk_record_above(const struct rk_run *run, const char *path);

/* Fills run->places.v and what files are left out. After rk_records_settle. */
int rk_run_places(struct rk_run *run, struct rk_error *err);
void rk_run_places_free(struct rk_run *run);
/* The place that is used for a rank, or NULL. */
const struct rk_rank_place *rk_run_place_of(const struct rk_run *run, int64_t rank);
/* Whether what its record says of the job is not what the other's says. */
bool rk_place_other_job(const struct rk_rank_place *a, const struct rk_rank_place *b);

#endif
