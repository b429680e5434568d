/* live_files.h - processes and their recorder files, from /proc and from directories. */
#ifndef RK_LIVE_FILES_H
#define RK_LIVE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/list.h"
#include "base/rkraw.h"

struct rk_live_process {
	int64_t pid;    /* here */
	int64_t own;    /* in its own namespace: what the process calls itself */
	int64_t parent; /* here */
	uint64_t start; /* field 22 of its stat file */
	uid_t uid;      /* effective */
};

struct rk_live_file {
	char *path;
	bool running; /* `process` is valid */
	bool copied;  /* by an earlier snap */
	struct rk_live_process process;
};

struct rk_live_files {
	struct rk_live_file *v;
	size_t n, cap;
	struct rk_list notes; /* files that were left out, and why */
	bool foreign;         /* a process could not be looked at: it is another user's */
};

/*
 * Opens a recorder file without following a link or waiting, and reads its header. `flags`: O_RDONLY
 * or O_RDWR. The caller closes *ret_fd.
 */
int rk_live_open(const char *path, int flags, int *ret_fd, struct rk_raw_header *ret,
		 struct rk_error *err);
/* Does the file with this header belong to the process? */
bool rk_live_owns(const struct rk_live_process *p, const struct rk_raw_header *h);

/*
 * The recorder files of process `pid` (0: of all in `dir`, but no copies of others there) and, with
 * `children`, of all processes that it has started. With both only files below `dir`. RK_E_UNSUPPORTED: none.
 */
int rk_live_find(int64_t pid, const char *dir, bool children, struct rk_live_files *ret,
		 struct rk_error *err);
void rk_live_files_release(struct rk_live_files *f);

#endif
