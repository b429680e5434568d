/*
 * ocl.h - what the parts of the OpenCL layer share.
 *
 * The layer is between the application and the runtime: calls are forwarded to `rk_ocl.target`.
 * Every command the application enqueues gets an event, the application's or one of ours, which we
 * keep in a list of its queue; when the command has ended, we read its four times from the event
 * and write them to the flight recorder. This happens where the application waits anyway (clFinish
 * and similar calls), and on our own thread for applications that never wait.
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
#define RK_OCL_PENDING (1u << 20) /* running commands of all queues together */
#define RK_OCL_MAPPINGS 1024
#define RK_OCL_PROPS 16 /* words of a queue's list of properties, its end included */

/* Set once, before the first call can come. */
struct rk_ocl {
	cl_icd_dispatch target;
	cl_icd_dispatch inner; /* the target with our wrappers in place, below those of ocl_layer.c */
	bool api;              /* record every call */
	bool count_only;       /* for measurements: track commands, record none */
	bool alone;            /* for measurements: the application's threads do all work */
};
extern struct rk_ocl rk_ocl;

/* ---- tables of handles (ocl_device.c) ---- */

/*
 * The place of `key` in an open-addressed table of `cap` keys (a power of two), or `cap` when it is
 * not there; claim: it is put there when there is room. Keys are never removed: runtimes reuse
 * addresses, so the table stays as small as the largest number of handles at one time.
 */
uint32_t rk_ocl_slot(_Atomic(uintptr_t) *keys, uint32_t cap, const void *key, bool claim);

/* ---- devices and their clocks (ocl_device.c) ---- */

struct rk_ocl_device {
	_Atomic uint32_t number; /* from 1 in order of appearance; 0: free */
	_Atomic uint32_t id;     /* of the recorder; 0: not described yet */
	_Atomic uint32_t asked;  /* commands seen, to take a sample of the clock now and then */
	_Atomic bool has_timer;  /* clGetDeviceAndHostTimer() works */
	_Atomic(void *) suggest; /* clGetKernelSuggestedLocalWorkSizeKHR, or NULL */
	_Atomic(void *) amd;     /* clGetKernelInfoAMD, or NULL */
	_Atomic bool intel;      /* it supports Intel's kernel queries */
	/* The device whose timer is read: sub-devices can be released, their parent cannot. */
	_Atomic(cl_device_id) root;
	_Atomic int64_t read_ns; /* when the timer was read last */
	cl_device_id handle;
	/* Of whoever has set `busy`: the best sample that is not written yet (error 0: none), when
	 * one was written last, and how good it was. */
	_Atomic bool busy;
	int64_t device_ns, boot_ns, error_ns;
	int64_t written_ns, written_error_ns;
};

/* NULL when the table is full. */
struct rk_ocl_device *rk_ocl_device_get(cl_device_id handle);
/* Whether to bracket the next command of the device with host times. Often at first, then rarely. */
bool rk_ocl_device_due(struct rk_ocl_device *d);
/* The device's clock read device_ns at some time in the width_ns after before_ns. */
void rk_ocl_device_sample(struct rk_ocl_device *d, int64_t device_ns, int64_t before_ns,
			  int64_t width_ns);
/* Writes what is known of each device's clock; `last` for the end of the program. */
void rk_ocl_device_calibrate_all(bool last);
void rk_ocl_device_forked(void);

/* ---- running commands (ocl_pending.c) ---- */

enum rk_ocl_kind { RK_OCL_KERNEL, RK_OCL_COPY, RK_OCL_SYNC };

struct rk_ocl_queue;

/* A command from the call that enqueues it to its record. */
struct rk_ocl_command {
	struct rk_ocl_queue *queue; /* NULL: not recorded */
	cl_event own;
	cl_event *asked;   /* where the application wants its event, or NULL */
	cl_event *event;   /* what to pass to the runtime */
	int64_t before_ns; /* 0: no sample of the clock is taken */
	bool missed;       /* its queue did not fit the table: counts as lost */
};

/* What it is; given at the end because only successful calls are inspected. */
struct rk_ocl_what {
	enum rk_ocl_kind kind;
	uint32_t id;        /* shape or string of the recorder */
	uint32_t direction; /* of copies */
	uint64_t bytes;
};

/* Before the call. `asked` may be NULL. */
void rk_ocl_begin(struct rk_ocl_command *c, cl_command_queue queue, cl_event *asked);
/* After the call: keeps the event, gives the application its own, returns rc. `what` may be NULL
 * when rc is not CL_SUCCESS or c->queue is NULL. */
cl_int rk_ocl_end(struct rk_ocl_command *c, cl_int rc, const struct rk_ocl_what *what);

/* A marker whose call has no event, on the host's clock: from before_ns to now. */
void rk_ocl_passed(cl_command_queue queue, uint32_t name, int64_t before_ns);

/* Records commands that have ended; `all`: in in-order queues, also looks past those that have not. */
void rk_ocl_harvest(struct rk_ocl_queue *q, bool all);
void rk_ocl_harvest_queues(void); /* all of all queues */
/* Some of each queue; true when there may be more. */
bool rk_ocl_harvest_piece(void);
/* Whether we hold a reference on the event now. */
bool rk_ocl_holds(struct rk_ocl_queue *q, cl_event event);
bool rk_ocl_under_way(void); /* is there anything to harvest, or soon? */
bool rk_ocl_pending_init(void);
void rk_ocl_pending_forked(void);

/* ---- queues (ocl_queue.c) ---- */

struct rk_ocl_queue {
	_Atomic uint32_t id; /* of the recorder; 0: commands of it are not recorded */
	_Atomic bool listed; /* it is in the list of those that rk_ocl_queue_each() visits */
	_Atomic(struct rk_ocl_device *) device;
	_Atomic cl_command_queue_properties asked; /* as seen by the application */
	_Atomic bool profiled;                     /* the runtime records times */
	_Atomic bool by_flags;                     /* made by OpenCL 1's function */
	_Atomic uint32_t nprops;                   /* words of props; 0: it gave no list */
	_Atomic cl_queue_properties props[RK_OCL_PROPS];

	/* Newest first, indices + 1: pushed by whoever enqueues. */
	_Alignas(RK_OCL_LINE) _Atomic uint32_t incoming;
	/* Of whoever has set `busy`: oldest first. */
	_Alignas(RK_OCL_LINE) _Atomic bool busy;
	uint32_t first, last;
	uint32_t done, ndone; /* recorded, but we still hold their events */
	_Atomic bool waiting; /* `first` or `done` is not 0: for threads that must not read them */
};

/* NULL for queues that we do not record. */
struct rk_ocl_queue *rk_ocl_queue_find(cl_command_queue handle);
/* Calls f for each queue that was made. */
void rk_ocl_queue_each(void (*f)(struct rk_ocl_queue *q, void *user), void *user);
void rk_ocl_queue_wrap(cl_icd_dispatch *d);

/* ---- kernels (ocl_kernel.c) ---- */

/* The shape to record for a launch; 0 when there is none. Sizes may be NULL. */
uint32_t rk_ocl_kernel_shape(cl_kernel handle, struct rk_ocl_queue *q, cl_command_queue queue,
			     cl_uint dims, const size_t *offset, const size_t *global,
			     const size_t *local);
void rk_ocl_kernel_wrap(cl_icd_dispatch *d);

/* ---- the other parts ---- */

void rk_ocl_command_wrap(cl_icd_dispatch *d); /* launches, markers, waiting: ocl_command.c */
void rk_ocl_copy_wrap(cl_icd_dispatch *d);    /* ocl_command.c */
void rk_ocl_build_wrap(cl_icd_dispatch *d);   /* ocl_kernel.c */
/* The command of this thread's current call, for the record of the call. */
void rk_ocl_api_note(uint64_t correlation);

/* The thread that records for applications that never wait (ocl_layer.c). */
void rk_ocl_helper_start(void);

#define RK_OCL_STRING(text) rk_rec_string((text), sizeof(text) - 1)

#endif
