/*
 * ocl.h - the parts of the OpenCL layer to each other.
 *
 * The layer stands between the application and the runtime: `rk_ocl.target` is what the calls go on
 * to. Every command the application enqueues gets an event, its own or one of ours, that is kept in
 * a list of its queue; when the command is over, its four times are read from the event and written
 * to the flight recorder. That is done where the application waits anyway (clFinish and its like)
 * and by a thread of ours for those that never wait.
 *
 * Everything here may be called from any thread. Nothing on the way of a command takes a lock or
 * allocates: tables have a fixed size, and what has no room in them is counted as lost.
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

#define RK_OCL_LINE 64 /* bytes that two processors cannot write at a time */
#define RK_OCL_DEVICES 256
#define RK_OCL_QUEUES 4096
#define RK_OCL_KERNELS 32768
#define RK_OCL_PENDING (1u << 20) /* commands under way, of all queues together */
#define RK_OCL_MAPPINGS 1024
#define RK_OCL_PROPS 16 /* words of a queue's list of properties, its end included */

/* What is set once, before the first call can come. */
struct rk_ocl {
	cl_icd_dispatch target;
	cl_icd_dispatch inner; /* the target with our wrappers in place, below those of ocl_layer.c */
	bool api;              /* record every call */
	bool count_only;       /* for measuring: see commands, record none */
	bool alone;            /* for measuring: the application's threads do all of it */
};
extern struct rk_ocl rk_ocl;

/* ---- tables of handles (ocl_device.c) ---- */

/*
 * The place of `key` in an open-addressed table of `cap` keys (a power of two), or `cap` when it is
 * not there; claim: it is put there when there is room. A key is never taken out: runtimes give the
 * same address again, so that the table stays as small as the most handles at a time.
 */
uint32_t rk_ocl_slot(_Atomic(uintptr_t) *keys, uint32_t cap, const void *key, bool claim);

/* ---- devices and their clocks (ocl_device.c) ---- */

struct rk_ocl_device {
	_Atomic uint32_t number; /* from 1 in the order of their coming; 0: free */
	_Atomic uint32_t id;     /* of the recorder; 0: not described yet */
	_Atomic uint32_t asked;  /* commands seen, to take a sample of the clock now and then */
	_Atomic bool has_timer;  /* clGetDeviceAndHostTimer() works */
	_Atomic(void *) suggest; /* clGetKernelSuggestedLocalWorkSizeKHR, or NULL */
	_Atomic(void *) amd;     /* clGetKernelInfoAMD, or NULL */
	_Atomic bool intel;      /* it knows Intel's questions about kernels */
	/* Whose timer is read: sub-devices can be let go, what they are parts of cannot. */
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
/* Should the next command of the device be bracketed by host times? Often at first, then seldom. */
bool rk_ocl_device_due(struct rk_ocl_device *d);
/* The device's clock read device_ns at some time from before_ns on, width_ns long. */
void rk_ocl_device_sample(struct rk_ocl_device *d, int64_t device_ns, int64_t before_ns,
			  int64_t width_ns);
/* Writes what is known of each device's clock; `last` for the end of the program. */
void rk_ocl_device_calibrate_all(bool last);
void rk_ocl_device_forked(void);

/* ---- commands under way (ocl_pending.c) ---- */

enum rk_ocl_kind { RK_OCL_KERNEL, RK_OCL_COPY, RK_OCL_SYNC };

struct rk_ocl_queue;

/* A command from the call that enqueues it to its record. */
struct rk_ocl_command {
	struct rk_ocl_queue *queue; /* NULL: not recorded */
	cl_event own;
	cl_event *asked;   /* where the application wants its event, or NULL */
	cl_event *event;   /* what to hand to the runtime */
	int64_t before_ns; /* 0: no sample of the clock is taken */
	bool missed;       /* of a queue that there was no place for: counts as lost */
};

/* What it is, told at the end because only a call that succeeded is looked into. */
struct rk_ocl_what {
	enum rk_ocl_kind kind;
	uint32_t id;        /* shape or string of the recorder */
	uint32_t direction; /* of copies */
	uint64_t bytes;
};

/* Before the call. `asked` may be NULL. */
void rk_ocl_begin(struct rk_ocl_command *c, cl_command_queue queue, cl_event *asked);
/* After it: keeps the event, gives the application its own, returns rc. `what` may be NULL when rc
 * is not CL_SUCCESS or c->queue is NULL. */
cl_int rk_ocl_end(struct rk_ocl_command *c, cl_int rc, const struct rk_ocl_what *what);

/* A marker whose call has no event, on the host's clock: from before_ns to now. */
void rk_ocl_passed(cl_command_queue queue, uint32_t name, int64_t before_ns);

/* Records what is over; `all`: looks behind the commands of in-order queues that are not, too. */
void rk_ocl_harvest(struct rk_ocl_queue *q, bool all);
void rk_ocl_harvest_queues(void); /* all of all queues */
/* Some of each queue; true when there may be more. */
bool rk_ocl_harvest_piece(void);
/* Do we hold a reference on the event at the moment? */
bool rk_ocl_holds(struct rk_ocl_queue *q, cl_event event);
bool rk_ocl_under_way(void); /* is there anything to harvest, or soon? */
bool rk_ocl_pending_init(void);
void rk_ocl_pending_forked(void);

/* ---- queues (ocl_queue.c) ---- */

struct rk_ocl_queue {
	_Atomic uint32_t id; /* of the recorder; 0: commands of it are not recorded */
	_Atomic bool listed; /* it is in the list of those that rk_ocl_queue_each() visits */
	_Atomic(struct rk_ocl_device *) device;
	_Atomic cl_command_queue_properties asked; /* as the application sees them */
	_Atomic bool profiled;                     /* the runtime takes times */
	_Atomic bool by_flags;                     /* made by OpenCL 1's function */
	_Atomic uint32_t nprops;                   /* words of props; 0: it gave no list */
	_Atomic cl_queue_properties props[RK_OCL_PROPS];

	/* Newest first, indices + 1: pushed by whoever enqueues. */
	_Alignas(RK_OCL_LINE) _Atomic uint32_t incoming;
	/* Of whoever has set `busy`: oldest first. */
	_Alignas(RK_OCL_LINE) _Atomic bool busy;
	uint32_t first, last;
	uint32_t done, ndone; /* recorded, but their events are still ours */
	_Atomic bool waiting; /* `first` or `done` is not 0: for those who may not look */
};

/* NULL for queues that are not ours to record. */
struct rk_ocl_queue *rk_ocl_queue_find(cl_command_queue handle);
/* Calls f for each queue that was made. */
void rk_ocl_queue_each(void (*f)(struct rk_ocl_queue *q, void *user), void *user);
/* The function in front of an extension's, or `there` itself. */
void *rk_ocl_queue_extension(cl_platform_id platform, const char *name, void *there);
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
/* The command of the call that this thread is in, for the record of the call. */
void rk_ocl_api_note(uint64_t correlation);

/* The thread that records for those who never wait (ocl_layer.c). */
void rk_ocl_helper_start(void);

#define RK_OCL_STRING(text) rk_rec_string((text), sizeof(text) - 1)

#endif
