/*
 * perfetto.h - a run as a Perfetto trace of TrackEvents. Internal to this folder.
 *
 * Each table is a packet sequence of its own. Names are interned. Times are relative to the
 * previous packet (an incremental clock, tied to BOOTTIME by a snapshot), so a time takes two or
 * three bytes. This requires packets in order of time: begins are in order because rows are, and
 * ends wait in a heap until a later begin. Within a packet, fields that rarely change come first
 * and those that change come last; that compresses better with gzip.
 *
 * Warnings: "no-time", "time-out-of-range", "track-limit", "lane-limit", "allocation-limit".
 */
#ifndef RK_PERFETTO_WRITER_H
#define RK_PERFETTO_WRITER_H

#include "base/bytes.h"
#include "codec/protobuf.h"
#include "write/trace.h"

/* Debug annotations; the iid of a name is 1 + its enum value. */
enum pf_note {
	PF_NOTE_GRID,
	PF_NOTE_BLOCK,
	PF_NOTE_REGS,
	PF_NOTE_SHARED_MEM,
	PF_NOTE_SCRATCH,
	PF_NOTE_RESOURCES, /* vector, accumulation and scalar registers, scratch, LDS as one text */
	PF_NOTE_DEVICE,
	PF_NOTE_QUEUE,
	PF_NOTE_STREAM,
	PF_NOTE_DISPATCH,
	PF_NOTE_CORRELATION,
	PF_NOTE_VGPR,
	PF_NOTE_ACCUM,
	PF_NOTE_SGPR,
	PF_NOTE_WAVE_SIZE,
	PF_NOTE_ITEMS,
	PF_NOTE_BARRIER,
	PF_NOTE_TID,
	PF_NOTE_BEGIN,
	PF_NOTE_END,
	PF_NOTE_BYTES,
	PF_NOTE_SRC,
	PF_NOTE_DST,
	PF_NOTE_ADDRESS,
	PF_NOTE_FLAGS,
	PF_NOTE_DOMAIN,
	PF_NOTE_KIND,
	PF_NNOTES
};

/* Fixed categories; API domains follow them. */
enum pf_category { PF_CAT_KERNEL = 1, PF_CAT_COPY, PF_CAT_MEMORY, PF_CAT_MARKER, PF_NCATS };

/* A slice whose end has not been written. */
struct pf_open {
	int64_t end;
	uint64_t order; /* if several slices end at the same time, the last begun ends first */
	uint32_t track;
	uint32_t device; /* whose counters drop to zero at the end; 0: none */
};

/* Names of one sequence: id -> iid. */
struct pf_iids {
	uint32_t *v;
	size_t cap;
	uint32_t n; /* iids in use */
};

struct pf_writer {
	struct rk_writer base;
	struct rk_output *out;
	struct rk_context *ctx;
	struct rk_bytes buf, text;
	struct rk_tracks tracks;

	enum rk_table table; /* RK_NTABLES: none yet */
	uint32_t sequence;
	bool ticking; /* the sequence has begun */
	int64_t clock;
	struct pf_iids names, domains;
	struct rk_map values; /* interned texts of annotations */
	/* joined counters: (0, field) -> iid of the annotation, (1 + device, field) -> track */
	struct rk_map counters;
	uint32_t ncounter_names;
	unsigned nfields; /* of the kernels table, counters included */

	struct pf_open *heap;
	size_t nheap, cap_heap;
	uint64_t order;
	uint32_t *rows; /* order in which the rows of a batch are written */
	size_t cap_rows;

	/* correlation ids of work that ran on a device, one bit each */
	struct rk_map page_at;
	uint64_t (*pages)[64];
	size_t npages, cap_pages;
	bool pages_full;

	/* sizes of allocations, to know how much a release frees */
	struct rk_map alloc_at;
	int64_t *alloc_bytes;
	size_t nallocs, cap_allocs;
	bool allocs_full;

	struct rk_map agents; /* (node, device) -> name */
	struct rk_map commands;

	uint64_t no_time, out_of_range, crowded;
};

/* ---- packets.c ---- */

/* An event being written; annotations are appended at p. */
struct pf_event {
	uint8_t *packet, *event, *p;
};

enum { PF_EVENT_ROOM = 2048 }; /* bytes of an event without counters and texts */

/* Begins the sequence of the current table at `time`, unless it has begun. */
int rk_pfw_sequence(struct pf_writer *w, int64_t time, struct rk_error *err);
/*
 * The iid of a name, or of an API domain's category; 0: no memory. A new one is written to the
 * trace.
 */
uint32_t rk_pfw_name(struct pf_writer *w, uint32_t id);
uint32_t rk_pfw_domain(struct pf_writer *w, uint32_t id, bool *ret_exact);
/* The iid of a text made of n numbers. 0: too many texts, or no memory (buf.bad). */
uint32_t rk_pfw_value(struct pf_writer *w, enum pf_note note, const int64_t *v, unsigned n);
/* The iid of the annotation for a joined counter. */
uint32_t rk_pfw_counter_name(struct pf_writer *w, unsigned field, const char *name);

/* `extra`: bytes to reserve beyond PF_EVENT_ROOM. False: no memory. */
bool rk_pfw_open(struct pf_writer *w, struct pf_event *e, enum rk_pf_type type, uint32_t track,
		 uint32_t category, uint32_t name, size_t extra);
void rk_pfw_close(struct pf_writer *w, struct pf_event *e, int64_t time);
void rk_pfw_count(struct pf_writer *w, uint32_t track, int64_t time, double value);

/* Writes descriptors of the track and its parents unless that is done. False: no memory. */
bool rk_pfw_describe(struct pf_writer *w, uint32_t track);
/* A counter's track; `unit` as users write it ("W", "bytes"). 0: no memory. */
uint32_t rk_pfw_counter(struct pf_writer *w, uint32_t parent, uint32_t process, int64_t key,
			const char *name, const char *unit);
int rk_pfw_agents(struct pf_writer *w, const struct rk_batch *b, struct rk_error *err);
int rk_pfw_processes(struct pf_writer *w, const struct rk_batch *b, struct rk_error *err);

/* ---- slices.c ---- */

struct pf_slice_at {
	int64_t start, end;
	uint32_t track, device;
	bool instant; /* it has no duration, or no lane was left */
	bool odd;     /* write its times as annotations */
};

/*
 * Finds a lane of s->track for a row with these times. 1: write the slice, 0: it cannot be shown.
 */
int rk_pfw_place(struct pf_writer *w, int64_t start, int64_t duration, bool nest,
		 struct pf_slice_at *s, struct rk_error *err);
int rk_pfw_flush(struct pf_writer *w, bool all, struct rk_error *err);

/* ---- rows.c ---- */

/* Writes the rows of any table that has times. */
int rk_pfw_rows(struct pf_writer *w, const struct rk_batch *b, struct rk_error *err);

#endif
