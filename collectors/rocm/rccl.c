/*
 * rccl.c - RCCL calls of the program: a call record in the domain "rccl", and for those that communicate
 * a marker with what they move: "ncclAllReduce bytes=4096 type=float32 rank=0 of=8".
 *
 * RCCL has no callback. Our functions of the same names are between the program and librccl if we are
 * preloaded; otherwise nothing here is ever called.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "rocm.h"

/* ---- RCCL's interface, as in rccl.h 2.18 ---- */

enum { NCCL_SUCCESS = 0, NCCL_INVALID_USAGE = 5 };

struct nccl_unique_id {
	char internal[128];
};

static const struct {
	const char *name;
	unsigned bytes;
} types[] = {
	{ "int8", 1 },    { "uint8", 1 },    { "int32", 4 },   { "uint32", 4 },
	{ "int64", 8 },   { "uint64", 8 },   { "float16", 2 }, { "float32", 4 },
	{ "float64", 8 }, { "bfloat16", 2 }, { "fp8e4m3", 1 }, { "fp8e5m2", 1 },
};

#define NEXT(R, name, params) static R(*next_##name) params
NEXT(int, ncclAllReduce, (const void *, void *, size_t, int, int, void *, void *));
NEXT(int, ncclReduce, (const void *, void *, size_t, int, int, int, void *, void *));
NEXT(int, ncclReduceScatter, (const void *, void *, size_t, int, int, void *, void *));
NEXT(int, ncclAllGather, (const void *, void *, size_t, int, void *, void *));
NEXT(int, ncclBcast, (void *, size_t, int, int, void *, void *));
NEXT(int, ncclBroadcast, (const void *, void *, size_t, int, int, void *, void *));
NEXT(int, ncclGather, (const void *, void *, size_t, int, int, void *, void *));
NEXT(int, ncclScatter, (const void *, void *, size_t, int, int, void *, void *));
NEXT(int, ncclAllToAll, (const void *, void *, size_t, int, void *, void *));
NEXT(int, ncclAllToAllv,
     (const void *, const size_t *, const size_t *, void *, const size_t *, const size_t *, int,
      void *, void *));
NEXT(int, ncclSend, (const void *, size_t, int, int, void *, void *));
NEXT(int, ncclRecv, (void *, size_t, int, int, void *, void *));
NEXT(int, ncclGroupStart, (void));
NEXT(int, ncclGroupEnd, (void));
NEXT(int, ncclCommInitRank, (void **, int, struct nccl_unique_id, int));
NEXT(int, ncclCommInitAll, (void **, int, const int *));
NEXT(int, ncclCommDestroy, (void *));
NEXT(int, ncclCommUserRank, (const void *, int *));
NEXT(int, ncclCommCount, (const void *, int *));

/* ---- the library behind us ---- */

static bool wanted;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A library that was loaded for somebody else alone is not among those that RTLD_NEXT looks at. */
static void find_next(void)
{
	void *from = dlsym(RTLD_NEXT, "ncclAllReduce") ? RTLD_NEXT : rk_rocm_library("librccl.so");

#define FIND(name) rk_rocm_symbol(from, #name, &next_##name)
	FIND(ncclAllReduce);
	FIND(ncclReduce);
	FIND(ncclReduceScatter);
	FIND(ncclAllGather);
	FIND(ncclBcast);
	FIND(ncclBroadcast);
	FIND(ncclGather);
	FIND(ncclScatter);
	FIND(ncclAllToAll);
	FIND(ncclAllToAllv);
	FIND(ncclSend);
	FIND(ncclRecv);
	FIND(ncclGroupStart);
	FIND(ncclGroupEnd);
	FIND(ncclCommInitRank);
	FIND(ncclCommInitAll);
	FIND(ncclCommDestroy);
	FIND(ncclCommUserRank);
	FIND(ncclCommCount);
	wanted = rk_rec_start("rocm") && rk_rec_flag("rccl", true);
}

/* ---- a call ---- */

/* RCCL calls its own functions, through us. */
static _Thread_local unsigned depth;

/* Returns its start, 0 if it is not recorded. */
static int64_t begin(void)
{
	int saved = errno;

	if (depth++)
		return 0;
	pthread_once(&once, find_next);
	errno = saved;
	if (!wanted || rk_rocm_off())
		return 0;
	if (rk_rec_awake())
		return rk_rec_now();
	rk_rec_skip();
	return 0;
}

static void end(int64_t start, const char *name)
{
	struct rk_rec_call c = { .start_ns = start };

	depth--;
	if (!start)
		return;
	c.tid = rk_rec_tid();
	c.duration_ns = rk_rec_now() - start;
	c.name = rk_rec_string(name, strlen(name));
	c.domain = rk_rec_string("rccl", 4);
	rk_rec_call(&c);
}

enum { NOBODY = -1 };

/* What a call moved; with[0]: "root" or "peer", and its number, or NOBODY. */
static void communicated(int64_t start, const char *name, size_t count, int type, const void *comm,
			 const char *with, int who)
{
	struct rk_rec_marker m = { .kind = RK_REC_RANGE, .start_ns = start };
	bool known = type >= 0 && (size_t)type < sizeof(types) / sizeof(types[0]);
	int rank = -1, of = 0, n, saved = errno;
	char text[160];

	if (!start)
		return;
	m.duration_ns = rk_rec_now() - start;
	if (next_ncclCommUserRank && next_ncclCommUserRank(comm, &rank) != NCCL_SUCCESS)
		rank = -1;
	if (next_ncclCommCount && next_ncclCommCount(comm, &of) != NCCL_SUCCESS)
		of = 0;
	n = snprintf(text, sizeof(text), "%s bytes=%zu type=%s rank=%d of=%d", name,
		     known ? count * types[type].bytes : 0, known ? types[type].name : "?", rank,
		     of);
	if (who != NOBODY)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s=%d", with, who);
	m.name = rk_rec_string(text, (size_t)n);
	m.domain = rk_rec_string("rccl", 4);
	rk_rec_marker(&m);
	errno = saved;
}

/* The program's call, passed on; details only if it succeeded: then `comm` is a good one. */
#define PASS_ON(name, args, count, type, comm, with, who)                 \
	int64_t start = begin();                                          \
	int rc = next_##name ? next_##name args : NCCL_INVALID_USAGE;     \
                                                                          \
	end(start, #name);                                                \
	if (rc == NCCL_SUCCESS)                                           \
		communicated(start, #name, count, type, comm, with, who); \
	return rc

#define SHOWN(name, ...)                     \
	RK_ROCM_SHOWN int name(__VA_ARGS__); \
	int name(__VA_ARGS__)

SHOWN(ncclAllReduce, const void *from, void *to, size_t count, int type, int op, void *comm,
      void *stream)
{
	PASS_ON(ncclAllReduce, (from, to, count, type, op, comm, stream), count, type, comm, "",
		NOBODY);
}

SHOWN(ncclReduce, const void *from, void *to, size_t count, int type, int op, int root, void *comm,
      void *stream)
{
	PASS_ON(ncclReduce, (from, to, count, type, op, root, comm, stream), count, type, comm,
		"root", root);
}

/* count: of the received part */
SHOWN(ncclReduceScatter, const void *from, void *to, size_t count, int type, int op, void *comm,
      void *stream)
{
	PASS_ON(ncclReduceScatter, (from, to, count, type, op, comm, stream), count, type, comm, "",
		NOBODY);
}

SHOWN(ncclAllGather, const void *from, void *to, size_t count, int type, void *comm, void *stream)
{
	PASS_ON(ncclAllGather, (from, to, count, type, comm, stream), count, type, comm, "",
		NOBODY);
}

SHOWN(ncclBcast, void *buffer, size_t count, int type, int root, void *comm, void *stream)
{
	PASS_ON(ncclBcast, (buffer, count, type, root, comm, stream), count, type, comm, "root",
		root);
}

SHOWN(ncclBroadcast, const void *from, void *to, size_t count, int type, int root, void *comm,
      void *stream)
{
	PASS_ON(ncclBroadcast, (from, to, count, type, root, comm, stream), count, type, comm,
		"root", root);
}

SHOWN(ncclGather, const void *from, void *to, size_t count, int type, int root, void *comm,
      void *stream)
{
	PASS_ON(ncclGather, (from, to, count, type, root, comm, stream), count, type, comm, "root",
		root);
}

SHOWN(ncclScatter, const void *from, void *to, size_t count, int type, int root, void *comm,
      void *stream)
{
	PASS_ON(ncclScatter, (from, to, count, type, root, comm, stream), count, type, comm, "root",
		root);
}

SHOWN(ncclAllToAll, const void *from, void *to, size_t count, int type, void *comm, void *stream)
{
	PASS_ON(ncclAllToAll, (from, to, count, type, comm, stream), count, type, comm, "", NOBODY);
}

SHOWN(ncclAllToAllv, const void *from, const size_t *counts, const size_t *at, void *to,
      const size_t *to_counts, const size_t *to_at, int type, void *comm, void *stream)
{
	size_t count = 0;
	int of = 0;

	pthread_once(&once, find_next);
	if (counts && next_ncclCommCount && next_ncclCommCount(comm, &of) == NCCL_SUCCESS)
		for (int i = 0; i < of; i++)
			count += counts[i];
	PASS_ON(ncclAllToAllv, (from, counts, at, to, to_counts, to_at, type, comm, stream), count,
		type, comm, "", NOBODY);
}

SHOWN(ncclSend, const void *from, size_t count, int type, int peer, void *comm, void *stream)
{
	PASS_ON(ncclSend, (from, count, type, peer, comm, stream), count, type, comm, "peer", peer);
}

SHOWN(ncclRecv, void *to, size_t count, int type, int peer, void *comm, void *stream)
{
	PASS_ON(ncclRecv, (to, count, type, peer, comm, stream), count, type, comm, "peer", peer);
}

#define ONLY_CALL(name, args)                                         \
	int64_t start = begin();                                      \
	int rc = next_##name ? next_##name args : NCCL_INVALID_USAGE; \
                                                                      \
	end(start, #name);                                            \
	return rc

SHOWN(ncclGroupStart, void)
{
	ONLY_CALL(ncclGroupStart, ());
}

SHOWN(ncclGroupEnd, void)
{
	ONLY_CALL(ncclGroupEnd, ());
}

SHOWN(ncclCommInitRank, void **comm, int of, struct nccl_unique_id id, int rank)
{
	ONLY_CALL(ncclCommInitRank, (comm, of, id, rank));
}

SHOWN(ncclCommInitAll, void **comms, int n, const int *devices)
{
	ONLY_CALL(ncclCommInitAll, (comms, n, devices));
}

SHOWN(ncclCommDestroy, void *comm)
{
	ONLY_CALL(ncclCommDestroy, (comm));
}
