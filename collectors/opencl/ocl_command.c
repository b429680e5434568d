/* ocl_command.c - see ocl.h: launches, markers and barriers, and the calls that wait. */
#include "ocl.h"

#define WAITED 16 /* queues whose events are waited for in one call */

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
		what.id = rk_ocl_kernel_shape(kernel, c.queue, queue, dims, offset, global, local);
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
		what.id = rk_ocl_kernel_shape(kernel, c.queue, queue, 1, NULL, &one, &one);
	return rk_ocl_end(&c, rc, &what);
}

/* A function of the application on the host, as a kernel of one item. */
static uint32_t native_shape(void)
{
	struct rk_rec_function f = { .name = RK_OCL_STRING("<native kernel>"),
				     .regs = RK_REC_UNKNOWN,
				     .private_bytes = RK_REC_UNKNOWN,
				     .local_bytes = RK_REC_UNKNOWN };
	struct rk_rec_shape s = { .function = rk_rec_function(&f),
				  .local_bytes = RK_REC_UNKNOWN,
				  .items = { 1, 1, 1 },
				  .group = { 1, 1, 1 } };

	return rk_rec_shape(&s);
}

static cl_int CL_API_CALL native(cl_command_queue queue, void(CL_CALLBACK *f)(void *), void *args,
				 size_t size, cl_uint nmem, const cl_mem *mem, const void **where,
				 cl_uint nwait, const cl_event *wait, cl_event *event)
{
	struct rk_ocl_command c;
	struct rk_ocl_what what = { .kind = RK_OCL_KERNEL };
	cl_int rc;

	rk_ocl_begin(&c, queue, event);
	rc = rk_ocl.target.clEnqueueNativeKernel(queue, f, args, size, nmem, mem, where, nwait,
						 wait, c.event);
	if (rc == CL_SUCCESS && c.queue)
		what.id = native_shape();
	return rk_ocl_end(&c, rc, &what);
}

/* ---- markers and barriers ---- */

static cl_int end_sync(struct rk_ocl_command *c, cl_int rc, const char *name, size_t len)
{
	struct rk_ocl_what what = { .kind = RK_OCL_SYNC };

	if (rc == CL_SUCCESS && c->queue)
		what.id = rk_rec_string(name, len);
	return rk_ocl_end(c, rc, &what);
}

#define END_SYNC(c, rc, name) end_sync((c), (rc), name, sizeof(name) - 1)

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_event *event)
{
	struct rk_ocl_command c;

	/* Without an event the runtime has to refuse it. */
	if (!event)
		return rk_ocl.target.clEnqueueMarker(queue, event);
	rk_ocl_begin(&c, queue, event);
	return END_SYNC(&c, rk_ocl.target.clEnqueueMarker(queue, c.event), "clEnqueueMarker");
}

static cl_int CL_API_CALL marker_wait(cl_command_queue queue, cl_uint nwait, const cl_event *wait,
				      cl_event *event)
{
	struct rk_ocl_command c;

	rk_ocl_begin(&c, queue, event);
	return END_SYNC(&c, rk_ocl.target.clEnqueueMarkerWithWaitList(queue, nwait, wait, c.event),
			"clEnqueueMarkerWithWaitList");
}

static cl_int CL_API_CALL barrier_wait(cl_command_queue queue, cl_uint nwait, const cl_event *wait,
				       cl_event *event)
{
	struct rk_ocl_command c;

	rk_ocl_begin(&c, queue, event);
	return END_SYNC(&c, rk_ocl.target.clEnqueueBarrierWithWaitList(queue, nwait, wait, c.event),
			"clEnqueueBarrierWithWaitList");
}

/* Two old calls have no event, and so no times of the device: recorded as long as they took. */

static cl_int CL_API_CALL barrier(cl_command_queue queue)
{
	int64_t before_ns = rk_rec_now();
	cl_int rc = rk_ocl.target.clEnqueueBarrier(queue);

	if (rc == CL_SUCCESS)
		rk_ocl_passed(queue, RK_OCL_STRING("clEnqueueBarrier"), before_ns);
	return rc;
}

static cl_int CL_API_CALL wait_enqueued(cl_command_queue queue, cl_uint n, const cl_event *events)
{
	int64_t before_ns = rk_rec_now();
	cl_int rc = rk_ocl.target.clEnqueueWaitForEvents(queue, n, events);

	if (rc == CL_SUCCESS)
		rk_ocl_passed(queue, RK_OCL_STRING("clEnqueueWaitForEvents"), before_ns);
	return rc;
}

static cl_int CL_API_CALL svm_free(cl_command_queue queue, cl_uint n, void **pointers,
				   void(CL_CALLBACK *f)(cl_command_queue, cl_uint, void **, void *),
				   void *user, cl_uint nwait, const cl_event *wait, cl_event *event)
{
	struct rk_ocl_command c;

	rk_ocl_begin(&c, queue, event);
	return END_SYNC(&c,
			rk_ocl.target.clEnqueueSVMFree(queue, n, pointers, f, user, nwait, wait,
						       c.event),
			"clEnqueueSVMFree");
}

/* ---- waiting: what was waited for is over, and is recorded before the call returns ---- */

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	cl_int rc = rk_ocl.target.clFinish(queue);
	struct rk_ocl_queue *q = rk_ocl_queue_find(queue);

	if (q)
		rk_ocl_harvest(q, false);
	return rc;
}

/* The queues of some events; those that find no room are left to our thread. */
static uint32_t queues_of(cl_uint n, const cl_event *events, struct rk_ocl_queue **to)
{
	uint32_t found = 0;

	for (cl_uint i = 0; events && i < n && found < WAITED; i++) {
		cl_command_queue queue = NULL;
		struct rk_ocl_queue *q;

		rk_ocl.target.clGetEventInfo(events[i], CL_EVENT_COMMAND_QUEUE, sizeof(queue),
					     &queue, NULL);
		q = rk_ocl_queue_find(queue);
		if (q && (!found || q != to[found - 1]))
			to[found++] = q;
	}
	return found;
}

/* Asked before: when the call has returned another thread may have let go of the events. */
static cl_int CL_API_CALL wait_for(cl_uint n, const cl_event *events)
{
	struct rk_ocl_queue *queues[WAITED];
	uint32_t found = queues_of(n, events, queues);
	cl_int rc = rk_ocl.target.clWaitForEvents(n, events);

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
