/*
 * ocl_queue.c - see ocl.h: enable profiling of queues without the application noticing.
 *
 * A queue that the application created without profiling still looks that way: in its properties,
 * and in the times of its events, which are "not available". Device queues, and queues that the
 * runtime refuses to create with profiling, are left alone.
 */
#include <string.h>

#include "ocl.h"

#define PROFILING ((cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE)
#define PLATFORMS 16

static _Atomic(uintptr_t) keys[RK_OCL_QUEUES];
static struct rk_ocl_queue queues[RK_OCL_QUEUES];
/* Queues that were ever used, to visit them without scanning the whole table. */
static _Atomic(struct rk_ocl_queue *) order[RK_OCL_QUEUES];
static _Atomic uint32_t norder;
static _Atomic uint32_t nnumbers;
static _Atomic bool any_forced;

/* clCreateCommandQueueWithPropertiesKHR, by platform. */
typedef cl_command_queue(CL_API_CALL *create_khr)(cl_context, cl_device_id,
						  const cl_queue_properties *, cl_int *);
static _Atomic(uintptr_t) khr_keys[PLATFORMS];
static _Atomic(create_khr) khr_there[PLATFORMS];
static _Atomic(create_khr) khr_any; /* from OpenCL 1.1's query, which has no platform */

struct rk_ocl_queue *rk_ocl_queue_find(cl_command_queue handle)
{
	uint32_t at = rk_ocl_slot(keys, RK_OCL_QUEUES, handle, false);

	return at == RK_OCL_QUEUES ? NULL : &queues[at];
}

void rk_ocl_queue_each(void (*f)(struct rk_ocl_queue *q, void *user), void *user)
{
	uint32_t n = atomic_load(&norder);

	for (uint32_t i = 0; i < n && i < RK_OCL_QUEUES; i++) {
		struct rk_ocl_queue *q = atomic_load(&order[i]);

		if (q)
			f(q, user);
	}
}

/* ---- creation ---- */

/* A queue as requested by the application: with flags, or with a list that may be NULL. */
struct wish {
	cl_device_id device;
	cl_command_queue_properties asked;
	bool by_flags;
	const cl_queue_properties *props;
	uint32_t nprops;
};

static uint32_t define(struct rk_ocl_queue *q)
{
	uint64_t epoch = rk_rec_epoch();
	uint32_t id = rk_rec_queue(atomic_load(&atomic_load(&q->device)->id),
				   atomic_load(&q->number), atomic_load(&q->flags));

	atomic_store_explicit(&q->id, id ? epoch << 32 | id : 0, memory_order_relaxed);
	return id;
}

uint32_t rk_ocl_queue_id(struct rk_ocl_queue *q)
{
	uint64_t id = atomic_load_explicit(&q->id, memory_order_relaxed);

	return !id || id >> 32 == rk_rec_epoch() ? (uint32_t)id : define(q);
}

/* The runtime has created a queue. `forced`: with profiling that was not requested. */
static bool adopt(cl_command_queue handle, const struct wish *w, bool forced)
{
	uint32_t at = rk_ocl_slot(keys, RK_OCL_QUEUES, handle, true);
	struct rk_ocl_device *d = rk_ocl_device_get(w->device);
	uint32_t flags = 0;

	if (at == RK_OCL_QUEUES || !d)
		return false;
	if (w->asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
		flags |= RK_REC_OUT_OF_ORDER;
	if (forced)
		flags |= RK_REC_PROFILING_FORCED;
	struct rk_ocl_queue *q = &queues[at];
	atomic_store(&q->device, d);
	atomic_store(&q->asked, w->asked);
	atomic_store(&q->profiled, forced || (w->asked & PROFILING));
	atomic_store(&q->by_flags, w->by_flags);
	for (uint32_t i = 0; i < w->nprops; i++)
		atomic_store(&q->props[i], w->props[i]);
	atomic_store(&q->nprops, w->nprops);
	atomic_store(&q->number, atomic_fetch_add(&nnumbers, 1));
	atomic_store(&q->flags, flags);
	define(q);
	if (!atomic_exchange(&q->listed, true))
		atomic_store(&order[atomic_fetch_add(&norder, 1)], q);
	if (forced)
		atomic_store(&any_forced, true);
	rk_ocl_helper_start();
	return true;
}

/*
 * A queue that does not fit in the table cannot have hidden profiling: we could not restore its
 * answers.
 */
static cl_command_queue adopt_or_drop(cl_command_queue handle, const struct wish *w)
{
	if (!handle || adopt(handle, w, true))
		return handle;
	rk_ocl.target.clReleaseCommandQueue(handle);
	return NULL;
}

static bool may_force(cl_command_queue_properties asked)
{
	return rk_rec_on() && (rk_ocl.queues_from_start || rk_rec_awake()) &&
	       !(asked & (PROFILING | CL_QUEUE_ON_DEVICE));
}

static cl_command_queue CL_API_CALL create(cl_context context, cl_device_id device,
					   cl_command_queue_properties asked, cl_int *ret)
{
	struct wish w = { .device = device, .asked = asked, .by_flags = true };
	cl_int rc = CL_SUCCESS;
	cl_command_queue q = NULL;

	if (may_force(asked)) {
		q = rk_ocl.target.clCreateCommandQueue(context, device, asked | PROFILING, &rc);
		q = adopt_or_drop(q, &w);
	}
	if (!q) {
		q = rk_ocl.target.clCreateCommandQueue(context, device, asked, &rc);
		if (q)
			adopt(q, &w, false);
	}
	if (ret)
		*ret = rc;
	return q;
}

/*
 * Writes the list with profiling added to `out`, which has RK_OCL_PROPS + 2 words, and what the
 * list requests to *w. False if it is too long.
 */
static bool edit_list(const cl_queue_properties *list, cl_queue_properties *out, struct wish *w)
{
	uint32_t n = 0;
	bool have = false;

	for (; list && list[n]; n += 2) {
		if (n + 3 > RK_OCL_PROPS)
			return false;
		out[n] = list[n];
		out[n + 1] = list[n + 1];
		if (list[n] == CL_QUEUE_PROPERTIES) {
			w->asked = list[n + 1];
			out[n + 1] |= PROFILING;
			have = true;
		}
	}
	w->nprops = list ? n + 1 : 0;
	if (!have) {
		out[n++] = CL_QUEUE_PROPERTIES;
		out[n++] = PROFILING;
	}
	out[n] = 0;
	return true;
}

static cl_command_queue create_listed(create_khr there, cl_context context, cl_device_id device,
				      const cl_queue_properties *list, cl_int *ret)
{
	cl_queue_properties edited[RK_OCL_PROPS + 2];
	struct wish w = { .device = device, .props = list };
	bool known = edit_list(list, edited, &w);
	cl_int rc = CL_SUCCESS;
	cl_command_queue q = NULL;

	if (known && may_force(w.asked)) {
		q = there(context, device, edited, &rc);
		q = adopt_or_drop(q, &w);
	}
	if (!q) {
		q = there(context, device, list, &rc);
		if (q && known && !(w.asked & CL_QUEUE_ON_DEVICE))
			adopt(q, &w, false);
	}
	if (ret)
		*ret = rc;
	return q;
}

static cl_command_queue CL_API_CALL create_with_properties(cl_context context, cl_device_id device,
							   const cl_queue_properties *list,
							   cl_int *ret)
{
	return create_listed(rk_ocl.target.clCreateCommandQueueWithProperties, context, device,
			     list, ret);
}

/* cl_khr_create_command_queue's function comes from the device's platform. */
static cl_command_queue CL_API_CALL create_khr_here(cl_context context, cl_device_id device,
						    const cl_queue_properties *list, cl_int *ret)
{
	cl_platform_id platform = NULL;
	create_khr there;
	uint32_t at;

	rk_ocl.target.clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform,
				      NULL);
	at = rk_ocl_slot(khr_keys, PLATFORMS, platform, false);
	there = at < PLATFORMS ? atomic_load(&khr_there[at]) : NULL;
	if (!there)
		there = atomic_load(&khr_any);
	if (there)
		return create_listed(there, context, device, list, ret);
	if (ret)
		*ret = CL_INVALID_DEVICE;
	return NULL;
}

/* Our wrapper of an extension's function, or `there` itself. */
static void *wrap_extension(cl_platform_id platform, const char *name, void *there)
{
	create_khr original = NULL, here = create_khr_here;
	uint32_t at;

	if (!there || !name || strcmp(name, "clCreateCommandQueueWithPropertiesKHR") != 0)
		return there;
	at = rk_ocl_slot(khr_keys, PLATFORMS, platform, true);
	if (platform && at == PLATFORMS)
		return there;
	memcpy(&original, &there, sizeof(original));
	atomic_store(platform ? &khr_there[at] : &khr_any, original);
	memcpy(&there, &here, sizeof(there));
	return there;
}

/* ---- queries ---- */

/*
 * Creates a queue exactly as the application requested it, for queries whose answers differ between
 * runtimes: what an empty list is, and whether a queue created by OpenCL 1's function has one.
 */
static cl_command_queue make_twin(struct rk_ocl_queue *q, cl_command_queue handle)
{
	cl_queue_properties list[RK_OCL_PROPS] = { 0 };
	uint32_t n = atomic_load(&q->nprops);
	cl_context context = NULL;
	cl_device_id device = NULL;

	for (uint32_t i = 0; i < n; i++)
		list[i] = atomic_load(&q->props[i]);
	rk_ocl.target.clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof(context), &context,
					    NULL);
	rk_ocl.target.clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof(device), &device, NULL);
	if (atomic_load(&q->by_flags))
		return rk_ocl.target.clCreateCommandQueue(context, device, atomic_load(&q->asked),
							  NULL);
	return rk_ocl.target.clCreateCommandQueueWithProperties(context, device, n ? list : NULL,
								NULL);
}

/* Does the queue have more properties than the application requested? */
static bool hides(struct rk_ocl_queue *q)
{
	return q && atomic_load(&q->profiled) && !(atomic_load(&q->asked) & PROFILING);
}

static cl_int CL_API_CALL get_info(cl_command_queue handle, cl_command_queue_info what, size_t cap,
				   void *to, size_t *ret_bytes)
{
	struct rk_ocl_queue *q = rk_ocl_queue_find(handle);
	cl_command_queue_properties asked;
	cl_command_queue twin;
	cl_int rc;

	/* Events that we hold count as references. */
	if (q && what == CL_QUEUE_REFERENCE_COUNT)
		rk_ocl_harvest(q, true);
	if (hides(q) && what == CL_QUEUE_PROPERTIES) {
		asked = atomic_load(&q->asked);
		if (to && cap < sizeof(asked))
			return CL_INVALID_VALUE;
		if (to)
			memcpy(to, &asked, sizeof(asked));
		if (ret_bytes)
			*ret_bytes = sizeof(asked);
		return CL_SUCCESS;
	}
	/* If the runtime does not support the query, we must not answer it. */
	if (hides(q) && what == CL_QUEUE_PROPERTIES_ARRAY &&
	    rk_ocl.target.clGetCommandQueueInfo(handle, what, 0, NULL, NULL) == CL_SUCCESS) {
		twin = make_twin(q, handle);
		if (!twin)
			return CL_OUT_OF_HOST_MEMORY;
		rc = rk_ocl.target.clGetCommandQueueInfo(twin, what, cap, to, ret_bytes);
		rk_ocl.target.clReleaseCommandQueue(twin);
		return rc;
	}
	return rk_ocl.target.clGetCommandQueueInfo(handle, what, cap, to, ret_bytes);
}

/* OpenCL 1.0: properties can be changed. We never let profiling be disabled. */
static cl_int CL_API_CALL set_property(cl_command_queue handle,
				       cl_command_queue_properties properties, cl_bool enable,
				       cl_command_queue_properties *old)
{
	struct rk_ocl_queue *q = rk_ocl_queue_find(handle);
	cl_command_queue_properties was, below = properties;
	cl_int rc;

	if (!q)
		return rk_ocl.target.clSetCommandQueueProperty(handle, properties, enable, old);
	was = atomic_load(&q->asked);
	if (!enable)
		below &= ~PROFILING;
	rc = rk_ocl.target.clSetCommandQueueProperty(handle, below, enable, old);
	if (rc != CL_SUCCESS)
		return rc;
	atomic_store(&q->asked, enable ? was | properties : was & ~properties);
	if (enable && (properties & PROFILING))
		atomic_store(&q->profiled, true);
	if (atomic_load(&q->profiled))
		atomic_store(&any_forced, true);
	if (old)
		*old = was;
	return rc;
}

static cl_int CL_API_CALL get_event_times(cl_event event, cl_profiling_info what, size_t cap,
					  void *to, size_t *ret_bytes)
{
	cl_command_queue handle = NULL;

	if (atomic_load_explicit(&any_forced, memory_order_relaxed) &&
	    rk_ocl.target.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(handle), &handle,
					 NULL) == CL_SUCCESS &&
	    hides(rk_ocl_queue_find(handle)))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return rk_ocl.target.clGetEventProfilingInfo(event, what, cap, to, ret_bytes);
}

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info what, size_t cap, void *to,
					 size_t *ret_bytes)
{
	cl_command_queue handle = NULL;
	struct rk_ocl_queue *q;
	cl_int rc = rk_ocl.target.clGetEventInfo(event, what, cap, to, ret_bytes);

	if (rc != CL_SUCCESS || what != CL_EVENT_REFERENCE_COUNT || !to || cap < sizeof(cl_uint))
		return rc;
	rk_ocl.target.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(handle), &handle, NULL);
	q = rk_ocl_queue_find(handle);
	if (q && rk_ocl_holds(q, event))
		*(cl_uint *)to -= 1;
	return rc;
}

/* Events that we hold keep the queue alive, so release those of ended commands first. */
static cl_int CL_API_CALL release(cl_command_queue handle)
{
	struct rk_ocl_queue *q = rk_ocl_queue_find(handle);

	if (q)
		rk_ocl_harvest(q, true);
	return rk_ocl.target.clReleaseCommandQueue(handle);
}

static cl_int CL_API_CALL release_context(cl_context context)
{
	rk_ocl_harvest_queues();
	return rk_ocl.target.clReleaseContext(context);
}

static cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info what, size_t cap,
					   void *to, size_t *ret_bytes)
{
	if (what == CL_CONTEXT_REFERENCE_COUNT)
		rk_ocl_harvest_queues();
	return rk_ocl.target.clGetContextInfo(context, what, cap, to, ret_bytes);
}

static void *CL_API_CALL extension_for(cl_platform_id platform, const char *name)
{
	return wrap_extension(platform, name,
			      rk_ocl.target.clGetExtensionFunctionAddressForPlatform(platform,
										     name));
}

static void *CL_API_CALL extension(const char *name)
{
	return wrap_extension(NULL, name, rk_ocl.target.clGetExtensionFunctionAddress(name));
}

void rk_ocl_queue_wrap(cl_icd_dispatch *d)
{
	d->clCreateCommandQueue = create;
	d->clCreateCommandQueueWithProperties = create_with_properties;
	d->clGetCommandQueueInfo = get_info;
	d->clSetCommandQueueProperty = set_property;
	d->clGetEventProfilingInfo = get_event_times;
	d->clGetEventInfo = get_event_info;
	d->clReleaseCommandQueue = release;
	d->clReleaseContext = release_context;
	d->clGetContextInfo = get_context_info;
	d->clGetExtensionFunctionAddressForPlatform = extension_for;
	d->clGetExtensionFunctionAddress = extension;
}
