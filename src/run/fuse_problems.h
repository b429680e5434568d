/* fuse_problems.h - what is wrong with the parts of a job, as sentences. */
#ifndef RK_FUSE_PROBLEMS_H
#define RK_FUSE_PROBLEMS_H

#include "base/bytes.h"
#include "ranks/fuse.h"

/* Ranks that a sentence is about, ascending. Zero it before use. */
struct rk_rank_list {
	int64_t *v;
	size_t n, cap;
	bool bad;
};

void rk_rank_list_add(struct rk_rank_list *l, int64_t rank);
void rk_rank_list_release(struct rk_rank_list *l);
/* "rank 3", "ranks 0, 3-5"; of very many the first, and how many there are. */
void rk_rank_list_put(struct rk_bytes *b, const struct rk_rank_list *l);

/* One more, about `l`, with the text of `b`, which is released. `kind` and `warning` are static. */
int rk_problem_add(struct rk_fuse_members *m, const char *kind, const char *warning,
		   const struct rk_rank_list *l, struct rk_bytes *b, struct rk_error *err);

/* All that places, records and members tell. Members are settled before. */
int rk_fuse_problems(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err);
/* Damage that was found only when rows were read. */
int rk_fuse_damaged(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err);
/* Of them: ranks that are missing, come twice or are of another job (fuse_absent.c). */
int rk_fuse_absent(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err);

#endif
