/*
 * run_ranks.h - the run.json files of a run, its rank folders, and which of them are used.
 *
 * Two folders of one rank would be added up as one rank, and a rank left by an earlier job would be
 * compared with ranks of this one. So only one folder per rank is used, and ranks of another job
 * are skipped if it is clear which job is meant: more than half of the ranks belong to it.
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
	char *folder;                       /* without a slash; "node=N" for node N of a data set */
	const struct rk_run_record *record; /* NULL: none; if not `ours`: unreadable */
	size_t order;                       /* index in the order found */
	uint32_t tables;                    /* tables in its files */
	unsigned unreadable;                /* number of unreadable files */
	bool hive;                          /* a data set: each table has a folder for the rank */
	bool again; /* used although another folder has the same rank: unclear which is current */
	enum rk_place_fate fate;
};

/* Length of the path up to and including the innermost folder that names a rank; 0: none. */
size_t rk_rank_prefix(const char *path);

/* Adds a record; `path` is DIR/run.json, a regular file. */
int rk_records_add(struct rk_run *run, const char *path, struct rk_error *err);
/* Adds the records near a file that the user named. */
int rk_records_near(struct rk_run *run, const char *path, struct rk_error *err);
/*
 * Call after adding all records: assigns its record to each file found, and its rank if the path
 * has none.
 */
void rk_records_settle(struct rk_run *run);
/* The record above the rank folders that the file or its rows belong to; NULL: none. */
const struct rk_run_record *rk_record_above(const struct rk_run *run, const char *path);

/* Fills run->places.v and marks skipped files. Call after rk_records_settle. */
int rk_run_places(struct rk_run *run, struct rk_error *err);
void rk_run_places_free(struct rk_run *run);
/* The folder that is used for a rank, or NULL. */
const struct rk_rank_place *rk_run_place_of(const struct rk_run *run, int64_t rank);
/* Does its record name the job, or its size? */
bool rk_place_tells_job(const struct rk_rank_place *p);
/* Do the records name different jobs? */
bool rk_place_other_job(const struct rk_rank_place *a, const struct rk_rank_place *b);

#endif
