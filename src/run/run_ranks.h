/*
 * run_ranks.h - the run.json files of a run, the rank folders it was found in, and which of them
 * are used.
 *
 * Two folders of one rank would be added up as one rank, and a rank left by an earlier job would be
 * compared with ranks of this one. So only one folder of a rank is used, and ranks of another job
 * are skipped if the intended job is clear: more than half of the ranks belong to it.
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
	const struct rk_run_record *record; /* NULL: none; not `ours`: unreadable */
	size_t order;                       /* index in the order found */
	uint32_t tables;                    /* that its files have */
	unsigned unreadable;                /* number of unreadable files */
	bool hive;                          /* a data set: each table has a folder of the rank */
	bool again; /* used although the previous one has the same rank: it is unclear which is current */
	enum rk_place_fate fate;
};

/* Length of the path up to and including the innermost folder that names a rank; 0 without. */
size_t rk_rank_prefix(const char *path);

/* Adds a record; `path` is DIR/run.json, a regular file. */
int rk_records_add(struct rk_run *run, const char *path, struct rk_error *err);
/* Adds the records near a file that the user named. */
int rk_records_near(struct rk_run *run, const char *path, struct rk_error *err);
/* After all were added: gives each found file its record, and its rank if its path names none. */
void rk_records_settle(struct rk_run *run);
/* The record above the rank folders that the file or its rows belong to; NULL: none. */
const struct rk_run_record *rk_record_above(const struct rk_run *run, const char *path);

/* Fills run->places.v and marks skipped files. Call after rk_records_settle. */
int rk_run_places(struct rk_run *run, struct rk_error *err);
void rk_run_places_free(struct rk_run *run);
/* The place that is used for a rank, or NULL. */
const struct rk_rank_place *rk_run_place_of(const struct rk_run *run, int64_t rank);
/* Whether its record names the job, or its size. */
bool rk_place_tells_job(const struct rk_rank_place *p);
/* Whether the records name different jobs. */
bool rk_place_other_job(const struct rk_rank_place *a, const struct rk_rank_place *b);

#endif
