/* cl_fake_runtime.c - see cl_fake.h. */
#include "cl_fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOUR_NS 3600000000000ll

struct fake fake = { .version = "OpenCL 1.2 fake" };

static cl_ulong device_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (cl_ulong)(t.tv_sec * 1000000000ll + t.tv_nsec + HOUR_NS);
}

static cl_int give(const void *value, size_t bytes, size_t cap, void *to, size_t *ret)
{
	if (to && cap < bytes)
		return CL_INVALID_VALUE;
	if (to)
		memcpy(to, value, bytes);
	if (ret)
		*ret = bytes;
	return CL_SUCCESS;
}

static cl_int misuse(void)
{
	fputs("cl-fake: a question that must not be asked here\n", stderr);
	exit(1);
}

static cl_int CL_API_CALL platform_ids(cl_uint cap, cl_platform_id *to, cl_uint *ret)
{
	if (to && cap)
		*to = FAKE_PLATFORM;
	if (ret)
		*ret = 1;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_info(cl_platform_id p, cl_platform_info what, size_t cap,
					void *to, size_t *ret)
{
	cl_ulong resolution = 1;

	(void)p;
	if (what == CL_PLATFORM_HOST_TIMER_RESOLUTION)
		return give(&resolution, sizeof(resolution), cap, to, ret);
	return give(fake.version, strlen(fake.version) + 1, cap, to, ret);
}

static cl_int CL_API_CALL device_info(cl_device_id d, cl_device_info what, size_t cap, void *to,
				      size_t *ret)
{
	cl_platform_id platform = FAKE_PLATFORM;
	cl_ulong number = CL_DEVICE_TYPE_GPU;
	cl_device_id parent = d == FAKE_PART ? FAKE_DEVICE : NULL;
	cl_uint small = 8;

	if (what == CL_DEVICE_PARENT_DEVICE)
		return give(&parent, sizeof(parent), cap, to, ret);
	if (what == CL_DEVICE_VENDOR_ID)
		return give(&fake.vendor, sizeof(fake.vendor), cap, to, ret);
	/* Each vendor's own question, to which all others must never have to answer. */
	if (what == 0x4043)
		return fake.vendor == FAKE_AMD ? give(&(cl_uint){ 64 }, 4, cap, to, ret) : misuse();
	if (what == 0x4003)
		return fake.vendor == FAKE_NVIDIA ? give(&(cl_uint){ 32 }, 4, cap, to, ret) :
						    misuse();
	if (what == 0x410f)
		return fake.vendor == FAKE_INTEL ?
			       give((cl_uint[]){ 1, 0x1a, 2, 0 }, 16, cap, to, ret) :
			       CL_INVALID_VALUE;
	if (what == 0x4037)
		return fake.vendor == FAKE_AMD ?
			       give((const char[24]){ 1, [21] = 0x1b, 3, 1 }, 24, cap, to, ret) :
			       misuse();
	if (what >= 0x4008 && what <= 0x400a) { /* bus, slot, domain */
		const cl_uint at[] = { 0x1c, 4 << 3, 5 };

		return fake.vendor == FAKE_NVIDIA ? give(&at[what - 0x4008], 4, cap, to, ret) :
						    misuse();
	}
	if (what == CL_DEVICE_PLATFORM)
		return give(&platform, sizeof(platform), cap, to, ret);
	if (what == CL_DEVICE_TYPE || what == CL_DEVICE_GLOBAL_MEM_SIZE)
		return give(&number, sizeof(number), cap, to, ret);
	if (what == CL_DEVICE_NAME || what == CL_DEVICE_VENDOR || what == CL_DRIVER_VERSION)
		return give("fake", 5, cap, to, ret);
	return give(&small, sizeof(small), cap, to, ret);
}

static cl_command_queue make_queue(cl_command_queue_properties properties, cl_int *ret)
{
	struct fake_queue *q = NULL;

	if (!fake.refuse_profiling || !(properties & CL_QUEUE_PROFILING_ENABLE))
		q = calloc(1, sizeof(*q));
	if (ret)
		*ret = q ? CL_SUCCESS : CL_INVALID_QUEUE_PROPERTIES;
	if (!q)
		return NULL;
	q->properties = properties;
	q->refs = 1;
	fake.made_queues++;
	return (cl_command_queue)q;
}

static cl_command_queue CL_API_CALL create(cl_context c, cl_device_id d,
					   cl_command_queue_properties properties, cl_int *ret)
{
	(void)c;
	(void)d;
	return make_queue(properties, ret);
}

static cl_command_queue CL_API_CALL create_listed(cl_context c, cl_device_id d,
						  const cl_queue_properties *list, cl_int *ret)
{
	cl_command_queue_properties properties = 0;

	for (; list && list[0]; list += 2) {
		if (list[0] == CL_QUEUE_PROPERTIES)
			properties = list[1];
	}
	return create(c, d, properties, ret);
}

static cl_int CL_API_CALL queue_info(cl_command_queue handle, cl_command_queue_info what,
				     size_t cap, void *to, size_t *ret)
{
	struct fake_queue *q = (struct fake_queue *)handle;

	if (what != CL_QUEUE_PROPERTIES)
		return CL_INVALID_VALUE;
	return give(&q->properties, sizeof(q->properties), cap, to, ret);
}

static cl_int CL_API_CALL set_property(cl_command_queue handle,
				       cl_command_queue_properties properties, cl_bool on,
				       cl_command_queue_properties *old)
{
	struct fake_queue *q = (struct fake_queue *)handle;

	if (old)
		*old = q->properties;
	q->properties = on ? q->properties | properties : q->properties & ~properties;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_queue(cl_command_queue handle)
{
	struct fake_queue *q = (struct fake_queue *)handle;

	if (--q->refs == 0)
		free(q);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event handle)
{
	struct fake_event *e = (struct fake_event *)handle;

	if (--e->refs)
		return CL_SUCCESS;
	release_queue((cl_command_queue)e->queue);
	free(e);
	fake.live_events--;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL retain_event(cl_event handle)
{
	((struct fake_event *)handle)->refs++;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL event_info(cl_event handle, cl_event_info what, size_t cap, void *to,
				     size_t *ret)
{
	struct fake_event *e = (struct fake_event *)handle;
	cl_int status = fake.hold ? CL_RUNNING : e->status;
	cl_uint refs = (cl_uint)e->refs;

	if (fake.waited && what == CL_EVENT_COMMAND_QUEUE)
		return misuse();
	if (what == CL_EVENT_COMMAND_EXECUTION_STATUS)
		return give(&status, sizeof(status), cap, to, ret);
	if (what == CL_EVENT_REFERENCE_COUNT)
		return give(&refs, sizeof(refs), cap, to, ret);
	return give(&e->queue, sizeof(e->queue), cap, to, ret);
}

static cl_int CL_API_CALL event_times(cl_event handle, cl_profiling_info what, size_t cap, void *to,
				      size_t *ret)
{
	struct fake_event *e = (struct fake_event *)handle;
	cl_ulong at = e->at + 100 * (what - CL_PROFILING_COMMAND_QUEUED);

	if (!(e->queue->properties & CL_QUEUE_PROFILING_ENABLE) || fake.without_times ||
	    fake.hold || e->status < 0)
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	if (fake.stale_times)
		at = what < CL_PROFILING_COMMAND_START ? 0 : 1000 * what;
	return give(&at, sizeof(at), cap, to, ret);
}

static cl_int CL_API_CALL ndrange(cl_command_queue handle, cl_kernel k, cl_uint dims,
				  const size_t *offset, const size_t *global, const size_t *local,
				  cl_uint nwait, const cl_event *wait, cl_event *event)
{
	struct fake_queue *q = (struct fake_queue *)handle;
	struct fake_event *e;

	(void)k, (void)dims, (void)offset, (void)global, (void)local, (void)nwait, (void)wait;
	if (!event)
		return CL_SUCCESS;
	e = calloc(1, sizeof(*e));
	if (!e)
		return CL_OUT_OF_HOST_MEMORY;
	e->queue = q;
	e->refs = 1;
	e->status = CL_COMPLETE;
	e->at = device_now();
	q->refs++;
	fake.live_events++;
	*event = (cl_event)e;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL finish(cl_command_queue q)
{
	(void)q;
	return CL_SUCCESS;
}

/* When it returns another thread may let go of the events at once. */
static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
	fake.waited = true;
	return n && events ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_kernel CL_API_CALL create_kernel(cl_program p, const char *name, cl_int *ret)
{
	(void)p;
	(void)name;
	if (ret)
		*ret = CL_SUCCESS;
	return FAKE_HANDLE(cl_kernel, 0x7000);
}

/* The name is all that is asked for. */
static cl_int CL_API_CALL kernel_info(cl_kernel k, cl_kernel_info what, size_t cap, void *to,
				      size_t *ret)
{
	static const char name[] = "fake";

	(void)k;
	if (what != CL_KERNEL_FUNCTION_NAME || (to && cap < sizeof(name)))
		return CL_INVALID_VALUE;
	if (to)
		memcpy(to, name, sizeof(name));
	if (ret)
		*ret = sizeof(name);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL work_group_info(cl_kernel k, cl_device_id d,
					  cl_kernel_work_group_info what, size_t cap, void *to,
					  size_t *ret)
{
	(void)k, (void)d;
	if (what == 0x425b)
		return fake.vendor == FAKE_INTEL ? give(&(cl_uint){ 128 }, 4, cap, to, ret) :
						   misuse();
	return CL_INVALID_VALUE;
}

static cl_int CL_API_CALL barrier(cl_command_queue q)
{
	return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

static cl_int CL_API_CALL marker(cl_command_queue q, cl_uint nwait, const cl_event *wait,
				 cl_event *event)
{
	return ndrange(q, NULL, 0, NULL, NULL, NULL, nwait, wait, event);
}

static cl_int CL_API_CALL wait_enqueued(cl_command_queue q, cl_uint n, const cl_event *events)
{
	(void)q;
	return n && events ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL kernel_info_amd(cl_kernel k, cl_device_id d, cl_uint what, size_t cap,
					  void *to, size_t *ret)
{
	(void)k, (void)d;
	return what == 13 ? give(&(size_t){ 84 }, sizeof(size_t), cap, to, ret) : misuse();
}

static cl_int CL_API_CALL timers(cl_device_id d, cl_ulong *device, cl_ulong *host)
{
	if (d != FAKE_DEVICE)
		return misuse();
	fake.timer_calls++;
	*device = device_now();
	*host = *device - (cl_ulong)HOUR_NS;
	return CL_SUCCESS;
}

static void *CL_API_CALL extension(cl_platform_id p, const char *name)
{
	cl_command_queue(CL_API_CALL * f)(cl_context, cl_device_id, const cl_queue_properties *,
					  cl_int *) = create_listed;
	cl_int(CL_API_CALL * info)(cl_kernel, cl_device_id, cl_uint, size_t, void *, size_t *) =
		kernel_info_amd;
	void *address = NULL;

	(void)p;
	if (!strcmp(name, "clCreateCommandQueueWithPropertiesKHR"))
		memcpy(&address, &f, sizeof(address));
	if (!strcmp(name, "clGetKernelInfoAMD") && fake.vendor == FAKE_AMD)
		memcpy(&address, &info, sizeof(address));
	return address;
}

static void *CL_API_CALL extension_anywhere(const char *name)
{
	return extension(NULL, name);
}

const cl_icd_dispatch fake_target = {
	.clGetPlatformIDs = platform_ids,
	.clGetPlatformInfo = platform_info,
	.clGetDeviceInfo = device_info,
	.clCreateCommandQueue = create,
	.clCreateCommandQueueWithProperties = create_listed,
	.clGetCommandQueueInfo = queue_info,
	.clSetCommandQueueProperty = set_property,
	.clReleaseCommandQueue = release_queue,
	.clReleaseEvent = release_event,
	.clRetainEvent = retain_event,
	.clGetEventInfo = event_info,
	.clGetEventProfilingInfo = event_times,
	.clEnqueueNDRangeKernel = ndrange,
	.clEnqueueMarkerWithWaitList = marker,
	.clEnqueueBarrier = barrier,
	.clEnqueueWaitForEvents = wait_enqueued,
	.clFinish = finish,
	.clCreateKernel = create_kernel,
	.clGetKernelInfo = kernel_info,
	.clGetKernelWorkGroupInfo = work_group_info,
	.clGetDeviceAndHostTimer = timers,
	.clGetExtensionFunctionAddressForPlatform = extension,
	.clGetExtensionFunctionAddress = extension_anywhere,
	.clWaitForEvents = wait_for,
};
