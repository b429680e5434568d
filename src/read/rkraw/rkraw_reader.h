/*
 * rkraw_reader.h - files of rockit's own flight recorder (base/rkraw.h has the layout).
 *
 * Opening reads the header, the 64 bytes of every block and the blocks of definitions; each table
 * is a pass over the data blocks that have something for it. Device times become CLOCK_BOOTTIME by
 * the calibrations in the file: along a line from the first to the last when they are a second
 * apart, else by one difference. A file whose process was killed, or still runs, is read as far as
 * it was written.
 *
 * Warnings: "unclean-end" (with the operations that were under way), "unfinished-operations",
 * "dropped-records", "overwritten-records", "damaged-block", "damaged-header", "damaged-record",
 * "cut-file", "unknown-record", "unknown-name", "uncalibrated-clock", "clock-drift",
 * "time-out-of-range", "number-out-of-range", "definition-limit", "collector" (its own words).
 *
 * Everything but the reader and rk_rkraw_info is for rkraw_*.c only.
 */
#ifndef RK_RKRAW_READER_H
#define RK_RKRAW_READER_H

#include "base/cursor.h"
#include "base/rkraw.h"
#include "io/file.h"
#include "read/oddities.h"
#include "read/reader.h"

enum {
	RAW_MAX_DEFINITIONS = 1 << 17,
	RAW_MAX_CLOCKS = 256,    /* devices with calibrations */
	RAW_MAX_TURNS = 1 << 18, /* blocks that are put in order */
};

/* ---- rkraw_file.c: header and blocks ---- */

/* When a block was taken, and where it is. */
struct raw_turn {
	uint64_t sequence, index;
};

struct raw_file {
	struct rk_file *file;
	struct rk_raw_header h;
	bool sum_wrong, cut;
	uint64_t nblocks; /* the header's counted; the last may be cut */
	/* of all blocks, after rk_raw_survey */
	struct raw_turn *turns; /* data blocks by sequence; NULL: as they lie */
	uint64_t nturns;
	uint64_t used, open, damaged; /* data blocks */
	uint64_t records;             /* that data blocks say they have */
	uint32_t types;
};

/* Opens and checks the header. */
int rk_raw_file_open(const char *path, struct raw_file *f, struct rk_error *err);
void rk_raw_file_release(struct raw_file *f);

/* Calls `definitions` with each block of definitions that is good; counts the others. */
int rk_raw_survey(struct raw_file *f, uint8_t *buf,
		  int (*definitions)(void *arg, const uint8_t *payload, size_t len,
				     struct rk_error *err),
		  void *arg, struct rk_error *err);

enum raw_block_fate { RAW_EMPTY, RAW_GOOD, RAW_DAMAGED };
/* The 64 bytes of a block; the payload is not looked at. */
int rk_raw_block_peek(struct raw_file *f, uint64_t index, struct rk_raw_block *ret,
		      enum raw_block_fate *fate, struct rk_error *err);
/* Reads block `index` to buf (block_bytes); good: *ret and the payload behind it are right. */
int rk_raw_block_read(struct raw_file *f, uint64_t index, uint8_t *buf, struct rk_raw_block *ret,
		      enum raw_block_fate *fate, struct rk_error *err);
/* Operations that were handed to a device and not seen to end. */
uint64_t rk_raw_pending(const struct rk_raw_header *h);
uint64_t rk_raw_dropped(const struct rk_raw_header *h);
/* What is odd about the file as a whole. */
void rk_raw_file_odd(const struct raw_file *f, struct rk_oddities *odd);

/* ---- rkraw_names.c: definitions ---- */

struct raw_definition {
	uint32_t tag;   /* 0: none */
	uint64_t v[10]; /* fields in their order, without the id; of a string its id in the run */
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
	struct raw_definition *defs;
	size_t n; /* ids below it may be defined */
	struct raw_clock clocks[RAW_MAX_CLOCKS];
	unsigned nclocks;
	struct rk_oddities *odd;
};

/* One block of definitions; arg is a struct raw_names. */
int rk_raw_names_add(void *arg, const uint8_t *payload, size_t len, struct rk_error *err);
void rk_raw_names_release(struct raw_names *n);
/* NULL when `id` is not defined as that. */
const struct raw_definition *rk_raw_name(const struct raw_names *n, uint64_t id, uint32_t tag);
/* A time of the device as CLOCK_BOOTTIME; false when it does not fit. c NULL: as it is. */
bool rk_raw_time(const struct raw_clock *c, int64_t device_ns, int64_t *ret);
const struct raw_clock *rk_raw_clock(const struct raw_names *n, uint64_t device);
/* Whether both calibrations make a line. */
bool rk_raw_clock_line(const struct raw_clock *c);
/* They are apart enough, but no clock goes that fast or slow. */
bool rk_raw_clock_jumped(const struct raw_clock *c);
/* How far off its times may be. */
int64_t rk_raw_clock_error(const struct raw_clock *c);

/* ---- rkraw_rows.c: records as rows ---- */

/* What differences are against. */
struct raw_history {
	uint64_t queued, host, correlation;
	uint32_t thread, tid; /* the block's; of the last operation */
};

enum { RAW_FIELDS = 40 };

struct raw_rows {
	struct rk_context *ctx;
	const struct raw_names *names;
	const struct rk_raw_header *h;
	struct rk_builder b;
	enum rk_table table;
	uint64_t want;
	uint64_t begun;         /* columns that have a value in this batch; the rest is absent */
	void *cols[RAW_FIELDS]; /* of the builder; NULL: not wanted */
	uint32_t node_id, source_id, boot_id, device_id, api_id, build_id, queue_id;
	struct rk_oddities *odd;
	bool nomem;
	bool nvidia; /* CUPTI's: registers are no VGPRs */
};

/* A cell of the row that is being made; nothing when nobody wants the column. */
void rk_raw_put(struct raw_rows *r, unsigned field, int64_t v);
/* One record; at most one row. False when it is damaged. */
bool rk_raw_rows_add(struct raw_rows *r, struct raw_history *past, uint8_t tag, struct rk_cursor c);
/* A batch of the rows since the last reset. */
const struct rk_batch *rk_raw_rows_batch(struct raw_rows *r);
void rk_raw_rows_reset(struct raw_rows *r);
/* Which tags have rows in a table. */
uint32_t rk_raw_tags_of(enum rk_table t);

/* ---- rkraw_world.c ---- */

int rk_raw_rows_init(struct raw_rows *r, struct rk_error *err);
void rk_raw_rows_release(struct raw_rows *r);
/* All rows of the two tables that come from the header and the definitions. */
void rk_raw_process(struct raw_rows *r);
void rk_raw_agents(struct raw_rows *r, size_t *next);
/* "NVTX_RANGE", with the name of its domain behind a colon. */
int64_t rk_raw_marker_kind(struct raw_rows *r, uint64_t kind, uint64_t domain);

/* ---- rkraw_reader.c ---- */

/* A file as a whole, without its rows: for the record of a run. */
struct rk_rkraw_info {
	char collector[33];
	uint32_t pid, ppid;
	bool clean, window;
	uint64_t records, dropped, overwritten,
		pending; /* pending: operations under way at the end */
	uint64_t damaged_blocks;
	uint64_t dropped_for[RK_RAW_REASONS]; /* by enum rk_raw_reason */
	int64_t start_ns, end_ns;             /* CLOCK_BOOTTIME; end: the last that is known */
	char note[160];                       /* the collector's own words, or "" */
	int64_t clock_error_ns;               /* the largest of all devices; -1: none calibrated */
};
int rk_rkraw_info(const char *path, struct rk_rkraw_info *ret, struct rk_error *err);

#endif
