/*
 * run_json.h - run.json, the record that `rockit run` writes next to a run's files: the names of
 * its values, reading and editing.
 *
 * rockit writes it (session/record.c), but the file may come from anywhere: codec/json/tree.h
 * limits size and depth, and the record below only uses values of the right type and range,
 * truncates text and replaces control characters.
 */
#ifndef RK_RUN_JSON_H
#define RK_RUN_JSON_H

#include "base/bytes.h"
#include "base/json_out.h"
#include "codec/json/tree.h"

#define RK_RUN_JSON "run.json"

/* The values that readers use. The writer has more. */
enum rk_run_key {
	RK_RUN_ROCKIT,
	RK_RUN_STATE,
	RK_RUN_COMMAND,
	RK_RUN_EXIT_STATUS,
	RK_RUN_TOOL,
	RK_RUN_TOOL_NAME,
	RK_RUN_TOOL_VERSION,
	RK_RUN_PRESET,
	RK_RUN_ARCH,
	RK_RUN_HOST,
	RK_RUN_NODE,
	RK_RUN_BOOT, /* digest of the kernel's boot id: equal on one machine with one clock */
	RK_RUN_RANK,
	RK_RUN_SCRATCH,
	RK_RUN_RANKS, /* ranks to profile, "0,8-15"; missing: all */
	RK_RUN_JOB,
	RK_RUN_STEP,
	RK_RUN_LOCAL_RANK,
	RK_RUN_SIZE,
	RK_RUN_GPUS,
	RK_RUN_START_TIME,
	RK_RUN_END_TIME,
	RK_RUN_CLOCKS,
	RK_RUN_CLOCKS_START,
	RK_RUN_CLOCKS_END,
	RK_RUN_PASSES,
	RK_RUN_BASELINE,
	RK_RUN_LEDGER,
	RK_RUN_DELIVERED,
	RK_RUN_DELIVERED_TABLES,
	RK_RUN_DELIVERED_KERNELS,
	RK_RUN_DROPPED,
	RK_RUN_DROPPED_MOVE,
	RK_RUN_REPAIRED,
	RK_RUN_REPAIRED_ROWS,
	RK_RUN_REPAIRED_MISMATCHES,
	RK_RUN_REPAIRED_BY_ORDER,
	RK_RUN_CLOCK_ERROR,
	RK_RUN_NOTES,
	RK_RUN_HAZARDS,
	RK_RUN_WARNINGS,
	RK_RUN_FUSED, /* for a job: its ranks and their clocks */
	/* in CLOCKS_START and CLOCKS_END */
	RK_RUN_BOOTTIME,
	RK_RUN_REALTIME,
	RK_RUN_READ_ERROR,
	RK_RUN_REALTIME_ERROR,
	/* in each of PASSES, and in BASELINE */
	RK_RUN_PASS_WHAT,
	RK_RUN_PASS_COUNTERS,
	RK_RUN_PASS_RAN,
	RK_RUN_PASS_STATUS,
	RK_RUN_PASS_SIGNAL,
	RK_RUN_PASS_TIMED_OUT,
	RK_RUN_PASS_SECONDS,
	RK_RUN_PASS_FILES,
	RK_RUN_PASS_BYTES,
	RK_RUN_PASS_MAX_RSS,
};

/* The key's name in the file. */
const char *rk_run_key(enum rk_run_key k);
/*
 * The value below `root`, or NULL. Values of clocks and passes are looked up in their own object.
 */
const struct rk_tree *rk_run_json_at(const struct rk_tree *root, enum rk_run_key k);
/* Does it have a ledger? A run.json of another program does not. */
bool rk_run_json_recorded(const struct rk_tree *root);
/* Refuses pipes and devices, so it never blocks. */
int rk_run_json_load(const char *path, struct rk_tree **ret, struct rk_error *err);

/*
 * Appends the text of the document at `path` to `ret`, without its closing brace and without member
 * `k`: ready for a comma and a new last member. Appends nothing if there is no file, or if it is
 * not rockit's.
 */
int rk_run_json_without(const char *path, enum rk_run_key k, struct rk_bytes *ret,
			struct rk_error *err);

/* ---- for writers ---- */

/* One moment on the clock of the traces and on the wall clock. */
struct rk_clock_pair {
	int64_t boottime_ns, realtime_ns;
	int64_t error_ns; /* how far apart the two may have been read */
	/* of the wall clock against UTC, as its daemon reports it; -1: not synchronised */
	int64_t realtime_error_ns;
};
struct rk_clock_pair rk_clock_pair_read(void);

/* The time of day of `c` in UTC, or null. */
void rk_run_put_time(struct rk_json_out *j, const char *key, const struct rk_clock_pair *c);
void rk_run_put_clock(struct rk_json_out *j, const char *key, const struct rk_clock_pair *c);
/* RK_RUN_BOOT of this machine, where it is known. */
void rk_run_put_boot(struct rk_json_out *j);

/* ---- the validated values that readers of a run use ---- */

enum rk_record_text {
	RK_REC_NODE,
	RK_REC_BOOT,
	RK_REC_JOB,
	RK_REC_STEP,
	RK_REC_RANKS,
	RK_REC_STATE,
	RK_REC_TOOL,
	RK_REC_TOOL_VERSION,
	RK_REC_ROCKIT,
	RK_REC_SCRATCH,
	RK_REC_WARNING, /* the first warning about the result */
	RK_REC_NTEXTS,
};

/* The clock of the records and the realtime clock, read together. */
struct rk_align_snapshot {
	int64_t clock_ns, real_ns;
	int64_t error_ns; /* of real_ns against UTC, including the reading; -1: unknown */
};

/* A GPU of the machine: the number that samples use, and its PCI address. */
struct rk_record_gpu {
	int64_t index;
	char pci[24];
};

enum { RK_RECORD_GPUS = 256 }; /* at most */

/* Missing values are -1 and "". */
struct rk_run_record {
	char *dir;   /* its folder, with a trailing slash */
	char *fault; /* why it cannot be read; NULL: no error */
	bool ours;   /* false: unreadable, or another program's file of that name */
	bool above;  /* there are rank folders below it, so it belongs to their launcher */
	char *text[RK_REC_NTEXTS];
	int64_t rank, local_rank, size, status;
	int64_t kernels;    /* rows that were delivered */
	int64_t mismatches; /* dispatches whose counters could not be joined to them */
	int64_t by_order;   /* dispatches whose counters were joined by order only */
	int64_t clock_error_ns;
	struct rk_align_snapshot snapshots[2];
	unsigned nsnapshots;
	struct rk_record_gpu *gpus; /* those that have an address */
	size_t ngpus;
};

/*
 * Parses the text of a run.json; `ret` must be zeroed or already filled. Fails only with
 * RK_E_NOMEM.
 */
int rk_record_parse(const char *text, size_t len, struct rk_run_record *ret, struct rk_error *err);
/* The same for a file; if it cannot be read, the record's `fault` is set. */
int rk_record_load(const char *path, struct rk_run_record *ret, struct rk_error *err);
void rk_record_clear(struct rk_run_record *r);

#endif
