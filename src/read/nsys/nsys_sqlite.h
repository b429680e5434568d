/* nsys_sqlite.h - SQLite exports of Nsight Systems; nsys_sqlite*.c only, but for the reader. */
#ifndef RK_NSYS_SQLITE_H
#define RK_NSYS_SQLITE_H

#include "read/sql_read.h"

/*
 * Export schemas 2.9 to 3.24 (columns are found by name, so neighbours read too): kernels, copies
 * and memsets, CUDA calls, NVTX ranges and marks, GPUs, processes. Kernel names are demangledName,
 * else shortName. Times count from the beginning of the capture: clock "unknown".
 */
enum { NSYS_STRINGS }; /* lookup: StringIds */

/* Ids of processes and threads are packed: 8 bits hardware, 8 VM, 24 process, 24 thread. */
static inline int64_t rk_nsys_pid(int64_t global)
{
	return global == RK_NONE ? RK_NONE : global >> 24 & 0xffffff;
}

static inline int64_t rk_nsys_tid(int64_t global)
{
	return global == RK_NONE ? RK_NONE : global & 0xffffff;
}

extern const struct sql_part rk_nsys_kernels[1], rk_nsys_copies[2];

#endif
