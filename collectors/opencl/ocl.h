/*
 * ocl.h - what the parts of the OpenCL layer share.
 *
 * The layer is between the application and the runtime: calls are forwarded to `rk_ocl.target`.
 * Every command the application enqueues gets an event, the application's or one of ours, which we
 * keep in a list of its queue; when the command has ended, we read its times from the event and
 * write them to the flight recorder. This happens where the application waits anyway (clFinish and
 * similar calls), and on our own thread for applications that never wait. A kernel is in the file
 * before the call that launched it returns; only its times come later.
 *
 * While recording is switched off (rk_rec_awake()), commands are passed on as they are. Profiling of
 * queues stays on: it can only be chosen when a queue is created. With the setting kernels=0, queues
 * that are created while recording is off have none; their kernels are recorded without times.
 *
 * Everything here may be called from any thread. Handling a command takes no lock and allocates
 * nothing: tables have a fixed size, and commands that do not fit are counted as lost.
 */
#ifndef RK_OCL_H
#define RK_OCL_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_layer.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder.h"

#define RK_OCL_LINE 64 /* a cache line */
#define RK_OCL_DEVICES 256
#define RK_OCL_QUEUES 4096
#define RK_OCL_KERNELS 32768
#define RK_OCL_PENDING (1u << 20) /* running commands of all queues */
#define RK_OCL_MAPPINGS 1024
#define RK_OCL_PROPS 16 /* max words of a queue's property list, including the end */

/* Set once, before the first call. */
struct rk_ocl {
	cl_icd_dispatch target;
	cl_icd_dispatch inner;  /* the target with our wrappers, below those of ocl_layer.c */
	bool api;               /* record calls */
	bool alone;             /* for measurements: the application's threads do all the work */
	bool queues_from_start; /* queues get profiling even while recording is off */
};
extern struct rk_ocl rk_ocl;

/* ---- tables of handles (ocl_device.c) ---- */

/*
 * Finds the slot of `key` in an open-addressed table of `cap` keys (a power of two). Returns `cap`
 * if it is missing; with `claim` it is added if there is room. Keys are never removed: runtimes
 * reuse addresses, so the table only needs room for the handles that exist at the same time.
 */
uint32_t rk_ocl_slot(_Atomic(uintptr_t) *keys, uint32_t cap, const void *key, bool claim);

/* ---- devices and their clocks (ocl_device.c) ---- */

struct rk_ocl_device {
	_Atomic uint32_t number; /* from 1 in order of first use; 0: free */
	_Atomic uint32_t id;     /* recorder id; 0: not described yet */
	_Atomic uint32_t asked;  /* commands seen, to decide when to sample the clock */
	_Atomic bool has_timer;  /* clGetDeviceAndHostTimer() works */
	_Atomic(void *) suggest; /* clGetKernelSuggestedLocalWorkSizeKHR, or NULL */
	_Atomic(void *) amd;     /* clGetKernelInfoAMD, or NULL */
	_Atomic bool intel;      /* it supports Intel's kernel queries */
	/* The device whose timer we read: sub-devices can be released, their parent cannot. */
	_Atomic(cl_device_id) root;
	_Atomic int64_t read_ns; /* when we last read the timer */
	cl_device_id handle;
	/*
	 * Owned by the thread that set `busy`: the best sample not written yet (error 0: none),
	 * when one was last written, and how good it was.
	 */
	_Atomic bool busy;
	int64_t device_ns, boot_ns, error_ns;
	int64_t written_ns, written_error_ns;
};

/* NULL if the table is full. */
struct rk_ocl_device *rk_ocl_device_get(cl_device_id handle);
/*
 * Should the next command of the device be bracketed with host times? Often at first, then rarely.
 */
bool rk_ocl_device_due(struct rk_ocl_device *d);
/* The device clock read device_ns at some time within width_ns after before_ns. */
void rk_ocl_device_sample(struct rk_ocl_device *d, int64_t device_ns, int64_t before_ns,
			  int64_t width_ns);
/* Writes the calibration of each device's clock; `last`: at the end of the program. */
void rk_ocl_device_calibrate_all(bool last);
void rk_ocl_device_forked(void);

/* ---- running commands (ocl_pending.c) ---- */

enum rk_ocl_kind { RK_OCL_KERNEL, RK_OCL_COPY, RK_OCL_SYNC };

struct rk_ocl_queue;

/* A command, from the call that enqueues it to its record. */
struct rk_ocl_command {
	struct rk_ocl_queue *queue; /* NULL: not recorded */
	cl_event own;
	cl_event *asked;   /* where the application wants its event, or NULL */
	cl_event *event;   /* pointer to pass to the runtime */
	int64_t before_ns; /* host time before the call */
	bool sampled;      /* the device's clock is compared with the host's */
	bool missed;       /* its queue did not fit in the table: counts as lost */
};

/* What the command does. Set at the end, because we only inspect successful calls. */
struct rk_ocl_what {
	enum rk_ocl_kind kind;
	uint32_t shape;     /* of a kernel: id of the recorder */
	const char *name;   /* of a marker */
	uint32_t direction; /* of a copy */
	uint64_t bytes;
};

/* Call before the runtime's function. `asked` may be NULL. */
void rk_ocl_begin(struct rk_ocl_command *c, cl_command_queue queue, cl_event *asked);
/*
 * Call after the runtime's function: keeps the event, gives the application its own, returns rc.
 * `what` may be NULL if rc is not CL_SUCCESS or c->queue is NULL.
 */
cl_int rk_ocl_end(struct rk_ocl_command *c, cl_int rc, const struct rk_ocl_what *what);

/* Records a marker whose call has no event, in host times: from before_ns to now. */
void rk_ocl_passed(cl_command_queue queue, uint32_t name, int64_t before_ns);

/*
 * Records commands that have ended. `all`: in in-order queues, also look past those still running.
 */
void rk_ocl_harvest(struct rk_ocl_queue *q, bool all);
void rk_ocl_harvest_queues(void); /* everything in all queues */
/* Harvests a part of each queue; true if there may be more. */
bool rk_ocl_harvest_piece(void);
/* Do we hold a reference to the event now? */
bool rk_ocl_holds(struct rk_ocl_queue *q, cl_event event);
bool rk_ocl_under_way(void); /* is there anything to harvest? */
bool rk_ocl_pending_init(void);
void rk_ocl_pending_forked(void);

/* ---- queues (ocl_queue.c) ---- */

struct rk_ocl_queue {
	/* recorder id, with its epoch in the upper half; 0: its commands are not recorded */
	_Atomic uint64_t id;
	_Atomic uint32_t number, flags; /* what the recorder knows it by */
	_Atomic bool listed;            /* it is in the list that rk_ocl_queue_each() visits */
	_Atomic(struct rk_ocl_device *) device;
	_Atomic cl_command_queue_properties asked; /* as seen by the application */
	_Atomic bool profiled;                     /* the runtime records times */
	_Atomic bool by_flags;                     /* created with OpenCL 1's function */
	_Atomic uint32_t nprops;                   /* words in props; 0: created without a list */
	_Atomic cl_queue_properties props[RK_OCL_PROPS];

	/* Newest first, as index + 1. Pushed by threads that enqueue. */
	_Alignas(RK_OCL_LINE) _Atomic uint32_t incoming;
	/* Owned by the thread that set `busy`: oldest first. */
	_Alignas(RK_OCL_LINE) _Atomic bool busy;
	uint32_t first, last;
	uint32_t done, ndone; /* recorded, but we still hold their events */
	_Atomic bool waiting; /* `first` or `done` is not 0; for threads that must not read them */
};

/* NULL for queues that we do not record. */
struct rk_ocl_queue *rk_ocl_queue_find(cl_command_queue handle);
uint32_t rk_ocl_queue_id(struct rk_ocl_queue *q); /* valid in this epoch of the recorder; or 0 */
/* Calls f for each queue that was created. */
void rk_ocl_queue_each(void (*f)(struct rk_ocl_queue *q, void *user), void *user);
void rk_ocl_queue_wrap(cl_icd_dispatch *d);

/* ---- kernels (ocl_kernel.c) ---- */

/* The shape to record for a launch; 0: none. Sizes may be NULL. */
uint32_t rk_ocl_kernel_shape(cl_kernel handle, struct rk_ocl_queue *q, cl_command_queue queue,
			     cl_uint dims, const size_t *offset, const size_t *global,
			     const size_t *local);
void rk_ocl_kernel_wrap(cl_icd_dispatch *d);

/* ---- the other parts ---- */

void rk_ocl_command_wrap(cl_icd_dispatch *d); /* launches, markers, waiting: ocl_command.c */
void rk_ocl_copy_wrap(cl_icd_dispatch *d);    /* ocl_command.c */
void rk_ocl_build_wrap(cl_icd_dispatch *d);   /* ocl_kernel.c */
/* Sets the command of this thread's current call, for the record of the call. */
void rk_ocl_api_note(uint64_t correlation);

/* The thread that records for applications that never wait (ocl_layer.c). */
void rk_ocl_helper_start(void);
void rk_ocl_helper_wake(void); /* cheap, unless it sleeps for want of work */

#define RK_OCL_STRING(text) rk_rec_string((text), sizeof(text) - 1)

#endif
