/*
 * raw.h - reader of rockit's own flight recorder files (base/rkraw.h has the layout).
 *
 * Opening reads the file header, the 64-byte header of every block and the definition blocks. Each
 * table is read from the data blocks that have records for it. Device times are converted to
 * CLOCK_BOOTTIME with the calibrations in the file: with a line through the first and the last if
 * they are at least a second apart, else with one offset. A file whose process was killed, or is
 * still running, is read as far as it was written.
 *
 * Warnings: "unclean-end" (with the number of operations that were still running),
 * "unfinished-operations", "dropped-records", "overwritten-records", "damaged-block",
 * "damaged-header", "damaged-record", "cut-file", "unknown-record", "unknown-name",
 * "uncalibrated-clock", "clock-drift", "time-out-of-range", "number-out-of-range",
 * "definition-limit", "collector" (a message from the collector).
 */
#ifndef RK_RAW_READER_H
#define RK_RAW_READER_H

#include "base/cursor.h"
#include "base/rkraw.h"
#include "read/oddities.h"
#include "read/reader.h"

/* Summary of a file, without its rows: for run.json. */
struct rk_rkraw_info {
	char collector[33];
	uint32_t pid, ppid;
	bool clean, window;
	uint64_t records, dropped, overwritten;
	uint64_t pending; /* operations still running at the end */
	uint64_t damaged_blocks;
	uint64_t dropped_for[RK_RAW_REASONS]; /* by enum rk_raw_reason */
	int64_t start_ns, end_ns;             /* CLOCK_BOOTTIME; end: the last known time */
	char note[160];                       /* the collector's message, or "" */
	int64_t clock_error_ns;               /* the largest of all devices; -1: none calibrated */
};
int rk_rkraw_info(const char *path, struct rk_rkraw_info *ret, struct rk_error *err);

/* ---- only for the files of this folder: definitions and clocks (raw.c) ---- */

enum {
	RAW_MAX_DEFINITIONS = 1 << 17,
	RAW_MAX_CLOCKS = 256, /* devices with calibrations */
};

struct raw_definition {
	uint32_t tag;   /* 0: undefined */
	uint64_t v[10]; /* fields in order, without the id; for a string, its id in the run */
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
	size_t n; /* all defined ids are below this */
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

/* NULL if `id` is not defined with this tag. */
const struct raw_definition *rk_raw_name(const struct raw_names *n, uint64_t id, uint32_t tag);
/* Converts a device time to CLOCK_BOOTTIME; false if it does not fit. c NULL: no conversion. */
bool rk_raw_time(const struct raw_clock *c, int64_t device_ns, int64_t *ret);
const struct raw_clock *rk_raw_clock(const struct raw_names *n, uint64_t device);
/* ---- records as rows (rows.c) ---- */

/* The previous values that differences refer to. */
struct raw_history {
	uint64_t queued, host, correlation;
	uint32_t thread, tid; /* thread: the block's; tid: of the last operation */
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
	bool nomem;
	bool nvidia; /* from CUPTI: registers are not VGPRs */
};

int rk_raw_rows_init(struct raw_rows *r, struct rk_error *err);
/* Adds one record, which gives at most one row. False if it is damaged. */
bool rk_raw_rows_add(struct raw_rows *r, struct raw_history *past, uint8_t tag, struct rk_cursor c);
/* The rows since the last reset, as a batch. */
const struct rk_batch *rk_raw_rows_batch(struct raw_rows *r);
void rk_raw_rows_reset(struct raw_rows *r);
/* The tags that give rows of a table. */
uint32_t rk_raw_tags_of(enum rk_table t);

/* Adds all rows of the two tables that come from the header and the definitions. */
void rk_raw_process(struct raw_rows *r);
void rk_raw_agents(struct raw_rows *r, size_t *next);

#endif
