/*
 * trace.h - the tracks of a trace that is being written.
 *
 * Tracks form a tree: processes, below them threads and devices, below those queues and so on.
 * Slices that share a track must not overlap partly, so a track has lanes: its own, and further
 * ones next to it for slices that do not fit. On a queue a slice fits if no other is open; on a
 * thread it may also be nested in an open one. Rows must come in order of their start.
 *
 * Memory is bounded: past RK_TRACKS_MAX, further tracks share one track per kind, and past
 * RK_LANES_MAX lanes a slice gets no lane (RK_TRACK_FULL). Both are counted.
 */
#ifndef RK_TRACE_H
#define RK_TRACE_H

#include "base/bytes.h"
#include "base/map.h"
#include "base/strtab.h"
#include "write/writer.h"

enum { RK_TRACKS_MAX = 1 << 15, RK_LANES_MAX = 256, RK_LANE_DEPTH = 128 };

#define RK_TRACK_FULL UINT32_MAX

enum rk_track_kind {
	RK_TRACK_PROCESS,
	RK_TRACK_THREAD,  /* key: tid */
	RK_TRACK_MARKERS, /* of a thread */
	RK_TRACK_MEMORY,  /* of a thread */
	RK_TRACK_DEVICE,  /* key: its number */
	RK_TRACK_QUEUE,   /* of a device; key: its number */
	RK_TRACK_STREAM,  /* of a device if its queues are unknown; key: stream */
	RK_TRACK_COPIES,  /* of a device; key: stream */
	RK_TRACK_SENSORS, /* a device of a node; key: its number */
	RK_TRACK_COUNTER, /* key: chosen by the writer */
	RK_TRACK_NKINDS
};

struct rk_track {
	enum rk_track_kind kind;
	uint32_t parent;  /* 0: none */
	uint32_t process; /* index of struct rk_track_process */
	uint32_t lane;    /* 0: the track itself, 1..: next to it */
	uint32_t next;    /* next lane of the same track, 0: none */
	int64_t key;
	int64_t tid;    /* of its first slice; for writers */
	uint64_t owner; /* for writers */
	bool rest;      /* shared by all tracks past the limit */
	bool told;      /* for writers: its description has been written */
	int64_t *ends;  /* of open slices, innermost last */
	uint32_t nends, cap;
};

struct rk_track_process {
	int64_t pid, rank; /* RK_NONE: not known */
	uint32_t node;     /* id of its name, 0: not known */
	int64_t shown_pid; /* unique in the trace; 0: not known */
	uint64_t hash;     /* of pid, rank and node; see rk_tracks_flow */
	uint32_t track;
};

struct rk_tracks {
	const struct rk_strtab *names;
	struct rk_track *v; /* the index is the id; v[0] is unused */
	size_t n, cap;
	struct rk_track_process *processes; /* processes[0]: the unknown process */
	size_t nprocesses, cap_processes;
	struct rk_map at, pids;
	struct rk_trace_scope scope;
	uint32_t rest[RK_TRACK_NKINDS];
	uint64_t shared; /* requests for tracks past the limit (repeated ones count again) */
};

int rk_tracks_init(struct rk_tracks *t, const struct rk_strtab *names, struct rk_error *err);
void rk_tracks_release(struct rk_tracks *t);

/* Index of the process; < 0: no memory. node: a name's id, 0 for none. */
int64_t rk_tracks_process(struct rk_tracks *t, int64_t pid, int64_t rank, uint32_t node);
/* The track below `parent` (0: none); created if it is new. 0: no memory. */
uint32_t rk_tracks_child(struct rk_tracks *t, uint32_t parent, uint32_t process,
			 enum rk_track_kind kind, int64_t key);
/* The track of a process, 0 for the unknown process. */
static inline uint32_t rk_tracks_of(const struct rk_tracks *t, uint32_t process)
{
	return t->processes[process].track;
}

/* The lane of `track` for a slice from start to end. 0: no memory, RK_TRACK_FULL: no lane left. */
uint32_t rk_tracks_lane(struct rk_tracks *t, uint32_t track, int64_t start, int64_t end, bool nest);
/* Closes all slices; call it before the rows of the next table. */
void rk_tracks_settle(struct rk_tracks *t);

/* Appends the track's name, with its lane unless it is the first: "queue 1", "queue 1 (2)". */
void rk_tracks_name(const struct rk_tracks *t, uint32_t track, struct rk_bytes *out);
/* Appends "pid 7, rank 3, node n1", or the parts of it that are known. */
void rk_tracks_place(const struct rk_tracks *t, uint32_t process, struct rk_bytes *out);

/*
 * The id of the arrow from a call to its work. Ids of one process differ; those of two processes are
 * equal by chance only, 1 in 2^64. They do not depend on the machine or the run.
 */
uint64_t rk_tracks_flow(const struct rk_tracks *t, uint32_t process, int64_t correlation);

/* ---- values of a batch; RK_NONE if missing ---- */

static inline int64_t rk_trace_i64(const struct rk_batch *b, unsigned field, size_t row)
{
	const struct rk_column *c = &b->cols[field];

	return rk_column_has(c, row) ? ((const int64_t *)c->data)[row] : RK_NONE;
}

static inline int64_t rk_trace_i32(const struct rk_batch *b, unsigned field, size_t row)
{
	const struct rk_column *c = &b->cols[field];

	return rk_column_has(c, row) ? ((const int32_t *)c->data)[row] : RK_NONE;
}

#endif
