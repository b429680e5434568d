/*
 * raw.h - files of rockit's own flight recorder (base/rkraw.h has the layout).
 *
 * Opening reads the header, the 64 bytes of every block and the blocks of definitions; each table
 * is read from the data blocks that have records for it. Device times become CLOCK_BOOTTIME by the
 * calibrations in the file: along a line from the first to the last when they are a second apart,
 * else by one difference. A file whose process was killed, or is still running, is read as far as
 * it was written.
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

/* A file as a whole, without its rows: for run.json. */
struct rk_rkraw_info {
	char collector[33];
	uint32_t pid, ppid;
	bool clean, window;
	uint64_t records, dropped, overwritten;
	uint64_t pending; /* operations still running at the end */
	uint64_t damaged_blocks;
	uint64_t dropped_for[RK_RAW_REASONS]; /* by enum rk_raw_reason */
	int64_t start_ns, end_ns;             /* CLOCK_BOOTTIME; end: the last that is known */
	char note[160];                       /* the collector's message, or "" */
	int64_t clock_error_ns;               /* the largest of all devices; -1: none calibrated */
};
int rk_rkraw_info(const char *path, struct rk_rkraw_info *ret, struct rk_error *err);

/* ---- for the files of this folder only: definitions and clocks (raw.c) ---- */

enum {
	RAW_MAX_DEFINITIONS = 1 << 17,
	RAW_MAX_CLOCKS = 256, /* devices with calibrations */
};

struct raw_definition {
	uint32_t tag;   /* 0: none */
	uint64_t v[10]; /* fields in order, without the id; for a string its id in the run */
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

/* The next varint, a signed number with its sign in the lowest bit. */
static inline uint64_t raw_zigzag(struct rk_cursor *c)
{
	uint64_t v = rk_cursor_varint(c);

	return v >> 1 ^ (0 - (v & 1));
}

/* NULL when `id` is not defined as that. */
const struct raw_definition *rk_raw_name(const struct raw_names *n, uint64_t id, uint32_t tag);
/* A time of the device as CLOCK_BOOTTIME; false when it does not fit. c NULL: as it is. */
bool rk_raw_time(const struct raw_clock *c, int64_t device_ns, int64_t *ret);
const struct raw_clock *rk_raw_clock(const struct raw_names *n, uint64_t device);
/* ---- records as rows (rows.c) ---- */

/* The values that differences refer to. */
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
	uint64_t begun;         /* columns that have a value in this batch; the rest are absent */
	void *cols[RAW_FIELDS]; /* of the builder; NULL: not wanted */
	uint32_t source_id, boot_id, device_id, api_id, build_id, queue_id;
	int64_t node, rank; /* of every row, RK_NONE: unknown; node: id of its name */
	struct rk_oddities *odd;
	bool nomem;
	bool nvidia; /* from CUPTI: registers are not VGPRs */
};

int rk_raw_rows_init(struct raw_rows *r, struct rk_error *err);
/* One record; at most one row. False when it is damaged. */
bool rk_raw_rows_add(struct raw_rows *r, struct raw_history *past, uint8_t tag, struct rk_cursor c);
/* A batch of the rows since the last reset. */
const struct rk_batch *rk_raw_rows_batch(struct raw_rows *r);
void rk_raw_rows_reset(struct raw_rows *r);
/* Which tags have rows in a table. */
uint32_t rk_raw_tags_of(enum rk_table t);

/* All rows of the two tables that come from the header and the definitions. */
void rk_raw_process(struct raw_rows *r);
void rk_raw_agents(struct raw_rows *r, size_t *next);

#endif
