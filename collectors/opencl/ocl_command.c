/* ocl_command.c - see ocl.h: launches, markers and barriers, the calls that wait, copies. */
#include "ocl.h"

#define WAITED 16 /* max queues handled in one wait call */

/* ---- launches ---- */

static cl_int CL_API_CALL ndrange(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
				  const size_t *offset, const size_t *global, const size_t *local,
				  cl_uint nwait, const cl_event *wait, cl_event *event)
{
	struct rk_ocl_command c;
	struct rk_ocl_what what = { .kind = RK_OCL_KERNEL };
	cl_int rc;

	rk_ocl_begin(&c, queue, event);
	rc = rk_ocl.target.clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, nwait,
						  wait, c.event);
	if (rc == CL_SUCCESS && c.queue)
		what.shape =
			rk_ocl_kernel_shape(kernel, c.queue, queue, dims, offset, global, local);
	return rk_ocl_end(&c, rc, &what);
}

static cl_int CL_API_CALL task(cl_command_queue queue, cl_kernel kernel, cl_uint nwait,
			       const cl_event *wait, cl_event *event)
{
	static const size_t one = 1;
	struct rk_ocl_command c;
	struct rk_ocl_what what = { .kind = RK_OCL_KERNEL };
	cl_int rc;

	rk_ocl_begin(&c, queue, event);
	rc = rk_ocl.target.clEnqueueTask(queue, kernel, nwait, wait, c.event);
	if (rc == CL_SUCCESS && c.queue)
		what.shape = rk_ocl_kernel_shape(kernel, c.queue, queue, 1, NULL, &one, &one);
	return rk_ocl_end(&c, rc, &what);
}

/* A host function of the application. Recorded as a kernel with one work-item. */
static cl_int CL_API_CALL native(cl_command_queue queue, void(CL_CALLBACK *f)(void *), void *args,
				 size_t size, cl_uint nmem, const cl_mem *mem, const void **where,
				 cl_uint nwait, const cl_event *wait, cl_event *event)
{
	struct rk_rec_function function = { .regs = RK_REC_UNKNOWN,
					    .private_bytes = RK_REC_UNKNOWN,
					    .local_bytes = RK_REC_UNKNOWN };
	struct rk_rec_shape shape = { .local_bytes = RK_REC_UNKNOWN,
				      .items = { 1, 1, 1 },
				      .group = { 1, 1, 1 } };
	struct rk_ocl_what what = { .kind = RK_OCL_KERNEL };
	struct rk_ocl_command c;
	cl_int rc;

	rk_ocl_begin(&c, queue, event);
	rc = rk_ocl.target.clEnqueueNativeKernel(queue, f, args, size, nmem, mem, where, nwait,
						 wait, c.event);
	if (rc == CL_SUCCESS && c.queue) {
		function.name = RK_OCL_STRING("<native kernel>");
		shape.function = rk_rec_function(&function);
		what.shape = rk_rec_shape(&shape);
	}
	return rk_ocl_end(&c, rc, &what);
}

/* ---- markers and barriers ---- */

/* `name` must stay: it is looked up when the command has ended. */
static cl_int end_sync(struct rk_ocl_command *c, cl_int rc, const char *name)
{
	struct rk_ocl_what what = { .kind = RK_OCL_SYNC, .name = name };

	return rk_ocl_end(c, rc, &what);
}

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_event *event)
{
	struct rk_ocl_command c;

	/* without an event the runtime must report the error */
	if (!event)
		return rk_ocl.target.clEnqueueMarker(queue, event);
	rk_ocl_begin(&c, queue, event);
	return end_sync(&c, rk_ocl.target.clEnqueueMarker(queue, c.event), "clEnqueueMarker");
}

static cl_int CL_API_CALL marker_wait(cl_command_queue queue, cl_uint nwait, const cl_event *wait,
				      cl_event *event)
{
	struct rk_ocl_command c;

	rk_ocl_begin(&c, queue, event);
	return end_sync(&c, rk_ocl.target.clEnqueueMarkerWithWaitList(queue, nwait, wait, c.event),
			"clEnqueueMarkerWithWaitList");
}

static cl_int CL_API_CALL barrier_wait(cl_command_queue queue, cl_uint nwait, const cl_event *wait,
				       cl_event *event)
{
	struct rk_ocl_command c;

	rk_ocl_begin(&c, queue, event);
	return end_sync(&c, rk_ocl.target.clEnqueueBarrierWithWaitList(queue, nwait, wait, c.event),
			"clEnqueueBarrierWithWaitList");
}

/* Two old calls have no event, so there are no device times: we record the duration of the call. */

static cl_int CL_API_CALL barrier(cl_command_queue queue)
{
	int64_t before_ns = rk_rec_awake() ? rk_rec_now() : 0;
	cl_int rc = rk_ocl.target.clEnqueueBarrier(queue);

	if (rc == CL_SUCCESS && before_ns)
		rk_ocl_passed(queue, RK_OCL_STRING("clEnqueueBarrier"), before_ns);
	return rc;
}

static cl_int CL_API_CALL wait_enqueued(cl_command_queue queue, cl_uint n, const cl_event *events)
{
	int64_t before_ns = rk_rec_awake() ? rk_rec_now() : 0;
	cl_int rc = rk_ocl.target.clEnqueueWaitForEvents(queue, n, events);

	if (rc == CL_SUCCESS && before_ns)
		rk_ocl_passed(queue, RK_OCL_STRING("clEnqueueWaitForEvents"), before_ns);
	return rc;
}

static cl_int CL_API_CALL svm_free(cl_command_queue queue, cl_uint n, void **pointers,
				   void(CL_CALLBACK *f)(cl_command_queue, cl_uint, void **, void *),
				   void *user, cl_uint nwait, const cl_event *wait, cl_event *event)
{
	struct rk_ocl_command c;

	rk_ocl_begin(&c, queue, event);
	return end_sync(&c,
			rk_ocl.target.clEnqueueSVMFree(queue, n, pointers, f, user, nwait, wait,
						       c.event),
			"clEnqueueSVMFree");
}

/* ---- waiting: when these calls return, the commands have ended and are recorded ---- */

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	cl_int rc = rk_ocl.target.clFinish(queue);
	struct rk_ocl_queue *q = rk_ocl_queue_find(queue);

	if (q)
		rk_ocl_harvest(q, false);
	return rc;
}

static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
	struct rk_ocl_queue *queues[WAITED];
	uint32_t found = 0;
	cl_int rc;

	if (!rk_rec_awake() && !rk_ocl_under_way())
		return rk_ocl.target.clWaitForEvents(n, events);
	/*
	 * Look up the queues before the call: afterwards another thread may have released the
	 * events. Queues that do not fit are left to our thread.
	 */
	for (cl_uint i = 0; events && i < n && found < WAITED; i++) {
		cl_command_queue queue = NULL;
		struct rk_ocl_queue *q;

		rk_ocl.target.clGetEventInfo(events[i], CL_EVENT_COMMAND_QUEUE, sizeof(queue),
					     &queue, NULL);
		q = rk_ocl_queue_find(queue);
		if (q && (!found || q != queues[found - 1]))
			queues[found++] = q;
	}
	rc = rk_ocl.target.clWaitForEvents(n, events);
	for (uint32_t i = 0; i < found; i++)
		rk_ocl_harvest(queues[i], false);
	return rc;
}

void rk_ocl_command_wrap(cl_icd_dispatch *d)
{
	d->clEnqueueNDRangeKernel = ndrange;
	d->clEnqueueTask = task;
	d->clEnqueueNativeKernel = native;
	d->clEnqueueMarker = marker;
	d->clEnqueueMarkerWithWaitList = marker_wait;
	d->clEnqueueBarrierWithWaitList = barrier_wait;
	d->clEnqueueBarrier = barrier;
	d->clEnqueueWaitForEvents = wait_enqueued;
	d->clEnqueueSVMFree = svm_free;
	d->clFinish = finish;
	d->clWaitForEvents = wait_for;
}

/* ---- commands that copy or fill memory, with bytes and direction ---- */

/* ---- bytes ---- */

static uint64_t region_items(const size_t *region)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

static uint64_t image_bytes(cl_mem image, const size_t *region)
{
	size_t element = 0;

	rk_ocl.target.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(element), &element, NULL);
	return region_items(region) * element;
}

static uint64_t objects_bytes(cl_uint n, const cl_mem *objects)
{
	uint64_t sum = 0;

	for (cl_uint i = 0; objects && i < n; i++) {
		size_t bytes = 0;

		rk_ocl.target.clGetMemObjectInfo(objects[i], CL_MEM_SIZE, sizeof(bytes), &bytes,
						 NULL);
		sum += bytes;
	}
	return sum;
}

static uint64_t sizes_sum(cl_uint n, const size_t *sizes)
{
	uint64_t sum = 0;

	for (cl_uint i = 0; sizes && i < n; i++)
		sum += sizes[i];
	return sum;
}

/*
 * How many bytes are mapped at each address, because the unmap call has no size. A table indexed by
 * address; on a collision the newer entry wins and the other mapping is recorded with 0 bytes.
 */
static _Atomic(uintptr_t) mapped_at[RK_OCL_MAPPINGS];
static _Atomic uint64_t mapped_bytes[RK_OCL_MAPPINGS];

static uint32_t mapping(const void *at)
{
	return (uint32_t)(((uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15)) >> 40) % RK_OCL_MAPPINGS;
}

static void note_mapping(const void *at, uint64_t bytes)
{
	uint32_t i = mapping(at);

	atomic_store(&mapped_at[i], 0);
	atomic_store(&mapped_bytes[i], bytes);
	atomic_store(&mapped_at[i], (uintptr_t)at);
}

static uint64_t mapping_bytes(const void *at)
{
	uint32_t i = mapping(at);
	uint64_t bytes = atomic_load(&mapped_bytes[i]);

	return atomic_load(&mapped_at[i]) == (uintptr_t)at ? bytes : 0;
}

/* ---- common code ---- */

/* The end of a call. `blocking`: the command has ended and is recorded before the call returns. */
static cl_int end_copy(struct rk_ocl_command *c, cl_int rc, enum rk_rec_direction direction,
		       uint64_t bytes, cl_bool blocking)
{
	struct rk_ocl_queue *q = c->queue;
	struct rk_ocl_what what = { .kind = RK_OCL_COPY,
				    .direction = (uint32_t)direction,
				    .bytes = bytes };

	rc = rk_ocl_end(c, rc, &what);
	if (blocking && rc == CL_SUCCESS && q)
		rk_ocl_harvest(q, false);
	return rc;
}

#define PARAMS(...) (cl_command_queue queue, __VA_ARGS__, WAITING)
#define WAITING cl_uint nwait, const cl_event *wait, cl_event *event
#define ARGS(...) (queue, __VA_ARGS__, nwait, wait, c.event)
#define NOT_BLOCKING CL_FALSE

/*
 * Our wrapper of clEnqueue##name: its parameters and arguments between the queue and the event
 * list, the direction, and an expression for the bytes, which is evaluated only if the call
 * succeeded.
 */
#define COPY(name, params, args, direction, bytes, blocking)                                  \
	static cl_int CL_API_CALL copy_##name params                                          \
	{                                                                                     \
		struct rk_ocl_command c;                                                      \
		cl_int rc;                                                                    \
                                                                                              \
		rk_ocl_begin(&c, queue, event);                                               \
		rc = rk_ocl.target.clEnqueue##name args;                                      \
		return end_copy(&c, rc, direction, rc == CL_SUCCESS && c.queue ? (bytes) : 0, \
				blocking);                                                    \
	}

/* ---- buffers ---- */

COPY(ReadBuffer, PARAMS(cl_mem mem, cl_bool blocking, size_t offset, size_t size, void *to),
     ARGS(mem, blocking, offset, size, to), RK_REC_DEVICE_TO_HOST, size, blocking)
COPY(WriteBuffer,
     PARAMS(cl_mem mem, cl_bool blocking, size_t offset, size_t size, const void *from),
     ARGS(mem, blocking, offset, size, from), RK_REC_HOST_TO_DEVICE, size, blocking)
COPY(CopyBuffer, PARAMS(cl_mem from, cl_mem to, size_t from_at, size_t to_at, size_t size),
     ARGS(from, to, from_at, to_at, size), RK_REC_DEVICE_TO_DEVICE, size, NOT_BLOCKING)
COPY(FillBuffer,
     PARAMS(cl_mem mem, const void *pattern, size_t pattern_size, size_t offset, size_t size),
     ARGS(mem, pattern, pattern_size, offset, size), RK_REC_FILL, size, NOT_BLOCKING)
COPY(ReadBufferRect,
     PARAMS(cl_mem mem, cl_bool blocking, const size_t *at, const size_t *host_at,
	    const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
	    void *to),
     ARGS(mem, blocking, at, host_at, region, row, slice, host_row, host_slice, to),
     RK_REC_DEVICE_TO_HOST, region_items(region), blocking)
COPY(WriteBufferRect,
     PARAMS(cl_mem mem, cl_bool blocking, const size_t *at, const size_t *host_at,
	    const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,
	    const void *from),
     ARGS(mem, blocking, at, host_at, region, row, slice, host_row, host_slice, from),
     RK_REC_HOST_TO_DEVICE, region_items(region), blocking)
COPY(CopyBufferRect,
     PARAMS(cl_mem from, cl_mem to, const size_t *from_at, const size_t *to_at,
	    const size_t *region, size_t from_row, size_t from_slice, size_t to_row,
	    size_t to_slice),
     ARGS(from, to, from_at, to_at, region, from_row, from_slice, to_row, to_slice),
     RK_REC_DEVICE_TO_DEVICE, region_items(region), NOT_BLOCKING)

/* ---- images ---- */

COPY(ReadImage,
     PARAMS(cl_mem image, cl_bool blocking, const size_t *at, const size_t *region, size_t row,
	    size_t slice, void *to),
     ARGS(image, blocking, at, region, row, slice, to), RK_REC_DEVICE_TO_HOST,
     image_bytes(image, region), blocking)
COPY(WriteImage,
     PARAMS(cl_mem image, cl_bool blocking, const size_t *at, const size_t *region, size_t row,
	    size_t slice, const void *from),
     ARGS(image, blocking, at, region, row, slice, from), RK_REC_HOST_TO_DEVICE,
     image_bytes(image, region), blocking)
COPY(FillImage, PARAMS(cl_mem image, const void *color, const size_t *at, const size_t *region),
     ARGS(image, color, at, region), RK_REC_FILL, image_bytes(image, region), NOT_BLOCKING)
COPY(CopyImage,
     PARAMS(cl_mem from, cl_mem to, const size_t *from_at, const size_t *to_at,
	    const size_t *region),
     ARGS(from, to, from_at, to_at, region), RK_REC_DEVICE_TO_DEVICE, image_bytes(from, region),
     NOT_BLOCKING)
COPY(CopyImageToBuffer,
     PARAMS(cl_mem from, cl_mem to, const size_t *from_at, const size_t *region, size_t to_at),
     ARGS(from, to, from_at, region, to_at), RK_REC_DEVICE_TO_DEVICE, image_bytes(from, region),
     NOT_BLOCKING)
COPY(CopyBufferToImage,
     PARAMS(cl_mem from, cl_mem to, size_t from_at, const size_t *to_at, const size_t *region),
     ARGS(from, to, from_at, to_at, region), RK_REC_DEVICE_TO_DEVICE, image_bytes(to, region),
     NOT_BLOCKING)

/* ---- shared memory, migration ---- */

COPY(SVMMemcpy, PARAMS(cl_bool blocking, void *to, const void *from, size_t size),
     ARGS(blocking, to, from, size), RK_REC_DEVICE_TO_DEVICE, size, blocking)
COPY(SVMMemFill, PARAMS(void *to, const void *pattern, size_t pattern_size, size_t size),
     ARGS(to, pattern, pattern_size, size), RK_REC_FILL, size, NOT_BLOCKING)
COPY(SVMMap, PARAMS(cl_bool blocking, cl_map_flags flags, void *at, size_t size),
     ARGS(blocking, flags, at, size), RK_REC_MAP, (note_mapping(at, size), size), blocking)
COPY(SVMUnmap, PARAMS(void *at), ARGS(at), RK_REC_UNMAP, mapping_bytes(at), NOT_BLOCKING)
COPY(SVMMigrateMem,
     PARAMS(cl_uint n, const void **at, const size_t *sizes, cl_mem_migration_flags flags),
     ARGS(n, at, sizes, flags), RK_REC_MIGRATE, sizes_sum(n, sizes), NOT_BLOCKING)
COPY(MigrateMemObjects, PARAMS(cl_uint n, const cl_mem *objects, cl_mem_migration_flags flags),
     ARGS(n, objects, flags), RK_REC_MIGRATE, objects_bytes(n, objects), NOT_BLOCKING)
COPY(UnmapMemObject, PARAMS(cl_mem mem, void *at), ARGS(mem, at), RK_REC_UNMAP, mapping_bytes(at),
     NOT_BLOCKING)

/* ---- mapping returns an address, and its status by pointer ---- */

static void *end_map(struct rk_ocl_command *c, void *at, cl_int rc, uint64_t bytes,
		     cl_bool blocking, cl_int *ret)
{
	if (rc == CL_SUCCESS)
		note_mapping(at, bytes);
	end_copy(c, rc, RK_REC_MAP, bytes, blocking);
	if (ret)
		*ret = rc;
	return at;
}

static void *CL_API_CALL map_buffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
				    cl_map_flags flags, size_t offset, size_t size, WAITING,
				    cl_int *ret)
{
	struct rk_ocl_command c;
	cl_int rc = CL_SUCCESS;
	void *at;

	rk_ocl_begin(&c, queue, event);
	at = rk_ocl.target.clEnqueueMapBuffer(queue, mem, blocking, flags, offset, size, nwait,
					      wait, c.event, &rc);
	return end_map(&c, at, rc, size, blocking, ret);
}

static void *CL_API_CALL map_image(cl_command_queue queue, cl_mem image, cl_bool blocking,
				   cl_map_flags flags, const size_t *origin, const size_t *region,
				   size_t *row, size_t *slice, WAITING, cl_int *ret)
{
	struct rk_ocl_command c;
	cl_int rc = CL_SUCCESS;
	void *at;

	rk_ocl_begin(&c, queue, event);
	at = rk_ocl.target.clEnqueueMapImage(queue, image, blocking, flags, origin, region, row,
					     slice, nwait, wait, c.event, &rc);
	return end_map(&c, at, rc, rc == CL_SUCCESS ? image_bytes(image, region) : 0, blocking,
		       ret);
}

void rk_ocl_copy_wrap(cl_icd_dispatch *d)
{
#define WRAP(name) d->clEnqueue##name = copy_##name
	WRAP(ReadBuffer);
	WRAP(WriteBuffer);
	WRAP(CopyBuffer);
	WRAP(FillBuffer);
	WRAP(ReadBufferRect);
	WRAP(WriteBufferRect);
	WRAP(CopyBufferRect);
	WRAP(ReadImage);
	WRAP(WriteImage);
	WRAP(FillImage);
	WRAP(CopyImage);
	WRAP(CopyImageToBuffer);
	WRAP(CopyBufferToImage);
	WRAP(SVMMemcpy);
	WRAP(SVMMemFill);
	WRAP(SVMMap);
	WRAP(SVMUnmap);
	WRAP(SVMMigrateMem);
	WRAP(MigrateMemObjects);
	WRAP(UnmapMemObject);
	d->clEnqueueMapBuffer = map_buffer;
	d->clEnqueueMapImage = map_image;
}
