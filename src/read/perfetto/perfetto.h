/*
 * perfetto.h - Perfetto traces of TrackEvent slices, as rocprofv3 writes them.
 *
 * The file is read packet by packet, once per table, in bounded memory. A slice is a BEGIN and an
 * END event of one track; its debug annotations have the details. The category decides the table:
 * kernel_dispatch, memory_copy, memory_allocation, *_api (calls), marker_api and all others
 * (markers). Traces written by rockit have rank and node of a process in the description of its
 * track, and grid, registers and the rest in separate annotations (perfetto_writer.h). A kernel's
 * counters are its annotations that are doubles. If no annotation gives a dispatch id, we use the
 * number of the kernel in the file. Counter tracks repeat data of slices and are not read. begin_ns
 * and end_ns take precedence over the slice's own times, which rocprofv3 may have moved.
 *
 * Traces of the HIP runtime's own profiler have other categories and numbers: see hip_table().
 *
 * A packet may be a bundle: packets as in the file, compressed with zlib or zstd. Bundles do not
 * nest.
 *
 * Warnings: "cut-trace", "damaged-trace", "huge-packet", "damaged-packet", "compressed-packets",
 * "lost-packets", "unclosed-slice", "unmatched-end", "unknown-name", "slice-limit", "track-limit",
 * "name-limit", "time-out-of-range", "number-out-of-range".
 */
#ifndef RK_PERFETTO_H
#define RK_PERFETTO_H

#include "base/bytes.h"
#include "base/map.h"
#include "codec/protobuf.h"
#include "read/oddities.h"
#include "read/reader.h"

/* Memory limits. */
enum {
	PF_MAX_PACKET = 16 << 20,
	PF_MAX_BUNDLE = 64 << 20, /* unpacked; writers compress less than 512 KiB at a time */
	PF_MAX_SEQUENCES = 1 << 12,
	PF_MAX_TRACKS = 1 << 16,
	PF_MAX_SLICES = 1 << 16,
	PF_MAX_NAMES = 1 << 18,
	PF_MAX_COUNTERS = 1024, /* per kernel */
};

/* ---- packet.c: a packet, and the state from earlier packets ---- */

/* Clocks that a sequence defines with a snapshot. */
enum { PF_CLOCKS = 4 };
struct pf_clock {
	uint32_t id; /* 0: unused */
	bool incremental;
	uint64_t unit_ns, last; /* last: in the clock's own unit */
	uint64_t offset_ns;     /* to the trace's clock, modulo 2^64 */
};

struct pf_sequence {
	uint32_t generation; /* how often its interned names were dropped */
	uint32_t default_clock;
	uint64_t default_track;
	struct pf_clock clocks[PF_CLOCKS];
};

/* Kinds of interned text: field numbers of InternedData. */
enum pf_intern { PF_CATEGORY = 1, PF_EVENT_NAME = 2, PF_ANNOTATION = 3, PF_STRING_VALUE = 29 };

/* Values of a slice that come from annotations. */
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
	PF_RESOURCES, /* a text with the next five values */
	PF_VGPR = PF_RESOURCES,
	PF_ACCUM,
	PF_SGPR,
	PF_SCRATCH,
	PF_LDS,
	PF_VGPR_ALONE, /* the first of them as a separate annotation */
	PF_REGS,
	PF_WAVE_SIZE,
	PF_BARRIER,
	PF_BLOCK, /* three values */
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
	PF_IGNORED, /* known but not used; not a counter */
	PF_NVALUES
};

struct pf_counter {
	uint32_t name;
	double value;
};

struct pf_slice {
	struct pf_slice *outer; /* the enclosing slice */
	int64_t start;          /* RK_NONE: unknown */
	int64_t name;           /* id, RK_NONE: unknown */
	uint32_t category;      /* id */
	bool wanted, instant;
	bool hip; /* of the HIP runtime's own profiler */
	struct pf_counter *counters;
	unsigned ncounters;
	size_t cap_counters;
	int64_t values[PF_NVALUES];
};

struct pf_track {
	uint64_t parent;
	int64_t pid, tid, stream, agent, queue, rank;
	int64_t node;          /* id of the node name */
	struct pf_slice *open; /* innermost open slice */
	uint64_t lost;         /* open slices beyond the limit; their ends are ignored */
};

struct pf_state {
	struct rk_context *ctx;
	const char *path;
	struct rk_oddities odd;
	enum rk_table table;
	struct rk_map sequence_at, track_at, names;
	bool names_full;
	struct pf_sequence *sequences;
	struct pf_track *tracks;
	size_t nsequences, cap_sequences, ntracks, cap_tracks, nslices;
	struct pf_slice *spare;
	struct rk_bytes bundle; /* packets of the last bundle; `bundle_at` are used */
	size_t bundle_at;
	/* called for each wanted slice when it ends; end is RK_NONE if unknown */
	int (*emit)(void *arg, const struct pf_slice *s, const struct pf_track *t, int64_t end,
		    struct rk_error *err);
	void *arg;
};

void rk_pf_state_release(struct pf_state *s);
void rk_pf_warn(struct pf_state *s, const char *kind, const char *message);

/* Closes the innermost slice of the track and passes it to `emit`. */
int rk_pf_slice_end(struct pf_state *s, struct pf_track *t, int64_t end, struct rk_error *err);
/*
 * Parses one TracePacket. Problems become warnings; it only fails if out of memory or if emit
 * fails. A bundle is unpacked to s->bundle: the caller passes its packets, one by one.
 */
int rk_pf_packet(struct pf_state *s, const uint8_t *data, size_t len, struct rk_error *err);

#endif
