/*
 * recorder.h - the flight recorder that collectors write to from inside someone else's process.
 *
 * One bounded file per process, mapped into memory; each thread fills blocks of its own. A record
 * is in the file when its function returns true: SIGKILL, abort and _exit cannot take it away. On
 * the way of a record there is no lock, no allocation, no printing and, but for the change of a
 * block, no system call; errno is kept. Any trouble (no room, no file) costs records, which are
 * counted in the file, never the program.
 *
 * All functions may be called from any thread, before rk_rec_start() and after rk_rec_end(), and
 * from signal handlers; a call that interrupts another one of the same thread records nothing. The
 * child of a fork gets a file of its own at its first record; ids stay right in it.
 *
 * Settings stand in one variable, ROCKIT_COLLECT="dir=/place,limit=256M,window=0,api=1": words of
 * key=value between commas, %XX for odd characters in values. Known here:
 *   dir     where <pid>.rkraw is made; must be there. Without it nothing is recorded.
 *   limit   the most bytes of a file, with K, M or G; default 1G
 *   window  1: the file is a ring, the oldest records are overwritten; 0: what is new is dropped
 *   block   bytes of a block: a power of two, 16K to 1M; default 32K
 * Collectors look up keys of their own with rk_rec_setting().
 *
 * The linker must be told never to unload a collector (-z nodelete): threads end through it.
 */
#ifndef RK_RECORDER_H
#define RK_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the recorder as a whole ---- */

/*
 * Reads the settings and makes the file; `collector` is a short word for it ("opencl"). False when
 * there is nothing to record or no way to: every other call is then cheap and does nothing. The
 * second call and later ones only say how the first went.
 */
bool rk_rec_start(const char *collector);
/* Closing marks: clocks, "ended in order". Later records are still taken. Called at exit anyway. */
void rk_rec_end(void);
bool rk_rec_on(void);

/* The value of `key`, unescaped and terminated; false when it is not set or does not fit. */
bool rk_rec_setting(const char *key, char *buf, size_t cap);
/* True for 1, false for 0, else `otherwise`. */
bool rk_rec_flag(const char *key, bool otherwise);

/* Records lost so far, for whatever reason. */
uint64_t rk_rec_lost(void);

/*
 * A guard for collectors whose own calls may come back to them: false when this thread is inside
 * already. Each true is followed by rk_rec_leave().
 */
bool rk_rec_enter(void);
void rk_rec_leave(void);

/* ---- clocks ---- */

/* Host times are CLOCK_BOOTTIME in ns, as rocprofv3's and the monitor's are. */
int64_t rk_rec_now(void);
uint32_t rk_rec_tid(void); /* this thread's number, without a system call after the first */

/* The same moment on four clocks, the tightest of several tries; error_ns: how far it may be off. */
struct rk_rec_clocks {
	int64_t boot_ns, mono_ns, raw_ns, real_ns, error_ns;
};
void rk_rec_clocks(struct rk_rec_clocks *ret);

/* ---- definitions: each is written once, equal content has an equal id ---- */

/*
 * Ids are of one space and never change; 0 is none, and what a full table gives. Looking up what
 * is known takes no lock. Texts are cut at 8000 bytes.
 */
uint32_t rk_rec_string(const char *text, size_t len);

enum rk_rec_device_type { RK_REC_GPU = 1, RK_REC_CPU = 2, RK_REC_OTHER = 3 };

/* number: the collector's, from 0. Ids of strings may be 0, numbers 0 where they are not known. */
struct rk_rec_device {
	uint32_t number, type;
	uint32_t name, vendor, driver; /* strings */
	uint32_t compute_units, clock_mhz, wave_size;
	uint64_t memory_bytes;
	uint32_t arch; /* string: "sm_90", where the name does not tell; else 0 */
};
uint32_t rk_rec_device(const struct rk_rec_device *d);

enum rk_rec_queue_flag { RK_REC_OUT_OF_ORDER = 1, RK_REC_PROFILING_FORCED = 2 };
/* number: the collector's, from 0 in the order of making; never used again for another queue. */
uint32_t rk_rec_queue(uint32_t device, uint32_t number, uint32_t flags);
/* A queue that is the runtime's stream `number` in its context `context`. */
uint32_t rk_rec_stream(uint32_t device, uint32_t number, uint32_t context);

#define RK_REC_UNKNOWN UINT32_MAX /* of registers, bytes and threads */

struct rk_rec_function {
	uint32_t name;   /* string */
	uint32_t device; /* what the numbers are of; 0: of any */
	uint32_t regs, private_bytes, local_bytes;
};
/* A kernel as it was compiled. */
uint32_t rk_rec_function(const struct rk_rec_function *f);

struct rk_rec_shape {
	uint32_t function;
	uint32_t local_bytes; /* per workgroup, with what arguments asked for; or RK_REC_UNKNOWN */
	uint64_t items[3];    /* global size; 1 in dimensions that are not used */
	uint32_t group[3];    /* local size; 0: not known */
};
/* A way of launching it. When there is no more room: the function's id, which does instead. */
uint32_t rk_rec_shape(const struct rk_rec_shape *s);

/*
 * device_ns on the device's clock was boot_ns and raw_ns (CLOCK_MONOTONIC_RAW) on the host's,
 * within error_ns. Call it at the start and at the end; in between does no harm (once a minute,
 * say). Without any the times stay on the device's clock, and readers say so.
 */
void rk_rec_calibration(uint32_t device, int64_t device_ns, int64_t boot_ns, int64_t raw_ns,
			int64_t error_ns);

/* A sentence for whoever reads the file: what the collector could not record, and why. */
void rk_rec_note(const char *text, size_t len);

/* ---- records ---- */

/* Records that the runtime says it has lost itself. */
void rk_rec_source_lost(uint64_t n);

/*
 * One more operation was handed to a device and will be recorded when it is over. After a crash
 * the difference tells what the end of the file has lost. `failed` takes it back. Returns
 * rk_rec_tid(), for the record to come.
 */
uint32_t rk_rec_begun(void);
void rk_rec_failed(void);

/*
 * The device's clock. The order need not be kept; an unknown one is the one after it. queued 0, but
 * for kernels: the device told none, start and end are the host's (rk_rec_now()).
 */
struct rk_rec_times {
	int64_t queued, submit, start, end;
};

struct rk_rec_kernel {
	uint32_t shape, queue; /* ids */
	uint32_t tid;          /* the launching thread; 0: the calling one; or RK_REC_UNKNOWN */
	uint64_t correlation;  /* the number of the operation, unique in the process */
	struct rk_rec_times t;
	uint64_t graph, graph_node; /* the runtime's numbers; graph 0: launched by itself */
};
/* Each of these is true when the record is in the file. */
bool rk_rec_kernel(const struct rk_rec_kernel *k);

enum rk_rec_direction {
	RK_REC_HOST_TO_DEVICE = 1,
	RK_REC_DEVICE_TO_HOST,
	RK_REC_DEVICE_TO_DEVICE,
	RK_REC_FILL,
	RK_REC_MAP,   /* device to host, where the runtime copies at all */
	RK_REC_UNMAP, /* host to device, likewise */
	RK_REC_MIGRATE,
	RK_REC_HOST_TO_HOST,
	RK_REC_PEER, /* from one device to another */
};
struct rk_rec_copy {
	uint32_t direction, queue, tid;
	uint64_t bytes, correlation;
	struct rk_rec_times t;
	uint32_t from, to; /* devices (ids), where direction and queue do not tell; else 0 */
};
bool rk_rec_copy(const struct rk_rec_copy *c);

/* Markers and barriers: operations that do nothing. name: a string ("clEnqueueBarrier"). */
struct rk_rec_sync {
	uint32_t name, queue, tid;
	uint64_t correlation;
	struct rk_rec_times t;
};
bool rk_rec_sync(const struct rk_rec_sync *s);

/* A call on the calling thread, in host times. correlation: of the operation it made; 0: none. */
bool rk_rec_api(uint32_t function_name, int64_t start_ns, int64_t duration_ns,
		uint64_t correlation);
/* The same for a call that another thread made, told later. */
struct rk_rec_call {
	uint32_t name, domain; /* strings; domain 0: the collector's own */
	uint32_t tid;          /* or RK_REC_UNKNOWN */
	uint64_t correlation;
	int64_t start_ns, duration_ns;
};
bool rk_rec_call(const struct rk_rec_call *c);

/* What the program says about itself, in host times. */
enum rk_rec_marker_kind { RK_REC_RANGE = 1, RK_REC_MARK = 2 };
struct rk_rec_marker {
	uint32_t kind, name, domain; /* strings; domain 0: none */
	uint32_t tid;                /* 0: the calling one */
	int64_t start_ns, duration_ns;
};
bool rk_rec_marker(const struct rk_rec_marker *m);

/* What the hardware counted while a kernel ran. */
struct rk_rec_counter {
	uint32_t counter, kernel; /* strings; kernel 0: not known */
	uint32_t device;          /* id */
	uint64_t dispatch;        /* which kernel it was, from 1 */
	double value;
};
bool rk_rec_counter(const struct rk_rec_counter *c);

/* A program was compiled. name: a string (its options, or the kernels it has). */
bool rk_rec_build(uint32_t name, uint32_t device, int64_t start_ns, int64_t duration_ns);

enum rk_rec_alloc_kind { RK_REC_ALLOC = 1, RK_REC_FREE = 2 };
bool rk_rec_alloc(uint32_t kind, uint32_t device, uint64_t address, uint64_t bytes,
		  int64_t start_ns, int64_t duration_ns);
/* The same, told later: no duration. tid may be RK_REC_UNKNOWN. */
struct rk_rec_memory {
	uint32_t kind, device, tid;
	uint64_t address, bytes, correlation;
	int64_t start_ns;
};
bool rk_rec_memory(const struct rk_rec_memory *m);

#endif
