/* recorder_world.h - the recorder is one per process: each test of it runs in a child. */
#ifndef RK_RECORDER_WORLD_H
#define RK_RECORDER_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder.h"
#include "tap.h"
#include "world.h"

/*
 * Runs `what` in a child that records to w's directory, with more settings ("" for none). Returns
 * how the child ended (waitpid); *ret_path is the file it made, borrowed until the next call.
 */
static inline int record(struct world *w, const char *settings, void (*what)(void *), void *arg,
			 const char **ret_path)
{
	static char path[256];
	char all[256];
	int status = -1;
	pid_t pid;

	snprintf(all, sizeof(all), "dir=%s,%s", w->dir, settings);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setenv("ROCKIT_COLLECT", all, 1);
		rk_rec_start("test");
		what(arg);
		rk_rec_end();
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	snprintf(path, sizeof(path), "%s/%ld.rkraw", w->dir, (long)pid);
	*ret_path = path;
	return status;
}

/* In the child: a check that ends it with a status the parent sees. */
#define MUST(cond)                                 \
	do {                                       \
		if (!(cond))                       \
			_exit(__LINE__ % 200 + 1); \
	} while (0)

/* Rows of one table. */
static inline int64_t rows_of(struct world *w, const char *path, enum rk_table t)
{
	struct rk_reader *r = NULL;
	struct rk_source *s = NULL;
	const struct rk_batch *b;
	int64_t rows = 0;
	int rc = rk_reader_open(path, &w->ctx, &r, &w->err);

	if (rc == 0)
		rc = r->ops->scan(r, t, RK_WANT_ALL, &s, &w->err);
	while (rc == 0 && (rc = rk_source_next(s, &b, &w->err)) > 0) {
		rows += (int64_t)b->nrows;
		rc = 0;
	}
	rk_source_close(s);
	rk_reader_close(r);
	return rc < 0 ? rc : rows;
}

#endif
