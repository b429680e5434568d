/*
 * cup.h - what the parts of the CUPTI collector share.
 *
 * The driver loads this library at cuInit() (CUDA_INJECTION64_PATH). CUPTI, found in the process or
 * next to the program's CUDA, fills our buffers with activity records; our thread turns them into
 * records of the flight recorder and reuses the buffers. On the program's own threads only the
 * callbacks run that give CUPTI a buffer or receive one.
 *
 * While recording is switched off, no kind of record is enabled: CUPTI does nothing, and our thread
 * sleeps. When it is switched on or off, our thread enables or disables them.
 *
 * Settings (see recorder.h for the common ones):
 *   api     1: record calls of the runtime and the driver too; launches: only those that start
 *           kernels, where CUPTI can record single functions (12.6 on); default 0
 *   alloc   1: allocations; default 0
 *   sync    0: no synchronisations; default 1 (cup_record.c: what they cost)
 *   nvtx    0: no NVTX ranges; default 1
 *   flush   milliseconds after which buffers whose kernels are all done are fetched, full or not;
 *           default 100, 0: at the end
 *   buffer  bytes of a buffer; default 1M
 *   share   0: never be one subscriber of several (CUDA 13.4 on); default 1
 *   cupti   the library, instead of looking for one
 *   counters  metrics of CUPTI's range profiler with '+' between: these instead of everything else
 */
#ifndef RK_CUP_H
#define RK_CUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti_abi.h"
#include "recorder.h"

#define RK_CUP_SHOWN __attribute__((visibility("default")))
#define RK_CUP_STRING(text) rk_rec_string((text), sizeof(text) - 1)

/* Set once, before any callback can run. */
struct rk_cup {
	struct cupti f;
	struct cuda driver;
	cupti_subscriber subscriber; /* NULL: this CUPTI has no subscriber API */
	uint32_t version;            /* CUPTI's version in its own numbering */
	uint32_t flush_ms;           /* 0: only at the end */
	bool calls, all_calls;       /* record calls: single ones, all */
	bool waits;                  /* recognise synchronising calls by their numbers */
};
extern struct rk_cup rk_cup;

/* ---- messages (cup_inject.c) ---- */

/* Prints one line to stderr and records it in the file. Only the first message is printed. */
void rk_cup_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "CUPTI_ERROR_...", or its number. */
const char *rk_cup_error(cupti_result rc, char buf[32]);

/* ---- the library (cup_library.c) ---- */

/* Finds CUPTI and fills rk_cup.f and rk_cup.driver; false: the reason was printed. */
bool rk_cup_library_open(void);

/* ---- the clock (cup_buffer.c) ---- */

void rk_cup_clock_start(void); /* before anything is enabled */
/* Uses the time of a record to check whether CUPTI's times are host times already. */
void rk_cup_clock_seen(uint64_t cupti_ns);
int64_t rk_cup_clock_host(uint64_t cupti_ns);
/* Compares the clocks and writes a calibration for each device; once a minute is enough. */
void rk_cup_clock_calibrate(bool last);

/* ---- devices and streams (cup_record.c): reading thread only ---- */

uint32_t rk_cup_device(uint32_t ordinal); /* 0: no room */
void rk_cup_device_each(void (*f)(uint32_t id, void *user), void *user);

/* ---- records (cup_record.c): reading thread only ---- */

/* `bytes` bytes are readable at `r`. Returns false if it is not a record. */
bool rk_cup_record(const struct cupti_record *r, size_t bytes);

/* ---- synchronisations (cup_record.c) ---- */

/*
 * Enables recording of synchronising calls. False: CUPTI cannot do that, but has another kind of
 * record.
 */
bool rk_cup_sync_by_calls(void);
/* The same for calls that start kernels (api=launches). False: CUPTI cannot do that. */
bool rk_cup_launch_calls(void);
void rk_cup_single_calls_off(void);

/* ---- buffers (cup_buffer.c) ---- */

bool rk_cup_buffer_register(void);
/* Reads full buffers and compares clocks; returns at once if another thread is doing so. */
void rk_cup_buffer_read(bool last);
bool rk_cup_buffer_waiting(void);
/* Number of our callbacks so far, buffers that CUPTI holds, and when the last callback ran. */
struct rk_cup_traffic {
	uint64_t calls;
	uint32_t out;
	int64_t last_ns;
};
void rk_cup_buffer_traffic(struct rk_cup_traffic *ret);

/* ---- our thread (cup_inject.c) ---- */

bool rk_cup_thread_runs(void);
void rk_cup_thread_wake(void);

/* ---- a profiler in the program (cup_library.c) ---- */

/* From now on, a loaded library that registers with CUPTI gets it and we step aside. */
void rk_cup_yield_watch(void);
bool rk_cup_yielded(void);

/* ---- ranges that were asked for (cupti_nvtx.c) ---- */

/*
 * Kernels come from CUPTI long after their launch: whether one is in a range that was asked for
 * (range=, every=) is decided by its time.
 */
void rk_cup_gate_start(void);
/* Asks CUPTI for the times of launches, if they are needed here; before anything is enabled. */
void rk_cup_gate_times(void);
void rk_cup_gate_look(void); /* notes the time if the recorder's gate was opened or shut */
/* Was the gate shut at that host time? Always false without these settings. */
bool rk_cup_gate_shut(int64_t host_ns);

/* ---- counters instead of times (cup_launch.c) ---- */

bool rk_cup_counters_wanted(void);
void rk_cup_counters_start(void); /* prints the reason on failure */

/* ---- the beginning and the end (cup_inject.c) ---- */

bool rk_cup_begin(void); /* creates the file; called by the driver or NVTX, whichever is first */
bool rk_cup_is_child(void);
void rk_cup_switch_off(void); /* disables every kind of record that we enabled */
double rk_cup_elapsed(void);  /* seconds since CUDA was initialised */

#endif
