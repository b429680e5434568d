/*
 * ocl_kernel.c - see ocl.h: names and properties of kernels, queried once and cached by handle.
 *
 * A released handle can be reused for another kernel; functions that create kernels come through
 * here and overwrite the cached values. During its life nothing about a kernel changes except the
 * local memory of its arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

#define DIMS 3
#define LOCAL_ARGS 8
#define SHORT_NAME 1024
#define USED_VGPRS_AMD 13           /* of clGetKernelInfoAMD(): a size_t */
#define REGISTER_COUNT_INTEL 0x425b /* of clGetKernelWorkGroupInfo(): a cl_uint */

/* A launch as requested: equal words mean equal shapes. */
struct launch {
	/* device, version of the arguments with the epoch above it, global, local */
	uint64_t words[2 + 2 * DIMS];
};
#define WORDS (sizeof(((struct launch *)0)->words) / sizeof(uint64_t))

struct kernel {
	_Atomic uint64_t name; /* recorder string id, epoch in the upper half; 0: unknown yet */
	_Atomic uint32_t args_version;
	_Atomic uint32_t local_args[LOCAL_ARGS]; /* sizes, indexed by argument number */
	/*
	 * The last launch and its shape. `sequence` is odd while they are written; a reader that
	 * sees it change must discard what it read.
	 */
	_Atomic uint32_t sequence;
	_Atomic uint32_t shape;
	_Atomic uint64_t words[WORDS];
};

static _Atomic(uintptr_t) keys[RK_OCL_KERNELS];
static struct kernel kernels[RK_OCL_KERNELS];

typedef cl_int(CL_API_CALL *suggest_fn)(cl_command_queue, cl_kernel, cl_uint, const size_t *,
					const size_t *, size_t *);
typedef cl_int(CL_API_CALL *info_amd_fn)(cl_kernel, cl_device_id, cl_uint, size_t, void *,
					 size_t *);

/* ---- properties ---- */

static uint32_t long_name(cl_kernel handle, size_t len)
{
	char *text = malloc(len);
	uint32_t id = 0;

	if (text && rk_ocl.target.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, len, text,
						  NULL) == CL_SUCCESS)
		id = rk_rec_string(text, len - 1);
	free(text);
	return id;
}

static uint32_t ask_name(cl_kernel handle)
{
	char text[SHORT_NAME];
	size_t len = 0;

	if (rk_ocl.target.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL, &len) !=
		    CL_SUCCESS ||
	    len < 2)
		return RK_OCL_STRING("<unknown>");
	if (len > sizeof(text))
		return long_name(handle, len);
	rk_ocl.target.clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, len, text, NULL);
	return rk_rec_string(text, len - 1);
}

static uint32_t ask_bytes(cl_kernel handle, cl_device_id device, cl_kernel_work_group_info what)
{
	cl_ulong bytes = 0;

	if (rk_ocl.target.clGetKernelWorkGroupInfo(handle, device, what, sizeof(bytes), &bytes,
						   NULL) != CL_SUCCESS ||
	    bytes >= RK_REC_UNKNOWN)
		return RK_REC_UNKNOWN;
	return (uint32_t)bytes;
}

static uint32_t ask_registers(cl_kernel handle, struct rk_ocl_device *d)
{
	void *there = atomic_load(&d->amd);
	info_amd_fn info_amd = NULL;
	size_t amd = 0;
	cl_uint intel = 0;

	if (there) {
		memcpy(&info_amd, &there, sizeof(info_amd));
		if (info_amd(handle, d->handle, USED_VGPRS_AMD, sizeof(amd), &amd, NULL) !=
			    CL_SUCCESS ||
		    !amd || amd >= RK_REC_UNKNOWN)
			return RK_REC_UNKNOWN;
		return (uint32_t)amd;
	}
	if (!atomic_load(&d->intel) ||
	    rk_ocl.target.clGetKernelWorkGroupInfo(handle, d->handle, REGISTER_COUNT_INTEL,
						   sizeof(intel), &intel, NULL) != CL_SUCCESS ||
	    !intel)
		return RK_REC_UNKNOWN;
	return intel;
}

/*
 * The local size if the application does not set it: required by the source, or suggested by the
 * runtime.
 */
static void find_group(cl_kernel handle, cl_command_queue queue, struct rk_ocl_device *d,
		       cl_uint dims, const size_t *offset, const size_t *global, size_t *group)
{
	void *there = atomic_load(&d->suggest);
	suggest_fn suggest = NULL;

	if (rk_ocl.target.clGetKernelWorkGroupInfo(
		    handle, d->handle, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, DIMS * sizeof(*group),
		    group, NULL) != CL_SUCCESS)
		memset(group, 0, DIMS * sizeof(*group));
	if (group[0] || !there)
		return;
	memcpy(&suggest, &there, sizeof(suggest));
	if (suggest(queue, handle, dims, offset, global, group) != CL_SUCCESS)
		memset(group, 0, DIMS * sizeof(*group));
	for (cl_uint i = dims; group[0] && i < DIMS; i++)
		group[i] = 1;
}

struct ask {
	cl_kernel handle;
	cl_command_queue queue;
	struct rk_ocl_device *device;
	cl_uint dims;
	const size_t *offset, *global, *local;
};

static uint32_t make_shape(const struct ask *a, uint32_t name)
{
	struct rk_ocl_device *d = a->device;
	struct rk_rec_function f = {
		.name = name,
		.device = atomic_load(&d->id),
		.regs = ask_registers(a->handle, d),
		.private_bytes = ask_bytes(a->handle, d->handle, CL_KERNEL_PRIVATE_MEM_SIZE),
		.local_bytes = RK_REC_UNKNOWN,
	};
	struct rk_rec_shape s = {
		.function = rk_rec_function(&f),
		.local_bytes = ask_bytes(a->handle, d->handle, CL_KERNEL_LOCAL_MEM_SIZE),
	};
	size_t group[DIMS] = { 0 };

	if (!a->local)
		find_group(a->handle, a->queue, d, a->dims, a->offset, a->global, group);
	for (cl_uint i = 0; i < DIMS; i++) {
		size_t local = group[i];

		if (a->local)
			local = i < a->dims ? a->local[i] : 1;
		s.items[i] = i < a->dims ? a->global[i] : 1;
		s.group[i] = local > UINT32_MAX ? 0 : (uint32_t)local;
	}
	return rk_rec_shape(&s);
}

/* ---- caching ---- */

static bool recall(struct kernel *k, const struct launch *l, uint32_t *ret)
{
	uint32_t sequence = atomic_load_explicit(&k->sequence, memory_order_acquire);
	uint32_t shape = atomic_load_explicit(&k->shape, memory_order_relaxed);

	for (size_t i = 0; i < WORDS; i++) {
		if (atomic_load_explicit(&k->words[i], memory_order_relaxed) != l->words[i])
			return false;
	}
	atomic_thread_fence(memory_order_acquire);
	*ret = shape;
	return shape && !(sequence & 1) &&
	       atomic_load_explicit(&k->sequence, memory_order_relaxed) == sequence;
}

static void remember(struct kernel *k, const struct launch *l, uint32_t shape)
{
	uint32_t sequence = atomic_load_explicit(&k->sequence, memory_order_relaxed);

	/* another thread is writing: keep its launch */
	if ((sequence & 1) ||
	    !atomic_compare_exchange_strong(&k->sequence, &sequence, sequence + 1))
		return;
	atomic_thread_fence(memory_order_release);
	for (size_t i = 0; i < WORDS; i++)
		atomic_store_explicit(&k->words[i], l->words[i], memory_order_relaxed);
	atomic_store_explicit(&k->shape, shape, memory_order_relaxed);
	atomic_store_explicit(&k->sequence, sequence + 2, memory_order_release);
}

/* Called when a kernel was created at this address. If `name` is NULL, it is queried. */
static void learn(cl_kernel handle, const char *name)
{
	uint32_t at = rk_ocl_slot(keys, RK_OCL_KERNELS, handle, true);
	struct launch none = { { 0 } };

	if (at == RK_OCL_KERNELS)
		return;
	struct kernel *k = &kernels[at];
	remember(k, &none, 0);
	for (int i = 0; i < LOCAL_ARGS; i++)
		atomic_store_explicit(&k->local_args[i], 0, memory_order_relaxed);
	atomic_fetch_add_explicit(&k->args_version, 1, memory_order_relaxed);
	atomic_store(&k->name, 0);
	if (name)
		atomic_store(&k->name,
			     (uint64_t)rk_rec_epoch() << 32 | rk_rec_string(name, strlen(name)));
}

/* The id of the kernel's name; it is asked for again when the recorder has forgotten ids. */
static uint32_t name_id(struct kernel *k, cl_kernel handle)
{
	uint64_t name = atomic_load(&k->name), epoch = rk_rec_epoch();

	if (!name || name >> 32 != epoch) {
		name = epoch << 32 | ask_name(handle);
		atomic_store(&k->name, name);
	}
	return (uint32_t)name;
}

static struct launch describe(const struct ask *a, uint32_t version)
{
	struct launch l = { { (uintptr_t)a->device, (uint64_t)rk_rec_epoch() << 32 | version } };

	for (cl_uint i = 0; i < DIMS; i++) {
		l.words[2 + i] = i < a->dims ? a->global[i] : 1;
		/* stays 0 if not set: no local size is 0 */
		if (a->local)
			l.words[2 + DIMS + i] = i < a->dims ? a->local[i] : 1;
	}
	return l;
}

uint32_t rk_ocl_kernel_shape(cl_kernel handle, struct rk_ocl_queue *q, cl_command_queue queue,
			     cl_uint dims, const size_t *offset, const size_t *global,
			     const size_t *local)
{
	static const size_t nothing[DIMS]; /* since OpenCL 2.1 a launch may have no size */
	struct ask a = { .handle = handle,
			 .queue = queue,
			 .device = atomic_load_explicit(&q->device, memory_order_relaxed),
			 .dims = dims,
			 .offset = offset,
			 .global = global ? global : nothing,
			 .local = local };
	uint32_t at = rk_ocl_slot(keys, RK_OCL_KERNELS, handle, true);
	uint32_t shape = 0;

	if (!a.device || dims > DIMS)
		return 0;
	if (at == RK_OCL_KERNELS)
		return make_shape(&a, ask_name(handle));
	struct kernel *k = &kernels[at];
	struct launch l =
		describe(&a, atomic_load_explicit(&k->args_version, memory_order_relaxed));
	if (recall(k, &l, &shape))
		return shape;
	shape = make_shape(&a, name_id(k, handle));
	remember(k, &l, shape);
	return shape;
}

/* ---- the calls ---- */

static cl_kernel CL_API_CALL create(cl_program program, const char *name, cl_int *ret)
{
	cl_kernel k = rk_ocl.target.clCreateKernel(program, name, ret);

	if (k)
		learn(k, name);
	return k;
}

static cl_int CL_API_CALL create_all(cl_program program, cl_uint cap, cl_kernel *to, cl_uint *ret)
{
	cl_uint n = 0;
	cl_int rc = rk_ocl.target.clCreateKernelsInProgram(program, cap, to, &n);

	if (rc != CL_SUCCESS)
		return rc;
	for (cl_uint i = 0; to && i < n && i < cap; i++)
		learn(to[i], NULL);
	if (ret)
		*ret = n;
	return rc;
}

static cl_kernel CL_API_CALL clone(cl_kernel source, cl_int *ret)
{
	cl_kernel k = rk_ocl.target.clCloneKernel(source, ret);

	if (k)
		learn(k, NULL);
	return k;
}

/* A size without a value means local memory (or a NULL buffer, which is harmless here). */
static cl_int CL_API_CALL set_arg(cl_kernel handle, cl_uint index, size_t size, const void *value)
{
	uint32_t at;

	if (!value) {
		at = rk_ocl_slot(keys, RK_OCL_KERNELS, handle, false);
		/*
		 * The sizes of high-numbered arguments are not kept: treat each call as a new size.
		 */
		if (at < RK_OCL_KERNELS &&
		    (index >= LOCAL_ARGS || atomic_exchange(&kernels[at].local_args[index],
							    (uint32_t)size) != (uint32_t)size))
			atomic_fetch_add(&kernels[at].args_version, 1);
	}
	return rk_ocl.target.clSetKernelArg(handle, index, size, value);
}

void rk_ocl_kernel_wrap(cl_icd_dispatch *d)
{
	d->clCreateKernel = create;
	d->clCreateKernelsInProgram = create_all;
	d->clCloneKernel = clone;
	d->clSetKernelArg = set_arg;
}

/*
 * The duration of builds. A runtime that compiles at the first launch (PoCL) does so between
 * submission and start of the launch, so no extra record is needed.
 */

#define NAME_BYTES 512

typedef void(CL_CALLBACK *notify_fn)(cl_program, void *);

/* A build that continues after the call returned: it ends when the application's callback is called. */
struct build {
	notify_fn notify;
	void *user;
	int64_t start_ns;
};

/* The names of the program's kernels, as many as fit, or just "program". */
static uint32_t name_of(cl_program program)
{
	char text[NAME_BYTES] = "program ";
	size_t have = strlen(text), len = 0;

	if (!program ||
	    rk_ocl.target.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &len) !=
		    CL_SUCCESS ||
	    len < 2 || len > NAME_BYTES - have ||
	    rk_ocl.target.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, len, text + have,
					   NULL) != CL_SUCCESS)
		return RK_OCL_STRING("program");
	return rk_rec_string(text, have + len - 1);
}

static void record(cl_program program, int64_t start_ns)
{
	int64_t duration_ns = rk_rec_now() - start_ns;

	if (!rk_rec_awake()) {
		rk_rec_skip();
		return;
	}
	rk_rec_build(name_of(program), 0, start_ns, duration_ns);
}

static void CL_CALLBACK notified(cl_program program, void *user)
{
	struct build *b = user;
	struct build copy = *b;

	free(b);
	record(program, copy.start_ns);
	copy.notify(program, copy.user);
}

/*
 * Wraps the application's callback. If there is no memory for that, the callback stays, and the
 * duration of the call is recorded.
 */
static struct build *begin(notify_fn *notify, void **user)
{
	struct build *b = *notify ? malloc(sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	*b = (struct build){ *notify, *user, rk_rec_now() };
	*notify = notified;
	*user = b;
	return b;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *devices,
					const char *options, notify_fn notify, void *user)
{
	int64_t start_ns = rk_rec_now();
	struct build *b = begin(&notify, &user);
	cl_int rc = rk_ocl.target.clBuildProgram(program, n, devices, options, notify, user);

	if (!b)
		record(program, start_ns);
	/* If the call was refused, do not free `b`: the callback may still be called. */
	return rc;
}

static cl_int CL_API_CALL compile_program(cl_program program, cl_uint n,
					  const cl_device_id *devices, const char *options,
					  cl_uint nheaders, const cl_program *headers,
					  const char **names, notify_fn notify, void *user)
{
	int64_t start_ns = rk_rec_now();
	struct build *b = begin(&notify, &user);
	cl_int rc = rk_ocl.target.clCompileProgram(program, n, devices, options, nheaders, headers,
						   names, notify, user);

	if (!b)
		record(program, start_ns);
	return rc;
}

static cl_program CL_API_CALL link_program(cl_context context, cl_uint n,
					   const cl_device_id *devices, const char *options,
					   cl_uint nprograms, const cl_program *programs,
					   notify_fn notify, void *user, cl_int *ret)
{
	int64_t start_ns = rk_rec_now();
	struct build *b = begin(&notify, &user);
	cl_program program = rk_ocl.target.clLinkProgram(context, n, devices, options, nprograms,
							 programs, notify, user, ret);

	if (!b)
		record(program, start_ns);
	return program;
}

void rk_ocl_build_wrap(cl_icd_dispatch *d)
{
	d->clBuildProgram = build_program;
	d->clCompileProgram = compile_program;
	d->clLinkProgram = link_program;
}
