/*
 * raw.h - reader of rockit's own flight recorder files (base/rkraw.h has the layout).
 *
 * Opening reads the file header, the 64-byte header of every block and the definition blocks. Each
 * table is read from the data blocks that have records for it. Device times are converted to
 * CLOCK_BOOTTIME with the calibrations in the file: with a line through the first and the last if
 * they are at least a second apart, else with one offset. A file whose process was killed, or is
 * still running, is read as far as it was written.
 *
 * A kernel may be two records, LAUNCH and RAN, in any two blocks; launches.c joins them. A launch
 * that never ran is a kernel without times.
 *
 * Warnings: "unclean-end" (with the number of operations that were still running),
 * "unfinished-operations", "dropped-records", "overwritten-records", "overwritten-names",
 * "overwritten-in-copy", "skipped-records", "damaged-block", "damaged-header", "damaged-record",
 * "cut-file", "changed-block", "unknown-record", "unknown-name", "uncalibrated-clock",
 * "clock-drift", "time-out-of-range", "number-out-of-range", "definition-limit", "collector" (a
 * message from the collector); of launches: "launched-twice", "ran-twice", "never-launched",
 * "no-device-times", "doubtful-times", "start-before-launch", "launch-limit".
 */
#ifndef RK_RAW_READER_H
#define RK_RAW_READER_H

#include "base/cursor.h"
#include "base/map.h"
#include "base/rkraw.h"
#include "read/oddities.h"
#include "read/reader.h"

/* Summary of a file, without its rows: for run.json. */
struct rk_rkraw_info {
	char collector[33];
	uint32_t pid, ppid;
	bool clean, window;
	uint64_t records, dropped, overwritten;
	uint64_t pending;                     /* operations still running at the end */
	uint64_t damaged_blocks, copied_over; /* copied_over: blocks lost while they were copied */
	uint64_t dropped_for[RK_RAW_REASONS]; /* by enum rk_raw_reason */
	uint64_t skipped[RK_RAW_SKIPS];       /* by enum rk_raw_skip */
	int64_t start_ns, end_ns;             /* CLOCK_BOOTTIME; end: the last known time */
	char note[160];                       /* the collector's message, or "" */
	int64_t clock_error_ns;               /* the largest of all devices; -1: none calibrated */
};
int rk_rkraw_info(const char *path, struct rk_rkraw_info *ret, struct rk_error *err);

/* ---- only for the files of this folder: definitions and clocks (raw.c) ---- */

enum {
	RAW_MAX_DEFINITIONS = 1 << 22,
	RAW_MAX_FIELDS = 1 << 24, /* of all definitions together */
	RAW_MAX_CLOCKS = 256,     /* devices with calibrations */
};

struct raw_definition {
	uint32_t id, tag;
	uint32_t at; /* its fields in order, without the id, are raw_names.fields[at ...] */
};

struct raw_calibration {
	int64_t device_ns, boot_ns, error_ns;
};

struct raw_clock {
	uint64_t device; /* id */
	struct raw_calibration first, last, best;
};

struct raw_names {
	struct rk_context *ctx;
	struct raw_definition *defs; /* in the order of the file; an id is there once */
	size_t n, cap;
	struct rk_index by_id;
	uint64_t *fields; /* of a string: its id in the run */
	size_t nfields, cap_fields;
	struct raw_clock clocks[RAW_MAX_CLOCKS];
	unsigned nclocks;
	struct rk_oddities *odd;
};

/* Reads the next varint as a signed number with its sign in the lowest bit. */
static inline uint64_t raw_zigzag(struct rk_cursor *c)
{
	uint64_t v = rk_cursor_varint(c);

	return v >> 1 ^ (0 - (v & 1));
}

/* All definitions and clocks of a file; `ctx` and `odd` are borrowed. */
int rk_raw_names_load(const char *path, struct rk_context *ctx, struct rk_oddities *odd,
		      struct raw_names **ret, struct rk_error *err);
void rk_raw_names_free(struct raw_names *n); /* NULL is fine */
/* The fields of a definition, the optional ones included (0); NULL if `id` has another tag. */
const uint64_t *rk_raw_name(const struct raw_names *n, uint64_t id, uint32_t tag);
/* Converts a device time to CLOCK_BOOTTIME; false if it does not fit. c NULL: no conversion. */
bool rk_raw_time(const struct raw_clock *c, int64_t device_ns, int64_t *ret);
const struct raw_clock *rk_raw_clock(const struct raw_names *n, uint64_t device);

/* ---- launches and their times (launches.c) ---- */

struct raw_launch {
	uint64_t correlation, graph, node; /* graph 0: not launched by a graph */
	int64_t submit;                    /* CLOCK_BOOTTIME; RK_NONE: unknown */
	uint32_t shape, queue, tid;
	bool old; /* see raw_history */
};

struct raw_ran {
	int64_t start, duration; /* on the device's clock */
	uint32_t flags;          /* enum rk_raw_ran */
};

/*
 * Joins the LAUNCH and RAN records of a file by id, in any order. Those that wait for their partner
 * are kept in memory, up to a limit. Where more wait (thousands of threads that fill their blocks
 * slowly) half of the ids are put off, and the file is read again for them.
 */
struct raw_join;

enum raw_match {
	RAW_NO_ROW,
	RAW_PAIR,  /* the launch and its times */
	RAW_ALONE, /* the launch, without times */
};

/* `types`: bits of all tags in the file. `again`: whether the file can be read again. */
struct raw_join *rk_raw_join_new(uint32_t types, bool again);
void rk_raw_join_free(struct raw_join *j); /* NULL is fine */
/*
 * Adds a record. `where` is its place in the file; it grows, and is the same in every reading.
 * A row consists of `l` and *ret, or of *ret and `r`. Each returns enum raw_match or RK_E_NOMEM.
 */
int rk_raw_join_launch(struct raw_join *j, uint64_t where, uint64_t id, const struct raw_launch *l,
		       struct raw_ran *ret);
int rk_raw_join_ran(struct raw_join *j, uint64_t where, uint64_t id, const struct raw_ran *r,
		    struct raw_launch *ret);
/* After the last record: the launches that have no times, one by one. False: no more. */
bool rk_raw_join_left(struct raw_join *j, uint64_t *ret_id, struct raw_launch *ret);
/* After that: true if the file must be read again, from its start. */
bool rk_raw_join_again(struct raw_join *j);
void rk_raw_join_tell(const struct raw_join *j, struct rk_oddities *odd);

/* ---- records as rows (rows.c) ---- */

/* The previous values that differences refer to, and the place of a record. */
struct raw_history {
	uint64_t queued, host, correlation;
	uint32_t thread, tid; /* thread: the block's; tid: of the last operation */
	struct {              /* of LAUNCH, RAN and CALL */
		uint64_t id, correlation, at, start;
		uint32_t tid;
	} own;
	uint64_t where;
	bool old; /* in a window: definitions that the block uses may be gone */
};

enum { RAW_FIELDS = 40 };

struct raw_rows {
	struct rk_context *ctx;
	const struct raw_names *names;
	const struct rk_raw_header *h;
	struct rk_builder b;
	enum rk_table table;
	uint64_t want;
	uint64_t begun;         /* columns with a value in this batch; the others are absent */
	void *cols[RAW_FIELDS]; /* owned by the builder; NULL: not wanted */
	uint32_t source_id, boot_id, device_id, api_id, build_id, queue_id;
	int64_t node, rank; /* the same in every row, RK_NONE: unknown; node: id of its name */
	struct rk_oddities *odd;
	struct raw_join *join; /* kernels only; owned by the source */
	bool again;            /* reads the file again: only for launches that were put off */
	bool nomem;
	bool nvidia; /* from CUPTI: registers are not VGPRs */
	bool rocm;   /* a queue's context is the hardware queue below the stream */
};

int rk_raw_rows_init(struct raw_rows *r, struct rk_error *err);
/* Adds one record, which gives at most one row. False if it is damaged. */
bool rk_raw_rows_add(struct raw_rows *r, struct raw_history *past, uint8_t tag, struct rk_cursor c);
/* Adds launches without times up to a full batch. False: there are no more. */
bool rk_raw_rows_left(struct raw_rows *r);
/* The rows since the last reset, as a batch. */
const struct rk_batch *rk_raw_rows_batch(struct raw_rows *r);
void rk_raw_rows_reset(struct raw_rows *r);
/* Sets the history at the start of a block or of a thread's part of it. */
void rk_raw_begin(struct raw_history *past, uint32_t tid);
/* The tags that give rows of a table. */
uint32_t rk_raw_tags_of(enum rk_table t);

/* Adds all rows of the two tables that come from the header and the definitions. */
void rk_raw_process(struct raw_rows *r);
void rk_raw_agents(struct raw_rows *r, size_t *next);

#endif
