/*
 * perfetto_reader.h - Perfetto traces of TrackEvent slices, as rocprofv3 writes them.
 *
 * Read packet by packet, in one pass per table, in bounded memory. Slices are BEGIN and END events
 * of one track; what is known of a slice stands in its debug annotations. Categories decide the
 * table: kernel_dispatch, memory_copy, memory_allocation, *_api (calls), marker_api and all others
 * (markers). Traces that rockit wrote say a process's rank and node in the description of its
 * track, and grid, registers and the rest in annotations of their own (perfetto_writer.h). A kernel's counters are its annotations that are doubles; where no annotation tells a dispatch id,
 * the number of the kernel in the file stands for it. Counter tracks repeat what slices say and
 * are not read. begin_ns and end_ns win over the slice's own times, which rocprofv3 may have moved.
 *
 * Warnings: "cut-trace", "damaged-trace", "huge-packet", "damaged-packet", "compressed-packets",
 * "lost-packets", "unclosed-slice", "unmatched-end", "unknown-name", "slice-limit", "track-limit",
 * "name-limit", "time-out-of-range", "number-out-of-range".
 *
 * Everything but the reader is for perfetto_*.c only.
 */
#ifndef RK_PERFETTO_READER_H
#define RK_PERFETTO_READER_H

#include "base/map.h"
#include "codec/protobuf.h"
#include "read/oddities.h"
#include "read/reader.h"

/* Limits on what is held at a time. */
enum {
	PF_MAX_PACKET = 16 << 20,
	PF_MAX_SEQUENCES = 1 << 12,
	PF_MAX_TRACKS = 1 << 16,
	PF_MAX_SLICES = 1 << 16,
	PF_MAX_NAMES = 1 << 18,
	PF_MAX_COUNTERS = 1024, /* of one kernel */
};

/* ---- perfetto_state.c: what earlier packets said ---- */

/* Clocks of one sequence: those it defines by a snapshot. */
enum { PF_CLOCKS = 4, PF_FIRST_OWN_CLOCK = 64 };
struct pf_clock {
	uint32_t id; /* 0: unused */
	bool incremental;
	uint64_t unit_ns, last; /* last: in its own unit */
	uint64_t offset_ns;     /* to the trace's clock, modulo 2^64 */
};

struct pf_sequence {
	uint32_t generation; /* of its interned names: counts how often they were dropped */
	uint32_t default_clock;
	uint64_t default_track;
	struct pf_clock clocks[PF_CLOCKS];
};

/* Kinds of interned text, by field of InternedData. */
enum pf_intern { PF_CATEGORY, PF_EVENT_NAME, PF_ANNOTATION, PF_STRING_VALUE };

/* What annotations tell of a slice. */
enum pf_value {
	PF_BEGIN,
	PF_END,
	PF_CORRELATION,
	PF_PID,
	PF_TID,
	PF_STREAM,
	PF_AGENT,
	PF_QUEUE,
	PF_DISPATCH,
	PF_RESOURCES, /* a text with the five that follow */
	PF_VGPR = PF_RESOURCES,
	PF_ACCUM,
	PF_SGPR,
	PF_SCRATCH,
	PF_LDS,
	PF_VGPR_ALONE, /* the first of them by itself */
	PF_REGS,
	PF_WAVE_SIZE,
	PF_BARRIER,
	PF_BLOCK, /* three */
	PF_ITEMS = PF_BLOCK + 3,
	PF_GRID = PF_ITEMS + 3,
	PF_SRC = PF_GRID + 3,
	PF_DST,
	PF_BYTES,
	PF_ADDRESS,
	PF_FLAGS,
	PF_DOMAIN, /* texts: their ids */
	PF_KIND,
	PF_RANK,
	PF_NODE,    /* a text */
	PF_IGNORED, /* known, wanted by nobody; no counter */
	PF_NVALUES
};

struct pf_counter {
	uint32_t name;
	double value;
};

struct pf_slice {
	struct pf_slice *outer; /* the slice it lies in */
	int64_t start;          /* RK_NONE: unknown */
	int64_t name;           /* id, RK_NONE: unknown */
	uint32_t category;      /* id */
	bool wanted, instant;
	struct pf_counter *counters;
	unsigned ncounters;
	int64_t values[PF_NVALUES];
};

struct pf_track {
	uint64_t parent;
	int64_t pid, tid, stream, agent, queue, rank;
	int64_t node;          /* id of its name */
	struct pf_slice *open; /* innermost */
	uint64_t lost;         /* slices inside it that were past the limit: their ends count */
};

struct pf_state {
	struct rk_context *ctx;
	const char *path;
	struct rk_oddities odd;
	bool counters; /* keep the counters of kernels */
	enum rk_table table;
	struct rk_map sequence_at, track_at, names;
	bool names_full;
	struct pf_sequence *sequences;
	struct pf_track *tracks;
	size_t nsequences, ntracks, nslices;
	struct pf_slice *spare;
	/* called for each slice that is over and wanted; end RK_NONE: unknown */
	int (*emit)(void *arg, const struct pf_slice *s, const struct pf_track *t, int64_t end,
		    struct rk_error *err);
	void *arg;
};

void rk_pf_state_release(struct pf_state *s);
void rk_pf_warn(struct pf_state *s, const char *kind, const char *message);

/* The members; NULL when out of memory (err is set) or past a limit (it is not). */
struct pf_sequence *rk_pf_sequence(struct pf_state *s, uint32_t id, bool *ret_new,
				   struct rk_error *err);
struct pf_track *rk_pf_track(struct pf_state *s, uint64_t uuid, struct rk_error *err);
/* Innermost on the track from now on. */
struct pf_slice *rk_pf_slice(struct pf_state *s, struct pf_track *t, struct rk_error *err);
/* Takes the innermost slice off the track, hands it to `emit` and forgets it. */
int rk_pf_slice_end(struct pf_state *s, struct pf_track *t, int64_t end, struct rk_error *err);

int rk_pf_intern(struct pf_state *s, const struct pf_sequence *q, enum pf_intern kind, uint64_t iid,
		 const uint8_t *text, size_t len, struct rk_error *err);
/* The text's id (of an annotation: see rk_pf_annotation), or -1. */
int64_t rk_pf_interned(const struct pf_state *s, const struct pf_sequence *q, enum pf_intern kind,
		       uint64_t iid);
/* An annotation's name: enum pf_value when it is known, else PF_NVALUES + the text's id. */
int rk_pf_annotation(struct pf_state *s, const uint8_t *text, size_t len, uint32_t *ret,
		     struct rk_error *err);

/* ---- perfetto_packet.c ---- */

/* One TracePacket. What is odd in it is counted; an error is no memory or a failed emit. */
int rk_pf_packet(struct pf_state *s, const uint8_t *data, size_t len, struct rk_error *err);
/* Up to n numbers in a text, in their order; how many there are. */
unsigned rk_pf_numbers(const uint8_t *text, size_t len, int64_t *ret, unsigned n);

/* ---- perfetto_rows.c ---- */

struct pf_rows {
	struct rk_context *ctx;
	struct rk_builder b;
	enum rk_table table;
	uint64_t want;
	uint32_t source_id, clock_id, range_id, mark_id;
	int64_t kernels; /* so far */
	uint64_t range;  /* numbers that did not fit */
	struct rk_error error;
};

int rk_pf_rows_init(struct pf_rows *r, struct rk_context *ctx, enum rk_table t, uint64_t want,
		    struct rk_error *err);
void rk_pf_rows_release(struct pf_rows *r);
/* Adds the rows of one slice; at most PF_MAX_COUNTERS. */
int rk_pf_rows_add(void *arg, const struct pf_slice *s, const struct pf_track *t, int64_t end,
		   struct rk_error *err);
/* The table a category belongs to. */
enum rk_table rk_pf_table_of(const char *category, size_t len);

#endif
