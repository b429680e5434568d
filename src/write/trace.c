/* trace.c - the tracks of a trace that is being written. */
#include "write/trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

enum {
	FIRST_MADE_PID = 1 << 22, /* above Linux's largest pid */
	PROCESSES_MAX = 1 << 14,
};

/* ---- creating tracks ---- */

/* 0: no memory. */
static uint32_t add(struct rk_tracks *t, struct rk_track track)
{
	struct rk_track *v = rk_grow(t->v, &t->cap, t->n + 1, sizeof(*v));

	if (!v)
		return 0;
	t->v = v;
	v[t->n] = track;
	return (uint32_t)t->n++;
}

static int add_process(struct rk_tracks *t, struct rk_track_process p, struct rk_error *err)
{
	struct rk_track_process *v =
		rk_grow(t->processes, &t->cap_processes, t->nprocesses + 1, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	t->processes = v;
	v[t->nprocesses++] = p;
	return 0;
}

int rk_tracks_init(struct rk_tracks *t, const struct rk_strtab *names, struct rk_error *err)
{
	*t = (struct rk_tracks){ .names = names };
	add(t, (struct rk_track){ .key = RK_NONE });
	if (!t->n)
		return rk_fail_nomem(err);
	return add_process(t, (struct rk_track_process){ RK_NONE, RK_NONE, 0, 0, 0, 0 }, err);
}

void rk_tracks_release(struct rk_tracks *t)
{
	for (size_t i = 0; i < t->n; i++)
		rk_free(t->v[i].ends);
	rk_free(t->v);
	rk_free(t->processes);
	rk_map_release(&t->at);
	rk_map_release(&t->pids);
}

uint32_t rk_tracks_child(struct rk_tracks *t, uint32_t parent, uint32_t process,
			 enum rk_track_kind kind, int64_t key)
{
	struct rk_track track = { .kind = kind, .key = RK_NONE, .tid = RK_NONE, .rest = true };
	uint64_t a = (uint64_t)parent << 24 ^ (uint64_t)process << 8 ^ kind;
	int64_t at = rk_map_get(&t->at, a, (uint64_t)key);
	uint32_t made;

	if (at >= 0)
		return (uint32_t)at;
	if (t->n >= RK_TRACKS_MAX) { /* further tracks of this kind share one */
		t->shared++;
		if (!t->rest[kind])
			t->rest[kind] = add(t, track);
		return t->rest[kind];
	}
	track.parent = parent;
	track.process = process;
	track.key = key;
	track.rest = false;
	made = add(t, track);
	return made && rk_map_put(&t->at, a, (uint64_t)key, made) ? made : 0;
}

/* ---- processes ---- */

/* The result must not depend on the machine or the run, so this hash has no seed. */
static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/*
 * A pid reserved by this same member counts as free: an abandoned attempt to write it may have
 * reserved it.
 */
static bool is_taken(const struct rk_tracks *t, int64_t pid)
{
	int64_t by = t->scope.pids ? rk_map_get(t->scope.pids, 0, (uint64_t)pid) : -1;

	return rk_map_get(&t->pids, 0, (uint64_t)pid) >= 0 || (by >= 0 && by != t->scope.member);
}

/*
 * The pid to show, < 0: no memory. Viewers identify a process by its pid alone, but ranks on
 * different nodes may have equal pids.
 */
static int64_t show_pid(struct rk_tracks *t, int64_t pid)
{
	if (pid == RK_NONE)
		return 0;
	if (pid <= 0 || pid > INT32_MAX || is_taken(t, pid))
		pid = FIRST_MADE_PID + (int64_t)t->nprocesses;
	while (is_taken(t, pid))
		pid += PROCESSES_MAX;
	if (t->scope.pids && !rk_map_put(t->scope.pids, 0, (uint64_t)pid, t->scope.member))
		return -1;
	return rk_map_put(&t->pids, 0, (uint64_t)pid, 1) ? pid : -1;
}

int64_t rk_tracks_process(struct rk_tracks *t, int64_t pid, int64_t rank, uint32_t node)
{
	struct rk_track_process p = { pid, rank, node, 0, 0, 0 };
	uint32_t r = rank == RK_NONE ? 1u << 31 : (uint32_t)rank;
	/* ids of names have about 24 bits */
	uint64_t a = UINT64_C(1) << 63 | (uint64_t)node << 32 | r;
	uint64_t h;
	int64_t at;

	if (pid == RK_NONE && rank == RK_NONE && !node)
		return 0;
	at = rk_map_get(&t->at, a, (uint64_t)pid);
	if (at >= 0)
		return at;
	if (t->nprocesses >= PROCESSES_MAX || t->n >= RK_TRACKS_MAX) {
		t->shared++;
		return rk_map_put(&t->at, a, (uint64_t)pid, 0) ? 0 : -1;
	}
	at = (int64_t)t->nprocesses;
	p.shown_pid = show_pid(t, pid);
	h = mix(mix(1, (uint64_t)pid), (uint64_t)rank);
	if (node) {
		size_t len;
		const char *text = rk_strtab_borrow(t->names, node, &len);

		for (size_t i = 0; i < len; i++)
			h = mix(h, (uint8_t)text[i]);
	}
	p.hash = h;
	p.track = add(t, (struct rk_track){ .kind = RK_TRACK_PROCESS,
					    .process = (uint32_t)at,
					    .key = pid,
					    .tid = RK_NONE });
	if (!p.track || p.shown_pid < 0 || add_process(t, p, NULL) < 0 ||
	    !rk_map_put(&t->at, a, (uint64_t)pid, (uint32_t)at))
		return -1;
	return at;
}

/* ---- lanes ---- */

/* Adds a lane next to the last one. */
static uint32_t add_lane(struct rk_tracks *t, uint32_t last)
{
	const struct rk_track *of = &t->v[last];
	struct rk_track lane = { .kind = of->kind,
				 .parent = of->parent,
				 .process = of->process,
				 .lane = of->lane + 1,
				 .key = of->key,
				 .tid = of->tid,
				 .rest = of->rest };
	uint32_t made;

	if (of->kind == RK_TRACK_THREAD && !of->lane)
		lane.parent = last;
	if (lane.lane >= RK_LANES_MAX || t->n >= RK_TRACKS_MAX + RK_LANES_MAX * RK_TRACK_NKINDS)
		return RK_TRACK_FULL;
	made = add(t, lane);
	t->v[last].next = made;
	return made;
}

uint32_t rk_tracks_lane(struct rk_tracks *t, uint32_t track, int64_t start, int64_t end, bool nest)
{
	struct rk_track *lane;
	uint32_t at = track;

	for (;;) {
		uint32_t next;

		lane = &t->v[at];
		while (lane->nends && lane->ends[lane->nends - 1] <= start)
			lane->nends--;
		if (!lane->nends ||
		    (nest && lane->nends < RK_LANE_DEPTH && lane->ends[lane->nends - 1] >= end))
			break;
		next = lane->next ? lane->next : add_lane(t, at);
		if (!next || next == RK_TRACK_FULL)
			return next;
		at = next;
	}
	if (lane->nends == lane->cap) {
		size_t cap = lane->cap;
		int64_t *ends = rk_grow(lane->ends, &cap, lane->nends + 1u, sizeof(*ends));

		if (!ends)
			return 0;
		lane->ends = ends;
		lane->cap = (uint32_t)cap;
	}
	lane->ends[lane->nends++] = end;
	return at;
}

uint64_t rk_tracks_flow(const struct rk_tracks *t, uint32_t process, int64_t correlation)
{
	return mix(t->processes[process].hash, (uint64_t)correlation);
}

void rk_tracks_settle(struct rk_tracks *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->v[i].nends = 0;
}

/* ---- names ---- */

void rk_tracks_place(const struct rk_tracks *t, uint32_t process, struct rk_bytes *out)
{
	const struct rk_track_process *p = &t->processes[process];
	const char *comma = "";

	if (p->pid != RK_NONE) {
		rk_bytes_printf(out, "pid %" PRId64, p->pid);
		comma = ", ";
	}
	if (p->rank != RK_NONE) {
		rk_bytes_printf(out, "%srank %" PRId64, comma, p->rank);
		comma = ", ";
	}
	if (p->node)
		rk_bytes_printf(out, "%snode %s", comma, rk_strtab_borrow(t->names, p->node, NULL));
}

/* The word before a number, the word without a number, the word for the shared track. */
static const struct {
	const char *word, *alone, *rest;
} words[RK_TRACK_NKINDS] = {
	[RK_TRACK_PROCESS] = { "process", "process", "more processes" },
	[RK_TRACK_THREAD] = { "thread", "calls", "more threads" },
	[RK_TRACK_MARKERS] = { "markers", "markers", "more markers" },
	[RK_TRACK_MEMORY] = { "memory", "memory", "more memory" },
	[RK_TRACK_DEVICE] = { "GPU", "GPU", "more GPUs" },
	[RK_TRACK_QUEUE] = { "queue", "kernels", "more queues" },
	[RK_TRACK_STREAM] = { "stream", "kernels", "more streams" },
	[RK_TRACK_COPIES] = { "copies of stream", "copies", "more copies" },
	[RK_TRACK_SENSORS] = { "sensors of GPU", "sensors", "more sensors" },
	[RK_TRACK_COUNTER] = { "counter", "counter", "more counters" },
};

void rk_tracks_name(const struct rk_tracks *t, uint32_t track, struct rk_bytes *out)
{
	const struct rk_track *v = &t->v[track];

	if (v->rest)
		rk_bytes_puts(out, words[v->kind].rest);
	else if (v->key == RK_NONE || (v->kind == RK_TRACK_THREAD && v->lane))
		rk_bytes_puts(out, words[v->kind].alone);
	else
		rk_bytes_printf(out, "%s %" PRId64, words[v->kind].word, v->key);
	if (v->lane)
		rk_bytes_printf(out, " (%" PRIu32 ")", v->lane + 1);
}
