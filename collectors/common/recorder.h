/*
 * recorder.h - the flight recorder that collectors write to from inside someone else's process.
 *
 * One bounded file per process, mapped into memory; each thread fills its own blocks. A record
 * is in the file when its function returns true: SIGKILL, abort and _exit cannot remove it. Writing
 * a record takes no lock, allocates nothing, prints nothing and, except when a block is full, makes
 * no system call; errno is kept. Any trouble (no room, no file) drops records, which are counted in
 * the file, and never disturbs the program.
 *
 * All functions may be called from any thread, before rk_rec_start() and after rk_rec_end(), and
 * from signal handlers; a call that interrupts another one of the same thread records nothing. The
 * child of a fork gets its own file at its first record; ids stay valid in it.
 *
 * Settings are in one variable, ROCKIT_COLLECT="dir=/place,limit=256M,window=0,api=1": key=value
 * words separated by commas, %XX for special characters in values. Known here:
 *   dir     where <pid>.rkraw is created; must exist. Without it nothing is recorded.
 *   limit   maximum size of a file, with K, M or G; default 1G
 *   window  1: the file is a ring, the oldest records are overwritten; 0: new records are dropped
 *   block   bytes of a block: a power of two, 16K to 1M; default 32K
 *   switch  1: recording can be switched from outside, by a word in the file
 *   asleep  1: starts asleep
 *   range   NAME: records only in ranges of the program with this name
 *   every   N:M: records only the first N of each M such ranges; without `range`, of the ranges
 *           that are in no other
 *   sample  N: records one of N calls
 * Collectors look up their own keys with rk_rec_setting().
 *
 * Link collectors with -z nodelete: they must never be unloaded, because threads end through them.
 */
#ifndef RK_RECORDER_H
#define RK_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the recorder as a whole ---- */

/*
 * Reads the settings and creates the file; `collector` is a short name for it ("opencl"). Returns
 * false if nothing should or can be recorded: every other call is then cheap and does nothing.
 * Later calls only return the result of the first.
 */
bool rk_rec_start(const char *collector);
/*
 * Writes the final clocks and marks a clean end. Records can still be written after it. Also called
 * at exit.
 */
void rk_rec_end(void);
bool rk_rec_on(void);

/* The value of `key`, unescaped and NUL-terminated; false if it is not set or does not fit. */
bool rk_rec_setting(const char *key, char *buf, size_t cap);
/* True for 1, false for 0, `otherwise` for anything else. */
bool rk_rec_flag(const char *key, bool otherwise);

/* ---- what to record ---- */

/*
 * False: record nothing new, because recording was switched off, or because the program is in no
 * range that was asked for. Costs one load. What has begun may be recorded to its end.
 */
bool rk_rec_awake(void);
/* Counts a record that was left out because rk_rec_awake() was false. */
void rk_rec_skip(void);
/*
 * Ask before each call of the program, if awake: false means that this call's record is left out,
 * and it is counted as such.
 */
bool rk_rec_sampled(void);
/*
 * `f` is called each time recording is switched from outside, on a thread of the recorder, which
 * exists only with switch=1 and sleeps in between. Register it first, then ask rk_rec_awake().
 */
void rk_rec_on_switch(void (*f)(bool awake));
/*
 * A range of the program begins or ends, on any thread; both times with its name. Call it before
 * the range is recorded at its begin, and after that at its end, to have the range itself.
 */
void rk_rec_range(const char *name, size_t len, bool enter);

/* Records dropped so far, for any reason. */
uint64_t rk_rec_lost(void);

/*
 * A guard for collectors whose own calls may re-enter them. Returns false if this thread is already
 * inside. Call rk_rec_leave() after each true.
 */
bool rk_rec_enter(void);
void rk_rec_leave(void);

/* ---- clocks ---- */

/* Host times are CLOCK_BOOTTIME in ns, as in rocprofv3 and the monitor. */
int64_t rk_rec_now(void);
uint32_t rk_rec_tid(void); /* this thread's id; only the first call makes a system call */

/*
 * The same moment on four clocks: the tightest of several readings. error_ns: the possible error.
 */
struct rk_rec_clocks {
	int64_t boot_ns, mono_ns, raw_ns, real_ns, error_ns;
};
void rk_rec_clocks(struct rk_rec_clocks *ret);

/* ---- definitions: each is written once, equal content has an equal id ---- */

/*
 * All ids share one number space; 0 means none, or that the table is full. Looking up a known
 * definition takes no lock. Texts are cut at 8000 bytes. An id is valid while rk_rec_epoch() is the
 * same as before it was asked for: in a window, definitions that no record uses are forgotten.
 */
uint32_t rk_rec_epoch(void);

uint32_t rk_rec_string(const char *text, size_t len);

enum rk_rec_device_type { RK_REC_GPU = 1, RK_REC_CPU = 2, RK_REC_OTHER = 3 };

/* number: the collector's, from 0. String ids may be 0, and numbers are 0 if unknown. */
struct rk_rec_device {
	uint32_t number, type;
	uint32_t name, vendor, driver; /* string ids */
	uint32_t compute_units, clock_mhz, wave_size;
	uint64_t memory_bytes;
	uint32_t arch; /* string id: "sm_90" if the name does not include it, else 0 */
	uint32_t pci;  /* 1 + (domain << 16 | bus << 8 | device << 3 | function); 0: unknown */
	uint64_t unique_id;
};
uint32_t rk_rec_device(const struct rk_rec_device *d);

enum rk_rec_queue_flag { RK_REC_OUT_OF_ORDER = 1, RK_REC_PROFILING_FORCED = 2 };
/* number: the collector's, from 0 in order of creation; never reused. */
uint32_t rk_rec_queue(uint32_t device, uint32_t number, uint32_t flags);
/* A queue for the runtime's stream `number` in its context `context`. */
uint32_t rk_rec_stream(uint32_t device, uint32_t number, uint32_t context);

#define RK_REC_UNKNOWN UINT32_MAX /* for registers, bytes and threads */

struct rk_rec_function {
	uint32_t name;   /* string id */
	uint32_t device; /* the device these numbers are for; 0: any */
	uint32_t regs, private_bytes, local_bytes;
	uint32_t agprs, sgprs; /* of AMD: accumulation registers are a part of regs; or both 0 */
};
/* A kernel as compiled. */
uint32_t rk_rec_function(const struct rk_rec_function *f);

struct rk_rec_shape {
	uint32_t function;
	uint32_t local_bytes; /* per workgroup, including local arguments; or RK_REC_UNKNOWN */
	uint64_t items[3];    /* global size; 1 in unused dimensions */
	uint32_t group[3];    /* local size; 0: unknown */
};
/*
 * One launch configuration of a function. If there is no more room, returns the function's id,
 * which can be used instead.
 */
uint32_t rk_rec_shape(const struct rk_rec_shape *s);

/*
 * States that device_ns on the device's clock was boot_ns and raw_ns (CLOCK_MONOTONIC_RAW) on the
 * host's, within error_ns. Call it at the start and at the end, and in between if you like (once a
 * minute, for example). Without any calibration, times stay on the device's clock, and readers warn
 * about it.
 */
void rk_rec_calibration(uint32_t device, int64_t device_ns, int64_t boot_ns, int64_t raw_ns,
			int64_t error_ns);

/* A message for readers of the file: what the collector could not record, and why. */
void rk_rec_note(const char *text, size_t len);

/* ---- records ---- */

/* Records that the runtime reports as lost. */
void rk_rec_source_lost(uint64_t n);

/*
 * Counts an operation that was submitted to a device and will be recorded when it ends. After a
 * crash the difference shows how many records are missing. `failed` undoes it. Returns
 * rk_rec_tid(), to be stored in the record.
 */
uint32_t rk_rec_begun(void);
void rk_rec_failed(void);

/*
 * Times on the device's clock. They need not be in order; set an unknown time to the next one.
 * queued 0, except for kernels: the device has no times, and start and end are host times
 * (rk_rec_now()).
 */
struct rk_rec_times {
	int64_t queued, submit, start, end;
};

struct rk_rec_kernel {
	uint32_t shape, queue; /* ids */
	uint32_t tid;          /* the launching thread; 0: the calling thread; or RK_REC_UNKNOWN */
	uint64_t correlation;  /* number of the operation, unique in the process */
	struct rk_rec_times t;
	uint64_t graph, graph_node; /* the runtime's numbers; graph 0: not launched by a graph */
};
/* Each of these returns true if the record is in the file. */
bool rk_rec_kernel(const struct rk_rec_kernel *k);

/* Numbers of operations: unique in the process, from 1. */
uint64_t rk_rec_next_id(void);

/*
 * A kernel in two parts. The launch is recorded before the device gets it, and counts as begun; it
 * is not lost if the process dies.
 */
struct rk_rec_launch {
	uint32_t shape, queue; /* ids */
	uint32_t tid;          /* the launching thread; 0: the calling thread; or RK_REC_UNKNOWN */
	uint64_t id;           /* rk_rec_next_id() */
	uint64_t correlation;  /* the call that launched it; 0: none */
	int64_t submit_ns;     /* rk_rec_now() */
	uint64_t graph, graph_node; /* the runtime's numbers; graph 0: not launched by a graph */
};
bool rk_rec_launch(const struct rk_rec_launch *l);
/*
 * Its times on the device's clock, from any thread; counts as ended, whatever the flags. flags: of
 * enum rk_raw_ran. id 0: its launch is not in the file, so nothing is recorded.
 */
bool rk_rec_ran(uint64_t id, int64_t start, int64_t end, uint32_t flags);

enum rk_rec_direction {
	RK_REC_HOST_TO_DEVICE = 1,
	RK_REC_DEVICE_TO_HOST,
	RK_REC_DEVICE_TO_DEVICE,
	RK_REC_FILL,
	RK_REC_MAP,   /* device to host, if the runtime copies at all */
	RK_REC_UNMAP, /* host to device, if the runtime copies at all */
	RK_REC_MIGRATE,
	RK_REC_HOST_TO_HOST,
	RK_REC_PEER, /* from one device to another */
};
struct rk_rec_copy {
	uint32_t direction, queue, tid;
	uint64_t bytes, correlation;
	struct rk_rec_times t;
	uint32_t from, to; /* device ids, if direction and queue do not determine them; else 0 */
};
bool rk_rec_copy(const struct rk_rec_copy *c);

/* Markers and barriers: operations without work. name: a string id ("clEnqueueBarrier"). */
struct rk_rec_sync {
	uint32_t name, queue, tid;
	uint64_t correlation;
	struct rk_rec_times t;
};
bool rk_rec_sync(const struct rk_rec_sync *s);

/* A call on the calling thread, in host times. correlation: the operation it started; 0: none. */
bool rk_rec_api(uint32_t function_name, int64_t start_ns, int64_t duration_ns,
		uint64_t correlation);
/* The same for a call on another thread, recorded later. */
struct rk_rec_call {
	uint32_t name, domain; /* string ids; domain 0: the collector's own */
	uint32_t tid;          /* or RK_REC_UNKNOWN */
	uint64_t correlation;
	int64_t start_ns, duration_ns;
};
bool rk_rec_call(const struct rk_rec_call *c);

/* A marker of the program, in host times. */
enum rk_rec_marker_kind { RK_REC_RANGE = 1, RK_REC_MARK = 2 };
struct rk_rec_marker {
	uint32_t kind, name, domain; /* name, domain: string ids; domain 0: none */
	uint32_t tid;                /* 0: the calling thread */
	int64_t start_ns, duration_ns;
};
bool rk_rec_marker(const struct rk_rec_marker *m);

/* A hardware counter value for one kernel dispatch. */
struct rk_rec_counter {
	uint32_t counter, kernel; /* string ids; kernel 0: unknown */
	uint32_t device;          /* id */
	uint64_t dispatch;        /* number of the kernel dispatch, from 1 */
	double value;
};
bool rk_rec_counter(const struct rk_rec_counter *c);

/* A program was compiled. name: a string id (its options, or its kernels). */
bool rk_rec_build(uint32_t name, uint32_t device, int64_t start_ns, int64_t duration_ns);

enum rk_rec_alloc_kind { RK_REC_ALLOC = 1, RK_REC_FREE = 2 };
bool rk_rec_alloc(uint32_t kind, uint32_t device, uint64_t address, uint64_t bytes,
		  int64_t start_ns, int64_t duration_ns);
/* The same, recorded later without a duration. tid may be RK_REC_UNKNOWN. */
struct rk_rec_memory {
	uint32_t kind, device, tid;
	uint64_t address, bytes, correlation;
	int64_t start_ns;
};
bool rk_rec_memory(const struct rk_rec_memory *m);

#endif
