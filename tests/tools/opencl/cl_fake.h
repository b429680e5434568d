/*
 * cl_fake.h - a fake runtime, for what no real one here does: queues that change,
 * creation that is refused, a timer, commands that never end, millions of launches.
 *
 * Time of its device: CLOCK_BOOTTIME and an hour.
 */
#ifndef CL_FAKE_H
#define CL_FAKE_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>

#include <stdatomic.h>
#include <stdbool.h>

#define FAKE_AMD 0x1002
#define FAKE_NVIDIA 0x10de
#define FAKE_INTEL 0x8086
#define FAKE_HANDLE(type, n) ((type)(uintptr_t)(n))
#define FAKE_PLATFORM FAKE_HANDLE(cl_platform_id, 0x10)
#define FAKE_DEVICE FAKE_HANDLE(cl_device_id, 0x20)
#define FAKE_PART FAKE_HANDLE(cl_device_id, 0x30) /* a sub-device, which can be let go */

struct fake_queue {
	cl_command_queue_properties properties;
	atomic_int refs;
};

struct fake_event {
	struct fake_queue *queue;
	atomic_int refs;
	_Atomic cl_int status;
	cl_ulong at;
};

struct fake {
	bool refuse_profiling;     /* when queues are made */
	atomic_bool hold;          /* commands do not end */
	atomic_bool without_times; /* commands that are over say "not available" */
	atomic_bool stale_times;   /* no time of queueing, and anything in the others */
	const char *version;
	cl_uint vendor;     /* of PCI */
	atomic_bool waited; /* nobody may look at events any more */
	atomic_int timer_calls, live_events, made_queues;
};
extern struct fake fake;

extern const cl_icd_dispatch fake_target;

#endif
