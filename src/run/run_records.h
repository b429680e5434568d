/* run_records.h - the run.json in the folders of a run: who recorded what, where and when. */
#ifndef RK_RUN_RECORDS_H
#define RK_RUN_RECORDS_H

#include "run/run_json.h"

struct rk_run;

/* Length of the path up to and with the slash of the innermost folder that names a rank; 0 without. */
size_t rk_rank_prefix(const char *path);

/* One more, `path` being DIR/run.json, a regular file. */
int rk_records_add(struct rk_run *run, const char *path, struct rk_error *err);
/* Those near a file that was named itself. */
int rk_records_near(struct rk_run *run, const char *path, struct rk_error *err);
/* All are there: each found file gets its own, and the rank it names where its path names none. */
void rk_records_settle(struct rk_run *run);
/* The one that lies above the folders of ranks of which the file, or its rows, are; NULL: none. */
const struct rk_run_record *rk_record_above(const struct rk_run *run, const char *path);

#endif
