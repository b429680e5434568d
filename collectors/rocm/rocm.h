/*
 * rocm.h - what the parts of the ROCm collector share.
 *
 * ROCr loads us as a tool (HSA_TOOLS_LIB, or a preloaded library that exports
 * HSA_AMD_TOOL_PRIORITY) and gives us its tables of functions: we keep the old functions in rk_rocm
 * and put ours in their place. GPU queues become queues whose packets we see before the GPU does:
 * each dispatch is recorded when it is submitted, and gets a signal that later tells its times.
 *
 * Our functions are called on the program's threads. They take no lock and allocate nothing where a
 * packet is launched, except the first time a kernel or a place in a queue is used. They call HSA
 * through rk_rocm only, and never after hsa_shut_down().
 */
#ifndef RK_ROCM_H
#define RK_ROCM_H

#include <stdatomic.h>

#include "hsa_abi.h"
#include "recorder.h"

#define RK_ROCM_SHOWN __attribute__((visibility("default")))

struct rk_rocm {
	struct hsa_core core; /* the functions below ours; valid while `live` */
	struct hsa_amd amd;
	atomic_bool live; /* between OnLoad and hsa_shut_down, and not in a forked child */
	bool kernels;     /* setting: queues are intercepted */
	bool allocations; /* setting */
	bool guest;       /* another tool replaced the queue functions before us */
};
extern struct rk_rocm rk_rocm;

enum rk_rocm_what {
	RK_ROCM_OTHER,
	RK_ROCM_LAUNCH,
	RK_ROCM_GRAPH,
	RK_ROCM_COPY,
	RK_ROCM_FILL,
	RK_ROCM_SYNC,
};
#define RK_ROCM_NO_STREAM UINT64_MAX

/*
 * The HIP call that this thread is in; correlation 0: none. Set by hip.c for every call that is
 * recorded; if HIP makes calls inside another one, it is the program's.
 */
struct rk_rocm_call {
	uint64_t correlation;
	uint64_t stream; /* the handle; 0: the null stream; RK_ROCM_NO_STREAM: not known */
	uint32_t tid;
	uint32_t what;      /* enum rk_rocm_what */
	uint32_t direction; /* a copy's, as hipMemcpyKind says: enum rk_rec_direction; 0: not known */
	uint64_t bytes;     /* of a copy or fill; 0: not known */
	uint64_t graph;     /* number of the graph that is launched, from 1; 0: none */
};
extern _Thread_local struct rk_rocm_call rk_rocm_call;

/* ---- load.c ---- */

/* True if HSA may be called and we should record. */
static inline bool rk_rocm_live(void)
{
	return atomic_load_explicit(&rk_rocm.live, memory_order_acquire);
}
bool rk_rocm_off(void); /* permanently off */
/* A message for the readers of the file; only the first one of each `said`. */
void rk_rocm_say(atomic_bool *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- hip.c, roctx.c, rccl.c ---- */

/*
 * Looks for libamdhip64 and libroctx64 and registers with them. May be called more than once, and does
 * nothing while neither is loaded.
 */
void rk_rocm_hip_open(void);
void rk_rocm_hip_close(void); /* at the end: says whether another tool took our place */
void rk_rocm_roctx_open(void);
void rk_rocm_roctx_close(void);

/* ---- library.c: libraries of the program ---- */

/* A loaded library, by how its file name begins; it stays loaded. NULL: it is not in the process. */
void *rk_rocm_library(const char *name);
/* Puts the library's function into `to`, a pointer to a pointer to a function; false: it has none. */
bool rk_rocm_symbol(void *library, const char *name, void *to);
/* The file that an address is in, for messages. */
const char *rk_rocm_file(const void *address);

/* The one place that a library has for a tool's function. */
struct rk_rocm_place {
	void *volatile *at; /* NULL: not found, so nobody can be noticed */
	void *ours;
	void *before; /* whose place it was; NULL: nobody's */
};
/* Calls enlist(), a function of the library that puts `ours` there, and finds out where that is. */
void rk_rocm_take_place(struct rk_rocm_place *ret, void (*enlist)(void *ours), void *ours);
/* False if somebody else has registered since. */
bool rk_rocm_has_place(const struct rk_rocm_place *p);

/* ---- device.c ---- */

struct rk_rocm_device {
	uint64_t agent;
	uint32_t id;     /* in the recorder; 0 for a CPU */
	uint32_t copies; /* number of the queue that copies without a stream have */
	char arch[64];
};
/* NULL if the agent is not known. */
const struct rk_rocm_device *rk_rocm_device(uint64_t agent);
/* The device that a memory pool belongs to; NULL: not known. */
const struct rk_rocm_device *rk_rocm_pool_device(uint64_t pool);
/* Calls f for each GPU. */
void rk_rocm_each_gpu(void (*f)(const struct rk_rocm_device *d, void *arg), void *arg);
void rk_rocm_device_calibrate(void);
void rk_rocm_device_forget(void);

/* ---- code.c ---- */

void rk_rocm_code_hook(struct hsa_core *core);
void rk_rocm_code_forget(void);
/* Changes when a kernel object's address may mean another kernel. */
uint32_t rk_rocm_code_generation(void);
/* The recorder's id of the function at that address; may take a lock. 0: none. */
uint32_t rk_rocm_function(uint64_t kernel, const struct rk_rocm_device *device);

/* ---- queue.c ---- */

void rk_rocm_queue_hook(struct hsa_core *core, struct hsa_amd *amd);
/* The recorder's id for work of the calling thread's HIP call, or of its tag, on hardware queue
 * `number`. */
uint32_t rk_rocm_stream(const struct rk_rocm_device *device, uint32_t number, uint64_t correlation,
			uint64_t stream);
void rk_rocm_stream_gone(uint64_t stream); /* the handle may be used for another one */
uint32_t rk_rocm_queue_number(void);       /* the next number of a queue */
void rk_rocm_queue_close(void);            /* the runtime is being shut down: forgets all queues */

/* ---- flight.c: dispatches that are in flight ---- */

struct rk_rocm_page;
struct rk_rocm_overdue;
/* Of a queue, and a part of it; the caller clears it. */
struct rk_rocm_flight {
	struct rk_rocm_flight *next;
	uint64_t agent;
	uint32_t flags; /* of RAN */
	/* the thread that submits */
	struct rk_rocm_page *last;
	uint32_t last_at, npages;
	uint64_t appended;
	_Atomic uint64_t head; /* published: appended */
	/* the thread that takes out */
	struct rk_rocm_page *first;
	uint32_t first_at;
	_Atomic uint64_t tail; /* taken out */
	int64_t blocked_ns;    /* since when the oldest one is overdue; 0: it is not */
	struct rk_rocm_overdue *overdue;
};
bool rk_rocm_flight_init(struct rk_rocm_flight *f, uint64_t agent);
void rk_rocm_flight_begin(struct rk_rocm_flight *f); /* from now on our thread looks after it */
/* A signal for the dispatch; 0: there is none, and it will have no times. */
uint64_t rk_rocm_flight_append(struct rk_rocm_flight *f, uint64_t id, int64_t submit_ns);
void rk_rocm_flight_publish(
	struct rk_rocm_flight *f); /* what was appended, before it is passed on */
void rk_rocm_flight_wake(void);    /* our thread, if it sleeps */
/* Records what has ended in `only`, or everywhere, and waits a short time for what has not. */
void rk_rocm_flight_drain(struct rk_rocm_flight *only);
void rk_rocm_flight_end(struct rk_rocm_flight *f);  /* the queue is destroyed */
void rk_rocm_flight_free(struct rk_rocm_flight *f); /* after that, or instead of begin */
void rk_rocm_flight_open(void);
void rk_rocm_flight_stop(void);  /* drains, and ends our thread */
void rk_rocm_flight_close(void); /* before hsa_shut_down, not live any more: destroys all signals */

/* ---- relay.c: our signal in the place of the program's ---- */

/*
 * For an operation whose signal the program waits for: the device gets ours; when that is set, ROCr's
 * own thread for signals copies its times into the program's signal and sets that, as the device would
 * have. Kernels and copies of programs that wait for signals take this way.
 *
 * ROCr does not look at signals in the order in which they are set, but a program may rely on the order
 * of a queue. So the relays of a queue are in a list, and those before the one that is set go first.
 */
struct rk_rocm_order;
struct rk_rocm_relay {
	uint64_t signal, original; /* original 0: none */
	uint64_t agent;            /* of a kernel; 0: a copy */
	int64_t submit_ns;
	uint32_t flags;              /* of rk_rec_ran() */
	bool silent;                 /* nothing is recorded: a barrier between kernels */
	uint64_t id;                 /* of a kernel */
	struct rk_rec_copy copy;     /* of a copy */
	struct rk_rocm_order *order; /* NULL: it has none */
	struct rk_rocm_relay *next;  /* in its order, or among the spare ones */
	enum { RK_ROCM_WAITS, RK_ROCM_DELIVERED, RK_ROCM_CANCELLED } state;
};
struct rk_rocm_order *rk_rocm_order_new(void);       /* NULL: no memory */
void rk_rocm_order_put(struct rk_rocm_order *order); /* its relays may still be under way */
bool rk_rocm_order_has(struct rk_rocm_order *order); /* relays under way */
/*
 * Starts a relay as described by `what`; its signal is for the device. False: there is none to be had.
 */
bool rk_rocm_relay_start(const struct rk_rocm_relay *what, struct rk_rocm_relay **ret);
/* The operation was not submitted. */
void rk_rocm_relay_cancel(struct rk_rocm_relay *r);
unsigned rk_rocm_relays(void); /* under way */
void rk_rocm_relay_close(void);
/*
 * Waits until ROCr's thread for signals has ended what it was doing when this was called. False if
 * that takes too long or cannot be asked.
 */
bool rk_rocm_signals_pass(unsigned ms);
/* RK_RAW_NO_TIMES for times that cannot be right, else `flags`. */
uint32_t rk_rocm_time_flags(const struct hsa_signal *s, const struct hsa_time *t, int64_t submit_ns,
			    uint32_t flags);

/* ---- copy.c ---- */

void rk_rocm_copy_hook(struct hsa_amd *amd);

#endif
