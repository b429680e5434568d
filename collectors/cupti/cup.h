/*
 * cup.h - the parts of the CUPTI collector to each other.
 *
 * The driver loads this library at cuInit() (CUDA_INJECTION64_PATH). CUPTI, found in the process or
 * beside the program's CUDA, fills buffers of ours with activity records; a thread of ours turns
 * them into records of the flight recorder and gives the buffers back. On the program's own threads
 * nothing of ours runs but the callbacks that hand buffers out and take them in.
 *
 * Settings (see recorder.h for the common ones):
 *   api     1: record calls of the runtime and the driver too; default 0
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

/* What is set once, before the first callback can come. */
struct rk_cup {
	struct cupti f;
	struct cuda driver;
	cupti_subscriber subscriber; /* NULL: the interface without subscribers */
	uint32_t version;            /* of CUPTI, in its own numbers */
	uint32_t flush_ms;           /* 0: not before the end */
	bool calls;                  /* all calls are wanted */
	bool waits;                  /* calls that synchronise are told by their numbers */
};
extern struct rk_cup rk_cup;

/* ---- saying something (cup_inject.c) ---- */

/* One line on standard error and the same in the file. Whatever is said, it is said once. */
void rk_cup_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* "CUPTI_ERROR_...", or its number. */
const char *rk_cup_error(cupti_result rc, char buf[32]);

/* ---- the library (cup_library.c) ---- */

/* Finds CUPTI and fills rk_cup.f and rk_cup.driver; false: said why. */
bool rk_cup_library_open(void);

/* ---- the clock (cup_buffer.c) ---- */

void rk_cup_clock_start(void); /* before anything is enabled */
/* A record has this time: tells whether CUPTI's times are the host's already. */
void rk_cup_clock_seen(uint64_t cupti_ns);
int64_t rk_cup_clock_host(uint64_t cupti_ns);
/* Compares the clocks and writes it for each device; once a minute is enough. */
void rk_cup_clock_calibrate(bool last);

/* ---- devices and streams (cup_record.c): of the reading thread ---- */

uint32_t rk_cup_device(uint32_t ordinal); /* 0: there is no room */
/* The stream of a context whose device no record has told so far: 0. */
void rk_cup_device_each(void (*f)(uint32_t id, void *user), void *user);

/* ---- records (cup_record.c): of the reading thread ---- */

/* `bytes` are there from `r` on. False: it cannot be a record. */
bool rk_cup_record(const struct cupti_record *r, size_t bytes);

/* ---- synchronisations (cup_record.c) ---- */

/* Has the calls that synchronise recorded; false: CUPTI cannot, but has records of another kind. */
bool rk_cup_sync_by_calls(void);
void rk_cup_sync_off(void);

/* ---- buffers (cup_buffer.c) ---- */

bool rk_cup_buffer_register(void);
/* Records what is in buffers that are full, and compares clocks; nothing when a thread is at it. */
void rk_cup_buffer_read(bool last);
bool rk_cup_buffer_waiting(void);
/* Calls of ours so far, buffers that CUPTI has, and when a callback came last. */
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

/* From now on whoever of the libraries that are loaded registers with CUPTI gets it. */
void rk_cup_yield_watch(void);
bool rk_cup_yielded(void);

/* ---- counters instead of times (cup_launch.c) ---- */

bool rk_cup_counters_wanted(void);
void rk_cup_counters_start(void); /* says what is in the way */

/* ---- the beginning and the end (cup_inject.c) ---- */

bool rk_cup_begin(void); /* makes the file; for whoever is first, driver or NVTX */
bool rk_cup_is_child(void);
void rk_cup_switch_off(void); /* every kind of record that was switched on */
double rk_cup_elapsed(void);  /* seconds since CUDA began */

#endif
